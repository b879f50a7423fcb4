// SPDX-License-Identifier: MIT
/*
 * A 5 x 5 convolution of a picture: unsharp masking, twice the picture minus a binomial blur of it.
 *
 * The 25 weights are a uniform buffer. Each channel is a chain of 25 fused multiply-adds from 0.5,
 * in the order of the weights, clamped to 0 and 255 and cut to an integer; so the CPU, doing the
 * same with fmaf(), gets the same bits. The input is framed by two texels of its border, so that
 * no thread has to look where it is.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define FRAME	2
#define TILE_X	16		/* threads of a group, as in convolve.s */
#define TILE_Y	4

DEMO_SHADER(convolve);

static void make_weights(float weights[25])
{
	static const int binomial[5] = { 1, 4, 6, 4, 1 };
	int i;

	for (i = 0; i < 25; i++)
		weights[i] = (i == 12 ? 2.0f : 0.0f) -
			     (float)(binomial[i / 5] * binomial[i % 5]) / 256.0f;
}

/* The picture with its frame, @pitch words a row, @rows rows in all. */
static void frame_picture(const struct picture *picture, uint32_t *to, uint32_t pitch,
			  uint32_t rows)
{
	uint32_t x, y, from_x, from_y;

	for (y = 0; y < rows; y++) {
		from_y = y < FRAME ? 0 : y - FRAME;
		from_y = from_y < picture->height ? from_y : picture->height - 1;
		for (x = 0; x < pitch; x++) {
			from_x = x < FRAME ? 0 : x - FRAME;
			from_x = from_x < picture->width ? from_x : picture->width - 1;
			memcpy(&to[(size_t)y * pitch + x],
			       picture->texels + from_y * picture->pitch + (size_t)from_x * 4, 4);
		}
	}
}

/* One texel of the result, from the framed input at the same place. */
static uint32_t convolved(const uint32_t *from, uint32_t pitch, const float weights[25])
{
	uint32_t texel, result = from[FRAME * (size_t)pitch + FRAME] & 0xff000000;
	int channel, i;
	float sum;

	for (channel = 0; channel < 3; channel++) {
		sum = 0.5f;
		for (i = 0; i < 25; i++) {
			texel = from[(size_t)(i / 5) * pitch + i % 5];
			sum = fmaf((float)(texel >> 8 * channel & 0xff), weights[i], sum);
		}
		sum = sum > 0.0f ? sum : 0.0f;
		sum = sum < 255.0f ? sum : 255.0f;
		result |= (uint32_t)sum << 8 * channel;
	}
	return result;
}

static int check(struct demo *demo, const struct picture *picture, const uint32_t *framed,
		 uint32_t pitch, const uint32_t *got, uint32_t got_pitch, const float *weights)
{
	uint32_t x, y, want;

	for (y = 0; y < picture->height; y++) {
		for (x = 0; x < picture->width; x++) {
			want = convolved(framed + (size_t)y * pitch + x, pitch, weights);
			if (got[(size_t)y * got_pitch + x] != want)
				return demo_fail(demo, "not bit-equal: texel (%u, %u) is 0x%08x, "
						 "the CPU has 0x%08x", x, y,
						 got[(size_t)y * got_pitch + x], want);
			memcpy(picture->texels + y * picture->pitch + (size_t)x * 4, &want, 4);
		}
	}
	return 0;
}

static int process(struct demo *demo, struct picture *picture)
{
	uint32_t width = demo_up(picture->width, TILE_X), height = demo_up(picture->height, TILE_Y);
	uint32_t pitch = width + 2 * FRAME, rows = height + 2 * FRAME;
	struct tsr_alloc framed, result, weights;
	struct tsr_storage storage[2];
	struct tsr_uniform uniform;
	struct tsr_dispatch_info d = { .groups = { width / TILE_X, height / TILE_Y },
				       .storage = storage, .storage_count = 2,
				       .uniforms = &uniform, .uniform_count = 1 };
	uint32_t push[2] = { pitch * 4, width * 4 };

	if (DEMO_PROGRAM(demo, convolve, &d.shader) ||
	    demo_buffer(demo, (uint64_t)pitch * rows * 4, &framed) ||
	    demo_buffer(demo, (uint64_t)width * height * 4, &result) ||
	    demo_buffer(demo, 112, &weights))
		return -1;
	frame_picture(picture, framed.cpu, pitch, rows);
	make_weights(weights.cpu);
	storage[0] = demo_storage(&framed, TSR_SHADER_READ, 4);
	storage[1] = demo_storage(&result, TSR_SHADER_WRITE, 8);
	uniform = (struct tsr_uniform){ weights.va, 112 };
	d.push = push;
	d.push_words = 2;
	if (demo_begin(demo))
		return -1;
	tsr_cmd_dispatch(demo->stream, &d, sizeof(d));
	if (demo_run(demo) ||
	    check(demo, picture, framed.cpu, pitch, result.cpu, width, weights.cpu))
		return -1;
	return demo_write_picture(demo, picture);
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

const struct demo_kind demo_convolve = {
	"convolve", "a 5 x 5 convolution that sharpens a picture", true, true, run,
};
