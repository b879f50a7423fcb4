// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* The files "inject" and "capture": what of a text the device reads, what becomes of its answer. */

#include <kunit/test.h>

#include <linux/bitfield.h>
#include <linux/uaccess.h>

#include "../tessera_device.h"
#include "../tessera_pm.h"
#include "tests.h"

/* Text that the device has read since its last answer, and its answers. */
static char test_text[2048];
static unsigned int test_length;
static u32 test_reg, test_answer;
static bool test_gone;

static void test_write(struct tessera_device *tdev, u32 reg, u32 value)
{
	test_reg = reg;
	if (test_length < sizeof(test_text))
		test_text[test_length++] = value;
}

static u32 test_read(struct tessera_device *tdev, u32 reg)
{
	return test_answer;
}

int tessera_pm_lock(struct tessera_device *tdev)
{
	return test_gone ? -ENODEV : 0;
}

int tessera_pm_unlock(struct tessera_device *tdev)
{
	return 0;
}

#define tessera_write test_write
#define tessera_read test_read

#include "../tessera_inject.c"

struct fixture {
	struct tessera_device tdev;
	struct inode inode;
	struct file file;
	void __user *user;
};

static struct fixture *fixture(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->inode.i_private = &f->tdev;
	f->file.f_inode = &f->inode;
	f->user = tessera_test_user(test, 2 * PAGE_SIZE);

	return f;
}

/* Result of a write for an answer of the device. */
static ssize_t write_text(struct kunit *test, struct fixture *f,
			  const struct file_operations *fops, const char *text, u32 answer)
{
	size_t len = strlen(text);
	loff_t pos = 0;

	KUNIT_ASSERT_EQ(test, copy_to_user(f->user, text, len), 0);
	test_length = 0;
	test_answer = answer;

	return fops->write(&f->file, f->user, len, &pos);
}

/* A text of @length letters. */
static const char *letters(struct kunit *test, size_t length)
{
	char *text = kunit_kzalloc(test, length + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	memset(text, 'x', length);

	return text;
}

#define INJECT(_result) \
	FIELD_PREP_CONST(TSR_INJECT_STATUS_RESULT__MASK, TSR_INJECTION_RESULT_##_result)
#define CAPTURE(_result) \
	FIELD_PREP_CONST(TSR_CAPTURE_STATUS_RESULT__MASK, TSR_CAPTURE_RESULT_##_result)

/* Every character and a final zero are written. The device accepts or refuses. */
static void inject_test_script(struct kunit *test)
{
	const struct file_operations *fops = &tessera_inject_fops;
	struct fixture *f = fixture(test);

	KUNIT_EXPECT_EQ(test, write_text(test, f, fops, " hang\n ", INJECT(ACCEPTED)), 7);
	KUNIT_EXPECT_EQ(test, test_length, 8);
	KUNIT_EXPECT_STREQ(test, test_text, " hang\n ");
	KUNIT_EXPECT_EQ(test, test_reg, TSR_REG_INJECT_TEXT);
	KUNIT_EXPECT_EQ(test, write_text(test, f, fops, "\xff", INJECT(ACCEPTED)), 1);
	KUNIT_EXPECT_EQ(test, (u8)test_text[0], 0xff);
	KUNIT_EXPECT_EQ(test, write_text(test, f, fops, "hung", INJECT(REFUSED)), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_text(test, f, fops, "gone", U32_MAX), 4);
	test_gone = true;
	KUNIT_EXPECT_EQ(test, write_text(test, f, fops, "hang", INJECT(ACCEPTED)), -ENODEV);
	KUNIT_EXPECT_EQ(test, test_length, 0);
	test_gone = false;
}

/* A capture script, without surrounding space. A device may have no file for captures. */
static void inject_test_capture(struct kunit *test)
{
	const struct file_operations *fops = &tessera_capture_fops;
	struct fixture *f = fixture(test);

	KUNIT_EXPECT_EQ(test, write_text(test, f, fops, " next\n ", CAPTURE(ACCEPTED)), 7);
	KUNIT_EXPECT_EQ(test, test_length, 5);
	KUNIT_EXPECT_STREQ(test, test_text, "next");
	KUNIT_EXPECT_EQ(test, test_reg, TSR_REG_CAPTURE_TEXT);
	KUNIT_EXPECT_EQ(test, write_text(test, f, fops, "nixt", CAPTURE(REFUSED)), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_text(test, f, fops, "next", CAPTURE(NOWHERE)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, write_text(test, f, fops, "next", CAPTURE(NONE)), -EOPNOTSUPP);
	test_gone = true;
	KUNIT_EXPECT_EQ(test, write_text(test, f, fops, "next", CAPTURE(ACCEPTED)), -ENODEV);
	KUNIT_EXPECT_EQ(test, test_length, 0);
	test_gone = false;
}

/* The longest text is read to its end; of a longer one, or one that is not there, nothing is. */
static void inject_test_lengths(struct kunit *test)
{
	static const struct {
		const struct file_operations *fops;
		size_t longest;
		u32 accepted;
	} rows[] = {
		{ &tessera_inject_fops, TSR_INJECTION_TEXT_MAX, INJECT(ACCEPTED) },
		{ &tessera_capture_fops, TSR_CAPTURE_TEXT_MAX, CAPTURE(ACCEPTED) },
	};
	struct fixture *f = fixture(test);
	loff_t pos = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t longest = rows[i].longest;

		KUNIT_EXPECT_EQ(test, write_text(test, f, rows[i].fops, letters(test, longest),
						 rows[i].accepted), longest);
		KUNIT_EXPECT_EQ(test, test_length, longest + 1);
		KUNIT_EXPECT_EQ(test, write_text(test, f, rows[i].fops,
						 letters(test, longest + 1),
						 rows[i].accepted), -E2BIG);
		KUNIT_EXPECT_EQ(test, test_length, 0);
		KUNIT_EXPECT_EQ(test, rows[i].fops->write(&f->file, f->user + 2 * PAGE_SIZE, 8,
							  &pos), -EFAULT);
		KUNIT_EXPECT_EQ(test, test_length, 0);
	}
}

static struct kunit_case inject_cases[] = {
	KUNIT_CASE(inject_test_script),
	KUNIT_CASE(inject_test_capture),
	KUNIT_CASE(inject_test_lengths),
	{}
};

static struct kunit_suite inject_suite = {
	.name = "tessera_inject",
	.test_cases = inject_cases,
};

kunit_test_suite(inject_suite);
