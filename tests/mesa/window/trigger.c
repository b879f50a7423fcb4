// SPDX-License-Identifier: MIT
/*
 * Preloaded into a program that RenderDoc watches: the fifth frame is recorded. RenderDoc offers
 * this to the program itself, by a table of functions, and to nobody from outside.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#define API_VERSION 10000		/* 1.0.0 */
#define TRIGGER_CAPTURE 15		/* place in its table */
#define FRAME 5

typedef int (*get_api_fn)(int version, void **table);
typedef void (*trigger_fn)(void);
typedef unsigned int (*swap_fn)(void *display, void *surface);

unsigned int eglSwapBuffers(void *display, void *surface);

unsigned int eglSwapBuffers(void *display, void *surface)
{
	const get_api_fn get = (get_api_fn)dlsym(RTLD_DEFAULT, "RENDERDOC_GetAPI");
	const swap_fn swap = (swap_fn)dlsym(RTLD_NEXT, "eglSwapBuffers");
	static int frames;
	void **table = NULL;

	if (++frames == FRAME && get && get(API_VERSION, (void **)&table))
		((trigger_fn)table[TRIGGER_CAPTURE])();
	return swap(display, surface);
}
