// SPDX-License-Identifier: MIT
/* Which Tessera GPUs this machine has: libdrm's PCI devices, by the IDs of the description. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xf86drm.h>

#include "internal.h"
#include "tsr_regs.h"

static bool is_tessera(const drmDevice *device)
{
	return device->bustype == DRM_BUS_PCI && device->available_nodes & 1 << DRM_NODE_RENDER &&
	       device->deviceinfo.pci->vendor_id == TSR_PCI_VENDOR &&
	       device->deviceinfo.pci->device_id == TSR_PCI_DEVICE;
}

static void describe(const drmDevice *device, struct tsr_node *node)
{
	const drmPciBusInfo *bus = device->businfo.pci;

	memset(node, 0, sizeof(*node));
	snprintf(node->render, sizeof(node->render), "%s", device->nodes[DRM_NODE_RENDER]);
	if (device->available_nodes & 1 << DRM_NODE_PRIMARY)
		snprintf(node->primary, sizeof(node->primary), "%s",
			 device->nodes[DRM_NODE_PRIMARY]);
	snprintf(node->bus, sizeof(node->bus), "%04x:%02x:%02x.%u", bus->domain, bus->bus,
		 bus->dev, bus->func);
}

/* renderD9 before renderD10: shorter first, then by characters. */
static int compare(const void *a, const void *b)
{
	const struct tsr_node *x = a, *y = b;
	size_t nx = strlen(x->render), ny = strlen(y->render);

	if (nx != ny)
		return nx < ny ? -1 : 1;
	return strcmp(x->render, y->render);
}

int tsr_device_list(struct tsr_node *nodes, unsigned int capacity)
{
	struct tsr_node *found;
	drmDevicePtr *all;
	int total, count = 0, i;

	total = drmGetDevices2(0, NULL, 0);
	if (total <= 0)
		return 0;
	all = calloc(total, sizeof(*all));
	found = calloc(total, sizeof(*found));
	if (!all || !found) {
		free(all);
		free(found);
		return tsr_fail(ENOMEM, "no memory for a list of %d devices", total);
	}
	total = drmGetDevices2(0, all, total);
	for (i = 0; i < total; i++) {
		if (is_tessera(all[i]))
			describe(all[i], &found[count++]);
	}
	qsort(found, count, sizeof(*found), compare);
	for (i = 0; i < count && (unsigned int)i < capacity; i++)
		nodes[i] = found[i];
	drmFreeDevices(all, total > 0 ? total : 0);
	free(all);
	free(found);
	return count;
}
