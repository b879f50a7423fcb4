/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=240 */
/*
 * Uniform-color primitives: memory, queries and invocations do not depend on whether a program runs
 * for every fragment or for the first ones of a primitive or a draw, in all formats and blend
 * modes. Programs that only look uniform run for every fragment. Draws have programs of their own,
 * or push constants of LIST_PUSH.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "ktap.h"
#include "soup.h"
#include "tiles.h"

#define WIDTH 150
#define HEIGHT 90
#define TRIANGLES 24

/* Addresses after the lists and states of binner.h. */
#define PROGRAM (BINNER_FRAME + 0x4000)
#define CODE (BINNER_FRAME + 0x4100)
#define BLENDS (BINNER_FRAME + 0x5000)
#define TABLE (BINNER_FRAME + 0x5100)	/* varyings */
#define BUFFERS (BINNER_FRAME + 0x5200)
#define PUSH (BINNER_FRAME + 0x5300)
#define OWN(n) (BINNER_FRAME + 0x6000 + 128 * (n))	/* programs with own push constants */
#define WORDS(n) (BINNER_FRAME + 0x7000 + 16 * (n))	/* their push constants */
#define QUERIES BINNER_DATA
#define INDICES (BINNER_DATA + 0x8000)
#define VARYINGS (BINNER_DATA + 0x10000)	/* 16 bytes for each vertex */

#define FOUR(a, b, c, d) \
	"clause {\n" \
	"	*MOV.i32 r0:t0, " a "\n" \
	"	+NOP\n" \
	"	*MOV.i32 r1:t0, " b "\n" \
	"	+NOP\n" \
	"}\n" \
	"clause {\n" \
	"	*MOV.i32 r2:t0, " c "\n" \
	"	+NOP\n" \
	"	*MOV.i32 r3:t0, " d "\n" \
	"	+NOP\n" \
	"}\n"
#define LOAD(insn) \
	"clause slot=0 wait=0 {\n" \
	"	*NOP\n" \
	"	+" insn ", @r0\n" \
	"}\n"
#define FLOAT_OF(reg) \
	"clause {\n" \
	"	*NOP\n" \
	"	+U32_TO_F32 r4:t1, " reg "\n" \
	"	*FMA.f32 r1:t0, t1, 0x3ca00000, #0.neg\n" \
	"	+NOP\n" \
	"}\n"

/* Only sample 0 is tested for alpha: what coverage becomes is not what it was. */
#define THIN \
	"clause {\n" \
	"	*RSHIFT_AND.i32 r60:t0, r60, 0x1, #0.b0\n" \
	"	+NOP\n" \
	"}\n"

#define LANES 1u			/* shows which lane it is, which is nobody's business */
#define PRELOADS 2u			/* shows what is preloaded */
#define EARLY 4u			/* looks at what forced early tests have left */

static const struct program {
	const char *text;
	bool flat;			/* fewer bundles are run */
	unsigned int special;
	bool varies;			/* loads the varying: it is, if vertices are equal */
} programs[] = {
	{ FOUR("u0.w0", "u0.w1", "u1.w0", "0x3f000000") TILES_FINISH, true, 0, false },
	{ FOUR("0x3f000000", "#0", "#0", "u1.w0") FLOAT_OF("r57") TILES_FINISH, true, 0, false },
	{ FOUR("0x3f000000", "#0", "#0", "u1.w0") FLOAT_OF("r58") TILES_FINISH, true, 0, false },
	{ LOAD("LD_VAR_IMM.f32.store.center.v4 r61, index:0") TILES_FINISH, true, 0, true },
	{ LOAD("LD_VAR_IMM.f32.store.centroid.v4 r61, index:0") FLOAT_OF("r57") TILES_FINISH, true,
	  0, true },
	{ LOAD("LD_VAR_FLAT_IMM.v4.f32 index:0") TILES_FINISH, true, 0, false },
	{ LOAD("LD_VAR_IMM.f32.store.explicit.v4 u0.w0, index:0") TILES_FINISH, false, 0, true },
	{ FOUR("u0.w0", "#0", "u1.w0", "0x3f000000") FLOAT_OF("r59") TILES_FINISH, false,
	  0, false },
	{ FOUR("u0.w0", "#0", "u1.w0", "0x3f000000") FLOAT_OF("r60") TILES_FINISH, false,
	  EARLY, false },
	{ FOUR("u0.w0", "u0.w1", "u1.w0", "0x3f000000") FLOAT_OF("lane_id.w0") TILES_FINISH, false,
	  LANES, false },
	{ FOUR("u0.w0", "u0.w1", "u1.w0", "0x3f000000") THIN TILES_FINISH, false, EARLY, false },
	{ TILES_FINISH, true, PRELOADS, true },
	{ LOAD("LD_VAR_SPECIAL.f32.frag_w.clobber.center zero.w0") TILES_FINISH, false, 0, false },
};
#define SMOOTH 3			/* among programs[] */
#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static float corner[3 * TRIANGLES][4], varying[3 * TRIANGLES][4];

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	memcpy(record, corner[vertex], sizeof(corner[vertex]));
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

static const struct format {
	unsigned int number, bytes;
	bool logic;
} formats[] = {
	{ TSR_PIXEL_FORMAT_RGBA8_UNORM, 4, true }, { TSR_PIXEL_FORMAT_RGBA8_UNORM, 4, true },
	{ TSR_PIXEL_FORMAT_RGB10_A2_UNORM, 4, true }, { TSR_PIXEL_FORMAT_RGB565, 2, true },
	{ TSR_PIXEL_FORMAT_RGBA16F, 8, false }, { TSR_PIXEL_FORMAT_RGBA32F, 16, false },
	{ TSR_PIXEL_FORMAT_R8_UNORM, 1, true }, { TSR_PIXEL_FORMAT_RGBA8_SNORM, 4, true },
};

#define RGBA32F 5			/* among formats[] */

#define DRAWS 8				/* of some triangles each */

/* The push constants of a scene's draws. */
enum pushes {
	ALIKE,				/* one draw, words of its program */
	IN_PROGRAMS,			/* each draw has its program */
	IN_LIST,			/* LIST_PUSH, before some of them */
};

struct scene {
	const struct program *program;
	const struct format *format;
	struct tsr_blend blend;
	struct tsr_draw_state draw;
	unsigned int samples_log2;
	bool srgb, helpers, equal, preload;
	bool loads;			/* on what is in memory; else what is cleared */
	bool asks;			/* how many samples pass */
	enum pushes pushes;
	bool same[DRAWS];		/* not ALIKE: the words of the program come back */
};

/* Nothing remains of what was loaded, where whole blocks are drawn. */
static void overwrite(struct scene *scene)
{
	scene->loads = true;
	scene->blend.enable = scene->draw.dither = scene->draw.logic = false;
	scene->blend.mask = 15;
}

static struct scene any_scene(struct soup *s)
{
	const unsigned int factors = TSR_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA + 1;
	struct scene scene = {
		.program = &programs[soup_below(s, PROGRAMS)],
		.format = &formats[soup_below(s, sizeof(formats) / sizeof(formats[0]))],
		.samples_log2 = (unsigned int)soup_below(s, 3), .helpers = soup_below(s, 2),
		.equal = soup_below(s, 4), .preload = !soup_below(s, 4), .loads = !soup_below(s, 3),
		.asks = true,
	};

	scene.preload |= scene.program->special == PRELOADS;
	if (!soup_below(s, 3))
		scene.format = &formats[RGBA32F];
	scene.srgb = scene.format->number == TSR_PIXEL_FORMAT_RGBA8_UNORM && !soup_below(s, 3);
	scene.blend = (struct tsr_blend){
		.enable = soup_below(s, 3), .mask = soup_below(s, 3) ? 15 : soup_below(s, 16),
		.src_color = soup_below(s, factors), .dst_color = soup_below(s, factors),
		.src_alpha = soup_below(s, factors), .dst_alpha = soup_below(s, factors),
		.color_op = soup_below(s, 5), .alpha_op = soup_below(s, 5),
		.mode = TSR_BLEND_MODE_FIXED, .components = 3,
		.registers = TSR_REGISTER_TYPE_F32,
	};
	if (!soup_below(s, 3)) {
		scene.blend.src_color = scene.blend.src_alpha = TSR_BLEND_FACTOR_SRC_ALPHA;
		scene.blend.dst_color = scene.blend.dst_alpha =
			TSR_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
		scene.blend.color_op = scene.blend.alpha_op = TSR_BLEND_OP_ADD;
	}
	scene.draw = (struct tsr_draw_state){
		.depth_test = soup_below(s, 2), .depth_write = soup_below(s, 2),
		.depth_function = TSR_COMPARE_FUNCTION_LESS, .front_clockwise = true,
		.dither = !soup_below(s, 4), .logic = scene.format->logic && !soup_below(s, 6),
		.logic_op = soup_below(s, 16), .alpha_to_one = !soup_below(s, 4),
		.blend_red = binner_bits(0.375f), .blend_alpha = binner_bits(0.625f),
	};
	if (scene.loads)
		overwrite(&scene);
	return scene;
}

static void any_vertices(struct soup *s, const struct scene *scene)
{
	for (unsigned int n = 0; n < 3 * TRIANGLES; n++) {
		bool first = n % 3 == 0, same = scene->equal && !first;

		if (first)
			soup_clipped(s, (enum soup_plane)soup_below(s, SOUP_PLANES), corner + n);
		/* the last ones are small, all of one tile */
		for (unsigned int i = 0; n / 3 > TRIANGLES / 2 && i < 2; i++)
			corner[n][i] = corner[n][3] * (float)(soup_fraction(s) * 0.3);
		for (unsigned int i = 0; i < 4; i++)
			varying[n][i] = same ? varying[n - 1][i] :
					soup_below(s, 3) ? (float)soup_below(s, 256) / 255 : -0.0f;
	}
}

static void put_program(uint8_t *at, uint64_t push)
{
	tsr_pack_shader_program((uint64_t *)at, &(struct tsr_shader_program){
		.code = CODE, .push = push, .push_words = 4, .varyings = TABLE, .varying_count = 1,
		.attribute_buffers = BUFFERS, .attribute_buffer_count = 1 });
}

static void put_tables(struct tiles *t, const struct scene *scene)
{
	static const float push[4] = { 0.25f, 0.75f, 0.4f, 0 };
	uint8_t *list = t->f->list - BINNER_LIST;
	struct tsr_blend blend = scene->blend;

	blend.format = scene->format->number << 12;
	tsr_pack_blend((uint64_t *)(list + BLENDS), &blend);
	memcpy(list + PUSH, push, sizeof(push));
	tsr_pack_attribute((uint64_t *)(list + TABLE),
			   &(struct tsr_attribute){ .format = TSR_PIXEL_FORMAT_RGBA32F,
						    .order = TSR_COMPONENT_ORDER_RGBA });
	tsr_pack_attribute_buffer((uint64_t *)(list + BUFFERS),
				  &(struct tsr_attribute_buffer){
					  .type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR,
					  .pointer = VARYINGS, .stride = 16,
					  .size = sizeof(varying) });
	memcpy(t->f->data + (VARYINGS - BINNER_DATA), varying, sizeof(varying));
	for (unsigned int n = 0; n < 3 * TRIANGLES; n++)
		t->f->data[INDICES - BINNER_DATA + n] = n;
	put_program(list + PROGRAM, PUSH);
}

/* Eight draws with different push constants, of one program or of their own. */
static void put_draws(struct tiles *t, const struct scene *scene)
{
	uint8_t *list = t->f->list - BINNER_LIST;
	uint64_t word[TSR_LIST_PUSH_QWORDS];

	for (unsigned int n = 0; n < DRAWS; n++) {
		const float push[4] = { n / 8.0f, 0.75f, 1 - n / 16.0f, 0 };
		const uint64_t words = scene->same[n] ? PUSH : WORDS(n);

		memcpy(list + WORDS(n), push, sizeof(push));
		put_program(list + OWN(n), words);
		tsr_pack_list_push(word, &(struct tsr_list_push){
			.fragment = scene->same[n] ? 0 : words, .vertex = 8 * n });
		if (scene->pushes == IN_LIST)
			binner_packet(t->f, word, TSR_LIST_PUSH_QWORDS);
		t->f->shader.fragment = OWN(n);
		if (scene->pushes == IN_PROGRAMS)
			binner_states(t->f);
		binner_draw(t->f, &(struct tsr_list_draw){
			.topology = TSR_TOPOLOGY_TRIANGLES, .index = TSR_INDEX_TYPE_U8,
			.count = 3 * TRIANGLES / DRAWS, .first = n * (3 * TRIANGLES / DRAWS),
			.instances = 1, .indices = INDICES, .index_bytes = 3 * TRIANGLES });
	}
}

static void put_queries(struct tiles *t, bool samples)
{
	uint64_t word[TSR_LIST_QUERY_QWORDS];

	memset(t->f->data, 0, 256);
	for (unsigned int i = !samples; i < 2; i++) {
		tsr_pack_list_query(word, &(struct tsr_list_query){
			.kind = i ? TSR_QUERY_STATISTICS : TSR_QUERY_SAMPLES,
			.addr = QUERIES + 64 * i });
		binner_packet(t->f, word, TSR_LIST_QUERY_QWORDS);
	}
}

static void set_scene(struct tiles *t, const struct scene *scene, unsigned int shift)
{
	tiles_program(t, CODE, scene->program->text);
	put_tables(t, scene);
	t->f->position = position;
	t->f->frame.tile_shift = shift;
	t->f->frame.samples_log2 = scene->samples_log2;
	tiles_target(t, 0, scene->format->number, scene->format->bytes);
	tiles_target(t, TILES_DEPTH, TSR_PIXEL_FORMAT_R32F, 4);
	t->target[0].srgb = scene->srgb;
	t->target[0].clear_0 = binner_bits(0.3f);
	t->target[TILES_DEPTH].clear_0 = binner_bits(1);
	t->f->draw = scene->draw;
	t->f->draw.viewport_count = 1;
	t->f->draw.viewports = BINNER_STATES;
	t->f->draw.sample_mask = scene->loads ? 0xffff : 0xfffd;
	t->f->draw.blends = BLENDS;
	t->f->draw.blend_count = 1;
	t->f->shader = (struct tsr_shader_state){
		.fragment = PROGRAM, .helpers = scene->helpers,
		.early_tests = scene->program->special == EARLY,
		.preload_0 = scene->preload ? TSR_PRELOAD_LD_VAR : TSR_PRELOAD_NONE,
		.preload_0_components = 3,
	};
}

/* ---- The same -------------------------------------------------------------------------------- */

struct result {
	uint64_t pixels, passed, invocations, quads, bundles, loaded;
};

static uint64_t hash(const uint8_t *p, size_t size)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		h = (h ^ p[i]) * 0x100000001b3;
	return h;
}

/* Instead of clearing them, have something in the targets: colors, and depths of about 0.75. */
static void load(struct tiles *t)
{
	const unsigned int size = 1u << 20;	/* more than any scene has */

	for (unsigned int i = 0; i < size; i++)
		t->memory[i] = i * 0x9e3779b1u >> 24;
	memset(t->memory + TILES_TARGET_SIZE, 0x3f, size);
	t->clear = 0;
	t->load = TILES_ALL;
}

/* @shift, or what fits into the tile buffer. */
static unsigned int tile_shift(const struct scene *scene, unsigned int shift)
{
	while ((scene->format->bytes + 8u) << (2 * shift + scene->samples_log2) >
	       TSR_TILE_BUFFER_BYTES)
		shift--;
	return shift;
}

static struct result draw(const struct scene *scene, const struct tsr_config *config,
			  unsigned int shift)
{
	size_t samples = (size_t)WIDTH * HEIGHT << scene->samples_log2;
	struct tiles *t = tiles_new(WIDTH, HEIGHT, config);
	struct result r;

	set_scene(t, scene, tile_shift(scene, shift));
	if (scene->loads)
		load(t);
	binner_again(t->f);
	binner_states(t->f);
	put_queries(t, scene->asks);
	if (scene->pushes == ALIKE)
		binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3 * TRIANGLES);
	else
		put_draws(t, scene);
	if (!tiles_run(t))
		ktap_fail("faults %u, %u", t->f->mem.fault.code, bench_fault(&t->queue));
	/* rows are padded */
	r.pixels = hash(t->memory, samples * scene->format->bytes + HEIGHT * 16) +
		   3 * hash(t->memory + TILES_TARGET_SIZE, samples * 4);
	memcpy(&r.passed, t->f->data, 8);
	memcpy(&r.invocations,
	       t->f->data + 64 + 8 * TSR_PIPELINE_STATISTICS_FRAGMENT_INVOCATIONS__QWORD, 8);
	r.quads = tiles_counter(t, TSR_QUEUE_COUNTER_QUADS);
	r.bundles = tiles_counter(t, TSR_QUEUE_COUNTER_FRAGMENT_BUNDLES);
	r.loaded = tiles_counter(t, TSR_QUEUE_COUNTER_TILE_LOAD_BYTES);
	tiles_free(t);
	return r;
}

static void check(const struct scene *scene, const struct result *got, const struct result *want,
		  const char *how)
{
	ktap_eq(got->passed, want->passed);
	if (got->pixels != want->pixels && scene->program->special != LANES)
		ktap_fail("%s: program %u format %#x samples %u blend %u: another picture", how,
			  (unsigned int)(scene->program - programs), scene->format->number,
			  1u << scene->samples_log2, scene->blend.enable);
}

static uint64_t fewer[PROGRAMS], most[PROGRAMS];

static uint64_t blocks;			/* scenes that had some shaded as they are */
static uint64_t spared;			/* draws that did not load what they replaced */

static void compare(const struct scene *scene, struct soup *s)
{
	static const char *const names[] = { "sse2", "threads", "late", "debug 7", "all" };
	unsigned int which = (unsigned int)(scene->program - programs);
	unsigned int other = (unsigned int)soup_below(s, 5);
	struct tsr_config off = { .gfx_debug = TSR_GFX_NO_FLAT, .cores = 1 };
	struct tsr_config on = { .gfx_debug = TSR_GFX_NO_BLOCKS, .cores = 1 };
	struct tsr_config cores = { .gfx_debug = TSR_GFX_NO_FLAT | TSR_GFX_NO_BLOCKS };
	struct tsr_config others[] = { { .simd = "sse2" }, { .threads = 2 },
				       { .late_messages = true }, { .gfx_debug = 7 }, { 0 } };
	unsigned int shift = 4 + (unsigned int)soup_below(s, 3);
	struct result want = draw(scene, &cores, shift), got = draw(scene, &off, shift);

	check(scene, &got, &want, "blocks");
	ktap_eq(got.invocations, want.invocations);
	ktap_eq(got.quads, want.quads);
	blocks += want.bundles != got.bundles;
	ktap_ok(got.loaded <= want.loaded);
	spared += got.loaded < want.loaded;
	got = draw(scene, &on, shift);
	check(scene, &got, &want, "on");
	ktap_eq(got.invocations, want.invocations);
	ktap_eq(got.quads, want.quads);
	if (scene->equal || !(scene->program->varies || scene->preload)) {
		fewer[which] += got.bundles;
		most[which] += want.bundles;
	}
	got = draw(scene, &others[other], 4 + (unsigned int)soup_below(s, 3));
	check(scene, &got, &want, names[other]);
}

static void same_pictures(void)
{
	unsigned int count = getenv("TSR_QUICK") ? 120 : 1000;
	struct soup s = soup_new(71);

	for (unsigned int n = 0; n < count; n++) {
		struct scene scene = any_scene(&s);

		scene.asks = n % 2;
		any_vertices(&s, &scene);
		compare(&scene, &s);
	}
	ktap_note("%llu of %u scenes with blocks shaded as they are", (unsigned long long)blocks,
		  count);
	ktap_note("%llu with less loaded", (unsigned long long)spared);
	ktap_ok(blocks > count / 4);
	ktap_ok(spared > count / 40);
}

/* Draws with different push constants. */
static void pushes(void)
{
	const struct tsr_config all = { 0 }, ways[] = {
		{ .simd = "sse2" }, { .threads = 2 }, { .gfx_debug = TSR_GFX_NO_FLAT },
		{ .gfx_debug = TSR_GFX_NO_BLOCKS }, { 0 },
	};
	unsigned int count = getenv("TSR_QUICK") ? 60 : 400;
	struct soup s = soup_new(73);

	for (unsigned int n = 0; n < count; n++) {
		struct scene scene = any_scene(&s);
		struct result want, got;

		any_vertices(&s, &scene);
		for (unsigned int i = 0; i < DRAWS; i++)
			scene.same[i] = !soup_below(&s, 4);
		scene.pushes = IN_PROGRAMS;
		want = draw(&scene, n % 2 ? &all : &ways[2], 4 + n % 3);
		scene.pushes = IN_LIST;
		got = draw(&scene, &ways[soup_below(&s, 5)], 4 + n % 3);
		check(&scene, &got, &want, "pushes");
		ktap_eq(got.invocations, want.invocations);
	}
}

/* Primitives that are asked whether they are of one color, and are not, load as little. */
static void load_no_more(void)
{
	struct tsr_config off = { .gfx_debug = TSR_GFX_NO_FLAT, .cores = 1 }, on = { .cores = 1 };
	unsigned int count = getenv("TSR_QUICK") ? 20 : 100;
	uint64_t loaded[2] = { 0 };
	struct soup s = soup_new(72);

	for (unsigned int n = 0; n < count; n++) {
		struct scene scene = any_scene(&s);
		struct result r[2];

		overwrite(&scene);
		scene.program = &programs[SMOOTH];
		scene.samples_log2 = 0;
		scene.equal = false;
		any_vertices(&s, &scene);
		r[0] = draw(&scene, &off, 5);
		r[1] = draw(&scene, &on, 5);
		check(&scene, &r[1], &r[0], "asked");
		for (unsigned int i = 0; i < 2; i++)
			loaded[i] += r[i].loaded;
	}
	ktap_note("%llu bytes loaded, %llu without asking", (unsigned long long)loaded[1],
		  (unsigned long long)loaded[0]);
	/* the first ones of a draw run as bundles, to be looked at */
	ktap_ok(loaded[1] <= loaded[0] * 33 / 32);
	ktap_ok(loaded[0]);
}

static void fewer_bundles(void)
{
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		ktap_note("program %u: %llu bundles, of %llu", i, (unsigned long long)fewer[i],
			  (unsigned long long)most[i]);
		if (programs[i].flat)
			ktap_ok(fewer[i] * 20 < most[i] * 19);
		else
			/* pieces that are run early are not full */
			ktap_ok(fewer[i] >= most[i]);
		ktap_ok(most[i]);
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[PIX1] [OM1] [RAST5] pictures, queries and invocations are the same",
		 same_pictures);
	ktap_run("[CP4] draws that differ in push words share their programs", pushes);
	ktap_run("[PIX1] programs of one colour run less, others do not", fewer_bundles);
	ktap_run("[PIX1] what is replaced is not loaded, also by those that could be of one colour",
		 load_no_more);
	return ktap_finish();
}
