/* SPDX-License-Identifier: MIT */
/*
 * Buffers and textures. A texture is layers (of cubes faces, each sample of a layer one), each a
 * pyramid of levels; of a volume a level is its slices one behind the other.
 */
#ifndef TG_RESOURCE_H
#define TG_RESOURCE_H

#include "tg_bo.h"
#include <tessera/layout.h>

#define TG_LEVELS 16

struct tg_level {
	uint64_t offset;	/* in a layer */
	uint64_t slice;		/* bytes of a slice */
	uint32_t pitch;		/* bytes from row (of tiles, of blocks) to row */
};

struct tg_resource {
	struct pipe_resource base;
	struct tg_bo *bo;
	uint64_t offset;		/* of the first byte in the BO */
	uint64_t layer;			/* bytes from layer to layer */
	uint64_t sample;		/* bytes from sample to sample */
	uint64_t size;
	uint32_t layout;		/* enum tsr_layout */
	uint32_t texel;			/* bytes of a texel, or of a block */
	struct pipe_resource *stencil;	/* of a Z32_FLOAT_S8X24_UINT, which is depth alone; owned by
					   u_transfer_helper */
	enum pipe_format format;	/* what is in memory */
	struct tg_level level[TG_LEVELS];
};

struct tg_transfer {
	struct pipe_transfer base;
	void *staging; /* rows of a texture that cannot be shown as it is, malloc()'s */
};

static inline struct tg_resource *tg_resource(struct pipe_resource *resource)
{
	return (struct tg_resource *)resource;
}

/* tg_resource_offset(): where a slice or layer of a level begins in the BO. */
uint64_t tg_resource_offset(const struct tg_resource *r, unsigned level, unsigned layer,
			    unsigned sample);

static inline uint64_t tg_resource_va(const struct tg_resource *r, unsigned level, unsigned layer,
				      unsigned sample)
{
	return r->bo->va + tg_resource_offset(r, level, layer, sample);
}

/* False: there is no memory. */
bool tg_resource_screen_init(struct pipe_screen *screen);
void tg_resource_context_init(struct pipe_context *context);

/* Of a texture that is one resource and has one sample. */
void *tg_texture_map(struct pipe_context *pipe, struct pipe_resource *resource, unsigned level,
		     unsigned usage, const struct pipe_box *box, struct pipe_transfer **out);
void tg_texture_unmap(struct pipe_context *pipe, struct pipe_transfer *transfer);
void tg_flush_region(struct pipe_context *pipe, struct pipe_transfer *transfer,
		     const struct pipe_box *box);

#endif
