// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 DEVICE_ARGS=check=on */
/*
 * Situations in which drivers make mistakes, with the device's contract checker: full rings, memory
 * that changes or is freed right after the GPU has used it, queues that end with work in flight. A
 * correct driver is not reported. The checker reports its mutants
 * (Documentation/develop/broken-drivers.md) in this test.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define GATE		0		/* a word the ring waits for */
#define COUNTS		0x1000		/* what jobs fill */
#define RING		4096		/* bytes, of which a job takes 128 */
#define SUSPICION_MS	2500		/* longer than the checker suspects without a report */
#define WINDOW_VA	0x40000000ULL
#define USED		0xccccccccccccccccULL	/* what the job of memory_in_use() writes */

static struct gt_ctx c;

/* A stream that fills @size bytes at @va. */
static struct gt_cs fill(uint64_t va, uint32_t size, uint8_t byte)
{
	struct gt_cs cs = gt_stream(&c, 8);

	GT_EMIT(&cs, fill_linear, .texel = 1, .dst = va, .size = size, .pattern_lo = byte);
	return cs;
}

/* Twice as many jobs as the ring has room for, behind one that waits; then all of them run. */
static void full_ring(void)
{
	volatile uint64_t *gate = gt_data(&c, GATE);
	uint8_t *counts = gt_data(&c, COUNTS);
	unsigned int i, jobs = 2 * RING / 128, wrong = 0;
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct gt_cs cs = gt_stream(&c, 8);
	uint32_t queue;

	ktap_eq(gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL,
			     RING, &queue), 0);
	memset(counts, 0, jobs);
	*gate = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(GATE), .value = 1);
	ktap_eq(gt_kick(&c, queue, &cs, NULL), 0);
	for (i = 0; i < jobs; i++) {
		cs = fill(gt_data_va(COUNTS + i), 1, i + 1);
		ktap_eq(gt_kick(&c, queue, &cs, i + 1 == jobs ? &done : NULL), 0);
	}
	gt_sleep_ms(100);
	*gate = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	for (i = 0; i < jobs; i++)
		wrong += counts[i] != (uint8_t)(i + 1);
	ktap_eq(wrong, 0);
	ktap_eq(gt_queue_destroy(c.fd, queue), 0);
}

/* One address, one page after the other; each job's bytes are in the page that is there. */
static void other_memory(void)
{
	struct gt_bo bo[4];
	unsigned int i;

	for (i = 0; i < GT_ARRAY_SIZE(bo); i++)
		bo[i] = gt_bo(c.fd, GT_PAGE, DRM_TESSERA_BO_CACHED);
	for (i = 0; i < 16; i++) {
		struct gt_bo *b = &bo[i % GT_ARRAY_SIZE(bo)];
		struct drm_tessera_bind_op map = gt_op_map(b->handle, WINDOW_VA, GT_PAGE, 0, GT_RW);
		struct gt_cs cs = fill(WINDOW_VA, GT_PAGE, i + 1);

		ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), 0);
		ktap_eq(gt_run(&c, &cs), 0);
		ktap_eq(*(volatile uint8_t *)b->map, i + 1);
	}
	gt_sleep_ms(SUSPICION_MS);	/* what is stale is told before its memory goes */
	for (i = 0; i < GT_ARRAY_SIZE(bo); i++)
		gt_bo_free(&bo[i]);
}

/* Memory is unmapped and freed; who still uses the address gets a fault and nobody's memory. */
static void freed_memory(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);
		struct drm_tessera_bind_op map = gt_op_map(bo.handle, WINDOW_VA, GT_PAGE, 0, GT_RW);
		struct drm_tessera_bind_op unmap = gt_op_unmap(WINDOW_VA, GT_PAGE);
		struct gt_cs cs = fill(WINDOW_VA, GT_PAGE, 0xee);

		ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), 0);
		ktap_eq(gt_run(&c, &cs), 0);
		ktap_eq(gt_vm_bind(c.fd, c.vm, &unmap, 1), 0);
		gt_bo_free(&bo);
		gt_sleep_ms(20);
		cs = fill(WINDOW_VA, GT_PAGE, 0xdd);
		ktap_eq(gt_run(&c, &cs), -EFAULT);
		gt_renew_queue(&c);
	}
}

/*
 * Memory changes under a job that uses it all the time. Each VM_BIND replaces many pages and the
 * job's own last, so that a device that was told too early has looked it up again by then. Once
 * VM_BIND is back, the page that was there is nobody's but the CPU's.
 */
static void memory_in_use(void)
{
	enum { OPS = 200, ROUNDS = 24 };
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct gt_bo bo[2] = { gt_bo(c.fd, GT_PAGE, 0), gt_bo(c.fd, GT_PAGE, 0) };
	volatile uint64_t *word[2] = { bo[0].map, bo[1].map };
	struct drm_tessera_bind_op ops[OPS];
	struct gt_cs cs = gt_stream(&c, 12);
	unsigned int i, round;

	gt_bo_bind(&bo[0], c.vm, WINDOW_VA, GT_RW);
	GT_EMIT(&cs, fill_linear, .texel = 1, .dst = WINDOW_VA, .size = 64, .pattern_lo = 0xcc);
	GT_EMIT(&cs, jump, .addr = cs.va, .size = (cs.count + 3) * 8);
	ktap_eq(gt_kick(&c, queue, &cs, NULL), 0);
	ktap_ok(gt_spin_until(word[0], USED, SUSPICION_MS));
	for (round = 1; round <= ROUNDS; round++) {
		unsigned int now = round % 2;

		for (i = 0; i < OPS; i++)
			ops[i] = gt_op_map(bo[now].handle, WINDOW_VA + (OPS - 1 - i) * GT_PAGE,
					   GT_PAGE, 0, GT_RW);
		*word[now] = 0;
		if (!ktap_eq(gt_vm_bind(c.fd, c.vm, ops, OPS), 0))
			break;
		*word[!now] = 0;
		if (!ktap_ok(gt_spin_until(word[now], USED, SUSPICION_MS)) ||
		    !ktap_eq(*word[!now], 0))
			break;
	}
	ktap_eq(gt_queue_state(c.fd, queue).error, 0);
	ktap_eq(gt_queue_destroy(c.fd, queue), 0);
	ops[0] = gt_op_unmap(WINDOW_VA, OPS * GT_PAGE);
	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, 1), 0);
	for (i = 0; i < 2; i++)
		gt_bo_free(&bo[i]);
}

/* Queues and their VM go while jobs wait on the device. */
static void work_in_flight(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct gt_ctx d = gt_ctx();
		struct gt_cs cs = gt_stream(&d, 4);

		*(volatile uint64_t *)gt_data(&d, GATE) = 0;
		GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(GATE), .value = 1);
		ktap_eq(gt_kick(&d, d.queue, &cs, NULL), 0);
		gt_sleep_ms(20);
		gt_ctx_free(&d);
	}
}

/* The checker wants to be told of pages at any time: a device that has it on stays awake. */
static void stays_awake(void)
{
	char delay[300], control[300], status[300], text[64] = "";

	gt_sysfs(0, "power/autosuspend_delay_ms", delay, sizeof(delay));
	gt_sysfs(0, "power/control", control, sizeof(control));
	gt_sysfs(0, "power/runtime_status", status, sizeof(status));
	ktap_eq(gt_write_file(delay, "10"), 0);
	ktap_eq(gt_write_file(control, "auto"), 0);
	gt_sleep_ms(500);
	ktap_ok(gt_read_file(status, text, sizeof(text)) > 0);
	ktap_eq(strcmp(text, "active\n"), 0);
	ktap_eq(gt_write_file(control, "on"), 0);
}

/* The file tells what has been found: nothing. */
static void nothing_found(void)
{
	static const char *const kinds[] = {
		"STALE_TRANSLATION", "FREED_PAGE", "RING_OVERWRITTEN", "DOORBELL_EARLY",
		"FENCE_BACKWARDS", "IRQ_IGNORED", "RING_FAULT", "AS_IN_USE", "DOORBELL_DISABLED",
	};
	char path[300], text[2000], want[64];
	unsigned int i;

	gt_sleep_ms(SUSPICION_MS);
	gt_debugfs("check", path, sizeof(path));
	KTAP_REQUIRE(gt_read_file(path, text, sizeof(text)) > 0);
	ktap_ok(strstr(text, "pending 0\n") == text);
	for (i = 0; i < GT_ARRAY_SIZE(kinds); i++) {
		snprintf(want, sizeof(want), "\n%s 0\n", kinds[i]);
		if (!strstr(text, want))
			ktap_fail("%s has been reported, or is not there", kinds[i]);
	}
	if (!ktap_ok(!strstr(text, "\nlast ")))
		ktap_note("%s", strstr(text, "\nlast ") + 1);
}

/* How many keep the device awake, as the kernel counts in that file; 0 if it does not tell. */
static unsigned long awake_for(const char *path)
{
	char text[32] = "";

	return gt_read_file(path, text, sizeof(text)) > 0 ? strtoul(text, NULL, 10) : 0;
}

/* The checker keeps the device awake. It may sleep when the driver is unbound, and only then. */
static void unbound(void)
{
	char usage[300], slot[64];
	unsigned long before;

	gt_sysfs(0, "power/runtime_usage", usage, sizeof(usage));
	before = awake_for(usage);
	if (!before) {
		ktap_skip("the kernel does not tell");
		return;
	}
	gt_ctx_free(&c);
	gt_pci_slot(slot, sizeof(slot));
	ktap_eq(gt_driver_write("unbind", slot), 0);
	ktap_ok(awake_for(usage) < before);
	ktap_eq(gt_driver_write("bind", slot), 0);
	gt_wait_node();
	c = gt_ctx();
	gt_sleep_ms(100);
	ktap_eq(awake_for(usage), before);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[CP1] a ring is full and none of its jobs is lost", full_ring);
	ktap_run("a page in the place of another is the one that is used", other_memory);
	ktap_run("[MEM3] memory that was unmapped and freed cannot be reached", freed_memory);
	ktap_run("[MEM2] VM_BIND takes memory from under a job that uses it", memory_in_use);
	ktap_run("[SYS4] queues and VMs go with work in flight", work_in_flight);
	ktap_run("[SYS9] a device whose checker is on does not go to sleep", stays_awake);
	ktap_run("[SYS9] the checker's hold on the device ends with the driver", unbound);
	ktap_run("[SYS9] the contract checker has nothing to report", nothing_found);
	gt_ctx_free(&c);
	return gt_finish();
}
