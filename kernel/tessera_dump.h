/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_DUMP_H__
#define __TESSERA_DUMP_H__

#include <linux/types.h>

struct tessera_device;
struct tessera_dump;
struct tessera_fence;
struct tessera_queue;

int tessera_dump_init(struct tessera_device *tdev);
void tessera_dump_unplug(struct tessera_device *tdev);
void tessera_dump_queue(struct tessera_queue *queue, const struct tessera_fence *job, int error);
void tessera_dump_vm(struct tessera_queue *queue);

#endif
