// SPDX-License-Identifier: MIT
/*
 * Between a fuzzing engine (libFuzzer, AFL++) and a target, whose function is called fuzz_target()
 * here. A failed check of ktap.h ends the program, so the engine keeps the input. Guest memory is
 * placed between guard pages, as by fuzz_main.c.
 */
#include <stdint.h>
#include <stdlib.h>

#include "ktap.h"

int fuzz_target(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

__attribute__((constructor))
static void set_up(void)
{
	setenv("TSR_BENCH_MEMORY", "pages", 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_target(data, size);
	if (atomic_load(&ktap.bad)) {
		fprintf(stderr, "fuzz_engine: a check failed\n");
		abort();
	}
	return 0;
}
