/* SPDX-License-Identifier: MIT */
/*
 * The device without its debug unit: this program has the model's files but those of devtools/,
 * and bench.c compiled for that (meson.build). That it links shows that nothing needs them; that
 * work runs, faults, is reset and saved shows that no hook is called where there is none. The
 * registers of what is left out read as if their features were off, whatever the host asks for.
 */
#include <stdlib.h>

#include "ktap.h"
#include "stage.h"

static struct stage s;
static struct bench_queue q;

static void begin(unsigned int threads)
{
	const struct tsr_config config = {
		.threads = threads, .check = true, .inject_window = true, .heads = 1,
	};

	stage_init(&s, &config);
	stage_queue(&s, &q, 3, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
}

/* A copy, a fence with its interrupt. */
static void work(uint64_t value)
{
	struct stage_stream stream = stage_stream(&s, 0);
	uint64_t p[8];

	memset(s.data + 0x4000, 0, 0x4000);
	for (unsigned int i = 0; i < 0x3000; i++)
		s.data[i] = i * 7;
	stage_add(&stream, p, pk_copy(p, STAGE_DATA + 0x4001, STAGE_DATA, 0x2fff));
	stage_call(&q, &stream);
	bench_fence(&q, STAGE_DATA + 0x9000, value, TSR_EVENT_ALL_DONE, true);
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	ktap_eq(stage_load(&s, 0x9000), value);
	ktap_mem_eq(s.data + 0x4001, s.data, 0x2fff);
}

/* Nothing answers in the @size bytes of registers at @base, whatever is written there. */
static void dead(uint32_t base, uint32_t size)
{
	for (uint32_t at = base; at < base + size; at += 4)
		bench_write(s.b, at, 'a');
	bench_write(s.b, base, 0);
	for (uint32_t at = base; at < base + size; at += 4)
		ktap_eq(bench_read(s.b, at), 0);
}

static void registers(void)
{
	uint64_t features;

	begin(0);
	features = bench_read64(s.b, TSR_REG_GPU_FEATURES);
	ktap_ok(!(features & (TSR_FEATURE_DEBUG | TSR_FEATURE_CHECK)));
	ktap_ok(features & TSR_FEATURE_DISPLAY);
	dead(TSR_INJECT__OFFSET, TSR_INJECT_FIRED__OFFSET + 4 * TSR_INJECT_FIRED__COUNT);
	dead(TSR_CAPTURE__OFFSET, TSR_CAPTURE_STATUS__OFFSET + 4);
	dead(TSR_CHECK__OFFSET, TSR_CHECK_COUNT__OFFSET + 4 * TSR_CHECK_COUNT__COUNT);
	work(1);
	stage_free(&s);
}

static void jobs(unsigned int threads)
{
	begin(threads);
	work(1);
	/* an invalidation, a doorbell that nobody hears */
	ktap_ok(bench_invalidate_all(&s.as[1]));
	bench_write(s.b, TSR_REG_DOORBELL_RING(9), 64);
	work(2);
	ktap_eq(s.b->interrupts[TSR_IRQ_CLASS_JOB], 1);
	bench_write64(s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_JOB), UINT64_MAX);
	work(3);
	ktap_eq(s.b->interrupts[TSR_IRQ_CLASS_JOB], 2);
	stage_free(&s);
}

static void no_threads(void)
{
	jobs(0);
}

static void two_threads(void)
{
	jobs(2);
}

/* A fault, RESET of the slot, by the register and of the function. */
static void ends(void)
{
	begin(0);
	work(1);
	bench_call(&q, 0x7f0000000000, 64);
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_FAULTED);
	ktap_eq(bench_fault(&q), TSR_FAULT_MMU_UNMAPPED);
	bench_control(&q, TSR_QUEUE_OP_RESET);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_DISABLED);
	bench_write(s.b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	ktap_eq(bench_read(s.b, TSR_REG_GPU_RESET_COUNT), 1);
	tsr_gpu_reset(s.b->gpu);
	ktap_eq(bench_read(s.b, TSR_REG_GPU_RESET_COUNT), 2);
	stage_free(&s);
}

static void snapshot(void)
{
	char err[128] = "";
	size_t size;
	void *saved;

	begin(0);
	work(1);
	tsr_gpu_pause(s.b->gpu);
	size = tsr_gpu_save(s.b->gpu, NULL, 0);
	saved = malloc(size);
	if (!saved)
		abort();
	ktap_eq(tsr_gpu_save(s.b->gpu, saved, size), size);
	ktap_ok(tsr_gpu_load(s.b->gpu, saved, size, err, sizeof(err)));
	tsr_gpu_resume(s.b->gpu);
	work(2);
	free(saved);
	stage_free(&s);
}

int main(void)
{
	ktap_start();
	ktap_run("registers of what is left out read 0", registers);
	ktap_run("jobs without threads", no_threads);
	ktap_run("jobs with two workers", two_threads);
	ktap_run("faults and resets", ends);
	ktap_run("a snapshot", snapshot);
	return ktap_finish();
}
