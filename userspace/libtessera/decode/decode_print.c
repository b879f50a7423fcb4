// SPDX-License-Identifier: MIT
/*
 * The decoder's output: packets as lines or as JSON. What is in a packet and what is wrong with it
 * comes from decode.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decode_print.h"
#include <tessera/decode.h>
#include "tsr_desc.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define LINE_WIDTH	100
#define NAME_WIDTH	14	/* of the longest packet name */
#define FIELD_COLUMN	41	/* behind address, offset, name; other lines begin there too */

static const char *fault_name(uint32_t fault)
{
	const char *name = tsr_desc_value_name(tsr_desc_find_enum("FAULT"), fault);

	return name ? name : "?";
}

/* The names of a bitset's bits that are set, joined by bars; numbers for bits without a name. */
static int format_bits(char *text, size_t size, const struct tsr_desc_enum *bits, uint64_t value)
{
	int used = 0;
	int bit;

	if (!value)
		return snprintf(text, size, "0");
	for (bit = 0; bit < 64; bit++) {
		uint64_t mask = 1ULL << bit;
		const char *name = tsr_desc_value_name(bits, mask);
		const char *bar = used ? "|" : "";

		if (!(value & mask) || used >= (int)size - 1)
			continue;
		if (name)
			used += snprintf(text + used, size - used, "%s%s", bar, name);
		else
			used += snprintf(text + used, size - used, "%sbit%d", bar, bit);
	}
	return used;
}

bool tsr_print_value(char *text, size_t size, const struct tsr_desc_field *field, uint64_t value)
{
	const char *name;

	if (field->values && field->values->is_bitset) {
		format_bits(text, size, field->values, value);
		return true;
	}
	name = tsr_desc_value_name(field->values, value);
	if (name) {
		snprintf(text, size, "%s", name);
		return true;
	}
	if (field->type == TSR_DESC_INT) {
		snprintf(text, size, "%" PRId64, (int64_t)value);
		return false;
	}
	if (field->type == TSR_DESC_VA || field->type == TSR_DESC_PA ||
	    field->hi - field->lo >= 32) {
		/* a string in JSON, whose numbers lose bits beyond 2^53 */
		snprintf(text, size, "0x%" PRIx64, value);
		return true;
	}
	snprintf(text, size, "%" PRIu64, value);
	return false;
}

void tsr_print_fields(FILE *out, const struct tsr_desc_field *fields, uint32_t num_fields,
		      const uint64_t *qwords, uint32_t num_qwords, int at, int column)
{
	bool first = true;
	int pad;
	uint32_t f;

	for (f = 0; f < num_fields; f++) {
		const struct tsr_desc_field *field = &fields[f];
		char value[256], item[320];
		uint64_t bits;

		if (field->qword >= num_qwords)
			continue;
		bits = tsr_desc_field_get(field, qwords);
		if (field->type == TSR_DESC_BOOL && !bits)
			continue;
		tsr_print_value(value, sizeof(value), field, bits);
		snprintf(item, sizeof(item), "%s%s%s", field->name,
			 field->type == TSR_DESC_BOOL ? "" : "=",
			 field->type == TSR_DESC_BOOL ? "" : value);
		if (first || at + 1 + (int)strlen(item) > LINE_WIDTH) {
			if (!first)
				fputc('\n', out);
			pad = first ? column - at : column;
			fprintf(out, "%*s", pad > 0 ? pad : 0, "");
			at = first && pad < 0 ? at : column;
		}
		at += fprintf(out, " %s", item);
		first = false;
	}
}

/* Prints the errors of a packet, one in a line, and the words that are skipped after it. */
static void print_errors(FILE *out, const struct tsr_decode_packet *packet)
{
	uint32_t e;

	for (e = 0; e < packet->num_errors && e < TSR_DECODE_ERRORS_MAX; e++) {
		const struct tsr_decode_error *error = &packet->errors[e];

		fprintf(out, "    error: %s at +0x%06" PRIx64 " (qword %u): %s\n",
			fault_name(error->fault), packet->offset + 8 * (uint64_t)error->qword,
			error->qword, error->text);
	}
	if (packet->num_errors > TSR_DECODE_ERRORS_MAX)
		fprintf(out, "    and %u more errors\n",
			packet->num_errors - TSR_DECODE_ERRORS_MAX);
	if (packet->skipped)
		fprintf(out, "    skipped %" PRIu64 " qword%s to +0x%06" PRIx64 "\n",
			packet->skipped, packet->skipped == 1 ? "" : "s",
			packet->offset + 8 * (packet->num_qwords + packet->skipped));
}

/* A structure below what names it; most of its fields usually are 0 and left out. */
void tsr_print_struct(FILE *out, const struct tsr_desc_struct *desc,
		      const struct tsr_decode_packet *state, bool by_address, uint32_t flags)
{
	int at = by_address ? fprintf(out, "    0x%012" PRIx64 "  %s", state->address, desc->name) :
			      fprintf(out, "    +0x%06" PRIx64 "  %s", state->offset, desc->name);
	struct tsr_desc_field shown[64];
	uint32_t f, q, n = 0;

	for (f = 0; f < desc->num_fields && n < 64; f++) {
		if (tsr_desc_field_get(&desc->fields[f], state->qwords))
			shown[n++] = desc->fields[f];
	}
	tsr_print_fields(out, shown, n, state->qwords, state->num_qwords, at, FIELD_COLUMN);
	fputc('\n', out);
	for (q = 0; flags & TSR_DECODE_RAW && q < state->num_qwords; q++)
		fprintf(out, "%*s%016" PRIx64 "\n", FIELD_COLUMN + 1, "", state->qwords[q]);
	print_errors(out, state);
}

/* One packet as lines: the packet, its qwords if wanted, its errors. */
void tsr_print_packet(FILE *out, const struct tsr_decode_packet *packet, uint32_t flags)
{
	const struct tsr_desc_packet *desc = packet->desc;
	const char *name = desc ? desc->name : "?";
	uint32_t q;

	fprintf(out, "0x%012" PRIx64 "  +0x%06" PRIx64 "  %s", packet->address, packet->offset,
		name);
	if (desc && desc->num_fields) {
		tsr_print_fields(out, desc->fields, desc->num_fields, packet->qwords,
				 packet->num_qwords, FIELD_COLUMN - NAME_WIDTH + (int)strlen(name),
				 FIELD_COLUMN);
	} else if (desc && desc->min_qwords != desc->max_qwords) {
		fprintf(out, "%*s %u qword%s", NAME_WIDTH - (int)strlen(name), "",
			packet->num_qwords, packet->num_qwords == 1 ? "" : "s");
	} else if (!desc && packet->num_qwords) {
		fprintf(out, "%*s 0x%016" PRIx64, NAME_WIDTH - 1, "", packet->qwords[0]);
	}
	fputc('\n', out);
	for (q = 0; flags & TSR_DECODE_RAW && q < packet->num_qwords; q++)
		fprintf(out, "%*s%016" PRIx64 "\n", FIELD_COLUMN + 1, "", packet->qwords[q]);
	print_errors(out, packet);
}

void tsr_print_json_fields(FILE *out, const struct tsr_desc_field *fields, uint32_t num_fields,
			   const uint64_t *qwords, uint32_t num_qwords)
{
	const char *comma = "";
	uint32_t f;

	fputs("\"fields\": {", out);
	for (f = 0; f < num_fields; f++) {
		const struct tsr_desc_field *field = &fields[f];
		char value[256];
		uint64_t bits;
		bool quoted;

		if (field->qword >= num_qwords)
			continue;
		bits = tsr_desc_field_get(field, qwords);
		quoted = tsr_print_value(value, sizeof(value), field, bits);
		if (field->type == TSR_DESC_BOOL)
			snprintf(value, sizeof(value), "%s", bits ? "true" : "false");
		fprintf(out, quoted ? "%s\"%s\": \"%s\"" : "%s\"%s\": %s", comma, field->name,
			value);
		comma = ", ";
	}
	fputc('}', out);
}

static void print_json_errors(FILE *out, const struct tsr_decode_packet *packet)
{
	uint32_t i;

	fputs("\"errors\": [", out);
	for (i = 0; i < packet->num_errors && i < TSR_DECODE_ERRORS_MAX; i++) {
		const struct tsr_decode_error *error = &packet->errors[i];

		fprintf(out, "%s\n    {\"fault\": \"%s\", \"offset\": %" PRIu64 ", \"text\": ",
			i ? "," : "", fault_name(error->fault),
			packet->offset + 8 * (uint64_t)error->qword);
		fprintf(out, "\"%s\"}", error->text);
	}
	fputc(']', out);
}

/* One packet; @state is that of a dispatch or NULL. */
static void print_json(FILE *out, const struct tsr_decode_packet *packet,
		       const struct tsr_decode_packet *state)
{
	const struct tsr_desc_struct *layout = tsr_decode_struct("COMPUTE_STATE");
	const struct tsr_desc_packet *desc = packet->desc;
	uint32_t i;

	fprintf(out, "  {\"offset\": %" PRIu64 ", \"address\": \"0x%" PRIx64 "\", \"name\": ",
		packet->offset, packet->address);
	if (desc)
		fprintf(out, "\"%s\", ", desc->name);
	else
		fputs("null, ", out);
	fputs("\"qwords\": [", out);
	for (i = 0; i < packet->num_qwords; i++)
		fprintf(out, "%s\"0x%016" PRIx64 "\"", i ? ", " : "", packet->qwords[i]);
	fputs("],\n   ", out);
	tsr_print_json_fields(out, desc ? desc->fields : NULL, desc ? desc->num_fields : 0,
			      packet->qwords, packet->num_qwords);
	fprintf(out, ", \"skipped\": %" PRIu64 ", ", packet->skipped);
	print_json_errors(out, packet);
	if (state) {
		fprintf(out, ",\n   \"state\": {\"offset\": %" PRIu64 ", ", state->offset);
		tsr_print_json_fields(out, layout->fields, layout->num_fields, state->qwords,
				      state->num_qwords);
		fputs(", ", out);
		print_json_errors(out, state);
		fputc('}', out);
	}
	fputc('}', out);
}

/* The bytes of a walk as memory. */
static const void *in_bytes(void *context, uint64_t va, uint64_t size)
{
	const struct tsr_decoder *decoder = context;
	uint64_t at = va - decoder->options.base;

	return va >= decoder->options.base && at <= decoder->size && size <= decoder->size - at ?
	       decoder->bytes + at : NULL;
}

/* The list of BIN or RENDER, if its first packet is among the bytes. */
static unsigned long print_list(FILE *out, struct tsr_decoder *decoder,
				const struct tsr_decode_packet *packet)
{
	const struct tsr_decode_memory memory = { in_bytes, decoder };
	const uint64_t *q = packet->qwords;

	if (!packet->desc || packet->num_qwords < 4 ||
	    (packet->desc->opcode != TSR_OP_BIN && packet->desc->opcode != TSR_OP_RENDER) ||
	    !in_bytes(decoder, q[1], 8))
		return 0;
	return tsr_decode_list(out, &memory, q[1], (uint32_t)q[2], q[3], &decoder->options);
}

/* Every packet of a piece of a ring, or of a whole stream. *first: nothing has been printed yet. */
static unsigned long print_piece(FILE *out, const uint8_t *bytes, size_t size, uint64_t offset,
				 const struct tsr_decode_options *options, bool *first)
{
	struct tsr_decode_packet packet, state;
	struct tsr_decoder decoder;
	unsigned long errors = 0;
	bool has_state;

	tsr_decode_begin(&decoder, bytes, size, options);
	while (tsr_decode_next(&decoder, &packet)) {
		has_state = tsr_decode_state(&decoder, &packet, &state);
		packet.offset += offset;
		packet.address += offset;
		errors += packet.num_errors + (has_state ? state.num_errors : 0);
		if (options->flags & TSR_DECODE_JSON) {
			fputs(*first ? "\n" : ",\n", out);
			print_json(out, &packet, has_state ? &state : NULL);
		} else {
			tsr_print_packet(out, &packet, options->flags);
			if (has_state)
				tsr_print_struct(out, tsr_decode_struct("COMPUTE_STATE"), &state,
						 false, options->flags);
			errors += print_list(out, &decoder, &packet);
		}
		*first = false;
	}
	return errors;
}

static void open_list(FILE *out, uint32_t flags)
{
	if (flags & TSR_DECODE_JSON)
		fputc('[', out);
}

static void close_list(FILE *out, uint32_t flags, bool empty)
{
	if (flags & TSR_DECODE_JSON)
		fputs(empty ? "]\n" : "\n]\n", out);
}

unsigned long tsr_decode_stream(FILE *out, const void *bytes, size_t size,
				const struct tsr_decode_options *options)
{
	unsigned long errors;
	bool first = true;

	open_list(out, options->flags);
	errors = print_piece(out, bytes, size, 0, options, &first);
	close_list(out, options->flags, first);
	return errors;
}

unsigned long tsr_decode_ring(FILE *out, const void *bytes, size_t size, uint32_t rptr,
			      uint32_t wptr, const struct tsr_decode_options *options)
{
	struct tsr_decode_options ring = *options;
	uint32_t filled = wptr - rptr;
	unsigned long errors;
	size_t start, until_end;
	bool first = true;

	ring.flags |= TSR_DECODE_RING;
	if (size < 8 || size & (size - 1) || rptr % 8 || wptr % 8 || filled > size) {
		if (!(ring.flags & TSR_DECODE_JSON))
			fprintf(out, "    error: rptr 0x%" PRIx32 " and wptr 0x%" PRIx32
				" cannot belong to a ring of 0x%zx bytes\n", rptr, wptr, size);
		else
			fputs("[]\n", out);
		return 1;
	}
	start = rptr & (size - 1);
	until_end = size - start < filled ? size - start : filled;
	open_list(out, ring.flags);
	errors = print_piece(out, (const uint8_t *)bytes + start, until_end, start, &ring, &first);
	errors += print_piece(out, bytes, filled - until_end, 0, &ring, &first);
	close_list(out, ring.flags, first);
	return errors;
}
