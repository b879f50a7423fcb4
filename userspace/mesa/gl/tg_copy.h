/* SPDX-License-Identifier: MIT */
/*
 * Copies by the COPY engine. A context collects them in a batch of their own, ctx->copies, which
 * runs before the frame that is being recorded, ctx->batch. A copy may join it only if that order
 * is right: the frame does not use what the copy writes and does not write what it reads.
 * tg_copy_begin() ends the frame otherwise.
 *
 * The alternative, a job for each copy in the place where the program asked for it, ends the frame
 * at every upload. A frame that is cut in two stores its targets and loads them again.
 */
#ifndef TG_COPY_H
#define TG_COPY_H

#include "tg_batch.h"
#include "tg_resource.h"

/* A part of a texture: where the texel or block (x, y) of a layer, or slice, and sample is. */
struct tg_place {
	struct tg_resource *resource;
	unsigned level, layer, sample, x, y;
};

enum tg_copy_flip { TG_FLIP_X = 1, TG_FLIP_Y = 2 };

/*
 * tg_copy_begin(): the packets that follow write @dst and read @src, which may be NULL. They see
 * what all calls before left. Returns false if the screen has no COPY queue or there is no memory.
 */
bool tg_copy_begin(struct tg_context *ctx, struct tg_bo *dst, struct tg_bo *src);

/* tg_copy_linear(), tg_copy_fill(): after tg_copy_begin(). @bytes is 1 to 16 and divides @size. */
void tg_copy_linear(struct tg_context *ctx, uint64_t dst, uint64_t src, uint64_t size);
void tg_copy_fill(struct tg_context *ctx, uint64_t dst, uint64_t size, const void *pattern,
		  unsigned bytes);

/* tg_copy_fits(): whether the engine can address the levels of the resource. */
bool tg_copy_fits(const struct tg_resource *r);

/*
 * tg_copy_place(): after tg_copy_begin(), @width x @height texels or blocks of the same size in
 * both. @flip: enum tg_copy_flip.
 */
void tg_copy_place(struct tg_context *ctx, const struct tg_place *dst, const struct tg_place *src,
		   unsigned width, unsigned height, unsigned flip);

/* tg_copy_rows(): the same from, or @write to, rows of texels at @va, @pitch bytes apart. */
void tg_copy_rows(struct tg_context *ctx, const struct tg_place *at, unsigned width,
		  unsigned height, uint64_t va, uint32_t pitch, bool write_rows);

/*
 * tg_copy_stage(): after tg_copy_begin(), memory that the copies may read, for the caller to fill
 * at once; NULL if there is none.
 */
void *tg_copy_stage(struct tg_context *ctx, uint64_t size, uint64_t *va);

/* tg_copy_finish(): write the stream: list_va and list_size. Returns false if memory is short. */
bool tg_copy_finish(struct tg_batch *copies);

/* tg_copy_flush(): submit the copies without a frame. */
void tg_copy_flush(struct tg_context *ctx);

#endif
