/* SPDX-License-Identifier: MIT */
/*
 * Tables of a dispatch out of random choices: uniform buffers, attributes, textures, samplers.
 *
 * Most descriptors say what is legal and name memory that is there; sizes are now and then off by
 * one, or anything; some have bits turned over.
 */
#ifndef FUZZ_TABLES_H
#define FUZZ_TABLES_H

#include "packets.h"
#include "random.h"
#include "tsr_packets.h"

/* Where they lie, in bytes from the start of the tables. */
#define FUZZ_TABLE_UNIFORM 0
#define FUZZ_TABLE_ATTRIBUTES 0x80
#define FUZZ_TABLE_BUFFERS 0x100
#define FUZZ_TABLE_TEXTURES 0x200
#define FUZZ_TABLE_SAMPLERS 0x300
#define FUZZ_TABLE_SURFACES 0x400
#define FUZZ_TABLE_ENTRIES 4		/* of each; 8 of BUFFERS, 64 of SURFACES */
#define FUZZ_TABLES_SIZE 0x800

/* Memory that descriptors may name. */
struct fuzz_memory {
	const struct fuzz_region *region;
	unsigned int num;
};

/* An address in it, a multiple of @align, now and then near an end or anything. */
uint64_t fuzz_address(struct fuzz_random *r, const struct fuzz_memory *memory, uint64_t align);
/* A structure of the description, by name; its legal values are more likely than others. */
void fuzz_struct(struct fuzz_random *r, const char *name, uint64_t *words);
/* Write all tables to @tables, which the program sees at @va. */
void fuzz_tables(struct fuzz_random *r, const struct fuzz_memory *memory, uint8_t *tables,
		 uint64_t va);
/* The part of a COMPUTE_STATE that names them. */
void fuzz_name_tables(struct fuzz_random *r, uint64_t va, struct tsr_compute_state *state);

#endif
