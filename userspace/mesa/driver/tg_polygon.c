/* SPDX-License-Identifier: MIT */
/*
 * Polygons that are drawn as lines or points, and edges that are not drawn. The device fills
 * triangles. Which way a polygon faces, and so whether it is culled and how it is drawn, depends on
 * the positions of its vertices: a variant of the vertex shader stores them first, with the edge
 * flags, and the CPU makes lists of lines, points and triangles of them. Of instances the first one
 * decides for all.
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

/* What the variant stores of a vertex: TG_POSITION_BYTES. */
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
	struct util_dynarray out[2][KINDS]; /* uint32_t: vertices; of back and of front faces */
	struct util_dynarray runs[2][KINDS]; /* struct run: of these, where the bias changes */
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

/* What is added to the depths of a polygon's lines or points. The device biases triangles. */
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

static void put(struct util_dynarray *out, uint32_t vertex)
{
	util_dynarray_append(out, uint32_t, vertex);
}

/* What is put from now on has that bias. */
static void begin_run(struct polygons *p, bool front, enum kind kind, float bias)
{
	struct util_dynarray *runs = &p->runs[front][kind];
	const struct run run = {
		util_dynarray_num_elements(&p->out[front][kind], uint32_t), bias
	};

	if (!runs->size || util_dynarray_top_ptr(runs, struct run)->bias != bias)
		util_dynarray_append(runs, struct run, run);
}

static void fill(const struct polygons *p, struct util_dynarray *out, const uint32_t *v, uint32_t n)
{
	const bool first = p->ctx->rasterizer->flatshade_first;
	uint32_t i;

	for (i = 1; i + 1 < n; i++) {
		/* the provoking vertex is a quad's last one, another polygon's first one */
		const uint32_t turned[3] = { p->quads ? v[i - 1] : v[i],
					     p->quads ? v[i] : v[i + 1],
					     p->quads ? v[n - 1] : v[0] };

		put(out, first ? v[0] : turned[0]);
		put(out, first ? v[i] : turned[1]);
		put(out, first ? v[i + 1] : turned[2]);
	}
}

static void add(struct polygons *p, uint32_t at, uint32_t n)
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
		fill(p, out, v, n);
		return;
	}
	for (i = 0; i < n; i++) {
		if (p->edges && c[i].edge == 0)
			continue;
		put(out, v[i]);
		if (kind == LINES)
			put(out, v[(i + 1) % n]);
	}
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

/* The vertices' numbers, in memory of the batch; NULL: there are none, or no memory. */
static uint32_t *list_vertices(struct tg_context *ctx, struct tg_batch *b,
			       const struct tg_indices *x, struct util_dynarray *ends,
			       uint32_t *count)
{
	const bool first = ctx->rasterizer->flatshade_first;
	uint32_t *vertices;

	*count = tg_indices_list(x, first, NULL, NULL);
	if (!*count)
		return NULL;
	vertices = tg_batch_alloc(b, (uint64_t)*count * 4, 16, &ctx->stream_list);
	if (vertices)
		tg_indices_list(x, first, vertices, ends);
	return vertices;
}

/* What the vertex shader says of the vertices, when it is there; NULL: nothing. */
static struct tg_bo *positions(struct tg_context *ctx, struct tg_batch *b,
			       const struct tg_variant *v, const struct pipe_draw_info *info,
			       uint32_t count)
{
	struct tg_bo *bo = tg_bo_create(ctx->screen, (uint64_t)count * TG_POSITION_BYTES,
					"positions");
	bool ok;

	if (!bo)
		return NULL;
	ctx->positions_va = bo->va;
	ctx->stream_vertices = count;
	tg_batch_use(b, bo, true);
	ok = tg_stream_emit(ctx, b, v, count, info->start_instance, 1);
	ctx->positions_va = 0;
	b->draws++;
	tg_context_flush(ctx, "positions of polygons");
	if (ok)
		tg_bo_wait(bo, true);
	else
		tg_bo_reference(&bo, NULL);
	return bo;
}

/* The vertices of one facing and kind, a draw for each bias. */
static void draw_runs(struct polygons *p, struct pipe_draw_info *list, unsigned draw_id, bool front,
		      enum kind kind)
{
	const struct util_dynarray *out = &p->out[front][kind];
	uint32_t end = util_dynarray_num_elements(out, uint32_t);
	const struct run *runs = p->runs[front][kind].data;
	unsigned i, count = util_dynarray_num_elements(&p->runs[front][kind], struct run);
	struct pipe_draw_start_count_bias draw = { 0 };
	struct tg_context *ctx = p->ctx;

	list->index.user = out->data;
	ctx->back_facing = !front && kind != TRIANGLES;
	for (i = 0; i < count; i++) {
		draw.start = runs[i].first;
		draw.count = (i + 1 < count ? runs[i + 1].first : end) - draw.start;
		if (ctx->depth_bias != runs[i].bias)
			ctx->dirty |= TG_DIRTY_DRAW;
		ctx->depth_bias = runs[i].bias;
		if (draw.count)
			tg_draw_list(ctx, list, draw_id, &draw);
	}
	if (ctx->depth_bias != 0)
		ctx->dirty |= TG_DIRTY_DRAW;
	ctx->depth_bias = 0;
	ctx->back_facing = false;
}

static void draw_lists(struct polygons *p, const struct pipe_draw_info *info, unsigned draw_id)
{
	static const enum mesa_prim modes[KINDS] = { MESA_PRIM_TRIANGLES, MESA_PRIM_LINES,
						     MESA_PRIM_POINTS };
	struct pipe_draw_info list = *info;
	unsigned front, kind;

	list.index_size = 4;
	list.has_user_indices = true;
	list.primitive_restart = false;
	for (front = 0; front < 2; front++) {
		for (kind = 0; kind < KINDS; kind++) {
			list.mode = modes[kind];
			draw_runs(p, &list, draw_id, front, kind);
			util_dynarray_fini(&p->out[front][kind]);
			util_dynarray_fini(&p->runs[front][kind]);
		}
	}
}

void tg_polygon_draw(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
		     const struct pipe_draw_start_count_bias *draw)
{
	const uint32_t each = info->mode == MESA_PRIM_POLYGON		? 0
			      : BITFIELD_BIT(info->mode) & QUADS	? 4
									: 3;
	struct polygons p = { .ctx = ctx, .quads = each == 4 };
	const struct tg_key key = { .stream = true, .positions = true };
	struct tg_shader *shader = ctx->stage[PIPE_SHADER_VERTEX].shader;
	struct tg_variant *v = tg_program_find(ctx->screen, shader, &key);
	struct util_dynarray ends;
	struct tg_indices x;
	struct tg_bo *bo;
	struct tg_batch *b;
	uint32_t count, *vertices;

	tg_indices_read(ctx, info, draw, true, &x);
	b = tg_batch_get(ctx);
	if (!b || !v || !v->code || !tg_draw_prepare(ctx, MESA_PRIM_TRIANGLES))
		return;
	util_dynarray_init(&ends, NULL);
	vertices = list_vertices(ctx, b, &x, &ends, &count);
	p.vertices = vertices ? MALLOC((size_t)count * 4) : NULL;
	if (p.vertices) {
		/* the batch's memory may be gone when it is done */
		memcpy((void *)p.vertices, vertices, (size_t)count * 4);
		bo = positions(ctx, b, v, info, count);
		if (bo) {
			p.corners = (const struct corner *)bo->map;
			p.edges = shader->nir->info.outputs_written & VARYING_BIT_EDGE &&
				  (info->mode == MESA_PRIM_TRIANGLES ||
				   info->mode == MESA_PRIM_QUADS ||
				   info->mode == MESA_PRIM_POLYGON);
			add_all(&p, &ends, count, each);
			draw_lists(&p, info, draw_id);
			tg_bo_reference(&bo, NULL);
		}
		FREE((void *)p.vertices);
	}
	util_dynarray_fini(&ends);
}

bool tg_polygon_convert(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
			const struct pipe_draw_start_count_bias *draws, unsigned count)
{
	if (!(BITFIELD_BIT(info->mode) & QUADS))
		return false;
	util_primconvert_save_flatshade_first(ctx->primconvert, ctx->rasterizer->flatshade_first);
	util_primconvert_draw_vbo(ctx->primconvert, info, draw_id, NULL, draws, count);
	return true;
}
