// SPDX-License-Identifier: MIT
/* Pipelines: checked once, and brought into the form that draws copy. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"

#define OUTPUT_ALIGN	16u
#define PIPELINE_INFO_1	TSR_UP_TO(struct tsr_gfx_pipeline_info, label)	/* version 1.0 */

#define REFUSE(p, ...) tsr_fail(EINVAL, "pipeline '%s': " __VA_ARGS__)

/* True if a program can begin at @entry after its own entry. */
static bool begins(const struct tsr_shader *program, uint32_t entry)
{
	return entry % 16 == 0 && entry < program->info.size - program->info.entry;
}

static int check_programs(const struct tsr_gfx_pipeline_info *p)
{
	const bool one = p->vertex_flags & TSR_GFX_VERTEX_ONE_SHADER;

	if (!p->vertex || (one && p->varying))
		return REFUSE(p, "%s", p->label, p->vertex ? "one vertex program and another one" :
			      "no vertex program");
	if (!begins(p->vertex, p->vertex_entry) ||
	    (p->varying && !begins(p->varying, p->varying_entry)) ||
	    (p->fragment && !begins(p->fragment, p->fragment_entry)))
		return REFUSE(p, "a program begins at %u, %u or %u, expected multiples of 16 "
			      "inside", p->label, p->vertex_entry, p->varying_entry,
			      p->fragment_entry);
	if (p->vertex_flags & ~0x3fu || p->fragment_flags & ~0x3ffu || p->raster & ~0x1fffu)
		return REFUSE(p, "unknown flags 0x%x, 0x%x or 0x%x", p->label, p->vertex_flags,
			      p->fragment_flags, p->raster);
	if (p->varying_count && !one && !p->varying && !p->stages)
		return REFUSE(p, "%u varyings that no program computes", p->label,
			      p->varying_count);
	if (p->clip_distances & p->cull_distances ||
	    ((p->clip_distances || p->cull_distances) &&
	     !(p->vertex_flags & TSR_GFX_VERTEX_DISTANCES)))
		return REFUSE(p, "clip distances 0x%x and cull distances 0x%x, expected no bit in "
			      "both, and TSR_GFX_VERTEX_DISTANCES", p->label, p->clip_distances,
			      p->cull_distances);
	if (p->preload[0].varying > 255 || p->preload[1].varying > 255 ||
	    p->preload[0].kind > TSR_PRELOAD_VAR_TEX || p->preload[1].kind > TSR_PRELOAD_VAR_TEX ||
	    p->preload[0].components > 4 || p->preload[1].components > 4 ||
	    p->preload[0].texture > 255 || p->preload[1].texture > 255)
		return REFUSE(p, "a preload out of range", p->label);
	return 0;
}

static int check_input(const struct tsr_gfx_pipeline_info *p)
{
	uint32_t i;

	if (p->attribute_count > TSR_GFX_ATTRIBUTES_MAX || p->buffer_count > TSR_GFX_BUFFERS_MAX ||
	    p->varying_count > TSR_GFX_VARYINGS_MAX || p->blend_count > TSR_RENDER_TARGETS_MAX)
		return REFUSE(p, "%u attributes, %u buffers, %u varyings, %u blends, expected at "
			      "most %d, %d, %d, %d", p->label, p->attribute_count, p->buffer_count,
			      p->varying_count, p->blend_count, TSR_GFX_ATTRIBUTES_MAX,
			      TSR_GFX_BUFFERS_MAX, TSR_GFX_VARYINGS_MAX, TSR_RENDER_TARGETS_MAX);
	for (i = 0; i < p->attribute_count; i++) {
		if (p->attributes[i].buffer >= p->buffer_count ||
		    !gfx_format(p->attributes[i].format).bytes ||
		    p->attributes[i].order > 0xfff)
			return REFUSE(p, "attribute %u of buffer %u, format %u", p->label, i,
				      p->attributes[i].buffer, p->attributes[i].format);
	}
	for (i = 0; i < p->varying_count; i++) {
		if (!gfx_format(p->varyings[i].format).bytes ||
		    p->varyings[i].output > TSR_GFX_VARYINGS_MAX - 1 ||
		    p->varyings[i].input > TSR_GFX_VARYINGS_MAX - 1 ||
		    p->varyings[i].interpolation > TSR_GFX_INTERPOLATE_FLAT ||
		    (p->vertex_flags & TSR_GFX_VERTEX_ONE_SHADER && !p->varyings[i].output))
			return REFUSE(p, "varying %u: format %u, output %u, input %u, "
				      "interpolation %u", p->label, i, p->varyings[i].format,
				      p->varyings[i].output, p->varyings[i].input,
				      p->varyings[i].interpolation);
	}
	return 0;
}

static bool bad_stencil(const struct tsr_gfx_stencil *s)
{
	return s->function > TSR_COMPARE_FUNCTION_ALWAYS ||
	       s->fail > TSR_STENCIL_OP_DECREMENT_WRAP ||
	       s->depth_fail > TSR_STENCIL_OP_DECREMENT_WRAP ||
	       s->pass > TSR_STENCIL_OP_DECREMENT_WRAP;
}

static bool bad_blend(const struct tsr_gfx_blend *b)
{
	const uint32_t most = TSR_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA;

	return b->mask > 0xf || b->src_color > most || b->dst_color > most ||
	       b->src_alpha > most || b->dst_alpha > most || b->color_op > TSR_BLEND_OP_MAX ||
	       b->alpha_op > TSR_BLEND_OP_MAX || b->registers > TSR_REGISTER_TYPE_U16 ||
	       (b->shader && (b->shader_return % 8 ||
			       tsr_shader_va(b->shader) % 16));
}

static int check_state(const struct tsr_gfx_pipeline_info *p)
{
	uint32_t i;

	if (p->topology > TSR_TOPOLOGY_PATCHES || p->topology == 7 ||
	    (p->topology == TSR_TOPOLOGY_PATCHES && !p->stages))
		return REFUSE(p, "topology %u, expected one of enum tsr_topology; patches with "
			      "stages", p->label, p->topology);
	if (p->depth.function > TSR_COMPARE_FUNCTION_ALWAYS || bad_stencil(&p->depth.front) ||
	    bad_stencil(&p->depth.back) || p->logic_op > TSR_LOGIC_OP_SET ||
	    p->depth_layout > TSR_DEPTH_LAYOUT_UNCHANGED || p->sample_mask > 0xffff)
		return REFUSE(p, "a function or operation that does not exist", p->label);
	for (i = 0; i < p->blend_count; i++) {
		if (bad_blend(&p->blends[i]))
			return REFUSE(p, "blend %u has a value that does not exist", p->label, i);
	}
	return 0;
}

/* Places of varyings in a vertex's outputs, and the two tables that name them. */
static int place_varyings(struct tsr_gfx_pipeline *p)
{
	struct tsr_shader_state *s = &p->state;
	uint32_t i, bytes, offset = 0, first = 0;
	struct tsr_attribute a;

	a = (struct tsr_attribute){ .format = TSR_PIXEL_FORMAT_RGBA32F };
	for (i = 0; i < TSR_GFX_VARYINGS_MAX; i++)
		tsr_pack_attribute(&p->outputs[i], &a), tsr_pack_attribute(&p->inputs[i], &a);
	if (p->info.vertex_flags & TSR_GFX_VERTEX_ONE_SHADER)
		p->output_count = first = 1;
	for (i = 0; i < p->info.varying_count; i++) {
		const struct tsr_gfx_varying *v = &p->varyings[i];

		a = (struct tsr_attribute){ .format = v->format, .offset = (int32_t)offset };
		bytes = gfx_format(v->format).bytes;
		tsr_pack_attribute(&p->outputs[v->output], &a);
		tsr_pack_attribute(&p->inputs[v->input], &a);
		offset += (uint32_t)tsr_round_up(bytes, 4);
		if (v->output >= p->output_count)
			p->output_count = v->output + 1u;
		if (v->input >= p->input_count)
			p->input_count = v->input + 1u;
		if (v->interpolation == TSR_GFX_INTERPOLATE_FLAT)
			s->flat_varyings |= 1u << v->input;
		if (v->interpolation == TSR_GFX_INTERPOLATE_LINEAR)
			s->linear_varyings |= 1u << v->input;
	}
	if (offset > TSR_VERTEX_OUTPUT_MAX)
		return REFUSE(p, "varyings of %u bytes, expected at most %d", p->label, offset,
			      TSR_VERTEX_OUTPUT_MAX);
	s->output_stride = (uint32_t)tsr_round_up(offset, OUTPUT_ALIGN);
	return 0;
}

static void fill_preloads(struct tsr_gfx_pipeline *p)
{
	const struct tsr_gfx_preload *first = &p->info.preload[0], *second = first + 1;
	struct tsr_shader_state *s = &p->state;

	s->preload_0 = first->kind;
	s->preload_0_half = first->half;
	s->preload_0_zero_lod = first->zero_lod;
	s->preload_0_components = first->components ? first->components - 1 : 0;
	s->preload_0_varying = first->varying;
	s->preload_0_texture = first->texture;
	s->preload_1 = second->kind;
	s->preload_1_half = second->half;
	s->preload_1_zero_lod = second->zero_lod;
	s->preload_1_components = second->components ? second->components - 1 : 0;
	s->preload_1_varying = second->varying;
	s->preload_1_texture = second->texture;
}

static void fill_state(struct tsr_gfx_pipeline *p)
{
	const uint32_t v = p->info.vertex_flags, f = p->info.fragment_flags;
	struct tsr_shader_state *s = &p->state;

	s->position_mode = v & TSR_GFX_VERTEX_WINDOW_POSITION ? TSR_POSITION_MODE_WINDOW
						       : TSR_POSITION_MODE_CLIP;
	s->position_output = v & TSR_GFX_VERTEX_ONE_SHADER;
	s->extended = v & (TSR_GFX_VERTEX_POINT_SIZE | TSR_GFX_VERTEX_LAYER |
			   TSR_GFX_VERTEX_VIEWPORT |
			   TSR_GFX_VERTEX_DISTANCES);
	s->writes_point_size = v & TSR_GFX_VERTEX_POINT_SIZE;
	s->writes_layer = v & TSR_GFX_VERTEX_LAYER;
	s->writes_viewport = v & TSR_GFX_VERTEX_VIEWPORT;
	s->clip_distances = p->info.clip_distances;
	s->cull_distances = p->info.cull_distances;
	s->writes_depth = f & TSR_GFX_FRAGMENT_WRITES_DEPTH;
	s->writes_stencil = f & TSR_GFX_FRAGMENT_WRITES_STENCIL;
	s->discards = f & TSR_GFX_FRAGMENT_DISCARDS;
	s->side_effects = f & TSR_GFX_FRAGMENT_SIDE_EFFECTS;
	s->reads_tile = f & TSR_GFX_FRAGMENT_READS_TARGETS;
	s->sample_shading = f & TSR_GFX_FRAGMENT_SAMPLE_SHADING;
	s->early_tests = f & TSR_GFX_FRAGMENT_EARLY_TESTS;
	s->helpers = f & TSR_GFX_FRAGMENT_HELPERS;
	s->wait_depth = f & TSR_GFX_FRAGMENT_WAITS_DEPTH;
	s->wait_colour = f & TSR_GFX_FRAGMENT_WAITS_COLOR;
	s->depth_layout = p->info.depth_layout;
	fill_preloads(p);
}

static void copy_arrays(struct tsr_gfx_pipeline *p)
{
	struct tsr_gfx_pipeline_info *i = &p->info;

#define COPY(name, count) \
	do { \
		if (i->count) \
			memcpy(p->name, i->name, i->count * sizeof(p->name[0])); \
		i->name = p->name; \
	} while (0)
	COPY(attributes, attribute_count);
	COPY(buffers, buffer_count);
	COPY(varyings, varying_count);
	COPY(blends, blend_count);
#undef COPY
	i->label = p->label;
}

static void hold_programs(struct tsr_gfx_pipeline *p)
{
	uint32_t i;

	tsr_shader_ref(p->info.vertex);
	if (p->info.varying)
		tsr_shader_ref(p->info.varying);
	if (p->info.fragment)
		tsr_shader_ref(p->info.fragment);
	for (i = 0; i < p->info.blend_count; i++) {
		if (p->blends[i].shader) {
			tsr_shader_ref(p->blends[i].shader);
			p->state.reads_tile = true;
		}
	}
	for (i = 0; i < p->info.buffer_count; i++)
		p->divides |= p->buffers[i].divisor;
	for (i = 0; i < p->info.attribute_count; i++)
		p->far_attributes += gfx_is_far(&p->attributes[i]);
}

int tsr_gfx_pipeline_create(const struct tsr_gfx_pipeline_info *wanted, size_t size,
			    struct tsr_gfx_pipeline **out)
{
	struct tsr_gfx_pipeline_info info;
	struct tsr_gfx_pipeline *p;
	int ret;

	ret = tsr_take_info(&info, sizeof(info), PIPELINE_INFO_1, wanted, size,
			    "tsr_gfx_pipeline_info");
	if (ret)
		return ret;
	info.label = info.label ? info.label : "";
	ret = check_programs(&info);
	if (!ret)
		ret = check_input(&info);
	if (!ret)
		ret = check_state(&info);
	if (ret)
		return ret;
	p = calloc(1, sizeof(*p));
	if (p)
		p->label = strdup(info.label);
	if (!p || !p->label) {
		free(p);
		return tsr_fail(ENOMEM, "no memory for pipeline '%s'", info.label);
	}
	atomic_init(&p->refs, 1);
	p->info = info;
	copy_arrays(p);
	fill_state(p);
	ret = place_varyings(p);
	if (!ret && p->info.stages)
		ret = gfx_stages_create(p);
	if (ret) {
		free(p->label);
		free(p);
		return ret;
	}
	hold_programs(p);
	*out = p;
	return 0;
}

struct tsr_gfx_pipeline *tsr_gfx_pipeline_ref(struct tsr_gfx_pipeline *pipeline)
{
	atomic_fetch_add_explicit(&pipeline->refs, 1, memory_order_relaxed);
	return pipeline;
}

void tsr_gfx_pipeline_unref(struct tsr_gfx_pipeline *p)
{
	uint32_t i;

	if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1)
		return;
	tsr_shader_unref(p->info.vertex);
	tsr_shader_unref(p->info.varying);
	tsr_shader_unref(p->info.fragment);
	for (i = 0; i < p->info.blend_count; i++)
		tsr_shader_unref(p->blends[i].shader);
	gfx_stages_destroy(p);
	free(p->label);
	free(p);
}
