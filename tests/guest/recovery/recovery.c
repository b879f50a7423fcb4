// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=240 DEVICE_ARGS=vram=32M
 * test: KERNEL_ARGS=tessera.job_timeout_ms=5000;tessera.job_limit_ms=10000
 */
/*
 * The reset escalation: reset of the device, of the PCI function, and giving up. It is started by
 * debugfs and by a device that does not answer any more. The test has a boot of its own, because it
 * ends with a device that is given up and comes back by a rebind.
 */
#include "gt_main.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gt_recover.h"

#define CLIENTS		4
#define COMMAND		4	/* register of the configuration space */
#define COMMAND_MEMORY	2

/*
 * One process of the load: copies until told to end. A copy is right, or the fence says that it was
 * cancelled and the queue that it is innocent.
 */
static int load_client(volatile unsigned int *shared)
{
	static struct gt_cs cs;
	struct gt_ctx c = gt_ctx();
	uint32_t *from = gt_data(&c, 0x20000), *to = gt_data(&c, 0x40000);
	unsigned int round, i, lost = 0, wrong = 0;

	cs = gt_stream(&c, 4);
	GT_EMIT(&cs, copy_linear, .src = gt_data_va(0x20000), .dst = gt_data_va(0x40000),
		.size = 0x10000);
	for (round = 1; !shared[1]; round++) {
		int ret;

		for (i = 0; i < 0x4000; i++)
			from[i] = i * 2654435761u ^ round;
		memset(to, 0, 0x10000);
		ret = gt_run(&c, &cs);
		lost += ret == -ECANCELED;
		wrong += ret ? ret != -ECANCELED : memcmp(from, to, 0x10000) != 0;
		if (round == 1)
			__sync_fetch_and_add(&shared[0], 1);
	}
	if (!copy_works(&c) ||
	    gt_queue_state(c.fd, c.queue).state != (lost ? DRM_TESSERA_QUEUE_INNOCENT : 0))
		wrong++;
	__sync_fetch_and_add(&shared[2], lost);
	return wrong ? 1 : 0;
}

/* Start the reset escalation five times while processes copy and a queue hangs. */
static void under_load(const char *rung)
{
	volatile unsigned int *shared = mmap(NULL, GT_PAGE, PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct drm_tessera_gpu_state before, after;
	pid_t pids[CLIENTS];
	unsigned int i;
	int fd = gt_open();

	before = gt_gpu_state(fd);
	for (i = 0; i < CLIENTS; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(load_client(shared));
	}
	while (shared[0] < CLIENTS)
		gt_sleep_ms(1);
	for (i = 0; i < 5; i++) {
		struct victim v = start_victim();

		ktap_eq(climb(rung), 0);
		expect_innocent(&v);
		ktap_ok(copy_works(&v.c));
		gt_ctx_free(&v.c);
	}
	shared[1] = 1;
	for (i = 0; i < CLIENTS; i++) {
		int status = -1;

		waitpid(pids[i], &status, 0);
		ktap_eq(status, 0);
	}
	after = gt_gpu_state(fd);
	ktap_eq(after.reset_count, before.reset_count + 5);
	ktap_eq(after.queue_reset_count, before.queue_reset_count);
	ktap_eq(after.flags, 0);
	printf("# %u copies of innocents were lost\n", shared[2]);
	munmap((void *)shared, GT_PAGE);
	close(fd);
}

static void reset_device(void)
{
	under_load("device");
}

static void reset_function(void)
{
	under_load("function");
}

/*
 * PCI resets the function that the driver has just reset. What the driver has to do afterwards it
 * leaves to who resets it now: that would use registers that are out of reach. Who waits for the
 * function gets in between if it goes before the driver's worker, on the only processor. Where it
 * does not, the two resets come one after the other.
 */
static void reset_from_outside(void)
{
	const struct sched_param first = { .sched_priority = 1 }, usual = { 0 };
	unsigned int met = 0;
	char path[300];

	gt_sysfs(0, "reset", path, sizeof(path));
	for (unsigned int i = 0; i < 3; i++) {
		struct victim v = start_victim();
		struct drm_tessera_gpu_state before = gt_gpu_state(v.c.fd), after;
		pid_t driver = fork();
		int status = -1;

		if (!driver)
			_exit(climb("function") ? 1 : 0);
		gt_sleep_ms(20);	/* the reset has begun and takes 100 ms */
		ktap_eq(sched_setscheduler(0, SCHED_FIFO, &first), 0);
		ktap_eq(gt_write_file(path, "1"), 0);
		ktap_eq(sched_setscheduler(0, SCHED_OTHER, &usual), 0);
		waitpid(driver, &status, 0);
		ktap_eq(status, 0);
		after = gt_gpu_state(v.c.fd);
		ktap_eq(after.flags, 0);
		met += after.reset_count == before.reset_count + 1;
		ktap_eq(gt_fence_error(v.c.fd, v.begun, 0), -ECANCELED);
		ktap_ok(copy_works(&v.c));
		ktap_eq(gt_queue_state(v.c.fd, v.c.queue).state, DRM_TESSERA_QUEUE_INNOCENT);
		gt_ctx_free(&v.c);
	}
	printf("# they met %u times\n", met);
}

/* ---- a device that does not answer ---- */

static void answer(bool yes)
{
	char path[300];
	uint16_t command;
	int fd;

	gt_sysfs(0, "config", path, sizeof(path));
	fd = open(path, O_RDWR);
	KTAP_REQUIRE(fd >= 0);
	ktap_eq(pread(fd, &command, 2, COMMAND), 2);
	command = yes ? command | COMMAND_MEMORY : command & ~COMMAND_MEMORY;
	ktap_eq(pwrite(fd, &command, 2, COMMAND), 2);
	close(fd);
}

/*
 * With its BARs switched off every register reads as all ones. A job is late; the driver finds that
 * out, blames no queue, resets the function, gives it its configuration back and goes on.
 */
static void all_ones(void)
{
	struct victim v = start_victim();
	struct drm_tessera_gpu_state before = gt_gpu_state(v.c.fd), after;

	answer(false);
	ktap_eq(gt_fence_error(v.c.fd, v.begun, 0), -ECANCELED);
	/* nobody can say if it had begun */
	ktap_eq(gt_fence_error(v.c.fd, v.behind, 0), -ECANCELED);
	ktap_ok(copy_works(&v.c));
	ktap_eq(gt_queue_state(v.c.fd, v.c.queue).state, DRM_TESSERA_QUEUE_INNOCENT);
	after = gt_gpu_state(v.c.fd);
	ktap_eq(after.reset_count, before.reset_count + 1);
	ktap_eq(after.queue_reset_count, before.queue_reset_count);
	ktap_eq(after.flags, 0);
	gt_ctx_free(&v.c);
}

/* Here the device is removed before anybody has noticed the hang. */
static void surprise_removal(void)
{
	struct victim v = start_victim();
	struct drm_tessera_job job = gt_job(v.c.queue, NULL);
	char path[300];
	int i;

	answer(false);
	gt_sysfs(0, "remove", path, sizeof(path));
	ktap_eq(gt_write_file(path, "1"), 0);
	ktap_eq(gt_syncobj_wait(v.c.fd, v.begun, 0, 1000) == -ETIME, 0);
	ktap_eq(gt_submit(v.c.fd, &job, 1), -ENODEV);
	close(v.c.fd);
	ktap_eq(gt_write_file("/sys/bus/pci/rescan", "1"), 0);
	for (i = 0; i < 1000 && !gt_node_path(0, true, path, sizeof(path)); i++)
		gt_sleep_ms(5);
	v.c = gt_ctx();
	ktap_ok(copy_works(&v.c));
	gt_ctx_free(&v.c);
}

/* ---- nothing helps ---- */

/* A job on @queue that waits for the one that has begun: it is not on a ring yet when that ends. */
static uint32_t start_later(struct victim *v, uint32_t queue)
{
	struct drm_tessera_sync gate = gt_binary(v->begun);
	struct drm_tessera_sync done = gt_binary(gt_syncobj(v->c.fd, false));
	struct gt_cs cs = gt_stream(&v->c, 8);
	struct drm_tessera_job job;

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0x1000), .size = 64);
	job = gt_job(queue, &cs);
	job.waits = GT_ARRAY(&gate, 1);
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(v->c.fd, &job, 1), 0);
	return done.handle;
}

/* A driver that has just taken the device has counted nothing. */
static void expect_new(int fd)
{
	struct drm_tessera_gpu_state state = gt_gpu_state(fd);
	char path[300], text[1000];

	ktap_eq(state.flags, 0);
	ktap_eq(state.reset_count, 0);
	ktap_eq(state.queue_reset_count, 0);
	gt_debugfs("device", path, sizeof(path));
	ktap_ok(gt_read_file(path, text, sizeof(text)) > 0);
	ktap_ok(strstr(text, "device resets 0, of the PCI function 0, queue resets 0\n") != NULL);
}

static void wedged(void)
{
	struct victim v = start_victim();
	struct drm_tessera_job job = gt_job(v.c.queue, NULL);
	struct drm_tessera_bind_op map = gt_op_map(v.c.data.handle, 0x40000000, GT_PAGE, 0, GT_RW),
				   unmap = gt_op_unmap(0x40000000, GT_PAGE);
	uint32_t other = gt_queue(v.c.fd, v.c.vm, DRM_TESSERA_ENGINE_COPY);
	uint32_t later = start_later(&v, other), queue;
	int events = uevents_open();
	uint64_t resets;

	ktap_eq(climb("wedged"), 0);
	ktap_ok(uevent_came(events, "WEDGED=rebind,bus-reset", NULL));
	close(events);
	ktap_eq(gt_fence_error(v.c.fd, v.begun, 0), -EIO);
	ktap_eq(gt_fence_error(v.c.fd, v.behind, 0), -EIO);
	ktap_eq(gt_gpu_state(v.c.fd).flags, DRM_TESSERA_GPU_WEDGED);
	ktap_eq(gt_submit(v.c.fd, &job, 1), -EIO);
	ktap_eq(gt_queue_try(v.c.fd, v.c.vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queue), -EIO);
	ktap_eq(gt_vm_bind(v.c.fd, v.c.vm, &map, 1), -EIO);
	ktap_eq(gt_vm_bind(v.c.fd, v.c.vm, &unmap, 1), 0);
	ktap_eq(gt_fence_error(v.c.fd, later, 0), -EIO);
	ktap_eq(gt_queue_state(v.c.fd, other).state, 0);
	resets = gt_gpu_state(v.c.fd).reset_count;
	ktap_eq(climb("device"), 0); /* no way back but a rebind */
	ktap_eq(climb("function"), 0);
	ktap_eq(gt_gpu_state(v.c.fd).flags, DRM_TESSERA_GPU_WEDGED);
	ktap_eq(gt_gpu_state(v.c.fd).reset_count, resets);
	gt_ctx_free(&v.c);
	rebind(false);
	v.c = gt_ctx();
	expect_new(v.c.fd);
	ktap_ok(copy_works(&v.c));
	gt_ctx_free(&v.c);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("[SYS7] a reset of the device costs innocents what had begun", reset_device);
	ktap_run("[SYS7] so does a reset of the PCI function", reset_function);
	ktap_run("[SYS7] the driver's reset of the function, and one from outside",
		 reset_from_outside);
	ktap_run("[SYS7] a device that answers with all ones is reset, nobody blamed", all_ones);
	ktap_run("[SYS1] a device that answers with all ones is removed", surprise_removal);
	ktap_run("[SYS7] a device that is given up says so, and a rebind brings it back", wedged);
	return gt_finish();
}
