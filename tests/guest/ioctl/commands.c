// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/* Command streams that are right: waits, semaphores, control flow, events, timestamps, counters. */
#include "gt_main.h"

#include <errno.h>
#include <unistd.h>

static struct gt_ctx c;

#define BLOCKED_MS 30 /* longer than the device takes to look at a condition again: 1 ms */

/* One comparison of a WAIT, and whether it holds for the word as it is. */
struct compare {
	uint64_t memory, value;
	uint32_t op;
	bool wide, holds;
};

/* Expected results by the definition: sign of (memory - value) in the width of the word. */
static const struct compare compares[] = {
	{ 5, 5, TSR_COMPARE_EQ, false, true },
	{ 5, 6, TSR_COMPARE_EQ, false, false },
	{ 5, 5, TSR_COMPARE_GE, false, true },
	{ 6, 5, TSR_COMPARE_GE, false, true },
	{ 4, 5, TSR_COMPARE_GE, false, false },
	{ 4, 5, TSR_COMPARE_LT, false, true },
	{ 5, 5, TSR_COMPARE_LT, false, false },
	{ 3, 0xfffffff0, TSR_COMPARE_GE, false, true }, /* wrapped past 2^32 */
	{ 0xfffffff0, 3, TSR_COMPARE_GE, false, false },
	{ 0xfffffff0, 3, TSR_COMPARE_LT, false, true },
	{ 0x80000000, 0, TSR_COMPARE_LT, false, true }, /* exactly half way round */
	{ 0x7fffffff, 0, TSR_COMPARE_GE, false, true },
	{ 0x100000005, 5, TSR_COMPARE_EQ, false,
	  true }, /* the other half of the qword does not matter */
	{ 0x100000005, 5, TSR_COMPARE_EQ, true, false },
	{ 0x100000005, 0x100000005, TSR_COMPARE_EQ, true, true },
	{ 3, UINT64_MAX - 5, TSR_COMPARE_GE, true, true },
	{ 3, UINT64_MAX - 5, TSR_COMPARE_LT, true, false },
	{ 0xffffffff, 0x100000000, TSR_COMPARE_LT, true, true },
	{ 1ULL << 63, 0, TSR_COMPARE_GE, true, false },
};

static void wait_compares(void)
{
	unsigned int i;

	for (i = 0; i < GT_ARRAY_SIZE(compares); i++) {
		const struct compare *t = &compares[i];
		volatile uint64_t *word = gt_data(&c, 0);
		struct drm_tessera_sync done = gt_binary(c.sync);
		struct gt_cs cs = gt_stream(&c, 3);

		*word = t->memory;
		GT_EMIT(&cs, wait, .op = t->op, .wide = t->wide, .addr = gt_data_va(0),
			.value = t->value);
		ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
		if (t->holds) {
			ktap_eq(gt_syncobj_wait(c.fd, c.sync, 0, GT_TIMEOUT_MS), 0);
		} else if (!ktap_eq(gt_syncobj_wait(c.fd, c.sync, 0, BLOCKED_MS), -ETIME)) {
			ktap_note("row %u", i);
		}
		/* Any of the comparisons holds for one of these. */
		*word = t->value;
		if (t->op == TSR_COMPARE_LT)
			*word = t->value - 1;
		ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	}
}

/* A wait on a value that another queue signals, in both widths, set and added. */
static void signal_variants(void)
{
	uint32_t other = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	volatile uint64_t *word = gt_data(&c, 0);
	unsigned int wide, add;

	for (wide = 0; wide < 2; wide++) {
		for (add = 0; add < 2; add++) {
			struct gt_cs waiter = gt_stream(&c, 6), signaller = gt_stream(&c, 3);
			struct drm_tessera_sync done = gt_binary(c.sync);
			uint64_t start = 0xfffffffffffffff0,
				 want = wide ? 0x10 : 0xffffffff00000010;

			*word = start;
			GT_EMIT(&waiter, wait, .op = TSR_COMPARE_EQ, .wide = wide,
				.addr = gt_data_va(0), .value = 0x10);
			GT_EMIT(&signaller, signal,
				.op = add ? TSR_SIGNAL_OP_ADD : TSR_SIGNAL_OP_SET,
				.event = TSR_EVENT_ALL_DONE, .wide = wide, .addr = gt_data_va(0),
				.value = add ? 0x20 : 0x10);
			ktap_eq(gt_kick(&c, c.queue, &waiter, &done), 0);
			ktap_ok(!gt_syncobj_done(c.fd, c.sync, 0));
			ktap_eq(gt_kick(&c, other, &signaller, NULL), 0);
			ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
			ktap_eq(*word, want);
		}
	}
	gt_queue_destroy(c.fd, other);
}

/* Two queues hand a ball to each other in one job each: N rounds, each adds one. */
static void ping_pong(void)
{
	enum { ROUNDS = 200 };
	uint32_t queues[2] = { c.queue, gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY) };
	uint32_t done[2] = { gt_syncobj(c.fd, false), gt_syncobj(c.fd, false) };
	volatile uint64_t *ball = gt_data(&c, 0x100);
	unsigned int side, i;

	*ball = 0;
	for (side = 0; side < 2; side++) {
		struct gt_cs cs = gt_stream(&c, ROUNDS * 6);
		struct drm_tessera_sync sync = gt_binary(done[side]);

		for (i = side; i < 2 * ROUNDS; i += 2) {
			GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .wide = true,
				.addr = gt_data_va(0x100), .value = i);
			GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE,
				.wide = true, .addr = gt_data_va(0x100), .value = 1);
		}
		ktap_eq(gt_kick(&c, queues[side], &cs, &sync), 0);
	}
	ktap_eq(gt_fence_error(c.fd, done[0], 0), 0);
	ktap_eq(gt_fence_error(c.fd, done[1], 0), 0);
	ktap_eq(*ball, 2 * ROUNDS);
	for (side = 0; side < 2; side++)
		gt_syncobj_free(c.fd, done[side]);
	gt_queue_destroy(c.fd, queues[1]);
}

/* Eight queues add to one word at the same time: no addition is lost. */
static void atomic_adds(void)
{
	enum { QUEUES = 8, ADDS = 100 };
	volatile uint64_t *sum = gt_data(&c, 0x200);
	uint32_t queues[QUEUES], timeline = gt_syncobj(c.fd, false);
	unsigned int i, j;

	sum[0] = 0;
	sum[1] = 0;
	for (i = 0; i < QUEUES; i++) {
		struct gt_cs cs = gt_stream(&c, 3 + ADDS * 3);
		struct drm_tessera_sync sync = gt_point(timeline, i + 1);

		GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0x208),
			.value = 1); /* a start gun */
		for (j = 0; j < ADDS; j++)
			GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_REACHED,
				.wide = true, .addr = gt_data_va(0x200), .value = i + 1);
		queues[i] = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
		ktap_eq(gt_kick(&c, queues[i], &cs, &sync), 0);
	}
	sum[1] = 1;
	for (i = 0; i < QUEUES; i++)
		ktap_eq(gt_fence_error(c.fd, timeline, i + 1), 0);
	ktap_eq(sum[0], ADDS * QUEUES * (QUEUES + 1) / 2);
	for (i = 0; i < QUEUES; i++)
		gt_queue_destroy(c.fd, queues[i]);
	gt_syncobj_free(c.fd, timeline);
}

/*
 * Streams whose only trace is a 64-bit SIGNAL ADD of one digit, so the sum tells which ran and how
 * often.
 */
static void add_digit(struct gt_cs *cs, uint64_t digit)
{
	GT_EMIT(cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE, .wide = true,
		.addr = gt_data_va(0x300), .value = digit);
}

/* CPU patches a JUMP behind a WAIT in a stream that was submitted long ago: the new words run. */
static void patched_jump(void)
{
	volatile uint64_t *digits = gt_data(&c, 0x300), *gate = gt_data(&c, 0x308);
	struct gt_cs main_cs = gt_stream(&c, 8), old = gt_stream(&c, 3), new = gt_stream(&c, 3),
		     patch;
	struct drm_tessera_sync done = gt_binary(c.sync);
	uint64_t words[3];
	unsigned int i;

	*digits = 0;
	*gate = 0;
	add_digit(&old, 1);
	add_digit(&new, 0x10);
	GT_EMIT(&main_cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0x308), .value = 1);
	patch = main_cs;
	GT_EMIT(&main_cs, jump, .addr = old.va, .size = old.count * 8);
	ktap_eq(gt_kick(&c, c.queue, &main_cs, &done), 0);
	gt_sleep_ms(BLOCKED_MS);
	tsr_pack_jump(words, &(struct tsr_jump){ .addr = new.va, .size = new.count * 8 });
	for (i = 0; i < 3; i++)
		((volatile uint64_t *)patch.words)[patch.count + i] = words[i];
	__sync_synchronize();
	*gate = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(*digits, 0x10);
}

/* No packet in the prefetch window after the WAIT was read ahead. */
static void patched_window(void)
{
	enum { NOPS = 24 };
	volatile uint64_t *digits = gt_data(&c, 0x300), *gate = gt_data(&c, 0x308);
	struct gt_cs cs = gt_stream(&c, 3 + NOPS + 3), patch;
	struct drm_tessera_sync done = gt_binary(c.sync);
	unsigned int i;

	*digits = 0;
	*gate = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0x308), .value = 1);
	patch = cs;
	for (i = 0; i < NOPS; i++)
		GT_EMIT(&cs, nop, .qwords = 1);
	add_digit(&cs, 0x1000);
	ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
	gt_sleep_ms(BLOCKED_MS);
	for (i = 0; i < NOPS / 3; i++)
		add_digit(&patch, 1);
	__sync_synchronize();
	*gate = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(*digits, 0x1000 + NOPS / 3);
}

/*
 * Streams call each other to the deepest level; each adds its digit once on the way in and once on
 * the way out.
 */
static void nested_calls(void)
{
	volatile uint64_t *digits = gt_data(&c, 0x300);
	struct gt_cs inner = gt_stream(&c, 8), outer;
	unsigned int level;
	uint64_t want;

	*digits = 0;
	add_digit(&inner, 1);
	want = 1;
	for (level = 2; level <= TSR_NESTING_MAX; level++) {
		outer = gt_stream(&c, 16);
		add_digit(&outer, 1ULL << (4 * (level - 1)));
		GT_EMIT(&outer, call, .addr = inner.va, .size = inner.count * 8);
		add_digit(&outer, 1ULL << (4 * (level - 1)));
		want += 2ULL << (4 * (level - 1));
		inner = outer;
	}
	ktap_eq(gt_run(&c, &inner), 0);
	ktap_eq(*digits, want);
}

/*
 * RETURN and the end of the stream go back to the caller; a JUMP's target returns in the place of
 * the stream it left.
 */
static void jump_and_return(void)
{
	volatile uint64_t *digits = gt_data(&c, 0x300);
	struct gt_cs main_cs = gt_stream(&c, 24), left = gt_stream(&c, 16),
		     target = gt_stream(&c, 16);

	*digits = 0;
	add_digit(&target, 0x100);
	GT_EMIT(&target, return, .none = 0);
	add_digit(&target, 0x1000);			/* never */
	add_digit(&left, 0x10);
	GT_EMIT(&left, jump, .addr = target.va, .size = target.count * 8);
	add_digit(&left, 0x10000);			/* never */
	add_digit(&main_cs, 1);
	GT_EMIT(&main_cs, call, .addr = left.va, .size = left.count * 8);
	add_digit(&main_cs, 1);
	GT_EMIT(&main_cs, call, .addr = left.va, .size = left.count * 8);
	add_digit(&main_cs, 1);
	GT_EMIT(&main_cs, return, .none = 0);
	add_digit(&main_cs, 0x100000);			/* never */
	ktap_eq(gt_run(&c, &main_cs), 0);
	ktap_eq(*digits, 0x223);
}

/* Streams that follow each other by JUMP only; each leaves its mark. */
static void long_jumps(void)
{
	enum { STREAMS = 1000 };
	volatile uint64_t *digits = gt_data(&c, 0x300);
	struct gt_cs first = { 0 }, previous = { 0 };
	unsigned int i;

	*digits = 0;
	for (i = 0; i < STREAMS; i++) {
		struct gt_cs cs = gt_stream(&c, 8);

		add_digit(&cs, 1);
		if (i)
			GT_EMIT(&previous, jump, .addr = cs.va, .size = 6 * 8);
		else
			first = cs;
		previous = cs;
	}
	GT_EMIT(&previous, barrier, .wait_writes = true);
	GT_EMIT(&previous, nop, .qwords = 2);
	first.count = 6;
	ktap_eq(gt_run(&c, &first), 0);
	ktap_eq(*digits, STREAMS);
}

/*
 * When an event's value is in memory, the writes that it covers are, too: the last byte of a copy
 * for the two events that cover writes.
 */
static void fence_events(void)
{
	enum { SIZE = 0x40000 };
	volatile uint64_t *words = gt_data(&c, 0);
	struct gt_bo bo = gt_bo(c.fd, 2 * SIZE, DRM_TESSERA_BO_CACHED);
	volatile unsigned char *bytes = bo.map;
	unsigned int event;

	gt_bo_bind(&bo, c.vm, 0x60000000, GT_RW);
	for (event = TSR_EVENT_REACHED; event <= TSR_EVENT_ALL_DONE; event++) {
		struct gt_cs cs = gt_stream(&c, 16);
		struct drm_tessera_sync done = gt_binary(c.sync);

		memset(bo.map, 0x40 + event, SIZE);
		memset((char *)bo.map + SIZE, 0, SIZE);
		words[0] = 0;
		GT_EMIT(&cs, copy_linear, .src = 0x60000000, .dst = 0x60000000 + SIZE,
			.size = SIZE);
		GT_EMIT(&cs, fence, .event = event, .addr = gt_data_va(0),
			.value = 0xfedc000000000000 + event);
		ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
		/* Pull notification: nothing but this word tells. */
		ktap_ok(gt_spin_until(words, 0xfedc000000000000 + event, GT_TIMEOUT_MS));
		if (event >= TSR_EVENT_WRITES_DONE)
			ktap_eq(bytes[2 * SIZE - 1], 0x40 + event);
		if (event ==
		    TSR_EVENT_READS_DONE) /* sources may change now; the copy must not see it */
			memset(bo.map, 0xff, SIZE);
		ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
		ktap_eq(bytes[SIZE], 0x40 + event);
		ktap_eq(bytes[2 * SIZE - 1], 0x40 + event);
	}
	gt_bo_free(&bo);
}

/* A command that faults in its last 16 bytes, and how many of the four events happen before. */
struct broken {
	uint64_t src, dst;	/* offsets in the data; no source: a fill */
	unsigned int events;
};

#define BROKEN_SIZE 0x8000

/* The events are at distinct moments: a fault separates those that have happened. */
static void events_differ(void)
{
	static const struct broken rows[] = {
		{ 0x10000, GT_DATA_SIZE - BROKEN_SIZE + 16, 2 },	/* the last store */
		{ 0x10000, GT_DATA_SIZE - BROKEN_SIZE + 0x2000, 1 },	/* one before */
		{ GT_DATA_SIZE - BROKEN_SIZE + 16, 0x10000, 1 },	/* the last read */
		{ 0, GT_DATA_SIZE - BROKEN_SIZE + 16, 2 },
		{ 0, GT_DATA_SIZE, 2 },
	};
	volatile uint64_t *words = gt_data(&c, 0);
	unsigned int i, event;

	for (i = 0; i < GT_ARRAY_SIZE(rows); i++) {
		struct gt_cs cs = gt_stream(&c, 20);

		if (rows[i].src)
			GT_EMIT(&cs, copy_linear, .src = gt_data_va(rows[i].src),
				.dst = gt_data_va(rows[i].dst), .size = BROKEN_SIZE);
		else
			GT_EMIT(&cs, fill_linear, .texel = 4, .dst = gt_data_va(rows[i].dst),
				.size = BROKEN_SIZE);
		for (event = 0; event < 4; event++) {
			words[event] = 0;
			GT_EMIT(&cs, fence, .event = event, .addr = gt_data_va(8 * event),
				.value = 1);
		}
		ktap_eq(gt_run(&c, &cs), -EFAULT);
		for (event = 0; event < 4; event++) {
			if (!ktap_eq(words[event], event < rows[i].events))
				ktap_note("command %u, event %u", i, event);
		}
		gt_renew_queue(&c);
	}
}

/*
 * REACHED at the end of a stream tells that its words have been read: the CPU overwrites them while
 * the copies they asked for still run, and the copies come out right.
 */
static void reached_frees_stream(void)
{
	enum { SIZE = 0x100000, COPIES = 6 };
	volatile uint64_t *word = gt_data(&c, 0x700);
	struct gt_bo bo = gt_bo(c.fd, (COPIES + 1) * SIZE, DRM_TESSERA_BO_CACHED);
	struct gt_cs cs = gt_stream(&c, 4 * COPIES + 3);
	struct drm_tessera_sync done = gt_binary(c.sync);
	unsigned int i;

	gt_bo_bind(&bo, c.vm, 0x60000000, GT_RW);
	memset(bo.map, 0x6e, SIZE);
	*word = 0;
	for (i = 1; i <= COPIES; i++)
		GT_EMIT(&cs, copy_linear, .src = 0x60000000, .dst = 0x60000000 + i * SIZE,
			.size = SIZE);
	GT_EMIT(&cs, fence, .event = TSR_EVENT_REACHED, .addr = gt_data_va(0x700), .value = 1);
	ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
	ktap_ok(gt_spin_until(word, 1, GT_TIMEOUT_MS));
	memset(cs.words, 0xff, cs.count * 8);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	for (i = 1; i <= COPIES; i++)
		ktap_mem_eq((char *)bo.map + i * SIZE, bo.map, SIZE);
	gt_bo_free(&bo);
}

/* Event writes with the same event happen in order: a reader that sees the last sees the others. */
static void events_in_order(void)
{
	enum { WORDS = 60 };
	volatile uint64_t *words = gt_data(&c, 0x1000);
	struct gt_cs cs = gt_stream(&c, WORDS * 3);
	unsigned int i;

	memset((void *)words, 0, WORDS * 8);
	for (i = 0; i < WORDS; i++)
		GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0x1000 + i * 8),
			.value = i + 1);
	ktap_eq(gt_kick(&c, c.queue, &cs, NULL), 0);
	ktap_ok(gt_spin_until(&words[WORDS - 1], WORDS, GT_TIMEOUT_MS));
	for (i = 0; i < WORDS; i++)
		ktap_eq(words[i], i + 1);
}

/* Interrupts of the device, from /proc/interrupts: lines that name the driver. */
static uint64_t interrupts(void)
{
	static char text[65536];
	uint64_t sum = 0;
	char *line, *save;

	gt_read_file("/proc/interrupts", text, sizeof(text));
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *numbers = strchr(line, ':');

		if (numbers && strstr(line, "tessera"))
			sum += strtoull(numbers + 1, NULL, 10);
	}
	return sum;
}

static void push_notification(void)
{
	volatile uint64_t *gate = gt_data(&c, 0x308);
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct gt_cs cs = gt_stream(&c, 3);
	uint64_t before = interrupts();

	*gate = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0x308), .value = 1);
	ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
	ktap_eq(gt_syncobj_wait(c.fd, c.sync, 0, BLOCKED_MS), -ETIME);
	*gate = 1;
	ktap_eq(gt_syncobj_wait(c.fd, c.sync, 0, GT_TIMEOUT_MS), 0);
	ktap_ok(interrupts() > before);
}

static uint64_t gpu_ticks(void)
{
	struct drm_tessera_get_timestamp stamp = { .clock_id = 1 };

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &stamp), 0);
	return stamp.gpu_ticks;
}

static void timestamps(void)
{
	volatile uint64_t *stamps = gt_data(&c, 0x400);
	struct gt_cs cs = gt_stream(&c, 16);
	uint64_t before = gpu_ticks();
	unsigned int i;

	memset((void *)stamps, 0, 64);
	for (i = 0; i < 3; i++) {
		if (i)
			GT_EMIT(&cs, copy_linear, .src = gt_data_va(0x10000),
				.dst = gt_data_va(0x40000), .size = 0x10000);
		GT_EMIT(&cs, timestamp, .event = TSR_EVENT_ALL_DONE,
			.addr = gt_data_va(0x400 + i * 8));
	}
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_ok(stamps[0] >= before);
	ktap_ok(stamps[1] > stamps[0]);
	ktap_ok(stamps[2] > stamps[1]);
	ktap_ok(gpu_ticks() >= stamps[2]);
	ktap_eq(stamps[3], 0);
}

/* Counters of the queue over one interval; ids are those of the hardware description. */
static void counters(void)
{
	enum { CP_PACKETS = 3, ENGINE_COMMANDS = 7, READ_BYTES = 8, WRITE_BYTES = 9, FENCES = 10 };
	volatile uint64_t *values = gt_data(&c, 0x500);
	uint64_t mask = 1 << CP_PACKETS | 1 << ENGINE_COMMANDS | 1 << READ_BYTES |
			1 << WRITE_BYTES | 1 << FENCES;
	struct gt_cs cs = gt_stream(&c, 64);
	unsigned int i;

	for (i = 0; i < 6; i++)
		values[i] = 1000;		/* the device adds */
	GT_EMIT(&cs, copy_linear, .src = gt_data_va(0x10000), .dst = gt_data_va(0x20000),
		.size = 512);
	GT_EMIT(&cs, counter_begin, .mask = mask);
	GT_EMIT(&cs, copy_linear, .src = gt_data_va(0x10000), .dst = gt_data_va(0x20000),
		.size = 0x8000);
	GT_EMIT(&cs, fill_linear, .texel = 4, .dst = gt_data_va(0x20000), .size = 0x1000,
		.pattern_lo = 7);
	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0x600), .value = 1);
	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0x608), .value = 1);
	GT_EMIT(&cs, counter_end, .addr = gt_data_va(0x500));
	GT_EMIT(&cs, counter_end,
		.addr = gt_data_va(0x500)); /* no interval is open: adds nothing */
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_ok(values[0] >= 1000 + 4 &&
		values[0] <= 1000 + 6); /* whether begin and end count themselves is free */
	ktap_eq(values[1], 1000 + 2);
	ktap_eq(values[2], 1000 + 0x8000);
	ktap_eq(values[3], 1000 + 0x9000);
	ktap_eq(values[4], 1000 + 2);
	ktap_eq(values[5], 1000);
}

/* Without the barrier the second copy may read what the first has not written; with it, never. */
static void barrier_orders(void)
{
	enum { SIZE = 0x10000 };
	unsigned char *bytes = gt_data(&c, 0);
	unsigned int i;

	for (i = 0; i < 20; i++) {
		struct gt_cs cs = gt_stream(&c, 16);

		memset(bytes + 0x10000, 0x10 + i, SIZE);
		memset(bytes + 0x20000, 0, 2 * SIZE);
		GT_EMIT(&cs, copy_linear, .src = gt_data_va(0x10000), .dst = gt_data_va(0x20000),
			.size = SIZE);
		GT_EMIT(&cs, barrier, .wait_writes = true);
		GT_EMIT(&cs, copy_linear, .src = gt_data_va(0x20000), .dst = gt_data_va(0x30000),
			.size = SIZE);
		ktap_eq(gt_run(&c, &cs), 0);
		ktap_mem_eq(bytes + 0x30000, bytes + 0x10000, SIZE);
	}
}

/*
 * A copy, a fill, and then a barrier. The partial flush waits for the copy until its last store,
 * and the full flush for both commands. The counter has the engine's cycles meanwhile. A copy after
 * the full flush reads the result of the fill.
 */
static void partial_flush(void)
{
	enum { BARRIER_CYCLES = 21, SIZE = 0x20000 };
	volatile uint64_t *cycles = gt_data(&c, 0);
	uint32_t *pixels = gt_data(&c, 0x60000);
	unsigned int full, i;

	for (full = 0; full < 2; full++) {
		struct gt_cs cs = gt_stream(&c, 32);

		*cycles = 0;
		memset(pixels, 0, SIZE);
		GT_EMIT(&cs, counter_begin, .mask = 1ull << BARRIER_CYCLES);
		GT_EMIT(&cs, copy_linear, .src = gt_data_va(0x20000), .dst = gt_data_va(0x40000),
			.size = SIZE);
		GT_EMIT(&cs, fill_linear, .texel = 4, .dst = gt_data_va(0x80000), .size = SIZE,
			.pattern_lo = 0x12340000 + full);
		GT_EMIT(&cs, barrier, .wait_reads = true, .wait_writes = full);
		GT_EMIT(&cs, counter_end, .addr = gt_data_va(0));
		if (full)
			GT_EMIT(&cs, copy_linear, .src = gt_data_va(0x80000),
				.dst = gt_data_va(0x60000), .size = SIZE);
		ktap_eq(gt_run(&c, &cs), 0);
		ktap_eq(*cycles, full ? 3 * SIZE / 64 : 2 * SIZE / 64 - 2);
		for (i = 0; full && i < SIZE / 4 && pixels[i] == 0x12340001; i++)
			;
		ktap_eq(i, full ? SIZE / 4 : 0);
	}
}

/* Long NOPs, streams that end exactly at a page, and one that starts at the last 64 bytes of it. */
static void stream_edges(void)
{
	volatile uint64_t *digits = gt_data(&c, 0x300);
	struct gt_cs cs, tail;

	*digits = 0;
	cs = gt_stream(&c, 512);
	GT_EMIT(&cs, nop, .qwords = 255);
	GT_EMIT(&cs, nop, .qwords = 254);
	add_digit(&cs, 1);
	ktap_eq(cs.count, 512);
	ktap_eq(gt_run(&c, &cs), 0);
	tail = (struct gt_cs){ .words = (uint64_t *)((char *)c.cmd.map + GT_CMD_SIZE - 64),
			       .va = GT_CMD_VA + GT_CMD_SIZE - 64, .room = 8 };
	add_digit(&tail, 0x10);
	GT_EMIT(&tail, nop, .qwords = 2);
	add_digit(&tail, 0x10);
	ktap_eq(gt_run(&c, &tail), 0);
	ktap_eq(*digits, 0x21);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[CP7] WAIT compares ==, >=, <, wrap-safe, and sees what the CPU writes",
		 wait_compares);
	ktap_run("[CP7] SIGNAL sets and adds, 32 and 64 bits, and wakes another queue",
		 signal_variants);
	ktap_run("[CP7] two queues hand over 400 times", ping_pong);
	ktap_run("[CP7] SIGNAL ADD of eight queues loses nothing", atomic_adds);
	ktap_run("[CP11] [SYS6] a JUMP that is patched behind a WAIT runs as patched",
		 patched_jump);
	ktap_run("[CP11] nothing behind a WAIT is prefetched", patched_window);
	ktap_run("[CP2] calls nest to the published depth", nested_calls);
	ktap_run("[CP2] JUMP, CALL and RETURN go where they should", jump_and_return);
	ktap_run("[CP2] a chain of a thousand jumps", long_jumps);
	ktap_run("[CP5] each event covers what it should", fence_events);
	ktap_run("[CP5] READS_DONE and WRITES_DONE happen at the last read and the last store",
		 events_differ);
	ktap_run("[CP9] a stream's words are free when its end is reached", reached_frees_stream);
	ktap_run("[CP5] [CP6] events are written in order and can be polled", events_in_order);
	ktap_run("[CP6] an interrupt tells the end of a job", push_notification);
	ktap_run("[CP3] TIMESTAMP and GET_TIMESTAMP are one clock", timestamps);
	ktap_run("counters of a queue over an interval", counters);
	ktap_run("[CP8] a full barrier orders a write before a read", barrier_orders);
	ktap_run("[CP8] a partial flush waits for reads, a full one for everything", partial_flush);
	ktap_run("[CP2] streams up to the edge of a page", stream_edges);
	gt_ctx_free(&c);
	return gt_finish();
}
