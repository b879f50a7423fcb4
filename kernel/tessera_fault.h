/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_FAULT_H__
#define __TESSERA_FAULT_H__

#include <linux/types.h>

struct drm_tessera_queue_get_state;
struct tessera_device;
struct tessera_queue;

/**
 * struct tessera_hw_fault - fault record of a queue slot
 */
struct tessera_hw_fault {
	/** @code: enum tsr_fault. */
	u32 code;
	/** @access: enum tsr_access. */
	u32 access;
	/** @level: Page-table level the walk stopped at. */
	u32 level;
	/** @as: Address space of the access. */
	u32 as;
	/** @addr: Address of the access or of the offending qword. */
	u64 addr;
	/** @pc: Address of the packet. */
	u64 pc;
	/** @shader: QUEUE.FAULT_SHADER; its VALID bit is set if a program was at fault. */
	u32 shader;
	/** @group: Thread group at fault: x, y, z; of a program. */
	u32 group[3];
	/** @clause: Address of the clause; of a program. */
	u64 clause;
};

void tessera_fault_read(struct tessera_device *tdev, u32 slot, struct tessera_hw_fault *fault);
const char *tessera_fault_name(u32 code);
int tessera_fault_errno(u32 code);
void tessera_fault_get_state(const struct tessera_hw_fault *fault,
			     struct drm_tessera_queue_get_state *state);
void tessera_fault_record(struct tessera_queue *queue, const struct tessera_hw_fault *fault);

#endif
