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

/* Into the range of the target's components, where they have one; NaN is 0. */
TSR_INLINE vf32 output_limit(const struct tsr_output *o, enum output_code code, vf32 x)
{
	const vf32 zero = { 0 }, one = zero + 1;

	if (code == OUTPUT_WORDS || code == OUTPUT_HALVES)
		return x;
	if (code == OUTPUT_SHORT || o->format.kind == TSR_FORMAT_KIND_UNORM)
		return pixel_clamp(x);
	if (o->format.kind != TSR_FORMAT_KIND_SNORM)
		return x;
	x = pixel_select(x == x, x, zero);
	x = pixel_select(x < -one, -one, x);
	return pixel_select(x > one, one, x);
}

/* ---- Normalized numbers ---------------------------------------------------------------------- */

/* As tsr_output_srgb_encoded(). */
TSR_INLINE vs32 output_curve(vf32 x)
{
	const vs32 first = (vs32)tsr_splat(TSR_SRGB_FIRST), bits = tsr_larger((vs32)x, first);
	const vs32 step = (vs32)pixel_of_table(tsr_output_srgb_steps,
					       (vu32)(bits - first) >> TSR_SRGB_SHIFT);
	const vs32 from = step & (int32_t)((1u << TSR_SRGB_STEP_BITS) - 1);

	return (step >> TSR_SRGB_STEP_BITS) - ((bits & (int32_t)TSR_SRGB_LOW) >= from);
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
		return pixel_select(x < -one, -one, x);
	case TSR_FORMAT_KIND_UFLOAT:
		return pixel_from_small(bits, field->width - 5);
	default:
		return field->width == 32 ? (vf32)bits : pixel_half(bits);
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
		return pixel_half(i % 2 ? word >> 16 : word & 0xffff);
	else
		x = output_load_other(o, field, bits);
	if (field->curved && field->bits)
		return (vf32)pixel_of_table(tsr_output_srgb_decoded, bits);
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
	return pixel_scaled(x, field->scale, 0.5);
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
		return pixel_to_half(x) << 16 * (i % 2);
	if (field->dithered)
		memcpy(&up, threshold, sizeof(up));
	if (code == OUTPUT_SHORT)
		return (vu32)output_store_short(field, x, up) << field->shift;
	switch (o->format.kind) {
	case TSR_FORMAT_KIND_UNORM:
	case TSR_FORMAT_KIND_SNORM:
		return ((vu32)output_store_normal(o, field, x, up) & field->bits) << field->shift;
	case TSR_FORMAT_KIND_UFLOAT:
		return pixel_to_unsigned(x, field->width - 5) << field->shift;
	default:
		return field->width == 32 ? (vu32)x : pixel_to_half(x) << field->shift;
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
