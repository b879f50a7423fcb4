// SPDX-License-Identifier: MIT
/*
 * What a dispatch binds: uniform buffers, views, textures and samplers, from the structures of
 * programs to the tables of descriptors (Documentation/hw/descriptors.xml) that the hardware reads.
 */
#include <errno.h>
#include <string.h>

#include "dispatch.h"

#define VIEW_ALIGN	64u		/* of ATTRIBUTE_BUFFER.POINTER; the rest goes into OFFSET */
#define IMAGE_SIDE	65536u

static int check_count(struct tsr_stream *stream, const char *what, uint32_t count, uint32_t limit)
{
	if (count > limit)
		return tsr_stream_fail(stream, EINVAL, "%u %s of one dispatch, expected at most %u",
				       count, what, limit);
	return 0;
}

static int check_uniform(struct tsr_stream *stream, const struct tsr_uniform *u, uint32_t i)
{
	if (u->va % 16 || u->size % 16 || u->size > 0x10000)
		return tsr_stream_fail(stream, EINVAL,
				       "uniform buffer %u: %u bytes at 0x%llx, expected multiples "
				       "of 16 and at most 65536 bytes", i, u->size,
				       (unsigned long long)u->va);
	return 0;
}

/* Bytes of a view's memory. */
static uint64_t view_size(const struct tsr_view *v)
{
	return v->image ? v->image->size + (uint64_t)v->layer_stride * v->layers : v->size;
}

static int check_image(struct tsr_stream *stream, const struct tsr_view *v, uint32_t i)
{
	const struct tsr_surface *s = v->image;

	if (s->layout == TSR_LAYOUT_TILED && v->va % TSR_TILED_ALIGN)
		return tsr_stream_fail(stream, EINVAL,
				       "view %u of a tiled image at 0x%llx, expected a multiple of "
				       "%d", i, (unsigned long long)v->va, TSR_TILED_ALIGN);
	if (s->width > IMAGE_SIDE || s->height > IMAGE_SIDE || v->layers >= IMAGE_SIDE ||
	    (v->layers && v->layer_stride < s->size))
		return tsr_stream_fail(stream, EINVAL,
				       "view %u of %u x %u texels and %u more layers %u bytes "
				       "apart, expected at most 65536 each, apart by an image", i,
				       s->width, s->height, v->layers, v->layer_stride);
	return 0;
}

static int check_view(struct tsr_stream *stream, const struct tsr_view *v, uint32_t i)
{
	uint64_t size = view_size(v);

	if (!v->access || v->access & ~(uint32_t)(TSR_READ | TSR_WRITE))
		return tsr_stream_fail(stream, EINVAL,
				       "view %u with access 0x%x, expected TSR_READ, TSR_WRITE or "
				       "both", i, v->access);
	if (v->format > 0xff || v->order > 0xfff)
		return tsr_stream_fail(stream, EINVAL,
				       "view %u with format %u and order %u, expected values of "
				       "enum tsr_pixel_format and enum tsr_component_order", i,
				       v->format, v->order);
	if (v->image)
		return size < UINT32_MAX - VIEW_ALIGN ? check_image(stream, v, i) :
		       tsr_stream_fail(stream, EINVAL, "view %u of 4 GiB or more", i);
	if (!v->stride || size > UINT32_MAX - VIEW_ALIGN || v->va + size < v->va)
		return tsr_stream_fail(stream, EINVAL,
				       "view %u of 0x%llx bytes at 0x%llx with stride %u, expected "
				       "less than 4 GiB and a stride", i, (unsigned long long)size,
				       (unsigned long long)v->va, v->stride);
	return 0;
}

static int check_texture(struct tsr_stream *stream, const struct tsr_sampled *t, uint32_t i)
{
	uint32_t faces = t->texture.dimension == TSR_TEXTURE_DIMENSION_CUBE ? 6 : 1;
	uint64_t wanted = (uint64_t)(t->texture.min_level + t->texture.levels + 1) * faces *
			  (t->texture.layers + 1) << t->texture.samples;

	if (t->surface_count < wanted || t->surface_count > TSR_SURFACES_MAX)
		return tsr_stream_fail(stream, EINVAL,
				       "texture %u with %u surfaces, expected %llu to %d", i,
				       t->surface_count, (unsigned long long)wanted,
				       TSR_SURFACES_MAX);
	return 0;
}

int tsr_bindings_check(struct tsr_stream *stream, const struct tsr_dispatch_info *d)
{
	uint32_t i;
	int ret = check_count(stream, "uniform buffers", d->uniform_count, TSR_UNIFORMS_MAX);

	if (!ret)
		ret = check_count(stream, "views", d->view_count, TSR_VIEWS_MAX);
	if (!ret)
		ret = check_count(stream, "textures", d->texture_count, TSR_TEXTURES_MAX);
	if (!ret)
		ret = check_count(stream, "samplers", d->sampler_count, TSR_SAMPLERS_MAX);
	for (i = 0; !ret && i < d->uniform_count; i++)
		ret = check_uniform(stream, &d->uniforms[i], i);
	for (i = 0; !ret && i < d->view_count; i++)
		ret = check_view(stream, &d->views[i], i);
	for (i = 0; !ret && i < d->texture_count; i++)
		ret = check_texture(stream, &d->textures[i], i);
	return ret;
}

unsigned int tsr_bindings_extents(const struct tsr_dispatch_info *d, struct tsr_extent *extents)
{
	unsigned int i, n = 0;

	for (i = 0; i < d->uniform_count; i++)
		extents[n++] = (struct tsr_extent) {
			d->uniforms[i].va, d->uniforms[i].va + d->uniforms[i].size, false,
		};
	for (i = 0; i < d->view_count; i++)
		extents[n++] = (struct tsr_extent) {
			d->views[i].va, d->views[i].va + view_size(&d->views[i]),
			d->views[i].access & TSR_WRITE,
		};
	for (i = 0; i < d->texture_count; i++)
		extents[n++] = (struct tsr_extent) {
			d->textures[i].va, d->textures[i].va + d->textures[i].size, false,
		};
	return n;
}

static int write_uniforms(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
			  struct tsr_compute_state *state)
{
	struct tsr_uniform_buffer entry;
	uint64_t *table;
	uint32_t i;

	if (!d->uniform_count)
		return 0;
	table = tsr_stream_data(stream, d->uniform_count * 8, &state->uniform_buffers);
	if (!table)
		return tsr_stream_status(stream);
	for (i = 0; i < d->uniform_count; i++) {
		entry.entries = d->uniforms[i].size / 16 - 1;
		entry.pointer = d->uniforms[i].va >> 4;
		if (d->uniforms[i].size)
			tsr_pack_uniform_buffer(&table[i], &entry);
		else
			table[i] = 0;
	}
	state->uniform_buffer_count = d->uniform_count;
	return 0;
}

void tsr_view_write(const struct tsr_view *v, uint64_t *attribute, uint64_t *buffer, uint32_t index)
{
	const uint32_t lead = v->va % VIEW_ALIGN;
	const struct tsr_surface *s = v->image;
	const struct tsr_attribute a = {
		.buffer = index, .order = v->order, .format = v->format, .offset = (int32_t)lead,
	};
	struct tsr_attribute_buffer b = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, .pointer = v->va - lead,
		.stride = v->stride, .size = (uint32_t)view_size(v) + lead,
	};
	struct tsr_attribute_buffer_image shape = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION,
	};

	if (s) {
		b.type = s->layout == TSR_LAYOUT_TILED ? TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_TILED
						       : TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_LINEAR;
		b.stride = s->texel;
		shape.width = s->width - 1;
		shape.height = s->height - 1;
		shape.depth = v->layers;
		shape.row_stride = s->pitch;
		shape.slice_stride = v->layer_stride;
	}
	tsr_pack_attribute(attribute, &a);
	tsr_pack_attribute_buffer(buffer, &b);
	tsr_pack_attribute_buffer_image(buffer + 2, &shape);
}

static int write_views(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
		       struct tsr_compute_state *state)
{
	uint64_t *attributes, *buffers;
	uint32_t i;

	if (!d->view_count)
		return 0;
	attributes = tsr_stream_data(stream, d->view_count * 8, &state->attributes);
	if (!attributes)
		return tsr_stream_status(stream);
	state->attribute_count = d->view_count;
	buffers = tsr_stream_data(stream, d->view_count * 32, &state->attribute_buffers);
	if (!buffers)
		return tsr_stream_status(stream);
	state->attribute_buffer_count = 2 * d->view_count;
	for (i = 0; i < d->view_count; i++)
		tsr_view_write(&d->views[i], attributes + i, buffers + 4 * (size_t)i, 2 * i);
	return 0;
}

/* The surfaces of a texture, in the stream; *@va gets their address. */
static int write_surfaces(struct tsr_stream *stream, const struct tsr_sampled *t, uint64_t *va)
{
	uint64_t *p = tsr_stream_data(stream, t->surface_count * 16, va);
	uint32_t i;

	if (!p)
		return tsr_stream_status(stream);
	for (i = 0; i < t->surface_count; i++)
		tsr_pack_texture_surface(p + 2 * (size_t)i, &t->surfaces[i]);
	return 0;
}

static int write_textures(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
			  struct tsr_compute_state *state)
{
	struct tsr_texture textures[TSR_TEXTURES_MAX];
	uint64_t *table;
	uint32_t i;
	int ret;

	if (!d->texture_count)
		return 0;
	/* first what the table points to, so that it is in one piece */
	for (i = 0; i < d->texture_count; i++) {
		textures[i] = d->textures[i].texture;
		ret = write_surfaces(stream, &d->textures[i], &textures[i].surfaces);
		if (ret)
			return ret;
	}
	table = tsr_stream_data(stream, d->texture_count * 32, &state->textures);
	if (!table)
		return tsr_stream_status(stream);
	for (i = 0; i < d->texture_count; i++)
		tsr_pack_texture(table + 4 * (size_t)i, &textures[i]);
	state->texture_count = d->texture_count;
	return 0;
}

static int write_samplers(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
			  struct tsr_compute_state *state)
{
	uint64_t *table;
	uint32_t i;

	if (!d->sampler_count)
		return 0;
	table = tsr_stream_data(stream, d->sampler_count * 32, &state->samplers);
	if (!table)
		return tsr_stream_status(stream);
	for (i = 0; i < d->sampler_count; i++)
		tsr_pack_sampler(table + 4 * (size_t)i, &d->samplers[i]);
	state->sampler_count = d->sampler_count;
	return 0;
}

int tsr_bindings_write(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
		       struct tsr_compute_state *state)
{
	int ret = write_uniforms(stream, d, state);

	if (!ret)
		ret = write_views(stream, d, state);
	if (!ret)
		ret = write_textures(stream, d, state);
	return ret ? ret : write_samplers(stream, d, state);
}

void tsr_sampled_image(struct tsr_sampled *sampled, struct tsr_texture_surface *surface,
		       const struct tsr_image *image, enum tsr_pixel_format format)
{
	const struct tsr_surface *s = &image->surface;

	*surface = (struct tsr_texture_surface){ .pointer = image->va,
						 .row_stride = (int32_t)s->pitch };
	*sampled = (struct tsr_sampled) {
		.texture = {
			.type = 2,
			.dimension = TSR_TEXTURE_DIMENSION_2D,
			.format = format,
			.width = s->width - 1,
			.height = s->height - 1,
			.swizzle_r = TSR_COMPONENT_R, .swizzle_g = TSR_COMPONENT_G,
			.swizzle_b = TSR_COMPONENT_B, .swizzle_a = TSR_COMPONENT_A,
			.texel_order = s->layout == TSR_LAYOUT_TILED ? TSR_TEXEL_ORDER_TILED
								     : TSR_TEXEL_ORDER_LINEAR,
		},
		.surfaces = surface,
		.surface_count = 1,
		.va = image->va,
		.size = s->size,
	};
}

void tsr_sampler_init(struct tsr_sampler *sampler, enum tsr_wrap_mode wrap, bool linear)
{
	*sampler = (struct tsr_sampler) {
		.type = 1,
		.wrap_r = wrap, .wrap_s = wrap, .wrap_t = wrap,
		.normalized = true,
		.min_nearest = !linear,
		.mag_nearest = !linear,
		.mipmap = TSR_MIPMAP_MODE_NONE,
	};
}
