/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Depth and stencil tests of blocks, against zs_ref.h, sample by sample: all functions, operations,
 * masks, formats; whole blocks are rejected only where every sample would be. Depth of triangles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "simd/simd.h"
#include "soup.h"
#include "raster/raster.h"
#include "raster/zs.h"
#include "zs_ref.h"

/* ---- The reference, by hand ------------------------------------------------------------------ */

static void by_hand(void)
{
	static const struct zs_corner flat[3] = { { 0, 0, 1 }, { 4, 0, 5 }, { 0, 8, 9 } };
	static const long double rw[3] = { 1, 0.5, 1 }, value[3] = { 0, 1, 0 };
	struct tsr_draw_state d = { .stencil_test = true, .depth_test = true, .depth_write = true,
				    .depth_function = TSR_COMPARE_FUNCTION_LESS,
				    .front_function = TSR_COMPARE_FUNCTION_EQUAL,
				    .front_fail = TSR_STENCIL_OP_INVERT,
				    .front_depth_fail = TSR_STENCIL_OP_REPLACE,
				    .front_pass = TSR_STENCIL_OP_INCREMENT_WRAP,
				    .front_reference = 0x7f, .front_read_mask = 0x0f,
				    .front_write_mask = 0x3c };
	struct zs_sample s = { 0.5, 0x1f };

	/* 1 + x + y */
	ktap_ok(zs_ref_plane(flat, 2, 3) == 6);
	/* halfway on the screen, a third of the way in space */
	ktap_ok(fabsl(zs_ref_perspective(flat, rw, value, 2, 0) - 1.0L / 3) < 1e-15L);
	ktap_ok(zs_ref_stored(ZS_UNORM16, 0.5, 0, 1) == 32768.0 / 65535);
	ktap_ok(zs_ref_stored(ZS_FLOAT32, 7, 1, 0) == 1);
	/* low four bits are equal, depth passes: 0x20 is written under the mask */
	ktap_ok(zs_ref_test(&d, ZS_FLOAT32, true, true, 0.25, &s));
	ktap_ok(s.depth == 0.25 && s.stencil == ((0x1f & ~0x3c) | (0x20 & 0x3c)));
	s = (struct zs_sample){ 0.5, 0x1f };
	ktap_ok(!zs_ref_test(&d, ZS_FLOAT32, true, true, 0.75, &s));
	ktap_ok(s.depth == 0.5 && s.stencil == ((0x1f & ~0x3c) | (0x7f & 0x3c)));
	s = (struct zs_sample){ 0.5, 0x1e };
	ktap_ok(!zs_ref_test(&d, ZS_FLOAT32, true, true, 0.25, &s));
	ktap_ok(s.depth == 0.5 && s.stencil == ((0x1e & ~0x3c) | (0xe1 & 0x3c)));
}

/* ---- Tests of blocks ------------------------------------------------------------------------- */

#define SAMPLES 2
#define BLOCKS 4

static float depth[BLOCKS * SAMPLES * 64 + 64];
static uint8_t stencil[BLOCKS * SAMPLES * 64 + 64];

/* One of few depths, quarters, in the format's units. */
static float units(double quarters, double scale)
{
	return (float)(scale > 0 ? floor(quarters / 4 * scale + 0.5) : quarters / 4);
}

static float any_units(struct soup *s, double scale)
{
	return units((double)soup_below(s, 5), scale);
}

static uint32_t bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static struct tsr_draw_state any_state(struct soup *s)
{
	return (struct tsr_draw_state){
		.depth_test = soup_below(s, 4), .depth_write = soup_below(s, 3),
		.depth_function = (uint32_t)soup_below(s, 8), .depth_bounds = !soup_below(s, 4),
		.stencil_test = soup_below(s, 2), .front_function = (uint32_t)soup_below(s, 8),
		.front_fail = (uint32_t)soup_below(s, 8),
		.front_depth_fail = (uint32_t)soup_below(s, 8),
		.front_pass = (uint32_t)soup_below(s, 8),
		.back_function = (uint32_t)soup_below(s, 8),
		.back_fail = (uint32_t)soup_below(s, 8),
		.back_depth_fail = (uint32_t)soup_below(s, 8),
		.back_pass = (uint32_t)soup_below(s, 8),
		.front_reference = (uint32_t)soup_below(s, 4), .back_reference = 0x81,
		.front_read_mask = soup_below(s, 2) ? 255 : 2,
		.back_read_mask = (uint32_t)soup_below(s, 256),
		.front_write_mask = soup_below(s, 2) ? 255 : (uint32_t)soup_below(s, 256),
		.back_write_mask = (uint32_t)soup_below(s, 256),
		.depth_min = bits_of(soup_below(s, 2) ? 0.25f : 0),
		.depth_max = bits_of(soup_below(s, 2) ? 0.75f : 1),
	};
}

static const double scales[] = { 0, 65535, 16777215 };
static const enum zs_depth formats[] = { ZS_FLOAT32, ZS_UNORM16, ZS_UNORM24 };

/* The reference result for a stored pair, with units converted to numbers and back. */
static bool reference(const struct tsr_draw_state *d, unsigned int format, bool has_depth,
		      bool has_stencil, bool front, float z, float *stored, uint8_t *code)
{
	double unit = scales[format] > 0 ? scales[format] : 1;
	struct zs_sample sample = { *stored / unit, *code };
	bool pass = zs_ref_test(d, has_depth ? formats[format] : ZS_NONE, has_stencil, front,
				z / unit, &sample);

	*code = sample.stencil;
	if (sample.depth != *stored / unit)
		*stored = z;
	return pass;
}

static unsigned int rejected, rejected_by_depth;

static void one_block(struct soup *s, struct tsr_tile *t, const struct tsr_fine *fine)
{
	struct tsr_draw_state draw = any_state(s);
	struct tsr_shader_state shader = { 0 };
	unsigned int format = (unsigned int)soup_below(s, 3);
	unsigned int b = (unsigned int)soup_below(s, BLOCKS);
	unsigned int sample = (unsigned int)soup_below(s, SAMPLES);
	struct tsr_zs_block block = { .block = b, .sample = sample, .front = soup_below(s, 2),
				      .write = true };
	uint64_t mask = soup_below(s, 3) ? ~0ull : soup_below(s, UINT64_MAX), got, want = 0;
	unsigned int at = (b * SAMPLES + sample) * 64;
	float z[64], low = INFINITY, high = -INFINITY, want_depth[64];
	uint8_t want_stencil[64];
	bool reject, by_depth = false, same = soup_below(s, 2);
	/* close together now and then, so that a block's bounds are met exactly */
	uint64_t first = soup_below(s, 5), differ = 1 + soup_below(s, 5 - first);
	uint64_t runs = soup_below(s, 2) ? 16 : SAMPLES * 64;
	struct tsr_zs zs;

	t->has_depth = soup_below(s, 8);
	t->has_stencil = soup_below(s, 8);
	tsr_zs_prepare(&zs, &draw, &shader, true, t->has_depth, t->has_stencil, scales[format], 0);
	for (unsigned int i = 0; i < 64; i++) {
		z[i] = units((double)(first + soup_below(s, differ)), scales[format]);
		low = z[i] < low ? z[i] : low;
		high = z[i] > high ? z[i] : high;
	}
	/* what is stored: now and then the same everywhere */
	for (unsigned int i = 0; i < BLOCKS * SAMPLES * 64; i++) {
		depth[i] = any_units(s, scales[format]);
		stencil[i] = (uint8_t)soup_below(s, 4);
		if (i && soup_below(s, runs))
			depth[i] = depth[i - 1];
		if (i && (same || soup_below(s, 16)))
			stencil[i] = stencil[i - 1];
	}
	tsr_zs_know(t, fine, true, true);
	memcpy(want_depth, depth + at, sizeof(want_depth));
	memcpy(want_stencil, stencil + at, sizeof(want_stencil));
	for (unsigned int i = 0; i < 64; i++) {
		if (mask >> i & 1)
			want |= (uint64_t)reference(&draw, format, t->has_depth, t->has_stencil,
						    block.front, z[i], &want_depth[i],
						    &want_stencil[i]) << i;
	}
	reject = tsr_zs_rejects(t, fine, &zs, b, block.front, low, high, &by_depth);
	rejected += reject;
	rejected_by_depth += reject && by_depth;
	if (reject) {
		ktap_ok(!want);
		ktap_mem_eq(want_depth, depth + at, sizeof(want_depth));
		ktap_mem_eq(want_stencil, stencil + at, sizeof(want_stencil));
	}
	block.z = z;
	got = zs.when == TSR_ZS_NEVER ? mask : tsr_zs_test(t, fine, &zs, &block, mask);
	if (got != want)
		ktap_fail("function %u, bounds %u, stencil %u (%u %u %u): %llx, not %llx",
			  draw.depth_function, draw.depth_bounds, draw.stencil_test,
			  draw.front_function, draw.front_fail, draw.front_pass,
			  (unsigned long long)got, (unsigned long long)want);
	ktap_mem_eq(depth + at, want_depth, sizeof(want_depth));
	ktap_mem_eq(stencil + at, want_stencil, sizeof(want_stencil));
}

static void blocks(void)
{
	const struct tsr_simd *const paths[] = { tsr_simd_best(), &tsr_simd_sse2,
						 tsr_simd_named("avx2") };
	struct soup s = soup_new(41);

	for (unsigned int n = 0; n < 6000; n++) {
		static struct tsr_tile tile;
		const struct tsr_simd *simd = paths[n % 3] ? paths[n % 3] : &tsr_simd_sse2;

		tile = (struct tsr_tile){ .width = 16, .height = 16, .shift = 4,
					  .samples_log2 = 1, .depth = depth, .stencil = stencil };
		one_block(&s, &tile, simd->raster);
	}
	/* whole blocks do get rejected, also by stencil */
	ktap_note("%u of 6000 blocks rejected, %u of them by depth", rejected, rejected_by_depth);
	ktap_ok(rejected > 200 && rejected_by_depth > 20 && rejected_by_depth < rejected);
}

/* ---- Stencil that one outcome changes -------------------------------------------------------- */

enum outcome { FAIL, DEPTH_FAIL, PASS };

/* @outcome comes of every fragment of that face; it alone replaces stencil by 9, under @mask. */
static struct tsr_draw_state replacing(enum outcome outcome, bool front, uint32_t mask)
{
	const uint32_t function = outcome == FAIL ? TSR_COMPARE_FUNCTION_NEVER :
						    TSR_COMPARE_FUNCTION_ALWAYS;
	struct tsr_draw_state d = { .stencil_test = true, .depth_test = outcome == DEPTH_FAIL,
				    .depth_function = TSR_COMPARE_FUNCTION_NEVER,
				    .front_function = function, .back_function = function,
				    .front_fail = TSR_STENCIL_OP_KEEP,
				    .front_depth_fail = TSR_STENCIL_OP_KEEP,
				    .front_pass = TSR_STENCIL_OP_KEEP,
				    .back_fail = TSR_STENCIL_OP_KEEP,
				    .back_depth_fail = TSR_STENCIL_OP_KEEP,
				    .back_pass = TSR_STENCIL_OP_KEEP,
				    .front_reference = 9, .back_reference = 9,
				    .front_write_mask = front ? mask : 0,
				    .back_write_mask = front ? 0 : mask };
	uint32_t *const op[2][3] = { { &d.back_fail, &d.back_depth_fail, &d.back_pass },
				     { &d.front_fail, &d.front_depth_fail, &d.front_pass } };

	*op[front][outcome] = TSR_STENCIL_OP_REPLACE;
	return d;
}

/* True if a block is rejected by the test for a stencil of 9. */
static bool nine_rejected(struct tsr_tile *t, const struct tsr_fine *fine)
{
	const struct tsr_draw_state d = { .stencil_test = true, .front_read_mask = 255,
					  .front_function = TSR_COMPARE_FUNCTION_EQUAL,
					  .back_function = TSR_COMPARE_FUNCTION_EQUAL,
					  .front_reference = 9, .back_reference = 9 };
	const struct tsr_shader_state shader = { 0 };
	bool by_depth;
	struct tsr_zs zs;

	tsr_zs_prepare(&zs, &d, &shader, true, true, true, 0, 0);
	return tsr_zs_rejects(t, fine, &zs, 0, true, 0, 1, &by_depth);
}

/* The known stencil of a block becomes unknown if the outcome changes it. */
static void one_outcome(enum outcome outcome, bool front, uint32_t mask)
{
	const struct tsr_draw_state d = replacing(outcome, front, mask);
	const struct tsr_shader_state shader = { 0 }, discards = { .discards = true };
	const struct tsr_fine *fine = tsr_simd_best()->raster;
	static struct tsr_tile t;
	float z[64] = { 0 };
	const struct tsr_zs_block block = { .front = front, .write = true, .z = z };
	struct tsr_zs zs;

	t = (struct tsr_tile){ .width = 16, .height = 16, .shift = 4, .depth = depth,
			       .stencil = stencil, .has_depth = true, .has_stencil = true };
	memset(stencil, 4, sizeof(stencil));
	memset(depth, 0, sizeof(depth));
	tsr_zs_know(&t, fine, true, true);
	ktap_ok(nine_rejected(&t, fine));
	tsr_zs_prepare(&zs, &d, &shader, true, true, true, 0, 0);
	tsr_zs_test(&t, fine, &zs, &block, ~0ull);
	for (unsigned int i = 0; i < 64; i++)
		ktap_eq(stencil[i], mask ? 9 : 4);
	ktap_eq(nine_rejected(&t, fine), !mask);
	/* a test before the program would have changed what belongs to fragments it discards */
	tsr_zs_prepare(&zs, &d, &discards, true, true, true, 0, 0);
	if (mask)
		ktap_ok(zs.when != TSR_ZS_EARLY);
	else
		ktap_ok(zs.when == TSR_ZS_EARLY);
}

static void outcomes(void)
{
	for (enum outcome outcome = FAIL; outcome <= PASS; outcome++) {
		for (unsigned int front = 0; front < 2; front++) {
			one_outcome(outcome, front, 255);
			one_outcome(outcome, front, 0);
		}
	}
}

/*
 * Pixels of a block become nearer, some at a time. Fragments farther than all of them are dropped
 * once enough pixels are known, and fragments that may be nearer than one never are.
 */
static void written(void)
{
	const struct tsr_draw_state d = { .depth_test = true, .depth_write = true,
					  .depth_function = TSR_COMPARE_FUNCTION_LESS };
	const struct tsr_shader_state shader = { 0 };
	const struct tsr_fine *fine = tsr_simd_best()->raster;
	static struct tsr_tile t;
	struct tsr_zs zs;
	bool by_depth;

	t = (struct tsr_tile){ .width = 16, .height = 16, .shift = 4, .depth = depth,
			       .has_depth = true };
	tsr_zs_prepare(&zs, &d, &shader, true, true, false, 0, 0);
	for (unsigned int step = 1; step <= 64; step *= 2) {
		float z[64];
		const struct tsr_zs_block block = { .front = true, .write = true, .z = z };

		for (unsigned int i = 0; i < 64; i++) {
			depth[i] = 1;
			z[i] = .25f + (float)i / 256;
		}
		tsr_zs_know(&t, fine, true, false);
		ktap_ok(tsr_zs_rejects(&t, fine, &zs, 0, true, 1, 1, &by_depth) && by_depth);
		for (unsigned int i = 0; i < 64; i += step) {
			ktap_ok(!tsr_zs_rejects(&t, fine, &zs, 0, true, .75f, 1, &by_depth));
			tsr_zs_test(&t, fine, &zs, &block, (~0ull >> (64 - step)) << i);
		}
		ktap_ok(tsr_zs_rejects(&t, fine, &zs, 0, true, .75f, 1, &by_depth) && by_depth);
		ktap_ok(!tsr_zs_rejects(&t, fine, &zs, 0, true, .25f, 1, &by_depth));
	}
}

int main(void)
{
	ktap_start();
	ktap_run("the reference's tests and planes", by_hand);
	ktap_run("[ZS1] [ZS2] [ZS4] [ZS5] tests of blocks, all functions and operations", blocks);
	ktap_run("[ZS2] [ZS3] [ZS5] when stencil is tested, and known, that one outcome changes",
		 outcomes);
	ktap_run("[ZS3] depth bounds of a block that is written bit by bit", written);
	return ktap_finish();
}
