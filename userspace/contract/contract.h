/* SPDX-License-Identifier: MIT */
/* Declarations for all files of drm-contract. */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "driver.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define TEXT		80		/* bytes of a cell */
#define LIMIT_MS	30000		/* "in finite time" */

/* The columns of the table, in the order of rows.tsv. */
enum column {
	FENCE, MERGED, NEXT, CONTEXT, SUBMIT, NEW, RUNNING, QUEUED, BLAME, NEWCOMER,
	MAPPING, WRITES, UEVENT, RECOVERY, DUMP, FDINFO, LOG, TIME, COLUMNS
};

struct column_info {
	const char *id;			/* in rows.tsv and in messages */
	const char *party, *head;	/* in the table */
	const char *rules;		/* "R1.1 R1.2" */
	const char *text;
};

struct rule {
	const char *id, *text, *source;
	bool proposed;			/* the kernel's documentation is a plan here */
};

extern const struct column_info columns[COLUMNS];
extern const struct rule rules[];
extern const unsigned int rule_count;

/* A row of rows.tsv. Strings are part of the text of the file. */
struct row {
	const char *name, *kind, *script, *text;
	const char *want[COLUMNS];	/* "-": nothing to see; "any: REASON" */
};

/* parse_rows(): all rows of @text, which is changed; ends the program at a mistake. */
unsigned int parse_rows(char *text, struct row *rows, unsigned int most);
/*
 * cell_mutants(): how many mutants of the driver turned the cell red, see shown.tsv. Their names
 * go to @names, with a space between them.
 */
unsigned int cell_mutants(const char *row, enum column column, char *names, size_t size);
int kind_of(const char *word);		/* enum job_kind, or -1 */

enum verdict { NOT_TRIED, NOTHING, KEPT, VIOLATED };

struct cell {
	enum verdict verdict;
	char got[TEXT];
	const char *rule;		/* the first that is violated */
};

struct result {
	const struct row *row;
	struct cell cell[COLUMNS];
	char why[TEXT];			/* why the row was not tried, or "" */
};

/* ---- actor.c: a process that uses the device ---- */

struct actor {
	const char *name;
	pid_t pid;
	int socket;
	volatile struct actor_shared *shared;
};

struct actor_shared {
	uint64_t progress;		/* steps of its long job */
	bool finish;			/* the long job may end */
	bool backwards;			/* steps of it were done again */
};

enum ask {
	ASK_CONTEXT,		/* open the device, make a context */
	ASK_JOB,		/* arg: the kind; the answer has a fence */
	ASK_STATE,
	ASK_PAGE,		/* read and write the mapping */
	ASK_PROVOKE,		/* text: the script */
	ASK_NEW,		/* another context of the same file, and a job of it */
	ASK_END,
};

struct answer {
	int value;		/* 0, -errno; of ASK_PAGE the signal, if any */
	struct context_state state;
	int fence;		/* file descriptor, or -1 */
};

#define NO_ANSWER	(-4095)	/* value of the answer of an actor that hangs or has died */

struct actor actor_start(const struct contract_driver *driver, const char *node, const char *name);
/* actor_send() and actor_receive() are actor_ask() in two steps. */
void actor_send(struct actor *a, enum ask what, int arg, const char *text);
struct answer actor_receive(struct actor *a);
struct answer actor_ask(struct actor *a, enum ask what, int arg, const char *text);
bool actor_began(struct actor *a);	/* waits until its long job has done a step */
void actor_end(struct actor *a, bool kill_it);

/* ---- monitor.c: uevents, core dumps, the kernel log, fdinfo ---- */

struct monitor {
	int uevents, kmsg;
	pid_t culprit;			/* whose PID an event has to have */
	char culprit_name[16];
	unsigned int events;
	char event[TEXT];		/* "", or the values of WEDGED= */
	bool gives_up;			/* an event asked for more than nothing */
	bool early;			/* that event came before all fences had signalled */
	bool dma;			/* that event came while the device could access memory */
	const int *fences;		/* fences that have to signal before that event */
	unsigned int fence_count;
};

void monitor_begin(struct monitor *m);
void monitor_poll(struct monitor *m, int ms);	/* wait for events */
void monitor_end(struct monitor *m);
unsigned int monitor_dumps(bool expected);	/* takes them off the kernel and counts them */
void monitor_log(struct monitor *m, char *text, size_t size);
/* monitor_engine_ns(): sum of the drm-engine-* lines of a process; -1 without any. */
long long monitor_engine_ns(pid_t pid);

/* ---- system.c: a device as an administrator handles it ---- */

void system_find(const char *node);		/* remember the device of that node */
int system_act(const char *verb);		/* "@unbind" ...; -EOPNOTSUPP */
bool system_masters_bus(void);			/* the device may access memory */
/* system_recover(): do what @event or @script asks for; "rebind", "rescan" ..., or "fails" */
const char *system_recover(const char *event, const char *script, bool (*works)(void));
/* system_node(): the render node of @driver; of the device that is remembered, if there is one */
bool system_node(const char *driver, char *node, size_t size);
int write_file(const char *path, const char *text);	/* 0 or -errno */
int read_file(const char *path, char *text, size_t size);

/* ---- fence.c ---- */

uint64_t now_ms(void);
const char *error_name(int error);	/* "0", "EFAULT"; "never" for -ETIME */
int fence_error(int fence);		/* -ETIME: it has not signalled */
int fence_wait(struct monitor *m, int fence, unsigned int ms);
int fence_merge(int a, int b);

/* ---- run.c, print.c ---- */

/* run_row(): run one row. @node is "" to look for a render node of the driver. */
void run_row(const struct contract_driver *driver, const char *node, const struct row *row,
	     bool destructive, struct result *result);
void print_row(const struct result *result, bool first);
void print_end(const struct result *results, unsigned int count);
bool print_html(const char *path, const char *driver, const struct result *results,
		unsigned int count);
void print_list(const struct row *rows, unsigned int count);
void print_shown(const struct row *rows, unsigned int count);

#endif /* CONTRACT_H */
