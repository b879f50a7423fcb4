/* SPDX-License-Identifier: MIT */
/*
 * Formats. The names of Gallium begin with the component in the lowest bits (of arrays, in the
 * first byte), those of the device with that of the first letter, and say in another word which
 * component is which color.
 */
#include "tc_format.h"

#define T	TC_TEXTURE
#define TR	(TC_TEXTURE | TC_TARGET)
#define TRV	(TC_TEXTURE | TC_TARGET | TC_VERTEX)
#define TV	(TC_TEXTURE | TC_VERTEX)
#define V	TC_VERTEX
#define TZ	(TC_TEXTURE | TC_DEPTH)
#define TB	(TC_TEXTURE | TC_BLOCK)

#define F(name, device, component_order, use)						\
	[PIPE_FORMAT_##name] = { TSR_PIXEL_FORMAT_##device,				\
				 TSR_COMPONENT_ORDER_##component_order, use }

/*
 * One, two, three and four components of n bits. Three are no texture: arrays of 3 or 6 bytes have
 * no targets.
 */
#define ARRAYS(n, suffix, tail, use, use3)						\
	F(R##n##_##suffix, R##n##tail, RGB1, use),					\
	F(R##n##G##n##_##suffix, RG##n##tail, RGB1, use),				\
	F(R##n##G##n##B##n##_##suffix, RGB##n##tail, RGB1, use3),			\
	F(R##n##G##n##B##n##A##n##_##suffix, RGBA##n##tail, RGBA, use)

static const struct tc_format formats[PIPE_FORMAT_COUNT] = {
	ARRAYS(8, UNORM, _UNORM, TRV, V),
	ARRAYS(8, SNORM, _SNORM, TRV, V),
	ARRAYS(8, UINT, UI, TRV, V),
	ARRAYS(8, SINT, I, TRV, V),
	ARRAYS(8, USCALED, UI, V, V),
	ARRAYS(8, SSCALED, I, V, V),
	ARRAYS(16, UNORM, _UNORM, TRV, V),
	ARRAYS(16, SNORM, _SNORM, TRV, V),
	ARRAYS(16, UINT, UI, TRV, V),
	ARRAYS(16, SINT, I, TRV, V),
	ARRAYS(16, USCALED, UI, V, V),
	ARRAYS(16, SSCALED, I, V, V),
	ARRAYS(16, FLOAT, F, TRV, V),
	ARRAYS(32, UNORM, _UNORM, V, V),
	ARRAYS(32, SNORM, _SNORM, V, V),
	ARRAYS(32, UINT, UI, TRV, V),
	ARRAYS(32, SINT, I, TRV, V),
	ARRAYS(32, USCALED, UI, V, V),
	ARRAYS(32, SSCALED, I, V, V),
	ARRAYS(32, FLOAT, F, TRV, V),
	ARRAYS(32, FIXED, _FIXED, V, V),

	/* four bytes in other orders */
	F(B8G8R8A8_UNORM, RGBA8_UNORM, BGRA, TRV),
	F(A8R8G8B8_UNORM, RGBA8_UNORM, ARGB, TR),
	F(A8B8G8R8_UNORM, RGBA8_UNORM, ABGR, TR),
	F(R8G8B8X8_UNORM, RGBA8_UNORM, RGB1, TR),
	F(B8G8R8X8_UNORM, RGBA8_UNORM, BGR1, TR),
	F(X8R8G8B8_UNORM, RGBA8_UNORM, ONE_RGB, TR),
	F(X8B8G8R8_UNORM, RGBA8_UNORM, ONE_BGR, TR),
	F(R8G8B8A8_SRGB, RGBA8_UNORM, RGBA, TR),
	F(B8G8R8A8_SRGB, RGBA8_UNORM, BGRA, TR),
	F(A8R8G8B8_SRGB, RGBA8_UNORM, ARGB, TR),
	F(A8B8G8R8_SRGB, RGBA8_UNORM, ABGR, TR),
	F(R8G8B8X8_SRGB, RGBA8_UNORM, RGB1, TR),
	F(B8G8R8X8_SRGB, RGBA8_UNORM, BGR1, TR),
	F(X8R8G8B8_SRGB, RGBA8_UNORM, ONE_RGB, TR),
	F(X8B8G8R8_SRGB, RGBA8_UNORM, ONE_BGR, TR),
	F(R8_SRGB, R8_UNORM, RGB1, T),
	F(R8G8_SRGB, RG8_UNORM, RGB1, T),
	F(R16G16B16X16_UNORM, RGBA16_UNORM, RGB1, TR),
	F(R16G16B16X16_FLOAT, RGBA16F, RGB1, TR),
	F(R32G32B32X32_FLOAT, RGBA32F, RGB1, TR),
	F(R32G32B32_FLOAT, RGB32F, RGB1, TV), F(R32G32B32_UINT, RGB32UI, RGB1, TV),
	F(R32G32B32_SINT, RGB32I, RGB1, TV),
	F(R8G8B8X8_SNORM, RGBA8_SNORM, RGB1, TR),

	/* packed */
	F(B5G6R5_UNORM, RGB565, BGR1, TR),
	F(R5G6B5_UNORM, RGB565, RGB1, TR),
	F(B5G5R5A1_UNORM, RGB5_A1_UNORM, BGRA, TR),
	F(B5G5R5X1_UNORM, RGB5_A1_UNORM, BGR1, TR),
	F(R5G5B5A1_UNORM, RGB5_A1_UNORM, RGBA, TR),
	F(A1B5G5R5_UNORM, A1_BGR5_UNORM, RGBA, TR),
	F(B4G4R4A4_UNORM, RGBA4_UNORM, BGRA, TR),
	F(B4G4R4X4_UNORM, RGBA4_UNORM, BGR1, TR),
	F(R4G4B4A4_UNORM, RGBA4_UNORM, RGBA, TR),
	F(A4B4G4R4_UNORM, RGBA4_UNORM, ABGR, TR),
	F(A4R4G4B4_UNORM, RGBA4_UNORM, ARGB, TR),
	F(R10G10B10A2_UNORM, RGB10_A2_UNORM, RGBA, TRV),
	F(B10G10R10A2_UNORM, RGB10_A2_UNORM, BGRA, TRV),
	F(R10G10B10X2_UNORM, RGB10_A2_UNORM, RGB1, TR),
	F(B10G10R10X2_UNORM, RGB10_A2_UNORM, BGR1, TR),
	F(R10G10B10A2_SNORM, RGB10_A2_SNORM, RGBA, V),
	F(B10G10R10A2_SNORM, RGB10_A2_SNORM, BGRA, V),
	F(R10G10B10A2_UINT, RGB10_A2UI, RGBA, TRV),
	F(B10G10R10A2_UINT, RGB10_A2UI, BGRA, TRV),
	F(R10G10B10A2_USCALED, RGB10_A2UI, RGBA, V),
	F(B10G10R10A2_USCALED, RGB10_A2UI, BGRA, V),
	F(R10G10B10A2_SSCALED, RGB10_A2I, RGBA, V),
	F(B10G10R10A2_SSCALED, RGB10_A2I, BGRA, V),
	F(R11G11B10_FLOAT, R11F_G11F_B10F, RGB1, TRV),
	F(R9G9B9E5_FLOAT, R9F_G9F_B9F_E5F, RGB1, T),

	/* of desktop GL */
	F(A8_UNORM, A8_UNORM, ZERO_A, T),
	F(L8_UNORM, R8_UNORM, RRR1, T),
	F(L8_SRGB, R8_UNORM, RRR1, T),
	F(I8_UNORM, R8_UNORM, RRRR, T),
	F(L8A8_UNORM, R8A8_UNORM, RRRA, T),
	F(L16_UNORM, R16_UNORM, RRR1, T),
	F(I16_UNORM, R16_UNORM, RRRR, T),
	F(L16_FLOAT, R16F, RRR1, T),
	F(I16_FLOAT, R16F, RRRR, T),
	F(L32_FLOAT, R32F, RRR1, T),
	F(I32_FLOAT, R32F, RRRR, T),

	/* depth and stencil */
	F(Z16_UNORM, Z16_UNORM, RGBA, TZ),
	F(Z24X8_UNORM, Z24X8_UNORM, RGBA, TZ),
	F(Z24_UNORM_S8_UINT, Z24X8_UNORM, RGBA, TZ),
	F(Z32_FLOAT, R32F, RGBA, TZ),
	/* two resources: the stencil part is one of S8_UINT */
	F(Z32_FLOAT_S8X24_UINT, R32F, RGBA, TZ),
	F(X32_S8X24_UINT, S8, GRBA, T),
	F(X24S8_UINT, X24S8, GRBA, T),
	F(S8_UINT, S8, GRBA, TZ),

	/* compressed */
	F(ETC1_RGB8, ETC2_RGB8, RGB1, TB),
	F(ETC2_RGB8, ETC2_RGB8, RGB1, TB),
	F(ETC2_SRGB8, ETC2_RGB8, RGB1, TB),
	F(ETC2_RGB8A1, ETC2_RGB8A1, RGBA, TB),
	F(ETC2_SRGB8A1, ETC2_RGB8A1, RGBA, TB),
	F(ETC2_RGBA8, ETC2_RGBA8, RGBA, TB),
	F(ETC2_SRGBA8, ETC2_RGBA8, RGBA, TB),
	F(ETC2_R11_UNORM, ETC2_R11_UNORM, RGB1, TB),
	F(ETC2_R11_SNORM, ETC2_R11_SNORM, RGB1, TB),
	F(ETC2_RG11_UNORM, ETC2_RG11_UNORM, RGB1, TB),
	F(ETC2_RG11_SNORM, ETC2_RG11_SNORM, RGB1, TB),
	F(DXT1_RGB, BC1_UNORM, RGB1, TB),
	F(DXT1_SRGB, BC1_UNORM, RGB1, TB),
	F(DXT1_RGBA, BC1_UNORM, RGBA, TB),
	F(DXT1_SRGBA, BC1_UNORM, RGBA, TB),
	F(DXT3_RGBA, BC2_UNORM, RGBA, TB),
	F(DXT3_SRGBA, BC2_UNORM, RGBA, TB),
	F(DXT5_RGBA, BC3_UNORM, RGBA, TB),
	F(DXT5_SRGBA, BC3_UNORM, RGBA, TB),
	F(RGTC1_UNORM, BC4_UNORM, RGB1, TB),
	F(RGTC1_SNORM, BC4_SNORM, RGB1, TB),
	F(RGTC2_UNORM, BC5_UNORM, RGB1, TB),
	F(RGTC2_SNORM, BC5_SNORM, RGB1, TB),
	F(BPTC_RGBA_UNORM, BC7_UNORM, RGBA, TB),
	F(BPTC_SRGBA, BC7_UNORM, RGBA, TB),
	F(BPTC_RGB_FLOAT, BC6H_SF16, RGB1, TB),
	F(BPTC_RGB_UFLOAT, BC6H_UF16, RGB1, TB),
};

const struct tc_format *tc_format(enum pipe_format format)
{
	return &formats[format < PIPE_FORMAT_COUNT ? format : PIPE_FORMAT_NONE];
}

uint8_t tc_stencil_format(enum pipe_format format)
{
	switch (format) {
	case PIPE_FORMAT_Z24_UNORM_S8_UINT:
	case PIPE_FORMAT_X24S8_UINT:
		return TSR_PIXEL_FORMAT_X24S8;
	case PIPE_FORMAT_S8_UINT:
	case PIPE_FORMAT_Z32_FLOAT_S8X24_UINT:
	case PIPE_FORMAT_X32_S8X24_UINT:
		return TSR_PIXEL_FORMAT_S8;
	default:
		return 0;
	}
}

bool tc_is_image_format(enum pipe_format format)
{
	const struct tc_format *f = tc_format(format);

	return f->uses & TC_TARGET && f->uses & TC_TEXTURE && !util_format_is_srgb(format) &&
	       (f->order == TSR_COMPONENT_ORDER_RGBA || f->order == TSR_COMPONENT_ORDER_RGB1) &&
	       util_format_get_blocksize(format) != 3;
}

uint32_t tc_conversion(enum pipe_format format)
{
	const struct tc_format *f = tc_format(format);
	const struct tsr_conversion word = {
		.format = f->format, .order = f->order, .srgb = util_format_is_srgb(format),
	};
	uint64_t packed;

	tsr_pack_conversion(&packed, &word);
	return (uint32_t)packed & 0x3fffff;
}
