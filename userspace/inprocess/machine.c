// SPDX-License-Identifier: MIT
/*
 * The device and the thread that looks after it.
 *
 * Calls of the model are made under drv.lock, as it asks for. What it tells from its own threads
 * only wakes our thread, which looks after everything that happens while no ioctl runs.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"
#include "tsr_gpu.h"
#include "tsr_relax.h"

#define RINGS_VA	0x10000000ull
#define FENCES_VA	0x20000000ull
#define COUNTERS_VA	0x30000000ull
#define COUNTERS_SIZE	512u
#define POLL_NS		100000000ull	/* longest sleep while a job runs */
#define CONFIRM_NS	2000000000ull	/* for the device to confirm an invalidation */
#define WATCH_NS	1000000ull	/* while others have a syncobj of ours */
#define THREADS_MAX	64	/* workers that a device can have */
#define RUN_CYCLES	(1u << 24)	/* of a device without threads, before we look again */
#define SPIN_MAX_NS	150000ull	/* as long as a small batch takes */
#define SPIN_MIN_NS	1000ull

struct driver drv = { .lock = LOCK_INITIALIZER };
const struct machine_options *machine_options;

static struct {
	uint64_t kernel_root;
	uint64_t rings, fences, counters;	/* offsets in the zone */
	sem_t wake;
	atomic_bool woken;
	_Atomic uint64_t timer;
	bool inlined;			/* the device has no threads: drv_run() */
	atomic_bool interrupt;		/* there was one, and nobody has looked yet */
	_Atomic unsigned int attending;	/* threads that look for interrupts before they leave */
	uint64_t spin_ns;		/* length of the next spin; belongs to the lock */
	_Atomic unsigned int sleeping;	/* threads that sleep in drv_wait(), or are about to */
	bool stopping;			/* our thread is to end */
	bool active;			/* a job has begun since our thread looked */
	bool polling;			/* our thread sleeps for POLL_NS at most */
	pthread_t thread;
} m = { .timer = UINT64_MAX };

/* ---- Time and the lock ----------------------------------------------------------------------- */

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void drv_lock(void)
{
	lock_enter();
	atomic_fetch_add(&m.attending, 1);
}

/* Returns true if there was an interrupt. */
static bool interrupts_look(void)
{
	if (!atomic_exchange(&m.interrupt, false))
		return false;
	queues_irq();
	return true;
}

bool drv_run(void)
{
	uint64_t timer, spent;

	if (!m.inlined)
		return false;
	spent = tsr_gpu_run(drv.gpu, RUN_CYCLES);
	timer = atomic_load(&m.timer);
	if (timer <= now_ns() && atomic_compare_exchange_strong(&m.timer, &timer, UINT64_MAX)) {
		tsr_gpu_timer(drv.gpu);
		spent++;
	}
	interrupts_look();
	return spent;
}

/* Until nothing changes any more. */
static void progress(void)
{
	while (drv.work) {
		struct vm *vm;

		drv.work = false;
		for (vm = drv.vms; vm; vm = vm->next) {
			if (vm_progress(vm)) {
				drv.work = true;
				break;		/* the VM, and so the list, may have changed */
			}
		}
		if (queues_progress())
			drv.work = true;
		if (drv_run())
			drv.work = true;
	}
}

static void wake(void)
{
	if (!atomic_exchange(&m.woken, true))
		sem_post(&m.wake);
}

/* Lets all go on that can. Our thread wakes up only if it would not look at jobs by itself. */
static void go_on(void)
{
	bool idle = !queues_busy();

	progress();
	/* From here on interrupts wake our thread, unless another thread attends. */
	atomic_fetch_sub(&m.attending, 1);
	if (interrupts_look()) {
		drv.work = true;
		progress();
	}
	if (idle && queues_busy())
		m.active = true;
	if ((m.active && !m.polling) || shares_watched())
		wake();
}

void drv_unlock(void)
{
	if (drv.up)
		go_on();
	else
		atomic_fetch_sub(&m.attending, 1);
	lock_leave();
}

void drv_wake(void)
{
	if (drv.up)
		wake();
}

void drv_changed(void)
{
	atomic_fetch_add(&drv.changes, 1);
	if (atomic_load(&m.sleeping))
		syscall(SYS_futex, &drv.changes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/*
 * Looks for an interrupt, or for a change since @seen, without the lock and until @until at most.
 * Sleeping costs two wake-ups, our thread's and the caller's, and most jobs are shorter than that.
 * Returns true if either happened.
 */
static bool spin(uint32_t seen, uint64_t until)
{
	const uint64_t ns = m.spin_ns, start = now_ns(), longest = start + ns;
	const uint64_t end = until < longest ? until : longest;
	const struct lock_state state = lock_pause();
	bool found = false;

	while (!found && now_ns() < end) {
		for (unsigned int i = 0; i < 32 && !found; i++) {
			found = atomic_load(&m.interrupt) || atomic_load(&drv.changes) != seen;
			tsr_relax();
		}
		sched_yield();		/* the device's threads may have no other processor */
	}
	lock_resume(state);
	m.spin_ns = found ? SPIN_MAX_NS : ns / 2 < SPIN_MIN_NS ? SPIN_MIN_NS : ns / 2;
	if (interrupts_look()) {
		drv.work = true;
		progress();
		found = true;
	}
	return found;
}

int drv_wait(int64_t until)
{
	struct timespec end = { .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };
	uint32_t seen = atomic_load(&drv.changes);
	bool interrupted;
	int error = 0;

	progress();
	if (until < 0 || (until != INT64_MAX && now_ns() >= (uint64_t)until))
		return atomic_load(&drv.changes) == seen ? -ETIME : 0;
	if (!m.inlined && queues_busy() && spin(seen, (uint64_t)until))
		return 0;
	/* A signal that came while we had the lock must end the wait, too. */
	interrupted = lock_interrupted();
	atomic_fetch_add(&m.sleeping, 1);
	drv_unlock();
	if (interrupted)
		error = EINTR;
	else if (syscall(SYS_futex, &drv.changes, FUTEX_WAIT_BITSET_PRIVATE, seen,
			 until == INT64_MAX ? NULL : &end, NULL, FUTEX_BITSET_MATCH_ANY))
		error = errno;
	drv_lock();
	atomic_fetch_sub(&m.sleeping, 1);
	return error == EINTR ? -EINTR : 0;
}

/* ---- What the device asks of us -------------------------------------------------------------- */

static enum tsr_host_result host_map(void *host, uint64_t addr, uint64_t *len, bool write,
				     void **ptr)
{
	uint64_t offset = addr - BUS_BASE;

	(void)host;
	(void)write;
	if (offset >= ZONE)
		return TSR_HOST_FAULT;
	if (*len > ZONE - offset)
		*len = ZONE - offset;
	*ptr = zone_at(offset);
	return TSR_HOST_OK;
}

static void host_dirty(void *host, enum tsr_space space, uint64_t addr, void *ptr, uint64_t len)
{
	(void)host;
	(void)space;
	(void)addr;
	(void)ptr;
	(void)len;
}

/* A device without threads is asked for these by drv_run(). */
static void host_interrupt(void *host, unsigned int vector)
{
	(void)host;
	(void)vector;
	atomic_store(&m.interrupt, true);
	if (!m.inlined && !atomic_load(&m.attending))
		wake();
}

static uint64_t host_clock(void *host)
{
	(void)host;
	return now_ns();
}

static void host_set_timer(void *host, uint64_t when)
{
	(void)host;
	atomic_store(&m.timer, when);
	if (!m.inlined)
		wake();
}

static const struct tsr_host_ops host_ops = {
	.map = host_map,
	.dirty = host_dirty,
	.interrupt = host_interrupt,
	.clock = host_clock,
	.set_timer = host_set_timer,
};

uint32_t gpu_read(uint32_t reg)
{
	return tsr_gpu_read(drv.gpu, reg);
}

uint64_t gpu_read64(uint32_t reg)
{
	uint64_t low = gpu_read(reg);

	return low | (uint64_t)gpu_read(reg + 4) << 32;
}

void gpu_write(uint32_t reg, uint32_t value)
{
	tsr_gpu_write(drv.gpu, reg, value);
}

void gpu_write64(uint32_t reg, uint64_t value)
{
	gpu_write(reg, (uint32_t)value);
	gpu_write(reg + 4, (uint32_t)(value >> 32));
}

uint64_t field_get(uint64_t mask, uint64_t value)
{
	return (value & mask) / (mask & -mask);
}

/* ---- The thread ------------------------------------------------------------------------------ */

/*
 * Sleep until somebody wakes us, or the device's timer or a look at running jobs is due. Returns
 * true if somebody has.
 */
static bool sleep_until_needed(bool busy, bool watched)
{
	uint64_t timer = atomic_load(&m.timer), until = UINT64_MAX, now;
	struct timespec end;
	bool woken = true;

	if (busy)
		until = now_ns() + POLL_NS;
	if (watched)
		until = now_ns() + WATCH_NS;
	if (timer < until)
		until = timer;
	if (until == UINT64_MAX) {
		while (sem_wait(&m.wake))
			;
	} else {
		now = now_ns();
		until = until > now ? until - now : 0;	/* semaphores have the other clock only */
		clock_gettime(CLOCK_REALTIME, &end);
		until += (uint64_t)end.tv_nsec;
		end.tv_sec += (time_t)(until / 1000000000);
		end.tv_nsec = (long)(until % 1000000000);
		woken = !sem_timedwait(&m.wake, &end);
	}
	atomic_store(&m.woken, false);
	return woken;
}

static void *thread_main(void *unused)
{
	bool busy = false, watched = false;

	lock_own_thread();
	for (;;) {
		bool woken = sleep_until_needed(busy, watched);
		uint64_t timer;

		lock_enter();
		if (m.stopping)
			break;
		timer = atomic_load(&m.timer);
		if (timer <= now_ns() &&
		    atomic_compare_exchange_strong(&m.timer, &timer, UINT64_MAX))
			tsr_gpu_timer(drv.gpu);
		ufiles_reap();
		interrupts_look();
		shares_look();
		drv.work = true;
		progress();
		/* jobs come in bursts: it goes on looking until nothing has woken it */
		busy = m.active || queues_busy() || (busy && woken);
		m.active = false;
		m.polling = busy;
		watched = shares_watched();
		lock_leave();
	}
	lock_leave();
	return unused;
}

/* ---- Address spaces ------------------------------------------------------------------------ */

/* True if the device has confirmed it. */
static bool space_command(unsigned int space, enum tsr_inv_op op)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	uint64_t end = now_ns() + CONFIRM_NS;

	gpu_write(TSR_REG_AS_COMMAND(space), op << TSR_AS_COMMAND_OP__SHIFT);
	while (gpu_read(TSR_REG_AS_STATUS(space)) & TSR_AS_STATUS_BUSY__MASK) {
		if (now_ns() > end)
			return false;
		if (!drv_run())
			nanosleep(&pause, NULL);
	}
	return true;
}

void space_enable(unsigned int space, uint64_t root)
{
	gpu_write64(TSR_REG_AS_BASE(space), root | TSR_AS_BASE_VALID__MASK);
	space_command(space, TSR_INV_OP_ALL);
}

bool space_disable(unsigned int space)
{
	gpu_write64(TSR_REG_AS_BASE(space), 0);
	return space_command(space, TSR_INV_OP_ALL);
}

void space_invalidate(unsigned int space, uint64_t va, uint64_t size)
{
	gpu_write64(TSR_REG_AS_INV_VA(space), va);
	gpu_write64(TSR_REG_AS_INV_SIZE(space), size);
	space_command(space, TSR_INV_OP_RANGE);
}

uint64_t ring_va(unsigned int slot)
{
	return RINGS_VA + ((uint64_t)slot << RING_LOG2);
}

uint64_t *ring_cpu(unsigned int slot)
{
	return zone_at(m.rings + ((uint64_t)slot << RING_LOG2));
}

uint64_t fence_va(unsigned int slot)
{
	return FENCES_VA + 64 * slot;
}

_Atomic uint64_t *fence_cpu(unsigned int slot)
{
	return zone_at(m.fences + 64 * slot);
}

uint64_t counters_va(unsigned int slot)
{
	return COUNTERS_VA + COUNTERS_SIZE * slot;
}

_Atomic uint64_t *counters_cpu(unsigned int slot)
{
	return zone_at(m.counters + COUNTERS_SIZE * slot);
}

/* ---- Start ----------------------------------------------------------------------------------- */

static uint64_t option(const char *name, uint64_t value)
{
	const char *text = getenv(name);
	char *end;
	uint64_t given;

	if (!text || !*text)
		return value;
	given = strtoull(text, &end, 0);
	if (*end == 'M')
		given <<= 20;
	else if (*end == 'G')
		given <<= 30;
	else if (*end) {
		fprintf(stderr, "tessera-host: %s=%s is no number, it is ignored\n", name, text);
		return value;
	}
	return given;
}

static int failed(const char *what, const char *why)
{
	fprintf(stderr, "tessera-host: error: %s: %s\n", what, why);
	return -ENODEV;
}

/* The options that the environment gives. */
static void options_given(struct machine_options *options)
{
	const uint64_t cpus = (uint64_t)get_nprocs();
	uint64_t threads = option("TSR_HOST_THREADS", cpus < THREADS_MAX ? cpus : THREADS_MAX);

	*options = (struct machine_options){
		.threads = threads ? (unsigned int)threads : 1,
		.cores = (unsigned int)option("TSR_HOST_CORES", 0),
		.simd = getenv("TSR_HOST_SIMD"),
		.engines = { 2, 1, 1, 2 },	/* as the device in QEMU has them */
	};
}

static int gpu_new(void)
{
	struct machine_options options;
	char err[256] = "";
	struct tsr_config config = {
		.devtools = &tsr_devtools, .local_size = WINDOW, .local = zone_at(0),
		.queues = SLOTS,
	};

	options_given(&options);
	if (machine_options)
		options = *machine_options;
	config.threads = options.threads;
	config.cores = options.cores;
	config.simd = options.simd;
	config.gfx_debug = options.gfx_debug;
	memcpy(config.engines, options.engines, sizeof(config.engines));
	m.inlined = !config.threads;
	drv.gpu = tsr_gpu_new(&config, &host_ops, NULL, err, sizeof(err));
	if (!drv.gpu)
		return failed("the device refuses its configuration", err);
	drv.va_bits = (unsigned int)field_get(TSR_GPU_VA_BITS__MASK, gpu_read(TSR_REG_GPU_VA));
	drv.spaces = (unsigned int)field_get(TSR_GPU_SLOTS_ADDRESS_SPACES__MASK,
					     gpu_read(TSR_REG_GPU_SLOTS));
	return 0;
}

/* Rings, fences and counters in the driver's own address space. */
static int kernel_space(void)
{
	uint64_t rings = (uint64_t)SLOTS << RING_LOG2,
		 rw = TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK;
	unsigned int i;

	m.rings = zone_alloc(rings);
	m.fences = zone_alloc(PAGE);
	m.counters = zone_alloc(32 * PAGE);
	m.kernel_root = pgtable_new();
	if (pgtable_map(m.kernel_root, RINGS_VA, BUS_BASE + m.rings, rings,
			TSR_PTE_READ__MASK | TSR_PTE_EXEC__MASK) ||
	    pgtable_map(m.kernel_root, FENCES_VA, BUS_BASE + m.fences, PAGE, rw) ||
	    pgtable_map(m.kernel_root, COUNTERS_VA, BUS_BASE + m.counters, 32 * PAGE, rw))
		return failed("page tables", "no memory");
	space_enable(0, m.kernel_root);
	for (i = 0; i < TSR_IRQ__COUNT; i++)
		gpu_write64(TSR_REG_IRQ_MASK(i), UINT64_MAX);
	return 0;
}

static int start_threads(void)
{
	sigset_t all, old;
	int ret;

	/* the program's signals are not for our threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = gpu_new();
	if (!ret)
		ret = kernel_space();
	if (!ret && pthread_create(&m.thread, NULL, thread_main, NULL))
		ret = failed("a thread", "it cannot be had");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

/*
 * A process that has forked has no threads: it begins anew, and what it has inherited is gone for
 * it.
 */
static void fork_prepare(void)
{
	lock_enter();
}

static void fork_parent(void)
{
	lock_leave();
}

static void fork_child(void)
{
	ufiles_die();
	bos_forget();
	shares_forget();
	neighbors_forget();
	syncobjs_forget();
	memset(&drv, 0, sizeof(drv));
	memory_forget();
	memset(&m, 0, sizeof(m));
	atomic_store(&m.timer, UINT64_MAX);
	lock_forked();
}

int drv_start(void)
{
	static bool hooked;
	int ret;

	if (drv.up)
		return 0;
	ret = memory_start();
	if (ret)
		return failed("the device's memory", strerror(-ret));
	sem_init(&m.wake, 0, 0);
	m.spin_ns = SPIN_MAX_NS;
	drv.local_size = option("TSR_HOST_VRAM", 0);
	drv.timeout_ns = option("TSR_HOST_TIMEOUT_MS", 5000) * 1000000;
	drv.limit_ns = option("TSR_HOST_LIMIT_MS", 120000) * 1000000;
	if (start_threads())
		return -ENODEV;
	if (!hooked && pthread_atfork(fork_prepare, fork_parent, fork_child))
		return failed("fork handlers", "no memory");
	hooked = true;
	drv.up = true;
	return 0;
}

void drv_stop(void)
{
	if (!drv.up)
		return;
	lock_enter();
	ufiles_reap();
	progress();
	m.stopping = true;
	wake();
	lock_leave();
	pthread_join(m.thread, NULL);
	tsr_gpu_free(drv.gpu);
	memory_stop();
	sem_destroy(&m.wake);
	memset(&drv, 0, sizeof(drv));
	memset(&m, 0, sizeof(m));
	atomic_store(&m.timer, UINT64_MAX);
	lock_init();
}
