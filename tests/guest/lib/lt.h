/* SPDX-License-Identifier: MIT */
/*
 * Common code of libtessera tests in the guest: a context with one of each object, and checks that
 * print the library's message. Header only. lt_open() ends the program if an object is missing.
 */
#ifndef LT_H
#define LT_H

#include <stdlib.h>

#include "ktap.h"
#include <tessera/tessera.h>
#include <tessera/cmd.h>

#define LT_RW		(DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE)
#define LT_RX		(DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC)
#define LT_SECONDS(n)	tsr_deadline((n) * 1000000000ull)
#define LT_LONG		LT_SECONDS(20)	/* above the job timeout: a hang shows as -ETIMEDOUT */

/* LT_OK(): a call has to return 0; else its message is shown. */
#define LT_OK(call) lt_ok_at(__FILE__, __LINE__, #call, (call))

static inline bool lt_ok_at(const char *file, int line, const char *what, int ret)
{
	if (ret >= 0)
		return true;
	return ktap_fail_at(file, line, "%s: %d: %s", what, ret, tsr_error_message());
}

struct lt {
	struct tsr_device *device;
	struct tsr_vm *vm;
	struct tsr_pool *data;		/* CPU-cached, read and write */
	struct tsr_pool *code;		/* for streams */
	struct tsr_queue *queue;	/* COPY */
	struct tsr_stream *stream;
	struct tsr_sync *sync;		/* binary, for lt_run() */
};

static inline void lt_must(const char *what, int ret)
{
	if (ret >= 0)
		return;
	printf("Bail out! %s: %s\n", what, tsr_error_message());
	exit(EXIT_FAILURE);
}

static inline struct tsr_queue *lt_queue(struct lt *t)
{
	struct tsr_queue *queue;

	lt_must("queue", tsr_queue_create(t->vm, DRM_TESSERA_ENGINE_COPY,
					  DRM_TESSERA_PRIORITY_NORMAL, 0, &queue));
	return queue;
}

static inline struct lt lt_open(void)
{
	struct lt t;

	lt_must("device", tsr_device_open(NULL, &t.device));
	lt_must("VM", tsr_vm_create(t.device, &t.vm));
	lt_must("pool", tsr_pool_create(t.vm, 0, DRM_TESSERA_BO_CACHED, LT_RW, &t.data));
	lt_must("pool", tsr_pool_create(t.vm, 0, 0, LT_RX, &t.code));
	t.queue = lt_queue(&t);
	lt_must("stream", tsr_stream_create(t.code, 0, &t.stream));
	lt_must("sync", tsr_sync_create(t.device, 0, &t.sync));
	return t;
}

static inline void lt_close(struct lt *t)
{
	tsr_stream_destroy(t->stream);
	tsr_sync_unref(t->sync);
	tsr_queue_unref(t->queue);
	tsr_pool_unref(t->data);
	tsr_pool_unref(t->code);
	tsr_vm_unref(t->vm);
	tsr_device_unref(t->device);
}

/* lt_data(): memory for the GPU and the CPU, filled with @byte. */
static inline struct tsr_alloc lt_data(struct lt *t, uint64_t size, int byte)
{
	struct tsr_alloc alloc;

	lt_must("allocation", tsr_pool_alloc(t->data, size, 256, &alloc));
	memset(alloc.cpu, byte, size);
	return alloc;
}

/* lt_run(): submit the stream, wait, empty it; what the job's fence says. */
static inline int lt_run(struct lt *t)
{
	int ret = tsr_queue_run(t->queue, t->stream, t->sync, 0);

	if (!ret)
		ret = tsr_sync_finish(t->sync, 0, LT_LONG);
	tsr_stream_reset(t->stream);
	return ret;
}

#endif /* LT_H */
