/* SPDX-License-Identifier: MIT */
/* Memory of other APIs, by file descriptor: textures and buffers that Vulkan has laid out. */
#include <stdint.h>

#include "frontend/winsys_handle.h"
#include "util/format/u_format.h"
#include "util/u_memory.h"

#include "tc_uuid.h"
#include "tg_bo.h"
#include "tg_resource.h"
#include "tg_screen.h"

struct tg_memobj {
	struct pipe_memory_object base;
	struct tg_bo *bo;
};

static struct pipe_memory_object *memobj_create(struct pipe_screen *screen,
						struct winsys_handle *handle, bool dedicated)
{
	struct tg_memobj *m = CALLOC_STRUCT(tg_memobj);

	if (!m)
		return NULL;
	m->base.dedicated = dedicated;
	if (handle->type == WINSYS_HANDLE_TYPE_FD)
		m->bo = tg_bo_import(tg_screen(screen), (int)handle->handle);
	if (!m->bo) {
		FREE(m);
		return NULL;
	}
	return &m->base;
}

static void memobj_destroy(struct pipe_screen *screen, struct pipe_memory_object *memobj)
{
	struct tg_memobj *m = (struct tg_memobj *)memobj;

	tg_bo_reference(&m->bo, NULL);
	FREE(m);
}

static struct pipe_resource *resource_from_memobj(struct pipe_screen *screen,
						  const struct pipe_resource *template,
						  struct pipe_memory_object *memobj,
						  uint64_t offset)
{
	/* Vulkan's depth and stencil are two planes, in layouts that this driver does not have */
	if (util_format_is_depth_and_stencil(template->format))
		return NULL;
	return tg_resource_in(screen, template, ((struct tg_memobj *)memobj)->bo, offset);
}

static void get_device_uuid(struct pipe_screen *screen, char *uuid)
{
	tc_device_uuid(tsr_device_info(tg_screen(screen)->device), (uint8_t *)uuid);
}

static void get_driver_uuid(struct pipe_screen *screen, char *uuid)
{
	tc_driver_uuid((uint8_t *)uuid);
}

void tg_memobj_screen_init(struct pipe_screen *screen)
{
	screen->memobj_create_from_handle = memobj_create;
	screen->memobj_destroy = memobj_destroy;
	screen->resource_from_memobj = resource_from_memobj;
	screen->get_device_uuid = get_device_uuid;
	screen->get_driver_uuid = get_driver_uuid;
}
