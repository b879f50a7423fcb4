/* SPDX-License-Identifier: MIT */
/*
 * Common code of recovery tests: jobs that a reset cancels and jobs that it does not, the reset
 * escalation by hand, the uevent of a device that is given up.
 */
#ifndef GT_RECOVER_H
#define GT_RECOVER_H

#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>

#include "gt.h"
#include "ktap.h"

/* ---- the reset escalation by hand ---- */

__attribute__((unused)) static int climb(const char *rung)
{
	char path[300];

	gt_debugfs("reset", path, sizeof(path));
	return gt_write_file(path, rung);
}

/* ---- work that a reset takes away, and work that it does not ---- */

/* A job that has begun and never ends, and the next job of its queue, which waits. */
struct victim {
	struct gt_ctx c;
	uint32_t begun, behind;		/* binary syncobjs */
};

__attribute__((unused)) static struct victim victim_open(void)
{
	struct victim v = { .c = gt_ctx() };

	v.begun = gt_syncobj(v.c.fd, false);
	v.behind = gt_syncobj(v.c.fd, false);
	memset(gt_data(&v.c, 0), 0, 128);
	return v;
}

/* Run @first, which writes 1 to data 8 when it begins, and a job after it. */
__attribute__((unused)) static void victim_start(struct victim *v, struct gt_cs *first)
{
	struct drm_tessera_sync begun = gt_binary(v->begun), behind = gt_binary(v->behind);
	struct gt_cs fill = gt_stream(&v->c, 8);

	GT_EMIT(&fill, fill_linear, .texel = 8, .dst = gt_data_va(64), .size = 64,
		.pattern_lo = 0x5afe);
	ktap_eq(gt_kick(&v->c, v->c.queue, first, &begun), 0);
	ktap_eq(gt_kick(&v->c, v->c.queue, &fill, &behind), 0);
	ktap_ok(gt_spin_until((uint64_t *)gt_data(&v->c, 8), 1, GT_TIMEOUT_MS));
}

__attribute__((unused)) static struct victim start_victim(void)
{
	struct victim v = victim_open();
	struct gt_cs never = gt_stream(&v.c, 3);

	GT_EMIT(&never, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(8), .value = 1);
	GT_EMIT(&never, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	victim_start(&v, &never);
	return v;
}

/* The job that had begun is lost, the other one runs. The queue is innocent and continues. */
__attribute__((unused)) static void expect_innocent(struct victim *v)
{
	struct drm_tessera_queue_get_state state;

	ktap_eq(gt_fence_error(v->c.fd, v->begun, 0), -ECANCELED);
	ktap_eq(gt_fence_error(v->c.fd, v->behind, 0), 0);
	ktap_eq(((uint64_t *)gt_data(&v->c, 64))[7], 0x5afe);
	state = gt_queue_state(v->c.fd, v->c.queue);
	ktap_eq(state.state, DRM_TESSERA_QUEUE_INNOCENT);
	ktap_eq(state.error, ECANCELED);
	ktap_eq(state.reset_count, 1);
	ktap_eq(state.jobs_completed, 1);
}

__attribute__((unused)) static bool queue_works(struct gt_ctx *c, uint32_t queue)
{
	struct gt_cs cs = gt_stream(c, 8);

	memset(gt_data(c, 0x1000), 0, 64);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0x1000), .size = 64,
		.pattern_lo = 0x900d);
	return gt_run_on(c, queue, &cs) == 0 &&
	       ((volatile uint64_t *)gt_data(c, 0x1000))[7] == 0x900d;
}

__attribute__((unused)) static bool copy_works(struct gt_ctx *c)
{
	return queue_works(c, c->queue);
}

__attribute__((unused)) static int uevents_open(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	if (fd < 0)
		gt_die("no uevents: %s", strerror(errno));
	ktap_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Is this variable, a string of its own, in the message? */
__attribute__((unused)) static bool uevent_has(const char *text, ssize_t size, const char *variable)
{
	ssize_t at;

	for (at = 0; at < size; at += strlen(text + at) + 1) {
		if (!strcmp(text + at, variable))
			return true;
	}
	return false;
}

/* Wait for an event with this variable; does it also have @with, unless that is NULL? */
__attribute__((unused)) static bool uevent_came(int fd, const char *variable, const char *with)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	char text[4096];
	ssize_t size;

	while (poll(&poll_fd, 1, 30000) == 1) {
		size = recv(fd, text, sizeof(text) - 1, 0);
		text[size > 0 ? size : 0] = 0;
		if (uevent_has(text, size, variable))
			return !with || uevent_has(text, size, with);
	}
	return false;
}

/* The driver lets go of the device and takes it again; with @reset PCI resets it in between. */
__attribute__((unused)) static void rebind(bool reset)
{
	char path[300], slot[64];

	gt_pci_slot(slot, sizeof(slot));
	gt_sysfs(0, "reset", path, sizeof(path));
	ktap_eq(gt_driver_write("unbind", slot), 0);
	if (reset)
		ktap_eq(gt_write_file(path, "1"), 0);
	ktap_eq(gt_driver_write("bind", slot), 0);
	gt_wait_node();
}

#endif /* GT_RECOVER_H */
