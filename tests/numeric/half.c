/* SPDX-License-Identifier: MIT */
/* Halves are what the compiler's own make of them: of floats of every kind, and of every half. */
#include <math.h>
#include <string.h>

#include "ktap.h"
#include "units/msg_format.h"

static float float_of(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* True if @bits, a float's, become the half that the compiler makes of them. */
static bool right(uint32_t bits)
{
	_Float16 half = (_Float16)float_of(bits);
	uint16_t want;

	memcpy(&want, &half, sizeof(want));
	return tsr_float_to_half(float_of(bits)) == want ||
	       ktap_eq(tsr_float_to_half(float_of(bits)), want);
}

static void test_floats(void)
{
	/* a prime, so that all exponents meet all kinds of mantissas */
	for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 769) {
		if (!right(bits)) {
			ktap_note("of 0x%08x", (uint32_t)bits);
			return;
		}
	}
}

/* Mantissas a few bits of which are set: ties, carries, and what is no number by its last bit. */
static void test_edges(void)
{
	for (uint32_t top = 0; top < 512; top++) {
		for (unsigned int bit = 0; bit < 23; bit++) {
			const uint32_t one = top << 23 | 1u << bit;

			if (!right(one) || !right(one - 1) || !right(one + 1) ||
			    !right(one | 0x2000) || !right((one | 0x2000) - 1)) {
				ktap_note("beside 0x%08x", one);
				return;
			}
		}
	}
}

static void test_halves(void)
{
	unsigned int wrong = 0;

	for (uint32_t n = 0; n <= UINT16_MAX; n++) {
		const uint16_t bits = n;
		float got = tsr_half_to_float(bits);
		_Float16 half;

		memcpy(&half, &bits, sizeof(half));
		wrong += isnan((float)half) ? !isnan(got) : got != (float)half;
		/* the conversion back is exact */
		wrong += !isnan(got) && tsr_float_to_half(got) != bits;
	}
	ktap_eq(wrong, 0);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[OM5] halves of floats, all kinds", test_floats);
	ktap_run("[OM5] halves of floats near ties and limits", test_edges);
	ktap_run("[OM5] floats of all halves, and back", test_halves);
	return ktap_finish();
}
