// SPDX-License-Identifier: MIT
/* Shared code of the demos: objects of the GPU, programs, buffers, runs, comparison. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define PATIENCE_NS (60ull * 1000000000)

int demo_fail(struct demo *demo, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(demo->error, sizeof(demo->error), format, arguments);
	va_end(arguments);
	return -1;
}

/* Keep the library's message, if there is one to keep. */
static int library(struct demo *demo, int ret)
{
	return ret < 0 ? demo_fail(demo, "%s", tsr_error_message()) : 0;
}

int demo_open(struct demo *demo, const char *path)
{
	const uint32_t rw = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE;
	const uint32_t rx = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC;
	int ret;

	ret = tsr_device_open(path, &demo->device);
	if (!ret)
		ret = tsr_vm_create(demo->device, &demo->vm);
	if (!ret)
		ret = tsr_pool_create(demo->vm, 0, 0, rx, &demo->code);
	if (!ret)
		ret = tsr_pool_create(demo->vm, 0, DRM_TESSERA_BO_CACHED, rw, &demo->data);
	if (!ret)
		ret = tsr_queue_create(demo->vm, DRM_TESSERA_ENGINE_COMPUTE,
				       DRM_TESSERA_PRIORITY_NORMAL, 0, &demo->queue);
	if (!ret)
		ret = tsr_stream_create(demo->code, 0, &demo->stream);
	if (!ret)
		ret = tsr_sync_create(demo->device, 0, &demo->done);
	if (!ret)
		ret = tsr_pool_alloc(demo->data, 16, 8, &demo->times);
	return library(demo, ret);
}

void demo_close(struct demo *demo)
{
	while (demo->program_count)
		tsr_shader_unref(demo->programs[--demo->program_count]);
	while (demo->buffer_count)
		tsr_pool_free(demo->data, &demo->buffers[--demo->buffer_count]);
	tsr_stream_destroy(demo->stream);
	tsr_sync_unref(demo->done);
	tsr_queue_unref(demo->queue);
	tsr_pool_unref(demo->data);
	tsr_pool_unref(demo->code);
	tsr_vm_unref(demo->vm);
	tsr_device_unref(demo->device);
}

int demo_program(struct demo *demo, const char *name, const char *start, const char *end,
		 struct tsr_shader **program)
{
	int ret;

	if (demo->program_count == DEMO_PROGRAMS)
		return demo_fail(demo, "%s: more than %d programs", name, DEMO_PROGRAMS);
	ret = tsr_shader_assemble(demo->code, start, (size_t)(end - start), name, program);
	if (!ret)
		demo->programs[demo->program_count++] = *program;
	return library(demo, ret);
}

int demo_buffer(struct demo *demo, uint64_t size, struct tsr_alloc *buffer)
{
	int ret;

	if (demo->buffer_count == DEMO_BUFFERS)
		return demo_fail(demo, "more than %d buffers", DEMO_BUFFERS);
	ret = tsr_pool_alloc(demo->data, size, 64, buffer);
	if (!ret) {
		demo->buffers[demo->buffer_count++] = *buffer;
		memset(buffer->cpu, 0, size);
	}
	return library(demo, ret);
}

struct tsr_storage demo_storage(const struct tsr_alloc *buffer, uint32_t access, uint32_t push_word)
{
	return (struct tsr_storage){ buffer->va, buffer->size, access, push_word };
}

int demo_begin(struct demo *demo)
{
	tsr_stream_reset(demo->stream);
	return library(demo, tsr_cmd_timestamp(demo->stream, demo->times.va, TSR_EVENT_REACHED));
}

/* Which line of which program, and which thread it was, as far as the kernel knows. */
static int explain(struct demo *demo, int error)
{
	struct drm_tessera_queue_get_state state;
	uint32_t line = 0;
	unsigned int i;

	if (tsr_queue_get_state(demo->queue, &state, sizeof(state)) ||
	    !(state.fault_flags & DRM_TESSERA_QUEUE_FAULT_PROGRAM))
		return demo_fail(demo, "%s", tsr_error_string(error));
	for (i = 0; i < demo->program_count && !line; i++)
		line = tsr_shader_line(demo->programs[i], state.fault_clause_va,
					state.fault_tuple);
	return demo_fail(demo, "%s: fault 0x%x at 0x%llx, line %u of program %u, lane %u of warp "
			 "%u of group %u,%u,%u", tsr_error_string(error), state.fault_code,
			 (unsigned long long)state.fault_va, line, i, state.fault_lane,
			 state.fault_warp, state.fault_group[0], state.fault_group[1],
			 state.fault_group[2]);
}

int demo_run(struct demo *demo)
{
	const volatile uint64_t *times = demo->times.cpu;
	uint64_t hz = tsr_device_info(demo->device)->timestamp_hz;
	int ret;

	tsr_cmd_timestamp(demo->stream, demo->times.va + 8, TSR_EVENT_ALL_DONE);
	ret = library(demo, tsr_queue_run(demo->queue, demo->stream, demo->done, 0));
	if (ret)
		return ret;
	ret = tsr_sync_finish(demo->done, 0, tsr_deadline(PATIENCE_NS));
	if (ret)
		return explain(demo, ret);
	demo->microseconds += (times[1] - times[0]) * 1000 / (hz / 1000);
	return 0;
}

int demo_compare(struct demo *demo, const char *what, const uint32_t *got, const uint32_t *want,
		 size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (got[i] != want[i])
			return demo_fail(demo, "not bit-equal: %s %zu is 0x%08x, the CPU has "
					 "0x%08x", what, i, got[i], want[i]);
	}
	return 0;
}

int demo_read_picture(struct demo *demo, struct picture *picture)
{
	size_t i, samples;

	if (picture_read(picture, demo->input, 4, demo->error))
		return -1;
	if (picture->texel == 8) {
		/* the high byte of each sample comes first */
		samples = (size_t)picture->width * picture->height * 4;
		for (i = 0; i < samples; i++)
			picture->texels[i] = picture->texels[2 * i];
		picture->texel = 4;
		picture->pitch = (size_t)picture->width * 4;
	}
	return 0;
}

int demo_write_picture(struct demo *demo, const struct picture *picture)
{
	struct picture_file file;

	if (picture_create(&file, demo->output, demo->error))
		return -1;
	return picture_commit(&file, picture, demo->error);
}
