// SPDX-License-Identifier: MIT
/* The disassembler's interface and its walk through the code, see tessera/asm.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "disasm.h"
#include <tessera/asm.h>

static const struct tsr_disasm_options no_options;

static uint64_t load64(const uint8_t *bytes)
{
	uint64_t value = 0;
	int i;

	for (i = 7; i >= 0; i--)
		value = value << 8 | bytes[i];
	return value;
}

static bool is_zero(const uint8_t *quad)
{
	return !load64(quad) && !load64(quad + 8);
}

/* Mark the clauses and what leads to them. */
static void map_clauses(struct disasm_map *map)
{
	struct tsr_clause clause;
	size_t offset;
	unsigned int i;

	for (offset = 0; offset < map->size; offset += TSR_QUAD_BYTES) {
		if (tsr_clause_unpack(map->code + offset, map->size - offset, &clause))
			continue;
		map->start[offset / TSR_QUAD_BYTES] |= DISASM_START;
		offset += (size_t)(clause.quads - 1) * TSR_QUAD_BYTES;
	}
	for (offset = 0; offset < map->size; offset += TSR_QUAD_BYTES) {
		if (!(map->start[offset / TSR_QUAD_BYTES] & DISASM_START) ||
		    tsr_clause_unpack(map->code + offset, map->size - offset, &clause))
			continue;
		for (i = 0; i < clause.consts; i++) {
			int64_t target = disasm_target(map, &clause, i, offset);

			if (target >= 0)
				map->start[target / TSR_QUAD_BYTES] |= DISASM_TARGET;
		}
	}
}

/* -- single quadwords ------------------------------------------------------------------------ */

static void print_part(FILE *out, const struct tsr_quad_part *part)
{
	static const char *const names[] = {
		[TSR_QUAD_HEADER] = "header", [TSR_QUAD_TUPLE] = "tuple",
		[TSR_QUAD_CONSTANT] = "constant", [TSR_QUAD_M1] = "m1", [TSR_QUAD_M2] = "m2",
		[TSR_QUAD_POSITION] = "position",
	};

	fprintf(out, " %s", names[part->kind]);
	if (part->kind == TSR_QUAD_TUPLE || part->kind == TSR_QUAD_CONSTANT)
		fprintf(out, " %u", part->index);
	fprintf(out, "[%u:%u]", part->at + part->width - 1u, part->at);
}

/* Prints the parts of a quadword. 64-bit pieces of one constant are printed as one. */
static void print_parts(FILE *out, const struct tsr_quad *quad)
{
	unsigned int i;

	for (i = 0; i < quad->num_parts; i++) {
		struct tsr_quad_part part = quad->part[i];

		while (i + 1u < quad->num_parts && quad->part[i + 1].kind == part.kind &&
		       quad->part[i + 1].index == part.index &&
		       quad->part[i + 1].at == part.at + part.width)
			part.width += quad->part[++i].width;
		print_part(out, &part);
	}
}

/* The quadwords of a clause as comments. */
static void print_quads(FILE *out, const uint8_t *code, unsigned int quads, uint64_t address)
{
	struct tsr_quad quad;
	unsigned int i;

	for (i = 0; i < quads; i++, code += TSR_QUAD_BYTES) {
		fprintf(out, "; 0x%05" PRIx64 ": 0x%016" PRIx64 " 0x%016" PRIx64, address + 16 * i,
			load64(code), load64(code + 8));
		if (tsr_quad_decode(code, &quad)) {
			fprintf(out, " %s:", quad.name);
			print_parts(out, &quad);
			fputs(quad.ends ? " end" : "", out);
		}
		fputc('\n', out);
	}
}

static void print_raw_quad(FILE *out, const uint8_t *code, const char *comment)
{
	fprintf(out, ".quad 0x%016" PRIx64 ", 0x%016" PRIx64 "%s%s\n", load64(code),
		load64(code + 8), *comment ? "\t; " : "", comment);
}

/* -- clauses --------------------------------------------------------------------------------- */

/* The message of the clause behind, as the assembler will see it. */
static unsigned int next_message(const struct disasm_map *map, size_t offset)
{
	struct tsr_clause next;

	if (offset >= map->size || !(map->start[offset / TSR_QUAD_BYTES] & DISASM_START) ||
	    tsr_clause_unpack(map->code + offset, map->size - offset, &next))
		return TSR_MESSAGE_NONE;
	return next.message;
}

static void print_clause(FILE *out, const struct disasm_map *map, const struct tsr_clause *clause,
			 size_t offset, const struct tsr_disasm_options *options)
{
	size_t size = clause->quads * (size_t)TSR_QUAD_BYTES;
	bool plain = options->flags & TSR_DISASM_PLAIN;
	struct ir_clause ir;
	char comment[32];
	unsigned int i;

	if (map->start[offset / TSR_QUAD_BYTES] & DISASM_TARGET)
		fprintf(out, "L%zx:\n", offset);
	if (options->flags & TSR_DISASM_QUADS && !plain)
		print_quads(out, map->code + offset, clause->quads, options->base + offset);
	snprintf(comment, sizeof(comment), "0x%05" PRIx64, options->base + offset);
	if (disasm_lift(map, clause, offset, next_message(map, offset + size),
			options->flags & TSR_DISASM_EXPLICIT, &ir)) {
		disasm_print(out, &ir, comment, plain);
		return;
	}
	for (i = 0; i < clause->quads; i++)
		print_raw_quad(out, map->code + offset + 16 * i, plain ? "" : "a clause");
}

/* Prints bytes that are no clause. Returns their number. */
static size_t print_other(FILE *out, const struct disasm_map *map, size_t offset,
			  enum tsr_isa_error error, bool plain, long *errors)
{
	size_t n;

	for (n = 0; offset + 16 * n < map->size && is_zero(map->code + offset + 16 * n); n++)
		;
	if (n) {
		fprintf(out, ".zero %zu\n", n);
		return 16 * n;
	}
	++*errors;
	print_raw_quad(out, map->code + offset, plain ? "" : tsr_isa_error_text(error));
	return 16;
}

static void print_rest(FILE *out, const uint8_t *bytes, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		fprintf(out, "%s0x%02x", i ? ", " : ".byte ", bytes[i]);
	fputc('\n', out);
}

long tsr_disasm(FILE *out, const void *code, size_t size, const struct tsr_disasm_options *options)
{
	struct disasm_map map = { .code = code, .size = size / TSR_QUAD_BYTES * TSR_QUAD_BYTES };
	struct tsr_clause clause;
	size_t offset = 0;
	long errors = 0;

	options = options ? options : &no_options;
	map.start = calloc(map.size / TSR_QUAD_BYTES + 1, 1);
	if (!map.start)
		return -1;
	map_clauses(&map);
	while (offset < map.size) {
		enum tsr_isa_error error;

		error = tsr_clause_unpack(map.code + offset, map.size - offset, &clause);
		if (error) {
			offset += print_other(out, &map, offset, error,
					      options->flags & TSR_DISASM_PLAIN, &errors);
			continue;
		}
		print_clause(out, &map, &clause, offset, options);
		offset += clause.quads * (size_t)TSR_QUAD_BYTES;
	}
	if (size > map.size) {
		print_rest(out, map.code + map.size, size - map.size);
		errors++;
	}
	free(map.start);
	return errors;
}

long tsr_disasm_clause(FILE *out, const void *code, size_t size, size_t offset,
		       const struct tsr_disasm_options *options)
{
	struct disasm_map map = { .code = code, .size = size / TSR_QUAD_BYTES * TSR_QUAD_BYTES };
	enum tsr_isa_error error = TSR_ISA_TRUNCATED;
	struct tsr_clause clause;

	options = options ? options : &no_options;
	if (offset < map.size && offset % TSR_QUAD_BYTES == 0)
		error = tsr_clause_unpack(map.code + offset, map.size - offset, &clause);
	if (error) {
		fprintf(out, "; no clause: %s\n", tsr_isa_error_text(error));
		return 0;
	}
	map.start = calloc(map.size / TSR_QUAD_BYTES + 1, 1);
	if (!map.start)
		return -1;
	map_clauses(&map);
	map.start[offset / TSR_QUAD_BYTES] |= DISASM_START;
	print_clause(out, &map, &clause, offset, options);
	free(map.start);
	return clause.quads * (long)TSR_QUAD_BYTES;
}
