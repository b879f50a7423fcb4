// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Delay points
 *
 * A race needs a thread that arrives in a window of a few instructions: a lock was dropped
 * and is about to be taken again, or an object has lost its id and still has its memory.
 * The driver calls tessera_delay() in each of these windows. debugfs "delay" arms a point,
 * and the next thread that comes by sleeps there. A test then runs the other side of the race
 * and asserts the result.
 *
 * The commands are lines of text::
 *
 *   queue-kill=20ms           each thread sleeps 20 ms
 *   queue-kill=20ms times=3   the next three threads do
 *   queue-kill=0ms            no thread does
 *   clear                     no point is armed
 *
 * Each command for a point wakes the threads that sleep there. So a test arms a point for a long
 * time, runs the other side, and then disarms the point. No result depends on the speed of the
 * machine.
 *
 * Reading the file prints the points and how many threads each of them has delayed. A thread is
 * counted before it sleeps, so a test sees when the window is open.
 *
 * The points belong to the module and not to a device, because some of them are passed while a
 * device has no debugfs directory. While no point is armed, each costs one static branch.
 *
 * *Why not fault injection of the kernel, or a breakpoint?* Distributions build their kernels
 * without fault injection. A breakpoint stops the other side, too.
 */

#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>

#include <drm/drm_file.h>

#include "tessera_delay.h"

/* The kernel reports a task that hangs for longer. */
#define DELAY_MS_MAX	60000
#define DELAY_TEXT_MAX	1024

DEFINE_STATIC_KEY_FALSE(tessera_delay_armed);

static const char * const delay_name[TESSERA_DELAY_POINTS] = {
	[TESSERA_DELAY_BIND_FREE] = "bind-free",
	[TESSERA_DELAY_BIND_TURN] = "bind-turn",
	[TESSERA_DELAY_CRTC_DISABLE] = "crtc-disable",
	[TESSERA_DELAY_EVICT] = "evict",
	[TESSERA_DELAY_FB_IDLE] = "fb-idle",
	[TESSERA_DELAY_FILE_CLOSE] = "file-close",
	[TESSERA_DELAY_GEM_FREE] = "gem-free",
	[TESSERA_DELAY_HEAP_FREE] = "heap-free",
	[TESSERA_DELAY_LOCK_RUNNING] = "lock-running",
	[TESSERA_DELAY_MADVISE] = "madvise",
	[TESSERA_DELAY_MOVE_LIST] = "move-list",
	[TESSERA_DELAY_MOVE_SWITCH] = "move-switch",
	[TESSERA_DELAY_PROBE] = "probe",
	[TESSERA_DELAY_QUEUE_CREATE] = "queue-create",
	[TESSERA_DELAY_QUEUE_DESTROY] = "queue-destroy",
	[TESSERA_DELAY_QUEUE_KILL] = "queue-kill",
	[TESSERA_DELAY_QUEUE_RELEASE] = "queue-release",
	[TESSERA_DELAY_QUEUE_START] = "queue-start",
	[TESSERA_DELAY_RESET_ESCALATION] = "reset-escalation",
	[TESSERA_DELAY_UNPLUG] = "unplug",
	[TESSERA_DELAY_VM_RELEASE] = "vm-release",
	[TESSERA_DELAY_WATCH_BAN] = "watch-ban",
	[TESSERA_DELAY_WATCH_STOP] = "watch-stop",
};

/**
 * struct delay_state - state of a point
 */
struct delay_state {
	/** @ms: Milliseconds to sleep, 0 if the point is not armed. */
	unsigned int ms;
	/** @left: Threads that are still to be delayed. */
	unsigned int left;
	/** @hits: Threads that were delayed since the module was loaded. */
	unsigned int hits;
	/** @commands: Commands for this point. The next one wakes the threads that sleep. */
	unsigned int commands;
};

static struct delay_state delay_states[TESSERA_DELAY_POINTS];

/* Protects the states. */
static DEFINE_SPINLOCK(delay_lock);

/* Serializes writers of the file, and with them the static branch. */
static DEFINE_MUTEX(delay_write_lock);

/* Threads that sleep. */
static DECLARE_WAIT_QUEUE_HEAD(delay_wait);

/**
 * tessera_delay_sleep() - sleep at a point if it is armed
 * @point: point
 */
void tessera_delay_sleep(enum tessera_delay_point point)
{
	struct delay_state *state = &delay_states[point];
	unsigned int ms = 0, commands;

	spin_lock(&delay_lock);
	commands = state->commands;
	if (state->left) {
		ms = state->ms;
		WRITE_ONCE(state->left, state->left - 1); /* writers of the file read it */
		state->hits++;
	}
	spin_unlock(&delay_lock);

	if (ms)
		wait_event_timeout(delay_wait, READ_ONCE(state->commands) != commands,
				   msecs_to_jiffies(ms));
}

static void delay_arm(struct delay_state *state, unsigned int ms, unsigned int times)
{
	spin_lock(&delay_lock);
	state->ms = ms;
	state->left = ms ? times : 0;
	WRITE_ONCE(state->commands, state->commands + 1); /* sleepers read it without the lock */
	spin_unlock(&delay_lock);
	wake_up_all(&delay_wait);
}

/* One command. Nothing has changed if it returns -EINVAL. */
static int delay_command(char *text)
{
	unsigned int ms, times = UINT_MAX;
	char *name, *value, *unit;
	int point, end = 0;

	if (!strcmp(text, "clear")) {
		for (point = 0; point < TESSERA_DELAY_POINTS; point++)
			delay_arm(&delay_states[point], 0, 0);
		return 0;
	}

	value = text;
	name = strsep(&value, "=");
	point = match_string(delay_name, ARRAY_SIZE(delay_name), name);
	if (point < 0 || !value)
		return -EINVAL;

	if (sscanf(value, "%ums%n", &ms, &end) != 1 || !end || ms > DELAY_MS_MAX)
		return -EINVAL;
	unit = skip_spaces(value + end);
	if (*unit) {
		end = 0;
		if (sscanf(unit, "times=%u%n", &times, &end) != 1 || !end || unit[end] || !times)
			return -EINVAL;
	}
	delay_arm(&delay_states[point], ms, times);

	return 0;
}

/* Commands, one a line. Those before a wrong one have taken effect. */
static int delay_commands(char *text)
{
	bool armed = false;
	unsigned int point;
	int ret = 0;
	char *line;

	mutex_lock(&delay_write_lock);
	while (!ret && (line = strsep(&text, "\n;"))) {
		line = strim(line);
		if (*line)
			ret = delay_command(line);
	}
	for (point = 0; point < TESSERA_DELAY_POINTS; point++)
		armed |= READ_ONCE(delay_states[point].left);
	if (armed)
		static_branch_enable(&tessera_delay_armed);
	else
		static_branch_disable(&tessera_delay_armed);
	mutex_unlock(&delay_write_lock);

	return ret;
}

static int delay_show(struct seq_file *m, void *unused)
{
	unsigned int point;

	for (point = 0; point < TESSERA_DELAY_POINTS; point++) {
		struct delay_state state;

		spin_lock(&delay_lock);
		state = delay_states[point];
		spin_unlock(&delay_lock);
		seq_printf(m, "%s %u", delay_name[point], state.hits);
		if (state.left)
			seq_printf(m, " armed %ums", state.ms);
		seq_putc(m, '\n');
	}

	return 0;
}

static int delay_open(struct inode *inode, struct file *file)
{
	return single_open(file, delay_show, NULL);
}

static ssize_t delay_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char *text;
	int ret;

	if (len > DELAY_TEXT_MAX)
		return -E2BIG;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);

	ret = delay_commands(text);
	kfree(text);

	return ret ?: len;
}

static const struct file_operations delay_fops = {
	.owner = THIS_MODULE,
	.open = delay_open,
	.read = seq_read,
	.write = delay_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * tessera_delay_debugfs_init() - create the file "delay"
 * @minor: minor of a device; the points are those of all devices
 */
void tessera_delay_debugfs_init(struct drm_minor *minor)
{
	debugfs_create_file("delay", 0600, minor->debugfs_root, NULL, &delay_fops);
}
