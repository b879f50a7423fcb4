/* SPDX-License-Identifier: MIT */
#include "tex_strip.h"

/* ---- Lookups --------------------------------------------------------------------------------- */

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

/* Lookups at @where; NULL if the L1 cannot have that slice. */
static struct tsr_level_lookup *level_of(struct tsr_texture_job *job, uint32_t where)
{
	const struct tsr_sampler *sampler = &job->sampler_view->s;
	struct tsr_level_lookup *l =
		&job->plan->level[(where ^ where >> WHERE_SLICE) % TSR_PLAN_LEVELS];

	if (l->where != where) {
		if (where >> WHERE_SLICE >= TSR_TEX_SLICES)
			return NULL;
		*l = (struct tsr_level_lookup){
			.where = where, .env = job->env, .view = job->view,
			.place = {
				.level = where & (WHERE_NEAR - 1), .slice = where >> WHERE_SLICE,
				.linear = sampler->srgb_override,
			},
			.near = where & WHERE_NEAR, .flat = job->view->dimensions == 1,
			.window = &job->env->textures->window[0],
		};
		l->bytes = job->view->kind[l->place.linear] == TSR_TEX_BLOCK_BYTES;
		l->key = tsr_level_key(job->view, &l->place);
		l->axis[0] = axis_of(l, sampler, job->view->width, sampler->wrap_s);
		l->axis[1] = axis_of(l, sampler, job->view->height, sampler->wrap_t);
		l->axis[2] = axis_of(l, sampler, job->view->depth, sampler->wrap_r);
		l->compare = sampler->compare;
		l->unit = job->view->format.kind == TSR_FORMAT_KIND_UNORM;
		l->number = job->view->format.kind == TSR_FORMAT_KIND_SINT ? TSR_LEVEL_SIGNED :
			    job->view->format.kind == TSR_FORMAT_KIND_UINT ? TSR_LEVEL_UNSIGNED
									   : TSR_LEVEL_FLOAT;
	}
	l->texels = is_texel(job);
	l->component = job->component;
	l->result = job->result;
	if (is_volume(job) && job->result == TSR_LEVEL_FILTER && l->bytes && !l->near)
		l->result = TSR_LEVEL_RAW;
	return l;
}

/* Have @l's window show its level. */
static void find_window(struct tsr_texture_cache *cache, struct tsr_level_lookup *l)
{
	if (l->window->key == l->key)
		l->window->stamp = ++cache->now;
	else
		l->window = tsr_window_find(cache, l->key);
	tsr_window_look(l->window, (uint64_t)l->axis[0].extent * (uint64_t)l->axis[1].extent);
}

static void set_offsets(struct tsr_level_lookup *l, uint32_t offsets)
{
	for (unsigned int d = 0; d < 3; d++)
		l->axis[d].offset = (int8_t)(offsets >> 8 * d);
}

/* Where lanes are in a level. */
struct coordinates {
	const float *s, *t, *r;
};

/* Look up @lanes in one slice, at @where with @offsets; returns those done. */
static uint64_t lookup_slice(const struct strip *s, uint64_t lanes, uint32_t where,
			     uint32_t offsets, const struct coordinates *at, float *const out[4])
{
	const unsigned int first = (unsigned int)__builtin_ctzll(lanes) / LANES;
	const unsigned int skip = first * LANES;
	const unsigned int end = (STRIP - 1 - (unsigned int)__builtin_clzll(lanes)) / LANES + 1;
	struct tsr_level_lookup *l = level_of(s->job, where);
	uint16_t wanted[STRIP_WARPS], found[STRIP_WARPS];
	const struct tsr_level_warps w = {
		.count = end - first, .lanes = wanted, .done = found,
		.s = at->s + skip, .t = at->t ? at->t + skip : NULL,
		.reference = s->in->reference ? numbers_of(s->in->reference) + skip : NULL,
		.rgba = { out[0] + skip, out[1] + skip, out[2] + skip, out[3] + skip },
	};
	uint64_t done = 0;

	if (!l)
		return 0;
	for (unsigned int i = 0; i < w.count; i++)
		wanted[i] = lanes_of_warp(lanes, first + i);
	set_offsets(l, offsets);
	find_window(s->env->textures, l);
	s->path->lookup(l, &w);
	for (unsigned int i = 0; i < w.count; i++)
		done |= (uint64_t)found[i] << (first + i) * LANES;
	return done & lanes;
}

static void point(float *to[4], float *const from[4], unsigned int skip)
{
	for (unsigned int c = 0; c < 4; c++)
		to[c] = from[c] + skip;
}

/* In @lanes, @into becomes @from, or with @weight what is between the two. */
static void combine(const struct strip *s, uint64_t lanes, float *const into[4],
		    float *const from[4], const float *weight)
{
	for (unsigned int w = 0; w < s->in->warps; w++) {
		uint16_t some = lanes_of_warp(lanes, w);
		float *a[4], *b[4];

		if (!some)
			continue;
		point(a, into, w * LANES);
		point(b, from, w * LANES);
		if (weight)
			s->path->mix_some(a, b, s->components, weight + w * LANES, some);
		else
			s->path->merge(a, b, s->components, some);
	}
}

static void divide(const struct strip *s, uint64_t lanes, float *const by[4])
{
	for (unsigned int w = 0; w < s->in->warps; w++) {
		float *at[4];

		point(at, by, w * LANES);
		if (lanes_of_warp(lanes, w))
			s->path->divide(at, TSR_TEX_BYTES_ONE);
	}
}

/* The slices of a volume that lanes are in. */
struct slices {
	uint32_t at[2][STRIP] __attribute__((aligned(64)));
	float weight[STRIP] __attribute__((aligned(64)));
	bool near;
	bool raw;
};

static uint64_t find_volume_slices(const struct strip *s, uint32_t where, uint32_t offsets,
				   const struct coordinates *at, struct slices *z)
{
	const struct tsr_level_lookup *l = level_of(s->job, where);
	struct tsr_level_axis axis = l->axis[2];
	uint64_t good = 0;

	axis.offset = (int8_t)(offsets >> 16);
	z->near = l->near || is_gather(s->job);
	z->raw = l->result == TSR_LEVEL_RAW;
	/* a gather rounds down where texels have their centres in the middle, too */
	if (is_gather(s->job)) {
		axis.scale /= TSR_TEXEL_ONE;
		axis.half = 0;
	}
	for (unsigned int w = 0; w < s->in->warps; w++) {
		const struct tsr_lane_slices to = {
			{ z->at[0] + w * LANES, z->at[1] + w * LANES }, z->weight + w * LANES,
		};

		good |= (uint64_t)s->path->slices(&axis, at->r + w * LANES, z->near, &to)
			<< w * LANES;
	}
	return good;
}

/* Look up @lanes, which are between the same two slices of a volume; returns those done. */
static uint64_t lookup_between(const struct strip *s, uint64_t lanes, uint32_t where,
			       uint32_t offsets, const struct coordinates *at,
			       const struct slices *z, float *const out[4])
{
	const unsigned int lane = (unsigned int)__builtin_ctzll(lanes);
	const uint32_t slice = z->at[0][lane], other = z->at[1][lane];
	strip_lanes second __attribute__((aligned(64)));
	float *const next[4] = { second[0], second[1], second[2], second[3] };
	uint64_t done;

	done = lookup_slice(s, lanes, where | slice << WHERE_SLICE, offsets, at, out);
	if (z->near || !done)
		return done;
	done &= lookup_slice(s, lanes, where | other << WHERE_SLICE, offsets, at, next);
	combine(s, done, out, next, z->weight);
	if (z->raw)
		divide(s, done, out);
	return done;
}

/* Slices of one level in which lanes of a strip are looked up at once. */
#define SLICES_MAX TSR_PLAN_LEVELS

/* Look up the nearest texels of @lanes, at few @of_lane of one level; false: not so. */
static bool lookup_slices(const struct strip *s, uint64_t lanes, const uint32_t *of_lane,
			  uint32_t offsets, const struct coordinates *at, float *const out[4])
{
	const uint32_t levels = (1u << WHERE_SLICE) - 1;
	const uint32_t level = of_lane[__builtin_ctzll(lanes)] & levels;
	uint16_t wanted[STRIP_WARPS], found[STRIP_WARPS];
	const struct tsr_level_warps w = {
		.count = s->in->warps, .lanes = wanted, .done = found, .s = at->s, .t = at->t,
		.rgba = { out[0], out[1], out[2], out[3] },
	};
	struct tsr_level_lookup *l[SLICES_MAX];
	uint64_t of[SLICES_MAX];
	uint32_t where[SLICES_MAX];
	unsigned int count = 0;

	for (uint64_t left = lanes; left; left &= ~of[count++]) {
		if (count == SLICES_MAX)
			return false;
		where[count] = of_lane[__builtin_ctzll(left)];
		of[count] = left & equal(s, of_lane, where[count]);
		l[count] = level_of(s->job, where[count]);
		if ((where[count] & levels) != level || !l[count])
			return false;
		set_offsets(l[count], offsets);
		find_window(s->env->textures, l[count]);
	}
	/* a slice may have taken the place of another */
	for (unsigned int n = 0; n < count; n++) {
		if (l[n]->where != where[n])
			return false;
	}
	for (unsigned int i = 0; i < w.count; i++)
		wanted[i] = lanes_of_warp(lanes, i);
	return s->path->lookup_slices((const struct tsr_level_lookup *const *)l, of, count, &w);
}

/* Look up the nearest texels of @lanes in slices @z of a volume; false: one by one. */
static bool near_volume(const struct strip *s, uint64_t lanes, uint32_t where, uint32_t offsets,
			const struct coordinates *at, const struct slices *z, float *const out[4])
{
	uint32_t of_lane[STRIP] __attribute__((aligned(64)));

	if (!(where & WHERE_NEAR) || s->job->result != TSR_LEVEL_FILTER)
		return false;
	for (unsigned int i = 0; i < s->in->warps * LANES; i++)
		of_lane[i] = where | z->at[0][i] << WHERE_SLICE;
	return lookup_slices(s, lanes, of_lane, offsets, at, out);
}

/* Look up @lanes anywhere in a level of a volume; returns those done. */
static uint64_t lookup_volume(const struct strip *s, uint64_t lanes, uint32_t where,
			      uint32_t offsets, const struct coordinates *at, float *const out[4])
{
	strip_lanes part __attribute__((aligned(64)));
	float *const some[4] = { part[0], part[1], part[2], part[3] };
	struct slices z;
	uint64_t left = find_volume_slices(s, where, offsets, at, &z) & lanes, done = 0;

	if (left && near_volume(s, left, where, offsets, at, &z, out))
		return left;
	while (left) {
		const unsigned int lane = (unsigned int)__builtin_ctzll(left);
		uint64_t same = left & equal(s, z.at[0], z.at[0][lane]), found;

		if (!z.near)
			same &= equal(s, z.at[1], z.at[1][lane]);
		if (same == lanes)
			return lookup_between(s, same, where, offsets, at, &z, out);
		found = lookup_between(s, same, where, offsets, at, &z, some);
		combine(s, found, out, some, NULL);
		done |= found;
		left &= ~same;
	}
	return done;
}

static uint64_t lookup_group(const struct strip *s, uint64_t lanes, uint32_t where,
			     uint32_t offsets, const struct coordinates *at, float *const out[4])
{
	if (is_volume(s->job) && !is_texel(s->job))
		return lookup_volume(s, lanes, where, offsets, at, out);
	return lookup_slice(s, lanes, where, offsets, at, out);
}

/* True if lanes that are in several slices may be looked up at once. */
static bool may_be_slices(const struct strip *s, uint64_t lanes, const uint32_t *offsets)
{
	const bool volume = is_volume(s->job) && !is_texel(s->job);

	return !s->alike && !offsets && !volume && s->job->result == TSR_LEVEL_FILTER &&
	       s->where[__builtin_ctzll(lanes)] & WHERE_NEAR;
}

/* Look up @lanes, @next levels higher than they say. */
static void lookup_level(struct strip *s, uint64_t lanes, unsigned int next,
			 const struct coordinates *at, float *const out[4])
{
	/* offsets of fetched texels have been added before */
	const uint32_t *offsets = is_texel(s->job) ? NULL : words_of(s->in->offsets);
	strip_lanes part __attribute__((aligned(64)));
	float *const some[4] = { part[0], part[1], part[2], part[3] };
	uint64_t left = lanes & ~s->rest;

	if (left && !next && may_be_slices(s, left, offsets) &&
	    lookup_slices(s, left, s->where, 0, at, out))
		return;
	while (left) {
		const unsigned int lane = (unsigned int)__builtin_ctzll(left);
		uint64_t same = left, done;

		if (!s->alike)
			same &= equal(s, s->where, s->where[lane]);
		if (offsets)
			same &= equal(s, offsets, offsets[lane]);
		done = lookup_group(s, same, where_of(s, lane) + next,
				    offsets ? offsets[lane] : 0, at, same == lanes ? out : some);
		if (same != lanes)
			combine(s, done, out, some, NULL);
		s->rest |= same & ~done;
		left &= ~same;
	}
}

/* One place of each of @lanes. */
static void lookup_place(struct strip *s, uint64_t lanes, const struct coordinates *at,
			 float *const out[4])
{
	strip_lanes second __attribute__((aligned(64)));
	float *const next[4] = { second[0], second[1], second[2], second[3] };

	lookup_level(s, lanes, 0, at, out);
	if (!(s->mixed & lanes))
		return;
	lookup_level(s, s->mixed & lanes, 1, at, next);
	combine(s, s->mixed & lanes & ~s->rest, out, next, s->weight);
}

/* ---- Places of anisotropic samples ----------------------------------------------------------- */

/* Places number @n of lanes that have so many; returns these lanes. */
static uint64_t find_places(struct strip *s, unsigned int n, float x[STRIP], float y[STRIP])
{
	const struct tsr_texture_bundle *in = s->in;
	uint64_t lanes = 0, beyond = 0;

	for (unsigned int i = 0; i < in->warps * LANES; i++) {
		float along = 0;

		x[i] = number_of(in->s, i);
		y[i] = number_of(in->t, i);
		if (!(s->all >> i & 1) || n >= s->places[i])
			continue;
		lanes |= 1ull << i;
		if (s->places[i] == 1)
			continue;
		along = tsr_footprint_place(n, s->places[i]);
		x[i] += s->axis[0][i] * along;
		y[i] += s->axis[1][i] * along;
		beyond |= (uint64_t)!(x[i] >= 0 && x[i] <= 1 && y[i] >= 0 && y[i] <= 1) << i;
	}
	/* another face */
	if (is_cube(s->job))
		s->rest |= beyond;
	return lanes;
}

/* Places of anisotropic samples, one after the other. */
static void lookup_places(struct strip *s)
{
	float x[STRIP] __attribute__((aligned(64))), y[STRIP] __attribute__((aligned(64)));
	strip_lanes part __attribute__((aligned(64)));
	float *const place[4] = { part[0], part[1], part[2], part[3] };
	const struct coordinates at = { x, y, NULL };

	for (unsigned int n = 0; n < s->most; n++) {
		uint64_t lanes = find_places(s, n, x, y);

		lookup_place(s, lanes, &at, place);
		for (; lanes; lanes &= lanes - 1) {
			unsigned int i = (unsigned int)__builtin_ctzll(lanes);

			for (unsigned int c = 0; c < s->components; c++) {
				float before = n ? s->out[c][i] : 0;

				s->out[c][i] = s->places[i] == 1 ? place[c][i]
								 : before + place[c][i];
			}
		}
	}
	for (uint64_t left = s->all; left; left &= left - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(left);

		for (unsigned int c = 0; c < s->components && s->places[i] > 1; c++)
			s->out[c][i] /= (float)s->places[i];
	}
}

/* ---- Results --------------------------------------------------------------------------------- */

static void fill(const struct strip *s, float *to, uint32_t word)
{
	for (unsigned int w = 0; w < s->in->warps; w++) {
		for (unsigned int i = 0; i < LANES; i++)
			memcpy(&to[w * LANES + i], &word, sizeof(word));
	}
}

/*
 * Apply the texture's swizzle to components. Comparisons have one; the others are known. What does
 * not move stays where it is.
 */
static void swizzle(const struct strip *s)
{
	static const uint8_t same[4] = {
		TSR_COMPONENT_R, TSR_COMPONENT_G, TSR_COMPONENT_B, TSR_COMPONENT_A,
	};
	const uint8_t *from = s->view->swizzle;
	const size_t size = s->in->warps * LANES * sizeof(float);
	const bool compared = s->components == 1;
	unsigned int moved = 0;
	strip_lanes in;

	if (!compared && !memcmp(from, same, sizeof(same)))
		return;
	for (unsigned int c = 0; c < 4; c++) {
		if (compared ? c && from[c] < 3 : from[c] < 4 && from[c] != c)
			moved |= 1u << (compared ? 0 : from[c]);
	}
	for (unsigned int c = 0; c < s->components; c++) {
		if (moved >> c & 1)
			memcpy(in[c], s->out[c], size);
	}
	for (unsigned int c = 0; c < 4; c++) {
		if (from[c] >= (compared ? 3 : 4))
			fill(s, s->out[c], constant(s, from[c] == TSR_COMPONENT_ONE ||
							from[c] == TSR_COMPONENT_A));
		else if (compared ? c != 0 : from[c] != c)
			memcpy(s->out[c], in[compared ? 0 : from[c]], size);
	}
}

/* Apply the swizzle to gathered texels, of which one component has been looked up. */
static void swizzle_gathered(const struct strip *s)
{
	const bool compared = s->job->shadow;
	const unsigned int from = s->view->swizzle[compared ? 0 : s->job->mode & 3];
	const bool one = from == TSR_COMPONENT_ONE || from == TSR_COMPONENT_A;

	if (from < (compared ? 3 : 4))
		return;
	for (unsigned int c = 0; c < 4; c++)
		fill(s, s->out[c], constant(s, one));
}

/* Make results of what has been looked up. */
static void finish(struct strip *s)
{
	const bool filtered = s->job->operation == TSR_TEXTURE_OPERATION_SAMPLE;

	if (is_gather(s->job)) {
		swizzle_gathered(s);
		return;
	}
	for (unsigned int w = 0; filtered && s->components == 4 && w < s->in->warps &&
				 s->view->kind[0] == TSR_TEX_BLOCK_FLOATS; w++) {
		float *at[4];

		point(at, s->out, w * LANES);
		s->path->one_nan(at, 4);
	}
	swizzle(s);
}

/* A texel that is fetched by its numbers, by lane @i. */
static enum tsr_step fetch_texel(const struct strip *s, unsigned int i, union tsr_texel *texel)
{
	const uint32_t slice = where_of(s, i) >> WHERE_SLICE;
	const struct tsr_texel_place place = {
		.level = where_of(s, i) & (WHERE_NEAR - 1), .x = (uint32_t)s->x[i],
		.y = (uint32_t)s->y[i], .z = is_volume(s->job) ? slice : 0,
		.layer = is_volume(s->job) ? 0 : slice,
	};
	enum tsr_step step = tsr_texel_read(s->env, s->view, false, &place, texel);

	if (step == TSR_STEP_DONE)
		tsr_filter_swizzle(s->view, texel, texel);
	return step;
}

/* Lane @i as msg_filter.c defines it. */
static enum tsr_step do_lane(const struct strip *s, unsigned int i, union tsr_texel *texel)
{
	struct tsr_lookup l;

	if (is_texel(s->job))
		return fetch_texel(s, i, texel);
	l = tsr_strip_lookup(s, i);
	if (!is_volume(s->job))
		l.layer = (where_of(s, i) >> WHERE_SLICE) / (is_cube(s->job) ? TSR_CUBE_FACES : 1);
	if (is_gather(s->job))
		return tsr_filter_gather(&l, where_of(s, i) & (WHERE_NEAR - 1),
					 s->job->shadow ? 0 : s->job->mode & 3, texel);
	if (s->most > 1) {
		l.places = s->places[i];
		l.axis[0] = s->axis[0][i];
		l.axis[1] = s->axis[1][i];
	}
	return tsr_filter_sample(&l, lod_of(s, i), texel);
}

/* The lanes that are left, one by one. */
static enum tsr_step do_rest(struct strip *s)
{
	const bool integer = is_integer(s);

	for (uint64_t left = s->rest; left; left &= left - 1) {
		const unsigned int i = (unsigned int)__builtin_ctzll(left);
		const uint64_t before = s->env->cost.read_bytes;
		union tsr_texel texel;
		enum tsr_step step = do_lane(s, i, &texel);

		if (step != TSR_STEP_DONE)
			return step;
		s->bytes[i / LANES] += s->env->cost.read_bytes - before;
		for (unsigned int c = 0; c < 4; c++) {
			uint32_t word = (uint32_t)texel.i[c];

			if (integer)
				memcpy(&s->out[c][i], &word, sizeof(word));
			else
				s->out[c][i] = texel.f[c];
		}
	}
	return TSR_STEP_DONE;
}

/* Texels that a lookup at @where reads. */
static unsigned int texels_of(const struct strip *s, uint32_t where)
{
	return is_gather(s->job) ? 4 : where & WHERE_NEAR ? 1 : 1u << s->view->dimensions;
}

/* Most warps have all lanes, or none. */
static unsigned int count_lanes(uint16_t lanes)
{
	return lanes == TSR_ALL_LANES ? LANES : lanes ? tsr_lanes_count(lanes) : 0;
}

/* Count the lookups of lanes of warp @w that have been done together. */
static void count_warp(struct strip *s, unsigned int w)
{
	const unsigned int cost = tsr_texel_cost(&s->view->format);
	const uint16_t done = lanes_of_warp(s->all & ~s->rest, w);
	unsigned int lookups = 0, texels = 0;

	if (s->same_texels && s->most == 1) {
		lookups = count_lanes(done) + count_lanes(done & lanes_of_warp(s->mixed, w));
		texels = lookups * (done ? texels_of(s, s->here) : 0);
	}
	for (uint16_t left = done; left && !lookups; left &= left - 1) {
		unsigned int i = w * LANES + (unsigned int)__builtin_ctz(left);
		unsigned int n = (s->most > 1 ? s->places[i] : 1u) << (s->mixed >> i & 1);

		texels += n * texels_of(s, where_of(s, i));
		s->env->textures->stats.samples += is_texel(s->job) ? 0 : n;
	}
	s->env->textures->stats.samples += is_texel(s->job) ? 0 : lookups;
	s->bytes[w] += (uint64_t)texels * cost;
	s->env->cost.read_bytes += (uint64_t)texels * cost;
}

static void clear_others(const struct strip *s)
{
	for (unsigned int w = 0; w < s->in->warps; w++) {
		uint16_t none = s->in->lanes[w] & ~lanes_of_warp(s->all, w);

		for (; none; none &= none - 1) {
			for (unsigned int c = 0; c < 4; c++)
				s->out[c][w * LANES + (unsigned int)__builtin_ctz(none)] = 0;
		}
	}
}

/* Look up texels and make results of them. */
static enum tsr_step do_lookups(struct strip *s)
{
	const struct coordinates at = {
		is_texel(s->job) ? (const float *)s->x : numbers_of(s->in->s),
		is_texel(s->job) ? (const float *)s->y : numbers_of(s->in->t),
		numbers_of(s->in->r),
	};

	s->components = is_gather(s->job) || !s->job->shadow || is_texel(s->job) ? 4 : 1;
	tsr_strip_levels(s);
	if (s->most > 1)
		lookup_places(s);
	else if (s->all)
		lookup_place(s, s->all, &at, s->out);
	finish(s);
	if (s->rest && do_rest(s) != TSR_STEP_DONE)
		return TSR_STEP_PENDING;
	for (unsigned int w = 0; w < s->in->warps; w++)
		count_warp(s, w);
	clear_others(s);
	return TSR_STEP_DONE;
}

/* Gradient descriptors. */
static void describe(struct strip *s)
{
	const struct tsr_texture_job *job = s->job;

	for (unsigned int w = 0; w < s->in->warps; w++) {
		if (has_places(s))
			memset(s->places + w * LANES, 1, LANES);
		if (job->operation == TSR_TEXTURE_OPERATION_GRADIENT)
			tsr_strip_footprints(s, w);
		else
			tsr_strip_lane_footprints(s, w);
	}
	for (unsigned int i = 0; i < s->in->warps * LANES; i++) {
		struct tsr_footprint f = { .lod = s->lod[i], .places = 1 };
		uint32_t word[4];

		if (has_places(s)) {
			f.places = s->places[i];
			f.axis[0] = s->axis[0][i];
			f.axis[1] = s->axis[1][i];
		}
		tsr_footprint_to_words(s->view, s->sampler, &f, !job->offset, !job->shadow, word);
		for (unsigned int c = 0; c < 4; c++)
			memcpy(&s->out[c][i], &word[c], sizeof(word[c]));
	}
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Collect the bounds and modes that tsr_filter_lod() and tsr_lod_levels() apply. */
static void find_rules(const struct tsr_texture_job *job, struct tsr_lod_rules *r)
{
	const struct tsr_texture_view *view = job->view;
	const struct tsr_sampler *s = &job->sampler_view->s;
	const bool integer = tsr_format_is_integer(&view->format);
	const bool normalized = tsr_is_normalized(view, s);
	const uint32_t extent[3] = { view->width, view->height, view->depth };
	int low = s->min_lod > view->min_lod ? s->min_lod : view->min_lod;
	int high = s->max_lod < view->max_lod ? s->max_lod : view->max_lod;

	for (unsigned int d = 0; d < 3; d++)
		r->unit[d] = normalized ? (float)extent[d] : 1;
	r->dimensions = view->dimensions;
	r->bias = s->lod_bias;
	/* what is cut off in the end may be cut off before */
	r->low = low < INT16_MIN ? INT16_MIN : low > INT16_MAX ? INT16_MAX : low;
	r->high = high < INT16_MIN ? INT16_MIN : high > INT16_MAX ? INT16_MAX : high;
	r->cutoff = s->mag_cutoff ? TSR_LOD_ONE / 2 : 0;
	r->last = (view->levels - 1) * TSR_LOD_ONE;
	r->half = s->mipmap == TSR_MIPMAP_MODE_NEAREST ? TSR_LOD_ONE / 2 : 0;
	r->levels = s->mipmap == TSR_MIPMAP_MODE_LINEAR ||
		    s->mipmap == TSR_MIPMAP_MODE_NEAREST ? -1 : 0;
	r->fraction = s->mipmap == TSR_MIPMAP_MODE_LINEAR && !integer ? TSR_LOD_ONE - 1 : 0;
	r->larger = integer || s->mag_nearest ? WHERE_NEAR : 0;
	r->smaller = integer || s->min_nearest ? WHERE_NEAR : 0;
}

/* Find the cached facts about @job's texture with its sampler. */
static struct tsr_texture_plan *plan_of(struct tsr_texture_job *job)
{
	const struct tsr_sampler *s = &job->sampler_view->s;
	const uint32_t sampler = is_texel(job) ? 0 : job->sampler + 1;
	struct tsr_texture_plan *plan =
		&job->env->textures->plan[(job->texture ^ sampler << 1) % TSR_TEXTURE_PLANS];
	const bool same_filter = s->mag_nearest == s->min_nearest ||
				 tsr_format_is_integer(&job->view->format);

	if (plan->view == job->view && plan->view_serial == job->view->serial &&
	    plan->sampler == job->sampler_view &&
	    plan->sampler_serial == job->sampler_view->serial)
		return plan;
	plan->view = job->view;
	plan->view_serial = job->view->serial;
	plan->sampler = job->sampler_view;
	plan->sampler_serial = job->sampler_view->serial;
	plan->one_level = same_filter &&
			  (job->view->levels == 1 || s->mipmap == TSR_MIPMAP_MODE_NONE) &&
			  (job->sampler_view->anisotropy == 1 || s->mag_nearest);
	find_rules(job, &plan->rules);
	for (unsigned int i = 0; i < TSR_PLAN_LEVELS; i++)
		plan->level[i].where = UINT32_MAX;
	return plan;
}

/* Choose the kind of result that lookups return. */
static void find_result(struct tsr_texture_job *job)
{
	job->component = 0;
	if (is_texel(job) || (!is_gather(job) && !job->shadow)) {
		job->result = TSR_LEVEL_FILTER;
	} else if (job->shadow) {
		job->result = is_gather(job) ? TSR_LEVEL_GATHER_COMPARE : TSR_LEVEL_COMPARE;
	} else {
		job->result = TSR_LEVEL_GATHER;
		/* if it is none of a texel, results are a constant */
		job->component = job->view->swizzle[job->mode & 3] & 3;
	}
}

bool tsr_texture_begin(struct tsr_texture_job *job)
{
	/* texels that are fetched by their numbers need none */
	static const struct tsr_sampler_view none = { .anisotropy = 1 };
	struct tsr_msg_env *env = job->env;
	struct tsr_sampler_view *sampler;

	if (!env->textures->path || env->textures->off ||
	    tsr_texture_find(env, job->texture, &job->view) != TSR_STEP_DONE || !job->view ||
	    job->view->dimension != job->dimension || job->view->samples > 1 ||
	    job->view->kind[0] == TSR_TEX_BLOCK_NONE)
		return false;
	job->sampler_view = &none;
	if (!is_texel(job)) {
		if (tsr_sampler_find(env, job->sampler, &sampler) != TSR_STEP_DONE || !sampler)
			return false;
		job->sampler_view = sampler;
	}
	job->plan = plan_of(job);
	find_result(job);
	return true;
}

/* Returns true for samples of one slice of one level without offsets, the most common messages. */
static bool is_plain(const struct tsr_texture_job *job, const struct tsr_texture_bundle *in)
{
	return job->operation == TSR_TEXTURE_OPERATION_SAMPLE && job->plan->one_level &&
	       !is_cube(job) && !is_volume(job) && !in->layer && !in->offsets;
}

/*
 * Do such a strip, without looking at lanes one by one. Returns false if some lane is for
 * msg_filter.c; nothing has been counted then.
 */
static bool do_plain(struct strip *s)
{
	const struct tsr_texture_bundle *in = s->in;
	const uint32_t where = s->sampler->s.mag_nearest || is_integer(s) ? WHERE_NEAR : 0;
	const unsigned int bytes = texels_of(s, where) * tsr_texel_cost(&s->view->format);
	struct tsr_level_lookup *l = level_of(s->job, where);
	uint16_t done[STRIP_WARPS];
	const struct tsr_level_warps w = {
		.count = in->warps, .lanes = in->lanes, .done = done, .s = numbers_of(in->s),
		.t = numbers_of(in->t), .reference = numbers_of(in->reference),
		.rgba = { s->out[0], s->out[1], s->out[2], s->out[3] },
	};
	unsigned int lookups = 0, cycles = 0;

	set_offsets(l, 0);
	find_window(s->env->textures, l);
	if (s->path->lookup(l, &w))
		return false;
	s->components = s->job->shadow ? 1 : 4;
	finish(s);
	for (unsigned int i = 0; i < in->warps; i++) {
		const unsigned int n = count_lanes(in->lanes[i]);

		lookups += n;
		cycles += (n * bytes + 63) / 64;
	}
	s->env->textures->stats.samples += lookups;
	s->env->cost.read_bytes += (uint64_t)lookups * bytes;
	s->env->cost.cycles += cycles;
	return true;
}

/* Do a strip; returns false if that needs memory that cannot be read now. */
static bool do_strip(struct tsr_texture_job *job, const struct tsr_texture_bundle *in)
{
	struct tsr_msg_cost *cost = &job->env->cost;
	struct tsr_texture_cache *cache = job->env->textures;
	const uint64_t samples = cache->stats.samples, bytes = cost->read_bytes;
	struct strip s;

	s.job = job;
	s.env = job->env;
	s.view = job->view;
	s.sampler = job->sampler_view;
	s.path = cache->path;
	s.in = in;
	for (unsigned int c = 0; c < 4; c++)
		s.out[c] = in->rgba[c]->f;
	if (is_plain(job, in) && do_plain(&s))
		return true;
	s.all = s.rest = s.mixed = 0;
	s.alike = false;
	s.most = 1;
	memset(s.bytes, 0, sizeof(s.bytes));
	for (unsigned int w = 0; w < in->warps; w++)
		s.all |= (uint64_t)in->lanes[w] << w * LANES;
	if (!s.all)
		return true;
	if (job->operation < TSR_TEXTURE_OPERATION_FETCH) {
		describe(&s);
		return true;
	}
	if (do_lookups(&s) != TSR_STEP_DONE) {
		cache->stats.samples = samples;
		cost->read_bytes = bytes;
		return false;
	}
	for (unsigned int w = 0; w < in->warps; w++)
		cost->cycles += (s.bytes[w] + 63) / 64;
	return true;
}

static const union tsr_lanes *skip(const union tsr_lanes *lanes, unsigned int warps)
{
	return lanes ? lanes + warps : NULL;
}

/* @warps warps of @b from number @first on. */
static struct tsr_texture_bundle part_of(const struct tsr_texture_bundle *b, unsigned int first,
					 unsigned int warps)
{
	struct tsr_texture_bundle part = {
		.warps = warps, .lanes = b->lanes + first,
		.s = skip(b->s, first), .t = skip(b->t, first), .r = skip(b->r, first),
		.face = b->face ? b->face + first : NULL,
		.layer = skip(b->layer, first), .lod = skip(b->lod, first),
		.axis = skip(b->axis, first), .reference = skip(b->reference, first),
		.offsets = skip(b->offsets, first),
	};

	for (unsigned int d = 0; d < 3; d++)
		part.ddy[d] = skip(b->ddy[d], first);
	for (unsigned int c = 0; c < 4; c++)
		part.rgba[c] = b->rgba[c] + first;
	return part;
}

unsigned int tsr_texture_bundle(struct tsr_texture_job *job, const struct tsr_texture_bundle *b)
{
	unsigned int done = 0, most = STRIP_WARPS;

	if (b->warps <= STRIP_WARPS && do_strip(job, b))
		return b->warps;
	while (done < b->warps) {
		unsigned int left = b->warps - done;
		const struct tsr_texture_bundle part = part_of(b, done, left < most ? left : most);

		if (do_strip(job, &part)) {
			done += part.warps;
			continue;
		}
		if (part.warps == 1)
			break;
		/* find the warp that cannot be done */
		most = 1;
	}
	return done;
}
