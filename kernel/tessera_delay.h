/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_DELAY_H__
#define __TESSERA_DELAY_H__

#include <linux/jump_label.h>

struct drm_minor;

/**
 * enum tessera_delay_point - windows in which other threads may run
 * @TESSERA_DELAY_BIND_FREE: a bind has left its VM, and its mappings are not freed yet.
 * @TESSERA_DELAY_BIND_TURN: a waiting VM_BIND was woken and has not locked the VM yet.
 * @TESSERA_DELAY_CRTC_DISABLE: the head is off, and its last event is not sent yet.
 * @TESSERA_DELAY_EVICT: a BO was chosen for eviction and is not moved yet.
 * @TESSERA_DELAY_FB_IDLE: a framebuffer was found worth keeping and is not on the idle list yet.
 * @TESSERA_DELAY_FILE_CLOSE: a closed file has lost its queues and still has heaps and VMs.
 * @TESSERA_DELAY_GEM_FREE: a BO has no references and is still on all lists.
 * @TESSERA_DELAY_HEAP_FREE: a heap has no references and is still on its VM's list.
 * @TESSERA_DELAY_LOCK_RUNNING: a thread has seen the device run and has not locked it yet.
 * @TESSERA_DELAY_MADVISE: a BO is not needed, and its idle framebuffers are still mapped.
 * @TESSERA_DELAY_MOVE_LIST: the VMs of a BO were counted and are not listed yet.
 * @TESSERA_DELAY_MOVE_SWITCH: a BO was copied, and its VMs still map the old place.
 * @TESSERA_DELAY_PROBE: the device is registered, and probe has not returned yet.
 * @TESSERA_DELAY_QUEUE_CREATE: a queue has an id, and QUEUE_CREATE has not returned yet.
 * @TESSERA_DELAY_QUEUE_DESTROY: a queue has lost its id and still runs.
 * @TESSERA_DELAY_QUEUE_KILL: the slot of a queue is stopped, and its jobs are not cancelled yet.
 * @TESSERA_DELAY_QUEUE_RELEASE: a queue has no references, and its work items are not cancelled.
 * @TESSERA_DELAY_QUEUE_START: a queue has a slot and a ring, and the slot is not enabled yet.
 * @TESSERA_DELAY_RESET_ESCALATION: the device is cut off, and its reset has not begun.
 * @TESSERA_DELAY_UNPLUG: the device is stopped for good, and ioctls are not refused yet.
 * @TESSERA_DELAY_VM_RELEASE: the mappings of a VM are gone, and it is still on the list of VMs.
 * @TESSERA_DELAY_WATCH_BAN: the slot of a failed queue is stopped, and no job has its error yet.
 * @TESSERA_DELAY_WATCH_STOP: a job was found to hang, and its slot still runs.
 * @TESSERA_DELAY_POINTS: number of points.
 */
enum tessera_delay_point {
	TESSERA_DELAY_BIND_FREE,
	TESSERA_DELAY_BIND_TURN,
	TESSERA_DELAY_CRTC_DISABLE,
	TESSERA_DELAY_EVICT,
	TESSERA_DELAY_FB_IDLE,
	TESSERA_DELAY_FILE_CLOSE,
	TESSERA_DELAY_GEM_FREE,
	TESSERA_DELAY_HEAP_FREE,
	TESSERA_DELAY_LOCK_RUNNING,
	TESSERA_DELAY_MADVISE,
	TESSERA_DELAY_MOVE_LIST,
	TESSERA_DELAY_MOVE_SWITCH,
	TESSERA_DELAY_PROBE,
	TESSERA_DELAY_QUEUE_CREATE,
	TESSERA_DELAY_QUEUE_DESTROY,
	TESSERA_DELAY_QUEUE_KILL,
	TESSERA_DELAY_QUEUE_RELEASE,
	TESSERA_DELAY_QUEUE_START,
	TESSERA_DELAY_RESET_ESCALATION,
	TESSERA_DELAY_UNPLUG,
	TESSERA_DELAY_VM_RELEASE,
	TESSERA_DELAY_WATCH_BAN,
	TESSERA_DELAY_WATCH_STOP,
	TESSERA_DELAY_POINTS,
};

#ifdef CONFIG_DRM_TESSERA_EMULATOR
DECLARE_STATIC_KEY_FALSE(tessera_delay_armed);

void tessera_delay_sleep(enum tessera_delay_point point);
void tessera_delay_debugfs_init(struct drm_minor *minor);

/**
 * tessera_delay() - widen a window if debugfs "delay" asks for it
 * @point: window
 *
 * May sleep, so not with a spinlock held and not inside the gate. Mutexes may be held.
 */
static inline void tessera_delay(enum tessera_delay_point point)
{
	if (static_branch_unlikely(&tessera_delay_armed))
		tessera_delay_sleep(point);
}
#else
static inline void tessera_delay(enum tessera_delay_point point) {}
static inline void tessera_delay_debugfs_init(struct drm_minor *minor) {}
#endif

#endif
