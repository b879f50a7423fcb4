// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=180 DEVICE_ARGS=vram=32M,inject-window=on
 * test: KERNEL_ARGS=tessera.job_timeout_ms=2000;tessera.job_limit_ms=60000
 */
/*
 * Ends: a job whose fence has signalled writes nothing more, the device cannot access memory that
 * was unmapped, and the objects of a job are free. Each test stands for a driver that releases too
 * early or never, see tests/mutants.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "gt_recover.h"

#define VA		0x40000000ull
#define FILLS		2000u

static struct gt_ctx c;

static int fill(uint64_t va)
{
	struct gt_cs cs = gt_stream(&c, 8);

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = va, .size = 64, .pattern_lo = 0x900d);
	return gt_run(&c, &cs);
}

/* ---- a queue is destroyed, and its slot takes a second to stop ---- */

static void *destroy(void *queue)
{
	ktap_eq(gt_queue_destroy(c.fd, *(uint32_t *)queue), 0);
	return NULL;
}

static void last_word(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct gt_cs cs = gt_stream(&c, FILLS * TSR_FILL_LINEAR_QWORDS);
	struct drm_tessera_sync done = gt_binary(c.sync);
	volatile uint64_t *word = gt_data(&c, 0);
	unsigned int slot = gt_slot(c.fd, queue);
	pthread_t thread;
	uint64_t seen;
	char rules[120];

	/* number after number, a millisecond apart: it lasts longer than all of this */
	for (unsigned int i = 1; i <= FILLS; i++)
		GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0), .size = 8,
			.pattern_lo = i);
	*word = 0;
	snprintf(rules, sizeof(rules), "slow queue=%u times=always delay=1ms; "
		 "stop-stuck queue=%u delay=700ms", slot, slot);
	ktap_eq(gt_inject(rules), 0);
	ktap_eq(gt_kick(&c, queue, &cs, &done), 0);
	for (unsigned int i = 0; !*word && i < 2000; i++)
		gt_sleep_ms(1);
	ktap_ok(*word);
	KTAP_REQUIRE(!pthread_create(&thread, NULL, destroy, &queue));
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), -ECANCELED);
	seen = *word;
	gt_sleep_ms(200);
	ktap_eq(*word, seen);
	ktap_ok(seen < FILLS);
	pthread_join(thread, NULL);
	ktap_eq(gt_inject("clear"), 0);
	ktap_ok(copy_works(&c));
}

/* ---- a BO that is mapped twice is purged ---- */

static void purged_everywhere(void)
{
	struct gt_bo bo = gt_bo(c.fd, 16 * GT_PAGE, 0);
	const uint64_t va[] = { VA, VA + 0x1000000 };
	struct drm_tessera_bind_op op[] = {
		gt_op_map(bo.handle, va[0], bo.size, 0, GT_RW),
		gt_op_map(bo.handle, va[1], bo.size, 0, GT_RW),
	};
	struct drm_tessera_bo_madvise advice = { .handle = bo.handle,
						 .madv = DRM_TESSERA_MADV_DONT_NEED };
	struct drm_tessera_bo_info info = { .handle = bo.handle };

	ktap_eq(gt_vm_bind(c.fd, c.vm, op, 2), 0);
	/* often enough that each copy engine knows both */
	for (unsigned int i = 0; i < 16; i++)
		ktap_eq(fill(va[i / 4 % 2]), 0);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_MADVISE, &advice), 0);
	ktap_eq(gt_write_file("/proc/sys/vm/drop_caches", "2"), 0);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_INFO, &info), 0);
	ktap_eq(info.state, DRM_TESSERA_BO_PURGED);
	for (unsigned int i = 2; i--;) {
		ktap_eq(fill(va[i]), -EFAULT);
		gt_renew_queue(&c);
		op[i] = gt_op_unmap(va[i], bo.size);
	}
	ktap_eq(gt_vm_bind(c.fd, c.vm, op, 2), 0);
	gt_bo_free(&bo);
}

/* ---- memory is taken from a device that does not answer, or not confirm ---- */

/* Is it no bus master, or has it been reset since? It is counted a moment after it runs again. */
static bool no_master_or_reset(uint64_t resets)
{
	for (unsigned int i = 0; i < 200; i++) {
		if (!gt_masters_bus() ||
		    gt_gpu_state(c.fd).reset_count == resets + 1)
			return true;
		gt_sleep_ms(5);
	}
	return false;
}

/* Another VM loses a page while @fault happens; the bind returns @error, the next map @later. */
static void unbind_during(const char *fault, int error, int later)
{
	struct drm_tessera_bind_op unmap = gt_op_unmap(VA, GT_PAGE);
	struct gt_ctx other = gt_ctx();
	struct gt_bo bo = gt_bo(other.fd, GT_PAGE, 0);
	struct drm_tessera_bind_op map = gt_op_map(bo.handle, VA, GT_PAGE, 0, GT_RW);
	uint64_t resets = gt_gpu_state(c.fd).reset_count;

	gt_bo_bind(&bo, other.vm, VA, GT_RW);
	ktap_eq(gt_inject(fault), 0);
	ktap_eq(gt_vm_bind(other.fd, other.vm, &unmap, 1), error);
	ktap_ok(no_master_or_reset(resets));
	ktap_ok(copy_works(&c));
	ktap_eq(gt_inject("clear"), 0);
	ktap_eq(gt_vm_bind(other.fd, other.vm, &map, 1), later);
	gt_bo_free(&bo);
	gt_ctx_free(&other);
}

static void out_of_its_hands(void)
{
	unbind_during("gone", 0, 0);
}

/* The VM gets no new mappings, because the memory that its jobs see is unknown. */
static void unconfirmed(void)
{
	unbind_during("inv-stuck", -EIO, -ENOENT);
}

/*
 * Registers of a device that is gone read all ones. No clock is reported then, and a later one is
 * right.
 */
static void timestamp_of_gone(void)
{
	struct drm_tessera_get_timestamp before = { .clock_id = CLOCK_MONOTONIC }, stamp = before;

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &before), 0);
	ktap_eq(gt_inject("gone"), 0);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &stamp), -EIO);
	/* This one waits for recovery. */
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &stamp), 0);
	ktap_ok(stamp.gpu_ticks > before.gpu_ticks && stamp.gpu_ticks != UINT64_MAX);
	ktap_ok(stamp.cpu_ns > before.cpu_ns);
	ktap_ok(copy_works(&c));
	ktap_eq(gt_inject("clear"), 0);
}

/* ---- a job that is cancelled before it has been on a ring ---- */

#define HEAP_SIZE 0x200000u

static int heap_create(uint32_t *id)
{
	struct drm_tessera_heap_create args = {
		.vm_id = c.vm, .va = VA, .max_size = HEAP_SIZE, .initial_size = HEAP_SIZE / 8,
		.chunk_size = HEAP_SIZE / 16,
	};
	int ret = gt_ioctl(c.fd, DRM_IOCTL_TESSERA_HEAP_CREATE, &args);

	*id = args.heap_id;
	return ret;
}

static void heap_of_the_cancelled(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_BIN), heap, again;
	struct drm_tessera_sync gate = gt_binary(gt_syncobj(c.fd, false)), done = gt_binary(c.sync);
	struct drm_tessera_heap_destroy args = { 0 };
	struct gt_cs wait = gt_stream(&c, 8), nothing = gt_stream(&c, 8);
	struct drm_tessera_job job;

	/* a job of another queue that waits for us, and one of this queue that waits for it */
	*(volatile uint64_t *)gt_data(&c, 0) = 0;
	GT_EMIT(&wait, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	ktap_eq(gt_kick(&c, c.queue, &wait, &gate), 0);
	ktap_eq(heap_create(&heap), 0);
	GT_EMIT(&nothing, barrier, .inv_read = true);
	job = gt_job(queue, &nothing);
	job.heap_id = heap;
	job.waits = GT_ARRAY(&gate, 1);
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	ktap_eq(gt_queue_destroy(c.fd, queue), 0);
	*(volatile uint64_t *)gt_data(&c, 0) = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), -ECANCELED);
	args.heap_id = heap;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_HEAP_DESTROY, &args), 0);
	ktap_eq(heap_create(&again), 0);		/* its range is free */
	args.heap_id = again;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_HEAP_DESTROY, &args), 0);
	gt_syncobj_free(c.fd, gate.handle);
}

/* ---- engine time over a reset ---- */

static void copies(void)
{
	for (unsigned int i = 0; i < 20; i++) {
		struct gt_cs cs = gt_stream(&c, 8);

		GT_EMIT(&cs, copy_linear, .src = gt_data_va(0), .dst = gt_data_va(GT_DATA_SIZE / 2),
			.size = GT_DATA_SIZE / 2);
		ktap_eq(gt_run(&c, &cs), 0);
	}
}

static void time_goes_on(void)
{
	long long first = gt_fdinfo(c.fd, "drm-cycles-copy"), second, third;

	copies();
	second = gt_fdinfo(c.fd, "drm-cycles-copy");
	ktap_ok(second > first);
	ktap_eq(climb("device"), 0);
	ktap_ok(gt_fdinfo(c.fd, "drm-cycles-copy") >= second);
	copies();
	third = gt_fdinfo(c.fd, "drm-cycles-copy");
	if (!ktap_ok(third - second > (second - first) / 2))
		ktap_note("%lld cycles before the reset, %lld after it", second - first,
			  third - second);
}

/* ---- the device goes while it uses memory of another driver ---- */

/* A buffer of vgem as a dma-buf, or -1 without vgem. */
static int vgem_buffer(void)
{
	struct drm_mode_create_dumb create = { .width = 1024, .height = 4, .bpp = 32 };
	int fd, dmabuf = -1;

	if (system("modprobe vgem 2>/dev/null"))
		ktap_note("no module vgem; it may be built in");
	fd = drmOpen("vgem", NULL);
	if (fd < 0)
		return -1;
	if (!gt_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create))
		drmPrimeHandleToFD(fd, create.handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf);
	close(fd);
	return dmabuf;
}

/*
 * The DMA mapping goes with the device. Where that is forgotten a kernel with DMA_API_DEBUG says so
 * at once, and only such a kernel.
 */
static void imports_of_the_gone(void)
{
	int dmabuf = vgem_buffer();
	struct drm_tessera_bind_op op;
	struct gt_ctx old;
	uint32_t handle;

	if (dmabuf < 0) {
		ktap_skip("there is no vgem");
		return;
	}
	old = gt_ctx();
	ktap_eq(drmPrimeFDToHandle(old.fd, dmabuf, &handle), 0);
	op = gt_op_map(handle, VA, 4 * GT_PAGE, 0, GT_RW);
	ktap_eq(gt_vm_bind(old.fd, old.vm, &op, 1), 0);
	rebind(false);
	ktap_eq(gt_vm_bind(old.fd, old.vm, &op, 1), -ENODEV);
	munmap(old.cmd.map, old.cmd.size);
	munmap(old.data.map, old.data.size);
	close(old.fd);
	close(dmabuf);
	c = gt_ctx();
	ktap_ok(copy_works(&c));
	gt_ctx_free(&c);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[SYS4] jobs of a destroyed queue write nothing after their fences", last_word);
	ktap_run("[MEM2] a purge takes every mapping of a BO from the device", purged_everywhere);
	ktap_run("[SYS7] memory is not free before the device cannot reach it", out_of_its_hands);
	ktap_run("[SYS7] an invalidation that is not confirmed: -EIO, and the end of the VM",
		 unconfirmed);
	ktap_run("the clock of a device that is gone is an error", timestamp_of_gone);
	ktap_run("[BIN4] a job that is cancelled gives its heap back", heap_of_the_cancelled);
	ktap_run("[SYS7] engine time goes on over a reset", time_goes_on);
	gt_ctx_free(&c);
	ktap_run("[SYS7] the device goes with a buffer of another driver in use",
		 imports_of_the_gone);
	return gt_finish();
}
