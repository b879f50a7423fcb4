// SPDX-License-Identifier: MIT
/*
 * The adapter for Tessera, by raw ioctls. Faults are scripts for the driver's debugfs file "inject"
 * (Documentation/hw/debug-unit.md); "%q" in a script is the culprit's hardware queue.
 */
#include "contract.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <xf86drm.h>

#include <drm/tessera_drm.h>
#include "tsr_packets.h"
#include "tsr_regs.h"

#define STREAM_VA	0x10000000ull
#define STREAM_SIZE	0x40000ull
#define STREAMS		4		/* of equal size, one for each job */
#define DATA_VA		0x20000000ull	/* rules in rows.tsv name this range */
#define DATA_SIZE	0x200000ull
#define NOWHERE_VA	0x7000000000ull
/* Offsets in the data. */
#define DONE		0x0ull		/* steps that the long job has done */
#define TURN		0x40ull		/* steps that it may do */
#define PAGE		0x1000ull
#define TAPE		0x2000ull	/* see job_ok() */
#define TAPE_AGAIN	0x3000ull
#define TAPE_WORDS	16u
#define BULK		0x100000ull	/* engine time of the long job */
#define BULK_SIZE	0x80000ull
#define FRAME		0x4000ull	/* see job_bin() */
#define LIST		0x8000ull	/* in the part of the stream */
#define HEAP_VA		0x40000000ull
#define HEAP_CHUNK	0x10000ull
#define HEAP_MAX	0x200000ull
#define SIDE		4096u		/* of the frame, whose tile lists need four chunks */
#define STEPS		600u
#define ALL_STEPS	0x40000000u

struct context {
	uint32_t vm, queue;
	char *stream, *data;
	unsigned int jobs;
	bool ran_ok;
	uint32_t gate;		/* syncobj of the gate */
	uint32_t heap;		/* the queue is one that bins, and has this heap */
};

/* A command stream that is being written. */
struct stream {
	uint64_t *words;
	unsigned int count;
};

#define EMIT(s, name, ...) \
	do { \
		struct tsr_##name value_ = { __VA_ARGS__ }; \
		tsr_pack_##name((s)->words + (s)->count, &value_); \
		(s)->count += tsr_packet_qwords((s)->words[(s)->count]); \
	} while (0)

static int fd = -1;

static int call(unsigned long request, void *arg)
{
	return drmIoctl(fd, request, arg) ? -errno : 0;
}

static int tessera_open(const char *node)
{
	fd = open(node, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : 0;
}

static void tessera_close(void)
{
	close(fd);
	fd = -1;
}

/* A buffer that CPU and GPU share. */
static int map_buffer(uint32_t vm, uint64_t va, uint64_t size, uint32_t flags, uint32_t access,
		      char **map)
{
	struct drm_tessera_bo_create create = { .size = size, .flags = flags };
	struct drm_tessera_bo_mmap_offset offset = { 0 };
	struct drm_tessera_bind_op op = { .op = DRM_TESSERA_BIND_MAP, .flags = access, .va = va,
					  .size = size };
	struct drm_tessera_vm_bind bind = {
		.vm_id = vm,
		.ops = { .ptr = (uintptr_t)&op, .count = 1, .stride = sizeof(op) },
	};
	int ret = call(DRM_IOCTL_TESSERA_BO_CREATE, &create);

	op.bo_handle = offset.handle = create.handle;
	if (!ret)
		ret = call(DRM_IOCTL_TESSERA_VM_BIND, &bind);
	if (!ret)
		ret = call(DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset);
	if (ret)
		return ret;
	*map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset.offset);
	return *map == MAP_FAILED ? -errno : 0;
}

static void *tessera_context_new(void)
{
	struct context *c = calloc(1, sizeof(*c));
	struct drm_tessera_vm_create vm = { 0 };
	struct drm_tessera_queue_create queue = { .engine_class = DRM_TESSERA_ENGINE_COPY,
						  .priority = DRM_TESSERA_PRIORITY_NORMAL };
	int ret = call(DRM_IOCTL_TESSERA_VM_CREATE, &vm);

	if (!ret)
		ret = map_buffer(vm.vm_id, STREAM_VA, STREAM_SIZE, 0,
				 DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC, &c->stream);
	if (!ret)
		ret = map_buffer(vm.vm_id, DATA_VA, DATA_SIZE, DRM_TESSERA_BO_CACHED,
				 DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE, &c->data);
	queue.vm_id = c->vm = vm.vm_id;
	if (!ret)
		ret = call(DRM_IOCTL_TESSERA_QUEUE_CREATE, &queue);
	c->queue = queue.queue_id;
	if (!ret)
		return c;
	free(c);
	errno = -ret;
	return NULL;
}

/*
 * A tape of numbers moves by one word each time this job runs, so the first word says how often it
 * did.
 */
static void job_ok(struct context *c, struct stream *s)
{
	uint64_t *tape = (uint64_t *)(c->data + TAPE);

	for (unsigned int i = 0; i < TAPE_WORDS; i++)
		tape[i] = i;
	EMIT(s, copy_linear, .src = DATA_VA + TAPE + 8, .dst = DATA_VA + TAPE_AGAIN,
	     .size = 8 * (TAPE_WORDS - 1));
	EMIT(s, barrier, .wait_writes = true);
	EMIT(s, copy_linear, .src = DATA_VA + TAPE_AGAIN, .dst = DATA_VA + TAPE,
	     .size = 8 * (TAPE_WORDS - 1));
	c->ran_ok = true;
}

/* Each step waits for its turn. A gate leaves out all that has an engine or a FENCE. */
static void job_steps(struct context *c, struct stream *s, bool gate)
{
	*(volatile uint64_t *)(c->data + TURN) = 0;
	*(volatile uint64_t *)(c->data + DONE) = 0;
	if (!gate)
		EMIT(s, copy_linear, .src = DATA_VA + BULK, .dst = DATA_VA + BULK + BULK_SIZE,
		     .size = BULK_SIZE);
	EMIT(s, fence, .event = TSR_EVENT_ALL_DONE, .addr = DATA_VA + DONE, .value = 1);
	for (unsigned int i = 1; i <= STEPS; i++) {
		EMIT(s, wait, .op = TSR_COMPARE_GE, .addr = DATA_VA + TURN, .value = i);
		if (!gate)
			EMIT(s, fence, .event = TSR_EVENT_ALL_DONE, .addr = DATA_VA + DONE,
			     .value = 1 + i);
	}
}

/* A frame without primitives. The table of its tile lists is larger than the heap's first chunk. */
static void job_bin(struct context *c, struct stream *s)
{
	struct tsr_frame frame = { .width = SIDE, .height = SIDE, .layers = 1, .tile_shift = 4,
				   .heap = HEAP_VA };
	uint64_t at = (char *)s->words - c->stream + LIST;
	struct tsr_list_halt halt = { 0 };

	tsr_pack_frame((uint64_t *)(c->data + FRAME), &frame);
	tsr_pack_list_halt((uint64_t *)(c->stream + at), &halt);
	EMIT(s, bin, .list = STREAM_VA + at, .size = 8 * TSR_LIST_HALT_QWORDS,
	     .frame = DATA_VA + FRAME);
}

/* From here on the context's jobs go to a queue that bins. */
static int use_heap(struct context *c)
{
	struct drm_tessera_queue_create queue = { .vm_id = c->vm,
						  .engine_class = DRM_TESSERA_ENGINE_BIN,
						  .priority = DRM_TESSERA_PRIORITY_NORMAL };
	struct drm_tessera_heap_create heap = { .vm_id = c->vm, .va = HEAP_VA,
						.max_size = HEAP_MAX, .initial_size = HEAP_CHUNK,
						.chunk_size = HEAP_CHUNK };
	int ret = call(DRM_IOCTL_TESSERA_HEAP_CREATE, &heap);

	if (!ret)
		ret = call(DRM_IOCTL_TESSERA_QUEUE_CREATE, &queue);
	if (!ret) {
		c->queue = queue.queue_id;
		c->heap = heap.heap_id;
	}
	return ret;
}

/* A job of the queue that bins cannot copy, so JOB_OK is empty there. */
static void write_stream(struct context *c, struct stream *s, enum job_kind kind)
{
	switch (kind) {
	case JOB_OK:
		if (!c->heap)
			job_ok(c, s);
		break;
	case JOB_BIN:
		job_bin(c, s);
		break;
	case JOB_LONG:
	case JOB_GATE:
		job_steps(c, s, kind == JOB_GATE);
		break;
	case JOB_NEVER:
		*(volatile uint32_t *)(c->data + PAGE) = 0;
		EMIT(s, wait, .op = TSR_COMPARE_EQ, .addr = DATA_VA + PAGE + 0x800, .value = 1);
		break;
	case JOB_FAULT:
		EMIT(s, fill_linear, .texel = 8, .dst = NOWHERE_VA, .size = 64);
		break;
	case JOB_MALFORMED:
		s->words[s->count++] = ~0ull;
		break;
	}
}

static int tessera_job(void *context, enum job_kind kind)
{
	struct context *c = context;
	uint64_t at = c->jobs++ % STREAMS * (STREAM_SIZE / STREAMS);
	struct stream s = { .words = (uint64_t *)(c->stream + at) };
	struct drm_tessera_sync signal = { .type = DRM_TESSERA_SYNC_SYNCOBJ }, gate = signal;
	struct drm_tessera_job job = { 0 };
	struct drm_tessera_submit submit = {
		.jobs = { .ptr = (uintptr_t)&job, .count = 1, .stride = sizeof(job) },
	};
	int ret = kind == JOB_BIN ? use_heap(c) : 0, file = -1;

	if (ret)
		return ret;
	write_stream(c, &s, kind);
	if (drmSyncobjCreate(fd, 0, &signal.handle))
		return -errno;
	job.queue_id = c->queue;
	job.heap_id = kind == JOB_BIN ? c->heap : 0;
	job.cmd_size = 8 * s.count;
	job.cmd_va = s.count ? STREAM_VA + at : 0;
	gate.handle = c->gate;
	if (kind == JOB_BIN && c->gate)
		job.waits = (struct drm_tessera_array){ .ptr = (uintptr_t)&gate, .count = 1,
							.stride = sizeof(gate) };
	job.signals.ptr = (uintptr_t)&signal;
	job.signals.count = 1;
	job.signals.stride = sizeof(signal);
	__sync_synchronize();
	ret = call(DRM_IOCTL_TESSERA_SUBMIT, &submit);
	if (!ret && drmSyncobjExportSyncFile(fd, signal.handle, &file))
		ret = -errno;
	if (kind == JOB_GATE)
		c->gate = signal.handle;
	else
		drmSyncobjDestroy(fd, signal.handle);
	return ret ? ret : file;
}

/* One step at a time, so that the driver sees progress. */
static uint64_t tessera_tend(void *context, bool finish)
{
	static unsigned int calls;
	struct context *c = context;
	volatile uint32_t *turn = (uint32_t *)(c->data + TURN);

	if (finish)
		*turn = ALL_STEPS;
	else if (++calls % 2 == 0 && *turn < STEPS - 1)
		(*turn)++;
	return *(volatile uint64_t *)(c->data + DONE);
}

static void tessera_state(void *context, struct context_state *state)
{
	struct context *c = context;
	struct drm_tessera_queue_get_state get = { .queue_id = c->queue };

	state->error = call(DRM_IOCTL_TESSERA_QUEUE_GET_STATE, &get);
	state->flags = 0;
	if (get.state & DRM_TESSERA_QUEUE_BANNED)
		state->flags |= CONTEXT_GUILTY;
	if (get.state & DRM_TESSERA_QUEUE_INNOCENT)
		state->flags |= CONTEXT_INNOCENT;
	state->runs = c->ran_ok ? (int)*(volatile uint64_t *)(c->data + TAPE) : -1;
}

static volatile uint32_t *tessera_page(void *context)
{
	return (uint32_t *)(((struct context *)context)->data + PAGE);
}

/* ---- faults ---- */

/* A file of the open device, or of all devices if none is open. */
static void debugfs_path(char *path, size_t size, const char *leaf)
{
	struct stat node;

	if (fd >= 0 && !fstat(fd, &node))
		snprintf(path, size, "/sys/kernel/debug/dri/%u/%s", minor(node.st_rdev), leaf);
	else
		snprintf(path, size, "/sys/kernel/debug/dri/[0-9]*/%s", leaf);
}

static int debugfs_write(const char *leaf, const char *text)
{
	char path[80];
	glob_t found;
	int ret = 0;

	debugfs_path(path, sizeof(path), leaf);
	if (glob(path, 0, NULL, &found))
		return -EOPNOTSUPP;
	for (size_t i = 0; i < found.gl_pathc && !ret; i++)
		ret = write_file(found.gl_pathv[i], text);
	globfree(&found);
	return ret;
}

/* Ids of queues are per file. Debugfs lists all of them, with the client number of fdinfo. */
static int hardware_queue(uint32_t queue)
{
	static char text[32768];
	char path[80], id[24], client[40] = "", *line;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	read_file(path, text, sizeof(text));
	line = strstr(text, "drm-client-id:");
	if (line)
		snprintf(client, sizeof(client), " client %llu", strtoull(line + 14, NULL, 10));
	debugfs_path(path, sizeof(path), "queues");
	if (!line || read_file(path, text, sizeof(text)) < 0)
		return -1;
	snprintf(id, sizeof(id), " id %-4u as ", queue);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *at = strstr(line, client);

		if (strstr(line, id) && at && !at[strlen(client)])
			return atoi(line);
	}
	return -1;
}

static int inject(struct context *c, const char *script)
{
	char text[400];
	size_t used = 0;

	for (; *script && used + 12 < sizeof(text); script++) {
		if (script[0] == '%' && script[1] == 'q') {
			used += snprintf(text + used, 12, "%d", c ? hardware_queue(c->queue) : 0);
			script++;
		} else {
			text[used++] = *script;
		}
	}
	text[used] = 0;
	return debugfs_write("inject", text);
}

static int tessera_provoke(void *context, const char *script)
{
	struct context *c = context;
	struct drm_tessera_queue_destroy destroy = { 0 };
	const char *verb = strchr(script, '@');
	char faults[400];
	int ret = 0;

	snprintf(faults, sizeof(faults), "%.*s", verb ? (int)(verb - script) : 399, script);
	if (*faults)
		ret = inject(c, faults);
	if (ret || !verb)
		return ret;
	if (!strncmp(verb, "@reset ", 7))
		return debugfs_write("reset", verb + 7);
	if (strcmp(verb, "@destroy") || !c)
		return -EOPNOTSUPP;
	destroy.queue_id = c->queue;
	return call(DRM_IOCTL_TESSERA_QUEUE_DESTROY, &destroy);
}

const struct contract_driver tessera_driver = {
	.name = "tessera",
	.open = tessera_open,
	.context_new = tessera_context_new,
	.job = tessera_job,
	.tend = tessera_tend,
	.state = tessera_state,
	.page = tessera_page,
	.provoke = tessera_provoke,
	.close = tessera_close,
};
