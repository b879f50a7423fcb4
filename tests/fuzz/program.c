// SPDX-License-Identifier: MIT
/*
 * Fuzz target: programs on the shader cores, with a bystander.
 *
 * The input becomes a program, the tables it looks into and the state of its dispatch, which runs
 * on one queue; at the same time a known program runs on another queue in another address space.
 * However malicious the program is:
 *
 * - memory that its address space does not let it write stays as it is;
 * - it ends, by its fence or by a fault, when its work is bounded; RESET ends it when it is not;
 * - a fault's record says what can be true;
 * - the other queue's program computes what it should;
 * - values that other programs left in registers, shared memory, temporaries and caches are not
 *   visible: the same program after another bystander has the same outcome.
 *
 * Devices live for many inputs, so that what one leaves behind meets the next. TSR_FUZZ_FRESH=1: a
 * new device for each input, for reproducing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "shader.h"
#include "tables.h"
#include <tessera/asm.h>
#include "tsr_desc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_summary(void);
extern const char fuzz_proves[];
const char fuzz_proves[] = "[ISA14] [SYS10] ";

#define CORES		2
#define RING_LOG2	12
/* The driver's address space. */
#define RING_VA		0x10000ull
#define HONEST_RING_VA	0x12000ull
#define WORDS_VA	0x20000ull
/* The attacker's. */
#define DATA_VA		0x200000ull	/* READ, WRITE */
#define DATA_SIZE	(4 * BENCH_PAGE)
#define CONST_VA	0x208000ull	/* READ */
#define TABLES_VA	0x20c000ull	/* READ */
#define STREAM_VA	0x210000ull	/* READ, EXEC: packet, state, push constants */
#define STATE_VA	(STREAM_VA + 0x100)
#define PUSH_VA		(STREAM_VA + 0x200)
#define GROUPS_VA	(STREAM_VA + 0x80)
#define CODE_VA		0x214000ull	/* READ, EXEC */
#define ALIAS_VA	0x218000ull	/* READ, WRITE: the same pages */
#define SCRATCH_VA	0x220000ull	/* READ, WRITE */
#define SCRATCH_SIZE	(16 * BENCH_PAGE)
#define NULL_VA		0x234000ull
#define WRITE_VA	0x238000ull	/* WRITE */
/* The bystander's. */
#define HONEST_VA	0x300000ull	/* READ, EXEC: packet, state, push constants, code */
#define HONEST_OUT_VA	0x310000ull
#define HONEST_THREADS	64u
#define HONEST_GROUPS	CORES
#define HONEST_FACTOR	0x9e3779b1u

#define SLICE		60000u		/* cycles an endless program gets */
#define WORLD_LIFE	2000		/* programs until a device is replaced by a new one */

/* Kinds of devices. */
enum kind {
	KIND_LATE = 1,			/* late messages */
	KIND_STRICT = 2,
	KIND_THREADS = 4,
	KIND_CODE = 8,			/* machine code from the first execution on */
	KINDS = 16
};

static const struct fuzz_region regions[] = {
	{ DATA_VA, DATA_SIZE },		{ DATA_VA, DATA_SIZE },
	{ CONST_VA, 2 * BENCH_PAGE },	{ TABLES_VA, BENCH_PAGE },
	{ ALIAS_VA, 2 * BENCH_PAGE },	{ SCRATCH_VA, SCRATCH_SIZE },
	{ NULL_VA, BENCH_PAGE },	{ WRITE_VA, BENCH_PAGE },
	{ CODE_VA, 2 * BENCH_PAGE },
};

static const struct fuzz_memory memory = { regions, sizeof(regions) / sizeof(regions[0]) };

/* A machine with two queues. */
struct world {
	struct bench *bench;
	struct bench_as driver, attacker, honest;
	struct bench_queue queue, bystander;
	unsigned int kind;
	unsigned int age;		/* programs it has run */
	uint8_t *data, *code, *scratch, *write_only, *tables, *stream;
	uint64_t *words;		/* the driver's fence values: attacker's, bystander's */
	uint8_t *honest_stream;
	uint32_t *honest_out;
	uint64_t guarded_to;		/* bus address behind what nobody may write */
	uint8_t *guard;			/* what is there */
	uint64_t fences;		/* given out */
};

/* One dispatch, as it is written to memory. */
struct attack {
	struct fuzz_shader shader;
	struct tsr_compute_state state;
	uint8_t tables[FUZZ_TABLES_SIZE];
	uint64_t state_words[TSR_COMPUTE_STATE__QWORDS];
	uint32_t push[TSR_PUSH_WORDS_MAX];
	uint32_t groups[3];
	bool indirect;
	uint64_t bound;			/* cycles after which it must be at rest; 0: none */
	struct fuzz_random events;	/* what happens while it runs */
	unsigned int chunk;		/* cycles from one stop to the next */
	unsigned int pending_every;
	uint64_t map_limit;
	uint32_t seed;			/* the bystander's */
};

/* Results that do not depend on the bystander. */
struct outcome {
	uint32_t state, fault, shader;
	uint64_t addr, clause;
	uint64_t memory;		/* hash of what it can write */
};

static uint64_t programs, faults, endless;	/* for the summary */

__attribute__((noreturn))
static void fail(const char *what, uint64_t expected, uint64_t got)
{
	fprintf(stderr, "program: %s: expected 0x%llx, got 0x%llx\n", what,
		(unsigned long long)expected, (unsigned long long)got);
	abort();
}

static void expect(const char *what, uint64_t expected, uint64_t got)
{
	if (expected != got)
		fail(what, expected, got);
}

/* ---- The bystander --------------------------------------------------------------------------- */

/*
 * Thread g writes v(g) = g * FACTOR + seed to shared memory, fills all registers with the seed, and
 * stores the value of the mirrored thread to memory. u0: results; u1: FACTOR and seed.
 */
static const uint8_t *honest_code(size_t *size)
{
	static struct tsr_asm_shader *program;
	static char text[8192];
	char *at = text;

	if (!program) {
		at += sprintf(at, ".local 64\n.registers 64\n.group_memory 256\n"
				  "clause slot=0 wait=0 {\n"
				  "*IMUL.i32 t0, r60, u1.w0\n"
				  "+IADD.u32 r1, t, u1.w1\n"
				  "*LSHIFT_OR.i32 r2:t0, r55, #0, 0x2\n"
				  "+ISUB.s32 r3, 252, t\n"
				  "*NOP\n"
				  "*MOV.i32 t0, r2\n"
				  "+STORE.i32.wls t, zero.w0, @r1\n}\n"
				  "clause slot=7 wait=7 {\n+BARRIER\n}\n");
		for (unsigned int r = 4; r < 54; r += 10) {
			at += sprintf(at, "clause {\n");
			for (unsigned int i = 0; i < 10; i += 2)
				at += sprintf(at, "*MOV.i32 r%u, u1.w1\n+MOV.i32 r%u, u1.w1\n",
					      r + i, r + i + 1);
			at += sprintf(at, "*NOP\n}\n");
		}
		at += sprintf(at, "clause slot=0 wait=0 {\n"
				  "*MOV.i32 r63, u1.w1\n"
				  "*MOV.i32 t0, r3\n"
				  "+LOAD.i32.wls t, zero.w0, @r4\n}\n"
				  "clause slot=0 end {\n"
				  "*SHADDXL.u32 t0, u0.w0, r60, shift:2\n"
				  "+SHADDXH.i32 t1, u0.w1, t\n"
				  "+STORE.i32 t0, t1, @r4\n}\n");
		if (tsr_asm_assemble(text, strlen(text), 0, &program)) {
			fprintf(stderr, "program: line %u: %s\n", program->diagnostics[0].line,
				program->diagnostics[0].text);
			abort();
		}
	}
	*size = program->size;
	return program->code;
}

static void write_honest(struct world *w)
{
	const struct tsr_compute_state state = {
		.code = HONEST_VA + 0x400,
		.local_x = HONEST_THREADS, .local_y = 1, .local_z = 1,
		.registers_64 = true,
		.push = HONEST_VA + 0x200, .push_words = 4,
		.group_memory = 256,
	};
	size_t size;
	const uint8_t *code = honest_code(&size);

	tsr_pack_dispatch((uint64_t *)w->honest_stream,
			  &(struct tsr_dispatch){ .state = HONEST_VA + 0x100,
						  .groups_x = HONEST_GROUPS,
						  .groups_y = 1,
						  .groups_z = 1 });
	tsr_pack_compute_state((uint64_t *)(w->honest_stream + 0x100), &state);
	memcpy(w->honest_stream + 0x400, code, size);
}

static void start_honest(struct world *w, uint32_t seed, uint64_t fence)
{
	uint32_t *push = (uint32_t *)(w->honest_stream + 0x200);

	push[0] = HONEST_OUT_VA;
	push[1] = 0;
	push[2] = HONEST_FACTOR;
	push[3] = seed;
	memset(w->honest_out, 0, BENCH_PAGE);
	bench_call(&w->bystander, HONEST_VA, 8 * TSR_DISPATCH_QWORDS);
	bench_fence(&w->bystander, WORDS_VA + 64, fence, TSR_EVENT_ALL_DONE, true);
	bench_kick(&w->bystander);
}

/* Run the same on the attacker's queue: its memory is used again, whatever the allocator does. */
static void fill_with(struct world *w, uint32_t seed)
{
	uint32_t *push = (uint32_t *)(w->honest_stream + 0x200);

	push[0] = DATA_VA;
	push[1] = 0;
	push[2] = HONEST_FACTOR;
	push[3] = seed;
	bench_call(&w->queue, HONEST_VA, 8 * TSR_DISPATCH_QWORDS);
	bench_kick(&w->queue);
	if (!bench_run(w->bench, 10))
		fail("the queue at rest, seconds", 10, 0);
	expect("state behind what fills registers", TSR_QUEUE_STATE_IDLE, bench_state(&w->queue));
}

static void check_honest(struct world *w, uint32_t seed, uint64_t fence)
{
	expect("the bystander's fault", TSR_FAULT_NONE, bench_fault(&w->bystander));
	expect("the bystander's state", TSR_QUEUE_STATE_IDLE, bench_state(&w->bystander));
	expect("the bystander's fence", fence, w->words[8]);
	for (uint32_t g = 0; g < BENCH_PAGE / 4; g++) {
		uint32_t mirrored = (g | (HONEST_THREADS - 1)) - g % HONEST_THREADS;

		expect("a result of the bystander",
		       g < HONEST_GROUPS * HONEST_THREADS ? mirrored * HONEST_FACTOR + seed : 0,
		       w->honest_out[g]);
	}
}

/* ---- The machine ----------------------------------------------------------------------------- */

static void map_attacker(struct world *w)
{
	struct bench_as *as = &w->attacker;
	uint8_t *readable = bench_buffer(as, CONST_VA, 2 * BENCH_PAGE, BENCH_R);
	uint64_t code;

	for (unsigned int i = 0; i < 2 * BENCH_PAGE; i++)
		readable[i] = (uint8_t)(i * 7 + (i >> 8));
	w->tables = bench_buffer(as, TABLES_VA, BENCH_PAGE, BENCH_R);
	w->stream = bench_buffer(as, STREAM_VA, BENCH_PAGE, BENCH_RX);
	bench_map(as, NULL_VA, 0, BENCH_PAGE, BENCH_RW | TSR_PTE_NULL__MASK);
	w->guarded_to = w->bench->next;
	w->data = bench_buffer(as, DATA_VA, DATA_SIZE, BENCH_RW);
	w->scratch = bench_buffer(as, SCRATCH_VA, SCRATCH_SIZE, BENCH_RW);
	w->write_only = bench_buffer(as, WRITE_VA, BENCH_PAGE, TSR_PTE_WRITE__MASK);
	code = bench_alloc(w->bench, 2 * BENCH_PAGE, BENCH_PAGE);
	w->code = bench_ptr(w->bench, code, 2 * BENCH_PAGE);
	bench_map(as, CODE_VA, code, 2 * BENCH_PAGE, BENCH_RX);
	bench_map(as, ALIAS_VA, code, 2 * BENCH_PAGE, BENCH_RW);
}

static void set_up(struct world *w, unsigned int kind)
{
	struct tsr_config config = {
		.queues = 2, .engines = { 1, 1, 1, 2 }, .cores = CORES, .no_inline = true,
		.late_messages = kind & KIND_LATE, .strict_code = kind & KIND_STRICT,
		.jit = kind & KIND_CODE ? TSR_JIT_USE_FIRST : TSR_JIT_USE_OFF,
		.threads = kind & KIND_THREADS ? 2 : 0, .deterministic = !(kind & KIND_THREADS),
	};
	struct bench *b = bench_new(&config);

	*w = (struct world){ .bench = b, .kind = kind };
	bench_as_init(b, &w->driver, 0);
	bench_as_init(b, &w->attacker, 1);
	bench_as_init(b, &w->honest, 2);
	/* tables of all of them, before the guarded part ends */
	bench_pte(&w->driver, WORDS_VA, 0);
	bench_pte(&w->honest, HONEST_OUT_VA, 0);
	bench_pte(&w->attacker, DATA_VA, 0);
	bench_queue_init(&w->queue, 0, TSR_ENGINE_CLASS_COMPUTE, TSR_PRIORITY_NORMAL, &w->driver,
			 RING_VA, RING_LOG2, &w->attacker);
	bench_queue_init(&w->bystander, 1, TSR_ENGINE_CLASS_COMPUTE, TSR_PRIORITY_NORMAL,
			 &w->driver, HONEST_RING_VA, RING_LOG2, &w->honest);
	w->honest_stream = bench_buffer(&w->honest, HONEST_VA, BENCH_PAGE, BENCH_RX);
	bench_map(&w->attacker, HONEST_VA,
		  *bench_pte(&w->honest, HONEST_VA, 0) & TSR_PTE_ADDR__MASK, BENCH_PAGE, BENCH_RX);
	map_attacker(w);
	w->words = bench_buffer(&w->driver, WORDS_VA, BENCH_PAGE, BENCH_RW);
	w->honest_out = bench_buffer(&w->honest, HONEST_OUT_VA, BENCH_PAGE, BENCH_RW);
	bench_write(b, TSR_REG_QUEUE_TIMESLICE(0), TSR_TIMESLICE_MIN);
	bench_write64(b, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_FAULT), ~0ull);
	w->guard = malloc(w->guarded_to - BENCH_RAM_BASE);
	write_honest(w);
}

/* No thread has written to memory that was not allocated. */
static void check_rest(struct world *w)
{
	uint64_t from = w->bench->next;
	const uint8_t *rest = bench_ptr(w->bench, from, 0);

	for (uint64_t i = 0; i < BENCH_RAM_BASE + BENCH_RAM_SIZE - from; i += 8) {
		if (*(const uint64_t *)(rest + i))
			fail("memory nobody has, at", from + i, *(const uint64_t *)(rest + i));
	}
}

static void tear_down(struct world *w)
{
	check_rest(w);
	free(w->guard);
	bench_free(w->bench);
	w->bench = NULL;
}

static struct world *world(unsigned int kind)
{
	static struct world worlds[KINDS];
	struct world *w = &worlds[kind];

	if (w->bench && (w->age >= WORLD_LIFE || getenv("TSR_FUZZ_FRESH")))
		tear_down(w);
	if (!w->bench)
		set_up(w, kind);
	w->age++;
	return w;
}

/* ---- The attack ------------------------------------------------------------------------------ */

static void choose_threads(struct fuzz_random *r, struct attack *a)
{
	struct tsr_compute_state *s = &a->state;

	s->local_x = 1 + fuzz_below(r, fuzz_often(r, 16) ? 1024 : 40);
	s->local_y = fuzz_often(r, 32) ? 1 + fuzz_below(r, 4) : 1;
	s->local_z = fuzz_often(r, 16) ? 1 + fuzz_below(r, 4) : 1;
	a->groups[0] = fuzz_often(r, 200) ? 1 + fuzz_below(r, 2) : fuzz_below(r, 6);
	a->groups[1] = fuzz_often(r, 16) ? 1 + fuzz_below(r, 3) : 1;
	a->groups[2] = fuzz_often(r, 16) ? 1 + fuzz_below(r, 3) : 1;
	if (s->local_x > 40)
		a->groups[0] = a->groups[1] = a->groups[2] = 1;
	if (fuzz_often(r, 2))
		a->groups[fuzz_below(r, 3)] = fuzz_any(r);
	a->indirect = fuzz_often(r, 40);
}

static void choose_memory(struct fuzz_random *r, struct tsr_compute_state *s)
{
	static const uint32_t group[] = { 0, 16, 100, 1024, 4096, 32768, 65536, 1 };

	s->group_memory = group[fuzz_below(r, fuzz_often(r, 200) ? 4 : 8)];
	if (fuzz_often(r, 6))
		s->group_memory += fuzz_below(r, 128);
	s->scratch = fuzz_often(r, 250) ? SCRATCH_VA : fuzz_address(r, &memory, 64);
	s->scratch_size = fuzz_often(r, 128) ? 16 : 16 * fuzz_below(r, 8);
	if (fuzz_often(r, 2))
		s->scratch_size = (uint32_t)fuzz_any(r) & ~15u;
}

static void choose_push(struct fuzz_random *r, struct attack *a)
{
	static const uint64_t windows[] = { TSR_WINDOW_GROUP, TSR_WINDOW_SCRATCH,
					    TSR_WINDOW_VOID, 0xe000000000000000ull };
	uint64_t second = fuzz_address(r, &memory, 4);
	uint64_t window = windows[fuzz_below(r, fuzz_often(r, 8) ? 4 : 3)];
	uint64_t word;

	for (unsigned int i = 0; i < TSR_PUSH_WORDS_MAX; i++)
		a->push[i] = fuzz_any(r);
	a->push[0] = DATA_VA + (fuzz_often(r, 8) ? fuzz_below(r, 32) : 0);
	a->push[1] = 0;
	a->push[2] = (uint32_t)second;
	a->push[3] = second >> 32;
	a->push[4] = 0;
	a->push[5] = window >> 32;
	a->push[6] = 16 * fuzz_below(r, fuzz_often(r, 240) ? 2 : 300);
	a->push[7] = fuzz_below(r, fuzz_often(r, 240) ? 4 : 70000);
	fuzz_struct(r, "CONVERSION", &word);
	a->push[8] = (uint32_t)word & (fuzz_often(r, 250) ? ~(3u << 21) : ~0u);
	fuzz_struct(r, "TEXTURE_WORD", &word);
	word |= fuzz_often(r, 200) ? 1u << 11 : 0;
	word &= fuzz_often(r, 240) ? ~0x7ccull : ~0ull;
	if (fuzz_often(r, 200))
		word = (word & ~(3ull << 18)) | TSR_TEXTURE_DIMENSION_2D << 18;
	a->push[9] = (uint32_t)word;
}

/* Cycles in which a program of that size must have ended, however it is made. */
static uint64_t bound_of(const struct attack *a)
{
	const struct tsr_compute_state *s = &a->state;
	uint64_t groups = 1, warps;

	warps = ((uint64_t)s->local_x * s->local_y * s->local_z + 15) / 16;
	for (unsigned int i = 0; i < 3; i++) {
		if (a->groups[i] > 16)
			return 0;
		groups *= a->groups[i];
	}
	if (!s->clause_limit || s->clause_limit > 1000 || groups * warps > 300)
		return 0;
	/* 8 tuples, and a message of 16 lanes that reads 512 texels of 16 bytes for each */
	return 100000 + groups * warps * s->clause_limit * (8 + 16 * 512 * 16 / 64);
}

static void choose_attack(struct fuzz_random *r, struct attack *a, unsigned int kind)
{
	struct tsr_compute_state *s = &a->state;

	memset(a, 0, sizeof(*a));
	a->shader.registers_64 = s->registers_64 = fuzz_often(r, 128);
	a->shader.wild = fuzz_often(r, 48);
	fuzz_shader(r, &a->shader);
	choose_threads(r, a);
	choose_memory(r, s);
	choose_push(r, a);
	fuzz_tables(r, &memory, a->tables, TABLES_VA);
	fuzz_name_tables(r, TABLES_VA, s);
	s->code = CODE_VA + (fuzz_often(r, 2) ? 16 * fuzz_below(r, 512) : 0);
	s->push = PUSH_VA;
	s->push_words = fuzz_often(r, 240) ? TSR_PUSH_WORDS_MAX : fuzz_below(r, 140);
	s->clause_limit = 1 + fuzz_below(r, s->local_x > 40 ? 16 : fuzz_often(r, 250) ? 40 : 600);
	if (!(kind & KIND_THREADS) && fuzz_often(r, 2))
		s->clause_limit = 0;
	a->bound = bound_of(a);
	tsr_pack_compute_state(a->state_words, s);
	if (fuzz_often(r, 3)) {
		a->state_words[fuzz_below(r, TSR_COMPUTE_STATE__QWORDS)] ^=
			1ull << fuzz_below(r, 64);
		tsr_unpack_compute_state(a->state_words, s);
		a->bound = bound_of(a);
	}
	a->chunk = fuzz_often(r, 200) ? 20000 : 1 + fuzz_below(r, 2000);
	a->pending_every = fuzz_often(r, 16) ? 1 + fuzz_below(r, 4) : 0;
	a->map_limit = fuzz_often(r, 10) ? 16u << fuzz_below(r, 6) : 0;
	a->seed = fuzz_next(r);
	a->events = *r;
}

static void write_attack(struct world *w, const struct attack *a)
{
	uint64_t packet[TSR_DISPATCH_QWORDS];

	memset(w->data, 0x5a, DATA_SIZE);
	memset(w->scratch, 0x5a, SCRATCH_SIZE);
	memset(w->write_only, 0x5a, BENCH_PAGE);
	memset(w->code, 0, 2 * BENCH_PAGE);
	memcpy(w->code, a->shader.code, a->shader.size);
	memcpy(w->tables, a->tables, FUZZ_TABLES_SIZE);
	memcpy(w->stream + (STATE_VA - STREAM_VA), a->state_words, sizeof(a->state_words));
	memcpy(w->stream + (PUSH_VA - STREAM_VA), a->push, sizeof(a->push));
	memcpy(w->stream + (GROUPS_VA - STREAM_VA), a->groups, sizeof(a->groups));
	memset(packet, 0, sizeof(packet));
	if (a->indirect)
		tsr_pack_dispatch_indirect(packet,
					   &(struct tsr_dispatch_indirect){ .state = STATE_VA,
									    .groups = GROUPS_VA });
	else
		tsr_pack_dispatch(packet, &(struct tsr_dispatch){ .state = STATE_VA,
								  .groups_x = a->groups[0],
								  .groups_y = a->groups[1],
								  .groups_z = a->groups[2] });
	memcpy(w->stream, packet, sizeof(packet));
}

static void start_attack(struct world *w, const struct attack *a, uint64_t fence)
{
	bench_invalidate_all(&w->attacker);
	w->bench->map_limit = a->map_limit;
	w->bench->pending_every = a->pending_every;
	if (a->pending_every)
		memset((void *)w->bench->asked, 0, sizeof(w->bench->asked));
	tsr_gpu_host_invalidate(w->bench->gpu, BENCH_RAM_BASE, BENCH_RAM_SIZE);
	bench_call(&w->queue, STREAM_VA,
		   8 * (a->indirect ? TSR_DISPATCH_INDIRECT_QWORDS : TSR_DISPATCH_QWORDS));
	bench_fence(&w->queue, WORDS_VA, fence, TSR_EVENT_ALL_DONE, true);
	bench_kick(&w->queue);
}

/* ---- Running --------------------------------------------------------------------------------- */

/* A device's state. */
struct saved {
	uint8_t *bytes;
	size_t size;
};

static struct saved save(struct world *w)
{
	struct saved s;

	tsr_gpu_pause(w->bench->gpu);
	s.size = tsr_gpu_save(w->bench->gpu, NULL, 0);
	s.bytes = malloc(s.size);
	if (!s.bytes || tsr_gpu_save(w->bench->gpu, s.bytes, s.size) != s.size)
		fail("bytes of a snapshot", s.size, 0);
	tsr_gpu_resume(w->bench->gpu);
	return s;
}

/* A new device with that state. */
static void load(struct world *w, const struct saved *s)
{
	char err[256] = "";

	bench_replace(w->bench);
	tsr_gpu_pause(w->bench->gpu);
	if (!tsr_gpu_load(w->bench->gpu, s->bytes, s->size, err, sizeof(err))) {
		fprintf(stderr, "program: load: %s\n", err);
		abort();
	}
	tsr_gpu_resume(w->bench->gpu);
	tsr_gpu_host_ready(w->bench->gpu);
}

static void move_to_new_device(struct world *w)
{
	struct saved s;

	/* paused until it is gone: what it does after it has been saved would be done twice */
	tsr_gpu_pause(w->bench->gpu);
	s = save(w);
	load(w, &s);
	free(s.bytes);
}

/* Something happens at a stop. True: the attacker has been reset. */
static bool happen(struct world *w, struct fuzz_random *r)
{
	switch (fuzz_below(r, 96)) {
	case 0:
		move_to_new_device(w);
		break;
	case 1:
	case 2:
		bench_control(&w->queue, TSR_QUEUE_OP_SUSPEND);
		break;
	case 3:
		bench_control(&w->queue, TSR_QUEUE_OP_RESET);
		return true;
	case 4:
		bench_write64(w->bench, TSR_REG_AS_INV_VA(1), fuzz_any(r) & ~0xfffull);
		bench_write64(w->bench, TSR_REG_AS_INV_SIZE(1), fuzz_any(r));
		bench_write(w->bench, TSR_REG_AS_COMMAND(1), TSR_INV_OP_RANGE);
		break;
	case 5:
		tsr_gpu_host_invalidate(w->bench->gpu, BENCH_RAM_BASE + fuzz_below(r, 1u << 20),
					fuzz_below(r, 1u << 20));
		break;
	case 6:
		bench_write(w->bench, TSR_REG_AS_COMMAND(1), TSR_INV_OP_ALL);
		break;
	default:
		break;
	}
	return false;
}

/* Work that is suspended goes on. */
static void go_on(struct world *w)
{
	if (bench_state(&w->queue) == TSR_QUEUE_STATE_SUSPENDED)
		bench_control(&w->queue, TSR_QUEUE_OP_RESUME);
}

static bool at_rest(struct bench_queue *q)
{
	enum tsr_queue_state state = bench_state(q);

	return (state == TSR_QUEUE_STATE_DISABLED || state == TSR_QUEUE_STATE_IDLE ||
		state == TSR_QUEUE_STATE_FAULTED) &&
	       !(bench_queue_reg(q, TSR_QUEUE_STATE__OFFSET) & TSR_QUEUE_STATE_STOPPING__MASK);
}

/* Let both run until they are at rest; false: time is up. *@reset: the attacker was. */
static bool run(struct world *w, struct attack *a, bool *reset)
{
	uint64_t total = 0, most = a->bound ? a->bound : SLICE;
	struct fuzz_random events = a->events;

	while (total < most) {
		uint64_t spent = tsr_gpu_run(w->bench->gpu, a->chunk);
		bool answered = bench_answer(w->bench);

		total += spent;
		if (!spent && !answered) {
			if (bench_state(&w->queue) != TSR_QUEUE_STATE_SUSPENDED)
				return true;
			go_on(w);
			continue;
		}
		if (!*reset && !at_rest(&w->queue))
			*reset = happen(w, &events);
		go_on(w);
	}
	return false;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
}

/* Run the attack with worker threads. Its time is bounded and real. */
static bool run_threads(struct world *w, struct attack *a, bool *reset)
{
	struct fuzz_random events = a->events;

	for (unsigned int stop = fuzz_below(&events, 4); stop; stop--) {
		nap();
		bench_answer(w->bench);
		if (!*reset && !at_rest(&w->queue))
			*reset = happen(w, &events);
		go_on(w);
	}
	if (!*reset && !a->bound) {
		bench_control(&w->queue, TSR_QUEUE_OP_RESET);
		*reset = true;
	}
	for (unsigned int i = 0; i < 100000; i++) {
		bench_answer(w->bench);
		go_on(w);
		if (at_rest(&w->queue) && at_rest(&w->bystander))
			return true;
		nap();
	}
	return false;
}

static uint64_t hash(uint64_t seed, const void *bytes, size_t size)
{
	const uint64_t *words = bytes;

	for (size_t i = 0; i < size / 8; i++)
		seed = (seed ^ words[i]) * 0x100000001b3ull;
	return seed;
}

static void take_outcome(struct world *w, struct outcome *out)
{
	out->state = bench_state(&w->queue);
	out->fault = bench_queue_reg(&w->queue, TSR_QUEUE_FAULT__OFFSET);
	out->shader = bench_queue_reg(&w->queue, TSR_QUEUE_FAULT_SHADER__OFFSET);
	out->addr = bench_queue_reg64(&w->queue, TSR_QUEUE_FAULT_ADDR__OFFSET);
	out->clause = bench_queue_reg64(&w->queue, TSR_QUEUE_FAULT_CLAUSE__OFFSET);
	out->memory = hash(1, w->data, DATA_SIZE);
	out->memory = hash(out->memory, w->scratch, SCRATCH_SIZE);
	out->memory = hash(out->memory, w->write_only, BENCH_PAGE);
	out->memory = hash(out->memory, w->code, 2 * BENCH_PAGE);
}

/* ---- Checking -------------------------------------------------------------------------------- */

static void check_guard(struct world *w)
{
	uint64_t size = w->guarded_to - BENCH_RAM_BASE, i;
	uint8_t *now = bench_ptr(w->bench, BENCH_RAM_BASE, size);

	if (!memcmp(now, w->guard, size))
		return;
	for (i = 0; now[i] == w->guard[i]; i++)
		;
	fail("memory outside the address space, at", BENCH_RAM_BASE + i, now[i]);
}

static uint64_t field(uint32_t value, uint32_t mask)
{
	return bench_field(value, mask);
}

/* The fault says where, and that can be. */
static void check_shader_fault(struct world *w, const struct attack *a)
{
	uint32_t shader = bench_queue_reg(&w->queue, TSR_QUEUE_FAULT_SHADER__OFFSET);
	uint32_t threads = a->state.local_x * a->state.local_y * a->state.local_z;
	uint64_t warp = field(shader, TSR_QUEUE_FAULT_SHADER_WARP__MASK);
	uint64_t lane = field(shader, TSR_QUEUE_FAULT_SHADER_LANE__MASK);

	if (16 * warp + lane >= threads)
		fail("a thread of the group", threads, 16 * warp + lane);
	if (field(shader, TSR_QUEUE_FAULT_SHADER_CORE__MASK) >= CORES)
		fail("a core", CORES, field(shader, TSR_QUEUE_FAULT_SHADER_CORE__MASK));
	for (unsigned int i = 0; i < 3; i++) {
		uint32_t group = bench_queue_reg(&w->queue, TSR_QUEUE_FAULT_GROUP__OFFSET + 4 * i);

		if (group >= a->groups[i])
			fail("a group of the grid", a->groups[i], group);
	}
}

static void check_fault(struct world *w, const struct attack *a)
{
	uint32_t record = bench_queue_reg(&w->queue, TSR_QUEUE_FAULT__OFFSET);
	uint32_t shader = bench_queue_reg(&w->queue, TSR_QUEUE_FAULT_SHADER__OFFSET);
	uint64_t addr = bench_queue_reg64(&w->queue, TSR_QUEUE_FAULT_ADDR__OFFSET);
	enum tsr_fault fault = bench_fault(&w->queue);

	if (!tsr_desc_value_name(tsr_desc_find_enum("FAULT"), fault) || fault == TSR_FAULT_NONE)
		fail("a fault code that exists", 1, fault);
	expect("the fault's packet", STREAM_VA,
	       bench_queue_reg64(&w->queue, TSR_QUEUE_FAULT_PC__OFFSET));
	expect("its first word", *(uint64_t *)w->stream,
	       bench_queue_reg64(&w->queue, TSR_QUEUE_FAULT_HEADER__OFFSET));
	expect("a fault of the stream, not of the ring", 0, record & TSR_QUEUE_FAULT_RING__MASK);
	if (fault == TSR_FAULT_MMU_WALK || fault == TSR_FAULT_MMU_WALK_BUS ||
	    fault == TSR_FAULT_BUS)
		fail("a fault that page tables allow", 0, fault);
	for (unsigned int i = 0; fault == TSR_FAULT_MMU_UNMAPPED && i < memory.num; i++) {
		if (addr - regions[i].va < regions[i].size)
			fail("an address that is not mapped", 0, addr);
	}
	if (shader & TSR_QUEUE_FAULT_SHADER_VALID__MASK)
		check_shader_fault(w, a);
}

/* RESET ends whatever goes on, and the slot can be used again. */
static void reset(struct world *w)
{
	bench_control(&w->queue, TSR_QUEUE_OP_RESET);
	for (unsigned int i = 0; i < 100000 && !at_rest(&w->queue); i++) {
		if (w->kind & KIND_THREADS)
			nap();
		else
			tsr_gpu_run(w->bench->gpu, 1);
	}
	expect("state after RESET", TSR_QUEUE_STATE_DISABLED, bench_state(&w->queue));
	bench_enable(&w->queue, 0);
	expect("no fault after RESET", TSR_FAULT_NONE, bench_fault(&w->queue));
}

static void attempt(struct world *w, struct attack *a, struct outcome *out)
{
	uint64_t size = w->guarded_to - BENCH_RAM_BASE, fence = ++w->fences;
	bool was_reset = false, rest;

	write_attack(w, a);
	start_honest(w, a->seed, fence);
	start_attack(w, a, fence);
	memcpy(w->guard, bench_ptr(w->bench, BENCH_RAM_BASE, size), size);
	rest = w->kind & KIND_THREADS ? run_threads(w, a, &was_reset) : run(w, a, &was_reset);
	check_guard(w);
	if (!rest && (a->bound || w->kind & KIND_THREADS))
		fail("coming to rest, cycles allowed", a->bound, bench_state(&w->queue));
	take_outcome(w, out);
	if (rest && !was_reset && out->state == TSR_QUEUE_STATE_IDLE)
		expect("the attacker's fence", fence, w->words[0]);
	if (out->state == TSR_QUEUE_STATE_FAULTED)
		check_fault(w, a);
	else if (rest && !was_reset)
		expect("the attacker's state", TSR_QUEUE_STATE_IDLE, out->state);
	faults += out->state == TSR_QUEUE_STATE_FAULTED;
	endless += !rest;
	if (!rest || was_reset || out->state == TSR_QUEUE_STATE_FAULTED)
		reset(w);
	w->bench->map_limit = 0;
	w->bench->pending_every = 0;
	check_honest(w, a->seed, fence);
}

static void compare(const struct outcome *a, const struct outcome *b)
{
	expect("state with another bystander", a->state, b->state);
	expect("fault with another bystander", a->fault, b->fault);
	expect("thread of the fault with another bystander", a->shader, b->shader);
	expect("address of the fault with another bystander", a->addr, b->addr);
	expect("clause of the fault with another bystander", a->clause, b->clause);
	expect("memory with another bystander", a->memory, b->memory);
}

void fuzz_summary(void)
{
	printf("# %llu programs, %llu at fault, %llu without end\n", (unsigned long long)programs,
	       (unsigned long long)faults, (unsigned long long)endless);
}

/*
 * Nothing is left from one program for the next: the attack follows a bystander twice, on devices
 * in the same state, and the bystanders' different seeds are nowhere to be seen.
 */
static void attempt_twice(struct world *w, struct attack *a)
{
	struct world before = *w;
	struct saved s = save(w);
	struct outcome out[2];

	for (unsigned int i = 0; i < 2; i++) {
		*w = before;
		load(w, &s);
		before.bench = w->bench;
		a->seed = ~a->seed;
		start_honest(w, a->seed, ++w->fences);
		if (!bench_run(w->bench, 10))
			fail("the bystander alone, seconds", 10, 0);
		fill_with(w, a->seed);
		attempt(w, a, &out[i]);
	}
	compare(&out[0], &out[1]);
	free(s.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct attack a;
	struct fuzz_random r = fuzz_random(data, size);
	unsigned int kind = fuzz_below(&r, 4);
	bool twice = fuzz_often(&r, 20);
	struct outcome out;

	if (fuzz_often(&r, 10))
		kind |= KIND_THREADS;
	if (fuzz_often(&r, 50))
		kind |= KIND_CODE;
	choose_attack(&r, &a, kind);
	programs++;
	if (twice && !(kind & KIND_THREADS))
		attempt_twice(world(kind), &a);
	else
		attempt(world(kind), &a, &out);
	return 0;
}
