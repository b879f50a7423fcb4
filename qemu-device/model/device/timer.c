/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "timer.h"

void tsr_timer_init(struct tsr_timer *timer, const struct tsr_host_ops *ops, void *host)
{
	timer->ops = ops;
	timer->host = host;
	timer->due = UINT64_MAX;
	timer->users = 0;
}

void tsr_timer_add(struct tsr_timer *timer, const struct tsr_timer_user *user)
{
	if (timer->users == TSR_TIMER_USERS)
		abort();
	timer->user[timer->users++] = *user;
}

void tsr_timer_want(struct tsr_timer *timer, uint64_t when)
{
	uint64_t now;

	if (when >= timer->due)
		return;
	now = timer->ops->clock(timer->host);
	if (when <= now)
		when = now + TSR_TIMER_LATE_NS;
	if (when >= timer->due)
		return;
	timer->due = when;
	timer->ops->set_timer(timer->host, when);
}

void tsr_timer_lapse(struct tsr_timer *timer)
{
	timer->due = UINT64_MAX;
}

void tsr_timer_restart(struct tsr_timer *timer)
{
	uint64_t now = timer->ops->clock(timer->host);

	tsr_timer_lapse(timer);
	for (unsigned int i = 0; i < timer->users; i++)
		timer->user[i].arm(timer->user[i].opaque, now);
}

void tsr_timer_expired(struct tsr_timer *timer)
{
	uint64_t now = timer->ops->clock(timer->host);

	tsr_timer_lapse(timer);
	for (unsigned int i = 0; i < timer->users; i++) {
		if (timer->user[i].expired)
			timer->user[i].expired(timer->user[i].opaque, now);
	}
	tsr_timer_restart(timer);
}
