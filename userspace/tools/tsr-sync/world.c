// SPDX-License-Identifier: MIT
/* Objects and their names: devices, queues, syncobjs, buffers. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <xf86drm.h>

#include "sync.h"

#define SLOTS 1024
#define SCRATCH (4ull << 20)
#define BUFFER_SIZE 4096

static struct object *objects, **objects_end = &objects;

struct object *all_objects(void)
{
	return objects;
}

struct object *find_any(const char *name)
{
	for (struct object *o = objects; o; o = o->next) {
		if (!strcmp(o->name, name))
			return o;
	}
	return NULL;
}

static void *find(const struct statement *s, enum object_kind kind, const char *what,
		  const char *name)
{
	struct object *o = name ? find_any(name) : NULL;

	if (!name)
		refuse(s, "expected a %s", what);
	if (!o || o->kind != kind)
		refuse(s, "there is no %s '%s'", what, name);
	return o;
}

struct device *find_device(const struct statement *s, const char *name)
{
	return find(s, DEVICE, "device", name);
}

struct queue *find_queue(const struct statement *s, const char *name)
{
	return find(s, QUEUE, "queue", name);
}

struct syncobj *find_syncobj(const struct statement *s, const char *name)
{
	return find(s, SYNCOBJ, "syncobj", name);
}

struct job *find_job(const struct statement *s, const char *name)
{
	return find(s, JOB, "job", name);
}

struct file *find_file(const struct statement *s, const char *name)
{
	return find(s, FILE_DESCRIPTOR, "sync file or eventfd", name);
}

struct buffer *find_buffer(const struct statement *s, const char *name)
{
	return find(s, BUFFER, "buffer", name);
}

void *add_object(const struct statement *s, enum object_kind kind, const char *name, size_t size)
{
	struct object *o;

	if (!name || !isalpha((unsigned char)*name) || strlen(name) > NAME_MAX_LENGTH ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
		    strlen(name))
		refuse(s, "expected a name: a letter, then letters, digits, - and _, at most %d",
		       NAME_MAX_LENGTH);
	if (find_any(name))
		refuse(s, "'%s' has been used already", name);
	o = calloc(1, size);
	if (!o)
		cannot("no memory left");
	o->kind = kind;
	snprintf(o->name, sizeof(o->name), "%s", name);
	*objects_end = o;
	objects_end = &o->next;
	return o;
}

/* ---- devices ---- */

static void must(const char *what, int ret)
{
	if (ret)
		cannot("%s: %s", what, *tsr_error_message() ? tsr_error_message() : strerror(-ret));
}

/* The directory of the device behind a node. */
static void find_sysfs(struct device *d, const char *node)
{
	char link[128], real[4096];

	snprintf(link, sizeof(link), "/sys/class/drm/%s/device", strrchr(node, '/') + 1);
	if (realpath(link, real))
		snprintf(d->sysfs, sizeof(d->sysfs), "%.*s", (int)sizeof(d->sysfs) - 1, real);
}

/* Memory that all jobs of the device use: slots that the CPU watches, scratch to fill. */
static void make_memory(struct device *d)
{
	const uint32_t access = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE;
	struct tsr_bo *scratch;
	void *map;

	must("vm", tsr_vm_create(d->gpu, &d->vm));
	must("pool",
	     tsr_pool_create(d->vm, 0, 0, DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC, &d->pool));
	must("memory", tsr_bo_create(d->gpu, SLOTS * sizeof(struct slot), DRM_TESSERA_BO_CACHED,
				     NULL, &d->slots_bo));
	must("memory", tsr_bo_map(d->slots_bo, &map));
	must("memory", tsr_vm_map(d->vm, d->slots_bo, 0, 0, access, &d->slots_va));
	must("memory", tsr_bo_create(d->gpu, SCRATCH, 0, NULL, &scratch));
	must("memory", tsr_vm_map(d->vm, scratch, 0, 0, access, &d->scratch_va));
	d->slots = map;
}

static struct device *open_tessera(const struct statement *s, const char *name, unsigned int number)
{
	struct tsr_node nodes[16];
	int count = tsr_device_list(nodes, 16);
	struct drm_tessera_gpu_state state;
	struct device *d;

	if (number < 1 || number > 16)
		refuse(s, "expected a number of a device, 1 to 16");
	if (count < (int)number)
		cannot("there is no Tessera GPU number %u", number);
	d = add_object(s, DEVICE, name, sizeof(*d));
	must("device", tsr_device_open(nodes[number - 1].render, &d->gpu));
	d->fd = tsr_device_fd(d->gpu);
	find_sysfs(d, nodes[number - 1].render);
	make_memory(d);
	must("state", tsr_device_get_state(d->gpu, &state, sizeof(state)));
	d->resets = state.reset_count;
	must("clock",
	     tsr_device_get_timestamp(d->gpu, CLOCK_MONOTONIC, &d->clock, sizeof(d->clock)));
	return d;
}

static struct device *open_vgem(const struct statement *s, const char *name)
{
	struct device *d;

	if (system("modprobe vgem 2>/dev/null") == -1)
		cannot("modprobe does not run");
	for (int i = 0; i < 64; i++) {
		char path[32];
		drmVersionPtr v;
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		v = fd < 0 ? NULL : drmGetVersion(fd);
		if (v && !strcmp(v->name, "vgem")) {
			drmFreeVersion(v);
			d = add_object(s, DEVICE, name, sizeof(*d));
			d->fd = fd;
			d->vgem = true;
			return d;
		}
		drmFreeVersion(v);
		if (fd >= 0)
			close(fd);
	}
	cannot("this kernel has no vgem");
}

/* device NAME [NUMBER | vgem] */
int verb_device(const struct statement *s)
{
	const char *which = s->count > 2 ? s->words[2] : "1";

	if (s->count < 2 || s->count > 3)
		refuse(s, "expected: device NAME [NUMBER | vgem]");
	if (!strcmp(which, "vgem"))
		open_vgem(s, s->words[1]);
	else
		open_tessera(s, s->words[1], strtoul(which, NULL, 10));
	return 0;
}

struct device *device_of(const struct statement *s)
{
	const char *name = option(s, "on");
	struct object *o;

	if (name)
		return find_device(s, name);
	for (o = objects; o; o = o->next) {
		if (o->kind == DEVICE && !((struct device *)o)->vgem)
			return (struct device *)o;
	}
	return open_tessera(s, "gpu", 1);
}

/* True if a directory of debugfs is that of the device on this bus address. */
static bool is_directory_of(const char *path, const char *bus)
{
	char name[300], line[200] = "", want[80];
	FILE *f;

	snprintf(name, sizeof(name), "%s/name", path);
	f = fopen(name, "r");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	snprintf(want, sizeof(want), "dev=%s ", bus);
	return strstr(line, want);
}

bool debugfs_path(const struct device *d, const char *leaf, char *path, size_t size)
{
	const char *bus = strrchr(d->sysfs, '/');
	glob_t found;
	bool there = false;

	if (!bus || glob("/sys/kernel/debug/dri/*", 0, NULL, &found))
		return false;
	for (size_t i = 0; i < found.gl_pathc && !there; i++) {
		if (!is_directory_of(found.gl_pathv[i], bus + 1))
			continue;
		snprintf(path, size, "%s/%s", found.gl_pathv[i], leaf);
		there = !access(path, F_OK);
	}
	globfree(&found);
	return there;
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* ---- queues ---- */

static int word_index(const struct statement *s, const char *key, const char *const *names,
		      int fallback)
{
	const char *value = option(s, key);

	if (!value)
		return fallback;
	for (int i = 0; names[i]; i++) {
		if (!strcmp(names[i], value))
			return i;
	}
	refuse(s, "%s=%s: expected %s, %s ...", key, value, names[0], names[1]);
}

/* queue NAME [on=DEVICE] [class=copy] [priority=normal] */
int verb_queue(const struct statement *s)
{
	static const char *const classes[] = { "bin", "render", "compute", "copy", NULL };
	static const char *const priorities[] = { "low", "normal", "high", NULL };
	struct device *d = device_of(s);
	int class = word_index(s, "class", classes, DRM_TESSERA_ENGINE_COPY);
	int priority = word_index(s, "priority", priorities, DRM_TESSERA_PRIORITY_NORMAL);
	struct tsr_queue *queue;
	struct queue *q;
	int ret;

	if (d->vgem)
		refuse(s, "vgem has no queues");
	ret = tsr_queue_create(d->vm, class, priority, 0, &queue);
	if (ret)
		return ret;
	/* Scenarios are about the kernel's queues, so each gets its own at once. */
	if (!tsr_queue_id(queue)) {
		ret = -errno;
		tsr_queue_unref(queue);
		return ret;
	}
	q = add_object(s, QUEUE, s->count > 1 ? s->words[1] : NULL, sizeof(*q));
	q->device = d;
	q->queue = queue;
	return 0;
}

/* ---- syncobjs ---- */

/* syncobj NAME [on=DEVICE] [signaled] */
int verb_syncobj(const struct statement *s)
{
	struct device *d = device_of(s);
	struct drm_syncobj_create create = {
		.flags = has_word(s, "signaled") ? DRM_SYNCOBJ_CREATE_SIGNALED : 0,
	};
	int ret = DO_IOCTL(d->fd, DRM_IOCTL_SYNCOBJ_CREATE, &create);
	struct syncobj *o;

	if (ret)
		return ret;
	o = add_object(s, SYNCOBJ, s->count > 1 ? s->words[1] : NULL, sizeof(*o));
	o->device = d;
	o->handle = create.handle;
	return 0;
}

struct reference find_reference(const struct statement *s, const char *text)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	struct reference ref = { 0 };
	name_text name;
	char *end;

	if (!text)
		refuse(s, "expected a syncobj, as NAME or NAME:POINT");
	snprintf(name, sizeof(name), "%.*s", colon ? (int)(colon - text) : (int)strlen(text), text);
	ref.syncobj = find_syncobj(s, name);
	if (colon) {
		ref.point = strtoull(colon + 1, &end, 0);
		if (*end || end == colon + 1 || !ref.point)
			refuse(s, "'%s': expected a point above 0 after the colon", text);
	}
	return ref;
}

void produces(const struct reference *ref, const char *who)
{
	struct syncobj *o = ref->syncobj;
	struct producer *p;

	if (!ref->point)
		o->producer_count = 0;
	if (o->producer_count == PRODUCERS)
		return;
	p = &o->producers[o->producer_count++];
	p->point = ref->point;
	snprintf(p->who, sizeof(p->who), "%s", who);
}

const char *producer_of(const struct reference *ref)
{
	const struct syncobj *o = ref->syncobj;

	for (unsigned int i = 0; i < o->producer_count; i++) {
		if (o->producers[i].point >= ref->point)
			return *o->producers[i].who ? o->producers[i].who : NULL;
	}
	return NULL;
}

/* ---- buffers ---- */

/* Let the jobs of a Tessera use it. */
static void map_buffer(struct buffer *b, struct device *d)
{
	struct tsr_bo *bo;

	must("buffer", tsr_bo_import(d->gpu, b->dmabuf, &bo));
	b->at[b->at_count].handle = tsr_bo_handle(bo);
	must("buffer",
	     tsr_vm_map(d->vm, bo, 0, BUFFER_SIZE, DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE,
			&b->at[b->at_count].va));
	b->at[b->at_count++].device = d;
}

/* buffer NAME [on=DEVICE] */
int verb_buffer(const struct statement *s)
{
	struct drm_mode_create_dumb dumb = { .width = BUFFER_SIZE / 4, .height = 1, .bpp = 32 };
	struct device *d = device_of(s);
	struct buffer *b = add_object(s, BUFFER, s->count > 1 ? s->words[1] : NULL, sizeof(*b));
	struct tsr_bo *bo;

	if (d->vgem) {
		must("buffer of vgem", plain_ioctl(d->fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb));
		must("dma-buf of vgem",
		     drmPrimeHandleToFD(d->fd, dumb.handle, DRM_CLOEXEC | DRM_RDWR, &b->dmabuf));
		b->at[b->at_count].handle = dumb.handle;
		b->at[b->at_count++].device = d;
		return 0;
	}
	must("buffer", tsr_bo_create(d->gpu, BUFFER_SIZE, 0, NULL, &bo));
	must("dma-buf", tsr_bo_export(bo, &b->dmabuf));
	map_buffer(b, d);
	return 0;
}

/* share-buffer NAME on=DEVICE */
int verb_share_buffer(const struct statement *s)
{
	struct buffer *b = find_buffer(s, s->count > 1 ? s->words[1] : NULL);
	struct device *d = find_device(s, option(s, "on"));

	if (b->at_count == sizeof(b->at) / sizeof(b->at[0]))
		refuse(s, "'%s' is shared by too many devices", b->object.name);
	if (!d->vgem) {
		map_buffer(b, d);
		return 0;
	}
	must("import into vgem", drmPrimeFDToHandle(d->fd, b->dmabuf, &b->at[b->at_count].handle));
	b->at[b->at_count++].device = d;
	return 0;
}
