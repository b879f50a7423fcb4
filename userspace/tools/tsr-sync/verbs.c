// SPDX-License-Identifier: MIT
/* Statements about syncobjs, and about what happens to devices and queues. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <xf86drm.h>

#include "compat.h"
#include "sync.h"

#define WAITS_MAX 16

static struct reference first_reference(const struct statement *s)
{
	return find_reference(s, s->count > 1 ? s->words[1] : NULL);
}

/* signal REF: by the CPU */
int verb_signal(const struct statement *s)
{
	struct reference ref = first_reference(s);
	struct drm_syncobj_timeline_array line = { .handles = (uintptr_t)&ref.syncobj->handle,
						   .points = (uintptr_t)&ref.point,
						   .count_handles = 1 };
	struct drm_syncobj_array array = { .handles = (uintptr_t)&ref.syncobj->handle,
					   .count_handles = 1 };
	int fd = ref.syncobj->device->fd, ret;

	if (ref.point)
		ret = DO_IOCTL(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &line);
	else
		ret = DO_IOCTL(fd, DRM_IOCTL_SYNCOBJ_SIGNAL, &array);
	if (!ret)
		produces(&ref, "");
	return ret;
}

/* reset SYNCOBJ: it has no fence any more */
int verb_reset(const struct statement *s)
{
	struct reference ref = first_reference(s);
	struct drm_syncobj_array array = { .handles = (uintptr_t)&ref.syncobj->handle,
					   .count_handles = 1 };
	int ret = DO_IOCTL(ref.syncobj->device->fd, DRM_IOCTL_SYNCOBJ_RESET, &array);

	if (!ret)
		ref.syncobj->producer_count = 0;
	return ret;
}

/* query SYNCOBJ POINT [submitted]: the last point that has signalled, or that has been submitted */
int verb_query(const struct statement *s)
{
	struct reference ref = first_reference(s);
	uint64_t point = 0;
	struct drm_syncobj_timeline_array line = {
		.handles = (uintptr_t)&ref.syncobj->handle,
		.points = (uintptr_t)&point,
		.count_handles = 1,
		.flags = has_word(s, "submitted") ? DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED : 0,
	};
	int ret;

	if (s->count < 3)
		refuse(s, "expected: query SYNCOBJ POINT [submitted]");
	ret = DO_IOCTL(ref.syncobj->device->fd, DRM_IOCTL_SYNCOBJ_QUERY, &line);
	if (!ret && point != strtoull(s->words[2], NULL, 0))
		failed(s, "%s is at point %llu", ref.syncobj->object.name,
		       (unsigned long long)point);
	return ret;
}

/* transfer FROM TO [for-submit]: the fence of one is that of the other, too */
int verb_transfer(const struct statement *s)
{
	struct reference from = first_reference(s),
			 to = find_reference(s, s->count > 2 ? s->words[2] : NULL);
	struct drm_syncobj_transfer args = {
		.src_handle = from.syncobj->handle,
		.dst_handle = to.syncobj->handle,
		.src_point = from.point,
		.dst_point = to.point,
		.flags = has_word(s, "for-submit") ? DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT : 0,
	};
	const char *who = producer_of(&from);
	int ret = DO_IOCTL(from.syncobj->device->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &args);

	if (!ret)
		produces(&to, who ? who : "");
	return ret;
}

/* destroy SYNCOBJ | FILE */
int verb_destroy(const struct statement *s)
{
	struct object *o = s->count > 1 ? find_any(s->words[1]) : NULL;
	struct drm_syncobj_destroy args = { 0 };

	if (o && o->kind == FILE_DESCRIPTOR)
		return close(((struct file *)o)->fd) ? -errno : 0;
	args.handle = find_syncobj(s, s->count > 1 ? s->words[1] : NULL)->handle;
	return DO_IOCTL(((struct syncobj *)o)->device->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &args);
}

/* share SYNCOBJ NEW on=DEVICE: the same syncobj on another device's file */
int verb_share(const struct statement *s)
{
	struct syncobj *from = find_syncobj(s, s->count > 1 ? s->words[1] : NULL), *to;
	struct device *d = find_device(s, option(s, "on"));
	struct drm_syncobj_handle args = { .handle = from->handle, .fd = -1 };
	int ret = DO_IOCTL(from->device->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &args);

	if (ret)
		return ret;
	args.handle = 0;
	ret = DO_IOCTL(d->fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &args);
	close(args.fd);
	if (ret)
		return ret;
	to = add_object(s, SYNCOBJ, s->count > 2 ? s->words[2] : NULL, sizeof(*to));
	to->device = d;
	to->handle = args.handle;
	memcpy(to->producers, from->producers, sizeof(to->producers));
	to->producer_count = from->producer_count;
	return 0;
}

/* ---- waits ---- */

/* Arguments of a wait. */
struct wait {
	uint32_t handles[WAITS_MAX];
	uint64_t points[WAITS_MAX];
	unsigned int count;
	bool timeline;
	int fd;
	uint32_t flags;
	int64_t timeout; /* absolute */
	uint64_t deadline; /* a hint, absolute; 0: none */
};

static void wait_flags(const struct statement *s, struct wait *w)
{
	const char *timeout = option(s, "timeout"), *deadline = option(s, "deadline");
	uint64_t limit = 60 * 1000 * MS, hint;

	if (has_word(s, "all"))
		w->flags |= DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
	if (has_word(s, "for-submit"))
		w->flags |= DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
	if (has_word(s, "available")) {
		w->flags |= DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
		w->timeline = true;
	}
	if (timeout && !parse_time(timeout, &limit) && strcmp(timeout, "0"))
		refuse(s, "timeout=%s: expected a time", timeout);
	if (deadline && !parse_time(deadline, &hint))
		refuse(s, "deadline=%s: expected a time from now on", deadline);
	if (deadline) {
		w->flags |= DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE;
		w->deadline = now_ns() + hint;
	}
	w->timeout = timeout && !strcmp(timeout, "0") ? 0 : (int64_t)(now_ns() + limit);
}

static void add_wait(const struct statement *s, struct wait *w, const char *text)
{
	struct reference ref = find_reference(s, text);

	if (w->count == WAITS_MAX)
		refuse(s, "more than %d syncobjs", WAITS_MAX);
	if (w->count && w->fd != ref.syncobj->device->fd)
		refuse(s, "a wait is on the syncobjs of one device");
	w->fd = ref.syncobj->device->fd;
	w->handles[w->count] = ref.syncobj->handle;
	w->points[w->count++] = ref.point;
	w->timeline |= ref.point != 0;
}

static int wait_binary(const struct wait *w)
{
	struct drm_syncobj_wait_deadline args = {
		.handles = (uintptr_t)w->handles,
		.timeout_nsec = w->timeout,
		.count_handles = w->count,
		.flags = w->flags,
		.deadline_nsec = w->deadline,
	};

	return do_ioctl(w->fd, DRM_IOWR(0xC3, struct drm_syncobj_wait_deadline),
			"DRM_IOCTL_SYNCOBJ_WAIT", &args);
}

static int wait_timeline(const struct wait *w)
{
	struct drm_syncobj_timeline_wait_deadline args = {
		.handles = (uintptr_t)w->handles,
		.points = (uintptr_t)w->points,
		.timeout_nsec = w->timeout,
		.count_handles = w->count,
		.flags = w->flags,
		.deadline_nsec = w->deadline,
	};

	return do_ioctl(w->fd, DRM_IOWR(0xCA, struct drm_syncobj_timeline_wait_deadline),
			"DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT", &args);
}

bool is_wait_reference(const char *word)
{
	return !strchr(word, '=') && strcmp(word, "all") && strcmp(word, "for-submit") &&
	       strcmp(word, "available");
}

/* wait REF... [all] [for-submit] [available] [timeout=TIME] [deadline=TIME] */
int verb_wait(const struct statement *s)
{
	struct wait w = { .fd = -1 };

	for (unsigned int i = 1; i < s->count; i++) {
		if (is_wait_reference(s->words[i]))
			add_wait(s, &w, s->words[i]);
	}
	if (!w.count)
		refuse(s, "expected a syncobj to wait for");
	wait_flags(s, &w);
	return w.timeline ? wait_timeline(&w) : wait_binary(&w);
}

/* ---- devices and queues ---- */

/* The number of the file that the driver shows: drm-client-id of fdinfo. */
static bool client_of(int fd, char text[40])
{
	char path[64], line[200];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof(line), f)) {
		unsigned long long id;

		found = sscanf(line, "drm-client-id: %llu", &id) == 1;
		if (found)
			snprintf(text, 40, " client %llu\n", id);
	}
	if (f)
		fclose(f);
	return found;
}

int slot_of(const struct queue *q)
{
	char path[300], line[400], id[24], client[40];
	int slot = -1;
	FILE *f;

	if (!debugfs_path(q->device, "queues", path, sizeof(path)) ||
	    !client_of(q->device->fd, client))
		return -1;
	snprintf(id, sizeof(id), " id %-4u as ", tsr_queue_id(q->queue));
	f = fopen(path, "r");
	while (f && slot < 0 && fgets(line, sizeof(line), f)) {
		if (strstr(line, id) && strstr(line, client))
			slot = atoi(line);
	}
	if (f)
		fclose(f);
	return slot;
}

/* A word of a script of faults; queue=NAME becomes the number of the queue's slot. */
static void add_word(const struct statement *s, char *script, size_t size, const char *word)
{
	size_t length = strlen(script);
	const struct queue *q;

	if (strncmp(word, "queue=", 6)) {
		snprintf(script + length, size - length, "%s ", word);
		return;
	}
	q = find_queue(s, word + 6);
	if (slot_of(q) < 0)
		cannot("debugfs does not show the queues of the device");
	snprintf(script + length, size - length, "queue=%d ", slot_of(q));
}

/* inject KIND KEY=VALUE...: as in Documentation/hw/debug-unit.md, with names of queues */
int verb_inject(const struct statement *s)
{
	struct device *d = device_of(s);
	char script[300] = "", path[300];

	for (unsigned int i = 1; i < s->count; i++) {
		if (strncmp(s->words[i], "on=", 3))
			add_word(s, script, sizeof(script), s->words[i]);
	}
	if (!debugfs_path(d, "inject", path, sizeof(path)))
		cannot("the device takes no faults: it needs inject-window=on, and the driver "
		       "debugfs");
	return write_text(path, script);
}

/* reset-device [on=DEVICE] device|function|wedged: enter the escalation of resets there */
int verb_reset_device(const struct statement *s)
{
	struct device *d = device_of(s);
	const char *how = "device";
	char path[300];

	for (unsigned int i = 1; i < s->count; i++) {
		if (!strchr(s->words[i], '='))
			how = s->words[i];
	}
	if (!debugfs_path(d, "reset", path, sizeof(path)))
		cannot("this kernel has no debugfs");
	return write_text(path, how);
}

/* unplug DEVICE: its bus says that it has gone */
int verb_unplug(const struct statement *s)
{
	struct device *d = find_device(s, s->count > 1 ? s->words[1] : NULL);
	char path[300];

	if (d->vgem || !*d->sysfs)
		refuse(s, "'%s' cannot be unplugged", d->object.name);
	snprintf(path, sizeof(path), "%s/remove", d->sysfs);
	return write_text(path, "1");
}

/* replug: look for devices; the ones that were unplugged are found as new ones */
int verb_replug(const struct statement *s)
{
	if (s->count > 1)
		refuse(s, "expected no words after replug");
	return write_text("/sys/bus/pci/rescan", "1");
}

/* state QUEUE [banned] [timedout] [faulted] [innocent]: all that is said of it, and nothing else */
int verb_state(const struct statement *s)
{
	static const char *const names[] = { "banned", "timedout", "faulted", "innocent" };
	struct queue *q = find_queue(s, s->count > 1 ? s->words[1] : NULL);
	struct drm_tessera_queue_get_state state;
	int ret = tsr_queue_get_state(q->queue, &state, sizeof(state));
	char text[80] = "";

	if (ret)
		return ret;
	for (unsigned int i = 0; i < 4; i++) {
		if (state.state & 1u << i)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s", names[i]);
		if (has_word(s, names[i]) == !(state.state & 1u << i))
			ret = 1;
	}
	if (ret)
		failed(s, "queue %s is%s", q->object.name, *text ? text : " well");
	return 0;
}

/* resets [on=DEVICE] NUMBER: how often the device has been reset since the scenario began */
int verb_resets(const struct statement *s)
{
	struct device *d = device_of(s);
	struct drm_tessera_gpu_state state;
	const char *last = s->words[s->count - 1];
	int ret = tsr_device_get_state(d->gpu, &state, sizeof(state));

	if (ret)
		return ret;
	if (s->count < 2 || strchr(last, '='))
		refuse(s, "expected: resets [on=DEVICE] NUMBER");
	if (state.reset_count - d->resets != strtoull(last, NULL, 10))
		failed(s, "the device has been reset %llu times",
		       (unsigned long long)(state.reset_count - d->resets));
	return 0;
}
