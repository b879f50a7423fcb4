/* SPDX-License-Identifier: MIT */
/*
 * test: TIMEOUT=240 TSAN=0
 *
 * Messages of whole bundles on every SIMD path, beside the same messages lane by lane: what they
 * read and write, what they cost, where they stop and why. Random instructions and lanes; addresses
 * that meet, that lie in a row, across pages, in windows, and some that are wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "rnd.h"
#include "shader/stage.h"
#include "simd/simd.h"
#include "units.h"

#define ROUNDS (getenv("TSR_QUICK") ? 1000u : 3000u)
#define WARPS TSR_BUNDLE_WARPS

static struct units *u;
/* A bundle's message. */
static struct {
	union tsr_lanes src[3][WARPS], pair[3][WARPS];
	uint8_t warp[WARPS];
	uint16_t lanes[WARPS];
	struct tsr_msg_place place[WARPS];
	struct tsr_msg_bundle bundle;
} m;

/* All that it can change. */
struct image {
	uint8_t data[UNITS_DATA_SIZE];
	uint64_t record[TSR_BATCH_VERTICES][TSR_POSITION_EXTENDED__QWORDS];
	uint8_t group[2][UNITS_GROUP_BYTES];
	union tsr_lanes reg[TSR_REGISTERS * WARPS];
};

static struct image before, want, got;
static struct tsr_vertex_run vertices;
static struct tsr_program program;

/* The results. */
struct outcome {
	enum tsr_step step;
	unsigned int at;
	uint16_t left;
	uint8_t fault_lane;
	struct tsr_fault_info fault;
	struct tsr_msg_cost cost;
};

static bool fresh;			/* nothing has been stored in records */
static unsigned int kept;		/* times only positions have, and were kept as they are */

static void save(struct image *image)
{
	memcpy(image->data, u->data, sizeof(image->data));
	kept += !vertices.spilled && vertices.retained;
	memcpy(image->record, tsr_vertex_records(&vertices), sizeof(image->record));
	memcpy(image->group[0], m.place[0].group_memory, sizeof(image->group[0]));
	memcpy(image->group[1], m.place[WARPS - 1].group_memory, sizeof(image->group[1]));
	memcpy(image->reg, u->reg, sizeof(image->reg));
}

static void restore(const struct image *image)
{
	memcpy(u->data, image->data, sizeof(image->data));
	memcpy(vertices.record, image->record, sizeof(image->record));
	vertices.spilled = !fresh;
	vertices.retained = 0;
	memcpy(m.place[0].group_memory, image->group[0], sizeof(image->group[0]));
	memcpy(m.place[WARPS - 1].group_memory, image->group[1], sizeof(image->group[1]));
	memcpy(u->reg, image->reg, sizeof(image->reg));
}

static const struct tsr_msg_path *path_named(const char *name)
{
	const struct tsr_simd *alu = tsr_simd_named(name);

	return alu ? alu->messages : NULL;
}

/*
 * Memory before and after the sources: sources of other warps, and addresses in another window or
 * in memory that is mapped 4 GiB higher.
 */
#define SHOWN 3

static union tsr_lanes shown[2][3][SHOWN * WARPS];

static uint32_t elsewhere(uint32_t hi)
{
	if (hi == TSR_WINDOW_GROUP >> 32)
		return TSR_WINDOW_SCRATCH >> 32;
	return hi == TSR_WINDOW_SCRATCH >> 32 ? TSR_WINDOW_GROUP >> 32 : hi ^ 1;
}

/* A message's sources. @in_place: in its staging registers and the next ones. */
static void show_sources(bool in_place, const union tsr_lanes from[3][WARPS],
			 union tsr_lanes to[3][SHOWN * WARPS], const union tsr_lanes *src[3])
{
	const bool addresses = u->insn.op != TSR_OP_ADD_ST_CVT;

	for (unsigned int i = 0; i < 3 * SHOWN * TSR_BUNDLE_LANES; i++) {
		const unsigned int k = i / (SHOWN * TSR_BUNDLE_LANES), v = i / 16 % (SHOWN * WARPS);
		const unsigned int l = i % 16, source = k == 2 && addresses ? 1 : k;
		const bool own = v / WARPS == 1 && source == k;
		const uint32_t word = from[source][(v + !own) % WARPS].u[l];

		to[k][v].u[l] = own || source != 1 ? word : elsewhere(word);
	}
	for (unsigned int k = 0; k < 3; k++)
		src[k] = &to[k][WARPS];
	/* in registers for results */
	for (unsigned int k = 0; in_place && k < 3; k++) {
		const unsigned int r = (m.bundle.staging + 3 * k) % 64;

		memcpy(&u->reg[r * WARPS], src[k], sizeof(to[k]) / SHOWN);
		src[k] = &u->reg[r * WARPS];
	}
}

static bool on;				/* no preemption point follows a run */

/* The bundle on @path from the state before, up to where it stops. */
static void run(const struct tsr_msg_path *path, struct outcome *outcome, struct image *image)
{
	memset(outcome, 0, sizeof(*outcome));
	restore(&before);
	memset(&u->mem.fault, 0, sizeof(u->mem.fault));
	m.bundle.left = 0;
	m.bundle.fault_lane = 0;
	u->env.path = path;
	u->env.cost = (struct tsr_msg_cost){ 0 };
	outcome->step = tsr_msg_run_bundle(&u->env, &m.bundle, &outcome->at);
	outcome->cost = u->env.cost;
	if (outcome->step != TSR_STEP_DONE) {
		outcome->left = m.bundle.left;
		outcome->fault_lane = m.bundle.fault_lane;
		outcome->fault = u->mem.fault;
	}
	if (!on)
		units_stop(u);
	save(image);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static const struct {
	unsigned int op, bytes, align;
	bool load;
} accesses[] = {
	{ TSR_OP_ADD_LOAD_I8, 1, 1, true },	{ TSR_OP_ADD_LOAD_I16, 2, 2, true },
	{ TSR_OP_ADD_LOAD_I24, 3, 1, true },	{ TSR_OP_ADD_LOAD_I32, 4, 4, true },
	{ TSR_OP_ADD_LOAD_I32, 4, 4, true },	{ TSR_OP_ADD_LOAD_I48, 6, 2, true },
	{ TSR_OP_ADD_LOAD_I64, 8, 4, true },	{ TSR_OP_ADD_LOAD_I96, 12, 4, true },
	{ TSR_OP_ADD_LOAD_I128, 16, 4, true },	{ TSR_OP_ADD_STORE_I8, 1, 1, false },
	{ TSR_OP_ADD_STORE_I16, 2, 2, false },	{ TSR_OP_ADD_STORE_I24, 3, 1, false },
	{ TSR_OP_ADD_STORE_I32, 4, 4, false },	{ TSR_OP_ADD_STORE_I48, 6, 2, false },
	{ TSR_OP_ADD_STORE_I64, 8, 4, false },	{ TSR_OP_ADD_STORE_I96, 12, 4, false },
	{ TSR_OP_ADD_STORE_I128, 16, 4, false },
};

static bool is_load(unsigned int op)
{
	for (unsigned int i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
		if (accesses[i].op == op)
			return accesses[i].load;
	}
	return false;
}

/* Offsets in UNITS_DATA. */
static uint64_t offset(unsigned int shape, unsigned int lane, uint32_t r, unsigned int bytes,
		       unsigned int align)
{
	uint64_t start = r % 0x8000 / 16 * 16;

	switch (shape) {
	case 0:					/* in a row */
		return start + lane * bytes;
	case 1:					/* at one place */
		return start;
	case 2:					/* in a row, often across a page */
		return 0x1000 - r % 16 * bytes / align * align + lane * bytes;
	case 3:					/* lanes overlap */
		return start + lane / 2 * align;
	case 4:					/* a page each */
		return r % 4096 / align * align + lane * 4096;
	case 5:					/* few places */
		return start + rnd() % 4 * 16;
	case 6:					/* anywhere in a page */
		return 0x3000 + rnd() % (4096 - bytes + 1) / align * align;
	default:
		return rnd() % 0x10000 / align * align;
	}
}

/* An address that is wrong in some way. */
static uint64_t wrong(void)
{
	static const uint64_t bad[] = {
		UNITS_DATA - 4, UNITS_DATA + UNITS_DATA_SIZE - 2, UNITS_DATA + 0x1001,
		UNITS_DATA + UNITS_DATA_SIZE, 0x3000000000000000, TSR_WINDOW_GROUP + 4095,
		TSR_WINDOW_GROUP + 0x80000000, TSR_WINDOW_SCRATCH + UNITS_SCRATCH_SIZE,
		TSR_WINDOW_VOID + 64, UNITS_TABLES, 0x100000000,
	};

	return bad[rnd() % (sizeof(bad) / sizeof(bad[0]))];
}

static void set_address(unsigned int w, unsigned int lane, uint64_t va)
{
	m.src[0][w].u[lane] = m.pair[0][w].u[lane] = va;
	m.src[1][w].u[lane] = m.pair[1][w].u[lane] = va >> 32;
}

/* The address of a lane becomes wrong, or one at the very end of where it was. */
static void spoil(unsigned int w, unsigned int lane, unsigned int align)
{
	uint64_t va = m.src[0][w].u[lane] | (uint64_t)m.src[1][w].u[lane] << 32;

	switch (rnd() % 4) {
	case 0:
		set_address(w, lane, wrong());
		break;
	case 2:				/* 4 GiB after all others */
		set_address(w, lane, va ^ 1ull << 32);
		break;
	case 1:
		set_address(w, lane, va | 1);
		break;
	default:
		set_address(w, lane, (va | 4095) + 1 - align);
	}
}

/* A stage of vertices, or none. */
static void random_stage(void)
{
	static const uint32_t padded[] = { 1, 4, 36, 40, 1024, 65536 };
	const bool in_order = rnd() % 2;

	u->env.stage = rnd() % 3 ? TSR_STAGE_POSITION : TSR_STAGE_VARYING;
	u->env.vertices = rnd() % 8 ? &vertices : NULL;
	if (!u->env.vertices)
		u->env.stage = TSR_STAGE_COMPUTE;
	vertices.padded = padded[rnd() % 6];
	vertices.start = rnd() % 3 ? 0 : (int32_t)(rnd() % 200) - 100;
	vertices.first_instance = rnd() % 8 ? rnd() % 100 : UINT32_MAX - rnd() % 100;
	vertices.position_output = rnd() % 2;
	vertices.outputs = UNITS_DATA + 0x1000 + rnd() % 64 * 16;
	vertices.output_stride = 16 + rnd() % 4 * 16;
	vertices.records = TSR_BATCH_VERTICES;
	vertices.threads = rnd() % 2 ? TSR_BATCH_VERTICES : 1 + rnd() % TSR_BATCH_VERTICES;
	for (unsigned int n = 0; n < TSR_BATCH_VERTICES; n++)
		vertices.slot[n] = in_order ? n : n ^ (n < 64 ? 1 : 3);
}

/* All lanes of a warp in a row, or at one place, about where what they are in ends, or its page. */
static void reach_end(unsigned int w, unsigned int bytes, unsigned int align)
{
	const uint64_t va = m.src[0][w].u[0] | (uint64_t)m.src[1][w].u[0] << 32;
	const unsigned int seg = u->insn.mod[TSR_MOD_SEG];
	const uint64_t window = va >> TSR_WINDOW_SHIFT << TSR_WINDOW_SHIFT;
	const bool row = rnd() % 4;
	uint64_t end = UNITS_DATA + UNITS_DATA_SIZE, first;

	if (seg == TSR_SEG_WLS || window == TSR_WINDOW_GROUP)
		end = TSR_WINDOW_GROUP + UNITS_GROUP_BYTES;
	else if (seg == TSR_SEG_TL || window == TSR_WINDOW_SCRATCH)
		end = TSR_WINDOW_SCRATCH + UNITS_SCRATCH_SIZE;
	else if (rnd() % 2)
		end = UNITS_DATA + 0x1000;
	/* the last one ends there, or is the first beyond */
	first = end - (row ? 16 : 1) * bytes + (rnd() % 2 ? 0 : rnd() % 3 * align);
	for (unsigned int l = 0; l < 16; l++)
		set_address(w, l, first / align * align + (row ? l * bytes : 0));
}

static void addresses(unsigned int bytes, unsigned int align, bool errors)
{
	unsigned int place = rnd() % 8, shape = rnd() % 8;
	unsigned int seg = u->insn.mod[TSR_MOD_SEG];
	uint32_t r = rnd();

	for (unsigned int w = 0; w < WARPS; w++) {
		if (rnd() % 3 == 0)
			r = rnd();
		if (rnd() % 8 == 0)
			shape = rnd() % 8;
		for (unsigned int l = 0; l < 16; l++) {
			uint64_t at = offset(shape, l, r, bytes, align), va = UNITS_DATA + at;

			if (seg == TSR_SEG_WLS || (seg != TSR_SEG_TL && place == 0))
				va = TSR_WINDOW_GROUP + at % (UNITS_GROUP_BYTES - 16);
			else if (seg == TSR_SEG_TL || place == 1)
				va = TSR_WINDOW_SCRATCH + at % (UNITS_SCRATCH_SIZE - 16);
			else if (u->env.stage == TSR_STAGE_POSITION && place < 4)
				va = (place == 2 ? TSR_WINDOW_OUTPUT : 0) + at % 0x400;
			else if (place == 5)
				va |= 1ull << 32;
			set_address(w, l, va);
		}
		if (errors && rnd() % 8 == 0)
			spoil(w, rnd() % 16, align);
		else if (errors && rnd() % 8 == 0)
			reach_end(w, bytes, align);
		/* what is not the segment's need not be looked at */
		if (seg == TSR_SEG_WLS || seg == TSR_SEG_TL)
			m.src[1][w].u[rnd() % 16] = rnd();
	}
}

/* Which warps and lanes, and what is in their registers. */
static void begin(void)
{
	unsigned int which = rnd() % 4 ? 0xff : 1 + rnd() % 0xff;

	m.bundle = (struct tsr_msg_bundle){
		.insn = &u->insn, .pair_insn = u->paired ? &u->pair_insn : NULL, .reg = u->reg,
		.staging = rnd() % 64, .warp = m.warp, .lanes = m.lanes, .place = m.place,
	};
	for (unsigned int i = 0; i < 3; i++) {
		m.bundle.src[i] = m.src[i];
		m.bundle.pair[i] = m.pair[i];
		m.bundle.src_step[i] = m.bundle.pair_step[i] = 1;
	}
	for (unsigned int w = 0; w < WARPS; w++) {
		if (which >> w & 1)
			m.warp[m.bundle.warps++] = w;
		m.lanes[w] = rnd() % 3 ? 0xffff : 1 + rnd() % 0xffff;
	}
	for (unsigned int i = 0; i < sizeof(u->reg) / 4; i++)
		((uint32_t *)u->reg)[i] = rnd() ^ rnd() << 12;
}

static void random_access(bool errors)
{
	static const uint8_t segs[] = { TSR_SEG_NONE, TSR_SEG_NONE, TSR_SEG_STREAM, TSR_SEG_WLS,
					TSR_SEG_TL };
	unsigned int n = rnd() % (sizeof(accesses) / sizeof(accesses[0]));
	unsigned int bytes = accesses[n].bytes;

	units_insn(u, accesses[n].op);
	u->insn.mod[TSR_MOD_SEG] = segs[rnd() % sizeof(segs)];
	if (accesses[n].load && bytes <= 2)
		u->insn.mod[TSR_MOD_LANE_DEST] = rnd() % 2 ? TSR_LANE_DEST_H1 : TSR_LANE_DEST_D0;
	else if (accesses[n].load && bytes == 4 && rnd() % 4 == 0)
		u->insn.mod[TSR_MOD_LANE_DEST] = TSR_LANE_DEST_D0;
	if (bytes <= 4)
		u->insn.mod[TSR_MOD_EXTEND] = rnd() % 2 ? TSR_EXTEND_SEXT : TSR_EXTEND_ZEXT;
	begin();
	addresses(bytes, accesses[n].align, errors);
	if (rnd() % 8 == 0) {	/* addresses that all warps see, such as constants */
		m.bundle.src_step[0] = m.bundle.src_step[1] = 0;
	} else if (rnd() % 8 == 0) {
		m.bundle.src_step[1] = 0;
	}
}

/* Uniform buffers: 3 across a page, 5 within one, 7 nothing, 90 beyond the table. */
static void random_uniform(void)
{
	static const uint32_t index[] = { 3, 3, 5, 5, 5, 7, 90 };
	unsigned int n = rnd() % 9;
	uint32_t all = index[rnd() % 7];

	units_insn(u, accesses[n].op);
	u->insn.mod[TSR_MOD_SEG] = TSR_SEG_UBO;
	begin();
	for (unsigned int w = 0; w < WARPS; w++) {
		bool same = rnd() % 2, inside = rnd() % 4;
		uint32_t offset = rnd() % 64;

		for (unsigned int l = 0; l < 16; l++) {
			uint32_t at = same ? offset : rnd() % (inside ? 64 : 300);

			m.src[0][w].u[l] = at / accesses[n].align * accesses[n].align;
			m.src[1][w].u[l] = rnd() % 64 ? all : index[rnd() % 7];
		}
		if (rnd() % 16 == 0)
			m.src[0][w].u[rnd() % 16] = rnd() % 2 ? 0x80000000 : 0xffffffff;
	}
}

static void random_atomic(bool errors)
{
	static const uint16_t ops[] = {
		TSR_OP_FMA_ATOM_C_I32, TSR_OP_FMA_ATOM_C_RETURN_I32, TSR_OP_FMA_ATOM_C_I64,
		TSR_OP_FMA_ATOM_C_RETURN_I64, TSR_OP_FMA_ATOM_C1_I32,
		TSR_OP_FMA_ATOM_C1_RETURN_I32, TSR_OP_FMA_ATOM_C1_RETURN_I64,
	};
	static const uint8_t with[] = { TSR_ATOM_OPC_AADD, TSR_ATOM_OPC_AADD, TSR_ATOM_OPC_ASMIN,
					TSR_ATOM_OPC_AUMAX, TSR_ATOM_OPC_AXOR };
	static const uint8_t one[] = { TSR_ATOM_OPC_AINC, TSR_ATOM_OPC_ADEC, TSR_ATOM_OPC_AUMAX1,
				       TSR_ATOM_OPC_AOR1 };
	unsigned int op = ops[rnd() % (sizeof(ops) / sizeof(ops[0]))];
	bool constant = op == TSR_OP_FMA_ATOM_C1_I32 || op == TSR_OP_FMA_ATOM_C1_RETURN_I32 ||
			op == TSR_OP_FMA_ATOM_C1_RETURN_I64;
	bool wide = op == TSR_OP_FMA_ATOM_C_I64 || op == TSR_OP_FMA_ATOM_C_RETURN_I64 ||
		    op == TSR_OP_FMA_ATOM_C1_RETURN_I64;

	units_insn(u, TSR_OP_ADD_ATOM_CX);
	units_pair(u, op);
	u->pair_insn.mod[TSR_MOD_ATOM_OPC] =
		constant ? one[rnd() % sizeof(one)] : with[rnd() % sizeof(with)];
	begin();
	addresses(wide ? 8 : 4, wide ? 8 : 4, errors);
	if (rnd() % 8 == 0)
		m.bundle.pair_step[1] = 0;
}

static const uint8_t float_formats[] = {
	TSR_PIXEL_FORMAT_R32F, TSR_PIXEL_FORMAT_RG32F, TSR_PIXEL_FORMAT_RGB32F,
	TSR_PIXEL_FORMAT_RGBA32F,
};

static unsigned int random_format(void)
{
	static const uint8_t others[] = { TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_PIXEL_FORMAT_RG16F };

	return rnd() % 8 ? float_formats[rnd() % 4] : others[rnd() % 2];
}

/* UNITS_DATA with adjacent pages exchanged, so that a read across pages is noticed. */
#define EXCHANGED 0x50000000ull

/* An attribute buffer of some kind, and what continues it. */
static void random_buffer(uint64_t *words)
{
	static const uint8_t wide_types[] = {
		TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR_WIDE, TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT_WIDE,
		TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS_WIDE, TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE_WIDE,
	};
	static const uint8_t types[] = {
		TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR,
		TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT, TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS,
		TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE,
	};
	struct tsr_attribute_buffer b = {
		.type = types[rnd() % sizeof(types)],
		.pointer = (rnd() % 2 ? UNITS_DATA : EXCHANGED) + rnd() % 200 * 64,
		.divisor_shift = rnd() % 7, .divisor_odd = rnd() % 8,
		.stride = rnd() % 16 ? rnd() % 12 * 4 : rnd() % 50,
		.size = rnd() % 4 ? 0x20000 : rnd() % (rnd() % 3 ? 0x2000 : 24),
	};
	const struct tsr_attribute_buffer_divisor rest = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION, .magic = rnd() << 8 | rnd() % 256,
		.divisor = 1, .add_instance = rnd() % 2,
	};

	/* as many elements as vertices of an instance: 4 or 36 */
	if (rnd() % 2) {
		b.divisor_shift = 2;
		b.divisor_odd = rnd() % 2 * 4;
	}
	if (rnd() % 16 == 0)
		b.pointer = 0;
	if (rnd() % 32 == 0)
		b.size = UINT32_MAX;
	/* one element, two with an offset that is as far */
	if (rnd() % 16 == 0)
		b.stride = rnd() % 2 ? 0x80000000 + rnd() % 3 * 4 : UINT32_MAX;
	const struct tsr_attribute_buffer_wide wide = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION,
		.stride_high = rnd() % 4 ? 0 : rnd(), .size_high = rnd() % 2 ? 0 : rnd() % 4,
	};

	if (rnd() % 4 == 0)
		b.type = wide_types[rnd() % sizeof(wide_types)];
	tsr_pack_attribute_buffer(words, &b);
	tsr_pack_attribute_buffer_divisor(words + 2, &rest);
	tsr_pack_attribute_buffer_wide(
		words + (b.type == TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE_WIDE ? 4 : 2), &wide);
	if (b.type == TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE)
		tsr_pack_attribute_buffer_divisor(words + 2, &rest);
}

#define ATTRIBUTES 8
#define OUTPUTS 4

static void random_tables(void)
{
	uint64_t *table = units_table(u, UNITS_ATTRIBUTES);
	uint64_t *buffers = units_table(u, UNITS_BUFFERS);

	for (unsigned int i = 0; i < ATTRIBUTES + OUTPUTS; i++) {
		struct tsr_attribute a = {
			.buffer = rnd() % 32 ? 3 * (rnd() % 8) : 500, .add_offset = rnd() % 2,
			.format = random_format(),
			.offset = rnd() % 4 ? (int32_t)(rnd() % 8 * 4) : (int32_t)(rnd() % 99) - 50,
		};

		/* as far before the buffer as there is */
		if (rnd() % 16 == 0)
			a.offset = INT32_MIN + (int32_t)(rnd() % 3 * 4);
		tsr_pack_attribute(&table[i], &a);
	}
	for (unsigned int i = 0; i < 8; i++)
		random_buffer(buffers + 6 * i);
	/* attributes of outputs have no address */
	for (unsigned int i = 0; i < OUTPUTS && rnd() % 8; i++) {
		table[ATTRIBUTES + i] = (table[ATTRIBUTES + i] & ~0x1ffull) | 24;
		memset(buffers + 48, 0, 32);
		buffers[48] = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR;
	}
	u->env.program = &program;
	program.varyings = UNITS_ATTRIBUTES + ATTRIBUTES * 8;
	program.varying_count = OUTPUTS;
}

static void random_attribute(void)
{
	uint64_t *buffers = units_table(u, UNITS_BUFFERS);
	bool lea = rnd() % 4 == 0;
	unsigned int shape = rnd() % 4;
	/* vertices of an instance, or some of the next one too; instances, up to a wrap */
	const uint32_t own = rnd() % 2 ? 36 : 4, last = rnd() % 4 ? 0 : UINT32_MAX / own - 1;
	const uint32_t named = own + (rnd() % 4 ? 0 : 1 + rnd() % 2);

	if (rnd() % 4 == 0) {
		random_tables();
	} else if (rnd() % 4 == 0) {
		/* a divisor's magic number */
		buffers[6 * (rnd() % 8) + 2] ^= (uint64_t)rnd() << 56;
	}
	random_stage();
	if (shape == 2 && rnd() % 4)
		vertices.padded = own;
	units_insn(u, lea ? TSR_OP_ADD_LEA_ATTR_IMM : TSR_OP_ADD_LD_ATTR_IMM);
	u->insn.imm[TSR_IMM_ATTRIBUTE_INDEX] = rnd() % (lea ? OUTPUTS + 1 : ATTRIBUTES);
	u->insn.mod[TSR_MOD_VECSIZE] = rnd() % 4;
	u->insn.mod[TSR_MOD_REGISTER_FORMAT] =
		lea ? TSR_REGISTER_FORMAT_AUTO :
		rnd() % 8 ? TSR_REGISTER_FORMAT_F32 : TSR_REGISTER_FORMAT_U32;
	begin();
	for (unsigned int w = 0; w < WARPS; w++) {
		for (unsigned int l = 0; l < 16; l++) {
			uint32_t row = w * 16 + l, any = rnd() % 300, instance = last + row / named;

			m.src[0][w].u[l] = shape == 3 ? any : shape == 2 ? row % named : row;
			m.src[1][w].u[l] = shape == 2 ? instance : shape == 1 ? rnd() % 3 : 0;
		}
		if (rnd() % 32 == 0)
			m.src[rnd() % 2][w].u[rnd() % 16] = rnd() << 8;
	}
}

/* The threads of the batch in warp @w. One lane if there are none. */
static uint16_t lanes_of(unsigned int w)
{
	if (vertices.threads >= 16 * w + 16)
		return 0xffff;
	return vertices.threads > 16 * w ? (1u << vertices.threads % 16) - 1 : 1;
}

static void random_conversion(bool errors)
{
	/* as position programs do it, up to the lanes and their order */
	const bool usual = rnd() % 4 == 0;
	const struct tsr_conversion c = {
		.format = usual ? TSR_PIXEL_FORMAT_RGBA32F : random_format(),
		.registers = usual || rnd() % 16 ? TSR_REGISTER_TYPE_F32 : TSR_REGISTER_TYPE_U32,
	};
	bool record = usual || rnd() % 2;
	uint64_t word;

	random_stage();
	tsr_pack_conversion(&word, &c);
	units_insn(u, TSR_OP_ADD_ST_CVT);
	u->insn.mod[TSR_MOD_VECSIZE] = usual ? 3 : rnd() % 4;
	begin();
	addresses(16, 4, errors);
	fresh = rnd() % 2;
	if (fresh)
		memset(vertices.record, 0, sizeof(vertices.record));
	for (unsigned int w = 0; usual && w < WARPS; w++)
		m.lanes[w] = lanes_of(w);
	for (unsigned int w = 0; w < WARPS; w++) {
		for (unsigned int l = 0; l < 16; l++) {
			unsigned int slot = vertices.slot[16 * w + l];

			m.src[2][w].u[l] = word;
			if (record)
				set_address(w, l, TSR_WINDOW_OUTPUT + slot * 64 +
						  (errors ? rnd() % 2 * 60 : 0));
		}
		if (errors && rnd() % 8 == 0)
			m.src[2][w].u[rnd() % 16] = rnd() % 2 ? 0x3ffu << 22 : rnd();
	}
}

/* ---- Comparisons ----------------------------------------------------------------------------- */

static bool same_outcome(const struct outcome *a, const struct outcome *b)
{
	return ktap_eq(a->step, b->step) & ktap_eq(a->at, b->at) & ktap_eq(a->left, b->left) &
	       ktap_eq(a->fault_lane, b->fault_lane) & ktap_eq(a->fault.code, b->fault.code) &
	       ktap_eq(a->fault.addr, b->fault.addr) & ktap_eq(a->fault.unit, b->fault.unit) &
	       ktap_eq(a->fault.access, b->fault.access) &
	       ktap_eq(a->cost.read_bytes, b->cost.read_bytes) &
	       ktap_eq(a->cost.write_bytes, b->cost.write_bytes) &
	       ktap_eq(a->cost.cycles, b->cost.cycles) & ktap_eq(a->cost.done, b->cost.done) &
	       ktap_eq(a->cost.tried, b->cost.tried);
}

static bool same_image(bool registers)
{
	return ktap_mem_eq(got.data, want.data, sizeof(got.data)) &&
	       ktap_mem_eq(got.record, want.record, sizeof(got.record)) &&
	       ktap_mem_eq(got.group, want.group, sizeof(got.group)) &&
	       (!registers || ktap_mem_eq(got.reg, want.reg, sizeof(got.reg)));
}

static const char *const path_names[] = { "avx512", "avx2", "sse2" };
#define PATHS (sizeof(path_names) / sizeof(path_names[0]))

/* The message at hand on all paths and on none. */
static bool compare(void)
{
	struct outcome reference, outcome;

	show_sources(rnd() % 4 == 0, m.src, shown[0], m.bundle.src);
	show_sources(rnd() % 8 == 0, m.pair, shown[1], m.bundle.pair);
	save(&before);
	run(NULL, &reference, &want);
	for (unsigned int i = 0; i < PATHS; i++) {
		const struct tsr_msg_path *path = path_named(path_names[i]);

		if (!path)
			continue;
		run(path, &outcome, &got);
		if (same_outcome(&outcome, &reference) && same_image(true))
			continue;
		ktap_note("%s, %s", path_names[i], tsr_ops[u->insn.op].name);
		return false;
	}
	return true;
}

static void test_accesses(void)
{
	for (unsigned int n = 0; n < ROUNDS; n++) {
		if (n % 4 == 0)
			random_stage();
		random_access(n % 3 == 0);
		if (!compare())
			break;
		u->env.vertices = NULL;
		u->env.stage = TSR_STAGE_COMPUTE;
	}
}

static void test_uniform(void)
{
	uint64_t *table = units_table(u, UNITS_UBOS);

	memset(table, 0, 64 * 8);
	table[3] = 9 | (UNITS_DATA + 0x5fe0) >> 4 << 12;
	table[5] = 4 | (UNITS_DATA + 0x7000) >> 4 << 12;
	units_stop(u);
	for (unsigned int n = 0; n < ROUNDS / 2; n++) {
		random_uniform();
		if (!compare())
			return;
	}
}

static void test_atomics(void)
{
	for (unsigned int n = 0; n < ROUNDS; n++) {
		random_atomic(n % 3 == 0);
		if (!compare())
			return;
	}
}

static void test_attributes(void)
{
	random_tables();
	for (unsigned int n = 0; n < 2 * ROUNDS; n++) {
		random_attribute();
		on = n % 8;
		if (!compare())
			break;
	}
	on = false;
	u->env.vertices = NULL;
	u->env.stage = TSR_STAGE_COMPUTE;
}

static void test_conversions(void)
{
	for (unsigned int n = 0; n < ROUNDS; n++) {
		random_conversion(n % 3 == 0);
		if (!compare())
			break;
	}
	ktap_ok(kept > ROUNDS / 60);
	ktap_note("positions were kept %u times", kept);
	fresh = false;
	u->env.vertices = NULL;
	u->env.stage = TSR_STAGE_COMPUTE;
}

/* Threads that end after their message: nothing reads its results, memory is the same. */
static void test_last(void)
{
	struct outcome reference, outcome;

	for (unsigned int n = 0; n < ROUNDS; n++) {
		random_atomic(n % 3 == 0);
		show_sources(false, m.pair, shown[1], m.bundle.pair);
		save(&before);
		run(NULL, &reference, &want);
		for (unsigned int i = 0; i < PATHS; i++) {
			const struct tsr_msg_path *path = path_named(path_names[i]);

			m.bundle.last = true;
			if (!path)
				continue;
			run(path, &outcome, &got);
			if (!same_outcome(&outcome, &reference) || !same_image(false))
				return;
		}
	}
}

/* Additions to more lines of memory than are collected: none is lost. */
static void test_many_sums(void)
{
	const uint64_t va = 0x40000000, size = 4 << 20;
	uint32_t *mem = bench_buffer(&u->as, va, size, BENCH_RW), *sums = calloc(1, size);

	units_insn(u, TSR_OP_ADD_ATOM_CX);
	units_pair(u, TSR_OP_FMA_ATOM_C_RETURN_I32);
	u->pair_insn.mod[TSR_MOD_ATOM_OPC] = TSR_ATOM_OPC_AADD;
	u->env.path = u->b->gpu->env.msg_path;
	for (unsigned int n = 0; n < 2000; n++) {
		unsigned int at = 0;

		begin();
		m.bundle.last = n % 7;
		for (unsigned int i = 0; i < m.bundle.warps; i++) {
			unsigned int w = m.warp[i];
			uint32_t row = rnd();

			for (unsigned int l = 0; l < 16; l++) {
				uint64_t word = n % 2 ? rnd() : row + l * (n / 2 % 2);

				word %= n % 5 ? size / 4 : 4096;
				set_address(w, l, va + 4 * word);
				if (m.lanes[w] >> l & 1)
					sums[word] +=
						u->reg[m.bundle.staging * WARPS + w].u[l];
			}
		}
		ktap_eq(tsr_msg_run_bundle(&u->env, &m.bundle, &at), TSR_STEP_DONE);
		if (n % 50 == 0)
			units_stop(u);
	}
	units_stop(u);
	ktap_mem_eq(mem, sums, size);
	free(sums);
}

/* Memory that has to be asked for: each warp goes on for itself, and no lane is done twice. */
static void test_pending(void)
{
	for (unsigned int n = 0; n < ROUNDS / 3; n++) {
		uint16_t left[WARPS] = { 0 };
		struct outcome reference;
		unsigned int at = 0;

		if (n % 2)
			random_atomic(false);
		else
			random_access(false);
		/* stores of warps that meet come in another order */
		if (n % 2 == 0 && !is_load(u->insn.op))
			m.bundle.warps = 1;
		save(&before);
		u->b->pending_every = 0;
		run(NULL, &reference, &want);
		restore(&before);
		memset(u->b->asked, 0, sizeof(u->b->asked));
		u->b->pending_every = 1 + n % 3;
		tsr_tlb_clear(&u->mem.port->tlb);
		units_stop(u);
		u->env.path = path_named(path_names[n % PATHS]);
		while (tsr_msg_run_bundle(&u->env, &m.bundle, &at) == TSR_STEP_PENDING) {
			left[m.warp[at++]] = m.bundle.left;
			if (at == m.bundle.warps)
				break;
		}
		for (unsigned int w = 0; w < WARPS; w++) {
			const unsigned int s = w * m.bundle.src_step[0];
			enum tsr_step step = left[w] ? TSR_STEP_PENDING : TSR_STEP_DONE;
			struct tsr_msg msg = {
				.insn = m.bundle.insn, .pair_insn = m.bundle.pair_insn,
				.src = { &m.src[0][s], &m.src[1][s], &m.src[2][s] },
				.pair = { &m.pair[0][w], &m.pair[1][w], &m.pair[2][w] },
				.reg = &u->reg[w], .staging = m.bundle.staging, .lanes = left[w],
			};

			u->env.group_memory = m.place[w].group_memory;
			u->env.scratch = m.place[w].scratch;
			while (step == TSR_STEP_PENDING) {
				bench_answer(u->b);
				units_stop(u);
				step = tsr_msg_run(&u->env, &msg);
			}
			ktap_eq(step, TSR_STEP_DONE);
		}
		units_stop(u);
		save(&got);
		/* atomics of several warps come in another order: their sums are the same */
		if (!same_image(n % 2 == 0))
			return;
	}
	u->b->pending_every = 0;
}

int main(int argc, char **argv)
{
	static uint8_t other[UNITS_GROUP_BYTES] __attribute__((aligned(64)));

	ktap_start_args(argc, argv);
	u = units_new(0);
	for (unsigned int i = 0; i < UNITS_DATA_SIZE; i++)
		u->data[i] = rnd();
	for (unsigned int w = 0; w < WARPS; w++)
		m.place[w] = (struct tsr_msg_place){
			.group_memory = w < WARPS / 2 ? u->group : other,
			.scratch = UNITS_SCRATCH + w * 16 * UNITS_SCRATCH_SIZE,
		};
	for (unsigned int i = 0; i < UNITS_DATA_SIZE / BENCH_PAGE; i++)
		bench_map(&u->as, EXCHANGED + i * BENCH_PAGE,
			  u->data_bus + (i ^ 1) * BENCH_PAGE, BENCH_PAGE, BENCH_R);
	/* address 0 is one as any other */
	bench_map(&u->as, 0, u->data_bus + 5 * BENCH_PAGE, BENCH_PAGE, BENCH_RW);
	/* all of it again at 4 GiB, and in the reverse order */
	for (unsigned int i = 0; i < UNITS_DATA_SIZE / BENCH_PAGE; i++)
		bench_map(&u->as, (UNITS_DATA | 1ull << 32) + i * BENCH_PAGE,
			  u->data_bus + (i ^ 1) * BENCH_PAGE, BENCH_PAGE, BENCH_RW);
	ktap_run("[ISA10] [CS3] loads and stores of bundles are those of their lanes",
		 test_accesses);
	ktap_run("[IA3] [INST2] attributes of bundles are those of their lanes", test_attributes);
	ktap_run("[ISA10] stores of bundles in pixel formats", test_conversions);
	ktap_run("[MEM6] loads of bundles from uniform buffers", test_uniform);
	ktap_run("[CS3] atomics of bundles are those of their lanes", test_atomics);
	ktap_run("[CS3] atomics whose results nobody reads", test_last);
	ktap_run("[CS3] additions to many places: none is lost", test_many_sums);
	ktap_run("pending translations: each warp goes on by itself", test_pending);
	units_free(u);
	return ktap_finish();
}
