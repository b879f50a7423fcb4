/* SPDX-License-Identifier: MIT */
/*
 * Injected faults while the host has to be asked for each page: a step that waits begins again, and
 * is one occasion.
 */
#include <stdio.h>

#include "inject_play.h"
#include "ktap.h"

/* A machine on which the translation of each page has to be waited for once. */
static void begin_pending(struct play *y, const char *script)
{
	begin(y, &guarded, 1);
	y->s.b->pending_every = 1;
	ktap_ok(inject(y, script));
}

/* Run one job of queue 0; returns its fence. */
static uint64_t run_job(struct play *y)
{
	submit(y, 0);
	ktap_ok(bench_run(y->s.b, 10));
	return fence(y, 0);
}

/* A step that waits for the host begins again, and is one occasion nevertheless. */
static void pending_occasions(void)
{
	struct play y;
	uint64_t before;

	begin_pending(&y, "fence-lost skip=1");
	for (unsigned int i = 1; i <= 3; i++)
		ktap_eq(run_job(&y), i == 2 ? 1 : i);
	end(&y);

	begin_pending(&y, "fence-late skip=1 delay=1ms");
	ktap_eq(run_job(&y), 1);
	ktap_eq(run_job(&y), 1);
	bench_advance(y.s.b, 1000000);
	ktap_eq(fence(&y, 0), 2);
	end(&y);

	/* skip=0: the page must be read before the first store */
	begin_pending(&y, "fence-torn delay=1ms");
	*stage_word(&y.s, FENCE) = 0x100;
	ktap_eq(run_job(&y), 0x101);
	bench_advance(y.s.b, 1000000);
	ktap_eq(fence(&y, 0), 1);
	end(&y);

	begin_pending(&y, "slow skip=1 delay=2ms");
	ktap_eq(run_job(&y), 1);
	before = bench_queue_reg64(&y.q[0], TSR_QUEUE_CYCLES__OFFSET);
	ktap_ok(before < 2000000);
	ktap_eq(run_job(&y), 2);
	ktap_ok(bench_queue_reg64(&y.q[0], TSR_QUEUE_CYCLES__OFFSET) > before + 2000000);
	end(&y);
}

static void pending_translations(void)
{
	struct play y;
	char script[96];

	snprintf(script, sizeof(script), "mmu-unmapped skip=1 addr=%#llx-%#llx", STAGE_DATA,
		 STAGE_DATA + FILL - 1);
	begin_pending(&y, script);
	ktap_eq(run_job(&y), 1);
	ktap_eq(run_job(&y), 2);
	ktap_eq(fired(&y, TSR_INJECTION_MMU_UNMAPPED), 0);
	/* the second translation is one that no TLB has */
	ktap_ok(bench_invalidate_all(&y.s.as[1]));
	ktap_eq(run_job(&y), 2);
	ktap_eq(bench_fault(&y.q[0]), TSR_FAULT_MMU_UNMAPPED);
	end(&y);
}

int main(void)
{
	ktap_start();
	ktap_run("faults of fences and work quanta that wait for the host", pending_occasions);
	ktap_run("faults of translations that wait for the host", pending_translations);
	return ktap_finish();
}
