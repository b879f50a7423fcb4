// SPDX-License-Identifier: MIT
/*
 * What a program calls in libc to come to a device, handed to the driver in this process.
 *
 * /dev/dri, /sys/dev/char/226:* and /sys/class/drm are a folder of plain files beside the library
 * (mkroot.sh makes it): paths there are rewritten, and opening one of the nodes opens a device.
 * Everything else goes on to libc.
 */
/* With it open is another name of open64, and both are defined here. */
#undef _FILE_OFFSET_BITS
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "driver.h"

#define DRM_MAJOR	226
#define CARD_MINOR	0
#define RENDER_MINOR	128

#define EXPORT __attribute__((visibility("default")))

/* REAL(NAME, result, arguments...): libc's function of that name. */
#define REAL(name, result, ...) ({						\
	static _Atomic(void *) real_;						\
	void *at_ = atomic_load(&real_);					\
	if (!at_) {								\
		at_ = dlsym(RTLD_NEXT, #name);					\
		atomic_store(&real_, at_);					\
	}									\
	(result (*)(__VA_ARGS__))at_;						\
})

/* The folder, and the files in it that stand for nodes. */
static struct {
	char root[PATH_MAX / 2];
	dev_t dev;
	ino_t card, render;
} where;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static int plain_stat(const char *path, struct stat *st)
{
	return REAL(stat, int, const char *, struct stat *)(path, st);
}

static void find_root(void)
{
	const char *given = getenv("TSR_HOST_ROOT");
	char path[PATH_MAX];
	struct stat st;
	Dl_info info;
	char *slash;

	if (given) {
		snprintf(where.root, sizeof(where.root), "%s", given);
	} else if (dladdr((void *)find_root, &info) && info.dli_fname) {
		snprintf(where.root, sizeof(where.root), "%s", info.dli_fname);
		slash = strrchr(where.root, '/');
		if (slash)
			*slash = '\0';
		else
			strcpy(where.root, ".");
		strncat(where.root, "/tessera-host", sizeof(where.root) - strlen(where.root) - 1);
	}
	snprintf(path, sizeof(path), "%s/dev/dri/card0", where.root);
	if (plain_stat(path, &st)) {
		fprintf(stderr, "tessera-host: error: %s is not there: no device\n", path);
		return;
	}
	where.dev = st.st_dev;
	where.card = st.st_ino;
	snprintf(path, sizeof(path), "%s/dev/dri/renderD128", where.root);
	if (!plain_stat(path, &st))
		where.render = st.st_ino;
}

/* Whether @path is @prefix or below it. */
static bool below(const char *path, const char *prefix)
{
	size_t size = strlen(prefix);

	return !strncmp(path, prefix, size) && (!path[size] || path[size] == '/');
}

/* The path to use instead of @path: itself, or in @room. */
static const char *redirect(const char *path, char *room)
{
	if (!path || path[0] != '/')
		return path;
	if (!below(path, "/dev/dri") && !below(path, "/sys/class/drm") &&
	    strncmp(path, "/sys/dev/char/226:", strlen("/sys/dev/char/226:")))
		return path;
	pthread_once(&once, find_root);
	snprintf(room, PATH_MAX, "%s%s", where.root, path);
	return room;
}

/* The minor of the node that a file stands for, -1: none. */
static int node_minor(dev_t dev, ino_t ino)
{
	if (!where.card || dev != where.dev)
		return -1;
	return ino == where.card ? CARD_MINOR : ino == where.render ? RENDER_MINOR : -1;
}

/* A descriptor of a node's file becomes one of the device. */
static int opened(int fd)
{
	int minor, ret, error = errno;
	struct file *file;
	struct stat st;

	if (fd < 0 || REAL(fstat, int, int, struct stat *)(fd, &st) ||
	    (minor = node_minor(st.st_dev, st.st_ino)) < 0)
		return fd;
	drv_lock();
	ret = drv_start();
	file = ret ? NULL : file_new(minor == CARD_MINOR);
	if (file)
		ret = ufile_install(fd, UFILE_DEVICE, file);
	else
		close(fd);
	drv_unlock();
	errno = error;
	if (ret >= 0 && file)
		return ret;
	errno = ret ? -ret : ENOMEM;
	return -1;
}

/* ---- Opening --------------------------------------------------------------------------------- */

#define MODE(flags, mode) do {							\
	va_list ap_;								\
	va_start(ap_, flags);							\
	if ((flags) & (O_CREAT | O_TMPFILE))					\
		(mode) = va_arg(ap_, mode_t);					\
	va_end(ap_);								\
} while (0)

/* A node that is only looked at (O_PATH) is no device. */
static int open_with(int (*real)(int, const char *, int, ...), int dir, const char *path, int flags,
		     mode_t mode)
{
	char room[PATH_MAX];
	const char *to = redirect(path, room);
	int fd = real(dir, to, flags, mode);

	/* below an open /dev/dri nodes have relative paths */
	return (to == path && (!path || path[0] == '/' || !where.card)) || flags & O_PATH
		       ? fd
		       : opened(fd);
}

#define OPEN(name, at)                                                                       \
	EXPORT int name(const char *path, int flags, ...)                                    \
	{                                                                                    \
		mode_t mode = 0;                                                             \
                                                                                             \
		MODE(flags, mode);                                                           \
		return open_with(REAL(at, int, int, const char *, int, ...), AT_FDCWD, path, \
				 flags, mode);                                               \
	}

#define OPENAT(name)								\
EXPORT int name(int dir, const char *path, int flags, ...)			\
{										\
	mode_t mode = 0;							\
										\
	MODE(flags, mode);							\
	return open_with(REAL(name, int, int, const char *, int, ...), dir, path, flags, mode);	\
}

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

#undef open
#undef open64
#undef openat
#undef openat64
OPEN(open, openat)
OPEN(open64, openat64)
OPENAT(openat)
OPENAT(openat64)

EXPORT int __open_2(const char *path, int flags)
{
	return open_with(REAL(openat, int, int, const char *, int, ...), AT_FDCWD, path, flags, 0);
}

EXPORT int __open64_2(const char *path, int flags)
{
	return open_with(REAL(openat64, int, int, const char *, int, ...), AT_FDCWD, path, flags,
			 0);
}

EXPORT int __openat_2(int dir, const char *path, int flags)
{
	return open_with(REAL(openat, int, int, const char *, int, ...), dir, path, flags, 0);
}

EXPORT int __openat64_2(int dir, const char *path, int flags)
{
	return open_with(REAL(openat64, int, int, const char *, int, ...), dir, path, flags, 0);
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
	char room[PATH_MAX];

	return REAL(fopen, FILE *, const char *, const char *)(redirect(path, room), mode);
}

EXPORT FILE *fopen64(const char *path, const char *mode)
{
	char room[PATH_MAX];

	return REAL(fopen64, FILE *, const char *, const char *)(redirect(path, room), mode);
}

EXPORT DIR *opendir(const char *path)
{
	char room[PATH_MAX];

	return REAL(opendir, DIR *, const char *)(redirect(path, room));
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

EXPORT int close(int fd)
{
	ufile_close(fd);
	return REAL(close, int, int)(fd);
}

EXPORT int dup(int fd)
{
	int to = REAL(dup, int, int)(fd);

	ufile_dup(fd, to);
	return to;
}

EXPORT int dup2(int fd, int to)
{
	int ret = REAL(dup2, int, int, int)(fd, to);

	ufile_dup(fd, ret);
	return ret;
}

EXPORT int dup3(int fd, int to, int flags)
{
	int ret = REAL(dup3, int, int, int, int)(fd, to, flags);

	ufile_dup(fd, ret);
	return ret;
}

#define FCNTL(name)								\
EXPORT int name(int fd, int command, ...)					\
{										\
	va_list ap;								\
	void *arg;								\
	int ret;								\
										\
	va_start(ap, command);							\
	arg = va_arg(ap, void *);						\
	va_end(ap);								\
	ret = REAL(name, int, int, int, ...)(fd, command, arg);			\
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)			\
		ufile_dup(fd, ret);						\
	return ret;								\
}

#undef fcntl
#undef fcntl64
int fcntl64(int fd, int command, ...);
FCNTL(fcntl)
FCNTL(fcntl64)

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (ufile_is(fd))
		return device_ioctl(fd, request, (uintptr_t)arg);
	return REAL(ioctl, int, int, unsigned long, ...)(fd, request, arg);
}

EXPORT void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (!(flags & MAP_ANONYMOUS) && ufile_is(fd))
		return device_mmap(addr, size, prot, flags, fd, offset);
	return REAL(mmap, void *, void *, size_t, int, int, int, off_t)(addr, size, prot, flags, fd,
									offset);
}

EXPORT void *mmap64(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	return mmap(addr, size, prot, flags, fd, offset);
}

/* ---- Looking --------------------------------------------------------------------------------- */

static void as_node(mode_t *mode, dev_t *rdev, int minor)
{
	if (minor < 0)
		return;
	*mode = S_IFCHR | 0666;
	*rdev = makedev(DRM_MAJOR, (unsigned int)minor);
}

#define STAT(name, type)							\
EXPORT int name(const char *path, struct type *st)				\
{										\
	char room[PATH_MAX];							\
	const char *to = redirect(path, room);					\
	int ret = REAL(name, int, const char *, struct type *)(to, st);		\
										\
	if (!ret)								\
		as_node(&st->st_mode, &st->st_rdev, node_minor(st->st_dev, st->st_ino));	\
	return ret;								\
}

#define FSTAT(name, type)							\
EXPORT int name(int fd, struct type *st)					\
{										\
	int ret = REAL(name, int, int, struct type *)(fd, st);			\
										\
	if (!ret)								\
		as_node(&st->st_mode, &st->st_rdev, node_minor(st->st_dev, st->st_ino));	\
	return ret;								\
}

#define FSTATAT(name, type)                                                                      \
	EXPORT int name(int dir, const char *path, struct type *st, int flags)                   \
	{                                                                                        \
		char room[PATH_MAX];                                                             \
		int ret = REAL(name, int, int, const char *, struct type *,                      \
			       int)(dir, redirect(path, room), st, flags);                       \
                                                                                                 \
		if (!ret)                                                                        \
			as_node(&st->st_mode, &st->st_rdev, node_minor(st->st_dev, st->st_ino)); \
		return ret;                                                                      \
	}

/* Programs built with a glibc before 2.33 call these. */
#define XSTAT(name, type)                                                                        \
	int name(int version, const char *path, struct type *st);                                \
	EXPORT int name(int version, const char *path, struct type *st)                          \
	{                                                                                        \
		char room[PATH_MAX];                                                             \
		int ret = REAL(name, int, int, const char *,                                     \
			       struct type *)(version, redirect(path, room), st);                \
                                                                                                 \
		if (!ret)                                                                        \
			as_node(&st->st_mode, &st->st_rdev, node_minor(st->st_dev, st->st_ino)); \
		return ret;                                                                      \
	}

#define FXSTAT(name, type)							\
int name(int version, int fd, struct type *st);				\
EXPORT int name(int version, int fd, struct type *st)				\
{										\
	int ret = REAL(name, int, int, int, struct type *)(version, fd, st);	\
										\
	if (!ret)								\
		as_node(&st->st_mode, &st->st_rdev, node_minor(st->st_dev, st->st_ino));	\
	return ret;								\
}

#undef stat64
#undef lstat64
#undef fstat64
#undef fstatat64
STAT(stat, stat)
STAT(lstat, stat)
STAT(stat64, stat64)
STAT(lstat64, stat64)
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)
XSTAT(__xstat, stat)
XSTAT(__xstat64, stat64)
XSTAT(__lxstat, stat)
XSTAT(__lxstat64, stat64)
FXSTAT(__fxstat, stat)
FXSTAT(__fxstat64, stat64)

EXPORT int statx(int dir, const char *path, int flags, unsigned int mask, struct statx *st)
{
	char room[PATH_MAX];
	int minor, ret;

	ret = REAL(statx, int, int, const char *, int, unsigned int,
		   struct statx *)(dir, redirect(path, room), flags, mask, st);
	minor = ret ? -1 : node_minor(makedev(st->stx_dev_major, st->stx_dev_minor), st->stx_ino);
	if (minor >= 0) {
		st->stx_mode = S_IFCHR | 0666;
		st->stx_rdev_major = DRM_MAJOR;
		st->stx_rdev_minor = (unsigned int)minor;
	}
	return ret;
}

EXPORT int access(const char *path, int mode)
{
	char room[PATH_MAX];

	return REAL(access, int, const char *, int)(redirect(path, room), mode);
}

EXPORT int faccessat(int dir, const char *path, int mode, int flags)
{
	char room[PATH_MAX];

	return REAL(faccessat, int, int, const char *, int, int)(dir, redirect(path, room), mode,
								 flags);
}

EXPORT ssize_t readlink(const char *path, char *to, size_t size)
{
	char room[PATH_MAX];

	return REAL(readlink, ssize_t, const char *, char *, size_t)(redirect(path, room), to,
								     size);
}

ssize_t __readlink_chk(const char *path, char *to, size_t size, size_t room_size);
EXPORT ssize_t __readlink_chk(const char *path, char *to, size_t size, size_t to_size)
{
	char room[PATH_MAX];

	return REAL(__readlink_chk, ssize_t, const char *, char *, size_t,
		    size_t)(redirect(path, room), to, size, to_size);
}

EXPORT char *realpath(const char *path, char *to)
{
	char room[PATH_MAX];

	return REAL(realpath, char *, const char *, char *)(redirect(path, room), to);
}

char *__realpath_chk(const char *path, char *to, size_t to_size);
EXPORT char *__realpath_chk(const char *path, char *to, size_t to_size)
{
	char room[PATH_MAX];

	return REAL(__realpath_chk, char *, const char *, char *, size_t)(redirect(path, room), to,
									  to_size);
}
