/* SPDX-License-Identifier: MIT */
/* The RENDER engine as the rest of the model sees it; its step is in engine.h. */
#ifndef TSR_TILE_RENDER_ENGINE_H
#define TSR_TILE_RENDER_ENGINE_H

struct tsr_queue;

/* Forget the command in progress, and its memory. The queue is at a stopping point. */
void tsr_render_drop(struct tsr_queue *q);

#endif
