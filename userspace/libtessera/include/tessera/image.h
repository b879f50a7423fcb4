/* SPDX-License-Identifier: MIT */
/*
 * libtessera-gfx: images, and how shaders see them and buffers.
 *
 * An image is a texture, a storage image, what is drawn to, or all of them: memory with levels,
 * layers and samples. A view says how a shader sees an image or a buffer of elements; a sampler how
 * it reads textures. Views and samplers are plain data, for dispatches (compute.h) and draws
 * (gfx.h) alike.
 *
 * The rules of tessera.h hold. Images may be shared by threads. Formats, orders of components and
 * layouts are the hardware's, see Documentation/hw/descriptors.xml.
 */
#ifndef TESSERA_IMAGE_H
#define TESSERA_IMAGE_H

#include <tessera/layout.h>
#include <tessera/tessera.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tsr_image;

/* ---- Images ---------------------------------------------------------------------------------- */

enum tsr_image_flags {
	TSR_IMAGE_COMPRESSED = 1 << 0,	/* a target with metadata, see struct tsr_gfx_target */
	TSR_IMAGE_CUBE = 1 << 1,	/* layers are faces of cubes: +x -x +y -y +z -z, 6 each */
	TSR_IMAGE_EXPORTABLE = 1 << 2	/* tsr_image_export() */
};

/* Zeroed fields are the defaults. */
struct tsr_image_info {
	enum tsr_pixel_format format;
	enum tsr_component_order order;
	bool srgb;		/* red, green and blue have the sRGB curve */
	enum tsr_layout layout;
	uint32_t width, height;	/* texels of level 0; height 0 counts as 1 */
	uint32_t depth;		/* slices of level 0 of a volume; 0: it is no volume */
	uint32_t layers;	/* of an array, of cubes all faces; 0 counts as 1 */
	uint32_t levels;	/* 0 counts as 1 */
	uint32_t samples;	/* of a texel, a power of two up to 16; 0 counts as 1 */
	uint32_t flags;		/* enum tsr_image_flags */
	uint32_t bo_flags;	/* enum drm_tessera_bo_flags; 0: cached by the CPU */
	uint32_t block_width, block_height;	/* of ASTC, texels of a block; 0: 4 by 4 */
};

/* Blocks of a format, which are texels where it is not compressed. */
struct tsr_block {
	uint32_t width, height;	/* texels */
	uint32_t bytes;
};

/* tsr_format_block(): those of @format, of ASTC the smallest. -EINVAL: there is no format. */
int tsr_format_block(enum tsr_pixel_format format, struct tsr_block *block);

/*
 * tsr_image_create(): an image in memory of its own, mapped in @vm for reading and writing; its
 * content is zero. @size is sizeof(*@info). -EINVAL for a size, format or combination the GPU does
 * not have. An image of a compressed format is a texture and nothing else: no target, no storage
 * image, no vertex buffer.
 */
int tsr_image_create(struct tsr_vm *vm, const struct tsr_image_info *info, size_t size,
		     struct tsr_image **image);

struct tsr_image *tsr_image_ref(struct tsr_image *image);
void tsr_image_unref(struct tsr_image *image);

/* tsr_image_get_info(): what it was made with, defaults filled in. @size is sizeof(*@info). */
void tsr_image_get_info(const struct tsr_image *image, struct tsr_image_info *info, size_t size);

/*
 * tsr_image_get_surface(): one rectangle of it for tsr_cmd_copy_image(), tsr_surface_write() and so
 * on: level @level of layer (or slice) @layer, sample @sample. *@cpu, if @cpu is not NULL, gets the
 * CPU address of its first byte. -EINVAL if there is none such, -EPERM for *@cpu with NO_MMAP. Of
 * an image of a compressed format texels are blocks; if it is tiled that is -EINVAL, its tiles are
 * others. With TSR_IMAGE_COMPRESSED it may wait for the GPU, and compresses the image no longer.
 */
int tsr_image_get_surface(struct tsr_image *image, uint32_t level, uint32_t layer, uint32_t sample,
			  struct tsr_surface *surface, void **cpu);

/*
 * tsr_image_get_copy_surface(): the same rectangle for tsr_cmd_copy_image() and
 * tsr_cmd_fill_image() alone. An image with TSR_IMAGE_COMPRESSED stays compressed, and the copy is
 * ordered after its passes by the caller. Texels that are read are as if it were not compressed.
 * Blocks that are written, with @write, lose their metadata. Without DRM_TESSERA_FEATURE_TAGGED,
 * and with @write for an image of several samples, this is tsr_image_get_surface(). The image is
 * alive while the copy runs.
 */
int tsr_image_get_copy_surface(struct tsr_image *image, uint32_t level, uint32_t layer,
			       uint32_t sample, bool write, struct tsr_surface *surface);

/*
 * tsr_image_export(): its memory as a dma-buf, for a screen, another device or process: level 0 of
 * layer 0 begins at its first byte, and has the layout and pitch of tsr_image_get_surface(). *@fd
 * is the caller's to close. Jobs do not order themselves by what others do with it: fences do.
 * With TSR_IMAGE_COMPRESSED it may wait for the GPU, and compresses the image no longer. -EPERM
 * without TSR_IMAGE_EXPORTABLE.
 */
int tsr_image_export(struct tsr_image *image, int *fd);

/*
 * tsr_image_write(), tsr_image_read(): all texels of one surface (sample 0) from or to rows @pitch
 * bytes apart, on the CPU, while the GPU does not use it; of a compressed format all blocks, those
 * at the edges too, from or to rows of blocks.
 */
int tsr_image_write(struct tsr_image *image, uint32_t level, uint32_t layer, const void *texels,
		    size_t pitch);
int tsr_image_read(struct tsr_image *image, uint32_t level, uint32_t layer, void *texels,
		   size_t pitch);

/* ---- Views ----------------------------------------------------------------------------------- */

enum tsr_shader_access {
	TSR_SHADER_READ = 1 << 0,
	TSR_SHADER_WRITE = 1 << 1
};

enum tsr_view_dimension {
	TSR_VIEW_SAME = 0,	/* what the image is */
	TSR_VIEW_1D, TSR_VIEW_2D, TSR_VIEW_3D, TSR_VIEW_CUBE
};

/*
 * A view: a resource that a shader names by number. Zeroed fields are the defaults.
 *
 * As a texture, a view is an image. The sampler determines coordinates and filters.
 * As an attribute, a view is a buffer or a level of an image. A buffer is an array of elements of
 * @format, @stride bytes apart (LD_ATTR, and LEA_ATTR for their address; both with the element's
 * number as vertex). A level belongs to an image of one sample, with its layers or slices
 * (LD_ATTR_TEX, LEA_ATTR_TEX). Accesses are bounded: loads beyond the end return 0, and stores and
 * atomics have no effect.
 */
struct tsr_view {
	struct tsr_image *image;	/* NULL: it is a buffer */
	uint32_t access;		/* attribute: enum tsr_shader_access, what is done */
	enum tsr_pixel_format format;	/* an image's of the same size; 0: the image's */
	enum tsr_component_order order;	/* attribute; 0: as they are */

	/* an image */
	enum tsr_view_dimension dimension;	/* texture */
	uint32_t first_level, levels;	/* levels 0: all that are left; attribute: the first one */
	uint32_t first_layer, layers;	/* layers 0: all that are left; of cubes in faces */
	uint8_t swizzle[4];		/* texture: enum tsr_component of r, g, b, a; all 0: same */

	/* a buffer */
	uint32_t stride;		/* bytes from element to element */
	uint64_t va;			/* its first byte */
	uint64_t size;			/* bytes, below 4 GiB */
};

/* ---- Samplers -------------------------------------------------------------------------------- */

/* How textures are read; Documentation/hw/descriptors.xml has more about each field (SAMPLER). */
struct tsr_sampler_state {
	enum tsr_wrap_mode wrap_s, wrap_t, wrap_r;	/* along x, y, z */
	bool normalized;	/* coordinates are 0 to 1 across the texture; else texels */
	bool min_nearest;	/* no filter within a level when the texture is made smaller */
	bool mag_nearest;	/* none when it is made larger */
	bool mag_cutoff;	/* magnification ends at a level of detail of 0.5, not 0 */
	bool seamless;		/* filters reach over the edges of cube faces */
	bool clamp_layer;	/* to the image; else a layer outside reads 0 */
	bool srgb_override;	/* sRGB textures are read as if they were linear */
	enum tsr_mipmap_mode mipmap;
	enum tsr_compare_function compare;	/* of shadow lookups */
	enum tsr_lod_algorithm lod_algorithm;
	uint32_t min_lod, max_lod;	/* bounds of the level of detail, 8 fraction bits */
	int32_t lod_bias;		/* added to it, 8 fraction bits */
	uint32_t anisotropy;	/* most places along the longer derivative, minus 1, up to 15 */
	uint32_t border[4];	/* red, green, blue, alpha, as the format is */
};

/* tsr_sampler_init(): normalized coordinates, @wrap in all directions, nearest or @linear. */
void tsr_sampler_init(struct tsr_sampler_state *sampler, enum tsr_wrap_mode wrap, bool linear);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_IMAGE_H */
