/* SPDX-License-Identifier: MIT */
/*
 * libtessera: printing rings, command streams and register dumps.
 *
 * The decoder uses the description of the device (the XML files in Documentation/hw). It performs
 * the device's checks in the device's order, except those that need memory. An error has the name
 * of the fault that the device raises. Unlike the device, the decoder continues after an error and
 * reports all errors of a packet.
 *
 * All functions only read their arguments, keep no other state, and may be called on any thread.
 * They accept any input and do not read beyond its end. Bytes are little-endian on every machine,
 * as in the device's memory.
 */
#ifndef TESSERA_DECODE_H
#define TESSERA_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct tsr_desc_packet;
struct tsr_desc_reg;

/* How to read the bytes, and how to print. */
enum tsr_decode_flags {
	TSR_DECODE_RING = 1 << 0,	/* ring packets, privileged; else a user stream */
	TSR_DECODE_JSON = 1 << 1,	/* print one JSON array instead of lines */
	TSR_DECODE_RAW = 1 << 2,	/* lines only: print each packet's qwords as well */
	TSR_DECODE_LIST = 1 << 3	/* packets of control lists, and those alone */
};

#define TSR_DECODE_ANY_CLASS	(-1)

struct tsr_decode_options {
	uint64_t base;		/* GPU address of the first byte, 0 if unknown */
	uint32_t flags;		/* enum tsr_decode_flags */
	int engine_class;	/* enum tsr_engine_class of the queue, or TSR_DECODE_ANY_CLASS */
};

/* Something wrong with a packet. */
struct tsr_decode_error {
	uint32_t fault;		/* enum tsr_fault: how the device would answer */
	uint32_t qword;		/* which qword of the packet */
	char text[96];		/* what was found and what was expected */
};

#define TSR_DECODE_QWORDS_MAX	255
#define TSR_DECODE_ERRORS_MAX	16

/* One packet, or a gap in which no packet was recognised. */
struct tsr_decode_packet {
	const struct tsr_desc_packet *desc;	/* NULL: unknown opcode */
	uint64_t offset;			/* of its header in the bytes given */
	uint64_t address;			/* base + offset */
	uint64_t skipped;			/* qwords after it that are in no packet */
	uint32_t num_qwords;			/* qwords of it that are in the bytes */
	uint32_t num_errors;			/* found; errors[] keeps the first ones */
	struct tsr_decode_error errors[TSR_DECODE_ERRORS_MAX];
	uint64_t qwords[TSR_DECODE_QWORDS_MAX];	/* in the processor's own order */
};

/* Where a walk through bytes is. Set up by tsr_decode_begin(). */
struct tsr_decoder {
	const uint8_t *bytes;
	size_t size;
	size_t offset;		/* of the next packet */
	struct tsr_decode_options options;
};

/* tsr_decode_begin(): start a walk through @size bytes; @bytes must stay until its end. */
void tsr_decode_begin(struct tsr_decoder *decoder, const void *bytes, size_t size,
		      const struct tsr_decode_options *options);

/*
 * tsr_decode_next(): the next packet with everything that is wrong with it. False at the end.
 * Behind a header that cannot be believed the walk goes on at the next one that can.
 */
bool tsr_decode_next(struct tsr_decoder *decoder, struct tsr_decode_packet *packet);

/*
 * tsr_decode_state(): what the dispatch @packet runs, if it is one and its COMPUTE_STATE lies in
 * the bytes of the walk; options.base has to be right for that. *@state gets its qwords, offset,
 * address and errors, as of a packet; desc is NULL. Else false.
 */
bool tsr_decode_state(const struct tsr_decoder *decoder, const struct tsr_decode_packet *packet,
		      struct tsr_decode_packet *state);

/*
 * tsr_decode_stream(): print every packet of @size bytes, with its offset, address, name, fields
 * and errors, to @out; below a dispatch its COMPUTE_STATE, and below BIN and RENDER what
 * tsr_decode_list() prints of their lists, if that is among the bytes. Returns the number of
 * errors.
 */
unsigned long tsr_decode_stream(FILE *out, const void *bytes, size_t size,
				const struct tsr_decode_options *options);

/*
 * tsr_decode_ring(): print the filled part of a ring of @size bytes (a power of two from 8), from
 * @rptr to @wptr, both free-running byte counts as in the slot's registers. Returns the number of
 * errors; pointers that cannot be (no multiple of 8, more than @size apart) count as one.
 */
unsigned long tsr_decode_ring(FILE *out, const void *bytes, size_t size, uint32_t rptr,
			      uint32_t wptr, const struct tsr_decode_options *options);

/*
 * Where control lists and what they name are read from: @at returns @size bytes that lie at the GPU
 * address @va, NULL if they are not all there.
 */
struct tsr_decode_memory {
	const void *(*at)(void *context, uint64_t va, uint64_t size);
	void *context;
};

/*
 * tsr_decode_list(): print the control list [@va, @va + @size) as it would be run: LIST_CALL,
 * LIST_JUMP and the list of LIST_TILES are followed, and below the packets that name them stand
 * SHADER_STATE, DRAW_STATE and the structures these name, each once. @frame, if not 0, is the FRAME
 * to print first. Returns the number of errors. Only options.engine_class and the flag
 * TSR_DECODE_RAW count.
 */
unsigned long tsr_decode_list(FILE *out, const struct tsr_decode_memory *memory, uint64_t va,
			      uint32_t size, uint64_t frame,
			      const struct tsr_decode_options *options);

/* One 32-bit word of the register BAR. */
struct tsr_decode_register {
	uint32_t offset;
	uint32_t value;
};

/*
 * tsr_decode_registers(): print registers with names and fields, in the order given; the two words
 * of a 64-bit register are put together when they follow one another, low first. Zeros where there
 * is no register, or one that can only be written, are passed over. @flags as above, JSON only.
 * Returns the number of errors: words that are no register and not 0, values no enum has.
 */
unsigned long tsr_decode_registers(FILE *out, const struct tsr_decode_register *words, size_t count,
				   uint32_t flags);

/*
 * tsr_decode_dump(): print a device core dump of the kernel driver, @size bytes laid out as
 * <drm/tessera_dump.h> says: the job that failed and why, registers, the ring, the job's stream and
 * what its VM mapped. Returns the number of errors of the dump itself; 1, with nothing printed, if
 * it is none of version 1. What is wrong with the stream is printed and not counted.
 */
unsigned long tsr_decode_dump(FILE *out, const void *bytes, size_t size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* TESSERA_DECODE_H */
