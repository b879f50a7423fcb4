/* SPDX-License-Identifier: MIT */
/*
 * A captured job in memory, and running it again on a model of the GPU of our own.
 *
 * In: the bytes of a capture file, which may be anything. Out: what it holds, whether it ends and
 * leaves as it did.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tsr_capture.h"

enum replay_status { REPLAY_SAME, REPLAY_DIFFERENT, REPLAY_USELESS };

/* A captured page and its place in the file. */
struct replay_page {
	struct tsr_capture_page head;
	const uint8_t *before;
	const uint8_t *after;		/* NULL: not known, or a NULL page */
};

struct replay {
	struct tsr_capture_header head;
	struct replay_page *page;
	const uint8_t *file;		/* the caller's, needed as long as this */
	size_t size;
};

struct replay_options {
	unsigned int threads, seconds;	/* workers, 1 to 64; after how long it has not ended */
	const char *name;		/* of the file, for messages; NULL for "capture" */
};

/* NULL, or what is wrong with the file; then there is nothing to free. */
const char *replay_parse(struct replay *r, const void *file, size_t size);
void replay_free(struct replay *r);
/* Say what it holds. */
void replay_describe(const struct replay *r, FILE *out);
/*
 * Run it, compare, and print the result to @out. REPLAY_USELESS comes with a line on standard
 * error.
 */
enum replay_status replay_run(const struct replay *r, const struct replay_options *o, FILE *out);

#endif
