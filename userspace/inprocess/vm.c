// SPDX-License-Identifier: MIT
/*
 * VMs and VM_BIND.
 *
 * A VM has the mappings as user space made them, and page tables that say the same. Binds are
 * checked as a whole before the first takes place; those that wait for fences are a list of the VM,
 * run in order as the fences signal.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define NULL_MAX	(4ull << 40)	/* of one MAP_NULL: its tables are 16 MiB */

/* One operation, checked; its BO is a reference. */
struct op {
	uint32_t op;
	struct bo *bo;
	uint64_t va, size, offset, bits;
};

/*
 * A bind: operations, and for an asynchronous one what it waits for and its fence. A synchronous
 * one that has others before it is in the list, too: its ioctl waits until it is finished, and
 * frees it; when the ioctl is interrupted the bind is skipped.
 */
struct bind {
	struct bind *next;
	bool sync, finished, skipped;
	int status;			/* of a synchronous one that is finished */
	uint32_t count, waits;
	struct op *op;
	struct fence **wait;
	struct fence *done;
};

/* ---- VMs ------------------------------------------------------------------------------------- */

static struct vm *vm_new(struct quota *quota)
{
	const uint64_t tables = pgtable_bytes();
	struct vm *vm = calloc(1, sizeof(*vm));

	if (!vm)
		return NULL;
	vm->root = pgtable_new();
	if (!vm->root) {
		free(vm);
		return NULL;
	}
	vm->quota = quota_get(quota);
	quota_adjust(quota, QUOTA_VMS, 1);
	quota_adjust(quota, QUOTA_PAGE_TABLES, (int64_t)(pgtable_bytes() - tables));
	vm->refs = 1;
	vm->space = -1;
	vm->binds_end = &vm->binds;
	vm->next = drv.vms;
	drv.vms = vm;
	return vm;
}

void vm_put(struct vm *vm)
{
	const uint64_t tables = pgtable_bytes();
	struct vm **at = &drv.vms;
	unsigned int i;

	if (!vm || --vm->refs)
		return;
	while (*at != vm)
		at = &(*at)->next;
	*at = vm->next;
	for (i = 0; i < vm->vmas; i++)
		bo_put(vm->vma[i].bo);
	free(vm->vma);
	pgtable_free(vm->root);
	quota_adjust(vm->quota, QUOTA_PAGE_TABLES, (int64_t)(pgtable_bytes() - tables));
	quota_adjust(vm->quota, QUOTA_VMS, -1);
	quota_put(vm->quota);
	free(vm);
}

int vm_space_get(struct vm *vm)
{
	unsigned int i;

	if (vm->users++)
		return 0;
	if (quota_room(vm->quota, QUOTA_SPACES, 1)) {
		vm->users = 0;
		return -ENOSPC;
	}
	for (i = 1; i < drv.spaces && drv.space[i]; i++)
		;
	if (i >= drv.spaces) {
		vm->users = 0;
		return -ENOSPC;
	}
	drv.space[i] = vm;
	quota_adjust(vm->quota, QUOTA_SPACES, 1);
	vm->space = (int)i;
	space_enable(i, vm->root);
	return 0;
}

void vm_space_put(struct vm *vm)
{
	if (--vm->users)
		return;
	/* what the device has not let go of is never given back */
	if (space_disable((unsigned int)vm->space)) {
		drv.space[vm->space] = NULL;
		quota_adjust(vm->quota, QUOTA_SPACES, -1);
	} else {
		vm->refs++;
	}
	vm->space = -1;
}

bool vm_range_valid(uint64_t va, uint64_t size)
{
	uint64_t end = 1ull << drv.va_bits;

	return size && va >= VA_START && va < end && size <= end - va;
}

/* The first mapping that ends above @va. */
static unsigned int vma_find(const struct vm *vm, uint64_t va)
{
	unsigned int low = 0, high = vm->vmas;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (vm->vma[mid].va + vm->vma[mid].size > va)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static bool binds_use(const struct vm *vm, uint64_t va, uint64_t size)
{
	const struct bind *b;
	uint32_t i;

	for (b = vm->binds; b; b = b->next) {
		for (i = 0; i < b->count; i++) {
			if (b->op[i].va < va + size && va < b->op[i].va + b->op[i].size)
				return true;
		}
	}
	return false;
}

bool vm_range_used(struct vm *vm, uint64_t va, uint64_t size)
{
	unsigned int i = vma_find(vm, va);

	return (i < vm->vmas && vm->vma[i].va < va + size) || binds_use(vm, va, size);
}

void vm_fault(struct vm *vm, const struct drm_tessera_fault *fault)
{
	vm->fault[vm->faults++ % DRM_TESSERA_FAULT_RECORDS] = *fault;
}

/* ---- Mappings -------------------------------------------------------------------------------- */

/* Room for @more mappings, so that what follows cannot fail. */
static int vma_reserve(struct vm *vm, unsigned int more)
{
	struct vma *vma = realloc(vm->vma, (vm->vmas + more) * sizeof(*vma));

	if (!vma)
		return -ENOMEM;
	vm->vma = vma;
	return 0;
}

static void vma_insert(struct vm *vm, unsigned int at, struct vma vma)
{
	memmove(&vm->vma[at + 1], &vm->vma[at], (vm->vmas - at) * sizeof(vma));
	vm->vma[at] = vma;
	vm->vmas++;
}

static void vma_remove(struct vm *vm, unsigned int at)
{
	bo_put(vm->vma[at].bo);
	vm->vmas--;
	memmove(&vm->vma[at], &vm->vma[at + 1], (vm->vmas - at) * sizeof(*vm->vma));
}

/* Cut [va, va + size) out of the mappings; needs room for one more. */
static void vma_cut(struct vm *vm, uint64_t va, uint64_t size)
{
	uint64_t end = va + size;
	unsigned int i = vma_find(vm, va);

	while (i < vm->vmas && vm->vma[i].va < end) {
		struct vma *old = &vm->vma[i], rest = *old;
		uint64_t old_end = old->va + old->size;

		if (old_end > end) {	/* what is left of it after the hole */
			rest.va = end;
			rest.size = old_end - end;
			rest.offset += end - old->va;
			if (old->va >= va) {
				*old = rest;
				return;
			}
			if (rest.bo)
				bo_get(rest.bo);
			old->size = va - old->va;
			vma_insert(vm, i + 1, rest);
			return;
		}
		if (old->va < va) {
			old->size = va - old->va;
			i++;
		} else {
			vma_remove(vm, i);
		}
	}
}

static void invalidate(struct vm *vm, uint64_t va, uint64_t size)
{
	if (vm->space >= 0)
		space_invalidate((unsigned int)vm->space, va, size);
}

static int run_unmap(struct vm *vm, uint64_t va, uint64_t size)
{
	uint64_t tables = pgtable_bytes();
	int ret = pgtable_unmap(vm->root, va, size);

	/* a large page of which a part goes becomes a table of small ones */
	quota_adjust(vm->quota, QUOTA_PAGE_TABLES, (int64_t)(pgtable_bytes() - tables));
	/* the device lets go of the memory before we do */
	invalidate(vm, va, size);
	/* no table for the rest of a large page: what the device may still reach stays ours */
	if (!ret)
		vma_cut(vm, va, size);
	return ret;
}

/* Entries are replaced one by one: a job meets what was there or what comes, never nothing. */
static int run_map(struct vm *vm, const struct op *op)
{
	struct vma vma = { op->va, op->size, op->offset, op->bo, op->bits };
	const uint64_t tables = pgtable_bytes();
	int ret;

	ret = pgtable_map(vm->root, op->va, op->bo ? op->bo->window + op->offset : 0, op->size,
			  op->bits);
	quota_adjust(vm->quota, QUOTA_PAGE_TABLES, (int64_t)(pgtable_bytes() - tables));
	if (ret) {
		run_unmap(vm, op->va, op->size);
		return ret;
	}
	invalidate(vm, op->va, op->size);
	vma_cut(vm, op->va, op->size);
	if (op->bo)
		bo_get(op->bo);
	vma_insert(vm, vma_find(vm, op->va), vma);
	return 0;
}

static int run_unmap_bo(struct vm *vm, const struct bo *bo)
{
	unsigned int i = 0;
	int ret = 0;

	while (i < vm->vmas && !ret) {
		if (vm->vma[i].bo == bo)
			ret = run_unmap(vm, vm->vma[i].va, vm->vma[i].size);
		else
			i++;
	}
	return ret;
}

static int bind_run(struct vm *vm, const struct bind *b)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < b->count && !ret; i++) {
		const struct op *op = &b->op[i];

		ret = vma_reserve(vm, 2);
		if (ret)
			break;
		if (op->op == DRM_TESSERA_BIND_UNMAP_BO)
			ret = run_unmap_bo(vm, op->bo);
		else if (op->op == DRM_TESSERA_BIND_UNMAP)
			ret = run_unmap(vm, op->va, op->size);
		else
			ret = run_map(vm, op);
	}
	return ret;
}

/* ---- VM_BIND --------------------------------------------------------------------------------- */

static void bind_free(struct bind *b)
{
	uint32_t i;

	if (!b)
		return;
	for (i = 0; b->op && i < b->count; i++)
		bo_put(b->op[i].bo);
	for (i = 0; b->wait && i < b->waits; i++)
		fence_put(b->wait[i]);
	free(b->op);
	free(b->wait);
	fence_put(b->done);
	free(b);
}

static bool op_valid(const struct drm_tessera_bind_op *u)
{
	const uint32_t flags = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE |
			       DRM_TESSERA_BIND_EXEC;
	bool map = u->op == DRM_TESSERA_BIND_MAP;
	bool bo = map || u->op == DRM_TESSERA_BIND_UNMAP_BO;

	if (u->op > DRM_TESSERA_BIND_UNMAP_BO || u->pad || u->flags & ~flags)
		return false;
	if (map != !!u->flags || (!bo && u->bo_handle) || (!map && u->bo_offset))
		return false;
	if (u->op == DRM_TESSERA_BIND_UNMAP_BO)
		return !u->va && !u->size;
	return !((u->va | u->size | u->bo_offset) % PAGE) && vm_range_valid(u->va, u->size);
}

static uint64_t op_bits(const struct drm_tessera_bind_op *u)
{
	if (u->op == DRM_TESSERA_BIND_MAP_NULL)
		return TSR_PTE_NULL__MASK | TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK;
	return TSR_PTE_LOCAL__MASK | (u->flags & DRM_TESSERA_BIND_READ ? TSR_PTE_READ__MASK : 0) |
	       (u->flags & DRM_TESSERA_BIND_WRITE ? TSR_PTE_WRITE__MASK : 0) |
	       (u->flags & DRM_TESSERA_BIND_EXEC ? TSR_PTE_EXEC__MASK : 0);
}

static int op_prepare(struct file *file, struct vm *vm, const struct drm_tessera_bind_op *u,
		      struct op *op)
{
	struct bo *bo = NULL;

	if (!op_valid(u))
		return -EINVAL;
	if (u->op != DRM_TESSERA_BIND_UNMAP_BO && heap_overlaps(vm, u->va, u->size))
		return -EBUSY;
	if (u->op == DRM_TESSERA_BIND_MAP || u->op == DRM_TESSERA_BIND_UNMAP_BO) {
		bo = bo_lookup(file, u->bo_handle);
		if (!bo)
			return -ENOENT;
	}
	if (u->op == DRM_TESSERA_BIND_MAP_NULL && u->size > NULL_MAX)
		return -ENOMEM;
	if (u->op == DRM_TESSERA_BIND_MAP) {
		if (bo->vm_id && bo->vm != vm)
			return -EINVAL;
		if (u->bo_offset > bo->size || u->size > bo->size - u->bo_offset)
			return -EINVAL;
	}
	*op = (struct op){
		u->op, bo ? bo_get(bo) : NULL, u->va, u->size, u->bo_offset, op_bits(u)
	};
	return 0;
}

static struct bind *bind_new(struct file *file, struct vm *vm,
			     const struct drm_tessera_bind_op *ops, uint32_t count, int *ret)
{
	struct bind *b = calloc(1, sizeof(*b));

	*ret = -ENOMEM;
	if (!b)
		return NULL;
	b->op = calloc(count ? count : 1, sizeof(*b->op));
	if (!b->op) {
		free(b);
		return NULL;
	}
	for (*ret = 0; b->count < count && !*ret; b->count += !*ret)
		*ret = op_prepare(file, vm, &ops[b->count], &b->op[b->count]);
	if (*ret) {
		bind_free(b);
		return NULL;
	}
	return b;
}

static int bind_waits(struct file *file, struct bind *b, const struct drm_tessera_array *array)
{
	struct drm_tessera_sync *waits;
	int ret;

	waits = syncs_in(array, &ret);
	if (!waits)
		return ret;
	b->wait = calloc(array->count, sizeof(struct fence *));
	ret = b->wait ? 0 : -ENOMEM;
	for (; !ret && b->waits < array->count; b->waits += !ret)
		ret = syncobj_find(file, waits[b->waits].handle, waits[b->waits].point,
				   &b->wait[b->waits]);
	free(waits);
	return ret;
}

static void bind_append(struct vm *vm, struct bind *b)
{
	vm->refs++;
	*vm->binds_end = b;
	vm->binds_end = &b->next;
	drv.work = true;
}

/* From here on nothing fails. */
static void bind_push(struct file *file, struct vm *vm, struct bind *b,
		      const struct drm_tessera_sync *signals, uint32_t count)
{
	uint32_t i;

	bind_append(vm, b);
	for (i = 0; i < count; i++) {
		struct syncobj *s = table_find(&file->syncobjs, signals[i].handle);

		if (!signals[i].point || syncobj_add(s, signals[i].point, b->done))
			syncobj_replace(s, b->done);
	}
}

static int bind_async(struct file *file, struct vm *vm, struct bind *b,
		      const struct drm_tessera_vm_bind *arg)
{
	struct drm_tessera_sync *signals;
	uint32_t i;
	int ret;

	ret = bind_waits(file, b, &arg->waits);
	if (ret)
		return ret;
	b->done = fence_new("tessera-bind");
	if (!b->done)
		return -ENOMEM;
	signals = syncs_in(&arg->signals, &ret);
	for (i = 0; signals && !ret && i < arg->signals.count; i++)
		ret = table_find(&file->syncobjs, signals[i].handle) ? 0 : -ENOENT;
	if (!ret)
		bind_push(file, vm, b, signals, arg->signals.count);
	free(signals);
	return ret;
}

/* Those that are on their way come first, and no others. Takes the bind. */
static int bind_sync(struct vm *vm, struct bind *b)
{
	int ret = 0;

	if (!vm->binds) {
		ret = bind_run(vm, b);
		bind_free(b);
		return ret;
	}
	b->sync = true;
	bind_append(vm, b);
	while (!b->finished && !ret)
		ret = drv_wait(INT64_MAX);
	if (!b->finished) {		/* its turn comes, and does nothing */
		b->sync = false;
		b->skipped = true;
		return ret;
	}
	ret = b->status;
	bind_free(b);
	return ret;
}

/* Bytes of page tables that operations may need; checked, not taken: most have theirs already. */
static uint64_t tables_for(const struct drm_tessera_bind_op *ops, uint32_t count)
{
	uint64_t span, pages = 0;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (ops[i].op != DRM_TESSERA_BIND_MAP && ops[i].op != DRM_TESSERA_BIND_MAP_NULL)
			continue;
		/* what is aligned has entries of 2 MiB, a table of them for each 1 GiB */
		span = ((ops[i].va | ops[i].bo_offset | ops[i].size) % HUGE_PAGE) ? HUGE_PAGE :
			HUGE_PAGE << TSR_PT_INDEX_BITS;
		pages += ops[i].size / span;
	}
	return pages * PAGE;
}

int ioctl_vm_bind(struct file *file, void *data)
{
	const struct drm_tessera_vm_bind *arg = data;
	bool async = arg->flags & DRM_TESSERA_VM_BIND_ASYNC;
	struct drm_tessera_bind_op *ops;
	struct bind *b = NULL;
	struct vm *vm;
	int ret;

	if (arg->flags & ~(uint32_t)DRM_TESSERA_VM_BIND_ASYNC)
		return -EINVAL;
	if (!async && (!arg->ops.count || arg->waits.count || arg->signals.count))
		return -EINVAL;
	vm = table_find(&file->vms, arg->vm_id);
	if (!vm)
		return -ENOENT;
	ops = array_in(&arg->ops, sizeof(*ops), sizeof(*ops), MAX_BIND_OPS, &ret);
	if (ret)
		return ret;
	vm->refs++;
	b = bind_new(file, vm, ops, arg->ops.count, &ret);
	if (b && quota_room(vm->quota, QUOTA_PAGE_TABLES, tables_for(ops, arg->ops.count))) {
		bind_free(b);
		b = NULL;
		ret = -ENOSPC;
	}
	if (b)
		ret = async ? bind_async(file, vm, b, arg) : bind_sync(vm, b);
	/* an asynchronous one that was accepted is the VM's */
	if (b && async && ret)
		bind_free(b);
	free(ops);
	vm_put(vm);
	return ret;
}

bool vm_progress(struct vm *vm)
{
	struct bind *b = vm->binds;
	int status;

	for (; b && b->waits; b->waits--) {
		if (!b->wait[b->waits - 1]->signalled)
			return false;
		fence_put(b->wait[b->waits - 1]);
	}
	if (!b)
		return false;
	vm->binds = b->next;
	if (!vm->binds)
		vm->binds_end = &vm->binds;
	status = b->skipped ? 0 : bind_run(vm, b);
	if (b->sync) {
		b->status = status;
		b->finished = true;
		drv_changed();
	} else {
		if (b->done)
			fence_signal(b->done, status ? -EIO : 0);
		bind_free(b);
	}
	vm_put(vm);
	return true;
}

/* ---- The other ioctls ------------------------------------------------------------------------ */

int ioctl_vm_create(struct file *file, void *data)
{
	struct drm_tessera_vm_create *arg = data;
	struct vm *vm;
	int ret;

	if (arg->flags)
		return -EINVAL;
	if (quota_room(file->quota, QUOTA_VMS, 1) ||
	    quota_room(file->quota, QUOTA_PAGE_TABLES, PAGE))
		return -ENOSPC;
	vm = vm_new(file->quota);
	if (!vm)
		return -ENOMEM;
	ret = table_add(&file->vms, vm);
	if (ret < 0) {
		vm_put(vm);
		return ret;
	}
	arg->vm_id = (uint32_t)ret;
	return 0;
}

int ioctl_vm_destroy(struct file *file, void *data)
{
	const struct drm_tessera_vm_destroy *arg = data;
	struct vm *vm;

	if (arg->pad)
		return -EINVAL;
	vm = table_remove(&file->vms, arg->vm_id);
	if (!vm)
		return -ENOENT;
	vm_put(vm);
	return 0;
}

int ioctl_vm_get_state(struct file *file, void *data)
{
	struct drm_tessera_vm_get_state *arg = data;
	struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS];
	uint64_t first;
	uint32_t i, kept;
	struct vm *vm;
	int ret = 0;

	if (arg->flags)
		return -EINVAL;
	vm = table_find(&file->vms, arg->vm_id);
	if (!vm)
		return -ENOENT;
	kept = vm->faults < DRM_TESSERA_FAULT_RECORDS ? (uint32_t)vm->faults
						      : DRM_TESSERA_FAULT_RECORDS;
	first = vm->faults - kept;
	if (kept > arg->faults.count)
		kept = arg->faults.count;
	for (i = 0; i < kept; i++)
		faults[i] = vm->fault[(first + i) % DRM_TESSERA_FAULT_RECORDS];
	if (arg->faults.count)
		ret = array_out(&arg->faults, sizeof(*faults), sizeof(*faults), faults, kept);
	arg->fault_count = vm->faults;
	arg->faults.count = kept;
	return ret;
}
