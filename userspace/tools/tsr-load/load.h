/* SPDX-License-Identifier: MIT */
/*
 * tsr-load: clients of the GPU that submit jobs of known cost, described by a load file, and what
 * their scheduler made of them. Documentation/guide/scheduling.md is the manual.
 */
#ifndef LOAD_H
#define LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <tessera/tessera.h>

#define US 1000ull
#define MS 1000000ull
#define S 1000000000ull

#define CLIENTS_MAX 128
#define CYCLES_MAX 8192		/* cycles of a client */
#define JOBS_MAX 65536		/* jobs of a client */
#define EXPECTS_MAX 64
#define NAME_MAX_LENGTH 31
#define STATUS_LACKING 77

/* ---- a load, as its file describes it: parse.c ---- */

/*
 * A client repeats a cycle: it submits @jobs jobs, waits for the last one if @sync is true, and
 * sleeps for @wait_ns. This is the client of the kernel's own tests of drm_sched.
 */
struct client_spec {
	char name[NAME_MAX_LENGTH + 1];
	enum drm_tessera_priority priority;
	enum drm_tessera_engine_class class;
	unsigned int jobs;
	uint64_t job_ns;	/* cost of a job, in cycles of the engine */
	bool sync;
	uint64_t wait_ns;
	unsigned int depth;	/* unfinished jobs at most; 0 is no limit */
	uint64_t start_ns;	/* delay of the first cycle */
	unsigned int cycles;
	int after;		/* each cycle waits for the same cycle of this client, or -1 */
};

enum policy { POLICY_RR, POLICY_FIFO, POLICY_FAIR, POLICIES };
extern const char *const policy_names[POLICIES];

/* One side of an expectation: a number, or a metric of a client. */
struct operand {
	int client;		/* -1 for a number */
	unsigned int metric;	/* index for metric_value() */
	double number;
};

struct expectation {
	unsigned int line;
	unsigned int policies;	/* bit per policy */
	char text[128];
	struct operand left, right;
	bool less;		/* @left < @right, else > */
};

struct load {
	char name[64];
	char title[128];
	unsigned int num_clients, num_expects;
	struct client_spec client[CLIENTS_MAX];
	struct expectation expect[EXPECTS_MAX];
};

/* load_parse(): read a file; false after a message with file and line. */
bool load_parse(const char *path, struct load *load);
const char *priority_name(enum drm_tessera_priority priority);
const char *class_name(enum drm_tessera_engine_class class);

/* ---- what happened ---- */

struct job_times {
	uint64_t queued, run, scheduled, finished;	/* CLOCK_MONOTONIC in ns, 0 if not seen */
};

/* Shared between a client's process and the parent. */
struct client_shared {
	int fd;			/* of the device, in the client */
	uint64_t start_ns, end_ns;
	unsigned int cycles_done, jobs_done;
	int error;		/* negative errno of the job or call that failed */
	char failed[64];	/* which call, if @error */
	uint64_t cycle_begin[CYCLES_MAX];
	uint64_t cycle_end[CYCLES_MAX];	/* after the last submit, or the wait of a sync client */
};

struct stats {
	unsigned int count;
	double min, avg, max, p50, p95, p99;
};

struct client_result {
	const struct client_spec *spec;
	struct client_shared *shared;
	uint64_t drm_client;	/* drm-client-id of fdinfo */
	uint64_t busy_ns;	/* engine time at the end */
	uint64_t busy_first_ns;	/* when the first client of the load had finished */
	struct job_times *job;	/* NULL if there is no trace */
	unsigned int num_jobs;
	/* derived by stats.c; times in us */
	double share, charged_share, charged_us, charged_ratio;
	double elapsed_ms, ideal_ms, first_us, starved_us;
	double job_us;		/* average cost that the engine's clock shows */
	struct stats cycle_time, latency_time, job_latency;
};

struct sample {
	uint64_t at_ms;
	unsigned int pct, cps, qd;
};

struct result {
	const struct load *load;
	bool traced;
	unsigned int num_clients;
	struct client_result client[CLIENTS_MAX];
	unsigned int num_samples;
	struct sample *sample;	/* num_samples for each client, client by client */
	double avg_max_min_delta;	/* of cycles, x 100 as in the kernel's tests */
	unsigned int failed;	/* expectations that do not hold */
};

/* How the machine schedules: setup.c. */
struct setup {
	enum policy policy;
	bool has_policy;	/* false: a kernel without the parameter */
	char backend[16];
	unsigned int slots, depth, timeslice;
	char release[72];	/* of uname() */
};

void setup_read(struct setup *setup);

/* File descriptors of a client's process; -1 if there is none. */
struct client_pipes {
	int ready, go;		/* to and from the parent, a byte at the start and one at the end */
	int line, after;	/* timelines: its own if others follow it, another client's */
};

/* client.c: body of a client's process; @after_spec may be NULL. */
_Noreturn void client_main(const struct client_spec *spec, const struct client_spec *after_spec,
			   struct client_shared *shared, const struct client_pipes *pipes);

/* run.c: run a load; false after a message. */
bool load_run(const struct load *load, struct result *result);
void result_free(struct result *result);

/* trace.c: what drm_sched did, from its trace events; trace_start() is false if there are none. */
bool trace_start(const struct load *load);
bool trace_read(struct result *result);
void trace_stop(void);

/* stats.c */
void result_derive(struct result *result);
int metric_find(const char *name);
double metric_value(const struct client_result *client, unsigned int metric);
bool expectation_holds(const struct result *result, const struct expectation *e, double *left,
		       double *right);
bool expectation_applies(const struct expectation *e, const struct setup *setup);
/* False if the expectation needs the trace and there is none, as on Linux 6.12. */
bool expectation_measured(const struct result *result, const struct expectation *e);

/* report.c */
void report_table(const struct result *result, const struct setup *setup, FILE *f);
void report_json_begin(const struct setup *setup, FILE *f);
void report_json(const struct result *result, const struct setup *setup, bool first, FILE *f);
void report_json_end(FILE *f);

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* LOAD_H */
