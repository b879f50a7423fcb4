/* SPDX-License-Identifier: MIT */
/*
 * The lines of ktap.h. The kernel's selftests have a file of this name that prints them with
 * kselftest.h (tests/kselftest/).
 */
#ifndef TSR_KTAP_PRINT_H
#define TSR_KTAP_PRINT_H

#include <stdbool.h>
#include <stdio.h>

__attribute__((unused))
static void ktap_print_start(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n");
}

__attribute__((unused))
static void ktap_print_note(const char *line)
{
	printf("# %s\n", line);
	fflush(stdout);
}

/* A test that is over: it is @bad, or skipped for the reason @skip unless that is empty. */
__attribute__((unused))
static void ktap_print_result(unsigned int number, const char *name, bool bad, const char *skip)
{
	if (!bad && *skip)
		printf("ok %u - %s # SKIP %s\n", number, name, skip);
	else
		printf("%sok %u - %s\n", bad ? "not " : "", number, name);
	fflush(stdout);
}

__attribute__((unused))
static void ktap_print_plan(unsigned int count)
{
	printf("1..%u\n", count);
	fflush(stdout);
}

#endif /* TSR_KTAP_PRINT_H */
