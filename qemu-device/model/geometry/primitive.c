/* SPDX-License-Identifier: MIT */
/*
 * Primitives of a batch: trivial rejection, the decision to clip, facing, culling, and the tiles
 * their bounding boxes touch.
 */
#include "binner/bin.h"

#include <string.h>


#define SUBPIXELS (1 << TSR_SUBPIXEL_BITS)

/* A box in pixels, both corners inside. */
struct box {
	int32_t x0, y0, x1, y1;
};

static inline int32_t min3(int32_t a, int32_t b, int32_t c)
{
	int32_t m = a < b ? a : b;

	return m < c ? m : c;
}

static inline int32_t max3(int32_t a, int32_t b, int32_t c)
{
	int32_t m = a > b ? a : b;

	return m > c ? m : c;
}

/*
 * Pixels whose samples a triangle could cover: with one sample, those whose centres lie in its
 * bounding box; with more, all that the box touches.
 */
static inline struct box triangle_box(const struct tsr_screen_vertex *a,
				      const struct tsr_screen_vertex *b,
				      const struct tsr_screen_vertex *c, bool centres)
{
	int32_t lo = centres ? SUBPIXELS / 2 - 1 : 0, hi = centres ? SUBPIXELS / 2 : 0;

	return (struct box){
		(min3(a->x, b->x, c->x) + lo) >> TSR_SUBPIXEL_BITS,
		(min3(a->y, b->y, c->y) + lo) >> TSR_SUBPIXEL_BITS,
		(max3(a->x, b->x, c->x) - hi) >> TSR_SUBPIXEL_BITS,
		(max3(a->y, b->y, c->y) - hi) >> TSR_SUBPIXEL_BITS,
	};
}

/* Twice the area, above 0 if the corners go round clockwise with y growing downwards. */
static inline int64_t area_of(const struct tsr_screen_vertex *a, const struct tsr_screen_vertex *b,
			      const struct tsr_screen_vertex *c)
{
	return (int64_t)(b->x - a->x) * (c->y - a->y) - (int64_t)(c->x - a->x) * (b->y - a->y);
}

/* True if a triangle of area @area, not 0, is culled; *@front is its facing. */
static inline bool culled(const struct tsr_draw_state *draw, int64_t area, bool *front)
{
	*front = (area > 0) == draw->front_clockwise;
	return *front ? draw->cull_front : draw->cull_back;
}

/* Note a primitive that may touch the pixels of @box. False: none of them is drawn. */
static inline bool keep(struct tsr_binning *bin, uint64_t word, struct box box, unsigned int vertex)
{
	const struct tsr_bin_batch *b = &bin->batch;
	bool extended = bin->state->extended;
	const struct tsr_bin_viewport *vp =
		&bin->state->viewport[extended ? b->viewport[vertex] : 0];
	unsigned int shift = bin->info.frame.tile_shift;
	struct tsr_bin_out *out = &bin->out[bin->outs];

	box.x0 = box.x0 > vp->x0 ? box.x0 : vp->x0;
	box.y0 = box.y0 > vp->y0 ? box.y0 : vp->y0;
	box.x1 = box.x1 < vp->x1 ? box.x1 : vp->x1 - 1;
	box.y1 = box.y1 < vp->y1 ? box.y1 : vp->y1 - 1;
	if (box.x0 > box.x1 || box.y0 > box.y1)
		return false;
	out->word = word;
	out->tx0 = box.x0 >> shift;
	out->ty0 = box.y0 >> shift;
	out->tx1 = box.x1 >> shift;
	out->ty1 = box.y1 >> shift;
	out->layer = extended ? b->layer[vertex] : 0;
	bin->outs++;
	return true;
}

/* A triangle within the guard band. */
static inline void triangle(struct tsr_binning *bin, uint64_t primitive)
{
	const struct tsr_screen_vertex *screen = bin->batch.screen;
	const struct tsr_screen_vertex *a = &screen[tsr_bin_slot(primitive, 0)];
	const struct tsr_screen_vertex *b = &screen[tsr_bin_slot(primitive, 1)];
	const struct tsr_screen_vertex *c = &screen[tsr_bin_slot(primitive, 2)];
	int64_t area = area_of(a, b, c);
	bool front;

	if (!area || culled(bin->state->draw, area, &front))
		return;
	primitive |= (uint64_t)front << TSR_HEAP_PRIMITIVE_FRONT__SHIFT;
	keep(bin, primitive, triangle_box(a, b, c, !bin->info.frame.samples_log2),
	     tsr_bin_provoking(primitive));
}

/* Pixels that something may touch which reaches @half pixels beyond its corners; one to spare. */
static struct box wide_box(const struct tsr_screen_vertex *a, const struct tsr_screen_vertex *b,
			   float half)
{
	int32_t reach = (int32_t)(half * SUBPIXELS) + SUBPIXELS;

	return (struct box){
		(min3(a->x, b->x, b->x) - reach) >> TSR_SUBPIXEL_BITS,
		(min3(a->y, b->y, b->y) - reach) >> TSR_SUBPIXEL_BITS,
		(max3(a->x, b->x, b->x) + reach) >> TSR_SUBPIXEL_BITS,
		(max3(a->y, b->y, b->y) + reach) >> TSR_SUBPIXEL_BITS,
	};
}

static void line_or_point(struct tsr_binning *bin, uint64_t primitive)
{
	struct tsr_bin_out *out = &bin->out[bin->outs];
	const struct tsr_screen_vertex *a = &bin->batch.screen[tsr_bin_slot(primitive, 0)], *b = a;
	float half = bin->state->line_half;

	if (tsr_bin_vertices(primitive) == 2)
		b = &bin->batch.screen[tsr_bin_slot(primitive, 1)];
	else
		half = bin->batch.size[tsr_bin_slot(primitive, 0)] / 2;
	primitive |= 1ull << TSR_HEAP_PRIMITIVE_FRONT__SHIFT;
	if (keep(bin, primitive, wide_box(a, b, half), tsr_bin_provoking(primitive)))
		out->half = half;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static uint32_t bits(float value)
{
	uint32_t u;

	memcpy(&u, &value, sizeof(u));
	return u;
}

/* HEAP_CLIPPED of a piece. */
static void write_clipped(uint64_t *q, uint32_t id, unsigned int corners,
			  const struct tsr_screen_vertex *v, const float (*weight)[3])
{
	memset(q, 0, TSR_HEAP_CLIPPED__QWORDS * sizeof(*q));
	for (unsigned int i = 0; i < corners; i++, q += 4) {
		q[0] = (uint32_t)v[i].x | (uint64_t)(uint32_t)v[i].y << 32;
		q[1] = bits(v[i].z) | (uint64_t)bits(v[i].rw) << 32;
		q[2] = bits(weight[i][0]) | (uint64_t)bits(weight[i][1]) << 32;
		q[3] = bits(weight[i][2]) | (i ? 0 : (uint64_t)id << 32);
	}
}

void tsr_bin_piece(struct tsr_binning *bin, uint64_t primitive, const struct tsr_screen_vertex *v,
		   const float (*weight)[3])
{
	unsigned int corners = tsr_bin_vertices(primitive);
	struct tsr_bin_out *out = &bin->out[bin->outs];
	float half = bin->state->line_half;
	bool front = true;
	struct box box;
	uint64_t word;

	if (corners == 3) {
		int64_t area = area_of(&v[0], &v[1], &v[2]);

		if (!area || culled(bin->state->draw, area, &front))
			return;
		box = triangle_box(&v[0], &v[1], &v[2], !bin->info.frame.samples_log2);
	} else {
		box = wide_box(&v[0], &v[corners - 1], half);
	}
	word = (uint32_t)primitive | (uint64_t)front << TSR_HEAP_PRIMITIVE_FRONT__SHIFT |
	       1ull << TSR_HEAP_PRIMITIVE_CLIPPED__SHIFT | (uint64_t)bin->clips << 32;
	if (!keep(bin, word, box, tsr_bin_provoking(primitive)))
		return;
	out->half = half;
	write_clipped(bin->clipped[bin->clips++], primitive >> 32, corners, v, weight);
}

/* Fewer triangles are looked at one by one: a group takes its time however many there are. */
#define FEW 3

/* ---- All of them ----------------------------------------------------------------------------- */

/*
 * Where the corners of a primitive are in the batch's arrays. Vertices of another viewport than the
 * primitive's are put through that. False: they are its slots.
 */
static bool find_corners(struct tsr_binning *bin, uint64_t primitive, uint8_t *corner)
{
	const struct tsr_bin_batch *b = &bin->batch;
	uint8_t viewport = b->viewport[tsr_bin_provoking(primitive)];
	bool moved = false;

	for (unsigned int i = 0; i < 3; i++)
		corner[i] = tsr_bin_slot(primitive, i);
	if (!b->mixed)
		return false;
	for (unsigned int i = 0; i < tsr_bin_vertices(primitive); i++) {
		if (b->viewport[corner[i]] == viewport)
			continue;
		tsr_bin_project_as(bin, corner[i], TSR_BATCH_VERTICES + i, viewport);
		corner[i] = TSR_BATCH_VERTICES + i;
		moved = true;
	}
	return moved;
}

/* One primitive. False: it may need more room than there is in bin->out. */
static bool assemble(struct tsr_binning *bin, uint64_t primitive)
{
	const struct tsr_bin_version *state = bin->state;
	const uint32_t *code = bin->batch.code;
	unsigned int n = tsr_bin_vertices(primitive);
	uint32_t all, any, last;
	unsigned int viewport =
		state->extended ? bin->batch.viewport[tsr_bin_provoking(primitive)] : 0;
	uint8_t corner[3];
	bool moved = find_corners(bin, primitive, corner);

	all = any = code[corner[0]];
	for (unsigned int i = 1; i < n; i++) {
		last = code[corner[i]];
		all &= last;
		any |= last;
	}
	if ((all & state->reject) || (any & TSR_OUT_INVALID))
		return true;
	if (n == 1) {
		if (!(any & (state->reject | TSR_OUT_GUARD)))
			line_or_point(bin, primitive);
	} else if (moved || (any & state->clip)) {
		if (bin->outs > TSR_BATCH_PRIMITIVES - TSR_CLIP_PIECES)
			return false;
		bin->stat[TSR_BIN_CLIPPED] += (any & state->clip) != 0;
		tsr_bin_clip(bin, primitive, corner, viewport, any & state->clip);
	} else if (n == 3) {
		triangle(bin, primitive);
	} else {
		line_or_point(bin, primitive);
	}
	return true;
}

/*
 * Which of the triangles from @first on, TSR_BIN_GROUP or less, may be seen. Boxes are those of
 * viewport 0.
 */
static uint32_t visible(const struct tsr_binning *bin, unsigned int first,
			struct tsr_bin_boxes *boxes)
{
	const struct tsr_bin_version *state = bin->state;
	const struct tsr_bin_viewport *vp = &state->viewport[0];
	const bool centres = !bin->info.frame.samples_log2;
	const struct tsr_bin_batch *b = &bin->batch;
	const struct tsr_bin_cull cull = {
		.primitive = &b->primitive[first], .screen = b->screen,
		.code = b->any & (state->reject | TSR_OUT_INVALID | state->clip) ? b->code : NULL,
		.reject = state->reject, .invalid = TSR_OUT_INVALID, .clip = state->clip,
		.clockwise = state->draw->front_clockwise ? state->draw->cull_front
							 : state->draw->cull_back,
		.anticlockwise = state->draw->front_clockwise ? state->draw->cull_back
							     : state->draw->cull_front,
		.x0 = vp->x0, .y0 = vp->y0, .x1 = vp->x1, .y1 = vp->y1,
		.low = centres ? SUBPIXELS / 2 - 1 : 0, .high = centres ? SUBPIXELS / 2 : 0,
		.tile_shift = bin->info.frame.tile_shift,
	};

	return bin->lanes->visible(&cull, boxes);
}

/* Adds a visible triangle, number @n of @boxes, in viewport 0, as assemble() does. */
static inline void add_triangle(struct tsr_binning *bin, uint64_t primitive,
				const struct tsr_bin_boxes *boxes, unsigned int n)
{
	const bool front = (boxes->clockwise >> n & 1) == bin->state->draw->front_clockwise;
	struct tsr_bin_out *out = &bin->out[bin->outs];

	out->word = primitive | (uint64_t)front << TSR_HEAP_PRIMITIVE_FRONT__SHIFT;
	out->tx0 = boxes->tx0[n];
	out->ty0 = boxes->ty0[n];
	out->tx1 = boxes->tx1[n];
	out->ty1 = boxes->ty1[n];
	out->layer = 0;
	bin->outs += !(boxes->empty >> n & 1);
}

/*
 * Primitives from b->next on; of triangles those that may be seen. A group begins at a multiple of
 * its size, so that looking again at one whose pieces found no room is looking at the same.
 */
static void assemble_all(struct tsr_binning *bin, bool triangles)
{
	const bool simple = triangles && !bin->state->extended;
	struct tsr_bin_batch *b = &bin->batch;
	uint32_t group = UINT32_MAX;
	struct tsr_bin_boxes boxes;

	while (b->next < b->primitives && bin->outs < TSR_BATCH_PRIMITIVES) {
		unsigned int n = b->next % TSR_BIN_GROUP;

		if (triangles && (group == UINT32_MAX || !n))
			group = visible(bin, b->next - n, &boxes);
		if (!(group >> n)) {
			/* the triangles after it are not visible either */
			b->next += TSR_BIN_GROUP - n;
			continue;
		}
		if (group >> n & 1) {
			if (simple && !(boxes.clipped >> n & 1))
				add_triangle(bin, b->primitive[b->next], &boxes, n);
			else if (!assemble(bin, b->primitive[b->next]))
				break;
		}
		b->next++;
	}
	if (b->next > b->primitives)
		b->next = b->primitives;
}

void tsr_bin_assemble(struct tsr_binning *bin)
{
	struct tsr_bin_batch *b = &bin->batch;
	unsigned int begun = b->next, before = bin->outs;

	/* all of it lies outside of one plane */
	if (!b->mixed && !bin->state->draw->discard && b->all & bin->state->reject)
		b->next = b->primitives;
	/* all primitives of a draw have as many vertices as its first one */
	assemble_all(bin, b->primitives >= FEW && tsr_bin_vertices(b->primitive[0]) == 3 &&
			  !b->mixed && !bin->state->draw->discard);
	bin->stat[TSR_BIN_PIPE_STALLS] += b->next < b->primitives;
	bin->stat[TSR_BIN_CLIPPING_PRIMITIVES] += bin->outs - before;
	bin->stat[TSR_BIN_CLIPPING_INVOCATIONS] += b->next - begun;
	tsr_bin_spend(bin, b->next - begun);
}
