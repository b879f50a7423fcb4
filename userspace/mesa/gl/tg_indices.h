/* SPDX-License-Identifier: MIT */
/* The vertices of a draw as the CPU reads them, and the primitives that they are. */
#ifndef TG_INDICES_H
#define TG_INDICES_H

#include "tg_context.h"

struct tg_indices {
	const struct pipe_draw_info *info;
	const uint8_t *data;		/* indices; NULL: vertices are counted from @start */
	uint32_t start, count;
	int32_t bias;
};

/*
 * tg_indices_read(): those of @draw that are there, when the GPU has written them. @flush: what the
 * context has recorded may write them too.
 */
void tg_indices_read(struct tg_context *ctx, const struct pipe_draw_info *info,
		     const struct pipe_draw_start_count_bias *draw, bool flush,
		     struct tg_indices *indices);

/* tg_indices_bound(): the largest index plus 1, the bias not added; 0 if there is none. */
uint64_t tg_indices_bound(const struct tg_indices *indices);

/*
 * tg_indices_list(): the numbers of the vertices of all primitives, one after the other: a point's,
 * two of a line, three of a triangle, four of a quad, six of a triangle with neighbors. @first: the
 * provoking vertex is the first one. @out NULL: only count them. @ends: of MESA_PRIM_POLYGON, a
 * uint32_t for each polygon, the number of vertices up to its end; may be NULL. Returns how many
 * there are.
 */
uint32_t tg_indices_list(const struct tg_indices *indices, bool first, uint32_t *out,
			 struct util_dynarray *ends);

#endif
