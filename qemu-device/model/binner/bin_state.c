/* SPDX-License-Identifier: MIT */
/*
 * States of draws: kept in versions. Their descriptors are renamed: each gets an entry of a pool,
 * which is filled when the first draw that uses it begins and stays while a draw waits with it.
 */
#include "bin.h"

#include <string.h>

#include "memory/descriptor.h"
#include "alu/float_bits.h"

/* ---- Versions -------------------------------------------------------------------------------- */

/*
 * A version that packets may change: the current one if no draw waits with it, else one no draw
 * waits with, as a copy of it. NULL: there is none.
 */
static struct tsr_bin_version *writable(struct tsr_binning *bin)
{
	struct tsr_bin_version *current = &bin->version[bin->current];

	if (!current->draws)
		return current;
	for (unsigned int i = 0; i < bin->versions; i++) {
		if (bin->version[i].draws)
			continue;
		bin->version[i] = *current;
		bin->version[i].draws = 0;
		bin->current = i;
		return &bin->version[i];
	}
	return NULL;
}

void tsr_bin_clear_states(struct tsr_binning *bin)
{
	memset(bin->version, 0, sizeof(bin->version));
	bin->current = 0;
	for (unsigned int kind = 0; kind < TSR_BIN_KINDS; kind++) {
		bin->pool[kind].read = bin->pool[kind].next = 0;
		for (unsigned int i = 0; i < TSR_STATE_DESCRIPTORS; i++)
			bin->pool[kind].va[i] = TSR_BIN_NO_DESCRIPTOR;
	}
}

/* ---- Pools ----------------------------------------------------------------------------------- */

/* The entry of @pool for the descriptor at @va; else one that is not @busy; -1: there is none. */
static int find_entry(const struct tsr_bin_pool *pool, unsigned int entries, uint32_t busy,
		      uint64_t va)
{
	for (unsigned int i = 0; i < entries; i++) {
		if (pool->va[i] == va)
			return i;
	}
	for (unsigned int n = 0; n < entries; n++) {
		unsigned int i = (pool->next + n) % entries;

		if (!(busy >> i & 1))
			return i;
	}
	return -1;
}

/* Have @version use the descriptor at @va; false: draws wait with all entries. */
static bool rename_descriptor(struct tsr_binning *bin, struct tsr_bin_version *version,
			      enum tsr_bin_kind kind, uint64_t va)
{
	struct tsr_bin_pool *pool = &bin->pool[kind];
	uint32_t busy = 0;
	int entry;

	for (unsigned int i = 0; i < bin->versions; i++)
		busy |= bin->version[i].draws ? 1u << bin->version[i].entry[kind] : 0;
	entry = find_entry(pool, bin->descriptors, busy, va);
	if (entry < 0)
		return false;
	if (pool->va[entry] != va) {
		pool->va[entry] = va;
		pool->read &= ~(1u << entry);
		pool->next = (entry + 1) % bin->descriptors;
	}
	version->entry[kind] = entry;
	version->set |= 1 << kind;
	version->prepared = false;
	return true;
}

static bool is_read(const struct tsr_binning *bin, const struct tsr_bin_version *version,
		    enum tsr_bin_kind kind)
{
	return bin->pool[kind].read >> version->entry[kind] & 1;
}

/* ---- Packets --------------------------------------------------------------------------------- */

static enum tsr_step set_query(struct tsr_binning *bin, struct tsr_mem *mem,
			       struct tsr_bin_version *version)
{
	struct tsr_list_query query;

	tsr_unpack_list_query(bin->list.word, &query);
	if (query.kind != TSR_QUERY_STREAM && query.stream)
		return tsr_list_fault(&bin->list, mem, 0, TSR_FAULT_BAD_VALUE);
	if (query.addr % 8)
		return tsr_list_fault(&bin->list, mem, 1, TSR_FAULT_ALIGNMENT);
	if (query.kind == TSR_QUERY_STREAM)
		version->stream_query[query.stream] = query.addr;
	else
		version->query[query.kind] = query.addr;
	return TSR_STEP_DONE;
}

static enum tsr_step set_stream_out(struct tsr_binning *bin, struct tsr_mem *mem,
				    struct tsr_bin_version *version)
{
	uint64_t addr = bin->list.word[1];

	if (addr % (TSR_STREAM_TARGET__QWORDS * sizeof(uint64_t)))
		return tsr_list_fault(&bin->list, mem, 1, TSR_FAULT_ALIGNMENT);
	version->stream_out = addr;
	return TSR_STEP_DONE;
}

static enum tsr_step set_push(struct tsr_binning *bin, struct tsr_mem *mem,
			      struct tsr_bin_version *version)
{
	struct tsr_list_push push;

	tsr_unpack_list_push(bin->list.word, &push);
	if (push.vertex % 8)
		return tsr_list_fault(&bin->list, mem, 1, TSR_FAULT_ALIGNMENT);
	if (push.fragment % 8)
		return tsr_list_fault(&bin->list, mem, 2, TSR_FAULT_ALIGNMENT);
	version->vertex_push = push.vertex;
	version->fragment_push = push.fragment;
	return TSR_STEP_DONE;
}

void tsr_bin_prefetch(const struct tsr_binning *bin, const struct tsr_mem *mem)
{
	const uint64_t *state = NULL, *program = NULL;

	for (unsigned int i = 1; i <= 2 && i < bin->ahead_count; i++) {
		const struct tsr_bin_ahead *a =
			&bin->ahead[(bin->ahead_first + i) % TSR_BIN_AHEAD];
		const struct tsr_bin_version *v = &bin->version[a->version];

		if (v->vertex_push)
			tsr_mem_call_for(mem, v->vertex_push, 1);
		if (is_read(bin, v, TSR_BIN_SHADER_STATE))
			continue;
		state = tsr_mem_call_for(mem, tsr_bin_va(bin, v, TSR_BIN_SHADER_STATE),
					 TSR_SHADER_STATE__QWORDS);
		if (state)
			program = tsr_mem_call_for(mem, state[TSR_SHADER_STATE_POSITION__QWORD],
						   TSR_SHADER_PROGRAM__QWORDS);
		/* that of the one after the next has only just been asked for */
		if (state && program && i == 1)
			tsr_mem_call_for(mem, program[TSR_SHADER_PROGRAM_PUSH__QWORD], 1);
	}
}

/* The packet waits for a draw. */
static enum tsr_step stall(struct tsr_binning *bin, enum tsr_bin_stat why)
{
	bin->stat[why] += !bin->held;
	return TSR_STEP_PENDING;
}

enum tsr_step tsr_bin_set_state(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_bin_version *version = writable(bin);
	uint8_t opcode = tsr_packet_opcode(bin->list.word[0]);
	enum tsr_bin_kind kind = opcode == TSR_OP_LIST_SHADER_STATE ? TSR_BIN_SHADER_STATE :
								      TSR_BIN_DRAW_STATE;
	uint64_t addr = bin->list.word[1];

	if (!version)
		return stall(bin, TSR_BIN_STATE_STALLS);
	if (opcode == TSR_OP_LIST_QUERY)
		return set_query(bin, mem, version);
	if (opcode == TSR_OP_LIST_PUSH)
		return set_push(bin, mem, version);
	if (opcode == TSR_OP_LIST_STREAM_OUT)
		return set_stream_out(bin, mem, version);
	if (addr % 64)
		return tsr_list_fault(&bin->list, mem, 1, TSR_FAULT_ALIGNMENT);
	if (!rename_descriptor(bin, version, kind, addr))
		return stall(bin, TSR_BIN_DESCRIPTOR_STALLS);
	if (kind == TSR_BIN_SHADER_STATE) {
		version->vertex_push = version->fragment_push = 0;
		tsr_mem_call_for(mem, addr, TSR_SHADER_STATE__QWORDS);
	}
	return TSR_STEP_DONE;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* True if the tessellator can do as @g says. */
static bool divides(const struct tsr_geometry_state *g)
{
	const bool lines = g->primitives == TSR_PATCH_PRIMITIVES_LINES;

	if (g->shape > TSR_PATCH_SHAPE_ISOLINE || g->primitives > TSR_PATCH_PRIMITIVES_TRIANGLES)
		return false;
	return g->primitives == TSR_PATCH_PRIMITIVES_POINTS ||
	       lines == (g->shape == TSR_PATCH_SHAPE_ISOLINE);
}

/* Reads GEOMETRY_STATE of SHADER_STATE at @va, and checks that both fit together. */
static enum tsr_step read_geometry(const struct tsr_shader_state *state, struct tsr_mem *mem,
				   uint64_t va, struct tsr_geometry_state *geometry)
{
	uint64_t word[TSR_GEOMETRY_STATE__QWORDS];
	enum tsr_step step;

	if (state->varying)
		return tsr_mem_bad_packet(mem, va, TSR_SHADER_STATE_VARYING__QWORD,
					  TSR_FAULT_BAD_VALUE);
	if (state->position_output || state->position_mode)
		return tsr_mem_bad_packet(mem, va, TSR_SHADER_STATE_POSITION_MODE__QWORD,
					  TSR_FAULT_BAD_VALUE);
	step = tsr_descriptor_read(mem, state->geometry, TSR_DESCRIPTOR_GEOMETRY_STATE, word);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_geometry_state(word, geometry);
	if (geometry->raster_stream && !geometry->geometry)
		return tsr_mem_bad_packet(mem, state->geometry,
					  TSR_GEOMETRY_STATE_RASTER_STREAM__QWORD,
					  TSR_FAULT_BAD_VALUE);
	if (geometry->hull && !geometry->domain)
		return tsr_mem_bad_packet(mem, state->geometry, TSR_GEOMETRY_STATE_HULL__QWORD,
					  TSR_FAULT_BAD_VALUE);
	if (geometry->domain && !divides(geometry))
		return tsr_mem_bad_packet(mem, state->geometry, TSR_GEOMETRY_STATE_SHAPE__QWORD,
					  TSR_FAULT_BAD_VALUE);
	return TSR_STEP_DONE;
}

static enum tsr_step read_shader(struct tsr_binning *bin, const struct tsr_bin_version *v,
				 struct tsr_mem *mem)
{
	uint64_t word[TSR_SHADER_STATE__QWORDS], va = tsr_bin_va(bin, v, TSR_BIN_SHADER_STATE);
	struct tsr_shader_state *state = &bin->shading[v->entry[TSR_BIN_SHADER_STATE]];
	enum tsr_step step = tsr_descriptor_read(mem, va, TSR_DESCRIPTOR_SHADER_STATE, word);

	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_shader_state(word, state);
	if (state->clip_distances & state->cull_distances)
		return tsr_mem_bad_packet(mem, va, TSR_SHADER_STATE_CLIP_DISTANCES__QWORD,
					  TSR_FAULT_BAD_VALUE);
	if (!state->extended) {
		state->writes_point_size = false;
		state->writes_layer = false;
		state->writes_viewport = false;
		state->clip_distances = 0;
		state->cull_distances = 0;
	}
	if (state->geometry)
		return read_geometry(state, mem, va,
				     &bin->geometry[v->entry[TSR_BIN_SHADER_STATE]]);
	return TSR_STEP_DONE;
}

static int32_t lesser(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

/* Values for the arithmetic of one axis: center and half the length of [at, at + length]. */
static void direction(float at, float length, double *s, double *o, double *lo, double *hi)
{
	*s = (double)length / 2;
	*o = at + *s;
	*lo = length < 0 ? (double)at + length : at;
	*hi = length < 0 ? at : (double)at + length;
}

static void prepare_viewport(const struct tsr_binning *bin, const struct tsr_viewport *from,
			     bool minus_one, struct tsr_bin_viewport *to)
{
	double near = tsr_as_float(from->near), far = tsr_as_float(from->far);

	direction(tsr_as_float(from->x), tsr_as_float(from->width), &to->sx, &to->ox, &to->x_lo,
		  &to->x_hi);
	direction(tsr_as_float(from->y), tsr_as_float(from->height), &to->sy, &to->oy, &to->y_lo,
		  &to->y_hi);
	to->sz = minus_one ? (far - near) / 2 : far - near;
	to->oz = minus_one ? (far + near) / 2 : near;
	to->z_lo = near < far ? near : far;
	to->z_hi = near < far ? far : near;
	to->x0 = from->scissor_x0;
	to->y0 = from->scissor_y0;
	to->x1 = lesser(from->scissor_x1, bin->info.frame.width);
	to->y1 = lesser(from->scissor_y1, bin->info.frame.height);
}

/* Floating-point numbers of a viewport: qwords 0 to 2. */
static bool finite_viewport(const uint64_t *word, unsigned int qword)
{
	float lo = tsr_as_float((uint32_t)word[qword]), hi = tsr_as_float(word[qword] >> 32);

	return lo * 0 == 0 && hi * 0 == 0;
}

static enum tsr_step read_viewports(const struct tsr_binning *bin, struct tsr_bin_drawing *d,
				    struct tsr_mem *mem)
{
	for (unsigned int i = 0; i < d->state.viewport_count; i++) {
		uint64_t word[TSR_VIEWPORT__QWORDS], va = d->state.viewports + i * sizeof(word);
		enum tsr_step step = tsr_descriptor_read(mem, va, TSR_DESCRIPTOR_VIEWPORT, word);
		struct tsr_viewport viewport;

		if (step != TSR_STEP_DONE)
			return step;
		for (unsigned int q = 0; q < 3; q++) {
			if (!finite_viewport(word, q))
				return tsr_mem_bad_packet(mem, va, q, TSR_FAULT_BAD_VALUE);
		}
		tsr_unpack_viewport(word, &viewport);
		prepare_viewport(bin, &viewport, d->state.depth_minus_one, &d->viewport[i]);
	}
	return TSR_STEP_DONE;
}

static enum tsr_step read_draw(struct tsr_binning *bin, const struct tsr_bin_version *v,
			       struct tsr_mem *mem)
{
	struct tsr_bin_drawing *d = &bin->drawing[v->entry[TSR_BIN_DRAW_STATE]];
	uint64_t word[TSR_DRAW_STATE__QWORDS];
	enum tsr_step step = tsr_descriptor_read(mem, tsr_bin_va(bin, v, TSR_BIN_DRAW_STATE),
						 TSR_DESCRIPTOR_DRAW_STATE, word);

	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_draw_state(word, &d->state);
	return read_viewports(bin, d, mem);
}

/* Derives values from SHADER_STATE and DRAW_STATE. */
static void prepare(const struct tsr_binning *bin, struct tsr_bin_version *v)
{
	const struct tsr_bin_drawing *d = &bin->drawing[v->entry[TSR_BIN_DRAW_STATE]];
	const struct tsr_shader_state *shader = &bin->shading[v->entry[TSR_BIN_SHADER_STATE]];
	uint32_t depth = d->state.depth_clamp ? 0 : TSR_OUT_DEPTH;
	uint32_t clip = (uint32_t)shader->clip_distances << TSR_OUT_CLIP_SHIFT;
	uint32_t cull = (uint32_t)shader->cull_distances << TSR_OUT_CULL_SHIFT;

	v->shader = shader;
	v->geometry = shader->geometry ? &bin->geometry[v->entry[TSR_BIN_SHADER_STATE]] : NULL;
	v->draw = &d->state;
	v->viewport = d->viewport;
	v->has_distances = clip | cull;
	v->writes = shader->writes_point_size || shader->writes_layer || shader->writes_viewport;
	v->reject = (d->state.keep_outside ? 0 : TSR_OUT_FRUSTUM) | TSR_OUT_W | depth | clip | cull;
	v->clip = TSR_OUT_GUARD | TSR_OUT_W | depth | clip;
	v->line_half = tsr_screen_size(tsr_as_float(d->state.line_width)) / 2;
	v->prepared = true;
}

enum tsr_step tsr_bin_load_state(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_bin_version *v = bin->state;

	mem->unit = TSR_UNIT_BINNER;
	for (unsigned int kind = 0; kind < TSR_BIN_KINDS; kind++) {
		enum tsr_step step;

		if (is_read(bin, v, kind))
			continue;
		step = kind == TSR_BIN_SHADER_STATE ? read_shader(bin, v, mem) :
						      read_draw(bin, v, mem);
		if (step != TSR_STEP_DONE)
			return step;
		bin->pool[kind].read |= 1u << v->entry[kind];
	}
	if (!v->prepared)
		prepare(bin, v);
	return TSR_STEP_DONE;
}
