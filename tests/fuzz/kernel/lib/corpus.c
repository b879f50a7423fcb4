// SPDX-License-Identifier: MIT
#include "corpus.h"

#include <stddef.h>

/* The time that programs which took the rarest of its branches have cost, about. */
static uint64_t spent(const struct entry *e, const struct coverage *coverage)
{
	uint64_t least = UINT32_MAX;

	for (unsigned int i = 0; i < e->news.count; i++)
		if (coverage->taken[e->news.branch[i]] < least)
			least = coverage->taken[e->news.branch[i]];
	return least * (e->us + 1);
}

/*
 * The best of up to four. A program that is often changed makes its branches common, so the choice
 * moves on. One in four is any program, for branches that look common and lead further. Without the
 * time, programs that reset the device would be chosen most: few programs do.
 */
const struct program *corpus_pick(const struct corpus *c, const struct coverage *coverage,
				  uint64_t *random)
{
	const struct entry *best = &c->entry[random_below(random, c->programs)];
	unsigned int more = random_below(random, 4);

	while (more--) {
		const struct entry *e = &c->entry[random_below(random, c->programs)];

		if (spent(e, coverage) < spent(best, coverage))
			best = e;
	}
	return &best->program;
}

const struct call *corpus_call(const struct corpus *c, unsigned int which, uint64_t *random)
{
	const unsigned int first = c->programs ? random_below(random, c->programs) : 0;

	for (unsigned int i = 0; i < c->programs; i++) {
		const struct program *p = &c->entry[(first + i) % c->programs].program;

		for (unsigned int k = 0; k < p->calls; k++)
			if (p->call[k].which == which)
				return &p->call[k];
	}
	return NULL;
}
