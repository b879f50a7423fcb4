/* SPDX-License-Identifier: MIT */
#include "block.h"

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
	return format->kind == TSR_FORMAT_KIND_UNORM && format->bits[0] == 8;
}

void tsr_block_texels(const struct tsr_format *format, const uint8_t *block,
		      union tsr_block_texels *to)
{
	decoders[format->codec](block, to);
}

void tsr_block_pick(const struct tsr_format *format, const uint8_t *block, unsigned int x,
		    unsigned int y, union tsr_texel *texel)
{
	union tsr_block_texels texels;
	union tsr_texel raw;

	tsr_block_texels(format, block, &texels);
	for (unsigned int c = 0; c < 4; c++)
		raw.f[c] = tsr_block_has_bytes(format)
			? tsr_format_bytes(format->srgb && c < 3)[texels.byte[4 * y + x][c]]
			: texels.number[4 * y + x][c];
	tsr_format_order(format, &raw, texel);
}
