// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Power
 *
 * A device that nobody uses is put into D3hot after a while, if user space allows
 * it (power/control, as for any PCI function). Its registers and its local memory
 * are out of reach then. It is stopped before and programmed anew afterwards, as
 * around a sleep of the machine, so nobody has to remember what it was like.
 *
 * What keeps it awake, each with a reference of its own:
 *
 * - an ioctl of the driver that may touch registers or local memory, while it runs;
 * - a job, from SUBMIT to its end, so run_job() never has to wake anybody;
 * - a BO in local memory, as long as it is there: the CPU may reach for it at any time;
 * - a read of debugfs;
 * - a head that is on, and a commit on its way that concerns one;
 * - the contract checker, which wants to be told of every page at any time.
 *
 * A device with heads is woken every few seconds to look for monitors, because it cannot report
 * one while it sleeps (tessera_kms_poll()).
 *
 * Fdinfo does not, nor a DEV_QUERY: what they tell does not change while the device
 * sleeps. Asynchronous binds and the end of objects do without: a device that sleeps
 * caches nothing and runs nothing, and the gate keeps them out (tessera_state.c).
 *
 * Sleep keeps the contents of local memory, and hibernation does not. So before processes are
 * frozen for it, BOs are evicted. It is refused if one is left, because it is LOCAL_ONLY or in use.
 */

#include <linux/pci.h>
#include <linux/pm_runtime.h>
#include <linux/suspend.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_print.h>

#include "tessera_device.h"
#include "tessera_evict.h"
#include "tessera_kms.h"
#include "tessera_local.h"
#include "tessera_pm.h"
#include "tessera_reset.h"

#define AUTOSUSPEND_MS 1000

/* Heads first: to switch them off takes a device that works. */
static int pm_sleep(struct tessera_device *tdev)
{
	int ret = tessera_kms_suspend(tdev);

	if (ret)
		return ret;

	ret = tessera_reset_suspend(tdev);
	if (ret)
		tessera_kms_resume(tdev);

	return ret;
}

static int tessera_pm_suspend(struct device *dev)
{
	return pm_sleep(dev_get_drvdata(dev));
}

static int tessera_pm_freeze(struct device *dev)
{
	struct tessera_device *tdev = dev_get_drvdata(dev);

	if (tessera_local_used(tdev)) {
		drm_err(&tdev->drm, "hibernation would lose %llu bytes of local memory\n",
			tessera_local_used(tdev));
		return -EBUSY;
	}

	return pm_sleep(tdev);
}

/* The PCI core has woken the function and restored its configuration space. */
static int tessera_pm_resume(struct device *dev)
{
	struct tessera_device *tdev = dev_get_drvdata(dev);
	int ret = tessera_reset_resume(tdev);

	tessera_kms_resume(tdev);

	return ret;
}

static int tessera_pm_runtime_suspend(struct device *dev)
{
	struct tessera_device *tdev = dev_get_drvdata(dev);
	int ret = -EBUSY;

	/* A recovery needs the device awake, and a wedged device never sleeps again. */
	if (tessera_state(tdev) == TESSERA_RUNNING)
		ret = tessera_reset_suspend(tdev);
	if (!ret)
		tessera_kms_poll(tdev);
	/* The PM core tries again by itself only if the device was used meanwhile. */
	else if (!tessera_device_wedged(tdev))
		pm_runtime_mark_last_busy(dev);

	return ret;
}

/* A device that does not come back is given up; that is no failure of waking it. */
static int tessera_pm_runtime_resume(struct device *dev)
{
	tessera_reset_resume(dev_get_drvdata(dev));

	return 0;
}

const struct dev_pm_ops tessera_pm_ops = {
	.suspend = pm_sleep_ptr(tessera_pm_suspend),
	.resume = pm_sleep_ptr(tessera_pm_resume),
	.freeze = pm_sleep_ptr(tessera_pm_freeze),
	.thaw = pm_sleep_ptr(tessera_pm_resume),
	.poweroff = pm_sleep_ptr(tessera_pm_suspend),
	.restore = pm_sleep_ptr(tessera_pm_resume),
	RUNTIME_PM_OPS(tessera_pm_runtime_suspend, tessera_pm_runtime_resume, NULL)
};

static int tessera_pm_notify(struct notifier_block *notifier, unsigned long event, void *unused)
{
	struct tessera_device *tdev = container_of(notifier, struct tessera_device,
						   evict.notifier);

	if (event == PM_HIBERNATION_PREPARE)
		tessera_evict_hold(tdev, true);
	else if (event == PM_POST_HIBERNATION)
		tessera_evict_hold(tdev, false);

	return NOTIFY_OK;
}

/**
 * tessera_pm_init() - the device may sleep from now on
 * @tdev: device that is registered
 */
void tessera_pm_init(struct tessera_device *tdev)
{
	struct device *dev = tdev->drm.dev;

	tdev->evict.notifier.notifier_call = tessera_pm_notify;
	register_pm_notifier(&tdev->evict.notifier);
	pm_runtime_set_autosuspend_delay(dev, AUTOSUSPEND_MS);
	pm_runtime_use_autosuspend(dev);
	pm_runtime_mark_last_busy(dev);
	if (tdev->info.features & TSR_FEATURE_CHECK)
		tessera_pm_get_awake(tdev);
	/* The reference that the PCI core had for probe. */
	pm_runtime_put_autosuspend(dev);
}

/**
 * tessera_pm_fini() - the end of tessera_pm_init()
 * @tdev: device that is awake, because the PCI core is about to remove it
 */
void tessera_pm_fini(struct tessera_device *tdev)
{
	struct device *dev = tdev->drm.dev;

	unregister_pm_notifier(&tdev->evict.notifier);
	pm_runtime_get_noresume(dev);
	if (tdev->info.features & TSR_FEATURE_CHECK)
		pm_runtime_put_noidle(dev);
	pm_runtime_dont_use_autosuspend(dev);
}

/**
 * tessera_pm_get_awake() - keep awake a device that somebody else has woken
 * @tdev: device
 */
void tessera_pm_get_awake(struct tessera_device *tdev)
{
	pm_runtime_get_noresume(tdev->drm.dev);
}

/**
 * tessera_pm_get() - wake the device and keep it awake
 * @tdev: device; one that is unplugged needs no waking
 *
 * Allocates, so not where fences wait.
 *
 * Return: 0 with a reference for tessera_pm_put(), or -EIO without one if the device does
 * not wake up.
 */
int tessera_pm_get(struct tessera_device *tdev)
{
	if (!pm_runtime_resume_and_get(tdev->drm.dev))
		return 0;
	if (!drm_dev_is_unplugged(&tdev->drm))
		return -EIO;

	tessera_pm_get_awake(tdev);

	return 0;
}

static int pm_lock_wedged(struct tessera_device *tdev)
{
	int ret = 0;

	mutex_lock(&tdev->reset.lock);
	if (!tessera_device_wedged(tdev)) {
		mutex_unlock(&tdev->reset.lock);
		ret = -ENODEV;
	}

	return ret;
}

/**
 * tessera_pm_lock() - have the device awake and within reach, for debugging
 * @tdev: device
 *
 * Waits until recovery is over and takes its lock. A wedged device is as good as one
 * that runs: nobody resets it any more, and people want to look at it.
 *
 * Return: 0, -EIO if it does not wake up, -ENODEV if it is gone, or -ERESTARTSYS.
 */
int tessera_pm_lock(struct tessera_device *tdev)
{
	int ret = tessera_pm_get(tdev);

	if (ret)
		return ret;

	ret = tessera_lock_running(tdev);
	if (ret == -EIO)
		ret = pm_lock_wedged(tdev);
	if (ret)
		tessera_pm_put(tdev);

	return ret;
}

/**
 * tessera_pm_unlock() - undo tessera_pm_lock()
 * @tdev: device
 *
 * Return: 0, or -EIO if the device does not answer. Then the values read since tessera_pm_lock()
 * may be all ones and mean nothing.
 */
int tessera_pm_unlock(struct tessera_device *tdev)
{
	/* Last: a device that answers now has answered before. */
	bool present = tessera_device_present(tdev);

	mutex_unlock(&tdev->reset.lock);
	tessera_pm_put(tdev);

	return present ? 0 : -EIO;
}

/**
 * tessera_pm_put() - the device may sleep as far as the caller is concerned
 * @tdev: device
 *
 * From any context.
 */
void tessera_pm_put(struct tessera_device *tdev)
{
	pm_runtime_mark_last_busy(tdev->drm.dev);
	pm_runtime_put_autosuspend(tdev->drm.dev);
}

/**
 * tessera_pm_put_now() - the same, without a delay before the device sleeps
 * @tdev: device
 *
 * For those that have only looked. May sleep.
 */
void tessera_pm_put_now(struct tessera_device *tdev)
{
	/* It may be busy with a recovery that has just begun. */
	if (pm_runtime_put_sync_suspend(tdev->drm.dev) < 0)
		pm_request_autosuspend(tdev->drm.dev);
}
