// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * The file fencewatch in debugfs: one fact a line, its name first, for people and for scripts.
 * Writing "reset" sets the counters to 0, and "test" makes a report.
 */

#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "fencewatch.h"

#define OLDEST	8	/* pending fences that are shown */

/* A copy of a pending fence, to be printed without the lock. */
struct pending {
	struct fw_record record;
	u64 age;
};

static struct dentry *file;

static void show_counters(struct seq_file *m)
{
	struct fw_counters now;
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&fw_lock, flags);
	now = fw_counters;
	raw_spin_unlock_irqrestore(&fw_lock, flags);
	seq_printf(m, "fences %llu signalled %llu destroyed %llu freed %llu", now.fences,
		   now.signalled, now.destroyed, now.freed);
	seq_printf(m, " not-watched %llu without-context %llu\n", now.unwatched, now.unordered);
	for (i = 0; i < FW_RULES; i++)
		seq_printf(m, "rule %s %d\n", fw_rule_names[i], atomic_read(&fw_rule_counts[i]));
	for (i = 0; i < FW_LATENCIES; i++)
		if (now.latency[i])
			seq_printf(m, "latency %s %lu us %llu\n",
				   i + 1 < FW_LATENCIES ? "below" : "from",
				   1UL << (i + 1 < FW_LATENCIES ? i : i - 1), now.latency[i]);
}

static void show_drivers(struct seq_file *m)
{
	unsigned int i, rule;

	for (i = 0; i < FW_DRIVERS && fw_drivers[i].name[0]; i++) {
		const struct fw_driver *driver = &fw_drivers[i];

		seq_printf(m, "driver %s fences %lld", driver->name,
			   atomic64_read(&driver->fences));
		for (rule = 0; rule < FW_RULES; rule++)
			if (atomic_read(&driver->reports[rule]))
				seq_printf(m, " %s %d", fw_rule_names[rule],
					   atomic_read(&driver->reports[rule]));
		seq_putc(m, '\n');
	}
}

/* Keeps the longest awaited fences of a context in oldest[], sorted; returns how many there are. */
static unsigned int collect(struct fw_context *context, struct pending *oldest, unsigned int count,
			    u64 now)
{
	const struct fw_record *record = fw_context_oldest(context);
	unsigned int at;
	u64 age;

	if (!record || !record->awaited)
		return count;
	age = now - record->awaited;
	for (at = count; at && oldest[at - 1].age < age; at--)
		if (at < OLDEST)
			oldest[at] = oldest[at - 1];
	if (at < OLDEST) {
		oldest[at].record = *record;
		oldest[at].age = age;
	}
	return min(count + 1, OLDEST);
}

/* Shows the fence that has been awaited longest, of each of the contexts with the longest waits. */
static int show_pending(struct seq_file *m)
{
	unsigned int rest = fw_contexts_active(), pending = 0, count = 0, i;
	struct fw_context *context;
	struct pending *oldest;
	unsigned long flags;

	oldest = kcalloc(OLDEST, sizeof(*oldest), GFP_KERNEL);
	if (!oldest)
		return -ENOMEM;
	do {
		raw_spin_lock_irqsave(&fw_lock, flags);
		context = fw_context_next(&rest);
		if (context && fw_context_oldest(context))
			pending++;
		if (context)
			count = collect(context, oldest, count, ktime_get_ns());
		raw_spin_unlock_irqrestore(&fw_lock, flags);
	} while (context);
	seq_printf(m, "pending contexts %u\n", pending);
	for (i = 0; i < count; i++) {
		const struct fw_record *record = &oldest[i].record;

		seq_printf(m, "pending %s context %llu seqno %llu awaited %llu ms by %s[%d]\n",
			   fw_drivers[record->driver].name, record->id, record->seqno,
			   div_u64(oldest[i].age, NSEC_PER_MSEC), record->waiter, record->pid);
	}
	kfree(oldest);
	return 0;
}

static int show(struct seq_file *m, void *unused)
{
	show_counters(m);
	show_drivers(m);
	fw_events_show(m);
	fw_probes_show(m);
	fw_sections_show(m);
	return show_pending(m);
}

static int open(struct inode *inode, struct file *file)
{
	return single_open(file, show, NULL);
}

static void reset(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&fw_lock, flags);
	fw_counters = (struct fw_counters){};
	raw_spin_unlock_irqrestore(&fw_lock, flags);
	fw_reports_reset();
}

static ssize_t write(struct file *file, const char __user *text, size_t size, loff_t *at)
{
	char word[8] = "";
	int ret = 0;

	if (size >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, text, size))
		return -EFAULT;
	if (!strcmp(strim(word), "reset"))
		reset();
	else if (!strcmp(strim(word), "test"))
		ret = fw_selftest();
	else
		ret = -EINVAL;
	return ret ?: size;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = open,
	.read = seq_read,
	.write = write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* Makes the file. A kernel without debugfs has the log and the trace event. */
void fw_debugfs_init(void)
{
	file = debugfs_create_file("fencewatch", 0644, NULL, NULL, &operations);
}

/* Removes the file. */
void fw_debugfs_exit(void)
{
	debugfs_remove(file);
}
