// SPDX-License-Identifier: MIT
/*
 * The driver's lock.
 *
 * The kernel runs no signal handler of a program inside of an ioctl, and ioctl() is no cancellation
 * point. The holder of the lock therefore has all signals blocked and cancellation disabled. A
 * handler may then call close(), dup() or an ioctl: its thread never holds the lock already.
 *
 * Signals of a fault of our own (SIGSEGV and its kind) stay as they are, so that debuggers and
 * sanitizers see them where they happen.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver.h"

#define SIGNAL_BIT(n)	(1ull << ((n) - 1))
#define FAULTS		(SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) | \
			 SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSYS))

/* The holder's; belongs to the lock. */
static struct lock_state saved;
/* The thread is the driver's own: no signal reaches it, and nobody cancels it. */
static _Thread_local bool own;

/* The C library's functions leave out its own signals, one of which cancels threads. */
static void set_mask(int how, const uint64_t *mask, uint64_t *old)
{
	syscall(SYS_rt_sigprocmask, how, mask, old, sizeof(*mask));
}

void lock_init(void)
{
	drv.lock = (pthread_mutex_t)LOCK_INITIALIZER;
}

void lock_own_thread(void)
{
	own = true;
}

void lock_enter(void)
{
	const uint64_t all = ~FAULTS;
	uint64_t mask = UINT64_MAX;
	int cancel = PTHREAD_CANCEL_DISABLE;

	if (!own) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
		set_mask(SIG_BLOCK, &all, &mask);
	}
	pthread_mutex_lock(&drv.lock);
	saved.mask = mask;
	saved.cancel = cancel;
}

static void restore(uint64_t mask, int cancel)
{
	set_mask(SIG_SETMASK, &mask, NULL);
	pthread_setcancelstate(cancel, NULL);
}

void lock_leave(void)
{
	const uint64_t mask = saved.mask;
	const int cancel = saved.cancel;

	pthread_mutex_unlock(&drv.lock);
	if (!own)
		restore(mask, cancel);
}

struct lock_state lock_pause(void)
{
	const struct lock_state state = saved;

	pthread_mutex_unlock(&drv.lock);
	return state;
}

void lock_resume(struct lock_state state)
{
	pthread_mutex_lock(&drv.lock);
	saved = state;
}

void lock_forked(void)
{
	lock_init();
	restore(saved.mask, saved.cancel);
}

bool lock_interrupted(void)
{
	uint64_t pending = 0;
	int n;

	syscall(SYS_rt_sigpending, &pending, sizeof(pending));
	pending &= ~saved.mask;
	for (n = 1; n <= 64 && pending; n++) {
		struct sigaction action;

		if (!(pending & SIGNAL_BIT(n)) || sigaction(n, NULL, &action))
			continue;
		if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
		    !(action.sa_flags & SA_RESTART))
			return true;
	}
	return false;
}
