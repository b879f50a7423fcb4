// SPDX-License-Identifier: MIT
/* test: TIMEOUT=30 */
/*
 * The duties of every DRM driver: nodes, version, capabilities, master and authentication, dumb
 * buffers, GEM names, debugfs, fdinfo.
 */
#include "gt_main.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

static void version(void)
{
	static const bool kinds[] = { true, false };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		int fd = gt_open_nth(0, kinds[i]);
		drmVersionPtr v;

		KTAP_REQUIRE(fd >= 0);
		v = drmGetVersion(fd);
		KTAP_REQUIRE(v);
		ktap_eq(strcmp(v->name, "tessera"), 0);
		ktap_ok(v->version_major >= 1);
		ktap_ok(v->desc_len > 0);
		drmFreeVersion(v);
		close(fd);
	}
}

static void capabilities(void)
{
	static const struct {
		uint64_t cap, want;
	} rows[] = {
		{ DRM_CAP_SYNCOBJ, 1 }, { DRM_CAP_SYNCOBJ_TIMELINE, 1 },
		{ DRM_CAP_PRIME, DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT },
	};
	int fd = gt_open();
	unsigned int i;

	for (i = 0; i < GT_ARRAY_SIZE(rows); i++) {
		uint64_t value = 99;

		ktap_eq(drmGetCap(fd, rows[i].cap, &value), 0);
		ktap_eq(value, rows[i].want);
	}
	close(fd);
}

/* The device as libdrm enumerates it: PCI 1234:7e55 with both nodes. */
static void pci_device(void)
{
	drmDevicePtr device;
	int fd = gt_open();

	KTAP_REQUIRE(!drmGetDevice2(fd, 0, &device));
	ktap_eq(device->bustype, DRM_BUS_PCI);
	ktap_eq(device->deviceinfo.pci->vendor_id, TSR_PCI_VENDOR);
	ktap_eq(device->deviceinfo.pci->device_id, TSR_PCI_DEVICE);
	ktap_ok(device->available_nodes & 1 << DRM_NODE_PRIMARY);
	ktap_ok(device->available_nodes & 1 << DRM_NODE_RENDER);
	drmFreeDevice(&device);
	close(fd);
}

/* The class in configuration space, read past libdrm: a 3D controller. */
static void pci_class(void)
{
	char path[300], text[32];

	gt_sysfs(0, "class", path, sizeof(path));
	ktap_ok(gt_read_file(path, text, sizeof(text)) > 0);
	ktap_eq(strtoul(text, NULL, 16), 0x030200);
}

static void master(void)
{
	int first = gt_open_card(), second = gt_open_card();

	ktap_eq(drmIsMaster(first), 1);
	ktap_eq(drmIsMaster(second), 0);
	ktap_eq(drmSetMaster(second), -1);
	ktap_eq(drmDropMaster(first), 0);
	ktap_eq(drmIsMaster(first), 0);
	ktap_eq(drmSetMaster(second), 0);
	ktap_eq(drmIsMaster(second), 1);
	ktap_eq(drmDropMaster(second), 0);
	close(first);
	close(second);
}

static void authentication(void)
{
	int first = gt_open_card(), second = gt_open_card();
	drm_magic_t magic;

	ktap_eq(drmGetMagic(second, &magic), 0);
	ktap_eq(drmAuthMagic(first, magic), 0);
	ktap_eq(drmAuthMagic(first, magic + 1000), -EINVAL);
	close(first);
	close(second);
}

/*
 * The render node does everything without authentication, also for nobody in particular; master
 * ioctls are not for it.
 */
static void render_without_auth(void)
{
	char path[64];
	pid_t pid;
	int fd, status;

	ktap_ok(gt_node_path(0, true, path, sizeof(path)));
	chmod(path, 0666);
	pid = fork();
	if (!pid) {
		struct gt_ctx c;
		struct gt_cs cs;

		if (setuid(65534))
			_exit(90);
		c = gt_ctx();
		cs = gt_stream(&c, 3);
		GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0),
			.value = 66);
		if (gt_run(&c, &cs))
			_exit(91);
		_exit(*(volatile uint64_t *)gt_data(&c, 0) == 66 ? 0 : 92);
	}
	waitpid(pid, &status, 0);
	ktap_eq(status, 0);
	fd = gt_open();
	ktap_eq(drmSetMaster(fd), -1);
	ktap_eq(errno, EACCES);
	close(fd);
}

/* The jobs run through the primary node as well. */
static void primary_node_works(void)
{
	struct gt_ctx c = gt_ctx_on(gt_open_card());
	struct gt_cs cs = gt_stream(&c, 3);

	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0), .value = 65);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_eq(*(volatile uint64_t *)gt_data(&c, 0), 65);
	gt_ctx_free(&c);
}

static void dumb_buffers(void)
{
	struct drm_mode_create_dumb create = { .width = 100, .height = 50, .bpp = 32 };
	struct drm_mode_map_dumb map = { 0 };
	struct drm_mode_destroy_dumb destroy = { 0 };
	int fd = gt_open_card();
	uint32_t *pixels;
	size_t i, bad = 0;

	ktap_eq(gt_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	ktap_ok(create.pitch >= 400);
	ktap_ok(create.size >= 50ULL * create.pitch);
	map.handle = create.handle;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map), 0);
	pixels = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, map.offset);
	KTAP_REQUIRE(pixels != MAP_FAILED);
	for (i = 0; i < create.size / 4; i++)
		bad += pixels[i] != 0;
	ktap_eq(bad, 0);
	pixels[create.size / 4 - 1] = 0x12345678;
	munmap(pixels, create.size);
	destroy.handle = create.handle;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_MODE_DESTROY_DUMB, &destroy), 0);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map), -ENOENT);
	create = (struct drm_mode_create_dumb){ .width = UINT32_MAX,
						.height = UINT32_MAX,
						.bpp = 32 };
	ktap_ok(gt_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create) < 0);
	create = (struct drm_mode_create_dumb){ .width = 10, .height = 10, .bpp = 0 };
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), -EINVAL);
	close(fd);
}

/* The largest is the largest BO: in rows of a page, as nothing is allocated before it is used. */
static void largest_dumb_buffer(void)
{
	int fd = gt_open_card();
	uint64_t rows = gt_gpu_info(fd).max_bo_size / GT_PAGE;
	struct drm_mode_create_dumb create = { .width = GT_PAGE / 4, .height = (uint32_t)rows,
					       .bpp = 32 };
	struct drm_mode_destroy_dumb destroy;

	ktap_eq(gt_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	ktap_eq(create.pitch, GT_PAGE);
	ktap_eq(create.size, rows * GT_PAGE);
	destroy.handle = create.handle;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_MODE_DESTROY_DUMB, &destroy), 0);
	create.height++;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), -EINVAL);
	close(fd);
}

/* A dumb buffer is a BO like any other: the GPU fills it. */
static void dumb_buffer_on_gpu(void)
{
	struct drm_mode_create_dumb create = { .width = 64, .height = 64, .bpp = 32 };
	struct gt_ctx c = gt_ctx_on(gt_open_card());
	struct gt_cs cs = gt_stream(&c, 8);
	struct drm_tessera_bind_op op;
	uint32_t *pixels;
	unsigned int i;

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	pixels = gt_bo_mmap(c.fd, create.handle, create.size);
	KTAP_REQUIRE(pixels);
	op = gt_op_map(create.handle, 0x40000000, create.size, 0, GT_RW);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	GT_EMIT(&cs, fill_rect, .texel = 4, .dst = 0x40000000, .pitch = create.pitch, .x = 8,
		.y = 4, .width = 16, .height = 2, .pattern_lo = 0xff8040);
	ktap_eq(gt_run(&c, &cs), 0);
	for (i = 0; i < 64; i++)
		ktap_eq(pixels[5 * create.pitch / 4 + i], i >= 8 && i < 24 ? 0xff8040 : 0);
	munmap(pixels, create.size);
	gt_ctx_free(&c);
}

/* Global GEM names (flink) are for the primary node; the render node refuses them. */
static void gem_names(void)
{
	struct drm_gem_flink flink = { 0 };
	int card = gt_open_card(), render = gt_open();
	struct gt_bo bo = gt_bo(render, GT_PAGE, 0);

	flink.handle = bo.handle;
	ktap_eq(gt_ioctl(render, DRM_IOCTL_GEM_FLINK, &flink), -EACCES);
	gt_bo_free(&bo);
	close(card);
	close(render);
}

static void fdinfo(void)
{
	struct gt_ctx c = gt_ctx();
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", c.fd);
	ktap_ok(gt_read_file(path, text, sizeof(text)) > 0);
	ktap_ok(strstr(text, "drm-driver:\ttessera\n") != NULL);
	ktap_ok(strstr(text, "drm-client-id:\t") != NULL);
	ktap_ok(strstr(text, "drm-pdev:\t") != NULL);
	gt_ctx_free(&c);
}

/* Every file below the device's debugfs directory can be read at any time, with work in flight too.
 */
static void debugfs(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_cs cs = gt_stream(&c, 3);
	char path[512], text[65536];
	unsigned int files = 0;
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	ktap_eq(fstat(c.fd, &st), 0);
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u", (unsigned int)(st.st_rdev & 0xff));
	dir = opendir(path);
	if (!dir) {
		ktap_skip("no debugfs for DRM in this kernel");
		gt_ctx_free(&c);
		return;
	}
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	ktap_eq(gt_kick(&c, c.queue, &cs, NULL), 0);
	while ((entry = readdir(dir))) {
		if (entry->d_type != DT_REG)
			continue;
		snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u/%s",
			 (unsigned int)(st.st_rdev & 0xff), entry->d_name);
		if (gt_read_file(path, text, sizeof(text)) >= 0)
			files++;
	}
	closedir(dir);
	ktap_ok(files >= 1);
	*(volatile uint32_t *)gt_data(&c, 0) = 1;
	gt_ctx_free(&c);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("[SYS1] the driver is bound and says its name", version);
	ktap_run("[SYS1] the PCI device with its two nodes", pci_device);
	ktap_run("[SYS1] the PCI class is that of a 3D controller", pci_class);
	ktap_run("capabilities", capabilities);
	ktap_run("DRM master on the primary node", master);
	ktap_run("authentication by magic", authentication);
	ktap_run("[SYS3] the render node needs no authentication", render_without_auth);
	ktap_run("[SYS3] jobs through the primary node", primary_node_works);
	ktap_run("dumb buffers", dumb_buffers);
	ktap_run("the largest dumb buffer", largest_dumb_buffer);
	ktap_run("the GPU draws into a dumb buffer", dumb_buffer_on_gpu);
	ktap_run("GEM names are refused on the render node", gem_names);
	ktap_run("fdinfo names the client", fdinfo);
	ktap_run("every debugfs file can be read", debugfs);
	return gt_finish();
}
