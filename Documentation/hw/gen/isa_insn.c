/* SPDX-License-Identifier: MIT */
/*
 * The codec of instructions: words to struct tsr_insn and back, names, properties.
 *
 * Not compiled by itself: emit_isa.py puts it behind the tables of tsr_isa.c.
 */

/* -- bits ------------------------------------------------------------------------------------- */

/* @width (at most 64) bits from bit @lo on of a little-endian array of 64-bit words. */
static inline uint64_t bits_get(const uint64_t *words, unsigned int lo, unsigned int width)
{
	unsigned int word = lo / 64, shift = lo % 64;
	uint64_t value = words[word] >> shift;

	if (shift + width > 64)
		value |= words[word + 1] << (64 - shift);
	return width < 64 ? value & ((1ULL << width) - 1) : value;
}

/* OR @width bits of @value into zeros. */
static inline void bits_put(uint64_t *words, unsigned int lo, unsigned int width, uint64_t value)
{
	unsigned int word = lo / 64, shift = lo % 64;

	if (width < 64)
		value &= (1ULL << width) - 1;
	words[word] |= value << shift;
	if (shift + width > 64)
		words[word + 1] |= value >> (64 - shift);
}

static uint64_t load64(const uint8_t *bytes)
{
	uint64_t value = 0;
	int i;

	for (i = 7; i >= 0; i--)
		value = value << 8 | bytes[i];
	return value;
}

static void store64(uint8_t *bytes, uint64_t value)
{
	int i;

	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

/* -- instructions ----------------------------------------------------------------------------- */

static inline unsigned int order_bit(const struct isa_op *op, const uint8_t *src)
{
	if (op->num_srcs < 2)
		return ISA_ORDER_EQ;
	return src[0] < src[1] ? ISA_ORDER_LT : src[0] > src[1] ? ISA_ORDER_GT : ISA_ORDER_EQ;
}

/* The bits of a set in an instruction word as one number. */
static inline unsigned int set_key(const struct isa_set *set, uint32_t word)
{
	unsigned int key = 0, i;

	for (i = 0; i < set->num_bits; i++)
		key = key << set->bits[i].width |
		      ((word >> set->bits[i].lo) & ((1u << set->bits[i].width) - 1));
	return key;
}

static inline uint32_t set_bits(const struct isa_set *set, unsigned int key)
{
	uint32_t word = 0;
	unsigned int i;

	for (i = set->num_bits; i-- > 0;) {
		word |= (key & ((1u << set->bits[i].width) - 1)) << set->bits[i].lo;
		key >>= set->bits[i].width;
	}
	return word;
}

/* Values of the modifiers of one encoding; false when a bit pattern is not defined. */
static bool form_decode(const struct isa_form *form, uint32_t word, unsigned int order,
			uint8_t *mods)
{
	const struct isa_set *set = &isa_sets[form->first_set];
	const struct isa_set *end = set + form->num_sets;

	for (; set < end; set++) {
		const uint8_t *row;
		unsigned int key, i;

		if (!(set->orders & order))
			continue;
		key = set_key(set, word);
		if (key >= set->num_rows)
			return false;
		row = &isa_rows[set->rows + key * set->num_mods];
		if (row[0] == ISA_HOLE)
			return false;
		for (i = 0; i < set->num_mods; i++)
			mods[set->mods[i]] = row[i];
	}
	return true;
}

/* In two pieces: of one as long as that compilers make an instruction that takes longer. */
static inline void insn_clear(struct tsr_insn *insn)
{
	memset(insn, 0, sizeof(*insn) / 2);
	memset((uint8_t *)insn + sizeof(*insn) / 2, 0, sizeof(*insn) - sizeof(*insn) / 2);
}

bool tsr_insn_decode(enum tsr_isa_unit unit, uint32_t word, struct tsr_insn *insn)
{
	static const uint16_t nops[] = { TSR_OP_FMA_NOP, TSR_OP_ADD_NOP };
	const struct isa_form *nop = &isa_forms[isa_ops[nops[unit]].first_form];
	const uint16_t *candidate;

	word &= isa_word_mask[unit];
	if (word == nop->match && nop->mask == isa_word_mask[unit]) {	/* half of all code */
		insn_clear(insn);
		insn->op = nop->op;
		insn->form = nop->number;
		return true;
	}
	candidate = &isa_candidates[isa_first[unit][word >> isa_index_shift[unit]]];
	for (; *candidate != ISA_NO_FORM; candidate++) {
		const struct isa_form *form = &isa_forms[*candidate];
		const struct isa_op *op;
		unsigned int i, order;

		if ((word & form->mask) != form->match)
			continue;
		op = &isa_ops[form->op];
		insn_clear(insn);
		for (i = 0; i < op->num_srcs; i++)
			insn->src[i] = (word >> op->src_lo[i]) & 7;
		order = order_bit(op, insn->src);
		if (!(form->orders & order) || !form_decode(form, word, order, insn->mod))
			continue;
		for (i = 0; i < op->num_imms; i++) {
			const struct isa_imm *imm = &isa_imms[op->first_imm + i];

			insn->imm[imm->kind] =
				(word >> imm->bits.lo) & ((1u << imm->bits.width) - 1);
		}
		insn->op = form->op;
		insn->form = form->number;
		return true;
	}
	return false;
}

/* The bits of a set for the modifiers wanted; false when it has no row for them. */
static bool set_encode(const struct isa_set *set, const uint8_t *mods, uint32_t *word)
{
	unsigned int key, i;

	for (key = 0; key < set->num_rows; key++) {
		const uint8_t *row = &isa_rows[set->rows + key * set->num_mods];

		for (i = 0; i < set->num_mods && row[i] == mods[set->mods[i]]; i++)
			;
		if (i == set->num_mods) {
			*word |= set_bits(set, key);
			return true;
		}
	}
	return false;
}

static bool form_encode(const struct isa_form *form, const struct tsr_insn *insn, uint32_t *out)
{
	const struct isa_op *op = &isa_ops[form->op];
	unsigned int order = order_bit(op, insn->src), i;
	uint32_t word = form->match;

	if (!(form->orders & order))
		return false;
	for (i = 0; i < op->num_srcs; i++) {
		if (insn->src[i] > 7)
			return false;
		word |= (uint32_t)insn->src[i] << op->src_lo[i];
	}
	for (i = 0; i < op->num_imms; i++) {
		const struct isa_imm *imm = &isa_imms[op->first_imm + i];

		if (insn->imm[imm->kind] >> imm->bits.width)
			return false;
		word |= insn->imm[imm->kind] << imm->bits.lo;
	}
	for (i = 0; i < form->num_sets; i++) {
		const struct isa_set *set = &isa_sets[form->first_set + i];

		if ((set->orders & order) && !set_encode(set, insn->mod, &word))
			return false;
	}
	if ((word & form->mask) != form->match)	/* a source that this encoding fixes */
		return false;
	*out = word;
	return true;
}

/* True if the instruction has every modifier and immediate that is not 0. */
static bool insn_fits(const struct tsr_op_info *info, const struct tsr_insn *insn)
{
	bool mods[TSR_MOD__COUNT] = { false }, imms[TSR_IMM__COUNT] = { false };
	unsigned int i;

	for (i = 0; i < info->num_mods; i++)
		mods[info->mods[i]] = true;
	for (i = 0; i < info->num_imms; i++)
		imms[info->imms[i]] = true;
	for (i = 0; i < TSR_MOD__COUNT; i++) {
		if (insn->mod[i] && !mods[i])
			return false;
	}
	for (i = 0; i < TSR_IMM__COUNT; i++) {
		if (insn->imm[i] && !imms[i])
			return false;
	}
	return true;
}

bool tsr_insn_encode(const struct tsr_insn *insn, uint32_t *word)
{
	const struct tsr_op_info *info;
	const struct isa_op *op;
	unsigned int n;

	if (insn->op >= TSR_OP__COUNT)
		return false;
	info = &tsr_ops[insn->op];
	op = &isa_ops[insn->op];
	if (!insn_fits(info, insn))
		return false;
	for (n = 0; n < info->num_forms; n++) {
		struct tsr_insn back;

		if (insn->form != TSR_FORM_ANY && insn->form != n)
			continue;
		/* A more specific encoding of another instruction may claim the word. */
		if (form_encode(&isa_forms[op->first_form + n], insn, word) &&
		    tsr_insn_decode(info->unit, *word, &back) && back.op == insn->op &&
		    back.form == n)
			return true;
	}
	return false;
}

enum tsr_message tsr_insn_message(const struct tsr_insn *insn)
{
	const struct isa_op *op = &isa_ops[insn->op];

	if (op->other_message && insn->mod[op->other_mod] == op->other_value)
		return op->other_message;
	return tsr_ops[insn->op].message;
}

bool tsr_insn_defined(const struct tsr_insn *insn)
{
	const struct isa_op *op = &isa_ops[insn->op];
	unsigned int i;

	for (i = 0; i < op->num_unknowns; i++) {
		const struct isa_unknown *unknown = &isa_unknowns[op->first_unknown + i];

		if (insn->mod[unknown->mod] == unknown->value)
			return false;
	}
	return tsr_ops[insn->op].semantics == TSR_DEFINED;
}

/* Staging words of an instruction whose number depends on its modifiers. */
static unsigned int format_words(const struct tsr_insn *insn)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	unsigned int words = 1, i;
	bool has_format = false;

	for (i = 0; i < info->num_mods; i++) {
		if (info->mods[i] == TSR_MOD_VECSIZE)
			words = 1 + insn->mod[TSR_MOD_VECSIZE];
		has_format |= info->mods[i] == TSR_MOD_REGISTER_FORMAT;
	}
	if (!has_format)
		return words;
	switch (insn->mod[TSR_MOD_REGISTER_FORMAT]) {
	case TSR_REGISTER_FORMAT_F16:
	case TSR_REGISTER_FORMAT_S16:
	case TSR_REGISTER_FORMAT_U16:
		return (words + 1) / 2;
	case TSR_REGISTER_FORMAT_F64:
	case TSR_REGISTER_FORMAT_I64:
		return words * 2;
	default:
		return words;
	}
}

static unsigned int staging_words(const struct tsr_insn *insn)
{
	switch (isa_ops[insn->op].words) {
	case ISA_WORDS_FORMAT:
		return format_words(insn);
	case ISA_WORDS_COUNT:
		return isa_ops[insn->op].most_words;
	default:
		return tsr_ops[insn->op].staging_words;
	}
}

unsigned int tsr_insn_staging_read(const struct tsr_insn *insn)
{
	uint8_t staging = tsr_ops[insn->op].staging;

	return staging == TSR_STAGING_READ || staging == TSR_STAGING_BOTH ? staging_words(insn) : 0;
}

unsigned int tsr_insn_staging_written(const struct tsr_insn *insn)
{
	uint8_t staging = tsr_ops[insn->op].staging;

	if (staging != TSR_STAGING_WRITE && staging != TSR_STAGING_BOTH)
		return 0;
	/*
	 * A compare and exchange reads the new value and the one to compare with, and returns one.
	 */
	if (insn->op == TSR_OP_ADD_ACMPXCHG_I32 || insn->op == TSR_OP_ADD_ACMPXCHG_I64)
		return staging_words(insn) / 2;
	return staging_words(insn);
}

/* -- names and numbers ------------------------------------------------------------------------ */

const char *tsr_mod_value_name(enum tsr_mod mod, unsigned int value)
{
	const struct isa_family *family;

	if (mod >= TSR_MOD__COUNT)
		return NULL;
	family = &isa_families[isa_mod_family[mod]];
	return value < family->num_values ? family->values[value] : NULL;
}

const char *tsr_message_name(unsigned int message)
{
	return message < 32 ? isa_message_names[message] : NULL;
}

const char *tsr_fau_name(unsigned int fau)
{
	return fau < 32 ? isa_fau_names[fau] : NULL;
}

int tsr_fau_const_index(unsigned int fau)
{
	return tsr_fau_is_const(fau) ? isa_const_of_nibble[fau >> 4] : -1;
}

unsigned int tsr_fau_const(unsigned int n)
{
	unsigned int i;

	for (i = 2; i < 8; i++) {
		if (isa_const_of_nibble[i] == (int)n)
			return i << 4;
	}
	return 0;
}

const char *tsr_isa_error_text(enum tsr_isa_error error)
{
	static const char *const text[TSR_ISA_ERROR__COUNT] = {
		[TSR_ISA_OK] = "no error",
		[TSR_ISA_TRUNCATED] = "the code ends inside the clause",
		[TSR_ISA_BAD_TAG] = "no quadword has this tag",
		[TSR_ISA_BAD_POSITION] = "a quadword stands where no clause has it",
		[TSR_ISA_MISSING_TUPLE] = "constants before the last tuple",
		[TSR_ISA_RESERVED] = "reserved bits or a reserved value",
		[TSR_ISA_BAD_CONSTS] = "these constants have no encoding",
		[TSR_ISA_BAD_TUPLES] = "a clause has 1 to 8 tuples",
		[TSR_ISA_BAD_REGS] = "impossible register block",
		[TSR_ISA_BAD_FMA] = "no such FMA instruction",
		[TSR_ISA_BAD_ADD] = "no such ADD instruction",
		[TSR_ISA_BAD_SOURCE] =
			"a source that the instruction or the register block does not allow",
		[TSR_ISA_BAD_FAU] = "a source reads a FAU entry that is not there",
		[TSR_ISA_MESSAGE_MISMATCH] = "the message in the header is not the instructions'",
		[TSR_ISA_TWO_MESSAGES] = "two messages in one clause",
		[TSR_ISA_NOT_LAST] =
			"an instruction that belongs into the last tuple stands before it",
		[TSR_ISA_BAD_PAIR] = "an instruction without its partner",
	};

	return (unsigned int)error < TSR_ISA_ERROR__COUNT ? text[error] : "unknown error";
}
