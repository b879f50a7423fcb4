/* SPDX-License-Identifier: MIT */
/*
 * Clearing and painting tiles. Of such a target (c->buffer.alike) the tile buffer has the first
 * row of the first sample, or the first depth, or the first stencil, and no more than that. The
 * first primitive that is drawn needs it whole: tsr_tile_complete() writes the rest then. A tile
 * without such primitives is stored as it is.
 */
#include <string.h>

#include "render.h"

/* Samples of a target in the tile buffer. */
static size_t samples_of(const struct tsr_tile *t)
{
	return (size_t)1 << (2 * t->shift + t->samples_log2);
}

/* Have the first @done bytes of @to again and again, up to @size bytes: twice as many each time. */
static void repeat(uint8_t *to, size_t done, size_t size)
{
	for (; done < size; done *= 2)
		memcpy(to + done, to, done * 2 < size ? done : size - done);
}

/* Notes for every block that it is cleared. */
static void know_clear(struct tsr_tile *t, bool depth, bool stencil)
{
	unsigned int blocks = 1u << 2 * (t->shift - TSR_BLOCK_SHIFT);

	for (unsigned int b = 0; b < blocks; b++) {
		struct tsr_block_bounds *bounds = &t->bounds[b];

		if (depth) {
			bounds->low = bounds->high = t->depth[0];
			bounds->stale = 0;
		}
		if (stencil) {
			bounds->stencil = t->stencil[0];
			bounds->uniform = true;
			bounds->stencil_stale = false;
		}
	}
	if (depth)
		t->z_direction = 0;
}

/* Cycles of clearing a target of @bytes in the tile buffer. */
static uint64_t cycles_of(const struct tsr_tile *t, unsigned int bytes)
{
	return (bytes * samples_of(t) + 63) / 64;
}

static void clear(struct tsr_tile_core *c, unsigned int which, bool zero)
{
	static const uint8_t none[TSR_TEXEL_BYTES_MAX];
	const struct tsr_rendering *r = c->render;
	struct tsr_tile *t = &c->buffer.tile;
	bool depth = which & TSR_TILE_DEPTH_BIT && t->has_depth;
	bool stencil = which & TSR_TILE_STENCIL_BIT && t->has_stencil;

	for (unsigned int rt = 0; rt < t->targets; rt++) {
		if (!(which >> rt & 1))
			continue;
		memcpy(t->color[rt].data, zero ? none : r->clear[rt], t->format[rt].bytes);
		repeat(t->color[rt].data, t->format[rt].bytes, t->color[rt].pitch);
		c->stats.cycles += cycles_of(t, t->format[rt].bytes);
	}
	if (depth) {
		t->depth[0] = zero ? 0 : r->depth_clear;
		c->stats.cycles += cycles_of(t, sizeof(t->depth[0]));
	}
	if (stencil) {
		t->stencil[0] = zero ? 0 : r->stencil_clear;
		c->stats.cycles += cycles_of(t, sizeof(t->stencil[0]));
	}
	c->buffer.defined |= which;
	c->buffer.unread &= ~which;
	c->buffer.partial &= ~which;
	c->buffer.absent = c->buffer.partial ? c->buffer.absent : 0;
	c->buffer.alike |= which;
}

void tsr_tile_paint(struct tsr_tile_core *c, unsigned int rt, const uint8_t *texel)
{
	const struct tsr_tile *t = &c->buffer.tile;
	const unsigned int bit = 1u << rt;

	memcpy(t->color[rt].data, texel, t->format[rt].bytes);
	repeat(t->color[rt].data, t->format[rt].bytes, t->color[rt].pitch);
	c->buffer.defined |= bit;
	c->buffer.partial &= ~bit;
	c->buffer.absent = c->buffer.partial ? c->buffer.absent : 0;
	c->buffer.alike |= bit;
}

void tsr_tile_clear(struct tsr_tile_core *c, unsigned int which)
{
	clear(c, which, false);
}

void tsr_tile_define(struct tsr_tile_core *c)
{
	unsigned int all = (1u << c->buffer.tile.targets) - 1;

	all |= (c->buffer.tile.has_depth ? TSR_TILE_DEPTH_BIT : 0) |
	       (c->buffer.tile.has_stencil ? TSR_TILE_STENCIL_BIT : 0);
	if (all & ~c->buffer.defined)
		clear(c, all & ~c->buffer.defined, true);
}

void tsr_tile_complete(struct tsr_tile_core *c, unsigned int which)
{
	struct tsr_tile *t = &c->buffer.tile;
	const size_t samples = samples_of(t);
	bool depth, stencil;

	which &= c->buffer.alike;
	if (!which)
		return;
	depth = which & TSR_TILE_DEPTH_BIT && t->has_depth;
	stencil = which & TSR_TILE_STENCIL_BIT && t->has_stencil;
	for (unsigned int rt = 0; rt < t->targets; rt++) {
		if (which >> rt & 1)
			repeat(t->color[rt].data, t->color[rt].pitch,
			       samples * t->format[rt].bytes);
	}
	for (size_t i = 1; depth && i < samples; i++)
		t->depth[i] = t->depth[0];
	if (stencil)
		memset(t->stencil, t->stencil[0], samples);
	if (depth || stencil)
		know_clear(t, depth, stencil);
	c->buffer.alike &= ~which;
}
