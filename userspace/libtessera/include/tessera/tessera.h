/* SPDX-License-Identifier: MIT */
/*
 * libtessera: the user space side of the Tessera GPU.
 *
 * Three libraries, each with a pkg-config file of its name:
 *   libtessera	<tessera/tessera.h>, <tessera/cmd.h>, <tessera/layout.h>
 *   libtessera-gfx	<tessera/compute.h>, <tessera/image.h>, <tessera/gfx.h>
 *   libtessera-asm	<tessera/asm.h>, <tessera/decode.h>
 *
 * A device gives buffer objects (BOs), address spaces (VMs), queues and syncs. User space chooses
 * every GPU address, maps BOs there, writes command streams (cmd.h) and submits them;
 * images are laid out with layout.h. Nothing here waits unless its text says so.
 *
 * Rules that hold for every function:
 *
 * - Errors. A function that returns int returns 0 (or a count, where its text says so), or a
 *   negative errno. tsr_error_message() then says in one line what was wrong and what was expected.
 *   Output arguments are written on success only. NULL for an object that must be there is a bug of
 *   the caller and not checked. The errors listed are those with a meaning of their own; besides
 *   them every function that reaches the kernel may return -ENOMEM, -ENODEV (device unplugged) and,
 *   for submissions, -EIO (device wedged, see tsr_device_get_state()).
 * - Ownership. Objects are counted: _create(), _open() and _import() give the caller one reference,
 *   _ref() takes another and returns its argument, _unref() drops one and takes NULL. An object
 *   keeps alive what it needs (a BO its device, a queue its VM), so the order of _unref() is free.
 * - Threads. Everything may be called from any thread, and one object from several threads at once,
 *   except struct tsr_submit and struct tsr_stream, which belong to one thread at a time. The
 *   library has no state outside its objects but the error message, which is per thread, and what
 *   TESSERA_DEBUG needs.
 * - Structures. One whose name ends in _info may grow at its end in a later version, and so may the
 *   kernel's (drm_tessera_): functions that fill or read them take their size as the caller was
 *   compiled with, sizeof(*info). What the caller's has and the library does not know must be zero
 *   where it is read, else the call fails with -E2BIG, and becomes zero where it is filled; what it
 *   lacks counts as zero. A size that no version had is -EINVAL. All others never change.
 * - Units. Sizes, offsets and GPU addresses are bytes; times are nanoseconds of CLOCK_MONOTONIC.
 * - Debugging. TESSERA_DEBUG, a list of words with commas, has the library do more than it is asked
 *   and tell it on the standard error output. sync: a submission returns when its jobs are done, at
 *   most after a minute, and those that failed are named; so a program whose jobs wait for what it
 *   does later stands still. dump: the streams that are submitted are printed, with the control
 *   lists they run. validate: a submission whose stream is not mapped, or has a packet that the
 *   device would refuse, fails with -EINVAL. dump and validate look at what tsr_vm_bind() has
 *   mapped and the CPU sees. A set-user-ID program ignores the variable.
 * - fork(). A child may not use objects of its parent: open the device again and share BOs and
 *   syncs by file descriptor.
 *
 * Structures that start with drm_tessera_ are the kernel's and explained in tessera_drm.h.
 */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <drm/tessera_drm.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tsr_device;	/* one open DRM node of one GPU */
struct tsr_bo;		/* memory that CPU and GPU share */
struct tsr_vm;		/* a GPU address space */
struct tsr_pool;	/* many small allocations in few BOs */
struct tsr_queue;	/* work for one engine class, in order */
struct tsr_sync;	/* a DRM syncobj: binary or timeline */
struct tsr_tiler_heap;	/* memory the binner fills, that grows as it needs it */
struct tsr_perfmon;	/* counters of the jobs that name it, added up */
struct tsr_submit;	/* jobs to be submitted together */
struct tsr_stream;	/* a command stream being written, see cmd.h */

/* Version of this header: major << 16 | minor. */
#define TSR_LIBRARY_VERSION	0x00010000u

/* tsr_library_version(): TSR_LIBRARY_VERSION of the library that runs. */
uint32_t tsr_library_version(void);

/* ---- Errors ---------------------------------------------------------------------------------- */

/*
 * tsr_error_message(): one line, without newline, about the last call of this thread that failed:
 * what was asked, what was wrong, what was expected. "" before the first failure. The text belongs
 * to the library and lasts until the next failure in this thread.
 */
const char *tsr_error_message(void);

/*
 * tsr_error_string(): what @error means for a Tessera object, for a return value of this library or
 * the error of a job's fence. Takes positive and negative values. Static text, never NULL.
 */
const char *tsr_error_string(int error);

/* ---- Devices --------------------------------------------------------------------------------- */

/* One Tessera GPU of this machine. This structure never changes. */
struct tsr_node {
	char render[64];	/* its render node, such as /dev/dri/renderD128 */
	char primary[64];	/* its primary node, such as /dev/dri/card0; "" if there is none */
	char bus[32];		/* PCI address, domain:bus:device.function */
};

/*
 * tsr_device_list(): find the Tessera GPUs, in the order of their render nodes, without opening
 * them. Fills at most @capacity elements of @nodes (may be NULL with @capacity 0) and returns how
 * many there are, also when that is more than @capacity.
 */
int tsr_device_list(struct tsr_node *nodes, unsigned int capacity);

/*
 * tsr_device_open(): open the node @path, or the first device of tsr_device_list() if @path is
 * NULL. -ENODEV if there is no device or @path is not driven by tessera, -ENOENT or -EACCES for a
 * @path that does not exist or is not permitted, -EPROTONOSUPPORT for a GPU whose version this
 * library does not know.
 */
int tsr_device_open(const char *path, struct tsr_device **device);

/* tsr_device_open_fd(): the same on an open file, which is duplicated and stays the caller's. */
int tsr_device_open_fd(int fd, struct tsr_device **device);

struct tsr_device *tsr_device_ref(struct tsr_device *device);
void tsr_device_unref(struct tsr_device *device);

/* tsr_device_fd(): the library's file, for ioctls of the caller's own. Do not close it. */
int tsr_device_fd(const struct tsr_device *device);

/* tsr_device_path(): the path it was opened by; "" after tsr_device_open_fd(). */
const char *tsr_device_path(const struct tsr_device *device);

/*
 * tsr_device_info(), tsr_device_shader_info(): limits and features; cores, lanes of a warp, limits
 * of groups, all zero for a GPU without shader cores. They do not change, and last as long as the
 * device. What a structure has that the driver does not know is zero, up to TSR_INFO_ROOM bytes.
 */
#define TSR_INFO_ROOM	512
const struct drm_tessera_gpu_info *tsr_device_info(const struct tsr_device *device);
const struct drm_tessera_shader_info *tsr_device_shader_info(const struct tsr_device *device);

/*
 * tsr_device_engine(): what engines the GPU has of a class, NULL if none; as tsr_device_info(), up
 * to TSR_INFO_ROOM bytes.
 */
const struct drm_tessera_engine_info *
tsr_device_engine(const struct tsr_device *device, enum drm_tessera_engine_class engine_class);

/*
 * tsr_device_get_engines(), tsr_device_get_counters(): the engine classes and the performance
 * counters of the device. *@infos is an array of *@count elements of @stride bytes, which is
 * sizeof(**@infos), for the caller to free(); NULL if there is none.
 */
int tsr_device_get_engines(struct tsr_device *device, struct drm_tessera_engine_info **infos,
			   size_t stride, unsigned int *count);
int tsr_device_get_counters(struct tsr_device *device, struct drm_tessera_counter_info **infos,
			    size_t stride, unsigned int *count);

/*
 * tsr_device_get_state(): resets so far, whether the device is wedged, local memory in use. @size
 * is sizeof(*@state) as the caller knows it; what the library does not know is zero.
 */
int tsr_device_get_state(struct tsr_device *device, struct drm_tessera_gpu_state *state,
			 size_t size);

/*
 * tsr_device_get_timestamp(): GPU and CPU clock sampled side by side. @clock_id is CLOCK_MONOTONIC
 * or CLOCK_MONOTONIC_RAW, else -EINVAL. The GPU counts with drm_tessera_gpu_info.timestamp_hz.
 */
int tsr_device_get_timestamp(struct tsr_device *device, int clock_id,
			     struct drm_tessera_get_timestamp *timestamp, size_t size);

/* ---- Buffer objects -------------------------------------------------------------------------- */

/*
 * tsr_bo_create(): allocate @size bytes, rounded up to pages, that read as zero. @flags is
 * enum drm_tessera_bo_flags; the CPU mapping is write-combined unless CACHED is given. A BO that is
 * given @vm (else NULL) is private to that VM and cannot be exported. -EINVAL for size 0, a size
 * above drm_tessera_gpu_info.max_bo_size or flags that contradict each other, -ENOSPC for LOCAL if
 * @size is above drm_tessera_gpu_info.local_size, and for LOCAL_ONLY if there is no room.
 */
int tsr_bo_create(struct tsr_device *device, uint64_t size, uint32_t flags, struct tsr_vm *vm,
		  struct tsr_bo **bo);

/*
 * tsr_bo_import(): the BO of a dma-buf, of this or of another driver. @fd stays the caller's.
 * Importing what this device object knows already gives another reference to the same tsr_bo.
 * -EBADF or -EINVAL if @fd is not a dma-buf.
 */
int tsr_bo_import(struct tsr_device *device, int fd, struct tsr_bo **bo);

/*
 * tsr_bo_export(): a dma-buf for another device or process (read and write, close-on-exec); *@fd is
 * the caller's to close. -EPERM for a BO that is private to a VM.
 */
int tsr_bo_export(struct tsr_bo *bo, int *fd);

struct tsr_bo *tsr_bo_ref(struct tsr_bo *bo);
void tsr_bo_unref(struct tsr_bo *bo);

/*
 * tsr_bo_map(): the BO in the CPU's address space, all of it, readable and writable. The first call
 * maps it, later ones return the same pointer; the mapping lasts as long as the BO. -EPERM for a BO
 * with NO_MMAP. Does not wait for the GPU.
 *
 * Memory of another driver (tsr_bo_get_info(): DRM_TESSERA_BO_IMPORTED) has to be bracketed with
 * tsr_bo_begin_cpu() and tsr_bo_end_cpu() around accesses.
 */
int tsr_bo_map(struct tsr_bo *bo, void **pointer);

/*
 * tsr_bo_begin_cpu(), tsr_bo_end_cpu(): around CPU accesses to a mapped import; with the same
 * @write. Begin waits for the jobs that dma-buf knows of. They do nothing for the device's own
 * memory, which is coherent.
 */
int tsr_bo_begin_cpu(struct tsr_bo *bo, bool write);
int tsr_bo_end_cpu(struct tsr_bo *bo, bool write);

/* tsr_bo_size(): bytes, a multiple of the page size. */
uint64_t tsr_bo_size(const struct tsr_bo *bo);

/* tsr_bo_handle(): GEM handle on tsr_device_fd(), for ioctls of the caller's own. */
uint32_t tsr_bo_handle(const struct tsr_bo *bo);

/* tsr_bo_device(): the device it belongs to; no reference is taken. */
struct tsr_device *tsr_bo_device(const struct tsr_bo *bo);

/* tsr_bo_get_info(): flags and state as the kernel sees them. @size as in tsr_device_get_state().
 */
int tsr_bo_get_info(struct tsr_bo *bo, struct drm_tessera_bo_info *info, size_t size);

/*
 * tsr_bo_set_label(): a name for debugfs and dumps, NULL clears it. -E2BIG if it is longer than
 * DRM_TESSERA_LABEL_MAX bytes.
 */
int tsr_bo_set_label(struct tsr_bo *bo, const char *label);

/* ---- Address spaces -------------------------------------------------------------------------- */

/*
 * tsr_vm_create(): an empty address space of the whole range of the device. The VM carries a
 * first-fit allocator for its addresses; tsr_vm_bind() does not ask it, so callers that manage
 * addresses themselves keep them apart with tsr_vm_reserve().
 */
int tsr_vm_create(struct tsr_device *device, struct tsr_vm **vm);

struct tsr_vm *tsr_vm_ref(struct tsr_vm *vm);
void tsr_vm_unref(struct tsr_vm *vm);

/* tsr_vm_id(): the kernel's id, for ioctls of the caller's own. */
uint32_t tsr_vm_id(const struct tsr_vm *vm);

/* tsr_vm_device(): the device it belongs to; no reference is taken. */
struct tsr_device *tsr_vm_device(const struct tsr_vm *vm);

/*
 * tsr_vm_alloc(): take @size bytes of addresses, rounded up to the bind granule, aligned to @align
 * (a power of two; 0 for the granule, or for the largest page size of the device that is not larger
 * than @size, so that large mappings can use large pages). Nothing is mapped. -ENOSPC if no
 * free range is long enough, -EINVAL for size 0 or an @align that is no power of two.
 */
int tsr_vm_alloc(struct tsr_vm *vm, uint64_t size, uint64_t align, uint64_t *va);

/*
 * tsr_vm_reserve(): take the range [@va, @va + @size), whole granules. -EBUSY if any of it is
 * taken, -EINVAL if it is not aligned or outside the range of the device.
 */
int tsr_vm_reserve(struct tsr_vm *vm, uint64_t va, uint64_t size);

/*
 * tsr_vm_free(): give back a range of tsr_vm_alloc() or tsr_vm_reserve(), or a part of it. Nothing
 * is unmapped. -EINVAL if any of it is not taken; then nothing is freed.
 */
int tsr_vm_free(struct tsr_vm *vm, uint64_t va, uint64_t size);

/* One operation of tsr_vm_bind(). Fields an operation does not use are zero. */
struct tsr_bind {
	enum drm_tessera_bind_op_type op;
	uint32_t access;	/* MAP: enum drm_tessera_bind_op_flags, at least one */
	struct tsr_bo *bo;	/* MAP, UNMAP_BO */
	uint64_t va;		/* MAP, MAP_NULL, UNMAP: first address, aligned to the granule */
	uint64_t size;		/* likewise: length, aligned, not zero */
	uint64_t bo_offset;	/* MAP: first byte of the BO, aligned */
};

/* A syncobj, and for timelines the point meant: non-zero; 0 for a binary sync. */
struct tsr_point {
	struct tsr_sync *sync;
	uint64_t point;
};

/*
 * tsr_vm_bind(): apply @count operations in order, all or none, and return when they are done;
 * waits for asynchronous binds before it. MAP replaces what is mapped in its range. The kernel
 * keeps a BO alive as long as it is mapped. -EINVAL as in tessera_drm.h (alignment, ranges,
 * permissions, more than max_bind_ops operations), -ENOENT for a MAP on a banned VM.
 */
int tsr_vm_bind(struct tsr_vm *vm, const struct tsr_bind *binds, unsigned int count);

/*
 * tsr_vm_bind_async(): the same, queued on the VM after @waits; returns at once, and @signals are
 * signalled when all is done. @count may be 0. Errors of the arguments are reported at once; one
 * that appears later bans the VM (tsr_vm_get_state()) and is the error of the signalled fences.
 */
int tsr_vm_bind_async(struct tsr_vm *vm, const struct tsr_bind *binds, unsigned int count,
		      const struct tsr_point *waits, unsigned int wait_count,
		      const struct tsr_point *signals, unsigned int signal_count);

/*
 * tsr_vm_map(): allocate an address as tsr_vm_alloc() with @align 0 and map [@offset, @offset +
 * @size) of @bo there; @size 0 means to the end of the BO. @offset is a multiple of the granule,
 * @size is rounded up to it. Undo with tsr_vm_unmap().
 */
int tsr_vm_map(struct tsr_vm *vm, struct tsr_bo *bo, uint64_t offset, uint64_t size,
	       uint32_t access, uint64_t *va);

/*
 * tsr_vm_unmap(): unmap [@va, @va + @size), @size rounded up to the granule, and free the
 * addresses. Jobs that still use them fault.
 */
int tsr_vm_unmap(struct tsr_vm *vm, uint64_t va, uint64_t size);

/*
 * tsr_vm_get_state(): *@flags gets enum drm_tessera_vm_state_flags, *@fault_count the number of
 * faults since creation; both may be NULL.
 */
int tsr_vm_get_state(struct tsr_vm *vm, uint32_t *flags, uint64_t *fault_count);

/*
 * tsr_vm_get_faults(): the recorded faults, oldest first, into @faults, an array of *@count
 * elements; *@count becomes the number filled in. @stride is sizeof(@faults[0]). The kernel keeps
 * the last DRM_TESSERA_FAULT_RECORDS.
 */
int tsr_vm_get_faults(struct tsr_vm *vm, struct drm_tessera_fault *faults, size_t stride,
		      uint32_t *count);

/* ---- Sub-allocator --------------------------------------------------------------------------- */

/*
 * One allocation in a pool. Plain data: copy it freely, free it once. All fields are read-only for
 * the caller.
 */
struct tsr_alloc {
	struct tsr_bo *bo; /* BO that holds it; referenced by the pool, not by this structure */
	uint64_t offset;	/* of its first byte in the BO */
	uint64_t va;		/* GPU address of its first byte */
	uint64_t size;		/* bytes, as asked */
	void *cpu;		/* CPU address of its first byte; NULL in a pool with NO_MMAP */
	void *chunk;		/* the pool's */
};

/*
 * tsr_pool_create(): a pool whose BOs have @bo_flags (enum drm_tessera_bo_flags), are private to
 * @vm and mapped there with @access. BOs are @chunk_size bytes (0: 256 KiB), or as large as a
 * larger allocation needs. The pool keeps the VM alive.
 */
int tsr_pool_create(struct tsr_vm *vm, uint64_t chunk_size, uint32_t bo_flags, uint32_t access,
		    struct tsr_pool **pool);

struct tsr_pool *tsr_pool_ref(struct tsr_pool *pool);

/* tsr_pool_unref(): the last one frees the BOs and unmaps them, with all allocations. */
void tsr_pool_unref(struct tsr_pool *pool);

/*
 * tsr_pool_alloc(): @size bytes (not 0), aligned to @align (a power of two up to 2 MiB; 0: 16) in
 * GPU address and in BO offset. The content is whatever was there. Contents of different
 * allocations never overlap.
 */
int tsr_pool_alloc(struct tsr_pool *pool, uint64_t size, uint64_t align, struct tsr_alloc *alloc);

/*
 * tsr_pool_free(): give @alloc back and clear the structure; an empty structure is ignored. Without
 * waiting: the caller knows that the GPU no longer uses it. -EINVAL for an allocation that is not
 * of this pool or was freed already; -ENOMEM if there is no memory to note the hole: it is still
 * allocated then.
 */
int tsr_pool_free(struct tsr_pool *pool, struct tsr_alloc *alloc);

/* ---- Queues ---------------------------------------------------------------------------------- */

/*
 * tsr_queue_create(): a queue for jobs of @engine_class in @vm, with @priority and a ring of
 * @ring_size bytes (power of two; 0: default). -EINVAL for a class or ring size the device does not
 * have, -EACCES for a priority that is not in drm_tessera_gpu_info.priority_mask.
 *
 * A queue of high priority exists in the kernel at once, with the errors below. That of another
 * priority is created for the first job, by tsr_submit_flush(), tsr_queue_run() or
 * tsr_queue_id(), so that a queue that is not used takes no hardware slot. These fail then with
 * -ENOSPC if no slot or address space is free or the file or its user has its share of them,
 * -ECANCELED on a banned VM, -EIO on a wedged and -ENODEV on an unplugged device. Nothing was
 * submitted, and the next call tries again.
 */
int tsr_queue_create(struct tsr_vm *vm, enum drm_tessera_engine_class engine_class,
		     enum drm_tessera_priority priority, uint32_t ring_size,
		     struct tsr_queue **queue);

struct tsr_queue *tsr_queue_ref(struct tsr_queue *queue);

/* tsr_queue_unref(): the last one destroys the queue; unfinished jobs fail with -ECANCELED. */
void tsr_queue_unref(struct tsr_queue *queue);

/*
 * tsr_queue_id(): the kernel's id, for ioctls of the caller's own. Creates the kernel's queue if
 * the queue had no job yet. Returns 0 with errno and tsr_error_message() if that fails. Any thread
 * may call it.
 */
uint32_t tsr_queue_id(const struct tsr_queue *queue);

/* tsr_queue_vm(): its address space; no reference is taken. */
struct tsr_vm *tsr_queue_vm(const struct tsr_queue *queue);

/*
 * tsr_queue_get_state(): whether it is banned and why, the last error, the fault code and packet
 * address, jobs completed. All zero before the first job. @size as in tsr_device_get_state().
 */
int tsr_queue_get_state(struct tsr_queue *queue, struct drm_tessera_queue_get_state *state,
			size_t size);

/* ---- Syncs ----------------------------------------------------------------------------------- */

enum tsr_sync_flags {
	TSR_SYNC_TIMELINE = 1 << 0,	/* points 1, 2, ... on a line; else one fence */
	TSR_SYNC_SIGNALED = 1 << 1	/* a binary sync that starts signalled */
};

/* tsr_sync_create(): @flags is enum tsr_sync_flags. -EINVAL for unknown flags or both of them. */
int tsr_sync_create(struct tsr_device *device, uint32_t flags, struct tsr_sync **sync);

struct tsr_sync *tsr_sync_ref(struct tsr_sync *sync);
void tsr_sync_unref(struct tsr_sync *sync);

/* tsr_sync_handle(): syncobj handle on tsr_device_fd(), for ioctls of the caller's own. */
uint32_t tsr_sync_handle(const struct tsr_sync *sync);

/* tsr_sync_is_timeline(): whether it was created or imported as one. */
bool tsr_sync_is_timeline(const struct tsr_sync *sync);

#define TSR_DEADLINE_NEVER	INT64_MAX	/* wait without limit */

/* tsr_deadline(): the absolute time @ns from now, for waits; saturates at TSR_DEADLINE_NEVER. */
int64_t tsr_deadline(uint64_t ns);

/*
 * tsr_sync_wait(): wait until the fence at @point (0 for a binary sync) is signalled, also when
 * nobody has submitted it yet, at most until @deadline (absolute; 0 only looks). -ETIME when the
 * deadline passed. Whether the job went well is tsr_sync_get_status()'s business.
 */
int tsr_sync_wait(struct tsr_sync *sync, uint64_t point, int64_t deadline);

enum tsr_sync_wait_flags {
	TSR_SYNC_WAIT_ALL = 1 << 0,		/* all of them; else the first one */
	TSR_SYNC_WAIT_FOR_SUBMIT = 1 << 1,	/* also for fences nobody submitted yet */
	TSR_SYNC_WAIT_AVAILABLE = 1 << 2	/* only until the fences have been submitted */
};

/*
 * tsr_sync_wait_many(): wait on @count points of one device. @flags is enum tsr_sync_wait_flags.
 * *@first (may be NULL) gets the index of one that is signalled, when not waiting for all. -EINVAL
 * for a point without a fence when neither FOR_SUBMIT nor AVAILABLE is given, -ETIME.
 */
int tsr_sync_wait_many(const struct tsr_point *points, unsigned int count, uint32_t flags,
		       int64_t deadline, unsigned int *first);

/*
 * tsr_sync_get_status(): *@status becomes 0 while the fence at @point is pending, 1 when it is
 * signalled and its job done, else the negative errno of the job (tessera_drm.h lists them).
 * -EINVAL if there is no fence yet. A fence the timeline has gone past may read 1 whatever it was.
 */
int tsr_sync_get_status(struct tsr_sync *sync, uint64_t point, int *status);

/*
 * tsr_sync_finish(): tsr_sync_wait(), then the job's error: 0 if it is done, -ETIME if the deadline
 * passed, else what the fence carries (-EFAULT, -EINVAL, -ETIMEDOUT, -ECANCELED, -ENODEV, ...).
 */
int tsr_sync_finish(struct tsr_sync *sync, uint64_t point, int64_t deadline);

/* tsr_sync_get_point(): *@point gets the last point of a timeline that is signalled, 0 if none. */
int tsr_sync_get_point(struct tsr_sync *sync, uint64_t *point);

/* tsr_sync_signal(): signal from the CPU: a binary sync (@point 0) or a point of a timeline. */
int tsr_sync_signal(struct tsr_sync *sync, uint64_t point);

/* tsr_sync_reset(): take the fence out, so that it is unsubmitted again. */
int tsr_sync_reset(struct tsr_sync *sync);

/*
 * tsr_sync_export(), tsr_sync_import(): share the sync itself (not its present fence) with another
 * process; @fd belongs to the caller. @timeline says what the exporter made it.
 */
int tsr_sync_export(struct tsr_sync *sync, int *fd);
int tsr_sync_import(struct tsr_device *device, int fd, bool timeline, struct tsr_sync **sync);

/*
 * tsr_sync_export_file(): a sync_file of the fence that is at @point now, for other drivers and for
 * poll(); *@fd is the caller's to close. -EINVAL if there is no fence yet.
 */
int tsr_sync_export_file(struct tsr_sync *sync, uint64_t point, int *fd);

/* tsr_sync_import_file(): put the fence of a sync_file at @point. @fd stays the caller's. */
int tsr_sync_import_file(struct tsr_sync *sync, uint64_t point, int fd);

/* ---- Heaps and performance monitors ---------------------------------------------------------- */

/*
 * tsr_tiler_heap_create(): a heap for BIN and RENDER jobs of @vm: addresses for @limit bytes, of
 * which @initial have memory; the kernel adds more, @chunk bytes at a time (a power of two from
 * 64 KiB to 2 MiB, of which @initial and @limit are multiples), while the binner waits.
 * FRAME.HEAP is tsr_tiler_heap_va(), FRAME.HEAP_SIZE 0. One BIN job at a time fills it.
 * -EOPNOTSUPP for a driver older than 1.2, -EINVAL for sizes it does not take.
 */
int tsr_tiler_heap_create(struct tsr_vm *vm, uint64_t initial, uint64_t limit, uint32_t chunk,
			  struct tsr_tiler_heap **heap);
struct tsr_tiler_heap *tsr_tiler_heap_ref(struct tsr_tiler_heap *heap);
void tsr_tiler_heap_unref(struct tsr_tiler_heap *heap);

/* tsr_tiler_heap_va(): its first address. */
uint64_t tsr_tiler_heap_va(const struct tsr_tiler_heap *heap);

/* tsr_tiler_heap_id(): the kernel's id, for ioctls of the caller's own. */
uint32_t tsr_tiler_heap_id(const struct tsr_tiler_heap *heap);

/*
 * tsr_perfmon_create(): a monitor of @count counters, by drm_tessera_counter_info.id. -EINVAL for
 * one the device does not have or one twice, -EOPNOTSUPP for a driver older than 1.2.
 */
int tsr_perfmon_create(struct tsr_device *device, const uint32_t *counters, unsigned int count,
		       struct tsr_perfmon **perfmon);
struct tsr_perfmon *tsr_perfmon_ref(struct tsr_perfmon *perfmon);
void tsr_perfmon_unref(struct tsr_perfmon *perfmon);

/*
 * tsr_perfmon_read(): what the jobs that are done have counted, in the order of its counters;
 * @reset: and begin again at 0.
 */
int tsr_perfmon_read(struct tsr_perfmon *perfmon, uint64_t *values, bool reset);

/* ---- Submitting ------------------------------------------------------------------------------ */

/* tsr_submit_create(): an empty list of jobs. It can be used again after each flush. */
int tsr_submit_create(struct tsr_device *device, struct tsr_submit **submit);
void tsr_submit_destroy(struct tsr_submit *submit);

/*
 * tsr_submit_job(): add a job that runs the stream [@va, @va + @size) on @queue; both 0 for a job
 * that only waits and signals. Returns its index, 0 for the first. -EINVAL for an address that is
 * not 64-byte or a size that is not 8-byte aligned, or a queue of another device or VM than the
 * jobs before; -ENOSPC beyond drm_tessera_gpu_info.max_jobs.
 */
int tsr_submit_job(struct tsr_submit *submit, struct tsr_queue *queue, uint64_t va, uint32_t size);

/*
 * tsr_submit_stream(): the same for a stream that is finished by this call. The stream's memory has
 * to stay until the job is done.
 */
int tsr_submit_stream(struct tsr_submit *submit, struct tsr_queue *queue,
		      struct tsr_stream *stream);

/*
 * tsr_submit_after(): let @job start only when job @earlier of the same list is done. -EINVAL
 * unless 0 <= @earlier < @job < number of jobs.
 */
int tsr_submit_after(struct tsr_submit *submit, int job, int earlier);

/*
 * tsr_submit_wait(), tsr_submit_signal(): let @job wait for, or signal, @point of @sync (0 for a
 * binary sync, not 0 for a timeline, else -EINVAL). The list keeps a reference until it is flushed.
 * What is waited for has to be submitted, or signalled by an earlier job of the list, when the
 * list is flushed. -ENOSPC beyond drm_tessera_gpu_info.max_syncs per job and direction.
 */
int tsr_submit_wait(struct tsr_submit *submit, int job, struct tsr_sync *sync, uint64_t point);
int tsr_submit_signal(struct tsr_submit *submit, int job, struct tsr_sync *sync, uint64_t point);

/*
 * tsr_submit_heap(), tsr_submit_perfmon(): let @job, of a BIN or RENDER queue, use @heap; let
 * @perfmon count it. The list keeps a reference until it is flushed.
 */
int tsr_submit_heap(struct tsr_submit *submit, int job, struct tsr_tiler_heap *heap);
int tsr_submit_perfmon(struct tsr_submit *submit, int job, struct tsr_perfmon *perfmon);

/*
 * tsr_submit_flush(): hand all jobs to the kernel, all or none, and empty the list. On an error the
 * list stays as it is. -ECANCELED if a queue or its VM is banned, -EINVAL if a wait has no fence.
 * May block while a ring is full.
 */
int tsr_submit_flush(struct tsr_submit *submit);

/* tsr_submit_reset(): drop all jobs. */
void tsr_submit_reset(struct tsr_submit *submit);

/*
 * tsr_queue_run(): submit one stream (finished by this call) and signal @point of @sync; the short
 * form of the above. @sync may be NULL.
 */
int tsr_queue_run(struct tsr_queue *queue, struct tsr_stream *stream, struct tsr_sync *sync,
		  uint64_t point);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_TESSERA_H */
