// SPDX-License-Identifier: MIT
/*
 * Clauses that a public compiler made of our own shaders: their fields, found by another decoder,
 * are in isa/clauses.txt. Each must decode to them, obey the rules of a clause and pack to the same
 * bytes.
 */
#include "tsr_isa.h"

#include "ktap.h"

/* A clause of the file and where we are in it. */
struct reader {
	uint8_t code[TSR_CLAUSE_BYTES_MAX];
	struct tsr_clause clause;
	struct tsr_insn fma[8], add[8];
	unsigned int tuple, konst;	/* seen */
	unsigned int clauses;
};

static void same_text(const char *got, const char *want)
{
	ktap_ok(!strcmp(got, want));
	if (strcmp(got, want))
		ktap_note("expected %s, got %s", want, got);
}

static void begin(struct reader *r, const char *hex)
{
	uint8_t packed[TSR_CLAUSE_BYTES_MAX];
	size_t len = 0, again = 0;
	unsigned int byte;

	while (len < sizeof(r->code) && sscanf(hex + 2 * len, "%2x", &byte) == 1)
		r->code[len++] = (uint8_t)byte;
	r->tuple = 0;
	r->konst = 0;
	r->clauses++;
	ktap_eq(tsr_clause_unpack(r->code, len, &r->clause), TSR_ISA_OK);
	ktap_eq(16 * r->clause.quads, len);
	ktap_eq(tsr_clause_check(&r->clause, r->fma, r->add), TSR_ISA_OK);
	ktap_eq(tsr_clause_pack(&r->clause, packed, &again), TSR_ISA_OK);
	ktap_ok(again == len && !memcmp(packed, r->code, len));
}

static void header(const struct reader *r, const char *line)
{
	const struct tsr_clause *c = &r->clause;
	char text[200];

	snprintf(text, sizeof(text),
		 "ftz=%u flow=%u td=%u staging_reg=%u wait=0x%x slot=%u message=%u "
		 "next_message=%u",
		 c->ftz, c->flow, c->td, c->staging_reg, c->wait, c->slot, c->message,
		 c->next_message);
	same_text(text, line);
}

static void port(char *text, bool on, unsigned int reg)
{
	strcpy(text, "-");
	if (on)
		sprintf(text, "%u", reg);
}

static void tuple(struct reader *r, const char *line)
{
	struct tsr_tuple t, *is = &r->clause.tuple[r->tuple % 8];
	char text[200], r0[8], r1[8];

	port(r0, is->read0, is->port[0]);
	port(r1, is->read1, is->port[1]);
	snprintf(text, sizeof(text), "fau=0x%x mode=%u r0=%s r1=%s r2=%u r3=%u", is->fau, is->mode,
		 r0, r1, is->port[2], is->port[3]);
	same_text(text, line);
	/* the compiler's blocks are the ones the encoder makes */
	t = *is;
	t.regs = 0;
	ktap_ok(tsr_tuple_regs_encode(&t, r->tuple == 0));
	ktap_eq(t.regs, is->regs);
	r->tuple++;
}

/* The name and the selectors; what modifiers mean is isa_insn.c's. */
static void insn(const struct tsr_insn *insn, const char *line)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	char text[100];
	unsigned int i;
	int at;

	at = snprintf(text, sizeof(text), "%s", info->name);
	for (i = 0; i < info->num_srcs; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, " %u", insn->src[i]);
	ktap_ok(!strncmp(text, line, (size_t)at) && (line[at] == ' ' || !line[at]));
}

static void constant(struct reader *r, const char *line)
{
	static const char *const kind[] = { "none", "lo", "hi", "lo_hi" };
	char text[64];

	snprintf(text, sizeof(text), "0x%" PRIx64 " %s", r->clause.konst[r->konst % 7],
		 kind[r->clause.pcrel[r->konst % 7] & 3]);
	same_text(text, line);
	r->konst++;
}

/* Everything of a clause has been in the file. */
static void end(const struct reader *r)
{
	if (r->clauses) {
		ktap_eq(r->tuple, r->clause.tuples);
		ktap_eq(r->konst, r->clause.consts);
	}
}

static void compiled(void)
{
	const char *top = getenv("TSR_TOP");
	static struct reader r;
	char line[512];
	FILE *file;

	snprintf(line, sizeof(line), "%s/tests/model/isa/clauses.txt", top ? top : ".");
	file = fopen(line, "r");
	KTAP_REQUIRE(file);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "clause ", 7)) {
			end(&r);
			begin(&r, line + 7);
		} else if (!strncmp(line, "header ", 7)) {
			header(&r, line + 7);
		} else if (!strncmp(line, "tuple ", 6)) {
			tuple(&r, line + 6);
		} else if (!strncmp(line, "fma ", 4)) {
			insn(&r.fma[(r.tuple - 1) % 8], line + 4);
		} else if (!strncmp(line, "add ", 4)) {
			insn(&r.add[(r.tuple - 1) % 8], line + 4);
		} else if (!strncmp(line, "constant ", 9)) {
			constant(&r, line + 9);
		}
	}
	fclose(file);
	end(&r);
	ktap_ok(r.clauses >= 50);
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA1] compiled clauses: header, tuples, instructions, constants; packed again",
		 compiled);
	return ktap_finish();
}
