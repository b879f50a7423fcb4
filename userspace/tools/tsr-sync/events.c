// SPDX-License-Identifier: MIT
/* The log of events with their times, and of the ioctls that were used. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "sync.h"

#define IOCTLS 64

static struct history history = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct {
	const char *name;
	unsigned int count;
} counted[IOCTLS];

void set_title(const char *text)
{
	snprintf(history.title, sizeof(history.title), "%s", text);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Room for one more element. */
static void *grow(void *array, unsigned int count, unsigned int *capacity, size_t size)
{
	if (count < *capacity)
		return array;
	*capacity = *capacity ? *capacity * 2 : 64;
	array = reallocarray(array, *capacity, size);
	if (!array)
		cannot("no memory left");
	return array;
}

void note(uint64_t ns, enum event_kind kind, const char *who, const char *lane, int error,
	  const char *format, ...)
{
	struct event *e;
	va_list ap;

	pthread_mutex_lock(&history.lock);
	history.events = grow(history.events, history.count, &history.capacity, sizeof(*e));
	e = &history.events[history.count++];
	*e = (struct event){ .ns = ns, .kind = kind, .error = error };
	snprintf(e->who, sizeof(e->who), "%s", who);
	snprintf(e->lane, sizeof(e->lane), "%s", lane);
	va_start(ap, format);
	vsnprintf(e->text, sizeof(e->text), format, ap);
	va_end(ap);
	pthread_mutex_unlock(&history.lock);
}

void note_edge(const char *from, const char *to)
{
	struct edge *edge;

	pthread_mutex_lock(&history.lock);
	history.edges =
		grow(history.edges, history.edge_count, &history.edge_capacity, sizeof(*edge));
	edge = &history.edges[history.edge_count++];
	snprintf(edge->from, sizeof(edge->from), "%s", from);
	snprintf(edge->to, sizeof(edge->to), "%s", to);
	pthread_mutex_unlock(&history.lock);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

const struct history *history_finish(void)
{
	qsort(history.events, history.count, sizeof(history.events[0]), by_time);
	history.start = history.count ? history.events[0].ns : 0;
	return &history;
}

bool event_time(const char *what, uint64_t *ns)
{
	static const char *const kinds[] = { "", "submit", "begin", "end", "done" };
	const char *dot = strrchr(what, '.');
	bool found = false;

	pthread_mutex_lock(&history.lock);
	for (unsigned int i = 0; dot && i < history.count && !found; i++) {
		const struct event *e = &history.events[i];

		found = strlen(e->who) == (size_t)(dot - what) &&
			!strncmp(e->who, what, dot - what) && !strcmp(kinds[e->kind], dot + 1);
		*ns = e->ns;
	}
	pthread_mutex_unlock(&history.lock);
	return found;
}

int plain_ioctl(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret == -1 && (errno == EINTR || errno == EAGAIN));
	return ret == -1 ? -errno : 0;
}

int do_ioctl(int fd, unsigned long request, const char *name, void *arg)
{
	pthread_mutex_lock(&history.lock);
	for (unsigned int i = 0; i < IOCTLS; i++) {
		if (counted[i].name && strcmp(counted[i].name, name))
			continue;
		counted[i].name = name;
		counted[i].count++;
		break;
	}
	pthread_mutex_unlock(&history.lock);
	return plain_ioctl(fd, request, arg);
}

void print_ioctls(const struct history *h, FILE *to)
{
	(void)h;
	for (unsigned int i = 0; i < IOCTLS && counted[i].name; i++)
		fprintf(to, "%s %u\n", counted[i].name, counted[i].count);
}
