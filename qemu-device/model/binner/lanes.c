/* SPDX-License-Identifier: MIT */
#include "lanes.h"

#include <string.h>

const struct tsr_front_lanes *tsr_front_lanes(const char *simd)
{
#ifdef __x86_64__
	if (!strcmp(simd, "avx512"))
		return &tsr_front_avx512;
	if (!strcmp(simd, "avx2"))
		return &tsr_front_avx2;
#endif
	(void)simd;
	return &tsr_front_sse2;
}
