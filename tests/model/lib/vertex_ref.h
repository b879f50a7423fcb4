/* SPDX-License-Identifier: MIT */
/*
 * Reference input assembly, written from the rules of Vulkan and OpenGL: the primitives of every
 * topology with restart, and the greedy rule of batches.
 */
#ifndef TSR_VERTEX_REF_H
#define TSR_VERTEX_REF_H

#include <stdbool.h>
#include <stdint.h>

struct vertex_primitive {
	uint8_t vertices;		/* 1 to 3 */
	uint32_t index[3];		/* in the order that gives its orientation */
	uint32_t first, last;		/* the provoking vertex, by either convention */
};

/* Vertices before a cut are complete: no primitive has vertices on both sides of @restart. */
struct vertex_stream {
	const uint32_t *index;
	uint32_t count;
	bool restarts;
	uint32_t restart;		/* the index that cuts */
};

/*
 * The primitives of @topology (enum TOPOLOGY), in order; as many as @room are written. Returns how
 * many there are.
 */
uint32_t vertex_ref_primitives(unsigned int topology, const struct vertex_stream *s,
			       struct vertex_primitive *out, uint32_t room);

/*
 * Vertices of each batch of @instances instances of @count primitives: a primitive joins if the
 * vertices (index, instance) that are not in the batch yet find room among @vertices, and it is not
 * one more than @primitives. Returns how many batches; as many as @room are written.
 */
uint32_t vertex_ref_batches(const struct vertex_primitive *p, uint32_t count, uint32_t instances,
			    uint32_t vertices, uint32_t primitives, uint32_t *out, uint32_t room);

/* The padded number of vertices: see ../shared's isa.md, "Instancing", and INST's table. */
uint64_t vertex_ref_padded(uint64_t count);
/* The table that INST uses, from 20 vertices on: by the leading four bits. */
uint64_t vertex_ref_padded_table(uint64_t count);

/* The numbers by which a device divides by @divisor, 3 … 2^32 - 1 and no power of two. */
struct vertex_magic {
	uint32_t m;			/* without its highest bit */
	unsigned int extra, shift;
};

/* Both pairs that are right; the second only if *second. */
struct vertex_magic vertex_ref_magic(uint32_t divisor, struct vertex_magic *other, bool *second);
/* id / divisor as the device does it. */
uint32_t vertex_ref_divide(struct vertex_magic magic, uint32_t id);

#endif
