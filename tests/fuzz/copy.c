/* SPDX-License-Identifier: MIT */
/*
 * Any packet to the COPY engine, over any map of pages, with translations that are pending or cut
 * short: memory, fault, counters and dirty marks are as the byte-by-byte reference has them, and
 * nothing outside the pages is touched (each is a heap block of its own).
 *
 * Input: the packet's qwords, opcode and length put right; a byte each for the chance of pending
 * and of short translations; then a byte for each page of the two areas. Addresses are put near
 * these areas, sizes cut to what the reference can do, unless a bit says that they shall stay wild.
 * Surfaces with tags need a whole device, see tests/model/copy/copy_tagged.c.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "copy_ref.h"
#include "ktap.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define AREA_PAGES 12u
#define SRC 0x10000000ULL
#define DST 0x20000000ULL
#define TEXELS_MAX 3000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The rest of the input. */
struct input {
	const uint8_t *data;
	size_t size;
};

static uint64_t take(struct input *in, unsigned int bytes)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < bytes && in->size; i++, in->size--)
		value |= (uint64_t)*in->data++ << 8 * i;
	return value;
}

static void map_page(struct mock_mem *m, uint64_t va, uint8_t how)
{
	static const uint8_t codes[] = { TSR_FAULT_MMU_WALK, TSR_FAULT_MMU_WALK_BUS,
					 TSR_FAULT_BUS, TSR_FAULT_NONE };
	uint8_t access = TSR_ACCESS_READ | TSR_ACCESS_WRITE;
	struct mock_page *p;

	/* Most values are ordinary pages. */
	if ((how & 0xf0) == 0x10)
		return;
	if ((how & 0xf0) == 0x20)
		access = how & 3;
	p = mock_map(m, va, access, (how & 0xf0) == 0x30);
	if ((how & 0xf0) == 0x40)
		p->fault = codes[how & 3];
}

/* An address in the area, or a wild one, which is outside of both. */
static uint64_t near(uint64_t base, uint64_t wild, uint64_t bits)
{
	return wild & 1 ? bits | 1ULL << 40 : base + bits % (8 * MOCK_PAGE);
}

static void limit(uint32_t *width, uint32_t *height)
{
	*width %= 300;
	*height = *width ? *height % (TEXELS_MAX / *width + 1) : *height % 300;
}

static void make_copy_rect(uint64_t *cmd, uint64_t wild)
{
	struct tsr_copy_rect p;

	tsr_unpack_copy_rect(cmd, &p);
	p.src_tagged = p.dst_tagged = false;
	p.texel = wild & 2 ? p.texel : p.texel % 16 + 1;
	p.src = near(SRC, wild, p.src) & (p.src_layout && !(wild & 2) ? ~63ULL : ~0ULL);
	p.dst = near(DST, wild, p.dst) & (p.dst_layout && !(wild & 2) ? ~63ULL : ~0ULL);
	if (!(wild & 4)) {
		p.src_pitch = p.src_layout ? p.src_pitch % 4 * 256 * p.texel : p.src_pitch % 2000;
		p.dst_pitch = p.dst_layout ? p.dst_pitch % 4 * 256 * p.texel : p.dst_pitch % 2000;
	}
	if (!(wild & 8)) {
		p.src_x %= 40, p.src_y %= 40, p.dst_x %= 40, p.dst_y %= 40;
	}
	limit(&p.width, &p.height);
	tsr_pack_copy_rect(cmd, &p);
}

static void make_fill_rect(uint64_t *cmd, uint64_t wild)
{
	struct tsr_fill_rect p;

	tsr_unpack_fill_rect(cmd, &p);
	p.tagged = false;
	p.texel = wild & 2 ? p.texel : p.texel % 16 + 1;
	p.dst = near(DST, wild, p.dst) & (p.layout && !(wild & 2) ? ~63ULL : ~0ULL);
	if (!(wild & 4))
		p.pitch = p.layout ? p.pitch % 4 * 256 * p.texel : p.pitch % 2000;
	if (!(wild & 8))
		p.x %= 40, p.y %= 40;
	if (!(wild & 16)) {
		p.pattern_lo &= p.texel < 8 ? (1ULL << 8 * p.texel) - 1 : ~0ULL;
		p.pattern_hi &= p.texel <= 8 ? 0 :
				p.texel < 16 ? (1ULL << 8 * (p.texel - 8)) - 1 : ~0ULL;
	}
	limit(&p.width, &p.height);
	tsr_pack_fill_rect(cmd, &p);
}

static void make_copy_linear(uint64_t *cmd, uint64_t wild)
{
	struct tsr_copy_linear p;

	tsr_unpack_copy_linear(cmd, &p);
	p.src = near(SRC, wild, p.src);
	p.dst = near(DST, wild, p.dst);
	p.size %= 40000;
	tsr_pack_copy_linear(cmd, &p);
}

static void make_fill_linear(uint64_t *cmd, uint64_t wild)
{
	struct tsr_fill_linear p;

	tsr_unpack_fill_linear(cmd, &p);
	p.texel = wild & 2 ? p.texel : p.texel % 16 + 1;
	p.dst = near(DST, wild, p.dst);
	p.size %= 40000;
	if (!(wild & 16)) {
		p.size -= p.texel ? p.size % p.texel : 0;
		p.pattern_lo &= p.texel < 8 ? (1ULL << 8 * p.texel) - 1 : ~0ULL;
		p.pattern_hi &= p.texel <= 8 ? 0 :
				p.texel < 16 ? (1ULL << 8 * (p.texel - 8)) - 1 : ~0ULL;
	}
	tsr_pack_fill_linear(cmd, &p);
}

/*
 * True if the engine refuses the packet: then its result is known and nothing else to be compared.
 */
static bool refused(struct mock_mem *m, const uint64_t *cmd)
{
	struct tsr_engine_state state = { { 0 } };
	struct tsr_step_cost cost;
	struct mock_mem *empty = mock_new();
	bool bad;

	tsr_copy_step(&empty->mem, 0x5000, cmd, &state, &cost);
	bad = empty->mem.fault.code == TSR_FAULT_BAD_VALUE ||
	      empty->mem.fault.code == TSR_FAULT_ALIGNMENT;
	if (bad && (empty->calls || cost.write_bytes))
		abort();
	mock_free(empty);
	(void)m;
	return bad;
}

static void make(struct input *in, uint64_t *cmd)
{
	static void (*const makers[])(uint64_t *cmd, uint64_t wild) = {
		make_copy_linear, make_copy_rect, make_fill_linear, make_fill_rect,
	};
	static const uint8_t qwords[] = { TSR_COPY_LINEAR_QWORDS, TSR_COPY_RECT_QWORDS,
					  TSR_FILL_LINEAR_QWORDS, TSR_FILL_RECT_QWORDS };
	uint64_t kind = take(in, 1) % 4, wild = take(in, 1);
	unsigned int i;

	/* One input in four is wild in some respect. */
	wild = wild & 0xc0 ? 0 : wild;
	for (i = 0; i < qwords[kind]; i++)
		cmd[i] = take(in, 8);
	cmd[0] = (cmd[0] & ~0xffffULL) | (TSR_OP_COPY_LINEAR + kind) | (uint64_t)qwords[kind] << 8;
	makers[kind](cmd, wild);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct copy_random r = { 0 };
	struct mock_mem *m = mock_new();
	uint64_t cmd[8] = { 0 };
	unsigned int i;

	make(&in, cmd);
	m->random = copy_random_mock;
	m->arg = &r;
	m->pending_percent = (unsigned int)take(&in, 1) % 64;
	m->fragment_percent = (unsigned int)take(&in, 1) % 100;
	r.state = take(&in, 2);
	for (i = 0; i < AREA_PAGES; i++) {
		map_page(m, SRC + i * MOCK_PAGE, (uint8_t)take(&in, 1));
		map_page(m, DST + i * MOCK_PAGE, (uint8_t)take(&in, 1));
	}
	copy_random_fill(&r, m);
	if (!refused(m, cmd) && !copy_check(m, cmd, 0x5000, "fuzz"))
		abort();
	mock_free(m);
	return 0;
}
