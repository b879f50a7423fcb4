/* SPDX-License-Identifier: MIT */
/*
 * How long a queue that works on something without an end takes to stop: from a RESET to the moment
 * at which it has left its engine, with worker threads that help it. The worst of everything in
 * tests/model/lib/endless.h, several times each. The rule is about cycles (STOP_WORK in
 * Documentation/hw/queues.md, tests/model/stop_work*.c); this is what they come to on this machine.
 */
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "endless.h"
#include "figures.h"

#define RUNS 9
#define AFTER_US 3000			/* by then the command has begun */

static const struct tsr_config config = { .threads = 2, .cores = 2 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* In milliseconds. */
static double stop(struct bench_queue *q)
{
	double begin;

	usleep(AFTER_US);
	begin = now();
	bench_control(q, TSR_QUEUE_OP_RESET);
	while (bench_queue_reg(q, TSR_QUEUE_STATE__OFFSET) & TSR_QUEUE_STATE_STOPPING__MASK)
		sched_yield();
	return now() - begin;
}

static void again(struct bench_queue *q)
{
	q->wptr = 0;
	bench_enable(q, 0);
}

static double render(const struct endless_tile *e, unsigned int samples_log2)
{
	struct tiles *t = endless_frame(&config, samples_log2);
	double worst = 0;

	t->f->b->real_clock = true;
	binner_bin(t->f);
	for (unsigned int i = 0; i < RUNS; i++) {
		double ms;

		endless_render(t, e);
		ms = stop(&t->queue);
		worst = ms > worst ? ms : worst;
		again(&t->queue);
	}
	tiles_free(t);
	return worst;
}

static double compute(const struct endless_program *e)
{
	struct shade_machine m;
	double worst = 0;

	shade_init(&m, &config);
	m.s.b->real_clock = true;
	for (unsigned int i = 0; i < RUNS; i++) {
		double ms;

		endless_dispatch(&m, e);
		ms = stop(&m.q);
		worst = ms > worst ? ms : worst;
		again(&m.q);
	}
	shade_free(&m);
	return worst;
}

int main(void)
{
	const char *which = "";
	double worst = 0, ms;

	for (unsigned int i = 0; i < ENDLESS_TILES; i++) {
		for (unsigned int s = 0; s <= 4; s += 2) {
			ms = render(&endless_tiles[i], s);
			which = ms > worst ? endless_tiles[i].what : which;
			worst = ms > worst ? ms : worst;
		}
	}
	for (unsigned int i = 0; i < ENDLESS_PROGRAMS; i++) {
		ms = compute(&endless_programs[i]);
		which = ms > worst ? endless_programs[i].what : which;
		worst = ms > worst ? ms : worst;
	}
	fprintf(stderr, "stop: the worst are %s\n", which);
	figure_print("stop_ms", worst, "ms");
	return 0;
}
