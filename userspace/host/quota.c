// SPDX-License-Identifier: MIT
/* What an open file may have: the limits of kernel/tessera_quota.c, of things there are few of. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "driver.h"

#define MAX_VMS		256u
#define MAX_HEAPS	64u
#define CLASSES		4u		/* of engines: a program that draws has a queue of each */

struct quota {
	unsigned int refs;
	uint64_t limit[QUOTAS], used[QUOTAS];
};

static uint64_t share(uint64_t count)
{
	uint64_t quarter = (count + 3) / 4, least = count < CLASSES ? count : CLASSES;

	return quarter > least ? quarter : least;
}

struct quota *quota_new(void)
{
	const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	struct quota *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->refs = 1;
	q->limit[QUOTA_VMS] = MAX_VMS;
	q->limit[QUOTA_QUEUES] = share(SLOTS);
	q->limit[QUOTA_SPACES] = share(drv.spaces - 1);
	q->limit[QUOTA_HEAPS] = MAX_HEAPS;
	q->limit[QUOTA_PERFMONS] = share(PERFMONS);
	q->limit[QUOTA_HEAP_MEMORY] = memory / 4 & -PAGE;
	q->limit[QUOTA_PAGE_TABLES] = pgtable_limit();
	q->limit[QUOTA_LOCAL] = drv.local_size / 2 & -PAGE;
	return q;
}

struct quota *quota_get(struct quota *q)
{
	q->refs++;
	return q;
}

void quota_put(struct quota *q)
{
	if (q && !--q->refs)
		free(q);
}

int quota_room(const struct quota *q, enum quota_kind kind, uint64_t amount)
{
	return amount > q->limit[kind] || q->used[kind] > q->limit[kind] - amount ? -ENOSPC : 0;
}

int quota_charge(struct quota *q, enum quota_kind kind, uint64_t amount)
{
	int ret = quota_room(q, kind, amount);

	if (!ret)
		q->used[kind] += amount;
	return ret;
}

void quota_adjust(struct quota *q, enum quota_kind kind, int64_t amount)
{
	q->used[kind] += (uint64_t)amount;
}

void quota_fill(const struct quota *q, struct drm_tessera_file_limits *limits)
{
	*limits = (struct drm_tessera_file_limits){
		.max_vms = (uint32_t)q->limit[QUOTA_VMS],
		.vms = (uint32_t)q->used[QUOTA_VMS],
		.max_queues = (uint32_t)q->limit[QUOTA_QUEUES],
		.queues = (uint32_t)q->used[QUOTA_QUEUES],
		.max_address_spaces = (uint32_t)q->limit[QUOTA_SPACES],
		.address_spaces = (uint32_t)q->used[QUOTA_SPACES],
		.max_heaps = (uint32_t)q->limit[QUOTA_HEAPS],
		.heaps = (uint32_t)q->used[QUOTA_HEAPS],
		.max_perfmons = (uint32_t)q->limit[QUOTA_PERFMONS],
		.perfmons = (uint32_t)q->used[QUOTA_PERFMONS],
		.max_heap_memory = q->limit[QUOTA_HEAP_MEMORY],
		.heap_memory = q->used[QUOTA_HEAP_MEMORY],
		.max_page_tables = q->limit[QUOTA_PAGE_TABLES],
		.page_tables = q->used[QUOTA_PAGE_TABLES],
		.max_local_memory = q->limit[QUOTA_LOCAL],
		.local_memory = q->used[QUOTA_LOCAL],
	};
}
