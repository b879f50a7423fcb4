/* SPDX-License-Identifier: MIT */
/*
 * How fields look, shared by the printers of packets (decode_print.c) and of registers
 * (decode_regs.c).
 */
#ifndef DECODE_PRINT_H
#define DECODE_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct tsr_desc_field;
struct tsr_desc_struct;

/* tsr_decode_struct(): the structure in memory of that name, NULL if there is none. */
const struct tsr_desc_struct *tsr_decode_struct(const char *name)
	__attribute__((visibility("hidden")));

/*
 * tsr_print_value(): a field's value as text: names of enums and bits, addresses and numbers of
 * more than 32 bits in hexadecimal, others in decimal. Returns whether JSON needs quotes around it.
 */
bool tsr_print_value(char *text, size_t size, const struct tsr_desc_field *field, uint64_t value);

/*
 * tsr_print_fields(): " NAME=value" for each field that lies in @num_qwords, a bool only when it is
 * set; broken into lines that begin at @column, the first one too, which stands at column @at.
 */
void tsr_print_fields(FILE *out, const struct tsr_desc_field *fields, uint32_t num_fields,
		      const uint64_t *qwords, uint32_t num_qwords, int at, int column);

/* tsr_print_json_fields(): the same as "fields": {...}, every bool included. */
void tsr_print_json_fields(FILE *out, const struct tsr_desc_field *fields, uint32_t num_fields,
			   const uint64_t *qwords, uint32_t num_qwords);

/*
 * tsr_decode_fields(): the structure at @bytes, with what is wrong with it, as of a packet; offset
 * and address are the caller's.
 */
struct tsr_decode_packet;
void tsr_decode_fields(const struct tsr_desc_struct *desc, const void *bytes,
		       struct tsr_decode_packet *state) __attribute__((visibility("hidden")));

/* tsr_print_packet(): a packet as lines. tsr_print_struct(): what is not 0 of a structure. */
void tsr_print_packet(FILE *out, const struct tsr_decode_packet *packet, uint32_t flags)
	__attribute__((visibility("hidden")));
void tsr_print_struct(FILE *out, const struct tsr_desc_struct *desc,
		      const struct tsr_decode_packet *state, bool by_address, uint32_t flags)
	__attribute__((visibility("hidden")));

#endif /* DECODE_PRINT_H */
