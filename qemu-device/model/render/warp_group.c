/* SPDX-License-Identifier: MIT */
/* Bundles of fragments: running them, late tests, queries, output. */
#include <string.h>

#include "memory/mem.h"
#include "render.h"
#include "tsr_samples.h"
#include "tile.h"

/* ---- Depth ----------------------------------------------------------------------------------- */

/* A depth that is equal everywhere. */
static void even_depth(const struct tsr_tile_plane *plane, const struct tsr_zs *zs,
		       float z[TSR_BLOCK_PIXELS])
{
	double t = plane->base > plane->low ? plane->base : plane->low;

	t = t < plane->high ? t : plane->high;
	if (zs->scale != 0)
		t = (t * zs->scale + 0x1.8p52) - 0x1.8p52;
	for (unsigned int i = 0; i < TSR_BLOCK_PIXELS; i++)
		z[i] = (float)t;
}

void tsr_tile_depth(const struct tsr_tile_core *c, const struct tsr_tile_plane *plane,
		    const struct tsr_zs *zs, unsigned int block_x, unsigned int block_y,
		    unsigned int s, uint64_t mask, float z[TSR_BLOCK_PIXELS])
{
	const int8_t *at = plane->center ? tsr_sample_position[0][0]
					 : tsr_sample_position[c->buffer.tile.samples_log2][s];
	const unsigned int sixteenth = TSR_SUBPIXEL_BITS - 4;
	int64_t x = (int64_t)(c->buffer.tile.x + block_x) * (1 << TSR_SUBPIXEL_BITS) +
		    (at[0] << sixteenth);
	int64_t y = (int64_t)(c->buffer.tile.y + block_y) * (1 << TSR_SUBPIXEL_BITS) +
		    (at[1] << sixteenth);
	struct tsr_fine_depth d = {
		.base = plane->base, .low = plane->low, .high = plane->high, .scale = zs->scale,
	};

	/* what is added to a base of 0 may have a sign */
	if (plane->k[0] == 0 && plane->k[1] == 0 && plane->base != 0) {
		even_depth(plane, zs, z);
		return;
	}
	for (unsigned int i = 0; i < 2; i++) {
		const struct tsr_edge *e = &plane->e[i];

		/* integers below 2^53 all of them, so that nothing is rounded */
		d.k[i] = plane->k[i];
		d.c[i] = e->c + e->a * x + e->b * y;
		d.a[i] = (int64_t)e->a * (1 << TSR_SUBPIXEL_BITS);
		d.b[i] = (int64_t)e->b * (1 << TSR_SUBPIXEL_BITS);
	}
	c->render->fine->depth(&d, mask, z);
}

/* ---- Late tests ------------------------------------------------------------------------------ */

/* Quads of a bundle that are tested together, or some of their fragments: see @lanes. */
struct group {
	const uint16_t *lanes;		/* of each warp, that are to be tested */
	unsigned int first, end;	/* of one primitive, in one block */
	unsigned int x, y;		/* of the block, in the tile */
	uint64_t mask[TSR_SAMPLES_MAX];
};

/* Place in its block of pixel 0 of quad @n. */
static unsigned int quad_place(const struct tsr_tile *t, const struct tsr_fragments *f,
			       unsigned int n)
{
	return tsr_block_pixel((f->quad[n].x - t->x) & 7, (f->quad[n].y - t->y) & 7);
}

static uint32_t *coverage_of(struct tsr_fragments *f, unsigned int n)
{
	return &f->coverage[n / 4].u[n % 4 * 4];
}

/* Pixels of quad @n, a bit each, that are among @lanes. */
static unsigned int pixels_of(const uint16_t *lanes, unsigned int n)
{
	return lanes[n / 4] >> n % 4 * 4 & 15;
}

/* True if pixel @p of quad @n of the group is tested, and has written @lanes. */
static bool replaces(const struct group *g, const uint16_t *lanes, unsigned int n, unsigned int p)
{
	return pixels_of(g->lanes, n) & pixels_of(lanes, n) & 1u << p;
}

/* The group of @lanes that begins with quad @first. */
static void find_group(const struct tsr_tile_core *c, struct tsr_fragments *f, unsigned int first,
		       const uint16_t *lanes, struct group *g)
{
	const struct tsr_tile *t = &c->buffer.tile;
	unsigned int samples = 1u << t->samples_log2;

	memset(g->mask, 0, samples * sizeof(g->mask[0]));
	g->lanes = lanes;
	g->first = first;
	g->x = (f->quad[first].x - t->x) & ~7u;
	g->y = (f->quad[first].y - t->y) & ~7u;
	for (g->end = first; g->end < f->quads; g->end++) {
		const uint32_t *coverage = coverage_of(f, g->end);
		unsigned int at;

		if (f->quad[g->end].prim != f->quad[first].prim ||
		    ((f->quad[g->end].x - t->x) & ~7u) != g->x ||
		    ((f->quad[g->end].y - t->y) & ~7u) != g->y)
			break;
		at = quad_place(t, f, g->end);
		for (unsigned int left = pixels_of(lanes, g->end); left; left &= left - 1) {
			unsigned int p = __builtin_ctz(left);

			for (unsigned int s = 0; s < samples; s++)
				g->mask[s] |= (uint64_t)(coverage[p] >> s & 1) << (at + p);
		}
	}
}

/*
 * Depths of sample @s. With SAMPLE_SHADING a pixel has several fragments, each of which writes the
 * depth (below: the stencil value) of its sample alone.
 */
static void replace_depths(struct tsr_tile_core *c, const struct group *g, unsigned int s,
			   float *z)
{
	struct tsr_fragments *f = c->group.fragments;

	for (unsigned int n = g->first; n < g->end; n++) {
		unsigned int at = quad_place(&c->buffer.tile, f, n);

		for (unsigned int p = 0; p < 4; p++) {
			unsigned int lane = n % 4 * 4 + p;

			if (replaces(g, f->depth_written, n, p) && coverage_of(f, n)[p] >> s & 1)
				z[at + p] = tsr_tile_written_depth(
					&c->group.state->zs, &c->group.plane[f->quad[n].prim],
					f->depth[n / 4].f[lane]);
		}
	}
}

static void find_references(struct tsr_tile_core *c, const struct group *g, unsigned int s,
			    uint8_t constant, uint8_t *reference)
{
	struct tsr_fragments *f = c->group.fragments;

	memset(reference, constant, TSR_BLOCK_PIXELS);
	for (unsigned int n = g->first; n < g->end; n++) {
		unsigned int at = quad_place(&c->buffer.tile, f, n);

		for (unsigned int p = 0; p < 4; p++) {
			unsigned int lane = n % 4 * 4 + p;

			if (replaces(g, f->stencil_written, n, p) && coverage_of(f, n)[p] >> s & 1)
				reference[at + p] = f->stencil[n / 4].u[lane];
		}
	}
}

static void keep(struct tsr_tile_core *c, const struct group *g, const uint64_t *pass)
{
	struct tsr_fragments *f = c->group.fragments;
	unsigned int samples = 1u << c->buffer.tile.samples_log2;

	for (unsigned int n = g->first; n < g->end; n++) {
		uint32_t *coverage = coverage_of(f, n);
		unsigned int at = quad_place(&c->buffer.tile, f, n);

		for (unsigned int pixels = pixels_of(g->lanes, n); pixels; pixels &= pixels - 1) {
			unsigned int p = __builtin_ctz(pixels);
			uint32_t left = 0;

			for (unsigned int s = 0; s < samples; s++)
				left |= (uint32_t)(pass[s] >> (at + p) & 1) << s;
			coverage[p] &= left;
		}
	}
}

static void test_group(struct tsr_tile_core *c, const struct group *g)
{
	const struct tsr_shader_state *shader = &c->group.state->fragment.shader;
	const struct tsr_zs *zs = &c->group.state->zs;
	struct tsr_fragments *f = c->group.fragments;
	unsigned int prim = f->quad[g->first].prim;
	float z[TSR_BLOCK_PIXELS] __attribute__((aligned(64)));
	uint8_t reference[TSR_BLOCK_PIXELS];
	uint64_t pass[TSR_SAMPLES_MAX];
	struct tsr_zs_block b = {
		.block = tsr_tile_block(&c->buffer.tile, g->x, g->y),
		.front = f->prim[prim].prim.front, .write = true, .z = z,
		.reference = shader->writes_stencil ? reference : NULL,
	};

	for (unsigned int s = 0; s < 1u << c->buffer.tile.samples_log2; s++) {
		pass[s] = 0;
		if (!g->mask[s])
			continue;
		if (zs->depth_test)
			tsr_tile_depth(c, &c->group.plane[prim], zs, g->x, g->y, s, g->mask[s], z);
		if (shader->writes_depth && shader->depth_layout != TSR_DEPTH_LAYOUT_UNCHANGED)
			replace_depths(c, g, s, z);
		if (shader->writes_stencil)
			find_references(c, g, s, zs->face[b.front].reference, reference);
		b.sample = s;
		pass[s] = tsr_zs_test(&c->buffer.tile, c->render->fine, zs, &b, g->mask[s]);
	}
	keep(c, g, pass);
}

static void test_lanes(struct tsr_tile_core *c, const uint16_t lanes[TSR_BUNDLE_WARPS])
{
	struct group g;

	for (unsigned int n = 0; n < c->group.fragments->quads; n = g.end) {
		g.end = n + 1;
		if (!pixels_of(lanes, n))
			continue;
		find_group(c, c->group.fragments, n, lanes, &g);
		test_group(c, &g);
	}
}

/* ---- Alpha to coverage ----------------------------------------------------------------------- */

/* Take the samples that alpha of target 0 does not want from @lanes that have a color. */
static void thin_out(struct tsr_tile_core *c, const uint16_t lanes[TSR_BUNDLE_WARPS])
{
	struct tsr_fragments *f = c->group.fragments;

	for (unsigned int n = 0; n < f->quads * 4; n++) {
		const struct tsr_fragment_quad *quad = &f->quad[n / 4];
		unsigned int w = n / TSR_WARP_LANES, lane = n % TSR_WARP_LANES;
		const union tsr_lanes *color = tsr_fragments_color(f, 0, 0, w);
		float alpha;

		if (!(f->written[0][w] & lanes[w] & 1u << lane))
			continue;
		alpha = tsr_output_alpha(&c->group.state->output[0], color, TSR_BUNDLE_WARPS, lane);
		f->coverage[w].u[lane] &=
			tsr_alpha_coverage(alpha, 1u << c->buffer.tile.samples_log2,
					   quad->x + (n & 1), quad->y + (n >> 1 & 1));
	}
}

/* ---- What the program has left --------------------------------------------------------------- */

static void settle(struct tsr_tile_core *c, const uint16_t lanes[TSR_BUNDLE_WARPS])
{
	enum tsr_zs_when when = c->group.state->zs.when;

	if (c->group.state->fragment.draw.alpha_to_coverage && !c->group.state->output[0].off)
		thin_out(c, lanes);
	if (when == TSR_ZS_LATE || when == TSR_ZS_LATE_REJECT)
		test_lanes(c, lanes);
}

void tsr_tile_settle(struct tsr_tile *t, unsigned int w, uint16_t lanes)
{
	struct tsr_tile_core *c = t->core;
	uint16_t settled[TSR_BUNDLE_WARPS] = { 0 };

	settled[w] = lanes & ~c->group.settled[w];
	c->group.settled[w] |= lanes;
	if (settled[w])
		settle(c, settled);
}

/* Settles all fragments that are left. */
static void settle_rest(struct tsr_tile_core *c)
{
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++)
		c->group.settled[w] = ~c->group.settled[w];
	settle(c, c->group.settled);
	memset(c->group.settled, 0, sizeof(c->group.settled));
}

/* ---- Output ---------------------------------------------------------------------------------- */

typedef uint32_t words __attribute__((vector_size(64), may_alias));
typedef uint16_t halves __attribute__((vector_size(32)));

/* Samples of warp @w's lanes that BLEND @rt writes; false: none. */
static bool find_samples(const struct tsr_fragments *f, unsigned int rt, unsigned int w,
			 unsigned int quads, struct tsr_output_warp *out)
{
	static const words weight = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192,
				      16384, 32768 };
	uint32_t lanes = f->written[rt][w] & ((1u << quads * 4) - 1);
	words samples = *(const words *)&f->coverage[w] &
			*(const words *)&f->blend_coverage_at[rt][w];
	halves narrow;

	if (lanes != 0xffff)
		samples &= (words)((weight & lanes) == weight);
	narrow = __builtin_convertvector(samples, halves);
	memcpy(out->samples, &narrow, sizeof(narrow));
	return lanes;
}

static void write_warp(struct tsr_tile_core *c, unsigned int w)
{
	const struct tsr_fragments *f = c->group.fragments;
	unsigned int quads = f->quads - w * 4 < 4 ? f->quads - w * 4 : 4;
	struct tsr_output_warp out = { .step = TSR_BUNDLE_WARPS };

	for (unsigned int q = 0; q < TSR_WARP_LANES / 4; q++) {
		out.x[q] = q < quads ? f->quad[w * 4 + q].x - c->buffer.tile.x : 0;
		out.y[q] = q < quads ? f->quad[w * 4 + q].y - c->buffer.tile.y : 0;
	}
	for (unsigned int rt = 0; rt < c->buffer.tile.targets; rt++) {
		const struct tsr_output *output = &c->group.state->output[rt];
		bool second = f->written[TSR_RENDER_TARGETS_MAX][w];

		if (output->off || !f->written[rt][w] || !find_samples(f, rt, w, quads, &out))
			continue;
		out.color = tsr_fragments_color(f, rt, 0, w);
		out.second = second ? tsr_fragments_color(f, TSR_RENDER_TARGETS_MAX, 0, w) : NULL;
		tsr_output_write(output, &c->buffer.tile.color[rt], &out);
	}
}

static void count_passed(struct tsr_tile_core *c)
{
	const struct tsr_fragments *f = c->group.fragments;

	for (unsigned int n = 0; n < f->quads * 4; n++)
		c->stats.queries.passed += __builtin_popcount(f->coverage[n / 16].u[n % 16]);
}

/* ---- The bundle ------------------------------------------------------------------------------ */

static void forget_pending(struct tsr_tile_core *c)
{
	const struct tsr_fragments *f = c->group.fragments;

	for (unsigned int n = 0; n < f->quads; n++)
		c->group.pending[(f->quad[n].y - c->buffer.tile.y) >> 1] &=
			~(1u << ((f->quad[n].x - c->buffer.tile.x) >> 1));
}

enum tsr_step tsr_tile_run_bundle(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	struct tsr_fragments *f = c->group.fragments;
	struct tsr_shader *sh = c->shader;
	uint64_t before = sh->stats.fragments;
	enum tsr_step step;
	bool deferred = c->prim.color.deferred_count;

	c->group.quad_block.again = false;
	step = tsr_fragment_run(sh, f);
	c->stats.queries.fragments += sh->stats.fragments - before;
	if (step == TSR_STEP_FAULT)
		mem->fault = sh->fault;
	if (step != TSR_STEP_DONE)
		return step;
	settle_rest(c);
	if (!c->group.state->count_early && (c->stats.queries.samples || c->stats.queries.any))
		count_passed(c);
	if (c->prim.color.deferred_count)
		tsr_tile_flat_write_deferred(c);
	for (unsigned int w = 0; !deferred && w * 4 < f->quads; w++)
		write_warp(c, w);
	if (c->group.state->ordered)
		forget_pending(c);
	c->stats.count[TSR_TILE_BUNDLES]++;
	if (c->prim.walking)
		tsr_tile_flat_look(c);
	c->group.gathered = 0;
	c->prim.color.varying_read = false;
	c->group.running = false;
	if (c->prim.walking && c->group.prim_index >= 0) {
		c->group.plane[0] = c->group.plane[c->group.prim_index];
		tsr_fragments_continue(f, c->group.prim_index);
		c->group.prim_index = 0;
	} else {
		tsr_fragments_begin(f, &c->group.state->fragment);
		c->group.prim_index = -1;
	}
	return TSR_STEP_DONE;
}

/* ---- Queries --------------------------------------------------------------------------------- */

enum tsr_step tsr_tile_end_queries(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	struct tsr_tile_queries *q = &c->stats.queries;
	enum tsr_step step = TSR_STEP_DONE;

	if (q->any && q->passed)
		step = tsr_mem_store(mem, q->any, true, 1);
	if (step == TSR_STEP_DONE && q->samples && q->passed)
		step = tsr_mem_add(mem, q->samples, true, q->passed);
	if (step != TSR_STEP_DONE)
		return step;
	q->passed = 0;
	if (q->statistics && q->fragments)
		step = tsr_mem_add(mem,
				   q->statistics +
					   8 * TSR_PIPELINE_STATISTICS_FRAGMENT_INVOCATIONS__QWORD,
				   true, q->fragments);
	if (step == TSR_STEP_DONE)
		q->fragments = 0;
	return step;
}
