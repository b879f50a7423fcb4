/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_PERFMON_H__
#define __TESSERA_PERFMON_H__

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/mutex.h>

struct drm_device;
struct drm_file;
struct tessera_device;
struct tessera_quota;

/* Counters of a job, by their number in hardware. */
#define TESSERA_NUM_COUNTERS 64

/**
 * struct tessera_counter - what the device can count
 */
struct tessera_counter {
	/** @id: Number in hardware. */
	u32 id;
	/** @name: Name; NULL after the last counter. */
	const char *name;
	/** @meaning: What it counts. */
	const char *meaning;
};

extern const struct tessera_counter tessera_counters[TESSERA_NUM_COUNTERS];

/**
 * struct tessera_perfmon - a performance monitor
 *
 * The device adds to its words in the kernel's address space at the end of each
 * of its jobs, in the order of the counters' numbers.
 */
struct tessera_perfmon {
	/** @ref: Held by the file's table and by each job. */
	struct kref ref;
	/** @tdev: Device, a reference. */
	struct tessera_device *tdev;
	/** @quota: Quota that is charged for it, a reference. */
	struct tessera_quota *quota;
	/** @slot: Which words are its own; constant. */
	u32 slot;
	/** @mask: Bit n: counter n is counted; constant. */
	u64 mask;
	/** @count: How many those are; constant. */
	u32 count;
	/** @word: Where the counters user space named are, in its order; constant. */
	u8 word[TESSERA_NUM_COUNTERS];
	/** @jobs: Jobs that were done without error, since creation. */
	atomic64_t jobs;
	/** @lock: Protects @base and @jobs_base. */
	struct mutex lock;
	/** @base: What the words were when they were last reset. */
	u64 base[TESSERA_NUM_COUNTERS];
	/** @jobs_base: What @jobs was. */
	u64 jobs_base;
};

struct tessera_perfmon *tessera_perfmon_lookup(struct drm_file *file, u32 id);
void tessera_perfmon_put(struct tessera_perfmon *perfmon);

int tessera_ioctl_perfmon_create(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_perfmon_destroy(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_perfmon_read(struct drm_device *drm, void *data, struct drm_file *file);

#endif
