/* SPDX-License-Identifier: MIT */
/*
 * Faces of a cube. A template, see alu_path.h. The unit's comparisons flush sources themselves.
 */

/* The larger one of two magnitudes; NaN if both are. */
TSR_INLINE vf32 larger_magnitude(vf32 x, vf32 y)
{
	return (vf32)select_lanes((vu32)(~(x <= y) & (x == x)), (vu32)x, (vu32)y);
}

/* A magnitude that is flushed. */
TSR_INLINE vf32 flushed_magnitude(vu32 x)
{
	return (vf32)(x & 0x7fffffff) + 0.0f;
}

TSR_INLINE vu32 cube_magnitude(vu32 x, vu32 y, vu32 z)
{
	return canonical(larger_magnitude(flushed_magnitude(x),
					  larger_magnitude(flushed_magnitude(y),
							   flushed_magnitude(z))));
}

/* The face in bits 31:29: z counts before y before x, and a NaN is never the largest. */
TSR_INLINE vu32 cube_face(vu32 x, vu32 y, vu32 z)
{
	const vu32 first[2] = { y, x };
	vu32 best = z, axis = tsr_splat(4);

	for (unsigned int n = 0; n < 2; n++) {
		vf32 mine = (vf32)(first[n] & 0x7fffffff);
		vu32 larger = (vu32)(~(mine <= (vf32)(best & 0x7fffffff)) & (mine == mine));

		best = select_lanes(larger, first[n], best);
		axis = select_lanes(larger, tsr_splat(2 - 2 * n), axis);
	}
	return (axis + ((vu32)((vf32)best < 0.0f) & 1)) << 29;
}

/* Source @a in faces @of_a, else @b; faces 6 and 7 are 0. */
TSR_INLINE vu32 cube_select(vu32 a, vu32 b, vu32 face, vu32 of_a, vu32 negative)
{
	return (select_lanes(of_a, a, b) ^ (negative & 0x80000000)) & (vu32)(face < 6);
}

TSR_INLINE vu32 cube_s(vu32 z, vu32 x, vu32 face)
{
	return cube_select(z, x, face, (vu32)(face < 2), (vu32)((face == 0) | (face == 5)));
}

TSR_INLINE vu32 cube_t(vu32 y, vu32 z, vu32 face)
{
	return cube_select(y, z, face, (vu32)((face != 2) & (face != 3)), (vu32)(face != 2));
}

TSR_ALU_OP(run_cube_magnitude, 3,
	   cube_magnitude(TSR_SIGNS(0, a), TSR_SIGNS(1, b), TSR_SIGNS(2, c)))
TSR_ALU_OP_(run_cube_face, 3, uop->pair[0], uop->pair[1], uop->pair[2], uop->pair[2],
	    cube_face(TSR_SIGNS(0, a), TSR_SIGNS(1, b), TSR_SIGNS(2, c)))
TSR_ALU_OP(run_cube_s, 3, cube_s(a ^ k.flip[0], b ^ k.flip[1], c >> 29))
TSR_ALU_OP(run_cube_t, 3, cube_t(a ^ k.flip[0], b ^ k.flip[1], c >> 29))

/* Signs of three sources, of instruction @insn. */
static bool cube_signs(struct tsr_uop *uop, const struct tsr_insn *insn)
{
	for (unsigned int n = 0; n < 3; n++) {
		uop->keep[n] = insn->mod[TSR_MOD_ABS0 + n] ? 0x7fffffff : ~0u;
		uop->flip[n] = insn->mod[TSR_MOD_NEG0 + n] ? 0x80000000 : 0;
	}
	return !insn->mod[TSR_MOD_WIDEN0] && !insn->mod[TSR_MOD_WIDEN1];
}

static bool select_cube_magnitude(struct tsr_uop *uop)
{
	if (rare_mode(uop) || uop->mode.ftz == TSR_FTZ_ABRUPT || !cube_signs(uop, uop->insn))
		return false;
	uop->fn = run_cube_magnitude;
	return true;
}

static bool select_cube_face(struct tsr_uop *uop)
{
	if (!uop->pair_insn || !cube_signs(uop, uop->pair_insn))
		return false;
	uop->fn = run_cube_face;
	return true;
}

static bool select_cube_s(struct tsr_uop *uop)
{
	decode_signs(uop, 2, 0x80000000);
	uop->fn = run_cube_s;
	return true;
}

static bool select_cube_t(struct tsr_uop *uop)
{
	decode_signs(uop, 2, 0x80000000);
	uop->fn = run_cube_t;
	return true;
}
