/* SPDX-License-Identifier: MIT */
/*
 * Programs: up to PROGRAM_CALLS calls of CHOICE_BYTES each. A byte is a choice that the call makes
 * of its fields, in the order in which they are decided (call.c), so each change of a byte is a
 * change of a field, and every sequence of bytes is a program. A program's text has a line for each
 * call: its name and the bytes in hexadecimal digits.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PROGRAM_CALLS	24
#define CHOICE_BYTES	48

struct corpus;

struct call {
	uint8_t which;		/* index, see call_name() */
	uint8_t used;		/* bytes that it used when it ran last; 0: not known */
	uint8_t choice[CHOICE_BYTES];
};

struct program {
	unsigned int calls;
	struct call call[PROGRAM_CALLS];
};

/* A random number below @n, which is not 0. */
uint32_t random_below(uint64_t *state, uint32_t n);

/* A program of a few random calls. */
void program_random(struct program *p, uint64_t *random);
/* Change @p in a few places, with calls of @other and of @corpus. */
void program_mutate(struct program *p, const struct program *other, const struct corpus *corpus,
		    uint64_t *random);
void program_remove(struct program *p, unsigned int call);

void program_write(const struct program *p, FILE *to);
/* Returns false if @from is no program: @error says which line and why. */
bool program_read(struct program *p, FILE *from, char *error, size_t size);

#endif
