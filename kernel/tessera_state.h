/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_STATE_H__
#define __TESSERA_STATE_H__

#include <linux/types.h>

struct tessera_device;

/**
 * enum tessera_state - what the driver may do with the device, and the device with memory
 *
 * Only in @TESSERA_RUNNING is the device a bus master. In every other state it cannot
 * touch memory, so fences may signal and memory may be freed without asking it, and
 * what it still believes does not matter: it comes back to @TESSERA_RUNNING by a reset,
 * programmed anew from what the driver knows.
 */
enum tessera_state {
	/** @TESSERA_OFF: Probe has not finished and is alone with the device. */
	TESSERA_OFF,
	/** @TESSERA_RUNNING: The gate is open. */
	TESSERA_RUNNING,
	/** @TESSERA_CUT_OFF: It failed; &tessera_device.reset.ladder is scheduled. */
	TESSERA_CUT_OFF,
	/** @TESSERA_PCI_RESET: Somebody else resets the function and will say when that is done. */
	TESSERA_PCI_RESET,
	/** @TESSERA_ASLEEP: It sleeps, or the machine does. */
	TESSERA_ASLEEP,
	/** @TESSERA_WEDGED: No reset has helped. Only unbinding the driver leads out of this. */
	TESSERA_WEDGED,
	/** @TESSERA_UNPLUGGED: It is gone, or no longer ours. */
	TESSERA_UNPLUGGED,
};

int tessera_state_init(struct tessera_device *tdev);
bool tessera_set_state(struct tessera_device *tdev, enum tessera_state state);
void tessera_gate_wait(struct tessera_device *tdev);

bool tessera_enter(struct tessera_device *tdev, int *cookie);
int tessera_enter_wait(struct tessera_device *tdev, int *cookie);
void tessera_leave(struct tessera_device *tdev, int cookie);
int tessera_wait_running(struct tessera_device *tdev);
int tessera_lock_running(struct tessera_device *tdev);

const char *tessera_state_name(enum tessera_state state);

#endif
