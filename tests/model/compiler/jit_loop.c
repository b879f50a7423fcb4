/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=300 */
/*
 * Loops that generated code executes as one piece (compiler/loop.h) do what the interpreter does:
 * random programs of blocks that branch forwards and back, on conditions that differ from thread to
 * thread. What is compared is all that programs leave in memory, all counters, and the fault when
 * they run into CLAUSE_LIMIT; undisturbed, in small time slices, and with messages executed
 * as late as can be. Of fragments, their colors and what they count, with helpers that end within
 * loops, and some that are left alone. Loops that are not worth it are left alone.
 */
#include <stdio.h>
#include <string.h>

#include "device/gpu.h"
#include "ktap.h"
#include "pipe.h"
#include "rnd.h"
#include "shade.h"
#include "simd/simd.h"

#define THREADS		40		/* of a group: two warps and a half */
#define GROUPS		7
#define REGS		10		/* R0 on; R10 counts rounds */
#define BLOCKS_MAX	9
#define PROGRAMS	250
#define STORES		4		/* areas that are stored to: push pairs 1, 2, 4, 5 */
#define AREA		0x1000
#define AREAS		0x10000		/* from STAGE_DATA on */

static char text[20000];
static size_t len;
static bool fragments;			/* of fragments; else of a dispatch */

static void put(const char *line)
{
	len += (size_t)snprintf(text + len, sizeof(text) - len, "%s\n", line);
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* A tuple; each %u is a register of its own. */
static const char *const tuples[] = {
	"*FMA.f32 r%u, r%u, r%u, r%u", "*FADD.f32 r%u, r%u, r%u", "+FADD.f32 r%u, r%u, r%u.neg",
	"*FMA.f32 r%u, r%u, r%u.neg, r%u", "*IMUL.i32 r%u, r%u, r%u", "+IADD.s32 r%u, r%u, r%u",
	"+ISUB.s32 r%u, r%u, r%u", "*LSHIFT_XOR.i32 r%u, r%u, 0x5, r%u", "*MOV.i32 r%u, r%u",
	"+ICMP.s32.gt.m1 r%u, r%u, r%u", "*FCMP.f32.lt.m1 r%u, r%u, r%u", "+MOV.i32 r%u, r%u",
	"*CSEL.i32.eq r%u, r%u, r%u, 0x11, r%u", "+FMAX.f32 r%u, r%u, r%u", "+S32_TO_F32 r%u, r%u",
	"+IADD.s32 r%u, r%u, 0x1", "+FROUND.f32.rtn r%u, r%u", "*MOV.i32 r%u.h0, r%u",
	"*FMA.f32 r%u, r%u, 0x40400000, r%u", "+FADD.f32 r%u, r%u, 0x7f800000", "+MOV.i32 r%u, r59",
	"*FMA.f32 t0, r%u, r%u, r%u\n	+FADD.f32 r%u, t, 0x3f000000", "+MOV.i32 r%u, lane_id.w0",
	"*RSHIFT_AND.i32 r%u, r%u, 0x3, r%u", "+MOV.i32 r%u, u3.w0",
	"+FSIN_TABLE.u6 r%u, r%u", "+FCOS_TABLE.u6 r%u, r%u", "+FEXP_TABLE.u4 r%u, r%u",
};

#define TUPLES (sizeof(tuples) / sizeof(tuples[0]))

/* An instruction without a template, which is called. */
static const char call[] = "+IABS.s32 r%u, r%u";

static void put_tuple(const char *format)
{
	char line[200];

	snprintf(line, sizeof(line), format, rnd() % REGS, rnd() % REGS, rnd() % REGS,
		 rnd() % REGS, rnd() % REGS);
	put(line);
}

static void begin_clause(const char *label, const char *flow)
{
	char line[100];

	snprintf(line, sizeof(line), "%sclause %s%s{", label, flow,
		 fragments && rnd() % 3 == 0 ? "td " : "");
	put(line);
}

static void put_tuples(unsigned int count)
{
	/* what a tuple writes is not there yet for the next one */
	for (; count--; put("*NOP\n+NOP"))
		put_tuple(rnd() % 100 ? tuples[rnd() % TUPLES] : call);
}

/* The branch that ends a clause; threads that go back spend a round. */
static void put_branch(unsigned int from, unsigned int to, const char *target)
{
	static const char *const conditions[] = {
		"+BRANCHZ.i32.eq r%u, %s", "+BRANCHZ.i16.ne r%u.h0, %s", "+BRANCHZ.s32.lt r%u, %s",
		"+BRANCHZ.s32.ge r%u, %s", "+BRANCHZ.i16.eq r%u.h1, %s",
	};
	char line[100];

	if (to > from) {
		if (rnd() % 5)
			snprintf(line, sizeof(line), conditions[rnd() % 5], rnd() % REGS, target);
		else
			snprintf(line, sizeof(line), "+JUMP %s", target);
		put(line);
		return;
	}
	snprintf(line, sizeof(line), "*LSHIFT_AND.i32 t0, r%u, 0x3, #0\n+IADD.s32 t1, t, 0x1",
		 rnd() % REGS);
	put(line);
	put("+ISUB.s32 r10:t1, r10, t1");
	snprintf(line, sizeof(line), "+BRANCHZ.s32.gt t1, %s", target);
	put(line);
}

/* A clause that stores a register; somebody may wait for it, later. */
static void put_store(const char *label)
{
	static const unsigned int pair[STORES] = { 1, 2, 4, 5 };
	const unsigned int p = pair[rnd() % STORES];
	char line[300];

	snprintf(line, sizeof(line),
		 "%sclause message=store slot=%u flow=nbtb_unconditional {\n"
		 "*SHADDXL.u32 t0, u%u.w0, r60, shift:2\n+SHADDXH.i32 t1, u%u.w1, t\n"
		 "+STORE.i32 t0, t1, @r%u\n}", label, 1 + rnd() % 3, p, p, rnd() % REGS);
	put(line);
}

/* Some threads store a register, some do not. */
static void put_stores(void)
{
	char line[100];

	put("clause flow=nbtb_unconditional {\n*NOP");
	snprintf(line, sizeof(line), "+BRANCHZ.i16.eq r%u.h0, not\n}", rnd() % REGS);
	put(line);
	put_store("");
	put("not: clause flow=nbtb_unconditional {\n*NOP\n+NOP\n}");
}

/* Threads that come here end. */
static void put_early_end(const char *label)
{
	begin_clause(label, "end ");
	put_tuples(1);
	put("}");
}

/* Fragments that end here; helper threads, which cover no sample, are left alone in some warps. */
static void put_alone(void)
{
	char line[100];

	put("clause flow=nbtb_unconditional {\n*LSHIFT_AND.i32 t0, r60, 0xffff, #0\n+NOP\n"
	    "*NOP\n+BRANCHZ.i32.eq t0, b0\n}");
	snprintf(line, sizeof(line), "+BRANCHZ.i16.eq r%u.h0, b0\n}", rnd() % REGS);
	if (rnd() % 2) {
		put("clause flow=nbtb_unconditional {\n*NOP");
		put(line);
	}
	put("clause end {\n*NOP\n+NOP\n}");
}

static void put_block(unsigned int n, unsigned int blocks)
{
	const unsigned int to = rnd() % (blocks + 1);
	char label[20], target[20];

	snprintf(label, sizeof(label), "b%u: ", n);
	snprintf(target, sizeof(target), to == blocks ? "done" : "b%u", to);
	if (rnd() % 3 == 0) {
		begin_clause(label, rnd() % 4 ? "flow=nbtb_unconditional " : "");
		put_tuples(1 + rnd() % 3);
		put("}");
		label[0] = '\0';
	}
	if (!fragments && rnd() % 8 == 0) {
		put_store(label);
		label[0] = '\0';
	}
	if (n && rnd() % 16 == 0) {
		put_early_end(label);
		return;
	}
	begin_clause(label, rnd() % 20 ? "flow=nbtb_unconditional " : "flow=nbtb ");
	put_tuples(rnd() % 3);
	/* now and then a block that goes on to the next one only */
	if (rnd() % 8)
		put_branch(n, to, target);
	else
		put_tuples(1);
	put("}");
}

/* Registers that somebody looks at afterwards go to memory: others may be forgotten. */
static void put_end(void)
{
	if (fragments) {
		put("done: clause flow=nbtb_unconditional {\n*NOP\n+NOP\n}\n" PIPE_FINISH);
		return;
	}
	put("done: clause flow=nbtb_unconditional {\n*MOV.i32 r11, r10\n+NOP\n}");
	for (unsigned int r = 0; r < REGS; r++) {
		char line[200];

		if (rnd() % 3 == 0)
			continue;
		snprintf(line, sizeof(line), "clause flow=nbtb_unconditional {\n"
			 "*IMUL.i32 t0, r11, 0x1003f\n+IADD.s32 r11, t, r%u\n}", r);
		put(line);
	}
	put("clause message=store slot=0 " SHADE_STORE("r11"));
}

static void make_program(void)
{
	const unsigned int blocks = 2 + rnd() % (BLOCKS_MAX - 1), number = fragments ? 59 : 60;
	char line[100];

	len = 0;
	for (unsigned int r = 0; r < REGS; r++) {
		snprintf(line, sizeof(line),
			 "clause {\n*IMUL.i32 t0, r%u, %#x\n+IADD.s32 t1, t, %#x", number,
			 rnd() % 2 ? rnd() : rnd() % 8, rnd() % 3 ? rnd() : 0x3f800000);
		put(line);
		snprintf(line, sizeof(line), rnd() % 2 ? "+MOV.i32 r%u, t1\n}" :
							 "+S32_TO_F32 r%u, t1\n}", r);
		put(line);
	}
	snprintf(line, sizeof(line), "clause {\n*LSHIFT_AND.i32 t0, r%u, %#x, #0\n"
		 "+IADD.s32 r10, t, %u\n}", number, rnd() % 2 ? 0x1f : 0, 1 + rnd() % 40);
	put(line);
	if (!fragments && rnd() % 2)
		put_stores();
	if (fragments && rnd() % 3 == 0)
		put_alone();
	for (unsigned int i = 0; i < blocks; i++)
		put_block(i, blocks);
	put_end();
}

/* ---- Running --------------------------------------------------------------------------------- */

struct outcome {
	bool done;
	uint32_t word[1 + STORES][THREADS * GROUPS];
	uint64_t counter[TSR_QUEUE_COUNTER_SHADER_MESSAGES + 1];
	uint32_t fault, shader, group;
	uint64_t clause;
	uint64_t loops;			/* not compared */
};

static struct shade_code code;

static void note(struct shade_machine *m, struct outcome *out)
{
	static const enum tsr_queue_counter same[] = {
		TSR_QUEUE_COUNTER_CYCLES, TSR_QUEUE_COUNTER_SHADER_GROUPS,
		TSR_QUEUE_COUNTER_SHADER_CLAUSES, TSR_QUEUE_COUNTER_SHADER_THREADS,
		TSR_QUEUE_COUNTER_SHADER_MESSAGES,
	};

	memcpy(out->word[0], stage_word32(&m->s, 0), sizeof(out->word[0]));
	for (unsigned int i = 0; i < STORES; i++)
		memcpy(out->word[1 + i], stage_word32(&m->s, AREAS + i * AREA),
		       sizeof(out->word[0]));
	out->fault = bench_queue_reg(&m->q, TSR_QUEUE_FAULT__OFFSET);
	out->shader = bench_queue_reg(&m->q, TSR_QUEUE_FAULT_SHADER__OFFSET);
	out->group = bench_queue_reg(&m->q, TSR_QUEUE_FAULT_GROUP__OFFSET);
	out->clause = bench_queue_reg64(&m->q, TSR_QUEUE_FAULT_CLAUSE__OFFSET);
	for (unsigned int i = 0; out->done && i < sizeof(same) / sizeof(same[0]); i++)
		out->counter[same[i]] = shade_counter(m, same[i]);
	out->loops = m->s.b->gpu->runner[0].own.path[TSR_PATH_LOOPS];
}

/* @slice: cycles after which the device reaches a preemption point; 0: when it is done. */
static void run(const struct tsr_config *config, uint32_t limit, unsigned int slice,
		struct outcome *out)
{
	struct shade_dispatch d = {
		.code = &code, .groups = { GROUPS },
		.state = { .local_x = THREADS, .scratch_size = 16, .clause_limit = limit },
	};
	struct shade_machine m;

	memset(out, 0, sizeof(*out));
	shade_init(&m, config);
	d.push[6] = 0x3fc00000;
	shade_push64(d.push, 0, STAGE_DATA);
	for (unsigned int i = 0; i < STORES; i++)
		shade_push64(d.push, i + 1 + i / 2, STAGE_DATA + AREAS + i * AREA);
	shade_call(&m.s, &m.q, &d);
	bench_kick(&m.q);
	while (slice && tsr_gpu_run(m.s.b->gpu, slice))
		;
	out->done = bench_run(m.s.b, 20) && bench_state(&m.q) == TSR_QUEUE_STATE_IDLE;
	note(&m, out);
	shade_free(&m);
}

static bool same(const struct outcome *got, const struct outcome *want, const char *how)
{
	bool good = ktap_eq(got->done, want->done) & ktap_eq(got->fault, want->fault) &
		    ktap_eq(got->shader, want->shader) & ktap_eq(got->group, want->group) &
		    ktap_eq(got->clause, want->clause);

	for (unsigned int i = 0; want->done && i < (1 + STORES) * THREADS * GROUPS; i++) {
		const unsigned int area = i / (THREADS * GROUPS), thread = i % (THREADS * GROUPS);
		const uint32_t has = got->word[area][thread], should = want->word[area][thread];

		if (has == should)
			continue;
		good = ktap_fail("area %u: thread %u has %#x, should have %#x", area, thread, has,
				 should);
		break;
	}
	for (unsigned int i = 0; i <= TSR_QUEUE_COUNTER_SHADER_MESSAGES; i++)
		good &= ktap_eq(got->counter[i], want->counter[i]);
	if (!good)
		ktap_note("%s:\n%s", how, text);
	return good;
}

static const char *simd;

/* All ways to run the program in @text; loops that were executed as one piece. */
static bool all_ways(uint64_t *loops)
{
	const struct tsr_config off = { .jit = TSR_JIT_USE_OFF, .simd = simd };
	const struct tsr_config first = { .jit = TSR_JIT_USE_FIRST, .simd = simd };
	const struct tsr_config off_late = { .jit = TSR_JIT_USE_OFF, .simd = simd,
					     .late_messages = true };
	const struct tsr_config late = { .jit = TSR_JIT_USE_FIRST, .simd = simd,
					 .late_messages = true };
	const uint32_t limit = rnd() % 4 ? 0 : 20 + rnd() % 300;
	static struct outcome want, got;
	bool good;

	memset(&code, 0, sizeof(code));
	shade_text(&code, text);
	run(&off, limit, 0, &want);
	run(&first, limit, 0, &got);
	good = same(&got, &want, "at once");
	*loops += got.loops;
	run(&first, limit, 300 + rnd() % 4000, &got);
	good = good && same(&got, &want, "in slices");
	run(&off_late, limit, 0, &want);
	run(&late, limit, 0, &got);
	return good && same(&got, &want, "late");
}

/* Run @test if the processor has @simd. */
static void (*tested)(void);

static void with_simd(void)
{
	if (tsr_simd_named(simd))
		tested();
	else
		ktap_skip("this processor has no %s", simd);
}

static void run_test(const char *name, void (*test)(void))
{
	tested = test;
	ktap_run(name, with_simd);
}

static void programs(void)
{
	uint64_t loops = 0;
	unsigned int i;

	for (i = 0; i < PROGRAMS; i++) {
		make_program();
		if (!all_ways(&loops))
			break;
	}
	ktap_note("%u programs, %llu times a warp executed a loop as one piece", i,
		  (unsigned long long)loops);
	ktap_ok(loops > PROGRAMS);
}

/* How often loops of @program were executed as one piece: at least @least, at most @most. */
static void count_loops(const char *program, uint64_t least, uint64_t most)
{
	uint64_t loops = 0;

	len = 0;
	put(program);
	put("done: clause message=store slot=0 " SHADE_STORE("r10"));
	ktap_ok(all_ways(&loops));
	if (!ktap_ok(loops >= least && loops <= most))
		ktap_note("%llu loops", (unsigned long long)loops);
}

#define ROUNDS "clause {\n*LSHIFT_AND.i32 t0, r60, 0xf, #0\n+IADD.s32 r10, t, 0x20\n}\n"
#define CLAUSE "clause flow=nbtb_unconditional {\n*NOP\n+NOP\n}\n"
#define STORE "clause message=store slot=1 flow=nbtb_unconditional {\n" \
	"*SHADDXL.u32 t0, u1.w0, r60, shift:2\n+SHADDXH.i32 t1, u1.w1, t\n" \
	"+STORE.i32 t0, t1, @r10\n}\n"
#define AGAIN "clause flow=nbtb_unconditional {\n*NOP\n+ISUB.s32 r10:t1, r10, 0x1\n" \
	"*NOP\n+BRANCHZ.s32.gt t1, head\n}\n"
#define FORK(condition, target) "clause flow=nbtb_unconditional {\n*NOP\n" \
	"+BRANCHZ.s32." condition " r10, " target "\n}\n"

static void worth(void)
{
	const uint64_t warps = 3 * GROUPS;

	count_loops(ROUNDS "head: " CLAUSE CLAUSE CLAUSE AGAIN, warps, 3 * warps);
	/* a message in each round */
	count_loops(ROUNDS "head: " CLAUSE CLAUSE CLAUSE STORE AGAIN, 0, 0);
	/* in nearly each: in their last rounds threads skip it */
	count_loops(ROUNDS "head: " CLAUSE CLAUSE FORK("gt", "send") AGAIN
		    "clause flow=nbtb_unconditional {\n*NOP\n+JUMP done\n}\n"
		    "send: " STORE AGAIN, 1, 64 + warps);
}

#define LOW(mask) "clause {\n*LSHIFT_AND.i32 t0, r60, " mask ", #0\n+MOV.i32 r9, t\n}\n"
#define FORK_LOW(condition, target) "clause flow=nbtb_unconditional {\n*NOP\n" \
	"+BRANCHZ.i32." condition " r9, " target "\n}\n"

/* All threads branch ahead, and some of the warp have come there, or stand on the way, before. */
static void ahead(void)
{
	const uint64_t warps = 3 * GROUPS;

	/* threads wait in the middle of the loop */
	count_loops(ROUNDS LOW("0x1") "head: " FORK_LOW("ne", "odd") FORK("gt", "both")
		    "odd: " CLAUSE "both: " CLAUSE AGAIN, warps, 3 * warps);
	/* threads enter from another clause */
	count_loops(ROUNDS LOW("0x1") "head: " FORK_LOW("ne", "both") FORK("gt", "both")
		    CLAUSE "both: " CLAUSE AGAIN, warps, 3 * warps);
	/* threads have left this clause a round ago */
	count_loops(ROUNDS LOW("0x3") "head: " FORK_LOW("eq", "both")
		    "clause flow=nbtb_unconditional {\n*NOP\n+ISUB.s32 r9, r9, 0x1\n"
		    "*NOP\n+JUMP head\n}\n"
		    "both: clause flow=nbtb_unconditional {\n*LSHIFT_AND.i32 t0, r60, 0x3, #0\n"
		    "+MOV.i32 r9, t\n}\n" AGAIN, warps, 3 * warps);
}

/* ---- Fragments ------------------------------------------------------------------------------- */

struct drawn {
	struct tsr_shader_stats stats;
	uint16_t written[TSR_BUNDLE_WARPS];
	union tsr_lanes color[2][4][TSR_BUNDLE_WARPS];
	uint64_t loops;
};

static void draw(struct pipe *p, uint64_t seed, struct drawn *out)
{
	const uint64_t before = p->mem.thread->path[TSR_PATH_LOOPS];
	const unsigned int targets[2] = { 0, TSR_RENDER_TARGETS_MAX };

	unsigned int sparse;		/* one of so many quads has helpers */

	rnd_state = seed;
	sparse = 1 + rnd() % 3;
	memset(out, 0, sizeof(*out));
	p->state.shader.helpers = rnd() % 4;
	p->state.dual_source = rnd() % 2;
	p->state.blend[0] = TSR_BLEND_MODE_OPAQUE | 3 << 3;
	p->state.serial++;
	p->state.program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, text);
	tsr_fragments_begin(p->f, &p->state);
	pipe_prim(p, 3);
	for (unsigned int q = 1 + rnd() % TSR_BUNDLE_QUADS; q--;) {
		struct tsr_fragment_quad *quad =
			pipe_quad(p, 2 * (int)(q % 4), 2 * (int)(q / 4), 0);

		if (rnd() % sparse == 0)
			quad->coverage &= 0x0001000000000001ull << 16 * (rnd() % 3);
	}
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	out->stats = p->stats;
	memcpy(out->written, p->f->written[0], sizeof(out->written));
	for (unsigned int i = 0; i < 2 * 4 * TSR_BUNDLE_LANES; i++) {
		const unsigned int w = i / TSR_WARP_LANES % TSR_BUNDLE_WARPS;
		const unsigned int l = i % TSR_WARP_LANES, c = i / TSR_BUNDLE_LANES % 4;
		const unsigned int t = i / TSR_BUNDLE_LANES / 4;

		if (out->written[w] >> l & 1 && (!t || p->state.dual_source))
			out->color[t][c][w].u[l] =
				tsr_fragments_color(p->f, targets[t], c, w)->u[l];
	}
	out->loops = p->mem.thread->path[TSR_PATH_LOOPS] - before;
}

static void draws(void)
{
	const struct tsr_config off = { .jit = TSR_JIT_USE_OFF, .simd = simd };
	const struct tsr_config first = { .jit = TSR_JIT_USE_FIRST, .simd = simd };
	struct pipe *plain = pipe_new(&off), *compiled = pipe_new(&first);
	static struct drawn want, got;
	uint64_t loops = 0;

	fragments = true;
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		uint64_t seed;

		make_program();
		seed = rnd_state;
		plain->budget = compiled->budget = rnd() % 2 ? UINT64_MAX : 500 + rnd() % 4000;
		draw(plain, seed, &want);
		draw(compiled, seed, &got);
		loops += got.loops;
		if (ktap_mem_eq(got.written, want.written, sizeof(got.written)) &&
		    ktap_mem_eq(got.color, want.color, sizeof(got.color)) &&
		    ktap_eq(got.stats.clauses, want.stats.clauses) &&
		    ktap_eq(got.stats.cycles, want.stats.cycles) &&
		    ktap_eq(got.stats.threads, want.stats.threads) &&
		    ktap_eq(got.stats.messages, want.stats.messages))
			continue;
		ktap_note("program %u:\n%s", i, text);
		break;
	}
	fragments = false;
	ktap_ok(loops > PROGRAMS);
	pipe_free(plain);
	pipe_free(compiled);
}

int main(int argc, char **argv)
{
	static const char *const paths[] = { "avx512", "avx2" };

	ktap_start_args(argc, argv);
	for (unsigned int i = 0; i < 2; i++) {
		simd = paths[i];
		run_test("[ISA12] [ISA14] loops as one piece do what their clauses do", programs);
		run_test("[ISA12] loops that mostly send messages are left alone", worth);
		run_test("[ISA12] threads branch ahead together in a loop, past others", ahead);
		run_test("[PIX4] loops of fragments as one piece do what their clauses do", draws);
	}
	return ktap_finish();
}
