/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "util/log.h"
#include "util/os_time.h"
#include "util/u_inlines.h"
#include "util/u_memory.h"

#include "tg_context.h"
#include "tg_fence.h"

struct pipe_fence_handle {
	struct pipe_reference reference;
	struct tg_screen *screen;
	uint64_t point;			/* of the timeline; 0: nothing was submitted */
	struct tsr_sync *imported;	/* instead of it */
};

static void destroy(struct pipe_fence_handle *fence)
{
	tsr_sync_unref(fence->imported);
	FREE(fence);
}

static void fence_reference(struct pipe_screen *screen, struct pipe_fence_handle **to,
			    struct pipe_fence_handle *fence)
{
	struct pipe_fence_handle *old = *to;

	if (pipe_reference(old ? &old->reference : NULL, fence ? &fence->reference : NULL))
		destroy(old);
	*to = fence;
}

struct pipe_fence_handle *tg_fence_create(struct tg_screen *screen, uint64_t point)
{
	struct pipe_fence_handle *fence = CALLOC_STRUCT(pipe_fence_handle);

	if (!fence)
		return NULL;
	pipe_reference_init(&fence->reference, 1);
	fence->screen = screen;
	fence->point = point;
	return fence;
}

static bool fence_finish(struct pipe_screen *screen, struct pipe_context *pipe,
			 struct pipe_fence_handle *fence, uint64_t timeout)
{
	const int64_t deadline = timeout ? tsr_deadline(timeout) : 0;

	if (fence->imported)
		return !tsr_sync_wait(fence->imported, 0, deadline);
	return tg_screen_wait(tg_screen(screen), fence->point, timeout);
}

static int fence_get_fd(struct pipe_screen *screen, struct pipe_fence_handle *fence)
{
	struct tsr_sync *sync = fence->imported ? fence->imported : tg_screen(screen)->timeline;
	struct tsr_sync *done = NULL;
	int fd = -1;

	if (!fence->imported && !fence->point) {
		if (tsr_sync_create(tg_screen(screen)->device, TSR_SYNC_SIGNALED, &done))
			return -1;
		sync = done;
	}
	if (tsr_sync_export_file(sync, fence->imported ? 0 : fence->point, &fd))
		fd = -1;
	tsr_sync_unref(done);
	return fd;
}

static void create_fence_fd(struct pipe_context *pipe, struct pipe_fence_handle **out, int fd,
			    enum pipe_fd_type type)
{
	struct tg_screen *screen = tg_context(pipe)->screen;
	struct pipe_fence_handle *fence = tg_fence_create(screen, 0);
	bool ok;

	*out = NULL;
	if (!fence)
		return;
	if (type == PIPE_FD_TYPE_SYNCOBJ)
		ok = !tsr_sync_import(screen->device, fd, false, &fence->imported);
	else
		ok = !tsr_sync_create(screen->device, 0, &fence->imported) &&
		     !tsr_sync_import_file(fence->imported, 0, fd);
	if (!ok) {
		mesa_loge("tessera: %s", tsr_error_message());
		destroy(fence);
		return;
	}
	*out = fence;
}

/* The fence that is at @point of @from now is that of @to, too. Returns 0 or a negative error. */
static int share_fence(struct tsr_sync *to, struct tsr_sync *from, uint64_t point)
{
	int fd, ret = tsr_sync_export_file(from, point, &fd);

	if (ret)
		return ret;
	ret = tsr_sync_import_file(to, 0, fd);
	close(fd);
	return ret;
}

/* A sync of its own with the fence that another one has now; NULL if it has none. */
static struct tsr_sync *copy_sync(struct tg_screen *screen, struct tsr_sync *from)
{
	struct tsr_sync *to = NULL;

	if (tsr_sync_create(screen->device, 0, &to) || share_fence(to, from, 0)) {
		tsr_sync_unref(to);
		return NULL;
	}
	return to;
}

/*
 * The next jobs of this context wait for the fence. Fences of the screen's own need no wait, since
 * its batches run in order. A semaphore may get another fence before the jobs are submitted, so
 * the present one is kept.
 */
static void fence_server_sync(struct pipe_context *pipe, struct pipe_fence_handle *fence)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tsr_sync *wait;

	if (!fence->imported)
		return;
	wait = copy_sync(ctx->screen, fence->imported);
	if (wait)
		util_dynarray_append(&ctx->waits, struct tsr_sync *, wait);
	else
		tsr_sync_wait(fence->imported, 0, TSR_DEADLINE_NEVER);
}

/* The semaphore is signalled when all work of the context until now is done. */
static void fence_server_signal(struct pipe_context *pipe, struct pipe_fence_handle *fence)
{
	struct tg_context *ctx = tg_context(pipe);
	int ret;

	if (!fence->imported)
		return;
	tg_context_flush(ctx, "semaphore");
	if (ctx->last_point)
		ret = share_fence(fence->imported, ctx->screen->timeline, ctx->last_point);
	else
		ret = tsr_sync_signal(fence->imported, 0);
	if (ret)
		mesa_loge("tessera: %s", tsr_error_message());
}

void tg_fence_forget(struct tg_context *ctx)
{
	util_dynarray_foreach(&ctx->waits, struct tsr_sync *, wait)
		tsr_sync_unref(*wait);
	util_dynarray_clear(&ctx->waits);
}

void tg_fence_screen_init(struct pipe_screen *screen)
{
	screen->fence_reference = fence_reference;
	screen->fence_finish = fence_finish;
	screen->fence_get_fd = fence_get_fd;
}

void tg_fence_context_init(struct pipe_context *pipe)
{
	pipe->create_fence_fd = create_fence_fd;
	pipe->fence_server_sync = fence_server_sync;
	pipe->fence_server_signal = fence_server_signal;
}
