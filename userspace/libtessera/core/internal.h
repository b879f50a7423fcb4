/* SPDX-License-Identifier: MIT */
/*
 * Internal declarations of libtessera. The structure of an object is private to its file, or it is
 * declared here if another file needs it.
 */
#ifndef TSR_INTERNAL_H
#define TSR_INTERNAL_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <tessera/cmd.h>
#include <tessera/tessera.h>

#include "tsr_packets.h"

/*
 * A function of one library alone; and one that the libraries above use as well, which is exported
 * for them under LIBTESSERA_PRIVATE_1_0 and may change with each version.
 */
#define TSR_HIDDEN __attribute__((visibility("hidden")))
#define TSR_PRIVATE __attribute__((visibility("default")))
#define TSR_PRINTF(text, args) __attribute__((format(printf, text, args)))

/* tsr_fail(): remember the message for this thread and return -@error (@error is positive). */
TSR_PRIVATE int tsr_fail(int error, const char *format, ...) TSR_PRINTF(2, 3);

/*
 * tsr_fail_ioctl(): the same for a system call that left @error; adds what the errno says after the
 * text, and why where it is known for all calls (unplugged, wedged).
 */
TSR_HIDDEN int tsr_fail_ioctl(int error, const char *format, ...) TSR_PRINTF(2, 3);

/*
 * tsr_take_info(): a caller's structure of @size bytes as one of @known bytes, of which every
 * version had the first @first: what it lacks is zero. -E2BIG if it has more than that and any of
 * it is not zero, -EINVAL for a size below @first. @what names it in the message.
 */
TSR_PRIVATE int tsr_take_info(void *ours, size_t known, size_t first, const void *given,
			      size_t size, const char *what);

/* TSR_UP_TO(): bytes of a structure up to a member, which was its last in some version. */
#define TSR_UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

struct tsr_vm;
/* tsr_vm_page_align(): @align, or what lets [.., + @size) use the largest pages it can, if more. */
TSR_PRIVATE uint64_t tsr_vm_page_align(const struct tsr_vm *vm, uint64_t size, uint64_t align);

static inline bool tsr_is_pow2(uint64_t value)
{
	return value && !(value & (value - 1));
}

/* tsr_round_up(): @value up to a multiple of @align, a power of two. The caller excludes overflow.
 */
static inline uint64_t tsr_round_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

struct tsr_device {
	atomic_uint refs;
	int fd;				/* ours, closed with the last reference */
	char *path;			/* what it was opened by, "" if by file descriptor; ours */
	/* what the driver says, and zeroes for callers that know of more */
	union {
		struct drm_tessera_gpu_info info;
		char info_room[TSR_INFO_ROOM];
	};
	union {
		struct drm_tessera_shader_info shader;	/* all zero without shader cores */
		char shader_room[TSR_INFO_ROOM];
	};
	union tsr_engine {
		struct drm_tessera_engine_info info;
		char room[TSR_INFO_ROOM];
	} *engines;
	unsigned int engine_count;
	atomic_ullong shader_serial;	/* shaders uploaded so far, see shader.c */
	uint64_t granule;		/* smallest page: what VM_BIND works in, a power of two */
	pthread_mutex_t bo_lock; /* protects bos, bo_capacity, and a tsr_bo's last reference */
	struct tsr_bo **bos;		/* by GEM handle: the kernel gives one handle per buffer */
	uint32_t bo_capacity;		/* elements of bos */
};

/* tsr_device_ioctl(): drmIoctl() that returns 0 or a positive errno. */
TSR_HIDDEN int tsr_device_ioctl(const struct tsr_device *device, unsigned long request, void *arg);

/*
 * tsr_copy_out(): give a caller that knows @size bytes of a structure the @known bytes of ours: the
 * shorter length is copied, the rest of the caller's cleared.
 */
TSR_PRIVATE void tsr_copy_out(void *target, size_t size, const void *ours, size_t known);

/* tsr_sync_pack(): the uapi form of @point; -EINVAL if the point does not fit the sync's kind. */
TSR_HIDDEN int tsr_sync_pack(const struct tsr_point *point, const struct tsr_device *device,
			     struct drm_tessera_sync *packed);

/*
 * tsr_queue_open(): create the kernel's queue unless it exists. 0, or an error of QUEUE_CREATE with
 * its message; the next call tries again.
 */
TSR_HIDDEN int tsr_queue_open(struct tsr_queue *queue);
TSR_HIDDEN uint32_t tsr_queue_class(const struct tsr_queue *queue);
TSR_HIDDEN struct tsr_device *tsr_queue_device(const struct tsr_queue *queue);
TSR_HIDDEN struct tsr_device *tsr_sync_device(const struct tsr_sync *sync);

/* tsr_pool_vm(), tsr_pool_access(): what the pool was made with; no reference is taken. */
TSR_PRIVATE struct tsr_vm *tsr_pool_vm(const struct tsr_pool *pool);
TSR_PRIVATE uint32_t tsr_pool_access(const struct tsr_pool *pool);

/* The kernel's id. */
TSR_HIDDEN uint32_t tsr_perfmon_id(const struct tsr_perfmon *perfmon);

#endif /* TSR_INTERNAL_H */
