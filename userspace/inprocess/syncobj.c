// SPDX-License-Identifier: MIT
/*
 * Syncobjs, binary and timelines, with the ioctls of the DRM core.
 *
 * The fence of a timeline's point signals after its own and after that of the point before it, as a
 * chain's does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "driver.h"
#include "real.h"

#define KEPT 64 /* points that have signalled and are remembered for their status */
#define MAX_HANDLES	65536		/* of one ioctl */
#define TRANSFER_NS	5000000000ull	/* how long TRANSFER waits for a submission */

/* An eventfd that is written once the fence of a point is there, or has signalled. */
struct sync_event {
	struct sync_event *next;
	struct syncobj *syncobj;
	uint64_t point;
	bool available;
	int fd;
};

/* Syncobjs with events, to be looked at whenever a fence signals. */
static struct sync_event *events;

static struct syncobj *syncobj_get(struct syncobj *s)
{
	s->refs++;
	return s;
}

static void points_drop(struct syncobj *s, unsigned int from, unsigned int count)
{
	unsigned int i;

	if (!count)
		return;		/* there may be no array */
	for (i = from; i < from + count; i++)
		fence_put(s->points[i].fence);
	s->count -= count;
	memmove(&s->points[from], &s->points[from + count], (s->count - from) * sizeof(*s->points));
}

void syncobj_put(struct syncobj *s)
{
	struct sync_event **at = &events;

	if (!s || --s->refs)
		return;
	while (*at) {
		struct sync_event *e = *at;

		if (e->syncobj != s) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		fd_close(e->fd);
		free(e);
	}
	share_free(s->share);
	points_drop(s, 0, s->count);
	free(s->points);
	fence_put(s->fence);
	free(s);
}

/* The fence of a point, no reference; NULL: nothing is there yet. */
static struct fence *find(struct syncobj *s, uint64_t point)
{
	unsigned int i;

	if (!point) {
		struct fence *other = share_find(s, 0);

		return other ? other : s->fence;
	}
	for (i = 0; i < s->count; i++) {
		if (s->points[i].point >= point)
			return s->points[i].fence;
	}
	return share_find(s, point);
}

int syncobj_find(struct file *file, uint32_t handle, uint64_t point, struct fence **fence)
{
	struct syncobj *s = table_find(&file->syncobjs, handle);

	if (!s)
		return -ENOENT;
	*fence = fence_get(find(s, point));
	return *fence ? 0 : -EINVAL;
}

static void changed(void)
{
	syncobjs_look();
	drv_changed();
}

void syncobj_replace(struct syncobj *s, struct fence *fence)
{
	fence_get(fence);
	points_drop(s, 0, s->count);
	fence_put(s->fence);
	s->fence = fence;
	share_changed(s, 0);
	changed();
}

/* Room for one point more. */
static int reserve(struct syncobj *s)
{
	struct point *points;
	unsigned int done = 0;

	if (s->count < s->room)
		return 0;
	while (done < s->count && s->points[done].fence->signalled)
		done++;
	if (done > KEPT) {
		points_drop(s, 0, done - KEPT);
		return 0;
	}
	points = realloc(s->points, (2 * s->room + 2 * KEPT) * sizeof(*points));
	if (!points)
		return -ENOMEM;
	s->points = points;
	s->room = 2 * s->room + 2 * KEPT;
	return 0;
}

int syncobj_add(struct syncobj *s, uint64_t point, struct fence *fence)
{
	uint64_t last = s->count ? s->points[s->count - 1].point : 0;
	struct fence *parts[3] = { fence }, *theirs = share_last(s, last), *node;
	unsigned int count = 1;

	if (reserve(s))
		return -ENOMEM;
	if (s->fence && !s->fence->signalled)
		parts[count++] = s->fence;
	if (theirs && !theirs->signalled)
		parts[count++] = theirs;
	node = count > 1 ? fence_all(parts, count, false) : fence_get(fence);
	if (!node)
		return -ENOMEM;
	if (point < last)
		point = last;	/* out of order: as the kernel has it */
	s->points[s->count++] = (struct point){ point, fence_get(node) };
	fence_put(s->fence);
	s->fence = node;
	share_changed(s, point);
	changed();
	return 0;
}

void syncobjs_forget(void)
{
	events = NULL;
}

/* True if an event has come to pass. */
static bool event_due(const struct sync_event *e)
{
	const struct fence *f = find(e->syncobj, e->point);

	return f && (e->available || f->signalled);
}

void syncobjs_look(void)
{
	struct sync_event **at = &events;

	share_tell();
	while (*at) {
		struct sync_event *e = *at;

		if (!event_due(e)) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		eventfd_write(e->fd, 1);
		fd_close(e->fd);
		free(e);
	}
}

/* ---- Create, destroy, share ------------------------------------------------------------------ */

static int create(struct file *file, struct drm_syncobj_create *arg)
{
	struct syncobj *s;
	int ret;

	if (arg->flags & ~(uint32_t)DRM_SYNCOBJ_CREATE_SIGNALED)
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->refs = 1;
	if (arg->flags) {
		s->fence = fence_stub();
		if (!s->fence) {
			free(s);
			return -ENOMEM;
		}
	}
	ret = table_add(&file->syncobjs, s);
	if (ret < 0) {
		syncobj_put(s);
		return ret;
	}
	arg->handle = (uint32_t)ret;
	return 0;
}

static int destroy(struct file *file, const struct drm_syncobj_destroy *arg)
{
	struct syncobj *s;

	if (arg->pad)
		return -EINVAL;
	s = table_remove(&file->syncobjs, arg->handle);
	if (!s)
		return -EINVAL;
	syncobj_put(s);
	return 0;
}

/* The point that flags and argument name; -EINVAL for one that is not asked for. */
static int point_of(const struct syncobj_handle *arg, uint32_t sync_file, uint64_t *point)
{
	if (arg->pad || arg->flags & ~(sync_file | SYNCOBJ_HANDLE_TIMELINE))
		return -EINVAL;
	*point = arg->flags & SYNCOBJ_HANDLE_TIMELINE ? arg->point : 0;
	return !(arg->flags & sync_file) && arg->point ? -EINVAL : 0;
}

static int handle_to_fd(struct file *file, struct syncobj_handle *arg)
{
	struct syncobj *s;
	uint64_t point;
	struct fence *f;
	int ret = point_of(arg, DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, &point);

	if (ret)
		return ret;
	if (arg->flags & DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE) {
		ret = syncobj_find(file, arg->handle, point, &f);
		if (ret)
			return ret;
		ret = syncfile_fd(f, f->name);
	} else {
		s = table_find(&file->syncobjs, arg->handle);
		if (!s)
			return -EINVAL;
		ret = share_export(s);
		if (ret >= 0)
			ret = ufile_install(ret, UFILE_SYNCOBJ, syncobj_get(s));
	}
	if (ret < 0)
		return ret;
	arg->fd = ret;
	return 0;
}

static int import_sync_file(struct file *file, const struct syncobj_handle *arg, uint64_t point)
{
	struct ufile *u = ufile_get(arg->fd);
	struct syncobj *s = table_find(&file->syncobjs, arg->handle);
	int ret = 0;

	if (!u || u->kind != UFILE_SYNC_FILE)
		ret = -EINVAL;
	else if (!s)
		ret = -ENOENT;
	else if (point)
		ret = syncobj_add(s, point, u->object);
	else
		syncobj_replace(s, u->object);
	ufile_put(u);
	return ret;
}

/* The syncobj that a descriptor stands for, a reference: one of ours, or one of another process. */
static int from_fd(int fd, struct syncobj **found)
{
	struct ufile *u = ufile_get(fd);
	struct syncobj *s;
	int ret;

	if (u && !u->dead) {
		ret = u->kind == UFILE_SYNCOBJ ? 0 : -EINVAL;
		if (!ret)
			*found = syncobj_get(u->object);
		ufile_put(u);
		return ret;
	}
	ufile_put(u);
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->refs = 1;
	ret = share_import(s, fd);
	if (ret)
		syncobj_put(s);
	else
		*found = s;
	return ret;
}

static int fd_to_handle(struct file *file, struct syncobj_handle *arg)
{
	struct syncobj *s;
	uint64_t point;
	int ret = point_of(arg, DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE, &point);

	if (ret)
		return ret;
	if (arg->flags & DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE)
		return import_sync_file(file, arg, point);
	ret = from_fd(arg->fd, &s);
	if (ret)
		return ret;
	ret = table_add(&file->syncobjs, s);
	if (ret < 0) {
		syncobj_put(s);
		return ret;
	}
	arg->handle = (uint32_t)ret;
	return 0;
}

/* ---- Arrays of handles ----------------------------------------------------------------------- */

/* The syncobjs that an ioctl names, each a reference. */
struct set {
	struct syncobj **syncobj;
	uint64_t *point;
	uint32_t count;
};

static void set_free(struct set *set)
{
	uint32_t i;

	for (i = 0; set->syncobj && i < set->count; i++)
		syncobj_put(set->syncobj[i]);
	free(set->syncobj);
	free(set->point);
}

/* @points: 0 for those that have none. */
static int set_get(struct file *file, struct set *set, uint64_t handles, uint64_t points,
		   uint32_t count)
{
	uint32_t *handle, i;
	int ret;

	*set = (struct set){ .count = count };
	if (count > MAX_HANDLES)
		return -ENOMEM;
	handle = calloc(count, sizeof(*handle));
	set->syncobj = calloc(count, sizeof(*set->syncobj));
	set->point = calloc(count, sizeof(*set->point));
	ret = handle && set->syncobj && set->point ? 0 : -ENOMEM;
	if (!ret)
		ret = copy_in(handle, handles, count * sizeof(*handle));
	if (!ret && points)
		ret = copy_in(set->point, points, count * sizeof(*set->point));
	for (i = 0; !ret && i < count; i++) {
		struct syncobj *s = table_find(&file->syncobjs, handle[i]);

		set->syncobj[i] = s ? syncobj_get(s) : NULL;
		ret = s ? 0 : -ENOENT;
	}
	free(handle);
	if (ret)
		set_free(set);
	return ret;
}

/* How many of the set are there and, unless @available, have signalled; the first of them. */
static uint32_t set_done(const struct set *set, bool available, uint32_t *first)
{
	uint32_t i, done = 0;

	for (i = 0; i < set->count; i++) {
		const struct fence *f = find(set->syncobj[i], set->point[i]);

		if (!f || !(available || f->signalled))
			continue;
		if (!done++)
			*first = i;
	}
	return done;
}

static int set_wait(const struct set *set, int64_t until, uint32_t flags, uint32_t *first)
{
	const uint32_t submit = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT |
				DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
	bool available = flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
	uint32_t i, wanted = flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL ? set->count : 1;
	int ret = 0;

	for (i = 0; i < set->count && !(flags & submit); i++) {
		if (!find(set->syncobj[i], set->point[i]))
			return -EINVAL;
	}
	/* what is there counts, also after the time is over */
	while (set_done(set, available, first) < wanted && !ret)
		ret = drv_wait(until);
	return set_done(set, available, first) < wanted ? ret : 0;
}

/* Flags that both waits know. */
#define WAIT_FLAGS (DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT | \
		    DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE)

/* Wait for @count of @handles at @points, which are 0 for binary syncobjs. */
static int wait_handles(struct file *file, uint64_t handles, uint64_t points, uint32_t count,
			int64_t timeout, uint32_t flags, uint32_t *first)
{
	struct set set;
	int ret;

	if (!count)
		return 0;
	ret = set_get(file, &set, handles, points, count);
	if (ret)
		return ret;
	ret = set_wait(&set, timeout, flags, first);
	set_free(&set);
	return ret;
}

static int wait_binary(struct file *file, struct drm_syncobj_wait *arg)
{
	if (arg->flags & ~WAIT_FLAGS)
		return -EINVAL;
	return wait_handles(file, arg->handles, 0, arg->count_handles, arg->timeout_nsec,
			    arg->flags, &arg->first_signaled);
}

static int wait_timeline(struct file *file, struct drm_syncobj_timeline_wait *arg)
{
	if (arg->flags & ~(WAIT_FLAGS | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE))
		return -EINVAL;
	return wait_handles(file, arg->handles, arg->points, arg->count_handles,
			    arg->timeout_nsec, arg->flags, &arg->first_signaled);
}

/* RESET: no fence. SIGNAL: one that has signalled. */
static int reset_or_signal(struct file *file, const struct drm_syncobj_array *arg, bool signal)
{
	struct fence *f = NULL;
	struct set set;
	uint32_t i;
	int ret;

	if (arg->pad || !arg->count_handles)
		return -EINVAL;
	ret = set_get(file, &set, arg->handles, 0, arg->count_handles);
	if (ret)
		return ret;
	if (signal)
		f = fence_stub();
	if (signal && !f)
		ret = -ENOMEM;
	for (i = 0; !ret && i < set.count; i++)
		syncobj_replace(set.syncobj[i], f);
	fence_put(f);
	set_free(&set);
	return ret;
}

static int timeline_signal(struct file *file, const struct drm_syncobj_timeline_array *arg)
{
	struct fence *f;
	struct set set;
	uint32_t i;
	int ret;

	if (arg->flags || !arg->count_handles)
		return -EINVAL;
	ret = set_get(file, &set, arg->handles, arg->points, arg->count_handles);
	if (ret)
		return ret;
	f = fence_stub();
	ret = f ? 0 : -ENOMEM;
	for (i = 0; !ret && i < set.count; i++) {
		if (set.point[i])
			ret = syncobj_add(set.syncobj[i], set.point[i], f);
		else
			syncobj_replace(set.syncobj[i], f);
	}
	fence_put(f);
	set_free(&set);
	return ret;
}

static uint64_t last_point(const struct syncobj *s, bool submitted)
{
	unsigned int i = s->count;

	if (submitted)
		return i ? s->points[i - 1].point : 0;
	while (i--) {
		if (s->points[i].fence->signalled)
			return s->points[i].point;
	}
	return 0;
}

static int query(struct file *file, const struct drm_syncobj_timeline_array *arg)
{
	struct set set;
	uint32_t i;
	int ret;

	if (arg->flags & ~(uint32_t)DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED || !arg->count_handles)
		return -EINVAL;
	ret = set_get(file, &set, arg->handles, 0, arg->count_handles);
	if (ret)
		return ret;
	for (i = 0; i < set.count; i++)
		set.point[i] = last_point(set.syncobj[i], arg->flags);
	ret = copy_out(arg->points, set.point, set.count * sizeof(*set.point));
	set_free(&set);
	return ret;
}

/* The fence to be moved, a reference. */
static int transfer_source(struct file *file, const struct drm_syncobj_transfer *arg,
			   struct fence **f)
{
	struct syncobj *s = table_find(&file->syncobjs, arg->src_handle);
	int64_t until = (int64_t)(now_ns() + TRANSFER_NS);
	int ret = 0;

	if (!s)
		return -ENOENT;
	syncobj_get(s);
	while (!find(s, arg->src_point) && !ret) {
		if (!(arg->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT))
			ret = -EINVAL;
		else
			ret = drv_wait(until);
	}
	*f = ret ? NULL : fence_get(find(s, arg->src_point));
	syncobj_put(s);
	return ret;
}

static int transfer(struct file *file, const struct drm_syncobj_transfer *arg)
{
	struct syncobj *to = table_find(&file->syncobjs, arg->dst_handle);
	struct fence *f = NULL;
	int ret;

	if (arg->pad)
		return -EINVAL;
	if (!to)
		return -ENOENT;
	syncobj_get(to);
	ret = transfer_source(file, arg, &f);
	if (!ret && arg->dst_point)
		ret = syncobj_add(to, arg->dst_point, f);
	else if (!ret)
		syncobj_replace(to, f);
	fence_put(f);
	syncobj_put(to);
	return ret;
}

/* 0 if a descriptor is an eventfd that is no sync file of ours; -EBADF, -EINVAL. */
static int check_eventfd(int fd)
{
	static const char name[] = "anon_inode:[eventfd]";
	struct ufile *u = ufile_get(fd);
	char path[32], link[sizeof(name)];
	bool ours = u;

	ufile_put(u);
	if (sys_fcntl(fd, F_GETFD, 0) < 0)
		return -EBADF;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ours || sys_readlink(path, link, sizeof(link)) != (ssize_t)sizeof(name) - 1 ||
	    memcmp(link, name, sizeof(name) - 1))
		return -EINVAL;
	return 0;
}

static int add_event(struct file *file, const struct drm_syncobj_eventfd *arg)
{
	struct syncobj *s = table_find(&file->syncobjs, arg->handle);
	struct sync_event *e;
	int fd, ret;

	if (arg->flags & ~(uint32_t)DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE || arg->pad)
		return -EINVAL;
	if (!s)
		return -ENOENT;
	ret = check_eventfd(arg->fd);
	if (ret)
		return ret;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	fd = fd_move(sys_fcntl(arg->fd, F_DUPFD_CLOEXEC, 0));
	if (fd < 0) {
		free(e);
		return -ENOMEM;
	}
	*e = (struct sync_event){ events, s, arg->point, arg->flags, fd };
	events = e;
	syncobjs_look();
	return 0;
}

int syncobj_ioctl(struct file *file, unsigned int nr, void *arg)
{
	switch (nr) {
	case _IOC_NR(DRM_IOCTL_SYNCOBJ_CREATE):
		return create(file, arg);
	case _IOC_NR(DRM_IOCTL_SYNCOBJ_DESTROY):
		return destroy(file, arg);
	case _IOC_NR(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD):
		return handle_to_fd(file, arg);
	case _IOC_NR(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE):
		return fd_to_handle(file, arg);
	case _IOC_NR(DRM_IOCTL_SYNCOBJ_WAIT):
		return wait_binary(file, arg);
	case _IOC_NR(DRM_IOCTL_SYNCOBJ_RESET):
		return reset_or_signal(file, arg, false);
	case _IOC_NR(DRM_IOCTL_SYNCOBJ_SIGNAL):
		return reset_or_signal(file, arg, true);
	case _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT):
		return wait_timeline(file, arg);
	case _IOC_NR(DRM_IOCTL_SYNCOBJ_QUERY):
		return query(file, arg);
	case _IOC_NR(DRM_IOCTL_SYNCOBJ_TRANSFER):
		return transfer(file, arg);
	case _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL):
		return timeline_signal(file, arg);
	default:
		return add_event(file, arg);
	}
}

/* ---- Waits and signals of the driver's ioctls ------------------------------------------------ */

static bool sync_valid(const struct drm_tessera_sync *sync)
{
	if (sync->flags || sync->pad)
		return false;
	switch (sync->type) {
	case DRM_TESSERA_SYNC_SYNCOBJ:
		return !sync->point;
	case DRM_TESSERA_SYNC_TIMELINE:
		return sync->point;
	default:
		return false;
	}
}

struct drm_tessera_sync *syncs_in(const struct drm_tessera_array *array, int *ret)
{
	struct drm_tessera_sync *syncs;
	uint32_t i;

	syncs = array_in(array, sizeof(*syncs), sizeof(*syncs), MAX_SYNCS, ret);
	for (i = 0; syncs && i < array->count; i++) {
		if (!sync_valid(&syncs[i])) {
			free(syncs);
			*ret = -EINVAL;
			return NULL;
		}
	}
	return syncs;
}
