/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* Copyright 2026 The Tessera authors */
#ifndef _UAPI_TESSERA_DRM_H_
#define _UAPI_TESSERA_DRM_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: Overview
 *
 * A file that was opened on a Tessera node owns virtual address spaces (VMs),
 * buffer objects (BOs) and queues. User space chooses every GPU address, maps
 * BOs there with VM_BIND, writes a command stream into one of them and hands
 * its address to a queue with SUBMIT. Ordering is explicit: drm_syncobj in and
 * out, both binary and timeline. Waiting is done with the syncobj ioctls of
 * the DRM core, so there is no wait ioctl here.
 *
 * The kernel does not look into command streams. They run unprivileged in the
 * VM of their queue, and what they may touch is decided by that VM's page
 * tables alone.
 */

/**
 * DOC: Rules
 *
 * - Every structure is a multiple of 8 bytes, has no implicit hole and has the
 *   same layout for 32-bit and 64-bit user space. There are no unions, no
 *   bit-fields, no enum-typed fields and no pointers other than __u64.
 * - Unknown flag bits, non-zero padding and unknown enumerators are rejected
 *   with -EINVAL. A handle or an id that does not resolve is -ENOENT.
 * - Top-level arguments grow at the end. A kernel that is handed a larger
 *   argument than it knows rejects it with -E2BIG unless the tail is zero; a
 *   shorter one is read as if it were padded with zeros.
 * - Array elements grow at the end too: &drm_tessera_array.stride is the size
 *   user space was built with, and the same -E2BIG rule applies per element.
 * - Zero in any field added later means "behave as before the field existed".
 * - No field is overloaded: a type, a direction and flags never share a word.
 * - An ioctl that fails has no side effect. In particular SUBMIT and VM_BIND
 *   accept all their elements or none.
 * - Output fields are not read on input unless their text says "in".
 */

/**
 * DOC: Errors
 *
 * These apply to every ioctl: -EFAULT for a bad user pointer, -EINVAL for a
 * malformed argument, -ENOENT for a handle or id that does not exist, -E2BIG
 * for data this kernel does not know, -ENOMEM, -EINTR (retry with the same
 * argument), -ENODEV once the device was unplugged. A wedged device answers
 * SUBMIT, QUEUE_CREATE and the MAP operations of VM_BIND with -EIO. Errors that
 * belong to one ioctl are listed with its argument.
 *
 * The fence of a job carries
 *
 * - 0: the job is done;
 * - -EFAULT: it accessed memory its VM does not let it access, or the bus
 *   refused the access, or a program's access was misaligned or beyond its
 *   group's or its own memory;
 * - -EINVAL: its command stream, a descriptor or a program is malformed;
 * - -ENOSPC: its tiler heap is exhausted, or the share of memory for heaps of its file
 *   or user is;
 * - -ENOMEM: the kernel could not refill its tiler heap in time;
 * - -ETIMEDOUT: it made no progress or did not come to an end and was stopped, or
 *   one of its programs exceeded the clause limit user space gave it;
 * - -ECANCELED: its queue was destroyed or banned before it could run or
 *   finish, or it lost its state to a reset that another queue caused;
 * - -ENODEV: the device went away;
 * - -EIO: the device is wedged.
 *
 * The fence of an asynchronous VM_BIND carries 0, -ENODEV, or -EIO if the device
 * did not confirm it. It takes place whatever the fences it waits for carry, and
 * what it needs it has before the call returns.
 */

/**
 * enum drm_tessera_limits - numbers that belong to the interface
 *
 * What depends on the device is in struct drm_tessera_gpu_info instead.
 */
enum drm_tessera_limits {
	/** @DRM_TESSERA_CMD_ALIGN: Alignment of &drm_tessera_job.cmd_va, bytes. */
	DRM_TESSERA_CMD_ALIGN = 64,
	/** @DRM_TESSERA_CMD_SIZE_ALIGN: Granule of &drm_tessera_job.cmd_size, bytes. */
	DRM_TESSERA_CMD_SIZE_ALIGN = 8,
	/** @DRM_TESSERA_CMD_SIZE_MAX: Largest &drm_tessera_job.cmd_size, bytes. */
	DRM_TESSERA_CMD_SIZE_MAX = 0x10000000,
	/** @DRM_TESSERA_MAX_JOBS: Upper bound of &drm_tessera_gpu_info.max_jobs, ever. */
	DRM_TESSERA_MAX_JOBS = 64,
	/** @DRM_TESSERA_STRIDE_MAX: Largest &drm_tessera_array.stride. */
	DRM_TESSERA_STRIDE_MAX = 4096,
	/** @DRM_TESSERA_LABEL_MAX: Longest BO label in bytes, without the NUL. */
	DRM_TESSERA_LABEL_MAX = 255,
	/** @DRM_TESSERA_FAULT_RECORDS: Fault records a VM keeps; the oldest is dropped. */
	DRM_TESSERA_FAULT_RECORDS = 32,
	/** @DRM_TESSERA_HEAP_ALIGN: Smallest &drm_tessera_heap_create.chunk_size. */
	DRM_TESSERA_HEAP_ALIGN = 0x10000,
	/** @DRM_TESSERA_HEAP_CHUNK_MAX: Largest one. */
	DRM_TESSERA_HEAP_CHUNK_MAX = 0x200000,
	/** @DRM_TESSERA_HEAP_SIZE_MAX: Largest &drm_tessera_heap_create.max_size. */
	DRM_TESSERA_HEAP_SIZE_MAX = 0x40000000
};

/**
 * struct drm_tessera_array - an extensible array in user memory
 *
 * -EINVAL if @count exceeds the limit of the array, or if @stride is smaller
 * than the first version of the element or above DRM_TESSERA_STRIDE_MAX;
 * -E2BIG if @stride is larger than the element this kernel knows and the tail of
 * any element is not zero. @stride is ignored if @count is 0.
 */
struct drm_tessera_array {
	/** @ptr: User pointer to the first element; ignored if @count is 0. */
	__u64 ptr;
	/** @count: Number of elements. */
	__u32 count;
	/** @stride: sizeof() one element as seen by user space. */
	__u32 stride;
};

/**
 * enum drm_tessera_sync_type - kind of synchronization object
 */
enum drm_tessera_sync_type {
	/** @DRM_TESSERA_SYNC_SYNCOBJ: Binary drm_syncobj. */
	DRM_TESSERA_SYNC_SYNCOBJ = 0,
	/** @DRM_TESSERA_SYNC_TIMELINE: A point on a timeline drm_syncobj. */
	DRM_TESSERA_SYNC_TIMELINE = 1
};

/**
 * struct drm_tessera_sync - one wait or one signal
 *
 * Direction is given by the array the element is in, never by a flag. A wait
 * takes the fence that is there when the ioctl runs; if there is none yet
 * (nothing was submitted for that point), the ioctl fails with -EINVAL. A
 * signal replaces the fence of a binary syncobj and adds a point to a timeline.
 */
struct drm_tessera_sync {
	/** @type: enum drm_tessera_sync_type. */
	__u32 type;
	/** @handle: drm_syncobj handle. */
	__u32 handle;
	/** @point: Timeline point, non-zero; must be zero for a binary syncobj. */
	__u64 point;
	/** @flags: Must be zero. */
	__u32 flags;
	/** @pad: Must be zero. */
	__u32 pad;
};

/**
 * enum drm_tessera_query_type - what DEV_QUERY returns
 */
enum drm_tessera_query_type {
	/** @DRM_TESSERA_QUERY_GPU_INFO: One struct drm_tessera_gpu_info. */
	DRM_TESSERA_QUERY_GPU_INFO = 0,
	/** @DRM_TESSERA_QUERY_ENGINES: Array of struct drm_tessera_engine_info. */
	DRM_TESSERA_QUERY_ENGINES = 1,
	/**
	 * @DRM_TESSERA_QUERY_COUNTERS: Array of struct drm_tessera_counter_info;
	 * what a perfmon can count. Empty before 1.2.
	 */
	DRM_TESSERA_QUERY_COUNTERS = 2,
	/** @DRM_TESSERA_QUERY_GPU_STATE: One struct drm_tessera_gpu_state. */
	DRM_TESSERA_QUERY_GPU_STATE = 3,
	/** @DRM_TESSERA_QUERY_SHADER_INFO: One struct drm_tessera_shader_info; since 1.1. */
	DRM_TESSERA_QUERY_SHADER_INFO = 4,
	/** @DRM_TESSERA_QUERY_FILE_LIMITS: One struct drm_tessera_file_limits; since 1.4. */
	DRM_TESSERA_QUERY_FILE_LIMITS = 5
};

/**
 * struct drm_tessera_dev_query - DRM_IOCTL_TESSERA_DEV_QUERY
 *
 * With @ptr == 0 only @size and @stride are written, with the sizes the kernel
 * knows. With @ptr != 0, min(@size, known) bytes are copied, the rest of the
 * user buffer is cleared and @size is updated to the number of bytes that carry
 * data.
 *
 * For the array queries @stride is the element size user space was built with;
 * elements are cut or zero-extended to it. With @ptr != 0, a @size below the
 * first version of the structure, a @stride below the first version of the
 * element and a non-zero @stride for a query that is no array are -EINVAL.
 */
struct drm_tessera_dev_query {
	/** @type: enum drm_tessera_query_type. */
	__u32 type;
	/** @size: Size of the user buffer in, bytes available out. */
	__u32 size;
	/** @ptr: User pointer to the buffer, or 0. */
	__u64 ptr;
	/** @stride: Element size for the array queries, zero otherwise; in and out. */
	__u32 stride;
	/** @pad: Must be zero. */
	__u32 pad;
};

/**
 * enum drm_tessera_feature - bits of &drm_tessera_gpu_info.features
 */
enum drm_tessera_feature {
	/** @DRM_TESSERA_FEATURE_LOCAL_MEMORY: The device has memory for LOCAL BOs. */
	DRM_TESSERA_FEATURE_LOCAL_MEMORY = 1 << 0,
	/** @DRM_TESSERA_FEATURE_DETERMINISTIC: Time is modelled work, schedules repeat. */
	DRM_TESSERA_FEATURE_DETERMINISTIC = 1 << 1,
	/** @DRM_TESSERA_FEATURE_QUEUE_RESET: A hang is cured without a device reset. */
	DRM_TESSERA_FEATURE_QUEUE_RESET = 1 << 2,
	/** @DRM_TESSERA_FEATURE_COMPRESSED: Textures may have compressed formats. */
	DRM_TESSERA_FEATURE_COMPRESSED = 1 << 3,
	/** @DRM_TESSERA_FEATURE_GEOMETRY: Patches, geometry shaders and stream-out are there. */
	DRM_TESSERA_FEATURE_GEOMETRY = 1 << 4,
	/** @DRM_TESSERA_FEATURE_TAGGED: Textures may be render targets with tags. */
	DRM_TESSERA_FEATURE_TAGGED = 1 << 5
};

/**
 * struct drm_tessera_gpu_info - immutable description of the device
 */
struct drm_tessera_gpu_info {
	/** @hw_version: Architecture version, major << 16 | minor. */
	__u32 hw_version;
	/** @engine_count: Number of entries in the ENGINES query. */
	__u32 engine_count;
	/** @features: enum drm_tessera_feature bits; not implied by @hw_version. */
	__u64 features;
	/** @va_start: First usable GPU virtual address. */
	__u64 va_start;
	/** @va_end: First GPU virtual address past the usable range. */
	__u64 va_end;
	/** @page_sizes: Bitmask of supported page sizes; the lowest is the bind granule. */
	__u64 page_sizes;
	/** @timestamp_hz: Frequency of the GPU timestamp counter. */
	__u64 timestamp_hz;
	/** @max_jobs: Largest drm_tessera_submit::jobs.count. */
	__u32 max_jobs;
	/** @max_syncs: Largest count of any drm_tessera_sync array. */
	__u32 max_syncs;
	/** @max_bind_ops: Largest drm_tessera_vm_bind::ops.count. */
	__u32 max_bind_ops;
	/** @max_counters: Largest number of counters in one perfmon, 0 without perfmons. */
	__u32 max_counters;
	/** @priority_mask: Bit n is set if this file may use priority n. */
	__u32 priority_mask;
	/** @tile_width: Width of a tile in pixels. */
	__u16 tile_width;
	/** @tile_height: Height of a tile in pixels. */
	__u16 tile_height;
	/** @local_size: Bytes of local memory, 0 if there is none. */
	__u64 local_size;
	/** @max_bo_size: Largest &drm_tessera_bo_create.size. */
	__u64 max_bo_size;
};

/**
 * enum drm_tessera_engine_class - engine classes
 */
enum drm_tessera_engine_class {
	/** @DRM_TESSERA_ENGINE_BIN: Geometry and binning. */
	DRM_TESSERA_ENGINE_BIN = 0,
	/** @DRM_TESSERA_ENGINE_RENDER: Per-tile rendering. */
	DRM_TESSERA_ENGINE_RENDER = 1,
	/** @DRM_TESSERA_ENGINE_COMPUTE: Compute. */
	DRM_TESSERA_ENGINE_COMPUTE = 2,
	/** @DRM_TESSERA_ENGINE_COPY: Copy and fill. */
	DRM_TESSERA_ENGINE_COPY = 3
};

/**
 * struct drm_tessera_engine_info - one engine class
 */
struct drm_tessera_engine_info {
	/** @engine_class: enum drm_tessera_engine_class. */
	__u32 engine_class;
	/** @instances: Number of identical engines (drm-engine-capacity). */
	__u32 instances;
	/** @min_ring_size: Smallest ring, bytes, power of two. */
	__u32 min_ring_size;
	/** @max_ring_size: Largest ring, bytes, power of two. */
	__u32 max_ring_size;
	/** @max_queues: Queues of this class the hardware holds at once. */
	__u32 max_queues;
	/** @pad: Zero. */
	__u32 pad;
};

/**
 * enum drm_tessera_counter_scope - what a counter that has no engine class counts
 */
enum drm_tessera_counter_scope {
	/** @DRM_TESSERA_COUNTER_ANY: The same if it counts for jobs of all classes. */
	DRM_TESSERA_COUNTER_ANY = 0x7ffffffe,
	/** @DRM_TESSERA_COUNTER_GLOBAL: &drm_tessera_counter_info.engine_class if global. */
	DRM_TESSERA_COUNTER_GLOBAL = 0x7fffffff
};

/**
 * struct drm_tessera_counter_info - one performance counter
 */
struct drm_tessera_counter_info {
	/** @id: Value to pass in drm_tessera_perfmon_create. */
	__u32 id;
	/**
	 * @engine_class: enum drm_tessera_engine_class, DRM_TESSERA_COUNTER_ANY or
	 * DRM_TESSERA_COUNTER_GLOBAL.
	 */
	__u32 engine_class;
	/** @name: NUL-terminated name, stable across kernel versions. */
	__u8 name[32];
	/** @description: NUL-terminated text. */
	__u8 description[96];
};

/**
 * enum drm_tessera_gpu_state_flags - bits of &drm_tessera_gpu_state.flags
 */
enum drm_tessera_gpu_state_flags {
	/** @DRM_TESSERA_GPU_WEDGED: Reset failed; submissions get -EIO until a rebind. */
	DRM_TESSERA_GPU_WEDGED = 1 << 0
};

/**
 * struct drm_tessera_gpu_state - volatile device state
 */
struct drm_tessera_gpu_state {
	/** @reset_count: Full device resets since probe. */
	__u64 reset_count;
	/** @flags: enum drm_tessera_gpu_state_flags. */
	__u64 flags;
	/** @queue_reset_count: Resets of a single queue since probe. */
	__u64 queue_reset_count;
	/** @local_used: Bytes of local memory that are allocated. */
	__u64 local_used;
	/** @evictions: BOs moved to system memory since probe; since 1.6, as what follows. */
	__u64 evictions;
	/** @restores: BOs moved back to local memory. */
	__u64 restores;
	/** @evicted_bytes: Bytes of @evictions. */
	__u64 evicted_bytes;
	/** @restored_bytes: Bytes of @restores. */
	__u64 restored_bytes;
};

/**
 * struct drm_tessera_shader_info - immutable description of the shader cores
 *
 * All zero if the device has no shader cores. A program gets scratch memory from
 * user space: enough for every thread the cores can hold at once, which is
 * @warp_lanes * @core_warps * @cores threads (half of that for programs that use
 * 64 registers).
 */
struct drm_tessera_shader_info {
	/** @cores: Shader cores; the engines that run programs share them. */
	__u32 cores;
	/** @warp_lanes: Threads of a warp. */
	__u32 warp_lanes;
	/** @core_warps: Warps a core holds of programs with 32 registers; half with 64. */
	__u32 core_warps;
	/** @max_group_threads: Most threads of a thread group. */
	__u32 max_group_threads;
	/** @max_group_memory: Most memory of a thread group, bytes. */
	__u32 max_group_memory;
	/** @max_groups: Most groups of a dispatch along one dimension. */
	__u32 max_groups;
	/** @max_scratch: Most scratch memory of a thread, bytes. */
	__u32 max_scratch;
	/** @max_push_words: Most 32-bit words a dispatch hands to its program directly. */
	__u32 max_push_words;
};

/**
 * struct drm_tessera_file_limits - what this file may have, and has
 *
 * Things there are few of are shared between all files that are open, so each file has
 * a limit, and what exceeds it is -ENOSPC, as is what would fit but is taken by others.
 * The limits do not change while the device is there. What was given up counts until
 * the kernel has torn it down; a call that meets the limit waits for that.
 *
 * All files of one user together have limits as well, and what exceeds them is -ENOSPC
 * too: three quarters of the device's queues, address spaces, perfmons and local memory,
 * and three times the file's limit of VMs, heaps, heap memory and page tables. The user is
 * the real uid of the task that opened the file. A limit of a user is never below that of
 * a file. An object counts for the user until it is freed, also if its file was closed
 * earlier.
 */
struct drm_tessera_file_limits {
	/** @max_vms: Most VMs; one whose id is gone counts while something keeps it. */
	__u32 max_vms;
	/** @vms: VMs there are. */
	__u32 vms;
	/** @max_queues: Most queues. */
	__u32 max_queues;
	/** @queues: Queues there are. */
	__u32 queues;
	/** @max_address_spaces: Most VMs that have queues at the same time. */
	__u32 max_address_spaces;
	/** @address_spaces: VMs that have queues. */
	__u32 address_spaces;
	/** @max_heaps: Most tiler heaps. */
	__u32 max_heaps;
	/** @heaps: Tiler heaps there are. */
	__u32 heaps;
	/** @max_perfmons: Most performance monitors. */
	__u32 max_perfmons;
	/** @perfmons: Performance monitors there are. */
	__u32 perfmons;
	/** @max_heap_memory: Most memory of all tiler heaps, bytes. */
	__u64 max_heap_memory;
	/** @heap_memory: Memory that tiler heaps have. */
	__u64 heap_memory;
	/** @max_page_tables: Most memory of page tables, bytes. */
	__u64 max_page_tables;
	/** @page_tables: Memory of page tables, with what binds on their way may need. */
	__u64 page_tables;
	/** @max_local_memory: Most memory of BOs with LOCAL_ONLY, bytes. */
	__u64 max_local_memory;
	/** @local_memory: Memory of BOs with LOCAL_ONLY that were created on this file. */
	__u64 local_memory;
};

/**
 * struct drm_tessera_get_timestamp - DRM_IOCTL_TESSERA_GET_TIMESTAMP
 *
 * -EINVAL for a clock that is neither CLOCK_MONOTONIC nor CLOCK_MONOTONIC_RAW. -EIO if
 * the device does not answer, -ENODEV if it is gone.
 */
struct drm_tessera_get_timestamp {
	/** @clock_id: CLOCK_MONOTONIC or CLOCK_MONOTONIC_RAW. */
	__s32 clock_id;
	/** @flags: Must be zero. */
	__u32 flags;
	/** @gpu_ticks: GPU counter, out. */
	__u64 gpu_ticks;
	/** @cpu_ns: CPU clock sampled next to @gpu_ticks, out. */
	__u64 cpu_ns;
	/** @max_deviation_ns: Upper bound of the distance of the samples, out. */
	__u64 max_deviation_ns;
};

/**
 * struct drm_tessera_vm_create - DRM_IOCTL_TESSERA_VM_CREATE
 *
 * The kernel never allocates virtual addresses in a user VM. -ENOSPC if the file has
 * &drm_tessera_file_limits.max_vms of them or its user three times as many, or if its
 * page table exceeds a limit.
 */
struct drm_tessera_vm_create {
	/** @flags: Must be zero. */
	__u32 flags;
	/** @vm_id: Id, non-zero, out. */
	__u32 vm_id;
};

/**
 * struct drm_tessera_vm_destroy - DRM_IOCTL_TESSERA_VM_DESTROY
 *
 * The id is gone at once. Queues keep the VM and its mappings alive.
 */
struct drm_tessera_vm_destroy {
	/** @vm_id: VM to drop. */
	__u32 vm_id;
	/** @pad: Must be zero. */
	__u32 pad;
};

/**
 * enum drm_tessera_bind_op_type - VM_BIND operations
 */
enum drm_tessera_bind_op_type {
	/** @DRM_TESSERA_BIND_MAP: Map a range of a BO, replacing what is there. */
	DRM_TESSERA_BIND_MAP = 0,
	/** @DRM_TESSERA_BIND_MAP_NULL: Reads return zero, writes are dropped. */
	DRM_TESSERA_BIND_MAP_NULL = 1,
	/** @DRM_TESSERA_BIND_UNMAP: Remove whatever is mapped in the range. */
	DRM_TESSERA_BIND_UNMAP = 2,
	/** @DRM_TESSERA_BIND_UNMAP_BO: Remove every mapping of a BO. */
	DRM_TESSERA_BIND_UNMAP_BO = 3
};

/**
 * enum drm_tessera_bind_op_flags - permissions, positive logic
 */
enum drm_tessera_bind_op_flags {
	/** @DRM_TESSERA_BIND_READ: The GPU may read. */
	DRM_TESSERA_BIND_READ = 1 << 0,
	/** @DRM_TESSERA_BIND_WRITE: The GPU may write. */
	DRM_TESSERA_BIND_WRITE = 1 << 1,
	/** @DRM_TESSERA_BIND_EXEC: The GPU may fetch commands and shaders. */
	DRM_TESSERA_BIND_EXEC = 1 << 2
};

/**
 * struct drm_tessera_bind_op - one VM_BIND operation
 */
struct drm_tessera_bind_op {
	/** @op: enum drm_tessera_bind_op_type. */
	__u32 op;
	/** @flags: enum drm_tessera_bind_op_flags, non-zero for MAP, else zero. */
	__u32 flags;
	/** @bo_handle: MAP and UNMAP_BO, else zero. */
	__u32 bo_handle;
	/** @pad: Must be zero. */
	__u32 pad;
	/** @va: Start, bind-granule aligned; zero for UNMAP_BO. */
	__u64 va;
	/** @size: Length, non-zero and aligned; zero for UNMAP_BO. */
	__u64 size;
	/** @bo_offset: MAP only, aligned; else zero. */
	__u64 bo_offset;
};

/**
 * enum drm_tessera_vm_bind_flags - VM_BIND flags
 */
enum drm_tessera_vm_bind_flags {
	/** @DRM_TESSERA_VM_BIND_ASYNC: Queue the operations on the VM. */
	DRM_TESSERA_VM_BIND_ASYNC = 1 << 0
};

/**
 * struct drm_tessera_vm_bind - DRM_IOCTL_TESSERA_VM_BIND
 *
 * The waits gate the first operation, the signals follow the last one, the
 * operations are applied in order and as a unit. Operations of one VM are
 * applied in the order of their ioctls; a synchronous VM_BIND waits for the
 * asynchronous ones before it. @ops may be empty with ASYNC: that is a barrier.
 *
 * -EINVAL without ASYNC if a sync array is not empty or @ops is; for va, size
 * or bo_offset unaligned, size 0, a range outside [va_start, va_end) or beyond
 * the end of the BO; MAP without permissions, of a purged BO, or with WRITE on a
 * read-only import; a BO private to another VM. -EBUSY if the range touches a tiler heap.
 * -ENOENT for MAP and MAP_NULL on a VM with DRM_TESSERA_VM_BANNED (the rule of
 * Documentation/gpu/drm-vm-bind-async.rst); UNMAP still works there. -ENOSPC if the
 * page tables it may need exceed &drm_tessera_file_limits.max_page_tables, or the
 * limit of the user.
 */
struct drm_tessera_vm_bind {
	/** @vm_id: VM to operate on. */
	__u32 vm_id;
	/** @flags: enum drm_tessera_vm_bind_flags. */
	__u32 flags;
	/** @ops: struct drm_tessera_bind_op array. */
	struct drm_tessera_array ops;
	/** @waits: struct drm_tessera_sync array. */
	struct drm_tessera_array waits;
	/** @signals: struct drm_tessera_sync array. */
	struct drm_tessera_array signals;
};

/**
 * enum drm_tessera_fault_reason - why the GPU could not access memory
 */
enum drm_tessera_fault_reason {
	/** @DRM_TESSERA_FAULT_NOT_MAPPED: Nothing is mapped at the address. */
	DRM_TESSERA_FAULT_NOT_MAPPED = 0,
	/** @DRM_TESSERA_FAULT_PERMISSION: The mapping does not permit this access. */
	DRM_TESSERA_FAULT_PERMISSION = 1,
	/** @DRM_TESSERA_FAULT_PAGE_TABLE: A page-table entry is malformed. */
	DRM_TESSERA_FAULT_PAGE_TABLE = 2,
	/** @DRM_TESSERA_FAULT_WALK_BUS: The bus refused the read of a page table. */
	DRM_TESSERA_FAULT_WALK_BUS = 3,
	/** @DRM_TESSERA_FAULT_BUS: The bus refused the access to the mapped page. */
	DRM_TESSERA_FAULT_BUS = 4,
	/** @DRM_TESSERA_FAULT_ADDRESS: The address is beyond the range of the MMU. */
	DRM_TESSERA_FAULT_ADDRESS = 5
};

/**
 * struct drm_tessera_fault - one recorded GPU fault
 */
struct drm_tessera_fault {
	/** @va: Faulting address, page aligned. */
	__u64 va;
	/** @timestamp_ns: CLOCK_MONOTONIC time of the report. */
	__u64 timestamp_ns;
	/** @queue_id: Queue that faulted, 0 if it is gone. */
	__u32 queue_id;
	/** @access: Exactly one drm_tessera_bind_op_flags bit. */
	__u32 access;
	/** @reason: enum drm_tessera_fault_reason. */
	__u32 reason;
	/** @level: Page-table level the walk stopped at, 0 is the level of 4 KiB pages. */
	__u32 level;
};

/**
 * enum drm_tessera_vm_state_flags - bits of &drm_tessera_vm_get_state.flags
 */
enum drm_tessera_vm_state_flags {
	/**
	 * @DRM_TESSERA_VM_BANNED: An asynchronous bind failed, so what is mapped
	 * is not what user space asked for: SUBMIT is -ECANCELED, MAP is -ENOENT.
	 */
	DRM_TESSERA_VM_BANNED = 1 << 0
};

/**
 * struct drm_tessera_vm_get_state - DRM_IOCTL_TESSERA_VM_GET_STATE
 */
struct drm_tessera_vm_get_state {
	/** @vm_id: VM to query. */
	__u32 vm_id;
	/** @flags: enum drm_tessera_vm_state_flags; zero in, out. */
	__u32 flags;
	/** @fault_count: Faults since creation, out. */
	__u64 fault_count;
	/**
	 * @faults: struct drm_tessera_fault array to fill, oldest first; count
	 * is capacity in and number filled out. At most
	 * DRM_TESSERA_FAULT_RECORDS are kept; reading does not remove them.
	 */
	struct drm_tessera_array faults;
};

/**
 * enum drm_tessera_bo_flags - BO creation flags
 */
enum drm_tessera_bo_flags {
	/** @DRM_TESSERA_BO_NO_MMAP: Never CPU mapped; BO_MMAP_OFFSET is -EPERM. */
	DRM_TESSERA_BO_NO_MMAP = 1 << 0,
	/** @DRM_TESSERA_BO_CACHED: Write-back CPU mappings instead of write-combined. */
	DRM_TESSERA_BO_CACHED = 1 << 1,
	/**
	 * @DRM_TESSERA_BO_LOCAL: Prefer the device's local memory. When that is full, BOs
	 * that are not in use are moved to system memory, the least recently used first, and
	 * back when a job of a VM that maps them is submitted and there is room. GPU
	 * addresses, CPU mappings and contents stay the same, and jobs can use a BO wherever
	 * it is. Before 1.6 a BO stayed where it was created.
	 */
	DRM_TESSERA_BO_LOCAL = 1 << 2,
	/** @DRM_TESSERA_BO_LOCAL_ONLY: With LOCAL: never move it. Since 1.6. */
	DRM_TESSERA_BO_LOCAL_ONLY = 1 << 3
};

/**
 * struct drm_tessera_bo_create - DRM_IOCTL_TESSERA_BO_CREATE
 *
 * The memory reads as zero. -EINVAL for size 0 or above
 * &drm_tessera_gpu_info.max_bo_size, for CACHED with NO_MMAP or LOCAL, and for
 * LOCAL_ONLY without LOCAL. -ENOSPC for LOCAL if @size is above
 * &drm_tessera_gpu_info.local_size, which is 0 without local memory; for LOCAL_ONLY
 * also if there is no room, because BOs in use are not moved, or the share of the file
 * or its user is used up.
 */
struct drm_tessera_bo_create {
	/** @size: Non-zero; rounded up to a page, in and out. */
	__u64 size;
	/** @flags: enum drm_tessera_bo_flags. */
	__u32 flags;
	/** @vm_id: If non-zero the BO is private to that VM and not exportable. */
	__u32 vm_id;
	/** @handle: GEM handle, non-zero, out. */
	__u32 handle;
	/** @pad: Must be zero. */
	__u32 pad;
};

/**
 * struct drm_tessera_bo_mmap_offset - DRM_IOCTL_TESSERA_BO_MMAP_OFFSET
 *
 * -EPERM for a BO with DRM_TESSERA_BO_NO_MMAP, -EINVAL for an imported BO: mmap
 * the dma-buf instead.
 */
struct drm_tessera_bo_mmap_offset {
	/** @handle: GEM handle. */
	__u32 handle;
	/** @flags: Must be zero. */
	__u32 flags;
	/** @offset: Offset for mmap() on this file, out. */
	__u64 offset;
};

/**
 * enum drm_tessera_bo_state - bits of &drm_tessera_bo_info.state
 */
enum drm_tessera_bo_state {
	/** @DRM_TESSERA_BO_IMPORTED: The memory belongs to another device. */
	DRM_TESSERA_BO_IMPORTED = 1 << 0,
	/** @DRM_TESSERA_BO_EXPORTED: A dma-buf of the BO exists or existed. */
	DRM_TESSERA_BO_EXPORTED = 1 << 1,
	/** @DRM_TESSERA_BO_PURGEABLE: Marked DRM_TESSERA_MADV_DONT_NEED. */
	DRM_TESSERA_BO_PURGEABLE = 1 << 2,
	/** @DRM_TESSERA_BO_PURGED: The contents are gone. */
	DRM_TESSERA_BO_PURGED = 1 << 3,
	/** @DRM_TESSERA_BO_RESIDENT: The BO has memory at this moment. */
	DRM_TESSERA_BO_RESIDENT = 1 << 4,
	/** @DRM_TESSERA_BO_IN_LOCAL: It is in local memory at this moment. Since 1.6. */
	DRM_TESSERA_BO_IN_LOCAL = 1 << 5
};

/**
 * struct drm_tessera_bo_info - DRM_IOCTL_TESSERA_BO_INFO
 */
struct drm_tessera_bo_info {
	/** @handle: GEM handle. */
	__u32 handle;
	/** @create_flags: enum drm_tessera_bo_flags in effect, out. */
	__u32 create_flags;
	/** @size: Size in bytes, out. */
	__u64 size;
	/** @state: enum drm_tessera_bo_state, out. */
	__u32 state;
	/** @vm_id: VM the BO is private to or 0, out. */
	__u32 vm_id;
};

/**
 * struct drm_tessera_bo_set_label - DRM_IOCTL_TESSERA_BO_SET_LABEL
 *
 * -E2BIG if the string is longer than DRM_TESSERA_LABEL_MAX. The label shows up
 * in debugfs only.
 */
struct drm_tessera_bo_set_label {
	/** @handle: GEM handle. */
	__u32 handle;
	/** @pad: Must be zero. */
	__u32 pad;
	/** @label: User pointer to a NUL-terminated string; 0 clears. */
	__u64 label;
};

/**
 * enum drm_tessera_madv - advice about the contents of a BO
 */
enum drm_tessera_madv {
	/** @DRM_TESSERA_MADV_WILL_NEED: Keep the contents. */
	DRM_TESSERA_MADV_WILL_NEED = 0,
	/** @DRM_TESSERA_MADV_DONT_NEED: The contents may go under memory pressure. */
	DRM_TESSERA_MADV_DONT_NEED = 1
};

/**
 * struct drm_tessera_bo_madvise - DRM_IOCTL_TESSERA_BO_MADVISE
 *
 * A BO with DONT_NEED that no job and no bind on its way uses may be purged when
 * memory is short: it is removed from all VMs (a job that touches it gets -EFAULT)
 * and from address spaces of the CPU (SIGBUS), and for good: WILL_NEED answers
 * with @retained 0, VM_BIND MAP, BO_MMAP_OFFSET and exports of it are -EINVAL. LOCAL
 * BOs are never purged; with DONT_NEED they are the first to be moved to system memory.
 * Exporting a BO means WILL_NEED.
 *
 * -EINVAL for an unknown @madv, for an imported BO and for one that was ever
 * exported. Since 1.3; -EOPNOTSUPP before.
 */
struct drm_tessera_bo_madvise {
	/** @handle: GEM handle of a BO that is neither imported nor exported. */
	__u32 handle;
	/** @madv: enum drm_tessera_madv. */
	__u32 madv;
	/** @retained: 1 if the contents are still there, else 0, out. */
	__u32 retained;
	/** @pad: Must be zero. */
	__u32 pad;
};

/**
 * enum drm_tessera_priority - queue priorities
 */
enum drm_tessera_priority {
	/** @DRM_TESSERA_PRIORITY_LOW: Below normal. */
	DRM_TESSERA_PRIORITY_LOW = 0,
	/** @DRM_TESSERA_PRIORITY_NORMAL: Default. */
	DRM_TESSERA_PRIORITY_NORMAL = 1,
	/** @DRM_TESSERA_PRIORITY_HIGH: CAP_SYS_NICE or DRM master, else -EACCES. */
	DRM_TESSERA_PRIORITY_HIGH = 2
};

/**
 * struct drm_tessera_queue_create - DRM_IOCTL_TESSERA_QUEUE_CREATE
 *
 * A queue is one ring and one slot of the hardware. A job that fails, by a fault
 * or by not finishing in time, bans its queue: later jobs of the queue complete
 * with -ECANCELED, and a new queue has to be made. Other queues go on. -EINVAL for an engine class
 * the ENGINES query does not list and for a ring size that is no power of two
 * or out of the range given there, -EACCES for a priority this file may not
 * use, -ENOSPC if every slot or address space is taken or the file or its user has its
 * share of them (struct drm_tessera_file_limits), -ECANCELED on a banned VM. A program
 * should create a queue for its first job, not at its start: slots are few.
 */
struct drm_tessera_queue_create {
	/** @vm_id: Address space of every job of the queue. */
	__u32 vm_id;
	/** @engine_class: enum drm_tessera_engine_class. */
	__u32 engine_class;
	/** @priority: enum drm_tessera_priority. */
	__u32 priority;
	/** @ring_size: Bytes, power of two, 0 for the default. */
	__u32 ring_size;
	/** @flags: Must be zero. */
	__u32 flags;
	/** @queue_id: Id, non-zero, out. */
	__u32 queue_id;
};

/**
 * struct drm_tessera_queue_destroy - DRM_IOCTL_TESSERA_QUEUE_DESTROY
 *
 * Jobs that have not finished are cancelled: their fences carry -ECANCELED. A job that
 * the device has begun ends before the ioctl returns. Any other job ends, without having
 * begun, once the fences that it waits for have signalled and the jobs before it on the
 * queue have ended. That may be after the ioctl has returned.
 */
struct drm_tessera_queue_destroy {
	/** @queue_id: Queue to drop. */
	__u32 queue_id;
	/** @pad: Must be zero. */
	__u32 pad;
};

/**
 * enum drm_tessera_queue_state_flags - why a queue no longer runs
 */
enum drm_tessera_queue_state_flags {
	/** @DRM_TESSERA_QUEUE_BANNED: SUBMIT returns -ECANCELED from now on. */
	DRM_TESSERA_QUEUE_BANNED = 1 << 0,
	/** @DRM_TESSERA_QUEUE_TIMEDOUT: A job of this queue did not finish in time. */
	DRM_TESSERA_QUEUE_TIMEDOUT = 1 << 1,
	/** @DRM_TESSERA_QUEUE_FAULTED: A job of this queue faulted. */
	DRM_TESSERA_QUEUE_FAULTED = 1 << 2,
	/** @DRM_TESSERA_QUEUE_INNOCENT: Lost work to a reset another queue caused. */
	DRM_TESSERA_QUEUE_INNOCENT = 1 << 3
};

/**
 * enum drm_tessera_queue_fault_flags - bits of &drm_tessera_queue_get_state.fault_flags
 */
enum drm_tessera_queue_fault_flags {
	/**
	 * @DRM_TESSERA_QUEUE_FAULT_PROGRAM: A program was at fault. The clause, tuple,
	 * lane, warp, core and group name the instruction and the thread; else they are
	 * zero.
	 */
	DRM_TESSERA_QUEUE_FAULT_PROGRAM = 1 << 0,
	/** @DRM_TESSERA_QUEUE_FAULT_ADD: The tuple's ADD instruction, else its FMA. */
	DRM_TESSERA_QUEUE_FAULT_ADD = 1 << 1
};

/**
 * struct drm_tessera_queue_get_state - DRM_IOCTL_TESSERA_QUEUE_GET_STATE
 *
 * The fields from @fault_va on exist since version 1.1.
 */
struct drm_tessera_queue_get_state {
	/** @queue_id: Queue to query. */
	__u32 queue_id;
	/** @state: enum drm_tessera_queue_state_flags, out. */
	__u32 state;
	/** @reset_count: Resets this queue was affected by, out. */
	__u32 reset_count;
	/** @error: Positive errno of the last failed job, 0 if none, out. */
	__u32 error;
	/** @jobs_completed: Jobs completed without error, out. */
	__u64 jobs_completed;
	/** @fault_code: Fault code of the hardware for that job, 0 if none, out. */
	__u32 fault_code;
	/** @pad: Zero, out. */
	__u32 pad;
	/** @fault_packet_va: Address of the packet it stopped at, 0 if unknown, out. */
	__u64 fault_packet_va;
	/**
	 * @fault_va: Address the fault is about, exact to the byte, out: of the access, of
	 * the offending word of a packet or descriptor, or of the clause.
	 */
	__u64 fault_va;
	/** @fault_clause_va: Address of the clause that was at fault, out. */
	__u64 fault_clause_va;
	/** @fault_flags: enum drm_tessera_queue_fault_flags, out. */
	__u32 fault_flags;
	/** @fault_tuple: Instruction tuple of the clause, out. */
	__u32 fault_tuple;
	/** @fault_lane: Lane of the warp, out. */
	__u32 fault_lane;
	/** @fault_warp: Warp of the thread group, out. */
	__u32 fault_warp;
	/** @fault_core: Shader core, out. */
	__u32 fault_core;
	/** @fault_group: Thread group, x, y and z, out. */
	__u32 fault_group[3];
};

/**
 * struct drm_tessera_job - one job of a SUBMIT
 */
struct drm_tessera_job {
	/** @queue_id: Queue to run on. */
	__u32 queue_id;
	/** @flags: Must be zero. */
	__u32 flags;
	/** @cmd_va: Command stream address, a multiple of DRM_TESSERA_CMD_ALIGN. */
	__u64 cmd_va;
	/**
	 * @cmd_size: Multiple of DRM_TESSERA_CMD_SIZE_ALIGN bytes; 0 is a
	 * barrier and needs @cmd_va == 0.
	 */
	__u32 cmd_size;
	/** @heap_id: Tiler heap for a bin or render job, else 0. */
	__u32 heap_id;
	/** @after: Bit n: wait for job n of this SUBMIT; only lower indices. */
	__u64 after;
	/** @perfmon_id: Performance monitor to run under, 0 for none. */
	__u32 perfmon_id;
	/** @pad: Must be zero. */
	__u32 pad;
	/** @waits: struct drm_tessera_sync array. */
	struct drm_tessera_array waits;
	/** @signals: struct drm_tessera_sync array. */
	struct drm_tessera_array signals;
};

/**
 * struct drm_tessera_submit - DRM_IOCTL_TESSERA_SUBMIT
 *
 * Jobs of one queue start in the order in which they were submitted. A wait
 * takes the fence of the nearest earlier job of the same SUBMIT that signals
 * the same syncobj and point, else the fence that was there before the ioctl.
 * Since 1.5 a timeline point implies all points before it within one SUBMIT, too. If
 * neither exists, the wait takes the lowest point above its own that an earlier job of
 * the same SUBMIT signals. A wait for a point that an earlier job signals also waits
 * for the signals of that timeline before it.
 *
 * -EINVAL for a cmd_va or cmd_size that is unaligned, for a cmd_size above
 * DRM_TESSERA_CMD_SIZE_MAX, for only one of them zero, for a range outside
 * [va_start, va_end), for an @after bit that names the job itself or a later one,
 * for a heap on a compute or copy queue, for jobs of different VMs. -ECANCELED if
 * a queue or the VM is banned.
 */
struct drm_tessera_submit {
	/** @flags: Must be zero. */
	__u32 flags;
	/** @pad: Must be zero. */
	__u32 pad;
	/** @jobs: struct drm_tessera_job array; an empty array is a no-op. */
	struct drm_tessera_array jobs;
};

/**
 * struct drm_tessera_heap_create - DRM_IOCTL_TESSERA_HEAP_CREATE
 *
 * User space owns the addresses: [va, va + max_size) must be unmapped and
 * belongs to the heap until it is destroyed (VM_BIND there is -EBUSY). It is
 * what &FRAME.HEAP of the frames of its jobs points to; memory comes to it as the
 * binner needs it, up to @max_size, and stays.
 *
 * -ENOENT for an unknown VM. -EINVAL for a @chunk_size that is no power of two from
 * DRM_TESSERA_HEAP_ALIGN to DRM_TESSERA_HEAP_CHUNK_MAX, for unaligned values, for a
 * range outside the VM or longer than DRM_TESSERA_HEAP_SIZE_MAX, for an initial
 * size above the maximum. -EBUSY if something is or is about to be mapped there.
 * -ENOSPC if the file or its user has its share of heaps or of memory for them. Since 1.2;
 * -EOPNOTSUPP before.
 */
struct drm_tessera_heap_create {
	/** @vm_id: VM the heap lives in. */
	__u32 vm_id;
	/** @flags: Must be zero. */
	__u32 flags;
	/** @va: Start of the reserved range, chunk aligned. */
	__u64 va;
	/** @max_size: Length of the range, multiple of @chunk_size. */
	__u64 max_size;
	/** @initial_size: Committed at creation, multiple of @chunk_size. */
	__u64 initial_size;
	/** @chunk_size: Growth step, power of two. */
	__u32 chunk_size;
	/** @heap_id: Id, non-zero, out. */
	__u32 heap_id;
};

/**
 * struct drm_tessera_heap_destroy - DRM_IOCTL_TESSERA_HEAP_DESTROY
 *
 * Jobs keep the heap until their fences signal; with none of them pending the range
 * is free when the call returns. -ENOENT for an unknown heap. Since 1.2.
 */
struct drm_tessera_heap_destroy {
	/** @heap_id: Heap to drop; in-flight jobs keep it alive. */
	__u32 heap_id;
	/** @pad: Must be zero. */
	__u32 pad;
};

/**
 * struct drm_tessera_perfmon_create - DRM_IOCTL_TESSERA_PERFMON_CREATE
 *
 * A perfmon adds up what the jobs that name it have counted, each from its begin to
 * its end. A stream with COUNTER packets of its own takes the counters away from
 * its job's perfmon.
 *
 * -EINVAL for no counters, more than &drm_tessera_gpu_info.max_counters, an id that
 * DEV_QUERY does not list, or one twice. -ENOSPC if the device has no perfmon left or
 * the file or its user has its share.
 * Since 1.2; -EOPNOTSUPP before.
 */
struct drm_tessera_perfmon_create {
	/** @counters: Array of __u32 counter ids, no duplicates. */
	struct drm_tessera_array counters;
	/** @flags: Must be zero. */
	__u32 flags;
	/** @perfmon_id: Id, non-zero, out. */
	__u32 perfmon_id;
};

/**
 * struct drm_tessera_perfmon_destroy - DRM_IOCTL_TESSERA_PERFMON_DESTROY
 *
 * -ENOENT for an unknown perfmon; jobs that name it go on. Since 1.2.
 */
struct drm_tessera_perfmon_destroy {
	/** @perfmon_id: Monitor to drop. */
	__u32 perfmon_id;
	/** @pad: Must be zero. */
	__u32 pad;
};

/**
 * enum drm_tessera_perfmon_read_flags - bits of &drm_tessera_perfmon_read.flags
 */
enum drm_tessera_perfmon_read_flags {
	/** @DRM_TESSERA_PERFMON_RESET: Set the values to zero after reading them. */
	DRM_TESSERA_PERFMON_RESET = 1 << 0
};

/**
 * struct drm_tessera_perfmon_read - DRM_IOCTL_TESSERA_PERFMON_READ
 *
 * Complete for jobs whose fence has signalled; @jobs counts those without error.
 *
 * -ENOENT for an unknown perfmon, -EINVAL if the count of @values is not that of
 * the counters or its stride is not 8, -ENODEV once the device is gone. Since 1.2.
 */
struct drm_tessera_perfmon_read {
	/** @perfmon_id: Monitor to read. */
	__u32 perfmon_id;
	/** @flags: enum drm_tessera_perfmon_read_flags. */
	__u32 flags;
	/** @values: Array of __u64 to fill; count must match creation. */
	struct drm_tessera_array values;
	/** @jobs: Jobs accumulated in @values, out. */
	__u64 jobs;
};

/**
 * enum drm_tessera_ioctl_id - ioctl numbers above DRM_COMMAND_BASE
 */
enum drm_tessera_ioctl_id {
	/** @DRM_TESSERA_DEV_QUERY: See struct drm_tessera_dev_query. */
	DRM_TESSERA_DEV_QUERY = 0x00,
	/** @DRM_TESSERA_GET_TIMESTAMP: See struct drm_tessera_get_timestamp. */
	DRM_TESSERA_GET_TIMESTAMP = 0x01,
	/** @DRM_TESSERA_VM_CREATE: See struct drm_tessera_vm_create. */
	DRM_TESSERA_VM_CREATE = 0x02,
	/** @DRM_TESSERA_VM_DESTROY: See struct drm_tessera_vm_destroy. */
	DRM_TESSERA_VM_DESTROY = 0x03,
	/** @DRM_TESSERA_VM_BIND: See struct drm_tessera_vm_bind. */
	DRM_TESSERA_VM_BIND = 0x04,
	/** @DRM_TESSERA_VM_GET_STATE: See struct drm_tessera_vm_get_state. */
	DRM_TESSERA_VM_GET_STATE = 0x05,
	/** @DRM_TESSERA_BO_CREATE: See struct drm_tessera_bo_create. */
	DRM_TESSERA_BO_CREATE = 0x06,
	/** @DRM_TESSERA_BO_MMAP_OFFSET: See struct drm_tessera_bo_mmap_offset. */
	DRM_TESSERA_BO_MMAP_OFFSET = 0x07,
	/** @DRM_TESSERA_BO_INFO: See struct drm_tessera_bo_info. */
	DRM_TESSERA_BO_INFO = 0x08,
	/** @DRM_TESSERA_BO_SET_LABEL: See struct drm_tessera_bo_set_label. */
	DRM_TESSERA_BO_SET_LABEL = 0x09,
	/** @DRM_TESSERA_BO_MADVISE: See struct drm_tessera_bo_madvise. */
	DRM_TESSERA_BO_MADVISE = 0x0a,
	/** @DRM_TESSERA_QUEUE_CREATE: See struct drm_tessera_queue_create. */
	DRM_TESSERA_QUEUE_CREATE = 0x0b,
	/** @DRM_TESSERA_QUEUE_DESTROY: See struct drm_tessera_queue_destroy. */
	DRM_TESSERA_QUEUE_DESTROY = 0x0c,
	/** @DRM_TESSERA_QUEUE_GET_STATE: See struct drm_tessera_queue_get_state. */
	DRM_TESSERA_QUEUE_GET_STATE = 0x0d,
	/** @DRM_TESSERA_SUBMIT: See struct drm_tessera_submit. */
	DRM_TESSERA_SUBMIT = 0x0e,
	/** @DRM_TESSERA_HEAP_CREATE: See struct drm_tessera_heap_create. */
	DRM_TESSERA_HEAP_CREATE = 0x0f,
	/** @DRM_TESSERA_HEAP_DESTROY: See struct drm_tessera_heap_destroy. */
	DRM_TESSERA_HEAP_DESTROY = 0x10,
	/** @DRM_TESSERA_PERFMON_CREATE: See struct drm_tessera_perfmon_create. */
	DRM_TESSERA_PERFMON_CREATE = 0x11,
	/** @DRM_TESSERA_PERFMON_DESTROY: See struct drm_tessera_perfmon_destroy. */
	DRM_TESSERA_PERFMON_DESTROY = 0x12,
	/** @DRM_TESSERA_PERFMON_READ: See struct drm_tessera_perfmon_read. */
	DRM_TESSERA_PERFMON_READ = 0x13
};

/**
 * DRM_FORMAT_MOD_VENDOR_TESSERA - vendor of framebuffer modifiers
 *
 * Provisional: the number is not in drm_fourcc.h.
 */
#define DRM_FORMAT_MOD_VENDOR_TESSERA 0xf5

/**
 * DRM_FORMAT_MOD_TESSERA_TAGGED - a render target with tags, and its clear value
 *
 * Three planes, all in one BO. Plane 0: pixels in the layout of
 * DRM_FORMAT_MOD_ARM_16X16_BLOCK_U_INTERLEAVED, the pitch being that of a row of tiles
 * divided by 16. Plane 1: a byte for each block of 8 by 8 pixels, row by row; the pitch is
 * that of a row of blocks. Plane 2: the clear value, four fp32 words, red, green, blue and
 * alpha; its pitch does not count. All offsets are multiples of 64. The clear value is
 * read with each frame.
 */
#define DRM_FORMAT_MOD_TESSERA_TAGGED \
	(((__u64)DRM_FORMAT_MOD_VENDOR_TESSERA << 56) | 1)

#define DRM_IOCTL_TESSERA_DEV_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_DEV_QUERY, struct drm_tessera_dev_query)
#define DRM_IOCTL_TESSERA_GET_TIMESTAMP \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_GET_TIMESTAMP, struct drm_tessera_get_timestamp)
#define DRM_IOCTL_TESSERA_VM_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_VM_CREATE, struct drm_tessera_vm_create)
#define DRM_IOCTL_TESSERA_VM_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TESSERA_VM_DESTROY, struct drm_tessera_vm_destroy)
#define DRM_IOCTL_TESSERA_VM_BIND \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TESSERA_VM_BIND, struct drm_tessera_vm_bind)
#define DRM_IOCTL_TESSERA_VM_GET_STATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_VM_GET_STATE, struct drm_tessera_vm_get_state)
#define DRM_IOCTL_TESSERA_BO_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_BO_CREATE, struct drm_tessera_bo_create)
#define DRM_IOCTL_TESSERA_BO_MMAP_OFFSET \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_BO_MMAP_OFFSET, struct drm_tessera_bo_mmap_offset)
#define DRM_IOCTL_TESSERA_BO_INFO \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_BO_INFO, struct drm_tessera_bo_info)
#define DRM_IOCTL_TESSERA_BO_SET_LABEL \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TESSERA_BO_SET_LABEL, struct drm_tessera_bo_set_label)
#define DRM_IOCTL_TESSERA_BO_MADVISE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_BO_MADVISE, struct drm_tessera_bo_madvise)
#define DRM_IOCTL_TESSERA_QUEUE_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_QUEUE_CREATE, struct drm_tessera_queue_create)
#define DRM_IOCTL_TESSERA_QUEUE_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TESSERA_QUEUE_DESTROY, struct drm_tessera_queue_destroy)
#define DRM_IOCTL_TESSERA_QUEUE_GET_STATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_QUEUE_GET_STATE, struct drm_tessera_queue_get_state)
#define DRM_IOCTL_TESSERA_SUBMIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TESSERA_SUBMIT, struct drm_tessera_submit)
#define DRM_IOCTL_TESSERA_HEAP_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_HEAP_CREATE, struct drm_tessera_heap_create)
#define DRM_IOCTL_TESSERA_HEAP_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TESSERA_HEAP_DESTROY, struct drm_tessera_heap_destroy)
#define DRM_IOCTL_TESSERA_PERFMON_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_PERFMON_CREATE, struct drm_tessera_perfmon_create)
#define DRM_IOCTL_TESSERA_PERFMON_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TESSERA_PERFMON_DESTROY, struct drm_tessera_perfmon_destroy)
#define DRM_IOCTL_TESSERA_PERFMON_READ \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_PERFMON_READ, struct drm_tessera_perfmon_read)

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_TESSERA_DRM_H_ */
