// SPDX-License-Identifier: MIT
/*
 * The Mandelbrot set: adjacent threads leave their loop at different times.
 *
 * z becomes z * z + c, up to LIMIT times, while |z| <= 2; a texel shows how often. The GPU and the
 * CPU use the same operations in the same order, one fused multiply-add among them, so that the
 * numbers are equal although the problem is chaotic.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define WIDTH	384u		/* multiples of a group */
#define HEIGHT	256u
#define TILE_X	16u		/* threads of a group, as in mandelbrot.s */
#define TILE_Y	4u
#define LIMIT	256u

DEMO_SHADER(mandelbrot);

static const float left = -2.1f, top = -1.2f, step = 2.4f / 256.0f;

static uint32_t iterations(uint32_t column, uint32_t row)
{
	float cx = fmaf((float)column, step, left), cy = fmaf((float)row, step, top);
	float x = 0.0f, y = 0.0f, xx, yy, xy;
	uint32_t n;

	for (n = 0; n < LIMIT; n++) {
		xx = x * x;
		yy = y * y;
		if (!(xx + yy <= 4.0f))
			break;
		xy = x * y;
		x = (xx - yy) + cx;
		y = fmaf(xy, 2.0f, cy);
	}
	return n;
}

/* A color for a number of iterations; the set itself is black. */
static uint32_t color(uint32_t n)
{
	uint32_t r = n * 9 & 0xff, g = n * 5 & 0xff, b = 255 - (n * 3 & 0xff);

	return 0xff000000 | (n == LIMIT ? 0 : r | g << 8 | b << 16);
}

static int show(struct demo *demo, const uint32_t *counts)
{
	struct picture picture = { WIDTH, HEIGHT, 4, WIDTH * 4, malloc(WIDTH * HEIGHT * 4) };
	uint32_t i, texel;
	int ret;

	if (!picture.texels)
		return demo_fail(demo, "out of memory");
	for (i = 0; i < WIDTH * HEIGHT; i++) {
		texel = color(counts[i]);
		memcpy(picture.texels + (size_t)i * 4, &texel, 4);
	}
	ret = demo_write_picture(demo, &picture);
	picture_free(&picture);
	return ret;
}

static int run(struct demo *demo)
{
	struct tsr_dispatch_info d = { .groups = { WIDTH / TILE_X, HEIGHT / TILE_Y } };
	struct tsr_storage storage;
	struct tsr_alloc counts;
	uint32_t push[6] = { LIMIT, WIDTH * 4 }, *want, i;
	int ret;

	if (DEMO_PROGRAM(demo, mandelbrot, &d.shader) ||
	    demo_buffer(demo, WIDTH * HEIGHT * 4, &counts) || demo_begin(demo))
		return -1;
	memcpy(&push[2], &step, 4);
	memcpy(&push[4], &left, 4);
	memcpy(&push[5], &top, 4);
	storage = demo_storage(&counts, TSR_SHADER_WRITE, 8);
	d.push = push;
	d.push_words = 6;
	d.storage = &storage;
	d.storage_count = 1;
	tsr_cmd_dispatch(demo->stream, &d, sizeof(d));
	want = malloc(WIDTH * HEIGHT * 4);
	if (!want)
		return demo_fail(demo, "out of memory");
	for (i = 0; i < WIDTH * HEIGHT; i++)
		want[i] = iterations(i % WIDTH, i / WIDTH);
	ret = demo_run(demo);
	if (!ret)
		ret = demo_compare(demo, "texel", counts.cpu, want, WIDTH * HEIGHT);
	free(want);
	return ret ? ret : show(demo, counts.cpu);
}

const struct demo_kind demo_mandelbrot = {
	"mandelbrot", "a picture of the Mandelbrot set, with divergent loops", false, true, run,
};
