/* SPDX-License-Identifier: MIT */
#include "tex_warp.h"

#include "alu.h"
#include "tex_mode.h"

#define LANES TSR_WARP_LANES
#define QUAD 4u

const struct tsr_texture_path *tsr_texture_path(const char *name)
{
#ifdef __x86_64__
	if (name && !strcmp(name, "avx512"))
		return &tsr_texture_avx512;
	if (name && !strcmp(name, "avx2"))
		return &tsr_texture_avx2;
#endif
	return name && !strcmp(name, "sse2") ? &tsr_texture_sse2 : NULL;
}

/* What is found out about the lanes of a warp. */
struct lanes {
	struct tsr_texture_job *job;
	struct tsr_msg_env *env;
	struct tsr_texture_warp *warp;
	struct tsr_texture_view *view;
	const struct tsr_sampler_view *sampler;
	uint16_t all;			/* lanes to be sampled that have a layer */
	uint16_t rest;			/* of them: for msg_filter.c */
	uint16_t mixed;			/* of them: between two levels */
	bool alike;			/* all of them have the same @where */
	unsigned int most;		/* most places of a lane */
	/* Of each lane; of @axis, if it has several places: */
	uint8_t places[LANES];
	int lod[LANES];			/* bias and clamps applied */
	/* which level: lanes with the same numbers are looked up together */
	uint32_t where[LANES];		/* slice << 8 | near << 7 | level */
	float weight[LANES] __attribute__((aligned(64)));	/* of the next level */
	float axis[2][LANES];
};

#define WHERE_NEAR 0x80u
#define WHERE_SLICE 8

static struct tsr_lookup lookup_of(const struct lanes *s, unsigned int lane)
{
	const struct tsr_texture_warp *w = s->warp;

	return (struct tsr_lookup){
		.env = s->env, .texture = s->view, .sampler = s->sampler,
		.at = { w->s[lane], w->t[lane] },
		.face = s->job->dimension == TSR_TEXTURE_DIMENSION_CUBE ? w->face[lane] : 0,
	};
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* The slice of a lane; false: it has none. */
static bool find_slice(const struct lanes *s, unsigned int lane, uint32_t *slice)
{
	const struct tsr_texture_warp *w = s->warp;
	bool cube = s->job->dimension == TSR_TEXTURE_DIMENSION_CUBE;
	uint32_t layers = s->view->layers / (cube ? TSR_CUBE_FACES : 1);
	uint32_t layer = w->layer ? w->layer[lane] : 0;

	if (layer >= layers && s->sampler->s.clamp_layer)
		layer = layers - 1;
	*slice = cube ? layer * TSR_CUBE_FACES + w->face[lane] : layer;
	return layer < layers;
}

static void set_levels(struct lanes *s, unsigned int lane, const struct tsr_footprint *f, int lod,
		       const struct tsr_levels *levels)
{
	s->lod[lane] = lod;
	s->places[lane] = levels->near ? 1 : (uint8_t)f->places;
	if (s->places[lane] > s->most)
		s->most = s->places[lane];
	s->axis[0][lane] = f->axis[0];
	s->axis[1][lane] = f->axis[1];
	s->where[lane] = levels->level | (levels->near ? WHERE_NEAR : 0);
	s->weight[lane] = levels->weight;
	s->mixed |= (uint16_t)((levels->weight != 0) << lane);
}

/* The levels of a quad's lanes. */
static void quad_levels(struct lanes *s, unsigned int first)
{
	const struct tsr_texture_warp *w = s->warp;
	const struct tsr_sampler *sampler = &s->sampler->s;
	unsigned int present = w->present >> first & 15;
	unsigned int lanes = s->all >> first & 15, mode = s->job->mode;
	struct tsr_footprint f = { .places = 1 };

	if (lanes && (mode == TSR_TEXTURE_LOD_COMPUTED || mode == TSR_TEXTURE_LOD_BIAS)) {
		struct tsr_lookup l[QUAD];
		float ddx[3], ddy[3];

		for (unsigned int i = 0; i < QUAD; i++) {
			if (present >> i & 1)
				l[i] = lookup_of(s, first + i);
		}
		tsr_filter_derivatives(l, present, ddx, ddy);
		tsr_footprint(s->view, s->sampler, ddx, ddy, &f);
	}
	for (; lanes; lanes &= lanes - 1) {
		unsigned int lane = first + (unsigned int)__builtin_ctz(lanes);
		int lod = tsr_lod_staged(s->view, sampler, mode, w->lod ? w->lod[lane] : 0,
					 f.lod);
		struct tsr_levels levels = tsr_lod_levels(s->view, sampler, lod);
		uint32_t slice;

		set_levels(s, lane, &f, lod, &levels);
		if (find_slice(s, lane, &slice))
			s->where[lane] |= slice << WHERE_SLICE;
		else
			s->all &= ~(1u << lane);
	}
}

static void any_levels(struct lanes *s)
{
	uint32_t here;

	s->all = s->warp->lanes;
	for (unsigned int first = 0; first < LANES; first += QUAD)
		quad_levels(s, first);
	s->mixed &= s->all;
	here = s->all ? s->where[__builtin_ctz(s->all)] : 0;
	for (uint16_t left = s->all; left && s->alike; left &= left - 1)
		s->alike = s->where[__builtin_ctz(left)] == here;
}

/* The same number in the lanes of a quad. */
#define SPREAD(to, x) ((to)[0] = (to)[1] = (to)[2] = (to)[3] = (x))

/*
 * Whether this is what most messages are: whole warps of fragments with a 2D texture or one face of
 * a cube.
 */
static bool is_plain(const struct lanes *s)
{
	const struct tsr_texture_warp *w = s->warp;
	unsigned int differ = 0;

	if (w->lod || w->layer || w->present != TSR_ALL_LANES || w->lanes != TSR_ALL_LANES)
		return false;
	for (unsigned int i = 0; i < LANES && s->job->dimension == TSR_TEXTURE_DIMENSION_CUBE; i++)
		differ |= w->face[i] ^ w->face[0];
	return !differ;
}

/* The slice of such a message. */
static uint32_t plain_slice(const struct lanes *s)
{
	return s->job->dimension == TSR_TEXTURE_DIMENSION_CUBE ? s->warp->face[0] : 0;
}

/* The footprint of its quad @q, from the squares of the lengths of its derivatives. */
static void plain_footprint(const struct lanes *s, unsigned int q, float x, float y,
			    struct tsr_footprint *f)
{
	const float *c[2] = { s->warp->s + QUAD * q, s->warp->t + QUAD * q };
	float ddx[2] = { 0 }, ddy[2] = { 0 };

	for (unsigned int d = 0; d < 2 && s->sampler->anisotropy > 1; d++) {
		ddx[d] = c[d][1] - c[d][0];
		ddy[d] = c[d][2] - c[d][0];
	}
	tsr_footprint_squares(s->view, s->sampler, x, y, ddx, ddy, f);
}

/* The levels of such a message. */
static void plain_levels(struct lanes *s)
{
	const struct tsr_texture_warp *w = s->warp;
	const struct tsr_sampler *sampler = &s->sampler->s;
	bool normalized = tsr_is_normalized(s->view, sampler);
	const float unit[2] = { normalized ? (float)s->view->width : 1,
				normalized ? (float)s->view->height : 1 };
	struct tsr_footprint f = { .places = 1 };
	struct tsr_levels levels = { .level = 0 };
	float x[4], y[4];
	int last = 0;

	if (s->job->mode == TSR_TEXTURE_LOD_COMPUTED)
		s->env->textures->path->squares(w->s, w->t, unit, x, y);
	for (unsigned int q = 0; q < 4; q++) {
		uint32_t where;
		int lod;

		if (s->job->mode == TSR_TEXTURE_LOD_COMPUTED)
			plain_footprint(s, q, x[q], y[q], &f);
		lod = tsr_filter_lod(s->view, sampler, f.lod, true, true);
		if (!q || lod != last)
			levels = tsr_lod_levels(s->view, sampler, lod);
		last = lod;
		where = plain_slice(s) << WHERE_SLICE | levels.level |
			(levels.near ? WHERE_NEAR : 0);
		SPREAD(s->lod + QUAD * q, lod);
		SPREAD(s->where + QUAD * q, where);
		SPREAD(s->weight + QUAD * q, levels.weight);
		SPREAD(s->places + QUAD * q, (uint8_t)(levels.near ? 1 : f.places));
		SPREAD(s->axis[0] + QUAD * q, f.axis[0]);
		SPREAD(s->axis[1] + QUAD * q, f.axis[1]);
		s->mixed |= (uint16_t)((levels.weight != 0 ? 15 : 0) << QUAD * q);
		s->alike &= where == s->where[0];
		if (s->places[QUAD * q] > s->most)
			s->most = s->places[QUAD * q];
	}
}

/* ---- Lookups --------------------------------------------------------------------------------- */

typedef float rgba_lanes[4][LANES];

/* Lanes of @lanes that are looked up where lane @first is. */
static uint16_t together(const uint32_t where[LANES], uint16_t lanes, uint32_t here)
{
	uint16_t same = 0;

	for (unsigned int i = 0; i < LANES; i++)
		same |= (uint16_t)((where[i] == here) << i);
	return same & lanes;
}

static void merge(rgba_lanes into, rgba_lanes from, uint16_t lanes)
{
	for (; lanes; lanes &= lanes - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(lanes);

		for (unsigned int c = 0; c < 4; c++)
			into[c][lane] = from[c][lane];
	}
}

static struct tsr_level_axis axis_of(const struct tsr_level_lookup *l,
				     const struct tsr_sampler *sampler, uint32_t extent,
				     unsigned int mode)
{
	bool cube = l->view->dimension == TSR_TEXTURE_DIMENSION_CUBE;
	struct tsr_level_axis a = {
		.mode = !cube ? mode : sampler->seamless ? TSR_WRAP_MODE_CLAMP_TO_BORDER
							 : TSR_WRAP_MODE_CLAMP_TO_EDGE,
		.extent = (int32_t)tsr_level_extent(extent, l->place.level),
		.half = l->view->center ? 0 : 0.5f,
		.center = l->view->center,
	};

	a.scale = (tsr_is_normalized(l->view, sampler) ? (float)a.extent : 1) *
		  (l->near ? 1 : TSR_TEXEL_ONE);
	a.period = a.mode == TSR_WRAP_MODE_REPEAT ? a.extent : 2 * a.extent;
	a.frequency = 1 / (float)a.period;
	a.power = !(a.extent & (a.extent - 1));
	return a;
}

/* Lookups at @where, @next levels higher than that says; NULL: there are none. */
static struct tsr_level_lookup *level_of(struct tsr_texture_job *job, uint32_t where,
					 unsigned int next)
{
	struct tsr_level_lookup *l = &job->level[(where + next) % 2];
	const struct tsr_sampler *sampler = &job->sampler_view->s;

	where += next;
	if (l->where == where)
		return l;
	if (where >> WHERE_SLICE >= TSR_TEX_BLOCK_SLICES)
		return NULL;
	*l = (struct tsr_level_lookup){
		.where = where, .env = job->env, .view = job->view,
		.place = {
			.level = where & (WHERE_NEAR - 1), .slice = where >> WHERE_SLICE,
			.linear = sampler->srgb_override,
		},
		.near = where & WHERE_NEAR,
		.bytes = job->view->kind[sampler->srgb_override] == TSR_TEX_BLOCK_BYTES,
	};
	l->key = tsr_block_key(job->view, &l->place);
	l->axis[0] = axis_of(l, sampler, job->view->width, sampler->wrap_s);
	l->axis[1] = axis_of(l, sampler, job->view->height, sampler->wrap_t);
	return l;
}

int32_t tsr_lookup_texel(const struct tsr_level_lookup *l, uint32_t x, uint32_t y)
{
	struct tsr_block_place place = l->place;
	int slot;

	place.x = x / TSR_TEX_BLOCK_DIM;
	place.y = y / TSR_TEX_BLOCK_DIM;
	slot = tsr_block_get(l->env, l->view, &place);
	if (slot < 0)
		return -1;
	tsr_block_touch(l->env->textures, (unsigned int)slot,
			1ull << (16 * (y % TSR_TEX_BLOCK_DIM) + x % TSR_TEX_BLOCK_DIM));
	return slot * TSR_TEX_BLOCK_BYTES_MAX;
}

/* Look up @lanes, all at @here, @next levels higher than that says; returns those done. */
static uint16_t look_up_there(struct lanes *s, uint16_t lanes, uint32_t here, unsigned int next,
			      const float *x, const float *y, rgba_lanes out)
{
	struct tsr_texture_cache *cache = s->env->textures;
	struct tsr_level_lookup *l = level_of(s->job, here, next);
	unsigned int done;

	if (!l)
		return 0;
	l->directory = tsr_directory_find(cache, l->key);
	l->lanes = lanes;
	l->s = x;
	l->t = y;
	l->rgba = out;
	lanes = cache->path->lookup(l);
	done = tsr_lanes_count(lanes);
	cache->stats.samples += done;
	s->env->cost.read_bytes += done * (l->near ? 1u : 4u) * s->view->format.bytes;
	return lanes;
}

/* Look up @lanes, @next levels higher than they say. */
static void look_up(struct lanes *s, uint16_t lanes, unsigned int next, const float *x,
		    const float *y, rgba_lanes out)
{
	rgba_lanes part __attribute__((aligned(64)));
	uint16_t left = lanes & ~s->rest;

	while (left) {
		uint32_t here = s->where[__builtin_ctz(left)];
		uint16_t same = s->alike ? left : together(s->where, left, here), done;

		if (same == lanes) {
			done = look_up_there(s, same, here, next, x, y, out);
		} else {
			done = look_up_there(s, same, here, next, x, y, part);
			merge(out, part, done);
		}
		s->rest |= same & ~done;
		left &= ~same;
	}
}

/* One place of each of @lanes. */
static void look_up_place(struct lanes *s, uint16_t lanes, const float *x, const float *y,
			  rgba_lanes out)
{
	rgba_lanes next __attribute__((aligned(64)));
	uint16_t mixed = s->mixed & lanes;

	look_up(s, lanes, 0, x, y, out);
	if (!mixed)
		return;
	look_up(s, mixed, 1, x, y, next);
	if (mixed != lanes)
		merge(next, out, lanes & ~mixed);
	for (unsigned int c = 0; c < 4; c++)
		s->env->textures->path->mix(out[c], next[c], s->weight);
}

/* Places number @n of the samples of several places; returns the lanes that have one. */
static uint16_t find_places(struct lanes *s, unsigned int n, float x[LANES], float y[LANES])
{
	const struct tsr_texture_warp *w = s->warp;
	float along[LANES];
	uint16_t lanes = 0, beyond = 0;

	for (unsigned int i = 0; i < LANES; i++) {
		along[i] = 0;
		if (!(s->all >> i & 1) || n >= s->places[i])
			continue;
		if (i && lanes >> (i - 1) & 1 && s->places[i] == s->places[i - 1])
			along[i] = along[i - 1];
		else
			along[i] = tsr_footprint_place(n, s->places[i]);
		lanes |= (uint16_t)(1u << i);
	}
	for (unsigned int i = 0; i < LANES; i++) {
		x[i] = w->s[i] + s->axis[0][i] * along[i];
		y[i] = w->t[i] + s->axis[1][i] * along[i];
		beyond |= (uint16_t)(!(x[i] >= 0 && x[i] <= 1 && y[i] >= 0 && y[i] <= 1) << i);
	}
	/* of samples of one place the coordinates are what they are */
	for (uint16_t left = lanes; left; left &= left - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(left);

		if (s->places[i] > 1)
			continue;
		x[i] = w->s[i];
		y[i] = w->t[i];
		beyond &= ~(1u << i);
	}
	/* another face */
	if (s->job->dimension == TSR_TEXTURE_DIMENSION_CUBE)
		s->rest |= beyond & lanes;
	return lanes;
}

/* Places of anisotropic samples, one behind the other. */
static void look_up_places(struct lanes *s, rgba_lanes out)
{
	float x[LANES] __attribute__((aligned(64))), y[LANES] __attribute__((aligned(64)));
	rgba_lanes place __attribute__((aligned(64)));

	memset(out, 0, sizeof(rgba_lanes));
	for (unsigned int n = 0; n < s->most; n++) {
		uint16_t lanes = find_places(s, n, x, y);

		look_up_place(s, lanes, x, y, place);
		if (lanes == TSR_ALL_LANES) {
			for (unsigned int c = 0; c < 4; c++) {
				for (unsigned int i = 0; i < LANES; i++)
					out[c][i] += place[c][i];
			}
			continue;
		}
		for (unsigned int i = 0; i < LANES; i++) {
			for (unsigned int c = 0; c < 4 && (lanes >> i & 1); c++)
				out[c][i] += place[c][i];
		}
	}
	for (unsigned int i = 0; i < LANES; i++) {
		for (unsigned int c = 0; c < 4 && (s->all >> i & 1) && s->places[i] > 1; c++)
			out[c][i] /= (float)s->places[i];
	}
}

/* ---- Results --------------------------------------------------------------------------------- */

static void swizzle(const struct tsr_texture_view *view, rgba_lanes rgba)
{
	rgba_lanes in;

	for (unsigned int c = 0; c < 4 && view->kind[0] != TSR_TEX_BLOCK_BYTES; c++) {
		for (unsigned int i = 0; i < LANES; i++)
			rgba[c][i] = tsr_one_nan(rgba[c][i]);
	}

	if (view->swizzle[0] == TSR_COMPONENT_R && view->swizzle[1] == TSR_COMPONENT_G &&
	    view->swizzle[2] == TSR_COMPONENT_B && view->swizzle[3] == TSR_COMPONENT_A)
		return;
	memcpy(in, rgba, sizeof(in));
	for (unsigned int c = 0; c < 4; c++) {
		unsigned int from = view->swizzle[c];

		if (from < 4)
			memcpy(rgba[c], in[from], sizeof(in[from]));
		for (unsigned int i = 0; i < LANES && from >= 4; i++)
			rgba[c][i] = from == TSR_COMPONENT_ONE;
	}
}

/* The lanes that are left, one by one. */
static enum tsr_step do_rest(struct lanes *s)
{
	for (uint16_t left = s->rest; left; left &= left - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(left);
		bool cube = s->job->dimension == TSR_TEXTURE_DIMENSION_CUBE;
		struct tsr_lookup l = lookup_of(s, lane);
		union tsr_texel texel;
		enum tsr_step step;

		l.layer = (s->where[lane] >> WHERE_SLICE) / (cube ? TSR_CUBE_FACES : 1);
		l.places = s->places[lane];
		l.axis[0] = s->axis[0][lane];
		l.axis[1] = s->axis[1][lane];
		step = tsr_filter_sample(&l, s->lod[lane], &texel);
		if (step != TSR_STEP_DONE)
			return step;
		for (unsigned int c = 0; c < 4; c++)
			s->warp->rgba[c][lane] = texel.f[c];
	}
	return TSR_STEP_DONE;
}

/* Find out about the lanes, and look them up. */
static void do_lanes(struct lanes *s)
{
	struct tsr_texture_warp *w = s->warp;
	bool plain = is_plain(s);

	s->rest = s->mixed = 0;
	s->alike = true;
	s->most = 1;
	s->all = w->lanes;
	if (plain && s->job->one_level) {
		uint32_t here = plain_slice(s) << WHERE_SLICE |
				(s->sampler->s.mag_nearest ? WHERE_NEAR : 0);

		s->rest = s->all & ~look_up_there(s, s->all, here, 0, w->s, w->t, w->rgba);
		if (s->rest)
			plain_levels(s);
		return;
	}
	if (plain)
		plain_levels(s);
	else
		any_levels(s);
	if (s->most > 1)
		look_up_places(s, w->rgba);
	else
		look_up_place(s, s->all, w->s, w->t, w->rgba);
}

bool tsr_texture_begin(struct tsr_texture_job *job)
{
	struct tsr_msg_env *env = job->env;
	struct tsr_sampler_view *sampler;
	const struct tsr_sampler *s;

	if (!env->textures->path || env->textures->off ||
	    tsr_texture_find(env, job->texture, &job->view) != TSR_STEP_DONE ||
	    tsr_sampler_find(env, job->sampler, &sampler) != TSR_STEP_DONE ||
	    !job->view || !sampler || job->view->dimension != job->dimension ||
	    job->view->samples > 1 || (job->view->kind[0] != TSR_TEX_BLOCK_BYTES &&
				       job->view->kind[0] != TSR_TEX_BLOCK_FLOATS))
		return false;
	s = &sampler->s;
	job->sampler_view = sampler;
	job->one_level = s->mag_nearest == s->min_nearest &&
			 (job->view->levels == 1 || s->mipmap == TSR_MIPMAP_MODE_NONE) &&
			 (sampler->anisotropy == 1 || s->mag_nearest);
	job->level[0].where = job->level[1].where = UINT32_MAX;
	return true;
}

bool tsr_texture_warp(struct tsr_texture_job *job, struct tsr_texture_warp *warp)
{
	struct lanes s;

	s.job = job;
	s.env = job->env;
	s.warp = warp;
	s.view = job->view;
	s.sampler = job->sampler_view;
	do_lanes(&s);
	swizzle(s.view, warp->rgba);
	if (s.rest && do_rest(&s) != TSR_STEP_DONE)
		return false;
	for (unsigned int i = 0; i < LANES && s.all != warp->lanes; i++) {
		for (unsigned int c = 0; c < 4 && ((warp->lanes & ~s.all) >> i & 1); c++)
			warp->rgba[c][i] = 0;
	}
	return true;
}

static struct tsr_texture_warp warp_of(const struct tsr_texture_bundle *b, unsigned int w)
{
	struct tsr_texture_warp warp;

	warp.lanes = warp.present = b->lanes[w];
	warp.s = b->s[w].f;
	warp.t = b->t[w].f;
	warp.face = b->face ? b->face[w] : NULL;
	warp.layer = b->layer ? b->layer[w].u : NULL;
	warp.lod = b->lod ? b->lod[w].u : NULL;
	return warp;
}

unsigned int tsr_texture_bundle(struct tsr_texture_job *job, const struct tsr_texture_bundle *b)
{
	struct tsr_msg_cost *cost = &job->env->cost;
	unsigned int mode = tsr_texture_mode_enter(), w;

	for (w = 0; w < b->warps; w++) {
		uint64_t before = cost->read_bytes;
		struct tsr_texture_warp warp = warp_of(b, w);

		if (!tsr_texture_warp(job, &warp))
			break;
		cost->cycles += (cost->read_bytes - before + 63) / 64;
		for (unsigned int c = 0; c < 4; c++)
			memcpy(&b->rgba[c][w], warp.rgba[c], sizeof(warp.rgba[c]));
	}
	tsr_texture_mode_leave(mode);
	return w;
}
