// SPDX-License-Identifier: MIT
/* Shader files to be measured, see kernel.h. */
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "kernel.h"

static void die(const char *name, const char *why)
{
	fprintf(stderr, "kernel %s: %s\n", name, why);
	exit(1);
}

void kernel_open(struct kernel *kernel, const char *name, unsigned int threads, const char *simd)
{
	const char *top = getenv("TSR_TOP");
	char path[4096], error[600];

	snprintf(path, sizeof(path), "%s/tests/bench/host/shaders/%s.shader", top ? top : ".",
		 name);
	kernel->options = (struct machine_options){ .threads = threads, .simd = simd };
	kernel->script = script_read(path, error, sizeof(error));
	if (!kernel->script)
		die(name, error);
	kernel->machine = machine_new(kernel->script, &kernel->options, error, sizeof(error));
	if (!kernel->machine)
		die(name, error);
}

void kernel_close(struct kernel *kernel)
{
	machine_free(kernel->machine);
	script_free(kernel->script);
}

void kernel_run(void *arg, unsigned int count)
{
	struct kernel *kernel = arg;

	while (count--) {
		struct outcome outcome = { 0 };

		machine_run(kernel->machine, &kernel->options, &outcome);
		if (!outcome.ended || outcome.faulted)
			die(kernel->script->path, compare_fault_name(outcome.code));
	}
}

void *kernel_buffer(struct kernel *kernel, const char *name)
{
	const struct region *r = script_region(kernel->script, name);

	if (!r)
		die(kernel->script->path, "no such buffer");
	return memory_at(&kernel->machine->memory, r->va, r->size);
}

double kernel_threads(const struct kernel *kernel)
{
	double n = 1;

	for (int i = 0; i < 3; i++)
		n *= (double)kernel->script->local[i] * kernel->script->groups[i];
	return n;
}
