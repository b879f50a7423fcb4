// SPDX-License-Identifier: MIT
/*
 * Names of files, see paths.h.
 *
 * A path that begins with a folder of ours is rewritten at once. All other paths go to libc as they
 * are; only when they lead to nothing is it worth the time to resolve them here, link by link, with
 * our folders in the place of those that they stand for.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver.h"
#include "paths.h"
#include "real.h"

#define LINKS_MAX	40

/* The folder, without symbolic links in its name, and the files in it that stand for nodes. */
static struct {
	char root[PATH_MAX / 2];
	dev_t dev;
	ino_t card, render;
} where;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static int real_stat(const char *path, struct stat *st)
{
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

static void find_root(void)
{
	const char *given = getenv("TSR_HOST_ROOT");
	char named[PATH_MAX], path[PATH_MAX];
	struct stat st;
	Dl_info info;
	char *slash;

	if (given) {
		snprintf(named, sizeof(named), "%s", given);
	} else if (dladdr((void *)find_root, &info) && info.dli_fname) {
		snprintf(named, sizeof(named), "%.*s", PATH_MAX / 2, info.dli_fname);
		slash = strrchr(named, '/');
		if (slash)
			*slash = '\0';
		else
			strcpy(named, ".");
		strcat(named, "/tessera-host");
	} else {
		return;
	}
	if (!REAL(realpath, char *, const char *, char *)(named, path))
		snprintf(path, sizeof(path), "%s", named);
	snprintf(where.root, sizeof(where.root), "%.*s", PATH_MAX / 2 - 1, path);
	if (real_stat(path_of_node(CARD_MINOR, path), &st)) {
		fprintf(stderr, "tessera-host: error: %s is not there: no device\n", path);
		return;
	}
	where.dev = st.st_dev;
	where.card = st.st_ino;
	if (!real_stat(path_of_node(RENDER_MINOR, path), &st))
		where.render = st.st_ino;
}

const char *node_name(int minor)
{
	return minor == CARD_MINOR ? "/dev/dri/card0" : "/dev/dri/renderD128";
}

const char *path_of_node(int minor, char *room)
{
	snprintf(room, PATH_MAX, "%s%s", where.root, node_name(minor));
	return room;
}

int node_minor(dev_t dev, ino_t ino)
{
	if (!where.card || dev != where.dev)
		return -1;
	return ino == where.card ? CARD_MINOR : ino == where.render ? RENDER_MINOR : -1;
}

int fd_minor(int fd)
{
	int kind = ufile_peek(fd) == UFILE_DEVICE ? ufile_look(fd, NULL) : -1;

	return kind == UFILE_CARD ? CARD_MINOR : kind == UFILE_DEVICE ? RENDER_MINOR : -1;
}

bool path_init(void)
{
	pthread_once(&once, find_root);
	return where.card;
}

/* ---- Paths of ours --------------------------------------------------------------------------- */

/* Returns true if @path is @prefix or below it. */
static bool below(const char *path, const char *prefix)
{
	size_t size = strlen(prefix);

	return !strncmp(path, prefix, size) && (!path[size] || path[size] == '/');
}

static bool is_ours(const char *path)
{
	return below(path, "/dev/dri") || below(path, "/sys/class/drm") ||
	       !strncmp(path, "/sys/dev/char/226:", strlen("/sys/dev/char/226:"));
}

int path_device(const char *path)
{
	char start[32];
	const char *number = NULL;
	char *end;
	long fd;

	if (!path || path[0] != '/')
		return -1;
	snprintf(start, sizeof(start), "/proc/%d/fd/", (int)getpid());
	if (!strncmp(path, "/dev/fd/", strlen("/dev/fd/")))
		number = path + strlen("/dev/fd/");
	else if (!strncmp(path, "/proc/self/fd/", strlen("/proc/self/fd/")))
		number = path + strlen("/proc/self/fd/");
	else if (!strncmp(path, "/proc/thread-self/fd/", strlen("/proc/thread-self/fd/")))
		number = path + strlen("/proc/thread-self/fd/");
	else if (!strncmp(path, start, strlen(start)))
		number = path + strlen(start);
	if (!number || number[0] < '0' || number[0] > '9')
		return -1;
	fd = strtol(number, &end, 10);
	return !*end && fd <= INT_MAX && fd_minor((int)fd) >= 0 ? (int)fd : -1;
}

/* Without double slashes and dots that mean nothing. */
static void squeeze(const char *path, char *to, size_t size)
{
	char *end = to + size - 1;

	while (*path && to < end) {
		if (path[0] == '/' && path[1] == '/')
			path++;
		else if (path[0] == '/' && path[1] == '.' && (path[2] == '/' || !path[2]))
			path += 2;
		else
			*to++ = *path++;
	}
	*to = '\0';
}

const char *path_redirect(const char *path, char *room)
{
	const char *name = path;
	size_t size;
	int fd;

	if (!path || path[0] != '/')
		return path;
	if (path[1] == '/' || path[1] == '.' || strstr(path, "//") || strstr(path, "/./")) {
		/* to where it is needed: signal handlers have little stack */
		path_init();
		size = strlen(where.root);
		squeeze(path, room + size, PATH_MAX - size);
		name = room + size;
	}
	if (!is_ours(name)) {
		fd = strstr(name, "/fd/") ? path_device(name) : -1;
		return fd < 0 ? path : path_of_node(fd_minor(fd), room);
	}
	path_init();
	size = strlen(where.root);
	if (name == path && strlen(path) >= PATH_MAX - size)
		return path;
	if (name == path)
		strcpy(room + size, path);
	memcpy(room, where.root, size);
	return room;
}

void path_shown(char *path)
{
	size_t size = strlen(where.root);

	if (size && below(path, where.root) && is_ours(path + size))
		memmove(path, path + size, strlen(path + size) + 1);
}

/* ---- Paths that lead to one of ours ---------------------------------------------------------- */

/* A path being resolved: @done is absolute and has no links, @rest is still to be walked. */
struct walk {
	char done[PATH_MAX], rest[PATH_MAX];
	char file[PATH_MAX], target[PATH_MAX], left[PATH_MAX];	/* of follow_link() */
	bool through_ours;
	unsigned int links;
};

/* The directory that a path is relative to, as the program knows it. */
static bool start_at(struct walk *w, int dir)
{
	char link[40];
	ssize_t size;

	if (dir == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/self/cwd");
	else
		snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	size = sys_readlink(link, w->done, sizeof(w->done) - 1);
	if (size <= 0)
		return false;
	w->done[size] = '\0';
	path_shown(w->done);
	w->through_ours = is_ours(w->done);
	return true;
}

/* Put the target of a link before what is left, if the last component of @done is one. */
static bool follow_link(struct walk *w, char *component)
{
	ssize_t size;

	if (snprintf(w->file, PATH_MAX, "%s%s", is_ours(w->done) ? where.root : "", w->done) >=
	    PATH_MAX)
		return true;
	size = sys_readlink(w->file, w->target, PATH_MAX - 1);
	if (size <= 0)
		return true;
	w->target[size] = '\0';
	if (++w->links > LINKS_MAX)
		return false;
	if (w->target[0] == '/')
		w->done[0] = '\0';
	else
		*component = '\0';
	memcpy(w->left, w->rest, PATH_MAX);
	return snprintf(w->rest, PATH_MAX, "%s/%s", w->target, w->left) < PATH_MAX;
}

/* Walk one component; false if the path cannot be resolved. */
static bool step(struct walk *w, bool follow)
{
	size_t skip = strspn(w->rest, "/"), size = strcspn(w->rest + skip, "/");
	size_t length = strlen(w->done);
	char name[NAME_MAX + 1], *end;

	if (size > NAME_MAX || length + size + 2 > PATH_MAX)
		return false;
	memcpy(name, w->rest + skip, size);
	name[size] = '\0';
	memmove(w->rest, w->rest + skip + size, strlen(w->rest + skip + size) + 1);
	if (!size || !strcmp(name, "."))
		return true;
	if (!strcmp(name, "..")) {
		end = strrchr(w->done, '/');
		if (end)
			*end = '\0';
		return true;
	}
	end = w->done + length;
	snprintf(end, size + 2, "/%s", name);
	w->through_ours |= is_ours(w->done);
	if (!follow && !w->rest[strspn(w->rest, "/")])
		return true;
	return follow_link(w, end);
}

/* A cheap guess whether a path that leads to nothing may lead to something of ours. */
static bool worth_it(int dir, const char *path)
{
	char target[8];

	if (!path || !*path)
		return false;
	if (strstr(path, "dri") || strstr(path, "drm") || strstr(path, "226:") ||
	    strstr(path, "card") || strstr(path, "render"))
		return true;
	return (path[0] != '/' && strstr(path, "..")) ||
	       syscall(SYS_readlinkat, dir, path, target, sizeof(target)) > 0;
}

const char *path_retry(int dir, const char *path, bool follow, char *room)
{
	const int error = errno;
	struct walk *w = MAP_FAILED;
	const char *to = NULL;

	if (error != ENOENT || !worth_it(dir, path) || strlen(path) >= PATH_MAX)
		goto out;
	path_init();
	/* neither malloc() nor much stack: open() may be called by signal handlers */
	w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w == MAP_FAILED)
		goto out;
	strcpy(w->rest, path);
	if (path[0] != '/' && !start_at(w, dir))
		goto out;
	while (w->rest[0]) {
		if (!step(w, follow))
			goto out;
	}
	if (!w->through_ours)
		goto out;
	if (snprintf(room, PATH_MAX, "%s%s", is_ours(w->done) ? where.root : "",
		     w->done[0] ? w->done : "/") < PATH_MAX)
		to = room;
out:
	if (w != MAP_FAILED)
		munmap(w, sizeof(*w));
	errno = error;
	return to;
}
