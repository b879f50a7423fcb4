/* SPDX-License-Identifier: MIT */
/*
 * Common code of guest tests: raw ioctls on a Tessera node, without libtessera.
 *
 * Calls come in two kinds. Those that return int give 0 (or a useful value) or -errno and are what
 * a test asserts on. Those that return an object are set-up: when they fail the program ends with
 * "Bail out!", because nothing after it would mean anything. Nothing here is thread-safe but
 * gt_ioctl().
 */
#ifndef GT_H
#define GT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* so include this file first */
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <drm/tessera_drm.h>

#include "tsr_packets.h"
#include "tsr_regs.h"

#define GT_PAGE			0x1000ULL
#define GT_HUGE			0x200000ULL
#define GT_ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define GT_TIMEOUT_MS		gt_timeout_ms()

/* gt_ptr(): a pointer as the uapi wants it. */
static inline uint64_t gt_ptr(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* gt_array(): @count elements at @p, each of the size user space knows. */
#define GT_ARRAY(p, n) \
	((struct drm_tessera_array){ .ptr = gt_ptr(p), .count = (n), .stride = sizeof(*(p)) })

/* ---- gt_dev.c: nodes, ioctls, the kernel log ---- */

/* gt_die(): "Bail out!" with the reason, exit status 1. */
__attribute__((noreturn, format(printf, 1, 2)))
void gt_die(const char *fmt, ...);

/*
 * gt_node_path(): path of the render (or card) node of the @index-th Tessera device; false if there
 * is none.
 */
bool gt_node_path(unsigned int index, bool render, char *path, size_t size);
int gt_open_nth(unsigned int index, bool render);	/* a file, or -errno */
int gt_open(void);					/* render node of the first device */

/* gt_open_as(): gt_open() with real user @uid, whom the driver charges; needs privilege. */
int gt_open_as(uid_t uid);
int gt_open_card(void);					/* its primary node */
/* gt_sysfs(): path of @leaf in the PCI device's directory in sysfs. */
void gt_sysfs(unsigned int index, const char *leaf, char *path, size_t size);
/* gt_pci_slot(): its PCI address, such as 0000:01:00.0. */
void gt_pci_slot(char *slot, size_t size);
/* gt_driver_write(): write the address to the driver's "bind" or "unbind": 0 or -errno. */
int gt_driver_write(const char *leaf, const char *slot);
bool gt_wait_node(void);	/* after a bind, until there is a node, for 5 s at most */
/* gt_rebind(): remove the first device and find it again; waits for its node, 2 s at most. */
void gt_rebind(void);
/* gt_masters_bus(): whether the first device's COMMAND register lets it master the bus. */
bool gt_masters_bus(void);
/* gt_debugfs(): path of the first device's debugfs file @leaf; the program ends without one. */
void gt_debugfs(const char *leaf, char *path, size_t size);
int gt_write_file(const char *path, const char *text);	/* 0 or -errno */
int gt_read_file(const char *path, char *text,
		 size_t size); /* length or -errno; always NUL-terminated */
/* gt_fdinfo(): the number of a key of fdinfo, of memory in bytes; -1: there is no such key. */
long long gt_fdinfo(int fd, const char *key);

const char *gt_sysfs_line(const char *leaf);	/* of device 0; valid until the next call */
bool gt_sched_engine(void);	/* the driver runs with sched=engine, so queues need no slot */
int gt_ioctl(int fd, unsigned long request, void *arg);	/* 0 or -errno; restarts after signals */
/*
 * gt_ioctl_sized(): the same with another structure size in the request, as a newer or older
 * program would.
 */
int gt_ioctl_sized(int fd, unsigned long request, void *arg, size_t size);

/* gt_timeout_ms(): well above the driver's job timeout, so that a hang shows as ETIMEDOUT. */
unsigned int gt_timeout_ms(void);
uint64_t gt_now_ns(void);				/* CLOCK_MONOTONIC */
void gt_sleep_ms(unsigned int ms);

/*
 * gt_kmsg_open(): a reader at the end of the kernel log. gt_kmsg_bad(): the first line since then
 * that reports a kernel bug, and the three before it.
 */
int gt_kmsg_open(void);
bool gt_kmsg_bad(int kmsg, char *line, size_t size);

/* ---- gt_inject.c: fault injection (Documentation/hw/debug-unit.md), by debugfs ---- */

int gt_inject(const char *script);		/* 0 or -errno */
/* gt_fired(): how often a kind has fired; UINT32_MAX if the device does not answer. */
unsigned int gt_fired(const char *kind);
/* gt_slot(): the hardware's slot of a queue of file @fd, for rules with queue=. */
unsigned int gt_slot(int fd, uint32_t queue);
unsigned int gt_slot_as(int fd, uint32_t queue, unsigned int *as);	/* sets *@as, too */

/* ---- gt_obj.c: objects ---- */

/*
 * A buffer object. map is NULL when it is not mapped on the CPU, va is 0 while it is not bound by
 * gt_bo_bind().
 */
struct gt_bo {
	int fd;
	uint32_t handle;
	uint64_t size;
	uint64_t va;
	void *map;
};

struct gt_bo gt_bo(int fd, uint64_t size, uint32_t flags);	/* created, mapped unless NO_MMAP */
int gt_bo_try(int fd, uint64_t size, uint32_t flags, uint32_t vm, uint32_t *handle);
uint32_t gt_bo_state(int fd, uint32_t handle);		/* of BO_INFO */
void *gt_bo_mmap(int fd, uint32_t handle, uint64_t size);	/* NULL when it fails */
void gt_bo_bind(struct gt_bo *bo, uint32_t vm, uint64_t va, uint32_t perm);
void gt_bo_free(struct gt_bo *bo);
int gt_gem_close(int fd, uint32_t handle);

struct drm_tessera_gpu_info gt_gpu_info(int fd);
struct drm_tessera_gpu_state gt_gpu_state(int fd);

uint32_t gt_vm(int fd);
int gt_vm_destroy(int fd, uint32_t vm);
#define GT_RW	(DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE)
#define GT_RWX	(GT_RW | DRM_TESSERA_BIND_EXEC)
struct drm_tessera_bind_op gt_op_map(uint32_t handle, uint64_t va, uint64_t size, uint64_t offset,
				     uint32_t perm);
struct drm_tessera_bind_op gt_op_unmap(uint64_t va, uint64_t size);
int gt_vm_bind(int fd, uint32_t vm, const struct drm_tessera_bind_op *ops, unsigned int count);
int gt_bind_async(int fd, uint32_t vm, const struct drm_tessera_bind_op *ops, unsigned int count,
		  const struct drm_tessera_sync *wait, const struct drm_tessera_sync *signal);
/* gt_vm_state(): @faults may be NULL; else room for DRM_TESSERA_FAULT_RECORDS. */
struct drm_tessera_vm_get_state gt_vm_state(int fd, uint32_t vm, struct drm_tessera_fault *faults);

int gt_queue_try(int fd, uint32_t vm, uint32_t engine, uint32_t priority, uint32_t ring,
		 uint32_t *queue);
uint32_t gt_queue(int fd, uint32_t vm, uint32_t engine);
int gt_queue_destroy(int fd, uint32_t queue);
struct drm_tessera_queue_get_state gt_queue_state(int fd, uint32_t queue);

uint32_t gt_syncobj(int fd, bool signaled);
void gt_syncobj_free(int fd, uint32_t handle);
int gt_syncobj_wait(int fd, uint32_t handle, uint64_t point,
		    unsigned int ms); /* -ETIME: not within @ms */
bool gt_syncobj_done(int fd, uint32_t handle, uint64_t point);
uint64_t gt_syncobj_point(int fd, uint32_t handle); /* last signalled point */
int gt_syncobj_signal(int fd, uint32_t handle, uint64_t point);
/*
 * gt_fence_error() waits and returns the error of the fence: 0 or -errno; -ETIME if it does not
 * signal. Only binary syncobjs keep errors. A timeline point that is reached is 0 even if its job
 * failed, because the DRM core drops the fence by then.
 */
int gt_fence_error(int fd, uint32_t handle, uint64_t point);
int gt_fence_file(int fd, uint32_t handle);	/* a binary syncobj's fence as a file */
int gt_file_error(int file);	/* as gt_fence_error(), also of a device that is gone; closes it */
struct drm_tessera_sync gt_binary(uint32_t handle);
struct drm_tessera_sync gt_point(uint32_t handle, uint64_t point);

/* ---- gt_job.c: command streams and submission ---- */

/* A stream under construction: @words is where the CPU writes, @va the same place for the GPU. */
struct gt_cs {
	uint64_t *words;
	uint64_t va;
	unsigned int count;	/* qwords written */
	unsigned int room;	/* qwords there is room for */
};

void gt_cs_word(struct gt_cs *cs, uint64_t word);
void gt_cs_words(struct gt_cs *cs,
		 const uint64_t *words); /* a packed packet; its length is in its header */
struct drm_tessera_job gt_job(uint32_t queue, const struct gt_cs *cs);

/* GT_EMIT(cs, fence, .event = ..., .addr = ...): append a packet. */
#define GT_EMIT(cs, name, ...) \
	do { \
		struct tsr_##name value_ = { __VA_ARGS__ }; \
		uint64_t words_[256]; \
		tsr_pack_##name(words_, &value_); \
		gt_cs_words(cs, words_); \
	} while (0)

int gt_submit(int fd, const struct drm_tessera_job *jobs, unsigned int count);

/*
 * Most tests want one file with one VM, one COPY queue, a buffer for streams and one for data.
 * Streams come from gt_stream(), data is addressed by gt_data()/gt_data_va(). The data buffer is
 * CPU-cached.
 */
#define GT_CMD_VA	0x10000000ULL
#define GT_DATA_VA	0x20000000ULL
#define GT_CMD_SIZE	0x40000ULL
#define GT_DATA_SIZE	0x100000ULL

struct gt_ctx {
	int fd;
	uint32_t vm;
	uint32_t queue;
	uint32_t sync;		/* a binary syncobj for gt_run() */
	struct gt_bo cmd;
	struct gt_bo data;
	uint64_t cmd_used;	/* bytes of cmd handed out; wraps */
};

struct gt_ctx gt_ctx(void);
struct gt_ctx gt_ctx_on(int fd);
void gt_ctx_free(struct gt_ctx *c);
/*
 * gt_stream(): an empty stream with room for @qwords; streams handed out long ago are reused, so
 * wait for them.
 */
struct gt_cs gt_stream(struct gt_ctx *c, unsigned int qwords);
static inline void *gt_data(const struct gt_ctx *c, uint64_t offset)
{
	return (char *)c->data.map + offset;
}
static inline uint64_t gt_data_va(uint64_t offset)
{
	return GT_DATA_VA + offset;
}
/* gt_kick(): submit one stream on @queue, signalling @signal (may be NULL); 0 or -errno. */
int gt_kick(struct gt_ctx *c, uint32_t queue, const struct gt_cs *cs,
	    const struct drm_tessera_sync *signal);
/* gt_run(): submit on @queue (0: the context's), wait, and return the error of its fence. */
int gt_run_on(struct gt_ctx *c, uint32_t queue, const struct gt_cs *cs);
int gt_run(struct gt_ctx *c, const struct gt_cs *cs);
/* gt_renew_queue(): the context's queue again after a fault banned it. */
void gt_renew_queue(struct gt_ctx *c);
/* gt_spin_until(): wait until the 64-bit word is @value, at most @ms; whether it came. */
bool gt_spin_until(const volatile uint64_t *word, uint64_t value, unsigned int ms);

#endif /* GT_H */
