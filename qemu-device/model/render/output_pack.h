/* SPDX-License-Identifier: MIT */
/*
 * Components of colors to and from the bits of texels. A template for one SIMD path, see
 * alu_path.h; only output_lanes.h includes it.
 *
 * In: struct tsr_output, which says where in a texel each component is. A texel is up to four
 * words, and a vector holds the same word of all lanes. The functions take the kind of component as
 * a constant where a format is common, so that nothing is asked for each vector, and ask
 * o->format.kind otherwise. All give the bits of tsr_format_load() and tsr_format_store().
 */

/* How the components of a target are coded. */
enum output_code {
	OUTPUT_SHORT,	/* UNORM in texels of one, two or four bytes: rounded as 32-bit floats */
	OUTPUT_WORDS,	/* words as they are staged, in order: 32-bit floats or integers */
	OUTPUT_HALVES,	/* 16-bit floats, in order */
	OUTPUT_OTHER,	/* as o->format.kind says */
};

TSR_INLINE vf32 output_select(vs32 mask, vf32 a, vf32 b)
{
	return (vf32)(((vs32)a & mask) | ((vs32)b & ~mask));
}

/* To 0 ... 1; NaN is 0. */
TSR_INLINE vf32 output_clamp(vf32 x)
{
	const vf32 zero = { 0 }, one = zero + 1;

#if defined(TSR_ALU_AVX512)
	return (vf32)_mm512_min_ps(_mm512_max_ps((__m512)x, (__m512)zero), (__m512)one);
#elif defined(TSR_ALU_AVX2)
	return (vf32)_mm256_min_ps(_mm256_max_ps((__m256)x, (__m256)zero), (__m256)one);
#elif defined(__SSE2__)
	return (vf32)_mm_min_ps(_mm_max_ps((__m128)x, (__m128)zero), (__m128)one);
#else
	x = output_select(x > zero, x, zero);
	return output_select(x < one, x, one);
#endif
}

/* Into the range of the target's components, where they have one; NaN is 0. */
TSR_INLINE vf32 output_limit(const struct tsr_output *o, enum output_code code, vf32 x)
{
	const vf32 zero = { 0 }, one = zero + 1;

	if (code == OUTPUT_WORDS || code == OUTPUT_HALVES)
		return x;
	if (code == OUTPUT_SHORT || o->format.kind == TSR_FORMAT_KIND_UNORM)
		return output_clamp(x);
	if (o->format.kind != TSR_FORMAT_KIND_SNORM)
		return x;
	x = output_select(x == x, x, zero);
	x = output_select(x < -one, -one, x);
	return output_select(x > one, one, x);
}

/* ---- Small floating-point numbers ------------------------------------------------------------ */

/* Floats without sign, 5 bits of exponent and @mantissa bits of mantissa, in the low bits. */
TSR_INLINE vf32 output_from_small(vu32 x, unsigned int mantissa)
{
	vf32 value = (vf32)(x << (23 - mantissa)) * 0x1p112f;
	vu32 infinite = (vu32)(x >= 31u << mantissa) & 0x7f800000;

	return (vf32)((vu32)value | infinite);
}

/* The magnitude of @x as such a number, rounded to nearest even. */
TSR_INLINE vu32 output_to_small(vf32 x, unsigned int mantissa)
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

/* As output_to_small(), but negative numbers become 0 and finite ones stay finite. */
TSR_INLINE vu32 output_to_unsigned(vf32 x, unsigned int mantissa)
{
	const vs32 bits = (vs32)x, magnitude = bits & 0x7fffffff;
	const vs32 largest = (vs32)tsr_splat((31u << mantissa) - 1);
	vs32 small = (vs32)output_to_small(x, mantissa);

	small = tsr_pick((small > largest) & (magnitude < 0x7f800000), largest, small);
	return (vu32)(small & ~((bits < 0) & (magnitude <= 0x7f800000)));
}

/* Floats of the halves in the low 16 bits; the upper ones are 0. */
TSR_INLINE vf32 output_half(vu32 h)
{
#if defined(TSR_ALU_AVX512)
	return (vf32)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)h));
#elif defined(TSR_ALU_AVX2)
	return (vf32)_mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128((__m256i)h),
						      _mm256_extracti128_si256((__m256i)h, 1)));
#else
	vu32 bits = (vu32)output_from_small(h & 0x7fff, 10) | (h & 0x8000) << 16;

	/* a NaN becomes a quiet one */
	return (vf32)(bits | ((vu32)((h & 0x7fff) > 0x7c00) & 0x400000));
#endif
}

/* The reverse, rounded to nearest even. */
TSR_INLINE vu32 output_to_half(vf32 x)
{
#ifdef TSR_ALU_SSE2
	return output_to_small(x, 10) | ((vu32)x >> 16 & 0x8000);
#else
	return narrow(x);
#endif
}

/* ---- Normalized numbers ---------------------------------------------------------------------- */

/* @x * @scale plus @half with the product's sign, exactly, cut off. */
TSR_INLINE vs32 output_scaled(vf32 x, float scale, double half)
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

TSR_INLINE vs32 output_curve(vf32 x)
{
	vs32 bits;

	for (unsigned int l = 0; l < TSR_CHUNK_LANES; l++)
		bits[l] = (int32_t)tsr_output_srgb_encoded(x[l]);
	return bits;
}

/* ---- Components ------------------------------------------------------------------------------ */

TSR_INLINE vf32 output_load_other(const struct tsr_output *o,
				  const struct tsr_output_field *field, vu32 bits)
{
	const vf32 one = (vf32){ 0 } + 1;
	vf32 x;

	switch (o->format.kind) {
	case TSR_FORMAT_KIND_UNORM:
		return __builtin_convertvector((vs32)bits, vf32) / field->scale;
	case TSR_FORMAT_KIND_SNORM:
		bits <<= 32 - field->width;
		x = __builtin_convertvector((vs32)bits >> (32 - field->width), vf32) / field->scale;
		return output_select(x < -one, -one, x);
	case TSR_FORMAT_KIND_UFLOAT:
		return output_from_small(bits, field->width - 5);
	default:
		return field->width == 32 ? (vf32)bits : output_half(bits);
	}
}

/* Component @i of the texels in memory, of whose words @word is the one that has it. */
TSR_INLINE vf32 output_load(const struct tsr_output *o, unsigned int i, enum output_code code,
			    vu32 word)
{
	const struct tsr_output_field *field = &o->field[i];
	vu32 bits = word >> field->shift & field->bits;
	vf32 x;

	if (code == OUTPUT_SHORT)
		x = __builtin_convertvector((vs32)bits, vf32) * field->unit + field->rest;
	else if (!field->bits)
		return (vf32){ 0 } + field->rest;
	else if (code == OUTPUT_WORDS)
		return (vf32)word;
	else if (code == OUTPUT_HALVES)
		return output_half(i % 2 ? word >> 16 : word & 0xffff);
	else
		x = output_load_other(o, field, bits);
	if (!field->curved || !field->bits)
		return x;
	for (unsigned int l = 0; l < TSR_CHUNK_LANES; l++)
		x[l] = tsr_output_srgb_decoded[bits[l]];
	return x;
}

/* @up: what is added before a number is cut off. */
TSR_INLINE vs32 output_store_short(const struct tsr_output_field *field, vf32 x, vf32 up)
{
	if (field->curved)
		return output_curve(x);
	return __builtin_convertvector(x * field->scale + up, vs32);
}

/* A normalized component. @x moves by the threshold, then it is rounded to nearest. */
TSR_INLINE vs32 output_store_normal(const struct tsr_output *o,
				    const struct tsr_output_field *field, vf32 x, vf32 up)
{
	if (field->curved)
		return output_curve(x);
	if (field->dithered)
		x = output_limit(o, OUTPUT_OTHER, x + (up - 0.5f) / field->scale);
	return output_scaled(x, field->scale, 0.5);
}

/* The bits of component @i, in their place. */
TSR_INLINE vu32 output_store(const struct tsr_output *o, unsigned int i, enum output_code code,
			     vf32 x, const float *threshold)
{
	const struct tsr_output_field *field = &o->field[i];
	vf32 up = (vf32){ 0 } + 0.5f;

	if (code == OUTPUT_WORDS)
		return (vu32)x;
	if (code == OUTPUT_HALVES)
		return output_to_half(x) << 16 * (i % 2);
	if (field->dithered)
		memcpy(&up, threshold, sizeof(up));
	if (code == OUTPUT_SHORT)
		return (vu32)output_store_short(field, x, up) << field->shift;
	switch (o->format.kind) {
	case TSR_FORMAT_KIND_UNORM:
	case TSR_FORMAT_KIND_SNORM:
		return ((vu32)output_store_normal(o, field, x, up) & field->bits) << field->shift;
	case TSR_FORMAT_KIND_UFLOAT:
		return output_to_unsigned(x, field->width - 5) << field->shift;
	default:
		return field->width == 32 ? (vu32)x : output_to_half(x) << field->shift;
	}
}

/* ---- Words of texels ------------------------------------------------------------------------- */

typedef uint32_t output_four __attribute__((vector_size(16)));

/* Lanes @n to @n + 3 of planes to texels of @words words, one after the other. */
TSR_INLINE void output_interleave(const uint32_t plane[4][TSR_CHUNK_LANES], unsigned int n,
				  unsigned int words, uint32_t *texels)
{
	output_four p[4], ab[2], cd[2], t[4];

	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++)
		memcpy(&p[i], &plane[i][n], sizeof(p[i]));
	ab[0] = __builtin_shufflevector(p[0], p[1], 0, 4, 1, 5);
	ab[1] = __builtin_shufflevector(p[0], p[1], 2, 6, 3, 7);
	if (words == 2) {
		memcpy(texels, ab, sizeof(ab));
		return;
	}
	cd[0] = __builtin_shufflevector(p[2], p[3], 0, 4, 1, 5);
	cd[1] = __builtin_shufflevector(p[2], p[3], 2, 6, 3, 7);
	for (unsigned int i = 0; i < 4; i++)
		t[i] = i % 2 ? __builtin_shufflevector(ab[i / 2], cd[i / 2], 2, 3, 6, 7) :
			       __builtin_shufflevector(ab[i / 2], cd[i / 2], 0, 1, 4, 5);
	memcpy(texels, t, sizeof(t));
}

/* Planes of a chunk to its texels. */
TSR_INLINE void output_put(const vu32 plane[4], unsigned int words, uint32_t *texels)
{
	uint32_t word[4][TSR_CHUNK_LANES];

	if (words == 1) {
		memcpy(texels, plane, sizeof(vu32));
		return;
	}
	/* of constant size, although some are not used: no call, no loop */
	memcpy(word, plane, sizeof(word));
	if (words == 3) {
		for (unsigned int l = 0; l < TSR_CHUNK_LANES; l++) {
			for (unsigned int i = 0; i < 3; i++)
				*texels++ = word[i][l];
		}
		return;
	}
	for (unsigned int n = 0; n < TSR_CHUNK_LANES; n += 4) {
		if (words == 2)
			output_interleave(word, n, 2, texels + 2 * n);
		else
			output_interleave(word, n, 4, texels + 4 * n);
	}
}

/* The reverse; planes beyond @words are anything. */
TSR_INLINE void output_take(const uint32_t *texels, unsigned int words, vu32 plane[4])
{
	uint32_t word[4][TSR_CHUNK_LANES];

	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++)
		memset(word[i], 0, sizeof(word[i]));
	if (words == 1) {
		memcpy(plane, texels, sizeof(vu32));
		return;
	}
	for (unsigned int l = 0; l < TSR_CHUNK_LANES; l++) {
		for (unsigned int i = 0; i < words; i++)
			word[i][l] = *texels++;
	}
	memcpy(plane, word, sizeof(word));
}
