/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_PCI_H__
#define __TESSERA_PCI_H__

struct pci_error_handlers;
struct tessera_device;

extern const struct pci_error_handlers tessera_pci_error_handlers;

int tessera_pci_save(struct tessera_device *tdev);
int tessera_pci_restore(struct tessera_device *tdev);
int tessera_pci_reset_function(struct tessera_device *tdev);

#endif
