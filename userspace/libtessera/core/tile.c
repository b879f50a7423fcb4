// SPDX-License-Identifier: MIT
/*
 * CPU access to surfaces: rectangles of texels between rows and a linear or tiled surface. In a
 * tile the index of (x, y) is the exclusive or of what x and what y contribute, so a row needs two
 * small tables and no bit shuffling per texel.
 */
#include <errno.h>
#include <string.h>

#include "tile.h"
#include "tsr_regs.h"

/* One rectangle on its way; rows points at the texel that belongs to (x, y). */
struct transfer {
	const struct tsr_surface *surface;
	char *memory;			/* first byte of the surface */
	uint32_t x, y, width, height;	/* the rectangle, inside the surface */
	char *rows;			/* the other side */
	size_t pitch;			/* bytes between its rows */
	bool write;			/* from rows to memory; else from memory to rows */
};

static int check(const struct transfer *transfer)
{
	const struct tsr_surface *s = transfer->surface;

	if (transfer->x > s->width || s->width - transfer->x < transfer->width ||
	    transfer->y > s->height || s->height - transfer->y < transfer->height)
		return tsr_fail(EINVAL,
				"rectangle %u x %u at (%u, %u) is not inside %u x %u texels",
				transfer->width, transfer->height, transfer->x, transfer->y,
				s->width, s->height);
	if (transfer->pitch < (size_t)transfer->width * s->texel && transfer->height > 1)
		return tsr_fail(EINVAL, "rows %zu bytes apart, expected at least %zu",
				transfer->pitch, (size_t)transfer->width * s->texel);
	return 0;
}

/* Copy between one side and the other; constant sizes become single moves. */
static inline void move(char *memory, char *row, size_t size, bool write)
{
	if (write)
		memcpy(memory, row, size);
	else
		memcpy(row, memory, size);
}

static inline void move_texel(char *memory, char *row, uint32_t texel, bool write)
{
	switch (texel) {
	case 1:
		move(memory, row, 1, write);
		break;
	case 2:
		move(memory, row, 2, write);
		break;
	case 4:
		move(memory, row, 4, write);
		break;
	case 8:
		move(memory, row, 8, write);
		break;
	case 16:
		move(memory, row, 16, write);
		break;
	default:
		move(memory, row, texel, write);
		break;
	}
}

static void transfer_linear(const struct transfer *t)
{
	uint32_t row;

	for (row = 0; row < t->height; row++)
		move(t->memory + tsr_surface_offset(t->surface, t->x, t->y + row),
		     t->rows + row * t->pitch, (size_t)t->width * t->surface->texel, t->write);
}

static void transfer_tiled(const struct transfer *t)
{
	uint32_t texel = t->surface->texel, row, column, x, y;
	uint32_t of_x[TSR_TILE_DIM], of_y;
	char *tiles, *tile, *rows;

	for (x = 0; x < TSR_TILE_DIM; x++)
		of_x[x] = tsr_tile_index(x, 0);
	for (row = 0; row < t->height; row++) {
		y = t->y + row;
		of_y = tsr_tile_index(0, y % TSR_TILE_DIM);
		tiles = t->memory + (size_t)(y / TSR_TILE_DIM) * t->surface->pitch;
		rows = t->rows + row * t->pitch;
		for (column = 0; column < t->width; column++) {
			x = t->x + column;
			tile = tiles + (size_t)(x / TSR_TILE_DIM) * TILE_TEXELS * texel;
			move_texel(tile + (size_t)(of_x[x % TSR_TILE_DIM] ^ of_y) * texel,
				   rows + (size_t)column * texel, texel, t->write);
		}
	}
}

static int run(const struct transfer *transfer)
{
	int ret;

	ret = check(transfer);
	if (ret || !transfer->width || !transfer->height)
		return ret;
	if (transfer->surface->layout == TSR_LAYOUT_LINEAR)
		transfer_linear(transfer);
	else
		transfer_tiled(transfer);
	return 0;
}

int tsr_surface_write(const struct tsr_surface *surface, void *memory, uint32_t x, uint32_t y,
		      uint32_t width, uint32_t height, const void *source, size_t source_pitch)
{
	const struct transfer transfer = {
		surface, memory, x, y, width, height, (char *)source, source_pitch, true,
	};

	return run(&transfer);
}

int tsr_surface_read(const struct tsr_surface *surface, const void *memory, uint32_t x, uint32_t y,
		     uint32_t width, uint32_t height, void *target, size_t target_pitch)
{
	const struct transfer transfer = {
		surface, (char *)memory, x, y, width, height, target, target_pitch, false,
	};

	return run(&transfer);
}
