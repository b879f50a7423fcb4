// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Fault records: what is made of the registers of a slot, field by field. */

#include <kunit/test.h>

#include "tests.h"

#include "../tessera_fault.c"

/* Registers are memory here. */
#define TEST_SLOT	5

/* Stand-in for the rest of the driver: what a VM has been told of. */
static struct drm_tessera_fault test_record;
static unsigned int test_records;

void tessera_vm_add_fault(struct tessera_vm *vm, const struct tessera_queue *queue,
			  const struct drm_tessera_fault *fault)
{
	test_record = *fault;
	test_records++;
}

static struct tessera_queue *faulty_queue(struct kunit *test)
{
	struct tessera_queue *queue = tessera_test_queue(test, 0);

	queue->tdev->drm.dev = tessera_test_device(test);
	queue->tdev->info.va_bits = 39;
	queue->id = 77;

	return queue;
}

/* Each field from its own bits of its own register. */
static void fault_test_read(struct kunit *test)
{
	struct tessera_device *tdev = faulty_queue(test)->tdev;
	struct tessera_hw_fault fault;
	unsigned int i;

	tessera_write(tdev, TSR_REG_QUEUE_FAULT(TEST_SLOT),
		      FIELD_PREP(TSR_QUEUE_FAULT_CODE__MASK, 0x21) |
		      FIELD_PREP(TSR_QUEUE_FAULT_ACCESS__MASK, TSR_ACCESS_EXEC) |
		      FIELD_PREP(TSR_QUEUE_FAULT_LEVEL__MASK, 3));
	tessera_write(tdev, TSR_REG_QUEUE_FAULT_AS(TEST_SLOT), 9);
	tessera_write64(tdev, TSR_REG_QUEUE_FAULT_ADDR(TEST_SLOT), 0x123456789abcdef0);
	tessera_write64(tdev, TSR_REG_QUEUE_FAULT_PC(TEST_SLOT), 0x23456789abcdef01);
	tessera_write(tdev, TSR_REG_QUEUE_FAULT_SHADER(TEST_SLOT), 0x80345678);
	tessera_write64(tdev, TSR_REG_QUEUE_FAULT_CLAUSE(TEST_SLOT), 0x3456789abcdef012);
	for (i = 0; i < 3; i++)
		tessera_write(tdev, TSR_REG_QUEUE_FAULT_GROUP(TEST_SLOT, i), 100 + i);

	memset(&fault, 0xff, sizeof(fault));
	tessera_fault_read(tdev, TEST_SLOT, &fault);
	KUNIT_EXPECT_EQ(test, fault.code, 0x21);
	KUNIT_EXPECT_EQ(test, fault.access, TSR_ACCESS_EXEC);
	KUNIT_EXPECT_EQ(test, fault.level, 3);
	KUNIT_EXPECT_EQ(test, fault.as, 9);
	KUNIT_EXPECT_EQ(test, fault.addr, 0x123456789abcdef0);
	KUNIT_EXPECT_EQ(test, fault.pc, 0x23456789abcdef01);
	KUNIT_EXPECT_EQ(test, fault.shader, 0x80345678);
	KUNIT_EXPECT_EQ(test, fault.clause, 0x3456789abcdef012);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, fault.group[i], 100 + i);
}

/* The errno of each code in the description, and of unknown codes. */
static void fault_test_codes(struct kunit *test)
{
#define ROW(_name, _number, _errno) { #_name, _number, _errno },
	static const struct {
		const char *name;
		u32 code;
		int error;
	} rows[] = { TSR_FAULT__TABLE(ROW) };
#undef ROW
	u32 beyond = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_STREQ(test, tessera_fault_name(rows[i].code), rows[i].name);
		KUNIT_EXPECT_EQ(test, tessera_fault_errno(rows[i].code),
				rows[i].error ? -rows[i].error : -EIO);
		beyond = max(beyond, rows[i].code + 1);
	}
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_STREQ(test, tessera_fault_name(beyond + i), "unknown");
		KUNIT_EXPECT_EQ(test, tessera_fault_errno(beyond + i), -EIO);
	}
	KUNIT_EXPECT_STREQ(test, tessera_fault_name(U32_MAX), "unknown");
	KUNIT_EXPECT_EQ(test, tessera_fault_errno(U32_MAX), -EIO);
}

static const struct tessera_hw_fault test_program = {
	.code = TSR_FAULT_MMU_UNMAPPED,
	.addr = 0x1234567,
	.pc = 0x7654320,
	.group = { 11, 22, 33 },
	.clause = 0x4440,
	.shader = TSR_QUEUE_FAULT_SHADER_VALID__MASK | TSR_QUEUE_FAULT_SHADER_ADD__MASK |
		  FIELD_PREP_CONST(TSR_QUEUE_FAULT_SHADER_LANE__MASK, 3) |
		  FIELD_PREP_CONST(TSR_QUEUE_FAULT_SHADER_WARP__MASK, 5) |
		  FIELD_PREP_CONST(TSR_QUEUE_FAULT_SHADER_TUPLE__MASK, 6) |
		  FIELD_PREP_CONST(TSR_QUEUE_FAULT_SHADER_CORE__MASK, 7),
};

/* A program's fault as user space sees it. */
static void fault_test_program(struct kunit *test)
{
	struct tessera_hw_fault fault = test_program;
	struct drm_tessera_queue_get_state state;

	memset(&state, 0xff, sizeof(state));
	tessera_fault_get_state(&fault, &state);
	KUNIT_EXPECT_EQ(test, state.fault_code, TSR_FAULT_MMU_UNMAPPED);
	KUNIT_EXPECT_EQ(test, state.fault_va, 0x1234567);
	KUNIT_EXPECT_EQ(test, state.fault_packet_va, 0x7654320);
	KUNIT_EXPECT_EQ(test, state.fault_flags,
			DRM_TESSERA_QUEUE_FAULT_PROGRAM | DRM_TESSERA_QUEUE_FAULT_ADD);
	KUNIT_EXPECT_EQ(test, state.fault_clause_va, 0x4440);
	KUNIT_EXPECT_EQ(test, state.fault_lane, 3);
	KUNIT_EXPECT_EQ(test, state.fault_warp, 5);
	KUNIT_EXPECT_EQ(test, state.fault_tuple, 6);
	KUNIT_EXPECT_EQ(test, state.fault_core, 7);
	KUNIT_EXPECT_EQ(test, state.fault_group[0], 11);
	KUNIT_EXPECT_EQ(test, state.fault_group[1], 22);
	KUNIT_EXPECT_EQ(test, state.fault_group[2], 33);

	fault.shader &= ~TSR_QUEUE_FAULT_SHADER_ADD__MASK;
	tessera_fault_get_state(&fault, &state);
	KUNIT_EXPECT_EQ(test, state.fault_flags, DRM_TESSERA_QUEUE_FAULT_PROGRAM);
}

/* Without a program nothing is said of one, whatever the registers hold. */
static void fault_test_no_program(struct kunit *test)
{
	struct tessera_hw_fault fault = test_program;
	struct drm_tessera_queue_get_state state;

	fault.shader &= ~TSR_QUEUE_FAULT_SHADER_VALID__MASK;
	memset(&state, 0xff, sizeof(state));
	tessera_fault_get_state(&fault, &state);
	KUNIT_EXPECT_EQ(test, state.fault_code, TSR_FAULT_MMU_UNMAPPED);
	KUNIT_EXPECT_EQ(test, state.fault_va, 0x1234567);
	KUNIT_EXPECT_EQ(test, state.fault_packet_va, 0x7654320);
	KUNIT_EXPECT_EQ(test, state.fault_flags, 0);
	KUNIT_EXPECT_EQ(test, state.fault_clause_va, 0);
	KUNIT_EXPECT_EQ(test, state.fault_lane | state.fault_warp | state.fault_tuple, 0);
	KUNIT_EXPECT_EQ(test, state.fault_core, 0);
	KUNIT_EXPECT_EQ(test, state.fault_group[0] | state.fault_group[1] | state.fault_group[2],
			0);
}

/* Faults of memory are recorded with page, reason, access and level; others are not. */
static void fault_test_record(struct kunit *test)
{
	static const struct {
		u32 code, access;
		u64 addr;
		u32 want_reason, want_access;
	} rows[] = {
		{ TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_READ, BIT_ULL(39) - 1,
		  DRM_TESSERA_FAULT_NOT_MAPPED, DRM_TESSERA_BIND_READ },
		{ TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_WRITE, BIT_ULL(39),
		  DRM_TESSERA_FAULT_ADDRESS, DRM_TESSERA_BIND_WRITE },
		{ TSR_FAULT_MMU_PERMISSION, TSR_ACCESS_EXEC, 0x1fff,
		  DRM_TESSERA_FAULT_PERMISSION, DRM_TESSERA_BIND_EXEC },
		{ TSR_FAULT_MMU_WALK, TSR_ACCESS_READ, 0x2000,
		  DRM_TESSERA_FAULT_PAGE_TABLE, DRM_TESSERA_BIND_READ },
		{ TSR_FAULT_MMU_WALK_BUS, TSR_ACCESS_WRITE, 0x3001,
		  DRM_TESSERA_FAULT_WALK_BUS, DRM_TESSERA_BIND_WRITE },
		{ TSR_FAULT_BUS, TSR_ACCESS_WRITE, 0x4800,
		  DRM_TESSERA_FAULT_BUS, DRM_TESSERA_BIND_WRITE },
	};
	struct tessera_queue *queue = faulty_queue(test);
	struct tessera_hw_fault fault = {};
	unsigned int i;

	test_records = 0;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 before = ktime_get_ns();

		fault.code = rows[i].code;
		fault.access = rows[i].access;
		fault.addr = rows[i].addr;
		fault.level = i;
		tessera_fault_record(queue, &fault);
		KUNIT_EXPECT_EQ(test, test_records, i + 1);
		KUNIT_EXPECT_EQ(test, test_record.va, rows[i].addr - rows[i].addr % SZ_4K);
		KUNIT_EXPECT_EQ(test, test_record.reason, rows[i].want_reason);
		KUNIT_EXPECT_EQ(test, test_record.access, rows[i].want_access);
		KUNIT_EXPECT_EQ(test, test_record.level, i);
		KUNIT_EXPECT_EQ(test, test_record.queue_id, 77);
		KUNIT_EXPECT_GE(test, test_record.timestamp_ns, before);
		KUNIT_EXPECT_LE(test, test_record.timestamp_ns, ktime_get_ns());
	}
	fault.code = TSR_FAULT_UNKNOWN_OPCODE;
	tessera_fault_record(queue, &fault);
	KUNIT_EXPECT_EQ(test, test_records, i);
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(fault_test_read),
	KUNIT_CASE(fault_test_codes),
	KUNIT_CASE(fault_test_program),
	KUNIT_CASE(fault_test_no_program),
	KUNIT_CASE(fault_test_record),
	{}
};

static struct kunit_suite fault_suite = {
	.name = "tessera_fault",
	.test_cases = fault_cases,
};

kunit_test_suite(fault_suite);
