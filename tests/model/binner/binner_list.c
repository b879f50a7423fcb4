/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Control lists of the binner and what lies around its draws: calls, jumps and their bounds, every
 * field that can be wrong, state versions, the padded number of vertices, heaps that are too small,
 * that grow, and that somebody else has changed; a host that has to be asked.
 */
#include <stdlib.h>
#include <string.h>

#include "binner.h"
#include "ktap.h"
#include "rnd.h"

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	uint32_t h = (vertex + 77 * instance) * 2654435761u;

	(void)f;
	record[0] = (float)(h >> 22 & 1023) / 512 - 1;
	record[1] = (float)(h >> 12 & 1023) / 512 - 1;
	record[2] = .5f;
	record[3] = 1;
}

static struct binner *start(void)
{
	struct binner *f = binner_new(256, 256);

	f->position = position;
	return f;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

#define OTHER (BINNER_LIST + 0x40000)	/* a second list */

/* Put packets at @va. */
static void words(struct binner *f, uint64_t va, const uint64_t *word, unsigned int qwords)
{
	memcpy(f->list + (va - BINNER_LIST), word, 8 * qwords);
}

static uint64_t header(unsigned int opcode, unsigned int qwords)
{
	return opcode | qwords << 8;
}

static void branch(struct binner *f, unsigned int opcode, uint64_t addr, uint32_t size)
{
	const uint64_t word[3] = { header(opcode, 3), addr, size };

	binner_packet(f, word, 3);
}

static bool fault_is(struct binner *f, enum tsr_fault code, uint64_t addr)
{
	bool binned = binner_bin(f);

	ktap_ok(!binned);
	ktap_eq(f->mem.fault.code, code);
	ktap_eq(f->mem.fault.addr, addr);
	binner_again(f);
	binner_states(f);
	return !binned;
}

/* A draw in a called list; lists that return before their end; a jump into the last one. */
static void calls(void)
{
	struct binner *f = start();
	uint64_t draw[TSR_LIST_DRAW_QWORDS], ret = header(TSR_OP_LIST_RETURN, 1);
	const uint64_t halt = header(TSR_OP_LIST_HALT, 1);
	uint64_t at = OTHER;

	tsr_pack_list_draw(draw, &(struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_POINTS, .count = 1, .instances = 1 });
	/* eight lists, each of which calls the next in its middle */
	for (unsigned int i = 0; i < 8; i++, at += 0x100) {
		const uint64_t call[3] = { header(TSR_OP_LIST_CALL, 3), at + 0x100, 0x80 };

		words(f, at, draw, 6);
		if (i < 7)
			words(f, at + 48, call, 3);
		else
			words(f, at + 48, (uint64_t[3]){ header(TSR_OP_LIST_RETURN, 1) }, 3);
		words(f, at + 72, draw, 6);
		words(f, at + 120, &ret, 1);
	}
	branch(f, TSR_OP_LIST_CALL, OTHER, 0x80);
	binner_arrays(f, TSR_TOPOLOGY_POINTS, 1);
	words(f, at, draw, 6);
	words(f, at + 48, &halt, 1);
	branch(f, TSR_OP_LIST_JUMP, at, 56);
	ktap_ok(binner_bin(f) && binner_read(f));
	ktap_eq(f->bin->stat[TSR_BIN_DRAWS], 8 + 7 + 2);
	/* one more level is too deep */
	words(f, OTHER + 0x700 + 48,
	      (uint64_t[3]){ header(TSR_OP_LIST_CALL, 3), OTHER + 0x800, 0x80 }, 3);
	binner_again(f);
	binner_states(f);
	branch(f, TSR_OP_LIST_CALL, OTHER, 0x80);
	fault_is(f, TSR_FAULT_NESTING, OTHER + 0x700 + 48);
	/* a list of its own end ends the call as well */
	branch(f, TSR_OP_LIST_CALL, OTHER, 48);
	ktap_ok(binner_bin(f));
	ktap_eq(f->bin->stat[TSR_BIN_DRAWS], 1);
	binner_free(f);
}

static void bounds(void)
{
	struct binner *f = start();
	uint64_t pc;

	/* no end: jumps in a circle, calls without a draw */
	binner_again(f);
	branch(f, TSR_OP_LIST_JUMP, OTHER, 24);
	words(f, OTHER, (uint64_t[3]){ header(TSR_OP_LIST_JUMP, 3), OTHER, 24 }, 3);
	fault_is(f, TSR_FAULT_LOOP, OTHER);
	/* draws are progress: each allows as many jumps after it */
	pc = BINNER_LIST + f->list_bytes;
	binner_packet(f, (uint64_t[1]){ header(TSR_OP_LIST_RETURN, 1) }, 1);
	fault_is(f, TSR_FAULT_BAD_VALUE, pc);
	branch(f, TSR_OP_LIST_JUMP, OTHER, 8);
	words(f, OTHER, (uint64_t[1]){ header(TSR_OP_LIST_SHADER_STATE, 2) }, 1);
	fault_is(f, TSR_FAULT_STREAM_BOUND, OTHER);
	branch(f, TSR_OP_LIST_JUMP, OTHER, 16);
	words(f, OTHER, (uint64_t[2]){ header(TSR_OP_LIST_SHADER_STATE, 2), BINNER_STATES }, 2);
	fault_is(f, TSR_FAULT_STREAM_BOUND, OTHER + 16);
	branch(f, TSR_OP_LIST_JUMP, 0x6000000000, 16);
	fault_is(f, TSR_FAULT_MMU_UNMAPPED, 0x6000000000);
	ktap_eq(f->mem.fault.unit, TSR_UNIT_LIST);
	ktap_eq(f->mem.fault.access, TSR_ACCESS_EXEC);
	/* memory that may be read but not executed */
	branch(f, TSR_OP_LIST_JUMP, BINNER_DATA, 16);
	fault_is(f, TSR_FAULT_MMU_PERMISSION, BINNER_DATA);
	binner_free(f);
}

/* Packets with one thing wrong. */
static void bad_packets(void)
{
	static const struct {
		uint64_t word[6];
		uint8_t qwords, code, qword;
	} bad[] = {
		{ { 0x7f | 1 << 8 }, 1, TSR_FAULT_UNKNOWN_OPCODE, 0 },
		{ { TSR_OP_NOP | 1 << 8 }, 1, TSR_FAULT_UNKNOWN_OPCODE, 0 },
		{ { TSR_OP_LIST_HALT | 2 << 8 }, 2, TSR_FAULT_BAD_LENGTH, 0 },
		{ { TSR_OP_LIST_DRAW | 5 << 8 }, 6, TSR_FAULT_BAD_LENGTH, 0 },
		{ { TSR_OP_LIST_TILES | 5 << 8 }, 6, TSR_FAULT_WRONG_CLASS, 0 },
		{ { TSR_OP_TILE_DRAW | 1 << 8 }, 1, TSR_FAULT_WRONG_CLASS, 0 },
		{ { TSR_OP_LIST_HALT | 1 << 8 | 1 << 16 }, 1, TSR_FAULT_RESERVED_BITS, 0 },
		{ { TSR_OP_LIST_DRAW | 6 << 8, 0, 0, 1ull << 32 }, 6, TSR_FAULT_RESERVED_BITS, 3 },
		{ { TSR_OP_LIST_CALL | 3 << 8, OTHER + 8, 8 }, 3, TSR_FAULT_ALIGNMENT, 1 },
		{ { TSR_OP_LIST_CALL | 3 << 8, OTHER, 0 }, 3, TSR_FAULT_BAD_VALUE, 2 },
		{ { TSR_OP_LIST_JUMP | 3 << 8, OTHER, 12 }, 3, TSR_FAULT_ALIGNMENT, 2 },
		{ { TSR_OP_LIST_JUMP | 3 << 8, OTHER, 0x10000008 }, 3, TSR_FAULT_BAD_VALUE, 2 },
		{ { TSR_OP_LIST_SHADER_STATE | 2 << 8, 32 }, 2, TSR_FAULT_ALIGNMENT, 1 },
		{ { TSR_OP_LIST_DRAW_STATE | 2 << 8, 1 }, 2, TSR_FAULT_ALIGNMENT, 1 },
		{ { TSR_OP_LIST_QUERY | 2 << 8 | 6 << 16, 0 }, 2, TSR_FAULT_BAD_VALUE, 0 },
		{ { TSR_OP_LIST_QUERY | 2 << 8 | 15 << 16, 4 }, 2, TSR_FAULT_ALIGNMENT, 1 },
		{ { TSR_OP_LIST_STREAM_OUT | 2 << 8, 48 }, 2, TSR_FAULT_ALIGNMENT, 1 },
		{ { TSR_OP_LIST_QUERY | 2 << 8, 4 }, 2, TSR_FAULT_ALIGNMENT, 1 },
		{ { TSR_OP_LIST_PUSH | 3 << 8, 4 }, 3, TSR_FAULT_ALIGNMENT, 1 },
		{ { TSR_OP_LIST_PUSH | 3 << 8, 8, 12 }, 3, TSR_FAULT_ALIGNMENT, 2 },
		/* draws: topologies that are none, padding, indices */
		{ { TSR_OP_LIST_DRAW | 6 << 8 | 7 << 16 }, 6, TSR_FAULT_BAD_VALUE, 0 },
		{ { TSR_OP_LIST_DRAW | 6 << 8 | 12 << 16 }, 6, TSR_FAULT_BAD_VALUE, 0 },
		{ { TSR_OP_LIST_DRAW | 6 << 8 | 5ull << 29 }, 6, TSR_FAULT_BAD_VALUE, 0 },
		{ { TSR_OP_LIST_DRAW | 6 << 8 | 1 << 23 | 1ull << 29 | 31 << 24, 1ull << 32 | 1 },
		  6, TSR_FAULT_BAD_VALUE, 0 },
		{ { TSR_OP_LIST_DRAW | 6 << 8 | 1 << 23 | 2 << 24, 1ull << 32 | 5 }, 6,
		  TSR_FAULT_BAD_VALUE, 0 },
		{ { TSR_OP_LIST_DRAW | 6 << 8, 1ull << 32 | 3, 1ull << 32 }, 6,
		  TSR_FAULT_BAD_VALUE, 2 },
		{ { TSR_OP_LIST_DRAW | 6 << 8 | 2 << 20, 1ull << 32 | 3, 0, 0, BINNER_DATA + 1, 9 },
		  6, TSR_FAULT_ALIGNMENT, 4 },
		{ { TSR_OP_LIST_DRAW | 6 << 8 | 3 << 20, 1ull << 32 | 3, 0, 0, BINNER_DATA + 2, 9 },
		  6, TSR_FAULT_ALIGNMENT, 4 },
		/* more threads than 32 bits can number */
		{ { TSR_OP_LIST_DRAW | 6 << 8, 2ull << 32 | 0x80000000 }, 6, TSR_FAULT_BAD_VALUE,
		  1 },
		{ { TSR_OP_LIST_DRAW | 6 << 8 | 3 << 20, 2ull << 32 | 3, 0, 0, BINNER_DATA, 9 }, 6,
		  TSR_FAULT_BAD_VALUE, 1 },
		{ { TSR_OP_LIST_DRAW_INDIRECT | 5 << 8, BINNER_DATA + 2, 1 }, 5,
		  TSR_FAULT_ALIGNMENT, 1 },
		{ { TSR_OP_LIST_DRAW_INDIRECT | 5 << 8, BINNER_DATA, 1 | 6ull << 32 }, 5,
		  TSR_FAULT_ALIGNMENT, 2 },
		{ { TSR_OP_LIST_DRAW_INDIRECT | 5 << 8 | 2 << 20, BINNER_DATA, 1, 3 }, 5,
		  TSR_FAULT_ALIGNMENT, 3 },
	};
	struct binner *f = start();

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t pc;

		binner_arrays(f, TSR_TOPOLOGY_POINTS, 3);
		pc = BINNER_LIST + f->list_bytes;
		binner_packet(f, bad[i].word, bad[i].qwords);
		if (!fault_is(f, bad[i].code, pc + 8 * bad[i].qword))
			printf("# bad packet %u\n", i);
	}
	/* a draw before both states are set */
	binner_again(f);
	binner_arrays(f, TSR_TOPOLOGY_POINTS, 1);
	fault_is(f, TSR_FAULT_BAD_VALUE, BINNER_LIST);
	binner_free(f);
}

/* Structures with one thing wrong: state, frame, command. */
static void bad_structures(void)
{
	struct binner *f = start();
	uint64_t word[4] = { 0 };

	f->shader.extended = true;
	f->shader.clip_distances = 6;
	f->shader.cull_distances = 4;
	binner_again(f);
	binner_states(f);
	binner_arrays(f, TSR_TOPOLOGY_POINTS, 1);
	fault_is(f, TSR_FAULT_BAD_VALUE, BINNER_STATES + 24);
	f->shader = (struct tsr_shader_state){ .output_stride = 8 };
	binner_again(f);
	binner_states(f);
	binner_arrays(f, TSR_TOPOLOGY_POINTS, 1);
	fault_is(f, TSR_FAULT_ALIGNMENT, BINNER_STATES + 24);
	f->shader.output_stride = 0;
	f->draw.viewport_count = 17;
	binner_again(f);
	binner_states(f);
	binner_arrays(f, TSR_TOPOLOGY_POINTS, 1);
	fault_is(f, TSR_FAULT_BAD_VALUE, BINNER_STATES + 128);
	f->draw.viewport_count = 1;
	f->frame.width = 0;
	fault_is(f, TSR_FAULT_BAD_VALUE, BINNER_FRAME);
	f->frame.width = f->frame.height = 16384;
	f->frame.tile_shift = 3;
	fault_is(f, TSR_FAULT_BAD_VALUE, BINNER_FRAME);
	f->frame.width = f->frame.height = 256;
	f->frame.heap += 4096;
	fault_is(f, TSR_FAULT_ALIGNMENT, BINNER_FRAME + 8);
	f->frame.heap -= 4096;
	f->frame.heap_size = 1ull << 32;
	fault_is(f, TSR_FAULT_BAD_VALUE, BINNER_FRAME + 16);
	f->frame.heap_size = BINNER_HEAP_SIZE;
	word[0] = header(TSR_OP_BIN, 4);
	for (unsigned int i = 1; i < 4; i++) {
		static const uint64_t good[4] = { 0, BINNER_LIST, 64, BINNER_FRAME };

		memcpy(&word[1], &good[1], 24);
		word[i] += i == 2 ? 4 : 8;
		ktap_eq(tsr_bin_begin(f->bin, &f->mem, 0x1000, word), TSR_STEP_FAULT);
		ktap_eq(f->mem.fault.code, TSR_FAULT_ALIGNMENT);
		ktap_eq(f->mem.fault.addr, 0x1000 + 8 * i);
	}
	word[2] = 0;
	ktap_eq(tsr_bin_begin(f->bin, &f->mem, 0x1000, word), TSR_STEP_FAULT);
	ktap_eq(f->mem.fault.code, TSR_FAULT_BAD_VALUE);
	binner_free(f);
}

/* ---- State versions -------------------------------------------------------------------------- */

/* The heap is what it was the first time: then *@first is NULL, and is given a copy of it. */
static void same_heap(const struct binner *f, uint8_t **first, uint32_t *used)
{
	if (!*first) {
		*used = f->bin->used;
		*first = malloc(*used);
		memcpy(*first, f->heap, *used);
	}
	ktap_eq(f->bin->used, *used);
	ktap_ok(!memcmp(*first, f->heap, *used));
}

/* Twenty states for 25 draws; with @turns they are two, which take turns. */
static void many_states(struct binner *f, bool turns)
{
	binner_again(f);
	for (unsigned int i = 0; i < 20; i++) {
		f->draw.front_clockwise = i & 1;
		f->draw.cull_back = true;
		f->states = turns ? i % 2 : i;
		binner_states(f);
		binner_arrays(f, TSR_TOPOLOGY_TRIANGLES, 9 + 3 * i);
		if (i % 4 == 3)
			binner_arrays(f, TSR_TOPOLOGY_POINTS, i);
	}
}

static void versions(void)
{
	struct binner *f = start();
	uint8_t *first = NULL;
	uint32_t used = 0;

	for (unsigned int i = 0; i < TSR_STATE_VERSIONS * TSR_STATE_DESCRIPTORS; i++) {
		unsigned int n = f->bin->versions = 1 + i % TSR_STATE_VERSIONS;
		unsigned int entries = f->bin->descriptors = 1 + i / TSR_STATE_VERSIONS;

		many_states(f, false);
		ktap_ok(binner_bin(f));
		/* so many draws with states of their own are met before one has to be done */
		ktap_eq(f->bin->stat[TSR_BIN_STATE_STALLS], n <= entries ? 20 - n : 0);
		ktap_eq(f->bin->stat[TSR_BIN_DESCRIPTOR_STALLS], n <= entries ? 0 : 20 - entries);
		same_heap(f, &first, &used);
	}
	free(first);
	binner_free(f);
}

/* Descriptors that come again are still there, if there is an entry for each. */
static void descriptors(void)
{
	struct binner *f = start();

	for (unsigned int entries = 1; entries <= TSR_STATE_DESCRIPTORS; entries++) {
		uint32_t used;

		f->bin->descriptors = entries;
		many_states(f, true);
		ktap_ok(binner_bin(f));
		used = f->bin->used;
		ktap_eq(f->bin->stat[TSR_BIN_DESCRIPTOR_STALLS], entries == 1 ? 19 : 0);
		ktap_eq(f->bin->stat[TSR_BIN_STATE_STALLS],
			entries == 1 ? 0 : 20 - TSR_STATE_VERSIONS);
		/*
		 * In the same list with twenty descriptors all draws find what they need. Each
		 * descriptor has copies in the heap: 224 bytes, and records begin at multiples
		 * of 64.
		 */
		many_states(f, false);
		ktap_ok(binner_bin(f));
		ktap_eq(f->bin->used, used + 18 * 256);
	}
	binner_free(f);
}

/* ---- Padding --------------------------------------------------------------------------------- */

static bool is_padding(uint64_t p)
{
	while (!(p % 2))
		p /= 2;
	return p <= 9;
}

/* INST's table: by the most significant bit and the next three. */
static uint64_t table(uint32_t count)
{
	static const uint8_t factor[8] = { 9, 10, 12, 12, 14, 14, 16, 16 };
	unsigned int top = 31 - __builtin_clz(count);

	return (uint64_t)factor[count >> (top - 3) & 7] << (top - 3);
}

static void padding(void)
{
	struct binner *f = start();

	for (uint32_t count = 0; count < 5000; count++) {
		uint64_t least = (count + 4) & ~3u;
		struct tsr_padding p = tsr_padded_vertices(count);

		while (!is_padding(least))
			least += 4;
		ktap_eq(p.padded, least);
		ktap_eq((2 * p.odd + 1ull) << p.shift, least);
		if (count >= 18)
			ktap_eq(p.padded, table(count));
	}
	for (unsigned int i = 0; i < 100000; i++) {
		uint32_t count = rnd() >> i % 27;

		if (count >= 18)
			ktap_eq(tsr_padded_vertices(count).padded, table(count));
	}
	ktap_eq(tsr_padded_vertices(0xdfffffff).padded, 0xe0000000);
	ktap_eq(tsr_padded_vertices(0xe0000000).padded, 1ull << 32);
	ktap_eq(tsr_padded_vertices(UINT32_MAX).padded, 1ull << 32);
	/* what the device chooses, and is told, is what the record says */
	binner_draw(f, &(struct tsr_list_draw){ .topology = TSR_TOPOLOGY_POINTS, .count = 70,
					       .instances = 2 });
	binner_draw(f, &(struct tsr_list_draw){ .topology = TSR_TOPOLOGY_POINTS, .count = 70,
					       .instances = 2, .explicit_padding = true,
					       .padded_odd = 2, .padded_shift = 4 });
	binner_draw(f, &(struct tsr_list_draw){ .topology = TSR_TOPOLOGY_POINTS, .count = 70,
					       .index = TSR_INDEX_TYPE_U16, .instances = 2,
					       .indices = BINNER_DATA, .index_bytes = 140 });
	ktap_ok(binner_bin(f) && binner_read(f));
	for (uint32_t i = 0; i < f->seen_count; i++) {
		uint64_t p = f->seen[i].batch.padded;

		ktap_ok(p == 72 || p == 80 || p == 73728);
	}
	ktap_eq(f->shaded, 280 + 2);
	/* every thread number there is: 2^32 vertices; a few of them would do */
	binner_again(f);
	binner_states(f);
	binner_draw(f, &(struct tsr_list_draw){ .topology = TSR_TOPOLOGY_POINTS, .count = 3,
					       .index = TSR_INDEX_TYPE_U32, .instances = 1,
					       .indices = BINNER_DATA, .index_bytes = 12 });
	memcpy(f->data, (uint32_t[3]){ 0, 0x80000000, 0xfffffffe }, 12);
	ktap_ok(binner_bin(f) && binner_read(f));
	ktap_eq(f->shaded, 3);
	for (uint32_t i = 0; i < f->seen_count; i++)
		ktap_eq(f->seen[i].batch.padded, 1ull << 32);
	binner_free(f);
}

/* An index that would be a vertex of another instance is vertex 0; of one instance any is good. */
static void large_indices(void)
{
	for (unsigned int instances = 1; instances < 4; instances++) {
		struct binner *f = start();
		unsigned int wrong = 0;

		memcpy(f->data, (uint16_t[4]){ 3, 9, 7, 8 }, 8);
		binner_draw(f, &(struct tsr_list_draw){
			.topology = TSR_TOPOLOGY_POINTS, .count = 4, .instances = instances,
			.index = TSR_INDEX_TYPE_U16, .indices = BINNER_DATA, .index_bytes = 8,
			.explicit_padding = true, .padded_shift = 3 });
		ktap_ok(binner_bin(f) && binner_read(f));
		ktap_ok(f->seen_count >= 4 * instances);
		for (uint32_t i = 0; i < f->seen_count; i++) {
			uint32_t v = f->seen[i].id[0][0];

			wrong += instances > 1 ? v != 3 && v != 7 && v : !v || v > 9;
		}
		ktap_eq(wrong, 0);
		binner_free(f);
	}
}

/* ---- The heap -------------------------------------------------------------------------------- */

static void big_picture(struct binner *f)
{
	binner_again(f);
	f->shader.varying = BINNER_STATES;
	f->shader.output_stride = 64;
	binner_states(f);
	binner_arrays(f, TSR_TOPOLOGY_TRIANGLES, 9000);
	binner_arrays(f, TSR_TOPOLOGY_LINE_STRIP, 2000);
}

static uint32_t grown;

static void grow(struct binner *f)
{
	tsr_heap_state_grow(f->mem.queue, ++grown);
}

/* Pages the host has to be asked for, memory in small pieces: the same heap. */
static void asked(void)
{
	uint8_t *first = NULL;
	uint32_t used = 0;

	for (unsigned int i = 0; i < 4; i++) {
		struct binner *f = start();

		f->b->pending_every = i & 1 ? 2 : 0;
		f->b->map_limit = i & 2 ? 1056 : 0;
		big_picture(f);
		ktap_ok(binner_bin(f));
		same_heap(f, &first, &used);
		ktap_ok(i != 1 || f->b->answers > 3);
		binner_free(f);
	}
	free(first);
}

/*
 * Pictures for which a 64 KiB heap is large enough, nearly large enough, and too small. A record or
 * a block does not fit, and nothing is written after the end.
 */
static void ends_anywhere(struct binner *f)
{
	enum { SIZE = 65536, BEHIND = 16384 };
	const uint8_t guard = 0xa5;
	unsigned int fit = 0, fail = 0;

	for (unsigned int n = 0; fail < 40; n++) {
		binner_again(f);
		f->frame.heap_size = SIZE;
		binner_states(f);
		binner_arrays(f, TSR_TOPOLOGY_TRIANGLES, 300);
		for (unsigned int i = 0; i < n; i++)
			binner_arrays(f, TSR_TOPOLOGY_POINTS, 1);
		memset(f->heap + SIZE, guard, BEHIND);
		if (binner_bin(f)) {
			ktap_ok(f->bin->used <= SIZE);
			fit++;
		} else {
			ktap_eq(f->mem.fault.code, TSR_FAULT_HEAP_EXHAUSTED);
			ktap_eq(f->mem.fault.addr, BINNER_HEAP + SIZE);
			fail++;
		}
		ktap_ok(f->heap[SIZE] == guard &&
			!memcmp(f->heap + SIZE, f->heap + SIZE + 1, BEHIND - 1));
	}
	ktap_ok(fit > 40);
}

static void exhausted(void)
{
	struct binner *f = start();
	struct tsr_queue *q = &f->b->gpu->queue[3];
	uint32_t used;
	uint8_t *large;

	big_picture(f);
	ktap_ok(binner_bin(f));
	used = f->bin->used;
	large = malloc(used);
	memcpy(large, f->heap, used);
	ends_anywhere(f);
	/* too small by any number of chunks */
	for (f->frame.heap_size = 0; f->frame.heap_size < used; f->frame.heap_size += 65536) {
		big_picture(f);
		fault_is(f, TSR_FAULT_HEAP_EXHAUSTED, BINNER_HEAP + f->frame.heap_size);
		ktap_eq(f->mem.fault.unit, TSR_UNIT_BINNER);
		/* no data is left that RENDER would take for a frame */
		if (!f->frame.heap_size)
			continue;
		ktap_ok(!binner_read(f));
		ktap_eq(f->mem.fault.code, TSR_FAULT_HEAP_CONTENT);
	}
	big_picture(f);
	ktap_ok(binner_bin(f));
	/* a heap that grows, whenever it is asked for */
	f->frame.heap_size = 0;
	f->mem.queue = q;
	q->gpu = f->b->gpu;
	tsr_heap_state_set(q, BINNER_HEAP, 0, 4096);
	big_picture(f);
	memset(f->heap, 0, used);
	grown = 0;
	f->grow = grow;
	ktap_ok(binner_bin(f));
	ktap_eq(grown, (used + 65535) / 65536);
	ktap_eq(f->bin->used, used);
	ktap_ok(!memcmp(f->heap, large, used));
	free(large);
	binner_free(f);
}

int main(void)
{
	ktap_start();
	ktap_run("[CP10] lists call lists, jump, return and halt", calls);
	ktap_run("[CP10] lists without end, beyond their end, in memory they must not be in",
		 bounds);
	ktap_run("[CP3] [INST1] [INST8] packets of lists with one thing wrong", bad_packets);
	ktap_run("[CP3] states, frames and commands with one thing wrong", bad_structures);
	ktap_run("[CP4] state versions and descriptors: any number, the same heap; stalls",
		 versions);
	ktap_run("[CP4] descriptors that take turns are renamed once", descriptors);
	ktap_run("[INST1] [INST8] [INST7] the padded number of vertices", padding);
	ktap_run("[INST8] indices beyond the padded number of vertices", large_indices);
	ktap_run("[BIN4] a heap that is too small, and one that grows", exhausted);
	ktap_run("a host that has to be asked for memory, in pieces", asked);
	return ktap_finish();
}
