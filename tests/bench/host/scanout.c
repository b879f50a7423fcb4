/* SPDX-License-Identifier: MIT */
/*
 * The cost of a screen: frames of 1920 by 1080 composed in process, in processor time, as a share
 * of one core at 60 frames a second. The host's own part, which copies the changes to the window,
 * is not counted.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

#define WIDTH	 1920u
#define HEIGHT	 1080u
#define ROWS	 1088u			/* of whole tiles */
#define PICTURE	 0x40000000ull
#define CURSOR	 0x50000000ull
#define TAGS	 0x60000000ull
#define FRAMES_S 60
#define RUNS	 9
#define BATCH	 6

static struct bench *b;

static void frames(void *arg, unsigned int count)
{
	struct tsr_display_frame frame;

	(void)arg;
	while (count--) {
		tsr_gpu_display_update(b->gpu, 0);
		bench_run(b, 10);
		if (!tsr_gpu_display_frame(b->gpu, 0, &frame) || frame.width != WIDTH)
			fprintf(stderr, "scanout: there is no frame\n");
		tsr_gpu_display_done(b->gpu, 0);
	}
}

static int ascending(const void *x, const void *y)
{
	const double a = *(const double *)x, c = *(const double *)y;

	return a < c ? -1 : a > c;
}

static void measure(const char *name)
{
	double time[RUNS];
	char text[80];

	frames(NULL, 2);
	for (unsigned int i = 0; i < RUNS; i++)
		time[i] = figure_cpu_once(frames, NULL, BATCH);
	qsort(time, RUNS, sizeof(time[0]), ascending);
	snprintf(text, sizeof(text), "scanout_1080p_%s", name);
	figure_print(text, time[RUNS / 2] / 1e6, "ms");
	snprintf(text, sizeof(text), "scanout_1080p_%s_60hz", name);
	figure_print(text, time[RUNS / 2] * FRAMES_S / 1e7, "% of a core");
}

static void plane(unsigned int n, uint64_t addr, uint32_t layout, uint32_t blend, uint32_t width,
		  uint32_t height, uint32_t pitch)
{
	const uint32_t order = blend ? TSR_COMPONENT_ORDER_BGRA : TSR_COMPONENT_ORDER_BGR1;

	bench_write64(b, TSR_REG_DISPLAY_PLANE_ADDR(0, n), addr);
	bench_write(b, TSR_REG_DISPLAY_PLANE_FORMAT(0, n),
		    order | TSR_PIXEL_FORMAT_RGBA8_UNORM << TSR_CONVERSION_FORMAT__SHIFT);
	bench_write(b, TSR_REG_DISPLAY_PLANE_PITCH(0, n), pitch);
	bench_write(b, TSR_REG_DISPLAY_PLANE_CONFIG(0, n),
		    layout << TSR_DISPLAY_PLANE_CONFIG_LAYOUT__SHIFT |
		    blend << TSR_DISPLAY_PLANE_CONFIG_BLEND__SHIFT |
		    n << TSR_DISPLAY_PLANE_CONFIG_ZPOS__SHIFT |
		    TSR_DISPLAY_PLANE_CONFIG_ALPHA__MASK);
	bench_write(b, TSR_REG_DISPLAY_PLANE_SIZE(0, n), width | height << 16);
	bench_write64(b, TSR_REG_DISPLAY_PLANE_TAGS(0, n), TAGS);
	bench_write64(b, TSR_REG_DISPLAY_PLANE_CLEAR(0, n), TAGS + 0x10000);
	bench_write(b, TSR_REG_DISPLAY_PLANE_TAG_PITCH(0, n), WIDTH / 8);
}

static void show(uint32_t how)
{
	bench_write(b, TSR_REG_DISPLAY_COMMIT(0), how);
	if (bench_read(b, TSR_REG_DISPLAY_STATUS(0)) & TSR_DISPLAY_STATUS_BAD__MASK)
		fprintf(stderr, "scanout: a picture is refused\n");
}

static void picture(uint32_t layout, uint32_t how)
{
	const uint32_t rows = layout == TSR_SCANOUT_LAYOUT_LINEAR ? 1 : 16;

	plane(0, PICTURE, layout, TSR_PLANE_BLEND_NONE, WIDTH, HEIGHT, 4 * WIDTH * rows);
	show(how);
}

int main(void)
{
	static struct bench_as as;
	uint32_t *texels;
	uint8_t *tags;

	b = bench_new(&(struct tsr_config){ .heads = 1 });
	bench_as_init(b, &as, 0);
	texels = bench_buffer(&as, PICTURE, 4 * WIDTH * ROWS, BENCH_RW);
	memset(bench_buffer(&as, CURSOR, 4 * 64 * 64, BENCH_RW), 0x80, 4 * 64 * 64);
	tags = bench_buffer(&as, TAGS, 0x20000, BENCH_RW);
	for (uint32_t i = 0; i < WIDTH * ROWS; i++)
		texels[i] = i * 2654435761u;
	for (uint32_t i = 0; i < 0x10000; i++)
		tags[i] = i % 3 == 0;
	bench_write(b, TSR_REG_DISPLAY_MODE_H(0), WIDTH | 2200u << 16);
	bench_write(b, TSR_REG_DISPLAY_MODE_V(0), HEIGHT | 1125u << 16);
	bench_write(b, TSR_REG_DISPLAY_MODE_CLOCK(0), 148500);
	picture(TSR_SCANOUT_LAYOUT_LINEAR, TSR_DISPLAY_COMMIT_LATCH__MASK);
	measure("linear");
	picture(TSR_SCANOUT_LAYOUT_TILED, TSR_DISPLAY_COMMIT_ASYNC__MASK);
	measure("tiled");
	picture(TSR_SCANOUT_LAYOUT_TAGGED, TSR_DISPLAY_COMMIT_ASYNC__MASK);
	measure("tagged");
	plane(2, CURSOR, TSR_SCANOUT_LAYOUT_LINEAR, TSR_PLANE_BLEND_PREMULTIPLIED, 64, 64, 256);
	picture(TSR_SCANOUT_LAYOUT_LINEAR, TSR_DISPLAY_COMMIT_ASYNC__MASK);
	measure("cursor");
	/* a desktop where nothing moves */
	bench_write(b, TSR_REG_DISPLAY_DAMAGE_SIZE(0), 0);
	show(TSR_DISPLAY_COMMIT_DAMAGE__MASK);
	measure("still");
	bench_free(b);
	return 0;
}
