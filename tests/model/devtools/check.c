/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * The contract checker: each mistake a driver can make is reported with what is needed to find it,
 * what only looks like one is not, and nothing is changed by it.
 */
#include <string.h>

#include "check_play.h"
#include "device/gpu.h"

static void silent(struct play *y)
{
	char text[512];

	if (ktap_eq(total(y), 0))
		return;
	tsr_gpu_check_last(y->s.b->gpu, text, sizeof(text));
	ktap_note("%s", text);
}

/* One report, of that kind, about that queue. */
static void reported(struct play *y, enum tsr_check_kind kind, unsigned int queue)
{
	uint32_t last;

	ktap_eq(count(y, kind), 1);
	if (!ktap_eq(total(y), 1)) {
		char text[512];

		tsr_gpu_check_last(y->s.b->gpu, text, sizeof(text));
		ktap_note("%s", text);
	}
	last = bench_read(y->s.b, TSR_REG_CHECK_LAST);
	ktap_ok(last & TSR_CHECK_LAST_VALID__MASK);
	ktap_eq(bench_field(last, TSR_CHECK_LAST_KIND__MASK), kind);
	if (queue < 2) {
		ktap_ok(last & TSR_CHECK_LAST_QUEUE_VALID__MASK);
		ktap_eq(bench_field(last, TSR_CHECK_LAST_QUEUE__MASK), queue);
	}
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void no_block(void)
{
	const struct tsr_config off = { .no_inline = true };
	struct play y;

	begin(&y, &off);
	ktap_ok(!(bench_read64(y.s.b, TSR_REG_GPU_FEATURES) & TSR_FEATURE_CHECK));
	bench_write64(y.s.b, TSR_REG_CHECK_PAGES_ADDR, 0x1000);
	ktap_eq(bench_read64(y.s.b, TSR_REG_CHECK_PAGES_ADDR), 0);
	emit(&y, 0);
	bench_kick(&y.q[0]);
	*stage_word(&y.s, 0) = 0;
	ktap_ok(bench_run(y.s.b, 10));
	bench_advance(y.s.b, 3 * (uint64_t)TSR_CHECK_GRACE_NS);
	ktap_eq(total(&y), 0);
	end(&y);
}

/* Rings wrap, entries change in all the ways that are allowed: nothing to report. */
static void good_driver(void)
{
	struct play y;

	begin(&y, &guarded);
	ktap_ok(bench_read64(y.s.b, TSR_REG_GPU_FEATURES) & TSR_FEATURE_CHECK);
	for (unsigned int i = 0; i < 200; i++) {
		emit(&y, 0);
		if (i % 3)
			emit(&y, 0);
		job(&y, 0);
		job(&y, 1);
		if (i == 100) {		/* take a page away as it should be done */
			bench_map(&y.s.as[1], STAGE_DATA + PAGE, bench_alloc(y.s.b, 4096, 4096),
				  4096, BENCH_RW);
			ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA + PAGE, 4096));
		}
		if (i == 150) {
			bench_control(&y.q[1], TSR_QUEUE_OP_RESET);
			bench_write64(y.s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_GLOBAL), UINT64_MAX);
			bench_enable(&y.q[1], y.q[1].wptr);
			y.jobs[1] = 0;	/* ENABLE forgets the numbers */
		}
	}
	bench_advance(y.s.b, 3 * (uint64_t)TSR_CHECK_GRACE_NS);
	ktap_eq(pending(&y), 0);
	silent(&y);
	end(&y);
}

static void stale(void)
{
	uint64_t other;
	struct play y;

	begin(&y, &guarded);
	other = bench_alloc(y.s.b, 4096, 4096);
	job(&y, 1);
	bench_map(&y.s.as[1], STAGE_DATA + PAGE, other, 4096, BENCH_RW);
	ktap_eq(pending(&y), 0);		/* changed, not used */
	job(&y, 1);
	ktap_eq(pending(&y), 1);
	bench_advance(y.s.b, TSR_CHECK_GRACE_NS / 2);
	ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA + PAGE, 4096));
	ktap_eq(pending(&y), 0);		/* late, but it came */
	job(&y, 1);
	ktap_eq(*(uint8_t *)bench_ptr(y.s.b, other, 1), 3);

	bench_unmap(&y.s.as[1], STAGE_DATA + PAGE, 4096);
	job(&y, 1);				/* through what was mapped */
	ktap_eq(*(uint8_t *)bench_ptr(y.s.b, other, 1), 4);
	ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA, 4096));	/* of another page */
	bench_advance(y.s.b, TSR_CHECK_GRACE_NS - 1);
	ktap_eq(pending(&y), 1);
	ktap_eq(total(&y), 0);
	bench_advance(y.s.b, 1);
	ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA + PAGE, 4096));	/* too late */
	reported(&y, TSR_CHECK_KIND_STALE_TRANSLATION, 1);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_ADDR), STAGE_DATA + PAGE);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_WAS), other);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_IS), 0);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_JOB), 4);
	ktap_eq(bench_field(bench_read(y.s.b, TSR_REG_CHECK_LAST), TSR_CHECK_LAST_AS__MASK), 1);
	end(&y);
}

/* A permission taken away is as good as a mapping; one that is given is nothing. */
static void stale_permission(void)
{
	struct play y;

	begin(&y, &guarded);
	job(&y, 0);
	*bench_pte(&y.s.as[1], STAGE_DATA + PAGE, 0) |= TSR_PTE_EXEC__MASK;
	job(&y, 0);
	ktap_eq(pending(&y), 0);
	*bench_pte(&y.s.as[1], STAGE_DATA + PAGE, 0) &= ~TSR_PTE_WRITE__MASK;
	job(&y, 0);
	ktap_eq(pending(&y), 1);
	bench_advance(y.s.b, TSR_CHECK_GRACE_NS);
	reported(&y, TSR_CHECK_KIND_STALE_TRANSLATION, 0);
	end(&y);
}

static void freed(void)
{
	uint64_t bus;
	struct play y;

	begin(&y, &guarded);
	bus = y.s.data_bus + PAGE;
	pages(&y, TSR_CHECK_PAGES_TAKEN, bus, FILL);
	pages(&y, TSR_CHECK_PAGES_TAKEN, bus, FILL);
	job(&y, 0);
	pages(&y, TSR_CHECK_PAGES_FREED, bus, FILL);
	job(&y, 0);				/* somebody else still has it mapped */
	ktap_eq(total(&y), 0);
	pages(&y, TSR_CHECK_PAGES_FREED, bus + 4095, 1);
	pages(&y, TSR_CHECK_PAGES_FREED, 0, UINT64_MAX);	/* too large: not heard */
	job(&y, 0);
	reported(&y, TSR_CHECK_KIND_FREED_PAGE, 0);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_ADDR), STAGE_DATA + PAGE);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_WAS), bus);
	pages(&y, TSR_CHECK_PAGES_TAKEN, bus, FILL);
	job(&y, 0);
	ktap_eq(total(&y), 1);
	end(&y);
}

/* Which pages a range names, at the page's edges and at the limits of a range. */
static void ranges(void)
{
	uint64_t bus;
	struct play y;

	begin(&y, &guarded);
	bus = y.s.data_bus + PAGE;
	const struct {
		uint64_t addr, size;
		bool named;
	} rows[] = {
		{ bus - 1, 1, false }, { bus - 1, 2, true }, { bus - 4096, 4096, false },
		{ bus - 4096, 4097, true }, { bus, 1, true }, { bus + 4095, 1, true },
		{ bus + 4096, 1, false }, { bus, 0, false }, { bus, TSR_CHECK_PAGES_MAX, true },
		{ bus, TSR_CHECK_PAGES_MAX + 1ull, false },
		{ bus + 4096 - TSR_CHECK_PAGES_MAX, TSR_CHECK_PAGES_MAX, true },
		{ -4096ull, 4096, false }, { -4096ull, 4097, false },
		{ -4096ull, 4096 + bus + 4096, false },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pages(&y, TSR_CHECK_PAGES_FREED, rows[i].addr, rows[i].size);
		if (!ktap_eq(is_freed(&y), rows[i].named))
			ktap_note("row %u", i);
		ktap_ok(!is_freed(&y));
	}
	end(&y);
}

/* A page is free when it has been freed as often as it was taken, up to 253 times. */
static void counted(void)
{
	static const unsigned int times[] = { 1, 2, 3, 253, 254, 400 };
	uint64_t bus;
	struct play y;

	begin(&y, &guarded);
	bus = y.s.data_bus + PAGE;
	for (unsigned int i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		for (unsigned int n = 0; n < times[i]; n++)
			pages(&y, TSR_CHECK_PAGES_TAKEN, bus, 1);
		for (unsigned int n = 1; n < times[i]; n++)
			pages(&y, TSR_CHECK_PAGES_FREED, bus, 1);
		if (!ktap_ok(!is_freed(&y)))
			ktap_note("%u times, one less freed", times[i]);
		pages(&y, TSR_CHECK_PAGES_FREED, bus, 1);
		if (!ktap_eq(is_freed(&y), times[i] < 254))
			ktap_note("%u times", times[i]);
	}
	end(&y);
}

/* A page that somebody else still has mapped, one that is free: neither is known any more. */
static void forgotten(void)
{
	uint64_t bus;
	struct play y;

	begin(&y, &guarded);
	bus = y.s.data_bus + PAGE;
	pages(&y, TSR_CHECK_PAGES_TAKEN, bus, FILL);
	pages(&y, TSR_CHECK_PAGES_FREED, bus, FILL);
	pages(&y, TSR_CHECK_PAGES_FORGET, 0, 0);
	job(&y, 0);
	ktap_eq(total(&y), 0);
	pages(&y, TSR_CHECK_PAGES_TAKEN, bus, FILL);
	pages(&y, TSR_CHECK_PAGES_TAKEN, bus, FILL);
	pages(&y, TSR_CHECK_PAGES_FORGET, 0, 0);
	pages(&y, TSR_CHECK_PAGES_TAKEN, bus, FILL);
	pages(&y, TSR_CHECK_PAGES_FREED, bus, FILL);
	job(&y, 0);
	reported(&y, TSR_CHECK_KIND_FREED_PAGE, 0);
	end(&y);
}

/* The word of the ring of queue 0 at @position. */
static uint64_t *ring_word(struct play *y, uint32_t position)
{
	uint64_t bus = y->q[0].ring_bus + (position & (y->q[0].size - 1));

	return bench_ptr(y->s.b, bus, 8);
}

static void overwritten(void)
{
	uint32_t at;
	struct play y;

	begin(&y, &guarded);
	job(&y, 0);
	at = y.q[0].wptr;
	emit(&y, 0);
	bench_kick(&y.q[0]);
	*ring_word(&y, at + 8) += 8;		/* CALL's address, between doorbell and fetch */
	bench_run(y.s.b, 10);
	ktap_eq(count(&y, TSR_CHECK_KIND_RING_OVERWRITTEN), 1);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_IS) - last64(&y, TSR_REG_CHECK_LAST_WAS), 8);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_ADDR), y.q[0].ring_va + at + 8);
	end(&y);
}

/* A job is announced while the ring still has what lay there before; @first: it runs like that. */
static void early(bool first)
{
	uint64_t kept[64];
	uint32_t from, n;
	struct play y;

	begin(&y, &guarded);
	job(&y, 0);
	from = y.q[0].wptr;
	emit(&y, 0);
	n = (y.q[0].wptr - from) / 8;
	for (uint32_t i = 0; i < n; i++) {
		kept[i] = *ring_word(&y, from + 8 * i);
		pk_nop(ring_word(&y, from + 8 * i), 1);
	}
	bench_control(&y.q[0], TSR_QUEUE_OP_RESET);
	bench_enable(&y.q[0], from);	/* the queue fetches the words there */
	y.q[0].wptr = from + 8 * n;
	bench_kick(&y.q[0]);
	if (first)
		ktap_ok(bench_run(y.s.b, 10));
	for (uint32_t i = 0; i < n; i++)
		*ring_word(&y, from + 8 * i) = kept[i];
	if (first)
		job(&y, 0);
	else
		ktap_ok(bench_run(y.s.b, 10));
	reported(&y, TSR_CHECK_KIND_DOORBELL_EARLY, 0);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_IS), kept[0]);
	end(&y);
}

static void early_seen(void)
{
	early(false);
	early(true);
}

static void backwards(void)
{
	struct play y;

	begin(&y, &guarded);
	job(&y, 0);
	job(&y, 1);
	job(&y, 0);
	y.jobs[0] = 0;
	job(&y, 0);
	reported(&y, TSR_CHECK_KIND_FENCE_BACKWARDS, 0);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_WAS), 2);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_IS), 1);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_ADDR), STAGE_DATA + FENCE);
	end(&y);
}

static void ignored(void)
{
	struct play y;

	begin(&y, &guarded);
	emit(&y, 1);
	bench_kick(&y.q[1]);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(pending(&y), 1);
	bench_advance(y.s.b, TSR_CHECK_GRACE_NS - 1);
	acknowledge(&y);
	ktap_eq(pending(&y), 0);
	emit(&y, 1);
	bench_kick(&y.q[1]);
	ktap_ok(bench_run(y.s.b, 10));
	bench_advance(y.s.b, TSR_CHECK_GRACE_NS);
	reported(&y, TSR_CHECK_KIND_IRQ_IGNORED, 9);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_ADDR), TSR_IRQ_CLASS_JOB);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_IS), 1);
	bench_advance(y.s.b, TSR_CHECK_GRACE_NS);
	ktap_eq(count(&y, TSR_CHECK_KIND_IRQ_IGNORED), 1);	/* once is enough */
	end(&y);
}

static void ring_fault(void)
{
	struct play y;

	begin(&y, &guarded);
	bench_fence(&y.q[0], 0x7000000, 1, TSR_EVENT_ALL_DONE, false);
	bench_kick(&y.q[0]);
	bench_run(y.s.b, 10);
	bench_write64(y.s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_FAULT), 3);
	reported(&y, TSR_CHECK_KIND_RING_FAULT, 0);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_ADDR), 0x7000000);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_WAS), TSR_FAULT_MMU_UNMAPPED);
	end(&y);

	/* a user's mistake is not the driver's */
	begin(&y, &guarded);
	bench_unmap(&y.s.as[1], STAGE_DATA + PAGE, 4096);
	ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA + PAGE, 4096));
	emit(&y, 0);
	bench_kick(&y.q[0]);
	bench_run(y.s.b, 10);
	ktap_eq(bench_fault(&y.q[0]), TSR_FAULT_MMU_UNMAPPED);
	ktap_eq(total(&y), 0);
	end(&y);
}

static void as_in_use(void)
{
	struct play y;

	begin(&y, &guarded);
	job(&y, 0);
	bench_control(&y.q[1], TSR_QUEUE_OP_RESET);
	bench_write64(y.s.b, TSR_REG_AS_BASE(1), 0);
	ktap_eq(total(&y), 0);
	bench_write(y.s.b, TSR_REG_AS_COMMAND(1), TSR_INV_OP_ALL);
	reported(&y, TSR_CHECK_KIND_AS_IN_USE, 0);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_IS), 0);
	end(&y);
}

static void doorbell_disabled(void)
{
	struct play y;

	begin(&y, &guarded);
	bench_control(&y.q[1], TSR_QUEUE_OP_RESET);
	bench_write(y.s.b, TSR_REG_DOORBELL_RING(1), 8);
	reported(&y, TSR_CHECK_KIND_DOORBELL_DISABLED, 1);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_IS), 8);
	end(&y);
}

/* Injected faults are not the driver's mistakes. Its other mistakes are reported. */
static void excused(void)
{
	struct play y;
	char err[64];

	begin(&y, &guarded);
	ktap_ok(tsr_gpu_inject(y.s.b->gpu, "tlb-stale", err, sizeof(err)));
	job(&y, 0);
	bench_unmap(&y.s.as[1], STAGE_DATA + PAGE, 4096);
	ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA + PAGE, 4096));
	job(&y, 0);
	bench_advance(y.s.b, TSR_CHECK_GRACE_NS);
	ktap_eq(total(&y), 0);
	y.jobs[0] = 0;
	job(&y, 0);
	reported(&y, TSR_CHECK_KIND_FENCE_BACKWARDS, 0);
	end(&y);
}

/* The text says what and where, and what the driver did before. */
static void text(void)
{
	char t[512];
	struct play y;

	begin(&y, &guarded);
	tsr_gpu_check_last(y.s.b->gpu, t, sizeof(t));
	ktap_eq(t[0], 0);
	job(&y, 1);
	y.jobs[1] = 0;
	emit(&y, 1);
	bench_kick(&y.q[1]);
	bench_advance(y.s.b, 1500000);
	bench_run(y.s.b, 10);
	tsr_gpu_check_last(y.s.b->gpu, t, sizeof(t));
	if (!ktap_ok(strstr(t, "driver bug FENCE_BACKWARDS: queue 1 (copy) job ") == t) ||
	    !ktap_ok(strstr(t, "was 0x1 is 0x1") != NULL) ||
	    !ktap_ok(strstr(t, "the driver wrote DOORBELL.RING[1] 0x") != NULL) ||
	    !ktap_ok(strstr(t, ", IRQ[0].CLEAR 0x") != NULL) ||
	    !ktap_ok(strstr(t, " ms earlier") != NULL))
		ktap_note("%s", t);
	ktap_ok(last64(&y, TSR_REG_CHECK_LAST_TIME) > 0);
	end(&y);
}

/* It says the last four registers the driver wrote, the latest first, or as many as there are. */
static void latest_writes(void)
{
	for (unsigned int before = 0; before < 40; before++) {
		struct bench *b = bench_new(&guarded);
		const char *at;
		char t[512];

		for (unsigned int i = 0; i < before; i++)
			bench_write(b, TSR_REG_SEMAPHORE_VALUE(0), 0x1000 + i);
		bench_write(b, TSR_REG_DOORBELL_RING(1), 8);
		tsr_gpu_check_last(b->gpu, t, sizeof(t));
		at = strstr(t, "; before it the driver wrote DOORBELL.RING[1] 0x8 ");
		for (unsigned int i = 0; at && i < before && i < 3; i++) {
			char want[32];

			snprintf(want, sizeof(want), "0x%x ", 0x1000 + before - 1 - i);
			at = strchr(at, ',');
			at = at ? strstr(at + 1, "0x") : NULL;
			at = at && !strncmp(at, want, strlen(want)) ? at : NULL;
		}
		if (!ktap_ok(at && !strchr(at, ',')))
			ktap_note("%u writes: %s", before, t);
		bench_free(b);
	}
}

/* Vertical blanks and the like are not judged, and leave alone what the driver says of memory. */
static void heads(void)
{
	struct tsr_config config = guarded;
	const uint64_t all = UINT64_MAX;
	struct play y;

	config.heads = 3;
	begin(&y, &config);
	bench_write64(y.s.b, TSR_REG_CHECK_PAGES_ADDR, 0x123456789000);
	bench_write64(y.s.b, TSR_REG_CHECK_PAGES_SIZE, 0x1000);
	bench_write64(y.s.b, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_DISPLAY), all);
	tsr_irq_raise(&y.s.b->gpu->irq, TSR_IRQ_CLASS_DISPLAY, all);
	bench_write64(y.s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_DISPLAY), all);
	tsr_irq_raise(&y.s.b->gpu->irq, TSR_IRQ_CLASS_DISPLAY, all);
	ktap_eq(bench_read64(y.s.b, TSR_REG_CHECK_PAGES_ADDR), 0x123456789000);
	ktap_eq(bench_read64(y.s.b, TSR_REG_CHECK_PAGES_SIZE), 0x1000);
	bench_advance(y.s.b, 3 * (uint64_t)TSR_CHECK_GRACE_NS);
	ktap_eq(total(&y), 0);
	end(&y);
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS9] without the property there is no checker", no_block);
	ktap_run("[SYS9] a driver that does everything right is not reported", good_driver);
	ktap_run("[SYS9] a translation used after it was taken away", stale);
	ktap_run("[SYS9] a permission that is gone is missed, a new one is not", stale_permission);
	ktap_run("[SYS9] an access to memory the driver has freed", freed);
	ktap_run("[SYS9] the pages of a range", ranges);
	ktap_run("[SYS9] a page is taken and freed many times", counted);
	ktap_run("[SYS9] memory that is forgotten is not judged until it is mentioned again",
		 forgotten);
	ktap_run("[SYS9] a ring written behind its doorbell", overwritten);
	ktap_run("[SYS9] a doorbell before the words it announces", early_seen);
	ktap_run("[SYS9] fence numbers that go backwards", backwards);
	ktap_run("[SYS9] an interrupt nobody clears", ignored);
	ktap_run("[SYS9] interrupts of heads are none of its business", heads);
	ktap_run("[SYS9] faults of the ring itself, and not of the user's streams", ring_fault);
	ktap_run("[SYS9] an address space that is switched off under a slot", as_in_use);
	ktap_run("[SYS9] a doorbell of a slot that is disabled", doorbell_disabled);
	ktap_run("[SYS9] faults on purpose are not the driver's", excused);
	ktap_run("[SYS9] the text of a report", text);
	ktap_run("[SYS9] the text says what was written last", latest_writes);
	return ktap_finish();
}
