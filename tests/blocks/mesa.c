// SPDX-License-Identifier: MIT
/*
 * Writes mesa.h: the descriptors of compressed textures as Mesa's Panfrost packs them for Mali v7.
 * It calls Mesa's own functions. No build contains it. mesa.sh compiles and runs it.
 */
#include <stdio.h>
#include <string.h>

#include "genxml/gen_macros.h"
#include "pan_texture.h"
#include "util/format/u_format.h"

#define SIDE	24
#define LEVELS	2
#define BASE	0x10000000ull		/* where the blocks lie */
#define SURFACES 0x2000e000ull		/* where the surfaces' descriptors lie */

static void print_texture(const char *name, enum pipe_format format, bool tiled)
{
	struct pan_image image = {
		.data.base = BASE,
		.layout = {
			.modifier = tiled ? DRM_FORMAT_MOD_ARM_16X16_BLOCK_U_INTERLEAVED
					  : DRM_FORMAT_MOD_LINEAR,
			.format = format, .width = SIDE, .height = SIDE, .depth = 1,
			.nr_samples = 1, .dim = MALI_TEXTURE_DIMENSION_2D, .nr_slices = LEVELS,
			.array_size = 1,
		},
	};
	struct pan_image_view view = {
		.format = format, .dim = MALI_TEXTURE_DIMENSION_2D, .last_level = LEVELS - 1,
		.swizzle = { PIPE_SWIZZLE_X, PIPE_SWIZZLE_Y, PIPE_SWIZZLE_Z, PIPE_SWIZZLE_W },
		.planes = { &image }, .nr_samples = 1,
	};
	struct mali_texture_packed texture;
	uint64_t surfaces[2 * LEVELS], words[4];
	struct panfrost_ptr payload = { .cpu = surfaces, .gpu = SURFACES };

	if (!pan_image_layout_init(7, &image.layout, NULL))
		return;
	GENX(panfrost_new_texture)(&view, &texture, &payload);
	memcpy(words, &texture, sizeof(words));
	printf("MESA_TEXTURE(%s, %d,", name, tiled);
	for (int i = 0; i < 4; i++)
		printf(" 0x%llx,", (unsigned long long)words[i]);
	printf("\n\t    ");
	for (int i = 0; i < 2 * LEVELS; i++)
		printf(" 0x%llx%s", (unsigned long long)surfaces[i],
		       i < 2 * LEVELS - 1 ? "," : ")\n");
}

int main(void)
{
	static const struct { const char *name; enum pipe_format format; } row[] = {
		{ "bc1", PIPE_FORMAT_DXT1_RGBA }, { "bc2", PIPE_FORMAT_DXT3_RGBA },
		{ "bc3", PIPE_FORMAT_DXT5_RGBA }, { "bc4", PIPE_FORMAT_RGTC1_UNORM },
		{ "bc4_signed", PIPE_FORMAT_RGTC1_SNORM }, { "bc5", PIPE_FORMAT_RGTC2_UNORM },
		{ "bc5_signed", PIPE_FORMAT_RGTC2_SNORM }, { "bc6h", PIPE_FORMAT_BPTC_RGB_UFLOAT },
		{ "bc6h_signed", PIPE_FORMAT_BPTC_RGB_FLOAT },
		{ "bc7", PIPE_FORMAT_BPTC_RGBA_UNORM }, { "etc2_rgb8", PIPE_FORMAT_ETC2_RGB8 },
		{ "etc2_rgb8a1", PIPE_FORMAT_ETC2_RGB8A1 },
		{ "etc2_rgba8", PIPE_FORMAT_ETC2_RGBA8 }, { "eac_r11", PIPE_FORMAT_ETC2_R11_UNORM },
		{ "eac_r11_signed", PIPE_FORMAT_ETC2_R11_SNORM },
		{ "eac_rg11", PIPE_FORMAT_ETC2_RG11_UNORM },
		{ "eac_rg11_signed", PIPE_FORMAT_ETC2_RG11_SNORM },
		{ "astc_4x4", PIPE_FORMAT_ASTC_4x4 }, { "astc_6x5", PIPE_FORMAT_ASTC_6x5 },
		{ "astc_8x8", PIPE_FORMAT_ASTC_8x8 }, { "astc_12x10", PIPE_FORMAT_ASTC_12x10 },
		{ "astc_5x4_srgb", PIPE_FORMAT_ASTC_5x4_SRGB },
		{ "astc_10x6_srgb", PIPE_FORMAT_ASTC_10x6_SRGB },
	};

	puts("/* SPDX-License-Identifier: MIT */");
	puts("/* Descriptors of compressed textures as Mesa 25.0.7 packs them, made by mesa.c. */");
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		print_texture(row[i].name, row[i].format, false);
		print_texture(row[i].name, row[i].format, true);
	}
	return 0;
}
