// SPDX-License-Identifier: MIT
/*
 * poll() of dma-bufs, which are files of memory here: it waits for the fences that were imported,
 * as Documentation/driver-api/dma-buf.rst of Linux says.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"
#include "real.h"

typedef int (*ppoll_function)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

static ppoll_function real_ppoll(void)
{
	return REAL(ppoll, int, struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
}

/* Returns true if a dma-buf is polled, which libc's poll() does not know. */
static bool any_dmabuf(struct pollfd *fds, nfds_t count)
{
	nfds_t i;

	for (i = 0; i < count; i++) {
		if (ufile_peek(fds[i].fd) == UFILE_DMABUF && fds[i].events & (POLLIN | POLLOUT) &&
		    ufile_look(fds[i].fd, NULL) == UFILE_DMABUF)
			return true;
	}
	return false;
}

/*
 * Replace a dma-buf for libc's poll(): by nothing if it is ready (its revents say so), else by the
 * sync file of the fence that it waits for. *error is set if there is no descriptor for that.
 * Returns false if it is no dma-buf.
 */
static bool replace(struct pollfd *of, struct pollfd *by, int *error)
{
	struct ufile *u;
	int wait = -1;

	if (ufile_peek(of->fd) != UFILE_DMABUF || !(of->events & (POLLIN | POLLOUT)))
		return false;
	drv_lock();
	u = ufile_get(of->fd);
	if (!u || u->kind != UFILE_DMABUF || u->dead) {
		ufile_put(u);
		drv_unlock();
		return false;
	}
	of->revents = dmabuf_poll(u, of->events, &wait);
	ufile_put(u);
	drv_unlock();
	if (!of->revents && wait < 0)
		*error = -wait;
	*by = (struct pollfd){ .fd = wait, .events = POLLIN };
	return true;
}

/* Close the sync files; how many descriptors are ready. */
static int collect(struct pollfd *fds, struct pollfd *use, const bool *replaced, nfds_t count)
{
	int ready = 0;
	nfds_t i;

	for (i = 0; i < count; i++) {
		if (!replaced[i]) {
			fds[i].revents = use[i].revents;
		} else if (use[i].fd >= 0) {
			ufile_close(use[i].fd);
			sys_close(use[i].fd);
		}
		ready += !!fds[i].revents;
	}
	return ready;
}

/* One look at all; *again if a dma-buf has changed while poll() waited. */
static int look(struct pollfd *fds, struct pollfd *use, bool *replaced, nfds_t count,
		const struct timespec *left, const sigset_t *mask, bool *again)
{
	static const struct timespec now;
	int ret, error = 0, sum;
	bool ready = false;
	nfds_t i;

	memcpy(use, fds, count * sizeof(*use));
	for (i = 0; i < count; i++) {
		replaced[i] = replace(&fds[i], &use[i], &error);
		ready |= replaced[i] && fds[i].revents;
	}
	ret = error ? -1 : real_ppoll()(use, count, ready ? &now : left, mask);
	if (!error)
		error = errno;
	*again = false;
	for (i = 0; i < count && ret > 0; i++)
		*again |= replaced[i] && use[i].fd >= 0 && use[i].revents;
	sum = collect(fds, use, replaced, count);
	if (ret < 0) {
		errno = error;
		return -1;
	}
	*again &= !sum;
	return sum;
}

static int poll_until(struct pollfd *fds, nfds_t count, uint64_t end, const sigset_t *mask)
{
	struct pollfd *use = calloc(count, sizeof(*use));
	bool *replaced = calloc(count, sizeof(*replaced)), again = true;
	struct timespec left;
	uint64_t now;
	int ret = 0;

	if (!use || !replaced) {
		errno = ENOMEM;
		ret = -1;
	}
	while (!ret && again) {
		now = now_ns();
		now = end > now ? end - now : 0;
		left = (struct timespec){ (time_t)(now / 1000000000), (long)(now % 1000000000) };
		ret = look(fds, use, replaced, count, end == UINT64_MAX ? NULL : &left, mask,
			   &again);
	}
	free(use);
	free(replaced);
	return ret;
}

EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (!any_dmabuf(fds, count))
		return REAL(poll, int, struct pollfd *, nfds_t, int)(fds, count, timeout);
	return poll_until(fds, count,
			  timeout < 0 ? UINT64_MAX : now_ns() + (uint64_t)timeout * 1000000, NULL);
}

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask)
{
	if (!any_dmabuf(fds, count))
		return real_ppoll()(fds, count, timeout, mask);
	return poll_until(fds, count, !timeout ? UINT64_MAX :
			  now_ns() + (uint64_t)timeout->tv_sec * 1000000000 +
			  (uint64_t)timeout->tv_nsec, mask);
}

/* Programs with _FORTIFY_SOURCE call these, with the size of the array. */
__attribute__((noreturn)) void __chk_fail(void);

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room)
{
	if (room / sizeof(*fds) < count)
		__chk_fail();
	return poll(fds, count, timeout);
}

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		const sigset_t *mask, size_t room);
EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		       const sigset_t *mask, size_t room)
{
	if (room / sizeof(*fds) < count)
		__chk_fail();
	return ppoll(fds, count, timeout, mask);
}
