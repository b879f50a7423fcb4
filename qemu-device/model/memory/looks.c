/* SPDX-License-Identifier: MIT */
/* The bound on the time between two looks at a stop request, in builds with TSR_DEBUG_STOP. */
#include "view.h"

#ifdef TSR_DEBUG_STOP
#include <stdio.h>
#include <time.h>

/* Processor time between two looks at the stop request that is too long in any case. */
#define LOOK_NS 1000000000ull
/* Oldest sample of a thread's processor time: reading it is a system call. */
#define SAMPLE_NS 100000000ull

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

void tsr_port_look(struct tsr_port *port)
{
	/* cheap, but it also runs while the thread does not */
	const uint64_t wall = clock_ns(CLOCK_MONOTONIC_COARSE);
	struct tsr_looks *looks = &port->looks;
	const uint64_t last = looks->last;

	looks->work = 0;
	looks->last = wall;
	if (last && wall - last > LOOK_NS &&
	    clock_ns(CLOCK_THREAD_CPUTIME_ID) - looks->sampled_cpu > LOOK_NS + SAMPLE_NS) {
		fprintf(stderr, "a thread worked for %llu ms without a look at its stop request\n",
			(unsigned long long)(wall - last) / 1000000);
		abort();
	}
	if (!last || wall - looks->sampled_at > SAMPLE_NS) {
		looks->sampled_at = wall;
		looks->sampled_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	}
}
#endif
