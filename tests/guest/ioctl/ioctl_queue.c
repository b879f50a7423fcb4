// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/*
 * QUEUE_CREATE, QUEUE_DESTROY, QUEUE_GET_STATE: each field bad once, rights, and that slots are not
 * lost.
 */
#include "gt_main.h"

#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include "gt_bad.h"

static int fd;

static struct drm_tessera_engine_info copy_engine(void)
{
	struct drm_tessera_engine_info engines[8] = { 0 };
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_QUERY_ENGINES, .size = sizeof(engines), .ptr = gt_ptr(engines),
		.stride = sizeof(engines[0]),
	};
	unsigned int i;

	if (gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query))
		gt_die("DEV_QUERY ENGINES fails");
	for (i = 0; i < GT_ARRAY_SIZE(engines); i++) {
		if (engines[i].engine_class == DRM_TESSERA_ENGINE_COPY)
			return engines[i];
	}
	gt_die("no COPY engine");
}

/* How many queues can be had right now. */
static unsigned int free_slots(uint32_t vm)
{
	uint32_t queues[TSR_QUEUES_MAX + 1];
	unsigned int n = 0, i;
	int ret = 0;

	/* There are more than this test wants to create; quotas.c does. */
	if (gt_sched_engine())
		return 0;
	while (n <= TSR_QUEUES_MAX &&
	       !(ret = gt_queue_try(fd, vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL, 0,
				    &queues[n])))
		n++;
	ktap_eq(ret, -ENOSPC);
	for (i = 0; i < n; i++)
		ktap_eq(gt_queue_destroy(fd, queues[i]), 0);
	return n;
}

static void create_bad(void)
{
	struct drm_tessera_engine_info engine = copy_engine();
	uint32_t vm = gt_vm(fd);
	struct drm_tessera_queue_create create = {
		.vm_id = vm,
		.engine_class = DRM_TESSERA_ENGINE_COPY,
		.priority = DRM_TESSERA_PRIORITY_NORMAL,
		.ring_size = engine.min_ring_size,
	};
	const struct gt_call call = GT_CALL(fd, QUEUE_CREATE, create);
	const struct gt_bad rows[] = {
		GT_BAD(create.vm_id, 0, ENOENT),
		GT_BAD(create.vm_id, vm + 65536, ENOENT),
		GT_BAD(create.vm_id, UINT32_MAX, ENOENT),
		GT_BAD(create.engine_class, 4, EINVAL),
		GT_BAD(create.engine_class, 256 + DRM_TESSERA_ENGINE_COPY, EINVAL),
		GT_BAD(create.engine_class, UINT32_MAX, EINVAL),
		GT_BAD(create.priority, 3, EINVAL),
		GT_BAD(create.priority, UINT32_MAX, EINVAL),
		GT_BAD(create.ring_size, 1, EINVAL),
		GT_BAD(create.ring_size, engine.min_ring_size / 2, EINVAL),
		GT_BAD(create.ring_size, engine.min_ring_size - 1, EINVAL),
		GT_BAD(create.ring_size, engine.min_ring_size + 8, EINVAL),
		GT_BAD(create.ring_size, engine.min_ring_size * 3, EINVAL),
		GT_BAD(create.ring_size, engine.max_ring_size * 2, EINVAL),
		GT_BAD(create.ring_size, 1u << 31, EINVAL),
		GT_BAD(create.ring_size, UINT32_MAX, EINVAL),
	};
	unsigned int before = free_slots(vm), i;

	ktap_result("[SYS3] QUEUE_CREATE ends with ENOSPC");
	GT_BAD_ROWS(&call, rows);
	gt_bad_bits(&call, "flags", &create.flags, 0);
	create.ring_size = 3;
	for (i = 0; i < 200; i++)
		ktap_eq(gt_call(&call), -EINVAL);
	ktap_eq(free_slots(vm), before);
	ktap_result("a QUEUE_CREATE that fails takes no slot");
	gt_vm_destroy(fd, vm);
}

static void every_ring_size(void)
{
	struct drm_tessera_engine_info engine = copy_engine();
	struct gt_ctx c = gt_ctx();
	volatile uint64_t *word = gt_data(&c, 0);
	uint32_t size, queue;

	for (size = engine.min_ring_size; size && size <= engine.max_ring_size; size *= 2) {
		struct gt_cs cs = gt_stream(&c, 3);

		if (!ktap_eq(gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY, 1, size, &queue), 0))
			break;
		GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0),
			.value = size);
		ktap_eq(gt_run_on(&c, queue, &cs), 0);
		ktap_eq(*word, size);
		gt_queue_destroy(c.fd, queue);
	}
	gt_ctx_free(&c);
}

/* Each engine class the device has takes queues; what needs no engine runs on all of them. */
static void every_class(void)
{
	struct drm_tessera_engine_info engines[8] = { 0 };
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_QUERY_ENGINES, .size = sizeof(engines), .ptr = gt_ptr(engines),
		.stride = sizeof(engines[0]),
	};
	struct gt_ctx c = gt_ctx();
	volatile uint64_t *word = gt_data(&c, 0);
	unsigned int i;

	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	for (i = 0; i < query.size / sizeof(engines[0]); i++) {
		uint32_t queue = gt_queue(c.fd, c.vm, engines[i].engine_class);
		struct gt_cs cs = gt_stream(&c, 3);

		GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0),
			.value = 100 + i);
		ktap_eq(gt_run_on(&c, queue, &cs), 0);
		ktap_eq(*word, 100 + i);
		gt_queue_destroy(c.fd, queue);
	}
	gt_ctx_free(&c);
}

/* A file gets a share of them, and a user (quotas.c), so it takes files of two users. */
static void all_slots(void)
{
	uint32_t queues[TSR_QUEUES_MAX + 1], vm, again;
	unsigned int n = 0, before, files = 0, i, j;
	int file[TSR_QUEUES_MAX];

	if (gt_sched_engine()) {
		ktap_skip("with sched=engine there are more queues than slots");
		return;
	}
	do {
		before = n;
		file[files] = gt_open_as(files & 1 ? 1000 : getuid());
		vm = gt_vm(file[files]);
		while (n <= TSR_QUEUES_MAX &&
		       !gt_queue_try(file[files], vm, DRM_TESSERA_ENGINE_COPY,
				     DRM_TESSERA_PRIORITY_NORMAL, 0, &queues[n]))
			n++;
		for (i = before; i < n; i++) {
			ktap_ok(queues[i] != 0);
			for (j = before; j < i; j++)
				ktap_ok(queues[i] != queues[j]);
		}
		files++;
	} while (n > before && files < TSR_QUEUES_MAX);
	ktap_eq(n, copy_engine().max_queues);
	ktap_eq(gt_queue_try(file[files - 1], vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &again),
		-ENOSPC);
	if (n > 5) {
		ktap_eq(gt_queue_destroy(file[0], queues[5]), 0);
		ktap_eq(gt_queue_try(file[files - 1], vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &again),
			0);
	}
	while (files--)
		close(file[files]);
}

/* The slots of a file that goes away without a word are there again. */
static void slots_of_closed_files(void)
{
	uint32_t vm = gt_vm(fd), queue;
	unsigned int before = free_slots(vm), round, i;

	for (round = 0; round < 4; round++) {
		int other = gt_open();
		uint32_t other_vm = gt_vm(other);

		for (i = 0; i < before; i++)
			ktap_eq(gt_queue_try(other, other_vm, DRM_TESSERA_ENGINE_COPY, 1, 0,
					     &queue),
				0);
		close(other);
	}
	ktap_eq(free_slots(vm), before);
	gt_vm_destroy(fd, vm);
}

static void id_bad(void)
{
	uint32_t vm = gt_vm(fd), queue = gt_queue(fd, vm, DRM_TESSERA_ENGINE_COPY);
	struct drm_tessera_queue_destroy destroy = { .queue_id = queue };
	struct drm_tessera_queue_get_state state = { .queue_id = queue };
	const struct gt_call destroy_call = GT_CALL(fd, QUEUE_DESTROY, destroy);
	const struct gt_call state_call = GT_CALL(fd, QUEUE_GET_STATE, state);
	const struct gt_bad destroy_rows[] = {
		GT_BAD(destroy.queue_id, 0, ENOENT),
		GT_BAD(destroy.queue_id, queue + 65536, ENOENT),
		GT_BAD(destroy.queue_id, UINT32_MAX, ENOENT),
		GT_BAD(destroy.pad, 1, EINVAL),
		GT_BAD(destroy.pad, 1u << 31, EINVAL),
	};
	const struct gt_bad state_rows[] = {
		GT_BAD(state.queue_id, 0, ENOENT),
		GT_BAD(state.queue_id, queue + 65536, ENOENT),
		GT_BAD(state.queue_id, UINT32_MAX, ENOENT),
	};
	int other = gt_open();

	GT_BAD_ROWS(&destroy_call, destroy_rows);
	GT_BAD_ROWS(&state_call, state_rows);
	ktap_eq(gt_queue_destroy(other, queue), -ENOENT);
	ktap_eq(gt_ioctl(other, DRM_IOCTL_TESSERA_QUEUE_GET_STATE, &state), -ENOENT);
	ktap_result("[SYS4] queue ids are per file");
	ktap_eq(gt_queue_destroy(fd, queue), 0);
	ktap_eq(gt_queue_destroy(fd, queue), -ENOENT);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_QUEUE_GET_STATE, &state), -ENOENT);
	ktap_result("QUEUE_DESTROY twice: the second fails with ENOENT");
	gt_vm_destroy(fd, vm);
	close(other);
}

static void state_counts(void)
{
	struct gt_ctx c = gt_ctx();
	struct drm_tessera_queue_get_state state;
	unsigned int i;

	for (i = 0; i < 7; i++) {
		struct gt_cs cs = gt_stream(&c, 1);

		GT_EMIT(&cs, nop, .qwords = 1);
		ktap_eq(gt_run(&c, &cs), 0);
	}
	memset(&state, 0xff, sizeof(state));
	state.queue_id = c.queue;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_QUEUE_GET_STATE, &state), 0);
	ktap_eq(state.state, 0);
	ktap_eq(state.reset_count, 0);
	ktap_eq(state.error, 0);
	ktap_eq(state.jobs_completed, 7);
	ktap_eq(state.fault_code, 0);
	ktap_eq(state.pad, 0);
	ktap_eq(state.fault_packet_va, 0);
	gt_ctx_free(&c);
}

/* Exit status of a child that lost its rights and asks for @priority on a render node: the errno.
 */
static int try_as_nobody(uint32_t priority)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		uint32_t queue;

		if (setuid(65534))
			_exit(99);
		_exit(-gt_queue_try(fd, gt_vm(fd), DRM_TESSERA_ENGINE_COPY, priority, 0, &queue));
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static void priority_rights(void)
{
	uint32_t vm = gt_vm(fd), queue;

	ktap_eq(try_as_nobody(DRM_TESSERA_PRIORITY_HIGH), EACCES);
	ktap_eq(try_as_nobody(DRM_TESSERA_PRIORITY_LOW), 0);
	ktap_eq(try_as_nobody(DRM_TESSERA_PRIORITY_NORMAL), 0);
	ktap_eq(gt_queue_try(fd, vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_HIGH, 0, &queue),
		0);
	gt_vm_destroy(fd, vm);
	close(fd);
	fd = gt_open();
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	fd = gt_open();
	create_bad();
	id_bad();
	ktap_run("[CP1] rings of every advertised size", every_ring_size);
	ktap_run("queues of every engine class", every_class);
	ktap_run("every hardware slot, then ENOSPC, then again", all_slots);
	ktap_run("slots of closed files come back", slots_of_closed_files);
	ktap_run("QUEUE_GET_STATE counts jobs", state_counts);
	ktap_run("QUEUE_CREATE of HIGH without the right fails with EACCES", priority_rights);
	close(fd);
	return gt_finish();
}
