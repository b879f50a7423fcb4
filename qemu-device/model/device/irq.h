/* SPDX-License-Identifier: MIT */
/*
 * Interrupts: six 64-bit classes.
 *
 * In: events that queues and units raise on any thread, register writes. Out: one message to the
 * host whenever RAWSTAT & MASK changes from zero to nonzero. Reset state: all zero. The lock is a
 * leaf lock. All functions may be called on any thread, with or without the device's lock.
 */
#ifndef TSR_IRQ_H
#define TSR_IRQ_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "counters.h"
#include "hooks.h"
#include "tsr_gpu.h"

#define TSR_IRQ_CLASSES 6

struct tsr_irq {
	/* These do not change: who gets messages, with its argument; what counts them; hooks. */
	const struct tsr_host_ops *ops;
	void *host;
	struct tsr_counters *counters;
	const struct tsr_hooks *hooks;	/* NULL: none */
	const struct tsr_hooked *hooked;
	struct tsr_gpu *gpu;		/* the hooks' argument, of no use here */
	bool check;			/* the checker wants to know of changes */

	pthread_mutex_t lock;		/* protects what follows */
	uint64_t rawstat[TSR_IRQ_CLASSES];	/* events since they were cleared */
	uint64_t mask[TSR_IRQ_CLASSES];	/* which of them send messages */
};

/* An event: set @bits of @cls (enum tsr_irq_class), send the message if the mask wants it. */
void tsr_irq_raise(struct tsr_irq *irq, unsigned int cls, uint64_t bits);
/* Send the message of @cls, whatever RAWSTAT says. */
void tsr_irq_send(struct tsr_irq *irq, unsigned int cls);
/* Register writes: clear events; replace the bits of the mask that @which selects. */
void tsr_irq_clear(struct tsr_irq *irq, unsigned int cls, uint64_t bits);
void tsr_irq_set_mask(struct tsr_irq *irq, unsigned int cls, uint64_t which, uint64_t bits);
/* Register reads. */
uint64_t tsr_irq_rawstat(struct tsr_irq *irq, unsigned int cls);
uint64_t tsr_irq_mask(struct tsr_irq *irq, unsigned int cls);
/* Back to the reset state; sends nothing. */
void tsr_irq_reset(struct tsr_irq *irq);

#endif
