/* SPDX-License-Identifier: MIT */
/*
 * The stage that most tests of the model play on: a machine with two address spaces, in each of
 * them the same memory at the same addresses, and writers for packets and streams.
 *   STAGE_DATA    1 MiB, read and write: buffers, fence words, semaphores
 *   STAGE_STREAM  256 KiB, read, write and execute: streams (the GPU may patch them)
 *   rings at STAGE_RING + slot * 1 MiB, in address space 0 (stage_queue())
 *
 * Address space 0 is the rings', 1 the user's.
 */
#ifndef TSR_STAGE_H
#define TSR_STAGE_H

#include "bench.h"

#define STAGE_DATA 0x10000000ull
#define STAGE_DATA_SIZE (1ull << 20)
#define STAGE_STREAM 0x20000000ull
#define STAGE_STREAM_SIZE (256ull << 10)
#define STAGE_RING 0x100000000ull

struct stage {
	struct bench *b;
	struct bench_as as[2];
	uint8_t *data;			/* the test's view of STAGE_DATA */
	uint64_t data_bus;		/* its bus address */
	uint8_t *streams;		/* of STAGE_STREAM */
	uint64_t streams_bus;
};

/* A stream being written. */
struct stage_stream {
	struct stage *s;
	uint64_t va;			/* of its first packet */
	uint32_t size;			/* bytes so far */
};

/* @config as for bench_new(). All interrupts are unmasked. */
void stage_init(struct stage *s, const struct tsr_config *config);
void stage_free(struct stage *s);

/* A queue of that class and priority with the smallest ring, RING_AS 0, USER_AS 1. */
void stage_queue(struct stage *s, struct bench_queue *q, unsigned int slot,
		 enum tsr_engine_class cls, enum tsr_priority priority);
/* The test's view of a word in STAGE_DATA, at its offset: 64 bits, 32 bits. */
uint64_t *stage_word(struct stage *s, uint64_t offset);
uint32_t *stage_word32(struct stage *s, uint64_t offset);
/* Read a word that the device may be writing. */
uint64_t stage_load(struct stage *s, uint64_t offset);

/* A stream at @offset of STAGE_STREAM. */
struct stage_stream stage_stream(struct stage *s, uint64_t offset);
/* Append a packet; returns its address. */
uint64_t stage_add(struct stage_stream *stream, const uint64_t *packet, unsigned int qwords);
/* Emit a ring CALL of the stream. */
void stage_call(struct bench_queue *q, const struct stage_stream *stream);

/* Wait until the queue is in @state while the device works; false: not within 10 s. */
bool stage_until(struct bench_queue *q, enum tsr_queue_state state);

/* Packets, as words in @p. They return how many words. */
unsigned int pk_nop(uint64_t *p, unsigned int qwords);
unsigned int pk_call(uint64_t *p, uint64_t addr, uint32_t size);
unsigned int pk_jump(uint64_t *p, uint64_t addr, uint32_t size);
unsigned int pk_return(uint64_t *p);
unsigned int pk_fence(uint64_t *p, enum tsr_event event, bool irq, uint64_t addr, uint64_t value);
unsigned int pk_timestamp(uint64_t *p, enum tsr_event event, uint64_t addr);
unsigned int pk_wait(uint64_t *p, enum tsr_compare op, bool wide, uint64_t addr, uint64_t value);
unsigned int pk_wait_reg(uint64_t *p, enum tsr_compare op, unsigned int index, uint32_t value);
unsigned int pk_signal(uint64_t *p, enum tsr_signal_op op, enum tsr_event event, bool wide,
		       uint64_t addr, uint64_t value);
unsigned int pk_signal_reg(uint64_t *p, enum tsr_signal_op op, enum tsr_event event,
			   unsigned int index, uint32_t value);
unsigned int pk_barrier(uint64_t *p, const struct tsr_barrier *barrier);
unsigned int pk_tlb(uint64_t *p, enum tsr_inv_op op, unsigned int as, uint64_t va, uint64_t size);
unsigned int pk_counter_begin(uint64_t *p, uint16_t mask);
unsigned int pk_counter_end(uint64_t *p, uint64_t addr);
unsigned int pk_copy(uint64_t *p, uint64_t dst, uint64_t src, uint64_t size);
unsigned int pk_fill(uint64_t *p, uint64_t dst, uint64_t size, uint8_t byte);

#endif
