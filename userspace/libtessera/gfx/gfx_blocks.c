// SPDX-License-Identifier: MIT
/* Images of compressed formats: rows of blocks, or tiles of 4 by 4 blocks. */
#include <errno.h>
#include <string.h>

#include "gfx.h"

#define TILE_DIM	4u	/* blocks along an edge of a tile */
#define TILE_BLOCKS	(TILE_DIM * TILE_DIM)

static bool is_astc(uint32_t format)
{
	return format == TSR_PIXEL_FORMAT_ASTC_2D_LDR || format == TSR_PIXEL_FORMAT_ASTC_2D_NARROW;
}

/* The low bits of a surface's address for an extent of ASTC; 8 if there is no such extent. */
static uint32_t extent_bits(uint32_t extent)
{
	static const uint8_t bits[13] = {
		8, 8, 8, 8, 0, 1, 2, 8, 4, 8, 6, 8, 7,
	};

	return extent < 13 ? bits[extent] : 8;
}

uint64_t gfx_block_bits(const struct tsr_image_info *i)
{
	return is_astc(i->format) ? extent_bits(i->block_height) << 3 | extent_bits(i->block_width)
				  : 0;
}

static bool astc_has(uint32_t width, uint32_t height)
{
	static const uint8_t sizes[14][2] = {
		{ 4, 4 }, { 5, 4 }, { 5, 5 }, { 6, 5 }, { 6, 6 }, { 8, 5 }, { 8, 6 }, { 8, 8 },
		{ 10, 5 }, { 10, 6 }, { 10, 8 }, { 10, 10 }, { 12, 10 }, { 12, 12 },
	};

	for (size_t n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++)
		if (sizes[n][0] == width && sizes[n][1] == height)
			return true;
	return false;
}

int tsr_format_block(enum tsr_pixel_format format, struct tsr_block *block)
{
	bool compressed = gfx_block_bytes(format);
	uint32_t bytes = compressed ? gfx_block_bytes(format) : gfx_format(format).bytes;

	if (!bytes)
		return tsr_fail(EINVAL, "format %u, expected a value of enum tsr_pixel_format",
				format);
	*block = (struct tsr_block) {
		.width = compressed ? 4 : 1, .height = compressed ? 4 : 1, .bytes = bytes,
	};
	return 0;
}

int gfx_blocks_check(const struct tsr_image_info *i, uint64_t features)
{
	bool astc = is_astc(i->format);

	if (!gfx_block_bytes(i->format)) {
		if (i->block_width != 1 || i->block_height != 1)
			return tsr_fail(EINVAL, "blocks of %u x %u texels in format %u, which is "
					"not ASTC", i->block_width, i->block_height, i->format);
		return 0;
	}
	if (!(features & DRM_TESSERA_FEATURE_COMPRESSED))
		return tsr_fail(EINVAL, "compressed format %u, which this GPU does not have",
				i->format);
	if (astc ? !astc_has(i->block_width, i->block_height)
		 : i->block_width != 4 || i->block_height != 4)
		return tsr_fail(EINVAL, "blocks of %u x %u texels in format %u, expected %s",
				i->block_width, i->block_height, i->format,
				astc ? "one of ASTC's 14 sizes" : "4 x 4");
	if (i->samples > 1 || i->flags & TSR_IMAGE_COMPRESSED)
		return tsr_fail(EINVAL, "compressed image of %u samples with flags 0x%x, expected "
				"1 sample and no tags: it cannot be a target", i->samples,
				i->flags);
	return 0;
}

/* A level: of width and height in blocks, whose bytes are its texels'. */
int gfx_blocks_surface(struct tsr_surface *s, const struct tsr_image_info *i, uint32_t width,
		       uint32_t height)
{
	uint32_t columns = (width + i->block_width - 1) / i->block_width;
	uint32_t rows = (height + i->block_height - 1) / i->block_height;
	int ret = tsr_surface_init(s, TSR_LAYOUT_LINEAR, columns, rows, gfx_block_bytes(i->format),
				   0);

	if (ret || i->layout == TSR_LAYOUT_LINEAR)
		return ret;
	s->layout = TSR_LAYOUT_TILED;
	s->pitch = (columns + TILE_DIM - 1) / TILE_DIM * TILE_BLOCKS * s->texel;
	s->size = (uint64_t)s->pitch * ((rows + TILE_DIM - 1) / TILE_DIM);
	return 0;
}

static uint64_t block_offset(const struct tsr_surface *s, uint32_t x, uint32_t y)
{
	uint32_t index;

	if (s->layout == TSR_LAYOUT_LINEAR)
		return (uint64_t)y * s->pitch + (uint64_t)x * s->texel;
	index = ((x ^ y) & 1) | (y & 1) << 1 | ((x ^ y) & 2) << 1 | (y & 2) << 2;
	return (uint64_t)(y / TILE_DIM) * s->pitch +
	       ((uint64_t)(x / TILE_DIM) * TILE_BLOCKS + index) * s->texel;
}

/* All blocks of a surface at @surface to or from rows at @rows, @pitch bytes apart. */
int gfx_blocks_copy(const struct tsr_surface *s, void *surface, void *rows, size_t pitch,
		    bool write)
{
	uint32_t x, y;

	if (pitch < (size_t)s->width * s->texel)
		return tsr_fail(EINVAL, "rows of blocks %zu bytes apart, expected %u or more",
				pitch, s->width * s->texel);
	for (y = 0; y < s->height; y++)
		for (x = 0; x < s->width; x++) {
			char *block = (char *)surface + block_offset(s, x, y);
			char *other = (char *)rows + y * pitch + (size_t)x * s->texel;

			memcpy(write ? block : other, write ? other : block, s->texel);
		}
	return 0;
}
