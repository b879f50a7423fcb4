// SPDX-License-Identifier: MIT
/*
 * Descriptors: what a number stands for, and which numbers are the driver's own.
 *
 * The table follows close(), dup() and their kind, which interpose.c hands over. A program can give
 * a number back in ways that it does not see (fclose() of another C library, a system call), so a
 * number is compared with its file before it is believed. The file of a device is a timer that
 * never fires: it is never readable or writable, refuses write(), and blocks in read(), as a DRM
 * file without events. Its interval identifies it, and the other kinds have inodes.
 *
 * close() may be called by signal handlers, which must not free memory. What the last number stood
 * for is buried, and the next ioctl or the driver's thread reaps it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"
#include "real.h"

#define NEVER_S		(1ll << 31)	/* seconds until a device's timer would fire */
#define NS_PER_S	1000000000u

static _Atomic(struct ufile *) ufiles[FDS];
static _Atomic uint8_t peeked[FDS];		/* enum ufile_kind + 1 of the entry, or 0 */
static _Atomic uint64_t own[OWN_FDS / 64];	/* a bitmap of the driver's own numbers */
static struct ufile *buried;
static _Atomic pid_t owner;			/* the process that the table belongs to */

/* ---- The driver's own ------------------------------------------------------------------------ */

int real_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags);
}

bool fd_is_own(int fd)
{
	return fd >= 0 && fd < OWN_FDS &&
	       atomic_load_explicit(&own[fd / 64], memory_order_relaxed) & 1ull << fd % 64;
}

int fd_move(int fd)
{
	static int base = -1;
	struct rlimit limit;
	int moved;

	if (fd < 0)
		return fd;
	if (base < 0 && !getrlimit(RLIMIT_NOFILE, &limit)) {
		/* each BO has one: as many as there may be, and ours in the upper half */
		limit.rlim_cur = limit.rlim_max > OWN_FDS ? OWN_FDS : limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit))
			getrlimit(RLIMIT_NOFILE, &limit);
		base = (int)(limit.rlim_cur / 2);
	}
	moved = sys_fcntl(fd, F_DUPFD_CLOEXEC, base);
	if (moved >= 0) {
		sys_close(fd);
		fd = moved;
	}
	if (fd < OWN_FDS)
		atomic_fetch_or(&own[fd / 64], 1ull << fd % 64);
	return fd;
}

void fd_close(int fd)
{
	if (fd < 0)
		return;
	if (fd < OWN_FDS)
		atomic_fetch_and(&own[fd / 64], ~(1ull << fd % 64));
	sys_close(fd);
}

/* ---- Files of devices ------------------------------------------------------------------------ */

static struct timespec interval_of(const struct ufile *u)
{
	return (struct timespec){ (time_t)(u->id >> 32), (long)(u->id & UINT32_MAX) };
}

/* A number that no other file of any process has, to all appearance. */
static uint64_t new_id(void)
{
	static uint64_t last;
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint32_t)(now_ns() ^ (uint64_t)getpid() << 16);
	last = (last + 1) & 0x3fffffff;
	return (last + 1) << 32 | random % NS_PER_S;
}

/* The file at @fd becomes a timer; the number, O_CLOEXEC and O_NONBLOCK stay. */
static int become_device(int fd, struct ufile *u)
{
	struct itimerspec never = { .it_value.tv_sec = NEVER_S };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	int cloexec = sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC ? O_CLOEXEC : 0;
	int flags = sys_fcntl(fd, F_GETFL, 0), ret = 0;

	u->id = new_id();
	u->access = flags & O_ACCMODE;
	never.it_interval = interval_of(u);
	if (timer < 0 || timerfd_settime(timer, 0, &never, NULL) ||
	    sys_fcntl(timer, F_SETFL, flags & O_NONBLOCK) ||
	    syscall(SYS_dup3, timer, fd, cloexec) < 0)
		ret = -errno;
	if (timer >= 0)
		sys_close(timer);
	return ret;
}

/* Returns true if the file at @fd is the one that it was when it got its entry. */
static bool still_is(int fd, const struct ufile *u)
{
	struct itimerspec timer;
	struct timespec want;
	struct stat st;

	if (u->kind == UFILE_DEVICE) {
		want = interval_of(u);
		return !syscall(SYS_timerfd_gettime, fd, &timer) &&
		       timer.it_interval.tv_sec == want.tv_sec &&
		       timer.it_interval.tv_nsec == want.tv_nsec;
	}
	/* files without an inode of their own share one: they are at least of the same kind */
	return !sys_fstat(fd, &st) && st.st_dev == u->dev && st.st_ino == u->ino;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* Replace an entry; the old one, with its reference. */
static struct ufile *set_entry(int fd, struct ufile *u)
{
	atomic_store(&peeked[fd], u ? (uint8_t)(u->kind + 1) : 0);
	return atomic_exchange(&ufiles[fd], u);
}

static void object_put(struct ufile *u)
{
	if (u->dead)
		return;
	switch (u->kind) {
	case UFILE_DEVICE:
	case UFILE_CARD:
		file_free(u->object);
		break;
	case UFILE_SYNC_FILE:
		syncfile_free(u);
		break;
	case UFILE_SYNCOBJ:
		syncobj_put(u->object);
		break;
	case UFILE_DMABUF:
		bo_put(u->object);
		break;
	}
}

void ufile_put(struct ufile *u)
{
	if (!u || --u->refs)
		return;
	object_put(u);
	free(u);
}

static void bury(struct ufile *u)
{
	if (!u || --u->refs)
		return;
	u->next = buried;
	buried = u;
	drv_wake();
}

void ufiles_reap(void)
{
	while (buried) {
		struct ufile *u = buried;

		buried = u->next;
		object_put(u);
		free(u);
	}
}

int ufile_install(int fd, enum ufile_kind kind, void *object)
{
	struct ufile *u = calloc(1, sizeof(*u));
	int error = fd < 0 ? -errno : !u ? -ENOMEM : fd >= FDS ? -EMFILE : 0;
	struct ufile lost = { .kind = kind, .object = object };
	struct stat st;

	if (!error && kind == UFILE_DEVICE)
		error = become_device(fd, u);
	if (!error && sys_fstat(fd, &st))
		error = -errno;
	if (error) {
		object_put(&lost);
		free(u);
		if (fd >= 0)
			sys_close(fd);
		return error;
	}
	u->refs = 1;
	u->kind = kind;
	u->primary = kind == UFILE_DEVICE && ((struct file *)object)->primary;
	u->object = object;
	u->dev = st.st_dev;
	u->ino = st.st_ino;
	if (!atomic_load(&owner))
		atomic_store(&owner, getpid());
	/* a number that was closed without our knowledge may be here again */
	ufile_put(set_entry(fd, u));
	return fd;
}

pid_t ufiles_owner(void)
{
	return atomic_load(&owner);
}

bool ufiles_foreign(void)
{
	pid_t pid = atomic_load(&owner);

	return pid && pid != getpid();
}

bool ufile_is(int fd)
{
	return fd >= 0 && fd < FDS && atomic_load(&ufiles[fd]);
}

struct ufile *ufile_get(int fd)
{
	struct ufile *u = ufile_is(fd) ? atomic_load(&ufiles[fd]) : NULL;

	if (u && !ufiles_foreign() && !still_is(fd, u)) {
		bury(set_entry(fd, NULL));
		u = NULL;
	}
	if (u)
		u->refs++;
	return u;
}

int ufile_peek(int fd)
{
	return fd >= 0 && fd < FDS ? atomic_load(&peeked[fd]) - 1 : -1;
}

int ufile_look(int fd, int *access)
{
	struct ufile *u;
	int kind = -1;

	if (!ufile_is(fd))
		return -1;
	lock_enter();
	u = ufile_get(fd);
	if (u) {
		kind = u->kind == UFILE_DEVICE && u->primary ? UFILE_CARD : (int)u->kind;
		if (access)
			*access = u->access;
		bury(u);
	}
	lock_leave();
	return kind;
}

/* The entry of a device whose number was copied without our knowledge, a reference. */
static struct ufile *find_copied(int fd)
{
	struct ufile *u;
	int i;

	for (i = 0; i < FDS; i++) {
		u = atomic_load(&ufiles[i]);
		if (u && u->kind == UFILE_DEVICE && still_is(fd, u)) {
			u->refs++;
			return u;
		}
	}
	return NULL;
}

bool ufile_adopt(int fd)
{
	struct itimerspec timer;
	struct ufile *u;

	if (fd < 0 || fd >= FDS || ufile_is(fd) || !atomic_load(&owner) || ufiles_foreign() ||
	    syscall(SYS_timerfd_gettime, fd, &timer))
		return false;
	lock_enter();
	u = find_copied(fd);
	if (u)
		bury(set_entry(fd, u));
	lock_leave();
	return u;
}

void ufile_close(int fd)
{
	if (!ufile_is(fd) || ufiles_foreign())
		return;
	lock_enter();
	bury(set_entry(fd, NULL));
	lock_leave();
}

void ufiles_close(unsigned int first, unsigned int last)
{
	unsigned int fd;

	for (fd = first; fd <= last && fd < FDS; fd++)
		ufile_close((int)fd);
}

void ufile_dup(int from, int to)
{
	struct ufile *u;

	if (to < 0 || to >= FDS || from == to || (!ufile_is(from) && !ufile_is(to)) ||
	    ufiles_foreign())
		return;
	lock_enter();
	u = ufile_get(from);
	bury(set_entry(to, u));
	lock_leave();
}

void ufiles_die(void)
{
	unsigned int fd;

	for (fd = 0; fd < FDS; fd++) {
		struct ufile *u = atomic_load(&ufiles[fd]);

		if (u)
			u->dead = true;
	}
	buried = NULL;
	if (atomic_load(&owner))
		atomic_store(&owner, getpid());
}
