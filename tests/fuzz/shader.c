// SPDX-License-Identifier: MIT
/*
 * Fuzz target: programs.
 *
 * The input becomes a program of valid and half-valid clauses (any instruction, any modifiers, any
 * register block, constants that may be addresses), or is one as it stands, and runs in a grid of a
 * few groups. However malicious it is:
 *
 * - memory that the address space does not let it write stays as it is;
 * - it comes to an end (there is a clause limit), or RESET ends it;
 * - what is saved in the middle of it can be loaded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "tsr_isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RING_VA 0x10000ull
#define CODE_VA 0x100000ull		/* READ, EXEC */
#define CODE_SIZE (2 * BENCH_PAGE)
#define STATE_VA 0x110000ull		/* READ: COMPUTE_STATE, stream, push constants, tables */
#define DATA_VA 0x200000ull		/* READ, WRITE */
#define DATA_SIZE (4 * BENCH_PAGE)
#define STREAM_AT 0x800
#define PUSH_AT 0x400
#define TABLES_AT 0x1000
#define GUARD_SIZE (16 * BENCH_PAGE)
#define STEPS 60

/* The rest of the input. It is continued by zeros. */
struct input {
	const uint8_t *data;
	size_t size;
};

static uint64_t take(struct input *in, unsigned int bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes && in->size; i++, in->size--)
		value |= (uint64_t)*in->data++ << 8 * i;
	return value;
}

__attribute__((noreturn))
static void fail(const char *what)
{
	fprintf(stderr, "shader: %s\n", what);
	abort();
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* An instruction of @unit: any, with modifiers that exist if the first choice does not. */
static uint32_t instruction(struct input *in, enum tsr_isa_unit unit, enum tsr_message *message)
{
	static const uint16_t common[2][6] = {
		{ TSR_OP_FMA_NOP, TSR_OP_FMA_MOV_I32, TSR_OP_FMA_FMA_F32, TSR_OP_FMA_ATOM_C_I32,
		  TSR_OP_FMA_IMUL_I32, TSR_OP_FMA_LSHIFT_OR_I32 },
		{ TSR_OP_ADD_NOP, TSR_OP_ADD_LOAD_I32, TSR_OP_ADD_STORE_I32, TSR_OP_ADD_JUMP,
		  TSR_OP_ADD_BRANCHZ_I16, TSR_OP_ADD_BARRIER },
	};
	struct tsr_insn insn = { .form = TSR_FORM_ANY };
	unsigned int choice = take(in, 2);
	uint32_t word;

	insn.op = choice % 4 ? choice / 4 % TSR_OP__COUNT : common[unit][choice / 4 % 6];
	if (tsr_ops[insn.op].unit != unit)
		insn.op = common[unit][choice / 4 % 6];
	for (unsigned int i = 0; i < 4; i++)
		insn.src[i] = take(in, 1) % 8;
	for (unsigned int i = 0; i < tsr_ops[insn.op].num_mods; i++)
		insn.mod[tsr_ops[insn.op].mods[i]] = take(in, 1) % 24;
	for (unsigned int tries = 0; !tsr_insn_encode(&insn, &word); tries++) {
		/* the first value of each modifier that it can have, sources it can have */
		for (unsigned int i = 0; i < tsr_ops[insn.op].num_mods; i++)
			insn.mod[tsr_ops[insn.op].mods[i]] = tries % 24;
		for (unsigned int i = 0; i < 4; i++)
			insn.src[i] = tries % 8;
		if (tries == 48)
			insn = (struct tsr_insn){ .op = common[unit][0], .form = TSR_FORM_ANY };
	}
	if (unit == TSR_ISA_ADD && tsr_insn_message(&insn))
		*message = tsr_insn_message(&insn);
	return word;
}

static void tuple(struct input *in, struct tsr_clause *c, unsigned int i, enum tsr_message *message)
{
	struct tsr_tuple *t = &c->tuple[i];

	t->regs = take(in, 5) & 0x7ffffffff;
	t->fma = instruction(in, TSR_ISA_FMA, message);
	t->add = instruction(in, TSR_ISA_ADD, message);
	if (*message && c->tuples > i + 1 && take(in, 1) % 8)
		c->tuples = i + 1;		/* mostly one message only, in the last tuple */
}

/* One clause at @code; its length, 0: it cannot be packed. */
static size_t clause(struct input *in, uint8_t *code)
{
	enum tsr_message message = TSR_MESSAGE_NONE;
	struct tsr_clause c = { 0 };
	struct tsr_const konst[4] = { { 0 } };
	uint8_t slot[4];
	unsigned int n = take(in, 1) % 4;
	size_t len;

	c.tuples = 1 + take(in, 1) % 8;
	c.flow = take(in, 1) % 8;
	c.ftz = take(in, 1) % 4;
	c.wait = take(in, 1);
	c.slot = take(in, 1) % 8;
	c.staging_reg = take(in, 1) % 64;
	c.staging_barrier = take(in, 1) % 2;
	for (unsigned int i = 0; i < c.tuples; i++)
		tuple(in, &c, i, &message);
	c.message = take(in, 1) % 16 ? message : take(in, 1) % 16;
	for (unsigned int i = 0; i < n; i++) {
		static const uint64_t place[] = { CODE_VA, DATA_VA, TSR_WINDOW_GROUP,
						  TSR_WINDOW_SCRATCH };
		uint64_t kind = take(in, 1);

		konst[i].value = kind % 2 ? take(in, 8) : place[kind / 2 % 4] + take(in, 2);
		konst[i].pcrel = kind / 8 % 4;
	}
	if (tsr_clause_place_consts(&c, konst, n, slot) || tsr_clause_pack(&c, code, &len))
		return 0;
	return len;
}

static void program(struct input *in, uint8_t *code)
{
	size_t size = 0;

	if (!(take(in, 1) % 8)) {
		memcpy(code, in->data, in->size < CODE_SIZE ? in->size : CODE_SIZE);
		return;
	}
	while (in->size && size < CODE_SIZE - TSR_CLAUSE_BYTES_MAX)
		size += clause(in, code + size);
}

/* ---- The machine ----------------------------------------------------------------------------- */

struct setup {
	struct bench *b;
	struct bench_as driver, user;
	struct bench_queue q;
	uint8_t *guard;
};

static void describe(struct input *in, uint8_t *page)
{
	struct tsr_compute_state state = {
		.code = CODE_VA, .local_x = 1 + take(in, 1) % 70, .local_y = 1 + take(in, 1) % 2,
		.local_z = 1, .registers_64 = take(in, 1) % 4, .push = STATE_VA + PUSH_AT,
		.push_words = 64, .clause_limit = 200, .uniform_buffers = STATE_VA + TABLES_AT,
		.attributes = STATE_VA + TABLES_AT, .attribute_buffers = STATE_VA + TABLES_AT,
		.textures = STATE_VA + TABLES_AT, .samplers = STATE_VA + TABLES_AT,
		.uniform_buffer_count = 8, .attribute_count = 8, .attribute_buffer_count = 8,
		.texture_count = 4, .sampler_count = 4, .scratch = DATA_VA, .scratch_size = 16,
		.group_memory = 256,
	};
	struct tsr_dispatch dispatch = { .state = STATE_VA, .groups_x = 1 + take(in, 1) % 12,
					 .groups_y = 1, .groups_z = 1 };

	tsr_pack_compute_state((uint64_t *)page, &state);
	tsr_pack_dispatch((uint64_t *)(page + STREAM_AT), &dispatch);
	for (unsigned int i = 0; i < 64; i++)
		((uint32_t *)(page + PUSH_AT))[i] = i % 2 ? 0 : DATA_VA + 64 * i;
	for (unsigned int i = 0; i < BENCH_PAGE; i++)
		page[TABLES_AT + i] = take(in, 1);
}

static void start(struct setup *s, struct input *in)
{
	static const char *const narrow[] = { "sse2", "avx2" };
	uint8_t options = take(in, 1);
	struct tsr_config config = { .cores = 1 + options % 4, .late_messages = options >> 2 & 1,
				     .simd = options >> 3 & 1 ? narrow[options >> 6 & 1] : NULL,
				     .strict_code = options >> 4 & 1,
				     .jit = options >> 5 & 1 ? TSR_JIT_USE_FIRST :
							       TSR_JIT_USE_OFF };

	s->b = bench_new(&config);
	bench_as_init(s->b, &s->driver, 0);
	bench_as_init(s->b, &s->user, 1);
	bench_buffer(&s->user, DATA_VA, DATA_SIZE, BENCH_RW);
	describe(in, bench_buffer(&s->user, STATE_VA, 2 * BENCH_PAGE, BENCH_R | BENCH_RX));
	program(in, bench_buffer(&s->user, CODE_VA, CODE_SIZE, BENCH_RX));
	s->guard = bench_ptr(s->b, bench_alloc(s->b, GUARD_SIZE, BENCH_PAGE), GUARD_SIZE);
	memset(s->guard, 0x5a, GUARD_SIZE);
	bench_queue_init(&s->q, 0, TSR_ENGINE_CLASS_COMPUTE, TSR_PRIORITY_NORMAL, &s->driver,
			 RING_VA, 12, &s->user);
	bench_call(&s->q, STATE_VA + STREAM_AT, TSR_DISPATCH_QWORDS * 8);
	bench_kick(&s->q);
}

/* Save, and load what has been saved. */
static void save(struct setup *s)
{
	char err[200];
	size_t size;
	void *image;

	tsr_gpu_pause(s->b->gpu);
	size = tsr_gpu_save(s->b->gpu, NULL, 0);
	image = malloc(size);
	tsr_gpu_save(s->b->gpu, image, size);
	if (!tsr_gpu_load(s->b->gpu, image, size, err, sizeof(err)))
		fail(err);
	tsr_gpu_resume(s->b->gpu);
	free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct setup s;
	uint64_t chunk;

	if (!size)
		return 0;
	chunk = 1 + take(&in, 1) * 8;
	start(&s, &in);
	for (unsigned int i = 0; i < STEPS; i++) {
		if (!tsr_gpu_run(s.b->gpu, i < STEPS / 2 ? chunk : 20000))
			break;
		if (i % 7 == 3 && i < STEPS / 2)
			save(&s);
	}
	bench_control(&s.q, TSR_QUEUE_OP_RESET);
	if (!bench_run(s.b, 5) || bench_state(&s.q) != TSR_QUEUE_STATE_DISABLED)
		fail("RESET does not end it");
	for (unsigned int i = 0; i < GUARD_SIZE; i++) {
		if (s.guard[i] != 0x5a)
			fail("memory that is not mapped has been written");
	}
	bench_free(s.b);
	return 0;
}
