// SPDX-License-Identifier: MIT
/* A script on a machine, see machine.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "machine.h"

#define RING_VA		0x100000ull	/* in the kernel's address space */
#define SYSTEM_MAX	(16ull << 20)	/* more memory than this is local memory */
#define TABLE_ALIGN	64

/* Memory that the dispatch needs in addition to the script's regions. */
struct own {
	uint64_t base;			/* of all of it */
	uint64_t next;			/* first byte not given out */
	uint64_t state, push, ubos, stream, grid, scratch, scratch_size;
	struct tsr_compute_state fields;
	uint64_t words[TSR_COMPUTE_STATE__QWORDS];
	uint64_t ubo_words[TSR_UNIFORM_BUFFERS_MAX];
	uint64_t packet[TSR_DISPATCH_QWORDS];
};

static uint64_t give(struct own *own, uint64_t size, uint64_t align)
{
	uint64_t at = (own->next + align - 1) / align * align;

	own->next = at + size;
	return at;
}

/* A copy of script memory at an address with the alignment that tables and buffers need. */
static uint64_t relocate(struct machine *m, struct own *own, uint64_t va, uint64_t size,
			 uint64_t room)
{
	const struct script *script = m->script;
	uint64_t at = give(own, room, TABLE_ALIGN);

	for (size_t i = 0; i < script->regions; i++) {
		const struct region *r = &script->region[i];
		uint64_t skip = va > r->va ? va - r->va : 0, to = r->va > va ? r->va - va : 0;

		if (skip >= r->init.size || to >= size)
			continue;
		memory_add(&m->memory, (struct piece){
			.va = at + to, .size = size - to, .pte = BENCH_RW,
			.init = r->init.data + skip,
			.init_size = r->init.size - skip < size - to ?
				     r->init.size - skip : size - to,
		});
	}
	memory_add(&m->memory, (struct piece){ .va = at, .size = room, .pte = BENCH_RW });
	return at;
}

/*
 * The table of uniform buffers. Buffers that do not lie or end at 16 bytes are copied to where they
 * do, with zeros behind.
 */
static bool place_uniforms(struct machine *m, struct own *own, char *error, size_t size)
{
	const struct script *script = m->script;

	for (unsigned int i = 0; i < script->ubos; i++) {
		uint64_t va = script->ubo[i].va, bytes = script->ubo[i].size;
		uint64_t entries = (bytes + 15) / 16;

		if (!bytes)
			continue;
		if (entries > TSR_UNIFORM_BUFFER_ENTRIES__MASK + 1) {
			snprintf(error, size, "uniform buffer %u has %" PRIu64 " bytes", i, bytes);
			return false;
		}
		if (va % 16 || bytes % 16)
			va = relocate(m, own, va, bytes, entries * 16);
		own->ubo_words[i] = (entries - 1) << TSR_UNIFORM_BUFFER_ENTRIES__SHIFT |
				    va >> 4 << TSR_UNIFORM_BUFFER_POINTER__SHIFT;
	}
	own->ubos = give(own, sizeof(own->ubo_words), TABLE_ALIGN);
	memory_add(&m->memory, (struct piece){ own->ubos, sizeof(own->ubo_words), BENCH_R,
					       own->ubo_words, sizeof(own->ubo_words) });
	own->fields.uniform_buffers = own->ubos;
	own->fields.uniform_buffer_count = script->ubos;
	return true;
}

static void place_tables(struct machine *m, struct own *own)
{
	static const struct {
		unsigned int entry, align;	/* bytes */
	} form[TABLES] = { { 8, 8 }, { 16, 16 }, { 32, 32 }, { 32, 32 } };
	const struct table *table = m->script->table;
	uint64_t va[TABLES];

	for (unsigned int i = 0; i < TABLES; i++) {
		uint64_t bytes = (uint64_t)table[i].count * form[i].entry;

		va[i] = table[i].va;
		if (bytes && va[i] % form[i].align)
			va[i] = relocate(m, own, va[i], bytes, bytes);
	}
	own->fields.attributes = va[TABLE_ATTRIBUTES];
	own->fields.attribute_count = table[TABLE_ATTRIBUTES].count;
	own->fields.attribute_buffers = va[TABLE_BUFFERS];
	own->fields.attribute_buffer_count = table[TABLE_BUFFERS].count;
	own->fields.textures = va[TABLE_TEXTURES];
	own->fields.texture_count = table[TABLE_TEXTURES].count;
	own->fields.samplers = va[TABLE_SAMPLERS];
	own->fields.sampler_count = table[TABLE_SAMPLERS].count;
}

/* The sizes of a dispatch; values out of range go through as far as their fields reach. */
static void place_state(struct machine *m, struct own *own)
{
	const struct script *script = m->script;

	own->fields.code = script->entry;
	own->fields.local_x = script->local[0];
	own->fields.local_y = script->local[1];
	own->fields.local_z = script->local[2];
	own->fields.registers_64 = script->registers_64;
	own->fields.push_words = script->push.size / 4;
	own->fields.clause_limit = script->clause_limit;
	own->fields.scratch_size = (script->scratch + 15) / 16 * 16;
	own->fields.group_memory = script->group_memory;
	own->push = give(own, script->push.size, TABLE_ALIGN);
	memory_add(&m->memory, (struct piece){ own->push, script->push.size, BENCH_R,
					       script->push.data, script->push.size });
	own->fields.push = own->push;
	own->scratch = give(own, own->scratch_size, BENCH_PAGE);
	memory_add(&m->memory, (struct piece){ .va = own->scratch, .size = own->scratch_size,
					       .pte = BENCH_RW });
	own->fields.scratch = own->scratch;
	tsr_pack_compute_state(own->words, &own->fields);
	own->state = give(own, sizeof(own->words), TABLE_ALIGN);
	memory_add(&m->memory, (struct piece){ own->state, sizeof(own->words), BENCH_R, own->words,
					       sizeof(own->words) });
}

/* The command stream: one dispatch. */
static void place_stream(struct machine *m, struct own *own)
{
	const uint32_t *n = m->script->groups;

	if (m->script->indirect) {
		own->grid = give(own, 3 * sizeof(*n), TABLE_ALIGN);
		memory_add(&m->memory, (struct piece){ own->grid, 3 * sizeof(*n), BENCH_R, n,
						       3 * sizeof(*n) });
		tsr_pack_dispatch_indirect(own->packet, &(struct tsr_dispatch_indirect){
			.state = own->state, .groups = own->grid });
		m->stream_size = TSR_DISPATCH_INDIRECT_QWORDS * 8;
	} else {
		tsr_pack_dispatch(own->packet, &(struct tsr_dispatch){
			.state = own->state,
			.groups_x = n[0], .groups_y = n[1], .groups_z = n[2] });
		m->stream_size = TSR_DISPATCH_QWORDS * 8;
	}
	own->stream = give(own, m->stream_size, BENCH_PAGE);
	m->stream = own->stream;
	memory_add(&m->memory, (struct piece){ own->stream, m->stream_size, BENCH_RX, own->packet,
					       m->stream_size });
}

static bool place_all(struct machine *m, struct own *own, char *error, size_t size)
{
	const struct script *script = m->script;

	for (size_t i = 0; i < script->regions; i++) {
		const struct region *r = &script->region[i];

		memory_add(&m->memory, (struct piece){ r->va, r->size, r->pte, r->init.data,
						       r->init.size });
	}
	if (memory_end(&m->memory) > 1ull << 57) {
		snprintf(error, size, "a buffer ends at 0x%" PRIx64 ", no device reaches that",
			 memory_end(&m->memory));
		return false;
	}
	/* twice the scratch is more than all the rest can need */
	own->base = memory_gap(&m->memory, SCRIPT_OWN_VA, 2 * own->scratch_size + (1 << 26));
	own->next = own->base;
	if (!place_uniforms(m, own, error, size))
		return false;
	place_tables(m, own);
	place_state(m, own);
	place_stream(m, own);
	return true;
}

static uint64_t scratch_size(const struct script *script, unsigned int cores)
{
	uint64_t slots = TSR_CORE_WARPS * TSR_WARP_LANES / (script->registers_64 ? 2 : 1);

	return (uint64_t)((script->scratch + 15) / 16 * 16) * slots * cores;
}

struct machine *machine_new(const struct script *script, const struct machine_options *options,
			    char *error, size_t size)
{
	struct tsr_config config = {
		.threads = options->threads, .queues = 1, .cores = options->cores,
		.late_messages = options->late, .strict_code = options->strict,
		.simd = options->simd, .jit = options->jit,
	};
	struct machine *m = calloc(1, sizeof(*m));
	struct own *own = calloc(1, sizeof(*own));
	uint64_t bytes;

	if (!m || !own)
		abort();
	m->script = script;
	own->scratch_size = scratch_size(script, TSR_CORES_MAX);
	if (!place_all(m, own, error, size)) {
		free(own);
		machine_free(m);
		return NULL;
	}
	if (memory_end(&m->memory) > 1ull << 48)
		config.va_bits = 57;
	bytes = memory_size(&m->memory);
	if (bytes > SYSTEM_MAX)
		config.local_size = (bytes + BENCH_HUGE_PAGE - 1) / BENCH_HUGE_PAGE *
				    BENCH_HUGE_PAGE;
	m->bench = bench_try(&config, error, size);
	if (!m->bench) {
		free(own);
		machine_free(m);
		return NULL;
	}
	m->bench->real_clock = true;
	bench_as_init(m->bench, &m->kernel, 0);
	bench_as_init(m->bench, &m->user, 1);
	memory_map(&m->memory, &m->user, bytes > SYSTEM_MAX);
	free(own);
	bench_queue_init(&m->queue, 0, TSR_ENGINE_CLASS_COMPUTE, TSR_PRIORITY_NORMAL, &m->kernel,
			 RING_VA, TSR_RING_LOG2_MIN, &m->user);
	return m;
}

void machine_free(struct machine *machine)
{
	if (!machine)
		return;
	if (machine->bench)
		bench_free(machine->bench);
	memory_free(&machine->memory);
	free(machine);
}

void machine_start(struct machine *machine)
{
	bench_call(&machine->queue, machine->stream, machine->stream_size);
	bench_kick(&machine->queue);
}

static uint64_t counter(struct machine *m, unsigned int id)
{
	return bench_queue_reg64(&m->queue, TSR_QUEUE_COUNTER__OFFSET +
				 id * TSR_QUEUE_COUNTER__STRIDE);
}

static void collect_program(struct machine *m, struct outcome *o)
{
	uint32_t where = bench_queue_reg(&m->queue, TSR_QUEUE_FAULT_SHADER__OFFSET);

	o->in_program = bench_field(where, TSR_QUEUE_FAULT_SHADER_VALID__MASK);
	o->tuple = (unsigned int)bench_field(where, TSR_QUEUE_FAULT_SHADER_TUPLE__MASK);
	o->lane = (unsigned int)bench_field(where, TSR_QUEUE_FAULT_SHADER_LANE__MASK);
	o->warp = (unsigned int)bench_field(where, TSR_QUEUE_FAULT_SHADER_WARP__MASK);
	o->core = (unsigned int)bench_field(where, TSR_QUEUE_FAULT_SHADER_CORE__MASK);
	o->add = bench_field(where, TSR_QUEUE_FAULT_SHADER_ADD__MASK);
	o->clause = bench_queue_reg64(&m->queue, TSR_QUEUE_FAULT_CLAUSE__OFFSET);
	for (unsigned int i = 0; i < 3; i++)
		o->group[i] = bench_queue_reg(&m->queue, TSR_QUEUE_FAULT_GROUP__OFFSET +
					      i * TSR_QUEUE_FAULT_GROUP__STRIDE);
}

void machine_collect(struct machine *m, struct outcome *o)
{
	uint32_t fault = bench_queue_reg(&m->queue, TSR_QUEUE_FAULT__OFFSET);

	o->faulted = bench_state(&m->queue) == TSR_QUEUE_STATE_FAULTED;
	if (o->faulted) {
		o->code = (unsigned int)bench_field(fault, TSR_QUEUE_FAULT_CODE__MASK);
		o->access = (unsigned int)bench_field(fault, TSR_QUEUE_FAULT_ACCESS__MASK);
		o->unit = (unsigned int)bench_field(fault, TSR_QUEUE_FAULT_UNIT__MASK);
		o->level = (unsigned int)bench_field(fault, TSR_QUEUE_FAULT_LEVEL__MASK);
		o->address = bench_queue_reg64(&m->queue, TSR_QUEUE_FAULT_ADDR__OFFSET);
		o->pc = bench_queue_reg64(&m->queue, TSR_QUEUE_FAULT_PC__OFFSET);
		collect_program(m, o);
	}
	o->groups = counter(m, TSR_QUEUE_COUNTER_SHADER_GROUPS);
	o->clauses = counter(m, TSR_QUEUE_COUNTER_SHADER_CLAUSES);
	o->tuples = counter(m, TSR_QUEUE_COUNTER_SHADER_THREADS);
	o->messages = counter(m, TSR_QUEUE_COUNTER_SHADER_MESSAGES);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

void machine_run(struct machine *machine, const struct machine_options *options,
		 struct outcome *outcome)
{
	double start = now();

	machine_start(machine);
	outcome->ended = bench_run(machine->bench, options->seconds ? options->seconds : 60);
	outcome->seconds = now() - start;
	machine_collect(machine, outcome);
}
