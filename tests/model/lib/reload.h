/* SPDX-License-Identifier: MIT */
/* Snapshots of a device that a test has changed: what is refused, and why. */
#ifndef TSR_RELOAD_H
#define TSR_RELOAD_H

#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "tsr_gpu.h"

/* Save @gpu and load that into it again: why it is refused, until the next call, or NULL. */
static inline const char *reload(struct tsr_gpu *gpu)
{
	static char err[200];
	size_t size = tsr_gpu_save(gpu, NULL, 0);
	void *image = malloc(size);
	bool taken;

	tsr_gpu_save(gpu, image, size);
	taken = tsr_gpu_load(gpu, image, size, err, sizeof(err));
	free(image);
	return taken ? NULL : err;
}

/* Check that @gpu is refused because of @why, or taken if that is NULL. */
static inline bool reload_expect(struct tsr_gpu *gpu, const char *why)
{
	const char *err = reload(gpu);

	if (!why && err)
		return ktap_fail("%s", err);
	if (why && !err)
		return ktap_fail("taken although of %s", why);
	return !why || strstr(err, why) || ktap_fail("%s, not of %s", err, why);
}

#endif
