/* SPDX-License-Identifier: MIT */
/*
 * The in-process bench: a machine with one Tessera GPU and nothing else, for tests and fuzzers.
 *
 * It is a host of the model (struct tsr_host_ops) as QEMU is: a piece of system memory at
 * BENCH_RAM_BASE, perhaps local memory, a clock that stands unless the test moves it, interrupts
 * that are counted. On top of that it has what a driver has: page tables, rings, streams. It knows
 * the hardware only from the generated headers and the programming guide, so it is also the
 * shortest complete driver there is (Documentation/hw/README.md, "A driver from nothing").
 *
 * Memory is given out from the bottom and never taken back. Addresses called "bus" are bus
 * addresses of system memory; "va" are GPU addresses. Functions that cannot do what they are asked
 * end the program: a test that asks for too much is wrong.
 */
#ifndef TSR_BENCH_H
#define TSR_BENCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tsr_gpu.h"
#include "tsr_packets.h"
#include "tsr_regs.h"
#include "tsr_trace.h"

#define BENCH_RAM_BASE		0x40000000ull	/* bus address of system memory */
#define BENCH_RAM_SIZE		(64u << 20)
#define BENCH_PAGE		4096ull
#define BENCH_HUGE_PAGE		(2ull << 20)
#define BENCH_EVENTS_MAX	128		/* trace events kept */
#define BENCH_DIRTY_MAX		256		/* dirty reports kept */

/*
 * Layouts of a machine's system memory in this process. The environment variable TSR_BENCH_MEMORY
 * names one of them when a machine is made; the default is "whole".
 *
 * - "whole": one piece between two guard pages.
 * - "pages": each 4 KiB page lies between two guard pages, and map() returns at most one page.
 *   A device that follows a pointer beyond the length it was given faults at once.
 * - "huge": the same with 2 MiB pieces. bench_buffer() maps large buffers with 2 MiB pages.
 *
 * The test reads and writes all memory through bench.ram in every layout.
 */
enum bench_layout { BENCH_WHOLE, BENCH_PAGES, BENCH_HUGE };

/* PTE bits that go together. */
#define BENCH_RWX	(TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK | TSR_PTE_EXEC__MASK)
#define BENCH_RW	(TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK)
#define BENCH_R		TSR_PTE_READ__MASK
#define BENCH_RX	(TSR_PTE_READ__MASK | TSR_PTE_EXEC__MASK)

/* One machine. Tests may read all of it, and write the fields marked so. */
struct bench {
	struct tsr_gpu *gpu;
	struct tsr_config config;	/* as given, zeros included */
	unsigned int va_bits;		/* what GPU.VA says */
	uint8_t *ram;			/* system memory, the test's view */
	struct bench_pieces *pieces;	/* the device's view, NULL for BENCH_WHOLE */
	uint8_t *local;			/* local memory, or NULL */
	uint64_t next;			/* bus address of the first byte not given out */
	uint64_t next_local;		/* the same for local memory, an offset */

	_Atomic uint64_t clock;		/* nanoseconds; the test may move it, never back */
	bool real_clock;		/* writable: the clock is the machine's own */
	_Atomic uint64_t timer;		/* when tsr_gpu_timer() is wanted, or UINT64_MAX */
	atomic_uint interrupts[TSR_IRQ__COUNT];	/* messages of each vector since the start */

	/* Injection; writable while no engine runs. */
	uint64_t hole_base, hole_size;	/* bus addresses that are not memory */
	uint64_t map_limit;		/* longest answer of map() in bytes, 0: no limit */
	unsigned int pending_every;	/* pages that are PENDING when first asked for; 0: none */
	/* per page: 1 + the value of @answers when it was first asked for, 0: not yet */
	atomic_uint asked[BENCH_RAM_SIZE / BENCH_PAGE];
	atomic_uint answers;		/* how often bench_run() has told the device to ask again */
	atomic_bool pending;		/* there is something to tell */

	atomic_uint maps;		/* calls of map() */
	atomic_uint works;		/* calls of work() */
	atomic_int threads;		/* worker threads that have entered and not left */

	pthread_mutex_t trace_lock;	/* of the following */
	uint64_t trace_hash;		/* of all trace events and their arguments, in order */
	uint64_t trace_count;		/* events */
	struct bench_event {
		enum tsr_trace what;
		unsigned int args;
		uint64_t arg[4];
	} traced[BENCH_EVENTS_MAX];	/* the last of them, event n at n % BENCH_EVENTS_MAX */
	atomic_uint told;		/* lines of the contract checker */
	atomic_uint captures;		/* captured jobs that it has been told of */

	pthread_mutex_t news_lock;	/* of the following */
	pthread_cond_t news_cond;
	uint64_t news;			/* what bench_run() may wait for has happened so often */

	pthread_mutex_t dirty_lock;	/* of the following */
	/*
	 * A copy of system memory as of the last dirty report of each byte, or NULL. The test
	 * allocates BENCH_RAM_SIZE bytes and sets the pointer while no engine runs.
	 */
	uint8_t *reported;
	unsigned int dirty_count;	/* reports; the first BENCH_DIRTY_MAX are kept */
	unsigned int dirty_pages;	/* 4 KiB pages, each as often as it is reported */
	struct bench_dirty {
		enum tsr_space space;
		uint64_t addr, len;
	} dirty[BENCH_DIRTY_MAX];
};

/* An address space: a number and its page table. */
struct bench_as {
	struct bench *bench;
	unsigned int index;	/* its number in the AS block */
	uint64_t root;		/* bus address of the root table */
};

/* A queue: a slot and its ring. */
struct bench_queue {
	struct bench *bench;
	unsigned int slot;
	uint64_t ring_bus;	/* memory of the ring */
	uint64_t ring_va;	/* its GPU address */
	uint32_t size;		/* bytes */
	uint32_t wptr;		/* where the next packet goes; bench_kick() tells the device */
};

/* ---- The machine ----------------------------------------------------------------------------- */

/*
 * bench_new(): a machine with a device of that configuration (NULL: all defaults, no threads).
 * Local memory is allocated when local_size asks for it. bench_try() returns NULL and the device's
 * message if it refuses the configuration.
 */
struct bench *bench_new(const struct tsr_config *config);
struct bench *bench_try(const struct tsr_config *config, char *err, size_t errlen);
void bench_free(struct bench *b);

/* bench_replace(): a fresh device in the place of the old one; memory and clock stay. */
void bench_replace(struct bench *b);

/* bench_alloc(): @size bytes of zeroed system memory at a multiple of @align, their bus address. */
uint64_t bench_alloc(struct bench *b, uint64_t size, uint64_t align);

/* bench_alloc_local(): the same in local memory, an offset. */
uint64_t bench_alloc_local(struct bench *b, uint64_t size, uint64_t align);

/* bench_ptr(): the test's own view of a bus address; @size bytes must be there. */
void *bench_ptr(struct bench *b, uint64_t bus, uint64_t size);

/* Registers: 32 bits, or 64 as two words, low first. */
uint32_t bench_read(struct bench *b, uint32_t offset);
void bench_write(struct bench *b, uint32_t offset, uint32_t value);
uint64_t bench_read64(struct bench *b, uint32_t offset);
void bench_write64(struct bench *b, uint32_t offset, uint64_t value);

/*
 * bench_run(): let the device work until it has nothing left to do now, timers that are due
 * included. Without threads it does the work itself; with threads it waits until every queue is at
 * rest (not READY, RUNNING or STOPPING), at most @seconds. Returns false if that was not enough,
 * or, without threads, if the device still works after 2^40 cycles.
 */
bool bench_run(struct bench *b, unsigned int seconds);

/* bench_answer(): what is pending is known now; false: nothing was. bench_run() does it too. */
bool bench_answer(struct bench *b);

/* bench_advance(): move the clock by @ns, with every timer that comes due on the way. */
void bench_advance(struct bench *b, uint64_t ns);

/* ---- Address spaces -------------------------------------------------------------------------- */

/* bench_as_init(): an empty page table in address space @index, switched on. */
void bench_as_init(struct bench *b, struct bench_as *as, unsigned int index);

/*
 * bench_map(): map [va, va + size) to memory from @bus with @bits (BENCH_RW and the like,
 * TSR_PTE_LOCAL__MASK for local memory, TSR_PTE_NULL__MASK for NULL pages); 4 KiB pages, 2 MiB ones
 * in bench_map_huge(). What was mapped there is replaced; bench_invalidate() tells the device.
 */
void bench_map(struct bench_as *as, uint64_t va, uint64_t bus, uint64_t size, uint64_t bits);
void bench_map_huge(struct bench_as *as, uint64_t va, uint64_t bus, uint64_t size, uint64_t bits);
void bench_unmap(struct bench_as *as, uint64_t va, uint64_t size);

/* bench_pte(): the entry of @va at @level, tables above it made where there are none. */
uint64_t *bench_pte(struct bench_as *as, uint64_t va, unsigned int level);

/* bench_invalidate(): forget what is cached of a range, and wait; bench_invalidate_all(): all. */
bool bench_invalidate(struct bench_as *as, uint64_t va, uint64_t size);
bool bench_invalidate_all(struct bench_as *as);

/* bench_buffer(): new memory mapped at @va (multiples of 4 KiB); returns the test's view of it. */
void *bench_buffer(struct bench_as *as, uint64_t va, uint64_t size, uint64_t bits);

/* ---- Queues ---------------------------------------------------------------------------------- */

/*
 * bench_queue_init(): a ring of 2^@ring_log2 bytes at @ring_va in @ring_as, and the slot configured
 * for @engine_class at @priority with those address spaces, and enabled.
 */
void bench_queue_init(struct bench_queue *q, unsigned int slot, enum tsr_engine_class engine_class,
		      enum tsr_priority priority, struct bench_as *ring_as, uint64_t ring_va,
		      unsigned int ring_log2, struct bench_as *user_as);

/* bench_enable(): enable the slot again, as it is configured, with RPTR @rptr. */
void bench_enable(struct bench_queue *q, uint32_t rptr);

/*
 * bench_emit(): put one packet of @qwords words into the ring, a NOP before it if it would straddle
 * the end. There must be room: bench_room(). bench_kick() tells the device.
 */
void bench_emit(struct bench_queue *q, const uint64_t *packet, unsigned int qwords);
uint32_t bench_room(struct bench_queue *q);
void bench_kick(struct bench_queue *q);

/* Packets drivers write: each one bench_emit(). */
void bench_call(struct bench_queue *q, uint64_t va, uint32_t size);
void bench_fence(struct bench_queue *q, uint64_t va, uint64_t value, enum tsr_event event,
		 bool irq);

/* bench_control(): write an operation to the slot's CONTROL. */
void bench_control(struct bench_queue *q, enum tsr_queue_op op);

/* bench_state(): QUEUE.STATE.STATE. bench_fault(): the code of the fault record. */
enum tsr_queue_state bench_state(struct bench_queue *q);
enum tsr_fault bench_fault(struct bench_queue *q);

/* bench_queue_reg(), bench_queue_reg64(): a register of the slot by its offset in the slot. */
uint32_t bench_queue_reg(struct bench_queue *q, uint32_t offset);
uint64_t bench_queue_reg64(struct bench_queue *q, uint32_t offset);

/* bench_field(): the value of a field, from a register's value and the field's mask. */
static inline uint64_t bench_field(uint64_t value, uint64_t mask)
{
	return (value & mask) / (mask & -mask);
}

#endif
