/* SPDX-License-Identifier: MIT */
/*
 * The level of detail of a square is a table and a threshold in each of its entries: compared with
 * libm's logarithm for every mantissa, so that both sides of every threshold are tried.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "ktap.h"
#include "texture/msg_texture.h"

#define MANTISSAS	(1u << TSR_LOD_MANTISSA)

/* Mantissa @mantissa at 2^@exponent. */
static float square_of(uint32_t mantissa, int exponent)
{
	uint32_t bits = (uint32_t)(exponent + 127) << TSR_LOD_MANTISSA | mantissa;
	float square;

	memcpy(&square, &bits, sizeof(square));
	return square;
}

/* No square but a power of two is near a tie: what lies between two steps is irrational. */
static int want(float square)
{
	return (int)lrint(log2((double)square) * (TSR_LOD_ONE / 2));
}

static void test_mantissas(void)
{
	unsigned int wrong = 0;

	for (uint32_t m = 0; m < MANTISSAS; m++)
		wrong += tsr_lod_of_square(square_of(m, 0)) != want(square_of(m, 0));
	ktap_eq(wrong, 0);
}

static void test_exponents(void)
{
	for (int exponent = -126; exponent < 126; exponent++) {
		for (uint32_t m = 0; m < MANTISSAS; m += 8191) {
			float square = square_of(m, exponent);

			if (!ktap_eq(tsr_lod_of_square(square), want(square)))
				ktap_note("of %a", (double)square);
		}
	}
}

static void test_limits(void)
{
	ktap_eq(tsr_lod_of_square(0), INT16_MIN);
	ktap_eq(tsr_lod_of_square(-1), INT16_MIN);
	ktap_eq(tsr_lod_of_square(NAN), INT16_MIN);
	ktap_eq(tsr_lod_of_square(0x1p126f), 126 * TSR_LOD_ONE / 2);
	ktap_eq(tsr_lod_of_square(nextafterf(0x1p126f, INFINITY)), INT16_MAX);
	ktap_eq(tsr_lod_of_square(FLT_MAX), INT16_MAX);
	ktap_eq(tsr_lod_of_square(INFINITY), INT16_MAX);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	tsr_lod_init();
	ktap_run("[TEX4] levels of detail are rounded logarithms, of every mantissa",
		 test_mantissas);
	ktap_run("[TEX4] levels of detail of every exponent", test_exponents);
	ktap_run("[TEX4] levels of detail of what has no logarithm, or too large a one",
		 test_limits);
	return ktap_finish();
}
