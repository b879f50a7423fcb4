/* SPDX-License-Identifier: MIT */
#include "output_parts.h"

#include <pthread.h>

#include "shader/alu/float_bits.h"

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

/* What is stored for @x. */
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

/* The 4 by 4 matrix of ordered dithering: neighbours are far from each other. */
void tsr_output_thresholds(const struct tsr_output_warp *w, float threshold[TSR_WARP_LANES])
{
	static const uint8_t order[4][4] = {
		{ 0, 8, 2, 10 }, { 12, 4, 14, 6 }, { 3, 11, 1, 9 }, { 15, 7, 13, 5 },
	};

	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		unsigned int x = w->x[l / 4] + l % 2, y = w->y[l / 4] + l / 2 % 2;

		threshold[l] = ((float)order[y % 4][x % 4] + 0.5f) / 16;
	}
}
