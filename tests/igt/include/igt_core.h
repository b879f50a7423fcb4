/* SPDX-License-Identifier: MIT */
/*
 * The part of IGT's header of this name that drm_contract.c needs, for hosts that have IGT's
 * library and not its source. The functions are those of libigt.so. IGT_SOURCE=DIR uses the header
 * of that source instead.
 */
#ifndef IGT_CORE_H
#define IGT_CORE_H

#include <getopt.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IGT_OPT_HANDLER_SUCCESS = 0, IGT_OPT_HANDLER_ERROR = -2 };
enum igt_log_level { IGT_LOG_DEBUG, IGT_LOG_INFO, IGT_LOG_WARN, IGT_LOG_CRITICAL, IGT_LOG_NONE };

typedef int (*igt_opt_handler_t)(int opt, int opt_index, void *data);

extern jmp_buf igt_subtest_jmpbuf;

int igt_subtest_init_parse_opts(int *argc, char **argv, const char *short_opts,
				const struct option *long_opts, const char *help,
				igt_opt_handler_t handler, void *data);
void igt_exit(void) __attribute__((noreturn));
bool __igt_fixture(void);
void __igt_fixture_complete(void);
bool __igt_run_subtest(const char *name, const char *file, const int line);
void igt_success(void);
__attribute__((format(printf, 1, 2))) void igt_describe_f(const char *format, ...);
__attribute__((format(printf, 3, 4)))
void igt_log(const char *domain, enum igt_log_level level, const char *format, ...);
__attribute__((format(printf, 5, 6), noreturn))
void __igt_skip_check(const char *file, const int line, const char *function, const char *check,
		      const char *format, ...);
__attribute__((format(printf, 6, 7), noreturn))
void __igt_fail_assert(const char *domain, const char *file, const int line, const char *function,
		       const char *assertion, const char *format, ...);

#define IGT_TEST_DESCRIPTION(text)	const char *__igt_test_description = (text)

#define igt_main_args(short_opts, long_opts, help, handler, data)			\
	main(int argc, char **argv);							\
	static void test_main(void);							\
	int main(int argc, char **argv)							\
	{										\
		igt_subtest_init_parse_opts(&argc, argv, short_opts, long_opts, help,	\
					    handler, data);				\
		test_main();								\
		igt_exit();								\
	}										\
	static void test_main(void)

#define igt_fixture()									\
	for (volatile bool over_ = false;						\
	     !over_ && __igt_fixture() && !sigsetjmp(igt_subtest_jmpbuf, 1);		\
	     over_ = true, __igt_fixture_complete())

#define igt_subtest(name)								\
	for (; __igt_run_subtest(name, __FILE__, __LINE__) &&				\
	       !sigsetjmp(igt_subtest_jmpbuf, 1);					\
	     igt_success())

#define igt_warn(...)	igt_log(NULL, IGT_LOG_WARN, __VA_ARGS__)

#define igt_require_f(condition, ...)							\
	do {										\
		if (!(condition))							\
			__igt_skip_check(__FILE__, __LINE__, __func__, #condition,	\
					 __VA_ARGS__);					\
	} while (0)

#define igt_assert_f(condition, ...)							\
	do {										\
		if (!(condition))							\
			__igt_fail_assert(NULL, __FILE__, __LINE__, __func__,		\
					  #condition, __VA_ARGS__);			\
	} while (0)

#endif /* IGT_CORE_H */
