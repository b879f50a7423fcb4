// SPDX-License-Identifier: MIT
/*
 * libc's functions that look at files. The nodes are character devices, and names of our folder
 * are shown as the names that it stands for.
 */
/* With it stat is another name of stat64, and both are defined here. */
#undef _FILE_OFFSET_BITS
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "driver.h"
#include "paths.h"
#include "real.h"

/*
 * TRY(RET, FAILED, DIR, PATH, FOLLOW, CALL): RET = CALL with the path TO; again with another path
 * if that makes sense.
 */
#define TRY(ret, failed, dir, path, follow, call) do {				\
	char room_[PATH_MAX];							\
	const char *to = path_redirect(path, room_);				\
	(ret) = (call);								\
	if ((ret) == (failed) && (to = path_retry(dir, path, follow, room_)))	\
		(ret) = (call);							\
} while (0)

static void as_node(mode_t *mode, dev_t *rdev, int minor)
{
	if (minor < 0)
		return;
	*mode = S_IFCHR | 0666;
	*rdev = makedev(DRM_MAJOR, (unsigned int)minor);
}

#define SHOW(st) as_node(&(st)->st_mode, &(st)->st_rdev, node_minor((st)->st_dev, (st)->st_ino))

#define STAT(name, type, follow)						\
EXPORT int name(const char *path, struct type *st)				\
{										\
	int ret;								\
										\
	TRY(ret, -1, AT_FDCWD, path, follow,					\
	    REAL(name, int, const char *, struct type *)(to, st));		\
	if (!ret)								\
		SHOW(st);							\
	return ret;								\
}

/* A device's descriptor is one of a timer: its node is looked at instead. */
#define FSTAT(name, by_path, type)						\
EXPORT int name(int fd, struct type *st)					\
{										\
	int minor = fd_minor(fd), ret;						\
	char room[PATH_MAX];							\
										\
	if (minor >= 0)								\
		ret = REAL(by_path, int, const char *,				\
			   struct type *)(path_of_node(minor, room), st);	\
	else									\
		ret = REAL(name, int, int, struct type *)(fd, st);		\
	if (!ret)								\
		SHOW(st);							\
	return ret;								\
}

#define FSTATAT(name, type)							\
EXPORT int name(int dir, const char *path, struct type *st, int flags)		\
{										\
	int minor = at_itself(path, flags) ? fd_minor(dir) : -1, ret;		\
	char node[PATH_MAX];							\
										\
	if (minor >= 0) {							\
		path = path_of_node(minor, node);				\
		dir = AT_FDCWD;							\
	}									\
	TRY(ret, -1, dir, path, !(flags & AT_SYMLINK_NOFOLLOW),			\
	    REAL(name, int, int, const char *, struct type *, int)(dir, to, st, flags));	\
	if (!ret)								\
		SHOW(st);							\
	return ret;								\
}

/* Programs built with a glibc before 2.33 call these. */
#define XSTAT(name, type, follow)						\
int name(int version, const char *path, struct type *st);			\
EXPORT int name(int version, const char *path, struct type *st)			\
{										\
	int ret;								\
										\
	TRY(ret, -1, AT_FDCWD, path, follow,					\
	    REAL(name, int, int, const char *, struct type *)(version, to, st));	\
	if (!ret)								\
		SHOW(st);							\
	return ret;								\
}

#define FXSTAT(name, by_path, type)						\
int name(int version, int fd, struct type *st);					\
EXPORT int name(int version, int fd, struct type *st)				\
{										\
	int minor = fd_minor(fd), ret;						\
	char room[PATH_MAX];							\
										\
	if (minor >= 0)								\
		ret = REAL(by_path, int, int, const char *,			\
			   struct type *)(version, path_of_node(minor, room), st);	\
	else									\
		ret = REAL(name, int, int, int, struct type *)(version, fd, st);	\
	if (!ret)								\
		SHOW(st);							\
	return ret;								\
}

/* Returns true if the directory itself is meant. */
static bool at_itself(const char *path, int flags)
{
	return flags & AT_EMPTY_PATH && (!path || !*path);
}

#undef stat64
#undef lstat64
#undef fstat64
#undef fstatat64
STAT(stat, stat, true)
STAT(lstat, stat, false)
STAT(stat64, stat64, true)
STAT(lstat64, stat64, false)
FSTAT(fstat, stat, stat)
FSTAT(fstat64, stat64, stat64)
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)
XSTAT(__xstat, stat, true)
XSTAT(__xstat64, stat64, true)
XSTAT(__lxstat, stat, false)
XSTAT(__lxstat64, stat64, false)
FXSTAT(__fxstat, __xstat, stat)
FXSTAT(__fxstat64, __xstat64, stat64)

EXPORT int statx(int dir, const char *path, int flags, unsigned int mask, struct statx *st)
{
	int minor = at_itself(path, flags) ? fd_minor(dir) : -1, ret;
	char node[PATH_MAX];

	if (minor >= 0) {
		path = path_of_node(minor, node);
		dir = AT_FDCWD;
	}
	TRY(ret, -1, dir, path, !(flags & AT_SYMLINK_NOFOLLOW),
	    REAL(statx, int, int, const char *, int, unsigned int, struct statx *)(dir, to, flags,
										   mask, st));
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
	int ret;

	TRY(ret, -1, AT_FDCWD, path, true, REAL(access, int, const char *, int)(to, mode));
	return ret;
}

EXPORT int faccessat(int dir, const char *path, int mode, int flags)
{
	int ret;

	TRY(ret, -1, dir, path, true,
	    REAL(faccessat, int, int, const char *, int, int)(dir, to, mode, flags));
	return ret;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* readlinkat(); names of our folder become the names that it stands for. */
static ssize_t read_link(int dir, const char *path, char *to_buffer, size_t size)
{
	int fd = path_device(path);
	char target[PATH_MAX];
	ssize_t length;

	if (fd >= 0) {
		length = (ssize_t)strlen(node_name(fd_minor(fd)));
		memcpy(target, node_name(fd_minor(fd)), (size_t)length);
	} else {
		TRY(length, -1, dir, path, false,
		    REAL(readlinkat, ssize_t, int, const char *, char *, size_t)
		    (dir, to, target, sizeof(target) - 1));
		if (length < 0)
			return length;
		target[length] = '\0';
		path_shown(target);
		length = (ssize_t)strlen(target);
	}
	if (!size) {
		errno = EINVAL;
		return -1;
	}
	if ((size_t)length > size)
		length = (ssize_t)size;
	memcpy(to_buffer, target, (size_t)length);
	return length;
}

EXPORT ssize_t readlink(const char *path, char *to, size_t size)
{
	return read_link(AT_FDCWD, path, to, size);
}

EXPORT ssize_t readlinkat(int dir, const char *path, char *to, size_t size)
{
	return read_link(dir, path, to, size);
}

/* Programs with _FORTIFY_SOURCE call the functions with the size of the buffer. */
__attribute__((noreturn)) void __chk_fail(void);

ssize_t __readlink_chk(const char *path, char *to, size_t size, size_t room);
EXPORT ssize_t __readlink_chk(const char *path, char *to, size_t size, size_t room)
{
	if (size > room)
		__chk_fail();
	return read_link(AT_FDCWD, path, to, size);
}

ssize_t __readlinkat_chk(int dir, const char *path, char *to, size_t size, size_t room);
EXPORT ssize_t __readlinkat_chk(int dir, const char *path, char *to, size_t size, size_t room)
{
	if (size > room)
		__chk_fail();
	return read_link(dir, path, to, size);
}

EXPORT char *realpath(const char *path, char *result)
{
	char *ret;

	TRY(ret, NULL, AT_FDCWD, path, true,
	    REAL(realpath, char *, const char *, char *)(to, result));
	if (ret)
		path_shown(ret);
	return ret;
}

char *__realpath_chk(const char *path, char *result, size_t size);
EXPORT char *__realpath_chk(const char *path, char *result, size_t size)
{
	if (size < PATH_MAX)
		__chk_fail();
	return realpath(path, result);
}

EXPORT char *canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}

EXPORT char *getcwd(char *to, size_t size)
{
	char *ret = REAL(getcwd, char *, char *, size_t)(to, size);

	if (ret)
		path_shown(ret);
	return ret;
}

char *__getcwd_chk(char *to, size_t size, size_t room);
EXPORT char *__getcwd_chk(char *to, size_t size, size_t room)
{
	if (size > room)
		__chk_fail();
	return getcwd(to, size);
}

EXPORT char *get_current_dir_name(void)
{
	return getcwd(NULL, 0);
}

EXPORT int chdir(const char *path)
{
	int ret;

	TRY(ret, -1, AT_FDCWD, path, true, REAL(chdir, int, const char *)(to));
	return ret;
}

EXPORT DIR *opendir(const char *path)
{
	DIR *ret;

	TRY(ret, NULL, AT_FDCWD, path, true, REAL(opendir, DIR *, const char *)(to));
	return ret;
}

#define SCANDIR(name, type)							\
EXPORT int name(const char *path, struct type ***list, int (*chosen)(const struct type *),	\
		int (*order)(const struct type **, const struct type **))	\
{										\
	int ret;								\
										\
	TRY(ret, -1, AT_FDCWD, path, true,					\
	    REAL(name, int, const char *, void *, void *, void *)(to, list, (void *)chosen,	\
								   (void *)order));	\
	return ret;								\
}

#undef scandir64
SCANDIR(scandir, dirent)
SCANDIR(scandir64, dirent64)
