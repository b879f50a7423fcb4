// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 DEVICE_ARGS=vram=64M,copy-engines=2 */
/*
 * BO_CREATE, BO_MMAP_OFFSET, BO_INFO, BO_SET_LABEL, BO_MADVISE: each field bad once, and the rules
 * of CPU mappings.
 */
#include "gt_main.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gt_bad.h"

static int fd;

static void create_bad(void)
{
	struct drm_tessera_gpu_info info = gt_gpu_info(fd);
	struct drm_tessera_bo_create create = { .size = GT_PAGE };
	uint32_t vm = gt_vm(fd);
	const struct gt_call call = GT_CALL(fd, BO_CREATE, create);
	const struct gt_bad rows[] = {
		GT_BAD(create.size, 0, EINVAL),
		GT_BAD(create.size, info.max_bo_size + 1, EINVAL),
		GT_BAD(create.size, UINT64_MAX, EINVAL),
		GT_BAD(create.size, UINT64_MAX - GT_PAGE + 1, EINVAL),
		GT_BAD(create.size, 1ULL << 63, EINVAL),
		GT_BAD(create.flags, DRM_TESSERA_BO_CACHED | DRM_TESSERA_BO_NO_MMAP, EINVAL),
		GT_BAD(create.flags, DRM_TESSERA_BO_CACHED | DRM_TESSERA_BO_LOCAL, EINVAL),
		GT_BAD(create.vm_id, vm + 65536, ENOENT),
		GT_BAD(create.vm_id, vm + 1, ENOENT),
		GT_BAD(create.vm_id, UINT32_MAX, ENOENT),
		GT_BAD(create.pad, 1, EINVAL),
		GT_BAD(create.pad, 1u << 31, EINVAL),
	};
	uint32_t before, after;

	ktap_eq(gt_bo_try(fd, GT_PAGE, 0, 0, &before), 0);
	gt_gem_close(fd, before);
	GT_BAD_ROWS(&call, rows);
	gt_bad_bits(&call, "flags", &create.flags,
		    DRM_TESSERA_BO_NO_MMAP | DRM_TESSERA_BO_CACHED | DRM_TESSERA_BO_LOCAL);
	/* Handles are the lowest free number: the failures have left none behind. */
	ktap_eq(gt_bo_try(fd, GT_PAGE, 0, 0, &after), 0);
	ktap_eq(after, before);
	ktap_result("a BO_CREATE that fails leaves no handle behind");
	gt_gem_close(fd, after);
	gt_vm_destroy(fd, vm);
}

static void create_values(void)
{
	static const struct {
		uint64_t size, want;
		uint32_t flags;
	} rows[] = {
		{ 1, GT_PAGE, 0 }, { GT_PAGE, GT_PAGE, DRM_TESSERA_BO_CACHED },
		{ GT_PAGE + 1, 2 * GT_PAGE, DRM_TESSERA_BO_NO_MMAP }, { GT_HUGE - 1, GT_HUGE, 0 },
		{ 3 * GT_PAGE, 3 * GT_PAGE, DRM_TESSERA_BO_LOCAL },
		{ 5, GT_PAGE, DRM_TESSERA_BO_LOCAL | DRM_TESSERA_BO_NO_MMAP },
	};
	unsigned int i;

	for (i = 0; i < GT_ARRAY_SIZE(rows); i++) {
		struct drm_tessera_bo_create create = { .size = rows[i].size,
							.flags = rows[i].flags,
							.handle = 77 };
		struct drm_tessera_bo_info info = { 0 };

		ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_CREATE, &create), 0);
		ktap_eq(create.size, rows[i].want);
		ktap_ok(create.handle != 0);
		info.handle = create.handle;
		ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_INFO, &info), 0);
		ktap_eq(info.create_flags, rows[i].flags);
		ktap_eq(info.size, rows[i].want);
		ktap_eq(info.vm_id, 0);
		ktap_eq(info.state & ~(DRM_TESSERA_BO_RESIDENT | DRM_TESSERA_BO_IN_LOCAL), 0);
		gt_gem_close(fd, create.handle);
	}
}

static void info_private(void)
{
	uint32_t vm = gt_vm(fd), handle;
	struct drm_tessera_bo_info info = { 0 };

	ktap_eq(gt_bo_try(fd, GT_PAGE, 0, vm, &handle), 0);
	info.handle = handle;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_INFO, &info), 0);
	ktap_eq(info.vm_id, vm);
	gt_gem_close(fd, handle);
	gt_vm_destroy(fd, vm);
}

/* Memory reads as zero, also when it comes back from the allocator dirty. */
static void memory_is_zero(const void *arg)
{
	uint32_t flags = *(const uint32_t *)arg;
	unsigned int round;
	uint64_t i, size = 64 * GT_PAGE, bad = 0;

	if ((flags & DRM_TESSERA_BO_LOCAL) && !gt_gpu_info(fd).local_size) {
		ktap_skip("the device has no local memory");
		return;
	}
	for (round = 0; round < 8; round++) {
		struct gt_bo bo = gt_bo(fd, size, flags);
		uint64_t *words = bo.map;

		for (i = 0; i < size / 8; i++)
			bad += words[i] != 0;
		memset(bo.map, 0xee, size);
		gt_bo_free(&bo);
	}
	ktap_eq(bad, 0);
}

static void local_limits(void)
{
	const uint32_t only = DRM_TESSERA_BO_LOCAL | DRM_TESSERA_BO_LOCAL_ONLY;
	uint64_t local = gt_gpu_info(fd).local_size, used = gt_gpu_state(fd).local_used, sum = 0;
	uint32_t handles[4096], n = 0, i, handle;
	int second;
	int ret = 0;

	if (!local) {
		ktap_eq(gt_bo_try(fd, GT_PAGE, DRM_TESSERA_BO_LOCAL, 0, &handle), -ENOSPC);
		return;
	}
	if (local + GT_PAGE <= gt_gpu_info(fd).max_bo_size)
		ktap_eq(gt_bo_try(fd, local + GT_PAGE, DRM_TESSERA_BO_LOCAL, 0, &handle), -ENOSPC);
	while (n < 4096 && !(ret = gt_bo_try(fd, GT_HUGE, only, 0, &handles[n]))) {
		sum += GT_HUGE;
		n++;
	}
	ktap_eq(ret, -ENOSPC);
	ktap_eq(gt_gpu_state(fd).local_used, used + sum);
	/* That was the share of the file (quotas.c); one of another user gets the rest. */
	second = gt_open_as(1000);
	for (i = 0; i < 4096 && !(ret = gt_bo_try(second, GT_HUGE, only, 0, &handle)); i++)
		sum += GT_HUGE;
	ktap_eq(ret, -ENOSPC);
	ktap_ok(sum <= local && sum + used + GT_HUGE > local - GT_HUGE);
	if (!used)
		ktap_eq(sum, local);
	ktap_eq(gt_gpu_state(fd).local_used, used + sum);
	close(second);
	for (i = 0; i < n; i++)
		gt_gem_close(fd, handles[i]);
	ktap_eq(gt_gpu_state(fd).local_used, used);
	if (used)
		return;
	ktap_eq(gt_bo_try(fd, local / 2, only, 0, &handle), 0);
	ktap_eq(gt_gpu_state(fd).local_used, local / 2);
	gt_gem_close(fd, handle);
}

static void handle_bad(void)
{
	struct gt_bo bo = gt_bo(fd, GT_PAGE, 0);
	struct drm_tessera_bo_mmap_offset offset = { .handle = bo.handle };
	struct drm_tessera_bo_info info = { .handle = bo.handle };
	const struct gt_call mmap_call = GT_CALL(fd, BO_MMAP_OFFSET, offset);
	const struct gt_call info_call = GT_CALL(fd, BO_INFO, info);
	const struct gt_bad mmap_rows[] = {
		GT_BAD(offset.handle, 0, ENOENT),
		GT_BAD(offset.handle, bo.handle + 65536, ENOENT),
		GT_BAD(offset.handle, UINT32_MAX, ENOENT),
	};
	const struct gt_bad info_rows[] = {
		GT_BAD(info.handle, 0, ENOENT),
		GT_BAD(info.handle, bo.handle + 65536, ENOENT),
		GT_BAD(info.handle, UINT32_MAX, ENOENT),
	};

	GT_BAD_ROWS(&mmap_call, mmap_rows);
	gt_bad_bits(&mmap_call, "flags", &offset.flags, 0);
	GT_BAD_ROWS(&info_call, info_rows);
	gt_bo_free(&bo);
}

static void no_mmap(void)
{
	struct gt_bo bo = gt_bo(fd, GT_PAGE, DRM_TESSERA_BO_NO_MMAP);
	struct drm_tessera_bo_mmap_offset offset = { .handle = bo.handle };

	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset), -EPERM);
	gt_bo_free(&bo);
}

/* mmap() only through a file that has the BO, not beyond its end, and not elsewhere. */
static void mmap_rules(void)
{
	struct gt_bo bo = gt_bo(fd, 2 * GT_PAGE, 0);
	struct drm_tessera_bo_mmap_offset a = { .handle = bo.handle }, b = a;
	int other = gt_open();

	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &a), 0);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &b), 0);
	ktap_eq(a.offset, b.offset);
	ktap_eq(a.offset % GT_PAGE, 0);
	ktap_ok(mmap(NULL, bo.size, PROT_READ, MAP_SHARED, other, a.offset) == MAP_FAILED);
	ktap_eq(errno, EACCES);
	ktap_ok(mmap(NULL, bo.size + GT_PAGE, PROT_READ, MAP_SHARED, fd, a.offset) == MAP_FAILED);
	ktap_eq(errno, EINVAL);
	ktap_ok(mmap(NULL, GT_PAGE, PROT_READ, MAP_SHARED, fd, a.offset + (1ULL << 40)) ==
		MAP_FAILED);
	close(other);
	gt_bo_free(&bo);
	ktap_ok(mmap(NULL, 2 * GT_PAGE, PROT_READ, MAP_SHARED, fd, a.offset) == MAP_FAILED);
}

/*
 * Two mappings, and that of a forked child, are the same memory; it survives close of handle and
 * file.
 */
static void mmap_shares(void)
{
	int own = gt_open(), status;
	struct gt_bo bo = gt_bo(own, GT_PAGE, DRM_TESSERA_BO_CACHED);
	volatile uint32_t *first = bo.map, *second = gt_bo_mmap(own, bo.handle, GT_PAGE);
	pid_t pid;

	KTAP_REQUIRE(second);
	first[7] = 0x12345678;
	ktap_eq(second[7], 0x12345678);
	pid = fork();
	if (!pid) {
		second[8] = 0x87654321;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	gt_gem_close(own, bo.handle);
	close(own);
	ktap_eq(first[8], 0x87654321);
	munmap((void *)second, GT_PAGE);
	munmap((void *)first, GT_PAGE);
}

/* True if the mapping at @map has these flags, as /proc/self/smaps names them: " pf io". */
static bool has_flags(const void *map, const char *const *flags, unsigned int count)
{
	static char text[1 << 16];
	const char *line;
	char head[32];

	snprintf(head, sizeof(head), "%lx-", (unsigned long)map);
	gt_read_file("/proc/self/smaps", text, sizeof(text));
	line = strstr(text, head);
	line = line ? strstr(line, "\nVmFlags:") : NULL;
	for (unsigned int i = 0; line && i < count; i++) {
		const char *at = strstr(line, flags[i]);

		if (!at || at > strchr(line + 1, '\n'))
			line = NULL;
	}
	return line != NULL;
}

/* Local memory is no page of the kernel's: not for a core dump, nor for a mapping that grows. */
static void mmap_local(void)
{
	static const char *const flags[] = { " sh", " pf", " io", " de", " dd" };
	struct gt_bo bo = gt_bo(fd, 2 * GT_PAGE, DRM_TESSERA_BO_LOCAL);
	struct drm_tessera_bo_mmap_offset offset = { .handle = bo.handle };

	((volatile uint32_t *)bo.map)[0] = 1;
	ktap_ok(has_flags(bo.map, flags, GT_ARRAY_SIZE(flags)));
	ktap_ok(mremap(bo.map, bo.size, 2 * bo.size, MREMAP_MAYMOVE) == MAP_FAILED);
	ktap_eq(errno, EFAULT);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset), 0);
	ktap_ok(mmap(NULL, bo.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, offset.offset) ==
		MAP_FAILED);
	ktap_eq(errno, EINVAL);
	gt_bo_free(&bo);
}

static void label_bad(void)
{
	static const char label[] = "scratch";
	struct gt_bo bo = gt_bo(fd, GT_PAGE, 0);
	struct drm_tessera_bo_set_label set = { .handle = bo.handle, .label = gt_ptr(label) };
	const struct gt_call call = GT_CALL(fd, BO_SET_LABEL, set);
	const struct gt_bad rows[] = {
		GT_BAD(set.handle, 0, ENOENT),
		GT_BAD(set.handle, bo.handle + 65536, ENOENT),
		GT_BAD(set.pad, 1, EINVAL),
		GT_BAD(set.pad, 1u << 31, EINVAL),
		GT_BAD(set.label, 8, EFAULT),
		GT_BAD(set.label, 1ULL << 63, EFAULT),
	};

	GT_BAD_ROWS(&call, rows);
	gt_bo_free(&bo);
}

static void label_lengths(void)
{
	struct gt_bo bo = gt_bo(fd, GT_PAGE, 0);
	char *pages =
		mmap(NULL, 2 * GT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_tessera_bo_set_label set = { .handle = bo.handle };

	munmap(pages + GT_PAGE, GT_PAGE);
	memset(pages, 'x', GT_PAGE);
	set.label = gt_ptr(pages + GT_PAGE - 100);	/* unterminated, runs into the hole */
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_SET_LABEL, &set), -EFAULT);
	pages[GT_PAGE - 1] = '\0';
	set.label = gt_ptr(pages + GT_PAGE - 1 - DRM_TESSERA_LABEL_MAX);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_SET_LABEL, &set), 0);
	set.label--;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_SET_LABEL, &set), -E2BIG);
	set.label = gt_ptr(pages);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_SET_LABEL, &set), -E2BIG);
	set.label = gt_ptr("");
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_SET_LABEL, &set), 0);
	set.label = 0;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_SET_LABEL, &set), 0);
	munmap(pages, GT_PAGE);
	gt_bo_free(&bo);
}

/* Every other one first: as many gaps as there can be between those that are left. */
static void any_order(void)
{
	enum { COUNT = 200 };
	struct gt_bo bo[COUNT];
	unsigned int i, round;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < COUNT; i++) {
			bo[i] = gt_bo(fd, GT_PAGE, DRM_TESSERA_BO_CACHED);
			ktap_eq(*(volatile uint32_t *)bo[i].map, 0);
			*(volatile uint32_t *)bo[i].map = i + 1;
		}
		for (i = 0; i < COUNT; i += 2)
			gt_bo_free(&bo[i]);
		for (i = 1; i < COUNT; i += 2)
			ktap_eq(*(volatile uint32_t *)bo[i].map, i + 1);
		for (i = 1; i < COUNT; i += 2)
			gt_bo_free(&bo[i]);
	}
}

/* A handle of a file means nothing in another. */
static void handles_are_per_file(void)
{
	struct gt_bo bo = gt_bo(fd, GT_PAGE, 0);
	int other = gt_open();
	struct drm_tessera_bo_info info = { .handle = bo.handle };

	ktap_eq(gt_ioctl(other, DRM_IOCTL_TESSERA_BO_INFO, &info), -ENOENT);
	ktap_eq(gt_gem_close(other, bo.handle), -EINVAL);
	close(other);
	gt_bo_free(&bo);
}

int main(int argc, char **argv)
{
	const uint32_t wc = 0, wb = DRM_TESSERA_BO_CACHED, local = DRM_TESSERA_BO_LOCAL;

	gt_start(argc, argv);
	fd = gt_open();
	create_bad();
	handle_bad();
	label_bad();
	ktap_run("BO_CREATE rounds up, BO_INFO tells", create_values);
	ktap_run("BO_INFO of a BO private to a VM", info_private);
	ktap_run_arg("write-combined memory reads as zero", memory_is_zero, &wc);
	ktap_run_arg("write-back memory reads as zero", memory_is_zero, &wb);
	ktap_run_arg("[MEM1] local memory reads as zero", memory_is_zero, &local);
	ktap_run("[MEM1] LOCAL_ONLY ends with ENOSPC and gives everything back", local_limits);
	ktap_run("BO_MMAP_OFFSET of a NO_MMAP BO fails with EPERM", no_mmap);
	ktap_run("mmap: whose file, which range", mmap_rules);
	ktap_run("mmap: shared, inherited, outlives the file", mmap_shares);
	ktap_run("mmap: of local memory", mmap_local);
	ktap_run("BO_SET_LABEL: length and unreadable tails", label_lengths);
	ktap_run("BOs are given back in any order", any_order);
	ktap_run("[SYS4] handles are per file", handles_are_per_file);
	close(fd);
	return gt_finish();
}
