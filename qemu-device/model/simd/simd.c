/* SPDX-License-Identifier: MIT */
/* Which SIMD paths this processor can run. */
#include "simd.h"

#include "sanitize.h"

#include <stddef.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

static bool always(void)
{
	return true;
}

#ifdef __x86_64__
/*
 * Bits of CPUID leaf 1 (ECX) and leaf 7 (EBX), and of XCR0: state that the operating system saves.
 */
#define CPUID1_FMA	(1u << 12)
#define CPUID1_POPCNT	(1u << 23)
#define CPUID1_OSXSAVE	(1u << 27)
#define CPUID1_AVX	(1u << 28)
#define CPUID1_F16C	(1u << 29)
#define CPUID7_AVX2	(1u << 5)
/* F, DQ, CD, BW, VL */
#define CPUID7_AVX512	(1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31)
#define XCR0_AVX	0x06u
#define XCR0_AVX512	0xe6u

static bool has(unsigned int leaf1, unsigned int leaf7, unsigned int xcr0)
{
	unsigned int a, b, c, d, low, high;

	/* The sanitizer does not follow the intrinsics of these paths. */
	if (TSR_MEMORY_SANITIZER)
		return false;
	leaf1 |= CPUID1_OSXSAVE;
	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & leaf1) != leaf1)
		return false;
	__asm__("xgetbv" : "=a" (low), "=d" (high) : "c" (0));
	if ((low & xcr0) != xcr0)
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & leaf7) == leaf7;
}

static bool has_avx2(void)
{
	return has(CPUID1_FMA | CPUID1_POPCNT | CPUID1_AVX | CPUID1_F16C, CPUID7_AVX2, XCR0_AVX);
}

static bool has_avx512(void)
{
	return has_avx2() && has(0, CPUID7_AVX512, XCR0_AVX512);
}
#endif

/* The paths, the fastest first. */
static const struct {
	const struct tsr_simd *simd;
	bool (*usable)(void);		/* returns whether this processor can run the path */
} paths[] = {
#ifdef __x86_64__
	{ &tsr_simd_avx512, has_avx512 },
	{ &tsr_simd_avx2, has_avx2 },
#endif
	{ &tsr_simd_sse2, always },
};

#define PATHS (sizeof(paths) / sizeof(paths[0]))

const struct tsr_simd *tsr_simd_best(void)
{
	unsigned int i = 0;

	while (!paths[i].usable())
		i++;
	return paths[i].simd;
}

const struct tsr_simd *tsr_simd_named(const char *name)
{
	for (unsigned int i = 0; i < PATHS; i++) {
		if (!strcmp(paths[i].simd->name, name))
			return paths[i].usable() ? paths[i].simd : NULL;
	}
	return NULL;
}
