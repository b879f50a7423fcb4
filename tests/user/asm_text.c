// SPDX-License-Identifier: MIT
/*
 * The meaning of text: instruction words, ports, header bits and constants that were worked out by
 * hand from the public encoding, texts that must be the same code, and directives.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm_check.h"
#include "fail_alloc.h"
#include "ktap.h"
#include <tessera/asm.h>

#define FMA_NOP 0x701963
#define ADD_NOP 0x3d964

/* Bits @lo + @width - 1 to @lo of a quadword, @width at most 57. */
static uint64_t bits(const uint8_t *quad, unsigned int lo, unsigned int width)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < width; i++)
		value |= (uint64_t)(quad[(lo + i) / 8] >> (lo + i) % 8 & 1) << i;
	return value;
}

/* A clause of one tuple is one quadword: tag 0-7 with tuple bits 77:75, tuple 74:0, header. */
struct one {
	uint64_t regs, header;
	uint32_t fma, add;
};

static struct one one(const char *tuple)
{
	struct one o = { 0 };
	char text[512];
	size_t size = 0;
	uint8_t *code;

	snprintf(text, sizeof(text), "here: clause end %s }", tuple);
	code = asm_code(text, &size);
	if (code && ktap_ok(size >= 16) && ktap_eq(code[0] & 0xb8, 0x08)) {
		o.regs = bits(code, 8, 35);
		o.fma = (uint32_t)bits(code, 8 + 35, 23);
		o.add = (uint32_t)(bits(code, 8 + 58, 17) | bits(code, 0, 3) << 17);
		o.header = bits(code, 83, 45);
	}
	free(code);
	return o;
}

static void test_words(void)
{
	/* ports: r1 in 0, r2 in 1, r9 in 2; FAU low 4, high 5, zero or t 3 */
	ktap_eq(one("{ *FADD.f32 t0, r1, r2").fma, 0x2c0000 | 0 | 1 << 3);
	ktap_eq(one("{ *FADD.f32.clamp_0_1.rtz t0, r2.neg.abs, r1.h1").fma,
		0x2c0000 | 1 | 0 << 3 | 1 << 7 | 1 << 12 | 2 << 9 | 3 << 13 | 3 << 15);
	ktap_eq(one("{ *LSHIFT_OR.i32.not r0, r1, r2.not, u3.w1.b2").fma,
		0x313000 | 0 | 1 << 3 | 5 << 6 | 2 << 9 | 0 << 14 | 1 << 15);
	ktap_eq(one("{ *LSHIFT_OR.i32 r0, r1, #0, u3.w0").fma,
		0x313000 | 0 | 3 << 3 | 4 << 6 | 0 << 9 | 1 << 14);
	ktap_eq(one("{ *CSEL.i32.eq t0, r1, r2, r9, #0").fma,
		0x2e0000 | 1 << 3 | 2 << 6 |
		3 << 9 | 3 << 12);
	ktap_eq(one("{ *FMA.v2f16 t0, r1, r2.h10, r9.neg.h00").fma,
		0x400000 | 0 | 1 << 3 | 2 << 6 | 2 << 9 | 1 << 11 | 1 << 18 | 0 << 19);
	ktap_eq(one("{ +MOV.i32 t1, lane_id").add, 0x3d968 | 4);
	ktap_eq(one("{ *NOP +MOV.i32 t1, t").add, 0x3d968 | 3);
	ktap_eq(one("{ +IADD.s32.sat t1, r1, r2").add, 0xbc600 | 1 << 3 | 1 << 8);
	ktap_eq(one("{ +BRANCHZ.i16.eq r1.h0, zero.w0").add,
		0x6f800 | 0 | 4 << 6 | 2 << 4 | 1 << 3);
	ktap_eq(one("{ +LOAD.i32.wls r1, r2, @r7").add, 0x60c00 | 1 << 3 | 2 << 6);
	ktap_eq(one("{ +LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:5, @r0").add,
		0x40000 | 0 | 1 << 3 | 5 << 6 | 3 << 11 | 1 << 13);
	ktap_eq(one("{ +BARRIER").add, 0xd7874);
	ktap_eq(one("{ +BARRIER").fma, FMA_NOP);
	/* a source that the instruction cannot have */
	ktap_eq(one("unchecked { +ATEST r0, t, r1, @r2").add & 7, 3);
	ktap_eq(one("{ *MOV.i32 r0, r1").add, ADD_NOP);
	ktap_eq(one("unchecked { *.word 0x123456").fma, 0x123456);
}

/*
 * fau 7:0, r3 13:8, r2 19:14, r0 24:20, r1 30:25, control 34:31, of which the mode of a first tuple
 * follows.
 */
static uint64_t block(unsigned int fau, unsigned int r3, unsigned int r2, unsigned int r0,
		      unsigned int r1, unsigned int control)
{
	return fau | r3 << 8 | r2 << 14 | r0 << 20 | (uint64_t)r1 << 25 | (uint64_t)control << 31;
}

static void test_ports(void)
{
	/* port 1 off: r1 is control 5:2, port 0 off 1, the top bit of its register 0 */
	ktap_eq(one("{ +NOP").regs, block(0, 0, 0, 0, 8 << 2 | 2, 0));
	ktap_eq(one("{ *MOV.i32 t0, r7").regs, block(0, 0, 0, 7, 8 << 2, 0));
	ktap_eq(one("{ *MOV.i32 r9, r39").regs, block(0, 9, 9, 7, 9 << 2 | 1, 0));
	ktap_eq(one("{ +MOV.i32 r9, r7").regs, block(0, 9, 9, 7, 13 << 2, 0));
	ktap_eq(one("{ *FADD.f32 t0, r3, r2").regs, block(0, 0, 0, 2, 3, 8));
	ktap_eq(one("{ *FADD.f32 t0, r2, r63").regs, block(0, 0, 0, 2, 63, 8));
	/* above r31 both stand as 63 minus them */
	ktap_eq(one("{ *FADD.f32 t0, r40, r50").regs, block(0, 0, 0, 23, 13, 8));
	/* read three, write one */
	ktap_eq(one("{ *FMA.f32 r5, r1, r2, r3").regs, block(0, 5, 3, 1, 2, 3));
	ktap_eq(one("{ *FMA.f32 r5.h1, r1, r2, r3").regs, block(0, 5, 3, 1, 2, 2));
	ktap_eq(one("{ *FMA.f32 t0, r1, r2, r3 +MOV.i32 r6, t").regs, block(0, 6, 3, 1, 2, 6));
	ktap_eq(one("{ *FMA.f32 t0, r1, r2, u5.w1").regs, block(0x85, 0, 0, 1, 2, 8));
	ktap_eq(one("{ [p0=r1 p1=r2 p2=r9 p3=r8 mode=3 fau=core_id] *FADD.f32 r8, r2, r1").regs,
		block(3, 8, 9, 1, 2, 3));
	ktap_eq(one("{ [regs=0x123456789] *NOP r39.h1").regs, 0x123456789);
	ktap_eq(one("{ [fau=u127] *NOP").regs & 0xff, 0xff);
	ktap_eq(one("{ [fau=k5+9] *NOP").regs & 0xff, 0x39);
	ktap_eq(one("{ [fau=0x17] *NOP").regs & 0xff, 0x17);
	/* a low nibble of the tuple's own: the constant's is 8, as it is declared */
	ktap_eq(one("{ k0 = 0x12345678, 0\n *MOV.i32 t0, k0.w0").regs & 0xff, 0x48);
	ktap_eq(one("{ k0 = 0x12345678, 0\n *MOV.i32 t0, 0x12345673").regs & 0xff, 0x43);
	ktap_eq(one("{ k0 = 0x12345678, 0\n [fau=k0+2] *MOV.i32 t0, k0.w0").regs & 0xff, 0x42);
}

static void test_header(void)
{
	/* defaults: flow 3 (nbtb) but for end; nothing else */
	ktap_eq(one("{ +NOP").header, 0);
	ktap_eq(one("flow=nbtb { +NOP").header, 3 << 11);
	ktap_eq(one("flow=we_unconditional ftz=always { +NOP").header, 6 << 11 | 2 << 5);
	ktap_eq(one("suppress_inf suppress_nan float_exceptions=precise_sqrt { +NOP").header,
		1 << 7 | 1 << 8 | 3 << 9);
	ktap_eq(one("td prefetch staging_barrier { +NOP").header, 1 << 15 | 1 << 16 | 1 << 17);
	ktap_eq(one("staging=r41 wait=0,2,7 slot=5 { +NOP").header,
		41ULL << 18 | 0x85ULL << 24 | 5ULL << 32);
	ktap_eq(one("{ +LOAD.i32 r1, r2, @r7").header, 7 << 18 | 5ULL << 35);
	ktap_eq(one("{ +STORE.i32 r1, r2, @r63").header, 63 << 18 | 6ULL << 35);
	ktap_eq(one("{ +LOAD.i32.ubo r1, r2, @r7").header, 7 << 18 | 2ULL << 35);
	ktap_eq(one("{ +BARRIER").header, 8ULL << 35);
	ktap_eq(one("next=22 message=tile unchecked { +NOP").header, 10ULL << 35 | 22ULL << 40);
}

/* The hint is the message of the clause behind. */
static void test_next(void)
{
	size_t size = 0;
	uint8_t *code = asm_code("clause { +NOP }\nclause { +LOAD.i32 r1, r2, @r0 }\n"
				 "clause next=none { +NOP }\nclause { +BARRIER }\n"
				 "clause end { +NOP }", &size);

	if (code && ktap_eq(size, 5 * 16)) {
		ktap_eq(bits(code, 83 + 40, 5), 5);
		ktap_eq(bits(code + 16, 83 + 40, 5), 0);
		ktap_eq(bits(code + 32, 83 + 40, 5), 0);
		ktap_eq(bits(code + 48, 83 + 40, 5), 0);
	}
	free(code);
}

/* The constants of a clause of one tuple: 60 bits each in quadword 1, from bits 8 and 68. */
static void check_const(const char *operand, uint64_t value)
{
	unsigned int fau, n;
	char text[128];
	size_t size = 0;
	uint64_t got;
	uint8_t *code;

	snprintf(text, sizeof(text), "clause end { +MOV.i32 r0, %s }", operand);
	code = asm_code(text, &size);
	if (code && ktap_eq(size, 32)) {
		fau = (unsigned int)bits(code, 8, 8);
		n = (fau >> 4) - 4;
		got = bits(code + 16, n ? 68 : 8, 30) << 4 | bits(code + 16, n ? 98 : 38, 30) << 34;
		if (!ktap_eq(got | (fau & 15), value))
			ktap_note("%s", operand);
		/* a lone word is the high one; of two zeros the low one is found first */
		ktap_eq(bits(code, 66, 3), value ? 5 : 4);
	}
	free(code);
}

static void test_constants(void)
{
	check_const("0x3f800000", 0x3f800000ULL << 32);
	check_const("1.0", 0x3f800000ULL << 32);
	check_const("#1.0", 0x3f800000ULL << 32);
	check_const("#-1", 0xffffffffULL << 32);
	check_const("-2147483648", 0x80000000ULL << 32);
	check_const("4294967295", 0xffffffffULL << 32);
	check_const("0x12_34_56_78", 0x12345678ULL << 32);
	check_const("0.1", 0x3dcccccdULL << 32);
	check_const("-2.5e-3", 0xbb23d70aULL << 32);
	check_const("1e10", 0x501502f9ULL << 32);
	check_const("1e5", 0x47c35000ULL << 32);
	check_const("1e-45", 1ULL << 32);
	check_const("16777217.0", 0x4b800000ULL << 32);	/* a tie, to even */
	check_const("#inf", 0x7f800000ULL << 32);
	check_const("#-inf", 0xff800000ULL << 32);
	check_const("#nan", 0x7fc00000ULL << 32);
	check_const("-0.0", 0x80000000ULL << 32);
	check_const("1.5h", 0x3e003e00ULL << 32);
	check_const("-65504.0h", 0xfbfffbffULL << 32);
	check_const("65519.0h", 0x7bff7bffULL << 32);
	check_const("65520.0h", 0x7c007c00ULL << 32);
	check_const("5.960464477539063e-8h", 0x00010001ULL << 32);
	check_const("6.0e-5h", 0x03ef03efULL << 32);
	check_const("2049.0h", 0x68006800ULL << 32);	/* a tie, to even */
	check_const("2051.0h", 0x68026802ULL << 32);
	check_const("#infh", 0x7c007c00ULL << 32);
	check_const("0.0h", 0);
	check_const("#0.0", 0);
}

/* A branch: the distance in bytes to the label stands in bits 59:32 of a constant of kind HI. */
static void test_labels(void)
{
	size_t size = 0;
	uint8_t *code = asm_code("a: clause { +JUMP b }\nclause { +NOP }\n"
				 "b: c: clause { +JUMP a }", &size);

	if (code && ktap_eq(size, 16 * 5)) {
		ktap_eq(bits(code + 16, 8 + 28, 28), 48);
		/* M1, the difference of the top bits of the two, is 4: the first one is HI */
		ktap_eq((bits(code + 16, 64, 4) - bits(code + 16, 124, 4)) & 15, 4);
		ktap_eq(bits(code + 64, 8 + 28, 28), (uint64_t)-48 & 0xfffffff);
		ktap_eq(bits(code, 8, 8) & 0xf0, 0x40);
	}
	free(code);
}

/* Addresses in stage I/O memory are stage words. */
static void test_places(void)
{
	static const char *const same[][2] = {
		{ "ALD.v4 a[0x80], @r8", "ALD.v4 r63, r63, 0x80, @r8" },
		{ "ALD.v4 a[0x80], r5, @r8", "ALD.v4 r5, r5, 0x4080, @r8" },
		{ "ALD.v4 a[0x80], t0, @r8", "ALD.v4 r63, t0, 0x4080, @r8" },
		{ "ALD.p a[r1 + 4], @r0", "ALD r1, r1, 0x3004, @r0" },
		{ "ALD.p a[r1-4], r2, @r0", "ALD r1, r2, 0x77fc, @r0" },
		{ "ALD.p.o a[0x14], @r0", "ALD r63, r63, 0x1814, @r0" },
		{ "ALD.phys.v2 a[r0], r5, @r2", "ALD.v2 r0, r5, 0x6000, @r2" },
		{ "ALD.o a[1023], @r2", "ALD r63, r63, 0xbff, @r2" },
		{ "AST.v3 a[0x70], @r4", "AST.v3 r63, r63, 0x870, @r4" },
		{ "AST.p a[r3 + 16], @r4", "AST r3, r3, 0x3810, @r4" },
		{ "AST.phys a[r3], @r4", "AST r3, r3, 0x2800, @r4" },
		{ "AL2P.o.v4 a[r4 + 128], @r5", "AL2P.v4 r4, r4, 0x2880, @r5" },
		{ "AL2P a[0x90], @r5", "AL2P r63, r63, 0x90, @r5" },
	};

	for (unsigned int i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		const char *fill = strstr(same[i][0], "t0") ? "+NOP *NOP" : "";
		char a[160], b[160];

		snprintf(a, sizeof(a), ".stage hull\nclause end { *NOP %s +%s }", fill, same[i][0]);
		snprintf(b, sizeof(b), "clause end { *NOP %s +%s }", fill, same[i][1]);
		if (!strstr(same[i][0], "a[0x80], @"))
			asm_same(a, b);
		asm_same(strchr(a, '\n'), b);
	}
}

static void test_short_forms(void)
{
	const char *full = "clause end message=none slot=0 {\n\t*NOP t0\n\t+MOV.i32 r0:t1, r1\n}\n";

	asm_same("clause end { +MOV.i32 r0, r1 }", full);
	asm_same("clause flow=end\n{\n+MOV.i32 r0, r1\n}", full);
	asm_same("clause/* a\nb */end{*NOP+MOV.i32 r0,r1} ; comment", full);
	asm_same("// first\n\n  label:clause end { +MOV.i32 r0 ,r1\n\n} // last", full);
	asm_same("clause end { *MOV.i32 r0, u1 *MOV.i32 r1, t0 +NOP +NOP }",
		 "clause end { *MOV.i32 r0:t0, u1.w0\n+NOP\n*MOV.i32 r1:t0, t0\n"
		 "+NOP t1\n*NOP\n+NOP\n}");
	asm_same("clause end { +BRANCHZ.i16.ne t1, r0.h1, zero.w1 }",
		 "clause end { +BRANCHZ.i16.ne r0.h1, zero.w1 }");
	asm_same("clause end { *FMA.f32.clamp_0_1.rtz t0, r0, r0.abs.neg, #0 }",
		 "clause end { *FMA.f32.rtz.clamp_0_1 t0, r0, r0.neg.abs, #0 }");
	asm_same("clause end { +TEXS_2D.f32 r0, r1, texture_index:1, sampler_index:2, @r4 }",
		 "clause end { +TEXS_2D.f32 @r4, r0, sampler_index:2, r1, texture_index:1 }");
	asm_same(".zero 2\n.quad 0x123, 0x45", ".quad 0, 0\n.quad 0, 0\n.quad 291, 69");
	/* an exact word of a declared constant, and the places that the assembler would choose */
	asm_same("clause end { *FADD.f32 t0, 1.0, 2.0 }",
		 "clause end { k0 = 0x3f800000, 2.0\n k1 = 0, 2.0\n *FADD.f32 t0, k0.w0, k0.w1 }");
	asm_same("clause end { *FADD.f32 t0, 1.0, 2.0 *FADD.f32 t0, 4.0, 3.0\n"
		 "*FADD.f32 t0, 3.0, r0\n*FADD.f32 t0, 5.0, r0\n*FADD.f32 t0, 5.0, r1\n"
		 "*FADD.f32 t0, 0.5, r1\n*FADD.f32 t0, -1.0, r1 }",
		 "clause end { k0 = 1.0, 2.0\nk1 = 3.0, 4.0\nk2 = 0.5, 5.0\nk3 = 0, -1.0\n"
		 "*FADD.f32 t0, k0.w0, k0.w1\n*FADD.f32 t0, k1.w1, k1.w0\n"
		 "*FADD.f32 t0, k1.w0, r0\n*FADD.f32 t0, k2.w1, r0\n"
		 "*FADD.f32 t0, k2.w1, r1\n*FADD.f32 t0, k2.w0, r1\n*FADD.f32 t0, k3.w1, r1 }");
	asm_same("clause end { k0 = 0x3f800000_00000012\n *MOV.i32 t0, k0.w1 }",
		 "clause end { k0 = 0x10, 1.0\n [fau=k0+2] *MOV.i32 t0, k0.w1 }");
	asm_same("l: clause end { k0 = 0, l\n +JUMP l }", "l: clause end { +JUMP l }\n.zero 0");
}

static void test_metadata(void)
{
	static const char text[] =
		".local 8, 4\n.group_memory 260\n.scratch 32\n.entry two\n"
		"one: clause {\n\t*FADD.f32 r0, r1, r2\n}\n"
		"two: three: clause end {\n\t*NOP\n\t+LOAD.i128 r60, t1, @r62\n}\n";
	struct tsr_asm_shader *p;

	KTAP_REQUIRE(tsr_asm_assemble(text, strlen(text), TSR_ASM_UNCHECKED, &p) == 0);
	ktap_eq(p->size, 32);
	ktap_eq(p->entry, 16);
	ktap_eq(p->local[0], 8);
	ktap_eq(p->local[1], 4);
	ktap_eq(p->local[2], 1);
	ktap_eq(p->group_memory, 260);
	ktap_eq(p->scratch, 32);
	/* r62 to r65 are staging registers, which wrap */
	ktap_eq(p->registers, 1ULL << 60 | 3ULL << 62 | 7);
	ktap_ok(!p->registers_64);
	ktap_eq(p->num_symbols, 3);
	ktap_ok(!strcmp(p->symbols[0].name, "two") && p->symbols[0].offset == 16);
	ktap_ok(!strcmp(p->symbols[1].name, "one") && p->symbols[1].offset == 0);
	ktap_ok(!strcmp(p->symbols[2].name, "three") && p->symbols[2].offset == 16);
	ktap_eq(p->num_clauses, 2);
	ktap_eq(p->clauses[1].offset, 16);
	ktap_eq(p->clauses[1].size, 16);
	ktap_eq(p->clauses[1].line, 8);
	ktap_eq(p->clauses[1].tuples, 1);
	ktap_eq(p->clauses[1].tuple_line[0], 9);
	tsr_asm_free(p);
	KTAP_REQUIRE(tsr_asm_assemble("clause { *MOV.i32 r3, r5 }", 26, 0, &p) == 0);
	ktap_eq(p->registers, 1 << 3 | 1 << 5);
	ktap_eq(p->num_warnings, 1);
	ktap_eq(p->num_errors, 0);
	tsr_asm_free(p);
	KTAP_REQUIRE(tsr_asm_assemble(".registers 64", 13, 0, &p) == 0);
	ktap_ok(p->registers_64 && p->size == 0 && p->code);
	tsr_asm_free(p);
	KTAP_REQUIRE(tsr_asm_assemble("clause end { *MOV.i32 r16, r0 }", 31, 0, &p) == 0);
	ktap_ok(p->registers_64);
	tsr_asm_free(p);
	tsr_asm_free(NULL);
}

/* Each allocation fails once: an error, no leak, and the next try works. */
static void test_memory(void)
{
	static const char text[] = ".entry b\na: clause { +JUMP b }\nb: clause end { *FADD.i32 }\n"
		"c: clause end { *FADD.f32 t0, 1.0, 2.0 }";
	struct tsr_asm_shader *p;
	unsigned int n, failed = 0;
	int error;

	for (n = 1; n < 40; n++) {
		/* with the error in the middle, and without it */
		const char *from = n % 2 ? text : strstr(text, "c:");

		fail_alloc_at((n + 1) / 2);
		error = tsr_asm_assemble(from, strlen(from), 0, &p);
		failed += error == -ENOMEM;
		ktap_ok(error == -ENOMEM || error == (n % 2 ? -EINVAL : 0));
		if (error != -ENOMEM)
			tsr_asm_free(p);
	}
	fail_alloc_at(0);
	ktap_ok(failed > 8 && failed < 38);
	fail_alloc_at(1);
	ktap_eq(tsr_disasm(stderr, text, 16, NULL), -1);
	fail_alloc_at(0);
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA13] instruction words, by the public encoding", test_words);
	ktap_run("[ISA13] register blocks of what tuples read and write", test_ports);
	ktap_run("[ISA13] header fields at their bits, and their usual values", test_header);
	ktap_run("[ISA13] the hint of the next message", test_next);
	ktap_run("[ISA2] numbers as constants of the clause", test_constants);
	ktap_run("[ISA13] labels become distances", test_labels);
	ktap_run("[ALD1] places in attribute space are stage words", test_places);
	ktap_run("[ISA13] short and long forms are the same code", test_short_forms);
	ktap_run("[ISA13] what directives and the table of clauses say", test_metadata);
	ktap_run("memory that runs out", test_memory);
	return ktap_finish();
}
