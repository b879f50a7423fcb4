// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Arrays that grow, and the checks of waits and signals, on real user memory. */

#include <kunit/test.h>

#include "tests.h"

#include "../tessera_uapi.c"
#include "../tessera_sync.c"

/* Stand-ins: no device is woken. */
int tessera_pm_get(struct tessera_device *tdev)
{
	return 0;
}

void tessera_pm_put(struct tessera_device *tdev)
{
}

/* An element as this kernel knows it; its first version ended with @b. */
struct element {
	u32 a;
	u32 b;
	u64 added;
};

#define FIRST	offsetofend(struct element, b)
#define MOST	16

static struct drm_tessera_array array_at(const void __user *ptr, u32 count, u32 stride)
{
	return (struct drm_tessera_array){
		.ptr = (u64)(unsigned long)ptr, .count = count, .stride = stride,
	};
}

static void *array_in(const void __user *ptr, u32 count, u32 stride)
{
	const struct drm_tessera_array array = array_at(ptr, count, stride);

	return tessera_uapi_array_in(&array, sizeof(struct element), FIRST, MOST);
}

static void uapi_test_limits(struct kunit *test)
{
	void __user *user = tessera_test_user(test, SZ_64K);

	KUNIT_EXPECT_NULL(test, array_in(NULL, 0, 0));
	KUNIT_EXPECT_EQ(test, PTR_ERR(array_in(user, MOST + 1, FIRST)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(array_in(user, U32_MAX, FIRST)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(array_in(user, 1, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(array_in(user, 1, FIRST - 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(array_in(user, 1, DRM_TESSERA_STRIDE_MAX + 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(array_in(user, 1, U32_MAX)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(array_in(NULL, 1, FIRST)), -EFAULT);
	KUNIT_EXPECT_EQ(test, PTR_ERR(array_in((void __user *)U64_MAX, 1, FIRST)), -EFAULT);
	KUNIT_EXPECT_EQ(test, PTR_ERR(array_in(user + SZ_64K - 4, 1, FIRST)), -EFAULT);
}

/* Elements of an old program lack the end, which is zero then, wherever they lie. */
static void uapi_test_old_program(struct kunit *test)
{
	void __user *user = tessera_test_user(test, PAGE_SIZE);
	const u32 raw[] = { 1, 2, 3, 4, 5, 6 };
	struct element *got;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, copy_to_user(user, raw, sizeof(raw)), 0);
	got = array_in(user, 3, FIRST);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, got);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, got[i].a, 2 * i + 1);
		KUNIT_EXPECT_EQ(test, got[i].b, 2 * i + 2);
		KUNIT_EXPECT_EQ(test, got[i].added, 0);
	}
	kvfree(got);
}

/* Fields that a newer program adds must be zero in every element. */
static void uapi_test_new_program(struct kunit *test)
{
	u32 stride = sizeof(struct element) + 8;
	u8 __user *user = tessera_test_user(test, PAGE_SIZE);
	unsigned int i;
	void *got;

	for (i = 0; i < 3 * stride; i++) {
		bool tail = i % stride >= sizeof(struct element);

		KUNIT_ASSERT_EQ(test, put_user(1, user + i), 0);
		got = array_in(user, 3, stride);
		if (tail) {
			KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(got), -E2BIG, "byte %u", i);
		} else {
			KUNIT_EXPECT_NOT_ERR_OR_NULL(test, got);
			if (!IS_ERR_OR_NULL(got))
				KUNIT_EXPECT_EQ(test, ((u8 *)got)[i - i / stride * 8], 1);
		}
		if (!IS_ERR(got))
			kvfree(got);
		KUNIT_ASSERT_EQ(test, put_user(0, user + i), 0);
	}
}

/* Out: what the program does not know is cut off, what the kernel does not know is cleared. */
static int array_out(void __user *ptr, u32 count, u32 stride)
{
	static const struct element elements[] = { { 1, 2, 3 }, { 4, 5, 6 } };
	const struct drm_tessera_array array = array_at(ptr, count, stride);

	return tessera_uapi_array_out(&array, sizeof(elements[0]), FIRST, elements, count);
}

static void uapi_test_out(struct kunit *test)
{
	static const struct element expect[] = { { 1, 2, 3 }, { 4, 5, 6 } };
	u8 __user *user = tessera_test_user(test, PAGE_SIZE);
	u8 back[64];
	u32 stride;

	for (stride = FIRST; stride <= 24; stride += 8) {
		u32 known = min_t(u32, stride, sizeof(struct element)), i;

		memset(back, 0xee, sizeof(back));
		KUNIT_ASSERT_EQ(test, copy_to_user(user, back, sizeof(back)), 0);
		KUNIT_EXPECT_EQ(test, array_out(user, 2, stride), 0);
		KUNIT_ASSERT_EQ(test, copy_from_user(back, user, sizeof(back)), 0);
		for (i = 0; i < 2; i++) {
			const u8 *got = back + i * stride;

			KUNIT_EXPECT_MEMEQ(test, got, &expect[i], known);
			KUNIT_EXPECT_NULL(test, memchr_inv(got + known, 0, stride - known));
		}
		KUNIT_EXPECT_NULL(test, memchr_inv(back + 2 * stride, 0xee,
						   sizeof(back) - 2 * stride));
	}

	KUNIT_EXPECT_EQ(test, array_out(user, 1, FIRST - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, array_out(user, 1, DRM_TESSERA_STRIDE_MAX + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, array_out(NULL, 1, FIRST), -EFAULT);
}

/* tessera_syncs_in() of one sync. */
static int sync_error(struct kunit *test, struct drm_tessera_sync sync)
{
	void __user *user = tessera_test_user(test, PAGE_SIZE);
	struct drm_tessera_array array = array_at(user, 1, sizeof(sync));
	struct drm_tessera_sync *got;

	KUNIT_ASSERT_EQ(test, copy_to_user(user, &sync, sizeof(sync)), 0);
	got = tessera_syncs_in(&array);
	if (IS_ERR(got))
		return PTR_ERR(got);

	KUNIT_EXPECT_MEMEQ(test, got, &sync, sizeof(sync));
	kvfree(got);

	return 0;
}

static void uapi_test_sync(struct kunit *test)
{
	const struct drm_tessera_sync binary = { .type = DRM_TESSERA_SYNC_SYNCOBJ, .handle = 1 };
	const struct drm_tessera_sync timeline = { .type = DRM_TESSERA_SYNC_TIMELINE, .handle = 1,
						   .point = 1 };
	struct drm_tessera_sync sync;
	unsigned int bit;

	KUNIT_EXPECT_EQ(test, sync_error(test, binary), 0);
	KUNIT_EXPECT_EQ(test, sync_error(test, timeline), 0);
	for (bit = 0; bit < 32; bit++) {
		sync = binary;
		sync.flags = BIT(bit);
		KUNIT_EXPECT_EQ(test, sync_error(test, sync), -EINVAL);
		sync = timeline;
		sync.pad = BIT(bit);
		KUNIT_EXPECT_EQ(test, sync_error(test, sync), -EINVAL);
		sync = timeline;
		sync.type |= BIT(bit);
		KUNIT_EXPECT_EQ(test, sync_error(test, sync),
				sync.type == DRM_TESSERA_SYNC_TIMELINE ? 0 : -EINVAL);
	}
	sync = binary;
	sync.point = 1;
	KUNIT_EXPECT_EQ(test, sync_error(test, sync), -EINVAL);
	sync = timeline;
	sync.point = 0;
	KUNIT_EXPECT_EQ(test, sync_error(test, sync), -EINVAL);
	sync.point = BIT_ULL(63);
	KUNIT_EXPECT_EQ(test, sync_error(test, sync), 0);
}

/*
 * The lowest point that is enough, and the last job that signals it, against a search through all
 * signals. The jobs before it that signal the same syncobj are known as well.
 */
static void uapi_test_index(struct kunit *test)
{
	enum { JOBS = 12, EACH = 20 };
	struct tessera_signals *signals[JOBS];
	struct rb_root index = RB_ROOT;
	struct drm_tessera_sync wait;
	u32 seed = 1, job, i;

	tessera_signals_index(NULL, &index, 0);
	for (job = 0; job < JOBS; job++) {
		signals[job] = kunit_kzalloc(test, struct_size(signals[job], signal, EACH),
					     GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, signals[job]);
		signals[job]->count = EACH;
		for (i = 0; i < EACH; i++) {
			seed = seed * 1103515245 + 12345;
			signals[job]->signal[i].handle = 1 + (seed >> 16) % 5;
			signals[job]->signal[i].point = (u64)((seed >> 20) % 40) << 31;
		}
		tessera_signals_index(signals[job], &index, job);
	}

	for (wait.handle = 0; wait.handle < 7; wait.handle++) {
		for (wait.point = 0; wait.point < 42ull << 31; wait.point += BIT_ULL(30)) {
			struct tessera_signal *best = NULL, *found;
			u64 jobs = 0;

			for (job = 0; job < JOBS; job++) {
				for (i = 0; i < EACH; i++) {
					struct tessera_signal *signal = &signals[job]->signal[i];

					if (signal->handle != wait.handle)
						continue;
					jobs |= BIT_ULL(job);
					if (signal->point >= wait.point &&
					    (!best || signal->point <= best->point))
						best = signal;
				}
			}
			found = signal_find(&index, &wait);
			KUNIT_EXPECT_PTR_EQ(test, found, best);
			if (found && best)
				KUNIT_EXPECT_EQ(test, found->first->jobs, jobs);
		}
	}
}

static struct kunit_case uapi_cases[] = {
	KUNIT_CASE(uapi_test_limits),
	KUNIT_CASE(uapi_test_old_program),
	KUNIT_CASE(uapi_test_new_program),
	KUNIT_CASE(uapi_test_out),
	KUNIT_CASE(uapi_test_sync),
	KUNIT_CASE(uapi_test_index),
	{}
};

static struct kunit_suite uapi_suite = {
	.name = "tessera_uapi",
	.test_cases = uapi_cases,
};

kunit_test_suite(uapi_suite);
