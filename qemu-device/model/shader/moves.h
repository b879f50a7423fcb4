/* SPDX-License-Identifier: MIT */
/*
 * Copies between vectors, for what cannot be written to its place at once.
 */
#ifndef TSR_SHADER_MOVES_H
#define TSR_SHADER_MOVES_H

#include "alu/alu.h"

/*
 * The function that copies src[0] to dst as @action says (TSR_PORT_WRITE, _LO, _HI); @active: only
 * active lanes.
 */
tsr_uop_fn *tsr_move_function(unsigned int action, bool active);
/* True if @uop, which has no instruction, copies whole words; else halves. */
bool tsr_move_is_full(const struct tsr_uop *uop);

#endif
