/* SPDX-License-Identifier: MIT */
/*
 * TESSERA_DEBUG=sync,dump,validate: what the library does more than it is asked, to find mistakes.
 *
 *   sync	a submission returns when its jobs are done; those that failed are named
 *   dump	what is submitted is printed
 *   validate	what the device would refuse is refused, with a message, before it is submitted
 *
 * All of it goes to the standard error output. dump and validate read streams where the CPU has
 * them mapped: what is bound is noted, of all VMs, under one lock of this file.
 */
#ifndef TSR_DEBUG_H
#define TSR_DEBUG_H

#include "internal.h"

enum tsr_debug {
	TSR_DEBUG_SYNC = 1 << 0,
	TSR_DEBUG_DUMP = 1 << 1,
	TSR_DEBUG_VALIDATE = 1 << 2
};

/* tsr_debug(): those of TESSERA_DEBUG; read once, what is none is complained about then. */
TSR_HIDDEN uint32_t tsr_debug(void);

/* tsr_debug_note(): a line for whoever debugs. */
TSR_HIDDEN void tsr_debug_note(const char *format, ...) TSR_PRINTF(1, 2);

/* tsr_debug_bound(): these operations were handed to the kernel. */
TSR_HIDDEN void tsr_debug_bound(const struct tsr_vm *vm, const struct tsr_bind *binds,
				unsigned int count);

/* tsr_debug_gone(): a VM, or the CPU's mapping of a BO, goes. */
TSR_HIDDEN void tsr_debug_vm_gone(const struct tsr_vm *vm);
TSR_HIDDEN void tsr_debug_bo_gone(const struct tsr_bo *bo);

/*
 * tsr_debug_job(): dump and validate job @job of a submission of @count jobs: the stream at @va on
 * @queue. -EINVAL if the device would refuse it.
 */
TSR_HIDDEN int tsr_debug_job(const struct tsr_queue *queue, unsigned int job, unsigned int count,
			     uint64_t va, uint32_t size);

#endif /* TSR_DEBUG_H */
