/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Dispatches: which threads there are and what they know of themselves, indirect dispatches, checks
 * of COMPUTE_STATE, memory windows, residency.
 */
#include "device/gpu.h"
#include "ktap.h"
#include "shade.h"
#include "shader/debug.h"
#include "shader/grid.h"

static const struct tsr_config plain = { 0 };

/* Each thread stores R55 to R62 (without those beside R59) at 32 bytes * its flat number. */
static const char identity[] =
	"clause {\n"			/* flat = x + X * (y + Y * z), all global; u1 = X, Y */
	"	*MOV.i32 r4, u1.w0\n"
	"	*MOV.i32 r5, u1.w1\n"
	"	*NOP\n"
	"	*IMUL.i32 t0, r62, r5\n"
	"	*NOP\n"
	"	+IADD.s32 r6, t0, r61\n"
	"	*NOP\n"
	"}\n"
	"clause {\n"
	"	*IMUL.i32 t0, r6, r4\n"
	"	*NOP\n"
	"	+IADD.s32 r6, t0, r60\n"
	"	*NOP\n"
	"}\n"
	"clause slot=0 wait=0 {\n"
	"	*SHADDXL.u32 r0:t0, u0.w0, r6, shift:5\n"
	"	+SHADDXH.i32 t1, u0.w1, t\n"
	"	*MOV.i32 r1, t1\n"
	"	+STORE.i128 t0, t1, @r55\n"
	"}\n"
	"clause slot=0 end {\n"
	"	+IADD.s32 t1, r0, 0x10\n"
	"	*NOP\n"
	"	+STORE.i128 t1, r1, @r59\n"
	"}\n";

struct shape {
	uint32_t local[3], groups[3];
};

/* Check all threads of a grid. */
static void check_identity(struct shade_machine *m, const struct shape *s)
{
	uint32_t size[3], wrong = 0, n = 0;

	for (unsigned int i = 0; i < 3; i++)
		size[i] = s->local[i] * s->groups[i];
	for (uint32_t z = 0; z < size[2]; z++) {
		for (uint32_t y = 0; y < size[1]; y++) {
			for (uint32_t x = 0; x < size[0]; x++, n++) {
				const uint32_t *r = stage_word32(&m->s, 32ull * n);
				const uint32_t want[8] = {
					x % s->local[0] | y % s->local[1] << 16, z % s->local[2],
					x / s->local[0], y / s->local[1], z / s->local[2], x, y, z,
				};

				wrong += memcmp(r, want, sizeof(want)) != 0;
			}
		}
	}
	ktap_eq(wrong, 0);
	ktap_eq(*stage_word32(&m->s, 32ull * n), 0);
}

static void identities(void)
{
	static const struct shape shapes[] = {
		{ { 1, 1, 1 }, { 1, 1, 1 } }, { { 4, 3, 5 }, { 2, 3, 2 } },
		{ { 1, 1, 64 }, { 3, 1, 1 } }, { { 16, 8, 8 }, { 1, 2, 3 } },
		{ { 1, 1024, 1 }, { 2, 1, 2 } }, { { 7, 1, 1 }, { 11, 5, 3 } },
	};

	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct shape *s = &shapes[i];
		static struct shade_code code;
		struct shade_dispatch d = { .code = &code };
		struct shade_machine m;

		memset(&code, 0, sizeof(code));
		shade_text(&code, identity);
		memcpy(d.groups, s->groups, sizeof(d.groups));
		d.state.local_x = s->local[0];
		d.state.local_y = s->local[1];
		d.state.local_z = s->local[2];
		d.push[2] = s->local[0] * s->groups[0];
		d.push[3] = s->local[1] * s->groups[1];
		shade_init(&m, &plain);
		ktap_ok(shade_run(&m, &d));
		check_identity(&m, s);
		shade_free(&m);
	}
}

/* Emit DISPATCH_INDIRECT of the state of @d with group counts at STAGE_DATA + 0x90000. */
static void indirect_call(struct shade_machine *m, const struct shade_dispatch *d)
{
	struct stage_stream scratch = stage_stream(&m->s, 0x800), stream = stage_stream(&m->s, 0);
	struct tsr_dispatch_indirect i = { .state = SHADE_STATE, .groups = STAGE_DATA + 0x90000 };
	uint64_t p[8];

	shade_add(&scratch, d);		/* for state, code and constants */
	tsr_pack_dispatch_indirect(p, &i);
	stage_add(&stream, p, TSR_DISPATCH_INDIRECT_QWORDS);
	stage_call(&m->q, &stream);
	bench_kick(&m->q);
}

static void indirect(void)
{
	static const struct shape s = { { 5, 2, 1 }, { 3, 4, 2 } };
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code };
	struct shade_machine m;
	uint32_t *groups;

	memset(&code, 0, sizeof(code));
	shade_text(&code, identity);
	d.state.local_x = 5;
	d.state.local_y = 2;
	d.push[2] = 15;
	d.push[3] = 8;
	shade_push64(d.push, 0, STAGE_DATA);
	shade_init(&m, &plain);
	groups = stage_word32(&m.s, 0x90000);
	memcpy(groups, s.groups, sizeof(s.groups));
	indirect_call(&m, &d);
	ktap_ok(bench_run(m.s.b, 10));
	ktap_eq(bench_fault(&m.q), TSR_FAULT_NONE);
	check_identity(&m, &s);
	/* none at all, in any dimension */
	for (unsigned int i = 0; i < 3; i++) {
		groups[i] = 0;
		indirect_call(&m, &d);
		ktap_ok(bench_run(m.s.b, 10));
		ktap_eq(bench_state(&m.q), TSR_QUEUE_STATE_IDLE);
		groups[i] = s.groups[i];
	}
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_SHADER_GROUPS), 24);
	groups[1] = TSR_GROUPS_MAX + 1;
	indirect_call(&m, &d);
	ktap_ok(bench_run(m.s.b, 10));
	ktap_eq(bench_fault(&m.q), TSR_FAULT_BAD_VALUE);
	ktap_eq(bench_queue_reg64(&m.q, TSR_QUEUE_FAULT_ADDR__OFFSET), STAGE_STREAM + 16);
	shade_free(&m);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* One word of a good state becomes @value: a fault, at which qword. */
static void bad_state(unsigned int qword, uint64_t value, enum tsr_fault code)
{
	static struct shade_code program;
	struct shade_dispatch d = { .code = &program };
	struct shade_machine m;
	uint64_t *word, pc;

	memset(&program, 0, sizeof(program));
	shade_text(&program, "clause end { *NOP }\n");
	shade_init(&m, &plain);
	pc = shade_call(&m.s, &m.q, &d);
	word = (uint64_t *)(m.s.streams + (SHADE_STATE - STAGE_STREAM));
	word[qword] = value;
	bench_kick(&m.q);
	ktap_ok(bench_run(m.s.b, 10));
	if (!ktap_eq(bench_fault(&m.q), code))
		ktap_note("qword %u is %#llx", qword, (unsigned long long)value);
	if (code) {
		ktap_eq(bench_queue_reg64(&m.q, TSR_QUEUE_FAULT_ADDR__OFFSET),
			SHADE_STATE + 8 * qword);
		ktap_eq(bench_queue_reg64(&m.q, TSR_QUEUE_FAULT_PC__OFFSET), pc);
		ktap_eq(bench_field(bench_queue_reg(&m.q, TSR_QUEUE_FAULT__OFFSET),
				    TSR_QUEUE_FAULT_UNIT__MASK),
			TSR_UNIT_DISPATCH);
		ktap_eq(bench_queue_reg(&m.q, TSR_QUEUE_FAULT_SHADER__OFFSET), 0);
	}
	shade_free(&m);
}

static void checks(void)
{
	const uint64_t one = 1 | 1 << 16 | 1ull << 32, push = 64;

	bad_state(0, SHADE_CODE + 8, TSR_FAULT_ALIGNMENT);
	bad_state(1, one - 1, TSR_FAULT_BAD_VALUE);
	bad_state(1, one - (1 << 16), TSR_FAULT_BAD_VALUE);
	bad_state(1, one - (1ull << 32), TSR_FAULT_BAD_VALUE);
	bad_state(1, one + 1024, TSR_FAULT_BAD_VALUE);
	bad_state(1, 33 | 32 << 16 | 1ull << 32, TSR_FAULT_BAD_VALUE);
	bad_state(1, 32 | 32 << 16 | 1ull << 32, TSR_FAULT_NONE);
	bad_state(1, 64 | 8 << 16 | 2ull << 32, TSR_FAULT_NONE);
	bad_state(1, one | 1ull << 48, TSR_FAULT_NONE);
	bad_state(1, one | 1ull << 49, TSR_FAULT_RESERVED_BITS);
	bad_state(2, SHADE_PUSH + 4, TSR_FAULT_ALIGNMENT);
	bad_state(3, push | 1 << 16, TSR_FAULT_RESERVED_BITS);
	bad_state(3, 257, TSR_FAULT_BAD_VALUE);
	bad_state(3, 256, TSR_FAULT_NONE);
	bad_state(4, 4, TSR_FAULT_ALIGNMENT);
	bad_state(5, 4, TSR_FAULT_ALIGNMENT);
	bad_state(6, 8, TSR_FAULT_ALIGNMENT);
	bad_state(7, 16, TSR_FAULT_ALIGNMENT);
	bad_state(8, 16, TSR_FAULT_ALIGNMENT);
	bad_state(9, 257, TSR_FAULT_BAD_VALUE);
	bad_state(9, 513 << 16, TSR_FAULT_BAD_VALUE);
	bad_state(9, 513ull << 32, TSR_FAULT_BAD_VALUE);
	bad_state(9, 1ull << 48, TSR_FAULT_RESERVED_BITS);
	bad_state(10, 513, TSR_FAULT_BAD_VALUE);
	bad_state(10, 513 << 16, TSR_FAULT_BAD_VALUE);
	bad_state(11, SHADE_SCRATCH + 32, TSR_FAULT_ALIGNMENT);
	bad_state(12, 24, TSR_FAULT_ALIGNMENT);
	bad_state(12, TSR_SCRATCH_MAX + 16, TSR_FAULT_BAD_VALUE);
	bad_state(12, (TSR_GROUP_MEMORY_MAX + 1ull) << 32, TSR_FAULT_BAD_VALUE);
	bad_state(12, (uint64_t)TSR_GROUP_MEMORY_MAX << 32, TSR_FAULT_NONE);
	bad_state(13, 1, TSR_FAULT_RESERVED_BITS);
	bad_state(15, 1ull << 63, TSR_FAULT_RESERVED_BITS);
}

/* Run a packet of @words, which is wrong in its qword @at or, if @code is NONE, is not. */
static void bad_packet(const uint64_t *words, unsigned int qwords, unsigned int at,
		       enum tsr_fault code)
{
	static const struct shade_code program;
	struct shade_dispatch d = { .code = &program };
	struct stage_stream scratch, stream;
	struct shade_machine m;
	uint64_t pc;

	shade_init(&m, &plain);
	scratch = stage_stream(&m.s, 0x800);
	shade_add(&scratch, &d);	/* for the state */
	stream = stage_stream(&m.s, 0);
	pc = stage_add(&stream, words, qwords);
	stage_call(&m.q, &stream);
	bench_kick(&m.q);
	ktap_ok(bench_run(m.s.b, 10));
	ktap_eq(bench_fault(&m.q), code);
	if (code) {
		ktap_eq(bench_queue_reg64(&m.q, TSR_QUEUE_FAULT_ADDR__OFFSET), pc + 8 * at);
		ktap_eq(bench_queue_reg64(&m.q, TSR_QUEUE_FAULT_PC__OFFSET), pc);
	}
	shade_free(&m);
}

/* The packets themselves; a dimension without groups is nothing to do, but no excuse. */
static void packets(void)
{
	const uint32_t max = TSR_GROUPS_MAX;
	const struct {
		struct tsr_dispatch d;
		unsigned int qword;
		enum tsr_fault code;
	} direct[] = {
		{ { SHADE_STATE, max, 0, max }, 0, TSR_FAULT_NONE },
		{ { SHADE_STATE, 0, max, max }, 0, TSR_FAULT_NONE },
		{ { SHADE_STATE + 8, 0, 1, 1 }, 1, TSR_FAULT_ALIGNMENT },
		{ { SHADE_STATE + 32, 0, 1, 1 }, 1, TSR_FAULT_ALIGNMENT },
		{ { SHADE_STATE, max + 1, 0, 1 }, 2, TSR_FAULT_BAD_VALUE },
		{ { SHADE_STATE, 0, max + 1, 1 }, 2, TSR_FAULT_BAD_VALUE },
		{ { SHADE_STATE, 0, 1, max + 1 }, 3, TSR_FAULT_BAD_VALUE },
	};
	const struct {
		struct tsr_dispatch_indirect i;
		unsigned int qword;
		enum tsr_fault code;
	} indirect[] = {
		{ { SHADE_STATE, STAGE_DATA + 4 }, 0, TSR_FAULT_NONE },
		{ { SHADE_STATE + 32, STAGE_DATA }, 1, TSR_FAULT_ALIGNMENT },
		{ { SHADE_STATE, STAGE_DATA + 1 }, 2, TSR_FAULT_ALIGNMENT },
		{ { SHADE_STATE, STAGE_DATA + 2 }, 2, TSR_FAULT_ALIGNMENT },
	};
	uint64_t p[8];

	for (unsigned int n = 0; n < sizeof(direct) / sizeof(direct[0]); n++) {
		tsr_pack_dispatch(p, &direct[n].d);
		bad_packet(p, TSR_DISPATCH_QWORDS, direct[n].qword, direct[n].code);
	}
	for (unsigned int n = 0; n < sizeof(indirect) / sizeof(indirect[0]); n++) {
		tsr_pack_dispatch_indirect(p, &indirect[n].i);
		bad_packet(p, TSR_DISPATCH_INDIRECT_QWORDS, indirect[n].qword, indirect[n].code);
	}
}

/* ---- What a core holds ----------------------------------------------------------------------- */

/*
 * Each thread stores lane, warp and core (FAU) and adds 1 to a word of its scratch, which lies
 * where its place on the core says; nobody else has that place meanwhile.
 */
static const char specials[] =
	"clause {\n"
	"	*MOV.i32 r0, lane_id.w0\n"
	"	*MOV.i32 r1, warp_id.w0\n"
	"	*MOV.i32 r2, core_id.w0\n"
	"	*MOV.i32 r3, #0\n"
	"}\n"
	"clause slot=0 wait=0 {\n"
	"	+STORE.i32.tl zero.w0, zero.w0, @r60\n"
	"}\n"
	"clause slot=7 wait=7 {\n"
	"	+BARRIER\n"
	"}\n"
	"clause slot=0 wait=0 {\n"
	"	+LOAD.i32.tl zero.w0, zero.w0, @r3\n"
	"}\n"
	"clause slot=0 end {\n"
	"	*SHADDXL.u32 t0, u0.w0, r60, shift:4\n"
	"	+SHADDXH.i32 t1, u0.w1, t\n"
	"	+STORE.i128 t0, t1, @r0\n"
	"}\n";

/* @groups of @local threads; @run of them follow one another on a core. */
static void check_specials(const struct shade_code *code, bool wide, uint32_t local,
			   uint32_t groups, uint32_t run)
{
	struct tsr_config config = { .cores = 3 };
	struct shade_dispatch d = { .code = code, .groups = { groups } };
	struct shade_machine m;

	d.state.local_x = local;
	d.state.scratch_size = 16;
	d.state.registers_64 = wide;
	shade_init(&m, &config);
	ktap_ok(shade_run(&m, &d));
	for (unsigned int i = 0; i < local * groups; i++) {
		const uint32_t *r = stage_word32(&m.s, 16 * i);

		ktap_eq(r[0], i % local % 16);
		ktap_eq(r[1], i % local / 16);
		ktap_eq(r[2], i / local / run % 3);
		ktap_eq(r[3], i);
	}
	shade_free(&m);
}

static void special_values(void)
{
	static struct shade_code code;

	memset(&code, 0, sizeof(code));
	shade_text(&code, specials);
	for (unsigned int wide = 0; wide < 2; wide++)
		check_specials(&code, wide, 72, 50, 1);
	/* the first number of groups that is dealt out in runs, and one less */
	check_specials(&code, false, 17, TSR_GROUP_RUN * TSR_GROUP_RUN * 3, TSR_GROUP_RUN);
	check_specials(&code, false, 17, TSR_GROUP_RUN * TSR_GROUP_RUN * 3 - 1, 1);
	check_specials(&code, false, 16, TSR_GROUP_RUN * TSR_GROUP_RUN * 3 + 5, TSR_GROUP_RUN);
}

/* ---- Registers at entry ---------------------------------------------------------------------- */

static bool exists(unsigned int r, bool wide)
{
	return wide || r < 16 || r >= 48;
}

/* A program that leaves something in all registers, those of a message by loading them. */
static void dirty_program(struct shade_code *code, bool wide)
{
	char text[8192] = "", line[80];
	unsigned int n = 0;

	for (unsigned int r = 0; r < TSR_REGISTERS; r++) {
		if (!exists(r, wide) || (r >= 8 && r < 12))
			continue;
		if (n % 4 == 0)
			strcat(text, "clause {\n");
		snprintf(line, sizeof(line), "	*MOV.i32 r%u, u1.w0\n", r);
		strcat(text, line);
		if (++n % 4 == 0)
			strcat(text, "}\n");
	}
	/* 60 registers or 28: clauses are full */
	strcat(text, "clause slot=0 end {\n"
		     "	+LOAD.i128 u0.w0, u0.w1, @r8\n}\n");
	memset(code, 0, sizeof(*code));
	shade_text(code, text);
}

/* One that stores all registers that are 0 at entry, ORed. */
static void read_program(struct shade_code *code, bool wide)
{
	char text[8192] = "", line[80];
	unsigned int n = 0;

	for (unsigned int r = 0; r < TSR_REGISTERS; r++) {
		bool last = n % 4 == 3;

		if (!exists(r, wide) || (r >= 55 && r < 63))
			continue;
		snprintf(line, sizeof(line), "	*LSHIFT_OR.i32 %s, %s, r%u, #0\n",
			 last ? "r59:t0" : "t0", n % 4 ? "t0" : "r59", r);
		strcat(text, n % 4 ? "" : "clause {\n");
		strcat(text, line);
		strcat(text, last ? "}\n" : "");
		n++;
	}
	/* 24 or 56 */
	strcat(text, "clause slot=0 message=store " SHADE_STORE("r59"));
	memset(code, 0, sizeof(*code));
	shade_text(code, text);
}

/* A program does not see registers of the previous one, with any register counts. */
static void registers_at_entry(void)
{
	static struct shade_code dirty, reads;

	for (unsigned int n = 0; n < 16; n++) {
		bool wide_first = n & 1, wide = n & 2;
		struct tsr_config config = { .cores = 2, .late_messages = n & 4 };
		/* warps that fill bundles and some that do not */
		uint32_t local = n & 8 ? 256 : 40;
		struct shade_dispatch first = { .code = &dirty, .groups = { 40 } };
		struct shade_dispatch second = { .code = &reads, .groups = { 40 } };
		struct shade_machine m;

		dirty_program(&dirty, wide_first);
		read_program(&reads, wide);
		first.state.local_x = second.state.local_x = local;
		first.state.registers_64 = wide_first;
		second.state.registers_64 = wide;
		first.push[2] = 0xffffffff;
		shade_init(&m, &config);
		for (unsigned int i = 0; i < 40 * local; i++)
			*stage_word32(&m.s, 4 * i) = 0x77777777;
		ktap_ok(shade_run(&m, &first));
		second.at = 0x4000;
		ktap_ok(shade_run(&m, &second));
		for (unsigned int i = 0; i < 40 * local; i++) {
			if (!ktap_eq(*stage_word32(&m.s, 4 * i), 0))
				return;
		}
		shade_free(&m);
	}
}

/* Each page is looked up by somebody, and what helpers look up counts too. */
static void lookups(void)
{
	static struct shade_code code;
	struct tsr_config config = { .threads = 4, .cores = 4 };
	const unsigned int pages = 0x80000 / 4096;

	memset(&code, 0, sizeof(code));
	shade_text(&code, "clause slot=0 message=store " SHADE_STORE("r60"));
	for (unsigned int n = 0; n < 20; n++) {
		struct shade_dispatch d = { .code = &code, .groups = { pages } };
		struct shade_machine m;

		d.state.local_x = 1024;	/* a page for each group */
		shade_init(&m, &config);
		ktap_ok(shade_run(&m, &d));
		ktap_ok(shade_counter(&m, TSR_QUEUE_COUNTER_TLB_MISSES) >= pages);
		shade_free(&m);
	}
}

static struct {
	uint32_t most;			/* resident warp with the highest number */
	uint64_t slots[4];		/* seen */
} seen;

static void note_slot(void *opaque, const struct tsr_shader_view *view)
{
	(void)opaque;
	if (view->slot > seen.most)
		seen.most = view->slot;
	seen.slots[view->slot / 64 % 4] |= 1ull << view->slot % 64;
}

/* All groups wait for each other: as many as fit are resident, which their registers decide. */
static void residency(void)
{
	static const char text[] =
		"clause slot=0 wait=0 {\n"
		"	*MOV.i32 t0, u1.w0\n"
		"	+MOV.i32 t1, u1.w1\n"
		"	*ATOM_C1.i32.ainc t0, t1\n"
		"	+ATOM_CX t0, t1, zero.w0, @r9\n"
		"}\n"
		"loop: clause slot=0 wait=0 flow=nbtb_unconditional {\n"
		"	*MOV.i32 t0, u1.w0\n"
		"	*NOP\n"
		"	+LOAD.i32 t0, u1.w1, @r2\n"
		"}\n"
		"clause flow=nbtb_unconditional {\n"
		"	*MOV.i32 r3, u2.w0\n"
		"	*NOP\n"
		"	*NOP\n"
		"	+BRANCH.u32.lt r2, r3, loop\n"
		"}\n"
		"clause slot=0 message=store " SHADE_STORE("r60");
	static struct shade_code code;
	struct tsr_config config = { .cores = 1 };

	for (unsigned int wide = 0; wide < 2; wide++) {
		unsigned int warps = wide ? TSR_CORE_WARPS / 2 : TSR_CORE_WARPS;
		struct shade_dispatch d = { .code = &code };
		struct shade_machine m;

		memset(&code, 0, sizeof(code));
		memset(&seen, 0, sizeof(seen));
		shade_text(&code, text);
		d.state.registers_64 = wide;
		d.state.local_x = 3 * 16;
		d.groups[0] = warps / 3;
		d.push[4] = warps / 3 * 48;
		shade_init(&m, &config);
		ktap_ok(tsr_gpu_set_shader_hook(m.s.b->gpu, note_slot, NULL));
		ktap_ok(shade_run(&m, &d));
		ktap_eq(seen.most, warps / 3 * 3 - 1);
		ktap_eq(*stage_word32(&m.s, 4 * (d.push[4] - 1)), d.push[4] - 1);
		shade_free(&m);
	}
}

/* A grid has 1 to GROUPS_MAX groups in each dimension, and is not made of any other number. */
static void grids(void)
{
	static const uint32_t numbers[] = { 0, 1, TSR_GROUPS_MAX, TSR_GROUPS_MAX + 1, UINT32_MAX };
	const struct tsr_compute_state state = { .code = SHADE_CODE, .local_x = 1, .local_y = 1,
						 .local_z = 1 };
	uint64_t word[TSR_COMPUTE_STATE__QWORDS];
	struct bench *b = bench_new(&plain);

	tsr_pack_compute_state(word, &state);
	for (unsigned int i = 0; i < 3 * 5; i++) {
		const uint32_t number = numbers[i / 3], push[1] = { 0 };
		uint32_t groups[3] = { 1, 1, 1 };
		struct tsr_grid *grid;
		bool made;

		groups[i % 3] = number;
		made = tsr_grid_new(&b->gpu->env, word, groups, push, NULL, &grid);
		if (!ktap_eq(made, number && number <= TSR_GROUPS_MAX) ||
		    !ktap_eq(grid != NULL, made) || (made && !ktap_eq(grid->total, number)))
			ktap_note("%u groups in dimension %u", number, i % 3);
		tsr_grid_free(grid);
	}
	bench_free(b);
}

/* Registers of the device that say so. */
static void registers(void)
{
	struct tsr_config config = { .cores = 5 }, none = { .engines = { 1, 1, 0, 1 } };
	struct bench *b = bench_new(NULL);

	/* on every host */
	ktap_eq(bench_field(bench_read(b, TSR_REG_GPU_SHADER), TSR_GPU_SHADER_CORES__MASK), 16);
	bench_free(b);
	b = bench_new(&config);

	ktap_eq(bench_read(b, TSR_REG_GPU_SHADER), 5 | 16 << 8 | 128 << 16);
	ktap_eq(bench_read(b, TSR_REG_GPU_SHADER_LIMITS), 1024 | 64 << 16);
	bench_free(b);
	b = bench_new(&none);
	ktap_eq(bench_read(b, TSR_REG_GPU_SHADER), 0);
	ktap_eq(bench_read(b, TSR_REG_GPU_SHADER_LIMITS), 0);
	bench_free(b);
	config.cores = 33;
	char err[100];

	ktap_ok(!bench_try(&config, err, sizeof(err)));
	config.cores = 0;
	config.simd = "mmx";
	ktap_ok(!bench_try(&config, err, sizeof(err)));
}

int main(void)
{
	ktap_start();
	ktap_run("[CS1] local, group and global positions in three dimensions", identities);
	ktap_run("[CS1] [CP3] indirect dispatches", indirect);
	ktap_run("[CS1] [CP3] each field of COMPUTE_STATE out of range once", checks);
	ktap_run("[CS1] [CP3] each field of the packets out of range once", packets);
	ktap_run("[ISA6] lane, warp and core; scratch of a thread is its own", special_values);
	ktap_run("[CS1] registers are 0 at entry, whatever ran before", registers_at_entry);
	ktap_run("look-ups of threads that help are counted", lookups);
	ktap_run("[PIX7] a core holds as many warps as registers allow, all go on", residency);
	ktap_run("[CS1] how many groups a grid has", grids);
	ktap_run("[CS1] SHADER and SHADER_LIMITS", registers);
	return ktap_finish();
}
