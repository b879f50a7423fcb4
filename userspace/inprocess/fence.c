// SPDX-License-Identifier: MIT
/* Fences, see driver.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

struct fence *fence_new(const char *name)
{
	struct fence *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->refs = 1;
	snprintf(f->name, sizeof(f->name), "%s", name);
	return f;
}

struct fence *fence_stub(void)
{
	struct fence *f = fence_new("signalled");

	if (!f)
		return NULL;
	f->signalled = true;
	f->time = now_ns();
	return f;
}

struct fence *fence_get(struct fence *f)
{
	if (f)
		f->refs++;
	return f;
}

static void drop_parts(struct fence *f)
{
	unsigned int i;

	for (i = 0; i < f->parts_count; i++)
		fence_put(f->part[i]);
	free(f->part);
	f->part = NULL;
	f->parts_count = 0;
}

void fence_put(struct fence *f)
{
	if (!f || --f->refs)
		return;
	drop_parts(f);
	free(f->parent);
	free(f);
}

/* Room for one parent more. */
static int parent_reserve(struct fence *f)
{
	struct fence **parent;

	if (f->parents & (f->parents - 1))
		return 0;
	parent = realloc(f->parent, (f->parents ? 2 * f->parents : 1) * sizeof(*parent));
	if (!parent)
		return -ENOMEM;
	f->parent = parent;
	return 0;
}

struct fence *fence_all(struct fence *const *parts, unsigned int count, bool keep)
{
	struct fence *f = fence_new("merged");
	unsigned int i;

	if (!f)
		return NULL;
	for (i = 0; i < count; i++) {
		if (!parts[i]->signalled && parent_reserve(parts[i])) {
			/* the parents that it has already been given to keep it, and find nobody */
			f->pending = UINT32_MAX;
			fence_put(f);
			return NULL;
		}
		if (parts[i]->signalled) {
			f->status = f->status ? f->status : parts[i]->status;
			continue;
		}
		parts[i]->parent[parts[i]->parents++] = fence_get(f);
		f->pending++;
	}
	if (keep) {
		f->part = calloc(count ? count : 1, sizeof(*f->part));
		for (i = 0; f->part && i < count; i++)
			f->part[i] = fence_get(parts[i]);
		f->parts_count = f->part ? count : 0;
	}
	if (!f->pending) {
		f->signalled = true;
		f->time = now_ns();
	}
	return f;
}

/*
 * Signals one fence; what waits for it and has nothing else left comes before @list, which it
 * returns.
 */
static struct fence *signal_one(struct fence *f, struct fence *list)
{
	unsigned int i;

	f->signalled = true;
	f->time = now_ns();
	syncfile_tell(f);
	for (i = 0; i < f->parents; i++) {
		struct fence *p = f->parent[i];

		p->status = p->status ? p->status : f->status;
		if (--p->pending) {
			fence_put(p);
		} else {	/* the reference goes to the list */
			p->next = list;
			list = p;
		}
	}
	free(f->parent);
	f->parent = NULL;
	f->parents = 0;
	return list;
}

void fence_signal(struct fence *f, int status)
{
	struct fence *list;

	if (f->signalled)
		return;
	f->status = status;
	list = signal_one(f, NULL);
	while (list) {
		struct fence *first = list;

		list = signal_one(first, first->next);
		fence_put(first);
	}
	drv.work = true;
	syncobjs_look();
	neighbors_look();
	drv_changed();
}
