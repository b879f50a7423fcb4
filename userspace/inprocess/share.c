// SPDX-License-Identifier: MIT
/*
 * Syncobjs of two processes.
 *
 * A syncobj that is exported gets a page which all processes that have it map. Each says there what
 * it has submitted and what of that has signalled; what the others say is looked at every
 * millisecond while there are others. To this process their fences are fences that signal when the
 * page says so.
 *
 * A process that ends with jobs of its own in flight leaves points that never signal, and all
 * fences of others carry 0: the page tells when, not how.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"
#include "real.h"

static const char name[] = "/memfd:tessera-syncobj";

struct page {
	_Atomic uint32_t users;			/* processes that have had it */
	_Atomic uint32_t writer;		/* who has put in the latest fence */
	_Atomic uint64_t latest;		/* fences that were put in */
	_Atomic uint64_t done;			/* the last of them that has signalled */
	_Atomic uint64_t submitted, signalled;	/* points */
};

/* A fence of another process. */
struct remote {
	struct remote *next;
	struct fence *fence;
	uint64_t latest, point;			/* one of them is 0 */
};

struct share {
	struct share *next;
	struct syncobj *syncobj;		/* holds us */
	struct page *page;
	int fd;
	uint64_t mine;				/* number of our latest fence */
	uint64_t seen[3];			/* of the page, at the last look */
	struct remote *remotes;
};

static struct share *shares;

static void raise_to(_Atomic uint64_t *word, uint64_t value)
{
	uint64_t old = atomic_load(word);

	while (old < value && !atomic_compare_exchange_weak(word, &old, value))
		;
}

static struct share *share_new(struct syncobj *s, int fd)
{
	struct share *share = calloc(1, sizeof(*share));
	void *page = MAP_FAILED;

	if (share && fd >= 0)
		page = (void *)syscall(SYS_mmap, NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
				       fd, 0);
	if (page == MAP_FAILED) {
		fd_close(fd);
		free(share);
		return NULL;
	}
	*share = (struct share){ .next = shares, .syncobj = s, .page = page, .fd = fd };
	atomic_fetch_add(&share->page->users, 1);
	shares = share;
	s->share = share;
	return share;
}

void share_free(struct share *share)
{
	struct share **at = &shares;

	if (!share)
		return;
	while (*at != share)
		at = &(*at)->next;
	*at = share->next;
	while (share->remotes) {
		struct remote *r = share->remotes;

		share->remotes = r->next;
		fence_put(r->fence);
		free(r);
	}
	atomic_fetch_sub(&share->page->users, 1);
	munmap(share->page, PAGE);
	fd_close(share->fd);
	free(share);
}

void share_changed(struct syncobj *s, uint64_t point)
{
	struct share *share = s->share;

	if (!share)
		return;
	share->mine = atomic_fetch_add(&share->page->latest, 1) + 1;
	atomic_store(&share->page->writer, (uint32_t)getpid());
	raise_to(&share->page->submitted, point);
}

int share_export(struct syncobj *s)
{
	char path[32];
	int fd;

	if (!s->share) {
		fd = fd_move(memfd_create("tessera-syncobj", MFD_CLOEXEC));
		if (fd >= 0 && syscall(SYS_ftruncate, fd, PAGE)) {
			fd_close(fd);
			fd = -1;
		}
		if (!share_new(s, fd))
			return -ENOMEM;
		if (s->fence)
			share_changed(s, s->count ? s->points[s->count - 1].point : 0);
		share_tell();
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->share->fd);
	fd = real_open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int share_import(struct syncobj *s, int fd)
{
	char path[32], link[sizeof(name)];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (sys_readlink(path, link, sizeof(link)) < (ssize_t)sizeof(name) - 1 ||
	    memcmp(link, name, sizeof(name) - 1))
		return -EINVAL;
	return share_new(s, fd_move(real_open(path, O_RDWR | O_CLOEXEC))) ? 0 : -ENOMEM;
}

static bool remote_done(const struct share *share, const struct remote *r)
{
	return r->point ? atomic_load(&share->page->signalled) >= r->point :
			  atomic_load(&share->page->done) >= r->latest;
}

struct fence *share_find(struct syncobj *s, uint64_t point)
{
	struct share *share = s->share;
	struct remote *r;
	uint64_t latest;

	if (!share)
		return NULL;
	latest = atomic_load(&share->page->latest);
	if (point ? atomic_load(&share->page->submitted) < point :
		    !latest || atomic_load(&share->page->writer) == (uint32_t)getpid())
		return NULL;
	if (point)
		latest = 0;
	for (r = share->remotes; r; r = r->next) {
		if (r->latest == latest && r->point == point)
			return r->fence;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	*r = (struct remote){ share->remotes, fence_new("another process"), latest, point };
	if (!r->fence) {
		free(r);
		return NULL;
	}
	share->remotes = r;
	if (remote_done(share, r))
		fence_signal(r->fence, 0);
	return r->fence;
}

struct fence *share_last(struct syncobj *s, uint64_t point)
{
	uint64_t last = s->share ? atomic_load(&s->share->page->submitted) : 0;

	return last > point ? share_find(s, last) : NULL;
}

void share_tell(void)
{
	struct share *share;

	for (share = shares; share; share = share->next) {
		const struct syncobj *s = share->syncobj;
		unsigned int i = s->count;

		while (i && !s->points[i - 1].fence->signalled)
			i--;
		if (i)
			raise_to(&share->page->signalled, s->points[i - 1].point);
		if (s->fence && s->fence->signalled)
			raise_to(&share->page->done, share->mine);
	}
}

bool shares_watched(void)
{
	const struct share *share;

	for (share = shares; share; share = share->next) {
		if (atomic_load(&share->page->users) > 1)
			return true;
	}
	return false;
}

/* Applies news of other processes: signals fences, and wakes waiters for submissions. */
static bool look(struct share *share)
{
	const uint64_t now[3] = { atomic_load(&share->page->latest),
				  atomic_load(&share->page->done),
				  atomic_load(&share->page->signalled) };
	struct remote **at = &share->remotes;

	if (!memcmp(now, share->seen, sizeof(now)))
		return false;
	memcpy(share->seen, now, sizeof(now));
	while (*at) {
		struct remote *r = *at;

		if (!remote_done(share, r)) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		fence_signal(r->fence, 0);
		fence_put(r->fence);
		free(r);
	}
	return true;
}

void shares_look(void)
{
	struct share *share;
	bool any = false;

	for (share = shares; share; share = share->next)
		any |= look(share);
	if (any)
		drv_changed();
}

void shares_forget(void)
{
	shares = NULL;
}
