/* SPDX-License-Identifier: MIT */
/* Coverage of the calling thread's system calls (KCOV): which branches of the driver they take. */
#ifndef COVERAGE_H
#define COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#define COVERAGE_BITS	(1u << 20)
#define NEWS		32	/* new branches of a program that are written down */

/* Branches of all programs so far. In shared memory, so workers may die. */
struct coverage {
	uint32_t taken[COVERAGE_BITS];	/* programs that took the branch */
	uint32_t last[COVERAGE_BITS];	/* the number of the last one */
	uint8_t seen[COVERAGE_BITS / 8];	/* branches that are not new any more */
	unsigned int branches;		/* number of those */
	uint32_t runs;			/* programs so far */
};

struct news {
	unsigned int count;
	uint32_t branch[NEWS];
};

/* For the calling thread. Returns false if the kernel has no KCOV. */
bool coverage_open(void);
void coverage_start(void);
/* End the measurement of a program. @news: the branches that are new. */
void coverage_stop(struct coverage *c, struct news *news);
/* The branches of the program that was measured last are not new from now on. */
void coverage_add(struct coverage *c);

/* Keep the branches of @news that @other has, too. */
void news_and(struct news *news, const struct news *other);
bool news_within(const struct news *news, const struct news *other);

#endif
