/* SPDX-License-Identifier: MIT */
/*
 * Levels of detail, levels and slices of whole warps, and arithmetic with results of lookups. Part
 * of the template of tex_path.h.
 */

/* Parts of the two in @lanes: @from there, @into elsewhere. */
TSR_UNCHECKED_ static void merge(float *const into[4], float *const from[4],
				 unsigned int components, uint16_t lanes)
{
	TSR_UNROLL_NOT
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int at = chunk * TSR_CHUNK_LANES;
		vs32 mask = mask_of_lanes(lanes >> at & ALL_OF_CHUNK);

		for (unsigned int c = 0; c < components; c++) {
			vs32 a, b;

			memcpy(&a, into[c] + at, sizeof(a));
			memcpy(&b, from[c] + at, sizeof(b));
			a = tsr_pick(mask, b, a);
			memcpy(into[c] + at, &a, sizeof(a));
		}
	}
}

TSR_UNCHECKED_ static void mix_some(float *const into[4], float *const from[4],
				    unsigned int components, const float *weight, uint16_t lanes)
{
	TSR_UNROLL_NOT
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int at = chunk * TSR_CHUNK_LANES;
		vs32 mask = mask_of_lanes(lanes >> at & ALL_OF_CHUNK);
		vf32 w;

		memcpy(&w, weight + at, sizeof(w));
		for (unsigned int c = 0; c < components; c++) {
			vf32 a, b;

			memcpy(&a, into[c] + at, sizeof(a));
			memcpy(&b, from[c] + at, sizeof(b));
			b = a + (b - a) * w;
			a = (vf32)tsr_pick(mask, (vs32)b, (vs32)a);
			memcpy(into[c] + at, &a, sizeof(a));
		}
	}
}

TSR_UNCHECKED_ static void divide(float *const by[4], float divisor)
{
	TSR_UNROLL_NOT
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		for (unsigned int c = 0; c < 4; c++) {
			float *at = by[c] + chunk * TSR_CHUNK_LANES;
			vf32 x;

			memcpy(&x, at, sizeof(x));
			x /= divisor;
			memcpy(at, &x, sizeof(x));
		}
	}
}

TSR_UNCHECKED_ static void one_nan(float *const by[4], unsigned int components)
{
	const vf32 nan = splat_float(__builtin_nanf(""));

	TSR_UNROLL_NOT
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		for (unsigned int c = 0; c < components; c++) {
			float *at = by[c] + chunk * TSR_CHUNK_LANES;
			vf32 x;

			memcpy(&x, at, sizeof(x));
			x = (vf32)tsr_pick(x == x, (vs32)x, (vs32)nan);
			memcpy(at, &x, sizeof(x));
		}
	}
}

TSR_UNCHECKED_ static uint16_t equal_words(const uint32_t *words, uint32_t word)
{
	unsigned int same = 0;

	TSR_UNROLL
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		vs32 x;

		memcpy(&x, words + chunk * TSR_CHUNK_LANES, sizeof(x));
		same |= bits_of(x == splat_word((int32_t)word)) << chunk * TSR_CHUNK_LANES;
	}
	return (uint16_t)same;
}

/* ---- Levels of detail ------------------------------------------------------------------------ */

/* A number of each quad of a warp. */
typedef int32_t four_words __attribute__((vector_size(16)));

TSR_INLINE four_words pick_four(four_words mask, four_words yes, four_words no)
{
	return (yes & mask) | (no & ~mask);
}

/* tsr_lod_of_square() of four of them. */
TSR_INLINE four_words lods_of_squares(vtexel square)
{
	const four_words bits = (four_words)square, mantissa = bits & ((1 << TSR_LOD_MANTISSA) - 1);
	four_words base, next, lod;

	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++) {
		const struct tsr_lod_log *log =
			&tsr_lod_logs[(uint32_t)mantissa[i] >> (TSR_LOD_MANTISSA - 8)];

		base[i] = log->base;
		next[i] = (int32_t)log->next;
	}
	lod = ((bits >> TSR_LOD_MANTISSA) - 127) * (TSR_LOD_ONE / 2) + base - (mantissa >= next);
	lod = pick_four(square > 0x1p126f, (four_words){ 0 } + INT16_MAX, lod);
	return pick_four(square > 0, lod, (four_words){ 0 } + INT16_MIN);
}

/* Squares of the lengths of the derivatives of four quads, in texels. */
TSR_INLINE void squares_of(const struct tsr_lod_rules *rules, const float *const c[3], vtexel *x,
			   vtexel *y)
{
	*x = *y = (vtexel){ 0 };
	for (unsigned int d = 0; d < rules->dimensions; d++) {
		vtexel q[4], low0, low1, high0, high1, first, dx, dy;

		memcpy(q, c[d], sizeof(q));
		low0 = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5);
		low1 = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5);
		high0 = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7);
		high1 = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
		first = __builtin_shufflevector(low0, low1, 0, 1, 4, 5);
		dx = (__builtin_shufflevector(low0, low1, 2, 3, 6, 7) - first) * rules->unit[d];
		dy = (__builtin_shufflevector(high0, high1, 0, 1, 4, 5) - first) * rules->unit[d];
		*x += dx * dx;
		*y += dy * dy;
	}
}

TSR_UNCHECKED_ static void squares(const struct tsr_lod_rules *rules, const float *const c[3],
				   float along_x[4], float along_y[4])
{
	vtexel x, y;

	squares_of(rules, c, &x, &y);
	memcpy(along_x, &x, sizeof(x));
	memcpy(along_y, &y, sizeof(y));
}

TSR_UNCHECKED_ static void quad_lods(const struct tsr_lod_rules *rules, const float *const c[3],
				     int32_t lod[TSR_WARP_LANES])
{
	vtexel x, y;
	four_words lods;

	squares_of(rules, c, &x, &y);
	lods = lods_of_squares((vtexel)pick_four(x > y, (four_words)x, (four_words)y));
	TSR_UNROLL
	for (unsigned int q = 0; q < 4; q++) {
		const four_words same = (four_words){ 0 } + lods[q];

		memcpy(lod + 4 * q, &same, sizeof(same));
	}
}

TSR_UNCHECKED_ static void lane_lods(const struct tsr_lod_rules *rules, const float *const dx[3],
				     const float *const dy[3], int32_t lod[TSR_WARP_LANES])
{
	TSR_UNROLL_NOT
	for (unsigned int i = 0; i < TSR_WARP_LANES; i += 4) {
		vtexel x = { 0 }, y = { 0 };
		four_words lods;

		for (unsigned int d = 0; d < rules->dimensions; d++) {
			vtexel a, b;

			memcpy(&a, dx[d] + i, sizeof(a));
			memcpy(&b, dy[d] + i, sizeof(b));
			a *= rules->unit[d];
			b *= rules->unit[d];
			x += a * a;
			y += b * b;
		}
		lods = lods_of_squares((vtexel)pick_four(x > y, (four_words)x, (four_words)y));
		memcpy(lod + i, &lods, sizeof(lods));
	}
}

/* ---- Levels and slices ----------------------------------------------------------------------- */

TSR_UNCHECKED_ static uint16_t lane_levels(const struct tsr_lod_rules *rules, unsigned int mode,
					   const uint32_t *word, const struct tsr_lane_levels *to)
{
	unsigned int mixed = 0;

	TSR_UNROLL_NOT
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES;
		vs32 lod, staged = splat_word(0), larger, where;
		vf32 weight;

		memcpy(&lod, to->lod + first, sizeof(lod));
		if (word)
			memcpy(&staged, word + first, sizeof(staged));
		if (mode == TSR_TEXTURE_LOD_BIAS)
			lod = tsr_larger(lod + (staged << 16 >> 16) + rules->bias,
					 (vs32)((vu32)staged >> 16));
		else if (mode < TSR_TEXTURE_LOD_BIAS)
			lod = (staged << 16 >> 16) + rules->bias;
		else
			lod += rules->bias;
		lod = tsr_smaller(tsr_larger(lod, splat_word(rules->low)),
				  splat_word(rules->high));
		memcpy(to->lod + first, &lod, sizeof(lod));
		larger = lod <= rules->cutoff;
		lod = tsr_smaller(lod, splat_word(rules->last)) & ~larger;
		where = ((lod + rules->half) >> 8) & rules->levels;
		where |= tsr_pick(larger, splat_word((int32_t)rules->larger),
				  splat_word((int32_t)rules->smaller));
		memcpy(to->where + first, &where, sizeof(where));
		lod &= rules->fraction;
		mixed |= bits_of(lod != 0) << first;
		weight = __builtin_convertvector(lod, vf32) * (1.0f / TSR_LOD_ONE);
		memcpy(to->weight + first, &weight, sizeof(weight));
	}
	return (uint16_t)mixed;
}

TSR_UNCHECKED_ static uint16_t slices(const struct tsr_level_axis *axis, const float *r, bool near,
				      const struct tsr_lane_slices *to)
{
	unsigned int good = 0;

	TSR_UNROLL_NOT
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES;
		vs32 bad = splat_word(0);
		struct texels z;
		vf32 x, weight;

		memcpy(&x, r + first, sizeof(x));
		z = near ? find_texels(axis, x, true, &bad) : find_texels(axis, x, false, &bad);
		weight = __builtin_convertvector(z.weight, vf32) * (1.0f / TSR_TEXEL_ONE);
		memcpy(to->at[0] + first, &z.x0, sizeof(z.x0));
		memcpy(to->at[1] + first, &z.x1, sizeof(z.x1));
		memcpy(to->weight + first, &weight, sizeof(weight));
		good |= (~bits_of(bad) & ALL_OF_CHUNK) << first;
	}
	return (uint16_t)good;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Two components as halves of words. */
TSR_UNCHECKED_ static void halves(uint32_t *to, const float *low, const float *high)
{
#if defined(TSR_ALU_AVX512)
	__m512i a = _mm512_cvtepu16_epi32(_mm512_cvtps_ph(_mm512_loadu_ps(low), 0));
	__m512i b = _mm512_cvtepu16_epi32(_mm512_cvtps_ph(_mm512_loadu_ps(high), 0));

	_mm512_storeu_si512(to, _mm512_or_si512(a, _mm512_slli_epi32(b, 16)));
#elif defined(TSR_ALU_AVX2)
	for (unsigned int i = 0; i < TSR_WARP_LANES; i += 8) {
		__m256i a = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(_mm256_loadu_ps(low + i), 0));
		__m256i b = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(_mm256_loadu_ps(high + i), 0));

		_mm256_storeu_si256((__m256i *)(to + i),
				    _mm256_or_si256(a, _mm256_slli_epi32(b, 16)));
	}
#else
	for (unsigned int i = 0; i < TSR_WARP_LANES; i++)
		to[i] = tsr_float_to_half(low[i]) | (uint32_t)tsr_float_to_half(high[i]) << 16;
#endif
}

