// SPDX-License-Identifier: MIT
/*
 * Clauses: quadwords to clauses and back. The reference packer below puts each bit where the
 * reverse-engineering document says, format by format, and knows nothing of the generated tables.
 */
#include "tsr_isa.h"

#include "ktap.h"

typedef unsigned __int128 u128;

#define ROUNDS 20000

/* -- the reference ---------------------------------------------------------------------------- */

/* The parts of a clause. */
struct ref {
	unsigned int tuples, consts;
	u128 tuple[8];			/* 78 bits */
	uint64_t header;		/* 45 bits */
	uint64_t konst[7];		/* bits 63:4 */
	unsigned int m1, m2;
	u128 quad[8];
	unsigned int quads;
};

static u128 field(u128 value, unsigned int lo, unsigned int width)
{
	return value >> lo & (((u128)1 << width) - 1);
}

/* A quadword with the low 75 bits of a tuple in its place, and a tag. */
static u128 *quad_new(struct ref *r, unsigned int tag, u128 main)
{
	u128 *quad = &r->quad[r->quads++];

	*quad = tag | field(main, 0, 75) << 8;
	return quad;
}

/* Bits 74:45 and 77:75 of a tuple that another quadword has begun. */
static u128 rest(u128 tuple)
{
	return field(tuple, 45, 30) << 83;
}

static unsigned int high(u128 tuple)
{
	return (unsigned int)field(tuple, 75, 3);
}

/* The tuples from 4 on. */
static void ref_upper(struct ref *r)
{
	const u128 *t = r->tuple;

	*quad_new(r, 0x60 | high(t[4]), t[4]) |= field(t[5], 0, 45) << 83;
	if (r->tuples == 6) {
		*quad_new(r, 0x06, 0) |= (u128)(r->konst[0] >> 4) << 8 | (u128)r->m1 << 68 |
					 (u128)r->m2 << 72 | rest(t[5]) | (u128)high(t[5]) << 125;
	} else if (r->tuples == 7) {
		*quad_new(r, 0x07, t[6]) |= rest(t[5]) | (u128)high(t[6]) << 122 |
					    (u128)high(t[5]) << 125;
	} else {
		*quad_new(r, 0xc0 | high(t[6]) << 3 | high(t[5]), t[6]) |=
			rest(t[5]) | (u128)(r->konst[0] >> 4 & 0x7fff) << 113;
		*quad_new(r, 0x18 | high(t[7]), t[7]) |= (u128)(r->konst[0] >> 19) << 83;
	}
}

static void ref_tuples(struct ref *r)
{
	const u128 *t = r->tuple;

	*quad_new(r, (r->tuples == 1 ? 0x08 : 0x28) | high(t[0]), t[0]) |= (u128)r->header << 83;
	if (r->tuples == 1)
		return;
	if (r->tuples == 2) {
		*quad_new(r, 0x03, t[1]) |= (u128)high(t[1]) << 125;
		return;
	}
	*quad_new(r, 0x20 | high(t[1]), t[1]) |= field(t[2], 0, 45) << 83;
	if (r->tuples == 3) {
		*quad_new(r, 0x04, 0) |= (u128)(r->konst[0] >> 4) << 8 | (u128)r->m1 << 68 |
					 (u128)r->m2 << 72 | rest(t[2]) | (u128)high(t[2]) << 125;
	} else if (r->tuples == 5) {
		*quad_new(r, 0x80 | high(t[3]) << 3 | high(t[2]), t[3]) |=
			rest(t[2]) | (u128)(r->konst[0] >> 4 & 0x7fff) << 113;
		*quad_new(r, 0x10 | high(t[4]), t[4]) |= (u128)(r->konst[0] >> 19) << 83;
	} else {
		*quad_new(r, r->tuples == 4 ? 0x05 : 0x01, t[3]) |=
			rest(t[2]) | (u128)high(t[3]) << 122 | (u128)high(t[2]) << 125;
		if (r->tuples > 4)
			ref_upper(r);
	}
}

/* Position of the pair that begins with constant @first: the document's table and entry e. */
static unsigned int ref_position(unsigned int tuples, unsigned int first)
{
	static const uint8_t table[15][2] = {	/* tuples, constants before */
		{ 1, 0 }, { 2, 0 }, { 4, 0 }, { 3, 1 }, { 5, 1 }, { 4, 2 }, { 7, 0 }, { 6, 1 },
		{ 5, 3 }, { 8, 1 }, { 7, 2 }, { 6, 3 }, { 8, 3 }, { 7, 4 }, { 6, 5 },
	};
	unsigned int i;

	for (i = 0; i < 15 && !(table[i][0] == tuples && table[i][1] == first); i++)
		;
	return i;
}

static void ref_pack(struct ref *r)
{
	unsigned int i = r->tuples == 3 || r->tuples == 5 || r->tuples == 6 || r->tuples == 8;

	r->quads = 0;
	ref_tuples(r);
	for (; i < r->consts; i += 2)
		r->quad[r->quads++] = 0x30 | ref_position(r->tuples, i) |
				      (u128)(r->konst[i] >> 4) << 8 |
				      (u128)(r->konst[i + 1] >> 4) << 68;
	r->quad[r->quads - 1] |= 0x40;
}

/* -- random clauses --------------------------------------------------------------------------- */

static uint64_t state = 0x9e3779b97f4a7c15ull;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/*
 * Most constants a clause of so many tuples has room for, and the least, from the position table.
 */
static const struct { uint8_t least, most; } ROOM[9] = {
	[1] = { 0, 2 }, [2] = { 0, 2 }, [3] = { 1, 3 }, [4] = { 0, 4 },
	[5] = { 1, 5 }, [6] = { 1, 7 }, [7] = { 0, 6 }, [8] = { 1, 5 },
};

/* A clause of random bits: instructions are not looked at, the header has no reserved bit. */
static void random_clause(struct ref *r, unsigned int tuples, unsigned int consts)
{
	unsigned int i;

	memset(r, 0, sizeof(*r));
	r->tuples = tuples;
	r->consts = consts;
	for (i = 0; i < tuples; i++)
		r->tuple[i] = ((u128)rnd() << 64 | rnd()) & (((u128)1 << 78) - 1);
	r->header = rnd() & 0x1f07ffffbfe0ull;		/* message type: below */
	r->header |= (uint64_t)(rnd() % 11) << 35;
	for (i = 0; i < consts; i++)
		r->konst[i] = rnd() & ~15ull;
	/* differences of the top bits that are defined whatever the rest: 0, and 8 to 15 */
	for (i = ROOM[tuples].least; i + 1 < consts; i += 2) {
		unsigned int m = (unsigned int)(rnd() % 9);
		uint64_t top = (r->konst[i] >> 60) - (m ? m + 7 : 0);

		r->konst[i + 1] = (r->konst[i + 1] & ~(15ull << 60)) | top << 60;
	}
	ref_pack(r);
}

static void quad_bytes(const struct ref *r, uint8_t *code)
{
	unsigned int i, k;

	for (i = 0; i < r->quads; i++) {
		for (k = 0; k < 16; k++)
			code[16 * i + k] = (uint8_t)(r->quad[i] >> 8 * k);
	}
}

/* The unpacked clause against its origin. */
static bool same(const struct tsr_clause *clause, const struct ref *r)
{
	unsigned int i;

	if (clause->tuples != r->tuples || clause->consts != r->consts || clause->quads != r->quads)
		return false;
	for (i = 0; i < r->tuples; i++) {
		const struct tsr_tuple *t = &clause->tuple[i];

		if (t->regs != (uint64_t)field(r->tuple[i], 0, 35) ||
		    t->fma != (uint32_t)field(r->tuple[i], 35, 23) ||
		    t->add != (uint32_t)field(r->tuple[i], 58, 20))
			return false;
	}
	for (i = 0; i < r->consts; i++) {
		if (clause->konst[i] != r->konst[i])
			return false;
	}
	return true;
}

static void random_clauses(void)
{
	unsigned int round, bad = 0;

	for (round = 0; round < ROUNDS; round++) {
		unsigned int tuples = 1 + round % 8;
		unsigned int pairs = (ROOM[tuples].most - ROOM[tuples].least) / 2u;
		uint8_t code[TSR_CLAUSE_BYTES_MAX], packed[TSR_CLAUSE_BYTES_MAX];
		struct tsr_clause clause;
		struct ref r;
		size_t len = 0;

		random_clause(&r, tuples,
			      ROOM[tuples].least + 2 * (unsigned int)(rnd() % (pairs + 1)));
		quad_bytes(&r, code);
		if (tsr_clause_unpack(code, 16 * r.quads, &clause) || !same(&clause, &r) ||
		    tsr_clause_pack(&clause, packed, &len) || len != 16 * r.quads ||
		    memcmp(code, packed, len))
			bad++;
	}
	ktap_eq(bad, 0);
}

/* Put what a quadword says of itself into the clause it belongs to. */
static void collect(const struct tsr_quad *quad, struct ref *into)
{
	unsigned int i, first = 0;

	for (i = 0; i < quad->num_parts; i++) {
		if (quad->part[i].kind == TSR_QUAD_POSITION)	/* e: constants 5 and 6 */
			first = (const uint8_t[16]){ 0, 0, 0, 1, 1, 2, 0, 1, 3, 1, 2, 3, 3, 4, 5
			}[quad->part[i].bits];
	}
	for (i = 0; i < quad->num_parts; i++) {
		const struct tsr_quad_part *part = &quad->part[i];

		if (part->kind == TSR_QUAD_TUPLE)
			into->tuple[part->index] |= (u128)part->bits << part->at;
		else if (part->kind == TSR_QUAD_CONSTANT)
			into->konst[first + part->index] |= part->bits << part->at;
		else if (part->kind == TSR_QUAD_HEADER)
			into->header |= part->bits << part->at;
	}
	if (quad->tuples)
		into->tuples = (unsigned int)quad->tuples;
}

/* Quadwords read one by one, the last first, give the whole clause. */
static void one_by_one(void)
{
	unsigned int round, bad = 0;

	for (round = 0; round < 4000; round++) {
		unsigned int tuples = 1 + round % 8, i, ends = 0;
		uint8_t code[TSR_CLAUSE_BYTES_MAX];
		struct ref r, got = { 0 };

		random_clause(&r, tuples, ROOM[tuples].most);
		quad_bytes(&r, code);
		for (i = r.quads; i-- > 0;) {
			struct tsr_quad quad;

			if (!tsr_quad_decode(code + 16 * i, &quad)) {
				bad++;
				continue;
			}
			bad += quad.ends != (i == r.quads - 1) || !quad.name[0];
			ends += quad.ends;
			collect(&quad, &got);
		}
		bad += got.tuples != tuples || ends != 1 || got.header != r.header ||
		       memcmp(got.tuple, r.tuple, sizeof(r.tuple)) ||
		       memcmp(got.konst, r.konst, sizeof(r.konst));
	}
	ktap_eq(bad, 0);
}

/* Each header field at its place, one at a time. */
static void header_fields(void)
{
	static const struct { uint8_t lo, width; } at[] = {
		{ 5, 2 }, { 7, 1 }, { 8, 1 }, { 9, 2 }, { 11, 3 }, { 15, 1 }, { 16, 1 }, { 17, 1 },
		{ 18, 6 }, { 24, 8 }, { 32, 3 }, { 40, 5 }, { 35, 3 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		uint8_t code[TSR_CLAUSE_BYTES_MAX];
		unsigned int most = (1u << at[i].width) - 1;
		struct tsr_clause c;
		struct ref r;

		random_clause(&r, 1, 0);
		r.header = (uint64_t)most << at[i].lo;
		ref_pack(&r);
		quad_bytes(&r, code);
		ktap_eq(tsr_clause_unpack(code, 16, &c), TSR_ISA_OK);
		{
			const uint8_t got[] = {
				c.ftz,	       c.suppress_inf, c.suppress_nan, c.float_exceptions,
				c.flow,	       c.td,	       c.prefetch,     c.staging_barrier,
				c.staging_reg, c.wait,	       c.slot,	       c.next_message,
				c.message
			};
			unsigned int k;

			for (k = 0; k < sizeof(got); k++)
				ktap_eq(got[k], k == i ? most : 0);
		}
	}
}

/* -- what is refused -------------------------------------------------------------------------- */

static enum tsr_isa_error unpack(const struct ref *r, unsigned int quads)
{
	uint8_t code[TSR_CLAUSE_BYTES_MAX];
	struct tsr_clause clause;

	quad_bytes(r, code);
	return tsr_clause_unpack(code, 16 * quads, &clause);
}

static void cut_short(void)
{
	unsigned int tuples, quads;
	struct ref r;

	for (tuples = 1; tuples <= 8; tuples++) {
		random_clause(&r, tuples, ROOM[tuples].most);
		for (quads = 0; quads < r.quads; quads++)
			ktap_eq(unpack(&r, quads), TSR_ISA_TRUNCATED);
		ktap_eq(unpack(&r, r.quads), TSR_ISA_OK);
		/* without the bit that ends it, it goes on */
		r.quad[r.quads - 1] &= ~(u128)0x40;
		ktap_eq(unpack(&r, r.quads), TSR_ISA_TRUNCATED);
	}
}

/* Every order of two quadwords but the right one, and every quadword twice, is refused. */
static void out_of_order(void)
{
	unsigned int tuples, i, k;

	for (tuples = 1; tuples <= 8; tuples++) {
		struct ref r, changed;

		random_clause(&r, tuples, ROOM[tuples].most);
		for (i = 0; i + 1 < r.quads; i++) {
			for (k = i + 1; k < r.quads; k++) {
				changed = r;
				changed.quad[i] = r.quad[k];
				changed.quad[k] = r.quad[i];
				ktap_ok(unpack(&changed, r.quads) != TSR_ISA_OK);
				changed.quad[k] = r.quad[k];
				ktap_ok(unpack(&changed, r.quads) != TSR_ISA_OK);
			}
		}
	}
}

static void reserved_bits(void)
{
	static const uint8_t header[] = { 0, 1, 2, 3, 4, 14 };
	struct ref r;
	unsigned int i;

	for (i = 0; i < sizeof(header); i++) {
		random_clause(&r, 4, 0);
		r.quad[0] |= (u128)1 << (83 + header[i]);
		ktap_eq(unpack(&r, r.quads), TSR_ISA_RESERVED);
	}
	random_clause(&r, 1, 0);
	r.header = 11ull << 35;
	ref_pack(&r);
	ktap_eq(unpack(&r, 1), TSR_ISA_RESERVED);
	for (i = 83; i < 125; i++) {			/* behind tuple 1 */
		random_clause(&r, 2, 0);
		r.quad[1] |= (u128)1 << i;
		ktap_eq(unpack(&r, 2), TSR_ISA_RESERVED);
	}
	for (i = 76; i < 125; i++) {			/* between the parts of T2_CONST_END */
		random_clause(&r, 3, 1);
		r.quad[2] |= (u128)1 << i;
		ktap_eq(unpack(&r, 3) == TSR_ISA_RESERVED, i < 83 || i >= 113);
	}
	for (i = 113; i < 122; i++) {			/* T2_T3_END, T5_T6_END */
		random_clause(&r, 7, 0);
		r.quad[2] |= (u128)1 << i;
		ktap_eq(unpack(&r, 5), TSR_ISA_RESERVED);
	}
}

/* Every field of a clause one bit wider than it is. */
static void too_wide(void)
{
	uint8_t code[TSR_CLAUSE_BYTES_MAX];
	struct tsr_clause good = { .tuples = 1 }, bad[10];
	unsigned int i;
	size_t len;

	ktap_eq(tsr_clause_pack(&good, code, &len), TSR_ISA_OK);
	for (i = 0; i < 10; i++)
		bad[i] = good;
	bad[0].tuple[0].regs = 1ull << 35;
	bad[1].tuple[0].fma = 1u << 23;
	bad[2].tuple[0].add = 1u << 20;
	bad[3].ftz = 4;
	bad[4].flow = 8;
	bad[5].staging_reg = 64;
	bad[6].slot = 8;
	bad[7].next_message = 32;
	bad[8].message = 11;		/* reserved */
	bad[9].td = 2;
	for (i = 0; i < 10; i++)
		ktap_eq(tsr_clause_pack(&bad[i], code, &len), TSR_ISA_RESERVED);
}

/* Which of the 256 tags exist, from the document; and that a quadword needs no other to be read. */
static void every_tag(void)
{
	unsigned int tag, round;

	for (tag = 0; tag < 256; tag++) {
		unsigned int f = tag >> 3 & 7, low = tag & 7, end = tag >> 6 & 1;
		bool known = tag & 0x80 || (f == 0 && low >= 3) || tag == 1 || f == 1 || f == 2 ||
			     f == 3 || f == 4 || (f == 5 && !end) || f >= 6;

		for (round = 0; round < 50; round++) {
			struct tsr_quad quad;
			uint8_t bytes[16];
			unsigned int i;
			bool ok;

			for (i = 0; i < 16; i++)
				bytes[i] = round ? (uint8_t)rnd() : 0;
			bytes[0] = (uint8_t)tag;
			ok = tsr_quad_decode(bytes, &quad);
			ktap_ok(known || !ok);
			ktap_ok(!known || round || ok);
		}
	}
}

/* Random quadwords, random tags: refused, or a clause that packs to the same bytes. */
static void random_quads(void)
{
	unsigned int round, good = 0, bad = 0;

	for (round = 0; round < 40 * ROUNDS; round++) {
		uint8_t code[TSR_CLAUSE_BYTES_MAX], packed[TSR_CLAUSE_BYTES_MAX];
		struct tsr_insn fma[8], add[8];
		struct tsr_clause clause;
		unsigned int i;
		size_t len;

		for (i = 0; i < sizeof(code); i += 8) {
			uint64_t word = rnd();

			memcpy(code + i, &word, 8);
		}
		if (round & 1)
			code[0] = 0x48 | (code[0] & 7);		/* a clause of one tuple */
		if (round & 2) {
			code[10] &= 7;				/* no reserved bit in its header */
			code[11] = 0;
			code[12] &= 0xbf;
		}
		if (tsr_clause_unpack(code, sizeof(code), &clause))
			continue;
		good++;
		bad += tsr_clause_pack(&clause, packed, &len) || len != 16u * clause.quads ||
		       memcmp(packed, code, len);
		tsr_clause_check(&clause, fma, add);
	}
	ktap_eq(bad, 0);
	ktap_ok(good > ROUNDS);
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA1] random clauses of every shape, against a packer by the document",
		 random_clauses);
	ktap_run("[ISA1] quadwords read one by one, in any order, give the whole clause",
		 one_by_one);
	ktap_run("[ISA14] fields that do not fit are not packed", too_wide);
	ktap_run("[ISA3] every header field at its place", header_fields);
	ktap_run("[ISA14] code that ends inside a clause", cut_short);
	ktap_run("[ISA1] quadwords out of order or twice", out_of_order);
	ktap_run("[ISA14] reserved bits and values", reserved_bits);
	ktap_run("[ISA1] each of the 256 tags, every quadword by itself", every_tag);
	ktap_run("[ISA14] random quadwords are refused or pack to the same bytes", random_quads);
	return ktap_finish();
}
