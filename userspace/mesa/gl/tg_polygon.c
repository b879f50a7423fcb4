/* SPDX-License-Identifier: MIT */
/*
 * Polygons that are drawn as lines or points, and edges that are not drawn. The device fills
 * triangles. Which way a polygon faces, and so whether it is culled and how it is drawn, depends on
 * the positions of its vertices: a variant of the vertex shader stores them first, with the edge
 * flags, and the CPU makes lists of lines, points and triangles of them. The first instance decides
 * for all. Filled quads and polygons are converted here too if the fragment shader reads
 * gl_PrimitiveID: a list says which polygon each triangle is of.
 */
#include "indices/u_primconvert.h"
#include "util/format/u_format.h"
#include "util/u_math.h"
#include "util/u_memory.h"
#include "util/u_prim.h"

#include "tg_draw.h"
#include "tg_indices.h"
#include "tg_resource.h"

#define QUADS	(BITFIELD_BIT(MESA_PRIM_QUADS) | BITFIELD_BIT(MESA_PRIM_QUAD_STRIP) |	\
		 BITFIELD_BIT(MESA_PRIM_POLYGON))

/* A vertex as the variant stores it: TG_POSITION_BYTES. */
struct corner {
	float x, y, z, w;		/* clip coordinates */
	float edge;			/* 0: the edge to the next vertex is not drawn */
	float unused[3];
};

_Static_assert(sizeof(struct corner) == TG_POSITION_BYTES, "tg_nir_capture_positions()");

enum kind { TRIANGLES, LINES, POINTS, KINDS };

struct polygons {
	struct tg_context *ctx;
	const struct corner *corners;
	const uint32_t *vertices;	/* their numbers */
	bool edges;			/* the shader has stored edge flags */
	bool quads;			/* four corners each */
	bool numbered;			/* the fragment shader reads gl_PrimitiveID */
	int32_t bias;			/* of the draw: it is in @vertices, not in @out */
	uint32_t number;		/* of the polygon */
	struct util_dynarray out[2][KINDS]; /* uint32_t: vertices; of back and of front faces */
	struct util_dynarray runs[2][KINDS]; /* struct run: of these, where the bias changes */
	struct util_dynarray ids[2][KINDS]; /* uint32_t: the polygon's number, of each primitive */
};

struct run {
	uint32_t first;
	float bias;
};

bool tg_polygon_unfilled(const struct pipe_rasterizer_state *r)
{
	const bool front = r->fill_front == PIPE_POLYGON_MODE_LINE ||
			   r->fill_front == PIPE_POLYGON_MODE_POINT;
	const bool back = r->fill_back == PIPE_POLYGON_MODE_LINE ||
			  r->fill_back == PIPE_POLYGON_MODE_POINT;

	return (front && !(r->cull_face & PIPE_FACE_FRONT)) ||
	       (back && !(r->cull_face & PIPE_FACE_BACK));
}

/* ---- Facing ---------------------------------------------------------------------------------- */

/* The sign is that of the area on the screen of what is in front of the eye. */
static float area(const struct corner *a, const struct corner *b, const struct corner *c)
{
	return a->x * (b->y * c->w - c->y * b->w) - b->x * (a->y * c->w - c->y * a->w) +
	       c->x * (a->y * b->w - b->y * a->w);
}

static bool is_front(const struct polygons *p, const struct corner *c, uint32_t n)
{
	const struct pipe_viewport_state *v = &p->ctx->viewports[0];
	float sum = 0;
	uint32_t i;

	for (i = 1; i + 1 < n; i++)
		sum += area(&c[0], &c[i], &c[i + 1]);
	if (v->scale[0] * v->scale[1] < 0)
		sum = -sum;
	/* y goes down: the sign is turned */
	return (sum < 0) == p->ctx->rasterizer->front_ccw;
}

/* ---- Depth ----------------------------------------------------------------------------------- */

/* The smallest difference of depths that are about @z. */
static float depth_unit(const struct tg_context *ctx, float z)
{
	const struct pipe_surface *s = ctx->framebuffer.zsbuf;
	int exponent;

	if (s && util_format_is_float(s->format)) {
		frexpf(z, &exponent);
		return ldexpf(1, exponent - 24);
	}
	return ldexpf(1, s && s->format == PIPE_FORMAT_Z16_UNORM ? -16 : -24);
}

/* The larger slope of the plane through three points of the window, and their largest depth. */
static float slope_of(const struct tg_context *ctx, const struct corner *c, float *most)
{
	const struct pipe_viewport_state *v = &ctx->viewports[0];
	float p[3][3], det, dx, dy;
	unsigned i, k;

	*most = 0;
	for (i = 0; i < 3; i++) {
		const float clip[3] = { c[i].x, c[i].y, c[i].z };

		if (!(c[i].w > 0))
			return 0;
		for (k = 0; k < 3; k++)
			p[i][k] = clip[k] / c[i].w * v->scale[k] + v->translate[k];
		*most = MAX2(*most, fabsf(p[i][2]));
	}
	for (i = 1; i < 3; i++) {
		for (k = 0; k < 3; k++)
			p[i][k] -= p[0][k];
	}
	det = p[1][0] * p[2][1] - p[2][0] * p[1][1];
	if (det == 0)
		return 0;
	dx = (p[1][2] * p[2][1] - p[2][2] * p[1][1]) / det;
	dy = (p[2][2] * p[1][0] - p[1][2] * p[2][0]) / det;
	return MAX2(fabsf(dx), fabsf(dy));
}

/* The depth bias of a polygon's lines or points. The device biases triangles itself. */
static float bias_of(const struct tg_context *ctx, const struct corner *c, enum kind kind)
{
	const struct pipe_rasterizer_state *r = ctx->rasterizer;
	float slope, most, sum;

	if (!(kind == LINES ? r->offset_line : kind == POINTS && r->offset_point))
		return 0;
	slope = slope_of(ctx, c, &most);
	sum = 2 * r->offset_units * depth_unit(ctx, most) + r->offset_scale * slope;
	if (r->offset_clamp > 0)
		sum = MIN2(sum, r->offset_clamp);
	if (r->offset_clamp < 0)
		sum = MAX2(sum, r->offset_clamp);
	return isfinite(sum) ? sum : 0;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void put(const struct polygons *p, struct util_dynarray *out, uint32_t vertex)
{
	util_dynarray_append(out, uint32_t, vertex - (uint32_t)p->bias);
}

/* A primitive of the polygon follows. */
static void number(struct polygons *p, bool front, enum kind kind)
{
	if (p->numbered)
		util_dynarray_append(&p->ids[front][kind], uint32_t, p->number);
}

/* Begins a run of primitives with one bias. */
static void begin_run(struct polygons *p, bool front, enum kind kind, float bias)
{
	struct util_dynarray *runs = &p->runs[front][kind];
	const struct run run = {
		util_dynarray_num_elements(&p->out[front][kind], uint32_t), bias
	};

	if (!runs->size || util_dynarray_top_ptr(runs, struct run)->bias != bias)
		util_dynarray_append(runs, struct run, run);
}

static void fill(struct polygons *p, bool front, const uint32_t *v, uint32_t n)
{
	struct util_dynarray *out = &p->out[front][TRIANGLES];
	const bool first = p->ctx->rasterizer->flatshade_first;
	uint32_t i;

	for (i = 1; i + 1 < n; i++) {
		/* the provoking vertex is a quad's last one, another polygon's first one */
		const uint32_t turned[3] = { p->quads ? v[i - 1] : v[i],
					     p->quads ? v[i] : v[i + 1],
					     p->quads ? v[n - 1] : v[0] };

		number(p, front, TRIANGLES);
		put(p, out, first ? v[0] : turned[0]);
		put(p, out, first ? v[i] : turned[1]);
		put(p, out, first ? v[i + 1] : turned[2]);
	}
}

static void add_unfilled(struct polygons *p, uint32_t at, uint32_t n)
{
	const struct pipe_rasterizer_state *r = p->ctx->rasterizer;
	const struct corner *c = p->corners + at;
	const uint32_t *v = p->vertices + at;
	const bool front = is_front(p, c, n);
	const unsigned mode = front ? r->fill_front : r->fill_back;
	const enum kind kind = mode == PIPE_POLYGON_MODE_LINE	 ? LINES
			       : mode == PIPE_POLYGON_MODE_POINT ? POINTS
								 : TRIANGLES;
	struct util_dynarray *out = &p->out[front][kind];
	uint32_t i;

	if (r->cull_face & (front ? PIPE_FACE_FRONT : PIPE_FACE_BACK))
		return;
	begin_run(p, front, kind, bias_of(p->ctx, c, kind));
	if (kind == TRIANGLES) {
		fill(p, front, v, n);
		return;
	}
	for (i = 0; i < n; i++) {
		if (p->edges && c[i].edge == 0)
			continue;
		number(p, front, kind);
		put(p, out, v[i]);
		if (kind == LINES)
			put(p, out, v[(i + 1) % n]);
	}
}

/* Without positions all polygons are filled, and count as front faces. */
static void add(struct polygons *p, uint32_t at, uint32_t n)
{
	if (p->corners)
		add_unfilled(p, at, n);
	else
		fill(p, true, p->vertices + at, n);
	p->number++;
}

static void add_all(struct polygons *p, const struct util_dynarray *ends, uint32_t count,
		    uint32_t each)
{
	uint32_t at = 0;

	if (each) {
		for (; at + each <= count; at += each)
			add(p, at, each);
		return;
	}
	util_dynarray_foreach(ends, uint32_t, end) {
		if (*end - at > 2)
			add(p, at, *end - at);
		at = *end;
	}
}

/* ---- Draws ----------------------------------------------------------------------------------- */

/* The polygons' vertices; NULL: there are none, or no memory. FREE() it. */
static uint32_t *list_vertices(const struct tg_context *ctx, const struct tg_indices *x,
			       struct util_dynarray *ends, uint32_t *count)
{
	const bool first = ctx->rasterizer->flatshade_first;
	uint32_t *vertices;

	*count = tg_indices_list(x, first, NULL, NULL);
	vertices = *count ? MALLOC((size_t)*count * 4) : NULL;
	if (vertices)
		tg_indices_list(x, first, vertices, ends);
	return vertices;
}

/* Runs the vertex shader and returns the vertices that it stored; NULL if that failed. */
static struct tg_bo *positions(const struct polygons *p, const struct pipe_draw_info *info,
			       unsigned draw_id, const struct pipe_draw_start_count_bias *draw,
			       uint32_t count)
{
	const struct tg_key key = { .stream = true, .positions = true };
	const struct tg_instancing n = { .first = info->start_instance };
	struct tg_context *ctx = p->ctx;
	struct tg_variant *v = tg_program_find(ctx->screen, ctx->stage[PIPE_SHADER_VERTEX].shader,
					       &key);
	struct tg_bo *bo = tg_bo_create(ctx->screen, (uint64_t)count * TG_POSITION_BYTES,
					"positions");
	struct tg_batch *b = tg_batch_get(ctx);
	uint32_t *list = b && bo ? tg_batch_alloc(b, (uint64_t)count * 4, 16, &ctx->stream_list)
				 : NULL;
	bool ok;

	if (!list || !v || !v->code) {
		tg_bo_reference(&bo, NULL);
		return NULL;
	}
	memcpy(list, p->vertices, (size_t)count * 4);
	ctx->positions_va = bo->va;
	ctx->stream_vertices = count;
	tg_batch_use(b, bo, true);
	tg_draw_values(ctx, info, draw_id, draw, &n);
	ok = tg_stream_emit(ctx, b, v, count, 1, &n);
	ctx->positions_va = 0;
	b->draws++;
	tg_context_flush(ctx, "positions of polygons");
	if (ok)
		tg_bo_wait(bo, true);
	else
		tg_bo_reference(&bo, NULL);
	return bo;
}

/* The list of the primitives' numbers, for draws until it is NULL. False: no memory. */
static bool set_ids(struct tg_context *ctx, const struct util_dynarray *ids)
{
	const bool some = ids && ids->size;

	if (some || ctx->primitive_ids)
		ctx->stage[PIPE_SHADER_FRAGMENT].dirty |= TG_DIRTY_CONSTANTS;
	tg_bo_reference(&ctx->primitive_ids, NULL);
	ctx->primitive_ids_at = 0;
	if (!some)
		return true;
	ctx->primitive_ids = tg_bo_create(ctx->screen, ids->size, "primitive numbers");
	if (!ctx->primitive_ids)
		return false;
	memcpy(ctx->primitive_ids->map, ids->data, ids->size);
	return true;
}

/* The vertices of one facing and kind, a draw for each bias. */
static void draw_runs(struct polygons *p, struct pipe_draw_info *list, unsigned draw_id, bool front,
		      enum kind kind)
{
	static const unsigned each[KINDS] = { [TRIANGLES] = 3, [LINES] = 2, [POINTS] = 1 };
	const struct util_dynarray *out = &p->out[front][kind];
	uint32_t end = util_dynarray_num_elements(out, uint32_t);
	const struct run *runs = p->runs[front][kind].data;
	unsigned i, count = util_dynarray_num_elements(&p->runs[front][kind], struct run);
	struct pipe_draw_start_count_bias draw = { .index_bias = p->bias };
	struct tg_context *ctx = p->ctx;

	if (!set_ids(ctx, &p->ids[front][kind]))
		return;
	list->index.user = out->data;
	ctx->back_facing = !front && kind != TRIANGLES;
	for (i = 0; i < count; i++) {
		draw.start = runs[i].first;
		draw.count = (i + 1 < count ? runs[i + 1].first : end) - draw.start;
		if (ctx->depth_bias != runs[i].bias)
			ctx->dirty |= TG_DIRTY_DRAW;
		ctx->depth_bias = runs[i].bias;
		if (p->numbered && draw.start) {
			ctx->primitive_ids_at = draw.start / each[kind] * 4;
			ctx->stage[PIPE_SHADER_FRAGMENT].dirty |= TG_DIRTY_CONSTANTS;
		}
		if (draw.count)
			tg_draw_list(ctx, list, draw_id, &draw);
	}
	set_ids(ctx, NULL);
	if (ctx->depth_bias != 0)
		ctx->dirty |= TG_DIRTY_DRAW;
	ctx->depth_bias = 0;
	ctx->back_facing = false;
}

/* A draw of 32-bit indices in memory of the CPU, otherwise like @info. */
static struct pipe_draw_info list_info(const struct pipe_draw_info *info)
{
	struct pipe_draw_info list = *info;

	list.index_size = 4;
	list.has_user_indices = true;
	list.index_bounds_valid = false;
	list.primitive_restart = false;
	return list;
}

static void draw_unfilled(struct polygons *p, const struct pipe_draw_info *info, unsigned draw_id)
{
	static const enum mesa_prim modes[KINDS] = { MESA_PRIM_TRIANGLES, MESA_PRIM_LINES,
						     MESA_PRIM_POINTS };
	struct pipe_draw_info list = list_info(info);
	unsigned front, kind;

	for (front = 0; front < 2; front++) {
		for (kind = 0; kind < KINDS; kind++) {
			list.mode = modes[kind];
			draw_runs(p, &list, draw_id, front, kind);
		}
	}
}

/* Draw triangles that have the polygons' numbers. Like primconvert's draw, it is captured too. */
static void draw_filled(struct polygons *p, const struct pipe_draw_info *info, unsigned draw_id)
{
	const struct util_dynarray *out = &p->out[true][TRIANGLES];
	struct pipe_draw_info list = list_info(info);
	struct pipe_draw_start_count_bias draw = {
		.count = util_dynarray_num_elements(out, uint32_t), .index_bias = p->bias
	};

	list.mode = MESA_PRIM_TRIANGLES;
	list.index.user = out->data;
	if (draw.count && set_ids(p->ctx, &p->ids[true][TRIANGLES]))
		p->ctx->base.draw_vbo(&p->ctx->base, &list, draw_id, NULL, &draw, 1);
	set_ids(p->ctx, NULL);
}

static void polygons_fini(struct polygons *p)
{
	unsigned front, kind;

	for (front = 0; front < 2; front++) {
		for (kind = 0; kind < KINDS; kind++) {
			util_dynarray_fini(&p->out[front][kind]);
			util_dynarray_fini(&p->runs[front][kind]);
			util_dynarray_fini(&p->ids[front][kind]);
		}
	}
	FREE((void *)p->vertices);
}

/* Draw polygons in the modes of the rasterizer or, with @filled, as filled ones. */
static void draw_polygons(struct tg_context *ctx, const struct pipe_draw_info *info,
			  unsigned draw_id, const struct pipe_draw_start_count_bias *draw,
			  bool filled)
{
	const uint32_t each = info->mode == MESA_PRIM_POLYGON		? 0
			      : BITFIELD_BIT(info->mode) & QUADS	? 4
									: 3;
	const struct tg_shader *vs = ctx->stage[PIPE_SHADER_VERTEX].shader;
	struct polygons p = {
		.ctx = ctx, .quads = each == 4,
		.numbered = ctx->stage[PIPE_SHADER_FRAGMENT].shader->primitive_id,
	};
	struct tg_bo *bo = NULL;
	struct util_dynarray ends;
	struct tg_indices x;
	uint32_t count;

	tg_indices_read(ctx, info, draw, true, &x);
	util_dynarray_init(&ends, NULL);
	p.bias = x.bias;
	p.vertices = list_vertices(ctx, &x, &ends, &count);
	if (p.vertices && filled) {
		add_all(&p, &ends, count, each);
		draw_filled(&p, info, draw_id);
	} else if (p.vertices) {
		bo = positions(&p, info, draw_id, draw, count);
	}
	if (bo) {
		p.corners = (const struct corner *)bo->map;
		p.edges = vs->nir->info.outputs_written & VARYING_BIT_EDGE &&
			  (info->mode == MESA_PRIM_TRIANGLES || info->mode == MESA_PRIM_QUADS ||
			   info->mode == MESA_PRIM_POLYGON);
		add_all(&p, &ends, count, each);
		draw_unfilled(&p, info, draw_id);
		tg_bo_reference(&bo, NULL);
	}
	polygons_fini(&p);
	util_dynarray_fini(&ends);
}

void tg_polygon_draw(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
		     const struct pipe_draw_start_count_bias *draw)
{
	if (tg_draw_prepare(ctx, MESA_PRIM_TRIANGLES))
		draw_polygons(ctx, info, draw_id, draw, false);
}

bool tg_polygon_convert(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
			const struct pipe_draw_start_count_bias *draws, unsigned count)
{
	const struct tg_shader *fs = ctx->stage[PIPE_SHADER_FRAGMENT].shader;
	unsigned i;

	if (!(BITFIELD_BIT(info->mode) & QUADS))
		return false;
	if (fs && fs->primitive_id && !tg_stages_active(ctx)) {
		for (i = 0; i < count; i++)
			draw_polygons(ctx, info, draw_id + (info->increment_draw_id ? i : 0),
				      &draws[i], true);
		return true;
	}
	util_primconvert_save_flatshade_first(ctx->primconvert, ctx->rasterizer->flatshade_first);
	util_primconvert_draw_vbo(ctx->primconvert, info, draw_id, NULL, draws, count);
	return true;
}
