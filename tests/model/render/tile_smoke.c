/* SPDX-License-Identifier: MIT */
/* RENDER, end to end: tiles cleared, drawn, stored; what the list and FRAME can say wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "ktap.h"
#include "tiles.h"

/* A triangle over most of the frame, depth growing to the right. */
static void corner(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	static const float at[3][2] = { { -0.9f, -0.9f }, { 0.9f, -0.9f }, { -0.9f, 0.9f } };

	(void)f;
	(void)instance;
	record[0] = at[vertex % 3][0];
	record[1] = at[vertex % 3][1];
	record[2] = (at[vertex % 3][0] + 1) / 2;
	record[3] = 1;
}

static void prepare(struct tiles *t)
{
	t->f->position = corner;
	t->f->draw.depth_test = t->f->draw.depth_write = true;
	t->f->draw.depth_function = TSR_COMPARE_FUNCTION_LESS;
	binner_again(t->f);
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3);
	t->target[0].clear_0 = binner_bits(1);
	t->target[0].clear_2 = binner_bits(0.5f);
}

static void picture(void)
{
	struct tiles *t = tiles_new(100, 70, NULL);
	unsigned int covered = 0, wrong = 0;

	prepare(t);
	ktap_ok(tiles_run(t));
	for (unsigned int y = 0; y < 70; y++) {
		for (unsigned int x = 0; x < 100; x++) {
			double px = (x + 0.5) / 50 - 1, py = (y + 0.5) / 35 - 1;
			bool in = px > -0.9 && py > -0.90001 && px + py < 0;
			double want = in ? (px + 1) / 2 : 1;
			uint32_t color;

			memcpy(&color, tiles_texel(t, 0, x, y, 0), 4);
			wrong += color != 0x008000ff;
			covered += tiles_depth(t, x, y, 0) != 1;
			wrong += fabs(px + py) > 0.01 &&
				 fabs(tiles_depth(t, x, y, 0) - want) > 0.0001;
		}
	}
	ktap_eq(wrong, 0);
	ktap_ok(covered > 2000);
	ktap_eq(tiles_counter(t, TSR_QUEUE_COUNTER_TILES), 7 * 5);
	ktap_eq(tiles_counter(t, TSR_QUEUE_COUNTER_TILE_STORE_BYTES), 100 * 70 * 8);
	tiles_free(t);
}

/* ---- Depth of lines -------------------------------------------------------------------------- */

#define NEAR_DEPTH 0x1p-60f

static struct {
	bool upright, reversed;
} line;

/* From pixel 4 to pixel 36 in the middle of row or column 16, from next to no depth to 1. */
static void line_end(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	const bool far = (vertex == 1) != line.reversed;

	(void)f;
	(void)instance;
	record[line.upright] = (far ? 36.5f : 4.5f) / 32 - 1;
	record[!line.upright] = 16.5f / 32 - 1;
	record[2] = far ? 1 : NEAR_DEPTH;
	record[3] = 1;
}

/* Depth @along and @across the line, in pixels from where it begins. */
static float line_depth(struct tiles *t, unsigned int along, unsigned int across)
{
	unsigned int a = 4 + along, b = 15 + across;

	return tiles_depth(t, line.upright ? b : a, line.upright ? a : b, 0);
}

/* It is that of the nearest place, added to the lesser end's: nothing of that one is lost. */
static void depth_of_lines(void)
{
	for (unsigned int n = 0; n < 4; n++) {
		struct tiles *t = tiles_new(64, 64, NULL);

		line.upright = n & 1;
		line.reversed = n & 2;
		prepare(t);
		t->f->position = line_end;
		t->f->draw.depth_function = TSR_COMPARE_FUNCTION_ALWAYS;
		t->f->draw.line_width = binner_bits(3);
		binner_again(t->f);
		binner_states(t->f);
		binner_arrays(t->f, TSR_TOPOLOGY_LINES, 2);
		t->target[0].clear_2 = binner_bits(0.5f);
		ktap_ok(tiles_run(t));
		for (unsigned int across = 0; across < 3; across++) {
			for (unsigned int along = 0; along < 32; along++) {
				float want = along ? (float)along / 32 : NEAR_DEPTH;
				float got = line_depth(t, along, across);

				if (!ktap_ok(got == want))
					ktap_note("%u, %u: %a is not %a", along, across, got, want);
			}
		}
		tiles_free(t);
	}
}

/* Pixels of row 16, whose ends are as far from no depth; not a power of two, so sums round. */
#define EVEN_LINE 26

static float even_depth;

static void even_end(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	const bool far = (vertex == 1) != line.reversed;

	(void)f;
	(void)instance;
	record[0] = (far ? 4.5f + EVEN_LINE : 4.5f) / 32 - 1;
	record[1] = 16.5f / 32 - 1;
	record[2] = far ? even_depth : -even_depth;
	record[3] = 1;
}

/* The line's depth at a pixel if the rest is added to the depth of its end @first. */
static float even_want(unsigned int along, bool first)
{
	const double size = EVEN_LINE * 256, z = first != line.reversed ? -even_depth : even_depth;
	const unsigned int from = z < 0 ? along : EVEN_LINE - along;

	return (float)(z + size * (from * 256) * (-2 * z / (size * size)));
}

/* Two ends with depths of one magnitude: the first counts, which shows where they cancel. */
static void depth_of_even_lines(void)
{
	unsigned int tells = 0;

	for (unsigned int n = 0; n < 16; n++) {
		struct tiles *t = tiles_new(64, 64, NULL);

		even_depth = (float)((n / 2 + 1) * 0.99 / 64);
		line.reversed = n & 1;
		prepare(t);
		t->f->position = even_end;
		t->f->draw.depth_function = TSR_COMPARE_FUNCTION_ALWAYS;
		t->f->draw.depth_minus_one = true;
		t->f->viewport[0].near = binner_bits(-1);
		binner_again(t->f);
		binner_states(t->f);
		binner_arrays(t->f, TSR_TOPOLOGY_LINES, 2);
		ktap_ok(tiles_run(t));
		for (unsigned int along = 0; along < EVEN_LINE; along++) {
			float want = even_want(along, true);
			float got = tiles_depth(t, 4 + along, 16, 0);

			tells += want != even_want(along, false);
			if (!ktap_ok(got == want))
				ktap_note("%u, %u: %a is not %a", n, along, got, want);
		}
		tiles_free(t);
	}
	ktap_ok(tells);
}

/* A triangle of the first tile alone. */
static void small(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	corner(f, vertex, instance, record);
	for (unsigned int i = 0; i < 2; i++)
		record[i] = -1 + (record[i] + 1) / 16;
}

/* Nothing is cleared: only a tile with something in it is moved, unless it is resolved. */
static void untouched(void)
{
	for (unsigned int resolved = 0; resolved < 2; resolved++) {
		struct tiles *t = tiles_new(100, 70, NULL);
		uint64_t bytes = resolved ? 16 * 16 * 4 * 4 + 100 * 70 * 4 : 16 * 16 * 8;
		unsigned int changed = 0, beyond = 0;

		t->f->frame.samples_log2 = 2 * resolved;
		tiles_target(t, TILES_DEPTH, TSR_PIXEL_FORMAT_R32F, 4);
		prepare(t);
		t->f->position = small;
		t->clear = 0;
		t->load = TILES_ALL;
		memset(t->memory, 0x42, 3 * (size_t)TILES_TARGET_SIZE);
		ktap_ok(tiles_run(t));
		for (unsigned int n = 0; n < 100 * 70; n++) {
			bool in = n % 100 < 16 && n / 100 < 16;
			uint32_t texel;

			memcpy(&texel, tiles_texel(t, TILES_DEPTH, n % 100, n / 100, 0), 4);
			changed += texel != 0x42424242 && in;
			beyond += texel != 0x42424242 && !in;
		}
		ktap_ok(changed > 5);
		ktap_eq(beyond, 0);
		ktap_eq(tiles_counter(t, TSR_QUEUE_COUNTER_TILE_LOAD_BYTES), bytes);
		ktap_eq(tiles_counter(t, TSR_QUEUE_COUNTER_TILE_STORE_BYTES), bytes);
		tiles_free(t);
	}
}

/* LIST_TILES names some tiles of some layers: each of them is cleared, and nothing else. */
static void some_tiles(void)
{
	static const struct tsr_list_tiles parts[] = {
		{ .x0 = 1, .x1 = 3, .y0 = 2, .y1 = 3, .layer0 = 1, .layer1 = 2 },
		{ .x0 = 2, .x1 = 2, .y0 = 1, .y1 = 4, .layer0 = 0, .layer1 = 2 },
		{ .x0 = 0, .x1 = 6, .y0 = 4, .y1 = 4, .layer0 = 2, .layer1 = 2 },
		{ .x0 = 6, .x1 = 6, .y0 = 0, .y1 = 1, .layer0 = 1, .layer1 = 1 },
	};

	for (unsigned int i = 0; i < 2 * sizeof(parts) / sizeof(parts[0]); i++) {
		const struct tsr_list_tiles *p = &parts[i / 2];
		const struct tsr_config config = { .cores = 1 + i % 2 * 2 };
		struct tiles *t = tiles_new(100, 70, &config);
		unsigned int wrong = 0;

		t->f->frame.layers = 3;
		t->draw = false;
		t->part = p;
		prepare(t);
		memset(t->memory, 0x42, TILES_TARGET_SIZE);
		ktap_ok(tiles_run(t));
		for (unsigned int n = 0; n < 3 * 100 * 70; n++) {
			unsigned int x = n % 100 / 16, y = n / 100 % 70 / 16, l = n / 7000;
			bool in = x >= p->x0 && x <= p->x1 && y >= p->y0 && y <= p->y1 &&
				  l >= p->layer0 && l <= p->layer1;
			uint32_t texel;

			memcpy(&texel, (char *)tiles_texel(t, 0, n % 100, n / 100 % 70, 0) +
					       (size_t)t->target[0].layer_stride * l, 4);
			wrong += texel != (in ? 0x008000ff : 0x42424242);
		}
		if (!ktap_eq(wrong, 0))
			ktap_note("part %u", i);
		ktap_eq(tiles_counter(t, TSR_QUEUE_COUNTER_TILES),
			(p->x1 - p->x0 + 1) * (p->y1 - p->y0 + 1) * (p->layer1 - p->layer0 + 1));
		tiles_free(t);
	}
}

/* Tile memory can be filled to its last byte; a frame that needs more is refused. */
static void filled(void)
{
	static const struct {
		unsigned int format, bytes, fault;
	} colors[] = {
		{ TSR_PIXEL_FORMAT_RGBA8_UNORM, 4, TSR_FAULT_NONE },
		{ TSR_PIXEL_FORMAT_RGBA16F, 8, TSR_FAULT_BAD_VALUE },
	};

	for (unsigned int i = 0; i < 2; i++) {
		struct tiles *t = tiles_new(64, 64, NULL);

		t->f->frame.tile_shift = TSR_TILE_SHIFT_MAX;
		t->f->frame.samples_log2 = 2;
		tiles_target(t, 0, colors[i].format, colors[i].bytes);
		tiles_target(t, TILES_DEPTH, TSR_PIXEL_FORMAT_R32F, 4);
		ktap_eq((8 + colors[i].bytes) << 14 > TSR_TILE_BUFFER_BYTES, i);
		prepare(t);
		ktap_eq(tiles_run(t), !i);
		ktap_eq(bench_fault(&t->queue), colors[i].fault);
		tiles_free(t);
	}
}

/* A hash of all targets. */
static uint64_t hash(const struct tiles *t)
{
	uint64_t h = 0xcbf29ce484222325;

	for (unsigned int i = 0; i < 3; i++) {
		for (unsigned int n = 0; n < 100 * 70 * 4; n++)
			h = (h ^ t->memory[i * TILES_TARGET_SIZE + n]) * 0x100000001b3;
	}
	return h;
}

/* Threads, cores, sizes of tiles, bursts of one clause: all the same. */
static void same(void)
{
	uint64_t want = 0;

	for (unsigned int n = 0; n < 8; n++) {
		struct tsr_config config = { .threads = n == 1 ? 3 : 0,
					     .cores = n == 2 ? 1 : n == 3 ? 32 : 0 };
		struct tiles *t = tiles_new(100, 70, &config);

		prepare(t);
		if (n >= 4)
			t->f->frame.tile_shift = n == 7 ? 4 : n - 1;
		t->slow = n == 7;
		ktap_ok(tiles_run(t));
		want = n ? want : hash(t);
		ktap_eq(hash(t), want);
		tiles_free(t);
	}
}

#define COUNTED (BINNER_FRAME + 0x4000)	/* code; its SHADER_PROGRAM */

/* Draws of one state that differ in nothing but a query: each query has what is its own. */
static void queries(enum tsr_query kind)
{
	struct tiles *t = tiles_new(16, 16, NULL);
	uint64_t word[TSR_LIST_QUERY_QWORDS], *seen = (uint64_t *)(void *)t->f->data;
	const unsigned int at = kind == TSR_QUERY_STATISTICS ?
		TSR_PIPELINE_STATISTICS_FRAGMENT_INVOCATIONS__QWORD : 0;

	memset(seen, 0, 64 * 4);
	tiles_program(t, COUNTED, TILES_FINISH);
	tsr_pack_shader_program((uint64_t *)(void *)(t->f->list - BINNER_LIST + COUNTED + 0x100),
				&(struct tsr_shader_program){ .code = COUNTED });
	t->f->shader.fragment = COUNTED + 0x100;
	t->f->shader.side_effects = true;	/* so that it runs */
	t->f->position = corner;
	binner_again(t->f);
	binner_states(t->f);
	for (unsigned int i = 0; i < 4; i++) {
		/* the third draw is nobody's */
		tsr_pack_list_query(word, &(struct tsr_list_query){
			.kind = kind, .addr = i == 2 ? 0 : BINNER_DATA + 64 * i });
		binner_packet(t->f, word, TSR_LIST_QUERY_QWORDS);
		binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3);
	}
	ktap_ok(tiles_run(t));
	ktap_ok(kind == TSR_QUERY_ANY_SAMPLES ? seen[at] == 1 : seen[at] > 50);
	ktap_eq(seen[8 + at], seen[at]);
	ktap_eq(seen[16 + at], 0);
	ktap_eq(seen[24 + at], seen[at]);
	tiles_free(t);
}

static void queries_change(void)
{
	queries(TSR_QUERY_SAMPLES);
	queries(TSR_QUERY_ANY_SAMPLES);
	queries(TSR_QUERY_STATISTICS);
}

/* ---- Tags ------------------------------------------------------------------------------------ */

#define TAGS (TILES_TARGETS + TILES_TARGET_SIZE - (1u << 16))	/* of color; then of depth */

/* The picture with so many samples, a format of depth, with or without tags. */
static struct tiles *with_tags(unsigned int samples_log2, bool fixed, unsigned int debug, bool tags)
{
	struct tsr_config config = { .gfx_debug = debug };
	struct tiles *t = tiles_new(100, 70, &config);

	t->f->frame.samples_log2 = samples_log2;
	prepare(t);
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA8_UNORM, 4);
	tiles_target(t, TILES_DEPTH, fixed ? TSR_PIXEL_FORMAT_Z24X8_UNORM : TSR_PIXEL_FORMAT_R32F,
		     4);
	t->target[0].clear_0 = t->target[TILES_DEPTH].clear_0 = binner_bits(1);
	t->target[0].tags = tags ? TAGS : 0;
	t->target[TILES_DEPTH].tags = tags ? TAGS + TILES_TARGET_SIZE : 0;
	memset(t->memory, 0xaa, 3 * TILES_TARGET_SIZE);
	ktap_ok(tiles_run(t));
	return t;
}

/* Samples that differ. */
static unsigned int differ(struct tiles *a, struct tiles *b)
{
	unsigned int samples = 1u << a->f->frame.samples_log2, count = 0;

	for (unsigned int n = 0; n < 100 * 70 * samples; n++) {
		unsigned int x = n % 100, y = n / 100 % 70, s = n / 7000;

		count += memcmp(tiles_texel(a, 0, x, y, s), tiles_texel(b, 0, x, y, s), 4) != 0;
		count += memcmp(tiles_texel(a, TILES_DEPTH, x, y, s),
				tiles_texel(b, TILES_DEPTH, x, y, s), 3) != 0;
	}
	return count;
}

static void compressed(unsigned int samples_log2, bool fixed, unsigned int debug)
{
	struct tiles *plain = with_tags(samples_log2, fixed, 0, false);
	struct tiles *t = with_tags(samples_log2, fixed, debug, true);
	uint64_t clear = tiles_counter(t, TSR_QUEUE_COUNTER_BLOCKS_FAST_CLEAR);
	uint64_t planes = tiles_counter(t, TSR_QUEUE_COUNTER_BLOCKS_COMPRESSED);
	uint64_t stored = tiles_counter(t, TSR_QUEUE_COUNTER_TILE_STORE_BYTES);
	uint64_t whole = tiles_counter(plain, TSR_QUEUE_COUNTER_TILE_STORE_BYTES);

	ktap_ok(debug & TSR_GFX_NO_FAST_CLEAR ? !clear : clear > 100);
	ktap_ok(debug & TSR_GFX_NO_COMPRESSION ? !planes : !fixed || planes > 10);
	if (debug == (TSR_GFX_NO_FAST_CLEAR | TSR_GFX_NO_COMPRESSION))
		ktap_eq(stored, whole);
	else
		ktap_ok(stored < (debug ? whole : whole * 3 / 4));
	/* on in a pass that loads and draws the same again, then as samples */
	t->clear = 0;
	t->load = TILES_ALL;
	ktap_ok(tiles_render(t));
	t->draw = false;
	t->target[0].expand = t->target[TILES_DEPTH].expand = true;
	ktap_ok(tiles_render(t));
	ktap_eq(differ(plain, t), 0);
	for (unsigned int i = 0; i < 13 * 9; i++)
		ktap_eq(t->memory[TAGS - TILES_TARGETS + i], TSR_TARGET_TAG_RAW);
	tiles_free(plain);
	tiles_free(t);
}

static void tags(void)
{
	for (unsigned int i = 0; i < 6; i++)
		compressed(i / 2, i & 1, 0);
	for (unsigned int debug = 0; debug < 3; debug++)
		compressed(2, true, debug << 2 | (debug == 2 ? 4 : 0));
	compressed(0, true, TSR_GFX_NO_FAST_CLEAR);
}

static const uint64_t *state_at(const struct tiles *t, unsigned int n)
{
	return (const uint64_t *)(t->memory + (TAGS - TILES_TARGETS) + 0x8000 + n * 64ull);
}

/* TAG_STATE of both targets: the texel of clear blocks, and true if there are planes. */
static void tag_state(bool wanted, unsigned int depth, uint64_t clear, bool planes)
{
	const struct tsr_config config = { 0 };
	struct tiles *t = tiles_new(100, 70, &config);
	const uint64_t none = 0xaaaaaaaaaaaaaaaa;

	prepare(t);
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA16F, 8);
	tiles_target(t, TILES_DEPTH, depth, depth == TSR_PIXEL_FORMAT_Z16_UNORM ? 2 : 4);
	for (unsigned int n = 0; n < 2; n++) {
		struct tsr_render_target *target = &t->target[n ? TILES_DEPTH : 0];

		target->clear_0 = binner_bits(n ? 0.75f : 0.5f);
		target->clear_3 = binner_bits(1);
		target->tags = TAGS + n * 0x1000;
		target->tag_state = wanted ? TAGS + 0x8000 + n * 64 : 0;
	}
	memset(t->memory, 0xaa, 3 * TILES_TARGET_SIZE);
	ktap_ok(tiles_run(t));
	ktap_eq(state_at(t, 0)[0], wanted ? 0x3c00000000003800 : none);
	ktap_eq(state_at(t, 0)[1], wanted ? 0 : none);
	ktap_eq(state_at(t, 0)[2], wanted ? 0 : none);
	ktap_eq(state_at(t, 0)[3], none);
	ktap_eq(state_at(t, 1)[0], wanted ? clear : none);
	ktap_eq(state_at(t, 1)[1], wanted ? 0 : none);
	ktap_eq(state_at(t, 1)[2], wanted ? planes : none);
	tiles_free(t);
}

static void tag_states(void)
{
	tag_state(true, TSR_PIXEL_FORMAT_R32F, 0x3f400000, true);
	tag_state(true, TSR_PIXEL_FORMAT_Z24X8_UNORM, 0xbfffff, true);
	tag_state(true, TSR_PIXEL_FORMAT_Z16_UNORM, 0xbfff, false);
	tag_state(false, TSR_PIXEL_FORMAT_R32F, 0, false);
}

/* The byte beside a depth is left alone, in tiles nothing was drawn to as well. */
static void beside_depth(void)
{
	for (unsigned int samples_log2 = 0; samples_log2 < 2; samples_log2++) {
		struct tiles *t = with_tags(samples_log2, true, 0, false);
		unsigned int drawn = 0, wrong = 0;
		static uint8_t tile[100 * 70];	/* of 16 by 16: whether something was drawn */

		memset(tile, 0, sizeof(tile));
		for (unsigned int n = 0; n < 100u * 70 << samples_log2; n++) {
			unsigned int x = n % 100, y = n / 100 % 70;
			const uint8_t *texel = tiles_texel(t, TILES_DEPTH, x, y, n / 7000);

			tile[y / 16 * 7 + x / 16] |= !!memcmp(texel, "\xff\xff\xff", 3);
			wrong += texel[3] != 0xaa;
		}
		for (unsigned int i = 0; i < 5 * 7; i++)
			drawn += tile[i];
		ktap_ok(drawn > 2 && drawn < 33);
		ktap_eq(wrong, 0);
		tiles_free(t);
	}
}

/* ---- Stopping -------------------------------------------------------------------------------- */

/* The device is saved, thrown away, loaded. */
static void reload(struct tiles *t)
{
	struct bench *b = t->f->b;
	char err[200];
	size_t size;
	void *image;

	tsr_gpu_pause(b->gpu);
	size = tsr_gpu_save(b->gpu, NULL, 0);
	image = malloc(size);
	tsr_gpu_save(b->gpu, image, size);
	bench_replace(b);
	tsr_gpu_pause(b->gpu);
	if (!tsr_gpu_load(b->gpu, image, size, err, sizeof(err)))
		ktap_fail("%s", err);
	tsr_gpu_resume(b->gpu);
	free(image);
}

/* Now and then: a tile begins again each time, so that it would never end otherwise. */
static unsigned int reloads;
static void sometimes(struct tiles *t)
{
	static unsigned int calls;

	if (++calls % 151)
		return;
	reload(t);
	reloads++;
}

static void suspend(struct tiles *t)
{
	uint64_t cycles;

	bench_control(&t->queue, TSR_QUEUE_OP_SUSPEND);
	ktap_eq(bench_state(&t->queue), TSR_QUEUE_STATE_SUSPENDED);
	cycles = tiles_counter(t, TSR_QUEUE_COUNTER_CYCLES);
	tsr_gpu_pause(t->f->b->gpu);
	tsr_gpu_drain(t->f->b->gpu);
	tsr_gpu_resume(t->f->b->gpu);
	ktap_eq(bench_state(&t->queue), TSR_QUEUE_STATE_SUSPENDED);
	ktap_eq(tiles_counter(t, TSR_QUEUE_COUNTER_CYCLES), cycles);
	bench_control(&t->queue, TSR_QUEUE_OP_RESUME);
}

static void stopping(void)
{
	uint64_t want = 0;

	for (unsigned int n = 0; n < 3; n++) {
		struct tiles *t = tiles_new(100, 70, NULL);

		prepare(t);
		t->slow = n;
		t->disturb = n == 1 ? sometimes : suspend;
		ktap_ok(tiles_run(t));
		want = n ? want : hash(t);
		ktap_eq(hash(t), want);
		ktap_eq(tiles_counter(t, TSR_QUEUE_COUNTER_TILE_STORE_BYTES), 100 * 70 * 8);
		tiles_free(t);
	}
	ktap_ok(reloads > 0);
}

/* Renders @steps steps of a frame without draws, or all of it; how many that was. */
static unsigned int some_steps(struct tiles *t, unsigned int steps)
{
	unsigned int n = 0;

	tiles_submit(t);
	while (n < steps && bench_state(&t->queue) != TSR_QUEUE_STATE_IDLE) {
		tsr_gpu_run(t->f->b->gpu, 1);
		n++;
	}
	return n;
}

/*
 * FRAME is another when a snapshot is loaded: tiles or layers that were to be rendered are not
 * there any more. As many as before are fine.
 */
static void smaller_frame(void)
{
	const struct tsr_config config = { .no_inline = true };
	unsigned int steps = UINT32_MAX;

	for (unsigned int n = 0; n < 5; n++) {
		struct tiles *t = tiles_new(400, 272, &config);
		struct tsr_frame frame;

		t->f->frame.layers = 2;
		t->f->frame.heap = 0;
		t->draw = false;
		prepare(t);
		steps = some_steps(t, steps) / (n ? 1 : 2);
		frame = t->f->frame;
		frame.width -= n == 2 ? 16 : 0;
		frame.height -= n == 3 ? 16 : 0;
		frame.layers -= n == 4;
		tsr_pack_frame((uint64_t *)(t->f->list + (BINNER_FRAME - BINNER_LIST)), &frame);
		ktap_eq(bench_state(&t->queue) == TSR_QUEUE_STATE_IDLE, !n);
		reload(t);
		bench_run(t->f->b, 60);
		if (!ktap_eq(bench_fault(&t->queue), n > 1 ? TSR_FAULT_BAD_VALUE : TSR_FAULT_NONE))
			ktap_note("%u", n);
		tiles_free(t);
	}
	ktap_ok(steps > 2);
}

/* RESET in the middle: the queue goes on with the next frame. */
static void reset(void)
{
	struct tiles *t = tiles_new(100, 70, NULL);

	prepare(t);
	ktap_ok(binner_bin(t->f));
	for (unsigned int n = 0; n < 60; n++) {
		tiles_submit(t);
		for (unsigned int i = 0; i < 5 * n; i++)
			tsr_gpu_run(t->f->b->gpu, 1);
		bench_control(&t->queue, TSR_QUEUE_OP_RESET);
		t->queue.wptr = 0;
		bench_enable(&t->queue, 0);
	}
	memset(t->memory, 0, 3 * TILES_TARGET_SIZE);
	ktap_ok(tiles_render(t));
	ktap_ok(tiles_depth(t, 20, 20, 0) > 0 && tiles_depth(t, 20, 20, 0) < 1);
	tiles_free(t);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[BIN5] [BIN6] [CP10] depth of a triangle, cleared colour, edges", picture);
	ktap_run("[ZS1] depth of lines is that of the nearest place", depth_of_lines);
	ktap_run("[ZS1] depth of lines begins at the first of two ends as near",
		 depth_of_even_lines);
	ktap_run("[BIN6] [CP10] tiles nobody draws to are not moved", untouched);
	ktap_run("[BIN6] [CP10] LIST_TILES names tiles and layers", some_tiles);
	ktap_run("[BIN6] [CP10] tile memory is filled, a frame that needs more is refused", filled);
	ktap_run("[RAST5] threads, cores, tiles of all sizes, small bursts", same);
	ktap_run("[OM7] a query that changes between draws of one state", queries_change);
	ktap_run("[ZS6] [OM3] tags: fast clear, uniform pixels, planes; loaded, drawn on, expanded",
		 tags);
	ktap_run("[MEM8] TAG_STATE as TILE_STORE leaves it", tag_states);
	ktap_run("[ZS1] [MEM8] the byte beside a depth", beside_depth);
	ktap_run("[SYS7] [SYS10] suspended at every step; saved, loaded now and then", stopping);
	ktap_run("[SYS7] a frame that is smaller when a snapshot is loaded", smaller_frame);
	ktap_run("[SYS10] RESET in the middle of a frame", reset);
	return ktap_finish();
}
