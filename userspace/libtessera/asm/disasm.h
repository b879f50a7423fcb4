/* SPDX-License-Identifier: MIT */
/*
 * Inside the disassembler: code to clauses of named operands (disasm_lift.c), and those to text
 * (disasm_print.c).
 */
#ifndef DISASM_H
#define DISASM_H

#include <stdio.h>

#include "asm_ir.h"

/* Facts about the whole code. A label's number is the byte offset of its clause. */
struct disasm_map {
	const uint8_t *code;
	size_t size;
	uint8_t *start;		/* per quadword: a clause starts there, DISASM_* */
};

enum {
	DISASM_START = 1 << 0,	/* a clause starts here */
	DISASM_TARGET = 1 << 1,	/* the address of the clause is used */
};

/*
 * disasm_target(): the offset that constant @konst of the clause at @offset leads to, if it is the
 * start of a clause; -1 otherwise.
 */
int64_t disasm_target(const struct disasm_map *map, const struct tsr_clause *clause,
		      unsigned int konst, size_t offset);

/*
 * disasm_lift(): the plainest text form of a clause that assembles to exactly it. False when there
 * is none. @next is the message type of the clause that follows in the text.
 */
bool disasm_lift(const struct disasm_map *map, const struct tsr_clause *clause, size_t offset,
		 unsigned int next, bool explicit_form, struct ir_clause *ir);

/* disasm_print(): a clause. @comment goes to the end of the first line, if it is not empty. */
void disasm_print(FILE *out, const struct ir_clause *ir, const char *comment, bool plain);

#endif /* DISASM_H */
