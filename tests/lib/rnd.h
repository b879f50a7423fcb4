/* SPDX-License-Identifier: MIT */
/*
 * Random numbers for inputs of tests: the upper half of a 64-bit linear congruential generator with
 * Knuth's multiplier. Each program has a generator of its own with the same numbers in each run.
 * Set rnd_state for other numbers.
 */
#ifndef TESTS_RND_H
#define TESTS_RND_H

#include <stdint.h>

static uint64_t rnd_state = 1;

/* Any 32 bits. */
static inline uint32_t rnd(void)
{
	rnd_state = rnd_state * 6364136223846793005u + 1442695040888963407u;
	return rnd_state >> 32;
}

/* From 0 to @below - 1. */
static inline uint32_t rnd_below(uint32_t below)
{
	return (uint64_t)rnd() * below >> 32;
}

/* From @low to @high. */
static inline int32_t rnd_in(int32_t low, int32_t high)
{
	return low + (int32_t)rnd_below((uint32_t)(high - low + 1));
}

#endif
