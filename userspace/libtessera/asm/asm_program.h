/* SPDX-License-Identifier: MIT */
/*
 * A program on its way through the assembler: what its lines became, and its labels.
 */
#ifndef ASM_PROGRAM_H
#define ASM_PROGRAM_H

#include "asm_ir.h"
#include "asm_lex.h"

/* A label, by number in the order of first mention. */
struct asm_label {
	const char *name;	/* in the text */
	size_t length;
	bool defined;
	uint32_t item;		/* the item it stands before, if defined */
	struct asm_pos pos;	/* where it is defined, else where it is first used */
	uint32_t next;		/* of the same hash, IR_NO_LABEL at the end */
};

#define ASM_LABEL_BUCKETS 1024u

/* A clause, or raw bytes. */
struct asm_item {
	bool is_clause;
	uint8_t quad[16];	/* else; repeated */
	uint32_t length;	/* bytes of quad that are used, 16 but for .byte */
	uint32_t repeat;
	struct tsr_clause clause;
	uint32_t label[TSR_CLAUSE_CONSTS_MAX];	/* in the high words of its constants */
	bool next_given;
	struct asm_pos pos;
	uint32_t tuple_line[TSR_CLAUSE_TUPLES_MAX];
	uint32_t offset;
	uint32_t size;
};

/* For which stage of a draw with GEOMETRY the text is. */
enum asm_stage { ASM_ANY_STAGE, ASM_VERTEX, ASM_HULL, ASM_DOMAIN, ASM_GEOMETRY };

struct asm_build {
	struct asm_diags *diags;
	uint32_t flags;		/* enum tsr_asm_flags */
	struct asm_item *items;
	uint32_t num_items, item_room;
	struct asm_label *labels;
	uint32_t num_labels, label_room;
	uint32_t bucket[ASM_LABEL_BUCKETS];
	uint64_t code_size;	/* of .quad and .zero, checked as they come */
	uint64_t registers;
	bool registers_32;	/* the text says .registers 32 */
	struct asm_pos registers_pos;
	uint32_t entry_label;	/* IR_NO_LABEL */
	struct asm_pos entry_pos;
	struct tsr_asm_shader *program;	/* what directives set */
	uint8_t given;		/* bit n: directive n was there */
	uint8_t stage;		/* enum asm_stage: what .stage says */
	bool too_many;		/* items or labels; said once */
	bool no_memory;
};

void asm_build_init(struct asm_build *build, struct tsr_asm_shader *program, uint32_t flags,
		    struct asm_diags *diags);
void asm_build_fini(struct asm_build *build);

/* asm_label_find(): the number of a label, perhaps a new one; IR_NO_LABEL: too many. */
uint32_t asm_label_find(struct asm_build *build, const struct asm_token *name);

/* asm_label_define(): it stands before the next item. */
void asm_label_define(struct asm_build *build, const struct asm_token *name);

/* asm_item_add(): the next item, all zero; NULL when there are too many or memory is short. */
struct asm_item *asm_item_add(struct asm_build *build, struct asm_pos pos);

/* asm_link(): addresses, labels, hints, bytes: fills build->program. */
void asm_link(struct asm_build *build);

/* asm_parse(): text to items. */
void asm_parse(struct asm_build *build, const char *text, size_t size);

#endif /* ASM_PROGRAM_H */
