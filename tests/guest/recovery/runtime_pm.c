// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 DEVICE_ARGS=vram=32M,inject-window=on,check=off */
/*
 * A device that nobody uses goes to sleep by itself (D3hot) and is woken by who uses it: what was
 * programmed is there again, nothing is lost, nothing counts as a reset. What keeps it awake: a
 * job, and memory of its own that the processor may reach for.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static struct gt_ctx c;

static void set_power(const char *leaf, const char *value)
{
	char path[300];

	gt_sysfs(0, leaf, path, sizeof(path));
	ktap_eq(gt_write_file(path, value), 0);
}

/* gt_sysfs() opens nodes, which does not wake the device; neither does what it reads. */
static bool sleeps(unsigned int ms)
{
	for (; ms && strcmp(gt_sysfs_line("power/runtime_status"), "suspended"); ms -= 10)
		gt_sleep_ms(10);
	return !strcmp(gt_sysfs_line("power/runtime_status"), "suspended") &&
	       !strcmp(gt_sysfs_line("power_state"), "D3hot");
}

static bool awake(void)
{
	return !strcmp(gt_sysfs_line("power/runtime_status"), "active") &&
	       !strcmp(gt_sysfs_line("power_state"), "D0");
}

static int fill(uint64_t offset, uint64_t value)
{
	struct gt_cs cs = gt_stream(&c, 8);

	memset(gt_data(&c, offset), 0, 64);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(offset), .size = 64,
		.pattern_lo = value);
	return gt_run(&c, &cs);
}

static void stays_awake(void)
{
	ktap_eq(strcmp(gt_sysfs_line("power/control"), "on"), 0);
	ktap_ok(!sleeps(1500));
}

static void sleeps_and_wakes(void)
{
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd), after;

	set_power("power/autosuspend_delay_ms", "50");
	set_power("power/control", "auto");
	for (unsigned int i = 1; i <= 20; i++) {
		if (!ktap_ok(sleeps(10000)))
			return;
		ktap_eq(fill(0, i), 0);
		ktap_eq(((volatile uint64_t *)gt_data(&c, 0))[7], i);
	}
	after = gt_gpu_state(c.fd);
	ktap_eq(after.reset_count, before.reset_count);
	ktap_eq(after.queue_reset_count, before.queue_reset_count);
	ktap_eq(after.flags, 0);
	ktap_eq(gt_queue_state(c.fd, c.queue).state, 0);
	ktap_eq(gt_queue_state(c.fd, c.queue).reset_count, 0);
	ktap_ok(strtoul(gt_sysfs_line("power/runtime_suspended_time"), NULL, 10) > 0);
}

/* Questions that the kernel can answer do not wake it. */
static void questions(void)
{
	struct drm_tessera_bo_info info = { .handle = c.data.handle };
	struct drm_tessera_bo_mmap_offset offset = { .handle = c.data.handle };

	ktap_ok(sleeps(10000));
	gt_gpu_info(c.fd);
	gt_gpu_state(c.fd);
	gt_queue_state(c.fd, c.queue);
	gt_vm_state(c.fd, c.vm, NULL);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_INFO, &info), 0);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset), 0);
	ktap_eq(strcmp(gt_sysfs_line("power/runtime_status"), "suspended"), 0);
	ktap_eq(fill(0, 5), 0);
}

/* Creating, mapping and freeing objects wakes the device. Ids and mappings stay the same. */
static void objects(void)
{
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);
	struct drm_tessera_bind_op op = gt_op_map(bo.handle, 0x40000000, GT_PAGE, 0, GT_RW);
	uint32_t queue, old = c.queue;
	struct gt_cs cs;

	ktap_ok(sleeps(10000));
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	ktap_ok(sleeps(10000));
	queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	ktap_ok(sleeps(10000));
	cs = gt_stream(&c, 8);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = 0x40000000, .size = 64, .pattern_lo = 7);
	ktap_eq(gt_run_on(&c, queue, &cs), 0);
	ktap_eq(((volatile uint64_t *)bo.map)[7], 7);
	ktap_ok(sleeps(10000));
	ktap_eq(gt_queue_destroy(c.fd, queue), 0);
	op = gt_op_unmap(0x40000000, GT_PAGE);
	ktap_ok(sleeps(10000));
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	ktap_ok(sleeps(10000));
	ktap_eq(fill(64, 3), 0);
	ktap_eq(c.queue, old);
	gt_bo_free(&bo);
}

/* A job that waits for the processor, for longer than it takes to fall asleep. */
static void job_keeps_awake(void)
{
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct gt_cs cs = gt_stream(&c, 8);

	*(volatile uint64_t *)gt_data(&c, 128) = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(128), .value = 1);
	ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
	gt_sleep_ms(600);
	ktap_ok(awake());
	*(volatile uint64_t *)gt_data(&c, 128) = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_ok(sleeps(10000));
}

static void local_keeps_awake(void)
{
	struct gt_bo local = gt_bo(c.fd, GT_PAGE, DRM_TESSERA_BO_LOCAL);

	((volatile uint32_t *)local.map)[5] = 0x1234;
	gt_sleep_ms(600);
	ktap_ok(awake());
	ktap_eq(((volatile uint32_t *)local.map)[5], 0x1234);
	gt_bo_free(&local);
	ktap_ok(sleeps(10000));
}

/* Files that are read, or closed, while it sleeps. */
static void looked_at(void)
{
	char path[300], text[4000];
	struct gt_ctx other = gt_ctx();

	ktap_ok(sleeps(10000));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", c.fd);
	ktap_ok(gt_read_file(path, text, sizeof(text)) > 0);
	ktap_ok(strstr(text, "drm-engine-copy") != NULL);
	ktap_ok(sleeps(10));
	close(other.fd);
	ktap_ok(sleeps(10000));
	gt_debugfs("queues", path, sizeof(path));
	ktap_ok(gt_read_file(path, text, sizeof(text)) > 0);
	ktap_ok(!strstr(text, "state ffffffff"));
	ktap_ok(sleeps(10000));
	ktap_eq(fill(0, 9), 0);
}

/* The driver goes, and comes, while it sleeps. */
static void unbound(void)
{
	char slot[64];

	gt_pci_slot(slot, sizeof(slot));
	ktap_ok(sleeps(10000));
	ktap_eq(gt_driver_write("unbind", slot), 0);
	gt_ctx_free(&c);
	ktap_eq(gt_driver_write("bind", slot), 0);
	gt_wait_node();
	c = gt_ctx();
	ktap_eq(fill(0, 11), 0);
	set_power("power/autosuspend_delay_ms", "50");
	ktap_ok(sleeps(10000));
	ktap_eq(fill(0, 12), 0);
	set_power("power/control", "on");
	ktap_ok(awake());
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[SYS7] a device that may not sleep does not", stays_awake);
	ktap_run("[SYS7] an idle device sleeps, SUBMIT wakes it, nothing is lost",
		 sleeps_and_wakes);
	ktap_run("[SYS7] questions the kernel can answer let it sleep", questions);
	ktap_run("[SYS7] queues and mappings made and dropped around sleep", objects);
	ktap_run("[SYS7] a job keeps the device awake", job_keeps_awake);
	ktap_run("[SYS7] local memory keeps the device awake", local_keeps_awake);
	ktap_run("[SYS7] fdinfo does not wake it, debugfs does", looked_at);
	ktap_run("[SYS7] the driver is unbound while the device sleeps", unbound);
	gt_ctx_free(&c);
	return gt_finish();
}
