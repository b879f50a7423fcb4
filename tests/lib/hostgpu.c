// SPDX-License-Identifier: MIT
/* The device in this process, see hostgpu.h. */
#include "hostgpu.h"

#include <stdlib.h>

#include <tessera/tessera.h>

#include "driver.h"
#include "device/gpu.h"

static struct machine_options machine;

/* A program that has set nothing has a device without threads, too. */
__attribute__((constructor)) static void hostgpu_defaults(void)
{
	machine_options = &machine;
}

void hostgpu_set(const struct hostgpu_options *options)
{
	machine = (struct machine_options){
		.threads = options->threads, .cores = options->cores, .simd = options->simd,
		.gfx_debug = options->gfx_debug,
	};
}

void hostgpu_reset(void)
{
	drv_stop();
}

/* The driver's file of @device. */
static struct file *file_of(const struct tsr_device *device)
{
	struct ufile *u = ufile_get(tsr_device_fd(device));
	struct file *file;

	if (!u || u->kind != UFILE_DEVICE)
		abort();
	file = u->object;
	ufile_put(u);
	return file;
}

const void *hostgpu_peek(const struct tsr_device *device, uint32_t vm_id, uint64_t va,
			 uint64_t size)
{
	const void *found = NULL;
	const struct vm *vm;

	drv_lock();
	vm = table_find(&file_of(device)->vms, vm_id);
	for (unsigned int i = 0; vm && !found && i < vm->vmas; i++) {
		const struct vma *a = &vm->vma[i];

		if (a->bo && va >= a->va && va - a->va < a->size && size <= a->size - (va - a->va))
			found = window_at(a->bo->window + a->offset + (va - a->va));
	}
	drv_unlock();
	return found;
}

uint64_t hostgpu_counter(const struct tsr_device *device, uint32_t queue_id, unsigned int counter)
{
	const struct queue *q;
	uint64_t value;

	drv_lock();
	q = table_find(&file_of(device)->queues, queue_id);
	if (!q)
		abort();
	value = gpu_read64(TSR_REG_QUEUE_COUNTER(q->slot, counter));
	drv_unlock();
	return value;
}

void hostgpu_next(void (*hook)(void *opaque, bool batches, uint64_t count), void *opaque)
{
	drv.gpu->env.next_hook = hook;
	drv.gpu->env.next_hook_opaque = opaque;
}

uint64_t hostgpu_path(unsigned int path)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; drv.gpu && i < drv.gpu->num_runners; i++)
		sum += drv.gpu->runner[i].own.path[path];
	return sum;
}
