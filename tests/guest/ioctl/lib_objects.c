// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 DEVICE_ARGS=vram=64M,copy-engines=2 */
/* libtessera in the guest: devices, buffer objects, address spaces, the sub-allocator. */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lt.h"

static struct lt t;

static void test_devices(void)
{
	struct tsr_device *first, *again;
	struct tsr_node nodes[4];
	char message[200];
	int count, fd;

	count = tsr_device_list(NULL, 0);
	ktap_ok(count >= 1);
	ktap_eq(tsr_device_list(nodes, 4), count);
	ktap_ok(!strncmp(nodes[0].render, "/dev/dri/renderD", 16));
	ktap_ok(!strncmp(nodes[0].primary, "/dev/dri/card", 13));
	KTAP_REQUIRE(LT_OK(tsr_device_open(nodes[0].render, &first)));
	ktap_ok(!strcmp(tsr_device_path(first), nodes[0].render));
	fd = open(nodes[0].primary, O_RDWR | O_CLOEXEC);
	KTAP_REQUIRE(LT_OK(tsr_device_open_fd(fd, &again)));
	close(fd);
	ktap_eq(tsr_device_info(again)->hw_version, tsr_device_info(first)->hw_version);
	ktap_ok(!*tsr_device_path(again));
	tsr_device_unref(again);
	tsr_device_unref(first);

	ktap_eq(tsr_device_open("/dev/dri/none", &first), -ENOENT);
	ktap_eq(tsr_device_open("/dev/null", &first), -ENODEV);
	snprintf(message, sizeof(message), "%s", tsr_error_message());
	ktap_ok(strstr(message, "/dev/null"));
	ktap_eq(tsr_device_open_fd(-1, &first), -EBADF);
}

static void test_no_permission(void)
{
	struct tsr_device *device;
	struct tsr_node node;
	int status = 0;
	pid_t child;

	KTAP_REQUIRE(tsr_device_list(&node, 1) >= 1);
	child = fork();
	if (!child) {
		/* nobody; the nodes of this guest belong to root alone */
		if (chmod(node.render, 0600) || setuid(65534))
			_exit(99);
		_exit(-tsr_device_open(NULL, &device));
	}
	waitpid(child, &status, 0);
	ktap_ok(WIFEXITED(status));
	ktap_eq(WEXITSTATUS(status), EACCES);
}

static void test_queries(void)
{
	const struct drm_tessera_gpu_info *info = tsr_device_info(t.device);
	const struct drm_tessera_engine_info *copy;
	struct drm_tessera_engine_info *engines;
	struct drm_tessera_counter_info *counters;
	struct drm_tessera_get_timestamp a, b;
	struct drm_tessera_gpu_state state;
	unsigned int count, i;
	uint64_t longer[16];

	ktap_eq(info->hw_version >> 16, TSR_VERSION_MAJOR);
	ktap_eq(info->page_sizes & 0xfff, 0);
	ktap_ok(info->page_sizes & 0x1000);
	ktap_ok(info->va_start < info->va_end);
	ktap_eq(info->local_size, 64 << 20);
	KTAP_REQUIRE(LT_OK(tsr_device_get_engines(t.device, &engines, sizeof(*engines), &count)));
	ktap_eq(count, info->engine_count);
	copy = tsr_device_engine(t.device, DRM_TESSERA_ENGINE_COPY);
	KTAP_REQUIRE(copy);
	for (i = 0; i < count && memcmp(&engines[i], copy, sizeof(*copy)); i++)
		;
	ktap_ok(i < count);
	free(engines);
	/* an older or a newer caller's elements are shorter or longer */
	KTAP_REQUIRE(LT_OK(tsr_device_get_engines(t.device, &engines, 64, &i)));
	ktap_eq(i, count);
	for (i = 0; i < count; i++) {
		const uint64_t *element = (const uint64_t *)engines + 8 * (size_t)i;

		ktap_eq((uint32_t)*element != DRM_TESSERA_ENGINE_COPY ||
			!memcmp(element, copy, sizeof(*copy)), true);
		ktap_eq(element[3] | element[4] | element[5] | element[6] | element[7], 0);
	}
	free(engines);
	ktap_eq(tsr_device_get_engines(t.device, &engines, 12, &i), -EINVAL);
	/* what is read beyond the structure is zero */
	ktap_eq(((const char *)info)[TSR_INFO_ROOM - 1], 0);
	ktap_ok(copy->instances >= 1 && copy->max_queues >= 1);
	ktap_ok(!tsr_device_engine(t.device, 77));
	KTAP_REQUIRE(LT_OK(tsr_device_get_state(t.device, &state, sizeof(state))));
	ktap_eq(state.flags, 0);
	/* a caller with a longer structure gets zeros behind what is known */
	memset(longer, 0xff, sizeof(longer));
	ktap_ok(LT_OK(tsr_device_get_state(t.device, (void *)longer, sizeof(longer))));
	for (i = sizeof(state) / 8; i < 16; i++)
		ktap_eq(longer[i], 0);
	ktap_ok(LT_OK(tsr_device_get_counters(t.device, &counters, sizeof(*counters), &count)));
	free(counters);
	KTAP_REQUIRE(LT_OK(tsr_device_get_timestamp(t.device, CLOCK_MONOTONIC, &a, sizeof(a))));
	KTAP_REQUIRE(LT_OK(tsr_device_get_timestamp(t.device, CLOCK_MONOTONIC, &b, sizeof(b))));
	ktap_ok(b.gpu_ticks >= a.gpu_ticks && b.cpu_ns >= a.cpu_ns);
	ktap_eq(tsr_device_get_timestamp(t.device, 99, &a, sizeof(a)), -EINVAL);
}

static void test_bos(void)
{
	struct drm_tessera_bo_info info;
	char label[300];
	struct tsr_bo *bo, *hidden;
	uint8_t *a, *b;
	void *map;

	KTAP_REQUIRE(LT_OK(tsr_bo_create(t.device, 5000, DRM_TESSERA_BO_CACHED, NULL, &bo)));
	ktap_eq(tsr_bo_size(bo), 8192);
	KTAP_REQUIRE(LT_OK(tsr_bo_map(bo, &map)));
	a = map;
	KTAP_REQUIRE(LT_OK(tsr_bo_map(bo, &map)));
	b = map;
	ktap_ok(a == b);
	ktap_eq(a[0] | a[8191], 0);
	a[8191] = 7;
	ktap_ok(LT_OK(tsr_bo_get_info(bo, &info, sizeof(info))));
	ktap_eq(info.size, 8192);
	ktap_eq(info.create_flags, DRM_TESSERA_BO_CACHED);
	memset(label, 'x', sizeof(label));
	label[299] = '\0';
	ktap_eq(tsr_bo_set_label(bo, label), -E2BIG);
	label[255] = '\0';
	ktap_ok(LT_OK(tsr_bo_set_label(bo, label)));
	ktap_ok(LT_OK(tsr_bo_set_label(bo, NULL)));
	tsr_bo_unref(bo);
	KTAP_REQUIRE(LT_OK(tsr_bo_create(t.device, 1, DRM_TESSERA_BO_NO_MMAP, NULL, &hidden)));
	ktap_eq(tsr_bo_map(hidden, &map), -EPERM);
	tsr_bo_unref(hidden);
	ktap_eq(tsr_bo_create(t.device, 0, 0, NULL, &bo), -EINVAL);
	ktap_eq(tsr_bo_create(t.device, 1, 1u << 30, NULL, &bo), -EINVAL);
	ktap_eq(tsr_bo_create(t.device, UINT64_MAX, 0, NULL, &bo), -EINVAL);
	ktap_eq(tsr_bo_create(t.device, 65 << 20, DRM_TESSERA_BO_LOCAL, NULL, &bo), -ENOSPC);
}

/* Sharing: the same object in one device, the same memory in two, and what must not be shared. */
static void test_sharing(void)
{
	struct tsr_bo *bo, *same, *other, *private;
	struct tsr_device *second;
	void *mine, *theirs;
	int fd;

	KTAP_REQUIRE(LT_OK(tsr_bo_create(t.device, 4096, 0, NULL, &bo)));
	KTAP_REQUIRE(LT_OK(tsr_bo_export(bo, &fd)));
	KTAP_REQUIRE(LT_OK(tsr_bo_import(t.device, fd, &same)));
	ktap_ok(same == bo);
	tsr_bo_unref(same);
	KTAP_REQUIRE(LT_OK(tsr_device_open(NULL, &second)));
	KTAP_REQUIRE(LT_OK(tsr_bo_import(second, fd, &other)));
	close(fd);
	ktap_ok(other != bo);
	KTAP_REQUIRE(LT_OK(tsr_bo_map(bo, &mine)));
	KTAP_REQUIRE(LT_OK(tsr_bo_map(other, &theirs)));
	ktap_ok(LT_OK(tsr_bo_begin_cpu(other, true)));
	strcpy(mine, "written here");
	ktap_ok(!strcmp(theirs, "written here"));
	ktap_ok(LT_OK(tsr_bo_end_cpu(other, true)));
	/* the importer's reference is enough */
	tsr_bo_unref(bo);
	ktap_ok(!strcmp(theirs, "written here"));
	tsr_bo_unref(other);
	tsr_device_unref(second);
	KTAP_REQUIRE(LT_OK(tsr_bo_create(t.device, 4096, 0, t.vm, &private)));
	ktap_eq(tsr_bo_export(private, &fd), -EPERM);
	tsr_bo_unref(private);
	ktap_ok(tsr_bo_import(t.device, STDIN_FILENO, &other) < 0);
	ktap_eq(tsr_bo_import(t.device, -1, &other), -EBADF);
}

/* The GPU writes through a mapping of part of a BO, in both kinds of memory. */
static void test_mapping(void)
{
	static const uint32_t kinds[] = { 0, DRM_TESSERA_BO_CACHED, DRM_TESSERA_BO_LOCAL };
	struct tsr_bo *bo;
	uint64_t va;
	uint32_t *words;
	unsigned int i;
	void *map;

	for (i = 0; i < 3; i++) {
		KTAP_REQUIRE(LT_OK(tsr_bo_create(t.device, 3 << 20, kinds[i], NULL, &bo)));
		KTAP_REQUIRE(LT_OK(tsr_vm_map(t.vm, bo, 4096, 0x200000, LT_RW, &va)));
		ktap_eq(va % 0x200000, 0);
		tsr_cmd_fill(t.stream, va + 0x1ffffc, 4, "\1\2\3\4", 4);
		ktap_ok(LT_OK(lt_run(&t)));
		KTAP_REQUIRE(LT_OK(tsr_bo_map(bo, &map)));
		words = map;
		ktap_eq(words[(4096 + 0x1ffffc) / 4], 0x04030201);
		ktap_eq(words[(4096 + 0x200000) / 4], 0);
		ktap_eq(words[(4096 + 0x1ffff8) / 4], 0);
		ktap_ok(LT_OK(tsr_vm_unmap(t.vm, va, 0x200000)));
		tsr_bo_unref(bo);
	}
}

/* Many pieces of one pool, written by the GPU, each only within its bounds. */
static void test_pool(void)
{
	struct tsr_alloc pieces[200];
	uint8_t pattern, *bytes;
	uint64_t i, j;

	for (i = 0; i < 200; i++)
		pieces[i] = lt_data(&t, 1 + i * 7, 0);
	for (i = 0; i < 200; i++) {
		pattern = (uint8_t)(i + 1);
		tsr_cmd_fill(t.stream, pieces[i].va, pieces[i].size, &pattern, 1);
	}
	ktap_ok(LT_OK(lt_run(&t)));
	for (i = 0; i < 200; i++) {
		bytes = pieces[i].cpu;
		for (j = 0; j < pieces[i].size && !ktap.bad; j++)
			ktap_eq(bytes[j], (uint8_t)(i + 1));
		ktap_ok(LT_OK(tsr_pool_free(t.data, &pieces[i])));
	}
}

/* More objects than one would have: nothing leaks, and limits come as errors. */
static void test_limits(void)
{
	struct drm_tessera_queue_get_state state;
	struct tsr_queue *queues[80];
	unsigned int count = 0, i;
	int ret = 0;

	while (count < 80) {
		ret = tsr_queue_create(t.vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL,
				       0, &queues[count]);
		if (ret)
			break;
		/* Its id is what makes the kernel's queue; without, it takes no slot. */
		if (!tsr_queue_id(queues[count++]))
			break;
	}
	ktap_eq(ret, 0);
	ktap_ok(count > 1 && count < 64);
	tsr_cmd_nop(t.stream, 1);
	ktap_eq(tsr_queue_run(queues[count - 1], t.stream, t.sync, 0), -ENOSPC);
	ktap_ok(strstr(tsr_error_message(), "share"));
	tsr_queue_unref(queues[0]);
	/* The refused queue gets the slot as soon as it is free. */
	ktap_ok(LT_OK(tsr_queue_run(queues[count - 1], t.stream, t.sync, 0)));
	ktap_ok(LT_OK(tsr_sync_finish(t.sync, 0, tsr_deadline(5000000000ull))));
	for (i = count; i < 80; i++)
		ktap_ok(LT_OK(tsr_queue_create(t.vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queues[i])));
	ktap_eq(tsr_queue_get_state(queues[79], &state, sizeof(state)), 0);
	ktap_eq(state.queue_id, 0);
	ktap_eq(state.jobs_completed, 0);
	for (i = 1; i < 80; i++)
		tsr_queue_unref(queues[i]);
	ktap_eq(tsr_queue_create(t.vm, 9, 1, 0, &queues[0]), -EINVAL);
	ktap_eq(tsr_queue_create(t.vm, DRM_TESSERA_ENGINE_COPY, 1, 5000, &queues[0]), -EINVAL);
	KTAP_REQUIRE(LT_OK(tsr_queue_create(t.vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queues[0])));
	tsr_queue_unref(queues[0]);
}

int main(int argc, char **argv)
{
	t = lt_open();
	gt_start(argc, argv);
	ktap_run("[SYS3] libtessera finds and opens devices, and says why not", test_devices);
	ktap_run("[SYS3] libtessera without permission", test_no_permission);
	ktap_run("[SYS1] queries through libtessera", test_queries);
	ktap_run("[MEM1] buffer objects: maps, labels, limits", test_bos);
	ktap_run("[SYS4] buffer objects shared by file descriptor", test_sharing);
	ktap_run("[MEM2] mapping parts of system and local memory", test_mapping);
	ktap_run("[SYS5] sub-allocations that the GPU fills", test_pool);
	ktap_run("[SYS5] queues up to the hardware's limit", test_limits);
	lt_close(&t);
	return gt_finish();
}
