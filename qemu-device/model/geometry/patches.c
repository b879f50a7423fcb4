/* SPDX-License-Identifier: MIT */
/* Hull shaders, the tessellator, domain shaders: see patches.h. */
#include "patches.h"

#include <stdlib.h>
#include <string.h>

#include "stages.h"

bool tsr_patches_begin(struct tsr_stages *stages)
{
	if (!stages->patches)
		stages->patches = calloc(1, sizeof(*stages->patches));
	return stages->patches;
}

void tsr_patches_input(struct tsr_binning *bin)
{
	bin->stages->input.count = bin->batch.primitives;
	bin->stages->input.points = bin->state->geometry->patch_points;
	bin->stages->patches->first = 0;
	bin->stages->patches->control.count = 0;
	bin->stages->next = TSR_NEXT_PATCHES;
}

/* Words of patch space that a shader with header @h sees. */
static unsigned int words_of(const struct tsr_stage_header *h)
{
	return h->patch_words ? 4u << h->patch_words : 0;
}

/* ---- Hull shaders ---------------------------------------------------------------------------- */

/* Threads of a patch, and lanes that they take. */
static unsigned int hull_threads(const struct tsr_stage_header *h)
{
	unsigned int threads = h->threads > h->extra_threads ? h->threads : h->extra_threads;

	return threads ? threads : 1;
}

static unsigned int hull_lanes(const struct tsr_stage_header *h)
{
	const unsigned int threads = hull_threads(h);

	return h->independent ? threads : (threads + TSR_WARP_LANES - 1) & -TSR_WARP_LANES;
}

/* Have the next patches of the batch in @p->control, as many as run at once. */
static void gather(struct tsr_binning *bin, struct tsr_patches *p)
{
	const struct tsr_stage_list *from = &bin->stages->input;
	const struct tsr_stage_header *h = &bin->stages->header[TSR_STAGE_HULL];
	const unsigned int most = TSR_BATCH_VERTICES /
				  (bin->state->geometry->hull ? hull_lanes(h) : 1);
	const unsigned int left = from->count - p->first, n = left < most ? left : most;
	struct tsr_stage_list *to = &p->control;

	to->count = (uint16_t)n;
	to->points = from->points;
	for (unsigned int i = 0; i < n; i++) {
		to->id[i] = from->id[p->first + i];
		to->instance[i] = from->instance[p->first + i];
		memcpy(to->slot[i], from->slot[p->first + i], sizeof(to->slot[i]));
		for (unsigned int k = 0; k < TSR_PATCH_FIRST + TSR_PATCH_WORDS_MAX; k++)
			p->patch[i].word[k] = TSR_STAGE_LEFTOVER;
	}
	p->at = 0;
	p->begun = false;
	tsr_bin_spend(bin, n);
}

/* Thread @n of the group is thread @thread of patch @patch, and writes to @slot. */
static void set_thread(struct tsr_binning *bin, unsigned int n, unsigned int patch,
		       unsigned int thread, unsigned int slot)
{
	const struct tsr_stage_list *list = &bin->stages->patches->control;
	struct tsr_stage_group *g = &bin->stages->group;

	g->primitive[n] = (uint8_t)patch;
	g->thread[n] = (uint16_t)thread;
	g->live[n / TSR_WARP_LANES] |= 1u << n % TSR_WARP_LANES;
	bin->run->vertex[n] = list->id[patch];
	bin->run->instance[n] = list->instance[patch];
	bin->run->slot[n] = (uint16_t)slot;
}

static void prepare_hull(struct tsr_binning *bin, struct tsr_patches *p)
{
	const struct tsr_stage_header *h = &bin->stages->header[TSR_STAGE_HULL];
	const unsigned int lanes = hull_lanes(h), threads = hull_threads(h);

	memset(bin->stages->group.live, 0, sizeof(bin->stages->group.live));
	for (unsigned int i = 0; i < p->control.count * lanes; i++) {
		const unsigned int patch = i / lanes, thread = i % lanes;

		bin->run->slot[i] = TSR_STAGE_NO_SLOT;
		bin->stages->group.primitive[i] = (uint8_t)patch;
		if (thread < threads)
			set_thread(bin, i, patch, thread, thread < h->threads ?
				   patch * h->threads + thread : TSR_STAGE_NO_SLOT);
	}
	bin->run->threads = p->control.count * lanes;
	bin->stages->stage = TSR_STAGE_HULL;
}

/* Control points are those that hull shaders have made, if they do. */
static void set_control_points(struct tsr_binning *bin, struct tsr_patches *p)
{
	const unsigned int points = bin->stages->header[TSR_STAGE_HULL].threads;

	bin->stat[TSR_BIN_HULL_PATCHES] += p->control.count;
	if (!points)
		return;
	p->control.points = (uint8_t)points;
	for (unsigned int i = 0; i < p->control.count; i++) {
		for (unsigned int k = 0; k < points; k++)
			p->control.slot[i][k] = (uint8_t)(i * points + k);
	}
}

/* No hull shader: the factors of the state, and no other words. */
static void set_factors(const struct tsr_geometry_state *g, struct tsr_patches *p)
{
	const uint32_t factor[TSR_PATCH_FACTORS] = { g->factor_0, g->factor_1, g->factor_2,
						     g->factor_3, g->factor_4, g->factor_5 };

	for (unsigned int i = 0; i < p->control.count; i++) {
		memset(&p->patch[i], 0, sizeof(p->patch[i]));
		memcpy(p->patch[i].word, factor, sizeof(factor));
	}
}

static enum tsr_geometry_step next_patches(struct tsr_binning *bin, struct tsr_patches *p)
{
	struct tsr_stages *s = bin->stages;

	p->first += p->control.count;
	if (p->first >= s->input.count) {
		s->next = TSR_NEXT_NOTHING;
		return TSR_GEOMETRY_AGAIN;
	}
	gather(bin, p);
	s->next = TSR_NEXT_POINTS;
	if (!bin->state->geometry->hull) {
		set_factors(bin->state->geometry, p);
		return TSR_GEOMETRY_AGAIN;
	}
	prepare_hull(bin, p);
	return TSR_GEOMETRY_SHADE;
}

/* ---- The tessellator ------------------------------------------------------------------------- */

/* Begin to divide patch @p->at. False: it is culled. */
static bool begin_patch(struct tsr_binning *bin, struct tsr_patches *p)
{
	const struct tsr_geometry_state *g = bin->state->geometry;
	float factor[TSR_PATCH_FACTORS];

	memcpy(factor, p->patch[p->at].word, sizeof(factor));
	if (!tsr_tess_begin(&p->division, (enum tsr_tess_shape)g->shape,
			    (enum tsr_tess_partitioning)g->partitioning, factor)) {
		bin->stat[TSR_BIN_PATCHES_CULLED]++;
		return false;
	}
	tsr_tess_first(&p->division, &p->walk);
	p->begun = true;
	p->held = false;
	p->point = 0;
	return true;
}

/* The stamp of points of another patch, or of another block. */
static void next_stamp(struct tsr_patches *p)
{
	if (++p->now)
		return;
	memset(p->stamp, 0, sizeof(p->stamp));
	p->now = 1;
}

/* The corners of the patch's next primitive. False: there is none. */
static bool next_primitive(const struct tsr_geometry_state *g, struct tsr_patches *p,
			   unsigned int *corners)
{
	bool more;

	*corners = g->primitives + 1u;
	if (p->held)
		return true;
	if (g->primitives == TSR_PATCH_PRIMITIVES_POINTS) {
		p->corner[0] = p->point;
		more = p->point < p->division.points;
		p->point += more;
	} else {
		more = tsr_tess_next(&p->division, &p->walk, p->corner);
	}
	if (more && *corners == 3 && g->reversed) {
		const uint16_t last = p->corner[2];

		p->corner[2] = p->corner[1];
		p->corner[1] = last;
	}
	p->held = more;
	return more;
}

/* The slot of point @point of patch @p->at. */
static unsigned int slot_of(struct tsr_binning *bin, struct tsr_patches *p, unsigned int point)
{
	struct tsr_bin_batch *b = &bin->batch;

	if (p->stamp[point] == p->now)
		return p->slot[point];
	p->stamp[point] = p->now;
	p->slot[point] = (uint8_t)b->vertices;
	tsr_tess_point(&p->division, point, bin->stages->group.at[b->vertices]);
	set_thread(bin, b->vertices, p->at, point, b->vertices);
	return b->vertices++;
}

/* The primitive in @p->corner joins the block. False: it finds no room. */
static bool add_primitive(struct tsr_binning *bin, struct tsr_patches *p, unsigned int corners)
{
	struct tsr_bin_batch *b = &bin->batch;
	const unsigned int provoking = bin->state->draw->provoking_last ? corners - 1 : 0;
	unsigned int fresh = 0;
	uint64_t word = (uint64_t)p->control.id[p->at] << 32 |
			(uint64_t)corners << TSR_HEAP_PRIMITIVE_VERTICES__SHIFT |
			(uint64_t)provoking << TSR_HEAP_PRIMITIVE_PROVOKING__SHIFT;

	for (unsigned int i = 0; i < corners; i++)
		fresh += p->stamp[p->corner[i]] != p->now;
	if (b->primitives == TSR_STAGE_PRIMITIVES(bin) ||
	    b->vertices + fresh > TSR_BATCH_VERTICES)
		return false;
	for (unsigned int i = 0; i < corners; i++)
		word |= (uint64_t)slot_of(bin, p, p->corner[i]) << 8 * i;
	b->primitive[b->primitives++] = word;
	p->held = false;
	return true;
}

/*
 * Primitives of patch after patch, as many as find room in a block. A block is at most some
 * hundred points and primitives, so this is a step.
 */
static void fill_block(struct tsr_binning *bin, struct tsr_patches *p)
{
	struct tsr_bin_batch *b = &bin->batch;
	unsigned int corners;

	b->vertices = b->primitives = b->next = 0;
	b->vertex_data = 0;
	memset(bin->stages->group.live, 0, sizeof(bin->stages->group.live));
	next_stamp(p);
	while (p->at < p->control.count) {
		bool full = false;

		tsr_bin_spend(bin, 1);
		if (p->begun || begin_patch(bin, p)) {
			while (!full && next_primitive(bin->state->geometry, p, &corners))
				full = !add_primitive(bin, p, corners);
		}
		if (full)
			break;
		p->at++;
		p->begun = false;
		next_stamp(p);
	}
	bin->run->threads = b->vertices;
	bin->stages->stage = TSR_STAGE_DOMAIN;
	tsr_bin_spend(bin, b->vertices + b->primitives);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

void tsr_patches_bind(struct tsr_binning *bin)
{
	struct tsr_stages *s = bin->stages;
	const struct tsr_stage_header *h = &s->header[s->stage];
	const bool hull = s->stage == TSR_STAGE_HULL;
	struct tsr_stage_group *g = &s->group;
	struct tsr_patches *p = s->patches;

	g->in = hull || !s->header[TSR_STAGE_HULL].threads ? &s->vertex : &p->points;
	g->list = &p->control;
	g->patch = p->patch;
	g->patch_words = words_of(h);
	g->points = hull ? h->threads : 0;
	g->trap = h->trap_handles;
	g->triangle = bin->state->geometry->shape == TSR_PATCH_SHAPE_TRIANGLE;
	bin->run->group = g;
	bin->run->block = hull ? &p->points : &p->domain;
	tsr_stage_block_begin(bin->run->block,
			      hull ? p->control.count * h->threads : bin->run->threads);
}

void tsr_patches_shaded(struct tsr_binning *bin)
{
	if (bin->stages->stage == TSR_STAGE_HULL) {
		set_control_points(bin, bin->stages->patches);
		return;
	}
	bin->stat[TSR_BIN_DOMAIN_INVOCATIONS] += bin->run->threads;
	bin->stages->next = TSR_NEXT_BLOCK;
}

enum tsr_geometry_step tsr_patches_next(struct tsr_binning *bin)
{
	struct tsr_patches *p = bin->stages->patches;

	if (bin->stages->next == TSR_NEXT_PATCHES)
		return next_patches(bin, p);
	fill_block(bin, p);
	if (bin->batch.primitives)
		return TSR_GEOMETRY_SHADE;
	bin->stages->next = TSR_NEXT_PATCHES;
	return TSR_GEOMETRY_AGAIN;
}
