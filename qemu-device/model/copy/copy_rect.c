/* SPDX-License-Identifier: MIT */
/*
 * COPY_RECT and FILL_RECT: the order of texels, and the ways to do them that need no tile.
 *
 * The rectangle, as it lies in the destination, is cut into blocks: along the tiles of the
 * destination if that is tiled; else along the tiles of the source if that is tiled; else every row
 * is a block. Blocks are done row of blocks by row of blocks from the top, in a row of blocks from
 * the left; texels in a block row by row from the top, in a row from the left. A texel is read
 * completely, then written, each from its lowest byte up. What is done is the first so many texels
 * of this order.
 */
#include <string.h>

#include "copy.h"

/* A block with its place in the order. */
struct place {
	struct tsr_copy_block block;
	uint64_t first;			/* texels done when it begins */
};

uint64_t tsr_copy_texel_addr(const struct tsr_copy_surface *s, unsigned int texel, uint64_t x,
			     uint64_t y)
{
	uint64_t offset, addr;

	x += s->x;
	y += s->y;
	if (s->tiled)
		offset = y / TSR_TILE_DIM * s->pitch +
			 x / TSR_TILE_DIM * TSR_TILE_TEXELS * texel +
			 tsr_tile_index((unsigned int)x, (unsigned int)y) * texel;
	else
		offset = y * s->pitch + x * texel;
	return __builtin_add_overflow(s->base, offset, &addr) ? UINT64_MAX : addr;
}

/* Texel (@x, @y) of the destination rectangle comes from this one of the source rectangle. */
static uint64_t source_x(const struct tsr_copy *c, uint64_t x)
{
	return c->flip_x ? c->width - 1 - x : x;
}

static uint64_t source_y(const struct tsr_copy *c, uint64_t y)
{
	return c->flip_y ? c->height - 1 - y : y;
}

static void account(struct tsr_copy *c, uint64_t *done, uint64_t texels)
{
	uint64_t bytes = texels * c->texel;

	if (!c->pattern)
		c->cost->read_bytes += bytes;
	c->cost->write_bytes += bytes;
	c->budget -= bytes;
	*done += texels;
}

/* Move @c->texel bytes between @texel and memory, however fragmented. */
static enum tsr_step texel_io(struct tsr_copy *c, uint64_t va, uint8_t *texel, unsigned int access)
{
	unsigned int i;
	struct tsr_span span;
	enum tsr_step ret;

	for (i = 0; i < c->texel; i += (unsigned int)span.len) {
		c->translations++;
		c->writes += access == TSR_ACCESS_WRITE;
		ret = tsr_mem_map(c->mem, va + i, c->texel - i, access, &span);
		if (ret != TSR_STEP_DONE)
			return ret;
		if (access == TSR_ACCESS_READ && span.ptr)
			memcpy(texel + i, span.ptr, span.len);
		else if (access == TSR_ACCESS_READ)
			memset(texel + i, 0, span.len);
		else if (span.ptr)
			memcpy(span.ptr, texel + i, span.len);
	}
	return TSR_STEP_DONE;
}

/* Read the texel that goes to (@x, @y). */
static enum tsr_step read_texel(struct tsr_copy *c, uint64_t x, uint64_t y, uint8_t *texel)
{
	uint64_t va = tsr_copy_texel_addr(&c->src, c->texel, source_x(c, x), source_y(c, y));

	if (c->src.tagged)
		return tsr_copy_read_tagged(c, source_x(c, x), source_y(c, y), texel);
	return texel_io(c, va, texel, TSR_ACCESS_READ);
}

static enum tsr_step write_texel(struct tsr_copy *c, uint64_t x, uint64_t y, uint8_t *texel,
				 uint64_t *done)
{
	uint64_t va = tsr_copy_texel_addr(&c->dst, c->texel, x, y);
	enum tsr_step ret = c->dst.tagged ? tsr_copy_open_tagged(c, x, y) : TSR_STEP_DONE;

	if (ret == TSR_STEP_DONE)
		ret = texel_io(c, va, texel, TSR_ACCESS_WRITE);
	if (ret == TSR_STEP_DONE)
		account(c, done, 1);
	return ret;
}

/* The texel path: one texel, with its fault if it has one. */
static enum tsr_step one_texel(struct tsr_copy *c, uint64_t x, uint64_t y, uint64_t *done)
{
	uint8_t texel[TSR_TEXEL_MAX];
	enum tsr_step ret;

	if (c->pattern) {
		memcpy(texel, c->pattern->bytes, c->texel);
	} else {
		ret = read_texel(c, x, y, texel);
		if (ret != TSR_STEP_DONE)
			return ret;
	}
	return write_texel(c, x, y, texel, done);
}

/* The last texel of a copy, in block order: this step reads it, the next one stores it. */
static enum tsr_step last_texel(struct tsr_copy *c, uint64_t *done)
{
	const uint64_t x = c->width - 1, y = c->height - 1;
	enum tsr_step ret;

	if (c->state->word[TSR_COPY_HOLDS])
		return write_texel(c, x, y, tsr_copy_texel(c), done);
	ret = read_texel(c, x, y, tsr_copy_texel(c));
	if (ret != TSR_STEP_DONE)
		return ret;
	c->state->word[TSR_COPY_HOLDS] = 1;
	return TSR_STEP_MORE;
}

/*
 * How many of the @n texels that go to (x…, y) lie in one piece of the source, in window
 * src_row[0]; *@va: address of the lowest. 0 when there is no such piece.
 */
static uint64_t row_source(struct tsr_copy *c, uint64_t x, uint64_t y, uint64_t n, uint64_t *va)
{
	uint64_t first = tsr_copy_texel_addr(&c->src, c->texel, source_x(c, x), source_y(c, y));
	uint64_t bytes = n * c->texel, end, page, have;

	if (first > UINT64_MAX - TSR_TEXEL_MAX)
		return 0;
	if (!c->flip_x) {
		*va = first;
		bytes = tsr_copy_max(bytes, TSR_COPY_PAGE - first % TSR_COPY_PAGE);
		have = tsr_copy_reach(c, &c->src_row[0], first, bytes, TSR_ACCESS_READ);
		return tsr_copy_min(n, have / c->texel);
	}
	/* Leftwards from the end of the first texel as far as its page goes. */
	end = first + c->texel;
	page = (end - 1) % TSR_COPY_PAGE + 1;
	n = tsr_copy_min(bytes, page) / c->texel;
	*va = end - n * c->texel;
	bytes = n * c->texel;
	have = n ? tsr_copy_reach(c, &c->src_row[0], *va, bytes, TSR_ACCESS_READ) : 0;
	return have < bytes ? 0 : n;
}

/* The destination row dst_row[0], translated for the rectangle's part of the page. */
static uint64_t row_sink(struct tsr_copy *c, uint64_t va, uint64_t n)
{
	uint64_t last = tsr_copy_texel_addr(&c->dst, c->texel, c->width - 1, c->height - 1);
	uint64_t ahead = tsr_copy_min(TSR_COPY_PAGE - va % TSR_COPY_PAGE, last - va + c->texel);
	uint64_t have;

	ahead = tsr_copy_max(ahead, n * c->texel);
	have = tsr_copy_reach(c, &c->dst_row[0], va, ahead, TSR_ACCESS_WRITE);
	return tsr_copy_min(n, have / c->texel);
}

static uint8_t *window_ptr(const struct tsr_copy_window *w, uint64_t va)
{
	return w->ptr ? w->ptr + (va - w->va) : NULL;
}

static void move_texels(struct tsr_copy *c, uint8_t *to, const uint8_t *from, uint64_t n)
{
	if (!to)
		return;
	if (c->pattern)
		tsr_copy_pattern_fill(c->pattern, to, n * c->texel, 0);
	else if (!from)
		memset(to, 0, n * c->texel);
	else if (c->flip_x)
		c->ops->reverse(to, from, n);
	else
		memmove(to, from, n * c->texel);
}

/* Texels that are not held: a copy's last one is, see copy.h. */
static uint64_t texels_unheld(const struct tsr_copy *c)
{
	return c->width * c->height - !c->pattern;
}

/* Between linear surfaces: as much of a row as is in one piece on both sides, at least a texel. */
static enum tsr_step row_piece(struct tsr_copy *c, uint64_t *done)
{
	uint64_t x = *done % c->width, y = *done / c->width;
	uint64_t left = tsr_copy_min(c->width - x, texels_unheld(c) - *done);
	uint64_t have = tsr_copy_min(left, c->budget / c->texel), n;
	uint64_t src = 0, dst = tsr_copy_texel_addr(&c->dst, c->texel, x, y);
	const uint8_t *from = NULL;

	if (!c->pattern)
		have = row_source(c, x, y, have, &src);
	n = have ? row_sink(c, dst, have) : 0;
	if (!n)
		return one_texel(c, x, y, done);
	if (!c->pattern)
		from = window_ptr(&c->src_row[0], src);
	if (from && c->flip_x)
		from += (have - n) * c->texel;
	move_texels(c, window_ptr(&c->dst_row[0], dst), from, n);
	account(c, done, n);
	return TSR_STEP_DONE;
}

/* Where texel @x of the rectangle lies in the tiles that cut it into blocks, in one dimension. */
static unsigned int block_phase(const struct tsr_copy *c, bool flip, uint32_t src, uint32_t dst,
				uint64_t size)
{
	uint64_t at = src;

	if (c->dst.tiled)
		at = dst;
	else if (flip)
		at = TSR_TILE_DIM - 1 - (src + size - 1) % TSR_TILE_DIM;
	return at % TSR_TILE_DIM;
}

/* Extent of block @i in one dimension of @size texels, which begins @phase after an edge. */
static unsigned int block_extent(uint64_t i, unsigned int phase, uint64_t size, uint64_t *first)
{
	uint64_t end = tsr_copy_min((i + 1) * TSR_TILE_DIM - phase, size);

	*first = i ? i * TSR_TILE_DIM - phase : 0;
	return (unsigned int)(end - *first);
}

/* The block that texel @done of the order is in. */
static void locate(const struct tsr_copy *c, uint64_t done, struct place *p)
{
	unsigned int phase_x = block_phase(c, c->flip_x, c->src.x, c->dst.x, c->width);
	unsigned int phase_y = block_phase(c, c->flip_y, c->src.y, c->dst.y, c->height);
	uint64_t y = done / c->width, x;

	/* All rows of blocks above are complete: so many full rows lead into this one. */
	p->block.h = block_extent((y + phase_y) / TSR_TILE_DIM, phase_y, c->height, &p->block.y);
	p->first = p->block.y * c->width;
	x = (done - p->first) / p->block.h;
	p->block.w = block_extent((x + phase_x) / TSR_TILE_DIM, phase_x, c->width, &p->block.x);
	p->first += p->block.x * p->block.h;
}

/*
 * The part of block @p from its texel @i on that can be done as a block. False: there is none. The
 * last block of a copy is in two parts, its rows but one and the last row, without the last texel.
 */
static bool block_part(const struct tsr_copy *c, const struct place *p, uint64_t i,
		       struct tsr_copy_block *part)
{
	const unsigned int w = p->block.w, h = p->block.h;

	*part = p->block;
	if (p->first + (uint64_t)w * h <= texels_unheld(c))
		return !i;
	if (!i && h > 1) {
		part->h--;
		return true;
	}
	part->y += h - 1;
	part->h = 1;
	part->w--;
	return i == (uint64_t)w * (h - 1) && part->w;
}

/* With a tiled surface: a block, or what is left of it. */
static enum tsr_step block_piece(struct tsr_copy *c, uint64_t *done)
{
	struct tsr_copy_block part;
	struct place p;
	enum tsr_step ret;
	uint64_t i, n, blocks;

	locate(c, *done, &p);
	n = (uint64_t)p.block.w * p.block.h;
	i = *done - p.first;
	if (!i && c->budget < n * c->texel)
		return TSR_STEP_MORE;
	if (block_part(c, &p, i, &part)) {
		blocks = tsr_copy_block(c, &part);
		if (blocks) {
			account(c, done, blocks * part.w * part.h);
			return TSR_STEP_DONE;
		}
	}
	n = tsr_copy_min(n, texels_unheld(c) - p.first);
	for (; i < n; i++) {
		if (c->budget < c->texel || c->translations >= TSR_COPY_TRANSLATIONS)
			return TSR_STEP_MORE;
		ret = one_texel(c, p.block.x + i % p.block.w, p.block.y + i / p.block.w, done);
		if (ret != TSR_STEP_DONE)
			return ret;
	}
	return TSR_STEP_DONE;
}

/* With a surface that has tags: one texel. */
static enum tsr_step tagged_piece(struct tsr_copy *c, bool blocks, uint64_t *done)
{
	uint64_t x = *done % c->width, y = *done / c->width, i;
	struct place p;

	if (blocks) {
		locate(c, *done, &p);
		i = *done - p.first;
		x = p.block.x + i % p.block.w;
		y = p.block.y + i / p.block.w;
	}
	return one_texel(c, x, y, done);
}

enum tsr_step tsr_copy_rect(struct tsr_copy *c, uint64_t *done)
{
	bool blocks = c->dst.tiled || (!c->pattern && c->src.tiled);
	bool tagged = c->src.tagged || c->dst.tagged;
	enum tsr_step ret;

	while (*done < texels_unheld(c)) {
		if (c->budget < c->texel || c->translations >= TSR_COPY_TRANSLATIONS)
			return TSR_STEP_MORE;
		ret = tagged ? tagged_piece(c, blocks, done) :
		      blocks ? block_piece(c, done) : row_piece(c, done);
		if (ret != TSR_STEP_DONE)
			return ret;
	}
	return *done < c->width * c->height ? last_texel(c, done) : TSR_STEP_DONE;
}
