// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/* VM_BIND: each field bad once, all-or-nothing, and what ends up mapped as the GPU sees it. */
#include "gt_main.h"

#include <unistd.h>

#include "gt_bad.h"

#define WIN_VA	0x40000000ULL	/* the range the functional tests bind; 2 MiB aligned */

static struct gt_ctx c;

static void bad_ops(void)
{
	struct drm_tessera_gpu_info info = gt_gpu_info(c.fd);
	struct drm_tessera_bind_op op = gt_op_map(c.data.handle, WIN_VA, 4 * GT_PAGE, 0, GT_RW);
	struct drm_tessera_vm_bind bind = { .vm_id = c.vm, .ops = GT_ARRAY(&op, 1) };
	const struct gt_call call = GT_CALL(c.fd, VM_BIND, bind);
	const struct gt_bad rows[] = {
		GT_BAD(bind.vm_id, 0, ENOENT),
		GT_BAD(bind.vm_id, c.vm + 65536, ENOENT),
		GT_BAD(bind.vm_id, UINT32_MAX, ENOENT),
		GT_BAD(bind.ops.count, 0, EINVAL),
		GT_BAD(op.op, 4, EINVAL),
		GT_BAD(op.op, UINT32_MAX, EINVAL),
		GT_BAD(op.flags, 0, EINVAL),
		GT_BAD(op.bo_handle, 0, ENOENT),
		GT_BAD(op.bo_handle, c.data.handle + 65536, ENOENT),
		GT_BAD(op.bo_handle, UINT32_MAX, ENOENT),
		GT_BAD(op.pad, 1, EINVAL),
		GT_BAD(op.pad, 1u << 31, EINVAL),
		GT_BAD(op.va, WIN_VA + 1, EINVAL),
		GT_BAD(op.va, WIN_VA + 64, EINVAL),
		GT_BAD(op.va, WIN_VA + GT_PAGE - 1, EINVAL),
		GT_BAD(op.va, info.va_end, EINVAL),
		GT_BAD(op.va, info.va_end - GT_PAGE, EINVAL),	/* four pages do not fit */
		GT_BAD(op.va, UINT64_MAX - GT_PAGE + 1, EINVAL),
		GT_BAD(op.va, 1ULL << 63, EINVAL),
		GT_BAD(op.size, 0, EINVAL),
		GT_BAD(op.size, 1, EINVAL),
		GT_BAD(op.size, GT_PAGE - 1, EINVAL),
		GT_BAD(op.size, GT_PAGE + 8, EINVAL),
		GT_BAD(op.size, GT_DATA_SIZE + GT_PAGE, EINVAL),
		GT_BAD(op.size, 1ULL << 63, EINVAL),
		GT_BAD(op.size, UINT64_MAX - GT_PAGE + 1, EINVAL),
		GT_BAD(op.size, 0 - WIN_VA, EINVAL),		/* va + size == 2^64 */
		GT_BAD(op.bo_offset, 1, EINVAL),
		GT_BAD(op.bo_offset, 64, EINVAL),
		GT_BAD(op.bo_offset, GT_DATA_SIZE, EINVAL),
		GT_BAD(op.bo_offset, GT_DATA_SIZE - 3 * GT_PAGE, EINVAL),
		GT_BAD(op.bo_offset, UINT64_MAX - GT_PAGE + 1, EINVAL),
		GT_BAD(op.bo_offset, 0 - 4 * GT_PAGE, EINVAL),	/* offset + size == 2^64 */
	};
	uint32_t known = GT_RWX;

	GT_BAD_ROWS(&call, rows);
	gt_bad_bits(&call, "flags", &bind.flags, DRM_TESSERA_VM_BIND_ASYNC);
	gt_bad_bits(&call, "ops[0].flags", &op.flags, known);
	if (info.va_start) {
		const struct gt_bad low = GT_BAD(op.va, info.va_start - GT_PAGE, EINVAL);

		gt_bad_row(&call, &low);
	}
}

static void bad_array(void)
{
	struct drm_tessera_bind_op ops[2] = {
		gt_op_map(c.data.handle, WIN_VA, GT_PAGE, 0, GT_RW),
		gt_op_map(c.data.handle, WIN_VA + GT_PAGE, GT_PAGE, 0, GT_RW),
	};
	struct drm_tessera_vm_bind bind = { .vm_id = c.vm, .ops = GT_ARRAY(ops, 2) };
	const struct gt_call call = GT_CALL(c.fd, VM_BIND, bind);

	gt_bad_array(&call, "ops", &bind.ops, sizeof(ops[0]), gt_gpu_info(c.fd).max_bind_ops);
}

/* Operations other than MAP carry zeros where they have no use for a field. */
static void bad_other_ops(void)
{
	struct drm_tessera_bind_op op = gt_op_unmap(WIN_VA, GT_PAGE);
	struct drm_tessera_vm_bind bind = { .vm_id = c.vm, .ops = GT_ARRAY(&op, 1) };
	const struct gt_bad range_rows[] = {
		GT_BAD(op.flags, DRM_TESSERA_BIND_READ, EINVAL),
		GT_BAD(op.bo_handle, c.data.handle, EINVAL),
		GT_BAD(op.bo_offset, GT_PAGE, EINVAL),
		GT_BAD(op.pad, 1, EINVAL),
		GT_BAD(op.va, WIN_VA + 8, EINVAL),
		GT_BAD(op.size, 0, EINVAL),
		GT_BAD(op.size, 8, EINVAL),
		GT_BAD(op.va, 1ULL << 62, EINVAL),
	};
	const struct gt_bad bo_rows[] = {
		GT_BAD(op.flags, DRM_TESSERA_BIND_READ, EINVAL),
		GT_BAD(op.bo_handle, 0, ENOENT),
		GT_BAD(op.bo_handle, c.data.handle + 65536, ENOENT),
		GT_BAD(op.va, WIN_VA, EINVAL),
		GT_BAD(op.size, GT_PAGE, EINVAL),
		GT_BAD(op.bo_offset, GT_PAGE, EINVAL),
		GT_BAD(op.pad, 1, EINVAL),
	};
	struct gt_call call = GT_CALL(c.fd, VM_BIND, bind);

	call.name = "VM_BIND UNMAP";
	GT_BAD_ROWS(&call, range_rows);
	op.op = DRM_TESSERA_BIND_MAP_NULL;
	call.name = "VM_BIND MAP_NULL";
	GT_BAD_ROWS(&call, range_rows);
	op = (struct drm_tessera_bind_op){ .op = DRM_TESSERA_BIND_UNMAP_BO,
					   .bo_handle = c.data.handle };
	call.name = "VM_BIND UNMAP_BO";
	GT_BAD_ROWS(&call, bo_rows);
}

static void bad_syncs(void)
{
	uint32_t done = gt_syncobj(c.fd, true), unsubmitted = gt_syncobj(c.fd, false);
	struct drm_tessera_sync wait = gt_binary(done), signal = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_bind_op op = gt_op_map(c.data.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	struct drm_tessera_vm_bind bind = {
		.vm_id = c.vm, .flags = DRM_TESSERA_VM_BIND_ASYNC, .ops = GT_ARRAY(&op, 1),
		.waits = GT_ARRAY(&wait, 1), .signals = GT_ARRAY(&signal, 1),
	};
	const struct gt_call call = GT_CALL(c.fd, VM_BIND, bind);
	uint32_t limit = gt_gpu_info(c.fd).max_syncs;

	gt_bad_sync(&call, &wait, true, unsubmitted);
	gt_bad_sync(&call, &signal, false, 0);
	gt_bad_array(&call, "waits", &bind.waits, sizeof(wait), limit);
	gt_bad_array(&call, "signals", &bind.signals, sizeof(signal), limit);
	ktap_ok(!gt_syncobj_done(c.fd, unsubmitted, 0));
	bind.flags = 0;
	ktap_eq(gt_call(&call), -EINVAL);
	bind.signals.count = 0;
	ktap_eq(gt_call(&call), -EINVAL);
	bind.waits.count = 0;
	bind.signals.count = 1;
	ktap_eq(gt_call(&call), -EINVAL);
	ktap_result("[SYS3] VM_BIND with syncs but without ASYNC fails with EINVAL");
}

static void private_bo(void)
{
	struct drm_tessera_bind_op op;
	uint32_t other = gt_vm(c.fd), handle;

	ktap_eq(gt_bo_try(c.fd, GT_PAGE, 0, other, &handle), 0);
	op = gt_op_map(handle, WIN_VA, GT_PAGE, 0, GT_RW);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), -EINVAL);
	ktap_eq(gt_vm_bind(c.fd, other, &op, 1), 0);
	gt_gem_close(c.fd, handle);
	gt_vm_destroy(c.fd, other);
}

/*
 * Read the word at @va by the GPU. Returns 0 or the error of the job. An error replaces the queue
 * by a new one.
 */
static int peek(uint64_t va, uint64_t *value)
{
	struct gt_cs cs = gt_stream(&c, 4);
	int ret;

	*(uint64_t *)gt_data(&c, 0) = 0x5555555555555555;
	GT_EMIT(&cs, copy_linear, .src = va, .dst = gt_data_va(0), .size = 8);
	ret = gt_run(&c, &cs);
	*value = *(volatile uint64_t *)gt_data(&c, 0);
	if (ret)
		gt_renew_queue(&c);
	return ret;
}

static void expect_word(uint64_t va, uint64_t want)
{
	uint64_t got;

	ktap_eq(peek(va, &got), 0);
	ktap_eq(got, want);
}

static void expect_fault(uint64_t va)
{
	uint64_t got;

	ktap_eq(peek(va, &got), -EFAULT);
}

/* A BO whose every page starts with @tag + its number. */
static struct gt_bo numbered(uint64_t pages, uint64_t tag)
{
	struct gt_bo bo = gt_bo(c.fd, pages * GT_PAGE, 0);
	uint64_t i;

	for (i = 0; i < pages; i++)
		((uint64_t *)bo.map)[i * GT_PAGE / 8] = tag + i;
	return bo;
}

/* The first two operations are fine, the third is not: nothing of it may be seen. */
static void all_or_nothing(void)
{
	struct gt_bo old = numbered(4, 0x100), new = numbered(4, 0x200);
	struct drm_tessera_bind_op ops[3];
	unsigned int i;

	ops[0] = gt_op_map(old.handle, WIN_VA, 4 * GT_PAGE, 0, GT_RW);
	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, 1), 0);
	ops[0] = gt_op_map(new.handle, WIN_VA, 2 * GT_PAGE, 0, GT_RW);
	ops[1] = gt_op_unmap(WIN_VA + 2 * GT_PAGE, GT_PAGE);
	ops[2] = gt_op_map(new.handle, WIN_VA + 3 * GT_PAGE, GT_PAGE, 4 * GT_PAGE, GT_RW);
	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, 3), -EINVAL);
	ops[2] = gt_op_map(new.handle + 65536, WIN_VA + 3 * GT_PAGE, GT_PAGE, 0, GT_RW);
	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, 3), -ENOENT);
	for (i = 0; i < 4; i++)
		expect_word(WIN_VA + i * GT_PAGE, 0x100 + i);
	gt_bo_free(&old);
	gt_bo_free(&new);
}

static void replace_and_split(void)
{
	struct gt_bo a = numbered(8, 0x100), b = numbered(8, 0x200);
	struct drm_tessera_bind_op ops[] = {
		gt_op_map(a.handle, WIN_VA, 8 * GT_PAGE, 0, GT_RW),
		gt_op_map(b.handle, WIN_VA + 2 * GT_PAGE, 2 * GT_PAGE, 5 * GT_PAGE, GT_RW),
		gt_op_unmap(WIN_VA + 6 * GT_PAGE, GT_PAGE),
	};

	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, 3), 0);
	expect_word(WIN_VA + 1 * GT_PAGE, 0x101);
	expect_word(WIN_VA + 2 * GT_PAGE, 0x205);
	expect_word(WIN_VA + 3 * GT_PAGE, 0x206);
	expect_word(WIN_VA + 4 * GT_PAGE, 0x104);
	expect_fault(WIN_VA + 6 * GT_PAGE);
	expect_word(WIN_VA + 7 * GT_PAGE, 0x107);
	ops[0] = (struct drm_tessera_bind_op){ .op = DRM_TESSERA_BIND_UNMAP_BO,
					       .bo_handle = a.handle };
	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, 1), 0);
	expect_fault(WIN_VA);
	expect_word(WIN_VA + 2 * GT_PAGE, 0x205);
	expect_fault(WIN_VA + 7 * GT_PAGE);
	ops[0] = gt_op_unmap(WIN_VA - 16 * GT_PAGE, 64 * GT_PAGE);	/* more than is mapped */
	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, 1), 0);
	expect_fault(WIN_VA + 2 * GT_PAGE);
	gt_bo_free(&a);
	gt_bo_free(&b);
}

/* A mapping outlives the handle, and not the UNMAP. */
static void mapping_keeps_memory(void)
{
	struct gt_bo bo = numbered(2, 0x300);
	struct drm_tessera_bind_op op =
		gt_op_map(bo.handle, WIN_VA, bo.size, 0, DRM_TESSERA_BIND_READ);

	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	gt_bo_free(&bo);
	expect_word(WIN_VA + GT_PAGE, 0x301);
	op = gt_op_unmap(WIN_VA, 2 * GT_PAGE);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	expect_fault(WIN_VA);
}

/* Large pages, where the kernel can use them, are split by whatever is done inside them. */
static void huge_split(void)
{
	enum { PAGES = 1024 };
	struct gt_bo bo = numbered(PAGES, 0x1000), other = numbered(1, 0x9999);
	static const uint64_t starts[] = { 0, GT_PAGE, GT_HUGE - GT_PAGE };
	uint64_t hole = 300 * GT_PAGE;
	unsigned int i;

	for (i = 0; i < GT_ARRAY_SIZE(starts); i++) {
		uint64_t va = WIN_VA + starts[i];
		struct drm_tessera_bind_op ops[] = {
			gt_op_map(bo.handle, va, bo.size, 0, GT_RW),
			gt_op_unmap(va + hole, GT_PAGE),
			gt_op_map(other.handle, va + hole + GT_PAGE, GT_PAGE, 0, GT_RW),
		};

		ktap_eq(gt_vm_bind(c.fd, c.vm, ops, 1), 0);
		expect_word(va + (PAGES - 1) * GT_PAGE, 0x1000 + PAGES - 1);
		expect_word(va + hole, 0x1000 + 300);
		ktap_eq(gt_vm_bind(c.fd, c.vm, ops + 1, 2), 0);
		expect_word(va, 0x1000);
		expect_word(va + hole - GT_PAGE, 0x1000 + 299);
		expect_fault(va + hole);
		expect_word(va + hole + GT_PAGE, 0x9999);
		expect_word(va + hole + 2 * GT_PAGE, 0x1000 + 302);
		ops[0] = gt_op_unmap(WIN_VA, 4 * GT_HUGE);
		ktap_eq(gt_vm_bind(c.fd, c.vm, ops, 1), 0);
		expect_fault(va);
	}
	gt_bo_free(&bo);
	gt_bo_free(&other);
}

/* The ends of the address range are usable. */
static void range_ends(void)
{
	struct drm_tessera_gpu_info info = gt_gpu_info(c.fd);
	struct gt_bo bo = numbered(2, 0x700);
	uint64_t first = info.va_start, last = info.va_end - GT_PAGE;
	struct drm_tessera_bind_op ops[] = {
		gt_op_map(bo.handle, first, GT_PAGE, 0, GT_RW),
		gt_op_map(bo.handle, last, GT_PAGE, GT_PAGE, GT_RW),
	};
	struct drm_tessera_bind_op undo[] = { gt_op_unmap(first, GT_PAGE),
					      gt_op_unmap(last, GT_PAGE) };

	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, 2), 0);
	expect_word(first, 0x700);
	expect_word(last, 0x701);
	ktap_eq(gt_vm_bind(c.fd, c.vm, undo, 2), 0);
	expect_fault(first);
	gt_bo_free(&bo);
}

/*
 * NULL mappings cost page tables only, yet those of a whole address space would be more than the
 * machine has: refused with ENOMEM, in no time, with nothing left behind and nobody killed.
 */
static void huge_null_mapping(void)
{
	struct drm_tessera_gpu_info info = gt_gpu_info(c.fd);
	struct drm_tessera_bind_op op = {
		.op = DRM_TESSERA_BIND_MAP_NULL,
		.va = info.va_start,
		.size = info.va_end - info.va_start,
	};
	unsigned int i;
	uint32_t vm;

	for (i = 0; i < 100; i++) {
		vm = gt_vm(c.fd);
		ktap_eq(gt_vm_bind(c.fd, vm, &op, 1), -ENOMEM);
		gt_vm_destroy(c.fd, vm);
	}
	op.va = 1ULL << 36;
	op.size = 1ULL << 38;
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	expect_word(op.va + op.size - 8, 0);
	op = gt_op_unmap(op.va, op.size);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	expect_fault(op.va);
}

/* As many operations as advertised, page by page in reverse. */
static void longest_array(void)
{
	uint32_t n = gt_gpu_info(c.fd).max_bind_ops, i;
	struct drm_tessera_bind_op *ops, undo;
	struct gt_bo bo;

	if (n > 4096)
		n = 4096;
	bo = numbered(n, 0x5000);
	ops = calloc(n, sizeof(*ops));
	for (i = 0; i < n; i++)
		ops[i] = gt_op_map(bo.handle, WIN_VA + i * GT_PAGE, GT_PAGE, (n - 1 - i) * GT_PAGE,
				   GT_RW);
	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, n), 0);
	expect_word(WIN_VA, 0x5000 + n - 1);
	expect_word(WIN_VA + (n - 1) * GT_PAGE, 0x5000);
	undo = gt_op_unmap(WIN_VA, n * GT_PAGE);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &undo, 1), 0);
	free(ops);
	gt_bo_free(&bo);
}

/* An empty asynchronous bind is a barrier; its fence comes after the one before it. */
static void async_barrier(void)
{
	struct gt_bo bo = numbered(1, 0x800);
	struct drm_tessera_bind_op op = gt_op_map(bo.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	struct drm_tessera_sync done = gt_binary(gt_syncobj(c.fd, false));

	ktap_eq(gt_bind_async(c.fd, c.vm, &op, 1, NULL, NULL), 0);
	ktap_eq(gt_bind_async(c.fd, c.vm, NULL, 0, NULL, &done), 0);
	ktap_eq(gt_fence_error(c.fd, done.handle, 0), 0);
	expect_word(WIN_VA, 0x800);
	op = gt_op_unmap(WIN_VA, GT_PAGE);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	gt_syncobj_free(c.fd, done.handle);
	gt_bo_free(&bo);
}

/* A bind waits for a fence with an error: the bind takes place, and its own fence has none. */
static void async_behind_a_failure(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct gt_bo bo = numbered(1, 0x900);
	struct drm_tessera_bind_op op = gt_op_map(bo.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	struct drm_tessera_sync job = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_sync done = gt_binary(gt_syncobj(c.fd, false));
	struct gt_cs cs = gt_stream(&c, 4);

	*(volatile uint64_t *)gt_data(&c, 0) = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	ktap_eq(gt_kick(&c, queue, &cs, &job), 0);
	ktap_eq(gt_bind_async(c.fd, c.vm, &op, 1, &job, &done), 0);
	ktap_ok(!gt_syncobj_done(c.fd, done.handle, 0));
	ktap_eq(gt_queue_destroy(c.fd, queue), 0);
	ktap_eq(gt_fence_error(c.fd, job.handle, 0), -ECANCELED);
	ktap_eq(gt_fence_error(c.fd, done.handle, 0), 0);
	expect_word(WIN_VA, 0x900);
	op = gt_op_unmap(WIN_VA, GT_PAGE);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	gt_syncobj_free(c.fd, job.handle);
	gt_syncobj_free(c.fd, done.handle);
	gt_bo_free(&bo);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	bad_ops();
	bad_array();
	bad_other_ops();
	bad_syncs();
	ktap_run("[SYS4] VM_BIND of a BO private to another VM fails with EINVAL", private_bo);
	ktap_run("a VM_BIND that fails changes nothing", all_or_nothing);
	ktap_run("[MEM2] MAP replaces, UNMAP splits, UNMAP_BO finds every mapping",
		 replace_and_split);
	ktap_run("a mapping keeps the memory of a closed handle", mapping_keeps_memory);
	ktap_run("[MEM2] large pages split at any place", huge_split);
	ktap_run("the first and the last page of the range are usable", range_ends);
	ktap_run("[MEM2] huge NULL mappings are cheap or refused", huge_null_mapping);
	ktap_run("the longest array of operations", longest_array);
	ktap_run("an empty asynchronous VM_BIND is a barrier", async_barrier);
	ktap_run("[SYS3] an asynchronous VM_BIND behind a cancelled job takes place",
		 async_behind_a_failure);
	gt_ctx_free(&c);
	return gt_finish();
}
