/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/* Plans of fragment programs: when one is made anew. */
#include <stdio.h>
#include <string.h>

#include "ktap.h"
#include "pipe.h"
#include "shader/core.h"
#include "compiler/plan.h"

#define COLOR \
	"clause wait=0,6 {\n*MOV.i32 r0:t0, 0x3f000000\n+NOP\n*MOV.i32 r1:t0, 0x3f000000\n+NOP\n" \
	"*MOV.i32 r2:t0, 0x3f000000\n+NOP\n*MOV.i32 r3:t0, 0x3f000000\n+NOP\n*NOP\n+NOP\n}\n"

static const char text[] =
	COLOR PIPE_FINISH;
/* A program with a branch to a register, which has no plan. */
static const char branches[] =
	"clause wait=0,6 flow=nbtb_unconditional {\n*NOP\n+BRANCHZ.i32.eq r55, r54\n}\n"
	COLOR PIPE_FINISH;

static const struct tsr_plan *find(struct pipe *p)
{
	const struct tsr_plan *plan;

	tsr_stage_enter(p->sh, &p->mem, 0);
	p->f->state = &p->state;
	plan = tsr_plan_find(p->sh, p->f);
	tsr_stage_leave(p->sh);
	return plan;
}

/* The code at the program's address is examined again after an invalidation. */
static void invalidated(void)
{
	struct pipe *p = pipe_new(NULL);
	struct tsr_program first;

	p->state.serial = 1;
	p->state.program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, text);
	first = *p->state.program;
	ktap_ok(find(p));
	ktap_ok(find(p));
	pipe_text(p, 0, TSR_STAGE_FRAGMENT, branches);
	p->state.program = &first;
	tsr_mmu_code_changed(&p->b->gpu->mmu, p->mem.as);
	ktap_ok(!find(p));
	pipe_free(p);
}

/* States that rule out a plan. */
static void states(void)
{
	struct pipe *p = pipe_new(NULL);
	const struct tsr_fragment_state plain = p->state;
	const struct tsr_program *program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, text);

	for (unsigned int i = 0; i < 12; i++) {
		p->state = plain;
		p->state.program = program;
		p->state.serial = i + 1;
		p->state.shader.sample_shading = i == 1;
		p->state.shader.discards = i == 2;
		p->state.shader.writes_depth = i == 3;
		p->state.shader.writes_stencil = i == 4;
		p->state.shader.reads_tile = i == 5;
		p->state.shader.side_effects = i == 6;
		p->state.draw.alpha_to_coverage = i == 7;
		p->state.dual_source = i == 8;
		if (i == 9)		/* of any target */
			p->state.blend[TSR_RENDER_TARGETS_MAX - 1] = TSR_BLEND_MODE_PROGRAM;
		if (i == 10)		/* of another target */
			p->state.blend[0] |= 1u << 16;
		if (i == 11)
			p->state.blend[0] = TSR_BLEND_MODE_OFF;
		if (!ktap_eq(find(p) != NULL, (0x89f >> i & 1) != 0))
			ktap_note("case %u", i);
	}
	pipe_free(p);
}

#define SEND(fma, add) "clause wait=0 {\n" fma "\n" add "\n}\n" PIPE_FINISH

/* Programs, and whether there is a plan of each. */
static void programs(void)
{
	static const struct {
		const char *text;
		bool plan;
	} rows[] = {
		{ text, true }, { branches, false },
		/* coverage is computed with */
		{ COLOR "clause {\n*NOP\n+IADD.s32 r60, r60, r60\n}\n" PIPE_FINISH, false },
		{ COLOR "clause {\n*NOP\n+IADD.s32 r0, r60, r60\n}\n" PIPE_FINISH, false },
		{ COLOR "clause {\n*NOP\n+IADD.s32 r0, r1, r2\n}\n" PIPE_FINISH, true },
		/* a texture word is a constant, or what its clause has copied of one */
		{ SEND("*NOP", "+TEXC r4, r5, 0xf4787800, @r0"), true },
		{ SEND("*MOV.i32 r8:t0, 0xf4787800\n+NOP\n*NOP", "+TEXC r4, r5, t0, @r0"), true },
		{ SEND("*MOV.i32 r8:t0, r6\n+NOP\n*NOP", "+TEXC r4, r5, t0, @r0"), false },
		{ SEND("*NOP", "+LD_VAR_SPECIAL.f32.frag_z.clobber.center zero.w0, @r0"), true },
		{ SEND("*NOP", "+LD_ATTR_TEX.f32.v4 r4, r5, r6, @r0"), true },
		/* what nobody has written is 0 */
		{ "clause {\n*MOV.i32 r0, 0x3f000000\n+NOP\n}\n" PIPE_FINISH, true },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pipe *p = pipe_new(NULL);

		p->state.serial = 1;
		p->state.program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, rows[i].text);
		if (!ktap_eq(find(p) != NULL, rows[i].plan))
			ktap_note("program %u", i);
		pipe_free(p);
	}
}

/* True if a program that is @format with its operands has a plan. */
static bool has_plan(struct pipe *p, const char *format, const char *const *operand)
{
	char text[600];

	snprintf(text, sizeof(text), format, operand[0], operand[1], operand[2], operand[3]);
	p->state.program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, text);
	p->state.serial++;
	return find(p);
}

/*
 * A plan knows every operand of an instruction, and needs no other: R0 is not one of them. R60 is
 * coverage, which is no value.
 */
static void operands(void)
{
#define END "clause end {\n*NOP\n+NOP\n}\n"
#define ALONE(insn) "clause wait=0 {\n" insn "\n*NOP\n+NOP\n}\n" END
	static const struct {
		const char *format;
		unsigned int operands;
	} rows[] = {
		{ ALONE("*NOP\n+IADD.s32 r4, %s, %s"), 2 },
		{ ALONE("*FADD.f32 r4, %s, %s\n+NOP"), 2 },
		{ ALONE("*IMUL.i32 r4, %s, %s\n+NOP"), 2 },
		{ ALONE("*FMA.f32 r4, %s, %s, %s\n+NOP"), 3 },
		{ ALONE("*LSHIFT_OR.i32 r4, %s, %s, %s\n+NOP"), 3 },
		{ ALONE("*CSEL.i32.eq r4, %s, %s, %s, %s\n+NOP"), 4 },
		/* the high word needs both words' operands, even where nobody sees the low one */
		{ ALONE("*SHADDXL.u32 r4:t0, %s, %s, shift:3\n+SHADDXH.i32 r6:t1, %s, t"), 3 },
		{ ALONE("*SHADDXL.u32 t0, %s, %s, shift:3\n+SHADDXH.i32 r6:t1, %s, u1.w1"), 3 },
	};
	static const char *const known[] = { "r57", "r58", "r58", "u0.w0" };
	struct pipe *p = pipe_new(NULL);

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* the last: all are known */
		for (unsigned int n = 0; n <= rows[i].operands; n++) {
			const char *operand[4];

			memcpy(operand, known, sizeof(operand));
			if (n < rows[i].operands)
				operand[n] = "r60";
			if (!ktap_eq(has_plan(p, rows[i].format, operand), n == rows[i].operands))
				ktap_note("operand %u of\n%s", n, rows[i].format);
		}
	}
	pipe_free(p);
}

/* Words of a color of @components, by what the registers hold (3d.md, BLEND). */
static unsigned int color_words(enum tsr_register_type type, unsigned int components)
{
	const bool halves = type == TSR_REGISTER_TYPE_F16 || type == TSR_REGISTER_TYPE_S16 ||
			    type == TSR_REGISTER_TYPE_U16;

	return halves ? (components + 1) / 2 : components;
}

/* A color has to be known in all its registers, and in no others. */
static void colors(void)
{
	static const enum tsr_register_type types[] = {
		TSR_REGISTER_TYPE_F32, TSR_REGISTER_TYPE_F16, TSR_REGISTER_TYPE_S32,
		TSR_REGISTER_TYPE_U32, TSR_REGISTER_TYPE_S16, TSR_REGISTER_TYPE_U16,
	};
	struct pipe *p = pipe_new(NULL);

	for (unsigned int i = 0; i < 6 * 4 * 16; i++) {
		const enum tsr_register_type type = types[i / 64];
		const unsigned int components = 1 + i / 16 % 4, mask = i % 16;
		const unsigned int all = (1u << color_words(type, components)) - 1;
		char text[1400] = "";

		/* what is no color is coverage */
		for (unsigned int r = 0; r < 4; r++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 mask >> r & 1 ? "clause wait=0 {\n*MOV.i32 r%u, r59\n+NOP\n"
						 "*NOP\n+NOP\n}\n" :
						 "clause wait=0 {\n*NOP\n"
						 "+ATEST r%u:t1, r60, zero.w0, @r60\n}\n", r);
		strcat(text, PIPE_FINISH);
		p->state.blend[0] = TSR_BLEND_MODE_OPAQUE | (components - 1) << 3 |
				    (uint64_t)type << 56;
		p->state.program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, text);
		p->state.serial++;
		if (!ktap_eq(find(p) != NULL, (mask & all) == all))
			ktap_note("type %u, %u components, registers %#x", type, components, mask);
	}
	pipe_free(p);
}

#define BLEND(flow, coverage, target, from) \
	"clause " flow "wait=0 {\n*NOP\n" \
	"+BLEND r48:t1, " coverage ", blend" target ".w0, blend" target ".w1, @r" from "\n}\n"

/* A plan gives a target its color but once; two targets may be any two, in any order. */
static void targets(void)
{
	struct pipe *p = pipe_new(NULL);

	for (unsigned int n = 0; n < TSR_RENDER_TARGETS_MAX; n++)
		p->state.blend[n] = TSR_BLEND_MODE_OPAQUE | 3 << 3 | n << 16;
	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX * TSR_RENDER_TARGETS_MAX; i++) {
		const unsigned int a = i / TSR_RENDER_TARGETS_MAX, b = i % TSR_RENDER_TARGETS_MAX;
		const struct tsr_plan *plan;
		char text[700];

		snprintf(text, sizeof(text),
			 COLOR BLEND("", "r60", "%u", "0") BLEND("end ", "r60", "%u", "0"),
			 a, a, b, b);
		p->state.program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, text);
		p->state.serial++;
		plan = find(p);
		if (!ktap_eq(plan != NULL, a != b) ||
		    (plan && !ktap_eq(plan->colors, 1u << a | 1u << b)))
			ktap_note("targets %u and %u", a, b);
	}
	pipe_free(p);
}

/* Four registers from the first on hold the color: a plan has it when there are four. */
static void last_registers(void)
{
	struct pipe *p = pipe_new(NULL);

	for (unsigned int first = 49; first < TSR_REGISTERS; first++) {
		char text[900] = "clause wait=0 td {\n*NOP\n+ATEST r12:t1, r60, zero.w0, @r12\n}\n"
				 "clause wait=0 {\n";

		for (unsigned int r = first; r < first + 4 && r < TSR_REGISTERS; r++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 "*MOV.i32 r%u, r59\n+NOP\n", r);
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "*NOP\n+NOP\n}\n" BLEND("end ", "r12", "0", "%u"), first);
		p->state.program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, text);
		p->state.serial++;
		if (!ktap_eq(find(p) != NULL, first + 4 <= TSR_REGISTERS))
			ktap_note("from register %u on", first);
	}
	pipe_free(p);
}

/* A program of three clauses has a plan unless it has to fault before its end. */
static void limits(void)
{
	for (unsigned int limit = 0; limit < 6; limit++) {
		struct pipe *p = pipe_new(NULL);

		p->program.clause_limit = limit;
		p->state.serial = 1;
		p->state.program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, text);
		if (!ktap_eq(find(p) != NULL, !limit || limit >= 3))
			ktap_note("limit %u", limit);
		pipe_free(p);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[CP11] [PIX10] a plan is one of the code there is", invalidated);
	ktap_run("[PIX10] states of fragments that have a plan", states);
	ktap_run("[PIX10] programs that have a plan", programs);
	ktap_run("[PIX10] a plan knows all operands of its instructions", operands);
	ktap_run("[PIX10] a plan knows all registers of its colours", colors);
	ktap_run("[PIX10] a plan gives a target one colour", targets);
	ktap_run("[PIX10] a colour is in four of the registers there are", last_registers);
	ktap_run("[PIX10] [ISA14] programs that may run into CLAUSE_LIMIT have no plan", limits);
	return ktap_finish();
}
