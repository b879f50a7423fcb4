// SPDX-License-Identifier: MIT
/*
 * Waits of the CPU. A lost device may never submit the work that a thread waits for, so waits look
 * at the device's state from time to time.
 */
#include "tsv_device.h"

#include "util/os_time.h"

#define LOOK_NS		100000000ull

static VkResult wait_many(struct vk_device *vk, uint32_t count, const struct vk_sync_wait *waits,
			  enum vk_sync_wait_flags flags, uint64_t until)
{
	const struct tsv_physical_device *physical = container_of(vk->physical,
								  struct tsv_physical_device, vk);
	VkResult result, status;
	uint64_t look;

	for (;;) {
		look = os_time_get_absolute_timeout(LOOK_NS);
		result = physical->wait_many(vk, count, waits, flags, MIN2(look, until));
		if (result != VK_TIMEOUT || until <= look)
			return result;
		status = vk_device_check_status(vk);
		if (status != VK_SUCCESS)
			return status;
	}
}

void tsv_sync_init(struct tsv_physical_device *device, int fd)
{
	device->syncobj = vk_drm_syncobj_get_type(fd);
	device->wait_many = device->syncobj.wait_many;
	device->syncobj.wait_many = wait_many;
	device->sync_types[0] = &device->syncobj;
}

/* The thread that submits work may have ended, so vkDeviceWaitIdle() is told here. */
void tsv_sync_wake(struct vk_device *device)
{
	vk_foreach_queue(queue, device) {
		mtx_lock(&queue->submit.mutex);
		cnd_broadcast(&queue->submit.pop);
		mtx_unlock(&queue->submit.mutex);
	}
}
