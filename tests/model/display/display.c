/* SPDX-License-Identifier: MIT */
/* The display controller: modes, latching, composition, CRCs, underruns, monitors, snapshots. */
#include "screen.h"

#include <stdlib.h>
#include <sys/mman.h>

/* ---- Without heads --------------------------------------------------------------------------- */

static void without(void)
{
	b = bench_new(NULL);
	ktap_eq(bench_read64(b, TSR_REG_GPU_FEATURES) & TSR_FEATURE_DISPLAY, 0);
	for (uint32_t at = 0; at < TSR_DISPLAY__COUNT * TSR_DISPLAY__STRIDE; at += 4) {
		bench_write(b, TSR_DISPLAY__OFFSET + at, UINT32_MAX);
		if (bench_read(b, TSR_DISPLAY__OFFSET + at))
			ktap_eq(at, UINT32_MAX);
	}
	bench_write64(b, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_DISPLAY), UINT64_MAX);
	ktap_eq(bench_read64(b, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_DISPLAY)), 0);
	bench_free(b);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static void check_mode(uint32_t h, uint32_t v, uint32_t clock, bool good)
{
	commit(TSR_DISPLAY_COMMIT_DISABLE__MASK);
	bench_write(b, TSR_REG_DISPLAY_MODE_H(0), h);
	bench_write(b, TSR_REG_DISPLAY_MODE_V(0), v);
	bench_write(b, TSR_REG_DISPLAY_MODE_CLOCK(0), clock);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	ktap_eq(bad(), !good);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_STATUS(0)) & TSR_DISPLAY_STATUS_ON__MASK, good);
}

static void modes(void)
{
	begin_one_head();
	check_mode(640 | 800 << 16, 480 | 525 << 16, 25175, true);
	check_mode(15 | 800 << 16, 480 | 525 << 16, 25175, false);
	check_mode(16 | 800 << 16, 16 | 525 << 16, 25175, true);
	check_mode(640 | 800 << 16, 15 | 525 << 16, 25175, false);
	check_mode(640 | 640 << 16, 480 | 525 << 16, 25175, false);
	check_mode(640 | 800 << 16, 480u | 480 << 16, 25175, false);
	check_mode(8192 | 8200u << 16, 4096 | 4100u << 16, 1000000, true);
	check_mode(8193 | 8200u << 16, 4000 | 4100u << 16, 1000000, false);
	check_mode(8192 | 8200u << 16, 4097 | 4100u << 16, 1000000, false);
	check_mode(200 | 1000u << 16, 100 | 1000u << 16, 1000, true);		/* 1 Hz */
	check_mode(200 | 1000u << 16, 100 | 1001u << 16, 1000, false);
	check_mode(200 | 250u << 16, 100 | 200u << 16, 50000, true);		/* 1000 Hz */
	check_mode(200 | 250u << 16, 100 | 200u << 16, 50001, false);
	bench_free(b);
}

static void check_plane(unsigned int n, struct plane p, bool good)
{
	set_plane(n, p);
	commit(TSR_DISPLAY_COMMIT_ASYNC__MASK);
	if (bad() == good)
		printf("# plane %u: format %u pitch %u layout %u size %u %u src %u %u\n", n,
		       p.format, p.pitch, p.layout, p.width, p.height, p.src_x, p.src_y);
	ktap_eq(bad(), !good);
	set_plane(n, (struct plane){ 0 });
	commit(TSR_DISPLAY_COMMIT_ASYNC__MASK);
}

#define CHANGED(n, good, ...) do {					\
	struct plane p = plain(0);					\
	__VA_ARGS__;							\
	check_plane(n, p, good);					\
} while (0)

static void planes(void)
{
	begin_one_head();
	set_mode();
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	for (unsigned int n = 0; n < 2; n++) {
		CHANGED(n, true, (void)p);
		CHANGED(n, false, p.addr += 4);
		CHANGED(n, false, p.format = TSR_PIXEL_FORMAT_RGBA8UI);
		CHANGED(n, false, p.format = 255);
		CHANGED(n, false, p.order = 30);
		CHANGED(n, false, p.order |= 1u << 21);
		CHANGED(n, false, p.pitch = 4 * WIDTH - 4);
		CHANGED(n, false, p.pitch = 4 * WIDTH + 2);
		CHANGED(n, true, p.pitch = 1 << 20);
		CHANGED(n, false, p.pitch = (1 << 20) + 4);
		CHANGED(n, true, p.layout = 2, p.pitch = 10 * 1024, p.tag_pitch = 20);
		CHANGED(n, false, p.layout = 2, p.pitch = 10 * 1024, p.tag_pitch = 19);
		CHANGED(n, false, p.layout = 2, p.pitch = 10 * 1024 - 64, p.tag_pitch = 20);
		CHANGED(n, true, p.layout = 2, p.pitch = 10 * 1024, p.tag_pitch = 1 << 20);
		CHANGED(n, false, p.layout = 2, p.pitch = 10 * 1024, p.tag_pitch = (1 << 20) + 1);
		CHANGED(n, false, p.layout = 2, p.pitch = 10 * 1024, p.tag_pitch = 20,
			p.tags = 32);
		CHANGED(n, false, p.layout = 2, p.pitch = 10 * 1024, p.tag_pitch = 20,
			p.clear = 16);
		CHANGED(n, false, p.layout = 2, p.pitch = 10 * 1024, p.tag_pitch = 20,
			p.tags = -(uint64_t)64);
		CHANGED(n, false, p.layout = 3);
		CHANGED(n, false, p.layout = 1);
		CHANGED(n, true, p.layout = 1, p.pitch = 10 * 1024);
		CHANGED(n, false, p.layout = 1, p.pitch = 10 * 1024 - 64);
		CHANGED(n, false, p.layout = 1, p.pitch = 10 * 1024 + 4);
		CHANGED(n, false, p.blend = 3);
		CHANGED(n, false, p.width = 0);
		CHANGED(n, false, p.height = 0);
		CHANGED(n, true, p.src_x = 8192 - WIDTH, p.pitch = 4 * 8192);
		CHANGED(n, false, p.src_x = 8193 - WIDTH, p.pitch = 4 * 8193);
		CHANGED(n, true, p.src_y = 8192 - HEIGHT);
		CHANGED(n, false, p.src_y = 8193 - HEIGHT);
		CHANGED(n, false, p.addr = -(uint64_t)4096);
	}
	CHANGED(2, true, p.width = p.height = 64);
	CHANGED(2, true, p.width = p.height = 256, p.pitch = 1024);
	CHANGED(2, false, p.width = 257, p.height = 64, p.pitch = 2048);
	CHANGED(2, false, p.width = 64, p.height = 257);
	CHANGED(2, false, p.width = p.height = 64, p.layout = 1, p.pitch = 4096);
	CHANGED(2, false, p.width = p.height = 64, p.layout = 2, p.pitch = 4096, p.tag_pitch = 8);
	CHANGED(2, false, p.width = p.height = 64, p.format = TSR_PIXEL_FORMAT_RGB565);
	bench_free(b);
}

/* ---- Time ------------------------------------------------------------------------------------ */

static void blanks(void)
{
	const uint64_t both = TSR_DISPLAY_IRQ_FLIP | TSR_DISPLAY_IRQ_VBLANK;
	uint64_t frames, since;

	begin_one_head();
	set_mode();
	set_plane(0, plain(0));
	ktap_eq(bench_read64(b, TSR_REG_DISPLAY_FRAME(0)), 0);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	ktap_eq(events(), both);
	frames = bench_read64(b, TSR_REG_DISPLAY_FRAME(0));
	since = bench_read64(b, TSR_REG_DISPLAY_VBLANK_TIME(0));
	ktap_eq(frames, 1);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_LINE(0)), HEIGHT);
	bench_advance(b, PERIOD - 10);
	ktap_eq(events(), 0);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_LINE(0)), HEIGHT - 1);
	bench_advance(b, 20);
	ktap_eq(events(), TSR_DISPLAY_IRQ_VBLANK);
	ktap_eq(bench_read64(b, TSR_REG_DISPLAY_VBLANK_TIME(0)), since + PERIOD);
	for (unsigned int i = 2; i <= 300; i++) {
		bench_advance(b, PERIOD + 1);
		ktap_eq(events(), TSR_DISPLAY_IRQ_VBLANK);
		ktap_eq(bench_read64(b, TSR_REG_DISPLAY_FRAME(0)), i + 1);
		ktap_eq(bench_read64(b, TSR_REG_DISPLAY_VBLANK_TIME(0)),
			since + (uint64_t)i * 50000000 / 3);
	}
	/* a host that sleeps makes up for it, with one interrupt */
	b->clock += 10 * (uint64_t)PERIOD;
	tsr_gpu_timer(b->gpu);
	ktap_eq(events(), TSR_DISPLAY_IRQ_VBLANK);
	ktap_eq(bench_read64(b, TSR_REG_DISPLAY_FRAME(0)), 311);
	/* a commit waits for the vertical blank */
	set_plane(0, plain(1));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	ktap_ok(pending());
	ktap_eq(events(), 0);
	bench_advance(b, PERIOD + 1);
	ktap_ok(!pending());
	ktap_eq(events(), both);
	/* off: at once, and nothing comes any more */
	commit(TSR_DISPLAY_COMMIT_DISABLE__MASK);
	bench_advance(b, 10 * (uint64_t)PERIOD);
	ktap_eq(events(), 0);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_STATUS(0)), 0);
	bench_free(b);
}

/* A timer that is late: a commit is latched by the vertical blank after it, by the clock. */
static void late_timer(void)
{
	begin_one_head();
	set_mode();
	set_plane(0, plain(0));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	events();
	b->clock += PERIOD + 1;
	set_plane(0, plain(1));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	ktap_ok(pending());
	ktap_eq(events(), TSR_DISPLAY_IRQ_VBLANK);
	ktap_eq(bench_read64(b, TSR_REG_DISPLAY_FRAME(0)), 2);
	tsr_gpu_timer(b->gpu);
	ktap_ok(pending());
	ktap_eq(events(), 0);
	/* what was on its way has been latched, the next one is taken */
	b->clock += PERIOD + 1;
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	ktap_eq(events(), TSR_DISPLAY_IRQ_FLIP | TSR_DISPLAY_IRQ_VBLANK);
	ktap_ok(pending());
	bench_advance(b, PERIOD + 1);
	ktap_ok(!pending());
	bench_free(b);
}

/* MODE_CLOCK 0 switches the head off at the vertical blank. */
static void off_at_blank(void)
{
	begin_one_head();
	set_mode();
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	bench_write(b, TSR_REG_DISPLAY_MODE_CLOCK(0), 0);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	ktap_ok(pending());
	events();
	bench_advance(b, PERIOD + 1);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_STATUS(0)), 0);
	ktap_eq(events(), TSR_DISPLAY_IRQ_FLIP | TSR_DISPLAY_IRQ_VBLANK);
	bench_advance(b, 3 * (uint64_t)PERIOD);
	ktap_eq(events(), 0);
	bench_free(b);
}

/* ---- Composition ----------------------------------------------------------------------------- */

/* Each format, order and layout, as the only plane. */
static void all_formats(void)
{
	static const unsigned int order[3] = { 0, 1, 2 };

	begin_one_head();
	fill_buffers();
	set_mode();
	bench_write(b, TSR_REG_DISPLAY_BACKGROUND(0), 0x123456);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	for (unsigned int i = 0; i < 32; i++) {
		struct plane planes[3] = { plain(0) };

		planes[0].format = formats[i / 8];
		planes[0].order = orders[i / 2 % 4];
		planes[0].layout = i % 2;
		planes[0].pitch = i % 2 ? 176 * 16 * texel_bytes(planes[0].format) :
					  200 * texel_bytes(planes[0].format);
		planes[0].width = WIDTH - 10;
		planes[0].src_x = 7;
		planes[0].src_y = 5;
		planes[0].x = 3;
		planes[0].y = -9;
		for (unsigned int n = 0; n < 3; n++)
			set_plane(n, planes[n]);
		commit(TSR_DISPLAY_COMMIT_ASYNC__MASK);
		ktap_ok(!bad());
		compare(planes, order, 0x123456);
	}
	bench_free(b);
}

static struct plane random_plane(unsigned int n)
{
	struct plane p = plain(n);

	p.format = n == 2 ? TSR_PIXEL_FORMAT_RGBA8_UNORM : formats[rnd_below(4)];
	p.order = orders[rnd_below(4)];
	p.layout = n == 2 ? 0 : rnd_below(2);
	p.blend = rnd_below(3);
	p.zpos = rnd_below(4);
	p.alpha = rnd_below(2) ? 0xffff : rnd_below(65536);
	p.x = rnd_in(-200, 180);
	p.y = rnd_in(-120, 110);
	p.width = 1 + rnd_below(n == 2 ? 64 : 220);
	p.height = 1 + rnd_below(n == 2 ? 64 : 130);
	p.src_x = rnd_below(20);
	p.src_y = rnd_below(20);
	p.pitch = p.layout ? 256 * 16 * texel_bytes(p.format) : 256 * texel_bytes(p.format);
	return p;
}

/* Three planes of any kind on top of each other. */
static void blending(void)
{
	begin_one_head();
	fill_buffers();
	set_mode();
	bench_write(b, TSR_REG_DISPLAY_BACKGROUND(0), 0xff804020);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	for (unsigned int i = 0; i < 100; i++) {
		struct plane planes[3];
		unsigned int order[3] = { 0, 1, 2 };

		for (unsigned int n = 0; n < 3; n++) {
			planes[n] = random_plane(n);
			set_plane(n, planes[n]);
		}
		for (unsigned int n = 0; n < 2; n++)
			for (unsigned int k = 0; k < 2; k++)
				if (planes[order[k]].zpos > planes[order[k + 1]].zpos) {
					const unsigned int other = order[k];

					order[k] = order[k + 1];
					order[k + 1] = other;
				}
		commit(TSR_DISPLAY_COMMIT_ASYNC__MASK);
		ktap_ok(!bad());
		compare(planes, order, 0x804020);
	}
	bench_free(b);
}

/* ---- CRC ------------------------------------------------------------------------------------- */

/* A CRC as the division of polynomials that it is, a bit at a time. */
static uint32_t crc(const uint32_t *pixels)
{
	uint32_t rest = UINT32_MAX;

	for (unsigned int i = 0; i < WIDTH * HEIGHT; i++)
		for (unsigned int k = 0; k < 24; k++) {
			const uint32_t bit = pixels[i] >> (16 - k / 8 * 8 + k % 8) & 1;

			rest = (rest ^ bit) & 1 ? rest >> 1 ^ 0xedb88320 : rest >> 1;
		}
	return ~rest;
}

static void crcs(void)
{
	uint32_t want;

	begin_one_head();
	fill_buffers();
	set_mode();
	set_plane(0, plain(0));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	want = crc(frame());
	bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(0), 1);
	events();
	for (unsigned int i = 0; i < 20; i++) {
		bench_advance(b, PERIOD + 1);
		bench_run(b, 10);
		ktap_eq(events(), TSR_DISPLAY_IRQ_VBLANK | TSR_DISPLAY_IRQ_CRC);
	}
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_COUNT(0)), 16);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_FRAME(0)), 6);
	for (unsigned int i = 0; i < 16; i++) {
		ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_FRAME(0)), 6 + i);
		ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_VALUE(0)), want);
		bench_write(b, TSR_REG_DISPLAY_CRC_NEXT(0), 0);
	}
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_COUNT(0)), 0);
	/* the frame of the flip has the new picture's */
	set_plane(0, plain(1));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	bench_advance(b, PERIOD + 1);
	bench_run(b, 10);
	ktap_ok(bench_read(b, TSR_REG_DISPLAY_CRC_VALUE(0)) != want);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_VALUE(0)), crc(frame()));
	bench_free(b);
}

/* ---- Memory that cannot be read -------------------------------------------------------------- */

static void underrun(void)
{
	const struct plane before = plain(0);
	uint32_t *old = malloc(4 * WIDTH * HEIGHT);
	const uint32_t *now;

	begin_one_head();
	fill_buffers();
	set_mode();
	set_plane(0, before);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	memcpy(old, frame(), 4 * WIDTH * HEIGHT);
	set_plane(0, plain(1));
	bench_unmap(&as, buffer_va(1) + 4096, 4096);
	bench_invalidate_all(&as);
	commit(TSR_DISPLAY_COMMIT_ASYNC__MASK);
	events();
	now = frame();
	ktap_eq(events(), TSR_DISPLAY_IRQ_UNDERRUN);
	ktap_eq(bench_read64(b, TSR_REG_DISPLAY_UNDERRUN_ADDR(0)), buffer_va(1) + 4096);
	/* rows that are there are new, rows that touch the page are the old ones */
	ktap_eq(now[0], *(uint32_t *)(void *)buffer[1] & 0xffffff);
	ktap_mem_eq(&now[8 * WIDTH], &old[8 * WIDTH], 4 * WIDTH);
	ktap_eq(now[20 * WIDTH], *(uint32_t *)(void *)(buffer[1] + 80 * WIDTH) & 0xffffff);
	free(old);
	bench_free(b);
}

/*
 * A flip while a frame of the former picture waits for the host: FLIP comes when nothing reads the
 * former picture any more, in two vertical blanks at the latest.
 */
static void tear(void)
{
	begin_one_head();
	fill_buffers();
	set_mode();
	set_plane(0, plain(0));
	b->pending_every = 1;
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	events();
	tsr_gpu_display_update(b->gpu, 0);
	compose_all();		/* composing waits for a page */
	set_plane(0, plain(1));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	next_blank();
	ktap_ok(pending());
	ktap_eq(events(), TSR_DISPLAY_IRQ_VBLANK);
	while (bench_answer(b))
		compose_all();
	ktap_ok(pending());
	next_blank();
	ktap_ok(!pending());
	ktap_eq(events(), TSR_DISPLAY_IRQ_FLIP | TSR_DISPLAY_IRQ_VBLANK);
	/* a host that never answers */
	tsr_gpu_display_update(b->gpu, 0);
	compose_all();
	set_plane(0, plain(2));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	for (unsigned int i = 0; i < 3; i++) {
		next_blank();
		compose_all();
	}
	ktap_ok(!pending());
	ktap_eq(events(), TSR_DISPLAY_IRQ_FLIP | TSR_DISPLAY_IRQ_VBLANK | TSR_DISPLAY_IRQ_UNDERRUN);
	bench_free(b);
}

/* All pages that are asked for have to be waited for once more. */
static void forget_pages(void)
{
	for (size_t i = 0; i < BENCH_RAM_SIZE / BENCH_PAGE; i++)
		atomic_store(&b->asked[i], 0);
}

/*
 * A host that stops anywhere in a frame. From its FLIP on the former picture's memory cannot be
 * accessed: who still reads it dies.
 */
static void former_is_not_read(void)
{
	static const unsigned int order[3] = { 0, 1, 2 };

	begin_one_head();
	fill_buffers();
	set_mode();
	set_plane(0, plain(0));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	b->pending_every = 1;
	for (unsigned int stop = 0; stop < 24; stop++) {
		struct plane planes[3] = { plain(~stop & 1), { 0 }, { 0 } };
		bool flipped = false;

		forget_pages();
		tsr_gpu_display_update(b->gpu, 0);
		compose_all();
		for (unsigned int i = 0; i < stop && bench_answer(b); i++)
			compose_all();
		set_plane(0, planes[0]);
		commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
		events();
		for (unsigned int i = 0; i < 4 && !flipped; i++) {
			next_blank();
			flipped = events() & TSR_DISPLAY_IRQ_FLIP;
			if (!flipped)
				compose_all();
		}
		ktap_ok(flipped);
		ktap_eq(mprotect(buffer[stop & 1], BUFFER_BYTES, PROT_NONE), 0);
		while (bench_answer(b))
			compose_all();
		next_blank();
		compare(planes, order, 0);
		ktap_eq(mprotect(buffer[stop & 1], BUFFER_BYTES, PROT_READ | PROT_WRITE), 0);
	}
	bench_free(b);
}

/* ---- The cursor beside flips ----------------------------------------------------------------- */

#define CURSOR_AT_ONCE (TSR_DISPLAY_COMMIT_ASYNC__MASK | TSR_DISPLAY_COMMIT_CURSOR__MASK)

static struct plane cursor_at(int x, int y)
{
	struct plane p = plain(3);

	p.width = p.height = 32;
	p.zpos = 2;
	p.x = x;
	p.y = y;
	return p;
}

/* A cursor moves at once, in what is shown and in what waits, of which nothing else is taken. */
static void cursor_beside_flip(void)
{
	static const unsigned int order[3] = { 0, 1, 2 };
	struct plane planes[3] = { plain(0), { 0 }, cursor_at(5, 6) };
	const struct plane next = plain(1);

	begin_one_head();
	fill_buffers();
	set_plane(2, planes[2]);
	commit(CURSOR_AT_ONCE);
	ktap_ok(bad());			/* the head is off */
	set_mode();
	set_plane(0, planes[0]);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	ktap_ok(!bad());
	compare(planes, order, 0);
	set_plane(0, next);
	planes[2] = cursor_at(-3, 50);
	set_plane(2, planes[2]);
	commit(CURSOR_AT_ONCE);
	compare(planes, order, 0);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	events();
	/*
	 * the cursor moves twice before the vertical blank; then plane 0 of the shadow is another
	 */
	set_plane(0, plain(2));
	for (int i = 0; i < 2; i++) {
		planes[2] = cursor_at(70 - 20 * i, 40);
		set_plane(2, planes[2]);
		commit(CURSOR_AT_ONCE);
		ktap_ok(!bad());
		ktap_ok(pending());
		ktap_eq(events(), TSR_DISPLAY_IRQ_FLIP);
	}
	/* what is refused changes nothing */
	set_plane(2, (struct plane){ .addr = 4 });
	commit(CURSOR_AT_ONCE);
	ktap_ok(bad());
	ktap_ok(pending());
	next_blank();
	ktap_ok(!pending());
	ktap_eq(events(), TSR_DISPLAY_IRQ_FLIP | TSR_DISPLAY_IRQ_VBLANK);
	planes[0] = next;
	compare(planes, order, 0);
	/* a head that is to go off goes off */
	set_plane(2, cursor_at(0, 0));
	bench_write(b, TSR_REG_DISPLAY_MODE_CLOCK(0), 0);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	commit(CURSOR_AT_ONCE);
	ktap_ok(!bad());
	next_blank();
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_STATUS(0)), 0);
	bench_free(b);
}

static bool stale(void)
{
	return bench_read(b, TSR_REG_DISPLAY_STATUS(0)) & TSR_DISPLAY_STATUS_STALE__MASK;
}

/* STALE reports how long a replaced cursor is read. */
static void stale_cursor(void)
{
	begin_one_head();
	fill_buffers();
	set_mode();
	set_plane(2, cursor_at(0, 0));
	b->pending_every = 1;
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	events();
	tsr_gpu_display_update(b->gpu, 0);
	compose_all();
	ktap_ok(!stale());
	set_plane(2, (struct plane){ 0 });
	commit(CURSOR_AT_ONCE);
	ktap_ok(stale());
	ktap_eq(events(), 0);
	while (bench_answer(b))
		compose_all();
	ktap_ok(!stale());
	ktap_eq(events(), TSR_DISPLAY_IRQ_FLIP);
	bench_free(b);
}

/* ---- The monitor ----------------------------------------------------------------------------- */

static void monitor(void)
{
	uint8_t edid[256];

	begin_one_head();
	for (unsigned int i = 0; i < sizeof(edid); i++)
		edid[i] = (uint8_t)(i * 7 + 1);
	tsr_gpu_display_monitor(b->gpu, 0, true, edid, sizeof(edid));
	ktap_eq(events(), TSR_DISPLAY_IRQ_HOTPLUG);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_STATUS(0)), TSR_DISPLAY_STATUS_PRESENT__MASK);
	for (unsigned int i = 0; i < TSR_EDID_WORDS; i++) {
		uint32_t word;

		memcpy(&word, edid + 4 * i, 4);
		ktap_eq(bench_read(b, TSR_REG_DISPLAY_EDID(0, i)), word);
	}
	tsr_gpu_display_monitor(b->gpu, 0, true, edid, sizeof(edid));
	ktap_eq(events(), 0);
	tsr_gpu_display_monitor(b->gpu, 0, false, NULL, 0);
	ktap_eq(events(), TSR_DISPLAY_IRQ_HOTPLUG);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_STATUS(0)), 0);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_EDID(0, 0)), 0);
	bench_free(b);
}

/*
 * A frame that comes while the host looks at another does not change what it looks at, and is there
 * afterwards; the number that update() gives is that of a frame that has begun since.
 */
static void lent(void)
{
	const uint32_t was = 0x123456, is = 0x654321;
	struct tsr_display_frame f, again;
	uint64_t wanted, first;

	begin_one_head();
	set_mode();
	set_plane(0, plain(0));
	*(uint32_t *)(void *)buffer[0] = was;
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	first = tsr_gpu_display_update(b->gpu, 0);
	/* one is being composed already, so the next one is meant */
	ktap_eq(tsr_gpu_display_update(b->gpu, 0), first + 1);
	bench_run(b, 10);
	KTAP_REQUIRE(tsr_gpu_display_frame(b->gpu, 0, &f));
	ktap_eq(f.serial, first + 1);
	ktap_eq(f.pixels[0], was);
	*(uint32_t *)(void *)buffer[0] = is;
	wanted = tsr_gpu_display_update(b->gpu, 0);
	bench_run(b, 10);
	ktap_eq(f.pixels[0], was);
	tsr_gpu_display_update(b->gpu, 0);
	bench_run(b, 10);
	ktap_eq(f.pixels[0], was);
	KTAP_REQUIRE(tsr_gpu_display_frame(b->gpu, 0, &again));
	ktap_eq(again.serial, f.serial);
	tsr_gpu_display_done(b->gpu, 0);
	KTAP_REQUIRE(tsr_gpu_display_frame(b->gpu, 0, &f));
	ktap_ok(f.serial > wanted);
	ktap_eq(f.pixels[0], is);
	/* nobody takes it back before the device goes */
	tsr_gpu_display_update(b->gpu, 0);
	bench_run(b, 10);
	bench_free(b);
}

/*
 * A head that goes off, and on, in the middle of a frame: that frame has no CRC and no underrun,
 * and the next one begins at once.
 */
static void off_in_the_middle(void)
{
	begin_one_head();
	fill_buffers();
	set_mode();
	set_plane(0, plain(0));
	b->pending_every = 1;
	bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(0), 1);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	compose_all();			/* stuck: a page has to be asked for */
	commit(TSR_DISPLAY_COMMIT_DISABLE__MASK);
	next_blank();
	next_blank();
	compose_all();
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_COUNT(0)), 0);
	set_plane(0, plain(1));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	compose_all();
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_COUNT(0)), 0);
	while (bench_answer(b))
		compose_all();
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_COUNT(0)), 1);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_FRAME(0)), 2);
	ktap_eq(events() & TSR_DISPLAY_IRQ_UNDERRUN, 0);
	bench_free(b);
}

/* ---- Resets, snapshots, threads -------------------------------------------------------------- */

static void resets(void)
{
	begin_one_head();
	set_mode();
	set_plane(0, plain(0));
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	bench_write(b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_STATUS(0)), TSR_DISPLAY_STATUS_ON__MASK);
	events();
	bench_advance(b, PERIOD + 1);
	ktap_eq(events(), TSR_DISPLAY_IRQ_VBLANK);
	tsr_gpu_reset(b->gpu);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_STATUS(0)), 0);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_MODE_H(0)), 0);
	bench_free(b);
}

static void snapshots(void)
{
	const size_t most = 1 << 20;
	uint8_t *saved = malloc(most);
	uint32_t *before = malloc(4 * WIDTH * HEIGHT);
	char err[200] = "";
	size_t size;

	begin_one_head();
	fill_buffers();
	set_mode();
	set_plane(0, plain(0));
	bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(0), 1);
	tsr_gpu_display_monitor(b->gpu, 0, true, "a monitor", 9);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	bench_run(b, 10);
	bench_advance(b, 5 * (uint64_t)PERIOD + 1000);
	memcpy(before, frame(), 4 * WIDTH * HEIGHT);
	set_plane(0, plain(1));
	set_writeback(buffer_va(3), TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_COMPONENT_ORDER_BGR1,
		      4 * WIDTH);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK | TSR_DISPLAY_COMMIT_WRITEBACK__MASK);
	tsr_gpu_pause(b->gpu);
	size = tsr_gpu_save(b->gpu, saved, most);
	ktap_ok(size <= most);
	bench_replace(b);
	tsr_gpu_pause(b->gpu);
	if (!ktap_ok(tsr_gpu_load(b->gpu, saved, size, err, sizeof(err))))
		printf("# %s\n", err);
	tsr_gpu_resume(b->gpu);
	ktap_ok(pending() && writing());
	ktap_eq(bench_read64(b, TSR_REG_DISPLAY_FRAME(0)), 6);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_COUNT(0)), 6);
	events();
	/* the host says which monitor there is: only another one is news */
	tsr_gpu_display_monitor(b->gpu, 0, true, "a monitor", 9);
	ktap_eq(events(), 0);
	tsr_gpu_display_monitor(b->gpu, 0, true, "another", 7);
	ktap_eq(events(), TSR_DISPLAY_IRQ_HOTPLUG);
	bench_advance(b, PERIOD);
	ktap_ok(!pending());
	ktap_eq(events() & TSR_DISPLAY_IRQ_FLIP, TSR_DISPLAY_IRQ_FLIP);
	ktap_eq(bench_read64(b, TSR_REG_DISPLAY_FRAME(0)), 7);
	ktap_eq(frame()[0], *(uint32_t *)(void *)buffer[1] & 0xffffff);
	ktap_ok(!writing() && !write_failed());
	ktap_eq(*pixel(3, 9, 9) & 0xffffff, *pixel(1, 9, 9) & 0xffffff);
	free(before);
	free(saved);
	bench_free(b);
}

/* Frames on workers, beside invalidations, pauses and resets. */
static void workers(void)
{
	begin(&(struct tsr_config){ .heads = 1, .threads = 2 });
	fill_buffers();
	set_mode();
	set_plane(0, plain(0));
	bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(0), 1);
	commit(TSR_DISPLAY_COMMIT_LATCH__MASK);
	for (unsigned int i = 0; i < 200; i++) {
		struct tsr_display_frame f;

		set_plane(0, plain(i % 2));
		commit(i % 3 ? TSR_DISPLAY_COMMIT_LATCH__MASK : TSR_DISPLAY_COMMIT_ASYNC__MASK);
		tsr_gpu_display_update(b->gpu, 0);
		bench_advance(b, PERIOD + 1);
		if (i % 5 == 0)
			bench_invalidate_all(&as);
		if (i % 7 == 0) {
			tsr_gpu_pause(b->gpu);
			tsr_gpu_resume(b->gpu);
		}
		if (tsr_gpu_display_frame(b->gpu, 0, &f)) {
			ktap_eq(f.width, WIDTH);
			tsr_gpu_display_done(b->gpu, 0);
		}
	}
	ktap_eq(bench_read64(b, TSR_REG_DISPLAY_FRAME(0)), 201);
	tsr_gpu_reset(b->gpu);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_STATUS(0)), 0);
	bench_free(b);
}

int main(void)
{
	ktap_start();
	ktap_run("without heads there is no display", without);
	ktap_run("modes that are refused", modes);
	ktap_run("planes that are refused", planes);
	ktap_run("vertical blanks and flips", blanks);
	ktap_run("a vertical blank that the host's timer tells of late", late_timer);
	ktap_run("a head that goes off at a vertical blank", off_at_blank);
	ktap_run("every format, order and layout", all_formats);
	ktap_run("planes on top of each other", blending);
	ktap_run("a CRC for each frame", crcs);
	ktap_run("memory that cannot be read", underrun);
	ktap_run("no picture is torn", tear);
	ktap_run("a picture is not read after the FLIP that replaces it", former_is_not_read);
	ktap_run("the cursor moves beside a flip", cursor_beside_flip);
	ktap_run("a cursor that is replaced", stale_cursor);
	ktap_run("the monitor comes and goes", monitor);
	ktap_run("a frame that comes while the host looks at another", lent);
	ktap_run("a head that goes off in the middle of a frame", off_in_the_middle);
	ktap_run("resets of device and function", resets);
	ktap_run("a snapshot with a picture on", snapshots);
	ktap_run("frames are composed by workers", workers);
	return ktap_finish();
}
