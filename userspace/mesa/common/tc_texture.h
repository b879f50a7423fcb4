/* SPDX-License-Identifier: MIT */
/* Descriptors of textures and of images of shaders, and border colors. The functions are pure. */
#ifndef TC_TEXTURE_H
#define TC_TEXTURE_H

#include "tc_format.h"
#include "tc_layout.h"

#define TC_DESCRIPTOR_QWORDS	4u	/* of a TEXTURE, of a SAMPLER */
#define TC_LOD_MAX		0x1fffu	/* 5 bits, and 8 of fraction */

/* A part of a texture as a shader sees it. */
struct tc_view {
	uint64_t va;			/* of the texture's first byte; of a buffer, of its own */
	const struct tc_layout *layout;	/* NULL: texels of a buffer */
	enum pipe_format format;
	uint8_t dimension;		/* enum tsr_texture_dimension */
	uint8_t swizzle[4];		/* enum tsr_component of red, green, blue and alpha */
	uint32_t width, height, depth;	/* of the first level; depth: slices of a volume, else 1 */
	uint32_t first_level, levels;
	uint32_t first_layer, layers;	/* faces count as layers */
	uint32_t samples;
};

/* tc_view_surfaces(): the number of TEXTURE_SURFACEs of a view. */
uint64_t tc_view_surfaces(const struct tc_view *view);

/* tc_view_pack(): write the TEXTURE of a view to @texture, its surfaces to @surfaces (at @va). */
void tc_view_pack(const struct tc_view *view, uint64_t va, uint64_t *surfaces, uint64_t *texture);

/*
 * tc_image_pack(): write the first level of a view as an image of a shader: a word of ATTRIBUTE,
 * which names buffer @buffer, and two entries of buffers. @size: bytes of a buffer.
 */
void tc_image_pack(const struct tc_view *view, unsigned buffer, uint64_t size, uint64_t *attribute,
		   uint64_t *buffers);

/* tc_image_none(): an image of no size. */
void tc_image_none(unsigned buffer, uint64_t *attribute, uint64_t *buffers);

/*
 * tc_mirrored(): the comparison with its sides exchanged. APIs have the reference on the left, the
 * device the texel. @function is a PIPE_FUNC, a VkCompareOp or an enum tsr_compare_function: their
 * values are equal.
 */
uint32_t tc_mirrored(uint32_t function);

/* tc_border(): the border @color (red first) as the texels of such a texture are stored. */
void tc_border(enum pipe_format format, const uint32_t color[4], uint32_t stored[4]);

#endif
