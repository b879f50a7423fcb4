// SPDX-License-Identifier: MIT
/*
 * Fuzz target: rings and command streams, with a bystander.
 *
 * The input becomes packets of a ring and of the stream it calls, which run on one queue of a
 * machine; another queue does honest work at the same time. However malicious the packets are:
 *
 * - memory that their address space does not let them write stays as it is;
 * - the other queue does its work, also beside an endless loop;
 * - a fault is the one that the decoder (libtessera) finds in the packet, where both can know;
 * - RESET ends whatever goes on, and the slot can be used again;
 * - the outcome is the same when the device is stopped every few cycles, and saved and loaded into
 *   a new one at six of those stops; and when worker threads run both queues at the same time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "packets.h"
#include <tessera/decode.h>
#include "tsr_desc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RING_LOG2	12
#define RING_VA		0x10000ull	/* of the attacker, in the driver's address space */
#define HONEST_RING_VA	0x12000ull
#define WORDS_VA	0x20000ull	/* fence values, in the driver's address space */
#define HONEST_WORD_VA	0x800000ull	/* the bystander's, where no packet of the input points */
#define CODE_VA		0x100000ull	/* in the attacker's address space */
#define CODE_SIZE	(2 * BENCH_PAGE)
#define LOCAL_SIZE	(2u << 20)
#define CYCLES		30000u		/* for an attacker and a bystander to get their turns */
#define MARK		0x0123456789abcdefull
#define HOST_IS_LATE	16		/* in the first byte: pages are PENDING at first */

/* Memory of an attacker. */
static const struct fuzz_region attacker_data[] = {
	{ 0x200000, 2 * BENCH_PAGE },	/* READ, WRITE */
	{ 0x202000, 2 * BENCH_PAGE },	/* WRITE: follows the first without a gap */
	{ 0x210000, 2 * BENCH_PAGE },	/* READ */
	{ 0x220000, BENCH_PAGE },	/* a NULL page */
	{ 0x230000, BENCH_PAGE },	/* local memory */
	{ 0x240000, BENCH_PAGE },	/* not mapped */
	{ CODE_VA, CODE_SIZE },		/* READ, EXEC */
};

/* Memory that the driver's own packets in the ring can name. */
static const struct fuzz_region ring_data[] = {
	{ WORDS_VA, BENCH_PAGE }, { RING_VA, 1 << RING_LOG2 }, { 0x200000, BENCH_PAGE },
};

/* One machine with two queues. */
struct setup {
	struct bench *bench;
	struct bench_as driver, attacker, honest;
	struct bench_queue queue, bystander;
	uint64_t *words;		/* the driver's fence values */
	uint64_t *honest_word;		/* the bystander's */
	uint64_t *code;			/* the attacker's stream */
	uint8_t *honest_page;		/* what the bystander fills */
	uint64_t guarded_to;		/* bus address behind what nobody may write */
	uint8_t *guard;			/* what is there */
	uint64_t chunk;			/* cycles between two stops */
	unsigned int save_from;		/* first of the stops at which the device is replaced */
	unsigned int saves;		/* number of these stops */
	unsigned int threads;		/* worker threads */
};

/* Results that do not depend on stops. */
struct outcome {
	bool at_rest;
	bool faulted;
	uint32_t registers[TSR_QUEUE__STRIDE / 4];
	uint64_t memory;		/* hash of what can be written */
};

__attribute__((noreturn))
static void fail(const char *what, uint64_t expected, uint64_t got)
{
	fprintf(stderr, "stream: %s: expected 0x%llx, got 0x%llx\n", what,
		(unsigned long long)expected, (unsigned long long)got);
	abort();
}

static void expect(const char *what, uint64_t expected, uint64_t got)
{
	if (expected != got)
		fail(what, expected, got);
}

static uint64_t hash(uint64_t seed, const void *memory, size_t size)
{
	const uint64_t *words = memory;
	size_t i;

	for (i = 0; i < size / 8; i++)
		seed = (seed ^ words[i]) * 0x100000001b3ull;
	return seed;
}

/* ---- Building -------------------------------------------------------------------------------- */

/* The attacker's memory. Pages that can be written are allocated last. */
static void map_attacker(struct setup *s)
{
	const struct fuzz_region *r = attacker_data;
	uint8_t *readable;
	uint64_t i;

	s->code = bench_buffer(&s->attacker, CODE_VA, CODE_SIZE, BENCH_RX);
	readable = bench_buffer(&s->attacker, r[2].va, r[2].size, BENCH_R);
	for (i = 0; i < r[2].size; i++)
		readable[i] = (uint8_t)(i * 7 + (i >> 8));
	bench_map(&s->attacker, r[3].va, 0, r[3].size, BENCH_RW | TSR_PTE_NULL__MASK);
	bench_map(&s->attacker, r[4].va, bench_alloc_local(s->bench, r[4].size, BENCH_PAGE),
		  r[4].size, BENCH_RW | TSR_PTE_LOCAL__MASK);
	*bench_pte(&s->attacker, r[5].va, 0) = 0;
	/* tables for these too, before the guarded part ends */
	bench_pte(&s->attacker, r[0].va, 0);
	bench_pte(&s->attacker, r[1].va, 0);
}

static void map_writable(struct setup *s)
{
	const struct fuzz_region *r = attacker_data;

	s->guarded_to = s->bench->next;
	s->words = bench_buffer(&s->driver, WORDS_VA, BENCH_PAGE, BENCH_RW);
	s->honest_word = bench_buffer(&s->driver, HONEST_WORD_VA, BENCH_PAGE, BENCH_RW);
	s->honest_page = bench_buffer(&s->honest, 0x300000, BENCH_PAGE, BENCH_RW);
	bench_buffer(&s->attacker, r[0].va, r[0].size, BENCH_RW);
	bench_buffer(&s->attacker, r[1].va, r[1].size, TSR_PTE_WRITE__MASK);
}

/* The bystander's job: fill a page, then a fence. It has its own stream, address space and ring. */
static void start_bystander(struct setup *s, uint64_t value)
{
	struct tsr_fill_linear fill = { .texel = 8, .dst = 0x300000, .size = BENCH_PAGE,
					.pattern_lo = value };
	uint64_t pte = *bench_pte(&s->honest, 0x310000, 0);
	uint64_t *stream = bench_ptr(s->bench, pte & TSR_PTE_ADDR__MASK, BENCH_PAGE);

	tsr_pack_fill_linear(stream, &fill);
	bench_call(&s->bystander, 0x310000, 8 * TSR_FILL_LINEAR_QWORDS);
	bench_fence(&s->bystander, HONEST_WORD_VA, value, TSR_EVENT_ALL_DONE, true);
	bench_kick(&s->bystander);
}

static void set_up(struct setup *s, uint8_t choice)
{
	static const enum tsr_engine_class classes[] = {
		TSR_ENGINE_CLASS_COPY, TSR_ENGINE_CLASS_COPY, TSR_ENGINE_CLASS_RENDER,
		TSR_ENGINE_CLASS_COMPUTE,
	};
	struct tsr_config config = { .local_size = LOCAL_SIZE, .queues = 2, .threads = s->threads,
				     .engines = { 1, 1, 1, 2 }, .no_inline = choice & 4 };
	struct bench *b = bench_new(&config);

	s->bench = b;
	bench_as_init(b, &s->driver, 0);
	bench_as_init(b, &s->attacker, 1);
	bench_as_init(b, &s->honest, 2);
	bench_pte(&s->driver, WORDS_VA, 0);
	bench_pte(&s->driver, HONEST_WORD_VA, 0);
	bench_pte(&s->honest, 0x300000, 0);
	bench_buffer(&s->honest, 0x310000, BENCH_PAGE, BENCH_RX);
	map_attacker(s);
	bench_queue_init(&s->queue, 0, classes[choice & 3], TSR_PRIORITY_NORMAL, &s->driver,
			 RING_VA, RING_LOG2, &s->attacker);
	bench_queue_init(&s->bystander, 1, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL, &s->driver,
			 HONEST_RING_VA, RING_LOG2, &s->honest);
	map_writable(s);
	bench_write(b, TSR_REG_QUEUE_TIMESLICE(0), TSR_TIMESLICE_MIN);
	bench_write64(b, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_FAULT), ~0ull);
	if (choice & 8)
		b->map_limit = 512;
	if (choice & HOST_IS_LATE)
		b->pending_every = 3;
}

static unsigned int engine_class(struct setup *s)
{
	return (unsigned int)bench_field(bench_queue_reg(&s->queue, TSR_QUEUE_CONFIG__OFFSET),
					 TSR_QUEUE_CONFIG_CLASS__MASK);
}

/* Counters that depend on when and where a queue runs are left out of what is compared. */
static void steady(uint64_t *packet, unsigned int length)
{
	static const uint64_t counters = 1 << TSR_QUEUE_COUNTER_CYCLES |
					 1 << TSR_QUEUE_COUNTER_CP_PACKETS |
					 1 << TSR_QUEUE_COUNTER_ENGINE_COMMANDS |
					 1 << TSR_QUEUE_COUNTER_READ_BYTES |
					 1 << TSR_QUEUE_COUNTER_WRITE_BYTES;

	if (tsr_packet_opcode(packet[0]) == TSR_OP_COUNTER_BEGIN &&
	    length == TSR_COUNTER_BEGIN_QWORDS)
		packet[1] &= counters;
}

/* The attacker's packets, from the input. */
static void write_packets(struct setup *s, struct fuzz_input *in)
{
	struct fuzz_world user = { attacker_data, sizeof(attacker_data) / sizeof(attacker_data[0]),
				   { CODE_VA, CODE_SIZE }, false, engine_class(s) };
	struct fuzz_world ring = { ring_data, sizeof(ring_data) / sizeof(ring_data[0]),
				   { CODE_VA, CODE_SIZE }, true, engine_class(s) };
	unsigned int room = CODE_SIZE / 8, used = 0, count = fuzz_byte(in) & 7;
	uint64_t packet[TSR_NOP_MAX_QWORDS];

	while (count--) {
		unsigned int length = fuzz_packet(in, &ring, packet, 16);

		steady(packet, length);
		bench_emit(&s->queue, packet, length);
	}
	bench_call(&s->queue, CODE_VA, CODE_SIZE);
	bench_fence(&s->queue, WORDS_VA, MARK, TSR_EVENT_ALL_DONE, true);
	while (in->left && used < room) {
		unsigned int length = fuzz_packet(in, &user, s->code + used, room - used);

		steady(s->code + used, length);
		used += length;
	}
	if (used < room)	/* the rest is never reached, unless by a jump */
		s->code[used] = TSR_OP_RETURN | (uint64_t)TSR_RETURN_QWORDS << 8;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Put the device's state into a new device. */
static void move_to_new_device(struct setup *s)
{
	static uint8_t state[1 << 20];
	char err[256] = "";
	size_t size;

	tsr_gpu_pause(s->bench->gpu);
	size = tsr_gpu_save(s->bench->gpu, state, sizeof(state));
	if (size > sizeof(state))
		fail("state is larger than the test thinks", sizeof(state), size);
	bench_replace(s->bench);
	tsr_gpu_pause(s->bench->gpu);
	if (!tsr_gpu_load(s->bench->gpu, state, size, err, sizeof(err))) {
		fprintf(stderr, "stream: load: %s\n", err);
		abort();
	}
	tsr_gpu_resume(s->bench->gpu);
	tsr_gpu_host_ready(s->bench->gpu);
}

/* Run for some cycles in steps; true if there is nothing left to do. */
static bool run(struct setup *s, uint64_t cycles)
{
	unsigned int stops = 0;
	uint64_t total = 0, chunk = s->chunk;

	if (s->threads)
		return bench_run(s->bench, 10);
	if (s->bench->pending_every && chunk > 256)	/* who waits for the host wants answers */
		chunk = 256;
	while (total < cycles) {
		uint64_t spent = tsr_gpu_run(s->bench->gpu, chunk);
		bool answered = bench_answer(s->bench);

		total += spent;
		if (!spent && !answered)
			return true;
		if (stops++ - s->save_from < s->saves)
			move_to_new_device(s);
	}
	return false;
}

/* Registers of the slot that tell what it did; times and what slicing changes are left out. */
static void take_outcome(struct setup *s, struct outcome *out)
{
	static const uint32_t offsets[] = {
		TSR_QUEUE_STATE__OFFSET, TSR_QUEUE_RPTR__OFFSET, TSR_QUEUE_WPTR__OFFSET,
		TSR_QUEUE_PROGRESS__OFFSET, TSR_QUEUE_CALLS__OFFSET, TSR_QUEUE_FAULT__OFFSET,
		TSR_QUEUE_FAULT_AS__OFFSET, TSR_QUEUE_FAULT_ADDR__OFFSET,
		TSR_QUEUE_FAULT_ADDR__OFFSET + 4, TSR_QUEUE_FAULT_PC__OFFSET,
		TSR_QUEUE_FAULT_HEADER__OFFSET, TSR_QUEUE_FAULT_HEADER__OFFSET + 4,
		TSR_QUEUE_FAULT_RPTR__OFFSET, TSR_QUEUE_CYCLES__OFFSET,
	};
	uint8_t *writable = bench_ptr(s->bench, s->guarded_to, s->bench->next - s->guarded_to);
	unsigned int i;

	for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		out->registers[offsets[i] / 4] = bench_queue_reg(&s->queue, offsets[i]);
	out->memory = hash(1, writable, s->bench->next - s->guarded_to);
	out->memory = hash(out->memory, s->bench->local, BENCH_PAGE);
	for (i = 0; i < TSR_SEMAPHORES_MAX; i++)
		out->memory = (out->memory ^ bench_read(s->bench, TSR_REG_SEMAPHORE_VALUE(i))) * 31;
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* Faults that are found in a packet's words alone, before its values are looked at. */
static bool is_format(enum tsr_fault fault)
{
	return fault == TSR_FAULT_UNKNOWN_OPCODE || fault == TSR_FAULT_BAD_LENGTH ||
	       fault == TSR_FAULT_RESERVED_BITS || fault == TSR_FAULT_PRIVILEGE ||
	       fault == TSR_FAULT_WRONG_CLASS || fault == TSR_FAULT_UNSUPPORTED;
}

/* The decoder, which shares no code with the device, must find the fault the device found. */
static void check_fault(struct setup *s)
{
	static struct tsr_decode_packet packet;
	uint32_t record = bench_queue_reg(&s->queue, TSR_QUEUE_FAULT__OFFSET);
	uint64_t pc = bench_queue_reg64(&s->queue, TSR_QUEUE_FAULT_PC__OFFSET);
	enum tsr_fault fault = bench_fault(&s->queue);
	bool ring = record & TSR_QUEUE_FAULT_RING__MASK;
	unsigned int unit = bench_field(record, TSR_QUEUE_FAULT_UNIT__MASK);
	uint64_t base = ring ? RING_VA : CODE_VA, size = ring ? 1 << RING_LOG2 : CODE_SIZE;
	struct tsr_decode_options options = {
		.flags = ring ? TSR_DECODE_RING : 0,
		.engine_class = (int)engine_class(s),
	};
	struct tsr_decoder decoder;
	uint8_t *memory = ring ? bench_ptr(s->bench, s->queue.ring_bus, size) : (uint8_t *)s->code;
	enum tsr_fault found = TSR_FAULT_NONE;

	expect("bit of the FAULT interrupt", 1,
	       bench_read64(s->bench, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_FAULT)));
	expect("RPTR of the fault", bench_queue_reg(&s->queue, TSR_QUEUE_RPTR__OFFSET),
	       bench_queue_reg(&s->queue, TSR_QUEUE_FAULT_RPTR__OFFSET));
	if (!tsr_desc_value_name(tsr_desc_find_enum("FAULT"), fault) || fault == TSR_FAULT_NONE)
		fail("a fault code that exists", 1, fault);
	/*
	 * a packet that the prefetcher could not read, one outside what we know, or what a command
	 * names: the state of a dispatch, a frame, its lists, its heap
	 */
	if (pc - base >= size || fault == TSR_FAULT_STREAM_BOUND || unit == TSR_UNIT_CP_FETCH ||
	    unit == TSR_UNIT_DISPATCH || unit == TSR_UNIT_LIST || unit == TSR_UNIT_BINNER ||
	    unit == TSR_UNIT_TILE)
		return;
	tsr_decode_begin(&decoder, memory + (pc - base), size - (pc - base), &options);
	if (tsr_decode_next(&decoder, &packet) && packet.num_errors)
		found = packet.errors[0].fault;
	if (found == TSR_FAULT_STREAM_BOUND)
		return;
	expect("first word of the packet", packet.qwords[0],
	       bench_queue_reg64(&s->queue, TSR_QUEUE_FAULT_HEADER__OFFSET));
	if (is_format(fault) || is_format(found))
		expect("fault that the decoder finds in the packet", found, fault);
}

/* Nothing is written that nobody may write. */
static void check_guard(struct setup *s)
{
	uint8_t *now = bench_ptr(s->bench, BENCH_RAM_BASE, s->guarded_to - BENCH_RAM_BASE);
	uint64_t i;

	if (!memcmp(now, s->guard, s->guarded_to - BENCH_RAM_BASE))
		return;
	for (i = 0; now[i] == s->guard[i]; i++)
		;
	fail("memory outside the address space, at", BENCH_RAM_BASE + i, now[i]);
}

static void check_bystander(struct setup *s, uint64_t value)
{
	unsigned int i;

	expect("the bystander's state", TSR_QUEUE_STATE_IDLE, bench_state(&s->bystander));
	expect("the bystander's fence", value, *s->honest_word);
	for (i = 0; i < BENCH_PAGE; i += 8)
		expect("the bystander's page", value, *(uint64_t *)(s->honest_page + i));
}

/* The slot can be reset whatever it does, and then works as if nothing had been. */
static void check_reset(struct setup *s)
{
	uint32_t state;

	bench_control(&s->queue, TSR_QUEUE_OP_RESET);
	run(s, 1);
	state = bench_queue_reg(&s->queue, TSR_QUEUE_STATE__OFFSET);
	expect("state after RESET", TSR_QUEUE_STATE_DISABLED, bench_state(&s->queue));
	expect("STOPPING after RESET", 0, state & TSR_QUEUE_STATE_STOPPING__MASK);
	bench_enable(&s->queue, 0);
	bench_fence(&s->queue, WORDS_VA + 16, MARK, TSR_EVENT_ALL_DONE, false);
	bench_kick(&s->queue);
	expect("the slot works again", true, run(s, 100000));
	expect("fence after RESET", MARK, s->words[2]);
	expect("no fault after RESET", TSR_FAULT_NONE, bench_fault(&s->queue));
}

/*
 * One run of the input. The ring is the driver's and may invalidate or signal what it likes; so the
 * bystander and the interrupts are looked at only when the input has put nothing into it.
 */
static void attempt(const uint8_t *data, size_t size, struct setup *s, struct outcome *out)
{
	struct fuzz_input in = { .data = data, .left = size };
	uint8_t choice = fuzz_byte(&in);
	bool ring_is_clean;

	set_up(s, choice);
	ring_is_clean = in.left && !(in.data[0] & 7);
	write_packets(s, &in);
	start_bystander(s, MARK);	/* waits for its turn */
	s->guard = malloc(s->guarded_to - BENCH_RAM_BASE);
	memcpy(s->guard, bench_ptr(s->bench, BENCH_RAM_BASE, s->guarded_to - BENCH_RAM_BASE),
	       s->guarded_to - BENCH_RAM_BASE);
	bench_kick(&s->queue);
	out->at_rest = run(s, CYCLES);
	check_guard(s);
	out->faulted = bench_state(&s->queue) == TSR_QUEUE_STATE_FAULTED;
	if (out->faulted)
		check_fault(s);
	take_outcome(s, out);
	if (ring_is_clean) {
		check_bystander(s, MARK);
		expect("JOB interrupt only with the ring's fence", s->words[0] == MARK,
		       bench_read64(s->bench, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_JOB)) & 1);
	}
	check_reset(s);
	free(s->guard);
	bench_free(s->bench);
}

static void compare(const char *how, const struct outcome *a, const struct outcome *b)
{
	unsigned int i;

	for (i = 0; i < TSR_QUEUE__STRIDE / 4; i++) {
		if (a->registers[i] != b->registers[i])
			fprintf(stderr, "stream: %s: offset 0x%x of the slot:\n", how, 4 * i);
		expect("register", a->registers[i], b->registers[i]);
	}
	if (a->memory != b->memory)
		fprintf(stderr, "stream: %s:\n", how);
	expect("memory", a->memory, b->memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct setup straight = { .chunk = 65536 }, stopped = { .chunk = 1 };
	struct setup threaded = { .threads = 2 };
	struct outcome a = { 0 }, b = { 0 }, c = { 0 };

	if (size < 2)
		return 0;
	attempt(data, size, &straight, &a);
	stopped.chunk = 1 + (data[0] >> 5) * 7;
	stopped.save_from = 2 * (data[1] >> 3);
	stopped.saves = 6;
	attempt(data, size, &stopped, &b);
	/* what an endless loop has done when time is up depends on the time it got */
	expect("coming to rest", a.at_rest, b.at_rest);
	if (!a.at_rest)
		return 0;
	/*
	 * The command processor runs ahead of a command that waits for the host. If that command
	 * faults, the number of packets retired before it depends on when the host answered.
	 */
	if (data[0] & HOST_IS_LATE && a.faulted && b.faulted)
		return 0;
	compare("without and with stops", &a, &b);
	/* a ring's own packets can wait for the bystander's fence, and then time matters */
	if (data[1] & 7)
		return 0;
	attempt(data, size, &threaded, &c);
	expect("coming to rest with threads", true, c.at_rest);
	if (data[0] & HOST_IS_LATE && c.faulted)
		return 0;	/* for the same reason */
	compare("without and with threads", &a, &c);
	return 0;
}
