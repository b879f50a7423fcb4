/* SPDX-License-Identifier: MIT */
/* Copies that are drawn, by Mesa's blitter. */
#ifndef TG_BLIT_H
#define TG_BLIT_H

#include "tg_context.h"

/*
 * tg_blit_save(): the blitter restores what is bound now. @condition: and keeps the render
 * condition.
 */
void tg_blit_save(struct tg_context *ctx, bool condition);

/* tg_blitter_create(): NULL if there is no memory. */
struct blitter_context *tg_blitter_create(struct pipe_context *pipe);

/*
 * tg_blit_bytes(): a blit of the depth or the stencil alone of texels that hold both. Returns false
 * if it is another one.
 */
bool tg_blit_bytes(struct tg_context *ctx, const struct pipe_blit_info *info);

/* tg_blit_resolve(): a blit that averages samples, without scaling; false if it is another one. */
bool tg_blit_resolve(struct tg_context *ctx, const struct pipe_blit_info *info);

/*
 * tg_blit_texels(): a blit without scaling by a compute shader, of most of a level (tg_texels.c);
 * false if it is another one. The blit may be done again.
 */
bool tg_blit_texels(struct tg_context *ctx, const struct pipe_blit_info *info);

/*
 * tg_blit_has_slices(): layers exist, are not scaled and can be blitted one by one as textures of
 * their own.
 */
bool tg_blit_has_slices(const struct pipe_blit_info *info);

/* tg_blit_slices(): a blit of textures with one sample, slice by slice; false likewise. */
bool tg_blit_slices(struct tg_context *ctx, const struct pipe_blit_info *info);

/* tg_blit_destroy(), tg_texels_destroy(): the shaders. */
void tg_blit_destroy(struct tg_context *ctx);
void tg_texels_destroy(struct tg_context *ctx);

#endif
