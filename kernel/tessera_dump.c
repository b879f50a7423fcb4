// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Device core dumps
 *
 * A dump is taken when a job has failed, before its queue is reset. Fences wait for
 * that, so taking a dump neither allocates nor waits. Probe allocates the memory for
 * one dump. A work item that no fence waits for copies the dump and passes it to user
 * space. Until it has done so, further failures leave no dump. devcoredump keeps one
 * dump for each device until the dump is read, or for five minutes.
 *
 * include/uapi/drm/tessera_dump.h defines the format.
 */

#include <linux/devcoredump.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <drm/tessera_dump.h>

#include "tessera_device.h"
#include "tessera_dump.h"
#include "tessera_gem.h"
#include "tessera_local.h"
#include "tessera_queue.h"
#include "tessera_vm.h"

#define DUMP_SIZE	SZ_512K
/* Limits of a stream, and of the ring around the read pointer. */
#define STREAM_MAX	SZ_64K
#define RING_BEFORE	(4 * TESSERA_RING_ENTRY)
#define RING_WINDOW	(16 * TESSERA_RING_ENTRY)

/**
 * struct tessera_dump - memory for a dump
 *
 * Belongs to whoever holds &tessera_device.reset.lock while @busy is not set, to
 * the work while it is.
 */
struct tessera_dump {
	/** @tdev: Device. */
	struct tessera_device *tdev;
	/** @work: Hands the dump to user space. */
	struct work_struct work;
	/** @busy: The work has not done so yet. */
	bool busy;
	/** @truncated: Something did not fit. */
	bool truncated;
	/** @used: Bytes of @data in use, a multiple of 8; 0 if no dump was begun. */
	size_t used;
	/** @cmd_va: Stream of the job. */
	u64 cmd_va;
	/** @cmd_size: Its bytes. */
	u32 cmd_size;
	/** @data: DUMP_SIZE bytes. */
	u8 *data;
};

/* A section of @size bytes to be written by the caller, or NULL if it does not fit. */
static void *dump_section(struct tessera_dump *dump, u32 type, u32 stride, u64 address, size_t size)
{
	struct tessera_dump_section *section = (void *)(dump->data + dump->used);
	size_t padded = round_up(size, sizeof(u64));

	if (padded > DUMP_SIZE - dump->used - sizeof(*section)) {
		dump->truncated = true;
		return NULL;
	}

	*section = (struct tessera_dump_section) {
		.type = type,
		.stride = stride,
		.address = address,
		.size = size,
	};
	dump->used += sizeof(*section) + padded;
	memset(section + 1, 0, padded);

	return section + 1;
}

static void dump_registers(struct tessera_dump *dump, u32 first, u32 last)
{
	u32 count = (last - first) / sizeof(u32), i;
	struct tessera_dump_register *reg;

	reg = dump_section(dump, TESSERA_DUMP_REGISTERS, sizeof(*reg), 0, count * sizeof(*reg));
	for (i = 0; reg && i < count; i++, first += sizeof(u32)) {
		reg[i].offset = first;
		reg[i].value = tessera_read(dump->tdev, first);
	}
}

/* State of the other queues. The lock of recovery keeps slots from changing their queue. */
static void dump_others(struct tessera_dump *dump, u32 slot)
{
	struct tessera_device *tdev = dump->tdev;
	u32 i;

	for (i = 0; i < tdev->info.num_queues; i++) {
		if (i != slot && READ_ONCE(tdev->slots.queue[i]))
			dump_registers(dump, TSR_REG_QUEUE_STATE(i),
				       TSR_REG_QUEUE_WPTR(i) + sizeof(u32));
	}
}

static void dump_job(struct tessera_queue *queue, const struct tessera_fence *fence, int error)
{
	struct tessera_dump *dump = queue->tdev->dump;
	struct tessera_dump_job *job;

	job = dump_section(dump, TESSERA_DUMP_JOB, sizeof(*job), 0, sizeof(*job));
	if (!job)
		return;

	*job = (struct tessera_dump_job) {
		.cmd_va = fence->cmd_va,
		.seqno = fence->base.seqno,
		.done = le64_to_cpu(READ_ONCE(*tessera_fence_word(queue->tdev, queue->slot))),
		.fault_packet_va = queue->fault.pc,
		.fault_va = queue->fault.addr,
		.cmd_size = fence->cmd_size,
		.slot = queue->slot,
		.queue_id = queue->id,
		.engine_class = queue->engine_class,
		.address_space = queue->vm->as,
		.error = -error,
		.fault_code = queue->fault.code,
		.wptr = queue->wptr,
	};
}

static void dump_queue_state(struct tessera_queue *queue)
{
	struct drm_tessera_queue_get_state *state;

	state = dump_section(queue->tdev->dump, TESSERA_DUMP_QUEUE, sizeof(*state), 0,
			     sizeof(*state));
	if (!state)
		return;

	state->queue_id = queue->id;
	tessera_queue_get_state_locked(queue, state);
}

/* Others of the VM may fault meanwhile, so room is taken for all that it may hold. */
static void dump_faults(struct tessera_dump *dump, struct tessera_vm *vm)
{
	size_t size = DRM_TESSERA_FAULT_RECORDS * sizeof(struct drm_tessera_fault);
	struct tessera_dump_section *section = (void *)(dump->data + dump->used);
	struct drm_tessera_fault *faults;
	u64 count;

	faults = dump_section(dump, TESSERA_DUMP_FAULTS, sizeof(*faults), 0, size);
	if (!faults)
		return;

	section->size = sizeof(*faults) * tessera_vm_copy_faults(vm, faults,
								 DRM_TESSERA_FAULT_RECORDS, &count);
	dump->used -= size - section->size;
}

/* In the order of the ring, which may go around its end. */
static void dump_ring(struct tessera_queue *queue)
{
	u32 rptr = tessera_read(queue->tdev, TSR_REG_QUEUE_RPTR(queue->slot));
	u32 size = min_t(u32, RING_WINDOW, queue->ring.size);
	u32 mask = queue->ring.size - 1, from, i;
	__le64 *out;

	from = round_down(rptr, TESSERA_RING_ENTRY) - RING_BEFORE;
	out = dump_section(queue->tdev->dump, TESSERA_DUMP_RING, sizeof(*out),
			   queue->ring.va + (from & mask), size);
	for (i = 0; out && i < size; i += sizeof(*out))
		*out++ = queue->ring.cpu[((from + i) & mask) / sizeof(*out)];
}

/**
 * tessera_dump_queue() - begin a dump with what the device says
 * @queue: queue that is about to be reset; its lock and the lock of recovery are held
 * @job: fence of the job that failed
 * @error: the error it will get
 *
 * tessera_dump_vm() must follow.
 */
void tessera_dump_queue(struct tessera_queue *queue, const struct tessera_fence *job, int error)
{
	struct tessera_device *tdev = queue->tdev;
	struct tessera_dump *dump = tdev->dump;

	lockdep_assert_held(&tdev->reset.lock);
	lockdep_assert_held(&queue->lock);

	if (smp_load_acquire(&dump->busy)) /* pairs with tessera_dump_work() */
		return;

	dump->truncated = false;
	dump->used = sizeof(struct tessera_dump_header);
	dump->cmd_va = job->cmd_va;
	dump->cmd_size = job->cmd_size;
	dump_job(queue, job, error);
	dump_queue_state(queue);
	dump_faults(dump, queue->vm);
	dump_registers(dump, 0, TSR_REG_GPU_RESET_COUNT + sizeof(u32));
	dump_registers(dump, TSR_REG_QUEUE_RING_BASE(queue->slot),
		       TSR_REG_QUEUE_RING_BASE(queue->slot) + TSR_QUEUE__STRIDE);
	dump_others(dump, queue->slot);
	dump_ring(queue);
}

static void dump_mappings(struct tessera_dump *dump, struct tessera_vm *vm)
{
	struct tessera_dump_mapping *map;
	struct drm_gpuva *va;
	size_t count = 0;

	drm_gpuvm_for_each_va(va, &vm->base)
		count++;

	map = dump_section(dump, TESSERA_DUMP_MAPPINGS, sizeof(*map), 0, count * sizeof(*map));
	if (!map)
		return;

	drm_gpuvm_for_each_va(va, &vm->base) {
		*map++ = (struct tessera_dump_mapping) {
			.va = va->va.addr,
			.size = va->va.range,
			.bo_offset = va->gem.offset,
			.bo_size = va->gem.obj ? va->gem.obj->size : 0,
			.entry_bits = container_of(va, struct tessera_vma, base)->bits,
		};
	}
}

/* Copy what is mapped at @va. Under op_lock, so that it stays. Return: bytes, 0 if none. */
static size_t dump_read(struct tessera_vm *vm, u64 va, u8 *out, size_t size)
{
	struct drm_gpuva *map = drm_gpuva_find_first(&vm->base, va, 1);
	struct tessera_bo *bo;
	u64 offset;

	if (!map || !map->gem.obj)
		return 0;

	bo = to_tessera_bo(map->gem.obj);
	offset = map->gem.offset + (va - map->va.addr);
	size = min_t(u64, size, PAGE_SIZE - offset_in_page(offset));

	/* Until this VM is told of a move, the BO is where the mapping says. */
	if (container_of(map, struct tessera_vma, base)->bits & TSR_PTE_LOCAL__MASK)
		tessera_local_read(vm->tdev, bo->local.start + offset, out, size);
	else if (bo->base.pages && !bo->purged)
		memcpy_from_page(out, bo->base.pages[offset >> PAGE_SHIFT], offset_in_page(offset),
				 size);
	else
		return 0;

	return size;
}

/* The stream up to where it is not mapped, or belongs to another device. */
static void dump_stream(struct tessera_dump *dump, struct tessera_vm *vm)
{
	size_t size = min_t(size_t, dump->cmd_size, STREAM_MAX), at, got;
	u8 *out;

	if (!size)
		return;
	if (size < dump->cmd_size)
		dump->truncated = true;

	out = dump_section(dump, TESSERA_DUMP_STREAM, sizeof(u64), dump->cmd_va, size);
	for (at = 0; out && at < size; at += got) {
		got = dump_read(vm, dump->cmd_va + at, out + at, size - at);
		if (!got)
			break;
	}
}

/**
 * tessera_dump_vm() - end a dump with what the job's VM holds
 * @queue: queue of the job; its lock is not held, the lock of recovery is
 *
 * Does nothing if no dump was begun.
 */
void tessera_dump_vm(struct tessera_queue *queue)
{
	struct tessera_device *tdev = queue->tdev;
	struct tessera_dump *dump = tdev->dump;

	lockdep_assert_held(&tdev->reset.lock);

	if (smp_load_acquire(&dump->busy) || !dump->used) /* likewise */
		return;

	mutex_lock(&queue->vm->op_lock);
	dump_stream(dump, queue->vm);
	dump_mappings(dump, queue->vm);
	mutex_unlock(&queue->vm->op_lock);

	*(struct tessera_dump_header *)dump->data = (struct tessera_dump_header) {
		.magic = TESSERA_DUMP_MAGIC,
		.version = TESSERA_DUMP_VERSION,
		.size = dump->used,
		.time_ns = ktime_get_ns(),
		.flags = dump->truncated ? TESSERA_DUMP_TRUNCATED : 0,
		.hw_version = tdev->info.version,
	};
	WRITE_ONCE(dump->busy, true);
	queue_work(system_dfl_wq, &dump->work);
}

static void tessera_dump_work(struct work_struct *work)
{
	struct tessera_dump *dump = container_of(work, struct tessera_dump, work);
	void *data = vmalloc(dump->used);

	if (data) {
		memcpy(data, dump->data, dump->used);
		dev_coredumpv(dump->tdev->drm.dev, data, dump->used, GFP_KERNEL);
	}
	dump->used = 0;
	/* Pairs with the reader of @busy, which must see an empty dump. */
	smp_store_release(&dump->busy, false);
}

static void tessera_dump_fini(struct drm_device *drm, void *data)
{
	vfree(data);
}

/**
 * tessera_dump_init() - have the memory for a dump
 * @tdev: device
 *
 * Return: 0 or -ENOMEM.
 */
int tessera_dump_init(struct tessera_device *tdev)
{
	struct tessera_dump *dump = drmm_kzalloc(&tdev->drm, sizeof(*dump), GFP_KERNEL);

	if (!dump)
		return -ENOMEM;

	dump->data = vmalloc(DUMP_SIZE);
	if (!dump->data)
		return -ENOMEM;

	dump->tdev = tdev;
	INIT_WORK(&dump->work, tessera_dump_work);
	tdev->dump = dump;

	return drmm_add_action_or_reset(&tdev->drm, tessera_dump_fini, dump->data);
}

/**
 * tessera_dump_unplug() - no more dumps
 * @tdev: unplugged device, on which recovery does nothing any more
 */
void tessera_dump_unplug(struct tessera_device *tdev)
{
	cancel_work_sync(&tdev->dump->work);
}
