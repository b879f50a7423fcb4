/* SPDX-License-Identifier: MIT */
/* Storage buffers and images of shaders. Images are attributes of fragment and compute shaders. */
#include "util/format/u_format.h"
#include "util/u_inlines.h"
#include "util/u_math.h"

#include "tc_texture.h"
#include "tg_draw.h"
#include "tg_resource.h"

static void set_shader_buffers(struct pipe_context *pipe, enum pipe_shader_type type,
			       unsigned start, unsigned count,
			       const struct pipe_shader_buffer *buffers, unsigned writable)
{
	struct tg_stage *stage = &tg_context(pipe)->stage[type];
	unsigned i;

	for (i = 0; i < count && start + i < TG_BUFFERS; i++)
		util_copy_shader_buffer(&stage->buffers[start + i], buffers ? &buffers[i] : NULL);
	stage->buffers_written &= ~u_bit_consecutive(start, count);
	stage->buffers_written |= writable << start;
	stage->dirty |= TG_DIRTY_CONSTANTS;
}

static void set_shader_images(struct pipe_context *pipe, enum pipe_shader_type type, unsigned start,
			      unsigned count, unsigned unbind, const struct pipe_image_view *images)
{
	struct tg_stage *stage = &tg_context(pipe)->stage[type];
	unsigned i;

	for (i = 0; i < count + unbind && start + i < TG_IMAGES; i++)
		util_copy_image_view(&stage->images[start + i],
				     images && i < count ? &images[i] : NULL);
	stage->image_count = MAX2(stage->image_count, MIN2(start + count, TG_IMAGES));
	while (stage->image_count && !stage->images[stage->image_count - 1].resource)
		stage->image_count--;
	stage->dirty |= TG_DIRTY_CONSTANTS | TG_DIRTY_SHADER;
}

void tg_buffer_value(struct tg_batch *b, const struct tg_stage *stage, unsigned index,
		     uint32_t *out)
{
	const struct pipe_shader_buffer *s = index < TG_BUFFERS ? &stage->buffers[index] : NULL;
	struct tg_resource *r = s ? tg_resource(s->buffer) : NULL;
	uint64_t va;

	if (!r)
		return;
	va = r->bo->va + r->offset + s->buffer_offset;
	if (stage->buffers_written & 1u << index)
		tg_resource_write(b, r, s->buffer_offset, s->buffer_size);
	else
		tg_batch_use(b, r->bo, false);
	out[0] = (uint32_t)va;
	out[1] = (uint32_t)(va >> 32);
	out[2] = s->buffer_size;
}

void tg_image_size(const struct tg_stage *stage, const struct tg_sysval *s, uint32_t *out)
{
	const struct pipe_image_view *v =
		s->index < stage->image_count ? &stage->images[s->index] : NULL;
	unsigned level, layers;

	if (!v || !v->resource)
		return;
	if (v->resource->target == PIPE_BUFFER) {
		out[0] = v->u.buf.size / util_format_get_blocksize(v->format);
		return;
	}
	level = v->u.tex.level;
	layers = v->u.tex.last_layer - v->u.tex.first_layer + 1;
	tg_resource_extent(v->resource, level, s->dimensions, out);
	if (s->array && s->dimensions < 3)
		out[s->dimensions] =
			v->resource->target == PIPE_TEXTURE_CUBE_ARRAY ? layers / 6 : layers;
}

static struct tc_view image_view(const struct pipe_image_view *v)
{
	const struct tg_resource *r = tg_resource(v->resource);
	struct tc_view out = { .va = r->bo->va + r->offset, .format = v->format };

	if (v->resource->target == PIPE_BUFFER) {
		out.va += v->u.buf.offset;
		return out;
	}
	out.layout = &r->mem;
	out.first_level = v->u.tex.level;
	out.first_layer = v->u.tex.first_layer;
	out.layers = out.depth = v->u.tex.last_layer - v->u.tex.first_layer + 1;
	out.width = u_minify(r->base.width0, v->u.tex.level);
	out.height = u_minify(r->base.height0, v->u.tex.level);
	return out;
}

void tg_image_write(struct tg_batch *batch, const struct tg_stage *stage, uint64_t *attributes,
		    uint64_t *buffers)
{
	unsigned i;

	for (i = 0; i < stage->image_count; i++) {
		const struct pipe_image_view *v = &stage->images[i];
		struct tc_view view;

		if (v->resource) {
			view = image_view(v);
			tc_image_pack(&view, 2 * i, v->u.buf.size, attributes + i, buffers + 4 * i);
		} else {
			tc_image_none(2 * i, attributes + i, buffers + 4 * i);
		}
		if (v->resource && v->access & PIPE_IMAGE_ACCESS_WRITE)
			tg_resource_write(batch, tg_resource(v->resource), 0, UINT32_MAX);
		else if (v->resource)
			tg_batch_use(batch, tg_resource(v->resource)->bo, false);
	}
}

void tg_image_init(struct pipe_context *pipe)
{
	pipe->set_shader_buffers = set_shader_buffers;
	pipe->set_shader_images = set_shader_images;
}
