/* SPDX-License-Identifier: MIT */
/*
 * The driver without a kernel: what libtessera asks of libdrm and the kernel, answered by the model
 * in this process (bench.h). Programs that know only tessera.h and its neighbours run on it as they
 * are, linked with hostdrm.c, or with it preloaded.
 *
 * In: ioctls of tessera_drm.h. Out: their effects; a SUBMIT has run to its end when it returns.
 * Limits: HOSTDRM_MEMORY bytes for all BOs, given back with the last one; one process, any
 * threads, one ioctl at a time; no heaps, performance monitors, dma-bufs. Fences are always
 * signalled, with what their job came to.
 */
#ifndef HOSTDRM_H
#define HOSTDRM_H

#include <stdint.h>

#define HOSTDRM_MEMORY (8ull << 30)

/* What the model is made with; before the first device is opened. Zero: the defaults. */
struct hostdrm_options {
	unsigned int threads;		/* worker threads; 0: who submits does the work */
	unsigned int cores;		/* shader cores */
	const char *simd;		/* "sse2", "avx2", "avx512" */
	unsigned int gfx_debug;		/* optimisations of rendering that are off: TSR_GFX_NO_… */
};

extern struct hostdrm_options hostdrm_options;

/* hostdrm_reset(): drop the machine and all in it; every device has to be closed. */
void hostdrm_reset(void);

/*
 * hostdrm_peek(): the memory at a GPU address of the VM @vm_id, @size bytes in one mapping; NULL.
 */
const void *hostdrm_peek(uint32_t vm_id, uint64_t va, uint64_t size);

/* hostdrm_counter(): a counter of a queue. */
uint64_t hostdrm_counter(uint32_t queue_id, unsigned int counter);

/* hostdrm_path(): how much has been done in one way, by enum tsr_path of the model. */
uint64_t hostdrm_path(unsigned int path);

#endif
