/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=120 */
/*
 * Fault injection: the accepted scripts, the occasion and the effect of each kind of fault, and the
 * state after it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inject_play.h"
#include "ktap.h"

/* ---- Scripts --------------------------------------------------------------------------------- */

static void accepted(void)
{
	static const char *const good[] = {
		"", " ; ;\n", "clear", "hang", "hang;slow",
		"seed=7; irq-lost chance=0.25 times=always",
		"fence-late queue=63 class=copy job=1 addr=0x1000-0x1fff as=127 skip=3 delay=10ms",
		"irq-twice vector=5 delay=5us\nirq-late delay=0ns\n", "bus addr=17",
		"slow:delay=10000000000ns:queue=2;hang:", "gone skip=100", "irq-lost chance=0",
		"irq-lost chance=1.000", "clear; hang queue=0",
	};
	struct play y;

	begin(&y, &guarded, 0);
	for (unsigned int i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (!ktap_ok(inject(&y, good[i])))
			ktap_note("'%s': %s", good[i], y.err);
		ktap_ok(inject(&y, "clear"));
	}
	end(&y);
}

static void refused(void)
{
	static const struct {
		const char *script;
		unsigned int at;	/* character, counted from 1 */
	} bad[] = {
		{ "hung", 1 }, { "HANG", 1 }, { "hang;  what", 8 }, { "hang queue", 6 },
		{ "hang queue=", 12 }, { "hang queue=64", 6 }, { "hang queue=x", 6 },
		{ "hang queue=1 delay=1ms", 14 }, { "gone queue=1", 6 },
		{ "slow delay=11000ms", 6 },
		{ "slow delay=5", 6 }, { "slow delay=5s", 6 }, { "irq-lost chance=1.1", 10 },
		{ "irq-lost chance=2", 10 }, { "irq-lost chance=.5", 10 }, { "bus addr=5-4", 5 },
		{ "bus addr=0x", 5 }, { "bus addr=18446744073709551616", 5 }, { "hang job=0", 6 },
		{ "hang times=0", 6 }, { "irq-lost vector=6", 10 }, { "tlb-stale as=128", 11 },
		{ "hang class=video", 6 }, { "hang size=5", 6 }, { "seed=x", 1 }, { "seed", 1 },
		{ "clear hang", 7 }, { "hang =5", 6 }, { "=", 1 },
		{ "hang queue=000000000000000000000000000000000001", 43 },
	};
	struct play y;

	begin(&y, &guarded, 1);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		unsigned int at = 0;

		ktap_ok(!inject(&y, bad[i].script));
		sscanf(y.err, "character %u:", &at);
		if (!ktap_eq(at, bad[i].at))
			ktap_note("'%s': %s", bad[i].script, y.err);
	}
	/* nothing of a script that is refused is in force */
	ktap_ok(!inject(&y, "fence-lost; nonsense"));
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(fence(&y, 0), 1);
	end(&y);
}

/* How many are in force. */
static unsigned int rules(struct play *y)
{
	return bench_field(bench_read(y->s.b, TSR_REG_INJECT_STATUS),
			   TSR_INJECT_STATUS_RULES__MASK);
}

static void too_many(void)
{
	struct play y;
	char script[64 * TSR_INJECTION_RULES_MAX] = "";

	begin(&y, &guarded, 1);
	for (unsigned int i = 0; i < TSR_INJECTION_RULES_MAX; i++)
		strcat(script, "doorbell-lost queue=5;");
	ktap_ok(inject(&y, script));
	ktap_ok(!inject(&y, "hang"));
	ktap_eq(rules(&y), TSR_INJECTION_RULES_MAX);
	ktap_ok(inject(&y, "clear; hang queue=3"));
	strcat(script, "hang");
	ktap_ok(!inject(&y, script));
	ktap_eq(rules(&y), 1);
	end(&y);
}

/* Write a script as the guest does; returns STATUS. */
static uint32_t write_text(struct play *y, const char *script)
{
	do
		bench_write(y->s.b, TSR_REG_INJECT_TEXT, (uint8_t)*script);
	while (*script++);
	return bench_read(y->s.b, TSR_REG_INJECT_STATUS);
}

static void window(void)
{
	const struct tsr_config shut = { .no_inline = true };
	char text[TSR_INJECTION_TEXT_MAX + 2];
	uint32_t status;
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(bench_read64(y.s.b, TSR_REG_GPU_FEATURES) & TSR_FEATURE_DEBUG);
	ktap_eq(bench_read(y.s.b, TSR_REG_INJECT_STATUS), TSR_INJECTION_RESULT_NONE);
	status = write_text(&y, "fence-lost; irq-lost");
	ktap_eq(bench_field(status, TSR_INJECT_STATUS_RESULT__MASK), TSR_INJECTION_RESULT_ACCEPTED);
	ktap_eq(bench_field(status, TSR_INJECT_STATUS_RULES__MASK), 2);
	ktap_eq(bench_field(status, TSR_INJECT_STATUS_POSITION__MASK), 20);
	status = write_text(&y, "hang queue=64");
	ktap_eq(bench_field(status, TSR_INJECT_STATUS_RESULT__MASK), TSR_INJECTION_RESULT_REFUSED);
	ktap_eq(bench_field(status, TSR_INJECT_STATUS_RULES__MASK), 2);
	ktap_eq(bench_field(status, TSR_INJECT_STATUS_POSITION__MASK), 5);
	memset(text, ' ', sizeof(text));
	text[TSR_INJECTION_TEXT_MAX] = 0;
	status = write_text(&y, text);
	ktap_eq(bench_field(status, TSR_INJECT_STATUS_RESULT__MASK), TSR_INJECTION_RESULT_ACCEPTED);
	text[TSR_INJECTION_TEXT_MAX] = ' ';
	text[TSR_INJECTION_TEXT_MAX + 1] = 0;
	status = write_text(&y, text);
	ktap_eq(bench_field(status, TSR_INJECT_STATUS_RESULT__MASK), TSR_INJECTION_RESULT_REFUSED);
	/* rules outlive a reset of the device, and so does the window */
	tsr_gpu_reset(y.s.b->gpu);
	ktap_eq(rules(&y), 2);
	end(&y);

	begin(&y, &shut, 1);
	ktap_ok(!(bench_read64(y.s.b, TSR_REG_GPU_FEATURES) & TSR_FEATURE_DEBUG));
	ktap_eq(write_text(&y, "fence-lost"), 0);
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(fence(&y, 0), 1);
	end(&y);
}

/* ---- Occasions ------------------------------------------------------------------------------- */

static void which_occasion(void)
{
	struct play y;

	begin(&y, &guarded, 3);
	ktap_ok(inject(&y, "fence-lost queue=1 skip=1 times=2; fence-lost queue=2 job=3"));
	for (unsigned int i = 1; i <= 5; i++) {
		for (unsigned int n = 0; n < 3; n++)
			submit(&y, n);
		ktap_ok(bench_run(y.s.b, 10));
		ktap_eq(fence(&y, 0), i);
		ktap_eq(fence(&y, 1), i == 2 || i == 3 ? 1 : i);
		ktap_eq(fence(&y, 2), i == 3 ? 2 : i);
	}
	ktap_eq(fired(&y, TSR_INJECTION_FENCE_LOST), 3);
	end(&y);
}

/* How many of @jobs fences are lost, a bit each, with @seed. */
static uint64_t lost_of(unsigned int jobs, unsigned int seed, const char *chance)
{
	struct play y;
	uint64_t lost = 0;
	char script[64];

	begin(&y, &guarded, 1);
	snprintf(script, sizeof(script), "seed=%u; fence-lost times=always chance=%s", seed,
		 chance);
	ktap_ok(inject(&y, script));
	for (unsigned int i = 1; i <= jobs; i++) {
		submit(&y, 0);
		ktap_ok(bench_run(y.s.b, 10));
		lost |= (uint64_t)(fence(&y, 0) != i) << (i - 1);
	}
	end(&y);
	return lost;
}

static void by_chance(void)
{
	uint64_t lost = lost_of(64, 1, "0.25");

	ktap_ok(__builtin_popcountll(lost) > 4 && __builtin_popcountll(lost) < 32);
	ktap_eq(lost_of(64, 1, "0.25"), lost);
	ktap_ok(lost_of(64, 2, "0.25") != lost);
	ktap_eq(lost_of(64, 1, "0"), 0);
	ktap_eq(lost_of(64, 1, "1"), UINT64_MAX);
}

/* ---- Engines --------------------------------------------------------------------------------- */

static void hang(void)
{
	struct play y;
	uint64_t busy;

	begin(&y, &guarded, 2);
	ktap_ok(inject(&y, "hang queue=0 job=2"));
	submit(&y, 0);
	submit(&y, 0);
	submit(&y, 1);
	pass(&y, 1000000);
	ktap_eq(fence(&y, 0), 1);
	ktap_eq(fence(&y, 1), 1);	/* the other goes on */
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_RUNNING);
	ktap_ok(bench_queue_reg64(&y.q[0], TSR_QUEUE_PROGRESS__OFFSET) ==
		(pass(&y, 1000), bench_queue_reg64(&y.q[0], TSR_QUEUE_PROGRESS__OFFSET)));
	busy = bench_queue_reg64(&y.q[0], TSR_QUEUE_BUSY_NS__OFFSET);
	pass(&y, 12345);
	ktap_eq(bench_queue_reg64(&y.q[0], TSR_QUEUE_BUSY_NS__OFFSET), busy + 12345);
	/* the slot's reset gets it out, and the next job is as any other */
	bench_control(&y.q[0], TSR_QUEUE_OP_RESET);
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_DISABLED);
	bench_enable(&y.q[0], y.q[0].wptr);
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(fence(&y, 0), 3);
	end(&y);
}

static void hang_cleared(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(inject(&y, "hang"));
	submit(&y, 0);
	pass(&y, 1000);
	ktap_eq(fence(&y, 0), 0);
	ktap_ok(inject(&y, "clear"));
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(fence(&y, 0), 1);
	ktap_eq(*(uint8_t *)y.s.data, 1);
	end(&y);
}

static void slow(void)
{
	struct play y;
	uint64_t before;

	begin(&y, &guarded, 1);
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	before = bench_queue_reg64(&y.q[0], TSR_QUEUE_CYCLES__OFFSET);
	ktap_ok(inject(&y, "slow delay=2ms"));
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(fence(&y, 0), 2);
	/* without threads a nanosecond is a cycle */
	ktap_eq(bench_queue_reg64(&y.q[0], TSR_QUEUE_CYCLES__OFFSET) - before, before + 2000000);
	end(&y);
}

static void corrupt(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(inject(&y, "copy-corrupt skip=1"));
	for (unsigned int i = 1; i <= 3; i++) {
		submit(&y, 0);
		ktap_ok(bench_run(y.s.b, 10));
		for (unsigned int b = 0; b < FILL - 1; b++)
			ktap_ok(y.s.data[b] == i);
		ktap_eq(y.s.data[FILL - 1], i == 2 ? i ^ 1 : i);
	}
	end(&y);
}

/* ---- Fences and messages --------------------------------------------------------------------- */

static void fence_lost(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(inject(&y, "fence-lost"));
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(fence(&y, 0), 0);
	ktap_eq(messages(&y, TSR_IRQ_CLASS_JOB), 1);
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_IDLE);
	end(&y);
}

static void fence_late(void)
{
	struct play y;

	begin(&y, &guarded, 2);
	ktap_ok(inject(&y, "fence-late queue=0 delay=100us"));
	submit(&y, 0);
	submit(&y, 1);
	work(&y);
	ktap_eq(fence(&y, 0), 0);
	ktap_eq(fence(&y, 1), 1);
	ktap_eq(acknowledge(&y), 3);
	bench_advance(y.s.b, 99999);
	ktap_eq(fence(&y, 0), 0);
	bench_advance(y.s.b, 1);
	ktap_eq(fence(&y, 0), 1);
	end(&y);
}

/* Where the page has gone meanwhile nothing is written, and nothing faults. */
static void fence_late_unmapped(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(inject(&y, "fence-late delay=100us"));
	submit(&y, 0);
	work(&y);
	bench_unmap(&y.s.as[0], STAGE_DATA + (FENCE & ~4095), 4096);
	ktap_ok(bench_invalidate_all(&y.s.as[0]));
	bench_advance(y.s.b, 1000000);
	ktap_eq(fence(&y, 0), 0);
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_IDLE);
	end(&y);
}

static void fence_torn(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	*stage_word(&y.s, FENCE) = 0x1ff;
	y.jobs[0] = 0x1ff;
	ktap_ok(inject(&y, "fence-torn delay=10us"));
	submit(&y, 0);
	work(&y);
	ktap_eq(fence(&y, 0), 0x100);
	bench_advance(y.s.b, 10000);
	ktap_eq(fence(&y, 0), 0x200);
	end(&y);
}

/* A late fence wakes those that wait for its word. */
static void fence_late_wakes(void)
{
	struct stage_stream stream;
	uint64_t p[8];
	struct play y;

	begin(&y, &guarded, 2);
	ktap_ok(inject(&y, "fence-late queue=0 delay=200us"));
	stream = stage_stream(&y.s, 0x2000);
	stage_add(&stream, p, pk_wait(p, TSR_COMPARE_GE, true, STAGE_DATA + FENCE, 1));
	stage_call(&y.q[1], &stream);
	bench_fence(&y.q[1], STAGE_DATA + FENCE + 8, 5, TSR_EVENT_ALL_DONE, true);
	bench_kick(&y.q[1]);
	submit(&y, 0);
	pass(&y, 100000);
	ktap_eq(fence(&y, 1), 0);
	pass(&y, 100000);
	ktap_eq(fence(&y, 1), 5);
	end(&y);
}

static void irq_lost(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(inject(&y, "irq-lost vector=0"));
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(fence(&y, 0), 1);
	ktap_eq(messages(&y, TSR_IRQ_CLASS_JOB), 0);
	/* the event is there for whoever looks */
	ktap_eq(acknowledge(&y), 1);
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(messages(&y, TSR_IRQ_CLASS_JOB), 1);
	end(&y);
}

static void irq_lost_of_one(void)
{
	struct play y;

	begin(&y, &guarded, 2);
	ktap_ok(inject(&y, "irq-lost queue=1 times=always"));
	for (unsigned int i = 1; i <= 3; i++) {
		submit(&y, 1);
		ktap_ok(bench_run(y.s.b, 10));
		ktap_eq(acknowledge(&y), 2);
		ktap_eq(messages(&y, TSR_IRQ_CLASS_JOB), i - 1);
		submit(&y, 0);
		ktap_ok(bench_run(y.s.b, 10));
		ktap_eq(acknowledge(&y), 1);
		ktap_eq(messages(&y, TSR_IRQ_CLASS_JOB), i);
	}
	end(&y);
}

static void irq_timing(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(inject(&y, "irq-late delay=3ms; irq-twice skip=1 delay=20us"));
	submit(&y, 0);
	pass(&y, 2999999);
	ktap_eq(fence(&y, 0), 1);
	ktap_eq(messages(&y, TSR_IRQ_CLASS_JOB), 0);
	bench_advance(y.s.b, 1);
	ktap_eq(messages(&y, TSR_IRQ_CLASS_JOB), 1);
	acknowledge(&y);
	submit(&y, 0);
	pass(&y, 19999);
	ktap_eq(messages(&y, TSR_IRQ_CLASS_JOB), 2);
	ktap_eq(acknowledge(&y), 1);
	bench_advance(y.s.b, 1);
	ktap_eq(messages(&y, TSR_IRQ_CLASS_JOB), 3);
	ktap_eq(acknowledge(&y), 0);
	end(&y);
}

static void irq_early(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(inject(&y, "irq-early; hang"));
	submit(&y, 0);
	pass(&y, 1000);
	ktap_eq(fence(&y, 0), 0);
	ktap_eq(messages(&y, TSR_IRQ_CLASS_JOB), 1);
	ktap_eq(acknowledge(&y), 1);
	ktap_ok(inject(&y, "clear"));
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(fence(&y, 0), 1);
	ktap_eq(messages(&y, TSR_IRQ_CLASS_JOB), 2);
	end(&y);
}

static void doorbell_lost(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(inject(&y, "doorbell-lost"));
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(fence(&y, 0), 0);
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_IDLE);
	bench_kick(&y.q[0]);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(fence(&y, 0), 1);
	end(&y);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void translations(void)
{
	static const struct {
		const char *kind;
		enum tsr_fault code;
	} walks[] = {
		{ "mmu-unmapped", TSR_FAULT_MMU_UNMAPPED },
		{ "mmu-permission", TSR_FAULT_MMU_PERMISSION },
		{ "mmu-walk", TSR_FAULT_MMU_WALK },
		{ "mmu-walk-bus", TSR_FAULT_MMU_WALK_BUS },
		{ "bus", TSR_FAULT_BUS },
	};
	struct play y;

	begin(&y, &guarded, 2);
	for (unsigned int i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
		char script[80];

		/* a TLB that is warm does not help: making the rule has emptied it */
		submit(&y, 0);
		ktap_ok(bench_run(y.s.b, 10));
		snprintf(script, sizeof(script), "%s queue=0 addr=%#llx-%#llx", walks[i].kind,
			 STAGE_DATA, STAGE_DATA + FILL - 1);
		ktap_ok(inject(&y, script));
		submit(&y, 0);
		submit(&y, 1);
		ktap_ok(bench_run(y.s.b, 10));
		ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_FAULTED);
		ktap_eq(bench_fault(&y.q[0]), walks[i].code);
		ktap_eq(bench_queue_reg64(&y.q[0], TSR_QUEUE_FAULT_ADDR__OFFSET), STAGE_DATA);
		ktap_eq(fence(&y, 1), i + 1);
		bench_control(&y.q[0], TSR_QUEUE_OP_RESET);
		bench_enable(&y.q[0], y.q[0].wptr);
	}
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(fence(&y, 0), y.jobs[0]);
	end(&y);
}

static void tlb_stale(void)
{
	struct play y;
	uint64_t other;

	begin(&y, &guarded, 1);
	other = bench_alloc(y.s.b, 4096, 4096);
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_ok(inject(&y, "tlb-stale as=1"));
	bench_map(&y.s.as[1], STAGE_DATA, other, 4096, BENCH_RW);
	ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA, 4096));	/* completes */
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(y.s.data[0], 2);			/* the old page */
	ktap_eq(*(uint8_t *)bench_ptr(y.s.b, other, 1), 0);
	ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA, 4096));
	submit(&y, 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(y.s.data[0], 2);
	ktap_eq(*(uint8_t *)bench_ptr(y.s.b, other, 1), 3);
	end(&y);
}

static bool as_busy(struct play *y)
{
	return bench_read(y->s.b, TSR_REG_AS_STATUS(1)) & TSR_AS_STATUS_BUSY__MASK;
}

static void inv_stuck(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(inject(&y, "inv-stuck as=1"));
	ktap_ok(!bench_invalidate(&y.s.as[1], STAGE_DATA, 4096));
	ktap_ok(!bench_invalidate(&y.s.as[1], STAGE_DATA, 4096));	/* waits for the first */
	pass(&y, 10000000000);
	ktap_ok(as_busy(&y));
	ktap_eq(bench_read(y.s.b, TSR_REG_AS_INV_STARTED(1)) -
		bench_read(y.s.b, TSR_REG_AS_INV_DONE(1)), 2);
	ktap_ok(inject(&y, "clear"));
	ktap_ok(!as_busy(&y));
	ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA, 4096));
	ktap_ok(inject(&y, "inv-stuck"));
	ktap_ok(!bench_invalidate(&y.s.as[1], STAGE_DATA, 4096));
	bench_write(y.s.b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	pass(&y, 1000);
	ktap_ok(!as_busy(&y));
	end(&y);
}

/* ---- Stopping, resets, being gone ------------------------------------------------------------ */

static bool stopping(struct play *y, unsigned int n)
{
	return bench_queue_reg(&y->q[n], TSR_QUEUE_STATE__OFFSET) & TSR_QUEUE_STATE_STOPPING__MASK;
}

static void stop_stuck(void)
{
	struct play y;

	begin(&y, &guarded, 2);
	ktap_ok(inject(&y, "hang queue=0; stop-stuck queue=0; stop-stuck queue=1 delay=5ms"));
	submit(&y, 0);
	pass(&y, 1000);
	bench_control(&y.q[0], TSR_QUEUE_OP_RESET);
	bench_control(&y.q[1], TSR_QUEUE_OP_SUSPEND);
	pass(&y, 4999999);
	ktap_ok(stopping(&y, 0) && stopping(&y, 1));
	pass(&y, 1);
	ktap_ok(stopping(&y, 0) && !stopping(&y, 1));
	ktap_eq(bench_state(&y.q[1]), TSR_QUEUE_STATE_SUSPENDED);
	/* told once more, it does not listen either; the device's reset is another matter */
	bench_control(&y.q[0], TSR_QUEUE_OP_RESET);
	pass(&y, 1000);
	ktap_ok(stopping(&y, 0));
	bench_write(y.s.b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	ktap_ok(!(bench_read(y.s.b, TSR_REG_GPU_STATUS) & TSR_GPU_STATUS_RESET_BUSY__MASK));
	ktap_ok(!stopping(&y, 0));
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_DISABLED);
	end(&y);
}

static void stop_stuck_cleared(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(inject(&y, "hang; stop-stuck"));
	submit(&y, 0);
	pass(&y, 1000);
	bench_control(&y.q[0], TSR_QUEUE_OP_RESET);
	pass(&y, 1000);
	ktap_ok(stopping(&y, 0));
	ktap_ok(inject(&y, "clear"));
	ktap_ok(bench_run(y.s.b, 10));
	ktap_ok(!stopping(&y, 0));
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_DISABLED);
	end(&y);
}

static bool reset_busy(struct play *y)
{
	return bench_read(y->s.b, TSR_REG_GPU_STATUS) & TSR_GPU_STATUS_RESET_BUSY__MASK;
}

static void reset_stuck(void)
{
	struct play y;

	begin(&y, &guarded, 0);
	ktap_ok(inject(&y, "reset-stuck; reset-stuck skip=1 delay=7ms"));
	bench_write(y.s.b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	pass(&y, 10000000000);
	ktap_ok(reset_busy(&y));
	tsr_gpu_reset(y.s.b->gpu);	/* FLR */
	ktap_ok(!reset_busy(&y));
	bench_write(y.s.b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	bench_advance(y.s.b, 6999999);
	ktap_ok(reset_busy(&y));
	bench_advance(y.s.b, 1);
	ktap_ok(!reset_busy(&y));
	ktap_eq(bench_read(y.s.b, TSR_REG_GPU_RESET_COUNT), 2);
	end(&y);
}

static void flr_ignored(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(inject(&y, "flr-ignored"));
	tsr_gpu_reset(y.s.b->gpu);
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_IDLE);
	ktap_eq(bench_read(y.s.b, TSR_REG_GPU_RESET_COUNT), 0);
	tsr_gpu_reset(y.s.b->gpu);
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_DISABLED);
	ktap_eq(bench_read(y.s.b, TSR_REG_GPU_RESET_COUNT), 1);
	end(&y);
}

static void gone(void)
{
	struct play y;

	begin(&y, &guarded, 1);
	ktap_ok(inject(&y, "gone skip=1"));
	ktap_eq(bench_read(y.s.b, TSR_REG_GPU_MAGIC), TSR_MAGIC);
	ktap_eq(bench_read(y.s.b, TSR_REG_GPU_MAGIC), UINT32_MAX);
	submit(&y, 0);			/* the doorbell rings in the void */
	pass(&y, 1000000);
	ktap_eq(fence(&y, 0), 0);
	ktap_eq(messages(&y, TSR_IRQ_CLASS_JOB), 0);
	ktap_ok(inject(&y, "clear"));
	ktap_eq(bench_read(y.s.b, TSR_REG_GPU_MAGIC), TSR_MAGIC);
	bench_kick(&y.q[0]);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(fence(&y, 0), 1);
	/* FLR brings it back too */
	ktap_ok(inject(&y, "gone"));
	ktap_eq(bench_read(y.s.b, TSR_REG_GPU_MAGIC), UINT32_MAX);
	tsr_gpu_reset(y.s.b->gpu);
	ktap_eq(bench_read(y.s.b, TSR_REG_GPU_MAGIC), TSR_MAGIC);
	end(&y);
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* With workers: rules by queue and job fire where they say, many times over. */
static void with_threads(void)
{
	const struct tsr_config config = { .threads = 2, .no_inline = true, .inject_window = true };
	struct play y;

	begin(&y, &config, 3);
	y.s.b->real_clock = true;
	ktap_ok(inject(&y, "fence-lost queue=0 job=5; hang queue=1 job=4; slow queue=2 delay=1ms; "
			   "irq-twice times=always; fence-late queue=2 job=8 delay=1ms"));
	for (unsigned int i = 1; i <= 8; i++) {
		for (unsigned int n = 0; n < 3; n++)
			submit(&y, n);
		ktap_ok(stage_until(&y.q[0], TSR_QUEUE_STATE_IDLE));
		ktap_ok(stage_until(&y.q[2], TSR_QUEUE_STATE_IDLE));
		if (i < 4)
			ktap_ok(stage_until(&y.q[1], TSR_QUEUE_STATE_IDLE));
		ktap_eq(fence(&y, 0), i == 5 ? 4 : i);
		ktap_eq(fence(&y, 1), i < 4 ? i : 3);
	}
	bench_control(&y.q[1], TSR_QUEUE_OP_RESET);
	ktap_ok(stage_until(&y.q[1], TSR_QUEUE_STATE_DISABLED));
	/* the late value comes by the clock */
	for (unsigned int i = 0; i < 10000 && fence(&y, 2) != 8; i++) {
		ktap_ok(bench_run(y.s.b, 10));
		usleep(1000);
	}
	ktap_eq(fence(&y, 2), 8);
	ktap_eq(fired(&y, TSR_INJECTION_HANG), 1);
	end(&y);
}

/* A device that goes in the middle of its work: its workers let others have the lock. */
static void gone_with_threads(void)
{
	const struct tsr_config config = { .threads = 2, .no_inline = true, .inject_window = true };
	struct play y;

	begin(&y, &config, 3);
	y.s.b->real_clock = true;
	for (unsigned int i = 0; i < 20; i++) {
		ktap_ok(inject(&y, "slow delay=200us times=always"));
		for (unsigned int n = 0; n < 3; n++)
			submit(&y, n);
		ktap_ok(inject(&y, "gone"));
		ktap_eq(bench_read(y.s.b, TSR_REG_GPU_MAGIC), UINT32_MAX);
		usleep(300);
		tsr_gpu_timer(y.s.b->gpu);
		ktap_eq(bench_read(y.s.b, TSR_REG_GPU_MAGIC), UINT32_MAX);
		ktap_ok(inject(&y, "clear"));
		for (unsigned int n = 0; n < 3; n++) {
			bench_kick(&y.q[n]);
			ktap_ok(stage_until(&y.q[n], TSR_QUEUE_STATE_IDLE));
			ktap_eq(fence(&y, n), i + 1);
		}
	}
	end(&y);
}

/*
 * Which occasions a rule is about: of queue 2, which copies and is in its fourth job; of queue 3,
 * which renders; of no queue.
 */
static void fitting(void)
{
	static const struct {
		const char *rule;
		unsigned int kind;
		uint64_t addr, queues;
		unsigned int as, vector;
		bool of[3];
	} rows[] = {
		{ "hang times=always", TSR_INJECTION_HANG, 0, 0, 0, 0, { true, true, true } },
		{ "hang times=always queue=2", TSR_INJECTION_HANG, 0, 0, 0, 0, { true } },
		{ "hang times=always queue=3", TSR_INJECTION_HANG, 0, 0, 0, 0, { false, true } },
		{ "hang times=always class=copy", TSR_INJECTION_HANG, 0, 0, 0, 0, { true } },
		{ "hang times=always class=render", TSR_INJECTION_HANG, 0, 0, 0, 0,
		  { false, true } },
		{ "hang times=always job=4", TSR_INJECTION_HANG, 0, 0, 0, 0, { true } },
		{ "hang times=always job=3", TSR_INJECTION_HANG, 0, 0, 0, 0, { false } },
		{ "irq-lost times=always queue=5", TSR_INJECTION_IRQ_LOST, 0, 1u << 5, 0, 0,
		  { false, false, true } },
		{ "irq-lost times=always queue=5", TSR_INJECTION_IRQ_LOST, 0, 1u << 4, 0, 0,
		  { false } },
		{ "irq-lost times=always vector=1", TSR_INJECTION_IRQ_LOST, 0, 0, 0, 1,
		  { true, true, true } },
		{ "irq-lost times=always vector=1", TSR_INJECTION_IRQ_LOST, 0, 0, 0, 0, { false } },
		{ "bus times=always as=3", TSR_INJECTION_BUS, 0, 0, 3, 0, { true, true, true } },
		{ "bus times=always as=3", TSR_INJECTION_BUS, 0, 0, 2, 0, { false } },
		{ "bus times=always addr=0x1000-0x1fff", TSR_INJECTION_BUS, 0x1000, 0, 0, 0,
		  { true, true, true } },
		{ "bus times=always addr=0x1000-0x1fff", TSR_INJECTION_BUS, 0x1fff, 0, 0, 0,
		  { true, true, true } },
		{ "bus times=always addr=0x1000-0x1fff", TSR_INJECTION_BUS, 0xfff, 0, 0, 0,
		  { false } },
		{ "bus times=always addr=0x1000-0x1fff", TSR_INJECTION_BUS, 0x2000, 0, 0, 0,
		  { false } },
		{ "bus times=always", TSR_INJECTION_HANG, 0, 0, 0, 0, { false } },
	};
	struct bench *b = bench_new(NULL);
	struct tsr_queue *queue = b->gpu->queue;
	char err[128];

	queue[2].config = TSR_ENGINE_CLASS_COPY << TSR_QUEUE_CONFIG_CLASS__SHIFT;
	queue[3].config = TSR_ENGINE_CLASS_RENDER << TSR_QUEUE_CONFIG_CLASS__SHIFT;
	atomic_store(&queue[2].calls, 3);
	atomic_store(&queue[2].in_call, true);
	for (unsigned int i = 0; i < 3 * sizeof(rows) / sizeof(rows[0]); i++) {
		const struct tsr_inject_at at = {
			.queue = i % 3 < 2 ? &queue[2 + i % 3] : NULL, .queues = rows[i / 3].queues,
			.as = rows[i / 3].as, .vector = rows[i / 3].vector,
			.addr = rows[i / 3].addr,
		};

		ktap_ok(tsr_gpu_inject(b->gpu, "clear", err, sizeof(err)));
		if (!ktap_ok(tsr_gpu_inject(b->gpu, rows[i / 3].rule, err, sizeof(err))))
			ktap_note("%s", err);
		if (!ktap_eq(tsr_inject_ask(b->gpu, rows[i / 3].kind, &at, NULL),
			     rows[i / 3].of[i % 3]))
			ktap_note("row %u, %u", i / 3, i % 3);
	}
	bench_free(b);
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS9] scripts of faults: the grammar", accepted);
	ktap_run("[SYS9] scripts of faults: what is refused, and where", refused);
	ktap_run("scripts of faults: at most so many rules", too_many);
	ktap_run("scripts of faults from the guest, if the device lets it", window);
	ktap_run("faults of chosen queues, jobs, occasions", which_occasion);
	ktap_run("faults of queues, classes, jobs, address spaces, addresses", fitting);
	ktap_run("[SYS9] faults by chance: the same with the same seed", by_chance);
	ktap_run("[SYS9] fault: hang", hang);
	ktap_run("fault: a hang ends when its rule goes", hang_cleared);
	ktap_run("[SYS9] fault: slow", slow);
	ktap_run("[SYS9] fault: copy-corrupt", corrupt);
	ktap_run("[SYS9] fault: fence-lost", fence_lost);
	ktap_run("[SYS9] fault: fence-late", fence_late);
	ktap_run("fault: fence-late to a page that has gone", fence_late_unmapped);
	ktap_run("[SYS9] fault: fence-torn", fence_torn);
	ktap_run("fault: fence-late wakes who waits for the word", fence_late_wakes);
	ktap_run("[SYS9] fault: irq-lost", irq_lost);
	ktap_run("fault: irq-lost of one queue", irq_lost_of_one);
	ktap_run("[SYS9] faults: irq-late, irq-twice", irq_timing);
	ktap_run("[SYS9] fault: irq-early", irq_early);
	ktap_run("[SYS9] fault: doorbell-lost", doorbell_lost);
	ktap_run("[SYS9] faults: mmu-unmapped, -permission, -walk, -walk-bus, bus", translations);
	ktap_run("[SYS9] fault: tlb-stale", tlb_stale);
	ktap_run("[SYS9] fault: inv-stuck", inv_stuck);
	ktap_run("[SYS9] fault: stop-stuck", stop_stuck);
	ktap_run("fault: stop-stuck ends when its rule goes", stop_stuck_cleared);
	ktap_run("[SYS9] fault: reset-stuck", reset_stuck);
	ktap_run("[SYS9] fault: flr-ignored", flr_ignored);
	ktap_run("[SYS9] fault: gone", gone);
	ktap_run("faults by queue and job with workers", with_threads);
	ktap_run("fault: gone, in the middle of work, with workers", gone_with_threads);
	return ktap_finish();
}
