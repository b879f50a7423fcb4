/* SPDX-License-Identifier: MIT */
#include "util/format/u_format.h"
#include "util/u_math.h"

#include "tc_texture.h"

#define POINTER_ALIGN	64u	/* of ATTRIBUTE_BUFFER.POINTER */

/* ---- Textures -------------------------------------------------------------------------------- */

/* The low bits of ASTC's addresses encode the size of a block. */
static uint64_t block_bits(enum pipe_format format)
{
	static const uint8_t code[] = { [4] = 0, [5] = 1, [6] = 2, [8] = 4, [10] = 6, [12] = 7 };

	if (util_format_description(format)->layout != UTIL_FORMAT_LAYOUT_ASTC)
		return 0;
	return code[util_format_get_blockwidth(format)] | code[util_format_get_blockheight(format)]
								  << 3;
}

uint64_t tc_view_surfaces(const struct tc_view *v)
{
	return (uint64_t)v->layers * v->samples * v->levels;
}

static void pack_surfaces(const struct tc_view *v, uint64_t *words)
{
	const bool volume = v->dimension == TSR_TEXTURE_DIMENSION_3D;
	unsigned layer, sample, level;
	struct tsr_texture_surface s = { .pointer = v->va };

	if (!v->layout) {
		tsr_pack_texture_surface(words, &s);
		return;
	}
	for (layer = 0; layer < v->layers; layer++)
		for (sample = 0; sample < v->samples; sample++)
			for (level = v->first_level; level < v->first_level + v->levels; level++) {
				const struct tc_level *l = &v->layout->level[level];
				const unsigned first = volume ? 0 : v->first_layer + layer;

				s = (struct tsr_texture_surface){
					.pointer = (v->va + tc_layout_offset(v->layout, level,
									     first, sample)) |
						   block_bits(v->format),
					.row_stride = (int32_t)l->pitch,
					.slice_stride = (int32_t)l->slice,
				};
				tsr_pack_texture_surface(words, &s);
				words += TSR_TEXTURE_SURFACE__QWORDS;
			}
}

void tc_view_pack(const struct tc_view *v, uint64_t va, uint64_t *surfaces, uint64_t *texture)
{
	const struct tc_format *f = tc_format(v->format);
	const bool cube = v->dimension == TSR_TEXTURE_DIMENSION_CUBE;
	const struct tsr_texture t = {
		.type = 2,
		.dimension = v->dimension,
		.format = f->format,
		.order = f->order,
		.srgb = util_format_is_srgb(v->format),
		.width = v->width - 1,
		.height = v->height - 1,
		.depth = v->depth - 1,
		.swizzle_r = v->swizzle[0],
		.swizzle_g = v->swizzle[1],
		.swizzle_b = v->swizzle[2],
		.swizzle_a = v->swizzle[3],
		.texel_order = v->layout && v->layout->layout == TSR_LAYOUT_TILED
				       ? TSR_TEXEL_ORDER_TILED : TSR_TEXEL_ORDER_LINEAR,
		.levels = v->levels - 1,
		/* LEVELS bounds the level; the level of detail also selects the filter */
		.max_lod = TC_LOD_MAX,
		.samples = util_logbase2(v->samples),
		.layers = (cube ? v->layers / 6 : v->layers) - 1,
		.surfaces = va,
	};

	pack_surfaces(v, surfaces);
	tsr_pack_texture(texture, &t);
}

/* ---- Images ---------------------------------------------------------------------------------- */

static void fill_buffer(const struct tc_view *v, uint64_t size, struct tsr_attribute *a,
			struct tsr_attribute_buffer *b)
{
	a->offset = (int32_t)(v->va % POINTER_ALIGN);
	b->type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR;
	b->pointer = v->va - a->offset;
	b->stride = util_format_get_blocksize(v->format);
	b->size = (uint32_t)MIN2(size + a->offset, UINT32_MAX);
}

static void fill_image(const struct tc_view *v, struct tsr_attribute_buffer *b,
		       struct tsr_attribute_buffer_image *shape)
{
	const struct tc_layout *layout = v->layout;
	const struct tc_level *l = &layout->level[v->first_level];
	const uint64_t slice = layout->volume ? l->slice : layout->layer;
	const uint32_t layers = layout->volume ? v->depth : v->layers;

	b->type = layout->layout == TSR_LAYOUT_TILED ? TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_TILED
						     : TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_LINEAR;
	b->pointer = v->va + tc_layout_offset(layout, v->first_level, v->first_layer, 0);
	b->stride = layout->texel;
	b->size = (uint32_t)MIN2(slice * layers, UINT32_MAX);
	shape->width = v->width - 1;
	shape->height = v->height - 1;
	shape->depth = layers - 1;
	shape->row_stride = l->pitch;
	shape->slice_stride = (uint32_t)slice;
}

void tc_image_pack(const struct tc_view *v, unsigned buffer, uint64_t size, uint64_t *attribute,
		   uint64_t *buffers)
{
	const struct tc_format *f = tc_format(v->format);
	struct tsr_attribute a = { .buffer = buffer, .format = f->format, .order = f->order };
	struct tsr_attribute_buffer b = { 0 };
	struct tsr_attribute_buffer_image shape = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION
	};

	if (v->layout)
		fill_image(v, &b, &shape);
	else
		fill_buffer(v, size, &a, &b);
	tsr_pack_attribute(attribute, &a);
	tsr_pack_attribute_buffer(buffers, &b);
	tsr_pack_attribute_buffer_image(buffers + 2, &shape);
}

void tc_image_none(unsigned buffer, uint64_t *attribute, uint64_t *buffers)
{
	const struct tsr_attribute a = { .buffer = buffer, .format = TSR_PIXEL_FORMAT_RGBA8_UNORM };
	const struct tsr_attribute_buffer b = { .type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR };
	const struct tsr_attribute_buffer_image shape = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION
	};

	tsr_pack_attribute(attribute, &a);
	tsr_pack_attribute_buffer(buffers, &b);
	tsr_pack_attribute_buffer_image(buffers + 2, &shape);
}

/* ---- Samplers -------------------------------------------------------------------------------- */

uint32_t tc_mirrored(uint32_t function)
{
	static const uint8_t to[] = {
		[TSR_COMPARE_FUNCTION_NEVER] = TSR_COMPARE_FUNCTION_NEVER,
		[TSR_COMPARE_FUNCTION_LESS] = TSR_COMPARE_FUNCTION_GREATER,
		[TSR_COMPARE_FUNCTION_EQUAL] = TSR_COMPARE_FUNCTION_EQUAL,
		[TSR_COMPARE_FUNCTION_LEQUAL] = TSR_COMPARE_FUNCTION_GEQUAL,
		[TSR_COMPARE_FUNCTION_GREATER] = TSR_COMPARE_FUNCTION_LESS,
		[TSR_COMPARE_FUNCTION_NOT_EQUAL] = TSR_COMPARE_FUNCTION_NOT_EQUAL,
		[TSR_COMPARE_FUNCTION_GEQUAL] = TSR_COMPARE_FUNCTION_LEQUAL,
		[TSR_COMPARE_FUNCTION_ALWAYS] = TSR_COMPARE_FUNCTION_ALWAYS,
	};

	return to[function & 7];
}

/* The device applies ORDER and swizzle to a border color as it does to a texel. */
void tc_border(enum pipe_format format, const uint32_t color[4], uint32_t stored[4])
{
	const struct util_format_description *d = util_format_description(format);
	const bool alpha_first = d->format == PIPE_FORMAT_A1B5G5R5_UNORM;
	uint32_t c, at;

	memcpy(stored, color, 4 * sizeof(*stored));
	for (c = 0; c < 4; c++) {
		at = d->swizzle[c];
		if (at > PIPE_SWIZZLE_W)
			continue;
		at = alpha_first ? 3 - at : at;
		if (d->format == PIPE_FORMAT_L8A8_UNORM && c == 3)
			at = 3;
		if (c == 0 || d->swizzle[c] != d->swizzle[0])
			stored[at] = color[c];
	}
	if (d->format == PIPE_FORMAT_A8_UNORM)
		stored[3] = color[3];
	if (tc_stencil_format(d->format) && !util_format_has_depth(d))
		stored[1] = color[0];
}
