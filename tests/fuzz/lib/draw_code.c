/* SPDX-License-Identifier: MIT */
#include "draw_code.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/asm.h>

struct text {
	struct fuzz_random *r;
	struct fuzz_draw_code *c;
	char at[FUZZ_TEXT_BYTES];
	size_t size;
	unsigned int labels;
};

static void add(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at + t->size, sizeof(t->at) - t->size, format, args);
	va_end(args);
	if (n < 0 || (t->size += (size_t)n) >= sizeof(t->at))
		abort();
}

#define ONE_OF(r, ...) \
	((const char *const[]){ __VA_ARGS__ }[fuzz_below(r, \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))])

static void finish(struct text *t)
{
	struct tsr_asm_shader *program;

	if (tsr_asm_assemble(t->at, t->size, 0, &program)) {
		tsr_asm_print_diagnostics(stderr, program, "draw_code");
		fputs(t->at, stderr);
		abort();
	}
	if (program->size > FUZZ_CODE_BYTES)
		abort();
	memcpy(t->c->code, program->code, program->size);
	t->c->size = program->size;
	tsr_asm_free(program);
}

static struct text *begin(struct fuzz_random *r, struct fuzz_draw_code *c)
{
	static struct text t;

	memset(c, 0, sizeof(*c));
	c->registers_64 = fuzz_below(r, 2);
	t.r = r;
	t.c = c;
	t.size = 0;
	t.labels = 0;
	return &t;
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* A register of general use: colors and what is loaded. */
static unsigned int any(struct text *t)
{
	return fuzz_below(t->r, t->c->registers_64 ? 24 : 16);
}

static const char *konst(struct text *t)
{
	return ONE_OF(t->r, "0x3f800000", "0x3f000000", "0x40490fdb", "0xbf000000", "0x3e800000",
		      "u3.w0", "u3.w1", "0x00000003", "0x7f800000", "0x80000000");
}

static void tuple(struct text *t)
{
	unsigned int d = any(t), a = any(t), b = any(t), c = any(t);
	struct fuzz_random *r = t->r;

	switch (fuzz_below(r, 14)) {
	case 0: case 1: case 2:
		add(t, "*FMA.f32%s r%u:t0, r%u, r%u, r%u\n+NOP\n",
		    ONE_OF(r, "", ".clamp_0_1", ".clamp_0_inf", ".clamp_m1_1"), d, a, b, c);
		break;
	case 3:
		add(t, "*FADD.f32%s r%u:t0, r%u, r%u\n+NOP\n", ONE_OF(r, "", ".clamp_0_1"), d, a,
		    b);
		break;
	case 4:
		add(t, "*FMA.f32 r%u:t0, r%u, %s, #0.neg\n+NOP\n", d, a, konst(t));
		break;
	case 5:
		add(t, "*NOP\n+FADD.f32 r%u:t1, r%u, r%u\n", d, a, b);
		break;
	case 6:
		add(t, "*NOP\n+%s.f32 r%u:t1, r%u, r%u\n", ONE_OF(r, "FMIN", "FMAX"), d, a, b);
		break;
	case 7:
		add(t, "*MOV.i32 r%u:t0, r%u\n+NOP\n", d, a);
		break;
	case 8:
		add(t, "*MOV.i32 r%u:t0, %s\n+NOP\n", d, konst(t));
		break;
	case 9:
		add(t, "*IADDC.i32 r%u:t0, r%u, r%u, #0\n+NOP\n", d, a, b);
		break;
	case 10:
		add(t, "*LSHIFT_%s.i32 r%u:t0, r%u, r%u, #0.b0\n+NOP\n",
		    ONE_OF(r, "AND", "OR", "XOR"), d, a, b);
		break;
	case 11:
		add(t, "*NOP\n+%s r%u:t1, r%u\n",
		    ONE_OF(r, "U32_TO_F32", "S32_TO_F32", "F32_TO_S32", "F32_TO_U32"), d, a);
		break;
	case 12:
		add(t, "*NOP\n+%s.f32 r%u:t1, r%u\n", ONE_OF(r, "FRSQ", "FRCP"), d, a);
		break;
	default:
		add(t, "*CSEL.f32.gt r%u:t0, r%u, r%u, r%u, r%u\n+NOP\n", d, a, b, a, b);
	}
}

static void arithmetic(struct text *t)
{
	unsigned int n = 1 + fuzz_below(t->r, 4);

	add(t, "clause wait=0 {\n");
	/* some without constants, with two sources each, or one of any kind */
	if (n == 1) {
		tuple(t);
	} else {
		for (unsigned int i = 0; i < n; i++) {
			unsigned int d = any(t), a = any(t), b = any(t);

			if (fuzz_below(t->r, 2))
				add(t, "*FMA.f32 r%u:t0, r%u, r%u, r%u\n+NOP\n", d, a, b, a);
			else
				add(t, "*NOP\n+FADD.f32 r%u:t1, r%u, r%u\n", d, a, b);
		}
	}
	add(t, "}\n");
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void message(struct text *t, const char *insn, unsigned int to)
{
	add(t, "clause wait=0 slot=0 {\n*NOP\n+%s, @r%u\n}\n", insn, to);
}

/* Four registers in a row. */
static unsigned int four(struct text *t)
{
	return 4 * fuzz_below(t->r, t->c->registers_64 ? 6 : 4);
}

static void varying(struct text *t)
{
	static const char *const places[][2] = {
		{ "store.center", "zero.w0" }, { "store.centroid", "r61" },
		{ "store.sample", "r61" }, { "store.explicit", "u1.w0" },
		{ "retrieve", "zero.w0" }, { "clobber.center", "zero.w0" },
		{ "conditional.centroid", "r61" }, { "store.center", "zero.w0" },
	};
	unsigned int p = fuzz_below(t->r, 8), index = fuzz_below(t->r, 5);
	const char *v = ONE_OF(t->r, "", ".v2", ".v3", ".v4");
	char insn[120];

	t->c->covered |= strstr(places[p][0], "centroid") != NULL;
	switch (fuzz_below(t->r, 8)) {
	case 0:
		snprintf(insn, sizeof(insn), "LD_VAR_FLAT_IMM%s.%s index:%u", v,
			 ONE_OF(t->r, "f32", "u32", "auto"), index);
		break;
	case 1:
		snprintf(insn, sizeof(insn), "LD_VAR_SPECIAL.f32.%s.clobber.center%s",
			 ONE_OF(t->r, "frag_w", "frag_z", "point"), ".v2 zero.w0");
		if (!strstr(insn, "point"))
			memmove(strstr(insn, ".v2"), " zero.w0", sizeof(" zero.w0"));
		break;
	case 2:
		snprintf(insn, sizeof(insn), "LD_VAR.f32.store.center%s zero.w0, r58", v);
		break;
	default:
		snprintf(insn, sizeof(insn), "LD_VAR_IMM.%s.%s%s %s, index:%u",
			 fuzz_below(t->r, 4) ? "f32" : "f16", places[p][0], v, places[p][1], index);
	}
	message(t, insn, four(t));
}

static void texture(struct text *t)
{
	unsigned int n = fuzz_below(t->r, 4), s = four(t);
	const char *size = ONE_OF(t->r, "f32", "f32", "f16");
	char insn[120];

	t->c->derivatives = true;
	switch (fuzz_below(t->r, 4)) {
	case 0:
		snprintf(insn, sizeof(insn),
			 "VAR_TEX.%s.store.skip.%s.center varying_index:%u, texture_index:%u", size,
			 ONE_OF(t->r, "computed_lod", "zero_lod"), fuzz_below(t->r, 5), n);
		break;
	case 1:
	case 2:
		snprintf(insn, sizeof(insn),
			 "TEXS_2D.%s.%s r%u, r%u, texture_index:%u, sampler_index:%u", size,
			 ONE_OF(t->r, "computed_lod", "zero_lod"), s, s + 1, n, n);
		break;
	default:
		snprintf(insn, sizeof(insn), "TEXC r%u, r%u, 0xf%s7878%02x", s, s + 1,
			 ONE_OF(t->r, "0", "4"), n | n << 4);
	}
	message(t, insn, four(t));
}

/* x and y of the pixel to R49 and R50, the number of its word in memory to R51. */
static void place(struct text *t)
{
	add(t, "clause wait=0 {\n*LSHIFT_AND.i32 r49:t0, r59, 0x7f, 0x0.b0\n+NOP\n"
	       "*RSHIFT_OR.i32 r50:t0, r59, #0, 0x10.b0\n+NOP\n*NOP\n+NOP\n}\n"
	       "clause {\n*LSHIFT_AND.i32 r50:t0, r50, 0x3f, 0x0.b0\n+NOP\n"
	       "*LSHIFT_OR.i32 r51:t0, t0, r49, 0x7.b0\n+NOP\n*NOP\n+NOP\n}\n");
}

static void memory(struct text *t)
{
	place(t);
	t->c->stores = true;
	if (fuzz_below(t->r, 2)) {
		add(t, "clause message=atomic slot=0 wait=0 {\n"
		       "*SHADDXL.u32 t0, u0.w0, r51, shift:2\n+SHADDXH.i32 t1, u0.w1, t\n"
		       "*ATOM_C1.i32.ainc t0, t1\n+ATOM_CX t0, t1, zero.w0, @r52\n}\n");
		return;
	}
	add(t, "clause message=store slot=0 wait=0 {\n"
	       "*SHADDXL.u32 t0, u0.w0, r51, shift:2\n+SHADDXH.i32 t1, u0.w1, t\n"
	       "*NOP\n+STORE.i32 t0, t1, @r%u\n}\n", any(t));
}

static void discard(struct text *t)
{
	t->c->discards = true;
	add(t, "clause wait=0 {\n*NOP\n+DISCARD.f32.%s r%u, %s\n}\n",
	    ONE_OF(t->r, "lt", "le", "eq", "ne"), any(t), konst(t));
}

static void depth(struct text *t)
{
	bool z = fuzz_below(t->r, 3), s = !z || fuzz_below(t->r, 2);

	t->c->depth |= z;
	t->c->stencil |= s;
	add(t, "clause wait=0 {\n*NOP\n+ZS_EMIT%s%s r%u, r%u, r60, @r60\n}\n", s ? ".stencil" : "",
	    z ? ".z" : "", any(t), any(t));
}

/* Load the pixel of @target from the tile. */
static void fetch_from(struct text *t, unsigned int target)
{
	t->c->reads_tile = true;
	add(t, "clause wait=0 {\n*MOV.i32 r52, 0xff00%02x00\n+NOP\n*MOV.i32 r53, u2.w0\n+NOP\n"
	       "*NOP\n+NOP\n}\n", target);
	add(t, "clause slot=0 wait=0 {\n*NOP\n+LD_TILE.v4 r52, r60, r53, @r%u\n}\n", four(t));
}

/* A color, sometimes stencil or depth. */
static void fetch(struct text *t)
{
	fetch_from(t, fuzz_below(t->r, 4) ? fuzz_below(t->r, 3) : 254 + fuzz_below(t->r, 2));
}

static void neighbours(struct text *t)
{
	t->c->derivatives = true;
	add(t, "clause wait=0 {\n*NOP\n+CLPER.i32.xor.subgroup4.zero r%u:t1, r%u, 0x%x\n}\n",
	    any(t), any(t), 1 + fuzz_below(t->r, 2));
}

/* Some lanes jump over something, or do it again. */
static void flow(struct text *t)
{
	unsigned int label = t->labels++;

	add(t, "clause wait=0 {\n*LSHIFT_AND.i32 r55:t0, %s, 0x%x, 0x0.b0\n+NOP\n}\n",
	    ONE_OF(t->r, "r59", "r57", "r58", "r59"), 1 + fuzz_below(t->r, 3));
	if (fuzz_below(t->r, 2)) {
		add(t, "clause wait=0 flow=nbtb_unconditional {\n*NOP\n"
		       "+BRANCHZ.i32.ne r55, over%u\n}\n", label);
		arithmetic(t);
		add(t, "over%u:\n", label);
	} else {
		add(t, "clause {\n*IADDC.i32 r55:t0, r55, 0x1, #0\n+NOP\n}\nagain%u:\n", label);
		arithmetic(t);
		add(t, "clause wait=0 {\n*NOP\n+IADD.s32 r55:t1, r55, 0xffffffff\n}\n");
		add(t, "clause wait=0 flow=nbtb_unconditional {\n*NOP\n"
		       "+BRANCHZ.i32.ne r55, again%u\n}\n", label);
	}
}

/* ---- Programs -------------------------------------------------------------------------------- */

static const struct {
	unsigned int piece;
	void (*add)(struct text *t);
} pieces_of[] = {
	{ FUZZ_CODE_VARYINGS, varying }, { FUZZ_CODE_VARYINGS, varying },
	{ FUZZ_CODE_VARYINGS, varying }, { FUZZ_CODE_ALU, arithmetic },
	{ FUZZ_CODE_ALU, arithmetic }, { FUZZ_CODE_TEXTURES, texture },
	{ FUZZ_CODE_TEXTURES, texture }, { FUZZ_CODE_ALU, neighbours },
	{ FUZZ_CODE_STORES, memory }, { FUZZ_CODE_DISCARD, discard }, { FUZZ_CODE_DEPTH, depth },
	{ FUZZ_CODE_TILE, fetch }, { FUZZ_CODE_FLOW, flow },
};
#define PIECES (sizeof(pieces_of) / sizeof(pieces_of[0]))

void fuzz_fragment_code(struct fuzz_random *r, struct fuzz_draw_code *c, unsigned int targets,
			unsigned int pieces)
{
	unsigned int count = fuzz_below(r, 2) ? fuzz_below(r, 3) : fuzz_below(r, 9);
	struct text *t = begin(r, c);

	for (unsigned int i = 0; i < count; i++) {
		unsigned int n = fuzz_below(r, PIECES);

		if (pieces_of[n].piece & pieces)
			pieces_of[n].add(t);
	}
	if (fuzz_below(r, 8) == 0) {
		/* fewer samples than there are */
		c->discards = true;
		add(t, "clause wait=0 {\n*LSHIFT_AND.i32 r61, r60, 0x%x, 0x0.b0\n+NOP\n}\n",
		    1 + fuzz_below(r, 15));
		add(t, "clause wait=0 td {\n*NOP\n+ATEST r60:t1, r61, r3, @r60\n}\n");
	} else {
		add(t, "clause wait=0 td {\n*NOP\n+ATEST r60:t1, r60, %s, @r60\n}\n",
		    ONE_OF(r, "r3", "r3", "r60", "zero.w0"));
	}
	for (unsigned int i = 0; i < targets; i++)
		add(t, "clause wait=0 slot=0 {\n*NOP\n+BLEND r48:t1, r60, blend%u.w0, blend%u.w1, "
		       "@r%u\n}\n", i, i, fuzz_below(r, 4) ? 0 : four(t));
	add(t, "clause end {\n*NOP\n+NOP\n}\n");
	finish(t);
}

void fuzz_blend_code(struct fuzz_random *r, struct fuzz_draw_code *c)
{
	struct text *t = begin(r, c);

	/* the registers are the fragment program's */
	c->registers_64 = false;
	fetch_from(t, fuzz_below(r, 3));
	add(t, "clause wait=0 {\n*FMA.f32 r0, r4, 0x3f000000, r0\n+NOP\n"
	       "*FMA.f32 r1, r5, 0x3f000000, r1\n+NOP\n*NOP\n+NOP\n}\n");
	add(t, "clause slot=0 wait=0 {\n*NOP\n+ST_TILE.v4 r52, r60, r53, @r0\n}\n"
	       "clause flow=nbtb {\n*NOP\n+JUMP r48\n}\n");
	finish(t);
}

static void load_attribute(struct text *t, unsigned int index, unsigned int to)
{
	add(t, "clause wait=0 slot=0 {\n*NOP\n"
	       "+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:%u, @r%u\n}\n", index, to);
}

void fuzz_position_code(struct fuzz_random *r, struct fuzz_draw_code *c, bool extended)
{
	struct text *t = begin(r, c);

	load_attribute(t, 0, 0);
	if (!fuzz_below(r, 4)) {
		load_attribute(t, 1 + fuzz_below(r, 5), 4);
		add(t, "clause wait=0 {\n*FMA.f32 r0:t0, r4, 0x3e800000, r0\n+NOP\n}\n");
	}
	if (extended) {
		static const uint8_t at[] = { 16, 32, 48 };

		/* size, layer and viewport; distances */
		for (unsigned int i = 0; i < 3; i++) {
			load_attribute(t, i ? 2 + fuzz_below(r, 2) : 5, 4);
			add(t, "clause wait=0 {\n*NOP\n+IADD.u32 r8:t1, r58, 0x%x\n}\n", at[i]);
			add(t, "clause wait=0 slot=0 {\n*NOP\n+STORE.i128 r8, r59, @r4\n}\n");
		}
	}
	if (fuzz_below(r, 2))
		add(t, "clause end wait=0 {\n*NOP\n+STORE.i128 r58, r59, @r0\n}\n");
	else
		add(t, "clause end wait=0 {\n*NOP\n+ST_CVT.v4 r58, r59, 0x0105e000, @r0\n}\n");
	finish(t);
}

void fuzz_varying_code(struct fuzz_random *r, struct fuzz_draw_code *c)
{
	struct text *t = begin(r, c);

	for (unsigned int i = 1; i < 6; i++) {
		if (!fuzz_below(r, 5))
			continue;
		load_attribute(t, fuzz_below(r, 6), 0);
		if (!fuzz_below(r, 3))
			arithmetic(t);
		add(t, "clause wait=0 slot=0 {\n*NOP\n"
		       "+LEA_ATTR_IMM.auto r61, r62, attribute_index:%u, @r52\n}\n", i);
		add(t, "clause wait=0 slot=0 {\n*NOP\n+ST_CVT.v4 r52, r53, r54, @r0\n}\n");
	}
	add(t, "clause end {\n*NOP\n+NOP\n}\n");
	finish(t);
}
