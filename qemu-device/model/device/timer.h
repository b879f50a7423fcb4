/* SPDX-License-Identifier: MIT */
/*
 * The timer: one timer of the host, shared by the parts of the device that need a clock.
 *
 * In: the time that each part requests, the host's timer. Out: at each expiration every part does
 * its due work and requests its next time. Reset state: no time is requested. A timer that is no
 * longer needed is left to expire, because moving it with each job would cost more. Limits:
 * TSR_TIMER_USERS parts. All functions need the device's lock.
 */
#ifndef TSR_TIMER_H
#define TSR_TIMER_H

#include <stdint.h>

#include "tsr_gpu.h"

#define TSR_TIMER_USERS 4
/*
 * A time that has passed is replaced by one so many nanoseconds ahead. A host runs timers until
 * none is due, so a part that always asks for a time in the past would keep it from everything
 * else.
 */
#define TSR_TIMER_LATE_NS 1000

/* A part of the device that does things by the clock. */
struct tsr_timer_user {
	/* Do what is due at host clock @now; may be NULL. */
	void (*expired)(void *opaque, uint64_t now);
	/* Call tsr_timer_want() with the time that is needed then, if there is one. */
	void (*arm)(void *opaque, uint64_t now);
	void *opaque;			/* argument of both */
};

struct tsr_timer {
	const struct tsr_host_ops *ops;	/* whose timer and clock it is, with their argument */
	void *host;
	uint64_t due;			/* host clock of the timer asked for, UINT64_MAX: none */
	struct tsr_timer_user user[TSR_TIMER_USERS];	/* in the order in which they are called */
	unsigned int users;
};

void tsr_timer_init(struct tsr_timer *timer, const struct tsr_host_ops *ops, void *host);
/* Another part, called after those that are there. */
void tsr_timer_add(struct tsr_timer *timer, const struct tsr_timer_user *user);
/*
 * Have tsr_timer_expired() called at host clock @when at the latest, or in TSR_TIMER_LATE_NS if
 * that has passed.
 */
void tsr_timer_want(struct tsr_timer *timer, uint64_t when);
/* The host's timer has expired. */
void tsr_timer_expired(struct tsr_timer *timer);
/* It has expired while nothing is to be done: tsr_timer_restart() will follow. */
void tsr_timer_lapse(struct tsr_timer *timer);
/* Ask the host for the timer that is needed now, whatever it was asked before. */
void tsr_timer_restart(struct tsr_timer *timer);

#endif
