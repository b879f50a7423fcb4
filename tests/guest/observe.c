// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 DEVICE_ARGS=vram=32M */
/*
 * What people look at: trace points on jobs, fences, binds, faults and resets, and the files of
 * debugfs, hold what a test has just done.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"

static char text[1 << 20];
static struct gt_ctx c;

static void expect(const char *format, ...)
{
	char want[200];
	va_list args;

	va_start(args, format);
	vsnprintf(want, sizeof(want), format, args);
	va_end(args);
	if (!strstr(text, want))
		ktap_fail("\"%s\" is not there", want);
}

static void read_debugfs(const char *leaf)
{
	char path[300];

	text[0] = 0;
	gt_debugfs(leaf, path, sizeof(path));
	gt_read_file(path, text, sizeof(text));
}

static int faulty(uint64_t *stream)
{
	struct gt_cs cs = gt_stream(&c, 8);

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = 0x666000, .size = 64);
	*stream = cs.va;
	return gt_run(&c, &cs);
}

static void tracing(void)
{
	struct drm_tessera_bind_op map = gt_op_map(c.data.handle, 0x7654000, GT_PAGE, 0, GT_RW);
	uint64_t stream;
	char path[300];

	ktap_eq(gt_write_file(TRACING "events/tessera/enable", "1"), 0);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), 0);
	ktap_eq(faulty(&stream), -EFAULT);
	gt_renew_queue(&c);
	gt_debugfs("reset", path, sizeof(path));
	ktap_eq(gt_write_file(path, "device"), 0);
	ktap_eq(gt_write_file(TRACING "events/tessera/enable", "0"), 0);
	KTAP_REQUIRE(gt_read_file(TRACING "trace", text, sizeof(text)) > 0);
	expect("tessera_bind: as=");
	expect("start=0x7654000 end=0x7655000 error=0");
	expect("tessera_job_queue: ");
	expect("tessera_job_run: slot=");
	expect("cmd_va=%#llx cmd_size=", (unsigned long long)stream);
	expect("tessera_fence_emit: ");
	expect("tessera_fault: slot=");
	expect("fault=MMU_UNMAPPED addr=0x666000 access=");
	expect("tessera_queue_ban: slot=");
	expect("tessera_fence_signal: ");
	expect("cmd_va=%#llx error=-14", (unsigned long long)stream);
	expect("tessera_device_reset: dev=");
	expect("rung=device");
	unlink(TRACING "trace");
}

/* No rung of the ladder is called that: nothing is reset, nothing is stopped. */
static void rungs(void)
{
	static const char * const bad[] = { "devices", "dev", "wedged device", "function.", "1" };
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd), after;
	struct gt_cs cs = gt_stream(&c, 8);
	char path[300];
	unsigned int i;

	gt_debugfs("reset", path, sizeof(path));
	for (i = 0; i < GT_ARRAY_SIZE(bad); i++)
		ktap_eq(gt_write_file(path, bad[i]), -EINVAL);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0), .size = 64);
	ktap_eq(gt_run(&c, &cs), 0);
	after = gt_gpu_state(c.fd);
	ktap_eq(after.reset_count, before.reset_count);
	ktap_eq(after.flags, 0);
}

static void debugfs(void)
{
	struct drm_tessera_bo_set_label label = { .handle = c.data.handle,
						  .label = gt_ptr("data") };
	struct gt_cs cs = gt_stream(&c, 4);
	struct drm_tessera_sync done = gt_binary(c.sync);
	volatile uint64_t *gate = gt_data(&c, 0);
	uint64_t call[TSR_CALL_QWORDS], stream;

	ktap_eq(faulty(&stream), -EFAULT);
	gt_renew_queue(&c);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_SET_LABEL, &label), 0);
	*gate = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
	read_debugfs("faults");
	expect("va 0x666000");
	read_debugfs("gems");
	expect(" data\n");
	read_debugfs("gpuvas");
	expect("0x0000000020000000");
	read_debugfs("queues");
	expect("tessera-queue-copy");
	read_debugfs("rings");
	tsr_pack_call(call, &(struct tsr_call){ .addr = cs.va, .size = 8 * cs.count });
	expect("%016llx", (unsigned long long)call[0]);
	expect("%016llx", (unsigned long long)call[1]);
	*gate = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	read_debugfs("device");
	expect("device resets ");
}

/* The bound that GET_TIMESTAMP gives is kept: clocks of any two samples fit together. */
static void timestamps(void)
{
	struct drm_tessera_gpu_info info = gt_gpu_info(c.fd);
	struct drm_tessera_get_timestamp first = { .clock_id = CLOCK_MONOTONIC }, now;
	unsigned int i;

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &first), 0);
	for (i = 0; i < 200; i++) {
		uint64_t before = gt_now_ns(), after;
		long long cpu, gpu, bound;

		now = (struct drm_tessera_get_timestamp){ .clock_id = CLOCK_MONOTONIC };
		ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &now), 0);
		after = gt_now_ns();
		ktap_ok(now.cpu_ns >= before && now.cpu_ns <= after);
		ktap_ok(now.max_deviation_ns <= after - before);
		cpu = (long long)(now.cpu_ns - first.cpu_ns);
		gpu = (long long)((__uint128_t)(now.gpu_ticks - first.gpu_ticks) * 1000000000 /
				  info.timestamp_hz);
		/* both samples, a tick, and what the guest's clock may drift in this time */
		bound = (long long)(now.max_deviation_ns + first.max_deviation_ns +
				    1000000000 / info.timestamp_hz) + cpu / 1000;
		if (llabs(cpu - gpu) > bound) {
			ktap_fail("after %lld ns the GPU has counted %lld ns, bound %lld", cpu, gpu,
				  bound);
			break;
		}
		gt_sleep_ms(2);
	}
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[SYS9] trace points tell jobs, fences, binds, faults and resets", tracing);
	ktap_run("[SYS9] debugfs: faults, gems, gpuvas, queues, rings", debugfs);
	ktap_run("[SYS9] debugfs: a reset that does not exist", rungs);
	ktap_run("[SYS3] GPU and CPU clocks agree within the bound that is told", timestamps);
	gt_ctx_free(&c);
	return gt_finish();
}
