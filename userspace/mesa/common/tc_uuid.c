/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <drm/tessera_drm.h>

#include "util/mesa-sha1.h"

#include "tc_uuid.h"

/* Change it with the layout of textures (tc_layout.c), which both drivers must agree on. */
#define LAYOUT	"tessera 1"

static void hash(uint8_t uuid[TC_UUID_BYTES], const void *a, size_t a_size, const void *b,
		 size_t b_size)
{
	uint8_t sha1[SHA1_DIGEST_LENGTH];
	struct mesa_sha1 ctx;

	_mesa_sha1_init(&ctx);
	_mesa_sha1_update(&ctx, a, a_size);
	_mesa_sha1_update(&ctx, b, b_size);
	_mesa_sha1_final(&ctx, sha1);
	memcpy(uuid, sha1, TC_UUID_BYTES);
}

void tc_device_uuid(const struct drm_tessera_gpu_info *gpu, uint8_t uuid[TC_UUID_BYTES])
{
	hash(uuid, &gpu->hw_version, sizeof(gpu->hw_version), &gpu->features,
	     sizeof(gpu->features));
}

void tc_driver_uuid(uint8_t uuid[TC_UUID_BYTES])
{
	hash(uuid, PACKAGE_VERSION, sizeof(PACKAGE_VERSION), LAYOUT, sizeof(LAYOUT));
}
