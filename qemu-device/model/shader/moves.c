/* SPDX-License-Identifier: MIT */
#include "moves.h"

static const union tsr_lanes *source(const struct tsr_uop *uop, const struct tsr_alu_state *state,
				     unsigned int w)
{
	return &state->space[uop->src[0].space][uop->src[0].index + uop->src[0].step * w];
}

static union tsr_lanes *target(const struct tsr_uop *uop, const struct tsr_alu_state *state,
			       unsigned int w)
{
	return &state->space[uop->dst.space][uop->dst.index + uop->dst.step * w];
}

static void move_all(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	for (unsigned int i = 0; i < state->warps; i++)
		*target(uop, state, state->warp[i]) = *source(uop, state, state->warp[i]);
}

/* Replace the bits of @which, shifted up by @shift, in active lanes. */
static inline void move_part(const struct tsr_uop *uop, struct tsr_alu_state *state,
			     uint32_t which, unsigned int shift)
{
	for (unsigned int i = 0; i < state->warps; i++) {
		unsigned int w = state->warp[i];
		const union tsr_lanes *from = source(uop, state, w), *mask = &state->mask[w];
		union tsr_lanes *to = target(uop, state, w);

		for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
			uint32_t bits = mask->u[l] & which;

			to->u[l] = (from->u[l] << shift & bits) | (to->u[l] & ~bits);
		}
	}
}

static void move_active(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	move_part(uop, state, 0xffffffff, 0);
}

static void move_low(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	move_part(uop, state, 0x0000ffff, 0);
}

static void move_high(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	move_part(uop, state, 0xffff0000, 16);
}

tsr_uop_fn *tsr_move_function(unsigned int action, bool active)
{
	switch (action) {
	case TSR_PORT_WRITE_LO:
		return move_low;
	case TSR_PORT_WRITE_HI:
		return move_high;
	default:
		return active ? move_active : move_all;
	}
}

bool tsr_move_is_full(const struct tsr_uop *uop)
{
	return uop->fn == tsr_move_function(TSR_PORT_WRITE, uop->dst_kind == TSR_DST_ACTIVE);
}
