/* SPDX-License-Identifier: MIT */
/*
 * Moves and nothing at all. A template, see alu_path.h.
 */

TSR_ALU_OP(run_mov, 1, a)
TSR_ALU_OP(run_zero, 0, (vu32){0})

static bool select_mov(struct tsr_uop *uop)
{
	uop->fn = run_mov;
	return true;
}

/* The result of NOP is 0. */
static bool select_nop(struct tsr_uop *uop)
{
	uop->fn = run_zero;
	return true;
}
