/* SPDX-License-Identifier: MIT */
/* Processes that flood an engine class, for tests of the backend "engine". */
#ifndef GT_FLOOD_H
#define GT_FLOOD_H

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gt.h"
#include "ktap.h"

#define FLOOD_QUEUES	3	/* more than the class has slots */
#define FLOOD_DEPTH	8	/* jobs of each queue that are submitted and not done */
#define FLOOD_SIZE	0x40000u

/* Keep all queues of a file full until *@stop; count the jobs in *@done. */
static inline int flood_client(volatile unsigned int *stop, volatile unsigned int *done)
{
	uint32_t queue[FLOOD_QUEUES], sync[FLOOD_QUEUES][FLOOD_DEPTH];
	struct gt_ctx c = gt_ctx();
	struct gt_cs cs = gt_stream(&c, 8);
	unsigned int round, q, errors = 0;

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0), .size = FLOOD_SIZE,
		.pattern_lo = 1);
	for (q = 0; q < FLOOD_QUEUES; q++) {
		queue[q] = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
		for (round = 0; round < FLOOD_DEPTH; round++)
			sync[q][round] = gt_syncobj(c.fd, false);
	}
	for (round = 0; !*stop && !errors; round++) {
		for (q = 0; q < FLOOD_QUEUES; q++) {
			uint32_t handle = sync[q][round % FLOOD_DEPTH];
			struct drm_tessera_sync signal = gt_binary(handle);

			if (round >= FLOOD_DEPTH) {
				errors += gt_fence_error(c.fd, handle, 0) != 0;
				++*done;
			}
			errors += gt_kick(&c, queue[q], &cs, &signal) != 0;
		}
	}
	return errors ? 1 : 0;
}

/*
 * Run small jobs on @c while a process floods the class. Each of them may wait for what was
 * submitted before it, and for no more than that.
 */
static inline void flood(struct gt_ctx *c, unsigned int jobs)
{
	volatile unsigned int *shared = mmap(NULL, GT_PAGE, PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int i, most = 0;
	struct gt_cs cs = gt_stream(c, 3);
	int status = -1;
	pid_t pid;

	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0), .value = 1);
	pid = fork();
	if (!pid)
		_exit(flood_client(&shared[0], &shared[1]));
	while (shared[1] < 4 * FLOOD_DEPTH)
		gt_sleep_ms(1);
	for (i = 0; i < jobs; i++) {
		unsigned int before = shared[1];

		ktap_eq(gt_run(c, &cs), 0);
		most = shared[1] - before > most ? shared[1] - before : most;
	}
	printf("# a job waited for %u jobs of others at most\n", most);
	ktap_ok(most <= 3 * FLOOD_QUEUES * FLOOD_DEPTH);
	shared[0] = 1;
	ktap_eq(waitpid(pid, &status, 0), pid);
	ktap_eq(status, 0);
	munmap((void *)shared, GT_PAGE);
}

#endif /* GT_FLOOD_H */
