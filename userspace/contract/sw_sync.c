// SPDX-License-Identifier: MIT
/*
 * The adapter for sw_sync, fences that user space makes and signals (CONFIG_SW_SYNC, debugfs). A
 * context is a timeline; a job is a point of it.
 */
#include "contract.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/types.h>

/* From drivers/dma-buf/sw_sync.c, which has no header. */
struct sw_sync_create_fence_data {
	__u32 value;
	char name[32];
	__s32 fence;
};
#define SW_SYNC_IOC_CREATE_FENCE	_IOWR('W', 0, struct sw_sync_create_fence_data)
#define SW_SYNC_IOC_INC			_IOW('W', 1, __u32)

struct context {
	int timeline;
	unsigned int points, done;
	unsigned int never;		/* the first point that is not to signal, or 0 */
	bool held, finished;		/* a long job is not to end yet; it has ended */
};

static const char *path;

static int sw_sync_open(const char *node)
{
	path = node;
	return access(node, R_OK | W_OK) ? -errno : 0;
}

static void sw_sync_close(void)
{
}

static void *sw_sync_context_new(void)
{
	struct context *c = calloc(1, sizeof(*c));

	c->timeline = open(path, O_RDWR | O_CLOEXEC);
	return c->timeline < 0 ? NULL : c;
}

/* Signal all points that may. */
static void settle(struct context *c)
{
	unsigned int last = c->never ? c->never - 1 : c->points;
	__u32 by = last > c->done ? last - c->done : 0;

	if (c->held || !by)
		return;
	c->done = last;
	ioctl(c->timeline, SW_SYNC_IOC_INC, &by);
}

static int sw_sync_job(void *context, enum job_kind kind)
{
	struct context *c = context;
	struct sw_sync_create_fence_data data = { .value = c->points + 1, .name = "contract" };

	if (kind == JOB_FAULT || kind == JOB_MALFORMED || kind == JOB_BIN)
		return -EOPNOTSUPP;
	if (ioctl(c->timeline, SW_SYNC_IOC_CREATE_FENCE, &data))
		return -errno;
	c->points++;
	c->held |= kind == JOB_LONG || kind == JOB_GATE;
	if (kind == JOB_NEVER && !c->never)
		c->never = c->points;
	settle(c);
	return data.fence;
}

static uint64_t sw_sync_tend(void *context, bool finish)
{
	struct context *c = context;

	if (finish && !c->finished) {
		c->finished = true;
		c->held = false;
		settle(c);
	}
	return 1;
}

const struct contract_driver sw_sync_driver = {
	.name = "sw_sync",
	.fences_only = true,
	.open = sw_sync_open,
	.context_new = sw_sync_context_new,
	.job = sw_sync_job,
	.tend = sw_sync_tend,
	.close = sw_sync_close,
};
