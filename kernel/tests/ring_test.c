// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Entries on a ring, decoded packet by packet as the device does it, and where they go. */

#include <kunit/test.h>

#include "tests.h"

#include "../tessera_queue_hw.c"

/* Stand-ins for the rest of the driver. */
u32 tessera_engine_timeslice(const struct tessera_queue *queue)
{
	return 0;
}

u64 tessera_fence_word_va(u32 slot)
{
	return 0x10000 + slot * 64;
}

u64 tessera_counters_va(u32 slot)
{
	return 0x20000 + slot * 512;
}

/* Registers are memory here, which keeps what was written last. */
#define TEST_SLOT	3

/* A queue with a ring, on a device that is memory. */
static struct tessera_queue *queue_with_ring(struct kunit *test, u32 ring_size)
{
	struct tessera_queue *queue = tessera_test_queue(test, TEST_SLOT);

	queue->ring.size = ring_size;
	queue->ring.cpu = kunit_kzalloc(test, ring_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, queue->ring.cpu);

	return queue;
}

static u32 doorbell(struct tessera_queue *queue)
{
	return tessera_read(queue->tdev, TSR_REG_DOORBELL_RING(TEST_SLOT));
}

/* Find @opcode among the packets of an entry; checks that they fill it to the end. */
static bool find_packet(struct kunit *test, const __le64 *entry, u8 opcode, u64 *words)
{
	unsigned int at, found = 0, qwords, i;

	for (at = 0; at < ENTRY_QWORDS; at += qwords) {
		u64 header = le64_to_cpu(entry[at]);

		qwords = tsr_packet_qwords(header);
		KUNIT_ASSERT_GT(test, qwords, 0);
		KUNIT_ASSERT_LE(test, at + qwords, ENTRY_QWORDS);
		if ((header & TSR_HEADER_OPCODE__MASK) != opcode)
			continue;
		found++;
		for (i = 0; i < qwords; i++)
			words[i] = le64_to_cpu(entry[at + i]);
	}
	KUNIT_EXPECT_LE(test, found, opcode == TSR_OP_NOP ? 8 : 1);

	return found;
}

static void ring_test_entry(struct kunit *test)
{
	struct tessera_queue *queue = queue_with_ring(test, SZ_4K);
	const struct tessera_job job = { .cmd_va = 0x123456789ac0, .cmd_size = 0x7f8 };
	struct tsr_barrier barrier;
	struct tsr_fence fence;
	struct tsr_call call;
	u64 words[ENTRY_QWORDS];

	tessera_queue_hw_emit(queue, &job, 0xabcdef0123456789);

	KUNIT_ASSERT_TRUE(test, find_packet(test, queue->ring.cpu, TSR_OP_CALL, words));
	tsr_unpack_call(words, &call);
	KUNIT_EXPECT_EQ(test, call.addr, job.cmd_va);
	KUNIT_EXPECT_EQ(test, call.size, job.cmd_size);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(queue->ring.cpu[TESSERA_RING_CALL / 8]) & 0xff,
			TSR_OP_CALL);

	KUNIT_ASSERT_TRUE(test, find_packet(test, queue->ring.cpu, TSR_OP_FENCE, words));
	tsr_unpack_fence(words, &fence);
	KUNIT_EXPECT_EQ(test, fence.addr, tessera_fence_word_va(TEST_SLOT));
	KUNIT_EXPECT_EQ(test, fence.value, 0xabcdef0123456789);
	KUNIT_EXPECT_EQ(test, fence.event, TSR_EVENT_ALL_DONE);
	KUNIT_EXPECT_TRUE(test, fence.irq);

	KUNIT_ASSERT_TRUE(test, find_packet(test, queue->ring.cpu, TSR_OP_BARRIER, words));
	tsr_unpack_barrier(words, &barrier);
	KUNIT_EXPECT_TRUE(test, barrier.inv_read && barrier.inv_code);

	KUNIT_EXPECT_FALSE(test, find_packet(test, queue->ring.cpu, TSR_OP_HEAP, words));
	KUNIT_EXPECT_FALSE(test, find_packet(test, queue->ring.cpu, TSR_OP_COUNTER_BEGIN, words));
	KUNIT_EXPECT_FALSE(test, find_packet(test, queue->ring.cpu, TSR_OP_COUNTER_END, words));
}

/* A job without a stream only signals. */
static void ring_test_empty(struct kunit *test)
{
	struct tessera_queue *queue = queue_with_ring(test, SZ_4K);
	const struct tessera_job job = {};
	u64 words[ENTRY_QWORDS];

	tessera_queue_hw_emit(queue, &job, 1);
	KUNIT_EXPECT_FALSE(test, find_packet(test, queue->ring.cpu, TSR_OP_CALL, words));
	KUNIT_EXPECT_TRUE(test, find_packet(test, queue->ring.cpu, TSR_OP_FENCE, words));
}

/* Heap and perfmon have their places, at the same offsets as their gaps. */
static void ring_test_heap_and_perfmon(struct kunit *test)
{
	struct tessera_queue *queue = queue_with_ring(test, SZ_4K);
	struct tessera_heap *heap = kunit_kzalloc(test, sizeof(*heap), GFP_KERNEL);
	struct tessera_perfmon perfmon = { .mask = 0x8000000000000101, .slot = 5 };
	const struct tessera_job job = { .cmd_va = 0x1000, .cmd_size = 8, .heap = heap,
					 .perfmon = &perfmon };
	struct tsr_counter_begin begin;
	struct tsr_counter_end end;
	struct tsr_heap packet;
	u64 words[ENTRY_QWORDS];

	KUNIT_ASSERT_NOT_NULL(test, heap);
	heap->va = 0x40000000;
	heap->max_size = SZ_16M;
	atomic64_set(&heap->committed, SZ_1M);
	tessera_queue_hw_emit(queue, &job, 1);

	KUNIT_ASSERT_TRUE(test, find_packet(test, queue->ring.cpu, TSR_OP_HEAP, words));
	tsr_unpack_heap(words, &packet);
	KUNIT_EXPECT_EQ(test, packet.base, heap->va);
	KUNIT_EXPECT_EQ(test, packet.size, SZ_1M / SZ_64K);
	KUNIT_EXPECT_EQ(test, packet.max, SZ_16M / SZ_64K);
	KUNIT_ASSERT_TRUE(test, find_packet(test, queue->ring.cpu, TSR_OP_COUNTER_BEGIN, words));
	tsr_unpack_counter_begin(words, &begin);
	KUNIT_EXPECT_EQ(test, begin.mask, perfmon.mask);
	KUNIT_ASSERT_TRUE(test, find_packet(test, queue->ring.cpu, TSR_OP_COUNTER_END, words));
	tsr_unpack_counter_end(words, &end);
	KUNIT_EXPECT_EQ(test, end.addr, tessera_counters_va(5));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(queue->ring.cpu[TESSERA_RING_CALL / 8]) & 0xff,
			TSR_OP_CALL);
}

/* The write pointer runs on without bounds; entries go round, none across the end. */
static void ring_test_wrap(struct kunit *test)
{
	static const u32 starts[] = { 0, SZ_4K - TESSERA_RING_ENTRY, 0x80000000 - SZ_4K,
				      0u - 2 * TESSERA_RING_ENTRY };
	struct tessera_queue *queue = queue_with_ring(test, SZ_4K);
	const struct tessera_job job = { .cmd_va = 0x1000, .cmd_size = 8 };
	u64 words[ENTRY_QWORDS];
	struct tsr_fence fence;
	unsigned int i, n;

	/* while the slot is not enabled, jobs go on the ring and no doorbell rings */
	tessera_queue_hw_emit(queue, &job, 1);
	KUNIT_EXPECT_EQ(test, queue->wptr, TESSERA_RING_ENTRY);
	KUNIT_EXPECT_EQ(test, doorbell(queue), 0);

	queue->enabled = true;
	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		queue->wptr = starts[i];
		for (n = 0; n < 2 * SZ_4K / TESSERA_RING_ENTRY; n++) {
			u32 at = starts[i] + n * TESSERA_RING_ENTRY;
			const __le64 *entry = queue->ring.cpu + at % SZ_4K / 8;

			tessera_queue_hw_emit(queue, &job, n + 1);
			KUNIT_EXPECT_EQ(test, queue->wptr, at + TESSERA_RING_ENTRY);
			KUNIT_EXPECT_EQ(test, doorbell(queue), queue->wptr);
			KUNIT_ASSERT_TRUE(test, find_packet(test, entry, TSR_OP_FENCE, words));
			tsr_unpack_fence(words, &fence);
			KUNIT_EXPECT_EQ(test, fence.value, n + 1);
		}
	}
}

/* Registers written to enable a slot. The doorbell is written only if the ring has entries. */
static void ring_test_enable(struct kunit *test)
{
	struct tessera_queue *queue = queue_with_ring(test, SZ_64K);
	struct tessera_vm *vm = kunit_kzalloc(test, sizeof(*vm), GFP_KERNEL);
	struct tessera_device *tdev = queue->tdev;
	u32 config, spaces;

	KUNIT_ASSERT_NOT_NULL(test, vm);
	vm->as = 6;
	queue->vm = vm;
	queue->ring.va = 0x123400000;
	queue->engine_class = DRM_TESSERA_ENGINE_COPY;
	queue->priority = DRM_TESSERA_PRIORITY_HIGH;
	queue->wptr = 0x280;
	tessera_write(tdev, TSR_REG_QUEUE_STATE(TEST_SLOT), TSR_QUEUE_STATE_IDLE);
	tessera_write(tdev, TSR_REG_QUEUE_TIMESLICE(TEST_SLOT), 77);
	KUNIT_EXPECT_EQ(test, tessera_queue_hw_enable(queue, 0x280), 0);

	config = tessera_read(tdev, TSR_REG_QUEUE_CONFIG(TEST_SLOT));
	KUNIT_EXPECT_EQ(test, FIELD_GET(TSR_QUEUE_CONFIG_RING_LOG2__MASK, config), 16);
	KUNIT_EXPECT_EQ(test, FIELD_GET(TSR_QUEUE_CONFIG_CLASS__MASK, config),
			TSR_ENGINE_CLASS_COPY);
	KUNIT_EXPECT_EQ(test, FIELD_GET(TSR_QUEUE_CONFIG_PRIORITY__MASK, config),
			TSR_PRIORITY_HIGH);
	KUNIT_EXPECT_EQ(test, tessera_read64(tdev, TSR_REG_QUEUE_RING_BASE(TEST_SLOT)),
			queue->ring.va);
	KUNIT_EXPECT_EQ(test, tessera_read(tdev, TSR_REG_QUEUE_RPTR(TEST_SLOT)), 0x280);
	spaces = tessera_read(tdev, TSR_REG_QUEUE_ADDRESS_SPACES(TEST_SLOT));
	KUNIT_EXPECT_EQ(test, FIELD_GET(TSR_QUEUE_ADDRESS_SPACES_USER_AS__MASK, spaces), 6);
	/* of the device's choice, whatever the slot had before */
	KUNIT_EXPECT_EQ(test, tessera_read(tdev, TSR_REG_QUEUE_TIMESLICE(TEST_SLOT)), 0);
	KUNIT_EXPECT_EQ(test, doorbell(queue), 0);

	queue->told_wptr = 0;
	KUNIT_EXPECT_EQ(test, tessera_queue_hw_enable(queue, 0x200), 0);
	KUNIT_EXPECT_EQ(test, doorbell(queue), 0x280);
	KUNIT_EXPECT_EQ(test, queue->told_wptr, 0x280);
}

/* A slot that does not start is told by its state; it is reset, and no doorbell rings. */
static void ring_test_refused(struct kunit *test)
{
	static const enum tsr_queue_state refused[] = {
		TSR_QUEUE_STATE_DISABLED, TSR_QUEUE_STATE_FAULTED,
	};
	struct tessera_queue *queue = queue_with_ring(test, SZ_4K);
	struct tessera_vm *vm = kunit_kzalloc(test, sizeof(*vm), GFP_KERNEL);
	struct tessera_device *tdev = queue->tdev;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, vm);
	queue->vm = vm;
	queue->wptr = 0x280;
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		tessera_write(tdev, TSR_REG_QUEUE_STATE(TEST_SLOT), refused[i]);
		KUNIT_EXPECT_EQ(test, tessera_queue_hw_enable(queue, 0), -EIO);
		KUNIT_EXPECT_EQ(test, tessera_read(tdev, TSR_REG_QUEUE_CONTROL(TEST_SLOT)),
				FIELD_PREP(TSR_QUEUE_CONTROL_OP__MASK, TSR_QUEUE_OP_RESET));
		KUNIT_EXPECT_EQ(test, doorbell(queue), 0);
	}
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(ring_test_entry),
	KUNIT_CASE(ring_test_empty),
	KUNIT_CASE(ring_test_heap_and_perfmon),
	KUNIT_CASE(ring_test_wrap),
	KUNIT_CASE(ring_test_enable),
	KUNIT_CASE(ring_test_refused),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "tessera_ring",
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
