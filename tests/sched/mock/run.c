// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */
/*
 * Runs the kernel's own tests of drm_sched when the module is loaded. What they print goes to the
 * kernel's log. The module never stays loaded, so that it can be inserted again.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include <kunit/device.h>
#include <kunit/test.h>

static char *suite = "";
module_param(suite, charp, 0);
MODULE_PARM_DESC(suite, "Part of the names of suites to run (default: all)");

static bool slack;
module_param(slack, bool, 0);
MODULE_PARM_DESC(slack, "Sleeps may last a quarter longer, as in the kernel (default: no)");

void sched_mock_sleep(unsigned long us)
{
	if (us <= 10)
		udelay(us);
	else
		usleep_range(us, slack ? us + us / 4 : us);
}

struct allocation {
	struct list_head node;
	struct device *device;
	void *memory;
};

static struct allocation *remember(struct kunit *test)
{
	struct allocation *a = kzalloc(sizeof(*a), GFP_KERNEL);

	if (!a)
		return NULL;
	mutex_lock(&test->lock);
	list_add(&a->node, &test->memory);
	mutex_unlock(&test->lock);
	return a;
}

void *kunit_kmalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	struct allocation *a = remember(test);

	if (!a)
		return NULL;
	a->memory = kmalloc(size, gfp);
	return a->memory;
}

struct device *kunit_device_register(struct kunit *test, const char *name)
{
	struct allocation *a = remember(test);

	if (!a)
		return NULL;
	a->device = root_device_register(name);
	return a->device;
}

void kunit_fail(struct kunit *test, const char *file, int line, const char *what)
{
	test->failed++;
	pr_err("mock: failed: %s:%d: %s\n", kbasename(file), line, what);
}

static void release(struct kunit *test)
{
	struct allocation *a, *next;

	list_for_each_entry_safe(a, next, &test->memory, node) {
		if (!IS_ERR_OR_NULL(a->device))
			root_device_unregister(a->device);
		kfree(a->memory);
		kfree(a);
	}
}

static unsigned int run_once(const struct kunit_suite *s, const struct kunit_case *c,
			     const void *param)
{
	struct kunit *test = kzalloc(sizeof(*test), GFP_KERNEL);
	unsigned int failed;

	if (!test)
		return 1;
	INIT_LIST_HEAD(&test->memory);
	mutex_init(&test->lock);
	test->param_value = param;
	if (s->init && s->init(test)) {
		test->failed++;
	} else {
		c->run_case(test);
		if (s->exit)
			s->exit(test);
	}
	failed = test->failed;
	release(test);
	kfree(test);
	return failed;
}

static unsigned int run_case(const struct kunit_suite *s, const struct kunit_case *c)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = NULL;
	unsigned int failed = 0;

	if (!c->generate_params) {
		pr_info("mock: %s: %s\n", s->name, c->name);
		return run_once(s, c, NULL);
	}
	while ((param = c->generate_params(param, desc))) {
		pr_info("mock: %s: %s\n", s->name, desc);
		failed += run_once(s, c, param);
	}
	return failed;
}

int sched_mock_run(struct kunit_suite *const *suites, unsigned int count)
{
	unsigned int i, failed = 0;

	for (i = 0; i < count; i++) {
		const struct kunit_case *c;

		if (!strstr(suites[i]->name, suite))
			continue;
		for (c = suites[i]->test_cases; c->run_case; c++)
			failed += run_case(suites[i], c);
	}
	pr_info("mock: end, %u failed\n", failed);

	return -ECANCELED;
}
