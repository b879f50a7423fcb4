/* SPDX-License-Identifier: MIT */
/*
 * Code that dispatches and draws share: views, resolved to memory and descriptors (bindings.c,
 * gfx/gfx_view.c), and their tables.
 */
#ifndef TSR_DISPATCH_H
#define TSR_DISPATCH_H

#include <tessera/compute.h>

#include "core/stream.h"

#define TSR_BINDING_EXTENTS (TSR_UNIFORMS_MAX + TSR_VIEWS_MAX + TSR_TEXTURES_MAX)

/* A view as an attribute: a buffer, or the first of @layers surfaces, @layer_stride bytes apart. */
struct tsr_placed {
	uint64_t va, size;
	uint32_t access, format, order;
	uint32_t stride;		/* buffer */
	uint32_t layers;		/* 0: it is a buffer */
	uint64_t layer_stride;
	struct tsr_surface surface;
	uint64_t tags, tag_state;	/* 0 unless it is an image that is read through its tags */
};

/* A view as a texture: the descriptor but for the address of @surfaces, and all memory it reads. */
struct tsr_sampled {
	struct tsr_texture texture;
	struct tsr_texture_surface surfaces[TSR_SURFACES_MAX + 1];	/* TEXTURE_TAGS last */
	uint32_t surface_count;
	uint64_t va, size;
};

/* The views of one dispatch. */
struct tsr_resolved {
	struct tsr_placed views[TSR_VIEWS_MAX];
	struct tsr_sampled textures[TSR_TEXTURES_MAX];
};

/*
 * tsr_view_place(), tsr_view_sample(): resolve a view; errors say what does not fit. The former
 * opens an image without tags for the GPU for good, the latter leaves that to tsr_view_open(): it
 * may wait for the GPU.
 */
TSR_HIDDEN int tsr_view_place(const struct tsr_view *view, struct tsr_placed *placed);
TSR_HIDDEN int tsr_view_sample(const struct tsr_view *view, struct tsr_sampled *sampled);
TSR_HIDDEN int tsr_view_open(const struct tsr_view *view);

/* tsr_stream_data(): @size bytes in the stream, in one piece; *@va is aligned to 64. NULL: no. */
TSR_HIDDEN uint64_t *tsr_stream_data(struct tsr_stream *stream, uint32_t size, uint64_t *va);

/* tsr_bindings_check(): what the hardware would refuse, or misread; resolves the views. */
TSR_HIDDEN int tsr_bindings_check(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
				  struct tsr_resolved *r);

/* tsr_bindings_extents(): the memory it names, at most TSR_BINDING_EXTENTS; returns how many. */
TSR_HIDDEN unsigned int tsr_bindings_extents(const struct tsr_dispatch_info *d,
					     const struct tsr_resolved *r,
					     struct tsr_extent *extents);

/* tsr_bindings_write(): its tables, into the stream; fills in their fields of @state. */
TSR_HIDDEN int tsr_bindings_write(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
				  const struct tsr_resolved *r, struct tsr_compute_state *state);

/*
 * tsr_placed_write(): a view's ATTRIBUTE at @attribute and, at @buffer, the TSR_VIEW_ENTRIES
 * 16-byte entries of its buffer, from number @index on: the memory, and an image's shape and tags.
 */
#define TSR_VIEW_ENTRIES 3
TSR_HIDDEN void tsr_placed_write(const struct tsr_placed *view, uint64_t *attribute,
				 uint64_t *buffer, uint32_t index);

#endif /* TSR_DISPATCH_H */
