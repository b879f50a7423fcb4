// SPDX-License-Identifier: MIT
/* Fences as sync files, and names of errors. */
#include "contract.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <linux/sync_file.h>

uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

const char *error_name(int error)
{
	const char *name;

	if (error == -ETIME)
		return "never";
	if (error == NO_ANSWER)
		return "no answer";
	name = error ? strerrorname_np(-error) : "0";
	return name ? name : "?";
}

int fence_error(int fence)
{
	struct sync_file_info info = { 0 };

	if (ioctl(fence, SYNC_IOC_FILE_INFO, &info))
		return -errno;
	if (!info.status)
		return -ETIME;
	return info.status < 0 ? info.status : 0;
}

/* Events are handled meanwhile, so that one that is sent too early is noticed. */
int fence_wait(struct monitor *m, int fence, unsigned int ms)
{
	uint64_t until = now_ms() + ms;

	if (fence < 0)
		return fence;
	for (;;) {
		struct pollfd polled[2] = {
			{ .fd = fence, .events = POLLIN },
			{ .fd = m->uevents, .events = POLLIN },
		};
		uint64_t now = now_ms();

		if (poll(polled, 2, now < until ? until - now : 0) <= 0 && now >= until)
			break;
		if (polled[1].revents)
			monitor_poll(m, 0);
		if (polled[0].revents)
			break;
	}
	return fence_error(fence);
}

int fence_merge(int a, int b)
{
	struct sync_merge_data merge = { .name = "contract", .fd2 = b };

	if (a < 0 || b < 0)
		return -EINVAL;
	return ioctl(a, SYNC_IOC_MERGE, &merge) ? -errno : merge.fence;
}
