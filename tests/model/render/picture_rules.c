/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=240 */
/*
 * Rules that pictures show and picture.c does not look at: depth and stencil that programs read,
 * depth with its bias, coordinates in points, programs that blend at any address, what of a
 * fragment goes through late tests and when, varyings nobody writes; and counters against counting
 * again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "ktap.h"
#include "raster_ref.h"
#include "soup.h"
#include "tiles.h"

#define WIDTH 64
#define HEIGHT 32
#define TRIANGLES 50

/* Addresses after the lists and states of binner.h. */
#define PROGRAM (BINNER_FRAME + 0x4000)
#define CODE (BINNER_FRAME + 0x4100)
#define BLENDS (BINNER_FRAME + 0x5000)
#define TABLE (BINNER_FRAME + 0x5100)
#define BUFFERS (BINNER_FRAME + 0x5200)
#define BLENDER (BINNER_FRAME + 0x6000)

#define LOAD(insn) \
	"clause slot=0 wait=0,6 {\n" \
	"	*NOP\n" \
	"	+" insn ", @r0\n" \
	"}\n"

static float corner[3 * TRIANGLES][4];

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	memcpy(record, corner[vertex], sizeof(corner[vertex]));
}

/* Corner @n in 1/256 pixel, which clip space has exactly. */
static void set_corner(unsigned int n, int x, int y, float z)
{
	corner[n][0] = (float)x / (WIDTH / 2 * RASTER_ONE) - 1;
	corner[n][1] = (float)y / (HEIGHT / 2 * RASTER_ONE) - 1;
	corner[n][2] = z;
	corner[n][3] = 1;
}

/* A frame with a target of four floats, depth, and a program. */
static struct tiles *frame(const struct tsr_config *config, const char *text)
{
	struct tiles *t = tiles_new(WIDTH, HEIGHT, config);
	uint8_t *list = t->f->list - BINNER_LIST;

	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA32F, 16);
	tiles_program(t, CODE, text);
	tsr_pack_shader_program((uint64_t *)(list + PROGRAM), &(struct tsr_shader_program){
		.code = CODE, .varyings = TABLE, .varying_count = 1,
		.attribute_buffers = BUFFERS, .attribute_buffer_count = 1 });
	tsr_pack_attribute((uint64_t *)(list + TABLE), &(struct tsr_attribute){
		.format = TSR_PIXEL_FORMAT_RGBA32F, .order = TSR_COMPONENT_ORDER_RGBA });
	tsr_pack_attribute_buffer((uint64_t *)(list + BUFFERS), &(struct tsr_attribute_buffer){
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR });
	tsr_pack_blend((uint64_t *)(list + BLENDS), &(struct tsr_blend){
		.mask = 15, .mode = TSR_BLEND_MODE_OPAQUE, .components = 3,
		.registers = TSR_REGISTER_TYPE_F32, .format = TSR_PIXEL_FORMAT_RGBA32F << 12 });
	t->f->position = position;
	t->f->draw.blends = BLENDS;
	t->f->draw.blend_count = 1;
	t->f->shader = (struct tsr_shader_state){ .fragment = PROGRAM };
	binner_again(t->f);
	return t;
}

static void drawn(struct tiles *t)
{
	if (!tiles_run(t))
		ktap_fail("faults %u, %u", t->f->mem.fault.code, bench_fault(&t->queue));
}

static const float *pixel(struct tiles *t, unsigned int x, unsigned int y, unsigned int s)
{
	return tiles_texel(t, 0, x, y, s);
}

/* ---- Depth and stencil of the tile ----------------------------------------------------------- */

/* Depth to red, stencil to green. */
static const char reads_zs[] =
	"clause {\n*MOV.i32 r8, 0xff00ff00\n+NOP\n*MOV.i32 r9, 0xff00fe00\n+NOP\n*NOP\n+NOP\n}\n"
	"clause {\n*MOV.i32 r10, 0x01000000\n+NOP\n*MOV.i32 r11, 0x03000000\n+NOP\n*NOP\n+NOP\n}\n"
	"clause slot=0 wait=0,6,7 {\n*NOP\n+LD_TILE.v4 r8, r60, r10, @r4\n}\n"
	"clause slot=0 wait=0 {\n*NOP\n+LD_TILE.v4 r9, r60, r11, @r12\n}\n"
	"clause wait=0 {\n*MOV.i32 r0:t0, r4\n+U32_TO_F32 r1:t1, r12\n*MOV.i32 r2:t0, r7\n+NOP\n"
	"*MOV.i32 r3:t0, r13\n+NOP\n}\n"
	TILES_FINISH;

static const struct {
	uint8_t format, bytes;
	float most;
} depths[] = {
	{ TSR_PIXEL_FORMAT_Z16_UNORM, 2, 65535 }, { TSR_PIXEL_FORMAT_Z24X8_UNORM, 4, 16777215 },
	{ TSR_PIXEL_FORMAT_R32F, 4, 0 },
};

static float depth_at(struct tiles *t, unsigned int n, unsigned int x, unsigned int y)
{
	uint32_t word = 0;
	float z;

	memcpy(&word, tiles_texel(t, TILES_DEPTH, x, y, 0), depths[n].bytes);
	if (depths[n].most > 0)
		return (float)(word & (uint32_t)depths[n].most) / depths[n].most;
	memcpy(&z, &word, sizeof(z));
	return z;
}

/* A triangle leaves depth and stencil; another one, of all pixels, shows them. */
static void show_zs(unsigned int n, bool stencil, unsigned int samples_log2)
{
	struct tiles *t = frame(NULL, reads_zs);
	unsigned int wrong = 0, inside = 0;

	t->f->frame.samples_log2 = samples_log2;
	t->f->frame.has_stencil = stencil;
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA32F, 16);
	tiles_target(t, TILES_DEPTH, depths[n].format, depths[n].bytes);
	tiles_target(t, TILES_STENCIL, TSR_PIXEL_FORMAT_S8, 1);
	t->target[TILES_DEPTH].clear_0 = binner_bits(0.75f);
	t->target[TILES_STENCIL].clear_0 = 3;
	for (unsigned int i = 0; i < 3; i++)
		set_corner(i, i == 1 ? 14000 : 500, i == 2 ? 7000 : 300, (float)i / 3);
	t->f->shader.fragment = 0;
	t->f->draw.depth_test = t->f->draw.depth_write = true;
	t->f->draw.depth_function = TSR_COMPARE_FUNCTION_ALWAYS;
	t->f->draw.stencil_test = stencil;
	t->f->draw.front_function = t->f->draw.back_function = TSR_COMPARE_FUNCTION_ALWAYS;
	t->f->draw.front_pass = t->f->draw.back_pass = TSR_STENCIL_OP_REPLACE;
	t->f->draw.front_reference = t->f->draw.back_reference = 201;
	t->f->draw.front_write_mask = t->f->draw.back_write_mask = 255;
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3);
	for (unsigned int i = 0; i < 3; i++)
		set_corner(3 + i, i == 1 ? 60000 : -10000, i == 2 ? 60000 : -10000, 0.5f);
	t->f->shader = (struct tsr_shader_state){ .fragment = PROGRAM, .reads_tile = true };
	t->f->draw.depth_test = t->f->draw.stencil_test = false;
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 6);
	drawn(t);
	for (unsigned int i = 0; i < WIDTH * HEIGHT; i++) {
		unsigned int x = i % WIDTH, y = i / WIDTH;
		const float *c = pixel(t, x, y, 0);
		float s = stencil ? *(uint8_t *)tiles_texel(t, TILES_STENCIL, x, y, 0) : 0;

		inside += c[1] == 201;
		/* alpha of depth is 1, green of stencil 0 */
		wrong += c[0] != depth_at(t, n, x, y) || c[1] != s || c[2] != 1 || c[3] != 0;
	}
	ktap_eq(wrong, 0);
	ktap_ok(stencil ? inside > 500 && inside < 1500 : !inside);
	tiles_free(t);
}

static void test_zs(void)
{
	for (unsigned int i = 0; i < 12; i++)
		show_zs(i / 4, i & 1, i & 2);
}

/* ---- Bias ------------------------------------------------------------------------------------ */

/* The depth that a program reads for its fragment is the stored one, with or without bias. */
static void test_bias(void)
{
	static const char text[] =
		LOAD("LD_VAR_SPECIAL.f32.frag_z.clobber.center zero.w0") TILES_FINISH;
	struct soup s = soup_new(81);
	unsigned int seen = 0, wrong = 0;

	for (unsigned int n = 0; n < 40; n++) {
		struct tiles *t = frame(NULL, text);

		t->f->draw.depth_bias = n % 4;
		t->f->draw.bias_constant = binner_bits((float)soup_between(&s, -400000, 400000));
		t->f->draw.bias_slope = binner_bits((float)soup_between(&s, -40, 40) / 8);
		t->f->draw.bias_clamp =
			binner_bits(n % 3 ? 0 : (float)soup_between(&s, -9, 9) / 64);
		t->f->draw.depth_test = t->f->draw.depth_write = true;
		t->f->draw.depth_function = TSR_COMPARE_FUNCTION_ALWAYS;
		for (unsigned int i = 0; i < 3; i++)
			set_corner(i, (int)soup_below(&s, WIDTH * RASTER_ONE),
				   (int)soup_below(&s, HEIGHT * RASTER_ONE),
				   0.25f + (float)soup_below(&s, 1024) / 2048);
		binner_states(t->f);
		binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3);
		drawn(t);
		for (unsigned int i = 0; i < WIDTH * HEIGHT; i++) {
			float z = tiles_depth(t, i % WIDTH, i / WIDTH, 0);
			float c = pixel(t, i % WIDTH, i / WIDTH, 0)[0];

			/* not what was clamped, nor what is clear */
			if (z <= 0 || z >= 1)
				continue;
			seen++;
			wrong += fabsf(c - z) > 1e-6f;
		}
		tiles_free(t);
	}
	ktap_eq(wrong, 0);
	ktap_ok(seen > 3000);
}

/* The depth stored at (@x, @y), in whichever format. */
static double stored(struct tiles *t, unsigned int format, unsigned int x, unsigned int y)
{
	const void *texel = tiles_texel(t, TILES_DEPTH, x, y, 0);
	bool half = format == TSR_PIXEL_FORMAT_Z16_UNORM;
	uint32_t word = 0;

	if (format == TSR_PIXEL_FORMAT_R32F)
		return (double)tiles_depth(t, x, y, 0);
	memcpy(&word, texel, half ? 2 : 4);
	return half ? word / 65535.0 : (word & 0xffffff) / 16777215.0;
}

/*
 * The bias: the constant in the format's units plus the slope factor times the larger of both
 * slopes, clamped from one side.
 */
static void test_bias_sum(void)
{
	static const struct {
		unsigned int format, bytes;
		double unit;		/* the largest depth is 0.75: 2^-1 is its power of two */
	} depths[] = {
		{ TSR_PIXEL_FORMAT_R32F, 4, 0x1p-24 }, { TSR_PIXEL_FORMAT_Z16_UNORM, 2, 0x1p-16 },
		{ TSR_PIXEL_FORMAT_Z24X8_UNORM, 4, 0x1p-24 },
	};
	static const struct {
		double constant, slope, clamp, sum;
	} biases[] = {		/* constant in sixteenths; the slope is 1/256 */
		{ 1, 0, 0, 0.0625 }, { -2, 0, 0, -0.125 }, { 0, 16, 0, 0.0625 },
		{ 1, -32, 0, -0.0625 }, { 1, 16, 0.1, 0.1 }, { 1, 16, -0.1, 0.125 },
		{ -1, -16, -0.1, -0.1 }, { -1, -16, 0.1, -0.125 },
	};

	for (unsigned int n = 0; n < 2 * 3 * 8; n++) {
		unsigned int f = n / 8 % 3, b = n % 8, down = n / 24;
		double z = 0.25 + (10.5 / (down ? HEIGHT : WIDTH)) / 2, slope;
		struct tiles *t = frame(NULL, TILES_FINISH);

		tiles_target(t, TILES_DEPTH, depths[f].format, depths[f].bytes);
		slope = 0.5 / (down ? HEIGHT : WIDTH);
		t->f->draw.depth_bias = true;
		t->f->draw.bias_constant =
			binner_bits((float)(biases[b].constant / 16 / depths[f].unit));
		t->f->draw.bias_slope = binner_bits((float)(biases[b].slope / 256 / slope));
		t->f->draw.bias_clamp = binner_bits((float)biases[b].clamp);
		t->f->draw.depth_test = t->f->draw.depth_write = true;
		t->f->draw.depth_function = TSR_COMPARE_FUNCTION_ALWAYS;
		/* from 0.25 at one side of the frame to 0.75 at the other, if it went so far */
		set_corner(0, 0, 0, 0.25f);
		set_corner(1, WIDTH * RASTER_ONE, 0, down ? 0.25f : 0.75f);
		set_corner(2, 0, HEIGHT * RASTER_ONE, down ? 0.75f : 0.25f);
		binner_states(t->f);
		binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3);
		drawn(t);
		if (!ktap_ok(fabs(stored(t, depths[f].format, 10, 10) - z - biases[b].sum) < 2e-5))
			ktap_note("format %u, bias %u, down %u: %g, not %g", f, b, down,
				  stored(t, depths[f].format, 10, 10), z + biases[b].sum);
		tiles_free(t);
	}
}

/* ---- Points ---------------------------------------------------------------------------------- */

static void test_points(void)
{
	static const char text[] =
		LOAD("LD_VAR_SPECIAL.f32.point.clobber.center.v2 zero.w0") TILES_FINISH;
	struct soup s = soup_new(82);
	unsigned int seen = 0, wrong = 0;

	for (unsigned int n = 0; n < 60; n++) {
		struct tiles *t = frame(NULL, text);
		int x = (int)soup_below(&s, WIDTH * RASTER_ONE);
		int y = (int)soup_below(&s, HEIGHT * RASTER_ONE);
		double size = (double)soup_between(&s, 32, 400) / 16;

		t->f->draw.point_size = binner_bits((float)size);
		t->f->draw.point_origin = n & 1 ? TSR_POINT_ORIGIN_LOWER : TSR_POINT_ORIGIN_UPPER;
		set_corner(0, x, y, 0.5f);
		binner_states(t->f);
		binner_arrays(t->f, TSR_TOPOLOGY_POINTS, 1);
		drawn(t);
		for (unsigned int i = 0; i < WIDTH * HEIGHT; i++) {
			double px = i % WIDTH + 0.5 - x / 256.0, py = i / WIDTH + 0.5 - y / 256.0;
			const float *c = pixel(t, i % WIDTH, i / WIDTH, 0);
			double v = py / size + 0.5;

			if (fabs(px) >= size / 2 || fabs(py) >= size / 2)
				continue;
			seen++;
			wrong += fabs(c[0] - (px / size + 0.5)) > 1e-6;
			wrong += fabs(c[1] - (n & 1 ? 1 - v : v)) > 1e-6;
		}
		tiles_free(t);
	}
	ktap_eq(wrong, 0);
	ktap_ok(seen > 3000);
}

/* ---- Programs that blend --------------------------------------------------------------------- */

/* BLEND @n calls the program of BLENDER and ends. */
static void blend_by_program(struct tiles *t, unsigned int n, const char *text)
{
	uint64_t *blend = (uint64_t *)(t->f->list + (BLENDS - BINNER_LIST));

	tiles_program(t, BLENDER, text);
	blend[TSR_BLEND__QWORDS * n + 1] = TSR_BLEND_MODE_PROGRAM | (BLENDER & 0xfffffff0) << 32;
}

/* @count triangles of all pixels, at depth @z. */
static void cover(struct tiles *t, unsigned int count, float z)
{
	for (unsigned int i = 0; i < 3 * count; i++)
		set_corner(i, i % 3 == 1 ? 60000 : -10000, i % 3 == 2 ? 60000 : -10000, z);
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3 * count);
	drawn(t);
}

/* A blend program lies at any address, and adds what is there, be READS_TILE set or not. */
static void blend_twice(unsigned int debug, bool reads_tile)
{
	static const char text[] =
		"clause wait=0,6 {\n*MOV.i32 r0, 0x3f000000\n+MOV.i32 r1, 0x3e800000\n"
		"*MOV.i32 r2, 0\n+MOV.i32 r3, 0\n*NOP\n+NOP\n}\n" TILES_FINISH;
	static const char adds[] =
		"clause wait=0 {\n*MOV.i32 r8, 0xff000000\n+NOP\n*MOV.i32 r9, 0x01000000\n+NOP\n"
		"*NOP\n+NOP\n}\n"
		"clause slot=0 wait=0 {\n*NOP\n+LD_TILE.v4 r8, r60, r9, @r4\n}\n"
		"clause wait=0 {\n*FADD.f32 r0, r0, r4\n+NOP\n*FADD.f32 r1, r1, r5\n+NOP\n}\n"
		"clause slot=0 wait=0 {\n*NOP\n+ST_TILE.v4 r8, r60, r9, @r0\n}\n"
		"clause flow=nbtb {\n*NOP\n+JUMP r48\n}\n";
	struct tsr_config config = { .gfx_debug = debug };
	struct tiles *t = frame(&config, text);
	unsigned int wrong = 0;

	/* small, so that a bundle has room for two triangles of a tile */
	t->f->frame.tile_shift = TSR_TILE_SHIFT_MIN;
	blend_by_program(t, 0, adds);
	t->f->shader.reads_tile = reads_tile;
	cover(t, 3, 0.5f);
	for (unsigned int i = 0; i < WIDTH * HEIGHT; i++) {
		const float *c = pixel(t, i % WIDTH, i / WIDTH, 0);

		wrong += c[0] != 1.5f || c[1] != 0.75f;
	}
	ktap_eq(wrong, 0);
	tiles_free(t);
}

static void test_blender(void)
{
	for (unsigned int i = 0; i < 4; i++)
		blend_twice(i & 1 ? TSR_GFX_NO_EARLY : 0, i & 2);
}

/* ---- Late tests ------------------------------------------------------------------------------ */

/* A draw that tests and writes depth, of which 0 is left. */
static struct tiles *late_frame(const char *text, unsigned int debug, unsigned int samples_log2)
{
	struct tsr_config config = { .gfx_debug = debug };
	struct tiles *t = frame(&config, text);

	t->f->frame.samples_log2 = samples_log2;
	t->f->frame.targets = 2;
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA32F, 16);
	tiles_target(t, 1, TSR_PIXEL_FORMAT_RGBA32F, 16);
	tiles_target(t, TILES_DEPTH, TSR_PIXEL_FORMAT_R32F, 4);
	t->target[TILES_DEPTH].clear_0 = binner_bits(0.75f);
	t->f->draw.depth_test = t->f->draw.depth_write = true;
	t->f->draw.depth_function = TSR_COMPARE_FUNCTION_LESS;
	return t;
}

/* A fragment that reads depth finds what those before it have left, and not its own. */
static void test_own_depth(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct tiles *t = late_frame(reads_zs, i ? TSR_GFX_NO_EARLY : 0, 0);
		unsigned int wrong = 0;

		t->f->shader.reads_tile = true;
		cover(t, 1, 0.5f);
		for (unsigned int n = 0; n < WIDTH * HEIGHT; n++)
			wrong += pixel(t, n % WIDTH, n / WIDTH, 0)[0] != 0.75f ||
				 tiles_depth(t, n % WIDTH, n / WIDTH, 0) != 0.5f;
		ktap_eq(wrong, 0);
		tiles_free(t);
	}
}

/* True if a comparison holds: the functions are masks of what may be. */
static bool holds(unsigned int function, float a, float b)
{
	return function >> (a < b ? 0 : a == b ? 1 : 2) & 1;
}

/*
 * A program promises where the depths lie that it writes. What fails anyhow may be rejected before
 * it runs, and is; nothing else is.
 */
static void write_depth(unsigned int function, unsigned int layout, float z, float written)
{
	static const char *const texts[] = { "3e800000", "3f000000", "3f400000" };
	char text[1000];
	struct tiles *t;
	unsigned int wrong = 0;
	float last = layout == TSR_DEPTH_LAYOUT_UNCHANGED ? z : written;
	bool may = function == TSR_COMPARE_FUNCTION_NEVER || (!holds(function, z, 0.5f) &&
		   (layout == TSR_DEPTH_LAYOUT_GREATER ? function == 1 || function == 3 :
		    layout == TSR_DEPTH_LAYOUT_LESS && (function == 4 || function == 6)));

	snprintf(text, sizeof(text), "clause wait=0,6 {\n*MOV.i32 r5, 0x%s\n+NOP\n}\n"
		 "clause slot=0 wait=0 {\n*NOP\n+ZS_EMIT.z r5, r5, r60, @r60\n}\n" TILES_FINISH,
		 texts[(unsigned int)(written * 4) - 1]);
	t = late_frame(text, 0, 0);
	t->target[TILES_DEPTH].clear_0 = binner_bits(0.5f);
	t->f->draw.depth_function = function;
	t->f->shader.writes_depth = true;
	t->f->shader.depth_layout = layout;
	cover(t, 1, z);
	last = holds(function, last, 0.5f) ? last : 0.5f;
	for (unsigned int n = 0; n < WIDTH * HEIGHT; n++)
		wrong += tiles_depth(t, n % WIDTH, n / WIDTH, 0) != last;
	wrong += layout != TSR_DEPTH_LAYOUT_UNCHANGED &&
		 may != (tiles_counter(t, TSR_QUEUE_COUNTER_BLOCKS_DEPTH_REJECTED) > 0);
	if (!ktap_eq(wrong, 0))
		ktap_note("function %u, layout %u, depth %g, written %g", function, layout,
			  (double)z, (double)written);
	tiles_free(t);
}

static void test_depth_layouts(void)
{
	for (unsigned int i = 0; i < 8 * 4 * 3 * 3; i++) {
		const unsigned int layout = i / 8 % 4;
		const float z = (i / 32 % 3 + 1) * 0.25f, written = (i / 96 + 1) * 0.25f;

		if ((layout == TSR_DEPTH_LAYOUT_GREATER && written < z) ||
		    (layout == TSR_DEPTH_LAYOUT_LESS && written > z))
			continue;
		write_depth(i % 8, layout, z, written);
	}
}

/* With CENTER each sample is the pixel of the same picture with one sample, color and depth. */
static void test_center(void)
{
	static const char text[] =
		LOAD("LD_VAR_SPECIAL.f32.frag_z.clobber.center zero.w0") TILES_FINISH;
	unsigned int wrong = 0, drawn_pixels = 0;

	for (unsigned int n = 0; n < 24; n++) {
		struct soup s = soup_new(400 + n);
		struct tiles *one = late_frame(text, n % 2 ? TSR_GFX_NO_EARLY : 0, 0);
		struct tiles *many = late_frame(text, n % 2 ? TSR_GFX_NO_EARLY : 0, 1 + n % 4);

		for (unsigned int i = 0; i < 3 * TRIANGLES; i++)
			set_corner(i, (int)soup_below(&s, WIDTH * RASTER_ONE),
				   (int)soup_below(&s, HEIGHT * RASTER_ONE),
				   (float)soup_below(&s, 1024) / 1024);
		many->f->draw.center = true;
		for (unsigned int k = 0; k < 2; k++) {
			struct tiles *t = k ? many : one;

			t->f->draw.line_mode = TSR_LINE_MODE_RECTANGULAR;
			t->f->draw.line_width = binner_bits(3);
			binner_states(t->f);
			binner_arrays(t->f, n % 3 ? TSR_TOPOLOGY_TRIANGLES : TSR_TOPOLOGY_LINES,
				      3 * TRIANGLES);
			drawn(t);
		}
		for (unsigned int i = 0; i < 2u * WIDTH * HEIGHT << n % 4; i++) {
			unsigned int at = i >> (1 + n % 4), x = at % WIDTH, y = at / WIDTH;
			unsigned int sample = i & ((2u << n % 4) - 1);

			wrong += pixel(many, x, y, sample)[0] != pixel(one, x, y, 0)[0] ||
				 tiles_depth(many, x, y, sample) != tiles_depth(one, x, y, 0);
			drawn_pixels += tiles_depth(one, x, y, 0) != 0.75f;
		}
		tiles_free(one);
		tiles_free(many);
	}
	ktap_eq(wrong, 0);
	ktap_ok(drawn_pixels > 10000);
}

/* Pixels of a wide point, or line, whose middle is @x pixels left of the viewport. */
static unsigned int seen_of(bool line, unsigned int x, bool keep)
{
	static const char text[] =
		LOAD("LD_VAR_SPECIAL.f32.frag_z.clobber.center zero.w0") TILES_FINISH;
	struct tiles *t = late_frame(text, 0, 0);
	unsigned int seen = 0;

	set_corner(0, -(int)x * RASTER_ONE, 8 * RASTER_ONE, 0.25f);
	set_corner(1, -(int)x * RASTER_ONE, 24 * RASTER_ONE, 0.25f);
	t->f->draw.point_size = t->f->draw.line_width = binner_bits(8);
	t->f->draw.line_mode = TSR_LINE_MODE_RECTANGULAR;
	t->f->draw.keep_outside = keep;
	binner_states(t->f);
	binner_arrays(t->f, line ? TSR_TOPOLOGY_LINES : TSR_TOPOLOGY_POINTS, 1 + line);
	drawn(t);
	for (unsigned int i = 0; i < WIDTH * HEIGHT; i++)
		seen += tiles_depth(t, i % WIDTH, i / WIDTH, 0) != 0.75f;
	tiles_free(t);
	return seen;
}

static void test_keep_outside(void)
{
	ktap_eq(seen_of(false, 1, false), 0);
	ktap_eq(seen_of(false, 1, true), 3 * 8);
	ktap_eq(seen_of(false, 4, true), 0);
	ktap_eq(seen_of(true, 2, false), 0);
	ktap_eq(seen_of(true, 2, true), 2 * 16);
}

/*
 * A depth that is written, or biased, leaves the viewport's range and stays between 0 and 1; with
 * DEPTH_CLAMP it stays in the range.
 */
static void beyond_range(unsigned int format, bool clamp, bool written, float wanted)
{
	static const char text[] =
		"clause wait=0,6 {\n*MOV.i32 r5, 0x3e000000\n+NOP\n}\n"
		"clause slot=0 wait=0 {\n*NOP\n+ZS_EMIT.z r5, r5, r60, @r60\n}\n" TILES_FINISH;
	struct tiles *t = late_frame(text, 0, 0);
	unsigned int wrong = 0;

	tiles_target(t, TILES_DEPTH, depths[format].format, depths[format].bytes);
	t->f->viewport[0].near = binner_bits(0.25f);
	t->f->viewport[0].far = binner_bits(0.75f);
	t->f->draw.depth_function = TSR_COMPARE_FUNCTION_ALWAYS;
	t->f->draw.depth_clamp = clamp;
	t->f->shader.writes_depth = written;
	t->f->draw.depth_bias = !written;
	t->f->draw.bias_constant = binner_bits(0x1p23f);
	cover(t, 1, 0.5f);
	for (unsigned int n = 0; n < WIDTH * HEIGHT; n++)
		wrong += fabsf(depth_at(t, format, n % WIDTH, n / WIDTH) - wanted) > 1e-4f;
	if (!ktap_eq(wrong, 0))
		ktap_note("format %u, clamp %d, written %d: %g", format, clamp, written,
			  (double)depth_at(t, format, 1, 1));
	tiles_free(t);
}

static void test_beyond_range(void)
{
	for (unsigned int format = 0; format < 3; format++) {
		beyond_range(format, false, true, 0.125f);
		beyond_range(format, true, true, 0.25f);
		/* far more than there is to add */
		beyond_range(format, false, false, 1);
		beyond_range(format, true, false, 0.75f);
	}
}

/* With SAMPLE_SHADING each sample has the depth and the stencil value its fragment wrote. */
static void test_sample_depth(void)
{
	static const char text[] =
		"clause wait=0,6 {\n*RSHIFT_OR.i32 r4:t0, r61, #0, 0x10.b0\n+NOP\n}\n"
		"clause {\n*NOP\n+U32_TO_F32 r5:t1, r4\n}\n"
		"clause {\n*FMA.f32 r5:t0, r5, 0x3e000000, #0\n+NOP\n}\n"
		"clause slot=0 wait=0 {\n*NOP\n+ZS_EMIT.stencil.z r5, r4, r60, @r60\n}\n"
		TILES_FINISH;
	struct tiles *t = late_frame(text, 0, 2);
	unsigned int wrong = 0;

	t->f->frame.has_stencil = true;
	tiles_target(t, TILES_STENCIL, TSR_PIXEL_FORMAT_S8, 1);
	t->f->shader.sample_shading = t->f->shader.writes_depth = true;
	t->f->shader.writes_stencil = t->f->draw.stencil_test = true;
	t->f->draw.front_function = t->f->draw.back_function = TSR_COMPARE_FUNCTION_ALWAYS;
	t->f->draw.front_pass = t->f->draw.back_pass = TSR_STENCIL_OP_REPLACE;
	t->f->draw.front_write_mask = t->f->draw.back_write_mask = 255;
	cover(t, 1, 0.5f);
	for (unsigned int n = 0; n < WIDTH * HEIGHT * 4; n++) {
		unsigned int x = n / 4 % WIDTH, y = n / 4 / WIDTH, s = n % 4;

		wrong += tiles_depth(t, x, y, s) != (float)s / 8 ||
			 *(uint8_t *)tiles_texel(t, TILES_STENCIL, x, y, s) != s;
	}
	ktap_eq(wrong, 0);
	tiles_free(t);
}

/* R58 to R61 of a fragment shader, with any number of samples. */
static void find_registers(unsigned int samples_log2, bool each, bool ordered, bool back)
{
	static const char text[] =
		"clause wait=0,6 {\n*NOP\n+U32_TO_F32 r0:t1, r61\n}\n"
		"clause {\n*NOP\n+U32_TO_F32 r1:t1, r60\n}\n"
		"clause {\n*NOP\n+U32_TO_F32 r2:t1, r59\n}\n"
		"clause {\n*NOP\n+U32_TO_F32 r3:t1, r58\n}\n" TILES_FINISH;
	struct tiles *t = frame(NULL, text);
	unsigned int wrong = 0, partly = 0;

	t->f->frame.samples_log2 = samples_log2;
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA32F, 16);
	t->f->shader.sample_shading = each;
	t->f->shader.reads_tile = ordered;
	set_corner(0, 500, 300, 0.5f);
	set_corner(2 - back, 14000, 2900, 0.5f);
	set_corner(1 + back, 3300, 7000, 0.5f);
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3);
	drawn(t);
	for (unsigned int n = 0; n < WIDTH * HEIGHT; n++) {
		const unsigned int x = n % WIDTH, y = n / WIDTH;
		unsigned int covered = 0;

		/* at (0, 0) nothing is covered, and elsewhere R59 is not 0 */
		for (unsigned int s = 0; s < 1u << samples_log2; s++)
			covered |= (pixel(t, x, y, s)[2] > 0) << s;
		partly += covered && covered != (1u << (1u << samples_log2)) - 1;
		for (unsigned int s = 0; s < 1u << samples_log2; s++) {
			const float *at = pixel(t, x, y, s);
			const unsigned int mine = each ? 1u << s : covered;

			if (covered >> s & 1)
				wrong += at[0] != (float)(mine | (each ? s << 16 : 0)) ||
					 at[1] != (float)mine || at[2] != (float)(y << 16 | x) ||
					 at[3] != (float)back;
		}
	}
	ktap_eq(wrong, 0);
	ktap_eq(partly > 0, samples_log2 > 0);
	tiles_free(t);
}

static void test_registers(void)
{
	for (unsigned int i = 0; i < 5 * 8; i++)
		find_registers(i / 8, i & 1, i & 2, i >> 2 & 1);
}

#define STORE_SAMPLE(n) \
	"clause wait=0 {\n*MOV.i32 r8, 0xff00010" n "\n+NOP\n*MOV.i32 r9, 0x01000000\n+NOP\n" \
	"*NOP\n+NOP\n}\nclause slot=0 wait=0 {\n*NOP\n+ST_TILE.v4 r8, r60, r9, @r0\n}\n"
#define RETURN "clause wait=0 flow=nbtb {\n*NOP\n+JUMP r48\n}\n"

/* Alpha of target 0 thins out what a blend program stores to target 1, and the depth. */
static void test_thinned_store(void)
{
	static const char text[] =
		"clause wait=0,6 {\n*MOV.i32 r0, 0x3f800000\n+NOP\n*MOV.i32 r3, 0x3f000000\n+NOP\n"
		"*NOP\n+NOP\n}\n"
		"clause wait=0 td {\n*NOP\n+ATEST r60:t1, r60, zero.w0, @r60\n}\n"
		"clause slot=0 wait=0 {\n*NOP\n+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n}\n"
		"clause slot=0 wait=0 {\n*NOP\n+BLEND r48:t1, r60, blend1.w0, blend1.w1, @r0\n}\n";
	static const char stores[] =
		STORE_SAMPLE("0") STORE_SAMPLE("1") STORE_SAMPLE("2") STORE_SAMPLE("3") RETURN;

	for (unsigned int i = 0; i < 4; i++) {
		struct tiles *t = late_frame(text, i & 1 ? TSR_GFX_NO_EARLY : 0, 2);
		unsigned int wrong = 0, count = 0;

		t->f->draw.blend_count = 2;
		blend_by_program(t, 1, stores);
		t->f->draw.alpha_to_coverage = true;
		t->f->draw.depth_write = i & 2;
		cover(t, 1, 0.5f);
		for (unsigned int n = 0; n < WIDTH * HEIGHT * 4; n++) {
			unsigned int x = n / 4 % WIDTH, y = n / 4 / WIDTH, s = n % 4;
			bool there = pixel(t, x, y, s)[0] == 1;

			count += there;
			wrong += *(float *)tiles_texel(t, 1, x, y, s) != there;
			wrong += tiles_depth(t, x, y, s) != (there && i & 2 ? 0.5f : 0.75f);
		}
		ktap_eq(wrong, 0);
		ktap_eq(count, WIDTH * HEIGHT * 2);
		tiles_free(t);
	}
}

/* Some quads of a warp store before others have come to the ATEST that ends them. */
static void store_apart(bool right, unsigned int debug)
{
	static const char jump[] =
		"clause wait=0,6 {\n*LSHIFT_AND.i32 r10:t0, r59, 0x2, 0x0.b0\n+NOP\n"
		"*MOV.i32 r0:t0, 0x3f800000\n+NOP\n}\n"
		"clause flow=nbtb_unconditional {\n*NOP\n+BRANCHZ.i32.%s r10, away\n}\n"
		"clause slot=0 wait=0 end {\n"
		"*NOP\n+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n}\n"
		"away:\n"
		"clause end slot=0 td {\n*NOP\n+ATEST r60:t1, zero.w0, zero.w0, @r60\n}\n";
	char text[1000];
	struct tiles *t;
	unsigned int wrong = 0;

	snprintf(text, sizeof(text), jump, right ? "ne" : "eq");
	t = late_frame(text, debug, 0);
	blend_by_program(t, 0, "clause wait=0 {\n*MOV.i32 r8, 0xff000000\n+NOP\n"
			       "*MOV.i32 r9, 0x01000000\n+NOP\n*NOP\n+NOP\n}\n"
			       "clause slot=0 wait=0 {\n*NOP\n+ST_TILE.v4 r8, r60, r9, @r0\n}\n"
			       RETURN);
	t->f->shader.discards = true;
	cover(t, 1, 0.5f);
	for (unsigned int n = 0; n < WIDTH * HEIGHT; n++) {
		unsigned int x = n % WIDTH, y = n / WIDTH;
		bool there = !(x & 2) == right;

		wrong += pixel(t, x, y, 0)[0] != there ||
			 tiles_depth(t, x, y, 0) != (there ? 0.5f : 0.75f);
	}
	ktap_eq(wrong, 0);
	tiles_free(t);
}

static void test_apart(void)
{
	for (unsigned int i = 0; i < 4; i++)
		store_apart(i & 1, i & 2 ? TSR_GFX_NO_EARLY : 0);
}

/* ---- Varyings that are not there ------------------------------------------------------------- */

/* Outputs in the heap, of draws without a varying program: zeros. */
static void test_no_outputs(void)
{
	static const char text[] =
		LOAD("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:0") TILES_FINISH;
	struct tiles *t = frame(NULL, text);
	unsigned int wrong = 0;

	t->f->shader.output_stride = 64;
	for (unsigned int i = 0; i < 3; i++)
		set_corner(i, i == 1 ? 60000 : -10000, i == 2 ? 60000 : -10000, 0.5f);
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3);
	t->target[0].clear_0 = binner_bits(7);
	drawn(t);
	for (unsigned int i = 0; i < WIDTH * HEIGHT; i++) {
		const float *c = pixel(t, i % WIDTH, i / WIDTH, 0);

		wrong += c[0] != 0 || c[1] != 0 || c[2] != 0 || c[3] != 0;
	}
	ktap_eq(wrong, 0);
	tiles_free(t);
}

/* ---- Counting again -------------------------------------------------------------------------- */

struct counts {
	uint64_t covered, rejected, quads;
};

/* Samples and quads of all triangles, each tested with what those before have left. */
static void count_again(unsigned int samples, struct counts *c)
{
	static float z[HEIGHT][WIDTH][RASTER_SAMPLES_MAX];

	for (unsigned int i = 0; i < WIDTH * HEIGHT * RASTER_SAMPLES_MAX; i++)
		(&z[0][0][0])[i] = 1;
	for (unsigned int n = 0; n < TRIANGLES; n++) {
		struct raster_point v[3];
		bool quad[HEIGHT / 2][WIDTH / 2] = { { false } };

		for (unsigned int i = 0; i < 3; i++) {
			const float *at = corner[3 * n + i];

			v[i].x = llrintf((at[0] + 1) * (WIDTH / 2 * RASTER_ONE));
			v[i].y = llrintf((at[1] + 1) * (HEIGHT / 2 * RASTER_ONE));
		}
		for (unsigned int i = 0; i < WIDTH * HEIGHT * samples; i++) {
			unsigned int s = i % samples, x = i / samples % WIDTH;
			unsigned int y = i / samples / WIDTH;
			float *stored = &z[y][x][s];

			if (!raster_ref_triangle(v, raster_ref_sample(samples, s, x, y)))
				continue;
			c->covered++;
			if (corner[3 * n][2] < *stored) {
				*stored = corner[3 * n][2];
				quad[y / 2][x / 2] = true;
			} else {
				c->rejected++;
			}
		}
		for (unsigned int i = 0; i < WIDTH * HEIGHT / 4; i++)
			c->quads += quad[i / (WIDTH / 2)][i % (WIDTH / 2)];
	}
}

static const char shows_id[] = "clause wait=0,6 {\n*MOV.i32 r0, r57\n+NOP\n}\n" TILES_FINISH;

static void check_counts(struct soup *s, unsigned int samples_log2, unsigned int debug,
			 unsigned int shift)
{
	struct tsr_config config = { .gfx_debug = debug };
	struct tiles *t = frame(&config, shows_id);
	struct counts want = { 0, 0, 0 };
	uint64_t tested, rejected;

	t->f->frame.samples_log2 = samples_log2;
	t->f->frame.tile_shift = shift;
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA32F, 16);
	tiles_target(t, TILES_DEPTH, TSR_PIXEL_FORMAT_R32F, 4);
	t->target[TILES_DEPTH].clear_0 = binner_bits(1);
	for (unsigned int n = 0; n < 3 * TRIANGLES; n++)
		set_corner(n, (int)soup_below(s, WIDTH * RASTER_ONE),
			   (int)soup_below(s, HEIGHT * RASTER_ONE),
			   n % 3 ? corner[n - 1][2] : (float)soup_below(s, 16) / 16);
	t->f->draw.depth_test = t->f->draw.depth_write = true;
	t->f->draw.depth_function = TSR_COMPARE_FUNCTION_LESS;
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3 * TRIANGLES);
	drawn(t);
	count_again(1u << samples_log2, &want);
	tested = tiles_counter(t, TSR_QUEUE_COUNTER_SAMPLES_TESTED_EARLY);
	rejected = tiles_counter(t, TSR_QUEUE_COUNTER_SAMPLES_REJECTED_EARLY);
	ktap_eq(rejected, want.rejected);
	ktap_eq(tiles_counter(t, TSR_QUEUE_COUNTER_QUADS), want.quads);
	if (debug & TSR_GFX_NO_HIZ) {
		ktap_eq(tested, want.covered);
		ktap_eq(tiles_counter(t, TSR_QUEUE_COUNTER_BLOCKS_DEPTH_REJECTED), 0);
	} else {
		ktap_ok(tested <= want.covered && tested >= want.covered - want.rejected);
	}
	/* color and depth of every sample, once */
	ktap_eq(tiles_counter(t, TSR_QUEUE_COUNTER_TILE_STORE_BYTES),
		(uint64_t)(WIDTH * HEIGHT * 20) << samples_log2);
	ktap_eq(tiles_counter(t, TSR_QUEUE_COUNTER_TILE_LOAD_BYTES), 0);
	tiles_free(t);
}

static void test_counts(void)
{
	struct soup s = soup_new(83);

	for (unsigned int n = 0; n < 24; n++)
		check_counts(&s, n % 4 == 3 ? n % 2 : n % 3, n & 4 ? TSR_GFX_NO_HIZ : 0, 3 + n % 4);
}

int main(void)
{
	ktap_start();
	ktap_run("[OM4] programs read depth and stencil of the tile", test_zs);
	ktap_run("[ZS1] [PIX9] the depth a program finds has its bias", test_bias);
	ktap_run("[ZS1] depth bias in units of the format, by the slope, clamped", test_bias_sum);
	ktap_run("[PA7] coordinates in points, from both origins", test_points);
	ktap_run("[OM4] a program that blends lies anywhere, and always reads the tile",
		 test_blender);
	ktap_run("[ZS3] [OM4] a fragment that reads depth does not find its own", test_own_depth);
	ktap_run("[ZS3] [ZS5] depths that programs write, and promise", test_depth_layouts);
	ktap_run("[ZS1] [ZS3] depths beyond the viewport's range, biased or written",
		 test_beyond_range);
	ktap_run("[PA1] wide points and lines that reach into the viewport", test_keep_outside);
	ktap_run("[RAST4] [ZS1] samples that are drawn as their pixel's center is", test_center);
	ktap_run("[ZS3] [PIX9] each sample has the depth and stencil its fragment wrote",
		 test_sample_depth);
	ktap_run("[RAST4] [PIX1] registers of a fragment: place, coverage, sample, face",
		 test_registers);
	ktap_run("[RAST4] [OM4] alpha to coverage comes before a program's stores to the tile",
		 test_thinned_store);
	ktap_run("[ZS3] [OM4] late tests of a fragment, not of its warp, come before its stores",
		 test_apart);
	ktap_run("[PIX2] varyings of draws without a varying program", test_no_outputs);
	ktap_run("[ZS3] [ZS4] [BIN6] [PIX1] samples rejected, quads, bytes stored: counted again",
		 test_counts);
	return ktap_finish();
}
