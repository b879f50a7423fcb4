/* SPDX-License-Identifier: MIT */
/*
 * Snapshots in the making: what the files share that describe the device's state (state.c,
 * shader/saved.c).
 */
#ifndef TSR_SNAPSHOT_H
#define TSR_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsr_gpu;

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

/*
 * Call @field for each field of what tsr_gpu_save() would write now, in the order in which they
 * stand there. The device is paused.
 */
void tsr_gpu_save_fields(struct tsr_gpu *gpu,
			 void (*field)(void *opaque, size_t pos, size_t size), void *opaque);

#endif
