/* SPDX-License-Identifier: MIT */
/*
 * The in-process driver. It takes the place of the kernel driver for a model of the GPU in the same
 * process.
 *
 * machine.c has the device, memory.c its memory and page tables. fence.c, syncobj.c and syncfile.c
 * have the synchronization of the DRM core and dma-buf. bo.c, vm.c, queue.c, submit.c, heap.c and
 * query.c have the objects of tessera_drm.h, and quota.c the limits of a file. file.c has open
 * files and the table of ioctls, descriptors.c the file descriptors, and lock.c the lock.
 * interpose.c, lookup.c, poll.c and paths.c pass libc's calls to the driver.
 *
 * All code here holds one lock (drv.lock). A function says so if it drops the lock while it waits.
 * Functions return 0 or a negative errno. They never call back into the program. Objects have
 * reference counts. NAME_put() drops a reference and frees the object with the last one.
 */
#ifndef TSR_HOST_DRIVER_H
#define TSR_HOST_DRIVER_H

#include <drm/tessera_drm.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tsr_packets.h"
#include "tsr_regs.h"

/* Newer than the libdrm of Debian 12. */
#ifndef DRM_IOCTL_SYNCOBJ_EVENTFD
struct drm_syncobj_eventfd {
	__u32 handle;
	__u32 flags;
	__u64 point;
	__s32 fd;
	__u32 pad;
};
#define DRM_IOCTL_SYNCOBJ_EVENTFD DRM_IOWR(0xCF, struct drm_syncobj_eventfd)
#endif
#ifndef DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE
#define DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE (1 << 3)
#endif


/* struct drm_syncobj_handle with the member that Linux 6.16 has added. */
struct syncobj_handle {
	__u32 handle;
	__u32 flags;
	__s32 fd;
	__u32 pad;
	__u64 point;
};
#define SYNCOBJ_HANDLE_TIMELINE	(1u << 1)	/* @point is one, in both directions */

#define PAGE		4096ull
#define HUGE_PAGE	(2ull << 20)
#define VA_START	(2ull << 20)	/* first address of user space, as the driver has it */
#define MAX_SYNCS	1024
#define MAX_BIND_OPS	4096
#define MAX_COUNTERS	64
#define SLOTS		64		/* queues of the hardware */
#define PERFMONS	256

struct bo;
struct fence;
struct file;
struct heap;
struct perfmon;
struct share;
struct syncobj;
struct vm;

/* ---- Tables of ids --------------------------------------------------------------------------- */

/* Objects by id, from 1; the lowest free id is the next. */
struct table {
	void **slot;
	uint32_t size;
};

/*
 * table_add(): the object's id, or -ENOMEM. table_find(): NULL if there is none. table_remove():
 * what was there.
 */
int table_add(struct table *t, void *object);
void *table_find(const struct table *t, uint32_t id);
void *table_remove(struct table *t, uint32_t id);
void table_free(struct table *t);

/* ---- The machine ----------------------------------------------------------------------------- */

struct bind;
struct job;
struct queue;

/* The driver's state. Everything but the atomic members belongs to the lock. */
struct driver {
	pthread_mutex_t lock;
	_Atomic uint32_t changes;	/* a futex: what drv_wait() waits for */
	bool work;			/* drv_progress() has to look */
	bool up;			/* the machine is there */
	struct tsr_gpu *gpu;
	unsigned int va_bits, spaces;	/* bits of an address, address spaces */
	struct vm *space[256];		/* who has an address space; 0 is the driver's own */
	struct queue *queue[SLOTS];
	struct queue *ended;		/* without a slot, with jobs that wait */
	struct vm *vms;			/* all of them */
	uint64_t local_size, local_used;
	uint64_t timeout_ns, limit_ns;	/* without progress; at all */
	uint64_t queue_resets;
	uint64_t counters_used[4];	/* bitmap: arrays of perfmons */
};

extern struct driver drv;

/*
 * drv_lock(), drv_unlock(): the lock; unlocking lets all go on that can, first. drv_wait(): sleep
 * without the lock until something has changed: 0; -ETIME after @until on CLOCK_MONOTONIC
 * (nanoseconds, INT64_MAX: for ever); -EINTR for a signal whose handler does not restart system
 * calls. drv_changed(): something has.
 */
void drv_lock(void);
void drv_unlock(void);
int drv_wait(int64_t until);
void drv_changed(void);
/* drv_wake(): let our thread look after everything soon. */
void drv_wake(void);

/*
 * lock.c. lock_enter(), lock_leave(): the lock alone, with signals blocked and cancellation
 * disabled; they allocate nothing and let nobody go on. lock_forked(): the child of a process that
 * forked with the lock held. lock_interrupted(): whether a handler that does not restart system
 * calls is going to run when the lock is left.
 *
 * lock_init(): nobody holds the lock.
 * lock_own_thread(): the calling thread is the driver's and has all signals blocked for good.
 *
 * lock_pause(), lock_resume(): the holder lets others have the lock for a moment. Its signals stay
 * blocked, and it must not sleep in between.
 */
struct lock_state {
	uint64_t mask;			/* of signals, before lock_enter() */
	int cancel;			/* cancellation state, before lock_enter() */
};

/* Threads hold the lock for microseconds, so a thread that wants it spins before it sleeps. */
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define LOCK_INITIALIZER PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#else
#define LOCK_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#endif

void lock_init(void);
void lock_own_thread(void);
void lock_enter(void);
void lock_leave(void);
struct lock_state lock_pause(void);
void lock_resume(struct lock_state state);
void lock_forked(void);
bool lock_interrupted(void);
uint64_t now_ns(void);

/*
 * Configuration of the device. A program with the driver linked in may set its own before it opens
 * the first device. With NULL, TSR_HOST_THREADS and the other variables apply.
 */
struct machine_options {
	unsigned int threads;		/* 0: none, who submits does the work, with the lock */
	unsigned int cores;		/* 0: the model's default */
	const char *simd;		/* NULL: the best there is */
	unsigned int gfx_debug;		/* as struct tsr_config has it */
	unsigned int engines[4];	/* of each class; all zero: one of each */
};

extern const struct machine_options *machine_options;

/*
 * drv_start(): have the device; 0, or an error with one line on stderr. drv_stop(): have it
 * no more; all that was opened is closed, and no other thread is in the driver. drv_run(): let
 * a device without threads work for a while; whether it had anything to do.
 */
int drv_start(void);
void drv_stop(void);
bool drv_run(void);
uint32_t gpu_read(uint32_t reg);
uint64_t gpu_read64(uint32_t reg);
void gpu_write(uint32_t reg, uint32_t value);
void gpu_write64(uint32_t reg, uint64_t value);
uint64_t field_get(uint64_t mask, uint64_t value);

/*
 * The device's memory. Offsets below ZONE are the driver's, with bus addresses from BUS_BASE on.
 * memory_start() fails with a negative errno. memory_forget(): in the child of fork().
 * zone_alloc(): zeroed memory of the zone, its offset; 0: none is left. zone_at(): its address.
 */
#define WINDOW		(64ull << 30)
#define ZONE		(512ull << 20)
#define BUS_BASE	(1ull << 32)

int memory_start(void);
void memory_stop(void);
void memory_forget(void);
uint64_t zone_alloc(uint64_t size);
void *zone_at(uint64_t offset);

/*
 * Address spaces. pgtable_new(): the bus address of an empty root table, 0: no memory.
 * pgtable_map() fails with -ENOMEM and may then have mapped some. space_enable() and
 * space_disable() switch (false: the device does not
 * confirm that it has let go), space_invalidate() makes the device forget a range.
 */
uint64_t pgtable_new(void);
void pgtable_free(uint64_t root);
/* pgtable_bytes(): what all tables take. pgtable_limit(): most that one file should. */
uint64_t pgtable_bytes(void);
uint64_t pgtable_limit(void);
int pgtable_map(uint64_t root, uint64_t va, uint64_t offset, uint64_t size, uint64_t bits);
int pgtable_unmap(uint64_t root, uint64_t va, uint64_t size);
void space_enable(unsigned int space, uint64_t root);
bool space_disable(unsigned int space);
void space_invalidate(unsigned int space, uint64_t va, uint64_t size);

/*
 * window_alloc(): room for @size bytes of the file @fd in the device's memory, its offset there; 0:
 * none.
 */
uint64_t window_alloc(int fd, uint64_t size);
void window_free(uint64_t offset, uint64_t size);
uint64_t window_size(void);
/* window_at(): the byte at @offset, of a BO: the driver only looks. */
const void *window_at(uint64_t offset);

/* Memory in the driver's address space for each slot and each perfmon. */
uint64_t ring_va(unsigned int slot);
uint64_t *ring_cpu(unsigned int slot);
#define RING_LOG2	16
uint64_t fence_va(unsigned int slot);
_Atomic uint64_t *fence_cpu(unsigned int slot);
uint64_t counters_va(unsigned int slot);
_Atomic uint64_t *counters_cpu(unsigned int slot);

/* Memory of the program, which may not be there: 0 or -EFAULT. */
int copy_in(void *to, uint64_t from, size_t size);
int copy_out(uint64_t to, const void *from, size_t size);
int clear_out(uint64_t to, size_t size);
/* As the driver has them: malloc()ed, NULL if empty (*ret 0) or not to be had (*ret the error). */
void *array_in(const struct drm_tessera_array *array, size_t known, size_t first, uint32_t max,
	       int *ret);
int array_out(const struct drm_tessera_array *array, size_t known, size_t first,
	      const void *elements, uint32_t count);

/*
 * Descriptors of our own are out of the program's way, where the limit allows it. Takes @fd, -1
 * stays -1.
 */
int fd_move(int fd);
#define FDS		65536		/* descriptors above are never of the program's devices */
#define OWN_FDS		(2 * FDS)	/* the driver's own descriptors are below */
/* fd_close(): close one of those. fd_is_own(): the program must not close or replace it. */
void fd_close(int fd);
bool fd_is_own(int fd);

/* ---- Fences ---------------------------------------------------------------------------------- */

struct sync_file;

struct fence {
	unsigned int refs, pending, parents, parts_count;
	bool signalled;
	int status;			/* 0, or the first error */
	uint64_t time;			/* when it signalled, CLOCK_MONOTONIC */
	char name[32];			/* of its timeline */
	struct fence **parent;		/* fences that wait for it, references */
	struct fence **part;		/* what it is merged of, references */
	struct sync_file *files;	/* to be told */
	struct fence *next;		/* while it is being signalled */
};

/*
 * fence_new(): not signalled. fence_stub(): signalled with 0. fence_all(): signals after all
 * @count; NULL: no memory.
 */
struct fence *fence_new(const char *name);
struct fence *fence_stub(void);
struct fence *fence_all(struct fence *const *parts, unsigned int count, bool keep);
struct fence *fence_get(struct fence *f);
void fence_put(struct fence *f);
void fence_signal(struct fence *f, int status);

/* ---- Syncobjs -------------------------------------------------------------------------------- */

struct point {
	uint64_t point;
	struct fence *fence;
};

struct syncobj {
	unsigned int refs;
	struct fence *fence;		/* the latest; NULL: none */
	struct point *points;		/* of a timeline, ascending; a binary one has none */
	unsigned int count, room;
	struct share *share;		/* with other processes; NULL */
};

void syncobj_put(struct syncobj *s);
/*
 * syncobj_find(): a reference to the fence that stands for a point (0: the latest); -ENOENT,
 * -EINVAL: none yet.
 */
int syncobj_find(struct file *file, uint32_t handle, uint64_t point, struct fence **fence);
void syncobj_replace(struct syncobj *s, struct fence *fence);
/* syncobj_add(): a point of a timeline; -ENOMEM: nothing has changed. */
int syncobj_add(struct syncobj *s, uint64_t point, struct fence *fence);
/* After a fence has signalled. */
void syncobjs_look(void);
void syncobjs_forget(void);

/* The ioctls of the DRM core; @arg is the whole argument, copied in. */
int syncobj_ioctl(struct file *file, unsigned int nr, void *arg);

/*
 * Syncobjs of several processes. share_export(): a descriptor that stands for one. share_import():
 * a new one becomes what @fd stands for. share_changed(): it has another fence, or a point more.
 * share_find(): the fence of another process, which belongs to the share. share_last(): the same of
 * the last point, if it is after @point. share_tell(): say what of ours has signalled.
 * shares_look(): look what others say, as long as shares_watched(). shares_forget(): after a fork.
 */
int share_export(struct syncobj *s);
int share_import(struct syncobj *s, int fd);
void share_free(struct share *share);
void share_changed(struct syncobj *s, uint64_t point);
struct fence *share_find(struct syncobj *s, uint64_t point);
struct fence *share_last(struct syncobj *s, uint64_t point);
void share_tell(void);
void shares_look(void);
bool shares_watched(void);
void shares_forget(void);

/*
 * Fences of dma-bufs, as other processes see them. neighbors_tell(): others wait for this fence of
 * writes or reads until it signals. neighbors_look(): fences have signalled. neighbors_wait(): wait
 * for what others have told before reading or writing; -EINTR, as drv_wait(). neighbors_forget():
 * after a fork.
 */
struct bo;
int neighbors_tell(struct bo *bo, struct fence *fence, bool write);
void neighbors_look(void);
int neighbors_wait(struct bo *bo, bool write);
void neighbors_forget(void);

/* A set of waits or signals, checked. */
struct drm_tessera_sync *syncs_in(const struct drm_tessera_array *array, int *ret);

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* UFILE_CARD is a device by its primary node, and only ufile_look() returns it. */
enum ufile_kind { UFILE_DEVICE, UFILE_SYNC_FILE, UFILE_SYNCOBJ, UFILE_DMABUF, UFILE_CARD };

/* The meaning of a descriptor of the program; its copies share it. */
struct ufile {
	unsigned int refs;
	enum ufile_kind kind;
	bool dead;			/* of a process that has forked */
	bool primary;			/* a device opened by its primary node */
	void *object;			/* struct file, fence, syncobj, bo: a reference */
	struct sync_file *sync;
	char name[32];			/* of a sync file */
	uint64_t id;			/* of a device's file: interval of its timer */
	int access;			/* of a device's file: O_RDONLY, O_WRONLY or O_RDWR */
	dev_t dev;			/* the file of the number, as the kernel knows it */
	ino_t ino;
	struct ufile *next;		/* buried */
};

/*
 * ufile_install(): make @fd stand for @object, whose reference it takes, also when it fails; @fd or
 * an error.
 */
int ufile_install(int fd, enum ufile_kind kind, void *object);
/*
 * ufile_get(): a reference to what a descriptor stands for; NULL if it is none of ours, also if
 * its number was closed and used again without our knowledge.
 */
struct ufile *ufile_get(int fd);
void ufile_put(struct ufile *u);
/* ufiles_reap(): free what signal handlers and others have closed. */
void ufiles_reap(void);
/*
 * The following may be called by signal handlers, without the lock.
 *
 * ufile_is(), ufile_peek(): guesses that take no lock: false or -1 if @fd is certainly not ours,
 * and its kind. ufile_look(): enum ufile_kind or -1, and how a device was opened. ufile_dup(): @to
 * stands for the same as @from. ufile_close(), ufiles_close(): the numbers stand for nothing.
 * ufile_adopt(): returns true if @fd is a copy of a device's number that was made without our
 * knowledge; it has an entry from now on.
 */
bool ufile_is(int fd);
int ufile_peek(int fd);
int ufile_look(int fd, int *access);
void ufile_dup(int from, int to);
void ufile_close(int fd);
void ufiles_close(unsigned int first, unsigned int last);
bool ufile_adopt(int fd);
/* ufiles_owner(): the process that the table belongs to; 0 if no file was opened yet. */
pid_t ufiles_owner(void);
/* ufiles_foreign(): in the child of vfork(), which shares the table and has other descriptors. */
bool ufiles_foreign(void);
void ufiles_die(void);

/* syncfile_fd(): a new descriptor for a fence, whose reference is taken; its number or an error. */
int syncfile_fd(struct fence *f, const char *name);
void syncfile_tell(struct fence *f);
void syncfile_free(struct ufile *u);
int syncfile_ioctl(struct ufile *u, unsigned long request, uint64_t arg);
int dmabuf_ioctl(struct ufile *u, unsigned long request, uint64_t arg);
/*
 * dmabuf_poll(): which of @events (POLLIN, POLLOUT) a dma-buf is ready for. If it is none and @wait
 * is not NULL, *wait is a new sync file that signals when that may have changed, or an error.
 */
short dmabuf_poll(struct ufile *u, short events, int *wait);

/* real_open(): libc's, past our own. */
int real_open(const char *path, int flags);

/*
 * Limits of a file and of its user, which is the real uid at quota_new() (quota.c); objects hold
 * the quota they are charged to. quota_room() checks whether both have @amount left, quota_charge()
 * also charges it: 0 or -ENOSPC. quota_adjust() adds to both or subtracts.
 */
enum quota_kind {
	QUOTA_VMS, QUOTA_QUEUES, QUOTA_SPACES, QUOTA_HEAPS, QUOTA_PERFMONS, QUOTA_HEAP_MEMORY,
	QUOTA_PAGE_TABLES, QUOTA_LOCAL, QUOTAS
};

struct quota;
struct quota *quota_new(void);
struct quota *quota_get(struct quota *q);
void quota_put(struct quota *q);
int quota_room(const struct quota *q, enum quota_kind kind, uint64_t amount);
int quota_charge(struct quota *q, enum quota_kind kind, uint64_t amount);
void quota_adjust(struct quota *q, enum quota_kind kind, int64_t amount);
void quota_fill(const struct quota *q, struct drm_tessera_file_limits *limits);

/* An open file of the device. */
struct file {
	bool primary;
	struct quota *quota;
	struct table handles, syncobjs, vms, queues, heaps, perfmons;
};

struct file *file_new(bool primary);
void file_free(struct file *file);
int file_ioctl(struct file *file, unsigned long request, uint64_t arg);
/*
 * device_ioctl(): any ioctl on a descriptor of ours: 0 or -1 with errno, and *ours; *ours is false
 * if the descriptor is not. device_mmap(): the same of mmap().
 */
int device_ioctl(int fd, unsigned long request, uint64_t arg, bool *ours);
void *device_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset, bool *ours);

/* ---- Buffer objects -------------------------------------------------------------------------- */

struct bo {
	unsigned int refs, handles;
	int fd;				/* its memory */
	ino_t ino;			/* of that file */
	uint64_t size, window, fake;	/* bytes; where the device sees it; offset for mmap() */
	uint32_t flags, vm_id;
	struct vm *vm;			/* only it maps the BO; not dereferenced; NULL: any */
	bool exported, dont_need, cpu_mapped, in_local;
	struct quota *quota;		/* local memory is charged to; NULL */
	struct fence *write, *read;	/* by IMPORT_SYNC_FILE; NULL */
	char *label;
	struct bo *next;		/* all of them */
};

struct bo *bo_new(uint64_t size, uint32_t flags, int *ret);
struct bo *bo_get(struct bo *bo);
void bo_put(struct bo *bo);
struct bo *bo_lookup(struct file *file, uint32_t handle);
void bo_handles_free(struct file *file);
uint64_t bo_max_size(void);
/* bos_forget(): after a fork. bo_holds(): whether a range is in it. */
void bos_forget(void);
bool bo_holds(const struct bo *bo, uint64_t offset, uint64_t size);
/* bo_mmap_fd(): the descriptor that mmap() of a device at @offset means. */
int bo_mmap_fd(struct file *file, uint64_t offset, uint64_t size, int flags);
int bo_gem_ioctl(struct file *file, unsigned int nr, void *arg);

int ioctl_bo_create(struct file *file, void *arg);
int ioctl_bo_mmap_offset(struct file *file, void *arg);
int ioctl_bo_info(struct file *file, void *arg);
int ioctl_bo_set_label(struct file *file, void *arg);
int ioctl_bo_madvise(struct file *file, void *arg);

/* ---- VMs ------------------------------------------------------------------------------------- */

struct vma {
	uint64_t va, size, offset;
	struct bo *bo;			/* NULL: a MAP_NULL */
	uint64_t bits;
};

struct vm {
	unsigned int refs, users;	/* queues that have it in an address space */
	int space;			/* -1: none */
	uint64_t root;
	struct quota *quota;		/* what it takes is charged to */
	struct vma *vma;		/* by address */
	unsigned int vmas;
	struct heap *heaps;
	struct bind *binds, **binds_end;	/* asynchronous ones that wait, in order */
	struct drm_tessera_fault fault[DRM_TESSERA_FAULT_RECORDS];
	uint64_t faults;
	struct vm *next;
};

void vm_put(struct vm *vm);
int vm_space_get(struct vm *vm);
void vm_space_put(struct vm *vm);
bool vm_range_valid(uint64_t va, uint64_t size);
bool vm_range_used(struct vm *vm, uint64_t va, uint64_t size);
void vm_fault(struct vm *vm, const struct drm_tessera_fault *fault);
/* vm_progress(): run what asynchronous binds can run; whether there were any. */
bool vm_progress(struct vm *vm);

int ioctl_vm_create(struct file *file, void *arg);
int ioctl_vm_destroy(struct file *file, void *arg);
int ioctl_vm_bind(struct file *file, void *arg);
int ioctl_vm_get_state(struct file *file, void *arg);

/* ---- Queues and jobs ------------------------------------------------------------------------- */

struct job {
	struct job *next;
	struct queue *queue;		/* a reference */
	uint64_t cmd_va;
	uint32_t cmd_size;
	struct heap *heap;
	struct perfmon *perfmon;
	struct fence **wait;		/* references */
	unsigned int waits, room;
	struct fence *done;
	uint64_t seqno, started;
};

struct queue {
	unsigned int refs;
	unsigned int slot;
	uint32_t id, engine_class, priority;
	struct vm *vm;
	struct quota *quota;
	bool killed;
	uint32_t state, error;
	uint64_t completed, seqno;
	uint32_t wptr;
	struct drm_tessera_queue_get_state fault;	/* its fault_ members */
	struct job *jobs, **end;	/* in order; the first may run */
	bool running;
	struct queue *next;		/* in drv.ended */
};

void queue_put(struct queue *q);
void queue_kill(struct queue *q);
void queue_push(struct job *job);
void job_free(struct job *job);
/*
 * queues_progress(): see what the device has done, begin what can begin; whether there was
 * anything.
 */
bool queues_progress(void);
/*
 * queues_irq(): read what interrupts there are; queue's watchdogs. queues_busy(): whether any job
 * runs.
 */
void queues_irq(void);
bool queues_busy(void);
/* queue_priorities(): bit n: the process may use priority n. */
uint32_t queue_priorities(void);

int ioctl_queue_create(struct file *file, void *arg);
int ioctl_queue_destroy(struct file *file, void *arg);
int ioctl_queue_get_state(struct file *file, void *arg);
int ioctl_submit(struct file *file, void *arg);

struct heap {
	unsigned int refs;
	struct vm *vm;
	struct quota *quota;
	uint64_t va, max_size, committed, mapped;
	uint32_t chunk_size;
	struct bo *bo;
	struct heap *next;		/* of the VM */
};

void heap_put(struct heap *heap);
bool heap_overlaps(struct vm *vm, uint64_t va, uint64_t size);
/* heap_prepare(): have what the device may ask for next: 0, -ENOMEM. */
int heap_prepare(struct heap *heap);
/* heap_grow(): a queue is blocked for memory of the heap at @va; the bytes it has from now on. */
uint64_t heap_grow(struct vm *vm, uint64_t va, uint64_t size);
int ioctl_heap_create(struct file *file, void *arg);
int ioctl_heap_destroy(struct file *file, void *arg);

struct perfmon {
	unsigned int refs, slot;
	struct quota *quota;
	uint64_t mask, jobs, jobs_base;
	uint32_t count;
	uint32_t word[MAX_COUNTERS];
	uint64_t base[MAX_COUNTERS];
};

void perfmon_put(struct perfmon *p);
int ioctl_perfmon_create(struct file *file, void *arg);
int ioctl_perfmon_destroy(struct file *file, void *arg);
int ioctl_perfmon_read(struct file *file, void *arg);

int ioctl_dev_query(struct file *file, void *arg);
int ioctl_get_timestamp(struct file *file, void *arg);

#endif
