/* SPDX-License-Identifier: MIT */
/*
 * How many of 16 threads would have work: the cost of every tile and batch of varying programs is
 * measured on one thread, and 16 virtual threads take them from the dispenser of the device. Each
 * takes its next run when it is done with the one before; its time is the sum of its costs. A
 * figure is the cost of all, divided by the time until the last thread is done. Beside it stands
 * what comes of dealing the tiles by number, as deterministic devices do.
 *
 *	tiles [SCENE]
 *
 * What is not shared among threads (reading the chain of batches, beginning and end of a job) is
 * not in these figures, and neither is BIN.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "glbench/programs.h"
#include "glscene.h"
#include "hostgpu.h"
#include "render/dispenser.h"

#define THREADS 16u
#define FRAMES 9
#define JOBS_MAX 64
#define COUNT_MAX 8192

struct job {
	bool batches;
	uint64_t count;
	double cost[COUNT_MAX];		/* least of all frames, ns */
};

static struct {
	struct job job[JOBS_MAX];
	unsigned int jobs;		/* of the frame so far */
	uint64_t next;			/* call in the job */
	bool known;			/* a frame has been measured */
	double at;			/* of the last call */
} seen;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void next(void *opaque, bool batches, uint64_t count)
{
	const double time = now();
	struct job *job = &seen.job[seen.jobs];

	(void)opaque;
	if (seen.jobs == JOBS_MAX || count > COUNT_MAX) {
		fprintf(stderr, "tiles: more jobs, or tiles of one, than are expected\n");
		exit(1);
	}
	if (seen.next) {
		double *cost = &job->cost[seen.next - 1];

		*cost = seen.known && *cost < time - seen.at ? *cost : time - seen.at;
	} else if (seen.known && (job->batches != batches || job->count != count)) {
		fprintf(stderr, "tiles: a frame is not like the one before\n");
		exit(1);
	} else {
		job->batches = batches;
		job->count = count;
	}
	if (seen.next++ == count) {
		seen.jobs++;
		seen.next = 0;
	}
	seen.at = now();
}

/* Until when @job takes THREADS threads. */
static double finish(const struct job *job, bool dealt)
{
	struct tsr_dispenser d = { .contexts = THREADS, .dealt = dealt };
	double time[THREADS] = { 0 }, end = 0;
	struct tsr_run run[THREADS];
	bool working[THREADS];
	unsigned int left = THREADS;

	tsr_dispenser_start(&d, job->count, job->batches ? 1 : TSR_TILE_RUN);
	for (unsigned int i = 0; i < THREADS; i++) {
		run[i] = tsr_dispenser_first(&d, i);
		working[i] = true;
	}
	while (left) {
		unsigned int first = THREADS;

		for (unsigned int i = 0; i < THREADS; i++) {
			if (working[i] && (first == THREADS || time[i] < time[first]))
				first = i;
		}
		if (tsr_dispenser_ensure(&d, &run[first])) {
			time[first] += job->cost[run[first].next++];
		} else {
			working[first] = false;
			end = time[first] > end ? time[first] : end;
			left--;
		}
	}
	return end;
}

static void measure(const char *name)
{
	double all = 0, taken = 0, dealt = 0;
	struct glscene scene;
	struct glscene_tsr *tsr;
	unsigned int jobs = 0;

	memset(&seen, 0, sizeof(seen));
	glscene_open(&scene, name);
	tsr = glscene_tsr_new(&scene, GL_CLIP_TWO,
			      glscene_tsr_has(&scene, GL_PRELOAD) ? GL_PRELOAD : GL_PLAIN);
	glscene_tsr_run(tsr, 3);
	hostgpu_next(next, NULL);
	for (unsigned int i = 0; i < FRAMES; i++) {
		seen.jobs = 0;
		glscene_tsr_run(tsr, 1);
		jobs = seen.jobs;
		seen.known = true;
	}
	hostgpu_next(NULL, NULL);
	for (unsigned int i = 0; i < jobs; i++) {
		for (uint64_t n = 0; n < seen.job[i].count; n++)
			all += seen.job[i].cost[n];
		taken += finish(&seen.job[i], false);
		dealt += finish(&seen.job[i], true);
	}
	printf("tiles%u_%s %.2f busy\n", THREADS, name, taken ? all / taken : 0);
	printf("tiles%u_%s_dealt %.2f busy\n", THREADS, name, dealt ? all / dealt : 0);
	glscene_tsr_free(tsr);
	glscene_close(&scene);
}

int main(int argc, char **argv)
{
	/* one context: what it does between two calls is one tile */
	hostgpu_set(&(struct hostgpu_options){ .cores = 1 });
	for (size_t i = 0; glscene_names[i]; i++) {
		if (argc < 2 || !strcmp(argv[1], glscene_names[i]))
			measure(glscene_names[i]);
	}
	return 0;
}
