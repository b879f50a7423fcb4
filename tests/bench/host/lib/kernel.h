/* SPDX-License-Identifier: MIT */
/*
 * A shader file of tests/bench/host/shaders on a machine, to be run again and again.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include "machine.h"

struct kernel {
	struct script *script;
	struct machine *machine;
	struct machine_options options;
};

/* Make ready; ends the program with a message if that cannot be. @simd: NULL for the best path. */
void kernel_open(struct kernel *kernel, const char *name, unsigned int threads, const char *simd);
void kernel_close(struct kernel *kernel);
/* Run the dispatch @count times, for figure_median(). @arg is the kernel. */
void kernel_run(void *arg, unsigned int count);
/* A buffer as the CPU sees it. */
void *kernel_buffer(struct kernel *kernel, const char *name);
/* Threads of the dispatch. */
double kernel_threads(const struct kernel *kernel);

#endif
