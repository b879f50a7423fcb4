// SPDX-License-Identifier: MIT
/* test: TIMEOUT=180 DEVICE_ARGS=vram=32M CONSOLE=1 */
/*
 * The machine's devices go to sleep and wake up (the kernel's pm_test, which suspends and resumes
 * them for real and stops short of the processor): the device comes back in D0 with all that was
 * programmed; jobs end before, or are lost and told so; memory keeps its contents.
 */
#include "gt_main.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static struct gt_ctx c;

/* Suspends all devices, and wakes them up after a second. */
static void sleep_and_wake(void)
{
	ktap_eq(gt_write_file("/sys/module/suspend/parameters/pm_test_delay", "1"), 0);
	ktap_eq(gt_write_file("/sys/power/pm_test", "devices"), 0);
	ktap_eq(gt_write_file("/sys/power/state", "mem"), 0);
	ktap_eq(gt_write_file("/sys/power/pm_test", "none"), 0);
}

static int fill(struct gt_ctx *x, uint64_t offset)
{
	struct gt_cs cs = gt_stream(x, 8);

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(offset), .size = 64,
		.pattern_lo = 0x900d);
	return gt_run(x, &cs);
}

/* Queues, VMs, mappings and both kinds of memory are there afterwards; nobody lost anything. */
static void idle(void)
{
	struct gt_bo local = gt_bo(c.fd, GT_HUGE, DRM_TESSERA_BO_LOCAL);
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd), after;
	unsigned int i, wrong = 0;

	gt_bo_bind(&local, c.vm, 0x40000000, GT_RW);
	for (i = 0; i < GT_HUGE / 4; i++)
		((volatile uint32_t *)local.map)[i] = i * 2654435761u;
	ktap_eq(fill(&c, 0), 0);
	sleep_and_wake();
	for (i = 0; i < GT_HUGE / 4; i++)
		wrong += ((volatile uint32_t *)local.map)[i] != i * 2654435761u;
	ktap_eq(wrong, 0);
	ktap_eq(fill(&c, 64), 0);
	ktap_eq(((uint64_t *)gt_data(&c, 64))[7], 0x900d);
	ktap_eq(gt_queue_state(c.fd, c.queue).state, 0);
	ktap_eq(gt_queue_state(c.fd, c.queue).reset_count, 0);
	after = gt_gpu_state(c.fd);
	ktap_eq(after.reset_count, before.reset_count);
	ktap_eq(after.flags, 0);
	gt_bo_free(&local);
}

/* A job that does not end in time is lost. The next job runs after the device has woken up. */
static void busy(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	uint32_t behind = gt_syncobj(c.fd, false);
	struct gt_cs gate = gt_stream(&c, 8), after = gt_stream(&c, 8), copy = gt_stream(&c, 8);
	struct drm_tessera_sync first = gt_binary(c.sync), second = gt_binary(behind);
	struct drm_tessera_sync third = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_queue_get_state state;

	memset(gt_data(&c, 0), 0, 256);
	GT_EMIT(&gate, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(8), .value = 1);
	GT_EMIT(&gate, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&after, fill_linear, .texel = 8, .dst = gt_data_va(64), .size = 64,
		.pattern_lo = 0x5afe);
	GT_EMIT(&copy, copy_linear, .src = gt_data_va(0x40000), .dst = gt_data_va(0x80000),
		.size = 0x40000);
	ktap_eq(gt_kick(&c, c.queue, &gate, &first), 0);
	ktap_eq(gt_kick(&c, c.queue, &after, &second), 0);
	ktap_ok(gt_spin_until((uint64_t *)gt_data(&c, 8), 1, GT_TIMEOUT_MS));
	ktap_eq(gt_kick(&c, queue, &copy, &third), 0);
	sleep_and_wake();
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), -ECANCELED);
	ktap_eq(gt_fence_error(c.fd, behind, 0), 0);
	ktap_eq(((uint64_t *)gt_data(&c, 64))[7], 0x5afe);
	ktap_eq(gt_fence_error(c.fd, third.handle, 0), 0);
	state = gt_queue_state(c.fd, c.queue);
	ktap_eq(state.state, DRM_TESSERA_QUEUE_INNOCENT);
	ktap_eq(state.error, ECANCELED);
	ktap_eq(gt_queue_state(c.fd, queue).state, 0);
	ktap_eq(fill(&c, 128), 0);
	gt_queue_destroy(c.fd, queue);
}

/* Suspends all devices as for hibernation; -errno. */
static int hibernate(void)
{
	int ret;

	ktap_eq(gt_write_file("/sys/power/pm_test", "devices"), 0);
	ret = gt_write_file("/sys/power/state", "disk");
	ktap_eq(gt_write_file("/sys/power/pm_test", "none"), 0);
	return ret;
}

/* Hibernation would take what cannot be evicted, so it is refused; without any it is not. */
static void hibernates(void)
{
	struct gt_bo local = gt_bo(c.fd, GT_PAGE, DRM_TESSERA_BO_LOCAL |
						  DRM_TESSERA_BO_LOCAL_ONLY);
	struct drm_tessera_bind_op unmap = gt_op_unmap(0x40000000, GT_HUGE);
	char text[100] = "";

	gt_read_file("/sys/power/state", text, sizeof(text));
	if (!strstr(text, "disk")) {
		ktap_skip("the kernel does not hibernate");
		gt_bo_free(&local);
		return;
	}
	((volatile uint64_t *)local.map)[5] = 0x1234;
	ktap_eq(hibernate(), -EBUSY);
	ktap_eq(((volatile uint64_t *)local.map)[5], 0x1234);
	ktap_eq(fill(&c, 0), 0);
	gt_bo_free(&local);
	/* that of the test before is still mapped */
	ktap_eq(gt_vm_bind(c.fd, c.vm, &unmap, 1), 0);
	ktap_eq(hibernate(), 0);
	ktap_eq(fill(&c, 64), 0);
	ktap_eq(gt_queue_state(c.fd, c.queue).reset_count, 0);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	if (access("/sys/power/pm_test", W_OK)) {
		ktap_skip("the kernel has no pm_test");
		return gt_finish();
	}
	c = gt_ctx();
	ktap_run("[SYS7] sleep and wake up with nothing to do", idle);
	ktap_run("[SYS7] hibernation is refused while it would lose local memory", hibernates);
	ktap_run("[SYS7] sleep with work on its way: it ends, or is told that it is lost", busy);
	gt_ctx_free(&c);
	return gt_finish();
}
