/* SPDX-License-Identifier: MIT */
/*
 * test: TIMEOUT=120 TSAN=0
 *
 * LOAD and STORE with all sizes and segments, one warp in front of the load/store unit. What is
 * expected comes from the bytes of memory, one at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "rnd.h"
#include "simd/simd.h"
#include "units.h"

static struct units *u;

static const struct size {
	unsigned int load, store, bytes, align;
} sizes[] = {
	{ TSR_OP_ADD_LOAD_I8, TSR_OP_ADD_STORE_I8, 1, 1 },
	{ TSR_OP_ADD_LOAD_I16, TSR_OP_ADD_STORE_I16, 2, 2 },
	{ TSR_OP_ADD_LOAD_I24, TSR_OP_ADD_STORE_I24, 3, 1 },
	{ TSR_OP_ADD_LOAD_I32, TSR_OP_ADD_STORE_I32, 4, 4 },
	{ TSR_OP_ADD_LOAD_I48, TSR_OP_ADD_STORE_I48, 6, 2 },
	{ TSR_OP_ADD_LOAD_I64, TSR_OP_ADD_STORE_I64, 8, 4 },
	{ TSR_OP_ADD_LOAD_I96, TSR_OP_ADD_STORE_I96, 12, 4 },
	{ TSR_OP_ADD_LOAD_I128, TSR_OP_ADD_STORE_I128, 16, 4 },
};

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void fill(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = rnd() >> 3;
}

static void fill_registers(void)
{
	fill((uint8_t *)u->reg, sizeof(u->reg));
}

/* How the addresses of the lanes lie: several shapes, one of them random. */
static uint64_t offset(unsigned int shape, unsigned int lane, const struct size *size)
{
	switch (shape) {
	case 0:
		return 0x100 + lane * size->bytes;			/* contiguous */
	case 1:
		return 0x2000 + lane * 64;				/* a stride in a page */
	case 2:
		return 0x3000 + lane * 4096;				/* a page each */
	case 3:
		return 0x1440;						/* all the same */
	case 4:								/* across a page boundary */
		return 0x4ffc + (lane & 1 ? 0 : 64 * lane);
	case 5:								/* lanes overlap */
		return 0x8000 + lane * size->align;
	default:
		return (rnd() % 0x1f000) / size->align * size->align;
	}
}

#define SHAPES 7

static void test_load(void)
{
	fill(u->data, UNITS_DATA_SIZE);
	for (unsigned int n = 0; n < SIZES * SHAPES * 8; n++) {
		const struct size *s = &sizes[n % SIZES];
		unsigned int shape = n / SIZES % SHAPES;
		uint16_t lanes = n / (SIZES * SHAPES) % 2 ? rnd() : UNITS_ALL_LANES;
		unsigned int staging = rnd() % 64;
		uint64_t at[16];
		union tsr_lanes before[5];

		units_insn(u, s->load);
		u->insn.mod[TSR_MOD_SEG] = rnd() % 2 ? TSR_SEG_NONE : TSR_SEG_STREAM;
		fill_registers();
		for (unsigned int l = 0; l < 16; l++) {
			at[l] = offset(shape, l, s);
			units_address(u, l, UNITS_DATA + at[l]);
		}
		for (unsigned int w = 0; w < 5; w++)
			before[w] = *units_reg(u, (staging + w) % 64);
		if (!ktap_eq(units_run(u, staging, lanes), TSR_STEP_DONE))
			return;
		ktap_eq(u->msg.lanes, 0);
		for (unsigned int l = 0; l < 16; l++) {
			uint8_t want[20];

			for (unsigned int w = 0; w < 5; w++)
				memcpy(want + 4 * w, &before[w].u[l], 4);
			if (lanes >> l & 1) {
				memset(want, 0, (s->bytes + 3) / 4 * 4);
				memcpy(want, u->data + at[l], s->bytes);
			}
			for (unsigned int w = 0; w < 5; w++) {
				uint32_t word;

				memcpy(&word, want + 4 * w, 4);
				if (!ktap_eq(units_reg(u, (staging + w) % 64)->u[l], word)) {
					ktap_note("bytes %u shape %u lane %u word %u", s->bytes,
						  shape, l, w);
					return;
				}
			}
		}
	}
}

static void test_load_in_place(void)
{
	/* the staging registers are those that hold the addresses */
	for (unsigned int n = 0; n < SIZES * 2; n++) {
		const struct size *s = &sizes[n % SIZES];
		uint64_t at[16];

		units_insn(u, s->load);
		for (unsigned int l = 0; l < 16; l++) {
			at[l] = n < SIZES ? 0x400 + 16 * l : 0x400 + 4096 * l;
			units_reg(u, 5)->u[l] = UNITS_DATA + at[l];
			units_reg(u, 6)->u[l] = 0;
		}
		u->msg = (struct tsr_msg){
			.insn = &u->insn, .src = { units_reg(u, 5), units_reg(u, 6) },
			.reg = u->reg, .staging = 5, .lanes = UNITS_ALL_LANES,
		};
		ktap_eq(tsr_msg_run(&u->env, &u->msg), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			uint32_t want = 0;

			memcpy(&want, u->data + at[l], s->bytes < 4 ? s->bytes : 4);
			ktap_eq(units_reg(u, 5)->u[l], want);
		}
	}
}

static void test_lane_dest(void)
{
	static const struct {
		unsigned int op, dest, extend;
		uint32_t word0, word1;		/* of memory 0x85 0x96 0xa7 0xf8 into 0x11223344 */
		bool two;
	} row[] = {
		{ TSR_OP_ADD_LOAD_I8, TSR_LANE_DEST_B0, 0, 0x11223385, 0, false },
		{ TSR_OP_ADD_LOAD_I8, TSR_LANE_DEST_B1, 0, 0x11228544, 0, false },
		{ TSR_OP_ADD_LOAD_I8, TSR_LANE_DEST_B2, 0, 0x11853344, 0, false },
		{ TSR_OP_ADD_LOAD_I8, TSR_LANE_DEST_B3, 0, 0x85223344, 0, false },
		{ TSR_OP_ADD_LOAD_I8, TSR_LANE_DEST_H0, TSR_EXTEND_SEXT, 0x1122ff85, 0, false },
		{ TSR_OP_ADD_LOAD_I8, TSR_LANE_DEST_H1, TSR_EXTEND_SEXT, 0xff853344, 0, false },
		{ TSR_OP_ADD_LOAD_I8, TSR_LANE_DEST_H1, TSR_EXTEND_ZEXT, 0x00853344, 0, false },
		{ TSR_OP_ADD_LOAD_I8, TSR_LANE_DEST_W0, TSR_EXTEND_SEXT, 0xffffff85, 0, false },
		{ TSR_OP_ADD_LOAD_I8, TSR_LANE_DEST_W0, TSR_EXTEND_ZEXT, 0x00000085, 0, false },
		{ TSR_OP_ADD_LOAD_I8, TSR_LANE_DEST_D0, TSR_EXTEND_SEXT, 0xffffff85, ~0u, true },
		{ TSR_OP_ADD_LOAD_I8, TSR_LANE_DEST_D0, TSR_EXTEND_ZEXT, 0x00000085, 0, true },
		{ TSR_OP_ADD_LOAD_I16, TSR_LANE_DEST_H0, 0, 0x11229685, 0, false },
		{ TSR_OP_ADD_LOAD_I16, TSR_LANE_DEST_H1, 0, 0x96853344, 0, false },
		{ TSR_OP_ADD_LOAD_I16, TSR_LANE_DEST_W0, TSR_EXTEND_SEXT, 0xffff9685, 0, false },
		{ TSR_OP_ADD_LOAD_I16, TSR_LANE_DEST_D0, TSR_EXTEND_SEXT, 0xffff9685, ~0u, true },
		{ TSR_OP_ADD_LOAD_I16, TSR_LANE_DEST_D0, TSR_EXTEND_ZEXT, 0x00009685, 0, true },
		{ TSR_OP_ADD_LOAD_I32, TSR_LANE_DEST_D0, TSR_EXTEND_SEXT, 0xf8a79685, ~0u, true },
		{ TSR_OP_ADD_LOAD_I32, TSR_LANE_DEST_D0, TSR_EXTEND_ZEXT, 0xf8a79685, 0, true },
		{ TSR_OP_ADD_LOAD_I32, TSR_LANE_DEST_NONE, 0, 0xf8a79685, 0, false },
	};

	memcpy(u->data + 0x800, "\x85\x96\xa7\xf8", 4);
	for (unsigned int n = 0; n < 2 * sizeof(row) / sizeof(row[0]); n++) {
		unsigned int i = n / 2;
		uint16_t lanes = n % 2 ? 0x8421 : UNITS_ALL_LANES;

		units_insn(u, row[i].op);
		u->insn.mod[TSR_MOD_LANE_DEST] = row[i].dest;
		u->insn.mod[TSR_MOD_EXTEND] = row[i].extend;
		for (unsigned int l = 0; l < 16; l++) {
			units_address(u, l, UNITS_DATA + 0x800);
			units_reg(u, 9)->u[l] = 0x11223344;
			units_reg(u, 10)->u[l] = 0x55667788;
		}
		ktap_eq(units_run(u, 9, lanes), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			bool on = lanes >> l & 1;

			ktap_eq(units_reg(u, 9)->u[l], on ? row[i].word0 : 0x11223344);
			ktap_eq(units_reg(u, 10)->u[l],
				on && row[i].two ? row[i].word1 : 0x55667788);
		}
	}
}

static void test_store(void)
{
	static uint8_t want[UNITS_DATA_SIZE];

	for (unsigned int n = 0; n < SIZES * SHAPES * 6; n++) {
		const struct size *s = &sizes[n % SIZES];
		unsigned int shape = n / SIZES % SHAPES;
		uint16_t lanes = n / (SIZES * SHAPES) % 2 ? rnd() : UNITS_ALL_LANES;
		unsigned int staging = rnd() % 64;

		memcpy(want, u->data, sizeof(want));
		units_insn(u, s->store);
		fill_registers();
		for (unsigned int l = 0; l < 16; l++) {
			uint64_t at = offset(shape, l, s);

			units_address(u, l, UNITS_DATA + at);
			for (unsigned int i = 0; i < s->bytes && (lanes >> l & 1); i++)
				want[at + i] =
					units_reg(u, (staging + i / 4) % 64)->u[l] >> i % 4 * 8;
		}
		if (!ktap_eq(units_run(u, staging, lanes), TSR_STEP_DONE) ||
		    !ktap_mem_eq(u->data, want, sizeof(want))) {
			ktap_note("bytes %u shape %u", s->bytes, shape);
			return;
		}
	}
}

static void test_windows(void)
{
	fill(u->group, UNITS_GROUP_BYTES);
	fill(u->data, UNITS_DATA_SIZE);
	for (unsigned int n = 0; n < SIZES * 4 * 6; n++) {
		const struct size *s = &sizes[n % SIZES];
		bool scratch = n / SIZES % 2;
		bool segment = n / SIZES / 2 % 2;
		unsigned int limit = scratch ? UNITS_SCRATCH_SIZE : UNITS_GROUP_BYTES;
		uint32_t at[16];

		units_insn(u, s->load);
		if (segment)
			u->insn.mod[TSR_MOD_SEG] = scratch ? TSR_SEG_TL : TSR_SEG_WLS;
		for (unsigned int l = 0; l < 16; l++) {
			at[l] = rnd() % ((limit - s->bytes) / s->align + 1) * s->align;
			units_address(u, l, (scratch ? TSR_WINDOW_SCRATCH : TSR_WINDOW_GROUP) +
					    at[l]);
			if (segment)
				units_address(u, l, at[l] | 0x123456700000000);
		}
		ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			const uint8_t *from = scratch ? u->data + 0x20000 + l * UNITS_SCRATCH_SIZE
						      : u->group;
			uint32_t want = 0;

			memcpy(&want, from + at[l], s->bytes < 4 ? s->bytes : 4);
			if (!ktap_eq(units_reg(u, 20)->u[l], want))
				return;
		}
	}
}

static void test_window_bounds(void)
{
	for (unsigned int n = 0; n < SIZES * 4; n++) {
		const struct size *s = &sizes[n / 4];
		bool scratch = n % 2, store = n / 2 % 2;
		uint64_t window = scratch ? TSR_WINDOW_SCRATCH : TSR_WINDOW_GROUP;
		uint64_t limit = scratch ? UNITS_SCRATCH_SIZE : UNITS_GROUP_BYTES;
		uint64_t bad = limit - s->bytes + s->align;

		units_insn(u, store ? s->store : s->load);
		for (unsigned int l = 0; l < 16; l++)
			units_address(u, l, window);
		units_address(u, 7, window + limit - s->bytes);
		units_address(u, 9, window + bad);
		ktap_eq(units_run(u, 4, UNITS_ALL_LANES), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_SHADER_BOUNDS, window + bad, 9);
		ktap_eq(u->mem.fault.access, store ? TSR_ACCESS_WRITE : TSR_ACCESS_READ);
		ktap_eq(u->mem.fault.unit, TSR_UNIT_LOAD_STORE);
		ktap_eq(u->msg.lanes, 0xfe00);
		ktap_eq(u->mem.unit, TSR_UNIT_SHADER);
	}
}

static void test_void(void)
{
	for (unsigned int i = 0; i < SIZES; i++) {
		units_insn(u, sizes[i].load);
		fill_registers();
		for (unsigned int l = 0; l < 16; l++)
			units_address(u, l, TSR_WINDOW_VOID + (1ull << 40) * l);
		ktap_eq(units_run(u, 4, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++)
			ktap_eq(units_reg(u, 4)->u[l] & (sizes[i].bytes < 4 ? 0xff : ~0u), 0);
		units_insn(u, sizes[i].store);
		ktap_eq(units_run(u, 4, UNITS_ALL_LANES), TSR_STEP_DONE);
	}
	/* between and above the windows there is nothing */
	for (uint64_t top = 3; top < 15; top++) {
		units_insn(u, TSR_OP_ADD_LOAD_I32);
		units_address(u, 3, top << 60);
		ktap_eq(units_run(u, 4, 8), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_MMU_UNMAPPED, top << 60, 3);
	}
}

static void test_alignment(void)
{
	for (unsigned int i = 0; i < SIZES; i++) {
		for (unsigned int off = 0; off < 4; off++) {
			bool bad = off % sizes[i].align;

			units_insn(u, off & 1 ? sizes[i].load : sizes[i].store);
			for (unsigned int l = 0; l < 16; l++)
				units_address(u, l, UNITS_DATA + 64 * l);
			units_address(u, 11, UNITS_DATA + 0x700 + off);
			ktap_eq(units_run(u, 8, UNITS_ALL_LANES),
				bad ? TSR_STEP_FAULT : TSR_STEP_DONE);
			if (bad)
				units_fault_is(u, TSR_FAULT_SHADER_ALIGNMENT,
					       UNITS_DATA + 0x700 + off, 11);
		}
	}
}

static void test_unmapped(void)
{
	uint64_t end = UNITS_DATA + UNITS_DATA_SIZE;
	static uint8_t want[UNITS_DATA_SIZE];

	for (unsigned int i = 0; i < SIZES; i++) {
		unsigned int over = sizes[i].bytes > 4 ? 4 : 0;

		/* the last bytes reach beyond the end of what is mapped */
		memcpy(want, u->data, sizeof(want));
		units_insn(u, sizes[i].store);
		fill_registers();
		for (unsigned int l = 0; l < 16; l++)
			units_address(u, l, UNITS_DATA + 0x40 * l);
		units_address(u, 5, over ? end - over : end + 0x100);
		ktap_eq(units_run(u, 3, UNITS_ALL_LANES), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_MMU_UNMAPPED, over ? end : end + 0x100, 5);
		/* lanes 0 to 4 have been stored, nothing of 5 and later ones */
		for (unsigned int l = 0; l < 5; l++) {
			for (unsigned int b = 0; b < sizes[i].bytes; b++)
				want[0x40 * l + b] = units_reg(u, 3 + b / 4)->u[l] >> b % 4 * 8;
		}
		ktap_mem_eq(u->data, want, sizeof(want));
		units_insn(u, sizes[i].load);
		ktap_eq(units_run(u, 3, UNITS_ALL_LANES), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_MMU_UNMAPPED, over ? end : end + 0x100, 5);
		ktap_eq(u->mem.fault.access, TSR_ACCESS_READ);
	}
}

static void test_permission(void)
{
	units_insn(u, TSR_OP_ADD_STORE_I32);
	for (unsigned int l = 0; l < 16; l++)
		units_address(u, l, UNITS_TABLES + 4 * l);
	ktap_eq(units_run(u, 3, UNITS_ALL_LANES), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_MMU_PERMISSION, UNITS_TABLES, 0);
	units_insn(u, TSR_OP_ADD_LOAD_I32);
	ktap_eq(units_run(u, 3, UNITS_ALL_LANES), TSR_STEP_DONE);
}

static void test_null_page(void)
{
	const uint64_t va = 0x30000000;

	bench_map(&u->as, va, 0, 4096, BENCH_RW | TSR_PTE_NULL__MASK);
	units_insn(u, TSR_OP_ADD_STORE_I64);
	fill_registers();
	for (unsigned int l = 0; l < 16; l++)
		units_address(u, l, va + 8 * l);
	ktap_eq(units_run(u, 3, UNITS_ALL_LANES), TSR_STEP_DONE);
	units_insn(u, TSR_OP_ADD_LOAD_I64);
	ktap_eq(units_run(u, 3, UNITS_ALL_LANES), TSR_STEP_DONE);
	for (unsigned int l = 0; l < 16; l++) {
		ktap_eq(units_reg(u, 3)->u[l], 0);
		ktap_eq(units_reg(u, 4)->u[l], 0);
	}
}

static void test_uniform_bounds(void)
{
	/* 5 * 16 bytes at 0x5fe0: across a page, and adjacent bytes that must not be read */
	uint64_t *table = units_table(u, UNITS_UBOS);
	const uint32_t size = 80;

	fill(u->data, UNITS_DATA_SIZE);
	memset(table, 0, 64 * 8);
	table[3] = 4 | (UNITS_DATA + 0x5fe0) >> 4 << 12;
	units_stop(u);
	for (unsigned int n = 0; n < SIZES * 400; n++) {
		const struct size *s = &sizes[n % SIZES];
		uint16_t lanes = n / SIZES % 3 ? UNITS_ALL_LANES : rnd();
		bool same = n / SIZES % 4 < 2;
		uint32_t at[16], index[16];

		units_insn(u, s->load);
		u->insn.mod[TSR_MOD_SEG] = TSR_SEG_UBO;
		fill_registers();
		for (unsigned int l = 0; l < 16; l++) {
			/* buffer 3, one without size, one that is not in the table */
			index[l] = same || rnd() % 2 ? 3 : rnd() % 2 ? 7 : 64 + rnd() % 2 * ~0x40u;
			at[l] = rnd() % (same ? 72 : 140) / s->align * s->align;
			if (!same && rnd() % 16 == 0)
				at[l] = -(uint32_t)s->align;
			u->src[0].u[l] = at[l];
			u->src[1].u[l] = index[l];
		}
		if (!ktap_eq(units_run(u, 20, lanes), TSR_STEP_DONE))
			return;
		for (unsigned int l = 0; l < 16; l++) {
			uint8_t want[16] = { 0 };

			/* what is beyond reads 0, in words or as a whole if it is shorter */
			for (unsigned int b = 0; b < s->bytes; b++) {
				uint64_t word = b / 4 * 4 + (s->bytes < 4 ? s->bytes : 4);

				if (word > s->bytes)
					word = s->bytes;
				if (index[l] == 3 && (uint64_t)at[l] + word <= size)
					want[b] = u->data[0x5fe0 + at[l] + b];
			}
			for (unsigned int w = 0; w < (s->bytes + 3) / 4 && (lanes >> l & 1); w++) {
				uint32_t word;

				memcpy(&word, want + 4 * w, 4);
				if (!ktap_eq(units_reg(u, 20 + w)->u[l], word)) {
					ktap_note("bytes %u at %u index %u", s->bytes, at[l],
						  index[l]);
					return;
				}
			}
		}
	}
}

static void test_uniform_faults(void)
{
	uint64_t *table = units_table(u, UNITS_UBOS);

	table[4] = 255 | 0x70000000ull >> 4 << 12;
	units_insn(u, TSR_OP_ADD_LOAD_I32);
	u->insn.mod[TSR_MOD_SEG] = TSR_SEG_UBO;
	for (unsigned int l = 0; l < 16; l++) {
		u->src[0].u[l] = 8;
		u->src[1].u[l] = l == 6 ? 4 : 3;
	}
	ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_MMU_UNMAPPED, 0x70000008, 6);
	ktap_eq(u->mem.fault.unit, TSR_UNIT_ATTRIBUTE);
	u->src[0].u[2] = 6;
	ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_SHADER_ALIGNMENT, UNITS_DATA + 0x5fe0 + 6, 2);
	/* the table itself */
	u->state.uniform_buffers = 0x60000000;
	ktap_eq(units_run(u, 20, 1 << 6), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_MMU_UNMAPPED, 0x60000020, 6);
	u->state.uniform_buffers = UNITS_UBOS;
}

/* Forget translations, so that pages are asked for anew, and let each be pending once. */
static void make_pending(unsigned int every)
{
	memset(u->b->asked, 0, sizeof(u->b->asked));
	u->b->pending_every = every;
	tsr_tlb_clear(&u->mem.port->tlb);
	units_stop(u);
}

static void test_pending(void)
{
	static uint8_t want[UNITS_DATA_SIZE];

	for (unsigned int n = 0; n < SIZES * 8; n++) {
		const struct size *s = &sizes[n % SIZES];
		uint16_t lanes = n / SIZES % 2 ? rnd() | 1 : UNITS_ALL_LANES;
		unsigned int times = 0;

		memcpy(want, u->data, sizeof(want));
		make_pending(1);
		units_insn(u, s->store);
		fill_registers();
		for (unsigned int l = 0; l < 16; l++) {
			uint64_t at = 0x3ffc + (rnd() % 30 << 12);

			units_address(u, l, UNITS_DATA + at);
			for (unsigned int i = 0; i < s->bytes && (lanes >> l & 1); i++)
				want[at + i] = units_reg(u, 3 + i / 4)->u[l] >> i % 4 * 8;
		}
		ktap_eq(units_finish(u, 3, lanes, &times), TSR_STEP_DONE);
		ktap_ok(times > 0);
		ktap_mem_eq(u->data, want, sizeof(want));
		make_pending(1);
		units_insn(u, s->load);
		ktap_eq(units_finish(u, 30, lanes, &times), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			uint32_t word = 0;

			memcpy(&word, want + u->src[0].u[l] - UNITS_DATA,
			       s->bytes < 4 ? s->bytes : 4);
			if (lanes >> l & 1)
				ktap_eq(units_reg(u, 30)->u[l], word);
		}
	}
	make_pending(0);
}

/* A host that gives memory in pieces (entries of page tables in one): accesses are still whole. */
static void test_pieces(void)
{
	static const unsigned int limits[] = { 8, 9, 12, 100, 2048 };

	for (unsigned int i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		u->b->map_limit = limits[i];
		tsr_tlb_clear(&u->mem.port->tlb);
		units_stop(u);
		test_load();
		test_store();
	}
	u->b->map_limit = 0;
	tsr_tlb_clear(&u->mem.port->tlb);
	units_stop(u);
}

static void test_dirty(void)
{
	units_stop(u);
	u->b->dirty_count = u->b->dirty_pages = 0;
	units_insn(u, TSR_OP_ADD_STORE_I32);
	for (unsigned int l = 0; l < 16; l++)
		units_address(u, l, UNITS_DATA + l % 4 * 4096 + 4 * l);
	for (unsigned int n = 0; n < 100; n++)
		ktap_eq(units_run(u, 3, UNITS_ALL_LANES), TSR_STEP_DONE);
	units_insn(u, TSR_OP_ADD_LOAD_I32);
	for (unsigned int l = 0; l < 16; l++)
		units_address(u, l, UNITS_DATA + 0x10000 + l * 4096);
	ktap_eq(units_run(u, 3, UNITS_ALL_LANES), TSR_STEP_DONE);
	/* not before the preemption point, then each page once */
	ktap_eq(u->b->dirty_count, 0);
	units_stop(u);
	ktap_eq(u->b->dirty_pages, 4);
	for (unsigned int i = 0; i < u->b->dirty_count; i++) {
		ktap_ok(u->b->dirty[i].addr - u->data_bus <= 4 * 4096 - u->b->dirty[i].len);
		ktap_eq(u->b->dirty[i].space, TSR_SPACE_SYSTEM);
	}
	units_stop(u);
	ktap_eq(u->b->dirty_pages, 4);
}

/* More pages than the cache and its list hold, without a preemption point in between. */
static void test_many_pages(void)
{
	const uint64_t va = 0x40000000;
	const unsigned int pages = 2048;
	uint8_t *mem = bench_buffer(&u->as, va, pages * 4096ull, BENCH_RW);

	for (unsigned int n = 0; n < pages; n += 16) {
		units_insn(u, TSR_OP_ADD_STORE_I32);
		for (unsigned int l = 0; l < 16; l++) {
			units_address(u, l, va + (n + l) * 4096ull + 8);
			units_reg(u, 3)->u[l] = 1000 + n + l;
		}
		ktap_eq(units_run(u, 3, UNITS_ALL_LANES), TSR_STEP_DONE);
	}
	for (unsigned int n = 0; n < pages; n++) {
		uint32_t word;

		memcpy(&word, mem + n * 4096ull + 8, 4);
		ktap_eq(word, 1000 + n);
	}
	units_stop(u);
	ktap_ok(u->b->dirty_pages >= pages);
	/*
	 * the address space drops its translations, and so does the cache at the preemption point
	 */
	bench_unmap(&u->as, va, pages * 4096ull);
	bench_invalidate_all(&u->as);
	tsr_tlb_clear(&u->mem.port->tlb);
	units_insn(u, TSR_OP_ADD_STORE_I32);
	ktap_eq(units_run(u, 3, UNITS_ALL_LANES), TSR_STEP_FAULT);
}

/* A translation stays dropped after any number of preemption points. */
static void test_forgotten(void)
{
	const uint64_t va = 0x50000000;

	bench_buffer(&u->as, va, 4096, BENCH_RW);
	units_insn(u, TSR_OP_ADD_LOAD_I32);
	units_address(u, 0, va);
	ktap_eq(units_run(u, 4, 1), TSR_STEP_DONE);
	bench_unmap(&u->as, va, 4096);
	tsr_tlb_clear(&u->mem.port->tlb);
	for (unsigned int n = 0; n < 10000; n++) {
		units_stop(u);
		if (!ktap_eq(units_run(u, 4, 1), TSR_STEP_FAULT))
			break;
	}
}

/* As above on a slower path. NULL: lane by lane. */
static void run_path(const char *name)
{
	const struct tsr_simd *alu = name ? tsr_simd_named(name) : NULL;

	if (name && !alu)
		return;
	u->env.path = alu ? alu->messages : NULL;
	ktap_note("%s", name ? name : "lane by lane");
	ktap_run("[ISA10] other vectors: loads", test_load);
	ktap_run("other vectors: loads into the registers of their addresses", test_load_in_place);
	ktap_run("other vectors: short loads", test_lane_dest);
	ktap_run("[ISA10] other vectors: stores", test_store);
	ktap_run("other vectors: group memory and scratch", test_windows);
	ktap_run("other vectors: their bounds", test_window_bounds);
	ktap_run("other vectors: faults", test_unmapped);
	ktap_run("[MEM6] other vectors: uniform buffers", test_uniform_bounds);
}

int main(int argc, char **argv)
{
	static const char *const paths[] = { "avx2", "sse2", NULL };

	ktap_start_args(argc, argv);
	u = units_new(0);
	ktap_run("[ISA10] loads of 8 to 128 bits, any lanes, any addresses", test_load);
	ktap_run("[ISA10] a load into the registers of its addresses", test_load_in_place);
	ktap_run("[ISA10] short loads extend and keep the rest of the register", test_lane_dest);
	ktap_run("[ISA10] stores of 8 to 128 bits touch no neighbour", test_store);
	ktap_run("group memory and scratch, by segment and by window", test_windows);
	ktap_run("beyond group memory or scratch: fault with lane and address", test_window_bounds);
	ktap_run("the void window reads 0 and drops writes; no other window", test_void);
	ktap_run("misaligned accesses fault with lane and address", test_alignment);
	ktap_run("[MEM6] an unmapped page faults with lane and byte; earlier lanes are done",
		 test_unmapped);
	ktap_run("read-only pages", test_permission);
	ktap_run("NULL pages read 0 and drop writes", test_null_page);
	ktap_run("[MEM6] uniform buffers read 0 beyond their entries", test_uniform_bounds);
	ktap_run("uniform buffers: unmapped, misaligned, table unmapped", test_uniform_faults);
	ktap_run("pending translations: every lane is done once", test_pending);
	ktap_run("memory in pieces on the host", test_pieces);
	ktap_run("written pages are reported at the stopping point, once", test_dirty);
	ktap_run("more pages than are cached", test_many_pages);
	ktap_run("translations stay forgotten", test_forgotten);
	for (unsigned int i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		run_path(paths[i]);
	units_free(u);
	return ktap_finish();
}
