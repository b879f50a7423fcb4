/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_SUBMIT_H__
#define __TESSERA_SUBMIT_H__

struct drm_device;
struct drm_file;

int tessera_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file);

#endif
