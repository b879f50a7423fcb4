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
		key = key << set->bits[i].width | ((word >> set->bits[i].lo) & ((1u << set->bits[i].width) - 1));
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
static bool form_decode(const struct isa_form *form, uint32_t word, unsigned int order, uint8_t *mods)
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

bool tsr_insn_decode(enum tsr_isa_unit unit, uint32_t word, struct tsr_insn *insn)
{
	const uint16_t *candidate;

	word &= isa_word_mask[unit];
	candidate = &isa_candidates[isa_first[unit][word >> isa_index_shift[unit]]];
	for (; *candidate != ISA_NO_FORM; candidate++) {
		const struct isa_form *form = &isa_forms[*candidate];
		const struct isa_op *op;
		unsigned int i, order;

		if ((word & form->mask) != form->match)
			continue;
		op = &isa_ops[form->op];
		memset(insn, 0, sizeof(*insn));
		for (i = 0; i < op->num_srcs; i++)
			insn->src[i] = (word >> op->src_lo[i]) & 7;
		order = order_bit(op, insn->src);
		if (!(form->orders & order) || !form_decode(form, word, order, insn->mod))
			continue;
		for (i = 0; i < op->num_imms; i++) {
			const struct isa_imm *imm = &isa_imms[op->first_imm + i];

			insn->imm[imm->kind] = (word >> imm->bits.lo) & ((1u << imm->bits.width) - 1);
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

/* Whether every modifier and immediate that is not 0 is one of the instruction's. */
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
		    tsr_insn_decode(info->unit, *word, &back) && back.op == insn->op && back.form == n)
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
	/* A compare and exchange reads the new value and the one to compare with, and returns one. */
	if (insn->op == TSR_OP_ADD_ACMPXCHG_I32 || insn->op == TSR_OP_ADD_ACMPXCHG_I64)
		return staging_words(insn) / 2;
	return staging_words(insn);
}

/* -- register blocks -------------------------------------------------------------------------- */

void tsr_tuple_regs_decode(struct tsr_tuple *tuple, bool first)
{
	uint64_t regs = tuple->regs;
	unsigned int r3 = (regs >> 8) & 63, r2 = (regs >> 14) & 63;
	unsigned int r0 = (regs >> 20) & 31, r1 = (regs >> 25) & 63;
	unsigned int control = (regs >> 31) & 15;

	tuple->fau = regs & 0xff;
	tuple->port[2] = (uint8_t)r2;
	tuple->port[3] = (uint8_t)r3;
	tuple->read0 = true;
	tuple->read1 = control != 0;
	if (!control) {
		/* Port 1 is off: its field holds the control value, port 0 off, and port 0's high bit. */
		control = r1 >> 2;
		tuple->read0 = !(r1 & 2);
		r0 |= (r1 & 1) << 5;
		r1 = 0;
	} else if (r0 > r1) {
		r0 = 63 - r0;
		r1 = 63 - r1;
	}
	tuple->port[0] = (uint8_t)r0;
	tuple->port[1] = (uint8_t)r1;
	if (first)
		tuple->mode = (uint8_t)((control & 7) | (control & 8) << 1);
	else
		tuple->mode = (uint8_t)(control | (r2 == r3) << 4);
}

/* r2 and r3 as the mode wants them: the second half of the modes of later tuples says so by r2 == r3. */
static bool regs_ports(const struct tsr_tuple *tuple, bool first, unsigned int *r2, unsigned int *r3)
{
	const struct tsr_reg_mode *mode = &tsr_reg_modes[tuple->mode];
	bool use2 = mode->slot2 != TSR_PORT_IDLE, use3 = mode->slot3 != TSR_PORT_IDLE;

	*r2 = tuple->port[2];
	*r3 = tuple->port[3];
	if (*r2 > 63 || *r3 > 63)
		return false;
	if (first)
		return true;
	if (tuple->mode < 16)
		return *r2 != *r3;
	if (use2 && use3)
		return *r2 == *r3;
	if (use2)
		*r3 = *r2;
	else
		*r2 = *r3;
	return true;
}

bool tsr_tuple_regs_encode(struct tsr_tuple *tuple, bool first)
{
	unsigned int r0 = tuple->port[0], r1 = tuple->port[1], r2, r3, control;
	const struct tsr_reg_mode *mode = &tsr_reg_modes[tuple->mode & 31];

	if (tuple->mode > 31 || !mode->valid || !(first ? mode->first : mode->other) ||
	    !regs_ports(tuple, first, &r2, &r3))
		return false;
	control = first ? (tuple->mode & 7u) | (tuple->mode & 16u) >> 1 : tuple->mode & 15u;
	if (tuple->read1) {
		/* r0 has five bits: two registers of which the first is above 31 stand as 63 minus them. */
		if (!tuple->read0 || !control || r0 > r1 || r1 > 63 || (r0 > 31 && r0 == r1))
			return false;
		if (r0 > 31) {
			r0 = 63 - r0;
			r1 = 63 - r1;
		}
	} else {
		if (r0 > 63 || (!tuple->read0 && r0))
			return false;
		r1 = control << 2 | !tuple->read0 << 1 | r0 >> 5;
		r0 &= 31;
		control = 0;
	}
	tuple->regs = (uint64_t)tuple->fau | (uint64_t)r3 << 8 | (uint64_t)r2 << 14 | (uint64_t)r0 << 20 |
		      (uint64_t)r1 << 25 | (uint64_t)control << 31;
	return true;
}

/* -- clauses ---------------------------------------------------------------------------------- */

/* What the quadwords of a clause bring, as they bring it. */
struct clause_bits {
	uint64_t header[1];
	uint64_t tuple[TSR_CLAUSE_TUPLES_MAX][2];
	uint64_t konst[TSR_CLAUSE_CONSTS_MAX + 1][1];
	uint64_t m1[1], m2[1];
	uint64_t position[1];
};

static uint64_t *part_words(const struct isa_part *part, struct clause_bits *bits, unsigned int base)
{
	switch (part->kind) {
	case TSR_QUAD_HEADER:
		return bits->header;
	case TSR_QUAD_TUPLE:
		return bits->tuple[part->index];
	case TSR_QUAD_CONSTANT:
		return bits->konst[base + part->index];
	case TSR_QUAD_M1:
		return bits->m1;
	case TSR_QUAD_M2:
		return bits->m2;
	default:
		return bits->position;
	}
}

/* The format of a quadword, NULL when its tag or its reserved bits are wrong. */
static const struct isa_format *quad_format(const uint64_t quad[2])
{
	uint8_t index = isa_format_of[quad[0] & 0xff];

	return index == ISA_HOLE ? NULL : &isa_formats[index];
}

static bool quad_reserved(const struct isa_format *format, const uint64_t quad[2])
{
	return (quad[0] & format->reserved[0]) || (quad[1] & format->reserved[1]);
}

static void quad_take(const struct isa_format *format, const uint64_t quad[2], struct clause_bits *bits,
		      unsigned int base)
{
	unsigned int i;

	for (i = 0; i < format->num_parts; i++) {
		const struct isa_part *part = &format->parts[i];

		bits_put(part_words(part, bits, base), part->at, part->width,
			 bits_get(quad, part->lo, part->width));
	}
}

bool tsr_quad_decode(const void *quad, struct tsr_quad *out)
{
	const uint64_t words[2] = { load64(quad), load64((const uint8_t *)quad + 8) };
	const struct isa_format *format = quad_format(words);
	unsigned int i;

	if (!format || quad_reserved(format, words))
		return false;
	memset(out, 0, sizeof(*out));
	out->name = format->name;
	out->tuples = format->last >= 0 ? format->last + 1 : 0;
	out->ends = format->may_end && (words[0] & ISA_TAG_END);
	out->num_parts = format->num_parts;
	for (i = 0; i < format->num_parts; i++) {
		const struct isa_part *part = &format->parts[i];

		out->part[i].kind = part->kind;
		out->part[i].index = part->index;
		out->part[i].at = part->at;
		out->part[i].width = part->width;
		out->part[i].bits = bits_get(words, part->lo, part->width);
		if (part->kind == TSR_QUAD_POSITION)
			out->tuples = (int8_t)isa_positions[out->part[i].bits].tuples;
	}
	return true;
}

static const struct isa_relation *relation_of(unsigned int m1, unsigned int m2)
{
	const struct isa_relation *relation = m1 == 7 ? &isa_relations[16 + m2] : &isa_relations[m1];

	return relation->valid ? relation : NULL;
}

static unsigned int top_nibble(uint64_t konst, unsigned int word)
{
	return (konst >> (word ? 60 : 28)) & 15;
}

/* How two constants of one quadword are relative, which their top bits say. */
static const struct isa_relation *pair_relation(const uint64_t *konst)
{
	return relation_of((top_nibble(konst[0], 1) - top_nibble(konst[1], 1)) & 15,
			   (top_nibble(konst[0], 0) - top_nibble(konst[1], 0)) & 15);
}

static enum tsr_isa_error header_unpack(uint64_t header, struct tsr_clause *clause)
{
	unsigned int i;

	if (header & ISA_HEADER_RESERVED)
		return TSR_ISA_RESERVED;
	for (i = 0; i < ISA_HEADER_FIELDS; i++)
		((uint8_t *)clause)[isa_header[i].offset] =
			(uint8_t)((header >> isa_header[i].lo) & ((1u << isa_header[i].width) - 1));
	return tsr_message_name(clause->message) ? TSR_ISA_OK : TSR_ISA_RESERVED;
}

static uint64_t header_pack(const struct tsr_clause *clause)
{
	uint64_t header = 0;
	unsigned int i;

	for (i = 0; i < ISA_HEADER_FIELDS; i++)
		header |= (uint64_t)((const uint8_t *)clause)[isa_header[i].offset] << isa_header[i].lo;
	return header;
}

/* Whether each header field fits its bits. */
static bool header_fits(const struct tsr_clause *clause)
{
	unsigned int i;

	for (i = 0; i < ISA_HEADER_FIELDS; i++) {
		if (((const uint8_t *)clause)[isa_header[i].offset] >> isa_header[i].width)
			return false;
	}
	return true;
}

/* One quadword of constants. */
static enum tsr_isa_error consts_unpack(const struct isa_format *format, const uint64_t quad[2],
					struct clause_bits *bits, struct tsr_clause *clause)
{
	const struct isa_relation *relation;
	const struct isa_position *position;
	uint64_t pair[2];

	bits->position[0] = 0;
	position = &isa_positions[quad[0] & 15];
	if (position->tuples != clause->tuples || position->constant != clause->consts)
		return TSR_ISA_BAD_POSITION;
	quad_take(format, quad, bits, clause->consts);
	pair[0] = bits->konst[clause->consts][0];
	pair[1] = bits->konst[clause->consts + 1][0];
	relation = pair_relation(pair);
	if (!relation)
		return TSR_ISA_BAD_CONSTS;
	clause->pcrel[clause->consts] = relation->first;
	clause->pcrel[clause->consts + 1] = relation->second;
	clause->consts += 2;
	return TSR_ISA_OK;
}

/* A constant that shares its quadwords with tuples. */
static enum tsr_isa_error single_unpack(const struct clause_bits *bits, struct tsr_clause *clause)
{
	const struct isa_relation *relation = relation_of(bits->m1[0], bits->m2[0]);

	if (!relation || relation->second != TSR_PCREL_NONE)
		return TSR_ISA_BAD_CONSTS;
	clause->single_m = (uint8_t)(bits->m1[0] | bits->m2[0] << 4);
	clause->pcrel[0] = relation->first;
	clause->consts = 1;
	return TSR_ISA_OK;
}

/* Split what the quadwords brought into the members of the clause. */
static void clause_split(const struct clause_bits *bits, struct tsr_clause *clause)
{
	unsigned int i;

	for (i = 0; i < clause->tuples; i++) {
		struct tsr_tuple *tuple = &clause->tuple[i];

		tuple->regs = bits_get(bits->tuple[i], 0, ISA_REGS_BITS);
		tuple->fma = (uint32_t)bits_get(bits->tuple[i], ISA_REGS_BITS, ISA_FMA_BITS);
		tuple->add = (uint32_t)bits_get(bits->tuple[i], ISA_REGS_BITS + ISA_FMA_BITS, ISA_ADD_BITS);
		tsr_tuple_regs_decode(tuple, i == 0);
	}
	for (i = 0; i < clause->consts; i++)
		clause->konst[i] = bits->konst[i][0];
}

enum tsr_isa_error tsr_clause_unpack(const void *code, size_t len, struct tsr_clause *clause)
{
	struct clause_bits bits = { 0 };
	unsigned int layouts = ~0u;
	enum tsr_isa_error error;
	bool end = false;
	size_t i;

	memset(clause, 0, sizeof(*clause));
	for (i = 0; !end; i++) {
		const uint8_t *at = (const uint8_t *)code + i * TSR_QUAD_BYTES;
		const struct isa_format *format;
		uint64_t quad[2];

		if (len < (i + 1) * TSR_QUAD_BYTES)
			return TSR_ISA_TRUNCATED;
		quad[0] = load64(at);
		quad[1] = load64(at + 8);
		format = quad_format(quad);
		if (!format)
			return TSR_ISA_BAD_TAG;
		if (quad_reserved(format, quad))
			return TSR_ISA_RESERVED;
		end = format->may_end && (quad[0] & ISA_TAG_END);
		if (format == &isa_formats[ISA_FORMAT_CONSTS]) {
			if (!clause->tuples)
				return i ? TSR_ISA_MISSING_TUPLE : TSR_ISA_BAD_POSITION;
			error = consts_unpack(format, quad, &bits, clause);
			if (error)
				return error;
			continue;
		}
		layouts &= i < ISA_LAYOUT_QUADS ? format->layouts[i] : 0;
		if (!layouts || clause->tuples)
			return TSR_ISA_BAD_POSITION;
		quad_take(format, quad, &bits, 0);
		if (format->last >= 0)
			clause->tuples = (uint8_t)(format->last + 1);
		if (format->last >= 0 && isa_layouts[format->last].single) {
			error = single_unpack(&bits, clause);
			if (error)
				return error;
		}
	}
	clause->quads = (uint8_t)i;
	clause_split(&bits, clause);
	return header_unpack(bits.header[0], clause);
}

/* Put a quadword of @format together; base is the first constant of a pair. */
static void quad_give(const struct isa_format *format, struct clause_bits *bits, unsigned int base, uint8_t *code)
{
	uint64_t quad[2] = { format->match, 0 };
	unsigned int i;

	for (i = 0; i < format->num_parts; i++) {
		const struct isa_part *part = &format->parts[i];

		bits_put(quad, part->lo, part->width,
			 bits_get(part_words(part, bits, base), part->at, part->width));
	}
	store64(code, quad[0]);
	store64(code + 8, quad[1]);
}

static bool clause_join(const struct tsr_clause *clause, struct clause_bits *bits)
{
	unsigned int i;

	for (i = 0; i < clause->tuples; i++) {
		const struct tsr_tuple *tuple = &clause->tuple[i];

		if (tuple->regs >> ISA_REGS_BITS || tuple->fma >> ISA_FMA_BITS || tuple->add >> ISA_ADD_BITS)
			return false;
		bits_put(bits->tuple[i], 0, ISA_REGS_BITS, tuple->regs);
		bits_put(bits->tuple[i], ISA_REGS_BITS, ISA_FMA_BITS, tuple->fma);
		bits_put(bits->tuple[i], ISA_REGS_BITS + ISA_FMA_BITS, ISA_ADD_BITS, tuple->add);
	}
	return true;
}

/* The position of the pair that begins with constant @first, -1 when there is none. */
static int position_find(unsigned int tuples, unsigned int first)
{
	int i;

	for (i = 0; i < 16; i++) {
		if (isa_positions[i].tuples == tuples && isa_positions[i].constant == first)
			return i;
	}
	return -1;
}

/* Whether so many constants have an encoding and are related as pcrel says. */
static bool consts_fit(const struct tsr_clause *clause)
{
	const struct isa_layout *layout = &isa_layouts[clause->tuples - 1];
	const struct isa_relation *relation;
	unsigned int i;

	if (clause->consts > TSR_CLAUSE_CONSTS_MAX || clause->consts < layout->single ||
	    (clause->consts - layout->single) % 2)
		return false;
	for (i = 0; i < clause->consts; i++) {
		if (clause->konst[i] & 15)
			return false;
	}
	if (layout->single) {
		relation = relation_of(clause->single_m & 15, clause->single_m >> 4);
		if (!relation || relation->first != clause->pcrel[0] || relation->second != TSR_PCREL_NONE)
			return false;
		if (layout->split && clause->single_m)
			return false;
	} else if (clause->single_m) {
		return false;
	}
	for (i = layout->single; i < clause->consts; i += 2) {
		relation = pair_relation(&clause->konst[i]);
		if (position_find(clause->tuples, i) < 0 || !relation ||
		    relation->first != clause->pcrel[i] || relation->second != clause->pcrel[i + 1])
			return false;
	}
	return true;
}

enum tsr_isa_error tsr_clause_pack(const struct tsr_clause *clause, uint8_t *code, size_t *len)
{
	const struct isa_layout *layout;
	struct clause_bits bits = { 0 };
	unsigned int i, quads = 0;
	uint8_t *end;

	if (!clause->tuples || clause->tuples > TSR_CLAUSE_TUPLES_MAX)
		return TSR_ISA_BAD_TUPLES;
	layout = &isa_layouts[clause->tuples - 1];
	if (!header_fits(clause) || !tsr_message_name(clause->message))
		return TSR_ISA_RESERVED;
	if (!clause_join(clause, &bits))
		return TSR_ISA_RESERVED;
	if (!consts_fit(clause))
		return TSR_ISA_BAD_CONSTS;
	bits.header[0] = header_pack(clause);
	bits.m1[0] = clause->single_m & 15;
	bits.m2[0] = clause->single_m >> 4;
	for (i = 0; i < clause->consts; i++)
		bits.konst[i][0] = clause->konst[i];
	for (quads = 0; quads < layout->num_quads; quads++)
		quad_give(&isa_formats[layout->formats[quads]], &bits, 0, code + quads * TSR_QUAD_BYTES);
	for (i = layout->single; i < clause->consts; i += 2, quads++) {
		bits.position[0] = (unsigned int)position_find(clause->tuples, i);
		quad_give(&isa_formats[ISA_FORMAT_CONSTS], &bits, i, code + quads * TSR_QUAD_BYTES);
	}
	end = code + (quads - 1) * TSR_QUAD_BYTES;
	*end |= ISA_TAG_END;
	*len = quads * TSR_QUAD_BYTES;
	return TSR_ISA_OK;
}

/* -- placing constants ------------------------------------------------------------------------ */

#define DUMMY 0xff	/* in a slot: no constant that was wanted */

static bool nibble_free(uint8_t pcrel, unsigned int word)
{
	return word ? pcrel != TSR_PCREL_NONE : pcrel == TSR_PCREL_LO_HI;
}

static void nibble_set(uint64_t *konst, unsigned int word, unsigned int nibble)
{
	unsigned int shift = word ? 60 : 28;

	*konst = (*konst & ~(15ULL << shift)) | (uint64_t)(nibble & 15) << shift;
}

/* Make the difference of the top bits of a word of two constants @m, by bits that are free. */
static bool nibble_solve(uint64_t *konst, const uint8_t *pcrel, unsigned int word, unsigned int m, bool free1)
{
	unsigned int n0 = top_nibble(konst[0], word), n1 = top_nibble(konst[1], word);

	if (nibble_free(pcrel[0], word))
		nibble_set(&konst[0], word, n1 + m);
	else if (free1 || nibble_free(pcrel[1], word))
		nibble_set(&konst[1], word, n0 - m);
	else
		return ((n0 - n1) & 15) == m;
	return true;
}

/* Make the pair one of a relation its kinds allow. free1: the second is a dummy whose value does not matter. */
static bool pair_solve(uint64_t *konst, const uint8_t *pcrel, bool free1)
{
	unsigned int i;

	for (i = 0; i < 32; i++) {
		const struct isa_relation *relation = &isa_relations[i];

		if (!relation->valid || relation->first != pcrel[0] || relation->second != pcrel[1])
			continue;
		if (i < 16 && nibble_solve(konst, pcrel, 1, i, free1))
			return true;
		if (i >= 16 && nibble_solve(konst, pcrel, 1, 7, free1) &&
		    nibble_solve(konst, pcrel, 0, i - 16, free1))
			return true;
	}
	return false;
}

static bool single_solve(struct tsr_clause *clause, bool split)
{
	unsigned int i;

	for (i = 0; i < 32; i++) {
		const struct isa_relation *relation = &isa_relations[i];

		if (relation->valid && relation->first == clause->pcrel[0] &&
		    relation->second == TSR_PCREL_NONE && (!split || i == 0)) {
			clause->single_m = (uint8_t)(i < 16 ? i : 7 | (i - 16) << 4);
			return true;
		}
	}
	return false;
}

/* Set the constants of a clause from an assignment of slots; false when a pair cannot be. */
static bool consts_try(struct tsr_clause *clause, const struct tsr_const *wanted, const uint8_t *in)
{
	const struct isa_layout *layout = &isa_layouts[clause->tuples - 1];
	unsigned int i;

	for (i = 0; i < clause->consts; i++) {
		clause->konst[i] = in[i] == DUMMY ? 0 : wanted[in[i]].value & ~15ULL;
		clause->pcrel[i] = in[i] == DUMMY ? TSR_PCREL_NONE : wanted[in[i]].pcrel;
	}
	clause->single_m = 0;
	if (layout->single && !single_solve(clause, layout->split))
		return false;
	for (i = layout->single; i < clause->consts; i += 2) {
		bool last = i + 1 == TSR_CLAUSE_CONSTS_MAX - 1;

		if (!pair_solve(&clause->konst[i], &clause->pcrel[i], last))
			return false;
	}
	return true;
}

/* Fill slot @at and those after it in every order until one fits: the constants in turn, then a dummy. */
static bool consts_place(struct tsr_clause *clause, const struct tsr_const *wanted, unsigned int num,
			 unsigned int at, unsigned int used, uint8_t *in)
{
	unsigned int i, left = 0;

	if (at == clause->consts)
		return consts_try(clause, wanted, in);
	for (i = 0; i < num; i++)
		left += !(used & 1u << i);
	for (i = 0; i < num && at < TSR_CLAUSE_CONSTS_MAX - 1; i++) {
		if (used & 1u << i)
			continue;
		in[at] = (uint8_t)i;
		if (consts_place(clause, wanted, num, at + 1, used | 1u << i, in))
			return true;
	}
	if (left >= clause->consts - at)
		return false;
	in[at] = DUMMY;
	return consts_place(clause, wanted, num, at + 1, used, in);
}

enum tsr_isa_error tsr_clause_place_consts(struct tsr_clause *clause, const struct tsr_const *wanted,
					   unsigned int num, uint8_t *slot)
{
	uint8_t in[TSR_CLAUSE_CONSTS_MAX];
	unsigned int i;

	if (!clause->tuples || clause->tuples > TSR_CLAUSE_TUPLES_MAX)
		return TSR_ISA_BAD_TUPLES;
	if (num > TSR_CLAUSE_CONSTS_MAX - 1)
		return TSR_ISA_BAD_CONSTS;
	clause->consts = isa_layouts[clause->tuples - 1].single;
	for (;; clause->consts += 2) {
		if (clause->consts >= num && consts_place(clause, wanted, num, 0, 0, in))
			break;
		if (position_find(clause->tuples, clause->consts) < 0)
			return TSR_ISA_BAD_CONSTS;
	}
	for (i = 0; i < clause->consts; i++) {
		if (in[i] != DUMMY)
			slot[in[i]] = (uint8_t)i;
	}
	return TSR_ISA_OK;
}

/* -- the rules of a clause -------------------------------------------------------------------- */

static bool port_read(const struct tsr_tuple *tuple, unsigned int port)
{
	if (port == 0)
		return tuple->read0;
	if (port == 1)
		return tuple->read1;
	return tsr_reg_modes[tuple->mode].slot2 == TSR_PORT_READ;
}

/* May anything in a clause of @consts constants read this FAU index? */
static bool fau_valid(unsigned int fau, unsigned int consts)
{
	if (tsr_fau_is_uniform(fau))
		return true;
	if (tsr_fau_is_const(fau))
		return (unsigned int)tsr_fau_const_index(fau) < consts;
	return tsr_fau_name(fau) != NULL;
}

static enum tsr_isa_error check_sources(const struct tsr_clause *clause, unsigned int at,
					const struct tsr_insn *insn)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	const struct tsr_tuple *tuple = &clause->tuple[at];
	unsigned int i;

	for (i = 0; i < info->num_srcs; i++) {
		unsigned int src = insn->src[i];

		if (!(info->src_mask[i] & 1u << src))
			return TSR_ISA_BAD_SOURCE;
		if (src <= TSR_SELECT_PORT2 && !port_read(tuple, src))
			return TSR_ISA_BAD_SOURCE;
		if (src >= TSR_SELECT_LAST_FMA && at == 0)
			return TSR_ISA_BAD_SOURCE;
		if ((src == TSR_SELECT_FAU_LO || src == TSR_SELECT_FAU_HI) &&
		    !fau_valid(tuple->fau, clause->consts))
			return TSR_ISA_BAD_FAU;
	}
	return TSR_ISA_OK;
}

static enum tsr_isa_error check_tuple(const struct tsr_clause *clause, unsigned int at,
				      const struct tsr_insn *fma, const struct tsr_insn *add)
{
	const struct tsr_reg_mode *mode = &tsr_reg_modes[clause->tuple[at].mode];
	enum tsr_isa_error error;

	if (!mode->valid || !(at ? mode->other : mode->first))
		return TSR_ISA_BAD_REGS;
	error = check_sources(clause, at, fma);
	if (!error)
		error = check_sources(clause, at, add);
	if (error)
		return error;
	if (at + 1u < clause->tuples && (tsr_ops[fma->op].last || tsr_ops[add->op].last))
		return TSR_ISA_NOT_LAST;
	/* The second half of a pair is always in the ADD unit and needs the first. */
	if (tsr_ops[add->op].pair && tsr_ops[add->op].pair != tsr_ops[fma->op].pair)
		return TSR_ISA_BAD_PAIR;
	return TSR_ISA_OK;
}

enum tsr_isa_error tsr_clause_check_at(const struct tsr_clause *clause, struct tsr_insn fma[8],
				       struct tsr_insn add[8], unsigned int *where)
{
	enum tsr_message message = TSR_MESSAGE_NONE;
	unsigned int i;

	for (i = 0; i < clause->tuples; i++) {
		enum tsr_isa_error error;
		enum tsr_message sent;

		*where = i;
		if (!tsr_insn_decode(TSR_ISA_FMA, clause->tuple[i].fma, &fma[i]))
			return TSR_ISA_BAD_FMA;
		if (!tsr_insn_decode(TSR_ISA_ADD, clause->tuple[i].add, &add[i]))
			return TSR_ISA_BAD_ADD;
		error = check_tuple(clause, i, &fma[i], &add[i]);
		if (error)
			return error;
		sent = tsr_insn_message(&add[i]);
		if (sent && message)
			return TSR_ISA_TWO_MESSAGES;
		if (sent && sent != clause->message)
			return TSR_ISA_MESSAGE_MISMATCH;
		message = sent ? sent : message;
	}
	*where = 0;
	return message == clause->message ? TSR_ISA_OK : TSR_ISA_MESSAGE_MISMATCH;
}

enum tsr_isa_error tsr_clause_check(const struct tsr_clause *clause, struct tsr_insn fma[8],
				    struct tsr_insn add[8])
{
	unsigned int where;

	return tsr_clause_check_at(clause, fma, add, &where);
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
		[TSR_ISA_BAD_SOURCE] = "a source that the instruction or the register block does not allow",
		[TSR_ISA_BAD_FAU] = "a source reads a FAU entry that is not there",
		[TSR_ISA_MESSAGE_MISMATCH] = "the message in the header is not the instructions'",
		[TSR_ISA_TWO_MESSAGES] = "two messages in one clause",
		[TSR_ISA_NOT_LAST] = "an instruction that belongs into the last tuple stands before it",
		[TSR_ISA_BAD_PAIR] = "an instruction without its partner",
	};

	return (unsigned int)error < TSR_ISA_ERROR__COUNT ? text[error] : "unknown error";
}
