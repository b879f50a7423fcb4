/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>

#include "frontend/sw_winsys.h"
#include "pipe/p_context.h"
#include "util/box.h"
#include "util/log.h"
#include "util/u_rect.h"

#include "tg_public.h"
#include "tg_resource.h"
#include "tg_screen.h"
#include "tg_window.h"

#define ROW_ALIGN 64u

/* Copy a rectangle of the texture into the memory that the window system is shown. */
static bool copy_out(struct pipe_context *pipe, struct tg_resource *r, uint8_t *to,
		     const struct pipe_box *box)
{
	struct pipe_transfer *transfer;
	const void *from = pipe->texture_map(pipe, &r->base, 0, PIPE_MAP_READ, box, &transfer);

	if (!from)
		return false;
	util_copy_rect(to, r->base.format, r->window_stride, (unsigned)box->x, (unsigned)box->y,
		       (unsigned)box->width, (unsigned)box->height, from, transfer->stride, 0, 0);
	pipe->texture_unmap(pipe, transfer);
	return true;
}

/*
 * The memory is created when a texture is shown first. From then on it has what was shown last, so
 * the boxes that have changed since are enough.
 */
static bool fill(struct sw_winsys *winsys, struct pipe_context *pipe, struct tg_resource *r,
		 unsigned count, const struct pipe_box *boxes)
{
	struct pipe_box all;
	bool done = true;
	uint8_t *to;
	unsigned i;

	u_box_2d(0, 0, (int)r->base.width0, (int)r->base.height0, &all);
	if (!r->window) {
		r->window = winsys->displaytarget_create(winsys, r->base.bind, r->base.format,
							 r->base.width0, r->base.height0, ROW_ALIGN,
							 NULL, &r->window_stride);
		count = 0;
	}
	to = r->window ? winsys->displaytarget_map(winsys, r->window, PIPE_MAP_WRITE) : NULL;
	if (!to)
		return false;
	if (!count)
		done = copy_out(pipe, r, to, &all);
	for (i = 0; done && i < count; i++) {
		struct pipe_box box = boxes[i];

		/* what a program says of its window may be larger than that */
		if (u_box_clip_2d(&box, &box, (int)r->base.width0, (int)r->base.height0) >= 0)
			done = copy_out(pipe, r, to, &box);
	}
	winsys->displaytarget_unmap(winsys, r->window);
	return done;
}

static void flush_frontbuffer(struct pipe_screen *pscreen, struct pipe_context *pipe,
			      struct pipe_resource *resource, unsigned level, unsigned layer,
			      void *drawable, unsigned count, struct pipe_box *boxes)
{
	struct sw_winsys *winsys = tg_screen(pscreen)->winsys;
	struct tg_resource *r = tg_resource(resource);

	if (fill(winsys, pipe, r, count, boxes))
		winsys->displaytarget_display(winsys, r->window, drawable, count, boxes);
	else
		mesa_loge("tessera: a picture of %u x %u could not be shown", resource->width0,
			  (unsigned)resource->height0);
}

void tg_window_free(struct tg_resource *r)
{
	struct sw_winsys *winsys = tg_screen(r->base.screen)->winsys;

	if (r->window)
		winsys->displaytarget_destroy(winsys, r->window);
	r->window = NULL;
}

void tg_window_screen_init(struct tg_screen *screen)
{
	screen->base.flush_frontbuffer = flush_frontbuffer;
}
