/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_RESET_H__
#define __TESSERA_RESET_H__

struct tessera_device;
struct tessera_queue;

int tessera_reset_init(struct tessera_device *tdev);
void tessera_queue_recover(struct tessera_queue *queue);
void tessera_device_reset(struct tessera_device *tdev);
int tessera_device_start(struct tessera_device *tdev);
int tessera_device_stop(struct tessera_device *tdev);

void tessera_reset_prepare(struct tessera_device *tdev);
void tessera_reset_done(struct tessera_device *tdev);
void tessera_reset_unplug(struct tessera_device *tdev);

#endif
