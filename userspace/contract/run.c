// SPDX-License-Identifier: MIT
/* One row: the actors start, the fault happens, and each cell is filled in. */
#include "contract.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS	100	/* an adapter refuses a script within this time */

/* Fences of a row. */
enum { F_CULPRIT, F_NEXT, F_RUNNING, F_QUEUED, F_BLOCKER, F_MERGED, FENCES };

struct run {
	const struct contract_driver *driver;
	const struct row *row;
	struct result *result;
	struct monitor monitor;
	struct actor running, queued, culprit;
	int fence[FENCES], error[FENCES];
	bool asked;			/* the culprit has not answered the script yet */
	bool early;			/* the culprit's fence has signalled before its work */
	long long engine_ns;
	uint64_t started;
	char node[64];
};

static struct run *current;		/* for works() */

/* Columns that only a driver with an engine can fill. */
static bool needs_engine(enum column c)
{
	return c == NEXT || c == SUBMIT || c == UEVENT || c == DUMP;
}

__attribute__((format(printf, 3, 4)))
static void set(struct run *r, enum column column, const char *format, ...)
{
	struct cell *cell = &r->result->cell[column];
	const char *want = r->row->want[column];
	va_list ap;

	if (r->driver->fences_only && needs_engine(column))
		return;
	va_start(ap, format);
	vsnprintf(cell->got, sizeof(cell->got), format, ap);
	va_end(ap);
	if (!strcmp(want, "-"))
		cell->verdict = NOTHING;
	else if (!strncmp(want, "any: ", 5) || !strcmp(want, cell->got) ||
		 (!strcmp(want, "error") && *cell->got == 'E') ||
		 (*want == '<' && atof(cell->got) < atof(want + 1)))
		cell->verdict = KEPT;
	else
		cell->verdict = VIOLATED;
}

/* The device goes away, and is brought back when the row is over. */
static bool unplugs(const struct row *row)
{
	return !strcmp(row->script, "@unbind") || !strcmp(row->script, "@remove");
}

/* Everything before the fault. Returns 0, or why the row cannot be tried. */
static const char *start(struct run *r)
{
	struct answer a;

	r->running = actor_start(r->driver, r->node, "running");
	r->queued = actor_start(r->driver, r->node, "queued");
	r->culprit = actor_start(r->driver, r->node, "culprit");
	r->monitor.culprit = r->culprit.pid;
	snprintf(r->monitor.culprit_name, sizeof(r->monitor.culprit_name), "culprit");
	a = actor_ask(&r->running, ASK_CONTEXT, 0, NULL);
	if (!a.value)
		a = actor_ask(&r->queued, ASK_CONTEXT, 0, NULL);
	if (!a.value)
		a = actor_ask(&r->culprit, ASK_CONTEXT, 0, NULL);
	if (a.value)
		return "the device cannot be opened";
	r->fence[F_RUNNING] = actor_ask(&r->running, ASK_JOB, JOB_LONG, NULL).fence;
	r->fence[F_BLOCKER] = actor_ask(&r->queued, ASK_JOB, JOB_LONG, NULL).fence;
	r->fence[F_QUEUED] = actor_ask(&r->queued, ASK_JOB, JOB_OK, NULL).fence;
	if (r->fence[F_RUNNING] < 0 || r->fence[F_QUEUED] < 0 || r->fence[F_BLOCKER] < 0)
		return "bystanders cannot submit";
	if (!actor_began(&r->running) || !actor_began(&r->queued))
		return "a bystander's job does not begin";
	r->engine_ns = monitor_engine_ns(r->running.pid);
	return NULL;
}

/*
 * The fault itself. A script may last as long as the culprit's job, so its answer is not waited for
 * once it is clear that the adapter knows it.
 */
static int provoke(struct run *r)
{
	const char *script = r->row->script;
	struct pollfd answer = { .fd = r->culprit.socket, .events = POLLIN };

	if (!strcmp(script, "-"))
		return 0;
	if (!strcmp(script, "@kill")) {
		actor_end(&r->culprit, true);
		return 0;
	}
	if (unplugs(r->row) || !strcmp(script, "@pci-reset"))
		return system_act(script);
	if (!r->driver->provoke)
		return -EOPNOTSUPP;
	actor_send(&r->culprit, ASK_PROVOKE, 0, script);
	r->asked = poll(&answer, 1, ANSWER_MS) != 1;
	return r->asked ? 0 : actor_receive(&r->culprit).value;
}

static const char *why_not(int error)
{
	return error == -EOPNOTSUPP ? "the adapter cannot make this happen" :
				      "the fault is refused";
}

/*
 * A job that fails at once is held by a gate, so that the next job is queued and the sync file is
 * merged before it fails. A long job is under way when the fault comes.
 */
static const char *fail(struct run *r)
{
	int kind = kind_of(r->row->kind), ret;
	bool is_long = kind == JOB_LONG;
	struct answer a;

	a = actor_ask(&r->culprit, ASK_JOB, is_long ? JOB_LONG : JOB_GATE, NULL);
	if (a.fence < 0)
		return "the culprit cannot submit";
	if (!actor_began(&r->culprit))
		return "the culprit's job does not begin";
	if (is_long) {
		r->fence[F_CULPRIT] = a.fence;
	} else {
		close(a.fence);
		ret = provoke(r);
		if (ret)
			return why_not(ret);
		if (r->asked)
			actor_receive(&r->culprit);
		r->asked = false;
		a = actor_ask(&r->culprit, ASK_JOB, kind, NULL);
		if (a.value == -EOPNOTSUPP)
			return "the adapter has no such job";
		r->fence[F_CULPRIT] = a.fence;
	}
	r->fence[F_NEXT] = actor_ask(&r->culprit, ASK_JOB, JOB_OK, NULL).fence;
	r->fence[F_MERGED] = fence_merge(r->fence[F_CULPRIT], r->fence[F_RUNNING]);
	/* The job waits for the gate, or is tended. Without an engine fences have no order. */
	r->early = !r->driver->fences_only && r->fence[F_CULPRIT] >= 0 &&
		   fence_error(r->fence[F_CULPRIT]) != -ETIME;
	r->started = now_ms();
	ret = is_long ? provoke(r) : 0;
	if (ret)
		return why_not(ret);
	if (!is_long || !strcmp(r->row->script, "-"))
		r->culprit.shared->finish = true;
	return NULL;
}

/* All fences, the culprit's first. Bystanders that were spared may end after that. */
static void wait_for_fences(struct run *r)
{
	static const int order[] = { F_CULPRIT, F_NEXT, F_RUNNING, F_BLOCKER, F_QUEUED, F_MERGED };
	uint64_t progress = 0;

	r->monitor.fences = r->fence;
	r->monitor.fence_count = F_MERGED;
	for (unsigned int i = 0; i < ARRAY_SIZE(order); i++) {
		int f = order[i];

		r->error[f] = fence_wait(&r->monitor, r->fence[f], LIMIT_MS);
		if (f == F_CULPRIT) {
			set(r, TIME, "%.1f", (now_ms() - r->started) / 1000.0);
			/* The thread that counts its steps may be late itself. */
			usleep(60000);
			progress = r->culprit.pid ? r->culprit.shared->progress : 0;
			usleep(150000);
			r->early |= r->culprit.pid && r->culprit.shared->progress != progress;
			set(r, WRITES, r->early ? "late" : "none");
			r->running.shared->finish = r->queued.shared->finish = true;
		}
	}
}

static void set_context(struct run *r, enum column column, struct actor *a)
{
	struct context_state state = actor_ask(a, ASK_STATE, 0, NULL).state;

	if (state.error == -EOPNOTSUPP)
		return;
	if (state.error)
		set(r, column, "%s", error_name(state.error));
	else
		set(r, column, "%s", state.flags & CONTEXT_INNOCENT ? "innocent" :
		    state.flags & CONTEXT_GUILTY ? "guilty" : "ok");
}

static void see_bystanders(struct run *r)
{
	struct context_state state = actor_ask(&r->queued, ASK_STATE, 0, NULL).state;
	const char *how = error_name(r->error[F_QUEUED]);

	if (!r->error[F_QUEUED] && state.runs >= 0 && state.runs != 1)
		how = state.runs ? "twice" : "lost";
	set(r, QUEUED, "%s", how);
	set(r, RUNNING, "%s", r->running.shared->backwards ? "twice" :
	    error_name(r->error[F_RUNNING]));
	set_context(r, BLAME, &r->running);
	if (r->engine_ns >= 0) {
		long long ns = monitor_engine_ns(r->running.pid);

		set(r, FDINFO, ns < 0 ? "missing" : ns < r->engine_ns ? "backwards" : "ok");
	}
}

static void see_culprit(struct run *r)
{
	struct answer a;

	set(r, FENCE, "%s", error_name(r->error[F_CULPRIT]));
	set(r, NEXT, "%s", error_name(r->error[F_NEXT]));
	set(r, MERGED, "%s", error_name(r->error[F_MERGED]));
	if (!r->culprit.pid)
		return;
	set_context(r, CONTEXT, &r->culprit);
	a = actor_ask(&r->culprit, ASK_PAGE, 0, NULL);
	if (a.value != -EOPNOTSUPP)
		set(r, MAPPING, "%s", a.value > 0 ? sigabbrev_np(a.value) : a.value ?
		    error_name(a.value) : "ok");
}

/* Submitting again changes what the robustness query says, so that comes last. */
static void see_refusals(struct run *r)
{
	struct answer a;

	if (!r->culprit.pid)
		return;
	a = actor_ask(&r->culprit, ASK_JOB, JOB_OK, NULL);
	if (a.fence >= 0) {
		a.value = fence_wait(&r->monitor, a.fence, LIMIT_MS);
		close(a.fence);
	}
	set(r, SUBMIT, "%s", error_name(a.value));
	set(r, NEW, "%s", error_name(actor_ask(&r->culprit, ASK_NEW, 0, NULL).value));
}

/* The answer of a process that opens the device now. */
static int newcomer(struct run *r)
{
	struct actor a = actor_start(r->driver, r->node, "newcomer");
	int value = actor_ask(&a, ASK_CONTEXT, 0, NULL).value;

	if (!value)
		value = actor_ask(&a, ASK_NEW, 0, NULL).value;
	actor_end(&a, false);
	return value;
}

static bool works(void)
{
	uint64_t until = now_ms() + 5000;
	struct run *r = current;

	while (!system_node(r->driver->name, r->node, sizeof(r->node))) {
		if (now_ms() > until)
			return false;
		usleep(5000);
	}
	return newcomer(r) == 0;
}

static void clear(struct run *r)
{
	if (r->driver->provoke)
		r->driver->provoke(NULL, "clear");
}

/* Work items of the kernel send events, a moment after the fences have signalled. */
static void wait_for_event(struct run *r)
{
	uint64_t until = now_ms() + 5000;

	monitor_poll(&r->monitor, 0);
	while (!r->monitor.events && strcmp(r->row->want[UEVENT], "quiet") && now_ms() < until)
		monitor_poll(&r->monitor, 50);
}

/* Collects the monitor's cells, then brings the device back. */
static void see_system(struct run *r)
{
	const char *script = r->row->script;
	bool dump = !strcmp(r->row->want[DUMP], "1");

	monitor_poll(&r->monitor, 100);
	if (r->monitor.early)
		set(r, UEVENT, "too early");
	else if (r->monitor.dma)
		set(r, UEVENT, "DMA on");
	else
		set(r, UEVENT, "%s", *r->monitor.event ? r->monitor.event : "quiet");
	set(r, DUMP, "%u", monitor_dumps(dump));
	if (unplugs(r->row) || r->monitor.gives_up) {
		set(r, RECOVERY, "%s", system_recover(r->monitor.event, script, works));
		clear(r);
	} else {
		set(r, RECOVERY, "not needed");
	}
}

/* The rule that a cell is about, where its column has several. */
static void name_rules(struct run *r)
{
	for (unsigned int i = 0; i < COLUMNS; i++) {
		struct cell *cell = &r->result->cell[i];
		const char *all = columns[i].rules;

		cell->rule = all;
		if (!strncmp(cell->got, "never", 5) && strstr(all, "R1.1"))
			cell->rule = "R1.1";
		else if (unplugs(r->row) && strstr(all, "R6.1"))
			cell->rule = "R6.1";
		else if (r->monitor.gives_up && strstr(all, "R4.2") && (i != UEVENT ||
			 r->monitor.early || r->monitor.dma))
			cell->rule = "R4.2";
		else if (i == UEVENT && strstr(cell->got, "+another"))
			cell->rule = "R4.4";
	}
}

static void finish(struct run *r)
{
	actor_end(&r->running, false);
	actor_end(&r->queued, false);
	actor_end(&r->culprit, false);
	for (unsigned int i = 0; i < FENCES; i++)
		if (r->fence[i] >= 0)
			close(r->fence[i]);
}

static bool is_destructive(const struct row *row)
{
	return strcmp(row->script, "-") && strcmp(row->script, "@kill");
}

static void try_row(struct run *r)
{
	const char *why = start(r);
	char text[TEXT];

	if (!why)
		why = fail(r);
	if (why) {
		snprintf(r->result->why, sizeof(r->result->why), "%s", why);
		r->running.shared->finish = r->queued.shared->finish = true;
		r->culprit.shared->finish = true;
		clear(r);
		finish(r);
		return;
	}
	wait_for_fences(r);
	if (r->asked)
		actor_receive(&r->culprit);
	see_culprit(r);
	see_bystanders(r);
	wait_for_event(r);
	/* The end of the faults would repair a device that was given up. */
	if (!r->monitor.gives_up)
		clear(r);
	see_refusals(r);
	set(r, NEWCOMER, "%s", error_name(newcomer(r)));
	finish(r);
	see_system(r);
	monitor_log(&r->monitor, text, sizeof(text));
	set(r, LOG, "%s", text);
	name_rules(r);
}

/* The table goes on without a device that did not come back. */
static bool find_device(struct run *r, const char *node)
{
	uint64_t until = now_ms() + 5000;

	while (*node ? access(node, R_OK | W_OK) != 0 :
	       !system_node(r->driver->name, r->node, sizeof(r->node))) {
		if (now_ms() > until)
			return false;
		usleep(10000);
	}
	if (*node)
		snprintf(r->node, sizeof(r->node), "%s", node);
	system_find(r->node);
	return true;
}

void run_row(const struct contract_driver *driver, const char *node, const struct row *row,
	     bool destructive, struct result *result)
{
	struct run r = { .driver = driver, .row = row, .result = result };

	memset(result, 0, sizeof(*result));
	result->row = row;
	if (is_destructive(row) && !destructive) {
		snprintf(result->why, sizeof(result->why), "needs --destructive");
		return;
	}
	for (unsigned int i = 0; i < FENCES; i++)
		r.fence[i] = -1;
	if (!find_device(&r, node)) {
		snprintf(result->why, sizeof(result->why), "there is no device");
		return;
	}
	current = &r;
	monitor_begin(&r.monitor);
	try_row(&r);
	monitor_end(&r.monitor);
}
