/* SPDX-License-Identifier: MIT */
/*
 * Blending and rounding of a warp to texels. A template for one SIMD path, see alu_path.h. output.c
 * has the reference, lane by lane.
 *
 * Everything is inlined into one function for each of the common ways to blend and one for all
 * others, for 32 and for 16-bit colors. They serve targets with normalized components in texels of
 * up to four bytes. Targets of other kinds share functions that ask for the registers' type.
 */
#include "output_parts.h"
#include "output_pack.h"

TSR_INLINE vu32 output_words(const union tsr_lanes *lanes, unsigned int at)
{
	vu32 x;

	memcpy(&x, &lanes->u[at], sizeof(x));
	return x;
}

/* Component @i of a staged color. */
TSR_INLINE vf32 output_component(const union tsr_lanes *staged, unsigned int step, bool half,
				 unsigned int i, unsigned int at)
{
	if (!half)
		return (vf32)output_words(staged + i * step, at);
	return pixel_half(output_words(staged + i / 2 * step, at) >> 16 * (i % 2) & 0xffff);
}

/* Components of a staged color for the chunk that begins at lane @at. */
TSR_INLINE void output_staged(const struct tsr_output *o, enum output_code code,
			      const union tsr_lanes *staged, unsigned int step, bool half,
			      unsigned int at, vf32 c[4])
{
	const bool integer = code == OUTPUT_WORDS && tsr_format_is_integer(&o->format);
	const vf32 zero = { 0 }, one = integer ? (vf32)tsr_splat(1) : zero + 1;

	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++) {
		if (i >= o->components || !staged)
			c[i] = i == 3 && staged ? one : zero;
		else
			c[i] = output_component(staged, step, half, i, at);
		c[i] = output_limit(o, code, c[i]);
	}
	if (o->alpha_to_one && staged && !integer)
		c[3] = one;
}

/* The word of a texel that has component @i. */
TSR_INLINE unsigned int output_word(const struct tsr_output *o, enum output_code code,
				    unsigned int i)
{
	return code == OUTPUT_SHORT ? 0 : code == OUTPUT_WORDS ? i :
	       code == OUTPUT_HALVES ? i / 2 : o->field[i].word;
}

/* Colors of the texels in memory, from their words. */
TSR_INLINE void output_old(const struct tsr_output *o, enum output_code code, const vu32 *words,
			   vf32 c[4])
{
	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++) {
		c[i] = output_load(o, i, code, words[output_word(o, code, i)]);
	}
}

/* A factor of component @i; @s source, @d destination, @t second source. */
TSR_INLINE vf32 output_factor(const struct tsr_output *o, unsigned int factor, unsigned int i,
			      const vf32 s[4], const vf32 d[4], const vf32 t[4])
{
	const vf32 zero = { 0 }, one = zero + 1;
	vf32 rest;

	switch (factor) {
	case TSR_BLEND_FACTOR_ONE:
		return one;
	case TSR_BLEND_FACTOR_SRC_COLOR:
		return s[i];
	case TSR_BLEND_FACTOR_ONE_MINUS_SRC_COLOR:
		return one - s[i];
	case TSR_BLEND_FACTOR_DST_COLOR:
		return d[i];
	case TSR_BLEND_FACTOR_ONE_MINUS_DST_COLOR:
		return one - d[i];
	case TSR_BLEND_FACTOR_SRC_ALPHA:
		return s[3];
	case TSR_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA:
		return one - s[3];
	case TSR_BLEND_FACTOR_DST_ALPHA:
		return d[3];
	case TSR_BLEND_FACTOR_ONE_MINUS_DST_ALPHA:
		return one - d[3];
	case TSR_BLEND_FACTOR_CONSTANT_COLOR:
		return zero + o->constant[i];
	case TSR_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR:
		return one - o->constant[i];
	case TSR_BLEND_FACTOR_CONSTANT_ALPHA:
		return zero + o->constant[3];
	case TSR_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA:
		return one - o->constant[3];
	case TSR_BLEND_FACTOR_SRC_ALPHA_SATURATE:
		rest = one - d[3];
		return i == 3 ? one : pixel_select(s[3] < rest, s[3], rest);
	case TSR_BLEND_FACTOR_SRC1_COLOR:
		return t[i];
	case TSR_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR:
		return one - t[i];
	case TSR_BLEND_FACTOR_SRC1_ALPHA:
		return t[3];
	case TSR_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA:
		return one - t[3];
	default:
		return zero;
	}
}

/* Limit the result of a blend equation to the target's range; not a number: the canonical NaN. */
TSR_INLINE vf32 output_result(const struct tsr_output *o, enum output_code code, vf32 x)
{
	if (code == OUTPUT_SHORT)
		return pixel_clamp(x);
	x = pixel_select(x == x, x, (vf32)tsr_splat(TSR_OUTPUT_NAN));
	return output_limit(o, code, x);
}

TSR_INLINE vf32 output_blend(const struct tsr_output *o, enum output_code code, unsigned int i,
			     const vf32 s[4], const vf32 d[4], const vf32 t[4])
{
	const struct tsr_blend_term *term = i == 3 ? &o->alpha : &o->color;
	vf32 source, destination;

	if (term->op == TSR_BLEND_OP_MIN)
		return pixel_select(s[i] < d[i], s[i], d[i]);
	if (term->op == TSR_BLEND_OP_MAX)
		return pixel_select(s[i] > d[i], s[i], d[i]);
	source = s[i] * output_factor(o, term->source, i, s, d, t);
	destination = d[i] * output_factor(o, term->destination, i, s, d, t);
	switch (term->op) {
	case TSR_BLEND_OP_SUBTRACT:
		return output_result(o, code, source - destination);
	case TSR_BLEND_OP_REVERSE_SUBTRACT:
		return output_result(o, code, destination - source);
	default:
		return output_result(o, code, source + destination);
	}
}

/* How colors are joined with those that are there. */
enum output_way {
	OUTPUT_OPAQUE,
	OUTPUT_OVER,	/* source * its alpha + destination * (1 - its alpha), alpha too */
	OUTPUT_ANY,
};

TSR_INLINE void output_join(const struct tsr_output *o, enum output_code code,
			    enum output_way way, const vf32 s[4], const vf32 d[4], const vf32 t[4],
			    vf32 c[4])
{
	const vf32 one = (vf32){ 0 } + 1;

	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++) {
		if (way == OUTPUT_OPAQUE)
			c[i] = s[i];
		else if (way == OUTPUT_OVER) /* not below 0, hardly above 1 */
			c[i] = s[i] * s[3] + d[i] * (one - s[3]);
		else
			c[i] = output_blend(o, code, i, s, d, t);
	}
}

/* A logic operation: each bit of its number stands for one of the four cases. */
TSR_INLINE vu32 output_logic(unsigned int op, vu32 s, vu32 d)
{
	vu32 result = { 0 };

	result |= op & TSR_LOGIC_OP_AND ? s & d : result;
	result |= op & TSR_LOGIC_OP_AND_REVERSE ? s & ~d : result;
	result |= op & TSR_LOGIC_OP_AND_INVERTED ? ~s & d : result;
	result |= op & TSR_LOGIC_OP_NOR ? ~(s | d) : result;
	return result;
}

/* Join the @words words of computed texels with those that are there. */
TSR_INLINE void output_keep(const struct tsr_output *o, unsigned int words, const vu32 *there,
			    vu32 *texel)
{
	for (unsigned int i = 0; i < words; i++) {
		uint32_t written;

		memcpy(&written, o->written + 4 * i, sizeof(written));
		if (o->logic)
			texel[i] = output_logic(o->logic_op, texel[i], there[i]);
		texel[i] = (texel[i] & written) | (there[i] & ~written);
	}
}

TSR_INLINE void output_lanes(const struct tsr_output *o, const struct tsr_output_warp *w,
			     const uint32_t *old, uint32_t *texels, enum output_code code,
			     enum output_way way, bool half)
{
	const unsigned int words = code == OUTPUT_SHORT ? 1 : o->words;
	float threshold[TSR_WARP_LANES];

	if (o->dither)
		tsr_output_thresholds(w, threshold);
	for (unsigned int at = 0; at < TSR_WARP_LANES; at += TSR_CHUNK_LANES) {
		vu32 texel[4], there[4];
		vf32 s[4], d[4], t[4], c[4];

		TSR_UNROLL
		for (unsigned int i = 0; i < 4; i++)
			texel[i] = there[i] = tsr_splat(o->ones[i]);
		output_staged(o, code, w->color, w->step, half, at, s);
		if (o->merge)
			output_take(old + at * words, words, there);
		if (way != OUTPUT_OPAQUE)
			output_old(o, code, there, d);
		if (way == OUTPUT_ANY)
			output_staged(o, code, w->second, w->step, half, at, t);
		output_join(o, code, way, s, d, t, c);
		TSR_UNROLL
		for (unsigned int i = 0; i < 4; i++) {
			if (o->field[i].stored)
				texel[output_word(o, code, i)] |=
					output_store(o, i, code, c[i], threshold + at);
		}
		if (o->keeps)
			output_keep(o, words, there, texel);
		output_put(texel, words, texels + at * words);
	}
}

/* Component @i of staged integers, saturated to @field. */
TSR_INLINE vu32 output_integer(const struct tsr_output *o, const struct tsr_output_field *field,
			       const union tsr_lanes *staged, unsigned int step, unsigned int i,
			       unsigned int at)
{
	const bool halves = o->registers == TSR_REGISTER_TYPE_S16 ||
			    o->registers == TSR_REGISTER_TYPE_U16;
	const bool sign = o->registers == TSR_REGISTER_TYPE_S16 ||
			  o->registers == TSR_REGISTER_TYPE_S32;
	const bool target_sign = o->format.kind == TSR_FORMAT_KIND_SINT;
	const vu32 high = tsr_splat(target_sign ? field->bits >> 1 : field->bits);
	vu32 x = output_words(staged + (halves ? i / 2 : i) * step, at);

	if (i >= o->components)
		return tsr_splat(i == 3);
	if (halves)
		x = i % 2 ? x >> 16 : x & 0xffff;
	if (halves && sign)
		x = (vu32)((vs32)(x << 16) >> 16);
	if (sign && target_sign)
		return (vu32)tsr_smaller(tsr_larger((vs32)x, (vs32)~high), (vs32)high);
	if (sign)
		x = (vu32)tsr_larger((vs32)x, (vs32){ 0 });
	return (vu32)tsr_pick((vs32)(x < high), (vs32)x, (vs32)high);
}

static void lanes_integer(const struct tsr_output *o, const struct tsr_output_warp *w,
			  const uint32_t *old, uint32_t *texels)
{
	for (unsigned int at = 0; at < TSR_WARP_LANES; at += TSR_CHUNK_LANES) {
		vu32 texel[4], there[4];

		TSR_UNROLL
		for (unsigned int i = 0; i < 4; i++)
			texel[i] = there[i] = tsr_splat(o->ones[i]);
		TSR_UNROLL_NOT
		for (unsigned int i = 0; i < 4; i++) {
			const struct tsr_output_field *field = &o->field[i];

			if (field->stored)
				texel[field->word] |= (output_integer(o, field, w->color, w->step,
								      i, at) & field->bits)
						      << field->shift;
		}
		if (o->merge)
			output_take(old + at * o->words, o->words, there);
		if (o->keeps)
			output_keep(o, o->words, there, texel);
		output_put(texel, o->words, texels + at * o->words);
	}
}

#define OUTPUT_LANES(name, code, way, half)							\
	static void name(const struct tsr_output *o, const struct tsr_output_warp *w,		\
			 const uint32_t *old, uint32_t *texels)					\
	{											\
		output_lanes(o, w, old, texels, code, way, half);				\
	}

#define OUTPUT_HALF_WORDS(o) ((o)->registers == TSR_REGISTER_TYPE_F16)

OUTPUT_LANES(lanes_opaque, OUTPUT_SHORT, OUTPUT_OPAQUE, false)
OUTPUT_LANES(lanes_opaque_half, OUTPUT_SHORT, OUTPUT_OPAQUE, true)
OUTPUT_LANES(lanes_over, OUTPUT_SHORT, OUTPUT_OVER, false)
OUTPUT_LANES(lanes_over_half, OUTPUT_SHORT, OUTPUT_OVER, true)
OUTPUT_LANES(lanes_any, OUTPUT_SHORT, OUTPUT_ANY, false)
OUTPUT_LANES(lanes_any_half, OUTPUT_SHORT, OUTPUT_ANY, true)
OUTPUT_LANES(lanes_words, OUTPUT_WORDS, OUTPUT_OPAQUE, OUTPUT_HALF_WORDS(o))
OUTPUT_LANES(lanes_words_any, OUTPUT_WORDS, OUTPUT_ANY, OUTPUT_HALF_WORDS(o))
OUTPUT_LANES(lanes_halves, OUTPUT_HALVES, OUTPUT_OPAQUE, OUTPUT_HALF_WORDS(o))
OUTPUT_LANES(lanes_halves_any, OUTPUT_HALVES, OUTPUT_ANY, OUTPUT_HALF_WORDS(o))
OUTPUT_LANES(lanes_other, OUTPUT_OTHER, OUTPUT_OPAQUE, OUTPUT_HALF_WORDS(o))
OUTPUT_LANES(lanes_other_any, OUTPUT_OTHER, OUTPUT_ANY, OUTPUT_HALF_WORDS(o))

/* Returns true if all components have @width bits and lie in the texel in their order. */
static bool output_in_order(const struct tsr_output *o, unsigned int width)
{
	for (unsigned int i = 0; i < 4; i++) {
		const struct tsr_output_field *field = &o->field[i];

		if (field->bits && (field->width != width || !field->stored ||
				    field->word * 32u + field->shift != i * width))
			return false;
	}
	return true;
}

static enum output_code output_code_of(const struct tsr_output *o)
{
	const struct tsr_format *format = &o->format;
	bool words = format->kind == TSR_FORMAT_KIND_FLOAT ||
		     (format->kind == TSR_FORMAT_KIND_UINT &&
		      o->registers == TSR_REGISTER_TYPE_U32) ||
		     (format->kind == TSR_FORMAT_KIND_SINT &&
		      o->registers == TSR_REGISTER_TYPE_S32);

	if (format->kind == TSR_FORMAT_KIND_UNORM && format->bytes <= 4 && format->bytes != 3)
		return OUTPUT_SHORT;
	if (words && output_in_order(o, 32))
		return OUTPUT_WORDS;
	if (format->kind == TSR_FORMAT_KIND_FLOAT && output_in_order(o, 16))
		return OUTPUT_HALVES;
	return OUTPUT_OTHER;
}

static bool output_is_over(const struct tsr_blend_term *term)
{
	return term->source == TSR_BLEND_FACTOR_SRC_ALPHA && term->op == TSR_BLEND_OP_ADD &&
	       term->destination == TSR_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
}

static tsr_output_lanes_fn *output_select_lanes(const struct tsr_output *o)
{
	bool half = o->registers == TSR_REGISTER_TYPE_F16;

	switch (output_code_of(o)) {
	case OUTPUT_WORDS:
		return o->blend ? lanes_words_any : lanes_words;
	case OUTPUT_HALVES:
		return o->blend ? lanes_halves_any : lanes_halves;
	case OUTPUT_OTHER:
		if (tsr_format_is_integer(&o->format))
			return lanes_integer;
		return o->blend ? lanes_other_any : lanes_other;
	default:
		break;
	}
	if (!o->blend)
		return half ? lanes_opaque_half : lanes_opaque;
	if (output_is_over(&o->color) && output_is_over(&o->alpha))
		return half ? lanes_over_half : lanes_over;
	return half ? lanes_any_half : lanes_any;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

#define OUTPUT_ROW 8			/* pixels */

/* All ones in the lanes whose bit of @bits is set. */
TSR_INLINE vu32 output_mask(unsigned int bits)
{
	vu32 weight;

	TSR_UNROLL
	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++)
		weight[i] = 1u << i;
	return (vu32)((tsr_splat(bits) & weight) == weight);
}

#if TSR_CHUNK_LANES <= OUTPUT_ROW
/* Texels of one color: those of the pixels @bits of a row. */
static void fill(const struct tsr_output *o, const struct tsr_output_flat *flat, uint8_t *first,
		 uint32_t pitch, uint64_t rows)
{
	uint32_t word;
	vu32 texel;

	(void)o;
	memcpy(&word, flat->texel, sizeof(word));
	texel = tsr_splat(word);
	for (; rows; rows >>= OUTPUT_ROW, first += pitch) {
		for (unsigned int at = 0; at < OUTPUT_ROW; at += TSR_CHUNK_LANES) {
			vu32 mask = output_mask(rows >> at), old, new = texel;

			if ((uint8_t)rows != UINT8_MAX) {
				memcpy(&old, first + 4 * at, sizeof(old));
				new = (new & mask) | (old & ~mask);
			}
			memcpy(first + 4 * at, &new, sizeof(new));
		}
	}
}

/* Writes the pixels of a block, combined with the old texels where needed. */
TSR_INLINE void output_block(const struct tsr_output *o, const struct tsr_output_flat *flat,
			     uint8_t *first, uint32_t pitch, uint64_t rows, enum output_way way,
			     bool half)
{
	vf32 s[4], d[4], t[4], c[4];
	uint32_t written;

	output_staged(o, OUTPUT_SHORT, flat->color, 1, half, 0, s);
	if (way == OUTPUT_ANY)
		output_staged(o, OUTPUT_SHORT, flat->has_second ? flat->second : NULL, 1, half, 0,
			      t);
	memcpy(&written, o->written, sizeof(written));
	for (; rows; rows >>= OUTPUT_ROW, first += pitch) {
		for (unsigned int at = 0; at < OUTPUT_ROW; at += TSR_CHUNK_LANES) {
			vu32 texel = tsr_splat(o->ones[0]), mask = output_mask(rows >> at), old;

			memcpy(&old, first + 4 * at, sizeof(old));
			output_old(o, OUTPUT_SHORT, &old, d);
			output_join(o, OUTPUT_SHORT, way, s, d, t, c);
			TSR_UNROLL
			for (unsigned int i = 0; i < 4; i++) {
				if (o->field[i].stored)
					texel |= output_store(o, i, OUTPUT_SHORT, c[i], NULL);
			}
			mask &= written;
			texel = (texel & mask) | (old & ~mask);
			memcpy(first + 4 * at, &texel, sizeof(texel));
		}
	}
}

#define OUTPUT_BLOCK(name, way, half)								\
	static void name(const struct tsr_output *o, const struct tsr_output_flat *flat,	\
			 uint8_t *first, uint32_t pitch, uint64_t rows)				\
	{											\
		output_block(o, flat, first, pitch, rows, way, half);				\
	}

OUTPUT_BLOCK(block_masked, OUTPUT_OPAQUE, false)
OUTPUT_BLOCK(block_masked_half, OUTPUT_OPAQUE, true)
OUTPUT_BLOCK(block_over, OUTPUT_OVER, false)
OUTPUT_BLOCK(block_over_half, OUTPUT_OVER, true)
OUTPUT_BLOCK(block_any, OUTPUT_ANY, false)
OUTPUT_BLOCK(block_any_half, OUTPUT_ANY, true)

static tsr_output_block_fn *output_select_block(const struct tsr_output *o)
{
	bool half = o->registers == TSR_REGISTER_TYPE_F16;

	if (o->format.bytes != 4)
		return NULL;
	if (o->plain)
		return fill;
	if (!o->lanes || output_code_of(o) != OUTPUT_SHORT || o->logic || o->dither)
		return NULL;
	if (!o->blend)
		return half ? block_masked_half : block_masked;
	if (output_is_over(&o->color) && output_is_over(&o->alpha))
		return half ? block_over_half : block_over;
	return half ? block_any_half : block_any;
}

#if TSR_CHUNK_LANES == OUTPUT_ROW
tsr_output_block_fn *tsr_output_block_avx2(const struct tsr_output *o)
{
	return output_select_block(o);
}
#endif
#else
#define output_select_block tsr_output_block_avx2
#endif

/* ---- Blocks of many colors ------------------------------------------------------------------ */

#if TSR_CHUNK_LANES >= 8
/* Two pixels of a row; a quad has two such pairs, one in each of two rows. */
typedef uint64_t output_pairs __attribute__((vector_size(TSR_VECTOR_BYTES)));
#endif

/* The texels of two rows of eight pixels, as they lie in lanes. */
TSR_INLINE void output_load_rows(const uint8_t *first, uint32_t pitch, vu32 texels[TSR_CHUNKS])
{
	uint64_t row[2][4], pair[8];

	memcpy(row[0], first, sizeof(row[0]));
	memcpy(row[1], first + pitch, sizeof(row[1]));
	for (unsigned int q = 0; q < 4; q++) {
		pair[2 * q] = row[0][q];
		pair[2 * q + 1] = row[1][q];
	}
	memcpy(texels, pair, sizeof(pair));
}

/* The reverse: rows one after the other. */
TSR_INLINE void output_to_rows(vu32 texels[TSR_CHUNKS])
{
#if TSR_CHUNK_LANES == 16
	const output_pairs t = (output_pairs)texels[0];

	texels[0] = (vu32)__builtin_shufflevector(t, t, 0, 2, 4, 6, 1, 3, 5, 7);
#elif TSR_CHUNK_LANES == 8
	const output_pairs a = (output_pairs)texels[0], b = (output_pairs)texels[1];

	texels[0] = (vu32)__builtin_shufflevector(a, b, 0, 2, 4, 6);
	texels[1] = (vu32)__builtin_shufflevector(a, b, 1, 3, 5, 7);
#else
	uint64_t pair[8], row[8];

	memcpy(pair, texels, sizeof(pair));
	for (unsigned int i = 0; i < 8; i++)
		row[i] = pair[i % 4 * 2 + i / 4];
	memcpy(texels, row, sizeof(row));
#endif
}

#define OUTPUT_ROW_BYTES (4 * OUTPUT_ROW)

/* @rows: bits of the pixels of two rows that are written. */
TSR_INLINE void output_store_rows(uint8_t *first, uint32_t pitch, unsigned int rows,
				  vu32 texels[TSR_CHUNKS])
{
	output_to_rows(texels);
	if (rows != UINT16_MAX) {
		vu32 old[TSR_CHUNKS];

		memcpy(old, first, OUTPUT_ROW_BYTES);
		memcpy((uint8_t *)old + OUTPUT_ROW_BYTES, first + pitch, OUTPUT_ROW_BYTES);
		TSR_UNROLL
		for (unsigned int i = 0; i < TSR_CHUNKS; i++) {
			vu32 mask = output_mask(rows >> i * TSR_CHUNK_LANES);

			texels[i] = (texels[i] & mask) | (old[i] & ~mask);
		}
	}
	memcpy(first, texels, OUTPUT_ROW_BYTES);
	memcpy(first + pitch, (uint8_t *)texels + OUTPUT_ROW_BYTES, OUTPUT_ROW_BYTES);
}

TSR_INLINE void output_quads(const struct tsr_output *all, const struct tsr_output_quads *quads,
			     uint8_t *first, uint32_t pitch, uint64_t rows, enum output_way way,
			     bool keeps, bool half)
{
	/* a copy, which texels cannot be */
	const struct tsr_output local = *all, *o = &local;
	uint32_t written;

	memcpy(&written, o->written, sizeof(written));
	for (unsigned int row = 0; rows; row++, rows >>= 2 * OUTPUT_ROW, first += 2 * pitch) {
		vu32 texels[TSR_CHUNKS];

		if (!(uint16_t)rows)
			continue;
		if (way != OUTPUT_OPAQUE || keeps)
			output_load_rows(first, pitch, texels);
		TSR_UNROLL
		for (unsigned int n = 0; n < TSR_CHUNKS; n++) {
			vu32 texel = tsr_splat(o->ones[0]);
			vf32 s[4], d[4], t[4], c[4];

			output_staged(o, OUTPUT_SHORT, quads->color + row, quads->step, half,
				      n * TSR_CHUNK_LANES, s);
			if (way != OUTPUT_OPAQUE)
				output_old(o, OUTPUT_SHORT, &texels[n], d);
			if (way == OUTPUT_ANY)
				output_staged(o, OUTPUT_SHORT, NULL, 1, half, 0, t);
			output_join(o, OUTPUT_SHORT, way, s, d, t, c);
			TSR_UNROLL
			for (unsigned int i = 0; i < 4; i++) {
				if (o->field[i].stored)
					texel |= output_store(o, i, OUTPUT_SHORT, c[i], NULL);
			}
			if (keeps)
				texel = (texel & written) | (texels[n] & ~written);
			texels[n] = texel;
		}
		output_store_rows(first, pitch, (uint16_t)rows, texels);
	}
}

#ifdef TSR_ALU_AVX512
/* To 0 ... 255 and, of what is below 0 and NaNs, to negative numbers: packing makes them 0. */
TSR_INLINE __m512i output_to_bytes(__m512 x)
{
	const vf32 one = (vf32){ 0 } + 1;

	x = _mm512_min_ps((__m512)one, x);
	return _mm512_cvttps_epi32((__m512)((vf32)x * 255.0f + 0.5f));
}

/* Four bytes, of component n at bit @shift[n], of each lane. */
TSR_INLINE vu32 output_pack_floats(const union tsr_lanes *color, unsigned int step,
				   const unsigned int shift[4])
{
	const vu32 lanes = { 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3 };
	const vu32 from = lanes * 0x01010101 +
			  (4u << shift[1] | 8u << shift[2] | 12u << shift[3]);
	__m512i c[4];

	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++)
		c[i] = output_to_bytes((__m512)output_words(color + i * step, 0));
	/* four of each component in 16 bytes */
	return (vu32)_mm512_shuffle_epi8(_mm512_packus_epi16(_mm512_packus_epi32(c[0], c[1]),
							     _mm512_packus_epi32(c[2], c[3])),
					 (__m512i)from);
}

/* Packs half floats, two of which are a word. */
TSR_INLINE vu32 output_pack_halves(const union tsr_lanes *color, unsigned int step,
				   const unsigned int shift[4])
{
	const vu32 lanes = { 0, 2, 8, 10, 0, 2, 8, 10, 0, 2, 8, 10, 0, 2, 8, 10 };
	const vu32 from = lanes * 0x01010101 +
			  (1u << shift[1] | 4u << shift[2] | 5u << shift[3]);
	__m512i c[2][2];
	output_pairs t;

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		const __m512i words = (__m512i)output_words(color + i * step, 0);

		c[0][i] = output_to_bytes(_mm512_cvtph_ps(_mm512_castsi512_si256(words)));
		c[1][i] = output_to_bytes(_mm512_cvtph_ps(_mm512_extracti64x4_epi64(words, 1)));
	}
	/* two lanes and the eighth ones from them in 16 bytes: two components, then the others */
	t = (output_pairs)_mm512_shuffle_epi8(
		_mm512_packus_epi16(_mm512_packus_epi32(c[0][0], c[0][1]),
				    _mm512_packus_epi32(c[1][0], c[1][1])), (__m512i)from);
	return (vu32)__builtin_shufflevector(t, t, 0, 2, 4, 6, 1, 3, 5, 7);
}
#endif

/* quads_opaque() for four bytes in any order, without any tests. */
TSR_INLINE void output_bytes(const struct tsr_output *o, const struct tsr_output_quads *quads,
			     uint8_t *first, uint32_t pitch, uint64_t rows, bool half)
{
	const unsigned int shift[4] = { o->field[0].shift, o->field[1].shift, o->field[2].shift,
					o->field[3].shift };
	const union tsr_lanes *color = quads->color;
	const unsigned int step = quads->step;

	for (; rows; color++, rows >>= 2 * OUTPUT_ROW, first += 2 * pitch) {
		vu32 texels[TSR_CHUNKS];

		if (!(uint16_t)rows)
			continue;
#ifdef TSR_ALU_AVX512
		texels[0] = half ? output_pack_halves(color, step, shift) :
				   output_pack_floats(color, step, shift);
#else
		TSR_UNROLL
		for (unsigned int n = 0; n < TSR_CHUNKS; n++) {
			texels[n] = (vu32){ 0 };
			TSR_UNROLL
			for (unsigned int i = 0; i < 4; i++) {
				const vf32 x = pixel_clamp(output_component(
					color, step, half, i, n * TSR_CHUNK_LANES));

				texels[n] |= (vu32)__builtin_convertvector(x * 255.0f + 0.5f, vs32)
					     << shift[i];
			}
		}
#endif
		output_store_rows(first, pitch, (uint16_t)rows, texels);
	}
}

static bool output_is_bytes(const struct tsr_output *o)
{
	bool good = o->components == 4 && !o->alpha_to_one && !o->ones[0];

	for (unsigned int i = 0; i < 4; i++)
		good &= o->field[i].stored && !o->field[i].curved && o->field[i].bits == UINT8_MAX;
	return good;
}

#define OUTPUT_QUADS(name, way, keeps, half)							\
	static void name(const struct tsr_output *o, const struct tsr_output_quads *quads,	\
			 uint8_t *first, uint32_t pitch, uint64_t rows)				\
	{											\
		output_quads(o, quads, first, pitch, rows, way, keeps, half);			\
	}

#define OUTPUT_BYTES(name, half)								\
	static void name(const struct tsr_output *o, const struct tsr_output_quads *quads,	\
			 uint8_t *first, uint32_t pitch, uint64_t rows)				\
	{											\
		output_bytes(o, quads, first, pitch, rows, half);				\
	}

OUTPUT_BYTES(quads_bytes, false)
OUTPUT_BYTES(quads_bytes_half, true)
OUTPUT_QUADS(quads_opaque, OUTPUT_OPAQUE, false, false)
OUTPUT_QUADS(quads_opaque_half, OUTPUT_OPAQUE, false, true)
OUTPUT_QUADS(quads_masked, OUTPUT_OPAQUE, true, false)
OUTPUT_QUADS(quads_masked_half, OUTPUT_OPAQUE, true, true)
OUTPUT_QUADS(quads_over, OUTPUT_OVER, true, false)
OUTPUT_QUADS(quads_over_half, OUTPUT_OVER, true, true)
OUTPUT_QUADS(quads_any, OUTPUT_ANY, true, false)
OUTPUT_QUADS(quads_any_half, OUTPUT_ANY, true, true)

static tsr_output_quads_fn *output_select_quads(const struct tsr_output *o)
{
	bool half = o->registers == TSR_REGISTER_TYPE_F16;

	if (o->format.bytes != 4 || !o->lanes || output_code_of(o) != OUTPUT_SHORT || o->logic ||
	    o->dither)
		return NULL;
	if (!o->blend && !o->keeps && output_is_bytes(o))
		return half ? quads_bytes_half : quads_bytes;
	if (!o->blend && !o->keeps)
		return half ? quads_opaque_half : quads_opaque;
	if (!o->blend)
		return half ? quads_masked_half : quads_masked;
	if (output_is_over(&o->color) && output_is_over(&o->alpha))
		return half ? quads_over_half : quads_over;
	return half ? quads_any_half : quads_any;
}

/* ---- Alpha to coverage ----------------------------------------------------------------------- */

/* As tsr_alpha_coverage(): a sample is covered if fewer come before it than alpha is worth. */
static void thin(const struct tsr_output *o, const union tsr_lanes *color, unsigned int step,
		 unsigned int samples, uint64_t *mask)
{
	const bool half = o->registers == TSR_REGISTER_TYPE_F16;
	vs32 turn;

	for (unsigned int l = 0; l < TSR_CHUNK_LANES; l++)
		turn[l] = (int32_t)(l % 4 * samples / 4);
	for (unsigned int i = 0; i < 4 * TSR_CHUNKS; i++) {
		const unsigned int w = i / TSR_CHUNKS, at = i % TSR_CHUNKS * TSR_CHUNK_LANES;
		const unsigned int place = w * TSR_WARP_LANES + at;
		const vf32 alpha = pixel_clamp(output_component(color + w, step, half, 3, at));
		const vs32 count =
			__builtin_convertvector(alpha * (float)samples + 0.5f, vs32);

		for (unsigned int s = 0; s < samples; s++) {
			int32_t number = 0;
			uint64_t kept;

			for (unsigned int bit = 1, n = s; bit < samples; bit *= 2, n /= 2)
				number = number * 2 + (int32_t)(n % 2);
			kept = bits_of(count > ((number - turn) & (int32_t)(samples - 1)));
			mask[s] &= ~((kept ^ ALL_OF_CHUNK) << place);
		}
	}
}

static tsr_output_thin_fn *output_select_thin(const struct tsr_output *o)
{
	const bool floats = o->registers == TSR_REGISTER_TYPE_F32 ||
			    o->registers == TSR_REGISTER_TYPE_F16;

	return floats && o->components == 4 && !tsr_format_is_integer(&o->format) ? thin : NULL;
}

static const struct tsr_output_path output_path = {
	.lanes = output_select_lanes,
	.block = output_select_block,
	.quads = output_select_quads,
	.thin = output_select_thin,
};
