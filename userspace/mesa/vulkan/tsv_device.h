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
#include "vk_meta.h"
#include "vk_physical_device.h"
#include "vk_queue.h"
#include "vk_sync.h"
#include "wsi_common.h"

#include "tsv_entrypoints.h"

#include <tessera/cmd.h>
#include <tessera/tessera.h>

#define TSV_API_VERSION		VK_MAKE_API_VERSION(0, 1, 1, VK_HEADER_VERSION)
#define TSV_STORAGE_ALIGN	16u	/* offset of a storage buffer */
#define TSV_UNIFORM_ALIGN	16u	/* offset of a uniform buffer: the granule of its size */
#define TSV_BUFFER_ALIGN	64u
#define TSV_PAGE		4096u	/* granule of sparse memory */
#define TSV_PUSH_BYTES		256u	/* push constants of a pipeline layout */

/* Engines that a queue submits to. A value indexes tsv_queue.engine. */
enum tsv_engine { TSV_COPY, TSV_COMPUTE, TSV_BIN, TSV_RENDER, TSV_ENGINES };

/* Queue families, by index. */
enum tsv_family { TSV_FAMILY_MAIN, TSV_FAMILY_TRANSFER, TSV_FAMILIES };

struct tsv_instance {
	struct vk_instance vk;
};

struct tsv_physical_device {
	struct vk_physical_device vk;
	char path[64];			/* render node */
	char card[64];			/* primary node, or empty */
	struct drm_tessera_gpu_info gpu;
	struct drm_tessera_shader_info shader;
	uint64_t local_size;		/* bytes of local memory for a device */
	struct vk_sync_type syncobj;	/* with a wait of our own around this one */
	VkResult (*wait_many)(struct vk_device *device, uint32_t count,
			      const struct vk_sync_wait *waits, enum vk_sync_wait_flags flags,
			      uint64_t until);
	const struct vk_sync_type *sync_types[2];
	struct wsi_device wsi;
	VkPhysicalDeviceMemoryProperties memory;
};

/* Scratch memory of shaders, for all threads that run at a time. */
struct tsv_scratch {
	struct tsr_bo *bo;
	uint64_t va;
	uint32_t size;			/* bytes of a thread; 0: there is none */
};

/* Engines that run at the same time have scratch memory of their own. */
enum tsv_scratch_user { TSV_SCRATCH_BIN, TSV_SCRATCH_OTHERS, TSV_SCRATCHES };

/* BIN writes the heap of a frame while RENDER reads that of the one before. */
#define TSV_HEAPS	2u

/* Why the kernel banned a queue. */
struct tsv_fault {
	const char *engine;		/* NULL: no job has failed */
	struct drm_tessera_queue_get_state state;
	VkDeviceFaultAddressTypeEXT access;	/* to state.fault_va */
};

/* Addresses of a sparse buffer or image, or none. */
struct tsv_sparse {
	uint64_t va, size;
};

struct tsv_device {
	struct vk_device vk;
	struct tsr_device *tsr;
	struct tsr_vm *vm;
	struct tsr_pool *lists;		/* streams and what they name: GPU reads, executes */
	struct tsr_pool *words;		/* words that the GPU writes: events, queries */
	/* Frames have them in turn. NULL: no frame has had it, see tsv_device_heap(). */
	struct tsr_tiler_heap *heap[TSV_HEAPS];
	uint32_t frames;		/* recorded so far; atomic */
	struct vk_meta_device meta;	/* built-in pipelines */
	simple_mtx_t lock;		/* protects heap, fault, scratch, bind_point */
	struct tsr_sync *binds;		/* timeline of tsv_device_bind() */
	uint64_t bind_point;		/* the last one's */
	struct tsv_fault fault;		/* the first one */
	struct tsv_scratch scratch[TSV_SCRATCHES];
	struct util_dynarray old_scratch; /* struct tsv_scratch: smaller ones */
	simple_mtx_t queues_lock;	/* held while a thread looks at all queues */
	bool closing;			/* queues go one by one; protected by queues_lock */
};

struct tsv_queue {
	struct vk_queue vk;
	struct tsr_queue *engine[TSV_ENGINES];
	struct tsr_sync *timeline;	/* signaled by each submission */
	uint64_t point;			/* the last submission's */
	uint64_t bin_point;		/* the last submission that holds BIN of later ones */
	uint64_t heap_point[TSV_HEAPS];	/* the last submission that renders from a heap */
	uint64_t bind_point;		/* of tsv_device.binds: that it has waited for */
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

/*
 * tsv_device_heap(): heap number @i, made when a frame is recorded with it for the first time: a
 * user may have few heaps, and most devices of some programs never draw. NULL: there is no memory,
 * or the user has too many. It stays as long as the device.
 */
struct tsr_tiler_heap *tsv_device_heap(struct tsv_device *device, unsigned i);

/* tsv_wsi_init(): the window systems of a physical device. */
VkResult tsv_wsi_init(struct tsv_physical_device *device);
void tsv_wsi_finish(struct tsv_physical_device *device);

VkResult tsv_queue_create(struct tsv_device *device, const VkDeviceQueueCreateInfo *info,
			  uint32_t index);
void tsv_queue_destroy(struct tsv_queue *queue);

/*
 * tsv_queue_is_banned(): true if the kernel no longer runs one of its engines; the fault is then
 * reported in the log, once for each device.
 */
bool tsv_queue_is_banned(struct tsv_queue *queue);

/* tsv_sync_init(): the kind of syncs of a device, for the DRM file @fd. */
void tsv_sync_init(struct tsv_physical_device *device, int fd);

/* tsv_sync_wake(): let threads that wait for the submission of work see that a device is lost. */
void tsv_sync_wake(struct vk_device *device);

/* tsv_fault_report(): log the state of a banned queue and keep it, if it is the device's first. */
void tsv_fault_report(struct tsv_device *device, const char *engine,
		      const struct drm_tessera_queue_get_state *state);

/*
 * tsv_device_map(): take addresses, aligned as tsr_vm_alloc() does, and map a BO there, or nothing
 * if it is NULL. tsv_device_unmap() is the opposite. Neither waits for binds that wait themselves.
 * Submissions wait for all earlier ones. -errno.
 */
int tsv_device_map(struct tsv_device *device, struct tsr_bo *bo, uint64_t size, uint64_t *va);
void tsv_device_unmap(struct tsv_device *device, uint64_t va, uint64_t size);

/*
 * tsv_sparse_create(): take addresses for @size bytes, with no memory. tsv_sparse_destroy() frees
 * them and does nothing if there are none.
 */
VkResult tsv_sparse_create(struct tsv_device *device, uint64_t size, struct tsv_sparse *out);
void tsv_sparse_destroy(struct tsv_device *device, struct tsv_sparse *sparse);

/*
 * tsv_sparse_submit(): bind what @submit asks for. @syncs are those to wait for, then those to
 * signal.
 */
VkResult tsv_sparse_submit(struct tsv_queue *queue, const struct vk_queue_submit *submit,
			   const struct drm_tessera_sync *syncs, unsigned waits, unsigned signals);

/* tsv_meta_init(): the built-in pipelines of blits and clears, which are compiled when used. */
VkResult tsv_meta_init(struct tsv_device *device);

/* tsv_result(): the VkResult that a negative errno of libtessera stands for. */
VkResult tsv_result(int ret);

/*
 * tsv_error(): log the last error of libtessera about @object and return its VkResult. @ret is the
 * negative errno.
 */
#define tsv_error(object, ret)	vk_errorf(object, tsv_result(ret), "%s", tsr_error_message())

#endif
