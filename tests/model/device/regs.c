/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * The register file against its description: every register at reset, every register written with
 * all ones and all zeros, offsets without a register; configurations of the device, possible and
 * impossible; counters of time.
 */
#include <string.h>

#include "ktap.h"
#include "stage.h"
#include "tsr_desc.h"

/* Registers the tests below write to would start something, or read what moves. */
static bool is_special(const struct tsr_desc_reg *reg)
{
	return !strcmp(reg->block->name, "DOORBELL") || !strcmp(reg->name, "CONTROL") ||
	       !strcmp(reg->name, "COMMAND") || !strcmp(reg->name, "TIMESTAMP") ||
	       !strcmp(reg->name, "RESET_COUNT") || !strcmp(reg->name, "WPTR");
}

/* The bits of a register that the description gives to some field; all when it has no fields. */
static uint64_t field_bits(const struct tsr_desc_reg *reg)
{
	uint64_t bits = reg->num_fields ? 0 : reg->width == 64 ? UINT64_MAX : UINT32_MAX;

	for (unsigned int i = 0; i < reg->num_fields; i++)
		bits |= (UINT64_MAX >> (63 - reg->fields[i].hi)) &
			~((1ull << reg->fields[i].lo) - 1);
	/* Rings' pointers are multiples of 8. */
	return strcmp(reg->name, "RPTR") ? bits : bits & ~7ull;
}

/* After power-on: what the description says, 0 where there is nothing. */
static void reset_values(void)
{
	struct bench *b = bench_new(NULL);
	unsigned int registers = 0;

	for (uint32_t offset = 0; offset < TSR_REGISTERS_SIZE; offset += 4) {
		bool upper;
		const struct tsr_desc_reg *reg = tsr_desc_reg_at(offset, NULL, NULL, &upper);
		uint32_t want = reg ? reg->reset >> (upper ? 32 : 0) : 0;

		registers += !!reg;
		if (reg && (reg->reset_configured || !strcmp(reg->name, "TIMESTAMP")))
			continue;
		if (bench_read(b, offset) != want)
			ktap_fail("0x%x %s: 0x%x", offset, reg ? reg->name : "hole",
				  bench_read(b, offset));
	}
	ktap_ok(registers > 64 * 60);
	/* Beyond the file, and unaligned: nothing. */
	ktap_eq(bench_read(b, TSR_REGISTERS_SIZE), 0);
	ktap_eq(bench_read(b, 2), 0);
	bench_write(b, TSR_REGISTERS_SIZE, 1);
	bench_write(b, TSR_REG_SEMAPHORE_VALUE(0) + 2, 1);
	ktap_eq(bench_read(b, TSR_REG_SEMAPHORE_VALUE(0)), 0);
	bench_free(b);
}

/*
 * All ones into everything, word by word: what can be written holds its fields, everything else
 * stays. Then zeros.
 */
static void access_rights(void)
{
	const struct tsr_config all = { .check = true, .heads = 4 };	/* registers of an option */
	struct bench *b = bench_new(&all);
	uint32_t before[TSR_REGISTERS_SIZE / 4];
	uint64_t values[2] = { UINT64_MAX, 0 };

	for (uint32_t offset = 0; offset < TSR_REGISTERS_SIZE; offset += 4)
		before[offset / 4] = bench_read(b, offset);
	for (unsigned int i = 0; i < 2; i++) {
		for (uint32_t offset = 0; offset < TSR_REGISTERS_SIZE; offset += 4) {
			const struct tsr_desc_reg *reg = tsr_desc_reg_at(offset, NULL, NULL, NULL);

			if (!reg || !is_special(reg))
				bench_write(b, offset, (uint32_t)values[i]);
		}
		for (uint32_t offset = 0; offset < TSR_REGISTERS_SIZE; offset += 4) {
			bool upper;
			const struct tsr_desc_reg *reg =
				tsr_desc_reg_at(offset, NULL, NULL, &upper);
			uint32_t want = before[offset / 4];

			if (reg && is_special(reg))
				continue;
			if (reg && reg->access == TSR_DESC_RW)
				want = (values[i] & field_bits(reg)) >> (upper ? 32 : 0);
			if (bench_read(b, offset) != want)
				ktap_fail("0x%x %s: 0x%x, not 0x%x", offset,
					  reg ? reg->name : "hole", bench_read(b, offset), want);
		}
	}
	bench_free(b);
}

/* The halves of 64-bit registers are independent. */
static void halves(void)
{
	const uint32_t wide[] = { TSR_REG_AS_BASE(3), TSR_REG_AS_INV_VA(3), TSR_REG_AS_INV_SIZE(3),
				  TSR_REG_IRQ_MASK(2), TSR_REG_QUEUE_RING_BASE(9) };
	struct bench *b = bench_new(NULL);

	for (unsigned int i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		bench_write(b, wide[i] + 4, 0x00012345);
		ktap_eq(bench_read64(b, wide[i]), 0x0001234500000000);
		bench_write(b, wide[i], 0x6789a000);
		ktap_eq(bench_read64(b, wide[i]), 0x000123456789a000);
		bench_write(b, wide[i] + 4, 0);
		ktap_eq(bench_read64(b, wide[i]), 0x6789a000);
	}
	bench_free(b);
}

/* Slots beyond the device's are not there; a slot in use keeps its configuration. */
static void slots(void)
{
	struct tsr_config config = { .queues = 3 };
	struct bench_queue q;
	struct stage s;

	stage_init(&s, &config);
	ktap_eq(bench_field(bench_read(s.b, TSR_REG_GPU_SLOTS), TSR_GPU_SLOTS_QUEUES__MASK), 3);
	bench_write(s.b, TSR_REG_QUEUE_TIMESLICE(3), 5);
	ktap_eq(bench_read(s.b, TSR_REG_QUEUE_TIMESLICE(3)), 0);
	bench_write(s.b, TSR_REG_DOORBELL_RING(3), 8);
	ktap_eq(bench_read(s.b, TSR_REG_DOORBELL_RING(3)), 0);
	stage_queue(&s, &q, 2, TSR_ENGINE_CLASS_COPY, 2);
	bench_write64(s.b, TSR_REG_QUEUE_RING_BASE(2), 0);
	bench_write(s.b, TSR_REG_QUEUE_CONFIG(2), 0);
	bench_write(s.b, TSR_REG_QUEUE_ADDRESS_SPACES(2), 7);
	bench_write(s.b, TSR_REG_QUEUE_RPTR(2), 64);
	ktap_eq(bench_read64(s.b, TSR_REG_QUEUE_RING_BASE(2)), q.ring_va);
	ktap_eq(bench_read(s.b, TSR_REG_QUEUE_CONFIG(2)), 12 | 3 << 8 | 2 << 12);
	ktap_eq(bench_read(s.b, TSR_REG_QUEUE_ADDRESS_SPACES(2)), 1 << 16);
	ktap_eq(bench_read(s.b, TSR_REG_QUEUE_RPTR(2)), 0);
	/* Commands that do not fit the state, or are none. */
	bench_control(&q, TSR_QUEUE_OP_RESUME);
	bench_control(&q, TSR_QUEUE_OP_ENABLE);
	bench_write(s.b, TSR_REG_QUEUE_CONTROL(2), 7);
	bench_write(s.b, TSR_REG_QUEUE_CONTROL(2), 0);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_GLOBAL)), 0);
	bench_control(&q, TSR_QUEUE_OP_RESET);
	bench_write64(s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_GLOBAL), UINT64_MAX);
	bench_control(&q, TSR_QUEUE_OP_SUSPEND);
	bench_control(&q, TSR_QUEUE_OP_RESUME);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_DISABLED);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_GLOBAL)), 0);
	/* this is complete, though there was nothing to do */
	bench_control(&q, TSR_QUEUE_OP_RESET);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_GLOBAL)),
		TSR_GLOBAL_IRQ_QUEUE_STOPPED);
	/* The write pointer follows RPTR while the slot is off. */
	bench_write(s.b, TSR_REG_QUEUE_RPTR(2), 0x12345);
	ktap_eq(bench_read(s.b, TSR_REG_QUEUE_RPTR(2)), 0x12340);
	ktap_eq(bench_read(s.b, TSR_REG_QUEUE_WPTR(2)), 0x12340);
	bench_write(s.b, TSR_REG_DOORBELL_RING(2), 0x12348);
	ktap_eq(bench_read(s.b, TSR_REG_QUEUE_WPTR(2)), 0x12340);
	stage_free(&s);
}

/* ENABLE judges the configuration: each register wrong once, and the same put right. */
static void bad_config(void)
{
	static const struct {
		uint64_t ring_base;
		uint32_t config, spaces, offset;
	} wrong[] = {
		{ STAGE_RING + 0x800, 12 | 3 << 8, 1 << 16, TSR_QUEUE_RING_BASE__OFFSET },
		{ (1ull << 48) - 0x1000 + 8, 12 | 3 << 8, 1 << 16, TSR_QUEUE_RING_BASE__OFFSET },
		{ (1ull << 48) - 0x1000, 13 | 3 << 8, 1 << 16, TSR_QUEUE_RING_BASE__OFFSET },
		{ 1ull << 48, 12 | 3 << 8, 1 << 16, TSR_QUEUE_RING_BASE__OFFSET },
		{ 0ull - 0x1000, 13 | 3 << 8, 1 << 16, TSR_QUEUE_RING_BASE__OFFSET },
		{ STAGE_RING, 11 | 3 << 8, 1 << 16, TSR_QUEUE_CONFIG__OFFSET },
		{ STAGE_RING, 21 | 3 << 8, 1 << 16, TSR_QUEUE_CONFIG__OFFSET },
		{ STAGE_RING, 63 | 3 << 8, 1 << 16, TSR_QUEUE_CONFIG__OFFSET },
		{ STAGE_RING, 12 | 0 << 8, 1 << 16, TSR_QUEUE_CONFIG__OFFSET },
		{ STAGE_RING, 12 | 3 << 8, 128 << 16, TSR_QUEUE_ADDRESS_SPACES__OFFSET },
		{ STAGE_RING, 12 | 3 << 8, 255, TSR_QUEUE_ADDRESS_SPACES__OFFSET },
		{ STAGE_RING, 12 | 3 << 8, 128, TSR_QUEUE_ADDRESS_SPACES__OFFSET },
	};
	struct tsr_config config = { .engines = { 0, 1, 1, 1 } };
	struct bench_queue q;
	struct stage s;

	stage_init(&s, &config);
	stage_queue(&s, &q, 4, TSR_ENGINE_CLASS_COPY, 0);
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		bench_control(&q, TSR_QUEUE_OP_RESET);
		bench_write64(s.b, TSR_REG_QUEUE_RING_BASE(4), wrong[i].ring_base);
		bench_write(s.b, TSR_REG_QUEUE_CONFIG(4), wrong[i].config);
		bench_write(s.b, TSR_REG_QUEUE_ADDRESS_SPACES(4), wrong[i].spaces);
		bench_enable(&q, 0);
		ktap_eq(bench_state(&q), TSR_QUEUE_STATE_FAULTED);
		ktap_eq(bench_fault(&q), TSR_FAULT_BAD_CONFIG);
		if (bench_queue_reg64(&q, TSR_QUEUE_FAULT_ADDR__OFFSET) != wrong[i].offset)
			ktap_fail("configuration %u", i);
		ktap_eq(bench_field(bench_queue_reg(&q, TSR_QUEUE_FAULT__OFFSET),
				    TSR_QUEUE_FAULT_UNIT__MASK),
			TSR_UNIT_SLOT);
	}
	bench_control(&q, TSR_QUEUE_OP_RESET);
	/* The record stays until ENABLE. */
	ktap_eq(bench_fault(&q), TSR_FAULT_BAD_CONFIG);
	bench_write(s.b, TSR_REG_QUEUE_ADDRESS_SPACES(4), 127 << 16);
	bench_write64(s.b, TSR_REG_QUEUE_RING_BASE(4), (1ull << 48) - 0x1000);
	bench_enable(&q, 0);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	ktap_eq(bench_fault(&q), TSR_FAULT_NONE);
	/* A ring that has become smaller than what it held. */
	bench_control(&q, TSR_QUEUE_OP_RESET);
	bench_write64(s.b, TSR_REG_QUEUE_RING_BASE(4), STAGE_RING);
	bench_write(s.b, TSR_REG_QUEUE_CONFIG(4), 13 | 3 << 8);
	bench_enable(&q, 0);
	bench_control(&q, TSR_QUEUE_OP_SUSPEND);
	bench_write(s.b, TSR_REG_DOORBELL_RING(4), 8192);
	bench_control(&q, TSR_QUEUE_OP_RESET);
	bench_write(s.b, TSR_REG_QUEUE_CONFIG(4), 12 | 3 << 8);
	bench_control(&q, TSR_QUEUE_OP_ENABLE);
	ktap_eq(bench_fault(&q), TSR_FAULT_BAD_CONFIG);
	ktap_eq(bench_queue_reg64(&q, TSR_QUEUE_FAULT_ADDR__OFFSET), TSR_QUEUE_RPTR__OFFSET);
	stage_free(&s);
}

/* Devices of all shapes say what they are; impossible ones are refused with a message. */
static void configurations(void)
{
	static uint8_t local[4 << 20];
	const struct tsr_config good[] = {
		{ .queues = 1 },
		{ .queues = 64, .engines = { 8, 8, 8, 8 } },
		{ .engines = { 0, 0, 0, 1 } },
		{ .page_sizes = 1 << 12 },
		{ .local_size = 4 << 20, .local = local },
		{ .deterministic = true },
		{ .threads = 2, .no_inline = true },
	};
	const struct tsr_config bad[] = {
		{ .queues = 65 },
		{ .engines = { 9, 0, 0, 0 } },
		{ .engines = { 1, 1, 1, 9 } },
		{ .va_bits = 40 },
		{ .page_sizes = 1 << 21 },
		{ .page_sizes = 1 << 12 | 1 << 16 },
		{ .local_size = 1 << 20, .local = local },
		{ .local = local },
		{ .threads = 65 },
		{ .deterministic = true, .threads = 1 },
	};
	char err[200];

	for (unsigned int i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct bench *b = bench_try(&good[i], err, sizeof(err));
		const unsigned int *engines = good[i].engines;
		bool all = !(engines[0] + engines[1] + engines[2] + engines[3]);
		uint64_t features;
		uint32_t want = 0;

		if (!ktap_ok(b))
			continue;
		for (unsigned int cls = 0; cls < 4; cls++)
			want |= (all ? 1 : engines[cls]) << 8 * cls;
		ktap_eq(bench_read(b, TSR_REG_GPU_ENGINES), want);
		ktap_eq(bench_read(b, TSR_REG_GPU_SLOTS),
			(good[i].queues ? good[i].queues : 64) | 128 << 8);
		features = bench_read64(b, TSR_REG_GPU_FEATURES);
		ktap_eq(!!(features & TSR_FEATURE_LOCAL_MEMORY), !!good[i].local_size);
		ktap_eq(!!(features & TSR_FEATURE_HUGE_PAGES), good[i].page_sizes != 1 << 12);
		ktap_eq(!!(features & TSR_FEATURE_DETERMINISTIC), good[i].deterministic);
		ktap_ok(features & TSR_FEATURE_COMPRESSED);
		ktap_ok(features & TSR_FEATURE_GEOMETRY);
		ktap_ok(features & TSR_FEATURE_TAGGED);
		ktap_eq(bench_read64(b, TSR_REG_GPU_LOCAL_SIZE), good[i].local_size);
		ktap_eq(bench_read(b, TSR_REG_GPU_LIMITS), 256 | 8 << 16 | 8u << 24);
		ktap_eq(bench_read(b, TSR_REG_GPU_RING_LIMITS), 12 | 20 << 8);
		ktap_eq(bench_read(b, TSR_REG_GPU_LOOP_LIMIT), 65536);
		ktap_eq(bench_read64(b, TSR_REG_GPU_TIMESTAMP_HZ), 1000000000);
		ktap_eq(bench_read(b, TSR_REG_GPU_VERSION), 1 << 16 | 1);
		ktap_eq(bench_read(b, TSR_REG_GPU_TILE), 64 | 64 << 16);
		bench_free(b);
	}
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err[0] = '\0';
		if (!ktap_ok(!bench_try(&bad[i], err, sizeof(err))))
			ktap_note("configuration %u", i);
		ktap_ok(err[0] && !strchr(err, '\n'));
	}
}

static uint64_t global(struct stage *s, unsigned int id)
{
	return bench_read64(s->b, TSR_REG_COUNTER_VALUE(id));
}

static uint64_t counter(struct bench_queue *q, unsigned int id)
{
	return bench_queue_reg64(q, TSR_REG_QUEUE_COUNTER(0, id) - TSR_QUEUE__OFFSET);
}

/*
 * Time, by the deterministic clock: busy and blocked, of the queue and of the classes, together and
 * alone.
 */
static void time_counters(void)
{
	struct tsr_config config = { .deterministic = true, .no_inline = true };
	struct bench_queue q[2];
	uint64_t p[8], total, copy, render, both;
	struct stage s;

	stage_init(&s, &config);
	stage_queue(&s, &q[0], 0, TSR_ENGINE_CLASS_COPY, 0);
	stage_queue(&s, &q[1], 1, TSR_ENGINE_CLASS_RENDER, 0);
	bench_emit(&q[0], p, pk_copy(p, STAGE_DATA + 0x80000, STAGE_DATA + 0x10000, 0x10000));
	bench_kick(&q[0]);
	ktap_ok(bench_run(s.b, 10));
	/* One queue alone: all time is its. */
	total = 4 + 2 * 0x10000 / 64;
	ktap_eq(counter(&q[0], TSR_QUEUE_COUNTER_BUSY_TIME), total);
	ktap_eq(bench_queue_reg64(&q[0], TSR_QUEUE_BUSY_NS__OFFSET), total);
	ktap_eq(counter(&q[0], TSR_QUEUE_COUNTER_CYCLES), total);
	ktap_eq(bench_queue_reg64(&q[0], TSR_QUEUE_CYCLES__OFFSET), total);
	ktap_eq(global(&s, TSR_GLOBAL_COUNTER_COPY_BUSY_TIME), total);
	ktap_eq(global(&s, TSR_GLOBAL_COUNTER_RENDER_BUSY_TIME), 0);
	ktap_eq(global(&s, TSR_GLOBAL_COUNTER_OVERLAP_TIME), 0);
	ktap_eq(global(&s, TSR_GLOBAL_COUNTER_GPU_CYCLES), total);
	ktap_eq(counter(&q[0], TSR_QUEUE_COUNTER_SLICES), 1);
	ktap_eq(bench_queue_reg(&q[0], TSR_QUEUE_SLICES__OFFSET), 1);
	/* Two: what each was busy, less what both were, is the time there was. */
	bench_emit(&q[0], p, pk_copy(p, STAGE_DATA + 0x80000, STAGE_DATA + 0x10000, 0x10000));
	for (unsigned int i = 0; i < 50; i++)
		bench_fence(&q[1], STAGE_DATA, i, TSR_EVENT_REACHED, false);
	bench_kick(&q[0]);
	bench_kick(&q[1]);
	tsr_gpu_run(s.b->gpu, 100);
	/* Registers tell the time of what still runs. */
	ktap_eq(counter(&q[0], TSR_QUEUE_COUNTER_BUSY_TIME) - total,
		global(&s, TSR_GLOBAL_COUNTER_GPU_CYCLES) - total);
	ktap_eq(counter(&q[1], TSR_QUEUE_COUNTER_BLOCKED_TIME), 0);
	ktap_ok(bench_run(s.b, 10));
	copy = global(&s, TSR_GLOBAL_COUNTER_COPY_BUSY_TIME) - total;
	render = global(&s, TSR_GLOBAL_COUNTER_RENDER_BUSY_TIME);
	both = global(&s, TSR_GLOBAL_COUNTER_OVERLAP_TIME);
	ktap_eq(copy + render - both, total + 150);
	ktap_ok(both > 0 && both <= render && both <= copy);
	ktap_eq(counter(&q[1], TSR_QUEUE_COUNTER_BUSY_TIME), render);
	ktap_eq(global(&s, TSR_GLOBAL_COUNTER_BIN_BUSY_TIME), 0);
	ktap_eq(global(&s, TSR_GLOBAL_COUNTER_COMPUTE_BUSY_TIME), 0);
	ktap_eq(global(&s, TSR_GLOBAL_COUNTER_DOORBELLS), 3);
	/* Blocked while another queue works for 300 cycles. */
	bench_emit(&q[0], p, pk_wait(p, TSR_COMPARE_EQ, true, STAGE_DATA, 7777));
	bench_kick(&q[0]);
	ktap_ok(bench_run(s.b, 10));
	for (unsigned int i = 0; i < 100; i++)
		bench_fence(&q[1], STAGE_DATA + 8, i, TSR_EVENT_REACHED, false);
	bench_kick(&q[1]);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(counter(&q[0], TSR_QUEUE_COUNTER_BLOCKED_TIME), 300);
	*stage_word(&s, 0) = 7777;
	bench_kick(&q[0]);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(bench_state(&q[0]), TSR_QUEUE_STATE_IDLE);
	/* An idle queue that is suspended was not blocked. */
	bench_control(&q[0], TSR_QUEUE_OP_SUSPEND);
	bench_control(&q[0], TSR_QUEUE_OP_RESUME);
	ktap_eq(counter(&q[0], TSR_QUEUE_COUNTER_BLOCKED_TIME), 300);
	stage_free(&s);
}

/* The TLB's counters: first touch misses, the second hits; the prefetcher's are among them. */
static void tlb_counters(void)
{
	struct bench_queue q;
	struct stage s;
	uint64_t hits, misses;

	stage_init(&s, NULL);
	stage_queue(&s, &q, 0, TSR_ENGINE_CLASS_RENDER, 0);
	bench_fence(&q, STAGE_DATA, 1, TSR_EVENT_REACHED, false);
	bench_kick(&q);
	misses = counter(&q, TSR_QUEUE_COUNTER_TLB_MISSES);
	hits = counter(&q, TSR_QUEUE_COUNTER_TLB_HITS);
	ktap_eq(misses, 2);	/* the ring's page and the word's */
	bench_fence(&q, STAGE_DATA + 8, 1, TSR_EVENT_REACHED, false);
	bench_kick(&q);
	ktap_eq(counter(&q, TSR_QUEUE_COUNTER_TLB_MISSES), misses);
	ktap_eq(counter(&q, TSR_QUEUE_COUNTER_TLB_HITS), hits + 2);
	ktap_eq(counter(&q, TSR_QUEUE_COUNTER_CP_FETCH_BYTES), 48);
	ktap_ok(bench_invalidate_all(&s.as[0]));
	bench_fence(&q, STAGE_DATA + 16, 1, TSR_EVENT_REACHED, false);
	bench_kick(&q);
	ktap_eq(counter(&q, TSR_QUEUE_COUNTER_TLB_MISSES), misses + 2);
	ktap_eq(bench_read64(s.b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_TLB_INVALIDATIONS)), 3);
	stage_free(&s);
}

int main(void)
{
	ktap_start();
	ktap_run("registers after power-on are as described", reset_values);
	ktap_run("registers can be written as described", access_rights);
	ktap_run("halves of 64-bit registers", halves);
	ktap_run("[CP1] slots, and slots that are not there", slots);
	ktap_run("[CP1] ENABLE refuses impossible configurations precisely", bad_config);
	ktap_run("devices of all shapes", configurations);
	ktap_run("counters of time add up", time_counters);
	ktap_run("[MEM2] counters of the TLB", tlb_counters);
	return ktap_finish();
}
