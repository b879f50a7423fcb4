/* SPDX-License-Identifier: MIT */
/*
 * Reference implementation of the COPY commands on the pages of a mock_mem, and the comparison of
 * the engine with it. It moves byte by byte and is written from Documentation/hw (packets.xml,
 * copy-engine.md) alone.
 */
#ifndef TSR_COPY_REF_H
#define TSR_COPY_REF_H

#include <stdbool.h>
#include <stdint.h>

#include "mock_mem.h"

/* How a command ends. */
struct copy_result {
	bool fault;
	uint64_t addr;			/* of the fault */
	unsigned int code, access;
	uint64_t read_bytes, write_bytes;
	uint64_t cycles;		/* not filled by the reference: it follows from the bytes */
};

/* Texel (x, y)'s place in its tile, from the definition. */
unsigned int copy_ref_index(unsigned int x, unsigned int y);

/*
 * Run the engine on @cmd (a packet at address @pc) over @m until it ends, and compare everything
 * with the reference: memory, fault, counters, dirty tracking, size of the steps. Says what is
 * wrong by ktap_fail() and returns false. @what: for the messages.
 */
bool copy_check(struct mock_mem *m, const uint64_t *cmd, uint64_t pc, const char *what);

/* As copy_check(), without comparing memory, for commands whose result is unspecified. */
bool copy_check_unspecified(struct mock_mem *m, const uint64_t *cmd, uint64_t pc, const char *what);

/* Steps the last check took, PENDING ones included. */
unsigned int copy_check_steps(void);

/* Random numbers that are the same everywhere. */
struct copy_random {
	uint64_t state;
};

uint32_t copy_random(struct copy_random *r, uint32_t below);
/* For mock_mem.random. */
unsigned int copy_random_mock(void *random);
/* All pages get random content. */
void copy_random_fill(struct copy_random *r, struct mock_mem *m);

#endif
