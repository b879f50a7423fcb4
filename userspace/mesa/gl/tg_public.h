/* SPDX-License-Identifier: MIT */
#ifndef TG_PUBLIC_H
#define TG_PUBLIC_H

struct pipe_screen;
struct pipe_screen_config;
struct sw_winsys;

/*
 * The screen of the Tessera device that fd is open on, the same one for the same open file; NULL
 * with a message if it cannot be used. fd stays the caller's.
 */
struct pipe_screen *tg_screen_open(int fd, const struct pipe_screen_config *config);

/*
 * A screen of the first Tessera device, for window systems that take pixels in shared memory: what
 * is drawn is copied for @winsys. NULL if there is no device or it cannot be used.
 */
struct pipe_screen *tg_screen_open_window(struct sw_winsys *winsys,
					  const struct pipe_screen_config *config);

#endif
