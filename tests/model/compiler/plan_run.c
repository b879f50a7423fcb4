/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Fragment programs as plans: whatever a plan gives the pixels of a block the core gives them too,
 * to the bit, and both count the same clauses, messages and bytes. Which programs have a plan, and
 * what of them is not run as one after all; random primitives, blocks, textures.
 */
#include <string.h>

#include "ktap.h"
#include "pipe.h"
#include "rnd.h"
#include "shader/core.h"
#include "compiler/plan.h"
#include "simd/simd.h"
#include "texture_ref.h"

#define TARGETS 3
#define BLOCK 64			/* pixels */

#define CLAUSE(text) "clause wait=0,6 {\n" text "}\n"
#define MESSAGE(insn) CLAUSE("*NOP\n+" insn "\n")
#define LOAD(count, index, to) \
	MESSAGE("LD_VAR_IMM.f32.store.center" count " zero.w0, index:" index ", @" to)
#define ATEST "clause wait=0 td {\n*NOP\n+ATEST r60:t1, r60, zero.w0, @r60\n}\n"
#define BLEND(flow, target, from) \
	"clause " flow "wait=0 {\n*NOP\n" \
	"+BLEND r48:t1, r60, blend" target ".w0, blend" target ".w1, @" from "\n}\n"
#define DISCARD(condition) \
	"clause wait=0,6 {\n*NOP\n+DISCARD.f32." condition "\n}\n"
#define MOVE4(a, b, c, d) \
	CLAUSE("*MOV.i32 r0, " a "\n+NOP\n*MOV.i32 r1, " b "\n+NOP\n" \
	       "*MOV.i32 r2, " c "\n+NOP\n*MOV.i32 r3, " d "\n+NOP\n*NOP\n+NOP\n")

#define FOUR(text) text text text text
#define MORE LOAD("", "1", "r4")

/* What becomes of a program. */
enum fate {
	CORE,				/* it has no plan */
	PLAN,				/* it has one, and that runs */
	LEFT,				/* it has one that does not run */
};

/* How it is drawn. */
enum {
	TEXTURE = 1,
	PRELOAD = 2,			/* VAR_TEX and LD_VAR before the first clause */
	MANY = 4,			/* three targets */
	SAMPLES = 8,			/* four of them */
	LINEAR = 16,			/* varying 2 */
	POINTS = 32,			/* and lines, too */
	FLAT = 64,			/* varying 0 */
	ALONE = 128,			/* without helpers */
	INTEGERS = 256, HALVES = 512,	/* colors */
	LIMIT = 1024,			/* of three clauses */
	FAR = 2048,			/* LD_VAR twice before the first clause, of 32 and 2 */
	WHOLE = 4096,			/* all quads of a block … */
	PART = 8192,			/* … or not */
	LOOP = 16384,			/* without loops as one piece there is no plan */
	DISCARDS = 32768,
	SHADING = 65536,		/* each of four samples by itself */
};

/* R8: a number up to 65536, other ones in other pixels; R0 to R3: anything. */
#define COUNT \
	LOAD(".v4", "0", "r0") \
	CLAUSE("*IMUL.i32 r8:t0, r59, r59\n+NOP\n*NOP\n+U16_TO_F32 r8:t1, t0.h0\n*NOP\n+NOP\n")
/* It becomes half, and R0 something else; and branches. */
#define HALF(to, more) \
	"clause flow=nbtb_unconditional wait=0 {\n" \
	"*FMA.f32 r8:t0, r8, 0x3f000000, #0.neg\n+NOP\n" \
	"*FMA.f32 r0:t0, r0, r1, t0\n+NOP\n" more \
	"*FCMP.f32.lt.m1 t0, 0x3f800000, r8\n+BRANCHZ.i16.ne t.h0, " to "\n}\n"
#define LEAVE(to) \
	"clause flow=nbtb_unconditional wait=0 {\n*FADD.f32 r1:t0, r1, r8\n+JUMP " to "\n}\n"

/* Loops: of one clause, one in another, with several ways through and one or two out of it. */
#define ONE_LOOP COUNT "again:\n" HALF("again", "") PIPE_FINISH
#define TWO_LOOPS \
	COUNT CLAUSE("*MOV.i32 r4:t0, r59\n+MOV.i32 r9:t1, r8\n*NOP\n+NOP\n") "outer:\n" \
	"clause flow=nbtb_unconditional wait=0 {\n*MOV.i32 r8:t0, r9\n+NOP\n*NOP\n+NOP\n}\n" \
	"inner:\n" HALF("inner", "*FADD.f32 r2:t0, r2, r8\n+NOP\n") \
	"clause flow=nbtb_unconditional wait=0 {\n*NOP\n+IADD.s32 r4:t1, r4, 0x00010001\n" \
	"*FMA.f32 r9:t0, r9, 0x3d800000, #0.neg\n+NOP\n" \
	"*FCMP.f32.lt.m1 t0, 0x3f800000, r9\n+BRANCHZ.i16.ne t.h0, outer\n}\n" PIPE_FINISH
#define BREAKS(first, second) \
	COUNT CLAUSE("*MOV.i32 r4:t0, #0\n+NOP\n*NOP\n+NOP\n") "again:\n" \
	HALF("stays", "*FADD.f32 r3:t0, r3, r8\n+NOP\n") LEAVE(first) \
	"stays:\nclause flow=nbtb_unconditional wait=0 {\n*NOP\n+IADD.s32 r4:t1, r4, 0x1\n" \
	"*NOP\n+ICMP.s32.ge.m1 t1, t1, 0xb\n*NOP\n+BRANCHZ.i16.eq t1.h0, goes\n}\n" \
	LEAVE(second) "goes:\nclause flow=nbtb_unconditional wait=0 {\n*NOP\n+JUMP again\n}\n"
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

struct row {
	const char *text;
	enum fate fate;
	unsigned int how;
};

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
	{ MESSAGE("LD_VAR_IMM.f16.store.center.v4 zero.w0, index:0, @r0") LOAD(".v2", "0", "r2")
	  PIPE_FINISH, LEFT, 0 },
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
	{ CLAUSE("*MOV.i32 r0.h0, r59\n+NOP\n") PIPE_FINISH, CORE, 0 },
	{ MOVE4("r57", "r58", "r59", "r59") CLAUSE("*MOV.i32 r0.h0, r59\n+NOP\n*NOP\n+NOP\n")
	  PIPE_FINISH, PLAN, 0 },
	/* registers that nobody has written, lanes, coverage */
	{ MOVE4("r57", "r58", "r59", "r5") PIPE_FINISH, CORE, 0 },
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
	  BLEND("end ", "0", "r0"), CORE, 0 },
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
	  BLEND("end ", "0", "r0"), CORE, TEXTURE | ALONE | DISCARDS },
	{ LOAD(".v4", "0", "r0") ATEST DISCARD("lt r0, r1") BLEND("end ", "0", "r0"), CORE, 0 },
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
	{ LOAD(".v4", "0", "r0") MESSAGE("ZS_EMIT.z r9, r0, r60, @r60") PIPE_FINISH, CORE, 0 },
	/* arithmetic with modes, with pairs, in several clauses, with a message behind it */
	{ LOAD(".v4", "0", "r4")
	  "clause wait=0 ftz=always {\n*FMA.f32 r0:t0, r4, u1.w0, r6\n+FADD.f32 r1:t1, t, r6\n"
	  "*FADD.f32 r2:t0, t0, t1\n+NOP\n*NOP\n+NOP\n}\n"
	  CLAUSE("*FMA.f32 r3:t0, r2, r2, r1\n+FADD.f32 r2:t1, t, r0\n*NOP\n+NOP\n") PIPE_FINISH,
	  PLAN, 0 },
	/* what is flushed in a clause is not in the messages behind it */
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
	  PIPE_FINISH, CORE, TEXTURE },
	{ LOAD("", "0", "r4")
	  MESSAGE("TEXS_2D.f32.computed_lod r4, r5, texture_index:0, sampler_index:0, @r0")
	  PIPE_FINISH, CORE, TEXTURE },
	/* without helpers the level of detail is another: not after td, and it is not VAR_TEX's */
	{ LOAD(".v2", "0", "r4") ATEST
	  MESSAGE("TEXS_2D.f32.computed_lod r4, r5, texture_index:0, sampler_index:0, @r0")
	  BLEND("end ", "0", "r0"), CORE, TEXTURE },
	/* planes of varying 32 are not kept */
	{ CLAUSE("*MOV.i32 r2:t0, r4\n+NOP\n*MOV.i32 r3:t0, r5\n+NOP\n*NOP\n+NOP\n")
	  PIPE_FINISH, LEFT, FAR },
	{ ATEST MESSAGE("VAR_TEX.f32.store.skip.computed_lod.center varying_index:0, "
			"texture_index:0, @r0")
	  BLEND("end ", "0", "r0"), CORE, TEXTURE },
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
	{ LOAD("", "0", "r0") ATEST BLEND("end ", "0", "r0"), CORE, HALVES },
	{ LOAD(".v3", "0", "r0") ATEST BLEND("end ", "0", "r0"), CORE, 0 },
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
	{ LOAD(".v4", "0", "r0") FOUR(FOUR(MORE) MORE MORE) MORE MORE FOUR(MORE) PIPE_FINISH,
	  PLAN, 0 },
	{ LOAD(".v4", "0", "r0") FOUR(FOUR(MORE) MORE MORE) MORE MORE MORE FOUR(MORE) PIPE_FINISH,
	  CORE, 0 },
	/* no color at all; helpers that are not there; a limit of clauses */
	{ LOAD(".v4", "0", "r0") "clause end {\n*NOP\n+NOP\n}\n", PLAN, 0 },
	{ LOAD(".v4", "0", "r0") PIPE_FINISH, PLAN, ALONE },
	{ LOAD(".v4", "0", "r0") PIPE_FINISH, PLAN, LIMIT },
	/* loops, without helpers: what is counted is known where warps are those of the core */
	{ ONE_LOOP, PLAN, LOOP | ALONE | WHOLE },
	{ ONE_LOOP, LEFT, LOOP | ALONE | PART },
	{ ONE_LOOP, CORE, LOOP },
	{ TWO_LOOPS, PLAN, LOOP | ALONE | WHOLE },
	{ LONG_LOOP, PLAN, LOOP | ALONE | WHOLE },
	{ BREAKS("out", "out") "out:\n" PIPE_FINISH, PLAN, LOOP | ALONE | WHOLE },
	{ TWO_WAYS, CORE, LOOP | ALONE | WHOLE },
	/* what it reads has been written, what it writes is no coverage */
	{ COUNT "again:\n" HALF("again", "*FADD.f32 r2:t0, r2, r9\n+NOP\n") PIPE_FINISH, CORE,
	  LOOP | ALONE | WHOLE },
	{ COUNT "again:\n" HALF("again", "*FADD.f32 r9:t0, r2, r8\n+NOP\n")
	  CLAUSE("*FADD.f32 r2:t0, r2, r9\n+NOP\n*NOP\n+NOP\n") PIPE_FINISH, PLAN,
	  LOOP | ALONE | WHOLE },
	{ COUNT "again:\n" HALF("again", "*MOV.i32 r9:t0, r60\n+NOP\n") PIPE_FINISH, CORE,
	  LOOP | ALONE | WHOLE },
	{ COUNT "again:\n" HALF("again", "*NOP\n+IADD.s32 r2:t1, r2, r60\n") PIPE_FINISH, CORE,
	  LOOP | ALONE | WHOLE },
};

static struct pipe *p;

/* ---- What is drawn --------------------------------------------------------------------------- */

struct drawn {
	struct tsr_prim prim;
	float at[3][4][4];		/* varyings, by vertex */
	int x, y;			/* of the block */
	uint64_t covered;		/* its pixels, in the order of its quads */
	uint64_t lanes;			/* of its threads */
	unsigned int quads;
	unsigned int sample;		/* SHADING */
};

/* -1 to 1 */
static float some(void)
{
	return (int32_t)(rnd() % 0x2000000) / 16777216.0f - 1;
}

static void make(const struct row *row, struct drawn *d)
{
	const bool whole = row->how & WHOLE || (rnd() % 3 == 0 && !(row->how & PART));
	const bool flat = rnd() % 4 == 0;
	/* some are subnormal */
	const float range = rnd() % 3 ? 3 : 0x1p-128f;

	memset(d, 0, sizeof(*d));
	d->prim = (struct tsr_prim){ .vertices = row->how & POINTS ? 1 + rnd() % 3 : 3,
				     .front = rnd() % 2, .primitive_id = rnd() };
	d->prim.provoking = rnd() % d->prim.vertices;
	for (unsigned int v = 0; v < 3; v++) {
		d->prim.v[v] = (struct tsr_screen_vertex){
			.x = (int32_t)(some() * 500 * 256), .y = (int32_t)(some() * 500 * 256),
			.rw = flat && !(row->how & LINEAR) ? 0.3f : 1.5f + some(),
		};
		for (unsigned int k = 0; k < 16; k++)
			d->at[v][k / 4][k % 4] = some() * range;
	}
	d->sample = row->how & SHADING ? rnd() % 4 : 0;
	d->x = 8 * (rnd() % 64);
	d->y = 8 * (rnd() % 64);
	d->covered = whole ? UINT64_MAX : (rnd() | (uint64_t)rnd() << 32);
	/* quads that nothing covers */
	for (unsigned int q = 0; !whole && q < 16; q++)
		d->covered &= ~(rnd() % 4 ? 0 : 15ull << 4 * q);
	if (row->how & PART)
		d->covered &= ~(15ull << 4 * (rnd() % 16));
	/* a quad without one of its pixels is one all the same */
	if (row->how & WHOLE && rnd() % 2)
		d->covered &= ~(1ull << rnd() % 64);
	for (unsigned int q = 0; q < 16; q++) {
		if (!(d->covered >> 4 * q & 15))
			continue;
		d->quads++;
		d->lanes |= (row->how & ALONE ? d->covered >> 4 * q & 15 : 15) << 4 * q;
	}
}

static void put(const struct drawn *d)
{
	struct tsr_fragment_prim *prim;

	tsr_fragments_begin(p->f, &p->state);
	prim = pipe_prim(p, 3);
	prim->prim = d->prim;
	for (unsigned int v = 0; v < 3; v++)
		memcpy(pipe_at(p, prim->output[v]), d->at[v], sizeof(d->at[v]));
	tsr_texture_cache_init(&p->sh->textures, tsr_simd_best());
}

/* What has become of the block's pixels. */
struct result {
	uint32_t word[TARGETS][4][BLOCK];
	uint8_t colored;		/* bit n: target n */
	uint64_t kept;			/* pixels that have not been discarded */
	uint64_t deep, stenciled;	/* that have written depth, stencil: */
	uint32_t depth[BLOCK], stencil[BLOCK];
	struct tsr_shader_stats stats;
};

/* Coverage, depth and stencil that lane @l of warp @w of the core has left of a pixel. */
static void take_rest(struct result *out, unsigned int w, unsigned int l, unsigned int pixel)
{
	out->kept |= 1ull << pixel;
	if (p->f->depth_written[w] >> l & 1) {
		out->deep |= 1ull << pixel;
		out->depth[pixel] = p->f->depth[w].u[l];
	}
	if (p->f->stencil_written[w] >> l & 1) {
		out->stenciled |= 1ull << pixel;
		out->stencil[pixel] = p->f->stencil[w].u[l];
	}
}

static void run_core(const struct drawn *d, struct result *out)
{
	const uint64_t pixel = p->state.shader.sample_shading ?
				       1ull << d->sample :
				       (1ull << (1 << p->state.samples_log2)) - 1;
	struct tsr_fragment_quad *quad;
	uint8_t at[16], n = 0;

	put(d);
	for (unsigned int q = 0; q < 16; q++) {
		uint64_t coverage = 0;

		for (unsigned int i = 0; i < 4; i++)
			coverage |= (d->covered >> (4 * q + i) & 1 ? pixel : 0) << 16 * i;
		if (!coverage)
			continue;
		at[n++] = q;
		quad = pipe_quad(p, d->x + q % 4 * 2, d->y + q / 4 * 2, 0);
		quad->coverage = coverage;
		quad->sample = d->sample;
	}
	if (!ktap_eq(pipe_fragments(p), TSR_STEP_DONE))
		ktap_note("fault %u", p->sh->fault.code);
	memset(out, 0, sizeof(*out));
	out->stats = p->stats;
	for (unsigned int t = 0; t < TARGETS; t++) {
		for (unsigned int i = 0; i < 4u * n; i++) {
			const unsigned int w = i / 16, l = i % 16, pixel_at = 4 * at[i / 4] + i % 4;

			if (!(d->covered >> pixel_at & 1) || !p->f->coverage[w].u[l])
				continue;
			take_rest(out, w, l, pixel_at);
			if (!(p->f->written[t][w] >> l & 1))
				continue;
			out->colored |= 1u << t;
			for (unsigned int c = 0; c < 4; c++)
				out->word[t][c][pixel_at] =
					tsr_fragments_color(p->f, t, c, w)->u[l];
		}
	}
}

static const struct drawn *drawn;
static struct tsr_quad_block block;

static void take(void *arg, unsigned int target, const union tsr_lanes *color)
{
	struct result *out = arg;

	ktap_ok(target < TARGETS && !(out->colored >> target & 1));
	out->colored |= 1u << target;
	for (unsigned int i = 0; i < BLOCK; i++) {
		for (unsigned int c = 0; (drawn->covered & ~block.discarded) >> i & 1 && c < 4;
		     c++)
			out->word[target][c][i] = color[c * TSR_BUNDLE_WARPS + i / 16].u[i % 16];
	}
}

/* Coverage, depth and stencil of a block. */
static void take_block(const struct drawn *d, struct result *out)
{
	out->kept = d->covered & ~block.discarded;
	out->deep = block.has_depth ? out->kept : 0;
	out->stenciled = block.has_stencil ? out->kept : 0;
	for (unsigned int i = 0; i < BLOCK; i++) {
		out->depth[i] = out->deep >> i & 1 ? block.depth[i / 16].u[i % 16] : 0;
		out->stencil[i] = out->stenciled >> i & 1 ? block.stencil[i / 16].u[i % 16] : 0;
	}
}

static bool run_plan(const struct drawn *d, const struct tsr_plan *plan, struct result *out)
{
	memset(out, 0, sizeof(*out));
	drawn = d;
	block.x = d->x;
	block.y = d->y;
	block.prim = 0;
	block.sample = d->sample;
	block.color = take;
	block.arg = out;
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		block.lanes[w] = d->lanes >> 16 * w;
		block.covered[w] = d->covered >> 16 * w;
	}
	block.warps = (d->quads + 3) / 4;
	block.threads = __builtin_popcountll(d->lanes);
	block.pixels = __builtin_popcountll(d->covered);
	if (!tsr_plan_run(p->sh, p->f, plan, &block))
		return false;
	take_block(d, out);
	return true;
}

/* ---- The same -------------------------------------------------------------------------------- */

/* Words of a color that count: all of floats, two of halves. */
static bool same_colors(const struct row *row, const struct drawn *d, const struct result *got,
			const struct result *want)
{
	/* a block of which all is discarded has a color all the same */
	if (want->kept && !ktap_eq(got->colored, want->colored))
		return false;
	if (!ktap_eq(got->kept, want->kept) || !ktap_eq(got->deep, want->deep) ||
	    !ktap_eq(got->stenciled, want->stenciled) ||
	    !ktap_mem_eq(got->depth, want->depth, sizeof(got->depth)) ||
	    !ktap_mem_eq(got->stencil, want->stencil, sizeof(got->stencil)))
		return false;
	for (unsigned int i = 0; i < TARGETS * 4 * BLOCK; i++) {
		const unsigned int t = i / BLOCK / 4, c = i / BLOCK % 4, n = i % BLOCK;

		if ((row->how & HALVES && c > 1) || got->word[t][c][n] == want->word[t][c][n])
			continue;
		ktap_note("block %d %d, %u vertices", d->x, d->y, d->prim.vertices);
		return ktap_fail("target %u, word %u, pixel %u: %#x, the core has %#x", t, c, n,
				 got->word[t][c][n], want->word[t][c][n]);
	}
	return true;
}

/*
 * Warps of the core are without the quads that are not there. So what a warp of samples moves is
 * the same only where there are all.
 */
static bool same_counts(const struct row *row, const struct drawn *d,
			const struct tsr_shader_stats *got, const struct tsr_shader_stats *want)
{
	if (row->how & DISCARDS && d->quads < 16)
		return true;
	if ((!(row->how & TEXTURE) || d->quads == 16) && !ktap_eq(got->cycles, want->cycles))
		return false;
	return ktap_eq(got->clauses, want->clauses) & ktap_eq(got->threads, want->threads) &
	       ktap_eq(got->messages, want->messages) &
	       ktap_eq(got->read_bytes, want->read_bytes) & ktap_eq(got->write_bytes, 0) &
	       ktap_eq(got->texture.samples, want->texture.samples) &
	       ktap_eq(got->texture.touches, want->texture.touches) &
	       ktap_eq(got->texture.fills, want->texture.fills);
}

/* Nothing that a plan writes is there when another program begins: registers are 0. */
static bool nothing_left(void)
{
	static const char *const from[] = {
		BLEND("end ", "0", "r0"), BLEND("end ", "0", "r4"), BLEND("end ", "0", "r8"),
		BLEND("end ", "0", "r12"),
	};
	struct drawn d;
	struct result out;
	bool good = true;

	make(&rows[0], &d);
	p->state.shader.preload_0 = p->state.shader.preload_1 = TSR_PRELOAD_NONE;
	p->state.program = pipe_text(p, 2, TSR_STAGE_FRAGMENT, from[rnd() % 4]);
	p->state.serial++;
	run_core(&d, &out);
	for (unsigned int i = 0; i < 4 * BLOCK; i++)
		good &= !out.word[0][i / BLOCK][i % BLOCK];
	return ktap_ok(good);
}

/* Two blocks of a primitive, the second with what the first has found out. */
static bool one_row(const struct row *row)
{
	static const struct tsr_shader_stats none;
	struct result want, got;
	struct drawn d, next;
	const struct tsr_plan *plan;
	bool runs, good;

	make(row, &d);
	run_core(&d, &want);
	/* what registers hold is not what they should */
	make(row, &next);
	run_core(&next, &got);
	put(&d);
	tsr_stage_enter(p->sh, &p->mem, 0);
	plan = tsr_plan_find(p->sh, p->f);
	if (!ktap_eq(plan != NULL, row->fate != CORE) || !plan) {
		tsr_stage_leave(p->sh);
		return row->fate == CORE && !plan;
	}
	block.again = false;
	runs = run_plan(&d, plan, &got);
	tsr_stage_leave(p->sh);
	if (!ktap_eq(runs, row->fate == PLAN))
		return false;
	if (!runs)
		return ktap_eq(got.colored, 0) & ktap_eq(p->sh->stats.clauses, none.clauses) &
		       ktap_eq(p->sh->stats.messages, 0) & ktap_ok(!block.again);
	if (!same_colors(row, &d, &got, &want) ||
	    !same_counts(row, &d, &p->sh->stats, &want.stats) ||
	    (want.kept && !ktap_eq(plan->colors, want.colored)) || !ktap_ok(block.again))
		return false;
	/* what the second sees of the primitive is what the first has left */
	make(row, &next);
	next.prim = d.prim;
	memcpy(next.at, d.at, sizeof(d.at));
	put(&d);
	tsr_stage_enter(p->sh, &p->mem, 0);
	block.again = false;
	good = ktap_ok(run_plan(&d, plan, &got) && run_plan(&next, plan, &got));
	tsr_stage_leave(p->sh);
	run_core(&next, &want);
	return good && same_colors(row, &next, &got, &want) && nothing_left();
}

/* ---- States ---------------------------------------------------------------------------------- */

static void some_texture(void)
{
	static const unsigned int formats[] = { 187, 187, 171, 223 };
	struct tex t = tex_make(TEX_2D, formats[rnd() % 4]);
	struct tex_sampler s = tex_make_sampler(&t);

	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	pipe_texture(p, &t);
}

static uint64_t target(unsigned int n, enum tsr_blend_mode mode, unsigned int components,
		       enum tsr_register_type registers)
{
	return mode | (components - 1) << 3 | n << 16 | (uint64_t)registers << 56;
}

static const struct tsr_program *set_up(const struct row *row)
{
	struct tsr_shader_state *s = &p->state.shader;
	const enum tsr_register_type type = row->how & HALVES   ? TSR_REGISTER_TYPE_F16 :
					    row->how & INTEGERS ? TSR_REGISTER_TYPE_U32 :
							    TSR_REGISTER_TYPE_F32;

	s->preload_0 = row->how & PRELOAD ? TSR_PRELOAD_VAR_TEX : TSR_PRELOAD_NONE;
	s->preload_1 = row->how & PRELOAD ? TSR_PRELOAD_LD_VAR : TSR_PRELOAD_NONE;
	s->preload_0_varying = 1;
	s->preload_1_varying = 2;
	s->preload_0_components = s->preload_1_components = 1;
	if (row->how & FAR) {
		s->preload_0 = s->preload_1 = TSR_PRELOAD_LD_VAR;
		s->preload_0_varying = 32;
	}
	s->linear_varyings = row->how & LINEAR ? 1 << 2 : 0;
	s->flat_varyings = row->how & FLAT ? 1 : 0;
	s->helpers = !(row->how & ALONE);
	s->sample_shading = (row->how & SHADING) != 0;
	p->state.samples_log2 = row->how & SAMPLES ? 2 : 0;
	p->state.sample_positions = 0x123456789abcdef0;
	p->state.blend[0] = target(0, TSR_BLEND_MODE_OPAQUE, 4, type);
	for (unsigned int i = 1; i < TSR_RENDER_TARGETS_MAX; i++)
		p->state.blend[i] = row->how & MANY && i < TARGETS
					    ? target(i, TSR_BLEND_MODE_FIXED, 4, type)
					    : TSR_BLEND_MODE_OFF;
	p->program.clause_limit = row->how & LIMIT ? 3 : 0;
	for (unsigned int i = 0; i < 8; i++)
		p->push[i] = 0x3f000000 + rnd() % 0x1000000;
	p->state.serial++;
	return pipe_text(p, 1, TSR_STAGE_FRAGMENT, row->text);
}

static void all_rows(void)
{
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct row here = rows[i];
		const struct row *row = &here;

		if (row->how & LOOP && !p->sh->loops)
			here.fate = CORE;

		for (unsigned int n = 0; n < (row->fate == PLAN ? 6 : 1); n++) {
			p->state.program = set_up(row);
			if (row->how & TEXTURE)
				some_texture();
			if (one_row(row))
				continue;
			ktap_note("program %u:\n%s", i, row->text);
			break;
		}
	}
}

/* Run a block of @text as it is planned, of at most @limit clauses; whether it has a plan then. */
static bool leaves(const char *text, uint32_t limit)
{
	const struct row row = { text, LEFT, LOOP | ALONE | WHOLE };
	const struct tsr_plan *plan;
	struct result out;
	struct drawn d;
	bool has;

	p->program.clause_limit = limit;
	p->state.program = set_up(&row);
	p->program.clause_limit = limit;
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, text);
	make(&row, &d);
	put(&d);
	tsr_stage_enter(p->sh, &p->mem, 0);
	plan = tsr_plan_find(p->sh, p->f);
	block.again = false;
	if (ktap_ok(plan))
		ktap_ok(!run_plan(&d, plan, &out));
	ktap_eq(out.colored, 0);
	ktap_eq(p->sh->stats.clauses, 0);
	ktap_eq(p->sh->stats.threads, 0);
	has = tsr_plan_find(p->sh, p->f);
	tsr_stage_leave(p->sh);
	for (unsigned int q = 0; limit && q < 16; q++)
		pipe_quad(p, d.x + q % 4 * 2, d.y + q / 4 * 2, 0)->coverage = 0x1000100010001;
	if (limit)
		ktap_eq(pipe_fragments(p), TSR_STEP_FAULT);
	p->program.clause_limit = 0;
	return has;
}

/* Too many clauses, or a loop without an end: nothing of it can be seen. */
static void dropped(void)
{
	if (!p->sh->loops)
		return;
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
		p = pipe_new(&configs[i]);
		for (unsigned int k = 0; k < 4; k++)
			pipe_varying(p, k, 4);
		pipe_attribute(p, PIPE_OUTPUTS, 4, 31, TSR_PIXEL_FORMAT_RGBA32UI, 16, false);
		pipe_attribute(p, PIPE_OUTPUTS, 5, 31, TSR_PIXEL_FORMAT_RGBA16I, 32, false);
		pipe_attribute(p, PIPE_OUTPUTS, 32, 31, TSR_PIXEL_FORMAT_RG32F, 16, false);
		ktap_run("[PIX1] [PIX10] blocks by plan are what the core makes of them", all_rows);
		ktap_run("[PIX10] blocks that would take too long are the core's", dropped);
		pipe_free(p);
	}
	units_free(tex_units);
	return ktap_finish();
}
