// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 DEVICE_ARGS=vram=64M,copy-engines=2 */
/*
 * Sharing by dma-buf: between files and processes, with vgem, its mmap and sync ioctls, and objects
 * that go away while in use.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include <linux/dma-buf.h>

#define WIN_VA	0x40000000ULL

static int export_bo(int fd, uint32_t handle)
{
	struct drm_prime_handle arg = { .handle = handle,
					.flags = DRM_CLOEXEC | DRM_RDWR,
					.fd = -1 };
	int ret = gt_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg);

	return ret ? ret : arg.fd;
}

static int import_bo(int fd, int dmabuf, uint32_t *handle)
{
	struct drm_prime_handle arg = { .fd = dmabuf };
	int ret = gt_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg);

	*handle = arg.handle;
	return ret;
}

static struct drm_tessera_bo_info info_of(int fd, uint32_t handle)
{
	struct drm_tessera_bo_info info = { .handle = handle };

	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_INFO, &info), 0);
	return info;
}

/*
 * Importing what one has exported gives the same handle; another file gets one of its own, of the
 * same memory.
 */
static void self_import(void)
{
	int a = gt_open(), b = gt_open(), dmabuf;
	struct gt_bo bo = gt_bo(a, 2 * GT_PAGE, 0);
	uint32_t same, other;
	uint64_t *words;

	dmabuf = export_bo(a, bo.handle);
	KTAP_REQUIRE(dmabuf >= 0);
	ktap_ok(info_of(a, bo.handle).state & DRM_TESSERA_BO_EXPORTED);
	ktap_eq(import_bo(a, dmabuf, &same), 0);
	ktap_eq(same, bo.handle);
	ktap_eq(import_bo(b, dmabuf, &other), 0);
	ktap_eq(info_of(b, other).size, 2 * GT_PAGE);
	ktap_ok(!(info_of(b, other).state &
		  DRM_TESSERA_BO_IMPORTED)); /* same device: the same object */
	words = gt_bo_mmap(b, other, 2 * GT_PAGE);
	KTAP_REQUIRE(words);
	((volatile uint64_t *)bo.map)[512] = 0x5151;
	ktap_eq(((volatile uint64_t *)words)[512], 0x5151);
	ktap_eq(lseek(dmabuf, 0, SEEK_END), 2 * GT_PAGE);
	close(dmabuf);
	gt_bo_free(&bo);
	close(a);
	ktap_eq(((volatile uint64_t *)words)[512], 0x5151);
	munmap(words, 2 * GT_PAGE);
	close(b);
}

/* Memory is mapped for the exporter's DMA before another device can have written there. */
static void exported_has_memory(void)
{
	int fd = gt_open(), dmabuf;
	uint32_t handle;

	ktap_eq(gt_bo_try(fd, GT_PAGE, 0, 0, &handle), 0);
	ktap_eq(info_of(fd, handle).state, 0);
	dmabuf = export_bo(fd, handle);
	KTAP_REQUIRE(dmabuf >= 0);
	ktap_eq(info_of(fd, handle).state, DRM_TESSERA_BO_EXPORTED | DRM_TESSERA_BO_RESIDENT);
	close(dmabuf);
	close(fd);
}

static void private_not_exportable(void)
{
	int fd = gt_open();
	uint32_t vm = gt_vm(fd), handle;

	ktap_eq(gt_bo_try(fd, GT_PAGE, 0, vm, &handle), 0);
	ktap_eq(export_bo(fd, handle), -EPERM);
	ktap_eq(info_of(fd, handle).state & DRM_TESSERA_BO_EXPORTED, 0);
	close(fd);
}

static void bad_handles(void)
{
	int fd = gt_open(), null = open("/dev/null", O_RDWR);
	uint32_t handle;

	ktap_eq(export_bo(fd, 0), -ENOENT);
	ktap_eq(export_bo(fd, 65536), -ENOENT);
	ktap_eq(import_bo(fd, -1, &handle), -EBADF);
	ktap_eq(import_bo(fd, null, &handle), -EINVAL);
	close(null);
	close(fd);
}

/*
 * Two processes, one buffer: the child fills it with its own queue, the parent copies out of it
 * with its own.
 */
static void two_processes(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_bo bo = gt_bo(c.fd, 16 * GT_PAGE, 0);
	int dmabuf = export_bo(c.fd, bo.handle), status;
	struct gt_cs cs = gt_stream(&c, 4);
	pid_t pid;

	KTAP_REQUIRE(dmabuf >= 0);
	pid = fork();
	if (!pid) {
		struct gt_ctx own = gt_ctx();
		struct gt_cs fill = gt_stream(&own, 5);
		struct drm_tessera_bind_op op;
		uint32_t handle;

		if (import_bo(own.fd, dmabuf, &handle))
			_exit(1);
		op = gt_op_map(handle, WIN_VA, 16 * GT_PAGE, 0, GT_RW);
		GT_EMIT(&fill, fill_linear, .texel = 8, .dst = WIN_VA, .size = 16 * GT_PAGE,
			.pattern_lo = 0xfeedfacecafe);
		_exit(gt_vm_bind(own.fd, own.vm, &op, 1) || gt_run(&own, &fill));
	}
	waitpid(pid, &status, 0);
	ktap_eq(status, 0);
	gt_bo_bind(&bo, c.vm, WIN_VA, DRM_TESSERA_BIND_READ);
	GT_EMIT(&cs, copy_linear, .src = WIN_VA + 8 * GT_PAGE, .dst = gt_data_va(0), .size = 8);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_eq(*(volatile uint64_t *)gt_data(&c, 0), 0xfeedfacecafe);
	close(dmabuf);
	gt_bo_free(&bo);
	gt_ctx_free(&c);
}

/* The dma-buf itself: mmap, CPU access ioctls, and its size. */
static void dmabuf_mmap(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);
	int dmabuf = export_bo(c.fd, bo.handle);
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW };
	struct gt_cs cs = gt_stream(&c, 4);
	volatile uint64_t *words;

	KTAP_REQUIRE(dmabuf >= 0);
	words = mmap(NULL, GT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
	KTAP_REQUIRE(words != MAP_FAILED);
	ktap_ok(mmap(NULL, 2 * GT_PAGE, PROT_READ, MAP_SHARED, dmabuf, 0) == MAP_FAILED);
	ktap_eq(ioctl(dmabuf, DMA_BUF_IOCTL_SYNC, &sync), 0);
	words[0] = 0x1b1b;
	sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW;
	ktap_eq(ioctl(dmabuf, DMA_BUF_IOCTL_SYNC, &sync), 0);
	gt_bo_bind(&bo, c.vm, WIN_VA, GT_RW);
	GT_EMIT(&cs, copy_linear, .src = WIN_VA, .dst = WIN_VA + 8, .size = 8);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_eq(words[1], 0x1b1b);
	munmap((void *)words, GT_PAGE);
	close(dmabuf);
	gt_bo_free(&bo);
	gt_ctx_free(&c);
}

static int open_vgem(void)
{
	char path[32];
	unsigned int i;

	if (system("modprobe vgem 2>/dev/null")) {
		/* vgem may be built in, or already loaded */
	}
	for (i = 0; i < 16; i++) {
		drmVersionPtr v;
		bool found;
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%u", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		v = drmGetVersion(fd);
		found = v && !strcmp(v->name, "vgem");
		drmFreeVersion(v);
		if (found)
			return fd;
		close(fd);
	}
	return -1;
}

/* A buffer of another driver: no CPU mapping through us, but the GPU reads and writes it. */
static void import_from_vgem(void)
{
	struct drm_mode_create_dumb create = { .width = 1024, .height = 4, .bpp = 32 };
	struct drm_mode_map_dumb map = { 0 };
	struct drm_tessera_bo_mmap_offset offset = { 0 };
	struct drm_tessera_bind_op op;
	struct gt_ctx c = gt_ctx();
	struct gt_cs cs = gt_stream(&c, 4);
	int vgem = open_vgem(), dmabuf;
	volatile uint64_t *words;
	uint32_t handle;

	if (vgem < 0) {
		ktap_skip("this kernel has no vgem");
		gt_ctx_free(&c);
		return;
	}
	ktap_eq(gt_ioctl(vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	map.handle = create.handle;
	ktap_eq(gt_ioctl(vgem, DRM_IOCTL_MODE_MAP_DUMB, &map), 0);
	words = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, vgem, map.offset);
	KTAP_REQUIRE(words != MAP_FAILED);
	dmabuf = export_bo(vgem, create.handle);
	ktap_eq(import_bo(c.fd, dmabuf, &handle), 0);
	ktap_ok(info_of(c.fd, handle).state & DRM_TESSERA_BO_IMPORTED);
	offset.handle = handle;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset), -EINVAL);
	op = gt_op_map(handle, WIN_VA, create.size, 0, GT_RW);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	words[0] = 0x7e57;
	GT_EMIT(&cs, copy_linear, .src = WIN_VA, .dst = WIN_VA + 3 * GT_PAGE, .size = 8);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_eq(words[3 * 512], 0x7e57);
	munmap((void *)words, create.size);
	close(dmabuf);
	close(vgem);
	gt_ctx_free(&c);
}

/* A dma-buf that was exported for reading can be bound for reading, not for writing. */
static void read_only_import(void)
{
	struct drm_mode_create_dumb create = { .width = 1024, .height = 1, .bpp = 32 };
	struct drm_prime_handle export = { .flags = DRM_CLOEXEC };
	struct drm_tessera_bind_op op;
	int vgem = open_vgem(), fd = gt_open();
	uint32_t handle, vm = gt_vm(fd);

	if (vgem < 0) {
		ktap_skip("this kernel has no vgem");
		close(fd);
		return;
	}
	ktap_eq(gt_ioctl(vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	export.handle = create.handle;
	ktap_eq(gt_ioctl(vgem, DRM_IOCTL_PRIME_HANDLE_TO_FD, &export), 0);
	ktap_eq(import_bo(fd, export.fd, &handle), 0);
	op = gt_op_map(handle, WIN_VA, GT_PAGE, 0, GT_RW);
	ktap_eq(gt_vm_bind(fd, vm, &op, 1), -EINVAL);
	op.flags = DRM_TESSERA_BIND_WRITE;
	ktap_eq(gt_vm_bind(fd, vm, &op, 1), -EINVAL);
	op.flags = DRM_TESSERA_BIND_READ;
	ktap_eq(gt_vm_bind(fd, vm, &op, 1), 0);
	close(export.fd);
	close(vgem);
	close(fd);
}

static void export_to_vgem(void)
{
	int vgem = open_vgem(), fd = gt_open(), dmabuf;
	struct gt_bo bo = gt_bo(fd, 2 * GT_PAGE, 0);
	uint32_t handle;

	if (vgem < 0) {
		ktap_skip("this kernel has no vgem");
		close(fd);
		return;
	}
	dmabuf = export_bo(fd, bo.handle);
	ktap_eq(import_bo(vgem, dmabuf, &handle), 0);
	ktap_eq(gt_gem_close(vgem, handle), 0);
	close(dmabuf);
	close(vgem);
	gt_bo_free(&bo);
	close(fd);
}

/* Handles are closed, the dma-buf and even the file, while a job uses the memory. */
static void close_in_flight(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);
	int dmabuf = export_bo(c.fd, bo.handle);
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct gt_cs cs = gt_stream(&c, 8);
	volatile uint64_t *words = gt_data(&c, 0), *mapped;

	KTAP_REQUIRE(dmabuf >= 0);
	words[0] = 0;
	mapped = mmap(NULL, GT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
	KTAP_REQUIRE(mapped != MAP_FAILED);
	gt_bo_bind(&bo, c.vm, WIN_VA, GT_RW);
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = WIN_VA, .value = 0x4242);
	ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
	gt_bo_free(&bo);
	close(dmabuf);
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(mapped[0], 0x4242);
	munmap((void *)mapped, GT_PAGE);
	gt_ctx_free(&c);
}

/* LOCAL memory has no pages another driver could map; within the device it is shared as any other.
 */
static void local_shared(void)
{
	int a = gt_open(), b = gt_open(), vgem = open_vgem(), dmabuf;
	struct gt_bo bo;
	uint32_t other;
	volatile uint64_t *words;

	if (!gt_gpu_info(a).local_size) {
		ktap_skip("the device has no local memory");
		return;
	}
	bo = gt_bo(a, GT_PAGE, DRM_TESSERA_BO_LOCAL);
	dmabuf = export_bo(a, bo.handle);
	KTAP_REQUIRE(dmabuf >= 0);
	ktap_eq(import_bo(b, dmabuf, &other), 0);
	words = gt_bo_mmap(b, other, GT_PAGE);
	KTAP_REQUIRE(words);
	((volatile uint64_t *)bo.map)[3] = 0x10ca1;
	ktap_eq(words[3], 0x10ca1);
	if (vgem >= 0) {
		ktap_ok(import_bo(vgem, dmabuf, &other) < 0);
		close(vgem);
	}
	munmap((void *)words, GT_PAGE);
	close(dmabuf);
	gt_bo_free(&bo);
	close(a);
	close(b);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("PRIME: the same file gets the same handle, another one the same memory",
		 self_import);
	ktap_run("PRIME: what is exported has memory", exported_has_memory);
	ktap_run("PRIME: a BO private to a VM is not exportable", private_not_exportable);
	ktap_run("PRIME: bad handles and files", bad_handles);
	ktap_run("[SYS4] PRIME: two processes and their queues on one buffer", two_processes);
	ktap_run("dma-buf: mmap and CPU access", dmabuf_mmap);
	ktap_run("PRIME: import from vgem", import_from_vgem);
	ktap_run("[SYS3] VM_BIND with WRITE of a read-only import fails with EINVAL",
		 read_only_import);
	ktap_run("PRIME: export to vgem", export_to_vgem);
	ktap_run("handles and dma-bufs closed in flight", close_in_flight);
	ktap_run("PRIME: local memory between files", local_shared);
	return gt_finish();
}
