/* SPDX-License-Identifier: MIT */
/*
 * Small triangles: those of a run of the tile's list are set up together, see small.h; each is
 * tested and its quads are gathered, without a walk over blocks. What is not small, or belongs to
 * a draw with states that small.h knows nothing of, goes the way of all primitives. Hierarchical
 * tests would cost more than they save here: there are none.
 */
#include <string.h>

#include "render.h"

static bool is_simple(const struct tsr_tile_core *c)
{
	const struct tsr_tile_state *s = c->group.state;
	const unsigned int samples_log2 = c->buffer.tile.samples_log2;
	const unsigned int samples = (1u << (1u << samples_log2)) - 1;

	return !(c->render->debug & TSR_GFX_NO_SMALL) && samples_log2 <= TSR_SMALL_SAMPLES_LOG2 &&
	       (s->sample_mask & samples) == samples && (!samples_log2 || !s->rules.center) &&
	       !s->ordered && !s->rules.bias && !s->fragment.shader.sample_shading &&
	       (s->zs.when == TSR_ZS_NEVER || s->zs.when == TSR_ZS_EARLY) &&
	       !s->zs.stencil_test && !s->zs.bounds;
}

/* True if nothing is known, or to be found out, of colors that all fragments have. */
static bool has_fragments(const struct tsr_tile_core *c)
{
	const struct tsr_tile_state *s = c->group.state;
	/* with several samples only large primitives are asked whether they have one color */
	const bool asked = c->buffer.tile.samples_log2 ? s->looked : tsr_tile_flat_may_wait(c);

	return !s->shades || (!s->colors.known && (!s->may_be_flat || asked));
}

/* Varyings of the triangles are soon asked for: while they are set up, they come nearer. */
static void call_for_outputs(const struct tsr_tile_core *c)
{
	const struct tsr_tile_triangles *t = &c->prim.set.triangles;
	const uint64_t *word = t->word;

	for (unsigned int i = 0; t->batch->outputs && i < t->count; i++) {
		tsr_tile_outputs(c, t->batch, word[i] >> TSR_HEAP_PRIMITIVE_SLOT_0__SHIFT & 0xff);
		tsr_tile_outputs(c, t->batch, word[i] >> TSR_HEAP_PRIMITIVE_SLOT_1__SHIFT & 0xff);
		tsr_tile_outputs(c, t->batch, word[i] >> TSR_HEAP_PRIMITIVE_SLOT_2__SHIFT & 0xff);
	}
}

void tsr_tile_small_begin(struct tsr_tile_core *c)
{
	struct tsr_triangle_set *set = &c->prim.set;
	const struct tsr_tile *t = &c->buffer.tile;
	const struct tsr_rect *scissor = &c->group.state->viewport[0].scissor;
	const int32_t right = t->x + t->width, bottom = t->y + t->height;
	struct tsr_small_rules rules = {
		.x0 = t->x, .y0 = t->y, .x1 = right, .y1 = bottom, .x = t->x, .y = t->y,
		.shift = t->shift, .samples_log2 = t->samples_log2,
		.depth = c->group.state->zs.depth_test,
	};

	set->next_triangle = 0;
	set->next_quad = set->quads.count = 0;
	c->prim.color.flat = NULL;
	set->small.large = set->small.huge = UINT16_MAX;
	if (!is_simple(c))
		return;
	if (c->group.state->shades && !c->group.state->colors.known)
		call_for_outputs(c);
	rules.x0 = scissor->x0 > rules.x0 ? scissor->x0 : rules.x0;
	rules.y0 = scissor->y0 > rules.y0 ? scissor->y0 : rules.y0;
	rules.x1 = scissor->x1 < rules.x1 ? scissor->x1 : rules.x1;
	rules.y1 = scissor->y1 < rules.y1 ? scissor->y1 : rules.y1;
	c->render->fine->small(&rules, &set->triangles, &set->small);
	if (t->samples_log2)
		set->small.huge = UINT16_MAX;
	if (!has_fragments(c))
		set->small.large = UINT16_MAX;
}

/* The first triangle that is not like the next one: all before it are small. */
static unsigned int end_of_run(struct tsr_tile_core *c)
{
	struct tsr_triangle_set *set = &c->prim.set;
	struct tsr_tile_state *s = c->group.state;
	const unsigned int large = set->small.large >> set->next_triangle << set->next_triangle;
	unsigned int end = __builtin_ctz(large | 1u << set->triangles.count);

	if (!s->shades || c->shader->mem.env->shader_hook || !tsr_tile_flat_may_wait(c))
		return end;
	/* from time to time it is asked whether primitives have one color */
	for (unsigned int i = set->next_triangle; i < end; i++) {
		if (set->small.mask[i] && !s->patience)
			return i;
		s->patience -= set->small.mask[i] != 0;
	}
	return end;
}

bool tsr_tile_is_small(struct tsr_tile_core *c)
{
	struct tsr_triangle_set *set = &c->prim.set;

	if (set->next_quad < set->quads.count)
		return true;
	set->tested = c->buffer.absent ? set->next_triangle : end_of_run(c);
	return set->tested > set->next_triangle;
}

/* Test the triangles up to set->tested: what is left of them stands in set->quads. */
static void begin(struct tsr_tile_core *c)
{
	struct tsr_triangle_set *set = &c->prim.set;
	const struct tsr_tile_state *s = c->group.state;
	const struct tsr_small_test how = {
		.low = s->viewport[0].low, .high = s->viewport[0].high, .scale = s->zs.scale,
		.function = s->zs.function, .write = s->zs.depth_write,
	};
	const bool test = s->zs.depth_test;
	unsigned int covering = 0;

	c->render->fine->small_quads(&set->small, set->next_triangle, set->tested,
				     test ? &how : NULL, c->buffer.tile.depth, &set->quads);
	set->next_quad = 0;
	for (unsigned int i = set->next_triangle; i < set->tested; i++) {
		covering += set->small.mask[i] != 0;
		c->stats.count[TSR_TILE_BLOCKS] += set->small.blocks[i];
	}
	c->stats.count[TSR_TILE_PRIMITIVES] += set->tested - set->next_triangle;
	c->shader->mem.thread->path[TSR_PATH_TRIANGLES_TOGETHER] +=
		set->tested - set->next_triangle;
	c->effort -= set->tested - set->next_triangle + covering;
	if (test) {
		c->stats.count[TSR_TILE_SAMPLES_TESTED] += set->quads.covered;
		c->stats.count[TSR_TILE_SAMPLES_REJECTED] += set->quads.covered - set->quads.passed;
	}
	if (test && how.write)
		tsr_zs_note_quads(&c->buffer.tile, &s->zs, &set->quads);
	if (s->count_early && (c->stats.queries.samples || c->stats.queries.any))
		c->stats.queries.passed += set->quads.passed;
	if (!s->shades)
		set->quads.count = 0;
}

/* Add triangle @n to the bundle. */
static void add_triangle(struct tsr_tile_core *c, unsigned int n)
{
	struct tsr_triangle_set *set = &c->prim.set;
	const struct tsr_batch *batch = set->triangles.batch;
	struct tsr_fragments *f = c->group.fragments;
	struct tsr_fragment_prim *p = &f->prim[tsr_fragments_add(f)];

	tsr_tile_triangle(&set->triangles, n, &p->prim);
	/* the outputs have been called for */
	for (unsigned int i = 0; i < 3; i++)
		p->output[i] = batch->outputs ? batch->outputs + (uint64_t)p->prim.slot[i] *
						batch->output_stride : 0;
	p->ids = batch->ids;
	p->padded = batch->padded;
}

/* Samples of a quad, as in tsr_small_quads.pixels, as they stand in a bundle. */
static uint64_t coverage_of(unsigned int bits)
{
	uint64_t coverage = 0;

	for (unsigned int s = 0; bits; s++, bits >>= 4)
		coverage |= ((bits & 15) * 0x0000200040008001 & 0x0001000100010001) << s;
	return coverage;
}

/* The next @count quads of set->quads into the bundle, where there is room for them. */
static void add_quads(struct tsr_tile_core *c, unsigned int count)
{
	struct tsr_triangle_set *set = &c->prim.set;
	struct tsr_fragments *f = c->group.fragments;
	const struct tsr_small_quads *from = &set->quads;
	unsigned int prim = f->prims - 1, last = TSR_TILE_TRIANGLES, triangles = 0;
	uint8_t triangle[TSR_BUNDLE_QUADS + 1];

	for (unsigned int i = set->next_quad; i < set->next_quad + count; i++) {
		const unsigned int n = from->triangle[i], q = from->quad[i];

		triangle[triangles] = n;
		triangles += n != last;
		prim += n != last;
		last = n;
		f->quad[f->quads++] = (struct tsr_fragment_quad){
			.x = c->buffer.tile.x + set->small.x[n] + q % 2 * 2,
			.y = c->buffer.tile.y + set->small.y[n] + q / 2 * 2, .prim = prim,
			.coverage = coverage_of(from->pixels[i]),
		};
		c->group.gathered |=
			1ull << (from->at[i] / TSR_BLOCK_PIXELS >> c->buffer.tile.samples_log2);
	}
	for (unsigned int i = 0; i < triangles; i++)
		add_triangle(c, triangle[i]);
	c->stats.count[TSR_TILE_QUADS] += count;
	set->next_quad += count;
}

/* Quads of set->quads into the bundle; false: it has to be run first. */
static bool gather(struct tsr_tile_core *c)
{
	struct tsr_triangle_set *set = &c->prim.set;
	struct tsr_fragments *f = c->group.fragments;
	unsigned int left = set->quads.count - set->next_quad, room;

	/* a bundle of others, that wait for it */
	if (f->quads && c->prim.color.deferred_count)
		return false;
	if (!f->quads)
		tsr_fragments_begin(f, &c->group.state->fragment);
	/* each may be of another triangle, and there may be primitives without quads */
	room = TSR_BUNDLE_QUADS - (f->quads > f->prims ? f->quads : f->prims);
	add_quads(c, left < room ? left : room);
	return left <= room;
}

bool tsr_tile_small_draw(struct tsr_tile_core *c)
{
	struct tsr_triangle_set *set = &c->prim.set;

	if (set->next_quad == set->quads.count)
		begin(c);
	if (set->next_quad < set->quads.count && !gather(c))
		return false;
	set->next_triangle = set->tested;
	return true;
}
