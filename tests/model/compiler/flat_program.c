/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Which programs leave the same colors in all fragments of a primitive, or of a draw: what comes
 * from where is followed operand by operand, register by register.
 */
#include <stdio.h>
#include <string.h>

#include "ktap.h"
#include "pipe.h"
#include "shader/core.h"
#include "compiler/flat_program.h"
#include "shader/planes.h"
#include "shader/stage_run.h"

#define IDLE "clause wait=0 {\n*NOP\n+NOP\n}\n"
#define CLAUSE(text) "clause wait=0,6 {\n" text "\n*NOP\n+NOP\n}\n"
#define MESSAGE(insn) "clause wait=0 {\n*NOP\n+" insn "\n}\n"
#define ATEST "clause wait=0 td {\n*NOP\n+ATEST r60:t1, r60, zero.w0, @r60\n}\n"
#define BLEND(coverage, from) \
	"clause end wait=0 {\n*NOP\n" \
	"+BLEND r48:t1, " coverage ", blend0.w0, blend0.w1, @" from "\n}\n"

/* How far what a program gives is the same. */
enum same {
	NOWHERE,
	PRIMITIVE,
	DRAW,
};

static struct pipe *p;

static struct tsr_flat find(const char *text)
{
	struct tsr_flat flat;

	p->state.serial++;
	p->state.program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, text);
	p->f->state = &p->state;
	tsr_stage_enter(p->sh, &p->mem, 0);
	ktap_ok(tsr_stage_resume(p->sh, &p->f->run, p->state.program));
	flat = tsr_flat_find(p->sh, &p->state);
	tsr_stage_leave(p->sh);
	return flat;
}

static bool is(const char *text, enum same same, uint32_t varyings)
{
	struct tsr_flat flat = find(text);
	bool good = ktap_eq(flat.same, same != NOWHERE);

	if (good && flat.same)
		good = ktap_eq(flat.everywhere, same == DRAW) & ktap_eq(flat.varyings, varyings);
	if (!good)
		ktap_note("%s", text);
	return good;
}

static const struct {
	const char *operand;
	enum same same;
} sources[] = {
	{ "r9", DRAW },			/* nobody has written it: 0 */
	{ "u0.w0", DRAW }, { "u3.w1", DRAW }, { "0x3f800000", DRAW },
	{ "framebuffer_size.w0", DRAW }, { "blend1.w1", DRAW },
	{ "r57", PRIMITIVE }, { "r58", PRIMITIVE }, { "r59", NOWHERE },
	{ "lane_id.w0", NOWHERE }, { "warp_id.w0", NOWHERE },
	/* coverage is for ATEST and BLEND */
	{ "r60", NOWHERE }, { "r61", NOWHERE },
};

/* A result is the same as far as the operand that is so least. */
static void operands(void)
{
	static const struct {
		const char *format;
		unsigned int operands;
	} rows[] = {
		{ CLAUSE("*MOV.i32 r0, %s\n+NOP"), 1 },
		{ CLAUSE("*NOP\n+IADD.s32 r0, %s, %s"), 2 },
		{ CLAUSE("*FADD.f32 r0, %s, %s\n+NOP"), 2 },
		{ CLAUSE("*FMA.f32 r0, %s, %s, %s\n+NOP"), 3 },
		{ CLAUSE("*CSEL.i32.eq r0, %s, %s, %s, %s\n+NOP"), 4 },
		{ CLAUSE("*SHADDXL.u32 t0, %s, %s, shift:3\n+SHADDXH.i32 r0:t1, %s, t"), 3 },
		{ CLAUSE("*SHADDXL.u32 t0, %s, %s, shift:3\n+SHADDXH.i32 r0:t1, %s, r9"), 3 },
		{ CLAUSE("*MOV.i32 r0.h0, %s\n+NOP"), 1 },
		{ CLAUSE("*MOV.i32 r0.h1, %s\n+NOP"), 1 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned int n = 0; n < rows[i].operands; n++) {
			for (unsigned int s = 0; s < sizeof(sources) / sizeof(sources[0]); s++) {
				const char *o[4] = { "r9", "r9", "r9", "r9" };
				char text[900];

				o[n] = sources[s].operand;
				snprintf(text, sizeof(text), rows[i].format,
					 o[0], o[1], o[2], o[3]);
				strcat(text, PIPE_FINISH);
				is(text, sources[s].same, 0);
			}
		}
	}
}

/* A write to a register that BLEND reads counts, a write to another one does not. */
static void registers(void)
{
	for (unsigned int first = 0; first < 16; first += 4) {
		for (unsigned int r = 0; r < 16; r++) {
			/* after the color's four the second color's, R4 to R7 */
			const bool taken = r / 4 == first / 4 || r / 4 == 1;
			char text[900];

			for (unsigned int k = 0; k < 2; k++) {
				snprintf(text, sizeof(text), CLAUSE("*MOV.i32 r%u, %s\n+NOP") ATEST
					 BLEND("r60", "r%u"), r, k ? "r58" : "r59", first);
				is(text, !taken ? DRAW : k ? PRIMITIVE : NOWHERE, 0);
			}
		}
	}
}

/* A register keeps its value until all of it has been written. */
static void overwritten(void)
{
	is(CLAUSE("*MOV.i32 r0, r59\n+NOP") CLAUSE("*MOV.i32 r0, u0.w0\n+NOP") PIPE_FINISH,
	   DRAW, 0);
	is(CLAUSE("*MOV.i32 r0, r59\n+NOP") CLAUSE("*MOV.i32 r0.h0, u0.w0\n+NOP") PIPE_FINISH,
	   NOWHERE, 0);
	is(CLAUSE("*MOV.i32 r0, r59\n+NOP") CLAUSE("*MOV.i32 r0.h1, u0.w0\n+NOP") PIPE_FINISH,
	   NOWHERE, 0);
	is(CLAUSE("*MOV.i32 r0, r58\n+NOP") CLAUSE("*MOV.i32 r0.h1, u0.w0\n+NOP") PIPE_FINISH,
	   PRIMITIVE, 0);
	/* registers of the entry state can be written as well */
	is(CLAUSE("*MOV.i32 r59, u0.w0\n+NOP") CLAUSE("*MOV.i32 r0, r59\n+NOP") PIPE_FINISH,
	   DRAW, 0);
	/* neighbors of a lane are other fragments */
	is(MESSAGE("CLPER.i32.xor.subgroup4.zero r0:t1, r58, 0x1") PIPE_FINISH, NOWHERE, 0);
}

/* A message of @count registers replaces what was in these, and in no others. */
static void loads(void)
{
	static const char *const vector[] = { "", ".v2", ".v3", ".v4" };

	for (unsigned int i = 0; i < 2 * 4 * 4 * 4; i++) {
		const unsigned int count = i % 4, first = i / 4 % 4, r = i / 16 % 4;
		const bool left = r < first || r > first + count, flat = i / 64;
		char text[900];

		snprintf(text, sizeof(text), flat ?
			 CLAUSE("*MOV.i32 r%u, r59\n+NOP")
			 MESSAGE("LD_VAR_FLAT_IMM%s.f32 index:2, @r%u") PIPE_FINISH :
			 CLAUSE("*MOV.i32 r%u, r59\n+NOP")
			 MESSAGE("LD_VAR_IMM.f32.store.center%s zero.w0, index:2, @r%u")
			 PIPE_FINISH, r, vector[count], first);
		is(text, left ? NOWHERE : PRIMITIVE, flat ? 0 : 1 << 2);
	}
}

/* Smooth varyings are those that have to be equal; flat ones are equal, on one primitive. */
static void varyings(void)
{
	for (unsigned int i = 0; i < 20; i++) {
		char text[900];

		snprintf(text, sizeof(text),
			 MESSAGE("LD_VAR_IMM.f32.store.center zero.w0, index:%u, @r0")
			 MESSAGE("LD_VAR_IMM.f32.store.center zero.w0, index:3, @r9")
			 PIPE_FINISH, i);
		is(text, PRIMITIVE, 1u << i | 1 << 3);
	}
	is(MESSAGE("LD_VAR_FLAT_IMM.v4.f32 index:1, @r8") PIPE_FINISH, DRAW, 0);
	is(MESSAGE("LD_VAR_IMM.f32.store.explicit.v4 u0.w0, index:0, @r0") PIPE_FINISH, NOWHERE, 0);
}

/* Varyings that are loaded before the first clause are loaded too. */
static void preloads(void)
{
	struct tsr_shader_state *s = &p->state.shader;

	for (unsigned int i = 0; i < 9; i++) {
		static const unsigned int kind[] = { TSR_PRELOAD_NONE, TSR_PRELOAD_LD_VAR,
						     TSR_PRELOAD_VAR_TEX };
		const unsigned int a = kind[i % 3], b = kind[i / 3];
		const bool none = !a && !b, samples = i % 3 == 2 || i / 3 == 2;

		s->preload_0 = a;
		s->preload_1 = b;
		s->preload_0_varying = 2;
		s->preload_1_varying = 5;
		if (!is(PIPE_FINISH, samples ? NOWHERE : none ? DRAW : PRIMITIVE,
			(a ? 1 << 2 : 0) | (b ? 1 << 5 : 0)))
			ktap_note("preloads %u and %u", a, b);
	}
	/* planes of higher varyings are not kept */
	for (unsigned int i = TSR_PLANE_VARYINGS - 1; i <= TSR_PLANE_VARYINGS; i++) {
		const bool good = i < TSR_PLANE_VARYINGS;

		s->preload_0 = s->preload_1 = TSR_PRELOAD_LD_VAR;
		s->preload_0_varying = i;
		s->preload_1_varying = 5;
		is(PIPE_FINISH, good ? PRIMITIVE : NOWHERE, 1 << 5 | (good ? 1u << i : 0));
		s->preload_0_varying = 5;
		s->preload_1_varying = i;
		is(PIPE_FINISH, good ? PRIMITIVE : NOWHERE, 1 << 5 | (good ? 1u << i : 0));
	}
	s->preload_0 = s->preload_1 = TSR_PRELOAD_NONE;
}

/* Coverage goes from the entry state by ATEST to BLEND; instructions make another value of it. */
static void coverage(void)
{
#define ATEST_OF(src) "clause wait=0 td {\n*NOP\n+ATEST r11:t1, " src ", zero.w0, @r12\n}\n"
	is(ATEST_OF("r60") BLEND("r11", "r0"), DRAW, 0);
	is(ATEST_OF("r60") BLEND("r12", "r0"), DRAW, 0);
	is(ATEST_OF("r60") BLEND("r60", "r0"), DRAW, 0);
	is(ATEST_OF("r60") BLEND("r13", "r0"), NOWHERE, 0);
	is(ATEST_OF("r60") BLEND("r10", "r0"), NOWHERE, 0);
	is(ATEST_OF("r60") BLEND("r57", "r0"), NOWHERE, 0);
	/* the register holds no color */
	is(ATEST_OF("r60") BLEND("r60", "r8"), NOWHERE, 0);
	is(ATEST_OF("r57") BLEND("r60", "r0"), NOWHERE, 0);
	is(ATEST_OF("r59") BLEND("r60", "r0"), NOWHERE, 0);
	is(ATEST_OF("r10") BLEND("r60", "r0"), NOWHERE, 0);
	is(CLAUSE("*MOV.i32 r10, r60\n+NOP") ATEST_OF("r60") BLEND("r10", "r0"), NOWHERE, 0);
	is(CLAUSE("*MOV.i32 r10, r60\n+NOP") ATEST_OF("r10") BLEND("r60", "r0"), NOWHERE, 0);
	is(CLAUSE("*NOP\n+IADD.s32 r10, r60, r9") ATEST_OF("r60") BLEND("r10", "r0"), NOWHERE, 0);
	is(CLAUSE("*MOV.i32 r10.h0, r60\n+NOP") ATEST_OF("r60") BLEND("r10", "r0"), NOWHERE, 0);
}

/* Programs that are longer than anybody looks, that branch, that send other messages. */
static void programs(void)
{
	for (unsigned int n = 60; n < 65; n++) {
		char text[64 * sizeof(IDLE) + 300] = "";

		for (unsigned int i = 0; i < n; i++)
			strcat(text, IDLE);
		strcat(text, PIPE_FINISH);
		is(text, n + 2 <= 64 ? DRAW : NOWHERE, 0);
	}
	is("clause wait=0,6 flow=nbtb_unconditional {\n*NOP\n+BRANCHZ.i32.eq r55, next\n}\n"
	   "next: " PIPE_FINISH, NOWHERE, 0);
	is(MESSAGE("TEXS_2D.f32.computed_lod r4, r5, texture_index:0, sampler_index:0, @r8")
	   PIPE_FINISH, NOWHERE, 0);
	is(CLAUSE("*MOV.i32 r4, blend0.w1\n+NOP") ATEST
	   "clause end wait=0 {\n*NOP\n+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r8\n}\n",
	   DRAW, 0);
	is(CLAUSE("*MOV.i32 r10, blend0.w0\n+NOP") ATEST
	   "clause end wait=0 {\n*NOP\n+BLEND r48:t1, r60, r10, blend0.w1, @r0\n}\n", NOWHERE, 0);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	p = pipe_new(NULL);
	p->state.shader.preload_0 = p->state.shader.preload_1 = TSR_PRELOAD_NONE;
	ktap_run("[PIX10] a result is the same as far as its operands are", operands);
	ktap_run("[PIX10] the registers that make a colour", registers);
	ktap_run("[PIX10] what is overwritten does not count, what is left does", overwritten);
	ktap_run("[PIX10] loads replace the registers they write", loads);
	ktap_run("[PIX10] varyings that have to be equal", varyings);
	ktap_run("[PIX10] varyings that are loaded before the first clause", preloads);
	ktap_run("[PIX10] coverage on its way to BLEND", coverage);
	ktap_run("[PIX10] programs of which nothing is known", programs);
	pipe_free(p);
	return ktap_finish();
}
