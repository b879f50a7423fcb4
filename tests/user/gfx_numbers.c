// SPDX-License-Identifier: MIT
/*
 * Numbers of instancing: magic numbers of divisors, padded numbers of vertices; each against plain
 * arithmetic.
 */
#include <stdlib.h>

#include "ktap.h"
#include "rnd.h"
#include <tessera/gfx.h>

static uint32_t divide(struct tsr_gfx_magic m, uint32_t n)
{
	return (uint32_t)((((uint64_t)n + m.extra) * (0x80000000u | m.magic)) >> 32 >> m.shift);
}

/* Numbers around multiples of the divisor, and the ends of the range. */
static bool divides(uint32_t d)
{
	const struct tsr_gfx_magic m = tsr_gfx_magic(d);
	const uint32_t last = UINT32_MAX / d;
	const uint32_t quotients[] = { 1, 2, 3, last / 3, last / 2, last };

	if (m.shift > 31 || m.magic >> 31 || divide(m, 0) || divide(m, UINT32_MAX) != last)
		return false;
	for (size_t i = 0; i < sizeof(quotients) / sizeof(quotients[0]); i++) {
		uint32_t q = quotients[i], at = q * d;

		if (q && q <= last && (divide(m, at) != q || divide(m, at - 1) != q - 1))
			return false;
	}
	return true;
}

static void named(void)
{
	static const uint32_t divisors[] = { 3, 5, 7, 11, 65537, 4971027, 0x7fffffff, 0x80000001,
					     0xffffffff };

	for (size_t i = 0; i < sizeof(divisors) / sizeof(divisors[0]); i++) {
		if (!ktap_ok(divides(divisors[i])))
			ktap_note("divisor %u", divisors[i]);
	}
}

static void many(void)
{
	uint32_t wrong = 0;

	for (uint32_t d = 3; d < 200000; d++)
		wrong += d & (d - 1) && !divides(d);
	for (int i = 0; i < 1000000; i++) {
		const uint32_t random = rnd();

		if (random > 2 && random & (random - 1))
			wrong += !divides(random);
	}
	ktap_eq(wrong, 0);
}

/* Both legal forms of a divisor give the same quotients: round down and add, or round up. */
static void both(void)
{
	uint32_t wrong = 0;

	for (uint32_t d = 3; d < 5000; d++) {
		struct tsr_gfx_magic m = tsr_gfx_magic(d), other = m;

		if (!(d & (d - 1)))
			continue;
		/* the other form is right up to a bound that 2^16 is far below */
		other.extra = !m.extra;
		other.magic = (m.magic + (m.extra ? 1 : -1u)) & 0x7fffffff;
		for (uint32_t n = 0; n < 65536; n += 7)
			wrong += divide(other, n) != n / d || divide(m, n) != n / d;
	}
	ktap_eq(wrong, 0);
}

/* The smallest of {1, 3, 5, 7, 9} * 2^n that is a multiple of four and above the count. */
static void padded(void)
{
	uint32_t odd, shift, wrong = 0;

	for (uint64_t count = 0; count < 100000; count++) {
		uint64_t best = UINT64_MAX, p = tsr_gfx_padded((uint32_t)count, &odd, &shift);

		for (uint64_t o = 1; o <= 9; o += 2)
			for (uint64_t v = o * 4; ; v *= 2) {
				if (v <= count)
					continue;
				best = best < v ? best : v;
				break;
			}
		wrong += p != best || p != (uint64_t)(2 * odd + 1) << shift || odd > 4;
	}
	ktap_eq(wrong, 0);
	ktap_eq(tsr_gfx_padded(70, &odd, &shift), 72);
	ktap_eq(tsr_gfx_padded(0xe0000000, &odd, &shift), 1ull << 32);
}

int main(void)
{
	ktap_start();
	ktap_run("[INST5] magic numbers of the divisors that have failed elsewhere", named);
	ktap_run("[INST5] magic numbers of 200000 small and a million random divisors", many);
	ktap_run("[INST5] both forms of a divisor give the same quotients", both);
	ktap_run("[INST1] padded numbers of vertices are the smallest that are allowed", padded);
	return ktap_finish();
}
