/* SPDX-License-Identifier: MIT */
/*
 * States of draws: kept in versions, read when the first draw that uses them begins.
 */
#include "bin.h"

#include "../descriptor.h"
#include "../float_bits.h"
#include "../gpu.h"

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

static enum tsr_step set_query(struct tsr_binning *bin, struct tsr_mem *mem,
			       struct tsr_bin_version *version)
{
	struct tsr_list_query query;

	tsr_unpack_list_query(bin->list.word, &query);
	if (query.kind > TSR_QUERY_STATISTICS)
		return tsr_list_fault(&bin->list, mem, 0, TSR_FAULT_BAD_VALUE);
	if (query.addr % 8)
		return tsr_list_fault(&bin->list, mem, 1, TSR_FAULT_ALIGNMENT);
	version->query[query.kind] = query.addr;
	return TSR_STEP_DONE;
}

void tsr_bin_look_ahead(const struct tsr_binning *bin, const struct tsr_mem *mem)
{
	const uint64_t *state = NULL, *program = NULL;

	for (unsigned int i = 1; i <= 2 && i < bin->ahead_count; i++) {
		const struct tsr_bin_ahead *a =
			&bin->ahead[(bin->ahead_first + i) % TSR_BIN_AHEAD];
		const struct tsr_bin_version *v = &bin->version[a->version];

		if (v->shader_read)
			continue;
		state = tsr_mem_call_for(mem, v->shader_va, TSR_SHADER_STATE__QWORDS);
		if (state)
			program = tsr_mem_call_for(mem, state[TSR_SHADER_STATE_POSITION__QWORD],
						   TSR_SHADER_PROGRAM__QWORDS);
		/* that of the one after the next has only just been asked for */
		if (state && program && i == 1)
			tsr_mem_call_for(mem, program[TSR_SHADER_PROGRAM_PUSH__QWORD], 1);
	}
}

enum tsr_step tsr_bin_set_state(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_bin_version *version = writable(bin);
	uint64_t addr = bin->list.word[1];

	if (!version)
		return TSR_STEP_PENDING;
	if (tsr_packet_opcode(bin->list.word[0]) == TSR_OP_LIST_QUERY)
		return set_query(bin, mem, version);
	if (addr % 64)
		return tsr_list_fault(&bin->list, mem, 1, TSR_FAULT_ALIGNMENT);
	if (tsr_packet_opcode(bin->list.word[0]) == TSR_OP_LIST_SHADER_STATE) {
		version->shader_read &= version->shader_va == addr;
		version->shader_va = addr;
		tsr_mem_call_for(mem, addr, TSR_SHADER_STATE__QWORDS);
		version->shader_set = true;
	} else {
		version->draw_read &= version->draw_va == addr;
		version->draw_va = addr;
		version->draw_set = true;
	}
	return TSR_STEP_DONE;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static enum tsr_step read_shader(struct tsr_bin_version *v, struct tsr_mem *mem)
{
	uint64_t word[TSR_SHADER_STATE__QWORDS];
	enum tsr_step step = tsr_descriptor_read(mem, v->shader_va, TSR_DESCRIPTOR_SHADER_STATE,
						 word);

	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_shader_state(word, &v->shader);
	if (v->shader.clip_distances & v->shader.cull_distances)
		return tsr_mem_bad_packet(mem, v->shader_va,
					  TSR_SHADER_STATE_CLIP_DISTANCES__QWORD,
					  TSR_FAULT_BAD_VALUE);
	if (!v->shader.extended) {
		v->shader.writes_point_size = false;
		v->shader.writes_layer = false;
		v->shader.writes_viewport = false;
		v->shader.clip_distances = 0;
		v->shader.cull_distances = 0;
	}
	v->shader_read = true;
	return TSR_STEP_DONE;
}

static int32_t lesser(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

/* What the arithmetic of one direction needs: centre and half the length of [at, at + length]. */
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

static enum tsr_step read_viewports(const struct tsr_binning *bin, struct tsr_bin_version *v,
				    struct tsr_mem *mem)
{
	for (unsigned int i = 0; i < v->draw.viewport_count; i++) {
		uint64_t word[TSR_VIEWPORT__QWORDS], va = v->draw.viewports + i * sizeof(word);
		enum tsr_step step = tsr_descriptor_read(mem, va, TSR_DESCRIPTOR_VIEWPORT, word);
		struct tsr_viewport viewport;

		if (step != TSR_STEP_DONE)
			return step;
		for (unsigned int q = 0; q < 3; q++) {
			if (!finite_viewport(word, q))
				return tsr_mem_bad_packet(mem, va, q, TSR_FAULT_BAD_VALUE);
		}
		tsr_unpack_viewport(word, &viewport);
		prepare_viewport(bin, &viewport, v->draw.depth_minus_one, &v->viewport[i]);
	}
	return TSR_STEP_DONE;
}

static enum tsr_step read_draw(const struct tsr_binning *bin, struct tsr_bin_version *v,
			       struct tsr_mem *mem)
{
	uint64_t word[TSR_DRAW_STATE__QWORDS];
	enum tsr_step step = tsr_descriptor_read(mem, v->draw_va, TSR_DESCRIPTOR_DRAW_STATE, word);

	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_draw_state(word, &v->draw);
	step = read_viewports(bin, v, mem);
	v->draw_read = step == TSR_STEP_DONE;
	return step;
}

/* What follows from both. */
static void prepare(struct tsr_bin_version *v)
{
	uint32_t depth = v->draw.depth_clamp ? 0 : TSR_OUT_DEPTH;
	uint32_t clip = (uint32_t)v->shader.clip_distances << TSR_OUT_CLIP_SHIFT;
	uint32_t cull = (uint32_t)v->shader.cull_distances << TSR_OUT_CULL_SHIFT;

	v->has_distances = clip | cull;
	v->writes = v->shader.writes_point_size || v->shader.writes_layer ||
		    v->shader.writes_viewport;
	v->reject = TSR_OUT_FRUSTUM | TSR_OUT_W | depth | clip | cull;
	v->clip = TSR_OUT_GUARD | TSR_OUT_W | depth | clip;
	v->line_half = tsr_screen_size(tsr_as_float(v->draw.line_width)) / 2;
}

enum tsr_step tsr_bin_load_state(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_bin_version *v = bin->state;
	bool fresh = !v->shader_read || !v->draw_read;
	enum tsr_step step = TSR_STEP_DONE;

	mem->unit = TSR_UNIT_BINNER;
	if (!v->shader_read)
		step = read_shader(v, mem);
	if (step == TSR_STEP_DONE && !v->draw_read)
		step = read_draw(bin, v, mem);
	if (step == TSR_STEP_DONE && fresh)
		prepare(v);
	return step;
}
