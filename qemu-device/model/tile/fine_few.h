/* SPDX-License-Identifier: MIT */
/* Triangles of a few blocks: the template. See fine.h. */

#define BLOCK 8			/* pixels, across and down */
#define VECTORS (BAND / LANES)	/* of a row of quads */

/* Pixels inside of all edges, of the block that is (@x, @y) pixels away. */
TSR_INLINE uint64_t few_covered(const struct tsr_fine_few *f, int x, int y)
{
	vs32 value[3][VECTORS];
	uint64_t outside = 0;

	TSR_UNROLL
	for (unsigned int e = 0; e < 3; e++) {
		const int32_t a = f->edge[e].a, b = f->edge[e].b;

		TSR_UNROLL
		for (unsigned int v = 0; v < VECTORS; v++)
			value[e][v] = f->edge[e].c + a * x + b * y +
				      a * load_s32(band_x + v * LANES) +
				      b * load_s32(band_y + v * LANES);
	}
	TSR_UNROLL
	for (unsigned int p = 0; p < PIXELS; p += LANES) {
		const unsigned int v = p / LANES % VECTORS, down = p / BAND * 2;

		outside |= mask_bits((value[0][v] + f->edge[0].b * (int)down) |
				     (value[1][v] + f->edge[1].b * (int)down) |
				     (value[2][v] + f->edge[2].b * (int)down)) << p;
	}
	return ~outside;
}

/* Pixels of @mask that pass, in the block (@x, @y) pixels away, whose depths are @stored. */
TSR_INLINE uint64_t few_test(const struct tsr_fine_few *f, int x, int y, float *stored,
			     uint64_t mask, unsigned int function)
{
	struct depth_band band;
	uint64_t pass = 0;

	begin_depth(&f->depth, x, y, &band);
	for (unsigned int p = 0; p < PIXELS; p += BAND) {
		if (!band_of(mask, p))
			continue;
		TSR_UNROLL
		for (unsigned int v = 0; v < VECTORS; v++) {
			vf32 z = small_join(depths_of(&f->depth, &band, p, 2 * v),
					    depths_of(&f->depth, &band, p, 2 * v + 1));
			vf32 old = load_f32(stored + p + v * LANES);
			vs32 which = small_compare(z, old, function) &
				     bits_mask(mask >> (p + v * LANES));

			pass |= mask_bits(which) << (p + v * LANES);
			if (f->write)
				*(vf32_in_memory *)(stored + p + v * LANES) =
					(vf32)tsr_pick(which, (vs32)z, (vs32)old);
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

TSR_INLINE void few_block(const struct tsr_fine_few *f, unsigned int column, unsigned int row,
			  unsigned int function, struct tsr_fine_blocks *to)
{
	const int x = column * BLOCK, y = row * BLOCK;
	uint64_t covered = few_covered(f, x, y) & few_wanted(f, column, row), pass = covered;

	if (!covered)
		return;
	if (f->test)
		pass = few_test(f, x, y, f->stored + (row * f->pitch + column) * PIXELS, covered,
				function);
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
	to->count = to->covered = to->pixels = to->passed = 0;
	for (unsigned int row = 0; row < f->rows; row++) {
		for (unsigned int column = 0; column < f->columns; column++)
			few_block(f, column, row, function, to);
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

const struct tsr_fine TSR_PATH_NAME(tsr_fine) = {
	.edges = edges, .depth = depth, .compare = compare, .store = store, .bounds = bounds,
	.small = small, .small_quads = small_quads, .few = few, .rows = rows,
};
