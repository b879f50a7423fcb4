/* SPDX-License-Identifier: MIT */
/* The statements of a shader file, one function for each; errors are the lexer's. */
#ifndef TSR_RUN_STATEMENTS_H
#define TSR_RUN_STATEMENTS_H

#include "script.h"

/* Behind "expect": results, or with "fault" the fault it shall end with. */
void statement_expect(struct lex *lex, struct script *script);
/* Behind "code": the program. */
void statement_code(struct lex *lex, struct script *script);
/* A new region of @size bytes: at @va if @fixed, else where there is room, up to a page's end. */
struct region *script_add_region(struct script *script, const char *name, uint64_t size,
				 bool fixed, uint64_t va);

#endif
