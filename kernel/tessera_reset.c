// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Recovery of the device
 *
 * A queue that hangs or faults is reset alone (tessera_watch.c). The device as a whole
 * has failed if a slot does not stop, if an invalidation is not confirmed, or if
 * registers do not answer. The code that detects this cuts the device off from memory
 * at once, in any context, so that fences can signal and memory can be freed. One work
 * item, the reset escalation, then tries these steps:
 *
 * 1. The device's own reset. Jobs that had begun are lost (-ECANCELED, the queue is
 *    INNOCENT). The others run from the ring afterwards.
 * 2. A function level reset of PCI, which also restores the configuration space.
 * 3. Giving up: the device is wedged. All calls get -EIO (or -ENODEV if the device is
 *    gone), and a uevent reports it.
 *
 * Resets from outside, error recovery of PCI and sleep share the last part, which
 * brings the queues back. Documentation/driver/recovery.md explains all of this.
 *
 * Recovery holds &tessera_device.reset.lock and allocates nothing, because fences wait
 * for it. The function level reset is the exception. It takes locks of PCI under which
 * other code allocates, so the driver holds no lock meanwhile. The state
 * TESSERA_CUT_OFF keeps other code away from the device.
 */

#include <linux/dma-fence.h>
#include <linux/iopoll.h>
#include <linux/jiffies.h>
#include <linux/pci.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "tessera_as.h"
#include "tessera_check.h"
#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_irq.h"
#include "tessera_kms.h"
#include "tessera_local.h"
#include "tessera_pci.h"
#include "tessera_reset.h"
#include "tessera_trace.h"
#include "tessera_vm.h"

#define DEVICE_RESET_US		(10 * USEC_PER_SEC)
/* So long PCI's error recovery may take before we help ourselves. */
#define PCI_RECOVERY_TIMEOUT	(10 * HZ)
#define DRAIN_TIMEOUT		(2 * HZ)

/* Fences wait for what stands between these two. */
static bool recovery_begin(struct tessera_device *tdev)
{
	mutex_lock(&tdev->reset.lock);

	return dma_fence_begin_signalling();
}

static void recovery_end(struct tessera_device *tdev, bool signalling)
{
	dma_fence_end_signalling(signalling);
	mutex_unlock(&tdev->reset.lock);
}

/* ---- the device: stopped, started, given up ---- */

static bool device_stopped(struct tessera_device *tdev)
{
	return !(tessera_read(tdev, TSR_REG_GPU_STATUS) & TSR_GPU_STATUS_RESET_BUSY__MASK);
}

/**
 * tessera_device_stop() - reset the device
 * @tdev: device that is not TESSERA_RUNNING
 *
 * Afterwards it knows nothing any more.
 *
 * Return: 0, or -EIO if it does not come out of reset, -ENODEV if it is gone.
 */
int tessera_device_stop(struct tessera_device *tdev)
{
	bool stopped;

	if (!tessera_device_present(tdev))
		return -ENODEV;

	tessera_write(tdev, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	if (read_poll_timeout(device_stopped, stopped, stopped, 20, DEVICE_RESET_US, false, tdev))
		return -EIO;

	return 0;
}

/**
 * tessera_device_start() - program a device that was reset, and open the gate
 * @tdev: device; the caller holds the lock of recovery
 *
 * Return: 0 or -EIO.
 */
int tessera_device_start(struct tessera_device *tdev)
{
	int ret;

	lockdep_assert_held(&tdev->reset.lock);

	ret = tessera_kernel_as_enable(tdev);
	if (ret)
		return ret;

	ret = tessera_vms_restore(tdev);
	if (ret)
		return ret;

	if (!tessera_kms_run(tdev))
		return -EIO;

	/* Nothing runs before the queues are enabled, which takes the lock of recovery. */
	tessera_check_release(tdev);
	tessera_irq_enable(tdev);

	return 0;
}

static void tessera_wedged_work(struct work_struct *work)
{
	struct tessera_device *tdev = container_of(work, struct tessera_device, reset.wedged_work);

	tessera_local_zap(tdev);
	drm_dev_wedged_event(&tdev->drm, DRM_WEDGE_RECOVERY_REBIND | DRM_WEDGE_RECOVERY_BUS_RESET,
			     &tdev->reset.guilty);
}

/* Telemetry: the device was reset, and by whose fault if that is known. */
static void tessera_event_work(struct work_struct *work)
{
	struct tessera_device *tdev = container_of(work, struct tessera_device, reset.event_work);
	struct drm_wedge_task_info culprit;

	mutex_lock(&tdev->reset.lock);
	culprit = tdev->reset.culprit;
	mutex_unlock(&tdev->reset.lock);
	drm_dev_wedged_event(&tdev->drm, DRM_WEDGE_RECOVERY_NONE, &culprit);
}

static void device_wedge(struct tessera_device *tdev)
{
	int error = pci_device_is_present(tdev->pdev) ? -EIO : -ENODEV;

	drm_err(&tdev->drm, "the device does not recover, giving it up\n");
	tessera_set_state(tdev, TESSERA_WEDGED);
	tessera_gate_wait(tdev);
	tessera_queues_cancel(tdev, error);
	tessera_kms_lose(tdev);
	queue_work(system_dfl_wq, &tdev->reset.wedged_work);
}

/* The device runs again: so shall the queues. */
static void device_restore(struct tessera_device *tdev, bool counts)
{
	tdev->reset.rung = TESSERA_RUNG_DEVICE;
	/* First: who sees what it has cost must find it counted. */
	atomic64_add(counts, &tdev->reset.count);
	tessera_queues_restore(tdev, counts);
	if (counts) {
		tdev->reset.culprit = tdev->reset.guilty;
		queue_work(system_dfl_wq, &tdev->reset.event_work);
	}
	tdev->reset.guilty.comm[0] = '\0';
}

/*
 * The end of everything that has taken the device away: it was reset, or has an error
 * @ret. Program it and bring the queues back, or give it up.
 */
static int device_back(struct tessera_device *tdev, int ret, bool counts)
{
	ret = ret ?: tessera_device_stop(tdev) ?: tessera_device_start(tdev);
	if (ret)
		device_wedge(tdev);
	else
		device_restore(tdev, counts);

	return ret;
}

/* ---- the reset escalation ---- */

/* Returns true if the next step is needed. The caller holds the lock of recovery. */
static bool device_reset_by_itself(struct tessera_device *tdev)
{
	if (tdev->reset.rung != TESSERA_RUNG_DEVICE)
		return true;

	trace_tessera_device_reset(tdev, TESSERA_RUNG_DEVICE);
	drm_warn(&tdev->drm, "reset of the device\n");
	tessera_queues_save(tdev);
	if (tessera_device_stop(tdev) || tessera_device_start(tdev))
		return true;

	device_restore(tdev, true);

	return false;
}

static bool ladder_device(struct tessera_device *tdev)
{
	bool signalling = recovery_begin(tdev);
	bool next = false;

	/* If it is to come again, that was somebody who knows better when. */
	if (tessera_state(tdev) == TESSERA_CUT_OFF && !delayed_work_pending(&tdev->reset.ladder)) {
		tessera_gate_wait(tdev);
		next = device_reset_by_itself(tdev);
	}
	recovery_end(tdev, signalling);

	return next;
}

/* Not under the lock of recovery: see above. */
static void ladder_function(struct tessera_device *tdev)
{
	int ret;

	trace_tessera_device_reset(tdev, TESSERA_RUNG_FUNCTION);
	drm_warn(&tdev->drm, "reset of the PCI function\n");
	atomic64_inc(&tdev->reset.function_count);
	tessera_local_zap(tdev);
	ret = tessera_pci_reset_function(tdev);
	tessera_reset_finish(tdev, TESSERA_CUT_OFF, ret);
}

static void tessera_reset_ladder(struct work_struct *work)
{
	struct tessera_device *tdev = container_of(to_delayed_work(work), struct tessera_device,
						   reset.ladder);

	tessera_delay(TESSERA_DELAY_RESET_ESCALATION);
	if (ladder_device(tdev))
		ladder_function(tdev);
}

/**
 * tessera_cut_off() - the device has failed
 * @tdev: device
 *
 * When this returns, the device accesses no memory. The reset escalation brings it back
 * later. The function may be called anywhere except in interrupts, also inside the gate.
 * It does nothing unless the state is TESSERA_RUNNING, because the device then is no bus
 * master already.
 */
void tessera_cut_off(struct tessera_device *tdev)
{
	if (tessera_set_state(tdev, TESSERA_CUT_OFF))
		mod_delayed_work(tdev->timeout_wq, &tdev->reset.ladder, 0);
}

/**
 * tessera_device_reset() - stop the queues, then cut the device off
 * @tdev: device
 * @rung: first step of the reset escalation
 *
 * Jobs that have not begun survive, because each slot reports its position first. A device that
 * has gone reports nothing and is cut off at once. The caller holds &tessera_device.reset.lock, and
 * no lock of a queue.
 */
void tessera_device_reset(struct tessera_device *tdev, enum tessera_rung rung)
{
	lockdep_assert_held(&tdev->reset.lock);

	if (tessera_state(tdev) != TESSERA_RUNNING)
		return;

	/* Waits for schedulers, which may wait for a bind that waits for the state to change. */
	if (rung == TESSERA_RUNG_WEDGED || tessera_device_present(tdev))
		tessera_queues_save(tdev);
	tdev->reset.rung = rung;
	if (rung == TESSERA_RUNG_WEDGED)
		device_wedge(tdev);
	else
		tessera_cut_off(tdev);
}

/**
 * tessera_device_reset_now() - reset the device and wait for the end of the reset
 * @tdev: device
 * @rung: first step
 *
 * The caller holds no lock, and fences do not wait for it.
 */
void tessera_device_reset_now(struct tessera_device *tdev, enum tessera_rung rung)
{
	bool signalling = recovery_begin(tdev);

	tessera_device_reset(tdev, rung);
	recovery_end(tdev, signalling);
	flush_delayed_work(&tdev->reset.ladder);
}

/* ---- resets from outside: PCI, sleep, unplug ---- */

/**
 * tessera_reset_freeze() - PCI reports an error: the registers cannot be used any more
 * @tdev: device that PCI is about to reset
 *
 * Nobody knows how far the jobs on the rings have come, so all of them are lost. If
 * tessera_reset_finish() does not follow, the driver resets the function itself: fences
 * must not depend on the outcome of what others do.
 */
void tessera_reset_freeze(struct tessera_device *tdev)
{
	bool signalling = recovery_begin(tdev);

	tessera_set_state(tdev, TESSERA_CUT_OFF);
	if (tessera_state(tdev) == TESSERA_CUT_OFF) {
		tessera_gate_wait(tdev);
		tdev->reset.rung = TESSERA_RUNG_FUNCTION;
		tessera_queues_lose(tdev);
		mod_delayed_work(tdev->timeout_wq, &tdev->reset.ladder, PCI_RECOVERY_TIMEOUT);
	}
	recovery_end(tdev, signalling);
	tessera_local_zap(tdev);
}

/**
 * tessera_reset_prepare() - someone is about to reset the PCI function
 * @tdev: device
 *
 * Out of reach until tessera_reset_finish(). No lock is held in between: PCI takes
 * locks of its own under which others allocate.
 */
void tessera_reset_prepare(struct tessera_device *tdev)
{
	bool signalling = recovery_begin(tdev);
	enum tessera_state state = tessera_state(tdev);

	if (state == TESSERA_RUNNING || state == TESSERA_CUT_OFF) {
		tessera_queues_save(tdev);
		tessera_set_state(tdev, TESSERA_PCI_RESET);
		tessera_gate_wait(tdev);
	}
	recovery_end(tdev, signalling);
	tessera_local_zap(tdev);
}

/**
 * tessera_reset_finish() - the function was reset
 * @tdev: device
 * @from: state it was put into for that; if it is another one by now, nothing happens
 * @ret: 0 if its configuration space is restored, else an error
 */
void tessera_reset_finish(struct tessera_device *tdev, enum tessera_state from, int ret)
{
	bool signalling = recovery_begin(tdev);

	if (tessera_state(tdev) == from)
		device_back(tdev, ret, true);
	recovery_end(tdev, signalling);
}

/**
 * tessera_reset_suspend() - the device goes to sleep
 * @tdev: device
 *
 * Jobs on the rings get DRAIN_TIMEOUT to end; those that have begun and have not ended
 * then are lost as in a reset of the device, the others run afterwards.
 *
 * Return: 0, or -EBUSY while the device is being reset.
 */
int tessera_reset_suspend(struct tessera_device *tdev)
{
	bool signalling;
	int ret = 0;

	flush_delayed_work(&tdev->reset.ladder);
	signalling = recovery_begin(tdev);
	switch (tessera_state(tdev)) {
	case TESSERA_RUNNING:
		tessera_queues_drain(tdev, DRAIN_TIMEOUT);
		tessera_queues_save(tdev);
		if (!tessera_set_state(tdev, TESSERA_ASLEEP)) {
			/* It was cut off meanwhile: the escalation runs first. */
			ret = -EBUSY;
			break;
		}
		tessera_gate_wait(tdev);
		tessera_device_stop(tdev);
		break;
	case TESSERA_CUT_OFF:
	case TESSERA_PCI_RESET:
		ret = -EBUSY;
		break;
	default:
		break;
	}
	recovery_end(tdev, signalling);

	return ret;
}

/**
 * tessera_reset_resume() - the device has woken up
 * @tdev: device, its configuration space restored
 *
 * No reset that user space would have to hear of, unless jobs were lost.
 *
 * Return: 0, or a negative error if the device has to be given up.
 */
int tessera_reset_resume(struct tessera_device *tdev)
{
	bool signalling = recovery_begin(tdev);
	int ret = 0;

	if (tessera_state(tdev) == TESSERA_ASLEEP)
		ret = device_back(tdev, 0, false);
	recovery_end(tdev, signalling);

	return ret;
}

/**
 * tessera_reset_unplug() - stop the device for good, and end all queues
 * @tdev: device
 */
void tessera_reset_unplug(struct tessera_device *tdev)
{
	cancel_delayed_work_sync(&tdev->reset.ladder);

	mutex_lock(&tdev->reset.lock);
	/* So that no slot is in the middle of something when it cannot reach memory any more. */
	if (tessera_state(tdev) == TESSERA_RUNNING)
		tessera_queues_save(tdev);
	tessera_set_state(tdev, TESSERA_UNPLUGGED);
	tessera_gate_wait(tdev);
	if (tessera_device_stop(tdev) == -EIO)
		drm_err(&tdev->drm, "the device does not stop\n");
	tessera_queues_unplug(tdev);
	mutex_unlock(&tdev->reset.lock);

	/* It may have failed just before. */
	cancel_delayed_work_sync(&tdev->reset.ladder);
	cancel_work_sync(&tdev->reset.wedged_work);
	flush_work(&tdev->reset.event_work);
}

/**
 * tessera_reset_init() - initialize recovery
 * @tdev: device
 *
 * Return: 0 or a negative error.
 */
int tessera_reset_init(struct tessera_device *tdev)
{
	INIT_DELAYED_WORK(&tdev->reset.ladder, tessera_reset_ladder);
	INIT_WORK(&tdev->reset.wedged_work, tessera_wedged_work);
	INIT_WORK(&tdev->reset.event_work, tessera_event_work);
	atomic64_set(&tdev->reset.count, 0);
	atomic64_set(&tdev->reset.function_count, 0);
	atomic64_set(&tdev->reset.queue_count, 0);

	return drmm_mutex_init(&tdev->drm, &tdev->reset.lock);
}
