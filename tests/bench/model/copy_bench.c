/* SPDX-License-Identifier: MIT */
/*
 * How fast the COPY engine runs: bytes written by each kind of command, as a ratio to memcpy()
 * (fills: memset()) of the same bytes between the same buffers in the same run. Memory is flat and
 * translated page by page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define PAGE 4096u
#define RUNS 15

static uint8_t *memory;
static uint64_t memory_size;

enum tsr_step __wrap_tsr_mem_map(struct tsr_mem *mem, uint64_t va, uint64_t len,
				 unsigned int access, struct tsr_span *span);
__attribute__((noinline)) enum tsr_step __wrap_tsr_mem_map(struct tsr_mem *mem, uint64_t va,
							   uint64_t len, unsigned int access,
							   struct tsr_span *span)
{
	uint64_t page = PAGE - va % PAGE;

	(void)access;
	(void)mem;
	if (va >= memory_size)
		abort();
	span->ptr = memory + va;
	span->len = len < page ? len : page;
	return TSR_STEP_DONE;
}

enum tsr_step __wrap_tsr_mem_bad_packet(struct tsr_mem *mem, uint64_t pc, unsigned int qword,
					uint8_t code);
enum tsr_step __wrap_tsr_mem_bad_packet(struct tsr_mem *mem, uint64_t pc, unsigned int qword,
					uint8_t code)
{
	(void)mem, (void)pc;
	fprintf(stderr, "bad packet: qword %u code %u\n", qword, code);
	abort();
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run(const uint64_t *cmd)
{
	struct tsr_engine_state state = { { 0 } };
	struct tsr_step_cost cost;
	struct tsr_mem mem = { 0 };

	while (tsr_copy_step(&mem, 0, cmd, &state, &cost) == TSR_STEP_MORE)
		;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *t)
{
	qsort(t, RUNS, sizeof(*t), compare);
	return t[RUNS / 2];
}

static void measure(const char *name, const uint64_t *cmd, uint64_t bytes, uint64_t src,
		    uint64_t dst)
{
	double engine[RUNS], host[RUNS], t;
	unsigned int i, repeat = (unsigned int)(64e6 / (double)bytes) + 1, j;

	for (i = 0; i < RUNS; i++) {
		t = now();
		for (j = 0; j < repeat; j++)
			run(cmd);
		engine[i] = now() - t;
		t = now();
		for (j = 0; j < repeat; j++) {
			if (src == dst)
				memset(memory + dst, 0x5a, bytes);
			else
				memcpy(memory + dst, memory + src, bytes);
		}
		host[i] = now() - t;
	}
	printf("%s_%lluK_gbs %.2f GB/s\n", name, (unsigned long long)bytes / 1024,
	       (double)bytes * repeat / median(engine) / 1e9);
	printf("%s_%lluK_ratio %.2f memcpy\n", name, (unsigned long long)bytes / 1024,
	       median(host) / median(engine));
}

static void rect(const char *name, unsigned int texel, unsigned int side, unsigned int src_tiled,
		 unsigned int dst_tiled, unsigned int off, bool flip_x)
{
	struct tsr_copy_rect r = {
		.src_layout = src_tiled,
		.dst_layout = dst_tiled,
		.texel = texel,
		.width = side,
		.height = side,
		.flip_x = flip_x,
		.src_x = off,
		.dst_y = off,
	};
	uint32_t pitch = (side + 31) / 16 * 16 * texel;
	uint64_t cmd[8];

	r.src = 0;
	r.dst = memory_size / 2;
	r.src_pitch = src_tiled ? pitch * 16 : pitch;
	r.dst_pitch = dst_tiled ? pitch * 16 : pitch;
	tsr_pack_copy_rect(cmd, &r);
	measure(name, cmd, (uint64_t)side * side * texel, r.src, r.dst);
}

static void linear(uint64_t size)
{
	struct tsr_copy_linear l = { .src = 0, .dst = memory_size / 2, .size = size };
	struct tsr_fill_linear f = {
		.texel = 4, .dst = memory_size / 2, .size = size, .pattern_lo = 0x5a5a5a5a
	};
	uint64_t cmd[8];

	tsr_pack_copy_linear(cmd, &l);
	measure("linear", cmd, size, l.src, l.dst);
	tsr_pack_fill_linear(cmd, &f);
	measure("fill_uniform", cmd, size, f.dst, f.dst);
	f.pattern_lo = 0x12345678;
	tsr_pack_fill_linear(cmd, &f);
	measure("fill_4", cmd, size, f.dst, f.dst);
	f.texel = 12;
	f.size = size / 12 * 12;
	tsr_pack_fill_linear(cmd, &f);
	measure("fill_12", cmd, f.size, f.dst, f.dst);
}

int main(void)
{
	static const unsigned int sizes[] = { 1, 2, 3, 4, 8, 12, 16 };
	unsigned int i;
	char name[64];

	memory_size = 128u << 20;
	memory = aligned_alloc(PAGE, memory_size);
	if (!memory)
		return 1;
	memset(memory, 1, memory_size);
	linear(64 << 10);
	linear(4 << 20);
	linear(48 << 20);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned int s = sizes[i];

		snprintf(name, sizeof(name), "rect_%u", s);
		rect(name, s, 1024, 0, 0, 0, false);
		snprintf(name, sizeof(name), "tile_%u", s);
		rect(name, s, 1024, 0, 1, 0, false);
		snprintf(name, sizeof(name), "detile_%u", s);
		rect(name, s, 1024, 1, 0, 0, false);
	}
	rect("narrow_rect_4", 4, 16, 0, 0, 0, false);
	rect("flip_4", 4, 1024, 0, 0, 0, true);
	rect("tile_flip_4", 4, 1024, 0, 1, 0, true);
	rect("tile_to_tile_4", 4, 1024, 1, 1, 0, false);
	rect("tile_to_tile_off_4", 4, 1024, 1, 1, 3, false);
	rect("tile_off_4", 4, 1024, 0, 1, 3, false);
	rect("tile_big_4", 4, 3000, 0, 1, 0, false);
	rect("detile_big_4", 4, 3000, 1, 0, 0, false);
	free(memory);
	return 0;
}
