/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_DRV_H__
#define __TESSERA_DRV_H__

#include <linux/atomic.h>
#include <linux/xarray.h>

#include "tessera_device.h"

struct tessera_quota;

/*
 * Ids of VMs, queues, heaps and perfmons. XA_FLAGS_ALLOC1 alone does not keep 0 out: erasing index
 * 0, which is what a DESTROY of id 0 comes to, would make it a free one.
 */
#define TESSERA_ID_LIMIT	XA_LIMIT(1, INT_MAX)

/**
 * struct tessera_file - what an open file owns
 */
struct tessera_file {
	/** @tdev: Device. */
	struct tessera_device *tdev;
	/** @quota: What it may have, a reference. */
	struct tessera_quota *quota;
	/** @vms: VMs by id; each entry is a reference. */
	struct xarray vms;
	/** @queues: Queues by id; each entry is a reference and the queue's life. */
	struct xarray queues;
	/** @heaps: Tiler heaps by id; each entry is a reference. */
	struct xarray heaps;
	/** @perfmons: Performance monitors by id; each entry is a reference. */
	struct xarray perfmons;
	/** @usage_lock: A queue leaves @queues and comes into what follows under it. */
	struct mutex usage_lock;
	/** @busy_ns: Engine time of destroyed queues, by class. */
	atomic64_t busy_ns[TESSERA_NUM_CLASSES];
	/** @cycles: Modelled work of destroyed queues, by class. */
	atomic64_t cycles[TESSERA_NUM_CLASSES];
};

/*
 * Tears down queues, VMs and bind operations of all devices. No fence waits for
 * it, so it may sleep, allocate and take reservation locks. It belongs to the
 * module because what it releases can be the last reference of a device.
 */
extern struct workqueue_struct *tessera_release_wq;

#endif
