/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=180 */
/*
 * Dispatches that are stopped between any two clauses and carried on, by any number of threads, in
 * time slices, behind pages the host has to be asked for: memory and counters are what an
 * undisturbed run leaves. Programs that never end.
 */
#include <stdlib.h>

#include "device/gpu.h"
#include "ktap.h"
#include "shade.h"
#include "shader/lanes.h"

#define LOCAL 40			/* three warps, the last with 8 threads */
#define GROUPS 6
#define RESULT (0x10000 + 4 * LOCAL * GROUPS + 4)

/*
 * Loads, a loop with a different count in each thread, shared memory after a barrier, an atomic
 * counter (at the end of push pair 1), stores.
 */
static const char program[] =
	"clause slot=0 wait=0 flow=nbtb_unconditional {\n"
	"	*SHADDXL.u32 t0, u0.w0, r60, shift:2\n"
	"	+SHADDXH.i32 t1, u0.w1, t\n"
	"	+LOAD.i32 t0, t1, @r2\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 r3, r55, 0x7, #0\n"
	"	+IADD.s32 r4, r2, 0x1\n"
	"	*NOP\n"
	"}\n"
	"loop: clause flow=nbtb_unconditional {\n"
	"	*IMUL.i32 r4, r4, 0x5\n"
	"	+IADD.s32 r3:t1, r3, -1\n"
	"	+BRANCHZ.s32.ge t1, loop\n"
	"}\n"
	"clause slot=1 wait=1 {\n"
	"	*LSHIFT_OR.i32 t0, r55, #0, 0x2\n"
	"	*NOP\n"
	"	+STORE.i32.wls t0, zero.w0, @r4\n"
	"}\n"
	"clause slot=7 wait=7 {\n"
	"	+BARRIER\n"
	"}\n"
	"clause slot=0 wait=0 {\n"
	"	+ISUB.s32 t1, 0x27, r55\n"
	"	*LSHIFT_OR.i32 t0, t1, #0, 0x2\n"
	"	*NOP\n"
	"	+LOAD.i32.wls t0, zero.w0, @r5\n"
	"}\n"
	"clause slot=2 {\n"
	"	*MOV.i32 t0, u2.w0\n"
	"	+MOV.i32 t1, u2.w1\n"
	"	*ATOM_C1.i32.ainc t0, t1\n"
	"	+ATOM_CX t0, t1, zero.w0, @r9\n"
	"}\n"
	"clause slot=3 {\n"
	"	+IADD.s32 r10, r5, r4\n"
	"	*SHADDXL.u32 t0, u1.w0, r60, shift:2\n"
	"	+SHADDXH.i32 t1, u1.w1, t\n"
	"	+STORE.i32 t0, t1, @r5\n"
	"}\n"
	"clause end { *NOP }\n";

/* R4 of thread @t of a group after the loop. */
static uint32_t behind_loop(unsigned int group, unsigned int t)
{
	uint32_t value = 1000 + group * LOCAL + t + 1;

	for (int i = t % 8; i >= 0; i--)
		value *= 5;
	return value;
}

/* Memory before the dispatch. */
static void prepare(struct shade_machine *m, struct shade_dispatch *d, struct shade_code *code)
{
	memset(code, 0, sizeof(*code));
	shade_text(code, program);
	*d = (struct shade_dispatch){ .code = code, .groups = { GROUPS } };
	d->state.local_x = LOCAL;
	d->state.group_memory = 4 * LOCAL;
	shade_push64(d->push, 0, STAGE_DATA);
	shade_push64(d->push, 1, STAGE_DATA + 0x10000);
	shade_push64(d->push, 2, STAGE_DATA + RESULT);
	for (unsigned int i = 0; i < LOCAL * GROUPS; i++)
		*stage_word32(&m->s, 4 * i) = 1000 + i;
}

/* Check memory after it. */
static void check(struct shade_machine *m, unsigned int times)
{
	for (unsigned int i = 0; i < LOCAL * GROUPS; i++)
		ktap_eq(*stage_word32(&m->s, 0x10000 + 4 * i),
			behind_loop(i / LOCAL, LOCAL - 1 - i % LOCAL));
	ktap_eq(*stage_word32(&m->s, RESULT), LOCAL * GROUPS * times);
	ktap_eq(*stage_word32(&m->s, RESULT - 4), 0);
}

static const enum tsr_queue_counter counted[] = {
	TSR_QUEUE_COUNTER_SHADER_GROUPS, TSR_QUEUE_COUNTER_SHADER_CLAUSES,
	TSR_QUEUE_COUNTER_SHADER_THREADS, TSR_QUEUE_COUNTER_SHADER_MESSAGES,
};

#define COUNTED (sizeof(counted) / sizeof(counted[0]))

/*
 * Run the program; after every step of one clause, @disturb. Counters are left in @counts; returns
 * the number of steps.
 */
static unsigned int run(const struct tsr_config *config, void (*disturb)(struct shade_machine *m),
			uint64_t *counts)
{
	static struct shade_code code;
	struct shade_dispatch d;
	struct shade_machine m;
	unsigned int steps = 0;

	shade_init(&m, config);
	prepare(&m, &d, &code);
	shade_call(&m.s, &m.q, &d);
	bench_kick(&m.q);
	while (disturb && bench_state(&m.q) != TSR_QUEUE_STATE_IDLE && steps < 5000) {
		tsr_gpu_run(m.s.b->gpu, 1);
		disturb(&m);
		steps++;
	}
	ktap_ok(bench_run(m.s.b, 20));
	ktap_eq(bench_fault(&m.q), TSR_FAULT_NONE);
	check(&m, 1);
	for (unsigned int i = 0; i < COUNTED; i++)
		counts[i] = shade_counter(&m, counted[i]);
	shade_free(&m);
	return steps;
}

/* Save, and go on in a fresh device. */
static void migrate(struct shade_machine *m)
{
	char err[200] = "";
	size_t size;
	void *image;

	tsr_gpu_pause(m->s.b->gpu);
	size = tsr_gpu_save(m->s.b->gpu, NULL, 0);
	image = malloc(size);
	tsr_gpu_save(m->s.b->gpu, image, size);
	bench_replace(m->s.b);
	tsr_gpu_pause(m->s.b->gpu);
	if (!tsr_gpu_load(m->s.b->gpu, image, size, err, sizeof(err)))
		ktap_fail("%s", err);
	tsr_gpu_resume(m->s.b->gpu);
	free(image);
}

static void suspend(struct shade_machine *m)
{
	bench_control(&m->q, TSR_QUEUE_OP_SUSPEND);
	ktap_eq(bench_state(&m->q), TSR_QUEUE_STATE_SUSPENDED);
	ktap_eq(tsr_gpu_run(m->s.b->gpu, 1000), 0);
	bench_control(&m->q, TSR_QUEUE_OP_RESUME);
}

/*
 * The least number of stops of a disturbed run. A stop follows one clause of one warp group, at
 * best for all its warps. Each of the three warps of a group executes eight clauses and the loop's
 * eight times.
 */
#define LEAST_STEPS (GROUPS * 3 * (8 + 8) / TSR_BUNDLE_WARPS)

static void every_stop(void (*disturb)(struct shade_machine *m))
{
	static const struct tsr_config configs[] = {
		{ .cores = 2 }, { .cores = 2, .late_messages = true }, { .cores = 1 },
		{ .cores = 3, .deterministic = true, .seed = 5 },
	};

	for (unsigned int i = 0; i < 4; i++) {
		uint64_t plain[COUNTED], disturbed[COUNTED];

		run(&configs[i], NULL, plain);
		ktap_ok(run(&configs[i], disturb, disturbed) >= LEAST_STEPS);
		for (unsigned int c = 0; c < COUNTED; c++)
			ktap_eq(disturbed[c], plain[c]);
	}
}

static void migrated(void)
{
	every_stop(migrate);
}

static void suspended(void)
{
	every_stop(suspend);
}

/* ---- Many queues ----------------------------------------------------------------------------- */

#define QUEUES 5

/* A step of each queue in turn, from suspended to suspended; how many of them were packed. */
static unsigned int step_each(struct shade_machine *m, struct bench_queue *q, bool *left)
{
	struct tsr_gpu *gpu = m->s.b->gpu;
	unsigned int packed = 0;

	*left = false;
	for (unsigned int i = 0; i < QUEUES; i++) {
		if (bench_state(&q[i]) != TSR_QUEUE_STATE_SUSPENDED)
			continue;
		packed += gpu->queue[q[i].slot].work.packed != NULL;
		bench_control(&q[i], TSR_QUEUE_OP_RESUME);
		tsr_gpu_run(gpu, 1);
		if (bench_state(&q[i]) == TSR_QUEUE_STATE_IDLE)
			continue;
		bench_control(&q[i], TSR_QUEUE_OP_SUSPEND);
		*left = true;
	}
	return packed;
}

/* More queues are in the midst of a dispatch than keep their memory: these are packed. */
static void packed(void)
{
	static struct shade_code code;

	for (unsigned int i = 0; i < 4; i++) {
		struct tsr_config config = { .cores = 1 + i / 2, .late_messages = i % 2,
					     .no_inline = true };
		struct bench_queue q[QUEUES];
		struct shade_dispatch d;
		struct shade_machine m;
		unsigned int seen = 0, round = 0;
		bool left = true;

		shade_init(&m, &config);
		prepare(&m, &d, &code);
		for (unsigned int n = 0; n < QUEUES; n++) {
			stage_queue(&m.s, &q[n], 3 + n, TSR_ENGINE_CLASS_COMPUTE,
				    TSR_PRIORITY_NORMAL);
			shade_call(&m.s, &q[n], &d);
			bench_kick(&q[n]);
			bench_control(&q[n], TSR_QUEUE_OP_SUSPEND);
		}
		while (left && round++ < 5000) {
			seen += step_each(&m, q, &left);
			/* all of them come back from a snapshot, too */
			if (round == 20)
				migrate(&m);
		}
		ktap_ok(seen > 10 * QUEUES);
		for (unsigned int n = 0; n < QUEUES; n++)
			ktap_eq(bench_fault(&q[n]), TSR_FAULT_NONE);
		check(&m, QUEUES);
		shade_free(&m);
	}
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void threads(void)
{
	static const unsigned int numbers[] = { 0, 1, 2, 8 };
	uint64_t first[COUNTED], counts[COUNTED];

	for (unsigned int n = 0; n < 4; n++) {
		for (unsigned int late = 0; late < 2; late++) {
			struct tsr_config config = { .threads = numbers[n], .late_messages = late };

			run(&config, NULL, n || late ? counts : first);
			for (unsigned int c = 0; (n || late) && c < COUNTED; c++)
				ktap_eq(counts[c], first[c]);
		}
	}
}

/* Many groups, several threads, and a host that stops and invalidates all the time. */
static void disturbed_threads(void)
{
	static struct shade_code code;
	struct tsr_config config = { .threads = 3 };
	struct shade_dispatch d;
	struct shade_machine m;

	shade_init(&m, &config);
	prepare(&m, &d, &code);
	for (unsigned int i = 0; i < 40; i++)
		shade_call(&m.s, &m.q, &d);
	bench_kick(&m.q);
	for (unsigned int i = 0; i < 300; i++) {
		tsr_gpu_pause(m.s.b->gpu);
		tsr_gpu_resume(m.s.b->gpu);
		tsr_gpu_host_invalidate(m.s.b->gpu, 0, 0);
		if (i % 3 == 0)
			bench_invalidate_all(&m.s.as[1]);
	}
	ktap_ok(bench_run(m.s.b, 30));
	ktap_eq(bench_fault(&m.q), TSR_FAULT_NONE);
	check(&m, 40);
	shade_free(&m);
}

/* ---- The host's answers ---------------------------------------------------------------------- */

static void pending(void)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct tsr_config config = { .threads = i / 2 * 2, .late_messages = i % 2 };
		static struct shade_code code;
		struct shade_dispatch d;
		struct shade_machine m;

		shade_init(&m, &config);
		prepare(&m, &d, &code);
		m.s.b->pending_every = 1;
		ktap_ok(shade_run(&m, &d));
		ktap_ok(m.s.b->answers > 3);
		check(&m, 1);
		shade_free(&m);
	}
}

/* ---- Programs that never end ----------------------------------------------------------------- */

static const char endless[] =
	"loop: clause flow=nbtb_unconditional {\n"
	"	+IADD.s32 r0, r0, r60\n"
	"	+JUMP loop\n"
	"}\n";

/* Let the device work until the queue is done; the other one never is. */
static bool done(struct shade_machine *m)
{
	for (unsigned int i = 0; !m->s.b->config.threads && i < 100; i++) {
		if (bench_state(&m->q) == TSR_QUEUE_STATE_IDLE)
			return true;
		tsr_gpu_run(m->s.b->gpu, 20000);
	}
	return m->s.b->config.threads && stage_until(&m->q, TSR_QUEUE_STATE_IDLE);
}

static void runaway_with(unsigned int workers)
{
	struct tsr_config config = { .threads = workers };
	static struct shade_code code, bad;
	struct shade_dispatch d, e = { .code = &bad, .groups = { 100 }, .at = 0x2000 };
	struct shade_machine m;
	struct bench_queue q;
	uint32_t slices;

	memset(&bad, 0, sizeof(bad));
	shade_text(&bad, endless);
	e.state.local_x = 64;
	shade_init(&m, &config);
	stage_queue(&m.s, &q, 7, TSR_ENGINE_CLASS_COMPUTE, TSR_PRIORITY_NORMAL);
	prepare(&m, &d, &code);
	shade_call(&m.s, &q, &e);
	bench_kick(&q);
	if (!workers)
		tsr_gpu_run(m.s.b->gpu, 300000);
	/* The other queue does not notice much. */
	for (unsigned int i = 1; i < 4; i++) {
		shade_call(&m.s, &m.q, &d);
		bench_kick(&m.q);
		ktap_ok(done(&m));
		check(&m, i);
	}
	slices = bench_queue_reg(&q, TSR_QUEUE_SLICES__OFFSET);
	ktap_ok(slices >= 1);
	ktap_ok(bench_state(&q) == TSR_QUEUE_STATE_RUNNING ||
		bench_state(&q) == TSR_QUEUE_STATE_READY);
	bench_control(&q, TSR_QUEUE_OP_RESET);
	ktap_ok(bench_run(m.s.b, 10));
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_DISABLED);
	shade_free(&m);
}

static void runaway(void)
{
	runaway_with(0);
	runaway_with(1);
	runaway_with(4);
}

/*
 * Nothing of a clause has been executed that is one too many: the fault is of its first tuple's FMA
 * instruction, in the first thread.
 */
static void limit_fault_is(struct bench_queue *q, uint64_t clause)
{
	uint32_t where = bench_queue_reg(q, TSR_QUEUE_FAULT_SHADER__OFFSET);
	uint32_t what = bench_queue_reg(q, TSR_QUEUE_FAULT__OFFSET);

	ktap_eq(bench_fault(q), TSR_FAULT_SHADER_LIMIT);
	ktap_eq(bench_field(what, TSR_QUEUE_FAULT_ACCESS__MASK), TSR_ACCESS_NONE);
	ktap_eq(bench_field(what, TSR_QUEUE_FAULT_LEVEL__MASK), 0);
	ktap_eq(bench_field(what, TSR_QUEUE_FAULT_UNIT__MASK), TSR_UNIT_SHADER);
	ktap_eq(bench_queue_reg64(q, TSR_QUEUE_FAULT_ADDR__OFFSET), clause);
	ktap_eq(bench_queue_reg64(q, TSR_QUEUE_FAULT_CLAUSE__OFFSET), clause);
	ktap_eq(bench_field(where, TSR_QUEUE_FAULT_SHADER_VALID__MASK), 1);
	ktap_eq(bench_field(where, TSR_QUEUE_FAULT_SHADER_TUPLE__MASK), 0);
	ktap_eq(bench_field(where, TSR_QUEUE_FAULT_SHADER_ADD__MASK), 0);
	ktap_eq(bench_field(where, TSR_QUEUE_FAULT_SHADER_WARP__MASK), 0);
	ktap_eq(bench_field(where, TSR_QUEUE_FAULT_SHADER_LANE__MASK), 0);
}

/* The program with a limit. */
static void limit(void)
{
	static struct shade_code bad;
	struct shade_dispatch e = { .code = &bad, .groups = { 5 } };
	struct tsr_config config = { 0 };
	struct shade_machine m;

	memset(&bad, 0, sizeof(bad));
	shade_text(&bad, endless);
	e.state.clause_limit = 1000;
	shade_init(&m, &config);
	ktap_ok(!shade_run(&m, &e));
	limit_fault_is(&m.q, SHADE_CODE);
	shade_free(&m);
}

#define IDLE "clause {\n*NOP\n+NOP\n}\n"
#define LAST "clause end {\n*NOP\n+NOP\n}\n"
/* Every second thread branches and returns. Constants follow the first clause. */
#define PARTED \
	"clause flow=nbtb_unconditional {\n*LSHIFT_AND.i32 t0, r55, 0x1, #0\n+NOP\n" \
	"*NOP\n+BRANCHZ.i32.ne t0, odd\n}\n" \
	"clause flow=nbtb_unconditional {\n*NOP\n+NOP\n}\n" \
	"odd: " IDLE LAST

/* Four threads that together execute so many clauses, the first of @first bytes, of @most. */
static void run_limited(const char *text, unsigned int clauses, unsigned int first,
			unsigned int most)
{
	static struct shade_code code;
	const bool enough = !most || most >= clauses;
	struct shade_dispatch e = { .code = &code, .groups = { 3 },
				    .state = { .clause_limit = most, .local_x = 4 } };
	struct tsr_config config = { 0 };
	struct shade_machine m;

	memset(&code, 0, sizeof(code));
	shade_text(&code, text);
	shade_init(&m, &config);
	ktap_eq(shade_run(&m, &e), enough);
	if (enough)
		ktap_eq(bench_fault(&m.q), TSR_FAULT_NONE);
	else
		limit_fault_is(&m.q, SHADE_CODE + first + 16 * (most - 1));
	shade_free(&m);
}

/* As many clauses as the limit may be executed, and not one more; 0 is no limit. */
static void limits(void)
{
	for (unsigned int most = 0; most < 6; most++) {
		run_limited(LAST, 1, 16, most);
		run_limited(IDLE LAST, 2, 16, most);
		run_limited(IDLE IDLE LAST, 3, 16, most);
		run_limited(PARTED, 4, 48, most);
	}
}

/* One thread of many goes wrong, again and again, while workers run the others. */
static void fault_with_workers(void)
{
	static const char text[] =
		"clause flow=nbtb_unconditional {\n"
		"	*MOV.i32 r1, u2.w0\n"
		"	*NOP\n"
		"	*NOP\n"
		"	+ISUB.s32 t1, r60, r1\n"
		"	*IMUL.i32 r2, r60, 0x3\n"
		"	+IADD.s32 r3, t1, r0\n"
		"	*NOP\n"
		"}\n"
		"clause flow=nbtb_unconditional {\n"
		"	+BRANCHZ.i32.ne r3, fine\n"
		"}\n"
		"clause slot=0 wait=0 { *MOV.i32 t0, 0x7000\n *NOP\n"
		"	+LOAD.i32 t0, zero.w0, @r2\n }\n"
		"fine: clause slot=0 message=store end {\n"
		"	*SHADDXL.u32 t0, u0.w0, r60, shift:2\n"
		"	+SHADDXH.i32 t1, u0.w1, t\n"
		"	+STORE.i32 t0, t1, @r2\n"
		"}\n";
	struct tsr_config config = { .threads = 4 };
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code, .groups = { 100 } };
	struct shade_machine m;

	memset(&code, 0, sizeof(code));
	shade_text(&code, text);
	d.state.local_x = 50;
	shade_init(&m, &config);
	for (unsigned int i = 0; i < 20; i++) {
		unsigned int thread = i * 4999 / 20, lane = thread % 50 % 16;

		d.push[4] = thread;
		ktap_ok(!shade_run(&m, &d));
		ktap_eq(bench_fault(&m.q), TSR_FAULT_MMU_UNMAPPED);
		ktap_eq(bench_queue_reg64(&m.q, TSR_QUEUE_FAULT_ADDR__OFFSET), 0x7000);
		ktap_eq(bench_queue_reg(&m.q, TSR_QUEUE_FAULT_GROUP__OFFSET), thread / 50);
		ktap_eq(bench_field(bench_queue_reg(&m.q, TSR_QUEUE_FAULT_SHADER__OFFSET),
				    TSR_QUEUE_FAULT_SHADER_LANE__MASK),
			lane);
		bench_control(&m.q, TSR_QUEUE_OP_RESET);
		ktap_ok(stage_until(&m.q, TSR_QUEUE_STATE_DISABLED));
		bench_enable(&m.q, 0);
		m.q.wptr = 0;
	}
	d.push[4] = 5000;
	ktap_ok(shade_run(&m, &d));
	for (unsigned int i = 0; i < 5000; i++)
		ktap_eq(*stage_word32(&m.s, 4 * i), 3 * i);
	shade_free(&m);
}

/* The counters of the queue. Times are 0. */
static void all_counters(struct shade_machine *m, uint64_t *counts)
{
	for (unsigned int c = 0; c < TSR_QUEUE_COUNTER__COUNT; c++)
		counts[c] = shade_counter(m, c);
	counts[TSR_QUEUE_COUNTER_BUSY_TIME] = counts[TSR_QUEUE_COUNTER_BLOCKED_TIME] = 0;
}

/* The slot is enabled anew with an empty ring, and nothing is known of translations. */
static void start_over(struct shade_machine *m)
{
	bench_control(&m->q, TSR_QUEUE_OP_RESET);
	ktap_ok(stage_until(&m->q, TSR_QUEUE_STATE_DISABLED));
	bench_enable(&m->q, 0);
	m->q.wptr = 0;
	for (unsigned int i = 0; i < 2; i++)
		ktap_ok(bench_invalidate_all(&m->s.as[i]));
}

/* A job counts what it does itself, nothing of one that was at fault or that a RESET has ended. */
static void counted_alone(void)
{
	static struct shade_code code, bad;
	struct shade_dispatch d, e = { .code = &bad, .groups = { 5 }, .at = 0x2000 };
	uint64_t first[TSR_QUEUE_COUNTER__COUNT], counts[TSR_QUEUE_COUNTER__COUNT];
	struct shade_machine m;

	memset(&bad, 0, sizeof(bad));
	shade_text(&bad, endless);
	shade_init(&m, NULL);
	prepare(&m, &d, &code);
	ktap_ok(shade_run(&m, &d));
	all_counters(&m, first);
	for (unsigned int i = 0; i < 2; i++) {
		start_over(&m);
		e.state.clause_limit = i ? 0 : 1000;
		shade_call(&m.s, &m.q, &e);
		bench_kick(&m.q);
		tsr_gpu_run(m.s.b->gpu, 20000);
		ktap_eq(bench_fault(&m.q), i ? TSR_FAULT_NONE : TSR_FAULT_SHADER_LIMIT);
		start_over(&m);
		ktap_ok(shade_run(&m, &d));
		all_counters(&m, counts);
		for (unsigned int c = 0; c < TSR_QUEUE_COUNTER__COUNT; c++) {
			if (!ktap_eq(counts[c], first[c]))
				ktap_note("counter %u", c);
		}
	}
	shade_free(&m);
}

/* ---- Snapshots that are wrong ---------------------------------------------------------------- */

/*
 * Bytes of a snapshot in the middle of a dispatch are changed: it is refused, or the device lives.
 */
static void hostile(void)
{
	struct tsr_config config = { .cores = 2, .late_messages = true };
	static struct shade_code code;
	struct shade_dispatch d;
	struct shade_machine m;
	const size_t stride = getenv("TSR_QUICK") ? 397 : 97;
	unsigned int taken = 0, tried = 0;
	size_t size;
	uint8_t *image;
	char err[200];

	shade_init(&m, &config);
	prepare(&m, &d, &code);
	shade_call(&m.s, &m.q, &d);
	bench_kick(&m.q);
	for (unsigned int i = 0; i < 45; i++)
		tsr_gpu_run(m.s.b->gpu, 1);
	ktap_ok(bench_state(&m.q) != TSR_QUEUE_STATE_IDLE);
	tsr_gpu_pause(m.s.b->gpu);
	size = tsr_gpu_save(m.s.b->gpu, NULL, 0);
	image = malloc(size);
	tsr_gpu_save(m.s.b->gpu, image, size);
	for (size_t i = 0; i < size; i += tried % 4 ? 1 : stride, tried++) {
		uint8_t kept = image[i];

		image[i] ^= 1u << (i * 7 % 8);
		if (tsr_gpu_load(m.s.b->gpu, image, size, err, sizeof(err))) {
			taken++;
			tsr_gpu_resume(m.s.b->gpu);
			tsr_gpu_run(m.s.b->gpu, 3000);
			tsr_gpu_pause(m.s.b->gpu);
		}
		image[i] = kept;
	}
	ktap_note("%u of %u bytes changed were taken", taken, tried);
	ktap_ok(taken && taken < tried);
	free(image);
	tsr_gpu_resume(m.s.b->gpu);
	shade_free(&m);
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS10] dispatches that are packed between two stops", packed);
	ktap_run("[SYS10] saved and loaded elsewhere after every clause", migrated);
	ktap_run("[SYS10] suspended and resumed after every clause", suspended);
	ktap_run("[CS1] 0, 1, 2 and 8 workers", threads);
	ktap_run("[SYS10] paused and invalidated while three workers run", disturbed_threads);
	ktap_run("[CS1] every page is pending first", pending);
	ktap_run("[SYS10] an endless program keeps its slices, other queues theirs", runaway);
	ktap_run("[ISA14] CLAUSE_LIMIT ends an endless program", limit);
	ktap_run("[ISA14] CLAUSE_LIMIT lets as many clauses run, and no more", limits);
	ktap_run("[ISA14] a fault while four workers run", fault_with_workers);
	ktap_run("[ISA14] nothing is counted of a job that was at fault or reset", counted_alone);
	ktap_run("[ISA14] changed snapshots of a dispatch", hostile);
	return ktap_finish();
}
