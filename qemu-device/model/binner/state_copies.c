/* SPDX-License-Identifier: MIT */
/*
 * Copies of states, programs and push constants in the heap, see 3d.md.
 *
 * A copy is made before the first record of a draw, one part after the other. Nothing else takes
 * room in the heap meanwhile, and the copy is counted as used when it is complete. A step that ends
 * early therefore goes on at the byte that it reached.
 */
#include "bin.h"

#include <string.h>

#include "memory/descriptor.h"

/* Bytes moved at a time. */
#define CHUNK 4096

static uint32_t round_up(uint64_t bytes)
{
	return (uint32_t)((bytes + 15) & ~15ull);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void add_part(struct tsr_bin_copying *c, uint64_t from, uint32_t bytes)
{
	c->part[c->parts++] = (struct tsr_part_place){ from, c->bytes, bytes };
	c->bytes = round_up((uint64_t)c->bytes + bytes);
}

static void list_draw_state(struct tsr_bin_copying *c, uint64_t va, const struct tsr_draw_state *d)
{
	add_part(c, va, TSR_DRAW_STATE__QWORDS * 8);
	add_part(c, d->viewports, d->viewport_count * TSR_VIEWPORT__QWORDS * 8u);
	add_part(c, d->blends, d->blend_count * TSR_BLEND__QWORDS * 8u);
}

/* Read the program at @va. *@sound: RENDER will accept it, and it is in @p. */
static enum tsr_step read_program(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t va,
				  struct tsr_shader_program *p, bool *sound)
{
	uint64_t word[TSR_SHADER_PROGRAM__QWORDS];
	unsigned int qword;
	enum tsr_step step = tsr_bin_read(bin, mem, va, word, sizeof(word));

	*sound = step == TSR_STEP_DONE &&
		 !tsr_descriptor_check(TSR_DESCRIPTOR_SHADER_PROGRAM, word, &qword);
	if (*sound)
		tsr_unpack_shader_program(word, p);
	return step;
}

/* The parts of the program at @va. One that RENDER will not accept has no others than itself. */
static enum tsr_step list_program(struct tsr_binning *bin, struct tsr_mem *mem,
				  struct tsr_bin_copying *c, uint64_t va)
{
	struct tsr_shader_program p;
	bool sound;
	enum tsr_step step = read_program(bin, mem, va, &p, &sound);

	add_part(c, va, TSR_SHADER_PROGRAM__QWORDS * 8);
	if (!sound)
		return step;
	c->bytes = tsr_program_parts(&p, &c->part[c->parts]);
	c->parts += TSR_PARTS;
	return TSR_STEP_DONE;
}

/* As many push constants at @va as the program at @program has; none if that is not accepted. */
static enum tsr_step list_push(struct tsr_binning *bin, struct tsr_mem *mem,
			       struct tsr_bin_copying *c, uint64_t program, uint64_t va)
{
	struct tsr_shader_program p;
	bool sound;
	enum tsr_step step = read_program(bin, mem, program, &p, &sound);

	add_part(c, va, sound ? p.push_words * 4u : 0);
	return step;
}

/* ---- What a draw needs ----------------------------------------------------------------------- */

/* Where what copy @which is of lies; 0: the draw has none. */
static uint64_t original(const struct tsr_binning *bin, enum tsr_bin_copy which)
{
	const struct tsr_bin_version *v = bin->state;

	switch (which) {
	case TSR_BIN_COPY_SHADER:
		return tsr_bin_va(bin, v, TSR_BIN_SHADER_STATE);
	case TSR_BIN_COPY_DRAW:
		return tsr_bin_va(bin, v, TSR_BIN_DRAW_STATE);
	case TSR_BIN_COPY_VARYING:
		return v->shader->varying;
	case TSR_BIN_COPY_FRAGMENT:
		return v->shader->fragment;
	case TSR_BIN_COPY_VARYING_PUSH:
		return v->shader->varying ? v->vertex_push : 0;
	default:
		return v->shader->fragment ? v->fragment_push : 0;
	}
}

/*
 * Copies of the same address differ by their kind. Those of push constants differ by the program
 * that they are for, as programs may declare different numbers of them.
 */
static uint64_t key_of(const struct tsr_binning *bin, enum tsr_bin_copy which)
{
	switch (which) {
	case TSR_BIN_COPY_VARYING_PUSH:
		return bin->state->shader->varying;
	case TSR_BIN_COPY_FRAGMENT_PUSH:
		return bin->state->shader->fragment;
	case TSR_BIN_COPY_FRAGMENT:
		return TSR_BIN_COPY_VARYING;
	default:
		return which;
	}
}

/* Prepare @c, the copy @which of what lies at @va. */
static enum tsr_step list_parts(struct tsr_binning *bin, struct tsr_mem *mem,
				enum tsr_bin_copy which, uint64_t va, struct tsr_bin_copying *c)
{
	switch (which) {
	case TSR_BIN_COPY_SHADER:
		add_part(c, va, TSR_SHADER_STATE__QWORDS * 8);
		return TSR_STEP_DONE;
	case TSR_BIN_COPY_DRAW:
		list_draw_state(c, va, bin->state->draw);
		return TSR_STEP_DONE;
	case TSR_BIN_COPY_VARYING:
	case TSR_BIN_COPY_FRAGMENT:
		return list_program(bin, mem, c, va);
	default:
		return list_push(bin, mem, c, key_of(bin, which), va);
	}
}

/* ---- Copying --------------------------------------------------------------------------------- */

static enum tsr_step begin(struct tsr_binning *bin, struct tsr_mem *mem, enum tsr_bin_copy which,
			   uint64_t va)
{
	struct tsr_bin_copying c = { .base = round_up(bin->used) };
	enum tsr_step step = list_parts(bin, mem, which, va, &c);

	if (step == TSR_STEP_DONE)
		step = tsr_bin_heap_need(bin, mem, (uint64_t)c.base + c.bytes);
	if (step != TSR_STEP_DONE)
		return step;
	bin->copying = c;
	return TSR_STEP_DONE;
}

/* Move bytes of the copy that has begun. _MORE: the effort is used up. */
static enum tsr_step move(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_bin_copying *c = &bin->copying;
	uint8_t bytes[CHUNK];

	while (c->next < c->parts) {
		const struct tsr_part_place *p = &c->part[c->next];
		uint32_t n = p->bytes - c->at;
		enum tsr_step step;

		if (!n) {
			c->next++;
			c->at = 0;
			continue;
		}
		if (bin->effort < 0)
			return TSR_STEP_MORE;
		n = n < CHUNK ? n : CHUNK;
		step = tsr_bin_read(bin, mem, p->va + c->at, bytes, n);
		if (step == TSR_STEP_DONE)
			step = tsr_bin_write(bin, mem,
					     bin->info.frame.heap + c->base + p->offset + c->at,
					     bytes, n);
		if (step != TSR_STEP_DONE)
			return step;
		c->at += n;
	}
	return TSR_STEP_DONE;
}

/* Where the last copy of what lies at @va is noted, or that of something else. */
static struct tsr_bin_kept *place(struct tsr_binning *bin, uint64_t va)
{
	return &bin->kept[(va / 8 * 0x9e3779b97f4a7c15ull) >> 40 & (TSR_KEPT_COPIES - 1)];
}

static enum tsr_step copy(struct tsr_binning *bin, struct tsr_mem *mem, enum tsr_bin_copy which)
{
	const uint64_t va = original(bin, which), key = key_of(bin, which);
	struct tsr_bin_kept *kept = place(bin, va);
	enum tsr_step step = TSR_STEP_DONE;

	bin->copy[which] = 0;
	if (!va)
		return TSR_STEP_DONE;
	if (kept->copy && kept->va == va && kept->key == key) {
		bin->copy[which] = kept->copy;
		return TSR_STEP_DONE;
	}
	if (!bin->copying.parts)
		step = begin(bin, mem, which, va);
	if (step == TSR_STEP_DONE)
		step = move(bin, mem);
	if (step != TSR_STEP_DONE)
		return step;
	bin->used = bin->copying.base + bin->copying.bytes;
	bin->copy[which] = bin->copying.base;
	*kept = (struct tsr_bin_kept){ va, key, bin->copying.base };
	bin->copying.parts = 0;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_bin_copy_states(struct tsr_binning *bin, struct tsr_mem *mem)
{
	mem->unit = TSR_UNIT_BINNER;
	for (; bin->copied < TSR_BIN_COPIES; bin->copied++) {
		enum tsr_step step = copy(bin, mem, bin->copied);

		if (step != TSR_STEP_DONE)
			return step;
	}
	return TSR_STEP_DONE;
}

void tsr_bin_forget_copies(struct tsr_binning *bin)
{
	memset(bin->kept, 0, sizeof(bin->kept));
	bin->copying.parts = 0;
	bin->copied = 0;
}
