/* SPDX-License-Identifier: MIT */
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
	struct pipe_fence_handle *fence =
		type == PIPE_FD_TYPE_NATIVE_SYNC ? tg_fence_create(screen, 0) : NULL;

	*out = NULL;
	if (!fence)
		return;
	if (tsr_sync_create(screen->device, 0, &fence->imported) ||
	    tsr_sync_import_file(fence->imported, 0, fd)) {
		destroy(fence);
		return;
	}
	*out = fence;
}

/*
 * What this context submits from now on comes after the fence: batches of one screen are in order
 * anyway.
 */
static void fence_server_sync(struct pipe_context *pipe, struct pipe_fence_handle *fence)
{
	if (fence->imported)
		tsr_sync_wait(fence->imported, 0, TSR_DEADLINE_NEVER);
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
}
