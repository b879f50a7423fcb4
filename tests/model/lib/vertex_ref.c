/* SPDX-License-Identifier: MIT */
#include "vertex_ref.h"

#include <stdlib.h>
#include <string.h>

#include "tsr_regs.h"

/* ---- Primitives ------------------------------------------------------------------------------ */

struct collector {
	struct vertex_primitive *out;
	uint32_t room, count;
};

static void add(struct collector *c, unsigned int vertices, uint32_t a, uint32_t b, uint32_t d,
		uint32_t first, uint32_t last)
{
	if (c->count < c->room)
		c->out[c->count] = (struct vertex_primitive){ vertices, { a, b, d }, first, last };
	c->count++;
}

/* The primitives of @n vertices @v without a cut. */
static void run(struct collector *c, unsigned int topology, const uint32_t *v, uint32_t n)
{
	switch (topology) {
	case TSR_TOPOLOGY_POINTS:
		for (uint32_t i = 0; i < n; i++)
			add(c, 1, v[i], 0, 0, v[i], v[i]);
		break;
	case TSR_TOPOLOGY_LINES:
		for (uint32_t i = 0; i + 1 < n; i += 2)
			add(c, 2, v[i], v[i + 1], 0, v[i], v[i + 1]);
		break;
	case TSR_TOPOLOGY_LINE_STRIP:
	case TSR_TOPOLOGY_LINE_LOOP:
		for (uint32_t i = 0; i + 1 < n; i++)
			add(c, 2, v[i], v[i + 1], 0, v[i], v[i + 1]);
		if (topology == TSR_TOPOLOGY_LINE_LOOP && n > 1)
			add(c, 2, v[n - 1], v[0], 0, v[n - 1], v[0]);
		break;
	case TSR_TOPOLOGY_TRIANGLES:
		for (uint32_t i = 0; i + 2 < n; i += 3)
			add(c, 3, v[i], v[i + 1], v[i + 2], v[i], v[i + 2]);
		break;
	case TSR_TOPOLOGY_TRIANGLE_STRIP:
		for (uint32_t i = 0; i + 2 < n; i++)
			add(c, 3, v[i], v[i + 1 + i % 2], v[i + 2 - i % 2], v[i], v[i + 2]);
		break;
	case TSR_TOPOLOGY_TRIANGLE_FAN:
		for (uint32_t i = 0; i + 2 < n; i++)
			add(c, 3, v[i + 1], v[i + 2], v[0], v[i + 1], v[i + 2]);
		break;
	case TSR_TOPOLOGY_LINES_ADJACENCY:
		for (uint32_t i = 0; i + 3 < n; i += 4)
			add(c, 2, v[i + 1], v[i + 2], 0, v[i + 1], v[i + 2]);
		break;
	case TSR_TOPOLOGY_LINE_STRIP_ADJACENCY:
		for (uint32_t i = 0; i + 3 < n; i++)
			add(c, 2, v[i + 1], v[i + 2], 0, v[i + 1], v[i + 2]);
		break;
	case TSR_TOPOLOGY_TRIANGLES_ADJACENCY:
		for (uint32_t i = 0; i + 5 < n; i += 6)
			add(c, 3, v[i], v[i + 2], v[i + 4], v[i], v[i + 4]);
		break;
	case TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY:
		for (uint32_t i = 0; 2 * i + 5 < n; i++)
			add(c, 3, v[2 * i], v[2 * (i + 1 + i % 2)], v[2 * (i + 2 - i % 2)],
			    v[2 * i], v[2 * i + 4]);
		break;
	}
}

uint32_t vertex_ref_primitives(unsigned int topology, const struct vertex_stream *s,
			       struct vertex_primitive *out, uint32_t room)
{
	struct collector c = { out, room, 0 };
	uint32_t begin = 0;

	for (uint32_t i = 0; i <= s->count; i++) {
		if (i < s->count && !(s->restarts && s->index[i] == s->restart))
			continue;
		run(&c, topology, s->index + begin, i - begin);
		begin = i + 1;
	}
	return c.count;
}

/* ---- Batches --------------------------------------------------------------------------------- */

struct batch {
	uint32_t vertex[1024][2];
	uint32_t vertices, primitives;
};

static bool has(const struct batch *b, uint32_t index, uint32_t instance)
{
	for (uint32_t i = 0; i < b->vertices; i++) {
		if (b->vertex[i][0] == index && b->vertex[i][1] == instance)
			return true;
	}
	return false;
}

/* Add a primitive's vertices that are not there yet. */
static void join(struct batch *b, const struct vertex_primitive *p, uint32_t instance)
{
	for (unsigned int i = 0; i < p->vertices; i++) {
		if (has(b, p->index[i], instance))
			continue;
		b->vertex[b->vertices][0] = p->index[i];
		b->vertex[b->vertices++][1] = instance;
	}
	b->primitives++;
}

uint32_t vertex_ref_batches(const struct vertex_primitive *p, uint32_t count, uint32_t instances,
			    uint32_t vertices, uint32_t primitives, uint32_t *out, uint32_t room)
{
	static struct batch b, with;
	uint32_t batches = 0;

	b.vertices = b.primitives = 0;
	for (uint64_t n = 0; n <= (uint64_t)count * instances; n++) {
		bool end = n == (uint64_t)count * instances;

		if (!end) {
			with = b;
			join(&with, &p[n % count], (uint32_t)(n / count));
			if (with.vertices <= vertices && with.primitives <= primitives) {
				b = with;
				continue;
			}
		}
		if (b.primitives && batches < room)
			out[batches] = b.vertices;
		batches += b.primitives != 0;
		b.vertices = b.primitives = 0;
		if (!end)
			join(&b, &p[n % count], (uint32_t)(n / count));
	}
	return batches;
}

/* ---- Instancing ------------------------------------------------------------------------------ */

uint64_t vertex_ref_padded(uint64_t count)
{
	/* count up through all multiples of four: the first that has a right form */
	for (uint64_t p = (count + 4) / 4 * 4;; p += 4) {
		uint64_t odd = p;

		while (odd % 2 == 0)
			odd /= 2;
		if (odd <= 9)
			return p;
	}
}

uint64_t vertex_ref_padded_table(uint64_t count)
{
	unsigned int high = 63 - (unsigned int)__builtin_clzll(count);
	uint64_t unit = 1ull << (high - 3);

	/* the leading four bits, 1000 to 1111 */
	switch (count >> (high - 3)) {
	case 8:
		return 9 * unit;
	case 9:
		return 10 * unit;
	case 10:
	case 11:
		return 12 * unit;
	case 12:
	case 13:
		return 14 * unit;
	default:
		return 16 * unit;
	}
}

struct vertex_magic vertex_ref_magic(uint32_t divisor, struct vertex_magic *other, bool *second)
{
	unsigned int k = 31 - (unsigned int)__builtin_clz(divisor);
	unsigned __int128 power = (unsigned __int128)1 << (32 + k);
	uint64_t up = (uint64_t)((power + divisor - 1) / divisor), e = (uint64_t)(power % divisor);
	struct vertex_magic down = { (uint32_t)(up - 1), 1, k }, plain = { (uint32_t)up, 0, k };

	/*
	 * Rounded up it is right while its error, times 2^32, stays below one step; rounded down,
	 * with ids one larger, likewise.
	 */
	bool down_right = e <= 1ull << k, plain_right = divisor - e <= 1ull << k;

	down.m &= 0x7fffffff;
	plain.m &= 0x7fffffff;
	*second = down_right && plain_right;
	*other = plain;
	return down_right ? down : plain;
}

uint32_t vertex_ref_divide(struct vertex_magic magic, uint32_t id)
{
	unsigned __int128 product = (unsigned __int128)((uint64_t)id + magic.extra) *
				    (0x80000000u | magic.m);

	return (uint32_t)(product >> 32 >> magic.shift);
}
