/* SPDX-License-Identifier: MIT */
/* Triangles of a few blocks: the template. See fine.h. */

#define BLOCK 8			/* pixels, across and down */
#define VECTORS (BAND / LANES)	/* of a row of quads */

/* Half-planes and depth in the first row of quads of the first block. */
struct few_start {
	vs32 edge[3][VECTORS];
	struct depth_band depth;
};

TSR_INLINE void few_begin(const struct tsr_fine_few *f, struct few_start *start)
{
	TSR_UNROLL
	for (unsigned int e = 0; e < 3; e++) {
		TSR_UNROLL
		for (unsigned int v = 0; v < VECTORS; v++)
			start->edge[e][v] = f->edge[e].c +
					    f->edge[e].a * load_s32(band_x + v * LANES) +
					    f->edge[e].b * load_s32(band_y + v * LANES);
	}
	if (f->test)
		begin_depth(&f->depth, &start->depth);
	else
		memset(&start->depth, 0, sizeof(start->depth));
}

/* Pixels inside of all edges, of the block that is (@x, @y) pixels away. */
TSR_INLINE uint64_t few_covered(const struct tsr_fine_few *f, const struct few_start *start, int x,
				int y)
{
	vs32 value[3][VECTORS];
	uint64_t outside = 0;

	TSR_UNROLL
	for (unsigned int e = 0; e < 3; e++) {
		const int32_t more = f->edge[e].a * x + f->edge[e].b * y;

		TSR_UNROLL
		for (unsigned int v = 0; v < VECTORS; v++)
			value[e][v] = start->edge[e][v] + more;
	}
	TSR_UNROLL
	for (unsigned int p = 0; p < PIXELS; p += BAND) {
		TSR_UNROLL
		for (unsigned int v = 0; v < VECTORS; v++) {
			outside |= mask_bits(value[0][v] | value[1][v] | value[2][v])
				<< (p + v * LANES);
			TSR_UNROLL
			for (unsigned int e = 0; e < 3; e++)
				value[e][v] += 2 * f->edge[e].b;
		}
	}
	return ~outside;
}

/* Lanes of @mask whose @z passes; of these it is stored at @stored if @write. */
#if defined(TSR_ALU_AVX512)
#define FEW_COMPARE(how) _mm512_mask_cmp_ps_mask(mask, (__m512)z, (__m512)old, how)

TSR_INLINE uint64_t few_lanes(vf32 z, float *stored, uint16_t mask, unsigned int function,
			      bool write)
{
	const vf32 old = load_f32(stored);
	__mmask16 pass;

	if (function == TSR_COMPARE_FUNCTION_LESS)
		pass = FEW_COMPARE(_CMP_LT_OQ);
	else if (function == TSR_COMPARE_FUNCTION_LEQUAL)
		pass = FEW_COMPARE(_CMP_LE_OQ);
	else
		pass = mask & mask_bits(small_compare(z, old, function));
	if (write)
		_mm512_mask_storeu_ps(stored, pass, (__m512)z);
	return pass;
}
#else
TSR_INLINE uint64_t few_lanes(vf32 z, float *stored, uint16_t mask, unsigned int function,
			      bool write)
{
	const vf32 old = load_f32(stored);
	const vs32 pass = small_compare(z, old, function) & bits_mask(mask);

	if (write)
		*(depth_in_memory *)stored = (vf32)tsr_pick(pass, (vs32)z, (vs32)old);
	return mask_bits(pass);
}
#endif

/* Pixels of @mask that pass, in the block (@x, @y) pixels away, whose depths are @stored. */
TSR_INLINE uint64_t few_test(const struct tsr_fine_few *f, const struct few_start *start, int x,
			     int y, float *stored, uint64_t mask, unsigned int function)
{
	const struct depth_band *band = &start->depth;
	uint64_t pass = 0;

	for (unsigned int p = 0; p < PIXELS; p += BAND) {
		if (!band_of(mask, p))
			continue;
		TSR_UNROLL
		for (unsigned int v = 0; v < VECTORS; v++) {
			const int down = y + (int)p / 8;
			vf32 z = small_join(depths_of(&f->depth, band, x, down, 2 * v),
					    depths_of(&f->depth, band, x, down, 2 * v + 1));
			const unsigned int first = p + v * LANES;

			pass |= few_lanes(z, stored + first, mask >> first, function, f->write)
				<< first;
		}
	}
	return pass;
}

/* Pixels that are wanted of the block in @column and @row. */
TSR_INLINE uint64_t few_wanted(const struct tsr_fine_few *f, unsigned int column, unsigned int row)
{
	return (column ? UINT64_MAX : f->left) & (row ? UINT64_MAX : f->top) &
	       (column + 1 < f->columns ? UINT64_MAX : f->right) &
	       (row + 1 < f->rows ? UINT64_MAX : f->bottom);
}

TSR_INLINE void few_block(const struct tsr_fine_few *f, const struct few_start *start,
			  unsigned int column, unsigned int row, unsigned int function,
			  struct tsr_fine_blocks *to)
{
	const int x = column * BLOCK, y = row * BLOCK;
	uint64_t covered = few_covered(f, start, x, y) & few_wanted(f, column, row);
	uint64_t pass = covered;

	if (!covered)
		return;
	if (f->test)
		pass = few_test(f, start, x, y, f->stored + (row * f->pitch + column) * PIXELS,
				covered, function);
	to->covered++;
	to->pixels += tsr_pixel_count(covered);
	to->passed += tsr_pixel_count(pass);
	to->block[to->count].mask = pass;
	to->block[to->count].x = column;
	to->block[to->count].y = row;
	to->count += pass != 0;
}

/* All blocks: a function that is known when it is compiled is chosen once, not for each vector. */
TSR_INLINE void few_blocks(const struct tsr_fine_few *f, unsigned int function,
			   struct tsr_fine_blocks *to)
{
	struct few_start start;

	few_begin(f, &start);
	to->count = to->covered = to->pixels = to->passed = 0;
	for (unsigned int row = 0; row < f->rows; row++) {
		for (unsigned int column = 0; column < f->columns; column++)
			few_block(f, &start, column, row, function, to);
	}
}

static TSR_UNCHECKED_ void few(const struct tsr_fine_few *f, struct tsr_fine_blocks *to)
{
	if (f->test && f->function == TSR_COMPARE_FUNCTION_LESS)
		few_blocks(f, TSR_COMPARE_FUNCTION_LESS, to);
	else if (f->test && f->function == TSR_COMPARE_FUNCTION_LEQUAL)
		few_blocks(f, TSR_COMPARE_FUNCTION_LEQUAL, to);
	else
		few_blocks(f, f->function, to);
}

static const struct tsr_fine fine_path = {
	.edges = edges, .depth = depth, .compare = compare, .store = store_depth, .bounds = bounds,
	.small = small, .small_quads = small_quads, .few = few, .rows = rows,
};
