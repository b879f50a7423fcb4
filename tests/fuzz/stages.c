// SPDX-License-Identifier: MIT
/*
 * Fuzz target: shaders of draws with GEOMETRY. The input becomes shaders of all stages, of messages
 * with any stage word, handle, index and address in the windows, their headers, and a draw whose
 * stages mostly fit each other. However malicious it is, the draw comes to an end, to a fault
 * that says which shader was at fault, or to a reset where changed bits make it too long.
 *
 * Three of four inputs are valid draws, but for some bits of states, headers and code that are
 * changed in every fourth of these. A draw leaves the same data and heap on two kinds of device,
 * of which one has its messages lane by lane in another order, more cores, helpers, or other SIMD
 * paths; and RENDER makes the same picture of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "ktap.h"
#include "staged.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char fuzz_proves[] = "[ALD3] ";

void fuzz_summary(void);

/* Until a draw with changed bits, which may be of billions of vertices, is reset: nanoseconds. */
#define PATIENCE 300000000

static unsigned long inputs, draws, resets, pictures, points, emitted, streamed;

void fuzz_summary(void)
{
	ktap_note("%lu of %lu draws complete, %lu are reset, %lu pictures, %lu points, "
		  "%lu vertices emitted, %lu primitives streamed", draws, inputs, resets, pictures,
		  points, emitted, streamed);
}

static const uint8_t *at;
static size_t left;
static bool valid;			/* everything is as it should be */

static uint64_t more;			/* what follows the input is made of it */

static uint64_t take(unsigned int bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes; i++) {
		uint8_t byte;

		more = more * 6364136223846793005u + 1442695040888963407u;
		byte = left ? *at++ : (uint8_t)(more >> 56);
		left -= left > 0;
		more ^= byte;
		value |= (uint64_t)byte << 8 * i;
	}
	return value;
}

/* Something that is rarely so, and never in a valid draw. */
static bool wild(uint8_t how, uint8_t above)
{
	return how > above && !valid;
}

/* ---- Shaders --------------------------------------------------------------------------------- */

/* Vertex shaders have half of the registers. */
static unsigned int reg(unsigned int stage, unsigned int r)
{
	return stage == STAGED_VERTEX && r >= 16 && r < 48 ? r - 16 : r;
}

/* An address in a window, into R20 and R21: most are near its front, and of one the stage has. */
static int address(char *to, unsigned int stage, bool store)
{
	static const uint32_t window[] = { 0x40000000, 0x50000000, 0x60000000, 0x70000000,
					   0x80000000, 0x30000000, 0x10000000, 0xf0000000 };
	const uint8_t how = (uint8_t)take(1);
	uint32_t low = (uint32_t)take(2) & (how & 8 ? 0xcfc : 0xfc), high = window[how & 7];

	if (!wild(how, 0xfb))
		high = stage == STAGED_VERTEX || (store && stage != STAGED_GEOMETRY) ? 0x60000000 :
		       store ? how & 1 ? 0x60000000 : 0x80000000 :
		       window[how & 3 & (stage == STAGED_GEOMETRY ? 1 : 3)];
	if (!wild(how, 0xfb) && high == 0x60000000 && stage != STAGED_HULL &&
	    stage != STAGED_GEOMETRY)
		low &= 0x1fc;
	if (valid)
		low &= 0xf0;
	if (wild(how, 0xfe))
		low = (uint32_t)take(4);
	return sprintf(to, "clause {\n*MOV.i32 r%u, 0x%x\n+NOP\n"
		       "*MOV.i32 r%u, 0x%x\n+NOP\n}\n",
		       reg(stage, 20), low, reg(stage, 21), high);
}

/* A stage word: mostly one that the stage has. */
static uint32_t stage_word(unsigned int stage, bool store)
{
	const uint32_t word = (uint32_t)take(2) & 0x7fff, byte = word & 0x3ff;
	const uint8_t how = (uint8_t)take(1);

	if (wild(how, 0xfe))
		return word;
	if (store)
		return byte | 0x800 |
		       (stage == STAGED_HULL && how & 1 ? 0x1000 | (word & 0x2000) : 0);
	if (stage == STAGED_VERTEX)
		return byte | (how & 1 ? 0x800 : 0);
	if (stage != STAGED_GEOMETRY && how & 1)
		return byte | 0x1000 | (word & 0x2000);
	if (stage != STAGED_GEOMETRY && how & 2)
		return byte | 0x800 | (stage == STAGED_HULL ? word & 0x4000 : 0);
	return byte | 0x4000;
}

/* The register of a handle or an index. */
static unsigned int source(unsigned int stage)
{
	static const uint8_t from[] = { 0, 1, 22, 24, 55, 57, 59, 63 };

	return reg(stage, from[take(1) & 7]);
}

static int message(char *to, unsigned int stage)
{
	static const char *const size[] = { "", ".v2", ".v3", ".v4" };
	static const char *const access[] = { "LOAD.i32", "LOAD.i64", "LOAD.i128", "STORE.i32",
					      "STORE.i96", "STORE.i128" };
	const uint8_t what = (uint8_t)take(1), how = (uint8_t)take(1);
	const uint32_t word = stage_word(stage, what >= 0x40 && what < 0x80);
	const uint8_t none = valid ? 1 : how;	/* 0: a message that the stage has not */
	char *text = to;

	if (what < 0x40)
		return sprintf(to, "clause wait=0 {\n*NOP\n+ALD%s r%u, r%u, 0x%x, @r%u\n}\n",
			       size[how & 3], source(stage), source(stage), word,
			       reg(stage, 24 + (how >> 2 & 4)));
	if (what < 0x80)
		return sprintf(to, "clause wait=0 {\n*NOP\n+AST%s r%u, r%u, 0x%x, @r%u\n}\n",
			       size[how & 3], source(stage), source(stage), word,
			       reg(stage, 24 + (how >> 2 & 4)));
	if (what < 0x90)
		return sprintf(to, "clause wait=0 {\n*NOP\n+AL2P%s r%u, r63, 0x%x, @r%u\n}\n",
			       size[how & 3], source(stage), word & ~0x1000u, reg(stage, 22));
	if (stage == STAGED_GEOMETRY ? what < 0xa8 : what < 0xc0) {
		text += address(text, stage, how % 6 > 2);
		text += sprintf(text, "clause wait=0 {\n*NOP\n+%s r%u, r%u, @r%u\n}\n",
				access[how % 6], reg(stage, 20), reg(stage, 21),
				reg(stage, 24 + (how & 4)));
		return (int)(text - to);
	}
	if (what < 0xe0 && (stage == STAGED_GEOMETRY || none == 0))
		return sprintf(to, "clause wait=0 {\n*NOP\n+EMIT%s%s\n}\n", how & 1 ? ".s1" : "",
			       how & 2 ? ".cut" : "");
	if (what < 0xe8 && (stage == STAGED_GEOMETRY || none == 0))
		return sprintf(to, "clause wait=0 {\n*NOP\n+RESTART\n}\n");
	if (what < 0xf0 && (stage == STAGED_HULL || none == 0))
		return sprintf(to, "clause slot=7 wait=0,7 {\n*NOP\n+BARRIER\n}\n");
	return sprintf(to, "clause {\n*MOV.i32 r%u, 0x%x\n+NOP\n}\n",
		       reg(stage, 24 + (how & 7)), how & 8 ? 0x3f800000u + ((uint32_t)how << 19) :
						 (uint32_t)take(2));
}

static void shader(unsigned int stage)
{
	static char text[16384];
	const unsigned int messages = take(1) % 24;
	char *to = text;

	for (unsigned int i = 0; i < messages; i++)
		to += message(to, stage);
	sprintf(to, "%s", STAGED_END);
	staged_shader((enum staged_stage)stage, text);
}

/* ---- Draws ----------------------------------------------------------------------------------- */

static void header(struct tsr_stage_header *h, unsigned int primitives, bool patches)
{
	uint64_t *map = &h->imap_0;

	for (unsigned int i = 0; i < 8; i++)
		map[i] = take(1) & 3 ? UINT64_MAX : take(8);
	/* the position is drawn */
	if (valid)
		h->omap_0 |= 0xfull << 0x70 / 4;
	h->required_first = (uint32_t)take(1);
	h->required_last = (uint32_t)take(1);
	h->patch_words = take(1) % 6;
	h->threads = take(1) % 33;
	h->extra_threads = take(1) & 7 ? 0 : take(1) % 33;
	h->independent = take(1) & 1;
	h->trap_handles = wild((uint8_t)take(1), 0xfc);
	h->input = wild((uint8_t)take(1), 0xf8) ? take(1) % 6 : patches ? primitives : 2;
	h->output = take(1) % 3;
	h->streams = h->output ? 1 : 1 + take(1) % 15;
	h->max_vertices = 1 + take(1) % 4;
}

static void states(void)
{
	struct tsr_geometry_state *g = &staged.geometry;
	const uint8_t how = (uint8_t)take(1);
	const uint64_t program = STAGED_LIST + STAGED_AT_PROGRAM;

	g->shape = how % 3;
	g->primitives = how & 4 ? 0 : g->shape == TSR_PATCH_SHAPE_ISOLINE ? 1 : 2;
	g->partitioning = how >> 3 & 3;
	g->domain = how & 32 ? program + 0x80 * STAGED_DOMAIN : 0;
	g->hull = how & 32 && how & 64 ? program + 0x80 * STAGED_HULL : 0;
	g->geometry = how & 128 ? program + 0x80 * STAGED_GEOMETRY : 0;
	g->patch_points = 1 + take(1) % 32;
	g->factor_0 = g->factor_1 = g->factor_2 = staged_bits((float)(1 + take(1) % 9));
	g->factor_3 = g->factor_4 = g->factor_5 = staged_bits((float)(1 + take(1) % 9));
	staged.draw.discard = take(1) & 1;
	for (unsigned int i = 0; i < STAGED_STAGES; i++)
		header(&staged.header[i], g->primitives, g->domain != 0);
	/* 1024 words of a thread at most */
	if (staged.header[STAGED_GEOMETRY].max_vertices * 256 > TSR_GEOMETRY_VERTICES_MAX)
		staged.header[STAGED_GEOMETRY].max_vertices = 4;
	staged.place[0] = (struct tsr_stream_target){
		.base = STAGED_OUT, .size = STAGED_OUT_SIZE, .stride = 32,
		.counter = STAGED_COUNTERS };
	staged.entry[0] = (struct tsr_stream_entry){ .word = 0x20, .components = 3 };
	if (valid) {
		g->partitioning = how >> 3 & 3;
		staged.header[STAGED_GEOMETRY].streams |= 1;
	}
	g->entries = take(1) & 1;
	for (unsigned int i = 0; i < STAGED_STAGES; i++)
		shader(i);
}

/* Some bits of what staged_states() has written and of shaders are others. */
static void change(void)
{
	static const struct { uint32_t at, size; } part[] = {
		{ STAGED_AT_GEOMETRY, 0x80 }, { STAGED_AT_PROGRAM, 0x200 },
		{ STAGED_AT_HEADER, 0x200 }, { STAGED_AT_TARGETS, 0x80 },
		{ STAGED_AT_ENTRIES, 8 }, { STAGED_AT_BIN_LIST, 0x60 },
		{ STAGED_AT_CODE, 0x400 }, { STAGED_AT_CODE + 0x8000, 0x400 },
		{ STAGED_AT_CODE + 0x10000, 0x400 }, { STAGED_AT_CODE + 0x18000, 0x400 },
	};
	const unsigned int bits = 1 + take(1) % 3;

	for (unsigned int i = 0; i < bits; i++) {
		const unsigned int n = take(1) % (sizeof(part) / sizeof(part[0]));
		const uint32_t bit = (uint32_t)take(2) % (8 * part[n].size);

		staged.list[part[n].at + bit / 8] ^= 1 << bit % 8;
	}
}

/* True if warps of a patch may read what other ones write, without a barrier. */
static bool races(void)
{
	const struct tsr_stage_header *h = &staged.header[STAGED_HULL];

	return staged.geometry.hull && (h->threads > 16 || h->extra_threads > 16 ||
					h->independent);
}

/* The draw of the input on a device of its own. False: it is at fault. */
static bool draw(const struct tsr_config *config, const uint8_t *data, size_t size, uint8_t how)
{
	const bool changed = how % 16 > 11;
	unsigned int state;

	at = data;
	left = size;
	more = size;
	staged_start(config);
	states();
	staged_states();
	staged_stream_out(true);
	staged_draw(staged.geometry.domain ? TSR_TOPOLOGY_PATCHES : TSR_TOPOLOGY_TRIANGLES,
		    (uint32_t)take(1) & 0x7f);
	if (!changed) {
		staged_bin();
	} else {
		change();
		if (!staged_bin_ends(PATIENCE)) {
			resets++;
			return false;
		}
	}
	state = bench_state(&staged.queue[STAGED_BIN]);
	if (state != TSR_QUEUE_STATE_IDLE && state != TSR_QUEUE_STATE_FAULTED)
		abort();
	return state == TSR_QUEUE_STATE_IDLE;
}

/* The picture of the last draw, to keep or to compare; also where RENDER is at fault. */
static bool picture(bool keep)
{
	static uint8_t was[STAGED_TARGET_BYTES];
	static bool ended;
	const bool ends = staged_render();

	pictures += ends && keep;
	if (!keep)
		return ends == ended && !memcmp(was, staged.target, sizeof(was));
	ended = ends;
	memcpy(was, staged.target, sizeof(was));
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tsr_config plain = { .cores = 1, .no_inline = true,
						 .jit = TSR_JIT_USE_OFF };
	static const struct tsr_config other[] = {
		{ .cores = 1, .late_messages = true, .jit = TSR_JIT_USE_FIRST },
		{ .cores = 8, .jit = TSR_JIT_USE_FIRST },
		{ .cores = 2, .threads = 2 },
		{ .cores = 3, .simd = "sse2", .gfx_debug = TSR_GFX_NO_STAGES },
	};
	const uint8_t how = size ? *data++ : 0;
	bool done;

	size -= size > 0;
	valid = how & 3;
	done = draw(&plain, data, size, how);
	inputs++;
	draws += done;
	points += staged_counter(TSR_QUEUE_COUNTER_DOMAIN_INVOCATIONS);
	emitted += staged_counter(TSR_QUEUE_COUNTER_GEOMETRY_VERTICES);
	streamed += staged_counter(TSR_QUEUE_COUNTER_STREAM_PRIMITIVES);
	/* where code is changed a message may not wait for another: its time shows */
	if (done && how % 16 <= 11 && !races()) {
		staged_same(true);
		picture(true);
		staged_stop();
		if (!draw(&other[how >> 4 & 3], data, size, how) || !staged_same(false) ||
		    !picture(false))
			abort();
	}
	staged_stop();
	return 0;
}
