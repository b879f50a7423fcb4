/* SPDX-License-Identifier: MIT */
#ifndef TG_CAPS_H
#define TG_CAPS_H

struct pipe_screen;

/* The screen's capabilities, formats and compiler options; needs get_screen_fd. */
void tg_caps_init(struct pipe_screen *screen);

#endif
