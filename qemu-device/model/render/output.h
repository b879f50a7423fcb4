/* SPDX-License-Identifier: MIT */
/*
 * The output merger: colors of fragments into the samples of a color target, in a tile buffer.
 *
 * In: what a DRAW_STATE, a BLEND and a RENDER_TARGET say, prepared once; warps of four quads with
 * the words BLEND has staged and the samples of each pixel that passed all tests. Out: samples in
 * the tile buffer, blended, masked, joined by a logic operation, rounded to the target's format.
 *
 * A tile buffer holds samples as they are in memory, so that what is blended again has been rounded
 * as if it had been stored, and a tile is loaded and stored by copying. Each sample of the pixels
 * is a plane of its own.
 *
 * Arithmetic is that of 32-bit floats, to nearest even: of each component source * factor, then
 * destination * factor, then the operation. A destination that is stored as an integer is that
 * times the float nearest to 1 / the largest one (texels of up to 32 bits). With normalized targets
 * source, second source and constant are clamped to the format's range before. The result times the
 * largest value of a normalized component is a 32-bit float too, to which a half is added before it
 * is cut off. A result that is not a number is the canonical NaN. All paths give the same bits.
 * Quads are written one after the other; quads of one warp may lie on top of each other.
 */
#ifndef TSR_TILE_OUTPUT_H
#define TSR_TILE_OUTPUT_H

#include "shader/lanes.h"
#include "units/msg_format.h"
#include "shader/tile_buffer.h"
#include "tsr_packets.h"

/* Four quads of a warp. Pixels 0 to 3 of a quad are (0, 0), (1, 0), (0, 1), (1, 1) from there. */
struct tsr_output_warp {
	/*
	 * As staged: word n of the lanes at color[n * step]. second is of dual-source blending,
	 * NULL: there is none, it is 0.
	 */
	const union tsr_lanes *color, *second;
	unsigned int step;
	uint16_t samples[TSR_WARP_LANES];	/* of each lane, those that are written */
	uint8_t x[TSR_WARP_LANES / 4], y[TSR_WARP_LANES / 4];	/* of each quad, in the tile */
};

/* One side of a blend equation. */
struct tsr_blend_term {
	uint8_t source, destination;	/* enum tsr_blend_factor */
	uint8_t op;			/* enum tsr_blend_op */
};

/* A component of the color as it lies in a texel, for the vector path. */
struct tsr_output_field {
	float scale, unit;		/* largest normalized value; 1 / scale, 0: always @rest */
	float rest;			/* 0; 1 where the format has nothing for it but 1 */
	uint32_t bits;			/* all ones; 0: it is not in the texel */
	uint8_t width;			/* number of bits */
	uint8_t word, shift;		/* 32-bit word of the texel, lowest bit in it */
	bool stored;			/* the component is written to the texel */
	bool curved;			/* sRGB */
	bool dithered;
};

/* A color that all pixels of blocks get. */
struct tsr_output_flat {
	union tsr_lanes color[4], second[4];	/* as staged, the same in all lanes */
	bool has_second;
	/* what is stored, if @plain says so; nothing else counts then */
	uint8_t texel[TSR_TEXEL_BYTES_MAX];
};

/* Colors of a block of 8 by 8 pixels, in four warps as they lie in the block. */
struct tsr_output_quads {
	const union tsr_lanes *color;	/* word n of warp w at color[n * step + w] */
	unsigned int step;
	unsigned int x, y;		/* of the block, in the tile */
	const uint64_t *mask;		/* by sample: pixels that are written */
};

struct tsr_output;
/*
 * 16 texels of tsr_output.words words each, out of staged words and, if tsr_output.merge, old
 * texels in the same form.
 */
typedef void tsr_output_lanes_fn(const struct tsr_output *o, const struct tsr_output_warp *w,
				 const uint32_t *old, uint32_t *texels);
/* 32-bit texels of the pixels @rows (tsr_block_rows()) of the block that begins at @first. */
typedef void tsr_output_block_fn(const struct tsr_output *o, const struct tsr_output_flat *flat,
				 uint8_t *first, uint32_t pitch, uint64_t rows);

/* Texels of a block whose pixels have different colors. */
typedef void tsr_output_quads_fn(const struct tsr_output *o, const struct tsr_output_quads *quads,
				 uint8_t *first, uint32_t pitch, uint64_t rows);

/*
 * Takes from @mask, by sample, what alpha to coverage takes of a block whose color is @color, as in
 * struct tsr_output_quads.
 */
typedef void tsr_output_thin_fn(const struct tsr_output *o, const union tsr_lanes *color,
				unsigned int step, unsigned int samples, uint64_t *mask);

/* How one target is written; filled by tsr_output_prepare(), constant then. */
struct tsr_output {
	struct tsr_format format;
	struct tsr_blend_term color, alpha;
	float constant[4];
	bool off;			/* nothing is written */
	bool blend;			/* by the equations; else the source replaces */
	bool logic, alpha_to_one, dither;
	bool merge;			/* texels are needed: to blend, for logic, bits that stay */
	bool keeps;			/* for one of the last two */
	uint8_t logic_op;		/* enum tsr_logic_op */
	uint8_t registers, components;	/* of the staged words: enum tsr_register_type, 1 to 4 */
	uint8_t samples;		/* of a pixel */
	uint8_t words;			/* number of 32-bit words that hold a texel */
	uint8_t written[TSR_TEXEL_BYTES_MAX];	/* bits of a texel that change */
	bool plain;			/* a color is one texel, whatever is there, and where */
	tsr_output_lanes_fn *lanes;	/* NULL: lane by lane */
	tsr_output_block_fn *block;	/* of 32-bit texels; NULL: warp by warp */
	tsr_output_quads_fn *quads;	/* the same */
	tsr_output_thin_fn *thin;	/* NULL: pixel by pixel */
	struct tsr_output_field field[4];	/* red, green, blue, alpha of the color */
	/* bits of a texel that hold the number 1, where no component of the color is written */
	uint32_t ones[TSR_TEXEL_BYTES_MAX / 4];
};

struct tsr_simd;

/* True if colors can be written in that format. */
bool tsr_output_format_valid(unsigned int format, unsigned int order);

/*
 * Prepare for the SIMD path @simd. False: the target's format or what
 * @blend says of registers cannot be.
 */
bool tsr_output_prepare(struct tsr_output *o, const struct tsr_render_target *target,
			const struct tsr_draw_state *draw, const struct tsr_blend *blend,
			unsigned int samples, const struct tsr_simd *simd);

/* Write the colors of a warp. */
void tsr_output_write(const struct tsr_output *o, const struct tsr_tile_target *t,
		      const struct tsr_output_warp *w);

/* Write the colors of a block of pixels. */
void tsr_output_write_quads(const struct tsr_output *o, const struct tsr_tile_target *t,
			    const struct tsr_output_quads *quads);

/*
 * The texels that colors of a warp, words as in tsr_output_warp, are wherever they are written.
 * False: that is not known, or they are larger.
 */
bool tsr_output_texels(const struct tsr_output *o, const union tsr_lanes *color, unsigned int step,
		       uint32_t texels[TSR_WARP_LANES]);
/* Fill @flat->texel, the rest is there. */
void tsr_output_flat_prepare(const struct tsr_output *o, struct tsr_output_flat *flat);
/*
 * Write it to the pixels of @mask (by sample; bits as pixels lie in a block) of the block at
 * (@x, @y): the same as warp by warp.
 */
void tsr_output_write_flat(const struct tsr_output *o, const struct tsr_tile_target *t,
			   const struct tsr_output_flat *flat, unsigned int x, unsigned int y,
			   const uint64_t *mask);

/*
 * The texel that a clear leaves, @words as in RENDER_TARGET.CLEAR_…: format.bytes bytes. Tells
 * nothing of depth and stencil.
 */
void tsr_output_clear_texel(const struct tsr_format *format, const uint32_t words[4],
			    uint8_t texel[TSR_TEXEL_BYTES_MAX]);

/*
 * Resolve @count pixels of row @y from @x on to @out, texels one after the other: the average, of
 * integers sample 0.
 */
void tsr_output_resolve(const struct tsr_format *format, const struct tsr_tile_target *t,
			unsigned int samples, unsigned int x, unsigned int y, unsigned int count,
			uint8_t *out);

/*
 * Coverage for @alpha of @samples samples at pixel (@x, @y): as many as round(alpha * samples), in
 * an order of their own for each of four pixels that lie together; a higher alpha takes none away.
 */
uint16_t tsr_alpha_coverage(float alpha, unsigned int samples, unsigned int x, unsigned int y);
/* Alpha of lane @lane of a color staged as @o says, its words at @color as in tsr_output_warp. */
float tsr_output_alpha(const struct tsr_output *o, const union tsr_lanes *color,
		       unsigned int step, unsigned int lane);

/* The functions of a SIMD path for what @o says; each returns NULL if the path has none for it. */
struct tsr_output_path {
	tsr_output_lanes_fn *(*lanes)(const struct tsr_output *o);
	tsr_output_block_fn *(*block)(const struct tsr_output *o);
	tsr_output_quads_fn *(*quads)(const struct tsr_output *o);
	tsr_output_thin_fn *(*thin)(const struct tsr_output *o);
};

/* AVX-512 writes single blocks as AVX2 does: a row of a block is half of its vectors. */
tsr_output_block_fn *tsr_output_block_avx2(const struct tsr_output *o);

#endif
