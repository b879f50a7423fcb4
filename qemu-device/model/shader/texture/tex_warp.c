/* SPDX-License-Identifier: MIT */
#include "tex_warp.h"

#include "shader/alu/alu.h"

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
	struct tsr_level_lookup *l = &job->plan->level[(where + next) % 2];
	const struct tsr_sampler *sampler = &job->sampler_view->s;

	where += next;
	if (l->where == where)
		return l;
	if (where >> WHERE_SLICE >= TSR_TEX_SLICES)
		return NULL;
	*l = (struct tsr_level_lookup){
		.where = where, .env = job->env, .view = job->view,
		.place = {
			.level = where & (WHERE_NEAR - 1), .slice = where >> WHERE_SLICE,
			.linear = sampler->srgb_override,
		},
		.near = where & WHERE_NEAR,
		.bytes = job->view->kind[sampler->srgb_override] == TSR_TEX_BLOCK_BYTES,
		.window = &job->env->textures->window[0],
	};
	l->key = tsr_level_key(job->view, &l->place);
	l->axis[0] = axis_of(l, sampler, job->view->width, sampler->wrap_s);
	l->axis[1] = axis_of(l, sampler, job->view->height, sampler->wrap_t);
	return l;
}

/* Look up warps at @here, @next levels higher than that says; returns lanes that are left. */
static unsigned int lookup_warps(struct tsr_texture_job *job, uint32_t here, unsigned int next,
				 const struct tsr_level_warps *w)
{
	struct tsr_texture_cache *cache = job->env->textures;
	struct tsr_level_lookup *l = level_of(job, here, next);

	if (!l) {
		memset(w->done, 0, w->count * sizeof(*w->done));
		return TSR_ALL_LANES;
	}
	if (l->window->key == l->key)
		l->window->stamp = ++cache->now;
	else
		l->window = tsr_window_find(cache, l->key);
	tsr_window_look(l->window, (uint32_t)(l->axis[0].extent * l->axis[1].extent));
	return cache->path->lookup(l, w);
}

/* Bytes that a lookup where @where says counts as. */
static unsigned int lookup_bytes(const struct tsr_texture_job *job, uint32_t where)
{
	return (where & WHERE_NEAR ? 1 : 4) * tsr_texel_cost(&job->view->format);
}

/* @lookups have been done where @where says. */
static void count_lookups(const struct tsr_texture_job *job, uint32_t where, unsigned int lookups)
{
	job->env->textures->stats.samples += lookups;
	job->env->cost.read_bytes += lookups * lookup_bytes(job, where);
}

/* Look up @lanes, all at @here, @next levels higher than that says; returns those done. */
static uint16_t lookup_there(struct lanes *s, uint16_t lanes, uint32_t here, unsigned int next,
			     const float *x, const float *y, rgba_lanes out)
{
	uint16_t done;
	const struct tsr_level_warps w = {
		.count = 1, .lanes = &lanes, .done = &done, .s = x, .t = y,
		.rgba = { out[0], out[1], out[2], out[3] },
	};

	lookup_warps(s->job, here, next, &w);
	count_lookups(s->job, here, tsr_lanes_count(done));
	return done;
}

/* Look up @lanes, @next levels higher than they say. */
static void lookup_level(struct lanes *s, uint16_t lanes, unsigned int next, const float *x,
			 const float *y, rgba_lanes out)
{
	rgba_lanes part __attribute__((aligned(64)));
	uint16_t left = lanes & ~s->rest;

	while (left) {
		uint32_t here = s->where[__builtin_ctz(left)];
		uint16_t same = s->alike ? left : together(s->where, left, here), done;

		if (same == lanes) {
			done = lookup_there(s, same, here, next, x, y, out);
		} else {
			done = lookup_there(s, same, here, next, x, y, part);
			merge(out, part, done);
		}
		s->rest |= same & ~done;
		left &= ~same;
	}
}

/* One place of each of @lanes. */
static void lookup_place(struct lanes *s, uint16_t lanes, const float *x, const float *y,
			 rgba_lanes out)
{
	rgba_lanes next __attribute__((aligned(64)));
	uint16_t mixed = s->mixed & lanes;

	lookup_level(s, lanes, 0, x, y, out);
	if (!mixed)
		return;
	lookup_level(s, mixed, 1, x, y, next);
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
	/* one place is where the lane is; if its axis is infinite msg_filter.c looks it up */
	for (unsigned int i = 0; i < LANES; i++) {
		x[i] = w->s[i] + s->axis[0][i] * along[i];
		y[i] = w->t[i] + s->axis[1][i] * along[i];
		beyond |= (uint16_t)(!(x[i] >= 0 && x[i] <= 1 && y[i] >= 0 && y[i] <= 1) << i);
	}
	/* another face */
	if (s->job->dimension == TSR_TEXTURE_DIMENSION_CUBE)
		s->rest |= beyond & lanes;
	return lanes;
}

/* Places of anisotropic samples, one after the other. */
static void lookup_places(struct lanes *s, rgba_lanes out)
{
	float x[LANES] __attribute__((aligned(64))), y[LANES] __attribute__((aligned(64)));
	rgba_lanes place __attribute__((aligned(64)));

	memset(out, 0, sizeof(rgba_lanes));
	for (unsigned int n = 0; n < s->most; n++) {
		uint16_t lanes = find_places(s, n, x, y);

		lookup_place(s, lanes, x, y, place);
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

static bool is_swizzled(const struct tsr_texture_view *view)
{
	return view->swizzle[0] != TSR_COMPONENT_R || view->swizzle[1] != TSR_COMPONENT_G ||
	       view->swizzle[2] != TSR_COMPONENT_B || view->swizzle[3] != TSR_COMPONENT_A;
}

/* Whether results are what has been filtered: swizzle() does nothing. */
static bool is_as_filtered(const struct tsr_texture_view *view)
{
	return view->kind[0] == TSR_TEX_BLOCK_BYTES && !is_swizzled(view);
}

static void swizzle(const struct tsr_texture_view *view, float *const rgba[4])
{
	rgba_lanes in;

	for (unsigned int c = 0; c < 4 && view->kind[0] != TSR_TEX_BLOCK_BYTES; c++) {
		for (unsigned int i = 0; i < LANES; i++)
			rgba[c][i] = tsr_one_nan(rgba[c][i]);
	}

	if (!is_swizzled(view))
		return;
	for (unsigned int c = 0; c < 4; c++)
		memcpy(in[c], rgba[c], sizeof(in[c]));
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
static void lookup_lanes(struct lanes *s)
{
	struct tsr_texture_warp *w = s->warp;
	bool plain = is_plain(s);

	if (plain && s->job->plan->one_level) {
		uint32_t here = plain_slice(s) << WHERE_SLICE |
				(s->sampler->s.mag_nearest ? WHERE_NEAR : 0);

		s->rest = s->all & ~lookup_there(s, s->all, here, 0, w->s, w->t, w->rgba);
		if (s->rest)
			plain_levels(s);
		return;
	}
	if (plain)
		plain_levels(s);
	else
		any_levels(s);
	if (s->most > 1)
		lookup_places(s, w->rgba);
	else
		lookup_place(s, s->all, w->s, w->t, w->rgba);
}

/*
 * The same. Lanes that are for msg_filter.c are counted there: what has been done of them, in one
 * of two levels or at some places, does not count.
 */
static void do_lanes(struct lanes *s)
{
	const uint64_t samples = s->env->textures->stats.samples, bytes = s->env->cost.read_bytes;

	lookup_lanes(s);
	if (!s->rest)
		return;
	s->env->textures->stats.samples = samples;
	s->env->cost.read_bytes = bytes;
	for (uint16_t left = s->all & ~s->rest; left; left &= left - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(left);

		count_lookups(s->job, s->where[lane], s->places[lane] << (s->mixed >> lane & 1));
	}
}

/* What is known of @job's texture with its sampler. */
static struct tsr_texture_plan *plan_of(struct tsr_texture_job *job)
{
	const struct tsr_sampler *s = &job->sampler_view->s;
	struct tsr_texture_plan *plan = &job->env->textures->plan[
		(job->texture ^ job->sampler << 1) % TSR_TEXTURE_PLANS];

	if (plan->view == job->view && plan->view_serial == job->view->serial &&
	    plan->sampler == job->sampler_view &&
	    plan->sampler_serial == job->sampler_view->serial)
		return plan;
	plan->view = job->view;
	plan->view_serial = job->view->serial;
	plan->sampler = job->sampler_view;
	plan->sampler_serial = job->sampler_view->serial;
	plan->one_level = s->mag_nearest == s->min_nearest &&
			  (job->view->levels == 1 || s->mipmap == TSR_MIPMAP_MODE_NONE) &&
			  (job->sampler_view->anisotropy == 1 || s->mag_nearest);
	plan->level[0].where = plan->level[1].where = UINT32_MAX;
	return plan;
}

bool tsr_texture_begin(struct tsr_texture_job *job)
{
	struct tsr_msg_env *env = job->env;
	struct tsr_sampler_view *sampler;

	if (!env->textures->path || env->textures->off ||
	    tsr_texture_find(env, job->texture, &job->view) != TSR_STEP_DONE ||
	    tsr_sampler_find(env, job->sampler, &sampler) != TSR_STEP_DONE ||
	    !job->view || !sampler || job->view->dimension != job->dimension ||
	    job->view->samples > 1 || (job->view->kind[0] != TSR_TEX_BLOCK_BYTES &&
				       job->view->kind[0] != TSR_TEX_BLOCK_FLOATS))
		return false;
	job->sampler_view = sampler;
	job->plan = plan_of(job);
	return true;
}

static void begin_lanes(struct lanes *s, struct tsr_texture_job *job,
			struct tsr_texture_warp *warp)
{
	s->job = job;
	s->env = job->env;
	s->warp = warp;
	s->view = job->view;
	s->sampler = job->sampler_view;
	s->rest = s->mixed = 0;
	s->alike = true;
	s->most = 1;
	s->all = warp->lanes;
}

bool tsr_texture_warp(struct tsr_texture_job *job, struct tsr_texture_warp *warp)
{
	float *rgba[4];
	struct lanes s;

	begin_lanes(&s, job, warp);
	do_lanes(&s);
	for (unsigned int c = 0; c < 4; c++)
		rgba[c] = warp->rgba[c];
	swizzle(s.view, rgba);
	if (s.rest && do_rest(&s) != TSR_STEP_DONE)
		return false;
	for (unsigned int i = 0; i < LANES && s.all != warp->lanes; i++) {
		for (unsigned int c = 0; c < 4 && ((warp->lanes & ~s.all) >> i & 1); c++)
			warp->rgba[c][i] = 0;
	}
	return true;
}

/* ---- Bundles --------------------------------------------------------------------------------- */

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

/* What a bundle is that is looked up as one: all of it in the same levels of a 2D texture. */
struct bundle_job {
	struct tsr_texture_job *job;
	const struct tsr_texture_bundle *b;
	uint32_t where;
	bool any_mixed;
	uint16_t mixed[TSR_BUNDLE_WARPS];	/* lanes between two levels */
	uint16_t done[TSR_BUNDLE_WARPS];
	float weight[TSR_BUNDLE_WARPS][LANES] __attribute__((aligned(64)));
};

/* Texels of level 0 that one is of either coordinate. */
static void find_units(const struct tsr_texture_job *job, float unit[2])
{
	bool normalized = tsr_is_normalized(job->view, &job->sampler_view->s);

	unit[0] = normalized ? (float)job->view->width : 1;
	unit[1] = normalized ? (float)job->view->height : 1;
}

static uint32_t where_of(const struct tsr_levels *levels)
{
	return levels->level | (levels->near ? WHERE_NEAR : 0);
}

/* The levels of a bundle all of whose quads have the same level of detail; false: they do not. */
static bool same_levels(struct bundle_job *b)
{
	const struct tsr_texture_view *view = b->job->view;
	const struct tsr_sampler *sampler = &b->job->sampler_view->s;
	struct tsr_levels levels;
	float unit[2], range[2];
	int lod[2] = { 0, 0 };

	if (b->job->mode == TSR_TEXTURE_LOD_COMPUTED) {
		find_units(b->job, unit);
		if (!b->job->env->textures->path->extremes(b->b->s->f, b->b->t->f, b->b->warps,
							   unit, range))
			return false;
		/* there is nothing between equal ones */
		lod[0] = tsr_lod_of_square(range[0]);
		lod[1] = tsr_lod_of_square(range[1]);
	}
	lod[0] = tsr_filter_lod(view, sampler, lod[0], true, true);
	lod[1] = tsr_filter_lod(view, sampler, lod[1], true, true);
	if (lod[0] != lod[1])
		return false;
	levels = tsr_lod_levels(view, sampler, lod[0]);
	b->where = where_of(&levels);
	b->any_mixed = levels.weight != 0;
	for (unsigned int w = 0; w < b->b->warps; w++) {
		b->mixed[w] = b->any_mixed ? b->b->lanes[w] : 0;
		for (unsigned int i = 0; i < LANES && b->any_mixed; i++)
			b->weight[w][i] = levels.weight;
	}
	return true;
}

static int32_t sixteen_bits(int x)
{
	return x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : x;
}

/* What tsr_filter_lod() and tsr_lod_levels() know before they are given a level of detail. */
static void find_rules(const struct tsr_texture_job *job, struct tsr_lod_rules *r)
{
	const struct tsr_texture_view *view = job->view;
	const struct tsr_sampler *s = &job->sampler_view->s;
	bool integer = tsr_format_is_integer(&view->format);

	find_units(job, r->unit);
	r->bias = s->lod_bias;
	/* what is cut off in the end may be cut off before */
	r->low = sixteen_bits(s->min_lod > view->min_lod ? s->min_lod : view->min_lod);
	r->high = sixteen_bits(s->max_lod < view->max_lod ? s->max_lod : view->max_lod);
	r->cutoff = s->mag_cutoff ? TSR_LOD_ONE / 2 : 0;
	r->last = (view->levels - 1) * TSR_LOD_ONE;
	r->half = s->mipmap == TSR_MIPMAP_MODE_NEAREST ? TSR_LOD_ONE / 2 : 0;
	r->levels = s->mipmap == TSR_MIPMAP_MODE_LINEAR ||
		    s->mipmap == TSR_MIPMAP_MODE_NEAREST ? -1 : 0;
	r->fraction = s->mipmap == TSR_MIPMAP_MODE_LINEAR && !integer ? TSR_LOD_ONE - 1 : 0;
	r->larger = integer || s->mag_nearest ? WHERE_NEAR : 0;
	r->smaller = integer || s->min_nearest ? WHERE_NEAR : 0;
}

/* The levels of quads that are whole ones; false: not all of the bundle's have the same. */
static bool bundle_levels(struct bundle_job *b)
{
	struct tsr_lod_rules rules;
	struct tsr_warp_levels to = { .where = UINT32_MAX };

	find_rules(b->job, &rules);
	b->any_mixed = false;
	for (unsigned int w = 0; w < b->b->warps; w++) {
		b->mixed[w] = 0;
		if (!b->b->lanes[w])
			continue;
		to.weight = b->weight[w];
		if (!b->job->env->textures->path->levels(&rules, b->b->s[w].f, b->b->t[w].f,
							 b->b->lanes[w], &to))
			return false;
		b->mixed[w] = to.mixed;
		b->any_mixed |= to.mixed;
	}
	b->where = to.where;
	return to.where != UINT32_MAX;
}

/* Whether the bundle can be looked up as one; then where. */
static bool find_bundle(struct bundle_job *w, struct tsr_texture_job *job,
			const struct tsr_texture_bundle *b)
{
	const bool one = job->plan->one_level;
	unsigned int all = TSR_ALL_LANES;

	w->job = job;
	w->b = b;
	w->any_mixed = false;
	w->where = one && job->sampler_view->s.mag_nearest ? WHERE_NEAR : 0;
	if (job->dimension != TSR_TEXTURE_DIMENSION_2D || b->layer || b->lod ||
	    b->warps > TSR_BUNDLE_WARPS || (!one && job->sampler_view->anisotropy > 1))
		return false;
	for (unsigned int i = 0; i < b->warps; i++) {
		unsigned int lanes = b->lanes[i];

		/* quads as wholes */
		if ((lanes & 0x1111) * 15 != lanes)
			return false;
		all &= lanes;
	}
	if (one)
		return true;
	if (job->mode != TSR_TEXTURE_LOD_COMPUTED || all == TSR_ALL_LANES) {
		if (same_levels(w))
			return true;
	}
	return bundle_levels(w);
}

/* The second of the two levels; returns lanes of any warp that are left. */
static unsigned int mix_next(struct bundle_job *w)
{
	const struct tsr_texture_bundle *b = w->b;
	float next[4][TSR_BUNDLE_WARPS][LANES] __attribute__((aligned(64)));
	uint16_t done[TSR_BUNDLE_WARPS];
	const struct tsr_level_warps level = {
		.count = b->warps, .lanes = w->mixed, .done = done, .s = b->s->f, .t = b->t->f,
		.rgba = { next[0][0], next[1][0], next[2][0], next[3][0] },
	};
	unsigned int rest;

	rest = lookup_warps(w->job, w->where, 1, &level);
	for (unsigned int i = 0; i < b->warps; i++) {
		float *const to[4] = { b->rgba[0][i].f, b->rgba[1][i].f, b->rgba[2][i].f,
				       b->rgba[3][i].f };
		float *const from[4] = { next[0][i], next[1][i], next[2][i], next[3][i] };

		if (w->mixed[i])
			w->job->env->textures->path->mix_some(to, from, w->weight[i], w->mixed[i]);
		w->done[i] &= (uint16_t)(done[i] | ~w->mixed[i]);
	}
	return rest;
}

static struct tsr_texture_warp warp_of_bundle(const struct bundle_job *w, unsigned int i)
{
	struct tsr_texture_warp warp = warp_of(w->b, i);

	for (unsigned int c = 0; c < 4; c++)
		memcpy(warp.rgba[c], &w->b->rgba[c][i], sizeof(warp.rgba[c]));
	return warp;
}

/* Lanes @rest of warp @i, one by one; false: some have to wait. */
static bool rest_of_bundle(const struct bundle_job *w, unsigned int i, uint16_t rest)
{
	struct tsr_texture_warp warp = warp_of_bundle(w, i);
	struct lanes s;

	begin_lanes(&s, w->job, &warp);
	plain_levels(&s);
	s.rest = rest;
	if (do_rest(&s) != TSR_STEP_DONE)
		return false;
	for (unsigned int c = 0; c < 4; c++)
		memcpy(&w->b->rgba[c][i], warp.rgba[c], sizeof(warp.rgba[c]));
	return true;
}

/* What warp @i's lanes that are done count; those that are not have been counted one by one. */
static unsigned int lookups_of(const struct bundle_job *w, unsigned int i)
{
	const uint16_t done = w->done[i], mixed = w->any_mixed ? w->mixed[i] & done : 0;

	if (done == TSR_ALL_LANES && (!mixed || mixed == done))
		return mixed ? 2 * LANES : LANES;
	return tsr_lanes_count(done) + tsr_lanes_count(mixed);
}

/* All lanes of all warps have been done: what they count. */
static void count_bundle(const struct bundle_job *w)
{
	struct tsr_msg_cost *cost = &w->job->env->cost;
	const unsigned int bytes = lookup_bytes(w->job, w->where);
	unsigned int lookups = 0, cycles = 0;

	for (unsigned int i = 0, n; i < w->b->warps; i++, lookups += n) {
		n = lookups_of(w, i);
		cycles += (n * bytes + 63) / 64;
	}
	w->job->env->textures->stats.samples += lookups;
	cost->read_bytes += lookups * bytes;
	cost->cycles += cycles;
}

/* Results are to be finished, warp by warp. */
static unsigned int finish_warps(struct bundle_job *w)
{
	const struct tsr_texture_bundle *b = w->b;
	struct tsr_msg_cost *cost = &w->job->env->cost;

	for (unsigned int i = 0; i < b->warps; i++) {
		float *const rgba[4] = { b->rgba[0][i].f, b->rgba[1][i].f, b->rgba[2][i].f,
					 b->rgba[3][i].f };
		uint16_t rest = b->lanes[i] & ~w->done[i];
		uint64_t before = cost->read_bytes;

		swizzle(w->job->view, rgba);
		if (rest && !rest_of_bundle(w, i, rest))
			return i;
		count_lookups(w->job, w->where, lookups_of(w, i));
		cost->cycles += (cost->read_bytes - before + 63) / 64;
	}
	return b->warps;
}

/* Look up all of it in its levels; returns how many warps have been done. */
static unsigned int do_bundle(struct bundle_job *w)
{
	const struct tsr_texture_bundle *b = w->b;
	const struct tsr_level_warps level = {
		.count = b->warps, .lanes = b->lanes, .done = w->done, .s = b->s->f, .t = b->t->f,
		.rgba = { b->rgba[0]->f, b->rgba[1]->f, b->rgba[2]->f, b->rgba[3]->f },
	};
	unsigned int rest = lookup_warps(w->job, w->where, 0, &level);

	if (w->any_mixed)
		rest |= mix_next(w);
	if (rest || !is_as_filtered(w->job->view))
		return finish_warps(w);
	count_bundle(w);
	return b->warps;
}

/* Warp by warp. */
static unsigned int do_warps(struct tsr_texture_job *job, const struct tsr_texture_bundle *b)
{
	struct tsr_msg_cost *cost = &job->env->cost;

	for (unsigned int w = 0; w < b->warps; w++) {
		uint64_t before = cost->read_bytes;
		struct tsr_texture_warp warp = warp_of(b, w);

		if (!tsr_texture_warp(job, &warp))
			return w;
		cost->cycles += (cost->read_bytes - before + 63) / 64;
		for (unsigned int c = 0; c < 4; c++)
			memcpy(&b->rgba[c][w], warp.rgba[c], sizeof(warp.rgba[c]));
	}
	return b->warps;
}

unsigned int tsr_texture_bundle(struct tsr_texture_job *job, const struct tsr_texture_bundle *b)
{
	struct bundle_job w;

	return find_bundle(&w, job, b) ? do_bundle(&w) : do_warps(job, b);
}
