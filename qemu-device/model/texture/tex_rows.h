/* SPDX-License-Identifier: MIT */
/*
 * Lookups of warps whose texels lie in rows: pixels of a row have texels of a row, and all rows the
 * same columns, as where textures are not turned. Part of the template of tex_path.h, for vectors
 * as long as a warp: a row of texels is one of them, and lanes pick theirs of two rows at once.
 */

struct rows {
	struct texels x;		/* of each pixel */
	vs32 weight;			/* of the lower row, for each row of pixels */
	vs32 pick;			/* the left texels: in the upper pixels' row, or 16 + in
					 * the lower pixels' one */
	uint32_t columns;		/* bit n: texel n of a row is used */
	/* where rows begin in the window, of each row of pixels: the upper and the lower one */
	int32_t at[2][TSR_WARP_LANES] __attribute__((aligned(64)));
};

TSR_INLINE vs32 lanes_of(vs32 x, vs32 lanes)
{
	return (vs32)_mm512_permutexvar_epi32((__m512i)lanes, (__m512i)x);
}

TSR_INLINE vs32 coordinates_at(const float *c)
{
	return (vs32)_mm512_loadu_si512(c);
}

/*
 * True if all pixels of a column have one s, and all of a row one t; the t of all rows, twice. @s
 * and @t: of four warps.
 */
TSR_INLINE bool are_rows(const float *s, const float *t, vf32 *of_rows)
{
	const vs32 left = { 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2 };
	const vs32 two = { 0, 2, 16, 18, 0, 2, 16, 18, 0, 2, 16, 18, 0, 2, 16, 18 };
	const vs32 column = coordinates_at(s);
	vs32 differ = column ^ (vs32)_mm512_shuffle_epi32((__m512i)column, _MM_PERM_BADC);
	vs32 row[GROUP_WARPS];
	__m512i half[2];

	TSR_UNROLL
	for (unsigned int w = 0; w < GROUP_WARPS; w++) {
		row[w] = coordinates_at(t + w * TSR_WARP_LANES);
		differ |= row[w] ^ lanes_of(row[w], left);
		differ |= column ^ coordinates_at(s + w * TSR_WARP_LANES);
	}
	for (unsigned int i = 0; i < 2; i++)
		half[i] = _mm512_permutex2var_epi32((__m512i)row[2 * i], (__m512i)two,
						    (__m512i)row[2 * i + 1]);
	*of_rows = (vf32)_mm512_mask_blend_epi32(0xf0f0, half[0], half[1]);
	return !_mm512_test_epi32_mask((__m512i)differ, (__m512i)differ);
}

/* The blocks of @r, of rows @y from column @x on; false: they are not all near each other. */
TSR_INLINE bool area_of_rows(const struct rows *r, int32_t x, const struct texels *y,
			     struct tsr_window_area *a)
{
	const int32_t first = y->x0[0], last = y->x0[2 * GROUP_WARPS - 1];
	uint32_t columns = r->columns << (x & (TSR_TEX_BLOCK_DIM - 1));
	uint64_t rows;
	vs32 upper, lower;

	columns |= columns >> 1;
	columns |= columns >> 2;
	columns = (columns & 1) | (columns >> 3 & 2) | (columns >> 6 & 4) | (columns >> 9 & 8) |
		  (columns >> 12 & 16);
	a->x = x / TSR_TEX_BLOCK_DIM;
	a->y = (first < last ? first : last) / TSR_TEX_BLOCK_DIM;
	upper = (y->x0 >> 2) - a->y;
	lower = (y->x1 >> 2) - a->y;
	/* bit n to byte n */
	rows = any_of(shifted(splat_word(1), upper) | shifted(splat_word(1), lower)) & 0xff;
	rows = (rows * 0x0101010101010101 & 0x8040201008040201) + 0x00406070787c7e7f;
	a->blocks = (rows >> 7 & 0x0101010101010101) * columns;
	return any_of(upper | lower) < TSR_TEX_AREA_DIM;
}

/* True if the texels of @w from warp @first on lie in rows, and are all in the window. */
TSR_INLINE bool find_rows(const struct tsr_level_lookup *l, const struct tsr_level_warps *w,
			  unsigned int first, struct rows *r)
{
	const vs32 lower = { 0, 0, 16, 16, 0, 0, 16, 16, 0, 0, 16, 16, 0, 0, 16, 16 };
	const float *s = w->s + first * TSR_WARP_LANES, *t = w->t + first * TSR_WARP_LANES;
	struct tsr_window_area area;
	vs32 bad = splat_word(0);
	struct texels y;
	uint64_t lanes;
	vf32 of_rows;
	int32_t x;

	if (w->count - first < GROUP_WARPS)
		return false;
	memcpy(&lanes, &w->lanes[first], sizeof(lanes));
	if (lanes != UINT64_MAX || !are_rows(s, t, &of_rows))
		return false;
	r->x = find_texels(&l->axis[0], (vf32)coordinates_at(s), false, &bad);
	y = find_texels(&l->axis[1], of_rows, false, &bad);
	/* from the first or the last pixel's on */
	x = r->x.x0[0] < r->x.x0[13] ? r->x.x0[0] : r->x.x0[13];
	r->pick = r->x.x0 - x;
	bad |= (r->x.x1 ^ (r->x.x0 + 1)) | ((r->pick + 1) & -TSR_WARP_LANES);
	if (_mm512_test_epi32_mask((__m512i)bad, (__m512i)bad))
		return false;
	r->columns = any_of(shifted(splat_word(3), r->pick));
	if (l->window->missing &&
	    !(area_of_rows(r, x, &y, &area) && tsr_window_bring_area(l, &area)))
		return false;
	r->pick += lower;
	r->weight = y.weight;
	*(vs32 *)r->at[0] = place_of(splat_word(x), y.x0);
	*(vs32 *)r->at[1] = place_of(splat_word(x), y.x1);
	return true;
}

/* The texels of warp @n, which are noted in @used. NULL: nobody wants to know. */
TSR_INLINE void texels_of_rows(const uint8_t *texels, uint8_t *used, const struct rows *r,
			       unsigned int n, vs32 left[2], vs32 right[2])
{
	const __m128i columns = _mm_maskz_set1_epi8((__mmask16)r->columns, 1);
	const __m512i pick = (__m512i)r->pick, next = (__m512i)(r->pick + 1);

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		__m512i row[2];

		TSR_UNROLL
		for (unsigned int k = 0; k < 2; k++) {
			unsigned int at = (unsigned int)r->at[i][2 * n + k];

			if (used) {
				__m128i *to = (__m128i *)(used + at);

				_mm_storeu_si128(to, _mm_or_si128(_mm_loadu_si128(to), columns));
			}
			row[k] = _mm512_loadu_si512(texels + 4 * (size_t)at);
		}
		left[i] = (vs32)_mm512_permutex2var_epi32(row[0], pick, row[1]);
		right[i] = (vs32)_mm512_permutex2var_epi32(row[0], next, row[1]);
	}
}

/* Warps of @w from number @first on, which are @r. */
TSR_INLINE void filter_rows(const struct tsr_level_lookup *l, const struct tsr_level_warps *w,
			    unsigned int first, const struct rows *r)
{
	const vs32 lower = { 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1 };
	const uint8_t *texels = tsr_window_texels(l->env->textures, l->window);
	uint8_t *used = l->window->all_used ? NULL : l->window->used;

	for (unsigned int n = 0; n < GROUP_WARPS; n++) {
		unsigned int from = (first + n) * TSR_WARP_LANES;
		float *const to[4] = { w->rgba[0] + from, w->rgba[1] + from, w->rgba[2] + from,
				       w->rgba[3] + from };
		vs32 left[2], right[2];

		texels_of_rows(texels, used, r, n, left, right);
		blend_bytes(left, right, r->x.weight,
			    lanes_of(r->weight, lower + 2 * (int32_t)n),
			    l->result == TSR_LEVEL_RAW, to);
		w->done[first + n] = TSR_ALL_LANES;
	}
}
