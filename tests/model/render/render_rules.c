/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Rules of RENDER, its list, FRAME and RENDER_TARGET: each at its limit and one beyond, with the
 * word that the fault names.
 */
#include <string.h>

#include "ktap.h"
#include "tiles.h"

/* Where tiles.c has what a frame is made of. */
#define STREAM (BINNER_FRAME + 0x2000)
#define LIST (BINNER_FRAME + 0x1800)
#define TARGET(n) (BINNER_FRAME + 0x400 + 64 * (n))

#define WIDTH 100			/* 7 tiles */
#define HEIGHT 70			/* 5 tiles */

static struct tsr_list_tiles part;

/* A frame with depth and stencil, nothing drawn. */
static struct tiles *begin(void)
{
	static const struct tsr_config config = { .no_inline = true };
	struct tiles *t = tiles_new(WIDTH, HEIGHT, &config);

	t->f->frame.heap = 0;
	t->f->frame.layers = 2;
	t->f->frame.has_stencil = true;
	t->f->frame.samples_log2 = 2;
	t->draw = false;
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA8_UNORM, 4);
	tiles_target(t, TILES_DEPTH, TSR_PIXEL_FORMAT_Z24X8_UNORM, 4);
	tiles_target(t, TILES_STENCIL, TSR_PIXEL_FORMAT_S8, 1);
	part = (struct tsr_list_tiles){ .x1 = 6, .y1 = 4, .layer1 = 1 };
	t->part = &part;
	return t;
}

/* Render it: BAD_VALUE or so at @va, or no fault at all if @code is 0. */
static void expect(struct tiles *t, enum tsr_fault code, uint64_t va)
{
	bench_run(t->f->b, 60);
	ktap_eq(bench_fault(&t->queue), code);
	if (code)
		ktap_eq(bench_queue_reg64(&t->queue, TSR_QUEUE_FAULT_ADDR__OFFSET), va);
	else
		ktap_eq(bench_state(&t->queue), TSR_QUEUE_STATE_IDLE);
	tiles_free(t);
}

/* ---- LIST_TILES ------------------------------------------------------------------------------ */

static void test_tiles(void)
{
	static const struct {
		struct tsr_list_tiles tiles;
		unsigned int qword;		/* that is at fault; 0: none */
	} rows[] = {
		{ { .x0 = 0, .x1 = 6, .y0 = 0, .y1 = 4, .layer1 = 1 }, 0 },
		{ { .x0 = 6, .x1 = 6, .y0 = 4, .y1 = 4, .layer0 = 1, .layer1 = 1 }, 0 },
		{ { .x0 = 0, .x1 = 7, .y0 = 0, .y1 = 4 }, 1 },
		{ { .x0 = 0, .x1 = 6, .y0 = 0, .y1 = 5 }, 1 },
		{ { .x0 = 3, .x1 = 2, .y0 = 0, .y1 = 4 }, 1 },
		{ { .x0 = 0, .x1 = 6, .y0 = 3, .y1 = 2 }, 1 },
		{ { .x0 = 7, .x1 = 7, .y0 = 4, .y1 = 4 }, 1 },
		{ { .x1 = 6, .y1 = 4, .layer1 = 2 }, 2 },
		{ { .x1 = 6, .y1 = 4, .layer0 = 1, .layer1 = 0 }, 2 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tiles *t = begin();

		part = rows[i].tiles;
		tiles_submit(t);
		expect(t, rows[i].qword ? TSR_FAULT_BAD_VALUE : TSR_FAULT_NONE,
		       LIST + 8 * rows[i].qword);
	}
}

/* The list of a tile: where it is and how long. */
static void test_tile_list(void)
{
	static const struct {
		unsigned int qword;
		uint64_t value;
		enum tsr_fault code;
	} rows[] = {
		{ 3, BINNER_FRAME + 0x1000 + 8, TSR_FAULT_ALIGNMENT },
		{ 3, BINNER_FRAME + 0x1000 + 32, TSR_FAULT_ALIGNMENT },
		{ 4, 0, TSR_FAULT_BAD_VALUE },
		{ 4, 12, TSR_FAULT_ALIGNMENT },
		{ 4, TSR_STREAM_SIZE_MAX + 8, TSR_FAULT_BAD_VALUE },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tiles *t = begin();

		tiles_submit(t);
		((uint64_t *)(t->f->list + (LIST - BINNER_LIST)))[rows[i].qword] = rows[i].value;
		expect(t, rows[i].code, LIST + 8 * rows[i].qword);
	}
}

/* ---- RENDER ---------------------------------------------------------------------------------- */

static void test_render(void)
{
	static const struct {
		unsigned int qword;
		uint64_t value;
		enum tsr_fault code;
	} rows[] = {
		{ 1, LIST, TSR_FAULT_NONE },
		{ 1, LIST + 32, TSR_FAULT_ALIGNMENT },
		{ 2, TSR_STREAM_SIZE_MAX, TSR_FAULT_NONE },	/* the command halts */
		{ 2, TSR_STREAM_SIZE_MAX + 8, TSR_FAULT_BAD_VALUE },
		{ 2, 0, TSR_FAULT_BAD_VALUE },
		{ 2, 52, TSR_FAULT_ALIGNMENT },
		{ 3, BINNER_FRAME + 32, TSR_FAULT_ALIGNMENT },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tiles *t = begin();

		tiles_submit(t);
		((uint64_t *)(t->f->list + (STREAM - BINNER_LIST)))[rows[i].qword] = rows[i].value;
		expect(t, rows[i].code, STREAM + 8 * rows[i].qword);
	}
}

/* Packets of tiles, and those of the binner, are not for the list of a frame. */
static void test_packets(void)
{
	static const uint64_t words[] = {
		TSR_OP_TILE_DRAW | 1 << 8, TSR_OP_TILE_STORE | 1 << 8 | 1 << 16,
		TSR_OP_NOP | 1 << 8,
	};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct tiles *t = begin();

		tiles_submit(t);
		memcpy(t->f->list + (LIST - BINNER_LIST), &words[i], 8);
		bench_run(t->f->b, 60);
		ktap_ok(bench_fault(&t->queue));
		ktap_eq(bench_queue_reg64(&t->queue, TSR_QUEUE_FAULT_ADDR__OFFSET), LIST);
		tiles_free(t);
	}
}

/* Frames have so many tiles at most, and a heap that lies in the address space. */
static void test_frame(void)
{
	static const struct {
		uint32_t width, height, layers;
		uint64_t heap, heap_size;
		unsigned int qword;		/* that is at fault */
		enum tsr_fault code;
	} rows[] = {
		{ 16384, 16384, 1, 0, 0, 0, TSR_FAULT_NONE },
		{ 16384, 16384, 2, 0, 0, TSR_FRAME_WIDTH__QWORD, TSR_FAULT_BAD_VALUE },
		{ 100, 70, 1, 0, TSR_HEAP_SIZE_MAX, 0, TSR_FAULT_NONE },
		{ 100, 70, 1, 0, TSR_HEAP_SIZE_MAX + 0x10000ull, TSR_FRAME_HEAP_SIZE__QWORD,
		  TSR_FAULT_BAD_VALUE },
		{ 100, 70, 1, -0x10000ull, 0x10000, TSR_FRAME_HEAP_SIZE__QWORD,
		  TSR_FAULT_BAD_VALUE },
		{ 100, 70, 1, -0x20000ull, 0x30000, TSR_FRAME_HEAP_SIZE__QWORD,
		  TSR_FAULT_BAD_VALUE },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tiles *t = begin();

		part = (struct tsr_list_tiles){ 0 };
		t->f->frame.width = rows[i].width;
		t->f->frame.height = rows[i].height;
		t->f->frame.layers = rows[i].layers;
		t->f->frame.heap = rows[i].heap;
		t->f->frame.heap_size = rows[i].heap_size;
		tiles_submit(t);
		expect(t, rows[i].code, BINNER_FRAME + 8 * rows[i].qword);
	}
}

/* ---- RENDER_TARGET --------------------------------------------------------------------------- */

/* Samples in memory are all of the frame's, or one; of a target with tags all. */
static void test_samples(void)
{
	for (unsigned int samples = 0; samples < 5; samples++) {
		for (unsigned int i = 0; i < 2 * 3; i++) {
			static const unsigned int which[] = { 0, TILES_DEPTH, TILES_STENCIL };
			const unsigned int n = which[i % 3];
			const bool tags = i / 3 && n != TILES_STENCIL;
			struct tiles *t = begin();

			t->target[n].samples_log2 = samples;
			t->target[n].tags = tags ? TILES_TARGETS + (7u << 20) : 0;
			tiles_submit(t);
			if (samples == 2 || (!samples && !tags))
				expect(t, TSR_FAULT_NONE, 0);
			else
				expect(t, TSR_FAULT_BAD_VALUE,
				       TARGET(n) + 8 * (samples && samples != 2 ?
						TSR_RENDER_TARGET_SAMPLES_LOG2__QWORD :
						TSR_RENDER_TARGET_TAGS__QWORD));
		}
	}
}

/* Which formats depth and stencil have. */
static void test_formats(void)
{
	for (unsigned int format = 0; format < 64; format++) {
		const bool depth = format == TSR_PIXEL_FORMAT_Z16_UNORM ||
				   format == TSR_PIXEL_FORMAT_Z24X8_UNORM ||
				   format == TSR_PIXEL_FORMAT_R32F;
		const bool stencil = format == TSR_PIXEL_FORMAT_S8 ||
				     format == TSR_PIXEL_FORMAT_X24S8;
		struct tiles *t = begin();

		t->target[TILES_DEPTH].format = format;
		tiles_submit(t);
		bench_run(t->f->b, 60);
		ktap_eq(!bench_fault(&t->queue), depth);
		tiles_free(t);
		t = begin();
		t->target[TILES_STENCIL].format = format;
		if (format == TSR_PIXEL_FORMAT_X24S8)
			tiles_target(t, TILES_STENCIL, format, 4);
		tiles_submit(t);
		bench_run(t->f->b, 60);
		if (!ktap_eq(!bench_fault(&t->queue), stencil))
			ktap_note("stencil of format %u", format);
		tiles_free(t);
	}
}

/* Stencil has no tags, nor has depth in whose words stencil may be. */
static void test_tags(void)
{
	for (unsigned int i = 0; i < 8; i++) {
		const bool four = i & 1, depth = i & 2, stencil = i & 4;
		struct tiles *t = begin();

		if (four)
			tiles_target(t, TILES_STENCIL, TSR_PIXEL_FORMAT_X24S8, 4);
		t->target[TILES_DEPTH].tags = depth ? TILES_TARGETS + (7u << 20) : 0;
		t->target[TILES_STENCIL].tags = stencil ? TILES_TARGETS + (7u << 20) : 0;
		tiles_submit(t);
		expect(t, stencil || (depth && four) ? TSR_FAULT_BAD_VALUE : TSR_FAULT_NONE,
		       TARGET(TILES_STENCIL) + 8 * TSR_RENDER_TARGET_TAGS__QWORD);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[CP3] [BIN6] LIST_TILES names tiles and layers of the frame", test_tiles);
	ktap_run("[CP3] [BIN6] the list of a tile has an address and a size", test_tile_list);
	ktap_run("[CP3] RENDER's list and frame", test_render);
	ktap_run("[CP3] packets that are not for the list of a frame", test_packets);
	ktap_run("[CP3] [BIN5] how many tiles a frame has, where its heap ends", test_frame);
	ktap_run("[CP3] [OM3] samples that a target has in memory", test_samples);
	ktap_run("[CP3] [ZS1] formats of depth and stencil", test_formats);
	ktap_run("[CP3] [ZS6] tags of depth and stencil", test_tags);
	return ktap_finish();
}
