/* SPDX-License-Identifier: MIT */
/*
 * Tessellation and geometry shaders: GEOMETRY_STATE, with a program and a STAGE_HEADER for each
 * stage. What such draws leave is captured by the device's stream-out: how many vertices and
 * primitives that were the device alone knows, so a draw that is captured or counted is waited for.
 */
#include "compiler/nir/nir_xfb_info.h"
#include "util/log.h"
#include "util/u_math.h"
#include "util/u_prim.h"

#include "tg_draw.h"
#include "tg_query.h"
#include "tg_resource.h"

#define PATCH_SLOT_WORDS	4
#define FACTORS			6	/* of tessellation: four outside, two inside */

/* ---- Which stages ---------------------------------------------------------------------------- */

static const struct tg_shader *shader_of(const struct tg_context *ctx, enum pipe_shader_type type)
{
	return ctx->stage[type].shader;
}

bool tg_stages_active(const struct tg_context *ctx)
{
	return shader_of(ctx, PIPE_SHADER_TESS_EVAL) || shader_of(ctx, PIPE_SHADER_GEOMETRY);
}

static enum pipe_shader_type last_type(const struct tg_context *ctx)
{
	return shader_of(ctx, PIPE_SHADER_GEOMETRY)    ? PIPE_SHADER_GEOMETRY
	       : shader_of(ctx, PIPE_SHADER_TESS_EVAL) ? PIPE_SHADER_TESS_EVAL
						       : PIPE_SHADER_VERTEX;
}

const struct tg_variant *tg_stages_last(const struct tg_context *ctx)
{
	return ctx->stage[last_type(ctx)].variant;
}

static enum mesa_prim tessellated(const struct tg_shader *tes)
{
	const struct shader_info *info = &tes->nir->info;

	return info->tess.point_mode ? MESA_PRIM_POINTS
	       : info->tess._primitive_mode == TESS_PRIMITIVE_ISOLINES ? MESA_PRIM_LINES
									: MESA_PRIM_TRIANGLES;
}

enum mesa_prim tg_stages_primitive(const struct tg_context *ctx, enum mesa_prim mode)
{
	const struct tg_shader *gs = shader_of(ctx, PIPE_SHADER_GEOMETRY),
			       *tes = shader_of(ctx, PIPE_SHADER_TESS_EVAL);

	return gs ? gs->nir->info.gs.output_primitive : tes ? tessellated(tes) : mode;
}

/* Lines or triangles, with or without neighbors, of lists, strips and fans. */
static enum mesa_prim list_of(enum mesa_prim mode)
{
	switch (mode) {
	case MESA_PRIM_LINES_ADJACENCY:
	case MESA_PRIM_LINE_STRIP_ADJACENCY:
		return MESA_PRIM_LINES_ADJACENCY;
	case MESA_PRIM_TRIANGLES_ADJACENCY:
	case MESA_PRIM_TRIANGLE_STRIP_ADJACENCY:
		return MESA_PRIM_TRIANGLES_ADJACENCY;
	default:
		return u_reduced_prim(mode);
	}
}

/*
 * Returns true if the device accepts a draw of @mode. Mesa does not always check that, and a draw
 * that does not fit would be a fault.
 */
static bool fits(const struct tg_context *ctx, enum mesa_prim mode)
{
	const struct tg_shader *gs = shader_of(ctx, PIPE_SHADER_GEOMETRY),
			       *tes = shader_of(ctx, PIPE_SHADER_TESS_EVAL);
	const enum mesa_prim comes = list_of(tes ? tessellated(tes) : mode);
	const struct tg_variant *v = ctx->stage[PIPE_SHADER_GEOMETRY].variant;

	if (!tes != (mode != MESA_PRIM_PATCHES))
		return false;
	if (!gs)
		return true;
	if (v->space.words * gs->nir->info.gs.vertices_out > TSR_GEOMETRY_VERTICES_MAX) {
		mesa_loge("tessera: %u vertices of %u words are too many for a geometry shader",
			  gs->nir->info.gs.vertices_out, v->space.words);
		return false;
	}
	return gs->nir->info.gs.input_primitive == comes ||
	       gs->nir->info.gs.input_primitive == u_reduced_prim(comes);
}

bool tg_stages_update(struct tg_context *ctx, enum mesa_prim mode, bool points)
{
	static const enum pipe_shader_type types[] = { PIPE_SHADER_TESS_CTRL, PIPE_SHADER_TESS_EVAL,
						       PIPE_SHADER_GEOMETRY };
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (!shader_of(ctx, types[i]))
			continue;
		if (!tg_program_update(ctx, types[i], points) ||
		    !ctx->stage[types[i]].variant || !ctx->stage[types[i]].variant->code)
			return false;
	}
	return !tg_stages_active(ctx) || fits(ctx, mode);
}

uint32_t tg_stages_patch_vertices(const struct tg_context *ctx, const struct tg_stage *stage)
{
	const struct tg_shader *tcs = shader_of(ctx, PIPE_SHADER_TESS_CTRL);

	return tcs && stage == &ctx->stage[PIPE_SHADER_TESS_EVAL]
		       ? tcs->nir->info.tess.tcs_vertices_out
		       : ctx->patch_vertices;
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* The first and the last word of a map; false: there is none. */
static bool words_of(const uint64_t map[4], uint32_t *first, uint32_t *last)
{
	bool found = false;
	uint32_t i;

	for (i = 0; i < TSR_STAGE_WORDS; i++) {
		if (!(map[i / 64] >> i % 64 & 1))
			continue;
		if (!found)
			*first = i;
		*last = i;
		found = true;
	}
	return found;
}

static uint32_t patch_words(const struct tg_context *ctx)
{
	const struct tg_variant *tcs = ctx->stage[PIPE_SHADER_TESS_CTRL].variant,
				*tes = ctx->stage[PIPE_SHADER_TESS_EVAL].variant;
	const unsigned slots = MAX2(tcs && shader_of(ctx, PIPE_SHADER_TESS_CTRL)
					    ? tcs->space.patch_slots : 0, tes->space.patch_slots);

	return slots ? MAX2(util_logbase2_ceil(slots), 1) : 0;
}

void tg_stages_header(const struct tg_variant *v, struct tsr_stage_header *h)
{
	const struct tg_space *s = &v->space;

	*h = (struct tsr_stage_header){
		.imap_0 = s->in[0], .imap_1 = s->in[1], .imap_2 = s->in[2], .imap_3 = s->in[3],
		.omap_0 = s->out[0], .omap_1 = s->out[1],
		.omap_2 = s->out[2], .omap_3 = s->out[3],
		.required_first = 1,
	};
	words_of(s->own, &h->required_first, &h->required_last);
}

static void fill_header(const struct tg_context *ctx, enum pipe_shader_type type,
			struct tsr_stage_header *h)
{
	const struct shader_info *info = &shader_of(ctx, type)->nir->info;

	tg_stages_header(ctx->stage[type].variant, h);
	if (type != PIPE_SHADER_GEOMETRY)
		h->patch_words = patch_words(ctx);
	if (type == PIPE_SHADER_TESS_CTRL)
		h->threads = info->tess.tcs_vertices_out;
	if (type != PIPE_SHADER_GEOMETRY)
		return;
	switch (info->gs.input_primitive) {
	case MESA_PRIM_POINTS:
		h->input = TSR_GEOMETRY_INPUT_POINTS;
		break;
	case MESA_PRIM_LINES:
		h->input = TSR_GEOMETRY_INPUT_LINES;
		break;
	case MESA_PRIM_LINES_ADJACENCY:
		h->input = TSR_GEOMETRY_INPUT_LINES_ADJACENCY;
		break;
	case MESA_PRIM_TRIANGLES_ADJACENCY:
		h->input = TSR_GEOMETRY_INPUT_TRIANGLES_ADJACENCY;
		break;
	default:
		h->input = TSR_GEOMETRY_INPUT_TRIANGLES;
		break;
	}
	h->output = info->gs.output_primitive == MESA_PRIM_POINTS ? TSR_GEOMETRY_OUTPUT_POINTS
		    : info->gs.output_primitive == MESA_PRIM_LINE_STRIP
			    ? TSR_GEOMETRY_OUTPUT_LINE_STRIP
			    : TSR_GEOMETRY_OUTPUT_TRIANGLE_STRIP;
	h->threads = info->gs.invocations;
	h->max_vertices = MAX2(info->gs.vertices_out, 1);
	h->streams = MAX2(info->gs.active_stream_mask, 1);
}

_Static_assert(TSR_SHADER_PROGRAM__QWORDS * 8 % 64 == 0, "a STAGE_HEADER follows");

/* @va: of the program; 0: there is no such stage. */
static bool write_stage(struct tg_context *ctx, struct tg_batch *b, enum pipe_shader_type type,
			uint64_t *va)
{
	const struct tg_stage *stage = &ctx->stage[type];
	struct tsr_shader_program p = { 0 };
	struct tsr_stage_header h;
	uint64_t *words;

	*va = 0;
	if (!stage->shader)
		return true;
	words = tg_batch_alloc(b, (TSR_SHADER_PROGRAM__QWORDS + TSR_STAGE_HEADER__QWORDS) * 8, 64,
			       va);
	if (!words || !tg_stage_write(ctx, b, type) ||
	    !tg_program_fill(ctx, b, stage, 0, stage->variant->info.work_reg_count, &p))
		return false;
	fill_header(ctx, type, &h);
	p.header = *va + TSR_SHADER_PROGRAM__QWORDS * 8;
	tsr_pack_shader_program(words, &p);
	tsr_pack_stage_header(words + TSR_SHADER_PROGRAM__QWORDS, &h);
	return true;
}

/* ---- GEOMETRY_STATE -------------------------------------------------------------------------- */

static void fill_tessellator(const struct tg_context *ctx, struct tsr_geometry_state *g)
{
	static const uint8_t partitionings[] = {
		[TESS_SPACING_UNSPECIFIED] = TSR_PATCH_PARTITIONING_INTEGER,
		[TESS_SPACING_EQUAL] = TSR_PATCH_PARTITIONING_INTEGER,
		[TESS_SPACING_FRACTIONAL_ODD] = TSR_PATCH_PARTITIONING_FRACTIONAL_ODD,
		[TESS_SPACING_FRACTIONAL_EVEN] = TSR_PATCH_PARTITIONING_FRACTIONAL_EVEN,
	};
	const struct shader_info *info = &shader_of(ctx, PIPE_SHADER_TESS_EVAL)->nir->info;
	uint32_t *factors[FACTORS] = { &g->factor_0, &g->factor_1, &g->factor_2,
				       &g->factor_3, &g->factor_4, &g->factor_5 };
	unsigned i;

	g->shape = info->tess._primitive_mode == TESS_PRIMITIVE_ISOLINES ? TSR_PATCH_SHAPE_ISOLINE
		   : info->tess._primitive_mode == TESS_PRIMITIVE_QUADS	 ? TSR_PATCH_SHAPE_QUAD
									 : TSR_PATCH_SHAPE_TRIANGLE;
	g->partitioning = partitionings[info->tess.spacing];
	g->primitives = info->tess.point_mode			   ? TSR_PATCH_PRIMITIVES_POINTS
			: g->shape == TSR_PATCH_SHAPE_ISOLINE ? TSR_PATCH_PRIMITIVES_LINES
								   : TSR_PATCH_PRIMITIVES_TRIANGLES;
	g->reversed = !info->tess.ccw;
	for (i = 0; i < FACTORS; i++)
		*factors[i] = fui(ctx->tess_factors[i]);
}

/* Declares the words of a vertex that go to each buffer. */
static bool write_declaration(const struct tg_context *ctx, struct tg_batch *b,
			      struct tsr_geometry_state *g)
{
	const nir_xfb_info *xfb = shader_of(ctx, last_type(ctx))->nir->xfb_info;
	uint64_t *words;
	unsigned i;

	if (!tg_stages_capture(ctx))
		return true;
	words = tg_batch_alloc(b, (uint64_t)xfb->output_count * 8, 64, &g->declaration);
	if (!words)
		return false;
	for (i = 0; i < xfb->output_count; i++) {
		const nir_xfb_output_info *o = &xfb->outputs[i];
		const int byte = tg_space_byte(o->location);
		const struct tsr_stream_entry e = {
			.word = (uint32_t)MAX2(byte, 0) / 4 + o->component_offset,
			.components = util_bitcount(o->component_mask) - 1,
			.stream = xfb->buffer_to_stream[o->buffer],
			.target = o->buffer,
			.offset = o->offset,
		};

		if (byte >= 0)
			tsr_pack_stream_entry(&words[g->entries++], &e);
	}
	return true;
}

bool tg_stages_write(struct tg_context *ctx, struct tg_batch *b, uint64_t *va)
{
	struct tsr_geometry_state g = { .patch_points = ctx->patch_vertices };
	uint64_t *words = tg_batch_alloc(b, TSR_GEOMETRY_STATE__QWORDS * 8, 64, va);

	if (!words || !write_stage(ctx, b, PIPE_SHADER_TESS_CTRL, &g.hull) ||
	    !write_stage(ctx, b, PIPE_SHADER_TESS_EVAL, &g.domain) ||
	    !write_stage(ctx, b, PIPE_SHADER_GEOMETRY, &g.geometry) ||
	    !write_declaration(ctx, b, &g))
		return false;
	if (g.domain)
		fill_tessellator(ctx, &g);
	else
		g.hull = 0;
	tsr_pack_geometry_state(words, &g);
	return true;
}

/* ---- Captured and counted draws -------------------------------------------------------------- */

bool tg_stages_capture(const struct tg_context *ctx)
{
	const struct tg_shader *last = shader_of(ctx, last_type(ctx));

	return ctx->stream_count && last->stream_output.num_outputs && last->nir->xfb_info;
}

/* Counts that the device writes for such a draw. */
struct counts {
	uint64_t statistics[TG_STREAMS][TSR_STREAM_STATISTICS__QWORDS];
	uint64_t filled[TSR_STREAM_OUT_TARGETS];
};

static bool write_targets(struct tg_context *ctx, struct tg_batch *b, const struct tg_bo *bo)
{
	const struct tg_shader *last = shader_of(ctx, last_type(ctx));
	struct counts *counts = (struct counts *)bo->map;
	struct tsr_list_stream_out packet;
	uint64_t *words = tg_batch_alloc(b, TSR_STREAM_OUT_TARGETS * TSR_STREAM_TARGET__QWORDS * 8,
					 64, &packet.addr);
	unsigned i;

	if (!words)
		return false;
	memset(words, 0, TSR_STREAM_OUT_TARGETS * TSR_STREAM_TARGET__QWORDS * 8);
	for (i = 0; i < MIN2(ctx->stream_count, TSR_STREAM_OUT_TARGETS); i++) {
		struct tg_stream_target *t = ctx->streams[i];
		struct tsr_stream_target target = {
			.stride = last->stream_output.stride[i] * 4,
			.counter = bo->va + offsetof(struct counts, filled[i]),
		};
		struct tg_resource *r = t ? tg_resource(t->base.buffer) : NULL;

		if (!r || !target.stride)
			continue;
		counts->filled[i] = t->offset;
		t->stride = target.stride;
		target.base = r->bo->va + r->offset + t->base.buffer_offset;
		target.size = t->base.buffer_size;
		tsr_pack_stream_target(words + i * TSR_STREAM_TARGET__QWORDS, &target);
		tg_resource_write(b, r, t->base.buffer_offset, t->base.buffer_size);
	}
	words = tg_batch_packet(b, TSR_LIST_STREAM_OUT_QWORDS);
	if (!words)
		return false;
	tsr_pack_list_stream_out(words, &packet);
	return true;
}

static bool write_queries(struct tg_batch *b, const struct tg_bo *bo)
{
	struct tsr_list_query packet = { .kind = TSR_QUERY_STREAM };
	uint64_t *words;

	for (packet.stream = 0; packet.stream < TG_STREAMS; packet.stream++) {
		packet.addr = bo->va + offsetof(struct counts, statistics[packet.stream]);
		words = tg_batch_packet(b, TSR_LIST_QUERY_QWORDS);
		if (!words)
			return false;
		tsr_pack_list_query(words, &packet);
	}
	return true;
}

struct tg_bo *tg_stages_count(struct tg_context *ctx, struct tg_batch *b)
{
	struct tg_bo *bo = tg_bo_create(ctx->screen, sizeof(struct counts), "stream-out");

	if (!bo)
		return NULL;
	memset(bo->map, 0, sizeof(struct counts));
	tg_batch_use(b, bo, true);
	if (!write_queries(b, bo) || (tg_stages_capture(ctx) && !write_targets(ctx, b, bo)))
		tg_bo_reference(&bo, NULL);
	return bo;
}

void tg_stages_counted(struct tg_context *ctx, struct tg_bo *bo)
{
	const struct counts *counts = (const struct counts *)bo->map;
	const bool captures = tg_stages_capture(ctx);
	unsigned i;

	tg_context_flush(ctx, "stream-out");
	tg_bo_wait(bo, true);
	for (i = 0; i < TG_STREAMS; i++) {
		const uint64_t *of = counts->statistics[i];

		ctx->streamed.generated[i] += ctx->queries_paused ? 0 : of[0];
		ctx->streamed.needed[i] += captures ? of[0] : 0;
		ctx->streamed.captured[i] += of[1];
	}
	for (i = 0; captures && i < MIN2(ctx->stream_count, TSR_STREAM_OUT_TARGETS); i++) {
		if (ctx->streams[i] && counts->filled[i])
			ctx->streams[i]->offset = (uint32_t)counts->filled[i];
	}
	tg_bo_reference(&bo, NULL);
}

/* ---- State ----------------------------------------------------------------------------------- */

static void changed(struct tg_context *ctx)
{
	ctx->dirty |= TG_DIRTY_LINK;
	ctx->stage[PIPE_SHADER_TESS_CTRL].dirty |= TG_DIRTY_CONSTANTS;
	ctx->stage[PIPE_SHADER_TESS_EVAL].dirty |= TG_DIRTY_CONSTANTS;
}

static void set_tess_state(struct pipe_context *pipe, const float outer[4], const float inner[2])
{
	struct tg_context *ctx = tg_context(pipe);

	memcpy(ctx->tess_factors, outer, 4 * sizeof(float));
	memcpy(ctx->tess_factors + 4, inner, 2 * sizeof(float));
	changed(ctx);
}

static void set_patch_vertices(struct pipe_context *pipe, uint8_t count)
{
	struct tg_context *ctx = tg_context(pipe);

	ctx->patch_vertices = count;
	changed(ctx);
}

void tg_stages_init(struct pipe_context *pipe)
{
	struct tg_context *ctx = tg_context(pipe);
	unsigned i;

	for (i = 0; i < FACTORS; i++)
		ctx->tess_factors[i] = 1;
	ctx->patch_vertices = 3;
	pipe->set_tess_state = set_tess_state;
	pipe->set_patch_vertices = set_patch_vertices;
}
