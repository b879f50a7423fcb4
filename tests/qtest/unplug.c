/* SPDX-License-Identifier: MIT */
/*
 * Plugging the device in and out of a running machine, through a PCIe root port with its native
 * hotplug, which the test plays the guest of. The device is in the middle of work when it goes.
 */
#include <string.h>

#include "gpu.h"
#include "ktap.h"

#define ROOT_PORT 5
#define BUS 1
#define ARGS \
	"-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off " \
	"-device pcie-root-port,id=rp,addr=5,chassis=1"

/* PCIe slot registers, by their offset in the root port's capability. */
#define PCI_CAP_EXPRESS 0x10
#define SLTCTL 0x18
#define SLTCTL_POWER_OFF 0x0400
#define SLTCTL_PIC_OFF 0x0300
#define SLTCTL_PIC_ON 0x0100
#define SLTSTA 0x1a
#define SLTSTA_BUTTON 0x0001

static struct qtest *q;
static struct gpu port;

static void start(const char *more)
{
	q = qtest_start(ARGS " %s", more);
	port = (struct gpu){ .q = q, .bus = 0, .devfn = ROOT_PORT << 3 };
	gpu_open_bridge(q, port.devfn, BUS);
	gpu_cfg_write(&port, gpu_cap(&port, PCI_CAP_EXPRESS) + SLTCTL, SLTCTL_PIC_ON, 2);
}

/* Ask QEMU to take the device away and do what the guest's hotplug driver does. */
static void unplug(void)
{
	unsigned int cap = gpu_cap(&port, PCI_CAP_EXPRESS);

	qtest_cmd(q, "{\"execute\":\"device_del\",\"arguments\":{\"id\":\"gpu\"}}");
	ktap_ok(gpu_cfg_read(&port, cap + SLTSTA, 2) & SLTSTA_BUTTON);
	gpu_cfg_write(&port, cap + SLTSTA, SLTSTA_BUTTON, 2);
	gpu_cfg_write(&port, cap + SLTCTL, SLTCTL_POWER_OFF | SLTCTL_PIC_OFF, 2);
	qtest_event(q, "DEVICE_DELETED");
}

static void plug(void)
{
	unsigned int cap = gpu_cap(&port, PCI_CAP_EXPRESS);

	qtest_cmd(q, "{\"execute\":\"device_add\",\"arguments\":{\"driver\":\"tessera\","
		     "\"bus\":\"rp\",\"id\":\"gpu\",\"vram\":4194304}}");
	gpu_cfg_write(&port, cap + SLTCTL, SLTCTL_PIC_ON, 2);
}

static void test_unplug_busy(void)
{
	struct gpu_job copying, blocked;
	struct gpu gpu;
	uint64_t fence;

	start("-device tessera,bus=rp,id=gpu,vram=4M");
	gpu_open(&gpu, q, 0, BUS, 0);
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
		gpu_open(&gpu, q, 0, BUS, 0);
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

/* The whole machine goes while the device works. */
static void test_quit_busy(void)
{
	struct gpu_job job;
	struct gpu gpu;

	start("-device tessera,bus=rp,id=gpu");
	gpu_open(&gpu, q, 0, BUS, 0);
	gpu_job_prepare(&job, &gpu, 0, 0, 16 << 20, 3, false);
	gpu_doorbell(&job.queue);
	qtest_stop(q);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("unplugging a device that copies and waits", test_unplug_busy);
	ktap_run("plugging in, working, and unplugging, five times", test_plug_again);
	ktap_run("QEMU quits while the device works", test_quit_busy);
	return ktap_finish();
}
