/* SPDX-License-Identifier: MIT */
/*
 * The floating-point operations of both units: the table of selectors of one path. A template, see alu_path.h.
 */
const struct tsr_alu_set TSR_PATH_NAME(tsr_alu_float) = {
	.select = {
		NULL
	},
};
