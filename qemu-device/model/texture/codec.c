/* SPDX-License-Identifier: MIT */
#include "codec.h"

/* By number of the format. */
static tsr_block_fn *const decoders[256] = {
	[TSR_PIXEL_FORMAT_ETC2_RGB8] = tsr_block_etc2_rgb8,
	[TSR_PIXEL_FORMAT_ETC2_R11_UNORM] = tsr_block_eac_r11,
	[TSR_PIXEL_FORMAT_ETC2_RGBA8] = tsr_block_etc2_rgba8,
	[TSR_PIXEL_FORMAT_ETC2_RG11_UNORM] = tsr_block_eac_rg11,
	[TSR_PIXEL_FORMAT_ETC2_R11_SNORM] = tsr_block_eac_r11_signed,
	[TSR_PIXEL_FORMAT_ETC2_RG11_SNORM] = tsr_block_eac_rg11_signed,
	[TSR_PIXEL_FORMAT_ETC2_RGB8A1] = tsr_block_etc2_rgb8a1,
	[TSR_PIXEL_FORMAT_BC1_UNORM] = tsr_block_bc1,
	[TSR_PIXEL_FORMAT_BC2_UNORM] = tsr_block_bc2,
	[TSR_PIXEL_FORMAT_BC3_UNORM] = tsr_block_bc3,
	[TSR_PIXEL_FORMAT_BC4_UNORM] = tsr_block_bc4,
	[TSR_PIXEL_FORMAT_BC4_SNORM] = tsr_block_bc4_signed,
	[TSR_PIXEL_FORMAT_BC5_UNORM] = tsr_block_bc5,
	[TSR_PIXEL_FORMAT_BC5_SNORM] = tsr_block_bc5_signed,
	[TSR_PIXEL_FORMAT_BC6H_UF16] = tsr_block_bc6h,
	[TSR_PIXEL_FORMAT_BC6H_SF16] = tsr_block_bc6h_signed,
	[TSR_PIXEL_FORMAT_BC7_UNORM] = tsr_block_bc7,
};

bool tsr_block_has_bytes(const struct tsr_format *format)
{
	return (format->kind == TSR_FORMAT_KIND_UNORM && format->bits[0] == 8) ||
	       (format->srgb && tsr_block_is_astc(format));
}

/* A component of ASTC as a half: all ones are 1, all others are rounded towards 0. */
static float float_of(uint32_t x)
{
	unsigned int more = x >> 11 ? 21 - (unsigned int)__builtin_clz(x) : 0;

	return x == 0xffff ? 1 : (float)(x >> more << more) / 65536;
}

void tsr_block_narrow(const struct tsr_format *format, const uint16_t from[16][4],
		      union tsr_block_texels *to)
{
	bool bytes = tsr_block_has_bytes(format);

	for (unsigned int i = 0; i < 64; i++) {
		if (bytes)
			to->byte[i / 4][i % 4] = from[i / 4][i % 4] >> 8;
		else
			to->number[i / 4][i % 4] = float_of(from[i / 4][i % 4]);
	}
}

void tsr_block_texels(const struct tsr_format *format, const uint8_t *block,
		      union tsr_block_texels *to)
{
	uint16_t astc[16][4];

	if (!tsr_block_is_astc(format)) {
		decoders[format->codec](block, to);
		return;
	}
	tsr_block_astc(block, 4, 4, format->srgb, astc);
	tsr_block_narrow(format, astc, to);
}

void tsr_block_pick(const struct tsr_format *format, const uint8_t *block, unsigned int width,
		    unsigned int height, unsigned int x, unsigned int y, union tsr_texel *texel)
{
	uint16_t astc[TSR_ASTC_DIM_MAX * TSR_ASTC_DIM_MAX][4], one[16][4] = { { 0 } };
	unsigned int i = y * width + x;
	union tsr_block_texels texels;
	union tsr_texel raw;

	if (tsr_block_is_astc(format)) {
		tsr_block_astc(block, width, height, format->srgb, astc);
		memcpy(one[0], astc[i], sizeof(one[0]));
		tsr_block_narrow(format, one, &texels);
		i = 0;
	} else {
		tsr_block_texels(format, block, &texels);
	}
	for (unsigned int c = 0; c < 4; c++)
		raw.f[c] = tsr_block_has_bytes(format)
			? tsr_format_bytes(format->srgb && c < 3)[texels.byte[i][c]]
			: texels.number[i][c];
	tsr_format_order(format, &raw, texel);
}
