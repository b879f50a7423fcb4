/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any sequence of register accesses.
 *
 * The input is a list of writes, reads, turns of the device and of the clock. Whatever it does:
 * reads of identification registers give what they gave at first, a queue's state is a legal one,
 * RESET_COUNT and the timestamp never go back, and after a reset an honest job is done.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "packets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define QUEUES 3
#define DATA_VA 0x100000ull
#define RING_VA 0x300000ull

__attribute__((noreturn))
static void fail(const char *what, uint32_t offset)
{
	fprintf(stderr, "registers: %s (0x%x)\n", what, offset);
	abort();
}

struct setup {
	struct bench *b;
	struct bench_as as;
	struct bench_queue q;
	uint64_t *data;
	uint32_t reset_count;
	uint64_t timestamp;
};

/*
 * A register offset: mostly of a slot, a doorbell, an address space or a semaphore in use;
 * sometimes any.
 */
static uint32_t pick_offset(struct fuzz_input *in)
{
	uint8_t kind = fuzz_byte(in), index = fuzz_byte(in);

	switch (kind & 7) {
	case 0:
	case 1:
		return TSR_QUEUE__OFFSET + index % QUEUES * TSR_QUEUE__STRIDE +
		       (index / QUEUES * 4 & 0xff);
	case 2:
		return TSR_REG_QUEUE_CONTROL(index % QUEUES);
	case 3:
		return TSR_REG_DOORBELL_RING(index % QUEUES);
	case 4:
		return TSR_AS__OFFSET + index % 3 * TSR_AS__STRIDE +
		       (index / 3 * 4) % TSR_AS__STRIDE;
	case 5:
		return TSR_IRQ__OFFSET + index % 32 * 4;
	case 6:
		return index & 1 ? TSR_REG_SEMAPHORE_VALUE(index >> 1) : TSR_REG_GPU_CONTROL;
	default:
		return (uint32_t)fuzz_number(in, 3) % (TSR_REGISTERS_SIZE + 16);
	}
}

static void check(struct setup *s)
{
	uint64_t timestamp = bench_read64(s->b, TSR_REG_GPU_TIMESTAMP);
	uint32_t resets = bench_read(s->b, TSR_REG_GPU_RESET_COUNT);

	if (bench_read(s->b, TSR_REG_GPU_MAGIC) != TSR_MAGIC)
		fail("MAGIC", TSR_REG_GPU_MAGIC);
	if (bench_field(bench_read(s->b, TSR_REG_GPU_SLOTS), TSR_GPU_SLOTS_QUEUES__MASK) != QUEUES)
		fail("SLOTS", TSR_REG_GPU_SLOTS);
	if (resets < s->reset_count)
		fail("RESET_COUNT went back", TSR_REG_GPU_RESET_COUNT);
	if (timestamp < s->timestamp)
		fail("TIMESTAMP went back", TSR_REG_GPU_TIMESTAMP);
	s->reset_count = resets;
	s->timestamp = timestamp;
	for (unsigned int i = 0; i < QUEUES; i++) {
		uint32_t state = bench_read(s->b, TSR_REG_QUEUE_STATE(i));
		uint32_t fault = bench_read(s->b, TSR_REG_QUEUE_FAULT(i));

		if (bench_field(state, TSR_QUEUE_STATE_STATE__MASK) > TSR_QUEUE_STATE_FAULTED)
			fail("no legal state", state);
		if (bench_field(state, TSR_QUEUE_STATE_STATE__MASK) == TSR_QUEUE_STATE_FAULTED &&
		    !bench_field(fault, TSR_QUEUE_FAULT_CODE__MASK))
			fail("FAULTED without a fault", fault);
		if (bench_read(s->b, TSR_REG_DOORBELL_RING(i)) !=
		    bench_read(s->b, TSR_REG_QUEUE_WPTR(i)))
			fail("a doorbell reads other than WPTR", i);
	}
}

static void honest_job(struct setup *s)
{
	bench_write(s->b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	bench_as_init(s->b, &s->as, 0);
	s->data = bench_buffer(&s->as, DATA_VA, BENCH_PAGE, BENCH_RW);
	bench_queue_init(&s->q, 1, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_LOW, &s->as, RING_VA, 12,
			 &s->as);
	bench_fence(&s->q, DATA_VA, 77, TSR_EVENT_ALL_DONE, true);
	bench_kick(&s->q);
	if (!bench_run(s->b, 5) || s->data[0] != 77)
		fail("an honest job after a reset is not done", bench_state(&s->q));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tsr_config config = { .queues = QUEUES };
	struct fuzz_input in = { data, size };
	struct setup s = { 0 };

	s.b = bench_new(&config);
	honest_job(&s);
	while (in.left) {
		uint8_t what = fuzz_byte(&in);

		if (what < 0x20) {
			tsr_gpu_run(s.b->gpu, what * 16);
		} else if (what < 0x30) {
			bench_advance(s.b, (what & 15) * 300000);
		} else if (what < 0x38) {
			bench_read(s.b, pick_offset(&in));
		} else if (what < 0x3c) {
			check(&s);
		} else if (what == 0x3c) {
			tsr_gpu_host_invalidate(s.b->gpu, 0, UINT64_MAX);
		} else {
			uint32_t offset = pick_offset(&in);

			/* Small values are what most registers want. */
			bench_write(s.b, offset,
				    (uint32_t)fuzz_number(&in, what & 1	  ? 1
							       : what & 2 ? 2
									  : 4));
		}
	}
	check(&s);
	honest_job(&s);
	bench_free(s.b);
	return 0;
}
