/* SPDX-License-Identifier: MIT */
/* What the two halves of recording a dispatch share: dispatch.c and bindings.c. */
#ifndef TSR_DISPATCH_H
#define TSR_DISPATCH_H

#include "stream.h"
#include "tessera_compute.h"

#define TSR_BINDING_EXTENTS (TSR_UNIFORMS_MAX + TSR_VIEWS_MAX + TSR_TEXTURES_MAX)

/* tsr_stream_data(): @size bytes in the stream, in one piece; *@va is aligned to 64. NULL: no. */
TSR_HIDDEN uint64_t *tsr_stream_data(struct tsr_stream *stream, uint32_t size, uint64_t *va);

/* tsr_bindings_check(): what the hardware would refuse, or misread, in what a dispatch binds. */
TSR_HIDDEN int tsr_bindings_check(struct tsr_stream *stream, const struct tsr_dispatch_info *d);

/* tsr_bindings_extents(): the memory it names, at most TSR_BINDING_EXTENTS; returns how many. */
TSR_HIDDEN unsigned int tsr_bindings_extents(const struct tsr_dispatch_info *d,
					     struct tsr_extent *extents);

/* tsr_bindings_write(): its tables, into the stream; fills in their fields of @state. */
TSR_HIDDEN int tsr_bindings_write(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
				  struct tsr_compute_state *state);

/*
 * tsr_view_write(): a view's ATTRIBUTE at @attribute and, at @buffer, both 16-byte entries of its
 * buffer, which are number @index and the next: the memory, and the shape of an image.
 */
TSR_HIDDEN void tsr_view_write(const struct tsr_view *view, uint64_t *attribute, uint64_t *buffer,
			       uint32_t index);

#endif /* TSR_DISPATCH_H */
