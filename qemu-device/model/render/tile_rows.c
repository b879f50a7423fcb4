/* SPDX-License-Identifier: MIT */
#include "tile_rows.h"

#include "memory/tiling.h"
#include "render.h"

/* Where a row of a target lies: @count texels of it can be moved one after the other. */
struct place {
	uint64_t va;
	unsigned int count;
};

/* Where texel (@x, @y) of the frame's @layer, sample @s, of @rt lies, and how many follow. */
static struct place place(const struct tsr_render_target *rt, unsigned int bytes, uint32_t layer,
			  unsigned int s, uint32_t x, uint32_t y, unsigned int count)
{
	uint64_t va = rt->pointer + rt->layer_stride * layer + (uint64_t)rt->sample_stride * s;

	if (rt->layout == TSR_LAYOUT_LINEAR)
		return (struct place){ va + (uint64_t)rt->pitch * y + (uint64_t)x * bytes, count };
	va += (uint64_t)rt->pitch * (y / TSR_TILE_DIM);
	va += (uint64_t)(x / TSR_TILE_DIM) * TSR_TILE_TEXELS * bytes;
	va += tsr_tile_index(x % TSR_TILE_DIM, y % TSR_TILE_DIM) * bytes;
	return (struct place){ va, 1 };
}

/*
 * Copy @len bytes between memory and @at, page by page: most surfaces have a page for each row, and
 * the thread's cache finds pages faster than the TLB does.
 */
static enum tsr_step copy(struct tsr_access_cache *access, struct tsr_mem *mem, uint64_t va,
			  uint8_t *at, uint64_t len, bool write)
{
	while (len) {
		uint64_t offset = va % TSR_ACCESS_PAGE_BYTES, part = TSR_ACCESS_PAGE_BYTES - offset;
		uint8_t *page = tsr_access_find(access, write ? access->write : access->read, va);
		enum tsr_step step = TSR_STEP_DONE;

		part = part < len ? part : len;
		if (!page)
			step = tsr_access_page(access, mem, va,
					       write ? TSR_ACCESS_WRITE : TSR_ACCESS_READ, &page);
		if (step != TSR_STEP_DONE)
			return step;
		if (page)
			tsr_access_copy(write ? page + offset : at, write ? at : page + offset,
					part);
		else /* the host has it in pieces */
			step = write ? tsr_mem_write(mem, va, at, part) :
				       tsr_mem_read(mem, va, at, part);
		if (step != TSR_STEP_DONE)
			return step;
		va += part;
		at += part;
		len -= part;
	}
	return TSR_STEP_DONE;
}

/* tsr_access_reserve() has been called. */
static inline enum tsr_step move_part(struct tsr_access_cache *access, struct tsr_mem *mem,
				      uint32_t layer, struct tsr_tile_rows p)
{
	while (p.count) {
		const struct place at = place(p.rt, p.bytes, layer, p.s, p.x, p.y, p.count);
		const uint64_t len = (uint64_t)at.count * p.bytes;
		enum tsr_step step = copy(access, mem, at.va, p.row, len, p.write);

		if (step != TSR_STEP_DONE)
			return step;
		p.x += at.count;
		p.count -= at.count;
		p.row += len;
	}
	return TSR_STEP_DONE;
}

/* Move @count texels of a row between @row and memory. */
enum tsr_step tsr_tile_move_row(const struct tsr_tile_core *c, struct tsr_mem *mem,
				const struct tsr_render_target *rt, unsigned int bytes,
				unsigned int s, uint32_t x, uint32_t y, unsigned int count,
				uint8_t *row, bool write)
{
	const struct tsr_tile_rows part = { rt, bytes, s, x, y, count, row, write };

	tsr_access_reserve(&c->shader->access, mem);
	return move_part(&c->shader->access, mem, c->buffer.tile.layer, part);
}

/* Host memory of @count rows of a linear surface from @p on, if the host has them in one piece. */
uint8_t *tsr_tile_rows_at(struct tsr_access_cache *access, struct tsr_mem *mem, uint32_t layer,
			const struct tsr_tile_rows *p, uint32_t count)
{
	const struct tsr_access_rows rows = {
		.va = place(p->rt, p->bytes, layer, p->s, p->x, p->y, 1).va,
		.pitch = p->rt->pitch, .count = count, .len = (uint64_t)p->count * p->bytes,
	};

	if (p->rt->layout != TSR_LAYOUT_LINEAR || !count)
		return NULL;
	return tsr_access_rows(access, mem, &rows, p->write ? TSR_ACCESS_WRITE : TSR_ACCESS_READ);
}

/* Host memory of the tile around @p, if the tile is in one page that the host has in one piece. */
static enum tsr_step find_tile(struct tsr_access_cache *access, struct tsr_mem *mem, uint32_t layer,
			       const struct tsr_tile_rows *p, uint8_t **tile)
{
	const uint32_t x = p->x & ~(TSR_TILE_DIM - 1), y = p->y & ~(TSR_TILE_DIM - 1);
	const uint64_t va = place(p->rt, p->bytes, layer, p->s, x, y, 1).va;
	const uint64_t offset = va % TSR_ACCESS_PAGE_BYTES;
	enum tsr_step step;

	if (offset + (size_t)TSR_TILE_TEXELS * p->bytes > TSR_ACCESS_PAGE_BYTES)
		return TSR_STEP_DONE;
	step = tsr_access_page(access, mem, va, p->write ? TSR_ACCESS_WRITE : TSR_ACCESS_READ,
			       tile);
	if (step == TSR_STEP_DONE && *tile)
		*tile += offset;
	return step;
}

/* Moves the @part of a tile, in memory at @tile, between there and @row. */
static void move_texels(const struct tsr_tile_ops *ops, uint8_t *tile, uint8_t *const *row,
			const struct tsr_tile_part *part, bool write)
{
	const bool whole = part->w == TSR_TILE_DIM && part->h == TSR_TILE_DIM;

	if (write && whole)
		ops->tile(tile, (const uint8_t *const *)row);
	else if (write)
		ops->tile_part(tile, 0, (const uint8_t *const *)row, part);
	else if (whole)
		ops->detile(row, tile);
	else
		ops->detile_part(row, tile, 0, part);
}

/* Moves the texels from @p on that @part has of a tile. @tile is its memory, if that is known. */
static enum tsr_step move_tile(struct tsr_access_cache *access, struct tsr_mem *mem, uint32_t layer,
			       struct tsr_tile_rows p, const struct tsr_tile_part *part,
			       uint8_t *tile, uint32_t step)
{
	enum tsr_step done = TSR_STEP_DONE;
	uint8_t *row[TSR_TILE_DIM];

	if (!tile)
		done = find_tile(access, mem, layer, &p, &tile);
	for (uint32_t i = 0; i < part->h; i++)
		row[i] = p.row + (size_t)step * i;
	if (tile && done == TSR_STEP_DONE)
		move_texels(tsr_tile_ops(p.bytes), tile, row, part, p.write);
	p.count = part->w;
	for (uint32_t i = 0; !tile && i < part->h && done == TSR_STEP_DONE; i++, p.y++) {
		p.row = row[i];
		done = move_part(access, mem, layer, p);
	}
	return done;
}

/* Host memory of all tiles of @count rows from @p on, if it is in one piece and they are whole. */
static uint8_t *tiles_at(struct tsr_access_cache *access, struct tsr_mem *mem, uint32_t layer,
			 const struct tsr_tile_rows *p, uint32_t count)
{
	const size_t bytes = (size_t)TSR_TILE_TEXELS * p->bytes;
	const struct tsr_access_rows rows = {
		.va = place(p->rt, p->bytes, layer, p->s, p->x, p->y, 1).va,
		.pitch = p->rt->pitch, .count = count / TSR_TILE_DIM,
		.len = p->count / TSR_TILE_DIM * bytes,
	};

	if (!p->count || !count || (p->x | p->y | p->count | count) % TSR_TILE_DIM)
		return NULL;
	return tsr_access_rows(access, mem, &rows, p->write ? TSR_ACCESS_WRITE : TSR_ACCESS_READ);
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * Moves @count rows of a tiled surface, tile by tile. In the tile buffer, rows are @step bytes
 * apart.
 */
static enum tsr_step move_tiled(struct tsr_access_cache *access, struct tsr_mem *mem,
				uint32_t layer, const struct tsr_tile_rows *p, uint32_t count,
				uint32_t step)
{
	uint8_t *at = tiles_at(access, mem, layer, p, count);
	enum tsr_step done = TSR_STEP_DONE;
	struct tsr_tile_part part;

	for (uint32_t y = 0; y < count && done == TSR_STEP_DONE; y += part.h) {
		part.y = (p->y + y) % TSR_TILE_DIM;
		part.h = lesser(TSR_TILE_DIM - part.y, count - y);
		for (uint32_t x = 0; x < p->count && done == TSR_STEP_DONE; x += part.w) {
			uint8_t *tile = at ? at + (uint64_t)p->rt->pitch * (y / TSR_TILE_DIM) +
					     (uint64_t)TSR_TILE_DIM * p->bytes * x : NULL;
			struct tsr_tile_rows one = *p;

			one.x += x;
			one.y += y;
			one.row += (size_t)step * y + (size_t)x * p->bytes;
			part.x = one.x % TSR_TILE_DIM;
			part.w = lesser(TSR_TILE_DIM - part.x, p->count - x);
			done = move_tile(access, mem, layer, one, &part, tile, step);
		}
	}
	return done;
}

/*
 * Move @count rows from @p on. In the tile they are @step bytes apart; 0: they are written and all
 * as the first.
 */
enum tsr_step tsr_tile_move_rows(const struct tsr_tile_core *c, struct tsr_mem *mem,
				 struct tsr_tile_rows p, uint32_t count, uint32_t step)
{
	struct tsr_access_cache *access = &c->shader->access;
	const size_t len = (size_t)p.count * p.bytes, pitch = p.rt->pitch;
	uint8_t *at = tsr_tile_rows_at(access, mem, c->buffer.tile.layer, &p, count);
	enum tsr_step done = TSR_STEP_DONE;

	if (at) {
		c->render->fine->rows(p.write ? at : p.row, p.write ? pitch : step,
				      p.write ? p.row : at, p.write ? step : pitch, len, count);
		return TSR_STEP_DONE;
	}
	if (p.rt->layout != TSR_LAYOUT_LINEAR)
		return move_tiled(access, mem, c->buffer.tile.layer, &p, count, step);
	for (; count && done == TSR_STEP_DONE; count--, p.y++, p.row += step)
		done = move_part(access, mem, c->buffer.tile.layer, p);
	return done;
}
