// SPDX-License-Identifier: MIT
/*
 * Fences of dma-bufs between processes.
 *
 * A dma-buf has the fences that were imported into it, and each process has its own. Another
 * process that has the dma-buf must wait for them, too: a compositor would show a window that is
 * half drawn.
 *
 * A process that imports a fence locks a byte far after the end of the memfd, one for fences of
 * writes and one for fences of reads, and unlocks it when the fence signals. A process that asks
 * for the fences waits until no other one holds the byte. The locks are shared ones of the open
 * file. They exclude no process, all that have the memfd see them, and they end with a process that
 * is killed. Nothing announces an unlock, so the process that waits looks every millisecond.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver.h"

#define LOCK_BASE	(1ll << 62)	/* of the two bytes; no BO is as large */
#define LOOK_NS		1000000

/* A fence that others wait for. */
struct told {
	struct told *next;
	struct bo *bo;
	struct fence *fence;
	bool write;
};

static struct told *told;

static int lock(const struct bo *bo, bool write, short type)
{
	struct flock range = { .l_type = type, .l_whence = SEEK_SET, .l_start = LOCK_BASE + write,
			       .l_len = 1 };

	return syscall(SYS_fcntl, bo->fd, F_OFD_SETLK, &range) ? -errno : 0;
}

/* Returns true if another process has pending fences of that kind. */
static bool held(const struct bo *bo, bool write)
{
	struct flock range = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
			       .l_start = LOCK_BASE + write, .l_len = 1 };

	return !syscall(SYS_fcntl, bo->fd, F_OFD_GETLK, &range) && range.l_type != F_UNLCK;
}

int neighbors_tell(struct bo *bo, struct fence *fence, bool write)
{
	struct told *t;
	int ret;

	if (fence->signalled)
		return 0;
	t = malloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	ret = lock(bo, write, F_RDLCK);
	if (ret) {
		free(t);
		return ret;
	}
	*t = (struct told){ told, bo_get(bo), fence_get(fence), write };
	told = t;
	return 0;
}

static bool is_told(const struct bo *bo, bool write)
{
	const struct told *t;

	for (t = told; t; t = t->next) {
		if (t->bo == bo && t->write == write)
			return true;
	}
	return false;
}

void neighbors_look(void)
{
	struct told **at = &told, *done = NULL, *t;

	while ((t = *at)) {
		if (!t->fence->signalled) {
			at = &t->next;
			continue;
		}
		*at = t->next;
		t->next = done;
		done = t;
	}
	while ((t = done)) {
		done = t->next;
		if (!is_told(t->bo, t->write))
			lock(t->bo, t->write, F_UNLCK);
		fence_put(t->fence);
		bo_put(t->bo);
		free(t);
	}
}

int neighbors_wait(struct bo *bo, bool write)
{
	int ret = 0;

	/* what reads waits for writes, what writes for everything */
	while (ret != -EINTR && (held(bo, true) || (write && held(bo, false))))
		ret = drv_wait((int64_t)now_ns() + LOOK_NS);
	return ret == -EINTR ? ret : 0;
}

void neighbors_forget(void)
{
	told = NULL;
}
