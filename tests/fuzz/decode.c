// SPDX-License-Identifier: MIT
/*
 * Fuzz target: the decoder of rings, streams and register dumps.
 *
 * The first byte chooses what the rest is and how it is printed. Whatever the rest holds, the
 * decoder must stay inside it, account for each of its qwords exactly once and in order, and find
 * the same number of errors whichever way it prints.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/decode.h>
#include "tsr_desc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bits of the first byte. */
enum {
	CHOOSE_RING = 1 << 0,		/* decode as a ring */
	CHOOSE_RAW = 1 << 1,		/* print the words too */
	CHOOSE_CLASS = 3 << 2,		/* the queue's class */
	CHOOSE_ANY_CLASS = 1 << 4,	/* no class */
	CHOOSE_REGISTERS = 1 << 5,	/* a register dump */
	CHOOSE_POINTERS = 1 << 6,	/* the first 8 bytes are rptr and wptr */
};

/* A failure the sanitizers cannot see. */
static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "decode: %s\n", what);
	abort();
}

/* Walk through the bytes; returns the errors. */
static unsigned long walk(const uint8_t *bytes, size_t size,
			  const struct tsr_decode_options *options)
{
	static struct tsr_decode_packet packet;
	struct tsr_decoder decoder;
	unsigned long errors = 0;
	uint64_t at = 0;

	tsr_decode_begin(&decoder, bytes, size, options);
	while (tsr_decode_next(&decoder, &packet)) {
		require(packet.offset == at, "a packet does not begin where the last one ended");
		require(packet.num_qwords <= TSR_DECODE_QWORDS_MAX, "a packet is too long");
		require(packet.address == options->base + at, "an address is wrong");
		require(packet.desc || packet.num_errors, "an unknown packet is no error");
		require(!packet.skipped || packet.num_errors, "qwords are skipped silently");
		at += 8 * (packet.num_qwords + packet.skipped);
		errors += packet.num_errors;
	}
	require(at == size / 8 * 8, "the end is not where the bytes end");
	return errors;
}

static void packets(const uint8_t *bytes, size_t size, uint8_t choice, FILE *out)
{
	struct tsr_decode_options options = {
		.base = 0xffff800000001000,
		.flags = (choice & CHOOSE_RING ? TSR_DECODE_RING : 0) |
			 (choice & CHOOSE_RAW ? TSR_DECODE_RAW : 0),
		.engine_class = choice & CHOOSE_ANY_CLASS ? TSR_DECODE_ANY_CLASS :
							    (choice & CHOOSE_CLASS) >> 2,
	};
	unsigned long errors = walk(bytes, size, &options);

	require(tsr_decode_stream(out, bytes, size, &options) == errors, "lines lose errors");
	options.flags |= TSR_DECODE_JSON;
	require(tsr_decode_stream(out, bytes, size, &options) == errors, "JSON loses errors");
}

static void ring(const uint8_t *bytes, size_t size, FILE *out)
{
	struct tsr_decode_options options = { .engine_class = TSR_DECODE_ANY_CLASS };
	uint32_t rptr, wptr;

	if (size < 8)
		return;
	memcpy(&rptr, bytes, 4);
	memcpy(&wptr, bytes + 4, 4);
	tsr_decode_ring(out, bytes + 8, size - 8, rptr, wptr, &options);
	/* most pointers are impossible: make some that are not */
	for (size_t length = 8; length <= size - 8; length *= 2)
		tsr_decode_ring(out, bytes + 8, length, rptr & ~7u,
				(rptr & ~7u) + (wptr & (uint32_t)(2 * length - 1) & ~7u), &options);
}

static void registers(const uint8_t *bytes, size_t size, uint8_t choice, FILE *out)
{
	size_t count = size / sizeof(struct tsr_decode_register);
	struct tsr_decode_register *words = calloc(count + 1, sizeof(*words));
	size_t i;

	require(words, "no memory");
	memcpy(words, bytes, count * sizeof(*words));
	for (i = 0; i < count && choice & CHOOSE_RING; i++)
		words[i].offset &= 0x3fffc;	/* inside the register BAR */
	require(tsr_decode_registers(out, words, count, 0) ==
		tsr_decode_registers(out, words, count, TSR_DECODE_JSON), "JSON loses errors");
	free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	uint8_t *bytes;

	if (!size)
		return 0;
	if (!out)
		out = fopen("/dev/null", "w");
	/* a copy of just that size, for the sanitizer to guard */
	bytes = malloc(size - 1);
	require(out && (bytes || size == 1), "no memory");
	if (size > 1)
		memcpy(bytes, data + 1, size - 1);
	if (data[0] & CHOOSE_REGISTERS)
		registers(bytes, size - 1, data[0], out);
	else if (data[0] & CHOOSE_POINTERS)
		ring(bytes, size - 1, out);
	else
		packets(bytes, size - 1, data[0], out);
	free(bytes);
	return 0;
}
