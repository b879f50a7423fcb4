// SPDX-License-Identifier: MIT
/* Window systems. The runtime has all of them; the driver says what its device can do. */
#include <fcntl.h>
#include <unistd.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include "tsv_device.h"

static PFN_vkVoidFunction proc_addr(VkPhysicalDevice handle, const char *name)
{
	VK_FROM_HANDLE(tsv_physical_device, device, handle);

	return vk_instance_get_proc_addr_unchecked(device->vk.instance, name);
}

static bool has_connectors(int fd)
{
	drmModeRes *resources = drmModeGetResources(fd);
	const bool has = resources && resources->count_connectors > 0;

	drmModeFreeResources(resources);
	return has;
}

/* The primary node if this process can set modes, or -1. No display server runs then. */
static int open_displays(const struct tsv_physical_device *device)
{
	int fd;

	if (!device->vk.instance->enabled_extensions.KHR_display || !device->card[0])
		return -1;
	fd = open(device->card, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && drmIsMaster(fd) && has_connectors(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

VkResult tsv_wsi_init(struct tsv_physical_device *device)
{
	const struct wsi_device_options options = { 0 };
	const VkResult result = wsi_device_init(&device->wsi,
						tsv_physical_device_to_handle(device), proc_addr,
						&device->vk.instance->alloc,
						open_displays(device), NULL, &options);

	if (result != VK_SUCCESS)
		return result;
	device->wsi.supports_modifiers = true;
	device->vk.wsi_device = &device->wsi;
	return VK_SUCCESS;
}

void tsv_wsi_finish(struct tsv_physical_device *device)
{
	device->vk.wsi_device = NULL;
	wsi_device_finish(&device->wsi, &device->vk.instance->alloc);
}
