// SPDX-License-Identifier: MIT
/* test: TIMEOUT=180 DEVICE_ARGS=vram=32M */
/*
 * Binds in the order of their ioctls: a synchronous one waits for the asynchronous ones before it
 * and for no others; what an asynchronous one has removed is free when its fence says so; and what
 * takes long is done before it is a bind's turn, so that nobody else waits for it.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include <linux/udmabuf.h>

#define WIN_VA	0x40000000ull

static struct gt_ctx c;

/* ---- who waits for whom ---- */

/* A job that runs until gate_open(): its fence is @gate. */
static void gate_close(struct drm_tessera_sync *gate, uint64_t offset)
{
	struct gt_cs cs = gt_stream(&c, 8);
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);

	*(volatile uint64_t *)gt_data(&c, offset) = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(offset), .value = 1);
	*gate = gt_binary(gt_syncobj(c.fd, false));
	ktap_eq(gt_kick(&c, queue, &cs, gate), 0);
}

static void gate_open(uint64_t offset)
{
	*(volatile uint64_t *)gt_data(&c, offset) = 1;
}

struct sync_bind {
	struct drm_tessera_bind_op op;
	pthread_t thread;
	volatile bool begun, done;
	int ret;
};

static void *run_sync_bind(void *arg)
{
	struct sync_bind *bind = arg;

	bind->begun = true;
	bind->ret = gt_vm_bind(c.fd, c.vm, &bind->op, 1);
	bind->done = true;
	return NULL;
}

static void sync_bind_start(struct sync_bind *bind)
{
	ktap_eq(pthread_create(&bind->thread, NULL, run_sync_bind, bind), 0);
	while (!bind->begun)
		gt_sleep_ms(1);
	gt_sleep_ms(300);	/* the bind sleeps in the ioctl by now */
	ktap_ok(!bind->done);
}

static bool sync_bind_ends(const struct sync_bind *bind, unsigned int ms)
{
	for (; ms && !bind->done; ms -= 10)
		gt_sleep_ms(10);
	return bind->done;
}

/* The word that the GPU finds at WIN_VA. */
static uint64_t seen(void)
{
	struct gt_cs cs = gt_stream(&c, 8);

	GT_EMIT(&cs, copy_linear, .src = WIN_VA, .dst = gt_data_va(64), .size = 8);
	ktap_eq(gt_run(&c, &cs), 0);
	return *(volatile uint64_t *)gt_data(&c, 64);
}

static struct gt_bo page(uint64_t word)
{
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);

	*(volatile uint64_t *)bo.map = word;
	return bo;
}

/* One that waits for later ones, too, deadlocks with who lets those run. */
static void not_for_later_ones(void)
{
	struct gt_bo first = page(1), second = page(2), third = page(3);
	struct drm_tessera_bind_op op = gt_op_map(first.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	struct sync_bind bind = { .op = gt_op_map(second.handle, WIN_VA, GT_PAGE, 0, GT_RW) };
	struct drm_tessera_sync gate[2], last = gt_binary(gt_syncobj(c.fd, false));

	gate_close(&gate[0], 0);
	gate_close(&gate[1], 8);
	ktap_eq(gt_bind_async(c.fd, c.vm, &op, 1, &gate[0], NULL), 0);
	sync_bind_start(&bind);
	op = gt_op_map(third.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	ktap_eq(gt_bind_async(c.fd, c.vm, &op, 1, &gate[1], &last), 0);
	gate_open(0);
	ktap_ok(sync_bind_ends(&bind, 3000));
	if (bind.done)
		ktap_eq(seen(), 2);
	gate_open(8);
	pthread_join(bind.thread, NULL);
	ktap_eq(bind.ret, 0);
	ktap_eq(gt_fence_error(c.fd, last.handle, 0), 0);
	ktap_eq(seen(), 3);
	gt_bo_free(&first);
	gt_bo_free(&second);
	gt_bo_free(&third);
}

/* A later one that could run at once does not overtake it. */
static void not_overtaken(void)
{
	struct gt_bo first = page(1), second = page(2), third = page(3);
	struct drm_tessera_bind_op op = gt_op_map(first.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	struct sync_bind bind = { .op = gt_op_map(second.handle, WIN_VA, GT_PAGE, 0, GT_RW) };
	struct drm_tessera_sync gate, last = gt_binary(gt_syncobj(c.fd, false));

	gate_close(&gate, 0);
	ktap_eq(gt_bind_async(c.fd, c.vm, &op, 1, &gate, NULL), 0);
	sync_bind_start(&bind);
	op = gt_op_map(third.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	ktap_eq(gt_bind_async(c.fd, c.vm, &op, 1, NULL, &last), 0);
	gate_open(0);
	pthread_join(bind.thread, NULL);
	ktap_eq(bind.ret, 0);
	ktap_eq(gt_fence_error(c.fd, last.handle, 0), 0);
	ktap_eq(seen(), 3);
	gt_bo_free(&first);
	gt_bo_free(&second);
	gt_bo_free(&third);
}

static void nothing(int number)
{
	(void)number;
}

/* A signal ends the wait; the bind has no effect then, also when its turn comes. */
static void interrupted(void)
{
	struct gt_bo first = page(1), second = page(2);
	struct drm_tessera_bind_op op = gt_op_map(first.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	struct drm_tessera_sync gate, after = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_bind_op other = gt_op_map(second.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	struct drm_tessera_vm_bind args = { .vm_id = c.vm, .ops = GT_ARRAY(&other, 1) };
	struct sigaction action = { .sa_handler = nothing };

	gate_close(&gate, 0);
	ktap_eq(gt_bind_async(c.fd, c.vm, &op, 1, &gate, NULL), 0);
	sigaction(SIGALRM, &action, NULL);
	ualarm(200000, 0);
	ktap_eq(ioctl(c.fd, DRM_IOCTL_TESSERA_VM_BIND, &args), -1);
	ktap_eq(errno, EINTR);
	ktap_eq(gt_bind_async(c.fd, c.vm, NULL, 0, NULL, &after), 0);
	gate_open(0);
	ktap_eq(gt_fence_error(c.fd, after.handle, 0), 0);
	ktap_eq(seen(), 1);
	gt_bo_free(&first);
	gt_bo_free(&second);
}

/* ---- what a fence promises ---- */

static void local_is_free(void)
{
	struct drm_tessera_file_limits l = { 0 };
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_QUERY_FILE_LIMITS, .size = sizeof(l), .ptr = gt_ptr(&l),
	};
	struct drm_tessera_bind_op op = gt_op_unmap(WIN_VA, 1 << 30);
	struct drm_tessera_sync done = gt_binary(gt_syncobj(c.fd, false));
	uint32_t handle;

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	for (int i = 0; i < 200; i++) {
		struct drm_tessera_bind_op map;

		if (!ktap_eq(gt_bo_try(c.fd, l.max_local_memory,
				       DRM_TESSERA_BO_LOCAL | DRM_TESSERA_BO_LOCAL_ONLY, 0,
				       &handle), 0))
			break;
		map = gt_op_map(handle, WIN_VA, l.max_local_memory, 0, GT_RW);
		ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), 0);
		ktap_eq(gt_gem_close(c.fd, handle), 0);
		ktap_eq(gt_bind_async(c.fd, c.vm, &op, 1, NULL, &done), 0);
		ktap_eq(gt_fence_error(c.fd, done.handle, 0), 0);
	}
}

static void range_is_free(void)
{
	struct gt_bo bo = page(1);
	struct drm_tessera_sync done = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_bind_op map = gt_op_map(bo.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	struct drm_tessera_bind_op unmap = gt_op_unmap(WIN_VA, GT_PAGE);

	for (int i = 0; i < 200; i++) {
		struct drm_tessera_heap_create heap = {
			.vm_id = c.vm, .va = WIN_VA, .max_size = 0x10000, .initial_size = 0x10000,
			.chunk_size = 0x10000,
		};
		struct drm_tessera_heap_destroy destroy = { 0 };

		ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), 0);
		ktap_eq(gt_bind_async(c.fd, c.vm, &unmap, 1, NULL, &done), 0);
		ktap_eq(gt_fence_error(c.fd, done.handle, 0), 0);
		if (!ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_HEAP_CREATE, &heap), 0))
			break;
		destroy.heap_id = heap.heap_id;
		ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_HEAP_DESTROY, &destroy), 0);
	}
	gt_bo_free(&bo);
}

/* ---- who pays for what takes long ---- */

#define PIECES	8192u
#define OPS	1024u

/* Memory in pieces of one page: no two pages of a file that follow each other are neighbors. */
static int scattered_dmabuf(void)
{
	struct udmabuf_create create = { .size = PIECES * GT_PAGE };
	int device = open("/dev/udmabuf", O_RDWR), file[2], dmabuf;
	char *map[2];

	if (device < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		file[i] = memfd_create("pieces", MFD_ALLOW_SEALING);
		if (file[i] < 0 || ftruncate(file[i], create.size) ||
		    fcntl(file[i], F_ADD_SEALS, F_SEAL_SHRINK))
			gt_die("no memfd");
		map[i] = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, file[i], 0);
	}
	for (uint64_t at = 0; at < create.size; at += GT_PAGE)
		map[0][at] = map[1][at] = 1;
	create.memfd = file[0];
	dmabuf = ioctl(device, UDMABUF_CREATE, &create);
	for (int i = 0; i < 2; i++) {
		munmap(map[i], create.size);
		close(file[i]);
	}
	close(device);
	return dmabuf;
}

/*
 * To find the places of operations in a buffer of many pieces takes long. That is done by the ioctl
 * and not in the bind's turn, when its VM is locked; and whoever shares a buffer with the VM does
 * not wait for it.
 */
static void long_search(void)
{
	struct gt_ctx other = gt_ctx();
	struct gt_bo shared = gt_bo(c.fd, GT_PAGE, 0);
	struct drm_prime_handle prime = { .handle = shared.handle, .flags = DRM_CLOEXEC };
	struct drm_tessera_bind_op *ops = calloc(OPS, sizeof(*ops)), map;
	struct drm_tessera_sync gate, done = gt_binary(gt_syncobj(c.fd, false));
	struct gt_cs cs = gt_stream(&other, 8);
	uint64_t start, asked, ran, submitted;
	uint32_t handle, twin;
	int dmabuf = scattered_dmabuf();

	if (dmabuf < 0) {
		ktap_skip("no /dev/udmabuf");
		return;
	}
	ktap_eq(drmPrimeFDToHandle(c.fd, dmabuf, &handle), 0);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	ktap_eq(drmPrimeFDToHandle(other.fd, prime.fd, &twin), 0);
	gt_bo_bind(&shared, c.vm, WIN_VA - GT_PAGE, GT_RW);
	map = gt_op_map(twin, WIN_VA, GT_PAGE, 0, GT_RW);
	ktap_eq(gt_vm_bind(other.fd, other.vm, &map, 1), 0);
	for (unsigned int i = 0; i < OPS; i++)
		ops[i] = gt_op_map(handle, WIN_VA, GT_PAGE, (PIECES - 1 - i) * GT_PAGE, GT_RW);
	gate_close(&gate, 0);
	start = gt_now_ns();
	ktap_eq(gt_bind_async(c.fd, c.vm, ops, OPS, &gate, &done), 0);
	asked = gt_now_ns() - start;
	start = gt_now_ns();
	gate_open(0);
	gt_sleep_ms(20);
	ktap_eq(gt_bind_async(c.fd, c.vm, NULL, 0, NULL, NULL), 0);
	GT_EMIT(&cs, nop, .qwords = 1);
	ktap_eq(gt_run(&other, &cs), 0);
	submitted = gt_now_ns() - start;
	ktap_eq(gt_fence_error(c.fd, done.handle, 0), 0);
	ran = gt_now_ns() - start;
	printf("# asked %llu us, ran %llu us, other's job %llu us\n",
	       (unsigned long long)asked / 1000, (unsigned long long)ran / 1000,
	       (unsigned long long)submitted / 1000);
	ktap_ok(ran < asked);
	ktap_ok(submitted < asked);
	close(prime.fd);
	close(dmabuf);
	gt_gem_close(c.fd, handle);
	gt_bo_free(&shared);
	gt_ctx_free(&other);
	free(ops);
}

/* The entries that one bind writes have a limit for all its operations together. */
static void limited_work(void)
{
	const uint64_t size = 1ull << 40, most = (1ull << 24) / (size / GT_HUGE);
	struct drm_tessera_bind_op *ops = calloc(most + 1, sizeof(*ops));
	uint64_t i;

	for (i = 0; i <= most; i++)
		ops[i] = (struct drm_tessera_bind_op){
			.op = DRM_TESSERA_BIND_MAP_NULL, .va = 1ull << 44, .size = size,
		};
	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, most + 1), -ENOMEM);
	ops[0] = gt_op_unmap(1ull << 44, 16 * size);
	ktap_eq(gt_vm_bind(c.fd, c.vm, ops, 1), 0);
	free(ops);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[MEM2] a synchronous bind does not wait for later ones", not_for_later_ones);
	ktap_run("[MEM2] a later bind does not overtake a synchronous one that waits",
		 not_overtaken);
	ktap_run("[MEM2] a synchronous bind that is interrupted has no effect", interrupted);
	ktap_run("[MEM1] local memory is free when the bind's fence says so", local_is_free);
	ktap_run("[MEM2] a range is free for a heap when the bind's fence says so", range_is_free);
	ktap_run("[MEM2] what takes long is not done in a bind's turn", long_search);
	ktap_run("[MEM2] one bind writes so many entries and no more", limited_work);
	gt_ctx_free(&c);
	return gt_finish();
}
