/* SPDX-License-Identifier: MIT */
/*
 * Scanout: the display controller as a part of the device.
 *
 * In: the host's requests for frames, threads of the device that have time. Out: frames for the
 * host. The display itself (display/) knows the device only by struct tsr_display_device.
 */
#ifndef TSR_SCANOUT_H
#define TSR_SCANOUT_H

#include <stdint.h>

struct tsr_gpu;
struct tsr_runner;

/* Most cycles of a worker's slice, after which a queue that waits gets the thread. */
#define TSR_SCANOUT_SLICE (1u << 23)

/* Connect the display with the device, and reset it. Before anything else. */
void tsr_scanout_init(struct tsr_gpu *gpu);
/*
 * Compose a part of a frame on @runner for about @limit cycles, or until the runner is to stop.
 * Lock held; released meanwhile. Returns the cycles, at least 1, or 0 if there is nothing to do.
 */
uint64_t tsr_scanout_run(struct tsr_runner *runner, uint64_t limit);

#endif
