/* SPDX-License-Identifier: MIT */
/*
 * The shortest way through the whole device: a copy in a stream, a fence, an interrupt; with and
 * without threads.
 */
#include "ktap.h"
#include "stage.h"

static void run(unsigned int threads)
{
	struct tsr_config config = { .threads = threads };
	struct stage_stream stream;
	struct bench_queue q;
	struct stage s;
	uint64_t p[8];

	stage_init(&s, &config);
	stage_queue(&s, &q, 3, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	for (unsigned int i = 0; i < 0x4000; i++)
		s.data[i] = i * 7;
	stream = stage_stream(&s, 0);
	stage_add(&stream, p, pk_copy(p, STAGE_DATA + 0x4001, STAGE_DATA, 0x3fff));
	stage_call(&q, &stream);
	bench_fence(&q, STAGE_DATA + 0x9000, 0x123456789, TSR_EVENT_ALL_DONE, true);
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	ktap_eq(stage_load(&s, 0x9000), 0x123456789);
	ktap_mem_eq(s.data + 0x4001, s.data, 0x3fff);
	ktap_eq(s.b->interrupts[TSR_IRQ_CLASS_JOB], 1);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_STATUS(TSR_IRQ_CLASS_JOB)), 1 << 3);
	ktap_eq(bench_queue_reg(&q, TSR_QUEUE_RPTR__OFFSET), 48);
	ktap_eq(bench_queue_reg64(&q, TSR_QUEUE_CALLS__OFFSET), 1);
	ktap_eq(bench_fault(&q), TSR_FAULT_NONE);
	stage_free(&s);
}

static void no_threads(void)
{
	run(0);
}

static void two_threads(void)
{
	run(2);
}

int main(void)
{
	ktap_start();
	ktap_run("[CP1] [CP2] [CP6] a copy and a fence without threads", no_threads);
	ktap_run("[CP1] [CP2] [CP6] a copy and a fence with two workers", two_threads);
	return ktap_finish();
}
