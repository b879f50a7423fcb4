/* SPDX-License-Identifier: MIT */
/*
 * Blocks that are shaded as they are. A block of 8 by 8 pixels of which a primitive covers most is
 * four warps in the order of its quads: if the program has a plan (shader/jit/plan.h) that is run
 * for it, and the colors go to the tile, rows at a time. All else, also of the same primitive, is
 * gathered in bundles; where a bundle has pixels of the block that come first, it is run before.
 */
#include "gpu.h"
#include "render.h"

/* Quads of a block for which that is cheaper than places in bundles. */
#define QUADS_MIN 6
/* Effort of a block, of a burst's; see core.c. */
#define BLOCK_EFFORT 4

bool tsr_tile_may_be_blocks(const struct tsr_tile_state *s, const struct tsr_rendering *r,
			    const struct tsr_gpu *gpu)
{
	return s->shades && !s->ordered && !(r->debug & TSR_GFX_NO_BLOCKS) &&
	       !gpu->cfg.late_messages && !gpu->cfg.strict_code && !s->fragment.dual_source &&
	       !s->fragment.shader.sample_shading && !s->fragment.draw.alpha_to_coverage &&
	       (s->zs.when == TSR_ZS_NEVER || s->zs.when == TSR_ZS_EARLY);
}

/* Lanes of the threads of each warp: of its quads, or, without helpers, of pixels alone. */
static void find_lanes(const struct tsr_tile_core *c, uint16_t lanes[TSR_QUAD_BLOCK_WARPS])
{
	const uint64_t quads = c->quads_left * 15;
	const uint64_t all = c->state->fragment.shader.helpers ? quads : c->covered.any & quads;

	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++)
		lanes[w] = all >> TSR_WARP_LANES * w;
}

static void write_color(void *arg, unsigned int target, const union tsr_lanes *color)
{
	struct tsr_tile_core *c = arg;
	const struct tsr_output_quads block = {
		.color = color, .step = TSR_BUNDLE_WARPS, .x = c->covered.x, .y = c->covered.y,
		.mask = c->covered.mask,
	};

	if (target >= c->tile.targets)
		return;
	if (c->trial)
		tsr_tile_flat_take(c, target, color);
	tsr_output_write_quads(&c->state->output[target], &c->tile.color[target], &block);
}

/* Whether the block waits for the bundle: for its pixels, or for room for its primitive. */
static bool waits(const struct tsr_tile_core *c)
{
	const struct tsr_fragments *f = c->fragments;

	return tsr_tile_gathered(c) ||
	       (f->quads && c->prim_index < 0 && f->prims == TSR_BUNDLE_QUADS);
}

static void count(struct tsr_tile_core *c, unsigned int quads, unsigned int pixels)
{
	struct tsr_shader_stats *stats = &c->shader->stats;

	stats->fragments += pixels;
	if (c->state->fragment.shader.helpers)
		stats->helpers += 4 * quads - pixels;
	c->queries.fragments += pixels;
	if (!c->state->count_early && (c->queries.samples || c->queries.any))
		c->queries.passed += tsr_covered_samples(&c->covered, c->tile.samples_log2);
	c->count[TSR_TILE_QUADS] += quads;
	c->quads_left = 0;
	if (c->absent) {
		c->absent &= ~tsr_tile_block_bit(c);
		c->partial = c->absent ? c->partial : 0;
	}
}

void tsr_tile_block_done(struct tsr_tile_core *c)
{
	count(c, tsr_pixel_count(c->quads_left),
	      tsr_pixel_count(c->covered.any & c->quads_left * 15));
}

static bool shade(struct tsr_tile_core *c, unsigned int quads)
{
	const uint64_t left = c->covered.any & c->quads_left * 15;
	unsigned int pixels = left == UINT64_MAX ? TSR_BLOCK_PIXELS : tsr_pixel_count(left);
	bool helpers = c->state->fragment.shader.helpers;
	struct tsr_quad_block *block = &c->quad_block;

	/* sample positions are not computed for lanes that no pixel covers */
	if (c->plan->samples && !helpers && pixels != 4 * quads)
		return false;
	find_lanes(c, block->lanes);
	block->x = c->tile.x + c->covered.x;
	block->y = c->tile.y + c->covered.y;
	if (!block->again) {
		block->prim = tsr_tile_prim(c);
		block->color = write_color;
		block->arg = c;
	}
	block->warps = (quads + 3) / 4;
	block->threads = helpers ? 4 * quads : pixels;
	block->pixels = pixels;
	if (!tsr_plan_run(c->shader, c->fragments, c->plan, block))
		return false;
	count(c, quads, pixels);
	c->count[TSR_TILE_BUNDLES]++;
	return true;
}

/* Whether blocks of the primitive may be shaded, this one first: c->plan. */
static bool may_shade(struct tsr_tile_core *c)
{
	struct tsr_tile_state *s = c->state;

	/* whether programs are such that primitives have one color is found out by bundles */
	if (!s->may_be_blocks || c->flat || (s->may_be_flat && !s->looked) ||
	    c->shader->gpu->shader_hook)
		return false;
	c->plan = tsr_plan_find(c->shader, c->fragments);
	if (!c->plan)
		return false;
	/* the block has to be loaded, and so are those that follow */
	s->overwrites &= c->plan->colors;
	return !(c->absent & tsr_tile_block_bit(c) && c->partial & ~s->overwrites);
}

bool tsr_tile_block_shade(struct tsr_tile_core *c)
{
	const uint64_t all = 0x1111111111111111;
	unsigned int quads = c->quads_left == all ? 16 : tsr_pixel_count(c->quads_left);

	if (!c->fresh || quads < QUADS_MIN || (!c->quad_block.again && !may_shade(c)))
		return true;
	if (waits(c))
		return false;
	c->effort -= BLOCK_EFFORT;
	if (c->trial)
		c->colors.written = 0;
	if (!shade(c, quads))
		c->fresh = false;
	else if (c->trial)
		tsr_tile_flat_look_at_block(c);
	return true;
}
