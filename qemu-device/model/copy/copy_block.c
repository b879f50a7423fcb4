/* SPDX-License-Identifier: MIT */
/*
 * Rectangles, a block of at most 16×16 texels at a time, where a tiled surface is involved.
 *
 * First every byte of the block is found on the host, source and destination, then it is moved; so
 * a block that meets a fault or a pending page has written nothing yet. Rows or tiles that are
 * split over two windows take a detour through scratch memory.
 */
#include <string.h>

#include "copy.h"

/* The texels of a block, row by row as they go to the destination. */
struct rows {
	const uint8_t *ptr[TSR_TILE_DIM];
	uint64_t len;			/* bytes each row has, at least those of the block */
};

static bool is_full(const struct tsr_copy_block *b)
{
	return b->w == TSR_TILE_DIM && b->h == TSR_TILE_DIM;
}

static uint64_t tile_bytes(const struct tsr_copy *c)
{
	return TSR_TILE_TEXELS * c->texel;
}

/*
 * Whole tiles, from the block on, that this step can still get to; at least this one. The tile with
 * the last texel of a copy is none of them.
 */
static uint64_t tiles_ahead(const struct tsr_copy *c, const struct tsr_copy_block *b)
{
	bool holds = !c->pattern && b->y + b->h == c->height;
	uint64_t tiles = tsr_copy_min((c->width - b->x - holds) / TSR_TILE_DIM,
				      c->budget / tile_bytes(c));

	return tsr_copy_max(tiles, 1);
}

/* Upper left corner, in the source rectangle, of the texels that go to the block. */
static uint64_t source_left(const struct tsr_copy *c, const struct tsr_copy_block *b)
{
	return c->flip_x ? c->width - b->x - b->w : b->x;
}

static uint64_t source_top(const struct tsr_copy *c, const struct tsr_copy_block *b)
{
	return c->flip_y ? c->height - b->y - b->h : b->y;
}

/* Bytes of a row, from the block on, that this step can still get to: for a window on the row. */
static uint64_t row_ahead(const struct tsr_copy *c, const struct tsr_copy_block *b)
{
	uint64_t texels = tsr_copy_min(c->width - b->x, c->budget / c->texel / b->h);

	return tsr_copy_max(texels, b->w) * c->texel;
}

/* The part of the tile that holds texel (x, y) of @s, from there on at most @w × @h. */
static struct tsr_tile_part part_at(const struct tsr_copy_surface *s, uint64_t x, uint64_t y,
				    uint64_t w, uint64_t h)
{
	struct tsr_tile_part p = {
		.x = (unsigned int)((s->x + x) % TSR_TILE_DIM),
		.y = (unsigned int)((s->y + y) % TSR_TILE_DIM),
	};

	p.w = (unsigned int)tsr_copy_min(w, TSR_TILE_DIM - p.x);
	p.h = (unsigned int)tsr_copy_min(h, TSR_TILE_DIM - p.y);
	return p;
}

static bool part_is_full(const struct tsr_tile_part *p)
{
	return p->w == TSR_TILE_DIM && p->h == TSR_TILE_DIM;
}

/*
 * The bytes of a tile that part @p needs: all of it if it lies in one page, where more costs
 * nothing; else from its first to its last texel, so that a page is not touched for texels that are
 * not in the rectangle. @tile: texel (0, 0) of the tile.
 */
static void part_bytes(const struct tsr_copy *c, const struct tsr_tile_part *p, uint64_t tile,
		       unsigned int *first, unsigned int *end)
{
	*first = 0;
	*end = TSR_TILE_TEXELS * c->texel;
	if (!part_is_full(p) && tile % TSR_COPY_PAGE + *end > TSR_COPY_PAGE)
		tsr_tile_hull(p, c->texel, first, end);
}

/* Address of the tile with texel (x, y) of the rectangle. */
static uint64_t tile_addr(const struct tsr_copy *c, const struct tsr_copy_surface *s, uint64_t x,
			  uint64_t y)
{
	uint64_t tile_x = (s->x + x) / TSR_TILE_DIM * TSR_TILE_DIM;
	uint64_t tile_y = (s->y + y) / TSR_TILE_DIM * TSR_TILE_DIM;
	struct tsr_copy_surface whole = { .base = s->base, .pitch = s->pitch, .tiled = true };

	return tsr_copy_texel_addr(&whole, c->texel, tile_x, tile_y);
}

/* Rows of a linear source. */
static bool load_linear(struct tsr_copy *c, const struct tsr_copy_block *b, struct rows *rows)
{
	uint64_t x = source_left(c, b), y = source_top(c, b), bytes = b->w * c->texel, len;
	uint64_t ahead = c->flip_x ? bytes : row_ahead(c, b);
	uint64_t va = tsr_copy_texel_addr(&c->src, c->texel, x, y);
	unsigned int i, row;

	if (tsr_copy_texel_addr(&c->src, c->texel, x, y + b->h - 1) == UINT64_MAX)
		return false;
	rows->len = UINT64_MAX;
	for (i = 0; i < b->h; i++, va += c->src.pitch) {
		row = c->flip_y ? b->h - 1 - i : i;
		len = bytes;
		rows->ptr[row] = tsr_copy_source(c, &c->src_row[i], va, &len, ahead,
						 c->scratch->rows[i]);
		if (!rows->ptr[row])
			return false;
		rows->len = tsr_copy_min(rows->len, len);
	}
	return true;
}

/* One tile's share of a block, to column @x and row @y of scratch rows. */
static bool load_part(struct tsr_copy *c, uint64_t tile, const struct tsr_tile_part *p,
		      unsigned int x, unsigned int y)
{
	uint8_t *to[TSR_TILE_DIM];
	unsigned int first, end, i;
	const uint8_t *mem;
	uint64_t len;

	part_bytes(c, p, tile, &first, &end);
	if (tile > UINT64_MAX - end)
		return false;
	len = end - first;
	mem = tsr_copy_source(c, &c->src_tile[y != 0], tile + first, &len, len,
			      c->scratch->src_tile);
	if (!mem)
		return false;
	for (i = 0; i < p->h; i++)
		to[i] = c->scratch->rows[y + i] + x * c->texel;
	if (part_is_full(p))
		c->ops->detile(to, mem);
	else
		c->ops->detile_part(to, mem, first, p);
	return true;
}

/* Texels of a tiled source, from up to four tiles. */
static bool load_tiled(struct tsr_copy *c, const struct tsr_copy_block *b, struct rows *rows)
{
	uint64_t left = source_left(c, b), top = source_top(c, b);
	unsigned int x, y;
	struct tsr_tile_part p;

	for (y = 0; y < b->h; y += p.h) {
		for (x = 0; x < b->w; x += p.w) {
			p = part_at(&c->src, left + x, top + y, b->w - x, b->h - y);
			if (!load_part(c, tile_addr(c, &c->src, left + x, top + y), &p, x, y))
				return false;
		}
	}
	for (y = 0; y < b->h; y++)
		rows->ptr[y] = c->scratch->rows[c->flip_y ? b->h - 1 - y : y];
	rows->len = b->w * c->texel;
	return true;
}

static bool load(struct tsr_copy *c, const struct tsr_copy_block *b, struct rows *rows)
{
	unsigned int i;

	if (c->pattern) {
		for (i = 0; i < b->h; i++)
			rows->ptr[i] = c->pattern->bytes;
		rows->len = b->w * c->texel;
		return true;
	}
	if (!(c->src.tiled ? load_tiled(c, b, rows) : load_linear(c, b, rows)))
		return false;
	if (!c->flip_x)
		return true;
	for (i = 0; i < b->h; i++) {
		c->ops->reverse(c->scratch->mirror[i], rows->ptr[i], b->w);
		rows->ptr[i] = c->scratch->mirror[i];
	}
	rows->len = b->w * c->texel;
	return true;
}

/*
 * The source's tile at texel (x, y) of its rectangle, which is a corner of it; *@tiles: up to how
 * many are wanted, and how many there are.
 */
static const uint8_t *load_tiles(struct tsr_copy *c, uint64_t x, uint64_t y, uint64_t *tiles)
{
	uint64_t va = tile_addr(c, &c->src, x, y), len = tile_bytes(c);
	const uint8_t *ptr;

	if (va > UINT64_MAX - TSR_TILE_BYTES_MAX)
		return NULL;
	ptr = tsr_copy_source(c, &c->src_tile[0], va, &len, *tiles * len, c->scratch->src_tile);
	*tiles = tsr_copy_min(*tiles, len / tile_bytes(c));
	return ptr;
}

/* True if the tiles of source and destination are aligned in the same way. */
static bool same_tiles(const struct tsr_copy *c)
{
	return !c->pattern && c->src.tiled && !c->flip_x && !c->flip_y &&
	       !((c->src.x ^ c->dst.x) % TSR_TILE_DIM) && !((c->src.y ^ c->dst.y) % TSR_TILE_DIM);
}

/* Whole tiles, up to @tiles, to @to. Returns how many. */
static uint64_t full_to_tiled(struct tsr_copy *c, const struct tsr_copy_block *b, uint8_t *to,
			      uint64_t tiles)
{
	uint64_t row_bytes = TSR_TILE_DIM * c->texel, i;
	const uint8_t *from;
	struct rows rows;
	unsigned int y;

	if (c->pattern) {
		tsr_copy_pattern_fill(c->pattern, to, tiles * tile_bytes(c), 0);
		return tiles;
	}
	if (same_tiles(c)) {
		from = load_tiles(c, b->x, b->y, &tiles);
		if (!from)
			return 0;
		memmove(to, from, tiles * tile_bytes(c));
		return tiles;
	}
	if (!load(c, b, &rows))
		return 0;
	tiles = tsr_copy_min(tiles, rows.len / row_bytes);
	for (i = 0; i < tiles; i++) {
		c->ops->tile(to + i * tile_bytes(c), rows.ptr);
		for (y = 0; y < TSR_TILE_DIM; y++)
			rows.ptr[y] += row_bytes;
	}
	return tiles;
}

/*
 * Between surfaces whose tiles are aligned in the same way: whole tiles, up to @tiles, from the
 * block on, as far as windows have them in one piece. Returns how many.
 */
static uint64_t tiles_to_tiles(struct tsr_copy *c, const struct tsr_copy_block *b, uint64_t tiles)
{
	uint64_t from = tile_addr(c, &c->src, b->x, b->y), to = tile_addr(c, &c->dst, b->x, b->y);
	const uint64_t bytes = tile_bytes(c), first = to;
	uint64_t left, have;

	if (from > UINT64_MAX - tiles * bytes || to > UINT64_MAX - tiles * bytes)
		return 0;
	for (left = tiles * bytes; left && c->translations < TSR_COPY_TRANSLATIONS; left -= have) {
		have = tsr_copy_min(
			tsr_copy_reach(c, &c->src_tile[0], from, left, TSR_ACCESS_READ),
			tsr_copy_reach(c, &c->dst_tile, to, left, TSR_ACCESS_WRITE));
		have = tsr_copy_min(have, left) / bytes * bytes;
		if (!have || !c->src_tile[0].ptr || !c->dst_tile.ptr)
			break;
		memmove(c->dst_tile.ptr + (to - c->dst_tile.va),
			c->src_tile[0].ptr + (from - c->src_tile[0].va), have);
		from += have;
		to += have;
	}
	return (to - first) / bytes;
}

static uint64_t to_tiled(struct tsr_copy *c, const struct tsr_copy_block *b)
{
	struct tsr_tile_part p = part_at(&c->dst, b->x, b->y, b->w, b->h);
	uint64_t tile = tile_addr(c, &c->dst, b->x, b->y), tiles, ahead;
	struct tsr_copy_sink sink;
	unsigned int first, end;
	struct rows rows;

	part_bytes(c, &p, tile, &first, &end);
	if (tile > UINT64_MAX - TSR_TILE_BYTES_MAX)
		return 0;
	if (is_full(b) && same_tiles(c)) {
		tiles = tiles_to_tiles(c, b, tiles_ahead(c, b));
		if (tiles)
			return tiles;
	}
	ahead = is_full(b) ? tiles_ahead(c, b) * tile_bytes(c) : end - first;
	if (!tsr_copy_sink(c, &c->dst_tile, tile + first, end - first, ahead,
			   c->scratch->dst_tile, &sink))
		return 0;
	if (is_full(b)) {
		tiles = tsr_copy_min(tiles_ahead(c, b), sink.len / tile_bytes(c));
		tiles = full_to_tiled(c, b, sink.ptr, tiles);
		if (tiles)
			tsr_copy_flush(&sink, tile_bytes(c));
		return tiles;
	}
	/* Between its texels a part has others, which must stay as they are in memory. */
	if (sink.split || !load(c, b, &rows))
		return 0;
	c->ops->tile_part(sink.ptr, first, rows.ptr, &p);
	return 1;
}

/* Rows of a linear destination; *@len: bytes that each has. */
static bool row_sinks(struct tsr_copy *c, const struct tsr_copy_block *b,
		      struct tsr_copy_sink *sink, uint64_t *len)
{
	uint64_t va = tsr_copy_texel_addr(&c->dst, c->texel, b->x, b->y);
	uint64_t bytes = b->w * c->texel, ahead = row_ahead(c, b);
	unsigned int i;

	if (tsr_copy_texel_addr(&c->dst, c->texel, b->x, b->y + b->h - 1) == UINT64_MAX)
		return false;
	*len = UINT64_MAX;
	for (i = 0; i < b->h; i++, va += c->dst.pitch) {
		if (!tsr_copy_sink(c, &c->dst_row[i], va, bytes, ahead, c->scratch->dst_rows[i],
				   &sink[i]))
			return false;
		*len = tsr_copy_min(*len, sink[i].len);
	}
	/* Where windows are short there may have been so many that the first ones are lost. */
	for (i = 0; i < b->h; i++) {
		if (!tsr_copy_held(c, sink[i].number))
			return false;
	}
	return true;
}

/* Whole tiles of the source to linear rows of up to @len bytes. Returns how many. */
static uint64_t full_to_linear(struct tsr_copy *c, const struct tsr_copy_block *b,
			       const struct tsr_copy_sink *sink, uint64_t len)
{
	uint64_t row_bytes = TSR_TILE_DIM * c->texel, i;
	uint64_t tiles = tsr_copy_min(tiles_ahead(c, b), len / row_bytes);
	uint8_t *to[TSR_TILE_DIM];
	const uint8_t *from;
	unsigned int y;

	for (y = 0; y < TSR_TILE_DIM; y++)
		to[c->flip_y ? TSR_TILE_DIM - 1 - y : y] = sink[y].ptr;
	from = load_tiles(c, source_left(c, b), source_top(c, b), &tiles);
	if (!from)
		return 0;
	for (i = 0; i < tiles; i++) {
		c->ops->detile(to, from + i * tile_bytes(c));
		for (y = 0; y < TSR_TILE_DIM; y++)
			to[y] += row_bytes;
	}
	return tiles;
}

/* From a tiled surface to a linear one. */
static uint64_t to_linear(struct tsr_copy *c, const struct tsr_copy_block *b)
{
	struct tsr_copy_sink sink[TSR_TILE_DIM];
	uint64_t bytes = b->w * c->texel, len, blocks;
	unsigned int i;
	struct rows rows;

	if (!row_sinks(c, b, sink, &len))
		return 0;
	/* Rows that overlap are to be written one after the other. */
	if (is_full(b) && !c->flip_x && c->dst.pitch >= bytes) {
		blocks = full_to_linear(c, b, sink, len);
		for (i = 0; blocks && i < b->h; i++)
			tsr_copy_flush(&sink[i], bytes);
		return blocks;
	}
	if (!load(c, b, &rows))
		return 0;
	for (i = 0; i < b->h; i++) {
		memmove(sink[i].ptr, rows.ptr[i], bytes);
		tsr_copy_flush(&sink[i], bytes);
	}
	return 1;
}

uint64_t tsr_copy_block(struct tsr_copy *c, const struct tsr_copy_block *b)
{
	return c->dst.tiled ? to_tiled(c, b) : to_linear(c, b);
}
