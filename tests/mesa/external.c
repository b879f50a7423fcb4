/* SPDX-License-Identifier: MIT */
/*
 * Memory and semaphores of other APIs, by file descriptor.
 * debug: trace
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <libdrm/drm.h>

#include "gl.h"

#include <GLES2/gl2ext.h>

#define SIDE	64
#define BYTES	(SIDE * SIDE * 4)
#define SLOW	400000	/* turns of a loop: the GPU has to do with it for a while */

static PFNGLCREATEMEMORYOBJECTSEXTPROC create_memory;
static PFNGLIMPORTMEMORYFDEXTPROC import_memory;
static PFNGLTEXSTORAGEMEM2DEXTPROC texture_in;
static PFNGLBUFFERSTORAGEMEMEXTPROC buffer_in;
static PFNGLGENSEMAPHORESEXTPROC gen_semaphores;
static PFNGLIMPORTSEMAPHOREFDEXTPROC import_semaphore;
static PFNGLWAITSEMAPHOREEXTPROC wait_semaphore;
static PFNGLSIGNALSEMAPHOREEXTPROC signal_semaphore;
static PFNGLGETUNSIGNEDBYTEVEXTPROC get_bytes;
static PFNGLGETUNSIGNEDBYTEI_VEXTPROC get_bytes_of;

static void find_functions(void)
{
	create_memory = (PFNGLCREATEMEMORYOBJECTSEXTPROC)eglGetProcAddress(
		"glCreateMemoryObjectsEXT");
	import_memory = (PFNGLIMPORTMEMORYFDEXTPROC)eglGetProcAddress("glImportMemoryFdEXT");
	texture_in = (PFNGLTEXSTORAGEMEM2DEXTPROC)eglGetProcAddress("glTexStorageMem2DEXT");
	buffer_in = (PFNGLBUFFERSTORAGEMEMEXTPROC)eglGetProcAddress("glBufferStorageMemEXT");
	gen_semaphores = (PFNGLGENSEMAPHORESEXTPROC)eglGetProcAddress("glGenSemaphoresEXT");
	import_semaphore =
		(PFNGLIMPORTSEMAPHOREFDEXTPROC)eglGetProcAddress("glImportSemaphoreFdEXT");
	wait_semaphore = (PFNGLWAITSEMAPHOREEXTPROC)eglGetProcAddress("glWaitSemaphoreEXT");
	signal_semaphore = (PFNGLSIGNALSEMAPHOREEXTPROC)eglGetProcAddress("glSignalSemaphoreEXT");
	get_bytes = (PFNGLGETUNSIGNEDBYTEVEXTPROC)eglGetProcAddress("glGetUnsignedBytevEXT");
	get_bytes_of =
		(PFNGLGETUNSIGNEDBYTEI_VEXTPROC)eglGetProcAddress("glGetUnsignedBytei_vEXT");
}

/* Vulkan has the same ones: both drivers take them from common/tc_uuid.c. */
static void identifiers(void)
{
	static const GLubyte nothing[GL_UUID_SIZE_EXT];
	GLubyte device[GL_UUID_SIZE_EXT] = { 0 }, driver[GL_UUID_SIZE_EXT] = { 0 };
	GLint count = 0;

	gl_case("the device and the driver have identifiers");
	glGetIntegerv(GL_NUM_DEVICE_UUIDS_EXT, &count);
	if (count != 1)
		gl_fail("%d devices", count);
	get_bytes_of(GL_DEVICE_UUID_EXT, 0, device);
	get_bytes(GL_DRIVER_UUID_EXT, driver);
	if (!memcmp(device, nothing, sizeof(device)) || !memcmp(driver, nothing, sizeof(driver)) ||
	    !memcmp(device, driver, sizeof(device)))
		gl_fail("they are nothing, or the same");
	gl_no_error();
}

/* A dma-buf of the texture's memory. */
static int export(GLuint texture)
{
	PFNEGLCREATEIMAGEKHRPROC create =
		(PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress("eglCreateImageKHR");
	PFNEGLEXPORTDMABUFIMAGEMESAPROC export_image =
		(PFNEGLEXPORTDMABUFIMAGEMESAPROC)eglGetProcAddress("eglExportDMABUFImageMESA");
	EGLDisplay display = eglGetCurrentDisplay();
	EGLImageKHR image = create(display, eglGetCurrentContext(), EGL_GL_TEXTURE_2D_KHR,
				   (EGLClientBuffer)(uintptr_t)texture, NULL);
	EGLint stride, offset;
	int fd = -1;

	if (!image || !export_image(display, image, &fd, &stride, &offset))
		gl_fail("the texture cannot be exported: EGL error 0x%x", eglGetError());
	return fd;
}

static void memory(void)
{
	GLuint texture = gl_target(SIDE, SIDE, GL_RGBA8), object, second, framebuffer;
	GLuint buffer, copy;
	const uint32_t *words;
	int fd;

	gl_case("a texture and a buffer in memory of a file descriptor");
	glClearColor(1, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	fd = export(texture);
	create_memory(1, &object);
	import_memory(object, BYTES, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
	glGenTextures(1, &second);
	glBindTexture(GL_TEXTURE_2D, second);
	texture_in(GL_TEXTURE_2D, 1, GL_RGBA8, SIDE, SIDE, object, 0);
	gl_no_error();
	/* what is drawn to the one is in the other, tiled as it is */
	glEnable(GL_SCISSOR_TEST);
	glScissor(0, 0, SIDE / 2, SIDE);
	glClearColor(0, 1, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glDisable(GL_SCISSOR_TEST);
	glFinish();
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, second, 0);
	gl_expect(SIDE / 2 - 1, 9, 0, 255, 0, 255, 0);
	gl_expect(SIDE / 2, 9, 255, 0, 0, 255, 0);
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_COPY_READ_BUFFER, buffer);
	buffer_in(GL_COPY_READ_BUFFER, BYTES, object, 0);
	glGenBuffers(1, &copy);
	glBindBuffer(GL_COPY_WRITE_BUFFER, copy);
	glBufferData(GL_COPY_WRITE_BUFFER, BYTES, NULL, GL_STREAM_READ);
	glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, BYTES);
	words = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, BYTES, GL_MAP_READ_BIT);
	if (!words || words[0] != 0xff00ff00 || words[BYTES / 4 - 1] != 0xff0000ff)
		gl_fail("the buffer has other words");
	glUnmapBuffer(GL_COPY_WRITE_BUFFER);
	gl_no_error();
	texture_in(GL_TEXTURE_2D, 1, GL_RGBA8, 4 * SIDE, 4 * SIDE, object, 0);
	if (glGetError() == GL_NO_ERROR)
		gl_fail("a texture larger than the memory is no error");
}

/* A syncobj of the kernel's as a file; its handle on @device. */
static int make_sync(int device, uint32_t *handle)
{
	struct drm_syncobj_create create = { 0 };
	struct drm_syncobj_handle name = { .fd = -1 };

	if (ioctl(device, DRM_IOCTL_SYNCOBJ_CREATE, &create))
		gl_fail("no syncobj: %s", strerror(errno));
	name.handle = *handle = create.handle;
	if (ioctl(device, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &name))
		gl_fail("no file of a syncobj: %s", strerror(errno));
	return name.fd;
}

/* True if the sync is signalled before the deadline. */
static bool is_signalled(int device, uint32_t handle, int64_t deadline)
{
	struct drm_syncobj_wait wait = {
		.handles = (uint64_t)(uintptr_t)&handle,
		.timeout_nsec = deadline,
		.count_handles = 1,
	};

	return !ioctl(device, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
}

static void draw_slowly(void)
{
	static const char vs[] = "#version 310 es\n"
		"in vec4 position; void main() { gl_Position = position; }";
	static const char fs[] = "#version 310 es\nprecision highp float; precision highp int;\n"
		"uniform int turns; out vec4 c;\n"
		"void main() { int k = 1; for (int i = 0; i < turns; i++) k = k * 7 + i;\n"
		"c = vec4(k == 5 ? 0.0 : 1.0); }";
	GLuint program = gl_program(vs, fs);

	glUniform1i(glGetUniformLocation(program, "turns"), SLOW);
	gl_rect(-1, -1, 1, 1, 0);
}

static void semaphores(void)
{
	const int device = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	uint32_t handle = 0;
	GLuint semaphore, again;
	int fd;

	gl_case("a semaphore is signalled by the work before it");
	fd = make_sync(device, &handle);
	gen_semaphores(1, &semaphore);
	import_semaphore(semaphore, GL_HANDLE_TYPE_OPAQUE_FD_EXT, dup(fd));
	gen_semaphores(1, &again);
	import_semaphore(again, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
	gl_target(8, 8, GL_RGBA8);
	draw_slowly();
	signal_semaphore(semaphore, 0, NULL, 0, NULL, NULL);
	if (is_signalled(device, handle, 0))
		gl_fail("it is signalled before the work is done");
	gl_case("work waits for a semaphore, the program does not");
	wait_semaphore(again, 0, NULL, 0, NULL, NULL);
	if (is_signalled(device, handle, 0))
		gl_fail("the call has waited");
	gl_expect(4, 4, 255, 255, 255, 255, 0);
	if (!is_signalled(device, handle, INT64_MAX))
		gl_fail("it is not signalled in the end");
	gl_no_error();
	close(device);
}

int main(void)
{
	gl_open(3, 2);
	find_functions();
	if (!strstr((const char *)glGetString(GL_EXTENSIONS), "GL_EXT_memory_object_fd") ||
	    !strstr((const char *)glGetString(GL_EXTENSIONS), "GL_EXT_semaphore_fd")) {
		gl_case("GL_EXT_memory_object_fd and GL_EXT_semaphore_fd are offered");
		gl_fail("they are not");
		return gl_close();
	}
	identifiers();
	memory();
	semaphores();
	return gl_close();
}
