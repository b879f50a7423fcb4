/* SPDX-License-Identifier: MIT */
/*
 * The instance, the physical device, the device and its queues.
 *
 * A VkDevice has a DRM file, an address space and memory pools of its own, so nothing that happens
 * to one device changes another. The kernel interface is used through libtessera, except for the
 * submission: it names syncobjs of the Vulkan runtime, which libtessera does not know.
 *
 * All functions return a VkResult or a pointer that is NULL on failure. Threads follow the rules of
 * Vulkan; pools and the address space have locks of their own.
 */
#ifndef TSV_DEVICE_H
#define TSV_DEVICE_H

#include "util/simple_mtx.h"
#include "util/u_dynarray.h"
#include "vk_device.h"
#include "vk_drm_syncobj.h"
#include "vk_instance.h"
#include "vk_log.h"
#include "vk_physical_device.h"
#include "vk_queue.h"

#include "tsv_entrypoints.h"

#include <tessera/cmd.h>
#include <tessera/tessera.h>

#define TSV_STORAGE_ALIGN	16u	/* offset of a storage buffer */
#define TSV_UNIFORM_ALIGN	16u	/* offset of a uniform buffer: the granule of its size */
#define TSV_BUFFER_ALIGN	64u
#define TSV_PUSH_BYTES		256u	/* push constants of a pipeline layout */

/* Engines that a queue submits to. A value indexes tsv_queue.engine. */
enum tsv_engine { TSV_COPY, TSV_COMPUTE, TSV_ENGINES };

/* Queue families, by index. */
enum tsv_family { TSV_FAMILY_COMPUTE, TSV_FAMILY_TRANSFER, TSV_FAMILIES };

struct tsv_instance {
	struct vk_instance vk;
};

struct tsv_physical_device {
	struct vk_physical_device vk;
	char path[64];			/* render node */
	struct drm_tessera_gpu_info gpu;
	struct drm_tessera_shader_info shader;
	uint64_t local_size;		/* bytes of local memory for a device */
	struct vk_sync_type syncobj;
	const struct vk_sync_type *sync_types[2];
	VkPhysicalDeviceMemoryProperties memory;
};

/* Scratch memory of compute shaders, for all threads that run at a time. */
struct tsv_scratch {
	struct tsr_bo *bo;
	uint64_t va;
	uint32_t size;			/* bytes of a thread; 0: there is none */
};

struct tsv_device {
	struct vk_device vk;
	struct tsr_device *tsr;
	struct tsr_vm *vm;
	struct tsr_pool *lists;		/* streams and what they name: GPU reads, executes */
	struct tsr_pool *words;		/* words that the GPU writes: events, queries */
	simple_mtx_t lock;		/* protects reported, scratch */
	bool reported;			/* a fault was reported */
	struct tsv_scratch scratch;
	struct util_dynarray old_scratch; /* struct tsv_scratch: smaller ones */
};

struct tsv_queue {
	struct vk_queue vk;
	struct tsr_queue *engine[TSV_ENGINES];
	struct tsr_sync *timeline;	/* signaled by each submission */
	uint64_t point;			/* the last submission's */
};

VK_DEFINE_HANDLE_CASTS(tsv_instance, vk.base, VkInstance, VK_OBJECT_TYPE_INSTANCE)
VK_DEFINE_HANDLE_CASTS(tsv_physical_device, vk.base, VkPhysicalDevice,
		       VK_OBJECT_TYPE_PHYSICAL_DEVICE)
VK_DEFINE_HANDLE_CASTS(tsv_device, vk.base, VkDevice, VK_OBJECT_TYPE_DEVICE)
VK_DEFINE_HANDLE_CASTS(tsv_queue, vk.base, VkQueue, VK_OBJECT_TYPE_QUEUE)

/*
 * tsv_physical_device_create(): a physical device for a DRM device, or
 * VK_ERROR_INCOMPATIBLE_DRIVER if it is not a Tessera GPU or the user has not opted in.
 */
VkResult tsv_physical_device_create(struct vk_instance *instance, struct _drmDevice *drm,
				    struct vk_physical_device **out);
void tsv_physical_device_destroy(struct vk_physical_device *device);

VkResult tsv_queue_create(struct tsv_device *device, const VkDeviceQueueCreateInfo *info,
			  uint32_t index);
void tsv_queue_destroy(struct tsv_queue *queue);

/*
 * tsv_queue_is_banned(): true if the kernel no longer runs one of its engines; the fault is then
 * reported in the log, once for each device.
 */
bool tsv_queue_is_banned(struct tsv_queue *queue);

/* tsv_result(): the VkResult that a negative errno of libtessera stands for. */
VkResult tsv_result(int ret);

/*
 * tsv_error(): log the last error of libtessera about @object and return its VkResult. @ret is the
 * negative errno.
 */
#define tsv_error(object, ret)	vk_errorf(object, tsv_result(ret), "%s", tsr_error_message())

#endif
