// SPDX-License-Identifier: MIT
/*
 * Figures of a run. pct, cps, qd, elapsed, ideal, cycle_time and latency_time are those of the
 * kernel's own tests of drm_sched, by their definitions.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

#define SAMPLE_NS (100 * MS)
#define SAMPLES_MAX 1000

/* ---- metrics by name ---- */

#define FIELD(name, field)                                                                         \
	{                                                                                          \
		name, offsetof(struct client_result, field)                                        \
	}
#define STATS(name, field)                                                                         \
	FIELD(name ".min", field.min), FIELD(name ".avg", field.avg),                              \
		FIELD(name ".max", field.max), FIELD(name ".p50", field.p50),                      \
		FIELD(name ".p95", field.p95), FIELD(name ".p99", field.p99)

static const struct {
	const char *name;
	size_t offset;
} metrics[] = {
	FIELD("share", share),
	FIELD("charged-share", charged_share),
	FIELD("charged-ratio", charged_ratio),
	FIELD("elapsed", elapsed_ms),
	FIELD("ideal", ideal_ms),
	FIELD("first", first_us),
	FIELD("starved", starved_us),
	STATS("cycle", cycle_time),
	STATS("latency", latency_time),
	STATS("job", job_latency),
};

int metric_find(const char *name)
{
	for (unsigned int i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		if (!strcmp(metrics[i].name, name))
			return i;
	}
	return -1;
}

double metric_value(const struct client_result *client, unsigned int metric)
{
	double value;

	memcpy(&value, (const char *)client + metrics[metric].offset, sizeof(value));
	return value;
}

static double operand_value(const struct result *result, const struct operand *o)
{
	return o->client < 0 ? o->number : metric_value(&result->client[o->client], o->metric);
}

bool expectation_applies(const struct expectation *e, const struct setup *setup)
{
	return setup->has_policy && e->policies & 1 << setup->policy &&
	       !strcmp(setup->backend, "engine") && setup->slots == 1 && setup->depth == 1;
}

/* True if the value comes from the trace. */
static bool operand_traced(const struct operand *o)
{
	static const char *const traced[] = { "charged-", "starved", "job." };

	for (unsigned int i = 0; o->client >= 0 && i < sizeof(traced) / sizeof(traced[0]); i++) {
		if (!strncmp(metrics[o->metric].name, traced[i], strlen(traced[i])))
			return true;
	}
	return false;
}

bool expectation_measured(const struct result *result, const struct expectation *e)
{
	return result->traced || !(operand_traced(&e->left) || operand_traced(&e->right));
}

bool expectation_holds(const struct result *result, const struct expectation *e, double *left,
		       double *right)
{
	*left = operand_value(result, &e->left);
	*right = operand_value(result, &e->right);
	return e->less ? *left < *right : *left > *right;
}

/* ---- statistics ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Nearest rank */
static double percentile(const double *sorted, unsigned int count, unsigned int percent)
{
	unsigned int rank = ((uint64_t)count * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

/* Sorts @values. */
static struct stats summarize(double *values, unsigned int count)
{
	struct stats s = { .count = count };

	if (!count)
		return s;
	qsort(values, count, sizeof(*values), compare);
	for (unsigned int i = 0; i < count; i++)
		s.avg += values[i] / count;
	s.min = values[0];
	s.max = values[count - 1];
	s.p50 = percentile(values, count, 50);
	s.p95 = percentile(values, count, 95);
	s.p99 = percentile(values, count, 99);
	return s;
}

/* ---- clients ---- */

static void derive_cycles(struct client_result *c, double *values)
{
	const struct client_shared *shared = c->shared;
	double work = c->spec->jobs * (double)c->spec->job_ns / US;
	unsigned int n = shared->cycles_done;

	for (unsigned int i = 0; i < n; i++)
		values[i] = (shared->cycle_end[i] - shared->cycle_begin[i]) / (double)US;
	c->cycle_time = summarize(values, n);
	for (unsigned int i = 0; i < n; i++)
		values[i] = values[i] >= work ? values[i] - work : c->spec->sync ? 0 : values[i];
	c->latency_time = summarize(values, n);
	c->elapsed_ms = (shared->end_ns - shared->start_ns) / (double)MS;
	c->ideal_ms = n * (work + c->spec->wait_ns / (double)US) / 1000;
	if (n)
		c->first_us = (shared->cycle_end[0] - shared->cycle_begin[0]) / (double)US;
}

/* Needs the trace. */
static void derive_jobs(struct client_result *c, double *values)
{
	uint64_t before = 0, charged = 0;

	for (unsigned int i = 0; i < c->num_jobs; i++) {
		const struct job_times *job = &c->job[i];
		uint64_t ready = job->queued > before ? job->queued : before;

		values[i] = (job->finished - job->queued) / (double)US;
		charged += job->finished - job->scheduled;
		/* The client had nothing on the device meanwhile. */
		if (job->run > ready)
			c->starved_us = fmax(c->starved_us, (job->run - ready) / (double)US);
		before = job->finished;
	}
	if (c->num_jobs)
		c->first_us = values[0];
	c->job_latency = summarize(values, c->num_jobs);
	c->charged_us = charged / (double)US;
	c->charged_ratio = c->busy_ns ? charged / (double)c->busy_ns : 0;
}

static uint64_t first_end(const struct result *result)
{
	uint64_t end = UINT64_MAX;

	for (unsigned int i = 0; i < result->num_clients; i++) {
		if (result->client[i].shared->end_ns < end)
			end = result->client[i].shared->end_ns;
	}
	return end;
}

static double charged_until(const struct client_result *c, uint64_t end)
{
	uint64_t charged = 0;

	for (unsigned int i = 0; i < c->num_jobs; i++) {
		if (c->job[i].finished <= end)
			charged += c->job[i].finished - c->job[i].scheduled;
	}
	return charged;
}

/* Shares count while all clients have work: until the first one has finished. */
static void derive_shares(struct result *result)
{
	uint64_t end = first_end(result);
	double busy = 0, charged = 0;

	for (unsigned int i = 0; i < result->num_clients; i++) {
		busy += result->client[i].busy_first_ns;
		charged += charged_until(&result->client[i], end);
	}
	for (unsigned int i = 0; i < result->num_clients; i++) {
		struct client_result *c = &result->client[i];

		c->share = busy ? 100 * c->busy_first_ns / busy : 0;
		c->charged_share = charged ? 100 * charged_until(c, end) / charged : 0;
	}
}

/* ---- the kernel's samples, every 100 ms ---- */

static uint64_t first_start(const struct result *result)
{
	uint64_t start = UINT64_MAX;

	for (unsigned int i = 0; i < result->num_clients; i++) {
		if (result->client[i].shared->start_ns < start)
			start = result->client[i].shared->start_ns;
	}
	return start;
}

/* Index of the last cycle that was over, 0 before the first one. */
static unsigned int cycle_at(const struct client_result *c, uint64_t ns)
{
	unsigned int n = 0;

	while (n < c->shared->cycles_done && c->shared->cycle_end[n] <= ns)
		n++;
	return n ? n - 1 : 0;
}

static unsigned int queue_depth_at(const struct client_result *c, uint64_t ns)
{
	unsigned int depth = 0;

	for (unsigned int i = 0; i < c->num_jobs; i++)
		depth += c->job[i].queued <= ns && c->job[i].run > ns;
	return depth;
}

static void take_sample(const struct client_result *c, unsigned int index, uint64_t ns,
			struct sample *samples)
{
	struct sample *s = &samples[index];
	unsigned int cycle = cycle_at(c, ns);

	s->at_ms = index * (SAMPLE_NS / MS);
	s->pct = (100 * (1 + cycle) + c->spec->cycles - 1) / c->spec->cycles;
	s->cps = (cycle - (index ? cycle_at(c, ns - SAMPLE_NS) : 0)) * (S / SAMPLE_NS);
	s->qd = queue_depth_at(c, ns);
}

static void derive_samples(struct result *result)
{
	uint64_t start = first_start(result), end = 0, delta = 0;

	for (unsigned int i = 0; i < result->num_clients; i++) {
		if (result->client[i].shared->end_ns > end)
			end = result->client[i].shared->end_ns;
	}
	result->num_samples = (end - start) / SAMPLE_NS + 1;
	if (result->num_samples > SAMPLES_MAX)
		result->num_samples = SAMPLES_MAX;
	result->sample =
		calloc(result->num_clients * (size_t)result->num_samples, sizeof(struct sample));
	if (!result->sample)
		result->num_samples = 0;
	for (unsigned int n = 0; n < result->num_samples; n++) {
		unsigned int least = UINT32_MAX, most = 0;

		for (unsigned int i = 0; i < result->num_clients; i++) {
			unsigned int cycle = cycle_at(&result->client[i], start + n * SAMPLE_NS);

			take_sample(&result->client[i], n, start + n * SAMPLE_NS,
				    &result->sample[i * result->num_samples]);
			least = cycle < least ? cycle : least;
			most = cycle > most ? cycle : most;
		}
		delta += most - least;
	}
	if (result->num_samples)
		result->avg_max_min_delta = ceil(delta * 100.0 / result->num_samples);
}

void result_derive(struct result *result)
{
	double *values = calloc(JOBS_MAX, sizeof(*values));

	for (unsigned int i = 0; values && i < result->num_clients; i++) {
		struct client_result *c = &result->client[i];

		derive_cycles(c, values);
		if (result->traced)
			derive_jobs(c, values);
	}
	free(values);
	derive_shares(result);
	derive_samples(result);
}
