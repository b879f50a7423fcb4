// SPDX-License-Identifier: MIT
/* Queues: one ring of one engine class, in one VM. */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

struct tsr_queue {
	atomic_uint refs;
	struct tsr_vm *vm;		/* referenced */
	uint32_t id;			/* the kernel's */
	uint32_t engine_class;
};

static int explain(const struct tsr_device *device, const struct drm_tessera_queue_create *arg,
		   int error)
{
	const struct drm_tessera_engine_info *engine = tsr_device_engine(device, arg->engine_class);

	if (error == EACCES)
		return tsr_fail(error,
				"queue priority %u is not permitted, expected a bit of mask 0x%x",
				arg->priority, device->info.priority_mask);
	if (error == ENOSPC)
		return tsr_fail(error, "all hardware queues are in use");
	if (error == EINVAL && !engine)
		return tsr_fail(error, "the GPU has no engine of class %u", arg->engine_class);
	if (error == EINVAL)
		return tsr_fail(error,
				"queue with priority %u and ring size %u refused: expected 0 or a "
				"power of two from %u to %u",
				arg->priority, arg->ring_size, engine->min_ring_size,
				engine->max_ring_size);
	return tsr_fail_ioctl(error, "new queue");
}

int tsr_queue_create(struct tsr_vm *vm, enum drm_tessera_engine_class engine_class,
		     enum drm_tessera_priority priority, uint32_t ring_size, struct tsr_queue **out)
{
	struct drm_tessera_queue_create arg = {
		.vm_id = tsr_vm_id(vm),
		.engine_class = engine_class,
		.priority = priority,
		.ring_size = ring_size,
	};
	struct tsr_queue *queue = calloc(1, sizeof(*queue));
	int error;

	if (!queue)
		return tsr_fail(ENOMEM, "no memory for a queue");
	error = tsr_device_ioctl(tsr_vm_device(vm), DRM_IOCTL_TESSERA_QUEUE_CREATE, &arg);
	if (error) {
		free(queue);
		return explain(tsr_vm_device(vm), &arg, error);
	}
	atomic_init(&queue->refs, 1);
	queue->vm = tsr_vm_ref(vm);
	queue->id = arg.queue_id;
	queue->engine_class = engine_class;
	*out = queue;
	return 0;
}

struct tsr_queue *tsr_queue_ref(struct tsr_queue *queue)
{
	atomic_fetch_add_explicit(&queue->refs, 1, memory_order_relaxed);
	return queue;
}

void tsr_queue_unref(struct tsr_queue *queue)
{
	struct drm_tessera_queue_destroy arg = { 0 };

	if (!queue || atomic_fetch_sub_explicit(&queue->refs, 1, memory_order_acq_rel) != 1)
		return;
	arg.queue_id = queue->id;
	tsr_device_ioctl(tsr_queue_device(queue), DRM_IOCTL_TESSERA_QUEUE_DESTROY, &arg);
	tsr_vm_unref(queue->vm);
	free(queue);
}

uint32_t tsr_queue_class(const struct tsr_queue *queue)
{
	return queue->engine_class;
}

uint32_t tsr_queue_id(const struct tsr_queue *queue)
{
	return queue->id;
}

struct tsr_vm *tsr_queue_vm(const struct tsr_queue *queue)
{
	return queue->vm;
}

struct tsr_device *tsr_queue_device(const struct tsr_queue *queue)
{
	return tsr_vm_device(queue->vm);
}

int tsr_queue_get_state(struct tsr_queue *queue, struct drm_tessera_queue_get_state *state,
			size_t size)
{
	struct drm_tessera_queue_get_state known = { .queue_id = queue->id };
	int error;

	error = tsr_device_ioctl(tsr_queue_device(queue), DRM_IOCTL_TESSERA_QUEUE_GET_STATE,
				 &known);
	if (error)
		return tsr_fail_ioctl(error, "state of a queue");
	tsr_copy_out(state, size, &known, sizeof(known));
	return 0;
}
