// SPDX-License-Identifier: MIT
/* The GPU side that both processes share. */
#include "gpu.h"

#define FIRST_IMAGE 4096u		/* the images begin after the page of words */

int gpu_open(struct gpu *gpu, const char *path)
{
	int ret;

	ret = tsr_device_open(path, &gpu->device);
	if (!ret)
		ret = tsr_vm_create(gpu->device, &gpu->vm);
	if (!ret)
		ret = tsr_pool_create(gpu->vm, 0, 0, DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC,
				      &gpu->streams);
	return ret;
}

void gpu_close(struct gpu *gpu)
{
	tsr_sync_unref(gpu->timeline);
	tsr_bo_unref(gpu->shared);
	tsr_pool_unref(gpu->streams);
	tsr_vm_unref(gpu->vm);
	tsr_device_unref(gpu->device);
}

int gpu_layout(struct gpu *gpu, uint32_t width, uint32_t height, uint32_t texel, uint64_t *size)
{
	int ret;

	ret = tsr_surface_init(&gpu->source, TSR_LAYOUT_TILED, width, height, texel, 0);
	if (ret)
		return ret;
	gpu->result = gpu->source;
	*size = FIRST_IMAGE + 2 * gpu->source.size;
	return 0;
}

int gpu_map_shared(struct gpu *gpu)
{
	int ret;

	ret = tsr_vm_map(gpu->vm, gpu->shared, 0, 0, DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE,
			 &gpu->shared_va);
	if (ret)
		return ret;
	gpu->source.va = gpu->shared_va + FIRST_IMAGE;
	gpu->result.va = gpu->source.va + gpu->source.size;
	return 0;
}

int work_begin(struct work *work, struct gpu *gpu, enum step step)
{
	int ret;

	work->step = step;
	ret = tsr_queue_create(gpu->vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL, 0,
			       &work->queue);
	if (!ret)
		ret = tsr_stream_create(gpu->streams, 0, &work->stream);
	return ret;
}

static uint64_t time_va(const struct work *work, const struct gpu *gpu, unsigned int which)
{
	return gpu->shared_va + WORD_TIMES + (2 * work->step + which) * 8;
}

int work_start(struct work *work, const struct gpu *gpu)
{
	return tsr_cmd_timestamp(work->stream, time_va(work, gpu, 0), TSR_EVENT_REACHED);
}

int work_stop(struct work *work, const struct gpu *gpu)
{
	return tsr_cmd_timestamp(work->stream, time_va(work, gpu, 1), TSR_EVENT_WRITES_DONE);
}

int work_submit(struct work *work, struct gpu *gpu, uint64_t wait, uint64_t signal)
{
	struct tsr_submit *submit;
	int job, ret;

	ret = tsr_submit_create(gpu->device, &submit);
	if (ret)
		return ret;
	job = tsr_submit_stream(submit, work->queue, work->stream);
	ret = job < 0 ? job : tsr_submit_signal(submit, job, gpu->timeline, signal);
	if (!ret && wait)
		ret = tsr_submit_wait(submit, job, gpu->timeline, wait);
	if (!ret)
		ret = tsr_submit_flush(submit);
	tsr_submit_destroy(submit);
	return ret;
}

void work_free(struct work *work)
{
	tsr_queue_unref(work->queue);
	tsr_stream_destroy(work->stream);
}
