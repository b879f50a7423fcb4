// SPDX-License-Identifier: MIT
/*
 * Every allocation of the library fails once. A life of all objects is run again and again, each
 * time with a later allocation failing: what fails says -ENOMEM, the rest can be dropped as usual,
 * and nothing is left in the kernel or (AddressSanitizer) in memory.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail_alloc.h"
#include "fake_drm.h"
#include "ktap.h"
#include <tessera/compute.h>

#define RW (DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE)
#define PIECES 24

struct life {
	struct tsr_device *device;
	struct tsr_vm *vm;
	struct tsr_pool *pool;
	struct tsr_queue *queue;
	struct tsr_sync *line;
	struct tsr_stream *stream;
	struct tsr_submit *list;
	struct tsr_bo *bo;
	struct tsr_alloc pieces[PIECES];
	struct tsr_pool *code;
	struct tsr_shader *program;
	struct tsr_scratch *scratch;
};

static int create(struct life *l)
{
	int ret;

	ret = tsr_device_open_fd(fake.fd, &l->device);
	if (!ret)
		ret = tsr_vm_create(l->device, &l->vm);
	if (!ret)
		ret = tsr_queue_create(l->vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &l->queue);
	if (!ret)
		ret = tsr_sync_create(l->device, TSR_SYNC_TIMELINE, &l->line);
	if (!ret)
		ret = tsr_bo_create(l->device, 4096, 0, NULL, &l->bo);
	if (!ret)
		ret = tsr_pool_create(l->vm, 8192, 0, RW, &l->pool);
	if (!ret)
		ret = tsr_stream_create(l->pool, 128, &l->stream);
	return ret ? ret : tsr_submit_create(l->device, &l->list);
}

/* Pieces with holes between them, so that the allocators need records of their own. */
static int fragment(struct life *l)
{
	unsigned int i;
	uint64_t va[6];
	int ret = 0;

	for (i = 0; !ret && i < PIECES; i++)
		ret = tsr_pool_alloc(l->pool, 700, 0, &l->pieces[i]);
	for (i = 0; !ret && i < PIECES; i += 2)
		ret = tsr_pool_free(l->pool, &l->pieces[i]);
	for (i = 0; !ret && i < 6; i++)
		ret = tsr_vm_alloc(l->vm, 0x1000, 0x4000, &va[i]);
	for (i = 0; !ret && i < 6; i += 2)
		ret = tsr_vm_free(l->vm, va[i], 0x1000);
	return ret;
}

static int submit(struct life *l)
{
	const struct tsr_bind bind = { DRM_TESSERA_BIND_MAP, RW, l->bo, 0x40000000, 4096, 0 };
	struct tsr_point points[3] = { { l->line, 1 }, { l->line, 2 }, { l->line, 3 } };
	unsigned int i;
	int ret;

	ret = tsr_vm_bind_async(l->vm, &bind, 1, points, 2, points + 2, 1);
	for (i = 0; !ret && i < 40; i++)
		ret = tsr_cmd_fence(l->stream, 0x1000, TSR_EVENT_REACHED, i);
	for (i = 0; !ret && i < 9; i++) {
		ret = tsr_submit_stream(l->list, l->queue, l->stream);
		if (ret < 0)
			return ret;
		ktap_eq(ret, i);
		ret = tsr_submit_wait(l->list, (int)i, l->line, 1);
		if (!ret)
			ret = tsr_submit_signal(l->list, (int)i, l->line, i + 5);
	}
	for (i = 0; !ret && i < 5; i++)
		ret = tsr_submit_wait(l->list, 8, l->line, 10 + i);
	return ret ? ret : tsr_submit_flush(l->list);
}

/* A program from text, with scratch, dispatched; a counted buffer. */
static int compute(struct life *l)
{
	static const char text[] = ".scratch 16\nclause end { *NOP\n }\n";
	struct tsr_storage storage[2];
	struct tsr_dispatch_info d = { .groups = { 1 }, .storage = storage, .storage_count = 2 };
	struct tsr_counted counted;
	int ret;

	ret = tsr_pool_create(l->vm, 0, 0, RW | DRM_TESSERA_BIND_EXEC, &l->code);
	/* 64 + 4 * 96 bytes leave no hole in front of the program, so the pool needs no record */
	if (!ret)
		ret = tsr_counted_create(l->code, 4, 96, &counted);
	if (!ret)
		ret = tsr_shader_assemble(l->code, text, sizeof(text) - 1, "text", &l->program);
	if (!ret)
		ret = tsr_scratch_create(l->vm, 16, &l->scratch);
	if (ret)
		return ret;
	tsr_counted_storage(&counted, 0, storage);
	d.shader = l->program;
	d.scratch = l->scratch;
	tsr_stream_reset(l->stream);
	ret = tsr_cmd_dispatch(l->stream, &d, sizeof(d));
	return ret ? ret : tsr_counted_destroy(l->code, &counted);
}

static int unbind(struct life *l)
{
	const struct tsr_bind bind = {.op = DRM_TESSERA_BIND_UNMAP, .va = 0x40000000, .size = 4096};

	return tsr_vm_bind(l->vm, &bind, 1);
}

static int run(struct life *l)
{
	int ret = create(l);

	if (!ret)
		ret = fragment(l);
	if (!ret)
		ret = submit(l);
	if (!ret)
		ret = compute(l);
	return ret ? ret : unbind(l);
}

static void drop(struct life *l)
{
	tsr_submit_destroy(l->list);
	tsr_stream_destroy(l->stream);
	tsr_scratch_unref(l->scratch);
	tsr_shader_unref(l->program);
	tsr_pool_unref(l->code);
	tsr_bo_unref(l->bo);
	tsr_pool_unref(l->pool);
	tsr_sync_unref(l->line);
	tsr_queue_unref(l->queue);
	tsr_vm_unref(l->vm);
	tsr_device_unref(l->device);
}

static void test_each(void)
{
	unsigned int nth, count;
	struct life l;
	int ret;

	for (nth = 1; nth < 2000; nth++) {
		memset(&fake, 0, sizeof(fake));
		memset(&l, 0, sizeof(l));
		fake.shader = (struct drm_tessera_shader_info) {
			.cores = 1, .warp_lanes = 16, .core_warps = 128, .max_group_threads = 1024,
			.max_scratch = 65536, .max_push_words = 256, .max_groups = 65535,
		};
		fake.fd = memfd_create("fake-drm", MFD_CLOEXEC);
		fail_alloc_at(nth);
		ret = run(&l);
		count = fail_alloc_at(0);
		drop(&l);
		ktap_eq(fake.bos_alive | fake.vms_alive | fake.queues_alive, 0);
		close(fake.fd);
		if (count < nth)
			break;
		if (!ktap_eq(ret, -ENOMEM) || !ktap_ok(tsr_error_message()[0])) {
			ktap_note("allocation %u of %u failed", nth, count);
			return;
		}
	}
	ktap_eq(ret, 0);
	ktap_ok(nth > 60);
	ktap_note("%u allocations, each failed once", nth - 1);
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS5] every allocation of the library fails once", test_each);
	return ktap_finish();
}
