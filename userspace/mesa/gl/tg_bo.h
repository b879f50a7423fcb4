/* SPDX-License-Identifier: MIT */
/*
 * Memory of resources: a BO with its addresses, counted; what is not used any more is kept for the
 * next one. Small ones share a BO: each is a part of it.
 */
#ifndef TG_BO_H
#define TG_BO_H

#include "pipe/p_state.h"
#include "util/u_inlines.h"

#include "tg_screen.h"

struct tg_bo {
	struct pipe_reference reference;
	struct tg_screen *screen;
	struct tsr_bo *bo;		/* NULL: a part of @parent */
	struct tg_bo *parent;		/* referenced; NULL for a BO of its own */
	uint64_t va, size;
	uint8_t *map;			/* on the CPU; NULL: not mappable */
	bool shared;			/* others know it: never goes to the cache */
	int dmabuf;			/* its dma-buf; -1: no fences but ours (tg_share.h) */
	struct tsr_sync *others;	/* to wait for the fences of that */
	_Atomic uint64_t used, written;	/* points of the last batches that name it, that write it */
	_Atomic uint64_t batch;		/* number of the batch being recorded that named it last */
	struct list_head link;		/* in the cache, or in tg_screen.shared */
};

/*
 * tg_bo_create(): at least @size bytes with undefined contents; NULL if there is no memory.
 * tg_bo_create_whole(): never a part of another BO, so that it can be exported.
 */
struct tg_bo *tg_bo_create(struct tg_screen *screen, uint64_t size, const char *label);
struct tg_bo *tg_bo_create_whole(struct tg_screen *screen, uint64_t size, const char *label);

/*
 * tg_bo_reclaim(): after an allocation that failed, give back what nothing uses, of attempt 1 on
 * also what submitted batches use, when they are done. False: there is no more; do not try again.
 * The screen's lock is not held.
 */
bool tg_bo_reclaim(struct tg_screen *screen, unsigned attempt);

/* tg_bo_import(): the BO of a dma-buf: the same object each time. */
struct tg_bo *tg_bo_import(struct tg_screen *screen, int fd);

void tg_bo_destroy(struct tg_bo *bo);	/* with the last reference */

/*
 * tg_bo_busy(): whether a submitted batch may still read it (@write: or only those that write it).
 */
bool tg_bo_busy(struct tg_bo *bo, bool write_only);

void tg_bo_wait(struct tg_bo *bo, bool write_only);

static inline void tg_bo_reference(struct tg_bo **to, struct tg_bo *bo)
{
	struct tg_bo *old = *to;

	if (pipe_reference(old ? &old->reference : NULL, bo ? &bo->reference : NULL))
		tg_bo_destroy(old);
	*to = bo;
}

/* tg_bo_cache_empty(): give everything back; the screen's lock is held. */
void tg_bo_cache_empty(struct tg_screen *screen);

#endif
