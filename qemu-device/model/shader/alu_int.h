/* SPDX-License-Identifier: MIT */
/*
 * All operations of both units that are not floating point: the table of selectors of one path. A template, see
 * alu_path.h.
 */
#include "alu_move.h"

const struct tsr_alu_set TSR_PATH_NAME(tsr_alu_int) = {
	.select = {
		[TSR_OP_FMA_MOV_I32] = select_mov,
		[TSR_OP_ADD_MOV_I32] = select_mov,
		[TSR_OP_FMA_NOP] = select_nop,
		[TSR_OP_ADD_NOP] = select_nop,
	},
};
