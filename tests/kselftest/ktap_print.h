/* SPDX-License-Identifier: MIT */
/*
 * The lines of ktap.h, printed with kselftest.h. A machine without the driver is no failure of it.
 */
#ifndef TSR_KTAP_PRINT_H
#define TSR_KTAP_PRINT_H

#include <stdbool.h>
#include <unistd.h>

#include "kselftest.h"

__attribute__((unused))
static void ktap_print_start(void)
{
	ksft_print_header();
	if (access("/sys/bus/pci/drivers/tessera", F_OK))
		ksft_exit_skip("the driver tessera is not loaded\n");
}

__attribute__((unused))
static void ktap_print_note(const char *line)
{
	ksft_print_msg("%s\n", line);
}

/* A test that is over: it is @bad, or skipped for the reason @skip unless that is empty. */
__attribute__((unused))
static void ktap_print_result(unsigned int number, const char *name, bool bad, const char *skip)
{
	if (bad)
		ksft_test_result_fail("%s\n", name);
	else if (*skip)
		ksft_test_result_skip("%s: %s\n", name, skip);
	else
		ksft_test_result_pass("%s\n", name);
}

/* Nobody counts tests by hand: the plan comes last, as TAP allows. */
__attribute__((unused))
static void ktap_print_plan(unsigned int count)
{
	ksft_set_plan(count);
	ksft_print_cnts();
}

#endif /* TSR_KTAP_PRINT_H */
