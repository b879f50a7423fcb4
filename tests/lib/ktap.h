/* SPDX-License-Identifier: MIT */
/*
 * KTAP output for test programs, host and guest. Header only, no dependency but libc.
 *
 * A program calls ktap_start(), then ktap_run() for each test function, then returns
 * ktap_finish(). Inside a test function, the checks ktap_ok(), ktap_eq() ... record a failure with
 * file, line and values and let the function go on; KTAP_REQUIRE() returns from it. A test that
 * cannot run here calls ktap_skip() with the reason and returns.
 *
 * Checks may be used from several threads of one test; tests themselves run one after the other.
 * The plan line is printed at the end (TAP allows it), so nobody counts tests by hand; a program
 * that dies on the way has no plan and counts as failed.
 *
 * Command line arguments of the program can select tests: see ktap_start_args().
 */
#ifndef TSR_KTAP_H
#define TSR_KTAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktap_print.h"

/* The state of one program's run. Everything starts at zero. */
struct ktap_state {
	unsigned int ran;		/* tests finished so far, the last number printed */
	unsigned int failed;		/* how many of them failed */
	atomic_uint bad;		/* failed checks in the running test */
	char skip[200];			/* reason to skip the running test, "" when none */
	int argc;			/* tests selected on the command line; 0 = all */
	char **argv;			/* their names or parts of them */
};

/* One for the whole program, however many files include this: weak definitions are merged. */
__attribute__((weak)) struct ktap_state ktap;

/* ktap_note(): a diagnostic line, "# text". The text should not hold newlines. */
__attribute__((format(printf, 1, 2), unused))
static void ktap_note(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	ktap_print_note(line);
}

/* ktap_start(): print the version line. Call it first. */
__attribute__((unused))
static void ktap_start(void)
{
	ktap_print_start();
}

/* ktap_start_args(): the same, and run only tests whose description holds one of the arguments. */
__attribute__((unused))
static void ktap_start_args(int argc, char **argv)
{
	ktap.argc = argc - 1;
	ktap.argv = argv + 1;
	ktap_start();
}

/* ktap_wanted(): whether the command line selects the test called @name. */
__attribute__((unused))
static bool ktap_wanted(const char *name)
{
	int i;

	for (i = 0; i < ktap.argc; i++) {
		if (strstr(name, ktap.argv[i]))
			return true;
	}
	return ktap.argc == 0;
}

/* ktap_skip(): end the running test as skipped; return from it afterwards. */
__attribute__((format(printf, 1, 2), unused))
static void ktap_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ktap.skip, sizeof(ktap.skip), fmt, ap);
	va_end(ap);
}

/* ktap_result(): print the line of a test that is over, from the checks recorded since the last. */
__attribute__((unused))
static void ktap_result(const char *name)
{
	unsigned int bad = atomic_exchange(&ktap.bad, 0);

	ktap.ran++;
	if (bad)
		ktap.failed++;
	ktap_print_result(ktap.ran, name, bad, ktap.skip);
	ktap.skip[0] = '\0';
}

/* ktap_run(): run one test function and print its line. @name may start with "[ID] ". */
__attribute__((unused))
static void ktap_run(const char *name, void (*fn)(void))
{
	if (!ktap_wanted(name))
		return;
	fn();
	ktap_result(name);
}

/* ktap_run_arg(): the same for a function with an argument (a table row, a variant). */
__attribute__((unused))
static void ktap_run_arg(const char *name, void (*fn)(const void *arg), const void *arg)
{
	if (!ktap_wanted(name))
		return;
	fn(arg);
	ktap_result(name);
}

/* ktap_finish(): print the plan; the exit status of the program. No test at all is a failure. */
__attribute__((unused))
static int ktap_finish(void)
{
	ktap_print_plan(ktap.ran);
	return ktap.failed || !ktap.ran ? EXIT_FAILURE : EXIT_SUCCESS;
}

__attribute__((format(printf, 3, 4), unused))
static bool ktap_fail_at(const char *file, int line, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	atomic_fetch_add(&ktap.bad, 1);
	ktap_note("%s (%s:%d)", text, file, line);
	return false;
}

__attribute__((unused))
static bool ktap_ok_at(const char *file, int line, const char *what, bool held)
{
	return held ? true : ktap_fail_at(file, line, "not true: %s", what);
}

/*
 * Integers are compared as 64-bit patterns and shown in hex and in decimal, so -EINVAL, a handle
 * and an address all read well.
 */
__attribute__((unused))
static bool ktap_eq_at(const char *file, int line, const char *what, uint64_t got, uint64_t want)
{
	if (got == want)
		return true;
	return ktap_fail_at(file, line, "%s: expected 0x%" PRIx64 " (%" PRId64 "), got 0x%" PRIx64
			    " (%" PRId64 ")", what, want, (int64_t)want, got, (int64_t)got);
}

__attribute__((unused))
static bool ktap_mem_eq_at(const char *file, int line, const char *what, const void *got,
			   const void *want, size_t size)
{
	const unsigned char *g = got, *w = want;
	size_t i;

	for (i = 0; i < size; i++) {
		if (g[i] != w[i])
			return ktap_fail_at(file, line,
					    "%s: byte %zu of %zu: expected 0x%02x, got 0x%02x",
					    what, i, size, w[i], g[i]);
	}
	return true;
}

/* Checks: each evaluates to whether it held. got comes first, want second. */
#define ktap_ok(cond) \
	ktap_ok_at(__FILE__, __LINE__, #cond, (cond))
#define ktap_eq(got, want) \
	ktap_eq_at(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(want))
#define ktap_mem_eq(got, want, size) \
	ktap_mem_eq_at(__FILE__, __LINE__, #got, got, want, size)
#define ktap_fail(...) ktap_fail_at(__FILE__, __LINE__, __VA_ARGS__)

/* KTAP_REQUIRE(): a check without which the rest of the (void) test function makes no sense. */
#define KTAP_REQUIRE(cond) \
	do { \
		if (!ktap_ok(cond)) \
			return; \
	} while (0)

#endif /* TSR_KTAP_H */
