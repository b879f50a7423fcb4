// SPDX-License-Identifier: MIT
/*
 * Features, limits, extensions, memory types and queue families. The driver lists a feature or a
 * limit only if it implements it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <xf86drm.h>

#include "tc_uuid.h"
#include "tsv_cmd.h"

#include "util/build_id.h"
#include "util/mesa-sha1.h"
#include "util/os_misc.h"
#include "vk_alloc.h"
#include "vk_util.h"

#define VENDOR_ID	0x1234u
#define DEVICE_ID	0x7e55u
#define OPT_IN		"TESSERA_VK"
#define OPT_IN_VALUE	"experimental"
#define QUEUES_MAIN	1u		/* its work shares the device's scratch memory and heap */
#define QUEUES_TRANSFER	2u
#define DESCRIPTORS	65536u
#define VARYINGS	64u		/* components, without those in the record of a vertex */
#define DISTANCES	8u		/* for clipping and culling, together */
#define LINE_WIDTH	255.0f
#define SAMPLERS	65536u		/* memory alone limits them */
#define ALLOCATIONS	4096u		/* maxMemoryAllocationCount: the least that is allowed */
#define ALLOCATION_SIZE	(1ull << 30)	/* maxMemoryAllocationSize: the least that is allowed */

static const struct vk_device_extension_table device_extensions = {
	.KHR_8bit_storage = true,
	.KHR_16bit_storage = true,
	.KHR_bind_memory2 = true,
	.KHR_buffer_device_address = true,
	.KHR_copy_commands2 = true,
	.KHR_create_renderpass2 = true,
	.KHR_dedicated_allocation = true,
	.KHR_depth_stencil_resolve = true,
	.KHR_descriptor_update_template = true,
	.KHR_device_group = true,
	.KHR_dynamic_rendering = true,
	.KHR_external_fence = true,
	.KHR_external_fence_fd = true,
	.KHR_external_memory = true,
	.KHR_external_memory_fd = true,
	.KHR_external_semaphore = true,
	.KHR_external_semaphore_fd = true,
	.KHR_format_feature_flags2 = true,
	.KHR_get_memory_requirements2 = true,
	.KHR_image_format_list = true,
	.KHR_imageless_framebuffer = true,
	.KHR_incremental_present = true,
	.KHR_maintenance1 = true,
	.KHR_maintenance2 = true,
	.KHR_maintenance3 = true,
	.KHR_multiview = true,
	.KHR_map_memory2 = true,
	.KHR_relaxed_block_layout = true,
	.KHR_shader_draw_parameters = true,
	.KHR_storage_buffer_storage_class = true,
	.KHR_swapchain = true,
	.KHR_synchronization2 = true,
	.KHR_timeline_semaphore = true,
	.EXT_device_fault = true,
	.EXT_extended_dynamic_state = true,
	.EXT_extended_dynamic_state2 = true,
	.EXT_external_memory_dma_buf = true,
	.EXT_host_query_reset = true,
	.EXT_image_drm_format_modifier = true,
	.EXT_pci_bus_info = true,
	.EXT_physical_device_drm = true,
	.EXT_private_data = true,
	.EXT_queue_family_foreign = true,
};

static struct vk_features features_of(const struct tsv_physical_device *device)
{
	const bool compressed = device->gpu.features & DRM_TESSERA_FEATURE_COMPRESSED;

	return (struct vk_features){
		.robustBufferAccess = true,
		.imageCubeArray = true,
		.independentBlend = true,
		.sampleRateShading = true,
		.dualSrcBlend = true,
		.logicOp = true,
		.multiDrawIndirect = true,
		.drawIndirectFirstInstance = true,
		.depthClamp = true,
		.depthBiasClamp = true,
		.depthBounds = true,
		.wideLines = true,
		.largePoints = true,
		.alphaToOne = true,
		.multiViewport = true,
		.occlusionQueryPrecise = true,
		.fragmentStoresAndAtomics = true,
		.dynamicRendering = true,
		.extendedDynamicState = true,
		.extendedDynamicState2 = true,
		.hostQueryReset = true,
		.imagelessFramebuffer = true,
		.deviceFault = true,
		.multiview = true,
		.sparseBinding = true,
		.sparseResidencyBuffer = true,
		.samplerAnisotropy = true,
		.textureCompressionETC2 = compressed,
		.textureCompressionBC = compressed,
		.shaderImageGatherExtended = true,
		.shaderStorageImageExtendedFormats = true,
		.shaderStorageImageReadWithoutFormat = true,
		.shaderStorageImageWriteWithoutFormat = true,
		.shaderUniformBufferArrayDynamicIndexing = true,
		.shaderSampledImageArrayDynamicIndexing = true,
		.shaderStorageBufferArrayDynamicIndexing = true,
		.shaderStorageImageArrayDynamicIndexing = true,
		.shaderDrawParameters = true,
		.shaderInt64 = true,
		.shaderInt16 = true,
		.storageBuffer16BitAccess = true,
		.uniformAndStorageBuffer16BitAccess = true,
		.storageBuffer8BitAccess = true,
		.uniformAndStorageBuffer8BitAccess = true,
		.shaderClipDistance = true,
		.shaderCullDistance = true,
		.privateData = true,
		.bufferDeviceAddress = true,
		.synchronization2 = true,
		.timelineSemaphore = true,
	};
}

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

/* Tables of a program hold textures, samplers and images: TSV_TABLE_SLOTS of each. */
static void set_image_limits(struct vk_properties *p)
{
	p->maxImageDimension1D = TSV_IMAGE_SIDE;
	p->maxImageDimension2D = TSV_IMAGE_SIDE;
	p->maxImageDimension3D = TSV_IMAGE_DEPTH;
	p->maxImageDimensionCube = TSV_IMAGE_SIDE;
	p->maxImageArrayLayers = TSV_IMAGE_LAYERS;
	p->maxTexelBufferElements = TSV_TEXELS;
	p->minTexelBufferOffsetAlignment = TSV_TEXEL_ALIGN;
	p->maxSamplerAllocationCount = SAMPLERS;
	p->maxPerStageDescriptorSamplers = TSV_TABLE_SLOTS;
	p->maxPerStageDescriptorSampledImages = TSV_TABLE_SLOTS;
	p->maxPerStageDescriptorStorageImages = TSV_TABLE_SLOTS;
	p->maxDescriptorSetSamplers = TSV_TABLE_SLOTS;
	p->maxDescriptorSetSampledImages = TSV_TABLE_SLOTS;
	p->maxDescriptorSetStorageImages = TSV_TABLE_SLOTS;
	p->maxSamplerLodBias = 16;
	p->maxSamplerAnisotropy = 16;
	p->minTexelOffset = p->minTexelGatherOffset = -8;
	p->maxTexelOffset = p->maxTexelGatherOffset = 7;
	p->subTexelPrecisionBits = 8;
	p->mipmapPrecisionBits = 8;
	p->sampledImageColorSampleCounts = TSV_SAMPLES;
	p->sampledImageIntegerSampleCounts = TSV_SAMPLES;
	p->sampledImageDepthSampleCounts = TSV_SAMPLES;
	p->sampledImageStencilSampleCounts = TSV_SAMPLES;
	p->storageImageSampleCounts = VK_SAMPLE_COUNT_1_BIT;
}

static void set_vertex_limits(struct vk_properties *p)
{
	p->maxVertexInputAttributes = TSV_ATTRIBUTES;
	p->maxVertexInputBindings = TSV_ATTRIBUTES;
	p->maxVertexInputAttributeOffset = 2047;
	p->maxVertexInputBindingStride = 2048;
	p->maxVertexOutputComponents = VARYINGS;
	p->maxFragmentInputComponents = VARYINGS;
	p->maxDrawIndexedIndexValue = (1u << 24) - 1;
	p->maxDrawIndirectCount = 1u << 16;
}

static void set_raster_limits(struct vk_properties *p)
{
	p->subPixelPrecisionBits = TSR_SUBPIXEL_BITS;
	p->maxViewports = TSR_VIEWPORTS_MAX;
	p->maxViewportDimensions[0] = p->maxViewportDimensions[1] = TSR_FRAME_DIM_MAX;
	p->viewportBoundsRange[0] = -2.0f * TSR_FRAME_DIM_MAX;
	p->viewportBoundsRange[1] = 2.0f * TSR_FRAME_DIM_MAX - 1;
	p->viewportSubPixelBits = TSR_SUBPIXEL_BITS;
	p->pointSizeRange[0] = 1;
	p->pointSizeRange[1] = TC_POINT_SIZE_MAX;
	p->pointSizeGranularity = 0.125f;
	p->lineWidthRange[0] = p->lineWidthGranularity = 1;
	p->lineWidthRange[1] = LINE_WIDTH;
	p->maxClipDistances = p->maxCullDistances = DISTANCES;
	p->maxCombinedClipAndCullDistances = DISTANCES;
	p->standardSampleLocations = true;
	p->minInterpolationOffset = -0.5f;
	p->maxInterpolationOffset = 0.4375f;
	p->subPixelInterpolationOffsetBits = 4;
}

static void set_frame_limits(struct vk_properties *p)
{
	p->maxFramebufferWidth = TSR_FRAME_DIM_MAX;
	p->maxFramebufferHeight = TSR_FRAME_DIM_MAX;
	p->maxFramebufferLayers = TSR_FRAME_LAYERS_MAX;
	p->framebufferColorSampleCounts = TSV_SAMPLES;
	p->framebufferDepthSampleCounts = TSV_SAMPLES;
	p->framebufferStencilSampleCounts = TSV_SAMPLES;
	p->framebufferNoAttachmentsSampleCounts = TSV_SAMPLES;
	p->maxColorAttachments = TC_COLORS;
	p->maxFragmentOutputAttachments = TC_COLORS;
	p->maxFragmentDualSrcAttachments = 1;
	p->maxFragmentCombinedOutputResources = TC_COLORS + TSV_TABLE_SLOTS;
	p->maxPerStageDescriptorInputAttachments = TC_COLORS;
	p->maxDescriptorSetInputAttachments = TC_COLORS;
	p->maxMultiviewViewCount = 32;
	p->maxMultiviewInstanceIndex = (1u << 27) - 1;
	p->maxSampleMaskWords = 1;
	p->supportedDepthResolveModes = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT;
	p->supportedStencilResolveModes = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT;
	p->independentResolveNone = true;
	p->independentResolve = true;
	p->pointClippingBehavior = VK_POINT_CLIPPING_BEHAVIOR_ALL_CLIP_PLANES;
}

/* Limits of Vulkan 1.1. An allocation may be smaller than the limit and still fail. */
static void set_core11_limits(const struct drm_tessera_gpu_info *gpu, struct vk_properties *p)
{
	p->maxPerSetDescriptors = DESCRIPTORS;
	p->maxMemoryAllocationSize = MAX2(gpu->max_bo_size, ALLOCATION_SIZE);
	p->subgroupSize = tsv_subgroup_size();
	p->subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
	p->subgroupSupportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT;
}

static void set_limits(const struct tsv_physical_device *device, struct vk_properties *p)
{
	const struct drm_tessera_gpu_info *gpu = &device->gpu;

	p->maxMemoryAllocationCount = ALLOCATIONS;
	p->bufferImageGranularity = 1;
	p->sparseAddressSpaceSize = (gpu->va_end - gpu->va_start) / 2;
	p->sparseResidencyNonResidentStrict = true;
	p->minMemoryMapAlignment = 4096;
	p->optimalBufferCopyOffsetAlignment = 1;
	p->optimalBufferCopyRowPitchAlignment = 1;
	p->nonCoherentAtomSize = 1;
	p->discreteQueuePriorities = 2;
	p->maxPushConstantsSize = TSV_PUSH_BYTES;
	set_compute_limits(&device->shader, p);
	set_image_limits(p);
	set_vertex_limits(p);
	set_raster_limits(p);
	set_frame_limits(p);
	set_core11_limits(gpu, p);
	p->timestampComputeAndGraphics = true;
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

	tc_driver_uuid(p->driverUUID);
	tc_device_uuid(gpu, p->deviceUUID);
	hash(p->pipelineCacheUUID, note ? build_id_data(note) : NULL,
	     note ? build_id_length(note) : 0, p->deviceUUID, VK_UUID_SIZE);
}

static void set_properties(const struct tsv_physical_device *device, struct vk_properties *p)
{
	p->apiVersion = TSV_API_VERSION;
	p->driverVersion = vk_get_driver_version();
	p->vendorID = VENDOR_ID;
	p->deviceID = DEVICE_ID;
	p->deviceType = VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
	snprintf(p->deviceName, sizeof(p->deviceName), "Tessera (experimental, not conformant)");
	set_uuids(p, &device->gpu);
	set_limits(device, p);
}

/* Where the device is, for window systems that look for it. */
static void set_place(const struct tsv_physical_device *device, const struct _drmDevice *drm,
		      struct vk_properties *p)
{
	struct stat st;

	if (drm->bustype == DRM_BUS_PCI) {
		p->pciDomain = drm->businfo.pci->domain;
		p->pciBus = drm->businfo.pci->bus;
		p->pciDevice = drm->businfo.pci->dev;
		p->pciFunction = drm->businfo.pci->func;
	}
	if (!stat(device->path, &st)) {
		p->drmHasRender = true;
		p->drmRenderMajor = major(st.st_rdev);
		p->drmRenderMinor = minor(st.st_rdev);
	}
	if (device->card[0] && !stat(device->card, &st)) {
		p->drmHasPrimary = true;
		p->drmPrimaryMajor = major(st.st_rdev);
		p->drmPrimaryMinor = minor(st.st_rdev);
	}
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
	tsv_sync_init(device, tsr_device_fd(tsr));
	tsr_device_unref(tsr);
	return device->syncobj.features & VK_SYNC_FEATURE_TIMELINE ? 0 : -EOPNOTSUPP;
}

/*
 * GTK 4.18 ends a program on a device that has DRM format modifiers and no conversion of YCbCr,
 * though Vulkan 1.1 allows that. It works without modifiers.
 */
static struct vk_device_extension_table extensions_for(const struct vk_instance *instance)
{
	struct vk_device_extension_table extensions = device_extensions;
	const char *engine = instance->app_info.engine_name;

	if (engine && !strcmp(engine, "GTK"))
		extensions.EXT_image_drm_format_modifier = false;
	return extensions;
}

VkResult tsv_physical_device_create(struct vk_instance *instance, struct _drmDevice *drm,
				    struct vk_physical_device **out)
{
	const struct vk_device_extension_table extensions = extensions_for(instance);
	struct vk_physical_device_dispatch_table table;
	struct vk_properties properties = { 0 };
	struct tsv_physical_device *device;
	struct vk_features features;
	VkResult result;
	int ret;

	if (!is_tessera(drm) || !opted_in())
		return VK_ERROR_INCOMPATIBLE_DRIVER;
	device = vk_zalloc(&instance->alloc, sizeof(*device), 8,
			   VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE);
	if (!device)
		return vk_error(instance, VK_ERROR_OUT_OF_HOST_MEMORY);
	snprintf(device->path, sizeof(device->path), "%s", drm->nodes[DRM_NODE_RENDER]);
	if (drm->available_nodes & 1 << DRM_NODE_PRIMARY)
		snprintf(device->card, sizeof(device->card), "%s", drm->nodes[DRM_NODE_PRIMARY]);
	ret = query(device);
	if (ret) {
		vk_free(&instance->alloc, device);
		return vk_errorf(instance, VK_ERROR_INCOMPATIBLE_DRIVER, "%s: %s",
				 drm->nodes[DRM_NODE_RENDER], strerror(-ret));
	}
	set_memory(device);
	set_properties(device, &properties);
	set_place(device, drm, &properties);
	features = features_of(device);
	vk_physical_device_dispatch_table_from_entrypoints(&table,
							   &tsv_physical_device_entrypoints, true);
	vk_physical_device_dispatch_table_from_entrypoints(&table,
							   &wsi_physical_device_entrypoints, false);
	result = vk_physical_device_init(&device->vk, instance, &extensions,
					 &features, &properties, &table);
	if (result != VK_SUCCESS) {
		vk_free(&instance->alloc, device);
		return result;
	}
	device->vk.supported_sync_types = device->sync_types;
	result = tsv_wsi_init(device);
	if (result != VK_SUCCESS) {
		vk_physical_device_finish(&device->vk);
		vk_free(&instance->alloc, device);
		return result;
	}
	vk_warn_non_conformant_implementation("tessera");
	*out = &device->vk;
	return VK_SUCCESS;
}

void tsv_physical_device_destroy(struct vk_physical_device *device)
{
	struct tsv_physical_device *physical = container_of(device, struct tsv_physical_device,
							    vk);
	struct vk_instance *instance = device->instance;

	tsv_wsi_finish(physical);
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
			.queueFlags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT |
				      VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT,
			.queueCount = QUEUES_MAIN,
			.timestampValidBits = 64,
			.minImageTransferGranularity = granularity,
		};
	}
	vk_outarray_append_typed(VkQueueFamilyProperties2, &out, p) {
		p->queueFamilyProperties = (VkQueueFamilyProperties){
			.queueFlags = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT,
			.queueCount = QUEUES_TRANSFER,
			.timestampValidBits = 64,
			.minImageTransferGranularity = granularity,
		};
	}
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
