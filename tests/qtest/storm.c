/* SPDX-License-Identifier: MIT */
/*
 * Everything that a machine can do to a device, in random order, while it works: stop and run,
 * resets of every kind, bus mastering and BARs off and elsewhere, the IOMMU on, off and with other
 * tables, masks, random registers. Nothing is expected of the work under way but that it ends; QEMU
 * must live and answer, and after each round a job from scratch has the right result. The seed is
 * printed, and can be given as an argument.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu.h"
#include "ktap.h"
#include "vtd.h"

#define BUS 1
#define TABLES 0x7000000ull
#define PCI_CAP_EXPRESS 0x10
#define PCI_COMMAND 0x04
#define ARGS                                                                 \
	"-device intel-iommu -device pcie-root-port,id=rp,addr=5,chassis=1 " \
	"-device tessera,bus=rp,vram=4M,copy-engines=4"

static struct qtest *q;
static struct gpu gpu;
static struct vtd vtd;
static struct gpu_job jobs[4];
static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint64_t)seed * n >> 32;
}

/* Set up the device again, with a job on each of some queues. Some jobs wait for others. */
static void set_up(void)
{
	unsigned int i;

	gpu_open_bridge(q, 5 << 3, BUS);
	gpu_open(&gpu, q, 0, BUS, 0);
	gpu_write(&gpu, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	ktap_ok(gpu_wait_reg(&gpu, TSR_REG_GPU_STATUS, TSR_GPU_STATUS_RESET_BUSY__MASK, 0));
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), ~0ull);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_FAULT), ~0ull);
	for (i = 0; i < 4; i++)
		gpu_job_prepare(&jobs[i], &gpu, i, 2 * i, 1 << 20, i, true);
}

static void act_doorbell(void)
{
	struct gpu_job *job = &jobs[random_below(4)];

	gpu_packet(&job->queue, call, .addr = GPU_JOB_CODE, .size = 8 * TSR_COPY_LINEAR_QWORDS);
	gpu_doorbell(&job->queue);
}

static void act_stop(void)
{
	qtest_cmd(q, "{\"execute\":\"stop\"}");
	if (random_below(2))
		act_doorbell();
	qtest_cmd(q, "{\"execute\":\"cont\"}");
}

static void act_flr(void)
{
	gpu_cfg_write(&gpu, gpu_cap(&gpu, PCI_CAP_EXPRESS) + 8, 0x8000, 2);
	gpu_setup_pci(&gpu);
}

static void act_system_reset(void)
{
	qtest_cmd(q, "{\"execute\":\"system_reset\"}");
	qtest_event(q, "RESET");
	gpu_open_bridge(q, 5 << 3, BUS);
	gpu_setup_pci(&gpu);
}

static void act_bus_master(void)
{
	gpu_cfg_write(&gpu, PCI_COMMAND, 2, 2);
	if (random_below(2))
		act_doorbell();
	gpu_cfg_write(&gpu, PCI_COMMAND, 6, 2);
}

static void act_move_bars(void)
{
	gpu.bar0 = GPU_BAR0(0) + random_below(4) * 0x40000;
	gpu.bar2 = GPU_BAR2(0) + random_below(4) * 0x400000;
	gpu_setup_pci(&gpu);
}

static void act_iommu(void)
{
	vtd_enable(&vtd, random_below(2));
}

static void act_iommu_pages(void)
{
	uint64_t pa = GPU_MEMORY(0) + random_below(2048) * 4096;

	vtd_map(&vtd, pa, pa, 4096, random_below(4));
	vtd_invalidate_pages(&vtd, pa, random_below(3));
	vtd_map(&vtd, pa, pa, 4096, VTD_READ | VTD_WRITE);
}

static void act_invalidate(void)
{
	gpu_write64(&gpu, TSR_REG_AS_INV_SIZE(random_below(8)), 1 << 20);
	gpu_write(&gpu, TSR_REG_AS_COMMAND(random_below(8)),
		  random_below(3) | random_below(2) << 8);
}

static void act_queue(void)
{
	gpu_write(&gpu, TSR_REG_QUEUE_CONTROL(random_below(5)), random_below(6));
}

static void act_register(void)
{
	gpu_write(&gpu, random_below(0x14000) & ~3u, random_below(0xffffffff));
}

static void act_msix(void)
{
	qtest_writel(q, gpu.bar4 + 16 * random_below(4) + 12, random_below(2));
}

static void act_clock(void)
{
	qtest_clock_step(q, random_below(3000000));
}

static void (*const actions[])(void) = {
	act_doorbell,	  act_doorbell,	  act_doorbell,	 act_stop,     act_flr,
	act_system_reset, act_bus_master, act_move_bars, act_iommu,    act_iommu_pages,
	act_iommu_pages,  act_invalidate, act_queue,	 act_register, act_register,
	act_msix,	  act_clock,
};

/* The device is as good as new after a reset: a job of each kind of worker comes out right. */
static void check_alive(void)
{
	gpu.bar0 = GPU_BAR0(0);
	vtd_enable(&vtd, false);
	set_up();
	gpu_doorbell(&jobs[1].queue);
	gpu_doorbell(&jobs[2].queue);
	ktap_ok(gpu_wait_memory(&gpu, jobs[1].fence, GPU_JOB_VALUE));
	ktap_ok(gpu_wait_memory(&gpu, jobs[2].fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&jobs[1]));
	ktap_ok(gpu_job_result(&jobs[2]));
}

static void test_storm(const void *arg)
{
	unsigned int rounds = getenv("TSR_QUICK") ? 3 : 30, actions_per_round = 60, i, k;

	ktap_note("seed %u", seed);
	q = qtest_start(ARGS ",%s", (const char *)arg);
	vtd_open(&vtd, q, TABLES, BUS);
	vtd_map(&vtd, GPU_MEMORY(0), GPU_MEMORY(0), 0x3000000, VTD_READ | VTD_WRITE);
	for (i = 0; i < rounds; i++) {
		set_up();
		for (k = 0; k < actions_per_round; k++)
			actions[random_below(sizeof(actions) / sizeof(actions[0]))]();
		check_alive();
	}
	qtest_stop(q);
}

int main(int argc, char **argv)
{
	seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : (uint32_t)time(NULL);
	ktap_start();
	ktap_run_arg("[SYS7] a storm over workers", test_storm, "threads=3,inline-budget=0");
	ktap_run_arg("[SYS7] a storm with packets in the doorbell", test_storm, "threads=2");
	ktap_run_arg("[SYS7] a storm without workers", test_storm, "threads=0");
	return ktap_finish();
}
