/* SPDX-License-Identifier: MIT */
/* Shaders and scratch, as the code that records dispatches uses them. */
#ifndef TSR_SHADER_H
#define TSR_SHADER_H

#include <tessera/asm.h>
#include <tessera/compute.h>

#include "core/internal.h"

struct tsr_shader {
	atomic_uint refs;
	struct tsr_pool *pool;		/* referenced */
	struct tsr_alloc memory;	/* the code, of that pool */
	struct tsr_shader_info info;	/* without code; local without zeroes, sizes rounded up */
	uint64_t serial;		/* number of its upload on this device, from 1 */
	char *label;			/* ours, never NULL */
	struct tsr_asm_clause *clauses;	/* ours; where clauses came from, NULL without a text */
	uint32_t clause_count;
};

struct tsr_scratch {
	atomic_uint refs;
	struct tsr_vm *vm;		/* referenced */
	struct tsr_bo *bo;		/* ours */
	uint64_t va;			/* where it is mapped, whole */
	uint32_t size;			/* bytes of a thread */
};

#endif /* TSR_SHADER_H */
