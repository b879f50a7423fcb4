// SPDX-License-Identifier: MIT
/*
 * Error messages of the assembler: the position (the ^ in each text, which is removed first), what
 * was found, and what was expected.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include <tessera/asm.h>

struct wrong {
	const char *text;
	const char *message;	/* a part of it */
};

static const struct wrong table[] = {
	{ ".stage geometry\nclause end { +ALD ^a[0x80], @r0 }",
	  "expected the handle of a vertex behind a[...]" },
	{ ".stage geometry\nclause end { +ALD.o ^a[0x80], @r0 }",
	  "expected geometry shaders load what comes to them alone" },
	{ ".stage vertex\nclause end { +ALD ^a[0x80], r1, @r0 }",
	  "expected vertex shaders have neither handles nor patches" },
	{ ".stage ^pixel", "found \"pixel\", expected vertex, hull, domain or geometry" },
	{ "clause end { +ALD ^a[r1 + 4], @r0 }",
	  "expected an index is that of a patch (.p), or one of AL2P's (.phys)" },
	{ "clause end { +ALD.phys ^a[r1 + 4], @r0 }",
	  "expected .phys is an index and no number, not of a patch" },
	{ "clause end { +AL2P.p ^a[r1], @r0 }", "expected AL2P is neither .p nor .phys" },
	{ "clause end { +ALD ^a[1024], @r0 }", "expected a number from 0 to 1023" },
	{ "clause end { +ALD.p ^a[r1 - 1025], @r0 }", "expected a number from -1024 to 1023" },
	{ "clause end { +ALD a[^], @r0 }", "expected a byte of attribute space" },
	{ "clause end { +^ALD.p r1, r2, 0x80, @r0 }", "ALD of a place that is not a[...]" },
	{ "clause end { +IADD.u32 r0, ^a[3], r1 }",
	  "a[...] is the first operand of ALD, AST and AL2P alone" },
	{ "clause end { +^MOV.i32 r0 }",
	  "MOV.i32 with 1 operand, expected a destination and 1 source" },
	{ "clause end { +^MOV.i32 r0, r1, r2 }",
	  "MOV.i32 with 3 operands, expected a destination and 1 source" },
	{ "clause end { *^MOVE.i32 r0, r1 }",
	  "\"MOVE\" is no instruction of the FMA unit" },
	{ "clause end { *^LOAD.i32 r0, r1, @r2 }",
	  "\"LOAD\" is no instruction of the FMA unit, expected it behind +" },
	{ "clause end { *^FADD.i32 r0, r1, r2 }",
	  "the FMA unit has no such \"FADD\", expected one of: FADD.f32, FADD.v2f16" },
	{ "clause end { *^FADD.f32.rtna r0, r1, r2 }",
	  "FADD.f32 has no encoding with these modifiers; with the others as they are, "
	  "expected round to be one of: none, rtp, rtn, rtz" },
	{ "clause end { *FADD.f32 r0, ^r1.b0, r2 }",
	  "FADD.f32 has no encoding with these modifiers; with the others as they are, "
	  "expected widen0 to be one of: none, h0, h1" },
	{ "clause end { *FADD.f32.rtz.^rtp r0, r1, r2 }",
	  "a second value of the modifier round" },
	{ "clause end { *FADD.f32 ^t1, r1, r2 }",
	  "\"t1\" is no destination of the FMA unit, expected t0, a register, or a register:t0" },
	{ "clause end { +MOV.i32 r0:^t0, r1 }",
	  "\"t0\" behind a destination of the ADD unit, expected t1" },
	{ "clause end { *FADD.f32 ^r64, r1, r2 }",
	  "\"r64\" is no destination of the FMA unit, expected t0, a register, or a register:t0" },
	{ "clause end { *FADD.f32 r0, ^r64, r2 }",
	  "\"r64\" is no operand here, expected r0 to r63, u0 to u127, k0 to k5, t0, t1, #0, a "
	  "FAU special, a number or a label" },
	{ "clause end { *FADD.f32 r0, ^t, r2 }",
	  "\"t\" is no operand here, expected r0 to r63, u0 to u127, k0 to k5, t0, t1, #0, a "
	  "FAU special, a number or a label" },
	{ "clause end { +MOV.i32 r0, ^#0 }",
	  "#0 is the zero of the FMA unit, expected zero.w0 (FAU entry 0) or 0x0 (a constant "
	  "of the clause) in the ADD unit" },
	{ "clause end { *FADD.f32 r0.^h2, r1, r2 }",
	  "\"h2\" behind a destination, expected h0 or h1 or nothing" },
	{ "clause end { *FMA.f32 r0, r1, r2, r3 +MOV.i32 r9, t\n *FMA.f32 r4, r5, r6, ^r7\n}",
	  "a third register (r7) in a tuple whose port 2 writes: the tuple before writes two, "
	  "expected two registers here" },
	{ "clause end { *NOP\n*FMA.f32 t0, r5, r6, r7 +FADD.f32 r1, ^r8, t }",
	  "a fourth register (r8) in one tuple, expected at most three" },
	{ "clause end { *FADD.f32 t0, ^t1, r2 }",
	  "t1 in the first tuple of a clause: there is no tuple before it" },
	{ "clause end { *FADD.f32 t0, ^1.0, u2 }",
	  "a constant beside a uniform, a special or a declared constant: a tuple reads one "
	  "FAU entry" },
	{ "clause end { *FADD.f32 t0, u1, ^u2 }",
	  "a second FAU entry in one tuple, expected words of one (both halves of a uniform "
	  "pair, a special, or two words of a constant)" },
	{ "clause end { *FMA.f32 t0, 1.0, 2.0, ^3.0 }",
	  "a third constant in one tuple, expected at most two words" },
	{ "clause end { *FMA.f32 ^r0, r1, r1, r1 +MOV.i32 r2, t }",
	  "two writes of the last tuple do not fit into the register block of the first, "
	  "expected one (or the low halves of two)" },
	{ "clause end { +LOAD.i32 r1, r2, @^r70 }",
	  "\"r70\" behind @, expected a register" },
	{ "clause end { +LOAD.i32 r1, r2 ^}",
	  "LOAD.i32 without staging register, expected @rN" },
	{ "clause end { +MOV.i32 r1, r2, @^r3 }",
	  "MOV.i32 has no staging registers, expected no @" },
	{ "clause end { +LD_ATTR_IMM.f32 r1, r2, @r3 ^}",
	  "LD_ATTR_IMM without attribute_index, expected attribute_index:NUMBER" },
	{ "clause end { +LD_ATTR_IMM.f32 r1, r2, attribute_index:^16, @r3 }",
	  "\"16\", expected one attribute_index from 0 to 15" },
	{ "clause end { +JUMP ^nowhere }",
	  "no label nowhere" },
	{ "clause { +JUMP a }\na: clause end { +NOP }\n^a: clause end { +NOP }",
	  "a is defined in line 2 already" },
	{ "clause end { *MOV.i32 r1, r0\n *NOP +IADD.s32 t1, r0, ^r1 }",
	  "r1 is read before the tuple above writes it, expected t0 if its result is meant" },
	{ "clause end { +MOV.i32 r1, r0\n *MOV.i32 t0, ^r1 }",
	  "r1 is read before the tuple above writes it, expected t1 if its result is meant" },
	{ "clause end { *LSHIFT_OR.i32.^foo t0, r1, r2, r3 }",
	  "\"foo\" is no modifier of LSHIFT_OR.i32, expected: not" },
	{ ".registers ^32\nclause end { *MOV.i32 r15, r20 }",
	  "32 registers, but the text uses r20, expected 64" },
	{ "a: ^a: clause end { +NOP }",
	  "a is defined in line 1 already" },
	{ "^r5: clause end { +NOP }",
	  "\"r5\" names an operand, expected another label" },
	{ "clause ^fin { +NOP }",
	  "\"fin\" is no flag of a clause, expected end, td, prefetch, staging_barrier, "
	  "suppress_inf, suppress_nan, unchecked, or { at the end" },
	{ "clause slot=^8 { +NOP }",
	  "found \"8\", expected a scoreboard slot, 0 to 7" },
	{ "clause ^color=red { +NOP }",
	  "\"color\" is no field of a clause, expected message=, next=, slot=, wait=, "
	  "staging=, flow=, ftz= or float_exceptions=" },
	{ "clause flow=^never { +NOP }",
	  "found \"never\", expected end, nbtb_pc, nbtb_unconditional, nbtb, "
	  "btb_unconditional, btb, we_unconditional, we" },
	{ "clause message=^loads { +NOP }",
	  "found \"loads\", expected none, varying, attribute, tex, vartex, load, store, "
	  "atomic, barrier, blend, tile, z_stencil, atest, job, wide" },
	{ "clause wait=1, ^{ +NOP }",
	  "found \"{\", expected a scoreboard slot, 0 to 7" },
	{ "^clause end { }",
	  "a clause without tuples, expected 1 to 8" },
	{ "clause end { +NOP^",
	  "found the end of the text, expected } at the end of the clause" },
	{ "clause end { +NOP }^}",
	  "found \"}\", expected the end of the line" },
	{ "clause end { +NOP } ^clause end { +NOP }",
	  "found \"clause\", expected the end of the line" },
	{ "clause end { k6 = 0 +MOV.i32 r0, ^k6.w0 }",
	  "\"k6\" is no operand here, expected r0 to r63, u0 to u127, k0 to k5, t0, t1, t, a "
	  "FAU special, a number or a label" },
	{ "clause end { k0 = 0x10000000, 0x10000000\n ^k1 = 0, 0\n+MOV.i32 r0, k0.w0 }",
	  "1 tuples cannot have these constants: too many, or a pair whose top bits make it "
	  "relative; expected other places or a kind (pc.lo, pc.hi, pc.lo_hi)" },
	{ "clause end { +MOV.i32 r0, ^k0.w0 }",
	  "k0 is not declared, expected \"k0 = ...\" in this clause" },
	{ "clause end { k0 = 1\n ^k0 = 2\n +NOP }",
	  "k0 a second time" },
	{ "clause end { k0 = 1, 0\n +MOV.i32 r0, ^0x22 }",
	  "no declared constant has this word, expected it among k0 to k5" },
	{ "clause end { [p0=r1 mode=16]\n *MOV.i32 t0, ^r2 }",
	  "no port of the [...] line reads r2" },
	{ "clause end { [^p0=r3 p1=r1 mode=16]\n *NOP }",
	  "these ports have no encoding: expected p0 below p1, and a mode that the first tuple "
	  "can have" },
	{ "clause end { [^p9=r1] *NOP }",
	  "found \"p9\", expected p0=, p1=, p2=, p3=, mode=, fau= or regs=" },
	{ "^clause end { [mode=16] }",
	  "the clause ends behind a [...] line, expected its tuple" },
	{ "^clause message=store { +LOAD.i32 r1, r2, @r3 }",
	  "the header's message is not what the instructions send, expected message=load" },
	{ "clause { +^BARRIER +NOP }",
	  "an instruction that belongs into the last tuple stands before it" },
	{ "clause { +LOAD.i32 r1, r2, @r3 +LOAD.i32 r1, r2, @^r4 }",
	  "@r4 beside staging register r3: a clause has one, expected @r3" },
	{ "clause { +LOAD.i32 r1, r2, @r3 +^LOAD.i32 r1, r2, @r3 }",
	  "two messages in one clause" },
	{ "clause end { *FMA.f32 t0, ^r1.neg, r2, r3 }",
	  "FMA.f32 has no encoding with these modifiers; with the others as they are, expected "
	  "neg0 to be one of: none" },
	{ ".local ^0",
	  "found \"0\", expected at least 1" },
	{ ".local 1,2,3^,4",
	  "found \",\", expected clause, a directive, a label or the end of the line" },
	{ ".registers ^48",
	  "found \"48\", expected 32 or 64" },
	{ ".scratch ^17",
	  "found \"17\", expected a multiple of 16" },
	{ ".^color",
	  "found \"color\", expected .registers, .local, .group_memory, .scratch, .stage, "
	  ".entry, .quad, .zero or .byte" },
	{ ".quad 1^",
	  "found the end of the text, expected a comma and the high 64 bits" },
	{ ".byte 1,2\n^clause end { +NOP }",
	  "code behind .byte, expected it at the end of the text" },
	{ "^hello",
	  "found \"hello\", expected clause, a directive, or a label with its colon" },
	{ ".entry ^x",
	  "no label x" },
	{ ".registers 32\n.^registers 32",
	  "\"registers\" a second time" },
	{ "clause end { +MOV.i32 r0, ^0x }",
	  "\"0x\" is no number: expected hexadecimal digits" },
	{ "clause end { +MOV.i32 r0, ^12ab }",
	  "\"12ab\" is no number: expected digits" },
	{ "clause end { +MOV.i32 r0, ^0x123456789abcdef01 }",
	  "\"0x123456789abcdef01\" is no number: it has more than 64 bits" },
	{ "clause end { +MOV.i32 r0, ^#foo }",
	  "\"#foo\" is no number: expected digits, .digits, e and an exponent, or inf or nan" },
	{ "^/* never",
	  "a comment without end, expected */" },
	{ "clause end { +MOV.i32 r0, ^0x100000000 }",
	  "a constant of more than 32 bits, expected two words or a declared constant (k0 = "
	  "...)" },
	{ "clause end { +NOP\n+NOP\n+NOP\n+NOP\n+NOP\n+NOP\n+NOP\n+NOP\n^+NOP }",
	  "a ninth tuple, expected at most eight" },
	{ "^clause { +NOP }",
	  "the last clause goes on behind the end of the code, expected \"clause end\"" },
	{ "clause end { *MOV.i32 r1, r0\n *MOV.i32 r2, ^r1 }",
	  "r1 is read before the tuple above writes it, expected t0 if its result is meant" },
	{ "clause end { +^FCMP.f32.lt r0, r1, r2, r3 }",
	  "FCMP.f32 with 4 operands, expected a destination and 2 sources" },
	{ "clause end { *FMA.f32 t0, r1, r2, r3 +FADD.f32 r0, ^r4, t }",
	  "a fourth register (r4) in one tuple, expected at most three" },
	{ "clause end { +ATEST r0, ^t, r1, @r2 }",
	  "source 0 of ATEST cannot be t, expected one of: port 0, port 1, port 2, the low "
	  "word of the FAU entry, the high word of the FAU entry, t0, t1" },
	{ "clause end { +^MOV.i32 r0, fau16.w0 }",
	  "a source reads a FAU entry that is not there" },
	{ "clause end { *.word ^0x1000000 }",
	  "found \"0x1000000\", expected a word of 23 bits" },
	{ "clause end { +^SEG_ADD.wls t1, r1 }",
	  "an instruction without its partner" },
	{ "clause end { +MOV.i32 r0, r1 ^extra }",
	  "found \"extra\", expected a comma or the end of the line" },
	{ "clause end { *NOP^, }",
	  "found \",\", expected an operand" },
	{ "clause end { +MOV.i32 r0:^p1, r1 }",
	  "\"p1\" behind a destination of the ADD unit, expected t1" },
	{ "clause end { *FADD.f32 r0, r1:^t0, r2 }",
	  "\"t0\" behind a source, expected a port (p0, p1, p2) behind a register" },
	{ "clause end { *FADD.f32 r0, @^r1, r2 }",
	  "FADD.f32 has no staging registers, expected no @" },
	{ "clause end { *FADD.f32.^lt r0, r1, r2 }",
	  "\"lt\" is no modifier of FADD.f32, expected: rtp, rtn, rtz, clamp_0_inf, "
	  "clamp_m1_1, clamp_0_1" },
	{ "clause end { *FADD.f32 r0, r1.^b7, r2 }",
	  "\"b7\" is no modifier of source 0 of FADD.f32, expected: h0, h1, neg, abs" },
	{ "clause end { +MOV.i32.^neg r0, r1 }",
	  "\"neg\" is no modifier of MOV.i32, expected: no modifier here" },
	{ "clause end { +MOV.i32 r0, r1.^neg }",
	  "\"neg\" is no modifier of source 0 of MOV.i32, expected: no modifier here" },
	{ "clause end { +^FCMP.f32 r0, r1, r2 }",
	  "FCMP.f32 without cmpf, expected one of: eq, gt, ge, ne, lt, le, gtlt, total" },
	{ "clause end { +BRANCHZ.i16.eq ^r0, zero.w0 }",
	  "BRANCHZ.i16 has no encoding with these modifiers; with the others as they are, "
	  "expected widen0 to be one of: h0, h1" },
	{ "clause end { +CLPER.i32.^foo r0, r1, r2 }",
	  "\"foo\" is no modifier of CLPER.i32, expected: xor, accumulate, shift, subgroup2, "
	  "subgroup4, subgroup8, subgroup16, zero, umax, i1, v2i1, smin, smax, v2smin, ..." },
	{ "a: b: clause end { *FADD.f32 t0, a, ^b }",
	  "a second label in one tuple: both are high words" },
	{ "clause end { +FADD.f32 t1, ^r1.h0, r2 }",
	  "FADD.f32 has no encoding with these modifiers; with the others as they are, "
	  "expected widen0 to be one of: none, or the first two sources exchanged" },
	{ "clause end { *FADD.f32. ^r0, r1, r2 }",
	  "\"r0\" is no modifier of FADD.f32, expected: rtp, rtn, rtz, clamp_0_inf, "
	  "clamp_m1_1, clamp_0_1" },
	{ "clause end { *FADD.f32 r0, r1.^5, r2 }",
	  "found \"5\", expected a modifier behind the point" },
	{ "clause end { *FADD.f32 r0, r1.a.b.c.d.e.f.^g, r2 }",
	  "too many modifiers, expected at most 6" },
	{ "clause end { *FADD.f32 r0, r1:^@, r2 }",
	  "found \"@\", expected t0, t1, a port or a number" },
	{ "clause end { *FADD.f32 0, 1, 2, 3, 4, 5, 6, 7, 8, ^9 }",
	  "too many operands" },
	{ "clause end { *FADD.f32.a.b.c.d.e.f.g.h.i.j.^k.l r0, r1, r2 }",
	  "too many modifiers" },
	{ "clause end { +LOAD.i32 r1, r2, @r3, @^r4 }",
	  "a second staging register" },
	{ "clause end { *.^wort 1 }",
	  "found \"wort\", expected an instruction, or .word" },
	{ "clause end { *.word r0 ^1 }",
	  "found \"1\", expected a comma and the word" },
	{ "clause end { *.word ^r77, 1 }",
	  "\"r77\" is no destination of the FMA unit, expected t0, a register, or a register:t0" },
	{ "clause end { *.word 1^, 2 }",
	  "found \",\", expected the end of the line" },
	{ "clause staging=^5 { +NOP }",
	  "found \"5\", expected a register" },
	{ "clause end { [p0=^5] *NOP }",
	  "found \"5\", expected a register" },
	{ "clause end { [p0=r5^,p1=r6] *NOP }",
	  "found \",\", expected p0=, p1=, p2=, p3=, mode=, fau= or regs=" },
	{ "clause end { [fau=^256] *NOP }",
	  "found \"256\", expected a FAU index" },
	{ "clause end { [fau=k1+^16] *NOP }",
	  "found \"16\", expected the low four bits" },
	{ "clause end { [fau=^r1] *NOP }",
	  "found \"r1\", expected a uniform, a constant, a special or a FAU index" },
	{ "clause end { [mode=^32] *NOP }",
	  "found \"32\", expected a mode, 1 to 27" },
	{ "clause end { [mode^] *NOP }",
	  "found \"]\", expected = and a value" },
	{ "clause end { [regs=^0x800000000] *NOP }",
	  "found \"0x800000000\", expected a register block of 35 bits" },
	{ "clause end { [mode=16]^[mode=17] *NOP }",
	  "found \"[\", expected * or + behind a [...] line" },
	{ "clause end { [^p2=r1 p3=r2 mode=3] *NOP r5 }",
	  "the writes of this [...] line are not those of the destinations of the last tuple" },
	{ "clause end { [^fau=u1] *MOV.i32 r0, u2.w0 }",
	  "fau= is another entry than the operands of the tuple" },
	{ "clause end { k0 = 1, ^r5 +NOP }",
	  "found \"r5\", expected the high word, a number or a label" },
	{ "clause end { k0 = pc ^1 +NOP }",
	  "found \"1\", expected . and a kind behind pc" },
	{ "clause end { k0 = pc.^foo 1 +NOP }",
	  "found \"foo\", expected lo, hi, lo_hi" },
	{ "clause end { k0 = ^r1 +NOP }",
	  "found \"r1\", expected a 64-bit number, or two words (low, high)" },
	{ "clause end { k0 = 1, 2 m=^256 +NOP }",
	  "found \"256\", expected eight M bits" },
	{ "clause end { k0 ^1 +NOP }",
	  "found \"1\", expected = and a constant" },
	{ "clause end { ^foo = 1 +NOP }",
	  "found \"foo\", expected *, +, [, a constant (k0 = ...) or }" },
	{ "clause end { ^r0 = 1 +NOP }",
	  "found \"r0\", expected *, +, [, a constant (k0 = ...) or }" },
	{ "clause message=^11 { +NOP }",
	  "found \"11\", expected none, varying, attribute, tex, vartex, load, store, atomic, "
	  "barrier, blend, tile, z_stencil, atest, job, wide" },
	{ "clause next=^32 { +NOP }",
	  "found \"32\", expected a message type" },
	{ ".entry ^5",
	  "found \"5\", expected a label" },
	{ ".local ^x",
	  "found \"x\", expected the size of a group, 1 to 65535" },
	{ ".quad ^x",
	  "found \"x\", expected the low 64 bits" },
	{ ".quad 1, ^x",
	  "found \"x\", expected the high 64 bits" },
	{ ".zero ^x",
	  "found \"x\", expected a number of quadwords" },
	{ ".byte 1, ^256",
	  "found \"256\", expected a byte" },
	{ ".byte 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,^16",
	  "found \"16\", expected at most 15 bytes; 16 are a .quad" },
	{ ". ^",
	  "found the end of the text, expected a directive" },
	{ ".scratch^",
	  "found the end of the text, expected a number of bytes below 2^32" },
	{ ".group_memory ^0x100000000",
	  "found \"0x100000000\", expected a number of bytes below 2^32" },
	{ "clause^",
	  "found the end of the text, expected a header field, or { before the tuples" },
	{ "clause end^",
	  "found the end of the text, expected a header field, or { before the tuples" },
	{ "clause end { +MOV.i32 r0, "
	  "^0x00000000000000000000000000000000000000000000000000000000000000000000000001 }",
	  "\"0x0000000000000000000000000000000000...\" is no number: it is too long" },
	{ "clause end { +MOV.i32 r0, ^r05 }",
	  "\"r05\" is no operand here, expected r0 to r63, u0 to u127, k0 to k5, t0, t1, t, a "
	  "FAU special, a number or a label" },
	{ "^t: clause end { +NOP }",
	  "\"t\" names an operand, expected another label" },
	{ "clause end { +NOP + ^}",
	  "found \"}\", expected an instruction" },
	{ "clause end { +^JUMP a +NOP\n +JUMP b }",
	  "an instruction that belongs into the last tuple stands before it" },
	{ "clause end { *NOP r1 +NOP r1\n*FMA.f32 t0, r2, r3, ^r4 }",
	  "a third register (r4) in a tuple whose port 2 writes: the tuple before writes two, "
	  "expected two registers here" },
	{ "clause end { *NOP\n +MOV.i32 r0, ^p7 }",
	  "\"p7\" is no operand here, expected r0 to r63, u0 to u127, k0 to k5, t0, t1, t, a "
	  "FAU special, a number or a label" },
};

/* A copy of @text without its ^, and where that was. */
static char *take_mark(const char *text, uint32_t *line, uint32_t *column)
{
	const char *mark = strchr(text, '^'), *p;
	char *copy = strdup(text);

	*line = *column = 1;
	for (p = text; p < mark; p++) {
		++*column;
		if (*p != '\n')
			continue;
		++*line;
		*column = 1;
	}
	memmove(copy + (mark - text), mark + 1, strlen(mark));
	return copy;
}

static void check(const struct wrong *wrong)
{
	struct tsr_asm_shader *program;
	const struct tsr_asm_diagnostic *d;
	uint32_t line, column;
	char *text = take_mark(wrong->text, &line, &column);

	if (tsr_asm_assemble(text, strlen(text), 0, &program) == -EINVAL)
		ktap_ok(program->num_errors > 0 && program->size == 0);
	d = &program->diagnostics[0];
	if (!program->num_diagnostics || d->line != line || d->column != column ||
	    !strstr(d->text, wrong->message)) {
		ktap_fail("\"%s\": expected %u:%u: %s", text, line, column, wrong->message);
		tsr_asm_print_diagnostics(stdout, program, "# got");
	}
	free(text);
	tsr_asm_free(program);
}

static void test_table(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		check(&table[i]);
}

/* One run finds them all, in the order of the text. */
static void test_several(void)
{
	static const char text[] =
		"clause color {\n\t*FADD.f32 r0, r1\n\t+MOV.i32 r70, r1\n}\n"
		".registers 7\nclause end {\n\t+JUMP nowhere\n\t+MOV.i32\n}\n"
		"clause end {\n\t*FADD.f32 t0, t1, r0\n}\n";
	static const uint32_t lines[] = { 1, 2, 3, 5, 8, 11 };
	struct tsr_asm_shader *program;
	unsigned int i;

	ktap_eq(tsr_asm_assemble(text, strlen(text), 0, &program), (uint64_t)-EINVAL);
	if (ktap_eq(program->num_errors, 6)) {
		for (i = 0; i < 6; i++)
			ktap_eq(program->diagnostics[i].line, lines[i]);
	}
	ktap_eq(program->num_diagnostics, program->num_errors);
	tsr_asm_free(program);
}

/* The first tuple's error is in its last line, so it is printed after that of the second. */
static void test_order(void)
{
	static const char text[] =
		"clause end {\n*NOP\n*FMA.f32 t0, r1.neg, r2, r3\n*NOP r1 +NOP r2\n}\n";
	struct tsr_asm_shader *program;

	ktap_eq(tsr_asm_assemble(text, strlen(text), 0, &program), (uint64_t)-EINVAL);
	if (ktap_eq(program->num_diagnostics, 2)) {
		ktap_eq(program->diagnostics[0].line, 3);
		ktap_eq(program->diagnostics[1].line, 4);
	}
	tsr_asm_free(program);
}

/* Labels that are nowhere are found all at once: more than are kept. */
static void check_hidden(void)
{
	struct tsr_asm_shader *program;
	char *text = NULL, *printed = NULL;
	size_t length;
	unsigned int i;
	FILE *out = open_memstream(&text, &length);

	for (i = 0; i < 150; i++)
		fprintf(out, "clause end { +JUMP nowhere%u }\n", i);
	fclose(out);
	ktap_eq(tsr_asm_assemble(text, length, 0, &program), (uint64_t)-EINVAL);
	free(text);
	ktap_eq(program->num_errors, 150);
	ktap_eq(program->num_diagnostics, TSR_ASM_DIAGNOSTICS_MAX);
	out = open_memstream(&printed, &length);
	tsr_asm_print_diagnostics(out, program, "x");
	fclose(out);
	ktap_ok(strstr(printed, "x:100:20: error: no label nowhere99\nx: too many errors, "));
	free(printed);
	tsr_asm_free(program);
}

/* A text of nothing but errors: the first hundred are kept, then it gives up. */
static void test_many(void)
{
	char *text = malloc(3000), *printed = NULL;
	struct tsr_asm_shader *program;
	size_t length;
	unsigned int i;
	FILE *out;

	for (i = 0; i < 1000; i++)
		memcpy(text + 2 * i, "?\n", 2);
	ktap_eq(tsr_asm_assemble(text, 2000, 0, &program), (uint64_t)-EINVAL);
	ktap_eq(program->num_diagnostics, TSR_ASM_DIAGNOSTICS_MAX);
	ktap_eq(program->diagnostics[99].line, 100);
	out = open_memstream(&printed, &length);
	tsr_asm_print_diagnostics(out, program, "many.s");
	fclose(out);
	ktap_ok(strstr(printed, "many.s:1:1: error: found \"?\", expected "));
	free(printed);
	tsr_asm_free(program);
	free(text);
	check_hidden();
}

/* The documented limits. */
static void test_limits(void)
{
	static const char clause[] = "clause end{+NOP}\n", zero[] = ".zero 1048576\n.zero 1";
	struct tsr_asm_shader *program;
	char *text = malloc(TSR_ASM_TEXT_MAX + 1);
	size_t size = 0, step = strlen(clause);

	memset(text, '\n', TSR_ASM_TEXT_MAX + 1);
	ktap_eq(tsr_asm_assemble(text, TSR_ASM_TEXT_MAX, 0, &program), 0);
	tsr_asm_free(program);
	ktap_eq(tsr_asm_assemble(text, TSR_ASM_TEXT_MAX + 1, 0, &program), (uint64_t)-EINVAL);
	ktap_ok(strstr(program->diagnostics[0].text, "bytes of text"));
	tsr_asm_free(program);
	for (; size < (TSR_ASM_ITEMS_MAX + 1) * step; size += step)
		memcpy(text + size, clause, step);
	ktap_eq(tsr_asm_assemble(text, size, 0, &program), (uint64_t)-EINVAL);
	ktap_eq(program->diagnostics[0].line, TSR_ASM_ITEMS_MAX + 1);
	tsr_asm_free(program);
	ktap_eq(tsr_asm_assemble(text, size - step, 0, &program), 0);
	ktap_eq(program->size, 16 * TSR_ASM_ITEMS_MAX);
	tsr_asm_free(program);
	ktap_eq(tsr_asm_assemble(zero, strlen(zero), 0, &program), (uint64_t)-EINVAL);
	ktap_ok(strstr(program->diagnostics[0].text, "bytes of code"));
	tsr_asm_free(program);
	free(text);
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA13] line, column and what was expected, of each kind of error", test_table);
	ktap_run("[ISA13] several errors in one run", test_several);
	ktap_run("[ISA13] errors in the order of the text", test_order);
	ktap_run("[ISA13] a text full of errors", test_many);
	ktap_run("[ISA13] limits", test_limits);
	return ktap_finish();
}
