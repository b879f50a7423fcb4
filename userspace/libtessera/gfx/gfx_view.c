// SPDX-License-Identifier: MIT
/* How shaders see images and buffers: views, resolved to descriptors and memory. */
#include <errno.h>
#include <string.h>

#include "gfx.h"

/* ---- Views ----------------------------------------------------------------------------------- */

static enum tsr_view_dimension natural(const struct tsr_image_info *i)
{
	if (i->flags & TSR_IMAGE_CUBE)
		return TSR_VIEW_CUBE;
	return i->depth ? TSR_VIEW_3D : TSR_VIEW_2D;
}

/* A view without zeroes, or an error. */
static int complete(const struct tsr_view *view, struct tsr_view *v)
{
	const struct tsr_image_info *i = &view->image->info;

	*v = *view;
	if (!v->format)
		v->format = i->format;
	if (!v->dimension)
		v->dimension = natural(i);
	if (!v->levels && v->first_level < i->levels)
		v->levels = i->levels - v->first_level;
	if (!v->layers && v->first_layer < i->layers)
		v->layers = i->layers - v->first_layer;
	if (!v->levels || v->first_level >= i->levels || v->levels > i->levels - v->first_level ||
	    !v->layers || v->first_layer >= i->layers || v->layers > i->layers - v->first_layer)
		return tsr_fail(EINVAL, "view of levels %u + %u and layers %u + %u of an image of "
				"%u and %u", v->first_level, v->levels, v->first_layer, v->layers,
				i->levels, i->layers);
	if (gfx_format(v->format).bytes != gfx_format(i->format).bytes ||
	    gfx_block_bytes(v->format) != gfx_block_bytes(i->format))
		return tsr_fail(EINVAL, "view of format %u of an image of format %u, expected the "
				"same size", v->format, i->format);
	if (v->dimension > TSR_VIEW_CUBE || (v->dimension == TSR_VIEW_3D) != !!i->depth ||
	    (v->dimension == TSR_VIEW_CUBE &&
	     (v->layers % 6 || i->width != i->height)) ||
	    (v->dimension == TSR_VIEW_1D && (i->height > 1 || gfx_block_bytes(i->format))))
		return tsr_fail(EINVAL, "view of dimension %u of an image of %u x %u x %u texels, "
				"%u layers", v->dimension, i->width, i->height, i->depth,
				v->layers);
	return 0;
}

bool gfx_view_tagged(const struct tsr_view *view)
{
	return view->image->tag_state;
}

/* TEXTURE_TAGS of a view without zeroes, in the form of a surface. */
static struct tsr_texture_surface tags_of(const struct tsr_view *v)
{
	const struct tsr_image *image = v->image;

	return (struct tsr_texture_surface) {
		.pointer = gfx_layer_tags(image, v->first_layer),
		.row_stride = (int32_t)(uint32_t)image->tag_state,
		.slice_stride = (int32_t)(uint32_t)(image->tag_state >> 32),
	};
}

static void describe(const struct tsr_view *v, struct tsr_texture *t)
{
	static const uint32_t dimension[] = {
		[TSR_VIEW_1D] = TSR_TEXTURE_DIMENSION_1D, [TSR_VIEW_2D] = TSR_TEXTURE_DIMENSION_2D,
		[TSR_VIEW_3D] = TSR_TEXTURE_DIMENSION_3D,
		[TSR_VIEW_CUBE] = TSR_TEXTURE_DIMENSION_CUBE,
	};
	static const uint8_t plain[4] = { TSR_COMPONENT_R, TSR_COMPONENT_G, TSR_COMPONENT_B,
					  TSR_COMPONENT_A };
	static const uint8_t none[4];
	const struct tsr_image_info *i = &v->image->info;
	const uint8_t *s = memcmp(v->swizzle, none, 4) ? v->swizzle : plain;

	*t = (struct tsr_texture) {
		.type = 2, .dimension = dimension[v->dimension], .format = v->format,
		.order = i->order, .srgb = i->srgb,
		.width = gfx_shrink(i->width, v->first_level) - 1,
		.height = gfx_shrink(i->height, v->first_level) - 1,
		.depth = i->depth ? gfx_shrink(i->depth, v->first_level) - 1 : 0,
		.swizzle_r = s[0], .swizzle_g = s[1], .swizzle_b = s[2], .swizzle_a = s[3],
		.texel_order = i->layout == TSR_LAYOUT_TILED ? TSR_TEXEL_ORDER_TILED
							     : TSR_TEXEL_ORDER_LINEAR,
		.levels = v->levels - 1, .max_lod = (v->levels - 1) << 8,
		.samples = gfx_log2(i->samples),
		.layers = (v->dimension == TSR_VIEW_CUBE ? v->layers / 6 : v->layers) - 1,
		.tagged = gfx_view_tagged(v),
	};
}

int tsr_view_sample(const struct tsr_view *view, struct tsr_sampled *sampled)
{
	const struct tsr_image *image = view->image;
	const struct tsr_image_info *i = &image->info;
	const uint64_t block_bits = gfx_block_bits(i);
	uint32_t layer, sample, level, n = 0;
	struct tsr_view v;
	int ret = complete(view, &v);

	if (ret)
		return ret;
	if ((uint64_t)v.layers * i->samples * v.levels > TSR_SURFACES_MAX)
		return tsr_fail(EINVAL, "view of %u layers, %u samples, %u levels, expected at "
				"most %d surfaces", v.layers, i->samples, v.levels,
				TSR_SURFACES_MAX);
	describe(&v, &sampled->texture);
	for (layer = 0; layer < v.layers; layer++)
		for (sample = 0; sample < i->samples; sample++)
			for (level = 0; level < v.levels; level++) {
				const uint32_t at = v.first_level + level;
				const struct tsr_surface *s = &image->level[at].surface;

				sampled->surfaces[n++] = (struct tsr_texture_surface) {
					.pointer = (image->va +
						    gfx_image_offset(image, at,
								     i->depth ? 0 :
								     v.first_layer + layer,
								     sample)) | block_bits,
					.row_stride = (int32_t)s->pitch,
					.slice_stride = (int32_t)s->size,
				};
			}
	if (sampled->texture.tagged)
		sampled->surfaces[n++] = tags_of(&v);
	sampled->surface_count = n;
	sampled->va = image->va;
	sampled->size = tsr_bo_size(image->bo);
	return 0;
}

int tsr_view_open(const struct tsr_view *view)
{
	return gfx_view_tagged(view) ? 0 : gfx_image_open(view->image, true);
}

/* One level of an image, with layers or slices. */
static int place_image(const struct tsr_view *v, struct tsr_placed *placed)
{
	const struct tsr_image *image = v->image;
	const struct tsr_image_info *i = &image->info;
	const struct gfx_level *level =
		&image->level[v->first_level < i->levels ? v->first_level : 0];
	const uint32_t total = i->depth ? level->depth : i->layers;
	const uint32_t format = v->format ? v->format : i->format;

	if (gfx_block_bytes(i->format) || i->samples > 1)
		return tsr_fail(EINVAL, "an image of format %u and %u samples, expected none of a "
				"compressed format, and one sample", i->format, i->samples);
	if (gfx_format(format).bytes != gfx_format(i->format).bytes)
		return tsr_fail(EINVAL, "view of format %u of an image of format %u, expected the "
				"same size", format, i->format);
	if (v->first_level >= i->levels || v->levels > 1 || v->first_layer >= total ||
	    v->layers > total - v->first_layer)
		return tsr_fail(EINVAL, "view of levels %u + %u and layers %u + %u of an image of "
				"%u and %u, expected one level", v->first_level, v->levels,
				v->first_layer, v->layers, i->levels, total);
	*placed = (struct tsr_placed) {
		.va = image->va + gfx_image_offset(image, v->first_level, v->first_layer, 0),
		.access = v->access, .format = format, .order = v->order ? v->order : i->order,
		.layers = v->layers ? v->layers : total - v->first_layer,
		.layer_stride = i->depth ? level->surface.size : image->sample_size,
		.surface = level->surface,
	};
	placed->size = level->surface.size + (placed->layers - 1) * placed->layer_stride;
	if (!image->tag_state)
		return gfx_image_open(v->image, true);
	placed->tags = gfx_layer_tags(image, v->first_layer);
	placed->tag_state = image->tag_state;
	return 0;
}

int tsr_view_place(const struct tsr_view *v, struct tsr_placed *placed)
{
	if (v->image)
		return place_image(v, placed);
	*placed = (struct tsr_placed) {
		.va = v->va, .size = v->size, .access = v->access, .format = v->format,
		.order = v->order, .stride = v->stride,
	};
	return 0;
}
