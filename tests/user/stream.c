// SPDX-License-Identifier: MIT
/*
 * The command writer: what it writes, word by word against values worked out by hand from
 * Documentation/hw/packets.xml; how it chains chunks; what it refuses.
 */
#include <errno.h>
#include <stdlib.h>

#include "ktap.h"
#include <tessera/cmd.h>

#define FIRST_VA 0x1230000ull
#define VA_STEP 0x10000ull

/* Chunks in plain memory, at made-up addresses. */
struct memory {
	uint64_t *chunk[64];
	unsigned int allocated, freed;
	unsigned int fail_at;		/* this allocation (from 1) fails; 0: none */
};

static int chunk_alloc(void *context, uint32_t size, struct tsr_stream_chunk *chunk)
{
	struct memory *m = context;

	if (m->allocated + 1 == m->fail_at || m->allocated == 64)
		return -ENOSPC;
	m->chunk[m->allocated] = malloc(size);
	memset(m->chunk[m->allocated], 0xcc, size);
	chunk->va = FIRST_VA + m->allocated * VA_STEP;
	chunk->cpu = m->chunk[m->allocated++];
	chunk->size = size;
	return 0;
}

static void chunk_free(void *context, struct tsr_stream_chunk *chunk)
{
	struct memory *m = context;

	free(chunk->cpu);
	m->freed++;
}

static struct tsr_stream *new_stream(struct memory *m, uint32_t chunk_size)
{
	const struct tsr_stream_memory memory = { chunk_alloc, chunk_free, m };
	struct tsr_stream *stream = NULL;

	memset(m, 0, sizeof(*m));
	ktap_eq(tsr_stream_create_custom(&memory, chunk_size, &stream), 0);
	return stream;
}

/* Finish; the stream has to be one chunk that holds exactly these words. */
static void expect(struct tsr_stream *stream, struct memory *m, const uint64_t *words,
		   unsigned int count)
{
	uint32_t size = 0;
	uint64_t va = 0;

	ktap_eq(tsr_stream_finish(stream, &va, &size), 0);
	ktap_eq(va, FIRST_VA);
	ktap_eq(size, count * 8);
	ktap_mem_eq(m->chunk[0], words, count * 8);
	tsr_stream_destroy(stream);
	ktap_eq(m->freed, m->allocated);
}

static void test_control(void)
{
	static const uint64_t words[] = {
		0x0100,					/* NOP, 1 word */
		0x0300, 0, 0,				/* NOP, 3 words */
		0x0301, 0x40000, 0x88,			/* CALL */
		0x000f0118,				/* BARRIER, all four bits */
		0x00020118,				/* BARRIER, WAIT_WRITES */
	};
	struct memory m;
	struct tsr_stream *s = new_stream(&m, 0);

	ktap_eq(tsr_cmd_nop(s, 1), 0);
	ktap_eq(tsr_cmd_nop(s, 3), 0);
	ktap_eq(tsr_cmd_call(s, 0x40000, 0x88), 0);
	ktap_eq(tsr_cmd_barrier(s, TSR_CMD_WAIT_READS | TSR_CMD_WAIT_WRITES |
				   TSR_CMD_INVALIDATE_READ | TSR_CMD_INVALIDATE_CODE), 0);
	ktap_eq(tsr_cmd_barrier(s, TSR_CMD_WAIT_WRITES), 0);
	expect(s, &m, words, sizeof(words) / 8);
}

static void test_synchronisation(void)
{
	static const uint64_t words[] = {
		0x00010310, 0x1004, 7,				/* WAIT, 32 bits, GE */
		0x00060310, 0x1008, 0xfedcba9876543210,		/* WAIT, 64 bits, LT */
		0x00040312, 0x2004, 0xffffffff,			/* SIGNAL, SET at WRITES_DONE */
		0x000f0312, 0x2008, 0x8000000000000001,		/* SIGNAL 64, ADD at ALL_DONE */
		0x00030314, 0x3000, 5,				/* FENCE at ALL_DONE */
		0x00010215, 0x3008,				/* TIMESTAMP at READS_DONE */
		0x021a, 0xfff,					/* COUNTER_BEGIN */
		0x021b, 0x4000,					/* COUNTER_END */
	};
	struct memory m;
	struct tsr_stream *s = new_stream(&m, 0);

	ktap_eq(tsr_cmd_wait32(s, 0x1004, TSR_COMPARE_GE, 7), 0);
	ktap_eq(tsr_cmd_wait64(s, 0x1008, TSR_COMPARE_LT, 0xfedcba9876543210), 0);
	ktap_eq(tsr_cmd_signal32(s, 0x2004, TSR_SIGNAL_OP_SET, TSR_EVENT_WRITES_DONE, ~0u), 0);
	ktap_eq(tsr_cmd_signal64(s, 0x2008, TSR_SIGNAL_OP_ADD, TSR_EVENT_ALL_DONE,
				 0x8000000000000001), 0);
	ktap_eq(tsr_cmd_fence(s, 0x3000, TSR_EVENT_ALL_DONE, 5), 0);
	ktap_eq(tsr_cmd_timestamp(s, 0x3008, TSR_EVENT_READS_DONE), 0);
	ktap_eq(tsr_cmd_counter_begin(s, 0xfff), 0);
	ktap_eq(tsr_cmd_counter_end(s, 0x4000), 0);
	expect(s, &m, words, sizeof(words) / 8);
}

static void test_copies(void)
{
	static const uint64_t words[] = {
		0x0420, 0x111, 0x555, 0x123,				/* COPY_LINEAR */
		0x0300000522, 0x777, 9, 0x0000000000030201, 0,		/* FILL_LINEAR, 3 bytes */
		/* COPY_RECT: linear to tiled, FLIP_Y, 4 bytes */
		0x04000a0621, 0x10001, 0x20040, 0x00000c0000000140, 0x0006000500020001,
		0x0000000b0000000a,
		/* FILL_RECT: tiled, 16 bytes */
		0x1000010623, 0x30000, 0x0002000100001000, 0x0000000400000003,
		0x0706050403020100, 0x0f0e0d0c0b0a0908,
	};
	static const unsigned char pattern[16] = {0, 1, 2,  3,	4,  5,	6,  7,
						  8, 9, 10, 11, 12, 13, 14, 15};
	struct tsr_surface linear, tiled, wide;
	const struct tsr_rect from = { 1, 2, 10, 11 }, area = { 1, 2, 3, 4 };
	struct memory m;
	struct tsr_stream *s = new_stream(&m, 0);

	KTAP_REQUIRE(!tsr_surface_init(&linear, TSR_LAYOUT_LINEAR, 80, 20, 4, 0));
	KTAP_REQUIRE(!tsr_surface_init(&tiled, TSR_LAYOUT_TILED, 48, 20, 4, 0));
	KTAP_REQUIRE(!tsr_surface_init(&wide, TSR_LAYOUT_TILED, 16, 16, 16, 0));
	ktap_eq(linear.va | tiled.va | wide.va, 0);
	linear.va = 0x10001;
	tiled.va = 0x20040;
	wide.va = 0x30000;
	ktap_eq(tsr_cmd_copy(s, 0x555, 0x111, 0x123), 0);
	ktap_eq(tsr_cmd_fill(s, 0x777, 9, "\1\2\3", 3), 0);
	ktap_eq(tsr_cmd_copy_image(s, &tiled, 5, 6, &linear, &from, TSR_CMD_FLIP_Y), 0);
	ktap_eq(tsr_cmd_fill_image(s, &wide, &area, pattern), 0);
	expect(s, &m, words, sizeof(words) / 8);
}

/* Chunks of 16 words: 13 of packets, then the JUMP to the next. */
static void test_chaining(void)
{
	uint64_t va, expected_va = FIRST_VA;
	uint32_t size, expected_size;
	unsigned int i, chunks;
	struct memory m;
	struct tsr_stream *s = new_stream(&m, 128);
	uint64_t *word;

	for (i = 0; i < 40; i++)
		ktap_eq(tsr_cmd_fence(s, 0x1000, TSR_EVENT_REACHED, i), 0);
	KTAP_REQUIRE(tsr_stream_finish(s, &va, &size) == 0);
	ktap_eq(va, FIRST_VA);
	/* four fences of three words and a JUMP make 15 words */
	chunks = m.allocated;
	ktap_eq(chunks, 10);
	for (i = 0; i < chunks; i++) {
		expected_size = i + 1 < chunks ? 15 * 8 : 12 * 8;
		ktap_eq(va, expected_va);
		ktap_eq(size, expected_size);
		for (word = m.chunk[i]; word < m.chunk[i] + 12; word += 3) {
			ktap_eq(word[0], 0x0314);
			ktap_eq(word[2], i * 4 + (unsigned int)(word - m.chunk[i]) / 3);
		}
		if (i + 1 == chunks)
			break;
		ktap_eq(word[0], 0x0302);		/* JUMP */
		va = word[1];
		size = (uint32_t)word[2];
		ktap_eq(word[2] >> 32, 0);
		expected_va += VA_STEP;
	}
	ktap_eq(m.chunk[chunks - 1][12], 0xcccccccccccccccc);
	tsr_stream_destroy(s);
	ktap_eq(m.freed, m.allocated);
}

/* A reset stream uses its chunks again; a packet that fits in none of them gets a chunk between. */
static void test_reset(void)
{
	struct memory m;
	struct tsr_stream *s = new_stream(&m, 128);
	uint64_t va;
	uint32_t size;
	unsigned int i;

	for (i = 0; i < 8; i++)
		ktap_eq(tsr_cmd_fence(s, 0x1000, TSR_EVENT_REACHED, i), 0);
	ktap_eq(tsr_stream_finish(s, NULL, NULL), 0);
	ktap_eq(m.allocated, 2);
	tsr_stream_reset(s);
	ktap_eq(tsr_stream_finish(s, &va, &size), 0);
	ktap_eq(va, 0);
	ktap_eq(size, 0);
	tsr_stream_reset(s);
	ktap_eq(tsr_cmd_nop(s, 1), 0);
	ktap_eq(tsr_cmd_nop(s, 255), 0);	/* 2040 bytes: more than a chunk */
	ktap_eq(tsr_cmd_nop(s, 2), 0);
	ktap_eq(m.allocated, 3);
	ktap_eq(tsr_stream_finish(s, &va, &size), 0);
	ktap_eq(va, FIRST_VA);
	ktap_eq(size, 4 * 8);
	ktap_eq(m.chunk[0][1], 0x0302);
	ktap_eq(m.chunk[0][2], FIRST_VA + 2 * VA_STEP);
	ktap_eq(m.chunk[2][0], 0xff00);
	/* its chunk is 2112 bytes: the NOP, six words free, so the last packet follows it */
	ktap_eq(m.chunk[0][3], 257 * 8);
	ktap_eq(m.chunk[2][255], 0x0200);
	tsr_stream_destroy(s);
	ktap_eq(m.freed, m.allocated);
}

static void test_finished(void)
{
	struct memory m;
	struct tsr_stream *s = new_stream(&m, 0);
	uint64_t va, *p;
	uint32_t size;

	p = tsr_stream_emit(s, 2);
	KTAP_REQUIRE(p);
	p[0] = 0x0200;
	p[1] = 0;
	ktap_eq(tsr_stream_va(s, p + 1), FIRST_VA + 8);
	ktap_eq(tsr_stream_finish(s, &va, &size), 0);
	ktap_eq(tsr_cmd_nop(s, 1), -EBUSY);
	ktap_ok(!tsr_stream_emit(s, 1));
	/* the stream still works */
	ktap_eq(tsr_stream_finish(s, &va, &size), 0);
	ktap_eq(size, 16);
	tsr_stream_destroy(s);
}

/* Each call is wrong in one value: refused, nothing written, and the stream remembers. */
static int bad_call(struct tsr_stream *s, unsigned int n)
{
	struct tsr_surface a, b, c;
	const struct tsr_rect all = {0, 0, 32, 32}, over = {1, 0, 32, 32}, part = {0, 0, 8, 8};

	tsr_surface_init(&a, TSR_LAYOUT_TILED, 32, 32, 4, 0);
	tsr_surface_init(&b, TSR_LAYOUT_LINEAR, 32, 32, 4, 0);
	tsr_surface_init(&c, TSR_LAYOUT_LINEAR, 32, 32, 2, 0);
	b.va = 0x10000;
	c.va = 0x20000;
	switch (n) {
	case 0: return tsr_cmd_nop(s, 0);
	case 1: return tsr_cmd_nop(s, 256);
	case 2: return tsr_cmd_call(s, 0x1020, 8);
	case 3: return tsr_cmd_call(s, 0x1040, 4);
	case 4: return tsr_cmd_call(s, 0x1040, 0);
	case 5: return tsr_cmd_call(s, 0x1040, 0x10000008);
	case 6: return tsr_cmd_barrier(s, 16);
	case 7: return tsr_cmd_wait32(s, 0x1002, TSR_COMPARE_EQ, 0);
	case 8: return tsr_cmd_wait64(s, 0x1004, TSR_COMPARE_EQ, 0);
	case 9: return tsr_cmd_wait32(s, 0x1000, 3, 0);
	case 10: return tsr_cmd_signal32(s, 0x1001, TSR_SIGNAL_OP_SET, TSR_EVENT_REACHED, 0);
	case 11: return tsr_cmd_signal64(s, 0x1004, TSR_SIGNAL_OP_SET, TSR_EVENT_REACHED, 0);
	case 12: return tsr_cmd_signal32(s, 0x1000, 2, TSR_EVENT_REACHED, 0);
	case 13: return tsr_cmd_signal32(s, 0x1000, TSR_SIGNAL_OP_SET, 4, 0);
	case 14: return tsr_cmd_fence(s, 0x1004, TSR_EVENT_REACHED, 0);
	case 15: return tsr_cmd_fence(s, 0x1000, 4, 0);
	case 16: return tsr_cmd_timestamp(s, 0x1004, TSR_EVENT_REACHED);
	case 17: return tsr_cmd_counter_end(s, 0x1004);
	case 18: return tsr_cmd_counter_end(s, 0x1001);
	case 19: return tsr_cmd_copy(s, 0x1000, 0x1001, 2);
	case 20: return tsr_cmd_copy(s, 0, 1ull << 48, 1ull << 48);
	case 21: return tsr_cmd_copy(s, UINT64_MAX - 1, 0, 4);
	case 22: return tsr_cmd_fill(s, 0, 16, "", 0);
	case 23: return tsr_cmd_fill(s, 0, 17, "12345678123456789", 17);
	case 24: return tsr_cmd_fill(s, 0, 10, "123", 3);
	case 25: return tsr_cmd_copy_image(s, &b, 0, 0, &a, &over, 0);
	case 26: return tsr_cmd_copy_image(s, &b, 1, 0, &a, &all, 0);
	case 27: return tsr_cmd_copy_image(s, &c, 0, 0, &a, &all, 0);
	case 28: return tsr_cmd_copy_image(s, &b, 0, 0, &a, &all, 4);
	case 29: return tsr_cmd_copy_image(s, &b, 7, 7, &b, &part, 0);
	case 30: a.va = 32; return tsr_cmd_copy_image(s, &b, 0, 0, &a, &all, 0);
	case 31: a.pitch = 1024; return tsr_cmd_fill_image(s, &a, &all, "1234");
	case 32: return tsr_cmd_fill_image(s, &a, &over, "1234");
	default: return 1;
	}
}

static void test_refused(void)
{
	struct memory m;
	struct tsr_stream *s;
	unsigned int n;
	uint64_t va = 99;
	uint32_t size = 99;

	for (n = 0; ; n++) {
		s = new_stream(&m, 0);
		ktap_eq(tsr_cmd_nop(s, 1), 0);
		if (bad_call(s, n) == 1)
			break;
		tsr_stream_reset(s);
		ktap_eq(tsr_cmd_nop(s, 1), 0);
		if (!ktap_eq(bad_call(s, n), -EINVAL))
			ktap_note("that was case %u", n);
		ktap_ok(tsr_error_message()[0] != '\0');
		ktap_eq(m.chunk[0][1], 0xcccccccccccccccc);
		ktap_eq(tsr_cmd_nop(s, 1), -EINVAL);
		ktap_eq(tsr_stream_finish(s, &va, &size), -EINVAL);
		ktap_eq(va, 99);
		tsr_stream_destroy(s);
	}
	ktap_eq(n, 33);
	tsr_stream_destroy(s);
}

/* Nothing to do is recorded as nothing. */
static void test_empty(void)
{
	struct tsr_surface a, b;
	const struct tsr_rect none = { 32, 32, 0, 0 };
	struct memory m;
	struct tsr_stream *s = new_stream(&m, 0);
	uint64_t va = 1;
	uint32_t size = 1;

	tsr_surface_init(&a, TSR_LAYOUT_TILED, 32, 32, 4, 0);
	tsr_surface_init(&b, TSR_LAYOUT_LINEAR, 32, 32, 4, 0);
	b.va = 0x10000;
	ktap_eq(tsr_cmd_copy_image(s, &a, 32, 32, &b, &none, 0), 0);
	ktap_eq(tsr_cmd_fill_image(s, &a, &none, "1234"), 0);
	ktap_eq(tsr_stream_finish(s, &va, &size), 0);
	ktap_eq(va, 0);
	ktap_eq(size, 0);
	tsr_stream_destroy(s);
}

/* Memory runs out in the middle: an error, and the chunks are given back all the same. */
static void test_no_memory(void)
{
	struct memory m;
	struct tsr_stream *s = new_stream(&m, 128);
	unsigned int i;

	m.fail_at = 2;
	for (i = 0; i < 4; i++)
		ktap_eq(tsr_cmd_fence(s, 0x1000, TSR_EVENT_REACHED, i), 0);
	ktap_eq(tsr_cmd_fence(s, 0x1000, TSR_EVENT_REACHED, 4), -ENOSPC);
	ktap_eq(tsr_stream_finish(s, NULL, NULL), -ENOSPC);
	m.fail_at = 0;
	tsr_stream_reset(s);
	ktap_eq(tsr_cmd_fence(s, 0x1000, TSR_EVENT_REACHED, 4), 0);
	ktap_eq(tsr_stream_finish(s, NULL, NULL), 0);
	tsr_stream_destroy(s);
	ktap_eq(m.freed, m.allocated);
}

int main(void)
{
	ktap_start();
	ktap_run("[CP2] NOP, CALL and BARRIER, word by word", test_control);
	ktap_run("[CP7] WAIT, SIGNAL, FENCE, TIMESTAMP, COUNTER, word by word",
		 test_synchronisation);
	ktap_run("[MEM4] copies and fills, word by word", test_copies);
	ktap_run("[CP2] chunks are chained by JUMP with exact sizes", test_chaining);
	ktap_run("[SYS5] a reset stream uses its memory again", test_reset);
	ktap_run("[SYS5] a finished stream takes no more", test_finished);
	ktap_run("[SYS5] values the GPU would fault on are refused, none is recorded",
		 test_refused);
	ktap_run("[SYS5] empty rectangles and streams", test_empty);
	ktap_run("[SYS5] running out of stream memory", test_no_memory);
	return ktap_finish();
}
