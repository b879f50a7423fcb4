/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_QUERY_H__
#define __TESSERA_QUERY_H__

struct drm_device;
struct drm_file;
struct drm_printer;

int tessera_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_get_timestamp(struct drm_device *drm, void *data, struct drm_file *file);
void tessera_show_fdinfo(struct drm_printer *p, struct drm_file *file);

#endif
