// SPDX-License-Identifier: MIT
/*
 * Numbers of instancing: how the device pads vertices, and how attribute buffers divide. All of it
 * in integers: floating point gets some thousand divisors wrong.
 */
#include "gfx.h"

/* The definition is the device's own. */
#include "tsr_padding.h"

uint64_t tsr_gfx_padded(uint32_t count, uint32_t *odd, uint32_t *shift)
{
	const struct tsr_padding p = tsr_padded_vertices(count);

	*odd = p.odd;
	*shift = p.shift;
	return p.padded;
}

struct tsr_gfx_magic tsr_gfx_magic(uint32_t divisor)
{
	struct tsr_gfx_magic magic = { .shift = 31 - (uint32_t)__builtin_clz(divisor | 1) };
	const uint64_t power = 1ull << (32 + magic.shift);
	uint64_t down = power / divisor, rest = power % divisor;

	/* round the multiplier down and the number up where that is exact, else the other way */
	magic.extra = rest <= 1ull << magic.shift;
	magic.magic = (uint32_t)(magic.extra ? down : down + 1) & 0x7fffffffu;
	return magic;
}
