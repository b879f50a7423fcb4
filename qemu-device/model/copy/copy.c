/* SPDX-License-Identifier: MIT */
/*
 * The COPY engine: one step of one command, and the checks of its packet.
 *
 * The checks are made before every step, in the order of the qwords. They cost little, and a state
 * from a snapshot cannot avoid them.
 */
#include "copy.h"

/* The first error of a packet: fault @code in qword @qword. */
struct verdict {
	uint8_t code;			/* TSR_FAULT_NONE if the packet is correct */
	unsigned int qword;
};

static const struct verdict fine = { TSR_FAULT_NONE, 0 };

static struct verdict verdict(uint8_t code, unsigned int qword)
{
	return (struct verdict){ code, qword };
}

/* Pattern bytes at and beyond TEXEL must be zero. @lo is qword @qword, @hi the one after it. */
static struct verdict check_pattern(unsigned int texel, uint64_t lo, uint64_t hi,
				    unsigned int qword)
{
	if (texel < 8 && lo >> 8 * texel)
		return verdict(TSR_FAULT_BAD_VALUE, qword);
	if (texel <= 8 ? hi != 0 : texel < 16 && hi >> 8 * (texel - 8))
		return verdict(TSR_FAULT_BAD_VALUE, qword + 1);
	return fine;
}

static bool bad_texel(uint32_t texel)
{
	return !texel || texel > TSR_TEXEL_MAX;
}

static bool bad_base(bool tiled, uint64_t base)
{
	return tiled && base % TSR_TILED_ALIGN;
}

static bool bad_pitch(bool tiled, uint32_t texel, uint32_t pitch)
{
	return tiled && pitch % (TSR_TILE_TEXELS * texel);
}

static struct verdict check_copy_rect(const struct tsr_copy_rect *r)
{
	if (bad_texel(r->texel))
		return verdict(TSR_FAULT_BAD_VALUE, 0);
	if (!r->src_tagged && bad_base(r->src_layout, r->src))
		return verdict(TSR_FAULT_ALIGNMENT, 1);
	if (!r->dst_tagged && bad_base(r->dst_layout, r->dst))
		return verdict(TSR_FAULT_ALIGNMENT, 2);
	if (bad_pitch(r->src_layout, r->texel, r->src_pitch) ||
	    bad_pitch(r->dst_layout, r->texel, r->dst_pitch))
		return verdict(TSR_FAULT_ALIGNMENT, 3);
	if (r->width > TSR_RECT_MAX || r->height > TSR_RECT_MAX)
		return verdict(TSR_FAULT_BAD_VALUE, 5);
	return fine;
}

static struct verdict check_fill_rect(const struct tsr_fill_rect *r)
{
	if (bad_texel(r->texel))
		return verdict(TSR_FAULT_BAD_VALUE, 0);
	if (!r->tagged && bad_base(r->layout, r->dst))
		return verdict(TSR_FAULT_ALIGNMENT, 1);
	if (bad_pitch(r->layout, r->texel, r->pitch))
		return verdict(TSR_FAULT_ALIGNMENT, 2);
	if (r->width > TSR_RECT_MAX || r->height > TSR_RECT_MAX)
		return verdict(TSR_FAULT_BAD_VALUE, 3);
	return check_pattern(r->texel, r->pattern_lo, r->pattern_hi, 4);
}

static struct verdict check_fill_linear(const struct tsr_fill_linear *f)
{
	if (bad_texel(f->texel))
		return verdict(TSR_FAULT_BAD_VALUE, 0);
	if (f->size % f->texel)
		return verdict(TSR_FAULT_ALIGNMENT, 2);
	return check_pattern(f->texel, f->pattern_lo, f->pattern_hi, 3);
}

static enum tsr_step copy_rect(struct tsr_copy *c, uint64_t pc, const uint64_t *cmd, uint64_t *done)
{
	enum tsr_step step = TSR_STEP_DONE;
	struct tsr_copy_scratch scratch;
	struct tsr_copy_rect r;
	struct verdict v;

	tsr_unpack_copy_rect(cmd, &r);
	v = check_copy_rect(&r);
	if (v.code)
		return tsr_mem_bad_packet(c->mem, pc, v.qword, v.code);
	if (!r.width || !r.height)
		return TSR_STEP_DONE;
	c->src = (struct tsr_copy_surface){ r.src, r.src_pitch, r.src_layout == TSR_LAYOUT_TILED,
					    r.src_x, r.src_y, NULL };
	c->dst = (struct tsr_copy_surface){ r.dst, r.dst_pitch, r.dst_layout == TSR_LAYOUT_TILED,
					    r.dst_x, r.dst_y, NULL };
	c->texel = r.texel;
	c->width = r.width;
	c->height = r.height;
	c->flip_x = r.flip_x;
	c->flip_y = r.flip_y;
	if (r.src_tagged)
		step = tsr_copy_find_tags(c, pc, 1, &c->src, &c->tagged[0]);
	if (r.dst_tagged && step == TSR_STEP_DONE)
		step = tsr_copy_find_tags(c, pc, 2, &c->dst, &c->tagged[1]);
	if (step != TSR_STEP_DONE)
		return step;
	c->ops = tsr_tile_ops(r.texel);
	c->scratch = &scratch;
	return tsr_copy_rect(c, done);
}

static enum tsr_step fill_rect(struct tsr_copy *c, uint64_t pc, const uint64_t *cmd, uint64_t *done)
{
	enum tsr_step step = TSR_STEP_DONE;
	struct tsr_copy_scratch scratch;
	struct tsr_copy_pattern pattern;
	struct tsr_fill_rect r;
	struct verdict v;

	tsr_unpack_fill_rect(cmd, &r);
	v = check_fill_rect(&r);
	if (v.code)
		return tsr_mem_bad_packet(c->mem, pc, v.qword, v.code);
	if (!r.width || !r.height)
		return TSR_STEP_DONE;
	tsr_copy_pattern_init(&pattern, r.texel, r.pattern_lo, r.pattern_hi);
	c->pattern = &pattern;
	c->dst = (struct tsr_copy_surface){ r.dst, r.pitch, r.layout == TSR_LAYOUT_TILED,
					    r.x, r.y, NULL };
	c->texel = r.texel;
	c->width = r.width;
	c->height = r.height;
	if (r.tagged)
		step = tsr_copy_find_tags(c, pc, 1, &c->dst, &c->tagged[1]);
	if (step != TSR_STEP_DONE)
		return step;
	c->ops = tsr_tile_ops(r.texel);
	c->scratch = &scratch;
	return tsr_copy_rect(c, done);
}

static enum tsr_step copy_linear(struct tsr_copy *c, const uint64_t *cmd, uint64_t *done)
{
	struct tsr_copy_linear l;

	tsr_unpack_copy_linear(cmd, &l);
	return tsr_copy_linear(c, l.src, l.dst, l.size, done);
}

static enum tsr_step fill_linear(struct tsr_copy *c, uint64_t pc, const uint64_t *cmd,
				 uint64_t *done)
{
	struct tsr_copy_pattern pattern;
	struct tsr_fill_linear f;
	struct verdict v;

	tsr_unpack_fill_linear(cmd, &f);
	v = check_fill_linear(&f);
	if (v.code)
		return tsr_mem_bad_packet(c->mem, pc, v.qword, v.code);
	tsr_copy_pattern_init(&pattern, f.texel, f.pattern_lo, f.pattern_hi);
	c->pattern = &pattern;
	return tsr_copy_linear(c, 0, f.dst, f.size, done);
}

/*
 * 64-byte units completed between byte @from and byte @to of a command, and the one begun if it
 * @ends there.
 */
static uint64_t units(uint64_t from, uint64_t to, bool ends)
{
	return to / 64 - from / 64 + (ends && to % 64);
}

static enum tsr_step step(struct tsr_copy *c, uint64_t pc, const uint64_t *cmd, uint64_t *done)
{
	switch (tsr_packet_opcode(cmd[0])) {
	case TSR_OP_COPY_LINEAR:
		return copy_linear(c, cmd, done);
	case TSR_OP_COPY_RECT:
		return copy_rect(c, pc, cmd, done);
	case TSR_OP_FILL_LINEAR:
		return fill_linear(c, pc, cmd, done);
	case TSR_OP_FILL_RECT:
		return fill_rect(c, pc, cmd, done);
	default:
		return tsr_mem_bad_packet(c->mem, pc, 0, TSR_FAULT_UNSUPPORTED);
	}
}

bool tsr_copy_reads_done(const uint64_t *cmd, const struct tsr_engine_state *state)
{
	switch (tsr_packet_opcode(cmd[0])) {
	case TSR_OP_COPY_LINEAR:
	case TSR_OP_COPY_RECT:
		return state->word[TSR_COPY_HOLDS];
	case TSR_OP_FILL_LINEAR:
	case TSR_OP_FILL_RECT:
		return true;
	default:
		return false;
	}
}

enum tsr_step tsr_copy_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
			    struct tsr_engine_state *state, struct tsr_step_cost *cost)
{
	struct tsr_copy c = {
		.mem = mem, .cost = cost, .state = state, .budget = TSR_BURST_BYTES, .texel = 1,
	};
	uint64_t *done = &state->word[TSR_COPY_DONE], before = *done;
	enum tsr_step ret;
	bool ends;

	*cost = (struct tsr_step_cost){ 0, 0, 0 };
	ret = step(&c, pc, cmd, done);
	ends = ret == TSR_STEP_DONE || ret == TSR_STEP_FAULT;
	cost->cycles = units(before * c.texel, *done * c.texel, ends) * (c.pattern ? 1 : 2);
	return ret;
}
