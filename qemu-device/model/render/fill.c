/* SPDX-License-Identifier: MIT */
/*
 * Storing tiles that have been cleared and that nothing is drawn to. Rows of one tile are short,
 * and far from one another: memory is written up to three times as fast in rows of several tiles.
 * So the store waits for the tile beside it, which is the core's next one most often; its memory is
 * known by then, so that nothing can go wrong afterwards.
 */
#include "render.h"

/* Where the tile's rows are, of texels of @bytes. */
static struct tsr_access_rows rows_of(const struct tsr_tile *t, const struct tsr_render_target *rt,
				      unsigned int bytes)
{
	return (struct tsr_access_rows){
		.va = rt->pointer + rt->layer_stride * t->layer + (uint64_t)rt->pitch * t->y +
		      (uint64_t)t->x * bytes,
		.pitch = rt->pitch, .count = t->height, .len = (uint64_t)t->width * bytes,
	};
}

/* Add @rows to what waits, on its right; false: they do not lie there. */
static bool join(struct tsr_mem *mem, struct tsr_tile_fill *f, const struct tsr_access_rows *rows,
		 const uint8_t *row)
{
	struct tsr_access_rows both = f->rows;

	both.len += rows->len;
	if (rows->va != f->rows.va + f->rows.len || rows->pitch != f->rows.pitch ||
	    rows->count != f->rows.count || both.len > sizeof(f->row) || both.len > both.pitch ||
	    !tsr_access_area(mem, &both, TSR_ACCESS_WRITE, &f->area))
		return false;
	memcpy(f->row + f->rows.len, row, rows->len);
	f->rows = both;
	return true;
}

/* Begin with @rows; false: the host has them in pieces. */
static bool begin(struct tsr_mem *mem, struct tsr_tile_fill *f, const struct tsr_access_rows *rows,
		  const uint8_t *row)
{
	struct tsr_page read;

	if (rows->len > sizeof(f->row) ||
	    !tsr_access_area(mem, rows, TSR_ACCESS_WRITE, &f->area) ||
	    (f->kept && (!tsr_access_area(mem, rows, TSR_ACCESS_READ, &read) ||
			 read.ptr != f->area.ptr)))
		return false;
	memcpy(f->row, row, rows->len);
	f->rows = *rows;
	return true;
}

bool tsr_tile_fill(struct tsr_tile_core *c, struct tsr_mem *mem, bool depth)
{
	const struct tsr_render_target *rt = depth ? &c->render->depth : &c->render->color[0];
	const struct tsr_depth_format *format = &c->render->depth_format;
	const unsigned int bytes = depth ? format->bytes : c->buffer.tile.format[0].bytes;
	const struct tsr_access_rows rows = rows_of(&c->buffer.tile, rt, bytes);
	struct tsr_tile_fill *f = &c->buffer.fill[depth];
	uint32_t word[1 << TSR_TILE_SHIFT_MAX];
	const uint8_t *row = c->buffer.tile.color[0].data;

	if (!(c->buffer.alike & (depth ? TSR_TILE_DEPTH_BIT : 1)) || c->buffer.tile.samples_log2 ||
	    rt->layout != TSR_LAYOUT_LINEAR) {
		tsr_tile_fill_now(c, mem);
		return false;
	}
	for (unsigned int i = 0; depth && i < c->buffer.tile.width; i++)
		word[i] = tsr_depth_word(format, c->buffer.tile.depth[0]);
	if (depth)
		row = (const uint8_t *)word;
	if (f->rows.count && join(mem, f, &rows, row))
		return true;
	if (f->rows.count)
		tsr_tile_fill_now(c, mem);
	f->kept = depth && format->scale != 0 ? ~(uint32_t)format->scale : 0;
	if (begin(mem, f, &rows, row))
		c->buffer.filling = true;
	else
		tsr_tile_fill_now(c, mem);
	return f->rows.count;
}

typedef uint32_t words __attribute__((vector_size(16)));

/* A row to @to, but for bits that are kept. */
static void store_row(const struct tsr_tile_fill *f, uint8_t *to)
{
	const size_t len = f->rows.len;
	size_t at = 0;

	for (; at + sizeof(words) <= len; at += sizeof(words)) {
		words old, new;

		memcpy(&old, to + at, sizeof(old));
		memcpy(&new, f->row + at, sizeof(new));
		new |= old & f->kept;
		memcpy(to + at, &new, sizeof(new));
	}
	for (; at < len; at += sizeof(uint32_t)) {
		uint32_t old, new;

		memcpy(&old, to + at, sizeof(old));
		memcpy(&new, f->row + at, sizeof(new));
		new |= old & f->kept;
		memcpy(to + at, &new, sizeof(new));
	}
}

void tsr_tile_fill_now(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	struct tsr_access_cache *access = &c->shader->access;

	for (unsigned int i = 0; c->buffer.filling && i < 2; i++) {
		struct tsr_tile_fill *f = &c->buffer.fill[i];

		if (!f->rows.count)
			continue;
		tsr_access_reserve(access, mem);
		for (unsigned int y = 0; f->kept && y < f->rows.count; y++)
			store_row(f, f->area.ptr + f->rows.pitch * y);
		if (!f->kept)
			c->render->fine->rows(f->area.ptr, f->rows.pitch, f->row, 0, f->rows.len,
					      f->rows.count);
		tsr_access_note_rows(access, mem, &f->rows, &f->area);
		f->rows.count = 0;
	}
	c->buffer.filling = false;
}
