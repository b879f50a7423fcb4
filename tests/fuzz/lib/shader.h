/* SPDX-License-Identifier: MIT */
/*
 * Shader programs out of random choices.
 *
 * Most clauses obey the rules, most messages have addresses that lead somewhere, most branches lead
 * to a clause, so that a program gets far before something is wrong with it; and then some bits are
 * turned over, some words are anything. What a program expects of its dispatch:
 *
 *   u0 (two words)  address of memory it may write, 16 bytes for each thread
 *   u1              address of other memory, 4 bytes for each thread
 *   u2              address in a window, 4 bytes for each thread
 *   u3.w0, .w1      a small offset that is a multiple of 16, a small index
 *   u4.w0, .w1      a conversion word, a texture word
 */
#ifndef FUZZ_SHADER_H
#define FUZZ_SHADER_H

#include <stddef.h>

#include "random.h"

#define FUZZ_SHADER_CLAUSES 24		/* at most, besides those that find addresses */
#define FUZZ_SHADER_BYTES 8192

struct fuzz_shader {
	uint8_t code[FUZZ_SHADER_BYTES];
	size_t size;
	bool registers_64;
	bool wild;			/* breaks rules more often than not */
};

/* Make a program; @shader->registers_64 and ->wild are given. */
void fuzz_shader(struct fuzz_random *r, struct fuzz_shader *shader);

#endif
