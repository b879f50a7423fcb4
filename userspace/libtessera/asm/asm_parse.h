/* SPDX-License-Identifier: MIT */
/*
 * Functions that the parts of the parser share. A function that returns false has reported the
 * error. The caller then continues with asm_skip_line().
 */
#ifndef ASM_PARSE_H
#define ASM_PARSE_H

#include "asm_program.h"

struct asm_parser {
	struct asm_lexer lexer;
	struct asm_token token;		/* the next one, not consumed */
	struct asm_build *build;
	struct asm_diags *diags;
	struct asm_pos last_end;	/* of what asm_advance() passed over last */
};

void asm_advance(struct asm_parser *parser);

/* asm_unexpected(): "found X, expected Y" at the next token; returns false. */
bool asm_unexpected(struct asm_parser *parser, const char *expected);

/* asm_accept(): pass over a character if it is the next token. */
bool asm_accept(struct asm_parser *parser, char punctuation);
bool asm_expect(struct asm_parser *parser, char punctuation, const char *expected);

/* asm_skip_line(): to the end of the line, or to a } in it. */
void asm_skip_line(struct asm_parser *parser);

/* asm_number(): a non-negative integer up to @limit; @what is expected. */
bool asm_number(struct asm_parser *parser, uint64_t limit, const char *what, uint64_t *value);

/* asm_word(): is the next token a 32-bit number of any kind? Passes over it. */
bool asm_word(struct asm_parser *parser, uint32_t *word);

/* asm_indexed(): a name that is @letters and a decimal number up to @limit ("r12"), or -1. */
int asm_indexed(const struct asm_token *token, const char *letters, unsigned int limit);

/* asm_reserved(): names that are operands and cannot be labels. */
bool asm_reserved(const struct asm_token *token);

/* asm_fau_special(): the FAU index of a special's name, -1 none. */
int asm_fau_special(const struct asm_token *token);

/* asm_half_suffix(): ".w0" or ".w1" when it is next; @half stays otherwise. */
bool asm_half_suffix(struct asm_parser *parser, uint8_t *half);

/* asm_parse_insn(): behind * or +, an instruction. */
bool asm_parse_insn(struct asm_parser *parser, unsigned int unit, struct ir_insn *ir);

/* asm_parse_block(): behind [, to the ]. */
bool asm_parse_block(struct asm_parser *parser, struct ir_block *block);

/* asm_parse_const(): a declaration whose kN is the next token. */
bool asm_parse_const(struct asm_parser *parser, struct ir_clause *clause);

/* asm_parse_clause(): behind the word clause, to the }. */
void asm_parse_clause(struct asm_parser *parser, struct asm_pos pos);

#endif /* ASM_PARSE_H */
