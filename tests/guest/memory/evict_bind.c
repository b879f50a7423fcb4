// SPDX-License-Identifier: MIT
/* test: TIMEOUT=200 SMP=2 MEM=512 DEVICE_ARGS=vram=16M CONSOLE=1 */
/*
 * BOs that move all the time, while mappings of the GPU change, mappings of the CPU are copied and
 * moved, and processes are killed.
 */
#include "gt_main.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB		0x100000ULL
#define VA		0x40000000ULL
#define SIZE		(6 * MIB)
#define LARGE		(10 * MIB)	/* more than half of local memory */
#define LOCAL		DRM_TESSERA_BO_LOCAL
#define HUGE_PAGES	(GT_HUGE / GT_PAGE)

static struct gt_ctx c;

/* ---- a thread that evicts ---- */

static struct {
	pthread_t thread;
	atomic_bool stop;
	uint64_t evictions, restores;
} evictor;

static void *evict_often(void *arg)
{
	char path[128];

	(void)arg;
	gt_debugfs("evict", path, sizeof(path));
	while (!atomic_load(&evictor.stop)) {
		gt_write_file(path, "0");
		gt_sleep_ms(2);
	}
	return NULL;
}

static void evictor_start(void)
{
	struct drm_tessera_gpu_state s = gt_gpu_state(c.fd);

	evictor.evictions = s.evictions;
	evictor.restores = s.restores;
	atomic_store(&evictor.stop, false);
	ktap_eq(pthread_create(&evictor.thread, NULL, evict_often, NULL), 0);
}

static void evictor_end(void)
{
	struct drm_tessera_gpu_state s;

	atomic_store(&evictor.stop, true);
	pthread_join(evictor.thread, NULL);
	s = gt_gpu_state(c.fd);
	ktap_ok(s.evictions - evictor.evictions > 1);
	ktap_note("%llu evictions, %llu restores",
		  (unsigned long long)(s.evictions - evictor.evictions),
		  (unsigned long long)(s.restores - evictor.restores));
}

/* ---- mappings of the GPU ---- */

#define BOS		2u
#define WINDOW		(SIZE / GT_PAGE)	/* pages whose mappings change */
#define CHANGES		300u
#define SEEN		16u			/* pages that the GPU reads after each of them */

static uint64_t random_state = 1;

static unsigned int below(unsigned int n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(random_state >> 33) % n;
}

/* The word that the GPU reads from each page of the window; NOTHING: it would fault. */
#define NOTHING	UINT64_MAX
static uint64_t model[WINDOW];

static uint64_t word_of(unsigned int bo, unsigned int page)
{
	return (uint64_t)(bo + 1) << 32 | (page + 1);
}

static struct gt_bo numbered(unsigned int number, uint64_t size)
{
	struct gt_bo bo = gt_bo(c.fd, size, LOCAL);

	for (unsigned int i = 0; i < size / GT_PAGE; i++)
		((volatile uint64_t *)bo.map)[i * (GT_PAGE / 8)] = word_of(number, i);
	return bo;
}

static unsigned int wrong_numbers(const struct gt_bo *bo, unsigned int number)
{
	const volatile uint64_t *words = bo->map;
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < bo->size / GT_PAGE; i++)
		wrong += words[i * (GT_PAGE / 8)] != word_of(number, i);
	return wrong;
}

/* One in four is of whole large pages. */
static void choose_range(unsigned int *first, unsigned int *count, unsigned int *offset)
{
	if (below(4)) {
		*first = below(WINDOW);
		*count = 1 + below(WINDOW - *first);
		*offset = below(SIZE / GT_PAGE - *count + 1);
	} else {
		*first = below(3) * HUGE_PAGES;
		*count = HUGE_PAGES;
		*offset = below(3) * HUGE_PAGES;
	}
}

#define GATE	0x8000		/* offset of a word in the data buffer that a job waits for */

/* In the ioctl, or later: behind a job that has not ended when the ioctl returns. */
static void run_bind(const struct drm_tessera_bind_op *op)
{
	struct gt_cs cs = gt_stream(&c, 4);
	struct drm_tessera_sync before, after;

	if (below(2)) {
		ktap_eq(gt_vm_bind(c.fd, c.vm, op, 1), 0);
		return;
	}
	before = gt_binary(gt_syncobj(c.fd, false));
	after = gt_binary(gt_syncobj(c.fd, false));
	*(volatile uint64_t *)gt_data(&c, GATE) = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(GATE), .value = 1);
	ktap_eq(gt_kick(&c, c.queue, &cs, &before), 0);
	ktap_eq(gt_bind_async(c.fd, c.vm, op, 1, &before, &after), 0);
	gt_sleep_ms(below(4));
	*(volatile uint64_t *)gt_data(&c, GATE) = 1;
	ktap_eq(gt_fence_error(c.fd, after.handle, 0), 0);
	gt_syncobj_free(c.fd, before.handle);
	gt_syncobj_free(c.fd, after.handle);
}

static void change_mapping(const struct gt_bo *bo)
{
	unsigned int first, count, offset, which = below(BOS), kind = below(8);
	struct drm_tessera_bind_op op;

	choose_range(&first, &count, &offset);
	if (kind == 0)
		op = gt_op_unmap(VA + first * GT_PAGE, count * GT_PAGE);
	else if (kind == 1)
		op = (struct drm_tessera_bind_op){ .op = DRM_TESSERA_BIND_MAP_NULL,
						   .va = VA + first * GT_PAGE,
						   .size = count * GT_PAGE };
	else
		op = gt_op_map(bo[which].handle, VA + first * GT_PAGE, count * GT_PAGE,
			       offset * GT_PAGE, GT_RW);
	run_bind(&op);
	for (unsigned int i = 0; i < count; i++)
		model[first + i] = kind == 0 ? NOTHING : kind == 1 ? 0 : word_of(which, offset + i);
}

/* The GPU reads some of the pages that are mapped; how many are not as in the model. */
static unsigned int look(void)
{
	struct gt_cs cs = gt_stream(&c, 4 * SEEN + 8);
	const volatile uint64_t *got = gt_data(&c, 0);
	unsigned int page[SEEN], n = 0, wrong = 0;

	memset(gt_data(&c, 0), 0xee, SEEN * 8);
	for (unsigned int i = 0; i < 4 * SEEN && n < SEEN; i++) {
		page[n] = below(WINDOW);
		if (model[page[n]] == NOTHING)
			continue;
		GT_EMIT(&cs, copy_linear, .src = VA + page[n] * GT_PAGE, .dst = gt_data_va(8 * n),
			.size = 8);
		n++;
	}
	if (!n)
		return 0;
	ktap_eq(gt_run(&c, &cs), 0);
	for (unsigned int i = 0; i < n; i++)
		wrong += got[i] != model[page[i]];
	return wrong;
}

/* Contents of LOCAL BOs are kept, whatever user space says about them. */
static void change_advice(const struct gt_bo *bo)
{
	struct drm_tessera_bo_madvise advice = {
		.handle = bo->handle, .madv = DRM_TESSERA_MADV_DONT_NEED,
	};

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_MADVISE, &advice), 0);
	advice.madv = DRM_TESSERA_MADV_WILL_NEED;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_MADVISE, &advice), 0);
	ktap_eq(advice.retained, 1);
}

/* A VM that has the BO for a moment. */
static void pass_by(const struct gt_bo *bo)
{
	uint32_t vm = gt_vm(c.fd);
	struct drm_tessera_bind_op op = gt_op_map(bo->handle, VA, SIZE, 0, GT_RW);

	ktap_eq(gt_vm_bind(c.fd, vm, &op, 1), 0);
	gt_sleep_ms(below(4));
	ktap_eq(gt_vm_destroy(c.fd, vm), 0);
}

/*
 * Half of local memory is taken, so the large BO does not fit, and the GPU finds it in system
 * memory. What others use at the moment is not evicted: try again.
 */
static uint32_t take_half(void)
{
	const uint32_t flags = LOCAL | DRM_TESSERA_BO_LOCAL_ONLY | DRM_TESSERA_BO_NO_MMAP;
	uint32_t handle = 0;
	int ret = -1;

	for (unsigned int i = 0; i < 1000 && ret; i++) {
		ret = gt_bo_try(c.fd, gt_gpu_info(c.fd).local_size / 2, flags, 0, &handle);
		gt_sleep_ms(ret ? 2 : 0);
	}
	ktap_eq(ret, 0);
	return handle;
}

static void unmap_window(void)
{
	struct drm_tessera_bind_op all = gt_op_unmap(VA, WINDOW * GT_PAGE);

	ktap_eq(gt_vm_bind(c.fd, c.vm, &all, 1), 0);
}

static void mappings(void)
{
	struct gt_bo bo[BOS] = { numbered(0, SIZE), numbered(1, LARGE) };
	unsigned int wrong = 0, outside = 0;
	uint32_t half = 0;

	for (unsigned int i = 0; i < WINDOW; i++)
		model[i] = NOTHING;
	evictor_start();
	for (unsigned int i = 0; i < CHANGES; i++) {
		if (i % 8 == 2)
			half = take_half();
		change_mapping(bo);
		wrong += look();
		if (half)
			outside += !(gt_bo_state(c.fd, bo[1].handle) & DRM_TESSERA_BO_IN_LOCAL);
		if (i % 8 == 5) {
			gt_gem_close(c.fd, half);
			half = 0;
		}
		if (i % 16 == 5)
			change_advice(&bo[below(BOS)]);
		if (i % 16 == 11)
			pass_by(&bo[below(BOS)]);
	}
	evictor_end();
	if (half)
		gt_gem_close(c.fd, half);
	ktap_eq(wrong, 0);
	ktap_ok(outside > CHANGES / 4);
	ktap_eq(gt_vm_state(c.fd, c.vm, NULL).fault_count, 0);
	unmap_window();
	for (unsigned int i = 0; i < BOS; i++) {
		ktap_eq(wrong_numbers(&bo[i], i), 0);
		gt_bo_free(&bo[i]);
	}
}

/* ---- mappings of the CPU ---- */

struct half {
	_Atomic uint32_t rounds, wrong;
	atomic_bool stop;
};

/* Each round adds one to a word of every second page, which is as the last round left it. */
static void add_to_pages(volatile uint64_t *words, unsigned int first, struct half *h)
{
	for (unsigned int page = first; page < SIZE / GT_PAGE; page += 2) {
		h->wrong += words[page * (GT_PAGE / 8)] != h->rounds;
		words[page * (GT_PAGE / 8)] = h->rounds + 1;
	}
	h->rounds++;
}

/* A child process has the mapping of its parent, and moves it to another address each round. */
static void copied_and_moved(void)
{
	struct gt_bo bo = gt_bo(c.fd, SIZE, LOCAL);
	struct half *h = mmap(NULL, 2 * sizeof(*h), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t until = gt_now_ns() + 3000000000ull;
	unsigned int wrong = 0;
	int status = -1;
	pid_t pid;

	gt_bo_bind(&bo, c.vm, VA, GT_RW);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		char *map = bo.map, *other;

		while (!h[1].stop) {
			add_to_pages((volatile uint64_t *)map, 1, &h[1]);
			other = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (mremap(map, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, other) != other)
				_exit(1);
			map = other;
		}
		_exit(0);
	}
	evictor_start();
	while (gt_now_ns() < until) {
		struct gt_cs cs = gt_stream(&c, 1);

		add_to_pages(bo.map, 0, &h[0]);
		GT_EMIT(&cs, nop, .qwords = 1);
		ktap_eq(gt_run(&c, &cs), 0);	/* restores it */
	}
	h[1].stop = true;
	ktap_eq(waitpid(pid, &status, 0), pid);
	evictor_end();
	ktap_eq(status, 0);
	for (unsigned int page = 0; page < SIZE / GT_PAGE; page++)
		wrong += ((volatile uint64_t *)bo.map)[page * (GT_PAGE / 8)] != h[page % 2].rounds;
	ktap_eq(wrong, 0);
	ktap_eq(h[0].wrong + h[1].wrong, 0);
	ktap_ok(h[0].rounds > 1 && h[1].rounds > 1);
	ktap_note("%u and %u rounds", (unsigned int)h[0].rounds, (unsigned int)h[1].rounds);
	munmap(h, 2 * sizeof(*h));
	unmap_window();
	gt_bo_free(&bo);
}

/* ---- processes that end ---- */

#define KILLS	12u

static void fill_for_ever(void)
{
	struct gt_ctx x = gt_ctx();
	struct gt_bo bo[4];

	for (unsigned int i = 0; i < GT_ARRAY_SIZE(bo); i++) {
		bo[i] = gt_bo(x.fd, SIZE, LOCAL);
		gt_bo_bind(&bo[i], x.vm, VA + i * SIZE, GT_RW);
	}
	for (uint64_t i = 0;; i++) {
		struct gt_cs cs = gt_stream(&x, 8);

		GT_EMIT(&cs, fill_linear, .texel = 8, .dst = bo[i % 4].va, .size = SIZE,
			.pattern_lo = i);
		if (gt_run(&x, &cs))
			_exit(1);
		((volatile uint64_t *)bo[i % 4].map)[i % 1000] = i;
	}
}

/* Nobody else's BO suffers, and nothing is left behind. */
static void killed(void)
{
	struct gt_bo bo = numbered(0, SIZE);
	uint64_t used = gt_gpu_state(c.fd).local_used;
	unsigned int wrong = 0, i;

	gt_bo_bind(&bo, c.vm, VA, GT_RW);
	evictor_start();
	for (unsigned int kill_after = 1; kill_after <= KILLS; kill_after++) {
		int status = 0;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (!pid)
			fill_for_ever();
		gt_sleep_ms(37 * kill_after);
		kill(pid, SIGKILL);
		ktap_eq(waitpid(pid, &status, 0), pid);
		ktap_ok(WIFSIGNALED(status));
		for (i = 0; i < WINDOW; i++)
			model[i] = word_of(0, i);
		wrong += look();
	}
	evictor_end();
	ktap_eq(wrong, 0);
	ktap_eq(wrong_numbers(&bo, 0), 0);
	for (i = 0; i < 500 && gt_gpu_state(c.fd).local_used > used; i++)
		gt_sleep_ms(10);	/* workers free what closed files had */
	ktap_ok(gt_gpu_state(c.fd).local_used <= used);
	unmap_window();
	gt_bo_free(&bo);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[MEM7] mappings of the GPU change while BOs move", mappings);
	ktap_run("[MEM7] mappings of the CPU are copied and moved meanwhile", copied_and_moved);
	ktap_run("[MEM7] processes are killed meanwhile", killed);
	gt_ctx_free(&c);
	return gt_finish();
}
