// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * Fault records: from the registers of a slot to an errno, a line in the log and
 * a record of the VM.
 */

#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/timekeeping.h>

#include <drm/drm_print.h>
#include <drm/tessera_drm.h>

#include "tessera_device.h"
#include "tessera_fault.h"
#include "tessera_queue.h"
#include "tessera_trace.h"
#include "tessera_vm.h"

/**
 * struct tessera_fault_info - what the description says about a fault code
 */
struct tessera_fault_info {
	/** @name: Its name. */
	const char *name;
	/** @error: Error of the fence of the job, negative. */
	int error;
};

#define FAULT_INFO(_name, _number, _errno) \
	[_number] = { .name = #_name, .error = -(_errno) },

static const struct tessera_fault_info tessera_faults[] = {
	TSR_FAULT__TABLE(FAULT_INFO)
};

/**
 * tessera_fault_read() - read the fault record of a slot
 * @tdev: device, inside drm_dev_enter()
 * @slot: slot in state FAULTED
 * @fault: filled in
 */
void tessera_fault_read(struct tessera_device *tdev, u32 slot, struct tessera_hw_fault *fault)
{
	u32 word = tessera_read(tdev, TSR_REG_QUEUE_FAULT(slot));
	unsigned int i;

	fault->code = FIELD_GET(TSR_QUEUE_FAULT_CODE__MASK, word);
	fault->access = FIELD_GET(TSR_QUEUE_FAULT_ACCESS__MASK, word);
	fault->level = FIELD_GET(TSR_QUEUE_FAULT_LEVEL__MASK, word);
	fault->as = tessera_read(tdev, TSR_REG_QUEUE_FAULT_AS(slot));
	fault->addr = tessera_read64(tdev, TSR_REG_QUEUE_FAULT_ADDR(slot));
	fault->pc = tessera_read64(tdev, TSR_REG_QUEUE_FAULT_PC(slot));
	fault->shader = tessera_read(tdev, TSR_REG_QUEUE_FAULT_SHADER(slot));
	fault->clause = tessera_read64(tdev, TSR_REG_QUEUE_FAULT_CLAUSE(slot));
	for (i = 0; i < ARRAY_SIZE(fault->group); i++)
		fault->group[i] = tessera_read(tdev, TSR_REG_QUEUE_FAULT_GROUP(slot, i));
}

static bool fault_of_program(const struct tessera_hw_fault *fault)
{
	return fault->shader & TSR_QUEUE_FAULT_SHADER_VALID__MASK;
}

/**
 * tessera_fault_name() - name of a fault code
 * @code: enum tsr_fault
 *
 * Return: the name the hardware description gives it.
 */
const char *tessera_fault_name(u32 code)
{
	if (code < ARRAY_SIZE(tessera_faults) && tessera_faults[code].name)
		return tessera_faults[code].name;

	return "unknown";
}

/**
 * tessera_fault_errno() - what the fence of the job carries
 * @code: enum tsr_fault
 *
 * Return: negative error; -EIO for a code this driver does not know.
 */
int tessera_fault_errno(u32 code)
{
	if (code < ARRAY_SIZE(tessera_faults) && tessera_faults[code].error)
		return tessera_faults[code].error;

	return -EIO;
}

/* Did an access fail in the page tables or on the bus? Then the VM keeps a record. */
static bool fault_of_memory(const struct tessera_hw_fault *fault)
{
	switch (fault->code) {
	case TSR_FAULT_MMU_UNMAPPED:
	case TSR_FAULT_MMU_PERMISSION:
	case TSR_FAULT_MMU_WALK:
	case TSR_FAULT_MMU_WALK_BUS:
	case TSR_FAULT_BUS:
		return true;
	default:
		return false;
	}
}

static u32 fault_reason(struct tessera_device *tdev, const struct tessera_hw_fault *fault)
{
	switch (fault->code) {
	case TSR_FAULT_MMU_PERMISSION:
		return DRM_TESSERA_FAULT_PERMISSION;
	case TSR_FAULT_MMU_WALK:
		return DRM_TESSERA_FAULT_PAGE_TABLE;
	case TSR_FAULT_MMU_WALK_BUS:
		return DRM_TESSERA_FAULT_WALK_BUS;
	case TSR_FAULT_BUS:
		return DRM_TESSERA_FAULT_BUS;
	default:
		if (fault->addr >> tdev->info.va_bits)
			return DRM_TESSERA_FAULT_ADDRESS;
		return DRM_TESSERA_FAULT_NOT_MAPPED;
	}
}

static u32 fault_access(const struct tessera_hw_fault *fault)
{
	switch (fault->access) {
	case TSR_ACCESS_WRITE:
		return DRM_TESSERA_BIND_WRITE;
	case TSR_ACCESS_EXEC:
		return DRM_TESSERA_BIND_EXEC;
	default:
		return DRM_TESSERA_BIND_READ;
	}
}

/**
 * tessera_fault_get_state() - the record as user space sees it
 * @fault: fault record, all zero if there was no fault
 * @state: its fields about the fault are written, all of them
 */
void tessera_fault_get_state(const struct tessera_hw_fault *fault,
			     struct drm_tessera_queue_get_state *state)
{
	bool program = fault_of_program(fault), add;
	unsigned int i;

	add = fault->shader & TSR_QUEUE_FAULT_SHADER_ADD__MASK;
	state->fault_code = fault->code;
	state->fault_packet_va = fault->pc;
	state->fault_va = fault->addr;
	state->fault_flags = (program ? DRM_TESSERA_QUEUE_FAULT_PROGRAM : 0) |
			     (program && add ? DRM_TESSERA_QUEUE_FAULT_ADD : 0);
	state->fault_clause_va = program ? fault->clause : 0;
	state->fault_tuple = program ? FIELD_GET(TSR_QUEUE_FAULT_SHADER_TUPLE__MASK,
						 fault->shader) : 0;
	state->fault_lane = program ? FIELD_GET(TSR_QUEUE_FAULT_SHADER_LANE__MASK,
						fault->shader) : 0;
	state->fault_warp = program ? FIELD_GET(TSR_QUEUE_FAULT_SHADER_WARP__MASK,
						fault->shader) : 0;
	state->fault_core = program ? FIELD_GET(TSR_QUEUE_FAULT_SHADER_CORE__MASK,
						fault->shader) : 0;
	for (i = 0; i < ARRAY_SIZE(fault->group); i++)
		state->fault_group[i] = program ? fault->group[i] : 0;
}

/* One line of the log. Faults are caused by user space, so they cannot flood it. */
static void fault_log(struct tessera_queue *queue, const struct tessera_hw_fault *fault)
{
	struct drm_tessera_queue_get_state at;

	tessera_fault_get_state(fault, &at);
	if (!fault_of_program(fault)) {
		drm_dbg(&queue->tdev->drm, "%s: fault %s at %#llx, packet at %#llx\n",
			queue->timeline->name, tessera_fault_name(fault->code), fault->addr,
			fault->pc);
		return;
	}

	dev_info_ratelimited(queue->tdev->drm.dev,
			     "%s: program fault %s at %#llx: clause %#llx tuple %u %s, lane %u of warp %u of group %u,%u,%u on core %u, packet at %#llx\n",
			     queue->timeline->name, tessera_fault_name(fault->code), fault->addr,
			     fault->clause, at.fault_tuple,
			     at.fault_flags & DRM_TESSERA_QUEUE_FAULT_ADD ? "ADD" : "FMA",
			     at.fault_lane, at.fault_warp, fault->group[0], fault->group[1],
			     fault->group[2], at.fault_core, fault->pc);
}

/**
 * tessera_fault_record() - report a fault
 * @queue: queue that faulted, its lock held
 * @fault: fault record
 *
 * Faults of the MMU and of the bus go to the VM's records; those of programs to the log.
 */
void tessera_fault_record(struct tessera_queue *queue, const struct tessera_hw_fault *fault)
{
	struct tessera_device *tdev = queue->tdev;
	struct drm_tessera_fault record = {
		.va = fault->addr & ~(BIT_ULL(TSR_PAGE_SHIFT) - 1),
		.timestamp_ns = ktime_get_ns(),
		.queue_id = queue->id,
		.access = fault_access(fault),
		.reason = fault_reason(tdev, fault),
		.level = fault->level,
	};

	trace_tessera_fault(queue, fault);
	fault_log(queue, fault);
	if (fault_of_memory(fault))
		tessera_vm_add_fault(queue->vm, queue, &record);
}
