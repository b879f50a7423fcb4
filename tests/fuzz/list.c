/* SPDX-License-Identifier: MIT */
/*
 * Any control list to the binner: packets with fields that are mostly legal, states and frames with
 * fields that sometimes are not, indices and arguments of draws, positions of every kind of float.
 * Whatever comes of it, the engine's steps are bounded, faults lie where they can, and what a frame
 * that was binned leaves can be read to its end.
 *
 * Input: bytes that are used up one after the other by every choice; when there are no more, 0.
 */
#include <stdlib.h>
#include <string.h>

#include "binner.h"
#include "ktap.h"

#define STEPS_MAX 64			/* of 16384 units of work; a draw can ask for 2^64 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char fuzz_proves[] = "[CP3] ";

static unsigned long frames, primitives, points, emitted, streamed;

void fuzz_summary(void);

void fuzz_summary(void)
{
	ktap_note("%lu frames complete, %lu primitives in them, %lu points of patches, "
		  "%lu vertices emitted, %lu primitives streamed",
		  frames, primitives, points, emitted, streamed);
}

static const uint8_t *at;
static size_t left;

static uint64_t take(unsigned int bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes && left; i++, left--)
		value |= (uint64_t)*at++ << 8 * i;
	return value;
}

/* Mostly below @n; sometimes anything. */
static uint64_t number(uint64_t n)
{
	uint8_t how = take(1);

	if (how == 0xff)
		return take(8);
	if (how == 0xfe)
		return n;
	return how < 0xc0 ? how % (n ? n : 1) : take(4) % (n ? n : 1);
}

static uint64_t address(uint64_t align)
{
	uint64_t va = BINNER_DATA + (number(BINNER_DATA_SIZE) & ~(align - 1));

	return take(1) < 0xf8 ? va : number(UINT64_MAX);
}

static uint32_t any_float(void)
{
	static const float usual[] = { 0, 1, -1, .5f, 2, -0.0f, 1e-30f, 3e38f, 100000, -32768 };
	uint8_t how = take(1);

	if (how < 0x80)
		return binner_bits((float)take(2) / 32768 - 1);
	return how < 0xe0 ? binner_bits(usual[how % 10]) : (uint32_t)take(4);
}

static uint64_t seed;

/* Positions: by a hash of the vertex and the input. */
static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	uint64_t h = (vertex + 1315423911ull * instance + seed) * 0x9e3779b97f4a7c15ull;

	(void)f;
	for (unsigned int i = 0; i < 16; i++) {
		uint32_t bits;

		h ^= h >> 29;
		h *= 0xbf58476d1ce4e5b9ull;
		bits = h >> 32;
		if ((seed >> (i & 3) * 8 & 0xff) > (h & 0xff))
			memcpy(&record[i], &bits, 4);
		else
			record[i] = i == 3 ? 1 : (float)(int32_t)bits / (1u << 31);
	}
}

/* The program of all stages, which nobody runs, and its header. */
#define PROGRAM (BINNER_FRAME + 0x800)
#define HEADER (BINNER_FRAME + 0x900)

static int only = -1;			/* the topology that fits the state; -1: many do */

static void header(struct binner *f, unsigned int input)
{
	struct tsr_stage_header h = {
		.threads = take(1) % 33, .extra_threads = take(1) % 33,
		.independent = take(1) & 1, .patch_words = take(1) % 6,
		.imap_0 = UINT64_MAX, .omap_0 = UINT64_MAX, .omap_2 = UINT64_MAX,
		.omap_1 = take(8), .imap_1 = take(8), .input = input, .output = take(1) % 3,
		.streams = 1 | (take(1) > 0x80 ? take(1) & 15 : 0), .max_vertices = 1 + take(1) % 6,
	};

	tsr_pack_stage_header((uint64_t *)(f->list + (HEADER - BINNER_LIST)), &h);
	tsr_pack_shader_program((uint64_t *)(f->list + (PROGRAM - BINNER_LIST)),
				&(struct tsr_shader_program){ .header = HEADER });
}

#define TARGETS (BINNER_DATA + 0x8000)
#define STREAMED 0x10000u		/* bytes of a target */

/* Targets of stream-out, in memory that indices may be in, too. */
static void targets(struct binner *f)
{
	memset(f->data + 0x9000, 0, 8 * TSR_STREAM_OUT_TARGETS);
	for (unsigned int i = 0; i < TSR_STREAM_OUT_TARGETS; i++)
		tsr_pack_stream_target((uint64_t *)(f->data + 0x8000 + 32 * i),
				       &(struct tsr_stream_target){
			.base = address(4), .size = take(1) % 8 ? STREAMED : number(4096) % 4096,
			.stride = 64 + take(1) / 16 * 4, .counter = BINNER_DATA + 0x9000 + 8 * i });
}

/* Declare up to 16 entries at @va. */
static unsigned int declare(struct binner *f, uint64_t va)
{
	unsigned int n = take(1) & (take(1) ? 3 : 15);

	for (unsigned int i = 0; i < n; i++)
		tsr_pack_stream_entry((uint64_t *)(f->list + (va + 8 * i - BINNER_LIST)),
				      &(struct tsr_stream_entry){
			.word = take(1), .components = take(1) & 3, .target = take(1) & 3,
			.stream = take(1) > 0xfb, .offset = 4 * (take(1) % 13) });
	return n;
}

/*
 * The state at @va has GEOMETRY, behind its viewports: patches, if nothing is drawn; stream-out.
 */
static void geometry(struct binner *f, uint64_t va)
{
	const uint8_t how = take(1);
	const struct tsr_geometry_state g = {
		.patch_points = take(1) % 40, .declaration = va + 896,
		.entries = declare(f, va + 896), .domain = how & 1 ? PROGRAM : 0,
		.hull = (how & 3) == 3 || how == 2 ? PROGRAM : 0, .geometry = how & 8 ? PROGRAM : 0,
		.raster_stream = how & 8 && take(1) > 0xf0 ? 1 : 0, .shape = how % 3,
		.partitioning = how >> 4 & 3, .primitives = how & 64 ? 0 : how % 3 == 2 ? 1 : 2,
		.reversed = how & 1, .factor_0 = any_float(), .factor_1 = any_float(),
		.factor_2 = any_float(), .factor_3 = binner_bits(5), .factor_4 = binner_bits(9),
	};

	only = how & 1 ? TSR_TOPOLOGY_PATCHES : how & 8 ? TSR_TOPOLOGY_TRIANGLES : -1;
	header(f, take(1) < 0xf0 ? how & 1 ? g.primitives : 2 : take(1) % 6);
	f->shader.position = PROGRAM;
	tsr_pack_geometry_state((uint64_t *)(f->list + (va + 768 - BINNER_LIST)), &g);
	f->shader.geometry = va + 768;
	f->shader.varying = 0;
	f->shader.position_mode = take(1) == 0xff;
	f->draw.discard |= take(1) & 1;
}

static void states(struct binner *f)
{
	uint64_t *s, *d;
	uint64_t va = BINNER_STATES + 1024 * (uint64_t)f->states;
	uint8_t more;

	more = take(1);
	f->shader = (struct tsr_shader_state){
		.extended = more & 1, .position_mode = take(1) & 1,
		.writes_layer = take(1) & 1, .writes_viewport = take(1) & 1,
		.writes_point_size = take(1) & 1, .clip_distances = number(1) & 0xff,
		.cull_distances = number(1) & 0xff, .output_stride = number(65) * 16 % 65536,
		.varying = take(1) & 1 ? BINNER_STATES : 0,
	};
	f->draw = (struct tsr_draw_state){
		.viewport_count = 1 + number(16) % 31, .line_width = any_float(),
		.point_size = any_float(), .sample_mask = 0xffff, .depth_clamp = take(1) & 1,
		.depth_minus_one = take(1) & 1, .discard = take(1) == 0xff,
		.cull_back = take(1) & 1, .cull_front = take(1) == 0xff,
		.front_clockwise = take(1) & 1, .provoking_last = take(1) & 1,
	};
	for (unsigned int i = 0; i < TSR_VIEWPORTS_MAX; i++) {
		struct tsr_viewport *v = &f->viewport[i];

		if (take(1) < 0xf0)
			continue;
		v->x = any_float();
		v->width = any_float();
		v->height = any_float();
		v->near = any_float();
		v->scissor_x1 = take(2);
	}
	if (f->states > 200)
		return;
	only = -1;
	f->shader.position = 0;
	if (more >> 1 > 0x68)
		geometry(f, va);
	binner_states(f);
	if (more >> 1 > 0x68 && more & 1)
		binner_packet(f, (uint64_t[2]){ TSR_OP_LIST_STREAM_OUT | 2 << 8, TARGETS }, 2);
	s = (uint64_t *)(f->list + (va - BINNER_LIST));
	d = s + 16;
	if (take(1) == 0xff)
		s[take(1) % 8] ^= 1ull << take(1) % 64;
	if (take(1) == 0xff)
		d[take(1) % 80] ^= 1ull << take(1) % 64;
}

static void draw(struct binner *f)
{
	bool indirect = take(1) > 0xe0;
	unsigned int topology = number(13) & 15, type = take(1) & 3;
	uint64_t word[6];

	topology = only >= 0 ? (unsigned int)only : topology;
	if (indirect) {
		tsr_pack_list_draw_indirect(word, &(struct tsr_list_draw_indirect){
			.topology = topology, .index = type, .restart = take(1) & 1,
			.explicit_padding = take(1) & 1, .padded_shift = take(1) & 31,
			.padded_odd = number(5) & 7, .arguments = address(4),
			.draws = (uint32_t)number(20), .stride = number(64) & ~3u,
			.indices = address(4), .index_bytes = number(10000) & 0xffffffffffff });
		binner_packet(f, word, TSR_LIST_DRAW_INDIRECT_QWORDS);
		return;
	}
	binner_draw(f, &(struct tsr_list_draw){
		.topology = topology, .index = type, .restart = take(1) & 1,
		.explicit_padding = take(1) & 1, .padded_shift = take(1) & 31,
		.padded_odd = number(5) & 7, .count = (uint32_t)number(300),
		.instances = (uint32_t)number(6), .first = (uint32_t)number(100),
		.base_vertex = type ? (int32_t)take(4) : 0,
		.first_instance = take(1), .indices = address(4),
		.index_bytes = number(10000) & 0xffffffffffff });
}

static void packet(struct binner *f)
{
	uint64_t word[6];
	uint8_t what = take(1);

	if (what < 0x90) {
		draw(f);
	} else if (what < 0xb0) {
		states(f);
	} else if (what < 0xc0) {
		word[0] = TSR_OP_LIST_QUERY | 2 << 8 | (uint64_t)(take(1) & 15) << 16;
		word[1] = address(8);
		binner_packet(f, word, 2);
	} else if (what < 0xc8) {
		word[0] = TSR_OP_LIST_PUSH | 3 << 8;
		word[1] = address(8);
		word[2] = address(8);
		binner_packet(f, word, 3);
	} else if (what < 0xcc) {
		word[0] = TSR_OP_LIST_STREAM_OUT | 2 << 8;
		word[1] = take(1) < 0xf0 ? TARGETS : address(32);
		binner_packet(f, word, 2);
	} else if (what < 0xd0) {
		tsr_pack_list_draw_auto(word, &(struct tsr_list_draw_auto){
			.topology = number(12) & 15, .instances = (uint32_t)number(3),
			.counter = BINNER_DATA + 0x9000 + 8 * (take(1) & 3),
			.offset = number(64), .stride = (uint32_t)number(64) });
		binner_packet(f, word, TSR_LIST_DRAW_AUTO_QWORDS);
	} else if (what < 0xd8) {
		word[0] = (TSR_OP_LIST_CALL + take(1) % 3) | 3 << 8;
		word[1] = BINNER_LIST + (number(f->list_bytes) & ~63ull);
		word[2] = number(512) & 0xfffffff8;
		binner_packet(f, word, 3);
	} else if (what > 0xf8) {
		for (unsigned int i = 0; i < 6; i++)
			word[i] = take(8);
		binner_packet(f, word, 1 + take(1) % 6);
	}
}

/* Begin and run for a while. */
static enum tsr_step run(struct binner *f)
{
	uint64_t word[TSR_BIN_QWORDS];
	enum tsr_step step;

	tsr_pack_frame((uint64_t *)(f->list + (BINNER_FRAME - BINNER_LIST)), &f->frame);
	tsr_pack_bin(word, &(struct tsr_bin){ .list = BINNER_LIST, .size = f->list_bytes,
					      .frame = BINNER_FRAME });
	step = tsr_bin_begin(f->bin, &f->mem, 0x1000, word);
	for (unsigned int i = 0; step != TSR_STEP_FAULT && i < STEPS_MAX; i++) {
		step = tsr_bin_run(f->bin, &f->mem);
		tsr_mem_flush_dirty(f->mem.port);
		if (step != TSR_STEP_MORE)
			return step;
	}
	return step;
}

static void check_seen(const struct binner *f)
{
	for (uint32_t i = 0; i < f->seen_count; i++) {
		const struct binner_seen *s = &f->seen[i];

		if (s->prim.layer != s->layer || s->batch.vertices > TSR_BATCH_VERTICES ||
		    s->prim.vertices > 3)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct binner *f;
	enum tsr_step step;

	at = data;
	left = size;
	if (!f) {
		f = binner_new(64, 64);
		f->position = position;
	}
	binner_again(f);
	memset(f->list, 0, BINNER_LIST_SIZE);
	seed = take(4);
	f->frame.width = 1 + number(200) % 16384;
	f->frame.height = 1 + number(200) % 16384;
	f->frame.layers = 1 + number(4) % 64;
	f->frame.tile_shift = 3 + number(4) % 4;
	f->frame.samples_log2 = number(5) & 7;
	f->frame.heap_size = take(1) < 0xe0 ? BINNER_HEAP_SIZE : number(64) << 16;
	for (unsigned int i = 0; i < 4096; i += 8) {
		uint64_t word = (seed + i) * 0x9e3779b97f4a7c15ull;

		memcpy(f->data + i, &word, 8);
	}
	targets(f);
	states(f);
	while (left && f->list_bytes < 0x40000)
		packet(f);
	binner_packet(f, (uint64_t[1]){ TSR_OP_LIST_HALT | 1 << 8 }, 1);
	step = run(f);
	if (step == TSR_STEP_FAULT && (!f->mem.fault.code || !f->mem.fault.unit))
		abort();
	if (step != TSR_STEP_DONE)
		return 0;
	frames++;
	primitives += f->bin->stat[TSR_BIN_PRIMITIVES];
	points += f->bin->stat[TSR_BIN_DOMAIN_INVOCATIONS];
	emitted += f->bin->stat[TSR_BIN_GEOMETRY_VERTICES];
	streamed += f->bin->stat[TSR_BIN_STREAM_PRIMITIVES];
	/* a frame that is complete can be read, whatever it was made from */
	if (!binner_read(f))
		abort();
	check_seen(f);
	return 0;
}
