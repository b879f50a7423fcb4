/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=240 */
/*
 * Heads are composed in pieces: between two rows a runner looks whether it is to stop, so nobody
 * waits for a frame. Switched off, a head leaves memory alone and has none of the host's.
 */
#include "screen.h"

#include <stdlib.h>
#include <unistd.h>

#include "allocated.h"
#include "device/gpu.h"
#include "stage.h"

#define LATCH TSR_DISPLAY_COMMIT_LATCH__MASK
#define WRITEBACK TSR_DISPLAY_COMMIT_WRITEBACK__MASK
#define DISABLE TSR_DISPLAY_COMMIT_DISABLE__MASK
#define SLACK (1u << 20)		/* bytes that other parts of a device may allocate */

/* A mode of that size with some 60 Hz; it is committed with @how. */
static void set_size(unsigned int head, uint32_t width, uint32_t height, uint32_t how)
{
	bench_write(b, TSR_REG_DISPLAY_MODE_H(head), width | (width + 8) << 16);
	bench_write(b, TSR_REG_DISPLAY_MODE_V(head), height | (height + 4) << 16);
	bench_write(b, TSR_REG_DISPLAY_MODE_CLOCK(head), (width + 8) * (height + 4) * 60 / 1000);
	bench_write(b, TSR_REG_DISPLAY_COMMIT(head), how);
}

static uint32_t status(unsigned int head)
{
	return bench_read(b, TSR_REG_DISPLAY_STATUS(head));
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* The CRC of a frame of blended planes that is written back, composed @cycles at a time. */
static uint32_t crc_in_pieces(uint64_t cycles, unsigned int *pieces)
{
	struct plane over = plain(1);

	over.blend = TSR_PLANE_BLEND_COVERAGE;
	over.alpha = 0x8000;
	set_mode();
	set_plane(0, plain(0));
	set_plane(1, over);
	set_writeback(buffer_va(3), TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_COMPONENT_ORDER_BGR1,
		      4 * WIDTH);
	bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(0), 1);
	commit(LATCH | WRITEBACK);
	*pieces = 0;
	while (writing()) {
		const uint64_t spent = tsr_gpu_run(b->gpu, cycles);

		if (!ktap_ok(spent && spent <= TSR_STOP_WORK) || ++*pieces > 1000)
			break;
	}
	ktap_ok(!write_failed());
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_COUNT(0)), 1);
	return bench_read(b, TSR_REG_DISPLAY_CRC_VALUE(0));
}

static void pieces(void)
{
	uint8_t *written = malloc(4 * WIDTH * HEIGHT);
	unsigned int few, many;
	uint32_t crc;

	begin_one_head();
	fill_buffers();
	crc = crc_in_pieces(TSR_STOP_WORK / 2, &few);
	memcpy(written, buffer[3], 4 * WIDTH * HEIGHT);
	memset(buffer[3], 0, 4 * WIDTH * HEIGHT);
	commit(DISABLE);
	bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(0), 0);
	ktap_eq(crc_in_pieces(1, &many), crc);
	ktap_eq(memcmp(written, buffer[3], 4 * WIDTH * HEIGHT), 0);
	/* a row each, and written a row each */
	ktap_eq(many, 2 * HEIGHT);
	ktap_ok(few < many / 10);
	free(written);
	bench_free(b);
}

#define WIDE_VA 0x40000000ull
#define WIDE_PITCH (8192u * 16 * 8)	/* a row of tiles of RGBA16F */
#define WIDE_ROWS 4

/* A plane as wide as there is, of which some rows of tiles are in memory, the same ones. */
static void wide_plane(unsigned int n, uint32_t layout)
{
	struct plane p = {
		.addr = WIDE_VA, .format = TSR_PIXEL_FORMAT_RGBA16F,
		.order = TSR_COMPONENT_ORDER_RGBA, .pitch = WIDE_PITCH, .layout = layout,
		.blend = TSR_PLANE_BLEND_COVERAGE, .alpha = 0x8000, .width = 8192,
		.height = 4096, .tags = buffer_va(0), .clear = buffer_va(0), .tag_pitch = 1024,
	};

	p.zpos = n;
	set_plane(n, p);
}

/* The most cycles of a row of the most expensive head: planes that are tiled, CRC, writeback. */
static void largest(void)
{
	uint64_t most = 0, bus;

	begin_one_head();
	bus = bench_alloc(b, WIDE_ROWS * (uint64_t)WIDE_PITCH, BENCH_PAGE);
	bench_map(&as, WIDE_VA, bus, WIDE_ROWS * (uint64_t)WIDE_PITCH, BENCH_RW);
	bench_invalidate_all(&as);
	wide_plane(0, TSR_SCANOUT_LAYOUT_TILED);
	wide_plane(1, TSR_SCANOUT_LAYOUT_TAGGED);
	set_writeback(WIDE_VA, TSR_PIXEL_FORMAT_RGBA16F, TSR_COMPONENT_ORDER_RGBA, 65536);
	bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(0), 1);
	set_size(0, 8192, 4096, LATCH | WRITEBACK);
	ktap_ok(!bad());
	for (unsigned int i = 0; i < 16 * WIDE_ROWS; i++) {
		const uint64_t spent = tsr_gpu_run(b->gpu, 1);

		most = spent > most ? spent : most;
	}
	ktap_eq(b->gpu->display.head[0].composition.row, 16 * WIDE_ROWS);
	ktap_ok(!b->gpu->display.head[0].composition.underrun);
	/* all that is blended: background, two planes, CRC, what is read */
	ktap_ok(most > 4 * 8192 + 2 * WIDE_PITCH / 64);
	ktap_ok(most <= TSR_STOP_WORK);
	ktap_note("a row takes up to %llu cycles", (unsigned long long)most);
	bench_free(b);
}

/* ---- Requests while a frame is composed ------------------------------------------------------ */

/* How many rows of head @n are there; the device is paused. */
static uint32_t rows(unsigned int n)
{
	const struct tsr_head *head = &b->gpu->display.head[n];

	return head->begun ? head->composition.row : 0;
}

/* Pause, invalidation and reset come in the middle of frames, which pause and invalidation keep. */
static void requests(void)
{
	unsigned int middle = 0;

	begin(&(struct tsr_config){ .heads = 2, .threads = 2 });
	for (unsigned int i = 0; i < 20; i++) {
		uint32_t at;

		for (unsigned int n = 0; n < 2; n++) {
			bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(n), 1);
			set_size(n, 8192, 512, LATCH);
		}
		usleep(200 + 50 * i);
		ktap_ok(bench_invalidate_all(&as));
		tsr_gpu_pause(b->gpu);
		at = rows(i & 1);
		middle += at && at < 512;
		usleep(200);
		ktap_eq(rows(i & 1), at);
		tsr_gpu_resume(b->gpu);
		if (i % 4 == 3) {
			tsr_gpu_reset(b->gpu);
			ktap_eq(status(0) | status(1), 0);
			bench_invalidate_all(&as);
		} else {
			bench_write(b, TSR_REG_DISPLAY_COMMIT(0), DISABLE);
			bench_write(b, TSR_REG_DISPLAY_COMMIT(1), DISABLE);
		}
	}
	ktap_note("%u pauses in the middle of a frame", middle);
	bench_free(b);
}

/* Frames that take longer than the time between two vertical blanks: every head has its turn. */
static void turns(void)
{
	begin(&(struct tsr_config){ .heads = 3 });
	for (unsigned int n = 0; n < 3; n++) {
		bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(n), 1);
		set_size(n, 1024, 768, LATCH);
	}
	for (unsigned int i = 0; i < 6000; i++) {
		tsr_gpu_run(b->gpu, 1024);
		if (i % 4 == 0) {
			b->clock += 20000000;
			tsr_gpu_timer(b->gpu);
		}
	}
	/* a row costs 2048 cycles: 6000 of them are more than seven frames */
	for (unsigned int n = 0; n < 3; n++)
		ktap_ok(bench_read(b, TSR_REG_DISPLAY_CRC_COUNT(n)) >= 2);
	bench_free(b);
}

/* One thread and a frame that takes long: a queue does not wait for all of it. */
static void queue_beside(void)
{
	struct stage_stream stream;
	struct bench_queue q;
	struct stage s;
	uint64_t p[8];

	stage_init(&s, &(struct tsr_config){ .heads = 1, .threads = 1, .no_inline = true });
	b = s.b;
	bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(0), 1);
	set_size(0, 8192, 4096, LATCH);
	stage_queue(&s, &q, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	stream = stage_stream(&s, 0);
	stage_add(&stream, p, pk_fence(p, TSR_EVENT_ALL_DONE, false, STAGE_DATA, 7));
	stage_call(&q, &stream);
	bench_kick(&q);
	for (unsigned int i = 0; i < 200000 && stage_load(&s, 0) != 7; i++)
		usleep(100);
	ktap_eq(stage_load(&s, 0), 7);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_COUNT(0)), 0);
	/* the frame does not wait for a queue that always has work */
	stage_add(&stream, p, pk_jump(p, stream.va, stream.size + 24));
	stage_call(&q, &stream);
	bench_kick(&q);
	for (unsigned int i = 0; i < 600000 && !bench_read(b, TSR_REG_DISPLAY_CRC_COUNT(0)); i++)
		usleep(100);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_CRC_COUNT(0)), 1);
	ktap_eq(bench_queue_reg(&q, TSR_QUEUE_STATE__OFFSET) & TSR_QUEUE_STATE_IN_CALL__MASK,
		TSR_QUEUE_STATE_IN_CALL__MASK);
	stage_free(&s);
}

/* ---- Switched off ---------------------------------------------------------------------------- */

#define WB_PITCH 65536u
#define WB_ROWS 16u			/* the buffer is as large as these */

/* From the moment at which STATUS says that the head is off its writeback writes no more. */
static void off_while_writing(void)
{
	uint8_t *copy = malloc(WB_ROWS * WB_PITCH);
	unsigned int begun = 0;

	begin(&(struct tsr_config){ .heads = 1, .threads = 2 });
	for (unsigned int i = 0; i < 40; i++) {
		uint64_t before;

		memset(buffer[0], 0x55, WB_ROWS * WB_PITCH);
		set_writeback(buffer_va(0), TSR_PIXEL_FORMAT_RGBA16F, TSR_COMPONENT_ORDER_BGR1,
			      WB_PITCH);
		set_size(0, 8192, WB_ROWS, LATCH | WRITEBACK);
		before = events();	/* the writeback's, if this thread was held up */
		usleep(500 * (i % 20));
		commit(DISABLE);
		ktap_eq(status(0) & ~TSR_DISPLAY_STATUS_WRITEBACK_FAILED__MASK, 0);
		ktap_eq((before | events()) & TSR_DISPLAY_IRQ_WRITEBACK, TSR_DISPLAY_IRQ_WRITEBACK);
		begun += write_failed();
		memcpy(copy, buffer[0], WB_ROWS * WB_PITCH);
		usleep(5000);
		if (memcmp(copy, buffer[0], WB_ROWS * WB_PITCH))
			ktap_fail("try %u: memory has changed after DISABLE", i);
		ktap_eq(events(), 0);
	}
	ktap_note("%u of 40 writebacks were not complete", begun);
	ktap_ok(begun);
	free(copy);
	bench_free(b);
}

/* A head that reads: a plane's memory may be unmapped. */
static void off_while_reading(void)
{
	begin(&(struct tsr_config){ .heads = 1, .threads = 2 });
	for (unsigned int i = 0; i < 40; i++) {
		struct plane p = plain(0);

		p.width = p.pitch = 4096;
		p.pitch *= 4;
		p.height = 64;
		set_plane(0, p);
		bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(0), 1);
		set_size(0, 4096, 64, LATCH);
		usleep(100 * (i % 8));
		commit(DISABLE);
		/* TSan sees who still reads */
		memset(buffer[0], (int)i, BUFFER_BYTES);
	}
	ktap_eq(bench_read64(b, TSR_REG_DISPLAY_FRAME(0)), 40);
	bench_free(b);
}

/* ---- Memory of the host ---------------------------------------------------------------------- */

#define HEADS 4u

static void all_on(uint32_t width, uint32_t height)
{
	for (unsigned int n = 0; n < HEADS; n++) {
		bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(n), 1);
		set_size(n, width, height, LATCH);
		ktap_eq(status(n) & ~TSR_DISPLAY_STATUS_PENDING__MASK,
			TSR_DISPLAY_STATUS_ON__MASK);
	}
	for (unsigned int i = 0; i < 3; i++) {
		for (unsigned int n = 0; n < HEADS; n++)
			tsr_gpu_display_update(b->gpu, n);
		bench_advance(b, 20000000);
		bench_run(b, 10);
	}
}

static bool none_left(size_t before)
{
	const size_t now = allocated();

	if (now <= before + SLACK)
		return true;
	ktap_note("%zu KiB are left", (now - before) >> 10);
	return false;
}

/* Frames take TSR_HEAD_PIXEL_BYTES a pixel, also while the host reads one. Off, a head has none. */
static void memory(void)
{
	const size_t pixels = 1024 * 768;
	struct tsr_display_frame f;
	size_t before, on;

	begin(&(struct tsr_config){ .heads = HEADS });
	before = allocated();
	all_on(1024, 768);
	ktap_ok(tsr_gpu_display_frame(b->gpu, 1, &f));
	all_on(1024, 768);
	on = allocated() - before;
	ktap_note("%zu KiB for %u heads", on >> 10, HEADS);
	ktap_ok(on > HEADS * pixels * 4);
	ktap_ok(on <= HEADS * pixels * TSR_HEAD_PIXEL_BYTES + SLACK);
	tsr_gpu_display_done(b->gpu, 1);
	/* a smaller mode, at its vertical blank */
	all_on(320, 200);
	ktap_ok(allocated() - before <= HEADS * 320 * 200 * TSR_HEAD_PIXEL_BYTES + SLACK);
	all_on(1024, 768);
	for (unsigned int n = 0; n < HEADS; n++)
		bench_write(b, TSR_REG_DISPLAY_COMMIT(n), DISABLE);
	ktap_ok(none_left(before));
	/* by a mode without a clock */
	all_on(1024, 768);
	for (unsigned int n = 0; n < HEADS; n++) {
		bench_write(b, TSR_REG_DISPLAY_MODE_CLOCK(n), 0);
		bench_write(b, TSR_REG_DISPLAY_COMMIT(n), LATCH);
	}
	bench_advance(b, 20000000);
	ktap_ok(none_left(before));
	all_on(1024, 768);
	tsr_gpu_reset(b->gpu);
	ktap_ok(none_left(before));
	bench_free(b);
}

/* A frame that the host reads stays when its head goes off, until the host returns it. */
static void memory_lent(void)
{
	struct tsr_display_frame f, none;
	uint32_t first;
	size_t before;

	begin(&(struct tsr_config){ .heads = HEADS });
	before = allocated();
	for (unsigned int i = 0; i < 2; i++) {
		bench_write(b, TSR_REG_DISPLAY_BACKGROUND(2), 0x123456 + i);
		all_on(1024, 768);
		KTAP_REQUIRE(tsr_gpu_display_frame(b->gpu, 2, &f));
		first = f.pixels[0];
		ktap_eq(first, 0x123456 + i);
		if (i)
			tsr_gpu_reset(b->gpu);
		for (unsigned int n = 0; !i && n < HEADS; n++)
			bench_write(b, TSR_REG_DISPLAY_COMMIT(n), DISABLE);
		ktap_ok(!tsr_gpu_display_frame(b->gpu, 2, &none));
		ktap_eq(f.pixels[1024 * 768 - 1], first);
		ktap_ok(!none_left(before));
		/* meanwhile the head is on again and has another frame */
		bench_write(b, TSR_REG_DISPLAY_BACKGROUND(2), 0x654321);
		set_size(2, 1024, 768, LATCH);
		tsr_gpu_display_update(b->gpu, 2);
		bench_run(b, 10);
		ktap_ok(!tsr_gpu_display_frame(b->gpu, 2, &none));
		ktap_eq(f.pixels[1024 * 768 - 1], first);
		tsr_gpu_display_done(b->gpu, 2);
		KTAP_REQUIRE(tsr_gpu_display_frame(b->gpu, 2, &f));
		ktap_eq(f.pixels[0], 0x654321);
		tsr_gpu_display_done(b->gpu, 2);
		bench_write(b, TSR_REG_DISPLAY_COMMIT(2), DISABLE);
		ktap_ok(none_left(before));
	}
	bench_free(b);
}

/* All modes together have at most the pixels that the device was made with. */
static void bound(void)
{
	const uint32_t most = 2 * 640 * 480;
	uint8_t *saved = malloc(1 << 20);
	char err[200] = "";
	size_t size;

	begin(&(struct tsr_config){ .heads = HEADS, .head_pixels = most });
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_PIXELS(0)), most);
	ktap_eq(bench_read(b, TSR_REG_DISPLAY_PIXELS(3)), most);
	set_size(0, 640, 481, LATCH);
	ktap_eq(status(0), TSR_DISPLAY_STATUS_ON__MASK);
	set_size(1, 640, 480, LATCH);
	ktap_eq(status(1), TSR_DISPLAY_STATUS_BAD__MASK);
	set_size(1, 640, 479, LATCH);
	ktap_eq(status(1), TSR_DISPLAY_STATUS_ON__MASK);
	set_size(2, 16, 16, LATCH);
	ktap_eq(status(2), TSR_DISPLAY_STATUS_BAD__MASK);
	/* a mode that waits counts, and so does the one it is to replace */
	set_size(0, 320, 200, LATCH);
	ktap_eq(status(0), TSR_DISPLAY_STATUS_ON__MASK | TSR_DISPLAY_STATUS_PENDING__MASK);
	set_size(2, 16, 16, LATCH);
	ktap_eq(status(2), TSR_DISPLAY_STATUS_BAD__MASK);
	bench_advance(b, 20000000);
	set_size(2, 16, 16, LATCH);
	ktap_eq(status(2), TSR_DISPLAY_STATUS_ON__MASK);
	set_size(0, 640, 481, LATCH);
	ktap_ok(status(0) & TSR_DISPLAY_STATUS_BAD__MASK);
	/* a snapshot adds none */
	tsr_gpu_pause(b->gpu);
	size = tsr_gpu_save(b->gpu, saved, 1 << 20);
	b->config.head_pixels = 640 * 480;
	bench_replace(b);
	tsr_gpu_pause(b->gpu);
	ktap_ok(!tsr_gpu_load(b->gpu, saved, size, err, sizeof(err)));
	ktap_ok(strstr(err, "pixels"));
	tsr_gpu_resume(b->gpu);
	free(saved);
	bench_free(b);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("a frame is the same in one piece and row by row", pieces);
	ktap_run("[SYS7] a head stops within STOP_WORK", largest);
	ktap_run("[SYS10] paused, invalidated and reset in the middle of frames", requests);
	ktap_run("heads that are always busy take turns", turns);
	ktap_run("a queue and a frame share the only thread", queue_beside);
	ktap_run("a head that is off writes no memory", off_while_writing);
	ktap_run("a head that is off reads no memory", off_while_reading);
	ktap_run("memory of frames, and none of heads that are off", memory);
	ktap_run("a frame that is read while its head goes off", memory_lent);
	ktap_run("pixels of all heads together", bound);
	return ktap_finish();
}
