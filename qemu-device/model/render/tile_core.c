/* SPDX-License-Identifier: MIT */
/*
 * A core that renders tiles. All loops go on from what is in
 * struct tsr_tile_core, so that a burst can end anywhere between two steps.
 */
#include <math.h>
#include <string.h>

#include "render.h"

/* Effort of a packet of a tile's list. */
#define PACKET_EFFORT 64
/* Cycles from a tile's first store on in which a core does not stop: all of a tile buffer, once. */
#define ENDING_CYCLES (TSR_TILE_BUFFER_BYTES / 64 + 1024)

static inline bool wanted(const struct tsr_tile_core *c)
{
	return tsr_stop_requested(&c->shader->mem);
}

static unsigned int samples_of(const struct tsr_tile_core *c)
{
	return 1u << c->buffer.tile.samples_log2;
}

/* ---- Quads ----------------------------------------------------------------------------------- */

/* Coverage of a quad, 4 bits of @n, as it stands in a bundle: 16 bits from one another. */
static uint64_t spread(uint64_t n)
{
	return (n & 15) * 0x0000200040008001 & 0x0001000100010001;
}

static uint64_t quad_coverage(const struct tsr_tile_core *c, unsigned int place)
{
	uint64_t coverage = spread(c->prim.covered.mask[0] >> place);

	for (unsigned int s = 1; s < samples_of(c); s++)
		coverage |= spread(c->prim.covered.mask[s] >> place) << s;
	return coverage;
}

uint64_t tsr_tile_outputs(const struct tsr_tile_core *c, const struct tsr_batch *batch,
			  unsigned int slot)
{
	const struct tsr_access_cache *access = &c->shader->access;
	const uint64_t va = batch->outputs + (uint64_t)slot * batch->output_stride;
	const uint8_t *page;

	if (!batch->outputs)
		return 0;
	page = tsr_access_find(access, access->read, va);
	if (page)
		__builtin_prefetch(page + va % TSR_ACCESS_PAGE_BYTES);
	return va;
}

void tsr_tile_fill_prim(const struct tsr_tile_core *c, struct tsr_fragment_prim *p)
{
	const struct tsr_batch *batch = p->prim.batch;

	for (unsigned int i = 0; i < 3; i++)
		p->output[i] = tsr_tile_outputs(c, batch, p->prim.slot[i]);
	p->ids = batch->ids;
	p->padded = batch->padded;
}

unsigned int tsr_tile_prim(struct tsr_tile_core *c)
{
	struct tsr_fragment_prim *p;

	if (c->group.prim_index >= 0)
		return c->group.prim_index;
	c->group.prim_index = tsr_fragments_prim(c->group.fragments, &c->prim.input);
	p = &c->group.fragments->prim[c->group.prim_index];
	p->bias = c->prim.shape.bias;
	tsr_tile_fill_prim(c, p);
	c->group.plane[c->group.prim_index] = c->prim.current;
	return c->group.prim_index;
}

static void add_quad(struct tsr_tile_core *c, unsigned int x, unsigned int y, unsigned int sample,
		     uint64_t coverage)
{
	struct tsr_fragments *f = c->group.fragments;
	unsigned int prim = tsr_tile_prim(c);

	f->quad[f->quads++] = (struct tsr_fragment_quad){
		.x = c->buffer.tile.x + x, .y = c->buffer.tile.y + y, .prim = prim,
		.sample = sample, .coverage = coverage,
	};
}

/* True if the quad at (@x, @y) of the tile is in the bundle and must not be there twice. */
static bool conflict(const struct tsr_tile_core *c, unsigned int x, unsigned int y)
{
	return c->group.state->ordered && c->group.pending[y / 2] >> x / 2 & 1;
}

/* Add what is left of one quad to the bundle; false: the bundle has to be run first. */
static bool add_place(struct tsr_tile_core *c, unsigned int place)
{
	unsigned int x = c->prim.covered.x + (place >> 1 & 6);
	unsigned int y = c->prim.covered.y + (place >> 3 & 6);
	uint64_t coverage = quad_coverage(c, place);
	unsigned int left = 1;

	if (c->group.state->fragment.shader.sample_shading)
		left = c->prim.samples_left ? c->prim.samples_left : (1u << samples_of(c)) - 1;
	for (; left; left &= left - 1) {
		const uint64_t one = 0x0001000100010001;
		unsigned int s = __builtin_ctz(left);
		uint64_t part = coverage;

		if (c->group.state->fragment.shader.sample_shading)
			part &= one << s;
		if (!part)
			continue;
		c->prim.samples_left = left;
		if (c->group.fragments->quads == TSR_BUNDLE_QUADS || conflict(c, x, y))
			return false;
		add_quad(c, x, y, s, part);
		if (c->group.state->ordered)
			c->group.pending[y / 2] |= 1u << x / 2;
		c->stats.count[TSR_TILE_QUADS]++;
	}
	c->prim.samples_left = 0;
	return true;
}

/* Adds quads with one sample, of which none has to wait, as many as there is room for. */
static void add_plain(struct tsr_tile_core *c)
{
	struct tsr_fragments *f = c->group.fragments;
	unsigned int n = f->quads, first = n;
	uint64_t left = c->prim.quads_left, mask = c->prim.covered.mask[0];
	int x = c->buffer.tile.x + c->prim.covered.x, y = c->buffer.tile.y + c->prim.covered.y;
	unsigned int prim;

	if (!left || n == TSR_BUNDLE_QUADS)
		return;
	prim = tsr_tile_prim(c);
	for (; left && n < TSR_BUNDLE_QUADS; left &= left - 1) {
		unsigned int place = __builtin_ctzll(left);
		struct tsr_fragment_quad *q = &f->quad[n++];

		q->x = x + (place >> 1 & 6);
		q->y = y + (place >> 3 & 6);
		q->prim = prim;
		q->sample = 0;
		q->coverage = spread(mask >> place);
	}
	f->quads = n;
	c->prim.quads_left = left;
	c->stats.count[TSR_TILE_QUADS] += n - first;
}

/* Quads of the block into the bundle; false: it has to be run first. */
static bool add_quads(struct tsr_tile_core *c)
{
	if (c->prim.quads_left) {
		c->prim.fresh = false;
		c->group.gathered |= tsr_tile_block_bit(c);
	}
	if (samples_of(c) == 1 && !c->group.state->ordered) {
		add_plain(c);
		return !c->prim.quads_left;
	}
	for (; c->prim.quads_left; c->prim.quads_left &= c->prim.quads_left - 1) {
		if (!add_place(c, __builtin_ctzll(c->prim.quads_left)))
			return false;
	}
	return true;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static unsigned int count_samples(const struct tsr_tile_core *c)
{
	return tsr_covered_samples(&c->prim.covered, c->buffer.tile.samples_log2);
}

static double magnitude(double x)
{
	return x < 0 ? -x : x;
}

/* Far more than what rounding can come to, in the size of numbers there are. */
#define SLACK 0x1p-42

/* In its only block the depths of a primitive lie between those of its corners. */
static void range_of_corners(struct tsr_tile_core *c)
{
	const struct tsr_shape *s = &c->prim.shape;
	double size = magnitude(s->base) + (magnitude(s->k[0]) + magnitude(s->k[1])) * s->area;

	c->prim.range = (struct tsr_depth_range){
		.reach = INFINITY, .low = s->low - size * SLACK, .high = s->high + size * SLACK,
	};
}

static void range_of_blocks(struct tsr_tile_core *c)
{
	const int half = 1 << (TSR_BLOCK_SHIFT + TSR_SUBPIXEL_BITS - 1);
	int64_t x = ((int64_t)c->buffer.tile.x << TSR_SUBPIXEL_BITS) + half;
	int64_t y = ((int64_t)c->buffer.tile.y << TSR_SUBPIXEL_BITS) + half;
	const struct tsr_tile_plane *p = &c->prim.current;
	double reach = 0, size = magnitude(p->base);

	c->prim.range = (struct tsr_depth_range){ .middle = p->base };
	for (unsigned int i = 0; i < 2; i++) {
		double at = (double)(p->e[i].c + p->e[i].a * x + p->e[i].b * y) * p->k[i];
		double a = p->k[i] * p->e[i].a, b = p->k[i] * p->e[i].b;

		c->prim.range.middle += at;
		c->prim.range.right += a * (2 * half);
		c->prim.range.down += b * (2 * half);
		reach += (magnitude(a) + magnitude(b)) * half;
		size += magnitude(at);
	}
	size += reach * 2 * (1 << (TSR_TILE_SHIFT_MAX - TSR_BLOCK_SHIFT));
	c->prim.range.reach = reach + size * SLACK;
	c->prim.range.low = c->prim.shape.low - size * SLACK;
	c->prim.range.high = c->prim.shape.high + size * SLACK;
}

/* The plane of the primitive's depth, and its range in each block: once it covers something. */
static void set_plane(struct tsr_tile_core *c)
{
	struct tsr_tile_plane *p = &c->prim.current;

	c->prim.has_plane = true;
	tsr_shape_depth(&c->prim.shape, &c->prim.input, &c->group.state->rules);
	memcpy(p->e, c->prim.shape.depth, sizeof(p->e));
	memcpy(p->k, c->prim.shape.k, sizeof(p->k));
	p->base = c->prim.shape.base;
	p->center = c->group.state->rules.center;
	p->low = c->group.state->viewport[c->prim.input.viewport].low;
	p->high = c->group.state->viewport[c->prim.input.viewport].high;
	if (!c->group.state->zs.hierarchical || !c->group.state->zs.depth_test)
		return;
	if (c->prim.walk.single)
		range_of_corners(c);
	else
		range_of_blocks(c);
}

/* The least and the largest depth the primitive can have in the block, as they are stored. */
static void depth_range(const struct tsr_tile_core *c, float *low, float *high)
{
	const struct tsr_depth_range *r = &c->prim.range;
	const struct tsr_tile_plane *p = &c->prim.current;
	double middle = r->middle + r->right * (c->prim.covered.x >> TSR_BLOCK_SHIFT) +
			r->down * (c->prim.covered.y >> TSR_BLOCK_SHIFT);
	double l = middle - r->reach, h = middle + r->reach;

	l = l > r->low ? l : r->low;
	h = h < r->high ? h : r->high;
	l = l > p->low ? l : p->low;
	h = h > p->low ? h : p->low;
	l = l < p->high ? l : p->high;
	h = h < p->high ? h : p->high;
	if (c->group.state->zs.scale != 0) {
		l = (l * c->group.state->zs.scale + 0x1.8p52) - 0x1.8p52;
		h = (h * c->group.state->zs.scale + 0x1.8p52) - 0x1.8p52;
	}
	*low = l;
	*high = h;
}

/* True if hierarchical tests reject the block, whose depths lie in @range. */
static bool rejected(struct tsr_tile_core *c, unsigned int block, const float range[2])
{
	bool depth;

	if (!tsr_zs_rejects(&c->buffer.tile, c->render->fine, &c->group.state->zs, block,
			    c->prim.input.front, range[0], range[1], &depth))
		return false;
	c->stats.count[depth ? TSR_TILE_BLOCKS_DEPTH : TSR_TILE_BLOCKS_STENCIL]++;
	return true;
}

/* Early tests of the block's samples: what passes stays in c->prim.covered. */
static void test_samples(struct tsr_tile_core *c, unsigned int block, const float *range)
{
	float z[TSR_BLOCK_PIXELS] __attribute__((aligned(64)));
	const struct tsr_zs *zs = &c->group.state->zs;
	struct tsr_zs_block b = {
		.block = block, .front = c->prim.input.front, .write = zs->when == TSR_ZS_EARLY,
		.z = z, .range = range,
	};

	c->prim.covered.any = 0;
	for (unsigned int s = 0; s < samples_of(c); s++) {
		if (!c->prim.covered.mask[s])
			continue;
		if (zs->depth_test)
			tsr_tile_depth(c, &c->prim.current, zs, c->prim.covered.x,
				       c->prim.covered.y, s, c->prim.covered.mask[s], z);
		b.sample = s;
		c->prim.covered.mask[s] = tsr_zs_test(&c->buffer.tile, c->render->fine, zs, &b,
						      c->prim.covered.mask[s]);
		c->prim.covered.any |= c->prim.covered.mask[s];
	}
}

static void early_tests(struct tsr_tile_core *c)
{
	unsigned int block = tsr_tile_block(&c->buffer.tile, c->prim.covered.x, c->prim.covered.y);
	unsigned int before = count_samples(c), left = 0;
	const struct tsr_zs *zs = &c->group.state->zs;
	float range[2] = { 0, 0 };

	if (zs->hierarchical && zs->depth_test)
		depth_range(c, &range[0], &range[1]);
	if (zs->hierarchical && rejected(c, block, range)) {
		c->prim.covered.any = 0;
	} else {
		test_samples(c, block, zs->hierarchical ? range : NULL);
		left = count_samples(c);
	}
	c->stats.count[TSR_TILE_SAMPLES_TESTED] += before;
	c->stats.count[TSR_TILE_SAMPLES_REJECTED] += before - left;
}

/* The next block the primitive covers, after early tests; false: there is none. */
static bool next_covered(struct tsr_tile_core *c)
{
	enum tsr_zs_when when = c->group.state->zs.when;

	if (!tsr_walk_next(&c->prim.walk, c->render->fine, c->buffer.tile.samples_log2,
			   c->group.state->sample_mask, &c->prim.covered))
		return false;
	c->effort -= samples_of(c);
	c->stats.count[TSR_TILE_BLOCKS]++;
	if (!c->prim.has_plane && when != TSR_ZS_NEVER)
		set_plane(c);
	if (when == TSR_ZS_EARLY || when == TSR_ZS_LATE_REJECT)
		early_tests(c);
	return true;
}

/* The next covered block, ready to be shaded. */
static bool next_block(struct tsr_tile_core *c)
{
	if (!(c->prim.set.few ? tsr_tile_few_next(c) : next_covered(c)))
		return false;
	if (c->group.state->count_early && (c->stats.queries.samples || c->stats.queries.any) &&
	    c->prim.covered.any)
		c->stats.queries.passed += count_samples(c);
	if (c->group.state->shades) {
		uint64_t any = c->prim.covered.any;

		any |= any >> 1;
		any |= any >> 2;
		c->prim.quads_left = any & 0x1111111111111111;
		/* the last one may have gone another way in the middle of a quad */
		c->prim.samples_left = 0;
		c->prim.fresh = true;
	}
	return true;
}

/* ---- Primitives ------------------------------------------------------------------------------ */

/* True if the primitive's draw has the states of the one before it. */
static bool same_states(const struct tsr_tile_core *c)
{
	const struct tsr_tile_state *s = c->group.state;
	const struct tsr_tile_queries *q = &c->stats.queries;
	const struct tsr_batch *b = c->prim.input.batch;

	return s && s->shader_state == b->shader_state && s->draw_state == b->draw_state &&
	       q->samples == b->samples_query && q->any == b->any_query &&
	       q->statistics == b->statistics_query;
}

static bool same_draw(const struct tsr_tile_core *c)
{
	return same_states(c) &&
	       c->group.push_va == tsr_tile_push_va(c, c->prim.input.batch->fragment_push);
}

/* True if a draw that differs in push constants alone may join the bundle, which is not empty. */
static bool may_join(const struct tsr_tile_core *c)
{
	const struct tsr_fragments *f = c->group.fragments;

	return same_states(c) && c->group.push_va && c->prim.input.batch->fragment_push &&
	       !c->group.state->ordered && !c->shader->mem.env->shader_hook &&
	       c->group.state->fragment.program->state.push_words <= TSR_MIXED_WORDS &&
	       f->pushes < TSR_BUNDLE_WARPS && f->prims < TSR_BUNDLE_QUADS &&
	       f->quads <= TSR_BUNDLE_QUADS - TSR_WARP_LANES / 4;
}

static enum tsr_step join(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	const uint64_t va = tsr_tile_push_va(c, c->prim.input.batch->fragment_push);
	const unsigned int at = (c->group.push_at + 1) % TSR_BUNDLE_WARPS;
	enum tsr_step step =
		tsr_push_read(&c->group.push[at], mem, va, c->group.state->fragment.program);

	if (step != TSR_STEP_DONE)
		return step;
	c->group.push_at = at;
	c->group.state->push = c->group.push_va = va;
	c->group.state->colors.known = false;
	tsr_fragments_mix(c->group.fragments, &c->group.push[at]);
	return TSR_STEP_DONE;
}

/* The fragment program's, of a draw with @state. What is known of others' colors is of no use. */
static enum tsr_step change_push(struct tsr_tile_core *c, struct tsr_mem *mem,
				 struct tsr_tile_state *state)
{
	const uint64_t va = tsr_tile_push_va(c, c->prim.input.batch->fragment_push);
	enum tsr_step step = TSR_STEP_DONE;

	if (state->shades)
		step = tsr_tile_push_read(c, mem, va, state->fragment.program,
					  &c->group.fragments->run);
	if (state->push != va)
		state->colors.known = false;
	state->push = c->group.push_va = va;
	return step;
}

/* The states of the primitive's draw; the bundle is empty. */
static enum tsr_step change_draw(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	const struct tsr_batch *b = c->prim.input.batch;
	struct tsr_tile_state *state;
	enum tsr_step step = tsr_tile_end_queries(c, mem);

	if (step == TSR_STEP_DONE)
		step = tsr_tile_state_find(c, mem, b, &state);
	if (step == TSR_STEP_DONE)
		step = change_push(c, mem, state);
	if (step == TSR_STEP_DONE)
		step = tsr_tile_load_for(c, mem, state);
	if (step != TSR_STEP_DONE)
		return step;
	c->group.state = state;
	c->stats.queries.samples = b->samples_query;
	c->stats.queries.any = b->any_query;
	c->stats.queries.statistics = b->statistics_query;
	tsr_fragments_begin(c->group.fragments, &state->fragment);
	c->group.fragments->tile = &c->buffer.tile;
	c->prim.color.varying_read = false;
	return TSR_STEP_DONE;
}

/* Where the primitive is in the tile; false: nowhere. */
static bool begin_walk(struct tsr_tile_core *c)
{
	const struct tsr_tile_state *state = c->group.state;
	unsigned int viewport = c->prim.input.viewport;

	if (viewport >= state->fragment.draw.viewport_count)
		viewport = c->prim.input.viewport = 0;
	tsr_shape_set(&c->prim.shape, &c->prim.input, &state->rules,
		      &state->viewport[viewport].scissor);
	c->prim.has_plane = false;
	return tsr_walk_begin(&c->prim.walk, &c->prim.shape, &c->buffer.tile);
}

/*
 * Begin to rasterise the primitive that has been read; @few: it is number @n of the triangle set,
 * which is one of a few blocks.
 */
static void set_up(struct tsr_tile_core *c, bool few, unsigned int n)
{
	c->group.prim_index = -1;
	c->group.quad_block.again = false;
	/* the primitive before it, if it was carried into a bundle where none of its quads came */
	if (!c->group.fragments->quads)
		tsr_fragments_begin(c->group.fragments, &c->group.state->fragment);
	c->stats.count[TSR_TILE_PRIMITIVES]++;
	c->shader->mem.thread->path[TSR_PATH_TRIANGLES]++;
	c->prim.set.few = few;
	/* this set-up tests depth */
	if (few)
		tsr_tile_complete(c, c->buffer.alike);
	c->prim.walking = few ? tsr_tile_few_begin(c, n) : begin_walk(c);
	if (!c->prim.walking)
		return;
	tsr_tile_flat_begin(c);
	if (!few && tsr_tile_flat_paint(c))
		c->prim.walking = false;
	else
		tsr_tile_complete(c, c->buffer.alike);
}

/* Read triangles or, if these are none, a primitive. */
static enum tsr_step read_some(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	enum tsr_step step = tsr_tile_list_triangles(c->reader, mem, &c->prim.set.triangles);

	if (step == TSR_STEP_DONE && c->prim.set.triangles.count)
		tsr_tile_triangle(&c->prim.set.triangles, 0, &c->prim.input);
	else if (step == TSR_STEP_DONE)
		step = tsr_tile_list_next(c->reader, mem, &c->prim.input);
	c->prim.has_prim = step == TSR_STEP_DONE;
	return step;
}

/* Read a primitive if there is none, and begin with it, or have the bundle run before. */
static enum tsr_step next_primitive(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	enum tsr_step step = TSR_STEP_DONE;

	c->effort--;
	if (!c->prim.has_prim)
		step = read_some(c, mem);
	if (step != TSR_STEP_DONE)
		return step;
	if (!c->prim.input.vertices || !same_draw(c)) {
		const bool gathered = c->group.state && c->group.fragments->quads;

		if (gathered && !(c->prim.input.vertices && may_join(c))) {
			c->group.running = true;
			return TSR_STEP_MORE;
		}
		if (!c->prim.input.vertices) {
			c->prim.ended = true;
			return tsr_tile_end_queries(c, mem);
		}
		step = gathered ? join(c, mem) : change_draw(c, mem);
	}
	if (step != TSR_STEP_DONE)
		return step;
	c->prim.has_prim = false;
	if (c->prim.set.triangles.count)
		tsr_tile_small_begin(c);
	else
		set_up(c, false, 0);
	return TSR_STEP_MORE;
}

/* Draw triangles that have been read, up to one that is not small. */
static enum tsr_step draw_triangles(struct tsr_tile_core *c)
{
	while (c->prim.set.next_triangle < c->prim.set.triangles.count) {
		if (!tsr_tile_is_small(c)) {
			const bool few = tsr_tile_is_few(c);
			const unsigned int n = c->prim.set.next_triangle++;

			tsr_tile_triangle(&c->prim.set.triangles, n, &c->prim.input);
			set_up(c, few, n);
			return TSR_STEP_MORE;
		}
		tsr_tile_complete(c, c->buffer.alike);
		if (!tsr_tile_small_draw(c)) {
			c->group.running = true;
			return TSR_STEP_MORE;
		}
		if (c->effort <= 0)
			return TSR_STEP_MORE;
	}
	c->prim.set.triangles.count = 0;
	return TSR_STEP_MORE;
}

/* True if all that the block's pixels are in targets with absent blocks is going to be replaced. */
static bool replaces(const struct tsr_tile_core *c)
{
	unsigned int written = c->prim.color.flat ? c->prim.color.flat->written : UINT8_MAX;

	if (c->buffer.partial & ~(c->group.state->overwrites & written))
		return false;
	for (unsigned int s = 0; s < samples_of(c); s++) {
		if (c->prim.covered.mask[s] != UINT64_MAX)
			return false;
	}
	return true;
}

/*
 * The block's pixels on their way to be shaded: at once, or into the bundle, for which absent
 * blocks are loaded. TSR_STEP_MORE: the bundle has to be run first.
 */
static enum tsr_step shade_block(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	enum tsr_step step = TSR_STEP_DONE;
	bool waits = false;

	if (c->prim.quads_left && !c->prim.color.flat && !tsr_tile_flat_ask(c))
		return TSR_STEP_MORE;
	if (c->prim.quads_left && c->buffer.absent &&
	    (!replaces(c) || (c->prim.color.waits && !c->prim.color.flat)))
		step = tsr_tile_load_blocks(c, mem, tsr_tile_block_bit(c));
	if (step != TSR_STEP_DONE)
		return step;
	if (c->prim.quads_left && c->prim.color.flat)
		waits = !tsr_tile_flat_write(c);
	else if (c->prim.quads_left)
		waits = !tsr_tile_flat_defer(c) || !tsr_tile_block_shade(c);
	if (!waits && c->prim.quads_left && c->buffer.absent)
		step = tsr_tile_load_blocks(c, mem, tsr_tile_block_bit(c));
	if (step != TSR_STEP_DONE)
		return step;
	if (waits || !add_quads(c) || (c->prim.color.trial && c->group.prim_index >= 0))
		return TSR_STEP_MORE;
	return TSR_STEP_DONE;
}

/* One step of drawing; TSR_STEP_DONE: the tile's list has been drawn. */
static enum tsr_step draw(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	enum tsr_step step;

	if (c->group.running) {
		step = tsr_tile_run_bundle(c, mem);
		c->effort -= TSR_TILE_BUNDLE_EFFORT;
		return step == TSR_STEP_DONE ? TSR_STEP_MORE : step;
	}
	while (c->prim.walking) {
		step = shade_block(c, mem);
		if (step != TSR_STEP_DONE) {
			c->group.running = step == TSR_STEP_MORE;
			return step;
		}
		c->prim.walking = next_block(c);
		if (c->effort <= 0 || wanted(c))
			return TSR_STEP_MORE;
	}
	if (c->prim.ended)
		return tsr_tile_end_queries(c, mem);
	if (c->prim.set.triangles.count && !c->prim.has_prim)
		return draw_triangles(c);
	return next_primitive(c, mem);
}

static enum tsr_step begin_draw(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	enum tsr_step step;

	if (!c->render->has_heap)
		return tsr_list_fault(&c->list, mem, 0, TSR_FAULT_BAD_VALUE);
	step = tsr_tile_list_open(c->reader, mem, &c->render->heap, c->buffer.tile.layer,
				  c->buffer.column, c->buffer.row);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_tile_define(c);
	c->group.state = NULL;
	if (tsr_tile_list_ended(c->reader))
		return TSR_STEP_DONE;
	tsr_tile_fill_now(c, mem);
	c->prim.has_prim = c->prim.walking = c->prim.ended = c->group.running = false;
	c->prim.set.triangles.count = 0;
	c->prim.color.flat = NULL;
	c->prim.color.trial = false;
	c->prim.color.deferred_count = 0;
	c->prim.quads_left = 0;
	c->prim.samples_left = 0;
	memset(c->group.settled, 0, sizeof(c->group.settled));
	c->group.gathered = 0;
	memset(c->group.pending, 0, sizeof(c->group.pending));
	memset(&c->stats.queries, 0, sizeof(c->stats.queries));
	c->phase = TSR_TILE_DRAWING;
	return TSR_STEP_MORE;
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* Start the next tile of the LIST_TILES that the context can get; TSR_STEP_DONE: none is left. */
static enum tsr_step start_tile(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	struct tsr_rendering *r = c->render;
	const struct tsr_list_tiles *l = &r->tiles;
	uint32_t columns = l->x1 - l->x0 + 1, rows = l->y1 - l->y0 + 1;
	uint32_t side = 1u << r->info.frame.tile_shift;
	struct tsr_tile *t = &c->buffer.tile;
	enum tsr_step step;
	uint64_t n;

	tsr_env_next(mem->env, false, r->tile_count);
	if (!tsr_dispenser_ensure(&r->dispenser, &c->run))
		return TSR_STEP_DONE;
	step = tsr_tile_core_enter(c, mem);
	if (step != TSR_STEP_DONE)
		return step;
	n = c->run.next++;
	c->buffer.column = l->x0 + n % columns;
	c->buffer.row = l->y0 + n / columns % rows;
	t->layer = l->layer0 + n / columns / rows;
	t->x = c->buffer.column * side;
	t->y = c->buffer.row * side;
	t->width = r->info.frame.width - t->x < side ? r->info.frame.width - t->x : side;
	t->height = r->info.frame.height - t->y < side ? r->info.frame.height - t->y : side;
	c->buffer.defined = 0;
	c->buffer.unread = 0;
	c->buffer.alike = 0;
	c->buffer.partial = 0;
	c->buffer.absent = 0;
	c->buffer.stored = false;
	c->stats.count[TSR_TILE_TILES]++;
	tsr_list_start(&c->list, TSR_ENGINE_CLASS_RENDER, l->addr, l->size, true);
	c->phase = TSR_TILE_PACKET;
	return TSR_STEP_MORE;
}

/* Cycles the core has spent on packets, and on what they move and clear. */
static uint64_t packet_cycles(const struct tsr_tile_core *c)
{
	return c->stats.cycles +
	       (c->stats.count[TSR_TILE_LOAD_BYTES] + c->stats.count[TSR_TILE_STORE_BYTES]) / 64;
}

/* All cycles except those of programs and messages. */
static uint64_t work(const struct tsr_tile_core *c)
{
	return packet_cycles(c) + c->stats.count[TSR_TILE_PRIMITIVES] +
	       c->stats.count[TSR_TILE_BLOCKS];
}

/* Targets a TILE_ packet names. */
static unsigned int targets_of(const uint64_t *word)
{
	struct tsr_tile_clear p;

	tsr_unpack_tile_clear(word, &p);
	return p.colour | (p.depth ? TSR_TILE_DEPTH_BIT : 0) |
	       (p.stencil ? TSR_TILE_STENCIL_BIT : 0);
}

/* Execute the packet fetched. TSR_STEP_DONE: go on with the next one. */
static enum tsr_step execute(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	switch (tsr_packet_opcode(c->list.word[0])) {
	case TSR_OP_TILE_CLEAR:
		tsr_tile_clear(c, targets_of(c->list.word));
		return TSR_STEP_DONE;
	case TSR_OP_TILE_LOAD:
		return tsr_tile_ask(c, mem, targets_of(c->list.word));
	case TSR_OP_TILE_DRAW:
		return begin_draw(c, mem);
	case TSR_OP_TILE_STORE:
		if (!c->buffer.stored)
			c->buffer.stored_at = work(c);
		c->buffer.stored = true;
		return tsr_tile_store(c, mem, targets_of(c->list.word));
	default:
		/* LIST_TILES inside of a tile */
		return tsr_list_fault(&c->list, mem, 0, TSR_FAULT_BAD_VALUE);
	}
}

static enum tsr_step step_phase(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	enum tsr_step step;
	uint64_t before;

	if (c->phase == TSR_TILE_DRAWING) {
		step = draw(c, mem);
		if (step == TSR_STEP_DONE)
			c->phase = TSR_TILE_PACKET;
		return step == TSR_STEP_DONE ? TSR_STEP_MORE : step;
	}
	if (c->phase == TSR_TILE_FETCH && mem->env->drain)
		return tsr_tile_rest(c);
	if (c->phase == TSR_TILE_FETCH)
		return start_tile(c, mem);
	c->effort -= PACKET_EFFORT;
	if (c->phase == TSR_TILE_PACKET) {
		before = c->list.cycles;
		step = tsr_list_next(&c->list, mem);
		c->stats.cycles += c->list.cycles - before;
		if (step != TSR_STEP_DONE)
			return step;
		tsr_list_progress(&c->list);
		c->phase = TSR_TILE_EXECUTE;
		if (tsr_packet_opcode(c->list.word[0]) == TSR_OP_LIST_RETURN) {
			c->phase = TSR_TILE_FETCH;
			return TSR_STEP_MORE;
		}
		c->effort -= PACKET_EFFORT;
	}
	step = execute(c, mem);
	if (step == TSR_STEP_DONE)
		c->phase = TSR_TILE_PACKET;
	return step == TSR_STEP_DONE ? TSR_STEP_MORE : step;
}

static enum tsr_step step_tile(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	const uint64_t before = packet_cycles(c);
	const enum tsr_step step = step_phase(c, mem);

	c->effort -= (int32_t)(packet_cycles(c) - before);
	return step;
}

/* ---- Bursts ---------------------------------------------------------------------------------- */

/*
 * From its first store on to what comes after the stores, most often the tile's end, a core does
 * not stop: a tile in progress has left nothing in memory, see saved.c. That holds for tiles that
 * store what they have once; the guest's list may be endless, so the work it is good for has a
 * limit, which is part of TSR_STOP_WORK.
 */
static bool ending(const struct tsr_tile_core *c)
{
	return c->buffer.stored && (c->phase == TSR_TILE_PACKET || c->phase == TSR_TILE_EXECUTE) &&
	       work(c) - c->buffer.stored_at < ENDING_CYCLES;
}

/* Cycles that a work quantum may still use, and those that it used before. */
struct budget {
	uint64_t cycles;		/* of the slice, or what else the runner may spend */
	int32_t effort, shader;		/* not given to the core and the shader yet */
	uint64_t before;		/* work() */
};

static int32_t part_of(uint64_t cycles, int32_t most)
{
	return cycles < (uint64_t)most ? (int32_t)cycles + 1 : most;
}

static uint64_t cycles_of(const struct tsr_tile_core *c, const struct tsr_shader *sh,
			  const struct budget *b)
{
	return sh->stats.cycles + 1 + work(c) - b->before;
}

/*
 * A core gets an amount of work that cannot cost more cycles than are left, and usually costs less.
 * Between warp groups it gets more of the rest. A work quantum drops all translations.
 */
static bool go_on(struct tsr_tile_core *c, struct tsr_shader *sh, struct budget *b)
{
	const uint64_t spent = cycles_of(c, sh, b);
	const uint64_t left = b->cycles > spent ? b->cycles - spent : 0;
	int32_t effort, shader;

	if (c->effort > 0 && sh->effort > 0)
		return true;
	effort = c->effort > 0 ? 0 : part_of(left, b->effort);
	shader = sh->effort > 0 ? 0 : part_of(left / TSR_BUNDLE_WARPS, b->shader);
	b->effort -= effort;
	b->shader -= shader;
	c->effort += effort;
	sh->effort += shader;
	return left && !c->group.running && !c->vertices_running && c->effort > 0 && sh->effort > 0;
}

static enum tsr_burst burst_of(struct tsr_shader *sh, const struct tsr_mem *view,
			       struct tsr_tile_core *c,
			       enum tsr_step (*next)(struct tsr_tile_core *, struct tsr_mem *))
{
	const uint64_t loaded = c->stats.count[TSR_TILE_LOAD_BYTES];
	const uint64_t stored = c->stats.count[TSR_TILE_STORE_BYTES];
	struct budget b = { .cycles = view->thread->budget, .before = work(c) };
	struct tsr_mem mem = *view;
	enum tsr_step step;

	mem.unit = TSR_UNIT_TILE;
	c->shader = sh;
	c->group.quad_block.again = false;
	/* what was read ahead is no older than the burst */
	c->list.held = 0;
	c->effort = part_of(b.cycles, TSR_TILE_EFFORT);
	tsr_stage_enter(sh, &mem, c->job.index);
	b.effort = TSR_TILE_EFFORT - c->effort;
	b.shader = TSR_SHADER_BURST - sh->effort;
	do {
		step = next(c, &mem);
	} while (step == TSR_STEP_MORE &&
		 (ending(c) || (go_on(c, sh, &b) && !wanted(c))));
	tsr_tile_fill_now(c, &mem);
	tsr_stage_leave(sh);
	if (step == TSR_STEP_FAULT)
		sh->fault = mem.fault;
	sh->stats.cycles = cycles_of(c, sh, &b);
	sh->stats.read_bytes += c->stats.count[TSR_TILE_LOAD_BYTES] - loaded;
	sh->stats.write_bytes += c->stats.count[TSR_TILE_STORE_BYTES] - stored;
	tsr_mem_flush_dirty(mem.port);
	return step == TSR_STEP_MORE	? TSR_BURST_MORE :
	       step == TSR_STEP_DONE	? TSR_BURST_DONE :
	       step == TSR_STEP_PENDING ? TSR_BURST_STUCK :
					  TSR_BURST_FAULT;
}

enum tsr_burst tsr_tile_burst(struct tsr_shader *sh, const struct tsr_mem *mem,
			      struct tsr_work *work, struct tsr_job_core *core, bool again)
{
	(void)work;
	(void)again;
	return burst_of(sh, mem, (struct tsr_tile_core *)core, step_tile);
}

enum tsr_burst tsr_batch_burst(struct tsr_shader *sh, const struct tsr_mem *mem,
			       struct tsr_work *work, struct tsr_job_core *core, bool again)
{
	(void)work;
	(void)again;
	return burst_of(sh, mem, (struct tsr_tile_core *)core, tsr_tile_step_batch);
}
