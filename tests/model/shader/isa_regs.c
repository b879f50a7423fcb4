// SPDX-License-Identifier: MIT
/*
 * Register blocks: every combination of the fields that decide something, against a decoder written
 * from the text of the documents, and the encoder against the decoder.
 */
#include "tsr_isa.h"

#include "ktap.h"

/* Ports 0 and 1 of a block. */
struct reads {
	bool on0, on1;
	unsigned int reg0, reg1, control;
};

static struct reads ref_reads(unsigned int r0, unsigned int r1, unsigned int control)
{
	struct reads p = { true, true, r0, r1, control };

	if (control) {
		if (r0 > r1) {
			p.reg0 = 63 - r0;
			p.reg1 = 63 - r1;
		}
	} else {
		p.on1 = false;
		p.on0 = !(r1 >> 1 & 1);
		p.reg0 = r0 + 32 * (r1 & 1);
		p.reg1 = 0;
		p.control = r1 >> 2;
	}
	return p;
}

static uint64_t block(unsigned int fau, unsigned int r3, unsigned int r2, unsigned int r0,
		      unsigned int r1, unsigned int control)
{
	return fau | r3 << 8 | r2 << 14 | (uint64_t)r0 << 20 | (uint64_t)r1 << 25 |
	       (uint64_t)control << 31;
}

/* Mode by the first or later rule; r2 equal to r3 counts in later tuples. */
static unsigned int ref_mode(unsigned int control, bool first, bool equal)
{
	if (first)
		return control % 8 + (control >= 8 ? 16 : 0);
	return control + (equal ? 16 : 0);
}

static void decode_all(void)
{
	unsigned int fields, bad = 0;

	for (fields = 0; fields < 1u << 17; fields++) {
		unsigned int r0 = fields & 31, r1 = fields >> 5 & 63, control = fields >> 11 & 15;
		bool first = fields >> 15 & 1, equal = fields >> 16;
		unsigned int r2 = (fields * 7) & 63, r3 = equal ? r2 : r2 ^ 1;
		struct reads want = ref_reads(r0, r1, control);
		struct tsr_tuple t = { .regs = block(fields & 255, r3, r2, r0, r1, control) };

		tsr_tuple_regs_decode(&t, first);
		bad += t.fau != (fields & 255) || t.port[2] != r2 || t.port[3] != r3 ||
		       t.read0 != want.on0 || t.read1 != want.on1 ||
		       (want.on0 && t.port[0] != want.reg0) ||
		       (want.on1 && t.port[1] != want.reg1) ||
		       t.mode != ref_mode(want.control, first, equal);
	}
	ktap_eq(bad, 0);
}

/*
 * The table of modes: actions of ports 2 and 3, unit of port 3, whether in first and later tuples.
 */
static const struct {
	uint8_t mode, port2, port3;
	bool add, first, other;
} MODES[] = {
#define R TSR_PORT_READ
#define W TSR_PORT_WRITE
#define L TSR_PORT_WRITE_LO
#define H TSR_PORT_WRITE_HI
#define I TSR_PORT_IDLE
	{ 1, R, L, false, true, true },	 { 2, R, H, false, true, true },
	{ 3, R, W, false, true, true },	 { 4, R, L, true, true, true },
	{ 5, R, H, true, true, true },	 { 6, R, W, true, true, true },
	{ 7, L, L, true, true, true },	 { 8, L, H, true, false, true },
	{ 9, L, W, true, false, true },	 { 10, H, L, true, false, true },
	{ 11, H, H, true, false, true }, { 12, H, W, true, false, true },
	{ 13, W, L, true, false, true }, { 14, W, H, true, false, true },
	{ 15, W, W, true, false, true }, { 16, I, I, false, true, false },
	{ 17, I, W, false, true, true }, { 18, I, L, false, true, true },
	{ 19, I, H, false, true, true }, { 20, R, I, false, true, true },
	{ 21, I, W, true, true, true },	 { 22, I, L, true, true, true },
	{ 23, I, H, true, true, true },	 { 24, L, H, true, false, true },
	{ 26, H, L, true, false, true }, { 27, I, I, false, false, true },
};

static void modes(void)
{
	unsigned int mode, i, valid = 0;

	for (i = 0; i < sizeof(MODES) / sizeof(MODES[0]); i++) {
		const struct tsr_reg_mode *m = &tsr_reg_modes[MODES[i].mode];

		ktap_ok(m->valid);
		ktap_eq(m->slot2, MODES[i].port2);
		ktap_eq(m->slot3, MODES[i].port3);
		ktap_eq(m->first, MODES[i].first);
		ktap_eq(m->other, MODES[i].other);
		if (m->slot3 != I)
			ktap_eq(m->slot3_from, MODES[i].add ? TSR_ISA_ADD : TSR_ISA_FMA);
	}
	for (mode = 0; mode < 32; mode++)
		valid += tsr_reg_modes[mode].valid;
	ktap_eq(valid, i);
}

/* True if these ports can be had: what isa.md says, in its words. */
static bool possible(const struct tsr_tuple *t, bool first)
{
	const struct tsr_reg_mode *m = &tsr_reg_modes[t->mode];

	if (!m->valid || !(first ? m->first : m->other))
		return false;
	if (t->read1 && (!t->read0 || t->port[0] > t->port[1] ||
			 (t->port[0] == t->port[1] && t->port[0] > 31)))
		return false;
	if (first || m->slot2 == I || m->slot3 == I)
		return true;
	return (t->port[2] == t->port[3]) == (t->mode >= 16);
}

/* Ports and modes that can be encoded come back; the others are refused. */
static void encode_all(void)
{
	static const uint8_t regs[] = { 0, 1, 15, 30, 31, 32, 33, 48, 62, 63 };
	const unsigned int n = sizeof(regs);
	unsigned int i, bad = 0, good = 0;

	for (i = 0; i < n * n * n * n * 4 * 32 * 2; i++) {
		unsigned int k = i;
		struct tsr_tuple t = { 0 }, back = { 0 };
		unsigned int p;
		bool first;

		for (p = 0; p < 4; p++, k /= n)
			t.port[p] = regs[k % n];
		t.read0 = k & 1;
		t.read1 = k >> 1 & 1;
		t.mode = k >> 2 & 31;
		first = k >> 7;
		t.fau = (uint8_t)i;
		if ((!t.read0 && t.port[0]) || (!t.read1 && t.port[1]))
			continue;
		if (tsr_tuple_regs_encode(&t, first) != possible(&t, first)) {
			bad++;
			continue;
		}
		if (!possible(&t, first))
			continue;
		good++;
		back.regs = t.regs;
		tsr_tuple_regs_decode(&back, first);
		bad += back.fau != t.fau || back.mode != t.mode || back.read0 != t.read0 ||
		       back.read1 != t.read1 || (t.read0 && back.port[0] != t.port[0]) ||
		       (t.read1 && back.port[1] != t.port[1]) ||
		       (tsr_reg_modes[t.mode].slot2 != I && back.port[2] != t.port[2]) ||
		       (tsr_reg_modes[t.mode].slot3 != I && back.port[3] != t.port[3]) ||
		       t.regs >> 35;
	}
	ktap_eq(bad, 0);
	ktap_ok(good > 100000);
}

static void impossible(void)
{
	struct tsr_tuple t = { .mode = 17, .port = { 0, 0, 0, 5 } };

	ktap_ok(tsr_tuple_regs_encode(&t, false));
	t.mode = 33;
	ktap_ok(!tsr_tuple_regs_encode(&t, false));
	t.mode = 17;
	t.port[3] = 64;
	ktap_ok(!tsr_tuple_regs_encode(&t, false));
	t.port[3] = 5;
	t.read0 = true;
	t.port[0] = 64;
	ktap_ok(!tsr_tuple_regs_encode(&t, false));
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA5] every register block decodes as the documents say", decode_all);
	ktap_run("[ISA5] the modes of ports 2 and 3", modes);
	ktap_run("[ISA5] ports and modes encode to a block that says the same, or are refused",
		 encode_all);
	ktap_run("[ISA14] modes and registers that do not exist", impossible);
	return ktap_finish();
}
