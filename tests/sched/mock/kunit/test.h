/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
/*
 * As much of KUnit as the kernel's tests of drm_sched use. Debian's kernels are built without
 * KUnit, which changes struct module, so no module can add it. tests/sched/mock/run.c is the rest.
 *
 * An assertion that fails is printed and counted, and the test goes on.
 */
#ifndef __SCHED_MOCK_KUNIT_TEST_H__
#define __SCHED_MOCK_KUNIT_TEST_H__

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait.h>

#define KUNIT_PARAM_DESC_SIZE 128

struct kunit {
	void *priv;
	const void *param_value;
	/** @memory: Allocations and devices, which end with the test. */
	struct list_head memory;
	struct mutex lock;
	unsigned int failed;
};

enum kunit_speed { KUNIT_SPEED_NORMAL, KUNIT_SPEED_SLOW };

struct kunit_attributes {
	enum kunit_speed speed;
};

struct kunit_case {
	const char *name;
	void (*run_case)(struct kunit *test);
	const void *(*generate_params)(const void *prev, char *desc);
	struct kunit_attributes attr;
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

void *kunit_kmalloc(struct kunit *test, size_t size, gfp_t gfp);
void kunit_fail(struct kunit *test, const char *file, int line, const char *what);
int sched_mock_run(struct kunit_suite *const *suites, unsigned int count);
void sched_mock_sleep(unsigned long us);

/*
 * fsleep() lets a sleep last a quarter longer, until the next timer interrupt. Jobs of the mock end
 * with timer interrupts, so clients would wake up together with the jobs of others.
 */
#define fsleep(us) sched_mock_sleep(us)

static inline void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	return kunit_kmalloc(test, size, gfp | __GFP_ZERO);
}

static inline void *kunit_kcalloc(struct kunit *test, size_t n, size_t size, gfp_t gfp)
{
	return kunit_kzalloc(test, size_mul(n, size), gfp);
}

#define KUNIT_CHECK(test, condition, what) \
	((condition) ? (void)0 : kunit_fail(test, __FILE__, __LINE__, what))
#define KUNIT_ASSERT_TRUE(test, a) KUNIT_CHECK(test, a, #a)
#define KUNIT_ASSERT_FALSE(test, a) KUNIT_CHECK(test, !(a), "!" #a)
#define KUNIT_ASSERT_EQ(test, a, b) KUNIT_CHECK(test, (a) == (b), #a " == " #b)
#define KUNIT_ASSERT_NOT_NULL(test, a) KUNIT_CHECK(test, (a) != NULL, #a " != NULL")
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(test, a) KUNIT_CHECK(test, !IS_ERR_OR_NULL(a), #a)
#define KUNIT_FAIL(test, what) kunit_fail(test, __FILE__, __LINE__, what)

#define KUNIT_CASE_SLOW(f) { .name = #f, .run_case = f }
#define KUNIT_CASE_PARAM_ATTR(f, generate, attributes) \
	{ .name = #f, .run_case = f, .generate_params = generate, .attr = attributes }

#define KUNIT_ARRAY_PARAM(prefix, array, describe)					\
	static const void *prefix##_gen_params(const void *prev, char *desc)		\
	{										\
		typeof(&(array)[0]) next = prev ? (typeof(&(array)[0]))prev + 1 : (array);	\
											\
		if (next - (array) >= ARRAY_SIZE(array))				\
			return NULL;							\
		describe(next, desc);							\
		return next;								\
	}

#define kunit_test_suites(...)								\
	static struct kunit_suite *const sched_mock_suites[] = { __VA_ARGS__ };		\
	static int __init sched_mock_init(void)						\
	{										\
		return sched_mock_run(sched_mock_suites, ARRAY_SIZE(sched_mock_suites));	\
	}										\
	module_init(sched_mock_init)

#endif
