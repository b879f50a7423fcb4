/* SPDX-License-Identifier: MIT */
#include "descriptor.h"

#include <string.h>

#include "gpu.h"

static const char *const names[TSR_DESCRIPTORS] = {
	[TSR_DESCRIPTOR_FRAME] = "FRAME",
	[TSR_DESCRIPTOR_SHADER_STATE] = "SHADER_STATE",
	[TSR_DESCRIPTOR_DRAW_STATE] = "DRAW_STATE",
	[TSR_DESCRIPTOR_VIEWPORT] = "VIEWPORT",
	[TSR_DESCRIPTOR_RENDER_TARGET] = "RENDER_TARGET",
	[TSR_DESCRIPTOR_BLEND] = "BLEND",
	[TSR_DESCRIPTOR_SHADER_PROGRAM] = "SHADER_PROGRAM",
	[TSR_DESCRIPTOR_COMPUTE_STATE] = "COMPUTE_STATE",
};

/* Found once; which thread does is all the same. */
static const struct tsr_desc_struct *_Atomic found[TSR_DESCRIPTORS];

static const struct tsr_desc_struct *description(enum tsr_descriptor which)
{
	const struct tsr_desc_struct *desc =
		atomic_load_explicit(&found[which], memory_order_relaxed);

	for (unsigned int i = 0; !desc && i < tsr_desc_num_structs; i++) {
		if (!strcmp(tsr_desc_structs[i].name, names[which]))
			desc = &tsr_desc_structs[i];
	}
	atomic_store_explicit(&found[which], desc, memory_order_relaxed);
	return desc;
}

static uint64_t field_mask(const struct tsr_desc_field *field)
{
	return UINT64_MAX >> (63 - field->hi + field->lo) << field->lo;
}

/* Addresses are not shifted: their bits stand where they stand in the address. */
static uint64_t field_value(const struct tsr_desc_field *field, uint64_t word)
{
	unsigned int shift = field->type == TSR_DESC_VA ? 0 : field->lo;

	return (word & field_mask(field)) >> shift;
}

uint8_t tsr_descriptor_check(enum tsr_descriptor which, const uint64_t *word, unsigned int *qword)
{
	const struct tsr_desc_struct *desc = description(which);
	uint64_t known[32] = { 0 };

	for (unsigned int i = 0; i < desc->num_fields; i++)
		known[desc->fields[i].qword] |= field_mask(&desc->fields[i]);
	for (*qword = 0; *qword < desc->qwords; ++*qword) {
		if (word[*qword] & ~known[*qword])
			return TSR_FAULT_RESERVED_BITS;
	}
	for (unsigned int i = 0; i < desc->num_fields; i++) {
		const struct tsr_desc_field *field = &desc->fields[i];
		uint64_t value = field_value(field, word[field->qword]);

		*qword = field->qword;
		if (value < field->min || value > field->max)
			return TSR_FAULT_BAD_VALUE;
		if (field->align > 1 && value % field->align)
			return TSR_FAULT_ALIGNMENT;
	}
	return TSR_FAULT_NONE;
}

enum tsr_step tsr_descriptor_read(struct tsr_mem *mem, uint64_t va, enum tsr_descriptor which,
				  uint64_t *word)
{
	const struct tsr_desc_struct *desc = description(which);
	enum tsr_step step = tsr_mem_read(mem, va, word, desc->qwords * sizeof(*word));
	unsigned int qword;
	uint8_t code;

	if (step != TSR_STEP_DONE)
		return step;
	code = tsr_descriptor_check(which, word, &qword);
	return code ? tsr_mem_bad_packet(mem, va, qword, code) : TSR_STEP_DONE;
}
