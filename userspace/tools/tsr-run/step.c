// SPDX-License-Identifier: MIT
/* The debugger, see step.h. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "clause.h"
#include "compare.h"
#include "fault.h"
#include "step.h"
#include "step_show.h"

#define LINE_MAX_BYTES	1024

/* Condition of the next stop. */
enum until {
	UNTIL_CLAUSE,			/* the next clause of the warp in question */
	UNTIL_ANY,			/* the next clause of any warp */
	UNTIL_BREAK,			/* a breakpoint */
	UNTIL_END,			/* nothing any more */
};

struct debugger {
	struct machine *machine;
	struct outcome *outcome;
	struct step_options options;
	enum until until;
	unsigned int left;		/* stops to pass over */
	uint32_t group[3];		/* of the warp in question */
	unsigned int warp;
	bool chosen;			/* there is one */
	bool dialogues;			/* faults start a dialogue */
	/* of the warps that execute a clause now: their registers before it, if @shown */
	struct {
		bool shown;
		union tsr_lanes reg[TSR_REGISTERS];
	} before[TSR_BUNDLE_WARPS];
	char last[LINE_MAX_BYTES];	/* command that an empty line repeats */
	const struct tsr_shader_view *view;	/* at a stop */
};

typedef bool command_fn(struct debugger *d, const char *rest);

static bool is_chosen(const struct debugger *d, const struct tsr_shader_view *view)
{
	return view->warp == d->warp && !memcmp(view->group, d->group, sizeof(d->group));
}

static bool at_break(const struct debugger *d, uint64_t clause)
{
	for (unsigned int i = 0; i < d->options.breakpoints; i++) {
		if (d->options.breakpoint[i] == clause)
			return true;
	}
	return false;
}

static bool wants_stop(struct debugger *d, const struct tsr_shader_view *view)
{
	bool matches;

	if (d->until == UNTIL_END)
		return false;
	if (at_break(d, view->clause)) {
		d->left = 0;
		return true;
	}
	matches = d->until == UNTIL_ANY ||
		  (d->until == UNTIL_CLAUSE && (!d->chosen || is_chosen(d, view)));
	if (matches && d->left) {
		d->left--;
		matches = false;
	}
	return matches;
}

/* An address: a number, a label or buffer, one of them and an offset. */
static bool address(struct debugger *d, const char *text, uint64_t *va)
{
	const struct script *script = d->machine->script;
	size_t n = strcspn(text, "+");
	char name[LEX_TOKEN_MAX];
	const struct region *r;
	char *end;

	if (isdigit((unsigned char)*text)) {
		*va = strtoull(text, &end, 0);
		return !*end;
	}
	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	r = script_region(script, name);
	*va = text[n] ? strtoull(text + n + 1, NULL, 0) : 0;
	if (r) {
		*va += r->va;
		return true;
	}
	for (size_t i = 0; i < script->labels; i++) {
		if (!strcmp(script->label[i].name, name)) {
			*va += script->label[i].va;
			return true;
		}
	}
	fprintf(d->options.out, "  '%s' is no label, buffer or number\n", text);
	return false;
}

static bool go(struct debugger *d, enum until until, const char *rest)
{
	unsigned long n = strtoul(rest, NULL, 0);

	d->until = until;
	d->left = n ? (unsigned int)n - 1 : 0;
	return true;
}

static bool do_step(struct debugger *d, const char *rest)
{
	return go(d, UNTIL_CLAUSE, rest);
}

static bool do_any(struct debugger *d, const char *rest)
{
	return go(d, UNTIL_ANY, rest);
}

static bool do_continue(struct debugger *d, const char *rest)
{
	(void)rest;
	return go(d, UNTIL_BREAK, "");
}

static bool do_quit(struct debugger *d, const char *rest)
{
	(void)rest;
	d->options.trace = false;
	return go(d, UNTIL_END, "");
}

static bool do_break(struct debugger *d, const char *rest)
{
	char where[LEX_TOKEN_MAX];
	uint64_t va;

	if (!*rest) {
		for (unsigned int i = 0; i < d->options.breakpoints; i++)
			fprintf(d->options.out, "  break %s\n",
				script_where(d->machine->script, d->options.breakpoint[i], where,
					     sizeof(where)));
	} else if (d->options.breakpoints == STEP_BREAKS_MAX) {
		fprintf(d->options.out, "  there are %u breakpoints already\n", STEP_BREAKS_MAX);
	} else if (address(d, rest, &va)) {
		d->options.breakpoint[d->options.breakpoints++] = va;
	}
	return false;
}

static bool do_delete(struct debugger *d, const char *rest)
{
	uint64_t va;

	if (!*rest) {
		d->options.breakpoints = 0;
	} else if (address(d, rest, &va)) {
		for (unsigned int i = 0; i < d->options.breakpoints; i++) {
			if (d->options.breakpoint[i] == va)
				d->options.breakpoint[i] =
					d->options.breakpoint[--d->options.breakpoints];
		}
	}
	return false;
}

static bool do_registers(struct debugger *d, const char *rest)
{
	uint64_t wanted = 0;
	bool all = !*rest;

	while (*rest) {
		char *end;
		unsigned long n = strtoul(rest + (*rest == 'r'), &end, 10);

		if (n >= TSR_REGISTERS || end == rest + (*rest == 'r')) {
			fprintf(d->options.out, "  '%s' is no register\n", rest);
			return false;
		}
		wanted |= 1ull << n;
		rest = end + strspn(end, " ,");
	}
	for (unsigned int r = 0; r < TSR_REGISTERS; r++) {
		const union tsr_lanes *value = &d->view->reg[r * TSR_BUNDLE_WARPS];
		bool zero = true;

		for (unsigned int i = 0; i < TSR_WARP_LANES; i++)
			zero &= !(d->view->live >> i & 1) || !value->u[i];
		if (wanted >> r & 1 || (all && !zero))
			show_register(d->options.out, r, value, d->view->live);
	}
	return false;
}

static bool do_lanes(struct debugger *d, const char *rest)
{
	(void)rest;
	show_lanes(d->options.out, d->machine->script, d->view);
	return false;
}

static bool do_list(struct debugger *d, const char *rest)
{
	uint64_t va = d->view->clause;

	if (!*rest || address(d, rest, &va))
		clause_print(d->options.out, d->machine->script, va, "", CLAUSE_NO_TUPLE, false);
	return false;
}

/* "ADDRESS [COUNT] [x|d|f]" */
static void memory_arguments(const char *rest, char where[LEX_TOKEN_MAX], unsigned int *count,
			     char *kind)
{
	char fields[2][32] = { "", "" };
	char format[40];

	snprintf(format, sizeof(format), "%%%ds %%31s %%31s", LEX_TOKEN_MAX - 1);
	where[0] = '\0';
	*count = 8;
	*kind = 'x';
	sscanf(rest, format, where, fields[0], fields[1]);
	for (unsigned int i = 0; i < 2; i++) {
		if (isdigit((unsigned char)fields[i][0]))
			*count = (unsigned int)strtoul(fields[i], NULL, 0) & 0xffff;
		else if (fields[i][0])
			*kind = fields[i][0];
	}
}

static bool do_memory(struct debugger *d, const char *rest)
{
	char where[LEX_TOKEN_MAX], kind;
	unsigned int count;
	uint64_t va;

	memory_arguments(rest, where, &count, &kind);
	if (address(d, where, &va))
		show_memory(d->options.out, d->machine, va, count, kind);
	return false;
}

static bool do_group_memory(struct debugger *d, const char *rest)
{
	char where[LEX_TOKEN_MAX], kind;
	unsigned int count;

	memory_arguments(rest, where, &count, &kind);
	show_group_memory(d->options.out, d->view, (uint32_t)strtoul(where, NULL, 0), count, kind);
	return false;
}

/* set rN LANE|all VALUE */
static bool do_set(struct debugger *d, const char *rest)
{
	char lane[16], value[40], *end;
	unsigned int r;
	uint32_t word;
	float f;

	if (sscanf(rest, "r%u %15s %39s", &r, lane, value) != 3 || r >= TSR_REGISTERS) {
		fprintf(d->options.out, "  set rN LANE|all VALUE\n");
		return false;
	}
	word = (uint32_t)strtoll(value, &end, 0);
	if (*end) {
		f = strtof(value, &end);
		memcpy(&word, &f, sizeof(word));
	}
	for (unsigned int i = 0; i < TSR_WARP_LANES && !*end; i++) {
		if (!strcmp(lane, "all") || strtoul(lane, NULL, 0) == i)
			d->view->reg[r * TSR_BUNDLE_WARPS].u[i] = word;
	}
	return false;
}

/* warp X Y Z WARP: whose clauses to step; without numbers the one that comes next */
static bool do_warp(struct debugger *d, const char *rest)
{
	d->chosen = sscanf(rest, "%u %u %u %u", &d->group[0], &d->group[1], &d->group[2],
			   &d->warp) == 4;
	if (*rest && !d->chosen)
		fprintf(d->options.out, "  warp GROUP_X GROUP_Y GROUP_Z WARP\n");
	else
		d->until = UNTIL_CLAUSE;
	return d->chosen;
}

static bool do_help(struct debugger *d, const char *rest)
{
	(void)rest;
	fputs("  step [N]          execute the clause, or N, of this warp (an empty line repeats)\n"
	      "  any [N]           the same, stop at the next clause of any warp\n"
	      "  continue          go on to the next breakpoint\n"
	      "  break [WHERE]     stop at a clause; list the breakpoints\n"
	      "  delete [WHERE]    remove a breakpoint, or all\n"
	      "  warp X Y Z W      step warp W of group X Y Z from here on\n"
	      "  regs [rN...]      registers of live lanes: those not zero, or those named\n"
	      "  lanes             where the lanes are, messages not answered\n"
	      "  list [WHERE]      disassemble\n"
	      "  memory WHERE [COUNT] [x|d|f]     words of memory\n"
	      "  group OFFSET [COUNT] [x|d|f]     words of group memory\n"
	      "  set rN LANE|all VALUE            change a register\n"
	      "  quit              let the program run to its end\n", d->options.out);
	return false;
}

/* Commands; the first that begins with what was typed is meant. True: go on with the program. */
static bool command(struct debugger *d, const char *line)
{
	static const struct {
		const char *name;
		command_fn *fn;
	} commands[] = {
		{ "step", do_step }, { "any", do_any }, { "continue", do_continue },
		{ "break", do_break }, { "delete", do_delete }, { "regs", do_registers },
		{ "lanes", do_lanes }, { "list", do_list }, { "memory", do_memory },
		{ "group", do_group_memory }, { "set", do_set }, { "warp", do_warp },
		{ "quit", do_quit }, { "help", do_help },
	};
	size_t n = strcspn(line, " \t");

	for (size_t i = 0; n && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strncmp(line, commands[i].name, n))
			return commands[i].fn(d, line + n + strspn(line + n, " \t"));
	}
	if (n)
		fprintf(d->options.out, "  '%.*s' is no command, see help\n", (int)n, line);
	return false;
}

/* Read commands until one goes on. */
static void dialogue(struct debugger *d)
{
	char line[LINE_MAX_BYTES];

	do {
		fputs("(tsr-run) ", d->options.out);
		fflush(d->options.out);
		if (!fgets(line, sizeof(line), d->options.in)) {
			fputc('\n', d->options.out);
			do_quit(d, "");
			return;
		}
		line[strcspn(line, "\n")] = '\0';
		if (d->options.echo)
			fprintf(d->options.out, "%s\n", line);
		if (line[0])
			snprintf(d->last, sizeof(d->last), "%s", line);
	} while (!command(d, d->last));
}

static void before_clause(struct debugger *d, const struct tsr_shader_view *view)
{
	unsigned int w = view->slot % TSR_BUNDLE_WARPS;
	bool stop = wants_stop(d, view);

	d->before[w].shown = stop || d->options.trace;
	if (!d->before[w].shown)
		return;
	show_stop(d->options.out, d->machine->script, view);
	if (stop) {
		clause_print(d->options.out, d->machine->script, view->clause, "", CLAUSE_NO_TUPLE,
			     false);
		if (!d->chosen) {
			memcpy(d->group, view->group, sizeof(d->group));
			d->warp = view->warp;
			d->chosen = true;
		}
		d->view = view;
		dialogue(d);
	}
	for (unsigned int r = 0; r < TSR_REGISTERS; r++)
		d->before[w].reg[r] = view->reg[r * TSR_BUNDLE_WARPS];
}

static void hook(void *opaque, const struct tsr_shader_view *view)
{
	unsigned int w = view->slot % TSR_BUNDLE_WARPS;
	struct debugger *d = opaque;

	if (view->when == TSR_SHADER_BEFORE) {
		before_clause(d, view);
	} else if (d->before[w].shown) {
		show_changes(d->options.out, view, d->before[w].reg);
		d->before[w].shown = false;
	}
	fault_see(d->outcome, view);
	if (view->when == TSR_SHADER_FAULT && d->dialogues && d->until != UNTIL_END) {
		fprintf(d->options.out, "fault %s\n", compare_fault_name(view->fault_code));
		show_stop(d->options.out, d->machine->script, view);
		d->view = view;
		dialogue(d);
	}
}

void step_run(struct machine *machine, const struct machine_options *options,
	      const struct step_options *step, struct outcome *outcome)
{
	struct debugger *d = calloc(1, sizeof(*d));

	if (!d)
		abort();
	d->machine = machine;
	d->outcome = outcome;
	d->options = *step;
	d->until = step->step ? UNTIL_CLAUSE : UNTIL_BREAK;
	d->dialogues = step->step || step->breakpoints;
	snprintf(d->last, sizeof(d->last), "step");
	tsr_gpu_set_shader_hook(machine->bench->gpu, hook, d);
	machine_run(machine, options, outcome);
	tsr_gpu_set_shader_hook(machine->bench->gpu, NULL, NULL);
	free(d);
}
