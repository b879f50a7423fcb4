// SPDX-License-Identifier: MIT
/* State of draws as programs set it. Nothing is written before a draw needs it. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "gfx.h"

#define STAGES_ALL ((uint32_t)(TSR_GFX_STAGE_VERTEX | TSR_GFX_STAGE_FRAGMENT))
#define ADDRESSES (1ull << 56)		/* a vertex buffer begins and ends below */

void gfx_state_init(struct tsr_gfx_pass *pass)
{
	struct gfx_state *s = &pass->state;

	*s = (struct gfx_state) {
		.viewports = 1, .line = 1, .point = 1,
		.viewport[0] = { 0, 0, (float)pass->info.width, (float)pass->info.height, 0, 1 },
		.programs_changed = true, .vertices_changed = true, .draw_changed = true,
	};
	for (unsigned int i = 0; i < TSR_VIEWPORTS_MAX; i++)
		s->scissor[i] = (struct tsr_rect){ 0, 0, pass->info.width, pass->info.height };
	s->bound[0].changed = s->bound[1].changed = true;
}

void gfx_state_fini(struct tsr_gfx_pass *pass)
{
	tsr_gfx_pipeline_unref(pass->state.pipeline);
	tsr_stream_destroy(pass->scratch);
	pass->state.pipeline = NULL;
	pass->scratch = NULL;
}

int tsr_gfx_set_pipeline(struct tsr_gfx_pass *pass, struct tsr_gfx_pipeline *pipeline)
{
	struct gfx_state *s = &pass->state;
	int ret = gfx_check(pass);

	if (ret || s->pipeline == pipeline)
		return ret;
	if (pipeline->stages && !(tsr_device_info(tsr_vm_device(pass->gfx->vm))->features &
				  DRM_TESSERA_FEATURE_GEOMETRY))
		return gfx_fail(pass, ENODEV, "pipeline '%s' has stages, which the GPU has not",
				pipeline->label);
	tsr_gfx_pipeline_unref(s->pipeline);
	s->pipeline = tsr_gfx_pipeline_ref(pipeline);
	s->programs_changed = s->vertices_changed = s->draw_changed = true;
	s->bound[0].changed = s->bound[1].changed = true;
	return 0;
}

int tsr_gfx_set_push(struct tsr_gfx_pass *pass, uint32_t stages, uint32_t first, uint32_t count,
		     const void *words)
{
	unsigned int i;
	int ret = gfx_check(pass);

	if (ret)
		return ret;
	if (!stages || stages & ~STAGES_ALL || first > TSR_PUSH_WORDS_MAX ||
	    count > TSR_PUSH_WORDS_MAX - first)
		return gfx_fail(pass, EINVAL, "push words %u + %u of stages 0x%x, expected at most "
				"%d of stages 1 to 3", first, count, stages, TSR_PUSH_WORDS_MAX);
	for (i = 0; i < GFX_STAGES; i++) {
		struct gfx_bound *b = &pass->state.bound[i];

		if (!(stages >> i & 1))
			continue;
		gfx_copy_words(b->push + first, words, count);
		b->push_va = 0;
		if (b->push_words >= first + count)
			continue;
		b->push_words = first + count;
		b->changed = true;
	}
	return 0;
}

int tsr_gfx_set_vertices(struct tsr_gfx_pass *pass, uint32_t buffer, uint64_t va, uint64_t size)
{
	struct gfx_state *s = &pass->state;
	int ret = gfx_check(pass);

	if (ret)
		return ret;
	if (buffer >= TSR_GFX_BUFFERS_MAX || size > ADDRESSES || va > ADDRESSES - size)
		return gfx_fail(pass, EINVAL, "vertex buffer %u of 0x%llx bytes at 0x%llx, "
				"expected at most %d buffers that end below 2^56", buffer,
				(unsigned long long)size, (unsigned long long)va,
				TSR_GFX_BUFFERS_MAX);
	if (s->vertices[buffer].va == va && s->vertices[buffer].size == size)
		return 0;
	s->vertices[buffer] = (struct gfx_vertices){ va, size };
	s->vertices_changed = true;
	return 0;
}

int tsr_gfx_set_indices(struct tsr_gfx_pass *pass, enum tsr_index_type type, uint64_t va,
			uint64_t size)
{
	int ret = gfx_check(pass);

	if (ret)
		return ret;
	if (type < TSR_INDEX_TYPE_U8 || type > TSR_INDEX_TYPE_U32 ||
	    va % (1u << (type - TSR_INDEX_TYPE_U8)) || size >> 48)
		return gfx_fail(pass, EINVAL, "indices of type %u, 0x%llx bytes at 0x%llx, "
				"expected type 1 to 3 and an address aligned to it",
				(unsigned int)type, (unsigned long long)size,
				(unsigned long long)va);
	pass->state.index_type = type;
	pass->state.indices = va;
	pass->state.index_bytes = size;
	return 0;
}

int tsr_gfx_set_viewport(struct tsr_gfx_pass *pass, uint32_t index,
			 const struct tsr_gfx_viewport *v)
{
	const float *f = &v->x;
	unsigned int i;
	int ret = gfx_check(pass);

	if (ret)
		return ret;
	for (i = 0; i < 6; i++) {
		if (!isfinite(f[i]) || fabsf(f[i]) > (float)(1 << 20))
			return gfx_fail(pass, EINVAL, "viewport %u has the number %g, expected up "
					"to 2^20", index, (double)f[i]);
	}
	if (index >= TSR_VIEWPORTS_MAX || !(v->width > 0) || v->height == 0)
		return gfx_fail(pass, EINVAL, "viewport %u of %g x %g pixels, expected viewport 0 "
				"to %d, a width above 0 and a height", index, (double)v->width,
				(double)v->height, TSR_VIEWPORTS_MAX - 1);
	/* unset ones below it are equal to the first one */
	for (i = pass->state.viewports; i < index; i++)
		pass->state.viewport[i] = pass->state.viewport[0];
	pass->state.viewport[index] = *v;
	if (pass->state.viewports <= index)
		pass->state.viewports = index + 1;
	pass->state.draw_changed = true;
	return 0;
}

int tsr_gfx_set_scissor(struct tsr_gfx_pass *pass, uint32_t index, const struct tsr_rect *rect)
{
	int ret = gfx_check(pass);

	if (ret)
		return ret;
	if (index >= TSR_VIEWPORTS_MAX)
		return gfx_fail(pass, EINVAL, "scissor %u, expected 0 to %d", index,
				TSR_VIEWPORTS_MAX - 1);
	pass->state.scissor[index] = *rect;
	pass->state.draw_changed = true;
	return 0;
}

int tsr_gfx_set_blend_constant(struct tsr_gfx_pass *pass, const float constant[4])
{
	int ret = gfx_check(pass);

	if (ret)
		return ret;
	memcpy(pass->state.constant, constant, sizeof(pass->state.constant));
	pass->state.draw_changed = true;
	return 0;
}

int tsr_gfx_set_stencil_reference(struct tsr_gfx_pass *pass, uint8_t front, uint8_t back)
{
	int ret = gfx_check(pass);

	if (ret)
		return ret;
	pass->state.reference[0] = front;
	pass->state.reference[1] = back;
	pass->state.draw_changed = true;
	return 0;
}

int tsr_gfx_set_depth_bias(struct tsr_gfx_pass *pass, float constant, float slope, float clamp)
{
	int ret = gfx_check(pass);

	if (ret)
		return ret;
	pass->state.bias[0] = constant;
	pass->state.bias[1] = slope;
	pass->state.bias[2] = clamp;
	pass->state.draw_changed = true;
	return 0;
}

int tsr_gfx_set_width(struct tsr_gfx_pass *pass, float line, float point)
{
	int ret = gfx_check(pass);

	if (ret)
		return ret;
	if (!(line > 0) || !(point > 0) || !isfinite(line) || !isfinite(point))
		return gfx_fail(pass, EINVAL, "lines %g and points %g pixels wide, expected more "
				"than 0", (double)line, (double)point);
	pass->state.line = line;
	pass->state.point = point;
	pass->state.draw_changed = true;
	return 0;
}
