/* SPDX-License-Identifier: MIT */
/*
 * Filtered bytes become fractions by two products instead of a division: for all of them, the same.
 */
#include <math.h>

#include "ktap.h"
#include "texture/sampler.h"

static void test_all(void)
{
	const uint32_t most = 255 * TSR_TEXEL_ONE * TSR_TEXEL_ONE;
	uint32_t wrong = 0;

	for (uint32_t n = 0; n <= most; n++) {
		float x = (float)n / TSR_TEXEL_ONE;

		wrong += fmaf(x, TSR_TEX_BYTES_HIGH, x * TSR_TEX_BYTES_LOW) !=
			 x / TSR_TEX_BYTES_ONE;
	}
	ktap_eq(wrong, 0);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[TEX6] filtered bytes as fractions are correctly rounded", test_all);
	return ktap_finish();
}
