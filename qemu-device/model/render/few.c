/* SPDX-License-Identifier: MIT */
/*
 * Triangles of a few blocks: set up together with small ones, see small.h. Coverage and early tests
 * of all blocks of one are found at once, without hierarchical tests, which would save little here;
 * then its blocks are shaded one after the other, as those of all primitives are.
 */
#include "render.h"

/* Half-planes of triangle @n in the block @dx and @dy pixels left of and above its first quad. */
static void set_edges(struct tsr_fine_few *f, const struct tsr_small *s, unsigned int n, int dx,
		      int dy)
{
	for (unsigned int e = 0; e < 3; e++) {
		const int32_t a = s->edge_a[e][n], b = s->edge_b[e][n];

		/* what pixels add is a multiple of 256: nothing of the fraction is ever seen */
		f->edge[e] = (struct tsr_fine_edge){
			.c = (s->edge_c[e][n] >> TSR_SUBPIXEL_BITS) - a * dx - b * dy,
			.a = a, .b = b,
		};
	}
}

static void set_depth(struct tsr_fine_few *f, const struct tsr_small *s, unsigned int n, int dx,
		      int dy)
{
	f->depth.base = s->base[n];
	for (unsigned int i = 0; i < 2; i++) {
		f->depth.k[i] = s->k[i][n];
		f->depth.a[i] = s->a[i][n];
		f->depth.b[i] = s->b[i][n];
		/* integers all of them */
		f->depth.c[i] = s->c[i][n] - s->a[i][n] * dx - s->b[i][n] * dy;
	}
}

/* Which blocks pixels of @r are in, and what of them: edges tell, but where blocks are cut. */
static void set_blocks(struct tsr_fine_few *f, const struct tsr_tile *t, const struct tsr_rect *r,
		       bool cut)
{
	const unsigned int last_x = r->x1 - 1, last_y = r->y1 - 1, mask = TSR_BLOCK_DIM - 1;

	f->columns = (last_x >> TSR_BLOCK_SHIFT) - (r->x0 >> TSR_BLOCK_SHIFT) + 1;
	f->rows = (last_y >> TSR_BLOCK_SHIFT) - (r->y0 >> TSR_BLOCK_SHIFT) + 1;
	f->pitch = 1u << (t->shift - TSR_BLOCK_SHIFT);
	f->left = f->top = f->right = f->bottom = UINT64_MAX;
	if (!cut)
		return;
	f->left = ~tsr_columns_below(r->x0 & mask);
	f->top = ~tsr_rows_below(r->y0 & mask);
	f->right = tsr_columns_below((last_x & mask) + 1);
	f->bottom = tsr_rows_below((last_y & mask) + 1);
}

struct tsr_rect tsr_few_set(struct tsr_fine_few *f, const struct tsr_small *s, unsigned int n,
			    const struct tsr_tile *t, bool depth)
{
	const struct tsr_rect r = { s->x0[n], s->y0[n], s->x1[n], s->y1[n] };
	const int dx = s->x[n] & (TSR_BLOCK_DIM - 1), dy = s->y[n] & (TSR_BLOCK_DIM - 1);

	set_edges(f, s, n, dx, dy);
	set_blocks(f, t, &r, s->cut);
	f->test = depth;
	if (depth)
		set_depth(f, s, n, dx, dy);
	return r;
}

/* ---- In a core ------------------------------------------------------------------------------- */

bool tsr_tile_is_few(const struct tsr_tile_core *c)
{
	return !(c->prim.set.small.huge >> c->prim.set.next_triangle & 1);
}

/* Find the blocks, with tests of the state. */
static void find_blocks(struct tsr_tile_core *c, struct tsr_fine_few *f)
{
	const struct tsr_zs *zs = &c->group.state->zs;
	struct tsr_triangle_set *set = &c->prim.set;

	if (f->test) {
		f->write = zs->depth_write;
		f->function = zs->function;
		f->depth.low = c->group.state->viewport[0].low;
		f->depth.high = c->group.state->viewport[0].high;
		f->depth.scale = zs->scale;
		f->stored = c->buffer.tile.depth + (size_t)set->few_first * TSR_BLOCK_PIXELS;
	}
	c->render->fine->few(f, &set->blocks);
	c->effort -= 1 + set->blocks.covered;
	c->stats.count[TSR_TILE_BLOCKS] += set->blocks.covered;
	if (!f->test)
		return;
	c->stats.count[TSR_TILE_SAMPLES_TESTED] += set->blocks.pixels;
	c->stats.count[TSR_TILE_SAMPLES_REJECTED] += set->blocks.pixels - set->blocks.passed;
	for (unsigned int i = 0; f->write && i < set->blocks.count; i++)
		tsr_zs_note(&c->buffer.tile, zs,
			    set->few_first + set->blocks.block[i].y * f->pitch +
			    set->blocks.block[i].x, set->blocks.block[i].mask);
}

bool tsr_tile_few_begin(struct tsr_tile_core *c, unsigned int n)
{
	const struct tsr_tile *tile = &c->buffer.tile;
	struct tsr_triangle_set *set = &c->prim.set;
	struct tsr_rect *rect = &c->prim.walk.rect;
	struct tsr_fine_few f;

	*rect = tsr_few_set(&f, &set->small, n, tile, c->group.state->zs.depth_test);
	c->prim.shape.bias = 0;
	set->next_block = 0;
	set->few_first = tsr_tile_block(tile, rect->x0, rect->y0);
	find_blocks(c, &f);
	return set->blocks.count;
}

bool tsr_tile_few_next(struct tsr_tile_core *c)
{
	const struct tsr_rect *rect = &c->prim.walk.rect;
	struct tsr_triangle_set *set = &c->prim.set;
	struct tsr_covered *covered = &c->prim.covered;
	const unsigned int n = set->next_block;

	if (n == set->blocks.count)
		return false;
	set->next_block++;
	covered->x = (rect->x0 & ~(TSR_BLOCK_DIM - 1)) + set->blocks.block[n].x * TSR_BLOCK_DIM;
	covered->y = (rect->y0 & ~(TSR_BLOCK_DIM - 1)) + set->blocks.block[n].y * TSR_BLOCK_DIM;
	covered->mask[0] = covered->any = set->blocks.block[n].mask;
	return true;
}
