// SPDX-License-Identifier: MIT
/*
 * libtessera-perf: gives every job that a program submits a performance monitor (tsr-perf).
 *
 * ioctl() and close() are taken over. The first SUBMIT on a file makes a perfmon there; all jobs
 * that have none of their own get it. What it has counted is added to the totals when the file is
 * closed and when the process ends. A process that is killed, or ends by _exit(), has counted
 * nothing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm/tessera_drm.h>

#include "perf.h"

#define EXPORT __attribute__((visibility("default")))
#define FILES_MAX 1024

enum file_kind { UNKNOWN, FOREIGN, COUNTED };

static struct {
	enum file_kind kind;
	uint32_t perfmon;
} files[FILES_MAX];

static struct perf_totals *totals;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int (*real_ioctl)(int fd, unsigned long request, void *arg);
static int (*real_close)(int fd);
static pid_t owner; /* a child has inherited the table and none of the perfmons' users */

static void __attribute__((constructor)) start(void)
{
	const char *path = getenv(PERF_FILE_VARIABLE);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map;

	real_ioctl = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	real_close = (int (*)(int))dlsym(RTLD_NEXT, "close");
	owner = getpid();
	if (fd < 0)
		return;
	map = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	real_close(fd);
	if (map != MAP_FAILED)
		totals = map;
}

/* True if the file is one of Tessera's driver: others have ioctls of the same numbers. */
static bool is_tessera(int fd)
{
	char name[16] = "";
	struct drm_version version = { .name_len = sizeof(name) - 1, .name = name };

	return !real_ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "tessera");
}

static bool make_perfmon(int fd)
{
	struct drm_tessera_perfmon_create create = {
		.counters = { (uintptr_t)totals->ids, totals->count, sizeof(totals->ids[0]) },
	};

	if (!is_tessera(fd)) {
		files[fd].kind = FOREIGN;
		return false;
	}
	if (real_ioctl(fd, DRM_IOCTL_TESSERA_PERFMON_CREATE, &create)) {
		__atomic_fetch_add(&totals->refused, 1, __ATOMIC_RELAXED);
		return false;
	}
	files[fd].perfmon = create.perfmon_id;
	files[fd].kind = COUNTED;
	return true;
}

/* Take what has been counted. The lock is held. */
static void collect(int fd)
{
	uint64_t values[PERF_COUNTERS_MAX];
	struct drm_tessera_perfmon_read read = {
		.perfmon_id = files[fd].perfmon,
		.flags = DRM_TESSERA_PERFMON_RESET,
		.values = { (uintptr_t)values, totals->count, sizeof(values[0]) },
	};

	if (files[fd].kind != COUNTED || real_ioctl(fd, DRM_IOCTL_TESSERA_PERFMON_READ, &read))
		return;
	for (uint32_t i = 0; i < totals->count; i++)
		__atomic_fetch_add(&totals->values[i], values[i], __ATOMIC_RELAXED);
	__atomic_fetch_add(&totals->jobs, read.jobs, __ATOMIC_RELAXED);
}

static void __attribute__((destructor)) finish(void)
{
	if (!totals || owner != getpid())
		return;
	pthread_mutex_lock(&lock);
	for (int fd = 0; fd < FILES_MAX; fd++)
		collect(fd);
	pthread_mutex_unlock(&lock);
}

/* SUBMIT with the perfmon in all jobs that have none: from a copy, the program's memory stays. */
static int submit(int fd, const struct drm_tessera_submit *args)
{
	struct drm_tessera_submit ours = *args;
	size_t stride = args->jobs.stride, size = stride * args->jobs.count;
	uint8_t *jobs;
	int ret;

	if (args->jobs.count > DRM_TESSERA_MAX_JOBS || stride > DRM_TESSERA_STRIDE_MAX ||
	    stride < sizeof(struct drm_tessera_job) || !args->jobs.ptr)
		return real_ioctl(fd, DRM_IOCTL_TESSERA_SUBMIT, (void *)args);
	jobs = malloc(size + 1);
	if (!jobs) {
		errno = ENOMEM;
		return -1;
	}
	memcpy(jobs, (void *)(uintptr_t)args->jobs.ptr, size);
	for (uint32_t i = 0; i < args->jobs.count; i++) {
		struct drm_tessera_job *job = (struct drm_tessera_job *)(jobs + i * stride);

		if (job->perfmon_id)
			__atomic_fetch_add(&totals->own, 1, __ATOMIC_RELAXED);
		else
			job->perfmon_id = files[fd].perfmon;
	}
	ours.jobs.ptr = (uintptr_t)jobs;
	ret = real_ioctl(fd, DRM_IOCTL_TESSERA_SUBMIT, &ours);
	free(jobs);
	return ret;
}

/* True if jobs of this file are to be counted, and can be. */
static bool counted(int fd)
{
	bool yes;

	if (!totals || fd < 0 || fd >= FILES_MAX)
		return false;
	pthread_mutex_lock(&lock);
	if (owner != getpid()) {
		memset(files, 0, sizeof(files));
		owner = getpid();
	}
	yes = files[fd].kind == COUNTED || (files[fd].kind == UNKNOWN && make_perfmon(fd));
	pthread_mutex_unlock(&lock);
	return yes;
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request == DRM_IOCTL_TESSERA_SUBMIT && counted(fd))
		return submit(fd, arg);
	return real_ioctl(fd, request, arg);
}

EXPORT int close(int fd)
{
	if (totals && fd >= 0 && fd < FILES_MAX && files[fd].kind != UNKNOWN) {
		pthread_mutex_lock(&lock);
		if (owner == getpid())
			collect(fd);
		files[fd].kind = UNKNOWN;
		pthread_mutex_unlock(&lock);
	}
	return real_close(fd);
}
