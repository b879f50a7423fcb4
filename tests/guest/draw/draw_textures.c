// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * Textures in fragment programs, and pictures that become textures: single texels of all kinds of
 * images, comparisons, gathers, levels; a target read by the next job. Texels are what the CPU has
 * written, or what it reckons.
 */
#include "gfxdraw.h"
#include "tsr_regs.h"

#define SIDE	16
#define TEXELS	(SIDE * SIDE)

static struct gfxt t;
static const float black[4], white[4] = { 1, 1, 1, 1 };

static uint32_t registers;

static struct tsr_shader *fragment;
static uint32_t fragment_flags;

static void change(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	blend->registers = registers;
	info->fragment = fragment;
	info->fragment_flags = fragment_flags;
}

static struct tsr_gfx_pipeline *make(const char *text, uint32_t type, uint32_t flags)
{
	struct tsr_gfx_pipeline *p;

	registers = type;
	fragment_flags = flags;
	fragment = gfxt_program(&t, text);
	p = gfxt_pipeline(&t, change);
	tsr_shader_unref(fragment);
	return p;
}

/* Words of TEXC: what is done, at what, with which result. */
#define IMMEDIATE	(1u << 11)
#define FETCH		(TSR_TEXTURE_OPERATION_FETCH << 12 | IMMEDIATE)
#define SAMPLE		(TSR_TEXTURE_OPERATION_SAMPLE << 12 | IMMEDIATE)
#define OFFSET		(1u << 15)
#define SHADOW		(1u << 16)
#define ARRAY		(1u << 17)
#define DIMENSION(n)	((uint32_t)TSR_TEXTURE_DIMENSION_##n << 18)
#define MODE(n)		((uint32_t)(n) << 20)
#define RESULT(n)	((uint32_t)TSR_TEXTURE_RESULT_##n << 24)
#define MASK(n)		((uint32_t)(n) << 28)

#define STAGE_PUSH \
	"clause {\n*MOV.i32 r0, u0.w0\n+MOV.i32 r1, u0.w1\n" \
	"*MOV.i32 r2, u1.w0\n+MOV.i32 r3, u1.w1\n*NOP\n+NOP\n}\n"
#define END	GFX_ATEST("r60") GFX_BLEND

static void bind(struct tsr_gfx_pass *pass, const struct tsr_view *view,
		 const struct tsr_sampler_state *sampler)
{
	const struct tsr_gfx_bindings_info bindings = {
		.textures = view, .texture_count = 1, .samplers = sampler,
		.sampler_count = sampler != NULL,
	};

	if (!ktap_eq(tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings,
					  sizeof(bindings)), 0))
		ktap_note("%s", tsr_error_message());
}

/* ---- Single texels --------------------------------------------------------------------------- */

static const struct kind {
	const char *name;
	struct tsr_image_info info;
	uint32_t dimension;		/* of the view */
	uint32_t word;			/* with ARRAY, OFFSET; not FETCH */
} kinds[] = {
	{ "1D", { .width = SIDE, .height = 1, .levels = 5 }, TSR_VIEW_1D, DIMENSION(1D) },
	{ "2D", { .width = SIDE, .height = SIDE, .levels = 4 }, 0, DIMENSION(2D) },
	{ "tiled 2D", { .width = SIDE, .height = SIDE, .levels = 3, .layout = TSR_LAYOUT_TILED }, 0,
	  DIMENSION(2D) },
	{ "2D array", { .width = SIDE, .height = SIDE, .layers = 5, .levels = 2 }, 0,
	  DIMENSION(2D) | ARRAY },
	{ "3D", { .width = SIDE, .height = SIDE, .depth = 6, .levels = 2 }, 0, DIMENSION(3D) },
	{ "cube, as an array",
	  { .width = SIDE, .height = SIDE, .layers = 6, .flags = TSR_IMAGE_CUBE },
	  TSR_VIEW_2D, DIMENSION(2D) | ARRAY },
	{ "2D of 4 samples", { .width = SIDE, .height = SIDE, .samples = 4 }, 0,
	  DIMENSION(2D) | OFFSET },
	{ "array of 2 samples", { .width = SIDE, .height = SIDE, .layers = 3, .samples = 2 }, 0,
	  DIMENSION(2D) | OFFSET | ARRAY },
};

/* Words from the front of R0: z, level, layer, sample, as far as the word asks for them. */
static void staged(const struct kind *k, uint32_t level, uint32_t layer, uint32_t sample,
		   uint32_t words[4])
{
	unsigned int n = 0;

	if (k->info.depth)
		words[n++] = layer;
	words[n++] = level << 8;
	if (k->word & ARRAY)
		words[n++] = layer;
	if (k->word & OFFSET)
		words[n++] = sample << 24;
}

/* Fill a surface with random texels; keep them. */
static void fill_surface(struct tsr_image *image, uint32_t level, uint32_t layer,
			 uint32_t sample, uint32_t *texels, uint32_t *width, uint32_t *height)
{
	struct tsr_surface surface;
	void *cpu;

	ktap_eq(tsr_image_get_surface(image, level, layer, sample, &surface, &cpu), 0);
	*width = surface.width;
	*height = surface.height;
	for (uint32_t i = 0; i < *width * *height; i++)
		texels[i] = gfxt_random(1u << 31);
	ktap_eq(tsr_surface_write(&surface, cpu, 0, 0, *width, *height, texels,
				  4 * *width), 0);
}

/* Each pixel fetches the texel of its place; outside of the surface it is 0. */
static void fetch_surface(const struct kind *k, struct tsr_image *image,
			  struct tsr_gfx_pipeline *p, uint32_t level, uint32_t layer,
			  uint32_t sample)
{
	struct tsr_image *target = gfxt_image(&t, TSR_PIXEL_FORMAT_R32UI, SIDE, 1);
	const struct tsr_view view = { .image = image, .dimension = k->dimension };
	struct tsr_gfx_pass *pass = gfxt_one(&t, target, black);
	uint32_t texels[TEXELS], got[TEXELS], words[4] = { 0 }, width, height, wrong = 0;

	fill_surface(image, level, layer, sample, texels, &width, &height);
	staged(k, level, layer, sample, words);
	bind(pass, &view, NULL);
	ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 4, words), 0);
	gfxt_fill(&t, pass, p, 0, white);
	gfxt_drawn(pass);
	gfxt_read(target, 0, 0, got, 4 * SIDE);
	for (uint32_t i = 0; i < TEXELS; i++) {
		const uint32_t x = i % SIDE, y = i / SIDE;
		const bool inside = x < width && (y < height || k->dimension == TSR_VIEW_1D);

		wrong += got[i] != (inside ? texels[height == 1 ? x : y * width + x] : 0);
	}
	if (!ktap_eq(wrong, 0))
		ktap_note("%s: level %u, layer %u, sample %u", k->name, level, layer, sample);
	tsr_image_unref(target);
}

static void fetches(void)
{
	for (size_t n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++) {
		struct tsr_image_info info = kinds[n].info;
		struct tsr_image *image = NULL;
		struct tsr_gfx_pipeline *p;
		char text[1000];

		info.format = TSR_PIXEL_FORMAT_R32UI;
		ktap_eq(tsr_image_create(t.vm, &info, sizeof(info), &image), 0);
		tsr_image_get_info(image, &info, sizeof(info));
		snprintf(text, sizeof(text), GFX_PLACE STAGE_PUSH
			 "clause message=tex slot=0 wait=0,6 {\n*NOP\n"
			 "+TEXC.skip r8, r9, 0x%x, @r0\n}\n" END,
			 FETCH | MODE(TSR_TEXTURE_FETCH_TEXEL) | RESULT(U32) | MASK(15) |
			 kinds[n].word);
		p = make(text, TSR_REGISTER_TYPE_U32, 0);
		for (uint32_t level = 0; level < info.levels; level++)
			for (uint32_t l = 0; l < (info.depth ? info.depth >> level : info.layers);
			     l++)
				for (uint32_t s = 0; s < info.samples; s++)
					fetch_surface(&kinds[n], image, p, level, l, s);
		tsr_gfx_pipeline_unref(p);
		tsr_image_unref(image);
	}
}

/* ---- Comparisons and gathers ----------------------------------------------------------------- */

/* The middle of the pixel in texels in R8 and R9. */
#define MIDDLE \
	GFX_PLACE \
	"clause {\n*NOP\n+U32_TO_F32 r8:t1, r8\n*NOP\n+FADD.f32 r8:t1, t1, 0x3f000000\n" \
	"*NOP\n+U32_TO_F32 r9:t1, r9\n*NOP\n+FADD.f32 r9:t1, t1, 0x3f000000\n*NOP\n+NOP\n}\n"

static void shadows(void)
{
	struct tsr_image *map = gfxt_image(&t, TSR_PIXEL_FORMAT_R32F, SIDE, 1);
	struct tsr_image *target = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA32F, SIDE, 1);
	const struct tsr_view view = { .image = map };
	const float reference[4] = { 0.5f };
	float texels[TEXELS], got[TEXELS][4];
	struct tsr_gfx_pipeline *p;
	struct tsr_sampler_state sampler;
	char text[1000];

	snprintf(text, sizeof(text), MIDDLE STAGE_PUSH
		 "clause message=tex slot=0 wait=0,6 {\n*NOP\n"
		 "+TEXC.skip r8, r9, 0x%x, @r0\n}\n" END,
		 SAMPLE | SHADOW | DIMENSION(2D) | MODE(TSR_TEXTURE_LOD_ZERO) | RESULT(F32) |
		 MASK(1));
	p = make(text, TSR_REGISTER_TYPE_F32, 0);
	for (int i = 0; i < TEXELS; i++)
		texels[i] = (float)gfxt_random(9) / 8;
	ktap_eq(tsr_image_write(map, 0, 0, texels, 4 * SIDE), 0);
	for (uint32_t function = 0; function < 8; function++) {
		struct tsr_gfx_pass *pass = gfxt_one(&t, target, black);
		unsigned int wrong = 0;

		tsr_sampler_init(&sampler, TSR_WRAP_MODE_CLAMP_TO_EDGE, false);
		sampler.normalized = false;
		sampler.compare = function;
		bind(pass, &view, &sampler);
		ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 4, reference), 0);
		gfxt_fill(&t, pass, p, 0, white);
		gfxt_drawn(pass);
		gfxt_read(target, 0, 0, got, 16 * SIDE);
		for (int i = 0; i < TEXELS; i++)
			wrong += got[i][0] != (gfxt_compare(function, texels[i], 0.5f) ? 1 : 0);
		if (!ktap_eq(wrong, 0))
			ktap_note("function %u", function);
	}
	tsr_gfx_pipeline_unref(p);
	tsr_image_unref(map);
	tsr_image_unref(target);
}

/* At the middle of a texel plus half a texel the four are it and its right and lower neighbors. */
static void gathers(void)
{
	static const int at[4][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 1, 1 } };
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA32F, SIDE, 1);
	struct tsr_image *target = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA32F, SIDE, 1);
	const struct tsr_view view = { .image = image };
	float texels[TEXELS][4], got[TEXELS][4];
	struct tsr_sampler_state sampler;
	char text[1100];

	for (int i = 0; i < 4 * TEXELS; i++)
		texels[i / 4][i % 4] = (float)gfxt_random(1000);
	ktap_eq(tsr_image_write(image, 0, 0, texels, 16 * SIDE), 0);
	tsr_sampler_init(&sampler, TSR_WRAP_MODE_REPEAT, true);
	for (int c = 0; c < 4; c++) {
		struct tsr_gfx_pass *pass = gfxt_one(&t, target, black);
		struct tsr_gfx_pipeline *p;
		unsigned int wrong = 0;

		/* (x + 1) / SIDE: the corner between the four */
		snprintf(text, sizeof(text), MIDDLE STAGE_PUSH
			 "clause {\n*FMA.f32 r8, r8, 0x3d800000, 0x3d000000\n+NOP\n"
			 "*FMA.f32 r9, r9, 0x3d800000, 0x3d000000\n+NOP\n*NOP\n+NOP\n}\n"
			 "clause message=tex slot=0 wait=0,6 {\n*NOP\n"
			 "+TEXC.skip r8, r9, 0x%x, @r0\n}\n" END,
			 FETCH | DIMENSION(2D) | MODE(TSR_TEXTURE_FETCH_GATHER_R + c) |
			 RESULT(F32) | MASK(15));
		p = make(text, TSR_REGISTER_TYPE_F32, 0);
		bind(pass, &view, &sampler);
		ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 4, black), 0);
		gfxt_fill(&t, pass, p, 0, white);
		gfxt_drawn(pass);
		gfxt_read(target, 0, 0, got, 16 * SIDE);
		for (int i = 0; i < 4 * TEXELS; i++) {
			const int x = (i / 4 % SIDE + at[i % 4][0]) % SIDE;
			const int y = (i / 4 / SIDE + at[i % 4][1]) % SIDE;

			wrong += got[i / 4][i % 4] != texels[y * SIDE + x][c];
		}
		if (!ktap_eq(wrong, 0))
			ktap_note("component %d: %g %g %g %g", c, got[0][0], got[0][1], got[0][2],
				  got[0][3]);
		tsr_gfx_pipeline_unref(p);
	}
	tsr_image_unref(image);
	tsr_image_unref(target);
}

/* ---- Levels of detail ------------------------------------------------------------------------ */

#define LEVELS 7

/* A texture of 64 texels whose level n holds n; @scale texels for a pixel along x and y. */
static float level_at(struct tsr_image *image, struct tsr_gfx_pipeline *p, float x, float y,
		      uint32_t anisotropy)
{
	struct tsr_image *target = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA32F, SIDE, 1);
	struct tsr_gfx_pass *pass = gfxt_one(&t, target, black);
	const struct tsr_view view = { .image = image };
	struct tsr_sampler_state sampler;
	struct gfxt_vertex v[3];
	float got[TEXELS][4];

	tsr_sampler_init(&sampler, TSR_WRAP_MODE_REPEAT, true);
	sampler.mipmap = TSR_MIPMAP_MODE_LINEAR;
	sampler.max_lod = (LEVELS - 1) << 8;
	if (anisotropy > 1) {
		sampler.lod_algorithm = TSR_LOD_ALGORITHM_ANISOTROPIC;
		sampler.anisotropy = anisotropy - 1;
	}
	bind(pass, &view, &sampler);
	gfxt_cover(v, 0, white);
	for (int i = 0; i < 3; i++) {
		v[i].color[0] = (v[i].position[0] + 1) / 2 * SIDE * x / 64;
		v[i].color[1] = (v[i].position[1] + 1) / 2 * SIDE * y / 64;
	}
	gfxt_plain(&t, pass, p, v, 3);
	gfxt_drawn(pass);
	gfxt_read(target, 0, 0, got, 16 * SIDE);
	for (int i = 1; i < TEXELS; i++)
		ktap_ok(fabsf(got[i][0] - got[0][0]) < 0.01f);
	tsr_image_unref(target);
	return got[0][0];
}

static void levels(void)
{
	static const struct { float x, y; uint32_t anisotropy; float level; } cases[] = {
		{ 1, 1, 1, 0 }, { 2, 2, 1, 1 }, { 4, 1, 1, 2 }, { 1, 8, 1, 3 }, { 16, 16, 1, 4 },
		{ 2.828427f, 1, 1, 1.5f }, { 0.25f, 0.25f, 1, 0 },
		{ 8, 1, 16, 0 }, { 1, 16, 16, 0 }, { 16, 1, 4, 2 }, { 16, 4, 16, 2 },
	};
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_RGBA32F, .width = 64, .height = 64, .levels = LEVELS,
	};
	static float texels[64 * 64][4];
	struct tsr_image *image = NULL;
	struct tsr_gfx_pipeline *p = make(
		"clause message=vartex slot=0 wait=0,6 {\n*NOP\n"
		"+VAR_TEX.f32.store.center.skip.computed_lod varying_index:0, texture_index:0, "
		"@r0\n}\n"
		END, TSR_REGISTER_TYPE_F32, TSR_GFX_FRAGMENT_HELPERS);

	ktap_eq(tsr_image_create(t.vm, &info, sizeof(info), &image), 0);
	for (uint32_t l = 0; l < LEVELS; l++) {
		for (int i = 0; i < 64 * 64; i++)
			texels[i][0] = (float)l;
		ktap_eq(tsr_image_write(image, l, 0, texels, 16 * 64), 0);
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const float got = level_at(image, p, cases[i].x, cases[i].y, cases[i].anisotropy);

		if (!ktap_ok(fabsf(got - cases[i].level) < 0.02f))
			ktap_note("%g x %g, %u places: level %g", (double)cases[i].x,
				  (double)cases[i].y, cases[i].anisotropy, (double)got);
	}
	tsr_gfx_pipeline_unref(p);
	tsr_image_unref(image);
}

/* ---- Targets that are read ------------------------------------------------------------------- */

#define STEPS 24

/*
 * Every pass reads the picture of the one before at the place mirrored in x, and adds 3: two
 * pictures in turn, all passes submitted before the first one is waited for.
 */
static void next_job(void)
{
	struct tsr_image *image[2];
	struct tsr_gfx_pass *pass[STEPS];
	uint32_t texels[TEXELS], got[TEXELS], wrong = 0;
	struct tsr_gfx_pipeline *p;
	char text[1100];

	snprintf(text, sizeof(text), GFX_PLACE
		 "clause {\n*MOV.i32 r0, 0x0\n+NOP\n*NOP\n+ISUB.u32 r8, 0xf, r8\n*NOP\n+NOP\n}\n"
		 "clause message=tex slot=0 wait=0,6 {\n*NOP\n+TEXC.skip r8, r9, 0x%x, @r0\n}\n"
		 "clause {\n*IADDC.i32 r0, r0, 0x3, #0\n+NOP\n*NOP\n+NOP\n}\n" END,
		 FETCH | DIMENSION(2D) | MODE(TSR_TEXTURE_FETCH_TEXEL) | RESULT(U32) | MASK(1));
	p = make(text, TSR_REGISTER_TYPE_U32, 0);
	for (int i = 0; i < 2; i++)
		image[i] = gfxt_image(&t, TSR_PIXEL_FORMAT_R32UI, SIDE, 1);
	for (int i = 0; i < TEXELS; i++)
		texels[i] = gfxt_random(1u << 30);
	ktap_eq(tsr_image_write(image[0], 0, 0, texels, 4 * SIDE), 0);
	for (int i = 0; i < STEPS; i++) {
		const struct tsr_view view = { .image = image[i % 2] };

		pass[i] = gfxt_one(&t, image[1 - i % 2], black);
		bind(pass[i], &view, NULL);
		gfxt_fill(&t, pass[i], p, 0, white);
		ktap_eq(tsr_gfx_submit(pass[i], NULL, 0, NULL, 0), 0);
	}
	for (int i = 0; i < STEPS; i++) {
		ktap_eq(gfxt_wait(pass[i]), 0);
		tsr_gfx_pass_destroy(pass[i]);
	}
	gfxt_read(image[STEPS % 2], 0, 0, got, 4 * SIDE);
	for (int i = 0; i < TEXELS; i++)
		wrong += got[i] != texels[i] + 3 * STEPS;
	ktap_eq(wrong, 0);
	tsr_gfx_pipeline_unref(p);
	for (int i = 0; i < 2; i++)
		tsr_image_unref(image[i]);
}

int main(void)
{
	ktap_start();
	gfxt_open(&t);
	ktap_run("[TEX2] [TEX3] single texels of images of all kinds, levels, layers and samples",
		 fetches);
	ktap_run("[TEX3] comparisons of depth, all functions", shadows);
	ktap_run("[TEX3] gathers of each component", gathers);
	ktap_run("[TEX4] [TEX6] levels from derivatives, with and without anisotropy", levels);
	ktap_run("[CP8] a target is read by the next job, with nobody waiting", next_job);
	gfxt_close(&t);
	return ktap_finish();
}
