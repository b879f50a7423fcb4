// SPDX-License-Identifier: MIT
/* GBM: surfaces whose buffers are taken and given back, and buffers shared as dma-bufs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <libdrm/drm_fourcc.h>
#include <gbm.h>

#include "gl.h"

#include <GLES2/gl2ext.h>

#define WIDTH	96
#define HEIGHT	64

static struct gbm_device *gbm;
static struct gbm_surface *surface;
static EGLDisplay display;
static EGLConfig config;
static EGLSurface window;

static void skip(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(77);
}

/* The configuration of XRGB8888. */
static bool find_config(void)
{
	static const EGLint wanted[] = { EGL_SURFACE_TYPE, EGL_WINDOW_BIT, EGL_RENDERABLE_TYPE,
					 EGL_OPENGL_ES2_BIT, EGL_NONE };
	EGLConfig all[64];
	EGLint count = 0, id;

	eglChooseConfig(display, wanted, all, 64, &count);
	for (EGLint i = 0; i < count; i++) {
		config = all[i];
		eglGetConfigAttrib(display, config, EGL_NATIVE_VISUAL_ID, &id);
		if (id == GBM_FORMAT_XRGB8888)
			return true;
	}
	return false;
}

static void open_all(void)
{
	int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);

	gbm = fd < 0 ? NULL : gbm_create_device(fd);
	if (!gbm)
		skip("no GBM device");
	display = eglGetPlatformDisplay(EGL_PLATFORM_GBM_KHR, gbm, NULL);
	if (!display || !eglInitialize(display, NULL, NULL))
		skip("no EGL display of GBM");
	if (!find_config())
		skip("no configuration of XRGB8888");
	surface = gbm_surface_create(gbm, WIDTH, HEIGHT, GBM_FORMAT_XRGB8888,
				     GBM_BO_USE_RENDERING | GBM_BO_USE_LINEAR);
	window = surface ? eglCreatePlatformWindowSurface(display, config, surface, NULL) : NULL;
	if (!window)
		skip("no window surface of GBM");
	gl_open_on(display, config, window, 2, 0);
}

/* A pixel of a buffer, as the CPU maps it: row 0 is the upper one. */
static uint32_t pixel(struct gbm_bo *bo, int x, int y)
{
	uint32_t pitch = 0, value = 0;
	void *map = NULL;
	char *at = gbm_bo_map(bo, x, y, 1, 1, GBM_BO_TRANSFER_READ, &pitch, &map);

	if (!at) {
		gl_fail("gbm_bo_map");
		return 0;
	}
	memcpy(&value, at, sizeof(value));
	gbm_bo_unmap(bo, map);
	return value & 0xffffff;
}

static void expect(struct gbm_bo *bo, int x, int y, uint32_t wanted)
{
	uint32_t got = pixel(bo, x, y);

	if (got != wanted)
		gl_fail("pixel %d, %d is %06x, not %06x", x, y, got, wanted);
}

/* Left half red, the rest of another color each frame. */
static void draw(int frame)
{
	glDisable(GL_SCISSOR_TEST);
	glClearColor(0, frame & 1, frame >> 1 & 1, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glEnable(GL_SCISSOR_TEST);
	glScissor(0, 0, WIDTH / 2, HEIGHT / 2);
	glClearColor(1, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
}

static void frames(void)
{
	struct gbm_bo *before = NULL;

	for (int frame = 0; frame < 8; frame++) {
		struct gbm_bo *bo;

		draw(frame);
		if (!eglSwapBuffers(display, window)) {
			gl_fail("eglSwapBuffers in frame %d", frame);
			break;
		}
		bo = gbm_surface_lock_front_buffer(surface);
		if (!bo) {
			gl_fail("no front buffer in frame %d", frame);
			break;
		}
		expect(bo, 0, HEIGHT - 1, 0xff0000);
		expect(bo, WIDTH - 1, 0, (frame & 1 ? 0xff00 : 0) | (frame & 2 ? 0xff : 0));
		if (before)
			gbm_surface_release_buffer(surface, before);
		before = bo;
	}
	if (before)
		gbm_surface_release_buffer(surface, before);
}

/* A texture of a buffer's memory. */
static GLuint import(int fd, struct gbm_bo *bo)
{
	const uint64_t modifier = gbm_bo_get_modifier(bo);
	const EGLAttrib attributes[] = {
		EGL_WIDTH, WIDTH, EGL_HEIGHT, HEIGHT, EGL_LINUX_DRM_FOURCC_EXT, GBM_FORMAT_ARGB8888,
		EGL_DMA_BUF_PLANE0_FD_EXT, fd, EGL_DMA_BUF_PLANE0_OFFSET_EXT, 0,
		EGL_DMA_BUF_PLANE0_PITCH_EXT, gbm_bo_get_stride(bo),
		EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT, (EGLAttrib)(modifier & 0xffffffff),
		EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT, (EGLAttrib)(modifier >> 32), EGL_NONE,
	};
	PFNGLEGLIMAGETARGETTEXTURE2DOESPROC target =
		(void *)eglGetProcAddress("glEGLImageTargetTexture2DOES");
	EGLImage image = eglCreateImage(display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL,
					attributes);
	GLuint texture;

	if (!image || !target) {
		gl_fail("no image of a dma-buf: EGL error 0x%x", eglGetError());
		return 0;
	}
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	target(GL_TEXTURE_2D, image);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	eglDestroyImage(display, image);
	return texture;
}

/* A write through GBM is visible in a texture of the dma-buf, and the reverse. */
static void shared(uint64_t modifier)
{
	struct gbm_bo *bo = gbm_bo_create_with_modifiers2(gbm, WIDTH, HEIGHT, GBM_FORMAT_ARGB8888,
							  &modifier, 1, GBM_BO_USE_RENDERING);
	int fd = bo ? gbm_bo_get_fd(bo) : -1;
	uint32_t pitch;
	void *map = NULL;
	GLuint texture, fbo;
	char *at;

	if (fd < 0) {
		gl_fail("no buffer, or no dma-buf of it");
		return;
	}
	if (gbm_bo_get_modifier(bo) != modifier || gbm_bo_get_stride(bo) != WIDTH * 4)
		gl_fail("its modifier is %llx, its stride %u",
			(unsigned long long)gbm_bo_get_modifier(bo), gbm_bo_get_stride(bo));
	at = gbm_bo_map(bo, 0, 0, WIDTH, HEIGHT, GBM_BO_TRANSFER_WRITE, &pitch, &map);
	for (int y = 0; at && y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			((uint32_t *)(at + (size_t)y * pitch))[x] =
				0xff000000u | (uint32_t)(y * 256 + x);
	gbm_bo_unmap(bo, map);
	texture = import(fd, bo);
	if (texture) {
		glDisable(GL_SCISSOR_TEST);
		gl_target(WIDTH, HEIGHT, GL_RGBA);
		gl_program("attribute vec4 position; varying vec2 at; void main() {"
			   " gl_Position = position; at = position.xy * 0.5 + 0.5; }",
			   "precision mediump float; varying vec2 at; uniform sampler2D t;"
			   " void main() { gl_FragColor = texture2D(t, at); }");
		glBindTexture(GL_TEXTURE_2D, texture);
		gl_rect(-1, -1, 1, 1, 0);
		gl_expect(0, 0, 0, 0, 0, 255, 0);
		gl_expect(95, 63, 0, 63, 95, 255, 0);
		glGenFramebuffers(1, &fbo);
		glBindFramebuffer(GL_FRAMEBUFFER, fbo);
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
				       texture, 0);
		glClearColor(0, 1, 0, 1);
		glClear(GL_COLOR_BUFFER_BIT);
		glFinish();
		expect(bo, 5, 7, 0x00ff00);
		glDeleteTextures(1, &texture);
	}
	close(fd);
	gbm_bo_destroy(bo);
}

int main(void)
{
	open_all();
	gl_case("the buffers of a surface have what was drawn, one after the other");
	frames();
	gl_case("a buffer's dma-buf is a texture and a target");
	shared(DRM_FORMAT_MOD_LINEAR);
	gl_case("so is that of one in tiles");
	shared(DRM_FORMAT_MOD_ARM_16X16_BLOCK_U_INTERLEAVED);
	return gl_close();
}
