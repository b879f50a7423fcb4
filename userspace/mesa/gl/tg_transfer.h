/* SPDX-License-Identifier: MIT */
/* Reads and writes by the CPU of resources that the GPU may use (tg_update.c). */
#ifndef TG_TRANSFER_H
#define TG_TRANSFER_H

#include "tg_context.h"
#include "tg_resource.h"

/*
 * tg_sync(): the CPU may do what @usage (PIPE_MAP_*) says with the resource's memory. Submits and
 * waits if it has to. Returns false if @usage has DONTBLOCK and it would have to wait.
 */
bool tg_sync(struct tg_context *ctx, struct tg_resource *r, unsigned usage);

/* tg_replace(): new memory with undefined contents, if the old one is in use. */
bool tg_replace(struct tg_context *ctx, struct tg_resource *r);

/* tg_is_idle(): neither submitted batches nor those of the context use the resource. */
bool tg_is_idle(struct tg_context *ctx, struct tg_resource *r);

/*
 * tg_buffer_ready(): prepare [@at, @at + @size) of a buffer for being overwritten by the CPU now,
 * without waiting: nothing uses the range, or the buffer gets new memory. Returns false if it
 * cannot be done.
 */
bool tg_buffer_ready(struct tg_context *ctx, struct tg_resource *r, unsigned at, unsigned size);

/* tg_buffer_update(): overwrite the range with @data, by the COPY engine if it is in use. */
void tg_buffer_update(struct tg_context *ctx, struct tg_resource *r, unsigned at, unsigned size,
		      const void *data);

/* tg_texture_update(): overwrite a box of a texture that is one resource and has one sample. */
void tg_texture_update(struct tg_context *ctx, struct tg_resource *r, unsigned level,
		       const struct pipe_box *box, const void *data, unsigned stride,
		       uintptr_t layer_stride);

/*
 * tg_texture_fetch(): the texels of a box as rows in memory of its own, read by the COPY engine.
 * Waits for it. Returns NULL if it cannot be done or the CPU is as fast.
 */
struct tg_bo *tg_texture_fetch(struct tg_context *ctx, struct tg_resource *r, unsigned level,
			       const struct pipe_box *box);

#endif
