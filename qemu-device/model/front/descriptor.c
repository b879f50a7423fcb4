/* SPDX-License-Identifier: MIT */
#include "descriptor.h"

#include <string.h>

#include "../gpu.h"

static const char *const names[TSR_DESCRIPTORS] = {
	[TSR_DESCRIPTOR_FRAME] = "FRAME",
	[TSR_DESCRIPTOR_SHADER_STATE] = "SHADER_STATE",
	[TSR_DESCRIPTOR_DRAW_STATE] = "DRAW_STATE",
	[TSR_DESCRIPTOR_VIEWPORT] = "VIEWPORT",
	[TSR_DESCRIPTOR_RENDER_TARGET] = "RENDER_TARGET",
	[TSR_DESCRIPTOR_BLEND] = "BLEND",
	[TSR_DESCRIPTOR_SHADER_PROGRAM] = "SHADER_PROGRAM",
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

static enum tsr_step check(struct tsr_mem *mem, uint64_t va, const struct tsr_desc_struct *desc,
			   const uint64_t *word)
{
	uint64_t known[32] = { 0 };

	for (unsigned int i = 0; i < desc->num_fields; i++)
		known[desc->fields[i].qword] |= field_mask(&desc->fields[i]);
	for (unsigned int i = 0; i < desc->qwords; i++) {
		if (word[i] & ~known[i])
			return tsr_mem_bad_packet(mem, va, i, TSR_FAULT_RESERVED_BITS);
	}
	for (unsigned int i = 0; i < desc->num_fields; i++) {
		const struct tsr_desc_field *field = &desc->fields[i];
		uint64_t value = field_value(field, word[field->qword]);

		if (value < field->min || value > field->max)
			return tsr_mem_bad_packet(mem, va, field->qword, TSR_FAULT_BAD_VALUE);
		if (field->align > 1 && value % field->align)
			return tsr_mem_bad_packet(mem, va, field->qword, TSR_FAULT_ALIGNMENT);
	}
	return TSR_STEP_DONE;
}

enum tsr_step tsr_front_read(struct tsr_mem *mem, uint64_t va, void *to, uint64_t len)
{
	uint8_t *out = to;

	while (len) {
		struct tsr_span span;
		enum tsr_step step = tsr_mem_map(mem, va, len, TSR_ACCESS_READ, &span);

		if (step != TSR_STEP_DONE)
			return step;
		if (span.ptr)
			memcpy(out, span.ptr, span.len);
		else
			memset(out, 0, span.len);
		va += span.len;
		out += span.len;
		len -= span.len;
	}
	return TSR_STEP_DONE;
}

enum tsr_step tsr_front_write(struct tsr_mem *mem, uint64_t va, const void *from, uint64_t len)
{
	const uint8_t *in = from;
	struct tsr_span span;

	/* Two pages at most, unless the host has them in smaller pieces. */
	for (uint64_t at = 0; at < len; at += span.len) {
		enum tsr_step step = tsr_mem_map(mem, va + at, len - at, TSR_ACCESS_WRITE, &span);

		if (step != TSR_STEP_DONE)
			return step;
		if (span.ptr)
			memcpy(span.ptr, in + at, span.len);
	}
	return TSR_STEP_DONE;
}

enum tsr_step tsr_descriptor_read(struct tsr_mem *mem, uint64_t va, enum tsr_descriptor which,
				  uint64_t *word)
{
	const struct tsr_desc_struct *desc = description(which);
	enum tsr_step step = tsr_front_read(mem, va, word, desc->qwords * sizeof(*word));

	return step == TSR_STEP_DONE ? check(mem, va, desc, word) : step;
}
