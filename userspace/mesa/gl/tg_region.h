/* SPDX-License-Identifier: MIT */
/*
 * Regions of textures and buffers that are copied bit by bit, by the COPY engine. Each function
 * returns false, and does nothing, if the engine cannot do it; the caller draws or uses the CPU.
 */
#ifndef TG_REGION_H
#define TG_REGION_H

#include "tg_context.h"

/* tg_region_copy(): pipe_context.resource_copy_region of two textures. */
bool tg_region_copy(struct tg_context *ctx, struct pipe_resource *dst, unsigned dst_level,
		    unsigned x, unsigned y, unsigned z, struct pipe_resource *src,
		    unsigned src_level, const struct pipe_box *box);

/* tg_region_copy_buffer(): the same of two buffers. */
bool tg_region_copy_buffer(struct tg_context *ctx, struct pipe_resource *dst, unsigned to,
			   struct pipe_resource *src, unsigned from, unsigned size);

/* tg_region_blit(): a blit that changes no bits. Its render condition holds. */
bool tg_region_blit(struct tg_context *ctx, const struct pipe_blit_info *info);

#endif
