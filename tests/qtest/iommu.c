/* SPDX-License-Identifier: MIT */
/*
 * The device behind the Intel IOMMU with translation on. Bus addresses are guest-physical ones plus
 * OFFSET, so nothing works that is not translated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bios.h"
#include "gpu.h"
#include "ktap.h"
#include "vtd.h"

#define BUS 1
#define OFFSET 0x1000000000ull
#define SIZE 0x3000000ull   /* of the memory that lib/gpu gives out */
#define TABLES 0x7000000ull /* the IOMMU tables: the last 16 MiB */
#define ARGS \
	"-device intel-iommu -device pcie-root-port,id=rp,addr=5,chassis=1 -device tessera,bus=rp"

static struct qtest *q;
static struct gpu gpu;
static struct vtd vtd;

/* A machine with the IOMMU on and all memory of the test mapped. @workers: nothing runs in the
 * doorbell write. */
static void start(const char *args)
{
	q = qtest_start("%s", args);
	gpu_open_bridge(q, 5 << 3, BUS);
	vtd_open(&vtd, q, TABLES, BUS);
	vtd_map(&vtd, GPU_MEMORY(0) + OFFSET, GPU_MEMORY(0), SIZE, VTD_READ | VTD_WRITE);
	vtd_enable(&vtd, true);
	gpu_open_behind(&gpu, q, 0, BUS, 0, OFFSET);
}

/* The ways in which the device comes to a translation: from workers, inline, without workers. */
static const char *const ways[] = {
	ARGS ",inline-budget=0",
	ARGS,
	ARGS ",threads=0",
};

static void test_job(const void *arg)
{
	struct gpu_job job;
	struct vtd_fault fault;

	start(arg);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), 1);
	gpu_job_prepare(&job, &gpu, 0, 0, 1 << 20, 1, true);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_JOB));
	ktap_ok(!vtd_fault(&vtd, &fault));
	qtest_stop(q);
}

/* Check that the queue has stopped over an access to @addr, and that the IOMMU has recorded a
 * refusal of @iova. */
static void expect_fault(struct gpu_queue *queue, enum tsr_fault code, uint64_t addr, uint64_t iova,
			 bool write)
{
	struct vtd_fault fault;

	ktap_ok(gpu_wait_state(queue, TSR_QUEUE_STATE_FAULTED));
	ktap_eq(gpu_queue_fault(queue), code);
	ktap_eq(gpu_read64(&gpu, TSR_REG_QUEUE_FAULT_ADDR(queue->slot)), addr);
	if (!ktap_ok(vtd_fault(&vtd, &fault)))
		return;
	ktap_eq(fault.addr, iova);
	ktap_eq(fault.source, BUS << 8);
	ktap_eq(fault.write, write);
}

static void test_unmapped(const void *arg)
{
	struct gpu_job job;

	start(arg);
	gpu_job_prepare(&job, &gpu, 0, 0, 65536, 2, false);
	vtd_map(&vtd, job.dst + 0x5000 + OFFSET, 0, 4096, 0);
	vtd_invalidate_all(&vtd);
	gpu_doorbell(&job.queue);
	expect_fault(&job.queue, TSR_FAULT_BUS, GPU_JOB_DST + 0x5000, job.dst + 0x5000 + OFFSET,
		     true);
	ktap_eq(qtest_readq(q, job.fence), 0);
	qtest_stop(q);
}

static void test_read_only(const void *arg)
{
	struct gpu_job job;

	start(arg);
	gpu_job_prepare(&job, &gpu, 0, 0, 65536, 3, false);
	vtd_map(&vtd, job.src + OFFSET, job.src, 65536, VTD_READ);
	vtd_map(&vtd, job.dst + 0x2000 + OFFSET, job.dst + 0x2000, 4096, VTD_READ);
	vtd_invalidate_all(&vtd);
	gpu_doorbell(&job.queue);
	expect_fault(&job.queue, TSR_FAULT_BUS, GPU_JOB_DST + 0x2000, job.dst + 0x2000 + OFFSET,
		     true);
	qtest_stop(q);
}

/* That a page has been read says nothing about writing it. */
static void test_read_then_write(const void *arg)
{
	struct gpu_job job;

	start(arg);
	gpu_job_prepare(&job, &gpu, 0, 0, 4096, 11, false);
	vtd_map(&vtd, job.src + OFFSET, job.src, 4096, VTD_READ);
	vtd_invalidate_all(&vtd);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	gpu_map(&gpu, 0, 0x50000, job.src, 4096, GPU_RW);
	gpu_packet(&job.queue, fence, .event = TSR_EVENT_ALL_DONE, .addr = 0x50000, .value = 1);
	gpu_doorbell(&job.queue);
	/* QEMU's IOMMU knows the page by now and refuses without recording it. */
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_FAULTED));
	ktap_eq(gpu_queue_fault(&job.queue), TSR_FAULT_BUS);
	ktap_eq(gpu_read64(&gpu, TSR_REG_QUEUE_FAULT_ADDR(0)), 0x50000);
	qtest_stop(q);
}

/*
 * Memory behind a translation may go without the IOMMU's doing: here it is another device's local
 * memory, whose BAR is turned off.
 */
static void test_memory_goes(void)
{
	struct gpu_job job;
	struct gpu other;

	start(ARGS ",inline-budget=0 -device tessera,addr=6,vram=2M");
	gpu_open(&other, q, 1, 0, 6 << 3);
	vtd_map(&vtd, OFFSET, other.bar2, 4096, VTD_READ | VTD_WRITE);
	gpu_map(&gpu, 0, 0x50000, 0, 4096, GPU_RW);
	gpu_job_prepare(&job, &gpu, 0, 0, 4096, 12, false);
	gpu_packet(&job.queue, fence, .event = TSR_EVENT_ALL_DONE, .addr = 0x50000, .value = 1);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, other.bar2, 1));
	gpu_cfg_write(&other, 0x04, 0, 2);
	gpu_packet(&job.queue, fence, .event = TSR_EVENT_ALL_DONE, .addr = 0x50000, .value = 2);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_FAULTED));
	ktap_eq(gpu_queue_fault(&job.queue), TSR_FAULT_BUS);
	gpu_cfg_write(&other, 0x04, 2, 2);
	ktap_eq(qtest_readq(q, other.bar2), 1);
	qtest_stop(q);
}

/* The page table of the GPU is behind the IOMMU like everything else. */
static void test_walk(const void *arg)
{
	struct gpu_job job;

	start(arg);
	gpu_job_prepare(&job, &gpu, 0, 0, 4096, 4, false);
	vtd_map(&vtd, gpu.root[0] + OFFSET, 0, 4096, 0);
	vtd_invalidate_all(&vtd);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_FAULTED));
	ktap_eq(gpu_queue_fault(&job.queue), TSR_FAULT_MMU_WALK_BUS);
	qtest_stop(q);
}

static void invalidate_pages(uint64_t iova)
{
	vtd_invalidate_pages(&vtd, iova, 0);
}

/* A large range, across the hole that the interrupt addresses make in the device's address space.
 */
static void invalidate_large(uint64_t iova)
{
	(void)iova;
	vtd_invalidate_pages(&vtd, 0xfec00000, 10);
	vtd_invalidate_pages(&vtd, OFFSET, 18);
}

static void invalidate_domain(uint64_t iova)
{
	(void)iova;
	vtd_invalidate_domain(&vtd);
}

static void invalidate_all(uint64_t iova)
{
	(void)iova;
	vtd_invalidate_all(&vtd);
}

static void (*const invalidations[])(uint64_t iova) = { invalidate_pages, invalidate_large,
							invalidate_domain, invalidate_all };

/* A page that has been used moves elsewhere, then goes: after the invalidation, writes follow it.
 */
static void test_remap(const void *arg)
{
	void (*invalidate)(uint64_t iova) = *(void (*const *)(uint64_t))arg;
	struct gpu_job job;
	uint64_t other;

	start(ARGS ",inline-budget=0");
	gpu_job_prepare(&job, &gpu, 0, 0, 4096, 5, false);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	other = gpu_pages(&gpu, 1);
	vtd_map(&vtd, job.fence + OFFSET, other, 4096, VTD_READ | VTD_WRITE);
	invalidate(job.fence + OFFSET);
	gpu_packet(&job.queue, fence, .event = TSR_EVENT_ALL_DONE, .addr = GPU_JOB_FENCE,
		   .value = 2);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, other, 2));
	ktap_eq(qtest_readq(q, job.fence), GPU_JOB_VALUE);
	vtd_map(&vtd, job.fence + OFFSET, 0, 4096, 0);
	invalidate(job.fence + OFFSET);
	gpu_packet(&job.queue, fence, .event = TSR_EVENT_ALL_DONE, .addr = GPU_JOB_FENCE,
		   .value = 3);
	gpu_doorbell(&job.queue);
	expect_fault(&job.queue, TSR_FAULT_BUS, GPU_JOB_FENCE, job.fence + OFFSET, true);
	ktap_eq(qtest_readq(q, other), 2);
	qtest_stop(q);
}

/* Pages are taken away under a running copy: once an invalidation is complete, the page keeps what
 * the processor puts there. */
static void test_unmap_under_copy(void)
{
	unsigned int size = 8 << 20, i;
	struct gpu_job job;

	start(ARGS ",inline-budget=0");
	gpu_job_prepare(&job, &gpu, 0, 0, size, 6, false);
	/* However busy this host is: the copy does not get to its end. */
	vtd_map(&vtd, job.dst + size - 4096 + OFFSET, 0, 4096, 0);
	gpu_doorbell(&job.queue);
	for (i = 0; i < size >> 12 && gpu_queue_state(&job.queue) != TSR_QUEUE_STATE_FAULTED;
	     i += 16) {
		uint64_t pa = job.dst + size - 4096 * (i + 1), mark = 0x1122334455667788ull + i;

		vtd_map(&vtd, pa + OFFSET, 0, 4096, 0);
		vtd_invalidate_pages(&vtd, pa + OFFSET, 0);
		qtest_writeq(q, pa, mark);
		ktap_eq(qtest_readq(q, pa), mark);
	}
	/* The copy meets one of the holes, wherever it was. */
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_FAULTED));
	ktap_eq(gpu_queue_fault(&job.queue), TSR_FAULT_BUS);
	ktap_ok(i > 0);
	while (i) {
		i -= 16;
		ktap_eq(qtest_readq(q, job.dst + size - 4096 * (i + 1)), 0x1122334455667788ull + i);
	}
	qtest_stop(q);
}

/* Questions to the IOMMU that are open when the machine stops are answered when it runs again. */
static void test_stop_and_continue(void)
{
	struct gpu_job job;
	unsigned int i;

	start(ARGS ",inline-budget=0");
	gpu_job_prepare(&job, &gpu, 0, 0, 8 << 20, 13, false);
	gpu_doorbell(&job.queue);
	for (i = 0; i < 100; i++) {
		qtest_cmd(q, "{\"execute\":\"stop\"}");
		qtest_cmd(q, "{\"execute\":\"cont\"}");
	}
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	qtest_stop(q);
}

/*
 * The IOMMU's tables are where the device's registers are: a translation that the device asks for
 * reads its own registers, in the middle of its work. Nothing may come of it but a fault.
 */
static void test_tables_in_bar(const void *arg)
{
	struct gpu_job job;

	start(arg);
	gpu_job_prepare(&job, &gpu, 0, 0, 4096, 14, false);
	vtd.root = gpu.bar0;
	vtd_enable(&vtd, false);
	vtd_enable(&vtd, true);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_FAULTED));
	ktap_eq(gpu_queue_fault(&job.queue), TSR_FAULT_MMU_WALK_BUS);
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_MAGIC), TSR_MAGIC);
	qtest_stop(q);
}

/* An IOMMU that cannot tell the device of invalidations is none the device can use. */
static void test_no_notifications(void)
{
	struct gpu_job job;

	start("-device intel-iommu,snoop-control=on -device pcie-root-port,id=rp,addr=5,chassis=1 "
	      "-device tessera,bus=rp,inline-budget=0");
	gpu_job_prepare(&job, &gpu, 0, 0, 4096, 15, false);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_FAULTED));
	ktap_eq(gpu_queue_fault(&job.queue), TSR_FAULT_MMU_WALK_BUS);
	vtd_enable(&vtd, false);
	gpu.bus_offset = 0;
	memset(gpu.root, 0, sizeof(gpu.root));
	gpu_job_prepare(&job, &gpu, 1, 0, 4096, 16, false);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	qtest_stop(q);
}

static void test_huge_pages(void)
{
	struct gpu_job job;
	uint64_t pa;

	q = qtest_start(ARGS ",inline-budget=0");
	gpu_open_bridge(q, 5 << 3, BUS);
	vtd_open(&vtd, q, TABLES, BUS);
	for (pa = GPU_MEMORY(0); pa < GPU_MEMORY(0) + SIZE; pa += 2 << 20)
		vtd_map_huge(&vtd, pa + OFFSET, pa, VTD_READ | VTD_WRITE);
	vtd_enable(&vtd, true);
	gpu_open_behind(&gpu, q, 0, BUS, 0, OFFSET);
	gpu_job_prepare(&job, &gpu, 0, 0, 8 << 20, 7, false);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	qtest_stop(q);
}

/* Translation is turned on and off in a running machine: what was cached on either side is gone. */
static void test_on_and_off(void)
{
	struct gpu_job job;

	start(ARGS ",inline-budget=0");
	vtd_map(&vtd, GPU_MEMORY(0), GPU_MEMORY(0), SIZE, VTD_READ | VTD_WRITE);
	gpu.bus_offset = 0;
	gpu_job_prepare(&job, &gpu, 0, 0, 65536, 8, false);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	vtd_enable(&vtd, false);
	gpu_packet(&job.queue, fence, .event = TSR_EVENT_ALL_DONE, .addr = GPU_JOB_FENCE,
		   .value = 2);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, 2));
	vtd_map(&vtd, job.fence, 0, 4096, 0);
	vtd_enable(&vtd, true);
	gpu_packet(&job.queue, fence, .event = TSR_EVENT_ALL_DONE, .addr = GPU_JOB_FENCE,
		   .value = 3);
	gpu_doorbell(&job.queue);
	expect_fault(&job.queue, TSR_FAULT_BUS, GPU_JOB_FENCE, job.fence, true);
	ktap_eq(qtest_readq(q, job.fence), 2);
	qtest_stop(q);
}

/* How often the IOMMU has refused @iova, by the trace in @path. */
static unsigned int refusals(const char *path, uint64_t iova)
{
	FILE *file = fopen(path, "r");
	unsigned int n = 0;
	char line[300], want[60];

	if (!ktap_ok(file != NULL))
		return 0;
	snprintf(want, sizeof(want), ": 0x%llx write=1 ok=0", (unsigned long long)iova);
	while (fgets(line, sizeof(line), file))
		n += strstr(line, want) != NULL;
	fclose(file);
	return n;
}

/* Commands of @job once more, @n times, and a fence. */
static void again(struct gpu_job *job, unsigned int n, uint64_t value)
{
	while (n--)
		gpu_packet(&job->queue, call, .addr = GPU_JOB_CODE,
			   .size = TSR_COPY_LINEAR_QWORDS * sizeof(uint64_t));
	gpu_packet(&job->queue, fence, .event = TSR_EVENT_ALL_DONE, .addr = GPU_JOB_FENCE,
		   .value = value);
	gpu_doorbell(&job->queue);
}

/*
 * A refusal is good for 20 ms. A queue that comes back for it later, because another one has had
 * the only engine for 200 ms, asks again, twice at most: each time the guest reads of a fault. So
 * its fault comes while the other is still at work. Returns how often it has asked.
 */
static unsigned int late_refusals(void)
{
	const char *rule = "slow queue=1 delay=100ms times=always";
	struct gpu_job late, slow;
	char path[300], args[600];
	unsigned int n;

	snprintf(path, sizeof(path), "%s/iommu-%d.trace", getenv("TSR_BUILD") ?: "/tmp",
		 (int)getpid());
	snprintf(args, sizeof(args), "-D %s -trace tessera_iotlb_* " ARGS
		 ",inline-budget=0,threads=1,copy-engines=1,inject-window=on", path);
	start(args);
	gpu_job_prepare(&late, &gpu, 0, 0, 4096, 17, false);
	gpu_job_prepare(&slow, &gpu, 1, 2, TSR_BURST_BYTES, 18, false);
	gpu_write(&gpu, TSR_REG_QUEUE_TIMESLICE(1), TSR_TIMESLICE_MIN);
	/* both have all their translations */
	gpu_doorbell(&late.queue);
	gpu_doorbell(&slow.queue);
	ktap_ok(gpu_wait_memory(&gpu, late.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_wait_memory(&gpu, slow.fence, GPU_JOB_VALUE));
	vtd_map(&vtd, late.dst + OFFSET, 0, 4096, 0);
	vtd_invalidate_pages(&vtd, late.dst + OFFSET, 0);
	do
		gpu_write(&gpu, TSR_REG_INJECT_TEXT, (uint8_t)*rule);
	while (*rule++);
	again(&slow, 100, 2);
	again(&late, 1, 2);
	ktap_ok(gpu_wait_state(&late.queue, TSR_QUEUE_STATE_FAULTED));
	ktap_eq(gpu_queue_fault(&late.queue), TSR_FAULT_BUS);
	ktap_eq(gpu_read64(&gpu, TSR_REG_QUEUE_FAULT_ADDR(0)), GPU_JOB_DST);
	ktap_eq(qtest_readq(q, slow.fence), GPU_JOB_VALUE);
	qtest_stop(q);
	n = refusals(path, late.dst + OFFSET);
	unlink(path);
	return n;
}

/* On a host with other things to do the other queue's turn may come after the answer. */
#define ATTEMPTS 5

static void test_late_refusal(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < ATTEMPTS && n < 2 && !ktap.bad; i++)
		n = late_refusals();
	ktap_note("%u refusals", n);
	ktap_ok(n >= 2 && n <= 3);
}

/*
 * A fault event is an interrupt to the processor, which QEMU allows only with its big lock: raised
 * by a worker it would abort. Under TCG, as with the qtest accelerator nobody checks. Vector data
 * 0x400 is an NMI, which needs no set-up.
 */
static void test_fault_event(void)
{
	const char *bios = bios_image(BIOS_SLEEP);
	char args[600];
	struct gpu_job job;

	snprintf(args, sizeof(args), "-accel tcg -bios %s " ARGS ",inline-budget=0", bios);
	start(args);
	vtd_fault_event(&vtd, 0xfee00000, 0x400);
	gpu_job_prepare(&job, &gpu, 0, 0, 65536, 9, false);
	vtd_map(&vtd, job.dst + OFFSET, 0, 65536, 0);
	vtd_invalidate_all(&vtd);
	gpu_doorbell(&job.queue);
	expect_fault(&job.queue, TSR_FAULT_BUS, GPU_JOB_DST, job.dst + OFFSET, true);
	qtest_stop(q);
	unlink(bios);
}

/* Work behind an IOMMU that is saved before it began: the new process asks for its translations
 * anew. */
static void test_migrate(void)
{
	char path[300];
	struct gpu_job job;
	int left = QTEST_TIMEOUT_MS;

	snprintf(path, sizeof(path), "%s/iommu-%d.state", getenv("TSR_BUILD") ?: "/tmp",
		 (int)getpid());
	start(ARGS ",inline-budget=0");
	gpu_job_prepare(&job, &gpu, 0, 0, 4 << 20, 10, false);
	gpu_doorbell(&job.queue);
	qtest_cmd(q, "{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"file:%s\"}}", path);
	while (!strstr(qtest_cmd(q, "{\"execute\":\"query-migrate\"}"), "\"completed\"") &&
	       qtest_patience(&left))
		;
	qtest_stop(q);
	/* An event of before the monitor's greeting is answered would never be heard of. */
	q = qtest_start(ARGS ",inline-budget=0 -incoming defer");
	qtest_cmd(q, "{\"execute\":\"migrate-incoming\","
		  "\"arguments\":{\"uri\":\"file:%s\"}}", path);
	qtest_event(q, "RESUME");
	gpu_moved(&gpu, q);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	qtest_stop(q);
	unlink(path);
}

int main(int argc, char **argv)
{
	static const char *const way_names[] = { "workers", "inline", "no workers" };
	static const char *const invalidation_names[] = { "page", "large range", "domain",
							  "global" };
	unsigned int i;
	char name[200];

	ktap_start_args(argc, argv);
	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "[MEM1] a job behind the IOMMU (%s)", way_names[i]);
		ktap_run_arg(name, test_job, ways[i]);
		snprintf(name, sizeof(name),
			 "[MEM3] a page the IOMMU does not map is a BUS fault (%s)", way_names[i]);
		ktap_run_arg(name, test_unmapped, ways[i]);
		snprintf(name, sizeof(name),
			 "[MEM3] a page the IOMMU maps read-only cannot be written (%s)",
			 way_names[i]);
		ktap_run_arg(name, test_read_only, ways[i]);
		snprintf(name, sizeof(name),
			 "[MEM3] a page the IOMMU lets be read cannot be written (%s)",
			 way_names[i]);
		ktap_run_arg(name, test_read_then_write, ways[i]);
		snprintf(name, sizeof(name), "[MEM3] the IOMMU's tables in our registers (%s)",
			 way_names[i]);
		ktap_run_arg(name, test_tables_in_bar, ways[i]);
		snprintf(name, sizeof(name), "[MEM3] a page table the IOMMU does not map (%s)",
			 way_names[i]);
		ktap_run_arg(name, test_walk, ways[i]);
	}
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name),
			 "[MEM2] an IOMMU invalidation reaches cached pointers (%s)",
			 invalidation_names[i]);
		ktap_run_arg(name, test_remap, &invalidations[i]);
	}
	ktap_run("[MEM2] pages are unmapped under a running copy", test_unmap_under_copy);
	ktap_run("the machine stops and runs over open questions", test_stop_and_continue);
	ktap_run("an IOMMU that does not notify is refused", test_no_notifications);
	ktap_run("[MEM1] the IOMMU's large pages", test_huge_pages);
	ktap_run("[MEM2] turning the IOMMU off and on reaches cached pointers", test_on_and_off);
	ktap_run("[MEM3] memory behind a translation goes away", test_memory_goes);
	ktap_run("[MEM3] a refusal that is fetched too late is asked for again, twice at most",
		 test_late_refusal);
	ktap_run("[MEM3] a fault event of the IOMMU under TCG", test_fault_event);
	ktap_run("[MEM1] work behind the IOMMU goes on in a new process", test_migrate);
	return ktap_finish();
}
