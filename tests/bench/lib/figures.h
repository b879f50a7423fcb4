/* SPDX-License-Identifier: MIT */
/*
 * Figures of benchmarks: each is measured several times, the median is printed as "name value
 * unit", one line a figure. Times come from CLOCK_MONOTONIC. Nothing here passes or fails.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdint.h>

#define FIGURE_RUNS	7

/* One measurement: what @fn(@arg) took, in nanoseconds for each of the @count things it did. */
double figure_once(void (*fn)(void *arg, unsigned int count), void *arg, unsigned int count);
/*
 * Processor time of all threads of the process. For work of one thread it is what figure_once()
 * takes on an idle machine.
 */
double figure_cpu_once(void (*fn)(void *arg, unsigned int count), void *arg, unsigned int count);
/* The median of FIGURE_RUNS measurements, after one that is thrown away. */
double figure_median(void (*fn)(void *arg, unsigned int count), void *arg, unsigned int count);
/* The median of @count figures, which are sorted. */
double figure_middle(double *figures, unsigned int count);
void figure_print(const char *name, double value, const char *unit);

#endif /* FIGURES_H */
