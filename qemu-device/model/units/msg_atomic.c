/* SPDX-License-Identifier: MIT */
/*
 * Atomic unit: ATOM_CX with the operation of the tuple's FMA instruction, AXCHG, ACMPXCHG and
 * ACMPSTORE, of 32 and 64 bits.
 *
 * In device memory an operation is one atomic operation of the host, so it is atomic towards every
 * queue, whichever thread runs it. Lanes that address the same word are combined: the host does one
 * operation for all, and what each lane returns is computed as if they had come one after the other
 * in ascending order. Shared memory belongs to a core, which one thread runs, so plain accesses
 * suffice.
 */
#include "msg_bundle.h"

/* An operation on the words of all lanes. */
struct operation {
	uint8_t op;			/* enum tsr_atom_opc, of those that take an operand */
	bool wide;			/* 64 bits */
	bool returns;			/* the old value is wanted */
	bool constant;			/* the operand is @operand, else in staging registers */
	uint8_t extend;			/* how a 32-bit operand becomes one of 64: TSR_EXTEND_… */
	uint64_t operand;
};

/* The operation an ATOM_C instruction names; false: none. */
static bool decode(const struct tsr_insn *insn, struct operation *o)
{
	*o = (struct operation){ .op = insn->mod[TSR_MOD_ATOM_OPC] };
	switch (insn->op) {
	case TSR_OP_FMA_ATOM_C_RETURN_I64:
	case TSR_OP_FMA_ATOM_C1_RETURN_I64:
		o->wide = true;
		/* fall through */
	case TSR_OP_FMA_ATOM_C_RETURN_I32:
	case TSR_OP_FMA_ATOM_C1_RETURN_I32:
		o->returns = true;
		break;
	case TSR_OP_FMA_ATOM_C_I64:
	case TSR_OP_FMA_ATOM_C1_I64:
		o->wide = true;
		break;
	case TSR_OP_FMA_ATOM_C_I32:
	case TSR_OP_FMA_ATOM_C1_I32:
		break;
	default:
		return false;
	}
	switch (o->op) {
	case TSR_ATOM_OPC_AADDU:
		o->op = TSR_ATOM_OPC_AADD;
		o->extend = TSR_EXTEND_ZEXT;
		return true;
	case TSR_ATOM_OPC_AADDS:
		o->op = TSR_ATOM_OPC_AADD;
		o->extend = TSR_EXTEND_SEXT;
		return true;
	case TSR_ATOM_OPC_AINC:
		o->op = TSR_ATOM_OPC_AADD;
		break;
	case TSR_ATOM_OPC_ADEC:
		o->op = TSR_ATOM_OPC_AADD;
		o->operand = -1;
		o->constant = true;
		return true;
	case TSR_ATOM_OPC_AUMAX1:
		o->op = TSR_ATOM_OPC_AUMAX;
		break;
	case TSR_ATOM_OPC_ASMAX1:
		o->op = TSR_ATOM_OPC_ASMAX;
		break;
	case TSR_ATOM_OPC_AOR1:
		o->op = TSR_ATOM_OPC_AOR;
		break;
	default:
		return true;
	}
	o->operand = 1;
	o->constant = true;
	return true;
}

static uint64_t apply(const struct operation *o, uint64_t a, uint64_t b)
{
	/* 32-bit operands in the upper half compare as 64-bit ones */
	unsigned int up = o->wide ? 0 : 32;
	uint64_t ua = a << up, ub = b << up;

	switch (o->op) {
	case TSR_ATOM_OPC_AADD:
		return a + b;
	case TSR_ATOM_OPC_ASMIN:
		return (int64_t)ua < (int64_t)ub ? a : b;
	case TSR_ATOM_OPC_ASMAX:
		return (int64_t)ua > (int64_t)ub ? a : b;
	case TSR_ATOM_OPC_AUMIN:
		return ua < ub ? a : b;
	case TSR_ATOM_OPC_AUMAX:
		return ua > ub ? a : b;
	case TSR_ATOM_OPC_AAND:
		return a & b;
	case TSR_ATOM_OPC_AOR:
		return a | b;
	default:	/* AXOR */
		return a ^ b;
	}
}

/* The operand that leaves every value unchanged. */
static uint64_t identity(const struct operation *o)
{
	uint64_t sign = o->wide ? 1ull << 63 : 1ull << 31;

	switch (o->op) {
	case TSR_ATOM_OPC_ASMIN:
		return sign - 1;
	case TSR_ATOM_OPC_ASMAX:
		return sign;
	case TSR_ATOM_OPC_AUMIN:
	case TSR_ATOM_OPC_AAND:
		return UINT64_MAX;
	default:
		return 0;
	}
}

static uint64_t read_word(const void *word, bool wide)
{
	return wide ? __atomic_load_n((const uint64_t *)word, __ATOMIC_RELAXED)
		    : __atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED);
}

static void write_word(void *word, bool wide, uint64_t value)
{
	if (wide)
		__atomic_store_n((uint64_t *)word, value, __ATOMIC_RELAXED);
	else
		__atomic_store_n((uint32_t *)word, value, __ATOMIC_RELAXED);
}

/* Exchange if the word is *@old; else false, and *@old is the word. */
static bool compare_word(void *word, bool wide, uint64_t *old, uint64_t value)
{
	uint32_t narrow = *old;
	bool done;

	if (wide)
		return __atomic_compare_exchange_n((uint64_t *)word, old, value, false,
						   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	done = __atomic_compare_exchange_n((uint32_t *)word, &narrow, (uint32_t)value, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	*old = narrow;
	return done;
}

/* Do the operation; returns the old value. */
static uint64_t update(const struct operation *o, void *word, bool shared, uint64_t value)
{
	uint64_t old;

	if (!shared) {
		old = read_word(word, o->wide);
		write_word(word, o->wide, apply(o, old, value));
		return old;
	}
	if (o->op == TSR_ATOM_OPC_AADD) {
		return o->wide ? __atomic_fetch_add((uint64_t *)word, value, __ATOMIC_ACQ_REL)
			       : __atomic_fetch_add((uint32_t *)word, (uint32_t)value,
						    __ATOMIC_ACQ_REL);
	}
	old = read_word(word, o->wide);
	while (!compare_word(word, o->wide, &old, apply(o, old, value)))
		;
	return old;
}

/* The word of a lane. */
struct word {
	void *ptr;			/* NULL: nowhere; reads 0 */
	bool shared;			/* other threads may access it too */
};

static enum tsr_step find_word(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
			       unsigned int bytes, struct word *word)
{
	struct tsr_place place;
	enum tsr_step step;

	if (va % bytes)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, va, TSR_ACCESS_WRITE);
	step = tsr_msg_place(env, lane, va, bytes, TSR_ACCESS_WRITE, &place);
	if (step != TSR_STEP_DONE)
		return step;
	word->ptr = place.host;
	word->shared = !place.host;
	if (!place.host && !place.nowhere)
		step = tsr_access_word(env->access, env->mem, place.va, bytes, &word->ptr);
	if (step == TSR_STEP_DONE) {
		env->cost.read_bytes += bytes;
		env->cost.write_bytes += bytes;
	}
	return step;
}

/* Value of 32 or 64 bits in staging registers from @n on, and back. */
static uint64_t get(const struct tsr_msg *msg, unsigned int lane, unsigned int n, bool wide)
{
	uint64_t value = tsr_msg_staging(msg, n)->u[lane];

	if (wide)
		value |= (uint64_t)tsr_msg_staging(msg, n + 1)->u[lane] << 32;
	return value;
}

static void put(const struct tsr_msg *msg, unsigned int lane, unsigned int n, bool wide,
		uint64_t value)
{
	tsr_msg_staging(msg, n)->u[lane] = value;
	if (wide)
		tsr_msg_staging(msg, n + 1)->u[lane] = value >> 32;
}

static uint64_t operand(const struct operation *o, const struct tsr_msg *msg, unsigned int lane)
{
	uint64_t value;

	if (o->constant)
		return o->operand;
	value = get(msg, lane, 0, o->wide && !o->extend);
	return o->extend == TSR_EXTEND_SEXT ? (uint64_t)(int32_t)value : value;
}

/* {old, identity} for ATOM_POST, which combines the two. */
static void give(const struct operation *o, const struct tsr_msg *msg, unsigned int lane,
		 uint64_t old)
{
	if (!o->returns)
		return;
	put(msg, lane, 0, o->wide, old);
	put(msg, lane, o->wide ? 2 : 1, o->wide, identity(o));
}

static uint64_t pair_address(const struct tsr_msg *msg, unsigned int lane)
{
	return msg->pair[0]->u[lane] | (uint64_t)msg->pair[1]->u[lane] << 32;
}

static enum tsr_step atomic_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				 const void *arg)
{
	const struct operation *o = arg;
	struct word word;
	enum tsr_step step = find_word(env, lane, pair_address(msg, lane), o->wide ? 8 : 4, &word);

	if (step != TSR_STEP_DONE)
		return step;
	give(o, msg, lane,
	     word.ptr ? update(o, word.ptr, word.shared, operand(o, msg, lane)) : 0);
	return TSR_STEP_DONE;
}

/* True if all lanes to do, more than one, address the same word outside the scratch window. */
static bool same_word(const struct tsr_msg *msg)
{
	unsigned int lanes = msg->lanes;
	uint64_t va = pair_address(msg, __builtin_ctz(lanes));

	if (va >> TSR_WINDOW_SHIFT == TSR_WINDOW_SCRATCH >> TSR_WINDOW_SHIFT ||
	    !(lanes & (lanes - 1)))
		return false;
	/* the last one first: where lanes differ, these mostly do */
	if (pair_address(msg, 31 - __builtin_clz(lanes)) != va)
		return false;
	for (; lanes; lanes &= lanes - 1) {
		if (pair_address(msg, __builtin_ctz(lanes)) != va)
			return false;
	}
	return true;
}

/* All lanes on one word. */
static enum tsr_step atomic_combined(struct tsr_msg_env *env, struct tsr_msg *msg,
				     const struct operation *o)
{
	unsigned int first = __builtin_ctz(msg->lanes);
	uint64_t before[TSR_WARP_LANES];
	uint64_t sum = identity(o);
	struct word word;
	uint64_t old;
	enum tsr_step step = find_word(env, first, pair_address(msg, first), o->wide ? 8 : 4,
				       &word);

	if (step != TSR_STEP_DONE) {
		msg->fault_lane = first;
		return step;
	}
	for (unsigned int lanes = msg->lanes; lanes; lanes &= lanes - 1) {
		unsigned int lane = __builtin_ctz(lanes);

		before[lane] = sum;
		sum = apply(o, sum, operand(o, msg, lane));
	}
	old = word.ptr ? update(o, word.ptr, word.shared, sum) : 0;
	for (; msg->lanes; msg->lanes &= msg->lanes - 1) {
		unsigned int lane = __builtin_ctz(msg->lanes);

		give(o, msg, lane, word.ptr ? apply(o, old, before[lane]) : 0);
	}
	return TSR_STEP_DONE;
}

enum tsr_step tsr_msg_atomic(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	struct operation o;

	(void)arg;
	if (!msg->pair_insn || !decode(msg->pair_insn, &o)) {
		msg->fault_lane = __builtin_ctz(msg->lanes | 1u << TSR_WARP_LANES) % TSR_WARP_LANES;
		env->mem->unit = TSR_UNIT_SHADER;
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ENCODING, 0, TSR_ACCESS_NONE);
	}
	if (msg->lanes && same_word(msg))
		return atomic_combined(env, msg, &o);
	return tsr_msg_each(env, msg, atomic_lane, &o);
}

/* Lanes whose words are all at hand. */
static bool atomic_resolved(struct tsr_msg_env *env, const struct tsr_msg *msg,
			    const struct tsr_msg_place *place, const struct operation *o)
{
	const struct tsr_msg_access a = {
		.lo = msg->pair[0], .hi = msg->pair[1], .seg = TSR_SEG_NONE,
		.bytes = o->wide ? 8 : 4, .align = o->wide ? 8 : 4, .read = true, .write = true,
	};
	uint64_t bytes = (uint64_t)tsr_lanes_count(msg->lanes) * a.bytes;
	uint8_t *host[TSR_WARP_LANES];

	if (!tsr_msg_resolve(env, &a, place, msg->lanes, host))
		return false;
	for (unsigned int lanes = msg->lanes; lanes; lanes &= lanes - 1) {
		unsigned int lane = __builtin_ctz(lanes);
		bool shared = (uintptr_t)host[lane] - (uintptr_t)place->group_memory >=
			      env->state->group_memory;

		give(o, msg, lane, update(o, host[lane], shared, operand(o, msg, lane)));
	}
	tsr_msg_charge(&env->cost, bytes, bytes);
	return true;
}

unsigned int tsr_msg_atomic_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				     unsigned int first, unsigned int arg)
{
	struct operation o;
	unsigned int i;

	(void)arg;
	if (!b->pair_insn || !decode(b->pair_insn, &o))
		return first;
	if (!o.wide && o.op == TSR_ATOM_OPC_AADD) {
		const struct tsr_msg_add add = { o.constant, o.returns, (uint32_t)o.operand };

		return env->path->add(env, b, first, &add);
	}
	for (i = first; i < b->warps; i++) {
		unsigned int w = b->warp[i];
		struct tsr_msg msg = {
			.pair = { b->pair[0] + w * b->pair_step[0],
				  b->pair[1] + w * b->pair_step[1] },
			.reg = &b->reg[w], .staging = b->staging, .lanes = b->lanes[w],
		};

		/* lanes with one address are combined */
		if (same_word(&msg) || !atomic_resolved(env, &msg, &b->place[w], &o))
			break;
	}
	return i;
}

/* ---- AXCHG, ACMPXCHG, ACMPSTORE -------------------------------------------------------------- */

static uint64_t exchange_address(const struct tsr_msg *msg, unsigned int lane)
{
	if (msg->insn->mod[TSR_MOD_SEG] == TSR_SEG_WLS)
		return TSR_WINDOW_GROUP + msg->src[0]->u[lane];
	return tsr_msg_address(msg, lane);
}

static enum tsr_step exchange_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				   const void *arg)
{
	bool wide = *(const uint16_t *)arg == 8;
	uint64_t value = get(msg, lane, 0, wide);
	uint64_t old = 0;
	struct word word;
	enum tsr_step step = find_word(env, lane, exchange_address(msg, lane), wide ? 8 : 4, &word);

	if (step != TSR_STEP_DONE)
		return step;
	if (word.ptr) {
		old = read_word(word.ptr, wide);
		if (!word.shared)
			write_word(word.ptr, wide, value);
		while (word.shared && !compare_word(word.ptr, wide, &old, value))
			;
	}
	put(msg, lane, 0, wide, old);
	return TSR_STEP_DONE;
}

static enum tsr_step compare_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				  const void *arg)
{
	unsigned int flags = *(const uint16_t *)arg;
	bool wide = (flags & ~TSR_MSG_NO_RETURN) == 8;
	uint64_t value = get(msg, lane, 0, wide);
	uint64_t old = get(msg, lane, wide ? 2 : 1, wide);
	struct word word;
	enum tsr_step step = find_word(env, lane, exchange_address(msg, lane), wide ? 8 : 4, &word);

	if (step != TSR_STEP_DONE)
		return step;
	if (word.ptr)
		compare_word(word.ptr, wide, &old, value);
	else
		old = 0;
	if (!(flags & TSR_MSG_NO_RETURN))
		put(msg, lane, 0, wide, old);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_msg_exchange(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	uint16_t flags = arg;

	return tsr_msg_each(env, msg, exchange_lane, &flags);
}

enum tsr_step tsr_msg_compare(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	uint16_t flags = arg;

	return tsr_msg_each(env, msg, compare_lane, &flags);
}
