/* SPDX-License-Identifier: MIT */
/*
 * Pixel formats on the vectors of one SIMD path, see alu_path.h. All functions give the bits of
 * msg_format.c.
 *
 * In: words of the texels of 16 lanes, or numbers. Out: numbers in the order of the result, or
 * words.
 */
#include "alu/alu_rows.h"
#include "memory/tiling.h"
#include "msg_bundle.h"
#include "msg_format.h"

TSR_INLINE vf32 pixel_select(vs32 mask, vf32 a, vf32 b)
{
	return (vf32)(((vs32)a & mask) | ((vs32)b & ~mask));
}

/* To 0 ... 1; NaN is 0. */
TSR_INLINE vf32 pixel_clamp(vf32 x)
{
	const vf32 zero = { 0 }, one = zero + 1;

#if defined(TSR_ALU_AVX512)
	return (vf32)_mm512_min_ps(_mm512_max_ps((__m512)x, (__m512)zero), (__m512)one);
#elif defined(TSR_ALU_AVX2)
	return (vf32)_mm256_min_ps(_mm256_max_ps((__m256)x, (__m256)zero), (__m256)one);
#elif defined(__SSE2__)
	return (vf32)_mm_min_ps(_mm_max_ps((__m128)x, (__m128)zero), (__m128)one);
#else
	x = pixel_select(x > zero, x, zero);
	return pixel_select(x < one, x, one);
#endif
}

/* ---- Small floating-point numbers ------------------------------------------------------------ */

/* Floats without sign, 5 bits of exponent and @mantissa bits of mantissa, in the low bits. */
TSR_INLINE vf32 pixel_from_small(vu32 x, unsigned int mantissa)
{
	vf32 value = (vf32)(x << (23 - mantissa)) * 0x1p112f;
	vu32 infinite = (vu32)(x >= 31u << mantissa) & 0x7f800000;

	return (vf32)((vu32)value | infinite);
}

/* The magnitude of @x as such a number, rounded to nearest even. */
TSR_INLINE vu32 pixel_to_small(vf32 x, unsigned int mantissa)
{
	const unsigned int shift = 23 - mantissa;
	const vu32 bits = (vu32)x & 0x7fffffff;
	const vu32 none = (31u << mantissa | 1u << (mantissa - 1)) |
			  (bits >> shift & ((1u << mantissa) - 1));
	/* its last bit is worth as much as the last one of a number without hidden bit */
	const vu32 magic = tsr_splat((127 + 9 - mantissa) << 23);
	const vu32 tiny = (vu32)((vf32)bits + (vf32)magic) - magic;
	vu32 small = bits - (112u << 23);

	small = (small + ((1u << (shift - 1)) - 1) + (small >> shift & 1)) >> shift;
	small = (vu32)tsr_pick((vs32)bits < 0x38800000, (vs32)tiny, (vs32)small);
	small = (vu32)tsr_pick((vs32)bits >= 0x47800000, (vs32)tsr_splat(31u << mantissa),
			       (vs32)small);
	return (vu32)tsr_pick((vs32)bits > 0x7f800000, (vs32)none, (vs32)small);
}

/* As pixel_to_small(), but negative numbers become 0 and finite ones stay finite. */
TSR_INLINE vu32 pixel_to_unsigned(vf32 x, unsigned int mantissa)
{
	const vs32 bits = (vs32)x, magnitude = bits & 0x7fffffff;
	const vs32 largest = (vs32)tsr_splat((31u << mantissa) - 1);
	vs32 small = (vs32)pixel_to_small(x, mantissa);

	small = tsr_pick((small > largest) & (magnitude < 0x7f800000), largest, small);
	return (vu32)(small & ~((bits < 0) & (magnitude <= 0x7f800000)));
}

/* Floats of the halves in the low 16 bits; the upper ones are 0. */
TSR_INLINE vf32 pixel_half(vu32 h)
{
#if defined(TSR_ALU_AVX512)
	return (vf32)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)h));
#elif defined(TSR_ALU_AVX2)
	return (vf32)_mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128((__m256i)h),
						      _mm256_extracti128_si256((__m256i)h, 1)));
#else
	vu32 bits = (vu32)pixel_from_small(h & 0x7fff, 10) | (h & 0x8000) << 16;

	/* a NaN becomes a quiet one */
	return (vf32)(bits | ((vu32)((h & 0x7fff) > 0x7c00) & 0x400000));
#endif
}

/* The reverse, rounded to nearest even. */
TSR_INLINE vu32 pixel_to_half(vf32 x)
{
#ifdef TSR_ALU_SSE2
	return pixel_to_small(x, 10) | ((vu32)x >> 16 & 0x8000);
#else
	return narrow(x);
#endif
}

/* ---- Normalized numbers ---------------------------------------------------------------------- */

/* @x * @scale plus @half with the product's sign, exactly, cut off. */
TSR_INLINE vs32 pixel_scaled(vf32 x, float scale, double half)
{
	union {
		vf32 whole;
		vf32_half part[2];
	} in = { .whole = x };
	union {
		vs32 whole;
		vs32_half part[2];
	} out;

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		const vf64 product = __builtin_convertvector(in.part[i], vf64) * (double)scale;
		const vs64 sign = (vs64)(product < 0) & INT64_MIN;
		const vf64 added = (vf64)(sign | (vs64)((vf64){ 0 } + half));

		out.part[i] = __builtin_convertvector(product + added, vs32_half);
	}
	return out.whole;
}

/* ---- Texels to numbers ----------------------------------------------------------------------- */

/* Words of @table that numbers @at name. */
TSR_INLINE vu32 pixel_of_table(const void *table, vu32 at)
{
#if defined(TSR_ALU_AVX512)
	return (vu32)_mm512_i32gather_epi32((__m512i)at, table, 4);
#elif defined(TSR_ALU_AVX2)
	return (vu32)_mm256_i32gather_epi32(table, (__m256i)at, 4);
#else
	vu32 x;

	for (unsigned int l = 0; l < TSR_CHUNK_LANES; l++) {
		uint32_t word;

		memcpy(&word, (const uint32_t *)table + at[l], sizeof(word));
		x[l] = word;
	}
	return x;
#endif
}

/* Component @c of the format from its bits. */
TSR_INLINE vu32 pixel_number(const struct tsr_format *f, unsigned int c, vu32 bits)
{
	const unsigned int width = f->bits[c], unused = 32 - width;
	const vs32 extended = (vs32)(bits << unused) >> unused;
	const vf32 one = (vf32){ 0 } + 1;
	vf32 x;

	switch (f->kind) {
	case TSR_FORMAT_KIND_UNORM:
		if (f->srgb && c < 3)
			return pixel_of_table(tsr_format_bytes(true), bits);
		x = __builtin_convertvector((vs32)bits, vf32) / (float)(UINT32_MAX >> unused);
		return (vu32)x;
	case TSR_FORMAT_KIND_SNORM:
		x = __builtin_convertvector(extended, vf32) / (float)(INT32_MAX >> unused);
		return (vu32)pixel_select(x < -one, -one, x);
	case TSR_FORMAT_KIND_FLOAT:
		if (width == 32)
			return bits;
		return (vu32)pixel_from_small(bits & 0x7fff, 10) | (bits & 0x8000) << 16;
	case TSR_FORMAT_KIND_UFLOAT:
		return (vu32)pixel_from_small(bits, width - 5);
	case TSR_FORMAT_KIND_FIXED:
		return (vu32)(__builtin_convertvector((vs32)bits, vf32) * 0x1p-16f);
	case TSR_FORMAT_KIND_SINT:
		return (vu32)extended;
	default:	/* UINT; SHARED: a mantissa, or the exponent */
		return bits;
	}
}

/* Three mantissas and their exponent to numbers. */
TSR_INLINE void pixel_share(vu32 raw[4])
{
	const vf32 unit = (vf32)((raw[3] + (127 - 15 - 9)) << 23), one = (vf32){ 0 } + 1;

	TSR_UNROLL
	for (unsigned int c = 0; c < 3; c++)
		raw[c] = (vu32)(__builtin_convertvector((vs32)raw[c], vf32) * unit);
	raw[3] = (vu32)one;
}

/* The components of a chunk of texels, in the order of the result. */
TSR_INLINE void pixel_decode(const struct tsr_format *f, const vu32 word[4], vu32 to[4])
{
	const vu32 zero = { 0 }, one = tsr_splat(tsr_format_is_integer(f) ? 1 : 0x3f800000);
	vu32 raw[4];

	TSR_UNROLL_NOT
	for (unsigned int c = 0; c < 4; c++) {
		const unsigned int width = f->bits[c], at = f->shift[c];

		raw[c] = c == 3 ? one : zero;
		if (width)
			raw[c] = pixel_number(f, c, word[at / 32] >> at % 32 &
						    UINT32_MAX >> (32 - width));
	}
	if (f->kind == TSR_FORMAT_KIND_SHARED)
		pixel_share(raw);
	TSR_UNROLL
	for (unsigned int c = 0; c < 4; c++)
		to[c] = f->from[c] < 4 ? raw[f->from[c]] :
			f->from[c] == TSR_COMPONENT_ONE ? one : zero;
}

TSR_UNCHECKED_ static void pixels_decode(const struct tsr_format *f,
					 const union tsr_lanes word[4], union tsr_lanes to[4])
{
	for (unsigned int i = 0; i < TSR_CHUNKS; i++) {
		vu32 in[4], out[4];

		TSR_UNROLL
		for (unsigned int n = 0; n < 4; n++)
			in[n] = ((const tsr_vector_in_memory *)&word[n])[i];
		pixel_decode(f, in, out);
		TSR_UNROLL
		for (unsigned int c = 0; c < 4; c++)
			((tsr_vector_in_memory *)&to[c])[i] = out[c];
	}
}

/* The words of 16 texels of @bytes, a number that the compiler knows, where @order says. */
TSR_INLINE void pixel_take(const uint8_t *from, const uint8_t order[16], unsigned int bytes,
			   union tsr_lanes word[4])
{
	for (unsigned int n = 0; n < 16; n++) {
		uint32_t texel[4] = { 0 };

		memcpy(texel, from + order[n] * bytes, bytes);
		for (unsigned int i = 0; i < (bytes + 3) / 4; i++)
			word[i].u[n] = texel[i];
	}
}

/* Four components of each lane to rows of four texels. */
TSR_INLINE void pixel_to_rows(const union tsr_lanes number[4], uint8_t *to, size_t pitch)
{
	for (unsigned int i = 0; i < TSR_CHUNKS; i++) {
		tsr_quad q[4][TSR_CHUNK_LANES / 4];
		vu32 v[4];

		TSR_UNROLL
		for (unsigned int c = 0; c < 4; c++)
			v[c] = ((const tsr_vector_in_memory *)&number[c])[i];
		tsr_transpose(v);
		TSR_UNROLL
		for (unsigned int n = 0; n < 4; n++)
			tsr_part_quads(q[n], v[n]);
		for (unsigned int l = 0; l < TSR_CHUNK_LANES; l++) {
			const unsigned int n = i * TSR_CHUNK_LANES + l;

			*(tsr_quad_in_memory *)(to + n / 4 * pitch + n % 4 * 16) = q[l % 4][l / 4];
		}
	}
}

TSR_UNCHECKED_ static void pixels_decode_block(const struct tsr_format *f, const uint8_t *from,
					       const uint8_t order[16], uint8_t *to,
					       size_t pitch)
{
	union tsr_lanes word[4] = { 0 }, number[4];

	switch (f->bytes) {
#define TAKE(n) case n: pixel_take(from, order, n, word); break
	TAKE(1);
	TAKE(2);
	TAKE(3);
	TAKE(4);
	TAKE(6);
	TAKE(8);
	TAKE(12);
	TAKE(16);
#undef TAKE
	}
	pixels_decode(f, word, number);
	pixel_to_rows(number, to, pitch);
}

/* ---- Numbers to texels ----------------------------------------------------------------------- */

/* Component @c of an integer format; @sign: of the number @x. */
TSR_INLINE vu32 pixel_saturate(const struct tsr_format *f, unsigned int c, vu32 x, bool sign)
{
	const bool target_sign = f->kind == TSR_FORMAT_KIND_SINT;
	const vu32 high = tsr_splat(UINT32_MAX >> (32 - f->bits[c]) >> target_sign);

	if (sign && target_sign)
		return (vu32)tsr_smaller(tsr_larger((vs32)x, (vs32)~high), (vs32)high);
	if (sign)
		x = (vu32)tsr_larger((vs32)x, (vs32){ 0 });
	return (vu32)tsr_pick((vs32)(x < high), (vs32)x, (vs32)high);
}

/* The bits of component @c. */
TSR_INLINE vu32 pixel_coded(const struct tsr_format *f, unsigned int c, vu32 bits, bool sign)
{
	const unsigned int width = f->bits[c];
	const vf32 zero = { 0 }, one = zero + 1;
	vf32 x = (vf32)bits;

	switch (f->kind) {
	case TSR_FORMAT_KIND_UNORM:
		return (vu32)pixel_scaled(pixel_clamp(x), (float)(UINT32_MAX >> (32 - width)), 0.5);
	case TSR_FORMAT_KIND_SNORM:
		x = pixel_select(x == x, x, zero);
		x = pixel_select(x < -one, -one, x);
		x = pixel_select(x > one, one, x);
		return (vu32)pixel_scaled(x, (float)(INT32_MAX >> (32 - width)), 0.5);
	case TSR_FORMAT_KIND_FLOAT:
		return width == 32 ? bits : pixel_to_half(x);
	case TSR_FORMAT_KIND_UFLOAT:
		return pixel_to_unsigned(x, width - 5);
	default:
		return pixel_saturate(f, c, bits, sign);
	}
}

TSR_UNCHECKED_ static void pixels_encode(const struct tsr_format *f,
					 const union tsr_lanes from[4], bool sign,
					 union tsr_lanes word[4])
{
	const vu32 one = tsr_splat(tsr_format_is_integer(f) ? 1 : 0x3f800000);

	for (unsigned int i = 0; i < TSR_CHUNKS; i++) {
		vu32 texel[4] = { { 0 } };

		for (unsigned int c = 0; c < 4; c++) {
			const unsigned int width = f->bits[c], at = f->shift[c], n = f->to[c];
			vu32 bits;

			if (!width)
				continue;
			bits = one;
			if (n < 4)
				bits = ((const tsr_vector_in_memory *)&from[n])[i];
			bits = pixel_coded(f, c, bits, sign) & UINT32_MAX >> (32 - width);
			texel[at / 32] |= bits << at % 32;
		}
		TSR_UNROLL
		for (unsigned int n = 0; n < 4; n++)
			((tsr_vector_in_memory *)&word[n])[i] = texel[n];
	}
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* Place in a tile that a coordinate contributes: its bits 3:0, one after the other with gaps. */
TSR_INLINE vu32 pixel_spread(vu32 x)
{
	return (x & 1) | (x & 2) << 1 | (x & 4) << 2 | (x & 8) << 3;
}

TSR_UNCHECKED_ static uint16_t pixels_image(const struct tsr_msg_image *s,
					    const union tsr_lanes *xy,
					    const union tsr_lanes *slice, union tsr_lanes *at)
{
	unsigned int there = 0;

	for (unsigned int i = 0; i < TSR_CHUNKS; i++) {
		const vu32 both = ((const tsr_vector_in_memory *)xy)[i];
		const vu32 z = ((const tsr_vector_in_memory *)slice)[i];
		const vu32 x = both & 0xffff, y = both >> 16;
		vu32 texel = x, row = y, to;
		vs32 in;

		if (s->tiled) {
			texel = (x >> 4) * TSR_TILE_TEXELS +
				(pixel_spread(x) ^ 3 * pixel_spread(y));
			row = y >> 4;
		}
		to = s->offset + texel * s->stride + row * s->row_stride + z * s->slice_stride;
		in = (vs32)((x <= s->width) & (y <= s->height) & (z <= s->depth) & (to <= s->last));
		((tsr_vector_in_memory *)at)[i] = to;
		there |= bits_of(in) << i * TSR_CHUNK_LANES;
	}
	return (uint16_t)there;
}

static void pixels_halves(const union tsr_lanes *low, const union tsr_lanes *high,
			  union tsr_lanes *to)
{
	TSR_UNROLL
	for (unsigned int i = 0; i < TSR_CHUNKS; i++) {
		vu32 word = pixel_to_half((vf32)((const tsr_vector_in_memory *)low)[i]);

		if (high)
			word |= pixel_to_half((vf32)((const tsr_vector_in_memory *)high)[i]) << 16;
		((tsr_vector_in_memory *)to)[i] = word;
	}
}

static const struct tsr_msg_path msg_path = {
	.load = load, .store = store, .add = add, .elements = elements,
	.enter = enter, .interpolate = interpolate, .centres = centres,
	.spot = spot, .quad_block = quad_block, .geometry = geometry, .planes = planes,
	.decode = pixels_decode, .decode_block = pixels_decode_block, .encode = pixels_encode,
	.halves = pixels_halves, .image = pixels_image,
};
