/* SPDX-License-Identifier: MIT */
#include "descriptor.h"

#include <pthread.h>
#include <stdlib.h>
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

/* A field whose value may be wrong. */
struct rule {
	uint8_t qword, shift;
	uint64_t mask, min, max;
	uint64_t zero;			/* bits of the value that its alignment wants to be 0 */
};

#define QWORDS_MAX 32
#define RULES_MAX 64

/* A structure's description, with what there is to be checked of it. */
static struct checks {
	uint32_t qwords, rules;
	uint64_t known[QWORDS_MAX];	/* bits of fields */
	struct rule rule[RULES_MAX];
} checks[TSR_DESCRIPTORS];
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static uint64_t field_mask(const struct tsr_desc_field *field)
{
	return UINT64_MAX >> (63 - field->hi + field->lo) << field->lo;
}

static void prepare_field(struct checks *c, const struct tsr_desc_field *field)
{
	/* addresses are not shifted: their bits stand where they stand in the address */
	unsigned int shift = field->type == TSR_DESC_VA ? 0 : field->lo;
	uint64_t mask = field_mask(field);

	c->known[field->qword] |= mask;
	if (!field->min && field->max >= mask >> shift && field->align <= 1)
		return;
	if (c->rules == RULES_MAX)
		abort();
	c->rule[c->rules++] = (struct rule){
		.qword = field->qword, .shift = shift, .mask = mask, .min = field->min,
		.max = field->max, .zero = field->align ? field->align - 1 : 0,
	};
}

static void prepare(void)
{
	for (unsigned int d = 0; d < TSR_DESCRIPTORS; d++) {
		const struct tsr_desc_struct *desc = tsr_desc_structs;

		while (strcmp(desc->name, names[d]))
			desc++;
		checks[d].qwords = desc->qwords;
		for (unsigned int i = 0; i < desc->num_fields; i++)
			prepare_field(&checks[d], &desc->fields[i]);
	}
}

static const struct checks *checks_of(enum tsr_descriptor which)
{
	pthread_once(&prepared, prepare);
	return &checks[which];
}

uint8_t tsr_descriptor_check(enum tsr_descriptor which, const uint64_t *word, unsigned int *qword)
{
	const struct checks *c = checks_of(which);

	for (*qword = 0; *qword < c->qwords; ++*qword) {
		if (word[*qword] & ~c->known[*qword])
			return TSR_FAULT_RESERVED_BITS;
	}
	for (const struct rule *r = c->rule; r < &c->rule[c->rules]; r++) {
		uint64_t value = (word[r->qword] & r->mask) >> r->shift;

		*qword = r->qword;
		if (value < r->min || value > r->max)
			return TSR_FAULT_BAD_VALUE;
		if (value & r->zero)
			return TSR_FAULT_ALIGNMENT;
	}
	return TSR_FAULT_NONE;
}

enum tsr_step tsr_descriptor_read(struct tsr_mem *mem, uint64_t va, enum tsr_descriptor which,
				  uint64_t *word)
{
	uint32_t qwords = checks_of(which)->qwords;
	enum tsr_step step = tsr_mem_read(mem, va, word, qwords * sizeof(*word));
	unsigned int qword;
	uint8_t code;

	if (step != TSR_STEP_DONE)
		return step;
	code = tsr_descriptor_check(which, word, &qword);
	return code ? tsr_mem_bad_packet(mem, va, qword, code) : TSR_STEP_DONE;
}
