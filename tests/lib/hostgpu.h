/* SPDX-License-Identifier: MIT */
/*
 * The device in this process, for programs that draw: they open it with libtessera as they would
 * under tsr-host, because its driver (userspace/inprocess) is linked in, and see some of its
 * inside.
 */
#ifndef HOSTGPU_H
#define HOSTGPU_H

#include <stdbool.h>
#include <stdint.h>

struct tsr_device;

/* Configuration of the model, set before the first device is opened. Zero: the defaults. */
struct hostgpu_options {
	unsigned int threads;		/* worker threads; 0: who submits does the work */
	unsigned int cores;		/* shader cores */
	const char *simd;		/* "sse2", "avx2", "avx512" */
	unsigned int gfx_debug;		/* optimizations of rendering that are off: TSR_GFX_NO_… */
};

/* hostgpu_set(): the machine of the next device, one engine of each class. */
void hostgpu_set(const struct hostgpu_options *options);

/* hostgpu_reset(): drop the machine and all in it; every device has to be closed. */
void hostgpu_reset(void);

/*
 * hostgpu_peek(): the memory at a GPU address of the VM @vm_id, @size bytes in one mapping; NULL.
 * hostgpu_counter(): a counter of a queue.
 */
const void *hostgpu_peek(const struct tsr_device *device, uint32_t vm_id, uint64_t va,
			 uint64_t size);
uint64_t hostgpu_counter(const struct tsr_device *device, uint32_t queue_id, unsigned int counter);

/*
 * hostgpu_next(): have @hook called as struct tsr_env of the model says, from now on. No job runs.
 */
void hostgpu_next(void (*hook)(void *opaque, bool batches, uint64_t count), void *opaque);

/* hostgpu_path(): how much has been done in one way, by enum tsr_path of the model. */
uint64_t hostgpu_path(unsigned int path);

#endif
