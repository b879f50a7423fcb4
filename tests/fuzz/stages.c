// SPDX-License-Identifier: MIT
/*
 * Fuzz target: shaders of draws with GEOMETRY. The input becomes shaders of all stages, of messages
 * with any stage word, handle, index and address in the windows, their headers, and a draw whose
 * stages mostly fit each other. However malicious it is, the draw comes to an end, or to a fault
 * that says which shader was at fault.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "staged.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char fuzz_proves[] = "[ALD3] ";

void fuzz_summary(void);

static unsigned long draws, points, emitted, streamed;

void fuzz_summary(void)
{
	ktap_note("%lu draws complete, %lu points, %lu vertices emitted, %lu primitives streamed",
		  draws, points, emitted, streamed);
}

static const uint8_t *at;
static size_t left;

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

/* ---- Shaders --------------------------------------------------------------------------------- */

/* An address in a window, into R20 and R21: most are near its front, and of one the stage has. */
static int address(char *to, unsigned int stage, bool store)
{
	static const uint32_t window[] = { 0x40000000, 0x50000000, 0x60000000, 0x70000000,
					   0x80000000, 0x30000000, 0x10000000, 0xf0000000 };
	const uint8_t how = (uint8_t)take(1);
	uint32_t low = (uint32_t)take(2) & (how & 8 ? 0xcfc : 0xfc), high = window[how & 7];

	if (how < 0xfc)
		high = stage == STAGED_VERTEX || (store && stage != STAGED_GEOMETRY) ? 0x60000000 :
		       store ? how & 1 ? 0x60000000 : 0x80000000 :
		       window[how & 3 & (stage == STAGED_GEOMETRY ? 1 : 3)];
	if (how < 0xfc && (high == 0x60000000) && stage != STAGED_HULL && stage != STAGED_GEOMETRY)
		low &= 0x1fc;
	if (how > 0xfe)
		low = (uint32_t)take(4);
	return sprintf(to, "clause {\n*MOV.i32 r20, 0x%x\n+NOP\n*MOV.i32 r21, 0x%x\n+NOP\n}\n", low,
		       high);
}

/* A stage word: mostly one that the stage has. */
static uint32_t stage_word(unsigned int stage, bool store)
{
	const uint32_t word = (uint32_t)take(2) & 0x7fff, byte = word & 0x3ff;
	const uint8_t how = (uint8_t)take(1);

	if (how > 0xfe)
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

/* What a handle or an index is. */
static unsigned int source(void)
{
	static const uint8_t from[] = { 0, 1, 22, 24, 55, 57, 59, 63 };

	return from[take(1) & 7];
}

static int message(char *to, unsigned int stage)
{
	static const char *const size[] = { "", ".v2", ".v3", ".v4" };
	static const char *const access[] = { "LOAD.i32", "LOAD.i64", "LOAD.i128", "STORE.i32",
					      "STORE.i96", "STORE.i128" };
	const uint8_t what = (uint8_t)take(1), how = (uint8_t)take(1);
	const uint32_t word = stage_word(stage, what >= 0x40 && what < 0x80);
	char *text = to;

	if (what < 0x40)
		return sprintf(to, "clause wait=0 {\n*NOP\n+ALD%s r%u, r%u, 0x%x, @r%u\n}\n",
			       size[how & 3], source(), source(), word, 24 + (how >> 2 & 4));
	if (what < 0x80)
		return sprintf(to, "clause wait=0 {\n*NOP\n+AST%s r%u, r%u, 0x%x, @r%u\n}\n",
			       size[how & 3], source(), source(), word,
			       24 + (how >> 2 & 4));
	if (what < 0x90)
		return sprintf(to, "clause wait=0 {\n*NOP\n+AL2P%s r%u, r63, 0x%x, @r22\n}\n",
			       size[how & 3], source(), word & ~0x1000u);
	if (what < 0xc0) {
		text += address(text, stage, how % 6 > 2);
		text += sprintf(text, "clause wait=0 {\n*NOP\n+%s r20, r21, @r%u\n}\n",
				access[how % 6], 24 + (how & 4));
		return (int)(text - to);
	}
	if (what < 0xe0 && (stage == STAGED_GEOMETRY || how == 0))
		return sprintf(to, "clause wait=0 {\n*NOP\n+EMIT%s%s\n}\n", how & 1 ? ".s1" : "",
			       how & 2 ? ".cut" : "");
	if (what < 0xe8 && (stage == STAGED_GEOMETRY || how == 0))
		return sprintf(to, "clause wait=0 {\n*NOP\n+RESTART\n}\n");
	if (what < 0xf0 && (stage == STAGED_HULL || how == 0))
		return sprintf(to, "clause slot=7 wait=0,7 {\n*NOP\n+BARRIER\n}\n");
	return sprintf(to, "clause {\n*MOV.i32 r%u, 0x%x\n+NOP\n}\n",
		       24 + (how & 7), how & 8 ? 0x3f800000u + ((uint32_t)how << 19) :
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
	h->required_first = (uint32_t)take(1);
	h->required_last = (uint32_t)take(1);
	h->patch_words = take(1) % 6;
	h->threads = take(1) % 33;
	h->extra_threads = take(1) & 7 ? 0 : take(1) % 33;
	h->independent = take(1) & 1;
	h->trap_handles = take(1) > 0xfc;
	h->input = take(1) > 0xf8 ? take(1) % 6 : patches ? primitives : 2;
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
	g->entries = take(1) & 1;
	for (unsigned int i = 0; i < STAGED_STAGES; i++)
		shader(i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tsr_config config[] = {
		{ .cores = 1, .no_inline = true }, { .cores = 1, .late_messages = true },
	};
	unsigned int state;

	at = data;
	left = size;
	more = size;
	staged_start(&config[take(1) & 1]);
	states();
	staged_states();
	staged_stream_out(true);
	staged_draw(staged.geometry.domain ? TSR_TOPOLOGY_PATCHES : TSR_TOPOLOGY_TRIANGLES,
		    (uint32_t)take(1));
	staged_bin();
	state = bench_state(&staged.queue[STAGED_BIN]);
	if (state != TSR_QUEUE_STATE_IDLE && state != TSR_QUEUE_STATE_FAULTED)
		abort();
	draws += state == TSR_QUEUE_STATE_IDLE;
	points += staged_counter(TSR_QUEUE_COUNTER_DOMAIN_INVOCATIONS);
	emitted += staged_counter(TSR_QUEUE_COUNTER_GEOMETRY_VERTICES);
	streamed += staged_counter(TSR_QUEUE_COUNTER_STREAM_PRIMITIVES);
	staged_stop();
	return 0;
}
