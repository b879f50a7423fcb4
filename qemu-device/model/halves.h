/* SPDX-License-Identifier: MIT */
/* Halves of 64-bit registers, which the host reads and writes as two words. */
#ifndef TSR_HALVES_H
#define TSR_HALVES_H

#include <stdbool.h>
#include <stdint.h>

/* One half of a 64-bit register. */
static inline uint32_t tsr_half(uint64_t value, bool upper)
{
	return upper ? value >> 32 : value;
}

/* @value with one half replaced. */
static inline uint64_t tsr_with_half(uint64_t value, bool upper, uint32_t half)
{
	return upper ? (value & 0xffffffffull) | (uint64_t)half << 32
		     : (value & ~0xffffffffull) | half;
}

#endif
