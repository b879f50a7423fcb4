/* SPDX-License-Identifier: MIT */
/*
 * The codec of clauses: register blocks, quadwords, constants, and the rules between the parts.
 *
 * Not compiled by itself: emit_isa.py puts it behind the tables of tsr_isa.c.
 */

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
		/*
		 * Port 1 is off: its field holds the control value, port 0 off, and port 0's high
		 * bit.
		 */
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

/*
 * r2 and r3 as the mode wants them: the second half of the modes of later tuples says so by r2 ==
 * r3.
 */
static bool regs_ports(const struct tsr_tuple *tuple, bool first, unsigned int *r2,
		       unsigned int *r3)
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
		/*
		 * r0 has five bits: two registers of which the first is above 31 stand as 63 minus
		 * them.
		 */
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
	tuple->regs = (uint64_t)tuple->fau | (uint64_t)r3 << 8 | (uint64_t)r2 << 14 |
		      (uint64_t)r0 << 20 | (uint64_t)r1 << 25 | (uint64_t)control << 31;
	return true;
}

/* -- clauses ---------------------------------------------------------------------------------- */

/* The parts of a clause, collected from its quadwords. */
struct clause_bits {
	uint64_t header[1];
	uint64_t tuple[TSR_CLAUSE_TUPLES_MAX][2];
	uint64_t konst[TSR_CLAUSE_CONSTS_MAX + 1][1];
	uint64_t m1[1], m2[1];
	uint64_t position[1];
};

static uint64_t *part_words(const struct isa_part *part, struct clause_bits *bits,
			    unsigned int base)
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

static void quad_take(const struct isa_format *format, const uint64_t quad[2],
		      struct clause_bits *bits, unsigned int base)
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
	const struct isa_relation *relation =
		m1 == 7 ? &isa_relations[16 + m2] : &isa_relations[m1];

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
		header |= (uint64_t)((const uint8_t *)clause)[isa_header[i].offset]
			  << isa_header[i].lo;
	return header;
}

/* True if each header field fits its bits. */
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
		tuple->add = (uint32_t)bits_get(bits->tuple[i], ISA_REGS_BITS + ISA_FMA_BITS,
						ISA_ADD_BITS);
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
static void quad_give(const struct isa_format *format, struct clause_bits *bits, unsigned int base,
		      uint8_t *code)
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

		if (tuple->regs >> ISA_REGS_BITS || tuple->fma >> ISA_FMA_BITS ||
		    tuple->add >> ISA_ADD_BITS)
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

/* True if this number of constants has an encoding and pcrel holds for them. */
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
		if (!relation || relation->first != clause->pcrel[0] ||
		    relation->second != TSR_PCREL_NONE)
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
	unsigned int i, quads;
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
		quad_give(&isa_formats[layout->formats[quads]], &bits, 0,
			  code + quads * TSR_QUAD_BYTES);
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
static bool nibble_solve(uint64_t *konst, const uint8_t *pcrel, unsigned int word, unsigned int m,
			 bool free1)
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

/*
 * Make the pair one of a relation its kinds allow. free1: the second is a dummy whose value does
 * not matter.
 */
static bool pair_solve(uint64_t *konst, const uint8_t *pcrel, bool free1)
{
	const struct isa_relation *now = pair_relation(konst);
	unsigned int i;

	/* M1 alone says it already */
	if (now && now < &isa_relations[16] && now->first == pcrel[0] && now->second == pcrel[1])
		return true;
	for (i = 0; i < 32; i++) {
		const struct isa_relation *relation = &isa_relations[i];

		if (!relation->valid || relation->first != pcrel[0] || relation->second != pcrel[1])
			continue;
		if (i < 16 && nibble_solve(konst, pcrel, 1, i, free1))
			return true;
		/* two that are not relative are ordered by M1 alone */
		if (i >= 16 && relation->first != TSR_PCREL_NONE &&
		    nibble_solve(konst, pcrel, 1, 7, free1) &&
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
		if (!pair_solve(&clause->konst[i], &clause->pcrel[i], in[i + 1] == DUMMY))
			return false;
	}
	return true;
}

/*
 * Fill slot @at and those after it in every order until one fits: the constants in turn, then a
 * dummy.
 */
static bool consts_place(struct tsr_clause *clause, const struct tsr_const *wanted,
			 unsigned int num, unsigned int at, unsigned int used, uint8_t *in)
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

enum tsr_isa_error tsr_clause_place_consts(struct tsr_clause *clause,
					   const struct tsr_const *wanted, unsigned int num,
					   uint8_t *slot)
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
