/* SPDX-License-Identifier: MIT */
/* Fences: a point of the screen's timeline, a sync file's, or a semaphore of another API. */
#ifndef TG_FENCE_H
#define TG_FENCE_H

#include "pipe/p_context.h"

struct pipe_fence_handle;
struct tg_context;
struct tg_screen;

struct pipe_fence_handle *tg_fence_create(struct tg_screen *screen, uint64_t point);

/* tg_fence_forget(): the jobs that wait for imported fences are submitted. */
void tg_fence_forget(struct tg_context *ctx);

void tg_fence_screen_init(struct pipe_screen *screen);
void tg_fence_context_init(struct pipe_context *pipe);

#endif
