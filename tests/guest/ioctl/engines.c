// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 DEVICE_ARGS=vram=64M,copy-engines=2 */
/*
 * Several engines: two of one class are inside jobs at the same moment, and sharing one among many
 * queues changes no result.
 */
#include "gt_main.h"

#include <unistd.h>

#define SRC_VA		0x40000000ULL
#define DST_VA		0x80000000ULL
#define BYTES		(16ULL << 20)
#define BUSY_TIME	1	/* id of the queue counter that counts nanoseconds on an engine */

static struct gt_ctx c;

/* Measurements of a long job, in data memory. */
struct measured {
	uint64_t begin, end;	/* timestamps around the copies */
	uint64_t busy;		/* nanoseconds on an engine between them */
	uint64_t pad;
};

static void long_job(struct gt_cs *cs, uint64_t at, unsigned int half, unsigned int copies)
{
	uint64_t offset = half * BYTES / 2;

	GT_EMIT(cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(cs, counter_begin, .mask = 1 << BUSY_TIME);
	GT_EMIT(cs, timestamp, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(at));
	while (copies--)
		GT_EMIT(cs, copy_linear, .src = SRC_VA + offset, .dst = DST_VA + offset,
			.size = BYTES / 2);
	GT_EMIT(cs, timestamp, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(at + 8));
	GT_EMIT(cs, counter_end, .addr = gt_data_va(at + 16));
}

/*
 * Two queues of one class, two engines. The time both together spent on engines exceeds the time
 * that passed: so for a while both were inside. With one engine the sum cannot exceed it, however
 * the slices fall. On a busy host the two may not meet: whether they did.
 */
static bool meet(void)
{
	struct gt_bo src = gt_bo(c.fd, BYTES, DRM_TESSERA_BO_CACHED),
		     dst = gt_bo(c.fd, BYTES, DRM_TESSERA_BO_CACHED);
	volatile struct measured *m = gt_data(&c, 0x100);
	uint32_t queues[2], done[2];
	uint64_t first, last, busy;
	unsigned int i;

	memset(src.map, 0x3c, BYTES);
	memset((void *)m, 0, 2 * sizeof(*m));
	*(volatile uint32_t *)gt_data(&c, 0) = 0;
	gt_bo_bind(&src, c.vm, SRC_VA, GT_RW);
	gt_bo_bind(&dst, c.vm, DST_VA, GT_RW);
	for (i = 0; i < 2; i++) {
		struct gt_cs cs = gt_stream(&c, 128);
		struct drm_tessera_sync sync;

		queues[i] = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
		done[i] = gt_syncobj(c.fd, false);
		sync = gt_binary(done[i]);
		long_job(&cs, 0x100 + i * sizeof(*m), i, 20);
		ktap_eq(gt_kick(&c, queues[i], &cs, &sync), 0);
	}
	*(volatile uint32_t *)gt_data(&c, 0) = 1;
	for (i = 0; i < 2; i++)
		ktap_eq(gt_fence_error(c.fd, done[i], 0), 0);
	first = m[0].begin < m[1].begin ? m[0].begin : m[1].begin;
	last = m[0].end > m[1].end ? m[0].end : m[1].end;
	busy = m[0].busy + m[1].busy;
	ktap_note("%llu ns on engines in %llu ns", (unsigned long long)busy,
		  (unsigned long long)(last - first));
	ktap_mem_eq(dst.map, src.map, BYTES);
	for (i = 0; i < 2; i++) {
		gt_queue_destroy(c.fd, queues[i]);
		gt_syncobj_free(c.fd, done[i]);
	}
	gt_bo_free(&src);
	gt_bo_free(&dst);
	return busy > last - first;
}

static void two_at_once(void)
{
	const volatile struct measured *m = gt_data(&c, 0x100);
	unsigned int tries = 1;
	bool met;

	while (!(met = meet()) && tries < 10)
		tries++;
	ktap_ok(met);
	/* the last try, which left its figures, by its time stamps as well */
	ktap_ok(m[0].begin < m[1].end && m[1].begin < m[0].end);
}

/*
 * As many queues of all priorities as a file may have, on two engines, long and short jobs mixed:
 * every copy is exact.
 */
static void many_share(void)
{
	enum { QUEUES = 15, CHUNK = 0x8000 };
	uint32_t queues[QUEUES], timeline = gt_syncobj(c.fd, false);
	unsigned char *bytes = gt_data(&c, 0);
	unsigned int i, j;

	for (i = 0; i < 0x80000; i++)
		bytes[i] = i * 7 + (i >> 8);
	memset(bytes + 0x80000, 0, 0x80000);
	for (i = 0; i < QUEUES; i++)
		ktap_eq(gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY, i % 3, 0, &queues[i]), 0);
	for (i = 0; i < 0x80000 / CHUNK; i++) {
		struct drm_tessera_sync sync = gt_point(timeline, i + 1);
		uint32_t size = CHUNK >> (i % 5);
		struct gt_cs cs = gt_stream(&c, 4 << (i % 5));

		for (j = 0; j < CHUNK / size; j++) {
			uint64_t at = i * CHUNK + j * size;

			GT_EMIT(&cs, copy_linear, .src = gt_data_va(at),
				.dst = gt_data_va(0x80000 + at), .size = size);
		}
		ktap_eq(gt_kick(&c, queues[i % QUEUES], &cs, &sync), 0);
	}
	for (i = 0; i < 0x80000 / CHUNK; i++)
		ktap_eq(gt_fence_error(c.fd, timeline, i + 1), 0);
	ktap_mem_eq(bytes + 0x80000, bytes, 0x80000);
	for (i = 0; i < QUEUES; i++)
		gt_queue_destroy(c.fd, queues[i]);
	gt_syncobj_free(c.fd, timeline);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[SYS10] two engines are inside jobs at once", two_at_once);
	ktap_run("[SYS10] fifteen queues of all priorities share two engines", many_share);
	gt_ctx_free(&c);
	return gt_finish();
}
