/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=240 */
/*
 * Colors of whole pictures, in memory, against color_ref.h: every sample is blended with all
 * triangles over it in their order; stored as samples, resolved, and with tags.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "color_ref.h"
#include "ktap.h"
#include "soup.h"
#include "tiles.h"

#define WIDTH 45
#define HEIGHT 37
#define TRIANGLES 40

/* Addresses after the lists and states of binner.h. */
#define PROGRAM (BINNER_FRAME + 0x4000)
#define CODE (BINNER_FRAME + 0x4100)
#define BLENDS (BINNER_FRAME + 0x5000)
#define TAGS (TILES_TARGETS + 2 * TILES_TARGET_SIZE)

/* (id / 64, 1 - id / 128, (id / 64)^2, 1 / 2) of primitive id. */
static const char colors[] =
	"clause {\n"
	"	*NOP\n"
	"	+U32_TO_F32 r4:t1, r57\n"
	"	*FMA.f32 r0:t0, t1, 0x3c800000, #0.neg\n"
	"	+NOP\n"
	"	*FMA.f32 r2:t0, t0, t0, #0.neg\n"
	"	+MOV.i32 r3:t1, 0x3f000000\n"
	"	*FMA.f32 r1:t0, r4, 0xbc000000, 0x3f800000\n"
	"	+NOP\n"
	"}\n"
	TILES_FINISH;

static float corner[3 * TRIANGLES][4];

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	memcpy(record, corner[vertex], sizeof(corner[vertex]));
}

struct scene {
	struct tsr_blend blend;
	struct color_format format;
	unsigned int number, samples_log2, debug;
	bool resolve, tags;
	float clear[4];
};

static const uint32_t formats[] = {
	TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_PIXEL_FORMAT_RGB10_A2_UNORM, TSR_PIXEL_FORMAT_RGBA16F,
	TSR_PIXEL_FORMAT_RGB565, TSR_PIXEL_FORMAT_RGBA8_SNORM,
};

static struct scene any_scene(struct soup *s)
{
	struct scene scene = { .number = formats[soup_below(s, 5)] };

	scene.samples_log2 = (unsigned int)soup_below(s, 4);
	scene.resolve = scene.samples_log2 && soup_below(s, 2);
	scene.tags = soup_below(s, 2) && !scene.resolve;
	scene.blend = (struct tsr_blend){
		.enable = soup_below(s, 4), .mask = soup_below(s, 3) ? 15 : soup_below(s, 16),
		.src_color = soup_below(s, 2) ? TSR_BLEND_FACTOR_SRC_ALPHA :
						TSR_BLEND_FACTOR_ONE_MINUS_DST_COLOR,
		.dst_color = soup_below(s, 2) ? TSR_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA :
						TSR_BLEND_FACTOR_CONSTANT_ALPHA,
		.src_alpha = TSR_BLEND_FACTOR_ONE, .dst_alpha = TSR_BLEND_FACTOR_CONSTANT_COLOR,
		.mode = TSR_BLEND_MODE_FIXED, .components = 3,
		.registers = TSR_REGISTER_TYPE_F32,
	};
	/* what is large is limited where targets are normalized */
	if (scene.number != TSR_PIXEL_FORMAT_RGBA16F && !soup_below(s, 3))
		scene.blend.dst_color = TSR_BLEND_FACTOR_SRC1_COLOR;
	for (unsigned int i = 0; i < 4; i++)
		scene.clear[i] = (float)soup_below(s, 3) / 2;
	color_ref_format(&scene.format, scene.number, TSR_COMPONENT_ORDER_RGBA, false);
	return scene;
}

#define CONSTANT 0.375f

static void set_scene(struct tiles *t, const struct scene *scene, const char *text)
{
	uint8_t *list = t->f->list - BINNER_LIST;
	struct tsr_render_target *target = &t->target[0];
	struct tsr_blend blend = scene->blend;

	tiles_program(t, CODE, text);
	tsr_pack_shader_program((uint64_t *)(list + PROGRAM),
				&(struct tsr_shader_program){ .code = CODE });
	blend.format = scene->number << 12;
	tsr_pack_blend((uint64_t *)(list + BLENDS), &blend);
	t->f->frame.samples_log2 = scene->samples_log2;
	t->f->frame.has_depth = false;
	tiles_target(t, 0, scene->number, scene->format.bytes);
	if (scene->resolve)
		target->samples_log2 = 0;
	if (scene->tags)
		target->tags = TAGS;
	target->clear_0 = binner_bits(scene->clear[0]);
	target->clear_1 = binner_bits(scene->clear[1]);
	target->clear_2 = binner_bits(scene->clear[2]);
	target->clear_3 = binner_bits(scene->clear[3]);
	t->f->draw.blends = BLENDS;
	t->f->draw.blend_count = 1;
	t->f->draw.blend_red = t->f->draw.blend_green = binner_bits(CONSTANT);
	t->f->draw.blend_blue = t->f->draw.blend_alpha = binner_bits(CONSTANT);
	t->f->shader = (struct tsr_shader_state){ .fragment = PROGRAM };
}

/* ---- The reference --------------------------------------------------------------------------- */

static double want[HEIGHT][WIDTH][16][4];

static void blend_sample(const struct scene *scene, unsigned int id, double c[4])
{
	static const double constant[4] = { CONSTANT, CONSTANT, CONSTANT, CONSTANT };
	const double s[4] = { id / 64.0, 1 - id / 128.0, id * id / 4096.0, 0.5 };
	/* R4 is the id, R5 to R7 are 0 */
	const double second[4] = { id > 0, 0, 0, 0 };
	double out[4], scale;

	for (unsigned int i = 0; i < 4; i++) {
		out[i] = s[i];
		if (scene->blend.enable)
			out[i] = color_ref_blend(&scene->blend, i, s, c, second, constant,
						 &scale);
	}
	for (unsigned int i = 0; i < 4; i++) {
		if (scene->blend.mask >> i & 1 && scene->format.bits[i])
			c[i] = color_ref_rounded(&scene->format, i,
						 color_ref_clamp(&scene->format, out[i]));
	}
}

static void add_piece(const struct scene *scene, const struct binner_seen *seen)
{
	const struct tsr_screen_vertex *v = seen->prim.v;
	unsigned int samples = 1u << scene->samples_log2;
	struct raster_point at[3];

	for (unsigned int i = 0; i < 3; i++)
		at[i] = (struct raster_point){ v[i].x, v[i].y };
	for (unsigned int n = 0; n < 256 * samples; n++) {
		unsigned int x = seen->tx * 16 + n / samples % 16;
		unsigned int y = seen->ty * 16 + n / samples / 16;

		if (x < WIDTH && y < HEIGHT &&
		    raster_ref_triangle(at, raster_ref_sample(samples, n % samples, x, y)))
			blend_sample(scene, seen->prim.primitive_id, want[y][x][n % samples]);
	}
}

static void reference(struct tiles *t, const struct scene *scene)
{
	for (unsigned int i = 0; i < WIDTH * HEIGHT * 16; i++) {
		double *c = want[i / 16 / WIDTH][i / 16 % WIDTH][i % 16];

		for (unsigned int k = 0; k < 4; k++) {
			c[k] = k == 3;
			if (scene->format.bits[k])
				c[k] = color_ref_rounded(&scene->format, k, scene->clear[k]);
		}
	}
	for (uint32_t i = 0; i < t->f->seen_count; i++)
		add_piece(scene, &t->f->seen[i]);
}

/* ---- What is in memory ----------------------------------------------------------------------- */

static unsigned int tag_seen[3];

static unsigned int tag_at(const struct tiles *t, const struct scene *scene, unsigned int x,
			   unsigned int y)
{
	const uint8_t *tags = t->memory + (TAGS - TILES_TARGETS);

	return scene->tags ? tags[y / 8 * ((WIDTH + 7) / 8) + x / 8] : TSR_TARGET_TAG_RAW;
}

/* A sample as whoever knows of tags reads it. */
static void load(struct tiles *t, const struct scene *scene, unsigned int x, unsigned int y,
		 unsigned int s, double c[4])
{
	unsigned int tag = tag_at(t, scene, x, y);

	if (tag == TSR_TARGET_TAG_CLEAR) {
		for (unsigned int i = 0; i < 4; i++)
			c[i] = scene->format.bits[i] ?
			       color_ref_rounded(&scene->format, i, scene->clear[i]) : i == 3;
		return;
	}
	color_ref_load(&scene->format,
		       tiles_texel(t, 0, x, y, tag == TSR_TARGET_TAG_UNIFORM ? 0 : s), c);
}

/* Rounding of an earlier step can have gone the other way: two steps of the format are allowed. */
static double step(const struct scene *scene, unsigned int c)
{
	unsigned int bits;

	if (scene->format.kind == COLOR_FLOAT)
		return 0x1p-10;
	bits = scene->format.bits[c] - (scene->format.kind == COLOR_SNORM);
	return 1 / ((double)(1u << bits) - 1);
}

static void compare(struct tiles *t, const struct scene *scene)
{
	unsigned int samples = 1u << scene->samples_log2, stored = scene->resolve ? 1 : samples;
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < WIDTH * HEIGHT * stored; i++) {
		unsigned int s = i % stored, x = i / stored % WIDTH, y = i / stored / WIDTH;
		double got[4], mean;

		tag_seen[tag_at(t, scene, x, y) % 3]++;
		load(t, scene, x, y, s, got);
		for (unsigned int c = 0; c < 4; c++) {
			mean = want[y][x][s][c];
			for (unsigned int k = 0; scene->resolve && k < samples; k++)
				mean = k ? mean + want[y][x][k][c] : want[y][x][k][c];
			mean /= scene->resolve ? samples : 1;
			if (!scene->format.bits[c] || fabs(got[c] - mean) <= 2.01 * step(scene, c))
				continue;
			if (!wrong++)
				ktap_fail("format %#x samples %u resolve %u tags %u mask %x %u: "
					  "(%u, %u).%u component %u is %g, not %g", scene->number,
					  samples, scene->resolve, scene->tags, scene->blend.mask,
					  scene->blend.enable, x, y, s, c, got[c], mean);
		}
	}
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static bool draw(struct tiles *t, const struct scene *scene)
{
	set_scene(t, scene, colors);
	t->f->position = position;
	binner_again(t->f);
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3 * TRIANGLES);
	if (tiles_run(t) && binner_read(t->f))
		return true;
	ktap_fail("faults %u, %u", t->f->mem.fault.code, bench_fault(&t->queue));
	return false;
}

/* ---- Alpha to coverage ----------------------------------------------------------------------- */

/* A screen-filling triangle of alpha u0 at depth 1/2. */
static const char see_through[] =
	"clause {\n"
	"	*MOV.i32 r0:t0, 0x3f800000\n"
	"	+NOP\n"
	"	*MOV.i32 r3:t0, u0.w0\n"
	"	+NOP\n"
	"}\n"
	TILES_FINISH;

#define PUSH (BINNER_FRAME + 0x4800)
#define THIN_SIDE 24u

static void fill_screen(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	record[0] = vertex == 1 ? 3 : -1;
	record[1] = vertex == 2 ? 3 : -1;
	record[2] = 0.5f;
	record[3] = 1;
}

static struct tiles *draw_thin(unsigned int samples_log2, float alpha, bool one, bool forced)
{
	struct scene scene = {
		.number = TSR_PIXEL_FORMAT_RGBA8_UNORM, .samples_log2 = samples_log2,
		.blend = { .mask = 15, .mode = TSR_BLEND_MODE_FIXED, .components = 3,
			   .registers = TSR_REGISTER_TYPE_F32 },
	};
	struct tiles *t = tiles_new(THIN_SIDE, THIN_SIDE, NULL);
	uint8_t *list = t->f->list - BINNER_LIST;
	uint64_t word[TSR_LIST_QUERY_QWORDS];

	color_ref_format(&scene.format, scene.number, TSR_COMPONENT_ORDER_RGBA, false);
	set_scene(t, &scene, see_through);
	memcpy(list + PUSH, &alpha, sizeof(alpha));
	tsr_pack_shader_program((uint64_t *)(list + PROGRAM),
				&(struct tsr_shader_program){ .code = CODE, .push = PUSH,
							      .push_words = 1 });
	t->f->frame.has_depth = true;
	tiles_target(t, TILES_DEPTH, TSR_PIXEL_FORMAT_R32F, 4);
	t->target[TILES_DEPTH].clear_0 = binner_bits(1);
	t->f->position = fill_screen;
	t->f->draw.alpha_to_coverage = true;
	t->f->draw.alpha_to_one = one;
	t->f->draw.depth_test = t->f->draw.depth_write = true;
	t->f->draw.depth_function = TSR_COMPARE_FUNCTION_LESS;
	t->f->shader.early_tests = forced;
	memset(t->f->data, 0, 8);
	binner_again(t->f);
	binner_states(t->f);
	tsr_pack_list_query(word, &(struct tsr_list_query){ .kind = TSR_QUERY_SAMPLES,
							    .addr = BINNER_DATA });
	binner_packet(t->f, word, TSR_LIST_QUERY_QWORDS);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3);
	ktap_ok(tiles_run(t));
	return t;
}

/* Samples of a pixel that are drawn, which must have the depth too (all have, if it is forced). */
static unsigned int drawn(struct tiles *t, unsigned int samples, unsigned int x, unsigned int y,
			  uint8_t alpha, bool forced)
{
	unsigned int count = 0;

	for (unsigned int s = 0; s < samples; s++) {
		const uint8_t *texel = tiles_texel(t, 0, x, y, s);
		bool here = texel[0] == 255;

		ktap_eq(tiles_depth(t, x, y, s) == 0.5f, here || forced);
		if (here)
			ktap_eq(texel[3], alpha);
		count += here;
	}
	return count;
}

/* The first sample of pixel (@x, 0) that is drawn. */
static unsigned int first_sample(struct tiles *t, unsigned int samples, unsigned int x)
{
	unsigned int s = 0;

	while (s < samples && *(uint8_t *)tiles_texel(t, 0, x, 0, s) != 255)
		s++;
	return s;
}

static void thinned(void)
{
	for (unsigned int n = 0; n < 5 * 2 * 9; n++) {
		unsigned int samples_log2 = n % 5, samples = 1u << samples_log2;
		bool one = n / 5 % 2, forced = n % 7 == 6;
		float alpha = (float)(n / 10) / 8;
		struct tiles *t = draw_thin(samples_log2, alpha, one, forced);
		unsigned int want = (unsigned int)(alpha * (float)samples + 0.5f), wrong = 0;
		uint8_t stored = one ? 255 : (uint8_t)(alpha * 255 + 0.5f);
		uint64_t passed;

		if (want && want < samples && samples > 3)
			ktap_ok(samples < 4 || want * 4 != samples ||
				first_sample(t, samples, 0) != first_sample(t, samples, 1));
		for (unsigned int i = 0; i < THIN_SIDE * THIN_SIDE; i++)
			wrong += drawn(t, samples, i % THIN_SIDE, i / THIN_SIDE, stored, forced) !=
				 want;
		ktap_eq(wrong, 0);
		memcpy(&passed, t->f->data, sizeof(passed));
		ktap_eq(passed, THIN_SIDE * THIN_SIDE * (forced ? samples : want));
		tiles_free(t);
	}
}

static void any_corners(struct soup *s)
{
	for (unsigned int n = 0; n < TRIANGLES; n++) {
		float v[3][4];
		double at[2] = { 1.6 * soup_fraction(s) - 0.8, 1.6 * soup_fraction(s) - 0.8 };

		soup_clipped(s, (enum soup_plane)soup_below(s, SOUP_PLANES), v);
		/* most are small, so that something of the clear color stays */
		for (unsigned int i = 0; i < 3 && n; i++) {
			v[i][0] = (float)(at[0] + 0.6 * soup_fraction(s) - 0.3);
			v[i][1] = (float)(at[1] + 0.3 * soup_fraction(s) - 0.3);
			v[i][2] = 0.5f;
			v[i][3] = 1;
		}
		memcpy(corner[3 * n], v, sizeof(v));
	}
}

static void pictures(void)
{
	unsigned int most = getenv("TSR_QUICK") ? 50 : 500;
	struct soup s = soup_new(61);

	for (unsigned int n = 0; n < most; n++) {
		struct tsr_config config = { .threads = n % 4 == 3 ? 2 : 0 };
		struct scene scene = any_scene(&s);
		struct tiles *t = tiles_new(WIDTH, HEIGHT, &config);

		any_corners(&s);
		memset(t->memory, 0xa5, 2 * TILES_TARGET_SIZE);
		if (draw(t, &scene)) {
			reference(t, &scene);
			compare(t, &scene);
		}
		tiles_free(t);
	}
	ktap_note("pixels in raw, clear and uniform blocks: %u %u %u", tag_seen[0], tag_seen[1],
		  tag_seen[2]);
	ktap_ok(tag_seen[TSR_TARGET_TAG_CLEAR] > 100 && tag_seen[TSR_TARGET_TAG_UNIFORM] > 100);
}

int main(void)
{
	ktap_start();
	ktap_run("[OM1] [OM2] [OM3] [OM5] [OM6] [RAST6] blended and resolved pictures", pictures);
	ktap_run("[RAST4] alpha to coverage: colours, depths, queries of as many samples", thinned);
	return ktap_finish();
}
