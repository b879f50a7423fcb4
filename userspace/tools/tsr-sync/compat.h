/* SPDX-License-Identifier: MIT */
/* Declarations of the kernel's interface that the headers of Debian 12 lack. */
#ifndef COMPAT_H
#define COMPAT_H

#include <stdint.h>

#include <drm.h>
#include <linux/sync_file.h>

/* The arguments of both waits with the field that Linux 6.6 has added at the end. */
struct drm_syncobj_wait_deadline {
	uint64_t handles;
	int64_t timeout_nsec;
	uint32_t count_handles, flags, first_signaled, pad;
	uint64_t deadline_nsec;
};

struct drm_syncobj_timeline_wait_deadline {
	uint64_t handles, points;
	int64_t timeout_nsec;
	uint32_t count_handles, flags, first_signaled, pad;
	uint64_t deadline_nsec;
};

#ifndef DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE
#define DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE (1 << 3)
#endif

#ifndef DRM_IOCTL_SYNCOBJ_EVENTFD
struct drm_syncobj_eventfd {
	uint32_t handle, flags;
	uint64_t point;
	int32_t fd;
	uint32_t pad;
};

#define DRM_IOCTL_SYNCOBJ_EVENTFD DRM_IOWR(0xCF, struct drm_syncobj_eventfd)
#endif

#ifndef SYNC_IOC_SET_DEADLINE
struct sync_set_deadline {
	uint64_t deadline_ns, pad;
};

#define SYNC_IOC_SET_DEADLINE _IOW(SYNC_IOC_MAGIC, 5, struct sync_set_deadline)
#endif

#endif /* COMPAT_H */
