// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 */
/*
 * Every instruction to text and back: all 23-bit FMA words and 20-bit ADD words that decode
 * (LONG=1), or every encoding with every modifier value and source selector and a sample of the
 * others. The clauses have eight tuples with random register blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "asm_check.h"
#include "ktap.h"
#include <tessera/asm.h>
#include "tsr_isa.h"

#define OTHERS 199		/* one word in so many, if nothing is new in it */
#define CLAUSES 256		/* of one program */
#define FMA_WORDS (1u << 23)
#define ADD_WORDS (1u << 20)

/* The forms of an instruction that were decoded. */
struct seen {
	uint16_t forms;
	uint8_t selectors[4];
	uint32_t values[16];	/* of its modifiers, in their order */
};

static struct seen seen[TSR_OP__COUNT];
static struct asm_random rnd = { 0x7e55e7a };
static uint8_t program[CLAUSES * TSR_CLAUSE_BYTES_MAX];
static size_t program_size;
static unsigned int programs, words;

/* Is there anything in the instruction that no word before had? */
static bool is_new(const struct tsr_insn *insn)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	struct seen *s = &seen[insn->op], before = *s;
	unsigned int i;

	s->forms |= (uint16_t)(1u << insn->form);
	for (i = 0; i < info->num_srcs; i++)
		s->selectors[i] |= (uint8_t)(1u << insn->src[i]);
	for (i = 0; i < info->num_mods; i++)
		s->values[i] |= 1u << insn->mod[info->mods[i]];
	return memcmp(s, &before, sizeof(before));
}

static bool chosen(enum tsr_isa_unit unit, uint32_t word)
{
	struct tsr_insn insn;

	if (!tsr_insn_decode(unit, word, &insn))
		return false;
	return is_new(&insn) || !getenv("TSR_QUICK") || asm_below(&rnd, OTHERS) == 0;
}

/* The next word of a unit from *@at on; false when they are used up. */
static bool next_word(enum tsr_isa_unit unit, uint32_t *at, uint32_t *word)
{
	uint32_t limit = unit == TSR_ISA_FMA ? FMA_WORDS : ADD_WORDS;

	while (*at < limit) {
		uint32_t candidate = (*at)++;

		if (chosen(unit, candidate)) {
			*word = candidate;
			words++;
			return true;
		}
	}
	return false;
}

static void flush(void)
{
	/* a word that decodes has a name */
	if (program_size)
		asm_round_trip(program, program_size, 0, ".word .quad");
	program_size = 0;
	programs++;
}

static void add_clause(struct tsr_clause *clause)
{
	size_t size = 0;

	KTAP_REQUIRE(!tsr_clause_pack(clause, program + program_size, &size));
	program_size += size;
	if (program_size + TSR_CLAUSE_BYTES_MAX > sizeof(program))
		flush();
}

static void test_words(void)
{
	struct tsr_clause clause = { .tuples = 8, .consts = 1, .flow = TSR_FLOW_NBTB };
	uint32_t fma_at = 0, add_at = 0;
	bool more = true;
	unsigned int i;

	while (more) {
		more = false;
		for (i = 0; i < 8; i++) {
			struct tsr_tuple *tuple = &clause.tuple[i];

			tuple->fma = 0x701963;	/* NOP */
			tuple->add = 0x3d964;
			more |= next_word(TSR_ISA_FMA, &fma_at, &tuple->fma);
			more |= next_word(TSR_ISA_ADD, &add_at, &tuple->add);
			tuple->regs = asm_random(&rnd) >> 29;
		}
		clause.konst[0] = asm_random(&rnd) & ~15ULL;
		clause.staging_reg = asm_random(&rnd) >> 58;
		add_clause(&clause);
	}
	flush();
	ktap_ok(words > 30000);
}

/* Instructions of the public description, and five for stage I/O memory. */
static void test_coverage(void)
{
	unsigned int op, forms[2] = { 0 }, ops[2] = { 0 };

	for (op = 0; op < TSR_OP__COUNT; op++) {
		ops[tsr_ops[op].unit] += seen[op].forms != 0;
		forms[tsr_ops[op].unit] += (unsigned int)__builtin_popcount(seen[op].forms);
	}
	ktap_eq(ops[TSR_ISA_FMA], 98);
	ktap_eq(ops[TSR_ISA_ADD], 211);
	ktap_eq(forms[TSR_ISA_FMA], 121);
	ktap_eq(forms[TSR_ISA_ADD], 276);
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA13] every encoding, modifier and source through text and back", test_words);
	ktap_run("[ISA13] no instruction and no encoding was left out", test_coverage);
	return ktap_finish();
}
