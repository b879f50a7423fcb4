// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Binds
 *
 * A bind is an array of operations on a VM that is applied as a unit. It is
 * prepared first: arguments are checked, BOs are found and mapped for DMA, and
 * everything the operations can need is allocated, mappings and page tables for
 * the worst case. Only then is it run, at once or by a scheduler job, and cannot
 * fail any more for a reason of its own. What is left over, and what was removed
 * from the VM, is freed at the end, after the TLB has forgotten it, where freeing
 * is allowed.
 *
 * A mapping that is replaced goes over to the new one in single stores of
 * entries. Mappings outside the range of an operation are valid all the time.
 */

#include <linux/dma-resv.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_print.h>
#include <drm/tessera_drm.h>

#include "tessera_as.h"
#include "tessera_bind.h"
#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_evict.h"
#include "tessera_gem.h"
#include "tessera_heap.h"
#include "tessera_shrinker.h"
#include "tessera_trace.h"
#include "tessera_vm.h"

/* Entries that one bind may write: 64 GiB in small pages. */
#define BIND_WORK_MAX	BIT_ULL(24)

/**
 * struct tessera_bind_op - one operation, checked and resolved
 */
struct tessera_bind_op {
	/** @type: enum drm_tessera_bind_op_type. */
	u32 type;
	/** @va: Start. */
	u64 va;
	/** @size: Length. */
	u64 size;
	/** @bo_offset: MAP: where in the BO. */
	u64 bo_offset;
	/** @bits: MAP, MAP_NULL: bits of the page-table entries. */
	u64 bits;
	/** @obj: MAP, UNMAP_BO: the BO, a reference, else NULL. */
	struct drm_gem_object *obj;
	/** @needed: The BO is kept from being purged. */
	bool needed;
	/** @vm_bo: MAP, UNMAP_BO: the BO in this VM, a reference, or NULL. */
	struct drm_gpuvm_bo *vm_bo;
	/** @sg: MAP of system memory: segment that holds @bo_offset. */
	struct scatterlist *sg;
	/** @sg_index: Which one that is. */
	unsigned int sg_index;
	/** @sg_skip: Bytes of that segment before @bo_offset. */
	u64 sg_skip;
};

/**
 * struct tessera_bind - a bind
 */
struct tessera_bind {
	/** @vm: VM, a reference. */
	struct tessera_vm *vm;
	/** @node: Link in &tessera_vm.binds. */
	struct list_head node;
	/** @pool: Page tables; empty once the device is gone. */
	struct tessera_pt_pool pool;
	/** @spare: Mappings nobody uses yet, by &tessera_vma.node. */
	struct list_head spare;
	/** @returned: Mappings that were removed from the VM. */
	struct list_head returned;
	/** @inv_start: First address whose translation may have changed. */
	u64 inv_start;
	/** @inv_end: First address after the range. */
	u64 inv_end;
	/** @done: It has run, or will not. Under &tessera_vm.op_lock. */
	bool done;
	/** @work: Entries of page tables the operations may write. */
	u64 work;
	/** @count: Number of operations. */
	unsigned int count;
	/** @op: The operations. */
	struct tessera_bind_op op[] __counted_by(count);
};

/**
 * struct tessera_bind_step - argument of the gpuvm callbacks
 */
struct tessera_bind_step {
	/** @bind: The bind. */
	struct tessera_bind *bind;
	/** @op: Its operation that is being run. */
	struct tessera_bind_op *op;
};

static struct tessera_vma *to_tessera_vma(struct drm_gpuva *va)
{
	return container_of(va, struct tessera_vma, base);
}

/**
 * tessera_vma_return() - put away a mapping that was removed from its VM
 * @vma: mapping
 * @returned: list to put it on
 *
 * The mapping keeps a reference to the vm_bo, and with it the BO, until
 * tessera_vmas_free(): the device may still use the BO's memory, and whoever else
 * cleans up after the VM must not free it meanwhile.
 */
void tessera_vma_return(struct tessera_vma *vma, struct list_head *returned)
{
	struct drm_gem_object *obj = vma->base.gem.obj;
	struct drm_gpuvm_bo *vm_bo;

	list_add_tail(&vma->node, returned);
	if (!obj)
		return;

	vm_bo = drm_gpuvm_bo_get(vma->base.vm_bo);
	drm_gpuva_unlink_defer(&vma->base);
	vma->base.vm_bo = vm_bo;
}

/**
 * tessera_vmas_free() - free mappings that were returned, or never used
 * @vm: their VM
 * @returned: list of mappings the device does not know any more
 *
 * Takes reservation locks and can free BOs.
 */
void tessera_vmas_free(struct tessera_vm *vm, struct list_head *returned)
{
	struct tessera_vma *vma, *next;

	list_for_each_entry_safe(vma, next, returned, node) {
		list_del(&vma->node);
		if (vma->base.vm_bo)
			drm_gpuvm_bo_put_deferred(vma->base.vm_bo);
		kfree(vma);
	}
	drm_gpuvm_bo_deferred_cleanup(&vm->base);
}

static struct tessera_vma *bind_take_vma(struct tessera_bind *bind, u64 bits)
{
	struct tessera_vma *vma = list_first_entry(&bind->spare, struct tessera_vma, node);

	list_del_init(&vma->node);
	vma->bits = bits;

	return vma;
}

static void bind_link_vma(struct tessera_vma *vma, struct drm_gpuvm_bo *vm_bo)
{
	if (!vm_bo)
		return;

	mutex_lock(tessera_gpuva_lock(vm_bo->obj));
	drm_gpuva_link(&vma->base, vm_bo);
	mutex_unlock(tessera_gpuva_lock(vm_bo->obj));
}

/* Write the entries of a mapping of a BO in system memory. */
static void bind_map_sgt(struct tessera_bind *bind, const struct tessera_bind_op *op,
			 const struct sg_table *sgt)
{
	u64 va = op->va, left = op->size, skip = op->sg_skip;
	struct scatterlist *sg = op->sg;
	unsigned int i;

	for (i = op->sg_index; i < sgt->nents && left; i++, sg = sg_next(sg)) {
		u64 len = min(sg_dma_len(sg) - skip, left);

		tessera_pt_map(bind->vm->pgt, &bind->pool, va, len, sg_dma_address(sg) + skip,
			       op->bits);
		va += len;
		left -= len;
		skip = 0;
	}
}

/**
 * tessera_bind_step_map() - &drm_gpuvm_ops.sm_step_map
 * @gop: what to map
 * @priv: struct tessera_bind_step
 *
 * Return: 0.
 */
int tessera_bind_step_map(struct drm_gpuva_op *gop, void *priv)
{
	struct tessera_bind_step *step = priv;
	struct tessera_bind *bind = step->bind;
	struct tessera_bind_op *op = step->op;
	struct tessera_vma *vma = bind_take_vma(bind, op->bits);
	struct tessera_bo *bo = op->obj ? to_tessera_bo(op->obj) : NULL;

	drm_gpuva_map(&bind->vm->base, &vma->base, &gop->map);
	bind_link_vma(vma, op->vm_bo);

	if (!bo)
		tessera_pt_map(bind->vm->pgt, &bind->pool, op->va, op->size, 0, op->bits);
	else if (op->bits & TSR_PTE_LOCAL__MASK)
		tessera_pt_map(bind->vm->pgt, &bind->pool, op->va, op->size,
			       bo->local.start + op->bo_offset, op->bits);
	else
		bind_map_sgt(bind, op, bo->base.sgt);

	return 0;
}

/* Clear entries, except where the map step of the same operation overwrites them. */
static void bind_unmap_range(struct tessera_bind_step *step, u64 start, u64 end)
{
	if (step->op->type != DRM_TESSERA_BIND_UNMAP && step->op->type != DRM_TESSERA_BIND_UNMAP_BO)
		return;

	tessera_pt_unmap(step->bind->vm->pgt, &step->bind->pool, start, end - start);
}

/**
 * tessera_bind_step_remap() - &drm_gpuvm_ops.sm_step_remap
 * @gop: mapping to cut, and what stays of it
 * @priv: struct tessera_bind_step
 *
 * Return: 0.
 */
int tessera_bind_step_remap(struct drm_gpuva_op *gop, void *priv)
{
	struct drm_gpuva_op_remap *op = &gop->remap;
	struct tessera_vma *old = to_tessera_vma(op->unmap->va);
	u64 start = old->base.va.addr, end = start + old->base.va.range;
	struct tessera_vma *prev = NULL, *next = NULL;
	struct tessera_bind_step *step = priv;

	if (op->prev) {
		prev = bind_take_vma(step->bind, old->bits);
		start = op->prev->va.addr + op->prev->va.range;
	}
	if (op->next) {
		next = bind_take_vma(step->bind, old->bits);
		end = op->next->va.addr;
	}

	bind_unmap_range(step, start, end);
	drm_gpuva_remap(prev ? &prev->base : NULL, next ? &next->base : NULL, op);
	if (prev)
		bind_link_vma(prev, old->base.vm_bo);
	if (next)
		bind_link_vma(next, old->base.vm_bo);
	tessera_vma_return(old, &step->bind->returned);

	return 0;
}

/**
 * tessera_bind_step_unmap() - &drm_gpuvm_ops.sm_step_unmap
 * @gop: mapping to remove
 * @priv: struct tessera_bind_step
 *
 * Return: 0.
 */
int tessera_bind_step_unmap(struct drm_gpuva_op *gop, void *priv)
{
	struct tessera_vma *vma = to_tessera_vma(gop->unmap.va);
	struct tessera_bind_step *step = priv;

	bind_unmap_range(step, vma->base.va.addr, vma->base.va.addr + vma->base.va.range);
	drm_gpuva_unmap(&gop->unmap);
	tessera_vma_return(vma, &step->bind->returned);

	return 0;
}

static void bind_touch(struct tessera_bind *bind, u64 start, u64 size)
{
	bind->inv_start = min(bind->inv_start, start);
	bind->inv_end = max(bind->inv_end, start + size);
}

/* Remove every mapping of a BO. Mappings come and go under op_lock only. */
static void bind_unmap_bo(struct tessera_bind *bind, struct tessera_bind_op *op)
{
	struct tessera_bind_step step = { .bind = bind, .op = op };
	struct drm_gpuvm_bo *vm_bo = op->vm_bo;
	struct drm_gpuva *va, *next;

	if (!vm_bo)
		return;

	drm_gpuvm_bo_for_each_va_safe(va, next, vm_bo) {
		struct drm_gpuva_op gop = {
			.op = DRM_GPUVA_OP_UNMAP,
			.unmap.va = va,
		};

		bind_touch(bind, va->va.addr, va->va.range);
		tessera_bind_step_unmap(&gop, &step);
	}
}

static int bind_run_op(struct tessera_bind *bind, struct tessera_bind_op *op)
{
	struct tessera_bind_step step = { .bind = bind, .op = op };
	struct drm_gpuvm *gpuvm = &bind->vm->base;
	const struct drm_gpuvm_map_req req = {
		.map.va.addr = op->va,
		.map.va.range = op->size,
		.map.gem.obj = op->obj,
		.map.gem.offset = op->bo_offset,
	};

	switch (op->type) {
	case DRM_TESSERA_BIND_MAP:
	case DRM_TESSERA_BIND_MAP_NULL:
		bind_touch(bind, op->va, op->size);
		return drm_gpuvm_sm_map(gpuvm, &step, &req);
	case DRM_TESSERA_BIND_UNMAP:
		bind_touch(bind, op->va, op->size);
		return drm_gpuvm_sm_unmap(gpuvm, &step, op->va, op->size);
	default:
		bind_unmap_bo(bind, op);
		return 0;
	}
}

/* Make the device forget what the bind has changed. */
static int bind_invalidate(struct tessera_bind *bind)
{
	struct tessera_vm *vm = bind->vm;

	if (!bind->pool.dirty)
		return 0;

	return tessera_as_invalidate(vm->tdev, vm->as, bind->inv_start,
				     bind->inv_end - bind->inv_start);
}

/**
 * tessera_bind_run() - apply a bind
 * @bind: bind that has not run
 *
 * Allocates nothing. The caller holds &tessera_vm.op_lock.
 *
 * Return: 0; -ENODEV if the device is gone, when nothing has changed; -EIO if the
 * device did not confirm it and was cut off, which is the end of the VM.
 */
int tessera_bind_run(struct tessera_bind *bind)
{
	struct tessera_vm *vm = bind->vm;
	unsigned int i;
	int ret = 0, cookie;

	lockdep_assert_held(&vm->op_lock);

	/* DRM hears of an unplug a moment after the jobs have ended that a bind may wait for. */
	if (tessera_state(vm->tdev) == TESSERA_UNPLUGGED ||
	    !drm_dev_enter(&vm->tdev->drm, &cookie))
		return -ENODEV;

	for (i = 0; i < bind->count && !ret; i++)
		ret = bind_run_op(bind, &bind->op[i]);
	drm_WARN_ON(&vm->tdev->drm, ret);
	bind->done = true;

	if (bind_invalidate(bind))
		ret = -EIO;

	drm_dev_exit(cookie);
	trace_tessera_bind(vm, bind->inv_start, bind->inv_end, bind->count, ret);

	return ret;
}

static int bind_reserve_vmas(struct tessera_bind *bind, unsigned int count)
{
	while (count--) {
		struct tessera_vma *vma = kzalloc(sizeof(*vma), GFP_KERNEL_ACCOUNT);

		if (!vma)
			return -ENOMEM;
		list_add(&vma->node, &bind->spare);
	}

	return 0;
}

static int bind_get_vm_bo(struct tessera_bind *bind, struct tessera_bind_op *op)
{
	struct drm_gpuvm *gpuvm = &bind->vm->base;
	struct drm_gpuvm_bo *vm_bo;

	vm_bo = drm_gpuvm_bo_create(gpuvm, op->obj);
	if (!vm_bo)
		return -ENOMEM;

	op->vm_bo = drm_gpuvm_bo_obtain_prealloc(vm_bo);

	dma_resv_lock(drm_gpuvm_resv(gpuvm), NULL);
	drm_gpuvm_bo_extobj_add(op->vm_bo);
	dma_resv_unlock(drm_gpuvm_resv(gpuvm));

	dma_resv_lock(op->obj->resv, NULL);
	tessera_evict_add_vm_bo(op->vm_bo);
	dma_resv_unlock(op->obj->resv);

	return 0;
}

/*
 * Find the segment that the operation begins with. That can take long for a large BO
 * in small pieces, so it is not left to tessera_bind_run(), which has others waiting.
 * Nothing waits here; operations on a BO in the order of its offsets go on from the
 * last one. The segments stay as they are while the BO is needed.
 */
static int bind_find_sg(struct tessera_bind *bind, struct tessera_bind_op *op,
			struct sg_table *sgt)
{
	const struct tessera_bind_op *last = op > bind->op ? op - 1 : NULL;
	struct scatterlist *sg = sgt->sgl;
	u64 skip = op->bo_offset;
	unsigned int i = 0;

	if (last && last->sg && last->obj == op->obj && last->bo_offset <= op->bo_offset) {
		sg = last->sg;
		i = last->sg_index;
		skip = last->sg_skip + op->bo_offset - last->bo_offset;
	}

	for (; i < sgt->nents && skip >= sg_dma_len(sg); i++) {
		skip -= sg_dma_len(sg);
		sg = sg_next(sg);
		if (i % SZ_4K)
			continue;
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	op->sg = sg;
	op->sg_index = i;
	op->sg_skip = skip;

	return i < sgt->nents ? 0 : -EINVAL;
}

static int bind_prepare_bo(struct tessera_bind *bind, struct tessera_bind_op *op)
{
	struct tessera_bo *bo = to_tessera_bo(op->obj);
	struct sg_table *sgt;
	int ret;

	if (bo->private_resv && bo->private_resv != tessera_vm_resv_obj(bind->vm))
		return -EINVAL;
	if (op->bo_offset > op->obj->size || op->size > op->obj->size - op->bo_offset)
		return -EINVAL;
	if (bo->read_only && op->bits & TSR_PTE_WRITE__MASK)
		return -EINVAL;

	ret = tessera_bo_need(bo);
	if (ret)
		return ret;
	op->needed = true;

	/* It does not move while it is needed. */
	if (drm_mm_node_allocated(&bo->local)) {
		op->bits |= TSR_PTE_LOCAL__MASK;
	} else {
		sgt = tessera_bo_map_dma(bo);
		if (IS_ERR(sgt))
			return PTR_ERR(sgt);
		ret = bind_find_sg(bind, op, sgt);
		if (ret)
			return ret;
	}

	return bind_get_vm_bo(bind, op);
}

/*
 * All operations of a bind are applied under op_lock, for which others wait, recovery
 * among them. So what they write is limited. (What they remove was written before.)
 */
static int bind_count_work(struct tessera_bind *bind, u64 size, bool null)
{
	bool large = null && bind->vm->tdev->info.features & TSR_FEATURE_HUGE_PAGES;

	bind->work += size >> (large ? TSR_HUGE_SHIFT : TSR_PAGE_SHIFT);

	return bind->work > BIND_WORK_MAX ? -ENOMEM : 0;
}

static int bind_prepare_unmap_bo(struct tessera_bind *bind, struct tessera_bind_op *op)
{
	struct mutex *lock = tessera_gpuva_lock(op->obj);

	tessera_pt_reserve_nothing(&bind->pool);
	mutex_lock(lock);
	op->vm_bo = drm_gpuvm_bo_find(&bind->vm->base, op->obj);
	mutex_unlock(lock);

	return 0;
}

/* A map makes one mapping and leaves two remains, an unmap leaves two. */
static int bind_prepare_op(struct tessera_bind *bind, struct tessera_bind_op *op)
{
	struct tessera_pgtable *pgt = bind->vm->pgt;
	int ret;

	switch (op->type) {
	case DRM_TESSERA_BIND_MAP:
		ret = bind_prepare_bo(bind, op) ?: bind_count_work(bind, op->size, false);
		if (ret)
			return ret;
		fallthrough;
	case DRM_TESSERA_BIND_MAP_NULL:
		ret = bind_reserve_vmas(bind, 3);
		return ret ?: tessera_pt_reserve_map(pgt, &bind->pool, op->va, op->size,
						     op->type == DRM_TESSERA_BIND_MAP_NULL);
	case DRM_TESSERA_BIND_UNMAP:
		ret = bind_reserve_vmas(bind, 2);
		return ret ?: tessera_pt_reserve_unmap(pgt, &bind->pool, op->va, op->size);
	default:
		return bind_prepare_unmap_bo(bind, op);
	}
}

static u64 bind_bits(const struct drm_tessera_bind_op *uop)
{
	u64 bits = 0;

	if (uop->op == DRM_TESSERA_BIND_MAP_NULL)
		return TSR_PTE_NULL__MASK | TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK;

	if (uop->flags & DRM_TESSERA_BIND_READ)
		bits |= TSR_PTE_READ__MASK;
	if (uop->flags & DRM_TESSERA_BIND_WRITE)
		bits |= TSR_PTE_WRITE__MASK;
	if (uop->flags & DRM_TESSERA_BIND_EXEC)
		bits |= TSR_PTE_EXEC__MASK;

	return bits;
}

static bool bind_op_valid(struct tessera_vm *vm, const struct drm_tessera_bind_op *uop)
{
	const u32 flags = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE | DRM_TESSERA_BIND_EXEC;
	bool map = uop->op == DRM_TESSERA_BIND_MAP;
	bool bo = map || uop->op == DRM_TESSERA_BIND_UNMAP_BO;

	if (uop->op > DRM_TESSERA_BIND_UNMAP_BO || uop->pad)
		return false;
	if (uop->flags & ~flags)
		return false;
	if (map != !!uop->flags || (!bo && uop->bo_handle) || (!map && uop->bo_offset))
		return false;
	if (uop->op == DRM_TESSERA_BIND_UNMAP_BO)
		return !uop->va && !uop->size;
	if (!IS_ALIGNED(uop->va | uop->size | uop->bo_offset, BIT_ULL(TSR_PAGE_SHIFT)))
		return false;

	return uop->size && drm_gpuvm_range_valid(&vm->base, uop->va, uop->size);
}

/* From here on a heap finds the range taken; a range that a heap has cannot be. */
static int bind_claim(struct tessera_vm *vm, struct tessera_bind_op *op,
		      const struct drm_tessera_bind_op *uop)
{
	int ret = 0;

	mutex_lock(&vm->op_lock);
	if (uop->size && tessera_heap_overlaps(vm, uop->va, uop->size)) {
		ret = -EBUSY;
	} else {
		op->va = uop->va;
		op->size = uop->size;
	}
	mutex_unlock(&vm->op_lock);

	return ret;
}

/* Is each of the operations well formed, and what they ask for not too much? */
static int bind_check(struct tessera_bind *bind, const struct drm_tessera_bind_op *ops)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < bind->count && !ret; i++) {
		if (!bind_op_valid(bind->vm, &ops[i]))
			ret = -EINVAL;
		else if (ops[i].op == DRM_TESSERA_BIND_MAP_NULL)
			ret = bind_count_work(bind, ops[i].size, true);
	}

	return ret;
}

static int bind_init_op(struct drm_file *file, struct tessera_bind *bind,
			struct tessera_bind_op *op, const struct drm_tessera_bind_op *uop)
{
	int ret;

	op->type = uop->op;
	op->bo_offset = uop->bo_offset;
	op->bits = bind_bits(uop);
	ret = bind_claim(bind->vm, op, uop);
	if (ret)
		return ret;

	if (uop->op == DRM_TESSERA_BIND_MAP || uop->op == DRM_TESSERA_BIND_UNMAP_BO) {
		op->obj = drm_gem_object_lookup(file, uop->bo_handle);
		if (!op->obj)
			return -ENOENT;
	}

	return bind_prepare_op(bind, op);
}

static struct tessera_bind *bind_alloc(struct tessera_vm *vm, unsigned int count)
{
	struct tessera_bind *bind;

	bind = kvzalloc(struct_size(bind, op, count), GFP_KERNEL_ACCOUNT);
	if (!bind)
		return NULL;

	bind->vm = tessera_vm_get(vm);
	bind->count = count;
	bind->inv_start = U64_MAX;
	tessera_pt_pool_init(&bind->pool);
	INIT_LIST_HEAD(&bind->spare);
	INIT_LIST_HEAD(&bind->returned);

	mutex_lock(&vm->op_lock);
	list_add(&bind->node, &vm->binds);
	mutex_unlock(&vm->op_lock);

	return bind;
}

/**
 * tessera_bind_create() - check and prepare a bind
 * @file: file
 * @vm: VM
 * @ops: operations as user space gave them
 * @count: how many
 *
 * Inside drm_dev_enter(), so that the page table is there.
 *
 * Return: the bind or an error pointer.
 */
struct tessera_bind *tessera_bind_create(struct drm_file *file, struct tessera_vm *vm,
					 const struct drm_tessera_bind_op *ops, unsigned int count)
{
	struct tessera_bind *bind;
	unsigned int i;
	int ret;

	bind = bind_alloc(vm, count);
	if (!bind)
		return ERR_PTR(-ENOMEM);

	ret = bind_check(bind, ops);
	for (i = 0; i < count && !ret; i++)
		ret = bind_init_op(file, bind, &bind->op[i], &ops[i]);
	if (ret) {
		tessera_bind_destroy(bind);
		return ERR_PTR(ret);
	}

	return bind;
}

/* A bind of the driver's own, of one operation. Takes the reference to @obj. */
static struct tessera_bind *bind_create_own(struct tessera_vm *vm,
					    const struct tessera_bind_op *op)
{
	struct tessera_bind *bind = bind_alloc(vm, 1);
	int ret;

	if (!bind) {
		if (op->obj)
			drm_gem_object_put(op->obj);
		return ERR_PTR(-ENOMEM);
	}

	/* From here on, checks for overlaps see the range. */
	mutex_lock(&vm->op_lock);
	bind->op[0] = *op;
	mutex_unlock(&vm->op_lock);

	ret = bind_prepare_op(bind, &bind->op[0]);
	if (ret) {
		tessera_bind_destroy(bind);
		return ERR_PTR(ret);
	}

	return bind;
}

/**
 * tessera_bind_create_map() - prepare to map a BO of the driver's own
 * @vm: VM
 * @obj: BO, private to the VM; all of it is mapped for reading and writing
 * @va: where to, in a range that belongs to a heap
 *
 * Inside drm_dev_enter().
 *
 * Return: the bind or an error pointer.
 */
struct tessera_bind *tessera_bind_create_map(struct tessera_vm *vm, struct drm_gem_object *obj,
					     u64 va)
{
	drm_gem_object_get(obj);

	return bind_create_own(vm, &(struct tessera_bind_op) {
		.type = DRM_TESSERA_BIND_MAP,
		.va = va,
		.size = obj->size,
		.bits = TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK,
		.obj = obj,
	});
}

/**
 * tessera_bind_create_unmap() - prepare to take a range out of a VM
 * @vm: VM
 * @va: start
 * @size: length; mappings are in the range or not, as a whole
 *
 * Inside drm_dev_enter().
 *
 * Return: the bind, which can be kept for long, or an error pointer.
 */
struct tessera_bind *tessera_bind_create_unmap(struct tessera_vm *vm, u64 va, u64 size)
{
	return bind_create_own(vm, &(struct tessera_bind_op) {
		.type = DRM_TESSERA_BIND_UNMAP,
		.va = va,
		.size = size,
	});
}

/**
 * tessera_bind_destroy() - free a bind that has run, or never will
 * @bind: bind
 *
 * Takes reservation locks and can free BOs.
 */
void tessera_bind_destroy(struct tessera_bind *bind)
{
	struct tessera_vm *vm = bind->vm;
	unsigned int i;

	/* Under the lock: an unplug either finds the tables or finds them freed. */
	mutex_lock(&vm->op_lock);
	if (vm->pgt)
		tessera_pt_pool_recycle(vm->pgt, &bind->pool);
	tessera_pt_pool_fini(vm->tdev->drm.dev, &bind->pool);
	list_del(&bind->node);
	mutex_unlock(&vm->op_lock);
	tessera_delay(TESSERA_DELAY_BIND_FREE);

	tessera_vmas_free(vm, &bind->returned);
	tessera_vmas_free(vm, &bind->spare);

	for (i = 0; i < bind->count; i++) {
		struct tessera_bind_op *op = &bind->op[i];

		if (op->vm_bo)
			drm_gpuvm_bo_put_deferred(op->vm_bo);
		if (op->needed)
			atomic_dec(&to_tessera_bo(op->obj)->needed);
		if (op->obj)
			drm_gem_object_put(op->obj);
	}
	drm_gpuvm_bo_deferred_cleanup(&vm->base);

	tessera_vm_put(vm);
	kvfree(bind);
}

/**
 * tessera_bind_skip() - a bind is not to be applied after all
 * @bind: bind that has not run
 *
 * The caller holds &tessera_vm.op_lock.
 */
void tessera_bind_skip(struct tessera_bind *bind)
{
	lockdep_assert_held(&bind->vm->op_lock);

	bind->done = true;
}

/**
 * tessera_binds_unplug() - free the page tables of all binds
 * @vm: VM of an unplugged device
 *
 * The caller holds &tessera_vm.op_lock. Binds that have not run will not.
 */
void tessera_binds_unplug(struct tessera_vm *vm)
{
	struct tessera_bind *bind;

	lockdep_assert_held(&vm->op_lock);

	list_for_each_entry(bind, &vm->binds, node)
		tessera_pt_pool_fini(vm->tdev->drm.dev, &bind->pool);
}

/**
 * tessera_binds_overlap() - does a bind that has been prepared touch a range?
 * @vm: VM
 * @va: start
 * @size: length
 *
 * Return: true if one does that has not run. The caller holds
 * &tessera_vm.op_lock.
 */
bool tessera_binds_overlap(struct tessera_vm *vm, u64 va, u64 size)
{
	struct tessera_bind *bind;
	unsigned int i;

	lockdep_assert_held(&vm->op_lock);

	list_for_each_entry(bind, &vm->binds, node) {
		/* Operations of a bind that has run are part of the VM already. */
		for (i = 0; i < bind->count && !bind->done; i++) {
			struct tessera_bind_op *op = &bind->op[i];

			if (op->va < va + size && va < op->va + op->size)
				return true;
		}
	}

	return false;
}
