/* SPDX-License-Identifier: MIT */
/*
 * Windows of servers that know no dma-bufs. Such a server takes pixels in shared memory, by
 * Wayland's wl_shm or X11's MIT-SHM and PutImage. Mesa's front end for software renderers uses
 * both, through struct sw_winsys. Servers that take dma-bufs get the texture itself.
 */
#ifndef TG_WINDOW_H
#define TG_WINDOW_H

struct tg_resource;
struct tg_screen;

/* tg_window_screen_init(): the screen's function that shows a texture; screen->winsys is set. */
void tg_window_screen_init(struct tg_screen *screen);

/* tg_window_free(): free the shared memory of a texture that may have been shown. */
void tg_window_free(struct tg_resource *resource);

#endif
