/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Conditions of branches: all types, comparisons and choices of halves that have an encoding, in
 * every flush mode, for every pair of special values, against the order of real numbers.
 */
#include <math.h>
#include <stdio.h>

#include "ktap.h"
#include "shade.h"

/* 32-bit floats, integers and pairs of 16-bit floats, all at once: every pair of them is tried. */
static const uint32_t words[] = {
	0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
	0xff800001, 0x00000001, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0x33800000,
	0x3c00bc00, 0x80000000, 0x00017c00, 0xfc008001, 0x7e0003ff, 0x83ffffff, 0x04008400,
	0x7fff8000, 0x3c003c00, 0x00007fff, 0x00018000, 0x477fe000, 0x38800000, 0x00007bff,
	0x00010000, 0xffff0001, 0x40490fdb, 0xc2480000,
};

#define WORDS (sizeof(words) / sizeof(words[0]))
#define PAIRS (WORDS * WORDS)
#define LOCAL 128			/* eight groups of eight warps: a whole bundle each */
_Static_assert(PAIRS % LOCAL == 0, "whole groups");

enum type { FLOAT, SIGNED, UNSIGNED };

/* How an operand is read: all of it, the low half, the high half. */
enum part { WHOLE, LOW, HIGH };

static const char *const suffix[] = { "", ".h0", ".h1" };
static const char *const compares[] = { "eq", "ne", "lt", "le", "gt", "ge" };
static const char *const flushes[] = { "off", "dx11", "always", "abrupt" };

struct condition {
	const char *name;		/* of the instruction */
	enum type type;
	enum part part[2];
	const char *compares;		/* 'e': eq and ne, 'o': the others */
};

/* ---- What it must be ------------------------------------------------------------------------- */

static double half_number(uint32_t h, bool flush)
{
	int exp = h >> 10 & 31, frac = h & 0x3ff;
	double x;

	if (exp == 31)
		x = frac ? NAN : INFINITY;
	else if (exp)
		x = ldexp(1024 + frac, exp - 25);
	else
		x = flush ? 0 : ldexp(frac, -24);
	return h & 0x8000 ? -x : x;
}

static double single_number(uint32_t w, bool flush)
{
	int exp = w >> 23 & 255, frac = w & 0x7fffff;
	double x;

	if (exp == 255)
		x = frac ? NAN : INFINITY;
	else if (exp)
		x = ldexp((1 << 23) + frac, exp - 150);
	else
		x = flush ? 0 : ldexp(frac, -149);
	return w >> 31 ? -x : x;
}

/* The flush modes by their text: dx11 is for 32 bits, always for both, abrupt for results. */
static double number(enum type type, enum part part, unsigned int flush, uint32_t w)
{
	uint32_t half = part == HIGH ? w >> 16 : w & 0xffff;

	switch (type) {
	case SIGNED:
		return part ? (int16_t)half : (int32_t)w;
	case UNSIGNED:
		return part ? half : w;
	default:
		return part ? half_number(half, flush == 2) :
			      single_number(w, flush == 1 || flush == 2);
	}
}

static bool expected(unsigned int compare, double a, double b)
{
	const bool is[] = { a == b, a != b, a < b, a <= b, a > b, a >= b };

	return is[compare];
}

/* ---- One condition --------------------------------------------------------------------------- */

/* Loads a and b; 1 where the branch is taken, else 2. */
static void assemble(struct shade_code *code, const struct condition *c, bool two,
		     unsigned int compare, unsigned int flush)
{
	char text[1200], second[8] = "";

	if (two)
		snprintf(second, sizeof(second), " r3%s,", suffix[c->part[1]]);
	snprintf(text, sizeof(text),
		 "clause slot=0 wait=0 flow=nbtb_unconditional {\n"
		 "	*SHADDXL.u32 t0, u1.w0, r60, shift:3\n"
		 "	+SHADDXH.i32 t1, u1.w1, t\n"
		 "	+LOAD.i64 t0, t1, @r2\n"
		 "}\n"
		 "clause flow=nbtb_unconditional {\n"
		 "	*MOV.i32 r4, 0x1\n"
		 "	*NOP\n"
		 "}\n"
		 "clause ftz=%s flow=nbtb_unconditional {\n"
		 "	+%s.%s r2%s,%s taken\n"
		 "}\n"
		 "clause flow=nbtb_unconditional {\n"
		 "	*MOV.i32 r4, 0x2\n"
		 "	*NOP\n"
		 "}\n"
		 "taken: clause message=store slot=0 " SHADE_STORE("r4"),
		 flushes[flush], c->name, compares[compare], suffix[c->part[0]], second);
	code->size = 0;
	shade_text(code, text);
}

static void run(const struct condition *c, bool two, unsigned int compare, unsigned int flush)
{
	static struct shade_code code;
	static const struct tsr_config config;
	struct shade_dispatch d = { .code = &code, .groups = { PAIRS / LOCAL } };
	struct shade_machine m;

	assemble(&code, c, two, compare, flush);
	d.state.local_x = LOCAL;
	shade_init(&m, &config);
	for (unsigned int i = 0; i < PAIRS; i++) {
		*stage_word32(&m.s, 0x10000 + 8 * i) = words[i % WORDS];
		*stage_word32(&m.s, 0x10004 + 8 * i) = words[i / WORDS];
	}
	ktap_ok(shade_run(&m, &d));
	for (unsigned int i = 0; i < PAIRS; i++) {
		double a = number(c->type, c->part[0], flush, words[i % WORDS]), b = 0;
		unsigned int got = *stage_word32(&m.s, 4 * i);

		if (two)
			b = number(c->type, c->part[1], flush, words[i / WORDS]);
		if (got != (expected(compare, a, b) ? 1 : 2))
			ktap_fail("%s.%s ftz=%s %08x%s %08x%s: %u", c->name, compares[compare],
				  flushes[flush], words[i % WORDS], suffix[c->part[0]],
				  words[i / WORDS], suffix[c->part[1]], got);
	}
	shade_free(&m);
}

static void run_all(const struct condition *c, unsigned int count, bool two)
{
	for (; count--; c++) {
		unsigned int modes = c->type == FLOAT ? 4 : 1;

		for (unsigned int compare = 0; compare < 6; compare++) {
			if (!strchr(c->compares, compare < 2 ? 'e' : 'o'))
				continue;
			for (unsigned int flush = 0; flush < modes; flush++)
				run(c, two, compare, flush);
		}
	}
}

#define RUN(list, two) run_all(list, sizeof(list) / sizeof(list[0]), two)

/* ---- Targets that differ between threads ----------------------------------------------------- */

#define PLACES 3

/*
 * Each thread loads a number and an address; where the branch @text is taken it goes there: to one
 * of three places that store their number. Where it is not, 9 is stored.
 */
static void to_register(const char *text, unsigned int compare, bool always)
{
	static const struct tsr_config config;
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code, .groups = { 2 } };
	char clauses[600];
	struct shade_machine m;
	uint32_t place[PLACES];

	snprintf(clauses, sizeof(clauses),
		 "clause slot=0 wait=0 flow=nbtb_unconditional {\n"
		 "	*SHADDXL.u32 t0, u1.w0, r60, shift:3\n"
		 "	+SHADDXH.i32 t1, u1.w1, t\n"
		 "	+LOAD.i64 t0, t1, @r2\n"
		 "}\n"
		 "clause flow=nbtb_unconditional {\n	+%s\n}\n", text);
	memset(&code, 0, sizeof(code));
	shade_text(&code, clauses);
	for (unsigned int i = 0; i <= PLACES; i++) {
		if (i)
			place[i - 1] = SHADE_CODE + code.size;
		snprintf(clauses, sizeof(clauses),
			 "clause { *MOV.i32 r4, %#x\n *NOP\n }\n"
			 "clause message=store slot=0 " SHADE_STORE("r4"), i ? i : 9);
		shade_text(&code, clauses);
	}
	d.state.local_x = LOCAL;
	shade_init(&m, &config);
	for (unsigned int i = 0; i < 2 * LOCAL; i++) {
		*stage_word32(&m.s, 0x10000 + 8 * i) = i % 5 - 2u;
		*stage_word32(&m.s, 0x10004 + 8 * i) = place[i % 7 % PLACES];
	}
	ktap_ok(shade_run(&m, &d));
	for (unsigned int i = 0; i < 2 * LOCAL; i++) {
		bool taken = always || expected(compare, i % 5 - 2.0, 0);

		ktap_eq(*stage_word32(&m.s, 4 * i), taken ? i % 7 % PLACES + 1 : 9);
	}
	shade_free(&m);
}

static void targets(void)
{
	to_register("BRANCHZ.i32.eq r2, r3", 0, false);
	to_register("BRANCHZ.i32.ne r2, r3", 1, false);
	to_register("BRANCHZ.s32.lt r2, r3", 2, false);
	to_register("BRANCH.s32.ge r2, zero.w0, r3", 5, false);
	to_register("JUMP r3", 0, true);
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void floats(void)
{
	static const struct condition list[] = {
		{ "BRANCH.f32", FLOAT, { WHOLE, WHOLE }, .compares = "eo" },
		{ "BRANCH.f32", FLOAT, { WHOLE, LOW }, .compares = "eo" },
		{ "BRANCH.f32", FLOAT, { WHOLE, HIGH }, .compares = "eo" },
		{ "BRANCH.f16", FLOAT, { LOW, LOW }, .compares = "eo" },
		{ "BRANCH.f16", FLOAT, { HIGH, HIGH }, .compares = "eo" },
		{ "BRANCH.f16", FLOAT, { HIGH, LOW }, .compares = "eo" },
	};

	RUN(list, true);
}

static void floats_zero(void)
{
	static const struct condition list[] = {
		{ "BRANCHZ.f32", FLOAT, { WHOLE }, .compares = "eo" },
		{ "BRANCHZ.f16", FLOAT, { LOW }, .compares = "eo" },
		{ "BRANCHZ.f16", FLOAT, { HIGH }, .compares = "eo" },
	};

	RUN(list, false);
}

static void integers(void)
{
	static const struct condition list[] = {
		{ "BRANCH.i32", UNSIGNED, { WHOLE, WHOLE }, .compares = "e" },
		{ "BRANCH.s32", SIGNED, { WHOLE, WHOLE }, .compares = "o" },
		{ "BRANCH.u32", UNSIGNED, { WHOLE, WHOLE }, .compares = "o" },
		{ "BRANCH.i16", UNSIGNED, { LOW, LOW }, .compares = "e" },
		{ "BRANCH.i16", UNSIGNED, { HIGH, LOW }, .compares = "e" },
		{ "BRANCH.s16", SIGNED, { HIGH, LOW }, .compares = "o" },
		{ "BRANCH.s16", SIGNED, { LOW, LOW }, .compares = "o" },
		{ "BRANCH.u16", UNSIGNED, { HIGH, HIGH }, .compares = "o" },
	};

	RUN(list, true);
}

static void integers_zero(void)
{
	static const struct condition list[] = {
		{ "BRANCHZ.i32", UNSIGNED, { WHOLE }, .compares = "e" },
		{ "BRANCHZ.s32", SIGNED, { WHOLE }, .compares = "o" },
		{ "BRANCHZ.u32", UNSIGNED, { WHOLE }, .compares = "o" },
		{ "BRANCHZ.i16", UNSIGNED, { LOW }, .compares = "e" },
		{ "BRANCHZ.i16", UNSIGNED, { HIGH }, .compares = "e" },
		{ "BRANCHZ.s16", SIGNED, { HIGH }, .compares = "o" },
		{ "BRANCHZ.u16", UNSIGNED, { LOW }, .compares = "o" },
	};

	RUN(list, false);
}

int main(void)
{
	ktap_start();
	ktap_run("[PIX4] [ISA12] BRANCH.f32 and .f16: comparisons, halves, flush modes", floats);
	ktap_run("[PIX4] [ISA12] BRANCHZ.f32 and .f16", floats_zero);
	ktap_run("[PIX4] [ISA12] BRANCH of integers, 32 and 16 bits", integers);
	ktap_run("[PIX4] [ISA12] BRANCHZ of integers", integers_zero);
	ktap_run("[PIX4] [ISA12] branches to registers: a target for each thread", targets);
	return ktap_finish();
}
