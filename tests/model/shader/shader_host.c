/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * The environment of a core: a host that has to look memory up first, or has none left, helper
 * threads, invalidations.
 */
#include <string.h>
#include <unistd.h>

#include "fail_alloc.h"
#include "device/gpu.h"
#include "ktap.h"
#include "shade.h"

/*
 * In the shortest bursts there are: a core that cannot go on says so, and goes on when the host has
 * answered.
 */
static void run(bool late)
{
	const struct tsr_config config = { .late_messages = late, .cores = 2 };
	struct shade_code code = { 0 };
	struct shade_dispatch d = { .code = &code, .state.local_x = 1024, .groups = { 2 } };
	struct shade_machine m;
	unsigned int answers = 0;

	shade_text(&code, "clause slot=0 " SHADE_STORE("r60"));
	shade_init(&m, &config);
	shade_push64(d.push, 0, STAGE_DATA);
	m.s.b->pending_every = 1;
	shade_call(&m.s, &m.q, &d);
	alarm(20);		/* the device may be the one that does not come back */
	bench_kick(&m.q);
	do {
		while (tsr_gpu_run(m.s.b->gpu, 1))
			;
		answers++;
	} while (bench_answer(m.s.b));
	alarm(0);
	ktap_ok(answers > 4);
	ktap_eq(bench_state(&m.q), TSR_QUEUE_STATE_IDLE);
	for (unsigned int i = 0; i < 2048; i++)
		ktap_eq(*stage_word32(&m.s, 4 * i), i);
	shade_free(&m);
}

static void early(void)
{
	run(false);
}

static void late(void)
{
	run(true);
}

/* A helper has found a fault that the owner has not seen when the queue is reset. */
static void helper(void)
{
	const struct tsr_config config = { .cores = 2 };
	struct shade_code endless = { 0 }, code = { 0 };
	struct shade_dispatch forever = { .code = &endless, .state.local_x = 4 };
	struct shade_dispatch d = { .code = &code, .state.local_x = 4 };
	struct shade_machine m;
	struct tsr_queue *q;

	shade_text(&endless,
		   "loop: clause {\n+BRANCHZ.i32.eq r63, loop\n}\nclause end {\n*NOP\n}\n");
	shade_text(&code, "clause slot=0 " SHADE_STORE("r60"));
	shade_init(&m, &config);
	shade_call(&m.s, &m.q, &forever);
	bench_kick(&m.q);
	tsr_gpu_run(m.s.b->gpu, 10000);
	q = &m.s.b->gpu->queue[m.q.slot];
	ktap_ok(q->work.grid);
	q->work.pool.record = (struct tsr_fault_info){ .code = TSR_FAULT_SHADER_LIMIT };
	atomic_store(&q->work.pool.fault, true);
	atomic_store(&q->work.pool.clauses, 1000);
	bench_control(&m.q, TSR_QUEUE_OP_RESET);
	ktap_eq(bench_state(&m.q), TSR_QUEUE_STATE_DISABLED);
	bench_enable(&m.q, 0);
	bench_invalidate_all(&m.s.as[1]);	/* there is other code at the same address */
	alarm(20);
	ktap_ok(shade_run(&m, &d));
	alarm(0);
	ktap_eq(bench_fault(&m.q), TSR_FAULT_NONE);
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_SHADER_CLAUSES), 1);
	shade_free(&m);
}

/*
 * A thread decodes code with a translation that it has not dropped yet, while the invalidation that
 * names it is under way. It may; but when that is complete the clause is gone.
 */
static void stale(void)
{
	struct shade_machine m;
	struct tsr_gpu *gpu;
	uint64_t during;

	shade_init(&m, NULL);
	gpu = m.s.b->gpu;
	gpu->runner[0].queue = &gpu->queue[0];	/* as if it ran it */
	bench_write(m.s.b, TSR_REG_AS_COMMAND(1), TSR_INV_OP_ALL);
	ktap_ok(bench_read(m.s.b, TSR_REG_AS_INV_STARTED(1)) !=
		bench_read(m.s.b, TSR_REG_AS_INV_DONE(1)));
	during = tsr_mmu_code_generation(&gpu->mmu, 1);
	tsr_tlb_sync(&gpu->runner[0]);
	gpu->runner[0].queue = NULL;
	tsr_inval_complete(gpu);
	ktap_eq(bench_read(m.s.b, TSR_REG_AS_INV_STARTED(1)),
		bench_read(m.s.b, TSR_REG_AS_INV_DONE(1)));
	ktap_ok(tsr_mmu_code_generation(&gpu->mmu, 1) != during);
	shade_free(&m);
}

/* Every thread of 2 groups stores its number behind a barrier, of which messages are kept. */
static bool numbers(struct shade_machine *m, struct shade_dispatch *d)
{
	unsigned int wrong = 0;
	bool over;

	memset(m->s.data, 0xff, 4 * 600);
	alarm(20);		/* the device may be the one that does not come back */
	over = shade_run(m, d);
	alarm(0);
	for (unsigned int i = 0; i < 600; i++)
		wrong += *stage_word32(&m->s, 4 * i) != i;
	return over && !wrong;
}

/*
 * An access without host memory is skipped, except one to code. A message that cannot be kept is at
 * fault itself: the ADD instruction of its clause's second tuple, in the first thread of a warp.
 */
static void fault_of_no_memory(struct bench_queue *q)
{
	uint32_t what = bench_queue_reg(q, TSR_QUEUE_FAULT__OFFSET);
	uint32_t where = bench_queue_reg(q, TSR_QUEUE_FAULT_SHADER__OFFSET);
	bool shader = bench_fault(q) == TSR_FAULT_SHADER_UNSUPPORTED;
	bool code = bench_field(what, TSR_QUEUE_FAULT_ACCESS__MASK) == TSR_ACCESS_EXEC;

	ktap_eq(bench_state(q), TSR_QUEUE_STATE_FAULTED);
	ktap_ok(shader || bench_fault(q) == TSR_FAULT_UNSUPPORTED);
	if (!shader || !code)
		ktap_eq(bench_field(what, TSR_QUEUE_FAULT_ACCESS__MASK), TSR_ACCESS_NONE);
	ktap_eq(bench_field(what, TSR_QUEUE_FAULT_LEVEL__MASK), 0);
	if (!shader)
		return;
	ktap_eq(bench_field(what, TSR_QUEUE_FAULT_UNIT__MASK), TSR_UNIT_SHADER);
	ktap_eq(bench_queue_reg64(q, TSR_QUEUE_FAULT_ADDR__OFFSET), SHADE_CODE);
	ktap_eq(bench_queue_reg64(q, TSR_QUEUE_FAULT_CLAUSE__OFFSET), SHADE_CODE);
	ktap_eq(bench_field(where, TSR_QUEUE_FAULT_SHADER_VALID__MASK), 1);
	ktap_eq(bench_field(where, TSR_QUEUE_FAULT_SHADER_TUPLE__MASK), !code);
	ktap_eq(bench_field(where, TSR_QUEUE_FAULT_SHADER_ADD__MASK), !code);
	ktap_eq(bench_field(where, TSR_QUEUE_FAULT_SHADER_LANE__MASK), 0);
}

/* With allocation @nth failing, or all from there on; false: there are not so many. */
static bool without_memory(const struct tsr_config *config, unsigned int nth, bool lasting)
{
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code, .groups = { 2 },
				    .state = { .local_x = 300, .group_memory = 4096 } };
	struct shade_machine m;
	unsigned int seen;
	bool right;

	code.size = 0;
	shade_text(&code, "clause slot=0 " SHADE_STORE("r60"));
	shade_init(&m, config);
	(lasting ? fail_alloc_from : fail_alloc_at)(nth);
	right = numbers(&m, &d);
	seen = fail_alloc_at(0);
	if (!right) {
		fault_of_no_memory(&m.q);
		bench_control(&m.q, TSR_QUEUE_OP_RESET);
		bench_enable(&m.q, 0);
	}
	if (!ktap_ok(numbers(&m, &d)))
		ktap_note("behind allocation %u that failed", nth);
	shade_free(&m);
	return seen >= nth;
}

/* The host has no memory: the dispatch is right or ends with a fault, and the next one is right. */
static void no_memory(void)
{
	for (unsigned int kind = 0; kind < 4; kind++) {
		const struct tsr_config config = { .late_messages = kind & 1, .cores = 2 };
		unsigned int nth = 1;

		while (without_memory(&config, nth, kind & 2))
			nth++;
		ktap_note("%u allocations", nth - 1);
		ktap_ok(nth > 5);
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS10] a core whose warps all wait for the host stops, messages early",
		 early);
	ktap_run("[SYS10] the same with late messages", late);
	ktap_run("[SYS10] what a helper found is forgotten with its dispatch", helper);
	ktap_run("[ISA14] no clause decoded during an invalidation is left behind it", stale);
	ktap_run("a dispatch the host has no memory for is right or faults", no_memory);
	return ktap_finish();
}
