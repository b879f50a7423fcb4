// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * Compressed textures: pictures of 128 blocks of every format, drawn texel by texel, linear and
 * tiled, against what other decoders have made of them (tests/blocks); images that cannot be.
 */
#include "gfxdraw.h"

#include "../blocks/soup.h"
#include "tsr_regs.h"

#define COLUMNS	16u		/* blocks of a picture */
#define ROWS	(SOUP_GROUP / COLUMNS)
#define SIDE_MAX (COLUMNS * 12)

static struct gfxt t;
static const float black[4], white[4] = { 1, 1, 1, 1 };
static struct tsr_shader *fragment;

static const struct { const char *name; uint64_t digest[SOUP_BLOCKS / SOUP_GROUP]; } digests[] = {
#define BLOCK_DIGESTS(name, ...) { #name, { __VA_ARGS__ } },
#include "../blocks/digests.h"
};

static void change(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	blend->registers = TSR_REGISTER_TYPE_F32;
	info->fragment = fragment;
}

/* Each pixel has the texel of its place. */
static struct tsr_gfx_pipeline *make_pipeline(void)
{
	struct tsr_gfx_pipeline *p;
	char text[1000];

	snprintf(text, sizeof(text),
		 GFX_PLACE "clause {\n*MOV.i32 r0, 0x0\n+NOP\n}\n"
		 "clause message=tex slot=0 wait=0,6 {\n*NOP\n+TEXC.skip r8, r9, 0x%x, @r0\n}\n"
		 GFX_ATEST("r60") GFX_BLEND,
		 TSR_TEXTURE_OPERATION_FETCH << 12 | 1u << 11 |
		 (uint32_t)TSR_TEXTURE_DIMENSION_2D << 18 | TSR_TEXTURE_FETCH_TEXEL << 20 |
		 (uint32_t)TSR_TEXTURE_RESULT_F32 << 24 | 15u << 28);
	fragment = gfxt_program(&t, text);
	p = gfxt_pipeline(&t, change);
	tsr_shader_unref(fragment);
	return p;
}

static struct tsr_image *make_image(const struct soup_format *f, uint32_t layout)
{
	const struct tsr_image_info info = {
		.format = f->number, .srgb = f->srgb, .layout = layout,
		.width = COLUMNS * f->w, .height = ROWS * f->h,
		.block_width = f->w, .block_height = f->h,
	};
	uint8_t block[16], packed[SOUP_GROUP * 16], back[SOUP_GROUP * 16];
	struct tsr_image *image = NULL;

	if (!ktap_eq(tsr_image_create(t.vm, &info, sizeof(info), &image), 0)) {
		ktap_note("%s: %s", f->name, tsr_error_message());
		return NULL;
	}
	for (uint32_t i = 0; i < SOUP_GROUP; i++) {
		soup_block(f, i, block);
		memcpy(packed + i * f->bytes, block, f->bytes);
	}
	ktap_eq(tsr_image_write(image, 0, 0, packed, COLUMNS * f->bytes), 0);
	ktap_eq(tsr_image_read(image, 0, 0, back, COLUMNS * f->bytes), 0);
	ktap_mem_eq(back, packed, SOUP_GROUP * f->bytes);
	return image;
}

/* The byte that a component was, which the sRGB curve has been taken from if @srgb. */
static uint8_t byte_of(float x, bool srgb)
{
	double y = !srgb ? x : x <= 0.0031308 ? x * 12.92 : 1.055 * pow(x, 1 / 2.4) - 0.055;

	return (uint8_t)(y * 255 + 0.5);
}

/* The digest of a picture, whose texels are taken block by block. */
static uint64_t digest_of(const struct soup_format *f, const float (*texels)[4])
{
	uint64_t digest = SOUP_DIGEST;

	for (uint32_t i = 0; i < SOUP_GROUP * f->w * f->h; i++) {
		uint32_t in = i % (f->w * f->h), block = i / (f->w * f->h);
		uint32_t x = block % COLUMNS * f->w + in % f->w;
		uint32_t y = block / COLUMNS * f->h + in / f->w;
		const float *texel = texels[y * COLUMNS * f->w + x];
		uint8_t bytes[4];

		for (int c = 0; c < 4; c++)
			bytes[c] = byte_of(texel[c], f->srgb && c < 3);
		digest = f->texel == SOUP_BYTES ? soup_digest(digest, bytes, 4)
						: soup_digest(digest, texel, 16);
	}
	return digest;
}

static void draw_format(const struct soup_format *f, struct tsr_gfx_pipeline *p, uint32_t layout,
			uint64_t want)
{
	static float texels[SIDE_MAX * ROWS * 12][4];
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_RGBA32F, .width = COLUMNS * f->w,
		.height = ROWS * f->h,
	};
	struct tsr_image *image = make_image(f, layout), *target = NULL;
	const struct tsr_view view = { .image = image };
	const struct tsr_gfx_bindings_info bindings = { .textures = &view, .texture_count = 1 };
	struct tsr_gfx_pass *pass;

	if (!image || !ktap_eq(tsr_image_create(t.vm, &info, sizeof(info), &target), 0))
		return;
	pass = gfxt_one(&t, target, black);
	ktap_eq(tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings, sizeof(bindings)), 0);
	gfxt_fill(&t, pass, p, 0, white);
	gfxt_drawn(pass);
	gfxt_read(target, 0, 0, texels, 16 * COLUMNS * f->w);
	if (!ktap_eq(digest_of(f, texels), want))
		ktap_note("%s, layout %u", f->name, layout);
	tsr_image_unref(target);
	tsr_image_unref(image);
}

static void pictures(void)
{
	struct tsr_gfx_pipeline *p = make_pipeline();

	ktap_eq(sizeof(digests) / sizeof(digests[0]), SOUP_FORMATS);
	for (uint32_t i = 0; i < SOUP_FORMATS; i++) {
		ktap_ok(!strcmp(digests[i].name, soup_formats[i].name));
		draw_format(&soup_formats[i], p, TSR_LAYOUT_LINEAR, digests[i].digest[0]);
		draw_format(&soup_formats[i], p, TSR_LAYOUT_TILED, digests[i].digest[0]);
	}
	tsr_gfx_pipeline_unref(p);
}

/* Compressed images are textures alone, of blocks that there are. */
static void refused(void)
{
	static const struct tsr_image_info bad[] = {
		{ .format = TSR_PIXEL_FORMAT_BC1_UNORM, .width = 8, .height = 8, .samples = 4 },
		{ .format = TSR_PIXEL_FORMAT_BC1_UNORM, .width = 8, .height = 8,
		  .flags = TSR_IMAGE_COMPRESSED },
		{ .format = TSR_PIXEL_FORMAT_BC7_UNORM, .width = 8, .height = 8,
		  .block_width = 8, .block_height = 8 },
		{ .format = TSR_PIXEL_FORMAT_ASTC_2D_LDR, .width = 8, .height = 8,
		  .block_width = 5, .block_height = 8 },
		{ .format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = 8, .height = 8,
		  .block_width = 4, .block_height = 4 },
	};
	const struct tsr_image_info good = {
		.format = TSR_PIXEL_FORMAT_BC1_UNORM, .width = 21, .height = 9,
		.layout = TSR_LAYOUT_TILED,
	};
	struct tsr_image *image = NULL;
	struct tsr_gfx_pass *pass = NULL;
	struct tsr_block block;
	struct tsr_surface surface;
	struct tsr_image_info info;
	uint8_t rows[3 * 48];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ktap_eq(tsr_image_create(t.vm, &bad[i], sizeof(bad[i]), &image), -EINVAL);
	ktap_ok(!image);
	if (!ktap_eq(tsr_image_create(t.vm, &good, sizeof(good), &image), 0))
		return;
	tsr_image_get_info(image, &info, sizeof(info));
	ktap_eq(info.block_width, 4);
	ktap_eq(tsr_image_get_surface(image, 0, 0, 0, &surface, NULL), -EINVAL);
	/* six blocks of eight bytes */
	ktap_eq(tsr_image_write(image, 0, 0, rows, 47), -EINVAL);
	ktap_eq(tsr_image_write(image, 0, 0, rows, 48), 0);
	ktap_eq(tsr_image_read(image, 0, 0, rows, 47), -EINVAL);
	ktap_eq(tsr_gfx_pass_create(t.gfx, &(struct tsr_gfx_pass_info){
		.color[0] = { .image = image } }, sizeof(struct tsr_gfx_pass_info), &pass),
			-EINVAL);
	ktap_ok(!pass);
	tsr_image_unref(image);
	ktap_eq(tsr_format_block(TSR_PIXEL_FORMAT_BC1_UNORM, &block), 0);
	ktap_ok(block.width == 4 && block.height == 4 && block.bytes == 8);
	ktap_eq(tsr_format_block(TSR_PIXEL_FORMAT_RGBA16F, &block), 0);
	ktap_ok(block.width == 1 && block.height == 1 && block.bytes == 8);
	ktap_eq(tsr_format_block(0, &block), -EINVAL);
}

int main(void)
{
	ktap_start();
	gfxt_open(&t);
	ktap_run("[TEX8] pictures of 128 blocks of every compressed format", pictures);
	ktap_run("[TEX8] [SYS5] compressed images are textures, of blocks that there are", refused);
	gfxt_close(&t);
	return ktap_finish();
}
