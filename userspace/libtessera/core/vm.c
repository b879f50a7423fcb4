// SPDX-License-Identifier: MIT
/* Address spaces: the kernel's VM, and the allocator of its addresses. */
#include <errno.h>
#include <stdlib.h>

#include "debug.h"
#include "internal.h"
#include "range.h"

struct tsr_vm {
	atomic_uint refs;
	struct tsr_device *device;	/* referenced */
	uint32_t id;			/* the kernel's */
	pthread_mutex_t lock;		/* protects addresses */
	struct tsr_range addresses;	/* which are taken */
};

static void destroy_id(struct tsr_device *device, uint32_t id)
{
	struct drm_tessera_vm_destroy arg = { .vm_id = id };

	tsr_device_ioctl(device, DRM_IOCTL_TESSERA_VM_DESTROY, &arg);
}

int tsr_vm_create(struct tsr_device *device, struct tsr_vm **out)
{
	struct drm_tessera_vm_create arg = { 0 };
	struct tsr_vm *vm;
	int error;

	error = tsr_device_ioctl(device, DRM_IOCTL_TESSERA_VM_CREATE, &arg);
	if (error)
		return tsr_fail_ioctl(error, "new VM");
	vm = calloc(1, sizeof(*vm));
	if (!vm || tsr_range_init(&vm->addresses, device->info.va_start, device->info.va_end)) {
		free(vm);
		destroy_id(device, arg.vm_id);
		return tsr_fail(ENOMEM, "no memory for a VM object");
	}
	atomic_init(&vm->refs, 1);
	vm->device = tsr_device_ref(device);
	vm->id = arg.vm_id;
	pthread_mutex_init(&vm->lock, NULL);
	*out = vm;
	return 0;
}

struct tsr_vm *tsr_vm_ref(struct tsr_vm *vm)
{
	atomic_fetch_add_explicit(&vm->refs, 1, memory_order_relaxed);
	return vm;
}

void tsr_vm_unref(struct tsr_vm *vm)
{
	if (!vm || atomic_fetch_sub_explicit(&vm->refs, 1, memory_order_acq_rel) != 1)
		return;
	tsr_debug_vm_gone(vm);
	destroy_id(vm->device, vm->id);
	tsr_range_fini(&vm->addresses);
	pthread_mutex_destroy(&vm->lock);
	tsr_device_unref(vm->device);
	free(vm);
}

uint32_t tsr_vm_id(const struct tsr_vm *vm)
{
	return vm->id;
}

struct tsr_device *tsr_vm_device(const struct tsr_vm *vm)
{
	return vm->device;
}

uint64_t tsr_vm_page_align(const struct tsr_vm *vm, uint64_t size, uint64_t align)
{
	uint64_t sizes = vm->device->info.page_sizes, best = vm->device->granule, bit;

	for (bit = best; bit && bit <= size; bit <<= 1) {
		if (sizes & bit)
			best = bit;
	}
	return best > align ? best : align;
}

/* Round @size up to the granule; -EINVAL for 0 and what overflows. */
static int whole_granules(const struct tsr_vm *vm, uint64_t *size)
{
	if (!*size || *size > vm->device->info.va_end)
		return tsr_fail(EINVAL, "a range of %llu bytes, expected 1 to %llu",
				(unsigned long long)*size,
				(unsigned long long)vm->device->info.va_end);
	*size = tsr_round_up(*size, vm->device->granule);
	return 0;
}

int tsr_vm_alloc(struct tsr_vm *vm, uint64_t size, uint64_t align, uint64_t *va)
{
	uint64_t granule = vm->device->granule;
	int ret = whole_granules(vm, &size);

	if (ret)
		return ret;
	if (!align)
		align = tsr_vm_page_align(vm, size, 0);
	if (!tsr_is_pow2(align))
		return tsr_fail(EINVAL, "alignment 0x%llx, expected a power of two",
				(unsigned long long)align);
	pthread_mutex_lock(&vm->lock);
	ret = tsr_range_alloc(&vm->addresses, size, align > granule ? align : granule, va);
	pthread_mutex_unlock(&vm->lock);
	if (ret)
		tsr_fail(-ret, ret == -ENOMEM ? "no memory for an address range" :
			 "no free range of 0x%llx bytes aligned to 0x%llx",
			 (unsigned long long)size, (unsigned long long)align);
	return ret;
}

/* Explain a range that is not made of whole granules or not in the device's range. */
static int check_range(const struct tsr_vm *vm, uint64_t va, uint64_t size)
{
	const struct drm_tessera_gpu_info *info = &vm->device->info;

	if (!size || (va | size) & (vm->device->granule - 1) || va < info->va_start ||
	    va >= info->va_end || info->va_end - va < size)
		return tsr_fail(EINVAL,
				"range 0x%llx + 0x%llx, expected multiples of 0x%llx within 0x%llx "
				"to 0x%llx",
				(unsigned long long)va, (unsigned long long)size,
				(unsigned long long)vm->device->granule,
				(unsigned long long)info->va_start,
				(unsigned long long)info->va_end);
	return 0;
}

int tsr_vm_reserve(struct tsr_vm *vm, uint64_t va, uint64_t size)
{
	int ret = check_range(vm, va, size);

	if (ret)
		return ret;
	pthread_mutex_lock(&vm->lock);
	ret = tsr_range_take(&vm->addresses, va, size);
	pthread_mutex_unlock(&vm->lock);
	return ret ? tsr_fail(-ret, "range 0x%llx + 0x%llx is not free", (unsigned long long)va,
			      (unsigned long long)size) : 0;
}

int tsr_vm_free(struct tsr_vm *vm, uint64_t va, uint64_t size)
{
	int ret = whole_granules(vm, &size);

	if (!ret)
		ret = check_range(vm, va, size);
	if (ret)
		return ret;
	pthread_mutex_lock(&vm->lock);
	ret = tsr_range_release(&vm->addresses, va, size);
	pthread_mutex_unlock(&vm->lock);
	return ret ? tsr_fail(-ret, "range 0x%llx + 0x%llx is not taken, or only in part",
			      (unsigned long long)va, (unsigned long long)size) : 0;
}

/* The kernel's form of @binds, for the caller to free(). NULL on failure, or for an empty array. */
static struct drm_tessera_bind_op *pack_binds(const struct tsr_bind *binds, unsigned int count)
{
	struct drm_tessera_bind_op *ops = calloc(count, sizeof(*ops));
	unsigned int i;

	for (i = 0; ops && i < count; i++) {
		ops[i].op = binds[i].op;
		ops[i].flags = binds[i].access;
		ops[i].bo_handle = binds[i].bo ? tsr_bo_handle(binds[i].bo) : 0;
		ops[i].va = binds[i].va;
		ops[i].size = binds[i].size;
		ops[i].bo_offset = binds[i].bo_offset;
	}
	return ops;
}

/* The kernel's form of @points, for the caller to free(). */
static int pack_points(const struct tsr_vm *vm, const struct tsr_point *points, unsigned int count,
		       struct drm_tessera_array *array)
{
	struct drm_tessera_sync *syncs;
	unsigned int i;
	int ret = 0;

	array->count = count;
	array->stride = sizeof(*syncs);
	if (!count)
		return 0;
	syncs = calloc(count, sizeof(*syncs));
	if (!syncs)
		return tsr_fail(ENOMEM, "no memory for %u syncs", count);
	for (i = 0; !ret && i < count; i++)
		ret = tsr_sync_pack(&points[i], vm->device, &syncs[i]);
	if (ret)
		free(syncs);
	else
		array->ptr = (uintptr_t)syncs;
	return ret;
}

static int bind_ioctl(struct tsr_vm *vm, struct drm_tessera_vm_bind *arg)
{
	int error = tsr_device_ioctl(vm->device, DRM_IOCTL_TESSERA_VM_BIND, arg);

	if (error == EINVAL)
		return tsr_fail(EINVAL,
				"%u bind operation(s) refused: expected at most %u, ranges aligned "
				"to 0x%llx, inside the BO and the VM, MAP with permissions",
				arg->ops.count, vm->device->info.max_bind_ops,
				(unsigned long long)vm->device->granule);
	return error ? tsr_fail_ioctl(error, "%u bind operation(s)", arg->ops.count) : 0;
}

static int bind(struct tsr_vm *vm, uint32_t flags, const struct tsr_bind *binds, unsigned int count,
		const struct tsr_point *waits, unsigned int wait_count,
		const struct tsr_point *signals, unsigned int signal_count)
{
	struct drm_tessera_bind_op *ops = NULL;
	struct drm_tessera_vm_bind arg = {
		.vm_id = vm->id,
		.flags = flags,
		.ops = { .count = count, .stride = sizeof(*ops) },
	};
	int ret;

	if (count) {
		ops = pack_binds(binds, count);
		if (!ops)
			return tsr_fail(ENOMEM, "no memory for %u bind operations", count);
		arg.ops.ptr = (uintptr_t)ops;
	}
	ret = pack_points(vm, waits, wait_count, &arg.waits);
	if (!ret)
		ret = pack_points(vm, signals, signal_count, &arg.signals);
	if (!ret)
		ret = bind_ioctl(vm, &arg);
	if (!ret && tsr_debug() & (TSR_DEBUG_DUMP | TSR_DEBUG_VALIDATE))
		tsr_debug_bound(vm, binds, count);
	free((void *)(uintptr_t)arg.waits.ptr);
	free((void *)(uintptr_t)arg.signals.ptr);
	free(ops);
	return ret;
}

int tsr_vm_bind(struct tsr_vm *vm, const struct tsr_bind *binds, unsigned int count)
{
	return bind(vm, 0, binds, count, NULL, 0, NULL, 0);
}

int tsr_vm_bind_async(struct tsr_vm *vm, const struct tsr_bind *binds, unsigned int count,
		      const struct tsr_point *waits, unsigned int wait_count,
		      const struct tsr_point *signals, unsigned int signal_count)
{
	return bind(vm, DRM_TESSERA_VM_BIND_ASYNC, binds, count, waits, wait_count, signals,
		    signal_count);
}

int tsr_vm_map(struct tsr_vm *vm, struct tsr_bo *bo, uint64_t offset, uint64_t size,
	       uint32_t access, uint64_t *va)
{
	struct tsr_bind map = {
		.op = DRM_TESSERA_BIND_MAP,
		.access = access,
		.bo = bo,
		.bo_offset = offset,
	};
	int ret;

	if (offset >= tsr_bo_size(bo) || size > tsr_bo_size(bo) - offset)
		return tsr_fail(EINVAL, "range 0x%llx + 0x%llx is not inside a BO of 0x%llx bytes",
				(unsigned long long)offset, (unsigned long long)size,
				(unsigned long long)tsr_bo_size(bo));
	map.size = tsr_round_up(size ? size : tsr_bo_size(bo) - offset, vm->device->granule);
	ret = tsr_vm_alloc(vm, map.size, 0, &map.va);
	if (ret)
		return ret;
	ret = tsr_vm_bind(vm, &map, 1);
	if (ret)
		tsr_vm_free(vm, map.va, map.size);
	else
		*va = map.va;
	return ret;
}

int tsr_vm_unmap(struct tsr_vm *vm, uint64_t va, uint64_t size)
{
	struct tsr_bind unmap = { .op = DRM_TESSERA_BIND_UNMAP, .va = va, .size = size };
	int ret = whole_granules(vm, &unmap.size);

	if (!ret)
		ret = tsr_vm_bind(vm, &unmap, 1);
	return ret ? ret : tsr_vm_free(vm, va, unmap.size);
}

int tsr_vm_get_state(struct tsr_vm *vm, uint32_t *flags, uint64_t *fault_count)
{
	struct drm_tessera_vm_get_state arg = { .vm_id = vm->id };
	int error = tsr_device_ioctl(vm->device, DRM_IOCTL_TESSERA_VM_GET_STATE, &arg);

	if (error)
		return tsr_fail_ioctl(error, "state of a VM");
	if (flags)
		*flags = arg.flags;
	if (fault_count)
		*fault_count = arg.fault_count;
	return 0;
}

int tsr_vm_get_faults(struct tsr_vm *vm, struct drm_tessera_fault *faults, size_t stride,
		      uint32_t *count)
{
	struct drm_tessera_vm_get_state arg = {
		.vm_id = vm->id,
		.faults = {
			.ptr = (uintptr_t)faults,
			.count = *count,
			.stride = (uint32_t)stride,
		},
	};
	int error = tsr_device_ioctl(vm->device, DRM_IOCTL_TESSERA_VM_GET_STATE, &arg);

	if (error)
		return tsr_fail_ioctl(error, "faults of a VM");
	*count = arg.faults.count;
	return 0;
}
