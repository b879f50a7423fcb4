// SPDX-License-Identifier: MIT
/*
 * When jobs were queued, run and done, from the trace events of drm_sched that are part of its
 * interface. dma_fence_signaled adds the exact times of both fences of a job, from which the policy
 * FAIR calculates what the job has cost.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "load.h"

#define TRACING "/sys/kernel/tracing"
#define INSTANCE TRACING "/instances/tsr-load"
#define BUFFER_KB 1024		/* at least */
#define JOB_BYTES 1024		/* of a job's events */

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

bool trace_start(const struct load *load)
{
	uint64_t kb = BUFFER_KB;
	char size[24];

	for (unsigned int i = 0; i < load->num_clients; i++)
		kb += load->client[i].jobs * (uint64_t)load->client[i].cycles * JOB_BYTES / 1024;
	snprintf(size, sizeof(size), "%lu", kb);
	rmdir(INSTANCE);
	if (mkdir(INSTANCE, 0700))
		return false;
	return write_file(INSTANCE "/trace_clock", "mono") &&
	       write_file(INSTANCE "/buffer_size_kb", size) &&
	       write_file(INSTANCE "/events/gpu_scheduler/drm_sched_job_queue/enable", "1") &&
	       write_file(INSTANCE "/events/gpu_scheduler/drm_sched_job_run/enable", "1") &&
	       write_file(INSTANCE "/events/dma_fence/dma_fence_signaled/enable", "1");
}

void trace_stop(void)
{
	rmdir(INSTANCE);
}

/* State of a client while its events are read. */
struct line {
	uint64_t context, first; /* of the finished fences; 0 before the first event */
};

static struct client_result *find_drm_client(struct result *result, uint64_t id)
{
	for (unsigned int i = 0; i < result->num_clients; i++) {
		if (result->client[i].drm_client == id)
			return &result->client[i];
	}
	return NULL;
}

static struct client_result *find_context(struct result *result, const struct line *lines,
					  uint64_t context)
{
	for (unsigned int i = 0; i < result->num_clients; i++) {
		if (lines[i].context && lines[i].context == context)
			return &result->client[i];
	}
	return NULL;
}

static struct job_times *job_at(struct result *result, const struct line *lines,
				struct client_result *c, uint64_t seqno)
{
	uint64_t index = seqno - lines[c - result->client].first;

	return index < c->spec->jobs * (uint64_t)c->spec->cycles ? &c->job[index] : NULL;
}

static void job_queued(struct result *result, struct line *lines, const char *text, uint64_t ns)
{
	const char *fence = strstr(text, "fence="), *id = strstr(text, "client_id:");
	uint64_t context, seqno;
	struct client_result *c;
	struct job_times *job;
	struct line *line;

	if (!fence || !id || sscanf(fence, "fence=%lu:%lu", &context, &seqno) != 2)
		return;
	c = find_drm_client(result, strtoull(id + 10, NULL, 10));
	if (!c)
		return;
	line = &lines[c - result->client];
	if (!line->context)
		*line = (struct line){ context, seqno };
	job = context == line->context ? job_at(result, lines, c, seqno) : NULL;
	if (job) {
		job->queued = ns;
		c->num_jobs++;
	}
}

static void job_ran(struct result *result, const struct line *lines, const char *text, uint64_t ns)
{
	const char *fence = strstr(text, "fence=");
	uint64_t context, seqno;
	struct client_result *c;
	struct job_times *job;

	if (!fence || sscanf(fence, "fence=%lu:%lu", &context, &seqno) != 2)
		return;
	c = find_context(result, lines, context);
	job = c ? job_at(result, lines, c, seqno) : NULL;
	if (job)
		job->run = ns;
}

/* The scheduled fence has the context before that of the finished fence. */
static void fence_signaled(struct result *result, const struct line *lines, const char *text,
			   uint64_t ns)
{
	const char *fence = strstr(text, "context=");
	uint64_t context, seqno;
	struct client_result *c;
	struct job_times *job;
	bool finished;

	if (!fence || sscanf(fence, "context=%lu seqno=%lu", &context, &seqno) != 2)
		return;
	c = find_context(result, lines, context);
	finished = c != NULL;
	if (!c)
		c = find_context(result, lines, context + 1);
	job = c ? job_at(result, lines, c, seqno) : NULL;
	if (job && finished)
		job->finished = ns;
	else if (job)
		job->scheduled = ns;
}

/* "  comm-pid [cpu] flags seconds.micros: event: text" */
static void read_event(struct result *result, struct line *lines, char *text)
{
	char *event, *colon = text, *time;
	uint64_t seconds, micros, ns;

	/* The first ": " behind a time; names of processes can contain anything. */
	for (;;) {
		colon = strstr(colon, ": ");
		if (!colon)
			return;
		time = colon;
		while (time > text && time[-1] != ' ')
			time--;
		if (sscanf(time, "%lu.%6lu:", &seconds, &micros) == 2)
			break;
		colon += 2;
	}
	ns = seconds * S + micros * US;
	event = colon + 2;
	if (!strncmp(event, "drm_sched_job_queue:", 20))
		job_queued(result, lines, event, ns);
	else if (!strncmp(event, "drm_sched_job_run:", 18))
		job_ran(result, lines, event, ns);
	else if (!strncmp(event, "dma_fence_signaled:", 19))
		fence_signaled(result, lines, event, ns);
}

static bool allocate_jobs(struct result *result)
{
	for (unsigned int i = 0; i < result->num_clients; i++) {
		struct client_result *c = &result->client[i];

		c->job = calloc(c->spec->jobs * (size_t)c->spec->cycles, sizeof(*c->job));
		if (!c->job)
			return false;
	}
	return true;
}

/* Returns true if every job of every client has all of its times. */
static bool is_complete(const struct result *result)
{
	for (unsigned int i = 0; i < result->num_clients; i++) {
		const struct client_result *c = &result->client[i];

		if (c->num_jobs != c->shared->jobs_done)
			return false;
		for (unsigned int j = 0; j < c->num_jobs; j++) {
			if (!c->job[j].run || !c->job[j].scheduled || !c->job[j].finished)
				return false;
		}
	}
	return true;
}

bool trace_read(struct result *result)
{
	struct line lines[CLIENTS_MAX] = { 0 };
	char text[512];
	FILE *f;

	write_file(INSTANCE "/tracing_on", "0");
	f = fopen(INSTANCE "/trace", "r");
	if (!f || !allocate_jobs(result)) {
		if (f)
			fclose(f);
		return false;
	}
	while (fgets(text, sizeof(text), f)) {
		if (*text != '#')
			read_event(result, lines, text);
	}
	fclose(f);
	if (is_complete(result))
		return true;
	complain("%s: events of the trace are missing", result->load->name);
	return false;
}
