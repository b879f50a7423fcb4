/* SPDX-License-Identifier: MIT */
/*
 * The contract checker: Documentation/hw/debug-unit.md.
 *
 * In: what the units are about to do or were told, at the places where a driver's mistake shows.
 * Out: reports: counts, the last one in registers, a line of text for the host. Nothing here
 * changes what the device does. Where cfg.check is off each question is one test of a constant.
 * Limits: TSR_CHECK_SUSPECTS suspicions at a time, further ones are dropped; memory of
 * TSR_CHECK_CHUNKS times 16 MiB is watched; TSR_CHECK_LINES lines of text for each kind.
 *
 * Locks: @lock is a leaf like the interrupts' lock, and is taken under that one and the device's.
 */
#ifndef TSR_CHECK_H
#define TSR_CHECK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hooks.h"
#include "tsr_regs.h"

#define TSR_CHECK_SUSPECTS 64
#define TSR_CHECK_CHUNKS 4096
#define TSR_CHECK_WRITES 16
#define TSR_CHECK_LINES 16
#define TSR_CHECK_KINDS TSR_CHECK_COUNT__COUNT
#define TSR_CHECK_TEXT 512		/* longest text of a report, with its 0 */
/* Size of the block of registers. */
#define TSR_CHECK_BYTES (TSR_CHECK_COUNT__OFFSET + TSR_CHECK_KINDS * TSR_CHECK_COUNT__STRIDE)

/* A mistake, or what may turn out to be one. */
struct tsr_check_event {
	uint8_t kind;			/* enum tsr_check_kind */
	const struct tsr_queue *queue;	/* NULL if no queue is involved */
	uint8_t as;
	uint64_t job;			/* of @queue, filled by the checker */
	uint64_t when;			/* host clock; 0: now */
	uint64_t addr, was, is;		/* see CHECK_KIND */
};

/* Contents of a queue's ring when its doorbell was written. */
struct tsr_check_ring {
	_Atomic uint64_t *word;		/* by offset in the ring; NULL if unknown */
	uint32_t size;			/* bytes */
	_Atomic uint32_t known;		/* words from this position on have been seen */
	/* positions that the last doorbell announced */
	_Atomic uint32_t first, end;
	bool settled;			/* the words have been compared again */
	_Atomic bool old;		/* the last doorbell announced no new word */
	/* the last FENCE of the ring; touched by whoever runs the queue */
	uint64_t fence_addr, fence_value;
	bool fenced;
};

/* Users of 16 MiB of bus addresses, by page: 0 unknown, 1 freed, n taken n - 1 times. */
#define TSR_CHECK_CHUNK_PAGES 4096
struct tsr_check_chunk {
	uint64_t number;		/* bus address / 16 MiB */
	_Atomic uint8_t page[TSR_CHECK_CHUNK_PAGES];
};

/* A register the driver has written. */
struct tsr_check_write {
	uint64_t when;			/* host clock */
	uint32_t offset, value;
};

struct tsr_check {
	_Atomic uint32_t excused;	/* kinds that injected faults may cause */
	atomic_bool suspicious;		/* there are suspicions */
	_Atomic uint64_t started;	/* invalidations ever started, as tsr_inval.head */
	_Atomic uint32_t count[TSR_CHECK_KINDS];
	/* an event's message was sent then and it has not been cleared; 0: no such event,
	 * UINT64_MAX: reported. Under the interrupts' lock. */
	uint64_t irq_since[TSR_IRQ_CLASS_HEAP + 1][64];
	/* registers of COMMAND, and rings: under the device's lock */
	uint64_t pages_addr, pages_size;
	struct tsr_check_ring ring[TSR_QUEUES_MAX];
	_Atomic(struct tsr_check_chunk *) chunk[TSR_CHECK_CHUNKS];	/* hashed by number */

	pthread_mutex_t lock;		/* protects what follows */
	struct tsr_check_event suspect[TSR_CHECK_SUSPECTS];
	unsigned int suspects;
	bool any;			/* @last is one */
	struct tsr_check_event last;
	char text[TSR_CHECK_TEXT];	/* of @last */
	struct tsr_check_write write[TSR_CHECK_WRITES];	/* number n is at n % TSR_CHECK_WRITES */
	uint64_t writes;
};

/* Report @e at once. Any thread. */
void tsr_check_report(struct tsr_gpu *gpu, struct tsr_check_event e);
/* Judge what is due, and what rings hold; returns what is left to be judged. Lock held. */
unsigned int tsr_check_settle(struct tsr_gpu *gpu);
/* Report suspicions that are due at host clock @clock; returns how many are not. */
unsigned int tsr_check_suspects(struct tsr_gpu *gpu, uint64_t clock);
void tsr_check_init(struct tsr_gpu *gpu);
void tsr_check_free(struct tsr_gpu *gpu);
/* Fault @kind (enum tsr_injection) is injected. Its consequences are not the driver's mistakes. */
void tsr_check_excuse(struct tsr_gpu *gpu, unsigned int kind);
/* COMMAND: [addr, addr + size) has been @op (enum tsr_check_pages). Lock held. */
void tsr_check_pages(struct tsr_gpu *gpu, unsigned int op, uint64_t addr, uint64_t size);

/* The hooks, see hooks.h. */
void tsr_check_reset(struct tsr_gpu *gpu);
void tsr_check_wrote(struct tsr_gpu *gpu, uint32_t offset, uint32_t value);
void tsr_check_irq(struct tsr_gpu *gpu, unsigned int cls, uint64_t before, uint64_t now);
void tsr_check_root(struct tsr_gpu *gpu, unsigned int as, uint64_t old, uint64_t root);
void tsr_check_enabled(struct tsr_queue *q);
void tsr_check_doorbell(struct tsr_queue *q, uint32_t wptr);
void tsr_check_doorbell_disabled(struct tsr_queue *q, uint32_t wptr);
void tsr_check_fetched(struct tsr_queue *q, const struct tsr_packet *packet);
void tsr_check_fence(struct tsr_queue *q, unsigned int as, uint64_t addr, uint64_t value);
void tsr_check_stopped(struct tsr_queue *q);
void tsr_check_faulted(struct tsr_queue *q);
/* check_pages.c: translations and freed memory. */
void tsr_check_access(struct tsr_mem *mem, uint64_t va, unsigned int access,
		      const struct tsr_tlb_entry *e);
void tsr_check_invalidated(struct tsr_gpu *gpu, bool host, unsigned int as, uint64_t first,
			   uint64_t last);

/* Registers of block CHECK. Lock held. */
uint32_t tsr_check_read(struct tsr_gpu *gpu, uint32_t offset);
void tsr_check_write(struct tsr_gpu *gpu, uint32_t offset, uint32_t value);

#endif
