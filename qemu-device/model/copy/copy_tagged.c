/* SPDX-License-Identifier: MIT */
/* Surfaces with tags: their description, and single texels of them. */
#include "copy.h"
#include "memory/descriptor.h"

/* Translations that one texel with tags may take: its tag, eleven words, or a block to expand. */
#define TRANSLATIONS TSR_SPANS_HELD

static enum tsr_step bad(struct tsr_copy *c, uint64_t va, unsigned int qword, uint8_t code)
{
	return tsr_mem_bad_packet(c->mem, va, qword, code);
}

enum tsr_step tsr_copy_find_tags(struct tsr_copy *c, uint64_t pc, unsigned int qword,
				 struct tsr_copy_surface *s, struct tsr_tagged *t)
{
	uint64_t word[TSR_TAGGED_SURFACE__QWORDS], va = s->base;
	struct tsr_tagged_surface d;
	enum tsr_step step;

	if (va % 64)
		return bad(c, pc, qword, TSR_FAULT_ALIGNMENT);
	step = tsr_descriptor_read(c->mem, va, TSR_DESCRIPTOR_TAGGED_SURFACE, word);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_tagged_surface(word, &d);
	if (s->tiled && d.pointer % TSR_TILED_ALIGN)
		return bad(c, va, TSR_TAGGED_SURFACE_POINTER__QWORD, TSR_FAULT_ALIGNMENT);
	if (s->x + c->width > d.width + 1ull || s->y + c->height > d.height + 1ull)
		return bad(c, va, TSR_TAGGED_SURFACE_WIDTH__QWORD, TSR_FAULT_BAD_VALUE);
	if (d.first && s == &c->dst)
		return bad(c, va, TSR_TAGGED_SURFACE_FIRST__QWORD, TSR_FAULT_BAD_VALUE);
	*t = (struct tsr_tagged){
		.base = d.pointer, .first = d.first, .tags = d.tags, .row_stride = s->pitch,
		.width = d.width + 1, .height = d.height + 1, .bytes = c->texel,
		.tiled = s->tiled, .samples = d.first != 0,
	};
	s->base = d.pointer;
	s->tagged = t;
	return tsr_tag_state_read(c->mem, d.state, &t->meaning);
}

enum tsr_step tsr_copy_read_tagged(struct tsr_copy *c, uint64_t x, uint64_t y, uint8_t *texel)
{
	const uint32_t at_x = (uint32_t)(c->src.x + x), at_y = (uint32_t)(c->src.y + y);
	struct tsr_tag_last *last = &c->last[0];

	/* a texel in memory may lie in two pages */
	c->translations += tsr_tagged_known(c->src.tagged, at_x, at_y, last) &&
			   last->tag != TSR_TARGET_TAG_PLANES ? 2 : TRANSLATIONS;
	return tsr_tagged_read(c->mem, c->src.tagged, at_x, at_y, last, texel);
}

enum tsr_step tsr_copy_open_tagged(struct tsr_copy *c, uint64_t x, uint64_t y)
{
	const uint32_t at_x = (uint32_t)(c->dst.x + x), at_y = (uint32_t)(c->dst.y + y);
	struct tsr_tag_last *last = &c->last[1];

	if (tsr_tagged_known(c->dst.tagged, at_x, at_y, last))
		return TSR_STEP_DONE;
	c->translations += TRANSLATIONS;
	c->writes += TRANSLATIONS;
	return tsr_tagged_expand(c->mem, c->dst.tagged, at_x, at_y, last);
}
