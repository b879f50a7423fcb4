/* SPDX-License-Identifier: MIT */
/*
 * The cases of the tessellator's vectors: which patches make.c has drawn by another implementation
 * and tests/model/geometry/tessellate.c by ours. Case n is a function of n alone.
 */
#ifndef TESTS_TESSELLATOR_CASES_H
#define TESTS_TESSELLATOR_CASES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define TESS_CASES	20000u
#define TESS_GROUP	8u		/* cases of one hash in expected.txt */

/* Shapes, partitionings and primitives by their numbers in GEOMETRY_STATE. */
struct tess_case {
	unsigned int shape;		/* 0 triangle, 1 quad, 2 isoline */
	unsigned int partitioning;	/* 0 integer, 2 fractional odd, 3 fractional even */
	bool points;			/* points, not lines or triangles */
	bool reversed;
	float factors[6];		/* U0, V0, U1 (triangle: W0), V1, inside U, inside V */
};

static inline uint32_t tess_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 32;
}

static inline float tess_factor(uint64_t *state, unsigned int kind)
{
	static const float special[] = {
		0, -1, NAN, INFINITY, 0.5f, 1, 1 + 0x1p-18f, 1 + 0x1p-17f, 1 + 0x1p-16f, 1.5f, 2,
		2 - 0x1p-17f, 2 + 0x1p-16f, 3, 3 + 0x1p-16f, 4, 5, 7, 8, 15, 16, 31, 32, 33, 62,
		62.99999f, 63, 63.00001f, 63.5f, 64, 64.00001f, 65, 1e30f, 1e-30f,
	};
	uint32_t r = tess_random(state);

	switch (kind) {
	case 0:
		return 1 + (float)(r >> 8) * 0x1p-24f * 63;
	case 1:
		return (float)(1 + (r >> 8) % 64);
	case 2:
		return (float)(r >> 8) * 0x1p-22f;
	case 3:
		return (float)(1 + (r >> 8) % 64) + (float)((int)(r & 7) - 4) * 0x1p-17f;
	default:
		return special[(r >> 8) % (sizeof(special) / sizeof(special[0]))];
	}
}

static inline struct tess_case tess_case(unsigned int n)
{
	uint64_t state = n * 0x9e3779b97f4a7c15u + 1;
	unsigned int kind, same;
	struct tess_case c;

	for (int i = 0; i < 4; i++)
		tess_random(&state);
	c.shape = n % 8 < 3 ? 0 : n % 8 < 6 ? 1 : 2;
	c.partitioning = (const unsigned int[]){ 0, 2, 3 }[tess_random(&state) % 3];
	c.points = tess_random(&state) >> 30 == 0;
	c.reversed = tess_random(&state) >> 31;
	kind = (tess_random(&state) >> 8) % 6;
	same = tess_random(&state) >> 29;
	for (int i = 0; i < 6; i++)
		c.factors[i] = tess_factor(&state, kind < 5 ? kind : (unsigned int)i % 5);
	for (int i = 1; i < 6 && same == 0; i++)	/* regular: all factors alike */
		c.factors[i] = c.factors[0];
	return c;
}

/* What a patch becomes: the coordinates of its primitives' vertices in order, in 1/65536. */
static inline uint64_t tess_hash(uint64_t hash, uint32_t value)
{
	for (int i = 0; i < 4; i++, value >>= 8)
		hash = (hash ^ (value & 0xff)) * 0x100000001b3u;
	return hash;
}

#define TESS_HASH_START 0xcbf29ce484222325u

#endif
