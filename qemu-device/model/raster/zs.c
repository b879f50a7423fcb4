/* SPDX-License-Identifier: MIT */
#include "zs.h"

#include <math.h>
#include <string.h>

#include "env.h"
#include "alu/float_bits.h"

/* Pixels written to a block before its bounds are found anew. */
#define STALE_MAX 16

/* ---- Preparation ----------------------------------------------------------------------------- */

/* True if outcomes that @function lets happen can change stencil. */
static bool face_writes(const struct tsr_stencil_face *f)
{
	return f->write_mask && (f->fail != TSR_STENCIL_OP_KEEP ||
				 f->depth_fail != TSR_STENCIL_OP_KEEP ||
				 f->pass != TSR_STENCIL_OP_KEEP);
}

/*
 * True if a fragment that fails now also fails when fragments before it, under the same function,
 * have been written: stored depths only go the way the function tests.
 */
static bool monotonous(unsigned int function)
{
	return function != TSR_COMPARE_FUNCTION_NOT_EQUAL &&
	       function != TSR_COMPARE_FUNCTION_ALWAYS;
}

/* True if a fragment whose interpolated depth fails also fails with the depth it writes. */
static bool conservative(const struct tsr_shader_state *shader, unsigned int function)
{
	if (!shader->writes_depth || shader->depth_layout == TSR_DEPTH_LAYOUT_UNCHANGED)
		return true;
	switch (function) {
	case TSR_COMPARE_FUNCTION_NEVER:
		return true;
	case TSR_COMPARE_FUNCTION_LESS:
	case TSR_COMPARE_FUNCTION_LEQUAL:
		return shader->depth_layout == TSR_DEPTH_LAYOUT_GREATER;
	case TSR_COMPARE_FUNCTION_GREATER:
	case TSR_COMPARE_FUNCTION_GEQUAL:
		return shader->depth_layout == TSR_DEPTH_LAYOUT_LESS;
	default:
		return false;
	}
}

static enum tsr_zs_when find_when(const struct tsr_zs *zs, const struct tsr_draw_state *draw,
				  const struct tsr_shader_state *shader, bool shades,
				  unsigned int debug)
{
	bool replaced = (shader->writes_depth &&
			 shader->depth_layout != TSR_DEPTH_LAYOUT_UNCHANGED) ||
			shader->writes_stencil;
	/* what READS_TILE reads is what other fragments have left, depth and stencil too */
	bool thinned = shader->discards || draw->alpha_to_coverage || shader->reads_tile;
	bool writes = (zs->depth_test && zs->depth_write) || zs->stencil_writes;

	if (!zs->depth_test && !zs->bounds && !zs->stencil_test)
		return TSR_ZS_NEVER;
	if (!shades || shader->early_tests)
		return TSR_ZS_EARLY;
	if (debug & TSR_GFX_NO_EARLY || shader->side_effects)
		return TSR_ZS_LATE;
	if (!replaced && (!thinned || !writes))
		return TSR_ZS_EARLY;
	if (zs->stencil_writes || shader->writes_stencil || zs->bounds || !zs->depth_test ||
	    !monotonous(zs->function) || !conservative(shader, zs->function))
		return TSR_ZS_LATE;
	return TSR_ZS_LATE_REJECT;
}

static void set_faces(struct tsr_zs *zs, const struct tsr_draw_state *d)
{
	zs->face[0] = (struct tsr_stencil_face){
		.function = d->back_function, .fail = d->back_fail,
		.depth_fail = d->back_depth_fail, .pass = d->back_pass,
		.reference = d->back_reference, .read_mask = d->back_read_mask,
		.write_mask = d->back_write_mask,
	};
	zs->face[1] = (struct tsr_stencil_face){
		.function = d->front_function, .fail = d->front_fail,
		.depth_fail = d->front_depth_fail, .pass = d->front_pass,
		.reference = d->front_reference, .read_mask = d->front_read_mask,
		.write_mask = d->front_write_mask,
	};
}

/* Stored depths within the bounds, in the units of the format. */
static void set_bounds(struct tsr_zs *zs, const struct tsr_draw_state *draw)
{
	zs->least = tsr_as_float(draw->depth_min);
	zs->most = tsr_as_float(draw->depth_max);
	if (zs->scale == 0)
		return;
	zs->least = ceil(zs->least * zs->scale);
	zs->most = floor(zs->most * zs->scale);
}

void tsr_zs_prepare(struct tsr_zs *zs, const struct tsr_draw_state *draw,
		    const struct tsr_shader_state *shader, bool shades, bool has_depth,
		    bool has_stencil, double scale, unsigned int debug)
{
	memset(zs, 0, sizeof(*zs));
	zs->scale = scale;
	zs->function = draw->depth_function;
	zs->depth_test = draw->depth_test && has_depth;
	zs->depth_write = draw->depth_write;
	zs->bounds = draw->depth_bounds && has_depth;
	zs->stencil_test = draw->stencil_test && has_stencil;
	set_faces(zs, draw);
	set_bounds(zs, draw);
	zs->stencil_writes = zs->stencil_test &&
			     (face_writes(&zs->face[0]) || face_writes(&zs->face[1]));
	zs->when = find_when(zs, draw, shader, shades, debug);
	zs->hierarchical = !(debug & TSR_GFX_NO_HIZ) &&
			   (zs->when == TSR_ZS_EARLY || zs->when == TSR_ZS_LATE_REJECT);
}

/* ---- Stencil --------------------------------------------------------------------------------- */

static bool passes(unsigned int function, uint8_t left, uint8_t right)
{
	switch (function) {
	case TSR_COMPARE_FUNCTION_NEVER:
		return false;
	case TSR_COMPARE_FUNCTION_LESS:
		return left < right;
	case TSR_COMPARE_FUNCTION_EQUAL:
		return left == right;
	case TSR_COMPARE_FUNCTION_LEQUAL:
		return left <= right;
	case TSR_COMPARE_FUNCTION_GREATER:
		return left > right;
	case TSR_COMPARE_FUNCTION_NOT_EQUAL:
		return left != right;
	case TSR_COMPARE_FUNCTION_GEQUAL:
		return left >= right;
	default:
		return true;
	}
}

static uint8_t apply(unsigned int op, uint8_t old, uint8_t reference)
{
	switch (op) {
	case TSR_STENCIL_OP_ZERO:
		return 0;
	case TSR_STENCIL_OP_REPLACE:
		return reference;
	case TSR_STENCIL_OP_INCREMENT_CLAMP:
		return old < 255 ? old + 1 : 255;
	case TSR_STENCIL_OP_DECREMENT_CLAMP:
		return old ? old - 1 : 0;
	case TSR_STENCIL_OP_INVERT:
		return ~old;
	case TSR_STENCIL_OP_INCREMENT_WRAP:
		return old + 1;
	case TSR_STENCIL_OP_DECREMENT_WRAP:
		return old - 1;
	default:
		return old;
	}
}

static uint64_t stencil_test(const struct tsr_stencil_face *f, const uint8_t *stored,
			     const uint8_t *reference, uint64_t mask)
{
	uint64_t pass = 0;

	for (uint64_t left = mask; left; left &= left - 1) {
		unsigned int p = __builtin_ctzll(left);
		uint8_t ref = reference ? reference[p] : f->reference;

		if (passes(f->function, ref & f->read_mask, stored[p] & f->read_mask))
			pass |= 1ull << p;
	}
	return pass;
}

static void stencil_write(const struct tsr_stencil_face *f, unsigned int op, uint8_t *stored,
			  const uint8_t *reference, uint64_t mask)
{
	if (op == TSR_STENCIL_OP_KEEP || !f->write_mask)
		return;
	for (; mask; mask &= mask - 1) {
		unsigned int p = __builtin_ctzll(mask);
		uint8_t new = apply(op, stored[p], reference ? reference[p] : f->reference);

		stored[p] ^= (stored[p] ^ new) & f->write_mask;
	}
}

/* ---- Depth ----------------------------------------------------------------------------------- */

/* The way depths go when fragments that pass are written; 0: any way. */
static int direction_of(unsigned int function)
{
	switch (function) {
	case TSR_COMPARE_FUNCTION_LESS:
	case TSR_COMPARE_FUNCTION_LEQUAL:
		return -1;
	case TSR_COMPARE_FUNCTION_GREATER:
	case TSR_COMPARE_FUNCTION_GEQUAL:
		return 1;
	default:
		return 0;
	}
}

/*
 * Hierarchical depth keeps one bound of each block, the one that matters to the functions a tile
 * is drawn with: a write under a function of the other direction, or of none, ends it.
 */
static void note_direction(struct tsr_tile *t, const struct tsr_zs *zs)
{
	int direction = direction_of(zs->function);

	if (zs->function == TSR_COMPARE_FUNCTION_EQUAL ||
	    zs->function == TSR_COMPARE_FUNCTION_NEVER)
		return;
	if (!direction || (t->z_direction && t->z_direction != direction))
		t->z_direction = TSR_Z_LOST;
	else if (t->z_direction != TSR_Z_LOST)
		t->z_direction = direction;
}

void tsr_zs_note(struct tsr_tile *t, const struct tsr_zs *zs, unsigned int block, uint64_t mask)
{
	struct tsr_block_bounds *bounds = &t->bounds[block];
	unsigned int stale = bounds->stale + tsr_pixel_count(mask);

	if (!mask)
		return;
	note_direction(t, zs);
	bounds->stale = stale < 255 ? stale : 255;
}

void tsr_zs_note_quads(struct tsr_tile *t, const struct tsr_zs *zs,
		       const struct tsr_small_quads *quads)
{
	if (!quads->count)
		return;
	note_direction(t, zs);
	for (unsigned int i = 0; i < quads->count; i++) {
		const unsigned int block = quads->at[i] / TSR_BLOCK_PIXELS >> t->samples_log2;
		struct tsr_block_bounds *bounds = &t->bounds[block];
		unsigned int stale = bounds->stale + tsr_quad_samples(quads->pixels[i]);

		bounds->stale = stale < 255 ? stale : 255;
	}
}

static void write_depth(struct tsr_tile *t, const struct tsr_fine *fine, const struct tsr_zs *zs,
			const struct tsr_zs_block *b, float *stored, uint64_t mask)
{
	struct tsr_block_bounds *bounds = &t->bounds[b->block];

	fine->store(b->z, stored, mask);
	tsr_zs_note(t, zs, b->block, mask);
	if (b->range && mask == UINT64_MAX && !t->samples_log2) {
		bounds->low = b->range[0];
		bounds->high = b->range[1];
		bounds->stale = 0;
	}
}

static uint64_t within_bounds(const struct tsr_zs *zs, const float *stored, uint64_t mask)
{
	uint64_t in = 0;

	for (; mask; mask &= mask - 1) {
		unsigned int p = __builtin_ctzll(mask);

		if (stored[p] >= zs->least && stored[p] <= zs->most)
			in |= 1ull << p;
	}
	return in;
}

static uint64_t test_stencil(struct tsr_tile *t, const struct tsr_fine *fine,
			     const struct tsr_zs *zs, const struct tsr_zs_block *b, uint64_t mask)
{
	unsigned int at = ((b->block << t->samples_log2) + b->sample) * TSR_BLOCK_PIXELS;
	const struct tsr_stencil_face *face = &zs->face[b->front];
	uint8_t *stencil = t->stencil + at;
	uint64_t reached = stencil_test(face, stencil, b->reference, mask), pass = reached;

	if (b->write)
		stencil_write(face, face->fail, stencil, b->reference, mask & ~reached);
	if (zs->bounds)
		pass = within_bounds(zs, t->depth + at, pass);
	if (zs->depth_test)
		pass = fine->compare(b->z, t->depth + at, zs->function, pass);
	if (b->write) {
		stencil_write(face, face->depth_fail, stencil, b->reference, reached & ~pass);
		stencil_write(face, face->pass, stencil, b->reference, pass);
		t->bounds[b->block].stencil_stale |= zs->stencil_writes;
	}
	return pass;
}

uint64_t tsr_zs_test(struct tsr_tile *t, const struct tsr_fine *fine, const struct tsr_zs *zs,
		     const struct tsr_zs_block *b, uint64_t mask)
{
	unsigned int at = ((b->block << t->samples_log2) + b->sample) * TSR_BLOCK_PIXELS;
	uint64_t pass = mask;

	if (zs->stencil_test) {
		pass = test_stencil(t, fine, zs, b, mask);
	} else {
		if (zs->bounds)
			pass = within_bounds(zs, t->depth + at, pass);
		if (zs->depth_test)
			pass = fine->compare(b->z, t->depth + at, zs->function, pass);
	}
	if (b->write && pass && zs->depth_test && zs->depth_write)
		write_depth(t, fine, zs, b, t->depth + at, pass);
	return pass;
}

/* ---- Whole blocks ---------------------------------------------------------------------------- */

static void know_depth(struct tsr_tile *t, const struct tsr_fine *fine, unsigned int block)
{
	unsigned int count = TSR_BLOCK_PIXELS << t->samples_log2;
	struct tsr_block_bounds *b = &t->bounds[block];

	fine->bounds(t->depth + (size_t)block * count, count, &b->low, &b->high);
	b->stale = 0;
}

static void know_stencil(struct tsr_tile *t, unsigned int block)
{
	unsigned int count = TSR_BLOCK_PIXELS << t->samples_log2;
	const uint8_t *s = t->stencil + (size_t)block * count;

	t->bounds[block].stencil = s[0];
	t->bounds[block].uniform = !memcmp(s, s + 1, count - 1);
	t->bounds[block].stencil_stale = false;
}

void tsr_zs_know(struct tsr_tile *t, const struct tsr_fine *fine, bool depth, bool stencil)
{
	unsigned int blocks = 1u << 2 * (t->shift - TSR_BLOCK_SHIFT);

	for (unsigned int b = 0; b < blocks; b++) {
		if (depth)
			know_depth(t, fine, b);
		if (stencil)
			know_stencil(t, b);
	}
	if (depth)
		t->z_direction = 0;
}

static bool depth_rejects(const struct tsr_block_bounds *b, unsigned int function, float low,
			  float high)
{
	switch (function) {
	case TSR_COMPARE_FUNCTION_NEVER:
		return true;
	case TSR_COMPARE_FUNCTION_LESS:
		return low >= b->high;
	case TSR_COMPARE_FUNCTION_LEQUAL:
		return low > b->high;
	case TSR_COMPARE_FUNCTION_GREATER:
		return high <= b->low;
	case TSR_COMPARE_FUNCTION_GEQUAL:
		return high < b->low;
	default:
		return false;
	}
}

static bool stencil_rejects(struct tsr_tile *t, const struct tsr_stencil_face *f,
			    unsigned int block)
{
	struct tsr_block_bounds *b = &t->bounds[block];

	if (f->write_mask && f->fail != TSR_STENCIL_OP_KEEP)
		return false;
	if (b->stencil_stale)
		know_stencil(t, block);
	return b->uniform &&
	       !passes(f->function, f->reference & f->read_mask, b->stencil & f->read_mask);
}

/*
 * True if a few of the stored depths tell that the block is not rejected, so that there is no need
 * to know its bounds.
 */
static bool some_may_pass(const float *stored, unsigned int function, float low, float high)
{
	static const uint8_t looked_at[] = { 0, 22, 41, 63 };
	bool may = false;

	for (unsigned int i = 0; i < sizeof(looked_at); i++) {
		float z = stored[looked_at[i]];

		switch (function) {
		case TSR_COMPARE_FUNCTION_NEVER:
			break;
		case TSR_COMPARE_FUNCTION_LESS:
			may |= low < z;
			break;
		case TSR_COMPARE_FUNCTION_LEQUAL:
			may |= low <= z;
			break;
		case TSR_COMPARE_FUNCTION_GREATER:
			may |= high > z;
			break;
		case TSR_COMPARE_FUNCTION_GEQUAL:
			may |= high >= z;
			break;
		default:
			return true;
		}
	}
	return may;
}

bool tsr_zs_rejects(struct tsr_tile *t, const struct tsr_fine *fine, const struct tsr_zs *zs,
		    unsigned int block, bool front, float low, float high, bool *depth)
{
	const struct tsr_stencil_face *face = &zs->face[front];
	struct tsr_block_bounds *b = &t->bounds[block];

	*depth = false;
	if (zs->stencil_test && stencil_rejects(t, face, block))
		return true;
	/* fragments that fail must leave no trace in stencil */
	if (!zs->depth_test || (zs->stencil_test && zs->stencil_writes))
		return false;
	if (t->z_direction && t->z_direction != direction_of(zs->function))
		return false;
	if (b->stale >= STALE_MAX) {
		const size_t at = (size_t)block * TSR_BLOCK_PIXELS << t->samples_log2;

		if (some_may_pass(t->depth + at, zs->function, low, high))
			return false;
		know_depth(t, fine, block);
	}
	*depth = depth_rejects(b, zs->function, low, high);
	return *depth;
}
