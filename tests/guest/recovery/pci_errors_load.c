// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 DEVICE_ARGS=vram=32M */
/*
 * Work during PCI's error recovery: a queue in the middle of a job that waits, followed by another
 * job. Without arguments the program checks the work itself.
 * `pci_errors_load fine|frozen DIR` makes DIR/armed, waits for DIR/go, and checks the cost of the
 * recovery in between: nothing, or the jobs on the ring. tests/guest/scripts/pci_errors.py injects
 * the errors.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static unsigned int wrong;
static uint64_t resets;		/* of the device, before */

static void expect(const char *what, long long got, long long want)
{
	if (got == want)
		return;
	printf("%s is %lld, should be %lld\n", what, got, want);
	wrong++;
}

static void wait_for(const char *path)
{
	uint64_t until = gt_now_ns() + 60000000000ULL;

	while (access(path, F_OK) && gt_now_ns() < until)
		gt_sleep_ms(10);
}

/* The first job waits for word 0 and writes word 1, the second one writes word 2. */
static void start(struct gt_ctx *c, uint32_t behind)
{
	struct gt_cs gate = gt_stream(c, 16), fill = gt_stream(c, 8);
	struct drm_tessera_sync first = gt_binary(c->sync), second = gt_binary(behind);

	resets = gt_gpu_state(c->fd).reset_count;
	memset(gt_data(c, 0), 0, 64);
	GT_EMIT(&gate, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(24), .value = 1);
	GT_EMIT(&gate, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&gate, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(8), .value = 1);
	GT_EMIT(&fill, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(16), .value = 1);
	expect("submit", gt_kick(c, c->queue, &gate, &first), 0);
	expect("submit", gt_kick(c, c->queue, &fill, &second), 0);
	expect("begun", gt_spin_until((uint64_t *)gt_data(c, 24), 1, GT_TIMEOUT_MS), 1);
}

static void finish(struct gt_ctx *c, uint32_t behind, bool lost)
{
	struct gt_cs fill = gt_stream(c, 8);
	uint64_t *words = gt_data(c, 0);

	*(volatile uint64_t *)words = 1;
	expect("first fence", gt_fence_error(c->fd, c->sync, 0), lost ? -ECANCELED : 0);
	expect("second fence", gt_fence_error(c->fd, behind, 0), lost ? -ECANCELED : 0);
	expect("first result", (long long)words[1], !lost);
	expect("second result", (long long)words[2], !lost);
	expect("state", gt_queue_state(c->fd, c->queue).state,
	       lost ? DRM_TESSERA_QUEUE_INNOCENT : 0);
	expect("resets of the queue", gt_queue_state(c->fd, c->queue).reset_count, lost);
	expect("resets of the device", (long long)(gt_gpu_state(c->fd).reset_count - resets), lost);
	GT_EMIT(&fill, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(32), .value = 7);
	expect("a job afterwards", gt_run(c, &fill), 0);
	expect("its result", (long long)words[4], 7);
}

static int hold(bool lost, const char *dir)
{
	struct gt_ctx c = gt_ctx();
	uint32_t behind = gt_syncobj(c.fd, false);
	char path[200];

	start(&c, behind);
	snprintf(path, sizeof(path), "%s/armed", dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	snprintf(path, sizeof(path), "%s/go", dir);
	wait_for(path);
	finish(&c, behind, lost);
	gt_ctx_free(&c);
	printf("%s\n", wrong ? "wrong" : "all right");
	return wrong ? 1 : 0;
}

static void undisturbed(void)
{
	struct gt_ctx c = gt_ctx();
	uint32_t behind = gt_syncobj(c.fd, false);

	start(&c, behind);
	finish(&c, behind, false);
	gt_ctx_free(&c);
	ktap_eq(wrong, 0);
}

int main(int argc, char **argv)
{
	if (argc == 3 && (!strcmp(argv[1], "fine") || !strcmp(argv[1], "frozen")))
		return hold(!strcmp(argv[1], "frozen"), argv[2]);
	gt_start(argc, argv);
	ktap_run("the work of the test of PCI's error recovery, undisturbed", undisturbed);
	return gt_finish();
}
