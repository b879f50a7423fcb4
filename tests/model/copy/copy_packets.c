/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=60 TSAN=0 */
/* The COPY packets' fields: every one out of its range once, and the extremes of their ranges. */
#include <stdlib.h>
#include <string.h>

#include "copy_ref.h"
#include "ktap.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define RW (TSR_ACCESS_READ | TSR_ACCESS_WRITE)
#define SRC 0x10000000ULL
#define DST 0x20000000ULL
#define PC 0x5008ULL

/* A change to a good packet, and the fault it must give. */
struct bad {
	const char *what;
	unsigned int qword;		/* to be changed */
	uint64_t mask, value;		/* its bits under mask become value */
	unsigned int fault_qword;
	uint8_t code;
	unsigned int qword2;		/* another change, 0: none */
	uint64_t mask2, value2;
};

#define TEXEL_BITS (0xffULL << 32)
#define LOW32 0xffffffffULL
#define HIGH32 (LOW32 << 32)
#define VALUE TSR_FAULT_BAD_VALUE
#define ALIGN TSR_FAULT_ALIGNMENT

/* Memory for the good packets: nothing is mapped, so whoever touches it gets another fault. */
static void check_bad(const uint64_t *good, const struct bad *b)
{
	struct mock_mem *m = mock_new();
	struct tsr_engine_state state = { { 0 } };
	struct tsr_step_cost cost = { 0 };
	uint64_t cmd[8];

	memcpy(cmd, good, sizeof(cmd));
	cmd[b->qword] = (cmd[b->qword] & ~b->mask) | b->value;
	if (b->qword2)
		cmd[b->qword2] = (cmd[b->qword2] & ~b->mask2) | b->value2;
	if (tsr_copy_step(&m->mem, PC, cmd, &state, &cost) != TSR_STEP_FAULT)
		ktap_fail("%s: no fault", b->what);
	if (m->mem.fault.code != b->code || m->mem.fault.addr != PC + 8 * b->fault_qword)
		ktap_fail("%s: code 0x%x at 0x%" PRIx64, b->what, m->mem.fault.code,
			  m->mem.fault.addr);
	ktap_eq(m->bad_packet_pc, PC);
	ktap_eq(m->calls, 0);
	ktap_eq(cost.read_bytes + cost.write_bytes, 0);
	mock_free(m);
}

static void good_copy_rect(uint64_t *cmd)
{
	const struct tsr_copy_rect p = {
		.src_layout = TSR_LAYOUT_TILED, .dst_layout = TSR_LAYOUT_TILED, .texel = 3,
		.src = SRC, .dst = DST, .src_pitch = 256 * 3 * 4, .dst_pitch = 256 * 3 * 5,
		.width = 20, .height = 20,
	};

	tsr_pack_copy_rect(cmd, &p);
}

static void test_copy_rect(void)
{
	static const struct bad bad[] = {
		{ "TEXEL 0", 0, TEXEL_BITS, 0, 0, VALUE, 0, 0, 0 },
		{ "TEXEL 17", 0, TEXEL_BITS, 17ULL << 32, 0, VALUE, 0, 0, 0 },
		{ "TEXEL 255", 0, TEXEL_BITS, 255ULL << 32, 0, VALUE, 0, 0, 0 },
		{ "SRC + 1", 1, 63, 1, 1, ALIGN, 0, 0, 0 },
		{ "SRC + 32", 1, 63, 32, 1, ALIGN, 0, 0, 0 },
		{ "DST + 1", 2, 63, 1, 2, ALIGN, 0, 0, 0 },
		{ "DST + 32", 2, 63, 32, 2, ALIGN, 0, 0, 0 },
		{ "SRC_PITCH", 3, LOW32, 256 * 4, 3, ALIGN, 0, 0, 0 },
		{ "DST_PITCH", 3, HIGH32, 256ULL << 32, 3, ALIGN, 0, 0, 0 },
		{ "WIDTH", 5, LOW32, 65537, 5, VALUE, 0, 0, 0 },
		{ "WIDTH, all ones", 5, LOW32, LOW32, 5, VALUE, 0, 0, 0 },
		{ "HEIGHT", 5, HIGH32, 65537ULL << 32, 5, VALUE, 0, 0, 0 },
		{ "HEIGHT, all ones", 5, HIGH32, HIGH32, 5, VALUE, 0, 0, 0 },
		{ "the first of two", 5, LOW32, 65537, 1, ALIGN, 1, 63, 1 },
		{ "fields are checked when there is nothing to do", 5, ~0ULL, 0, 2, ALIGN, 2, 63,
		  1 },
	};
	uint64_t cmd[8];
	unsigned int i;

	good_copy_rect(cmd);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_bad(cmd, &bad[i]);
}

static void test_fill_rect(void)
{
	static const struct bad bad[] = {
		{ "TEXEL 0", 0, TEXEL_BITS, 0, 0, VALUE, 0, 0, 0 },
		{ "TEXEL 17", 0, TEXEL_BITS, 17ULL << 32, 0, VALUE, 0, 0, 0 },
		{ "DST", 1, 63, 16, 1, ALIGN, 0, 0, 0 },
		{ "PITCH", 2, LOW32, 256, 2, ALIGN, 0, 0, 0 },
		{ "WIDTH", 3, LOW32, 65537, 3, VALUE, 0, 0, 0 },
		{ "HEIGHT", 3, HIGH32, 65537ULL << 32, 3, VALUE, 0, 0, 0 },
		{ "byte 3 of the pattern", 4, 0, 1ULL << 24, 4, VALUE, 0, 0, 0 },
		{ "byte 7 of the pattern", 4, 0, 1ULL << 63, 4, VALUE, 0, 0, 0 },
		{ "byte 8 of the pattern", 5, 0, 1, 5, VALUE, 0, 0, 0 },
		{ "byte 15 of the pattern", 5, 0, 1ULL << 63, 5, VALUE, 0, 0, 0 },
	};
	const struct tsr_fill_rect p = {
		.layout = TSR_LAYOUT_TILED, .texel = 3, .dst = DST, .pitch = 256 * 3 * 4,
		.width = 20, .height = 20, .pattern_lo = 0x123456,
	};
	uint64_t cmd[8];
	unsigned int i;

	tsr_pack_fill_rect(cmd, &p);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_bad(cmd, &bad[i]);
}

static void test_fill_linear(void)
{
	static const struct bad bad[] = {
		{ "TEXEL 0", 0, TEXEL_BITS, 0, 0, VALUE, 0, 0, 0 },
		{ "TEXEL 17", 0, TEXEL_BITS, 17ULL << 32, 0, VALUE, 0, 0, 0 },
		{ "SIZE", 2, 0xffff, 121, 2, ALIGN, 0, 0, 0 },
		{ "byte 12 of the pattern", 4, 0, 1ULL << 32, 4, VALUE, 0, 0, 0 },
		{ "byte 1 of a pattern of 1", 0, TEXEL_BITS, 1ULL << 32, 3, VALUE, 0, 0, 0 },
		{ "byte 8 of a pattern of 8", 0, TEXEL_BITS, 8ULL << 32, 4, VALUE, 0, 0, 0 },
		{ "fields are checked when there is nothing to do", 2, ~0ULL, 0, 4, VALUE, 4, 0,
		  1ULL << 63 },
	};
	const struct tsr_fill_linear p = {
		.texel = 12, .dst = DST, .size = 120, .pattern_lo = 0x1234567890abcdefULL,
		.pattern_hi = 0x7fffffff,
	};
	uint64_t cmd[8];
	unsigned int i;

	tsr_pack_fill_linear(cmd, &p);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_bad(cmd, &bad[i]);
}

/* Every legal texel size is accepted, with a pattern that uses all its bytes. */
static void test_pattern_sizes(void)
{
	unsigned int texel;

	for (texel = 1; texel <= 16; texel++) {
		struct tsr_fill_linear p = { .texel = texel, .dst = DST, .size = texel * 5 };
		struct mock_mem *m = mock_new();
		uint64_t cmd[8];

		p.pattern_lo = texel < 8 ? (1ULL << 8 * texel) - 1 : UINT64_MAX;
		p.pattern_hi =
			texel < 16 ? texel < 8 ? 0 : (1ULL << 8 * (texel - 8)) - 1 : UINT64_MAX;
		tsr_pack_fill_linear(cmd, &p);
		mock_map(m, DST, RW, false);
		copy_check(m, cmd, PC, "pattern");
		ktap_eq(m->page[0].mem[texel * 5 - 1], 0xff);
		ktap_eq(m->page[0].mem[texel * 5], 0);
		mock_free(m);
	}
}

/* Nothing to do: no memory is looked at, whatever the addresses. */
static void test_empty(void)
{
	const struct tsr_copy_rect rects[] = {
		{ .texel = 4, .src = 1, .dst = UINT64_MAX, .width = 0, .height = 65536 },
		{ .texel = 4, .src = 1, .dst = UINT64_MAX, .width = 65536, .height = 0 },
	};
	const struct tsr_copy_linear linear = { .src = 1, .dst = UINT64_MAX, .size = 0 };
	const struct tsr_fill_rect fill = { .texel = 4, .dst = UINT64_MAX, .width = 5 };
	struct mock_mem *m = mock_new();
	uint64_t cmd[8];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		tsr_pack_copy_rect(cmd, &rects[i]);
		copy_check(m, cmd, PC, "empty rectangle");
	}
	tsr_pack_copy_linear(cmd, &linear);
	copy_check(m, cmd, PC, "empty copy");
	tsr_pack_fill_rect(cmd, &fill);
	copy_check(m, cmd, PC, "empty fill");
	ktap_eq(m->calls, 0);
	mock_free(m);
}

/*
 * The largest rectangle, pitches and positions, mirrored: the first texel read is the last of the
 * source, and only its page and that of the first texel written are there. The reference would list
 * four thousand million texels, so where it stops is computed here.
 */
static void test_extremes(void)
{
	const struct tsr_copy_rect p = {
		.texel = 16, .src = SRC, .src_pitch = UINT32_MAX, .dst = DST,
		.dst_pitch = UINT32_MAX, .src_x = 65535, .src_y = 65535, .dst_x = 65535,
		.dst_y = 65535, .width = 65536, .height = 65536, .flip_x = true, .flip_y = true,
	};
	uint64_t from = SRC + 131070ULL * UINT32_MAX + 131070 * 16, cmd[8];
	uint64_t to = DST + 65535ULL * UINT32_MAX + 65535 * 16;
	/* Texels that can be read in the page leftwards, and written rightwards. */
	uint64_t reads = from % MOCK_PAGE / 16 + 1, writes = (MOCK_PAGE - to % MOCK_PAGE) / 16;
	struct tsr_engine_state state = { { 0 } };
	struct mock_mem *m = mock_new();
	struct tsr_step_cost cost;

	mock_map(m, from, RW, false);
	mock_map(m, to, RW, false);
	tsr_pack_copy_rect(cmd, &p);
	ktap_eq(tsr_copy_step(&m->mem, PC, cmd, &state, &cost), TSR_STEP_FAULT);
	ktap_eq(m->mem.fault.code, TSR_FAULT_MMU_UNMAPPED);
	ktap_eq(m->mem.fault.addr, reads <= writes ? from - reads * 16 :
						     to / MOCK_PAGE * MOCK_PAGE + MOCK_PAGE);
	ktap_eq(cost.write_bytes, 16 * (reads <= writes ? reads : writes));
	mock_free(m);
}

/* A texel beyond 64 bits faults at all ones; it does not wrap to memory that is there. */
static void test_no_wrap(void)
{
	struct tsr_copy_rect p = {
		.texel = 4, .src = UINT64_MAX - 1000, .src_pitch = 1000, .dst = DST,
		.dst_pitch = 1000, .src_y = 2, .width = 4, .height = 4,
	};
	struct mock_mem *m = mock_new();
	uint64_t cmd[8];
	unsigned int tiled;

	mock_map_range(m, 0, 10000, RW);
	mock_map_range(m, SRC, 10000, RW);
	mock_map_range(m, DST, 10000, RW);
	tsr_pack_copy_rect(cmd, &p);
	copy_check(m, cmd, PC, "source beyond 64 bits");
	ktap_eq(m->mem.fault.addr, UINT64_MAX);
	ktap_eq(m->mem.fault.access, TSR_ACCESS_READ);
	for (tiled = 0; tiled < 2; tiled++) {
		p.src = SRC;
		p.dst = UINT64_MAX - 1023;
		p.dst_layout = tiled;
		p.dst_pitch = 1024;
		p.dst_y = 32;
		tsr_pack_copy_rect(cmd, &p);
		copy_check(m, cmd, PC, "destination beyond 64 bits");
		ktap_eq(m->mem.fault.addr, UINT64_MAX);
		ktap_eq(m->mem.fault.access, TSR_ACCESS_WRITE);
	}
	mock_free(m);
}

/*
 * A block whose first row is mapped below the end of the range. Its next row would be at address 0.
 * (No real address space extends that far. This one does.)
 */
static void test_no_wrap_in_block(void)
{
	struct tsr_copy_rect p = {
		.texel = 4, .src = UINT64_MAX - 0x1fff, .src_pitch = 0x2000, .dst = DST,
		.dst_pitch = 1024, .dst_layout = 1, .width = 16, .height = 16,
	};
	struct mock_mem *m = mock_new();
	uint64_t cmd[8];
	unsigned int flip;

	mock_map_range(m, 0, 0x20000, RW);
	mock_map(m, UINT64_MAX - 0x1fff, RW, false);
	mock_map_range(m, DST, 10000, RW);
	for (flip = 0; flip < 2; flip++) {
		p.flip_y = flip;
		tsr_pack_copy_rect(cmd, &p);
		copy_check(m, cmd, PC, "linear source beyond 64 bits");
		ktap_eq(m->mem.fault.addr, UINT64_MAX);
		ktap_eq(m->mem.fault.access, TSR_ACCESS_READ);
	}
	p.src = DST;
	p.src_pitch = 1024;
	p.src_layout = 1;
	p.dst = UINT64_MAX - 0x1fff;
	p.dst_pitch = 0x2000;
	p.dst_layout = 0;
	tsr_pack_copy_rect(cmd, &p);
	copy_check(m, cmd, PC, "linear destination beyond 64 bits");
	ktap_eq(m->mem.fault.addr, UINT64_MAX);
	ktap_eq(m->mem.fault.access, TSR_ACCESS_WRITE);
	mock_free(m);
}

/* A state that no command leaves behind (a snapshot from elsewhere) must not get out of bounds. */
static void test_hostile_state(void)
{
	static const uint64_t states[] = { 399, 400, 401, 1ULL << 32, 1ULL << 63, UINT64_MAX };
	unsigned int i, kind;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		for (kind = 0; kind < 2; kind++) {
			struct tsr_copy_linear linear = { .src = SRC, .dst = DST, .size = 400 };
			struct tsr_engine_state state = { { states[i], 1, 2, 3 } };
			struct mock_mem *m = mock_new();
			struct tsr_step_cost cost;
			uint64_t cmd[8];

			mock_map_range(m, SRC, 20000, RW);
			mock_map_range(m, DST, 20000, RW);
			if (kind)
				good_copy_rect(cmd);
			else
				tsr_pack_copy_linear(cmd, &linear);
			ktap_eq(tsr_copy_step(&m->mem, PC, cmd, &state, &cost), TSR_STEP_DONE);
			ktap_ok(cost.write_bytes <= 3);
			mock_free(m);
		}
	}
}

static void test_unknown(void)
{
	struct mock_mem *m = mock_new();
	struct tsr_engine_state state = { { 0 } };
	struct tsr_step_cost cost;
	uint64_t cmd[8] = { TSR_OP_NOP | 1 << 8 };

	ktap_eq(tsr_copy_step(&m->mem, PC, cmd, &state, &cost), TSR_STEP_FAULT);
	ktap_eq(m->mem.fault.code, TSR_FAULT_UNSUPPORTED);
	ktap_eq(m->mem.fault.addr, PC);
	mock_free(m);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[CP3] COPY_RECT: every field out of its range", test_copy_rect);
	ktap_run("[CP3] FILL_RECT: every field out of its range", test_fill_rect);
	ktap_run("[CP3] FILL_LINEAR: every field out of its range", test_fill_linear);
	ktap_run("[CP3] FILL_LINEAR: patterns of all sizes are accepted", test_pattern_sizes);
	ktap_run("nothing to do touches nothing", test_empty);
	ktap_run("[MEM3] the largest pitches and positions do not overflow", test_extremes);
	ktap_run("[MEM3] addresses do not wrap", test_no_wrap);
	ktap_run("[MEM3] addresses do not wrap inside of a block", test_no_wrap_in_block);
	ktap_run("a state that makes no sense does no harm", test_hostile_state);
	ktap_run("[CP3] a packet of another unit is refused", test_unknown);
	return ktap_finish();
}
