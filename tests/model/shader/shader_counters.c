/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * The counts of the cores for a program whose tuples, threads and messages are known (counters.md),
 * for each kind of execution: compiled or not, warps together or alone, answered late, in strict
 * mode. Modes of arithmetic that differ between clauses.
 */
#include "ktap.h"
#include "shade.h"

#define THREADS 40			/* of a group: two warps and a half */
#define GROUPS 3
#define WARPS 3				/* of a group */
#define HALF (THREADS / 2)		/* threads with odd numbers */

static const struct tsr_config configs[] = {
	{ 0 }, { .jit = TSR_JIT_USE_OFF }, { .jit = TSR_JIT_USE_FIRST }, { .late_messages = true },
	{ .strict_code = true }, { .threads = 2 }, { .jit = TSR_JIT_USE_FIRST, .threads = 1 },
};
#define CONFIGS (sizeof(configs) / sizeof(configs[0]))

/* Three tuples, two for odd threads, a loop of two clauses and three rounds, a load and a store. */
static const char known[] =
	"clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 r1:t0, r60, 0x1, #0\n"
	"	*MOV.i32 r2, #0\n"
	"	*MOV.i32 r3, 0x3\n"
	"	+BRANCHZ.i32.eq r1, even\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	+IADD.s32 t1, r2, 0x7\n"
	"	+IADD.s32 r2, t1, 0x1\n"
	"}\n"
	"even: clause flow=nbtb_unconditional {\n"
	"	+IADD.s32 r2, r2, r60\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	+IADD.s32 r3:t1, r3, -1\n"
	"	+BRANCHZ.i32.ne t1, even\n"
	"}\n"
	"clause wait=0 slot=0 message=load {\n"
	"	+LOAD.i64 u1.w0, u1.w1, @r4\n"
	"}\n"
	"clause wait=0 {\n"
	"	+IADD.s32 r2, r2, r4\n"
	"}\n"
	"clause message=store slot=0 " SHADE_STORE("r2");
/* Two instructions of the ADD unit are two tuples. */
#define TUPLES_ALL (3 + 3 * (1 + 2) + 1 + 1 + 2)
#define TUPLES_ODD 2
#define CLAUSES (2 + 3 * 2 + 3)

static const char nothing[] = "clause end {\n	*NOP\n	+NOP\n}\n";

struct counted {
	uint64_t cycles, groups, clauses, threads, messages, read, written;
};

static struct counted counted;

static void note(struct shade_machine *m)
{
	counted = (struct counted){
		shade_counter(m, TSR_QUEUE_COUNTER_CYCLES),
		shade_counter(m, TSR_QUEUE_COUNTER_SHADER_GROUPS),
		shade_counter(m, TSR_QUEUE_COUNTER_SHADER_CLAUSES),
		shade_counter(m, TSR_QUEUE_COUNTER_SHADER_THREADS),
		shade_counter(m, TSR_QUEUE_COUNTER_SHADER_MESSAGES),
		shade_counter(m, TSR_QUEUE_COUNTER_READ_BYTES),
		shade_counter(m, TSR_QUEUE_COUNTER_WRITE_BYTES),
	};
}

static void check(struct shade_machine *m)
{
	for (unsigned int i = 0; i < THREADS * GROUPS; i++)
		ktap_eq(*stage_word32(&m->s, 4 * i), (i % 2 ? 8 : 0) + 3 * i);
	note(m);
}

static void counters(void)
{
	for (unsigned int i = 0; i < CONFIGS; i++) {
		struct counted empty;

		if (!ktap_ok(shade_run_text(&configs[i], nothing, THREADS, GROUPS, note)))
			return;
		empty = counted;
		ktap_eq(empty.groups, GROUPS);
		ktap_eq(empty.clauses, WARPS * GROUPS);
		ktap_eq(empty.threads, THREADS * GROUPS);
		ktap_eq(empty.messages, 0);
		if (!ktap_ok(shade_run_text(&configs[i], known, THREADS, GROUPS, check)))
			return;
		ktap_eq(counted.groups, GROUPS);
		ktap_eq(counted.clauses, CLAUSES * WARPS * GROUPS);
		ktap_eq(counted.threads, (TUPLES_ALL * THREADS + TUPLES_ODD * HALF) * GROUPS);
		ktap_eq(counted.messages, 2 * WARPS * GROUPS);
		ktap_eq(counted.read - empty.read, 8 * THREADS * GROUPS);
		ktap_eq(counted.written - empty.written, 4 * THREADS * GROUPS);
		/* besides tuples: 128, 128 and 64 bytes are loaded, 64, 64 and 32 stored */
		ktap_eq(counted.cycles - empty.cycles,
			((TUPLES_ALL + TUPLES_ODD - 1) * WARPS + 2 + 2 + 1 + 3) * GROUPS);
	}
}

/* ---- Modes ----------------------------------------------------------------------------------- */

/* 2^-130 and infinity times 1, in a clause with these modes. */
#define CLAUSE(modes, a, b) \
	"clause " modes "{\n" \
	"	*FADD.f32 " a ", u2.w0, #0\n" \
	"	*FADD.f32 " b ", u2.w1, #0\n" \
	"}\n"

static const struct {
	const char *text;
	uint32_t word[4];
} modes[] = {
	{ CLAUSE("", "r2", "r3") CLAUSE("ftz=dx11 ", "r4", "r5"),
	  { 0x80000, 0x7f800000, 0, 0x7f800000 } },
	{ CLAUSE("ftz=dx11 ", "r2", "r3") CLAUSE("", "r4", "r5"),
	  { 0, 0x7f800000, 0x80000, 0x7f800000 } },
	{ CLAUSE("ftz=dx11 ", "r2", "r3") CLAUSE("suppress_inf ", "r4", "r5"),
	  { 0, 0x7f800000, 0x80000, 0x7f7fffff } },
	{ CLAUSE("suppress_inf ", "r2", "r3") CLAUSE("ftz=dx11 suppress_inf ", "r4", "r5"),
	  { 0x80000, 0x7f7fffff, 0, 0x7f7fffff } },
};

static void all_modes(void)
{
	static struct shade_code code;

	for (unsigned int i = 0; i < CONFIGS * 4; i++) {
		struct shade_dispatch d = { .code = &code, .groups = { 2 } };
		struct shade_machine m;

		d.state.local_x = 20;
		d.push[4] = 0x80000;
		d.push[5] = 0x7f800000;
		memset(&code, 0, sizeof(code));
		shade_text(&code, modes[i % 4].text);
		shade_text(&code,
			   "clause message=store slot=0 end {\n"
			   "	*SHADDXL.u32 t0, u0.w0, r60, shift:4\n"
			   "	+SHADDXH.i32 t1, u0.w1, t\n"
			   "	+STORE.i128 t0, t1, @r2\n"
			   "}\n");
		shade_init(&m, &configs[i / 4]);
		ktap_ok(shade_run(&m, &d));
		for (unsigned int n = 0; n < 4 * 40; n++)
			ktap_eq(*stage_word32(&m.s, 4 * n), modes[i % 4].word[n % 4]);
		shade_free(&m);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[CS1] counters of a program that is known", counters);
	ktap_run("[ISA3] modes of arithmetic are those of each clause", all_modes);
	return ktap_finish();
}
