// SPDX-License-Identifier: MIT
/*
 * Ports of a tuple's registers, and the instruction words with them.
 *
 * These rules apply if the text does not give the ports. The registers that a tuple reads, FMA
 * sources first, use ports 0 and 1, with the lower number in port 0. A third register uses port 2.
 * If it cannot, the second or the first one does. The result of the previous tuple (in the first
 * tuple, of the last one) is written by port 3. If both units have a result, port 3 writes that of
 * ADD and port 2 that of FMA. An unused port repeats the number of the other, 2 of 3 and 3 of 2, as
 * compilers do.
 */
#include <stdio.h>
#include <string.h>

#include "asm_ir.h"

#define READS_MAX 8

/* Distinct registers a tuple reads, in the order of its sources. */
struct reads {
	unsigned int num;
	uint8_t reg[READS_MAX];
	struct asm_pos pos[READS_MAX];
};

static void add_read(struct reads *reads, const struct ir_operand *src)
{
	unsigned int i;

	for (i = 0; i < reads->num; i++) {
		if (reads->reg[i] == src->index)
			return;
	}
	reads->reg[reads->num] = src->index;
	reads->pos[reads->num++] = src->pos;
}

static unsigned int num_sources(const struct ir_insn *insn)
{
	return insn->raw ? 0 : tsr_ops[insn->insn.op].num_srcs;
}

static void collect_reads(const struct ir_tuple *tuple, struct reads *reads)
{
	unsigned int unit, i;

	for (unit = 0; unit < 2; unit++) {
		for (i = 0; i < num_sources(&tuple->insn[unit]); i++) {
			if (tuple->insn[unit].src[i].kind == IR_REG)
				add_read(reads, &tuple->insn[unit].src[i]);
		}
	}
}

/* -- selectors ------------------------------------------------------------------------------- */

static bool port_reads(const struct tsr_tuple *block, unsigned int port)
{
	if (port == 2)
		return tsr_reg_modes[block->mode].slot2 == TSR_PORT_READ;
	return port ? block->read1 : block->read0;
}

/* The port that gives a register, -1 none. */
static int find_port(const struct tsr_tuple *block, const struct ir_operand *src)
{
	int port;

	for (port = 0; port < 3; port++) {
		if (src->port >= 0 && src->port != port)
			continue;
		if (port_reads(block, (unsigned int)port) && block->port[port] == src->index)
			return port;
	}
	return -1;
}

static int selector(const struct tsr_tuple *block, const struct ir_operand *src)
{
	switch (src->kind) {
	case IR_REG:
		return find_port(block, src);
	case IR_PORT:
		return src->index;
	case IR_STAGE:
		return TSR_SELECT_STAGE;
	case IR_LAST_FMA:
		return TSR_SELECT_LAST_FMA;
	case IR_LAST_ADD:
		return TSR_SELECT_LAST_ADD;
	default:
		return src->half ? TSR_SELECT_FAU_HI : TSR_SELECT_FAU_LO;
	}
}

/* -- encoding -------------------------------------------------------------------------------- */

static const char *const selector_names[] = {
	"port 0", "port 1", "port 2", NULL, "the low word of the FAU entry",
	"the high word of the FAU entry", "t0", "t1",
};

static const char *selector_name(unsigned int unit, unsigned int select)
{
	if (select == TSR_SELECT_STAGE)
		return unit == TSR_ISA_FMA ? "#0" : "t";
	return selector_names[select];
}

/* Set the selectors of an instruction; false when a source cannot be so, unless @any can. */
static bool set_selectors(const struct ir_insn *ir, const struct tsr_tuple *block, bool any,
			  struct tsr_insn *insn, struct asm_diags *diags)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	unsigned int i, n;

	for (i = 0; i < info->num_srcs; i++) {
		int select = selector(block, &ir->src[i]);
		struct asm_words words = { 0 };

		if (select < 0) {
			asm_error(diags, ir->src[i].pos, "no port of the [...] line reads r%u",
				  ir->src[i].index);
			return false;
		}
		insn->src[i] = (uint8_t)select;
		if (any || info->src_mask[i] & 1u << select)
			continue;
		for (n = 0; n < 8; n++) {
			if (info->src_mask[i] & 1u << n)
				asm_words_add(&words, selector_name(info->unit, n));
		}
		asm_error(diags, ir->src[i].pos,
			  "source %u of %s cannot be %s, expected one of: %s",
			  i, info->name, selector_name(info->unit, (unsigned int)select),
			  words.text);
		return false;
	}
	return true;
}

/* Names of the values of one modifier that would do with all else as it is. */
static bool list_values(const struct tsr_insn *insn, unsigned int mod, struct asm_words *words)
{
	struct tsr_insn trial = *insn;
	const char *name;
	uint32_t word;
	unsigned int v;

	for (v = 0; (name = tsr_mod_value_name(mod, v)); v++) {
		trial.mod[mod] = (uint8_t)v;
		if (tsr_insn_encode(&trial, &word))
			asm_words_add(words, name);
	}
	return words->length;
}

/* The modifier of source 1 that is what @mod is of source 0, -1 none. */
static int partner(const struct tsr_op_info *info, unsigned int mod)
{
	size_t stem = strlen(tsr_mod_names[mod]) - 1;
	unsigned int i;

	for (i = 0; i < info->num_mods; i++) {
		const char *name = tsr_mod_names[info->mods[i]];

		if (!strncmp(name, tsr_mod_names[mod], stem) && !strcmp(name + stem, "1"))
			return info->mods[i];
	}
	return -1;
}

/* Has the instruction an encoding with its first two sources exchanged, modifiers and all? */
static bool encodes_swapped(const struct tsr_insn *insn)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	struct tsr_insn swapped = *insn;
	unsigned int i;
	uint32_t word;

	if (info->num_srcs < 2)
		return false;
	swapped.src[0] = insn->src[1];
	swapped.src[1] = insn->src[0];
	for (i = 0; i < info->num_mods; i++) {
		unsigned int mod = info->mods[i];
		int other = ir_source_of(mod, info) == 0 ? partner(info, mod) : -1;

		if (other < 0)
			continue;
		swapped.mod[mod] = insn->mod[other];
		swapped.mod[other] = insn->mod[mod];
	}
	return tsr_insn_encode(&swapped, &word);
}

/* Say why an instruction has no encoding: which modifier could be what. */
static void explain(const struct ir_insn *ir, const struct tsr_insn *insn, struct asm_diags *diags)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	const char *swap = encodes_swapped(insn) ? ", or the first two sources exchanged" : "";
	unsigned int i;

	for (i = 0; i < info->num_mods; i++) {
		int source = ir_source_of(info->mods[i], info);
		struct asm_words words = { 0 };

		if (!list_values(insn, info->mods[i], &words))
			continue;
		asm_error(diags, source < 0 ? ir->pos : ir->src[source].pos,
			  "%s has no encoding with these modifiers; with the others as they are, "
			  "expected %s to be one of: %s%s", info->name,
			  tsr_mod_names[info->mods[i]], words.text, swap);
		return;
	}
	asm_error(diags, ir->pos, "%s has no encoding with these modifiers and sources%s%s",
		  info->name, *swap ? ", expected others" : "", swap);
}

static bool encode(const struct ir_insn *ir, const struct tsr_tuple *block, bool any,
		   uint32_t *word, struct asm_diags *diags)
{
	struct tsr_insn insn = ir->insn;

	if (ir->raw) {
		*word = ir->word;
		return true;
	}
	if (!set_selectors(ir, block, any, &insn, diags))
		return false;
	if (tsr_insn_encode(&insn, word))
		return true;
	if (diags)
		explain(ir, &insn, diags);
	return false;
}

/* -- the register block ---------------------------------------------------------------------- */

/* Work of ports 2 and 3. */
struct duty {
	uint8_t action2, action3;	/* enum tsr_port_action */
	uint8_t reg2, reg3;
	uint8_t from3;			/* enum tsr_isa_unit */
};

static struct duty duty_of(const struct ir_tuple *writer)
{
	const struct ir_dest *fma = &writer->insn[TSR_ISA_FMA].dest;
	const struct ir_dest *add = &writer->insn[TSR_ISA_ADD].dest;
	struct duty duty = { TSR_PORT_IDLE, TSR_PORT_IDLE, 0, 0, 0 };

	if (fma->reg != IR_NO_REG && add->reg != IR_NO_REG) {
		duty.action2 = fma->action;
		duty.reg2 = (uint8_t)fma->reg;
	}
	if (add->reg != IR_NO_REG) {
		duty.action3 = add->action;
		duty.reg3 = (uint8_t)add->reg;
		duty.from3 = TSR_ISA_ADD;
	} else if (fma->reg != IR_NO_REG) {
		duty.action3 = fma->action;
		duty.reg3 = (uint8_t)fma->reg;
		duty.from3 = TSR_ISA_FMA;
	}
	return duty;
}

/* Find a mode in which ports 2 and 3 do that, and encode the block. */
static bool find_mode(struct duty duty, bool first, struct tsr_tuple *block)
{
	unsigned int mode;

	if (duty.action3 == TSR_PORT_IDLE)
		duty.reg3 = duty.reg2;
	if (duty.action2 == TSR_PORT_IDLE)
		duty.reg2 = duty.reg3;
	block->port[2] = duty.reg2;
	block->port[3] = duty.reg3;
	for (mode = 0; mode < 32; mode++) {
		const struct tsr_reg_mode *m = &tsr_reg_modes[mode];

		if (!m->valid || !(first ? m->first : m->other) || m->slot2 != duty.action2 ||
		    m->slot3 != duty.action3)
			continue;
		if (m->slot3 != TSR_PORT_IDLE && m->slot3_from != duty.from3)
			continue;
		block->mode = (uint8_t)mode;
		if (tsr_tuple_regs_encode(block, first))
			return true;
	}
	return false;
}

/* Put the registers into ports, number @third of them (or none, if there are less) into port 2. */
static bool try_ports(const struct reads *reads, unsigned int third, struct duty duty, bool first,
		      struct tsr_tuple *block)
{
	uint8_t low[2] = { 0, 0 };
	unsigned int i, n = 0;

	for (i = 0; i < reads->num; i++) {
		if (i == third)
			continue;
		low[n++] = reads->reg[i];
	}
	if (n == 2 && low[0] > low[1]) {
		uint8_t swap = low[0];

		low[0] = low[1];
		low[1] = swap;
	}
	block->read0 = n > 0;
	block->read1 = n > 1;
	block->port[0] = low[0];
	block->port[1] = low[1];
	if (third < reads->num) {
		if (duty.action2 != TSR_PORT_IDLE)
			return false;
		duty.action2 = TSR_PORT_READ;
		duty.reg2 = reads->reg[third];
	}
	return find_mode(duty, first, block);
}

/* @any: sources that the instructions cannot have are allowed. */
static bool encode_both(const struct ir_tuple *tuple, struct tsr_tuple *block, bool any,
			struct asm_diags *diags)
{
	bool fma = encode(&tuple->insn[TSR_ISA_FMA], block, any, &block->fma, diags);

	return encode(&tuple->insn[TSR_ISA_ADD], block, any, &block->add, diags) && fma;
}

static void explain_ports(const struct ir_tuple *tuple, const struct ir_tuple *writer,
			  const struct reads *reads, struct duty duty, bool first,
			  struct asm_diags *diags)
{
	if (first && duty.action2 != TSR_PORT_IDLE)
		asm_error(diags, writer->insn[TSR_ISA_FMA].dest.pos,
			  "two writes of the last tuple do not fit into the register block of the "
			  "first, expected one (or the low halves of two)");
	else if (duty.action2 != TSR_PORT_IDLE && reads->num > 2)
		asm_error(diags, reads->pos[2],
			  "a third register (r%u) in a tuple whose port 2 writes: the tuple before "
			  "writes two, expected two registers here", reads->reg[2]);
	else
		asm_error(diags, tuple->insn[TSR_ISA_FMA].present ?
			  tuple->insn[TSR_ISA_FMA].pos : tuple->insn[TSR_ISA_ADD].pos,
			  "no register block reads and writes these registers");
}

/* Is what the [...] line says about writes what the destinations say? */
static bool block_agrees(const struct tsr_tuple *given, bool first, struct duty duty)
{
	const struct tsr_reg_mode *m = &tsr_reg_modes[given->mode];
	bool valid = m->valid && (first ? m->first : m->other);
	bool writes2 = valid && m->slot2 >= TSR_PORT_WRITE;
	bool writes3 = valid && m->slot3 >= TSR_PORT_WRITE;

	if (writes2 != (duty.action2 != TSR_PORT_IDLE) ||
	    writes3 != (duty.action3 != TSR_PORT_IDLE))
		return false;
	if (writes2 && (m->slot2 != duty.action2 || given->port[2] != duty.reg2))
		return false;
	return !writes3 || (m->slot3 == duty.action3 && m->slot3_from == duty.from3 &&
			    given->port[3] == duty.reg3);
}

static bool take_block(const struct ir_tuple *tuple, struct duty duty, bool first, bool any,
		       struct tsr_tuple *out, struct asm_diags *diags)
{
	const struct ir_block *given = &tuple->block;

	memcpy(out->port, given->port, sizeof(out->port));
	out->read0 = given->read0;
	out->read1 = given->read1;
	out->mode = given->mode;
	if (given->raw) {
		out->regs = given->regs;
		tsr_tuple_regs_decode(out, first);
	}
	if (!block_agrees(out, first, duty)) {
		asm_error(diags, given->pos, "the writes of this [...] line are not those of the "
			  "destinations of the %s tuple", first ? "last" : "previous");
		return false;
	}
	if (!given->raw && !tsr_tuple_regs_encode(out, first)) {
		asm_error(diags, given->pos,
			  "these ports have no encoding: expected p0 below p1, and "
			  "a mode that the %s tuple can have", first ? "first" : "second to last");
		return false;
	}
	return encode_both(tuple, out, any, diags);
}

/*
 * Try the ways to spread the registers over the ports: none in port 2 if two are enough, then the
 * third, the second, the first one. *fits becomes the first way that has a register block.
 */
static bool try_ways(const struct ir_tuple *tuple, const struct reads *reads, struct duty duty,
		     bool first, bool any, struct tsr_tuple *out, int *fits)
{
	unsigned int third;

	for (third = 3; third-- > 0;) {
		unsigned int which = reads->num < 3 && third == 2 ? 3 : third;

		if (!try_ports(reads, which, duty, first, out))
			continue;
		if (encode_both(tuple, out, any, NULL))
			return true;
		*fits = *fits < 0 ? (int)which : *fits;
	}
	return false;
}

bool asm_ports_place(const struct ir_clause *ir, unsigned int at, struct tsr_tuple *out,
		     struct asm_diags *diags)
{
	const struct ir_tuple *tuple = &ir->tuple[at];
	const struct ir_tuple *writer = &ir->tuple[at ? at - 1 : ir->tuples - 1u];
	struct duty duty = duty_of(writer);
	struct reads reads = { 0 };
	bool first = at == 0;
	int fits = -1;

	if (tuple->block.ports_given)
		return take_block(tuple, duty, first, ir->unchecked, out, diags);
	collect_reads(tuple, &reads);
	if (reads.num > 3) {
		asm_error(diags, reads.pos[3], "a fourth register (r%u) in one tuple, expected at "
			  "most three", reads.reg[3]);
		return false;
	}
	if (try_ways(tuple, &reads, duty, first, false, out, &fits) ||
	    (ir->unchecked && try_ways(tuple, &reads, duty, first, true, out, &fits)))
		return true;
	if (fits < 0) {
		explain_ports(tuple, writer, &reads, duty, first, diags);
		return false;
	}
	try_ports(&reads, (unsigned int)fits, duty, first, out);
	return encode_both(tuple, out, ir->unchecked, diags);
}
