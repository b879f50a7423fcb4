/* SPDX-License-Identifier: MIT */
/* Random choices of the scenes: xorshift64*, so a seed means the same scene everywhere. */
#ifndef TSR_TEST_RANDOM_H
#define TSR_TEST_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#define PICK(array)	((array)[below(sizeof(array) / sizeof((array)[0]))])

static uint64_t chaos;

static inline void seed_scene(uint32_t seed)
{
	chaos = (seed + 1) * 0x9e3779b97f4a7c15ull;
}

static inline uint32_t next(void)
{
	chaos ^= chaos >> 12;
	chaos ^= chaos << 25;
	chaos ^= chaos >> 27;
	return (uint32_t)(chaos * 0x2545f4914f6cdd1dull >> 32);
}

static inline unsigned int below(unsigned int n)
{
	return (unsigned int)((uint64_t)next() * n >> 32);
}

static inline bool chance(unsigned int percent)
{
	return below(100) < percent;
}

/* A number that a float holds exactly. */
static inline float real(float low, float high)
{
	return low + (high - low) * (float)below(4096) / 4096;
}

#endif
