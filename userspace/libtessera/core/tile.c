// SPDX-License-Identifier: MIT
/*
 * CPU access to surfaces: rectangles of texels between rows and a linear or tiled surface, tile by
 * tile.
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

	if (s->layout != TSR_LAYOUT_LINEAR && s->layout != TSR_LAYOUT_TILED)
		return tsr_fail(EINVAL, "surface of layout %u for the CPU, expected linear or "
				"tiled", (uint32_t)s->layout);
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

/* 2 by 2 texels: they follow one another in memory, the lower two in reverse. */
static inline void move_square(char *square, char *upper, size_t pitch, uint32_t texel, bool write)
{
	char *lower = upper + pitch;

	move(square, upper, 2 * texel, write);
	move(square + 2 * texel, lower + texel, texel, write);
	move(square + 3 * texel, lower, texel, write);
}

/* 4 by 4 texels, four squares in the same order. */
static inline void move_block(char *block, char *rows, size_t pitch, uint32_t texel, bool write)
{
	move_square(block, rows, pitch, texel, write);
	move_square(block + 4 * texel, rows + 2 * texel, pitch, texel, write);
	move_square(block + 8 * texel, rows + 2 * pitch + 2 * texel, pitch, texel, write);
	move_square(block + 12 * texel, rows + 2 * pitch, pitch, texel, write);
}

typedef uint32_t four_words __attribute__((vector_size(16)));

/* Two squares of texels of 4 bytes, side by side. */
static inline void move_squares(char *left, char *right, char *upper, size_t pitch, bool write)
{
	char *lower = upper + pitch;
	four_words a, b, c, d;

	memcpy(&a, write ? upper : left, 16);
	memcpy(&b, write ? lower : right, 16);
	c = write ? __builtin_shufflevector(a, b, 0, 1, 5, 4) :
		    __builtin_shufflevector(a, b, 0, 1, 4, 5);
	d = write ? __builtin_shufflevector(a, b, 2, 3, 7, 6) :
		    __builtin_shufflevector(a, b, 3, 2, 7, 6);
	memcpy(write ? left : upper, &c, 16);
	memcpy(write ? right : lower, &d, 16);
}

static inline void move_block_words(char *block, char *rows, size_t pitch, uint32_t texel,
				    bool write)
{
	(void)texel;
	move_squares(block, block + 16, rows, pitch, write);
	move_squares(block + 48, block + 32, rows + 2 * pitch, pitch, write);
}

/*
 * @count whole tiles in a row. Four rows of all of them at a time: as many streams can be fetched
 * ahead.
 */
static inline void move_tiles(const struct transfer *t, char *tiles, char *rows, uint32_t count,
			      uint32_t texel,
			      void (*block)(char *, char *, size_t, uint32_t, bool))
{
	uint32_t x, y;

	for (y = 0; y < TSR_TILE_DIM; y += 4) {
		for (x = 0; x < count * TSR_TILE_DIM; x += 4) {
			const size_t tile = x / TSR_TILE_DIM * TILE_TEXELS;

			block(tiles + (tile + tsr_tile_index(x % TSR_TILE_DIM, y)) * texel,
			      rows + y * t->pitch + (size_t)x * texel, t->pitch, texel, t->write);
		}
	}
}

#if defined(__x86_64__)
typedef uint32_t line __attribute__((vector_size(64)));
#define WIDE __attribute__((target("avx512f")))

/* Lines of which two have the first halves, and the last halves, of @a and @b. */
#define FIRST_HALVES(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, \
						   16, 17, 18, 19, 20, 21, 22, 23)
#define LAST_HALVES(a, b) __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, \
						  24, 25, 26, 27, 28, 29, 30, 31)

WIDE static inline line load(const char *from)
{
	line l;

	memcpy(&l, from, sizeof(l));
	return l;
}

WIDE static inline void store(char *to, line l)
{
	memcpy(to, &l, sizeof(l));
}

/* Four rows of a tile, texels of 4 bytes: the lines of four blocks of 4 by 4. */
WIDE static inline void write_lines(char *const block[4], const char *row, size_t pitch)
{
	const line a = load(row), b = load(row + pitch);
	const line c = load(row + 2 * pitch), d = load(row + 3 * pitch);
	const line upper0 = __builtin_shufflevector(a, b, 0, 1, 17, 16, 2, 3, 19, 18,
						    4, 5, 21, 20, 6, 7, 23, 22);
	const line upper1 = __builtin_shufflevector(a, b, 8, 9, 25, 24, 10, 11, 27, 26,
						    12, 13, 29, 28, 14, 15, 31, 30);
	const line lower0 = __builtin_shufflevector(c, d, 2, 3, 19, 18, 0, 1, 17, 16,
						    6, 7, 23, 22, 4, 5, 21, 20);
	const line lower1 = __builtin_shufflevector(c, d, 10, 11, 27, 26, 8, 9, 25, 24,
						    14, 15, 31, 30, 12, 13, 29, 28);

	store(block[0], FIRST_HALVES(upper0, lower0));
	store(block[1], LAST_HALVES(upper0, lower0));
	store(block[2], FIRST_HALVES(upper1, lower1));
	store(block[3], LAST_HALVES(upper1, lower1));
}

/* The reverse. */
WIDE static inline void read_lines(char *const block[4], char *row, size_t pitch)
{
	const line a = load(block[0]), b = load(block[1]), c = load(block[2]), d = load(block[3]);
	const line upper0 = FIRST_HALVES(a, b), upper1 = FIRST_HALVES(c, d);
	const line lower0 = LAST_HALVES(a, b), lower1 = LAST_HALVES(c, d);

	store(row, __builtin_shufflevector(upper0, upper1, 0, 1, 4, 5, 8, 9, 12, 13,
					   16, 17, 20, 21, 24, 25, 28, 29));
	store(row + pitch, __builtin_shufflevector(upper0, upper1, 3, 2, 7, 6, 11, 10, 15, 14,
						   19, 18, 23, 22, 27, 26, 31, 30));
	store(row + 2 * pitch, __builtin_shufflevector(lower0, lower1, 4, 5, 0, 1, 12, 13, 8, 9,
						       20, 21, 16, 17, 28, 29, 24, 25));
	store(row + 3 * pitch, __builtin_shufflevector(lower0, lower1, 7, 6, 3, 2, 15, 14, 11, 10,
						       23, 22, 19, 18, 31, 30, 27, 26));
}

/*
 * move_tiles() of texels of 4 bytes, where the processor can: 4 MiB in 120 us on a Zen 5, not
 * in 165 (reading: 112, 188).
 */
WIDE static void move_wide(const struct transfer *t, char *tiles, char *rows, uint32_t count)
{
	uint32_t tile, y;

	for (y = 0; y < TSR_TILE_DIM; y += 4) {
		for (tile = 0; tile < count; tile++) {
			char *at = tiles + tile * 4 * TILE_TEXELS;
			char *row = rows + y * t->pitch + (size_t)tile * 4 * TSR_TILE_DIM;
			char *const block[4] = {
				at + 4 * tsr_tile_index(0, y), at + 4 * tsr_tile_index(4, y),
				at + 4 * tsr_tile_index(8, y), at + 4 * tsr_tile_index(12, y),
			};

			if (t->write)
				write_lines(block, row, t->pitch);
			else
				read_lines(block, row, t->pitch);
		}
	}
}

#endif

static void move_words(const struct transfer *t, char *tiles, char *rows, uint32_t count)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f")) {
		move_wide(t, tiles, rows, count);
		return;
	}
#endif
	move_tiles(t, tiles, rows, count, 4, move_block_words);
}

/* Transfers tiles of any texel size. Returns false for sizes that are not supported. */
static bool transfer_tiles(const struct transfer *t, char *tiles, char *rows, uint32_t count)
{
	switch (count ? t->surface->texel : 0) {
	case 1:
		move_tiles(t, tiles, rows, count, 1, move_block);
		return true;
	case 2:
		move_tiles(t, tiles, rows, count, 2, move_block);
		return true;
	case 4:
		move_words(t, tiles, rows, count);
		return true;
	case 8:
		move_tiles(t, tiles, rows, count, 8, move_block);
		return true;
	case 16:
		move_tiles(t, tiles, rows, count, 16, move_block);
		return true;
	default:
		return false;
	}
}

/* Columns @x to @x1 and rows @y to @y1 of a tile, of which (@x, @y) is at @rows. */
static void transfer_part(const struct transfer *t, char *tile, char *rows, uint32_t x, uint32_t y,
			  uint32_t x1, uint32_t y1)
{
	const uint32_t texel = t->surface->texel;
	uint32_t column;

	for (; y < y1; y++, rows += t->pitch) {
		for (column = x; column < x1; column++)
			move_texel(tile + (size_t)tsr_tile_index(column, y) * texel,
				   rows + (size_t)(column - x) * texel, texel, t->write);
	}
}

/* Where of @at to @end the tile with @at ends. */
static uint32_t tile_end(uint32_t at, uint32_t end)
{
	const uint32_t left = TSR_TILE_DIM - at % TSR_TILE_DIM;

	return left < end - at ? at + left : end;
}

/* Rows @y to @y1, all of the same tiles. */
static void transfer_row(const struct transfer *t, uint32_t y, uint32_t y1)
{
	const uint32_t texel = t->surface->texel, right = t->x + t->width;
	uint32_t x, x1, whole;

	for (x = t->x; x < right; x = x1) {
		char *tile = t->memory + (size_t)(y / TSR_TILE_DIM) * t->surface->pitch +
			     (size_t)(x / TSR_TILE_DIM) * TILE_TEXELS * texel;
		char *rows = t->rows + (y - t->y) * t->pitch + (size_t)(x - t->x) * texel;

		x1 = tile_end(x, right);
		whole = y1 - y == TSR_TILE_DIM && x % TSR_TILE_DIM == 0 ?
				(right - x) / TSR_TILE_DIM : 0;
		if (transfer_tiles(t, tile, rows, whole))
			x1 = x + whole * TSR_TILE_DIM;
		else
			transfer_part(t, tile, rows, x % TSR_TILE_DIM, y % TSR_TILE_DIM,
				      (x1 - 1) % TSR_TILE_DIM + 1, (y1 - 1) % TSR_TILE_DIM + 1);
	}
}

static void transfer_tiled(const struct transfer *t)
{
	const uint32_t low = t->y + t->height;
	uint32_t y, y1;

	for (y = t->y; y < low; y = y1) {
		y1 = tile_end(y, low);
		transfer_row(t, y, y1);
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
