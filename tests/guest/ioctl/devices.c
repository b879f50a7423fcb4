// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 SMP=2 DEVICES=2 */
/*
 * Two GPUs in one guest: each has its own nodes, memory and queues; buffers and fences go from one
 * to the other.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <xf86drm.h>

#define WIN_VA	0x40000000ULL

static struct gt_ctx gpu[2];

static void two_nodes(void)
{
	char paths[2][300];

	gt_sysfs(0, "", paths[0], sizeof(paths[0]));
	gt_sysfs(1, "", paths[1], sizeof(paths[1]));
	ktap_ok(strcmp(paths[0], paths[1]) != 0);
	ktap_eq(gt_open_nth(2, true), -ENOENT);
}

/* Both are inside a job at the same time: each waits for a word the other stores in shared memory.
 */
static void both_at_once(void)
{
	struct gt_bo bo = gt_bo(gpu[0].fd, GT_PAGE, 0);
	struct drm_tessera_sync done[2];
	struct drm_tessera_bind_op op;
	uint32_t other;
	unsigned int i;
	int dmabuf;

	memset(bo.map, 0, GT_PAGE);
	ktap_eq(drmPrimeHandleToFD(gpu[0].fd, bo.handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	ktap_eq(drmPrimeFDToHandle(gpu[1].fd, dmabuf, &other), 0);
	gt_bo_bind(&bo, gpu[0].vm, WIN_VA, GT_RW);
	op = gt_op_map(other, WIN_VA, GT_PAGE, 0, GT_RW);
	ktap_eq(gt_vm_bind(gpu[1].fd, gpu[1].vm, &op, 1), 0);
	for (i = 0; i < 2; i++) {
		struct gt_cs cs = gt_stream(&gpu[i], 16);

		done[i] = gt_binary(gpu[i].sync);
		GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_SET, .event = TSR_EVENT_REACHED,
			.addr = WIN_VA + 64 * i, .value = 1);
		GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = WIN_VA + 64 * !i, .value = 1);
		GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = WIN_VA + 128 + 64 * i,
			.value = 0x600 + i);
		ktap_eq(gt_kick(&gpu[i], gpu[i].queue, &cs, &done[i]), 0);
	}
	for (i = 0; i < 2; i++) {
		ktap_eq(gt_fence_error(gpu[i].fd, gpu[i].sync, 0), 0);
		ktap_eq(((volatile uint64_t *)bo.map)[16 + 8 * i], 0x600 + i);
	}
	close(dmabuf);
	gt_bo_free(&bo);
}

/*
 * A chain over both: GPU 0 fills, GPU 1 waits for its fence (a sync_file) and copies, GPU 0 waits
 * and copies back.
 */
static void fences_across(void)
{
	struct gt_bo bo = gt_bo(gpu[0].fd, 4 * GT_PAGE, DRM_TESSERA_BO_CACHED);
	struct drm_tessera_sync sync[2] = { gt_binary(gpu[0].sync), gt_binary(gpu[1].sync) };
	struct drm_tessera_bind_op op;
	uint32_t other, step;
	int dmabuf, file;

	ktap_eq(drmPrimeHandleToFD(gpu[0].fd, bo.handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	ktap_eq(drmPrimeFDToHandle(gpu[1].fd, dmabuf, &other), 0);
	gt_bo_bind(&bo, gpu[0].vm, WIN_VA, GT_RW);
	op = gt_op_map(other, WIN_VA, 4 * GT_PAGE, 0, GT_RW);
	ktap_eq(gt_vm_bind(gpu[1].fd, gpu[1].vm, &op, 1), 0);
	for (step = 0; step < 3; step++) {
		struct gt_ctx *me = &gpu[step & 1], *prev = &gpu[!(step & 1)];
		struct gt_cs cs = gt_stream(me, 8);
		struct drm_tessera_job job;

		if (!step)
			GT_EMIT(&cs, fill_linear, .texel = 4, .dst = WIN_VA, .size = GT_PAGE,
				.pattern_lo = 0xabad1dea);
		else
			GT_EMIT(&cs, copy_linear, .src = WIN_VA + (step - 1) * GT_PAGE,
				.dst = WIN_VA + step * GT_PAGE, .size = GT_PAGE);
		job = gt_job(me->queue, &cs);
		if (step) {
			ktap_eq(drmSyncobjExportSyncFile(prev->fd, prev->sync, &file), 0);
			ktap_eq(drmSyncobjImportSyncFile(me->fd, me->sync, file), 0);
			close(file);
			job.waits = GT_ARRAY(&sync[step & 1], 1);
		}
		job.signals = GT_ARRAY(&sync[step & 1], 1);
		ktap_eq(gt_submit(me->fd, &job, 1), 0);
	}
	ktap_eq(gt_fence_error(gpu[0].fd, gpu[0].sync, 0), 0);
	ktap_eq(((volatile uint32_t *)bo.map)[2 * GT_PAGE / 4 + 1023], 0xabad1dea);
	close(dmabuf);
	gt_bo_free(&bo);
}

/* A fault of one device has no effect on the other. */
static void faults_stay(void)
{
	struct gt_cs bad = gt_stream(&gpu[0], 8), good = gt_stream(&gpu[1], 3);
	struct drm_tessera_gpu_state before = gt_gpu_state(gpu[1].fd);

	gt_cs_word(&bad, 0x77);
	ktap_eq(gt_run(&gpu[0], &bad), -EINVAL);
	gt_renew_queue(&gpu[0]);
	GT_EMIT(&good, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0), .value = 8);
	ktap_eq(gt_run(&gpu[1], &good), 0);
	ktap_eq(gt_gpu_state(gpu[1].fd).queue_reset_count, before.queue_reset_count);
}

int main(int argc, char **argv)
{
	unsigned int i;

	gt_start(argc, argv);
	for (i = 0; i < 2; i++) {
		int fd = gt_open_nth(i, true);

		if (fd < 0)
			gt_die("GPU %u is not there", i);
		gpu[i] = gt_ctx_on(fd);
	}
	ktap_run("[SYS1] two devices, two nodes", two_nodes);
	ktap_run("two GPUs wait for each other through one buffer", both_at_once);
	ktap_run("fences and buffers cross from GPU to GPU", fences_across);
	ktap_run("[SYS4] a fault on one GPU does not show on the other", faults_stay);
	for (i = 0; i < 2; i++)
		gt_ctx_free(&gpu[i]);
	return gt_finish();
}
