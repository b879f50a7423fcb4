// SPDX-License-Identifier: MIT
/* Medians of repeated measurements. */
#include "figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

double figure_once(void (*fn)(void *arg, unsigned int count), void *arg, unsigned int count)
{
	double start = now_ns(CLOCK_MONOTONIC);

	fn(arg, count);
	return (now_ns(CLOCK_MONOTONIC) - start) / count;
}

double figure_cpu_once(void (*fn)(void *arg, unsigned int count), void *arg, unsigned int count)
{
	double start = now_ns(CLOCK_PROCESS_CPUTIME_ID);

	fn(arg, count);
	return (now_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / count;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double figure_middle(double *figures, unsigned int count)
{
	qsort(figures, count, sizeof(figures[0]), ascending);
	return figures[count / 2];
}

double figure_median(void (*fn)(void *arg, unsigned int count), void *arg, unsigned int count)
{
	double runs[FIGURE_RUNS];
	int i;

	figure_once(fn, arg, count);
	for (i = 0; i < FIGURE_RUNS; i++)
		runs[i] = figure_once(fn, arg, count);
	return figure_middle(runs, FIGURE_RUNS);
}

void figure_print(const char *name, double value, const char *unit)
{
	printf("%s %.6g %s\n", name, value, unit);
	fflush(stdout);
}
