// SPDX-License-Identifier: MIT
/*
 * libheadless.so, preloaded: a program that draws to a screen of DRM's by GBM and EGL, as
 * glmark2-es2-drm does, draws to a pbuffer instead. It needs no screen and no device: any EGL will
 * do that has surfaceless displays. DRM, GBM and what EGL has of windows are answered here.
 *
 * HEADLESS_SIZE=WIDTHxHEIGHT	of the screen; 800x600
 * HEADLESS_PICTURE=FILE	the picture of frame HEADLESS_FRAME (0: the first) goes there as
 *				PPM. The program's clock counts its frames then, 1/30 s each.
 *
 * One thread draws.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <gbm.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#define FRAMES_PER_SECOND	30
#define START			1000	/* seconds: the time of the first frame */

static unsigned int frame;

/* REAL(NAME): the function that this one stands for. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void size(int *width, int *height)
{
	const char *given = getenv("HEADLESS_SIZE");

	if (!given || sscanf(given, "%dx%d", width, height) != 2 || *width < 1 || *height < 1) {
		*width = 800;
		*height = 600;
	}
}

/* ---- Time ------------------------------------------------------------------------------------ */

static int of_program(struct dl_phdr_info *info, size_t bytes, void *data)
{
	uintptr_t *range = data;
	int i;

	(void)bytes;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			range[0] = info->dlpi_addr + p->p_vaddr;
			range[1] = range[0] + p->p_memsz;
		}
	}
	return 1;	/* the first one is the program */
}

/* Libraries have the real time. */
static bool is_counted(const void *caller)
{
	static uintptr_t range[2];

	if (!getenv("HEADLESS_PICTURE"))
		return false;
	if (!range[1])
		dl_iterate_phdr(of_program, range);
	return (uintptr_t)caller >= range[0] && (uintptr_t)caller < range[1];
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	if (!is_counted(__builtin_return_address(0)))
		return REAL(clock_gettime)(clock, now);
	now->tv_sec = START + frame / FRAMES_PER_SECOND;
	now->tv_nsec = frame % FRAMES_PER_SECOND * (1000000000L / FRAMES_PER_SECOND);
	return 0;
}

int gettimeofday(struct timeval *now, void *zone)
{
	if (!is_counted(__builtin_return_address(0)))
		return REAL(gettimeofday)(now, zone);
	now->tv_sec = START + frame / FRAMES_PER_SECOND;
	now->tv_usec = frame % FRAMES_PER_SECOND * (1000000 / FRAMES_PER_SECOND);
	return 0;
}

/* ---- DRM: one connector, one mode ------------------------------------------------------------ */

static void *flipped;		/* data of the flip that has not been told */
static bool flips;

int drmSetMaster(int fd)
{
	(void)fd;
	return 0;
}

int drmDropMaster(int fd)
{
	(void)fd;
	return 0;
}

int drmGetCap(int fd, uint64_t capability, uint64_t *value)
{
	(void)fd;
	(void)capability;
	*value = 0;
	return 0;
}

drmModeResPtr drmModeGetResources(int fd)
{
	static uint32_t id = 1;
	drmModeResPtr res = calloc(1, sizeof(*res));

	(void)fd;
	if (res) {
		res->count_crtcs = res->count_connectors = res->count_encoders = 1;
		res->crtcs = res->connectors = res->encoders = &id;
		res->max_width = res->max_height = 16384;
	}
	return res;
}

void drmModeFreeResources(drmModeResPtr res)
{
	free(res);
}

drmModeConnectorPtr drmModeGetConnector(int fd, uint32_t id)
{
	static drmModeModeInfo mode = { .vrefresh = 60, .type = DRM_MODE_TYPE_PREFERRED };
	static uint32_t encoder = 1;
	drmModeConnectorPtr c = calloc(1, sizeof(*c));
	int width, height;

	(void)fd;
	size(&width, &height);
	mode.hdisplay = (uint16_t)width;
	mode.vdisplay = (uint16_t)height;
	if (c) {
		c->connector_id = id;
		c->encoder_id = encoder;
		c->connection = DRM_MODE_CONNECTED;
		c->count_modes = c->count_encoders = 1;
		c->modes = &mode;
		c->encoders = &encoder;
	}
	return c;
}

void drmModeFreeConnector(drmModeConnectorPtr c)
{
	free(c);
}

drmModeEncoderPtr drmModeGetEncoder(int fd, uint32_t id)
{
	drmModeEncoderPtr e = calloc(1, sizeof(*e));

	(void)fd;
	if (e) {
		e->encoder_id = id;
		e->crtc_id = e->possible_crtcs = 1;
	}
	return e;
}

void drmModeFreeEncoder(drmModeEncoderPtr e)
{
	free(e);
}

drmModeCrtcPtr drmModeGetCrtc(int fd, uint32_t id)
{
	drmModeCrtcPtr c = calloc(1, sizeof(*c));

	(void)fd;
	if (c)
		c->crtc_id = id;
	return c;
}

void drmModeFreeCrtc(drmModeCrtcPtr c)
{
	free(c);
}

int drmModeSetCrtc(int fd, uint32_t crtc, uint32_t fb, uint32_t x, uint32_t y, uint32_t *connectors,
		   int count, drmModeModeInfoPtr mode)
{
	(void)fd, (void)crtc, (void)fb, (void)x, (void)y, (void)connectors, (void)count, (void)mode;
	return 0;
}

int drmModeAddFB2(int fd, uint32_t width, uint32_t height, uint32_t format,
		  const uint32_t handles[4], const uint32_t pitches[4], const uint32_t offsets[4],
		  uint32_t *id, uint32_t flags)
{
	(void)fd, (void)width, (void)height, (void)format, (void)handles, (void)pitches;
	(void)offsets, (void)flags;
	*id = 1;
	return 0;
}

int drmModeRmFB(int fd, uint32_t id)
{
	(void)fd, (void)id;
	return 0;
}

int drmModePageFlip(int fd, uint32_t crtc, uint32_t fb, uint32_t flags, void *data)
{
	(void)fd, (void)crtc, (void)fb;
	flips = flags & DRM_MODE_PAGE_FLIP_EVENT;
	flipped = data;
	return 0;
}

int drmHandleEvent(int fd, drmEventContextPtr events)
{
	if (flips && events->page_flip_handler) {
		flips = false;
		events->page_flip_handler(fd, frame, 0, 0, flipped);
	}
	return 0;
}

/* ---- GBM: one surface with one buffer -------------------------------------------------------- */

struct gbm_bo {
	struct gbm_device *device;
	void *data;
};

struct gbm_surface {
	struct gbm_bo bo;
	uint32_t width, height;
};

struct gbm_device *gbm_create_device(int fd)
{
	(void)fd;
	return calloc(1, 64);
}

void gbm_device_destroy(struct gbm_device *device)
{
	free(device);
}

struct gbm_surface *gbm_surface_create(struct gbm_device *device, uint32_t width, uint32_t height,
				       uint32_t format, uint32_t flags)
{
	struct gbm_surface *s = calloc(1, sizeof(*s));

	(void)format, (void)flags;
	if (s) {
		s->bo.device = device;
		s->width = width;
		s->height = height;
	}
	return s;
}

void gbm_surface_destroy(struct gbm_surface *s)
{
	free(s);
}

struct gbm_bo *gbm_surface_lock_front_buffer(struct gbm_surface *s)
{
	return &s->bo;
}

void gbm_surface_release_buffer(struct gbm_surface *s, struct gbm_bo *bo)
{
	(void)s, (void)bo;
}

int gbm_surface_has_free_buffers(struct gbm_surface *s)
{
	(void)s;
	return 1;
}

void gbm_bo_set_user_data(struct gbm_bo *bo, void *data, void (*destroy)(struct gbm_bo *, void *))
{
	(void)destroy;
	bo->data = data;
}

void *gbm_bo_get_user_data(struct gbm_bo *bo)
{
	return bo->data;
}

struct gbm_device *gbm_bo_get_device(struct gbm_bo *bo)
{
	return bo->device;
}

uint32_t gbm_bo_get_width(struct gbm_bo *bo)
{
	return ((struct gbm_surface *)bo)->width;
}

uint32_t gbm_bo_get_height(struct gbm_bo *bo)
{
	return ((struct gbm_surface *)bo)->height;
}

uint32_t gbm_bo_get_format(struct gbm_bo *bo)
{
	(void)bo;
	return GBM_FORMAT_XRGB8888;
}

int gbm_bo_get_plane_count(struct gbm_bo *bo)
{
	(void)bo;
	return 1;
}

union gbm_bo_handle gbm_bo_get_handle_for_plane(struct gbm_bo *bo, int plane)
{
	(void)bo, (void)plane;
	return (union gbm_bo_handle){ .u32 = 1 };
}

uint32_t gbm_bo_get_stride_for_plane(struct gbm_bo *bo, int plane)
{
	(void)plane;
	return 4 * gbm_bo_get_width(bo);
}

uint32_t gbm_bo_get_offset(struct gbm_bo *bo, int plane)
{
	(void)bo, (void)plane;
	return 0;
}

/* ---- EGL ------------------------------------------------------------------------------------- */

/* A program that opens EGL gets this library. Its other functions are those of the real EGL. */
void *dlopen(const char *name, int flags)
{
	Dl_info self;

	if (name && !strncmp(name, "libEGL.so", 9) && dladdr((void *)size, &self))
		name = self.dli_fname;
	return REAL(dlopen)(name, flags);
}

static EGLDisplay surfaceless(void)
{
	PFNEGLGETPLATFORMDISPLAYEXTPROC get =
		(void *)REAL(eglGetProcAddress)("eglGetPlatformDisplayEXT");

	return get ? get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL) : EGL_NO_DISPLAY;
}

EGLDisplay eglGetDisplay(EGLNativeDisplayType native)
{
	(void)native;
	return surfaceless();
}

EGLDisplay eglGetPlatformDisplay(EGLenum platform, void *native, const EGLAttrib *attributes)
{
	(void)platform, (void)native, (void)attributes;
	return surfaceless();
}

static EGLDisplay get_platform_display(EGLenum platform, void *native, const EGLint *attributes)
{
	(void)platform, (void)native, (void)attributes;
	return surfaceless();
}

/* A request for a window config becomes one for a pbuffer config. */
EGLBoolean eglChooseConfig(EGLDisplay display, const EGLint *wanted, EGLConfig *configs,
			   EGLint most, EGLint *count)
{
	EGLint list[64] = { EGL_SURFACE_TYPE, EGL_PBUFFER_BIT }, n = 2;

	for (; wanted && *wanted != EGL_NONE && n < 61; wanted += 2) {
		if (wanted[0] == EGL_SURFACE_TYPE)
			continue;
		list[n++] = wanted[0];
		list[n++] = wanted[1];
	}
	list[n] = EGL_NONE;
	return REAL(eglChooseConfig)(display, list, configs, most, count);
}

EGLBoolean eglGetConfigAttrib(EGLDisplay display, EGLConfig config, EGLint attribute, EGLint *value)
{
	EGLBoolean ok = REAL(eglGetConfigAttrib)(display, config, attribute, value);

	if (ok && attribute == EGL_NATIVE_VISUAL_ID)
		*value = (EGLint)GBM_FORMAT_XRGB8888;
	return ok;
}

EGLSurface eglCreateWindowSurface(EGLDisplay display, EGLConfig config, EGLNativeWindowType window,
				  const EGLint *attributes)
{
	const struct gbm_surface *s = (const void *)window;
	const EGLint list[] = { EGL_WIDTH, (EGLint)s->width, EGL_HEIGHT, (EGLint)s->height,
				EGL_NONE };

	(void)attributes;
	return eglCreatePbufferSurface(display, config, list);
}

static void write_picture(EGLDisplay display, EGLSurface surface, const char *path)
{
	EGLint width = 0, height = 0, x, y;
	uint8_t *pixels;
	FILE *f = fopen(path, "wb");

	eglQuerySurface(display, surface, EGL_WIDTH, &width);
	eglQuerySurface(display, surface, EGL_HEIGHT, &height);
	pixels = calloc((size_t)width * (size_t)height, 4);
	if (!f || !pixels) {
		fprintf(stderr, "headless: error: %s cannot be written\n", path);
		exit(1);
	}
	glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	fprintf(f, "P6\n%d %d\n255\n", width, height);
	for (y = height - 1; y >= 0; y--) {
		for (x = 0; x < width; x++)
			fwrite(pixels + 4 * ((size_t)y * (size_t)width + (size_t)x), 1, 3, f);
	}
	fclose(f);
	free(pixels);
}

EGLBoolean eglSwapBuffers(EGLDisplay display, EGLSurface surface)
{
	const char *path = getenv("HEADLESS_PICTURE"), *when = getenv("HEADLESS_FRAME");

	if (path && frame == (when ? strtoul(when, NULL, 10) : 0))
		write_picture(display, surface, path);
	frame++;
	glFlush();
	return EGL_TRUE;
}

EGLBoolean eglSwapInterval(EGLDisplay display, EGLint interval)
{
	(void)display, (void)interval;
	return EGL_TRUE;
}

__eglMustCastToProperFunctionPointerType eglGetProcAddress(const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} ours[] = {
		{ "eglGetDisplay", eglGetDisplay },
		{ "eglGetPlatformDisplay", eglGetPlatformDisplay },
		{ "eglGetPlatformDisplayEXT", get_platform_display },
		{ "eglChooseConfig", eglChooseConfig },
		{ "eglGetConfigAttrib", eglGetConfigAttrib },
		{ "eglCreateWindowSurface", eglCreateWindowSurface },
		{ "eglSwapBuffers", eglSwapBuffers },
		{ "eglSwapInterval", eglSwapInterval },
	};
	size_t i;

	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (!strcmp(name, ours[i].name))
			return (__eglMustCastToProperFunctionPointerType)ours[i].function;
	}
	return REAL(eglGetProcAddress)(name);
}
