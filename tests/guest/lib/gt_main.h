/* SPDX-License-Identifier: MIT */
/*
 * Start and end of a guest test program: besides its own tests, each one checks that the kernel
 * reported no bug of its own (WARN, Oops, lockdep, KFENCE, an IOMMU fault, ...) while it ran.
 */
#ifndef GT_MAIN_H
#define GT_MAIN_H

#include "gt.h"

#include <signal.h>

#include "ktap.h"

static int gt_kmsg_fd = -1;

static void gt_start(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	gt_kmsg_fd = gt_kmsg_open();
	ktap_start_args(argc, argv);
}

static void gt_check_log(void)
{
	char line[600];

	if (gt_kmsg_fd < 0) {
		ktap_fail("/dev/kmsg cannot be read");
		return;
	}
	if (gt_kmsg_bad(gt_kmsg_fd, line, sizeof(line)))
		ktap_fail("the kernel log says: %s", line);
}

/* gt_finish(): the last test and the exit status. */
static int gt_finish(void)
{
	gt_check_log();
	ktap_result("the kernel log is free of warnings");
	return ktap_finish();
}

#endif /* GT_MAIN_H */
