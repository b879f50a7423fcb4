/* SPDX-License-Identifier: MIT */
/*
 * Filters of the texture unit: wrapping, linear filters, cube edges, levels of detail.
 */
#include <math.h>

#include "msg_texture.h"

#define FACES 6
/* Coordinates beyond this many texels have no fraction; it keeps indices in 64 bits. */
#define FARTHEST 0x1p40

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

	/* The direction of the edge is now the larger one, behind it what was the face's. */
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
static int64_t wrap(unsigned int mode, int64_t i, int64_t n)
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
	depth = compare(l->sampler->compare, depth, reference);
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

	x = wrap(l->sampler->wrap_s, x, tsr_level_extent(t->width, level));
	/* offsets in dimensions that the texture does not have count for nothing */
	y = t->dimension == TSR_TEXTURE_DIMENSION_1D ? 0 :
	    wrap(l->sampler->wrap_t, y, tsr_level_extent(t->height, level));
	z = t->dimension != TSR_TEXTURE_DIMENSION_3D ? 0 :
	    wrap(l->sampler->wrap_r, z, tsr_level_extent(t->depth, level));
	if (x < 0 || y < 0 || z < 0) {
		tsr_texel_border(t, l->sampler, texel);
	} else {
		enum tsr_step step;

		place.x = x;
		place.y = y;
		place.z = z;
		step = tsr_texel_read(l->env, t, l->sampler->srgb_override, &place, texel);
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

	if (l->sampler->seamless && (x < 0 || x >= n || y < 0 || y >= n))
		cross_edge((int)n, &face, &x, &y);
	place.layer = l->layer * FACES + face;
	place.x = wrap(TSR_WRAP_MODE_CLAMP_TO_EDGE, x, n);
	place.y = wrap(TSR_WRAP_MODE_CLAMP_TO_EDGE, y, tsr_level_extent(l->texture->height, level));
	step = tsr_texel_read(l->env, l->texture, l->sampler->srgb_override, &place, texel);
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
	if (l->sampler->seamless && (x < 0 || x >= n) && (y < 0 || y >= n))
		return corner_texel(l, level, x, y, texel);
	return face_texel(l, level, l->face, x, y, texel);
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* The number of dimensions that a filter works in. */
static unsigned int dimensions(const struct tsr_texture_view *texture)
{
	switch (texture->dimension) {
	case TSR_TEXTURE_DIMENSION_1D:
		return 1;
	case TSR_TEXTURE_DIMENSION_3D:
		return 3;
	default:
		return 2;
	}
}

/* Coordinate @c in texels of something of @n texels. */
static double scale(const struct tsr_lookup *l, float c, uint32_t n)
{
	double x = l->sampler->normalized || l->texture->normalize ||
		   l->texture->dimension == TSR_TEXTURE_DIMENSION_CUBE ? (double)c * n : c;

	if (!(x > -FARTHEST))		/* NaN too */
		return x < 0 ? -FARTHEST : 0;
	return x < FARTHEST ? x : FARTHEST;
}

/* Where the coordinates lie in a level: texels, 0 in dimensions the texture does not have. */
static void position(const struct tsr_lookup *l, unsigned int level, double at[3])
{
	const struct tsr_texture_view *t = l->texture;
	unsigned int dims = dimensions(t);

	at[0] = scale(l, l->x, tsr_level_extent(t->width, level));
	at[1] = dims > 1 ? scale(l, l->y, tsr_level_extent(t->height, level)) : 0;
	at[2] = dims > 2 ? scale(l, l->z, tsr_level_extent(t->depth, level)) : 0;
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
	double half = 0.5 - l->texture->center;
	unsigned int dims = dimensions(l->texture);
	double at[3];

	position(l, level, at);
	return filter_texel(l, level, (int64_t)floor(at[0] + half),
			    dims > 1 ? (int64_t)floor(at[1] + half) : 0,
			    dims > 2 ? (int64_t)floor(at[2] + half) : 0, result);
}

/* The mean of the texels around, weighted by how near they are. */
static enum tsr_step linear(const struct tsr_lookup *l, unsigned int level,
			    union tsr_texel *result)
{
	unsigned int dims = dimensions(l->texture);
	union tsr_texel corner[8];
	int64_t base[3] = { 0 };
	float weight[3];
	double at[3];

	position(l, level, at);
	for (unsigned int d = 0; d < dims; d++) {
		double low = floor(at[d] - l->texture->center);

		base[d] = (int64_t)low;
		weight[d] = (float)(at[d] - l->texture->center - low);
	}
	for (unsigned int i = 0; i < 1u << dims; i++) {
		enum tsr_step step = filter_texel(l, level, base[0] + (i & 1),
						  base[1] + (i >> 1 & 1), base[2] + (i >> 2),
						  &corner[i]);

		if (step != TSR_STEP_DONE)
			return step;
	}
	for (unsigned int d = 0; d < dims; d++) {
		for (unsigned int i = 0; i < 1u << (dims - 1 - d); i++) {
			corner[i] = corner[2 * i];
			mix(&corner[i], &corner[2 * i + 1], weight[d]);
		}
	}
	*result = corner[0];
	return TSR_STEP_DONE;
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

enum tsr_step tsr_filter_sample(const struct tsr_lookup *l, int lod, union tsr_texel *result)
{
	const struct tsr_texture_view *t = l->texture;
	const struct tsr_sampler *s = l->sampler;
	bool larger = lod <= (s->mag_cutoff ? TSR_LOD_ONE / 2 : 0);
	bool near = larger ? s->mag_nearest : s->min_nearest;
	bool integer = tsr_format_is_integer(&t->format);
	enum tsr_step (*filter)(const struct tsr_lookup *l, unsigned int level,
				union tsr_texel *result) = near || integer ? nearest : linear;
	int last = (t->levels - 1) * TSR_LOD_ONE;
	union tsr_texel next;
	enum tsr_step step;
	unsigned int level;

	lod = larger ? 0 : lod > last ? last : lod;
	if (s->mipmap == TSR_MIPMAP_MODE_LINEAR)
		level = lod / TSR_LOD_ONE;
	else if (s->mipmap == TSR_MIPMAP_MODE_NEAREST)
		level = (lod + TSR_LOD_ONE / 2) / TSR_LOD_ONE;
	else
		level = 0;
	step = filter(l, level, result);
	if (step == TSR_STEP_DONE && s->mipmap == TSR_MIPMAP_MODE_LINEAR && lod % TSR_LOD_ONE &&
	    !integer) {
		step = filter(l, level + 1, &next);
		if (step == TSR_STEP_DONE)
			mix(result, &next, (float)(lod % TSR_LOD_ONE) / TSR_LOD_ONE);
	}
	if (step == TSR_STEP_DONE)
		tsr_filter_swizzle(t, result, result);
	return step;
}

enum tsr_step tsr_filter_gather(const struct tsr_lookup *l, unsigned int level,
				unsigned int component, union tsr_texel *result)
{
	bool integer = tsr_format_is_integer(&l->texture->format);
	double at[3];
	int64_t x, y;

	position(l, level, at);
	x = (int64_t)floor(at[0] - l->texture->center);
	y = dimensions(l->texture) > 1 ? (int64_t)floor(at[1] - l->texture->center) : 0;
	for (unsigned int i = 0; i < 4; i++) {
		union tsr_texel texel;
		enum tsr_step step = filter_texel(l, level, x + i % 2, y + i / 2, (int64_t)at[2],
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

/* ---- Level of detail ------------------------------------------------------------------------- */

int tsr_filter_lod(const struct tsr_texture_view *texture, const struct tsr_sampler *sampler,
		   int base, bool bias, bool clamp)
{
	int low = sampler->min_lod > texture->min_lod ? sampler->min_lod : texture->min_lod;
	int high = sampler->max_lod < texture->max_lod ? sampler->max_lod : texture->max_lod;
	int lod = base + (bias ? sampler->lod_bias : 0);

	if (clamp) {
		lod = lod < low ? low : lod;
		lod = lod > high ? high : lod;
	}
	return lod < INT16_MIN ? INT16_MIN : lod > INT16_MAX ? INT16_MAX : lod;
}

/* The logarithm of a length, given its square. */
static int log_lod(double square)
{
	double lod;

	if (!(square > 0))
		return INT16_MIN;
	lod = floor(log2(square) / 2 * TSR_LOD_ONE + 0.5);
	return lod < INT16_MIN ? INT16_MIN : lod < INT16_MAX ? (int)lod : INT16_MAX;
}

static int gradient_lod(const struct tsr_texture_view *t, const struct tsr_sampler *s,
			const double ddx[3], const double ddy[3])
{
	const uint32_t extent[3] = { t->width, t->height, t->depth };
	bool normalized = s->normalized || t->normalize ||
			  t->dimension == TSR_TEXTURE_DIMENSION_CUBE;
	double square[2] = { 0 };

	for (unsigned int d = 0; d < dimensions(t); d++) {
		double unit = normalized ? extent[d] : 1;

		square[0] += ddx[d] * unit * ddx[d] * unit;
		square[1] += ddy[d] * unit * ddy[d] * unit;
	}
	return log_lod(square[0] > square[1] ? square[0] : square[1]);
}

int tsr_filter_gradient_lod(const struct tsr_texture_view *texture,
			    const struct tsr_sampler *sampler, const float ddx[3],
			    const float ddy[3])
{
	const double dx[3] = { ddx[0], ddx[1], ddx[2] };
	const double dy[3] = { ddy[0], ddy[1], ddy[2] };

	return gradient_lod(texture, sampler, dx, dy);
}

/* The coordinates of @l; of a cube on the plane of face @face, false if they are not before it. */
static bool coordinates(const struct tsr_lookup *l, unsigned int face, double at[3])
{
	const struct face *f = &faces[l->face];
	double v[3], m;

	at[0] = l->x;
	at[1] = l->y;
	at[2] = l->z;
	if (l->texture->dimension != TSR_TEXTURE_DIMENSION_CUBE || l->face == face)
		return true;
	v[f->axis] = f->sign;
	v[f->s_axis] = f->s_sign * (2.0 * l->x - 1);
	v[f->t_axis] = f->t_sign * (2.0 * l->y - 1);
	f = &faces[face];
	m = v[f->axis] * f->sign;
	if (!(m > 0))
		return false;
	at[0] = (v[f->s_axis] * f->s_sign / m + 1) / 2;
	at[1] = (v[f->t_axis] * f->t_sign / m + 1) / 2;
	return true;
}

/* The difference between two lanes of a quad, 0 if one of them is not active. */
static bool difference(const struct tsr_lookup quad[4], unsigned int active, unsigned int a,
		       unsigned int b, double d[3])
{
	double from[3], to[3];

	if (!(active >> a & 1) || !(active >> b & 1) ||
	    !coordinates(&quad[a], quad[a].face, from) ||
	    !coordinates(&quad[b], quad[a].face, to))
		return false;
	for (unsigned int i = 0; i < 3; i++)
		d[i] = to[i] - from[i];
	return true;
}

int tsr_filter_quad_lod(const struct tsr_lookup quad[4], unsigned int active)
{
	const struct tsr_lookup *first = &quad[__builtin_ctz(active)];
	double ddx[3] = { 0 }, ddy[3] = { 0 };

	/* the upper row and the left column, or else the other ones */
	if (!difference(quad, active, 0, 1, ddx))
		difference(quad, active, 2, 3, ddx);
	if (!difference(quad, active, 0, 2, ddy))
		difference(quad, active, 1, 3, ddy);
	return gradient_lod(first->texture, first->sampler, ddx, ddy);
}
