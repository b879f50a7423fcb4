/* SPDX-License-Identifier: MIT */
#ifndef TG_SUBMIT_H
#define TG_SUBMIT_H

#include "tg_batch.h"
#include "tg_frame.h"

#define TG_STREAM_BEGIN_QWORDS	(TSR_FENCE_QWORDS + TSR_BARRIER_QWORDS)
/* Bytes of a job's stream with packets of @qwords between its begin and its end. */
#define TG_STREAM_BYTES(qwords)	(8u * (TG_STREAM_BEGIN_QWORDS + (qwords) + TSR_FENCE_QWORDS))

/*
 * tg_stream_begin(): what each job begins with: it says whose it is, for who asks when the queue is
 * dead, and what was cached may have changed. Returned: where the next packet goes.
 */
uint64_t *tg_stream_begin(struct tg_batch *batch, enum tg_engine engine, uint64_t *words);

/*
 * tg_stream_end(): what it ends with at @words: it says that it has come there. The packet is
 * written when the batch is submitted, since it has the batch's point.
 */
void tg_stream_end(struct tg_batch *batch, enum tg_engine engine, uint64_t *words);

/*
 * tg_submit(): BIN and RENDER of a batch whose lists are complete, after the job of @copies, which
 * tg_copy_finish() has completed; NULL if there are none. Returns the point of the timeline that
 * both have, or 0 with a message; then their jobs are still the caller's.
 */
uint64_t tg_submit(struct tg_batch *batch, struct tg_frame *frame, struct tg_batch *copies);

/*
 * tg_submit_alone(): the stream as a job of @engine, COMPUTE or COPY, after everything that was
 * submitted before; likewise.
 */
uint64_t tg_submit_alone(struct tg_batch *batch, enum tg_engine engine, uint64_t va,
			 uint32_t size);

/* tg_submit_check(): wait for a batch and say what went wrong with it (TESSERA_DEBUG=sync). */
void tg_submit_check(struct tg_screen *screen, uint64_t point);

#endif
