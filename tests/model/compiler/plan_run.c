/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Fragment programs as plans: whatever a plan gives the pixels of a block the core gives them too,
 * to the bit, and both count the same clauses, messages and bytes. Which programs have a plan, and
 * what of them is not run as one after all; random primitives, blocks, textures.
 */
#include <string.h>

#include "blocks.h"
#include "ktap.h"
#include "texture_ref.h"

/* Loops: of one clause, one in another, with several ways through and one or two out of it. */
#define ONE_LOOP COUNT "again:\n" HALF("again", "") PIPE_FINISH
#define TWO_LOOPS \
	COUNT CLAUSE("*MOV.i32 r4:t0, r59\n+MOV.i32 r9:t1, r8\n*NOP\n+NOP\n") "outer:\n" \
	"clause flow=nbtb_unconditional wait=0 {\n*MOV.i32 r8:t0, r9\n+NOP\n*NOP\n+NOP\n}\n" \
	"inner:\n" HALF("inner", "*FADD.f32 r2:t0, r2, r8\n+NOP\n") \
	"clause flow=nbtb_unconditional wait=0 {\n*NOP\n+IADD.s32 r4:t1, r4, 0x00010001\n" \
	"*FMA.f32 r9:t0, r9, 0x3d800000, #0.neg\n+NOP\n" \
	"*FCMP.f32.lt.m1 t0, 0x3f800000, r9\n+BRANCHZ.i16.ne t.h0, outer\n}\n" PIPE_FINISH
#define TWO_WAYS \
	BREAKS("out", "there") CLAUSE("*FADD.f32 r2:t0, r2, r8\n+NOP\n*NOP\n+NOP\n") \
	"there:\n" CLAUSE("*FADD.f32 r3:t0, r3, r8\n+NOP\n*NOP\n+NOP\n") \
	"out:\n" PIPE_FINISH
#define ENDLESS \
	COUNT "again:\nclause flow=nbtb_unconditional wait=0 {\n" \
	"*FCMP.f32.lt.m1 t0, 0xbf800000, r8\n+BRANCHZ.i16.ne t.h0, again\n}\n" PIPE_FINISH

/* 12,000 clauses of a tuple: of 16 threads more than fit in 17 bits. */
#define LONG_LOOP \
	LOAD(".v4", "0", "r0") CLAUSE("*NOP\n+MOV.i32 r8:t1, 0x463b8000\n*NOP\n+NOP\n") \
	"again:\nclause flow=nbtb_unconditional wait=0 {\n" \
	"*FADD.f32 r8:t0, r8, 0xbf800000\n+BRANCHZ.i32.ne t, again\n}\n" PIPE_FINISH
static const struct row rows[] = {
	{ LOAD(".v4", "0", "r0") PIPE_FINISH, PLAN, 0 },
	{ LOAD("", "3", "r0") LOAD(".v2", "1", "r1") LOAD("", "2", "r3") PIPE_FINISH, PLAN, 0 },
	{ LOAD(".v3", "2", "r1") MESSAGE("LD_VAR_FLAT_IMM.f32 index:1, @r0") PIPE_FINISH, PLAN, 0 },
	{ MESSAGE("LD_VAR_FLAT_IMM.v4.u32 index:4, @r0") PIPE_FINISH, PLAN, 0 },
	{ MESSAGE("LD_VAR_FLAT_IMM.v3.auto index:5, @r1")
	  MESSAGE("LD_VAR_FLAT_IMM.auto index:4, @r0")
	  PIPE_FINISH, PLAN, 0 },
	{ MESSAGE("LD_VAR_FLAT_IMM.v2.f16 index:0, @r0") LOAD(".v3", "0", "r1") PIPE_FINISH,
	  PLAN, 0 },
	{ LOAD(".v4", "0", "r0") PIPE_FINISH, PLAN, FLAT },
	/* two components in a register, of an odd number too */
	{ MESSAGE("LD_VAR_IMM.f16.store.center.v4 zero.w0, index:0, @r0") LOAD(".v2", "0", "r2")
	  PIPE_FINISH, PLAN, 0 },
	{ LOAD(".v4", "0", "r0") MESSAGE("LD_VAR_IMM.f16.store.center.v3 zero.w0, index:0, @r1")
	  PIPE_FINISH, PLAN, 0 },
	{ LOAD(".v3", "1", "r0") MESSAGE("LD_VAR_IMM.f16.store.center zero.w0, index:3, @r3")
	  PIPE_FINISH, PLAN, 0 },
	{ MESSAGE("LD_VAR_IMM.f16.store.sample.v4 r61, index:0, @r0") LOAD(".v2", "1", "r2")
	  PIPE_FINISH, PLAN, SHADING | SAMPLES },
	/* other planes: what is not in perspective although the primitive is */
	{ LOAD(".v2", "2", "r2") LOAD(".v2", "0", "r0") PIPE_FINISH, LEFT, LINEAR },
	/* in perspective or not, of points and lines too */
	{ LOAD(".v4", "1", "r0") PIPE_FINISH, PLAN, POINTS },
	/* registers at entry, and what is in no register */
	{ MOVE4("r57", "r58", "r59", "framebuffer_size.w0") PIPE_FINISH, PLAN, 0 },
	{ MOVE4("u0.w0", "u3.w1", "r59", "sample_positions.w0") PIPE_FINISH, PLAN, 0 },
	{ MOVE4("sample_positions.w1", "r57", "r57", "r58") PIPE_FINISH, PLAN, 0 },
	{ MOVE4("blend1.w1", "core_id.w0", "r58", "0x12345678") PIPE_FINISH, PLAN, 0 },
	/* what is written first is not what was there at entry */
	{ CLAUSE("*MOV.i32 r59, 0x11\n+NOP\n*MOV.i32 r57, 0x22\n+NOP\n*MOV.i32 r58, r59\n+NOP\n")
	  MOVE4("r57", "r58", "r59", "r57") PIPE_FINISH, PLAN, 0 },
	/* nobody knows what the other half of the register was */
	{ CLAUSE("*MOV.i32 r0.h0, r59\n+NOP\n") PIPE_FINISH, PLAN, 0 },
	{ MOVE4("r57", "r58", "r59", "r59") CLAUSE("*MOV.i32 r0.h0, r59\n+NOP\n*NOP\n+NOP\n")
	  PIPE_FINISH, PLAN, 0 },
	/* registers that nobody has written, lanes, coverage */
	{ MOVE4("r57", "r58", "r59", "r5") PIPE_FINISH, PLAN, 0 },
	{ MOVE4("r57", "r58", "r59", "lane_id.w0") PIPE_FINISH, CORE, 0 },
	{ MOVE4("r57", "r58", "r59", "warp_id.w0") PIPE_FINISH, CORE, 0 },
	{ MOVE4("r57", "r60", "r59", "r59") PIPE_FINISH, CORE, 0 },
	{ MOVE4("r57", "r61", "r59", "r59") PIPE_FINISH, CORE, 0 },
	/* CLPER within quads, also of missing threads, but not after td */
	{ LOAD(".v4", "0", "r0") CLAUSE("*NOP\n+CLPER.i32.xor.subgroup4.zero r1:t1, r0, 0x1\n")
	  PIPE_FINISH, PLAN, 0 },
	{ LOAD(".v4", "0", "r0") CLAUSE("*NOP\n+CLPER.i32.xor.subgroup4.zero r1:t1, r0, 0x2\n")
	  CLAUSE("*FADD.f32 r2:t0, r0, r1\n+CLPER.i32.xor.subgroup2.inf r3:t1, r0, 0x1\n"
		 "*NOP\n+NOP\n")
	  PIPE_FINISH, PLAN, ALONE },
	{ LOAD(".v4", "0", "r0") CLAUSE("*NOP\n+CLPER.i32.xor.subgroup8.zero r1:t1, r0, 0x4\n")
	  PIPE_FINISH, CORE, 0 },
	{ LOAD(".v4", "0", "r0") ATEST
	  CLAUSE("*NOP\n+CLPER.i32.xor.subgroup4.zero r1:t1, r0, 0x1\n")
	  BLEND("end ", "0", "r0"), PLAN, 0 },
	/* loads, of whole registers and of parts, by threads that are fragments; no stores */
	{ LOAD(".v2", "0", "r4") WHERE MESSAGE("LOAD.i128 r8, r9, @r0") PIPE_FINISH, PLAN,
	  ALONE | WHOLE },
	{ LOAD(".v4", "0", "r0") WHERE MESSAGE("LOAD.i16 r8, r9, @r2")
	  MESSAGE("LOAD.i8 r8, r9, @r1") PIPE_FINISH, PLAN, ALONE | WHOLE },
	{ LOAD(".v4", "0", "r0") WHERE MESSAGE("LOAD.i32 r8, r9, @r2") PIPE_FINISH, LEFT, PART },
	{ LOAD(".v4", "0", "r0") WHERE MESSAGE("STORE.i32 r8, r9, @r2") PIPE_FINISH, CORE, ALONE },
	/* the number of a lane chooses one of the quad, and is in nothing else */
	{ LOAD(".v4", "0", "r0") ROW("r4") CLAUSE("*NOP\n+IADD.s32 r5:t1, r4, 0x1\n*NOP\n+NOP\n")
	  CLAUSE("*NOP\n+CLPER.i32.subgroup4.zero r1:t1, r0, r4\n")
	  CLAUSE("*NOP\n+CLPER.i32.subgroup4.zero r2:t1, r0, r5\n") PIPE_FINISH, PLAN, 0 },
	{ LOAD(".v4", "0", "r0") ROW("r1") PIPE_FINISH, CORE, 0 },
	{ LOAD(".v4", "0", "r0") ROW("r4") CLAUSE("*FADD.f32 r1:t0, r0, r4\n+NOP\n*NOP\n+NOP\n")
	  PIPE_FINISH, CORE, 0 },
	{ LOAD(".v4", "0", "r0") ROW("r4") CLAUSE("*FADD.f32 r5:t0, r0, r4\n+NOP\n*NOP\n+NOP\n")
	  CLAUSE("*NOP\n+CLPER.i32.subgroup4.zero r1:t1, r0, r5\n") PIPE_FINISH, CORE, 0 },
	{ LOAD(".v4", "0", "r0")
	  CLAUSE("*LSHIFT_AND.i32 r4:t0, r0, r1, lane_id.b0\n+NOP\n*NOP\n+NOP\n")
	  CLAUSE("*NOP\n+CLPER.i32.subgroup4.zero r1:t1, r0, r4\n") PIPE_FINISH, CORE, 0 },
	/* discards: what is counted is known where warps are those of the core */
	{ LOAD(".v4", "0", "r0") DISCARD("lt r0, r1") PIPE_FINISH, PLAN, DISCARDS },
	{ LOAD(".v4", "0", "r0") DISCARD("lt r0, r1") PIPE_FINISH, PLAN, ALONE | DISCARDS },
	{ LOAD(".v4", "0", "r0") DISCARD("lt r0, r1") PIPE_FINISH, PLAN, WHOLE | DISCARDS },
	{ LOAD(".v4", "0", "r0") DISCARD("le r0, r0") PIPE_FINISH, PLAN, WHOLE | DISCARDS },
	{ LOAD(".v4", "0", "r0") DISCARD("lt r2, r0")
	  "clause wait=0,6 {\n*FADD.f32 r0:t0, r0, r1\n+NOP\n"
	  "*FADD.f32 r1:t0, r2, r0\n+DISCARD.f32.lt r0, r2\n*NOP\n+NOP\n}\n"
	  CLAUSE("*NOP\n+CLPER.i32.xor.subgroup4.zero r1:t1, r0, 0x1\n") PIPE_FINISH, PLAN,
	  WHOLE | DISCARDS },
	{ LOAD(".v2", "0", "r4") DISCARD("lt r4, r5")
	  MESSAGE("TEXS_2D.f32.computed_lod r4, r5, texture_index:0, sampler_index:0, @r0")
	  PIPE_FINISH, PLAN, TEXTURE | DISCARDS },
	{ LOAD(".v2", "0", "r4") DISCARD("lt r4, r5") ATEST
	  MESSAGE("TEXS_2D.f32.computed_lod r4, r5, texture_index:0, sampler_index:0, @r0")
	  BLEND("end ", "0", "r0"), PLAN, TEXTURE | ALONE | DISCARDS },
	{ LOAD(".v4", "0", "r0") ATEST DISCARD("lt r0, r1") BLEND("end ", "0", "r0"), PLAN,
	  DISCARDS },
	/* samples: their number, varyings there, at centres, and not where they say */
	{ LOAD(".v4", "0", "r0")
	  CLAUSE("*RSHIFT_AND.i32 r3:t0, r61, 0x1f, 0x10.b0\n+NOP\n*NOP\n+NOP\n")
	  PIPE_FINISH, PLAN, SHADING | SAMPLES },
	{ MESSAGE("LD_VAR_IMM.f32.store.sample.v4 r61, index:0, @r0") PIPE_FINISH, PLAN,
	  SHADING | SAMPLES },
	{ MESSAGE("LD_VAR_IMM.f32.store.sample.v2 r61, index:0, @r0") LOAD(".v2", "1", "r2")
	  PIPE_FINISH, PLAN, SHADING | SAMPLES },
	{ MESSAGE("LD_VAR_IMM.f32.store.sample.v2 r61, index:0, @r0")
	  MESSAGE("LD_VAR_IMM.f32.store.sample.v2 r61, index:2, @r2") DISCARD("lt r0, r2")
	  PIPE_FINISH, PLAN, SHADING | SAMPLES | DISCARDS },
	{ MESSAGE("LD_VAR_IMM.f32.store.sample.v2 zero.w0, index:0, @r0") LOAD(".v2", "1", "r2")
	  PIPE_FINISH, CORE, SHADING | SAMPLES },
	{ MESSAGE("VAR_TEX.f32.store.skip.computed_lod.center varying_index:0, texture_index:0, "
		  "@r0")
	  PIPE_FINISH, PLAN, TEXTURE | SHADING | SAMPLES },
	/* depth and stencil, of registers that become something else, of constants, on their way */
	{ LOAD(".v4", "0", "r0") ATEST MESSAGE("ZS_EMIT.z r0, r0, r60, @r60")
	  CLAUSE("*FADD.f32 r0:t0, r1, r2\n+NOP\n*NOP\n+NOP\n") BLEND("end ", "0", "r0"), PLAN, 0 },
	{ LOAD(".v4", "0", "r0") MESSAGE("ZS_EMIT.stencil.z r2, r1, r60, @r60") PIPE_FINISH, PLAN,
	  0 },
	{ LOAD(".v4", "0", "r0") DISCARD("lt r0, r1") ATEST
	  "clause wait=0 {\n*FADD.f32 t0, r0, 0x3fc00000\n+NOP\n*MOV.i32 r8:t0, t0\n"
	  "+ZS_EMIT.stencil t0, 0x11, r60, @r60\n}\n" BLEND("end ", "0", "r0"), PLAN,
	  WHOLE | DISCARDS },
	{ LOAD(".v4", "0", "r0") MESSAGE("ZS_EMIT.z r0, r0, r1, @r60") PIPE_FINISH, CORE, 0 },
	{ LOAD(".v4", "0", "r0") MESSAGE("ZS_EMIT.z r9, r0, r60, @r60") PIPE_FINISH, PLAN, 0 },
	/* arithmetic with modes, with pairs, in several clauses, followed by a message */
	{ LOAD(".v4", "0", "r4")
	  "clause wait=0 ftz=always {\n*FMA.f32 r0:t0, r4, u1.w0, r6\n+FADD.f32 r1:t1, t, r6\n"
	  "*FADD.f32 r2:t0, t0, t1\n+NOP\n*NOP\n+NOP\n}\n"
	  CLAUSE("*FMA.f32 r3:t0, r2, r2, r1\n+FADD.f32 r2:t1, t, r0\n*NOP\n+NOP\n") PIPE_FINISH,
	  PLAN, 0 },
	/* a clause that flushes does not flush in the messages after it */
	{ "clause wait=0 ftz=always {\n*FADD.f32 r4:t0, u1.w0, u1.w1\n+NOP\n*NOP\n+NOP\n}\n"
	  LOAD(".v3", "1", "r0") CLAUSE("*MOV.i32 r3:t0, r4\n+NOP\n*NOP\n+NOP\n") PIPE_FINISH,
	  PLAN, 0 },
	{ CLAUSE("*SHADDXL.u32 r0:t0, r59, r57, shift:3\n+SHADDXH.i32 r1:t1, r58, u0.w1\n"
		 "*IMUL.i32 r2:t0, t0, r59\n+IADD.s32 r3:t1, t, t1\n*NOP\n+NOP\n")
	  PIPE_FINISH, PLAN, 0 },
	{ "clause wait=0 {\n*IMUL.i32 r4:t0, r59, r59\n+NOP\n*MOV.i32 r3:t0, r59\n"
	  "+LD_VAR_IMM.f32.store.center.v3 zero.w0, index:0, @r0\n}\n" PIPE_FINISH, PLAN, 0 },
	/* textures */
	{ MESSAGE("VAR_TEX.f32.store.skip.computed_lod.center "
		  "varying_index:0, texture_index:0, @r0")
	  PIPE_FINISH, PLAN, TEXTURE },
	{ MESSAGE("VAR_TEX.f16.store.skip.computed_lod.center "
		  "varying_index:1, texture_index:0, @r0")
	  LOAD(".v2", "0", "r2") PIPE_FINISH, PLAN, TEXTURE },
	{ LOAD(".v2", "0", "r4")
	  MESSAGE("TEXS_2D.f32.computed_lod r4, r5, texture_index:0, sampler_index:0, @r0")
	  PIPE_FINISH, PLAN, TEXTURE },
	{ LOAD(".v2", "0", "r4") LOAD(".v2", "1", "r2")
	  MESSAGE("TEXS_2D.f16.computed_lod r5, r4, texture_index:0, sampler_index:0, @r0")
	  CLAUSE("*FADD.f32 r3:t0, r3, r4\n+NOP\n") PIPE_FINISH, PLAN, TEXTURE },
	{ LOAD(".v2", "0", "r4")
	  "clause wait=0 {\n*FADD.f32 t0, r4, 0x3fc00000\n+NOP\n*MOV.i32 r8:t0, t0\n"
	  "+TEXS_2D.f32.computed_lod t0, r5, texture_index:0, sampler_index:0, @r0\n}\n"
	  PIPE_FINISH, PLAN, TEXTURE },
	/* coordinates that are constants of the clause, not of the one that runs after it */
	{ MESSAGE("TEXS_2D.f32.computed_lod 0x3f000000, 0x3e800000, texture_index:0, "
		  "sampler_index:0, @r0")
	  "clause wait=0 {\n*FADD.f32 r3:t0, r3, 0x3fc00000\n"
	  "+FADD.f32 r2:t1, r2, 0x40200000\n*NOP\n+NOP\n}\n" PIPE_FINISH, PLAN, TEXTURE },
	{ MESSAGE("TEXS_2D.f32.computed_lod r4, r5, texture_index:0, sampler_index:0, @r0")
	  PIPE_FINISH, PLAN, TEXTURE },
	{ LOAD("", "0", "r4")
	  MESSAGE("TEXS_2D.f32.computed_lod r4, r5, texture_index:0, sampler_index:0, @r0")
	  PIPE_FINISH, PLAN, TEXTURE },
	/* without helpers the level of detail is another: not after td, and it is not VAR_TEX's */
	{ LOAD(".v2", "0", "r4") ATEST
	  MESSAGE("TEXS_2D.f32.computed_lod r4, r5, texture_index:0, sampler_index:0, @r0")
	  BLEND("end ", "0", "r0"), PLAN, TEXTURE },
	/* planes of varying 32 are not kept */
	{ CLAUSE("*MOV.i32 r2:t0, r4\n+NOP\n*MOV.i32 r3:t0, r5\n+NOP\n*NOP\n+NOP\n")
	  PIPE_FINISH, LEFT, FAR },
	{ ATEST MESSAGE("VAR_TEX.f32.store.skip.computed_lod.center varying_index:0, "
			"texture_index:0, @r0")
	  BLEND("end ", "0", "r0"), PLAN, TEXTURE },
	/* loads are done behind td as well */
	{ ATEST LOAD(".v4", "0", "r0") BLEND("end ", "0", "r0"), PLAN, 0 },
	/* before the first clause */
	{ CLAUSE("*FADD.f32 r0:t0, r0, r4\n+FADD.f32 r1:t1, t, r1\n*NOP\n+NOP\n") PIPE_FINISH,
	  PLAN, TEXTURE | PRELOAD },
	/* where samples lie */
	{ MESSAGE("LD_VAR_IMM.f32.store.sample.v4 r61, index:0, @r0") PIPE_FINISH, PLAN, SAMPLES },
	{ MESSAGE("LD_VAR_IMM.f32.clobber.centroid.v4 r61, index:0, @r0") PIPE_FINISH, PLAN, 0 },
	{ MESSAGE("LD_VAR_IMM.f32.store.centroid.v4 r61, index:0, @r0") PIPE_FINISH,
	  CORE, SAMPLES },
	{ MESSAGE("LD_VAR_IMM.f32.store.explicit.v4 u0.w0, index:0, @r0") PIPE_FINISH, CORE, 0 },
	{ MESSAGE("LD_VAR_IMM.f32.retrieve.v4 zero.w0, index:0, @r0") PIPE_FINISH, CORE, 0 },
	{ MESSAGE("LD_VAR_IMM.f32.conditional.center.v4 zero.w0, index:0, @r0") PIPE_FINISH,
	  CORE, 0 },
	/* targets */
	{ LOAD(".v4", "0", "r0") LOAD(".v4", "1", "r4") LOAD(".v4", "2", "r8") ATEST
	  BLEND("", "1", "r4") BLEND("", "2", "r8") BLEND("end ", "0", "r0"), PLAN, MANY },
	{ LOAD(".v4", "0", "r0") ATEST BLEND("", "3", "r12") BLEND("end ", "0", "r0"), PLAN, 0 },
	{ LOAD(".v4", "0", "r0") ATEST BLEND("", "0", "r0") BLEND("end ", "0", "r0"), CORE, 0 },
	{ LOAD(".v4", "0", "r0") ATEST BLEND("", "1", "r0") LOAD(".v4", "1", "r0")
	  BLEND("end ", "0", "r0"), CORE, MANY },
	{ LOAD(".v4", "0", "r0") CLAUSE("*MOV.i32 r4, blend0.w1\n+NOP\n") ATEST
	  "clause end wait=0 {\n*NOP\n+BLEND r48:t1, r60, blend0.w0, r4, @r0\n}\n", CORE, 0 },
	{ LOAD(".v4", "0", "r0") CLAUSE("*MOV.i32 r4, blend0.w0\n+NOP\n") ATEST
	  "clause end wait=0 {\n*NOP\n+BLEND r48:t1, r60, r4, blend0.w1, @r0\n}\n", CORE, 0 },
	/* halves need half the registers */
	{ LOAD(".v2", "0", "r0") ATEST BLEND("end ", "0", "r0"), PLAN, HALVES },
	{ LOAD("", "0", "r0") ATEST BLEND("end ", "0", "r0"), PLAN, HALVES },
	{ LOAD(".v3", "0", "r0") ATEST BLEND("end ", "0", "r0"), PLAN, 0 },
	/* integers to a target of integers */
	{ MESSAGE("LD_VAR_FLAT_IMM.v4.u32 index:4, @r0") PIPE_FINISH, PLAN, INTEGERS },
	/* coverage goes from register to register, as it is or not at all */
	{ LOAD(".v4", "0", "r0") CLAUSE("*MOV.i32 r10, r60\n+NOP\n")
	  "clause wait=0 td {\n*NOP\n+ATEST r11:t1, r10, zero.w0, @r12\n}\n"
	  "clause end wait=0 {\n*NOP\n+BLEND r48:t1, r11, blend0.w0, blend0.w1, @r0\n}\n",
	  CORE, 0 },
	{ LOAD(".v4", "0", "r0")
	  "clause wait=0 td {\n*NOP\n+ATEST r11:t1, r60, zero.w0, @r12\n"
	  "*MOV.i32 r60:t0, r59\n+NOP\n"
	  "*NOP\n+NOP\n}\n"
	  "clause end wait=0 {\n*NOP\n+BLEND r48:t1, r11, blend0.w0, blend0.w1, @r0\n}\n",
	  PLAN, 0 },
	{ LOAD(".v4", "0", "r0")
	  "clause wait=0 td {\n*NOP\n+ATEST r11:t1, r60, zero.w0, @r12\n}\n"
	  "clause end wait=0 {\n*NOP\n+BLEND r48:t1, r12, blend0.w0, blend0.w1, @r0\n}\n",
	  PLAN, 0 },
	{ LOAD(".v4", "0", "r0")
	  "clause wait=0 td {\n*NOP\n+ATEST r11:t1, r57, zero.w0, @r12\n}\n"
	  "clause end wait=0 {\n*NOP\n+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n}\n",
	  CORE, 0 },
	{ LOAD(".v4", "0", "r0") ATEST
	  "clause end wait=0 {\n*NOP\n+BLEND r48:t1, r57, blend0.w0, blend0.w1, @r0\n}\n",
	  CORE, 0 },
	/* as many steps as a plan has at most, and one more */
	{ LOAD(".v4", "0", "r0") FOUR(FOUR(FOUR(MORE) MORE))
	  FOUR(MORE MORE) MORE MORE MORE MORE MORE MORE PIPE_FINISH,
	  PLAN, 0 },
	{ LOAD(".v4", "0", "r0") FOUR(FOUR(FOUR(MORE) MORE))
	  FOUR(MORE MORE) MORE MORE MORE MORE MORE MORE MORE PIPE_FINISH,
	  CORE, 0 },
	/* no color at all; helpers that are not there; a limit of clauses */
	{ LOAD(".v4", "0", "r0") "clause end {\n*NOP\n+NOP\n}\n", PLAN, 0 },
	{ LOAD(".v4", "0", "r0") PIPE_FINISH, PLAN, ALONE },
	{ LOAD(".v4", "0", "r0") PIPE_FINISH, PLAN, LIMIT },
	/* loops, without helpers: what is counted is known where warps are those of the core */
	{ ONE_LOOP, PLAN, PARTS | ALONE | WHOLE },
	{ ONE_LOOP, PLAN, PARTS | ALONE | PART },
	{ ONE_LOOP, PLAN, PARTS },
	{ TWO_LOOPS, PLAN, PARTS | ALONE | WHOLE },
	{ LONG_LOOP, PLAN, PARTS | ALONE | WHOLE },
	{ BREAKS("out", "out") "out:\n" PIPE_FINISH, PLAN, PARTS | ALONE | WHOLE },
	{ TWO_WAYS, PLAN, PARTS | ALONE | WHOLE },
	/* what it reads has been written, what it writes is no coverage */
	{ COUNT "again:\n" HALF("again", "*FADD.f32 r2:t0, r2, r9\n+NOP\n") PIPE_FINISH, PLAN,
	  PARTS | ALONE | WHOLE },
	{ COUNT "again:\n" HALF("again", "*FADD.f32 r9:t0, r2, r8\n+NOP\n")
	  CLAUSE("*FADD.f32 r2:t0, r2, r9\n+NOP\n*NOP\n+NOP\n") PIPE_FINISH, PLAN,
	  PARTS | ALONE | WHOLE },
	{ COUNT "again:\n" HALF("again", "*MOV.i32 r9:t0, r60\n+NOP\n") PIPE_FINISH, CORE,
	  PARTS | ALONE | WHOLE },
	{ COUNT "again:\n" HALF("again", "*NOP\n+IADD.s32 r2:t1, r2, r60\n") PIPE_FINISH, CORE,
	  PARTS | ALONE | WHOLE },
};

static void all_rows(void)
{
	blocks_rows(rows, sizeof(rows) / sizeof(rows[0]), 6);
}
/* Run a block of @text as it is planned, of at most @limit clauses; whether it has a plan then. */
static bool leaves(const char *text, uint32_t limit)
{
	const struct row row = { text, LEFT, PARTS | ALONE | WHOLE };
	const struct tsr_plan *plan;
	struct result out;
	struct drawn d;
	bool has;

	blocks.pipe->program.clause_limit = limit;
	blocks.pipe->state.program = blocks_program(&row);
	blocks.pipe->program.clause_limit = limit;
	blocks.pipe->state.program = pipe_text(blocks.pipe, 1, TSR_STAGE_FRAGMENT, text);
	blocks_make(&row, &d);
	blocks_put(&d);
	tsr_stage_enter(blocks.pipe->sh, &blocks.pipe->mem, 0);
	plan = tsr_plan_find(blocks.pipe->sh, blocks.pipe->f);
	blocks.block.again = false;
	if (ktap_ok(plan))
		ktap_ok(!blocks_run(&d, plan, &out));
	ktap_eq(out.colored, 0);
	ktap_eq(blocks.pipe->sh->stats.clauses, 0);
	ktap_eq(blocks.pipe->sh->stats.threads, 0);
	has = tsr_plan_find(blocks.pipe->sh, blocks.pipe->f);
	tsr_stage_leave(blocks.pipe->sh);
	for (unsigned int q = 0; limit && q < 16; q++)
		pipe_quad(blocks.pipe, d.x + q % 4 * 2, d.y + q / 4 * 2, 0)->coverage =
			0x1000100010001;
	if (limit)
		ktap_eq(pipe_fragments(blocks.pipe), TSR_STEP_FAULT);
	blocks.pipe->program.clause_limit = 0;
	return has;
}

/* Too many clauses, or a loop without an end: nothing of it can be seen. */
static void dropped(void)
{
	/* other blocks may have fewer */
	ktap_ok(leaves(ONE_LOOP, 6));
	ktap_ok(!leaves(ENDLESS, 0));
}
int main(int argc, char **argv)
{
	static const struct tsr_config configs[] = {
		{ .jit = TSR_JIT_USE_OFF }, { .jit = TSR_JIT_USE_FIRST }, { 0 },
	};

	ktap_start_args(argc, argv);
	tex_units = units_new(0);
	for (unsigned int i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
		blocks_open(&configs[i]);
		ktap_run("[PIX1] [PIX10] blocks by plan are what the core makes of them", all_rows);
		ktap_run("[PIX10] blocks that would take too long are the core's", dropped);
		blocks_close();
	}
	units_free(tex_units);
	return ktap_finish();
}
