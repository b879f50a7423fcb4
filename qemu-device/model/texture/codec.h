/* SPDX-License-Identifier: MIT */
/*
 * Compressed blocks to texels.
 *
 *   block.c        which format has which decoder
 *   block_astc.c   ASTC
 *   block_bc.c     BC1 to BC5
 *   block_bc67.c   BC6H, BC7
 *   block_etc.c    ETC2, EAC
 *
 * In: the bytes of a block, any at all. Out: its texels, in the format's order, rows from the top.
 * Functions of their arguments alone, the same on every host, which any thread may call. What they
 * compute is what messages.md says; there is no block that is an error.
 */
#ifndef TSR_SHADER_BLOCK_H
#define TSR_SHADER_BLOCK_H

#include "msg_texture.h"

/* A decoded block of 4 by 4 texels: red, green, blue, alpha; 0, 0, 0, 1 where there are none. */
union tsr_block_texels {
	uint8_t byte[16][4];		/* n / 255 */
	float number[16][4];
};

typedef void tsr_block_fn(const uint8_t *block, union tsr_block_texels *to);

/* block_astc.c: any of its sizes; 16 bits for each component, of which sRGB has the upper 8. */
#define TSR_ASTC_DIM_MAX 12
void tsr_block_astc(const uint8_t *block, unsigned int width, unsigned int height, bool srgb,
		    uint16_t to[][4]);

/* block_bc.c */
tsr_block_fn tsr_block_bc1, tsr_block_bc2, tsr_block_bc3;	/* bytes */
tsr_block_fn tsr_block_bc4, tsr_block_bc4_signed, tsr_block_bc5, tsr_block_bc5_signed;

/* block_bc67.c */
tsr_block_fn tsr_block_bc7;		/* bytes */
tsr_block_fn tsr_block_bc6h, tsr_block_bc6h_signed;

/* block_etc.c */
tsr_block_fn tsr_block_etc2_rgb8, tsr_block_etc2_rgb8a1, tsr_block_etc2_rgba8;	/* bytes */
tsr_block_fn tsr_block_eac_r11, tsr_block_eac_r11_signed, tsr_block_eac_rg11,
	     tsr_block_eac_rg11_signed;

/* True if texels of compressed format @format are bytes. */
bool tsr_block_has_bytes(const struct tsr_format *format);
/* Decode the block of 4 by 4 texels at @block, format->bytes long, of compressed format @format. */
void tsr_block_texels(const struct tsr_format *format, const uint8_t *block,
		      union tsr_block_texels *to);
/* 16 texels of ASTC as others are. */
void tsr_block_narrow(const struct tsr_format *format, const uint16_t from[16][4],
		      union tsr_block_texels *to);
/*
 * Texel (@x, @y) of a block of @width by @height texels, in the order of the result, its sRGB curve
 * decoded.
 */
void tsr_block_pick(const struct tsr_format *format, const uint8_t *block, unsigned int width,
		    unsigned int height, unsigned int x, unsigned int y, union tsr_texel *texel);

/* True if blocks have the size that the surface says. */
static inline bool tsr_block_is_astc(const struct tsr_format *format)
{
	return format->codec == TSR_PIXEL_FORMAT_ASTC_2D_LDR ||
	       format->codec == TSR_PIXEL_FORMAT_ASTC_2D_NARROW;
}

/* Bits of a block that are read one after the other; there are always enough. */
struct tsr_block_bits {
	uint64_t low, high;
};

static inline unsigned int tsr_block_read(struct tsr_block_bits *b, unsigned int bits)
{
	unsigned int value = (unsigned int)b->low & ((1u << bits) - 1);

	if (bits) {
		b->low = b->low >> bits | b->high << (64 - bits);
		b->high >>= bits;
	}
	return value;
}

/* Numbers without any component. */
static inline void tsr_block_clear(union tsr_block_texels *to)
{
	static const float opaque[4] = { 0, 0, 0, 1 };

	for (unsigned int i = 0; i < 16; i++)
		memcpy(to->number[i], opaque, sizeof(opaque));
}

static inline uint64_t tsr_block_word(const uint8_t *block)
{
	uint64_t word;

	memcpy(&word, block, sizeof(word));
	return word;
}

#endif
