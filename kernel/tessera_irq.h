/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_IRQ_H__
#define __TESSERA_IRQ_H__

struct tessera_device;

int tessera_irq_init(struct tessera_device *tdev);
void tessera_irq_look(struct tessera_device *tdev, unsigned int class);
void tessera_irq_look_queues(struct tessera_device *tdev);
void tessera_irq_enable(struct tessera_device *tdev);
void tessera_irq_fini(struct tessera_device *tdev);

#endif
