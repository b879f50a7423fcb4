/* SPDX-License-Identifier: MIT */
/*
 * Reading a model in a child process.
 *
 * assimp is not safe on damaged files: it aborts, overflows its stack, loops, or allocates without
 * a bound. The child has limits of memory and processor time, so that such a file is an error of
 * the file and not the end of the program. What the child sends back is checked as input is.
 */
#ifndef ISOLATE_H
#define ISOLATE_H

#include "model.h"

/* Limits of the child; 0 is a default that grows with the file. */
struct isolate_limits {
	uint32_t memory_mib;		/* address space */
	uint32_t seconds;		/* processor time; ten times as much of real time */
};

/*
 * isolate_read(): model_read() in a child. Returns 0, or -1 with a line of text in *error
 * (PICTURE_ERROR bytes). Blocks until the child has ended; call it before there are threads.
 */
int isolate_read(struct model *model, const char *path, const struct isolate_limits *limits,
		 void (*warn)(const char *text), char *error);

#endif
