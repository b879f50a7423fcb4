// SPDX-License-Identifier: MIT
/*
 * Faults. The kernel keeps a record of the job that a queue was banned for. The driver reads it
 * once, for the log and for VK_EXT_device_fault.
 */
#include "tsv_device.h"

#include "tsr_enums.h"
#include "util/log.h"
#include "vk_util.h"

#define CLAUSE_BYTES	16u	/* alignment of a clause */

/* How memory was accessed, from the address space's record of that address. */
static VkDeviceFaultAddressTypeEXT access_type(struct tsv_device *device, uint64_t va)
{
	struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS];
	uint32_t count = DRM_TESSERA_FAULT_RECORDS, i;

	if (tsr_vm_get_faults(device->vm, faults, sizeof(faults[0]), &count))
		return VK_DEVICE_FAULT_ADDRESS_TYPE_NONE_EXT;
	for (i = count; i--;) {
		if (faults[i].va != ROUND_DOWN_TO(va, 4096))
			continue;
		if (faults[i].access == DRM_TESSERA_BIND_WRITE)
			return VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT;
		if (faults[i].access == DRM_TESSERA_BIND_EXEC)
			return VK_DEVICE_FAULT_ADDRESS_TYPE_EXECUTE_INVALID_EXT;
		return VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT;
	}
	return VK_DEVICE_FAULT_ADDRESS_TYPE_NONE_EXT;
}

static bool is_access(uint32_t code)
{
	return code >= TSR_FAULT_MMU_UNMAPPED && code <= TSR_FAULT_BUS;
}

void tsv_fault_report(struct tsv_device *device, const char *engine,
		      const struct drm_tessera_queue_get_state *s)
{
	struct tsv_fault *fault = &device->fault;

	simple_mtx_lock(&device->lock);
	if (!fault->engine) {
		fault->engine = engine;
		fault->state = *s;
		if (is_access(s->fault_code))
			fault->access = access_type(device, s->fault_va);
		mesa_loge("tessera: a %s job failed: %s; fault 0x%x, packet 0x%llx, address "
			  "0x%llx, clause 0x%llx, tuple %u, lane %u, warp %u, group %u %u %u",
			  engine, tsr_error_string((int)s->error), s->fault_code,
			  (unsigned long long)s->fault_packet_va, (unsigned long long)s->fault_va,
			  (unsigned long long)s->fault_clause_va, s->fault_tuple, s->fault_lane,
			  s->fault_warp, s->fault_group[0], s->fault_group[1], s->fault_group[2]);
	}
	simple_mtx_unlock(&device->lock);
}

/* The address that was accessed, and that of the instruction. Returns how many there are. */
static unsigned list_addresses(const struct tsv_fault *fault, VkDeviceFaultAddressInfoEXT out[2])
{
	const struct drm_tessera_queue_get_state *s = &fault->state;
	unsigned count = 0;

	if (s->fault_code)
		out[count++] = (VkDeviceFaultAddressInfoEXT){ fault->access, s->fault_va, 1 };
	if (s->fault_flags & DRM_TESSERA_QUEUE_FAULT_PROGRAM)
		out[count++] = (VkDeviceFaultAddressInfoEXT){
			VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT,
			s->fault_clause_va, CLAUSE_BYTES };
	return count;
}

/* Each entry has the fault's code and one number; those of a shader exist only for its faults. */
static void list_details(const struct tsv_fault *fault, VkDeviceFaultVendorInfoEXT *out,
			 uint32_t *most)
{
	const struct drm_tessera_queue_get_state *s = &fault->state;
	const struct {
		const char *name;
		uint64_t value;
	} details[] = {
		{ "address of the packet", s->fault_packet_va },
		{ "address of the clause", s->fault_clause_va },
		{ "tuple of the clause", s->fault_tuple },
		{ "lane of the warp", s->fault_lane },
		{ "warp of the group", s->fault_warp },
		{ "shader core", s->fault_core },
		{ "group, x", s->fault_group[0] },
		{ "group, y", s->fault_group[1] },
		{ "group, z", s->fault_group[2] },
	};
	const unsigned count = s->fault_flags & DRM_TESSERA_QUEUE_FAULT_PROGRAM
				       ? ARRAY_SIZE(details) : s->fault_packet_va ? 1 : 0;
	VK_OUTARRAY_MAKE_TYPED(VkDeviceFaultVendorInfoEXT, list, out, most);
	unsigned i;

	for (i = 0; i < count; i++) {
		vk_outarray_append_typed(VkDeviceFaultVendorInfoEXT, &list, d) {
			snprintf(d->description, sizeof(d->description), "%s", details[i].name);
			d->vendorFaultCode = s->fault_code;
			d->vendorFaultData = details[i].value;
		}
	}
}

static void describe(const struct tsv_fault *fault, char out[VK_MAX_DESCRIPTION_SIZE])
{
	if (fault->engine)
		snprintf(out, VK_MAX_DESCRIPTION_SIZE, "a %s job failed: %s, fault 0x%x",
			 fault->engine, tsr_error_string((int)fault->state.error),
			 fault->state.fault_code);
	else
		snprintf(out, VK_MAX_DESCRIPTION_SIZE, "no job failed");
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_GetDeviceFaultInfoEXT(VkDevice handle,
							 VkDeviceFaultCountsEXT *counts,
							 VkDeviceFaultInfoEXT *info)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VkDeviceFaultAddressInfoEXT addresses[2];
	uint32_t address_count, details = UINT32_MAX, i;
	struct tsv_fault fault;
	VkResult result;

	/* a device can be lost before anything has asked for the state of its queues */
	vk_foreach_queue(queue, &device->vk)
		tsv_queue_is_banned(container_of(queue, struct tsv_queue, vk));
	simple_mtx_lock(&device->lock);
	fault = device->fault;
	simple_mtx_unlock(&device->lock);
	address_count = list_addresses(&fault, addresses);
	list_details(&fault, NULL, &details);
	counts->vendorBinarySize = 0;
	if (!info) {
		counts->addressInfoCount = address_count;
		counts->vendorInfoCount = details;
		return VK_SUCCESS;
	}
	result = counts->addressInfoCount < address_count || counts->vendorInfoCount < details
			 ? VK_INCOMPLETE : VK_SUCCESS;
	describe(&fault, info->description);
	counts->addressInfoCount = MIN2(counts->addressInfoCount, address_count);
	for (i = 0; i < counts->addressInfoCount; i++)
		info->pAddressInfos[i] = addresses[i];
	list_details(&fault, info->pVendorInfos, &counts->vendorInfoCount);
	return result;
}
