// SPDX-License-Identifier: MIT
/*
 * The decoder's core: cut bytes into packets and find what is wrong with each.
 *
 * In: bytes. Out: struct tsr_decode_packet, one at a time. The order of the checks is that of
 * Documentation/hw/command-streams.md, so the first error of a packet is the fault the device would
 * report. Printing is in decode_print.c.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "decode_print.h"
#include <tessera/decode.h>
#include "tsr_desc.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

/* The little-endian qword at a byte offset. */
static uint64_t load(const struct tsr_decoder *decoder, size_t offset)
{
	const uint8_t *p = decoder->bytes + offset;
	uint64_t word = 0;
	int i;

	for (i = 7; i >= 0; i--)
		word = word << 8 | p[i];
	return word;
}

/* Whole qwords from a byte offset to the end. */
static size_t qwords_left(const struct tsr_decoder *decoder, size_t offset)
{
	return (decoder->size - offset) / 8;
}

__attribute__((format(printf, 4, 5)))
static void complain(struct tsr_decode_packet *packet, uint32_t fault, uint32_t qword,
		     const char *format, ...)
{
	struct tsr_decode_error *error;
	va_list arguments;

	if (packet->num_errors++ >= TSR_DECODE_ERRORS_MAX)
		return;
	error = &packet->errors[packet->num_errors - 1];
	error->fault = fault;
	error->qword = qword;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
}

static bool is_ring(const struct tsr_decoder *decoder)
{
	return decoder->options.flags & TSR_DECODE_RING;
}

/* True if a packet of this kind may stand in the ring or the stream we read. */
static bool level_allows(const struct tsr_decoder *decoder, const struct tsr_desc_packet *desc)
{
	if (decoder->options.flags & TSR_DECODE_LIST)
		return desc->level == TSR_DESC_LIST;
	return desc->level != TSR_DESC_LIST &&
	       desc->level != (is_ring(decoder) ? TSR_DESC_USER : TSR_DESC_RING);
}

/*
 * True if a packet could begin at that offset: a header that the device would accept and that fits.
 * Only used to find a place to go on behind an error.
 */
static bool plausible(const struct tsr_decoder *decoder, size_t offset)
{
	const struct tsr_desc_packet *desc;
	uint64_t header;
	uint32_t length;

	if (!qwords_left(decoder, offset))
		return false;
	header = load(decoder, offset);
	desc = tsr_desc_packets[tsr_packet_opcode(header)];
	length = tsr_packet_qwords(header);
	return desc && length >= desc->min_qwords && length <= desc->max_qwords &&
	       length <= qwords_left(decoder, offset) && !(header & tsr_desc_mbz(desc, 0)) &&
	       level_allows(decoder, desc);
}

/*
 * How many qwords to skip from a packet whose header cannot be believed: as many as it says if a
 * packet seems to follow there or the bytes end there, else up to the first plausible header.
 */
static size_t resync(const struct tsr_decoder *decoder, size_t offset, uint32_t length)
{
	size_t left = qwords_left(decoder, offset);
	size_t n;

	if (length && length <= left && (length == left || plausible(decoder, offset + 8 * length)))
		return length;
	for (n = 1; n < left; n++) {
		if (plausible(decoder, offset + 8 * n))
			break;
	}
	return n;
}

static void check_reserved(const struct tsr_desc_packet *desc, struct tsr_decode_packet *packet)
{
	uint32_t q;

	for (q = 0; q < packet->num_qwords; q++) {
		uint64_t set = packet->qwords[q] & tsr_desc_mbz(desc, q);

		if (set)
			complain(packet, TSR_FAULT_RESERVED_BITS, q,
				 "reserved bits 0x%" PRIx64 " are set, expected 0", set);
	}
}

static void check_fields(const struct tsr_desc_field *fields, uint32_t num_fields,
			 struct tsr_decode_packet *packet)
{
	uint32_t f;

	for (f = 0; f < num_fields; f++) {
		const struct tsr_desc_field *field = &fields[f];
		uint64_t value;

		if (field->qword >= packet->num_qwords)
			continue;
		value = tsr_desc_field_get(field, packet->qwords);
		if (field->values && !field->values->is_bitset &&
		    !tsr_desc_value_name(field->values, value))
			complain(packet, TSR_FAULT_BAD_VALUE, field->qword,
				 "%s is %" PRIu64 ", no value of %s", field->name, value,
				 field->values->name);
		if (value < field->min || value > field->max)
			complain(packet, TSR_FAULT_BAD_VALUE, field->qword,
				 "%s is %" PRIu64 ", expected %" PRIu64 " to %" PRIu64, field->name,
				 value, field->min, field->max);
		if (value & (field->align - 1))
			complain(packet, TSR_FAULT_ALIGNMENT, field->qword,
				 "%s is 0x%" PRIx64 ", expected a multiple of %" PRIu64,
				 field->name, value, field->align);
	}
}

/* Everything behind the header's opcode, length and end. */
static void check_content(const struct tsr_decoder *decoder, const struct tsr_desc_packet *desc,
			  struct tsr_decode_packet *packet)
{
	int engine_class = decoder->options.engine_class;
	uint64_t privileged = packet->qwords[0] & desc->ring_only;

	if (!level_allows(decoder, desc))
		complain(packet, TSR_FAULT_PRIVILEGE, 0,
			 decoder->options.flags & TSR_DECODE_LIST ? "no packet of control lists" :
			 is_ring(decoder) ? "user packet in a ring" :
			 desc->level == TSR_DESC_LIST ? "packet of control lists in a stream" :
					    "ring packet in a user stream");
	if (engine_class >= 0 && (engine_class > 31 || !(desc->classes >> engine_class & 1)))
		complain(packet, TSR_FAULT_WRONG_CLASS, 0, "not for queues of this class");
	if (desc->refused)
		complain(packet, TSR_FAULT_UNSUPPORTED, 0,
			 "version %d.%d of the device has no unit for it", TSR_VERSION_MAJOR,
			 TSR_VERSION_MINOR);
	check_reserved(desc, packet);
	if (!is_ring(decoder) && privileged)
		complain(packet, TSR_FAULT_PRIVILEGE, 0,
			 "bits 0x%" PRIx64 " are for rings, expected 0", privileged);
	check_fields(desc->fields, desc->num_fields, packet);
}

/* Complain about a length that the opcode cannot have. */
static void complain_length(struct tsr_decode_packet *packet, uint32_t length)
{
	uint32_t least = packet->desc->min_qwords;
	uint32_t most = packet->desc->max_qwords;

	if (least == most)
		complain(packet, TSR_FAULT_BAD_LENGTH, 0, "length is %u, expected %u", length,
			 least);
	else
		complain(packet, TSR_FAULT_BAD_LENGTH, 0, "length is %u, expected %u to %u", length,
			 least, most);
}

/*
 * Take the qwords of a packet whose opcode is known; returns how far to go on. Of a packet with a
 * wrong length only the length is judged: where its fields are is anybody's guess.
 */
static size_t take_packet(const struct tsr_decoder *decoder, struct tsr_decode_packet *packet,
			  uint32_t length)
{
	const struct tsr_desc_packet *desc = packet->desc;
	size_t left = qwords_left(decoder, packet->offset);
	bool fits = length >= desc->min_qwords && length <= desc->max_qwords;
	size_t advance, shown;
	uint32_t i;

	if (!fits) {
		complain_length(packet, length);
		advance = resync(decoder, packet->offset, length);
		shown = advance < desc->min_qwords ? advance : desc->min_qwords;
	} else if (length > left) {
		complain(packet, TSR_FAULT_STREAM_BOUND, 0,
			 "needs %u qwords, the %s ends after %zu", length,
			 is_ring(decoder) ? "ring" : "stream", left);
		advance = shown = left;
	} else {
		advance = shown = length;
	}
	packet->num_qwords = (uint32_t)shown;
	packet->skipped = advance - shown;
	for (i = 0; i < shown; i++)
		packet->qwords[i] = load(decoder, packet->offset + 8 * (size_t)i);
	if (fits)
		check_content(decoder, desc, packet);
	return advance;
}

void tsr_decode_begin(struct tsr_decoder *decoder, const void *bytes, size_t size,
		      const struct tsr_decode_options *options)
{
	decoder->bytes = bytes;
	decoder->size = size;
	decoder->offset = 0;
	decoder->options = *options;
}

bool tsr_decode_next(struct tsr_decoder *decoder, struct tsr_decode_packet *packet)
{
	size_t left = decoder->size - decoder->offset;
	uint64_t header;
	size_t advance;

	if (!left)
		return false;
	packet->desc = NULL;
	packet->offset = decoder->offset;
	packet->address = decoder->options.base + decoder->offset;
	packet->skipped = 0;
	packet->num_qwords = 0;
	packet->num_errors = 0;
	if (left < 8) {
		complain(packet, TSR_FAULT_STREAM_BOUND, 0, "ends inside a qword, after %zu bytes",
			 left);
		decoder->offset = decoder->size;
		return true;
	}
	header = load(decoder, decoder->offset);
	packet->qwords[0] = header;
	packet->desc = tsr_desc_packets[tsr_packet_opcode(header)];
	if (packet->desc) {
		advance = take_packet(decoder, packet, tsr_packet_qwords(header));
	} else {
		complain(packet, TSR_FAULT_UNKNOWN_OPCODE, 0, "opcode 0x%02x is not defined",
			 tsr_packet_opcode(header));
		advance = resync(decoder, decoder->offset, tsr_packet_qwords(header));
		packet->num_qwords = 1;
		packet->skipped = advance - 1;
	}
	decoder->offset += 8 * advance;
	return true;
}

const struct tsr_desc_struct *tsr_decode_struct(const char *name)
{
	uint32_t i;

	for (i = 0; i < tsr_desc_num_structs; i++) {
		if (!strcmp(tsr_desc_structs[i].name, name))
			return &tsr_desc_structs[i];
	}
	return NULL;
}

/* Bits of a structure in memory that no field describes; the device wants them to be 0. */
static void check_struct_reserved(const struct tsr_desc_struct *desc,
				  struct tsr_decode_packet *state)
{
	uint64_t used[TSR_DECODE_QWORDS_MAX] = { 0 };
	uint32_t f, q;

	for (f = 0; f < desc->num_fields; f++) {
		const struct tsr_desc_field *field = &desc->fields[f];

		used[field->qword] |= ~0ull >> (63 - field->hi + field->lo) << field->lo;
	}
	for (q = 0; q < desc->qwords; q++) {
		if (state->qwords[q] & ~used[q])
			complain(state, TSR_FAULT_RESERVED_BITS, q,
				 "reserved bits 0x%" PRIx64 " are set, expected 0",
				 state->qwords[q] & ~used[q]);
	}
}

static void check_group_size(struct tsr_decode_packet *state)
{
	struct tsr_compute_state v;
	uint64_t threads;

	tsr_unpack_compute_state(state->qwords, &v);
	threads = (uint64_t)v.local_x * v.local_y * v.local_z;
	if (threads > TSR_GROUP_THREADS_MAX)
		complain(state, TSR_FAULT_BAD_VALUE, 1,
			 "groups of %" PRIu64 " threads, expected at most %d", threads,
			 TSR_GROUP_THREADS_MAX);
}

void tsr_decode_fields(const struct tsr_desc_struct *desc, const void *bytes,
		       struct tsr_decode_packet *state)
{
	const struct tsr_decoder decoder = { .bytes = bytes };
	uint32_t q;

	state->desc = NULL;
	state->offset = 0;
	state->skipped = 0;
	state->num_qwords = desc->qwords;
	state->num_errors = 0;
	for (q = 0; q < desc->qwords; q++)
		state->qwords[q] = load(&decoder, 8 * (size_t)q);
	check_struct_reserved(desc, state);
	check_fields(desc->fields, desc->num_fields, state);
}

bool tsr_decode_state(const struct tsr_decoder *decoder, const struct tsr_decode_packet *packet,
		      struct tsr_decode_packet *state)
{
	const struct tsr_desc_struct *desc = tsr_decode_struct("COMPUTE_STATE");
	uint64_t at;

	if (!packet->desc || packet->num_qwords < 2 ||
	    (packet->desc->opcode != TSR_OP_DISPATCH &&
	     packet->desc->opcode != TSR_OP_DISPATCH_INDIRECT))
		return false;
	at = packet->qwords[1] - decoder->options.base;
	if (packet->qwords[1] < decoder->options.base || packet->qwords[1] % 64 ||
	    at > decoder->size || decoder->size - at < TSR_COMPUTE_STATE__QWORDS * 8)
		return false;
	tsr_decode_fields(desc, decoder->bytes + at, state);
	state->offset = at;
	state->address = packet->qwords[1];
	check_group_size(state);
	return true;
}
