/* SPDX-License-Identifier: MIT */
/*
 * A shader file: a dispatch, the memory it works on, and what is to be found there afterwards.
 *
 * In: the text described in Documentation/guide/shaders.md. Out: struct script, with all
 * addresses known and all contents as bytes; nothing has been run. Everything in it belongs to the
 * script and lives until script_free().
 */
#ifndef TSR_RUN_SCRIPT_H
#define TSR_RUN_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lex.h"
#include "tsr_regs.h"

/* Where buffers without an address of their own begin: beyond 4 GiB, so that high words matter. */
#define SCRIPT_AUTO_VA	0x180000000ull
#define SCRIPT_CODE_VA	0x7f0000000ull
/* Where tsr-run itself keeps what a dispatch needs besides: states, tables, scratch. */
#define SCRIPT_OWN_VA	0x700000000ull
#define SCRIPT_PAGE	4096ull

/* Bytes that grow. */
struct bytes {
	uint8_t *data;
	size_t size, room;
};

/* A piece of memory the program may use. */
struct region {
	char *name;
	uint64_t va, size;
	unsigned int pte;		/* TSR_PTE_ bits: what is allowed */
	struct bytes init;		/* first bytes of it; the rest is zero */
};

/* Type of a word of an expectation. */
enum word_type { WORD_U8, WORD_U16, WORD_U32, WORD_F16, WORD_F32 };

enum rule_kind {
	RULE_EXACT,			/* same bits */
	RULE_IGNORE,			/* anything */
	RULE_RANGE,			/* from low to high, unsigned */
	RULE_ANY,			/* the expected word, or one of @value */
	RULE_ANY_FILE,			/* the expected word, or the same word of one of @other */
	RULE_NEAR,			/* within a tolerance; only of float words */
	RULE_SUM,			/* no word by itself: the sum of the words @value is @low */
};

/*
 * How the words first, first + step, ... are compared. Of several rules for a word the last one
 * holds; sums are all checked.
 */
struct rule {
	enum rule_kind kind;
	uint64_t first, step, count;	/* count may reach beyond the last word */
	uint64_t low, high;
	uint64_t *value;
	size_t values;
	struct bytes *other;
	size_t others;
	double abs, rel, ulp;		/* the largest of the three holds */
};

struct expectation {
	char *name;			/* as the file says it */
	struct lex_place place;
	uint64_t va, size;		/* where, how many bytes */
	enum word_type type;
	struct bytes want;		/* as far as it goes; zero behind */
	struct rule *rule;
	size_t rules;
};

enum fault_field {
	FAULT_HAS_ADDRESS = 1, FAULT_HAS_CLAUSE = 2, FAULT_HAS_TUPLE = 4, FAULT_HAS_LANE = 8,
	FAULT_HAS_WARP = 16, FAULT_HAS_GROUP = 32, FAULT_HAS_SLOT = 64, FAULT_HAS_UNIT = 128,
};

/* The fault a dispatch shall end with. A field counts if its bit is in @given. */
struct fault_expectation {
	bool wanted;
	struct lex_place place;
	unsigned int code;		/* enum tsr_fault */
	unsigned int given;		/* FAULT_HAS_… */
	uint64_t address, clause;
	unsigned int tuple, lane, warp, unit;
	bool add;			/* FAULT_HAS_SLOT: the ADD instruction of the tuple */
	uint32_t group[3];
};

struct uniform_buffer {
	uint64_t va, size;
};

/* The tables of a COMPUTE_STATE. */
enum script_table { TABLE_ATTRIBUTES, TABLE_BUFFERS, TABLE_TEXTURES, TABLE_SAMPLERS, TABLES };

struct table {
	uint64_t va;
	unsigned int count;
};

/* A label of the assembly text. */
struct label {
	char *name;
	uint64_t va;
};

struct script {
	char *path;
	char *title;			/* the first comment that is no licence, or "" */
	struct region *region;		/* in the order of the file; the code is one of them */
	size_t regions;
	uint64_t next_va;		/* for the next region without an address */
	size_t code;			/* number of the code's region, SIZE_MAX: none */
	uint64_t entry;			/* address of the first clause */
	struct label *label;
	size_t labels;
	uint32_t local[3], groups[3];
	/* said by the file itself, not left to the assembly text */
	bool has_local, has_registers, has_group_memory, has_scratch;
	bool indirect;			/* the grid is read from memory */
	bool registers_64;
	uint32_t group_memory, scratch, clause_limit;
	struct bytes push;
	struct uniform_buffer ubo[TSR_UNIFORM_BUFFERS_MAX];
	unsigned int ubos;
	struct table table[TABLES];
	struct expectation *expect;
	size_t expects;
	struct fault_expectation fault;
	bool any_order;			/* results may depend on the order of threads */
};

/*
 * Read a file. NULL, and the reason in @error (of @size bytes), if it cannot be read or is not what
 * it should be; file names in it are relative to its directory.
 */
struct script *script_read(const char *path, char *error, size_t size);
void script_free(struct script *script);

/*
 * The region that holds @va, or, if none does, the nearest that ends less than @slack bytes below
 * it. NULL: there is none.
 */
const struct region *script_region_at(const struct script *script, uint64_t va, uint64_t slack);
const struct region *script_region(const struct script *script, const char *name);
/* "name+0x10", "name" or "0x1234": an address as a reader knows it. */
const char *script_where(const struct script *script, uint64_t va, char *text, size_t size);

#endif
