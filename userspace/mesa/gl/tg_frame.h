/* SPDX-License-Identifier: MIT */
/* FRAME, its targets, and the list of what is done with each tile. */
#ifndef TG_FRAME_H
#define TG_FRAME_H

#include "tg_batch.h"

struct tg_frame {
	uint64_t *words;	/* FRAME; the heap is filled in when it is submitted */
	uint64_t va;
	uint64_t render_va;	/* RENDER's list */
	uint32_t render_size;
};

/*
 * tg_frame_write(): false if there is no memory or the framebuffer is beyond what the device can.
 */
bool tg_frame_write(struct tg_batch *batch, struct tg_frame *frame);

#endif
