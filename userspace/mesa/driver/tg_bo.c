/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "util/log.h"
#include "util/os_time.h"
#include "util/u_math.h"
#include "util/u_memory.h"

#include "tg_bo.h"
#include "tg_share.h"

#define PAGE		4096ull
#define CACHE_MOST	(128ull << 20)	/* bytes that wait to be used again */
#define BUCKET_LARGEST	(32ull << 20)	/* what is larger is not kept */

static unsigned bucket_of(uint64_t size)
{
	return util_logbase2_ceil64(DIV_ROUND_UP(size, PAGE));
}

static void release(struct tg_bo *bo)
{
	if (bo->va)
		tsr_vm_unmap(bo->screen->vm, bo->va, bo->size);
	if (bo->dmabuf >= 0)
		close(bo->dmabuf);
	tsr_sync_unref(bo->others);
	tsr_bo_unref(bo->bo);
	FREE(bo);
}

/* One from the cache that the GPU is done with. */
static struct tg_bo *take(struct tg_screen *screen, uint64_t size)
{
	struct tg_bo *found = NULL;
	struct list_head *list;

	if (size > BUCKET_LARGEST)
		return NULL;
	simple_mtx_lock(&screen->lock);
	list = &screen->bo_cache[bucket_of(size)];
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
	if (tsr_vm_map(screen->vm, bo, 0, 0, access, &made->va) || tsr_bo_map(bo, &map)) {
		mesa_loge("tessera: %s", tsr_error_message());
		release(made);
		return NULL;
	}
	made->map = map;
	return made;
}

struct tg_bo *tg_bo_create(struct tg_screen *screen, uint64_t size, const char *label)
{
	const uint64_t rounded = size > BUCKET_LARGEST ? size : PAGE << bucket_of(size);
	struct tg_bo *made = take(screen, size);
	struct tsr_bo *bo;

	if (made)
		return made;
	if (tsr_bo_create(screen->device, rounded, DRM_TESSERA_BO_CACHED, NULL, &bo)) {
		mesa_loge("tessera: %s", tsr_error_message());
		return NULL;
	}
	if (screen->debug)
		tsr_bo_set_label(bo, label);
	return wrap(screen, bo);
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
	struct tg_bo *made;
	struct tsr_bo *bo;

	if (tsr_bo_import(screen->device, fd, &bo)) {
		mesa_loge("tessera: %s", tsr_error_message());
		return NULL;
	}
	made = find_shared(screen, bo);
	if (made) {
		tsr_bo_unref(bo);
		return made;
	}
	made = wrap(screen, bo);
	if (made && !tg_share_open(made))
		tg_bo_reference(&made, NULL);
	return made;
}

/* Nobody has a reference: no batch that is not done can name it. */
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
		list_addtail(&bo->link, &screen->bo_cache[bucket_of(bo->size)]);
		screen->bo_cached += bo->size;
	}
	simple_mtx_unlock(&screen->lock);
	if (!kept)
		release(bo);
}

void tg_bo_cache_empty(struct tg_screen *screen)
{
	unsigned i;

	for (i = 0; i < TG_BO_BUCKETS; i++) {
		list_for_each_entry_safe(struct tg_bo, bo, &screen->bo_cache[i], link) {
			list_del(&bo->link);
			release(bo);
		}
	}
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
	tg_screen_wait(bo->screen, last_point(bo, write_only), OS_TIMEOUT_INFINITE);
	tg_share_wait(bo, !write_only);
}
