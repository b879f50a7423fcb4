/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __SCHED_MOCK_KUNIT_DEVICE_H__
#define __SCHED_MOCK_KUNIT_DEVICE_H__

#include <linux/device.h>

struct kunit;

struct device *kunit_device_register(struct kunit *test, const char *name);

#endif
