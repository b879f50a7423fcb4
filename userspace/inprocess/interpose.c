// SPDX-License-Identifier: MIT
/*
 * libc's functions that open and use a device, handed to the driver in this process.
 *
 * /dev/dri, /sys/dev/char/226:* and /sys/class/drm are a folder of plain files beside the library
 * (mkroot.sh makes it): paths there are rewritten, and opening one of the nodes opens a device.
 * Everything else goes on to libc. lookup.c has the calls that only look at files.
 */
/* With it open is another name of open64, and both are defined here. */
#undef _FILE_OFFSET_BITS
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "driver.h"
#include "paths.h"
#include "real.h"

/* ---- Opening --------------------------------------------------------------------------------- */

#define MODE(flags, mode) do {							\
	va_list ap_;								\
	va_start(ap_, flags);							\
	if ((flags) & (O_CREAT | O_TMPFILE))					\
		(mode) = va_arg(ap_, mode_t);					\
	va_end(ap_);								\
} while (0)

/* The minor of the node that was opened, ours or that of a GPU of the machine itself; or -1. */
static int opened_minor(int fd)
{
	struct stat st;

	if (sys_fstat(fd, &st))
		return -1;
	if (!S_ISCHR(st.st_mode) || major(st.st_rdev) != DRM_MAJOR)
		return node_minor(st.st_dev, st.st_ino);
	return !path_init() ? -1 : minor(st.st_rdev) < RENDER_MINOR ? CARD_MINOR : RENDER_MINOR;
}

/* A descriptor of a node's file becomes one of the device. */
static int opened(int fd)
{
	int error = errno, node, ret;
	struct file *file;

	if (ufile_is(fd))	/* the number was closed without our knowledge */
		ufile_close(fd);
	node = opened_minor(fd);
	if (node < 0 || ufiles_foreign()) {
		errno = error;
		return fd;
	}
	drv_lock();
	ufiles_reap();
	ret = drv_start();
	file = ret ? NULL : file_new(node == CARD_MINOR);
	if (file)
		ret = ufile_install(fd, UFILE_DEVICE, file);
	else
		sys_close(fd);
	drv_unlock();
	errno = error;
	if (ret >= 0 && file)
		return ret;
	errno = ret ? -ret : ENOMEM;
	return -1;
}

/* Files of the folder are not created, emptied or written to: 0, or an error. */
static int check_flags(const char *to, int *flags)
{
	struct stat st;

	if (*flags & O_CREAT && syscall(SYS_newfstatat, AT_FDCWD, to, &st, 0))
		return EACCES;
	if (!syscall(SYS_newfstatat, AT_FDCWD, to, &st, 0) && S_ISREG(st.st_mode) &&
	    node_minor(st.st_dev, st.st_ino) < 0 && (*flags & O_ACCMODE) != O_RDONLY)
		return EACCES;
	*flags &= ~O_TRUNC;
	return 0;
}

/* A node that is only looked at (O_PATH) is no device. */
static int open_with(int (*real)(int, const char *, int, ...), int dir, const char *path, int flags,
		     mode_t mode)
{
	char room[PATH_MAX];
	const char *to = path_redirect(path, room);
	int fd, error = to == room ? check_flags(to, &flags) : 0;

	if (error) {
		errno = error;
		return -1;
	}
	fd = real(dir, to, flags, mode);
	if (fd < 0 && !(flags & O_CREAT)) {
		to = path_retry(dir, path, !(flags & O_NOFOLLOW), room);
		if (to)
			fd = real(dir, to, flags, mode);
	}
	return fd < 0 || flags & O_PATH ? fd : opened(fd);
}

#define OPENAT_OF(name) REAL(name, int, int, const char *, int, ...)

#define OPEN(name, at)								\
EXPORT int name(const char *path, int flags, ...)				\
{										\
	mode_t mode = 0;							\
										\
	MODE(flags, mode);							\
	return open_with(OPENAT_OF(at), AT_FDCWD, path, flags, mode);	\
}

#define OPENAT(name)								\
EXPORT int name(int dir, const char *path, int flags, ...)			\
{										\
	mode_t mode = 0;							\
										\
	MODE(flags, mode);							\
	return open_with(OPENAT_OF(name), dir, path, flags, mode);	\
}

/* Programs with _FORTIFY_SOURCE call these where there is no mode. */
#define OPEN_2(name, at)							\
int name(const char *path, int flags);						\
EXPORT int name(const char *path, int flags)					\
{										\
	return open_with(OPENAT_OF(at), AT_FDCWD, path, flags, 0);	\
}

#define OPENAT_2(name, at)							\
int name(int dir, const char *path, int flags);					\
EXPORT int name(int dir, const char *path, int flags)				\
{										\
	return open_with(OPENAT_OF(at), dir, path, flags, 0);	\
}

#define CREAT(name, at)								\
EXPORT int name(const char *path, mode_t mode)					\
{										\
	return open_with(OPENAT_OF(at), AT_FDCWD, path,	\
			 O_CREAT | O_WRONLY | O_TRUNC, mode);			\
}

#undef open
#undef open64
#undef openat
#undef openat64
#undef creat
#undef creat64
OPEN(open, openat)
OPEN(open64, openat64)
OPENAT(openat)
OPENAT(openat64)
OPEN_2(__open_2, openat)
OPEN_2(__open64_2, openat64)
OPENAT_2(__openat_2, openat)
OPENAT_2(__openat64_2, openat64)
CREAT(creat, openat)
CREAT(creat64, openat64)

/* A stream on a node: its number becomes one of the device. */
static FILE *stream_opened(FILE *f)
{
	int error;

	if (!f || opened(fileno(f)) >= 0)
		return f;
	error = errno;
	REAL(fclose, int, FILE *)(f);
	errno = error;
	return NULL;
}

#define FOPEN(name)								\
EXPORT FILE *name(const char *path, const char *mode)				\
{										\
	char room[PATH_MAX];							\
	const char *to = path_redirect(path, room);				\
	FILE *f = REAL(name, FILE *, const char *, const char *)(to, mode);	\
										\
	if (!f && (to = path_retry(AT_FDCWD, path, true, room)))		\
		f = REAL(name, FILE *, const char *, const char *)(to, mode);	\
	return stream_opened(f);						\
}

#define FREOPEN(name)								\
EXPORT FILE *name(const char *path, const char *mode, FILE *stream)		\
{										\
	char room[PATH_MAX];							\
	const char *to = path_redirect(path, room);				\
										\
	if (path)								\
		ufile_close(fileno(stream));					\
	stream = REAL(name, FILE *, const char *, const char *, FILE *)(to, mode, stream);	\
	return path ? stream_opened(stream) : stream;				\
}

#undef fopen64
#undef freopen64
FOPEN(fopen)
FOPEN(fopen64)
FREOPEN(freopen)
FREOPEN(freopen64)

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* The program must not close a number that it did not get: for it there is no such number. */
static bool refuse_own(int fd)
{
	if (!fd_is_own(fd))
		return false;
	errno = EBADF;
	return true;
}

EXPORT int close(int fd)
{
	if (refuse_own(fd))
		return -1;
	ufile_close(fd);
	return REAL(close, int, int)(fd);
}

EXPORT int fclose(FILE *f)
{
	ufile_close(fileno(f));
	return REAL(fclose, int, FILE *)(f);
}

/* Close a range but the driver's own numbers. */
static int close_but_own(unsigned int first, unsigned int last, int flags)
{
	unsigned int from = first, fd;
	int ret = 0;

	for (fd = first; fd <= last && fd < OWN_FDS; fd++) {
		if (!fd_is_own((int)fd))
			continue;
		if (fd > from)
			ret |= (int)syscall(SYS_close_range, from, fd - 1, flags);
		from = fd + 1;
	}
	return from <= last ? ret | (int)syscall(SYS_close_range, from, last, flags) : ret;
}

EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	if (first > last || flags & ~(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC) ||
	    flags & CLOSE_RANGE_CLOEXEC)
		return (int)syscall(SYS_close_range, first, last, flags);
	ufiles_close(first, last);
	return close_but_own(first, last, flags);
}

EXPORT void closefrom(int first)
{
	unsigned int from = first < 0 ? 0 : (unsigned int)first;
	int fd;

	ufiles_close(from, UINT_MAX);
	if (!close_but_own(from, UINT_MAX, 0) || errno != ENOSYS)
		return;
	for (fd = (int)from; fd < OWN_FDS; fd++) {	/* Linux before 5.9 */
		if (!fd_is_own(fd))
			sys_close(fd);
	}
}

EXPORT int dup(int fd)
{
	int to = REAL(dup, int, int)(fd);

	ufile_dup(fd, to);
	return to;
}

EXPORT int dup2(int fd, int to)
{
	int ret;

	if (refuse_own(to))
		return -1;
	ret = REAL(dup2, int, int, int)(fd, to);
	ufile_dup(fd, ret);
	return ret;
}

EXPORT int dup3(int fd, int to, int flags)
{
	int ret;

	if (refuse_own(to))
		return -1;
	ret = REAL(dup3, int, int, int, int)(fd, to, flags);
	ufile_dup(fd, ret);
	return ret;
}

#define FCNTL(name)								\
EXPORT int name(int fd, int command, ...)					\
{										\
	va_list ap;								\
	void *arg;								\
	int ret, access;							\
										\
	va_start(ap, command);							\
	arg = va_arg(ap, void *);						\
	va_end(ap);								\
	ret = REAL(name, int, int, int, ...)(fd, command, arg);			\
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)			\
		ufile_dup(fd, ret);						\
	else if (command == F_GETFL && ret >= 0 && is_device(fd, &access))	\
		ret = (ret & ~O_ACCMODE) | access;				\
	return ret;								\
}

/* Returns true if a descriptor is a device's; *access is how that was opened. */
static bool is_device(int fd, int *access)
{
	int kind = ufile_peek(fd) == UFILE_DEVICE ? ufile_look(fd, access) : -1;

	return kind == UFILE_DEVICE || kind == UFILE_CARD;
}

#undef fcntl
#undef fcntl64
int fcntl64(int fd, int command, ...);
FCNTL(fcntl)
FCNTL(fcntl64)

/* ---- Using ----------------------------------------------------------------------------------- */

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	bool ours = false;
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	ret = ufile_is(fd) ? device_ioctl(fd, request, (uintptr_t)arg, &ours) : -1;
	if (ours)
		return ret;
	ret = REAL(ioctl, int, int, unsigned long, ...)(fd, request, arg);
	if (ret >= 0 || errno != ENOTTY || _IOC_TYPE(request) != DRM_IOCTL_BASE)
		return ret;
	if (ufile_adopt(fd))
		return device_ioctl(fd, request, (uintptr_t)arg, &ours);
	errno = ENOTTY;
	return -1;
}

EXPORT void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	bool ours = false;
	void *at;

	at = !(flags & MAP_ANONYMOUS) && ufile_is(fd)
		     ? device_mmap(addr, size, prot, flags, fd, offset, &ours)
		     : MAP_FAILED;
	if (ours)
		return at;
	at = REAL(mmap, void *, void *, size_t, int, int, int, off_t)(addr, size, prot, flags, fd,
								      offset);
	if (at != MAP_FAILED || errno != ENODEV)
		return at;
	if (ufile_adopt(fd))
		return device_mmap(addr, size, prot, flags, fd, offset, &ours);
	errno = ENODEV;
	return at;
}

EXPORT void *mmap64(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	return mmap(addr, size, prot, flags, fd, offset);
}

/* Returns true for dma-bufs and syncobjs, which are files of memory here. */
static bool is_memory(int fd)
{
	int kind = ufile_peek(fd);

	if (kind != UFILE_DMABUF && kind != UFILE_SYNCOBJ)
		return false;
	kind = ufile_look(fd, NULL);
	return kind == UFILE_DMABUF || kind == UFILE_SYNCOBJ;
}

/* The kernel's dma-bufs, syncobjs and devices cannot be read or written as files. */
static int refuse(void)
{
	errno = EINVAL;
	return -1;
}

/* A device without events blocks, however much is asked for; its timer would insist on 8 bytes. */
EXPORT ssize_t read(int fd, void *to, size_t size)
{
	uint64_t expirations;

	if (is_memory(fd))
		return refuse();
	if (is_device(fd, NULL))
		return REAL(read, ssize_t, int, void *, size_t)(fd, &expirations,
								sizeof(expirations));
	return REAL(read, ssize_t, int, void *, size_t)(fd, to, size);
}

__attribute__((noreturn)) void __chk_fail(void);
ssize_t __read_chk(int fd, void *to, size_t size, size_t room);
EXPORT ssize_t __read_chk(int fd, void *to, size_t size, size_t room)
{
	if (size > room)
		__chk_fail();
	return read(fd, to, size);
}

EXPORT ssize_t write(int fd, const void *from, size_t size)
{
	if (is_memory(fd))
		return refuse();
	return REAL(write, ssize_t, int, const void *, size_t)(fd, from, size);
}

#undef ftruncate
#undef ftruncate64
EXPORT int ftruncate(int fd, off_t size)
{
	return is_memory(fd) ? refuse() : REAL(ftruncate, int, int, off_t)(fd, size);
}

EXPORT int ftruncate64(int fd, off64_t size)
{
	return ftruncate(fd, size);
}

/* A dma-buf has a size and no position. */
#undef lseek
#undef lseek64
EXPORT off_t lseek(int fd, off_t offset, int from)
{
	if (is_memory(fd) && (offset || (from != SEEK_SET && from != SEEK_END)))
		return refuse();
	return REAL(lseek, off_t, int, off_t, int)(fd, offset, from);
}

EXPORT off64_t lseek64(int fd, off64_t offset, int from)
{
	return lseek(fd, offset, from);
}
