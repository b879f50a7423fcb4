/* SPDX-License-Identifier: MIT */
#include "fine.h"

#include <stddef.h>
#include <string.h>

#include "shader/alu/alu.h"

const struct tsr_fine *tsr_fine_path(const char *simd)
{
	if (!simd)
		simd = tsr_alu_name(tsr_alu_best());
#ifdef __x86_64__
	if (!strcmp(simd, "avx512"))
		return &tsr_fine_avx512;
	if (!strcmp(simd, "avx2"))
		return &tsr_fine_avx2;
#endif
	return &tsr_fine_sse2;
}
