/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Control flow inside warps: what diverging threads compute, and when they meet again, which the
 * number of clauses executed shows.
 */
#include "ktap.h"
#include "shade.h"

#define THREADS 200			/* of a group: the last warp is not full */

static const struct tsr_config early = { 0 }, late = { .late_messages = true };

static uint64_t clauses;		/* executed by the last program */

static void note_clauses(struct shade_machine *m)
{
	clauses = shade_counter(m, TSR_QUEUE_COUNTER_SHADER_CLAUSES);
}

/* ---- Nested conditions ----------------------------------------------------------------------- */

static const char nested[] =
	"clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 r1:t0, r60, 0x1, #0\n"
	"	*LSHIFT_AND.i32 r2, r60, 0x2, #0\n"
	"	*NOP\n"
	"	+BRANCHZ.i32.eq r1, even\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	+BRANCHZ.i32.eq r2, one\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"	/* x mod 4 = 3 */
	"	*MOV.i32 r3, 0x300\n"
	"	+JUMP join\n"
	"}\n"
	"one: clause flow=nbtb_unconditional {\n"
	"	*MOV.i32 r3, 0x100\n"
	"	+JUMP join\n"
	"}\n"
	"even: clause flow=nbtb_unconditional {\n"
	"	+BRANCHZ.i32.ne r2, two\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	*MOV.i32 r3, 0x77\n"
	"	+JUMP join\n"
	"}\n"
	"two: clause flow=nbtb_unconditional {\n"
	"	*MOV.i32 r3, 0x200\n"
	"}\n"
	"join: clause flow=nbtb_unconditional {\n"
	"	+IADD.u32 r3, r3, r60\n"
	"}\n"
	"clause message=store slot=0 " SHADE_STORE("r3");

static void check_nested(struct shade_machine *m)
{
	static const uint32_t what[] = { 0x77, 0x100, 0x200, 0x300 };

	for (unsigned int i = 0; i < 3 * THREADS; i++)
		ktap_eq(*stage_word32(&m->s, 4 * i), what[i % 4] + i);
	note_clauses(m);
}

static void conditions(void)
{
	ktap_ok(shade_run_text(&early, nested, THREADS, 3, check_nested));
	/* each of the nine clauses once for each of the 13 warps of a group */
	ktap_eq(clauses, 9 * 13 * 3);
	ktap_ok(shade_run_text(&late, nested, THREADS, 3, check_nested));
}

/* ---- Loops ----------------------------------------------------------------------------------- */

/* Steps of the Collatz sequence of x + 1, an inner loop for the halvings. */
static const char loops[] =
	"clause flow=nbtb_unconditional {\n"
	"	*MOV.i32 r2, #0\n"
	"	*NOP\n"
	"	+IADD.s32 r1, r60, 0x1\n"
	"}\n"
	"outer: clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 t0, r1, 0x1, #0\n"
	"	*NOP\n"
	"	+BRANCHZ.i32.ne t0, odd\n"
	"}\n"
	"inner: clause flow=nbtb_unconditional {\n"
	"	*RSHIFT_OR.i32 r1:t0, r1, #0, 0x1\n"
	"	+IADD.s32 r2, r2, 0x1\n"
	"	*LSHIFT_AND.i32 t0, t0, 0x1, #0\n"
	"	*NOP\n"
	"	+BRANCHZ.i32.eq t0, inner\n"
	"}\n"
	"odd: clause flow=nbtb_unconditional {\n"
	"	+IADD.s32 t1, r1, -1\n"
	"	+BRANCHZ.i32.eq t1, done\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	*IMUL.i32 t0, r1, 0x3\n"
	"	*NOP\n"
	"	+IADD.s32 r1, t0, 0x1\n"
	"	+IADD.s32 r2, r2, 0x1\n"
	"	+JUMP outer\n"
	"}\n"
	"done: clause message=store slot=0 " SHADE_STORE("r2");

static unsigned int collatz(uint32_t n)
{
	unsigned int steps = 0;

	for (; n != 1; steps++)
		n = n % 2 ? 3 * n + 1 : n / 2;
	return steps;
}

static void check_loops(struct shade_machine *m)
{
	for (unsigned int i = 0; i < 20 * THREADS; i++)
		ktap_eq(*stage_word32(&m->s, 4 * i), collatz(i + 1));
}

static void nested_loops(void)
{
	ktap_ok(shade_run_text(&early, loops, THREADS, 20, check_loops));
	ktap_ok(shade_run_text(&late, loops, THREADS, 20, check_loops));
}

/* ---- Threads that leave a loop --------------------------------------------------------------- */

/* 1 + … + x mod 32; the condition is at the loop's beginning, or (one round more) at its end. */
static const char leaving[] =
	"clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 r1, r60, 0x1f, #0\n"
	"	*MOV.i32 r2, #0\n"
	"}\n"
	"loop: clause flow=nbtb_unconditional {\n"
	"	+BRANCHZ.i32.eq r1, done\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	+IADD.s32 r2, r2, r1\n"
	"	+IADD.s32 r1, r1, -1\n"
	"	+JUMP loop\n"
	"}\n"
	"done: clause message=store slot=0 " SHADE_STORE("r2");

static const char leaving_behind[] =
	"clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 t0, r60, 0x1f, #0\n"
	"	+IADD.s32 r1, t, 0x1\n"
	"	*MOV.i32 r2, -1\n"
	"}\n"
	"loop: clause flow=nbtb_unconditional {\n"
	"	+IADD.s32 r2, r2, r1\n"
	"	+IADD.s32 r1, r1, -1\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	+BRANCHZ.i32.ne r1, loop\n"
	"}\n"
	"clause message=store slot=0 " SHADE_STORE("r2");

static void check_leaving(struct shade_machine *m)
{
	for (unsigned int i = 0; i < 128 * 8; i++)
		ktap_eq(*stage_word32(&m->s, 4 * i), (i % 32) * (i % 32 + 1) / 2);
	note_clauses(m);
}

static void check_leaving_behind(struct shade_machine *m)
{
	for (unsigned int i = 0; i < 128 * 8; i++)
		ktap_eq(*stage_word32(&m->s, 4 * i), (i % 32 + 1) * (i % 32 + 2) / 2 - 1);
	note_clauses(m);
}

/*
 * Threads leave one by one, and warps as wholes before others of their bundle; all of a warp meet
 * behind the loop, so it executes each clause as often as its last thread. Interpreted, generated,
 * and with messages as late as may be.
 */
static void leave_loops(void)
{
	static const struct tsr_config configs[] = {
		{ .jit = TSR_JIT_USE_OFF }, { .jit = TSR_JIT_USE_FIRST }, { .late_messages = true },
		{ .simd = "sse2" },
	};

	for (unsigned int i = 0; i < 4; i++) {
		/* of the two kinds of warps the last threads have 15 and 31 rounds */
		ktap_ok(shade_run_text(&configs[i], leaving, 128, 8, check_leaving));
		ktap_eq(clauses, 8 * 4 * (2 + 2 * 15 + 1 + 2 + 2 * 31 + 1));
		ktap_ok(shade_run_text(&configs[i], leaving_behind, 128, 8,
				       check_leaving_behind));
		ktap_eq(clauses, 8 * 4 * (2 + 2 * 16 + 2 + 2 * 32));
	}
}

/* ---- Conditions and writes in one tuple ------------------------------------------------------ */

/* The condition is what the register held before the clause, though a result for it is there. */
static const char old_value[] =
	"clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 r1, r60, 0x1, #0\n"
	"	*MOV.i32 r3, 0x6\n"
	"	*MOV.i32 r2, 0x5\n"
	"	*NOP\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	*MOV.i32 r1, r3\n"
	"	+BRANCHZ.i32.ne r1, odd\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	*MOV.i32 r2, 0x9\n"
	"}\n"
	"odd: clause flow=nbtb_unconditional {\n"
	"	+IADD.s32 r2, r2, r1\n"
	"}\n"
	"clause message=store slot=0 " SHADE_STORE("r2");

static void check_old_value(struct shade_machine *m)
{
	for (unsigned int i = 0; i < THREADS; i++)
		ktap_eq(*stage_word32(&m->s, 4 * i), (i % 2 ? 5 : 9) + 6);
}

static void condition_first(void)
{
	ktap_ok(shade_run_text(&early, old_value, THREADS, 1, check_old_value));
	ktap_ok(shade_run_text(&late, old_value, THREADS, 1, check_old_value));
}

/* ---- Threads that end ------------------------------------------------------------------------ */

static const char exits[] =
	"clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 r2, r60, 0x3, #0\n"
	"	*MOV.i32 r1, u1.w0\n"
	"	*MOV.i32 t0, r2\n"
	"	*NOP\n"
	"	+BRANCHZ.i32.ne t0, zero.w0\n"	/* only multiples of 4 go on */
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	+BRANCH.u32.lt r60, r1, last\n"
	"}\n"
	"clause end {\n"			/* threads from u1.w0 on end here */
	"	*MOV.i32 r1, 0x0\n"
	"}\n"
	"last: clause message=store slot=0 " SHADE_STORE("r60");

static void early_exit(void)
{
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code, .state.local_x = 96, .groups = { 2 } };
	struct shade_machine m;

	shade_text(&code, exits);
	d.push[2] = 100;
	shade_init(&m, &early);
	memset(m.s.data, 0xff, 4096);
	ktap_ok(shade_run(&m, &d));
	for (unsigned int i = 0; i < 200; i++)
		ktap_eq(*stage_word32(&m.s, 4 * i), i % 4 || i >= 100 ? 0xffffffff : i);
	/* warps 0 to 5: clauses 0, 1, 3; 6: all of them (100 is in the middle); 7 to 11: 0 to 2 */
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_SHADER_CLAUSES), 6 * 3 + 4 + 5 * 3);
	shade_free(&m);
}

/* ---- The flow-control field ------------------------------------------------------------------ */

#define MEETING(flow) \
	"clause flow=nbtb_unconditional {\n" \
	"	*LSHIFT_AND.i32 t0, r60, 0x1, #0\n" \
	"	*NOP\n" \
	"	+BRANCHZ.i32.eq t0, even\n" \
	"}\n" \
	"clause flow=" flow " {\n" \
	"	*MOV.i32 r2, 0x10\n" \
	"	+JUMP join\n" \
	"}\n" \
	"even: clause flow=" flow " {\n" \
	"	*MOV.i32 r2, 0x20\n" \
	"}\n" \
	"join: clause message=store slot=0 " SHADE_STORE("r2")

static void check_meeting(struct shade_machine *m)
{
	for (unsigned int i = 0; i < 16; i++)
		ktap_eq(*stage_word32(&m->s, 4 * i), i % 2 ? 0x10 : 0x20);
	note_clauses(m);
}

static void flow_control(void)
{
	static const char *const meets[] = { MEETING("nbtb_pc"), MEETING("nbtb_unconditional"),
					     MEETING("btb_unconditional"),
					     MEETING("we_unconditional") };
	static const char *const goes_on[] = { MEETING("nbtb"), MEETING("btb") };

	/* The threads that have jumped to the end wait there for the others... */
	for (unsigned int i = 0; i < 3; i++) {
		ktap_ok(shade_run_text(&early, meets[i], 16, 1, check_meeting));
		ktap_eq(clauses, 4);
	}
	/* other threads do not */
	for (unsigned int i = 0; i < 2; i++) {
		ktap_ok(shade_run_text(&early, goes_on[i], 16, 1, check_meeting));
		ktap_eq(clauses, 5);
	}
}

/* ---- Warps of a bundle ----------------------------------------------------------------------- */

/*
 * Warp 0 of each group spins at the lowest address until warp 3 has set a flag in shared memory at
 * a much higher address. No warp may be skipped forever.
 */
static void fairness(void)
{
	static const char text[] =
		"clause flow=nbtb_unconditional {\n"
		"	*MOV.i32 r2, 0x7\n"
		"	*MOV.i32 r1, 0x10\n"
		"	*NOP\n"
		"	*NOP\n"
		"	+BRANCH.u32.ge r55, r1, others\n"
		"}\n"
		"look: clause slot=0 wait=0 flow=nbtb_unconditional {\n"
		"	+LOAD.i32.wls zero.w0, zero.w0, @r3\n"
		"}\n"
		"clause flow=nbtb_unconditional {\n"
		"	+BRANCHZ.i32.eq r3, look\n"
		"}\n"
		"clause flow=nbtb_unconditional {\n"
		"	+JUMP done\n"
		"}\n"
		"others: clause flow=nbtb_unconditional {\n"
		"	*MOV.i32 r1, 0x30\n"
		"	*NOP\n"
		"	*NOP\n"
		"	+BRANCH.u32.lt r55, r1, done\n"
		"}\n"
		"clause slot=0 wait=0 flow=nbtb_unconditional {\n"
		"	+STORE.i32.wls zero.w0, zero.w0, @r2\n"
		"}\n"
		"done: clause message=store slot=0 " SHADE_STORE("r60");

	ktap_ok(shade_run_text(&early, text, 64, 40, NULL));
	ktap_ok(shade_run_text(&late, text, 64, 40, NULL));
}

int main(void)
{
	ktap_start();
	ktap_run("[PIX4] [ISA12] nested conditions, each clause once for each warp", conditions);
	ktap_run("[PIX4] [ISA12] nested loops with other trip counts in each thread", nested_loops);
	ktap_run("[PIX4] [ISA12] threads and warps leave a loop and meet behind it", leave_loops);
	ktap_run("[ISA5] [ISA12] a branch sees the register before its own tuple's write",
		 condition_first);
	ktap_run("[PIX4] threads that end early; a warp ends with its last", early_exit);
	ktap_run("[ISA12] [ISA3] threads meet again as the flow-control field says", flow_control);
	ktap_run("[PIX7] a spinning warp does not keep its neighbours from going on", fairness);
	return ktap_finish();
}
