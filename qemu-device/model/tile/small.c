/* SPDX-License-Identifier: MIT */
/*
 * Small triangles: those of a run of the tile's list are set up together, see small.h; each is
 * tested and its quads are gathered, without a walk over blocks. What is not small, or belongs to
 * a draw with states that small.h knows nothing of, goes the way of all primitives. Hierarchical
 * tests would cost more than they save here: there are none.
 */
#include <string.h>

#include "../gpu.h"
#include "render.h"

static bool is_simple(const struct tsr_tile_core *c)
{
	const struct tsr_tile_state *s = c->state;

	return !(c->render->debug & TSR_GFX_NO_SMALL) && !c->tile.samples_log2 &&
	       s->sample_mask & 1 && !s->ordered && !s->rules.bias &&
	       !s->fragment.shader.sample_shading &&
	       (s->zs.when == TSR_ZS_NEVER || s->zs.when == TSR_ZS_EARLY) &&
	       !s->zs.stencil_test && !s->zs.bounds;
}

/* Whether nothing is known, or to be found out, of colours that all fragments have. */
static bool has_fragments(const struct tsr_tile_core *c)
{
	const struct tsr_tile_state *s = c->state;

	return !s->shades || (!s->colours.known && (!s->may_be_flat || tsr_tile_flat_may_wait(c)));
}

/* Varyings of the triangles are soon asked for: while they are set up, they come nearer. */
static void call_for_outputs(const struct tsr_tile_core *c)
{
	const struct tsr_tile_triangles *t = &c->triangles;
	const uint64_t *word = t->word;

	for (unsigned int i = 0; t->batch->outputs && i < t->count; i++) {
		tsr_tile_outputs(c, t->batch, word[i] >> TSR_HEAP_PRIMITIVE_SLOT_0__SHIFT & 0xff);
		tsr_tile_outputs(c, t->batch, word[i] >> TSR_HEAP_PRIMITIVE_SLOT_1__SHIFT & 0xff);
		tsr_tile_outputs(c, t->batch, word[i] >> TSR_HEAP_PRIMITIVE_SLOT_2__SHIFT & 0xff);
	}
}

void tsr_tile_small_begin(struct tsr_tile_core *c)
{
	const struct tsr_tile *t = &c->tile;
	const struct tsr_rect *scissor = &c->state->viewport[0].scissor;
	const int32_t right = t->x + t->width, bottom = t->y + t->height;
	struct tsr_small_rules rules = {
		.x0 = t->x, .y0 = t->y, .x1 = right, .y1 = bottom, .x = t->x, .y = t->y,
		.shift = t->shift, .depth = c->state->zs.depth_test,
	};

	c->next_triangle = 0;
	c->small_left = 0;
	c->flat = NULL;
	c->small.large = c->small.huge = UINT16_MAX;
	if (!is_simple(c))
		return;
	if (c->state->shades && !c->state->colours.known)
		call_for_outputs(c);
	rules.x0 = scissor->x0 > rules.x0 ? scissor->x0 : rules.x0;
	rules.y0 = scissor->y0 > rules.y0 ? scissor->y0 : rules.y0;
	rules.x1 = scissor->x1 < rules.x1 ? scissor->x1 : rules.x1;
	rules.y1 = scissor->y1 < rules.y1 ? scissor->y1 : rules.y1;
	c->render->fine->small(&rules, &c->triangles, &c->small);
	if (!has_fragments(c))
		c->small.large = UINT16_MAX;
}

bool tsr_tile_is_small(struct tsr_tile_core *c)
{
	struct tsr_tile_state *s = c->state;

	if (c->small.large >> c->next_triangle & 1 || c->absent)
		return false;
	if (c->small_left || !c->small.mask[c->next_triangle] || !s->shades ||
	    c->shader->gpu->shader_hook || !tsr_tile_flat_may_wait(c))
		return true;
	/* from time to time it is asked whether primitives have one colour */
	if (!s->patience)
		return false;
	s->patience--;
	return true;
}

/* Number of quad @q's block. */
static unsigned int block_of(const struct tsr_tile_core *c, unsigned int q)
{
	return c->small.at[q][c->next_triangle] / TSR_BLOCK_PIXELS;
}

/* Depths of the pixels of @mask have been written. */
static void note_depths(struct tsr_tile_core *c, unsigned int mask)
{
	const struct tsr_zs *zs = &c->state->zs;

	if (block_of(c, 0) == block_of(c, 3)) {
		tsr_zs_note(&c->tile, zs, block_of(c, 0), mask);
		return;
	}
	for (unsigned int q = 0; q < 4; q++)
		tsr_zs_note(&c->tile, zs, block_of(c, q), mask >> 4 * q & 15);
}

/* Early tests of the pixels of @mask. */
static unsigned int test(struct tsr_tile_core *c, unsigned int mask)
{
	const struct tsr_tile_state *s = c->state;
	const struct tsr_small_test how = {
		.low = s->viewport[0].low, .high = s->viewport[0].high, .scale = s->zs.scale,
		.function = s->zs.function, .write = s->zs.depth_write,
	};
	float none[4] = { 0 }, *quad[4];
	unsigned int pass;

	for (unsigned int q = 0; q < 4; q++)
		quad[q] = mask >> 4 * q & 15 ? c->tile.depth + c->small.at[q][c->next_triangle] :
					       none;
	pass = c->render->fine->small_test(&c->small, c->next_triangle, &how, quad);
	c->count[TSR_TILE_SAMPLES_TESTED] += tsr_pixel_count(mask);
	c->count[TSR_TILE_SAMPLES_REJECTED] += tsr_pixel_count(mask & ~pass);
	if (pass && how.write)
		note_depths(c, pass);
	return pass;
}

/* What of the triangle is left to be gathered, once it has been tested. */
static void begin(struct tsr_tile_core *c)
{
	const struct tsr_tile_state *s = c->state;
	unsigned int mask = c->small.mask[c->next_triangle];

	c->count[TSR_TILE_PRIMITIVES]++;
	c->effort--;
	if (!mask)
		return;
	c->effort--;
	c->count[TSR_TILE_BLOCKS] += c->small.blocks[c->next_triangle];
	if (s->zs.depth_test)
		mask = test(c, mask);
	if (s->count_early && (c->queries.samples || c->queries.any))
		c->queries.passed += tsr_pixel_count(mask);
	if (s->shades)
		c->small_left = mask;
}

/* Quads of c->small_left into the bundle, as many as there is room for. */
static void add_quads(struct tsr_tile_core *c, unsigned int prim)
{
	const int x = c->tile.x + c->small.x[c->next_triangle];
	const int y = c->tile.y + c->small.y[c->next_triangle];
	struct tsr_fragments *f = c->fragments;
	unsigned int n = f->quads, left = c->small_left;
	uint64_t gathered = c->gathered;
	/* block after block */
	static const uint8_t orders[2][4] = { { 0, 1, 2, 3 }, { 0, 2, 1, 3 } };
	const uint8_t *order = orders[(x & 6) == 6 && (y & 6) != 6];

	/* nobody can foretell which quads there are: one that is not is written over */
	for (unsigned int i = 0; i < 4 && n < TSR_BUNDLE_QUADS; i++) {
		const unsigned int q = order[i];
		const uint64_t pixels = left >> 4 * q & 15;

		f->quad[n] = (struct tsr_fragment_quad){
			.x = x + q % 2 * 2, .y = y + q / 2 * 2, .prim = prim,
			.coverage = pixels * 0x0000200040008001 & 0x0001000100010001,
		};
		n += pixels != 0;
		gathered |= (uint64_t)(pixels != 0) << block_of(c, q);
		left &= ~(15u << 4 * q);
	}
	c->count[TSR_TILE_QUADS] += n - f->quads;
	c->gathered = gathered;
	c->small_left = left;
	f->quads = n;
}

static bool gather(struct tsr_tile_core *c)
{
	struct tsr_fragments *f = c->fragments;
	unsigned int prim;

	/* a bundle of others, that wait for it */
	if (f->quads && c->laters)
		return false;
	if (!f->quads)
		tsr_fragments_begin(f, &c->state->fragment);
	if (f->quads == TSR_BUNDLE_QUADS || f->prims == TSR_BUNDLE_QUADS)
		return false;
	prim = tsr_fragments_room(f);
	tsr_tile_triangle(&c->triangles, c->next_triangle, &f->prim[prim].prim);
	tsr_tile_fill_prim(c, &f->prim[prim]);
	add_quads(c, prim);
	return !c->small_left;
}

bool tsr_tile_small_draw(struct tsr_tile_core *c)
{
	if (!c->small_left)
		begin(c);
	if (c->small_left && !gather(c))
		return false;
	c->next_triangle++;
	return true;
}
