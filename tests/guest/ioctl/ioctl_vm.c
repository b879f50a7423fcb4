// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/*
 * VM_CREATE, VM_DESTROY and VM_GET_STATE: each field bad once, lifetimes, and that address spaces
 * are not lost.
 */
#include "gt_main.h"

#include <unistd.h>

#include "gt_bad.h"

static int fd;

static void create_bad(void)
{
	struct drm_tessera_vm_create create = { 0 };
	const struct gt_call call = GT_CALL(fd, VM_CREATE, create);

	gt_bad_bits(&call, "flags", &create.flags, 0);
}

static void destroy_bad(void)
{
	uint32_t vm = gt_vm(fd);
	struct drm_tessera_vm_destroy destroy = { .vm_id = vm };
	const struct gt_call call = GT_CALL(fd, VM_DESTROY, destroy);
	const struct gt_bad rows[] = {
		GT_BAD(destroy.vm_id, 0, ENOENT),
		GT_BAD(destroy.vm_id, vm + 1, ENOENT),
		GT_BAD(destroy.vm_id, vm + 65536, ENOENT),
		GT_BAD(destroy.vm_id, UINT32_MAX, ENOENT),
		GT_BAD(destroy.pad, 1, EINVAL),
		GT_BAD(destroy.pad, 1u << 31, EINVAL),
	};
	int other = gt_open();

	GT_BAD_ROWS(&call, rows);
	ktap_eq(gt_vm_destroy(other, vm), -ENOENT);
	ktap_result("[SYS4] VM_DESTROY of another file's id fails with ENOENT");
	ktap_eq(gt_vm_destroy(fd, 0), -ENOENT);
	ktap_ok(gt_vm(fd) != 0);
	ktap_result("VM_DESTROY of id 0 does not make it an id");
	ktap_eq(gt_vm_destroy(fd, vm), 0);
	ktap_eq(gt_vm_destroy(fd, vm), -ENOENT);
	ktap_result("VM_DESTROY twice: the second fails with ENOENT");
	close(other);
}

static void state_bad(void)
{
	struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS];
	uint32_t vm = gt_vm(fd);
	struct drm_tessera_vm_get_state state = {
		.vm_id = vm, .faults = GT_ARRAY(faults, DRM_TESSERA_FAULT_RECORDS),
	};
	const struct gt_call call = GT_CALL(fd, VM_GET_STATE, state);
	const struct gt_bad rows[] = {
		GT_BAD(state.vm_id, 0, ENOENT),
		GT_BAD(state.vm_id, vm + 65536, ENOENT),
		GT_BAD(state.vm_id, UINT32_MAX, ENOENT),
		GT_BAD(state.faults.stride, 0, EINVAL),
		GT_BAD(state.faults.stride, sizeof(faults[0]) - 1, EINVAL),
		GT_BAD(state.faults.stride, 8, EINVAL),
	};

	GT_BAD_ROWS(&call, rows);
	gt_bad_bits(&call, "flags", &state.flags, 0);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_VM_GET_STATE, &state), 0);
	ktap_eq(state.flags, 0);
	ktap_eq(state.fault_count, 0);
	ktap_eq(state.faults.count, 0);
	ktap_result("VM_GET_STATE of a new VM has no faults");
	gt_vm_destroy(fd, vm);
}

/* A queue keeps its VM and the mappings alive after the id is gone. */
static void destroyed_vm_lives_on(void)
{
	struct gt_ctx c = gt_ctx();
	volatile uint64_t *word = gt_data(&c, 0);
	struct gt_cs cs = gt_stream(&c, 3);
	struct drm_tessera_bind_op op = gt_op_unmap(GT_DATA_VA, GT_PAGE);
	uint32_t queue;

	ktap_eq(gt_vm_destroy(c.fd, c.vm), 0);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), -ENOENT);
	ktap_eq(gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queue), -ENOENT);
	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0),
		.value = 0x1234567890abcdef);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_eq(*word, 0x1234567890abcdef);
	gt_ctx_free(&c);
}

/*
 * More address spaces than any slot count, one after another: ids and hardware address spaces come
 * back.
 */
static void create_destroy_many(void)
{
	struct gt_bo bo = gt_bo(fd, GT_PAGE, 0);
	unsigned int i;

	for (i = 0; i < 500; i++) {
		struct drm_tessera_bind_op op = gt_op_map(bo.handle, GT_DATA_VA, GT_PAGE, 0, GT_RW);
		uint32_t vm = gt_vm(fd), queue = 0;

		if (!ktap_eq(gt_vm_bind(fd, vm, &op, 1), 0))
			break;
		if (!ktap_eq(gt_queue_try(fd, vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queue), 0))
			break;
		ktap_eq(gt_queue_destroy(fd, queue), 0);
		ktap_eq(gt_vm_destroy(fd, vm), 0);
	}
	gt_bo_free(&bo);
}

/* Many at once, each with its own content at the same address, read back through the GPU. */
static void many_at_once(void)
{
	enum { VMS = 110 };
	struct gt_ctx c = gt_ctx();
	struct gt_bo bo = gt_bo(c.fd, VMS * GT_PAGE, DRM_TESSERA_BO_CACHED);
	uint64_t *out = gt_data(&c, 0);
	uint32_t vms[VMS], i;

	for (i = 0; i < VMS; i++) {
		struct drm_tessera_bind_op ops[] = {
			gt_op_map(c.cmd.handle, GT_CMD_VA, c.cmd.size, 0, GT_RWX),
			gt_op_map(c.data.handle, GT_DATA_VA, c.data.size, 0, GT_RW),
			gt_op_map(bo.handle, 0x40000000, GT_PAGE, i * GT_PAGE,
				  DRM_TESSERA_BIND_READ),
		};

		((uint64_t *)bo.map)[i * GT_PAGE / 8] = 0xbeef0000 + i;
		vms[i] = gt_vm(c.fd);
		ktap_eq(gt_vm_bind(c.fd, vms[i], ops, 3), 0);
	}
	for (i = 0; i < VMS; i++) {
		uint32_t queue = gt_queue(c.fd, vms[i], DRM_TESSERA_ENGINE_COPY);
		struct gt_cs cs = gt_stream(&c, 4);

		GT_EMIT(&cs, copy_linear, .src = 0x40000000, .dst = gt_data_va(i * 8), .size = 8);
		ktap_eq(gt_run_on(&c, queue, &cs), 0);
		ktap_eq(out[i], 0xbeef0000 + i);
		gt_queue_destroy(c.fd, queue);
	}
	for (i = 0; i < VMS; i++)
		gt_vm_destroy(c.fd, vms[i]);
	gt_bo_free(&bo);
	gt_ctx_free(&c);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	fd = gt_open();
	create_bad();
	destroy_bad();
	state_bad();
	ktap_run("queues keep a destroyed VM alive", destroyed_vm_lives_on);
	ktap_run("500 VMs with a queue, one after the other", create_destroy_many);
	ktap_run("[SYS4] [MEM2] 110 VMs at once map different memory at the same address",
		 many_at_once);
	close(fd);
	return gt_finish();
}
