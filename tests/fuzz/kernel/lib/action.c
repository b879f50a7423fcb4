// SPDX-License-Identifier: MIT
/* Calls of a program besides the driver's ioctls. */
#include "gt.h"

#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "world.h"

/* ---- Buffers --------------------------------------------------------------------------------- */

/* A resource, with its name in C. */
static uint32_t named(struct world *w, enum resource kind, char *name, size_t size)
{
	int index;
	const uint32_t value = choose_resource(w, kind, &index);

	if (index >= 0)
		snprintf(name, size, "%s[%d]", resource_name(kind), index);
	else
		snprintf(name, size, "0x%x", value);
	return value;
}

/* Have the kernel read a page, which gives EFAULT where the CPU would get a signal. */
static void touch(const void *page, unsigned int offset)
{
	static int zero = -1;

	if (zero < 0)
		zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (read(zero, (char *)page + offset, 64) < 0 && errno != EFAULT)
		abort();
}

static void map_bo(struct world *w)
{
	char name[24];
	struct drm_tessera_bo_mmap_offset offset = {
		.handle = named(w, RESOURCE_BO_HANDLE, name, sizeof(name)),
	};
	void **place = &w->map[choose(w) % WORLD_MAPS], *map;
	const unsigned int at = 64 * (choose(w) % 64);
	const int flags = choose(w) % 8 ? MAP_SHARED : MAP_PRIVATE;

	say(w, "\tmap_bo(%s, %d, %u, %s);\n", name, (int)(place - w->map), at,
	    flags == MAP_SHARED ? "MAP_SHARED" : "MAP_PRIVATE");
	flush(w);
	if (*place)
		touch(*place, at);
	if (gt_ioctl(world_file(w), DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset))
		return;
	map = mmap(NULL, GT_PAGE, PROT_READ | PROT_WRITE, flags, world_file(w), offset.offset);
	if (map == MAP_FAILED)
		return;
	if (*place)
		munmap(*place, GT_PAGE);
	*place = map;
	touch(map, at);
}

static void share_bo(struct world *w)
{
	char name[24];
	const uint32_t bo = named(w, RESOURCE_BO_HANDLE, name, sizeof(name));
	uint32_t handle;
	int fd;

	say(w, "\tshare_bo(%s, &bo[%u]);\n", name,
	    w->resources[RESOURCE_BO_HANDLE] % WORLD_RESOURCES);
	flush(w);
	if (drmPrimeHandleToFD(w->file[0], bo, DRM_CLOEXEC | DRM_RDWR, &fd))
		return;
	if (!drmPrimeFDToHandle(w->file[w->file[1] >= 0], fd, &handle))
		keep_resource(w, RESOURCE_BO_HANDLE, handle);
	close(fd);
}

static void close_bo(struct world *w)
{
	char name[24];
	const uint32_t bo = named(w, RESOURCE_BO_HANDLE, name, sizeof(name));

	say(w, "\tclose_bo(%s);\n", name);
	flush(w);
	gt_gem_close(world_file(w), bo);
}

/* ---- Syncobjs -------------------------------------------------------------------------------- */

static void sync_signal(struct world *w)
{
	char name[24];
	const uint32_t sync = named(w, RESOURCE_SYNCOBJ, name, sizeof(name));
	const unsigned int point = choose(w) % 6;

	say(w, "\tsync_signal(%s, %u);\n", name, point);
	flush(w);
	gt_syncobj_signal(world_file(w), sync, point);
}

static void sync_wait(struct world *w)
{
	char name[24];
	const uint32_t sync = named(w, RESOURCE_SYNCOBJ, name, sizeof(name));
	const unsigned int point = choose(w) % 6, ms = choose(w) % 8 ? 2 : 20;

	say(w, "\tsync_wait(%s, %u, %u);\n", name, point, ms);
	flush(w);
	gt_syncobj_wait(world_file(w), sync, point, ms);
}

static void sync_transfer(struct world *w)
{
	char to[24], from[24];
	const uint32_t dst = named(w, RESOURCE_SYNCOBJ, to, sizeof(to));
	const uint32_t src = named(w, RESOURCE_SYNCOBJ, from, sizeof(from));
	const unsigned int dst_point = choose(w) % 6, src_point = choose(w) % 6;

	say(w, "\tdrmSyncobjTransfer(file, %s, %u, %s, %u, 0);\n", to, dst_point, from, src_point);
	flush(w);
	drmSyncobjTransfer(world_file(w), dst, dst_point, src, src_point, 0);
}

/* Time for jobs and work items to end. */
static void settle(struct world *w)
{
	const unsigned int ms = 1 + choose(w) % 4;

	say(w, "\tgt_sleep_ms(%u);\n", ms);
	flush(w);
	gt_sleep_ms(ms);
}

/* ---- Files and the device -------------------------------------------------------------------- */

static void other_file(struct world *w)
{
	say(w, "\tother_file();\n");
	flush(w);
	if (w->file[1] < 0)
		w->file[1] = gt_open_nth(0, true);
	if (w->file[1] >= 0)
		w->turn = !w->turn;
}

static void close_file(struct world *w)
{
	say(w, "\tclose_other_file();\n");
	flush(w);
	if (w->file[1] < 0)
		return;
	w->turn = 0;
	close(w->file[1]);
	w->file[1] = -1;
}


/*
 * Return: false for the @n greatest choices. A removal or a reset costs as much as a hundred other
 * calls, so most programs go without.
 */
static bool skips(struct world *w, unsigned int n)
{
	if (choose(w) >= 256 - n)
		return false;
	say(w, "\t;\n");
	return true;
}

static void inject(struct world *w)
{
	static const char *const scripts[] = {
		"clear", "hang", "slow times=4", "irq-lost", "irq-twice times=2", "irq-late",
		"irq-early", "fence-lost", "fence-torn", "fence-late", "mmu-unmapped",
		"mmu-permission", "mmu-walk", "bus", "doorbell-lost", "heap-oom", "stop-stuck",
		"reset-stuck delay=50ms", "gone",
	};
	const unsigned int n = choose(w) % COUNT(scripts);
	const char *script = scripts[n];

	/* the last ones cost the driver seconds */
	if (n >= COUNT(scripts) - 3 && skips(w, 4))
		return;
	say(w, "\tinject(\"%s\");\n", script);
	flush(w);
	w->injected = true;
	gt_inject(script);
}

/* The driver leaves the device and returns, as after an unplug. */
static void rebind(struct world *w)
{
	if (skips(w, 4))
		return;
	say(w, "\trebind();\n");
	flush(w);
	gt_rebind();
}

static void reset(struct world *w)
{
	char path[300];

	if (skips(w, 16))
		return;
	say(w, "\treset();\n");
	flush(w);
	gt_sysfs(0, "reset", path, sizeof(path));
	gt_write_file(path, "1");
}

#define USES(kind) (1u << RESOURCE_##kind)

static const struct {
	const char *name;
	void (*run)(struct world *w);
	uint32_t uses;
} actions[] = {
	{ "map_bo", map_bo, USES(BO_HANDLE) },
	{ "share_bo", share_bo, USES(BO_HANDLE) },
	{ "close_bo", close_bo, USES(BO_HANDLE) },
	{ "sync_signal", sync_signal, USES(SYNCOBJ) },
	{ "sync_wait", sync_wait, USES(SYNCOBJ) },
	{ "sync_transfer", sync_transfer, USES(SYNCOBJ) },
	{ "settle", settle, USES(QUEUE_ID) },
	{ "other_file", other_file, 0 },
	{ "close_file", close_file, 0 },
	{ "inject", inject, 0 },
	{ "rebind", rebind, 0 },
	{ "reset", reset, 0 },
};

unsigned int actions_known(void)
{
	return COUNT(actions);
}

const char *action_name(unsigned int which)
{
	return actions[which].name;
}

uint32_t action_uses(unsigned int which)
{
	return actions[which].uses;
}

void action_run(struct world *w, unsigned int which)
{
	actions[which].run(w);
}
