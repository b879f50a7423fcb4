// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * Sections: functions until whose end fences wait. By default they are those of the DRM scheduler
 * that call run_job() and timedout_job(); the module's parameter "sections" names others.
 *
 * The task that runs the function is marked. An fprobe on the function's entry and exit does that.
 * Work items are cheaper: the workqueue has trace points before and after each, and a kprobe that
 * is never armed finds the address of their function. Which one is used does not change a report.
 *
 * The functions are in modules, which may be loaded after this one and go before it, so a notifier
 * looks for them when a module is there that has the function.
 */

#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string_choices.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "fencewatch.h"

#define SECTIONS_MAX	16
#define TASK_BITS	8	/* of the table of marked tasks */
#define TASK_TRIES	16	/* entries of it that a task may have */
#define CALLS_MAX	256	/* sections that run at a time */
#define ENTRY_SIZE	16	/* a kprobe may be set behind the function's first instruction */
#define WORK		"work:"	/* names a function of work items */

static char *sections = "drm_sched_run_job_work,drm_sched_job_timedout";
module_param(sections, charp, 0444);
MODULE_PARM_DESC(sections,
		 "functions until whose end fences wait, with commas between them; work:NAME is one of work items");

/* Functions of work items that need no prefix. */
static const char * const known_works[] = { "drm_sched_run_job_work", "drm_sched_job_timedout" };

/* @address is that of a function of work items, 0 if its module is not there. */
struct section {
	const char *function;
	bool is_work;
	unsigned long address;
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

/* Marks the current task; returns false if there is no room for the mark. */
static bool enter(struct section *section)
{
	struct mark *mark;

	atomic64_inc(&section->calls);
	/* The current task cannot have a mark if no task has one. */
	mark = atomic_read(&fw_sections_running) ? mark_of(current) : NULL;
	if (!mark)
		mark = mark_new(section);
	if (!mark)
		return false;
	mark->depth++;
	return true;
}

static void leave(void)
{
	struct mark *mark = mark_of(current);

	if (!mark || --mark->depth)
		return;
	/* The next owner's writes come after ours. */
	smp_store_release(&mark->task, NULL);
	atomic_dec(&fw_sections_running);
}

static int on_entry(struct fprobe *probe, unsigned long ip, unsigned long caller,
		    struct fw_regs *regs, void *data)
{
	return in_task() && enter(container_of(probe, struct section, probe)) ? 0 : 1;
}

static void on_exit(struct fprobe *probe, unsigned long ip, unsigned long caller,
		    struct fw_regs *regs, void *data)
{
	leave();
}

static struct section *section_of(work_func_t function)
{
	unsigned int i;

	for (i = 0; i < section_count; i++) {
		unsigned long address = READ_ONCE(table[i].address);

		if (address && address - (unsigned long)function < ENTRY_SIZE)
			return &table[i];
	}
	return NULL;
}

/* Works do not nest, and one that began before its section was found has no mark. */
static void on_work_start(void *data, struct work_struct *work)
{
	struct section *section = section_of(work->func);

	if (section && in_task())
		enter(section);
}

static void on_work_end(void *data, struct work_struct *work, work_func_t function)
{
	if (section_of(function) && in_task())
		leave();
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

/* Returns the address of a function, or of one of its first bytes; 0 if it is not found. */
static unsigned long address_of(const char *function)
{
	struct kprobe probe = { .symbol_name = function, .flags = KPROBE_FLAG_DISABLED };
	unsigned long address;

	if (!IS_ENABLED(CONFIG_KPROBES) || register_kprobe(&probe))
		return 0;
	address = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return address;
}

static void section_on(struct section *section)
{
	lockdep_assert_held(&lock);
	if (section->is_work) {
		WRITE_ONCE(section->address, address_of(section->function));
		section->on = section->address;
		return;
	}
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

/* Another module may get the memory of this one. */
static void forget(struct module *module)
{
	unsigned int i;

	for (i = 0; i < section_count; i++) {
		if (table[i].is_work && within_module(table[i].address, module)) {
			WRITE_ONCE(table[i].address, 0);
			table[i].on = false;
		}
	}
}

/*
 * The functions of a module that is loaded again are new ones, so their probes are set anew. Those
 * of a module that goes are taken from the probes by ftrace.
 */
static int on_module(struct notifier_block *nb, unsigned long state, void *data)
{
	unsigned int i;

	if (state != MODULE_STATE_COMING && state != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&lock);
	if (state == MODULE_STATE_GOING) {
		forget(data);
		fw_drivers_forget();
	}
	for (i = 0; state == MODULE_STATE_COMING && i < section_count; i++)
		if (module_has(data, table[i].function))
			section_on(&table[i]);
	mutex_unlock(&lock);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = on_module };

/* The workqueue's trace points, which are built into the kernel. */
static struct {
	const char *name;
	void *handler;
	struct tracepoint *point;
	bool on;
} work_events[] = {
	/* The end first: a mark must not stay. */
	{ "workqueue_execute_end", on_work_end },
	{ "workqueue_execute_start", on_work_start },
};

static void match_work(struct tracepoint *point, void *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(work_events); i++)
		if (!strcmp(point->name, work_events[i].name))
			work_events[i].point = point;
}

/* Watches work items. Where that is impossible, their functions get fprobes. */
static void works_init(void)
{
	bool all = IS_ENABLED(CONFIG_KPROBES);
	unsigned int i;

	for_each_kernel_tracepoint(match_work, NULL);
	for (i = 0; i < ARRAY_SIZE(work_events); i++) {
		work_events[i].on = all && work_events[i].point &&
			!tracepoint_probe_register(work_events[i].point, work_events[i].handler,
						   NULL);
		all &= work_events[i].on;
	}
	for (i = 0; !all && i < section_count; i++)
		table[i].is_work = false;
}

static void works_exit(void)
{
	unsigned int i;

	for (i = ARRAY_SIZE(work_events); i-- > 0;)
		if (work_events[i].on)
			tracepoint_probe_unregister(work_events[i].point, work_events[i].handler,
						    NULL);
	tracepoint_synchronize_unregister();
}

static void section_add(const char *name)
{
	struct section *section = &table[section_count++];

	section->is_work = str_has_prefix(name, WORK) ||
			   match_string(known_works, ARRAY_SIZE(known_works), name) >= 0;
	section->function = str_has_prefix(name, WORK) ? name + strlen(WORK) : name;
}

/* Reads the parameter; returns 0 or -ENOMEM. */
static int sections_parse(void)
{
	char *rest, *name;

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
		section_add(name);
	}
	return 0;
}

/*
 * Finds the sections and watches for those that are not there yet; returns 0 or a negative error.
 */
int fw_sections_init(void)
{
	unsigned int i;
	int ret;

	ret = sections_parse();
	if (ret)
		return ret;
	works_init();
	ret = register_module_notifier(&module_notifier);
	if (ret) {
		works_exit();
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
	works_exit();
	for (i = 0; i < section_count; i++)
		if (table[i].on && !table[i].is_work)
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
