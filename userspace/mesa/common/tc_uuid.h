/* SPDX-License-Identifier: MIT */
/*
 * Identifiers by which a program finds out whether it can share memory between APIs: those of
 * OpenGL and of Vulkan are the same for the same device and the same version of Mesa.
 */
#ifndef TC_UUID_H
#define TC_UUID_H

#include <stdint.h>

#define TC_UUID_BYTES	16u

struct drm_tessera_gpu_info;

void tc_device_uuid(const struct drm_tessera_gpu_info *gpu, uint8_t uuid[TC_UUID_BYTES]);
void tc_driver_uuid(uint8_t uuid[TC_UUID_BYTES]);

#endif
