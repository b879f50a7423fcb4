/* SPDX-License-Identifier: MIT */
/*
 * libtessera: where texels lie in memory.
 *
 * Two layouts (Documentation/hw: enum LAYOUT): linear, rows of texels PITCH bytes apart; and tiled,
 * rows of 16x16 u-interleaved tiles, PITCH bytes from one row of tiles to the next. In a tile the
 * texel (x, y) has the index whose bits 2i are x_i ^ y_i and whose bits 2i + 1 are y_i. Texels are
 * 1 to 16 bytes, and not looked into: formats are the caller's.
 *
 * All functions are pure: no device, no state, any thread. A surface is plain data .
 */
#ifndef TESSERA_LAYOUT_H
#define TESSERA_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "tsr_enums.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A flag of tsr_surface.layout: the surface has compression metadata, and its address is that of a
 * TAGGED_SURFACE. tsr_image_get_copy_surface() returns such surfaces. Only tsr_cmd_copy_image() and
 * tsr_cmd_fill_image() accept them.
 */
#define TSR_SURFACE_TAGGED 2u

/* A rectangle of texels in memory. Filled by tsr_surface_init() but for its address. */
struct tsr_surface {
	uint64_t va;		/* GPU address of its first byte, a multiple of @align */
	uint32_t width;		/* texels, 1 to TSR_RECT_MAX */
	uint32_t height;	/* likewise */
	enum tsr_layout layout;
	uint32_t texel;		/* bytes of a texel, 1 to TSR_TEXEL_MAX */
	uint32_t pitch;		/* bytes from row to row; tiled: from tiles to tiles below */
	uint32_t align;		/* what its first byte has to be aligned to, in bytes */
	uint64_t size;		/* bytes it takes, whole tiles included */
};

/*
 * tsr_surface_init(): lay out @width x @height texels of @texel bytes, at address 0. @pitch 0 takes
 * the smallest legal one (linear: rounded up to 64 bytes); another value is checked: at least a row
 * long and, when tiled, a multiple of 256 * @texel. -EINVAL for a value out of its range.
 */
int tsr_surface_init(struct tsr_surface *surface, enum tsr_layout layout, uint32_t width,
		     uint32_t height, uint32_t texel, uint32_t pitch);

/* tsr_surface_offset(): the first byte of texel (@x, @y), which has to be inside the surface. */
uint64_t tsr_surface_offset(const struct tsr_surface *surface, uint32_t x, uint32_t y);

/*
 * tsr_surface_write(): copy a rectangle of @width x @height texels from @source, rows of texels
 * @source_pitch bytes apart, to (@x, @y) of the surface that starts at @memory (a CPU mapping):
 * an upload, tiling where the surface is tiled. -EINVAL, before anything is written, if the
 * rectangle is not inside the surface or @source_pitch is shorter than a row; 0 x 0 writes nothing.
 */
int tsr_surface_write(const struct tsr_surface *surface, void *memory, uint32_t x, uint32_t y,
		      uint32_t width, uint32_t height, const void *source, size_t source_pitch);

/* tsr_surface_read(): the other direction, from the surface to rows of texels at @target. */
int tsr_surface_read(const struct tsr_surface *surface, const void *memory, uint32_t x, uint32_t y,
		     uint32_t width, uint32_t height, void *target, size_t target_pitch);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_LAYOUT_H */
