// SPDX-License-Identifier: MIT
/* Images: where their surfaces lie. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"

#define SIDE_MAX	16384u
#define LAYERS_MAX	2048u
#define IMAGE_ALIGN	64u
#define IMAGE_INFO_1	TSR_UP_TO(struct tsr_image_info, block_height)	/* version 1.0 */

static uint32_t at_least_1(uint32_t value)
{
	return value ? value : 1;
}

/* Zeroes become what they stand for. */
static void fill_in(struct tsr_image_info *info)
{
	info->height = at_least_1(info->height);
	info->layers = at_least_1(info->layers);
	info->levels = at_least_1(info->levels);
	info->samples = at_least_1(info->samples);
	if (!info->block_width && !info->block_height)
		info->block_width = info->block_height = gfx_block_bytes(info->format) ? 4 : 1;
	if (!info->bo_flags)
		info->bo_flags = DRM_TESSERA_BO_CACHED;
}

static int check_size(const struct tsr_image_info *i)
{
	uint32_t longest = i->width > i->height ? i->width : i->height;

	longest = i->depth > longest ? i->depth : longest;
	if (!i->width || longest > SIDE_MAX || i->layers > LAYERS_MAX)
		return tsr_fail(EINVAL, "image of %u x %u x %u texels and %u layers, "
				"expected up to %u and %u", i->width, i->height, i->depth,
				i->layers, SIDE_MAX, LAYERS_MAX);
	if (i->levels > 1 + gfx_log2(longest))
		return tsr_fail(EINVAL, "image of %u levels, expected at most %u", i->levels,
				1 + gfx_log2(longest));
	if (!tsr_is_pow2(i->samples) || i->samples > TSR_SAMPLES_MAX ||
	    (i->samples > 1 && (i->levels > 1 || i->depth)))
		return tsr_fail(EINVAL, "image of %u samples, expected 1 to %d, a power of two, "
				"and one level of no volume", i->samples, TSR_SAMPLES_MAX);
	return 0;
}

/* Bytes of a texel, or of a compressed block. */
static uint32_t unit_bytes(uint32_t format)
{
	return gfx_format(format).bytes + gfx_block_bytes(format);
}

static int check_info(const struct tsr_image_info *i, uint64_t features)
{
	int ret;

	if (!unit_bytes(i->format) || i->order > 0xfff)
		return tsr_fail(EINVAL, "image of format %u, order %u, expected values of "
				"enum tsr_pixel_format and enum tsr_component_order", i->format,
				i->order);
	if (i->layout > TSR_LAYOUT_TILED || i->flags & ~(uint32_t)(TSR_IMAGE_COMPRESSED |
								   TSR_IMAGE_EXPORTABLE |
								   TSR_IMAGE_CUBE))
		return tsr_fail(EINVAL, "image of layout %u with flags 0x%x", (uint32_t)i->layout,
				i->flags);
	if (i->flags & TSR_IMAGE_CUBE &&
	    (i->width != i->height || i->layers % 6 || i->depth || i->samples > 1))
		return tsr_fail(EINVAL, "cube of %u x %u texels and %u layers, expected a square "
				"and a multiple of 6", i->width, i->height, i->layers);
	if (i->depth && i->layers > 1)
		return tsr_fail(EINVAL, "volume of %u layers, expected 1", i->layers);
	if (i->flags & TSR_IMAGE_COMPRESSED && (i->levels > 1 || i->depth))
		return tsr_fail(EINVAL,
				"image with TSR_IMAGE_COMPRESSED of %u levels and %u slices, "
				"expected one level of no volume", i->levels, i->depth);
	ret = gfx_blocks_check(i, features);
	return ret ? ret : check_size(i);
}

/* Where levels lie in a sample. */
static int lay_out(struct tsr_image *image)
{
	const struct tsr_image_info *i = &image->info;
	uint32_t l;
	int ret;

	for (l = 0; l < i->levels; l++) {
		struct gfx_level *level = &image->level[l];

		ret = gfx_block_bytes(i->format)
			? gfx_blocks_surface(&level->surface, i, gfx_shrink(i->width, l),
					     gfx_shrink(i->height, l))
			: tsr_surface_init(&level->surface, i->layout, gfx_shrink(i->width, l),
					   gfx_shrink(i->height, l), gfx_format(i->format).bytes,
						   0);
		if (ret)
			return tsr_fail(EINVAL, "level %u of an image of %u x %u texels", l,
					i->width, i->height);
		level->depth = i->depth ? gfx_shrink(i->depth, l) : 1;
		level->offset = image->sample_size;
		level->surface.size = tsr_round_up(level->surface.size, IMAGE_ALIGN);
		image->sample_size += level->surface.size * level->depth;
	}
	return 0;
}

uint64_t gfx_tag_bytes(const struct tsr_image_info *i, uint32_t layers)
{
	return (uint64_t)((i->width + 7) / 8) * ((i->height + 7) / 8) * layers;
}

static int allocate(struct tsr_image *image)
{
	const struct tsr_image_info *i = &image->info;
	uint64_t size = image->sample_size * i->samples * i->layers, tags = size, state = 0;
	const uint32_t rw = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE;
	int ret;

	if (image->sample_size > UINT32_MAX && i->samples > 1)
		return tsr_fail(EINVAL, "an image's sample of 4 GiB or more");
	if (i->flags & TSR_IMAGE_COMPRESSED) {
		state = tsr_round_up(tags + gfx_tag_bytes(i, i->layers), IMAGE_ALIGN);
		size = state + TSR_TAG_STATE__QWORDS * sizeof(uint64_t);
	}
	ret = tsr_bo_create(tsr_vm_device(image->vm), size, i->bo_flags,
			    i->flags & TSR_IMAGE_EXPORTABLE ? NULL : image->vm, &image->bo);
	if (!ret)
		ret = tsr_vm_map(image->vm, image->bo, 0, 0, rw, &image->va);
	if (!ret && i->flags & TSR_IMAGE_COMPRESSED)
		image->tags = image->va + tags;
	if (image->tags && tsr_device_info(tsr_vm_device(image->vm))->features &
			   DRM_TESSERA_FEATURE_TAGGED)
		image->tag_state = image->va + state;
	return ret;
}

int tsr_image_create(struct tsr_vm *vm, const struct tsr_image_info *wanted, size_t size,
		     struct tsr_image **out)
{
	struct tsr_image_info info;
	struct tsr_image *image;
	int ret;

	ret = tsr_take_info(&info, sizeof(info), IMAGE_INFO_1, wanted, size, "tsr_image_info");
	if (ret)
		return ret;
	fill_in(&info);
	ret = check_info(&info, tsr_device_info(tsr_vm_device(vm))->features);
	if (ret)
		return ret;
	image = calloc(1, sizeof(*image));
	if (!image)
		return tsr_fail(ENOMEM, "no memory for an image");
	atomic_init(&image->refs, 1);
	image->vm = tsr_vm_ref(vm);
	image->info = info;
	ret = lay_out(image);
	if (!ret)
		ret = allocate(image);
	if (ret)
		tsr_image_unref(image);
	else
		*out = image;
	return ret;
}

struct tsr_image *tsr_image_ref(struct tsr_image *image)
{
	atomic_fetch_add_explicit(&image->refs, 1, memory_order_relaxed);
	return image;
}

void tsr_image_unref(struct tsr_image *image)
{
	if (!image || atomic_fetch_sub_explicit(&image->refs, 1, memory_order_acq_rel) != 1)
		return;
	gfx_image_close(image);
	gfx_records_drop(image);
	if (image->va)
		tsr_vm_unmap(image->vm, image->va, tsr_bo_size(image->bo));
	tsr_bo_unref(image->bo);
	tsr_vm_unref(image->vm);
	free(image);
}

void tsr_image_get_info(const struct tsr_image *image, struct tsr_image_info *info, size_t size)
{
	tsr_copy_out(info, size, &image->info, sizeof(image->info));
}

uint64_t gfx_image_offset(const struct tsr_image *image, uint32_t level, uint32_t layer,
			  uint32_t sample)
{
	const struct gfx_level *l = &image->level[level];

	if (image->info.depth)
		return l->offset + layer * l->surface.size;
	return (layer * (uint64_t)image->info.samples + sample) * image->sample_size + l->offset;
}

/* A surface; @keep: its address goes to the caller. */
static int open_surface(struct tsr_image *image, uint32_t level, uint32_t layer,
			uint32_t sample, struct tsr_surface *surface, void **cpu, bool keep)
{
	const struct tsr_image_info *i = &image->info;
	uint64_t offset;
	void *base;
	int ret;

	if (level >= i->levels || sample >= i->samples ||
	    layer >= (i->depth ? image->level[level].depth : i->layers))
		return tsr_fail(EINVAL, "level %u, layer %u, sample %u of an image of %u, %u, %u",
				level, layer, sample, i->levels, i->depth ? i->depth : i->layers,
				i->samples);
	ret = gfx_image_open(image, keep);
	if (ret)
		return ret;
	offset = gfx_image_offset(image, level, layer, sample);
	if (cpu) {
		ret = tsr_bo_map(image->bo, &base);
		if (ret)
			return ret;
		*cpu = (char *)base + offset;
	}
	*surface = image->level[level].surface;
	surface->va = image->va + offset;
	return 0;
}

int tsr_image_get_surface(struct tsr_image *image, uint32_t level, uint32_t layer, uint32_t sample,
			  struct tsr_surface *surface, void **cpu)
{
	if (gfx_block_bytes(image->info.format) && image->info.layout == TSR_LAYOUT_TILED)
		return tsr_fail(EINVAL, "surface of a tiled image of format %u, whose tiles are of "
				"blocks", image->info.format);
	return open_surface(image, level, layer, sample, surface, cpu, true);
}

int tsr_image_write(struct tsr_image *image, uint32_t level, uint32_t layer, const void *texels,
		    size_t pitch)
{
	struct tsr_surface s;
	void *cpu;
	int ret = open_surface(image, level, layer, 0, &s, &cpu, false);

	if (!ret && gfx_block_bytes(image->info.format))
		return gfx_blocks_copy(&s, cpu, (void *)(uintptr_t)texels, pitch, true);
	if (!ret && tsr_surface_write(&s, cpu, 0, 0, s.width, s.height,
				      texels, pitch))
		ret = tsr_fail(EINVAL, "rows of an image %zu bytes apart, expected %u or more",
			       pitch, s.width * s.texel);
	return ret;
}

int tsr_image_read(struct tsr_image *image, uint32_t level, uint32_t layer, void *texels,
		   size_t pitch)
{
	struct tsr_surface s;
	void *cpu;
	int ret = open_surface(image, level, layer, 0, &s, &cpu, false);

	if (!ret && gfx_block_bytes(image->info.format))
		return gfx_blocks_copy(&s, cpu, texels, pitch, false);
	if (!ret && tsr_surface_read(&s, cpu, 0, 0, s.width, s.height,
				     texels, pitch))
		ret = tsr_fail(EINVAL, "rows of an image %zu bytes apart, expected %u or more",
			       pitch, s.width * s.texel);
	return ret;
}

int tsr_image_export(struct tsr_image *image, int *fd)
{
	int ret;

	if (!(image->info.flags & TSR_IMAGE_EXPORTABLE))
		return tsr_fail(EPERM, "export of an image without TSR_IMAGE_EXPORTABLE");
	ret = gfx_image_open(image, true);
	return ret ? ret : tsr_bo_export(image->bo, fd);
}
