/* SPDX-License-Identifier: MIT */
/*
 * Random instructions and words for tests of arithmetic; the same ones each time.
 */
#ifndef ALU_RANDOM_H
#define ALU_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "tsr_isa.h"

uint32_t random_word(void);
/* Sources that meet corner cases often, as 32-bit floats or as pairs of 16-bit ones. */
uint32_t random_source(void);
/* A random instruction of operation @op that has an encoding; false if none was found. */
bool random_insn(unsigned int op, struct tsr_insn *insn);

#endif
