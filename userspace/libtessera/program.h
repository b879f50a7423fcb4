/* SPDX-License-Identifier: MIT */
/* What recording a dispatch needs of programs and scratch. */
#ifndef TSR_PROGRAM_H
#define TSR_PROGRAM_H

#include "internal.h"
#include "tessera_asm.h"
#include "tessera_compute.h"

struct tsr_program {
	atomic_uint refs;
	struct tsr_pool *pool;		/* referenced */
	struct tsr_alloc memory;	/* the code, of that pool */
	struct tsr_program_info info;	/* without code; local without zeroes, sizes rounded up */
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

/* tsr_pool_vm(), tsr_pool_access(): what the pool was made with; no reference is taken. */
TSR_HIDDEN struct tsr_vm *tsr_pool_vm(const struct tsr_pool *pool);
TSR_HIDDEN uint32_t tsr_pool_access(const struct tsr_pool *pool);

#endif /* TSR_PROGRAM_H */
