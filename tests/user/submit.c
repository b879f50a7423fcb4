// SPDX-License-Identifier: MIT
/* The submit builder: what the kernel is handed, and what is refused before. */
#include <errno.h>
#include <stdlib.h>

#include <xf86drm.h>

#include "fake_drm.h"
#include "ktap.h"

static struct tsr_device *device;
static struct tsr_vm *vm, *other_vm;
static struct tsr_queue *queue[2], *foreign;
static struct tsr_sync *binary, *timeline;
static struct tsr_submit *list;

static void open_all(void)
{
	device = fake_open();
	ktap_eq(tsr_vm_create(device, &vm), 0);
	ktap_eq(tsr_vm_create(device, &other_vm), 0);
	ktap_eq(tsr_queue_create(vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queue[0]), 0);
	ktap_eq(tsr_queue_create(vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queue[1]), 0);
	ktap_eq(tsr_queue_create(other_vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &foreign), 0);
	ktap_eq(tsr_sync_create(device, 0, &binary), 0);
	ktap_eq(tsr_sync_create(device, TSR_SYNC_TIMELINE, &timeline), 0);
	ktap_eq(tsr_submit_create(device, &list), 0);
}

static void close_all(void)
{
	tsr_vm_unref(vm);
	tsr_vm_unref(other_vm);
	tsr_queue_unref(queue[0]);
	tsr_queue_unref(queue[1]);
	tsr_queue_unref(foreign);
	tsr_sync_unref(binary);
	tsr_sync_unref(timeline);
	tsr_submit_destroy(list);
	fake_close(device);
}

static void test_jobs(void)
{
	open_all();
	ktap_eq(tsr_submit_job(list, queue[0], 0x1040, 24), 0);
	ktap_eq(tsr_submit_job(list, queue[1], 0x2000, 8), 1);
	ktap_eq(tsr_submit_job(list, queue[0], 0, 0), 2);
	ktap_eq(tsr_submit_after(list, 1, 0), 0);
	ktap_eq(tsr_submit_after(list, 2, 0), 0);
	ktap_eq(tsr_submit_after(list, 2, 1), 0);
	ktap_eq(tsr_submit_wait(list, 0, binary, 0), 0);
	ktap_eq(tsr_submit_wait(list, 0, timeline, 7), 0);
	ktap_eq(tsr_submit_signal(list, 2, timeline, 1ull << 40), 0);
	ktap_eq(fake.submits, 0);
	/* the kernel has no queue before there is a job for it, and none for the third ever */
	ktap_eq(fake.queues_alive, 0);
	ktap_eq(tsr_submit_flush(list), 0);
	ktap_eq(fake.submits, 1);
	ktap_eq(fake.queues_alive, 2);
	ktap_eq(fake.job_count, 3);
	ktap_eq(fake.jobs[0].queue_id, tsr_queue_id(queue[0]));
	ktap_eq(fake.jobs[0].cmd_va, 0x1040);
	ktap_eq(fake.jobs[0].cmd_size, 24);
	ktap_eq(fake.jobs[0].after, 0);
	ktap_eq(fake.jobs[0].waits.count, 2);
	ktap_eq(fake.waits[0][0].type, DRM_TESSERA_SYNC_SYNCOBJ);
	ktap_eq(fake.waits[0][0].handle, tsr_sync_handle(binary));
	ktap_eq(fake.waits[0][0].point, 0);
	ktap_eq(fake.waits[0][1].type, DRM_TESSERA_SYNC_TIMELINE);
	ktap_eq(fake.waits[0][1].handle, tsr_sync_handle(timeline));
	ktap_eq(fake.waits[0][1].point, 7);
	ktap_eq(fake.jobs[0].signals.count, 0);
	ktap_eq(fake.jobs[1].queue_id, tsr_queue_id(queue[1]));
	ktap_eq(fake.jobs[1].after, 1);
	ktap_eq(fake.jobs[2].after, 3);
	ktap_eq(fake.jobs[2].cmd_va, 0);
	ktap_eq(fake.jobs[2].cmd_size, 0);
	ktap_eq(fake.jobs[2].signals.count, 1);
	ktap_eq(fake.signals[2][0].point, 1ull << 40);
	/* the list is empty again, and nothing of the old jobs is left in it */
	ktap_eq(tsr_submit_job(list, queue[1], 0x3000, 8), 0);
	ktap_eq(tsr_submit_job(list, queue[1], 0x3000, 8), 1);
	ktap_eq(tsr_submit_flush(list), 0);
	ktap_eq(fake.job_count, 2);
	ktap_eq(fake.jobs[0].waits.count, 0);
	ktap_eq(fake.jobs[1].after, 0);
	close_all();
}

static void test_refused(void)
{
	unsigned int i;

	open_all();
	ktap_eq(tsr_submit_job(list, queue[0], 0x1020, 8), -EINVAL);
	ktap_eq(tsr_submit_job(list, queue[0], 0x1040, 4), -EINVAL);
	ktap_eq(tsr_submit_job(list, queue[0], 0x1040, 0), -EINVAL);
	ktap_eq(tsr_submit_job(list, queue[0], 0, 8), -EINVAL);
	ktap_eq(tsr_submit_after(list, 0, 0), -EINVAL);
	ktap_eq(tsr_submit_wait(list, 0, binary, 0), -EINVAL);
	ktap_eq(tsr_submit_job(list, queue[0], 0x1040, 8), 0);
	ktap_eq(tsr_submit_job(list, foreign, 0x1040, 8), -EINVAL);
	ktap_eq(tsr_submit_after(list, 0, 0), -EINVAL);
	ktap_eq(tsr_submit_after(list, 0, -1), -EINVAL);
	ktap_eq(tsr_submit_wait(list, 0, binary, 1), -EINVAL);
	ktap_eq(tsr_submit_wait(list, 0, timeline, 0), -EINVAL);
	ktap_eq(tsr_submit_signal(list, -1, binary, 0), -EINVAL);
	ktap_eq(tsr_submit_signal(list, 1, binary, 0), -EINVAL);
	for (i = 0; i < 8; i++)
		ktap_eq(tsr_submit_wait(list, 0, timeline, i + 1), 0);
	ktap_eq(tsr_submit_wait(list, 0, timeline, 9), -ENOSPC);
	for (i = 1; i < 64; i++)
		ktap_eq(tsr_submit_job(list, queue[0], 0x1040, 8), i);
	ktap_eq(tsr_submit_job(list, queue[0], 0x1040, 8), -ENOSPC);
	ktap_eq(tsr_submit_after(list, 63, 62), 0);
	ktap_eq(tsr_submit_flush(list), 0);
	ktap_eq(fake.job_count, 64);
	ktap_eq(fake.jobs[63].after, 1ull << 62);
	close_all();
}

/* A flush that fails leaves the list as it was; the same flush works later. */
static void test_failed_flush(void)
{
	open_all();
	ktap_eq(tsr_submit_job(list, queue[0], 0x1040, 8), 0);
	ktap_eq(tsr_submit_signal(list, 0, timeline, 3), 0);
	fake.fail = ECANCELED;
	fake.fail_request = DRM_IOCTL_TESSERA_SUBMIT;
	ktap_eq(tsr_submit_flush(list), -ECANCELED);
	ktap_ok(strstr(tsr_error_message(), "banned"));
	fake.fail = 0;
	ktap_eq(tsr_submit_flush(list), 0);
	ktap_eq(fake.job_count, 1);
	ktap_eq(fake.signals[0][0].point, 3);
	close_all();
}

/* The list holds what it names: queue and sync may be dropped before the flush. */
static void test_references(void)
{
	uint32_t handle, id;

	open_all();
	handle = tsr_sync_handle(timeline);
	id = tsr_queue_id(queue[1]);
	ktap_eq(tsr_submit_job(list, queue[1], 0x1040, 8), 0);
	ktap_eq(tsr_submit_signal(list, 0, timeline, 3), 0);
	tsr_queue_unref(queue[1]);
	queue[1] = NULL;
	tsr_sync_unref(timeline);
	timeline = NULL;
	ktap_eq(fake.queues_alive, 1);
	ktap_eq(tsr_submit_flush(list), 0);
	ktap_eq(fake.jobs[0].queue_id, id);
	ktap_eq(fake.signals[0][0].handle, handle);
	ktap_eq(fake.queues_alive, 0);
	close_all();
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS6] the kernel gets jobs, order, waits and signals as given", test_jobs);
	ktap_run("[SYS5] what no kernel would take is refused at once", test_refused);
	ktap_run("[SYS5] a flush that fails can be repeated", test_failed_flush);
	ktap_run("[SYS5] a list keeps its queues and syncs alive", test_references);
	return ktap_finish();
}
