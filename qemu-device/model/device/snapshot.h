/* SPDX-License-Identifier: MIT */
/* Snapshots of the whole device, seen field by field; the calls of hosts are in tsr_gpu.h. */
#ifndef TSR_SNAPSHOT_H
#define TSR_SNAPSHOT_H

#include <stddef.h>

struct tsr_gpu;

/*
 * Call @field for each field of what tsr_gpu_save() would write now, in the order in which they
 * stand there. The device is paused.
 */
void tsr_gpu_save_fields(struct tsr_gpu *gpu,
			 void (*field)(void *opaque, size_t pos, size_t size), void *opaque);

#endif
