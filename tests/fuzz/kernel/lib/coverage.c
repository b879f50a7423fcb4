// SPDX-License-Identifier: MIT
#include "coverage.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* linux/kcov.h, which not every host has */
#define KCOV_INIT_TRACE	_IOR('c', 1, unsigned long)
#define KCOV_ENABLE	_IO('c', 100)
#define KCOV_TRACE_PC	0
#define ENTRIES		(256u << 10)

static unsigned long *trace;	/* [0]: entries; then the addresses of basic blocks */

bool coverage_open(void)
{
	int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (!ioctl(fd, KCOV_INIT_TRACE, ENTRIES)) {
		trace = mmap(NULL, ENTRIES * sizeof(*trace), PROT_READ | PROT_WRITE, MAP_SHARED,
			     fd, 0);
		if (trace != MAP_FAILED && !ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
			return true;	/* @fd stays open until the thread ends */
	}
	close(fd);
	return false;
}

void coverage_start(void)
{
	__atomic_store_n(&trace[0], 0, __ATOMIC_RELAXED);
}

/* A branch is a pair of blocks. Pairs with the same number count as one. */
static uint32_t branch(unsigned long from, unsigned long to)
{
	return ((from << 7 ^ to) * 0x9e3779b97f4a7c15ULL) >> 44;
}

static bool is_new(const struct coverage *c, uint32_t n)
{
	return !(c->seen[n / 8] >> n % 8 & 1);
}

static unsigned long trace_end(void)
{
	const unsigned long n = __atomic_load_n(&trace[0], __ATOMIC_RELAXED);

	return n < ENTRIES ? n + 1 : ENTRIES;
}

void coverage_stop(struct coverage *c, struct news *news)
{
	const unsigned long end = trace_end();
	const uint32_t run = ++c->runs;
	unsigned long before = 0;

	news->count = 0;
	for (unsigned long i = 1; i < end; i++) {
		const uint32_t n = branch(before, trace[i]);

		before = trace[i];
		if (c->last[n] == run)
			continue;
		c->last[n] = run;
		c->taken[n]++;
		if (is_new(c, n) && news->count < NEWS)
			news->branch[news->count++] = n;
	}
}

void coverage_add(struct coverage *c)
{
	const unsigned long end = trace_end();
	unsigned long before = 0;

	for (unsigned long i = 1; i < end; i++) {
		const uint32_t n = branch(before, trace[i]);

		before = trace[i];
		c->branches += is_new(c, n);
		c->seen[n / 8] |= 1 << n % 8;
	}
}

static bool has(const struct news *news, uint32_t n)
{
	for (unsigned int i = 0; i < news->count; i++)
		if (news->branch[i] == n)
			return true;
	return false;
}

void news_and(struct news *news, const struct news *other)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < news->count; i++)
		if (has(other, news->branch[i]))
			news->branch[kept++] = news->branch[i];
	news->count = kept;
}

bool news_within(const struct news *news, const struct news *other)
{
	for (unsigned int i = 0; i < news->count; i++)
		if (!has(other, news->branch[i]))
			return false;
	return true;
}
