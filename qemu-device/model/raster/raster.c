/* SPDX-License-Identifier: MIT */
#include "raster.h"

#include "tsr_samples.h"

#define POSITION_SHIFT (TSR_SUBPIXEL_BITS - 4)	/* sample positions are sixteenths */

/* ---- Rectangles ------------------------------------------------------------------------------ */

uint64_t tsr_columns_below(unsigned int x)
{
	uint64_t band = (1u << x / 2 * 4) - 1;

	if (x & 1)
		band |= 5u << x / 2 * 4;
	return band * 0x0001000100010001;
}

uint64_t tsr_rows_below(unsigned int y)
{
	uint64_t rows = y < 8 ? (1ull << y / 2 * 16) - 1 : UINT64_MAX;

	if (y & 1)
		rows |= 0x3333ull << y / 2 * 16;
	return rows;
}

static unsigned int in_block(int32_t x)
{
	return x < 0 ? 0 : x > 8 ? 8 : x;
}

/* Pixels of the block at (@x, @y) that lie in @rect. */
static uint64_t rect_mask(const struct tsr_rect *rect, int32_t x, int32_t y)
{
	return tsr_columns_below(in_block(rect->x1 - x)) &
	       ~tsr_columns_below(in_block(rect->x0 - x)) &
	       tsr_rows_below(in_block(rect->y1 - y)) & ~tsr_rows_below(in_block(rect->y0 - y));
}

static bool inside(const struct tsr_rect *rect, int32_t x, int32_t y)
{
	return rect->x0 <= x && rect->y0 <= y && rect->x1 >= x + 8 && rect->y1 >= y + 8;
}

/* ---- The walk -------------------------------------------------------------------------------- */

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void set_edge(struct tsr_walk_blocks *w, unsigned int e, const struct tsr_tile *tile)
{
	const int8_t (*position)[2] =
		tsr_sample_position[w->shape->center ? 0 : tile->samples_log2];
	const struct tsr_edge *edge = &w->shape->edge[e];
	int64_t a = edge->a, b = edge->b;

	for (unsigned int s = 0; s < w->samples; s++) {
		int64_t x = ((int64_t)tile->x << TSR_SUBPIXEL_BITS) +
			    (position[s][0] << POSITION_SHIFT);
		int64_t y = ((int64_t)tile->y << TSR_SUBPIXEL_BITS) +
			    (position[s][1] << POSITION_SHIFT);

		/*
		 * Steps to other pixels are multiples of 256, so they never change the fraction.
		 * It can be dropped here.
		 */
		w->base[e][s] = (edge->c + a * x + b * y) >> TSR_SUBPIXEL_BITS;
		w->least[e] = s ? smaller(w->least[e], w->base[e][s]) : w->base[e][s];
		w->most[e] = s ? larger(w->most[e], w->base[e][s]) : w->base[e][s];
	}
	w->low[e] = 7 * (smaller(a, 0) + smaller(b, 0));
	w->high[e] = 7 * (larger(a, 0) + larger(b, 0));
}

/* True if all of the rectangle is outside of edge @e: its corner furthest inside decides. */
static bool beyond(const struct tsr_walk_blocks *w, unsigned int e)
{
	const struct tsr_edge *edge = &w->shape->edge[e];
	int32_t x = edge->a > 0 ? w->rect.x1 - 1 : w->rect.x0;
	int32_t y = edge->b > 0 ? w->rect.y1 - 1 : w->rect.y0;

	return w->most[e] + (int64_t)edge->a * x + (int64_t)edge->b * y < 0;
}

/* The part of @rect that is in the tile. */
static struct tsr_rect within(const struct tsr_rect *rect, const struct tsr_tile *tile)
{
	const int32_t x = tile->x, y = tile->y, width = tile->width, height = tile->height;
	const struct tsr_rect r = { rect->x0 - x, rect->y0 - y, rect->x1 - x, rect->y1 - y };

	return (struct tsr_rect){
		r.x0 > 0 ? r.x0 : 0, r.y0 > 0 ? r.y0 : 0,
		r.x1 < width ? r.x1 : width, r.y1 < height ? r.y1 : height,
	};
}

/* Subpixels a triangle can be wide and high for its edges to be small numbers near it. */
#define SMALL (64 << TSR_SUBPIXEL_BITS)

/* True if the walk needs nothing but w->small: its edges at the corner of the first block. */
static bool set_small(struct tsr_walk_blocks *w, const struct tsr_tile *tile)
{
	const struct tsr_shape *shape = w->shape;
	const int64_t x = ((int64_t)tile->x + w->x * 8) * (1 << TSR_SUBPIXEL_BITS);
	const int64_t y = ((int64_t)tile->y + w->y * 8) * (1 << TSR_SUBPIXEL_BITS);

	if (shape->edges != 3 || (shape->center && tile->samples_log2))
		return false;
	for (unsigned int e = 0; e < 3; e++) {
		const struct tsr_edge *edge = &shape->edge[e];

		if (edge->a < -SMALL || edge->a > SMALL || edge->b < -SMALL || edge->b > SMALL)
			return false;
		w->small[e] = (struct tsr_fine_edge){
			.c = edge->c + edge->a * x + edge->b * y, .a = edge->a, .b = edge->b,
		};
	}
	return true;
}

bool tsr_walk_begin(struct tsr_walk_blocks *w, const struct tsr_shape *shape,
		    const struct tsr_tile *tile)
{
	bool one;

	w->shape = shape;
	w->rect = within(&shape->rect, tile);
	if (!shape->edges || w->rect.x0 >= w->rect.x1 || w->rect.y0 >= w->rect.y1)
		return false;
	w->limit = within(&shape->limit, tile);
	w->samples = shape->center ? 1 : 1u << tile->samples_log2;
	w->x0 = w->x = w->rect.x0 >> TSR_BLOCK_SHIFT;
	w->y = w->rect.y0 >> TSR_BLOCK_SHIFT;
	w->x1 = (w->rect.x1 + 7) >> TSR_BLOCK_SHIFT;
	w->y1 = (w->rect.y1 + 7) >> TSR_BLOCK_SHIFT;
	/* of a single block the walk finds it out itself */
	one = w->x1 - w->x == 1 && w->y1 - w->y == 1;
	w->y0 = w->y;
	w->few = set_small(w, tile);
	w->single = one && w->few;
	if (w->few)
		return true;
	for (unsigned int e = 0; e < shape->edges; e++) {
		set_edge(w, e, tile);
		if (!one && beyond(w, e))
			return false;
	}
	return true;
}

/*
 * Which edges cut the block at (@x, @y): a mask of them, or -1 if the block is wholly outside of
 * one. @moved is what the block's place adds to each edge.
 */
static int cut(const struct tsr_walk_blocks *w, int32_t x, int32_t y, int64_t *moved)
{
	int edges = 0;

	for (unsigned int e = 0; e < w->shape->edges; e++) {
		moved[e] = (int64_t)w->shape->edge[e].a * x + (int64_t)w->shape->edge[e].b * y;
		if (w->most[e] + moved[e] + w->high[e] < 0)
			return -1;
		if (w->least[e] + moved[e] + w->low[e] < 0)
			edges |= 1 << e;
	}
	return edges;
}

/* Returns true if @rect, which is within the tile, is all of it. */
static bool is_all(const struct tsr_rect *rect, const struct tsr_tile *tile)
{
	return !rect->x0 && !rect->y0 && rect->x1 == (int32_t)tile->width &&
	       rect->y1 == (int32_t)tile->height;
}

/* The blocks in the corners decide: a half-plane that has them has all between. */
bool tsr_walk_whole(const struct tsr_walk_blocks *w, const struct tsr_tile *tile)
{
	const int32_t last = ~((1 << TSR_BLOCK_SHIFT) - 1);
	const int32_t x = ((int32_t)tile->width - 1) & last;
	const int32_t y = ((int32_t)tile->height - 1) & last;
	int64_t moved[TSR_EDGES_MAX];

	if (w->few || !is_all(&w->rect, tile) || !is_all(&w->limit, tile))
		return false;
	return !cut(w, 0, 0, moved) && !cut(w, x, 0, moved) && !cut(w, 0, y, moved) &&
	       !cut(w, x, y, moved);
}

/* Pixels of a block whose sample @s lies in the half-planes of @edges. */
static uint64_t sample_mask(const struct tsr_walk_blocks *w, const struct tsr_fine *fine,
			    unsigned int s, unsigned int edges, const int64_t *moved)
{
	struct tsr_fine_edge work[TSR_EDGES_MAX];
	unsigned int count = 0;

	for (; edges; edges &= edges - 1) {
		unsigned int e = __builtin_ctz(edges);
		int64_t c = w->base[e][s] + moved[e];

		if (c + w->high[e] < 0)
			return 0;
		if (c + w->low[e] >= 0)
			continue;
		/* the edge crosses the block: the added term has another sign and is below 2^30 */
		work[count++] = (struct tsr_fine_edge){
			.c = c, .a = w->shape->edge[e].a, .b = w->shape->edge[e].b,
		};
	}
	return count ? fine->edges(work, count) : UINT64_MAX;
}

static void find_covered(const struct tsr_walk_blocks *w, const struct tsr_fine *fine,
			 unsigned int samples_log2, unsigned int wanted, unsigned int edges,
			 const int64_t *moved, struct tsr_covered *covered)
{
	uint64_t rect = UINT64_MAX, mask = 0;

	if (!inside(&w->limit, covered->x, covered->y))
		rect = rect_mask(&w->limit, covered->x, covered->y);
	covered->any = 0;
	for (unsigned int s = 0; s < 1u << samples_log2; s++) {
		if (s < w->samples)
			mask = rect & sample_mask(w, fine, s, edges, moved);
		covered->mask[s] = wanted >> s & 1 ? mask : 0;
		covered->any |= covered->mask[s];
	}
}

/* Pixels of the block at (@x, @y) whose sample at @position is inside of all edges. */
static inline uint64_t small_mask(const struct tsr_walk_blocks *w, const struct tsr_fine *fine,
				  int32_t block_x, int32_t block_y, const int8_t position[2])
{
	const int32_t from_x = block_x - (w->x0 << TSR_BLOCK_SHIFT);
	const int32_t from_y = block_y - (w->y0 << TSR_BLOCK_SHIFT);
	const int32_t x = (position[0] << POSITION_SHIFT) + from_x * (1 << TSR_SUBPIXEL_BITS);
	const int32_t y = (position[1] << POSITION_SHIFT) + from_y * (1 << TSR_SUBPIXEL_BITS);
	struct tsr_fine_edge edge[3];

	for (unsigned int e = 0; e < 3; e++) {
		const int32_t a = w->small[e].a, b = w->small[e].b;

		edge[e] = (struct tsr_fine_edge){
			.c = (w->small[e].c + a * x + b * y) >> TSR_SUBPIXEL_BITS, .a = a, .b = b,
		};
	}
	return fine->edges(edge, 3);
}

/* The block of @covered, of a walk with small edges. */
static bool small_covered(struct tsr_walk_blocks *w, const struct tsr_fine *fine,
			  unsigned int samples_log2, unsigned int wanted,
			  struct tsr_covered *covered)
{
	uint64_t rect = UINT64_MAX, any = 0;

	if (!inside(&w->limit, covered->x, covered->y))
		rect = rect_mask(&w->limit, covered->x, covered->y);
	for (unsigned int s = 0; s < 1u << samples_log2; s++) {
		uint64_t mask = 0;

		if (wanted >> s & 1)
			mask = rect & small_mask(w, fine, covered->x, covered->y,
						 tsr_sample_position[samples_log2][s]);
		covered->mask[s] = mask;
		any |= mask;
	}
	covered->any = any;
	return any;
}

bool tsr_walk_next(struct tsr_walk_blocks *w, const struct tsr_fine *fine,
		   unsigned int samples_log2, uint16_t wanted, struct tsr_covered *covered)
{
	while (w->y < w->y1) {
		int64_t moved[TSR_EDGES_MAX];
		int edges;

		covered->x = w->x << TSR_BLOCK_SHIFT;
		covered->y = w->y << TSR_BLOCK_SHIFT;
		if (++w->x == w->x1) {
			w->x = w->x0;
			w->y++;
		}
		if (w->few && small_covered(w, fine, samples_log2, wanted, covered))
			return true;
		if (w->few)
			continue;
		edges = cut(w, covered->x, covered->y, moved);
		if (edges < 0)
			continue;
		find_covered(w, fine, samples_log2, wanted, edges, moved, covered);
		if (covered->any)
			return true;
	}
	return false;
}
