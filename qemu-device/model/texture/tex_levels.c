/* SPDX-License-Identifier: MIT */
/*
 * Levels and slices of the lanes of a strip.
 */
#include "tex_strip.h"

/* The lookup of lane @i, without its layer and places. */
struct tsr_lookup tsr_strip_lookup(const struct strip *s, unsigned int i)
{
	const struct tsr_texture_bundle *in = s->in;
	struct tsr_lookup l = {
		.env = s->env, .texture = s->view, .sampler = s->sampler,
		.at = { number_of(in->s, i), number_of(in->t, i), number_of(in->r, i) },
		.face = face_of(s, i), .shadow = s->job->shadow,
		.reference = number_of(in->reference, i),
	};

	for (unsigned int d = 0; d < 3; d++)
		l.offset[d] = (int8_t)(word_of(in->offsets, i) >> 8 * d);
	return l;
}

/* ---- Levels of detail ------------------------------------------------------------------------ */

/* The footprint of lane @i. */
static void set_footprint(struct strip *s, unsigned int i, const struct tsr_footprint *f)
{
	s->lod[i] = f->lod;
	if (!has_places(s))
		return;
	s->places[i] = (uint8_t)f->places;
	s->axis[0][i] = f->axis[0];
	s->axis[1][i] = f->axis[1];
}

/* Quads of @lanes all of whose lanes are there, and on one face. */
static uint16_t whole_quads(const struct strip *s, unsigned int w, uint16_t lanes)
{
	uint16_t whole = 0;

	for (unsigned int q = 0; q < LANES; q += QUAD) {
		const uint8_t *face = s->in->face ? &s->in->face[w][q] : NULL;
		bool same = !face || (face[0] == face[1] && face[0] == face[2] &&
				      face[0] == face[3]);

		if ((lanes >> q & 15) == 15 && same)
			whole |= (uint16_t)(15 << q);
	}
	return whole;
}

/* The footprint of the quad whose first lane is @first, from those of its lanes that are there. */
static void quad_footprint(struct strip *s, unsigned int first, unsigned int present)
{
	struct tsr_footprint f = { .places = 1 };
	struct tsr_lookup l[QUAD];
	float ddx[3], ddy[3];

	for (unsigned int i = 0; i < QUAD; i++) {
		if (present >> i & 1)
			l[i] = tsr_strip_lookup(s, first + i);
	}
	tsr_filter_derivatives(l, present, ddx, ddy);
	tsr_footprint(s->view, s->sampler, ddx, ddy, &f);
	for (unsigned int i = 0; i < QUAD; i++)
		set_footprint(s, first + i, &f);
}

/* Footprints of whole quads of a warp that may have several places. */
static void long_footprints(struct strip *s, unsigned int w, const float *const c[3])
{
	float x[4], y[4];

	s->path->squares(&s->job->plan->rules, c, x, y);
	for (unsigned int q = 0; q < 4; q++) {
		struct tsr_footprint f = { .places = 1 };
		float ddx[2] = { 0 }, ddy[2] = { 0 };

		for (unsigned int d = 0; d < s->view->dimensions; d++) {
			ddx[d] = c[d][QUAD * q + 1] - c[d][QUAD * q];
			ddy[d] = c[d][QUAD * q + 2] - c[d][QUAD * q];
		}
		tsr_footprint_squares(s->view, s->sampler, x[q], y[q], ddx, ddy, &f);
		for (unsigned int i = 0; i < QUAD; i++)
			set_footprint(s, w * LANES + q * QUAD + i, &f);
	}
}

/* Footprints of a warp from its quads' coordinates. */
void tsr_strip_footprints(struct strip *s, unsigned int w)
{
	const struct tsr_texture_bundle *in = s->in;
	const float *const c[3] = { in->s[w].f, in->t ? in->t[w].f : NULL,
				    in->r ? in->r[w].f : NULL };
	const uint16_t lanes = in->lanes[w];
	uint16_t others = lanes & ~whole_quads(s, w, lanes);

	if (has_places(s))
		long_footprints(s, w, c);
	else
		s->path->quad_lods(&s->job->plan->rules, c, s->lod + w * LANES);
	while (others) {
		unsigned int first = (unsigned int)__builtin_ctz(others) & -QUAD;

		quad_footprint(s, w * LANES + first, lanes >> first & 15);
		others &= (uint16_t)~(15 << first);
	}
}

/* Footprints of lanes that have their own derivatives. */
void tsr_strip_lane_footprints(struct strip *s, unsigned int w)
{
	const struct tsr_texture_bundle *in = s->in;
	const union tsr_lanes *c[3] = { in->s, in->t, in->r };
	const float *dx[3] = { NULL }, *dy[3] = { NULL };

	for (unsigned int d = 0; d < s->view->dimensions; d++) {
		dx[d] = c[d][w].f;
		dy[d] = in->ddy[d][w].f;
	}
	s->path->lane_lods(&s->job->plan->rules, dx, dy, s->lod + w * LANES);
	for (unsigned int i = 0; i < LANES && has_places(s); i++) {
		struct tsr_footprint f = { .places = 1 };
		float ddx[3] = { 0 }, ddy[3] = { 0 };

		for (unsigned int d = 0; d < s->view->dimensions; d++) {
			ddx[d] = dx[d][i];
			ddy[d] = dy[d][i];
		}
		tsr_footprint(s->view, s->sampler, ddx, ddy, &f);
		set_footprint(s, w * LANES + i, &f);
	}
}

/* Places that gradient descriptors say. */
static void staged_footprints(struct strip *s, unsigned int w)
{
	for (unsigned int i = 0; i < LANES; i++) {
		struct tsr_footprint f = { .lod = 0 };

		tsr_footprint_from_words(s->view, s->sampler, s->in->lod[w].u[i],
					 s->in->axis[w].u[i], &f);
		set_footprint(s, w * LANES + i, &f);
	}
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* Lanes that have several places have them in a filter within a level. */
static void bound_places(struct strip *s)
{
	for (unsigned int i = 0; i < s->in->warps * LANES; i++) {
		if (s->where[i] & WHERE_NEAR)
			s->places[i] = 1;
		if ((s->all >> i & 1) && s->places[i] > s->most)
			s->most = s->places[i];
	}
}

/* Levels of filtered samples. */
static void sample_levels(struct strip *s)
{
	const struct tsr_texture_bundle *in = s->in;
	const unsigned int mode = s->job->mode;
	const struct tsr_texture_plan *plan = s->job->plan;

	if (plan->one_level) {
		s->alike = true;
		s->here = s->sampler->s.mag_nearest || is_integer(s) ? WHERE_NEAR : 0;
		return;
	}
	for (unsigned int w = 0; w < in->warps; w++) {
		const struct tsr_lane_levels to = { s->lod + w * LANES, s->where + w * LANES,
						    s->weight + w * LANES };
		uint16_t mixed;

		memset(to.lod, 0, LANES * sizeof(*to.lod));
		if (has_places(s))
			memset(s->places + w * LANES, 1, LANES);
		if (mode == TSR_TEXTURE_LOD_COMPUTED || mode == TSR_TEXTURE_LOD_BIAS)
			tsr_strip_footprints(s, w);
		else if (mode == TSR_TEXTURE_LOD_GRADIENT && has_places(s))
			staged_footprints(s, w);
		mixed = s->path->lane_levels(&plan->rules, mode, in->lod ? in->lod[w].u : NULL,
					     &to);
		s->mixed |= (uint64_t)mixed << w * LANES;
	}
	if (has_places(s))
		bound_places(s);
}

/* Levels of gathers, as they are staged. */
static void gather_levels(struct strip *s)
{
	const union tsr_lanes *lod = s->in->lod;
	const uint32_t word = word_of(lod, (unsigned int)__builtin_ctzll(s->all));

	if (!(s->all & ~equal(s, words_of(lod), word))) {
		s->alike = true;
		s->here = word >> 8 & 0xff;
		if (s->here >= s->view->levels)
			s->all = 0;
		return;
	}
	for (unsigned int i = 0; i < s->in->warps * LANES; i++) {
		s->where[i] = word_of(s->in->lod, i) >> 8 & 0xff;
		if (s->where[i] >= s->view->levels)
			s->all &= ~(1ull << i);
	}
}

/* The slice of lane @i of an array or a cube, whose face is @face. Returns false if it has none. */
static bool find_slice(const struct strip *s, unsigned int i, unsigned int face, uint32_t *slice)
{
	const uint32_t layers = s->view->layers / (is_cube(s->job) ? TSR_CUBE_FACES : 1);
	uint32_t layer = word_of(s->in->layer, i);

	if (layer >= layers && s->sampler->s.clamp_layer)
		layer = layers - 1;
	*slice = is_cube(s->job) ? layer * TSR_CUBE_FACES + face : layer;
	return layer < layers && face < TSR_CUBE_FACES;
}

/* Returns true if all lanes of all warps are on the same face. */
static bool is_one_face(const struct strip *s)
{
	const uint8_t *face = s->in->face ? s->in->face[0] : NULL;
	const size_t lanes = s->in->warps * LANES;

	return face && (uint64_t)~0ull >> (64 - lanes) == s->all &&
	       !memcmp(face, face + 1, lanes - 1);
}

/* Slices of lanes that are in the same level, if all of them have the same one. */
static bool find_one_slice(struct strip *s)
{
	const unsigned int first = s->all ? (unsigned int)__builtin_ctzll(s->all) : 0;
	const union tsr_lanes *layer = s->in->layer;
	uint32_t slice;

	if (!s->all || !s->alike || (is_cube(s->job) && !is_one_face(s)) ||
	    (layer && s->all & ~equal(s, words_of(layer), word_of(layer, first))))
		return false;
	if (!find_slice(s, first, face_of(s, first), &slice))
		s->all = 0;
	s->here |= slice << WHERE_SLICE;
	return true;
}

/* Slices of arrays. */
static void find_layers(struct strip *s)
{
	const uint32_t layers = s->view->layers, last = layers - 1;
	const bool clamp = s->sampler->s.clamp_layer, alike = s->alike;
	const uint32_t here = s->here;
	uint32_t inside[STRIP] __attribute__((aligned(64)));

	for (unsigned int w = 0; w < s->in->warps; w++) {
		const uint32_t *layer = s->in->layer[w].u;
		uint32_t *where = s->where + w * LANES;

		for (unsigned int i = 0; i < LANES; i++) {
			const bool in = layer[i] < layers;
			const uint32_t slice = in ? layer[i] : last;

			where[i] = (alike ? here : where[i]) | slice << WHERE_SLICE;
			inside[w * LANES + i] = in | clamp;
		}
	}
	s->all &= equal(s, inside, 1);
	s->alike = false;
}

/* Slices of arrays and cubes. */
static void find_slices(struct strip *s)
{
	if ((!s->in->layer && !is_cube(s->job)) || find_one_slice(s))
		return;
	if (!is_cube(s->job)) {
		find_layers(s);
		return;
	}
	for (unsigned int i = 0; i < s->in->warps * LANES; i++) {
		unsigned int face = is_texel(s->job) ? word_of(s->in->lod, i) >> 16 : face_of(s, i);
		uint32_t slice;

		if (!find_slice(s, i, face, &slice))
			s->all &= ~(1ull << i);
		s->where[i] = where_of(s, i) | slice << WHERE_SLICE;
	}
	s->alike = false;
}

/* Find texels of volumes: those that find_plain_texels() has found, in their slices. */
static void find_plain_slices(struct strip *s, uint32_t here)
{
	const uint32_t depth = tsr_level_extent(s->view->depth, here & (WHERE_NEAR - 1));
	uint32_t inside[STRIP] __attribute__((aligned(64)));

	for (unsigned int w = 0; w < s->in->warps; w++) {
		const uint32_t *z = s->in->r[w].u;

		for (unsigned int i = 0; i < LANES; i++) {
			inside[w * LANES + i] = z[i] < depth;
			s->where[w * LANES + i] = here | z[i] << WHERE_SLICE;
		}
	}
	s->all &= equal(s, inside, 1);
	s->alike = false;
}

/* Find texels of 2D textures and volumes. Returns false if levels differ or there are offsets. */
static bool find_plain_texels(struct strip *s)
{
	const struct tsr_texture_bundle *in = s->in;
	const uint32_t level = word_of(in->lod, (unsigned int)__builtin_ctzll(s->all)) & 0xff00;
	const uint32_t width = tsr_level_extent(s->view->width, level >> 8);
	const uint32_t height = tsr_level_extent(s->view->height, level >> 8);

	if ((s->job->dimension != TSR_TEXTURE_DIMENSION_2D && !is_volume(s->job)) || in->offsets ||
	    level >> 8 >= s->view->levels || s->all & ~equal(s, words_of(in->lod), level))
		return false;
	for (unsigned int w = 0; w < in->warps; w++) {
		const uint32_t *x = in->s[w].u, *y = in->t[w].u;
		uint32_t *inside = s->where + w * LANES;

		memcpy(s->x + w * LANES, x, sizeof(in->s[w].u));
		memcpy(s->y + w * LANES, y, sizeof(in->t[w].u));
		for (unsigned int i = 0; i < LANES; i++)
			inside[i] = (x[i] < width) & (y[i] < height);
	}
	s->all &= equal(s, s->where, 1);
	s->alike = true;
	s->here = level >> 8 | WHERE_NEAR;
	if (is_volume(s->job))
		find_plain_slices(s, s->here);
	return true;
}

/* Where texels are that are fetched by their numbers; lanes whose texels are outside get 0. */
static void find_texels(struct strip *s)
{
	const struct tsr_texture_bundle *in = s->in;
	const struct tsr_texture_view *v = s->view;

	if (find_plain_texels(s))
		return;
	for (unsigned int i = 0; i < in->warps * LANES; i++) {
		const uint32_t level = word_of(in->lod, i) >> 8 & 0xff;
		const uint32_t offsets = word_of(in->offsets, i);
		/* what wraps around is outside, too */
		uint32_t x = word_of(in->s, i) + (uint32_t)(int8_t)offsets, y = 0, z = 0;

		if (v->dimensions > 1)
			y = word_of(in->t, i) + (uint32_t)(int8_t)(offsets >> 8);
		if (is_volume(s->job))
			z = word_of(in->r, i) + (uint32_t)(int8_t)(offsets >> 16);
		if (level >= v->levels || offsets >> 24 || x >= tsr_level_extent(v->width, level) ||
		    y >= tsr_level_extent(v->height, level) ||
		    z >= tsr_level_extent(v->depth, level)) {
			s->all &= ~(1ull << i);
			s->where[i] = 0;
			continue;
		}
		s->x[i] = (int32_t)x;
		s->y[i] = (int32_t)y;
		s->where[i] = level | WHERE_NEAR | z << WHERE_SLICE;
	}
}

void tsr_strip_levels(struct strip *s)
{
	if (is_texel(s->job))
		find_texels(s);
	else if (is_gather(s->job))
		gather_levels(s);
	else
		sample_levels(s);
	s->same_texels = s->alike || is_texel(s->job);
	find_slices(s);
	s->mixed &= s->all;
	if (s->all && !s->alike) {
		s->here = s->where[__builtin_ctzll(s->all)];
		s->alike = !(s->all & ~equal(s, s->where, s->here));
		s->same_texels |= s->alike;
	}
}
