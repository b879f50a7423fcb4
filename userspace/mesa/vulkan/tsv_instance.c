// SPDX-License-Identifier: MIT
#include "tsv_device.h"

#include "vk_alloc.h"
#include "vk_util.h"

static const struct vk_instance_extension_table instance_extensions = {
	.KHR_device_group_creation = true,
	.KHR_external_fence_capabilities = true,
	.KHR_external_memory_capabilities = true,
	.KHR_external_semaphore_capabilities = true,
	.KHR_get_physical_device_properties2 = true,
	.KHR_get_surface_capabilities2 = true,
	.KHR_surface = true,
	.EXT_debug_report = true,
	.EXT_debug_utils = true,
	.EXT_headless_surface = true,
#ifdef VK_USE_PLATFORM_WAYLAND_KHR
	.KHR_wayland_surface = true,
#endif
#ifdef VK_USE_PLATFORM_XCB_KHR
	.KHR_xcb_surface = true,
#endif
#ifdef VK_USE_PLATFORM_XLIB_KHR
	.KHR_xlib_surface = true,
#endif
#ifdef VK_USE_PLATFORM_DISPLAY_KHR
	.KHR_display = true,
	.KHR_get_display_properties2 = true,
	.EXT_direct_mode_display = true,
#endif
};

VkResult tsv_result(int ret)
{
	switch (ret) {
	case 0:
		return VK_SUCCESS;
	case -ENOMEM:
		return VK_ERROR_OUT_OF_HOST_MEMORY;
	case -ENOSPC:
		return VK_ERROR_OUT_OF_DEVICE_MEMORY;
	case -ENODEV:
	case -EIO:
	case -ECANCELED:
		return VK_ERROR_DEVICE_LOST;
	case -EBADF:
		return VK_ERROR_INVALID_EXTERNAL_HANDLE;
	default:
		return VK_ERROR_UNKNOWN;
	}
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_EnumerateInstanceVersion(uint32_t *version)
{
	*version = TSV_API_VERSION;
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_EnumerateInstanceExtensionProperties(
	const char *layer, uint32_t *count, VkExtensionProperties *properties)
{
	if (layer)
		return vk_error(NULL, VK_ERROR_LAYER_NOT_PRESENT);
	return vk_enumerate_instance_extension_properties(&instance_extensions, count, properties);
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_EnumerateInstanceLayerProperties(uint32_t *count,
								    VkLayerProperties *properties)
{
	*count = 0;
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateInstance(const VkInstanceCreateInfo *info,
						  const VkAllocationCallbacks *alloc,
						  VkInstance *out)
{
	struct vk_instance_dispatch_table table;
	struct tsv_instance *instance;
	VkResult result;

	if (!alloc)
		alloc = vk_default_allocator();
	instance = vk_zalloc(alloc, sizeof(*instance), 8, VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE);
	if (!instance)
		return vk_error(NULL, VK_ERROR_OUT_OF_HOST_MEMORY);
	vk_instance_dispatch_table_from_entrypoints(&table, &tsv_instance_entrypoints, true);
	vk_instance_dispatch_table_from_entrypoints(&table, &wsi_instance_entrypoints, false);
	result = vk_instance_init(&instance->vk, &instance_extensions, &table, info, alloc);
	if (result != VK_SUCCESS) {
		vk_free(alloc, instance);
		return vk_error(NULL, result);
	}
	instance->vk.physical_devices.try_create_for_drm = tsv_physical_device_create;
	instance->vk.physical_devices.destroy = tsv_physical_device_destroy;
	*out = tsv_instance_to_handle(instance);
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_DestroyInstance(VkInstance handle,
					       const VkAllocationCallbacks *alloc)
{
	VK_FROM_HANDLE(tsv_instance, instance, handle);

	if (!instance)
		return;
	vk_instance_finish(&instance->vk);
	vk_free(&instance->vk.alloc, instance);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL tsv_GetInstanceProcAddr(VkInstance handle,
								 const char *name)
{
	VK_FROM_HANDLE(vk_instance, instance, handle);

	return vk_instance_get_proc_addr(instance, &tsv_instance_entrypoints, name);
}

/* The loader's name for it. */
PUBLIC VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
									  const char *name)
{
	return tsv_GetInstanceProcAddr(instance, name);
}
