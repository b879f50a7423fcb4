/* SPDX-License-Identifier: MIT */
/* Texels of a plane in memory: rows, or rows of tiles that are put in order. */
#include "display.h"

#include <stdlib.h>
#include <string.h>

#include "memory/mem.h"
#include "memory/tiling.h"

bool tsr_plane_span(const struct tsr_picture *picture, const struct tsr_plane *p, uint32_t y,
		    uint32_t *from, uint32_t *to)
{
	const int64_t left = p->x > 0 ? p->x : 0, right = (int64_t)p->x + p->width;

	if (!p->addr || (int64_t)y < p->y || (int64_t)y >= (int64_t)p->y + p->height)
		return false;
	*from = (uint32_t)left;
	*to = right < (int64_t)picture->width ? (uint32_t)(right > 0 ? right : 0) : picture->width;
	return *from < *to;
}

/* Read [va, va + len), or say why not. */
static enum tsr_row read(struct tsr_composition *c, struct tsr_mem *mem, uint64_t va, void *to,
			 uint64_t len)
{
	switch (tsr_mem_read(mem, va, to, len)) {
	case TSR_STEP_DONE:
		tsr_compose_bytes(c, len);
		return TSR_ROW_READ;
	case TSR_STEP_PENDING:
		if (c->patient)
			return TSR_ROW_STUCK;
		c->lost_addr = va;
		return TSR_ROW_LOST;
	default:
		c->lost_addr = mem->fault.addr;
		return TSR_ROW_LOST;
	}
}

/* Compression metadata of a row of tiles. */
struct tags {
	uint8_t tag[2][TSR_SCREEN_MAX / TSR_TAG_DIM];	/* of its two rows of blocks */
	uint8_t texel[8];				/* of blocks that are CLEAR */
	uint32_t first;					/* block that the first tag is of */
};

/* Tags of row of tiles @row, columns @first to @last of tiles, as far as the plane has them. */
static enum tsr_row read_tags(struct tsr_composition *c, struct tsr_mem *mem,
			      const struct tsr_plane *p, uint32_t row, uint32_t first,
			      uint32_t last, struct tags *tags)
{
	const uint32_t half = TSR_TILE_DIM / TSR_TAG_DIM;
	const uint32_t columns = (p->src_x + p->width + TSR_TAG_DIM - 1) / TSR_TAG_DIM;
	const uint32_t rows = (p->src_y + p->height + TSR_TAG_DIM - 1) / TSR_TAG_DIM;
	const uint32_t end = (last + 1) * half < columns ? (last + 1) * half : columns;
	enum tsr_row result;
	union tsr_texel clear;

	memset(tags->tag, TSR_TARGET_TAG_RAW, sizeof(tags->tag));
	tags->first = first * half;
	result = read(c, mem, p->clear, clear.f, sizeof(clear.f));
	for (uint32_t y = 0; y < half && row * half + y < rows && result == TSR_ROW_READ; y++)
		result = read(c, mem, p->tags + (uint64_t)(row * half + y) * p->tag_pitch +
			      tags->first, tags->tag[y], end - tags->first);
	if (result == TSR_ROW_READ)
		tsr_format_store(&p->format, tags->texel, &clear);
	return result;
}

/* Blocks of the tile in column @x that are CLEAR; @to: its rows in the band. */
static void clear_blocks(const struct tsr_plane *p, const struct tags *tags, uint32_t x,
			 uint8_t *const *to)
{
	const uint32_t half = TSR_TILE_DIM / TSR_TAG_DIM, bytes = p->format.bytes;

	for (uint32_t y = 0; y < TSR_TILE_DIM; y++)
		for (uint32_t i = 0; i < TSR_TILE_DIM; i++) {
			const uint32_t column = x * half - tags->first + i / TSR_TAG_DIM;

			if (tags->tag[y / TSR_TAG_DIM][column] == TSR_TARGET_TAG_CLEAR)
				memcpy(to[y] + i * bytes, tags->texel, bytes);
		}
}

/* Row of tiles @row of plane @p, of which columns @first to @last of tiles, into @band. */
static enum tsr_row read_tiles(struct tsr_composition *c, struct tsr_mem *mem,
			       const struct tsr_plane *p, struct tsr_band *band, uint32_t row,
			       uint32_t first, uint32_t last)
{
	const uint32_t bytes = TSR_TILE_TEXELS * p->format.bytes;
	uint8_t tile[TSR_TILE_TEXELS * 8], *to[TSR_TILE_DIM];
	struct tags tags;

	if (p->tagged) {
		enum tsr_row result = read_tags(c, mem, p, row, first, last, &tags);

		if (result != TSR_ROW_READ)
			return result;
	}

	for (uint32_t x = first; x <= last; x++) {
		const uint64_t va = p->addr + (uint64_t)row * p->pitch + (uint64_t)x * bytes;
		enum tsr_row result = read(c, mem, va, tile, bytes);

		if (result != TSR_ROW_READ)
			return result;
		for (unsigned int i = 0; i < TSR_TILE_DIM; i++)
			to[i] = band->texels + i * band->row_bytes +
				(x - first) * TSR_TILE_DIM * p->format.bytes;
		tsr_tile_ops(p->format.bytes)->detile(to, tile);
		if (p->tagged)
			clear_blocks(p, &tags, x, to);
	}
	return TSR_ROW_READ;
}

/* Have room for @rows of @bytes. */
static bool make_band(struct tsr_band *band, uint32_t rows, uint32_t bytes)
{
	if (band->texels && band->row_bytes == bytes)
		return true;
	free(band->texels);
	band->texels = malloc((size_t)rows * bytes);
	band->row_bytes = bytes;
	band->rows = 0;
	return band->texels;
}

static enum tsr_row tiled_row(struct tsr_composition *c, struct tsr_mem *mem,
			      const struct tsr_plane *p, struct tsr_band *band, uint32_t y,
			      uint32_t from, uint32_t to, const uint8_t **texels)
{
	const uint32_t first = from / TSR_TILE_DIM, last = (to - 1) / TSR_TILE_DIM;
	enum tsr_row result = TSR_ROW_READ;

	if (!make_band(band, TSR_TILE_DIM, (last - first + 1) * TSR_TILE_DIM * p->format.bytes)) {
		c->lost_addr = p->addr;
		return TSR_ROW_LOST;
	}
	if (!band->rows || band->first != y / TSR_TILE_DIM) {
		band->rows = 0;
		result = read_tiles(c, mem, p, band, y / TSR_TILE_DIM, first, last);
	}
	if (result != TSR_ROW_READ)
		return result;
	band->first = y / TSR_TILE_DIM;
	band->rows = TSR_TILE_DIM;
	*texels = band->texels + y % TSR_TILE_DIM * band->row_bytes +
		  (from - first * TSR_TILE_DIM) * p->format.bytes;
	return TSR_ROW_READ;
}

enum tsr_row tsr_plane_row(struct tsr_composition *c, struct tsr_mem *mem, unsigned int n,
			   uint32_t y, const uint8_t **texels)
{
	const struct tsr_plane *p = &c->picture.plane[n];
	struct tsr_band *band = &c->band[n];
	uint32_t from, to;
	enum tsr_row result;

	if (!tsr_plane_span(&c->picture, p, y, &from, &to))
		return TSR_ROW_READ;
	from = from - (uint32_t)p->x + p->src_x;
	to = to - (uint32_t)p->x + p->src_x;
	y = y - (uint32_t)p->y + p->src_y;
	if (p->tiled)
		return tiled_row(c, mem, p, band, y, from, to, texels);
	if (!make_band(band, 1, (to - from) * p->format.bytes)) {
		c->lost_addr = p->addr;
		return TSR_ROW_LOST;
	}
	result = read(c, mem, p->addr + (uint64_t)y * p->pitch + (uint64_t)from * p->format.bytes,
		      band->texels, (uint64_t)(to - from) * p->format.bytes);
	*texels = band->texels;
	return result;
}
