/* SPDX-License-Identifier: MIT */
/*
 * MMU: address spaces and page-table walks.
 *
 * In: a virtual address of an address space and the kind of access. Out: where the page lies (bus
 * address or local offset) and what it allows, or a precise fault. Page-table entries are read in
 * one 64-bit access each. Limits: 3 to 5 levels by configuration. Reset state: all address spaces
 * off.
 */
#ifndef TSR_MMU_H
#define TSR_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include "hooks.h"
#include "tsr_gpu.h"
#include "tsr_regs.h"
#include "view.h"

/* An address space: its registers. Protected by the device's lock, except @root. */
struct tsr_as {
	uint64_t base;			/* BASE as written */
	uint64_t inv_va;		/* INV_VA as written */
	uint64_t inv_size;		/* INV_SIZE as written */
	uint32_t inv_started;		/* invalidations started */
	uint32_t inv_done;		/* invalidations completed */
	uint32_t inv_stuck;		/* invalidations started and held by a fault */
	/* of those in between: no longer in the log, complete with the next */
	uint32_t inv_late;
	/* BASE as the last INV_OP ALL took it; read by walks without the lock */
	_Atomic uint64_t root;
	/* number of the code in it, another one when code may have changed; see shader/code.h */
	_Atomic uint64_t code;
	/* the same of what read-only caches hold (tex_cache.h); never one of @code's */
	_Atomic uint64_t data;
};

/* The memory system: what does not change, the address spaces, the numbers of what is in them. */
struct tsr_mmu {
	/* translations are shown to @hooks before they are used */
	atomic_bool watched;
	const struct tsr_hooks *hooks;	/* NULL: none */
	const struct tsr_hooked *hooked;
	const struct tsr_host_ops *ops;	/* whose memory it is, with its argument */
	void *host;
	uint8_t *local;			/* local memory */
	uint64_t local_size;
	uint64_t page_sizes;		/* as in struct tsr_config */
	unsigned int va_bits, levels;	/* of the page table */
	/* the last number that tsr_as.code or .data was given */
	_Atomic uint64_t generation;
	struct tsr_as as[TSR_ADDRESS_SPACES_MAX];
};

/* Where a walk ended. */
struct tsr_walk {
	/* bus address or local offset of the 4 KiB page's first byte */
	uint64_t phys;
	bool local;			/* in local memory */
	bool null;			/* a NULL page */
	bool huge;			/* part of a page of 2 MiB */
	uint8_t perms;			/* TSR_ACCESS_ bits the leaf grants */
};

/*
 * Translate the page of @va for @access. TSR_STEP_DONE: @walk is filled. TSR_STEP_PENDING: the host
 * has to be asked. TSR_STEP_FAULT: mem->fault is filled.
 */
enum tsr_step tsr_mmu_walk(struct tsr_mem *mem, uint64_t va, unsigned int access,
			   struct tsr_walk *walk);
/*
 * The present translation of @va, read from the page tables without cache, fault or injection.
 * *@entry is the entry at which the walk ended. Any thread, without the lock.
 */
enum tsr_mmu_peek {
	TSR_MMU_PEEK_FOUND,		/* @walk is filled */
	TSR_MMU_PEEK_NOTHING,		/* @va is not mapped */
	TSR_MMU_PEEK_UNKNOWN,		/* a table cannot be read now */
};
enum tsr_mmu_peek tsr_mmu_peek(struct tsr_mmu *mmu, unsigned int as, uint64_t va,
			       struct tsr_walk *walk, uint64_t *entry);
/* Code in address space @as may have changed: decoded clauses are not used any more. Any thread. */
void tsr_mmu_code_changed(struct tsr_mmu *mmu, unsigned int as);
/* Data in address space @as may have changed: read-only caches drop it. Any thread. */
void tsr_mmu_data_changed(struct tsr_mmu *mmu, unsigned int as);
/* Number of the data in address space @as, unique over all address spaces and all time. */
uint64_t tsr_mmu_data_generation(struct tsr_mmu *mmu, unsigned int as);
/* Number of the code in address space @as. */
uint64_t tsr_mmu_code_generation(struct tsr_mmu *mmu, unsigned int as);
/* Initialize with memory and host. All address spaces are off. */
void tsr_mmu_init(struct tsr_mmu *mmu, const struct tsr_config *cfg,
		  const struct tsr_host_ops *ops, void *host);
/* All address spaces off. No runner is running. Lock held. */
void tsr_mmu_reset(struct tsr_mmu *mmu);
/* Fill mem->fault; returns TSR_STEP_FAULT. */
enum tsr_step tsr_mmu_fault(struct tsr_mem *mem, uint8_t code, uint64_t va, unsigned int access,
			    unsigned int level);

#endif
