/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Depth ranges of viewports: any two numbers, in either order; what of a triangle is clipped or
 * clamped, and what is stored in each format.
 */
#include <math.h>
#include <string.h>

#include "ktap.h"
#include "tiles.h"

#define SIDE 64

struct range {
	float near, far;
};

/* How positions are given. */
enum { CLIP, MINUS_ONE, WINDOW, MODES };
static unsigned int mode;
static const struct range *range;

/*
 * A triangle over all of the frame whose z grows from -1 on the left to 3 on the right: it is cut
 * between pixels.
 */
static void corner(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	static const float at[3][3] = { { -1, -1, -1 }, { 3, -1, 7 }, { -1, 3, -1 } };

	(void)f;
	(void)instance;
	memcpy(record, at[vertex % 3], sizeof(at[0]));
	record[3] = 1;
	if (mode == MINUS_ONE)
		record[2] = 2 * record[2] - 1;
	if (mode != WINDOW)
		return;
	record[0] = (record[0] + 1) * SIDE / 2;
	record[1] = (record[1] + 1) * SIDE / 2;
	record[2] = range->near + record[2] * (range->far - range->near);
}

static const struct {
	unsigned int format, bytes;
	double scale;				/* 0: floats */
} formats[] = {
	{ TSR_PIXEL_FORMAT_R32F, 4, 0 }, { TSR_PIXEL_FORMAT_Z24X8_UNORM, 4, 0xffffff },
	{ TSR_PIXEL_FORMAT_Z16_UNORM, 2, 0xffff },
};

static double stored(struct tiles *t, unsigned int format, unsigned int x, unsigned int y)
{
	uint32_t word = 0;
	float z;

	memcpy(&word, tiles_texel(t, TILES_DEPTH, x, y, 0), formats[format].bytes);
	memcpy(&z, &word, sizeof(z));
	return formats[format].scale ? (word & (uint32_t)formats[format].scale) /
				       formats[format].scale : (double)z;
}

static double limited(double z, double low, double high)
{
	return z < low ? low : z > high ? high : z;
}

/* Rows of pixels differ in nothing. */
static bool check(struct tiles *t, unsigned int format, const struct range *r)
{
	const bool clamp = t->f->draw.depth_clamp;
	const double clear = 0.375, low = fminf(r->near, r->far), high = fmaxf(r->near, r->far);
	unsigned int wrong = 0, inside = 0;

	for (unsigned int x = 0; x < SIDE; x++) {
		const double z = -1 + 4 * (x + 0.5) / SIDE;
		double want = limited(r->near + z * (r->far - r->near), low, high);

		/* depths in the window that are all the same are all in the range */
		if (!clamp && (z < 0 || z > 1) && (mode != WINDOW || low < high))
			want = clear;
		else
			inside++;
		if (formats[format].scale)
			want = limited(want, 0, 1);
		for (unsigned int y = 0; y < SIDE; y += 9)
			wrong += fabs(stored(t, format, x, y) - want) > 2e-5 * (1 + fabs(want));
	}
	ktap_ok(inside > 10);
	return ktap_eq(wrong, 0);
}

static void ranges(void)
{
	static const struct range all[] = {
		{ 0, 1 }, { 1, 0 }, { 0.25f, 0.75f }, { 0.75f, 0.25f }, { 0.5f, 0.5f }, { -1, 2 },
		{ 2, -1 }, { -3, -1 }, { 2, 4 }, { 5, 1 },
	};
	const unsigned int count = sizeof(all) / sizeof(all[0]);

	for (unsigned int i = 0; i < 3 * 2 * MODES * count; i++) {
		struct tiles *t = tiles_new(SIDE, SIDE, NULL);
		const struct range *r = &all[i % count];
		unsigned int format = i / count / 2 % 3;

		range = r;
		mode = i / count / 6;

		tiles_target(t, TILES_DEPTH, formats[format].format, formats[format].bytes);
		t->target[TILES_DEPTH].clear_0 = binner_bits(0.375f);
		t->f->position = corner;
		t->f->draw.depth_test = t->f->draw.depth_write = true;
		t->f->draw.depth_function = TSR_COMPARE_FUNCTION_ALWAYS;
		t->f->draw.depth_clamp = i / count % 2;
		t->f->draw.depth_minus_one = mode == MINUS_ONE;
		t->f->shader.position_mode = mode == WINDOW ? TSR_POSITION_MODE_WINDOW :
							      TSR_POSITION_MODE_CLIP;
		t->f->viewport[0].near = binner_bits(r->near);
		t->f->viewport[0].far = binner_bits(r->far);
		binner_again(t->f);
		binner_states(t->f);
		binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3);
		ktap_ok(tiles_run(t));
		if (!check(t, format, r))
			ktap_note("near %g, far %g, format %u, clamp %d, mode %u", (double)r->near,
				  (double)r->far, format, t->f->draw.depth_clamp, mode);
		tiles_free(t);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[ZS1] [BIN2] depth ranges in either order, clipped and clamped", ranges);
	return ktap_finish();
}
