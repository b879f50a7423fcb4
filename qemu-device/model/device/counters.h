/* SPDX-License-Identifier: MIT */
/*
 * Counters, and the clock they are counted in.
 *
 * In: what units have done. Out: the COUNTER registers, of the queue and global. A queue's counters
 * have one writer at a time (whoever runs the queue, or the device's lock while nobody does) and
 * any readers, so they need no locked instruction; the global ones are added to from all threads.
 * Reset state: zero; global counters survive a reset.
 */
#ifndef TSR_COUNTERS_H
#define TSR_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "count.h"
#include "tsr_gpu.h"
#include "tsr_regs.h"

#define TSR_QUEUE_COUNTERS TSR_QUEUE_COUNTER__COUNT	/* ids of scope "queue", with gaps */
#define TSR_GLOBAL_COUNTERS 11		/* assigned ids of scope "global" */

/* Accounting of the time in which engines run. Protected by the device's lock. */
struct tsr_busy {
	unsigned int running[4];	/* engines that run now, by class */
	unsigned int total;		/* their sum */
	uint64_t since;			/* clock at the last change of the above */
};

struct tsr_counters {
	const struct tsr_host_ops *ops;	/* whose clock it is, with its argument */
	void *host;
	bool modelled;			/* the clock counts modelled cycles instead */
	/*
	 * added to the host's clock, so that TIMESTAMP does not go back when a snapshot is loaded
	 */
	uint64_t clock_offset;
	struct tsr_busy busy;
	_Atomic uint64_t global[TSR_GLOBAL_COUNTERS];	/* by enum tsr_global_counter */
};

/*
 * GPU.TIMESTAMP: nanoseconds of the host's clock, or modelled cycles when the device is
 * deterministic. Any thread.
 */
uint64_t tsr_clock(const struct tsr_counters *counters);
/* Add @n to global counter @id (enum tsr_global_counter). Any thread. */
void tsr_counter_global(struct tsr_counters *counters, unsigned int id, uint64_t n);
/* Register read of a global counter. Lock held. */
uint64_t tsr_counter_read_global(struct tsr_counters *counters, unsigned int id);
/* An engine of @cls starts (+1) or stops (-1) to run at clock @now. Lock held. */
void tsr_busy_change(struct tsr_counters *counters, unsigned int cls, int by, uint64_t now);

#endif
