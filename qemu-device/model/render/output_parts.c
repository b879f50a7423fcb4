/* SPDX-License-Identifier: MIT */
#include "output_parts.h"

#include <pthread.h>
#include <string.h>

#include "alu/float_bits.h"

float tsr_output_srgb_decoded[256];

/*
 * The curve the other way: least[n] is the smallest number that becomes n. guess[] is n for the
 * smallest number with these upper bits, at most as large as that of all others.
 */
#define GUESS_SHIFT 18
#define GUESS_FIRST 0x38000000u		/* 2^-15: far below the first step */
#define GUESSES (((0x3f800000u - GUESS_FIRST) >> GUESS_SHIFT) + 1)

static float least[257];
static uint8_t guess[GUESSES];
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
	for (unsigned int g = 0; g < GUESSES; g++) {
		float x = tsr_as_float(GUESS_FIRST + (g << GUESS_SHIFT));

		while (x >= least[n + 1])
			n++;
		guess[g] = n;
	}
}

void tsr_output_srgb_init(void)
{
	pthread_once(&once, fill);
}

unsigned int tsr_output_srgb_encoded(float x)
{
	uint32_t bits = tsr_as_bits(x);
	unsigned int n = 0;

	if (bits >= GUESS_FIRST)
		n = guess[(bits - GUESS_FIRST) >> GUESS_SHIFT];
	while (x >= least[n + 1])
		n++;
	return n;
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
