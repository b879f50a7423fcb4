// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=240 DEVICE_ARGS=vram=32M,inject-window=on
 * test: KERNEL_ARGS=tessera.job_timeout_ms=2000;tessera.job_limit_ms=60000
 */
/*
 * While the device is reset nobody reaches for it, and it for nothing: it is no bus master, what is
 * unmapped is free at once, jobs are taken and run afterwards, local memory is neither read nor
 * written until it is there again: by who has it mapped, nor by the kernel when it clears what it
 * hands out.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gt_recover.h"

#define LOCAL_MOST	0xc00000ull	/* a file may have half */
#define LOCAL_PIECE	0x100000ull
#define WORDS		(LOCAL_PIECE / sizeof(uint64_t))
#define STALE		0x5a5a5a5a5a5a5a5aull

static struct gt_ctx c;

/* True if debugfs says that the device is away; wait for it. */
static bool away(unsigned int ms)
{
	char path[300], text[1000];

	for (gt_debugfs("device", path, sizeof(path)); ms; ms--) {
		gt_read_file(path, text, sizeof(text));
		if (strstr(text, ", cut off"))
			return true;
		gt_sleep_ms(1);
	}
	return false;
}

/* A process that starts the reset escalation, which takes a while. */
static pid_t start_climbing(const char *rung)
{
	pid_t pid = fork();

	if (!pid)
		_exit(climb(rung) ? 1 : 0);
	return pid;
}

static void end_climbing(pid_t pid)
{
	int status = -1;

	ktap_eq(waitpid(pid, &status, 0), pid);
	ktap_eq(status, 0);
}

/* ---- a reset that takes three seconds ---- */

static void while_it_is_reset(void)
{
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);
	struct drm_tessera_bind_op unmap = gt_op_unmap(0x40000000, GT_PAGE);
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd);
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct gt_cs cs = gt_stream(&c, 8);
	uint32_t queue;
	uint64_t start;
	pid_t pid;

	memset(gt_data(&c, 0), 0, 64);
	gt_bo_bind(&bo, c.vm, 0x40000000, GT_RW);
	ktap_ok(gt_masters_bus());
	ktap_eq(gt_inject("reset-stuck delay=3000ms"), 0);
	pid = start_climbing("device");
	ktap_ok(away(2000));
	start = gt_now_ns();
	ktap_eq(gt_masters_bus(), 0);
	/* the device cannot use the page, so the driver does not wait for it */
	ktap_eq(gt_vm_bind(c.fd, c.vm, &unmap, 1), 0);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0), .size = 64, .pattern_lo = 77);
	ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
	ktap_ok(!gt_syncobj_done(c.fd, c.sync, 0));
	ktap_ok(gt_now_ns() - start < 2500000000ull);
	queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);	/* this one waits */
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(((volatile uint64_t *)gt_data(&c, 0))[7], 77);
	end_climbing(pid);
	ktap_ok(gt_masters_bus());
	cs = gt_stream(&c, 8);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0), .size = 64, .pattern_lo = 78);
	ktap_eq(gt_run_on(&c, queue, &cs), 0);
	ktap_eq(((volatile uint64_t *)gt_data(&c, 0))[7], 78);
	ktap_eq(gt_queue_state(c.fd, c.queue).state, 0);
	ktap_eq(gt_gpu_state(c.fd).reset_count, before.reset_count + 1);
	gt_queue_destroy(c.fd, queue);
	gt_bo_free(&bo);
}

/* ---- local memory while the function is reset: its BAR does not answer ---- */

/* All of local memory holds what must not be seen again. */
static void soil(void)
{
	struct gt_bo bo = gt_bo(c.fd, LOCAL_MOST, DRM_TESSERA_BO_LOCAL);

	for (uint64_t i = 0; i < LOCAL_MOST / 8; i++)
		((volatile uint64_t *)bo.map)[i] = STALE;
	gt_bo_free(&bo);
}

/* BOs are made all the time; each is what it must be as soon as the device is there. */
static void made_meanwhile(void)
{
	unsigned int made = 0, dirty = 0;
	struct gt_bo bo[12];

	soil();
	for (unsigned int round = 0; round < 3; round++) {
		pid_t pid = start_climbing("function");

		for (unsigned int i = 0; i < GT_ARRAY_SIZE(bo); i++) {
			bo[i] = gt_bo(c.fd, LOCAL_PIECE, DRM_TESSERA_BO_LOCAL);
			gt_sleep_ms(10);
		}
		end_climbing(pid);
		for (unsigned int i = 0; i < GT_ARRAY_SIZE(bo); i++) {
			volatile uint64_t *word = bo[i].map;
			bool clean = true;

			for (uint64_t j = 0; j < WORDS; j += 8)
				clean &= !word[j];
			dirty += !clean;
			made++;
			for (uint64_t j = 0; j < WORDS; j++)
				word[j] = STALE;
			gt_bo_free(&bo[i]);
		}
	}
	ktap_eq(dirty, 0);
	printf("# %u BOs\n", made);
}

static atomic_bool enough;

static void *climb_often(void *unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 3; i++) {
		gt_sleep_ms(30);
		ktap_eq(climb("function"), 0);
	}
	atomic_store(&enough, true);
	return NULL;
}

/* A process that stores one word after the other never loses one, and reads back what it stored. */
static void stored_meanwhile(void)
{
	struct gt_bo bo = gt_bo(c.fd, LOCAL_PIECE, DRM_TESSERA_BO_LOCAL);
	volatile uint64_t *word = bo.map;
	uint64_t stored = 0, lost = 0, wrong = 0;
	pthread_t thread;

	atomic_store(&enough, false);
	pthread_create(&thread, NULL, climb_often, NULL);
	while (!atomic_load(&enough) || stored < WORDS) {
		uint64_t at = stored % WORDS;

		word[at] = stored + 1;
		if (stored % 64 == 63)
			wrong += word[at] != stored + 1;
		stored++;
		if (stored % 512 == 0)
			usleep(200);
	}
	pthread_join(thread, NULL);
	for (uint64_t i = 0; i < WORDS; i++) {
		/* the last value that this word was given */
		uint64_t last = (stored - 1 - i) / WORDS * WORDS + i + 1;

		lost += word[i] != last;
	}
	ktap_eq(wrong, 0);
	ktap_eq(lost, 0);
	printf("# %llu stores\n", (unsigned long long)stored);
	gt_bo_free(&bo);
}

/* ---- memory is short, and the device does not answer ---- */

static uint32_t bo_state(uint32_t handle)
{
	struct drm_tessera_bo_info info = { .handle = handle };

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_INFO, &info), 0);
	return info.state;
}

/*
 * Reclaim takes pages from a device that does not say that it has forgotten them: it is cut off
 * from memory, the pages go, and it comes back. Nobody's VM suffers.
 */
static void purge_from_the_gone(void)
{
	struct gt_bo bo = gt_bo(c.fd, 16 * GT_PAGE, 0);
	struct drm_tessera_bo_madvise advice = { .handle = bo.handle,
						 .madv = DRM_TESSERA_MADV_DONT_NEED };
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd);
	struct gt_cs cs = gt_stream(&c, 8);

	gt_bo_bind(&bo, c.vm, 0x40000000, GT_RW);
	memset(bo.map, 1, bo.size);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = bo.va, .size = 64, .pattern_lo = 1);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_MADVISE, &advice), 0);
	ktap_eq(gt_inject("gone"), 0);
	ktap_eq(gt_write_file("/proc/sys/vm/drop_caches", "2"), 0);
	ktap_eq(bo_state(bo.handle), DRM_TESSERA_BO_PURGED);
	ktap_eq(gt_vm_state(c.fd, c.vm, NULL).flags, 0);
	ktap_ok(copy_works(&c));
	ktap_eq(gt_queue_state(c.fd, c.queue).state, 0);
	ktap_eq(gt_gpu_state(c.fd).reset_count, before.reset_count + 1);
	ktap_eq(gt_inject("clear"), 0);
	gt_bo_free(&bo);
}

/* ---- a queue, the last of its VM, goes while the device does not answer ---- */

/* The address space of a queue, as debugfs has it; -1 if the queue is not there. */
static int address_space(uint32_t queue)
{
	char path[300], text[16384], *line, *at;
	unsigned int id;
	int as;

	gt_debugfs("queues", path, sizeof(path));
	gt_read_file(path, text, sizeof(text));
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		at = strstr(line, " id ");
		if (at && sscanf(at, " id %u as %d", &id, &as) == 2 && id == queue)
			return as;
	}
	return -1;
}

/* Its slot, its address space and its page table are free at once, and those of others work. */
static void destroyed_on_the_gone(void)
{
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);
	uint32_t vm, queue;
	int as[3];

	for (unsigned int round = 0; round < GT_ARRAY_SIZE(as); round++) {
		vm = gt_vm(c.fd);
		gt_bo_bind(&bo, vm, 0x40000000, GT_RW);
		queue = gt_queue(c.fd, vm, DRM_TESSERA_ENGINE_COPY);
		as[round] = address_space(queue);
		ktap_eq(gt_inject("gone"), 0);
		ktap_eq(gt_queue_destroy(c.fd, queue), 0);
		ktap_eq(gt_vm_destroy(c.fd, vm), 0);
		ktap_ok(copy_works(&c));
		ktap_eq(gt_inject("clear"), 0);
	}
	ktap_ok(as[0] > 0);
	ktap_eq(as[1], as[0]);
	ktap_eq(as[2], as[0]);
	ktap_eq(gt_queue_state(c.fd, c.queue).state, 0);
	gt_bo_free(&bo);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[SYS7] a device that is reset is no bus master; jobs and binds need not wait",
		 while_it_is_reset);
	ktap_run("[MEM1] local memory handed out during a reset of the function is clear",
		 made_meanwhile);
	ktap_run("[SYS7] no store to local memory is lost to a reset of the function",
		 stored_meanwhile);
	ktap_run("[SYS7] reclaim takes memory from a device that does not answer",
		 purge_from_the_gone);
	ktap_run("[SYS7] what a device that does not answer had of a queue is free again",
		 destroyed_on_the_gone);
	gt_ctx_free(&c);
	return gt_finish();
}
