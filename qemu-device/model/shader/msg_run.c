/* SPDX-License-Identifier: MIT */
/*
 * Which unit answers which message, and what all of them need: windows, copies, descriptors.
 */
#include "msg.h"

/* The unit of an instruction. */
struct unit {
	tsr_msg_fn *fn;			/* NULL: none in this stage */
	uint16_t arg;			/* of fn */
	uint8_t unit;			/* TSR_UNIT_… */
};

#define LOAD(bytes) { tsr_msg_load, bytes, TSR_UNIT_LOAD_STORE }
#define STORE(bytes) { tsr_msg_store, bytes, TSR_UNIT_LOAD_STORE }
#define ATTRIBUTE(fn, arg) { fn, arg, TSR_UNIT_ATTRIBUTE }
#define TEXTURE(fn, arg) { fn, arg, TSR_UNIT_TEXTURE }
#define ATOMIC(fn, arg) { fn, arg, TSR_UNIT_ATOMIC }

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
	[TSR_OP_ADD_ATOM_CX] = ATOMIC(tsr_msg_atomic, 0),
	[TSR_OP_ADD_AXCHG_I32] = ATOMIC(tsr_msg_exchange, 4),
	[TSR_OP_ADD_AXCHG_I64] = ATOMIC(tsr_msg_exchange, 8),
	[TSR_OP_ADD_ACMPXCHG_I32] = ATOMIC(tsr_msg_compare, 4),
	[TSR_OP_ADD_ACMPXCHG_I64] = ATOMIC(tsr_msg_compare, 8),
	[TSR_OP_ADD_ACMPSTORE_I32] = ATOMIC(tsr_msg_compare, 4 | TSR_MSG_NO_RETURN),
	[TSR_OP_ADD_ACMPSTORE_I64] = ATOMIC(tsr_msg_compare, 8 | TSR_MSG_NO_RETURN),
	[TSR_OP_ADD_LD_ATTR] = ATTRIBUTE(tsr_msg_attribute, 0),
	[TSR_OP_ADD_LD_ATTR_IMM] = ATTRIBUTE(tsr_msg_attribute, TSR_MSG_ATTR_IMM),
	[TSR_OP_ADD_LD_ATTR_TEX] = ATTRIBUTE(tsr_msg_attribute, TSR_MSG_ATTR_TEX),
	[TSR_OP_ADD_LEA_ATTR] = ATTRIBUTE(tsr_msg_attribute, TSR_MSG_ATTR_LEA),
	[TSR_OP_ADD_LEA_ATTR_IMM] =
		ATTRIBUTE(tsr_msg_attribute, TSR_MSG_ATTR_LEA | TSR_MSG_ATTR_IMM),
	[TSR_OP_ADD_LEA_ATTR_TEX] =
		ATTRIBUTE(tsr_msg_attribute, TSR_MSG_ATTR_LEA | TSR_MSG_ATTR_TEX),
	[TSR_OP_ADD_LD_CVT] = ATTRIBUTE(tsr_msg_load_convert, 0),
	[TSR_OP_ADD_ST_CVT] = ATTRIBUTE(tsr_msg_store_convert, 0),
	[TSR_OP_ADD_LD_GCLK_U64] = ATTRIBUTE(tsr_msg_clock, 0),
	[TSR_OP_ADD_LEA_TEX] = TEXTURE(tsr_msg_lea_texel, 0),
	[TSR_OP_ADD_LEA_TEX_IMM] = TEXTURE(tsr_msg_lea_texel, 1),
	[TSR_OP_ADD_TEXC] = TEXTURE(tsr_msg_texture, 0),
	[TSR_OP_ADD_TEXS_2D_F32] = TEXTURE(tsr_msg_texture_compact, 0),
	[TSR_OP_ADD_TEXS_2D_F16] = TEXTURE(tsr_msg_texture_compact, 0),
	[TSR_OP_ADD_TEXS_CUBE_F32] = TEXTURE(tsr_msg_texture_compact, 1),
	[TSR_OP_ADD_TEXS_CUBE_F16] = TEXTURE(tsr_msg_texture_compact, 1),
};

enum tsr_step tsr_msg_run(struct tsr_msg_env *env, struct tsr_msg *msg)
{
	const struct unit *unit = &units[msg->insn->op];
	uint8_t before = env->mem->unit;
	enum tsr_step step;

	if (!unit->fn) {
		msg->fault_lane = msg->lanes ? __builtin_ctz(msg->lanes) : 0;
		return tsr_msg_fault(env, TSR_FAULT_SHADER_UNSUPPORTED, 0, TSR_ACCESS_NONE);
	}
	env->mem->unit = unit->unit;
	tsr_access_room(env->access, env->mem);
	step = unit->fn(env, msg, unit->arg);
	env->mem->unit = before;
	return step;
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
	enum tsr_step step = tsr_msg_place(env, lane, va, len, TSR_ACCESS_READ, &place);

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
	enum tsr_step step = tsr_msg_place(env, lane, va, len, TSR_ACCESS_WRITE, &place);

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
