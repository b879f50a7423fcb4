/* SPDX-License-Identifier: MIT */
/*
 * Choices of a fuzz target that needs many: a stream of random numbers that the input seeds (its
 * first eight bytes) and bends (each later byte is added to one choice). However short the input is,
 * choices never end; and a byte that changes changes one of them.
 */
#ifndef FUZZ_RANDOM_H
#define FUZZ_RANDOM_H

#include <stdbool.h>

#include "packets.h"

struct fuzz_random {
	struct fuzz_input in;		/* what bends choices */
	uint64_t state;			/* xorshift, never 0 */
};

static inline struct fuzz_random fuzz_random(const uint8_t *data, size_t size)
{
	struct fuzz_random r = { { data, size }, 0 };

	r.state = fuzz_number(&r.in, 8) * 0x9e3779b97f4a7c15ull | 1;
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
	uint32_t number = fuzz_next(r) >> 32;

	return (uint32_t)(((uint64_t)number * n >> 32) + fuzz_byte(&r->in)) % n;
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
