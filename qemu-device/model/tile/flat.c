/* SPDX-License-Identifier: MIT */
/*
 * Primitives of one colour. Of a program whose colours do not depend on the fragment (see
 * shader/flat.h) only the first bundle runs; what it leaves is written to the rest of the
 * primitive, or to all primitives of the draw, whole blocks at a time.
 */
#include <string.h>

#include "../gpu.h"
#include "render.h"

/* Bundles of a state after which it is worth looking at its program. */
#define TRIED_BUNDLES 2
/* Pixels of a primitive's box in the tile for which a bundle is run before it is full. */
#define LARGE 512
/* After a primitive whose varyings differ: how many others are drawn without a look at them. */
#define PATIENCE 15

bool tsr_tile_may_be_flat(const struct tsr_tile_state *s, const struct tsr_rendering *r,
			  const struct tsr_gpu *gpu)
{
	const struct tsr_shader_state *shader = &s->fragment.shader;

	if (!s->shades || s->ordered || r->debug & TSR_GFX_NO_FLAT || gpu->cfg.late_messages ||
	    gpu->cfg.strict_code || shader->sample_shading || s->fragment.draw.alpha_to_coverage ||
	    (s->zs.when != TSR_ZS_NEVER && s->zs.when != TSR_ZS_EARLY))
		return false;
	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX; i++) {
		if ((s->fragment.blend[i] & TSR_BLEND_MODE__MASK) == TSR_BLEND_MODE_PROGRAM)
			return false;
	}
	return true;
}

void tsr_tile_flat_begin(struct tsr_tile_core *c)
{
	const struct tsr_rect *box = &c->walk.rect;
	struct tsr_tile_state *s = c->state;
	bool large = (box->x1 - box->x0) * (box->y1 - box->y0) >= LARGE;

	c->flat = s->colours.known ? &s->colours : NULL;
	c->probe = false;
	if (c->flat || !s->may_be_flat || !large || c->shader->gpu->shader_hook)
		return;
	c->probe = !s->patience;
	s->patience -= s->patience != 0;
}

/* Word @lane of @from in all lanes. */
static void spread(union tsr_lanes *to, const union tsr_lanes *from, unsigned int lane)
{
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		to->u[l] = from->u[lane];
}

/* The colours of the bundle's last covered pixel, which is one of the primitive's. */
static void take(const struct tsr_tile_core *c, struct tsr_tile_colours *to)
{
	const struct tsr_fragments *f = c->fragments;
	unsigned int n = f->quads - 1, w = n / 4;
	unsigned int lane = n % 4 * 4 + (63 - __builtin_clzll(f->quad[n].coverage)) / 16;

	to->known = true;
	to->written = 0;
	for (unsigned int rt = 0; rt < c->tile.targets; rt++) {
		struct tsr_output_flat *flat = &to->target[rt];

		if (!(f->written[rt][w] >> lane & 1))
			continue;
		to->written |= 1u << rt;
		flat->has_second = f->written[TSR_RENDER_TARGETS_MAX][w] >> lane & 1;
		for (unsigned int i = 0; i < 4; i++) {
			spread(&flat->colour[i], tsr_fragments_colour(f, rt, i, w), lane);
			if (flat->has_second)
				spread(&flat->second[i],
				       tsr_fragments_colour(f, TSR_RENDER_TARGETS_MAX, i, w), lane);
		}
		if (!c->state->output[rt].off)
			tsr_output_flat_prepare(&c->state->output[rt], flat);
	}
}

/* Whether the varyings of the primitive, for which the program has run, are the same everywhere. */
static bool one_colour(struct tsr_tile_core *c)
{
	const struct tsr_rect *box = &c->walk.rect;
	const int32_t x = c->tile.x, y = c->tile.y;
	/* quads may reach beyond the box */
	const int32_t from[2] = { x + box->x0 - 1, y + box->y0 - 1 };
	const int32_t to[2] = { x + box->x1 + 1, y + box->y1 + 1 };

	if (!tsr_flat_across(c->fragments, c->prim_index, c->state->flat.varyings, from, to)) {
		c->state->patience = PATIENCE;
		return false;
	}
	c->flat = &c->colours;
	return true;
}

void tsr_tile_flat_look(struct tsr_tile_core *c)
{
	struct tsr_tile_state *s = c->state;
	bool probe = c->probe;

	c->probe = false;
	if (!s->may_be_flat || c->prim_index < 0 || c->shader->gpu->shader_hook)
		return;
	s->tried += s->tried < TRIED_BUNDLES;
	if (!s->looked && (probe || s->tried == TRIED_BUNDLES)) {
		s->looked = true;
		s->flat = tsr_flat_find(c->shader, &s->fragment);
		s->may_be_flat = s->flat.same;
	}
	if (!s->looked || !s->may_be_flat)
		return;
	if (s->flat.everywhere) {
		take(c, &s->colours);
		c->flat = &s->colours;
	} else if (probe && one_colour(c)) {
		take(c, &c->colours);
	}
}

void tsr_tile_flat_take(struct tsr_tile_core *c, unsigned int target,
			const union tsr_lanes *colour)
{
	unsigned int n = 63 - __builtin_clzll(c->covered.any & c->quads_left * 15);
	struct tsr_output_flat *flat = &c->colours.target[target];

	c->colours.written |= 1u << target;
	flat->has_second = false;
	for (unsigned int i = 0; i < 4; i++)
		spread(&flat->colour[i], &colour[i * TSR_BUNDLE_WARPS + n / TSR_WARP_LANES],
		       n % TSR_WARP_LANES);
	if (!c->state->output[target].off)
		tsr_output_flat_prepare(&c->state->output[target], flat);
}

void tsr_tile_flat_look_at_block(struct tsr_tile_core *c)
{
	c->probe = false;
	c->colours.known = one_colour(c);
}

bool tsr_tile_flat_write(struct tsr_tile_core *c)
{
	if (tsr_tile_gathered(c))
		return false;
	/* some of the block's quads may have been in the bundle */
	for (unsigned int i = 0; i < 1u << c->tile.samples_log2; i++)
		c->covered.mask[i] &= c->quads_left * 15;
	for (unsigned int rt = 0; rt < c->tile.targets; rt++) {
		if (c->flat->written >> rt & 1)
			tsr_output_write_flat(&c->state->output[rt], &c->tile.colour[rt],
					      &c->flat->target[rt], c->covered.x, c->covered.y,
					      c->covered.mask);
	}
	tsr_tile_block_done(c);
	return true;
}
