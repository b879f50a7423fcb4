/* SPDX-License-Identifier: MIT */
/*
 * The texture unit's parts.
 *
 *   msg_texel.c    descriptors, and single texels in memory
 *   tex_tags.c     texels of render targets with tags
 *   tex_cache.c    what is kept of both: prepared descriptors, blocks of decoded texels
 *   tex_decode.c   blocks of texels as they lie in memory to blocks as filters want them
 *   block*.c       compressed blocks, a file for each family of formats
 *   tex_lod.c      derivatives to levels of detail and footprints
 *   msg_filter.c   filters, lane by lane: the definition of every result
 *   sampler.c      whole warps: levels, places of anisotropic samples, results
 *   tex_path.h     lookups in a level for many lanes at once, once for each SIMD path
 *   tex_rows.h     … of texels that lie in rows, with vectors as long as a warp
 *   msg_texture.c  the instructions
 *   msg_var_tex.c  VAR_TEX, which samples what the varying unit has interpolated
 *
 * In: descriptors of a texture and a sampler, coordinates. Out: a texel in the texture's own kind
 * of numbers, or a fault. All arithmetic is in single precision, each operation rounded by itself,
 * in the order that messages.md describes: every path has the same results, bit for bit.
 */
#ifndef TSR_SHADER_MSG_TEXTURE_H
#define TSR_SHADER_MSG_TEXTURE_H

#include "memory/tags.h"
#include "units/msg.h"
#include "units/msg_format.h"

#define TSR_LOD_ONE 256			/* levels of detail have 8 fraction bits */
#define TSR_TEXEL_ONE 256		/* so have coordinates that filters work with */
#define TSR_CUBE_FACES 6u
#define TSR_ANISOTROPY_MAX 16

/* A surface that has been looked at. */
struct tsr_surface_cache {
	bool valid;
	uint32_t index;
	struct tsr_texture_surface surface;
};

/* Kind of the texels of a decoded block. */
enum tsr_block_kind {
	TSR_TEX_BLOCK_NONE,			/* texels of this texture are not kept */
	TSR_TEX_BLOCK_BYTES,		/* four bytes, n / 255: filtered as integers */
	TSR_TEX_BLOCK_FLOATS,		/* four numbers */
	TSR_TEX_BLOCK_INTEGERS,		/* four words, never filtered */
};

/* True if a texture word is valid; true if it is that of a dual texture. */
struct tsr_texture_word;
bool tsr_texture_word_is_good(const struct tsr_texture_word *w);
bool tsr_texture_word_is_dual(uint64_t word);
/*
 * Staging registers of TEXC with texture word @word, counted from the first: bit n is register n.
 * Registers of which a half is written are read, too. Returns false if the sampler does not do it.
 */
struct tsr_texture_staging {
	uint16_t reads, writes;
};
bool tsr_texture_word_staging(uint32_t word, struct tsr_texture_staging *staging);

/* A texture, ready for use. */
struct tsr_texture_view {
	uint64_t key, va;		/* of its descriptor; key 0: nothing here */
	uint16_t serial;		/* part of the keys of its blocks, see tex_cache.h */
	bool tiled;
	uint8_t kind[2];		/* enum tsr_block_kind; [1] if sRGB is not decoded */
	uint8_t dimension;		/* enum tsr_texture_dimension */
	uint8_t dimensions;		/* that a filter works in: 1, 2 or 3 */
	uint8_t swizzle[4];		/* enum tsr_component */
	uint8_t samples;
	uint8_t levels;
	uint8_t first_level;		/* MIN_LEVEL */
	uint16_t min_lod, max_lod;
	uint32_t word;			/* format and order, as in a conversion word */
	uint32_t width, height, depth;	/* of level 0 */
	uint32_t layers;		/* faces of cubes counted */
	bool normalize;
	bool tagged;			/* a render target with tags, see tex_tags.c */
	int32_t center;			/* of a texel, in 1 / TSR_TEXEL_ONE: a half, or 0 */
	uint64_t surfaces;
	struct tsr_format format;
	struct tsr_format linear;	/* the same without sRGB */
	struct tsr_surface_cache cache[4];
};

/* A sampler, ready for use. */
struct tsr_sampler_view {
	uint64_t key, va;		/* of its descriptor; key 0: nothing here */
	uint32_t serial;		/* no other sampler of the last 2^32 has it */
	uint8_t anisotropy;		/* most places of a sample: 1 if it is isotropic */
	struct tsr_sampler s;
};

/*
 * The descriptor of texture or sampler @index. It stays where it is until the next call for one of
 * its kind in another message. *@view is NULL if there is none in the table.
 */
enum tsr_step tsr_texture_find(struct tsr_msg_env *env, uint32_t index,
			       struct tsr_texture_view **view);
enum tsr_step tsr_sampler_find(struct tsr_msg_env *env, uint32_t index,
			       struct tsr_sampler_view **view);

/* Extent of level @level of something that has @size at level 0. */
static inline uint32_t tsr_level_extent(uint32_t size, unsigned int level)
{
	return size >> level ? size >> level : 1;
}

/* True if coordinates are 0 to 1. */
static inline bool tsr_is_normalized(const struct tsr_texture_view *view,
				     const struct tsr_sampler *sampler)
{
	return sampler->normalized || view->normalize ||
	       view->dimension == TSR_TEXTURE_DIMENSION_CUBE;
}

/* Bytes that reading a texel counts as: of a compressed block each texel is one. */
static inline unsigned int tsr_texel_cost(const struct tsr_format *format)
{
	return format->codec ? 1 : format->bytes;
}

/* Place of a texel. All of it lies in the texture. */
struct tsr_texel_place {
	unsigned int level;
	uint32_t x, y, z;
	uint32_t layer;			/* of cubes: 6 * layer + face */
	unsigned int sample;
};

enum tsr_step tsr_texel_surface(struct tsr_msg_env *env, struct tsr_texture_view *view,
				const struct tsr_texel_place *place,
				const struct tsr_texture_surface **surface);
/* Where a texel of surface @s is, or the compressed block that has it. */
uint64_t tsr_texel_at(const struct tsr_texture_view *view, const struct tsr_texture_surface *s,
		      const struct tsr_texel_place *place);
/* The size of the blocks of surface @s, of compressed format @format. */
void tsr_block_size(const struct tsr_format *format, const struct tsr_texture_surface *s,
		    unsigned int *width, unsigned int *height);
enum tsr_step tsr_texel_address(struct tsr_msg_env *env, struct tsr_texture_view *view,
				const struct tsr_texel_place *place, uint64_t *va);
/*
 * tex_tags.c. Find the tags of @view, whose other fields are filled in. Faults if it cannot have
 * tags.
 */
enum tsr_step tsr_texture_tags(struct tsr_msg_env *env, struct tsr_texture_view *view);
/* The surface of texel @place of @view, which is tagged. */
enum tsr_step tsr_texture_tagged(struct tsr_msg_env *env, struct tsr_texture_view *view,
				 const struct tsr_texel_place *place, struct tsr_tagged *tagged);
/* The last tag of @view, which is tagged; kept as long as its descriptor is. */
struct tsr_tag_last *tsr_texture_last_tag(const struct tsr_msg_env *env,
					  const struct tsr_texture_view *view);
/* Components in the order of the result, the texture's swizzle not applied. */
enum tsr_step tsr_texel_read(struct tsr_msg_env *env, struct tsr_texture_view *view, bool linear,
			     const struct tsr_texel_place *place, union tsr_texel *texel);
/* The sampler's border color, as such a texel. */
void tsr_texel_border(const struct tsr_texture_view *view, const struct tsr_sampler *sampler,
		      union tsr_texel *texel);

/* ---- Footprints ------------------------------------------------------------------------------ */

/* Footprint of a sample, from its derivatives. */
struct tsr_footprint {
	int lod;			/* of each place, before bias and clamps */
	unsigned int places;		/* 1: isotropic */
	float axis[2];			/* along which the places lie, in coordinates */
};

/* The footprint of derivatives d/dx and d/dy. */
void tsr_footprint(const struct tsr_texture_view *texture, const struct tsr_sampler_view *sampler,
		   const float ddx[3], const float ddy[3], struct tsr_footprint *footprint);
/* A footprint from the squares of the lengths. In 3D it reads no derivative. */
void tsr_footprint_squares(const struct tsr_texture_view *texture,
			   const struct tsr_sampler_view *sampler, float x, float y,
			   const float ddx[2], const float ddy[2],
			   struct tsr_footprint *footprint);
/*
 * A footprint as the two words of a gradient descriptor, level of detail with bias and clamps as
 * asked; and the places that such a descriptor says.
 */
void tsr_footprint_to_words(const struct tsr_texture_view *texture,
			    const struct tsr_sampler_view *sampler,
			    const struct tsr_footprint *f, bool bias, bool clamp, uint32_t word[4]);
void tsr_footprint_from_words(const struct tsr_texture_view *texture,
			      const struct tsr_sampler_view *sampler, uint32_t lod, uint32_t axis,
			      struct tsr_footprint *f);
/*
 * Logarithms to base 2, TSR_LOD_ONE / 2 times: for each value of the top 8 bits of a mantissa the
 * rounded one of the smallest number that has them, and the mantissa from which on it is one more.
 */
#define TSR_LOD_MANTISSA 23
#define TSR_LOD_BUCKETS 256
struct tsr_lod_log {
	int32_t base;
	uint32_t next;
};
extern struct tsr_lod_log tsr_lod_logs[TSR_LOD_BUCKETS];
/* Fill them; before anything else of this file is used. */
void tsr_lod_init(void);

/* Half of the logarithm of @square to base 2, TSR_LOD_ONE times, rounded; NaN is 0. */
static inline int tsr_lod_of_square(float square)
{
	const struct tsr_lod_log *log;
	uint32_t bits, mantissa;

	if (!(square > 0))
		return INT16_MIN;
	if (square > 0x1p126f)
		return INT16_MAX;
	memcpy(&bits, &square, sizeof(bits));
	mantissa = bits & ((1u << TSR_LOD_MANTISSA) - 1);
	log = &tsr_lod_logs[mantissa >> (TSR_LOD_MANTISSA - 8)];
	return ((int)(bits >> TSR_LOD_MANTISSA) - 127) * (TSR_LOD_ONE / 2) + log->base +
	       (mantissa >= log->next);
}

/* Where place @i of @n lies on the axis, from its middle. */
float tsr_footprint_place(unsigned int i, unsigned int n);

/* Which levels a sample is made of. */
struct tsr_levels {
	bool near;			/* no filter within a level */
	uint8_t level;			/* the level; also the next one, if @weight is not 0 */
	float weight;
};

/* The levels of @lod, bias and clamps applied. */
static inline struct tsr_levels tsr_lod_levels(const struct tsr_texture_view *texture,
				 const struct tsr_sampler *sampler, int lod)
{
	bool larger = lod <= (sampler->mag_cutoff ? TSR_LOD_ONE / 2 : 0);
	bool integer = tsr_format_is_integer(&texture->format);
	int last = (texture->levels - 1) * TSR_LOD_ONE;
	struct tsr_levels l = {
		.near = integer || (larger ? sampler->mag_nearest : sampler->min_nearest),
	};

	lod = larger ? 0 : lod > last ? last : lod;
	if (sampler->mipmap == TSR_MIPMAP_MODE_LINEAR) {
		l.level = lod / TSR_LOD_ONE;
		if (!integer)
			l.weight = (float)(lod % TSR_LOD_ONE) / TSR_LOD_ONE;
	} else if (sampler->mipmap == TSR_MIPMAP_MODE_NEAREST) {
		l.level = (lod + TSR_LOD_ONE / 2) / TSR_LOD_ONE;
	}
	return l;
}

/* The level of detail of @base (8 fraction bits) after the sampler's bias and all clamps. */
static inline int tsr_filter_lod(const struct tsr_texture_view *texture,
				 const struct tsr_sampler *sampler, int base, bool bias,
				 bool clamp)
{
	int low = sampler->min_lod > texture->min_lod ? sampler->min_lod : texture->min_lod;
	int high = sampler->max_lod < texture->max_lod ? sampler->max_lod : texture->max_lod;
	int lod = base + (bias ? sampler->lod_bias : 0);

	if (clamp) {
		lod = lod < low ? low : lod;
		lod = lod > high ? high : lod;
	}
	return lod < INT16_MIN ? INT16_MIN : lod > INT16_MAX ? INT16_MAX : lod;
}

/*
 * The level of detail of a sample with @mode (enum tsr_texture_lod), bias and clamps applied:
 * @word is what was staged, @computed the footprint's.
 */
int tsr_lod_staged(const struct tsr_texture_view *texture, const struct tsr_sampler *sampler,
		   unsigned int mode, uint32_t word, int computed);

/* ---- Filters --------------------------------------------------------------------------------- */

/* A lookup of texels. */
struct tsr_lookup {
	struct tsr_msg_env *env;
	struct tsr_texture_view *texture;
	const struct tsr_sampler_view *sampler;
	float at[3];			/* coordinates; of a face of a cube */
	unsigned int face;		/* of cubes */
	uint32_t layer;			/* of arrays */
	bool shadow;			/* compare with @reference */
	float reference;
	int8_t offset[3];		/* in texels */
	unsigned int places;		/* of an anisotropic sample; 0 and 1: isotropic */
	float axis[2];
};

/*
 * A filtered sample at level of detail @lod, with bias and clamps applied; four texels at @level,
 * of them component @component after the texture's swizzle. Results are in the order of registers:
 * the swizzle is applied.
 */
enum tsr_step tsr_filter_sample(const struct tsr_lookup *lookup, int lod, union tsr_texel *result);
enum tsr_step tsr_filter_gather(const struct tsr_lookup *lookup, unsigned int level,
				unsigned int component, union tsr_texel *result);
/*
 * Derivatives of a quad, from the coordinates of those of its four lanes that are @active, bit n
 * for lane n.
 */
void tsr_filter_derivatives(const struct tsr_lookup lookup[4], unsigned int active, float ddx[3],
			    float ddy[3]);
/* Filters return one NaN, whatever they met. */
static inline float tsr_one_nan(float x)
{
	return x == x ? x : __builtin_nanf("");
}

/*
 * A result in the texture's kind of numbers as words for registers, of type @result (enum
 * tsr_texture_result). 16-bit types put two components into a word. @texel is changed.
 */
void tsr_texture_to_registers(const struct tsr_format *format, union tsr_texel *texel,
			      unsigned int result, uint32_t word[4]);
/* Apply the texture's swizzle. */
void tsr_filter_swizzle(const struct tsr_texture_view *texture, const union tsr_texel *texel,
			union tsr_texel *result);

#endif
