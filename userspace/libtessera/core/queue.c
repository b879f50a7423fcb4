// SPDX-License-Identifier: MIT
/*
 * Queues: one ring of one engine class, in one VM. The kernel's queue takes one of the few slots of
 * the hardware, so it is created for the first job and not before: a program that opens a device
 * and draws nothing, or never dispatches, takes no slot for it.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

struct tsr_queue {
	atomic_uint refs;
	struct tsr_vm *vm;		/* referenced */
	pthread_mutex_t lock;		/* held while the kernel's queue is created */
	atomic_uint id;			/* the kernel's, constant once it is not 0 */
	struct drm_tessera_queue_create arg;	/* what it is created with; constant */
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
		return tsr_fail(error,
				"no hardware queue is free, or the file or its user has its share");
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

/* The errors of QUEUE_CREATE that depend on its arguments alone: 0 or a positive errno. */
static int check(const struct tsr_device *device, const struct drm_tessera_queue_create *arg)
{
	const struct drm_tessera_engine_info *engine = tsr_device_engine(device, arg->engine_class);
	const uint32_t size = arg->ring_size;

	if (!engine || arg->priority > DRM_TESSERA_PRIORITY_HIGH)
		return EINVAL;
	if (size && (size & (size - 1) || size < engine->min_ring_size ||
		     size > engine->max_ring_size))
		return EINVAL;
	return 0;
}

int tsr_queue_open(struct tsr_queue *queue)
{
	struct drm_tessera_queue_create arg = queue->arg;
	int error = 0;

	if (atomic_load_explicit(&queue->id, memory_order_acquire))
		return 0;
	pthread_mutex_lock(&queue->lock);
	if (!atomic_load_explicit(&queue->id, memory_order_relaxed)) {
		error = tsr_device_ioctl(tsr_queue_device(queue), DRM_IOCTL_TESSERA_QUEUE_CREATE,
					 &arg);
		if (!error)
			atomic_store_explicit(&queue->id, arg.queue_id, memory_order_release);
	}
	pthread_mutex_unlock(&queue->lock);
	return error ? explain(tsr_queue_device(queue), &queue->arg, error) : 0;
}

int tsr_queue_create(struct tsr_vm *vm, enum drm_tessera_engine_class engine_class,
		     enum drm_tessera_priority priority, uint32_t ring_size, struct tsr_queue **out)
{
	const struct drm_tessera_queue_create arg = {
		.vm_id = tsr_vm_id(vm),
		.engine_class = engine_class,
		.priority = priority,
		.ring_size = ring_size,
	};
	int error = check(tsr_vm_device(vm), &arg);
	struct tsr_queue *queue;
	int ret = 0;

	if (error)
		return explain(tsr_vm_device(vm), &arg, error);
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return tsr_fail(ENOMEM, "no memory for a queue");
	atomic_init(&queue->refs, 1);
	atomic_init(&queue->id, 0);
	pthread_mutex_init(&queue->lock, NULL);
	queue->vm = tsr_vm_ref(vm);
	queue->arg = arg;
	/* The right to a high priority is checked now; a program may drop it later. */
	if (priority == DRM_TESSERA_PRIORITY_HIGH)
		ret = tsr_queue_open(queue);
	if (ret)
		tsr_queue_unref(queue);
	else
		*out = queue;
	return ret;
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
	arg.queue_id = atomic_load_explicit(&queue->id, memory_order_relaxed);
	if (arg.queue_id)
		tsr_device_ioctl(tsr_queue_device(queue), DRM_IOCTL_TESSERA_QUEUE_DESTROY, &arg);
	tsr_vm_unref(queue->vm);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

uint32_t tsr_queue_class(const struct tsr_queue *queue)
{
	return queue->arg.engine_class;
}

uint32_t tsr_queue_id(const struct tsr_queue *queue)
{
	/* No queue is a constant object: tsr_queue_create() allocates each. */
	const int ret = tsr_queue_open((struct tsr_queue *)queue);

	if (ret) {
		errno = -ret;
		return 0;
	}
	return atomic_load_explicit(&queue->id, memory_order_acquire);
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
	struct drm_tessera_queue_get_state known = {
		.queue_id = atomic_load_explicit(&queue->id, memory_order_acquire),
	};
	int error = 0;

	/* Before its first job a queue has the state of a new one: all zero. */
	if (known.queue_id)
		error = tsr_device_ioctl(tsr_queue_device(queue),
					 DRM_IOCTL_TESSERA_QUEUE_GET_STATE, &known);
	if (error)
		return tsr_fail_ioctl(error, "state of a queue");
	tsr_copy_out(state, size, &known, sizeof(known));
	return 0;
}
