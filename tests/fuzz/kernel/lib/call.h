/* SPDX-License-Identifier: MIT */
/*
 * Calls: ioctls as the tables describe them, and what else a program may do with the driver. A call
 * is decided and made at the same time, since what it can name depends on those before it.
 */
#ifndef CALL_H
#define CALL_H

#include <stdint.h>
#include <stdio.h>

#include "program.h"

struct world;

unsigned int calls_known(void);
const char *call_name(unsigned int which);
int call_find(const char *name);	/* -1 if there is none */
/* Resources that a call refers to, and those that it creates: bits of enum resource. */
uint32_t call_uses(unsigned int which);
uint32_t call_creates(unsigned int which);

/*
 * Run @p in files of its own and close them. @text: NULL, or the calls are written there as C, each
 * before it is made. Writes down which bytes each call
 * used. Returns false if there is no device, and finding it again does not help.
 */
bool program_run(struct program *p, FILE *text);

#endif
