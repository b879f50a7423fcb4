/* SPDX-License-Identifier: MIT */
/*
 * BOs that others know, by a dma-buf or as a picture on a screen. The kernel orders jobs by syncs
 * alone; what others wait for, and what has to be waited for, are the fences of the dma-buf.
 */
#ifndef TG_SHARE_H
#define TG_SHARE_H

#include "tg_batch.h"

/*
 * tg_share_open(): others may know @bo from now on; what was submitted already is in its fences
 * when this returns. Any thread. Returns false if it has no dma-buf, as a part of a BO has none.
 */
bool tg_share_open(struct tg_bo *bo);

/*
 * tg_share_before(): jobs of screen->submit wait for others: @writer for what the batch writes,
 * @reader for what it only reads. The screen's lock is held. 0 or a negative errno.
 */
int tg_share_before(struct tg_batch *batch, int reader, int writer);

/* tg_share_after(): others wait for the batch, which is @point; the screen's lock is held. */
void tg_share_after(struct tg_batch *batch, uint64_t point);

/*
 * tg_share_busy(): whether others still use @bo (not @write: still write it).
 * tg_share_wait(): until they do not.
 */
bool tg_share_busy(struct tg_bo *bo, bool write);
void tg_share_wait(struct tg_bo *bo, bool write);

#endif
