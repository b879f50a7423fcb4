/* SPDX-License-Identifier: MIT */
#include "descriptor.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tsr_desc.h"
#include "tsr_regs.h"

static const char *const names[TSR_DESCRIPTORS] = {
	[TSR_DESCRIPTOR_FRAME] = "FRAME",
	[TSR_DESCRIPTOR_SHADER_STATE] = "SHADER_STATE",
	[TSR_DESCRIPTOR_DRAW_STATE] = "DRAW_STATE",
	[TSR_DESCRIPTOR_VIEWPORT] = "VIEWPORT",
	[TSR_DESCRIPTOR_RENDER_TARGET] = "RENDER_TARGET",
	[TSR_DESCRIPTOR_BLEND] = "BLEND",
	[TSR_DESCRIPTOR_SHADER_PROGRAM] = "SHADER_PROGRAM",
	[TSR_DESCRIPTOR_COMPUTE_STATE] = "COMPUTE_STATE",
	[TSR_DESCRIPTOR_STAGE_HEADER] = "STAGE_HEADER",
	[TSR_DESCRIPTOR_GEOMETRY_STATE] = "GEOMETRY_STATE",
	[TSR_DESCRIPTOR_STREAM_ENTRY] = "STREAM_ENTRY",
	[TSR_DESCRIPTOR_STREAM_TARGET] = "STREAM_TARGET",
	[TSR_DESCRIPTOR_TAGGED_SURFACE] = "TAGGED_SURFACE",
};

/* A field whose value may be wrong. */
struct rule {
	uint8_t qword, shift;
	uint64_t mask, min, max;
	uint64_t zero;			/* bits of the value that its alignment wants to be 0 */
};

#define QWORDS_MAX 32
#define RULES_MAX 64

/* A range of values that bits do not tell. */
struct range {
	uint8_t qword, shift;
	uint64_t mask, min, span;	/* of the value; from @min on */
};

/* The checks of a structure, made from its description. */
static struct checks {
	uint32_t qwords, rules, ranges;
	uint64_t known[QWORDS_MAX];	/* bits of fields */
	struct rule rule[RULES_MAX];
	/* All rules as bits that must be 0, and ranges, for a quick test of the whole structure. */
	uint64_t zero[QWORDS_MAX];
	struct range range[RULES_MAX];
} checks[TSR_DESCRIPTORS];
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static uint64_t field_mask(const struct tsr_desc_field *field)
{
	return UINT64_MAX >> (63 - field->hi + field->lo) << field->lo;
}

/* Turns @rule into bits that must be 0, as far as bits can express it. */
static void prepare_quick(struct checks *c, const struct rule *rule)
{
	uint64_t most = rule->mask >> rule->shift;

	most = rule->max < most ? rule->max : most;
	c->zero[rule->qword] |= rule->zero << rule->shift & rule->mask;
	if (!rule->min && !(most & (most + 1)))
		c->zero[rule->qword] |= rule->mask & ~(most << rule->shift);
	else
		c->range[c->ranges++] = (struct range){
			.qword = rule->qword, .shift = rule->shift, .mask = rule->mask,
			.min = rule->min, .span = most - rule->min,
		};
}

static void prepare_field(struct checks *c, const struct tsr_desc_field *field)
{
	/* addresses are not shifted: their bits stand where they stand in the address */
	unsigned int shift = field->type == TSR_DESC_VA ? 0 : field->lo;
	uint64_t mask = field_mask(field);

	c->known[field->qword] |= mask;
	c->zero[field->qword] &= ~mask;
	if (!field->min && field->max >= mask >> shift && field->align <= 1)
		return;
	if (c->rules == RULES_MAX)
		abort();
	c->rule[c->rules++] = (struct rule){
		.qword = field->qword, .shift = shift, .mask = mask, .min = field->min,
		.max = field->max, .zero = field->align ? field->align - 1 : 0,
	};
	prepare_quick(c, &c->rule[c->rules - 1]);
}

static void prepare(void)
{
	for (unsigned int d = 0; d < TSR_DESCRIPTORS; d++) {
		const struct tsr_desc_struct *desc = tsr_desc_structs;

		while (strcmp(desc->name, names[d]))
			desc++;
		checks[d].qwords = desc->qwords;
		memset(checks[d].zero, 0xff, sizeof(checks[d].zero));
		for (unsigned int i = 0; i < desc->num_fields; i++)
			prepare_field(&checks[d], &desc->fields[i]);
	}
}

static const struct checks *checks_of(enum tsr_descriptor which)
{
	pthread_once(&prepared, prepare);
	return &checks[which];
}

/* True if no rule is broken. */
static bool is_good(const struct checks *c, const uint64_t *word)
{
	uint64_t wrong = 0;

	for (unsigned int i = 0; i < c->qwords; i++)
		wrong |= word[i] & c->zero[i];
	for (const struct range *r = c->range; r < &c->range[c->ranges]; r++)
		wrong |= ((word[r->qword] & r->mask) >> r->shift) - r->min > r->span;
	return !wrong;
}

uint8_t tsr_descriptor_check(enum tsr_descriptor which, const uint64_t *word, unsigned int *qword)
{
	const struct checks *c = checks_of(which);

	if (is_good(c, word))
		return TSR_FAULT_NONE;
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

enum tsr_step tsr_descriptor_read_copy(struct tsr_mem *mem, uint64_t va, uint64_t at,
				       enum tsr_descriptor which, uint64_t *word)
{
	uint32_t qwords = checks_of(which)->qwords;
	enum tsr_step step = tsr_mem_read(mem, at, word, qwords * sizeof(*word));
	unsigned int qword;
	uint8_t code;

	if (step != TSR_STEP_DONE)
		return step;
	code = tsr_descriptor_check(which, word, &qword);
	return code ? tsr_mem_bad_packet(mem, va, qword, code) : TSR_STEP_DONE;
}
