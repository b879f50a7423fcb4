// SPDX-License-Identifier: MIT
/*
 * Resources of a dispatch: uniform buffers, views, textures and samplers. The code turns the
 * structures of programs into tables of descriptors (Documentation/hw/descriptors.xml).
 */
#include <errno.h>
#include <string.h>

#include "dispatch.h"
#include "tsr_regs.h"

#define VIEW_ALIGN	64u		/* of ATTRIBUTE_BUFFER.POINTER; the rest goes into OFFSET */
#define LOD_LIMIT	0x2000u
#define ANISOTROPY_MAX	31u

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

static int check_view(struct tsr_stream *stream, const struct tsr_view *view, uint32_t i,
		      struct tsr_placed *placed)
{
	const uint32_t all = TSR_SHADER_READ | TSR_SHADER_WRITE;

	if (!view->access || view->access & ~all)
		return tsr_stream_fail(stream, EINVAL,
				       "view %u with access 0x%x, expected TSR_SHADER_READ, "
				       "TSR_SHADER_WRITE or both", i, view->access);
	if (view->format > 0xff || view->order > 0xfff)
		return tsr_stream_fail(stream, EINVAL,
				       "view %u with format %u and order %u, expected values of "
				       "enum tsr_pixel_format and enum tsr_component_order", i,
				       view->format, view->order);
	if (tsr_view_place(view, placed))
		return tsr_stream_fail(stream, EINVAL, "view %u: %s", i, tsr_error_message());
	if (placed->size > UINT32_MAX - VIEW_ALIGN || placed->va + placed->size < placed->va ||
	    (!placed->layers && !placed->stride))
		return tsr_stream_fail(stream, EINVAL,
				       "view %u of 0x%llx bytes at 0x%llx with stride %u, expected "
				       "less than 4 GiB and a stride", i,
				       (unsigned long long)placed->size,
				       (unsigned long long)placed->va, placed->stride);
	return 0;
}

static int check_texture(struct tsr_stream *stream, const struct tsr_view *view, uint32_t i,
			 struct tsr_sampled *sampled)
{
	if (!view->image)
		return tsr_stream_fail(stream, EINVAL, "texture %u without an image", i);
	if (tsr_view_sample(view, sampled))
		return tsr_stream_fail(stream, EINVAL, "texture %u: %s", i, tsr_error_message());
	return 0;
}

static int check_sampler(struct tsr_stream *stream, const struct tsr_sampler_state *s, uint32_t i)
{
	if (s->wrap_s > 0xf || s->wrap_t > 0xf || s->wrap_r > 0xf || s->mipmap > 3 ||
	    s->compare > 7 || s->lod_algorithm > 3)
		return tsr_stream_fail(stream, EINVAL,
				       "sampler %u with a mode that is none: wrap %u %u %u, mipmap "
				       "%u, compare %u, lod_algorithm %u", i, s->wrap_s, s->wrap_t,
				       s->wrap_r, s->mipmap, s->compare, s->lod_algorithm);
	if (s->min_lod >= LOD_LIMIT || s->max_lod >= LOD_LIMIT || s->lod_bias < INT16_MIN ||
	    s->lod_bias > INT16_MAX || s->anisotropy > ANISOTROPY_MAX)
		return tsr_stream_fail(stream, EINVAL,
				       "sampler %u with level of detail %u to %u, bias %d, "
				       "anisotropy %u, expected less than %u, 16 bits, %u at most",
				       i, s->min_lod, s->max_lod, s->lod_bias, s->anisotropy,
				       LOD_LIMIT, ANISOTROPY_MAX);
	return 0;
}

int tsr_bindings_check(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
		       struct tsr_resolved *r)
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
		ret = check_view(stream, &d->views[i], i, &r->views[i]);
	for (i = 0; !ret && i < d->texture_count; i++)
		ret = check_texture(stream, &d->textures[i], i, &r->textures[i]);
	for (i = 0; !ret && i < d->sampler_count; i++)
		ret = check_sampler(stream, &d->samplers[i], i);
	return ret;
}

unsigned int tsr_bindings_extents(const struct tsr_dispatch_info *d, const struct tsr_resolved *r,
				  struct tsr_extent *extents)
{
	unsigned int i, n = 0;

	for (i = 0; i < d->uniform_count; i++)
		extents[n++] = (struct tsr_extent) {
			d->uniforms[i].va, d->uniforms[i].va + d->uniforms[i].size, false,
		};
	for (i = 0; i < d->view_count; i++)
		extents[n++] = (struct tsr_extent) {
			r->views[i].va, r->views[i].va + r->views[i].size,
			r->views[i].access & TSR_SHADER_WRITE,
		};
	for (i = 0; i < d->texture_count; i++)
		extents[n++] = (struct tsr_extent) {
			r->textures[i].va, r->textures[i].va + r->textures[i].size, false,
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

void tsr_placed_write(const struct tsr_placed *v, uint64_t *attribute, uint64_t *buffer,
		      uint32_t index)
{
	const uint32_t lead = v->va % VIEW_ALIGN;
	const struct tsr_surface *s = &v->surface;
	const struct tsr_attribute a = {
		.buffer = index, .order = v->order, .format = v->format, .offset = (int32_t)lead,
	};
	struct tsr_attribute_buffer b = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, .pointer = v->va - lead,
		.stride = v->stride, .size = (uint32_t)v->size + lead,
	};
	struct tsr_attribute_buffer_image shape = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION,
	};
	const struct tsr_attribute_buffer_tags tags = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION, .tags = v->tags,
		.state = v->tag_state,
	};

	if (v->layers) {
		b.type = s->layout == TSR_LAYOUT_TILED ? TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_TILED
						       : TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_LINEAR;
		b.stride = s->texel;
		shape.width = s->width - 1;
		shape.height = s->height - 1;
		shape.depth = v->layers - 1;
		shape.row_stride = s->pitch;
		shape.slice_stride = v->layers > 1 ? (uint32_t)v->layer_stride : 0;
		shape.tagged = v->tag_state;
	}
	tsr_pack_attribute(attribute, &a);
	tsr_pack_attribute_buffer(buffer, &b);
	tsr_pack_attribute_buffer_image(buffer + 2, &shape);
	tsr_pack_attribute_buffer_tags(buffer + 4, &tags);
}

static int write_views(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
		       const struct tsr_resolved *r, struct tsr_compute_state *state)
{
	uint64_t *attributes, *buffers;
	uint32_t i;

	if (!d->view_count)
		return 0;
	attributes = tsr_stream_data(stream, d->view_count * 8, &state->attributes);
	if (!attributes)
		return tsr_stream_status(stream);
	state->attribute_count = d->view_count;
	buffers = tsr_stream_data(stream, d->view_count * TSR_VIEW_ENTRIES * 16,
				  &state->attribute_buffers);
	if (!buffers)
		return tsr_stream_status(stream);
	state->attribute_buffer_count = TSR_VIEW_ENTRIES * d->view_count;
	for (i = 0; i < d->view_count; i++)
		tsr_placed_write(&r->views[i], attributes + i,
				 buffers + 2 * TSR_VIEW_ENTRIES * (size_t)i, TSR_VIEW_ENTRIES * i);
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
			  const struct tsr_resolved *r, struct tsr_compute_state *state)
{
	struct tsr_texture textures[TSR_TEXTURES_MAX];
	uint64_t *table;
	uint32_t i;
	int ret;

	if (!d->texture_count)
		return 0;
	/* first what the table points to, so that it is in one piece */
	for (i = 0; i < d->texture_count; i++) {
		textures[i] = r->textures[i].texture;
		ret = write_surfaces(stream, &r->textures[i], &textures[i].surfaces);
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

static void write_sampler(const struct tsr_sampler_state *s, uint64_t *words)
{
	const struct tsr_sampler sampler = {
		.type = 1,
		.wrap_s = s->wrap_s, .wrap_t = s->wrap_t, .wrap_r = s->wrap_r,
		.normalized = s->normalized, .min_nearest = s->min_nearest,
		.mag_nearest = s->mag_nearest, .mag_cutoff = s->mag_cutoff,
		.seamless = s->seamless, .clamp_layer = s->clamp_layer,
		.srgb_override = s->srgb_override, .mipmap = s->mipmap, .compare = s->compare,
		.lod_algorithm = s->lod_algorithm, .min_lod = s->min_lod, .max_lod = s->max_lod,
		.lod_bias = s->lod_bias, .anisotropy = s->anisotropy,
		.border_r = s->border[0], .border_g = s->border[1],
		.border_b = s->border[2], .border_a = s->border[3],
	};

	tsr_pack_sampler(words, &sampler);
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
		write_sampler(&d->samplers[i], table + 4 * (size_t)i);
	state->sampler_count = d->sampler_count;
	return 0;
}

int tsr_bindings_write(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
		       const struct tsr_resolved *r, struct tsr_compute_state *state)
{
	int ret = write_uniforms(stream, d, state);

	if (!ret)
		ret = write_views(stream, d, r, state);
	if (!ret)
		ret = write_textures(stream, d, r, state);
	return ret ? ret : write_samplers(stream, d, state);
}

void tsr_sampler_init(struct tsr_sampler_state *sampler, enum tsr_wrap_mode wrap, bool linear)
{
	*sampler = (struct tsr_sampler_state) {
		.wrap_r = wrap, .wrap_s = wrap, .wrap_t = wrap,
		.normalized = true,
		.min_nearest = !linear,
		.mag_nearest = !linear,
		.mipmap = TSR_MIPMAP_MODE_NONE,
	};
}
