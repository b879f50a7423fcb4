/* SPDX-License-Identifier: MIT */
/* Programs that took branches which none before them had taken, and which to change next. */
#ifndef CORPUS_H
#define CORPUS_H

#include "coverage.h"
#include "program.h"

#define CORPUS_PROGRAMS	4096

struct entry {
	struct program program;
	struct news news;	/* what it was kept for */
	uint32_t us;		/* that it took */
};

struct corpus {
	unsigned int programs;
	struct entry entry[CORPUS_PROGRAMS];
};

/*
 * A program, rather a quick one for branches that few programs take. The corpus is not empty.
 */
const struct program *corpus_pick(const struct corpus *c, const struct coverage *coverage,
				  uint64_t *random);
/* A call of that kind in any program, or NULL. */
const struct call *corpus_call(const struct corpus *c, unsigned int which, uint64_t *random);

#endif
