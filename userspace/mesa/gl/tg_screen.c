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
#include "tg_cache.h"
#include "tg_caps.h"
#include "tg_context.h"
#include "tg_fence.h"
#include "tg_public.h"
#include "tg_query.h"
#include "tg_resource.h"
#include "tg_screen.h"
#include "tg_window.h"

#define HEAP_FIRST	(1u << 20)
#define HEAP_CHUNK	(1u << 20)
#define HEAP_LIMIT	(256u << 20)
#define POOL_CHUNK	(2u << 20)
#define SCRATCH_LEAST	64u

static const struct debug_named_value debug_options[] = {
	{ "sync", TG_DEBUG_SYNC, "wait for each batch and say what went wrong" },
	{ "trace", TG_DEBUG_TRACE, "print a line for each batch" },
	{ "shaders", TG_DEBUG_SHADERS, "print shaders as they are compiled" },
	{ "lists", TG_DEBUG_LISTS, "print the lists of each batch, with what they name" },
	{ "nocache", TG_DEBUG_NOCACHE, "allocate and free memory with each resource" },
	{ "nocopy", TG_DEBUG_NOCOPY, "copy by the CPU and by drawing only" },
	DEBUG_NAMED_VALUE_END
};

/* ---- Time ------------------------------------------------------------------------------------ */

static void note(struct tg_screen *screen, uint64_t point)
{
	uint64_t known = atomic_load(&screen->completed);

	while (known < point && !atomic_compare_exchange_weak(&screen->completed, &known, point))
		;
}

const struct tg_progress *tg_screen_progress(const struct tg_screen *screen)
{
	return (const struct tg_progress *)screen->progress->map;
}

bool tg_screen_reached(struct tg_screen *screen, uint64_t point)
{
	const struct tg_progress *progress = tg_screen_progress(screen);
	uint64_t done = 0;
	unsigned queue;

	if (point <= atomic_load(&screen->completed))
		return true;
	/* batches end in order, on whichever queue */
	for (queue = 0; queue < TG_QUEUES; queue++) {
		const uint64_t last = p_atomic_read(&progress->last[queue]);

		done = MAX2(done, last);
	}
	note(screen, done);
	return point <= done;
}

bool tg_screen_done(struct tg_screen *screen, uint64_t point)
{
	uint64_t now;

	if (tg_screen_reached(screen, point))
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

	if (tg_screen_reached(screen, point))
		return true;
	ret = tsr_sync_wait(screen->timeline, point, deadline);
	if (ret == -ETIME)
		return false;
	note(screen, point);
	return true;
}

/* ---- Queues ---------------------------------------------------------------------------------- */

/* The batch that the queue had begun, of those that may be lost; NULL: it is not among them. */
static struct tg_job *guilty(struct tg_screen *screen, unsigned queue)
{
	const uint64_t number = p_atomic_read(&tg_screen_progress(screen)->begun[queue]);

	list_for_each_entry(struct tg_job, job, &screen->batches, link) {
		if (job->number == number)
			return job;
	}
	return NULL;
}

static void blame(struct tg_job *job, enum pipe_reset_status status)
{
	/* who is guilty stays it */
	if (job->ctx && job->ctx->reset != PIPE_GUILTY_CONTEXT_RESET)
		job->ctx->reset = status;
}

/*
 * A queue is dead: what it had to do from the batch at fault on is lost. Batches before it were
 * done before.
 */
static void lose(struct tg_screen *screen, unsigned queue)
{
	struct tg_job *bad = guilty(screen, queue);

	if (bad)
		blame(bad, PIPE_GUILTY_CONTEXT_RESET);
	list_for_each_entry(struct tg_job, job, &screen->batches, link) {
		if (job->queues & 1u << queue && (!bad || job->point > bad->point))
			blame(job, bad ? PIPE_INNOCENT_CONTEXT_RESET : PIPE_UNKNOWN_CONTEXT_RESET);
	}
}

static void report(struct tg_screen *screen, const struct drm_tessera_queue_get_state *state,
		   const char *name)
{
	mesa_loge("tessera: %s failed: %s; fault 0x%x, packet 0x%llx, address 0x%llx, clause "
		  "0x%llx, tuple %u, lane %u, warp %u, group %u %u %u",
		  name, tsr_error_string((int)state->error), state->fault_code,
		  (unsigned long long)state->fault_packet_va, (unsigned long long)state->fault_va,
		  (unsigned long long)state->fault_clause_va, state->fault_tuple, state->fault_lane,
		  state->fault_warp, state->fault_group[0], state->fault_group[1],
		  state->fault_group[2]);
	if (state->fault_clause_va)
		tg_code_explain(screen, state->fault_clause_va);
}

/*
 * A new queue if there is none, or a dead one. The first one takes a slot of the hardware with its
 * first job, so a screen that never dispatches has no compute queue. One that replaces a dead queue
 * is created at once: on a banned VM or without a device that fails, and contexts report a reset.
 */
static bool mend(struct tg_screen *screen, unsigned priority, enum tg_engine engine)
{
	static const struct {
		uint32_t class;
		const char *name;
	} engines[TG_ENGINES] = {
		[TG_BIN] = { DRM_TESSERA_ENGINE_BIN, "binning" },
		[TG_RENDER] = { DRM_TESSERA_ENGINE_RENDER, "rendering" },
		[TG_COMPUTE] = { DRM_TESSERA_ENGINE_COMPUTE, "a dispatch" },
		[TG_COPY] = { DRM_TESSERA_ENGINE_COPY, "a copy" },
	};
	const unsigned queue = tg_queue_number(priority, engine);
	struct tsr_queue *old = screen->queue[queue], *fresh = NULL;
	struct drm_tessera_queue_get_state state;

	if (old && (tsr_queue_get_state(old, &state, sizeof(state)) || !state.error))
		return true;
	if (tsr_queue_create(screen->vm, engines[engine].class, priority, 0,
			     &fresh) || (old && !tsr_queue_id(fresh))) {
		mesa_loge("tessera: %s", tsr_error_message());
		tsr_queue_unref(fresh);
		return false;
	}
	if (old) {
		report(screen, &state, engines[engine].name);
		lose(screen, queue);
	}
	if (screen->debug & TG_DEBUG_TRACE)
		fprintf(stderr, "tessera: queue of %s, priority %u\n", engines[engine].name,
			priority);
	tsr_queue_unref(old);
	screen->queue[queue] = fresh;
	return true;
}

bool tg_screen_mend(struct tg_screen *screen)
{
	unsigned i;

	for (i = 0; i < TG_QUEUES; i++) {
		if (screen->priorities & 1u << i / TG_ENGINES &&
		    !mend(screen, i / TG_ENGINES, i % TG_ENGINES))
			return false;
	}
	return true;
}

bool tg_screen_add_priority(struct tg_screen *screen, unsigned priority)
{
	bool ok;

	simple_mtx_lock(&screen->lock);
	screen->priorities |= 1u << priority;
	ok = tg_screen_mend(screen);
	simple_mtx_unlock(&screen->lock);
	return ok;
}

struct tg_bo *tg_screen_scratch(struct tg_screen *screen, enum tg_engine engine, uint32_t bytes,
				uint32_t *size)
{
	const struct drm_tessera_shader_info *s = tsr_device_shader_info(screen->device);
	const uint64_t threads = (uint64_t)s->warp_lanes * s->core_warps * s->cores;
	const uint32_t wanted = MAX2(util_next_power_of_two(bytes), SCRATCH_LEAST);
	struct tg_bo *held = NULL, *fresh, *old;

	simple_mtx_lock(&screen->lock);
	if (screen->scratch[engine] && screen->scratch_size[engine] >= wanted) {
		tg_bo_reference(&held, screen->scratch[engine]);
		*size = screen->scratch_size[engine];
	}
	simple_mtx_unlock(&screen->lock);
	if (held)
		return held;
	fresh = tg_bo_create(screen, wanted * threads, "scratch");
	if (!fresh)
		return NULL;
	*size = wanted;
	simple_mtx_lock(&screen->lock);
	old = screen->scratch[engine];
	tg_bo_reference(&held, fresh);
	screen->scratch[engine] = fresh;
	screen->scratch_size[engine] = wanted;
	simple_mtx_unlock(&screen->lock);
	/* batches that use the old one hold it */
	tg_bo_reference(&old, NULL);
	return held;
}

bool tg_screen_has_engine(struct tg_screen *screen, unsigned priority, enum tg_engine engine)
{
	const unsigned queue = tg_queue_number(priority, engine);
	const uint32_t bit = 1u << queue;
	bool has;

	simple_mtx_lock(&screen->lock);
	if (!(screen->asked & bit) && !(screen->debug & TG_DEBUG_NOCOPY) &&
	    tsr_queue_id(screen->queue[queue]))
		screen->usable |= bit;
	screen->asked |= bit;
	has = screen->usable & bit;
	simple_mtx_unlock(&screen->lock);
	return has;
}

void tg_screen_forget(struct tg_screen *screen, const struct tg_context *ctx)
{
	simple_mtx_lock(&screen->lock);
	list_for_each_entry(struct tg_job, job, &screen->batches, link) {
		if (job->ctx == ctx)
			job->ctx = NULL;
	}
	simple_mtx_unlock(&screen->lock);
}

/* Open the objects that all batches need. */
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
	screen->progress = tg_bo_create(screen, sizeof(struct tg_progress), "progress");
	if (!screen->progress)
		return false;
	memset(screen->progress->map, 0, sizeof(struct tg_progress));
	screen->submitted_priority = DRM_TESSERA_PRIORITY_NORMAL;
	return tg_screen_add_priority(screen, DRM_TESSERA_PRIORITY_NORMAL);
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
	tg_bo_reference(&screen->progress, NULL);
	for (i = 0; i < TG_ENGINES; i++)
		tg_bo_reference(&screen->scratch[i], NULL);
	simple_mtx_lock(&screen->lock);
	tg_bo_cache_empty(screen);
	simple_mtx_unlock(&screen->lock);
	tg_cache_screen_destroy(screen);
	tsr_submit_destroy(screen->submit);
	for (i = 0; i < TG_QUEUES; i++)
		tsr_queue_unref(screen->queue[i]);
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
	tg_counters_screen_init(base);
	tg_caps_init(base);
	tg_memobj_screen_init(base);
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
	for (i = 0; i < TG_PART_BUCKETS; i++)
		list_inithead(&screen->part_cache[i]);
	slab_create_parent(&screen->transfers, sizeof(struct tg_transfer), 16);
	screen->debug = (uint32_t)debug_get_flags_option("TESSERA_DEBUG", debug_options, 0);
	if (!open_device(screen, fd) || !init_functions(&screen->base)) {
		destroy(&screen->base);
		return NULL;
	}
	tg_cache_screen_init(screen);
	return &screen->base;
}

struct pipe_screen *tg_screen_open(int fd, const struct pipe_screen_config *config)
{
	return u_pipe_screen_lookup_or_create(fd, config, NULL, create);
}

struct pipe_screen *tg_screen_open_window(struct sw_winsys *winsys,
					  const struct pipe_screen_config *config)
{
	struct pipe_screen *screen = NULL;
	struct tsr_device *device;

	if (tsr_device_open(NULL, &device)) {
		mesa_logd("tessera: %s", tsr_error_message());
		return NULL;
	}
	screen = create(tsr_device_fd(device), config, NULL);
	tsr_device_unref(device);
	if (!screen)
		return NULL;
	tg_screen(screen)->winsys = winsys;
	tg_window_screen_init(tg_screen(screen));
	return screen;
}
