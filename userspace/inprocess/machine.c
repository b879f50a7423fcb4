// SPDX-License-Identifier: MIT
/*
 * The device and its memory.
 *
 * The device's memory is a window of addresses of this process. Its first ZONE bytes are the
 * driver's: page tables, rings, words of fences and counters, reached by bus addresses. What
 * follows are BOs, each a file that is mapped there, reached as local memory: so the device needs
 * no translation of ours for them.
 *
 * Calls of the model are made under drv.lock, as it asks for. What it tells from its own threads
 * only wakes our thread, which looks after everything that happens while no ioctl runs.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"
#include "tsr_gpu.h"

#define WINDOW		(64ull << 30)
#define ZONE		(512ull << 20)
#define BUS_BASE	(1ull << 32)	/* bus address of the zone */
#define RINGS_VA	0x10000000ull
#define FENCES_VA	0x20000000ull
#define COUNTERS_VA	0x30000000ull
#define COUNTERS_SIZE	512u
#define POLL_NS		100000000ull	/* longest sleep while a job runs */
#define CONFIRM_NS	2000000000ull	/* for the device to confirm an invalidation */
#define WATCH_NS	1000000ull	/* while others have a syncobj of ours */
#define THREADS_MAX	64	/* workers that a device can have */
#define RUN_CYCLES	(1u << 24)	/* of a device without threads, before we look again */

struct driver drv = { .lock = PTHREAD_MUTEX_INITIALIZER };
const struct machine_options *machine_options;

static struct {
	uint8_t *window;
	uint64_t next;			/* of the zone, not given out */
	uint64_t free;			/* a list of pages given back; 0: none */
	uint64_t pages;			/* that zone_alloc() has given out one by one */
	uint64_t kernel_root;
	uint64_t rings, fences, counters;	/* offsets in the zone */
	struct range { uint64_t offset, size; } *hole;	/* of the window, by offset */
	unsigned int holes, taken, room;	/* of both, and elements of hole */
	sem_t wake;
	atomic_bool woken;
	_Atomic uint64_t timer;
	bool inlined;			/* the device has no threads: drv_run() */
	atomic_bool interrupt;		/* of such a one: there was one */
	bool stopping;			/* our thread is to end */
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
	if (atomic_exchange(&m.interrupt, false))
		queues_irq();
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

void drv_unlock(void)
{
	if (drv.up) {
		bool idle = !queues_busy();

		progress();
		/* our thread sleeps for as long as it takes while there is nothing to look at */
		if ((idle && queues_busy()) || shares_watched())
			wake();
	}
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
	syscall(SYS_futex, &drv.changes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
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
	/* A signal that came while we had the lock must end the wait, too. */
	interrupted = lock_interrupted();
	drv_unlock();
	if (interrupted)
		error = EINTR;
	else if (syscall(SYS_futex, &drv.changes, FUTEX_WAIT_BITSET_PRIVATE, seen,
			 until == INT64_MAX ? NULL : &end, NULL, FUTEX_BITSET_MATCH_ANY))
		error = errno;
	drv_lock();
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
	*ptr = m.window + offset;
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

/* A device without threads tells these to who runs it. */
static void host_interrupt(void *host, unsigned int vector)
{
	(void)host;
	(void)vector;
	if (m.inlined)
		atomic_store(&m.interrupt, true);
	else
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

/* Sleep until somebody wakes us, or the device's timer or a look at running jobs is due. */
static void sleep_until_needed(bool busy, bool watched)
{
	uint64_t timer = atomic_load(&m.timer), until = UINT64_MAX, now;
	struct timespec end;

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
		sem_timedwait(&m.wake, &end);
	}
	atomic_store(&m.woken, false);
}

static void *thread_main(void *unused)
{
	bool busy = false, watched = false;

	for (;;) {
		uint64_t timer;

		sleep_until_needed(busy, watched);
		drv_lock();
		if (m.stopping)
			break;
		timer = atomic_load(&m.timer);
		if (timer <= now_ns() &&
		    atomic_compare_exchange_strong(&m.timer, &timer, UINT64_MAX))
			tsr_gpu_timer(drv.gpu);
		ufiles_reap();
		queues_irq();
		shares_look();
		drv.work = true;
		progress();
		busy = queues_busy();
		watched = shares_watched();
		lock_leave();
	}
	lock_leave();
	return unused;
}

/* ---- The zone and page tables ---------------------------------------------------------------- */

/* Zeroed pages of the zone, their offset; 0: none. */
static uint64_t zone_alloc(uint64_t size)
{
	uint64_t at = m.next;

	m.pages += size == PAGE && (m.free || size <= ZONE - m.next);
	if (size == PAGE && m.free) {
		at = m.free;
		m.free = *(uint64_t *)(m.window + at);
		memset(m.window + at, 0, PAGE);
		return at;
	}
	if (size > ZONE - m.next)
		return 0;
	m.next += size;
	return at;
}

static void zone_free_page(uint64_t at)
{
	*(uint64_t *)(m.window + at) = m.free;
	m.free = at;
	m.pages--;
}

uint64_t pgtable_bytes(void)
{
	return m.pages * PAGE;
}

uint64_t pgtable_limit(void)
{
	return ZONE / 2;
}

static _Atomic uint64_t *table_at(uint64_t bus)
{
	return (_Atomic uint64_t *)(m.window + (bus - BUS_BASE));
}

uint64_t pgtable_new(void)
{
	uint64_t at = zone_alloc(PAGE);

	return at ? BUS_BASE + at : 0;
}

static unsigned int top_level(void)
{
	return (drv.va_bits - TSR_PAGE_SHIFT) / TSR_PT_INDEX_BITS - 1;
}

static void free_level(uint64_t bus, unsigned int level)
{
	_Atomic uint64_t *table = table_at(bus);
	unsigned int i;

	for (i = 0; level && i < 1u << TSR_PT_INDEX_BITS; i++) {
		uint64_t pte = table[i];

		if (pte & TSR_PTE_VALID__MASK && !(pte & TSR_PTE_LEAF__MASK))
			free_level(pte & TSR_PTE_ADDR__MASK, level - 1);
	}
	zone_free_page(bus - BUS_BASE);
}

void pgtable_free(uint64_t root)
{
	free_level(root, top_level());
}

/* A huge page becomes a table of small ones that say the same. */
static uint64_t split(uint64_t pte)
{
	uint64_t at = zone_alloc(PAGE), i;
	uint64_t step = pte & TSR_PTE_NULL__MASK ? 0 : PAGE;

	if (!at)
		return 0;
	for (i = 0; i < 1u << TSR_PT_INDEX_BITS; i++)
		table_at(BUS_BASE + at)[i] = pte + i * step;
	return (BUS_BASE + at) | TSR_PTE_VALID__MASK;
}

/* The entry of @va at @level, tables above it made if @make; NULL: there are none, or no memory. */
static _Atomic uint64_t *entry(uint64_t root, uint64_t va, unsigned int level, bool make)
{
	unsigned int at = top_level();
	_Atomic uint64_t *table = table_at(root);

	for (;; at--) {
		unsigned int shift = TSR_PAGE_SHIFT + at * TSR_PT_INDEX_BITS;
		_Atomic uint64_t *pte = &table[va >> shift & ((1u << TSR_PT_INDEX_BITS) - 1)];
		uint64_t value = *pte;

		if (at == level)
			return pte;
		if (value & TSR_PTE_LEAF__MASK) {
			value = split(value);
		} else if (!(value & TSR_PTE_VALID__MASK)) {
			value = make ? zone_alloc(PAGE) : 0;
			value = value ? (BUS_BASE + value) | TSR_PTE_VALID__MASK : 0;
		}
		if (!value)
			return NULL;
		*pte = value;
		table = table_at(value & TSR_PTE_ADDR__MASK);
	}
}

/*
 * The entry for a 2 MiB page at the start of [va, va + size), if memory at @at allows such a page.
 * Otherwise NULL.
 */
static _Atomic uint64_t *huge_entry(uint64_t root, uint64_t va, uint64_t at, uint64_t size)
{
	_Atomic uint64_t *pte;

	if ((va | at) % HUGE_PAGE || size < HUGE_PAGE)
		return NULL;
	pte = entry(root, va, 1, true);
	if (!pte || (*pte & TSR_PTE_VALID__MASK && !(*pte & TSR_PTE_LEAF__MASK)))
		return NULL;	/* there is a table: it stays */
	return pte;
}

int pgtable_map(uint64_t root, uint64_t va, uint64_t offset, uint64_t size, uint64_t bits)
{
	bool null = bits & TSR_PTE_NULL__MASK;

	bits |= TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK;
	while (size) {
		_Atomic uint64_t *pte = huge_entry(root, va, null ? 0 : offset, size);
		uint64_t step = pte ? HUGE_PAGE : PAGE;

		if (!pte)
			pte = entry(root, va, 0, true);
		if (!pte)
			return -ENOMEM;
		*pte = (null ? 0 : offset) | bits;
		va += step;
		offset += step;
		size -= step;
	}
	return 0;
}

/* The first address after @va where something may be mapped, @va itself if it may be there. */
static uint64_t skip_absent(uint64_t root, uint64_t va)
{
	unsigned int level;

	for (level = top_level(); level; level--) {
		uint64_t size = 1ull << (TSR_PAGE_SHIFT + level * TSR_PT_INDEX_BITS);
		_Atomic uint64_t *pte = entry(root, va, level, false);

		if (!pte || !(*pte & TSR_PTE_VALID__MASK))
			return (va & -size) + size;
	}
	return va;
}

int pgtable_unmap(uint64_t root, uint64_t va, uint64_t size)
{
	uint64_t end = va + size;

	while (va < end) {
		_Atomic uint64_t *huge = entry(root, va, 1, false);
		uint64_t next = (va & -HUGE_PAGE) + HUGE_PAGE, there = skip_absent(root, va);

		if (there > va) {
			va = there;
			continue;
		}
		if (huge && *huge & TSR_PTE_LEAF__MASK && !(va % HUGE_PAGE) && end >= next) {
			*huge = 0;
		} else if (huge && *huge & TSR_PTE_VALID__MASK) {
			_Atomic uint64_t *pte = entry(root, va, 0, false);

			if (!pte)
				return -ENOMEM;
			*pte = 0;
			next = va + PAGE;
		}
		va = next;
	}
	return 0;
}

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
	return (uint64_t *)(m.window + m.rings + ((uint64_t)slot << RING_LOG2));
}

uint64_t fence_va(unsigned int slot)
{
	return FENCES_VA + 64 * slot;
}

_Atomic uint64_t *fence_cpu(unsigned int slot)
{
	return (_Atomic uint64_t *)(m.window + m.fences + 64 * slot);
}

uint64_t counters_va(unsigned int slot)
{
	return COUNTERS_VA + COUNTERS_SIZE * slot;
}

_Atomic uint64_t *counters_cpu(unsigned int slot)
{
	return (_Atomic uint64_t *)(m.window + m.counters + COUNTERS_SIZE * slot);
}

/* ---- The window ------------------------------------------------------------------------------ */

const void *window_at(uint64_t offset)
{
	return m.window + offset;
}

uint64_t window_size(void)
{
	return WINDOW - ZONE;
}

/* Return a hole, and join it with adjacent holes. */
static void hole_add(uint64_t offset, uint64_t size)
{
	unsigned int i = 0;

	while (i < m.holes && m.hole[i].offset < offset)
		i++;
	if (i && m.hole[i - 1].offset + m.hole[i - 1].size == offset) {
		m.hole[--i].size += size;
	} else {
		assert(m.holes < m.room);
		memmove(&m.hole[i + 1], &m.hole[i], (m.holes - i) * sizeof(*m.hole));
		m.hole[i] = (struct range){ offset, size };
		m.holes++;
	}
	if (i + 1 < m.holes && m.hole[i].offset + m.hole[i].size == m.hole[i + 1].offset) {
		m.hole[i].size += m.hole[i + 1].size;
		m.holes--;
		memmove(&m.hole[i + 1], &m.hole[i + 2], (m.holes - i - 1) * sizeof(*m.hole));
	}
}

/* Take [at, at + size) out of a hole that holds it. */
static void hole_cut(unsigned int i, uint64_t at, uint64_t size)
{
	struct range old = m.hole[i];
	uint64_t end = old.offset + old.size;

	m.holes--;
	memmove(&m.hole[i], &m.hole[i + 1], (m.holes - i) * sizeof(*m.hole));
	if (at > old.offset)
		hole_add(old.offset, at - old.offset);
	if (end > at + size)
		hole_add(at + size, end - at - size);
}

uint64_t window_alloc(int fd, uint64_t size)
{
	uint64_t align = size >= HUGE_PAGE ? HUGE_PAGE : PAGE;
	unsigned int i;

	/* room for all holes there can be, one more than is taken: giving back must not fail */
	if (m.room < m.taken + 4) {
		struct range *more = realloc(m.hole, (2 * m.room + 8) * sizeof(*more));

		if (!more)
			return 0;
		m.hole = more;
		m.room = 2 * m.room + 8;
	}
	for (i = 0; i < m.holes; i++) {
		uint64_t at = (m.hole[i].offset + align - 1) & -align;
		uint64_t end = m.hole[i].offset + m.hole[i].size;

		if (at > end || size > end - at)
			continue;
		/* past our own mmap(), which looks at descriptors */
		if (syscall(SYS_mmap, m.window + at, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0) < 0)
			return 0;
		hole_cut(i, at, size);
		m.taken++;
		return at;
	}
	return 0;
}

void window_free(uint64_t offset, uint64_t size)
{
	/* if the kernel refuses, the memory stays with the window and is never seen again */
	if (mmap(m.window + offset, size, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return;
	hole_add(offset, size);
	m.taken--;
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
		.devtools = &tsr_devtools, .local_size = WINDOW, .local = m.window,
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
	memset(&m, 0, sizeof(m));
	atomic_store(&m.timer, UINT64_MAX);
	lock_forked();
}

int drv_start(void)
{
	static bool hooked;

	if (drv.up)
		return 0;
	m.window = mmap(NULL, WINDOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			0);
	if (m.window == MAP_FAILED ||
	    mprotect(m.window, ZONE, PROT_READ | PROT_WRITE))
		return failed("64 GiB of addresses", strerror(errno));
	m.hole = calloc(8, sizeof(*m.hole));
	if (!m.hole)
		return failed("memory", strerror(errno));
	m.room = 8;
	m.next = PAGE;		/* 0 means none */
	hole_add(ZONE, WINDOW - ZONE);
	sem_init(&m.wake, 0, 0);
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
	drv_lock();
	ufiles_reap();
	progress();
	m.stopping = true;
	wake();
	lock_leave();
	pthread_join(m.thread, NULL);
	tsr_gpu_free(drv.gpu);
	munmap(m.window, WINDOW);
	free(m.hole);
	sem_destroy(&m.wake);
	memset(&drv, 0, sizeof(drv));
	memset(&m, 0, sizeof(m));
	atomic_store(&m.timer, UINT64_MAX);
	pthread_mutex_init(&drv.lock, NULL);
}
