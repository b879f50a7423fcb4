// SPDX-License-Identifier: MIT
/*
 * Fuzz target: the decoders and encoders of the instruction set.
 *
 * The first byte chooses what the rest is: code, single words, or the structures that the encoders
 * take, with anything in them. Whatever is accepted must come back bit for bit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tsr_isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A failure the sanitizers cannot see. */
static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "isa: %s\n", what);
	abort();
}

/* The rest of the input. */
struct bytes {
	const uint8_t *at;
	size_t left;
};

static uint8_t byte(struct bytes *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static uint64_t number(struct bytes *in, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | byte(in);
	return value;
}

static void instruction(const struct tsr_insn *insn)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	unsigned int i;
	uint32_t word;

	require(tsr_insn_staging_read(insn) <= 16 && tsr_insn_staging_written(insn) <= 16,
		"too many staging registers");
	require(tsr_message_name(tsr_insn_message(insn)), "a message without a name");
	require(tsr_insn_defined(insn) || info->num_forms, "an instruction without an encoding");
	for (i = 0; i < info->num_mods; i++)
		require(tsr_mod_value_name((enum tsr_mod)info->mods[i], insn->mod[info->mods[i]]),
			"a modifier has a value without a name");
	require(tsr_insn_encode(insn, &word), "a decoded instruction cannot be encoded");
}

static void words(struct bytes *in)
{
	while (in->left) {
		enum tsr_isa_unit unit = byte(in) & 1 ? TSR_ISA_ADD : TSR_ISA_FMA;
		uint32_t word = (uint32_t)number(in, 3), back = 0;
		struct tsr_insn insn;

		word &= unit == TSR_ISA_ADD ? 0xfffff : 0x7fffff;
		if (!tsr_insn_decode(unit, word, &insn))
			continue;
		instruction(&insn);
		require(tsr_insn_encode(&insn, &back) && back == word, "a word changes");
	}
}

/* Register blocks that can be encoded say the same afterwards. */
static void registers(const struct tsr_tuple *tuple, bool first)
{
	struct tsr_tuple t = *tuple, back;

	if (!tsr_tuple_regs_encode(&t, first))
		return;
	back = t;
	tsr_tuple_regs_decode(&back, first);
	require(back.mode == t.mode && back.fau == t.fau && back.read0 == t.read0 &&
		back.read1 == t.read1, "a register block changes");
	require(!t.read0 || back.port[0] == t.port[0], "port 0 changes");
	require(!t.read1 || back.port[1] == t.port[1], "port 1 changes");
}

static void clause(const struct tsr_clause *c, const uint8_t *code)
{
	struct tsr_insn fma[8], add[8];
	uint8_t packed[TSR_CLAUSE_BYTES_MAX];
	enum tsr_isa_error error;
	unsigned int i, where;
	size_t len = 0;

	require(c->tuples && c->tuples <= TSR_CLAUSE_TUPLES_MAX &&
			c->consts <= TSR_CLAUSE_CONSTS_MAX && c->quads &&
			c->quads <= TSR_CLAUSE_QUADS_MAX,
		"a clause is too large");
	require(!tsr_clause_pack(c, packed, &len) && len == 16u * c->quads &&
			!memcmp(packed, code, len),
		"a clause changes");
	error = tsr_clause_check_at(c, fma, add, &where);
	require(where < c->tuples, "there is no such tuple");
	require(tsr_isa_error_text(error) != NULL, "an error without a text");
	for (i = 0; i < c->tuples; i++) {
		registers(&c->tuple[i], i == 0);
		if (!error) {
			instruction(&fma[i]);
			instruction(&add[i]);
		}
	}
}

static void code(const uint8_t *data, size_t size)
{
	size_t at = 0;

	size &= ~(size_t)15;
	while (at < size) {
		struct tsr_clause c;
		struct tsr_quad quad;

		tsr_quad_decode(data + at, &quad);
		if (tsr_clause_unpack(data + at, size - at, &c)) {
			at += TSR_QUAD_BYTES;
			continue;
		}
		require(tsr_quad_decode(data + at, &quad), "a quadword of a clause is none");
		clause(&c, data + at);
		at += (size_t)c.quads * TSR_QUAD_BYTES;
	}
}

/* Instructions nobody decoded: a few modifiers and immediates with any value. */
static void encode(struct bytes *in)
{
	while (in->left) {
		struct tsr_insn insn = { .op = (uint16_t)(number(in, 2) % (TSR_OP__COUNT + 1)) },
				back;
		unsigned int i, changes = byte(in) % 8;
		uint32_t word;

		insn.form = byte(in) & 1 ? TSR_FORM_ANY : byte(in);
		for (i = 0; i < 4; i++)
			insn.src[i] = byte(in) % 9;
		for (i = 0; i < changes; i++) {
			unsigned int mod = byte(in) % TSR_MOD__COUNT;

			insn.mod[mod] = byte(in) % 16;
			if (byte(in) & 1)
				insn.imm[mod % TSR_IMM__COUNT] = byte(in);
		}
		if (!tsr_insn_encode(&insn, &word))
			continue;
		require(tsr_insn_decode((enum tsr_isa_unit)tsr_ops[insn.op].unit, word, &back) &&
			back.op == insn.op && !memcmp(back.mod, insn.mod, sizeof(insn.mod)),
			"an encoded instruction means something else");
	}
}

/* A clause of the caller's making, with constants that the helper places or nobody looked at. */
static void pack(struct bytes *in)
{
	struct tsr_clause c = { .tuples = byte(in) % 10,
				.flow = byte(in) % 9,
				.message = byte(in) % 17 };
	uint8_t packed[TSR_CLAUSE_BYTES_MAX], slot[TSR_CLAUSE_CONSTS_MAX + 1];
	struct tsr_const wanted[TSR_CLAUSE_CONSTS_MAX + 1];
	unsigned int i, num = byte(in) % 8;
	struct tsr_clause back;
	size_t len;

	for (i = 0; i < 8; i++) {
		c.tuple[i].regs = number(in, 5) & 0x7ffffffff;
		c.tuple[i].fma = (uint32_t)number(in, 3) & 0x7fffff;
		c.tuple[i].add = (uint32_t)number(in, 3) & 0xfffff;
		c.tuple[i].mode = byte(in);
		for (unsigned int k = 0; k < 4; k++)
			c.tuple[i].port[k] = byte(in) % 65;
		c.tuple[i].read0 = byte(in) & 1;
		c.tuple[i].read1 = byte(in) & 1;
		registers(&c.tuple[i], i == 0);
	}
	for (i = 0; i < num; i++) {
		wanted[i].value = number(in, 8);
		wanted[i].pcrel = byte(in) % 5;
		c.konst[i % TSR_CLAUSE_CONSTS_MAX] = wanted[i].value;
		c.pcrel[i % TSR_CLAUSE_CONSTS_MAX] = wanted[i].pcrel;
	}
	c.single_m = byte(in);
	c.consts = byte(in) % 9;
	if (byte(in) & 1 && tsr_clause_place_consts(&c, wanted, num, slot))
		return;
	if (tsr_clause_pack(&c, packed, &len))
		return;
	require(!tsr_clause_unpack(packed, len, &back), "a packed clause cannot be unpacked");
	clause(&back, packed);
}

static void names(struct bytes *in)
{
	while (in->left) {
		unsigned int value = byte(in);

		tsr_mod_value_name((enum tsr_mod)(value % (TSR_MOD__COUNT + 1)), byte(in));
		tsr_fau_name(value);
		tsr_isa_error_text((enum tsr_isa_error)value);
		if (tsr_fau_const_index(value) >= 0)
			require(tsr_fau_const((unsigned int)tsr_fau_const_index(value)) ==
					(value & 0xf0),
				"a constant of the FAU has another index");
		else
			tsr_fau_const(value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data + 1, size - 1 };

	if (!size)
		return 0;
	switch (data[0] % 8) {
	case 0:
		words(&in);
		break;
	case 1:
		encode(&in);
		break;
	case 2:
		pack(&in);
		break;
	case 3:
		names(&in);
		break;
	default:
		code(data + 1, size - 1);
	}
	return 0;
}
