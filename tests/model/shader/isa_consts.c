// SPDX-License-Identifier: MIT
/*
 * Constants of clauses: where the packer may put them, which are relative to the clause, and the
 * helper that finds places, orders pairs and adds dummies. What the two M numbers say is written
 * down here once more, from the document.
 */
#include "tsr_isa.h"

#include "ktap.h"

static uint64_t state = 88172645463325252ull;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Kinds of two constants, or -1: 0 none, 1 low, 2 high, 3 both words. */
static int ref_kinds(unsigned int m1, unsigned int m2)
{
	static const int8_t by_m1[16] = { 0x00, 0x10, 0x11, -1, 0x20, 0x22, 0x10, -1 };
	static const int8_t by_m2[16] = { 0x30, 0x32, 0x33, 0x32, -1, -1, -1, -1 };

	if (m1 >= 8)
		return 0;
	if (m1 != 7)
		return by_m1[m1];
	return m2 >= 8 ? 0 : by_m2[m2];
}

static const uint8_t SINGLE[9] = { 0, 0, 0, 1, 0, 1, 1, 0, 1 };

/* All differences of the top bits, in a clause of two tuples. */
static void relations(void)
{
	unsigned int i;

	for (i = 0; i < 65536; i++) {
		uint64_t a1 = i & 15, b1 = i >> 4 & 15, a0 = i >> 8 & 15, b0 = i >> 12;
		struct tsr_clause c = { .tuples = 2, .consts = 2 }, back;
		int kinds = ref_kinds((unsigned int)(a1 - b1) & 15, (unsigned int)(a0 - b0) & 15);
		uint8_t code[TSR_CLAUSE_BYTES_MAX];
		size_t len;

		c.konst[0] = a1 << 60 | a0 << 28 | 0x123450;
		c.konst[1] = b1 << 60 | b0 << 28 | 0x234560;
		c.pcrel[0] = (uint8_t)(kinds >> 4);
		c.pcrel[1] = kinds & 15;
		if (kinds < 0) {
			c.pcrel[0] = (uint8_t)(rnd() % 4);
			c.pcrel[1] = (uint8_t)(rnd() % 4);
			ktap_eq(tsr_clause_pack(&c, code, &len), TSR_ISA_BAD_CONSTS);
			continue;
		}
		ktap_eq(tsr_clause_pack(&c, code, &len), TSR_ISA_OK);
		ktap_eq(tsr_clause_unpack(code, len, &back), TSR_ISA_OK);
		ktap_eq(back.pcrel[0], kinds >> 4);
		ktap_eq(back.pcrel[1], kinds & 15);
		c.pcrel[1] ^= 1;
		ktap_eq(tsr_clause_pack(&c, code, &len), TSR_ISA_BAD_CONSTS);
	}
}

/* The two numbers of a constant that is alone in its quadword. */
static void single(void)
{
	unsigned int m;

	for (m = 0; m < 256; m++) {
		struct tsr_clause c = { .tuples = 6, .consts = 1, .single_m = (uint8_t)m }, back;
		int kinds = ref_kinds(m & 15, m >> 4);
		uint8_t code[TSR_CLAUSE_BYTES_MAX];
		bool ok = kinds >= 0 && !(kinds & 15);
		size_t len;

		c.konst[0] = 0x5a5a5a5a5a5a5a50;
		c.pcrel[0] = (uint8_t)(kinds < 0 ? 0 : kinds >> 4);
		ktap_eq(tsr_clause_pack(&c, code, &len), ok ? TSR_ISA_OK : TSR_ISA_BAD_CONSTS);
		if (!ok)
			continue;
		ktap_eq(tsr_clause_unpack(code, len, &back), TSR_ISA_OK);
		ktap_eq(back.single_m, m);
		ktap_eq(back.pcrel[0], kinds >> 4);
		/* where a constant is split there is no room for them */
		c.tuples = 8;
		ktap_eq(tsr_clause_pack(&c, code, &len), m ? TSR_ISA_BAD_CONSTS : TSR_ISA_OK);
	}
}

/* The numbers of constants a clause can have: the document's positions, and those before them. */
static void numbers(void)
{
	static const uint8_t possible[9] = {	/* bit n: n constants */
		[1] = 0x05, [2] = 0x05, [3] = 0x0a, [4] = 0x15, [5] = 0x2a, [6] = 0xaa, [7] = 0x55,
		[8] = 0x2a,
	};
	unsigned int tuples, consts;

	for (tuples = 0; tuples <= 9; tuples++) {
		for (consts = 0; consts <= 8; consts++) {
			struct tsr_clause c = { .tuples = (uint8_t)tuples,
						.consts = (uint8_t)consts };
			uint8_t code[TSR_CLAUSE_BYTES_MAX];
			enum tsr_isa_error want;
			size_t len;

			want = tuples < 1 || tuples > 8 ? TSR_ISA_BAD_TUPLES :
			       possible[tuples] >> consts & 1 ? TSR_ISA_OK : TSR_ISA_BAD_CONSTS;
			ktap_eq(tsr_clause_pack(&c, code, &len), want);
		}
	}
}

/* Values that the packer cannot express: low bits of a constant, M numbers without constants. */
static void nonsense(void)
{
	struct tsr_clause c = { .tuples = 2, .consts = 2 };
	uint8_t code[TSR_CLAUSE_BYTES_MAX];
	size_t len;

	ktap_eq(tsr_clause_pack(&c, code, &len), TSR_ISA_OK);
	c.single_m = 1;
	ktap_eq(tsr_clause_pack(&c, code, &len), TSR_ISA_BAD_CONSTS);
	c.single_m = 0;
	c.konst[1] = 8;
	ktap_eq(tsr_clause_pack(&c, code, &len), TSR_ISA_BAD_CONSTS);
	c.konst[1] = 16;
	ktap_eq(tsr_clause_pack(&c, code, &len), TSR_ISA_OK);
}

/*
 * True if a constant in its slot is the one that was wanted; a relative one may have other top
 * bits.
 */
static bool kept(uint64_t konst, const struct tsr_const *wanted)
{
	uint64_t mask = ~15ull;

	if (wanted->pcrel != TSR_PCREL_NONE)
		mask &= ~(15ull << 60);
	if (wanted->pcrel == TSR_PCREL_LO_HI)
		mask &= ~(15ull << 28);
	return (konst & mask) == (wanted->value & mask);
}

/* A random set of constants finds places; the clause packs, and unpacks to the same constants. */
static void place(void)
{
	unsigned int round, placed = 0;

	for (round = 0; round < 20000; round++) {
		struct tsr_clause c = { .tuples = (uint8_t)(1 + rnd() % 8) }, back;
		unsigned int num = (unsigned int)(rnd() % 7), i, at, most;
		uint8_t slot[7] = { 0 }, code[TSR_CLAUSE_BYTES_MAX];
		struct tsr_const wanted[7];
		bool seen[7] = { false };
		size_t len;

		for (i = 0; i < num; i++) {
			wanted[i].value = rnd();
			/* one is relative in every second round, of each kind in turn */
			wanted[i].pcrel = !i && round & 1 ? 1 + round / 2 % 3 : TSR_PCREL_NONE;
		}
		most = c.tuples < 3 ? 2 : c.tuples == 3 ? 3 : c.tuples == 4 ? 4 :
		       c.tuples == 6 || c.tuples == 7 ? 6 : 5;
		/* a split constant cannot be relative, so one place less where there is one */
		if (tsr_clause_place_consts(&c, wanted, num, slot)) {
			ktap_ok(num > most);
			continue;
		}
		placed++;
		ktap_ok(num <= most);
		/* no more slots than it needs */
		ktap_ok(c.consts <= num + 1 || c.consts <= SINGLE[c.tuples] ||
			(round & 1 && c.consts <= num + 2));
		for (i = 0; i < num; i++) {
			at = slot[i];
			ktap_ok(at < c.consts && at < 6 && !seen[at]);
			seen[at % 7] = true;
			ktap_ok(kept(c.konst[at % 7], &wanted[i]));
			ktap_eq(c.pcrel[at % 7], wanted[i].pcrel);
		}
		for (i = SINGLE[c.tuples]; i + 1 < c.consts; i += 2) {
			unsigned int m1 =
				(unsigned int)((c.konst[i] >> 60) - (c.konst[i + 1] >> 60)) & 15;

			if (!c.pcrel[i] && !c.pcrel[i + 1])
				ktap_ok(m1 == 0 || m1 >= 8);
		}
		ktap_eq(tsr_clause_pack(&c, code, &len), TSR_ISA_OK);
		ktap_eq(tsr_clause_unpack(code, len, &back), TSR_ISA_OK);
		ktap_ok(!memcmp(back.konst, c.konst, sizeof(c.konst)) &&
			!memcmp(back.pcrel, c.pcrel, sizeof(c.pcrel)));
	}
	ktap_ok(placed > 10000);
}

/* Two relative ones of any kinds share a quadword where a relation has them, else they part. */
static void two_relative(void)
{
	unsigned int a, b;

	for (a = 1; a < 4; a++) {
		for (b = 1; b < 4; b++) {
			/* both words of a constant and all of another have no relation */
			bool pair = a == b || (a == 3 && b == 2) || (a == 2 && b == 3);
			const struct tsr_const wanted[] = { { rnd(), (uint8_t)a },
							    { rnd(), (uint8_t)b } };
			struct tsr_clause c = { .tuples = 2 }, back;
			uint8_t slot[7], code[TSR_CLAUSE_BYTES_MAX];
			size_t len;

			ktap_eq(tsr_clause_place_consts(&c, wanted, 2, slot),
				pair ? TSR_ISA_OK : TSR_ISA_BAD_CONSTS);
			c.tuples = 4;
			ktap_eq(tsr_clause_place_consts(&c, wanted, 2, slot), TSR_ISA_OK);
			ktap_eq(c.consts, pair ? 2 : 4);
			ktap_ok(kept(c.konst[slot[0]], &wanted[0]));
			ktap_ok(kept(c.konst[slot[1]], &wanted[1]));
			ktap_eq(c.pcrel[slot[0]], a);
			ktap_eq(c.pcrel[slot[1]], b);
			ktap_eq(tsr_clause_pack(&c, code, &len), TSR_ISA_OK);
			ktap_eq(tsr_clause_unpack(code, len, &back), TSR_ISA_OK);
			ktap_ok(!memcmp(back.pcrel, c.pcrel, sizeof(c.pcrel)));
		}
	}
}

/*
 * Where a format needs a constant there is a dummy, and a clause without constants has none else.
 */
static void dummies(void)
{
	unsigned int tuples;
	uint8_t none[7];

	for (tuples = 0; tuples <= 9; tuples += 9) {
		struct tsr_clause c = { .tuples = (uint8_t)tuples };

		ktap_eq(tsr_clause_place_consts(&c, NULL, 0, none), TSR_ISA_BAD_TUPLES);
	}
	for (tuples = 1; tuples <= 8; tuples++) {
		struct tsr_clause c = { .tuples = (uint8_t)tuples };
		uint8_t slot[7];

		ktap_eq(tsr_clause_place_consts(&c, NULL, 0, slot), TSR_ISA_OK);
		ktap_eq(c.consts, SINGLE[tuples]);
		ktap_eq(c.konst[0], 0);
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA1] which of two constants are relative, for every difference of their top "
		 "bits",
		 relations);
	ktap_run("[ISA1] a constant beside a tuple: every M1 and M2", single);
	ktap_run("[ISA2] the numbers of constants that can be packed", numbers);
	ktap_run("[ISA14] constants that cannot be packed", nonsense);
	ktap_run("[ISA2] places for constants: pairs in order, dummies, relative ones", place);
	ktap_run("[ISA2] two constants that are both relative", two_relative);
	ktap_run("[ISA2] dummies where a format needs a constant", dummies);
	return ktap_finish();
}
