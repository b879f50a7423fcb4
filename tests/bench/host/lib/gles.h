/* SPDX-License-Identifier: MIT */
/*
 * Compute shaders on Mesa's llvmpipe, without a window: what our own figures are compared with.
 * Errors end the program with a message.
 */
#ifndef GLES_H
#define GLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GLES_BUFFERS	3

struct gles_kernel {
	unsigned int program;
	unsigned int buffer[GLES_BUFFERS];	/* bound to 0, 1, 2 */
	unsigned int groups[3];
};

/*
 * Open llvmpipe; false: there is no EGL that can do this here. gles_name(): what it is.
 * gles_open_context(): for @api, EGL_OPENGL_API say, with other attributes.
 */
bool gles_open(void);
bool gles_open_context(unsigned int api, const int32_t *attributes);
const char *gles_name(void);

/* A compute shader, without the version line. */
void gles_kernel(struct gles_kernel *kernel, const char *source, const uint32_t groups[3]);
/* Give storage buffer @binding its contents. */
void gles_buffer(struct gles_kernel *kernel, unsigned int binding, const void *data, size_t size);
/* Read a storage buffer. */
void gles_read(struct gles_kernel *kernel, unsigned int binding, void *data, size_t size);
/* Dispatch @count times and wait, for figure_once(). @arg is the kernel. */
void gles_run(void *arg, unsigned int count);
void gles_free(struct gles_kernel *kernel);

#endif
