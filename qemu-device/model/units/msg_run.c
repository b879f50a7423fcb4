/* SPDX-License-Identifier: MIT */
/*
 * Which unit answers which message, and what all of them need: windows, copies, descriptors.
 */
#include "msg.h"
#include "shader/stage.h"

/* The unit of an instruction. */
struct unit {
	tsr_msg_fn *fn;			/* NULL: none in this stage */
	tsr_msg_together_fn *together;	/* NULL if there is none */
	uint16_t arg;			/* of both */
	uint8_t unit;			/* TSR_UNIT_… */
	bool fragment;			/* only fragment programs have it */
	bool numbered;			/* of stages, depends on the number of the warp */
};

#define MEMORY(fn, together, bytes) { fn, together, bytes, TSR_UNIT_LOAD_STORE, false, false }
#define LOAD(bytes) MEMORY(tsr_msg_load, tsr_msg_load_together, bytes)
#define STORE(bytes) MEMORY(tsr_msg_store, tsr_msg_store_together, bytes)
#define ATTRIBUTE(fn, together, arg) { fn, together, arg, TSR_UNIT_ATTRIBUTE, false, true }
#define STAGE(arg) { tsr_msg_stage, tsr_msg_stage_together, arg, TSR_UNIT_STAGE, false, true }
#define TEXTURE(fn, together, arg) { fn, together, arg, TSR_UNIT_TEXTURE, false, false }
#define ATOMIC(fn, arg) { fn, NULL, arg, TSR_UNIT_ATOMIC, false, false }
#define VARYING(fn, arg) { fn, NULL, arg, TSR_UNIT_VARYING, true, true }
#define TILE(fn) { fn, NULL, 0, TSR_UNIT_TILE, true, true }

static const struct unit units[TSR_OP__COUNT] = {
	[TSR_OP_ADD_LOAD_I8] = LOAD(1),
	[TSR_OP_ADD_LOAD_I16] = LOAD(2),
	[TSR_OP_ADD_LOAD_I24] = LOAD(3),
	[TSR_OP_ADD_LOAD_I32] = LOAD(4),
	[TSR_OP_ADD_LOAD_I48] = LOAD(6),
	[TSR_OP_ADD_LOAD_I64] = LOAD(8),
	[TSR_OP_ADD_LOAD_I96] = LOAD(12),
	[TSR_OP_ADD_LOAD_I128] = LOAD(16),
	[TSR_OP_ADD_STORE_I8] = STORE(1),
	[TSR_OP_ADD_STORE_I16] = STORE(2),
	[TSR_OP_ADD_STORE_I24] = STORE(3),
	[TSR_OP_ADD_STORE_I32] = STORE(4),
	[TSR_OP_ADD_STORE_I48] = STORE(6),
	[TSR_OP_ADD_STORE_I64] = STORE(8),
	[TSR_OP_ADD_STORE_I96] = STORE(12),
	[TSR_OP_ADD_STORE_I128] = STORE(16),
	[TSR_OP_ADD_ATOM_CX] = { tsr_msg_atomic, tsr_msg_atomic_together, 0, TSR_UNIT_ATOMIC,
				false, false },
	[TSR_OP_ADD_AXCHG_I32] = ATOMIC(tsr_msg_exchange, 4),
	[TSR_OP_ADD_AXCHG_I64] = ATOMIC(tsr_msg_exchange, 8),
	[TSR_OP_ADD_ACMPXCHG_I32] = ATOMIC(tsr_msg_compare, 4),
	[TSR_OP_ADD_ACMPXCHG_I64] = ATOMIC(tsr_msg_compare, 8),
	[TSR_OP_ADD_ACMPSTORE_I32] = ATOMIC(tsr_msg_compare, 4 | TSR_MSG_NO_RETURN),
	[TSR_OP_ADD_ACMPSTORE_I64] = ATOMIC(tsr_msg_compare, 8 | TSR_MSG_NO_RETURN),
	[TSR_OP_ADD_LD_ATTR] = ATTRIBUTE(tsr_msg_attribute, NULL, 0),
	[TSR_OP_ADD_LD_ATTR_IMM] =
		ATTRIBUTE(tsr_msg_attribute, tsr_msg_attribute_together, TSR_MSG_ATTR_IMM),
	[TSR_OP_ADD_LD_ATTR_TEX] =
		ATTRIBUTE(tsr_msg_attribute, tsr_msg_attribute_together, TSR_MSG_ATTR_TEX),
	[TSR_OP_ADD_LEA_ATTR] = ATTRIBUTE(tsr_msg_attribute, NULL, TSR_MSG_ATTR_LEA),
	[TSR_OP_ADD_LEA_ATTR_IMM] =
		ATTRIBUTE(tsr_msg_attribute, tsr_msg_attribute_together,
			  TSR_MSG_ATTR_LEA | TSR_MSG_ATTR_IMM),
	[TSR_OP_ADD_LEA_ATTR_TEX] =
		ATTRIBUTE(tsr_msg_attribute, tsr_msg_attribute_together,
			  TSR_MSG_ATTR_LEA | TSR_MSG_ATTR_TEX),
	[TSR_OP_ADD_LD_CVT] =
		ATTRIBUTE(tsr_msg_load_convert, tsr_msg_load_convert_together, 0),
	[TSR_OP_ADD_ST_CVT] =
		ATTRIBUTE(tsr_msg_store_convert, tsr_msg_store_convert_together, 0),
	[TSR_OP_ADD_LD_GCLK_U64] = ATTRIBUTE(tsr_msg_clock, NULL, 0),
	[TSR_OP_ADD_ALD] = STAGE(TSR_MSG_STAGE_LOAD),
	[TSR_OP_ADD_AST] = STAGE(TSR_MSG_STAGE_STORE),
	[TSR_OP_ADD_AL2P] = STAGE(TSR_MSG_STAGE_INDEX),
	[TSR_OP_ADD_EMIT] = STAGE(TSR_MSG_STAGE_EMIT),
	[TSR_OP_ADD_RESTART] = STAGE(TSR_MSG_STAGE_RESTART),
	[TSR_OP_ADD_LEA_TEX] = TEXTURE(tsr_msg_lea_texel, NULL, 0),
	[TSR_OP_ADD_LEA_TEX_IMM] = TEXTURE(tsr_msg_lea_texel, NULL, 1),
	[TSR_OP_ADD_LD_VAR] = VARYING(tsr_msg_varying, 0),
	[TSR_OP_ADD_LD_VAR_IMM] = { tsr_msg_varying, tsr_msg_varying_together, TSR_MSG_VAR_IMM,
				    TSR_UNIT_VARYING, true, true },
	[TSR_OP_ADD_LD_VAR_FLAT] = VARYING(tsr_msg_varying, TSR_MSG_VAR_FLAT),
	[TSR_OP_ADD_LD_VAR_FLAT_IMM] = {
		tsr_msg_varying, tsr_msg_varying_flat_together,
		TSR_MSG_VAR_FLAT | TSR_MSG_VAR_IMM, TSR_UNIT_VARYING, true, true
	},
	[TSR_OP_ADD_LD_VAR_SPECIAL] = VARYING(tsr_msg_varying_special, 0),
	[TSR_OP_ADD_VAR_TEX_F32] = { tsr_msg_var_tex, tsr_msg_var_tex_together, 0,
				    TSR_UNIT_VARYING, true, true },
	[TSR_OP_ADD_VAR_TEX_F16] = { tsr_msg_var_tex, tsr_msg_var_tex_together, 1,
				    TSR_UNIT_VARYING, true, true },
	[TSR_OP_ADD_ATEST] = { tsr_msg_atest, tsr_msg_atest_together, 0, TSR_UNIT_TILE, true,
			       true },
	[TSR_OP_ADD_ZS_EMIT] = TILE(tsr_msg_zs_emit),
	[TSR_OP_ADD_BLEND] = { tsr_msg_blend, tsr_msg_blend_together, 0, TSR_UNIT_TILE, true,
			       true },
	[TSR_OP_ADD_LD_TILE] = TILE(tsr_msg_load_tile),
	[TSR_OP_ADD_ST_TILE] = TILE(tsr_msg_store_tile),
	[TSR_OP_ADD_TEXC] = TEXTURE(tsr_msg_texture, tsr_msg_texture_together, 0),
	[TSR_OP_ADD_TEXS_2D_F32] =
		TEXTURE(tsr_msg_texture_compact, tsr_msg_texture_compact_together, 0),
	[TSR_OP_ADD_TEXS_2D_F16] =
		TEXTURE(tsr_msg_texture_compact, tsr_msg_texture_compact_together, 0),
	[TSR_OP_ADD_TEXS_CUBE_F32] =
		TEXTURE(tsr_msg_texture_compact, tsr_msg_texture_compact_together, 1),
	[TSR_OP_ADD_TEXS_CUBE_F16] =
		TEXTURE(tsr_msg_texture_compact, tsr_msg_texture_compact_together, 1),
};

/* By the unit's own function, for the lanes of one warp. */
static enum tsr_step run_apart(struct tsr_msg_env *env, struct tsr_msg *msg)
{
	const struct unit *unit = &units[msg->insn->op];
	uint64_t read = env->cost.read_bytes, written = env->cost.write_bytes;
	uint8_t before = env->mem->unit;
	enum tsr_step step;

	env->cost.tried++;
	if (!unit->fn || (unit->fragment && !env->fragments)) {
		msg->fault_lane = msg->lanes ? __builtin_ctz(msg->lanes) : 0;
		return tsr_msg_fault(env, TSR_FAULT_SHADER_UNSUPPORTED, 0, TSR_ACCESS_NONE);
	}
	env->mem->unit = unit->unit;
	env->mem->thread->path[TSR_PATH_MESSAGES]++;
	tsr_access_reserve(env->access, env->mem);
	step = unit->fn(env, msg, unit->arg);
	env->mem->unit = before;
	env->cost.cycles += (env->cost.read_bytes - read + 63) / 64 +
			    (env->cost.write_bytes - written + 63) / 64;
	env->cost.done += step == TSR_STEP_DONE;
	return step;
}

/* The first of @b->warp[@at] … that is not done. */
static unsigned int run_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				 unsigned int at)
{
	const struct unit *unit = &units[b->insn->op];
	unsigned int end;

	if (!unit->together || !env->path || (unit->fragment && !env->fragments))
		return at;
	tsr_access_reserve(env->access, env->mem);
	end = unit->together(env, b, at, unit->arg);
	env->cost.done += end - at;
	env->cost.tried += end - at;
	env->mem->thread->path[TSR_PATH_MESSAGES_TOGETHER] += end - at;
	return end;
}

enum tsr_step tsr_msg_run(struct tsr_msg_env *env, struct tsr_msg *msg)
{
	static const uint8_t warp;
	const struct tsr_msg_place place = { env->group_memory, env->scratch };
	bool numbered = units[msg->insn->op].numbered && (env->vertices || env->fragments);
	const struct tsr_msg_bundle b = {
		.insn = msg->insn, .pair_insn = msg->pair_insn,
		.src = { msg->src[0], msg->src[1], msg->src[2] },
		.pair = { msg->pair[0], msg->pair[1], msg->pair[2] },
		.reg = msg->reg, .staging = msg->staging,
		.warps = 1, .warp = &warp, .lanes = &msg->lanes, .place = &place,
	};

	/* the number of the warp is unknown to @b */
	if (!msg->lanes || numbered || !run_together(env, &b, 0))
		return run_apart(env, msg);
	msg->lanes = 0;
	return TSR_STEP_DONE;
}

/* Runs the message of warp @w of @b alone. */
static enum tsr_step run_warp(struct tsr_msg_env *env, struct tsr_msg_bundle *b, unsigned int w)
{
	struct tsr_msg msg = {
		.insn = b->insn, .pair_insn = b->pair_insn, .reg = &b->reg[w],
		.staging = b->staging, .result = b->result, .lanes = b->lanes[w],
	};
	enum tsr_step step;

	for (unsigned int i = 0; i < 3; i++) {
		msg.src[i] = b->src[i] + w * b->src_step[i];
		msg.pair[i] = b->pair[i] + w * b->pair_step[i];
	}
	env->group_memory = b->place[w].group_memory;
	env->scratch = b->place[w].scratch;
	env->warp = w;
	step = run_apart(env, &msg);
	b->left = msg.lanes;
	b->fault_lane = msg.fault_lane;
	return step;
}

enum tsr_step tsr_msg_run_bundle(struct tsr_msg_env *env, struct tsr_msg_bundle *b,
				 unsigned int *at)
{
	for (;;) {
		enum tsr_step step;

		*at = run_together(env, b, *at);
		if (*at == b->warps)
			return TSR_STEP_DONE;
		step = run_warp(env, b, b->warp[*at]);
		if (step != TSR_STEP_DONE)
			return step;
		if (++*at == b->warps)
			return TSR_STEP_DONE;
	}
}

/* An access of @len bytes at byte @at of a window of @size bytes that begins at @window. */
static enum tsr_step in_window(struct tsr_msg_env *env, uint64_t window, uint64_t at,
			       unsigned int len, uint64_t size, unsigned int access)
{
	if (at <= size && len <= size - at)
		return TSR_STEP_DONE;
	return tsr_msg_fault(env, TSR_FAULT_SHADER_BOUNDS, window + at, access);
}

enum tsr_step tsr_msg_place(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
			    unsigned int len, unsigned int access, struct tsr_place *place)
{
	uint64_t scratch = env->state->scratch_size;
	enum tsr_step step;

	*place = (struct tsr_place){ .va = va };
	switch (va >> TSR_WINDOW_SHIFT) {
	case 0:
		return TSR_STEP_DONE;
	case TSR_WINDOW_GROUP >> TSR_WINDOW_SHIFT:
		va -= TSR_WINDOW_GROUP;
		step = in_window(env, TSR_WINDOW_GROUP, va, len, env->state->group_memory, access);
		if (step == TSR_STEP_DONE)
			place->host = env->group_memory + va;
		return step;
	case TSR_WINDOW_SCRATCH >> TSR_WINDOW_SHIFT:
		va -= TSR_WINDOW_SCRATCH;
		place->va = env->scratch + lane * scratch + va;
		return in_window(env, TSR_WINDOW_SCRATCH, va, len, scratch, access);
	case TSR_WINDOW_OUTPUT >> TSR_WINDOW_SHIFT:
		if (env->stage != TSR_STAGE_POSITION)
			return tsr_msg_fault(env, TSR_FAULT_MMU_UNMAPPED, va, access);
		va -= TSR_WINDOW_OUTPUT;
		step = in_window(env, TSR_WINDOW_OUTPUT, va, len, tsr_vertex_window(env->vertices),
				 access);
		if (step == TSR_STEP_DONE)
			place->host = (uint8_t *)tsr_vertex_records(env->vertices) + va;
		return step;
	case TSR_WINDOW_VOID >> TSR_WINDOW_SHIFT:
		place->nowhere = true;
		return TSR_STEP_DONE;
	default:
		return tsr_msg_fault(env, TSR_FAULT_MMU_UNMAPPED, va, access);
	}
}

enum tsr_step tsr_msg_read(struct tsr_msg_env *env, unsigned int lane, uint64_t va, void *to,
			   unsigned int len)
{
	struct tsr_place place;
	enum tsr_step step;

	if (tsr_stage_in_window(env, va))
		return tsr_stage_window_read(env, lane, va, to, len);
	step = tsr_msg_place(env, lane, va, len, TSR_ACCESS_READ, &place);
	if (step != TSR_STEP_DONE)
		return step;
	if (place.nowhere)
		memset(to, 0, len);
	else if (place.host)
		memcpy(to, place.host, len);
	else
		return tsr_access_read(env->access, env->mem, place.va, to, len);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_msg_write(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
			    const void *from, unsigned int len)
{
	struct tsr_place place;
	enum tsr_step step;

	if (tsr_stage_in_window(env, va))
		return tsr_stage_window_write(env, lane, va, from, len);
	step = tsr_msg_place(env, lane, va, len, TSR_ACCESS_WRITE, &place);
	if (step != TSR_STEP_DONE || place.nowhere)
		return step;
	if (place.host)
		memcpy(place.host, from, len);
	else
		return tsr_access_write(env->access, env->mem, place.va, from, len);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_msg_descriptor(struct tsr_msg_env *env, uint64_t va, uint64_t *qword,
				 unsigned int qwords)
{
	uint8_t *page = tsr_access_find(env->access, env->access->read, va);
	unsigned int offset = va % TSR_ACCESS_PAGE_BYTES;
	unsigned int len = qwords * sizeof(uint64_t);

	if (!page || offset + len > TSR_ACCESS_PAGE_BYTES)
		return tsr_access_read(env->access, env->mem, va, qword, len);
	memcpy(qword, page + offset, len);
	return TSR_STEP_DONE;
}
