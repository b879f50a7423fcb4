// SPDX-License-Identifier: MIT
/* test: TIMEOUT=400 SMP=2 MEM=1024 DEVICE_ARGS=vram=64M CONSOLE=1 */
/*
 * More LOCAL BOs than there is local memory. Idle ones are moved to system memory and back.
 * Addresses, mappings and contents stay the same for GPU and CPU, whatever happens meanwhile.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xf86drm.h>

#define MIB		0x100000ULL
#define VA		0x40000000ULL
#define SIZE		(8 * MIB)
#define COUNT		16u			/* twice the local memory */
#define LOCAL		DRM_TESSERA_BO_LOCAL
#define ONLY		(LOCAL | DRM_TESSERA_BO_LOCAL_ONLY)
#define WINDOW		0x1000ull		/* what a test reads at both ends of a BO */

static struct gt_ctx c;

static bool in_local(const struct gt_bo *bo)
{
	return gt_bo_state(bo->fd, bo->handle) & DRM_TESSERA_BO_IN_LOCAL;
}

/* Evict whatever is idle; 0 bytes: all of it. */
static void evict(uint64_t bytes)
{
	char path[128], text[32];

	gt_debugfs("evict", path, sizeof(path));
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	ktap_eq(gt_write_file(path, text), 0);
}

static int fill(struct gt_ctx *x, uint64_t va, uint64_t size, uint64_t pattern)
{
	struct gt_cs cs = gt_stream(x, 8);

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = va, .size = size, .pattern_lo = pattern);
	return gt_run(x, &cs);
}

/* The GPU reads a word of each of @count pages from @va on, @step apart; how many are not @want. */
static unsigned int gpu_wrong(struct gt_ctx *x, uint64_t va, unsigned int count, uint64_t step,
			      uint64_t want)
{
	struct gt_cs cs = gt_stream(x, 4 * count + 8);
	const uint64_t *got = gt_data(x, 0x1000);
	unsigned int i, wrong = 0;

	memset(gt_data(x, 0x1000), 0xee, count * 8);
	for (i = 0; i < count; i++)
		GT_EMIT(&cs, copy_linear, .src = va + i * step, .dst = gt_data_va(0x1000) + i * 8,
			.size = 8);
	ktap_eq(gt_run(x, &cs), 0);
	for (i = 0; i < count; i++)
		wrong += got[i] != want;
	return wrong;
}

static unsigned int cpu_wrong(const struct gt_bo *bo, uint64_t want)
{
	const volatile uint64_t *words = bo->map;
	unsigned int wrong = 0;
	uint64_t i;

	for (i = 0; i < bo->size / 8; i += 61)
		wrong += words[i] != want;
	return wrong + (words[bo->size / 8 - 1] != want);
}

static uint64_t pattern_of(unsigned int i)
{
	return 0x1111111100000001ull * (i + 1);
}

/* Private to its VM, with whose reservation it is locked. */
static struct gt_bo bound_private(struct gt_ctx *x, uint64_t size, uint64_t va)
{
	struct gt_bo bo = { .fd = x->fd, .size = size };

	ktap_eq(gt_bo_try(x->fd, size, LOCAL, x->vm, &bo.handle), 0);
	bo.map = gt_bo_mmap(x->fd, bo.handle, size);
	gt_bo_bind(&bo, x->vm, va, GT_RW);
	return bo;
}

static struct gt_bo bound(struct gt_ctx *x, uint64_t size, uint64_t va)
{
	struct gt_bo bo = gt_bo(x->fd, size, LOCAL);

	gt_bo_bind(&bo, x->vm, va, GT_RW);
	return bo;
}

/* Unmapped and closed: its memory is free. */
static void release(struct gt_ctx *x, struct gt_bo *bo)
{
	struct drm_tessera_bind_op unmap = gt_op_unmap(bo->va, bo->size);

	if (bo->va)
		ktap_eq(gt_vm_bind(x->fd, x->vm, &unmap, 1), 0);
	gt_bo_free(bo);
}

/* Workers free what closed files had. */
static void settle(void)
{
	unsigned int i;

	for (i = 0; i < 500 && gt_gpu_state(c.fd).local_used; i++)
		gt_sleep_ms(10);
	ktap_eq(gt_gpu_state(c.fd).local_used, 0);
}

/*
 * The device reads every BO before anybody is evicted, so it has translations that must go. Then
 * every BO is read, and written, wherever it is.
 */
static void oversubscribed(void)
{
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd), after;
	const uint64_t local = gt_gpu_info(c.fd).local_size;
	unsigned int i, outside = 0, round;
	struct gt_bo bo[COUNT];

	settle();
	for (i = 0; i < COUNT; i++) {
		bo[i] = i & 1 ? bound_private(&c, SIZE, VA + i * SIZE)
			      : bound(&c, SIZE, VA + i * SIZE);
		ktap_ok(in_local(&bo[i]));
		ktap_eq(gpu_wrong(&c, bo[i].va, 16, SIZE / 16, 0), 0);
		ktap_eq(fill(&c, bo[i].va, SIZE, pattern_of(i)), 0);
	}
	for (i = 0; i < COUNT; i++)
		outside += !in_local(&bo[i]);
	after = gt_gpu_state(c.fd);
	ktap_eq(outside, COUNT - local / SIZE);
	ktap_eq(after.evictions - before.evictions, outside + after.restores - before.restores);
	ktap_eq(after.evicted_bytes - before.evicted_bytes,
		(after.evictions - before.evictions) * SIZE);
	ktap_ok(after.local_used <= local);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < COUNT; i++) {
			ktap_eq(gpu_wrong(&c, bo[i].va, 64, SIZE / 64, pattern_of(i + round)), 0);
			ktap_eq(cpu_wrong(&bo[i], pattern_of(i + round)), 0);
			ktap_eq(fill(&c, bo[i].va, SIZE, pattern_of(i + round + 1)), 0);
		}
		evict(SIZE * 3);
	}
	for (i = 0; i < COUNT; i++)
		release(&c, &bo[i]);
	ktap_eq(gt_gpu_state(c.fd).local_used, before.local_used);
}

/* Evicted by hand, written by the CPU where it is, brought back by the next job that is free to. */
static void there_and_back(void)
{
	struct gt_bo bo = bound(&c, SIZE, VA);
	struct drm_tessera_gpu_state before, after;
	unsigned int round;

	before = gt_gpu_state(c.fd);
	for (round = 0; round < 4; round++) {
		uint64_t want = pattern_of(round);

		ktap_eq(fill(&c, VA, SIZE, want), 0);
		ktap_ok(in_local(&bo));
		ktap_eq(gpu_wrong(&c, VA, 64, SIZE / 64, want), 0);
		evict(0);
		ktap_ok(!in_local(&bo));
		ktap_eq(gt_bo_state(c.fd, bo.handle), DRM_TESSERA_BO_RESIDENT);
		ktap_eq(cpu_wrong(&bo, want), 0);
		((volatile uint64_t *)bo.map)[SIZE / 16] = ~want;
		/* This job finds it in local memory again. */
		ktap_eq(gpu_wrong(&c, VA + SIZE / 2, 1, 8, ~want), 0);
		ktap_ok(in_local(&bo));
		ktap_eq(((volatile uint64_t *)bo.map)[SIZE / 16], ~want);
		ktap_eq(((volatile uint64_t *)bo.map)[SIZE / 16 + 1], want);
	}
	after = gt_gpu_state(c.fd);
	ktap_eq(after.evictions - before.evictions, 4);
	ktap_eq(after.restores - before.restores, 4);
	ktap_eq(after.restored_bytes - before.restored_bytes, 4 * SIZE);
	release(&c, &bo);
}

/*
 * One range of addresses: parts of a LOCAL BO at odd places and twice, of a BO in system memory,
 * and nothing. A bind changes it while the BO is outside.
 */
static void mixed(void)
{
	struct gt_bo local = gt_bo(c.fd, SIZE, LOCAL), system = gt_bo(c.fd, MIB, 0);
	struct drm_tessera_bind_op ops[] = {
		gt_op_map(local.handle, VA, 4 * MIB, 2 * MIB, GT_RW),
		gt_op_map(local.handle, VA + 0x10000000, SIZE, 0, GT_RW),
		gt_op_map(system.handle, VA + MIB, MIB, 0, GT_RW),
		{ .op = DRM_TESSERA_BIND_MAP_NULL, .va = VA + 2 * MIB + GT_PAGE, .size = GT_PAGE },
		gt_op_map(local.handle, VA + 4 * MIB + GT_PAGE, 3 * MIB, GT_PAGE, GT_RW),
	};
	struct drm_tessera_bind_op unmap = gt_op_unmap(VA + 0x10000000 + MIB, 3 * MIB);
	unsigned int round;
	uint64_t i;

	for (i = 0; i < SIZE / 8; i++)
		((volatile uint64_t *)local.map)[i] = i / 512 + 1;
	memset(system.map, 0x77, MIB);
	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, GT_ARRAY_SIZE(ops)), 0);
	for (round = 0; round < 4; round++) {
		ktap_eq(gpu_wrong(&c, VA, 1, 8, 512 + 1), 0);
		ktap_eq(gpu_wrong(&c, VA + MIB, 8, GT_PAGE, 0x7777777777777777ull), 0);
		ktap_eq(gpu_wrong(&c, VA + 2 * MIB, 1, 8, 1024 + 1), 0);
		ktap_eq(gpu_wrong(&c, VA + 2 * MIB + GT_PAGE, 1, 8, 0), 0);
		ktap_eq(gpu_wrong(&c, VA + 2 * MIB + 2 * GT_PAGE, 1, 8, 1024 + 3), 0);
		ktap_eq(gpu_wrong(&c, VA + 4 * MIB + GT_PAGE, 1, 8, 2), 0);
		ktap_eq(gpu_wrong(&c, VA + 7 * MIB, 1, 8, 3 * 256 + 1), 0);
		ktap_eq(gpu_wrong(&c, VA + 0x10000000, 1, 8, 1), 0);
		ktap_eq(gpu_wrong(&c, VA + 0x10000000 + SIZE - GT_PAGE, 1, 8, SIZE / GT_PAGE), 0);
		if (round == 1)
			ktap_eq(gt_vm_bind(c.fd, c.vm, &unmap, 1), 0);
		if (round < 2)
			evict(0);
		ktap_eq(in_local(&local), round >= 2);
	}
	unmap = gt_op_unmap(VA, 0x20000000);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &unmap, 1), 0);
	release(&c, &local);
	release(&c, &system);
}

/*
 * Parts of a BO that stays outside, because a BO with LOCAL_ONLY has taken half of local memory.
 * The GPU reads them where they are, in two VMs. Local memory holds the old contents in one half,
 * and zeros in the other.
 */
static void parts_outside(void)
{
	const uint64_t size = gt_gpu_info(c.fd).local_size, pages = size / GT_PAGE;
	struct drm_tessera_bind_op unmap = gt_op_unmap(VA, 0x20000000), ops[2];
	struct gt_ctx other = gt_ctx();
	struct gt_bo bo, only, theirs = { .fd = other.fd, .size = size };
	int file = -1;
	uint64_t i;

	settle();
	bo = gt_bo(c.fd, size, LOCAL);
	ktap_eq(drmPrimeHandleToFD(c.fd, bo.handle, DRM_CLOEXEC | DRM_RDWR, &file), 0);
	ktap_eq(drmPrimeFDToHandle(other.fd, file, &theirs.handle), 0);
	close(file);
	gt_bo_bind(&theirs, other.vm, 2 * VA, GT_RW);
	for (i = 0; i < pages; i++)
		((volatile uint64_t *)bo.map)[i * (GT_PAGE / 8)] = i + 1;
	ops[0] = gt_op_map(bo.handle, VA, 4 * MIB, 2 * MIB + GT_PAGE, GT_RW);
	ops[1] = gt_op_map(bo.handle, VA + 0x10000000, MIB, size - MIB, GT_RW);
	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, GT_ARRAY_SIZE(ops)), 0);
	ktap_eq(gpu_wrong(&c, VA, 1, 8, 512 + 2), 0);
	ktap_eq(gpu_wrong(&other, 2 * VA, 1, 8, 1), 0);

	only = gt_bo(c.fd, size / 2, ONLY);
	ktap_ok(in_local(&only) && !in_local(&bo));
	ktap_eq(gpu_wrong(&c, VA, 1, 8, 512 + 2), 0);
	ktap_eq(gpu_wrong(&c, VA + 3 * MIB, 1, 8, 512 + 768 + 2), 0);
	ktap_eq(gpu_wrong(&c, VA + 0x10000000, 1, 8, pages - 256 + 1), 0);
	ktap_eq(gpu_wrong(&other, 2 * VA + 5 * GT_PAGE, 1, 8, 6), 0);
	ktap_eq(gpu_wrong(&other, 2 * VA + size / 2 + 5 * GT_PAGE, 1, 8, pages / 2 + 6), 0);
	ktap_ok(!in_local(&bo));

	ktap_eq(gt_vm_bind(c.fd, c.vm, &unmap, 1), 0);
	release(&other, &theirs);
	release(&c, &bo);
	release(&c, &only);
	gt_ctx_free(&other);
}

/* ---- who shares a BO ---- */

/* Two files, two VMs, two mappings of the CPU, one of them of the dma-buf. */
static void shared(void)
{
	struct gt_ctx other = gt_ctx();
	struct gt_bo bo = bound(&c, SIZE, VA), theirs = { .fd = other.fd, .size = SIZE };
	volatile uint64_t *of_dmabuf;
	int file = -1;

	ktap_eq(drmPrimeHandleToFD(c.fd, bo.handle, DRM_CLOEXEC | DRM_RDWR, &file), 0);
	ktap_eq(drmPrimeFDToHandle(other.fd, file, &theirs.handle), 0);
	gt_bo_bind(&theirs, other.vm, 2 * VA, GT_RW);
	of_dmabuf = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	ktap_ok(of_dmabuf != MAP_FAILED);
	for (unsigned int round = 0; round < 3; round++) {
		uint64_t want = pattern_of(10 + round);

		ktap_eq(fill(&c, VA, SIZE, want), 0);
		ktap_eq(gpu_wrong(&other, 2 * VA, 32, SIZE / 32, want), 0);
		ktap_eq(of_dmabuf[1000], want);
		evict(0);
		ktap_ok(!in_local(&bo));
		ktap_eq(of_dmabuf[1000], want);
		of_dmabuf[1001] = ~want;
		ktap_eq(gpu_wrong(&other, 2 * VA + 8008, 1, 8, ~want), 0);
		ktap_ok(in_local(&theirs));
		ktap_eq(gpu_wrong(&c, VA + 8008, 1, 8, ~want), 0);
		ktap_eq(cpu_wrong(&(struct gt_bo){ .map = (char *)bo.map + 2 * WINDOW,
						   .size = SIZE - 2 * WINDOW }, want), 0);
	}
	munmap((void *)of_dmabuf, SIZE);
	close(file);
	release(&c, &bo);
	release(&other, &theirs);
	gt_ctx_free(&other);
}

struct writer {
	volatile uint64_t *words;
	uint64_t count;
	atomic_bool stop;
	unsigned int wrong, rounds;
};

/* Each round adds one to each word that it finds as the last round left it. */
static void *write_words(void *arg)
{
	struct writer *w = arg;
	uint64_t i;

	while (!atomic_load(&w->stop)) {
		for (i = 0; i < w->count; i += 97) {
			w->wrong += w->words[i] != w->rounds;
			w->words[i] = w->rounds + 1;
		}
		w->rounds++;
	}
	return NULL;
}

/* The CPU writes all the time, while the BO goes there and back. */
static void written_meanwhile(void)
{
	struct gt_bo bo = bound(&c, SIZE, VA), other = bound(&c, GT_HUGE, 2 * VA);
	struct writer w = { .words = bo.map, .count = SIZE / 8 };
	uint64_t until = gt_now_ns() + 4000000000ull;
	unsigned int moves = 0;
	pthread_t thread;

	ktap_eq(pthread_create(&thread, NULL, write_words, &w), 0);
	while (gt_now_ns() < until) {
		evict(0);
		moves += !in_local(&bo);
		ktap_eq(fill(&c, other.va, GT_HUGE, moves), 0);
	}
	atomic_store(&w.stop, true);
	pthread_join(thread, NULL);
	ktap_eq(w.wrong, 0);
	ktap_ok(w.rounds > 0);
	ktap_ok(moves > 1);
	ktap_note("%u moves, %u rounds of the CPU", moves, w.rounds);
	release(&c, &bo);
	release(&c, &other);
}

/* ---- several processes ---- */

#define CHILDREN	4u
#define CHILD_BOS	4u
#define CHILD_SIZE	(6 * MIB)		/* 4 x 4 x 6 MiB, for 64 MiB */

struct child {
	unsigned int rounds, wrong;
};

/* Each round changes the contents of a BO. The GPU writes one half of it, the CPU the other. */
static void child_round(struct gt_ctx *x, struct gt_bo *bo, struct child *me, uint64_t seed)
{
	unsigned int i;

	for (i = 0; i < CHILD_BOS; i++) {
		uint64_t was = (seed << 32) + me->rounds * CHILD_BOS + i, now = was + CHILD_BOS;
		volatile uint64_t *words = bo[i].map;

		if (me->rounds) {
			me->wrong += gpu_wrong(x, bo[i].va, 16, CHILD_SIZE / 32, was);
			me->wrong += words[CHILD_SIZE / 16 + 512 * i] != was;
		}
		me->wrong += fill(x, bo[i].va, CHILD_SIZE / 2, now) != 0;
		words[CHILD_SIZE / 16 + 512 * i] = now;
	}
	me->rounds++;
}

static void child(struct child *me, uint64_t seed, volatile bool *stop)
{
	struct gt_ctx x = gt_ctx();
	struct gt_bo bo[CHILD_BOS];
	unsigned int i;

	for (i = 0; i < CHILD_BOS; i++)
		bo[i] = i & 1 ? bound_private(&x, CHILD_SIZE, VA + i * CHILD_SIZE)
			      : bound(&x, CHILD_SIZE, VA + i * CHILD_SIZE);
	while (!*stop)
		child_round(&x, bo, me, seed);
	_exit(0);
}

static void reset_device(void)
{
	char path[128];

	gt_debugfs("reset", path, sizeof(path));
	ktap_eq(gt_write_file(path, "device"), 0);
}

/* All of them make progress, and none finds anything wrong; with resets, jobs may be lost. */
static void processes(void)
{
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd), after;
	struct {
		volatile bool stop;
		struct child child[CHILDREN];
	} *all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	unsigned int i, sum = 0, least = UINT32_MAX;
	pid_t pid[CHILDREN];

	for (i = 0; i < CHILDREN; i++) {
		pid[i] = fork();
		if (!pid[i])
			child(&all->child[i], i + 1, &all->stop);
	}
	for (i = 0; i < 10; i++) {
		gt_sleep_ms(700);
		evict(16 * MIB);
	}
	all->stop = true;
	for (i = 0; i < CHILDREN; i++) {
		int status = -1;

		ktap_eq(waitpid(pid[i], &status, 0), pid[i]);
		ktap_eq(status, 0);
		ktap_eq(all->child[i].wrong, 0);
		sum += all->child[i].rounds;
		if (all->child[i].rounds < least)
			least = all->child[i].rounds;
	}
	after = gt_gpu_state(c.fd);
	ktap_ok(least >= 1 && least * CHILDREN * 4 >= sum);
	ktap_ok(after.evictions > before.evictions);
	ktap_note("%u rounds, the slowest %u; %llu evictions, %llu back", sum, least,
		  (unsigned long long)(after.evictions - before.evictions),
		  (unsigned long long)(after.restores - before.restores));
	munmap(all, sizeof(*all));
}

/* ---- resets, sleep ---- */

static void resets(void)
{
	struct gt_bo bo[COUNT];
	unsigned int i, round;

	for (i = 0; i < COUNT; i++) {
		bo[i] = bound(&c, SIZE, VA + i * SIZE);
		ktap_eq(fill(&c, bo[i].va, SIZE, pattern_of(i)), 0);
	}
	for (round = 0; round < 3; round++) {
		for (i = 0; i < COUNT; i++) {
			if (i % 5 == 0)
				reset_device();
			if (i % 5 == 3)
				evict(2 * SIZE);
			ktap_eq(gpu_wrong(&c, bo[i].va, 32, SIZE / 32, pattern_of(i)), 0);
			ktap_eq(cpu_wrong(&bo[i], pattern_of(i)), 0);
		}
	}
	for (i = 0; i < COUNT; i++)
		release(&c, &bo[i]);
}

struct resetter {
	atomic_bool stop;
	unsigned int count;
};

static void *reset_often(void *arg)
{
	struct resetter *r = arg;
	char path[128];

	gt_debugfs("reset", path, sizeof(path));
	while (!atomic_load(&r->stop)) {
		r->count += !gt_write_file(path, r->count % 4 == 3 ? "function" : "device");
		gt_sleep_ms(30);
	}
	return NULL;
}

/* Beside resets of the device: a move that is cut off has not happened. */
static void beside_resets(void)
{
	struct gt_bo bo = bound(&c, SIZE, VA);
	uint64_t until;
	struct resetter r = { 0 };
	unsigned int moves = 0;
	pthread_t thread;

	memset(bo.map, 0x3c, SIZE);
	ktap_eq(pthread_create(&thread, NULL, reset_often, &r), 0);
	until = gt_now_ns() + 5000000000ull;
	while (gt_now_ns() < until) {
		struct gt_bo big = gt_bo(c.fd, 60 * MIB, LOCAL | DRM_TESSERA_BO_NO_MMAP);

		moves += !in_local(&bo);
		release(&c, &big);
		ktap_eq(cpu_wrong(&bo, 0x3c3c3c3c3c3c3c3cull), 0);
		if (fill(&c, gt_data_va(0), 64, 1))
			gt_renew_queue(&c);	/* lost in a reset */
	}
	atomic_store(&r.stop, true);
	pthread_join(thread, NULL);
	gt_renew_queue(&c);
	ktap_eq(gpu_wrong(&c, VA, 64, SIZE / 64, 0x3c3c3c3c3c3c3c3cull), 0);
	ktap_ok(moves > 0 && r.count > 1);
	ktap_note("%u times outside, %u resets", moves, r.count);
	release(&c, &bo);
}

static int pm_test(const char *how)
{
	int ret;

	gt_write_file("/sys/module/suspend/parameters/pm_test_delay", "1");
	ktap_eq(gt_write_file("/sys/power/pm_test", "devices"), 0);
	ret = gt_write_file("/sys/power/state", how);
	ktap_eq(gt_write_file("/sys/power/pm_test", "none"), 0);
	return ret;
}

/* Sleep keeps both kinds of memory. Before hibernation local memory is emptied. */
static void sleeps(void)
{
	struct gt_bo in = bound(&c, SIZE, VA), out = bound(&c, SIZE, 2 * VA);
	char text[100] = "";

	if (access("/sys/power/pm_test", W_OK)) {
		ktap_skip("the kernel has no pm_test");
		goto out;
	}
	ktap_eq(fill(&c, in.va, SIZE, 1), 0);
	ktap_eq(fill(&c, out.va, SIZE, 2), 0);
	evict(SIZE);
	ktap_eq(in_local(&in) + in_local(&out), 1);
	ktap_eq(pm_test("mem"), 0);
	ktap_eq(in_local(&in) + in_local(&out), 1);
	ktap_eq(cpu_wrong(&in, 1) + cpu_wrong(&out, 2), 0);
	ktap_eq(gpu_wrong(&c, in.va, 64, SIZE / 64, 1), 0);
	ktap_eq(gpu_wrong(&c, out.va, 64, SIZE / 64, 2), 0);

	gt_read_file("/sys/power/state", text, sizeof(text));
	if (strstr(text, "disk")) {
		ktap_eq(pm_test("disk"), 0);
		ktap_eq(in_local(&in) + in_local(&out), 0);
		ktap_eq(cpu_wrong(&in, 1) + cpu_wrong(&out, 2), 0);
	}
	ktap_eq(gpu_wrong(&c, in.va, 64, SIZE / 64, 1), 0);
	ktap_eq(gpu_wrong(&c, out.va, 64, SIZE / 64, 2), 0);
	ktap_ok(in_local(&in) && in_local(&out));
out:
	release(&c, &in);
	release(&c, &out);
}

/* ---- what is not evicted, and what first ---- */

/* A job that has not ended, a bind on its way: they keep the BO where it is. New ones work. */
static void in_use(void)
{
	struct drm_tessera_sync bound_sync = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_sync after = gt_binary(gt_syncobj(c.fd, false));
	struct gt_bo busy = bound(&c, SIZE, VA), binding = gt_bo(c.fd, SIZE, LOCAL), more;
	struct drm_tessera_bind_op map = gt_op_map(binding.handle, 2 * VA, SIZE, 0, GT_RW);
	struct gt_cs cs = gt_stream(&c, 8);

	*(volatile uint64_t *)gt_data(&c, 0) = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = VA, .size = SIZE, .pattern_lo = 0x5eed);
	ktap_eq(gt_kick(&c, c.queue, &cs, &after), 0);
	ktap_eq(gt_bind_async(c.fd, c.vm, &map, 1, &after, &bound_sync), 0);
	evict(0);
	ktap_ok(in_local(&busy) && in_local(&binding));
	/* There is no room, and nothing can go: it starts outside, at once. */
	more = gt_bo(c.fd, 56 * MIB, LOCAL);
	ktap_ok(!in_local(&more));
	ktap_eq(cpu_wrong(&more, 0), 0);
	ktap_eq(gt_bo_try(c.fd, 56 * MIB, ONLY, 0, &(uint32_t){ 0 }), -ENOSPC);
	*(volatile uint64_t *)gt_data(&c, 0) = 1;
	ktap_eq(gt_fence_error(c.fd, after.handle, 0), 0);
	ktap_eq(gt_fence_error(c.fd, bound_sync.handle, 0), 0);
	gt_sleep_ms(100);	/* the end of the bind comes a moment later */
	evict(0);
	ktap_ok(!in_local(&busy) && !in_local(&binding));
	ktap_eq(cpu_wrong(&busy, 0x5eed), 0);
	binding.va = 2 * VA;
	release(&c, &busy);
	release(&c, &binding);
	/* Bound while it is outside, it comes in as others do. */
	gt_bo_bind(&more, c.vm, 4 * VA, GT_RW);
	ktap_eq(fill(&c, more.va, 64 * GT_PAGE, 3), 0);
	ktap_ok(in_local(&more));
	ktap_eq(gpu_wrong(&c, more.va, 32, GT_PAGE, 3), 0);
	release(&c, &more);
	gt_syncobj_free(c.fd, after.handle);
	gt_syncobj_free(c.fd, bound_sync.handle);
}

/* The least recently used goes first; before it, what user space does not need, which is kept. */
static void order(void)
{
	struct drm_tessera_bo_madvise advice = { .madv = DRM_TESSERA_MADV_DONT_NEED };
	struct gt_ctx one = gt_ctx(), other = gt_ctx();
	struct gt_bo a, b, d;

	settle();
	a = bound(&one, SIZE, VA);
	b = bound(&other, SIZE, VA);
	ktap_eq(fill(&one, VA, SIZE, 0xa), 0);
	evict(1);		/* the second one, which was not used since it was created */
	ktap_ok(in_local(&a) && !in_local(&b));
	d = bound(&other, SIZE, 2 * VA);
	ktap_eq(fill(&other, VA, SIZE, 0xb), 0);
	ktap_eq(fill(&other, 2 * VA, SIZE, 0xd), 0);
	ktap_eq(fill(&one, VA, SIZE, 0xa), 0);
	ktap_ok(in_local(&a) && in_local(&b) && in_local(&d));
	advice.handle = d.handle;
	ktap_eq(gt_ioctl(other.fd, DRM_IOCTL_TESSERA_BO_MADVISE, &advice), 0);
	evict(1);
	ktap_ok(in_local(&a) && in_local(&b) && !in_local(&d));
	gt_write_file("/proc/sys/vm/drop_caches", "2");
	advice.madv = DRM_TESSERA_MADV_WILL_NEED;
	ktap_eq(gt_ioctl(other.fd, DRM_IOCTL_TESSERA_BO_MADVISE, &advice), 0);
	ktap_eq(advice.retained, 1);
	ktap_eq(cpu_wrong(&d, 0xd), 0);
	release(&one, &a);
	release(&other, &b);
	release(&other, &d);
	gt_ctx_free(&one);
	gt_ctx_free(&other);
}

/* A working set that was evicted comes back, at the cost of one that is not used any more. */
static void displaced(void)
{
	struct gt_ctx one = gt_ctx(), other = gt_ctx();
	struct gt_bo mine = bound(&one, 40 * MIB, VA), theirs;
	unsigned int i;

	ktap_eq(fill(&one, VA, 64 * GT_PAGE, 0xc), 0);
	theirs = bound(&other, 40 * MIB, VA);
	ktap_eq(fill(&other, VA, 64 * GT_PAGE, 0xe), 0);
	ktap_ok(!in_local(&mine) && in_local(&theirs));
	for (i = 0; i < 200 && !in_local(&mine); i++)
		ktap_eq(gpu_wrong(&one, VA, 8, GT_PAGE, 0xc), 0);
	ktap_ok(in_local(&mine) && !in_local(&theirs));
	ktap_ok(i >= 16);
	ktap_eq(gpu_wrong(&one, VA, 64, GT_PAGE, 0xc), 0);
	ktap_eq(gpu_wrong(&other, VA, 64, GT_PAGE, 0xe), 0);
	release(&one, &mine);
	release(&other, &theirs);
	gt_ctx_free(&one);
	gt_ctx_free(&other);
}

static void limits(void)
{
	const uint64_t local = gt_gpu_info(c.fd).local_size;
	struct gt_bo only, bo;
	uint32_t handle;

	settle();
	if (local + GT_PAGE <= gt_gpu_info(c.fd).max_bo_size)
		ktap_eq(gt_bo_try(c.fd, local + GT_PAGE, LOCAL, 0, &handle), -ENOSPC);
	ktap_eq(gt_bo_try(c.fd, GT_PAGE, DRM_TESSERA_BO_LOCAL_ONLY, 0, &handle), -EINVAL);
	bo = gt_bo(c.fd, local, LOCAL);
	ktap_ok(in_local(&bo));
	((volatile uint64_t *)bo.map)[7] = 0x7777;
	only = gt_bo(c.fd, local / 2, ONLY);
	ktap_ok(in_local(&only) && !in_local(&bo));
	ktap_eq(gt_bo_try(c.fd, GT_PAGE, ONLY, 0, &handle), -ENOSPC);
	((volatile uint64_t *)only.map)[7] = 0x8888;
	evict(0);
	ktap_ok(in_local(&only));
	ktap_eq(((volatile uint64_t *)only.map)[7], 0x8888);
	ktap_eq(((volatile uint64_t *)bo.map)[7], 0x7777);
	release(&c, &bo);
	release(&c, &only);
}

/* Pages outside are pinned: there is an end to that, and it is no end of the program. */
static void bounded(void)
{
	const uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * GT_PAGE / 2, each = 32 * MIB;
	const uint64_t local = gt_gpu_info(c.fd).local_size;
	uint32_t handle[256];
	unsigned int n = 0, i;
	int ret = 0;

	settle();
	while (n < GT_ARRAY_SIZE(handle) && !(ret = gt_bo_try(c.fd, each, LOCAL, 0, &handle[n])))
		n++;
	ktap_eq(ret, -ENOMEM);
	ktap_ok(n * each > local && n * each <= half + local);
	for (i = 0; i < n; i++)
		gt_gem_close(c.fd, handle[i]);
	ktap_eq(gt_bo_try(c.fd, each, LOCAL, 0, &handle[0]), 0);
	gt_gem_close(c.fd, handle[0]);
}

static void told(void)
{
	struct gt_bo bo = gt_bo(c.fd, SIZE, LOCAL);
	long long memory = gt_fdinfo(c.fd, "drm-resident-memory");

	ktap_eq(gt_fdinfo(c.fd, "drm-total-local"), SIZE);
	ktap_eq(gt_fdinfo(c.fd, "drm-resident-local"), SIZE);
	evict(0);
	ktap_eq(gt_fdinfo(c.fd, "drm-total-local"), SIZE);
	ktap_eq(gt_fdinfo(c.fd, "drm-resident-local"), 0);
	ktap_eq(gt_fdinfo(c.fd, "drm-resident-memory") - memory, SIZE);
	release(&c, &bo);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[MEM7] twice the local memory: same addresses, same contents", oversubscribed);
	ktap_run("[MEM7] a BO goes there and back", there_and_back);
	ktap_run("[MEM7] one range in local memory, in system memory and nowhere", mixed);
	ktap_run("[MEM7] parts of a BO that stays outside", parts_outside);
	ktap_run("[MEM7] two VMs and a dma-buf share a BO that moves", shared);
	ktap_run("[MEM7] the CPU writes while the BO moves", written_meanwhile);
	ktap_run("[MEM7] four processes want more than there is", processes);
	ktap_run("[MEM7] what is in use stays, and a new BO starts outside", in_use);
	ktap_run("[MEM7] the least recently used goes first, what is not needed before it", order);
	ktap_run("[MEM7] a working set comes back at the cost of one that is not used", displaced);
	ktap_run("[MEM7] LOCAL and LOCAL_ONLY have limits", limits);
	ktap_run("[MEM7] what is in system memory has a limit, too", bounded);
	ktap_run("[MEM7] fdinfo tells where memory is", told);
	ktap_run("[MEM7] resets between moves", resets);
	ktap_run("[MEM7] resets during moves", beside_resets);
	ktap_run("[MEM7] sleep keeps what is outside, hibernation evicts", sleeps);
	gt_ctx_free(&c);
	return gt_finish();
}
