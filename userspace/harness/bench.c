// SPDX-License-Identifier: MIT
/*
 * The in-process bench, see bench.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "tsr_trace.h"

#define RUN_CYCLES	65536		/* of one tsr_gpu_run() */
#define RUN_LIMIT	(1ull << 40)	/* cycles after which it is taken as endless */
#define WAIT_NS		1000000		/* longest sleep beside workers */
#define HUGE_FROM	(128ull << 10)	/* bytes of buffers that BENCH_HUGE maps with 2 MiB pages */

/* A program whose model is linked without the debug unit is compiled with this file and that. */
#ifdef BENCH_WITHOUT_DEVTOOLS
#define BENCH_DEVTOOLS	NULL
#else
#define BENCH_DEVTOOLS	(&tsr_devtools)
#endif

__attribute__((format(printf, 1, 2), noreturn))
static void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fputs("bench: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
	abort();
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/*
 * Memory of the machine: zeroed, and between pages that cannot be accessed, so that a device that
 * goes beyond its end is caught. Not from malloc: a fuzzer makes thousands of machines, and only
 * the pages that are used cost anything this way.
 */
static uint8_t *new_memory(size_t size)
{
	uint8_t *p = mmap(NULL, size + 2 * BENCH_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);

	if (p == MAP_FAILED || mprotect(p + BENCH_PAGE, size, PROT_READ | PROT_WRITE))
		die("no memory");
	return p + BENCH_PAGE;
}

static void free_memory(uint8_t *memory, size_t size)
{
	if (memory)
		munmap(memory - BENCH_PAGE, size + 2 * BENCH_PAGE);
}

/* A second view of system memory, in pieces between guard pages. */
struct bench_pieces {
	pthread_mutex_t lock;
	int fd;				/* the memory */
	uint64_t size;			/* bytes of a piece, BENCH_PAGE or BENCH_HUGE_PAGE */
	uint8_t *base;			/* a guard page, a piece, a guard page, ... */
	bool mapped[BENCH_RAM_SIZE / BENCH_PAGE];	/* by number of the piece */
};

static enum bench_layout wanted_layout(void)
{
	const char *name = getenv("TSR_BENCH_MEMORY");

	if (!name || !*name || !strcmp(name, "whole"))
		return BENCH_WHOLE;
	if (!strcmp(name, "pages"))
		return BENCH_PAGES;
	if (!strcmp(name, "huge"))
		return BENCH_HUGE;
	die("TSR_BENCH_MEMORY is \"%s\", not whole, pages or huge", name);
}

static size_t pieces_span(const struct bench_pieces *p)
{
	return BENCH_RAM_SIZE / p->size * (p->size + BENCH_PAGE) + BENCH_PAGE;
}

static void new_ram(struct bench *b)
{
	enum bench_layout layout = wanted_layout();
	struct bench_pieces *p;

	if (layout == BENCH_WHOLE) {
		b->ram = new_memory(BENCH_RAM_SIZE);
		return;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		die("no memory");
	pthread_mutex_init(&p->lock, NULL);
	p->size = layout == BENCH_PAGES ? BENCH_PAGE : BENCH_HUGE_PAGE;
	p->fd = memfd_create("bench", MFD_CLOEXEC);
	if (p->fd < 0 || ftruncate(p->fd, BENCH_RAM_SIZE))
		die("no memory");
	b->ram = mmap(NULL, BENCH_RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	p->base = mmap(NULL, pieces_span(p), PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->ram == MAP_FAILED || p->base == MAP_FAILED)
		die("no memory");
	b->pieces = p;
}

static void free_ram(struct bench *b)
{
	struct bench_pieces *p = b->pieces;

	if (!p) {
		free_memory(b->ram, BENCH_RAM_SIZE);
		return;
	}
	munmap(p->base, pieces_span(p));
	munmap(b->ram, BENCH_RAM_SIZE);
	close(p->fd);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* Return the device's pointer to @offset of system memory. Limits @len to the end of memory. */
static uint8_t *device_view(struct bench *b, uint64_t offset, uint64_t *len)
{
	struct bench_pieces *p = b->pieces;
	uint64_t number, within;
	uint8_t *at;

	if (!p)
		return b->ram + offset;
	number = offset / p->size;
	within = offset % p->size;
	at = p->base + number * (p->size + BENCH_PAGE) + BENCH_PAGE;
	if (*len > p->size - within)
		*len = p->size - within;
	pthread_mutex_lock(&p->lock);
	if (!p->mapped[number]) {
		if (mmap(at, p->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, p->fd,
			 (off_t)(number * p->size)) == MAP_FAILED)
			die("no memory for piece %llu", (unsigned long long)number);
		p->mapped[number] = true;
	}
	pthread_mutex_unlock(&p->lock);
	return at + within;
}

/* ---- What the device asks of the machine ----------------------------------------------------- */

static bool in_hole(const struct bench *b, uint64_t addr)
{
	return addr - b->hole_base < b->hole_size;
}

/* Something has happened that bench_run() may be waiting for. */
static void tell(struct bench *b)
{
	pthread_mutex_lock(&b->news_lock);
	b->news++;
	pthread_cond_signal(&b->news_cond);
	pthread_mutex_unlock(&b->news_lock);
}

/* True if the page has been asked for, now for the first time or before, but not been answered. */
static bool is_pending(struct bench *b, uint64_t page)
{
	unsigned int answers = atomic_load(&b->answers), asked = 0;

	if (atomic_compare_exchange_strong(&b->asked[page], &asked, answers + 1))
		return true;
	return asked > answers;
}

static enum tsr_host_result host_map(void *host, uint64_t addr, uint64_t *len, bool write,
				     void **ptr)
{
	struct bench *b = host;
	uint64_t page = (addr - BENCH_RAM_BASE) / BENCH_PAGE;
	uint64_t left = BENCH_RAM_BASE + BENCH_RAM_SIZE - addr;

	(void)write;
	atomic_fetch_add(&b->maps, 1);
	if (addr - BENCH_RAM_BASE >= BENCH_RAM_SIZE || in_hole(b, addr))
		return TSR_HOST_FAULT;
	if (b->pending_every && page % b->pending_every == 0 && is_pending(b, page)) {
		atomic_store(&b->pending, true);
		tell(b);
		return TSR_HOST_PENDING;
	}
	if (*len > left)
		*len = left;
	if (addr < b->hole_base && *len > b->hole_base - addr && b->hole_size)
		*len = b->hole_base - addr;
	if (b->map_limit && *len > b->map_limit)
		*len = b->map_limit;
	*ptr = device_view(b, addr - BENCH_RAM_BASE, len);
	return TSR_HOST_OK;
}

static void host_dirty(void *host, enum tsr_space space, uint64_t addr, void *ptr, uint64_t len)
{
	struct bench *b = host;
	const uint8_t *base = space == TSR_SPACE_LOCAL ? b->local : b->ram;
	uint64_t offset = space == TSR_SPACE_LOCAL ? addr : addr - BENCH_RAM_BASE;
	uint64_t size = space == TSR_SPACE_LOCAL ? b->config.local_size : BENCH_RAM_SIZE;
	uint64_t mapped = len;
	bool known = base && offset < size && len <= size - offset;

	if (known && space == TSR_SPACE_SYSTEM)
		known = ptr == device_view(b, offset, &mapped) && mapped == len;
	else if (known)
		known = ptr == base + offset;
	if (!known)
		die("dirty report of 0x%llx + 0x%llx, pointer %p: not what map() gave",
		    (unsigned long long)addr, (unsigned long long)len, ptr);
	pthread_mutex_lock(&b->dirty_lock);
	if (b->reported && space == TSR_SPACE_SYSTEM)
		memcpy(b->reported + offset, b->ram + offset, len);
	if (b->dirty_count < BENCH_DIRTY_MAX)
		b->dirty[b->dirty_count] = (struct bench_dirty) { space, addr, len };
	b->dirty_count++;
	b->dirty_pages += (unsigned int)((addr % 4096 + len + 4095) / 4096);
	pthread_mutex_unlock(&b->dirty_lock);
}

static void host_interrupt(void *host, unsigned int vector)
{
	struct bench *b = host;

	if (vector >= TSR_IRQ__COUNT)
		die("interrupt vector %u", vector);
	atomic_fetch_add(&b->interrupts[vector], 1);
}

static uint64_t host_clock(void *host)
{
	struct bench *b = host;
	struct timespec now;

	if (!b->real_clock)
		return atomic_load(&b->clock);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void host_set_timer(void *host, uint64_t when)
{
	struct bench *b = host;

	atomic_store(&b->timer, when);
	tell(b);
}

static void host_work(void *host)
{
	struct bench *b = host;

	atomic_fetch_add(&b->works, 1);
}

static void host_trace(void *host, unsigned int event, const uint64_t *args, unsigned int count)
{
	struct bench *b = host;
	struct bench_event *e;
	uint64_t hash;
	unsigned int i;

	pthread_mutex_lock(&b->trace_lock);
	hash = (b->trace_hash ^ event) * 0x100000001b3ull;	/* FNV-1a, by words */
	for (i = 0; i < count; i++)
		hash = (hash ^ args[i]) * 0x100000001b3ull;
	b->trace_hash = hash;
	e = &b->traced[b->trace_count % BENCH_EVENTS_MAX];
	*e = (struct bench_event) { .what = event, .args = count };
	memcpy(e->arg, args, count * sizeof(*args));
	b->trace_count++;
	pthread_mutex_unlock(&b->trace_lock);
	if (event == TSR_TRACE_STATE)
		tell(b);
}

static void host_report(void *host, const char *text)
{
	struct bench *b = host;

	if (!strncmp(text, "capture: ", strlen("capture: ")))
		return;
	if (strncmp(text, "driver bug ", strlen("driver bug ")))
		die("the checker says \"%s\"", text);
	atomic_fetch_add(&b->told, 1);
}

static void host_captured(void *host)
{
	struct bench *b = host;

	atomic_fetch_add(&b->captures, 1);
}

static void host_thread_enter(void *host)
{
	struct bench *b = host;

	atomic_fetch_add(&b->threads, 1);
}

static void host_thread_leave(void *host)
{
	struct bench *b = host;

	atomic_fetch_sub(&b->threads, 1);
}

static const struct tsr_host_ops host_ops = {
	.map = host_map,
	.dirty = host_dirty,
	.interrupt = host_interrupt,
	.clock = host_clock,
	.set_timer = host_set_timer,
	.work = host_work,
	.trace = host_trace,
	.report = host_report,
	.captured = host_captured,
	.thread_enter = host_thread_enter,
	.thread_leave = host_thread_leave,
};

/* ---- The machine ----------------------------------------------------------------------------- */

struct bench *bench_try(const struct tsr_config *config, char *err, size_t errlen)
{
	struct bench *b = calloc(1, sizeof(*b));

	if (!b)
		die("no memory");
	if (config)
		b->config = *config;
	b->config.devtools = BENCH_DEVTOOLS;
	new_ram(b);
	if (b->config.local_size && !b->config.local) {
		b->local = new_memory(b->config.local_size);
		b->config.local = b->local;
	}
	b->next = BENCH_RAM_BASE;
	atomic_store(&b->timer, UINT64_MAX);
	atomic_store(&b->clock, 1000000);
	pthread_mutex_init(&b->dirty_lock, NULL);
	pthread_mutex_init(&b->trace_lock, NULL);
	pthread_mutex_init(&b->news_lock, NULL);
	pthread_cond_init(&b->news_cond, NULL);
	b->gpu = tsr_gpu_new(&b->config, &host_ops, b, err, errlen);
	if (!b->gpu) {
		bench_free(b);
		return NULL;
	}
	b->va_bits = (unsigned int)bench_field(bench_read(b, TSR_REG_GPU_VA),
					       TSR_GPU_VA_BITS__MASK);
	return b;
}

struct bench *bench_new(const struct tsr_config *config)
{
	char err[256] = "";
	struct bench *b = bench_try(config, err, sizeof(err));

	if (!b)
		die("the device refuses its configuration: %s", err);
	return b;
}

void bench_replace(struct bench *b)
{
	char err[256] = "";

	tsr_gpu_free(b->gpu);
	atomic_store(&b->timer, UINT64_MAX);
	b->gpu = tsr_gpu_new(&b->config, &host_ops, b, err, sizeof(err));
	if (!b->gpu)
		die("the device refuses its configuration: %s", err);
}

void bench_free(struct bench *b)
{
	if (b->gpu)
		tsr_gpu_free(b->gpu);
	if (atomic_load(&b->threads))
		die("%d worker threads are left", atomic_load(&b->threads));
	pthread_mutex_destroy(&b->dirty_lock);
	pthread_mutex_destroy(&b->trace_lock);
	pthread_mutex_destroy(&b->news_lock);
	pthread_cond_destroy(&b->news_cond);
	free_memory(b->local, b->config.local_size);
	free_ram(b);
	free(b);
}

uint64_t bench_alloc(struct bench *b, uint64_t size, uint64_t align)
{
	uint64_t at = (b->next + align - 1) / align * align;

	if (size > BENCH_RAM_SIZE || at + size > BENCH_RAM_BASE + BENCH_RAM_SIZE)
		die("no system memory left for 0x%llx bytes", (unsigned long long)size);
	b->next = at + size;
	return at;
}

uint64_t bench_alloc_local(struct bench *b, uint64_t size, uint64_t align)
{
	uint64_t at = (b->next_local + align - 1) / align * align;

	if (size > b->config.local_size || at + size > b->config.local_size)
		die("no local memory left for 0x%llx bytes", (unsigned long long)size);
	b->next_local = at + size;
	return at;
}

void *bench_ptr(struct bench *b, uint64_t bus, uint64_t size)
{
	uint64_t offset = bus - BENCH_RAM_BASE;

	if (offset >= BENCH_RAM_SIZE || size > BENCH_RAM_SIZE - offset)
		die("0x%llx is no system memory", (unsigned long long)bus);
	return b->ram + offset;
}

uint32_t bench_read(struct bench *b, uint32_t offset)
{
	return tsr_gpu_read(b->gpu, offset);
}

void bench_write(struct bench *b, uint32_t offset, uint32_t value)
{
	tsr_gpu_write(b->gpu, offset, value);
}

uint64_t bench_read64(struct bench *b, uint32_t offset)
{
	uint64_t low = bench_read(b, offset);

	return low | (uint64_t)bench_read(b, offset + 4) << 32;
}

void bench_write64(struct bench *b, uint32_t offset, uint64_t value)
{
	bench_write(b, offset, (uint32_t)value);
	bench_write(b, offset + 4, (uint32_t)(value >> 32));
}

bool bench_answer(struct bench *b)
{
	if (!atomic_exchange(&b->pending, false))
		return false;
	atomic_fetch_add(&b->answers, 1);
	tsr_gpu_host_ready(b->gpu);
	return true;
}

/* Do what the device asked for and may have now: translations, the timer. Whether there was any. */
static bool serve(struct bench *b)
{
	uint64_t when = atomic_load(&b->timer);

	if (bench_answer(b))
		return true;
	if (when == UINT64_MAX || when > host_clock(b) ||
	    !atomic_compare_exchange_strong(&b->timer, &when, UINT64_MAX))
		return false;
	tsr_gpu_timer(b->gpu);
	return true;
}

/* True if any queue has something to do at this moment. */
static bool busy(struct bench *b)
{
	unsigned int queues = (unsigned int)bench_field(bench_read(b, TSR_REG_GPU_SLOTS),
							TSR_GPU_SLOTS_QUEUES__MASK);
	unsigned int n;

	for (n = 0; n < queues; n++) {
		uint32_t state = bench_read(b, TSR_REG_QUEUE_STATE(n));
		uint64_t s = bench_field(state, TSR_QUEUE_STATE_STATE__MASK);

		if (s == TSR_QUEUE_STATE_READY || s == TSR_QUEUE_STATE_RUNNING ||
		    state & TSR_QUEUE_STATE_STOPPING__MASK)
			return true;
	}
	return false;
}

static uint64_t news(struct bench *b)
{
	uint64_t number;

	pthread_mutex_lock(&b->news_lock);
	number = b->news;
	pthread_mutex_unlock(&b->news_lock);
	return number;
}

/* Sleep until there are more than @seen news, or for a while: nobody tells of the real clock. */
static void wait_for_news(struct bench *b, uint64_t seen)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += WAIT_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&b->news_lock);
	while (b->news == seen && !pthread_cond_timedwait(&b->news_cond, &b->news_lock, &until))
		;
	pthread_mutex_unlock(&b->news_lock);
}

static bool wait_for_workers(struct bench *b, unsigned int seconds)
{
	uint64_t seen = news(b);
	struct timespec now;
	time_t end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + (time_t)seconds;
	/* the last question: a queue may have begun to wait for us between the first two */
	while (serve(b) || busy(b) || serve(b)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > end)
			return false;
		/* workers need all the processors there are: no polling beside them */
		wait_for_news(b, seen);
		seen = news(b);
	}
	return true;
}

bool bench_run(struct bench *b, unsigned int seconds)
{
	uint64_t total = 0;

	if (b->config.threads)
		return wait_for_workers(b, seconds);
	while (total < RUN_LIMIT) {
		uint64_t spent = tsr_gpu_run(b->gpu, RUN_CYCLES);

		total += spent;
		if (!spent && !serve(b))
			return true;
	}
	return false;
}

void bench_advance(struct bench *b, uint64_t ns)
{
	uint64_t end = atomic_load(&b->clock) + ns;
	uint64_t when;

	while ((when = atomic_load(&b->timer)) <= end) {
		if (when > atomic_load(&b->clock))
			atomic_store(&b->clock, when);
		serve(b);
		bench_run(b, 10);
	}
	atomic_store(&b->clock, end);
}

/* ---- Address spaces -------------------------------------------------------------------------- */

void bench_as_init(struct bench *b, struct bench_as *as, unsigned int index)
{
	as->bench = b;
	as->index = index;
	as->root = bench_alloc(b, BENCH_PAGE, BENCH_PAGE);
	memset(bench_ptr(b, as->root, BENCH_PAGE), 0, BENCH_PAGE);
	bench_write64(b, TSR_REG_AS_BASE(index), as->root | TSR_AS_BASE_VALID__MASK);
	if (!bench_invalidate_all(as))
		die("address space %u does not take its table", index);
}

uint64_t *bench_pte(struct bench_as *as, uint64_t va, unsigned int level)
{
	unsigned int at = (as->bench->va_bits - TSR_PAGE_SHIFT) / TSR_PT_INDEX_BITS - 1;
	uint64_t *table = bench_ptr(as->bench, as->root, BENCH_PAGE);

	for (;; at--) {
		unsigned int shift = TSR_PAGE_SHIFT + at * TSR_PT_INDEX_BITS;
		uint64_t *pte = &table[va >> shift & ((1 << TSR_PT_INDEX_BITS) - 1)];

		if (at == level)
			return pte;
		if (!(*pte & TSR_PTE_VALID__MASK) || *pte & TSR_PTE_LEAF__MASK)
			*pte = bench_alloc(as->bench, BENCH_PAGE, BENCH_PAGE) | TSR_PTE_VALID__MASK;
		table = bench_ptr(as->bench, *pte & TSR_PTE_ADDR__MASK, BENCH_PAGE);
	}
}

/* Map pages of one size. */
static void map_pages(struct bench_as *as, uint64_t va, uint64_t bus, uint64_t size, uint64_t bits,
		      unsigned int level)
{
	uint64_t page = level ? BENCH_HUGE_PAGE : BENCH_PAGE;
	uint64_t at;

	if ((va | bus | size) % page)
		die("0x%llx, 0x%llx, 0x%llx are no pages of 0x%llx", (unsigned long long)va,
		    (unsigned long long)bus, (unsigned long long)size, (unsigned long long)page);
	for (at = 0; at < size; at += page) {
		uint64_t addr = bits & TSR_PTE_NULL__MASK ? 0 : bus + at;

		*bench_pte(as, va + at, level) = addr | bits | TSR_PTE_VALID__MASK |
						 TSR_PTE_LEAF__MASK;
	}
}

void bench_map(struct bench_as *as, uint64_t va, uint64_t bus, uint64_t size, uint64_t bits)
{
	map_pages(as, va, bus, size, bits, 0);
}

void bench_map_huge(struct bench_as *as, uint64_t va, uint64_t bus, uint64_t size, uint64_t bits)
{
	map_pages(as, va, bus, size, bits, 1);
}

void bench_unmap(struct bench_as *as, uint64_t va, uint64_t size)
{
	uint64_t at;

	for (at = 0; at < size; at += BENCH_PAGE)
		*bench_pte(as, va + at, 0) = 0;
}

static bool invalidate(struct bench_as *as, enum tsr_inv_op op)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	uint32_t status = TSR_REG_AS_STATUS(as->index);
	struct bench *b = as->bench;
	unsigned int tries;

	bench_write(b, TSR_REG_AS_COMMAND(as->index), op << TSR_AS_COMMAND_OP__SHIFT);
	for (tries = 0; bench_read(b, status) & TSR_AS_STATUS_BUSY__MASK; tries++) {
		if (tries == 100000)
			return false;
		if (b->config.threads)
			nanosleep(&pause, NULL);
		else
			tsr_gpu_run(b->gpu, 1);
	}
	return true;
}

bool bench_invalidate(struct bench_as *as, uint64_t va, uint64_t size)
{
	bench_write64(as->bench, TSR_REG_AS_INV_VA(as->index), va);
	bench_write64(as->bench, TSR_REG_AS_INV_SIZE(as->index), size);
	return invalidate(as, TSR_INV_OP_RANGE);
}

bool bench_invalidate_all(struct bench_as *as)
{
	return invalidate(as, TSR_INV_OP_ALL);
}

void *bench_buffer(struct bench_as *as, uint64_t va, uint64_t size, uint64_t bits)
{
	struct bench *b = as->bench;
	uint64_t before, all, bus;

	if (b->pieces && b->pieces->size == BENCH_HUGE_PAGE && size >= HUGE_FROM) {
		before = va % BENCH_HUGE_PAGE;
		all = (before + size + BENCH_HUGE_PAGE - 1) / BENCH_HUGE_PAGE * BENCH_HUGE_PAGE;
		bus = bench_alloc(b, all, BENCH_HUGE_PAGE);
		bench_map_huge(as, va - before, bus, all, bits);
		return (uint8_t *)bench_ptr(b, bus, all) + before;
	}
	bus = bench_alloc(b, size, BENCH_PAGE);
	bench_map(as, va, bus, size, bits);
	return bench_ptr(b, bus, size);
}

/* ---- Queues ---------------------------------------------------------------------------------- */

void bench_enable(struct bench_queue *q, uint32_t rptr)
{
	q->wptr = rptr;
	bench_write(q->bench, TSR_REG_QUEUE_RPTR(q->slot), rptr);
	bench_control(q, TSR_QUEUE_OP_ENABLE);
}

void bench_queue_init(struct bench_queue *q, unsigned int slot, enum tsr_engine_class engine_class,
		      enum tsr_priority priority, struct bench_as *ring_as, uint64_t ring_va,
		      unsigned int ring_log2, struct bench_as *user_as)
{
	struct bench *b = ring_as->bench;

	q->bench = b;
	q->slot = slot;
	q->size = 1u << ring_log2;
	q->ring_va = ring_va;
	q->ring_bus = bench_alloc(b, q->size, BENCH_PAGE);
	bench_map(ring_as, ring_va, q->ring_bus, q->size, BENCH_RX);
	bench_write64(b, TSR_REG_QUEUE_RING_BASE(slot), ring_va);
	bench_write(b, TSR_REG_QUEUE_CONFIG(slot), ring_log2 << TSR_QUEUE_CONFIG_RING_LOG2__SHIFT |
		    (uint32_t)engine_class << TSR_QUEUE_CONFIG_CLASS__SHIFT |
		    (uint32_t)priority << TSR_QUEUE_CONFIG_PRIORITY__SHIFT);
	bench_write(b, TSR_REG_QUEUE_ADDRESS_SPACES(slot),
		    ring_as->index << TSR_QUEUE_ADDRESS_SPACES_RING_AS__SHIFT |
		    user_as->index << TSR_QUEUE_ADDRESS_SPACES_USER_AS__SHIFT);
	bench_enable(q, 0);
}

uint32_t bench_room(struct bench_queue *q)
{
	return q->size - (q->wptr - bench_queue_reg(q, TSR_QUEUE_RPTR__OFFSET));
}

/* Write words at the ring's end, which does not straddle. */
static void put(struct bench_queue *q, const uint64_t *words, unsigned int count)
{
	uint8_t *ring = bench_ptr(q->bench, q->ring_bus, q->size);

	if (bench_room(q) < 8 * count)
		die("the ring of queue %u is full", q->slot);
	memcpy(ring + (q->wptr & (q->size - 1)), words, 8 * (size_t)count);
	q->wptr += 8 * count;
}

void bench_emit(struct bench_queue *q, const uint64_t *packet, unsigned int qwords)
{
	uint32_t left = q->size - (q->wptr & (q->size - 1));

	if (left < 8 * qwords) {
		uint64_t pad[TSR_NOP_MAX_QWORDS];
		struct tsr_nop nop = { .qwords = left / 8 };

		tsr_pack_nop(pad, &nop);
		put(q, pad, left / 8);
	}
	put(q, packet, qwords);
}

void bench_kick(struct bench_queue *q)
{
	atomic_thread_fence(memory_order_seq_cst);
	bench_write(q->bench, TSR_REG_DOORBELL_RING(q->slot), q->wptr);
}

void bench_call(struct bench_queue *q, uint64_t va, uint32_t size)
{
	struct tsr_call call = { .addr = va, .size = size };
	uint64_t packet[TSR_CALL_QWORDS];

	tsr_pack_call(packet, &call);
	bench_emit(q, packet, TSR_CALL_QWORDS);
}

void bench_fence(struct bench_queue *q, uint64_t va, uint64_t value, enum tsr_event event, bool irq)
{
	struct tsr_fence fence = { .event = event, .irq = irq, .addr = va, .value = value };
	uint64_t packet[TSR_FENCE_QWORDS];

	tsr_pack_fence(packet, &fence);
	bench_emit(q, packet, TSR_FENCE_QWORDS);
}

void bench_control(struct bench_queue *q, enum tsr_queue_op op)
{
	bench_write(q->bench, TSR_REG_QUEUE_CONTROL(q->slot),
		    (uint32_t)op << TSR_QUEUE_CONTROL_OP__SHIFT);
}

uint32_t bench_queue_reg(struct bench_queue *q, uint32_t offset)
{
	return bench_read(q->bench, TSR_QUEUE__OFFSET + q->slot * TSR_QUEUE__STRIDE + offset);
}

uint64_t bench_queue_reg64(struct bench_queue *q, uint32_t offset)
{
	return bench_read64(q->bench, TSR_QUEUE__OFFSET + q->slot * TSR_QUEUE__STRIDE + offset);
}

enum tsr_queue_state bench_state(struct bench_queue *q)
{
	return (enum tsr_queue_state)bench_field(bench_queue_reg(q, TSR_QUEUE_STATE__OFFSET),
						 TSR_QUEUE_STATE_STATE__MASK);
}

enum tsr_fault bench_fault(struct bench_queue *q)
{
	return (enum tsr_fault)bench_field(bench_queue_reg(q, TSR_QUEUE_FAULT__OFFSET),
					   TSR_QUEUE_FAULT_CODE__MASK);
}
