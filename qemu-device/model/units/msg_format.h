/* SPDX-License-Identifier: MIT */
/*
 * Pixel formats: texels in memory to numbers and back, and numbers to staging registers and back.
 *
 * In: format, order and flags of a descriptor; bytes of a texel; words of registers. Out: four
 * components, red, green, blue, alpha, in a union tsr_texel. Formats are those of the description
 * (enum PIXEL_FORMAT); of compressed ones, which textures alone have, only what is said about them:
 * their texels are decoded elsewhere (texture/codec.h). Rounding: to nearest, ties away from
 * zero for normalized components, to even for floating point; what does not fit saturates.
 */
#ifndef TSR_SHADER_MSG_FORMAT_H
#define TSR_SHADER_MSG_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "tsr_regs.h"

#define TSR_TEXEL_BYTES_MAX 16

/* Kinds of components, in capitals as in the description. */
enum tsr_format_kind {
	TSR_FORMAT_KIND_NONE,		/* no such format */
	TSR_FORMAT_KIND_UNORM,
	TSR_FORMAT_KIND_SNORM,
	TSR_FORMAT_KIND_FLOAT,
	TSR_FORMAT_KIND_UFLOAT,
	TSR_FORMAT_KIND_SHARED,
	TSR_FORMAT_KIND_FIXED,
	TSR_FORMAT_KIND_CONSTANT,
	TSR_FORMAT_KIND_BLOCK,		/* of descriptions; a format's is its texels' */
	TSR_FORMAT_KIND_UINT,		/* from here on integers */
	TSR_FORMAT_KIND_SINT,
};

/* A format, ready for use. */
struct tsr_format {
	uint8_t kind;			/* enum tsr_format_kind */
	uint8_t codec;			/* a compressed format: its number; else 0 */
	uint8_t bytes;			/* of a texel; of a compressed block; 0: no memory */
	uint8_t align;			/* of a texel */
	bool srgb;
	bool truncate;			/* wider numbers are rounded towards zero */
	bool keep;			/* a store keeps bits of the texel */
	bool plain;			/* RGBA8_UNORM without sRGB, the most common one */
	/* texels are decoded and encoded on vectors, see struct tsr_msg_path */
	bool decodes, encodes;
	uint8_t bits[4];		/* of the format's R, G, B, A; 0: not there */
	uint8_t shift[4];		/* where they begin; nothing of a compressed format */
	/* enum tsr_component: where red, green, blue, alpha come from; what R, G, B, A become */
	uint8_t from[4];
	uint8_t to[4];
};

/* Components of a texel: @i in integer formats, else @f. */
union tsr_texel {
	float f[4];
	int64_t i[4];
};

static inline bool tsr_format_is_integer(const struct tsr_format *format)
{
	return format->kind >= TSR_FORMAT_KIND_UINT;
}

/*
 * Components of 32-bit floating point that stand in memory in the order of the registers: as many;
 * 0 if the format is not of that kind. What lies after them in a texel does not depend on memory.
 */
unsigned int tsr_format_floats(const struct tsr_format *format);

/* Fill @format; false: no such format or order, or a compressed format. */
bool tsr_format_find(struct tsr_format *format, unsigned int number, unsigned int order, bool srgb);
/* Fill @format for a texture, which may be compressed. */
bool tsr_format_find_texture(struct tsr_format *format, unsigned int number, unsigned int order,
			     bool srgb);

/* The values of a byte of an UNORM format, as it is and with the sRGB curve: 256 of them. */
const float *tsr_format_bytes(bool srgb);

/* Components of the texel at @p (format->bytes), in the format's order and in the result's. */
void tsr_format_load_raw(const struct tsr_format *format, const void *p, union tsr_texel *texel);
void tsr_format_load(const struct tsr_format *format, const void *p, union tsr_texel *texel);
/* Components in the format's order put in the order of the result. */
void tsr_format_order(const struct tsr_format *format, const union tsr_texel *raw,
		      union tsr_texel *texel);
/* Store a texel; with format->keep the bytes at @p are those it has now. */
void tsr_format_store(const struct tsr_format *format, void *p, const union tsr_texel *texel);

/* Registers that @components components of @type (enum tsr_register_type) take. */
unsigned int tsr_register_words(unsigned int type, unsigned int components);
/* A texel in registers, and back; components beyond @components are 0, 0, 0 and 1. */
void tsr_format_to_registers(const struct tsr_format *format, const union tsr_texel *texel,
			     unsigned int type, unsigned int components, uint32_t word[8]);
void tsr_format_from_registers(const struct tsr_format *format, union tsr_texel *texel,
			       unsigned int type, unsigned int components,
			       const uint32_t word[8]);

/* 16-bit floating-point numbers, by their bits. */
float tsr_half_to_float(uint16_t half);
uint16_t tsr_float_to_half(float value);

#endif
