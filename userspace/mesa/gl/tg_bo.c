/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "util/log.h"
#include "util/os_time.h"
#include "util/u_math.h"
#include "util/u_memory.h"

#include "tg_bo.h"
#include "tg_share.h"

#define PAGE		4096ull
#define PART_SMALLEST	256ull
#define PART_LARGEST	(PART_SMALLEST << (TG_PART_BUCKETS - 1))
#define PARTS		16u		/* what one BO is divided into, at least */
#define PARTS_BYTES	(64ull << 10)	/* the smallest BO that is divided */
#define CACHE_MOST	(128ull << 20)	/* bytes that wait to be used again */
#define BUCKET_LARGEST	(32ull << 20)	/* what is larger is not kept */
#define RECLAIM_ATTEMPTS	2

static unsigned bucket_of(uint64_t size)
{
	return util_logbase2_ceil64(DIV_ROUND_UP(size, PAGE));
}

static unsigned part_bucket_of(uint64_t size)
{
	return util_logbase2_ceil64(DIV_ROUND_UP(size, PART_SMALLEST));
}

static struct list_head *cache_of(struct tg_screen *screen, const struct tg_bo *bo)
{
	return bo->parent ? &screen->part_cache[part_bucket_of(bo->size)]
			  : &screen->bo_cache[bucket_of(bo->size)];
}

static void release(struct tg_bo *bo)
{
	struct tg_bo *parent = bo->parent;

	if (parent) {
		FREE(bo);
		if (pipe_reference(&parent->reference, NULL))
			release(parent);
		return;
	}
	tg_count(bo->screen->counters, TG_COUNTER_MEMORY, -bo->size);
	if (bo->va)
		tsr_vm_unmap(bo->screen->vm, bo->va, bo->size);
	if (bo->dmabuf >= 0)
		close(bo->dmabuf);
	tsr_sync_unref(bo->others);
	tsr_bo_unref(bo->bo);
	FREE(bo);
}

/* One from a list of the cache that the GPU is done with. */
static struct tg_bo *take(struct tg_screen *screen, struct list_head *list)
{
	struct tg_bo *found = NULL;

	simple_mtx_lock(&screen->lock);
	if (!list_is_empty(list))
		found = list_first_entry(list, struct tg_bo, link);
	if (found && !tg_bo_busy(found, false)) {
		list_del(&found->link);
		screen->bo_cached -= found->size;
	} else {
		found = NULL;
	}
	simple_mtx_unlock(&screen->lock);
	if (found)
		pipe_reference_init(&found->reference, 1);
	return found;
}

static struct tg_bo *wrap(struct tg_screen *screen, struct tsr_bo *bo)
{
	const uint32_t access = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE;
	struct tg_bo *made = CALLOC_STRUCT(tg_bo);
	void *map = NULL;

	if (!made) {
		tsr_bo_unref(bo);
		return NULL;
	}
	pipe_reference_init(&made->reference, 1);
	made->screen = screen;
	made->bo = bo;
	made->size = tsr_bo_size(bo);
	made->dmabuf = -1;
	tg_count(screen->counters, TG_COUNTER_MEMORY, made->size);
	if (tsr_vm_map(screen->vm, bo, 0, 0, access, &made->va) || tsr_bo_map(bo, &map)) {
		release(made);
		return NULL;
	}
	made->map = map;
	return made;
}

bool tg_bo_reclaim(struct tg_screen *screen, unsigned attempt)
{
	uint64_t last;

	if (attempt >= RECLAIM_ATTEMPTS)
		return false;
	simple_mtx_lock(&screen->lock);
	last = screen->submitted;
	simple_mtx_unlock(&screen->lock);
	/* the memory that a batch holds goes to the cache when the batch is done */
	if (attempt)
		tg_screen_wait(screen, last, OS_TIMEOUT_INFINITE);
	tg_screen_retire(screen);
	simple_mtx_lock(&screen->lock);
	tg_bo_cache_empty(screen);
	simple_mtx_unlock(&screen->lock);
	return true;
}

/*
 * Divide a BO into parts of @size bytes. One is returned with a reference; the others go to the
 * cache, where they are the first to be used. Takes the caller's reference on @whole.
 */
static struct tg_bo *divide(struct tg_screen *screen, struct tg_bo *whole, uint64_t size)
{
	struct tg_bo *first = NULL;
	uint64_t at;

	simple_mtx_lock(&screen->lock);
	for (at = 0; at < whole->size; at += size) {
		struct tg_bo *part = CALLOC_STRUCT(tg_bo);

		if (!part)
			break;
		part->screen = screen;
		part->parent = whole;
		p_atomic_inc(&whole->reference.count);
		part->va = whole->va + at;
		part->map = whole->map + at;
		part->size = size;
		part->dmabuf = -1;
		if (first) {
			list_add(&part->link, cache_of(screen, part));
			screen->bo_cached += size;
		} else {
			first = part;
		}
	}
	simple_mtx_unlock(&screen->lock);
	if (first)
		pipe_reference_init(&first->reference, 1);
	if (pipe_reference(&whole->reference, NULL))
		release(whole);
	return first;
}

/* A program that goes on without the memory is told once, until it gets some. */
static void refuse(struct tg_screen *screen)
{
	if (!atomic_exchange(&screen->refused, true))
		mesa_loge("tessera: %s", tsr_error_message());
}

static struct tg_bo *create(struct tg_screen *screen, uint64_t size)
{
	struct tsr_bo *bo;

	if (tsr_bo_create(screen->device, size, DRM_TESSERA_BO_CACHED, NULL, &bo))
		return NULL;
	return wrap(screen, bo);
}

struct tg_bo *tg_bo_create_whole(struct tg_screen *screen, uint64_t size, const char *label)
{
	const uint64_t rounded = size > BUCKET_LARGEST ? size : PAGE << bucket_of(size);
	struct tg_bo *made = NULL;
	unsigned attempt = 0;

	if (size <= BUCKET_LARGEST)
		made = take(screen, &screen->bo_cache[bucket_of(size)]);
	if (made)
		return made;
	do {
		made = create(screen, rounded);
	} while (!made && tg_bo_reclaim(screen, attempt++));
	if (!made) {
		refuse(screen);
		return NULL;
	}
	atomic_store(&screen->refused, false);
	if (screen->debug)
		tsr_bo_set_label(made->bo, label);
	return made;
}

struct tg_bo *tg_bo_create(struct tg_screen *screen, uint64_t size, const char *label)
{
	const unsigned bucket = part_bucket_of(size);
	struct tg_bo *made;

	if (size > PART_LARGEST || screen->debug & TG_DEBUG_NOCACHE)
		return tg_bo_create_whole(screen, size, label);
	made = take(screen, &screen->part_cache[bucket]);
	if (made)
		return made;
	made = tg_bo_create_whole(screen, MAX2(PARTS_BYTES, PARTS * PART_SMALLEST << bucket),
				  "parts");
	return made ? divide(screen, made, PART_SMALLEST << bucket) : NULL;
}

/* The shared one that has @bo, with a reference more. */
static struct tg_bo *find_shared(struct tg_screen *screen, const struct tsr_bo *bo)
{
	struct tg_bo *found = NULL;

	simple_mtx_lock(&screen->lock);
	list_for_each_entry(struct tg_bo, at, &screen->shared, link) {
		int32_t count = at->bo == bo ? p_atomic_read(&at->reference.count) : 0, was;

		/* one that is being destroyed has none and stays so */
		while (count && !found) {
			was = p_atomic_cmpxchg(&at->reference.count, count, count + 1);
			if (was == count)
				found = at;
			count = was;
		}
	}
	simple_mtx_unlock(&screen->lock);
	return found;
}

struct tg_bo *tg_bo_import(struct tg_screen *screen, int fd)
{
	unsigned attempt = 0;
	struct tg_bo *made;
	struct tsr_bo *bo;
	int ret;

	do {
		made = NULL;
		ret = tsr_bo_import(screen->device, fd, &bo);
		if (ret == -EBADF || ret == -EINVAL)
			break;		/* no dma-buf: memory does not help */
		if (ret)
			continue;
		made = find_shared(screen, bo);
		if (made) {
			tsr_bo_unref(bo);
			return made;
		}
		made = wrap(screen, bo);
	} while (!made && tg_bo_reclaim(screen, attempt++));
	if (!made)
		refuse(screen);
	else if (!tg_share_open(made))
		tg_bo_reference(&made, NULL);
	return made;
}

/* It has no reference: no batch that is not done can name it. */
void tg_bo_destroy(struct tg_bo *bo)
{
	struct tg_screen *screen = bo->screen;
	const bool kept = !bo->shared && bo->size <= BUCKET_LARGEST &&
			  util_is_power_of_two_nonzero64(bo->size) &&
			  !(screen->debug & TG_DEBUG_NOCACHE);

	simple_mtx_lock(&screen->lock);
	if (bo->dmabuf >= 0)
		list_del(&bo->link);
	while (kept && screen->bo_cached + bo->size > CACHE_MOST)
		tg_bo_cache_empty(screen);
	if (kept) {
		list_addtail(&bo->link, cache_of(screen, bo));
		screen->bo_cached += bo->size;
	}
	simple_mtx_unlock(&screen->lock);
	if (!kept)
		release(bo);
}

static void release_all(struct list_head *list)
{
	list_for_each_entry_safe(struct tg_bo, bo, list, link) {
		list_del(&bo->link);
		release(bo);
	}
}

void tg_bo_cache_empty(struct tg_screen *screen)
{
	unsigned i;

	for (i = 0; i < TG_PART_BUCKETS; i++)
		release_all(&screen->part_cache[i]);
	for (i = 0; i < TG_BO_BUCKETS; i++)
		release_all(&screen->bo_cache[i]);
	screen->bo_cached = 0;
}

static uint64_t last_point(struct tg_bo *bo, bool write_only)
{
	return write_only ? atomic_load(&bo->written) : atomic_load(&bo->used);
}

bool tg_bo_busy(struct tg_bo *bo, bool write_only)
{
	return !tg_screen_done(bo->screen, last_point(bo, write_only)) ||
	       tg_share_busy(bo, !write_only);
}

void tg_bo_wait(struct tg_bo *bo, bool write_only)
{
	const uint64_t point = last_point(bo, write_only);
	int64_t begun;

	if (!tg_screen_done(bo->screen, point)) {
		begun = os_time_get();
		tg_screen_wait(bo->screen, point, OS_TIMEOUT_INFINITE);
		tg_count(bo->screen->counters, TG_COUNTER_WAITS, 1);
		tg_count(bo->screen->counters, TG_COUNTER_WAIT_TIME, os_time_get() - begun);
	}
	tg_share_wait(bo, !write_only);
}
