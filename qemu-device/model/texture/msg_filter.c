/* SPDX-License-Identifier: MIT */
/*
 * Filters of the texture unit: wrapping, linear filters, cube edges, levels of detail.
 */
#include <math.h>

#include "tex_cache.h"

#define FACES TSR_CUBE_FACES
/* Coordinates are at most this many texels from 0. */
#define FARTHEST 0x1p22f

/* ---- Cube maps ------------------------------------------------------------------------------- */

/* A face: the axes of its direction and of its two coordinates, with their signs. */
struct face {
	int8_t axis, sign;		/* of the face's direction: 0 x, 1 y, 2 z */
	int8_t s_axis, s_sign;
	int8_t t_axis, t_sign;
};

static const struct face faces[FACES] = {
	{ 0, 1, 2, -1, 1, -1 },		/* +x: s is -z, t is -y */
	{ 0, -1, 2, 1, 1, -1 },
	{ 1, 1, 0, 1, 2, 1 },
	{ 1, -1, 0, 1, 2, -1 },
	{ 2, 1, 0, 1, 1, -1 },
	{ 2, -1, 0, -1, 1, -1 },
};

/*
 * A texel one beyond an edge of a face of @n by @n texels is the outermost one of the face next to
 * it. Centres of texels in units of half a texel: from -(n - 1) to n - 1 on a face, n off its
 * plane.
 */
static void cross_edge(int n, unsigned int *face, int64_t *x, int64_t *y)
{
	const struct face *f = &faces[*face];
	int s = (int)(2 * *x + 1 - n), t = (int)(2 * *y + 1 - n);
	bool over_s = s < 1 - n || s > n - 1;
	int v[3];

	/* The direction of the edge is now the larger one, after it what was the face's. */
	v[f->axis] = f->sign * (n - 1);
	v[f->s_axis] = f->s_sign * (over_s ? (s < 0 ? -n : n) : s);
	v[f->t_axis] = f->t_sign * (over_s ? t : (t < 0 ? -n : n));
	for (*face = 0; *face < FACES; ++*face) {
		f = &faces[*face];
		if (v[f->axis] == f->sign * n)
			break;
	}
	*x = (v[f->s_axis] * f->s_sign + n - 1) / 2;
	*y = (v[f->t_axis] * f->t_sign + n - 1) / 2;
}

/* ---- Single texels of a filter --------------------------------------------------------------- */

static int64_t modulo(int64_t i, int64_t n)
{
	i %= n;
	return i < 0 ? i + n : i;
}

/* Texel @i of @n after wrapping; -1: the border. */
static int64_t wrap_texel(unsigned int mode, int64_t i, int64_t n)
{
	switch (mode) {
	case TSR_WRAP_MODE_REPEAT:
		return modulo(i, n);
	case TSR_WRAP_MODE_MIRRORED_REPEAT:
		i = modulo(i, 2 * n);
		return i < n ? i : 2 * n - 1 - i;
	case TSR_WRAP_MODE_MIRRORED_CLAMP_TO_EDGE:
	case TSR_WRAP_MODE_MIRRORED_CLAMP_TO_BORDER:
		i = i < 0 ? -1 - i : i;
		if (i >= n)
			return mode == TSR_WRAP_MODE_MIRRORED_CLAMP_TO_EDGE ? n - 1 : -1;
		return i;
	case TSR_WRAP_MODE_CLAMP_TO_BORDER:
		return i < 0 || i >= n ? -1 : i;
	default:
		return i < 0 ? 0 : i >= n ? n - 1 : i;
	}
}

static bool compare(unsigned int function, float texel, float reference)
{
	switch (function) {
	case TSR_COMPARE_FUNCTION_LESS:
		return texel < reference;
	case TSR_COMPARE_FUNCTION_EQUAL:
		return texel == reference;
	case TSR_COMPARE_FUNCTION_LEQUAL:
		return texel <= reference;
	case TSR_COMPARE_FUNCTION_GREATER:
		return texel > reference;
	case TSR_COMPARE_FUNCTION_NOT_EQUAL:
		return texel != reference;
	case TSR_COMPARE_FUNCTION_GEQUAL:
		return texel >= reference;
	default:
		return function == TSR_COMPARE_FUNCTION_ALWAYS;
	}
}

/* A texel that has been read becomes what the lookup asks for. */
static void finish_texel(const struct tsr_lookup *l, union tsr_texel *texel)
{
	const struct tsr_format *format = &l->texture->format;
	float reference = l->reference;
	float depth;

	if (!l->shadow)
		return;
	depth = tsr_format_is_integer(format) ? (float)texel->i[0] : texel->f[0];
	if (format->kind == TSR_FORMAT_KIND_UNORM)
		reference = reference > 0 ? (reference < 1 ? reference : 1) : 0;
	depth = compare(l->sampler->s.compare, depth, reference);
	for (unsigned int c = 0; c < 4; c++) {
		if (tsr_format_is_integer(format))
			texel->i[c] = c == 3 ? 1 : (int64_t)depth;
		else
			texel->f[c] = c == 3 ? 1 : depth;
	}
}

/* Texel (@x, @y, @z) of a level, wrapped as the sampler says. */
static enum tsr_step plane_texel(const struct tsr_lookup *l, unsigned int level, int64_t x,
				 int64_t y, int64_t z, union tsr_texel *texel)
{
	struct tsr_texture_view *t = l->texture;
	struct tsr_texel_place place = { .level = level, .layer = l->layer };

	x = wrap_texel(l->sampler->s.wrap_s, x, tsr_level_extent(t->width, level));
	/* offsets in dimensions that the texture does not have count for nothing */
	y = t->dimension == TSR_TEXTURE_DIMENSION_1D ? 0 :
	    wrap_texel(l->sampler->s.wrap_t, y, tsr_level_extent(t->height, level));
	z = t->dimension != TSR_TEXTURE_DIMENSION_3D ? 0 :
	    wrap_texel(l->sampler->s.wrap_r, z, tsr_level_extent(t->depth, level));
	if (x < 0 || y < 0 || z < 0) {
		tsr_texel_border(t, &l->sampler->s, texel);
	} else {
		enum tsr_step step;

		place.x = x;
		place.y = y;
		place.z = z;
		step = tsr_texel_read(l->env, t, l->sampler->s.srgb_override, &place, texel);
		if (step != TSR_STEP_DONE)
			return step;
	}
	finish_texel(l, texel);
	return TSR_STEP_DONE;
}

/* Texel of a face, which may be one beyond its edges. */
static enum tsr_step face_texel(const struct tsr_lookup *l, unsigned int level, unsigned int face,
				int64_t x, int64_t y, union tsr_texel *texel)
{
	int64_t n = tsr_level_extent(l->texture->width, level);
	struct tsr_texel_place place = { .level = level };
	enum tsr_step step;

	if (l->sampler->s.seamless && (x < 0 || x >= n || y < 0 || y >= n))
		cross_edge((int)n, &face, &x, &y);
	place.layer = l->layer * FACES + face;
	place.x = wrap_texel(TSR_WRAP_MODE_CLAMP_TO_EDGE, x, n);
	place.y = wrap_texel(TSR_WRAP_MODE_CLAMP_TO_EDGE, y,
			     tsr_level_extent(l->texture->height, level));
	step = tsr_texel_read(l->env, l->texture, l->sampler->s.srgb_override, &place, texel);
	if (step == TSR_STEP_DONE)
		finish_texel(l, texel);
	return step;
}

/* A corner of a cube: three texels meet, what a fourth would be is their mean. */
static enum tsr_step corner_texel(const struct tsr_lookup *l, unsigned int level, int64_t x,
				  int64_t y, union tsr_texel *texel)
{
	int64_t n = tsr_level_extent(l->texture->width, level);
	int64_t inner_x = x < 0 ? 0 : n - 1, inner_y = y < 0 ? 0 : n - 1;
	const int64_t at[3][2] = { { inner_x, inner_y }, { x, inner_y }, { inner_x, y } };
	bool integer = tsr_format_is_integer(&l->texture->format);
	union tsr_texel part[3];

	for (unsigned int i = 0; i < 3; i++) {
		enum tsr_step step = face_texel(l, level, l->face, at[i][0], at[i][1], &part[i]);

		if (step != TSR_STEP_DONE)
			return step;
	}
	*texel = part[0];
	for (unsigned int c = 0; c < 4 && !integer; c++)
		texel->f[c] = (part[0].f[c] + part[1].f[c] + part[2].f[c]) / 3;
	return TSR_STEP_DONE;
}

/* Texel (@x, @y, @z), offsets added. */
static enum tsr_step filter_texel(const struct tsr_lookup *l, unsigned int level, int64_t x,
				  int64_t y, int64_t z, union tsr_texel *texel)
{
	int64_t n = tsr_level_extent(l->texture->width, level);

	x += l->offset[0];
	y += l->offset[1];
	z += l->offset[2];
	if (l->texture->dimension != TSR_TEXTURE_DIMENSION_CUBE)
		return plane_texel(l, level, x, y, z, texel);
	/* whatever offsets add, there is one texel around a face, no more */
	x = x < -1 ? -1 : x > n ? n : x;
	y = y < -1 ? -1 : y > n ? n : y;
	if (l->sampler->s.seamless && (x < 0 || x >= n) && (y < 0 || y >= n))
		return corner_texel(l, level, x, y, texel);
	return face_texel(l, level, l->face, x, y, texel);
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* Coordinate @c in texels of something of @n texels. */
static float scale(const struct tsr_lookup *l, float c, uint32_t n)
{
	float x = tsr_is_normalized(l->texture, &l->sampler->s) ? c * (float)n : c;

	if (!(x > -FARTHEST))		/* NaN too */
		return x < 0 ? -FARTHEST : 0;
	return x < FARTHEST ? x : FARTHEST;
}

/* Where the coordinates lie in a level: texels, 0 in dimensions the texture does not have. */
static void position(const struct tsr_lookup *l, unsigned int level, float at[3])
{
	const struct tsr_texture_view *t = l->texture;
	const uint32_t extent[3] = { t->width, t->height, t->depth };

	for (unsigned int d = 0; d < 3; d++)
		at[d] = d < t->dimensions
			? scale(l, l->at[d], tsr_level_extent(extent[d], level)) : 0;
}

/* The lower of the two texels around @x, and the weight of the upper one. */
static int32_t split(const struct tsr_lookup *l, float x, float *weight)
{
	int32_t fixed = (int32_t)rintf(x * TSR_TEXEL_ONE) - l->texture->center;

	*weight = (float)(fixed & (TSR_TEXEL_ONE - 1)) / TSR_TEXEL_ONE;
	return fixed >> 8;
}

static void mix(union tsr_texel *a, const union tsr_texel *b, float weight)
{
	for (unsigned int c = 0; c < 4; c++)
		a->f[c] += (b->f[c] - a->f[c]) * weight;
}

/* The nearest texel of a level. */
static enum tsr_step nearest(const struct tsr_lookup *l, unsigned int level,
			     union tsr_texel *result)
{
	float half = l->texture->center ? 0 : 0.5f;
	int32_t texel[3] = { 0 };
	float at[3];

	position(l, level, at);
	for (unsigned int d = 0; d < l->texture->dimensions; d++)
		texel[d] = (int32_t)floorf(at[d] + half);
	return filter_texel(l, level, texel[0], texel[1], texel[2], result);
}

/* Bytes are filtered as integers, which is exact. */
static void enlarge(union tsr_texel *texel)
{
	for (unsigned int c = 0; c < 4; c++)
		texel->f[c] *= 255;
}

static void reduce(union tsr_texel *texel)
{
	for (unsigned int c = 0; c < 4; c++)
		texel->f[c] /= 255;
}

/* The mean of the texels around, weighted by how near they are. */
static enum tsr_step linear(const struct tsr_lookup *l, unsigned int level,
			    union tsr_texel *result)
{
	const struct tsr_texture_view *t = l->texture;
	bool bytes = t->kind[l->sampler->s.srgb_override] == TSR_TEX_BLOCK_BYTES && !l->shadow;
	unsigned int dims = t->dimensions;
	union tsr_texel corner[8];
	int32_t base[3] = { 0 };
	float weight[3];
	float at[3];

	position(l, level, at);
	for (unsigned int d = 0; d < dims; d++)
		base[d] = split(l, at[d], &weight[d]);
	for (unsigned int i = 0; i < 1u << dims; i++) {
		enum tsr_step step = filter_texel(l, level, base[0] + (int)(i & 1),
						  base[1] + (int)(i >> 1 & 1),
						  base[2] + (int)(i >> 2), &corner[i]);

		if (step != TSR_STEP_DONE)
			return step;
		if (bytes)
			enlarge(&corner[i]);
	}
	for (unsigned int d = 0; d < dims; d++) {
		for (unsigned int i = 0; i < 1u << (dims - 1 - d); i++) {
			corner[i] = corner[2 * i];
			mix(&corner[i], &corner[2 * i + 1], weight[d]);
		}
	}
	if (bytes)
		reduce(&corner[0]);
	*result = corner[0];
	return TSR_STEP_DONE;
}

/* One place, in one level or between two. */
static enum tsr_step sample_place(const struct tsr_lookup *l, const struct tsr_levels *levels,
				  union tsr_texel *result)
{
	enum tsr_step (*filter)(const struct tsr_lookup *l, unsigned int level,
				union tsr_texel *result) = levels->near ? nearest : linear;
	enum tsr_step step = filter(l, levels->level, result);
	union tsr_texel next;

	l->env->textures->stats.samples++;
	if (step != TSR_STEP_DONE || levels->weight == 0)
		return step;
	l->env->textures->stats.samples++;
	step = filter(l, levels->level + 1, &next);
	mix(result, &next, levels->weight);
	return step;
}

void tsr_filter_swizzle(const struct tsr_texture_view *texture, const union tsr_texel *texel,
			union tsr_texel *result)
{
	bool integer = tsr_format_is_integer(&texture->format);
	const union tsr_texel in = *texel;

	for (unsigned int c = 0; c < 4; c++) {
		unsigned int from = texture->swizzle[c];

		if (integer)
			result->i[c] = from < 4 ? in.i[from] : from == TSR_COMPONENT_ONE;
		else
			result->f[c] = from < 4 ? in.f[from] : from == TSR_COMPONENT_ONE;
	}
}

/*
 * A place of a cube's sample that lies beyond the edge of its face is a place of the face it lies
 * before.
 */
static void find_face(struct tsr_lookup *l)
{
	const struct face *f = &faces[l->face];
	float v[3], m = 0;

	if (l->texture->dimension != TSR_TEXTURE_DIMENSION_CUBE ||
	    (l->at[0] >= 0 && l->at[0] <= 1 && l->at[1] >= 0 && l->at[1] <= 1))
		return;
	v[f->axis] = f->sign;
	v[f->s_axis] = f->s_sign * (2 * l->at[0] - 1);
	v[f->t_axis] = f->t_sign * (2 * l->at[1] - 1);
	for (unsigned int face = 0; face < FACES; face++) {
		if (v[faces[face].axis] * faces[face].sign > m) {
			m = v[faces[face].axis] * faces[face].sign;
			l->face = face;
		}
	}
	f = &faces[l->face];
	l->at[0] = (v[f->s_axis] * f->s_sign / m + 1) * 0.5f;
	l->at[1] = (v[f->t_axis] * f->t_sign / m + 1) * 0.5f;
}

enum tsr_step tsr_filter_sample(const struct tsr_lookup *l, int lod, union tsr_texel *result)
{
	const struct tsr_levels levels = tsr_lod_levels(l->texture, &l->sampler->s, lod);
	unsigned int places = levels.near || l->places < 1 ? 1 : l->places;
	struct tsr_lookup place = *l;
	union tsr_texel sum = { .f = { 0 } };
	enum tsr_step step = TSR_STEP_DONE;

	for (unsigned int i = 0; i < places && step == TSR_STEP_DONE; i++) {
		if (places > 1) {
			float along = tsr_footprint_place(i, places);

			place.face = l->face;
			place.at[0] = l->at[0] + l->axis[0] * along;
			place.at[1] = l->at[1] + l->axis[1] * along;
			find_face(&place);
		}
		step = sample_place(&place, &levels, result);
		for (unsigned int c = 0; c < 4 && places > 1; c++)
			sum.f[c] += result->f[c];
	}
	if (step != TSR_STEP_DONE)
		return step;
	for (unsigned int c = 0; c < 4 && places > 1; c++)
		result->f[c] = sum.f[c] / (float)places;
	for (unsigned int c = 0; c < 4 && !tsr_format_is_integer(&l->texture->format); c++)
		result->f[c] = tsr_one_nan(result->f[c]);
	tsr_filter_swizzle(l->texture, result, result);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_filter_gather(const struct tsr_lookup *l, unsigned int level,
				unsigned int component, union tsr_texel *result)
{
	bool integer = tsr_format_is_integer(&l->texture->format);
	int32_t x, y = 0, z = 0;
	float at[3], weight;

	position(l, level, at);
	x = split(l, at[0], &weight);
	if (l->texture->dimensions > 1)
		y = split(l, at[1], &weight);
	if (l->texture->dimensions > 2)
		z = (int32_t)floorf(at[2]);
	l->env->textures->stats.samples++;
	for (unsigned int i = 0; i < 4; i++) {
		union tsr_texel texel;
		enum tsr_step step = filter_texel(l, level, x + (int)(i % 2), y + (int)(i / 2), z,
						  &texel);

		if (step != TSR_STEP_DONE)
			return step;
		tsr_filter_swizzle(l->texture, &texel, &texel);
		if (integer)
			result->i[i] = texel.i[component];
		else
			result->f[i] = texel.f[component];
	}
	return TSR_STEP_DONE;
}

/* ---- Derivatives ----------------------------------------------------------------------------- */

/* The coordinates of @l on the plane of face @face; false: they are not before it. */
static bool project(const struct tsr_lookup *l, unsigned int face, float at[3])
{
	const struct face *f = &faces[l->face];
	double v[3], m;

	v[f->axis] = f->sign;
	v[f->s_axis] = f->s_sign * (2.0 * l->at[0] - 1);
	v[f->t_axis] = f->t_sign * (2.0 * l->at[1] - 1);
	f = &faces[face];
	m = v[f->axis] * f->sign;
	if (!(m > 0))
		return false;
	at[0] = (float)((v[f->s_axis] * f->s_sign / m + 1) / 2);
	at[1] = (float)((v[f->t_axis] * f->t_sign / m + 1) / 2);
	at[2] = 0;
	return true;
}

/* The difference between two lanes of a quad; false if one of them is not active. */
static bool difference(const struct tsr_lookup quad[4], unsigned int active, unsigned int a,
		       unsigned int b, float d[3])
{
	const struct tsr_lookup *from = &quad[a], *to = &quad[b];
	float at[3];

	if (!(active >> a & 1) || !(active >> b & 1))
		return false;
	memcpy(at, to->at, sizeof(at));
	if (from->texture->dimension == TSR_TEXTURE_DIMENSION_CUBE && from->face != to->face &&
	    !project(to, from->face, at))
		return false;
	for (unsigned int i = 0; i < 3; i++)
		d[i] = at[i] - from->at[i];
	return true;
}

void tsr_filter_derivatives(const struct tsr_lookup quad[4], unsigned int active, float ddx[3],
			    float ddy[3])
{
	memset(ddx, 0, 3 * sizeof(*ddx));
	memset(ddy, 0, 3 * sizeof(*ddy));
	/* the upper row and the left column, or else the other ones */
	if (!difference(quad, active, 0, 1, ddx))
		difference(quad, active, 2, 3, ddx);
	if (!difference(quad, active, 0, 2, ddy))
		difference(quad, active, 1, 3, ddy);
}
