/* SPDX-License-Identifier: MIT */
/*
 * A head of the display controller and four buffers that its planes can show, for tests: registers
 * by name, the frame as it is now, and what it has to be by the specification, in doubles.
 */
#ifndef TSR_TEST_SCREEN_H
#define TSR_TEST_SCREEN_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "ktap.h"
#include "rnd.h"

#define BUFFER_VA	0x10000000ull
#define BUFFER_BYTES	(1u << 20)
#define WIDTH		160u
#define HEIGHT		100u
#define H_TOTAL		200u
#define V_TOTAL		125u
#define CLOCK_KHZ	1500u			/* 60 Hz */
#define PERIOD		16666666u		/* ns, rounded down */

static struct bench *b;
static struct bench_as as;
static uint8_t *buffer[4];

static inline uint64_t buffer_va(unsigned int n)
{
	return BUFFER_VA + (uint64_t)n * BUFFER_BYTES;
}

static inline void begin(const struct tsr_config *config)
{
	b = bench_new(config);
	bench_as_init(b, &as, 0);
	for (unsigned int n = 0; n < 4; n++)
		buffer[n] = bench_buffer(&as, buffer_va(n), BUFFER_BYTES, BENCH_RW);
	bench_write64(b, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_DISPLAY), UINT64_MAX);
}

static inline void begin_one_head(void)
{
	begin(&(struct tsr_config){ .heads = 1 });
}

/* Returns those of interrupts @bits of head 0 that are pending, and clears them. */
static inline uint64_t events(void)
{
	const uint64_t bits = bench_read64(b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_DISPLAY));

	bench_write64(b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_DISPLAY), bits);
	return bits;
}

static inline void set_mode(void)
{
	bench_write(b, TSR_REG_DISPLAY_MODE_H(0), WIDTH | H_TOTAL << 16);
	bench_write(b, TSR_REG_DISPLAY_MODE_V(0), HEIGHT | V_TOTAL << 16);
	bench_write(b, TSR_REG_DISPLAY_MODE_CLOCK(0), CLOCK_KHZ);
}

struct plane {
	uint64_t addr;
	uint32_t format, order, pitch, layout, blend, zpos, alpha;
	int x, y;
	uint32_t width, height, src_x, src_y;
	uint64_t tags, clear;
	uint32_t tag_pitch;
};

static inline struct plane plain(unsigned int n)
{
	return (struct plane){
		.addr = buffer_va(n), .format = TSR_PIXEL_FORMAT_RGBA8_UNORM,
		.order = TSR_COMPONENT_ORDER_BGR1, .pitch = 4 * WIDTH, .alpha = 0xffff,
		.width = WIDTH, .height = HEIGHT,
	};
}

static inline void set_plane(unsigned int n, struct plane p)
{
	bench_write64(b, TSR_REG_DISPLAY_PLANE_ADDR(0, n), p.addr);
	bench_write(b, TSR_REG_DISPLAY_PLANE_FORMAT(0, n), p.order | p.format << 12);
	bench_write(b, TSR_REG_DISPLAY_PLANE_PITCH(0, n), p.pitch);
	bench_write(b, TSR_REG_DISPLAY_PLANE_CONFIG(0, n),
		    p.layout | p.blend << 4 | p.zpos << 8 | p.alpha << 16);
	bench_write(b, TSR_REG_DISPLAY_PLANE_POS(0, n),
		    (uint16_t)p.x | (uint32_t)(uint16_t)p.y << 16);
	bench_write(b, TSR_REG_DISPLAY_PLANE_SIZE(0, n), p.width | p.height << 16);
	bench_write(b, TSR_REG_DISPLAY_PLANE_SRC(0, n), p.src_x | p.src_y << 16);
	bench_write64(b, TSR_REG_DISPLAY_PLANE_TAGS(0, n), p.tags);
	bench_write64(b, TSR_REG_DISPLAY_PLANE_CLEAR(0, n), p.clear);
	bench_write(b, TSR_REG_DISPLAY_PLANE_TAG_PITCH(0, n), p.tag_pitch);
}

static inline void commit(uint32_t how)
{
	bench_write(b, TSR_REG_DISPLAY_COMMIT(0), how);
}

static inline bool bad(void)
{
	return bench_read(b, TSR_REG_DISPLAY_STATUS(0)) & TSR_DISPLAY_STATUS_BAD__MASK;
}

static inline bool pending(void)
{
	return bench_read(b, TSR_REG_DISPLAY_STATUS(0)) & TSR_DISPLAY_STATUS_PENDING__MASK;
}

/* Compose what has begun, as far as the host lets it. */
static inline void compose_all(void)
{
	tsr_gpu_run(b->gpu, 1 << 24);
}

/* The picture as it is now. */
static inline const uint32_t *frame(void)
{
	static uint32_t copy[WIDTH * HEIGHT];
	struct tsr_display_frame f;

	tsr_gpu_display_update(b->gpu, 0);
	bench_run(b, 10);
	if (!tsr_gpu_display_frame(b->gpu, 0, &f) || f.width != WIDTH || f.height != HEIGHT) {
		ktap_ok(!"a frame of the mode's size");
		return copy;
	}
	memcpy(copy, f.pixels, sizeof(copy));
	tsr_gpu_display_done(b->gpu, 0);
	return copy;
}

/* The host's clock moves on, and nothing is answered. */
static inline void next_blank(void)
{
	b->clock += PERIOD + 1;
	tsr_gpu_timer(b->gpu);
}


struct texel {
	double c[4];			/* red, green, blue, alpha */
};

/* How formats stand in memory, written down apart from the device's tables. */
static inline struct texel decode(const uint8_t *p, uint32_t format)
{
	uint16_t half[4];
	uint32_t word;
	struct texel t;

	memcpy(&word, p, format == TSR_PIXEL_FORMAT_RGB565 ? 2 : 4);
	switch (format) {
	case TSR_PIXEL_FORMAT_RGB565:
		word &= 0xffff;
		return (struct texel){ { (word & 31) / 31., (word >> 5 & 63) / 63.,
					 (word >> 11) / 31., 1 } };
	case TSR_PIXEL_FORMAT_RGB10_A2_UNORM:
		return (struct texel){ { (word & 1023) / 1023., (word >> 10 & 1023) / 1023.,
					 (word >> 20 & 1023) / 1023., (word >> 30) / 3. } };
	case TSR_PIXEL_FORMAT_RGBA16F:
		memcpy(half, p, sizeof(half));
		for (int i = 0; i < 4; i++) {
			const int e = half[i] >> 10 & 31;
			double v = e ? ldexp(1024 + (half[i] & 1023), e - 25) :
				       ldexp(half[i] & 1023, -24);

			v = e == 31 && (half[i] & 1023) ? 0 : half[i] >> 15 ? 0 : v;
			t.c[i] = e == 31 && !(half[i] >> 15) && !(half[i] & 1023) ? 1 :
				 v > 1 ? 1 : v;
		}
		return t;
	default:
		return (struct texel){ { p[0] / 255., p[1] / 255., p[2] / 255., p[3] / 255. } };
	}
}

static inline struct texel ordered(struct texel t, uint32_t order)
{
	switch (order) {
	case TSR_COMPONENT_ORDER_BGRA:
		return (struct texel){ { t.c[2], t.c[1], t.c[0], t.c[3] } };
	case TSR_COMPONENT_ORDER_BGR1:
		return (struct texel){ { t.c[2], t.c[1], t.c[0], 1 } };
	case TSR_COMPONENT_ORDER_RGB1:
		return (struct texel){ { t.c[0], t.c[1], t.c[2], 1 } };
	default:
		return t;
	}
}

static inline unsigned int texel_bytes(uint32_t format)
{
	return format == TSR_PIXEL_FORMAT_RGB565 ? 2 : format == TSR_PIXEL_FORMAT_RGBA16F ? 8 : 4;
}

/* Where texel (x, y) stands, by the bits of the tiled layout's index one at a time. */
static inline size_t place(const struct plane *p, uint32_t x, uint32_t y)
{
	const unsigned int bytes = texel_bytes(p->format);
	unsigned int index = 0;

	if (!p->layout)
		return (size_t)y * p->pitch + x * bytes;
	for (unsigned int i = 0; i < 4; i++)
		index |= ((x ^ y) >> i & 1) << 2 * i | (y >> i & 1) << (2 * i + 1);
	return (size_t)(y / 16) * p->pitch + ((size_t)(x / 16) * 256 + index) * bytes;
}

static inline void expected(const struct plane *planes, const unsigned int *order, unsigned int x,
		     unsigned int y, uint32_t background, double *color)
{
	for (int c = 0; c < 3; c++)
		color[c] = (background >> (16 - 8 * c) & 0xff) / 255.;
	for (unsigned int i = 0; i < 3; i++) {
		const struct plane *p = &planes[order[i]];
		const double alpha = p->alpha / 65535.;
		double counts, hides;
		struct texel t;

		if (!p->addr || (int)x < p->x || (int)x >= p->x + (int)p->width ||
		    (int)y < p->y || (int)y >= p->y + (int)p->height)
			continue;
		t = ordered(decode(buffer[(p->addr - BUFFER_VA) / BUFFER_BYTES] +
				   place(p, x - p->x + p->src_x, y - p->y + p->src_y), p->format),
			    p->order);
		counts = p->blend == 2 ? t.c[3] * alpha : alpha;
		hides = p->blend ? t.c[3] * alpha : alpha;
		for (int c = 0; c < 3; c++)
			color[c] = t.c[c] * counts + color[c] * (1 - hides);
	}
}

static inline void compare(const struct plane *planes, const unsigned int *order,
			   uint32_t background)
{
	const uint32_t *got = frame();
	unsigned int wrong = 0;

	for (unsigned int y = 0; y < HEIGHT; y++)
		for (unsigned int x = 0; x < WIDTH; x++) {
			double want[3];

			expected(planes, order, x, y, background, want);
			for (int c = 0; c < 3; c++) {
				double v = want[c] > 1 ? 255 : want[c] * 255;
				int is = (int)(got[y * WIDTH + x] >> (16 - 8 * c) & 0xff);

				if (fabs(is - v) > 0.5001 && !wrong++)
					printf("# (%u, %u) component %d is %d, not %f\n", x, y, c,
					       is, v);
			}
		}
	ktap_eq(wrong, 0);
}

static inline void fill_buffers(void)
{
	for (unsigned int n = 0; n < 4; n++)
		for (unsigned int i = 0; i < BUFFER_BYTES; i++)
			buffer[n][i] = (uint8_t)rnd();
}

static const uint32_t formats[] = {
	TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_PIXEL_FORMAT_RGB565, TSR_PIXEL_FORMAT_RGB10_A2_UNORM,
	TSR_PIXEL_FORMAT_RGBA16F,
};
static const uint32_t orders[] = {
	TSR_COMPONENT_ORDER_RGBA, TSR_COMPONENT_ORDER_BGRA, TSR_COMPONENT_ORDER_RGB1,
	TSR_COMPONENT_ORDER_BGR1,
};

static inline uint32_t *pixel(unsigned int n, unsigned int x, unsigned int y)
{
	return (uint32_t *)(void *)(buffer[n] + 4 * (y * WIDTH + x));
}

static inline void set_writeback(uint64_t addr, uint32_t format, uint32_t order, uint32_t pitch)
{
	bench_write64(b, TSR_REG_DISPLAY_WRITEBACK_ADDR(0), addr);
	bench_write(b, TSR_REG_DISPLAY_WRITEBACK_FORMAT(0), order | format << 12);
	bench_write(b, TSR_REG_DISPLAY_WRITEBACK_PITCH(0), pitch);
}

static inline bool writing(void)
{
	return bench_read(b, TSR_REG_DISPLAY_STATUS(0)) &
	       TSR_DISPLAY_STATUS_WRITEBACK_PENDING__MASK;
}

static inline bool write_failed(void)
{
	return bench_read(b, TSR_REG_DISPLAY_STATUS(0)) &
	       TSR_DISPLAY_STATUS_WRITEBACK_FAILED__MASK;
}

#endif
