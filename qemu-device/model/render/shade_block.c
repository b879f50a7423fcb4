/* SPDX-License-Identifier: MIT */
/*
 * Blocks that are shaded as they are. A block of 8 by 8 pixels of which a primitive covers most is
 * four warps in the order of its quads: if the program has a plan (compiler/plan.h) that is run
 * for it, and the colors go to the tile, rows at a time. All else, also of the same primitive, is
 * gathered in bundles; where a bundle has pixels of the block that come first, it is run before.
 *
 * The block's coverage becomes final before its first color is written: without pixels that the
 * program has discarded, samples that alpha to coverage takes, and samples that fail late tests.
 */
#include <string.h>

#include "render.h"

/* Quads of a block for which that is cheaper than places in bundles. */
#define QUADS_MIN 6
/* Effort of a block, of a burst's; see core.c. */
#define BLOCK_EFFORT 4

bool tsr_tile_may_be_blocks(const struct tsr_tile_state *s, const struct tsr_rendering *r,
			    const struct tsr_env *env)
{
	return s->shades && !s->ordered && !(r->debug & TSR_GFX_NO_BLOCKS) &&
	       !env->cfg->late_messages && !env->cfg->strict_code && !s->fragment.dual_source;
}

/* One store, as the plan loads all at once. */
static void put_lanes(uint16_t to[TSR_QUAD_BLOCK_WARPS], uint64_t threads)
{
	to[0] = (uint16_t)threads;
	to[1] = (uint16_t)(threads >> 16);
	to[2] = (uint16_t)(threads >> 32);
	to[3] = (uint16_t)(threads >> 48);
}

/* Lanes of the threads of each warp: of its quads, or, without helpers, of pixels alone. */
static void find_lanes(const struct tsr_tile_core *c, struct tsr_quad_block *block)
{
	const uint64_t quads = c->prim.quads_left * 15;
	const bool helpers = c->group.state->fragment.shader.helpers;
	const uint64_t all = helpers ? quads : c->prim.covered.any & quads;

	put_lanes(block->lanes, all);
	put_lanes(block->covered, c->prim.covered.any & quads);
}

/* ---- Coverage -------------------------------------------------------------------------------- */

static void remove_pixels(struct tsr_tile_core *c, uint64_t pixels)
{
	for (unsigned int s = 0; s < 1u << c->buffer.tile.samples_log2; s++)
		c->prim.covered.mask[s] &= ~pixels;
}

/* Take the samples that alpha of target 0, whose color is @color, does not want. */
static void thin_out(struct tsr_tile_core *c, const union tsr_lanes *color)
{
	const struct tsr_output *o = &c->group.state->output[0];
	const unsigned int samples = 1u << c->buffer.tile.samples_log2;
	const struct tsr_quad_block *block = &c->group.quad_block;

	if (o->thin) {
		o->thin(o, color, TSR_BUNDLE_WARPS, samples, c->prim.covered.mask);
		return;
	}
	for (uint64_t left = c->prim.covered.any; left; left &= left - 1) {
		const unsigned int n = __builtin_ctzll(left), w = n / TSR_WARP_LANES;
		const unsigned int lane = n % TSR_WARP_LANES;
		const float alpha = tsr_output_alpha(o, color + w, TSR_BUNDLE_WARPS, lane);
		const uint16_t kept =
			tsr_alpha_coverage(alpha, samples, block->x + (n >> 1 & 6) + (n & 1),
					   block->y + (n >> 3 & 6) + (n >> 1 & 1));

		for (unsigned int s = 0; s < samples; s++)
			c->prim.covered.mask[s] &= ~((uint64_t)(~kept >> s & 1) << n);
	}
}

static void replace_depths(const struct tsr_tile_core *c, float *restrict z)
{
	const struct tsr_zs zs = { .scale = c->group.state->zs.scale };
	const struct tsr_tile_plane plane = {
		.low = c->prim.current.low, .high = c->prim.current.high,
	};
	const float *from = (const float *)c->group.quad_block.depth;

	for (unsigned int i = 0; i < TSR_BLOCK_PIXELS; i++)
		z[i] = tsr_tile_written_depth(&zs, &plane, from[i]);
}

/* Tests after the program, with what it has left for them. */
static void late_tests(struct tsr_tile_core *c)
{
	const struct tsr_shader_state *shader = &c->group.state->fragment.shader;
	const struct tsr_quad_block *block = &c->group.quad_block;
	const struct tsr_zs *zs = &c->group.state->zs;
	const bool replaces = block->has_depth && shader->writes_depth &&
			      shader->depth_layout != TSR_DEPTH_LAYOUT_UNCHANGED;
	const unsigned int x = c->prim.covered.x, y = c->prim.covered.y;
	float z[TSR_BLOCK_PIXELS] __attribute__((aligned(64)));
	uint8_t reference[TSR_BLOCK_PIXELS];
	struct tsr_zs_block b = {
		.block = tsr_tile_block(&c->buffer.tile, x, y), .front = c->prim.input.front,
		.write = true, .z = z, .reference = shader->writes_stencil ? reference : NULL,
	};

	memset(reference, zs->face[b.front].reference, sizeof(reference));
	for (unsigned int i = 0; block->has_stencil && i < TSR_BLOCK_PIXELS; i++)
		reference[i] = block->stencil[i / TSR_WARP_LANES].u[i % TSR_WARP_LANES];
	for (unsigned int s = 0; s < 1u << c->buffer.tile.samples_log2; s++) {
		uint64_t *mask = &c->prim.covered.mask[s];

		if (!*mask)
			continue;
		if (zs->depth_test && !replaces)
			tsr_tile_depth(c, &c->prim.current, zs, x, y, s, *mask, z);
		if (replaces)
			replace_depths(c, z);
		b.sample = s;
		*mask = tsr_zs_test(&c->buffer.tile, c->render->fine, zs, &b, *mask);
	}
}

/* Once for each block; @color: target 0's, NULL if the program has none. */
static void settle(struct tsr_tile_core *c, const union tsr_lanes *color)
{
	const struct tsr_tile_state *s = c->group.state;

	if (c->group.quad_block.discarded)
		remove_pixels(c, c->group.quad_block.discarded);
	if (color && s->fragment.draw.alpha_to_coverage && !s->output[0].off)
		thin_out(c, color);
	if (s->zs.when == TSR_ZS_LATE || s->zs.when == TSR_ZS_LATE_REJECT)
		late_tests(c);
	c->group.settled_block = true;
}

static void write_color(void *arg, unsigned int target, const union tsr_lanes *color)
{
	struct tsr_tile_core *c = arg;
	const struct tsr_output_quads block = {
		.color = color, .step = TSR_BUNDLE_WARPS,
		.x = c->prim.covered.x, .y = c->prim.covered.y, .mask = c->prim.covered.mask,
	};

	if (!c->group.settled_block)
		settle(c, target ? NULL : color);
	if (target >= c->buffer.tile.targets)
		return;
	if (c->prim.color.trial)
		tsr_tile_flat_take(c, target, color);
	tsr_output_write_quads(&c->group.state->output[target], &c->buffer.tile.color[target],
			       &block);
}

/* True if the block waits for the bundle: for its pixels, or for room for its primitive. */
static bool waits(const struct tsr_tile_core *c)
{
	const struct tsr_fragments *f = c->group.fragments;

	return tsr_tile_gathered(c) ||
	       (f->quads && c->group.prim_index < 0 && f->prims == TSR_BUNDLE_QUADS);
}

static void count(struct tsr_tile_core *c, unsigned int quads, unsigned int pixels)
{
	struct tsr_shader_stats *stats = &c->shader->stats;

	stats->fragments += pixels;
	if (c->group.state->fragment.shader.helpers)
		stats->helpers += 4 * quads - pixels;
	c->stats.queries.fragments += pixels;
	if (!c->group.state->count_early && (c->stats.queries.samples || c->stats.queries.any))
		c->stats.queries.passed +=
			tsr_covered_samples(&c->prim.covered, c->buffer.tile.samples_log2);
	c->stats.count[TSR_TILE_QUADS] += quads;
	c->prim.quads_left = 0;
	if (c->buffer.absent) {
		c->buffer.absent &= ~tsr_tile_block_bit(c);
		c->buffer.partial = c->buffer.absent ? c->buffer.partial : 0;
	}
}

void tsr_tile_block_done(struct tsr_tile_core *c)
{
	count(c, tsr_pixel_count(c->prim.quads_left),
	      tsr_pixel_count(c->prim.covered.any & c->prim.quads_left * 15));
}

static bool shade(struct tsr_tile_core *c, unsigned int quads)
{
	const uint64_t left = c->prim.covered.any & c->prim.quads_left * 15;
	unsigned int pixels = left == UINT64_MAX ? TSR_BLOCK_PIXELS : tsr_pixel_count(left);
	bool helpers = c->group.state->fragment.shader.helpers;
	struct tsr_quad_block *block = &c->group.quad_block;

	/* sample positions are not computed for lanes that no pixel covers */
	if (c->group.plan->samples && !helpers && pixels != 4 * quads)
		return false;
	find_lanes(c, block);
	block->x = c->buffer.tile.x + c->prim.covered.x;
	block->y = c->buffer.tile.y + c->prim.covered.y;
	if (!block->again) {
		block->prim = tsr_tile_prim(c);
		block->color = write_color;
		block->arg = c;
	}
	block->warps = (quads + 3) / 4;
	block->threads = helpers ? 4 * quads : pixels;
	block->pixels = pixels;
	c->group.settled_block = false;
	if (!tsr_plan_run(c->shader, c->group.fragments, c->group.plan, block))
		return false;
	if (!c->group.settled_block)
		settle(c, NULL);
	count(c, quads, pixels);
	c->stats.count[TSR_TILE_BUNDLES]++;
	return true;
}

/* A bit for each quad of pixels that has one of @pixels. */
static uint64_t quads_of(uint64_t pixels)
{
	pixels |= pixels >> 1;
	pixels |= pixels >> 2;
	return pixels & 0x1111111111111111;
}

/* One sample after the other. False: those that are left are bundles'. */
static bool shade_samples(struct tsr_tile_core *c)
{
	const unsigned int samples = 1u << c->buffer.tile.samples_log2;
	struct tsr_covered left = c->prim.covered;

	for (unsigned int s = 0; s < samples; s++) {
		const uint64_t mask = left.mask[s];

		if (!mask)
			continue;
		memset(c->prim.covered.mask, 0, samples * sizeof(mask));
		c->prim.covered.mask[s] = c->prim.covered.any = mask;
		c->prim.quads_left = quads_of(mask);
		c->group.quad_block.sample = s;
		if (!shade(c, tsr_pixel_count(c->prim.quads_left)))
			break;
		left.mask[s] = 0;
	}
	left.any = 0;
	for (unsigned int s = 0; s < samples; s++)
		left.any |= left.mask[s];
	c->group.quad_block.sample = 0;
	c->prim.covered = left;
	c->prim.quads_left = quads_of(left.any);
	return !left.any;
}

/* Returns true, with c->group.plan set, if blocks of the primitive may be shaded from here on. */
static bool may_shade(struct tsr_tile_core *c)
{
	struct tsr_tile_state *s = c->group.state;

	/* whether programs are such that primitives have one color is found out by bundles */
	if (!s->may_be_blocks || c->prim.color.flat || (s->may_be_flat && !s->looked) ||
	    c->shader->mem.env->shader_hook)
		return false;
	c->group.plan = tsr_plan_find(c->shader, c->group.fragments);
	if (!c->group.plan)
		return false;
	/* the block has to be loaded, and so are those that follow */
	s->overwrites &= c->group.plan->discards ? 0 : c->group.plan->colors;
	return !(c->buffer.absent & tsr_tile_block_bit(c) && c->buffer.partial & ~s->overwrites);
}

bool tsr_tile_block_shade(struct tsr_tile_core *c)
{
	const uint64_t all = 0x1111111111111111;
	unsigned int quads = c->prim.quads_left == all ? 16 : tsr_pixel_count(c->prim.quads_left);
	bool done;

	if (!c->prim.fresh || quads < QUADS_MIN || (!c->group.quad_block.again && !may_shade(c)))
		return true;
	if (waits(c))
		return false;
	c->effort -= BLOCK_EFFORT;
	if (c->prim.color.trial)
		c->prim.color.colors.written = 0;
	done = c->group.state->fragment.shader.sample_shading ? shade_samples(c) : shade(c, quads);
	if (!done)
		c->prim.fresh = false;
	else if (c->prim.color.trial)
		tsr_tile_flat_look_at_block(c);
	return true;
}
