/* SPDX-License-Identifier: MIT */
/*
 * Jobs from the first register write to the last interrupt, and what may get in their way on the
 * bus: bus mastering off, addresses that are no memory, resets. The test is the driver (lib/gpu.h).
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bios.h"
#include "gpu.h"
#include "ktap.h"

#define DEVICE "-device tessera,addr=4,vram=8M"

#define PCI_CAP_EXPRESS 0x10
#define PCI_COMMAND 0x04
#define DEVCTL_FLR 0x8000

static struct qtest *q;
static struct gpu gpu;

static void start(void)
{
	q = qtest_start(DEVICE);
	gpu_open(&gpu, q, 0, 0, 4 << 3);
}

static void test_job(void)
{
	struct gpu_job job;

	start();
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), 1ull << 5);
	gpu_job_prepare(&job, &gpu, 5, 0, 100000, 1, true);
	ktap_eq(gpu_queue_state(&job.queue), TSR_QUEUE_STATE_IDLE);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_JOB));
	ktap_eq(gpu_read64(&gpu, TSR_REG_IRQ_STATUS(TSR_IRQ_CLASS_JOB)), 1ull << 5);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_IDLE));
	ktap_eq(gpu_read(&gpu, TSR_REG_QUEUE_RPTR(5)), job.queue.wptr);
	ktap_eq(gpu_read64(&gpu, TSR_REG_QUEUE_CALLS(5)), 1);
	qtest_stop(q);
}

/* A fence without IRQ, and one whose queue is not in the mask, send nothing; unmasking sends what
 * is due. */
static void test_mask(void)
{
	struct gpu_job quiet, masked;

	start();
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), 1);
	gpu_job_prepare(&quiet, &gpu, 0, 0, 64, 1, false);
	gpu_doorbell(&quiet.queue);
	gpu_job_prepare(&masked, &gpu, 1, 2, 64, 2, true);
	gpu_doorbell(&masked.queue);
	ktap_ok(gpu_wait_memory(&gpu, quiet.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_wait_memory(&gpu, masked.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_wait_reg(&gpu, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_JOB), ~0u, 1u << 1));
	ktap_eq(qtest_readl(q, gpu.msi), 0);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), 3);
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_JOB));
	qtest_stop(q);
}

/* Messages that a masked vector holds back are pending, and sent when it is unmasked. */
static void test_msix_mask(void)
{
	struct gpu_job job;
	uint64_t control, pending;

	start();
	control = gpu.bar4 + 12;
	pending = gpu.bar4 + 0x800;
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), 1);
	qtest_writel(q, control, 1);
	gpu_job_prepare(&job, &gpu, 0, 0, 64, 1, true);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, pending, 1));
	ktap_eq(qtest_readl(q, gpu.msi), 0);
	qtest_writel(q, control, 0);
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_JOB));
	ktap_eq(qtest_readq(q, pending), 0);
	qtest_stop(q);
}

/*
 * Messages that go to the device's own registers, here to the doorbell of the queue that sends
 * them: they may get lost, but neither stop the device nor come to it in the middle of its work.
 */
static void test_msix_to_itself(const void *arg)
{
	struct gpu_job job;
	unsigned int i;

	q = qtest_start("-device tessera,addr=4,%s", (const char *)arg);
	gpu_open(&gpu, q, 0, 0, 4 << 3);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), 1);
	qtest_writeq(q, gpu.bar4, gpu.bar0 + TSR_REG_DOORBELL_RING(0));
	qtest_writel(q, gpu.bar4 + 8, 0x60);
	gpu_job_prepare(&job, &gpu, 0, 0, 4096, 14, true);
	for (i = 0; i < 20; i++)
		gpu_packet(&job.queue, fence, .event = TSR_EVENT_ALL_DONE, .irq = true,
			   .addr = GPU_JOB_FENCE + 8, .value = i + 1);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_MAGIC), TSR_MAGIC);
	gpu_write(&gpu, TSR_REG_QUEUE_CONTROL(0), TSR_QUEUE_OP_RESET);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_DISABLED));
	qtest_stop(q);
}

/* Local memory: the processor writes it through BAR 2, the GPU reads it at offsets, and the other
 * way round. */
static void test_local_memory(void)
{
	uint64_t near = 0x3000, far = 0x7ff000, pattern[512], copied[512];
	struct gpu_queue queue;
	unsigned int i;

	start();
	for (i = 0; i < 512; i++)
		pattern[i] = i * 0x9e3779b97f4a7c15ull;
	qtest_write(q, gpu.bar2 + near, pattern, sizeof(pattern));
	gpu_map(&gpu, 0, 0x10000, near, 4096, TSR_PTE_READ__MASK | TSR_PTE_LOCAL__MASK);
	gpu_map(&gpu, 0, 0x20000, far, 4096, TSR_PTE_WRITE__MASK | TSR_PTE_LOCAL__MASK);
	gpu_map(&gpu, 0, 0x30000, far - 4096, 4096, GPU_RW | TSR_PTE_LOCAL__MASK);
	gpu_queue_open(&queue, &gpu, 2, TSR_ENGINE_CLASS_COPY, 0, 0);
	gpu_as_on(&gpu, 0);
	gpu_packet(&queue, copy_linear, .src = 0x10000, .dst = 0x20000, .size = 4096);
	gpu_packet(&queue, fence, .event = TSR_EVENT_ALL_DONE, .addr = 0x30008, .value = 77);
	gpu_doorbell(&queue);
	ktap_ok(gpu_wait_memory(&gpu, gpu.bar2 + far - 4096 + 8, 77));
	qtest_read(q, gpu.bar2 + far, copied, sizeof(copied));
	ktap_mem_eq(copied, pattern, sizeof(pattern));
	qtest_stop(q);
}

/* Ring, page tables and code in local memory. */
static void test_everything_local(void)
{
	const uint64_t table = 0x100000, ring = 0x200000, fence = 0x201000,
		       local = TSR_PTE_LOCAL__MASK;
	struct gpu_queue queue = { .gpu = &gpu, .slot = 0, .va = 0x5000, .size = 4096 };
	struct tsr_fence packet = { .event = TSR_EVENT_ALL_DONE, .addr = 0x6010, .value = 5 };
	uint64_t qwords[TSR_FENCE_QWORDS];
	unsigned int level;

	start();
	for (level = 3; level > 0; level--)
		qtest_writeq(q, gpu.bar2 + table + 0x1000 * (3 - level),
			     (table + 0x1000 * (4 - level)) | local | TSR_PTE_VALID__MASK);
	qtest_writeq(q, gpu.bar2 + table + 0x3000 + 8 * 5,
		     ring | local | GPU_RX | TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK);
	qtest_writeq(q, gpu.bar2 + table + 0x3000 + 8 * 6,
		     fence | local | GPU_RW | TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK);
	gpu.root[0] = table | local;
	gpu_as_on(&gpu, 0);
	gpu_queue_enable(&queue, TSR_ENGINE_CLASS_COPY, 0, 0);
	tsr_pack_fence(qwords, &packet);
	qtest_write(q, gpu.bar2 + ring, qwords, sizeof(qwords));
	queue.wptr = sizeof(qwords);
	/* Nothing of it needs the bus. */
	gpu_cfg_write(&gpu, PCI_COMMAND, 0x2, 2);
	gpu_doorbell(&queue);
	ktap_ok(gpu_wait_memory(&gpu, gpu.bar2 + fence + 0x10, 5));
	qtest_stop(q);
}

/* The addresses a copy must not reach, and what the fault record says. */
struct no_memory {
	const char *name;
	uint64_t pa;
	uint64_t flags; /* PTE bits */
};

static const struct no_memory no_memory[] = {
	{ "[MEM3] a hole in the address space is a BUS fault", 0x800000000ull, 0 },
	{ "[MEM3] an address beyond the bus is a BUS fault", 0xffffffffff000ull, 0 },
	{ "[MEM3] the device's own registers are a BUS fault", GPU_BAR0(0), 0 },
	{ "[MEM3] the device's own local memory is no bus memory", GPU_BAR2(0), 0 },
	{ "[MEM3] the device's MSI-X table is a BUS fault", GPU_BAR4(0), 0 },
	{ "[MEM3] the processors' interrupt addresses are a BUS fault", 0xfee00000, 0 },
	{ "[MEM3] an offset beyond local memory is a BUS fault", 8 << 20, TSR_PTE_LOCAL__MASK },
};

static void test_no_memory(const void *arg)
{
	const struct no_memory *target = arg;
	struct gpu_job job;
	uint32_t fault;

	gpu_job_prepare(&job, &gpu, 3, 0, 4096, 3, false);
	gpu_map(&gpu, 1, GPU_JOB_DST, target->pa, 4096, TSR_PTE_WRITE__MASK | target->flags);
	gpu_as_on(&gpu, 1);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_FAULTED));
	fault = gpu_read(&gpu, TSR_REG_QUEUE_FAULT(3));
	ktap_eq(gpu_queue_fault(&job.queue), TSR_FAULT_BUS);
	ktap_eq((fault & TSR_QUEUE_FAULT_ACCESS__MASK) >> TSR_QUEUE_FAULT_ACCESS__SHIFT,
		TSR_ACCESS_WRITE);
	ktap_eq((fault & TSR_QUEUE_FAULT_UNIT__MASK) >> TSR_QUEUE_FAULT_UNIT__SHIFT, TSR_UNIT_COPY);
	ktap_eq(gpu_read64(&gpu, TSR_REG_QUEUE_FAULT_ADDR(3)), GPU_JOB_DST);
	ktap_eq(gpu_read(&gpu, TSR_REG_QUEUE_FAULT_AS(3)), 1);
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_FAULT));
	gpu_write64(&gpu, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_FAULT), 1 << 3);
	gpu_write(&gpu, TSR_REG_QUEUE_CONTROL(3), TSR_QUEUE_OP_RESET);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_DISABLED));
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_MAGIC), TSR_MAGIC);
}

static void test_no_bus_master(void)
{
	struct gpu_job job, next;

	start();
	gpu_job_prepare(&job, &gpu, 0, 0, 4096, 4, false);
	gpu_cfg_write(&gpu, PCI_COMMAND, 0x2, 2);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_FAULTED));
	/* The first thing the device needs is the page table of the ring. */
	ktap_eq(gpu_queue_fault(&job.queue), TSR_FAULT_MMU_WALK_BUS);
	ktap_eq(qtest_readq(q, job.fence), 0);
	gpu_cfg_write(&gpu, PCI_COMMAND, 0x6, 2);
	gpu_job_prepare(&next, &gpu, 1, 2, 4096, 5, false);
	gpu_doorbell(&next.queue);
	ktap_ok(gpu_wait_memory(&gpu, next.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&next));
	qtest_stop(q);
}

/*
 * Translations the device has cached must not outlive bus mastering. One worker does all the work,
 * so that it is its TLB that is asked again.
 */
static void test_no_bus_master_cached(void)
{
	struct gpu_job job;

	q = qtest_start(DEVICE ",threads=1,inline-budget=0");
	gpu_open(&gpu, q, 0, 0, 4 << 3);
	gpu_job_prepare(&job, &gpu, 0, 0, 4096, 6, false);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_IDLE));
	gpu_cfg_write(&gpu, PCI_COMMAND, 0x2, 2);
	gpu_packet(&job.queue, fence, .event = TSR_EVENT_ALL_DONE, .addr = GPU_JOB_FENCE,
		   .value = 1);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_FAULTED));
	ktap_eq(qtest_readq(q, job.fence), GPU_JOB_VALUE);
	qtest_stop(q);
}

/* Resets that come from outside, in the middle of a copy that takes long and a wait that never
 * ends. */
static void reset_flr(void)
{
	unsigned int cap = gpu_cap(&gpu, PCI_CAP_EXPRESS);

	gpu_cfg_write(&gpu, cap + 8, DEVCTL_FLR, 2);
}

static void reset_system(void)
{
	qtest_cmd(q, "{\"execute\":\"system_reset\"}");
	qtest_event(q, "RESET");
}

static void test_reset(const void *arg)
{
	void (*reset)(void) = *(void (*const *)(void))arg;
	struct gpu_job busy, stuck;
	uint32_t count;

	start();
	gpu_job_prepare(&busy, &gpu, 0, 0, 4 << 20, 7, true);
	gpu_job_prepare(&stuck, &gpu, 1, 2, 4096, 8, true);
	gpu_packet(&stuck.queue, wait, .op = TSR_COMPARE_EQ, .addr = GPU_JOB_FENCE + 8, .value = 1);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), 3);
	gpu_doorbell(&stuck.queue);
	ktap_ok(gpu_wait_state(&stuck.queue, TSR_QUEUE_STATE_BLOCKED));
	count = gpu_read(&gpu, TSR_REG_GPU_RESET_COUNT);
	gpu_doorbell(&busy.queue);
	reset();
	/* The function is as after power-on: no BARs, no memory decoding. */
	ktap_eq(gpu_cfg_read(&gpu, PCI_COMMAND, 2) & 7, 0);
	ktap_eq(gpu_cfg_read(&gpu, 0x10, 4), 0);
	gpu_setup_pci(&gpu);
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_RESET_COUNT), count + 1);
	ktap_eq(gpu_queue_state(&busy.queue), TSR_QUEUE_STATE_DISABLED);
	ktap_eq(gpu_queue_state(&stuck.queue), TSR_QUEUE_STATE_DISABLED);
	ktap_eq(gpu_read64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB)), 0);
	ktap_eq(gpu_read64(&gpu, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_JOB)), 0);
	ktap_eq(gpu_read64(&gpu, TSR_REG_AS_BASE(1)), 0);
	/* Nothing moves any more, and the device takes new work. */
	memset(gpu.root, 0, sizeof(gpu.root));
	gpu_job_prepare(&busy, &gpu, 0, 0, 4096, 9, false);
	gpu_doorbell(&busy.queue);
	ktap_ok(gpu_wait_memory(&gpu, busy.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&busy));
	qtest_stop(q);
}

static void (*const by_flr)(void) = reset_flr;
static void (*const by_system)(void) = reset_system;

/* Two devices share a machine and nothing else. */
static void test_two_devices(void)
{
	struct gpu_job job, other_job;
	struct gpu other;

	q = qtest_start("-device tessera,addr=4 -device tessera,addr=5,queues=4,vram=2M");
	gpu_open(&gpu, q, 0, 0, 4 << 3);
	gpu_open(&other, q, 1, 0, 5 << 3);
	ktap_eq(gpu_read64(&gpu, TSR_REG_GPU_LOCAL_SIZE), 0);
	ktap_eq(gpu_read64(&other, TSR_REG_GPU_LOCAL_SIZE), 2 << 20);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), ~0ull);
	gpu_write64(&other, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), ~0ull);
	gpu_job_prepare(&job, &gpu, 1, 0, 1 << 20, 10, true);
	gpu_job_prepare(&other_job, &other, 1, 0, 1 << 20, 11, true);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_JOB));
	ktap_ok(gpu_job_result(&job));
	ktap_eq(qtest_readl(q, other.msi), 0);
	ktap_eq(qtest_readq(q, other_job.fence), 0);
	gpu_doorbell(&other_job.queue);
	ktap_ok(gpu_wait_msi(&other, TSR_IRQ_CLASS_JOB));
	ktap_ok(gpu_job_result(&other_job));
	/* One device's local memory is bus memory to another: peer to peer. */
	gpu_map(&gpu, 0, 0x50000, other.bar2 + 0x1000, 4096, GPU_RW);
	gpu_packet(&job.queue, fence, .event = TSR_EVENT_ALL_DONE, .addr = 0x50018, .value = 99);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, other.bar2 + 0x1018, 99));
	qtest_stop(q);
}

/* Everything the GPU did is done when the machine stops, and goes on when it runs. */
static void test_stop_and_continue(void)
{
	struct gpu_job job;
	uint64_t progress;

	start();
	gpu_job_prepare(&job, &gpu, 0, 0, 8 << 20, 12, false);
	qtest_cmd(q, "{\"execute\":\"stop\"}");
	gpu_doorbell(&job.queue);
	progress = gpu_read64(&gpu, TSR_REG_QUEUE_PROGRESS(0));
	qtest_cmd(q, "{\"execute\":\"query-status\"}");
	ktap_eq(gpu_read64(&gpu, TSR_REG_QUEUE_PROGRESS(0)), progress);
	ktap_eq(qtest_readq(q, job.fence), 0);
	qtest_cmd(q, "{\"execute\":\"cont\"}");
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	qtest_stop(q);
}

/* The watchdog runs on the machine's clock, which this test moves. */
static void test_watchdog(void)
{
	struct gpu_job job;

	start();
	gpu_job_prepare(&job, &gpu, 6, 0, 64, 13, false);
	gpu_packet(&job.queue, wait_reg, .op = TSR_COMPARE_EQ, .index = 3, .value = 1);
	gpu_write(&gpu, TSR_REG_QUEUE_WATCHDOG_MS(6), 250);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_WATCHDOG), ~0ull);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_BLOCKED));
	qtest_clock_step(q, 200 * 1000000);
	qtest_cmd(q, "{\"execute\":\"query-status\"}");
	ktap_eq(qtest_readl(q, gpu.msi + 4 * TSR_IRQ_CLASS_WATCHDOG), 0);
	qtest_clock_step(q, 1000 * 1000000);
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_WATCHDOG));
	ktap_eq(gpu_read64(&gpu, TSR_REG_IRQ_STATUS(TSR_IRQ_CLASS_WATCHDOG)), 1 << 6);
	gpu_write(&gpu, TSR_REG_SEMAPHORE_VALUE(3), 1);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_IDLE));
	qtest_stop(q);
}

/*
 * The GPU overwrites the very code that the processor executes. TCG keeps translations of code: it
 * has to hear of the write, or the processor never leaves its old loop.
 */
static void test_code(void)
{
	/* 1: jmp 1b */
	static const unsigned char old_code[16] = { 0xeb, 0xfe };
	/* movb $0x5a, 0x2000; 1: hlt; jmp 1b */
	static const unsigned char new_code[16] = { 0xc6, 0x06, 0x00, 0x20,
						    0x5a, 0xf4, 0xeb, 0xfd };
	const char *bios = bios_image(BIOS_RAM);
	struct gpu_queue queue;
	uint64_t source;

	q = qtest_start("-accel tcg -S -bios %s " DEVICE, bios);
	gpu_open(&gpu, q, 0, 0, 4 << 3);
	qtest_write(q, BIOS_RAM_ADDR, old_code, sizeof(old_code));
	source = gpu_pages(&gpu, 1);
	qtest_write(q, source, new_code, sizeof(new_code));
	gpu_map(&gpu, 0, 0x10000, source, 4096, TSR_PTE_READ__MASK);
	gpu_map(&gpu, 0, 0x20000, BIOS_RAM_ADDR, 4096, TSR_PTE_WRITE__MASK);
	gpu_queue_open(&queue, &gpu, 0, TSR_ENGINE_CLASS_COPY, 0, 0);
	gpu_as_on(&gpu, 0);
	qtest_cmd(q, "{\"execute\":\"cont\"}");
	gpu_packet(&queue, copy_linear, .src = 0x10000, .dst = 0x20000, .size = sizeof(new_code));
	usleep(20000); /* the processor is in its loop by now */
	ktap_eq(qtest_readq(q, 0x2000), 0);
	gpu_doorbell(&queue);
	ktap_ok(gpu_wait_memory(&gpu, 0x2000, 0x5a));
	qtest_stop(q);
	unlink(bios);
}

int main(int argc, char **argv)
{
	unsigned int i;

	ktap_start_args(argc, argv);
	ktap_run("[CP6] a job: page tables, ring, doorbell, copy, fence, MSI-X message", test_job);
	ktap_run("[CP6] interrupt masks hold messages back until they are opened", test_mask);
	ktap_run("[CP6] a masked MSI-X vector is pending until it is unmasked", test_msix_mask);
	ktap_run_arg("messages to the device's own doorbell (workers)", test_msix_to_itself,
		     "inline-budget=0");
	ktap_run_arg("messages to the device's own doorbell (inline)", test_msix_to_itself,
		     "inline-budget=100000");
	ktap_run_arg("messages to the device's own doorbell (no workers)", test_msix_to_itself,
		     "threads=0,inline-budget=0");
	ktap_run("[MEM1] local memory through BAR 2 and by the GPU", test_local_memory);
	ktap_run("[MEM1] ring, page tables and fence in local memory, without bus mastering",
		 test_everything_local);
	start();
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_FAULT), ~0ull);
	for (i = 0; i < sizeof(no_memory) / sizeof(no_memory[0]); i++)
		ktap_run_arg(no_memory[i].name, test_no_memory, &no_memory[i]);
	qtest_stop(q);
	ktap_run("[MEM3] without bus mastering there is no DMA", test_no_bus_master);
	ktap_run("[MEM3] turning bus mastering off reaches cached translations",
		 test_no_bus_master_cached);
	ktap_run_arg("[SYS7] function-level reset in the middle of work", test_reset, &by_flr);
	ktap_run_arg("[SYS7] reset of the machine in the middle of work", test_reset, &by_system);
	ktap_run("[SYS1] two devices in one machine, and one reaches the other's local memory",
		 test_two_devices);
	ktap_run("a stopped machine's GPU stands still, and goes on with it",
		 test_stop_and_continue);
	ktap_run("the processor sees code that the GPU has written", test_code);
	ktap_run("[SYS7] the watchdog interrupts after its time", test_watchdog);
	return ktap_finish();
}
