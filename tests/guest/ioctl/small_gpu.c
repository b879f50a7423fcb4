// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 DEVICE_ARGS=queues=3,va-bits=39,page-sizes=4k,compute-engines=0 */
/*
 * A smaller GPU than usual: few queues, 39-bit addresses, one page size, a class without engines.
 * The driver takes what it finds.
 */
#include "gt_main.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void info(void)
{
	int fd = gt_open();
	struct drm_tessera_gpu_info gpu = gt_gpu_info(fd);
	struct drm_tessera_shader_info shader, none = { 0 };
	struct drm_tessera_dev_query query;

	ktap_eq(gpu.va_end, 1ULL << 39);
	ktap_eq(gpu.page_sizes, GT_PAGE);
	ktap_eq(gpu.local_size, 0);
	ktap_eq(gpu.features, DRM_TESSERA_FEATURE_QUEUE_RESET | DRM_TESSERA_FEATURE_COMPRESSED |
		DRM_TESSERA_FEATURE_GEOMETRY | DRM_TESSERA_FEATURE_TAGGED);
	ktap_eq(gpu.engine_count, 3);
	query = (struct drm_tessera_dev_query){ .type = DRM_TESSERA_QUERY_SHADER_INFO,
						.size = sizeof(shader), .ptr = gt_ptr(&shader) };
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	ktap_ok(!memcmp(&shader, &none, sizeof(none)));
	close(fd);
}

static void three_queues(void)
{
	int fd = gt_open();
	uint32_t vm = gt_vm(fd), queue, i;

	ktap_eq(gt_queue_try(fd, vm, DRM_TESSERA_ENGINE_COMPUTE, DRM_TESSERA_PRIORITY_NORMAL, 0,
			     &queue),
		-EINVAL);
	for (i = 0; i < 3; i++)
		ktap_eq(gt_queue_try(fd, vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL,
				     0, &queue),
			0);
	ktap_eq(gt_queue_try(fd, vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL, 0,
			     &queue),
		-ENOSPC);
	close(fd);
}

static void no_local_memory(void)
{
	int fd = gt_open();
	uint32_t handle;

	ktap_eq(gt_bo_try(fd, GT_PAGE, DRM_TESSERA_BO_LOCAL, 0, &handle), -ENOSPC);
	close(fd);
}

/*
 * A mapping larger than a large page, at both ends of the range, on a device that has only small
 * ones.
 */
static void small_pages(void)
{
	struct gt_ctx c = gt_ctx();
	uint64_t end = gt_gpu_info(c.fd).va_end;
	struct gt_bo bo = gt_bo(c.fd, 2 * GT_HUGE, DRM_TESSERA_BO_CACHED);
	struct drm_tessera_bind_op op = gt_op_map(bo.handle, end, bo.size, 0, GT_RW);
	struct gt_cs cs = gt_stream(&c, 8);
	uint64_t *words = bo.map;
	unsigned int i;

	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), -EINVAL);
	gt_bo_bind(&bo, c.vm, end - bo.size, GT_RW);
	for (i = 0; i < GT_HUGE / 8; i++)
		words[i] = i * 0x9e3779b97f4a7c15;
	GT_EMIT(&cs, copy_linear, .src = end - 2 * GT_HUGE, .dst = end - GT_HUGE, .size = GT_HUGE);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_mem_eq(words + GT_HUGE / 8, words, GT_HUGE);
	gt_bo_free(&bo);
	gt_ctx_free(&c);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("[SYS1] the driver reports a small GPU as it is", info);
	ktap_run("[SYS1] three queue slots, no COMPUTE class", three_queues);
	ktap_run("[MEM1] LOCAL without local memory fails with ENOSPC", no_local_memory);
	ktap_run("[MEM2] 39-bit addresses, 4 KiB pages only", small_pages);
	return gt_finish();
}
