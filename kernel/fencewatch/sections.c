// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * Sections: functions until whose end fences wait. By default they are those of the DRM scheduler
 * that call run_job() and timedout_job(); the module's parameter "sections" names others.
 *
 * An fprobe on each marks the task that runs the function. The functions are in modules, which may
 * be loaded after this one and go before it, so a notifier sets the probes when a module is there
 * that has the function.
 */

#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string_choices.h>

#include "fencewatch.h"

#define SECTIONS_MAX	16
#define TASK_BITS	8	/* of the table of marked tasks */
#define TASK_TRIES	16	/* entries of it that a task may have */
#define CALLS_MAX	256	/* sections that run at a time */

static char *sections = "drm_sched_run_job_work,drm_sched_job_timedout";
module_param(sections, charp, 0444);
MODULE_PARM_DESC(sections, "functions until whose end fences wait, with commas between them");

struct section {
	const char *function;
	struct fprobe probe;
	bool on;
	atomic64_t calls;
};

/*
 * A mark. Only the task itself changes its own mark; the field that says whose it is belongs to the
 * task that has changed it from NULL.
 */
struct mark {
	struct task_struct *task;
	struct section *section;
	unsigned int depth;
	bool reporting;
};

static struct section table[SECTIONS_MAX];
static unsigned int section_count;
static char *names;
static struct mark marks[1 << TASK_BITS];
static atomic_t missed;
static DEFINE_MUTEX(lock);	/* of the probes; not taken by their handlers */

/* Number of tasks in sections: handlers ask it first. */
atomic_t fw_sections_running;

static struct mark *mark_of(struct task_struct *task)
{
	unsigned int i, first = hash_ptr(current, TASK_BITS);

	for (i = 0; i < TASK_TRIES; i++) {
		struct mark *mark = &marks[(first + i) % ARRAY_SIZE(marks)];

		if (READ_ONCE(mark->task) == task)
			return mark;
	}
	return NULL;
}

static struct mark *mark_new(struct section *section)
{
	struct mark *mark;

	while ((mark = mark_of(NULL))) {
		if (!cmpxchg(&mark->task, NULL, current)) {
			mark->section = section;
			mark->depth = 0;
			mark->reporting = false;
			atomic_inc(&fw_sections_running);
			return mark;
		}
	}
	atomic_inc(&missed);
	return NULL;
}

static int on_entry(struct fprobe *probe, unsigned long ip, unsigned long caller,
		    struct fw_regs *regs, void *data)
{
	struct section *section = container_of(probe, struct section, probe);
	struct mark *mark;

	if (!in_task())
		return 1;
	atomic64_inc(&section->calls);
	mark = mark_of(current);
	if (!mark)
		mark = mark_new(section);
	if (!mark)
		return 1;
	mark->depth++;
	return 0;
}

static void on_exit(struct fprobe *probe, unsigned long ip, unsigned long caller,
		    struct fw_regs *regs, void *data)
{
	struct mark *mark = mark_of(current);

	if (!mark || --mark->depth)
		return;
	/* The next owner's writes come after ours. */
	smp_store_release(&mark->task, NULL);
	atomic_dec(&fw_sections_running);
}

/*
 * Returns the name of the section that the current task is in, or NULL: also in an interrupt, and
 * while the task itself makes a report. fw_section_leave() must follow.
 */
const char *fw_section_enter(void)
{
	struct mark *mark;

	if (!in_task())
		return NULL;
	mark = mark_of(current);
	if (!mark || mark->reporting)
		return NULL;
	mark->reporting = true;
	return mark->section->function;
}

/* Ends what fw_section_enter() began. */
void fw_section_leave(void)
{
	mark_of(current)->reporting = false;
}

static void section_on(struct section *section)
{
	lockdep_assert_held(&lock);
	if (section->on)
		unregister_fprobe(&section->probe);
	memset(&section->probe, 0, sizeof(section->probe));
	section->probe.entry_handler = on_entry;
	section->probe.exit_handler = on_exit;
	fw_fprobe_calls(&section->probe, CALLS_MAX);
	section->on = !register_fprobe_syms(&section->probe, &section->function, 1);
}

#ifdef CONFIG_KALLSYMS
/* Looks a function up in the symbols of one module, which is faster than in those of the kernel. */
static bool module_has(struct module *module, const char *function)
{
	struct mod_kallsyms *symbols;
	bool found = false;
	unsigned int i;

	rcu_read_lock();
	symbols = rcu_dereference(module->kallsyms);
	for (i = 0; symbols && !found && i < symbols->num_symtab; i++)
		found = !strcmp(symbols->strtab + symbols->symtab[i].st_name, function);
	rcu_read_unlock();
	return found;
}
#else
static bool module_has(struct module *module, const char *function)
{
	return true;
}
#endif

/*
 * The functions of a module that is loaded again are new ones, so their probes are set anew. Those
 * of a module that goes are taken from the probes by ftrace.
 */
static int on_module(struct notifier_block *nb, unsigned long state, void *data)
{
	unsigned int i;

	if (state != MODULE_STATE_COMING)
		return NOTIFY_DONE;
	mutex_lock(&lock);
	for (i = 0; i < section_count; i++)
		if (module_has(data, table[i].function))
			section_on(&table[i]);
	mutex_unlock(&lock);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = on_module };

/*
 * Finds the sections and watches for those that are not there yet; returns 0 or a negative error.
 */
int fw_sections_init(void)
{
	char *rest, *name;
	unsigned int i;
	int ret;

	names = kstrdup(sections, GFP_KERNEL);
	if (!names)
		return -ENOMEM;
	rest = names;
	while ((name = strsep(&rest, ","))) {
		if (!*name)
			continue;
		if (section_count == SECTIONS_MAX) {
			pr_warn("fencewatch: more than %d sections\n", SECTIONS_MAX);
			break;
		}
		table[section_count++].function = name;
	}
	ret = register_module_notifier(&module_notifier);
	if (ret) {
		kfree(names);
		return ret;
	}
	mutex_lock(&lock);
	for (i = 0; i < section_count; i++)
		if (!table[i].on)
			section_on(&table[i]);
	mutex_unlock(&lock);
	return 0;
}

/* Removes all probes. */
void fw_sections_exit(void)
{
	unsigned int i;

	unregister_module_notifier(&module_notifier);
	for (i = 0; i < section_count; i++)
		if (table[i].on)
			unregister_fprobe(&table[i].probe);
	/* An exit handler may have been on its way when its probe went. */
	synchronize_rcu();
	kfree(names);
}

/* Prints which sections are known. */
void fw_sections_show(struct seq_file *m)
{
	unsigned int i;

	mutex_lock(&lock);
	for (i = 0; i < section_count; i++)
		seq_printf(m, "section %s %s calls %lld missed %lu\n", table[i].function,
			   str_on_off(table[i].on), atomic64_read(&table[i].calls),
			   table[i].probe.nmissed);
	mutex_unlock(&lock);
	seq_printf(m, "sections running %d missed %d\n", atomic_read(&fw_sections_running),
		   atomic_read(&missed));
}
