/* SPDX-License-Identifier: MIT */
/*
 * Plugging the device in and out of a running machine, through a PCIe root port with its native
 * hotplug, which the test plays the guest of. The device is in the middle of work when it goes.
 */
#include <stdio.h>
#include <string.h>

#include "ktap.h"
#include "slot.h"

static struct qtest *q;
static struct slot slot;

static void start(const char *more)
{
	q = qtest_start(SLOT_ARGS " %s", more);
	slot_open(&slot, q);
}

static void unplug(void)
{
	slot_remove(&slot, "gpu");
	qtest_event(q, "DEVICE_DELETED");
}

static void plug(void)
{
	ktap_ok(qtest_ok(slot_add(&slot, "gpu", ",\"vram\":4194304")));
}

static void test_unplug_busy(void)
{
	struct gpu_job copying, blocked;
	struct gpu gpu;
	uint64_t fence;

	start("-device tessera,bus=rp,id=gpu,vram=4M");
	gpu_open(&gpu, q, 0, SLOT_BUS, 0);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), ~0ull);
	gpu_job_prepare(&blocked, &gpu, 0, 0, 4096, 1, true);
	gpu_packet(&blocked.queue, wait_reg, .op = TSR_COMPARE_EQ, .index = 0, .value = 1);
	gpu_doorbell(&blocked.queue);
	ktap_ok(gpu_wait_state(&blocked.queue, TSR_QUEUE_STATE_BLOCKED));
	gpu_job_prepare(&copying, &gpu, 1, 2, 16 << 20, 2, true);
	gpu_doorbell(&copying.queue);
	unplug();
	/* Nothing answers there, and nothing is written any more. */
	ktap_eq(gpu_cfg_read(&gpu, 0, 4), 0xffffffff);
	ktap_ok(gpu_read(&gpu, TSR_REG_GPU_MAGIC) != TSR_MAGIC);
	fence = qtest_readq(q, copying.fence);
	qtest_clock_step(q, 1000000);
	ktap_eq(qtest_readq(q, copying.fence), fence);
	qtest_stop(q);
}

/* Out and in again, at work each time. */
static void test_plug_again(void)
{
	struct gpu_job job;
	struct gpu gpu;
	unsigned int threads, i;

	start("");
	threads = qtest_threads(q);
	for (i = 0; i < 5; i++) {
		plug();
		gpu_open(&gpu, q, 0, SLOT_BUS, 0);
		ktap_eq(gpu_read(&gpu, TSR_REG_GPU_RESET_COUNT), 0);
		gpu_job_prepare(&job, &gpu, i, 0, 4 << 20, i, false);
		gpu_doorbell(&job.queue);
		if (i & 1)
			ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
		ktap_ok(qtest_threads(q) > threads);
		unplug();
		ktap_eq(qtest_threads(q), threads);
	}
	qtest_stop(q);
}

/*
 * QEMU frees a device some time after it has left the slot. Until then a new device cannot have the
 * name of its local memory in snapshots.
 */
static void test_plug_early(void)
{
	char answer[1000];
	struct gpu gpu;
	unsigned int i, refused = 0;

	start("");
	plug();
	for (i = 0; i < 20; i++) {
		char id[16];

		snprintf(id, sizeof(id), i ? "gpu%u" : "gpu", i);
		slot_remove(&slot, id);
		snprintf(id, sizeof(id), "gpu%u", i + 1);
		snprintf(answer, sizeof(answer), "%s",
			 slot_add(&slot, id, ",\"vram\":4194304"));
		if (!qtest_ok(answer)) {
			refused++;
			ktap_ok(strstr(answer, "local memory of the device that was here before"));
			qtest_event(q, "DEVICE_DELETED");
			ktap_ok(qtest_ok(slot_add(&slot, id, ",\"vram\":4194304")));
		}
		gpu_open(&gpu, q, 0, SLOT_BUS, 0);
		qtest_writel(q, gpu.bar2, i);
		ktap_eq(qtest_readl(q, gpu.bar2), i);
	}
	ktap_ok(refused);
	qtest_stop(q);
}

/* The whole machine goes while the device works. */
static void test_quit_busy(void)
{
	struct gpu_job job;
	struct gpu gpu;

	start("-device tessera,bus=rp,id=gpu");
	gpu_open(&gpu, q, 0, SLOT_BUS, 0);
	gpu_job_prepare(&job, &gpu, 0, 0, 16 << 20, 3, false);
	gpu_doorbell(&job.queue);
	qtest_stop(q);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("unplugging a device that copies and waits", test_unplug_busy);
	ktap_run("plugging in, working, and unplugging, five times", test_plug_again);
	ktap_run("a device with VRAM is refused until its predecessor is freed", test_plug_early);
	ktap_run("QEMU quits while the device works", test_quit_busy);
	return ktap_finish();
}
