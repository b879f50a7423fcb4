/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=240 */
/*
 * Whole pictures compared with the references. Triangles in clip space, clipped by every plane, are
 * binned and rendered. Each sample's depth, stencil and primitive number must be those that
 * raster_ref.h and zs_ref.h compute from the pieces in the tile lists in order. Early, late and
 * forced tests, tiles of any size, optimizations on and off: all have the same bits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "soup.h"
#include "raster/zs.h"
#include "tiles.h"
#include "zs_ref.h"

#define WIDTH 45
#define HEIGHT 37
#define TRIANGLES 60
#define SAMPLES_MAX 4

/* Addresses after the lists and states of binner.h. */
#define PROGRAM (BINNER_FRAME + 0x4000)
#define CODE (BINNER_FRAME + 0x4100)
#define BLENDS (BINNER_FRAME + 0x5000)

/* Shows which primitive it belongs to. */
static const char shows_id[] =
	"clause message=atest slot=0 wait=0,6,7 next=blend td {\n"
	"	*NOP\n"
	"	+ATEST r60:t1, r60, 0x3f800000, @r60\n"
	"}\n"
	"clause end message=blend slot=0 td {\n"
	"	*MOV.i32 r0:t0, r57\n"
	"	+NOP\n"
	"	*NOP\n"
	"	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n"
	"}\n";

static float corner[3 * TRIANGLES][4];

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	memcpy(record, corner[vertex], sizeof(corner[vertex]));
}

static void put_program(struct tiles *t, const char *text)
{
	uint8_t *list = t->f->list - BINNER_LIST;

	tiles_program(t, CODE, text);
	tsr_pack_shader_program((uint64_t *)(list + PROGRAM),
				&(struct tsr_shader_program){ .code = CODE });
	tsr_pack_blend((uint64_t *)(list + BLENDS),
		       &(struct tsr_blend){ .mask = 15, .mode = TSR_BLEND_MODE_OPAQUE,
					    .components = 0, .registers = TSR_REGISTER_TYPE_U32,
					    .format = TSR_PIXEL_FORMAT_R32UI << 12 });
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

struct scene {
	struct tsr_draw_state draw;
	enum zs_depth depth;
	unsigned int samples_log2;
	bool stencil, program;
	double clear;
};

static const struct {
	unsigned int format, bytes;
	double unit;
} formats[] = {
	[ZS_UNORM16] = { TSR_PIXEL_FORMAT_Z16_UNORM, 2, 65535 },
	[ZS_UNORM24] = { TSR_PIXEL_FORMAT_Z24X8_UNORM, 4, 16777215 },
	[ZS_FLOAT32] = { TSR_PIXEL_FORMAT_R32F, 4, 1 },
};

static struct scene any_scene(struct soup *s)
{
	struct scene scene = { .depth = (enum zs_depth)soup_between(s, ZS_UNORM16, ZS_FLOAT32),
			       .samples_log2 = (unsigned int)soup_below(s, 3),
			       .stencil = soup_below(s, 2), .program = soup_below(s, 3) };
	static const uint8_t functions[] = {
		TSR_COMPARE_FUNCTION_LESS, TSR_COMPARE_FUNCTION_LEQUAL,
		TSR_COMPARE_FUNCTION_GREATER, TSR_COMPARE_FUNCTION_ALWAYS,
	};

	scene.clear = (double)soup_below(s, 5) / 4;
	scene.draw = (struct tsr_draw_state){
		.depth_test = soup_below(s, 6), .depth_write = soup_below(s, 4),
		.depth_function = functions[soup_below(s, 4)],
		.depth_clamp = !soup_below(s, 3),
		.cull_back = !soup_below(s, 4), .front_clockwise = soup_below(s, 2),
		.stencil_test = scene.stencil,
		.front_function = (uint32_t)soup_below(s, 8),
		.front_fail = (uint32_t)soup_below(s, 8),
		.front_depth_fail = (uint32_t)soup_below(s, 8),
		.front_pass = (uint32_t)soup_below(s, 8),
		.back_function = (uint32_t)soup_below(s, 8),
		.back_fail = (uint32_t)soup_below(s, 8),
		.back_depth_fail = (uint32_t)soup_below(s, 8),
		.back_pass = TSR_STENCIL_OP_INCREMENT_WRAP,
		.front_reference = 2, .back_reference = 1,
		.front_read_mask = 3, .back_read_mask = 255,
		.front_write_mask = 255, .back_write_mask = 15,
	};
	return scene;
}

static void set_scene(struct tiles *t, const struct scene *scene, unsigned int tile_shift)
{
	struct binner *f = t->f;
	struct tsr_draw_state d = scene->draw;

	f->frame.samples_log2 = scene->samples_log2;
	f->frame.tile_shift = tile_shift;
	f->frame.has_stencil = scene->stencil;
	tiles_target(t, 0, TSR_PIXEL_FORMAT_R32UI, 4);
	tiles_target(t, TILES_DEPTH, formats[scene->depth].format, formats[scene->depth].bytes);
	tiles_target(t, TILES_STENCIL, TSR_PIXEL_FORMAT_S8, 1);
	t->target[0].clear_0 = 0xffff;
	t->target[TILES_DEPTH].clear_0 = binner_bits((float)scene->clear);
	t->target[TILES_STENCIL].clear_0 = 1;
	d.viewport_count = 1;
	d.sample_mask = 0xffff;
	d.line_width = d.point_size = binner_bits(1);
	d.blends = BLENDS;
	d.blend_count = 1;
	f->draw = d;
	f->shader = (struct tsr_shader_state){ .fragment = scene->program ? PROGRAM : 0 };
}

/* Depth in memory as a number. */
static double depth_at(struct tiles *t, const struct scene *scene, unsigned int x, unsigned int y,
		       unsigned int s)
{
	const void *p = tiles_texel(t, TILES_DEPTH, x, y, s);
	uint32_t bits = 0;
	float z;

	memcpy(&bits, p, formats[scene->depth].bytes);
	if (scene->depth == ZS_FLOAT32) {
		memcpy(&z, &bits, sizeof(z));
		return z;
	}
	return (bits & (uint32_t)formats[scene->depth].unit) / formats[scene->depth].unit;
}

/* ---- The reference --------------------------------------------------------------------------- */

struct sample {
	struct zs_sample zs;
	uint32_t id;
	bool unsure;			/* a comparison was too close */
};

static struct sample want[HEIGHT][WIDTH][SAMPLES_MAX];

static bool orders(unsigned int function)
{
	return function != TSR_COMPARE_FUNCTION_ALWAYS && function != TSR_COMPARE_FUNCTION_NEVER;
}

/* A piece, in the pixels of its tile. */
static void add_piece(const struct tiles *t, const struct scene *scene,
		      const struct binner_seen *seen)
{
	const struct tsr_screen_vertex *v = seen->prim.v;
	unsigned int side = 1u << t->f->frame.tile_shift, samples = 1u << scene->samples_log2;
	struct raster_point at[3];
	struct zs_corner plane[3];

	for (unsigned int i = 0; i < 3; i++) {
		at[i] = (struct raster_point){ v[i].x, v[i].y };
		plane[i] = (struct zs_corner){ v[i].x, v[i].y, v[i].z };
	}
	for (unsigned int n = 0; n < side * side * samples; n++) {
		unsigned int x = seen->tx * side + n / samples % side;
		unsigned int y = seen->ty * side + n / samples / side;
		struct raster_point p = raster_ref_sample(samples, n % samples, x, y);
		struct sample *s;
		double z;

		if (x >= WIDTH || y >= HEIGHT || !raster_ref_triangle(at, p))
			continue;
		s = &want[y][x][n % samples];
		z = zs_ref_stored(scene->depth, (double)zs_ref_plane(plane, p.x, p.y), 0, 1);
		if (scene->draw.depth_test && orders(scene->draw.depth_function) &&
		    zs_ref_ulps(scene->depth, z, s->zs.depth) < 2.5)
			s->unsure = true;
		if (zs_ref_test(&scene->draw, scene->depth, scene->stencil, seen->prim.front, z,
				&s->zs) && scene->program)
			s->id = seen->prim.primitive_id;
	}
}

static void reference(struct tiles *t, const struct scene *scene)
{
	for (unsigned int y = 0; y < HEIGHT; y++) {
		for (unsigned int x = 0; x < WIDTH; x++) {
			for (unsigned int s = 0; s < SAMPLES_MAX; s++)
				want[y][x][s] = (struct sample){
					{ zs_ref_stored(scene->depth, scene->clear, 0, 1), 1 },
					0xffff, false };
		}
	}
	for (uint32_t i = 0; i < t->f->seen_count; i++)
		add_piece(t, scene, &t->f->seen[i]);
}

static unsigned int compared, unsure, shown;

static void compare(struct tiles *t, const struct scene *scene, const char *what)
{
	unsigned int wrong = 0, samples = 1u << scene->samples_log2;

	for (unsigned int i = 0; i < WIDTH * HEIGHT * samples; i++) {
		unsigned int s = i % samples, x = i / samples % WIDTH, y = i / samples / WIDTH;
		const struct sample *w = &want[y][x][s];
		double z = depth_at(t, scene, x, y, s);
		uint32_t id;

		memcpy(&id, tiles_texel(t, 0, x, y, s), sizeof(id));
		compared++;
		unsure += w->unsure;
		if (w->unsure)
			continue;
		shown += id != 0xffff;
		if (id == w->id && zs_ref_ulps(scene->depth, z, w->zs.depth) < 1.01 &&
		    (!scene->stencil ||
		     *(uint8_t *)tiles_texel(t, TILES_STENCIL, x, y, s) == w->zs.stencil))
			continue;
		if (!wrong++)
			ktap_fail("%s, format %u, samples %u, function %u, program %u, stencil %u: "
				  "(%u, %u).%u is %u %.9g %u, not %u %.9g %u", what,
				  scene->depth, samples, scene->draw.depth_function,
				  scene->program, scene->stencil, x, y, s, id, z,
				  *(uint8_t *)tiles_texel(t, TILES_STENCIL, x, y, s), w->id,
				  w->zs.depth, w->zs.stencil);
	}
	if (wrong)
		ktap_note("%u samples are wrong", wrong);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

/* Everything in memory. */
static uint64_t hash(struct tiles *t, const struct scene *scene)
{
	uint64_t h = 0xcbf29ce484222325;
	unsigned int places[] = { 0, TILES_DEPTH, TILES_STENCIL };

	for (unsigned int i = 0; i < 2u + scene->stencil; i++) {
		const struct tsr_render_target *r = &t->target[places[i]];
		const uint8_t *p = tiles_texel(t, places[i], 0, 0, 0);

		for (unsigned int n = 0; n < r->sample_stride << scene->samples_log2; n++)
			h = (h ^ p[n]) * 0x100000001b3;
	}
	return h;
}

/* Draw the corners in another machine: the same bits, unless something is wrong. */
static uint64_t again(const struct scene *scene, const struct tsr_config *config,
		      unsigned int tile_shift, unsigned int when)
{
	struct tiles *t = tiles_new(WIDTH, HEIGHT, config);
	uint64_t h = 0;

	put_program(t, shows_id);
	t->f->position = position;
	set_scene(t, scene, tile_shift);
	t->f->shader.discards = when == 1;
	t->f->shader.early_tests = when == 2;
	t->f->shader.side_effects = when == 3;
	binner_again(t->f);
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3 * TRIANGLES);
	ktap_ok(tiles_run(t));
	h = hash(t, scene);
	tiles_free(t);
	return h;
}

static void any_corners(struct soup *s)
{
	for (unsigned int n = 0; n < TRIANGLES; n++) {
		float v[3][4];

		soup_clipped(s, (enum soup_plane)soup_below(s, SOUP_PLANES), v);
		memcpy(corner[3 * n], v, sizeof(v));
	}
}

static void pictures(void)
{
	unsigned int most = getenv("TSR_QUICK") ? 40 : 400;
	struct soup s = soup_new(51);

	for (unsigned int n = 0; n < most; n++) {
		struct tsr_config config = { .threads = n % 3 == 2 ? 2 : 0 };
		struct scene scene = any_scene(&s);
		struct tiles *t = tiles_new(WIDTH, HEIGHT, &config);

		any_corners(&s);
		put_program(t, shows_id);
		t->f->position = position;
		set_scene(t, &scene, 4 + n % 3);
		binner_again(t->f);
		binner_states(t->f);
		binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3 * TRIANGLES);
		if (!tiles_run(t) || !binner_read(t->f)) {
			ktap_fail("faults %u, %u", t->f->mem.fault.code, bench_fault(&t->queue));
		} else {
			reference(t, &scene);
			compare(t, &scene, "plain");
		}
		tiles_free(t);
	}
	ktap_note("%u samples, %u of them too close to compare", compared, unsure);
	ktap_ok(compared > most * 1000 && unsure < compared / 8 && shown > compared / 20);
}

static void same_bits(void)
{
	struct soup s = soup_new(52);

	for (unsigned int n = 0; n < 12; n++) {
		struct scene scene = any_scene(&s);
		struct tsr_config plain = { 0 }, all_off = { .gfx_debug = 255 };
		struct tsr_config sse2 = { .simd = "sse2" }, workers = { .threads = 3 };
		uint64_t want_hash;

		any_corners(&s);
		want_hash = again(&scene, &plain, 4, 0);
		for (unsigned int bit = 0; bit < 7; bit++) {
			struct tsr_config one = { .gfx_debug = 1u << bit };

			ktap_eq(again(&scene, &one, 4, 0), want_hash);
		}
		ktap_eq(again(&scene, &all_off, 6, 0), want_hash);
		ktap_eq(again(&scene, &sse2, 5, 0), want_hash);
		ktap_eq(again(&scene, &workers, 4, 0), want_hash);
		/* the program drops nothing: late, forced and other tests all mean the same */
		for (unsigned int when = 1; when < 4; when++)
			ktap_eq(again(&scene, &plain, 5, when), want_hash);
	}
}

/* ---- Points and lines ------------------------------------------------------------------------ */

/* Window coordinates in 1/256 pixel of a frame of 64 by 32: exact in clip space. */
static struct raster_point ends[2 * TRIANGLES];

static void in_window(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	record[0] = (float)ends[vertex].x / (32 * RASTER_ONE) - 1;
	record[1] = (float)ends[vertex].y / (16 * RASTER_ONE) - 1;
	record[2] = 0.5f;
	record[3] = 1;
}

struct strokes {
	unsigned int samples_log2;
	bool points, bresenham;
	double size;			/* of points, or width of lines */
};

/* All @count ends lie beyond one and the same side of the view volume: nothing is drawn. */
static bool beyond(const struct raster_point *end, unsigned int count)
{
	bool left = true, right = true, above = true, below = true;

	for (unsigned int i = 0; i < count; i++) {
		left &= end[i].x < 0;
		right &= end[i].x > 64 * RASTER_ONE;
		above &= end[i].y < 0;
		below &= end[i].y > 32 * RASTER_ONE;
	}
	return left || right || above || below;
}

static enum raster_verdict covers(const struct strokes *k, unsigned int n, unsigned int x,
				  unsigned int y, struct raster_point p)
{
	if (beyond(k->points ? &ends[n] : &ends[2 * n], k->points ? 1 : 2))
		return RASTER_OUT;
	if (k->points)
		return raster_ref_square(ends[n], (int64_t)(k->size * RASTER_ONE), p);
	if (k->bresenham)
		return raster_ref_diamond_exit(ends[2 * n], ends[2 * n + 1], x, y);
	return raster_ref_rectangle(ends[2 * n], ends[2 * n + 1], k->size, 1.5, p);
}

static unsigned int strokes_seen;

static void check_strokes(struct tiles *t, const struct strokes *k, unsigned int count)
{
	unsigned int wrong = 0, samples = 1u << k->samples_log2;

	for (unsigned int i = 0; i < 64 * 32 * samples; i++) {
		unsigned int s = i % samples, x = i / samples % 64, y = i / samples / 64;
		struct raster_point p = raster_ref_sample(samples, s, x, y);
		uint32_t last = 0xffff, id;
		bool either = false;

		for (unsigned int n = 0; n < count; n++) {
			enum raster_verdict v = covers(k, n, x, y, p);

			either |= v == RASTER_EITHER;
			last = v == RASTER_IN ? n : last;
		}
		memcpy(&id, tiles_texel(t, 0, x, y, s), sizeof(id));
		strokes_seen += last != 0xffff;
		if (!either && id != last && !wrong++)
			ktap_fail("%s, size %g, %u samples: (%u, %u).%u is %u, not %u",
				  k->points ? "points" : k->bresenham ? "Bresenham" : "lines",
				  k->size, samples, x, y, s, id, last);
	}
}

static void draw_strokes(struct soup *s, const struct strokes *k)
{
	struct scene scene = { .depth = ZS_FLOAT32, .samples_log2 = k->samples_log2,
			       .program = true };
	struct tiles *t = tiles_new(64, 32, NULL);
	unsigned int count = 1 + (unsigned int)soup_below(s, TRIANGLES);

	for (unsigned int i = 0; i < 2 * count; i++)
		ends[i] = (struct raster_point){ soup_between(s, -500, 65 * RASTER_ONE),
						 soup_between(s, -500, 33 * RASTER_ONE) };
	put_program(t, shows_id);
	t->f->position = in_window;
	set_scene(t, &scene, 4);
	t->f->draw.line_width = t->f->draw.point_size = binner_bits((float)k->size);
	t->f->draw.line_mode = k->bresenham ? TSR_LINE_MODE_BRESENHAM : TSR_LINE_MODE_RECTANGULAR;
	binner_again(t->f);
	binner_states(t->f);
	binner_arrays(t->f, k->points ? TSR_TOPOLOGY_POINTS : TSR_TOPOLOGY_LINES,
		      k->points ? count : 2 * count);
	if (tiles_run(t))
		check_strokes(t, k, count);
	else
		ktap_fail("faults %u, %u", t->f->mem.fault.code, bench_fault(&t->queue));
	tiles_free(t);
}

static void points_and_lines(void)
{
	struct soup s = soup_new(53);

	for (unsigned int n = 0; n < 60; n++) {
		struct strokes k = { .samples_log2 = (unsigned int)soup_below(&s, 3),
				     .points = n % 3 == 0, .bresenham = n % 3 == 1 };

		/* what is smaller than a pixel is one */
		k.size = (double)soup_between(&s, 16, n % 2 ? 40 : 400) / 16;
		if (k.bresenham) {
			k.size = 1;
			k.samples_log2 = 0;
		}
		draw_strokes(&s, &k);
	}
	ktap_ok(strokes_seen > 50000);
}

int main(void)
{
	ktap_start();
	ktap_run("[ZS1] [ZS2] [ZS7] [RAST1] [RAST4] [BIN1] pictures against the references",
		 pictures);
	ktap_run("[ZS3] [ZS4] [ZS5] [RAST5] the same bits whatever is off, whenever it tests",
		 same_bits);
	ktap_run("[PA7] [BIN1] points and lines: a pixel shows the last",
		 points_and_lines);
	return ktap_finish();
}
