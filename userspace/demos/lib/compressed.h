/* SPDX-License-Identifier: MIT */
/*
 * Files of compressed textures: DDS, KTX, KTX 2 and ASTC.
 *
 * In:  two-dimensional textures of the formats that the GPU has, with levels; no cubes, arrays or
 *      volumes, nothing compressed once more (KTX 2's supercompression), nothing big-endian.
 * Out: where the blocks of each level lie, in rows, the top one first.
 * Functions return 0, or -1 with one line of text in *error (PICTURE_ERROR bytes).
 */
#ifndef COMPRESSED_H
#define COMPRESSED_H

#include "picture.h"

#define COMPRESSED_LEVELS 15
#define COMPRESSED_SIDE	16384u
/* Bytes of the largest file, 16 for each block of 4x4 texels and its levels, and of headers. */
#define COMPRESSED_BYTES	((size_t)COMPRESSED_SIDE * COMPRESSED_SIDE * 3 / 2)

struct compressed {
	uint32_t format;		/* enum tsr_pixel_format */
	uint32_t order;			/* enum tsr_component_order */
	bool srgb;
	uint32_t width, height;		/* texels of level 0 */
	uint32_t block_width, block_height, block_bytes;
	uint32_t levels;
	const uint8_t *level[COMPRESSED_LEVELS];	/* blocks; pitch is compressed_pitch() */
	uint8_t *file;			/* what they lie in */
	size_t file_size;		/* its bytes */
};

/* compressed_is(): whether a file of @size bytes at @data says that it is of one of these kinds. */
bool compressed_is(const uint8_t *data, size_t size);
/* compressed_parse(): the file of @size bytes at @data, which stays the caller's. */
int compressed_parse(struct compressed *c, const uint8_t *data, size_t size, char *error);
/* compressed_read(): the file @path, read whole; compressed_free() its bytes. */
int compressed_read(struct compressed *c, const char *path, char *error);
void compressed_free(struct compressed *c);

/* Bytes from one row of blocks of a level to the next. */
static inline size_t compressed_pitch(const struct compressed *c, uint32_t level)
{
	uint32_t width = c->width >> level ? c->width >> level : 1;

	return (width + c->block_width - 1) / c->block_width * (size_t)c->block_bytes;
}

#endif
