/* SPDX-License-Identifier: MIT */
#include "lanes.h"

#include <string.h>

const struct tsr_bin_lanes *tsr_bin_lanes(const char *simd)
{
#ifdef __x86_64__
	if (!strcmp(simd, "avx512"))
		return &tsr_bin_lanes_avx512;
	if (!strcmp(simd, "avx2"))
		return &tsr_bin_lanes_avx2;
#endif
	(void)simd;
	return &tsr_bin_lanes_sse2;
}
