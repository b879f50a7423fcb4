// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/*
 * Files and descriptors of a device as any program uses them: every way to close and copy a
 * number, every spelling of a node, signal handlers, and what a file without events answers. The
 * kernel does most of it by itself; the device in a program's own process has to do the same.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct eventfd_arg {	/* struct drm_syncobj_eventfd, which not every libdrm has */
	uint32_t handle, flags;
	uint64_t point;
	int32_t fd;
	uint32_t pad;
};
#define IOC_EVENTFD DRM_IOWR(0xCF, struct eventfd_arg)

static char node[64];

static int node_open(int flags)
{
	int fd = open(node, flags);

	if (fd < 0)
		gt_die("%s: %s", node, strerror(errno));
	return fd;
}

/* 0 if a descriptor is a device's. */
static int version(int fd)
{
	struct drm_version v = { 0 };

	return gt_ioctl(fd, DRM_IOCTL_VERSION, &v);
}

/* ---- Closing and copying --------------------------------------------------------------------- */

/* A number that a device had is now one of another file. */
static void reused(int number)
{
	int fd = open("/dev/null", O_RDWR);
	struct stat st;
	char c;

	ktap_eq(fd, number);
	ktap_eq(version(fd), -ENOTTY);
	ktap_eq(fstat(fd, &st), 0);
	ktap_eq(st.st_rdev, makedev(1, 3));
	ktap_eq(read(fd, &c, 1), 0);
	ktap_eq(write(fd, &c, 1), 1);
	close(fd);
}

static void closed(void)
{
	int fd = node_open(O_RDWR), other;
	FILE *f;

	close(fd);
	reused(fd);
	fd = node_open(O_RDWR);
	ktap_eq(close_range(fd, fd, 0), 0);
	reused(fd);
	fd = node_open(O_RDWR);
	closefrom(fd);
	reused(fd);
	f = fdopen(node_open(O_RDWR), "r+");
	fd = fileno(f);
	fclose(f);
	reused(fd);
	fd = node_open(O_RDWR);
	ktap_eq(syscall(SYS_close, fd), 0);
	reused(fd);
	fd = node_open(O_RDWR);
	other = open("/dev/null", O_RDWR);
	ktap_eq(dup2(other, fd), fd);
	ktap_eq(version(fd), -ENOTTY);
	close(other);
	close(fd);
}

/* Closing all other numbers leaves BOs usable. */
static void closed_others(void)
{
	int fd = node_open(O_RDWR);
	struct gt_bo bo = gt_bo(fd, GT_PAGE, 0);
	struct rlimit limit;
	uint32_t *again;
	rlim_t n;

	*(uint32_t *)bo.map = 7;
	closefrom(fd + 1);
	again = gt_bo_mmap(fd, bo.handle, GT_PAGE);
	ktap_ok(again && *again == 7);
	getrlimit(RLIMIT_NOFILE, &limit);
	for (n = (rlim_t)fd + 1; n < limit.rlim_cur && n < 200000; n++)
		close((int)n);
	again = gt_bo_mmap(fd, bo.handle, GT_PAGE);
	ktap_ok(again && *again == 7);
	ktap_eq(close_range((unsigned int)fd + 1, ~0u, 0), 0);
	again = gt_bo_mmap(fd, bo.handle, GT_PAGE);
	ktap_ok(again && *again == 7);
	gt_bo_free(&bo);
	close(fd);
}

static void copied(void)
{
	int fd = node_open(O_RDWR);
	int copy[5] = { dup(fd), dup2(fd, 200), dup3(fd, 201, O_CLOEXEC), fcntl(fd, F_DUPFD, 100),
			(int)syscall(SYS_dup, fd) };
	uint32_t sync = gt_syncobj(fd, false);
	unsigned int i;

	for (i = 0; i < GT_ARRAY_SIZE(copy); i++) {
		struct drm_syncobj_array arg = { .handles = gt_ptr(&sync), .count_handles = 1 };

		ktap_eq(gt_ioctl(copy[i], DRM_IOCTL_SYNCOBJ_RESET, &arg), 0);
	}
	close(fd);
	for (i = 0; i < GT_ARRAY_SIZE(copy); i++) {
		ktap_eq(version(copy[i]), 0);
		close(copy[i]);
		ktap_eq(version(copy[i]), -EBADF);
	}
}

/* The child of vfork() has descriptors of its own. */
static void vforked(void)
{
	int fd = node_open(O_RDWR), status = -1;
	pid_t pid = vfork();

	if (!pid) {
		close(fd);
		close(open(node, O_RDWR));
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ktap_eq(status, 0);
	ktap_eq(version(fd), 0);
	close(fd);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void is_node(int fd, const char *how)
{
	if (fd >= 0 && !version(fd)) {
		close(fd);
		return;
	}
	ktap_fail("%s is no device: %s", how, fd < 0 ? strerror(errno) : "VERSION fails");
	if (fd >= 0)
		close(fd);
}

static void names(void)
{
	const char *name = strrchr(node, '/') + 1;
	int fd = node_open(O_RDWR), dir = open("/dev/dri", O_RDONLY | O_DIRECTORY), dev;
	char path[200], cwd[500], link[200] = "", whole[4096];
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	is_node(open(path, O_RDWR), path);
	ktap_ok(readlink(path, link, sizeof(link) - 1) > 0);
	ktap_ok(!strcmp(link, node));
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	is_node(open(path, O_RDWR), path);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	is_node(open(path, O_RDWR), path);
	snprintf(path, sizeof(path), "//dev//dri/./%s", name);
	is_node(open(path, O_RDWR), path);
	snprintf(path, sizeof(path), "/dev/dri/../dri/%s", name);
	is_node(open(path, O_RDWR), path);
	snprintf(path, sizeof(path), "/dev/../dev/dri/%s", name);
	is_node(open64(path, O_RDWR), path);
	ktap_ok(realpath(path, whole) && !strcmp(whole, node));
	ktap_eq(stat(path, &st), 0);
	ktap_ok(S_ISCHR(st.st_mode) && major(st.st_rdev) == 226);
	is_node(openat(dir, name, O_RDWR), "openat()");
	snprintf(path, sizeof(path), "../dri/%s", name);
	is_node(openat(dir, path, O_RDWR), path);
	dev = openat(dir, "../null", O_RDWR);
	ktap_ok(dev >= 0 && version(dev) == -ENOTTY);
	close(dev);
	dev = open("/dev", O_RDONLY | O_DIRECTORY);
	snprintf(path, sizeof(path), "dri/%s", name);
	is_node(openat(dev, path, O_RDWR), path);
	ktap_ok(getcwd(cwd, sizeof(cwd)) && !chdir("/dev/dri"));
	is_node(open(name, O_RDWR), "a relative path");
	ktap_ok(getcwd(path, sizeof(path)) && !strcmp(path, "/dev/dri"));
	ktap_ok(!chdir("/dev"));
	snprintf(path, sizeof(path), "dri/%s", name);
	is_node(open(path, O_RDWR), path);
	ktap_ok(!chdir(cwd));
	f = fopen(node, "r+");
	ktap_ok(f && !version(fileno(f)));
	if (f)
		fclose(f);
	f = freopen(node, "r+", fopen("/dev/null", "r"));
	ktap_ok(f && !version(fileno(f)));
	if (f)
		fclose(f);
	close(fd);
	close(dir);
	close(dev);
}

/* Links elsewhere that lead to a node or to its directory, and udev's own. */
static void links(void)
{
	char dir[] = "/tmp/descriptors-XXXXXX", path[300], at[300];

	KTAP_REQUIRE(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/gpu", dir);
	ktap_eq(symlink(node, path), 0);
	is_node(open(path, O_RDWR), "a link to a node");
	unlink(path);
	snprintf(path, sizeof(path), "%s/d", dir);
	ktap_eq(symlink("/dev/dri", path), 0);
	snprintf(at, sizeof(at), "%s/d/%s", dir, strrchr(node, '/') + 1);
	is_node(open(at, O_RDWR), "a node in a link to its directory");
	unlink(path);
	rmdir(dir);
	if (access("/dev/dri/by-path", F_OK)) {
		ktap_note("no udev: no /dev/dri/by-path");
		return;
	}
	is_node(open("/dev/dri/by-path/pci-0000:00:01.0-render", O_RDWR), "by-path");
}

/* ---- The file -------------------------------------------------------------------------------- */

static void flags_and_io(void)
{
	int fd = node_open(O_RDWR | O_NONBLOCK | O_CLOEXEC), plain = node_open(O_RDONLY);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN | POLLOUT };
	struct gt_bo bo = gt_bo(plain, GT_PAGE, DRM_TESSERA_BO_NO_MMAP);
	struct drm_tessera_bo_mmap_offset offset = { 0 };
	struct drm_tessera_bo_create create = { .size = GT_PAGE };
	struct stat st;
	char c[16];
	void *map;

	ktap_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ktap_eq(fcntl(plain, F_GETFD), 0);
	ktap_eq(fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK), O_RDWR | O_NONBLOCK);
	ktap_eq(fcntl(plain, F_GETFL) & (O_ACCMODE | O_NONBLOCK), O_RDONLY);
	ktap_eq(poll(&poll_fd, 1, 20), 0);
	ktap_eq(read(fd, c, 1), -1);
	ktap_eq(errno, EAGAIN);
	ktap_eq(read(fd, c, sizeof(c)), -1);
	ktap_eq(errno, EAGAIN);
	ktap_eq(write(fd, c, 1), -1);
	ktap_eq(errno, EINVAL);
	ktap_eq(write(fd, c, 8), -1);
	ktap_eq(errno, EINVAL);
	ktap_eq(ftruncate(fd, 0), -1);
	ktap_eq(errno, EINVAL);
	ktap_ok(!fstat(fd, &st) && S_ISCHR(st.st_mode) && major(st.st_rdev) == 226);
	ktap_ok(!fstatat(fd, "", &st, AT_EMPTY_PATH) && S_ISCHR(st.st_mode));
	/* a file that is not open for writing has no writable mappings */
	ktap_eq(gt_ioctl(plain, DRM_IOCTL_TESSERA_BO_CREATE, &create), 0);
	offset.handle = create.handle;
	ktap_eq(gt_ioctl(plain, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset), 0);
	map = mmap(NULL, GT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, plain, (off_t)offset.offset);
	ktap_ok(map == MAP_FAILED && errno == EACCES);
	map = mmap(NULL, GT_PAGE, PROT_READ, MAP_SHARED, plain, (off_t)offset.offset);
	ktap_ok(map != MAP_FAILED);
	gt_gem_close(plain, bo.handle);
	close(plain);
	close(fd);
}

/* ---- SYNCOBJ_EVENTFD ------------------------------------------------------------------------- */

static int event_on(int fd, uint32_t sync, int event)
{
	struct eventfd_arg arg = { .handle = sync, .fd = event };

	return gt_ioctl(fd, IOC_EVENTFD, &arg);
}

static void eventfds(void)
{
	int fd = node_open(O_RDWR), other = node_open(O_RDWR), pipes[2], event = eventfd(0, 0);
	struct drm_prime_handle prime = { .flags = DRM_RDWR, .fd = -1 };
	struct drm_syncobj_handle shared = { .fd = -1 };
	uint32_t sync = gt_syncobj(fd, false), done = gt_syncobj(fd, true);
	struct gt_bo bo = gt_bo(fd, GT_PAGE, 0);
	uint64_t count = 0;
	int bad[9], i;

	prime.handle = bo.handle;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	shared.handle = sync;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &shared), 0);
	ktap_eq(pipe(pipes), 0);
	bad[0] = fd;
	bad[1] = other;
	bad[2] = dup(fd);
	bad[3] = gt_fence_file(fd, done);
	bad[4] = prime.fd;
	bad[5] = shared.fd;
	bad[6] = pipes[0];
	bad[7] = pipes[1];
	bad[8] = open("/dev/null", O_RDWR);
	for (i = 0; i < 9; i++) {
		if (!ktap_eq(event_on(fd, sync, bad[i]), -EINVAL))
			ktap_note("kind %d", i);
	}
	ktap_eq(event_on(fd, sync, -1), -EBADF);
	ktap_eq(event_on(fd, sync, 900), -EBADF);
	ktap_eq(event_on(fd, 900, event), -ENOENT);
	ktap_eq(event_on(fd, sync, event), 0);
	ktap_eq(gt_syncobj_signal(fd, sync, 0), 0);
	ktap_eq(read(event, &count, sizeof(count)), sizeof(count));
	ktap_eq(count, 1);
	for (i = 1; i < 9; i++)
		close(bad[i]);
	close(event);
	gt_bo_free(&bo);
	close(fd);
}

/* ---- Signals and threads --------------------------------------------------------------------- */

static int in_handler;
static volatile sig_atomic_t handled;

static void handler(int number)
{
	int error = errno;

	(void)number;
	version(in_handler);
	close(dup(in_handler));
	close(open(node, O_RDWR));
	handled++;
	errno = error;
}

static void signals(void)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };
	uint64_t end = gt_now_ns() + 1000000000ULL;

	in_handler = node_open(O_RDWR);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (gt_now_ns() < end)
		gt_syncobj_free(in_handler, gt_syncobj(in_handler, false));
	setitimer(ITIMER_REAL, &never, NULL);
	ktap_note("%d signals", (int)handled);
	ktap_ok(handled > 10);
	close(in_handler);
}

static void wake(int number)
{
	(void)number;
	handled++;
}

/* A signal ends a wait for what is never submitted, however early it comes. */
static void interrupted(void)
{
	struct sigaction action = { .sa_handler = wake };
	int fd = node_open(O_RDWR), i;
	uint32_t sync = gt_syncobj(fd, false);

	sigaction(SIGALRM, &action, NULL);
	for (i = 0; i < 100; i++) {
		struct itimerval soon = { { 0, 0 }, { 0, 1 + i * 5 } };
		struct drm_syncobj_wait arg = {
			.handles = gt_ptr(&sync), .count_handles = 1,
			.timeout_nsec = (int64_t)gt_now_ns() + 2000000000,
			.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
		};
		int before = handled, ret;

		setitimer(ITIMER_REAL, &soon, NULL);
		ret = ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &arg);
		/* a handler that ran before the ioctl began does not count */
		if (ret != -1 || (errno != EINTR && !(errno == ETIME && handled > before))) {
			ktap_fail("round %d: %d, %s", i, ret, strerror(errno));
			break;
		}
	}
	close(fd);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	gt_node_path(0, true, node, sizeof(node));
	ktap_run("[SYS8] a closed number is no device, however it was closed", closed);
	ktap_run("[SYS8] closing all other numbers does no harm", closed_others);
	ktap_run("[SYS8] copies of a number are the same file", copied);
	ktap_run("[SYS8] the child of vfork() closes its own", vforked);
	ktap_run("[SYS8] a node by every spelling of its name", names);
	ktap_run("[SYS8] a node by links", links);
	ktap_run("[SYS8] flags, poll, read, write and truncation of a device's file", flags_and_io);
	ktap_run("[SYS8] SYNCOBJ_EVENTFD takes eventfds only", eventfds);
	ktap_run("[SYS8] a signal handler opens, closes and calls ioctls", signals);
	ktap_run("[SYS8] a signal ends a wait", interrupted);
	return gt_finish();
}
