/* SPDX-License-Identifier: MIT */
/*
 * Common code of GL test programs: a context without a window on the first Tessera device, shaders,
 * a framebuffer that can be read, and checks. A program runs named cases. Its exit status is the
 * number that failed.
 */
#ifndef TSR_TEST_GL_H
#define TSR_TEST_GL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <GLES3/gl32.h>

/*
 * gl_open(): a GLES context of that version, or an exit with 77 and the reason if the device does
 * not offer it.
 */
void gl_open(int major, int minor);

/* gl_open_on(): the same on an EGLDisplay that is initialized, with an EGLConfig and EGLSurface. */
void gl_open_on(void *display, void *config, void *surface, int major, int minor);

/* gl_open_desktop(): the same with OpenGL; up to 3.0 it has all that was there before. */
void gl_open_desktop(int major, int minor);

/* gl_close(): take the context down, print the plan. Returns the program's exit status. */
int gl_close(void);

/*
 * gl_case(): begin a case; a case fails by gl_fail(). [SUBJECT] names of the ledger may be in it.
 */
void gl_case(const char *name);

/* gl_fail(): remember that the case failed, and print why. */
void gl_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * gl_program(): compiled and linked, in use, "position" is attribute 0, "value" 1; a shader that
 * fails is an exit. gl_geometry_program(): with a geometry shader, or NULL. gl_compute(): of a
 * compute shader.
 */
GLuint gl_program(const char *vertex, const char *fragment);
GLuint gl_geometry_program(const char *vertex, const char *geometry, const char *fragment);
GLuint gl_compute(const char *text);

/* gl_storage(): make a storage buffer with @bytes of @data, bound to @binding. */
void gl_storage(GLuint binding, const void *data, size_t bytes);

/*
 * gl_results(): map the storage buffer that was bound last, after shaders have written it. NULL is
 * a failure of the case. glUnmapBuffer(GL_SHADER_STORAGE_BUFFER) ends it.
 */
const void *gl_results(size_t bytes);

/*
 * gl_target(): a framebuffer of one color texture of that internal format, bound, with the viewport
 * on all of it.
 */
GLuint gl_target(int width, int height, GLenum format);

/* gl_depth(): adds a renderbuffer to the framebuffer that is bound. */
void gl_depth(int width, int height, GLenum format, GLenum attachment);

/* gl_rect(): draw a rectangle of clip coordinates at depth z with attribute 0, as two triangles. */
void gl_rect(float x0, float y0, float x1, float y1, float z);

/* gl_expect(): the pixel has this color, each component within @tolerance. */
void gl_expect(int x, int y, int r, int g, int b, int a, int tolerance);

/* gl_no_error(): there is no GL error. */
void gl_no_error(void);

#endif
