/* SPDX-License-Identifier: MIT */
#include "output_parts.h"

#include <pthread.h>
#include <string.h>

#include "alu/float_bits.h"

float tsr_output_srgb_decoded[256];

uint32_t tsr_output_srgb_steps[TSR_SRGB_STEPS];

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The stored value for @x. */
static unsigned int stored(const struct tsr_format *format, float x)
{
	union tsr_texel texel = { .f = { x } };
	uint8_t byte[TSR_TEXEL_BYTES_MAX] = { 0 };

	tsr_format_store(format, byte, &texel);
	return byte[0];
}

static void fill(void)
{
	float least[257] = { 0 };
	struct tsr_format format;
	unsigned int n = 0;

	tsr_format_find(&format, TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_COMPONENT_ORDER_RGBA, true);
	for (unsigned int i = 0; i < 256; i++) {
		uint32_t low = 0, high = 0x3f800000;
		union tsr_texel texel;
		uint8_t bytes[4] = { i };

		tsr_format_load(&format, bytes, &texel);
		tsr_output_srgb_decoded[i] = texel.f[0];
		/* bits of positive floats are in the order of their values */
		while (i && high - low > 1) {
			uint32_t middle = (low + high) / 2;

			if (stored(&format, tsr_as_float(middle)) >= i)
				high = middle;
			else
				low = middle;
		}
		least[i] = i ? tsr_as_float(high) : 0;
	}
	least[256] = 2;
	for (unsigned int g = 0; g < TSR_SRGB_STEPS; g++) {
		float x = tsr_as_float(TSR_SRGB_FIRST + (g << TSR_SRGB_SHIFT));

		while (x >= least[n + 1])
			n++;
		tsr_output_srgb_steps[g] = n << TSR_SRGB_STEP_BITS;
		if (tsr_as_bits(least[n + 1]) >> TSR_SRGB_SHIFT == tsr_as_bits(x) >> TSR_SRGB_SHIFT)
			tsr_output_srgb_steps[g] |= tsr_as_bits(least[n + 1]) & TSR_SRGB_LOW;
		else
			tsr_output_srgb_steps[g] |= TSR_SRGB_LOW + 1;
	}
}

void tsr_output_srgb_init(void)
{
	pthread_once(&once, fill);
}

unsigned int tsr_output_srgb_encoded(float x)
{
	const uint32_t bits = tsr_as_bits(x) < TSR_SRGB_FIRST ? TSR_SRGB_FIRST : tsr_as_bits(x);
	const uint32_t step = tsr_output_srgb_steps[(bits - TSR_SRGB_FIRST) >> TSR_SRGB_SHIFT];

	return (step >> TSR_SRGB_STEP_BITS) +
	       ((bits & TSR_SRGB_LOW) >= (step & ((1u << TSR_SRGB_STEP_BITS) - 1)));
}

/* The 4 by 4 matrix of ordered dithering. Adjacent values differ as much as possible. */
void tsr_output_thresholds(const struct tsr_output_warp *w, float threshold[TSR_WARP_LANES])
{
#define T(n) ((n + 0.5f) / 16)
	static const float order[4][4] = {
		{ T(0), T(8), T(2), T(10) }, { T(12), T(4), T(14), T(6) },
		{ T(3), T(11), T(1), T(9) }, { T(15), T(7), T(13), T(5) },
	};
#undef T

	for (unsigned int q = 0; q < TSR_WARP_LANES / 4; q++) {
		unsigned int x = w->x[q] % 4, y = w->y[q] % 4;

		memcpy(&threshold[4 * q], &order[y][x], 2 * sizeof(float));
		memcpy(&threshold[4 * q + 2], &order[y + 1][x], 2 * sizeof(float));
	}
}
