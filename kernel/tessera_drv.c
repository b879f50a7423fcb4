// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * Module, PCI driver, DRM driver, ioctl table. Nothing else.
 */

#include <linux/cred.h>
#include <linux/dma-buf.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/rcupdate.h>
#include <linux/wait_bit.h>

#include <drm/drm_drv.h>
#include <drm/drm_fbdev_shmem.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <drm/tessera_drm.h>

#include "tessera_bind.h"
#include "tessera_debugfs.h"
#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_gem.h"
#include "tessera_heap.h"
#include "tessera_kms.h"
#include "tessera_pci.h"
#include "tessera_perfmon.h"
#include "tessera_pm.h"
#include "tessera_query.h"
#include "tessera_queue.h"
#include "tessera_quota.h"
#include "tessera_submit.h"
#include "tessera_uapi.h"
#include "tessera_vm.h"

struct workqueue_struct *tessera_release_wq;

/* Devices that something still refers to, which may be long after they were removed. */
static atomic_t tessera_devices = ATOMIC_INIT(0);

/* The address of the counter is all that is used of the module from here on. */
static void tessera_device_released(struct drm_device *drm, void *unused)
{
	if (atomic_dec_and_test(&tessera_devices))
		wake_up_var(&tessera_devices);
}

static int tessera_open(struct drm_device *drm, struct drm_file *file)
{
	struct tessera_file *tfile = kzalloc(sizeof(*tfile), GFP_KERNEL_ACCOUNT);

	if (!tfile)
		return -ENOMEM;

	tfile->tdev = to_tessera_device(drm);
	tfile->quota = tessera_quota_create(tfile->tdev, current_uid());
	if (!tfile->quota) {
		kfree(tfile);
		return -ENOMEM;
	}
	xa_init_flags(&tfile->vms, XA_FLAGS_ALLOC1);
	xa_init_flags(&tfile->queues, XA_FLAGS_ALLOC1);
	xa_init_flags(&tfile->heaps, XA_FLAGS_ALLOC1);
	xa_init_flags(&tfile->perfmons, XA_FLAGS_ALLOC1);
	mutex_init(&tfile->usage_lock);
	file->driver_priv = tfile;

	return 0;
}

static void tessera_postclose(struct drm_device *drm, struct drm_file *file)
{
	struct tessera_file *tfile = file->driver_priv;
	struct tessera_perfmon *perfmon;
	struct tessera_queue *queue;
	struct tessera_heap *heap;
	struct tessera_vm *vm;
	unsigned long id;

	xa_for_each(&tfile->queues, id, queue) {
		tessera_queue_kill(queue, -ECANCELED);
		tessera_queue_put(queue);
	}
	xa_destroy(&tfile->queues);
	tessera_delay(TESSERA_DELAY_FILE_CLOSE);

	xa_for_each(&tfile->perfmons, id, perfmon)
		tessera_perfmon_put(perfmon);
	xa_destroy(&tfile->perfmons);

	xa_for_each(&tfile->heaps, id, heap)
		tessera_heap_put(heap);
	xa_destroy(&tfile->heaps);

	xa_for_each(&tfile->vms, id, vm)
		tessera_vm_put(vm);
	xa_destroy(&tfile->vms);

	tessera_quota_put(tfile->quota);
	mutex_destroy(&tfile->usage_lock);
	kfree(tfile);
}

#define TESSERA_IOCTL(name, func) DRM_IOCTL_DEF_DRV(TESSERA_##name, func, DRM_RENDER_ALLOW)

static const struct drm_ioctl_desc tessera_ioctls[] = {
	TESSERA_IOCTL(DEV_QUERY, tessera_ioctl_dev_query),
	TESSERA_IOCTL(GET_TIMESTAMP, tessera_ioctl_get_timestamp),
	TESSERA_IOCTL(VM_CREATE, tessera_ioctl_vm_create),
	TESSERA_IOCTL(VM_DESTROY, tessera_ioctl_vm_destroy),
	TESSERA_IOCTL(VM_BIND, tessera_ioctl_vm_bind),
	TESSERA_IOCTL(VM_GET_STATE, tessera_ioctl_vm_get_state),
	TESSERA_IOCTL(BO_CREATE, tessera_ioctl_bo_create),
	TESSERA_IOCTL(BO_MMAP_OFFSET, tessera_ioctl_bo_mmap_offset),
	TESSERA_IOCTL(BO_INFO, tessera_ioctl_bo_info),
	TESSERA_IOCTL(BO_SET_LABEL, tessera_ioctl_bo_set_label),
	TESSERA_IOCTL(BO_MADVISE, tessera_ioctl_bo_madvise),
	TESSERA_IOCTL(QUEUE_CREATE, tessera_ioctl_queue_create),
	TESSERA_IOCTL(QUEUE_DESTROY, tessera_ioctl_queue_destroy),
	TESSERA_IOCTL(QUEUE_GET_STATE, tessera_ioctl_queue_get_state),
	TESSERA_IOCTL(SUBMIT, tessera_ioctl_submit),
	TESSERA_IOCTL(HEAP_CREATE, tessera_ioctl_heap_create),
	TESSERA_IOCTL(HEAP_DESTROY, tessera_ioctl_heap_destroy),
	TESSERA_IOCTL(PERFMON_CREATE, tessera_ioctl_perfmon_create),
	TESSERA_IOCTL(PERFMON_DESTROY, tessera_ioctl_perfmon_destroy),
	TESSERA_IOCTL(PERFMON_READ, tessera_ioctl_perfmon_read),
};

static const struct file_operations tessera_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = tessera_uapi_ioctl,
	.compat_ioctl = tessera_uapi_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
	.show_fdinfo = drm_show_fdinfo,
	.fop_flags = FOP_UNSIGNED_OFFSET,
};

/*
 * Versions of the user interface:
 *
 * - 1.0: DEV_QUERY, GET_TIMESTAMP, VM_*, BO_* but BO_MADVISE, QUEUE_*, SUBMIT
 * - 1.1: SHADER_INFO query, QUEUE_GET_STATE tells where in a program a fault was
 * - 1.2: HEAP_*, PERFMON_*, the COUNTERS query
 * - 1.3: BO_MADVISE
 * - 1.4: the FILE_LIMITS query
 * - 1.5: a wait of SUBMIT is met by a later timeline point of the same call
 * - 1.6: LOCAL BOs are evicted, LOCAL_ONLY, GPU_STATE counts moves
 */
static const struct drm_driver tessera_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE |
			   DRIVER_MODESET | DRIVER_ATOMIC,
	.name = "tessera",
	.desc = "Tessera virtual GPU",
	.major = 1,
	.minor = 6,

	.open = tessera_open,
	.postclose = tessera_postclose,
	.show_fdinfo = tessera_show_fdinfo,
	.ioctls = tessera_ioctls,
	.num_ioctls = ARRAY_SIZE(tessera_ioctls),
	.fops = &tessera_fops,

	.gem_create_object = tessera_gem_create_object,
	.gem_prime_import = tessera_gem_prime_import,
	.gem_prime_import_sg_table = tessera_gem_import_sgt,
	.dumb_create = tessera_gem_dumb_create,
	DRM_FBDEV_SHMEM_DRIVER_OPS,

#ifdef CONFIG_DEBUG_FS
	.debugfs_init = tessera_debugfs_init,
#endif
};

static int tessera_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct tessera_device *tdev;
	int ret;

	tdev = devm_drm_dev_alloc(&pdev->dev, &tessera_driver, struct tessera_device, drm);
	if (IS_ERR(tdev))
		return PTR_ERR(tdev);

	atomic_inc(&tessera_devices);
	ret = drmm_add_action_or_reset(&tdev->drm, tessera_device_released, NULL);
	if (ret)
		return ret;

	ret = tessera_device_init(tdev, pdev);
	if (ret)
		return ret;

	pci_set_drvdata(pdev, tdev);
	ret = tessera_kms_init(tdev);
	ret = ret ?: drm_dev_register(&tdev->drm, 0);
	if (ret) {
		tessera_device_unplug(tdev);
		return ret;
	}
	tessera_delay(TESSERA_DELAY_PROBE);
	tessera_pm_init(tdev);
	tessera_kms_setup_clients(tdev);

	return 0;
}

static void tessera_remove(struct pci_dev *pdev)
{
	struct tessera_device *tdev = pci_get_drvdata(pdev);

	tessera_pm_fini(tdev);
	tessera_device_unplug(tdev);
}

static void tessera_shutdown(struct pci_dev *pdev)
{
	tessera_device_unplug(pci_get_drvdata(pdev));
}

static const struct pci_device_id tessera_pci_ids[] = {
	{ PCI_DEVICE(TSR_PCI_VENDOR, TSR_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, tessera_pci_ids);

static struct pci_driver tessera_pci_driver = {
	.name = "tessera",
	.id_table = tessera_pci_ids,
	.probe = tessera_probe,
	.remove = tessera_remove,
	.shutdown = tessera_shutdown,
	.err_handler = &tessera_pci_error_handlers,
	.driver.pm = pm_ptr(&tessera_pm_ops),
};

/* Shorter ones would take a device that is merely slow to look for a broken one. */
#define JOB_TIMEOUT_MIN_MS 100U

static int __init tessera_init(void)
{
	int ret;

	tessera_job_timeout_ms = max(tessera_job_timeout_ms, JOB_TIMEOUT_MIN_MS);
	tessera_job_limit_ms = max(tessera_job_limit_ms, tessera_job_timeout_ms);

	tessera_release_wq = alloc_workqueue("tessera-release", WQ_UNBOUND, 0);
	if (!tessera_release_wq)
		return -ENOMEM;

	ret = pci_register_driver(&tessera_pci_driver);
	if (ret)
		destroy_workqueue(tessera_release_wq);

	return ret;
}

static void __exit tessera_exit(void)
{
	pci_unregister_driver(&tessera_pci_driver);

	/*
	 * No file or dma-buf of ours is left. But jobs, queues and VMs may be on their
	 * way out on our workqueues; each of them holds its device.
	 */
	wait_var_event(&tessera_devices, !atomic_read(&tessera_devices));
	destroy_workqueue(tessera_release_wq);

	/*
	 * The last device was given back from code of the module. Fences do not matter: the core
	 * detaches them when they signal, and the module loader waits for RCU before it frees the
	 * code.
	 */
	synchronize_rcu_tasks();
}

module_init(tessera_init);
module_exit(tessera_exit);

MODULE_AUTHOR("The Tessera authors");
MODULE_DESCRIPTION("Tessera virtual GPU");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("DMA_BUF");
