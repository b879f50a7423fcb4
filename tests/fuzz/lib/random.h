/* SPDX-License-Identifier: MIT */
/*
 * Choices of a fuzz target that needs more of them than an input has bytes: a stream of random
 * numbers that all bytes of the input seed.
 */
#ifndef FUZZ_RANDOM_H
#define FUZZ_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_random {
	uint64_t state;			/* xorshift, never 0 */
};

static inline struct fuzz_random fuzz_random(const uint8_t *data, size_t size)
{
	struct fuzz_random r = { 0xcbf29ce484222325ull };

	while (size--)
		r.state = (r.state ^ *data++) * 0x100000001b3ull;
	r.state |= 1;
	return r;
}

static inline uint64_t fuzz_next(struct fuzz_random *r)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state * 0x2545f4914f6cdd1dull;
}

/* One of 0 to @n - 1. */
static inline uint32_t fuzz_below(struct fuzz_random *r, uint32_t n)
{
	return (fuzz_next(r) >> 32) * n >> 32;
}

/* True in @n of 256 cases. */
static inline bool fuzz_often(struct fuzz_random *r, unsigned int n)
{
	return fuzz_below(r, 256) < n;
}

/* A number of any size: each width is as likely as any other. */
static inline uint64_t fuzz_any(struct fuzz_random *r)
{
	return fuzz_next(r) >> fuzz_below(r, 64);
}

#endif
