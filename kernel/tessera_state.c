// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: The state of the device, and the gate
 *
 * One variable holds the state of the device, and one function changes it. Code that
 * uses registers or local memory passes the gate: the device can be accessed between
 * tessera_enter() and tessera_leave(). A caller that the gate refuses waits or
 * continues without the access. enum tessera_state explains why that is safe.
 *
 * Three callers may use registers without the gate: code that holds
 * &tessera_device.reset.lock and has found TESSERA_RUNNING or TESSERA_WEDGED, or does
 * recovery; probe before the first TESSERA_RUNNING; and the end of unplug. On kernels
 * with lockdep each access is checked.
 *
 * Inside the gate, code does not allocate, take a mutex or wait for a fence. Recovery
 * waits for all readers to leave the gate, and fences wait for recovery.
 *
 * drm_dev_enter() is not sufficient. It knows unplug only, while resets, sleep and
 * PCI error recovery also need to exclude accesses.
 */

#include <linux/kernel.h>
#include <linux/pci.h>
#include <linux/srcu.h>
#include <linux/wait.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_state.h"

#define TO(_state) BIT(TESSERA_##_state)

/* The states that may follow a state. */
static const u32 state_next[] = {
	[TESSERA_OFF] = TO(RUNNING) | TO(UNPLUGGED),
	[TESSERA_RUNNING] = TO(CUT_OFF) | TO(PCI_RESET) | TO(ASLEEP) | TO(WEDGED) | TO(UNPLUGGED),
	[TESSERA_CUT_OFF] = TO(RUNNING) | TO(PCI_RESET) | TO(WEDGED) | TO(UNPLUGGED),
	[TESSERA_PCI_RESET] = TO(RUNNING) | TO(WEDGED) | TO(UNPLUGGED),
	[TESSERA_ASLEEP] = TO(RUNNING) | TO(WEDGED) | TO(UNPLUGGED),
	[TESSERA_WEDGED] = TO(UNPLUGGED),
	[TESSERA_UNPLUGGED] = 0,
};

static void tessera_state_fini(struct drm_device *drm, void *data)
{
	cleanup_srcu_struct(data);
}

/**
 * tessera_state_init() - initialize the state of a device
 * @tdev: device; it is TESSERA_OFF
 *
 * Return: 0 or -ENOMEM.
 */
int tessera_state_init(struct tessera_device *tdev)
{
	int ret;

	spin_lock_init(&tdev->state.lock);
	init_waitqueue_head(&tdev->state.wait);
	ret = init_srcu_struct(&tdev->state.gate);

	return ret ?: drmm_add_action_or_reset(&tdev->drm, tessera_state_fini, &tdev->state.gate);
}

/* The read makes sure that the write, and what the device has written before it, has arrived. */
static void bus_master_off(struct pci_dev *pdev)
{
	u16 command;

	pci_clear_master(pdev);
	pci_read_config_word(pdev, PCI_COMMAND, &command);
}

/**
 * tessera_set_state() - the only function that changes the state
 * @tdev: device
 * @state: new state
 *
 * The device stops being bus master before any other state than TESSERA_RUNNING can be
 * seen. All changes but that from TESSERA_RUNNING to TESSERA_CUT_OFF are made under
 * &tessera_device.reset.lock; that one from anywhere but interrupts, also inside the gate.
 *
 * Return: false if @state may not follow the present one; then nothing has changed.
 */
bool tessera_set_state(struct tessera_device *tdev, enum tessera_state state)
{
	unsigned long flags;
	bool may;

	spin_lock_irqsave(&tdev->state.lock, flags);
	may = state_next[tdev->state.now] & BIT(state);
	if (may && state == TESSERA_RUNNING)
		pci_set_master(tdev->pdev);
	else if (may)
		bus_master_off(tdev->pdev);
	if (may)
		WRITE_ONCE(tdev->state.now, state); /* who is at the gate has no lock */
	spin_unlock_irqrestore(&tdev->state.lock, flags);

	if (may)
		wake_up_all(&tdev->state.wait);

	return may;
}

/**
 * tessera_gate_wait() - wait until nobody is inside the gate
 * @tdev: device whose gate is closed
 *
 * Not from inside. Who is inside leaves as soon as it sees that the state has changed.
 */
void tessera_gate_wait(struct tessera_device *tdev)
{
	synchronize_srcu_expedited(&tdev->state.gate);
}

/**
 * tessera_enter() - pass the gate
 * @tdev: device
 * @cookie: for tessera_leave()
 *
 * From any context.
 *
 * Return: true if the device is within reach until tessera_leave(); false if not, when
 * there is nothing to exit.
 */
bool tessera_enter(struct tessera_device *tdev, int *cookie)
{
	*cookie = srcu_read_lock(&tdev->state.gate);
	if (likely(tessera_state(tdev) == TESSERA_RUNNING)) {
		__release(&tdev->state.gate); /* sparse wants it back in each function */
		return true;
	}
	srcu_read_unlock(&tdev->state.gate, *cookie);

	return false;
}

/**
 * tessera_leave() - leave the gate
 * @tdev: device
 * @cookie: from tessera_enter()
 */
void tessera_leave(struct tessera_device *tdev, int cookie)
{
	__acquire(&tdev->state.gate); /* likewise */
	srcu_read_unlock(&tdev->state.gate, cookie);
}

static bool state_lasts(enum tessera_state state)
{
	return state == TESSERA_RUNNING || state == TESSERA_WEDGED || state == TESSERA_UNPLUGGED;
}

/**
 * tessera_wait_running() - wait until recovery, or sleep, is over
 * @tdev: device
 *
 * Not where fences wait. Only a deadly signal ends the wait early.
 *
 * Return: 0, -EIO if the device was given up, -ENODEV if it is gone, or -ERESTARTSYS.
 */
int tessera_wait_running(struct tessera_device *tdev)
{
	int ret = wait_event_killable(tdev->state.wait, state_lasts(tessera_state(tdev)));

	if (ret)
		return ret;

	switch (tessera_state(tdev)) {
	case TESSERA_WEDGED:
		return -EIO;
	case TESSERA_UNPLUGGED:
		return -ENODEV;
	default:
		return 0;
	}
}

/**
 * tessera_enter_wait() - pass the gate, wait before it if need be
 * @tdev: device
 * @cookie: for tessera_leave()
 *
 * Return: 0 when inside, else as tessera_wait_running().
 */
int tessera_enter_wait(struct tessera_device *tdev, int *cookie)
{
	int ret;

	while (!tessera_enter(tdev, cookie)) {
		ret = tessera_wait_running(tdev);
		if (ret)
			return ret;
	}

	return 0;
}

/**
 * tessera_lock_running() - take the lock of recovery with a device that runs
 * @tdev: device
 *
 * It may be cut off meanwhile, as always, but it is not reset before the lock is given
 * back. Not where fences wait.
 *
 * Return: 0 with &tessera_device.reset.lock held, else as tessera_wait_running().
 */
int tessera_lock_running(struct tessera_device *tdev)
{
	int ret;

	mutex_lock(&tdev->reset.lock);
	while (tessera_state(tdev) != TESSERA_RUNNING) {
		mutex_unlock(&tdev->reset.lock);
		ret = tessera_wait_running(tdev);
		if (ret)
			return ret;
		tessera_delay(TESSERA_DELAY_LOCK_RUNNING);
		mutex_lock(&tdev->reset.lock);
	}

	return 0;
}

/**
 * tessera_state_name() - what debugfs calls a state
 * @state: state
 *
 * Return: its name.
 */
const char *tessera_state_name(enum tessera_state state)
{
	static const char * const name[] = {
		[TESSERA_OFF] = "off",
		[TESSERA_RUNNING] = "running",
		[TESSERA_CUT_OFF] = "cut off",
		[TESSERA_PCI_RESET] = "reset by PCI",
		[TESSERA_ASLEEP] = "asleep",
		[TESSERA_WEDGED] = "wedged",
		[TESSERA_UNPLUGGED] = "unplugged",
	};

	return name[state];
}
