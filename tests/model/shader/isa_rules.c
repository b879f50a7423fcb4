// SPDX-License-Identifier: MIT
/*
 * The rules between the parts of a clause, the sources and the fast access uniforms, and the
 * placing of constants.
 */
#include "tsr_isa.h"

#include "ktap.h"

#define NOP_FMA	0x701963
#define NOP_ADD	0x3d964

/* A clause of NOPs whose first tuple has the idle mode, and the others too. */
static struct tsr_clause nops(unsigned int tuples)
{
	struct tsr_clause c = { .tuples = (uint8_t)tuples };
	unsigned int i;

	for (i = 0; i < tuples; i++) {
		c.tuple[i].fma = NOP_FMA;
		c.tuple[i].add = NOP_ADD;
		c.tuple[i].mode = i ? 27 : 16;
	}
	return c;
}

static uint32_t word(const struct tsr_insn *insn)
{
	uint32_t w = 0;

	ktap_ok(tsr_insn_encode(insn, &w));
	return w;
}

static enum tsr_isa_error check(const struct tsr_clause *c)
{
	struct tsr_insn fma[8], add[8];

	return tsr_clause_check(c, fma, add);
}

/* A MOV.i32 of the ADD unit from @src. */
static uint32_t mov(unsigned int src)
{
	return word(&(struct tsr_insn){ .op = TSR_OP_ADD_MOV_I32, .form = TSR_FORM_ANY,
					.src = { (uint8_t)src } });
}

static void sources(void)
{
	struct tsr_clause c = nops(2);
	unsigned int src;

	ktap_eq(check(&c), TSR_ISA_OK);
	for (src = 0; src < 8; src++) {
		c.tuple[1].add = mov(src);
		ktap_eq(check(&c), src < 3 ? TSR_ISA_BAD_SOURCE : TSR_ISA_OK);
	}
	c.tuple[1].add = mov(TSR_SELECT_PORT0);
	c.tuple[1].read0 = true;
	ktap_eq(check(&c), TSR_ISA_OK);
	c.tuple[1].add = mov(TSR_SELECT_PORT1);
	ktap_eq(check(&c), TSR_ISA_BAD_SOURCE);
	c.tuple[1].read1 = true;
	ktap_eq(check(&c), TSR_ISA_OK);
	c.tuple[1].add = mov(TSR_SELECT_PORT2);
	c.tuple[1].mode = 20;
	ktap_eq(check(&c), TSR_ISA_OK);
	c.tuple[1].mode = 17;
	ktap_eq(check(&c), TSR_ISA_BAD_SOURCE);
	/* nothing is before the first tuple */
	c = nops(2);
	for (src = TSR_SELECT_LAST_FMA; src <= TSR_SELECT_LAST_ADD; src++) {
		c.tuple[0].add = mov(src);
		ktap_eq(check(&c), TSR_ISA_BAD_SOURCE);
	}
	/* what the encoding does not allow: the FMA unit's FADD cannot read port 2 */
	c = nops(1);
	c.tuple[0].mode = 20;
	c.tuple[0].fma = 0x2c0000 | 2 | 3 << 3;
	ktap_eq(check(&c), TSR_ISA_BAD_SOURCE);
	c.tuple[0].fma = 0x2c0000 | 3 | 2 << 3;
	ktap_eq(check(&c), TSR_ISA_BAD_SOURCE);
	c.tuple[0].fma = 0x2c0000 | 3 | 4 << 3;
	ktap_eq(check(&c), TSR_ISA_OK);
}

/* Which FAU indices can be read in a clause with @consts constants: the table of isa.md. */
static bool fau_there(unsigned int fau, unsigned int consts)
{
	static const int8_t constant[8] = { -1, -1, 4, 5, 0, 1, 2, 3 };

	if (fau >= 0x80)
		return true;
	if (fau >= 0x20)
		return (unsigned int)constant[fau >> 4] < consts;
	return fau < 16 && fau != 7;
}

static void fau(void)
{
	unsigned int index, consts;

	for (consts = 0; consts <= 6; consts++) {
		for (index = 0; index < 256; index++) {
			struct tsr_clause c = nops(1);

			c.consts = (uint8_t)consts;
			c.tuple[0].fau = (uint8_t)index;
			ktap_eq(check(&c), TSR_ISA_OK);		/* nobody reads it */
			c.tuple[0].add = mov(index & 1 ? TSR_SELECT_FAU_LO : TSR_SELECT_FAU_HI);
			ktap_eq(check(&c), fau_there(index, consts) ? TSR_ISA_OK : TSR_ISA_BAD_FAU);
		}
	}
	for (index = 0; index < 6; index++) {
		static const uint8_t nibble[] = { 0x40, 0x50, 0x60, 0x70, 0x20, 0x30 };

		ktap_eq(tsr_fau_const(index), nibble[index]);
		ktap_eq(tsr_fau_const_index(nibble[index] | 9), index);
	}
	ktap_eq(tsr_fau_const(6), 0);
	ktap_eq(tsr_fau_const_index(0x10), -1);
	ktap_eq(tsr_fau_const_index(0x80), -1);
}

static void messages(void)
{
	/* LOAD.i32 of a uniform buffer, sources from the FAU; a store; a barrier */
	const uint32_t ubo = 0x60c00 | 4 | 4 << 3 | 4 << 6, load = 0x60c00 | 4 | 5 << 3 | 1 << 6;
	const uint32_t store = 0x62c00 | 4 | 5 << 3 | 1 << 6;
	struct tsr_clause c = nops(2);

	c.tuple[0].add = load;
	ktap_eq(check(&c), TSR_ISA_MESSAGE_MISMATCH);
	c.message = TSR_MESSAGE_LOAD;
	ktap_eq(check(&c), TSR_ISA_OK);
	c.next_message = 31;		/* a hint */
	ktap_eq(check(&c), TSR_ISA_OK);
	c.message = TSR_MESSAGE_STORE;
	ktap_eq(check(&c), TSR_ISA_MESSAGE_MISMATCH);
	c.message = TSR_MESSAGE_LOAD;
	c.tuple[1].add = store;
	ktap_eq(check(&c), TSR_ISA_TWO_MESSAGES);
	c.tuple[1].add = load;
	ktap_eq(check(&c), TSR_ISA_TWO_MESSAGES);
	c.tuple[1].add = NOP_ADD;
	c.tuple[0].add = ubo;
	ktap_eq(check(&c), TSR_ISA_MESSAGE_MISMATCH);
	c.message = TSR_MESSAGE_ATTRIBUTE;
	ktap_eq(check(&c), TSR_ISA_OK);
	c.tuple[0].add = NOP_ADD;
	ktap_eq(check(&c), TSR_ISA_MESSAGE_MISMATCH);	/* announced, not sent */
}

static void last_tuple(void)
{
	const uint32_t barrier = 0xd7874, jump = 0x6fe34 | 5 << 6;
	struct tsr_clause c = nops(3);

	c.message = TSR_MESSAGE_BARRIER;
	c.tuple[2].add = barrier;
	ktap_eq(check(&c), TSR_ISA_OK);
	c.tuple[2].add = NOP_ADD;
	c.tuple[1].add = barrier;
	ktap_eq(check(&c), TSR_ISA_NOT_LAST);
	c = nops(3);
	c.tuple[2].add = jump;
	ktap_eq(check(&c), TSR_ISA_OK);
	c.tuple[2].add = NOP_ADD;
	c.tuple[0].add = jump;
	ktap_eq(check(&c), TSR_ISA_NOT_LAST);
}

static void pairs(void)
{
	const uint32_t atom_c = 0x2f6000 | 4 | 5 << 3 | 4 << 6 | 2 << 9;
	const uint32_t atom_cx = 0xd7400 | 4 | 5 << 3 | 4 << 6;
	const uint32_t face1 = 0x706800 | 4 | 4 << 3 | 4 << 6, face2 = 0x3de58 | 3;
	struct tsr_clause c = nops(2);

	c.message = TSR_MESSAGE_ATOMIC;
	c.tuple[1].add = atom_cx;
	ktap_eq(check(&c), TSR_ISA_BAD_PAIR);
	c.tuple[1].fma = face1;
	ktap_eq(check(&c), TSR_ISA_BAD_PAIR);
	c.tuple[1].fma = atom_c;
	ktap_eq(check(&c), TSR_ISA_OK);
	c = nops(2);
	c.tuple[0].fma = face1;
	c.tuple[1].add = face2;
	ktap_eq(check(&c), TSR_ISA_BAD_PAIR);	/* not in the same tuple */
	c.tuple[0].add = face2;
	c.tuple[1].add = NOP_ADD;
	ktap_eq(check(&c), TSR_ISA_OK);
}

static void where(void)
{
	struct tsr_insn fma[8], add[8];
	struct tsr_clause c = nops(8);
	unsigned int at;

	c.tuple[5].add = 0xe2000;		/* set aside */
	ktap_eq(tsr_clause_check_at(&c, fma, add, &at), TSR_ISA_BAD_ADD);
	ktap_eq(at, 5);
	c.tuple[3].fma = 0x200000;		/* undefined */
	ktap_eq(tsr_clause_check_at(&c, fma, add, &at), TSR_ISA_BAD_FMA);
	ktap_eq(at, 3);
	c.tuple[2].mode = 16;			/* for first tuples only */
	ktap_eq(tsr_clause_check_at(&c, fma, add, &at), TSR_ISA_BAD_REGS);
	ktap_eq(at, 2);
	c.tuple[0].mode = 27;
	ktap_eq(tsr_clause_check_at(&c, fma, add, &at), TSR_ISA_BAD_REGS);
	ktap_eq(at, 0);
}

static void errors_have_text(void)
{
	int e;

	for (e = 0; e < TSR_ISA_ERROR__COUNT; e++) {
		const char *text = tsr_isa_error_text((enum tsr_isa_error)e);

		ktap_ok(text && strlen(text) > 5 && strcmp(text, "unknown error"));
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA7] sources: ports that read, results of the tuple before, selectors",
		 sources);
	ktap_run("[ISA6] every FAU index, with every number of constants", fau);
	ktap_run("[ISA3] one message, of the header's type", messages);
	ktap_run("[ISA14] instructions of the last tuple before it", last_tuple);
	ktap_run("[ISA14] halves of pairs", pairs);
	ktap_run("[ISA14] the tuple that is wrong is named", where);
	ktap_run("[ISA14] every error has a text", errors_have_text);
	return ktap_finish();
}
