// SPDX-License-Identifier: MIT
/* The program of Documentation/guide/libtessera.md: fill an image on the GPU, look at a pixel. */
#include <stdio.h>

#include <tessera/tessera.h>
#include <tessera/cmd.h>

#define CHECK(call) \
	do { \
		if ((call) < 0) { \
			fprintf(stderr, "%s: %s\n", #call, tsr_error_message()); \
			return 1; \
		} \
	} while (0)

int main(void)
{
	const unsigned int access = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE;
	const struct tsr_rect all = { 0, 0, 100, 60 };
	struct tsr_surface tiled, linear;
	struct tsr_device *device;
	struct tsr_bo *tiled_bo, *linear_bo;
	struct tsr_vm *vm;
	struct tsr_pool *pool;
	struct tsr_queue *queue;
	struct tsr_stream *stream;
	struct tsr_sync *done;
	void *pixels;

	CHECK(tsr_device_open(NULL, &device));
	CHECK(tsr_vm_create(device, &vm));
	CHECK(tsr_queue_create(vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL, 0,
			       &queue));
	CHECK(tsr_sync_create(device, 0, &done));

	/* two images of 100 x 60 texels of 4 bytes; the CPU reads the linear one */
	CHECK(tsr_surface_init(&tiled, TSR_LAYOUT_TILED, 100, 60, 4, 0));
	CHECK(tsr_surface_init(&linear, TSR_LAYOUT_LINEAR, 100, 60, 4, 0));
	CHECK(tsr_bo_create(device, tiled.size, 0, NULL, &tiled_bo));
	CHECK(tsr_bo_create(device, linear.size, DRM_TESSERA_BO_CACHED, NULL,
			    &linear_bo));
	CHECK(tsr_vm_map(vm, tiled_bo, 0, 0, access, &tiled.va));
	CHECK(tsr_vm_map(vm, linear_bo, 0, 0, access, &linear.va));

	/* a stream, in memory that the GPU may fetch from; errors stick until it is submitted */
	CHECK(tsr_pool_create(vm, 0, 0, DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC, &pool));
	CHECK(tsr_stream_create(pool, 0, &stream));
	tsr_cmd_fill_image(stream, &tiled, &all, "\x11\x22\x33\xff");
	tsr_cmd_barrier(stream, TSR_CMD_WAIT_WRITES);
	tsr_cmd_copy_image(stream, &linear, 0, 0, &tiled, &all, 0);

	CHECK(tsr_queue_run(queue, stream, done, 0));
	CHECK(tsr_sync_finish(done, 0, tsr_deadline(5000000000)));

	CHECK(tsr_bo_map(linear_bo, &pixels));
	pixels = (char *)pixels + tsr_surface_offset(&linear, 99, 59);
	printf("%08x\n", *(unsigned int *)pixels);

	tsr_stream_destroy(stream);
	tsr_pool_unref(pool);
	tsr_bo_unref(tiled_bo);
	tsr_bo_unref(linear_bo);
	tsr_sync_unref(done);
	tsr_queue_unref(queue);
	tsr_vm_unref(vm);
	tsr_device_unref(device);
	return 0;
}
