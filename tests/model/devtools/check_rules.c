/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * General rules of the contract checker (Documentation/hw/debug-unit.md), case by case: every
 * change of an entry, every event, every fault that excuses, more of everything than is kept.
 */
#include "check_play.h"
#include "devtools/devtools.h"

/* Each page is suspected once, by itself; only an invalidation of that page in time clears it. */
static void suspects(void)
{
	enum { PAGES = 3 };
	uint64_t other;
	struct play y;

	begin(&y, &guarded);
	other = bench_alloc(y.s.b, PAGES * 4096, 4096);
	use(&y, PAGE, PAGES * 4096, true, true);
	bench_map(&y.s.as[1], STAGE_DATA + PAGE, other, PAGES * 4096, BENCH_RW);
	use(&y, PAGE, 4096, false, true);
	ktap_eq(pending(&y), 1);
	use(&y, PAGE, PAGES * 4096, true, true);
	use(&y, PAGE, PAGES * 4096, true, true);
	ktap_eq(pending(&y), PAGES);
	ktap_ok(bench_invalidate_all(&y.s.as[0]));	/* who is not suspected */
	ktap_eq(pending(&y), PAGES);
	ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA + PAGE - 4096, 4096));
	ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA + PAGE + PAGES * 4096, 4096));
	ktap_eq(pending(&y), PAGES);
	ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA + PAGE + 4096, 4096));
	ktap_eq(pending(&y), PAGES - 1);
	bench_advance(y.s.b, TSR_CHECK_GRACE_NS);
	pending(&y);
	ktap_eq(count(&y, TSR_CHECK_KIND_STALE_TRANSLATION), PAGES - 1);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_ADDR), STAGE_DATA + PAGE + 2 * 4096);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_WAS), y.s.data_bus + PAGE + 2 * 4096);
	end(&y);
}

#define LOCAL_SIZE (2ull << 20)

/* The parts of an entry for one of two pages, of system memory or of local memory. */
struct entry {
	unsigned int page;
	uint64_t bits;			/* 0: there is none */
};

static void set_entry(struct play *y, uint64_t bus, const struct entry *e)
{
	uint64_t base = e->bits & TSR_PTE_LOCAL__MASK ? 0 : bus;

	bench_unmap(&y->s.as[1], STAGE_DATA + PAGE, 4096);
	if (e->bits)
		bench_map(&y->s.as[1], STAGE_DATA + PAGE, base + e->page * 4096, 4096, e->bits);
}

/* Changes of an entry in use: the memory must stay where it was, and the access allowed. */
static void changes(void)
{
	enum { W = TSR_PTE_WRITE__MASK, RW = BENCH_RW };
	const uint64_t null = TSR_PTE_NULL__MASK, local = TSR_PTE_LOCAL__MASK;
	const struct {
		struct entry from, to;
		bool read, write;		/* suspicious when it is read, written */
	} rows[] = {
		{ { 0, RW }, { 0, RW }, false, false },
		{ { 0, RW }, { 0, BENCH_RWX }, false, false },
		{ { 0, RW }, { 0, BENCH_R }, false, true },
		{ { 0, RW }, { 0, W }, true, false },
		{ { 0, RW }, { 1, RW }, true, true },
		{ { 0, RW }, { 0, RW | null }, true, true },
		{ { 0, RW | null }, { 0, RW }, true, true },
		{ { 0, RW | null }, { 1, RW | null }, false, false },
		{ { 0, RW | null }, { 0, BENCH_R | null }, false, true },
		{ { 0, RW | local }, { 0, RW | local }, false, false },
		{ { 0, RW | local }, { 1, RW | local }, true, true },
		{ { 0, RW | local }, { 0, RW }, true, true },
		{ { 0, RW }, { 0, RW | local }, true, true },
		{ { 0, RW }, { 0, 0 }, true, true },
	};
	struct tsr_config config = guarded;

	config.local_size = LOCAL_SIZE;
	for (unsigned int i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const bool write = i & 1, wanted = write ? rows[i / 2].write : rows[i / 2].read;
		struct play y;
		uint64_t bus;

		begin(&y, &config);
		bus = bench_alloc(y.s.b, 2 * 4096, 4096);
		set_entry(&y, bus, &rows[i / 2].from);
		ktap_ok(bench_invalidate(&y.s.as[1], STAGE_DATA + PAGE, 4096));
		use(&y, PAGE, 4096, !write, write);
		ktap_eq(pending(&y), 0);
		set_entry(&y, bus, &rows[i / 2].to);
		use(&y, PAGE, 4096, !write, write);
		if (!ktap_eq(pending(&y), wanted))
			ktap_note("row %u, %s", i / 2, write ? "written" : "read");
		end(&y);
	}
}

/*
 * The ring in local memory: writes after its doorbell are noticed. @beyond: its entry then points
 * past the end of that memory, whose contents are unknown.
 */
static void local_ring(bool beyond)
{
	struct tsr_config config = guarded;
	struct play y;
	uint64_t at;
	uint32_t wptr;

	config.local_size = LOCAL_SIZE;
	begin(&y, &config);
	at = LOCAL_SIZE - y.q[0].size;
	bench_map(&y.s.as[0], y.q[0].ring_va, at, y.q[0].size, BENCH_RX | TSR_PTE_LOCAL__MASK);
	ktap_ok(bench_invalidate_all(&y.s.as[0]));
	wptr = y.q[0].wptr;
	emit(&y, 0);
	memcpy(y.s.b->local + at, bench_ptr(y.s.b, y.q[0].ring_bus, y.q[0].size), y.q[0].size);
	bench_kick(&y.q[0]);
	*(uint64_t *)(y.s.b->local + at + wptr + 8) += 8;	/* CALL's address */
	if (beyond)
		bench_map(&y.s.as[0], y.q[0].ring_va, LOCAL_SIZE, y.q[0].size,
			  BENCH_RX | TSR_PTE_LOCAL__MASK);
	bench_run(y.s.b, 10);
	ktap_eq(count(&y, TSR_CHECK_KIND_RING_OVERWRITTEN), !beyond);
	ktap_eq(count(&y, TSR_CHECK_KIND_DOORBELL_EARLY), 0);
	if (!beyond) {
		ktap_eq(last64(&y, TSR_REG_CHECK_LAST_ADDR), y.q[0].ring_va + wptr + 8);
		ktap_eq(last64(&y, TSR_REG_CHECK_LAST_IS) - last64(&y, TSR_REG_CHECK_LAST_WAS), 8);
	}
	end(&y);
}

static void local_rings(void)
{
	local_ring(false);
	local_ring(true);
}

/* The kinds that each injected fault excuses: debug-unit.md, "Contract checker". */
static void excuses(void)
{
	static const uint32_t keeps_from_reset = 1u << TSR_CHECK_KIND_AS_IN_USE |
						 1u << TSR_CHECK_KIND_DOORBELL_DISABLED;
	static const struct {
		enum tsr_injection fault;
		uint32_t kinds;			/* of the three that are tried */
	} rows[] = {
		{ TSR_INJECTION_HANG, 0 }, { TSR_INJECTION_TLB_STALE, 0 },
		{ TSR_INJECTION_STOP_STUCK, keeps_from_reset },
		{ TSR_INJECTION_RESET_STUCK, keeps_from_reset },
		{ TSR_INJECTION_FLR_IGNORED, keeps_from_reset },
		{ TSR_INJECTION_IRQ_LOST, 1u << TSR_CHECK_KIND_IRQ_IGNORED },
		{ TSR_INJECTION_IRQ_LATE, 1u << TSR_CHECK_KIND_IRQ_IGNORED },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct play y;

		begin(&y, &guarded);
		job(&y, 0);
		tsr_check_excuse(y.s.b->gpu, rows[i].fault);
		emit(&y, 1);
		bench_kick(&y.q[1]);
		ktap_ok(bench_run(y.s.b, 10));
		bench_advance(y.s.b, TSR_CHECK_GRACE_NS);
		pending(&y);
		bench_control(&y.q[1], TSR_QUEUE_OP_RESET);
		bench_write(y.s.b, TSR_REG_DOORBELL_RING(1), 8);
		bench_write64(y.s.b, TSR_REG_AS_BASE(1), 0);
		bench_write(y.s.b, TSR_REG_AS_COMMAND(1), TSR_INV_OP_ALL);
		for (unsigned int kind = 0; kind < TSR_CHECK_COUNT__COUNT; kind++) {
			bool tried = kind == TSR_CHECK_KIND_AS_IN_USE ||
				     kind == TSR_CHECK_KIND_DOORBELL_DISABLED ||
				     kind == TSR_CHECK_KIND_IRQ_IGNORED;

			if (!ktap_eq(count(&y, kind), tried && !(rows[i].kinds >> kind & 1)))
				ktap_note("fault %u, kind %u", rows[i].fault, kind);
		}
		end(&y);
	}
}

/* Every event of a class by its own bit: only those that nobody cleared are reported. */
static void each_event(void)
{
	static const unsigned int bits[] = { 0, 1, 31, 32, 62, 63 };
	struct play y;

	begin(&y, &guarded);
	tsr_check_irq(y.s.b->gpu, TSR_IRQ_CLASS_HEAP, 0, 0x8000000180000003);
	ktap_eq(pending(&y), 5);
	bench_advance(y.s.b, TSR_CHECK_GRACE_NS / 2);
	tsr_check_irq(y.s.b->gpu, TSR_IRQ_CLASS_HEAP, 0x8000000180000003, 0xc000000080000001);
	ktap_eq(pending(&y), 4);	/* 1 and 32 are cleared, 62 is new */
	bench_advance(y.s.b, TSR_CHECK_GRACE_NS / 2 - 1);
	ktap_eq(pending(&y), 4);
	for (unsigned int i = 0; i < 2; i++) {
		bench_advance(y.s.b, 1);
		ktap_eq(pending(&y), 1);
		ktap_eq(count(&y, TSR_CHECK_KIND_IRQ_IGNORED), 3);
		ktap_eq(last64(&y, TSR_REG_CHECK_LAST_ADDR), TSR_IRQ_CLASS_HEAP);
		ktap_eq(last64(&y, TSR_REG_CHECK_LAST_IS), bits[5]);
	}
	bench_advance(y.s.b, TSR_CHECK_GRACE_NS / 2);
	ktap_eq(pending(&y), 0);
	ktap_eq(count(&y, TSR_CHECK_KIND_IRQ_IGNORED), 4);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_IS), bits[4]);
	end(&y);
}

/* More suspicions than are kept: those that are count, and all of them become reports. */
static void many_suspects(void)
{
	enum { PAGES = TSR_CHECK_SUSPECTS + 2 };
	struct play y;

	begin(&y, &guarded);
	use(&y, PAGE, PAGES * 4096, false, true);
	bench_map(&y.s.as[1], STAGE_DATA + PAGE, bench_alloc(y.s.b, PAGES * 4096, 4096),
		  PAGES * 4096, BENCH_RW);
	use(&y, PAGE, PAGES * 4096, false, true);
	ktap_eq(pending(&y), TSR_CHECK_SUSPECTS);
	bench_advance(y.s.b, TSR_CHECK_GRACE_NS);
	ktap_eq(pending(&y), 0);
	ktap_eq(count(&y, TSR_CHECK_KIND_STALE_TRANSLATION), TSR_CHECK_SUSPECTS);
	use(&y, PAGE, 4096, false, true);
	ktap_eq(pending(&y), 1);
	bench_write(y.s.b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	bench_advance(y.s.b, 2 * (uint64_t)TSR_CHECK_GRACE_NS);
	ktap_eq(pending(&y), 0);
	ktap_eq(count(&y, TSR_CHECK_KIND_STALE_TRANSLATION), TSR_CHECK_SUSPECTS);
	end(&y);
}

/* Suspicions become reports each at its own time, whatever the order in which they are kept. */
static void one_by_one(void)
{
	enum { PAGES = 5 };
	struct play y;

	begin(&y, &guarded);
	use(&y, PAGE, PAGES * 4096, false, true);
	bench_map(&y.s.as[1], STAGE_DATA + PAGE, bench_alloc(y.s.b, PAGES * 4096, 4096),
		  PAGES * 4096, BENCH_RW);
	for (unsigned int i = 0; i < PAGES; i++) {
		use(&y, PAGE + i * 4096, 4096, false, true);
		bench_advance(y.s.b, TSR_CHECK_GRACE_NS / PAGES);
	}
	for (unsigned int i = 0; i < PAGES; i++) {
		ktap_eq(pending(&y), PAGES - 1 - i);
		ktap_eq(count(&y, TSR_CHECK_KIND_STALE_TRANSLATION), i + 1);
		ktap_eq(last64(&y, TSR_REG_CHECK_LAST_ADDR), STAGE_DATA + PAGE + i * 4096);
		bench_advance(y.s.b, TSR_CHECK_GRACE_NS / PAGES);
	}
	end(&y);
}

/* Sixteen reports of each kind are in the host's log. All are counted. */
static void lines(void)
{
	struct play y;

	begin(&y, &guarded);
	bench_control(&y.q[1], TSR_QUEUE_OP_RESET);
	for (unsigned int i = 1; i <= TSR_CHECK_LINES + 3; i++) {
		bench_write(y.s.b, TSR_REG_DOORBELL_RING(1), 8 * i);
		ktap_eq(atomic_load(&y.s.b->told), i < TSR_CHECK_LINES ? i : TSR_CHECK_LINES);
		ktap_eq(count(&y, TSR_CHECK_KIND_DOORBELL_DISABLED), i);
	}
	for (unsigned int i = 0; i < 2; i++)
		job(&y, 0);
	y.jobs[0] = 0;
	job(&y, 0);
	ktap_eq(atomic_load(&y.s.b->told), TSR_CHECK_LINES + 1);
	end(&y);
}

/* Which slots use an address space that is switched off: with their rings, with their streams. */
static void users(void)
{
	for (unsigned int i = 0; i < 8; i++) {
		const unsigned int as = i & 1, idle = i >> 1 & 1, faulted = i >> 2;
		struct play y;

		begin(&y, &guarded);
		if (faulted) {
			bench_fence(&y.q[idle], 0x7000000, 1, TSR_EVENT_ALL_DONE, false);
			bench_kick(&y.q[idle]);
			bench_run(y.s.b, 10);
		} else {
			bench_control(&y.q[idle], TSR_QUEUE_OP_RESET);
		}
		bench_write64(y.s.b, TSR_REG_AS_BASE(as), 0);
		bench_write(y.s.b, TSR_REG_AS_COMMAND(as), TSR_INV_OP_ALL);
		ktap_eq(count(&y, TSR_CHECK_KIND_AS_IN_USE), 1);
		ktap_eq(bench_field(bench_read(y.s.b, TSR_REG_CHECK_LAST),
				    TSR_CHECK_LAST_QUEUE__MASK), !idle);
		ktap_eq(bench_field(bench_read(y.s.b, TSR_REG_CHECK_LAST),
				    TSR_CHECK_LAST_AS__MASK), as);
		end(&y);
	}
}

/* A ring is judged once more when its slot is reset: what was announced has been changed since. */
static void judged_at_reset(void)
{
	for (unsigned int late = 0; late < 2; late++) {
		struct play y;
		uint32_t at;

		begin(&y, &guarded);
		job(&y, 0);
		at = y.q[0].wptr;
		job(&y, 0);
		if (late)
			*(uint64_t *)bench_ptr(y.s.b, y.q[0].ring_bus + at + 8, 8) += 8;
		bench_control(&y.q[0], TSR_QUEUE_OP_RESET);
		ktap_eq(total(&y), late);
		end(&y);
	}
}

/* Pages far apart share their place among those that are watched: 16 of them find one. */
static void far_pages(void)
{
	const uint64_t chunk = 4096ull * TSR_CHECK_CHUNK_PAGES;
	uint64_t bus;
	struct play y;

	begin(&y, &guarded);
	bus = y.s.data_bus + PAGE;
	for (unsigned int i = 1; i < 16; i++)	/* others with the same remainder come first */
		pages(&y, TSR_CHECK_PAGES_TAKEN, bus + i * chunk * TSR_CHECK_CHUNKS, 1);
	ktap_ok(!is_freed(&y));
	pages(&y, TSR_CHECK_PAGES_FREED, bus, 1);
	pages(&y, TSR_CHECK_PAGES_FREED, bus, 1);	/* twice is as good as once */
	ktap_ok(is_freed(&y));
	end(&y);
	begin(&y, &guarded);
	bus = y.s.data_bus + PAGE;
	for (unsigned int i = 1; i <= 16; i++)
		pages(&y, TSR_CHECK_PAGES_TAKEN, bus + i * chunk * TSR_CHECK_CHUNKS, 1);
	pages(&y, TSR_CHECK_PAGES_FREED, bus, 1);	/* no place: it is not watched */
	ktap_ok(!is_freed(&y));
	end(&y);
}

/* Words of the block, also the halves of 64-bit words. Other offsets read 0. */
static void registers(void)
{
	const uint64_t addr = 0x123456789abcd000, size = 0x1000000020000;
	struct play y;
	uint64_t when;

	begin(&y, &guarded);
	ktap_eq(bench_read(y.s.b, TSR_REG_CHECK_LAST), 0);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_TIME), 0);
	bench_write(y.s.b, TSR_REG_CHECK_PAGES_ADDR, (uint32_t)addr);
	bench_write(y.s.b, TSR_REG_CHECK_PAGES_ADDR + 4, addr >> 32);
	bench_write(y.s.b, TSR_REG_CHECK_PAGES_SIZE + 4, size >> 32);
	bench_write(y.s.b, TSR_REG_CHECK_PAGES_SIZE, (uint32_t)size);
	ktap_eq(bench_read(y.s.b, TSR_REG_CHECK_PAGES_ADDR), (uint32_t)addr);
	ktap_eq(bench_read(y.s.b, TSR_REG_CHECK_PAGES_ADDR + 4), addr >> 32);
	ktap_eq(bench_read(y.s.b, TSR_REG_CHECK_PAGES_SIZE), (uint32_t)size);
	ktap_eq(bench_read(y.s.b, TSR_REG_CHECK_PAGES_SIZE + 4), size >> 32);
	ktap_eq(bench_read(y.s.b, TSR_REG_CHECK_COMMAND), 0);
	bench_advance(y.s.b, 0x123456789);
	when = bench_read64(y.s.b, TSR_REG_GPU_TIMESTAMP);
	bench_control(&y.q[1], TSR_QUEUE_OP_RESET);
	bench_write(y.s.b, TSR_REG_DOORBELL_RING(1), 8);
	bench_advance(y.s.b, 1000);
	ktap_eq(last64(&y, TSR_REG_CHECK_LAST_TIME), when);
	ktap_eq(bench_read(y.s.b, TSR_REG_CHECK_LAST_TIME + 4), when >> 32);
	ktap_eq(bench_read(y.s.b, TSR_REG_CHECK_LAST_TIME + 8), 0);
	end(&y);
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS9] pages are suspected one by one, each once", suspects);
	ktap_run("[SYS9] each change of an entry, read and written through", changes);
	ktap_run("[SYS9] a ring in local memory, and beyond its end", local_rings);
	ktap_run("[SYS9] each fault on purpose excuses what it brings about", excuses);
	ktap_run("[SYS9] each event of an interrupt is judged by itself", each_event);
	ktap_run("[SYS9] more suspicions than are kept", many_suspects);
	ktap_run("[SYS9] suspicions become reports one by one", one_by_one);
	ktap_run("[SYS9] sixteen lines of each kind", lines);
	ktap_run("[SYS9] slots whose address space is switched off", users);
	ktap_run("[SYS9] a ring is judged when its slot is reset", judged_at_reset);
	ktap_run("[SYS9] memory far apart is watched", far_pages);
	ktap_run("[SYS9] the registers of the block", registers);
	return ktap_finish();
}
