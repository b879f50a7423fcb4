// SPDX-License-Identifier: MIT
/*
 * The model in process, with no QEMU and no guest around it: what the copy engine and the command
 * processor can do at best on this machine, beside memcpy() of the same bytes in the same run.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "figures.h"

#define CMD_VA	0x10000ull
#define RING_VA	0x100000ull
#define SRC_VA	0x40000000ull
#define DST_VA	0x80000000ull
#define BYTES	(16ull << 20)

static struct bench *machine;
static struct bench_queue queue;
static uint64_t *words;		/* the stream's memory */
static void *src, *dst;

/* Run what stands in the stream's memory as one job, @qwords long. */
static void run_stream(unsigned int qwords)
{
	if (bench_room(&queue) < 64)
		bench_run(machine, 10);
	bench_call(&queue, CMD_VA, qwords * 8);
	bench_kick(&queue);
	if (!bench_run(machine, 60) || bench_state(&queue) == TSR_QUEUE_STATE_FAULTED)
		fprintf(stderr, "model: a job does not end well\n");
}

static void linear(void *arg, unsigned int count)
{
	(void)arg;
	tsr_pack_copy_linear(words, &(struct tsr_copy_linear){
		.src = SRC_VA, .dst = DST_VA, .size = BYTES });
	while (count--)
		run_stream(TSR_COPY_LINEAR_QWORDS);
}

/* A 2048 x 2048 surface of 4-byte texels, tiled on the way (*arg: 1) or back (2). */
static void surface(void *arg, unsigned int count)
{
	unsigned int way = *(unsigned int *)arg;

	tsr_pack_copy_rect(words, &(struct tsr_copy_rect){
		.src_layout = way == 2, .dst_layout = way == 1, .texel = 4,
		.src = SRC_VA, .dst = DST_VA, .src_pitch = way == 2 ? 2048 / 16 * 1024 : 8192,
		.dst_pitch = way == 1 ? 2048 / 16 * 1024 : 8192, .width = 2048, .height = 2048 });
	while (count--)
		run_stream(TSR_COPY_RECT_QWORDS);
}

static void fill(void *arg, unsigned int count)
{
	(void)arg;
	tsr_pack_fill_linear(words, &(struct tsr_fill_linear){
		.texel = 4, .dst = DST_VA, .size = BYTES, .pattern_lo = 0x12345678 });
	while (count--)
		run_stream(TSR_FILL_LINEAR_QWORDS);
}

static void cpu_memcpy(void *arg, unsigned int count)
{
	(void)arg;
	while (count--) {
		memcpy(dst, src, BYTES);
		__asm__ volatile("" ::: "memory");
	}
}

/* Jobs of one NOP, one doorbell each. */
static void empty_jobs(void *arg, unsigned int count)
{
	(void)arg;
	tsr_pack_nop(words, &(struct tsr_nop){ .qwords = 1 });
	while (count--)
		run_stream(1);
}

static double rate(const char *name, void (*fn)(void *, unsigned int), void *arg)
{
	double gbs = BYTES / figure_median(fn, arg, 8);

	figure_print(name, gbs, "GB/s");
	return gbs;
}

int main(void)
{
	static const struct tsr_config config = { .queues = 1 };
	static struct bench_as kernel, user;
	unsigned int tile = 1, detile = 2;
	double cpu;

	machine = bench_new(&config);
	bench_as_init(machine, &kernel, 0);
	bench_as_init(machine, &user, 1);
	bench_queue_init(&queue, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL, &kernel, RING_VA,
			 TSR_RING_LOG2_MIN, &user);
	words = bench_buffer(&user, CMD_VA, BENCH_PAGE, BENCH_RX);
	src = bench_buffer(&user, SRC_VA, BYTES, BENCH_RW);
	dst = bench_buffer(&user, DST_VA, BYTES, BENCH_RW);
	memset(src, 0x5a, BYTES);
	cpu = rate("host_memcpy", cpu_memcpy, NULL);
	figure_print("model_copy_linear_to_host_memcpy",
		     rate("model_copy_linear", linear, NULL) / cpu, "ratio");
	figure_print("model_copy_tile_to_host_memcpy",
		     rate("model_copy_tile", surface, &tile) / cpu, "ratio");
	figure_print("model_copy_detile_to_host_memcpy",
		     rate("model_copy_detile", surface, &detile) / cpu, "ratio");
	rate("model_fill", fill, NULL);
	figure_print("model_empty_job", figure_median(empty_jobs, NULL, 2000) / 1e3, "us");
	bench_free(machine);
	return 0;
}
