// SPDX-License-Identifier: MIT
/*
 * Dirty reports of whole frames: the device reports every byte that it writes to system memory.
 *
 * The machine keeps a copy of system memory that only dirty reports update (bench.reported). After
 * each command the copy must equal the memory. A byte that differs was written without a report,
 * and a live migration would lose it. Frames are sound or have some changed bits, so that commands
 * succeed, fault, or are reset in the middle of their writes.
 *
 * Input: frame_of_input(), with the kind of device in bits 7:3.
 */
#include <stdlib.h>
#include <string.h>

#include "frame_machine.h"
#include "ktap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_summary(void);

#define LIFE 1000			/* frames until a machine is replaced */

static const struct tsr_config kinds[] = {
	{ .cores = 2 },
	{ .cores = 1, .jit = TSR_JIT_USE_OFF, .no_texture_cache = true },
	{ .cores = 3, .jit = TSR_JIT_USE_FIRST, .simd = "sse2" },
	{ .threads = 2, .late_messages = true, .jit = TSR_JIT_USE_FIRST },
	{ .late_messages = true, .simd = "avx2" },
	{ .threads = 2, .cores = 2 },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct frame_machine machines[KINDS];
static unsigned int ages[KINDS];	/* frames since the machine was made */
static unsigned long ends[FRAME_RESET + 1];

void fuzz_summary(void)
{
	ktap_note("commands: %lu done, %lu faulted, %lu reset", ends[FRAME_DONE],
		  ends[FRAME_FAULTED], ends[FRAME_RESET]);
}

static void free_machine(struct frame_machine *m)
{
	uint8_t *reported = m->b ? m->b->reported : NULL;

	frame_machine_free(m);
	free(reported);
}

static struct frame_machine *machine(unsigned int kind)
{
	struct frame_machine *m = &machines[kind];

	if (!m->b || ages[kind]++ > LIFE) {
		free_machine(m);
		ages[kind] = 0;
		frame_machine_new(m, &kinds[kind]);
		m->b->reported = malloc(BENCH_RAM_SIZE);
		if (!m->b->reported)
			abort();
	}
	return m;
}

static enum frame_end run(struct frame_machine *m, unsigned int which, uint32_t offset,
			  bool bounded)
{
	enum frame_end end = frame_run(m, which, offset, bounded);

	ends[end]++;
	return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct draws *d = frame_of_input(data, size);
	struct frame_machine *m;
	struct fuzz_random r;
	unsigned int changes;
	bool bounded;

	if (!d)
		return 0;
	changes = data[0] & 7;
	r = draws_part(d, 1001, 0);
	frame_change_inputs(&r, d, changes);
	m = machine((data[0] >> 3) % KINDS);
	frame_put(m, d);
	/* A third of the frames is reset after a short time if it still runs. */
	m->cycles = fuzz_often(&r, 85) && !m->b->config.threads ? 1 + fuzz_below(&r, 64) : 0;
	m->slices = 1 + fuzz_below(&r, 128);
	bounded = changes || m->cycles;
	if (run(m, FRAME_BIN, DRAWS_BIN, bounded) == FRAME_DONE &&
	    run(m, FRAME_RENDER, DRAWS_RENDER, bounded) == FRAME_DONE && d->tagged)
		run(m, FRAME_RENDER, DRAWS_EXPAND, bounded);
	return 0;
}
