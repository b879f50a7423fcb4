/* SPDX-License-Identifier: MIT */
/*
 * A kernel for libtessera on the host: stands in for libdrm's drmIoctl() and drmGetVersion(), keeps
 * what the library asked for, and answers as tessera_drm.h says. Memory is a memfd, which is also
 * the device's file, so that mmap offsets work. Syncobj ioctls are not played. One device, one
 * thread at a time besides fake_bind and BO calls, which lock.
 */
#ifndef FAKE_DRM_H
#define FAKE_DRM_H

#include <stdbool.h>
#include <stdint.h>

#include <tessera/tessera.h>

#define FAKE_BOS 256
#define FAKE_BINDS 4096

struct fake_bo {
	uint64_t size;			/* 0: free */
	uint64_t offset;		/* in the memfd */
	uint32_t flags, vm_id;
};

/* A mapping as VM_BIND left it. */
struct fake_map {
	uint64_t va, size, bo_offset;
	uint32_t bo, access;
};

struct fake {
	struct fake_bo bos[FAKE_BOS];	/* by handle */
	unsigned int bos_alive, bos_created;
	struct fake_map maps[FAKE_BINDS];
	unsigned int map_count;
	unsigned int queues_alive, vms_alive;
	/* the last SUBMIT: its jobs and their syncs, copied */
	struct drm_tessera_job jobs[64];
	struct drm_tessera_sync waits[64][8], signals[64][8];
	unsigned int job_count, submits;
	bool graphics;			/* engines that draw, from the next device on */
	struct drm_tessera_shader_info shader;	/* cores 0: a driver that lacks the query */
	int fail;			/* errno of the next ioctl; 0: none */
	unsigned long fail_request;	/* only of this request; 0: any */
	int fd;				/* the device's file */
};

extern struct fake fake;

/* fake_open(): start anew and open the device. */
struct tsr_device *fake_open(void);

/* fake_open_shader(): the same with shader cores; NULL: none. */
struct tsr_device *fake_open_shader(const struct drm_tessera_shader_info *shader);

/* fake_close(): drop the device; everything has to be gone by then, which is checked. */
void fake_close(struct tsr_device *device);

/* fake_at(): the mapping that holds @va, or NULL. */
const struct fake_map *fake_at(uint64_t va);

#endif /* FAKE_DRM_H */
