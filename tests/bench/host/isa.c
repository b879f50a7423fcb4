/* SPDX-License-Identifier: MIT */
/*
 * The cost of decoding clauses that a compiler made: unpacking, both instructions of each tuple,
 * and the rules between them. The clauses are those of tests/model/isa/clauses.txt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "tsr_isa.h"

#define MAX_BYTES	65536
#define COUNT		200000

struct code {
	uint8_t bytes[MAX_BYTES];
	size_t size, at;
	unsigned long errors, tuples, clauses;
};

static void decode(void *arg, unsigned int count)
{
	struct code *code = arg;
	struct tsr_insn fma[8], add[8];
	struct tsr_clause clause;

	while (count--) {
		if (tsr_clause_unpack(code->bytes + code->at, code->size - code->at, &clause) ||
		    tsr_clause_check(&clause, fma, add)) {
			code->errors++;
			return;
		}
		code->tuples += clause.tuples;
		code->clauses++;
		code->at += (size_t)clause.quads * TSR_QUAD_BYTES;
		if (code->at == code->size)
			code->at = 0;
	}
}

static void read_code(struct code *code)
{
	const char *top = getenv("TSR_TOP");
	char line[512];
	FILE *file;

	snprintf(line, sizeof(line), "%s/tests/model/isa/clauses.txt", top ? top : ".");
	file = fopen(line, "r");
	while (file && fgets(line, sizeof(line), file)) {
		const char *hex = line + strlen("clause ");
		unsigned int byte;

		if (strncmp(line, "clause ", strlen("clause ")))
			continue;
		while (code->size < MAX_BYTES && sscanf(hex, "%2x", &byte) == 1) {
			code->bytes[code->size++] = (uint8_t)byte;
			hex += 2;
		}
	}
	if (file)
		fclose(file);
}

int main(void)
{
	static struct code code;
	double ns;

	read_code(&code);
	if (!code.size) {
		fprintf(stderr, "isa: cannot read tests/model/isa/clauses.txt (set TSR_TOP)\n");
		return 1;
	}
	ns = figure_median(decode, &code, COUNT);
	if (code.errors) {
		fprintf(stderr, "isa: a clause does not decode\n");
		return 1;
	}
	figure_print("isa.decode-clause", ns, "ns");
	figure_print("isa.decode-tuple", ns * (double)code.clauses / (double)code.tuples, "ns");
	return 0;
}
