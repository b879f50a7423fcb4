// SPDX-License-Identifier: MIT
/* The program of Documentation/guide/libtessera.md: square numbers on the shader cores. */
#include <stdio.h>
#include <string.h>

#include <tessera/tessera.h>
#include <tessera/compute.h>

#define CHECK(call) \
	do { \
		if ((call) < 0) { \
			fprintf(stderr, "%s: %s\n", #call, tsr_error_message()); \
			return 1; \
		} \
	} while (0)

static const char text[] =
	".local 64, 1, 1\n"
	"clause slot=0 wait=0 {\n"
	"	*SHADDXL.u32 r2:t0, u0.w0, r60, shift:2\n"
	"	+SHADDXH.i32 r3:t1, u0.w1, t\n"
	"	+LOAD.i32 t0, t1, @r0\n"
	"}\n"
	"clause slot=0 end {\n"
	"	*IMUL.i32 r0, r0, r0\n"
	"	*NOP\n"
	"	*NOP\n"
	"	+STORE.i32 r2, r3, @r0\n"
	"}\n";

int main(void)
{
	struct tsr_storage numbers = { .access = TSR_SHADER_READ | TSR_SHADER_WRITE,
				       .push_word = 0 };
	struct tsr_dispatch_info run = { .groups = { 2 }, .storage = &numbers, .storage_count = 1 };
	struct tsr_device *device;
	struct tsr_vm *vm;
	struct tsr_pool *code, *data;
	struct tsr_queue *queue;
	struct tsr_stream *stream;
	struct tsr_sync *done;
	struct tsr_alloc memory;
	unsigned int *values, i;

	CHECK(tsr_device_open(NULL, &device));
	CHECK(tsr_vm_create(device, &vm));
	CHECK(tsr_queue_create(vm, DRM_TESSERA_ENGINE_COMPUTE, DRM_TESSERA_PRIORITY_NORMAL, 0,
			       &queue));
	CHECK(tsr_sync_create(device, 0, &done));

	/* code and streams in memory that the GPU may execute, numbers in memory it may write */
	CHECK(tsr_pool_create(vm, 0, 0, DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC, &code));
	CHECK(tsr_pool_create(vm, 0, DRM_TESSERA_BO_CACHED,
			      DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE, &data));
	CHECK(tsr_pool_alloc(data, 128 * sizeof(*values), 0, &memory));
	values = memory.cpu;
	for (i = 0; i < 128; i++)
		values[i] = i;

	/* two groups of 64 threads; push constants 0 and 1 are the address of the numbers */
	CHECK(tsr_shader_assemble(code, text, strlen(text), "square", &run.shader));
	CHECK(tsr_stream_create(code, 0, &stream));
	numbers.va = memory.va;
	numbers.size = memory.size;
	CHECK(tsr_cmd_dispatch(stream, &run, sizeof(run)));

	CHECK(tsr_queue_run(queue, stream, done, 0));
	CHECK(tsr_sync_finish(done, 0, tsr_deadline(5000000000)));
	printf("%u %u %u ... %u\n", values[1], values[2], values[3], values[127]);

	tsr_stream_destroy(stream);
	tsr_shader_unref(run.shader);
	tsr_pool_unref(code);
	tsr_pool_unref(data);
	tsr_sync_unref(done);
	tsr_queue_unref(queue);
	tsr_vm_unref(vm);
	tsr_device_unref(device);
	return 0;
}
