// SPDX-License-Identifier: MIT
/* The report as a table, and for Perfetto. */
#include <stdlib.h>
#include <string.h>

#include "sync.h"

void print_table(const struct history *h, FILE *to)
{
	fprintf(to, "%12s  %-12s %s\n", "ms", "where", "what");
	for (unsigned int i = 0; i < h->count; i++) {
		const struct event *e = &h->events[i];

		fprintf(to, "%12.3f  %-12s %s\n", (e->ns - h->start) / 1e6, e->lane, e->text);
	}
}

/* ---- lanes ---- */

unsigned int list_lanes(const struct history *h, const char *lanes[LANES_MAX])
{
	unsigned int count = 0, k;

	for (unsigned int i = 0; i < h->count; i++) {
		for (k = 0; k < count && strcmp(lanes[k], h->events[i].lane); k++)
			;
		if (k == count && count < LANES_MAX)
			lanes[count++] = h->events[i].lane;
	}
	return count;
}

unsigned int lane_of(const char *const *lanes, unsigned int count, const char *name)
{
	unsigned int k;

	for (k = 0; k + 1 < count && strcmp(lanes[k], name); k++)
		;
	return k;
}

const struct event *find_event(const struct history *h, const char *who, enum event_kind kind)
{
	for (unsigned int i = 0; i < h->count; i++) {
		if (h->events[i].kind == kind && !strcmp(h->events[i].who, who))
			return &h->events[i];
	}
	return NULL;
}

const struct event *edge_target(const struct history *h, const struct edge *edge)
{
	const struct event *e = find_event(h, edge->to, EVENT_BEGIN);

	/* A wait begins before what it waits for is done. */
	if (!e || !strcmp(e->lane, e->who))
		e = find_event(h, edge->to, EVENT_DONE);
	return e;
}

/* ---- Perfetto ---- */

static void json_text(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
	}
}

static void json_event(FILE *f, const char *phase, unsigned int lane, uint64_t ns, const char *name,
		       const char *more)
{
	fprintf(f, ",\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%u,\"ts\":%.3f,\"name\":\"", phase,
		lane + 1, ns / 1e3);
	json_text(f, name);
	fprintf(f, "\"%s}", more);
}

/* A span from one event of @e's owner to another one. */
static void json_span(FILE *f, const struct history *h, const struct event *begin,
		      const struct event *end, unsigned int lane, const char *what)
{
	char more[100], name[80], text[24];

	if (!begin || !end || end->ns < begin->ns)
		return;
	snprintf(name, sizeof(name), "%s%s", end->who, what);
	snprintf(more, sizeof(more), ",\"dur\":%.3f,\"args\":{\"error\":\"%s\"}",
		 (end->ns - begin->ns) / 1e3, error_name(end->error, text));
	json_event(f, "X", lane, begin->ns - h->start, name, more);
}

static void json_edges(FILE *f, const struct history *h, const char *const *lanes,
		       unsigned int count)
{
	char more[80];

	for (unsigned int i = 0; i < h->edge_count; i++) {
		const struct event *from = find_event(h, h->edges[i].from, EVENT_DONE);
		const struct event *to = edge_target(h, &h->edges[i]);

		if (!from || !to)
			continue;
		snprintf(more, sizeof(more), ",\"cat\":\"fence\",\"id\":%u,\"bp\":\"e\"", i + 1);
		json_event(f, "s", lane_of(lanes, count, from->lane), from->ns - h->start, "fence",
			   more);
		json_event(f, "f", lane_of(lanes, count, to->lane), to->ns - h->start, "fence",
			   more);
	}
}

void write_perfetto(const struct history *h, FILE *f)
{
	const char *lanes[LANES_MAX];
	unsigned int count = list_lanes(h, lanes);

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
	      "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":"
	      "\"tsr-sync\"}}",
	      f);
	for (unsigned int i = 0; i < count; i++)
		fprintf(f,
			",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\",\"args\":{"
			"\"name\":\"%s\"}}",
			i + 1, lanes[i]);
	for (unsigned int i = 0; i < h->count; i++) {
		const struct event *e = &h->events[i];
		unsigned int lane = lane_of(lanes, count, e->lane);

		if (e->kind == EVENT_DONE) {
			const struct event *begin = find_event(h, e->who, EVENT_BEGIN);

			json_span(f, h, find_event(h, e->who, EVENT_SUBMIT), begin ? begin : e,
				  lane, " waits");
			json_span(f, h, begin, e, lane, "");
		}
		json_event(f, "i", lane, e->ns - h->start, e->text, ",\"s\":\"t\"");
	}
	json_edges(f, h, lanes, count);
	fputs("\n]}\n", f);
}
