// SPDX-License-Identifier: MIT
/*
 * Features, limits, extensions, memory types and queue families. A feature, a format or a limit is
 * listed only if the driver implements it, so limits of images and of drawing are 0.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <xf86drm.h>

#include "tsv_descriptor.h"
#include "tsv_device.h"

#include "util/build_id.h"
#include "util/mesa-sha1.h"
#include "util/os_misc.h"
#include "vk_alloc.h"
#include "vk_util.h"

#define VENDOR_ID	0x1234u
#define DEVICE_ID	0x7e55u
#define OPT_IN		"TESSERA_VK"
#define OPT_IN_VALUE	"experimental"
#define QUEUES_COMPUTE	1u		/* its dispatches share the device's scratch memory */
#define QUEUES_TRANSFER	2u
#define DESCRIPTORS	65536u
#define ALLOCATIONS	4096u		/* maxMemoryAllocationCount: the least that is allowed */

static const struct vk_device_extension_table device_extensions = {
	.KHR_bind_memory2 = true,
	.KHR_buffer_device_address = true,
	.KHR_copy_commands2 = true,
	.KHR_dedicated_allocation = true,
	.KHR_descriptor_update_template = true,
	.KHR_device_group = true,
	.KHR_external_fence = true,
	.KHR_external_fence_fd = true,
	.KHR_external_memory = true,
	.KHR_external_memory_fd = true,
	.KHR_external_semaphore = true,
	.KHR_external_semaphore_fd = true,
	.KHR_get_memory_requirements2 = true,
	.KHR_maintenance1 = true,
	.KHR_map_memory2 = true,
	.KHR_synchronization2 = true,
	.KHR_timeline_semaphore = true,
	.EXT_external_memory_dma_buf = true,
	.EXT_private_data = true,
};

static const struct vk_features device_features = {
	.robustBufferAccess = true,
	.privateData = true,
	.bufferDeviceAddress = true,
	.synchronization2 = true,
	.timelineSemaphore = true,
};

/* ---- Properties ------------------------------------------------------------------------------ */

/* Shaders find descriptors in memory, so their number is not limited by tables of the device. */
static void set_compute_limits(const struct drm_tessera_shader_info *shader,
			       struct vk_properties *p)
{
	unsigned i;

	p->maxUniformBufferRange = UINT32_MAX;
	p->maxStorageBufferRange = UINT32_MAX;
	p->maxBoundDescriptorSets = TSV_SETS;
	p->maxPerStageDescriptorUniformBuffers = DESCRIPTORS;
	p->maxPerStageDescriptorStorageBuffers = DESCRIPTORS;
	p->maxPerStageResources = DESCRIPTORS;
	p->maxDescriptorSetUniformBuffers = DESCRIPTORS;
	p->maxDescriptorSetUniformBuffersDynamic = TSV_DYNAMIC / 2;
	p->maxDescriptorSetStorageBuffers = DESCRIPTORS;
	p->maxDescriptorSetStorageBuffersDynamic = TSV_DYNAMIC / 2;
	p->minUniformBufferOffsetAlignment = TSV_UNIFORM_ALIGN;
	p->minStorageBufferOffsetAlignment = TSV_STORAGE_ALIGN;
	p->maxComputeSharedMemorySize = shader->max_group_memory;
	p->maxComputeWorkGroupInvocations = shader->max_group_threads;
	for (i = 0; i < 3; i++) {
		p->maxComputeWorkGroupCount[i] = shader->max_groups;
		p->maxComputeWorkGroupSize[i] = shader->max_group_threads;
	}
}

static void set_limits(const struct tsv_physical_device *device, struct vk_properties *p)
{
	const struct drm_tessera_gpu_info *gpu = &device->gpu;

	p->maxMemoryAllocationCount = ALLOCATIONS;
	p->bufferImageGranularity = 1;
	p->sparseAddressSpaceSize = 0;
	p->minMemoryMapAlignment = 4096;
	p->optimalBufferCopyOffsetAlignment = 1;
	p->optimalBufferCopyRowPitchAlignment = 1;
	p->nonCoherentAtomSize = 1;
	p->discreteQueuePriorities = 2;
	p->maxPushConstantsSize = TSV_PUSH_BYTES;
	set_compute_limits(&device->shader, p);
	p->timestampPeriod = gpu->timestamp_hz ? 1e9f / (float)gpu->timestamp_hz : 0;
	p->maxTimelineSemaphoreValueDifference = INT64_MAX;
}

static void hash(uint8_t uuid[VK_UUID_SIZE], const void *a, size_t a_size, const void *b,
		 size_t b_size)
{
	uint8_t sha1[SHA1_DIGEST_LENGTH];
	struct mesa_sha1 ctx;

	_mesa_sha1_init(&ctx);
	_mesa_sha1_update(&ctx, a, a_size);
	_mesa_sha1_update(&ctx, b, b_size);
	_mesa_sha1_final(&ctx, sha1);
	memcpy(uuid, sha1, VK_UUID_SIZE);
}

/* Shader binaries are valid for one build of the driver and one version of the device. */
static void set_uuids(struct vk_properties *p, const struct drm_tessera_gpu_info *gpu)
{
	const struct build_id_note *note = build_id_find_nhdr_for_addr(set_uuids);

	hash(p->driverUUID, PACKAGE_VERSION, sizeof(PACKAGE_VERSION),
	     note ? build_id_data(note) : NULL, note ? build_id_length(note) : 0);
	hash(p->deviceUUID, &gpu->hw_version, sizeof(gpu->hw_version), &gpu->features,
	     sizeof(gpu->features));
	hash(p->pipelineCacheUUID, p->driverUUID, VK_UUID_SIZE, p->deviceUUID, VK_UUID_SIZE);
}

static void set_properties(const struct tsv_physical_device *device, struct vk_properties *p)
{
	p->apiVersion = VK_MAKE_API_VERSION(0, 1, 0, VK_HEADER_VERSION);
	p->driverVersion = vk_get_driver_version();
	p->vendorID = VENDOR_ID;
	p->deviceID = DEVICE_ID;
	p->deviceType = VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
	snprintf(p->deviceName, sizeof(p->deviceName), "Tessera (experimental, not conformant)");
	set_uuids(p, &device->gpu);
	set_limits(device, p);
}

/*
 * Type 0 is system memory. It is cached by the CPU, and the device is coherent with it. Type 1
 * exists if the device has memory of its own, which the CPU maps write-combined.
 */
static void set_memory(struct tsv_physical_device *device)
{
	VkPhysicalDeviceMemoryProperties *m = &device->memory;
	const VkMemoryPropertyFlags mapped = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
					     VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
					     VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	uint64_t total = 0;

	if (!os_get_total_physical_memory(&total))
		total = 1ull << 30;
	m->memoryHeapCount = 1;
	m->memoryHeaps[0].size = ROUND_DOWN_TO(total / 4 * 3, 4096);
	m->memoryHeaps[0].flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
	m->memoryTypeCount = 1;
	m->memoryTypes[0].propertyFlags = mapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
	m->memoryTypes[0].heapIndex = 0;
	if (!device->local_size)
		return;
	m->memoryHeapCount = 2;
	m->memoryHeaps[1].size = device->local_size;
	m->memoryHeaps[1].flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
	m->memoryTypeCount = 2;
	m->memoryTypes[1].propertyFlags = mapped;
	m->memoryTypes[1].heapIndex = 1;
}

/* ---- The object ------------------------------------------------------------------------------ */

static bool is_tessera(const struct _drmDevice *drm)
{
	drmVersionPtr version;
	bool is;
	int fd;

	if (!(drm->available_nodes & 1 << DRM_NODE_RENDER))
		return false;
	fd = open(drm->nodes[DRM_NODE_RENDER], O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	version = drmGetVersion(fd);
	is = version && !strcmp(version->name, "tessera");
	drmFreeVersion(version);
	close(fd);
	return is;
}

static bool opted_in(void)
{
	const char *value = getenv(OPT_IN);

	if (value && !strcmp(value, OPT_IN_VALUE))
		return true;
	fprintf(stderr, "tessera: the Vulkan driver is incomplete and not used; "
			OPT_IN "=" OPT_IN_VALUE " in the environment enables it\n");
	return false;
}

/* The local memory that one file may allocate, which is a part of the device's. */
static uint64_t query_local(struct tsr_device *tsr)
{
	struct drm_tessera_file_limits limits = { 0 };
	struct drm_tessera_dev_query query = { .type = DRM_TESSERA_QUERY_FILE_LIMITS,
					       .size = sizeof(limits),
					       .ptr = (uintptr_t)&limits };
	const uint64_t size = tsr_device_info(tsr)->local_size;

	if (!size || drmIoctl(tsr_device_fd(tsr), DRM_IOCTL_TESSERA_DEV_QUERY, &query))
		return size;
	return MIN2(size, limits.max_local_memory);
}

/* The facts that the kernel knows; -errno. */
static int query(struct tsv_physical_device *device)
{
	const struct drm_tessera_shader_info *shader;
	struct tsr_device *tsr;
	int ret = tsr_device_open(device->path, &tsr);

	if (ret)
		return ret;
	device->gpu = *tsr_device_info(tsr);
	shader = tsr_device_shader_info(tsr);
	device->shader = *shader;
	device->local_size = query_local(tsr);
	device->syncobj = vk_drm_syncobj_get_type(tsr_device_fd(tsr));
	device->sync_types[0] = &device->syncobj;
	tsr_device_unref(tsr);
	return device->syncobj.features & VK_SYNC_FEATURE_TIMELINE ? 0 : -EOPNOTSUPP;
}

VkResult tsv_physical_device_create(struct vk_instance *instance, struct _drmDevice *drm,
				    struct vk_physical_device **out)
{
	struct vk_physical_device_dispatch_table table;
	struct vk_properties properties = { 0 };
	struct tsv_physical_device *device;
	VkResult result;
	int ret;

	if (!is_tessera(drm) || !opted_in())
		return VK_ERROR_INCOMPATIBLE_DRIVER;
	device = vk_zalloc(&instance->alloc, sizeof(*device), 8,
			   VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE);
	if (!device)
		return vk_error(instance, VK_ERROR_OUT_OF_HOST_MEMORY);
	snprintf(device->path, sizeof(device->path), "%s", drm->nodes[DRM_NODE_RENDER]);
	ret = query(device);
	if (ret) {
		vk_free(&instance->alloc, device);
		return vk_errorf(instance, VK_ERROR_INCOMPATIBLE_DRIVER, "%s: %s",
				 drm->nodes[DRM_NODE_RENDER], strerror(-ret));
	}
	set_memory(device);
	set_properties(device, &properties);
	vk_physical_device_dispatch_table_from_entrypoints(&table,
							   &tsv_physical_device_entrypoints, true);
	result = vk_physical_device_init(&device->vk, instance, &device_extensions,
					 &device_features, &properties, &table);
	if (result != VK_SUCCESS) {
		vk_free(&instance->alloc, device);
		return result;
	}
	device->vk.supported_sync_types = device->sync_types;
	vk_warn_non_conformant_implementation("tessera");
	*out = &device->vk;
	return VK_SUCCESS;
}

void tsv_physical_device_destroy(struct vk_physical_device *device)
{
	struct vk_instance *instance = device->instance;

	vk_physical_device_finish(device);
	vk_free(&instance->alloc, device);
}

/* ---- Queries --------------------------------------------------------------------------------- */

VKAPI_ATTR void VKAPI_CALL tsv_GetPhysicalDeviceMemoryProperties2(
	VkPhysicalDevice handle, VkPhysicalDeviceMemoryProperties2 *properties)
{
	VK_FROM_HANDLE(tsv_physical_device, device, handle);

	properties->memoryProperties = device->memory;
}

VKAPI_ATTR void VKAPI_CALL tsv_GetPhysicalDeviceQueueFamilyProperties2(
	VkPhysicalDevice handle, uint32_t *count, VkQueueFamilyProperties2 *properties)
{
	VK_OUTARRAY_MAKE_TYPED(VkQueueFamilyProperties2, out, properties, count);
	const VkExtent3D granularity = { 1, 1, 1 };

	/* in the order of enum tsv_family */
	vk_outarray_append_typed(VkQueueFamilyProperties2, &out, p) {
		p->queueFamilyProperties = (VkQueueFamilyProperties){
			.queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
			.queueCount = QUEUES_COMPUTE,
			.minImageTransferGranularity = granularity,
		};
	}
	vk_outarray_append_typed(VkQueueFamilyProperties2, &out, p) {
		p->queueFamilyProperties = (VkQueueFamilyProperties){
			.queueFlags = VK_QUEUE_TRANSFER_BIT,
			.queueCount = QUEUES_TRANSFER,
			.minImageTransferGranularity = granularity,
		};
	}
}

VKAPI_ATTR void VKAPI_CALL tsv_GetPhysicalDeviceFormatProperties2(VkPhysicalDevice handle,
								  VkFormat format,
								  VkFormatProperties2 *properties)
{
	properties->formatProperties = (VkFormatProperties){ 0 };
	vk_foreach_struct(ext, properties->pNext) {
		if (ext->sType == VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3) {
			VkFormatProperties3 *p = (void *)ext;

			p->linearTilingFeatures = 0;
			p->optimalTilingFeatures = 0;
			p->bufferFeatures = 0;
		}
	}
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_GetPhysicalDeviceImageFormatProperties2(
	VkPhysicalDevice handle, const VkPhysicalDeviceImageFormatInfo2 *info,
	VkImageFormatProperties2 *properties)
{
	properties->imageFormatProperties = (VkImageFormatProperties){ 0 };
	return VK_ERROR_FORMAT_NOT_SUPPORTED;
}

VKAPI_ATTR void VKAPI_CALL tsv_GetPhysicalDeviceSparseImageFormatProperties2(
	VkPhysicalDevice handle, const VkPhysicalDeviceSparseImageFormatInfo2 *info,
	uint32_t *count, VkSparseImageFormatProperties2 *properties)
{
	*count = 0;
}

VKAPI_ATTR void VKAPI_CALL tsv_GetPhysicalDeviceExternalBufferProperties(
	VkPhysicalDevice handle, const VkPhysicalDeviceExternalBufferInfo *info,
	VkExternalBufferProperties *properties)
{
	const VkExternalMemoryHandleTypeFlags shared =
		VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT |
		VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
	VkExternalMemoryProperties *p = &properties->externalMemoryProperties;

	*p = (VkExternalMemoryProperties){ .compatibleHandleTypes = info->handleType };
	if (!(info->handleType & shared))
		return;
	p->externalMemoryFeatures = VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT |
				    VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
	p->compatibleHandleTypes = shared;
	p->exportFromImportedHandleTypes = shared;
}
