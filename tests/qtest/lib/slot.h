/* SPDX-License-Identifier: MIT */
/*
 * A slot of a PCIe root port with native hotplug. The test plays the guest's hotplug driver.
 */
#ifndef TSR_QTEST_SLOT_H
#define TSR_QTEST_SLOT_H

#include "gpu.h"

/* The bus below the port, and the QEMU options that add the port. */
#define SLOT_BUS 1
#define SLOT_DEVFN (5 << 3)
#define SLOT_ARGS                                                    \
	"-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off " \
	"-device pcie-root-port,id=rp,addr=5,chassis=1"

struct slot {
	struct qtest *q;
	struct gpu port;     /* the root port's configuration space */
	unsigned int express; /* offset of its PCI Express capability */
};

/* Set up the port of a machine that was started with SLOT_ARGS. */
void slot_open(struct slot *slot, struct qtest *q);
/*
 * Add a tessera device named @id with the given further properties (JSON members, each begins with
 * a comma; may be empty). Returns QEMU's answer, see qtest_ok().
 */
const char *slot_add(struct slot *slot, const char *id, const char *properties);
/* Ask QEMU to remove device @id, press the slot's button, and power the slot off. */
void slot_remove(struct slot *slot, const char *id);
/* Power the slot off without a request of QEMU's. */
void slot_power_off(struct slot *slot);
/* Offset in the port's configuration space, and value, of the write that powers the slot off. */
unsigned int slot_control(const struct slot *slot);
#define SLOT_POWER_OFF 0x0700 /* power controller and power indicator off */
#define SLOT_POWERED 0x0100   /* the same bits of a slot that is on */

#endif
