/* SPDX-License-Identifier: MIT */
/*
 * Choices of a fuzz target. Each takes bytes of the input, so that an engine that watches coverage
 * can change one choice and keep the others. The first eight bytes of the input seed a generator,
 * which decides when the input has no more bytes.
 */
#ifndef FUZZ_RANDOM_H
#define FUZZ_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_SEED_BYTES 8

struct fuzz_random {
	uint64_t state;			/* xorshift, never 0 */
	const uint8_t *choices;		/* the bytes that are left of the input; its owner's */
	size_t left;
};

/* The state that @size bytes seed. */
static inline uint64_t fuzz_seed(const uint8_t *data, size_t size)
{
	uint64_t state = 0xcbf29ce484222325ull;

	while (size--)
		state = (state ^ *data++) * 0x100000001b3ull;
	return state | 1;
}

static inline struct fuzz_random fuzz_random(const uint8_t *data, size_t size)
{
	const size_t seed = size < FUZZ_SEED_BYTES ? size : FUZZ_SEED_BYTES;

	return (struct fuzz_random){ fuzz_seed(data, seed), data + seed, size - seed };
}

/* A number of @bytes bytes, at most 8. */
static inline uint64_t fuzz_bytes(struct fuzz_random *r, unsigned int bytes)
{
	uint64_t value = 0;

	if (r->left < bytes) {
		r->left = 0;
		r->state ^= r->state << 13;
		r->state ^= r->state >> 7;
		r->state ^= r->state << 17;
		return r->state * 0x2545f4914f6cdd1dull >> (64 - 8 * bytes);
	}
	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)r->choices[i] << 8 * i;
	r->choices += bytes;
	r->left -= bytes;
	return value;
}

static inline uint64_t fuzz_next(struct fuzz_random *r)
{
	return fuzz_bytes(r, 8);
}

/* One of 0 to @n - 1. */
static inline uint32_t fuzz_below(struct fuzz_random *r, uint32_t n)
{
	const unsigned int bytes = n <= 256 ? 1 : n <= 65536 ? 2 : 4;

	if (r->left < bytes)
		return (fuzz_next(r) >> 32) * n >> 32;
	return n ? (uint32_t)(fuzz_bytes(r, bytes) % n) : 0;
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
