// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 */
/*
 * Whole clauses through text and back: random ones that obey all rules, with branches between them,
 * every shape of tuples and constants, and bytes that are no clauses at all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm_check.h"
#include "ktap.h"
#include <tessera/asm.h>
#include "tsr_isa.h"

#define CLAUSES 40

static struct asm_random rnd = { 0xc1a05e };

/* -- clauses that obey the rules ------------------------------------------------------------- */

/* A register block with a mode that the tuple can have, and its FAU index. */
static void random_block(struct tsr_clause *clause, unsigned int at)
{
	struct tsr_tuple *tuple = &clause->tuple[at];
	const struct tsr_reg_mode *mode;

	do {
		tuple->regs = asm_random(&rnd) >> 29;
		/* often the encoding in which port 1 is off */
		if (asm_below(&rnd, 3) == 0)
			tuple->regs &= ~(15ULL << 31);
		tsr_tuple_regs_decode(tuple, at == 0);
		mode = &tsr_reg_modes[tuple->mode];
	} while (!mode->valid || !(at ? mode->other : mode->first));
	if (asm_below(&rnd, 2) && clause->consts) {
		unsigned int n = asm_below(&rnd, clause->consts < 6 ? clause->consts : 6);

		tuple->fau = (uint8_t)(tsr_fau_const(n) | (n % 2 ? 0 : asm_below(&rnd, 16)));
		tuple->regs = (tuple->regs & ~0xffULL) | tuple->fau;
	}
}

/* Random words until the tuple obeys the rules with them, as the rest of the clause does. */
static bool random_words(struct tsr_clause *clause, unsigned int at, bool *message)
{
	struct tsr_tuple *tuple = &clause->tuple[at];
	struct tsr_insn fma[8], add[8];
	unsigned int tries, where;

	for (tries = 0; tries < 2000; tries++) {
		struct tsr_clause trial = *clause;
		enum tsr_message sent;

		trial.tuple[at].fma = asm_below(&rnd, 3) ? asm_below(&rnd, 1 << 23) : 0x701963;
		trial.tuple[at].add = asm_below(&rnd, 3) ? asm_below(&rnd, 1 << 20) : 0x3d964;
		if (!tsr_insn_decode(TSR_ISA_ADD, trial.tuple[at].add, &add[0]))
			continue;
		sent = tsr_insn_message(&add[0]);
		if (sent && *message)
			continue;
		if (sent)
			trial.message = (uint8_t)sent;
		if (tsr_clause_check_at(&trial, fma, add, &where))
			continue;
		*message |= sent != TSR_MESSAGE_NONE;
		clause->message = trial.message;
		tuple->fma = trial.tuple[at].fma;
		tuple->add = trial.tuple[at].add;
		return true;
	}
	return false;
}

/* Constants of a random number, relative ones among them, whose kinds the bits allow. */
static void random_consts(struct tsr_clause *clause)
{
	static const uint8_t single[9] = { 0, 0, 0, 1, 0, 1, 1, 0, 1 };
	static const uint8_t most[9] = { 0, 2, 2, 3, 4, 5, 7, 6, 5 };
	unsigned int t = clause->tuples, i, kinds;
	struct tsr_clause bare = *clause;
	uint8_t code[TSR_CLAUSE_BYTES_MAX];
	size_t size;

	memset(bare.tuple, 0, sizeof(bare.tuple));
	bare.consts = (uint8_t)(single[t] + 2 * asm_below(&rnd, (most[t] - single[t]) / 2u + 1));
	for (;;) {
		for (i = 0; i < bare.consts; i++)
			bare.konst[i] = asm_random(&rnd) >> 4 * asm_below(&rnd, 9) << 4;
		bare.single_m = single[t] && t != 5 && t != 8 ? (uint8_t)asm_random(&rnd) : 0;
		for (kinds = 0; kinds < 1000; kinds++) {
			for (i = 0; i < bare.consts; i++)
				bare.pcrel[i] = asm_below(&rnd, 2) ? 0 : asm_below(&rnd, 4) & 3;
			if (tsr_clause_pack(&bare, code, &size))
				continue;
			memcpy(bare.tuple, clause->tuple, sizeof(bare.tuple));
			*clause = bare;
			return;
		}
	}
}

static void random_header(struct tsr_clause *clause)
{
	clause->ftz = (uint8_t)asm_below(&rnd, 4);
	clause->suppress_inf = (uint8_t)asm_below(&rnd, 2);
	clause->suppress_nan = (uint8_t)asm_below(&rnd, 2);
	clause->float_exceptions = (uint8_t)asm_below(&rnd, 4);
	clause->flow = (uint8_t)asm_below(&rnd, 8);
	clause->td = (uint8_t)asm_below(&rnd, 2);
	clause->prefetch = (uint8_t)asm_below(&rnd, 2);
	clause->staging_barrier = (uint8_t)asm_below(&rnd, 2);
	clause->staging_reg = (uint8_t)asm_below(&rnd, 64);
	clause->wait = (uint8_t)asm_random(&rnd);
	clause->slot = (uint8_t)asm_below(&rnd, 8);
	clause->next_message = (uint8_t)asm_below(&rnd, 32);
}

static void random_clause(struct tsr_clause *clause)
{
	bool message = false;
	unsigned int i;

	for (;;) {
		memset(clause, 0, sizeof(*clause));
		clause->tuples = (uint8_t)(1 + asm_below(&rnd, 8));
		random_header(clause);
		random_consts(clause);
		for (i = 0; i < clause->tuples; i++) {
			random_block(clause, i);
			clause->tuple[i].fma = 0x701963;
			clause->tuple[i].add = 0x3d964;
		}
		message = false;
		for (i = 0; i < clause->tuples && random_words(clause, i, &message); i++)
			;
		if (i == clause->tuples)
			return;
	}
}

/* Let relative constants lead to clauses, in most cases. */
static void aim(struct tsr_clause *clause, unsigned int at, const size_t *offset, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < clause->consts; i++) {
		uint64_t distance = offset[asm_below(&rnd, num)] - offset[at];

		if (clause->pcrel[i] != TSR_PCREL_HI || asm_below(&rnd, 4) == 0)
			continue;
		clause->konst[i] &= ~(0xfffffffULL << 32);
		clause->konst[i] |= (distance & 0xfffffff) << 32;
	}
}

static size_t random_program(uint8_t *code)
{
	static struct tsr_clause clauses[CLAUSES];
	size_t offset[CLAUSES + 1], size = 0, length;
	unsigned int i;

	for (i = 0; i < CLAUSES; i++) {
		random_clause(&clauses[i]);
		offset[i] = size;
		if (tsr_clause_pack(&clauses[i], code + size, &length))
			ktap_fail("a clause does not pack");
		size += length;
	}
	for (i = 0; i < CLAUSES; i++) {
		aim(&clauses[i], i, offset, CLAUSES);
		if (tsr_clause_pack(&clauses[i], code + offset[i], &length))
			ktap_fail("a clause does not pack");
	}
	return size;
}

static void test_random(void)
{
	static uint8_t code[CLAUSES * TSR_CLAUSE_BYTES_MAX];
	unsigned int round, rounds = getenv("TSR_QUICK") ? 60 : 1000;

	for (round = 0; round < rounds; round++) {
		size_t size = random_program(code);

		/* clauses that obey the rules need none of these directives */
		if (!asm_round_trip(code, size, 0, "unchecked .quad .word") ||
		    !asm_round_trip(code, size, TSR_DISASM_EXPLICIT, "unchecked .quad .word") ||
		    !asm_round_trip(code, size, TSR_DISASM_PLAIN, ";") ||
		    !asm_round_trip(code, size, TSR_DISASM_QUADS, ".quad"))
			return;
	}
}

/* -- shapes ---------------------------------------------------------------------------------- */

/* By number of tuples: quadwords with tuples, constants in these, most constants. */
static const struct {
	unsigned int quads, single, most;
} shapes[9] = { { 0, 0, 0 }, { 1, 0, 2 }, { 2, 0, 2 }, { 3, 1, 3 }, { 3, 0, 4 },
		{ 4, 1, 5 }, { 5, 1, 6 }, { 5, 0, 6 }, { 6, 1, 5 } };

/* Numbers whose top bits are wrong for a pair as often as they are right. */
static uint32_t high_word(unsigned int n)
{
	static const uint8_t top[] = { 1, 14, 3, 9, 5, 12 };

	return (uint32_t)top[n] << 28 | n;
}

static void check_shape(unsigned int tuples, unsigned int consts, const struct tsr_clause *c)
{
	unsigned int i, single = shapes[tuples].single;

	ktap_eq(c->tuples, tuples);
	ktap_eq(c->consts, consts <= single ? single : single + (consts - single + 1) / 2 * 2);
	for (i = 0; i < consts; i++) {
		int k = tsr_fau_const_index(c->tuple[i].fau);
		uint64_t want = (uint64_t)high_word(i) << 32 | (0x100 + i);

		if (ktap_ok(k >= 0 && k < c->consts))
			ktap_eq(c->konst[k] | (c->tuple[i].fau & 15), want);
	}
	for (i = single; i + 1 < c->consts; i += 2) {
		unsigned int m1 = ((c->konst[i] >> 60) - (c->konst[i + 1] >> 60)) & 15;

		ktap_ok(m1 == 0 || m1 >= 8);
	}
}

/* A clause whose first tuples read a constant each. */
static void test_shape(unsigned int tuples, unsigned int consts)
{
	char text[1024], *at = text;
	struct tsr_asm_shader *program;
	struct tsr_clause clause;
	unsigned int i;

	at += sprintf(at, "clause end {\n");
	for (i = 0; i < tuples; i++)
		at += i < consts ? sprintf(at, "*FADD.f32 t0, 0x%x, 0x%x\n", 0x100 + i,
					   high_word(i)) :
				   sprintf(at, "*NOP\n");
	sprintf(at, "}\n");
	if (tsr_asm_assemble(text, strlen(text), 0, &program)) {
		ktap_ok(consts > shapes[tuples].most || consts > tuples);
		ktap_ok(strstr(program->diagnostics[0].text, "constants"));
	} else {
		unsigned int single = shapes[tuples].single;
		unsigned int rest = consts > single ? consts - single : 0;

		ktap_ok(consts <= shapes[tuples].most);
		ktap_eq(program->size, 16 * (shapes[tuples].quads + (rest + 1) / 2));
		ktap_eq(tsr_clause_unpack(program->code, program->size, &clause), TSR_ISA_OK);
		check_shape(tuples, consts, &clause);
	}
	tsr_asm_free(program);
}

static void test_shapes(void)
{
	unsigned int tuples, consts;

	for (tuples = 1; tuples <= 8; tuples++) {
		for (consts = 0; consts <= 6 && consts <= tuples; consts++)
			test_shape(tuples, consts);
	}
}

/* -- anything -------------------------------------------------------------------------------- */

static void test_bytes(void)
{
	uint8_t code[512];
	unsigned int round, i;

	for (round = 0; round < 2000; round++) {
		size_t size = asm_below(&rnd, sizeof(code));

		for (i = 0; i < sizeof(code); i++)
			code[i] = (uint8_t)asm_random(&rnd);
		/* some quadwords of zeros, some with the tag of a clause of one tuple */
		for (i = 0; i + 16 <= sizeof(code); i += 16) {
			if (asm_below(&rnd, 4) == 0)
				memset(code + i, 0, 16);
			else if (asm_below(&rnd, 2))
				code[i] = (uint8_t)(0x48 | asm_below(&rnd, 8));
		}
		if (!asm_round_trip(code, size, 0, NULL))
			return;
	}
}

/* One clause alone is printed as it is among the others. */
static void test_one(void)
{
	static uint8_t code[CLAUSES * TSR_CLAUSE_BYTES_MAX];
	size_t size = random_program(code), offset, all_length, length;
	char *all = NULL, *one = NULL;
	unsigned int clauses = 0;
	FILE *out = open_memstream(&all, &all_length);

	tsr_disasm(out, code, size, NULL);
	fclose(out);
	for (offset = 0; offset < size; clauses++) {
		long step;

		out = open_memstream(&one, &length);
		step = tsr_disasm_clause(out, code, size, offset, NULL);
		fclose(out);
		ktap_ok(length && strstr(all, one));
		free(one);
		KTAP_REQUIRE(step > 0);
		offset += (size_t)step;
	}
	ktap_eq(clauses, CLAUSES);
	free(all);
}

static void test_errors_counted(void)
{
	static const uint8_t code[16 * 3 + 5] = { [16] = 0xff };
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	/* a quadword that is none, and five bytes; the zeros are padding */
	ktap_eq(tsr_disasm(out, code, sizeof(code), NULL), 2);
	ktap_eq(tsr_disasm_clause(out, code, sizeof(code), 16, NULL), 0);
	ktap_eq(tsr_disasm_clause(out, code, sizeof(code), 4096, NULL), 0);
	ktap_eq(tsr_disasm_clause(out, code, sizeof(code), 3, NULL), 0);
	ktap_eq(tsr_disasm(out, code, 0, NULL), 0);
	fclose(out);
	ktap_ok(strstr(text, ".zero 1\n.quad 0x00000000000000ff, 0x0000000000000000\t; "));
	ktap_ok(strstr(text, ".zero 1\n.byte 0x00, 0x00, 0x00, 0x00, 0x00\n"));
	free(text);
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA13] random clauses that obey the rules, through text and back", test_random);
	ktap_run("[ISA2] every shape of 1 to 8 tuples with 0 to 6 constants", test_shapes);
	ktap_run("[ISA13] bytes that are no clauses, through text and back", test_bytes);
	ktap_run("[ISA13] one clause alone is printed as it is among the others", test_one);
	ktap_run("what is no clause is counted", test_errors_counted);
	return ktap_finish();
}
