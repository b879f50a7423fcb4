/* SPDX-License-Identifier: MIT */
#ifndef TG_PUBLIC_H
#define TG_PUBLIC_H

struct pipe_screen;
struct pipe_screen_config;

/*
 * The screen of the Tessera device that fd is open on, the same one for the same open file; NULL
 * with a message if it cannot be used. fd stays the caller's.
 */
struct pipe_screen *tg_screen_open(int fd, const struct pipe_screen_config *config);

#endif
