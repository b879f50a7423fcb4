// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * Counters of the texture caches on a coherent scene: texels used for the first time, blocks
 * filled and decoded, lines read, for textures of plain texels and of compressed blocks. A monitor
 * counts the same again and again, whatever threads the device has.
 */
#include "gfxdraw.h"
#include "tsr_regs.h"

static struct gfxt t;
static const float black[4], white[4] = { 1, 1, 1, 1 };
static struct tsr_shader *fragment;

struct format {
	const char *name;
	uint32_t number;		/* enum tsr_pixel_format */
	uint32_t bytes;			/* of a block */
	uint32_t side;			/* texels along an edge of a block; 1: not compressed */
	bool srgb;			/* the format before with the sRGB curve */
};

static void change(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	blend->registers = TSR_REGISTER_TYPE_F32;
	info->fragment = fragment;
}

#define SCENE	128u		/* texels along an edge of the texture; pixels of a scene */
#define SCENES	10u

/* Counters of a scene, as the monitor has them. */
static const uint32_t counted[] = {
	TSR_QUEUE_COUNTER_TEXTURE_SAMPLES, TSR_QUEUE_COUNTER_TEXTURE_TOUCHES,
	TSR_QUEUE_COUNTER_TEXTURE_FILLS, TSR_QUEUE_COUNTER_TEXTURE_DECODES,
	TSR_QUEUE_COUNTER_TEXTURE_MISSES,
};

enum { SAMPLES, TOUCHES, FILLS, DECODES, MISSES, COUNTED };

/* A texture of SCENE texels square of any bits. */
static struct tsr_image *scene_image(const struct format *f)
{
	const struct tsr_image_info info = {
		.format = f->number, .layout = TSR_LAYOUT_TILED, .width = SCENE, .height = SCENE,
		.block_width = f->side, .block_height = f->side, .srgb = f->srgb,
	};
	static uint8_t bits[SCENE * SCENE * 4];
	struct tsr_image *image = NULL;

	for (size_t i = 0; i < sizeof(bits); i++)
		bits[i] = (uint8_t)gfxt_random(256);
	if (ktap_eq(tsr_image_create(t.vm, &info, sizeof(info), &image), 0))
		ktap_eq(tsr_image_write(image, 0, 0, bits, SCENE / f->side * f->bytes), 0);
	return image;
}

/* A picture covered by the texture, turned and at most a quarter of a level away from its size. */
static void scene_vertices(struct gfxt_vertex v[3])
{
	const double scale = exp2(gfxt_random(1000) / 4000.0), turn = gfxt_random(6283) / 1000.0;
	const double at[2] = { gfxt_random(1000) / 1000.0, gfxt_random(1000) / 1000.0 };

	gfxt_cover(v, 0, white);
	for (int i = 0; i < 3; i++) {
		const double x = v[i].position[0] / 2, y = v[i].position[1] / 2;

		v[i].color[0] = (float)(at[0] + scale * (x * cos(turn) + y * sin(turn)));
		v[i].color[1] = (float)(at[1] + scale * (y * cos(turn) - x * sin(turn)));
	}
}

static void draw_scenes(const struct format *f, struct tsr_gfx_pipeline *p,
			uint64_t values[COUNTED])
{
	struct tsr_image *image = scene_image(f);
	struct tsr_image *target = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SCENE, 1);
	const struct tsr_view view = { .image = image };
	struct tsr_sampler_state sampler;
	const struct tsr_gfx_bindings_info bindings = {
		.textures = &view, .texture_count = 1, .samplers = &sampler, .sampler_count = 1,
	};
	struct tsr_perfmon *perfmon = NULL;

	tsr_sampler_init(&sampler, TSR_WRAP_MODE_REPEAT, true);
	ktap_eq(tsr_perfmon_create(t.device, counted, COUNTED, &perfmon), 0);
	gfxt_seed = 77;
	for (unsigned int i = 0; i < SCENES; i++) {
		struct tsr_gfx_pass *pass = gfxt_one(&t, target, black);
		struct gfxt_vertex v[3];

		tsr_gfx_set_perfmon(pass, perfmon);
		ktap_eq(tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings,
					     sizeof(bindings)), 0);
		scene_vertices(v);
		gfxt_plain(&t, pass, p, v, 3);
		gfxt_drawn(pass);
	}
	ktap_eq(tsr_perfmon_read(perfmon, values, false), 0);
	tsr_perfmon_unref(perfmon);
	tsr_image_unref(target);
	tsr_image_unref(image);
}

/* 1.25 first touches and 0.08 fills a bilinear sample, of any format; lines are compressed ones. */
static void scenes(void)
{
	static const struct format formats[] = {
		{ "rgba8", TSR_PIXEL_FORMAT_RGBA8_UNORM, 4, 1, false },
		{ "rgba8 srgb", TSR_PIXEL_FORMAT_RGBA8_UNORM, 4, 1, true },
		{ "bc1", TSR_PIXEL_FORMAT_BC1_UNORM, 8, 4, false },
		{ "bc1 srgb", TSR_PIXEL_FORMAT_BC1_UNORM, 8, 4, true },
		{ "bc7", TSR_PIXEL_FORMAT_BC7_UNORM, 16, 4, false },
		{ "etc2", TSR_PIXEL_FORMAT_ETC2_RGB8, 8, 4, false },
		{ "astc", TSR_PIXEL_FORMAT_ASTC_2D_LDR, 16, 8, false },
	};
	uint64_t before[COUNTED] = { 0 };
	struct tsr_gfx_pipeline *p;
	double rgba8 = 0;

	fragment = gfxt_program(&t,
		"clause message=vartex slot=0 wait=0,6 {\n*NOP\n+VAR_TEX.f32.store.center.skip."
		"computed_lod varying_index:0, texture_index:0, @r0\n}\n"
		GFX_ATEST("r60") GFX_BLEND);
	p = gfxt_pipeline(&t, change);
	tsr_shader_unref(fragment);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const struct format *f = &formats[i];
		uint64_t n[COUNTED] = { 0 }, again[COUNTED] = { 0 };
		double samples, share = f->bytes / 4.0 / (f->side * f->side);

		draw_scenes(f, p, n);
		draw_scenes(f, p, again);
		ktap_mem_eq(again, n, sizeof(n));
		/* texels are linear when they are in the L1, so they need no more of it */
		if (f->srgb)
			ktap_mem_eq(n, before, sizeof(n));
		memcpy(before, n, sizeof(n));
		ktap_eq(n[SAMPLES], SCENES * SCENE * SCENE);
		samples = (double)n[SAMPLES];
		rgba8 = i ? rgba8 : (double)n[MISSES];
		ktap_note("%s: touches %.3f, fills %.4f, decodes %.4f, lines %.4f", f->name,
			  n[TOUCHES] / samples, n[FILLS] / samples, n[DECODES] / samples,
			  n[MISSES] / samples);
		ktap_ok(n[TOUCHES] / samples > 1.0 && n[TOUCHES] / samples < 1.5);
		ktap_ok(n[FILLS] / samples > 0.06 && n[FILLS] / samples < 0.11);
		ktap_ok(n[MISSES] > 0.9 * share * rgba8 && n[MISSES] < 1.1 * share * rgba8);
		if (f->side <= 4)
			ktap_eq(n[DECODES], f->side == 4 ? n[FILLS] : 0);
		else
			ktap_ok(n[DECODES] > 0.2 * n[FILLS] && n[DECODES] < 0.6 * n[FILLS]);
	}
	tsr_gfx_pipeline_unref(p);
}

int main(void)
{
	ktap_start();
	gfxt_open(&t);
	ktap_run("[TEX7] 1.25 texels and 0.08 blocks a bilinear sample in every family of formats",
		 scenes);
	gfxt_close(&t);
	return ktap_finish();
}
