/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_QUEUE_H__
#define __TESSERA_QUEUE_H__

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "tessera_as.h"
#include "tessera_fault.h"
#include "tessera_fence.h"
#include "tessera_watch.h"
#include "tsr_packets.h"

struct drm_device;
struct drm_file;
struct seq_file;
struct tessera_device;
struct tessera_job;
struct tessera_vm;

/**
 * struct tessera_usage - what a queue has used of its engines
 */
struct tessera_usage {
	/** @busy_ns: Time on them. */
	u64 busy_ns;
	/** @cycles: Modelled work. */
	u64 cycles;
};

/**
 * struct tessera_queue - a queue of user space and its slot
 *
 * Alive while it has an id: it owns a slot and a ring, and jobs run. Its end is
 * tessera_queue_kill(): the slot is given back at once and everything pending is
 * cancelled. The structure goes with the last reference, after the last job.
 */
struct tessera_queue {
	/** @ref: Held by the file's table and by each job, and by no work of its own. */
	struct kref ref;
	/** @tdev: Device, a reference. */
	struct tessera_device *tdev;
	/** @vm: VM of all jobs, a reference. */
	struct tessera_vm *vm;
	/** @timeline: Scheduler and hardware fences. */
	struct tessera_timeline *timeline;
	/** @release_work: Teardown. */
	struct work_struct release_work;
	/** @heap_work: Gives the slot more heap memory; @release_work ends it. */
	struct work_struct heap_work;
	/** @hurry_work: Gives the slot its time slices; @release_work ends it. */
	struct delayed_work hurry_work;
	/** @event_work: Reports a reset of the queue to user space; @release_work waits for it. */
	struct work_struct event_work;
	/** @id: Id in its file; 0 until it has one. */
	u32 id;
	/** @client_id: &drm_file.client_id of its file, as fdinfo shows it. */
	u64 client_id;
	/** @owner: Who made it; constant. */
	struct drm_wedge_task_info owner;
	/** @engine_class: Engines that serve it; constant. */
	u32 engine_class;
	/** @priority: enum drm_tessera_priority; constant. */
	u32 priority;
	/** @slot: Hardware slot; valid while @ring has memory. The backend "engine" changes it. */
	u32 slot;

	/**
	 * @lock: Protects what follows and the registers of the slot. Jobs are
	 * put on the ring under it: nothing allocates under it.
	 */
	struct mutex lock;
	/** @ring: Ring; without memory once the queue has no slot any more. */
	struct tessera_ring ring;
	/** @wptr: Write pointer, free-running, bytes. */
	u32 wptr;
	/** @told_wptr: Last @wptr written to the doorbell. No later entry can have begun. */
	u32 told_wptr;
	/** @dead: 0 while jobs may be put on the ring, else the error they get; SUBMIT peeks. */
	int dead;
	/** @state: enum drm_tessera_queue_state_flags. */
	u32 state;
	/** @reset_count: Resets that affected the queue. */
	u32 reset_count;
	/** @error: Error of the last failed job, negative, 0 if none. */
	int error;
	/** @heap_error: Why the heap did not grow, 0 if it is only full. */
	int heap_error;
	/** @fault: Fault record of that job; all zero if there was no fault. */
	struct tessera_hw_fault fault;
	/** @usage: What it has used, final once there is no slot any more. */
	struct tessera_usage usage;
	/** @usage_before: The part of it before the last reset of the device. */
	struct tessera_usage usage_before;
	/**
	 * @enabled: The slot is enabled, and a doorbell rings for each job. While it is
	 * not, jobs are put on the ring and run when it is.
	 */
	bool enabled;
	/**
	 * @cold: It has the slot, but the slot's registers are not its own, because the
	 * device was not within reach. Recovery enables the slot.
	 */
	bool cold;
	/** @resume_rptr: While it is not: where the ring goes on. */
	u32 resume_rptr;
	/** @drain_seqno: Before sleep: number of the last job that may end. */
	u64 drain_seqno;
	/** @watch: Looks for hangs and faults; @release_work ends its work. */
	struct tessera_watch watch;
};

struct tessera_queue *tessera_queue_create(struct tessera_vm *vm, u32 engine_class, u32 priority,
					   u32 ring_size);
struct tessera_queue *tessera_queue_lookup(struct drm_file *file, u32 id);
void tessera_queue_put(struct tessera_queue *queue);
void tessera_queue_kill(struct tessera_queue *queue, int error);
void tessera_queue_cancel_locked(struct tessera_queue *queue, int error);
void tessera_queue_complete(struct tessera_queue *queue);
bool tessera_queue_complete_some(struct tessera_queue *queue);
void tessera_queue_get_state_locked(struct tessera_queue *queue,
				    struct drm_tessera_queue_get_state *state);
struct tessera_usage tessera_queue_usage(struct tessera_queue *queue);
u32 tessera_queue_priority_mask(struct drm_file *file);

/* tessera_queue_hw.c: the slot; all with &tessera_queue.lock and the device within reach. */
int tessera_queue_hw_enable(struct tessera_queue *queue, u32 rptr);
void tessera_queue_hw_set_timeslice(struct tessera_queue *queue);
void tessera_queue_hw_command(struct tessera_queue *queue, u32 op);
int tessera_queue_hw_wait_stopped(struct tessera_queue *queue, unsigned int timeout_ms);
u32 tessera_queue_hw_state(struct tessera_queue *queue);
void tessera_queue_hw_update_usage(struct tessera_queue *queue);
u64 tessera_queue_hw_served_ns(struct tessera_queue *queue);
void tessera_queue_hw_emit(struct tessera_queue *queue, const struct tessera_job *job, u64 seqno);

/* So long recovery waits for a slot; a starved host may take its time. */
#define TESSERA_QUEUE_STOP_MS (2 * MSEC_PER_SEC)

/* Bytes of a job on the ring, and where in it the user's stream is called. */
#define TESSERA_RING_ENTRY 128
#define TESSERA_RING_CALL \
	((TSR_BARRIER_QWORDS + TSR_HEAP_QWORDS + TSR_COUNTER_BEGIN_QWORDS) * sizeof(u64))

int tessera_ioctl_queue_create(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_queue_destroy(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_queue_get_state(struct drm_device *drm, void *data, struct drm_file *file);

#endif
