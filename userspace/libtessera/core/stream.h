/* SPDX-License-Identifier: MIT */
/* Streams, as the recording functions use them in addition to tsr_stream_emit(). */
#ifndef TSR_STREAM_H
#define TSR_STREAM_H

#include "hazard.h"
#include "internal.h"

/*
 * tsr_stream_fail(): return -@error with a message, and let the stream remember both unless it has
 * an error already.
 */
TSR_PRIVATE int tsr_stream_fail(struct tsr_stream *stream, int error, const char *format, ...)
	TSR_PRINTF(3, 4);

/* tsr_stream_status(): why tsr_stream_emit() just returned NULL, a negative errno. */
TSR_PRIVATE int tsr_stream_status(const struct tsr_stream *stream);

/* tsr_stream_hazards(): what the stream's dispatches have touched; empty after a reset. */
TSR_PRIVATE struct tsr_hazards *tsr_stream_hazards(struct tsr_stream *stream);

#endif /* TSR_STREAM_H */
