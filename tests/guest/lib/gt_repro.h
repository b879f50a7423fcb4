/* SPDX-License-Identifier: MIT */
/* Functions for programs that `make fuzz-kernel` writes as C. */
#ifndef GT_REPRO_H
#define GT_REPRO_H

#include "gt.h"

#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "gt_streams.h"

__attribute__((unused)) static uint32_t vm[8], queue[8], bo[8], heap[8], perfmon[8], syncobj[8];
static int file = -1, first = -1, second = -1;
static uint32_t stream_bo;
__attribute__((unused)) static uint8_t buffer[4096];
static void *maps[4];

/* One of the calls above; its error is printed and does not end the program. */
#define CALL(request, arg)                                                             \
	do {                                                                           \
		if (ioctl(file, (request), (arg)))                                     \
			printf("line %d: %s\n", __LINE__, strerror(errno));            \
	} while (0)

static inline void open_file(void)
{
	void *map;

	file = first = gt_open();
	stream_bo = gt_bo(file, GT_STREAMS_SIZE, 0).handle;
	map = gt_bo_mmap(file, stream_bo, GT_STREAMS_SIZE);
	if (map)
		gt_write_streams(map);
}

static inline void streams(uint32_t id)
{
	struct drm_tessera_bind_op op = gt_op_map(stream_bo, GT_CMD_VA, GT_STREAMS_SIZE, 0, GT_RWX);

	if (file == first)
		gt_vm_bind(file, id, &op, 1);
}

static inline void touch(void *page, unsigned int at)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (read(zero, (char *)page + at, 64) < 0)
		printf("the page cannot be written: %s\n", strerror(errno));
	close(zero);
}

static inline void map_bo(uint32_t handle, int place, unsigned int at, int flags)
{
	struct drm_tessera_bo_mmap_offset offset = { .handle = handle };
	void *map;

	if (maps[place])
		touch(maps[place], at);
	if (gt_ioctl(file, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset))
		return;
	map = mmap(NULL, GT_PAGE, PROT_READ | PROT_WRITE, flags, file, offset.offset);
	if (map == MAP_FAILED)
		return;
	if (maps[place])
		munmap(maps[place], GT_PAGE);
	maps[place] = map;
	touch(map, at);
}

static inline void share_bo(uint32_t handle, uint32_t *out)
{
	int fd;

	if (drmPrimeHandleToFD(first, handle, DRM_CLOEXEC | DRM_RDWR, &fd))
		return;
	drmPrimeFDToHandle(second >= 0 ? second : first, fd, out);
	close(fd);
}

static inline void close_bo(uint32_t handle)
{
	gt_gem_close(file, handle);
}

static inline void sync_signal(uint32_t sync, uint64_t point)
{
	gt_syncobj_signal(file, sync, point);
}

static inline void sync_wait(uint32_t sync, uint64_t point, unsigned int ms)
{
	gt_syncobj_wait(file, sync, point, ms);
}

static inline void other_file(void)
{
	if (second < 0)
		second = gt_open_nth(0, true);
	if (second >= 0)
		file = file == first ? second : first;
}

static inline void close_other_file(void)
{
	if (second < 0)
		return;
	close(second);
	second = -1;
	file = first;
}

static inline void inject(const char *script)
{
	gt_inject(script);
}

static inline void reset(void)
{
	char path[300];

	gt_sysfs(0, "reset", path, sizeof(path));
	gt_write_file(path, "1");
}

static inline void rebind(void)
{
	gt_rebind();
}

/* Close all, and tell whether the kernel has complained. */
static inline int finish(void)
{
	int kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char line[600];

	close_other_file();
	close(first);
	gt_sleep_ms(300);
	if (kmsg < 0 || !gt_kmsg_bad(kmsg, line, sizeof(line)))
		return 0;
	printf("%s\n", line);
	return 3;
}

#endif
