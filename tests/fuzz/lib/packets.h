/* SPDX-License-Identifier: MIT */
/*
 * Packets out of bytes: what fuzz targets write into rings and streams.
 *
 * Most packets come out as the description wants them, so that a run gets beyond the first checks;
 * some have a bit flipped, some words are anything. The same bytes always give the same packets.
 */
#ifndef FUZZ_PACKETS_H
#define FUZZ_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fuzzer's input, taken from the front; when it has run out, zeros follow. */
struct fuzz_input {
	const uint8_t *data;
	size_t left;
};

uint8_t fuzz_byte(struct fuzz_input *in);

/* fuzz_number(): a number of @bytes bytes, 1 to 8. */
uint64_t fuzz_number(struct fuzz_input *in, unsigned int bytes);

/* A piece of GPU address space that packets may name. */
struct fuzz_region {
	uint64_t va, size;
};

/* Where packets can point. */
struct fuzz_world {
	const struct fuzz_region *data;		/* for addresses of data */
	unsigned int num_data;
	struct fuzz_region code;		/* for CALL and JUMP */
	bool ring;				/* packets for a ring; else for a stream */
	unsigned int engine_class;		/* of the queue */
};

/*
 * fuzz_packet(): one packet, at most @room words (at least 1), into @words. Returns its length in
 * words.
 */
unsigned int fuzz_packet(struct fuzz_input *in, const struct fuzz_world *world, uint64_t *words,
			 unsigned int room);

#endif
