// SPDX-License-Identifier: MIT
#include "gt.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gt_streams.h"
#include "world.h"

static struct world world;

const char *resource_name(enum resource kind)
{
	static const char *const names[] = {
		[RESOURCE_VM_ID] = "vm", [RESOURCE_QUEUE_ID] = "queue", [RESOURCE_BO_HANDLE] = "bo",
		[RESOURCE_HEAP_ID] = "heap", [RESOURCE_PERFMON_ID] = "perfmon",
		[RESOURCE_SYNCOBJ] = "syncobj",
	};

	return names[kind];
}

int world_file(const struct world *w)
{
	return w->file[w->turn];
}

void *take_memory(struct world *w, size_t size)
{
	void *memory = w->memory + w->memory_used;

	size = (size + 7) & ~(size_t)7;
	if (size > sizeof(w->memory) - w->memory_used)
		return NULL;
	memset(memory, 0, size);
	w->memory_used += size;
	return memory;
}

void bind_streams(struct world *w, uint32_t vm)
{
	struct drm_tessera_bind_op op = gt_op_map(w->streams, GT_CMD_VA, GT_STREAMS_SIZE, 0,
						  GT_RWX);

	if (w->streams && !w->turn)
		gt_vm_bind(w->file[0], vm, &op, 1);
	say(w, "\tstreams(vm[%u]);\n", (w->resources[RESOURCE_VM_ID] - 1) % WORLD_RESOURCES);
}

/* The node is looked for when it is not where it was: looking opens and closes files. */
static int open_device(void)
{
	static char path[64];
	int fd = path[0] ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0 && gt_node_path(0, true, path, sizeof(path)))
		fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		path[0] = '\0';
	return fd;
}

struct world *world_open(FILE *text)
{
	static uint8_t buffer[WORLD_BUFFER];
	struct world *w = &world;
	void *map;

	memset(w, 0, sizeof(*w));
	w->text = text;
	w->buffer = buffer;
	w->file[1] = -1;
	w->file[0] = open_device();
	if (w->file[0] < 0) {
		/* a program before this one has made the driver give up the device */
		gt_rebind();
		w->file[0] = open_device();
	}
	if (w->file[0] < 0)
		return NULL;
	if (gt_bo_try(w->file[0], GT_STREAMS_SIZE, 0, 0, &w->streams))
		return w;
	map = gt_bo_mmap(w->file[0], w->streams, GT_STREAMS_SIZE);
	if (map) {
		gt_write_streams(map);
		munmap(map, GT_STREAMS_SIZE);
	}
	return w;
}

void world_close(struct world *w)
{
	for (unsigned int i = 0; i < WORLD_MAPS; i++)
		if (w->map[i])
			munmap(w->map[i], GT_PAGE);
	for (unsigned int i = 0; i < 2; i++)
		if (w->file[i] >= 0)
			close(w->file[i]);
	/* a program starts on a device without faults */
	if (w->injected)
		gt_inject("clear");
}
