// SPDX-License-Identifier: MIT
/*
 * Limits of an open file and of a user, as kernel/tessera_quota.c has them. The device belongs to
 * this process, but its files may be opened with several real uids, and a program that is written
 * for the kernel finds the same limits here.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "driver.h"

#define MAX_VMS		256u
#define MAX_HEAPS	64u
#define CLASSES		4u		/* of engines: a program that draws has a queue of each */

#define FILES_PER_USER	3u	/* of kinds the device does not bound: a user's limit in files */

struct budget {
	uint64_t limit[QUOTAS], used[QUOTAS];
};

/* All quotas of one user; freed with the last of them. The driver's lock protects the list. */
struct account {
	struct account *next;
	uid_t uid;
	unsigned int quotas;
	struct budget budget;
};

struct quota {
	unsigned int refs;
	struct account *account;
	struct budget budget;
};

static struct account *accounts;

static uint64_t share(uint64_t count)
{
	uint64_t quarter = (count + 3) / 4, least = count < CLASSES ? count : CLASSES;

	return quarter > least ? quarter : least;
}

/* A quarter is left to others, but a user may have at least what one file may have. */
static uint64_t user_share(uint64_t count)
{
	uint64_t most = count - (count + 3) / 4;

	return most > share(count) ? most : share(count);
}

static void init_file(struct budget *b)
{
	const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	b->limit[QUOTA_VMS] = MAX_VMS;
	b->limit[QUOTA_QUEUES] = share(SLOTS);
	b->limit[QUOTA_SPACES] = share(drv.spaces - 1);
	b->limit[QUOTA_HEAPS] = MAX_HEAPS;
	b->limit[QUOTA_PERFMONS] = share(PERFMONS);
	b->limit[QUOTA_HEAP_MEMORY] = memory / 4 & -PAGE;
	b->limit[QUOTA_PAGE_TABLES] = pgtable_limit();
	b->limit[QUOTA_LOCAL] = drv.local_size / 2 & -PAGE;
}

static void init_user(struct budget *b)
{
	unsigned int kind;

	init_file(b);
	for (kind = 0; kind < QUOTAS; kind++)
		b->limit[kind] *= FILES_PER_USER;
	b->limit[QUOTA_QUEUES] = user_share(SLOTS);
	b->limit[QUOTA_SPACES] = user_share(drv.spaces - 1);
	b->limit[QUOTA_PERFMONS] = user_share(PERFMONS);
	b->limit[QUOTA_LOCAL] = (drv.local_size - (drv.local_size + 3) / 4) & -PAGE;
}

static struct account *account_get(uid_t uid)
{
	struct account *a = accounts;

	while (a && a->uid != uid)
		a = a->next;
	if (!a) {
		a = calloc(1, sizeof(*a));
		if (!a)
			return NULL;
		a->uid = uid;
		init_user(&a->budget);
		a->next = accounts;
		accounts = a;
	}
	a->quotas++;
	return a;
}

static void account_put(struct account *a)
{
	struct account **link = &accounts;

	if (--a->quotas)
		return;
	while (*link != a)
		link = &(*link)->next;
	*link = a->next;
	free(a);
}

struct quota *quota_new(void)
{
	struct quota *q = calloc(1, sizeof(*q));

	if (q)
		q->account = account_get(getuid());
	if (!q || !q->account) {
		free(q);
		return NULL;
	}
	q->refs = 1;
	init_file(&q->budget);
	return q;
}

struct quota *quota_get(struct quota *q)
{
	q->refs++;
	return q;
}

void quota_put(struct quota *q)
{
	if (q && !--q->refs) {
		account_put(q->account);
		free(q);
	}
}

static bool has(const struct budget *b, enum quota_kind kind, uint64_t amount)
{
	return amount <= b->limit[kind] && b->used[kind] <= b->limit[kind] - amount;
}

int quota_room(const struct quota *q, enum quota_kind kind, uint64_t amount)
{
	return has(&q->budget, kind, amount) && has(&q->account->budget, kind, amount) ? 0 :
	       -ENOSPC;
}

int quota_charge(struct quota *q, enum quota_kind kind, uint64_t amount)
{
	int ret = quota_room(q, kind, amount);

	if (!ret)
		quota_adjust(q, kind, (int64_t)amount);
	return ret;
}

void quota_adjust(struct quota *q, enum quota_kind kind, int64_t amount)
{
	q->budget.used[kind] += (uint64_t)amount;
	q->account->budget.used[kind] += (uint64_t)amount;
}

void quota_fill(const struct quota *q, struct drm_tessera_file_limits *limits)
{
	*limits = (struct drm_tessera_file_limits){
		.max_vms = (uint32_t)q->budget.limit[QUOTA_VMS],
		.vms = (uint32_t)q->budget.used[QUOTA_VMS],
		.max_queues = (uint32_t)q->budget.limit[QUOTA_QUEUES],
		.queues = (uint32_t)q->budget.used[QUOTA_QUEUES],
		.max_address_spaces = (uint32_t)q->budget.limit[QUOTA_SPACES],
		.address_spaces = (uint32_t)q->budget.used[QUOTA_SPACES],
		.max_heaps = (uint32_t)q->budget.limit[QUOTA_HEAPS],
		.heaps = (uint32_t)q->budget.used[QUOTA_HEAPS],
		.max_perfmons = (uint32_t)q->budget.limit[QUOTA_PERFMONS],
		.perfmons = (uint32_t)q->budget.used[QUOTA_PERFMONS],
		.max_heap_memory = q->budget.limit[QUOTA_HEAP_MEMORY],
		.heap_memory = q->budget.used[QUOTA_HEAP_MEMORY],
		.max_page_tables = q->budget.limit[QUOTA_PAGE_TABLES],
		.page_tables = q->budget.used[QUOTA_PAGE_TABLES],
		.max_local_memory = q->budget.limit[QUOTA_LOCAL],
		.local_memory = q->budget.used[QUOTA_LOCAL],
	};
}
