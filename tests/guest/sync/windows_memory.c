// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=120 SMP=2 DEVICE_ARGS=vram=32M,heads=1,inject-window=on
 * test: KERNEL_ARGS=slub_debug=FZP;tessera.job_timeout_ms=1000;tessera.job_limit_ms=60000
 */
/* Windows of files, VMs, buffer objects and of the display: see gt_window.h. */
#include "gt_main.h"

#include <signal.h>
#include <sys/ioctl.h>

#include "gt_window.h"
#include "kms.h"

#define HEAP_SIZE	0x200000u

/* ---- files ---- */

static int do_close_file(void *fd)
{
	return close(*(int *)fd) ? -errno : 0;
}

static uint32_t heap_id;

static int heap_create(int fd, uint32_t vm)
{
	struct drm_tessera_heap_create args = {
		.vm_id = vm, .va = VA, .max_size = HEAP_SIZE, .initial_size = HEAP_SIZE / 8,
		.chunk_size = HEAP_SIZE / 16,
	};
	int ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_HEAP_CREATE, &args);

	heap_id = args.heap_id;
	return ret;
}

static int do_heap_destroy(void *id)
{
	struct drm_tessera_heap_destroy args = { .heap_id = *(uint32_t *)id };

	return gt_ioctl(c.fd, DRM_IOCTL_TESSERA_HEAP_DESTROY, &args);
}

/* A file has lost its queues and still has a heap, a VM and a BO. */
static void file_close(void)
{
	uint64_t used = gt_gpu_state(c.fd).local_used;
	int fd = gt_open();
	uint32_t vm = gt_vm(fd), handle;
	struct drm_tessera_bind_op map;
	struct window w;
	struct call call;

	gt_queue(fd, vm, DRM_TESSERA_ENGINE_COPY);
	ktap_eq(gt_bo_try(fd, MIB, DRM_TESSERA_BO_LOCAL, vm, &handle), 0);
	map = gt_op_map(handle, VA + HEAP_SIZE, MIB, 0, GT_RW);
	ktap_eq(gt_vm_bind(fd, vm, &map, 1), 0);
	ktap_eq(heap_create(fd, vm), 0);
	/* The search for the device opens and closes files, so the point is armed after it. */
	w = arm("file-close");
	call_start(&call, do_close_file, &fd);
	if (entered(&w)) {
		ktap_eq(climb("device"), 0);
		ktap_eq(do_evict(NULL), 0);
		ktap_ok(readable("gpuvas") && readable("gems") && readable("queues"));
		ktap_ok(copy_works(&c));
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_ok(settles(used));
}

/* ---- VMs, binds and heaps ---- */

/* A VM without mappings is still on the list that resets, debugfs and unplug walk. */
static void vm_release(void)
{
	uint32_t vm = gt_vm(c.fd), queue = gt_queue(c.fd, vm, DRM_TESSERA_ENGINE_COPY);
	struct gt_bo bo = gt_bo(c.fd, MIB, DRM_TESSERA_BO_LOCAL | DRM_TESSERA_BO_NO_MMAP);
	struct window w = arm("vm-release");
	char slot[64];

	gt_pci_slot(slot, sizeof(slot));
	gt_bo_bind(&bo, vm, VA, GT_RW);
	ktap_eq(gt_queue_destroy(c.fd, queue), 0);
	ktap_eq(gt_vm_destroy(c.fd, vm), 0);
	if (entered(&w)) {
		ktap_eq(climb("device"), 0);
		ktap_eq(do_evict(NULL), 0);
		ktap_ok(readable("gpuvas") && readable("faults"));
		ktap_ok(copy_works(&c));
		gt_bo_free(&bo);
		ktap_eq(do_unbind(slot), 0);
		bind_again(slot);
	}
	release(&w);
	ktap_ok(settles(0));
	ktap_ok(copy_works(&c));
}

static int vm_bind_once(void *op)
{
	struct drm_tessera_vm_bind args = { .vm_id = c.vm };

	args.ops = GT_ARRAY((struct drm_tessera_bind_op *)op, 1);
	return ioctl(c.fd, DRM_IOCTL_TESSERA_VM_BIND, &args) ? -errno : 0;
}

static void on_signal(int number)
{
	(void)number;
}

/* The word that the GPU reads at VA. */
static uint64_t read_va(void)
{
	struct gt_cs cs = gt_stream(&c, 8);

	GT_EMIT(&cs, copy_linear, .src = VA, .dst = gt_data_va(64), .size = 8);
	ktap_eq(gt_run(&c, &cs), 0);
	return *(volatile uint64_t *)gt_data(&c, 64);
}

/*
 * A signal ends the wait of a synchronous bind. The bind runs before the thread has locked the VM,
 * so the call reports success and does not touch the job, which is freed.
 */
static void bind_turn(void)
{
	struct gt_bo bo = gt_bo(c.fd, MIB, 0);
	struct drm_tessera_bind_op map = gt_op_map(bo.handle, VA, MIB, 0, GT_RW);
	struct drm_tessera_sync gate = gt_binary(gt_syncobj(c.fd, false)), first = gate;
	struct drm_tessera_sync last = gt_binary(gt_syncobj(c.fd, false));
	struct sigaction action = { .sa_handler = on_signal };
	struct window w = arm("bind-turn");
	struct gt_cs cs = gated();
	struct call call;

	sigaction(SIGUSR1, &action, NULL);
	*(uint64_t *)bo.map = 0x5afe;
	ktap_eq(gt_kick(&c, c.queue, &cs, &first), 0);
	ktap_eq(gt_bind_async(c.fd, c.vm, NULL, 0, &gate, NULL), 0);
	call_start(&call, vm_bind_once, &map);
	ktap_ok(call_waits(&call));
	pthread_kill(call.thread, SIGUSR1);
	if (entered(&w)) {
		open_gate();
		/* Binds run in their order, and the bind of the other thread is the second. */
		ktap_eq(gt_bind_async(c.fd, c.vm, NULL, 0, NULL, &last), 0);
		ktap_eq(gt_syncobj_wait(c.fd, last.handle, 0, GT_TIMEOUT_MS), 0);
		gt_sleep_ms(MOMENT_MS);
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_eq(read_va(), 0x5afe);
	ktap_eq(do_unmap(&c.vm), 0);
	gt_bo_free(&bo);
	gt_syncobj_free(c.fd, gate.handle);
	gt_syncobj_free(c.fd, last.handle);
}

/* A bind has left its VM, and its removed mapping still holds the BO. */
static void bind_free(void)
{
	uint64_t used = gt_gpu_state(c.fd).local_used;
	struct gt_bo bo = gt_bo(c.fd, MIB, DRM_TESSERA_BO_LOCAL | DRM_TESSERA_BO_NO_MMAP);
	struct gt_bo next = gt_bo(c.fd, MIB, DRM_TESSERA_BO_LOCAL | DRM_TESSERA_BO_NO_MMAP);
	struct drm_tessera_bind_op map = gt_op_map(next.handle, VA, MIB, 0, GT_RW);
	struct window w;
	struct call call;
	struct gt_cs cs;

	gt_bo_bind(&bo, c.vm, VA, GT_RW);
	w = arm("bind-free");
	call_start(&call, do_unmap, &c.vm);
	if (entered(&w)) {
		ktap_eq(gt_gem_close(c.fd, bo.handle), 0);
		ktap_eq(do_evict(NULL), 0);
		ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), 0);
		cs = gt_stream(&c, 8);
		GT_EMIT(&cs, fill_linear, .texel = 8, .dst = VA, .size = 64, .pattern_lo = 1);
		ktap_eq(gt_run(&c, &cs), 0);
		ktap_eq(climb("device"), 0);
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_eq(do_unmap(&c.vm), 0);
	gt_bo_free(&next);
	ktap_ok(settles(used));
}

/* A heap without references keeps its range until that is unmapped. */
static void heap_free(void)
{
	struct gt_bo bo = gt_bo(c.fd, MIB, DRM_TESSERA_BO_NO_MMAP);
	struct drm_tessera_bind_op map = gt_op_map(bo.handle, VA, MIB, 0, GT_RW);
	struct window w = arm("heap-free");
	uint32_t first;
	struct call call;

	ktap_eq(heap_create(c.fd, c.vm), 0);
	first = heap_id;
	call_start(&call, do_heap_destroy, &first);
	if (entered(&w)) {
		ktap_eq(heap_create(c.fd, c.vm), -EBUSY);
		ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), -EBUSY);
		ktap_eq(climb("device"), 0);
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_eq(heap_create(c.fd, c.vm), 0);
	first = heap_id;
	ktap_eq(do_heap_destroy(&first), 0);
	gt_bo_free(&bo);
}

/* ---- buffer objects ---- */

/* A BO without references is still on the lists of eviction, of unplug and of debugfs. */
static void gem_free(void)
{
	uint64_t used = gt_gpu_state(c.fd).local_used;
	struct gt_bo other = gt_bo(c.fd, MIB, DRM_TESSERA_BO_LOCAL | DRM_TESSERA_BO_NO_MMAP);
	struct gt_bo bo = gt_bo(c.fd, MIB, DRM_TESSERA_BO_LOCAL | DRM_TESSERA_BO_NO_MMAP);
	struct window w = arm("gem-free");
	struct call call;

	call_start(&call, do_close, &bo.handle);
	if (entered(&w)) {
		ktap_ok(readable("gems"));
		ktap_eq(do_evict(NULL), 0);
		ktap_eq(do_evict(NULL), 0);
		ktap_ok(!(gt_bo_state(c.fd, other.handle) & DRM_TESSERA_BO_IN_LOCAL));
		ktap_eq(gt_gpu_state(c.fd).local_used, used + MIB);
		ktap_eq(gt_write_file("/proc/sys/vm/drop_caches", "2"), 0);
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	gt_bo_free(&other);
	ktap_ok(settles(used));
}

/* A BO was chosen for eviction, and its last handle is closed before it is moved. */
static void evict(void)
{
	uint64_t used = gt_gpu_state(c.fd).local_used;
	struct gt_bo bo = gt_bo(c.fd, MIB, DRM_TESSERA_BO_LOCAL | DRM_TESSERA_BO_NO_MMAP);
	struct window w = arm("evict");
	struct call call;

	call_start(&call, do_evict, NULL);
	if (entered(&w)) {
		ktap_eq(gt_gem_close(c.fd, bo.handle), 0);
		ktap_eq(climb("device"), 0);
		ktap_ok(readable("gems"));
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_ok(settles(used));
}

static void map_in_two(struct gt_bo *bo, uint32_t vm)
{
	*(volatile uint64_t *)bo->map = 0x5afe;
	gt_bo_bind(bo, vm, VA, GT_RW);
	gt_bo_bind(bo, c.vm, VA, GT_RW);
}

/* The VMs of a BO were counted, and one of them loses it before they are listed. */
static void move_list(void)
{
	struct gt_bo bo = gt_bo(c.fd, MIB, DRM_TESSERA_BO_LOCAL);
	uint32_t vm = gt_vm(c.fd);
	struct window w;
	struct call call, unmap;

	map_in_two(&bo, vm);
	w = arm("move-list");
	call_start(&call, do_evict, NULL);
	if (entered(&w)) {
		call_start(&unmap, do_unmap, &vm);
		/* It may wait for the BO, but its mapping leaves at once. */
		gt_sleep_ms(MOMENT_MS);
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_eq(call_end(&unmap), 0);
	ktap_ok(!(gt_bo_state(c.fd, bo.handle) & DRM_TESSERA_BO_IN_LOCAL));
	ktap_eq(read_va(), 0x5afe);
	ktap_eq(do_unmap(&c.vm), 0);
	ktap_eq(gt_vm_destroy(c.fd, vm), 0);
	gt_bo_free(&bo);
}

static int do_store(void *word)
{
	*(volatile uint64_t *)word = 0x900d;
	return 0;
}

/*
 * A BO was copied. A store of the CPU now is not lost, and a reset does not bring the old place
 * back.
 */
static void move_switch(void)
{
	struct gt_bo bo = gt_bo(c.fd, MIB, DRM_TESSERA_BO_LOCAL);
	uint32_t vm = gt_vm(c.fd);
	struct window w;
	struct call call, store;

	map_in_two(&bo, vm);
	w = arm("move-switch");
	call_start(&call, do_evict, NULL);
	if (entered(&w)) {
		call_start(&store, do_store, bo.map);
		gt_sleep_ms(MOMENT_MS);
		ktap_eq(gt_vm_destroy(c.fd, vm), 0);
		ktap_eq(climb("device"), 0);
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_eq(call_end(&store), 0);
	ktap_eq(read_va(), 0x900d);
	ktap_eq(do_unmap(&c.vm), 0);
	gt_bo_free(&bo);
}

/* ---- display ---- */

static struct kms k;
static struct drm_mode_modeinfo mode;

static int do_off(void *unused)
{
	(void)unused;
	return kms_off(&k, 0);
}

static int do_not_need(void *fb)
{
	struct drm_tessera_bo_madvise advice = { .handle = ((struct kms_fb *)fb)->handle,
						 .madv = DRM_TESSERA_MADV_DONT_NEED };

	return gt_ioctl(k.fd, DRM_IOCTL_TESSERA_BO_MADVISE, &advice);
}

static void set_up_screen(struct kms_fb *fb)
{
	k = kms_open();
	mode = kms_mode(&k, 0, 640, 480);
	*fb = kms_fb(&k, mode.hdisplay, mode.vdisplay, DRM_FORMAT_XRGB8888);
	ktap_eq(kms_show(&k, 0, &mode, fb->id), 0);
}

/* Framebuffers that stay mapped without being shown. That of the console may be one of them. */
static unsigned int idle_framebuffers(void)
{
	unsigned int idle;

	kms_mapped(&idle);
	return idle;
}

/* BO_MADVISE, and the framebuffer leaves the screen before idle ones are given up. */
static void madvise_idle(void)
{
	unsigned int idle;
	struct kms_fb fb;
	struct window w;
	struct call call;

	set_up_screen(&fb);
	idle = idle_framebuffers();
	w = arm("madvise");
	call_start(&call, do_not_need, &fb);
	if (entered(&w))
		ktap_eq(kms_off(&k, 0), 0);
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_eq(idle_framebuffers(), idle);
	kms_fb_free(&k, &fb);
	kms_close(&k);
}

/* A framebuffer leaves the screen and is kept mapped while BO_MADVISE gives it up. */
static void fb_idle(void)
{
	unsigned int idle;
	struct kms_fb fb;
	struct window w;
	struct call off, call;

	set_up_screen(&fb);
	idle = idle_framebuffers();
	w = arm("fb-idle");
	call_start(&off, do_off, NULL);
	if (entered(&w)) {
		call_start(&call, do_not_need, &fb);
		ktap_ok(call_waits(&call));
	}
	release(&w);
	ktap_eq(call_end(&off), 0);
	ktap_eq(call_end(&call), 0);
	ktap_eq(idle_framebuffers(), idle);
	kms_fb_free(&k, &fb);
	kms_close(&k);
}

static int do_off_event(void *unused)
{
	struct kms_request r = { .k = &k };

	(void)unused;
	kms_set_mode(&r, 0, NULL);
	kms_set_plane(&r, 0, 0, 0, 0, 0, 0, 0);
	return kms_commit(&r, DRM_MODE_ATOMIC_ALLOW_MODESET | DRM_MODE_PAGE_FLIP_EVENT, 77);
}

/* A head is off. Its last event is sent once, although recovery runs meanwhile. */
static void crtc_disable(void)
{
	struct drm_event_vblank event;
	struct kms_fb fb;
	struct window w;
	struct call call;

	set_up_screen(&fb);
	w = arm("crtc-disable");
	call_start(&call, do_off_event, NULL);
	if (entered(&w)) {
		ktap_eq(climb("device"), 0);
		ktap_eq(climb("function"), 0);
		ktap_ok(readable("heads"));
		ktap_ok(!kms_event(&k, &event, MOMENT_MS));
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_ok(kms_event(&k, &event, GT_TIMEOUT_MS));
	ktap_eq(event.user_data, 77);
	ktap_ok(!kms_event(&k, &event, MOMENT_MS));
	ktap_eq(kms_show(&k, 0, &mode, fb.id), 0);
	ktap_eq(kms_off(&k, 0), 0);
	kms_fb_free(&k, &fb);
	kms_close(&k);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("file-close: a reset and an eviction while a file is closed", file_close);
	ktap_run("vm-release: a reset and an unbind while a VM is released", vm_release);
	ktap_run("bind-turn: a bind runs while a signal ends its wait", bind_turn);
	ktap_run("bind-free: an eviction while removed mappings hold a BO", bind_free);
	ktap_run("heap-free: the range of a heap that ends", heap_free);
	ktap_run("gem-free: an eviction while a BO is freed", gem_free);
	ktap_run("evict: the last handle of a BO is closed while it is evicted", evict);
	ktap_run("move-list: a VM loses a BO that is about to be moved", move_list);
	ktap_run("move-switch: a store and a reset while a BO is moved", move_switch);
	ktap_run("madvise: a framebuffer that is not needed leaves the screen", madvise_idle);
	ktap_run("fb-idle: a framebuffer leaves the screen and is not needed", fb_idle);
	ktap_run("crtc-disable: resets before the last event of a head", crtc_disable);
	gt_ctx_free(&c);
	return gt_finish();
}
