// SPDX-License-Identifier: MIT
/*
 * Preloaded into a program that animates: gettimeofday() always returns the same time. Programs
 * that turn something by the clock then draw one picture, which can be compared. Toolkits measure
 * time by clock_gettime(), which goes on.
 */
#include <stddef.h>
#include <sys/time.h>

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	(void)zone;
	*tv = (struct timeval){ .tv_sec = 1000, .tv_usec = 0 };
	return 0;
}
