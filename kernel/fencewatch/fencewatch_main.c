// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * fencewatch: watches whether drivers keep the rules for dma_fence. README.md tells what the rules
 * are and how to use the module.
 */

#include <linux/module.h>

#include "fencewatch.h"

#define FENCES_MIN	64
#define FENCES_MAX	4194304

unsigned int fw_pending_ms = 10000;
module_param_named(pending_ms, fw_pending_ms, uint, 0644);
MODULE_PARM_DESC(pending_ms, "a fence that is awaited for longer is reported (default 10000)");

unsigned int fw_order_ms = 100;
module_param_named(order_ms, fw_order_ms, uint, 0644);
MODULE_PARM_DESC(order_ms,
		 "a fence that signals so much later than the next, on another processor, is reported (default 100)");

static unsigned int fences = 65536;
module_param(fences, uint, 0444);
MODULE_PARM_DESC(fences, "fences that are watched at a time, 128 bytes each (default 65536)");

static int __init fencewatch_init(void)
{
	int ret;

	if (fences < FENCES_MIN || fences > FENCES_MAX) {
		pr_err("fencewatch: fences=%u is not between %d and %d\n", fences, FENCES_MIN,
		       FENCES_MAX);
		return -EINVAL;
	}
	ret = fw_records_init(fences);
	if (ret)
		return ret;
	fw_reports_init();
	ret = fw_sections_init();
	if (ret)
		goto free_records;
	ret = fw_events_init();
	if (ret)
		goto remove_sections;
	fw_probes_init();
	fw_debugfs_init();
	pr_info("fencewatch: watching dma_fences\n");
	return 0;

remove_sections:
	fw_sections_exit();
free_records:
	fw_records_exit();
	return ret;
}

static void __exit fencewatch_exit(void)
{
	fw_debugfs_exit();
	fw_probes_exit();
	fw_events_exit();
	fw_sections_exit();
	fw_records_exit();
}

module_init(fencewatch_init);
module_exit(fencewatch_exit);
MODULE_DESCRIPTION("Watches whether drivers keep the rules for dma_fence");
MODULE_LICENSE("GPL");
