// SPDX-License-Identifier: MIT
/*
 * Places for the constants of a clause.
 *
 * A tuple reads one FAU entry, two words. Where the text declares constants (k0 = ...) their places
 * are fixed and words are looked up in them; else:
 *   1. tuples that need two words: an entry of both, the address of a label or the larger number
 *      high; equal pairs share one
 *   2. tuples that need one: an entry that has the word; the words left over are put together
 *      two by two in the same way, and the last odd one goes high above a zero
 *   3. tsr_clause_place_consts() orders the entries and adds dummies
 */
#include <string.h>

#include "asm_ir.h"

#define ENTRIES_MAX TSR_CLAUSE_TUPLES_MAX	/* each tuple reads one */

/* A word that a tuple reads: a number, or the address of a label. */
struct word {
	bool is_label;
	uint32_t value;		/* the number, or the label */
};

struct need {
	struct word word[2];
	unsigned int words;
	struct asm_pos pos;
	unsigned int entry;	/* where it was placed */
};

struct entry {
	struct word half[2];	/* low, high */
	bool used[2];
};

struct places {
	struct need need[TSR_CLAUSE_TUPLES_MAX];
	struct entry entry[ENTRIES_MAX];
	unsigned int entries;
};

static bool same(struct word a, struct word b)
{
	return a.is_label == b.is_label && a.value == b.value;
}

static struct word word_of(const struct ir_operand *operand)
{
	if (operand->kind == IR_LABEL)
		return (struct word){ true, operand->label };
	return (struct word){ false, operand->word };
}

static bool is_inline(const struct ir_operand *operand)
{
	return operand->kind == IR_WORD || operand->kind == IR_LABEL;
}

/* Call for each source of a tuple that is a constant or comes from the FAU. */
#define for_each_source(operand, tuple) \
	for (struct ir_operand *operand = next_source(tuple, NULL); operand; \
	     operand = next_source(tuple, operand))

static struct ir_operand *next_source(struct ir_tuple *tuple, struct ir_operand *last)
{
	struct ir_operand *fma = tuple->insn[TSR_ISA_FMA].src, *add = tuple->insn[TSR_ISA_ADD].src;

	if (!last)
		return fma;
	if (last == fma + 3)
		return add;
	return last == add + 3 ? NULL : last + 1;
}

/* The FAU entry a tuple names outright, or 0: a uniform, a special, or a declared constant. */
struct named {
	bool found;
	bool is_const;
	unsigned int index;	/* FAU index, or number of the constant */
};

static bool same_entry(struct named a, struct named b)
{
	return a.is_const == b.is_const && a.index == b.index;
}

/* Collect what a tuple reads; false when it is more than one entry. */
static bool collect(struct ir_tuple *tuple, struct need *need, struct named *named,
		    struct asm_diags *diags)
{
	for_each_source(operand, tuple) {
		struct named now = { true, operand->kind == IR_CONST, operand->index };
		unsigned int i;

		if (operand->kind == IR_FAU || operand->kind == IR_CONST) {
			if (named->found && !same_entry(*named, now)) {
				asm_error(diags, operand->pos, "a second FAU entry in one tuple, "
					  "expected words of one (both halves of a uniform pair, "
					  "a special, or two words of a constant)");
				return false;
			}
			*named = now;
		}
		if (!is_inline(operand))
			continue;
		for (i = 0; i < need->words && !same(need->word[i], word_of(operand)); i++)
			;
		if (i < need->words)
			continue;
		if (need->words == 2) {
			asm_error(diags, operand->pos,
				  "a third constant in one tuple, expected at most two words");
			return false;
		}
		if (need->words && need->word[0].is_label && operand->kind == IR_LABEL) {
			asm_error(diags, operand->pos,
				  "a second label in one tuple: both are high words");
			return false;
		}
		need->pos = operand->pos;
		need->word[need->words++] = word_of(operand);
	}
	if (need->words && named->found) {
		asm_error(diags, need->pos, "a constant beside a uniform, a special or a declared "
			  "constant: a tuple reads one FAU entry");
		return false;
	}
	return true;
}

/* Which half of an entry holds the word, -1 none. */
static int half_of(const struct entry *entry, struct word word)
{
	int half;

	for (half = 0; half < 2; half++) {
		if (entry->used[half] && same(entry->half[half], word))
			return half;
	}
	return -1;
}

/* An entry of two words, an old one if one is equal: a label or the larger number is high. */
static unsigned int place_pair(struct places *p, struct word lo, struct word hi)
{
	struct entry *entry;
	unsigned int i;

	if (!hi.is_label && (lo.is_label || lo.value > hi.value)) {
		struct word swap = hi;

		hi = lo;
		lo = swap;
	}
	for (i = 0; i < p->entries; i++) {
		if (same(p->entry[i].half[0], lo) && same(p->entry[i].half[1], hi))
			return i;
	}
	entry = &p->entry[p->entries];
	entry->half[0] = lo;
	entry->half[1] = hi;
	entry->used[0] = entry->used[1] = true;
	return p->entries++;
}

/* Is the one word that a tuple needs in an entry already? */
static bool find_single(struct places *p, struct need *need)
{
	unsigned int i;

	for (i = 0; i < p->entries; i++) {
		if (half_of(&p->entry[i], need->word[0]) < 0)
			continue;
		need->entry = i;
		return true;
	}
	return false;
}

/* The first tuple from @from on whose one word has no entry and can stand beside @other's. */
static struct need *next_single(struct places *p, unsigned int from, unsigned int tuples,
				const struct need *other)
{
	unsigned int i;

	for (i = from; i < tuples; i++) {
		struct need *need = &p->need[i];

		if (need->words != 1 || find_single(p, need))
			continue;
		if (!other || (!same(other->word[0], need->word[0]) &&
			       !(other->word[0].is_label && need->word[0].is_label)))
			return need;
	}
	return NULL;
}

/* Words needed alone that no entry has: two by two into new entries, a zero beside an odd one. */
static void place_singles(struct places *p, unsigned int tuples)
{
	const struct word zero = { false, 0 };
	struct need *one, *two;

	while ((one = next_single(p, 0, tuples, NULL))) {
		two = next_single(p, (unsigned int)(one - p->need), tuples, one);
		one->entry = place_pair(p, two ? two->word[0] : zero, one->word[0]);
	}
}

/* Tell the operands of a tuple in which half of the entry they are. */
static void set_halves(struct ir_tuple *tuple, const struct entry *entry)
{
	for_each_source(operand, tuple) {
		if (is_inline(operand))
			operand->half = (uint8_t)half_of(entry, word_of(operand));
	}
}

static uint64_t entry_value(const struct entry *entry)
{
	uint64_t hi = entry->used[1] && !entry->half[1].is_label ? entry->half[1].value : 0;
	uint64_t lo = entry->used[0] ? entry->half[0].value : 0;

	return hi << 32 | lo;
}

/* No constant is declared: find places for all words. */
static bool place_all(struct ir_clause *ir, struct places *p, struct tsr_clause *out,
		      uint32_t *label, struct asm_diags *diags)
{
	struct tsr_const wanted[ENTRIES_MAX];
	uint8_t slot[ENTRIES_MAX] = { 0 };
	unsigned int i;

	for (i = 0; i < ir->tuples; i++) {
		if (p->need[i].words == 2)
			p->need[i].entry = place_pair(p, p->need[i].word[0], p->need[i].word[1]);
	}
	place_singles(p, ir->tuples);
	for (i = 0; i < p->entries; i++) {
		wanted[i].value = entry_value(&p->entry[i]);
		wanted[i].pcrel = p->entry[i].used[1] && p->entry[i].half[1].is_label ?
				  TSR_PCREL_HI : TSR_PCREL_NONE;
	}
	if (tsr_clause_place_consts(out, wanted, p->entries, slot)) {
		asm_error(diags, ir->pos, "%u tuples and %u constants: no clause has so many",
			  ir->tuples, p->entries);
		return false;
	}
	for (i = 0; i < p->entries; i++) {
		if (wanted[i].pcrel == TSR_PCREL_HI)
			label[slot[i]] = p->entry[i].half[1].value;
	}
	for (i = 0; i < ir->tuples; i++) {
		unsigned int entry = p->need[i].entry;

		if (!p->need[i].words)
			continue;
		set_halves(&ir->tuple[i], &p->entry[entry]);
		out->tuple[i].fau = (uint8_t)(tsr_fau_const(slot[entry]) |
					      (wanted[entry].value & 15));
	}
	return true;
}

/* -- declared constants ---------------------------------------------------------------------- */

static struct entry declared_entry(const struct ir_const *k)
{
	struct entry entry = {
		.half = { { false, (uint32_t)k->value },
			  { k->is_label, (uint32_t)(k->value >> 32) } },
		/* words of relative numbers are no constants, but a label's other half is */
		.used = { k->pcrel == TSR_PCREL_NONE || k->pcrel == TSR_PCREL_HI,
			  k->pcrel == TSR_PCREL_NONE || k->is_label },
	};

	if (k->is_label)
		entry.half[1].value = k->label;
	return entry;
}

/*
 * Find the words of a tuple in one declared constant. The low four bits of the low word are the
 * tuple's own: they may be the declaration's, or those of a word the tuple needs.
 */
static bool look_up_in(const struct ir_const *k, const struct need *need, struct entry *entry)
{
	struct entry declared = declared_entry(k);
	unsigned int i, n;

	if (!k->given)
		return false;
	for (i = 0; i <= need->words; i++) {
		*entry = declared;
		if (i && (need->word[i - 1].is_label ||
			  (need->word[i - 1].value ^ declared.half[0].value) >> 4))
			continue;
		if (i)
			entry->half[0].value = need->word[i - 1].value;
		for (n = 0; n < need->words && half_of(entry, need->word[n]) >= 0; n++)
			;
		if (n == need->words)
			return true;
	}
	return false;
}

static bool look_up(struct ir_clause *ir, unsigned int at, const struct need *need,
		    struct tsr_tuple *out, struct asm_diags *diags)
{
	struct entry entry;
	unsigned int i;

	for (i = 0; i < TSR_CLAUSE_CONSTS_MAX - 1; i++) {
		if (!look_up_in(&ir->konst[i], need, &entry))
			continue;
		set_halves(&ir->tuple[at], &entry);
		out->fau = (uint8_t)(tsr_fau_const(i) | (entry.half[0].value & 15));
		return true;
	}
	asm_error(diags, need->pos, "no declared constant has %s, expected it among k0 to k%d",
		  need->words == 2 ? "these two words" : "this word", TSR_CLAUSE_CONSTS_MAX - 2);
	return false;
}

/* Set what the text leaves open in a pair: the top bits of a label's word, or of a dummy. */
static void open_bits(const struct ir_const *k, uint64_t *konst, unsigned int top)
{
	const uint64_t mask = 15ULL << 60;

	if (k[0].is_label)
		konst[0] = (konst[0] & ~mask) | ((konst[1] & mask) + ((uint64_t)top << 60));
	else if (!k[0].given)
		konst[0] = konst[1] & mask;
	else if (!k[1].given)
		konst[1] = konst[0] & mask;
}

/* Try values for what the text leaves open until the clause packs. */
static bool solve(const struct ir_clause *ir, struct tsr_clause *out)
{
	unsigned int m, last = ir->single_given ? ir->single_m : 7, top, i;
	struct tsr_clause trial = *out;
	uint8_t code[TSR_CLAUSE_BYTES_MAX];
	size_t length;

	memset(trial.tuple, 0, sizeof(trial.tuple));
	trial.message = trial.next_message = TSR_MESSAGE_NONE;
	for (m = ir->single_given ? last : 0; m <= last; m++) {
		trial.single_m = (uint8_t)m;
		for (top = 0; top < 16; top++) {
			for (i = trial.consts % 2; i + 1 < trial.consts; i += 2)
				open_bits(&ir->konst[i], &trial.konst[i], top);
			if (tsr_clause_pack(&trial, code, &length) != TSR_ISA_OK)
				continue;
			memcpy(out->konst, trial.konst, sizeof(out->konst));
			out->single_m = trial.single_m;
			return true;
		}
	}
	return false;
}

static bool take_declared(struct ir_clause *ir, struct tsr_clause *out, uint32_t *label,
			  struct asm_diags *diags)
{
	struct asm_pos pos = ir->pos;
	unsigned int i, least = 0;

	for (i = 0; i < TSR_CLAUSE_CONSTS_MAX; i++) {
		const struct ir_const *k = &ir->konst[i];

		out->konst[i] = k->value & ~15ULL;
		out->pcrel[i] = k->pcrel;
		if (k->is_label)
			label[i] = k->label;
		if (k->given) {
			least = i + 1;
			pos = k->pos;
		}
	}
	for (out->consts = (uint8_t)least; out->consts <= TSR_CLAUSE_CONSTS_MAX; out->consts++) {
		if (solve(ir, out))
			return true;
	}
	asm_error(diags, pos,
		  "%u tuples cannot have these constants: too many, or a pair whose top "
		  "bits make it relative; expected other places or a kind (pc.lo, pc.hi, pc.lo_hi)",
		  ir->tuples);
	return false;
}

/* -- all ------------------------------------------------------------------------------------- */

/* The index of an entry the tuple names. */
static bool take_named(const struct ir_clause *ir, struct named named, struct asm_pos pos,
		       struct tsr_tuple *out, struct asm_diags *diags)
{
	if (named.is_const && !ir->konst[named.index].given) {
		asm_error(diags, pos, "k%u is not declared, expected \"k%u = ...\" in this clause",
			  named.index, named.index);
		return false;
	}
	out->fau = (uint8_t)named.index;
	if (named.is_const)
		out->fau = (uint8_t)(tsr_fau_const(named.index) |
				     (ir->konst[named.index].value & 15));
	return true;
}

/* fau= in the [...] line: the tuple's entry, whatever its operands let one expect. */
static bool take_block(const struct ir_clause *ir, const struct ir_tuple *tuple, bool expected,
		       struct tsr_tuple *out, struct asm_diags *diags)
{
	const struct ir_block *block = &tuple->block;
	uint8_t fau = block->fau;

	if (block->fau_const >= 0) {
		unsigned int k = (unsigned int)block->fau_const;
		uint64_t nibble = block->fau_nibble >= 0 ? (uint64_t)block->fau_nibble :
							   ir->konst[k].value & 15;

		fau = (uint8_t)(tsr_fau_const(k) | nibble);
	}
	/* another low nibble is no contradiction: that is what fau= is for */
	if (expected && (tsr_fau_is_const(fau) ? (fau ^ out->fau) >> 4 : fau != out->fau)) {
		asm_error(diags, block->pos,
			  "fau= is another entry than the operands of the tuple");
		return false;
	}
	out->fau = fau;
	return true;
}

static struct asm_pos first_pos(struct ir_tuple *tuple)
{
	for_each_source(operand, tuple) {
		if (operand->kind == IR_FAU || operand->kind == IR_CONST)
			return operand->pos;
	}
	return tuple->insn[0].pos;
}

bool asm_consts_place(struct ir_clause *ir, struct tsr_clause *out,
		      uint32_t label[TSR_CLAUSE_CONSTS_MAX], struct asm_diags *diags)
{
	struct named named[TSR_CLAUSE_TUPLES_MAX] = { 0 };
	struct places places = { 0 };
	bool good = true;
	unsigned int i;

	for (i = 0; i < TSR_CLAUSE_CONSTS_MAX; i++)
		label[i] = IR_NO_LABEL;
	for (i = 0; i < ir->tuples; i++)
		good &= collect(&ir->tuple[i], &places.need[i], &named[i], diags);
	if (!good)
		return false;
	good = ir->consts_given ? take_declared(ir, out, label, diags) :
				  place_all(ir, &places, out, label, diags);
	for (i = 0; good && i < ir->tuples; i++) {
		struct ir_tuple *tuple = &ir->tuple[i];

		if (named[i].found)
			good = take_named(ir, named[i], first_pos(tuple), &out->tuple[i], diags);
		else if (ir->consts_given && places.need[i].words)
			good = look_up(ir, i, &places.need[i], &out->tuple[i], diags);
		if (good && tuple->block.fau_given)
			good = take_block(ir, tuple, named[i].found || places.need[i].words,
					  &out->tuple[i], diags);
	}
	return good;
}
