// SPDX-License-Identifier: MIT
/* test: TIMEOUT=30 */
/*
 * Properties of all twenty ioctls: sizes of the argument, bad pointers, unknown numbers, ioctls of
 * later versions.
 */
#include "gt_main.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fd;

/* One ioctl with an argument that works, prepared by @fill (may be NULL: zeros do). */
struct entry {
	const char *name;
	unsigned long request;
	size_t size;
	void (*fill)(void *arg);
	bool cut;		/* works with its last 8 bytes left out, as zeros */
};

static struct gt_ctx c;

static void fill_bind(void *arg)
{
	static struct drm_tessera_bind_op op;
	struct drm_tessera_vm_bind *bind = arg;

	op = gt_op_unmap(0x50000000, GT_PAGE);
	bind->vm_id = c.vm;
	bind->ops = GT_ARRAY(&op, 1);
}

static void fill_vm_destroy(void *arg)
{
	((struct drm_tessera_vm_destroy *)arg)->vm_id = gt_vm(fd);
}

static void fill_vm_state(void *arg)
{
	((struct drm_tessera_vm_get_state *)arg)->vm_id = c.vm;
}

static void fill_timestamp(void *arg)
{
	((struct drm_tessera_get_timestamp *)arg)->clock_id = CLOCK_MONOTONIC;
}

static void fill_bo_create(void *arg)
{
	((struct drm_tessera_bo_create *)arg)->size = GT_PAGE;
}

static void fill_mmap_offset(void *arg)
{
	((struct drm_tessera_bo_mmap_offset *)arg)->handle = c.data.handle;
}

static void fill_bo_info(void *arg)
{
	((struct drm_tessera_bo_info *)arg)->handle = c.data.handle;
}

static void fill_madvise(void *arg)
{
	((struct drm_tessera_bo_madvise *)arg)->handle = c.data.handle;
}

static void fill_label(void *arg)
{
	((struct drm_tessera_bo_set_label *)arg)->handle = c.data.handle;
}

static void fill_queue_create(void *arg)
{
	*(struct drm_tessera_queue_create *)arg = (struct drm_tessera_queue_create){
		.vm_id = c.vm,
		.engine_class = DRM_TESSERA_ENGINE_COPY,
		.priority = DRM_TESSERA_PRIORITY_NORMAL,
	};
}

static void fill_queue_destroy(void *arg)
{
	((struct drm_tessera_queue_destroy *)arg)->queue_id =
		gt_queue(fd, c.vm, DRM_TESSERA_ENGINE_COPY);
}

static void fill_queue_state(void *arg)
{
	((struct drm_tessera_queue_get_state *)arg)->queue_id = c.queue;
}

static void fill_heap_create(void *arg)
{
	static uint64_t va = 0x60000000;

	*(struct drm_tessera_heap_create *)arg = (struct drm_tessera_heap_create){
		.vm_id = c.vm, .va = va, .max_size = DRM_TESSERA_HEAP_ALIGN,
		.chunk_size = DRM_TESSERA_HEAP_ALIGN,
	};
	va += DRM_TESSERA_HEAP_ALIGN;
}

static void fill_heap_destroy(void *arg)
{
	struct drm_tessera_heap_create create;

	fill_heap_create(&create);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_HEAP_CREATE, &create), 0);
	((struct drm_tessera_heap_destroy *)arg)->heap_id = create.heap_id;
}

static void fill_perfmon_create(void *arg)
{
	static const uint32_t id = TSR_QUEUE_COUNTER_CYCLES;

	((struct drm_tessera_perfmon_create *)arg)->counters = GT_ARRAY(&id, 1);
}

static uint32_t perfmon(void)
{
	struct drm_tessera_perfmon_create create = { 0 };

	fill_perfmon_create(&create);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_PERFMON_CREATE, &create), 0);
	return create.perfmon_id;
}

static void fill_perfmon_destroy(void *arg)
{
	((struct drm_tessera_perfmon_destroy *)arg)->perfmon_id = perfmon();
}

static void fill_perfmon_read(void *arg)
{
	static uint64_t value;
	struct drm_tessera_perfmon_read *read = arg;

	read->perfmon_id = perfmon();
	read->values = GT_ARRAY(&value, 1);
}

#define ENTRY(NAME, type, ...)                                         \
	{                                                              \
		.name = #NAME, .request = DRM_IOCTL_TESSERA_##NAME,    \
		.size = sizeof(struct drm_tessera_##type), __VA_ARGS__ \
	}

static const struct entry entries[] = {
	ENTRY(DEV_QUERY, dev_query, .cut = true),
	ENTRY(GET_TIMESTAMP, get_timestamp, .fill = fill_timestamp, .cut = true),
	ENTRY(VM_CREATE, vm_create),
	ENTRY(VM_DESTROY, vm_destroy, .fill = fill_vm_destroy),
	ENTRY(VM_BIND, vm_bind, .fill = fill_bind, .cut = true),
	ENTRY(VM_GET_STATE, vm_get_state, .fill = fill_vm_state, .cut = true),
	ENTRY(BO_CREATE, bo_create, .fill = fill_bo_create, .cut = true),
	ENTRY(BO_MMAP_OFFSET, bo_mmap_offset, .fill = fill_mmap_offset, .cut = true),
	ENTRY(BO_INFO, bo_info, .fill = fill_bo_info, .cut = true),
	ENTRY(BO_SET_LABEL, bo_set_label, .fill = fill_label, .cut = true),
	ENTRY(BO_MADVISE, bo_madvise, .fill = fill_madvise, .cut = true),
	ENTRY(QUEUE_CREATE, queue_create, .fill = fill_queue_create, .cut = true),
	ENTRY(QUEUE_DESTROY, queue_destroy, .fill = fill_queue_destroy),
	ENTRY(QUEUE_GET_STATE, queue_get_state, .fill = fill_queue_state, .cut = true),
	ENTRY(SUBMIT, submit, .cut = true),
	ENTRY(HEAP_CREATE, heap_create, .fill = fill_heap_create),
	ENTRY(HEAP_DESTROY, heap_destroy, .fill = fill_heap_destroy),
	ENTRY(PERFMON_CREATE, perfmon_create, .fill = fill_perfmon_create),
	ENTRY(PERFMON_DESTROY, perfmon_destroy, .fill = fill_perfmon_destroy),
	ENTRY(PERFMON_READ, perfmon_read, .fill = fill_perfmon_read, .cut = true),
};

static char *fresh(const struct entry *e, char *arg, size_t size)
{
	memset(arg, 0, size);
	if (e->fill)
		e->fill(arg);
	return arg;
}

/* A program built against a newer header: its tail must be zero. */
static void larger(const void *data)
{
	const struct entry *e = data;
	char arg[256];
	size_t extra;

	ktap_eq(gt_ioctl(fd, e->request, fresh(e, arg, sizeof(arg))), 0);
	for (extra = 8; extra <= 64; extra += 56) {
		ktap_eq(gt_ioctl_sized(fd, e->request, fresh(e, arg, sizeof(arg)), e->size + extra),
			0);
		fresh(e, arg, sizeof(arg))[e->size] = 1;
		ktap_eq(gt_ioctl_sized(fd, e->request, arg, e->size + extra), -E2BIG);
		fresh(e, arg, sizeof(arg))[e->size + extra - 1] = (char)0x80;
		ktap_eq(gt_ioctl_sized(fd, e->request, arg, e->size + extra), -E2BIG);
	}
}

/*
 * A program built against an older header: what it does not pass is zero, what it has no room for
 * is not written.
 */
static void shorter(const void *data)
{
	const struct entry *e = data;
	char arg[256];
	size_t i;

	fresh(e, arg, sizeof(arg));
	memset(arg + e->size - 8, 0xa5, sizeof(arg) - e->size + 8);
	ktap_eq(gt_ioctl_sized(fd, e->request, arg, e->size - 8), 0);
	for (i = e->size - 8; i < sizeof(arg); i++)
		ktap_eq((unsigned char)arg[i], 0xa5);
}

/* Pointers to nothing, and an argument whose second half is not there. */
static void bad_pointer(const void *data)
{
	const struct entry *e = data;
	char *pages =
		mmap(NULL, 2 * GT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(pages + GT_PAGE, GT_PAGE);
	ktap_eq(gt_ioctl(fd, e->request, NULL), -EFAULT);
	ktap_eq(gt_ioctl(fd, e->request, (void *)8), -EFAULT);
	ktap_eq(gt_ioctl(fd, e->request, (void *)(UINT64_MAX << 47)), -EFAULT);
	ktap_eq(gt_ioctl(fd, e->request, pages + GT_PAGE - 4), -EFAULT);
	ktap_eq(gt_ioctl_sized(fd, e->request, fresh(e, pages + GT_PAGE - e->size, e->size),
			       e->size + 64),
		-EFAULT);
	munmap(pages, GT_PAGE);
}

/* ---- 32-bit programs ---- */

/* A system call as such a program makes it. */
static int call32(int number, uint32_t first, uint32_t second, uint32_t third)
{
	asm volatile("int $0x80" : "+a"(number) : "b"(first), "c"(second), "d"(third)
		     : "memory", "r8", "r9", "r10", "r11");
	return number;
}

/* An ioctl of theirs, whose argument lies where they have memory, with @extra bytes of a tail. */
static int ioctl32(unsigned long request, size_t extra, void *arg)
{
	return call32(54, fd, request + (extra << _IOC_SIZESHIFT), (uintptr_t)arg);
}

static void none_of_32_bits(int signal)
{
	(void)signal;
	_exit(1);
}

/* A kernel without them has a fault instead, and tells its log of one that nobody handles. */
static bool kernel_has_32_bits(void)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		signal(SIGSEGV, none_of_32_bits);
		_exit(call32(20, 0, 0, 0) == getpid() ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	return !status;
}

/* Structures of the DRM core in 32-bit programs. The driver's own are the same for all. */
struct version32 {
	int32_t number[3];
	uint32_t name_size, name, date_size, date, text_size, text;
};

static void of_32_bits(void)
{
	struct drm_version version = { 0 };
	struct version32 *version32;
	size_t i;
	char *arg;

	if (!kernel_has_32_bits()) {
		ktap_skip("this kernel runs no programs of 32 bits");
		return;
	}
	arg = mmap(NULL, GT_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	for (i = 0; i < GT_ARRAY_SIZE(entries); i++) {
		const struct entry *e = &entries[i];

		ktap_eq(ioctl32(e->request, 0, fresh(e, arg, 256)), 0);
		ktap_eq(ioctl32(e->request, 8, fresh(e, arg, 256)), 0);
		fresh(e, arg, 256)[e->size] = 1;
		ktap_eq(ioctl32(e->request, 8, arg), -E2BIG);
	}
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_VERSION, &version), 0);
	version32 = memset(arg, 0, 256);
	version32->name_size = 64;
	version32->name = (uintptr_t)arg + 128;
	ktap_eq(ioctl32(DRM_IOWR(0, struct version32), 0, arg), 0);
	ktap_eq(version32->number[0], version.version_major);
	ktap_eq(version32->number[1], version.version_minor);
	ktap_eq(version32->name_size, version.name_len);
	ktap_ok(!strcmp(arg + 128, "tessera"));
	munmap(arg, GT_PAGE);
}

static void unknown_numbers(void)
{
	char arg[256] = { 0 };
	unsigned int nr;

	for (nr = DRM_TESSERA_PERFMON_READ + 1; nr < DRM_COMMAND_END - DRM_COMMAND_BASE; nr++)
		ktap_eq(gt_ioctl(fd, DRM_IOWR(DRM_COMMAND_BASE + nr, char[64]), arg), -EINVAL);
	ktap_eq(gt_ioctl(fd, _IOWR('e', DRM_COMMAND_BASE, char[64]), arg), -ENOTTY);
	ktap_eq(gt_ioctl(fd,
			 _IOWR('e', DRM_COMMAND_BASE + DRM_TESSERA_SUBMIT,
			       struct drm_tessera_submit),
			 arg),
		-ENOTTY);
}

/* The direction and size bits of the request are the caller's too: nothing in means all zeros. */
static void odd_directions(void)
{
	struct drm_tessera_bo_create create = { .size = GT_PAGE };
	struct drm_tessera_vm_destroy destroy = { .vm_id = c.vm };
	unsigned long nr = DRM_COMMAND_BASE + DRM_TESSERA_BO_CREATE;
	struct {
		struct drm_tessera_bo_create create;
		uint8_t tail[32];
	} longer;

	ktap_eq(gt_ioctl(fd, _IOC(_IOC_READ, 'd', nr, sizeof(create)), &create), -EINVAL);
	/* what is not read cannot be wrong either */
	memset(&longer, 0x55, sizeof(longer));
	ktap_eq(gt_ioctl(fd, _IOC(_IOC_READ, 'd', nr, sizeof(longer)), &longer), -EINVAL);
	create = (struct drm_tessera_bo_create){ .size = GT_PAGE };
	ktap_eq(gt_ioctl(fd, _IOC(_IOC_NONE, 'd', nr, 0), &create), -EINVAL);
	ktap_eq(create.size, GT_PAGE);
	ktap_eq(create.handle, 0);
	ktap_eq(gt_ioctl(fd, _IOC(_IOC_WRITE, 'd', nr, sizeof(create)), &create), 0);
	ktap_eq(create.handle, 0); /* made, but not told */
	nr = DRM_COMMAND_BASE + DRM_TESSERA_VM_DESTROY;
	ktap_eq(gt_ioctl(fd, _IOC(_IOC_WRITE, 'd', nr, 0), &destroy), -ENOENT);
	ktap_eq(gt_ioctl(fd, _IOC(_IOC_READ, 'd', nr, sizeof(destroy)), &destroy), -ENOENT);
}

/* The size is what the table of the uapi says; it never changes for a released number. */
static void sizes(void)
{
	static const unsigned char want[] = {
		24, 32, 8, 8, 56, 32, 24, 16, 24, 16, 16, 24, 8, 88, 24, 40, 8, 24, 8, 32,
	};
	size_t i;

	ktap_eq(GT_ARRAY_SIZE(entries), GT_ARRAY_SIZE(want));
	for (i = 0; i < GT_ARRAY_SIZE(want); i++) {
		ktap_eq(entries[i].size, want[i]);
		ktap_eq(_IOC_NR(entries[i].request), DRM_COMMAND_BASE + i);
	}
	ktap_eq(sizeof(struct drm_tessera_sync), 24);
	ktap_eq(sizeof(struct drm_tessera_bind_op), 40);
	ktap_eq(sizeof(struct drm_tessera_job), 72);
	ktap_eq(sizeof(struct drm_tessera_fault), 32);
	ktap_eq(sizeof(struct drm_tessera_gpu_info), 88);
	ktap_eq(sizeof(struct drm_tessera_engine_info), 24);
	ktap_eq(sizeof(struct drm_tessera_gpu_state), 64);
	ktap_eq(sizeof(struct drm_tessera_shader_info), 32);
}

static void run_entries(const char *what, void (*fn)(const void *), bool want_cut)
{
	char name[160];
	size_t i;

	for (i = 0; i < GT_ARRAY_SIZE(entries); i++) {
		const struct entry *e = &entries[i];

		if (want_cut && !e->cut)
			continue;
		snprintf(name, sizeof(name), "[SYS3] %s %s", e->name, what);
		ktap_run_arg(name, fn, e);
	}
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	fd = c.fd;
	ktap_run("[SYS3] numbers and sizes of the interface", sizes);
	run_entries("with a larger argument: E2BIG unless the tail is zero", larger, false);
	run_entries("with a shorter argument: the rest is zero", shorter, true);
	run_entries("with a bad pointer fails with EFAULT", bad_pointer, false);
	ktap_run("[SYS3] direction bits that hide the argument", odd_directions);
	ktap_run("[SYS3] all ioctls of a program of 32 bits, and one of the core's", of_32_bits);
	ktap_run("[SYS3] unknown ioctl numbers fail with EINVAL, foreign types with ENOTTY",
		 unknown_numbers);
	gt_ctx_free(&c);
	return gt_finish();
}
