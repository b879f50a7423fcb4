/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Fragment programs as plans whose threads part: branches, loops that threads leave one by one,
 * messages on one side, clauses that do not reconverge. Each block is what the core makes of it, to
 * the bit, and counts the same.
 */
#include <stdio.h>
#include <string.h>

#include "blocks.h"
#include "ktap.h"
#include "rnd.h"
#include "texture_ref.h"

/* Every second column, as each block has some of them, goes to @to. */
#define BRANCH_ODD(to) \
	"clause flow=nbtb_unconditional wait=0,6 {\n*RSHIFT_AND.i32 t0, r59, 0x1, #0.b0\n" \
	"+BRANCHZ.i16.ne t.h0, " to "\n}\n"
/* Threads with R0 below R1 go to @to, or those that do not. */
#define BRANCH(flow, how, to) \
	"clause flow=" flow " wait=0,6 {\n*FCMP.f32." how ".m1 t0, r0, r1\n+BRANCHZ.i16.ne t.h0, " \
	to "\n}\n"
#define TOGETHER "nbtb_unconditional"
#define JUMP(flow, to) "clause flow=" flow " wait=0 {\n*NOP\n+JUMP " to "\n}\n"
#define ADD(to, a, b) CLAUSE("*FADD.f32 " to ":t0, " a ", " b "\n+NOP\n*NOP\n+NOP\n")
#define SAMPLE \
	MESSAGE("TEXS_2D.f32.computed_lod r4, r5, texture_index:0, sampler_index:0, @r0")
#define CROSS(to, from, lane) \
	CLAUSE("*NOP\n+CLPER.i32.xor.subgroup4.zero " to ":t1, " from ", " lane "\n")
/* One side or the other, and both again. */
#define IF_ELSE(flow, yes, no) \
	LOAD(".v4", "0", "r0") LOAD(".v2", "1", "r4") BRANCH(TOGETHER, "lt", "yes") no \
	JUMP(flow, "both") "yes:\n" yes "both:\n" PIPE_FINISH

static const struct row rows[] = {
	/* two sides: arithmetic, varyings, samples, other threads of the quad, discards */
	{ IF_ELSE(TOGETHER, ADD("r2", "r0", "r1"), ADD("r3", "r1", "r0")), PLAN, PARTS },
	{ IF_ELSE("nbtb", ADD("r2", "r0", "r1"), ADD("r3", "r1", "r0")), PLAN, PARTS | ALONE },
	{ IF_ELSE(TOGETHER, LOAD(".v2", "2", "r2"), LOAD(".v3", "1", "r0")), PLAN, PARTS },
	{ IF_ELSE(TOGETHER, MESSAGE("LD_VAR_FLAT_IMM.v4.u32 index:4, @r0"), ""), PLAN,
	  PARTS | WHOLE },
	{ IF_ELSE(TOGETHER, SAMPLE, ADD("r4", "r4", "r5") SAMPLE), PLAN, PARTS | TEXTURE },
	{ IF_ELSE("nbtb", MESSAGE("VAR_TEX.f32.store.skip.computed_lod.center varying_index:1, "
				  "texture_index:0, @r0"), ADD("r2", "r0", "r1")),
	  PLAN, PARTS | TEXTURE },
	{ IF_ELSE(TOGETHER, CROSS("r2", "r0", "0x1"), CROSS("r3", "r1", "0x2")), PLAN, PARTS },
	{ IF_ELSE(TOGETHER, DISCARD("lt r0, r4"), DISCARD("lt r1, r5") CROSS("r2", "r0", "0x1")),
	  PLAN, PARTS | DISCARDS },
	{ IF_ELSE(TOGETHER, WHERE MESSAGE("LOAD.i32 r8, r9, @r2"),
		  WHERE MESSAGE("LOAD.i64 r8, r9, @r2")),
	  PLAN, PARTS | WHOLE | ALONE },
	/* what one side alone has written is 0 on the other */
	{ IF_ELSE(TOGETHER, ADD("r9", "r0", "r1"), ADD("r2", "r2", "r9")), PLAN, PARTS },
	{ LOAD(".v4", "0", "r0") BRANCH(TOGETHER, "lt", "yes") JUMP(TOGETHER, "both")
	  "yes:\n" ADD("r9", "r0", "r1") "both:\n" ADD("r2", "r2", "r9") PIPE_FINISH, PLAN,
	  PARTS },
	/* ends of their own: each side has its colors, or one has none */
	{ LOAD(".v4", "0", "r0") BRANCH(TOGETHER, "lt", "yes") ADD("r2", "r0", "r1") PIPE_FINISH
	  "yes:\n" ADD("r3", "r0", "r1") ATEST BLEND("end ", "0", "r0"), PLAN, PARTS },
	{ LOAD(".v4", "0", "r0") BRANCH_ODD("yes") "clause end {\n*NOP\n+NOP\n}\n"
	  "yes:\n" PIPE_FINISH, LEFT, PARTS | WHOLE },
	{ LOAD(".v4", "0", "r0") LOAD(".v4", "1", "r4") BRANCH(TOGETHER, "lt", "yes")
	  ATEST BLEND("", "1", "r4") BLEND("", "2", "r0") BLEND("end ", "0", "r4")
	  "yes:\n" ATEST BLEND("", "2", "r4") BLEND("", "0", "r0") BLEND("end ", "1", "r0"), PLAN,
	  PARTS | MANY },
	/* depth on both sides, or on one */
	{ IF_ELSE(TOGETHER, MESSAGE("ZS_EMIT.z r0, r0, r60, @r60"),
		  MESSAGE("ZS_EMIT.z r1, r0, r60, @r60")), PLAN, PARTS },
	{ LOAD(".v4", "0", "r0") BRANCH_ODD("yes") MESSAGE("ZS_EMIT.z r0, r0, r60, @r60") "yes:\n"
	  PIPE_FINISH, LEFT, PARTS | WHOLE },
	/* coverage that is elsewhere on one side */
	{ LOAD(".v4", "0", "r0") BRANCH(TOGETHER, "lt", "yes")
	  "clause wait=0 {\n*NOP\n+ATEST r11:t1, r60, zero.w0, @r60\n}\n" "yes:\n"
	  "clause end wait=0 {\n*NOP\n+BLEND r48:t1, r11, blend0.w0, blend0.w1, @r0\n}\n", CORE,
	  PARTS },
	{ LOAD(".v4", "0", "r0") BRANCH(TOGETHER, "lt", "yes")
	  CLAUSE("*MOV.i32 r60:t0, r59\n+NOP\n*NOP\n+NOP\n") "yes:\n" PIPE_FINISH, CORE, PARTS },
	/* loops of which some threads leave early, with samples, in other loops */
	{ BREAKS("out", "out") ADD("r3", "r3", "r8") "out:\n" PIPE_FINISH, PLAN, PARTS },
	{ COUNT LOAD(".v2", "1", "r4") "again:\n"
	  MESSAGE("TEXS_2D.f32.computed_lod r4, r5, texture_index:0, sampler_index:0, @r12")
	  HALF("again", "*FADD.f32 r4:t0, r4, r12\n+NOP\n") PIPE_FINISH, PLAN, PARTS | TEXTURE },
	{ COUNT "again:\n" CROSS("r2", "r8", "0x1") BRANCH(TOGETHER, "lt", "less")
	  JUMP("nbtb", "more") "less:\n" ADD("r3", "r3", "r8") "more:\n" HALF("again", "")
	  PIPE_FINISH, PLAN, PARTS },
	{ COUNT "again:\n" CLAUSE("*NOP\n+DISCARD.f32.lt r8, r1\n") HALF("again", "") PIPE_FINISH,
	  PLAN, PARTS | DISCARDS },
};
static void all_rows(void)
{
	blocks_rows(rows, sizeof(rows) / sizeof(rows[0]), 40);
}
/* ---- Random programs ------------------------------------------------------------------------- */

#define PLACES 9			/* of a random program */

/* A clause of place @n, which sends a message or computes. */
static void some_clause(char **to, bool texture)
{
	static const char *const messages[] = {
		LOAD(".v2", "1", "r2"), LOAD("", "2", "r5"), CROSS("r2", "r0", "0x1"),
		CROSS("r3", "r1", "0x2"), "clause wait=0,6 {\n*NOP\n+DISCARD.f32.lt r4, r0\n}\n",
		SAMPLE,
	};
	const unsigned int a = rnd() % 6, b = rnd() % 6, c = rnd() % 6;

	if (rnd() % 3)
		*to += sprintf(*to, CLAUSE("*FMA.f32 r%u:t0, r%u, r%u, 0xbf000000\n+NOP\n"
					   "*NOP\n+NOP\n"), a, b, c);
	else
		*to += sprintf(*to, "%s", messages[rnd() % (texture ? 6 : 5)]);
}

/*
 * Places one after the other, each of which may branch to any other. Threads leave loops because
 * R9 grows: it begins with the number of the column, so they leave them one by one.
 */
static void some_program(char *to, bool texture)
{
	static const char *const flow[] = { "nbtb_unconditional", "nbtb" };
	static const char *const how[] = { "lt", "ge", "ne" };

	to += sprintf(to, "%s", LOAD(".v4", "0", "r0") LOAD(".v2", "1", "r4")
		      CLAUSE("*RSHIFT_AND.i32 r9:t0, r59, 0x7, #0.b0\n+NOP\n*NOP\n+NOP\n"));
	for (unsigned int n = 0; n < PLACES; n++) {
		to += sprintf(to, "place%u:\n", n);
		for (unsigned int k = rnd() % 3; k > 0; k--)
			some_clause(&to, texture);
		to += sprintf(to, CLAUSE("*NOP\n+IADD.s32 r9:t1, r9, 0x%x\n*NOP\n+NOP\n"),
			      1 + rnd() % 3);
		to += sprintf(to, "clause flow=%s wait=0,6 {\n", flow[rnd() % 2]);
		if (rnd() % 4 == 0)
			to += sprintf(to, "*NOP\n+JUMP place%u\n}\n", n + 1);
		else if (rnd() % 2)
			to += sprintf(to, "*FCMP.f32.%s.m1 t0, r%u, r%u\n"
				      "+BRANCHZ.i16.ne t.h0, place%u\n}\n", how[rnd() % 3],
				      rnd() % 6, rnd() % 6, n + 1 + rnd() % (PLACES - n));
		else
			to += sprintf(to, "*NOP\n+ICMP.s32.ge.m1 t1, r9, 0x%x\n"
				      "*NOP\n+BRANCHZ.i16.eq t1.h0, place%u\n}\n",
				      8 + rnd() % 24, rnd() % (n + 1));
		if (rnd() % 12 == 0)
			to += sprintf(to, "%s", PIPE_FINISH);
	}
	sprintf(to, "place%u:\n%s", PLACES, PIPE_FINISH);
}

/*
 * Only whole blocks: after a clause that does not reconverge, which threads of a quad are active
 * together depends on the other quads of the warp.
 */
static void random_programs(void)
{
	static char text[8192];

	for (unsigned int i = 0; i < 250; i++) {
		const bool texture = rnd() % 2;
		const struct row row = {
			text, EITHER, PARTS | DISCARDS | WHOLE | (texture ? TEXTURE : 0) |
				    (rnd() % 2 ? ALONE : 0),
		};

		some_program(text, texture);
		blocks.pipe->state.program = blocks_program(&row);
		if (texture)
			blocks_texture();
		if (blocks_row(&row))
			continue;
		ktap_note("program %u:\n%s", i, text);
		return;
	}
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
		ktap_run("[PIX1] [PIX10] threads part as they do in the core", all_rows);
		ktap_run("[PIX1] [PIX10] random programs part as they do in the core",
			 random_programs);
		blocks_close();
	}
	units_free(tex_units);
	return ktap_finish();
}
