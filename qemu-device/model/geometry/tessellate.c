/* SPDX-License-Identifier: MIT */
/* The tessellator, see tessellate.h. */
#include "tessellate.h"

#include <string.h>

#define HALF	(TSR_TESS_ONE / 2)

/* ---- Factors --------------------------------------------------------------------------------- */

struct range {
	float low, high;
};

static struct range range_of(enum tsr_tess_partitioning partitioning)
{
	switch (partitioning) {
	case TSR_TESS_FRACTIONAL_ODD:
		return (struct range){ 1, 63 };
	case TSR_TESS_FRACTIONAL_EVEN:
		return (struct range){ 2, 64 };
	default:
		return (struct range){ 1, 64 };
	}
}

/* @factor in @range; what is not a number becomes the lower bound. */
static float clamp(float factor, struct range range)
{
	if (!(factor > range.low))
		return range.low;
	return factor < range.high ? factor : range.high;
}

/* A factor of 1 to 64 in 1/65536, to the nearest, ties to even. */
static uint32_t to_fixed(float factor)
{
	const double scaled = (double)factor * TSR_TESS_ONE;
	uint32_t fixed = (uint32_t)scaled;
	double rest = scaled - fixed;

	return fixed + (rest > 0.5 || (rest == 0.5 && (fixed & 1)));
}

static uint32_t round_up(float factor, enum tsr_tess_partitioning partitioning)
{
	uint32_t n = (uint32_t)factor, power = 1;

	n += (float)n < factor;
	if (partitioning != TSR_TESS_POW2)
		return n;
	while (power < n)
		power *= 2;
	return power;
}

/* A factor in its range to 16.16; with whole numbers the next one above. */
static uint32_t fixed_factor(float factor, enum tsr_tess_partitioning partitioning)
{
	if (partitioning == TSR_TESS_INTEGER || partitioning == TSR_TESS_POW2)
		return round_up(factor, partitioning) * TSR_TESS_ONE;
	return to_fixed(factor);
}

/* ---- The points of a line -------------------------------------------------------------------- */

static uint32_t reciprocal(uint32_t n)
{
	return (TSR_TESS_ONE + n / 2) / n;
}

static uint32_t without_top_bit(uint32_t n)
{
	return n ? n & ~(1u << (31 - __builtin_clz(n))) : 0;
}

/* Which of the points of half a line splits off as it grows from @floor points to @ceil. */
static uint8_t split_point(uint32_t floor, uint32_t ceil, bool odd)
{
	if (floor == ceil)
		return (uint8_t)(ceil + 1);
	if (odd && floor == 1)
		return 0;
	return (uint8_t)(2 * without_top_bit(odd ? floor - 1 : floor) + 1);
}

static struct tsr_tess_line line_of(uint32_t factor, bool odd)
{
	uint32_t half = (factor + 1) >> 1, floor, ceil, over;
	struct tsr_tess_line line = { .odd = odd };

	if (odd)
		line.points = (uint16_t)(2 * ((HALF + half + TSR_TESS_ONE - 1) >> 16));
	else
		line.points = (uint16_t)(2 * ((half + TSR_TESS_ONE - 1) >> 16) + 1);
	if (odd || half == HALF)
		half += HALF;
	floor = half >> 16;
	over = half & (TSR_TESS_ONE - 1);
	ceil = floor + (over != 0);
	line.half = (uint8_t)ceil;
	line.split = split_point(floor, ceil, odd);
	line.fraction = (uint16_t)over;
	line.coarse = reciprocal(2 * floor - odd);
	line.fine = reciprocal(2 * ceil - odd);
	return line;
}

/* Where point @point of a line is. The second half is the first one's mirror image. */
static uint32_t place(const struct tsr_tess_line *line, uint32_t point)
{
	const bool mirrored = point >= line->half;
	uint64_t coarse, fine;
	uint32_t at;

	if (mirrored)
		point = line->points - 1u - point;
	if (point == line->half)
		return HALF;
	coarse = (uint64_t)(point - (point > line->split)) * line->coarse;
	fine = (uint64_t)point * line->fine;
	at = (uint32_t)((coarse * (TSR_TESS_ONE - line->fraction) + fine * line->fraction + HALF) >>
			16);
	return mirrored ? TSR_TESS_ONE - at : at;
}

/* ---- The rings of a patch -------------------------------------------------------------------- */

/* The axis along which side @side runs: 0 u, 1 v. */
static unsigned int axis_of(unsigned int side)
{
	return ~side & 1;
}

static unsigned int steps_of(const struct tsr_tessellation *t, unsigned int ring, unsigned int side)
{
	if (!ring)
		return t->edge[side].points - 1u;
	return t->inside[axis_of(side)].points - 1u - 2 * ring;
}

static unsigned int steps_around(const struct tsr_tessellation *t, unsigned int ring)
{
	unsigned int steps = 0;

	for (unsigned int side = 0; side < t->sides; side++)
		steps += steps_of(t, ring, side);
	return steps;
}

/* True if @ring is a point, or points in a row: its sides go along the row and back. */
static bool is_row(const struct tsr_tessellation *t, unsigned int ring)
{
	if (!ring || ring + 1u != t->rings)
		return false;
	return !steps_of(t, ring, 0) || !steps_of(t, ring, 1);
}

/* How many points @ring has. */
static unsigned int points_around(const struct tsr_tessellation *t, unsigned int ring)
{
	const unsigned int steps = steps_around(t, ring);

	return is_row(t, ring) ? steps / 2 + 1 : steps;
}

/* With a divided edge (quads: or inside), odd factors inside are above 1: there is a ring 1. */
static float inside_low(unsigned int shape, const float factors[6], float low)
{
	const float divided = 1 + 0x1p-17f;
	bool any = false;

	for (unsigned int i = 0; i < (shape == TSR_TESS_QUAD ? 6 : 3); i++)
		any |= factors[i] > divided;
	return any ? 1 + 0x1p-16f : low;
}

static bool is_odd(enum tsr_tess_partitioning partitioning, uint32_t fixed)
{
	if (partitioning == TSR_TESS_FRACTIONAL_ODD)
		return true;
	return partitioning != TSR_TESS_FRACTIONAL_EVEN && (fixed >> 16 & 1);
}

/* The line that @factor makes, @range applied. */
static struct tsr_tess_line divided(float factor, struct range range,
				    enum tsr_tess_partitioning partitioning)
{
	const uint32_t fixed = fixed_factor(clamp(factor, range), partitioning);

	return line_of(fixed, is_odd(partitioning, fixed));
}

/*
 * The division for an inside factor. At least one ring is inside the edges, so with integer
 * partitioning a factor of 1 gives a line with a point on its middle.
 */
static struct tsr_tess_line divided_inside(float factor, struct range range,
					   enum tsr_tess_partitioning partitioning)
{
	const uint32_t fixed = fixed_factor(clamp(factor, range), partitioning);
	const bool whole = partitioning != TSR_TESS_FRACTIONAL_ODD;
	const bool odd = is_odd(partitioning, fixed) && !(whole && fixed == TSR_TESS_ONE);
	struct tsr_tess_line line = line_of(fixed, odd);

	if (line.points < 3 + odd)
		line.points = 3 + odd;
	return line;
}

/* True if all factors are 1, as they are after rounding. */
static bool all_one(const struct tsr_tessellation *t, const float factors[6], struct range edge,
		    struct range inside, enum tsr_tess_partitioning partitioning)
{
	bool one = true;

	for (unsigned int i = 0; i < t->sides; i++)
		one &= fixed_factor(clamp(factors[i], edge), partitioning) == TSR_TESS_ONE;
	for (unsigned int i = 4; i < (t->shape == TSR_TESS_QUAD ? 6 : 5); i++)
		one &= fixed_factor(clamp(factors[i], inside), partitioning) == TSR_TESS_ONE;
	return one;
}

static void begin_isoline(struct tsr_tessellation *t, enum tsr_tess_partitioning partitioning,
			  const float factors[6])
{
	t->edge[0] = divided(factors[0], (struct range){ 1, 64 }, TSR_TESS_INTEGER);
	t->edge[1] = divided(factors[1], range_of(partitioning), partitioning);
	t->points = (uint16_t)((t->edge[0].points - 1) * t->edge[1].points);
}

static void begin_rings(struct tsr_tessellation *t, enum tsr_tess_partitioning partitioning,
			const float factors[6])
{
	const struct range range = range_of(partitioning);
	struct range inside = range;
	unsigned int shorter;

	if (partitioning == TSR_TESS_FRACTIONAL_ODD)
		inside.low = inside_low(t->shape, factors, range.low);
	t->single = all_one(t, factors, range, inside, partitioning);
	if (t->single) {
		t->points = t->sides;
		return;
	}
	for (unsigned int i = 0; i < t->sides; i++)
		t->edge[i] = divided(factors[i], range, partitioning);
	t->inside[0] = divided_inside(factors[4], inside, partitioning);
	t->inside[1] = t->inside[0];
	if (t->shape == TSR_TESS_QUAD)
		t->inside[1] = divided_inside(factors[5], inside, partitioning);
	shorter = t->inside[t->inside[1].points < t->inside[0].points].points;
	t->rings = (uint8_t)((shorter + 1) / 2);
	for (unsigned int ring = 0; ring < t->rings; ring++)
		t->points += (uint16_t)points_around(t, ring);
}

bool tsr_tess_begin(struct tsr_tessellation *t, enum tsr_tess_shape shape,
		    enum tsr_tess_partitioning partitioning, const float factors[6])
{
	memset(t, 0, sizeof(*t));
	t->shape = (uint8_t)shape;
	t->sides = shape == TSR_TESS_TRIANGLE ? 3 : 4;
	for (unsigned int i = 0; i < (shape == TSR_TESS_ISOLINE ? 2u : t->sides); i++)
		if (!(factors[i] > 0))
			return false;
	if (shape == TSR_TESS_ISOLINE)
		begin_isoline(t, partitioning, factors);
	else
		begin_rings(t, partitioning, factors);
	return true;
}

/* ---- Where points are ------------------------------------------------------------------------ */

/* Point @step of side @side of @ring of a triangle. */
static void triangle_point(const struct tsr_tessellation *t, unsigned int ring, unsigned int side,
			   unsigned int step, uint32_t at[2])
{
	const struct tsr_tess_line *along = ring ? &t->inside[0] : &t->edge[side];
	const unsigned int last = along->points - 1u - ring;
	uint32_t distance = 0, position;

	if (ring)
		distance = (uint32_t)(((uint64_t)place(along, ring) * 0xaaaa + HALF) >> 16);
	position = place(along, side == 1 ? ring + step : last - step) - (distance + 1) / 2;
	at[0] = side ? position : distance;
	at[1] = side == 0 ? position : side == 1 ? distance : TSR_TESS_ONE - position - distance;
}

/* Point @step of side @side of @ring of a quad. */
static void quad_point(const struct tsr_tessellation *t, unsigned int ring, unsigned int side,
		       unsigned int step, uint32_t at[2])
{
	const unsigned int axis = axis_of(side);
	const struct tsr_tess_line *along = ring ? &t->inside[axis] : &t->edge[side];
	const struct tsr_tess_line *across = &t->inside[!axis];
	const unsigned int last = along->points - 1u - ring;

	at[axis] = place(along, side == 1 || side == 2 ? ring + step : last - step);
	if (ring)
		at[!axis] = place(across, side < 2 ? ring : across->points - 1u - ring);
	else
		at[!axis] = side < 2 ? 0 : TSR_TESS_ONE;
}

void tsr_tess_point(const struct tsr_tessellation *t, unsigned int point, uint32_t at[2])
{
	static const uint8_t corner[4][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
	unsigned int ring = 0, side = 0;

	if (t->shape == TSR_TESS_ISOLINE) {
		at[0] = place(&t->edge[1], point % t->edge[1].points);
		at[1] = place(&t->edge[0], point / t->edge[1].points);
		return;
	}
	if (t->single) {
		point = t->sides == 3 ? (point + 3) % 4 : point;
		at[0] = corner[point][0] * TSR_TESS_ONE;
		at[1] = corner[point][1] * TSR_TESS_ONE;
		return;
	}
	while (point >= points_around(t, ring))
		point -= points_around(t, ring++);
	if (t->shape == TSR_TESS_TRIANGLE && is_row(t, ring)) {
		at[0] = 0x5555;
		at[1] = 0x5555;
		return;
	}
	while (side + 1 < t->sides && point >= steps_of(t, ring, side) + (is_row(t, ring) ? 1 : 0))
		point -= steps_of(t, ring, side++);
	if (t->shape == TSR_TESS_TRIANGLE)
		triangle_point(t, ring, side, point, at);
	else
		quad_point(t, ring, side, point, at);
}

/* ---- Primitives ------------------------------------------------------------------------------ */

/*
 * Between two rings lies a strip of triangles on each side. Each triangle advances by a point along
 * the inner or along the outer one of its two rows, and begins with the point of one of them. What
 * follows is in which order they do. Strips come ring by ring, side by side; at the end what the
 * innermost ring encloses.
 */
struct advance {
	bool any;		/* false: no triangle in this state */
	bool inner;		/* which row it advances along */
	bool inner_first;	/* whose point is its first corner */
};

#define NO_ADVANCE	((struct advance){ 0 })
#define INNER(first)	((struct advance){ true, true, first })
#define OUTER(first)	((struct advance){ true, false, first })

/* The places of a half line where points appear as its factor grows: which appears when. */
static unsigned int rank(unsigned int place)
{
	unsigned int zeros;

	if (!place)
		return 0;
	zeros = (unsigned int)__builtin_ctz(place);
	return (1u << (4 - zeros)) + (place >> (zeros + 1));
}

#define PLACES	32u
#define MIDDLE	(2 * PLACES)
#define LAST	(MIDDLE + 2 + 2 * PLACES)

/*
 * The strip between the patch's edge and ring 1: both halves are divided as the ranks of their
 * points say, the second as the first one's mirror image.
 */
static struct advance transition(const struct tsr_tessellation *t, unsigned int side,
				 unsigned int state)
{
	const struct tsr_tess_line *outer = &t->edge[side], *inner = &t->inside[axis_of(side)];
	unsigned int step;

	if (state == MIDDLE)
		return inner->odd ? INNER(true) : NO_ADVANCE;
	if (state == MIDDLE + 1)
		return outer->odd ? OUTER(true) : NO_ADVANCE;
	step = state < MIDDLE ? state : LAST - 1 - state;
	if (step & 1)
		return rank(step / 2) + outer->odd < outer->half ? OUTER(false) : NO_ADVANCE;
	if (step && rank(step / 2) + inner->odd < inner->half)
		return INNER(true);
	return NO_ADVANCE;
}

/* Any other strip: its inner row has @steps, its diagonals are mirrored about the middle. */
static struct advance regular(unsigned int steps, unsigned int state)
{
	bool first_half;

	if (state == 0 || state == 2 * steps + 1)
		return OUTER(false);
	first_half = (state - 1) / 2 < (steps + 1) / 2;
	return first_half == (state & 1) ? INNER(!first_half) : OUTER(!first_half);
}

/*
 * The row of @steps quads inside the innermost ring of a quad, along u or along v. Along v, if
 * there is one on the middle, its diagonal is the other one.
 */
static struct advance middle_row(bool along_v, unsigned int steps, unsigned int state)
{
	const bool on_middle = along_v && (steps & 1);

	if (on_middle && state / 2 == steps / 2)
		return state & 1 ? OUTER(false) : INNER(false);
	return state & 1 ? INNER(true) : OUTER(!on_middle);
}

void tsr_tess_first(const struct tsr_tessellation *t, struct tsr_tess_walk *walk)
{
	memset(walk, 0, sizeof(*walk));
	walk->ring = 1;
	if (!t->single && t->shape != TSR_TESS_ISOLINE)
		walk->inner_base = (uint16_t)points_around(t, 0);
}

/* The number of the point @step steps along @ring, whose first is @base. */
static uint16_t point_along(const struct tsr_tessellation *t, unsigned int ring, unsigned int base,
			    unsigned int step)
{
	const unsigned int steps = steps_around(t, ring);

	if (is_row(t, ring))
		step = step > steps / 2 ? steps - step : step;
	else if (step >= steps)
		step -= steps;
	return (uint16_t)(base + step);
}

/* The next strip: of the next side, or of the next ring. */
static void next_strip(const struct tsr_tessellation *t, struct tsr_tess_walk *walk)
{
	walk->inner_at += walk->inner;
	walk->outer_at += walk->outer;
	walk->inner = walk->outer = walk->state = 0;
	if (++walk->side < t->sides)
		return;
	walk->side = 0;
	walk->ring++;
	walk->inner_at = walk->outer_at = 0;
	walk->outer_base = walk->inner_base;
	if (walk->ring < t->rings)
		walk->inner_base += (uint16_t)points_around(t, walk->ring - 1u);
}

static void triangle(struct advance advance, const uint16_t outer[2], const uint16_t inner[2],
		     uint16_t corner[3])
{
	const uint16_t next = advance.inner ? inner[1] : outer[1];

	corner[0] = advance.inner_first ? inner[0] : outer[0];
	corner[1] = advance.inner_first ? outer[0] : next;
	corner[2] = advance.inner_first ? next : inner[0];
}

/* The next triangle of the strip that @walk is in. False: it has no more. */
static bool strip_next(const struct tsr_tessellation *t, struct tsr_tess_walk *walk,
		       uint16_t corner[3])
{
	const unsigned int steps = steps_of(t, walk->ring, walk->side);
	const unsigned int last = walk->ring == 1 ? LAST : 2 * steps + 2;
	uint16_t outer[2], inner[2];
	struct advance advance;

	do {
		if (walk->state == last)
			return false;
		advance = walk->ring == 1 ? transition(t, walk->side, walk->state) :
					    regular(steps, walk->state);
		walk->state++;
	} while (!advance.any);
	for (unsigned int i = 0; i < 2; i++) {
		inner[i] = point_along(t, walk->ring, walk->inner_base,
				       walk->inner_at + walk->inner + i);
		outer[i] = point_along(t, walk->ring - 1u, walk->outer_base,
				       walk->outer_at + walk->outer + i);
	}
	triangle(advance, outer, inner, corner);
	walk->inner += advance.inner;
	walk->outer += !advance.inner;
	return true;
}

/* The next triangle inside the innermost ring. */
static bool middle_next(const struct tsr_tessellation *t, struct tsr_tess_walk *walk,
			uint16_t corner[3])
{
	const unsigned int ring = t->rings - 1u, around = steps_around(t, ring);
	const bool wide = t->inside[0].points > t->inside[1].points;
	const unsigned int steps = steps_of(t, ring, wide ? 1 : 0);
	uint16_t outer[2], inner[2];
	struct advance advance;

	if (is_row(t, ring) || walk->state == (t->sides == 3 ? 1 : 2 * steps))
		return false;
	if (t->sides == 3) {
		for (unsigned int i = 0; i < 3; i++)
			corner[i] = (uint16_t)(walk->outer_base + i);
		walk->state++;
		return true;
	}
	for (unsigned int i = 0; i < 2; i++) {
		outer[i] = point_along(t, ring, walk->outer_base, walk->outer + i + wide);
		inner[i] = point_along(t, ring, walk->outer_base,
				       around - !wide - walk->inner - i);
	}
	advance = middle_row(!wide, steps, walk->state++);
	triangle(advance, outer, inner, corner);
	walk->inner += advance.inner;
	walk->outer += !advance.inner;
	return true;
}

/* The triangles of a patch that is not divided. */
static bool single_next(const struct tsr_tessellation *t, struct tsr_tess_walk *walk,
			uint16_t corner[3])
{
	static const uint8_t quad[2][3] = { { 0, 1, 3 }, { 1, 2, 3 } };

	if (walk->state + 2u == t->sides)
		return false;
	for (unsigned int i = 0; i < 3; i++)
		corner[i] = t->sides == 3 ? (uint16_t)i : quad[walk->state][i];
	walk->state++;
	return true;
}

/* The next line of an isoline: outer counts points of the patch. */
static bool isoline_next(const struct tsr_tessellation *t, struct tsr_tess_walk *walk,
			 uint16_t corner[3])
{
	if ((walk->outer + 1u) % t->edge[1].points == 0)
		walk->outer++;
	if (walk->outer >= t->points)
		return false;
	corner[0] = walk->outer++;
	corner[1] = walk->outer;
	return true;
}

bool tsr_tess_next(const struct tsr_tessellation *t, struct tsr_tess_walk *walk,
		   uint16_t corner[3])
{
	if (t->shape == TSR_TESS_ISOLINE)
		return isoline_next(t, walk, corner);
	if (t->single)
		return single_next(t, walk, corner);
	for (; walk->ring < t->rings; next_strip(t, walk))
		if (strip_next(t, walk, corner))
			return true;
	return middle_next(t, walk, corner);
}
