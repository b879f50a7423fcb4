/* SPDX-License-Identifier: MIT */
/*
 * VK_EXT_device_fault names the exact address, the way it was accessed, and the thread. Each fault
 * loses a device of its own. The validation layers take the objects of a lost device for used for
 * ever, so they are left out.
 */
#include "vk.h"

#include "fault.h"

#define NOWHERE		0x7654321000ull	/* nothing is mapped there */
#define GROUP		3
#define THREAD		37		/* lane 5 of warp 2 */
#define DETAILS		9

static const char *const extensions[] = { VK_EXT_DEVICE_FAULT_EXTENSION_NAME,
					  VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, NULL };
static struct vk vk;

/* The device's report, with room for more. */
struct report {
	VkDeviceFaultCountsEXT counts;
	VkDeviceFaultInfoEXT info;
	VkDeviceFaultAddressInfoEXT addresses[4];
	VkDeviceFaultVendorInfoEXT details[16];
};

static void get_report(struct report *r)
{
	const PFN_vkGetDeviceFaultInfoEXT get = VK_FUNCTION(&vk, vkGetDeviceFaultInfoEXT);
	uint32_t addresses, details;

	*r = (struct report){
		.counts.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT,
		.info = { .sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT,
			  .pAddressInfos = r->addresses,
			  .pVendorInfos = r->details },
	};
	ktap_eq(get(vk.device, &r->counts, NULL), VK_SUCCESS);
	addresses = r->counts.addressInfoCount;
	details = r->counts.vendorInfoCount;
	ktap_eq(r->counts.vendorBinarySize, 0);
	if (details) {
		r->counts.vendorInfoCount = details - 1;
		ktap_eq(get(vk.device, &r->counts, &r->info), VK_INCOMPLETE);
		ktap_eq(r->counts.vendorInfoCount, details - 1);
	}
	r->counts.addressInfoCount = 4;
	r->counts.vendorInfoCount = 16;
	ktap_eq(get(vk.device, &r->counts, &r->info), VK_SUCCESS);
	ktap_eq(r->counts.addressInfoCount, addresses);
	ktap_eq(r->counts.vendorInfoCount, details);
}

static uint64_t detail(const struct report *r, const char *name)
{
	uint32_t i;

	for (i = 0; i < r->counts.vendorInfoCount; i++) {
		if (!strcmp(r->details[i].description, name))
			return r->details[i].vendorFaultData;
	}
	ktap_fail("no detail: %s", name);
	return 0;
}

static VkPipeline make_pipeline(VkPipelineLayout *layout)
{
	const VkShaderModuleCreateInfo module = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = sizeof(fault),
		.pCode = fault,
	};
	const VkPushConstantRange push = { VK_SHADER_STAGE_COMPUTE_BIT, 0, 24 };
	const VkPipelineLayoutCreateInfo layout_info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.pushConstantRangeCount = 1,
		.pPushConstantRanges = &push,
	};
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT,
		.stage.pName = "main",
	};
	VkPipeline pipeline;

	VK(vkCreateShaderModule(vk.device, &module, NULL, &info.stage.module));
	VK(vkCreatePipelineLayout(vk.device, &layout_info, NULL, layout));
	info.layout = *layout;
	VK(vkCreateComputePipelines(vk.device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
	vkDestroyShaderModule(vk.device, info.stage.module, NULL);
	return pipeline;
}

/* Let one thread access an address, and wait for the device to be lost. */
static void access_address(uint64_t address, bool store, struct report *r)
{
	const struct {
		uint64_t at;
		uint32_t group, thread, store;
	} push = { address, GROUP, THREAD, store };
	VkFence fence = vk_fence(&vk);
	VkPipelineLayout layout;
	VkPipeline pipeline = make_pipeline(&layout);
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 20, &push);
	vkCmdDispatch(cmd, 2, 5, 1);
	VK(vkEndCommandBuffer(cmd));
	vk_submit(vk.queue[0][0], cmd, VK_NULL_HANDLE, VK_NULL_HANDLE, fence);
	ktap_eq(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, VK_SOON), VK_ERROR_DEVICE_LOST);
	get_report(r);
	vkDestroyFence(vk.device, fence, NULL);
	vkDestroyPipeline(vk.device, pipeline, NULL);
	vkDestroyPipelineLayout(vk.device, layout, NULL);
}

static void check_access(uint64_t address, bool store)
{
	struct report r;

	vk_open(&vk, extensions);
	access_address(address, store, &r);
	ktap_ok(strstr(r.info.description, "compute"));
	ktap_eq(r.counts.addressInfoCount, 2);
	ktap_eq(r.addresses[0].addressType, store ? VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT
						  : VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT);
	ktap_eq(r.addresses[0].reportedAddress, address);
	ktap_eq(r.addresses[0].addressPrecision, 1);
	ktap_eq(r.addresses[1].addressType,
		VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT);
	ktap_ok(r.addresses[1].reportedAddress);
	ktap_eq(r.counts.vendorInfoCount, DETAILS);
	ktap_eq(detail(&r, "address of the clause"), r.addresses[1].reportedAddress);
	ktap_ok(detail(&r, "address of the packet"));
	ktap_eq(detail(&r, "lane of the warp"), THREAD % 16);
	ktap_eq(detail(&r, "warp of the group"), THREAD / 16);
	ktap_eq(detail(&r, "group, y"), GROUP);
	ktap_eq(detail(&r, "group, z"), 0);
	vk_close(&vk);
}

static void load(void)
{
	check_access(NOWHERE + 0x124, false);
}

static void store(void)
{
	check_access(NOWHERE + 0x5ffc, true);
}

/* A device that works has nothing to report. */
static void nothing(void)
{
	struct report r;

	vk_open(&vk, extensions);
	get_report(&r);
	ktap_eq(r.counts.addressInfoCount, 0);
	ktap_eq(r.counts.vendorInfoCount, 0);
	vk_close(&vk);
}

/* layers: none */
/* says: a compute job failed: */
int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("a load from an address where nothing is", load);
	ktap_run("a store to an address where nothing is", store);
	ktap_run("a device that works", nothing);
	return ktap_finish();
}
