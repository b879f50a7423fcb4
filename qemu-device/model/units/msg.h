/* SPDX-License-Identifier: MIT */
/*
 * Shared code of the units that answer messages (msg_*.c): addresses of lanes, staging registers,
 * faults.
 *
 * In: a message with pending lanes. Out: as tsr_msg_run() promises. A unit processes the lanes in
 * ascending order with tsr_msg_each(), or all at once if no lane can fault.
 */
#ifndef TSR_SHADER_MSG_H
#define TSR_SHADER_MSG_H

#include <string.h>

#include "env.h"
#include "memory/mmu.h"
#include "shader/access.h"
#include "message.h"

#define TSR_ALL_LANES ((1u << TSR_WARP_LANES) - 1)
/* The windows of a program's memory are told apart by the top bits of an address. */
#define TSR_WINDOW_SHIFT 60

/* One unit's function; @arg is what its entry in the table of msg_run.c says. */
typedef enum tsr_step tsr_msg_fn(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg);
/*
 * Besides, a unit may do the message of several warps together: of @b->warp[@first] and those
 * after it, as far as nothing can go wrong. Returns the first that it has not done, of which it
 * has done nothing; the other function is then called for that warp.
 */
typedef unsigned int tsr_msg_together_fn(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
					 unsigned int first, unsigned int arg);

tsr_msg_fn tsr_msg_load;		/* arg: bytes */
tsr_msg_fn tsr_msg_store;		/* arg: bytes */
tsr_msg_fn tsr_msg_atomic;		/* ATOM_CX */
tsr_msg_fn tsr_msg_exchange;		/* AXCHG; arg: bytes */
tsr_msg_fn tsr_msg_compare;		/* ACMPXCHG, ACMPSTORE; arg: bytes, | TSR_MSG_NO_RETURN */
tsr_msg_fn tsr_msg_attribute;		/* LD_ATTR*, LEA_ATTR*; arg: enum tsr_msg_attr bits */
tsr_msg_fn tsr_msg_lea_texel;		/* LEA_TEX*; arg: 1 for an immediate index */
tsr_msg_fn tsr_msg_load_convert;	/* LD_CVT */
tsr_msg_fn tsr_msg_store_convert;	/* ST_CVT */
tsr_msg_fn tsr_msg_clock;		/* LD_GCLK */
/* ALD, AST, AL2P, EMIT, RESTART; arg: enum tsr_msg_stage_access */
tsr_msg_fn tsr_msg_stage;
tsr_msg_fn tsr_msg_texture;		/* TEXC */
tsr_msg_fn tsr_msg_texture_compact;	/* TEXS_2D, TEXS_CUBE; arg: 1 for cubes */
/* Four words: compilers compare longer vectors word by word where registers are not so long. */
typedef uint32_t tsr_msg_four __attribute__((vector_size(16), may_alias));

/* Part @i of four: all ones in @lanes. */
static inline tsr_msg_four tsr_msg_mask(uint16_t lanes, unsigned int i)
{
	static const tsr_msg_four weight = { 1, 2, 4, 8 };
	const tsr_msg_four bits = weight << 4 * i;

	return (tsr_msg_four)((bits & lanes) == bits);
}

/* Lanes @lanes of vector @from to @to. */
static inline void tsr_msg_move(union tsr_lanes *to, const union tsr_lanes *from, uint16_t lanes)
{
	tsr_msg_four *out = (tsr_msg_four *)to;
	const tsr_msg_four *in = (const tsr_msg_four *)from;

	if (lanes == TSR_ALL_LANES) {
		*to = *from;
		return;
	}
	for (unsigned int i = 0; i < TSR_WARP_LANES / 4; i++) {
		const tsr_msg_four mask = tsr_msg_mask(lanes, i);

		out[i] = (in[i] & mask) | (out[i] & ~mask);
	}
}

/* Units of fragments: */
tsr_msg_together_fn tsr_msg_varying_together;
tsr_msg_together_fn tsr_msg_varying_flat_together;
tsr_msg_together_fn tsr_msg_atest_together;
tsr_msg_together_fn tsr_msg_blend_together;
tsr_msg_fn tsr_msg_varying;		/* LD_VAR*; arg: enum tsr_msg_varying_flags */
tsr_msg_fn tsr_msg_varying_special;	/* LD_VAR_SPECIAL */
tsr_msg_fn tsr_msg_var_tex;		/* VAR_TEX; arg: 1 for 16-bit results */
tsr_msg_fn tsr_msg_atest;
tsr_msg_fn tsr_msg_zs_emit;
tsr_msg_fn tsr_msg_blend;
/* True if this descriptor of BLEND, its second qword, names a blend program. */
bool tsr_msg_blend_enters(uint32_t low, uint32_t high);
tsr_msg_fn tsr_msg_load_tile;
tsr_msg_fn tsr_msg_store_tile;

tsr_msg_together_fn tsr_msg_var_tex_together;
tsr_msg_together_fn tsr_msg_attribute_together;
tsr_msg_together_fn tsr_msg_stage_together;
tsr_msg_together_fn tsr_msg_load_convert_together;
tsr_msg_together_fn tsr_msg_store_convert_together;
tsr_msg_together_fn tsr_msg_texture_together;
tsr_msg_together_fn tsr_msg_texture_compact_together;
tsr_msg_together_fn tsr_msg_load_together;
tsr_msg_together_fn tsr_msg_store_together;
tsr_msg_together_fn tsr_msg_atomic_together;

/*
 * The first two components of varying @index in warps @b->warp[@first] and after, at their pixels'
 * centres, as LD_VAR_IMM with the UPDATE and SAMPLE of @b->insn has them; the first warp of which
 * they are not so simply had.
 */
unsigned int tsr_varying_pairs(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			       unsigned int first, uint32_t index,
			       union tsr_lanes at[2][TSR_BUNDLE_WARPS]);

/* The instruction that samples what VAR_TEX @insn has interpolated; @half: 16-bit results. */
struct tsr_insn tsr_var_tex_sample(const struct tsr_insn *insn, bool half);

#define TSR_MSG_NO_RETURN 0x100

/* Which varying instruction. */
enum tsr_msg_varying_flags {
	TSR_MSG_VAR_IMM = 1,		/* the index is an immediate */
	TSR_MSG_VAR_FLAT = 2,		/* of the provoking vertex */
};

enum tsr_msg_stage_access {
	TSR_MSG_STAGE_LOAD,
	TSR_MSG_STAGE_STORE,
	TSR_MSG_STAGE_INDEX,
	TSR_MSG_STAGE_EMIT,
	TSR_MSG_STAGE_RESTART,
};

/* Which attribute instruction. */
enum tsr_msg_attr {
	TSR_MSG_ATTR_LEA = 1,		/* returns an address, not a value */
	TSR_MSG_ATTR_TEX = 2,		/* of an image, by coordinates */
	TSR_MSG_ATTR_IMM = 4,		/* the index is an immediate */
};

/* Staging register @n of a message. */
static inline union tsr_lanes *tsr_msg_staging(const struct tsr_msg *msg, unsigned int n)
{
	return &msg->reg[(msg->staging + n) % TSR_REGISTERS * TSR_BUNDLE_WARPS];
}

/* Add what the message of a warp has read and written. */
static inline void tsr_msg_charge(struct tsr_msg_cost *cost, uint64_t read, uint64_t written)
{
	cost->read_bytes += read;
	cost->write_bytes += written;
	cost->cycles += (read + 63) / 64 + (written + 63) / 64;
}

/* Add the cycles of a message that has read what is read since there were @before. */
static inline void tsr_msg_charge_reads(struct tsr_msg_cost *cost, uint64_t before)
{
	cost->cycles += (cost->read_bytes - before + 63) / 64;
}

static inline void tsr_msg_add_cost(struct tsr_msg_cost *to, const struct tsr_msg_cost *cost)
{
	to->read_bytes += cost->read_bytes;
	to->write_bytes += cost->write_bytes;
	to->cycles += cost->cycles;
	to->done += cost->done;
	to->tried += cost->tried;
}

/* The 64-bit value that source @n and the one after it are in @lane. */
static inline uint64_t tsr_msg_address(const struct tsr_msg *msg, unsigned int lane)
{
	return msg->src[0]->u[lane] | (uint64_t)msg->src[1]->u[lane] << 32;
}

/* The alignment an access of @bytes must have: the power of two in it, at most 4. */
static inline unsigned int tsr_msg_alignment(unsigned int bytes)
{
	return (bytes | 4) & -(bytes | 4);
}

/* A fault of a program; returns TSR_STEP_FAULT. */
static inline enum tsr_step tsr_msg_fault(struct tsr_msg_env *env, uint8_t code, uint64_t addr,
					  unsigned int access)
{
	return tsr_mmu_fault(env->mem, code, addr, access, 0);
}

/*
 * Where an access goes: memory at @va, or, if @host is not NULL, @host. In shared memory and the
 * void window it is always the latter.
 */
struct tsr_place {
	uint64_t va;
	uint8_t *host;
	bool nowhere;			/* the void window: nothing happens, reads give 0 */
};

/*
 * Place an access of @lane to a program's address @va, of @len bytes, TSR_ACCESS_READ or _WRITE.
 * Checks windows and their bounds, not the alignment.
 */
enum tsr_step tsr_msg_place(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
			    unsigned int len, unsigned int access, struct tsr_place *place);
/* Copy at most TSR_ACCESS_COPY_MAX bytes from or to a program's address, as @lane sees it. */
enum tsr_step tsr_msg_read(struct tsr_msg_env *env, unsigned int lane, uint64_t va, void *to,
			   unsigned int len);
enum tsr_step tsr_msg_write(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
			    const void *from, unsigned int len);
/* Read a descriptor at an address of memory, not of a window. */
enum tsr_step tsr_msg_descriptor(struct tsr_msg_env *env, uint64_t va, uint64_t *qword,
				 unsigned int qwords);

/* True if @va is in one of the windows of stage I/O memory that the shader's stage has. */
bool tsr_stage_in_window(const struct tsr_msg_env *env, uint64_t va);
/* Read and write in these windows. */
enum tsr_step tsr_stage_window_read(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
				    void *to, unsigned int len);
enum tsr_step tsr_stage_window_write(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
				     const void *from, unsigned int len);

struct tsr_format;
union tsr_texel;

/* Load or store a texel at a program's address, as @lane sees it. Checks its alignment. */
enum tsr_step tsr_msg_load_texel(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
				 const struct tsr_format *format, union tsr_texel *texel);
enum tsr_step tsr_msg_store_texel(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
				  const struct tsr_format *format, const union tsr_texel *texel);

/* The work of a unit for one lane. */
typedef enum tsr_step tsr_msg_lane_fn(struct tsr_msg_env *env, struct tsr_msg *msg,
				      unsigned int lane, const void *arg);
/*
 * Do the lanes of @msg one after the other; one that is done is cleared. Stops at the first that
 * cannot be done, and names it in msg->fault_lane.
 */
static inline __attribute__((always_inline)) enum tsr_step
tsr_msg_each(struct tsr_msg_env *env, struct tsr_msg *msg, tsr_msg_lane_fn *fn, const void *arg)
{
	while (msg->lanes) {
		unsigned int lane = __builtin_ctz(msg->lanes);
		enum tsr_step step = fn(env, msg, lane, arg);

		if (step != TSR_STEP_DONE) {
			msg->fault_lane = lane;
			return step;
		}
		msg->lanes &= msg->lanes - 1;
	}
	return TSR_STEP_DONE;
}

#endif
