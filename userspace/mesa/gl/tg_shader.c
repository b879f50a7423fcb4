/* SPDX-License-Identifier: MIT */
/* SHADER_PROGRAMs with what they read, and the SHADER_STATE of a draw. */
#include "util/u_math.h"

#include "tg_draw.h"
#include "tc_format.h"
#include "tg_resource.h"

#define UNIFORM_MAX	(64u << 10)	/* bytes of a uniform buffer */
#define SLOT		16u		/* bytes of a system value */

/* ---- Uniforms -------------------------------------------------------------------------------- */

static void texture_size(const struct tg_stage *stage, const struct tg_sysval *s, uint32_t *out)
{
	const struct pipe_sampler_view *v =
		s->index < stage->view_count ? stage->views[s->index] : NULL;
	unsigned level, layers;

	memset(out, 0, SLOT);
	if (!v)
		return;
	if (v->target == PIPE_BUFFER) {
		out[0] = v->u.buf.size / util_format_get_blocksize(v->format);
		return;
	}
	level = v->u.tex.first_level;
	layers = v->u.tex.last_layer - v->u.tex.first_layer + 1;
	tg_resource_extent(v->texture, level, s->dimensions, out);
	if (s->array)
		out[s->dimensions] = s->array > 1 ? layers / 6 : layers;
	out[3] = v->texture->nr_samples > 1 ? v->texture->nr_samples
					    : v->u.tex.last_level - level + 1;
}

/* The levels that a sampler takes of its texture. */
static void level_range(const struct tg_stage *stage, unsigned index, uint32_t *out)
{
	const struct tg_sampler *sampler = stage->samplers[index];
	const struct pipe_sampler_view *view = stage->views[index];
	float last;

	if (!sampler || !view || view->target == PIPE_BUFFER)
		return;
	last = (float)(view->u.tex.last_level - view->u.tex.first_level);
	out[0] = fui(MIN2(sampler->base.min_lod, last));
	out[1] = fui(MIN2(sampler->base.max_lod, last));
	out[3] = sampler->base.min_mip_filter;
}

static void stream_value(const struct tg_context *ctx, struct tg_batch *b, unsigned index,
			 uint32_t *out)
{
	const struct tg_stream_target *t = index < ctx->stream_count ? ctx->streams[index] : NULL;
	uint64_t value = 0;
	struct tg_resource *r;

	if (index == TG_STREAM_LIST) {
		value = ctx->stream_list;
	} else if (index == TG_STREAM_INSTANCE) {
		value = ctx->stream_instance;
	} else if (index == TG_STREAM_PRIMITIVES && ctx->primitive_ids) {
		value = ctx->primitive_ids->va + ctx->primitive_ids_at;
		tg_batch_use(b, ctx->primitive_ids, false);
	} else if (ctx->positions_va) {
		value = ctx->positions_va;
	} else if (t) {
		r = tg_resource(t->base.buffer);
		value = r->bo->va + r->offset + t->base.buffer_offset + t->offset;
	}
	out[0] = (uint32_t)value;
	out[1] = (uint32_t)(value >> 32);
	out[2] = ctx->stream_vertices;
}

static uint32_t target_conversion(enum pipe_format format, nir_alu_type type)
{
	const struct tsr_conversion word = { .registers = tc_register_type(type, format) };
	uint64_t packed;

	tsr_pack_conversion(&packed, &word);
	return (uint32_t)packed | tc_conversion(format);
}

static void sysval(const struct tg_context *ctx, struct tg_batch *b, const struct tg_stage *stage,
		   const struct tg_sysval *s, uint32_t *out)
{
	memset(out, 0, SLOT);
	switch (s->kind) {
	case TG_SYSVAL_VERTEX:
		out[0] = (uint32_t)ctx->base_vertex;
		out[1] = ctx->indexed ? (uint32_t)ctx->base_vertex : 0;
		out[2] = ctx->start_instance;
		out[3] = ctx->draw_id;
		break;
	case TG_SYSVAL_TEXTURE_SIZE:
		texture_size(stage, s, out);
		break;
	case TG_SYSVAL_LOD:
		level_range(stage, s->index, out);
		break;
	case TG_SYSVAL_SSBO:
		tg_buffer_value(b, stage, s->index, out);
		break;
	case TG_SYSVAL_IMAGE_SIZE:
		tg_image_size(stage, s, out);
		break;
	case TG_SYSVAL_WORK_GROUPS:
		memcpy(out, &ctx->groups_va, sizeof(ctx->groups_va));
		break;
	case TG_SYSVAL_GROUP_SIZE:
		memcpy(out, ctx->group_size, sizeof(ctx->group_size));
		break;
	case TG_SYSVAL_STREAM:
		stream_value(ctx, b, s->index, out);
		break;
	case TG_SYSVAL_PATCH:
		out[0] = tg_stages_patch_vertices(ctx, stage);
		break;
	case TG_SYSVAL_STIPPLE:
		memcpy(out, ctx->stipple.stipple + 4 * s->index, SLOT);
		break;
	case TG_SYSVAL_RT_CONVERSION:
		if (s->index < ctx->framebuffer.nr_cbufs && ctx->framebuffer.cbufs[s->index])
			out[0] = target_conversion(ctx->framebuffer.cbufs[s->index]->format,
						   s->type);
		break;
	default:
		break;
	}
}

/* The bytes of a constant buffer that the CPU can read, and their number. */
static const uint8_t *constants_of(const struct pipe_constant_buffer *cb, uint32_t *size)
{
	struct tg_resource *r = tg_resource(cb->buffer);

	*size = cb->buffer_size;
	if (cb->user_buffer)
		return (const uint8_t *)cb->user_buffer + cb->buffer_offset;
	if (!r) {
		*size = 0;
		return NULL;
	}
	return r->bo->map + r->offset + cb->buffer_offset;
}

static bool write_push(const struct tg_context *ctx, struct tg_batch *b, struct tg_stage *stage,
		       const uint8_t *sysvals)
{
	const struct panfrost_ubo_push *push = &stage->variant->info.push;
	const uint8_t *from;
	uint32_t size, offset, i;
	uint32_t *words;

	stage->push = 0;
	if (!push->count)
		return true;
	words = tg_batch_alloc(b, align(push->count * 4, 8), 16, &stage->push);
	if (!words)
		return false;
	for (i = 0; i < push->count; i++) {
		offset = push->words[i].offset;
		if (push->words[i].ubo == stage->variant->sysval_ubo) {
			memcpy(words + i, sysvals + offset, 4);
			continue;
		}
		from = constants_of(&stage->constants[push->words[i].ubo], &size);
		if (from && offset + 4 <= size)
			memcpy(words + i, from + offset, 4);
		else
			words[i] = 0;
	}
	return true;
}

/* A buffer the shader loads from; one that only the CPU has is copied. */
static bool write_uniform(struct tg_batch *b, const struct pipe_constant_buffer *cb, bool binned,
			  uint64_t *out)
{
	struct tg_resource *r = tg_resource(cb->buffer);
	struct tsr_uniform_buffer u = { 0 };
	uint64_t va = 0;
	uint32_t size = MIN2(cb->buffer_size, UNIFORM_MAX);
	void *copy;

	*out = 0;
	if (!size || (!r && !cb->user_buffer))
		return true;
	if (cb->user_buffer) {
		copy = tg_batch_alloc(b, align(size, 16), 16, &va);
		if (!copy)
			return false;
		memcpy(copy, (const uint8_t *)cb->user_buffer + cb->buffer_offset, size);
	} else {
		va = r->bo->va + r->offset + cb->buffer_offset;
		if (binned)
			tg_batch_use_binned(b, r->bo);
		else
			tg_batch_use(b, r->bo, false);
	}
	u.entries = DIV_ROUND_UP(size, 16) - 1;
	u.pointer = va >> 4;
	tsr_pack_uniform_buffer(out, &u);
	return true;
}

static bool write_uniforms(struct tg_context *ctx, struct tg_batch *b, struct tg_stage *stage,
			   bool binned, const uint8_t *sysvals)
{
	const struct tg_variant *v = stage->variant;
	const unsigned count = v->info.ubo_count;
	struct pipe_constant_buffer own = { .buffer_size = v->sysval_count * SLOT,
					    .user_buffer = sysvals };
	uint64_t *table;
	unsigned i;

	stage->uniform_count = count;
	if (!count)
		return true;
	table = tg_batch_alloc(b, count * 8, 64, &stage->uniforms);
	if (!table)
		return false;
	for (i = 0; i < count; i++) {
		table[i] = 0;
		if (v->info.ubo_mask & 1u << i &&
		    !write_uniform(b, i == v->sysval_ubo ? &own : &stage->constants[i], binned,
				   &table[i]))
			return false;
	}
	return true;
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* Scratch of all threads that can run at once. A program may have more than it asks for. */
static bool add_scratch(struct tg_context *ctx, struct tg_batch *b, const struct tg_stage *stage,
			struct tsr_shader_program *p)
{
	const enum pipe_shader_type type = (enum pipe_shader_type)(stage - ctx->stage);
	const enum tg_engine engine = type == PIPE_SHADER_COMPUTE    ? TG_COMPUTE
				      : type == PIPE_SHADER_FRAGMENT ? TG_RENDER
								     : TG_BIN;
	struct tg_bo *bo;

	if (!stage->variant->info.tls_size)
		return true;
	bo = tg_screen_scratch(ctx->screen, engine, stage->variant->info.tls_size,
			       &p->scratch_size);
	if (!bo)
		return false;
	p->scratch = bo->va;
	tg_batch_use(b, bo, true);
	tg_bo_reference(&bo, NULL);
	return true;
}

bool tg_program_fill(struct tg_context *ctx, struct tg_batch *b, const struct tg_stage *stage,
		     uint32_t entry, unsigned registers, struct tsr_shader_program *p)
{
	const struct tg_variant *v = stage->variant;

	if (!add_scratch(ctx, b, stage, p))
		return false;
	p->code = v->code->memory.va + entry;
	p->registers_64 = registers > 32;
	p->push = stage->push;
	p->push_words = v->info.push.count;
	p->uniform_buffers = stage->uniform_count ? stage->uniforms : 0;
	p->uniform_buffer_count = stage->uniform_count;
	p->texture_count = p->sampler_count = v->info.texture_count;
	p->textures = p->texture_count ? stage->textures : 0;
	p->samplers = p->texture_count ? stage->samplers_va : 0;
	tg_batch_use_code(b, v->code);
	return true;
}

static bool write_program(struct tg_context *ctx, struct tg_batch *b, const struct tg_stage *stage,
			  uint32_t entry, unsigned registers, struct tsr_shader_program *p,
			  uint64_t *va)
{
	uint64_t *words = tg_batch_alloc(b, TSR_SHADER_PROGRAM__QWORDS * 8, 64, va);

	if (!words || !tg_program_fill(ctx, b, stage, entry, registers, p))
		return false;
	tsr_pack_shader_program(words, p);
	return true;
}

/* The STAGE_HEADER of a vertex shader that other stages follow; 0: there are none. */
static bool write_vertex_header(struct tg_batch *b, const struct tg_variant *v, uint64_t *va)
{
	struct tsr_stage_header h;
	uint64_t *words;

	*va = 0;
	if (!v->in_space)
		return true;
	words = tg_batch_alloc(b, TSR_STAGE_HEADER__QWORDS * 8, 64, va);
	if (!words)
		return false;
	tg_stages_header(v, &h);
	tsr_pack_stage_header(words, &h);
	return true;
}

static bool write_vertex_programs(struct tg_context *ctx, struct tg_batch *b)
{
	const struct tg_stage *stage = &ctx->stage[PIPE_SHADER_VERTEX];
	const struct pan_shader_info *info = &stage->variant->info;
	struct tsr_shader_program p = {
		.attributes = ctx->attributes_va, .attribute_count = ctx->attribute_count,
		.attribute_buffers = ctx->attribute_buffers_va,
		.attribute_buffer_count = ctx->attribute_buffer_count,
		.varyings = ctx->attributes_va + ctx->attribute_count * 8,
		.varying_count = info->varyings.output_count,
	};

	ctx->varying_va = 0;
	if (!write_vertex_header(b, stage->variant, &p.header) ||
	    !write_program(ctx, b, stage, 0, info->work_reg_count, &p, &ctx->position_va))
		return false;
	return !info->vs.secondary_enable ||
	       write_program(ctx, b, stage, info->vs.secondary_offset,
			     info->vs.secondary_work_reg_count, &p, &ctx->varying_va);
}

static bool write_varyings(struct tg_context *ctx, struct tg_batch *b, struct tsr_shader_program *p)
{
	const struct tg_variant *last = tg_stages_last(ctx);
	const struct tg_variant *fs = ctx->stage[PIPE_SHADER_FRAGMENT].variant;
	const struct tg_stage *stage = &ctx->stage[PIPE_SHADER_FRAGMENT];
	const unsigned count = fs->info.varyings.input_count, images = stage->image_count;
	const struct tsr_attribute_buffer buffer = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR,
		.stride = tg_output_stride(last, fs),
		.size = UINT32_MAX,
	};
	uint64_t *words, *table;
	unsigned i;

	if (!count && !images)
		return true;
	words = tg_batch_alloc(b, (images + count) * 8, 64, &p->attributes);
	table = tg_batch_alloc(b, images * 32 + 16, 64, &p->attribute_buffers);
	if (!words || !table)
		return false;
	tg_image_write(b, stage, words, table);
	p->attribute_count = images;
	p->varyings = p->attributes + images * 8;
	for (i = 0; i < count; i++) {
		const struct pan_shader_varying *in = &fs->info.varyings.input[i];
		const struct tc_format *f = tc_format(tg_output_format(last, in->format));
		const struct tsr_attribute word = {
			.buffer = 2 * images, .format = f->format, .order = f->order,
			.offset = (int32_t)tg_output_offset(last, in->location),
		};

		tsr_pack_attribute(&words[images + i], &word);
	}
	tsr_pack_attribute_buffer(table + 4 * images, &buffer);
	p->varying_count = count;
	p->attribute_buffer_count = 2 * images + 1;
	return true;
}

static bool write_fragment_program(struct tg_context *ctx, struct tg_batch *b)
{
	const struct tg_stage *stage = &ctx->stage[PIPE_SHADER_FRAGMENT];
	struct tsr_shader_program p = { 0 };

	ctx->fragment_va = 0;
	if (!stage->variant->code)
		return true;
	return write_varyings(ctx, b, &p) &&
	       write_program(ctx, b, stage, 0, stage->variant->info.work_reg_count, &p,
			     &ctx->fragment_va);
}

/* ---- SHADER_STATE ---------------------------------------------------------------------------- */

static void fill_fragment(const struct tg_context *ctx, struct tsr_shader_state *s)
{
	const struct tg_variant *v = ctx->stage[PIPE_SHADER_FRAGMENT].variant;
	const struct bifrost_shader_info *i = &v->info.bifrost;

	s->writes_depth = v->info.fs.writes_depth;
	s->writes_stencil = v->info.fs.writes_stencil;
	s->discards = v->discards;
	s->side_effects = v->writes_memory;
	s->reads_tile = v->info.fs.outputs_read;
	s->sample_shading = v->info.fs.sample_shading || ctx->min_samples > 1;
	s->early_tests = v->info.fs.early_fragment_tests;
	s->helpers = v->helpers;
	s->wait_depth = i->wait_6;
	s->wait_colour = i->wait_7;
	s->linear_varyings = v->linear;
	tc_fill_preloads(i, s);
}

static void fill_vertex(const struct tg_context *ctx, struct tsr_shader_state *s)
{
	const struct tg_variant *v = tg_stages_last(ctx);

	s->position_mode = TSR_POSITION_MODE_CLIP;
	s->writes_point_size = v->writes_point_size &&
			       (!v->in_space || (ctx->topology_class == TG_POINTS &&
						 ctx->rasterizer->point_size_per_vertex));
	s->writes_layer = v->writes_layer;
	s->writes_viewport = v->writes_viewport;
	s->clip_distances = v->clip_distances & ctx->rasterizer->clip_plane_enable;
	s->cull_distances = v->cull_distances;
	s->extended = s->writes_point_size || s->writes_layer || s->writes_viewport ||
		      s->clip_distances || s->cull_distances;
	s->output_stride = tg_output_stride(v, ctx->stage[PIPE_SHADER_FRAGMENT].variant);
}

/* Writes the tables that a stage reads, as far as they have changed. */
bool tg_stage_write(struct tg_context *ctx, struct tg_batch *b, enum pipe_shader_type type)
{
	struct tg_stage *stage = &ctx->stage[type];
	const struct tg_variant *v = stage->variant;
	uint32_t sysvals[TG_SYSVALS * SLOT / 4];
	unsigned i;

	if (!stage->dirty)
		return true;
	for (i = 0; i < v->sysval_count; i++)
		sysval(ctx, b, stage, &v->sysvals[i], sysvals + i * SLOT / 4);
	if (!write_push(ctx, b, stage, (const uint8_t *)sysvals) ||
	    !write_uniforms(ctx, b, stage, tg_stage_is_binned(type), (const uint8_t *)sysvals))
		return false;
	if (stage->dirty & (TG_DIRTY_TEXTURES | TG_DIRTY_SAMPLERS | TG_DIRTY_SHADER) &&
	    !tg_texture_write(b, stage, v->info.texture_count))
		return false;
	return true;
}

static bool write_shader_state(struct tg_batch *b, const struct tsr_shader_state *s)
{
	struct tsr_list_shader_state packet;
	uint64_t *words = tg_batch_alloc(b, TSR_SHADER_STATE__QWORDS * 8, 64, &packet.addr);

	if (!words)
		return false;
	tsr_pack_shader_state(words, s);
	words = tg_batch_packet(b, TSR_LIST_SHADER_STATE_QWORDS);
	if (!words)
		return false;
	tsr_pack_list_shader_state(words, &packet);
	return true;
}

bool tg_stream_shader_write(struct tg_context *ctx, struct tg_batch *b,
			    const struct tg_variant *variant)
{
	struct tg_stage *stage = &ctx->stage[PIPE_SHADER_VERTEX];
	struct tg_variant *drawn = stage->variant;
	struct tsr_shader_state s = { .position_mode = TSR_POSITION_MODE_CLIP };
	bool ok;

	/* for as long as this draw is written */
	stage->variant = (struct tg_variant *)variant;
	stage->dirty = TG_DIRTY_STAGE_ALL;
	ok = tg_stage_write(ctx, b, PIPE_SHADER_VERTEX) && write_vertex_programs(ctx, b);
	stage->variant = drawn;
	s.position = ctx->position_va;
	return ok && write_shader_state(b, &s);
}

/* Returns true if only push constants of the stage have changed. */
static bool only_pushed(const struct tg_stage *stage)
{
	return !(stage->dirty & ~(uint32_t)TG_DIRTY_CONSTANTS) &&
	       (!stage->dirty || !stage->variant->info.ubo_mask);
}

bool tg_shader_can_push(const struct tg_context *ctx)
{
	return !tg_stages_active(ctx) && !ctx->shaders_stale &&
	       !(ctx->dirty & ~(uint32_t)TG_DIRTY_QUERY) &&
	       only_pushed(&ctx->stage[PIPE_SHADER_VERTEX]) &&
	       only_pushed(&ctx->stage[PIPE_SHADER_FRAGMENT]);
}

bool tg_shader_push(struct tg_context *ctx, struct tg_batch *b)
{
	struct tsr_list_push packet;
	uint64_t *words;

	if (!tg_stage_write(ctx, b, PIPE_SHADER_VERTEX) ||
	    !tg_stage_write(ctx, b, PIPE_SHADER_FRAGMENT))
		return false;
	words = tg_batch_packet(b, TSR_LIST_PUSH_QWORDS);
	if (!words)
		return false;
	packet.vertex = ctx->stage[PIPE_SHADER_VERTEX].push;
	packet.fragment = ctx->stage[PIPE_SHADER_FRAGMENT].push;
	tsr_pack_list_push(words, &packet);
	return true;
}

bool tg_shader_write(struct tg_context *ctx, struct tg_batch *b)
{
	struct tsr_shader_state s = { 0 };

	if (!tg_stage_write(ctx, b, PIPE_SHADER_VERTEX) ||
	    !tg_stage_write(ctx, b, PIPE_SHADER_FRAGMENT) || !write_vertex_programs(ctx, b) ||
	    !write_fragment_program(ctx, b) ||
	    (tg_stages_active(ctx) && !tg_stages_write(ctx, b, &s.geometry)))
		return false;
	fill_vertex(ctx, &s);
	b->layered |= s.writes_layer;
	fill_fragment(ctx, &s);
	s.position = ctx->position_va;
	s.varying = ctx->varying_va;
	s.fragment = ctx->fragment_va;
	return write_shader_state(b, &s);
}
