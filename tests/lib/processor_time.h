/* SPDX-License-Identifier: MIT */
/* For limits that do not depend on what else the host does. */
#ifndef PROCESSOR_TIME_H
#define PROCESSOR_TIME_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds that this process has had of a processor. */
static inline uint64_t processor_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#endif
