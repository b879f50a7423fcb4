// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Copyright 2026 The Tessera authors */

/*
 * Switches a static key while a thread on each processor runs the branch. It tells whether a
 * machine copes with kernels that replace their own instructions: fencewatch's trace points and
 * probes do that, too. The module is loaded when all switches are done.
 */

#include <linux/jump_label.h>
#include <linux/kthread.h>
#include <linux/module.h>

static unsigned int switches = 1000;
module_param(switches, uint, 0444);
MODULE_PARM_DESC(switches, "how often the key is switched (default 1000)");

static unsigned int done;
module_param(done, uint, 0444);
MODULE_PARM_DESC(done, "how often it has been switched so far");

static DEFINE_STATIC_KEY_FALSE(key);
static struct task_struct *threads[NR_CPUS];

static noinline unsigned int branch(void)
{
	return static_branch_unlikely(&key) ? 1 : 0;
}

static int run(void *unused)
{
	unsigned int i, taken = 0;

	while (!kthread_should_stop()) {
		for (i = 0; i < 10000; i++)
			taken += branch();
		cond_resched();
	}
	pr_debug("static_key: %u branches were taken\n", taken);
	return 0;
}

static int __init static_key_init(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		threads[cpu] = kthread_run_on_cpu(run, NULL, cpu, "static_key/%u");
		if (IS_ERR(threads[cpu]))
			threads[cpu] = NULL;
	}
	while (done < switches) {
		if (done % 2)
			static_branch_disable(&key);
		else
			static_branch_enable(&key);
		WRITE_ONCE(done, done + 1);
		cond_resched();
	}
	for_each_online_cpu(cpu)
		if (threads[cpu])
			kthread_stop(threads[cpu]);
	return 0;
}

static void __exit static_key_exit(void)
{
}

module_init(static_key_init);
module_exit(static_key_exit);
MODULE_DESCRIPTION("Switches a static key under load");
MODULE_LICENSE("Dual MIT/GPL");
