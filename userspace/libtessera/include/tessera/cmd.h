/* SPDX-License-Identifier: MIT */
/*
 * libtessera: writing command streams.
 *
 * A stream is a growing sequence of packets in chunks of GPU memory; where a chunk is full, a JUMP
 * to the next one is written. Packets are described in Documentation/hw/packets.xml;
 * <tessera/tsr_packets.h> has a structure and a packer for each, and any of them can be written
 * with tsr_stream_emit():
 *
 *	struct tsr_timestamp t = { .event = TSR_EVENT_ALL_DONE, .addr = va };
 *	uint64_t *p = tsr_stream_emit(stream, TSR_TIMESTAMP_QWORDS);
 *
 *	if (p)
 *		tsr_pack_timestamp(p, &t);
 *
 * The tsr_cmd_ functions do that and check the values first, since the GPU would only find a wrong
 * one later and stop the queue. An error is returned at once, nothing of that packet is written,
 * and it sticks: tsr_stream_finish() returns the first one, so a caller may check there alone.
 *
 * A stream belongs to one thread at a time. All functions that record return 0 or a negative errno:
 * -EINVAL for a value the packet cannot hold (tsr_error_message() names it), -ENOMEM, -ENOSPC when
 * no chunk can be had, -EBUSY after tsr_stream_finish().
 */
#ifndef TESSERA_CMD_H
#define TESSERA_CMD_H

#include <tessera/layout.h>
#include <tessera/tessera.h>

#include "tsr_enums.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One piece of memory for a stream. */
struct tsr_stream_chunk {
	uint64_t va;		/* GPU address, a multiple of TSR_STREAM_ALIGN */
	uint64_t *cpu;		/* where the CPU writes it */
	uint32_t size;		/* bytes, a multiple of 8 */
	void *cookie;		/* the allocator's */
};

/*
 * Where chunks come from when not from a pool: a test's array, a ring of the caller's. The
 * functions are called only while the stream is used, reset or destroyed, by the same thread.
 */
struct tsr_stream_memory {
	/* fill in *@chunk with at least @size bytes; 0 or a negative errno */
	int (*alloc)(void *context, uint32_t size, struct tsr_stream_chunk *chunk);
	/* take it back */
	void (*free)(void *context, struct tsr_stream_chunk *chunk);
	void *context;		/* passed to both */
};

/*
 * tsr_stream_create(): an empty stream whose chunks come from @pool, @chunk_size bytes each (0: 4
 * KiB; 128 to 1 MiB, a multiple of 64). The pool needs READ and EXEC access and CPU mappings; it is
 * kept alive.
 */
int tsr_stream_create(struct tsr_pool *pool, uint32_t chunk_size, struct tsr_stream **stream);

/* tsr_stream_create_custom(): the same with memory of the caller's; *@memory is copied. */
int tsr_stream_create_custom(const struct tsr_stream_memory *memory, uint32_t chunk_size,
			     struct tsr_stream **stream);

/* tsr_stream_destroy(): free it and its memory; the GPU must be done with it. NULL is ignored. */
void tsr_stream_destroy(struct tsr_stream *stream);

/*
 * tsr_stream_reset(): empty it for new packets, and forget its error. The chunks are used again:
 * the GPU must be done with them.
 */
void tsr_stream_reset(struct tsr_stream *stream);

/*
 * tsr_stream_emit(): room for one packet of @qwords (1 to 255) 64-bit words, in one piece; the
 * caller writes all of it before the stream is finished. The memory may be write-combined: do not
 * read it. NULL on error. The words are little-endian.
 */
uint64_t *tsr_stream_emit(struct tsr_stream *stream, uint32_t qwords);

/*
 * tsr_stream_va(): GPU address of @word, a word of the packet emitted last, for patching it later
 * (which is only defined after a WAIT that has not passed).
 */
uint64_t tsr_stream_va(const struct tsr_stream *stream, const uint64_t *word);

/*
 * tsr_stream_finish(): close the stream. *@va and *@size get what to submit, 0 and 0 if nothing was
 * recorded. Returns the first error of the stream, if there was one. Calling it again gives the
 * same answer. Both arguments may be NULL.
 */
int tsr_stream_finish(struct tsr_stream *stream, uint64_t *va, uint32_t *size);

/* ---- Control --------------------------------------------------------------------------------- */

/* tsr_cmd_nop(): a packet of @qwords (1 to 255) words that does nothing. */
int tsr_cmd_nop(struct tsr_stream *stream, uint32_t qwords);

/* tsr_cmd_call(): run the stream [@va, @va + @size), which somebody else finished, then go on. */
int tsr_cmd_call(struct tsr_stream *stream, uint64_t va, uint32_t size);

/* tsr_cmd_barrier_flags: what later packets wait for or no longer see. */
enum tsr_cmd_barrier_flags {
	TSR_CMD_WAIT_READS = 1 << 0,	/* earlier commands have done their reads */
	TSR_CMD_WAIT_WRITES = 1 << 1,	/* earlier commands have done everything */
	TSR_CMD_INVALIDATE_READ = 1 << 2, /* later reads miss the read-only caches */
	TSR_CMD_INVALIDATE_CODE = 1 << 3 /* later fetches miss the instruction cache, prefetch */
};

/* tsr_cmd_barrier(): order later packets after earlier ones; @flags as above, 0 is a NOP. */
int tsr_cmd_barrier(struct tsr_stream *stream, uint32_t flags);

/* ---- Synchronization ------------------------------------------------------------------------- */

/*
 * tsr_cmd_wait32(), tsr_cmd_wait64(): stop this queue until the word at @va compares as @op (EQ,
 * GE, LT; wrap-safe) with @value. The word is naturally aligned. Who never signals makes the driver
 * reset the queue.
 */
int tsr_cmd_wait32(struct tsr_stream *stream, uint64_t va, enum tsr_compare op, uint32_t value);
int tsr_cmd_wait64(struct tsr_stream *stream, uint64_t va, enum tsr_compare op, uint64_t value);

/*
 * tsr_cmd_signal32(), tsr_cmd_signal64(): set the word at @va to @value or add @value to it, when
 * @event has come for the packets before. Wakes queues that wait.
 */
int tsr_cmd_signal32(struct tsr_stream *stream, uint64_t va, enum tsr_signal_op op,
		     enum tsr_event event, uint32_t value);
int tsr_cmd_signal64(struct tsr_stream *stream, uint64_t va, enum tsr_signal_op op,
		     enum tsr_event event, uint64_t value);

/* tsr_cmd_fence(): write @value to the 64-bit word at @va (aligned) at @event. */
int tsr_cmd_fence(struct tsr_stream *stream, uint64_t va, enum tsr_event event, uint64_t value);

/* ---- Measuring ------------------------------------------------------------------------------- */

/* tsr_cmd_timestamp(): write the GPU's clock to the 64-bit word at @va (aligned) at @event. */
int tsr_cmd_timestamp(struct tsr_stream *stream, uint64_t va, enum tsr_event event);

/*
 * tsr_cmd_counter_begin(), tsr_cmd_counter_end(): count the queue's counters of @mask (bit n: id n)
 * between the two, and add each to the next 64-bit word from @va (aligned).
 */
int tsr_cmd_counter_begin(struct tsr_stream *stream, uint64_t mask);
int tsr_cmd_counter_end(struct tsr_stream *stream, uint64_t va);

/* ---- Copies and fills, for COPY queues only -------------------------------------------------- */

/* tsr_cmd_copy(): copy @size bytes; ranges that overlap are -EINVAL. */
int tsr_cmd_copy(struct tsr_stream *stream, uint64_t target, uint64_t source, uint64_t size);

/*
 * tsr_cmd_fill(): repeat a pattern of @texel bytes (1 to 16) over @size bytes, a multiple of it.
 *
 */
int tsr_cmd_fill(struct tsr_stream *stream, uint64_t target, uint64_t size, const void *pattern,
		 uint32_t texel);

enum tsr_cmd_copy_flags {
	TSR_CMD_FLIP_X = 1 << 0,	/* mirror left and right */
	TSR_CMD_FLIP_Y = 1 << 1		/* mirror top and bottom */
};

/* A rectangle of texels. */
struct tsr_rect {
	uint32_t x, y;			/* its left upper texel */
	uint32_t width, height;		/* texels; 0 does nothing */
};

/*
 * tsr_cmd_copy_image(): copy the rectangle @rect of @source to (@x, @y) of @target, between any two
 * layouts, mirrored as @flags (enum tsr_cmd_copy_flags) say. -EINVAL if the rectangle is not inside
 * both, if the texel sizes differ, or if source and target overlap in the same image.
 */
int tsr_cmd_copy_image(struct tsr_stream *stream, const struct tsr_surface *target, uint32_t x,
		       uint32_t y, const struct tsr_surface *source, const struct tsr_rect *rect,
		       uint32_t flags);

/* tsr_cmd_fill_image(): set all texels of @rect to the surface.texel bytes at @texel. */
int tsr_cmd_fill_image(struct tsr_stream *stream, const struct tsr_surface *target,
		       const struct tsr_rect *rect, const void *texel);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_CMD_H */
