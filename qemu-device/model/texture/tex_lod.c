/* SPDX-License-Identifier: MIT */
/*
 * Derivatives to levels of detail and footprints, levels of detail to levels.
 */
#include <math.h>
#include <pthread.h>

#include "alu/alu.h"
#include "msg_texture.h"

/* Axes in gradient descriptors are in units of so many texels of level 0. */
#define AXIS_UNIT 16.0f

struct tsr_lod_log tsr_lod_logs[TSR_LOD_BUCKETS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
	for (unsigned int i = 0; i < TSR_LOD_BUCKETS; i++) {
		double half = TSR_LOD_ONE / 2;
		double base = floor(log2(1 + i / (double)TSR_LOD_BUCKETS) * half + 0.5);

		tsr_lod_logs[i].base = (int32_t)base;
		tsr_lod_logs[i].next = (uint32_t)ceil((exp2((base + 0.5) / half) - 1) *
						      (1 << TSR_LOD_MANTISSA));
	}
}

void tsr_lod_init(void)
{
	pthread_once(&once, fill);
}

float tsr_footprint_place(unsigned int i, unsigned int n)
{
	return (float)((int)(2 * i + 1) - (int)n) / (float)(2 * n);
}

/* The number of places for squares of the lengths of the longer and the shorter axis. */
static unsigned int count_places(float longer, float shorter, unsigned int most)
{
	unsigned int n = 1;

	/* not nearer to each other than a texel, nor than the shorter axis is long */
	while (n < most && !((float)(n * n) * shorter >= longer) && !((float)(n * n) >= longer))
		n++;
	return n;
}

void tsr_footprint_squares(const struct tsr_texture_view *texture,
			   const struct tsr_sampler_view *sampler, float x, float y,
			   const float ddx[2], const float ddy[2],
			   struct tsr_footprint *footprint)
{
	bool along_x = x > y;

	footprint->places = 1;
	if (sampler->anisotropy > 1 && texture->dimensions < 3 &&
	    !tsr_format_is_integer(&texture->format)) {
		const float *axis = along_x ? ddx : ddy;

		footprint->places = count_places(along_x ? x : y, along_x ? y : x,
						 sampler->anisotropy);
		footprint->axis[0] = axis[0];
		footprint->axis[1] = texture->dimensions > 1 ? axis[1] : 0;
	}
	x = along_x ? x : y;
	if (footprint->places > 1)
		x /= (float)(footprint->places * footprint->places);
	footprint->lod = tsr_lod_of_square(x);
}

void tsr_footprint(const struct tsr_texture_view *texture, const struct tsr_sampler_view *sampler,
		   const float ddx[3], const float ddy[3], struct tsr_footprint *footprint)
{
	const uint32_t extent[3] = { texture->width, texture->height, texture->depth };
	bool normalized = tsr_is_normalized(texture, &sampler->s);
	float x = 0, y = 0;

	for (unsigned int d = 0; d < texture->dimensions; d++) {
		float unit = normalized ? (float)extent[d] : 1;
		float dx = ddx[d] * unit, dy = ddy[d] * unit;

		x += dx * dx;
		y += dy * dy;
	}
	tsr_footprint_squares(texture, sampler, x, y, ddx, ddy, footprint);
}

/* Texels of level 0 that one is of coordinate @d. */
static float axis_unit(const struct tsr_texture_view *texture,
		       const struct tsr_sampler_view *sampler, unsigned int d)
{
	return !tsr_is_normalized(texture, &sampler->s) ? 1 :
	       (float)(d ? texture->height : texture->width);
}

void tsr_footprint_to_words(const struct tsr_texture_view *texture,
			    const struct tsr_sampler_view *sampler,
			    const struct tsr_footprint *f, bool bias, bool clamp, uint32_t word[4])
{
	int lod = tsr_filter_lod(texture, &sampler->s, f->lod, bias, clamp);

	memset(word, 0, 4 * sizeof(*word));
	word[0] = (lod & 0xffff) | (f->places - 1) << 16;
	if (f->places < 2)
		return;
	for (unsigned int d = 0; d < 2; d++) {
		float axis = f->axis[d] * axis_unit(texture, sampler, d) / AXIS_UNIT;

		word[1] |= (uint32_t)tsr_float_to_half(axis) << 16 * d;
	}
}

void tsr_footprint_from_words(const struct tsr_texture_view *texture,
			      const struct tsr_sampler_view *sampler, uint32_t lod, uint32_t axis,
			      struct tsr_footprint *f)
{
	f->places = 1;
	if (sampler->anisotropy < 2 || texture->dimensions > 2)
		return;
	f->places = (lod >> 16) % TSR_ANISOTROPY_MAX + 1;
	for (unsigned int d = 0; d < 2; d++)
		f->axis[d] = tsr_half_to_float(axis >> 16 * d) * AXIS_UNIT /
			     axis_unit(texture, sampler, d);
}

int tsr_lod_staged(const struct tsr_texture_view *texture, const struct tsr_sampler *sampler,
		   unsigned int mode, uint32_t word, int computed)
{
	int least = word >> 16;
	int base = computed;

	switch (mode) {
	case TSR_TEXTURE_LOD_GRADIENT:
	case TSR_TEXTURE_LOD_EXPLICIT:
		base = (int16_t)word;
		break;
	case TSR_TEXTURE_LOD_BIAS:
		base += (int16_t)word;
		if (base + sampler->lod_bias < least)
			base = least - sampler->lod_bias;
		break;
	case TSR_TEXTURE_LOD_ZERO:
		base = 0;
		break;
	}
	return tsr_filter_lod(texture, sampler, base, true, true);
}
