// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 TSAN=0 */
/*
 * Instruction words: every word of both units, and what a sample of them means. The sample,
 * isa/words.txt, was written by another decoder; the counts of words below were taken from it too.
 */
#include "tsr_isa.h"


#include "ktap.h"

#define FMA_WORDS	(1u << 23)
#define ADD_WORDS	(1u << 20)

static int by_name(const void *a, const void *b)
{
	return strcmp(tsr_mod_names[*(const uint8_t *)a], tsr_mod_names[*(const uint8_t *)b]);
}

/* The form of isa/words.txt: name, selectors, modifiers in the order of their names, immediates. */
static void describe(const struct tsr_insn *insn, char *text, size_t size)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	const char *imm[TSR_IMM__COUNT];
	uint8_t mods[TSR_MOD__COUNT];
	unsigned int i, n = 0;
	size_t at;

	at = (size_t)snprintf(text, size, "%s", info->name);
	for (i = 0; i < info->num_srcs; i++)
		at += (size_t)snprintf(text + at, size - at, " %u", insn->src[i]);
	memcpy(mods, info->mods ? info->mods : mods, info->num_mods);
	qsort(mods, info->num_mods, 1, by_name);
	for (i = 0; i < info->num_mods; i++) {
		const char *value = tsr_mod_value_name((enum tsr_mod)mods[i], insn->mod[mods[i]]);

		at += (size_t)snprintf(text + at, size - at, " %s=%s", tsr_mod_names[mods[i]],
				       value ? value : "?");
	}
	for (i = 0; i < info->num_imms; i++)
		imm[n++] = tsr_imm_names[info->imms[i]];
	/* two at most */
	if (n == 2 && strcmp(imm[0], imm[1]) > 0) {
		at += (size_t)snprintf(text + at, size - at, " %s=%u", imm[1],
				       insn->imm[info->imms[1]]);
		n = 1;
	}
	for (i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, size - at, " %s=%u", imm[i],
				       insn->imm[info->imms[i]]);
}

static FILE *open_data(const char *name)
{
	const char *top = getenv("TSR_TOP");
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/model/isa/%s", top ? top : ".", name);
	return fopen(path, "r");
}

/* Each word of the sample decodes to the text beside it. */
static void sample(void)
{
	FILE *file = open_data("words.txt");
	char line[512], text[512];
	unsigned int rows = 0;

	KTAP_REQUIRE(file);
	while (fgets(line, sizeof(line), file)) {
		struct tsr_insn insn;
		unsigned int word;
		int skip = 0;

		if (line[0] == '#' || sscanf(line + 4, "%x %n", &word, &skip) != 1)
			continue;
		line[strcspn(line, "\n")] = 0;
		rows++;
		if (!tsr_insn_decode(line[0] == 'F' ? TSR_ISA_FMA : TSR_ISA_ADD, word, &insn)) {
			ktap_ok(!"decodes");
			ktap_note("%s", line);
			continue;
		}
		describe(&insn, text, sizeof(text));
		if (strcmp(text, line + 4 + skip)) {
			ktap_ok(!"means what the sample says");
			ktap_note("%s, found %s", line, text);
		}
	}
	fclose(file);
	ktap_ok(rows > 1100);
}

/*
 * Words that decode, out of @count; every one of them encodes to itself, with its form and alone.
 */
static unsigned int round_trip(enum tsr_isa_unit unit, unsigned int count)
{
	unsigned int word, good = 0, bad = 0;

	for (word = 0; word < count; word++) {
		struct tsr_insn insn;
		uint32_t back = 0;

		if (!tsr_insn_decode(unit, word, &insn))
			continue;
		good++;
		if (tsr_ops[insn.op].unit != unit)
			bad++;
		if (!tsr_insn_encode(&insn, &back) || back != word)
			bad++;
	}
	ktap_eq(bad, 0);
	return good;
}

static void fma_words(void)
{
	ktap_eq(round_trip(TSR_ISA_FMA, FMA_WORDS), 5703785);
}

static void add_words(void)
{
	ktap_eq(round_trip(TSR_ISA_ADD, ADD_WORDS), 724050);
}

/* TSR_FORM_ANY finds an encoding of the same meaning for whatever decodes. */
static void any_form(void)
{
	unsigned int unit, word, bad = 0;

	for (unit = 0; unit < 2; unit++) {
		for (word = unit; word < (unit ? ADD_WORDS : FMA_WORDS); word += unit ? 7 : 61) {
			struct tsr_insn insn, again;
			uint32_t back;

			if (!tsr_insn_decode((enum tsr_isa_unit)unit, word, &insn))
				continue;
			insn.form = TSR_FORM_ANY;
			if (!tsr_insn_encode(&insn, &back) ||
			    !tsr_insn_decode((enum tsr_isa_unit)unit, back, &again)) {
				bad++;
				continue;
			}
			insn.form = again.form;
			bad += memcmp(&insn, &again, sizeof(insn)) != 0;
		}
	}
	ktap_eq(bad, 0);
}

/* Invalid instructions are not encoded, and bits above a word's are ignored. */
static void not_encodable(void)
{
	struct tsr_insn insn, fadd = { .op = TSR_OP_FMA_FADD_F32, .form = TSR_FORM_ANY };
	struct tsr_insn nop = { .op = TSR_OP_ADD_NOP };
	unsigned int imm, mod;
	uint32_t word;

	ktap_ok(tsr_insn_encode(&fadd, &word));
	ktap_eq(word, 0x2c0000);
	nop.form = TSR_FORM_ANY;
	for (mod = 0; mod < TSR_MOD__COUNT; mod++) {
		insn = nop;
		insn.mod[mod] = 1;		/* the instruction has no modifiers */
		ktap_ok(!tsr_insn_encode(&insn, &word));
	}
	ktap_ok(tsr_insn_encode(&nop, &word));
	ktap_eq(word, 0x3d964);
	insn = fadd;
	insn.mod[TSR_MOD_ROUND] = TSR_ROUND_RTNA;	/* not in its encoding */
	ktap_ok(!tsr_insn_encode(&insn, &word));
	for (imm = 0; imm < TSR_IMM__COUNT; imm++) {
		insn = fadd;
		insn.imm[imm] = 1;
		ktap_ok(!tsr_insn_encode(&insn, &word));
	}
	insn = fadd;
	insn.src[1] = 8;
	ktap_ok(!tsr_insn_encode(&insn, &word));
	insn = fadd;
	insn.form = 1;
	ktap_ok(!tsr_insn_encode(&insn, &word));
	insn = fadd;
	insn.op = TSR_OP__COUNT;
	ktap_ok(!tsr_insn_encode(&insn, &word));
	insn = (struct tsr_insn){ .op = TSR_OP_ADD_LD_VAR_IMM, .form = TSR_FORM_ANY,
				  .imm[TSR_IMM_INDEX] = 32 };
	ktap_ok(!tsr_insn_encode(&insn, &word));
	ktap_ok(tsr_insn_decode(TSR_ISA_ADD, 0xfff00000 | 0x3d964, &insn));
	ktap_eq(insn.op, TSR_OP_ADD_NOP);
}

/* Both absolute values of FADD.v2f16 are in the order of the selectors. */
static void order_of_sources(void)
{
	struct tsr_insn insn = { .op = TSR_OP_FMA_FADD_V2F16,
				 .form = TSR_FORM_ANY,
				 .src = { 5, 2 } };
	uint32_t word;

	insn.mod[TSR_MOD_ABS0] = 1;
	ktap_ok(tsr_insn_encode(&insn, &word));
	ktap_eq(word & 0x7f, 5 | 2 << 3);
	insn.mod[TSR_MOD_ABS1] = 1;
	ktap_ok(tsr_insn_encode(&insn, &word));
	ktap_eq(word & 0x7f, 5 | 2 << 3 | 1 << 6);
	insn.src[0] = 2;
	ktap_ok(!tsr_insn_encode(&insn, &word));
}

static struct tsr_insn decoded(enum tsr_isa_unit unit, uint32_t word)
{
	struct tsr_insn insn = { 0 };

	ktap_ok(tsr_insn_decode(unit, word, &insn));
	return insn;
}

static void properties(void)
{
	struct tsr_insn load = decoded(TSR_ISA_ADD, 0x60e00 | 1 << 6);	/* LOAD.i64 */
	struct tsr_insn ubo = decoded(TSR_ISA_ADD, 0x60e00 | 4 << 6);
	struct tsr_insn exchange = decoded(TSR_ISA_ADD, 0x64500);	/* ACMPXCHG.i64 */
	struct tsr_insn store = decoded(TSR_ISA_ADD, 0x65c00 | 1 << 6);	/* STORE.i96 */
	struct tsr_insn vary = decoded(TSR_ISA_ADD, 0xd0000 | 2 << 8);	/* LD_VAR_IMM.f16.v3 */
	unsigned int i;

	ktap_eq(tsr_insn_message(&load), TSR_MESSAGE_LOAD);
	ktap_eq(tsr_insn_message(&ubo), TSR_MESSAGE_ATTRIBUTE);
	ktap_eq(tsr_insn_staging_written(&load), 2);
	ktap_eq(tsr_insn_staging_read(&load), 0);
	ktap_eq(tsr_insn_staging_read(&exchange), 4);
	ktap_eq(tsr_insn_staging_written(&exchange), 2);
	ktap_eq(tsr_insn_staging_read(&store), 3);
	ktap_eq(tsr_insn_staging_written(&store), 0);
	ktap_eq(vary.op, TSR_OP_ADD_LD_VAR_IMM);
	ktap_eq(tsr_insn_staging_written(&vary), 2);
	for (i = 0; i < 4; i++) {
		vary = decoded(TSR_ISA_ADD, 0xd0000 | i << 8);		/* one to four halves */
		ktap_eq(tsr_insn_staging_written(&vary), i / 2 + 1);
		vary = decoded(TSR_ISA_ADD, 0x50000 | i << 8);		/* one to four words */
		ktap_eq(tsr_insn_staging_written(&vary), i + 1);
	}
	for (i = 0; i < 4; i++) {
		load = decoded(TSR_ISA_ADD, 0x74c00 | (i < 2 ? 6 + i : i) << 6);	/* LDEXP */
		ktap_eq(tsr_insn_defined(&load), i >= 2);	/* inf and inf0 are not public */
	}
	load = decoded(TSR_ISA_ADD, 0x7b900);				/* ICMPI.i32 */
	ktap_ok(!tsr_insn_defined(&load));
	load = decoded(TSR_ISA_ADD, 0x7c000 | 2 << 6);			/* CLPER.i32.accumulate */
	ktap_ok(!tsr_insn_defined(&load));
	load = decoded(TSR_ISA_ADD, 0x7c000 | 1 << 6);			/* xor */
	ktap_ok(tsr_insn_defined(&load));
}

/* Words set aside, and one in the middle of nowhere. */
static void undefined(void)
{
	struct tsr_insn insn;
	unsigned int word, found = 0;

	for (word = 0xe2000; word < 0xe8000; word++)
		found += tsr_insn_decode(TSR_ISA_ADD, word, &insn);
	ktap_eq(found, 0);
	ktap_ok(!tsr_insn_decode(TSR_ISA_FMA, 0x701964, &insn));
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA8] a sample of words of each encoding means what another decoder says",
		 sample);
	ktap_run("[ISA8] each of the 2^23 FMA words is refused or encodes to itself", fma_words);
	ktap_run("[ISA9] each of the 2^20 ADD words is refused or encodes to itself", add_words);
	ktap_run("[ISA9] an instruction without a form gets an encoding of the same meaning",
		 any_form);
	ktap_run("[ISA14] what an instruction cannot say is not encoded", not_encodable);
	ktap_run("[ISA9] modifiers that are hidden in the order of the sources", order_of_sources);
	ktap_run("[ISA10] message, staging registers and semantics of instructions", properties);
	ktap_run("[ISA14] undefined words and those set aside are refused", undefined);
	return ktap_finish();
}
