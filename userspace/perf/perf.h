/* SPDX-License-Identifier: MIT */
/* The file that tsr-perf shares with the library in the processes of the program. All map it. */
#ifndef PERF_H
#define PERF_H

#include <stdint.h>

#define PERF_FILE_VARIABLE "TSR_PERF_FILE" /* the environment says its path */
#define PERF_COUNTERS_MAX 64

struct perf_totals {
	uint32_t count; /* of the counters below; written before the program runs */
	uint32_t ids[PERF_COUNTERS_MAX]; /* drm_tessera_counter_info.id */
	/* added up by all processes, atomically */
	uint64_t values[PERF_COUNTERS_MAX];
	uint64_t jobs; /* that were counted */
	uint64_t own; /* that have a perfmon of the program's own: not counted */
	uint64_t refused; /* submissions that no perfmon could be had for: not counted */
};

#endif /* PERF_H */
