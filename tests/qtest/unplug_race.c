/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=300 */
/*
 * Callbacks of QEMU that arrive while the device is unplugged or after that: accesses of a
 * processor that waits for QEMU's lock meanwhile, and everything the device does after a message
 * that powers off its own slot.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bios.h"
#include "ktap.h"
#include "slot.h"

#define MSIX_PBA 0x800	 /* of the pending bits in BAR 4 */
#define LOCAL 0xe1000000 /* BAR 2, where 32 bits are enough for its address */

static struct qtest *q;
static struct slot slot;

/* ---- A processor that accesses a BAR --------------------------------------------------------- */

/* @rounds times, the processor accesses @addr for ever while the device goes and another comes. */
static void race(uint32_t addr, unsigned int rounds)
{
	const char *bios = bios_access(addr);
	unsigned int done = 0;
	struct gpu gpu;

	q = qtest_start("-accel tcg -bios %s -S " SLOT_ARGS, bios);
	slot_open(&slot, q);
	ktap_ok(qtest_ok(slot_add(&slot, "g0", ",\"vram\":4194304")));
	gpu_open(&gpu, q, 0, SLOT_BUS, 0);
	gpu.bar2 = LOCAL;
	gpu_setup_pci(&gpu);
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_MAGIC), TSR_MAGIC);
	qtest_cmd(q, "{\"execute\":\"cont\"}");
	while (done < rounds) {
		char id[16];

		usleep(20000); /* until the processor has found the new device */
		snprintf(id, sizeof(id), "g%u", done++);
		slot_remove(&slot, id);
		usleep(1000);
		/* A processor that never leaves its loop keeps QEMU from freeing the device. */
		qtest_cmd(q, "{\"execute\":\"stop\"}");
		qtest_event(q, "DEVICE_DELETED");
		snprintf(id, sizeof(id), "g%u", done);
		ktap_ok(qtest_ok(slot_add(&slot, id, ",\"vram\":4194304")));
		gpu_setup_pci(&gpu);
		qtest_cmd(q, "{\"execute\":\"cont\"}");
	}
	ktap_eq(done, rounds);
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_MAGIC), TSR_MAGIC);
	qtest_stop(q);
	unlink(bios);
}

static void test_registers(void)
{
	race(GPU_BAR0(0) + TSR_REG_GPU_MAGIC, 200);
}

static void test_msix_table(void)
{
	race(GPU_BAR4(0) + 12, 50);
}

static void test_msix_pending(void)
{
	race(GPU_BAR4(0) + MSIX_PBA, 50);
}

static void test_local(void)
{
	race(LOCAL, 20);
}

/* ---- A message that powers off the slot ------------------------------------------------------ */

#define PCIEXBAR 0x60
#define CONFIG_SPACE 0xb0000000 /* of all functions, where PCIEXBAR puts it */

/* A device whose message @vector is a write to the slot's control register. */
static void start_with_message(struct gpu *gpu, unsigned int vector, const char *args)
{
	struct gpu bridge = { 0 };
	uint64_t control;

	q = qtest_start(SLOT_ARGS " %s", args);
	slot_open(&slot, q);
	gpu_open(gpu, q, 0, SLOT_BUS, 0);
	bridge.q = q; /* device 0 of bus 0 */
	gpu_cfg_write(&bridge, PCIEXBAR, CONFIG_SPACE | 1, 4);
	control = CONFIG_SPACE + (SLOT_DEVFN << 12) + slot_control(&slot);
	ktap_eq(qtest_readl(q, control) & SLOT_POWER_OFF, SLOT_POWERED);
	qtest_writeq(q, gpu->bar4 + 16 * vector, control);
	qtest_writel(q, gpu->bar4 + 16 * vector + 8, SLOT_POWER_OFF);
	gpu_write64(gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_GLOBAL), TSR_GLOBAL_IRQ_RESET_DONE);
	gpu_write64(gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), ~0ull);
}

/* The device has gone, and another one works in its place. */
static void gone(struct gpu *gpu)
{
	struct gpu_job job;

	ktap_eq(gpu_cfg_read(gpu, 0, 4), 0xffffffff);
	qtest_event(q, "DEVICE_DELETED");
	ktap_ok(qtest_ok(slot_add(&slot, "next", "")));
	gpu_open(gpu, q, 0, SLOT_BUS, 0);
	gpu_job_prepare(&job, gpu, 0, 0, 65536, 1, false);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	qtest_stop(q);
}

static void test_message_register(void)
{
	struct gpu gpu;

	start_with_message(&gpu, TSR_IRQ_CLASS_GLOBAL, "-device tessera,bus=rp");
	gpu_write(&gpu, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	gone(&gpu);
}

/* The message waits until the machine runs again. */
static void test_message_cont(void)
{
	struct gpu gpu;

	start_with_message(&gpu, TSR_IRQ_CLASS_GLOBAL, "-device tessera,bus=rp");
	qtest_cmd(q, "{\"execute\":\"stop\"}");
	gpu_write(&gpu, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	ktap_ok(gpu_cfg_read(&gpu, 0, 4) != 0xffffffff);
	qtest_cmd(q, "{\"execute\":\"cont\"}");
	gone(&gpu);
}

/* The main loop runs two jobs in slices; the first job's message comes while the second runs. */
static void test_message_job(void)
{
	struct gpu_job job[2];
	const char *bios = bios_image(BIOS_SLEEP);
	unsigned int patience = 5000;
	char args[600];
	struct gpu gpu;

	snprintf(args, sizeof(args),
		 "-accel tcg -icount shift=0,sleep=off -bios %s -device tessera,bus=rp,threads=0",
		 bios);
	start_with_message(&gpu, TSR_IRQ_CLASS_JOB, args);
	gpu_job_prepare(&job[0], &gpu, 0, 0, 65536, 1, true);
	gpu_job_prepare(&job[1], &gpu, 1, 2, 1 << 20, 2, true);
	gpu_doorbell(&job[1].queue);
	gpu_doorbell(&job[0].queue);
	while (gpu_cfg_read(&gpu, 0, 4) != 0xffffffff && --patience)
		usleep(1000);
	gone(&gpu);
	unlink(bios);
}

int main(int argc, char **argv)
{
	/* Freed memory holds no old values: what the caches of threads keep is not overwritten. */
	setenv("GLIBC_TUNABLES", "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0", 1);
	ktap_start_args(argc, argv);
	ktap_run("200 rounds of unplugging while a processor accesses registers", test_registers);
	ktap_run("unplugging while a processor accesses the MSI-X table", test_msix_table);
	ktap_run("unplugging while a processor reads the MSI-X pending bits", test_msix_pending);
	ktap_run("unplugging while a processor accesses local memory", test_local);
	ktap_run("a register write sends the message that powers off the slot",
		 test_message_register);
	ktap_run("the message that powers off the slot waits for the machine to run",
		 test_message_cont);
	ktap_run("the main loop runs a job whose message powers off the slot", test_message_job);
	return ktap_finish();
}
