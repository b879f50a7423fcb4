// SPDX-License-Identifier: MIT
/*
 * Histogram equalization of a picture, in three dispatches of one stream:
 *
 *  1. histogram: each group counts the luminances of its texels in its own memory with atomics,
 *     then adds its counts to the picture's, which again are atomics;
 *  2. scan (the program of the prefix-sum demo): how many texels are at most that bright;
 *  3. `equalise`: each sample becomes 255 times the share of texels at most that bright, rounded.
 *
 * Each one reads what the one before has written; the barriers between them are the library's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define BINS	256
#define THREADS	256		/* of a group, in all three programs */

DEMO_SHADER(histogram);
DEMO_SHADER(scan);
DEMO_SHADER(equalise);

static uint32_t luminance(uint32_t texel)
{
	uint32_t r = texel & 0xff, g = texel >> 8 & 0xff, b = texel >> 16 & 0xff;

	return (77 * r + 150 * g + 29 * b + 128) >> 8;
}

static uint32_t equal(uint32_t below, float scale)
{
	return (uint32_t)fmaf((float)below, scale, 0.5f);
}

/* All on the CPU: counts, sums and the picture. */
static void reference(const uint32_t *texels, size_t count, float scale, uint32_t sums[BINS],
		      uint32_t *result)
{
	uint32_t bins[BINS] = { 0 }, table[BINS], sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		bins[luminance(texels[i])]++;
	for (i = 0; i < BINS; i++) {
		sum += bins[i];
		sums[i] = sum;
		table[i] = equal(sum, scale);
	}
	for (i = 0; i < count; i++)
		result[i] = table[texels[i] & 0xff] | table[texels[i] >> 8 & 0xff] << 8 |
			    table[texels[i] >> 16 & 0xff] << 16 | (texels[i] & 0xff000000);
}

static int record(struct demo *demo, uint32_t count, uint32_t pad, float scale,
		  struct tsr_alloc *texels, struct tsr_alloc *counts, struct tsr_alloc *sums,
		  struct tsr_alloc *totals, struct tsr_alloc *result)
{
	struct tsr_storage storage[3] = { demo_storage(texels, TSR_SHADER_READ, 4),
					  demo_storage(counts, TSR_SHADER_READ | TSR_SHADER_WRITE,
						       8) };
	struct tsr_dispatch_info d = { .groups = { (count + pad) / THREADS },
				       .storage = storage, .storage_count = 2 };
	uint32_t push[2] = { count };

	d.push = push;
	d.push_words = 2;
	if (DEMO_PROGRAM(demo, histogram, &d.shader) || demo_begin(demo))
		return -1;
	tsr_cmd_dispatch(demo->stream, &d, sizeof(d));

	storage[0] = demo_storage(counts, TSR_SHADER_READ, 4);
	storage[1] = demo_storage(sums, TSR_SHADER_WRITE, 8);
	storage[2] = demo_storage(totals, TSR_SHADER_WRITE, 12);
	d.groups[0] = 1;
	d.storage_count = 3;
	if (DEMO_PROGRAM(demo, scan, &d.shader))
		return -1;
	tsr_cmd_dispatch(demo->stream, &d, sizeof(d));

	storage[0] = demo_storage(texels, TSR_SHADER_READ, 4);
	storage[1] = demo_storage(sums, TSR_SHADER_READ, 8);
	storage[2] = demo_storage(result, TSR_SHADER_WRITE, 12);
	d.groups[0] = (count + pad) / THREADS;
	memcpy(&push[0], &scale, 4);
	if (DEMO_PROGRAM(demo, equalise, &d.shader))
		return -1;
	tsr_cmd_dispatch(demo->stream, &d, sizeof(d));
	return demo_run(demo);
}

static int process(struct demo *demo, struct picture *picture)
{
	uint32_t count = picture->width * picture->height, pad = demo_up(count, THREADS) - count;
	uint64_t bytes = ((uint64_t)count + pad) * 4;
	struct tsr_alloc texels, counts, sums, totals, result;
	float scale = 255.0f / (float)count;
	uint32_t want_sums[BINS], *want;
	int ret;

	if (count > 1 << 24)
		return demo_fail(demo, "%s: more than 16 million texels", demo->input);
	if (demo_buffer(demo, bytes, &texels) || demo_buffer(demo, BINS * 4, &counts) ||
	    demo_buffer(demo, BINS * 4, &sums) || demo_buffer(demo, 4, &totals) ||
	    demo_buffer(demo, bytes, &result))
		return -1;
	memcpy(texels.cpu, picture->texels, (size_t)count * 4);
	if (record(demo, count, pad, scale, &texels, &counts, &sums, &totals, &result))
		return -1;
	want = malloc((size_t)count * 4);
	if (!want)
		return demo_fail(demo, "out of memory");
	reference(texels.cpu, count, scale, want_sums, want);
	ret = demo_compare(demo, "sum", sums.cpu, want_sums, BINS);
	if (!ret)
		ret = demo_compare(demo, "texel", result.cpu, want, count);
	free(want);
	memcpy(picture->texels, result.cpu, (size_t)count * 4);
	return ret ? ret : demo_write_picture(demo, picture);
}

static int run(struct demo *demo)
{
	struct picture picture = { 0 };
	int ret = demo_read_picture(demo, &picture);

	if (!ret)
		ret = process(demo, &picture);
	picture_free(&picture);
	return ret;
}

const struct demo_kind demo_equalise = {
	"equalise", "histogram equalisation of a picture, with atomics", true, true, run,
};
