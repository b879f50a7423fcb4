/* SPDX-License-Identifier: MIT */
/*
 * Snapshots in the making: the bytes of one, field by field, in both directions. Whoever has state
 * describes it with these (snapshot.c, and of what a command in progress consists of the saved.c of
 * its engine); nothing of the device is known here.
 */
#ifndef TSR_SNAPSHOT_STREAM_H
#define TSR_SNAPSHOT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A snapshot being written or read. */
struct tsr_stream {
	uint8_t *buf;			/* where it is; not written when loading */
	size_t size;			/* bytes there */
	size_t pos;			/* bytes passed; beyond @size when that is too small */
	bool loading;
	const char *wrong;		/* loading: the first thing that was wrong */
	/* NULL, or called for each field, @size bytes from @pos on: for tests */
	void (*field)(void *opaque, size_t pos, size_t size);
	void *opaque;			/* of @field */
};

/* Write @n bytes, or read them; zero when there are no more. */
void tsr_stream_bytes(struct tsr_stream *s, void *data, size_t n);
/* Complain about @what unless @held. */
void tsr_stream_check(struct tsr_stream *s, bool held, const char *what);

/* A truth value: one byte, 0 or 1. */
void tsr_stream_bool(struct tsr_stream *s, bool *field);

/* A plain integer field, or an array of them. */
#define TSR_VISIT(s, field) tsr_stream_bytes(s, &(field), sizeof(field))

#endif
