// SPDX-License-Identifier: MIT
/* Items and labels of a program, and its code, see asm_program.h. */
#include <stdlib.h>
#include <string.h>

#include "asm_program.h"

void asm_build_init(struct asm_build *build, struct tsr_asm_shader *program, uint32_t flags,
		    struct asm_diags *diags)
{
	*build = (struct asm_build){
		.program = program, .flags = flags, .diags = diags, .entry_label = IR_NO_LABEL,
	};
	memset(build->bucket, 0xff, sizeof(build->bucket));
}

void asm_build_fini(struct asm_build *build)
{
	free(build->items);
	free(build->labels);
}

/* Room for one more element; false when memory is short. */
static bool grow(struct asm_build *build, void **array, uint32_t num, uint32_t *room, size_t size)
{
	uint32_t more = *room ? *room * 2 : 16;
	void *bigger;

	if (num < *room)
		return true;
	bigger = realloc(*array, more * size);
	if (!bigger) {
		build->no_memory = true;
		return false;
	}
	*array = bigger;
	*room = more;
	return true;
}

/* -- labels ---------------------------------------------------------------------------------- */

/* FNV-1a. */
static uint32_t hash(const char *text, size_t length)
{
	uint32_t h = 2166136261u;
	size_t i;

	for (i = 0; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	return h % ASM_LABEL_BUCKETS;
}

uint32_t asm_label_find(struct asm_build *build, const struct asm_token *name)
{
	uint32_t bucket = hash(name->text, name->length), i;
	struct asm_label *label;

	for (i = build->bucket[bucket]; i != IR_NO_LABEL; i = build->labels[i].next) {
		label = &build->labels[i];
		if (label->length == name->length &&
		    !memcmp(label->name, name->text, name->length))
			return i;
	}
	if (build->num_labels == TSR_ASM_ITEMS_MAX) {
		if (!build->too_many)
			asm_error(build->diags, name->pos, "more than %u labels",
				  TSR_ASM_ITEMS_MAX);
		build->too_many = true;
		return IR_NO_LABEL;
	}
	if (!grow(build, (void **)&build->labels, build->num_labels, &build->label_room,
		  sizeof(*build->labels)))
		return IR_NO_LABEL;
	label = &build->labels[build->num_labels];
	*label = (struct asm_label){
		.name = name->text, .length = name->length, .pos = name->pos,
		.next = build->bucket[bucket],
	};
	build->bucket[bucket] = build->num_labels;
	return build->num_labels++;
}

void asm_label_define(struct asm_build *build, const struct asm_token *name)
{
	uint32_t i = asm_label_find(build, name);
	struct asm_label *label;

	if (i == IR_NO_LABEL)
		return;
	label = &build->labels[i];
	if (label->defined) {
		asm_error(build->diags, name->pos, "%.*s is defined in line %u already",
			  label->length > 60 ? 60 : (int)label->length, label->name,
			  label->pos.line);
		return;
	}
	label->defined = true;
	label->item = build->num_items;
	label->pos = name->pos;
}

/* -- items ----------------------------------------------------------------------------------- */

struct asm_item *asm_item_add(struct asm_build *build, struct asm_pos pos)
{
	struct asm_item *item;
	unsigned int i;

	if (build->num_items == TSR_ASM_ITEMS_MAX) {
		if (!build->too_many)
			asm_error(build->diags, pos, "more than %u clauses and lines of data",
				  TSR_ASM_ITEMS_MAX);
		build->too_many = true;
		return NULL;
	}
	if (!grow(build, (void **)&build->items, build->num_items, &build->item_room,
		  sizeof(*build->items)))
		return NULL;
	item = &build->items[build->num_items++];
	memset(item, 0, sizeof(*item));
	item->pos = pos;
	for (i = 0; i < TSR_CLAUSE_CONSTS_MAX; i++)
		item->label[i] = IR_NO_LABEL;
	return item;
}

/* -- code ------------------------------------------------------------------------------------ */

/* Sizes and addresses; false when there is too much code, or bytes before other code. */
static bool lay_out(struct asm_build *build)
{
	uint8_t code[TSR_CLAUSE_BYTES_MAX];
	uint64_t offset = 0;
	uint32_t i;

	for (i = 0; i < build->num_items; i++) {
		struct asm_item *item = &build->items[i];
		uint64_t size = (uint64_t)item->length * item->repeat;
		size_t length = 0;

		if (offset % TSR_QUAD_BYTES) {
			asm_error(build->diags, item->pos,
				  "code behind .byte, expected it at the end of the text");
			return false;
		}
		if (item->is_clause && !tsr_clause_pack(&item->clause, code, &length))
			size = length;
		item->offset = (uint32_t)offset;
		item->size = (uint32_t)size;
		offset += size;
		if (offset > TSR_ASM_CODE_MAX) {
			asm_error(build->diags, item->pos, "more than %u bytes of code",
				  TSR_ASM_CODE_MAX);
			return false;
		}
	}
	build->code_size = offset;
	return true;
}

static bool find_label(struct asm_build *build, uint32_t number, struct asm_pos pos,
		       uint32_t *offset)
{
	const struct asm_label *label = &build->labels[number];

	if (!label->defined) {
		asm_error(build->diags, pos, "no label %.*s",
			  label->length > 60 ? 60 : (int)label->length, label->name);
		return false;
	}
	*offset = label->item < build->num_items ? build->items[label->item].offset :
						   (uint32_t)build->code_size;
	return true;
}

static void link_clause(struct asm_build *build, struct asm_item *item, const struct asm_item *next)
{
	unsigned int i;

	if (!item->next_given)
		item->clause.next_message = next && next->is_clause ? next->clause.message :
								      TSR_MESSAGE_NONE;
	for (i = 0; i < TSR_CLAUSE_CONSTS_MAX; i++) {
		uint32_t target, label = item->label[i];
		int64_t distance;

		if (label == IR_NO_LABEL)
			continue;
		if (!find_label(build, label, build->labels[label].pos, &target))
			continue;
		distance = (int64_t)target - (int64_t)item->offset;
		if (distance > ASM_DISTANCE_MAX || distance < -ASM_DISTANCE_MAX)
			asm_error(build->diags, item->pos, "a label %lld bytes away, expected at "
				  "most %d", (long long)distance, ASM_DISTANCE_MAX);
		asm_clause_link(&item->clause, i, distance);
	}
}

static void write_code(struct asm_build *build, uint8_t *code)
{
	uint32_t i, r;

	for (i = 0; i < build->num_items; i++) {
		struct asm_item *item = &build->items[i];
		uint8_t packed[TSR_CLAUSE_BYTES_MAX];
		size_t length;

		if (item->is_clause) {
			if (tsr_clause_pack(&item->clause, packed, &length) ||
			    length != item->size)
				asm_error(build->diags, item->pos, "this clause does not pack");
			else
				memcpy(code + item->offset, packed, length);
			continue;
		}
		for (r = 0; r < item->repeat; r++)
			memcpy(code + item->offset + r * item->length, item->quad, item->length);
	}
}

/* Labels and clauses for those who run or debug the program. */
static bool write_tables(struct asm_build *build)
{
	struct tsr_asm_shader *program = build->program;
	uint32_t i;

	program->symbols = calloc(build->num_labels + 1u, sizeof(*program->symbols));
	program->clauses = calloc(build->num_items + 1u, sizeof(*program->clauses));
	if (!program->symbols || !program->clauses)
		return false;
	for (i = 0; i < build->num_labels; i++) {
		const struct asm_label *label = &build->labels[i];
		struct tsr_asm_symbol *symbol = &program->symbols[program->num_symbols];

		if (!label->defined)
			continue;
		symbol->name = strndup(label->name, label->length);
		if (!symbol->name)
			return false;
		find_label(build, i, label->pos, &symbol->offset);
		program->num_symbols++;
	}
	for (i = 0; i < build->num_items; i++) {
		const struct asm_item *item = &build->items[i];
		struct tsr_asm_clause *clause = &program->clauses[program->num_clauses];

		if (!item->is_clause)
			continue;
		clause->offset = item->offset;
		clause->size = item->size;
		clause->line = item->pos.line;
		clause->tuples = item->clause.tuples;
		memcpy(clause->tuple_line, item->tuple_line, sizeof(clause->tuple_line));
		program->num_clauses++;
	}
	return true;
}

/* The words a writer forgets most. */
static void warn(struct asm_build *build)
{
	const struct asm_item *last = build->num_items ? &build->items[build->num_items - 1] : NULL;
	const struct tsr_clause *clause;
	struct tsr_insn add;

	if (!last || !last->is_clause || !last->clause.tuples)
		return;
	clause = &last->clause;
	if (clause->flow == TSR_FLOW_END)
		return;
	if (tsr_insn_decode(TSR_ISA_ADD, clause->tuple[clause->tuples - 1].add, &add) &&
	    tsr_ops[add.op].last && !tsr_insn_message(&add))
		return;
	asm_warning(build->diags, last->pos,
		    "the last clause goes on behind the end of the code, expected \"clause end\"");
}

/* Registers that only programs with 64 have. */
#define UPPER_REGISTERS 0x0000ffffffff0000ULL

static void check_registers(struct asm_build *build)
{
	uint64_t upper = build->registers & UPPER_REGISTERS;

	build->program->registers = build->registers;
	if (upper)
		build->program->registers_64 = true;
	if (upper && build->registers_32)
		asm_error(build->diags, build->registers_pos,
			  "32 registers, but the text uses r%d, expected 64",
			  __builtin_ctzll(upper));
}

void asm_link(struct asm_build *build)
{
	struct tsr_asm_shader *program = build->program;
	uint32_t i;

	if (build->diags->errors || !lay_out(build))
		return;
	for (i = 0; i < build->num_items; i++) {
		const struct asm_item *next = NULL;

		if (i + 1 < build->num_items)
			next = &build->items[i + 1];
		if (build->items[i].is_clause)
			link_clause(build, &build->items[i], next);
	}
	if (build->entry_label != IR_NO_LABEL)
		find_label(build, build->entry_label, build->entry_pos, &program->entry);
	check_registers(build);
	warn(build);
	program->code = calloc(1, build->code_size + 1);
	if (!program->code || !write_tables(build)) {
		build->no_memory = true;
		return;
	}
	write_code(build, program->code);
	program->size = build->code_size;
}
