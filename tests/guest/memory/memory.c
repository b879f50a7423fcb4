// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 DEVICE_ARGS=vram=32M */
/* Accesses that the MMU allows: permissions, NULL pages, faults and their records. */
#include "gt_main.h"

#include <errno.h>
#include <unistd.h>

#define WIN_VA	0x40000000ULL

static struct gt_ctx c;

static int copy8(uint64_t from, uint64_t to)
{
	struct gt_cs cs = gt_stream(&c, 4);
	int ret;

	GT_EMIT(&cs, copy_linear, .src = from, .dst = to, .size = 8);
	ret = gt_run(&c, &cs);
	if (ret)
		gt_renew_queue(&c);
	return ret;
}

static int execute(uint64_t va)
{
	struct gt_cs cs = gt_stream(&c, 3);
	int ret;

	GT_EMIT(&cs, call, .addr = va, .size = 24);
	ret = gt_run(&c, &cs);
	if (ret)
		gt_renew_queue(&c);
	return ret;
}

/* The newest fault of the VM, which must be the only one since @before. */
static struct drm_tessera_fault last_fault(uint64_t before)
{
	struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS] = { 0 };
	struct drm_tessera_vm_get_state state = gt_vm_state(c.fd, c.vm, faults);

	ktap_eq(state.fault_count, before + 1);
	if (!ktap_ok(state.faults.count >= 1 && state.faults.count <= DRM_TESSERA_FAULT_RECORDS))
		return faults[0];
	return faults[state.faults.count - 1];
}

static uint64_t fault_count(void)
{
	return gt_vm_state(c.fd, c.vm, NULL).fault_count;
}

/* A mapping with one set of permissions, and each kind of access to it. */
static void permissions(const void *arg)
{
	uint32_t perm = *(const uint32_t *)arg, access;
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);
	volatile uint64_t *word = gt_data(&c, 0);
	struct gt_cs cs = { .words = bo.map, .va = WIN_VA, .room = 3 };

	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0), .value = 0x77);
	gt_bo_bind(&bo, c.vm, WIN_VA, perm);
	for (access = DRM_TESSERA_BIND_READ; access <= DRM_TESSERA_BIND_EXEC; access <<= 1) {
		uint64_t before = fault_count();
		struct drm_tessera_fault fault;
		int ret;

		*word = 0;
		if (access == DRM_TESSERA_BIND_READ)
			ret = copy8(WIN_VA + 16, gt_data_va(64));
		else if (access == DRM_TESSERA_BIND_WRITE)
			ret = copy8(gt_data_va(64), WIN_VA + 0x800);
		else
			ret = execute(WIN_VA);
		ktap_eq(ret, perm & access ? 0 : -EFAULT);
		ktap_eq(*word, access == DRM_TESSERA_BIND_EXEC && perm & access ? 0x77 : 0);
		if (perm & access)
			continue;
		fault = last_fault(before);
		ktap_eq(fault.va, WIN_VA);
		ktap_eq(fault.access, access);
		ktap_eq(fault.reason, DRM_TESSERA_FAULT_PERMISSION);
		ktap_eq(fault.level, 0);
	}
	gt_bo_free(&bo);
}

static void null_mapping(void)
{
	struct drm_tessera_bind_op op = { .op = DRM_TESSERA_BIND_MAP_NULL,
					  .va = WIN_VA,
					  .size = GT_HUGE + 4 * GT_PAGE };
	uint64_t *words = gt_data(&c, 0), at;

	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	for (at = 0; at < op.size; at += op.size - 8) {
		words[0] = 0x1111;
		words[1] = 0x2222;
		ktap_eq(copy8(gt_data_va(0), WIN_VA + at), 0);
		ktap_eq(copy8(WIN_VA + at, gt_data_va(8)), 0);
		ktap_eq(words[1], 0);
	}
	ktap_eq(execute(WIN_VA), -EFAULT);
	op = gt_op_unmap(WIN_VA + GT_PAGE, GT_PAGE);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	ktap_eq(copy8(WIN_VA + GT_PAGE, gt_data_va(8)), -EFAULT);
	words[1] = 0x2222;
	ktap_eq(copy8(WIN_VA + 2 * GT_PAGE, gt_data_va(8)), 0);
	ktap_eq(words[1], 0);
	op = gt_op_unmap(WIN_VA, GT_HUGE + 4 * GT_PAGE);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	ktap_eq(copy8(WIN_VA + 2 * GT_PAGE, gt_data_va(8)), -EFAULT);
}

/* NULL over memory hides it; the memory keeps what it had. */
static void null_replaces(void)
{
	struct gt_bo bo = gt_bo(c.fd, 2 * GT_PAGE, 0);
	struct drm_tessera_bind_op op = { .op = DRM_TESSERA_BIND_MAP_NULL,
					  .va = WIN_VA,
					  .size = GT_PAGE };
	uint64_t *words = gt_data(&c, 0);

	*(uint64_t *)bo.map = 0xabcd;
	gt_bo_bind(&bo, c.vm, WIN_VA, GT_RW);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	words[0] = 5;
	ktap_eq(copy8(WIN_VA, gt_data_va(0)), 0);
	ktap_eq(words[0], 0);
	words[0] = 5;
	ktap_eq(copy8(gt_data_va(0), WIN_VA), 0);
	ktap_eq(*(volatile uint64_t *)bo.map, 0xabcd);
	op = gt_op_map(bo.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	ktap_eq(copy8(WIN_VA, gt_data_va(0)), 0);
	ktap_eq(words[0], 0xabcd);
	gt_bo_free(&bo);
}

/* One way to reach memory that is not there. */
struct fault_case {
	const char *name;
	uint64_t from, to;	/* 0: the data buffer; else the address that faults */
	uint32_t access, reason;
};

static const struct fault_case fault_cases[] = {
	{ "a read of nothing", 0x4123456788, 0, DRM_TESSERA_BIND_READ,
	  DRM_TESSERA_FAULT_NOT_MAPPED },
	{ "a write to nothing", 0, 0x4123456788, DRM_TESSERA_BIND_WRITE,
	  DRM_TESSERA_FAULT_NOT_MAPPED },
	{ "a read behind the end of a mapping", GT_DATA_VA + GT_DATA_SIZE, 0, DRM_TESSERA_BIND_READ,
	  DRM_TESSERA_FAULT_NOT_MAPPED },
	{ "a read beyond every address", 1ULL << 60, 0, DRM_TESSERA_BIND_READ,
	  DRM_TESSERA_FAULT_ADDRESS },
	{ "a write at the end of 64 bits", 0, UINT64_MAX - 7, DRM_TESSERA_BIND_WRITE,
	  DRM_TESSERA_FAULT_ADDRESS },
};

static void fault_record(const void *arg)
{
	const struct fault_case *f = arg;
	uint64_t before = fault_count(), start = gt_now_ns(), va = f->from ? f->from : f->to;
	struct gt_cs cs = gt_stream(&c, 8);
	struct drm_tessera_queue_get_state state;
	struct drm_tessera_fault fault;

	GT_EMIT(&cs, nop, .qwords = 3);
	GT_EMIT(&cs, copy_linear, .src = f->from ? f->from : gt_data_va(0),
		.dst = f->to ? f->to : gt_data_va(0), .size = 8);
	ktap_eq(gt_run(&c, &cs), -EFAULT);
	fault = last_fault(before);
	ktap_eq(fault.va, va & ~(GT_PAGE - 1));
	ktap_eq(fault.queue_id, c.queue);
	ktap_eq(fault.access, f->access);
	ktap_eq(fault.reason, f->reason);
	ktap_ok(fault.timestamp_ns >= start && fault.timestamp_ns <= gt_now_ns());
	state = gt_queue_state(c.fd, c.queue);
	ktap_eq(state.state, DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_FAULTED);
	ktap_eq(state.error, EFAULT);
	ktap_eq(state.fault_code, TSR_FAULT_MMU_UNMAPPED);
	ktap_eq(state.fault_packet_va, cs.va + 24);
	gt_renew_queue(&c);
}

/* A stream that is not mapped, and one that runs off the end of its mapping, are fetch faults. */
static void fetch_faults(void)
{
	struct drm_tessera_job job = { .queue_id = c.queue,
				       .cmd_va = 0x4000000000,
				       .cmd_size = 64 };
	struct drm_tessera_sync done = gt_binary(c.sync);
	uint64_t before = fault_count();
	struct drm_tessera_fault fault;

	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), -EFAULT);
	fault = last_fault(before);
	ktap_eq(fault.va, 0x4000000000);
	ktap_eq(fault.access, DRM_TESSERA_BIND_EXEC);
	ktap_eq(fault.reason, DRM_TESSERA_FAULT_NOT_MAPPED);
	gt_renew_queue(&c);
	memset((char *)c.cmd.map + GT_CMD_SIZE - 64, 0, 64);
	((uint64_t *)((char *)c.cmd.map + GT_CMD_SIZE - 64))[0] = TSR_OP_NOP | 8 << 8;
	job.queue_id = c.queue;
	job.cmd_va = GT_CMD_VA + GT_CMD_SIZE - 64;
	job.cmd_size = 128;
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), -EFAULT);
	fault = last_fault(before + 1);
	ktap_eq(fault.va, GT_CMD_VA + GT_CMD_SIZE);
	ktap_eq(fault.access, DRM_TESSERA_BIND_EXEC);
	gt_renew_queue(&c);
}

/*
 * More faults than records: the count goes on, the oldest are dropped, order is kept, shorter
 * arrays get the oldest.
 */
static void many_faults(void)
{
	struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS];
	struct drm_tessera_vm_get_state state;
	uint64_t before = fault_count();
	unsigned int i, n = DRM_TESSERA_FAULT_RECORDS + 5;

	for (i = 0; i < n; i++)
		ktap_eq(copy8(0x5000000000 + i * GT_PAGE, gt_data_va(0)), -EFAULT);
	state = gt_vm_state(c.fd, c.vm, faults);
	ktap_eq(state.fault_count, before + n);
	ktap_eq(state.faults.count, DRM_TESSERA_FAULT_RECORDS);
	for (i = 0; i < DRM_TESSERA_FAULT_RECORDS; i++)
		ktap_eq(faults[i].va, 0x5000000000 + (i + n - DRM_TESSERA_FAULT_RECORDS) * GT_PAGE);
	memset(faults, 0xee, sizeof(faults));
	state = (struct drm_tessera_vm_get_state){ .vm_id = c.vm, .faults = GT_ARRAY(faults, 3) };
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_VM_GET_STATE, &state), 0);
	ktap_eq(state.faults.count, 3);
	ktap_eq(faults[0].va, 0x5000000000 + 5 * GT_PAGE);
	ktap_eq(faults[3].va, 0xeeeeeeeeeeeeeeee);
	state.faults =
		(struct drm_tessera_array){ .ptr = 8, .count = 3, .stride = sizeof(faults[0]) };
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_VM_GET_STATE, &state), -EFAULT);
}

/*
 * After UNMAP returns the GPU has no way to the page, however often it has used it; after MAP it
 * sees the new one at once.
 */
static void no_stale_translation(void)
{
	struct gt_bo a = gt_bo(c.fd, GT_PAGE, 0), b = gt_bo(c.fd, GT_PAGE, 0);
	uint64_t *words = gt_data(&c, 0);
	unsigned int i;

	*(uint64_t *)a.map = 0xaaaa;
	*(uint64_t *)b.map = 0xbbbb;
	for (i = 0; i < 30; i++) {
		struct drm_tessera_bind_op op =
			gt_op_map(i & 1 ? b.handle : a.handle, WIN_VA, GT_PAGE, 0, GT_RW);

		ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
		ktap_eq(copy8(WIN_VA, gt_data_va(0)), 0);
		ktap_eq(words[0], i & 1 ? 0xbbbb : 0xaaaa);
		if (i % 3)
			continue;
		op = gt_op_unmap(WIN_VA, GT_PAGE);
		ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
		ktap_eq(copy8(WIN_VA, gt_data_va(0)), -EFAULT);
	}
	/* Taking a permission away is seen as well. */
	gt_bo_bind(&a, c.vm, WIN_VA, GT_RW);
	ktap_eq(copy8(gt_data_va(0), WIN_VA), 0);
	gt_bo_bind(&a, c.vm, WIN_VA, DRM_TESSERA_BIND_READ);
	ktap_eq(copy8(gt_data_va(0), WIN_VA), -EFAULT);
	gt_bo_free(&a);
	gt_bo_free(&b);
}

/*
 * The writes of a job before its fault stay, exactly up to a burst. Nothing after the hole is
 * written.
 */
static void copy_into_hole(void)
{
	struct gt_bo bo = gt_bo(c.fd, 8 * GT_PAGE, DRM_TESSERA_BO_CACHED);
	struct drm_tessera_bind_op op = gt_op_unmap(WIN_VA + 4 * GT_PAGE, GT_PAGE);
	uint64_t before = fault_count(), i;
	struct gt_cs cs = gt_stream(&c, 8);
	unsigned char *bytes = bo.map;

	memset(bo.map, 0x11, bo.size);
	gt_bo_bind(&bo, c.vm, WIN_VA, GT_RW);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	GT_EMIT(&cs, fill_linear, .texel = 1, .dst = WIN_VA, .size = 8 * GT_PAGE,
		.pattern_lo = 0x99);
	ktap_eq(gt_run(&c, &cs), -EFAULT);
	gt_renew_queue(&c);
	ktap_eq(last_fault(before).va, WIN_VA + 4 * GT_PAGE);
	for (i = 4 * GT_PAGE; i < 8 * GT_PAGE; i++) {
		if (bytes[i] != 0x11)
			break;
	}
	ktap_eq(i, 8 * GT_PAGE);
	gt_bo_free(&bo);
}

/* The level of the page table that says that @va is for reading only. */
static uint32_t level_of(uint64_t va)
{
	uint64_t before = fault_count();
	struct drm_tessera_fault fault;

	ktap_eq(copy8(gt_data_va(0), va), -EFAULT);
	fault = last_fault(before);
	ktap_eq(fault.va, va);
	ktap_eq(fault.reason, DRM_TESSERA_FAULT_PERMISSION);
	return fault.level;
}

/* Local memory of the size of a large page is one, wherever there is room for less. */
static void large_page(void)
{
	struct gt_bo small = gt_bo(c.fd, GT_PAGE, DRM_TESSERA_BO_LOCAL);
	struct gt_bo large = gt_bo(c.fd, GT_HUGE, DRM_TESSERA_BO_LOCAL);
	struct gt_bo almost = gt_bo(c.fd, GT_HUGE - GT_PAGE, DRM_TESSERA_BO_LOCAL);

	gt_bo_bind(&small, c.vm, WIN_VA, DRM_TESSERA_BIND_READ);
	gt_bo_bind(&large, c.vm, WIN_VA + GT_HUGE, DRM_TESSERA_BIND_READ);
	gt_bo_bind(&almost, c.vm, WIN_VA + 2 * GT_HUGE, DRM_TESSERA_BIND_READ);
	ktap_eq(level_of(WIN_VA), 0);
	ktap_eq(level_of(WIN_VA + GT_HUGE), 1);
	ktap_eq(level_of(WIN_VA + 2 * GT_HUGE - GT_PAGE), 1);
	ktap_eq(level_of(WIN_VA + 2 * GT_HUGE), 0);
	gt_bo_free(&almost);
	gt_bo_free(&large);
	gt_bo_free(&small);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint32_t perm;
	} perms[] = {
		{ "[MEM2] [MEM3] mapped for reading only", DRM_TESSERA_BIND_READ },
		{ "[MEM2] [MEM3] mapped for writing only", DRM_TESSERA_BIND_WRITE },
		{ "[MEM2] [MEM3] mapped for execution only", DRM_TESSERA_BIND_EXEC },
		{ "[MEM2] [MEM3] mapped for reading and writing", GT_RW },
		{ "[MEM2] mapped for everything", GT_RWX },
	};
	char name[120];
	size_t i;

	gt_start(argc, argv);
	c = gt_ctx();
	for (i = 0; i < GT_ARRAY_SIZE(perms); i++)
		ktap_run_arg(perms[i].name, permissions, &perms[i].perm);
	ktap_run("[MEM2] NULL pages read as zero and swallow writes, small and large",
		 null_mapping);
	ktap_run("[MEM2] NULL pages over memory", null_replaces);
	for (i = 0; i < GT_ARRAY_SIZE(fault_cases); i++) {
		snprintf(name, sizeof(name), "[MEM3] the record of %s", fault_cases[i].name);
		ktap_run_arg(name, fault_record, &fault_cases[i]);
	}
	ktap_run("[MEM3] faults of the command fetch", fetch_faults);
	ktap_run("[MEM3] more faults than records", many_faults);
	ktap_run("[MEM2] no stale translation after VM_BIND", no_stale_translation);
	ktap_run("[MEM3] a fill into a hole stops there", copy_into_hole);
	ktap_run("[MEM1] [MEM2] a large page of local memory is mapped as one", large_page);
	gt_ctx_free(&c);
	return gt_finish();
}
