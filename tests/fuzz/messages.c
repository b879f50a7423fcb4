/* SPDX-License-Identifier: MIT */
/*
 * Any message over any descriptors, with translations that are pending or in pieces. The units end
 * with DONE or a fault that names an active lane. They access no page that is not mapped (or only
 * for reading), nothing beyond shared memory, no register but those of the message, and no inactive
 * lane. The texture unit has the same results for whole warps with its caches as lane by lane
 * without.
 *
 * Input: 16 bytes that choose instruction, modifiers, lanes, how sources are made and what the host
 * does; then triples, two bytes offset and one of value, that change descriptors which make sense.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "texture/sampler.h"
#include "shader/predecode.h"
#include "simd/simd.h"
#include "units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLE_FIRST 24u		/* pages of UNITS_DATA that are not mapped */
#define HOLE_PAGES 8u
#define PAGE 4096u
#define CANARY 0xc7

static struct units *u;
/* vectors to work on, as far as the processor has them; the last is none, lane by lane */
static const struct tsr_msg_path *paths[4];
static uint8_t tables[UNITS_TABLES_SIZE];
static union tsr_lanes before[TSR_REGISTERS * TSR_BUNDLE_WARPS];

static const uint16_t ops[] = {
	TSR_OP_ADD_LOAD_I8, TSR_OP_ADD_LOAD_I16, TSR_OP_ADD_LOAD_I24, TSR_OP_ADD_LOAD_I32,
	TSR_OP_ADD_LOAD_I48, TSR_OP_ADD_LOAD_I64, TSR_OP_ADD_LOAD_I96, TSR_OP_ADD_LOAD_I128,
	TSR_OP_ADD_STORE_I8, TSR_OP_ADD_STORE_I16, TSR_OP_ADD_STORE_I24, TSR_OP_ADD_STORE_I32,
	TSR_OP_ADD_STORE_I48, TSR_OP_ADD_STORE_I64, TSR_OP_ADD_STORE_I96, TSR_OP_ADD_STORE_I128,
	TSR_OP_ADD_ATOM_CX, TSR_OP_ADD_ATOM_CX, TSR_OP_ADD_AXCHG_I32, TSR_OP_ADD_AXCHG_I64,
	TSR_OP_ADD_ACMPXCHG_I32, TSR_OP_ADD_ACMPXCHG_I64, TSR_OP_ADD_ACMPSTORE_I32,
	TSR_OP_ADD_ACMPSTORE_I64, TSR_OP_ADD_LD_ATTR, TSR_OP_ADD_LD_ATTR_IMM,
	TSR_OP_ADD_LD_ATTR_TEX, TSR_OP_ADD_LEA_ATTR, TSR_OP_ADD_LEA_ATTR_IMM,
	TSR_OP_ADD_LEA_ATTR_TEX, TSR_OP_ADD_LD_CVT, TSR_OP_ADD_ST_CVT, TSR_OP_ADD_LD_GCLK_U64,
	TSR_OP_ADD_LEA_TEX, TSR_OP_ADD_LEA_TEX_IMM, TSR_OP_ADD_TEXC, TSR_OP_ADD_TEXC,
	TSR_OP_ADD_TEXC, TSR_OP_ADD_TEXC, TSR_OP_ADD_TEXS_2D_F32, TSR_OP_ADD_TEXS_2D_F16,
	TSR_OP_ADD_TEXS_CUBE_F32, TSR_OP_ADD_TEXS_CUBE_F16, TSR_OP_ADD_BLEND,
	TSR_OP_ADD_VAR_TEX_F32,
};

static const uint16_t atomics[] = {
	TSR_OP_FMA_ATOM_C_I32, TSR_OP_FMA_ATOM_C_I64, TSR_OP_FMA_ATOM_C1_I32,
	TSR_OP_FMA_ATOM_C1_I64, TSR_OP_FMA_ATOM_C_RETURN_I32, TSR_OP_FMA_ATOM_C_RETURN_I64,
	TSR_OP_FMA_ATOM_C1_RETURN_I32, TSR_OP_FMA_ATOM_C1_RETURN_I64, TSR_OP_FMA_DTSEL_IMM,
};

static uint32_t state;

static uint32_t rnd(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 7;
}

static void start(void)
{
	if (u)
		return;
	u = units_new(0);
	paths[0] = tsr_simd_best()->messages;
	paths[1] = tsr_simd_named("avx2") ? tsr_simd_named("avx2")->messages : paths[0];
	paths[2] = tsr_simd_sse2.messages;
	bench_unmap(&u->as, UNITS_DATA + HOLE_FIRST * PAGE, HOLE_PAGES * PAGE);
	memset(u->data + HOLE_FIRST * PAGE, CANARY, HOLE_PAGES * PAGE);
	memset(u->group + UNITS_GROUP_BYTES, CANARY, sizeof(u->group) - UNITS_GROUP_BYTES);
	bench_map(&u->as, UNITS_DATA + UNITS_DATA_SIZE, 0, PAGE, BENCH_RW | TSR_PTE_NULL__MASK);
	bench_invalidate_all(&u->as);
}

/* Descriptors that make sense, of all kinds. */
static void make_tables(void)
{
	uint64_t *q;

	memset(u->tables, 0, UNITS_TABLES_SIZE);
	for (unsigned int i = 0; i < 4; i++) {
		q = units_table(u, UNITS_UBOS + 8 * i);
		q[0] = (16u << i) | (UNITS_DATA + 0x5ff0) >> 4 << 12;
		q = units_table(u, UNITS_TEXTURES + 32 * i);
		q[0] = 2 | i << 4 | 187ull << 22 | 36ull << 32 | 20ull << 48;
		q[1] = 0x688 | (1 + i % 2) << 12 | 3 << 16 | 0x1fffull << 48;
		q[2] = UNITS_SURFACES;
		q[3] = 1 | 3ull << 32;
		q = units_table(u, UNITS_SAMPLERS + 32 * i);
		q[0] = 1 | 8 << 8 | 9 << 12 | 11 << 16 | 1 << 25 | (uint64_t)(i != 2) << 23 |
		       (i == 1 ? 3ull << 30 : 0) | 0x1fffull << 48;
		q[1] = i == 1 || i == 3 ? 15 << 16 | TSR_LOD_ALGORITHM_ANISOTROPIC << 24 : 0;
	}
	for (unsigned int i = 0; i < 8; i++) {
		static const uint8_t types[8] = { 1, 2, 3, 4, 5, 6, 6, 12 };
		static const uint8_t numbers[8] = { 133, 163, 191, 207, 187, 64, 91, 117 };

		q = units_table(u, UNITS_ATTRIBUTES + 8 * i);
		q[0] = 2 * i | (uint64_t)numbers[i] << 22;
		q = units_table(u, UNITS_BUFFERS + 32 * i);
		q[0] = types[i] | (UNITS_DATA + 0x8000 * i) | 3ull << 56;
		q[1] = 16 | 0x8000ull << 32;
		q[2] = 32 | 20ull << 16 | 30ull << 32 | 2ull << 48;
		q[3] = 0x800 | 0x4000ull << 32;
	}
	for (unsigned int i = 0; i < 64; i++) {
		q = units_table(u, UNITS_SURFACES + 16 * i);
		q[0] = UNITS_DATA + 0x800 * i;
		q[1] = 0x400 | 0x1000ull << 32;
	}
}

#define TAGS 0x9000u			/* in the data, of texture 4 and attribute 8 */
#define TAG_STATE 0x9100u

/* A texture and an image with tags; in the table of surfaces theirs are the last. */
static void make_tagged(void)
{
	const uint64_t surfaces = UNITS_SURFACES + 0x600;
	uint64_t *q = units_table(u, UNITS_TEXTURES + 32 * 4);

	q[0] = 2 | 2 << 4 | 187ull << 22 | 36ull << 32 | 20ull << 48;
	q[1] = 0x688 | 1 << 12 | 0x1fffull << 48;
	q[2] = surfaces;
	q[3] = 1 | 1 << 16;
	q = units_table(u, surfaces);
	for (unsigned int i = 0; i < 2; i++) {
		q[2 * i] = UNITS_DATA + 0xa000 + 0x2000 * i;
		q[2 * i + 1] = 0xc00;
	}
	q[4] = UNITS_DATA + TAGS;
	q[5] = UNITS_DATA + TAG_STATE;
	q = units_table(u, UNITS_ATTRIBUTES + 8 * 8);
	q[0] = 16 | (uint64_t)TSR_PIXEL_FORMAT_R32F << 22;
	q = units_table(u, UNITS_BUFFERS + 32 * 8);
	q[0] = 6 | (UNITS_DATA + 0xa000);
	q[1] = 4 | 0x4000ull << 32;
	q[2] = 32 | 1 << 6 | 36ull << 16 | 20ull << 32 | 1ull << 48;
	q[3] = 0xc00 | 0x2000ull << 32;
	q[4] = 32 | (UNITS_DATA + TAG_STATE);
	q[5] = UNITS_DATA + TAGS;
	for (unsigned int i = 0; i < 32; i++)
		u->data[TAGS + i] = (uint8_t)(rnd() % 5);
	u->data[TAG_STATE + 16] = (uint8_t)rnd();
}

/* A word for a source or a register: numbers of all sizes, and floats. */
static uint32_t word(unsigned int kind)
{
	float f;
	uint32_t v;

	switch (kind % 6) {
	case 0:
		return rnd() % 40;
	case 1:
		return rnd() << 9 ^ rnd();
	case 2:
		f = rnd() % 4096 / 1024.0f - 1;
		memcpy(&v, &f, 4);
		return v;
	case 3:
		return (rnd() % 64) | (rnd() % 64) << 16;
	case 4:
		return rnd() % 8 ? 0x0486f000 | (rnd() % 256) << 24 : rnd();
	default:
		return UNITS_DATA + rnd() % (UNITS_DATA_SIZE + 2 * PAGE);
	}
}

/* The address of a lane. */
static uint64_t address(unsigned int kind, unsigned int lane)
{
	static uint64_t base;

	if (!lane)
		base = UNITS_DATA + rnd() % (UNITS_DATA_SIZE + 2 * PAGE);
	switch (kind % 8) {
	case 0:
		return (base & ~15ull) + 4 * lane;
	case 1:
		return (base & ~15ull) + 16 * lane;
	case 2:
		return UNITS_DATA + (rnd() % UNITS_DATA_SIZE & ~3u);
	case 3:
		return TSR_WINDOW_GROUP + (rnd() % (UNITS_GROUP_BYTES + 32) & ~3u);
	case 4:
		return TSR_WINDOW_SCRATCH + (rnd() % (UNITS_SCRATCH_SIZE + 16) & ~3u);
	case 5:
		return base;
	case 6:
		return (uint64_t)rnd() << 40 | rnd();
	default:
		return (rnd() % 4 ? TSR_WINDOW_VOID : TSR_WINDOW_GROUP) + rnd() % 70000;
	}
}

/* A texture word that is mostly one. */
static uint32_t texture_word(void)
{
	uint32_t w = (rnd() % 5) << 4 | (4 + rnd() % 4) << 12 | (rnd() % 4) << 18 |
		     (3 + rnd() % 5) << 20 | (rnd() % 8) << 24 | (rnd() % 16) << 28 |
		     (rnd() % 8) << 15;

	switch (rnd() % 8) {
	case 0:
		return 1 << 2 | (rnd() % 4) << 4 | rnd() << 12;
	case 1:
		return w | 3 << 2 | rnd() % 4;
	case 2:
		return rnd() << 8 ^ rnd();
	default:
		return w | 1 << 11 | rnd() % 5;
	}
}

static void make_message(const uint8_t c[16])
{
	unsigned int op = ops[c[0] % (sizeof(ops) / sizeof(ops[0]))];
	uint32_t same = texture_word();
	/* one texture word for all lanes, or one each */
	bool uniform = c[9] & 1;

	units_insn(u, op);
	if (c[1] % 4)
		units_pair(u, atomics[c[1] % (sizeof(atomics) / sizeof(atomics[0]))]);
	u->pair_insn.mod[TSR_MOD_ATOM_OPC] = c[2] % (TSR_ATOM_OPC_AOR1 + 1);
	u->pair_insn.mod[TSR_MOD_TABLE] = c[2] % 4;
	u->insn.mod[TSR_MOD_SEG] = c[3] % (TSR_SEG_TL + 1);
	u->insn.mod[TSR_MOD_VECSIZE] = c[4] % 4;
	u->insn.mod[TSR_MOD_REGISTER_FORMAT] = c[4] / 4 % (TSR_REGISTER_FORMAT_AUTO + 1);
	if (op == TSR_OP_ADD_LOAD_I8 || op == TSR_OP_ADD_LOAD_I16)
		u->insn.mod[TSR_MOD_LANE_DEST] = c[5] % (TSR_LANE_DEST_D0 + 1);
	else if (op == TSR_OP_ADD_LOAD_I32 && c[5] % 2)
		u->insn.mod[TSR_MOD_LANE_DEST] = TSR_LANE_DEST_D0;
	if (u->insn.mod[TSR_MOD_LANE_DEST])
		u->insn.mod[TSR_MOD_EXTEND] = c[5] / 16 % 3;
	u->insn.mod[TSR_MOD_LOD_MODE] = c[5] & 1;
	u->insn.mod[TSR_MOD_FORMAT] = c[6] % 8 == 0;
	u->insn.imm[TSR_IMM_ATTRIBUTE_INDEX] = c[6] % 10;
	u->insn.imm[TSR_IMM_TEXTURE_INDEX] = c[6] % 5;
	u->insn.imm[TSR_IMM_SAMPLER_INDEX] = c[6] / 8 % 5;
	for (unsigned int l = 0; l < 16; l++) {
		if (c[7] & 8)
			units_address(u, l, address(c[7], l));
		for (unsigned int i = 0; i < 2 && !(c[7] & 8); i++)
			u->src[i].u[l] = word(c[7]);
		u->src[2].u[l] = op != TSR_OP_ADD_TEXC ? word(c[8]) :
				 uniform ? same : texture_word();
		u->pair[0].u[l] = u->src[0].u[l];
		u->pair[1].u[l] = u->src[1].u[l];
	}
	for (unsigned int r = 0; r < TSR_REGISTERS * TSR_BUNDLE_WARPS; r++) {
		for (unsigned int l = 0; l < 16; l++)
			u->reg[r].u[l] = word(c[9] >> 1);
	}
}

static void check(unsigned int staging, uint16_t lanes, enum tsr_step step)
{
	if (step == TSR_STEP_FAULT)
		ktap_ok(u->mem.fault.code && u->msg.fault_lane < 16 &&
			(!lanes || lanes >> u->msg.fault_lane & 1));
	else
		ktap_ok(step == TSR_STEP_DONE && !u->msg.lanes);
	ktap_mem_eq(u->tables, tables, sizeof(tables));
	for (unsigned int i = 0; i < HOLE_PAGES * PAGE; i++) {
		if (!ktap_eq(u->data[HOLE_FIRST * PAGE + i], CANARY))
			break;
	}
	for (unsigned int i = UNITS_GROUP_BYTES; i < sizeof(u->group); i++)
		ktap_eq(u->group[i], CANARY);
	for (unsigned int r = 0; r < TSR_REGISTERS * TSR_BUNDLE_WARPS; r++) {
		unsigned int n = (r / TSR_BUNDLE_WARPS - staging) % TSR_REGISTERS;

		for (unsigned int l = 0; l < 16; l++) {
			bool may = r % TSR_BUNDLE_WARPS == 0 && (lanes >> l & 1) &&
				   n < tsr_message_writes(&u->insn);

			if (!may)
				ktap_eq(u->reg[r].u[l], before[r].u[l]);
		}
	}
}

static bool is_texture(void)
{
	return u->insn.op == TSR_OP_ADD_TEXC || u->insn.op == TSR_OP_ADD_TEXS_2D_F32 ||
	       u->insn.op == TSR_OP_ADD_TEXS_2D_F16 || u->insn.op == TSR_OP_ADD_TEXS_CUBE_F32 ||
	       u->insn.op == TSR_OP_ADD_TEXS_CUBE_F16;
}

/* A texture message that came to @step: once more, lane by lane and without caches. */
static void compare(unsigned int staging, uint16_t lanes, enum tsr_step step)
{
	static union tsr_lanes after[TSR_REGISTERS * TSR_BUNDLE_WARPS];
	struct tsr_fault_info fault = u->mem.fault;
	unsigned int lane = u->msg.fault_lane;

	memcpy(after, u->reg, sizeof(after));
	memcpy(u->reg, before, sizeof(before));
	u->textures->off = true;
	ktap_eq(units_finish(u, staging, lanes, NULL), step);
	u->textures->off = false;
	ktap_mem_eq(u->reg, after, sizeof(after));
	if (step == TSR_STEP_FAULT)
		ktap_ok(fault.code == u->mem.fault.code && fault.addr == u->mem.fault.addr &&
			lane == u->msg.fault_lane);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[4] = { "avx512", "avx2", "sse2" };
	const char *name;
	enum tsr_step step;
	unsigned int failed = atomic_load(&ktap.bad);
	uint8_t c[16] = { 0 };
	uint16_t lanes;

	memcpy(c, data, size < 16 ? size : 16);
	start();
	state = c[10] | c[11] << 8 | c[12] << 16;
	make_tables();
	make_tagged();
	for (size_t i = 16; i + 3 <= size; i += 3)
		u->tables[(data[i] | data[i + 1] << 8) % UNITS_TABLES_SIZE] = data[i + 2];
	memcpy(tables, u->tables, sizeof(tables));
	make_message(c);
	memcpy(before, u->reg, sizeof(before));
	memset(u->b->asked, 0, sizeof(u->b->asked));
	u->b->pending_every = c[13] % 4 == 1 ? 1 + c[13] / 4 % 4 : 0;
	u->b->map_limit = c[13] % 4 == 2 ? 8u << c[13] / 4 % 9 : 0;
	u->env.path = paths[c[13] >> 6];
	name = names[c[13] >> 6];
	if (!name)
		u->textures->path = NULL;
	else if (tsr_simd_named(name))
		u->textures->path = tsr_simd_named(name)->texture;
	tsr_tlb_clear(&u->mem.port->tlb);
	units_stop(u);
	lanes = c[14] & 1 ? UNITS_ALL_LANES : (uint16_t)(c[14] | c[15] << 8);
	step = units_finish(u, c[15] % 64, lanes, NULL);
	check(c[15] % 64, lanes, step);
	if (is_texture())
		compare(c[15] % 64, lanes, step);
	units_stop(u);
	if (atomic_load(&ktap.bad) != failed)
		abort();
	return 0;
}
