// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * Every path from vertices to a picture, or to memory: a square, drawn as it is, through geometry
 * shaders, hull and domain shaders, and all of them; and the same streamed. Pictures have to be
 * that of the draw without stages, bytes those of the vertices, counts those of the primitives.
 */
#include "gfxdraw.h"
#include "pathscene.h"
#include "tsr_regs.h"

#define SIDE 64u
#define STREAMED 8192u

static struct gfxt t;
static struct tsr_image *image;
static struct tsr_shader *vertex, *hull, *domain, *geometry;
static struct tsr_alloc memory;		/* counter, queries, then what is streamed */
static const float black[4];

#define MESSAGE(text) "clause wait=0 {\n*NOP\n+" text "\n}\n"
#define END "clause end wait=0 {\n*NOP\n+NOP\n}\n"

static const char vertex_text[] =
	MESSAGE("ALD.v4 r61, r62, 0x80, @r0") MESSAGE("ALD.v4 r61, r62, 0x90, @r4")
	MESSAGE("AST.v4 r61, r62, 0x870, @r0") MESSAGE("AST.v4 r61, r62, 0x880, @r4") END;

/* Vertex n of the patch becomes control point n; u0.w0 is every factor. */
static const char hull_text[] =
	"clause {\n*LSHIFT_OR.i32 r14, r55, #0, 0xa\n+NOP\n*MOV.i32 r15, 0x50000000\n+NOP\n}\n"
	"clause {\n*NOP\n+IADD.u32 r14, r14, 0x70\n}\n" MESSAGE("LOAD.i128 r14, r15, @r0")
	"clause {\n*NOP\n+IADD.u32 r14, r14, 0x10\n}\n" MESSAGE("LOAD.i128 r14, r15, @r4")
	MESSAGE("AST.v4 r61, r62, 0x870, @r0") MESSAGE("AST.v4 r61, r62, 0x880, @r4")
	"clause {\n*MOV.i32 r8, u0.w0\n+NOP\n*MOV.i32 r9, u0.w0\n+NOP\n"
	"*MOV.i32 r10, u0.w0\n+NOP\n*MOV.i32 r11, u0.w0\n+NOP\n}\n"
	MESSAGE("AST.v4 r61, r62, 0x1800, @r8") MESSAGE("AST.v2 r61, r62, 0x1810, @r8") END;

/* The square by u and v; colors likewise, blue is that of control point 0. */
static const char domain_text[] =
	"clause {\n*MOV.i32 r14, 0x88\n+NOP\n*MOV.i32 r15, 0x50000000\n+NOP\n}\n"
	MESSAGE("LOAD.i32 r14, r15, @r6")
	"clause {\n*FMA.f32 r0, r60, 0x3fc00000, 0xbf400000\n+NOP\n"
	"*FMA.f32 r1, r61, 0x3fc00000, 0xbf400000\n+NOP\n}\n"
	"clause {\n*MOV.i32 r2, 0x3f000000\n+NOP\n*MOV.i32 r3, 0x3f800000\n+NOP\n"
	"*MOV.i32 r4, r60\n+NOP\n*MOV.i32 r5, r61\n+NOP\n*MOV.i32 r7, 0x3f800000\n+NOP\n}\n"
	MESSAGE("AST.v4 r61, r62, 0x870, @r0") MESSAGE("AST.v4 r61, r62, 0x880, @r4") END;

#define PASS_ON(shift) \
	"clause {\n*RSHIFT_AND.i32 r53, r52, 0xff, " shift "\n+NOP\n}\n" \
	MESSAGE("ALD.v4 r61, r53, 0x4070, @r0") MESSAGE("ALD.v4 r61, r53, 0x4080, @r4") \
	MESSAGE("AST.v4 r61, r62, 0x870, @r0") MESSAGE("AST.v4 r61, r62, 0x880, @r4") \
	MESSAGE("EMIT")
/* A triangle as it came. */
static const char geometry_text[] =
	"clause {\n*MOV.i32 r52, r0\n+NOP\n}\n"
	PASS_ON("#0") PASS_ON("0x8") PASS_ON("0x10") END;

/* ---- The square ------------------------------------------------------------------------------ */

static const struct gfxt_vertex corner[4] = {
	{ { -0.75f, -0.75f, 0.5f, 1 }, { 0, 0, 0.25f, 1 } },
	{ { 0.75f, -0.75f, 0.5f, 1 }, { 1, 0, 0.25f, 1 } },
	{ { 0.75f, 0.75f, 0.5f, 1 }, { 1, 1, 0.25f, 1 } },
	{ { -0.75f, 0.75f, 0.5f, 1 }, { 0, 1, 0.25f, 1 } },
};
static const uint8_t triangles[6] = { 0, 1, 3, 1, 2, 3 };
static struct gfxt_vertex list[6];

struct path {
	bool stages, patches, geometry, streams, picture;
};

static const struct path *wanted;
static struct tsr_gfx_stages stages;
static const struct tsr_gfx_streamed declaration[] = {
	{ .word = 0x70 / 4, .components = 4 },
	{ .word = 0x80 / 4, .components = 4, .offset = 16 },
};

static void words(uint64_t map[4])
{
	map[0] = 0xffull << 0x70 / 4;
}

static void describe(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	(void)blend;
	if (!wanted->stages)
		return;
	info->vertex = vertex;
	info->varying = NULL;
	info->stages = &stages;
	info->raster = wanted->picture ? 0 : TSR_GFX_RASTER_NONE;
	stages = (struct tsr_gfx_stages){ 0 };
	stages.vertex.reads[0] = 0xffull << 0x80 / 4;
	words(stages.vertex.writes);
	if (wanted->streams) {
		stages.declaration = declaration;
		stages.declared = 2;
	}
	if (wanted->patches) {
		info->topology = TSR_TOPOLOGY_PATCHES;
		stages.patch_points = stages.control_points = 4;
		stages.shape = TSR_PATCH_SHAPE_QUAD;
		stages.primitives = TSR_PATCH_PRIMITIVES_TRIANGLES;
		stages.hull.shader = hull;
		stages.domain.shader = domain;
		words(stages.hull.reads);
		words(stages.hull.writes);
		words(stages.domain.reads);
		words(stages.domain.writes);
	}
	if (wanted->geometry) {
		stages.geometry.shader = geometry;
		words(stages.geometry.reads);
		words(stages.geometry.writes);
		stages.input = TSR_GEOMETRY_INPUT_TRIANGLES;
		stages.output = TSR_GEOMETRY_OUTPUT_TRIANGLE_STRIP;
		stages.max_vertices = 3;
	}
}

/* Draw by @path, patches divided by @factor. */
static void draw(const struct path *path, float factor)
{
	const struct tsr_gfx_stream_target target = {
		.va = memory.va + 1024, .size = STREAMED, .counter = memory.va, .stride = 32,
	};
	struct tsr_gfx_pipeline *pipeline;
	struct tsr_gfx_pass *pass;

	wanted = path;
	memset(memory.cpu, 0, memory.size);
	pipeline = gfxt_pipeline(&t, describe);
	if (!pipeline) {
		ktap_note("%s", tsr_error_message());
		return;
	}
	pass = gfxt_one(&t, image, black);
	ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_VERTEX, 0, 1, &factor), 0);
	ktap_eq(tsr_gfx_query(pass, TSR_QUERY_STATISTICS, memory.va + 128), 0);
	ktap_eq(tsr_gfx_stream_query(pass, 0, memory.va + 64), 0);
	ktap_eq(tsr_gfx_set_stream_targets(pass, &target, path->streams), 0);
	if (path->patches)
		gfxt_plain(&t, pass, pipeline, corner, 4);
	else
		gfxt_plain(&t, pass, pipeline, list, 6);
	gfxt_drawn(pass);
	tsr_gfx_pipeline_unref(pipeline);
}

static uint64_t counted(unsigned int byte)
{
	uint64_t word;

	memcpy(&word, (const char *)memory.cpu + byte, sizeof(word));
	return word;
}

static uint64_t statistic(unsigned int qword)
{
	return counted(128 + 8 * qword);
}

/* Triangles that a path makes of the square by @factor. */
static unsigned int triangles_of(const struct path *path, unsigned int factor)
{
	return path->patches ? 2 * factor * factor : 2;
}

static float want[SIDE * SIDE][4], got[SIDE * SIDE][4];

static void check_picture(void)
{
	unsigned int wrong = 0, drawn = 0;

	gfxt_read(image, 0, 0, got, sizeof(got[0]) * SIDE);
	for (unsigned int i = 0; i < SIDE * SIDE; i++) {
		bool same = true;

		for (unsigned int k = 0; k < 4; k++)
			/* inner vertices of patches lie on 1/256 of a pixel */
			same &= fabsf(got[i][k] - want[i][k]) < 1e-4f;
		wrong += !same;
		drawn += want[i][3] == 1;
	}
	ktap_eq(wrong, 0);
	ktap_eq(drawn, SIDE * SIDE * 9 / 16);
}

static void check(const struct path *path, unsigned int factor)
{
	const unsigned int n = triangles_of(path, factor);

	draw(path, (float)factor);
	if (path->picture)
		check_picture();
	ktap_eq(counted(64), n);
	ktap_eq(counted(72), path->streams ? n : 0);
	ktap_eq(counted(0), path->streams ? 96 * n : 0);
	if (path->streams && factor == 1)
		ktap_mem_eq((const char *)memory.cpu + 1024, list, sizeof(list));
	ktap_eq(statistic(TSR_PIPELINE_STATISTICS_VERTEX_INVOCATIONS__QWORD),
		path->patches ? 4 : 6);
	ktap_eq(statistic(TSR_PIPELINE_STATISTICS_VARYING_INVOCATIONS__QWORD), 0);
	ktap_eq(statistic(TSR_PIPELINE_STATISTICS_HULL_PATCHES__QWORD), path->patches);
	ktap_eq(statistic(TSR_PIPELINE_STATISTICS_DOMAIN_INVOCATIONS__QWORD),
		path->patches ? (factor + 1) * (factor + 1) : 0);
	ktap_eq(statistic(TSR_PIPELINE_STATISTICS_GEOMETRY_INVOCATIONS__QWORD),
		path->geometry ? n : 0);
	ktap_eq(statistic(TSR_PIPELINE_STATISTICS_GEOMETRY_PRIMITIVES__QWORD),
		path->geometry ? n : 0);
	ktap_eq(statistic(TSR_PIPELINE_STATISTICS_CLIPPING_INVOCATIONS__QWORD),
		path->picture ? n : 0);
	ktap_eq(statistic(TSR_PIPELINE_STATISTICS_FRAGMENT_INVOCATIONS__QWORD),
		path->picture ? SIDE * SIDE * 9 / 16 : 0);
}

static void test_paths(void)
{
	for (unsigned int i = 0; i < 12; i++) {
		const struct path path = {
			.stages = true, .geometry = i & 1, .patches = i >> 1 & 1,
			.picture = i < 8, .streams = i >= 4,
		};

		check(&path, 1);
		if (path.patches)
			check(&path, 5);
	}
}

/* Captured vertices are drawn in the same pass. The CPU does not know their number. */
static void test_draw_auto(void)
{
	static const struct path none = { .picture = true };
	static const struct path streams = { .stages = true, .streams = true };
	const struct tsr_gfx_stream_target target = {
		.va = memory.va + 1024, .size = STREAMED, .counter = memory.va, .stride = 32,
	};
	const struct tsr_gfx_draw all = { .count = 6 };
	struct tsr_gfx_pipeline *plain, *stream;
	struct tsr_gfx_pass *pass;

	memset(memory.cpu, 0, memory.size);
	wanted = &none;
	plain = gfxt_pipeline(&t, describe);
	wanted = &streams;
	stream = gfxt_pipeline(&t, describe);
	pass = gfxt_one(&t, image, black);
	ktap_eq(tsr_gfx_set_stream_targets(pass, &target, 1), 0);
	ktap_eq(tsr_gfx_set_pipeline(pass, stream), 0);
	gfxt_vertices(&t, pass, list, 6);
	ktap_eq(tsr_gfx_draw(pass, &all), 0);
	ktap_eq(tsr_gfx_set_stream_targets(pass, NULL, 0), 0);
	ktap_eq(tsr_gfx_set_pipeline(pass, plain), 0);
	ktap_eq(tsr_gfx_set_vertices(pass, 0, target.va, target.size), 0);
	ktap_eq(tsr_gfx_draw_auto(pass, target.counter, 0, 32), 0);
	gfxt_drawn(pass);
	check_picture();
	ktap_eq(counted(0), 192);
	tsr_gfx_pipeline_unref(plain);
	tsr_gfx_pipeline_unref(stream);
}

#define MANY 6000u		/* triangles: enough for the next pass to come too early */

/* The next pass draws the vertices that a pass captures, without a wait between them. */
static void test_next_pass(void)
{
	static const struct path none = { .picture = true };
	static const struct path streams = { .stages = true, .streams = true };
	struct gfxt_vertex *all = calloc(3 * MANY, sizeof(*all));
	const uint64_t size = 3 * MANY * sizeof(*all);
	struct tsr_gfx_stream_target target = { .size = size, .stride = sizeof(*all) };
	const struct tsr_gfx_draw draw_all = { .count = 3 * MANY };
	struct tsr_gfx_pipeline *plain, *stream;
	struct tsr_gfx_pass *pass[2];
	struct tsr_alloc to = { 0 };
	uint64_t va, counted_in;

	for (unsigned int i = 0; i < 3 * MANY; i++)
		all[i] = list[i % 6];
	va = gfxt_data(&t, all, size);
	ktap_eq(tsr_pool_alloc(t.data, 512 + size, 64, &to), 0);
	memset(to.cpu, 0, to.size);
	target.va = to.va + 512;
	target.counter = to.va;
	wanted = &none;
	plain = gfxt_pipeline(&t, describe);
	wanted = &streams;
	stream = gfxt_pipeline(&t, describe);
	for (unsigned int i = 0; i < 2; i++)
		pass[i] = gfxt_one(&t, image, black);
	ktap_eq(tsr_gfx_set_stream_targets(pass[0], &target, 1), 0);
	ktap_eq(tsr_gfx_set_pipeline(pass[0], stream), 0);
	ktap_eq(tsr_gfx_set_vertices(pass[0], 0, va, size), 0);
	ktap_eq(tsr_gfx_draw(pass[0], &draw_all), 0);
	ktap_eq(tsr_gfx_query(pass[1], TSR_QUERY_STATISTICS, to.va + 128), 0);
	ktap_eq(tsr_gfx_set_pipeline(pass[1], plain), 0);
	ktap_eq(tsr_gfx_set_vertices(pass[1], 0, target.va, size), 0);
	ktap_eq(tsr_gfx_draw_auto(pass[1], target.counter, 0, sizeof(*all)), 0);
	for (unsigned int i = 0; i < 2; i++)
		ktap_eq(tsr_gfx_submit(pass[i], NULL, 0, NULL, 0), 0);
	for (unsigned int i = 0; i < 2; i++) {
		ktap_eq(tsr_gfx_wait(pass[i], TSR_DEADLINE_NEVER), 0);
		tsr_gfx_pass_destroy(pass[i]);
	}
	check_picture();
	memcpy(&counted_in, (char *)to.cpu + 128 +
	       8 * TSR_PIPELINE_STATISTICS_INPUT_PRIMITIVES__QWORD, 8);
	ktap_eq(counted_in, MANY);
	tsr_gfx_pipeline_unref(plain);
	tsr_gfx_pipeline_unref(stream);
	free(all);
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

/*
 * Results that tests/draw/pathscenes.c compares with Mesa's llvmpipe on the host: counts, and
 * hashes of pictures and bytes.
 */
static const struct expected {
	const char *scene;
	uint64_t counts[PATHSCENE_COUNTS];
	uint64_t hash;
} expected[] = {
	{ "vertex", { 1536, 0, 0, 0, 512, 512, 0 },
	  0x786ed74e17191746u },
	{ "geometry", { 400, 0, 400, 800, 800, 800, 0 },
	  0xe0ab07c542903564u },
	{ "patches", { 36, 9, 0, 0, 1530, 1530, 0 },
	  0x7bd1fc6f8eceb4c3u },
	{ "patches_geometry", { 64, 16, 2176, 2176, 2176, 2176, 0 },
	  0x053af1b2354b63c5u },
	{ "vertex_stream", { 96, 0, 0, 0, 0, 95, 70 },
	  0x6cb9ab8546b13812u },
	{ "geometry_stream", { 64, 0, 64, 128, 0, 128, 128 },
	  0x17391e0682980d22u },
	{ "patches_stream", { 16, 4, 192, 192, 0, 192, 150 },
	  0xca16b17170df1193u },
	{ "compute", { 0, 0, 0, 0, 0, 0, 0 },
	  0x65bb9ac4c0b80580u },
};

static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash;
}

static const struct expected *scene_expected;

static void test_scene(void)
{
	uint64_t counts[PATHSCENE_COUNTS] = { 0 };
	struct pathscene_tsr *tsr;
	struct pathscene scene;
	size_t size;
	uint8_t *all;

	pathscene_open(&scene, scene_expected->scene);
	size = scene.shader[PATHSCENE_VERTEX] && !scene.streams ?
		       4ul * scene.side * scene.side : pathscene_bytes(&scene);
	all = calloc(1, size);
	tsr = pathscene_tsr_new(&scene);
	if (scene.shader[PATHSCENE_VERTEX])
		pathscene_tsr_count(tsr, counts);
	else
		pathscene_tsr_run(tsr, 1);
	for (unsigned int i = 0; i < PATHSCENE_COUNTS; i++)
		ktap_eq(counts[i], scene_expected->counts[i]);
	pathscene_tsr_read(tsr, all);
	ktap_eq(hash_of(all, size), scene_expected->hash);
	pathscene_tsr_free(tsr);
	pathscene_close(&scene);
	free(all);
}

static void test_scenes(void)
{
	char title[128];

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct pathscene scene;

		scene_expected = &expected[i];
		pathscene_open(&scene, scene_expected->scene);
		snprintf(title, sizeof(title), "[PIPE1] %s: the scene that llvmpipe draws",
			 scene.path);
		pathscene_close(&scene);
		ktap_run(title, test_scene);
	}
}

/* ---- What the library refuses ---------------------------------------------------------------- */

static unsigned int mistake;

static void mistaken(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	static const struct path all = { true, true, true, true, true };
	static const struct tsr_gfx_streamed twice[] = {
		{ .word = 1, .components = 1 }, { .word = 1, .components = 1, .stream = 1 },
	};

	wanted = &all;
	describe(info, blend);
	switch (mistake) {
	case 0: stages.domain.writes[0] = 0; break;
	case 1: stages.hull.patch_words = 8; break;
	case 2: stages.domain.shader = NULL; break;
	case 3: info->topology = TSR_TOPOLOGY_TRIANGLES; break;
	case 4: stages.patch_points = 33; break;
	case 5: stages.input = TSR_GEOMETRY_INPUT_LINES; break;
	case 6: stages.max_vertices = 129; break;
	case 7: stages.streams = 3; break;
	case 8: stages.geometry.writes[0] = 0xf0ull << 0x70 / 4; break;
	case 9: stages.declaration = twice; stages.output = 0; stages.streams = 3; break;
	case 10: stages.primitives = TSR_PATCH_PRIMITIVES_LINES; break;
	case 11: info->varying = t.varying; break;
	case 12: stages.domain.patch_words = 9; break;
	default: stages.hull.entry = 8; break;
	}
}

static void test_refused(void)
{
	static const char *const why[] = {
		"does not write", "words of a patch", "no domain shader", "PATCHES", "1 to 32",
		"after a domain shader", "at most", "stream 0 of points", "no position",
		"of streams 0 and 1", "lines are of isolines", "varying program", "power of two",
		"multiple of 16",
	};
	struct tsr_gfx_pipeline *pipeline = NULL;

	for (mistake = 0; mistake < sizeof(why) / sizeof(why[0]); mistake++) {
		ktap_eq(gfxt_pipeline_try(&t, mistaken, &pipeline), -EINVAL);
		if (!ktap_ok(strstr(tsr_error_message(), why[mistake])))
			ktap_note("%s", tsr_error_message());
	}
}

int main(void)
{
	static const struct path none = { .picture = true };

	ktap_start();
	gfxt_open(&t);
	image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA32F, SIDE, 1);
	vertex = gfxt_program(&t, vertex_text);
	hull = gfxt_program(&t, hull_text);
	domain = gfxt_program(&t, domain_text);
	geometry = gfxt_program(&t, geometry_text);
	ktap_eq(tsr_pool_alloc(t.data, 1024 + STREAMED, 64, &memory), 0);
	for (unsigned int i = 0; i < 6; i++)
		list[i] = corner[triangles[i]];
	draw(&none, 1);
	gfxt_read(image, 0, 0, want, sizeof(want[0]) * SIDE);
	ktap_run("[PIPE1] [SO1] every path to a picture and to memory", test_paths);
	ktap_run("[SO3] what has been streamed is drawn", test_draw_auto);
	ktap_run("[SO3] what a pass streams is what the next one draws", test_next_pass);
	ktap_run("[ALD4] shaders that do not fit each other", test_refused);
	test_scenes();
	return ktap_finish();
}
