/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "shader/program.h"
#include "simd/simd.h"
#include "units.h"

/* tsr_thread.caches of a device that counts everything. */
#define COUNTS_ALL 1

static void start(struct units *u, unsigned int runner)
{
	u->mem = tsr_runner_mem(&u->b->gpu->runner[runner], NULL, 1, TSR_UNIT_SHADER);
	u->access = aligned_alloc(64, (sizeof(*u->access) + 63) / 64 * 64);
	if (!u->access)
		abort();
	tsr_access_init(u->access);
	u->textures = aligned_alloc(64, (sizeof(*u->textures) + 63) / 64 * 64);
	if (!u->textures)
		abort();
	tsr_texture_cache_init(u->textures, tsr_simd_best());
	u->mem.thread->caches = COUNTS_ALL;
	tsr_texture_enter(u->textures, &u->mem);
	u->views = calloc(1, sizeof(*u->views));
	if (!u->views)
		abort();
	u->env = (struct tsr_msg_env){
		.mem = &u->mem, .access = u->access, .path = u->b->gpu->env.msg_path,
		.copies = &tsr_no_copies,
		.textures = u->textures, .views = u->views, .state = &u->state,
		.group_memory = u->group, .scratch = UNITS_SCRATCH,
	};
}

struct units *units_new(unsigned int threads)
{
	const struct tsr_config config = { .threads = threads };
	struct units *u = aligned_alloc(64, sizeof(*u));

	if (!u)
		abort();
	memset(u, 0, sizeof(*u));
	u->b = bench_new(threads ? &config : NULL);
	bench_as_init(u->b, &u->as, 1);
	u->data_bus = bench_alloc(u->b, UNITS_DATA_SIZE, BENCH_PAGE);
	u->data = bench_ptr(u->b, u->data_bus, UNITS_DATA_SIZE);
	bench_map(&u->as, UNITS_DATA, u->data_bus, UNITS_DATA_SIZE, BENCH_RW);
	u->tables = bench_buffer(&u->as, UNITS_TABLES, UNITS_TABLES_SIZE, BENCH_R);
	u->state = (struct tsr_compute_state){
		.uniform_buffers = UNITS_UBOS, .attributes = UNITS_ATTRIBUTES,
		.attribute_buffers = UNITS_BUFFERS, .textures = UNITS_TEXTURES,
		.samplers = UNITS_SAMPLERS, .uniform_buffer_count = 64, .attribute_count = 256,
		.attribute_buffer_count = 256, .texture_count = 128, .sampler_count = 128,
		.scratch = UNITS_SCRATCH, .scratch_size = UNITS_SCRATCH_SIZE,
		.group_memory = UNITS_GROUP_BYTES,
	};
	start(u, 0);
	return u;
}

struct units *units_share(const struct units *other, unsigned int runner)
{
	struct units *u = aligned_alloc(64, sizeof(*u));

	if (!u)
		abort();
	memcpy(u, other, sizeof(*u));
	start(u, runner);
	return u;
}

void units_free(struct units *u)
{
	if (u->mem.runner->index == 0)
		bench_free(u->b);
	free(u->access);
	free(u->textures);
	free(u->views);
	free(u);
}

void units_insn(struct units *u, unsigned int op)
{
	memset(&u->insn, 0, sizeof(u->insn));
	memset(&u->pair_insn, 0, sizeof(u->pair_insn));
	u->insn.op = op;
	u->paired = false;
}

void units_pair(struct units *u, unsigned int op)
{
	memset(&u->pair_insn, 0, sizeof(u->pair_insn));
	u->pair_insn.op = op;
	u->paired = true;
}

void units_address(struct units *u, unsigned int lane, uint64_t va)
{
	u->src[0].u[lane] = va;
	u->src[1].u[lane] = va >> 32;
	u->pair[0].u[lane] = va;
	u->pair[1].u[lane] = va >> 32;
}

/* Let the message go on from where it stands. */
static enum tsr_step go_on(struct units *u)
{
	memset(&u->mem.fault, 0, sizeof(u->mem.fault));
	return tsr_msg_run(&u->env, &u->msg);
}

enum tsr_step units_run(struct units *u, unsigned int staging, uint16_t lanes)
{
	u->msg = (struct tsr_msg){
		.insn = &u->insn, .pair_insn = u->paired ? &u->pair_insn : NULL,
		.src = { &u->src[0], &u->src[1], &u->src[2] },
		.pair = { &u->pair[0], &u->pair[1], &u->pair[2] },
		.reg = u->reg, .staging = staging, .lanes = lanes, .fault_lane = 0xff,
	};
	return go_on(u);
}

enum tsr_step units_finish(struct units *u, unsigned int staging, uint16_t lanes,
			   unsigned int *times)
{
	enum tsr_step step = units_run(u, staging, lanes);

	while (step == TSR_STEP_PENDING) {
		bench_answer(u->b);
		if (times)
			++*times;
		units_stop(u);
		step = go_on(u);
	}
	return step;
}

bool units_fault_is(const struct units *u, uint8_t code, uint64_t addr, unsigned int lane)
{
	/* levels are those of page tables */
	if (code >= TSR_FAULT_SHADER_ENCODING && !ktap_eq(u->mem.fault.level, 0))
		return false;
	return ktap_eq(u->mem.fault.code, code) & ktap_eq(u->mem.fault.addr, addr) &
	       ktap_eq(u->msg.fault_lane, lane);
}

void units_stop(struct units *u)
{
	tsr_access_stop(u->access, u->mem.port);
	tsr_mmu_data_changed(&u->b->gpu->mmu, u->mem.as);
	/* the device of the unit may have executed a command that does not count */
	u->mem.thread->caches = COUNTS_ALL;
	tsr_texture_enter(u->textures, &u->mem);
}
