// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: PCI
 *
 * Three parties reset the PCI function: the driver, as a step of its reset escalation;
 * user space through sysfs, announced by reset_prepare() and reset_done(); and PCI's
 * error recovery. In error recovery the link is frozen from error_detected() until
 * slot_reset(). Registers cannot be accessed meanwhile, and slot_reset() may never be
 * called.
 *
 * When the machine sleeps, the function loses its state as well. The driver handles
 * this like a reset, but it is announced, so jobs may end first. Local memory keeps
 * its contents, because the device keeps power for it.
 *
 * A reset clears the configuration space. The driver keeps the copy that probe saved,
 * because the space may be damaged when a reset begins.
 */

#include <linux/pci.h>
#include <linux/slab.h>

#include <drm/drm_print.h>

#include "tessera_device.h"
#include "tessera_pci.h"
#include "tessera_reset.h"

static void tessera_pci_free_state(void *state)
{
	kfree(state);
}

/**
 * tessera_pci_save() - keep the configuration space for later
 * @tdev: device that is set up
 *
 * Return: 0 or -ENOMEM.
 */
int tessera_pci_save(struct tessera_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	int ret;

	ret = pci_save_state(pdev);
	if (ret)
		return ret;

	tdev->pci_state = pci_store_saved_state(pdev);
	if (!tdev->pci_state)
		return -ENOMEM;

	return devm_add_action_or_reset(&pdev->dev, tessera_pci_free_state, tdev->pci_state);
}

/**
 * tessera_pci_restore() - give the device the configuration space of probe
 * @tdev: device
 *
 * Allocates nothing. It is no bus master then. Whether it answers is found out by
 * tessera_device_stop().
 *
 * Return: 0 or a negative error.
 */
int tessera_pci_restore(struct tessera_device *tdev)
{
	int ret;

	ret = pci_load_saved_state(tdev->pdev, tdev->pci_state);
	if (ret)
		return ret;

	pci_restore_state(tdev->pdev);

	return 0;
}

/**
 * tessera_pci_reset_function() - reset the PCI function
 * @tdev: device that is TESSERA_CUT_OFF
 *
 * Not pci_reset_function(): that takes the device lock, which whoever unbinds the
 * driver holds while waiting for this. Not under a lock that fences wait for.
 *
 * Return: 0 or a negative error.
 */
int tessera_pci_reset_function(struct tessera_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	int ret = 0;

	if (!pci_device_is_present(pdev))
		return -ENODEV;

	pci_cfg_access_lock(pdev);
	/* User space may have held this lock and have reset the function already. */
	if (tessera_state(tdev) == TESSERA_CUT_OFF) {
		ret = pcie_reset_flr(pdev, PCI_RESET_DO_RESET);
		if (!ret)
			ret = tessera_pci_restore(tdev);
	}
	pci_cfg_access_unlock(pdev);

	return ret;
}

static pci_ers_result_t tessera_pci_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct tessera_device *tdev = pci_get_drvdata(pdev);

	drm_warn(&tdev->drm, "PCI reports an error, channel state %u\n", state);

	switch (state) {
	case pci_channel_io_normal:
		return PCI_ERS_RESULT_CAN_RECOVER;
	case pci_channel_io_frozen:
		tessera_reset_freeze(tdev);
		return PCI_ERS_RESULT_NEED_RESET;
	default:
		/* PCI gives up. A function that is still there can be reset by itself. */
		tessera_reset_freeze(tdev);
		mod_delayed_work(tdev->timeout_wq, &tdev->reset.ladder, 0);
		flush_delayed_work(&tdev->reset.ladder);
		return PCI_ERS_RESULT_DISCONNECT;
	}
}

/* The link was never frozen. Is the device in order? */
static pci_ers_result_t tessera_pci_mmio_enabled(struct pci_dev *pdev)
{
	struct tessera_device *tdev = pci_get_drvdata(pdev);
	bool present = false;
	int cookie;

	if (tessera_enter(tdev, &cookie)) {
		present = tessera_device_present(tdev);
		tessera_leave(tdev, cookie);
	}

	return present ? PCI_ERS_RESULT_RECOVERED : PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t tessera_pci_slot_reset(struct pci_dev *pdev)
{
	struct tessera_device *tdev = pci_get_drvdata(pdev);

	/* Without a freeze PCI has reset nothing either. */
	if (tessera_state(tdev) != TESSERA_CUT_OFF)
		tessera_device_reset_now(tdev, TESSERA_RUNG_FUNCTION);
	else if (cancel_delayed_work_sync(&tdev->reset.ladder))
		tessera_reset_finish(tdev, TESSERA_CUT_OFF, tessera_pci_restore(tdev));
	flush_delayed_work(&tdev->reset.ladder);

	return tessera_device_wedged(tdev) ? PCI_ERS_RESULT_DISCONNECT : PCI_ERS_RESULT_RECOVERED;
}

static void tessera_pci_resume(struct pci_dev *pdev)
{
	struct tessera_device *tdev = pci_get_drvdata(pdev);

	drm_info(&tdev->drm, "PCI has recovered from the error\n");
}

static void tessera_pci_reset_prepare(struct pci_dev *pdev)
{
	tessera_reset_prepare(pci_get_drvdata(pdev));
}

/* PCI has restored the space that it had saved, which may have been damaged. */
static void tessera_pci_reset_done(struct pci_dev *pdev)
{
	struct tessera_device *tdev = pci_get_drvdata(pdev);

	if (tessera_state(tdev) == TESSERA_PCI_RESET)
		tessera_reset_finish(tdev, TESSERA_PCI_RESET, tessera_pci_restore(tdev));
}

const struct pci_error_handlers tessera_pci_error_handlers = {
	.error_detected = tessera_pci_error_detected,
	.mmio_enabled = tessera_pci_mmio_enabled,
	.slot_reset = tessera_pci_slot_reset,
	.resume = tessera_pci_resume,
	.reset_prepare = tessera_pci_reset_prepare,
	.reset_done = tessera_pci_reset_done,
};
