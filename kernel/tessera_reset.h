/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_RESET_H__
#define __TESSERA_RESET_H__

struct tessera_device;
struct tessera_queue;

/**
 * enum tessera_rung - the rungs of the ladder that concern the whole device
 *
 * Below them is the reset of a queue's slot. The hardware has no reset of an
 * engine alone: an engine always leaves a queue whose slot is reset.
 */
enum tessera_rung {
	/** @TESSERA_RUNG_DEVICE: GPU.CONTROL.RESET. */
	TESSERA_RUNG_DEVICE,
	/** @TESSERA_RUNG_FUNCTION: The function level reset of PCI. */
	TESSERA_RUNG_FUNCTION,
	/** @TESSERA_RUNG_WEDGED: None left. */
	TESSERA_RUNG_WEDGED,
};

int tessera_reset_init(struct tessera_device *tdev);
void tessera_queue_recover(struct tessera_queue *queue);
void tessera_device_reset(struct tessera_device *tdev, enum tessera_rung rung);
void tessera_device_reset_now(struct tessera_device *tdev, enum tessera_rung rung);
int tessera_device_start(struct tessera_device *tdev);
int tessera_device_stop(struct tessera_device *tdev);

void tessera_reset_prepare(struct tessera_device *tdev);
void tessera_reset_done(struct tessera_device *tdev, int ret);
void tessera_reset_freeze(struct tessera_device *tdev);
void tessera_reset_thaw(struct tessera_device *tdev, int ret);
void tessera_reset_suspend(struct tessera_device *tdev);
int tessera_reset_resume(struct tessera_device *tdev);
void tessera_reset_unplug(struct tessera_device *tdev);

#endif
