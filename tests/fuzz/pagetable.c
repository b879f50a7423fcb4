// SPDX-License-Identifier: MIT
/*
 * Fuzz target: page tables.
 *
 * The input is a handful of page-table entries and of accesses. A page table is built out of them,
 * malformed ones included, and a stream does each access through it. What must happen is worked out
 * by a walker of our own, written from Documentation/hw/memory.md, and the device has to agree: the
 * byte read or written, or the code, address, level and kind of the fault.
 *
 * The entries are in the first few places of each table; the last place of the root holds a mapping
 * of the stream and of its result, so that those always work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TABLES		8		/* tables to build with */
#define PATHS		4		/* ways from the root to somewhere */
#define ACCESSES_MAX	8
#define DATA_PAGES	4		/* pages of data that entries can name */
#define RING_VA		0x10000
#define LOCAL_SIZE	(2u << 20)
#define NOTHING		0xee		/* in the result's byte before a read */
#define WRITTEN		0xa5		/* what a write writes */

/* The rest of the input. */
struct input {
	const uint8_t *data;
	size_t left;
};

/* The machine of one input. */
struct setup {
	struct bench *bench;
	struct bench_as driver, user;
	struct bench_queue queue;
	uint64_t table[TABLES];		/* bus addresses; 0 is the root */
	uint64_t page[DATA_PAGES];	/* bus addresses */
	uint64_t fixed;			/* VA of the stream; the result is in the next page */
	uint64_t *stream;
	uint8_t *result;
	uint64_t path[PATHS];		/* addresses that take the ways built */
	unsigned int paths;
	unsigned int levels;
	bool huge;			/* 2 MiB pages exist */
};

/* The outcome of a walk. */
struct outcome {
	enum tsr_fault fault;
	unsigned int level;
	uint64_t addr;			/* bus address or local offset */
	bool local, null;
};

static uint8_t byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->data++;
}

static uint64_t number(struct input *in, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | byte(in);
	return value;
}

/* An address for a page: mostly one of ours, sometimes anything. */
static uint64_t pick_page(const struct setup *s, struct input *in, unsigned int level)
{
	uint8_t choice = byte(in);

	if (choice < 0x80)
		return level == 1 ? BENCH_RAM_BASE + (choice & 7) * BENCH_HUGE_PAGE :
				    s->page[choice % DATA_PAGES];
	if (choice < 0xa0)
		return s->table[choice % TABLES];
	if (choice < 0xc0)
		return 0;
	if (choice < 0xf0)
		return (uint64_t)(choice & 7) << (choice & 8 ? 21 : 12);
	return number(in, 7) << 12 & TSR_PTE_ADDR__MASK;
}

/* An entry that ends a way, or was meant to. */
static uint64_t pick_entry(const struct setup *s, struct input *in, unsigned int level)
{
	uint8_t choice = byte(in);
	uint64_t bits = byte(in) & 0x7f;
	uint64_t leaf = TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK | (bits & BENCH_RWX);

	if (choice < 0x80)
		return leaf | pick_page(s, in, level);
	if (choice < 0xa0)
		return leaf | TSR_PTE_LOCAL__MASK | pick_page(s, in, level);
	if (choice < 0xc8)
		return leaf | TSR_PTE_NULL__MASK | (choice & 7 ? 0 : pick_page(s, in, level));
	if (choice < 0xe0)
		return TSR_PTE_VALID__MASK | bits | pick_page(s, in, level);
	if (choice < 0xf0)
		return number(in, 8) & ~TSR_PTE_VALID__MASK;
	return number(in, 8) | TSR_PTE_VALID__MASK;
}

/*
 * A way from the root to somewhere, mostly through pointers as they should be; the last entry, and
 * now and then one before it, is anything. Returns an address that takes this way.
 */
static uint64_t build_path(struct setup *s, struct input *in)
{
	uint64_t table = s->table[0], va = 0;
	unsigned int level = s->levels;

	while (level-- > 0) {
		uint8_t choice = byte(in);
		unsigned int index = choice & 3;
		uint64_t *entry = (uint64_t *)bench_ptr(s->bench, table, BENCH_PAGE) + index;
		bool pointer = level > 1 ? choice < 0xe0 : level == 1 && choice < 0xa0;

		va |= (uint64_t)index << (12 + 9 * level);
		if (!pointer) {
			*entry = pick_entry(s, in, level);
			return va;
		}
		table = s->table[(choice >> 2) % TABLES];
		*entry = TSR_PTE_VALID__MASK | table;
	}
	return va;
}

static void build(struct setup *s, struct input *in)
{
	unsigned int strays = byte(in) % 8;

	while (strays--) {
		uint64_t *table = bench_ptr(s->bench, s->table[byte(in) % TABLES], BENCH_PAGE);
		unsigned int index = byte(in) % 4;

		table[index] = pick_entry(s, in, index & 1);
	}
	for (s->paths = 0; s->paths < PATHS; s->paths++)
		s->path[s->paths] = build_path(s, in);
}

/* True if a qword of system or local memory can be read, and what it is. */
static bool load(const struct setup *s, bool local, uint64_t addr, uint64_t *value)
{
	if (local) {
		if (addr > LOCAL_SIZE - 8)
			return false;
		memcpy(value, s->bench->local + addr, 8);
		return true;
	}
	if (addr - BENCH_RAM_BASE > BENCH_RAM_SIZE - 8)
		return false;
	memcpy(value, s->bench->ram + (addr - BENCH_RAM_BASE), 8);
	return true;
}

/* True if a leaf or a pointer at that level is malformed. */
static bool malformed(const struct setup *s, uint64_t pte, unsigned int level)
{
	uint64_t reserved = ~(TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK | TSR_PTE_READ__MASK |
			      TSR_PTE_WRITE__MASK | TSR_PTE_EXEC__MASK | TSR_PTE_NULL__MASK |
			      TSR_PTE_LOCAL__MASK | TSR_PTE_SOFTWARE__MASK | TSR_PTE_ADDR__MASK);
	bool leaf = pte & TSR_PTE_LEAF__MASK;

	if (pte & reserved)
		return true;
	if (!leaf)
		return level == 0 || pte & (BENCH_RWX | TSR_PTE_NULL__MASK);
	if (level > 1 || (level == 1 && !s->huge))
		return true;
	if (pte & TSR_PTE_NULL__MASK &&
	    pte & (TSR_PTE_ADDR__MASK | TSR_PTE_LOCAL__MASK | TSR_PTE_EXEC__MASK))
		return true;
	return level == 1 && pte & TSR_PTE_ADDR__MASK & (BENCH_HUGE_PAGE - 1);
}

/* The walk of memory.md. */
static struct outcome walk(const struct setup *s, uint64_t va, uint64_t permission)
{
	struct outcome out = { .level = s->levels - 1 };
	uint64_t table = s->table[0];
	bool local = false;

	if (va >> s->bench->va_bits) {
		out.fault = TSR_FAULT_MMU_UNMAPPED;
		return out;
	}
	for (;; out.level--) {
		unsigned int shift = 12 + 9 * out.level;
		uint64_t pte;

		if (!load(s, local, table + 8 * (va >> shift & 511), &pte)) {
			out.fault = TSR_FAULT_MMU_WALK_BUS;
			return out;
		}
		if (!(pte & TSR_PTE_VALID__MASK)) {
			out.fault = TSR_FAULT_MMU_UNMAPPED;
			return out;
		}
		if (malformed(s, pte, out.level)) {
			out.fault = TSR_FAULT_MMU_WALK;
			return out;
		}
		local = pte & TSR_PTE_LOCAL__MASK;
		table = pte & TSR_PTE_ADDR__MASK;
		if (!(pte & TSR_PTE_LEAF__MASK))
			continue;
		if (!(pte & permission))
			out.fault = TSR_FAULT_MMU_PERMISSION;
		out.local = local;
		out.null = pte & TSR_PTE_NULL__MASK;
		out.addr = table + (va & ((1ull << shift) - 1));
		return out;
	}
}

/* Write the stream that does an access; returns its bytes. */
static uint32_t write_stream(struct setup *s, uint64_t va, enum tsr_access kind)
{
	struct tsr_copy_linear copy = { .src = va, .dst = s->fixed + BENCH_PAGE, .size = 1 };
	struct tsr_fill_linear fill = { .texel = 1, .dst = va, .size = 1, .pattern_lo = WRITTEN };
	struct tsr_jump jump = { .addr = va, .size = 8 };

	switch (kind) {
	case TSR_ACCESS_READ:
		tsr_pack_copy_linear(s->stream, &copy);
		return 8 * TSR_COPY_LINEAR_QWORDS;
	case TSR_ACCESS_WRITE:
		tsr_pack_fill_linear(s->stream, &fill);
		return 8 * TSR_FILL_LINEAR_QWORDS;
	default:
		tsr_pack_jump(s->stream, &jump);
		return 8 * TSR_JUMP_QWORDS;
	}
}

static void expect(const char *what, uint64_t va, uint64_t expected, uint64_t got)
{
	if (expected == got)
		return;
	fprintf(stderr, "pagetable: va 0x%llx: %s: expected 0x%llx, got 0x%llx\n",
		(unsigned long long)va, what, (unsigned long long)expected,
		(unsigned long long)got);
	abort();
}

/* The fault record must say what the walk says. */
static void check_fault(struct setup *s, uint64_t va, const struct outcome *walked,
			enum tsr_access kind)
{
	uint32_t record = bench_queue_reg(&s->queue, TSR_QUEUE_FAULT__OFFSET);

	expect("state", va, TSR_QUEUE_STATE_FAULTED, bench_state(&s->queue));
	expect("fault code", va, walked->fault, bench_field(record, TSR_QUEUE_FAULT_CODE__MASK));
	expect("fault address", va, va, bench_queue_reg64(&s->queue, TSR_QUEUE_FAULT_ADDR__OFFSET));
	expect("kind of access", va, kind, bench_field(record, TSR_QUEUE_FAULT_ACCESS__MASK));
	expect("unit", va, kind == TSR_ACCESS_EXEC ? TSR_UNIT_CP_FETCH : TSR_UNIT_COPY,
	       bench_field(record, TSR_QUEUE_FAULT_UNIT__MASK));
	expect("address space", va, s->user.index,
	       bench_queue_reg(&s->queue, TSR_QUEUE_FAULT_AS__OFFSET));
	if (walked->fault != TSR_FAULT_BUS && va >> s->bench->va_bits == 0)
		expect("level", va, walked->level,
		       bench_field(record, TSR_QUEUE_FAULT_LEVEL__MASK));
}

/* The byte an outcome leads to, or NULL for a NULL page. */
static uint8_t *place(const struct setup *s, const struct outcome *walked)
{
	if (walked->null)
		return NULL;
	return walked->local ? s->bench->local + walked->addr :
			       s->bench->ram + (walked->addr - BENCH_RAM_BASE);
}

/* One access. Returns false if it has changed memory: then nothing is as it was built any more. */
static bool try_access(struct setup *s, uint64_t va, enum tsr_access kind)
{
	static const uint64_t permission[] = { [TSR_ACCESS_READ] = TSR_PTE_READ__MASK,
					       [TSR_ACCESS_WRITE] = TSR_PTE_WRITE__MASK,
					       [TSR_ACCESS_EXEC] = TSR_PTE_EXEC__MASK };
	struct outcome walked = walk(s, va, permission[kind]);
	uint8_t *byte, before = 0;
	uint64_t word;

	if (!walked.fault && !walked.null && !load(s, walked.local, walked.addr & ~7ull, &word))
		walked.fault = TSR_FAULT_BUS;
	if (!walked.fault && kind == TSR_ACCESS_EXEC)
		return true;	/* whatever is there would be executed: fuzz/stream.c does that */
	*s->result = NOTHING;
	bench_invalidate_all(&s->user);
	bench_enable(&s->queue, 0);
	bench_call(&s->queue, s->fixed, write_stream(s, va, kind));
	byte = walked.fault ? NULL : place(s, &walked);
	if (byte)
		before = *byte;
	bench_kick(&s->queue);
	expect("the queue comes to rest", va, true, bench_run(s->bench, 10));
	if (walked.fault) {
		check_fault(s, va, &walked, kind);
	} else {
		expect("state", va, TSR_QUEUE_STATE_IDLE, bench_state(&s->queue));
		if (kind == TSR_ACCESS_READ)
			expect("byte read", va, byte ? before : 0, *s->result);
		else if (byte)
			expect("byte written", va, WRITTEN, *byte);
	}
	bench_control(&s->queue, TSR_QUEUE_OP_RESET);
	bench_run(s->bench, 10);
	return walked.fault || kind != TSR_ACCESS_WRITE;
}

/* An address on one of the ways there are, near one, or any. */
static uint64_t pick_va(const struct setup *s, struct input *in)
{
	uint8_t choice = byte(in);
	uint64_t va = s->path[choice % PATHS] | (number(in, 2) & (BENCH_PAGE - 1));

	if (choice >= 0xf8)
		return number(in, 8);
	if (choice >= 0xd0)
		va ^= (uint64_t)(byte(in) & 3) << (12 + 9 * (byte(in) % s->levels));
	return va;
}

static void set_up(struct setup *s, uint8_t choice, uint8_t trouble)
{
	static const unsigned int va_bits[] = { 39, 48, 57, 48 };
	struct tsr_config config = { .va_bits = va_bits[choice & 3], .local_size = LOCAL_SIZE };
	unsigned int i;

	s->huge = !(choice & 4);
	config.page_sizes = 1 << 12 | (s->huge ? 1 << 21 : 0);
	s->bench = bench_new(&config);
	s->levels = (s->bench->va_bits - 12) / 9;
	bench_as_init(s->bench, &s->driver, 0);
	bench_as_init(s->bench, &s->user, 1);
	s->table[0] = s->user.root;
	for (i = 1; i < TABLES; i++)
		s->table[i] = bench_alloc(s->bench, BENCH_PAGE, BENCH_PAGE);
	for (i = 0; i < DATA_PAGES; i++) {
		s->page[i] = bench_alloc(s->bench, BENCH_PAGE, BENCH_PAGE);
		memset(bench_ptr(s->bench, s->page[i], BENCH_PAGE), 0x11 * (int)(i + 1),
		       BENCH_PAGE);
	}
	s->fixed = 511ull << (12 + 9 * (s->levels - 1));
	s->stream = bench_buffer(&s->user, s->fixed, BENCH_PAGE, BENCH_RX);
	s->result = bench_buffer(&s->user, s->fixed + BENCH_PAGE, BENCH_PAGE, BENCH_RW);
	bench_queue_init(&s->queue, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL, &s->driver,
			 RING_VA, 12, &s->user);
	bench_control(&s->queue, TSR_QUEUE_OP_RESET);
	if (trouble & 1)
		s->bench->map_limit = 8ull << (trouble >> 4);
	if (trouble & 2)
		s->bench->pending_every = 1 + (trouble >> 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum tsr_access kinds[] = { TSR_ACCESS_READ, TSR_ACCESS_WRITE, TSR_ACCESS_READ,
						 TSR_ACCESS_EXEC };
	struct input in = { .data = data, .left = size };
	struct setup s = { 0 };
	uint8_t choice = byte(&in);
	unsigned int accesses;

	set_up(&s, choice, byte(&in));
	build(&s, &in);
	for (accesses = 0; accesses < ACCESSES_MAX && in.left; accesses++) {
		enum tsr_access kind = kinds[byte(&in) % 4];
		uint64_t va = pick_va(&s, &in);

		if (!try_access(&s, kind == TSR_ACCESS_EXEC ? va & -64ull : va, kind))
			break;
	}
	bench_free(s.bench);
	return 0;
}
