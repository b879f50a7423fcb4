/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_COMPAT_H__
#define __TESSERA_COMPAT_H__

/*
 * The driver is written for the interfaces of Linux 7.3 and does not know of this
 * header, which makes older kernels look like that: the compiler reads it before each
 * file (-include, see Kbuild). A kernel tree has no use for it. Everything that differs
 * stands here, newest change first, and on the newest kernel nothing is left of it.
 * Kbuild looks into the kernel's headers and defines TESSERA_OLD_* where it finds the
 * older form; version numbers say nothing, for stable kernels take over changes in the
 * middle of their lives. tests/kernels/ builds the driver for each kernel that is cared
 * for.
 */

#include <linux/bitops.h>
#include <linux/dma-buf.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include <drm/drm_atomic.h>
#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_exec.h>
#include <drm/drm_fbdev_shmem.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_gem_framebuffer_helper.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_gpuvm.h>
#include <drm/drm_mode_config.h>
#include <drm/drm_writeback.h>
#include <drm/gpu_scheduler.h>

/*
 * 7.3: a structure says what the memory is that cgroups share, and how to take some away. Before,
 * its size is said, and who has more than a new limit keeps it.
 */
#ifdef TESSERA_OLD_DMEM_INIT
#include <linux/cgroup_dmem.h>

struct dmem_cgroup_ops {
	int (*reclaim)(struct dmem_cgroup_pool_state *pool, u64 target_bytes, void *priv);
};

struct dmem_cgroup_init {
	u64 size;
	const struct dmem_cgroup_ops *ops;
	void *reclaim_priv;
};

#define dmem_cgroup_register_region(init, ...) \
	dmem_cgroup_register_region((init)->size, __VA_ARGS__)
#endif

/* 7.3 takes the mapping instead of its flags. */
#ifdef TESSERA_OLD_COW_MAPPING
static inline bool vma_is_cow_mapping(const struct vm_area_struct *vma)
{
	return is_cow_mapping(vma->vm_flags);
}
#endif

/* 7.3 gives every GEM driver what this flag was for. A macro does not expand itself. */
#ifdef TESSERA_OLD_DRIVER_GEM_GPUVA
#define DRIVER_GEM (DRIVER_GEM | DRIVER_GEM_GPUVA)
#endif

/* By 7.2 it is called what it is. Of old kernels this also hides a function that nobody calls. */
#ifdef TESSERA_OLD_ATOMIC_COMMIT
#define drm_atomic_commit drm_atomic_state
#endif

/*
 * By 7.2: what is known of the format comes along. Here it is dropped from the callback, where
 * it is declared and defined (not where it is named), and from the call.
 */
#ifdef TESSERA_OLD_FB_INFO
#define tessera_framebuffer_create(drm, file, info, cmd) \
	tessera_framebuffer_create(drm, file, cmd)
#define drm_gem_fb_init_with_funcs(drm, fb, file, info, cmd, funcs) \
	drm_gem_fb_init_with_funcs(drm, fb, file, cmd, funcs)
#endif

/* By 7.2: a framebuffer's format and modifier. Before, all that is asked for. */
#ifdef TESSERA_OLD_FORMAT_INFO
#define tessera_get_format_info(format_, modifier_) \
	tessera_compat_format_info(format_, modifier_); \
static const struct drm_format_info * \
tessera_get_format_info(const struct drm_mode_fb_cmd2 *cmd) \
{ \
	return tessera_compat_format_info(cmd->pixel_format, cmd->modifier[0]); \
} \
static const struct drm_format_info *tessera_compat_format_info(format_, modifier_)
#endif

/* By 7.2: whether it is a flip that may tear. The same. */
#ifdef TESSERA_OLD_ASYNC_CHECK
#define tessera_plane_atomic_async_check(plane, state, flip) \
	tessera_plane_atomic_async_check(plane, state)
#endif

/* 7.0 and 6.12.107 keep the index to themselves. */
#ifdef TESSERA_OLD_EXEC_INDEX
#undef drm_exec_for_each_locked_object
#define drm_exec_for_each_locked_object(exec, obj) \
	for (unsigned long index_ = 0; ((obj) = drm_exec_obj(exec, index_)); index_++)
#endif

/* 7.0: a file's table of syncobjs, which unit tests fill, is an xarray with its lock inside. */
#ifdef TESSERA_OLD_SYNCOBJ_XA
#define syncobj_xa syncobj_idr.idr_rt
#define tessera_test_init_syncobjs(file) do { \
	struct drm_file *file_ = (file); \
	xa_init_flags(&file_->syncobj_idr.idr_rt, XA_FLAGS_ALLOC1); \
	spin_lock_init(&file_->syncobj_table_lock); \
} while (0)
#endif

/*
 * 7.1: a fence has a lock of its own, and the core detaches it from its driver when it signals.
 * Before, the lock, the operations and the timeline, whose name a reader can ask for at any time,
 * have to exist as long as the fence. So all fences share one lock, which is below all others but
 * those that callbacks take. Each fence holds its timeline and the module until it is released.
 * Module exit waits until no task runs the code below.
 */
#ifdef TESSERA_OLD_FENCE_LOCK
extern spinlock_t tessera_compat_fence_lock;
spinlock_t __weak tessera_compat_fence_lock = __SPIN_LOCK_UNLOCKED(tessera_compat_fence_lock);

#ifdef TESSERA_OLD_FENCE_INIT
#define tessera_compat_fence_init dma_fence_init
#else
#define tessera_compat_fence_init dma_fence_init64
#endif

#define dma_fence_init64(fence, ops, lock, context, seqno) do { \
	struct dma_fence *fence_ = (fence); \
	kref_get(&container_of(fence_, struct tessera_fence, base)->timeline->ref); \
	__module_get(THIS_MODULE); \
	tessera_compat_fence_init(fence_, ops, &tessera_compat_fence_lock, context, seqno); \
} while (0)

#define get_timeline_name release = tessera_compat_fence_release, .get_timeline_name

/* Where the function that the operations need is defined, so is this one. */
#define tessera_fence_timeline_name(fence) \
	tessera_fence_timeline_name(fence); \
static void tessera_compat_fence_release(struct dma_fence *fence_) \
{ \
	struct tessera_timeline *timeline_ = \
		container_of(fence_, struct tessera_fence, base)->timeline; \
	dma_fence_free(fence_); \
	tessera_timeline_put(timeline_); \
	module_put(THIS_MODULE); \
} \
static const char *tessera_fence_timeline_name(fence)
#endif

/*
 * 6.19: vm_bos are dropped in two steps, the second where reservations may be locked,
 * and drm_gpuvm_bo_obtain_prealloc() takes the lock of the GEM object itself. Before,
 * the last reference goes under both locks. So on old kernels:
 *
 * - drm_gpuva_unlink_defer() must not drop the last reference to the vm_bo;
 * - drm_gpuvm_bo_put_deferred() locks the VM's reservation: not while fences wait;
 * - drm_gpuvm_bo_deferred_cleanup() has nothing left to do;
 * - drm_gpuvm_bo_obtain_prealloc() locks the VM's reservation.
 */
#ifdef TESSERA_OLD_GPUVM_BO_PUT
static inline void tessera_compat_unlink(struct drm_gpuva *va, struct mutex *lock)
{
	mutex_lock(lock);
	drm_gpuva_unlink(va);
	mutex_unlock(lock);
}

static inline void tessera_compat_vm_bo_put(struct drm_gpuvm_bo *vm_bo, struct mutex *lock)
{
	struct drm_gem_object *obj = vm_bo->obj, *r_obj = vm_bo->vm->r_obj;

	/* The vm_bo may have the last reference to what the locks are in. */
	drm_gem_object_get(obj);
	drm_gem_object_get(r_obj);
	dma_resv_lock(r_obj->resv, NULL);
	mutex_lock(lock);
	drm_gpuvm_bo_put(vm_bo);
	mutex_unlock(lock);
	dma_resv_unlock(r_obj->resv);
	drm_gem_object_put(r_obj);
	drm_gem_object_put(obj);
}

static inline struct drm_gpuvm_bo *tessera_compat_vm_bo_obtain(struct drm_gpuvm_bo *vm_bo,
							       struct mutex *lock)
{
	struct drm_gpuvm *gpuvm = vm_bo->vm;

	dma_resv_lock(drm_gpuvm_resv(gpuvm), NULL);
	mutex_lock(lock);
	vm_bo = drm_gpuvm_bo_obtain_prealloc(vm_bo);
	mutex_unlock(lock);
	dma_resv_unlock(drm_gpuvm_resv(gpuvm));

	return vm_bo;
}

static inline void drm_gpuvm_bo_deferred_cleanup(struct drm_gpuvm *gpuvm)
{
}

#define drm_gpuva_unlink_defer(va) do { \
	struct drm_gpuva *va_ = (va); \
	if (va_->gem.obj) \
		tessera_compat_unlink(va_, tessera_gpuva_lock(va_->gem.obj)); \
} while (0)
#define drm_gpuvm_bo_put_deferred(vm_bo) do { \
	struct drm_gpuvm_bo *vm_bo_ = (vm_bo); \
	tessera_compat_vm_bo_put(vm_bo_, tessera_gpuva_lock(vm_bo_->obj)); \
} while (0)
#define drm_gpuvm_bo_obtain_prealloc(vm_bo) ({ \
	struct drm_gpuvm_bo *vm_bo_ = (vm_bo); \
	tessera_compat_vm_bo_obtain(vm_bo_, tessera_gpuva_lock(vm_bo_->obj)); \
})
#endif

/*
 * 6.18: the core has a lock for a GEM object's list of VM mappings, which a VM with
 * DRM_GPUVM_IMMEDIATE_MODE uses. Before, the driver has to bring one: one for all
 * objects, since the lists are short and nothing is waited for under it.
 */
#ifdef TESSERA_OLD_GPUVA_LOCK
#define DRM_GPUVM_IMMEDIATE_MODE 0

extern struct mutex tessera_compat_gpuva_mutex;
struct mutex __weak tessera_compat_gpuva_mutex = __MUTEX_INITIALIZER(tessera_compat_gpuva_mutex);

static inline struct mutex *tessera_compat_gpuva_lock(struct drm_gem_object *obj)
{
#ifdef CONFIG_LOCKDEP
	obj->gpuva.lock_dep_map = &tessera_compat_gpuva_mutex.dep_map;
#endif
	return &tessera_compat_gpuva_mutex;
}

#define tessera_gpuva_lock tessera_compat_gpuva_lock
#endif

/* 6.18: a structure says what to map. */
#ifdef TESSERA_OLD_GPUVM_MAP
struct drm_gpuvm_map_req {
	struct drm_gpuva_op_map map;
};

static inline int tessera_compat_sm_map(struct drm_gpuvm *gpuvm, void *priv,
					const struct drm_gpuvm_map_req *req)
{
	return drm_gpuvm_sm_map(gpuvm, priv, req->map.va.addr, req->map.va.range,
				req->map.gem.obj, req->map.gem.offset);
}

#define drm_gpuvm_sm_map tessera_compat_sm_map
#endif

/* 6.17, and 6.12 between .95 and .117: who cares for the CPU a work runs on says so. */
#ifdef TESSERA_OLD_WQ_PERCPU
#define WQ_PERCPU 0
#endif
/* 6.17, and 6.12 by .95: the name of the workqueue of works without a CPU. */
#ifdef TESSERA_OLD_SYSTEM_UNBOUND_WQ
#define system_dfl_wq system_unbound_wq
#endif

/*
 * 6.17: a function selects 64-bit numbers. Before, a member of the operations does. The
 * macro puts it next to the driver's name, which all operations have.
 */
#ifdef TESSERA_OLD_FENCE_INIT
#define get_driver_name use_64bit_seqno = true, .get_driver_name
#endif

/* 6.17, and 6.12 by .107: the client's id, for tracing. */
#ifdef TESSERA_OLD_SCHED_JOB_INIT
static inline int tessera_compat_job_init(struct drm_sched_job *job,
					  struct drm_sched_entity *entity, u32 credits,
					  void *owner, u64 client_id)
{
	return drm_sched_job_init(job, entity, credits, owner);
}

#define drm_sched_job_init tessera_compat_job_init
#endif

/* 6.16: whose name says that it expects the object's reservation to be locked. */
#ifdef TESSERA_OLD_SHMEM_LOCKED
static inline int drm_gem_shmem_madvise_locked(struct drm_gem_shmem_object *shmem, int madv)
{
	return drm_gem_shmem_madvise(shmem, madv);
}

static inline void drm_gem_shmem_purge_locked(struct drm_gem_shmem_object *shmem)
{
	drm_gem_shmem_purge(shmem);
}
#endif

/* 6.15: the core tells user space about a lost device; 6.17: and whose fault it is. */
#ifdef TESSERA_OLD_WEDGED_EVENT
#define DRM_WEDGE_RECOVERY_NONE		BIT(0)
#define DRM_WEDGE_RECOVERY_REBIND	BIT(1)
#define DRM_WEDGE_RECOVERY_BUS_RESET	BIT(2)

struct drm_wedge_task_info {
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

static inline int drm_dev_wedged_event(struct drm_device *drm, unsigned long method,
				       struct drm_wedge_task_info *info)
{
	char pid[16], task[TASK_COMM_LEN + 5], wedged[32];
	char *env[4] = { wedged };

	snprintf(wedged, sizeof(wedged), "WEDGED=%s%s%s%s",
		 method & DRM_WEDGE_RECOVERY_NONE ? "none" : "",
		 method & DRM_WEDGE_RECOVERY_REBIND ? "rebind" : "",
		 hweight_long(method) > 1 ? "," : "",
		 method & DRM_WEDGE_RECOVERY_BUS_RESET ? "bus-reset" : "");
	if (info && info->comm[0]) {
		snprintf(pid, sizeof(pid), "PID=%d", info->pid);
		snprintf(task, sizeof(task), "TASK=%s", info->comm);
		env[1] = pid;
		env[2] = task;
	}

	return kobject_uevent_env(&drm->primary->kdev->kobj, KOBJ_CHANGE, env);
}
#endif

/* 6.15, and 6.12 between .95 and .117: the arguments are a structure. */
#ifdef TESSERA_OLD_SCHED_INIT
struct drm_sched_init_args {
	const struct drm_sched_backend_ops *ops;
	struct workqueue_struct *submit_wq;
	struct workqueue_struct *timeout_wq;
	u32 num_rqs;
	u32 credit_limit;
	unsigned int hang_limit;
	long timeout;
	atomic_t *score;
	const char *name;
	struct device *dev;
};

static inline int tessera_compat_sched_init(struct drm_gpu_scheduler *sched,
					    const struct drm_sched_init_args *args)
{
	return drm_sched_init(sched, args->ops, args->submit_wq, args->num_rqs,
			      args->credit_limit, args->hang_limit, args->timeout,
			      args->timeout_wq, args->score, args->name, args->dev);
}

#define drm_sched_init tessera_compat_sched_init
#endif

/* 7.0: an iterator for jobs on the hardware. Before, the list. */
#ifdef TESSERA_OLD_SCHED_PENDING_JOB
#define drm_sched_for_each_pending_job(job, sched, unused) \
	list_for_each_entry(job, &(sched)->pending_list, list)
#endif

/*
 * 6.14: the kernel's users of a screen are set up for all drivers alike, by a member of the
 * driver. Before, there is none: it gets one that it leaves NULL anyway.
 */
#ifdef TESSERA_OLD_CLIENT_SETUP
#define DRM_FBDEV_SHMEM_DRIVER_OPS .master_set = NULL
#define drm_client_setup(drm, format) drm_fbdev_shmem_setup(drm, 32)
#endif

/*
 * 6.16: the writeback connector is gone when the device is. Before, its callbacks say what to
 * do with it: those of the driver and one more, the same for all connectors.
 */
#ifdef TESSERA_OLD_WRITEBACK_INIT
static inline int
drmm_writeback_connector_init(struct drm_device *drm, struct drm_writeback_connector *writeback,
			      const struct drm_connector_funcs *funcs, struct drm_encoder *encoder,
			      const u32 *formats, int num_formats)
{
	static struct drm_connector_funcs with_destroy;
	struct drm_connector_funcs wanted = *funcs;

	/* Whole, and the same each time: other connectors have it already. */
	wanted.destroy = drm_connector_cleanup;
	with_destroy = wanted;

	return drm_writeback_connector_init_with_encoder(drm, writeback, encoder, &with_destroy,
							 formats, num_formats);
}
#endif

/*
 * 6.16: what is unmapped is unmapped. Before, DRM's buffers keep the mapping until the attachment
 * goes, so another one takes its place.
 */
#ifdef TESSERA_OLD_DMA_BUF_UNMAP
static inline void tessera_compat_dma_buf_unmap(struct dma_buf_attachment **attach,
						struct sg_table *sgt,
						enum dma_data_direction direction)
{
	struct dma_buf_attachment *old = *attach, *new = NULL;

	if (old->dmabuf->ops->cache_sgt_mapping)
		new = dma_buf_attach(old->dmabuf, old->dev);
	dma_buf_unmap_attachment_unlocked(old, sgt, direction);
	if (!IS_ERR_OR_NULL(new)) {
		*attach = new;
		dma_buf_detach(old->dmabuf, old);
	}
}

#define dma_buf_unmap_attachment_unlocked(attach, sgt, direction) \
	tessera_compat_dma_buf_unmap(&(attach), sgt, direction)
#endif

/* 6.15: who panics maps pages by itself. Before, without a mapping there is no last word. */
#ifdef TESSERA_OLD_PANIC_PAGES
#define tessera_scanout_set_pages(sb, pages) ((void)(sb), (void)(pages), -EOPNOTSUPP)
#endif

/* 6.14: what is active is told on demand. Before, always. */
#ifdef TESSERA_OLD_MEMORY_STATS
#define DRM_GEM_OBJECT_ACTIVE 0
#endif

/* 6.14: drivers have no date. Before, it stands beside a callback that is named once. */
#ifdef TESSERA_OLD_DRIVER_DATE
#define gem_prime_import_sg_table date = "20261122", .gem_prime_import_sg_table
#endif

/* 6.13: a string. */
#ifdef TESSERA_OLD_IMPORT_NS
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns) MODULE_INFO(import_ns, ns)
#endif

#endif
