/* SPDX-License-Identifier: MIT */
/* Buffers and textures. */
#ifndef TG_RESOURCE_H
#define TG_RESOURCE_H

#include "util/u_range.h"

#include "tc_layout.h"
#include "tg_bo.h"
#include <tessera/layout.h>

struct tg_batch;

struct tg_resource {
	struct pipe_resource base;
	struct tg_bo *bo;
	uint64_t offset;		/* of the first byte in the BO */
	struct tc_layout mem;		/* of a buffer only its size */
	struct sw_displaytarget *window; /* what the window system shows of it, see tg_window.h */
	unsigned window_stride;
	struct pipe_resource *stencil;	/* of a Z32_FLOAT_S8X24_UINT, which is depth alone; owned by
					   u_transfer_helper */
	enum pipe_format format;	/* what is in memory */
	struct util_range valid;	/* bytes of a buffer that may have been written */
};

struct tg_transfer {
	struct pipe_transfer base;
	void *staging;		/* malloc()'s: what is mapped in place of the resource */
	struct tg_bo *rows;	/* the same, filled by the COPY engine */
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

/*
 * tg_resource_memory(): memory of @size bytes for such a resource; NULL if there is none.
 */
struct tg_bo *tg_resource_memory(struct tg_screen *screen, const struct pipe_resource *template,
				 uint64_t size);

/*
 * tg_resource_slice(): a level of a layer (or a slice of a volume) and of one sample as a plain 2D
 * texture of @format, in the same memory; NULL if there is no memory for it. Its texels have the
 * size of @r's.
 */
struct pipe_resource *tg_resource_slice(struct tg_resource *r, unsigned level, unsigned layer,
					unsigned sample, enum pipe_format format);

/*
 * tg_resource_in(): a resource in memory that another API has laid out, from @offset on; NULL if
 * it does not fit.
 */
struct pipe_resource *tg_resource_in(struct pipe_screen *screen,
				     const struct pipe_resource *template, struct tg_bo *bo,
				     uint64_t offset);

/* tg_resource_extent(): write the first @dimensions of a level's width, height, depth to @out. */
void tg_resource_extent(const struct pipe_resource *resource, unsigned level, unsigned dimensions,
			uint32_t *out);

/* tg_resource_write(): the batch writes [@start, @start + @size) of a buffer, or a texture. */
void tg_resource_write(struct tg_batch *batch, struct tg_resource *r, uint64_t start,
		       uint64_t size);

/* False: there is no memory. */
bool tg_resource_screen_init(struct pipe_screen *screen);
void tg_resource_context_init(struct pipe_context *context);
void tg_memobj_screen_init(struct pipe_screen *screen);

/* Maps of a texture that is one resource and has one sample. */
void *tg_texture_map(struct pipe_context *pipe, struct pipe_resource *resource, unsigned level,
		     unsigned usage, const struct pipe_box *box, struct pipe_transfer **out);
void tg_texture_unmap(struct pipe_context *pipe, struct pipe_transfer *transfer);
void tg_flush_region(struct pipe_context *pipe, struct pipe_transfer *transfer,
		     const struct pipe_box *box);

#endif
