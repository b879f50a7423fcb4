/* SPDX-License-Identifier: MIT */
/*
 * The copy engine in process, command by command: bytes written, as a ratio to memcpy() (fills:
 * memset()) of as many bytes between the same buffers, measured in turn.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

#define CMD_VA		0x10000ull
#define RING_VA		0x100000ull
#define SRC_VA		0x40000000ull
#define DST_VA		0x80000000ull
#define BUFFER		(16ull << 20)
#define BATCH		(16u << 20)	/* bytes between two looks at the clock */
#define RUNS		21

/* The machine, and the command in its stream. */
struct machine {
	struct bench *bench;
	struct bench_queue queue;
	uint64_t *words;		/* the stream */
	uint8_t *src, *dst;		/* the buffers, as the CPU sees them */
	unsigned int qwords;		/* of the stream */
	uint64_t bytes;			/* that the command writes */
	bool fill;			/* a command that reads nothing */
};

static void device(void *arg, unsigned int count)
{
	struct machine *m = arg;

	while (count--) {
		if (bench_room(&m->queue) < 64)
			bench_run(m->bench, 10);
		bench_call(&m->queue, CMD_VA, m->qwords * 8);
		bench_kick(&m->queue);
		if (!bench_run(m->bench, 60) || bench_state(&m->queue) == TSR_QUEUE_STATE_FAULTED)
			fprintf(stderr, "copy: a command does not end well\n");
	}
}

static void processor(void *arg, unsigned int count)
{
	struct machine *m = arg;

	while (count--) {
		if (m->fill)
			memset(m->dst, 0x5a, m->bytes);
		else
			memcpy(m->dst, m->src, m->bytes);
		__asm__ volatile("" ::: "memory");
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* One after the other, many times: the median of the ratios hardly notices what else runs. */
static void measure(struct machine *m, const char *name)
{
	unsigned int count = (unsigned int)(BATCH / m->bytes) + 1;
	double time[RUNS], ratio[RUNS];
	char text[80];

	for (unsigned int i = 0; i < RUNS; i++) {
		time[i] = figure_once(device, m, count);
		ratio[i] = figure_once(processor, m, count) / time[i];
	}
	qsort(time, RUNS, sizeof(time[0]), ascending);
	qsort(ratio, RUNS, sizeof(ratio[0]), ascending);
	snprintf(text, sizeof(text), "copy_%s", name);
	figure_print(text, (double)m->bytes / time[RUNS / 2], "GB/s");
	snprintf(text, sizeof(text), "copy_%s_to_%s", name, m->fill ? "memset" : "memcpy");
	figure_print(text, ratio[RUNS / 2], "ratio");
}

static void linear(struct machine *m, const char *name, uint64_t size)
{
	tsr_pack_copy_linear(m->words, &(struct tsr_copy_linear){
		.src = SRC_VA, .dst = DST_VA, .size = size });
	m->qwords = TSR_COPY_LINEAR_QWORDS;
	m->bytes = size;
	m->fill = false;
	measure(m, name);
}

static void fill(struct machine *m, const char *name, unsigned int texel, uint64_t pattern)
{
	m->bytes = BUFFER / texel * texel;
	tsr_pack_fill_linear(m->words, &(struct tsr_fill_linear){
		.texel = texel, .dst = DST_VA, .size = m->bytes, .pattern_lo = pattern });
	m->qwords = TSR_FILL_LINEAR_QWORDS;
	m->fill = true;
	measure(m, name);
}

/* A square of @side texels; pitches, and positions if they are not given, are right for it. */
static void rect(struct machine *m, const char *name, unsigned int side, struct tsr_copy_rect r)
{
	uint32_t row = (side + r.src_x + r.dst_x + 15) / 16 * 16 * r.texel;

	r.src = SRC_VA;
	r.dst = DST_VA;
	r.src_pitch = r.src_layout ? row * 16 : row;
	r.dst_pitch = r.dst_layout ? row * 16 : row;
	r.width = side;
	r.height = side;
	tsr_pack_copy_rect(m->words, &r);
	m->qwords = TSR_COPY_RECT_QWORDS;
	m->bytes = (uint64_t)side * side * r.texel;
	m->fill = false;
	measure(m, name);
}

static void texel_sizes(struct machine *m)
{
	static const unsigned int sizes[] = { 1, 2, 3, 4, 8, 12, 16 };
	char name[40];

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned int texel = sizes[i];

		snprintf(name, sizeof(name), "rect_%u", texel);
		rect(m, name, 1000, (struct tsr_copy_rect){ .texel = texel });
		snprintf(name, sizeof(name), "tile_%u", texel);
		rect(m, name, 1000, (struct tsr_copy_rect){ .texel = texel, .dst_layout = 1 });
		snprintf(name, sizeof(name), "detile_%u", texel);
		rect(m, name, 1000, (struct tsr_copy_rect){ .texel = texel, .src_layout = 1 });
	}
}

static void odd_cases(struct machine *m)
{
	rect(m, "rect_rows_of_64", 16, (struct tsr_copy_rect){ .texel = 4 });
	rect(m, "mirror", 1000, (struct tsr_copy_rect){ .texel = 4, .flip_x = true });
	rect(m, "tile_mirror", 1000,
	     (struct tsr_copy_rect){ .texel = 4, .dst_layout = 1, .flip_x = true });
	rect(m, "tile_off", 1000,
	     (struct tsr_copy_rect){ .texel = 4, .dst_layout = 1, .dst_x = 3, .dst_y = 5 });
	rect(m, "tiled_to_tiled", 1000,
	     (struct tsr_copy_rect){ .texel = 4, .src_layout = 1, .dst_layout = 1 });
	rect(m, "tiled_to_tiled_off", 1000,
	     (struct tsr_copy_rect){ .texel = 4, .src_layout = 1, .dst_layout = 1, .src_x = 3 });
}

int main(void)
{
	static const struct tsr_config config = { .queues = 1 };
	static struct bench_as kernel, user;
	static struct machine m;

	m.bench = bench_new(&config);
	bench_as_init(m.bench, &kernel, 0);
	bench_as_init(m.bench, &user, 1);
	bench_queue_init(&m.queue, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL, &kernel, RING_VA,
			 TSR_RING_LOG2_MIN, &user);
	m.words = bench_buffer(&user, CMD_VA, BENCH_PAGE, BENCH_RX);
	m.src = bench_buffer(&user, SRC_VA, BUFFER + (2u << 20), BENCH_RW);
	m.dst = bench_buffer(&user, DST_VA, BUFFER + (2u << 20), BENCH_RW);
	memset(m.src, 0x5a, BUFFER);
	linear(&m, "linear_16K", 16 << 10);
	linear(&m, "linear_1M", 1 << 20);
	linear(&m, "linear_16M", BUFFER);
	fill(&m, "fill_zero", 4, 0);
	fill(&m, "fill_4", 4, 0x12345678);
	fill(&m, "fill_12", 12, 0x123456789abcdef0);
	texel_sizes(&m);
	odd_cases(&m);
	bench_free(m.bench);
	return 0;
}
