/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_INJECT_H__
#define __TESSERA_INJECT_H__

struct drm_minor;

#ifdef CONFIG_DRM_TESSERA_EMULATOR
void tessera_inject_debugfs_init(struct drm_minor *minor);
#else
static inline void tessera_inject_debugfs_init(struct drm_minor *minor) {}
#endif

#endif
