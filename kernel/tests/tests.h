/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_TESTS_H__
#define __TESSERA_TESTS_H__

#include <linux/types.h>
#include <linux/xarray.h>

#include <drm/drm_file.h>

struct device;
struct kunit;
struct tessera_queue;

/**
 * struct tessera_test_random - numbers that are the same in every run
 */
struct tessera_test_random {
	/** @state: Any start will do. */
	u64 state;
};

u32 tessera_test_random(struct tessera_test_random *random, u32 below);
struct device *tessera_test_device(struct kunit *test);
struct tessera_queue *tessera_test_queue(struct kunit *test, u32 slot);
void __user *tessera_test_user(struct kunit *test, size_t size);

/* Arguments of the last tessera_timeline_signal() of the suites. */
extern u64 test_signalled;
extern int test_error;

/* A table of syncobjs for a file that is all zeros. */
#ifndef tessera_test_init_syncobjs
static inline void tessera_test_init_syncobjs(struct drm_file *file)
{
	xa_init_flags(&file->syncobj_xa, XA_FLAGS_ALLOC1);
}
#endif

#endif
