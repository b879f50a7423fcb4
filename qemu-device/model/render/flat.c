/* SPDX-License-Identifier: MIT */
/*
 * Primitives of one color. Of a program whose colors do not depend on the fragment (see
 * compiler/flat_program.h) only the first bundle runs; what it leaves is written to the rest of the
 * primitive, or to all primitives of the draw, whole blocks at a time.
 */
#include <string.h>

#include "render.h"

/* Bundles of a state after which it is worth looking at its program. */
#define TRIED_BUNDLES 2
/* Pixels of a primitive's box in the tile for which a bundle is run before it is full. */
#define LARGE 512
/*
 * After a primitive whose varyings differ: how many others are drawn without a look at them. Twice
 * as many each time, up to the most.
 */
#define PATIENCE 15
#define PATIENCE_MOST 127

bool tsr_tile_may_be_flat(const struct tsr_tile_state *s, const struct tsr_rendering *r,
			  const struct tsr_env *env)
{
	const struct tsr_shader_state *shader = &s->fragment.shader;

	if (!s->shades || s->ordered || r->debug & TSR_GFX_NO_FLAT || env->cfg->late_messages ||
	    env->cfg->strict_code || shader->sample_shading || s->fragment.draw.alpha_to_coverage ||
	    (s->zs.when != TSR_ZS_NEVER && s->zs.when != TSR_ZS_EARLY))
		return false;
	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX; i++) {
		if ((s->fragment.blend[i] & TSR_BLEND_MODE__MASK) == TSR_BLEND_MODE_PROGRAM)
			return false;
	}
	return true;
}

bool tsr_tile_flat_may_wait(const struct tsr_tile_core *c)
{
	const struct tsr_tile_state *s = c->group.state;

	return !c->prim.color.flat && s->looked && s->may_be_flat && !s->colors.known &&
	       !c->buffer.tile.samples_log2;
}

void tsr_tile_flat_begin(struct tsr_tile_core *c)
{
	const struct tsr_rect *box = &c->prim.walk.rect;
	struct tsr_tile_state *s = c->group.state;
	bool large = (box->x1 - box->x0) * (box->y1 - box->y0) >= LARGE;

	c->prim.color.flat = s->colors.known ? &s->colors : NULL;
	c->prim.color.trial = false;
	c->prim.color.asked = c->prim.color.waits = false;
	if (c->prim.color.flat || !s->may_be_flat || !large || c->shader->mem.env->shader_hook ||
	    tsr_tile_flat_may_wait(c))
		return;
	c->prim.color.trial = !s->patience;
	s->patience -= s->patience != 0;
}

/* Word @lane of @from in all lanes. */
static void spread(union tsr_lanes *to, const union tsr_lanes *from, unsigned int lane)
{
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		to->u[l] = from->u[lane];
}

/* Takes four words, and if @second those of the second source, of warp @w of the warp group. */
static void take_words(const struct tsr_fragments *f, unsigned int rt, unsigned int w,
		       unsigned int lane, bool second, struct tsr_output_flat *to)
{
	to->has_second = second;
	for (unsigned int i = 0; i < 4; i++) {
		spread(&to->color[i], tsr_fragments_color(f, rt, i, w), lane);
		if (second)
			spread(&to->second[i],
			       tsr_fragments_color(f, TSR_RENDER_TARGETS_MAX, i, w), lane);
	}
}

/* Texels of a warp of the bundle, of each target whose bit @there has; @other: it has none. */
struct texels {
	unsigned int warp;
	uint8_t there, other;
	uint32_t texel[TSR_RENDER_TARGETS_MAX][TSR_WARP_LANES];
};

/* The texel of target @rt and @lane of the warp; false: it is not a matter of the color alone. */
static bool take_texel(const struct tsr_tile_core *c, struct texels *t, unsigned int rt,
		       unsigned int lane, struct tsr_output_flat *to)
{
	const struct tsr_output *o = &c->group.state->output[rt];
	const uint8_t bit = 1u << rt;

	if (!((t->there | t->other) & bit)) {
		if (!o->off && tsr_output_texels(o, tsr_fragments_color(c->group.fragments, rt, 0,
									t->warp),
						 TSR_BUNDLE_WARPS, t->texel[rt]))
			t->there |= bit;
		else
			t->other |= bit;
	}
	if (t->there & bit)
		memcpy(to->texel, &t->texel[rt][lane], sizeof(t->texel[rt][lane]));
	return t->there & bit;
}

/* The colors of the last covered pixel of quad @n of the bundle, one of the primitive's. */
static void take(const struct tsr_tile_core *c, unsigned int n, struct texels *t,
		 struct tsr_tile_colors *to)
{
	const struct tsr_fragments *f = c->group.fragments;
	unsigned int w = n / 4;
	unsigned int lane = n % 4 * 4 + (63 - __builtin_clzll(f->quad[n].coverage)) / 16;

	if (t->warp != w) {
		t->warp = w;
		t->there = t->other = 0;
	}
	to->known = true;
	to->written = 0;
	for (unsigned int rt = 0; rt < c->buffer.tile.targets; rt++) {
		struct tsr_output_flat *flat = &to->target[rt];

		if (!(f->written[rt][w] >> lane & 1))
			continue;
		to->written |= 1u << rt;
		if (take_texel(c, t, rt, lane, flat))
			continue;
		take_words(f, rt, w, lane, f->written[TSR_RENDER_TARGETS_MAX][w] >> lane & 1, flat);
		if (!c->group.state->output[rt].off)
			tsr_output_flat_prepare(&c->group.state->output[rt], flat);
	}
}

/* Takes the colors of the last quad of the warp group. */
static void take_last(const struct tsr_tile_core *c, struct tsr_tile_colors *to)
{
	struct texels t;

	t.warp = TSR_BUNDLE_WARPS;
	take(c, c->group.fragments->quads - 1, &t, to);
}

/* True if the varyings of the primitive are the same everywhere; @ran: its program has run. */
static bool one_color(struct tsr_tile_core *c, bool ran)
{
	struct tsr_tile_state *s = c->group.state;
	const uint32_t varyings = s->flat.varyings;
	const struct tsr_rect *box = &c->prim.walk.rect;
	const int32_t x = c->buffer.tile.x, y = c->buffer.tile.y;
	/* quads may reach beyond the box */
	const int32_t from[2] = { x + box->x0 - 1, y + box->y0 - 1 };
	const int32_t to[2] = { x + box->x1 + 1, y + box->y1 + 1 };

	if (ran ? tsr_flat_across(c->group.fragments, c->group.prim_index, varyings, from, to) :
		  tsr_flat_ask(c->shader, c->group.fragments, &c->prim.color.varying,
			       &c->prim.color.varying_read, tsr_tile_prim(c), varyings, from,
			       to)) {
		s->waited = 0;
		return true;
	}
	s->waited = s->waited ? 2 * s->waited + 1 : PATIENCE;
	s->waited = s->waited < PATIENCE_MOST ? s->waited : PATIENCE_MOST;
	s->patience = s->waited;
	return false;
}

/* True if the bundle's last quad is the primitive's. */
static bool has_last(const struct tsr_tile_core *c)
{
	const struct tsr_fragments *f = c->group.fragments;

	return f->quads && f->quad[f->quads - 1].prim == c->group.prim_index;
}

void tsr_tile_flat_look(struct tsr_tile_core *c)
{
	struct tsr_tile_state *s = c->group.state;
	bool trial = c->prim.color.trial;

	c->prim.color.trial = false;
	if (!s->may_be_flat || c->group.prim_index < 0 || c->shader->mem.env->shader_hook)
		return;
	s->tried += s->tried < TRIED_BUNDLES;
	if (!s->looked && (trial || s->tried == TRIED_BUNDLES)) {
		s->looked = true;
		s->flat = tsr_flat_find(c->shader, &s->fragment);
		s->may_be_flat = s->flat.same;
	}
	if (!s->looked || !s->may_be_flat || !has_last(c))
		return;
	if (s->flat.everywhere) {
		take_last(c, &s->colors);
		c->prim.color.flat = &s->colors;
	} else if (trial && one_color(c, true)) {
		c->prim.color.flat = &c->prim.color.colors;
		take_last(c, &c->prim.color.colors);
	}
}

void tsr_tile_flat_take(struct tsr_tile_core *c, unsigned int target,
			const union tsr_lanes *color)
{
	unsigned int n = 63 - __builtin_clzll(c->prim.covered.any & c->prim.quads_left * 15);
	struct tsr_output_flat *flat = &c->prim.color.colors.target[target];

	c->prim.color.colors.written |= 1u << target;
	flat->has_second = false;
	for (unsigned int i = 0; i < 4; i++)
		spread(&flat->color[i], &color[i * TSR_BUNDLE_WARPS + n / TSR_WARP_LANES],
		       n % TSR_WARP_LANES);
	if (!c->group.state->output[target].off)
		tsr_output_flat_prepare(&c->group.state->output[target], flat);
}

void tsr_tile_flat_look_at_block(struct tsr_tile_core *c)
{
	c->prim.color.trial = false;
	c->prim.color.colors.known = one_color(c, true);
	if (c->prim.color.colors.known)
		c->prim.color.flat = &c->prim.color.colors;
}

/* Write @colors to pixels of a block, @mask by sample. */
static void write_block(const struct tsr_tile_core *c, const struct tsr_tile_colors *colors,
			unsigned int x, unsigned int y, const uint64_t *mask)
{
	for (unsigned int rt = 0; rt < c->buffer.tile.targets; rt++) {
		if (colors->written >> rt & 1)
			tsr_output_write_flat(&c->group.state->output[rt],
					      &c->buffer.tile.color[rt], &colors->target[rt], x, y,
					      mask);
	}
}

bool tsr_tile_flat_write(struct tsr_tile_core *c)
{
	if (tsr_tile_gathered(c))
		return false;
	/* some of the block's quads may have been in the bundle */
	for (unsigned int i = 0; i < 1u << c->buffer.tile.samples_log2; i++)
		c->prim.covered.mask[i] &= c->prim.quads_left * 15;
	write_block(c, c->prim.color.flat, c->prim.covered.x, c->prim.covered.y,
		    c->prim.covered.mask);
	tsr_tile_block_done(c);
	return true;
}

/* Returns true if the color replaces all that target @rt has, or is not written to it. */
static bool replaces(const struct tsr_tile_state *s, const struct tsr_tile_colors *flat,
		     unsigned int rt)
{
	const struct tsr_output *o = &s->output[rt];

	return !(flat->written >> rt & 1) || o->off || (o->plain && s->overwrites >> rt & 1);
}

/*
 * Returns true if nothing but colors comes of a primitive of the state. Bursts of a deterministic
 * device end after certain blocks, so it draws them.
 */
static bool leaves_color(const struct tsr_tile_core *c)
{
	const struct tsr_tile_state *s = c->group.state;
	const struct tsr_tile_queries *q = &c->stats.queries;

	return !c->group.fragments->quads && !c->buffer.tile.samples_log2 &&
	       s->zs.when == TSR_ZS_NEVER && s->sample_mask & 1 && s->shades && !s->ordered &&
	       !q->samples && !q->any && !q->statistics &&
	       !c->shader->mem.env->cfg->deterministic;
}

bool tsr_tile_flat_paint(struct tsr_tile_core *c)
{
	const struct tsr_tile_state *s = c->group.state;
	const struct tsr_tile_colors *flat = c->prim.color.flat;
	const struct tsr_tile *t = &c->buffer.tile;
	const unsigned int quads = (t->width + 1) / 2 * ((t->height + 1) / 2);
	const unsigned int pixels = t->width * t->height;
	const unsigned int blocks = (t->width + TSR_BLOCK_DIM - 1) / TSR_BLOCK_DIM *
				    ((t->height + TSR_BLOCK_DIM - 1) / TSR_BLOCK_DIM);

	if (!flat || !leaves_color(c))
		return false;
	for (unsigned int rt = 0; rt < t->targets; rt++) {
		if (!replaces(s, flat, rt))
			return false;
	}
	if (!tsr_walk_whole(&c->prim.walk, t))
		return false;
	for (unsigned int rt = 0; rt < t->targets; rt++) {
		if (flat->written >> rt & 1 && !s->output[rt].off)
			tsr_tile_paint(c, rt, flat->target[rt].texel);
	}
	/* counted as if it were drawn: a primitive's cost must not depend on what is known of it */
	c->effort -= blocks;
	c->stats.count[TSR_TILE_BLOCKS] += blocks;
	c->stats.count[TSR_TILE_QUADS] += quads;
	c->shader->stats.fragments += pixels;
	if (s->fragment.shader.helpers)
		c->shader->stats.helpers += 4 * quads - pixels;
	c->shader->mem.thread->path[TSR_PATH_TILES_PAINTED]++;
	return true;
}

/* ---- Many small ones ------------------------------------------------------------------------- */

bool tsr_tile_flat_ask(struct tsr_tile_core *c)
{
	struct tsr_tile_state *s = c->group.state;
	const struct tsr_fragments *f = c->group.fragments;

	if (c->prim.color.asked)
		return true;
	c->prim.color.waits = false;
	if (!tsr_tile_flat_may_wait(c) || c->shader->mem.env->shader_hook) {
		c->prim.color.asked = true;
	} else if (s->patience) {
		s->patience--;
		c->prim.color.asked = true;
	} else if (c->group.prim_index < 0 && f->prims == TSR_BUNDLE_QUADS) {
		return false;
	} else {
		c->prim.color.asked = true;
		c->prim.color.waits = s->flat.everywhere || one_color(c, false);
	}
	/* a bundle holds quads of these primitives, or of all others */
	return !f->quads || c->prim.color.waits == (c->prim.color.deferred_count > 0);
}

/* The first quad that is left is the one whose color counts. */
static void add_quad(struct tsr_tile_core *c)
{
	struct tsr_fragments *f = c->group.fragments;
	unsigned int place = __builtin_ctzll(c->prim.quads_left);
	uint64_t pixels = c->prim.covered.mask[0] >> place & 15;

	f->quad[f->quads++] = (struct tsr_fragment_quad){
		.x = c->buffer.tile.x + c->prim.covered.x + (place >> 1 & 6),
		.y = c->buffer.tile.y + c->prim.covered.y + (place >> 3 & 6),
		.prim = tsr_tile_prim(c),
		.coverage = pixels * 0x0000200040008001 & 0x0001000100010001,
	};
	c->stats.count[TSR_TILE_QUADS]++;
	c->prim.quads_left &= c->prim.quads_left - 1;
}

bool tsr_tile_flat_defer(struct tsr_tile_core *c)
{
	struct tsr_fragments *f = c->group.fragments;
	uint64_t mask = c->prim.covered.mask[0] & c->prim.quads_left * 15;
	bool first;

	if (!c->prim.color.waits)
		return true;
	first = !f->quads || f->quad[f->quads - 1].prim != c->group.prim_index;
	if (c->prim.color.deferred_count == TSR_TILE_DEFERRED_MAX ||
	    (first && f->quads == TSR_BUNDLE_QUADS))
		return false;
	/* the quad in the bundle counts when it is run, the others now */
	if (first)
		add_quad(c);
	c->prim.color.deferred[c->prim.color.deferred_count++] = (struct tsr_tile_deferred){
		.mask = mask, .x = c->prim.covered.x, .y = c->prim.covered.y, .quad = f->quads - 1,
	};
	c->prim.covered.mask[0] &= c->prim.quads_left * 15;
	tsr_tile_block_done(c);
	return true;
}

void tsr_tile_flat_write_deferred(struct tsr_tile_core *c)
{
	const struct tsr_fragments *f = c->group.fragments;
	unsigned int last = TSR_BUNDLE_QUADS;
	struct texels t;

	t.warp = TSR_BUNDLE_WARPS;
	for (unsigned int i = 0; i < c->prim.color.deferred_count; i++) {
		const struct tsr_tile_deferred *l = &c->prim.color.deferred[i];

		if (l->quad != last)
			take(c, l->quad, &t, &c->prim.color.colors);
		last = l->quad;
		write_block(c, &c->prim.color.colors, l->x, l->y, &l->mask);
	}
	c->prim.color.deferred_count = 0;
	/* what is left of the last one does not wait any more */
	if (c->prim.walking && c->prim.color.waits && f->quad[last].prim == c->group.prim_index)
		c->prim.color.flat = &c->prim.color.colors;
}
