/* SPDX-License-Identifier: MIT */
/* The display controller: blocks with tags, damage, writeback. */
#include "screen.h"

/* ---- Tags ------------------------------------------------------------------------------------ */

#define TAG_PITCH 32u
#define TAGS_AT	  0x80000u		/* in the buffer, as the clear value */
#define CLEAR_AT  0xc0000u

static const float clear_value[4] = { 0.25f, 1.0f, 0.5f, 0.75f };

/* Blocks of 8 by 8 texels that are CLEAR have the clear value, all others what is in memory. */
static void tagged(uint32_t format, uint64_t texel)
{
	static const unsigned int order[3] = { 0, 1, 2 };
	struct plane planes[3] = { plain(0) }, *p = &planes[0];
	uint8_t *tags = buffer[0] + TAGS_AT;

	p->format = format;
	p->order = TSR_COMPONENT_ORDER_RGBA;
	p->layout = 2;
	p->pitch = 12 * 256 * texel_bytes(format);
	p->tags = p->addr + TAGS_AT;
	p->clear = p->addr + CLEAR_AT;
	p->tag_pitch = TAG_PITCH;
	p->width = WIDTH - 10;
	p->src_x = 7;
	p->src_y = 3;
	memcpy(buffer[0] + CLEAR_AT, clear_value, sizeof(clear_value));
	for (unsigned int i = 0; i < 14 * TAG_PITCH; i++)
		tags[i] = (uint8_t)rnd_below(5);
	set_plane(0, *p);
	commit(TSR_DISPLAY_COMMIT_ASYNC__MASK);
	ktap_ok(!bad());
	memcpy(buffer[1], frame(), 4 * WIDTH * HEIGHT);
	/* what is expected: the texels are written by hand */
	for (unsigned int y = 0; y < HEIGHT + 3; y++)
		for (unsigned int x = 0; x < WIDTH; x++)
			if (tags[y / 8 * TAG_PITCH + x / 8] == 1)
				memcpy(buffer[0] + place(p, x, y), &texel, texel_bytes(format));
	memset(tags, 0, 14 * TAG_PITCH);
	compare(planes, order, 0);
	ktap_mem_eq(buffer[1], frame(), 4 * WIDTH * HEIGHT);
}

static void tags(void)
{
	begin_one_head();
	fill_buffers();
	set_mode();
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	tagged(TSR_PIXEL_FORMAT_RGBA8_UNORM, 0xbf80ff40);
	tagged(TSR_PIXEL_FORMAT_RGB565, 8 | 63 << 5 | 16 << 11);
	tagged(TSR_PIXEL_FORMAT_RGB10_A2_UNORM, 256 | 1023 << 10 | 512 << 20 | 2u << 30);
	tagged(TSR_PIXEL_FORMAT_RGBA16F, 0x3a0038003c003400);
	/* tags that cannot be read are an underrun, as texels are */
	bench_unmap(&as, buffer_va(0) + TAGS_AT, 4096);
	bench_invalidate_all(&as);
	events();
	frame();
	ktap_eq(events(), TSR_DISPLAY_IRQ_UNDERRUN);
	ktap_eq(bench_read64(b, TSR_REG_DISPLAY_UNDERRUN_ADDR(0)), buffer_va(0) + TAGS_AT);
	bench_free(b);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static void damage(uint32_t x, uint32_t y, uint32_t width, uint32_t height, uint32_t how)
{
	bench_write(b, TSR_REG_DISPLAY_DAMAGE_POS(0), x | y << 16);
	bench_write(b, TSR_REG_DISPLAY_DAMAGE_SIZE(0), width | height << 16);
	commit(TSR_DISPLAY_COMMIT_DAMAGE__MASK | how);
}

static uint64_t serial(void)
{
	struct tsr_display_frame f;

	if (!ktap_ok(tsr_gpu_display_frame(b->gpu, 0, &f)))
		return 0;
	tsr_gpu_display_done(b->gpu, 0);
	return f.serial;
}

/* The next frame reads the rectangles in DAMAGE. Other parts may stay as they were. */
static void damages(void)
{
	uint64_t before;

	begin_one_head();
	set_mode();
	set_plane(0, plain(0));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	ktap_eq(frame()[0], 0);
	*pixel(0, 0, 0) = 1;
	ktap_eq(frame()[0], 1);		/* nothing is said: everything is read */
	damage(0, 10, 4, 2, 0);
	*pixel(0, 0, 0) = 2;
	ktap_eq(frame()[0], 2);		/* all of it once more */
	*pixel(0, 0, 0) = 3;
	*pixel(0, 0, 10) = 4;
	*pixel(0, 5, 11) = 5;
	*pixel(0, 0, 12) = 6;
	before = serial();
	ktap_eq(frame()[0], 2);
	ktap_eq(serial(), before);	/* nothing has changed: the frame is the old one */
	damage(0, 10, 4, 2, 0);
	ktap_eq(frame()[10 * WIDTH], 4);
	ktap_eq(frame()[11 * WIDTH + 5], 5);
	ktap_eq(frame()[12 * WIDTH], 0);
	ktap_ok(serial() > before);
	/* two of them are one, an empty one is none, one below the screen does no harm */
	damage(0, 12, 1, 1, 0);
	damage(0, 20, 0, 5, 0);
	damage(0, 65535, 1, 65535, 0);
	ktap_eq(frame()[12 * WIDTH], 6);
	ktap_eq(frame()[0], 2);
	/* in the end everything is seen */
	for (unsigned int i = 0; i < TSR_DAMAGE_FRAMES; i++)
		frame();
	ktap_eq(frame()[0], 3);
	/* frames with a CRC are whole */
	*pixel(0, 0, 0) = 7;
	bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(0), 1);
	bench_advance(b, PERIOD + 1);
	bench_run(b, 10);
	ktap_eq(frame()[0], 7);
	bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(0), 0);
	bench_free(b);
}

/* A flip says what of the picture is another. */
static void damaged_flips(void)
{
	begin_one_head();
	set_mode();
	set_plane(0, plain(0));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	*pixel(1, 0, 0) = *pixel(1, 0, 50) = 1;
	*pixel(2, 0, 0) = *pixel(2, 0, 50) = 2;
	frame();
	set_plane(0, plain(1));
	damage(0, 50, WIDTH, 1, TSR_DISPLAY_COMMIT_LATCH__MASK);
	bench_advance(b, PERIOD + 1);
	ktap_eq(frame()[0], 1);		/* the first one: all of it */
	set_plane(0, plain(2));
	damage(0, 50, WIDTH, 1, TSR_DISPLAY_COMMIT_LATCH__MASK);
	ktap_eq(frame()[50 * WIDTH], 1);
	bench_advance(b, PERIOD + 1);
	ktap_eq(frame()[50 * WIDTH], 2);
	ktap_eq(frame()[0], 1);
	/* one that says nothing ends it */
	set_plane(0, plain(2));
	commit(TSR_DISPLAY_COMMIT_ASYNC__MASK);
	ktap_eq(frame()[0], 2);
	*pixel(2, 0, 0) = 3;
	ktap_eq(frame()[0], 3);
	bench_free(b);
}

/* ---- Writeback ------------------------------------------------------------------------------- */

static void check_writeback(uint64_t addr, uint32_t format, uint32_t pitch, bool good)
{
	set_writeback(addr, format, TSR_COMPONENT_ORDER_BGR1, pitch);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK | TSR_DISPLAY_COMMIT_WRITEBACK__MASK);
	ktap_eq(bad(), !good);
	commit(TSR_DISPLAY_COMMIT_DISABLE__MASK);
	bench_run(b, 10);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
}

static void write_frame(void)
{
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK | TSR_DISPLAY_COMMIT_WRITEBACK__MASK);
	ktap_ok(!bad());
	ktap_ok(writing());
	bench_advance(b, PERIOD + 1);
	bench_run(b, 10);
}

/* The frame of the new picture is in memory when WRITEBACK has come, in every format. */
static void writebacks(void)
{
	const uint64_t all = TSR_DISPLAY_IRQ_FLIP | TSR_DISPLAY_IRQ_VBLANK |
			     TSR_DISPLAY_IRQ_WRITEBACK;

	begin_one_head();
	fill_buffers();
	set_mode();
	set_plane(0, plain(1));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	set_plane(0, plain(0));
	for (unsigned int i = 0; i < 16; i++) {
		const uint32_t format = formats[i / 4], order = orders[i % 4];
		const uint32_t bytes = texel_bytes(format), pitch = 2 * 164 * 4;
		const struct plane out = { .format = format, .order = order, .pitch = pitch };
		unsigned int wrong = 0;

		memset(buffer[3], 0xee, BUFFER_BYTES);
		set_writeback(buffer_va(3), format, order, pitch);
		events();
		write_frame();
		ktap_eq(events(), all);
		ktap_ok(!writing() && !write_failed());
		for (unsigned int y = 0; y < HEIGHT; y++)
			for (unsigned int x = 0; x < WIDTH; x++) {
				struct texel t = ordered(decode(buffer[3] + place(&out, x, y),
								format), order);

				for (int c = 0; c < 3; c++)
					wrong += fabs(t.c[c] - (*pixel(0, x, y) >> (16 - 8 * c) &
								0xff) / 255.) >
						 (format == TSR_PIXEL_FORMAT_RGB565 ? 0.0165 :
										      0.0006);
				wrong += t.c[3] != 1;
			}
		ktap_eq(wrong, 0);
		ktap_eq(buffer[3][WIDTH * bytes], 0xee);
		ktap_eq(buffer[3][HEIGHT * pitch], 0xee);
	}
	bench_free(b);
}

static void no_writebacks(void)
{
	begin_one_head();
	set_mode();
	set_plane(0, plain(0));
	check_writeback(buffer_va(3), TSR_PIXEL_FORMAT_RGBA8_UNORM, 4 * WIDTH, true);
	check_writeback(0, TSR_PIXEL_FORMAT_RGBA8_UNORM, 4 * WIDTH, false);
	check_writeback(buffer_va(3) + 4, TSR_PIXEL_FORMAT_RGBA8_UNORM, 4 * WIDTH, false);
	check_writeback(-(uint64_t)4096, TSR_PIXEL_FORMAT_RGBA8_UNORM, 4 * WIDTH, false);
	check_writeback(buffer_va(3), TSR_PIXEL_FORMAT_RGBA8UI, 4 * WIDTH, false);
	check_writeback(buffer_va(3), TSR_PIXEL_FORMAT_RGBA8_UNORM, 4 * WIDTH - 4, false);
	check_writeback(buffer_va(3), TSR_PIXEL_FORMAT_RGBA8_UNORM, 4 * WIDTH + 2, false);
	check_writeback(buffer_va(3), TSR_PIXEL_FORMAT_RGBA8_UNORM, (1 << 20) + 4, false);
	/* the writeback has no target */
	set_writeback(buffer_va(9), TSR_PIXEL_FORMAT_RGBA8_UNORM, 0, 4 * WIDTH);
	events();
	write_frame();
	ktap_ok(events() & TSR_DISPLAY_IRQ_WRITEBACK);
	ktap_ok(write_failed());
	/* the head goes off before, or while, it is written: nothing is written after that */
	set_writeback(buffer_va(3), TSR_PIXEL_FORMAT_RGBA8_UNORM, 0, 4 * WIDTH);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK | TSR_DISPLAY_COMMIT_WRITEBACK__MASK);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK | TSR_DISPLAY_COMMIT_WRITEBACK__MASK);
	ktap_ok(!bad() && !write_failed());	/* PENDING: ignored */
	b->pending_every = 1;
	next_blank();
	compose_all();			/* stuck */
	events();
	commit(TSR_DISPLAY_COMMIT_DISABLE__MASK);
	ktap_ok(!writing() && write_failed());
	ktap_eq(events(), TSR_DISPLAY_IRQ_WRITEBACK);
	memset(buffer[3], 0xee, BUFFER_BYTES);
	b->pending_every = 0;
	bench_run(b, 10);
	ktap_eq(events() & TSR_DISPLAY_IRQ_WRITEBACK, 0);
	ktap_eq(buffer[3][0], 0xee);
	bench_free(b);
}

int main(void)
{
	ktap_start();
	ktap_run("blocks that are clear", tags);
	ktap_run("damage", damages);
	ktap_run("flips that say what changes", damaged_flips);
	ktap_run("frames that are written to memory", writebacks);
	ktap_run("frames that are not", no_writebacks);
	return ktap_finish();
}
