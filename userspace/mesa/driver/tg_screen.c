/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "util/log.h"
#include "util/os_file.h"
#include "util/os_time.h"
#include "util/u_debug.h"
#include "util/u_memory.h"
#include "util/u_screen.h"
#include "util/u_transfer_helper.h"

#include "tg_batch.h"
#include "tg_bo.h"
#include "tg_caps.h"
#include "tg_context.h"
#include "tg_fence.h"
#include "tg_public.h"
#include "tg_query.h"
#include "tg_resource.h"
#include "tg_screen.h"

#define HEAP_FIRST	(1u << 20)
#define HEAP_CHUNK	(1u << 20)
#define HEAP_LIMIT	(256u << 20)
#define POOL_CHUNK	(2u << 20)

static const struct debug_named_value debug_options[] = {
	{ "sync", TG_DEBUG_SYNC, "wait for each batch and say what went wrong" },
	{ "trace", TG_DEBUG_TRACE, "print a line for each batch" },
	{ "shaders", TG_DEBUG_SHADERS, "print shaders as they are compiled" },
	{ "lists", TG_DEBUG_LISTS, "print the lists of each batch, with what they name" },
	{ "nocache", TG_DEBUG_NOCACHE, "allocate and free memory with each resource" },
	DEBUG_NAMED_VALUE_END
};

/* ---- Time ------------------------------------------------------------------------------------ */

static void note(struct tg_screen *screen, uint64_t point)
{
	uint64_t known = atomic_load(&screen->completed);

	while (known < point && !atomic_compare_exchange_weak(&screen->completed, &known, point))
		;
}

bool tg_screen_done(struct tg_screen *screen, uint64_t point)
{
	uint64_t now;

	if (point <= atomic_load(&screen->completed))
		return true;
	if (tsr_sync_get_point(screen->timeline, &now))
		return true;	/* the device is gone: nothing will ever be */
	note(screen, now);
	return point <= now;
}

bool tg_screen_wait(struct tg_screen *screen, uint64_t point, uint64_t timeout)
{
	const int64_t deadline =
		timeout == OS_TIMEOUT_INFINITE ? TSR_DEADLINE_NEVER : tsr_deadline(timeout);
	int ret;

	if (tg_screen_done(screen, point))
		return true;
	ret = tsr_sync_wait(screen->timeline, point, deadline);
	if (ret == -ETIME)
		return false;
	note(screen, point);
	return true;
}

/* ---- Queues ---------------------------------------------------------------------------------- */

bool tg_screen_make_queues(struct tg_screen *screen)
{
	struct tsr_queue *bin = NULL, *render = NULL, *compute = NULL;
	const uint32_t normal = DRM_TESSERA_PRIORITY_NORMAL;

	if (tsr_queue_create(screen->vm, DRM_TESSERA_ENGINE_BIN, normal, 0, &bin) ||
	    tsr_queue_create(screen->vm, DRM_TESSERA_ENGINE_RENDER, normal, 0, &render) ||
	    tsr_queue_create(screen->vm, DRM_TESSERA_ENGINE_COMPUTE, normal, 0, &compute)) {
		mesa_loge("tessera: %s", tsr_error_message());
		tsr_queue_unref(bin);
		tsr_queue_unref(render);
		return false;
	}
	if (screen->bin)
		atomic_fetch_add(&screen->resets, 1);
	tsr_queue_unref(screen->bin);
	tsr_queue_unref(screen->render);
	tsr_queue_unref(screen->compute);
	screen->bin = bin;
	screen->render = render;
	screen->compute = compute;
	return true;
}

static bool is_dead(struct tsr_queue *queue)
{
	struct drm_tessera_queue_get_state state;

	return !tsr_queue_get_state(queue, &state, sizeof(state)) && state.error;
}

uint32_t tg_screen_resets(struct tg_screen *screen)
{
	simple_mtx_lock(&screen->lock);
	if ((is_dead(screen->bin) || is_dead(screen->render) || is_dead(screen->compute)) &&
	    !tg_screen_make_queues(screen))
		atomic_fetch_add(&screen->resets, 1);
	simple_mtx_unlock(&screen->lock);
	return atomic_load(&screen->resets);
}

/* What all batches need. */
static bool open_device(struct tg_screen *screen, int fd)
{
	const uint32_t run = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC;
	unsigned i;

	if (tsr_device_open_fd(fd, &screen->device) || tsr_vm_create(screen->device, &screen->vm) ||
	    tsr_pool_create(screen->vm, POOL_CHUNK, DRM_TESSERA_BO_CACHED, run, &screen->code) ||
	    tsr_pool_create(screen->vm, POOL_CHUNK, DRM_TESSERA_BO_CACHED, run, &screen->lists) ||
	    tsr_sync_create(screen->device, TSR_SYNC_TIMELINE, &screen->timeline) ||
	    tsr_submit_create(screen->device, &screen->submit)) {
		mesa_loge("tessera: %s", tsr_error_message());
		return false;
	}
	for (i = 0; i < TG_HEAPS; i++) {
		if (tsr_tiler_heap_create(screen->vm, HEAP_FIRST, HEAP_LIMIT, HEAP_CHUNK,
					  &screen->heap[i])) {
			mesa_loge("tessera: %s", tsr_error_message());
			return false;
		}
	}
	return tg_screen_make_queues(screen);
}

/* ---- The object ------------------------------------------------------------------------------ */

static void destroy(struct pipe_screen *pscreen)
{
	struct tg_screen *screen = tg_screen(pscreen);
	unsigned i;

	if (screen->timeline) {
		tg_screen_wait(screen, screen->submitted, OS_TIMEOUT_INFINITE);
		tg_screen_retire(screen);
	}
	simple_mtx_lock(&screen->lock);
	tg_bo_cache_empty(screen);
	simple_mtx_unlock(&screen->lock);
	tsr_submit_destroy(screen->submit);
	tsr_queue_unref(screen->bin);
	tsr_queue_unref(screen->render);
	tsr_queue_unref(screen->compute);
	for (i = 0; i < TG_HEAPS; i++)
		tsr_tiler_heap_unref(screen->heap[i]);
	tsr_sync_unref(screen->timeline);
	tsr_pool_unref(screen->code);
	tsr_pool_unref(screen->lists);
	tsr_vm_unref(screen->vm);
	tsr_device_unref(screen->device);
	if (pscreen->transfer_helper)
		u_transfer_helper_destroy(pscreen->transfer_helper);
	slab_destroy_parent(&screen->transfers);
	simple_mtx_destroy(&screen->lock);
	FREE(screen);
}

static const char *get_name(struct pipe_screen *screen)
{
	return "Tessera";
}

static const char *get_vendor(struct pipe_screen *screen)
{
	return "Tessera";
}

static int get_screen_fd(struct pipe_screen *screen)
{
	return tsr_device_fd(tg_screen(screen)->device);
}

static bool init_functions(struct pipe_screen *base)
{
	base->destroy = destroy;
	base->get_name = get_name;
	base->get_vendor = get_vendor;
	base->get_device_vendor = get_vendor;
	base->get_screen_fd = get_screen_fd;
	base->context_create = tg_context_create;
	tg_fence_screen_init(base);
	tg_query_screen_init(base);
	tg_caps_init(base);
	return tg_resource_screen_init(base);
}

static struct pipe_screen *create(int fd, const struct pipe_screen_config *config,
				  struct renderonly *ro)
{
	struct tg_screen *screen = CALLOC_STRUCT(tg_screen);
	unsigned i;

	if (!screen)
		return NULL;
	simple_mtx_init(&screen->lock, mtx_plain);
	list_inithead(&screen->batches);
	list_inithead(&screen->shared);
	list_inithead(&screen->codes);
	for (i = 0; i < TG_BO_BUCKETS; i++)
		list_inithead(&screen->bo_cache[i]);
	slab_create_parent(&screen->transfers, sizeof(struct tg_transfer), 16);
	screen->debug = (uint32_t)debug_get_flags_option("TESSERA_DEBUG", debug_options, 0);
	if (!open_device(screen, fd) || !init_functions(&screen->base)) {
		destroy(&screen->base);
		return NULL;
	}
	return &screen->base;
}

struct pipe_screen *tg_screen_open(int fd, const struct pipe_screen_config *config)
{
	return u_pipe_screen_lookup_or_create(fd, config, NULL, create);
}
