/* SPDX-License-Identifier: MIT */
#include "grid.h"

#include <stdlib.h>
#include <string.h>

#include "memory/descriptor.h"
#include "core.h"
#include "warp.h"
#include "units/msg_bundle.h"

/* The error of a COMPUTE_STATE and its qword, or TSR_FAULT_NONE. */
static uint8_t check_state(const uint64_t *word, unsigned int *qword)
{
	uint8_t code = tsr_descriptor_check(TSR_DESCRIPTOR_COMPUTE_STATE, word, qword);
	struct tsr_compute_state state;

	if (code)
		return code;
	tsr_unpack_compute_state(word, &state);
	*qword = TSR_COMPUTE_STATE_LOCAL_X__QWORD;
	return (uint64_t)state.local_x * state.local_y * state.local_z > TSR_GROUP_THREADS_MAX ?
		       TSR_FAULT_BAD_VALUE :
		       TSR_FAULT_NONE;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static enum tsr_step read_groups(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
				 uint32_t *groups)
{
	bool indirect = tsr_packet_opcode(cmd[0]) == TSR_OP_DISPATCH_INDIRECT;
	enum tsr_step step = TSR_STEP_DONE;
	struct tsr_dispatch_indirect i;
	struct tsr_dispatch d;

	if (indirect) {
		tsr_unpack_dispatch_indirect(cmd, &i);
		if (i.groups % 4)
			return tsr_mem_bad_packet(mem, pc, 2, TSR_FAULT_ALIGNMENT);
		step = tsr_mem_read(mem, i.groups, groups, 3 * sizeof(groups[0]));
	} else {
		tsr_unpack_dispatch(cmd, &d);
		groups[0] = d.groups_x;
		groups[1] = d.groups_y;
		groups[2] = d.groups_z;
	}
	for (unsigned int n = 0; step == TSR_STEP_DONE && n < 3; n++) {
		if (groups[n] > TSR_GROUPS_MAX)
			return tsr_mem_bad_packet(mem, pc, indirect ? 2 : 2 + n / 2,
						  TSR_FAULT_BAD_VALUE);
	}
	return step;
}

enum tsr_step tsr_grid_begin(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
			     struct tsr_grid **spare, struct tsr_grid **grid)
{
	uint64_t word[TSR_COMPUTE_STATE__QWORDS], at = cmd[1];
	uint32_t groups[3], push[TSR_PUSH_WORDS_MAX];
	struct tsr_compute_state state;
	unsigned int qword;
	enum tsr_step step;
	uint8_t code;

	*grid = NULL;
	if (at % 64)
		return tsr_mem_bad_packet(mem, pc, 1, TSR_FAULT_ALIGNMENT);
	step = read_groups(mem, pc, cmd, groups);
	if (step == TSR_STEP_DONE)
		step = tsr_mem_read(mem, at, word, sizeof(word));
	if (step != TSR_STEP_DONE)
		return step;
	code = check_state(word, &qword);
	if (code)
		return tsr_mem_bad_packet(mem, at, qword, code);
	tsr_unpack_compute_state(word, &state);
	step = tsr_mem_read(mem, state.push, push, state.push_words * sizeof(push[0]));
	if (step != TSR_STEP_DONE || !groups[0] || !groups[1] || !groups[2])
		return step;
	if (!tsr_grid_new(mem->env, word, groups, push, spare, grid))
		return tsr_mem_bad_packet(mem, pc, 0, TSR_FAULT_UNSUPPORTED);
	return TSR_STEP_DONE;
}

/* ---- The grid -------------------------------------------------------------------------------- */

static void fill_local(struct tsr_grid *grid)
{
	uint32_t x = 0, y = 0, z = 0;

	for (unsigned int t = 0; t < grid->threads; t++) {
		grid->local_xy[t / TSR_WARP_LANES].u[t % TSR_WARP_LANES] = x | y << 16;
		grid->local_z[t / TSR_WARP_LANES].u[t % TSR_WARP_LANES] = z;
		if (++x == grid->state.local_x) {
			x = 0;
			if (++y == grid->state.local_y) {
				y = 0;
				z++;
			}
		}
	}
}

static void fill_push(struct tsr_grid *grid)
{
	for (unsigned int i = 0; i < grid->state.push_words; i++) {
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			grid->push[i].u[l] = grid->push_word[i];
	}
}

/*
 * How many groups a core holds, and how many messages of each warp, so that it has no more than
 * TSR_CORE_STORED_MAX of all.
 */
static void find_places(struct tsr_grid *grid, unsigned int cores)
{
	const struct tsr_compute_state *state = &grid->state;
	uint64_t most, warps;

	grid->slots = state->registers_64 ? TSR_CORE_WARPS / 2 : TSR_CORE_WARPS;
	grid->warps = (grid->threads + TSR_WARP_LANES - 1) / TSR_WARP_LANES;
	grid->places = grid->slots / grid->warps;
	grid->group_stride = (state->group_memory + 63) & ~63u;
	if (grid->group_stride && grid->places > TSR_GROUP_MEMORY_MAX / grid->group_stride)
		grid->places = TSR_GROUP_MEMORY_MAX / grid->group_stride;
	most = (grid->total + cores - 1) / cores;
	warps = (most < grid->places ? most : grid->places) * grid->warps;
	grid->stored = warps * TSR_STORED_MAX <= TSR_CORE_STORED_MAX ?
			       TSR_STORED_MAX :
			       TSR_CORE_STORED_MAX / warps;
}

/* The memory of a complete grid as that of a new one; bundles and shared memory stay with cores. */
static void recycle(struct tsr_grid *grid)
{
	memset(grid->push, 0, grid->state.push_words * sizeof(grid->push[0]));
	memset(grid->local_xy, 0, grid->warps * sizeof(grid->local_xy[0]));
	memset(grid->local_z, 0, grid->warps * sizeof(grid->local_z[0]));
	for (unsigned int i = 0; i < grid->job.cores; i++) {
		struct tsr_core *core = &grid->core[i], old = *core;

		memset(core, 0, sizeof(*core));
		memcpy(core->bundle, old.bundle, sizeof(core->bundle));
		core->group_memory = old.group_memory;
		core->group_bytes = old.group_bytes;
	}
	grid->job.cursor = 0;
	grid->job.bursts = 0;
	memset(grid, 0, offsetof(struct tsr_grid, push));
}

static struct tsr_grid *grid_memory(const struct tsr_env *env, struct tsr_grid **spare)
{
	size_t size = (sizeof(struct tsr_grid) + env->cfg->cores * sizeof(struct tsr_core) + 63) &
		      ~(size_t)63;
	struct tsr_grid *grid = spare ? *spare : NULL;

	if (grid) {
		*spare = NULL;
		recycle(grid);
	} else if ((grid = aligned_alloc(64, size))) {
		memset(grid, 0, size);
	}
	return grid;
}

bool tsr_grid_new(const struct tsr_env *env, const uint64_t *word, const uint32_t *groups,
		  const uint32_t *push, struct tsr_grid **spare, struct tsr_grid **out)
{
	struct tsr_grid *grid;
	unsigned int qword;

	*out = NULL;
	for (unsigned int i = 0; i < 3; i++) {
		if (!groups[i] || groups[i] > TSR_GROUPS_MAX)
			return false;
	}
	if (check_state(word, &qword) || !(grid = grid_memory(env, spare)))
		return false;
	memcpy(grid->word, word, sizeof(grid->word));
	tsr_unpack_compute_state(word, &grid->state);
	memcpy(grid->groups, groups, sizeof(grid->groups));
	grid->total = (uint64_t)groups[0] * groups[1] * groups[2];
	grid->threads = grid->state.local_x * grid->state.local_y * grid->state.local_z;
	memcpy(grid->push_word, push, grid->state.push_words * sizeof(push[0]));
	find_places(grid, env->cfg->cores);
	fill_local(grid);
	fill_push(grid);
	grid->path = env->msg_path;
	grid->job.burst = tsr_core_burst;
	grid->job.cores = env->cfg->cores;
	grid->job.shared = grid->total > 1;
	grid->run = grid->total >= (uint64_t)TSR_GROUP_RUN * TSR_GROUP_RUN * grid->job.cores ?
			    TSR_GROUP_RUN :
			    1;
	for (unsigned int i = 0; i < grid->job.cores; i++) {
		grid->job.core[i] = &grid->core[i].job;
		grid->core[i].job.index = i;
		grid->core[i].next = (uint64_t)i * grid->run;
		if (i >= grid->total)
			atomic_store_explicit(&grid->core[i].job.state, TSR_CORE_DONE,
					      memory_order_relaxed);
	}
	*out = grid;
	return true;
}

void tsr_grid_free(struct tsr_grid *grid)
{
	if (!grid)
		return;
	for (unsigned int i = 0; i < grid->job.cores; i++) {
		struct tsr_core *core = &grid->core[i];

		for (unsigned int n = 0; n < TSR_CORE_BUNDLES; n++) {
			if (!core->bundle[n])
				continue;
			for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++)
				free(core->bundle[n]->warp[w].message);
			free(core->bundle[n]);
		}
		free(core->group_memory);
	}
	free(grid);
}

bool tsr_warp_reserve(struct tsr_warp *warp, unsigned int capacity)
{
	if (warp->capacity >= capacity)
		return true;
	free(warp->message);
	warp->message = aligned_alloc(64, capacity * sizeof(*warp->message));
	warp->capacity = warp->message ? capacity : 0;
	return warp->message;
}

/* ---- Starting groups ------------------------------------------------------------------------- */

uint16_t tsr_grid_lanes(const struct tsr_grid *grid, unsigned int number)
{
	unsigned int left = grid->threads - number * TSR_WARP_LANES;

	return left >= TSR_WARP_LANES ? 0xffff : (1u << left) - 1;
}

bool tsr_core_group_memory(const struct tsr_grid *grid, struct tsr_core *core)
{
	size_t bytes = (size_t)grid->places * grid->group_stride;

	if (bytes <= core->group_bytes)
		return true;
	free(core->group_memory);
	core->group_memory = calloc(1, bytes);
	core->group_bytes = core->group_memory ? bytes : 0;
	return core->group_memory;
}

struct tsr_bundle *tsr_core_bundle(struct tsr_core *core, unsigned int slot)
{
	struct tsr_bundle **bundle = &core->bundle[slot / TSR_BUNDLE_WARPS];

	if (!*bundle) {
		size_t size = (sizeof(**bundle) + 63) & ~(size_t)63;

		*bundle = aligned_alloc(64, size);
		if (*bundle)
			memset(*bundle, 0, size);
	}
	return *bundle;
}

/* A vector of a size that any processor has; compilers make a mess of larger ones. */
typedef uint32_t quad __attribute__((vector_size(16), may_alias));
#define QUADS (sizeof(union tsr_lanes) / sizeof(quad))
_Static_assert(QUADS == 4, "clear_registers() writes all of them");

/* 0 in the registers of @count warps of @bundle from @first on, where it is not there already. */
static void clear_registers(struct tsr_bundle *bundle, unsigned int first, unsigned int count)
{
	uint64_t written = 0;

	for (unsigned int w = first; w < first + count; w++)
		written |= bundle->warp[w].written;
	for (written &= ~TSR_ENTRY_REGISTERS; written; written &= written - 1) {
		unsigned int r = __builtin_ctzll(written);
		quad *out = (quad *)&bundle->reg[r * TSR_BUNDLE_WARPS + first];

		/* by hand: compilers make a slow instruction, or a slow loop, of anything else */
		for (unsigned int w = 0; w < count; w++, out += QUADS) {
			out[0] = (quad){ 0 };
			out[1] = (quad){ 0 };
			out[2] = (quad){ 0 };
			out[3] = (quad){ 0 };
		}
	}
}

/* Registers at entry that are not 0, see compute.md; of warps from @number of the group on. */
static void fill_registers(const struct tsr_grid *grid, const struct tsr_group *group,
			   unsigned int number, union tsr_lanes *reg, unsigned int count)
{
	const struct tsr_compute_state *state = &grid->state;
	const struct tsr_msg_entry entry = {
		.xy = &grid->local_xy[number], .z = &grid->local_z[number],
		.id = { group->id[0], group->id[1], group->id[2] },
		.origin = { group->id[0] * state->local_x, group->id[1] * state->local_y,
			    group->id[2] * state->local_z },
	};

	grid->path->enter(&entry, reg + TSR_ENTRY_FIRST * TSR_BUNDLE_WARPS, count);
}

static void start_warp(const struct tsr_grid *grid, struct tsr_core *core, unsigned int place,
		       unsigned int number)
{
	unsigned int slot = place * grid->warps + number;
	struct tsr_bundle *bundle = core->bundle[slot / TSR_BUNDLE_WARPS];
	struct tsr_warp *warp = &bundle->warp[slot % TSR_BUNDLE_WARPS];
	uint16_t lanes = tsr_grid_lanes(grid, number);

	warp->here = grid->state.code;
	/* in two pieces: of one as long as that compilers make a slow instruction */
	memset(warp->pc, 0, sizeof(warp->pc) / 2);
	memset(warp->pc + TSR_WARP_LANES / 2, 0, sizeof(warp->pc) / 2);
	warp->meet = UINT64_MAX;
	warp->live = lanes;
	warp->active = lanes;
	warp->parked = 0;
	warp->used = true;
	warp->group = place;
	warp->number = number;
	warp->awaited = 0;
	warp->yielded = 0;
	warp->stored = 0;
	warp->written = 0;
	warp->clauses = 0;
	warp->passed = 0;
	core->ready |= 1u << slot / TSR_BUNDLE_WARPS;
}

bool tsr_core_start_group(struct tsr_grid *grid, struct tsr_core *core, unsigned int place)
{
	struct tsr_group *group = &core->group[place];
	uint64_t id = core->next;

	for (unsigned int n = 0; n < grid->warps; n++) {
		if (!tsr_core_bundle(core, place * grid->warps + n))
			return false;
	}
	if (!tsr_core_group_memory(grid, core))
		return false;
	group->id[0] = id % grid->groups[0];
	group->id[1] = id / grid->groups[0] % grid->groups[1];
	group->id[2] = id / grid->groups[0] / grid->groups[1];
	group->alive = grid->threads;
	group->parked = 0;
	group->warps = grid->warps;
	if (grid->group_stride)
		memset(core->group_memory + place * grid->group_stride, 0, grid->group_stride);
	for (unsigned int n = 0; n < grid->warps;) {
		unsigned int slot = place * grid->warps + n, first = slot % TSR_BUNDLE_WARPS;
		bool whole = !first && grid->warps - n >= TSR_BUNDLE_WARPS;
		unsigned int count = whole ? TSR_BUNDLE_WARPS : 1;

		struct tsr_bundle *bundle = core->bundle[slot / TSR_BUNDLE_WARPS];

		clear_registers(bundle, first, count);
		fill_registers(grid, group, n, &bundle->reg[first], count);
		for (; count; count--)
			start_warp(grid, core, place, n++);
	}
	core->next++;
	if (core->next % grid->run == 0)
		core->next += (grid->job.cores - 1ull) * grid->run;
	core->groups++;
	return true;
}

bool tsr_core_start_groups(struct tsr_grid *grid, struct tsr_core *core)
{
	unsigned int started = 0;

	for (unsigned int place = 0; place < grid->places && core->next < grid->total; place++) {
		if (core->group[place].warps)
			continue;
		if (!tsr_core_start_group(grid, core, place))
			return false;
		started += grid->warps;
		/* Until a bundle is full: those that follow find their place when it has run. */
		if (started >= TSR_BUNDLE_WARPS &&
		    !((place + 1) * grid->warps % TSR_BUNDLE_WARPS))
			break;
		if (started >= 2 * TSR_BUNDLE_WARPS)
			break;
	}
	return true;
}
