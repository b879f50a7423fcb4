// SPDX-License-Identifier: MIT
/* The table of a run, and its JSON. */
#include <string.h>

#include "load.h"

static void print_stats(FILE *f, const char *name, const struct stats *s)
{
	fprintf(f, "      %-14s %9.0f %9.0f %9.0f %9.0f %9.0f %9.0f\n", name, s->min, s->avg,
		s->p50, s->p95, s->p99, s->max);
}

static void print_charged(const struct client_result *c, FILE *f)
{
	fprintf(f, "      charged by drm_sched %.1f ms (%.3f of the engine's), share %.1f %%\n",
		c->charged_us / 1000, c->charged_ratio, c->charged_share);
	fprintf(f, "      first job %.0f us, starved %.0f us\n", c->first_us, c->starved_us);
}

static void print_client(const struct result *result, const struct client_result *c, FILE *f)
{
	const struct client_spec *s = c->spec;

	fprintf(f, "  %s: prio=%s class=%s jobs=%u job=%gms wait=%gms%s\n", s->name,
		priority_name(s->priority), class_name(s->class), s->jobs, s->job_ns / (double)MS,
		s->wait_ns / (double)MS, s->sync ? " sync" : "");
	fprintf(f, "      elapsed %.1f ms, ideal %.1f ms, engine %.1f ms, GPU share %.1f %%\n",
		c->elapsed_ms, c->ideal_ms, c->busy_ns / (double)MS, c->share);
	if (result->traced)
		print_charged(c, f);
	print_stats(f, "cycle_time", &c->cycle_time);
	print_stats(f, "latency_time", &c->latency_time);
	if (result->traced)
		print_stats(f, "job_latency", &c->job_latency);
}

static void print_expectation(const struct result *result, const struct expectation *e, FILE *f)
{
	double left, right;
	bool holds = expectation_holds(result, e, &left, &right);

	if (!expectation_measured(result, e)) {
		fprintf(f, "  not measured: expect %s: this kernel does not trace drm_sched\n",
			e->text);
		return;
	}
	fprintf(f, "  %s: expect %s (%g, %g)\n", holds ? "ok" : "NOT OK", e->text, left, right);
}

static const char *policy_name(const struct setup *setup)
{
	return setup->has_policy ? policy_names[setup->policy] : "unknown";
}

void report_table(const struct result *result, const struct setup *setup, FILE *f)
{
	fprintf(f, "%s: %s\n", result->load->name, result->load->title);
	fprintf(f, "  policy %s, backend %s, %u slots, depth %u; times in us\n", policy_name(setup),
		setup->backend, setup->slots, setup->depth);
	fprintf(f, "      %-14s %9s %9s %9s %9s %9s %9s\n", "", "min", "avg", "p50", "p95", "p99",
		"max");
	for (unsigned int i = 0; i < result->num_clients; i++)
		print_client(result, &result->client[i], f);
	for (unsigned int i = 0; i < result->load->num_expects; i++) {
		if (expectation_applies(&result->load->expect[i], setup))
			print_expectation(result, &result->load->expect[i], f);
	}
}

/* ---- JSON ---- */

/* A string; files of loads can contain anything. */
static void json_string(FILE *f, const char *key, const char *text)
{
	fprintf(f, "\"%s\": \"", key);
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < ' ')
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static void json_stats(FILE *f, const char *name, const struct stats *s)
{
	fprintf(f, ", \"%s\": {\"min\": %.0f, \"avg\": %.0f, \"max\": %.0f", name, s->min, s->avg,
		s->max);
	fprintf(f, ", \"p50\": %.0f, \"p95\": %.0f, \"p99\": %.0f}", s->p50, s->p95, s->p99);
}

static void json_samples(FILE *f, const struct result *result, unsigned int client)
{
	const struct sample *s = &result->sample[client * result->num_samples];
	const char *comma = "";

	fputs(", \"samples\": [", f);
	for (unsigned int i = 0; i < result->num_samples; i++, comma = ", ")
		fprintf(f, "%s[%lu, %u, %u, %u]", comma, s[i].at_ms, s[i].pct, s[i].cps, s[i].qd);
	fputc(']', f);
}

static void json_spec(FILE *f, const struct client_spec *s)
{
	fputs("      {", f);
	json_string(f, "name", s->name);
	fprintf(f, ", \"prio\": \"%s\", \"class\": \"%s\", \"sync\": %d, \"jobs\": %u",
		priority_name(s->priority), class_name(s->class), s->sync, s->jobs);
	fprintf(f, ", \"job_us\": %.0f, \"wait_us\": %.0f", s->job_ns / (double)US,
		s->wait_ns / (double)US);
}

static void json_client(FILE *f, const struct result *result, unsigned int index)
{
	const struct client_result *c = &result->client[index];

	json_spec(f, c->spec);
	fprintf(f, ", \"cycles\": %u, \"elapsed_ms\": %.2f, \"ideal_ms\": %.2f",
		c->shared->cycles_done, c->elapsed_ms, c->ideal_ms);
	fprintf(f, ", \"busy_us\": %.0f, \"share\": %.2f", c->busy_ns / (double)US, c->share);
	json_stats(f, "cycle_time", &c->cycle_time);
	json_stats(f, "latency_time", &c->latency_time);
	fprintf(f, ", \"first_us\": %.0f", c->first_us);
	if (result->traced) {
		json_stats(f, "job_latency", &c->job_latency);
		fprintf(f, ", \"charged_us\": %.0f, \"charged_ratio\": %.4f", c->charged_us,
			c->charged_ratio);
		fprintf(f, ", \"charged_share\": %.2f, \"starved_us\": %.0f", c->charged_share,
			c->starved_us);
	}
	json_samples(f, result, index);
	fputc('}', f);
}

static void json_expectations(FILE *f, const struct result *result, const struct setup *setup)
{
	const char *comma = "";
	double left, right;

	fputs("],\n     \"expectations\": [", f);
	for (unsigned int i = 0; i < result->load->num_expects; i++) {
		const struct expectation *e = &result->load->expect[i];
		bool holds = expectation_holds(result, e, &left, &right);

		if (!expectation_applies(e, setup) || !expectation_measured(result, e))
			continue;
		fprintf(f, "%s{", comma);
		json_string(f, "text", e->text);
		fprintf(f, ", \"holds\": %s, \"left\": %.4g, \"right\": %.4g}",
			holds ? "true" : "false", left, right);
		comma = ", ";
	}
	fputs("]}", f);
}

void report_json_begin(const struct setup *setup, FILE *f)
{
	fputc('{', f);
	json_string(f, "kernel", setup->release);
	fprintf(f, ", \"policy\": \"%s\", ", policy_name(setup));
	json_string(f, "backend", setup->backend);
	fprintf(f, ", \"slots\": %u, \"depth\": %u, \"timeslice\": %u,\n \"loads\": [",
		setup->slots, setup->depth, setup->timeslice);
}

void report_json(const struct result *result, const struct setup *setup, bool first, FILE *f)
{
	fprintf(f, "%s\n    {", first ? "" : ",");
	json_string(f, "load", result->load->name);
	fputs(", ", f);
	json_string(f, "title", result->load->title);
	fprintf(f, ", \"avg_max_min_delta\": %.0f, \"clients\": [\n", result->avg_max_min_delta);
	for (unsigned int i = 0; i < result->num_clients; i++) {
		fputs(i ? ",\n" : "", f);
		json_client(f, result, i);
	}
	json_expectations(f, result, setup);
}

void report_json_end(FILE *f)
{
	fputs("\n]}\n", f);
}
