// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 SMP=2 MEM=400 DEVICE_ARGS=vram=32M CONSOLE=1 */
/*
 * Evicted BOs in a machine that is short of memory. The pages of idle ones are released, so that
 * the kernel can swap them out, and come back when they are needed. They are swapped to a disk with
 * the serial number "swap" (scripts/evict_swapping.py brings one), else to zram. On a kernel that
 * does not swap nothing can be released, and what cannot be had is refused.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/swap.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <xf86drm.h>

#define MIB		0x100000ULL
#define VA		0x40000000ULL
#define LOCAL		DRM_TESSERA_BO_LOCAL
#define SIZE		(4 * MIB)
#define PAGES		(SIZE / GT_PAGE)

static struct gt_ctx c;
static bool swapping, on_disk;

/* ---- swap space ---- */

static bool find_disk(char path[32])
{
	char name[64], serial[32];
	bool zram;

	for (char letter = 'a'; letter <= 'h'; letter++) {
		snprintf(name, sizeof(name), "/sys/block/vd%c/serial", letter);
		if (gt_read_file(name, serial, sizeof(serial)) < 4 || strncmp(serial, "swap", 4))
			continue;
		snprintf(path, 32, "/dev/vd%c", letter);
		on_disk = true;
		return true;
	}
	zram = !system("modprobe zram 2>/dev/null") &&
	       !gt_write_file("/sys/block/zram0/disksize", "1073741824");
	snprintf(path, 32, "/dev/zram0");
	return zram;
}

/* A header as mkswap makes it: version, last page, the signature at the end of the page. */
static bool make_swap(const char *path)
{
	static uint32_t page[GT_PAGE / 4];
	int fd = open(path, O_RDWR);
	off_t size = lseek(fd, 0, SEEK_END);
	bool made;

	page[256] = 1;
	page[257] = size / GT_PAGE - 1;
	memcpy((char *)page + GT_PAGE - 10, "SWAPSPACE2", 10);
	made = size > 0 && pwrite(fd, page, sizeof(page), 0) == sizeof(page) && !fsync(fd);
	close(fd);
	return made;
}

static void start_swapping(void)
{
	struct sysinfo info;
	char path[32];

	/* Interrupts that come while the kernel swaps need memory, too. */
	gt_write_file("/proc/sys/vm/min_free_kbytes", "16384");
	if (find_disk(path) && make_swap(path) && swapon(path, 0) && errno != EBUSY)
		gt_die("swapon %s: %s", path, strerror(errno));
	sysinfo(&info);
	swapping = info.totalswap > 0;
	ktap_note("%llu MiB of memory, %llu MiB of swap space", info.totalram / MIB,
		  info.totalswap / MIB);
}

static uint64_t swapped(void)
{
	struct sysinfo info;

	sysinfo(&info);
	return info.totalswap - info.freeswap;
}

/* ---- BOs ---- */

static uint32_t state(const struct gt_bo *bo)
{
	return gt_bo_state(bo->fd, bo->handle) &
	       (DRM_TESSERA_BO_IN_LOCAL | DRM_TESSERA_BO_RESIDENT);
}

static void evict(void)
{
	char path[128];

	gt_debugfs("evict", path, sizeof(path));
	ktap_eq(gt_write_file(path, "0"), 0);
}

/* The first look of reclaim may only note that a BO was used. */
static bool release(const struct gt_bo *bo)
{
	evict();
	for (unsigned int i = 0; i < 20 && state(bo); i++)
		gt_write_file("/proc/sys/vm/drop_caches", "2");
	return !state(bo);
}

/* The GPU writes to each page of a BO its number and a seed. */
static int number_pages(struct gt_ctx *x, uint64_t va, uint64_t size, uint64_t seed)
{
	struct gt_cs cs = gt_stream(x, 8 * (size / GT_PAGE));

	for (uint64_t i = 0; i < size / GT_PAGE; i++)
		GT_EMIT(&cs, fill_linear, .texel = 8, .dst = va + i * GT_PAGE, .size = 64,
			.pattern_lo = seed + i);
	return gt_run(x, &cs);
}

/* How many of those numbers the GPU does not find; -errno. */
static int gpu_wrong(struct gt_ctx *x, uint64_t va, uint64_t size, uint64_t seed)
{
	const uint64_t count = size / GT_PAGE;
	struct gt_cs cs = gt_stream(x, 5 * count);
	const uint64_t *got = gt_data(x, 0x1000);
	int wrong = 0, ret;

	memset(gt_data(x, 0x1000), 0xee, count * 8);
	for (uint64_t i = 0; i < count; i++)
		GT_EMIT(&cs, copy_linear, .src = va + i * GT_PAGE + 56,
			.dst = gt_data_va(0x1000) + i * 8, .size = 8);
	ret = gt_run(x, &cs);
	for (uint64_t i = 0; i < count; i++)
		wrong += got[i] != seed + i;
	return ret ?: wrong;
}

static unsigned int cpu_wrong(const struct gt_bo *bo, uint64_t seed)
{
	const volatile uint64_t *words = bo->map;
	unsigned int wrong = 0;

	for (uint64_t i = 0; i < bo->size / GT_PAGE; i++)
		wrong += words[i * (GT_PAGE / 8)] != seed + i;
	return wrong;
}

static struct gt_bo bound_size(struct gt_ctx *x, uint64_t va, uint64_t size, bool private)
{
	struct gt_bo bo = { .fd = x->fd, .size = size };

	if (gt_bo_try(x->fd, size, LOCAL, private ? x->vm : 0, &bo.handle))
		gt_die("BO_CREATE fails");
	bo.map = gt_bo_mmap(x->fd, bo.handle, size);
	gt_bo_bind(&bo, x->vm, va, GT_RW);
	return bo;
}

static struct gt_bo bound(struct gt_ctx *x, uint64_t va, bool private)
{
	return bound_size(x, va, SIZE, private);
}

static void drop(struct gt_ctx *x, struct gt_bo *bo)
{
	struct drm_tessera_bind_op unmap = gt_op_unmap(bo->va, bo->size);

	ktap_eq(gt_vm_bind(x->fd, x->vm, &unmap, 1), 0);
	gt_bo_free(bo);
}

/* ---- tests ---- */

static bool needs_swap(void)
{
	if (!swapping)
		ktap_skip("there is no swap space");
	return swapping;
}

/* Each way to a BO that was released finds it: GPU, CPU, a bind, after each other. */
static void comes_back(void)
{
	struct gt_bo bo, twice;
	struct drm_tessera_bind_op map;

	if (!needs_swap())
		return;
	for (unsigned int private = 0; private < 2; private++) {
		bo = bound(&c, VA, private);
		ktap_eq(number_pages(&c, VA, SIZE, 100), 0);
		ktap_ok(release(&bo));
		ktap_eq(gpu_wrong(&c, VA, SIZE, 100), 0);
		ktap_ok(state(&bo) & DRM_TESSERA_BO_IN_LOCAL);

		ktap_ok(release(&bo));
		ktap_eq(cpu_wrong(&bo, 100), 0);
		ktap_eq(state(&bo), DRM_TESSERA_BO_RESIDENT);
		ktap_eq(number_pages(&c, VA, SIZE, 500), 0);

		ktap_ok(release(&bo));
		map = gt_op_map(bo.handle, 2 * VA, SIZE - GT_PAGE, GT_PAGE, GT_RW);
		ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), 0);
		ktap_eq(state(&bo), DRM_TESSERA_BO_RESIDENT);
		ktap_eq(gpu_wrong(&c, 2 * VA, SIZE - GT_PAGE, 501), 0);
		ktap_ok(release(&bo));
		ktap_eq(gpu_wrong(&c, 2 * VA, SIZE - GT_PAGE, 501), 0);
		ktap_eq(gpu_wrong(&c, VA, SIZE, 500), 0);
		twice = bo;
		twice.va = 2 * VA;
		twice.size = SIZE - GT_PAGE;
		map = gt_op_unmap(twice.va, twice.size);
		ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), 0);
		ktap_ok(release(&bo));
		drop(&c, &bo);		/* with its pages who knows where */
	}
}

/* Two VMs and a dma-buf; large pages of local memory become small ones, then none. */
static void shared(void)
{
	struct gt_ctx other;
	struct gt_bo bo, theirs;
	volatile uint64_t *of_dmabuf;
	int file = -1;

	if (!needs_swap())
		return;
	other = gt_ctx();
	bo = bound(&c, VA, false);
	theirs = (struct gt_bo){ .fd = other.fd, .size = SIZE };
	ktap_eq(drmPrimeHandleToFD(c.fd, bo.handle, DRM_CLOEXEC | DRM_RDWR, &file), 0);
	ktap_eq(drmPrimeFDToHandle(other.fd, file, &theirs.handle), 0);
	gt_bo_bind(&theirs, other.vm, 2 * VA, GT_RW);
	of_dmabuf = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	ktap_ok(of_dmabuf != MAP_FAILED);
	for (uint64_t round = 1; round < 4; round++) {
		ktap_eq(number_pages(&c, VA, SIZE, round << 32), 0);
		ktap_ok(release(&bo));
		ktap_eq(gpu_wrong(&other, 2 * VA, SIZE, round << 32), 0);
		ktap_ok(release(&bo));
		ktap_eq(of_dmabuf[5 * GT_PAGE / 8], (round << 32) + 5);
		ktap_eq(gpu_wrong(&c, VA, SIZE, round << 32), 0);
	}
	munmap((void *)of_dmabuf, SIZE);
	close(file);
	drop(&other, &theirs);
	drop(&c, &bo);
	gt_ctx_free(&other);
}

struct writer {
	volatile uint64_t *words;
	atomic_bool stop;
	unsigned int wrong, rounds;
};

/* Each round adds one to a word of each page that is as the last round left it. */
static void *write_words(void *arg)
{
	struct writer *w = arg;

	while (!atomic_load(&w->stop)) {
		for (uint64_t i = 0; i < PAGES; i++) {
			w->wrong += w->words[i * (GT_PAGE / 8)] != w->rounds;
			w->words[i * (GT_PAGE / 8)] = w->rounds + 1;
		}
		w->rounds++;
	}
	return NULL;
}

/* The CPU writes all the time, while the pages are released, and while jobs restore the BO. */
static void written_meanwhile(void)
{
	struct gt_bo bo = bound(&c, VA, false), other = bound(&c, 2 * VA, false);
	struct writer w = { .words = bo.map };
	uint64_t until = gt_now_ns() + 4000000000ull;
	unsigned int released = 0;
	pthread_t thread;

	ktap_eq(pthread_create(&thread, NULL, write_words, &w), 0);
	while (gt_now_ns() < until) {
		evict();
		gt_write_file("/proc/sys/vm/drop_caches", "2");
		gt_write_file("/proc/sys/vm/drop_caches", "2");
		released += !state(&other);
		ktap_eq(number_pages(&c, other.va, SIZE, released), 0);
		ktap_eq(gpu_wrong(&c, other.va, SIZE, released), 0);
	}
	atomic_store(&w.stop, true);
	pthread_join(thread, NULL);
	ktap_eq(w.wrong, 0);
	ktap_ok(w.rounds > 0);
	ktap_eq(released > 0, swapping);
	ktap_note("%u times released, %u rounds of the CPU", released, w.rounds);
	drop(&c, &bo);
	drop(&c, &other);
}

/* A job that has not ended keeps the pages of a BO that has no room in local memory. */
static void in_use(void)
{
	struct drm_tessera_sync done = gt_binary(gt_syncobj(c.fd, false));
	struct gt_cs cs = gt_stream(&c, 8);
	uint64_t local = gt_gpu_info(c.fd).local_size;
	struct gt_bo bo = bound_size(&c, VA, local / 2 + SIZE, false);
	uint32_t only;

	ktap_eq(number_pages(&c, VA, SIZE, 7), 0);
	evict();
	ktap_eq(gt_bo_try(c.fd, local / 2, LOCAL | DRM_TESSERA_BO_LOCAL_ONLY, 0, &only), 0);
	*(volatile uint64_t *)gt_data(&c, 0) = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = VA, .size = 64, .pattern_lo = 0x5eed);
	ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
	ktap_ok(!release(&bo));
	ktap_eq(state(&bo), DRM_TESSERA_BO_RESIDENT);
	*(volatile uint64_t *)gt_data(&c, 0) = 1;
	ktap_eq(gt_fence_error(c.fd, done.handle, 0), 0);
	ktap_eq(((volatile uint64_t *)bo.map)[7], 0x5eed);
	ktap_eq(release(&bo), swapping);
	gt_gem_close(c.fd, only);
	gt_syncobj_free(c.fd, done.handle);
	drop(&c, &bo);
}

#define AGAIN	500000		/* added to the numbers that the GPU writes the second time */

/*
 * With a disk, 512 MiB of evicted BOs of eight files. Each SUBMIT needs those of its file. The CPU
 * has mapped all pages once. It must not read through these mappings when the pages have gone, and
 * the GPU has written to others.
 */
static void far_more(void)
{
	enum { FILES = 8, EACH = 16 };
	const unsigned int files = on_disk ? FILES : 4;
	static struct gt_ctx file[FILES];
	static struct gt_bo bo[FILES][EACH];
	unsigned int f, i, round, outside = 0;
	int wrong = 0;

	if (!needs_swap())
		return;
	for (f = 0; f < files; f++) {
		file[f] = gt_ctx();
		for (i = 0; i < EACH; i++) {
			bo[f][i] = bound(&file[f], VA + i * SIZE, i & 1);
			wrong += !!number_pages(&file[f], bo[f][i].va, SIZE, f * 1000 + i);
		}
	}
	ktap_eq(wrong, 0);
	evict();
	for (f = 0; f < files; f++)
		for (i = 0; i < EACH; i++)
			outside += !state(&bo[f][i]);
	ktap_ok(outside > files * EACH / 4);
	ktap_ok(swapped() > 0);
	ktap_note("%u of %u BOs released, %llu MiB swapped out", outside, files * EACH,
		  (unsigned long long)(swapped() / MIB));
	for (f = 0; f < files; f++)
		for (i = 0; i < EACH; i++)
			wrong += cpu_wrong(&bo[f][i], f * 1000 + i);
	ktap_eq(wrong, 0);
	for (round = 0; round < 2; round++) {
		const uint64_t was = round * AGAIN, is = was + (round ? 0 : AGAIN);

		for (f = 0; f < files; f++) {
			for (i = 0; i < EACH; i++) {
				const uint64_t va = bo[f][i].va, number = f * 1000 + i;

				wrong += gpu_wrong(&file[f], va, SIZE, number + was);
				wrong += !!number_pages(&file[f], va, SIZE, number + is);
			}
		}
	}
	for (f = 0; f < files; f++)
		for (i = 0; i < EACH; i++)
			wrong += cpu_wrong(&bo[f][i], f * 1000 + i + AGAIN);
	ktap_eq(wrong, 0);
	for (f = 0; f < files; f++) {
		for (i = 0; i < EACH; i++)
			drop(&file[f], &bo[f][i]);
		gt_ctx_free(&file[f]);
	}
}

/*
 * One VM wants more than local memory and half of the machine. With swap space BO_CREATE succeeds
 * until that is full, and SUBMIT is refused; without, BO_CREATE is. Nothing that there is suffers.
 */
static void refused(void)
{
	enum { MOST = 512 };
	static struct gt_bo bo[MOST];
	unsigned int n, left, wanted = 128;
	struct sysinfo info;
	int ret = 0;

	/* half of the machine can be pinned, and this kernel may have got more memory than usual */
	sysinfo(&info);
	if (wanted < info.totalram * info.mem_unit / 2 / SIZE + 24)
		wanted = info.totalram * info.mem_unit / 2 / SIZE + 24;
	ktap_ok(wanted <= MOST);
	for (n = 0; n < wanted && n < MOST; n++) {
		ret = gt_bo_try(c.fd, SIZE, LOCAL, 0, &bo[n].handle);
		if (ret)
			break;
		bo[n].fd = c.fd;
		bo[n].size = SIZE;
		bo[n].map = gt_bo_mmap(c.fd, bo[n].handle, SIZE);
		*(volatile uint64_t *)bo[n].map = n + 1;
	}
	ktap_eq(ret, swapping ? 0 : -ENOMEM);
	ktap_note("%u BOs of %llu MiB", n, (unsigned long long)(SIZE / MIB));
	for (left = 0; left < n; left++) {
		struct drm_tessera_bind_op map = gt_op_map(bo[left].handle, VA + left * SIZE, SIZE,
							   0, GT_RW);

		ret = gt_vm_bind(c.fd, c.vm, &map, 1);
		if (ret)
			break;
		bo[left].va = VA + left * SIZE;
	}
	ktap_ok(!ret || ret == -ENOMEM);
	if (swapping)
		ktap_eq(gpu_wrong(&c, VA, GT_PAGE, 1), -ENOMEM);
	while (left > 4) {
		left--;
		drop(&c, &bo[left]);
	}
	for (left = 0; left < 4; left++) {
		ktap_eq(gpu_wrong(&c, VA + left * SIZE, GT_PAGE, 0), 0);
		ktap_eq(*(volatile uint64_t *)bo[left].map, left + 1);
	}
	for (left = 0; left < n; left++) {
		if (bo[left].map && bo[left].va && left < 4)
			drop(&c, &bo[left]);
		else if (bo[left].map && !bo[left].va)
			gt_bo_free(&bo[left]);
	}
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	start_swapping();
	ktap_run("[MEM7] an evicted BO that was released comes back", comes_back);
	ktap_run("[MEM7] two VMs and a dma-buf share a BO that is released", shared);
	ktap_run("[MEM7] the CPU writes while pages are released", written_meanwhile);
	ktap_run("[MEM7] what a job uses is not released", in_use);
	ktap_run("[MEM7] more evicted BOs than memory has room for", far_more);
	ktap_run("[MEM7] a VM that wants more than can be pinned is refused", refused);
	gt_ctx_free(&c);
	return gt_finish();
}
