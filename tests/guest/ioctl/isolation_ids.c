// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/*
 * One file's ids and handles in another file's ioctls: every field that names an object. The call
 * works with the file's own object, is -ENOENT with the other's, and the other's object is what it
 * was. The owner has more objects of each kind than the stranger, so that no id means something in
 * both files.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "gt_bad.h"

#define HEAP_VA		0x40000000ULL
#define HEAP_CHUNK	0x20000u
#define AHEAD		9u	/* objects that the owner has made before */

/* Everything a file can have. */
struct objects {
	struct gt_ctx c;
	uint32_t bin, heap, perfmon, done;	/* done: a signalled syncobj */
	struct gt_bo bo;
};

static struct objects owner, own;

static uint32_t heap_on(int fd, uint32_t vm)
{
	struct drm_tessera_heap_create args = {
		.vm_id = vm, .va = HEAP_VA, .max_size = 4 * HEAP_CHUNK, .initial_size = HEAP_CHUNK,
		.chunk_size = HEAP_CHUNK,
	};

	if (gt_ioctl(fd, DRM_IOCTL_TESSERA_HEAP_CREATE, &args))
		gt_die("no heap");
	return args.heap_id;
}

static uint32_t perfmon_on(int fd)
{
	const uint32_t id = TSR_QUEUE_COUNTER_CYCLES;
	struct drm_tessera_perfmon_create args = { .counters = GT_ARRAY(&id, 1) };

	if (gt_ioctl(fd, DRM_IOCTL_TESSERA_PERFMON_CREATE, &args))
		gt_die("no perfmon");
	return args.perfmon_id;
}

/* Objects of each kind, behind @ahead others that only take ids. */
static struct objects make_objects(unsigned int ahead)
{
	struct objects o = { .c = { .fd = gt_open() } };
	unsigned int i;

	for (i = 0; i < ahead; i++) {
		uint32_t vm = gt_vm(o.c.fd);

		gt_syncobj(o.c.fd, false);
		gt_bo(o.c.fd, GT_PAGE, DRM_TESSERA_BO_NO_MMAP);
		heap_on(o.c.fd, vm);
		gt_queue(o.c.fd, vm, DRM_TESSERA_ENGINE_COPY);
		if (i < 2)	/* the device has few */
			perfmon_on(o.c.fd);
	}
	o.c = gt_ctx_on(o.c.fd);
	o.bin = gt_queue(o.c.fd, o.c.vm, DRM_TESSERA_ENGINE_BIN);
	o.heap = heap_on(o.c.fd, o.c.vm);
	o.perfmon = perfmon_on(o.c.fd);
	o.done = gt_syncobj(o.c.fd, true);
	o.bo = gt_bo(o.c.fd, GT_PAGE, 0);
	return o;
}

/* The call works, the call with the owner's id in @field does not. A call that uses up what it is
 * given is not made with its own: @once. */
static void stranger(const struct gt_call *call, const char *what, uint32_t *field, uint32_t theirs,
		     bool once)
{
	uint32_t old = *field;
	char name[120];

	snprintf(name, sizeof(name), "[SYS4] %s with another file's %s fails with ENOENT",
		 call->name, what);
	if (!ktap_wanted(name))
		return;
	if (!once)
		ktap_eq(gt_call(call), 0);
	*field = theirs;
	ktap_eq(gt_call(call), -ENOENT);
	*field = old;
	ktap_result(name);
}

static void vms(void)
{
	struct drm_tessera_bind_op op = gt_op_map(own.bo.handle, 0x50000000, GT_PAGE, 0, GT_RW);
	struct drm_tessera_sync wait = gt_binary(own.done), signal = gt_binary(own.c.sync);
	struct drm_tessera_vm_bind bind = {
		.vm_id = own.c.vm, .flags = DRM_TESSERA_VM_BIND_ASYNC, .ops = GT_ARRAY(&op, 1),
		.waits = GT_ARRAY(&wait, 1), .signals = GT_ARRAY(&signal, 1),
	};
	struct drm_tessera_vm_get_state state = { .vm_id = own.c.vm };
	struct drm_tessera_bo_create private = { .size = GT_PAGE, .vm_id = own.c.vm };
	struct gt_call call = GT_CALL(own.c.fd, VM_BIND, bind);

	stranger(&call, "VM", &bind.vm_id, owner.c.vm, false);
	stranger(&call, "BO", &op.bo_handle, owner.bo.handle, false);
	stranger(&call, "syncobj to wait for", &wait.handle, owner.done, false);
	stranger(&call, "syncobj to signal", &signal.handle, owner.c.sync, false);
	op = (struct drm_tessera_bind_op){ .op = DRM_TESSERA_BIND_UNMAP_BO,
					   .bo_handle = own.bo.handle };
	call.name = "VM_BIND UNMAP_BO";
	stranger(&call, "BO", &op.bo_handle, owner.bo.handle, false);
	call = GT_CALL(own.c.fd, VM_GET_STATE, state);
	stranger(&call, "VM", &state.vm_id, owner.c.vm, false);
	call = GT_CALL(own.c.fd, BO_CREATE, private);
	stranger(&call, "VM", &private.vm_id, owner.c.vm, false);
}

static void bos(void)
{
	static const char label[] = "mine";
	struct drm_tessera_bo_mmap_offset offset = { .handle = own.bo.handle };
	struct drm_tessera_bo_info info = { .handle = own.bo.handle };
	struct drm_tessera_bo_set_label set = { .handle = own.bo.handle, .label = gt_ptr(label) };
	struct drm_tessera_bo_madvise advice = { .handle = own.bo.handle };
	struct gt_call call = GT_CALL(own.c.fd, BO_MMAP_OFFSET, offset);

	stranger(&call, "BO", &offset.handle, owner.bo.handle, false);
	call = GT_CALL(own.c.fd, BO_INFO, info);
	stranger(&call, "BO", &info.handle, owner.bo.handle, false);
	call = GT_CALL(own.c.fd, BO_SET_LABEL, set);
	stranger(&call, "BO", &set.handle, owner.bo.handle, false);
	call = GT_CALL(own.c.fd, BO_MADVISE, advice);
	stranger(&call, "BO", &advice.handle, owner.bo.handle, false);
}

static void queues(void)
{
	struct drm_tessera_queue_create create = {
		.vm_id = own.c.vm, .engine_class = DRM_TESSERA_ENGINE_COPY, .priority = 1,
	};
	struct drm_tessera_queue_get_state state = { .queue_id = own.c.queue };
	struct gt_call call = GT_CALL(own.c.fd, QUEUE_CREATE, create);

	stranger(&call, "VM", &create.vm_id, owner.c.vm, false);
	call = GT_CALL(own.c.fd, QUEUE_GET_STATE, state);
	stranger(&call, "queue", &state.queue_id, owner.c.queue, false);
}

static void jobs(void)
{
	struct gt_cs cs = gt_stream(&own.c, 3);
	struct drm_tessera_job job = gt_job(own.c.queue, NULL);
	struct drm_tessera_sync wait = gt_binary(own.done), signal = gt_binary(own.c.sync);
	struct drm_tessera_submit submit = { .jobs = GT_ARRAY(&job, 1) };
	struct gt_call call = GT_CALL(own.c.fd, SUBMIT, submit);

	GT_EMIT(&cs, nop, .qwords = 1);
	job.waits = GT_ARRAY(&wait, 1);
	job.signals = GT_ARRAY(&signal, 1);
	job.perfmon_id = own.perfmon;
	stranger(&call, "queue", &job.queue_id, owner.c.queue, false);
	stranger(&call, "syncobj to wait for", &wait.handle, owner.done, false);
	stranger(&call, "syncobj to signal", &signal.handle, owner.c.sync, false);
	stranger(&call, "perfmon", &job.perfmon_id, owner.perfmon, false);
	job.queue_id = own.bin;
	job.heap_id = own.heap;
	stranger(&call, "heap", &job.heap_id, owner.heap, false);
}

static void heaps_and_perfmons(void)
{
	struct drm_tessera_heap_create create = {
		.vm_id = own.c.vm, .va = 0x60000000, .max_size = HEAP_CHUNK,
		.initial_size = HEAP_CHUNK, .chunk_size = HEAP_CHUNK,
	};
	uint64_t value;
	struct drm_tessera_perfmon_read read = { .perfmon_id = own.perfmon,
						 .values = GT_ARRAY(&value, 1) };
	struct gt_call call = GT_CALL(own.c.fd, HEAP_CREATE, create);

	stranger(&call, "VM", &create.vm_id, owner.c.vm, false);
	call = GT_CALL(own.c.fd, PERFMON_READ, read);
	stranger(&call, "perfmon", &read.perfmon_id, owner.perfmon, false);
}

/* Last: a driver that lets a stranger do it has nothing left that others could find. */
static void ends(void)
{
	struct drm_tessera_perfmon_destroy perfmon = { .perfmon_id = own.perfmon };
	struct drm_tessera_heap_destroy heap = { .heap_id = own.heap };
	struct drm_tessera_queue_destroy queue = { .queue_id = own.c.queue };
	struct drm_tessera_vm_destroy vm = { .vm_id = own.c.vm };
	struct gt_call call = GT_CALL(own.c.fd, PERFMON_DESTROY, perfmon);

	stranger(&call, "perfmon", &perfmon.perfmon_id, owner.perfmon, true);
	call = GT_CALL(own.c.fd, HEAP_DESTROY, heap);
	stranger(&call, "heap", &heap.heap_id, owner.heap, true);
	call = GT_CALL(own.c.fd, QUEUE_DESTROY, queue);
	stranger(&call, "queue", &queue.queue_id, owner.c.queue, true);
	call = GT_CALL(own.c.fd, VM_DESTROY, vm);
	stranger(&call, "VM", &vm.vm_id, owner.c.vm, true);
}

/* The rules of the DRM core for handles. */
static void core_ioctls(void)
{
	struct drm_tessera_bo_mmap_offset offset = { .handle = owner.bo.handle };
	int file = -1;

	ktap_eq(gt_gem_close(own.c.fd, owner.bo.handle), -EINVAL);
	ktap_result("[SYS4] GEM_CLOSE of another file's BO fails with EINVAL");
	ktap_eq(drmPrimeHandleToFD(own.c.fd, owner.bo.handle, DRM_CLOEXEC, &file), -1);
	ktap_eq(errno, ENOENT);
	ktap_result("[SYS4] a BO of another file cannot be exported");
	ktap_eq(gt_ioctl(owner.c.fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset), 0);
	ktap_ok(mmap(NULL, GT_PAGE, PROT_READ, MAP_SHARED, own.c.fd, offset.offset) == MAP_FAILED);
	ktap_eq(errno, EACCES);
	ktap_result("[SYS4] mmap() with another file's offset fails with EACCES");
	ktap_eq(gt_syncobj_wait(own.c.fd, owner.done, 0, 10), -ENOENT);
	ktap_result("[SYS4] another file's syncobj cannot be waited for");
}

/* None of that has done anything to the owner. */
static void owner_goes_on(void)
{
	struct drm_tessera_bo_info info = { .handle = owner.bo.handle };
	struct drm_tessera_perfmon_read read;
	struct gt_cs cs = gt_stream(&owner.c, 8);
	uint64_t value;

	*(uint64_t *)gt_data(&owner.c, 0) = 0;
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0), .size = 64, .pattern_lo = 7);
	ktap_eq(gt_run(&owner.c, &cs), 0);
	ktap_eq(*(uint64_t *)gt_data(&owner.c, 0), 7);
	ktap_eq(gt_queue_state(owner.c.fd, owner.c.queue).jobs_completed, 1);
	ktap_eq(gt_vm_state(owner.c.fd, owner.c.vm, NULL).fault_count, 0);
	ktap_eq(gt_ioctl(owner.c.fd, DRM_IOCTL_TESSERA_BO_INFO, &info), 0);
	ktap_eq(info.size, GT_PAGE);
	read = (struct drm_tessera_perfmon_read){ .perfmon_id = owner.perfmon,
						  .values = GT_ARRAY(&value, 1) };
	ktap_eq(gt_ioctl(owner.c.fd, DRM_IOCTL_TESSERA_PERFMON_READ, &read), 0);
	ktap_eq(read.jobs, 0);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	owner = make_objects(AHEAD);
	own = make_objects(0);
	vms();
	bos();
	queues();
	jobs();
	heaps_and_perfmons();
	core_ioctls();
	ends();
	ktap_run("[SYS4] what strangers tried has changed nothing for the owner", owner_goes_on);
	gt_ctx_free(&owner.c);
	gt_ctx_free(&own.c);
	return gt_finish();
}
