/* SPDX-License-Identifier: MIT */
/*
 * Register file: BAR0, by 32-bit words.
 *
 * In: offsets and values of the host's accesses (tsr_gpu_read(), tsr_gpu_write()). Out: calls to
 * the units. Offsets without a register, and slots beyond those the device has, read 0 and ignore
 * writes. While a reset is in progress only the IRQ block is written.
 */
#ifndef TSR_REGS_FILE_H
#define TSR_REGS_FILE_H

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
