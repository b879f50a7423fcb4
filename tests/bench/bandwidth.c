// SPDX-License-Identifier: MIT
/*
 * How fast the copy engine moves bytes, from where a program in the guest stands: whole jobs of 16
 * MiB, submit and wait included, beside memcpy() of the same bytes by the guest's CPU (under TCG
 * that CPU is slow: the honest reference is host_memcpy of `make bench`'s first part).
 */
#include "gt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

#define SRC_VA	0x40000000ULL
#define DST_VA	0x80000000ULL
#define BYTES	(16ULL << 20)

static struct gt_ctx c;
static struct gt_bo src, dst;

static void run_or_die(const struct gt_cs *cs)
{
	int ret = gt_run(&c, cs);

	if (ret)
		gt_die("a copy fails: %s", strerror(-ret));
}

static void linear(void *arg, unsigned int count)
{
	(void)arg;
	while (count--) {
		struct gt_cs cs = gt_stream(&c, 4);

		GT_EMIT(&cs, copy_linear, .src = SRC_VA, .dst = DST_VA, .size = BYTES);
		run_or_die(&cs);
	}
}

/* A 2048 x 2048 surface of 4-byte texels, tiled on the way (*arg: 1) or back (2). */
static void surface(void *arg, unsigned int count)
{
	unsigned int way = *(unsigned int *)arg;

	while (count--) {
		struct gt_cs cs = gt_stream(&c, 6);

		GT_EMIT(&cs, copy_rect, .src_layout = way == 2, .dst_layout = way == 1, .texel = 4,
			.src = SRC_VA, .dst = DST_VA,
			.src_pitch = way == 2 ? 2048 / 16 * 1024 : 8192,
			.dst_pitch = way == 1 ? 2048 / 16 * 1024 : 8192, .width = 2048,
			.height = 2048);
		run_or_die(&cs);
	}
}

static void fill(void *arg, unsigned int count)
{
	(void)arg;
	while (count--) {
		struct gt_cs cs = gt_stream(&c, 5);

		GT_EMIT(&cs, fill_linear, .texel = 4, .dst = DST_VA, .size = BYTES,
			.pattern_lo = 0x12345678);
		run_or_die(&cs);
	}
}

static void cpu_memcpy(void *arg, unsigned int count)
{
	(void)arg;
	while (count--)
		memcpy(dst.map, src.map, BYTES);
}

static double rate(const char *name, void (*fn)(void *, unsigned int), void *arg)
{
	double gbs = BYTES / figure_median(fn, arg, 4);

	figure_print(name, gbs, "GB/s");
	return gbs;
}

int main(void)
{
	unsigned int tile = 1, detile = 2;
	double cpu, gpu;

	c = gt_ctx();
	src = gt_bo(c.fd, BYTES, DRM_TESSERA_BO_CACHED);
	dst = gt_bo(c.fd, BYTES, DRM_TESSERA_BO_CACHED);
	gt_bo_bind(&src, c.vm, SRC_VA, GT_RW);
	gt_bo_bind(&dst, c.vm, DST_VA, GT_RW);
	memset(src.map, 0x5a, BYTES);
	cpu = rate("guest_memcpy", cpu_memcpy, NULL);
	gpu = rate("guest_copy_linear", linear, NULL);
	rate("guest_copy_tile", surface, &tile);
	rate("guest_copy_detile", surface, &detile);
	rate("guest_fill", fill, NULL);
	figure_print("guest_copy_linear_to_guest_memcpy", gpu / cpu, "ratio");
	gt_bo_free(&src);
	gt_bo_free(&dst);
	gt_ctx_free(&c);
	return 0;
}
