// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * Effects of fragment shaders besides a color: stores and atomics, tests before and after them,
 * reading the target, blending by program and with two sources, logic operations, eight targets,
 * one run for each sample. The CPU repeats it all for every pixel, primitive by primitive.
 */
#include "gfxdraw.h"

#define SIDE	32
#define TEXELS	(SIDE * SIDE)
#define SOUP	40

static struct gfxt t;
static const float black[4], white[4] = { 1, 1, 1, 1 };

/* How the test's pipeline differs from the plain one. */
static struct tsr_shader *fragment;
static struct tsr_gfx_blend *blends;
static uint32_t blend_count, fragment_flags, logic_op;
static struct tsr_gfx_depth depth;
static bool logic;

static void change(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	(void)blend;
	info->fragment = fragment;
	info->fragment_flags = fragment_flags;
	info->depth = depth;
	info->logic = logic;
	info->logic_op = logic_op;
	if (blends) {
		info->blends = blends;
		info->blend_count = blend_count;
	}
}

/* The pipeline with this program; what was asked for is forgotten. */
static struct tsr_gfx_pipeline *make(const char *text)
{
	struct tsr_gfx_pipeline *p;

	fragment = gfxt_program(&t, text);
	p = gfxt_pipeline(&t, change);
	tsr_shader_unref(fragment);
	blends = NULL;
	blend_count = fragment_flags = logic_op = 0;
	depth = (struct tsr_gfx_depth){ 0 };
	logic = false;
	return p;
}

/* ---- Triangles and who covers what ----------------------------------------------------------- */

/* Triangles in 1/256 pixel, no pixel's centre on an edge. */
static int soup[SOUP][3][2];
static struct gfxt_vertex soup_vertices[3 * SOUP];

static bool covers(const int c[3][2], int x, int y)
{
	const int px = 256 * x + 128, py = 256 * y + 128;
	int inside = 0;

	for (int e = 0; e < 3; e++) {
		const int *a = c[e], *b = c[(e + 1) % 3];
		const long side = (long)(b[0] - a[0]) * (py - a[1]) -
				  (long)(b[1] - a[1]) * (px - a[0]);

		inside += side > 0 ? 1 : side < 0 ? -1 : 0;
	}
	return inside == 3 || inside == -3;
}

/* Odd places: then edges through a centre are rare, and triangles that have one are not taken. */
static bool on_edge(const int c[3][2])
{
	for (int i = 0; i < TEXELS; i++)
		for (int e = 0; e < 3; e++) {
			const int *a = c[e], *b = c[(e + 1) % 3];
			const int px = 256 * (i % SIDE) + 128, py = 256 * (i / SIDE) + 128;

			if ((long)(b[0] - a[0]) * (py - a[1]) ==
			    (long)(b[1] - a[1]) * (px - a[0]))
				return true;
		}
	return false;
}

static void cook(float z)
{
	for (int n = 0; n < SOUP; n++) {
		const float color[4] = { (float)gfxt_random(9) / 8, (float)gfxt_random(9) / 8,
					  (float)gfxt_random(9) / 8, (float)gfxt_random(9) / 8 };

		do {
			for (int i = 0; i < 6; i++)
				soup[n][i / 2][i % 2] = (int)gfxt_random(256 * SIDE / 2) * 2 + 1;
		} while (on_edge(soup[n]));
		for (int i = 0; i < 3; i++) {
			struct gfxt_vertex *v = &soup_vertices[3 * n + i];

			*v = (struct gfxt_vertex) {
				{ (float)soup[n][i][0] / (128 * SIDE) - 1,
				  (float)soup[n][i][1] / (128 * SIDE) - 1, z, 1 }, { 0 },
			};
			memcpy(v->color, color, sizeof(color));
		}
	}
}

/* ---- Stores and atomics ---------------------------------------------------------------------- */

/* Adds 1 to the word of the pixel at u0. */
#define COUNT \
	GFX_PLACE \
	"clause {\n*LSHIFT_OR.i32 r8:t0, r9, r8, 0x5\n+NOP\n*NOP\n+NOP\n}\n" \
	"clause message=atomic slot=0 {\n" \
	"*SHADDXL.u32 t0, u0.w0, r8, shift:2\n+SHADDXH.i32 t1, u0.w1, t\n" \
	"*ATOM_C1.i32.ainc t0, t1\n+ATOM_CX t0, t1, zero.w0, @r4\n}\n"
/* Stores the number of the primitive (plus 1) at u1. */
#define LEAVE \
	"clause {\n*IADDC.i32 r7:t0, r57, 0x1, #0\n+NOP\n*NOP\n+NOP\n}\n" \
	"clause message=store slot=0 {\n" \
	"*SHADDXL.u32 t0, u1.w0, r8, shift:2\n+SHADDXH.i32 t1, u1.w1, t\n" \
	"*NOP\n+STORE.i32 t0, t1, @r7\n}\n"
#define END "clause end {\n*NOP\n+NOP\n}\n"

static uint64_t words(uint32_t **cpu)
{
	struct tsr_alloc memory = { 0 };

	ktap_eq(tsr_pool_alloc(t.data, 4 * TEXELS, 64, &memory), 0);
	*cpu = memset(memory.cpu, 0, 4 * TEXELS);
	return memory.va;
}

/* Each fragment counts once, in its pixel; the last primitive's number stays. */
static void stores(uint32_t flags)
{
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
	struct tsr_gfx_pipeline *p;
	uint32_t *count, *last, wrong = 0;
	uint64_t push[2];

	cook(0.5f);
	fragment_flags = TSR_GFX_FRAGMENT_SIDE_EFFECTS | flags;
	p = make(COUNT LEAVE END);
	push[0] = words(&count);
	push[1] = words(&last);
	ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 4, push), 0);
	gfxt_plain(&t, pass, p, soup_vertices, 3 * SOUP);
	gfxt_drawn(pass);
	for (int i = 0; i < TEXELS; i++) {
		uint32_t times = 0, number = 0;

		for (int n = 0; n < SOUP; n++) {
			if (covers(soup[n], i % SIDE, i / SIDE))
				times++, number = (uint32_t)n + 1;
		}
		wrong += count[i] != times || last[i] != number;
	}
	ktap_eq(wrong, 0);
	tsr_gfx_pipeline_unref(p);
	tsr_image_unref(image);
}

static void uav(void)
{
	stores(0);
	stores(TSR_GFX_FRAGMENT_HELPERS);
}

/*
 * Half of the picture is near already. With EARLY_TESTS programs run only where the test passes;
 * without, everywhere. What is discarded leaves its depth with EARLY_TESTS, and none without.
 */
static void early(bool forced, bool discard)
{
	static const float near[4] = { 0.25f, 0.25f, 0.25f, 1 };
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_R32F, SIDE, 1);
	const struct tsr_gfx_pass_info info = {
		.depth = { .image = image, .load = TSR_GFX_LOAD_CLEAR, .clear.f[0] = 1 },
	};
	struct tsr_gfx_pass *pass = gfxt_begin(&t, &info);
	const struct tsr_gfx_depth test = { .test = true, .write = true,
					    .function = TSR_COMPARE_FUNCTION_LESS };
	struct tsr_gfx_pipeline *plain, *p;
	uint32_t *count, wrong = 0;
	float z[TEXELS];
	uint64_t push;

	depth = test;
	plain = make(GFX_ATEST("r60") GFX_BLEND);
	depth = test;
	fragment_flags = TSR_GFX_FRAGMENT_SIDE_EFFECTS |
		(forced ? TSR_GFX_FRAGMENT_EARLY_TESTS : 0) |
			 (discard ? TSR_GFX_FRAGMENT_DISCARDS : 0);
	p = make(discard ? COUNT "clause {\n*NOP\n+DISCARD.f32.eq 0x0, 0x0\n}\n" END : COUNT END);
	push = words(&count);
	ktap_eq(tsr_gfx_set_scissor(pass, 0, &(struct tsr_rect){ .width = SIDE / 2,
								 .height = SIDE }), 0);
	gfxt_fill(&t, pass, plain, 0.25f, near);
	ktap_eq(tsr_gfx_set_scissor(pass, 0, &(struct tsr_rect){ .width = SIDE,
								 .height = SIDE }), 0);
	ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 2, &push), 0);
	gfxt_fill(&t, pass, p, 0.5f, near);
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, z, 4 * SIDE);
	for (int i = 0; i < TEXELS; i++) {
		const bool hidden = i % SIDE < SIDE / 2;
		const float want = hidden ? 0.25f : discard && !forced ? 1 : 0.5f;

		wrong += count[i] != (forced && hidden ? 0 : 1) || z[i] != want;
	}
	if (!ktap_eq(wrong, 0))
		ktap_note("forced %d, discard %d", forced, discard);
	tsr_gfx_pipeline_unref(plain);
	tsr_gfx_pipeline_unref(p);
	tsr_image_unref(image);
}

static void early_tests(void)
{
	for (int i = 0; i < 4; i++)
		early(i & 1, i & 2);
}

/* ---- Colors that depend on what is there ---------------------------------------------------- */

#define COLOR \
	"clause message=varying slot=0 wait=0,6 {\n" \
	"*NOP\n+LD_VAR_IMM.f32.store.center.v4 zero.w1, index:0, @r0\n}\n"
/* The target's color of this pixel in R4 to R7; u2 is the conversion. */
#define FETCH \
	"clause wait=0 {\n*MOV.i32 r8, 0xff000000\n+NOP\n*MOV.i32 r9, u2.w0\n+NOP\n" \
	"*NOP\n+NOP\n}\n" \
	"clause slot=0 wait=0 {\n*NOP\n+LD_TILE.v4 r8, r60, r9, @r4\n}\n"
#define HALVE_AND_ADD \
	"clause {\n*FMA.f32 r0, r4, 0x3f000000, r0\n+NOP\n*FMA.f32 r1, r5, 0x3f000000, r1\n+NOP\n" \
	"*FMA.f32 r2, r6, 0x3f000000, r2\n+NOP\n*FMA.f32 r3, r7, 0x3f000000, r3\n+NOP\n" \
	"*NOP\n+NOP\n}\n"

static const char fetching[] = COLOR FETCH HALVE_AND_ADD GFX_ATEST("r60") GFX_BLEND;
static const char plain[] = COLOR GFX_ATEST("r60") GFX_BLEND;
/* As a program of the blend: it returns to 0, the end. */
static const char blender[] =
	FETCH HALVE_AND_ADD
	"clause slot=0 wait=0 {\n*NOP\n+ST_TILE.v4 r8, r60, r9, @r0\n}\n"
	"clause flow=nbtb {\n*NOP\n+JUMP r48\n}\n";
static const char two_sources[] =
	COLOR
	"clause {\n*MOV.i32 r4, 0x3f000000\n+MOV.i32 r5, 0x3e800000\n"
	"*MOV.i32 r6, 0\n+MOV.i32 r7, 0x3f000000\n*NOP\n+NOP\n}\n"
	GFX_ATEST("r60") GFX_BLEND;

/* One triangle's effect on a pixel of four components. */
static void blend_half(float *at, const float *c)
{
	for (int i = 0; i < 4; i++)
		at[i] = fmaf(at[i], 0.5f, c[i]);
}

static void blend_dual(float *at, const float *c)
{
	static const float second[4] = { 0.5f, 0.25f, 0, 0.5f };

	for (int i = 0; i < 4; i++)
		at[i] = c[i] + at[i] * second[i];
}

/* A soup over a target of floats: they are exact, whatever the order of the tiles. */
static void in_order(const char *text, void (*effect)(float *at, const float *c))
{
	static float pixels[TEXELS][4];
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA32F, SIDE, 1);
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, white);
	const uint32_t push[2] = { TSR_REGISTER_TYPE_F32 << 24 | TSR_PIXEL_FORMAT_RGBA32F << 12 };
	struct tsr_gfx_pipeline *p;
	unsigned int wrong = 0;

	cook(0.5f);
	p = make(text);
	ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 4, 2, push), 0);
	gfxt_plain(&t, pass, p, soup_vertices, 3 * SOUP);
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, pixels, 16 * SIDE);
	for (int i = 0; i < TEXELS; i++) {
		float want[4] = { 1, 1, 1, 1 };

		for (int n = 0; n < SOUP; n++) {
			if (covers(soup[n], i % SIDE, i / SIDE))
				effect(want, soup_vertices[3 * n].color);
		}
		wrong += memcmp(want, pixels[i], sizeof(want)) != 0;
	}
	ktap_eq(wrong, 0);
	tsr_gfx_pipeline_unref(p);
	tsr_image_unref(image);
}

static void framebuffer_fetch(void)
{
	fragment_flags = TSR_GFX_FRAGMENT_READS_TARGETS;
	in_order(fetching, blend_half);
}

static void blend_program(void)
{
	struct tsr_gfx_blend blend = { .mask = 0xf, .registers = TSR_REGISTER_TYPE_F32,
				       .shader = gfxt_program(&t, blender) };

	blends = &blend;
	blend_count = 1;
	in_order(plain, blend_half);
	tsr_shader_unref(blend.shader);
}

static void dual_source(void)
{
	struct tsr_gfx_blend blend = {
		.mask = 0xf, .registers = TSR_REGISTER_TYPE_F32, .enable = true,
		.src_color = TSR_BLEND_FACTOR_ONE, .dst_color = TSR_BLEND_FACTOR_SRC1_COLOR,
		.src_alpha = TSR_BLEND_FACTOR_ONE, .dst_alpha = TSR_BLEND_FACTOR_SRC1_ALPHA,
	};

	blends = &blend;
	blend_count = 1;
	in_order(two_sources, blend_dual);
}

static uint8_t operated(uint32_t op, uint8_t s, uint8_t d)
{
	const uint8_t of[16] = {
		0, s & d, s & ~d, s, ~s & d, d, s ^ d, s | d, ~(s | d), ~(s ^ d), ~d, s | ~d, ~s,
		~s | d, ~(s & d), 255,
	};

	return of[op];
}

static void logic_ops(void)
{
	static const uint8_t source[4] = { 0x3c, 0xa5, 0x0f, 0xf1 };
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	const struct tsr_gfx_pass_info info = { .color[0] = { .image = image,
							       .load = TSR_GFX_LOAD_CONTENT } };
	uint8_t was[4 * TEXELS], is[4 * TEXELS];
	float color[4];

	for (int c = 0; c < 4; c++)
		color[c] = (float)source[c] / 255;
	for (uint32_t op = 0; op < 16; op++) {
		struct tsr_gfx_pass *pass = gfxt_begin(&t, &info);
		struct tsr_gfx_pipeline *p;
		unsigned int wrong = 0;

		for (int i = 0; i < 4 * TEXELS; i++)
			was[i] = (uint8_t)gfxt_random(256);
		ktap_eq(tsr_image_write(image, 0, 0, was, 4 * SIDE), 0);
		logic = true;
		logic_op = op;
		p = make(plain);
		gfxt_fill(&t, pass, p, 0, color);
		gfxt_drawn(pass);
		gfxt_read(image, 0, 0, is, 4 * SIDE);
		for (int i = 0; i < 4 * TEXELS; i++)
			wrong += is[i] != operated(op, source[i % 4], was[i]);
		if (!ktap_eq(wrong, 0))
			ktap_note("operation %u", op);
		tsr_gfx_pipeline_unref(p);
	}
	tsr_image_unref(image);
}

/* ---- Eight targets --------------------------------------------------------------------------- */

/* 0.25, 0.5, 0.75, 1 in each format, by hand from the formats' definitions. */
static const struct target {
	uint32_t format;
	bool srgb;
	uint8_t bytes;
	uint32_t order;
	uint8_t want[16];
} targets[8] = {
	{ TSR_PIXEL_FORMAT_RGBA8_UNORM, false, 4, 0, { 64, 128, 191, 255 } },
	/* sRGB of 0.25, 0.5, 0.75: 137, 188, 225 */
	{ TSR_PIXEL_FORMAT_RGBA8_UNORM, true, 4, 0, { 137, 188, 225, 255 } },
	{ TSR_PIXEL_FORMAT_RGBA8_UNORM, false, 4, TSR_COMPONENT_ORDER_BGRA,
	  { 191, 128, 64, 255 } },
	{ TSR_PIXEL_FORMAT_RGBA8_SNORM, false, 4, 0, { 32, 64, 95, 127 } },
	/* 256, 512 (511.5 to even), 767, 3 */
	{ TSR_PIXEL_FORMAT_RGB10_A2_UNORM, false, 4, 0, { 0x00, 0x01, 0xf8, 0xef } },
	{ TSR_PIXEL_FORMAT_RGBA16F, false, 8, 0, { 0, 0x34, 0, 0x38, 0, 0x3a, 0, 0x3c } },
	{ TSR_PIXEL_FORMAT_RG16_UNORM, false, 4, 0, { 0x00, 0x40, 0x00, 0x80 } },
	{ TSR_PIXEL_FORMAT_RGBA32F, false, 16, 0,
	  { 0, 0, 0x80, 0x3e, 0, 0, 0, 0x3f, 0, 0, 0x40, 0x3f, 0, 0, 0x80, 0x3f } },
};

static const char to_all[] =
	COLOR GFX_ATEST("r60")
#define TO(n) \
	"clause slot=0 wait=0 {\n*NOP\n+BLEND r48:t1, r60, blend" n ".w0, blend" n ".w1, @r0\n" \
	"}\n"
	TO("0") TO("1") TO("2") TO("3") TO("4") TO("5") TO("6")
	"clause end {\n*NOP\n+BLEND r48:t1, r60, blend7.w0, blend7.w1, @r0\n}\n";

static void eight_targets(void)
{
	static const float color[4] = { 0.25f, 0.5f, 0.75f, 1 };
	struct tsr_gfx_pass_info info = { .width = 0 };
	struct tsr_gfx_blend each[8];
	struct tsr_gfx_pipeline *p;
	struct tsr_gfx_pass *pass;
	uint8_t texels[16 * TEXELS];

	for (int n = 0; n < 8; n++) {
		const struct tsr_image_info image = {
			.format = targets[n].format, .srgb = targets[n].srgb,
			.order = targets[n].order, .width = SIDE, .height = SIDE,
		};

		info.color[n].load = TSR_GFX_LOAD_CLEAR;
		ktap_eq(tsr_image_create(t.vm, &image, sizeof(image), &info.color[n].image), 0);
		each[n] = (struct tsr_gfx_blend){ .mask = 0xf, .registers = TSR_REGISTER_TYPE_F32 };
	}
	blends = each;
	blend_count = 8;
	p = make(to_all);
	pass = gfxt_begin(&t, &info);
	gfxt_fill(&t, pass, p, 0, color);
	gfxt_drawn(pass);
	for (int n = 0; n < 8; n++) {
		unsigned int wrong = 0;

		gfxt_read(info.color[n].image, 0, 0, texels, targets[n].bytes * SIDE);
		for (int i = 0; i < TEXELS; i++)
			wrong += memcmp(texels + i * targets[n].bytes, targets[n].want,
					targets[n].bytes) != 0;
		if (!ktap_eq(wrong, 0))
			ktap_note("target %d: %02x %02x %02x %02x", n, texels[0], texels[1],
				  texels[2], texels[3]);
		tsr_image_unref(info.color[n].image);
	}
	tsr_gfx_pipeline_unref(p);
}

/* Any mask of components of one target. */
static void masks(void)
{
	static const uint8_t old[4] = { 10, 20, 30, 40 };
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	float clear[4];
	uint8_t texels[4 * TEXELS];

	for (int c = 0; c < 4; c++)
		clear[c] = (float)old[c] / 255;
	for (uint8_t mask = 0; mask < 16; mask++) {
		struct tsr_gfx_blend blend = { .mask = mask, .registers = TSR_REGISTER_TYPE_F32 };
		struct tsr_gfx_pass *pass = gfxt_one(&t, image, clear);
		struct tsr_gfx_pipeline *p;
		unsigned int wrong = 0;

		blends = &blend;
		blend_count = 1;
		p = make(plain);
		gfxt_fill(&t, pass, p, 0, white);
		gfxt_drawn(pass);
		gfxt_read(image, 0, 0, texels, 4 * SIDE);
		for (int i = 0; i < 4 * TEXELS; i++)
			wrong += texels[i] != (mask >> i % 4 & 1 ? 255 : old[i % 4]);
		ktap_eq(wrong, 0);
		tsr_gfx_pipeline_unref(p);
	}
	tsr_image_unref(image);
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* The number of the sample, plus 1; a run for each covered sample, which the query counts. */
static const char sample_number[] =
	"clause {\n*RSHIFT_OR.i32 r0:t0, r61, #0, 0x10.b0\n+NOP\n"
	"*LSHIFT_AND.i32 r0:t0, t0, 0x1f, 0x0.b0\n+NOP\n"
	"*IADDC.i32 r0:t0, t0, 0x1, #0\n+NOP\n*NOP\n+NOP\n}\n"
	GFX_ATEST("r60") GFX_BLEND;

static void sample_shading(void)
{
	for (uint32_t samples = 2; samples <= 16; samples *= 2) {
		struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_R32UI, SIDE, samples);
		struct tsr_gfx_blend blend = { .mask = 0xf, .registers = TSR_REGISTER_TYPE_U32 };
		struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
		uint32_t *statistics, covered = 0, wrong = 0;
		struct tsr_gfx_pipeline *p;
		struct tsr_surface surface;
		uint64_t va = words(&statistics);
		void *cpu;

		cook(0.5f);
		blends = &blend;
		blend_count = 1;
		fragment_flags = TSR_GFX_FRAGMENT_SAMPLE_SHADING;
		p = make(sample_number);
		ktap_eq(tsr_gfx_query(pass, TSR_QUERY_STATISTICS, va), 0);
		gfxt_plain(&t, pass, p, soup_vertices, 3);
		gfxt_drawn(pass);
		for (uint32_t s = 0; s < samples; s++) {
			ktap_eq(tsr_image_get_surface(image, 0, 0, s, &surface, &cpu), 0);
			for (int i = 0; i < TEXELS; i++) {
				const uint32_t *at = (const uint32_t *)((char *)cpu + i / SIDE *
							surface.pitch) + i % SIDE;

				covered += *at != 0;
				wrong += *at && *at != s + 1;
			}
		}
		ktap_eq(wrong, 0);
		ktap_ok(covered > 0);
		ktap_eq(statistics[2 * 5], covered);
		tsr_gfx_pipeline_unref(p);
		tsr_image_unref(image);
	}
}

int main(void)
{
	ktap_start();
	gfxt_open(&t);
	ktap_run("[PIX6] [PIX1] fragments store and count in memory, helpers do not", uav);
	ktap_run("[PIX6] [ZS3] EARLY_TESTS stand before stores, others behind, discard or not",
		 early_tests);
	ktap_run("[OM4] [OM2] fragments read the target, in order", framebuffer_fetch);
	ktap_run("[OM4] blending by a program, in order", blend_program);
	ktap_run("[OM1] blending with two sources", dual_source);
	ktap_run("[OM1] all logic operations", logic_ops);
	ktap_run("[PIX5] [OM5] eight targets of eight formats", eight_targets);
	ktap_run("[OM1] all write masks", masks);
	ktap_run("[RAST6] [PIX9] a run for each sample, and no other", sample_shading);
	gfxt_close(&t);
	return ktap_finish();
}
