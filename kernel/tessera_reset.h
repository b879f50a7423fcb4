/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_RESET_H__
#define __TESSERA_RESET_H__

#include <linux/types.h>

#include "tessera_state.h"

struct tessera_device;
struct tessera_queue;

/**
 * enum tessera_rung - steps of the reset escalation
 *
 * They concern the whole device. The reset of a queue's slot comes first
 * (tessera_watch.c). The hardware has no reset of a single engine, because an engine
 * always leaves a queue whose slot is reset.
 */
enum tessera_rung {
	/** @TESSERA_RUNG_DEVICE: GPU.CONTROL.RESET. */
	TESSERA_RUNG_DEVICE,
	/** @TESSERA_RUNG_FUNCTION: The function level reset of PCI. */
	TESSERA_RUNG_FUNCTION,
	/** @TESSERA_RUNG_WEDGED: No step is left. */
	TESSERA_RUNG_WEDGED,
};

/* tessera_reset.c */
int tessera_reset_init(struct tessera_device *tdev);
int tessera_device_start(struct tessera_device *tdev);
int tessera_device_stop(struct tessera_device *tdev);

void tessera_cut_off(struct tessera_device *tdev);
void tessera_device_reset(struct tessera_device *tdev, enum tessera_rung rung);
void tessera_device_reset_now(struct tessera_device *tdev, enum tessera_rung rung);

void tessera_reset_prepare(struct tessera_device *tdev);
void tessera_reset_freeze(struct tessera_device *tdev);
void tessera_reset_finish(struct tessera_device *tdev, enum tessera_state from, int ret);
int tessera_reset_suspend(struct tessera_device *tdev);
int tessera_reset_resume(struct tessera_device *tdev);
void tessera_reset_unplug(struct tessera_device *tdev);

/* tessera_reset_queues.c; all under the lock of recovery */
void tessera_queues_each(struct tessera_device *tdev,
			 void (*fn)(struct tessera_queue *queue, void *data), void *data);
void tessera_queues_save(struct tessera_device *tdev);
void tessera_queues_lose(struct tessera_device *tdev);
void tessera_queues_restore(struct tessera_device *tdev, bool counts);
void tessera_queues_cancel(struct tessera_device *tdev, int error);
void tessera_queues_drain(struct tessera_device *tdev, unsigned long timeout);
void tessera_queues_unplug(struct tessera_device *tdev);

#endif
