/* SPDX-License-Identifier: MIT */
/*
 * Vulkan 1.1: what it demands beyond Vulkan 1.0, by functions of the core without extensions. The
 * parts that other programs test as extensions are not repeated: views, draw parameters, storage of
 * 16 bits, external memory and semaphores.
 */
#include "vk.h"

#include "graph.h"
#include "subgroup.h"

#define SIZE		8u	/* threads of a subgroup */
#define THREADS		72u	/* of subgroup.comp */
#define WORDS		1024u

static struct vk vk;

/* ---- Properties and features ----------------------------------------------------------------- */

static void versions(void)
{
	uint32_t version = 0;

	VK(vkEnumerateInstanceVersion(&version));
	ktap_ok(version >= VK_API_VERSION_1_1);
	ktap_eq(VK_API_VERSION_MINOR(vk.properties.apiVersion), 1);
	ktap_ok(strstr(vk.properties.deviceName, "not conformant"));
}

/* The least values are those of the specification. */
static void limits(void)
{
	VkPhysicalDeviceSubgroupProperties subgroup = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
	};
	VkPhysicalDeviceMaintenance3Properties maintenance = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
		.pNext = &subgroup,
	};
	VkPhysicalDeviceMultiviewProperties views = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_PROPERTIES,
		.pNext = &maintenance,
	};
	VkPhysicalDeviceProtectedMemoryProperties protected = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_PROPERTIES,
		.pNext = &views,
	};
	VkPhysicalDeviceIDProperties id = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
		.pNext = &protected,
	};
	VkPhysicalDeviceProperties2 all = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
		.pNext = &id,
	};
	static const uint8_t none[VK_UUID_SIZE];

	vkGetPhysicalDeviceProperties2(vk.physical, &all);
	ktap_eq(subgroup.subgroupSize, SIZE);
	ktap_eq(subgroup.supportedStages, VK_SHADER_STAGE_COMPUTE_BIT);
	ktap_eq(subgroup.supportedOperations, VK_SUBGROUP_FEATURE_BASIC_BIT);
	ktap_eq(subgroup.quadOperationsInAllStages, VK_FALSE);
	ktap_ok(maintenance.maxPerSetDescriptors >= 1024);
	ktap_ok(maintenance.maxMemoryAllocationSize >= 1u << 30);
	ktap_ok(views.maxMultiviewViewCount >= 6);
	ktap_ok(views.maxMultiviewInstanceIndex >= (1u << 27) - 1);
	ktap_eq(protected.protectedNoFault, VK_FALSE);
	ktap_ok(memcmp(id.deviceUUID, none, VK_UUID_SIZE));
	ktap_ok(memcmp(id.driverUUID, none, VK_UUID_SIZE));
	ktap_eq(id.deviceLUIDValid, VK_FALSE);
}

/* Views are the only feature that Vulkan 1.1 demands. */
static void features(void)
{
	VkPhysicalDeviceMultiviewFeatures views = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_FEATURES,
	};
	VkPhysicalDeviceProtectedMemoryFeatures protected = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES,
		.pNext = &views,
	};
	VkPhysicalDeviceSamplerYcbcrConversionFeatures ycbcr = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SAMPLER_YCBCR_CONVERSION_FEATURES,
		.pNext = &protected,
	};
	VkPhysicalDeviceVariablePointersFeatures pointers = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VARIABLE_POINTERS_FEATURES,
		.pNext = &ycbcr,
	};
	VkPhysicalDeviceFeatures2 all = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
		.pNext = &pointers,
	};

	vkGetPhysicalDeviceFeatures2(vk.physical, &all);
	ktap_eq(views.multiview, VK_TRUE);
	ktap_eq(protected.protectedMemory, VK_FALSE);
	ktap_eq(ycbcr.samplerYcbcrConversion, VK_FALSE);
	ktap_eq(pointers.variablePointersStorageBuffer, VK_FALSE);
	ktap_eq(pointers.variablePointers, VK_FALSE);
	ktap_eq(all.features.robustBufferAccess, VK_TRUE);
}

static void shared_objects(void)
{
	const VkPhysicalDeviceExternalBufferInfo buffer = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
		.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
		.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT,
	};
	const VkPhysicalDeviceExternalSemaphoreInfo semaphore = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
		.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT,
	};
	const VkPhysicalDeviceExternalFenceInfo fence = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_FENCE_INFO,
		.handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT,
	};
	VkExternalBufferProperties b = { .sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES };
	VkExternalSemaphoreProperties s = {
		.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES,
	};
	VkExternalFenceProperties f = { .sType = VK_STRUCTURE_TYPE_EXTERNAL_FENCE_PROPERTIES };

	vkGetPhysicalDeviceExternalBufferProperties(vk.physical, &buffer, &b);
	vkGetPhysicalDeviceExternalSemaphoreProperties(vk.physical, &semaphore, &s);
	vkGetPhysicalDeviceExternalFenceProperties(vk.physical, &fence, &f);
	ktap_eq(b.externalMemoryProperties.externalMemoryFeatures,
		VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT |
			VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT);
	ktap_eq(s.externalSemaphoreFeatures, VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT |
						     VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT);
	ktap_eq(f.externalFenceFeatures, VK_EXTERNAL_FENCE_FEATURE_EXPORTABLE_BIT |
						 VK_EXTERNAL_FENCE_FEATURE_IMPORTABLE_BIT);
}

/* ---- Compute --------------------------------------------------------------------------------- */

/* A pipeline with storage buffers, and a set that an update template fills. */
struct job {
	VkDescriptorSetLayout set_layout;
	VkPipelineLayout layout;
	VkPipeline pipeline;
	VkDescriptorPool pool;
	VkDescriptorSet set;
};

static void make_layouts(struct job *job, uint32_t count)
{
	const VkDescriptorSetLayoutBinding bindings[2] = {
		{ 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL },
		{ 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL },
	};
	const VkDescriptorSetLayoutCreateInfo set = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = count,
		.pBindings = bindings,
	};
	const VkPushConstantRange push = { VK_SHADER_STAGE_COMPUTE_BIT, 0, 8 };
	const VkPipelineLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = 1,
		.pSetLayouts = &job->set_layout,
		.pushConstantRangeCount = 1,
		.pPushConstantRanges = &push,
	};
	VkDescriptorSetLayoutSupport support = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_SUPPORT,
	};

	vkGetDescriptorSetLayoutSupport(vk.device, &set, &support);
	ktap_eq(support.supported, VK_TRUE);
	VK(vkCreateDescriptorSetLayout(vk.device, &set, NULL, &job->set_layout));
	VK(vkCreatePipelineLayout(vk.device, &info, NULL, &job->layout));
}

static void make_pipeline(struct job *job, const uint32_t *code, size_t size)
{
	const VkShaderModuleCreateInfo module = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = size,
		.pCode = code,
	};
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.flags = VK_PIPELINE_CREATE_DISPATCH_BASE,
		.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT,
		.stage.pName = "main",
		.layout = job->layout,
	};

	VK(vkCreateShaderModule(vk.device, &module, NULL, &info.stage.module));
	VK(vkCreateComputePipelines(vk.device, VK_NULL_HANDLE, 1, &info, NULL, &job->pipeline));
	vkDestroyShaderModule(vk.device, info.stage.module, NULL);
}

static void fill_set(struct job *job, const struct vk_buf *const *bufs, uint32_t count)
{
	const VkDescriptorUpdateTemplateEntry entries[2] = {
		{ 0, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 0, 0 },
		{ 1, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, sizeof(VkDescriptorBufferInfo), 0 },
	};
	const VkDescriptorUpdateTemplateCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO,
		.descriptorUpdateEntryCount = count,
		.pDescriptorUpdateEntries = entries,
		.descriptorSetLayout = job->set_layout,
	};
	const VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 };
	const VkDescriptorPoolCreateInfo pool = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = 1,
		.poolSizeCount = 1,
		.pPoolSizes = &size,
	};
	VkDescriptorSetAllocateInfo alloc = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorSetCount = 1,
		.pSetLayouts = &job->set_layout,
	};
	VkDescriptorBufferInfo values[2];
	VkDescriptorUpdateTemplate template;
	uint32_t i;

	for (i = 0; i < count; i++)
		values[i] = (VkDescriptorBufferInfo){ bufs[i]->buffer, 0, VK_WHOLE_SIZE };
	VK(vkCreateDescriptorPool(vk.device, &pool, NULL, &job->pool));
	alloc.descriptorPool = job->pool;
	VK(vkAllocateDescriptorSets(vk.device, &alloc, &job->set));
	VK(vkCreateDescriptorUpdateTemplate(vk.device, &info, NULL, &template));
	vkUpdateDescriptorSetWithTemplate(vk.device, job->set, template, values);
	vkDestroyDescriptorUpdateTemplate(vk.device, template, NULL);
}

static struct job make_job(const uint32_t *code, size_t size, const struct vk_buf *const *bufs,
			   uint32_t count)
{
	struct job job;

	make_layouts(&job, count);
	make_pipeline(&job, code, size);
	fill_set(&job, bufs, count);
	return job;
}

static void drop_job(struct job *job)
{
	vkDestroyPipeline(vk.device, job->pipeline, NULL);
	vkDestroyPipelineLayout(vk.device, job->layout, NULL);
	vkDestroyDescriptorPool(vk.device, job->pool, NULL);
	vkDestroyDescriptorSetLayout(vk.device, job->set_layout, NULL);
}

static VkCommandBuffer bind_job(const struct job *job)
{
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, job->pipeline);
	vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, job->layout, 0, 1, &job->set,
				0, NULL);
	return cmd;
}

/*
 * Thread i is number i % SIZE of subgroup i / SIZE. Threads of a subgroup elect the one with the
 * lowest number, or of the odd ones the lowest of these.
 */
static void subgroups(void)
{
	struct vk_buf out = vk_buf_create(&vk, 32 * THREADS, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
	const struct vk_buf *bufs[] = { &out };
	struct job job = make_job(subgroup, sizeof(subgroup), bufs, 1);
	const uint32_t(*ids)[4] = out.map, (*found)[4] = ids + THREADS;
	VkCommandBuffer cmd = bind_job(&job);
	uint32_t i;

	memset(out.map, 0xee, 32 * THREADS);
	vkCmdDispatch(cmd, 1, 1, 1);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < THREADS; i++) {
		const uint32_t first = i / SIZE * SIZE;

		ktap_eq(ids[i][0], i / SIZE);
		ktap_eq(ids[i][1], i % SIZE);
		ktap_eq(ids[i][2], THREADS / SIZE);
		ktap_eq(ids[i][3], SIZE);
		ktap_eq(found[i][0], i == first);
		ktap_eq(found[i][1], i == first + 1);
		ktap_eq(found[i][2], 1000 + first);
		ktap_eq(found[i][3], 2000 + first + 1);
	}
	drop_job(&job);
	vk_buf_destroy(&vk, &out);
}

/* ---- Device groups --------------------------------------------------------------------------- */

static void groups(void)
{
	VkPhysicalDeviceGroupProperties group = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES,
	};
	uint32_t count = 0;

	VK(vkEnumeratePhysicalDeviceGroups(vk.instance, &count, NULL));
	ktap_eq(count, 1);
	count = 1;
	VK(vkEnumeratePhysicalDeviceGroups(vk.instance, &count, &group));
	ktap_eq(group.physicalDeviceCount, 1);
	ktap_ok(group.physicalDevices[0] == vk.physical);
}

/* A buffer whose memory is bound by the functions of a device group. */
static struct vk_buf bound_by_group(void)
{
	const VkBufferCreateInfo create = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
					    .size = 4 * WORDS,
					    .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT };
	static const uint32_t device;
	const VkBindBufferMemoryDeviceGroupInfo group = {
		.sType = VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_DEVICE_GROUP_INFO,
		.deviceIndexCount = 1,
		.pDeviceIndices = &device,
	};
	VkBufferMemoryRequirementsInfo2 info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2,
	};
	VkMemoryDedicatedRequirements dedicated = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS,
		.requiresDedicatedAllocation = 7,
	};
	VkMemoryRequirements2 needs = { .sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2,
					.pNext = &dedicated };
	const VkMemoryAllocateFlagsInfo flags = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
		.flags = VK_MEMORY_ALLOCATE_DEVICE_MASK_BIT,
		.deviceMask = 1,
	};
	VkMemoryAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
				       .pNext = &flags };
	VkBindBufferMemoryInfo bind = { .sType = VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO,
					.pNext = &group };
	struct vk_buf buf = { .size = 4 * WORDS };

	VK(vkCreateBuffer(vk.device, &create, NULL, &buf.buffer));
	info.buffer = buf.buffer;
	vkGetBufferMemoryRequirements2(vk.device, &info, &needs);
	ktap_eq(dedicated.requiresDedicatedAllocation, VK_FALSE);
	alloc.allocationSize = needs.memoryRequirements.size;
	VK(vkAllocateMemory(vk.device, &alloc, NULL, &buf.memory));
	bind.buffer = buf.buffer;
	bind.memory = buf.memory;
	VK(vkBindBufferMemory2(vk.device, 1, &bind));
	VK(vkMapMemory(vk.device, buf.memory, 0, VK_WHOLE_SIZE, 0, &buf.map));
	return buf;
}

/* The groups of a dispatch are numbered from a base. The threads before it do nothing. */
static void base_of_dispatch(void)
{
	struct vk_buf from = bound_by_group(), to = bound_by_group();
	const struct vk_buf *bufs[] = { &from, &to };
	struct job job = make_job(graph, sizeof(graph), bufs, 2);
	const uint32_t push[2] = { 3, 5 };
	uint32_t *a = from.map, *b = to.map, i;
	VkCommandBuffer cmd;

	for (i = 0; i < WORDS; i++)
		a[i] = i;
	memset(b, 0, 4 * WORDS);
	cmd = bind_job(&job);
	vkCmdPushConstants(cmd, job.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, push);
	vkCmdSetDeviceMask(cmd, 1);
	vkCmdDispatchBase(cmd, 4, 0, 0, WORDS / 64 - 4, 1, 1);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < WORDS; i++)
		ktap_eq(b[i], i < 256 ? 0 : 3 * i + 5);
	vkTrimCommandPool(vk.device, vk.pool[0], 0);
	drop_job(&job);
	vk_buf_destroy(&vk, &from);
	vk_buf_destroy(&vk, &to);
}

static void queues(void)
{
	VkDeviceQueueInfo2 info = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2 };
	VkQueue queue = VK_NULL_HANDLE;

	vkGetDeviceQueue2(vk.device, &info, &queue);
	ktap_ok(queue == vk.queue[0][0]);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open_version(&vk, VK_API_VERSION_1_1, NULL);
	ktap_run("the version is 1.1", versions);
	ktap_run("limits of Vulkan 1.1", limits);
	ktap_run("features of Vulkan 1.1", features);
	ktap_run("what can be shared", shared_objects);
	ktap_run("subgroups of compute shaders", subgroups);
	ktap_run("a group of one device", groups);
	ktap_run("memory of a group, and a dispatch with a base", base_of_dispatch);
	ktap_run("queues by their flags", queues);
	vk_close(&vk);
	return ktap_finish();
}
