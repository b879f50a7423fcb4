/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Programs that are wrong: which fault, at which clause, tuple and unit, in which thread; and that
 * other queues do not notice.
 */
#include "ktap.h"
#include "shade.h"

/* The expected record of a program's fault. */
struct want {
	enum tsr_fault code;
	enum tsr_unit unit;
	uint64_t addr;			/* 1: the clause's */
	uint64_t clause;		/* offset in the code */
	unsigned int tuple, lane, warp;
	bool add;
	uint32_t group;			/* along x */
};

#define WANT(c, u, a, at, ...) \
	{ .code = TSR_FAULT_##c, .unit = TSR_UNIT_##u, .addr = (a), .clause = (at), ##__VA_ARGS__ }

static void check(struct shade_machine *m, const struct want *w)
{
	uint32_t fault = bench_queue_reg(&m->q, TSR_QUEUE_FAULT__OFFSET);
	uint32_t shader = bench_queue_reg(&m->q, TSR_QUEUE_FAULT_SHADER__OFFSET);
	uint64_t clause = SHADE_CODE + w->clause;

	ktap_eq(bench_fault(&m->q), w->code);
	ktap_eq(bench_state(&m->q), TSR_QUEUE_STATE_FAULTED);
	ktap_eq(bench_field(fault, TSR_QUEUE_FAULT_UNIT__MASK), w->unit);
	ktap_eq(bench_queue_reg64(&m->q, TSR_QUEUE_FAULT_ADDR__OFFSET),
		w->addr == 1 ? clause : w->addr);
	ktap_eq(bench_queue_reg64(&m->q, TSR_QUEUE_FAULT_PC__OFFSET), STAGE_STREAM);
	ktap_eq(bench_queue_reg64(&m->q, TSR_QUEUE_FAULT_CLAUSE__OFFSET), clause);
	ktap_eq(bench_field(shader, TSR_QUEUE_FAULT_SHADER_VALID__MASK), 1);
	ktap_eq(bench_field(shader, TSR_QUEUE_FAULT_SHADER_TUPLE__MASK), w->tuple);
	ktap_eq(bench_field(shader, TSR_QUEUE_FAULT_SHADER_ADD__MASK), w->add);
	ktap_eq(bench_field(shader, TSR_QUEUE_FAULT_SHADER_LANE__MASK), w->lane);
	ktap_eq(bench_field(shader, TSR_QUEUE_FAULT_SHADER_WARP__MASK), w->warp);
	ktap_eq(bench_field(shader, TSR_QUEUE_FAULT_SHADER_CORE__MASK), w->group % 8);
	ktap_eq(bench_queue_reg(&m->q, TSR_QUEUE_FAULT_GROUP__OFFSET), w->group);
	ktap_eq(bench_queue_reg(&m->q, TSR_QUEUE_FAULT_GROUP__OFFSET + 8), 0);
	ktap_eq(bench_read64(m->s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_FAULT)), 1ull << 2);
}

/* Run @code with groups of @local threads; it ends in the fault @want. */
static void run(const struct shade_code *code, uint32_t local, uint32_t groups,
		const struct want *want)
{
	static const struct tsr_config config = { 0 };
	struct shade_dispatch d = { .code = code, .groups = { groups } };
	struct shade_machine m;

	d.state.local_x = local;
	d.state.group_memory = 64;
	d.state.scratch_size = 16;
	shade_init(&m, &config);
	ktap_ok(!shade_run(&m, &d));
	check(&m, want);
	shade_free(&m);
}

static void run_text(const char *text, uint32_t local, uint32_t groups, const struct want *want)
{
	static struct shade_code code;

	memset(&code, 0, sizeof(code));
	shade_text(&code, text);
	run(&code, local, groups, want);
}

#define NOTHING "clause { *NOP }\n"	/* 16 bytes */

/* ---- Encodings ------------------------------------------------------------------------------- */

static void encodings(void)
{
	/* a quadword that begins no clause; reserved header bits; no such instruction */
	run_text(NOTHING ".quad 0, 0\n", 16, 1,
		 &(struct want)WANT(SHADER_ENCODING, SHADER, 1, 16));
	run_text(NOTHING NOTHING "clause unchecked { *NOP\n +NOP\n *.word 0x7fffff\n }\n", 16, 1,
		 &(struct want)WANT(SHADER_ENCODING, SHADER, 1, 32, .tuple = 1));
	run_text(NOTHING "clause unchecked { *NOP\n +.word 0xfffff\n }\n", 16, 1,
		 &(struct want)WANT(SHADER_ENCODING, SHADER, 1, 16, .add = true));
	/* the clause before has been executed, and the next one has not */
	run_text("clause slot=0 wait=0 {\n"
		 "	*SHADDXL.u32 t0, u0.w0, r60, shift:2\n"
		 "	+SHADDXH.i32 t1, u0.w1, t\n"
		 "	+STORE.i32 t0, t1, @r60\n"
		 "}\n.quad 0, 0\n", 16, 1,
		 &(struct want)WANT(SHADER_ENCODING, SHADER, 1, 32));
}

/* Their semantics are not public, see Documentation/hw/isa.md. The clause before them runs. */
static void job_control(void)
{
	static const char *const names[] = { "DOORBELL", "EUREKA", "KABOOM" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char text[120];

		snprintf(text, sizeof(text),
			 NOTHING "clause slot=0 wait=0 message=job { *NOP\n *NOP\n +%s r0\n }\n",
			 names[i]);
		run_text(text, 16, 1,
			 &(struct want)WANT(SHADER_UNSUPPORTED, SHADER, 1, 16, .tuple = 1,
					    .add = true));
	}
}

static void headers(void)
{
	struct want want = WANT(SHADER_ENCODING, SHADER, 1, 0);

	/* a message that is not announced, one that is announced and not there, another one */
	run_text("clause unchecked message=none { +LOAD.i32 r0, r1, @r2\n }\n", 16, 1, &want);
	run_text("clause unchecked message=load { *NOP }\n", 16, 1, &want);
	run_text("clause unchecked message=store { +LOAD.i32 r0, r1, @r2\n }\n", 16, 1, &want);
	/* two of them: the second is one too many */
	want.tuple = 1;
	run_text("clause unchecked message=load {\n"
		 "	+LOAD.i32 r0, r1, @r2\n	+LOAD.i32 r0, r1, @r2\n}\n",
		 16, 1, &want);
	/* a branch before the last tuple */
	want.tuple = 0;
	run_text("clause unchecked { +BRANCHZ.i32.eq r0, zero.w0\n *NOP\n }\n", 16, 1, &want);
	/* the type of the next message is a hint: wrong ones do nothing */
	run_text("clause next=atomic { *NOP }\nclause next=blend { *NOP }\n.quad 0, 0\n", 16, 1,
		 &(struct want)WANT(SHADER_ENCODING, SHADER, 1, 32));
}

/* A program with 32 registers has R0 to R15 and R48 to R63. */
static void registers(void)
{
	static struct shade_code code;
	static const uint8_t good[] = { 0, 15, 48, 63 }, wrong[] = { 16, 31, 32, 47 };
	struct want want = WANT(SHADER_ENCODING, SHADER, 1, 0, .tuple = 1);

	for (unsigned int i = 0; i < 4; i++) {
		struct shade_clause c = {
			.tuples = 2,
			.flow = TSR_FLOW_NBTB,
			.tuple = { { .fma = { TSR_OP_FMA_MOV_I32, { S_LO } } },
				   { .p0 = R(wrong[i]), .fma = { TSR_OP_FMA_MOV_I32, { S_P0 } } } },
		};

		memset(&code, 0, sizeof(code));
		shade_clause(&code, &c);
		run(&code, 16, 1, &want);
		memset(&code, 0, sizeof(code));
		c.tuple[1].p0 = R(good[i]);
		c.tuple[0].wf = R(good[3 - i]);
		shade_clause(&code, &c);	/* is right; no clause follows */
		run(&code, 16, 1,
		    &(struct want)WANT(SHADER_ENCODING, SHADER, 1, code.size));
		memset(&code, 0, sizeof(code));
		c.tuple[0].wf = R(wrong[i]);
		shade_clause(&code, &c);
		run(&code, 16, 1, &want);
	}
	run_text("clause unchecked message=load { +LOAD.i64 r0, r1, @r15\n }\n", 16, 1,
		 &(struct want)WANT(SHADER_ENCODING, SHADER, 1, 0, .add = true));
}

static void unsupported(void)
{
	struct want want = WANT(SHADER_UNSUPPORTED, SHADER, 1, 16);

	/* semantics that is not public, and what the compute stage has not */
	run_text(NOTHING "clause { *FMUL_SLICE.f32 t0, r0, r1\n *NOP }\n", 16, 1, &want);
	want.add = true;
	run_text(NOTHING "clause { +DISCARD.f32.eq r0, r1\n }\n", 16, 1, &want);
	run_text(NOTHING "clause { +BRANCH_DIVERG zero.w0\n }\n", 16, 1, &want);
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static void addresses(void)
{
	/* thread 40, lane 8 of warp 2, of group 3 alone loads from nowhere */
	static const char nowhere[] =
		"clause flow=nbtb_unconditional {\n"
		"	+IADD.s32 t1, r60, -184\n"
		"	+BRANCHZ.i32.ne t1, zero.w0\n"
		"}\n"
		"clause slot=0 wait=0 { *MOV.i32 t0, 0x7000\n *NOP\n"
		"	+LOAD.i32 t0, zero.w0, @r2\n }\n"
		"clause end { *NOP }\n";
	static const char misaligned[] =
		"clause slot=0 wait=0 { *MOV.i32 t0, u0.w0\n +IADD.s32 t1, r55, t\n"
		"	*NOP\n +LOAD.i32 t1, u0.w1, @r2\n }\n"
		"clause end { *NOP }\n";
	static const char bounds[] =
		"clause slot=0 wait=0 { *LSHIFT_OR.i32 t0, r55, #0, 0x2\n *NOP\n"
		"	+STORE.i32.wls t0, zero.w0, @r2\n }\n"
		"clause end { *NOP }\n";
	static const char scratch[] =
		"clause slot=0 wait=0 { *MOV.i32 t0, 0x10\n *NOP\n"
		"	+STORE.i32.tl t0, zero.w0, @r2\n }\n"
		"clause end { *NOP }\n";
	static const char jump[] = "clause { +JUMP r55\n }\n";

	run_text(nowhere, 48, 10,
		 &(struct want)WANT(MMU_UNMAPPED, LOAD_STORE, 0x7000, 48, .tuple = 1, .lane = 8,
				    .warp = 2, .add = true, .group = 3));
	run_text(misaligned, 20, 1,
		 &(struct want)WANT(SHADER_ALIGNMENT, LOAD_STORE, STAGE_DATA + 1, 0, .tuple = 1,
				    .lane = 1, .add = true));
	run_text(bounds, 20, 1,
		 &(struct want)WANT(SHADER_BOUNDS, LOAD_STORE, TSR_WINDOW_GROUP + 64, 0, .tuple = 1,
				    .warp = 1, .add = true));
	run_text(scratch, 20, 1,
		 &(struct want)WANT(SHADER_BOUNDS, LOAD_STORE, TSR_WINDOW_SCRATCH + 16, 0,
				    .tuple = 1, .add = true));
	/* thread 0 ends, thread 1 goes to an address that cannot be one */
	run_text(jump, 20, 1,
		 &(struct want)WANT(SHADER_ALIGNMENT, SHADER, 1, 1 - SHADE_CODE, .lane = 1));
}

/* Code that may be read but not executed, code that is not there, code that goes to the end. */
static void code_pages(void)
{
	static const struct tsr_config config = { 0 };
	static const uint64_t where[] = { STAGE_DATA, 0x7000,
					  STAGE_STREAM + STAGE_STREAM_SIZE - 16 };
	static const enum tsr_fault codes[] = { TSR_FAULT_MMU_PERMISSION, TSR_FAULT_MMU_UNMAPPED,
						TSR_FAULT_MMU_UNMAPPED };

	for (unsigned int i = 0; i < 3; i++) {
		static struct shade_code code;
		struct shade_dispatch d = { .code = &code, .code_va = where[i] };
		struct shade_machine m;

		memset(&code, 0, sizeof(code));
		shade_text(&code, NOTHING);
		shade_init(&m, &config);
		memcpy(m.s.streams + STAGE_STREAM_SIZE - 16, code.bytes, 16);
		ktap_ok(!shade_run(&m, &d));
		ktap_eq(bench_fault(&m.q), codes[i]);
		ktap_eq(bench_queue_reg64(&m.q, TSR_QUEUE_FAULT_ADDR__OFFSET),
			i == 2 ? STAGE_STREAM + STAGE_STREAM_SIZE : where[i]);
		ktap_eq(bench_field(bench_queue_reg(&m.q, TSR_QUEUE_FAULT__OFFSET),
				    TSR_QUEUE_FAULT_ACCESS__MASK),
			TSR_ACCESS_EXEC);
		shade_free(&m);
	}
}

/* A fault in one queue while another one is in the middle of a dispatch. */
static void bystander(void)
{
	static const struct tsr_config config = { .engines = { 0, 0, 2, 0 } };
	static const char loop[] =
		"clause { *MOV.i32 r1, 0x400\n *MOV.i32 r2, r60\n }\n"
		"loop: clause flow=nbtb_unconditional {\n"
		"	*IMUL.i32 r2, r2, 0x3\n +IADD.s32 r1:t1, r1, -1\n"
		"	+BRANCHZ.i32.ne t1, loop\n }\n"
		"clause slot=0 message=store " SHADE_STORE("r2");
	static struct shade_code code, bad;
	struct shade_dispatch d = { .code = &code, .groups = { 40 } };
	struct shade_dispatch e = { .code = &bad, .groups = { 40 }, .at = 0x2000 };
	struct shade_machine m;
	struct bench_queue q;

	shade_text(&code, loop);
	shade_text(&bad, NOTHING NOTHING ".quad 0, 0\n");
	d.state.local_x = 64;
	e.state.local_x = 64;
	shade_init(&m, &config);
	stage_queue(&m.s, &q, 9, TSR_ENGINE_CLASS_COMPUTE, TSR_PRIORITY_NORMAL);
	shade_push64(d.push, 0, STAGE_DATA);
	shade_call(&m.s, &m.q, &d);
	bench_kick(&m.q);
	tsr_gpu_run(m.s.b->gpu, 30000);
	ktap_eq(bench_state(&m.q), TSR_QUEUE_STATE_RUNNING);
	shade_call(&m.s, &q, &e);
	bench_kick(&q);
	ktap_ok(bench_run(m.s.b, 10));
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_FAULTED);
	ktap_eq(bench_fault(&m.q), TSR_FAULT_NONE);
	for (unsigned int i = 0; i < 64 * 40; i++) {
		uint32_t value = i;

		for (unsigned int n = 0; n < 0x400; n++)
			value *= 3;
		ktap_eq(*stage_word32(&m.s, 4 * i), value);
	}
	/* the queue goes on after a reset */
	bench_control(&q, TSR_QUEUE_OP_RESET);
	bench_enable(&q, 0);
	q.wptr = 0;
	e.code = &code;
	bench_invalidate_all(&m.s.as[1]);
	shade_push64(e.push, 0, STAGE_DATA + 0x20000);
	shade_call(&m.s, &q, &e);
	bench_kick(&q);
	ktap_ok(bench_run(m.s.b, 10));
	ktap_eq(bench_fault(&q), TSR_FAULT_NONE);
	ktap_mem_eq(m.s.data + 0x20000, m.s.data, 4 * 64 * 40);
	ktap_eq(bench_queue_reg(&q, TSR_QUEUE_FAULT_SHADER__OFFSET), 0);
	shade_free(&m);
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA10] job control faults at its clause, tuple and unit", job_control);
	ktap_run("[ISA14] no clause, no instruction", encodings);
	ktap_run("[ISA3] [ISA14] messages and headers that do not match", headers);
	ktap_run("[ISA14] registers of programs with 32", registers);
	ktap_run("[ISA14] instructions that cannot be executed", unsupported);
	ktap_run("[ISA14] addresses", addresses);
	ktap_run("[ISA14] code that cannot be executed", code_pages);
	ktap_run("[ISA14] other queues do not notice; the queue goes on after a reset", bystander);
	return ktap_finish();
}
