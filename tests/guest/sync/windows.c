// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=120 SMP=2 DEVICE_ARGS=vram=32M,heads=1,inject-window=on
 * test: KERNEL_ARGS=slub_debug=FZP;tessera.job_timeout_ms=1000;tessera.job_limit_ms=60000
 */
/*
 * Windows of queues, of recovery and of the device: see gt_window.h. windows_memory.c has those of
 * memory and of the display.
 */
#include "gt_main.h"

#include "gt_window.h"

/* ---- queues ---- */

/* Ids are small numbers, so another thread destroys the queue before its creator knows its id. */
static void queue_create(void)
{
	struct window w = arm("queue-create");
	uint32_t queue = 0, id, gone = 0;
	struct call call;

	call_start(&call, do_create, &queue);
	if (entered(&w)) {
		for (id = 1; id < 64 && !gone; id++) {
			if (id != c.queue && !gt_queue_destroy(c.fd, id))
				gone = id;
		}
		ktap_ok(gone);
		gt_sleep_ms(MOMENT_MS);
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_eq(queue, gone);
	ktap_eq(submit_plain(queue), -ENOENT);
}

/* A queue with a slot and a ring, which is not enabled, is none for recovery. */
static void queue_start(void)
{
	uint64_t resets = gt_gpu_state(c.fd).reset_count;
	struct window w = arm("queue-start");
	struct call call;
	uint32_t queue;

	call_start(&call, do_create, &queue);
	if (entered(&w)) {
		ktap_eq(climb("device"), 0);
		ktap_eq(gt_gpu_state(c.fd).reset_count, resets + 1);
		ktap_ok(readable("queues") && readable("rings"));
		ktap_ok(copy_works(&c));
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_ok(queue_works(&c, queue));
	ktap_eq(gt_queue_state(c.fd, queue).reset_count, 0);
	ktap_eq(gt_queue_destroy(c.fd, queue), 0);
}

/*
 * A queue without an id still runs. Its job faults, and the record must not name the queue, whose
 * id another one has by then.
 */
static void queue_destroy(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY), next = 0;
	static struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS];
	struct drm_tessera_sync done = gt_binary(gt_syncobj(c.fd, false));
	uint64_t before = gt_vm_state(c.fd, c.vm, NULL).fault_count;
	struct drm_tessera_vm_get_state state;
	struct window w = arm("queue-destroy");
	struct gt_cs cs = gated();
	struct call call;

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = 0x7fff0000, .size = 64, .pattern_lo = 1);
	ktap_eq(gt_kick(&c, queue, &cs, &done), 0);
	ktap_ok(begun());
	call_start(&call, do_destroy, &queue);
	if (entered(&w)) {
		ktap_eq(submit_plain(queue), -ENOENT);
		ktap_eq(gt_queue_destroy(c.fd, queue), -ENOENT);
		next = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
		ktap_eq(next, queue);
		ktap_ok(queue_works(&c, next));
		open_gate();
		ktap_eq(gt_fence_error(c.fd, done.handle, 0), -EFAULT);
		ktap_eq(gt_queue_state(c.fd, next).state, 0);
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	state = gt_vm_state(c.fd, c.vm, faults);
	ktap_eq(state.fault_count, before + 1);
	for (unsigned int i = 0; i < state.faults.count; i++)
		ktap_eq(faults[i].queue_id, 0);
	ktap_ok(queue_works(&c, next));
	ktap_eq(gt_queue_destroy(c.fd, next), 0);
	gt_syncobj_free(c.fd, done.handle);
}

/*
 * The slot is stopped, and the jobs on the ring are not cancelled yet. A job whose dependency ends
 * now is not put on the ring any more.
 */
static void queue_kill(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct drm_tessera_sync done[2], gate = gt_binary(gt_syncobj(c.fd, false));
	struct gt_cs first = gated(), second = adder();
	struct drm_tessera_job job = gt_job(queue, &second);
	struct window w = arm("queue-kill");
	struct call call;

	done[0] = gt_binary(gt_syncobj(c.fd, false));
	done[1] = gt_binary(gt_syncobj(c.fd, false));
	/* The dependency is a job of our own queue, which ends when we want. */
	ktap_eq(gt_kick(&c, c.queue, &first, &gate), 0);
	ktap_ok(begun());
	job.waits = GT_ARRAY(&gate, 1);
	job.signals = GT_ARRAY(&done[1], 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	call_start(&call, do_destroy, &queue);
	if (entered(&w)) {
		open_gate();
		ktap_eq(gt_fence_error(c.fd, gate.handle, 0), 0);
		ktap_eq(gt_syncobj_wait(c.fd, done[1].handle, 0, 2000), 0);
		ktap_ok(!atomic_load(&call.done));
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_eq(gt_fence_error(c.fd, done[1].handle, 0), -ECANCELED);
	ktap_eq(added(), 0);
	for (unsigned int i = 0; i < 2; i++)
		gt_syncobj_free(c.fd, done[i].handle);
	gt_syncobj_free(c.fd, gate.handle);
	ktap_ok(copy_works(&c));
}

/* Destroyed queues whose work items still exist hold their VM, and no slot. */
static void queue_release(void)
{
	uint32_t vm = gt_vm(c.fd), queue = gt_queue(c.fd, vm, DRM_TESSERA_ENGINE_COPY);
	struct window w = arm("queue-release");

	ktap_eq(gt_queue_destroy(c.fd, queue), 0);
	ktap_eq(gt_vm_destroy(c.fd, vm), 0);
	if (entered(&w)) {
		ktap_eq(climb("device"), 0);
		ktap_eq(climb("function"), 0);
		ktap_ok(readable("queues") && readable("gpuvas") && readable("faults"));
		ktap_ok(copy_works(&c));
	}
	release(&w);
	ktap_ok(copy_works(&c));
}

/* ---- recovery of a queue ---- */

/*
 * A job is found to hang, and ends before its slot is stopped. Its fence does not carry the error
 * of the diagnosis, and neither does that of a later job.
 */
static void watch_stop(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct window w = arm("watch-stop");
	struct drm_tessera_sync done = gt_binary(c.sync), last = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_queue_get_state state;
	struct gt_cs cs = gated(), later = adder();
	char script[64];

	snprintf(script, sizeof(script), "irq-lost queue=%u times=always", gt_slot(c.fd, queue));
	ktap_eq(gt_inject(script), 0);
	ktap_eq(gt_kick(&c, queue, &cs, &done), 0);
	ktap_eq(gt_kick(&c, queue, &later, &last), 0);
	if (entered(&w)) {
		open_gate();
		ktap_ok(gt_spin_until((uint64_t *)gt_data(&c, 16), 1, GT_TIMEOUT_MS));
		gt_sleep_ms(MOMENT_MS);
	}
	release(&w);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(gt_fence_error(c.fd, last.handle, 0), 0);
	for (unsigned int i = 0; i < 500; i++) {
		state = gt_queue_state(c.fd, queue);
		if (state.state)
			break;
		gt_sleep_ms(10);
	}
	ktap_eq(state.state, DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_TIMEDOUT);
	ktap_eq(state.jobs_completed, 2);
	ktap_eq(gt_inject("clear"), 0);
	ktap_eq(gt_queue_destroy(c.fd, queue), 0);
	gt_syncobj_free(c.fd, last.handle);
}

/* The slot of a queue that failed is stopped, and its jobs have no errors yet. */
static void watch_ban(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct window w = arm("watch-ban");
	struct drm_tessera_sync done = gt_binary(c.sync), last = gt_binary(gt_syncobj(c.fd, false));
	struct gt_cs cs = gated(), later = adder();
	struct call call;

	ktap_eq(gt_kick(&c, queue, &cs, &done), 0);
	ktap_eq(gt_kick(&c, queue, &later, &last), 0);
	if (entered(&w)) {
		ktap_eq(submit_plain(queue), -ECANCELED);
		ktap_ok(!gt_syncobj_done(c.fd, c.sync, 0));
		open_gate();
		call_start(&call, do_destroy, &queue);
		ktap_ok(call_waits(&call));
		ktap_eq(added(), 0);
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), -ETIMEDOUT);
	ktap_eq(gt_fence_error(c.fd, last.handle, 0), -ECANCELED);
	ktap_eq(added(), 0);
	gt_syncobj_free(c.fd, last.handle);
	ktap_ok(copy_works(&c));
}

/* ---- recovery of the device ---- */

/* The device is cut off and not reset yet. Calls work, and a job waits for the reset. */
static void reset_escalation(void)
{
	struct gt_bo bo = gt_bo(c.fd, MIB, DRM_TESSERA_BO_NO_MMAP);
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY), made = 0;
	struct drm_tessera_bind_op map = gt_op_map(bo.handle, VA, MIB, 0, GT_RW);
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct window w = arm("reset-escalation");
	struct call reset, create;
	struct gt_cs cs = adder();

	memset(gt_data(&c, 0), 0, 64);
	call_start(&reset, do_climb, "device");
	if (entered(&w)) {
		ktap_ok(!gt_masters_bus());
		ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
		ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), 0);
		ktap_eq(do_unmap(&c.vm), 0);
		ktap_eq(gt_queue_destroy(c.fd, queue), 0);
		call_start(&create, do_create, &made);
		ktap_ok(call_waits(&create));
		ktap_ok(!gt_syncobj_done(c.fd, c.sync, 0));
		ktap_eq(added(), 0);
	}
	release(&w);
	ktap_eq(call_end(&reset), 0);
	ktap_eq(call_end(&create), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(added(), 1);
	ktap_ok(queue_works(&c, made));
	ktap_eq(gt_queue_destroy(c.fd, made), 0);
	gt_bo_free(&bo);
}

/* QUEUE_CREATE has waited for a reset, and the device is given up before it has locked it. */
static void lock_running(void)
{
	struct window at_reset = arm("reset-escalation"), w = arm("lock-running");
	struct call reset, create;
	char slot[64];
	uint32_t queue;

	gt_pci_slot(slot, sizeof(slot));
	call_start(&reset, do_climb, "device");
	if (entered(&at_reset)) {
		call_start(&create, do_create, &queue);
		ktap_ok(call_waits(&create));
	}
	release(&at_reset);
	ktap_eq(call_end(&reset), 0);
	if (entered(&w))
		ktap_eq(climb("wedged"), 0);
	release(&w);
	ktap_eq(call_end(&create), -EIO);
	ktap_eq(do_unbind(slot), 0);
	bind_again(slot);
	ktap_ok(copy_works(&c));
}

/* ---- begin and end of the device ---- */

/*
 * The device is stopped for good, and calls still get in. One of them has a slot and a ring when
 * that happens.
 */
static void unplug(void)
{
	struct gt_bo bo = gt_bo(c.fd, MIB, DRM_TESSERA_BO_NO_MMAP);
	struct drm_tessera_bind_op map = gt_op_map(bo.handle, VA, MIB, 0, GT_RW);
	struct window starts = arm("queue-start"), w = arm("unplug");
	struct call create, unbind;
	uint32_t queue, handle;
	char slot[64];
	int ret;

	gt_pci_slot(slot, sizeof(slot));
	call_start(&create, do_create, &queue);
	if (entered(&starts)) {
		call_start(&unbind, do_unbind, slot);
		if (entered(&w)) {
			ktap_eq(submit_plain(c.queue), -ENODEV);
			ret = gt_vm_bind(c.fd, c.vm, &map, 1);
			ktap_ok(ret == 0 || ret == -ENODEV);
			ktap_eq(gt_bo_try(c.fd, MIB, DRM_TESSERA_BO_LOCAL, 0, &handle), -ENODEV);
		}
	}
	release(&starts);
	ktap_eq(call_end(&create), -ENODEV);
	release(&w);
	ktap_eq(call_end(&unbind), 0);
	ktap_eq(submit_plain(c.queue), -ENODEV);
	gt_bo_free(&bo);
	bind_again(slot);
	ktap_ok(copy_works(&c));
}

/* The device is registered, and probe has not returned. */
static void probe(void)
{
	struct window w = arm("probe");
	struct call call;
	struct gt_ctx other;
	char slot[64];

	gt_pci_slot(slot, sizeof(slot));
	ktap_eq(do_unbind(slot), 0);
	call_start(&call, do_bind, slot);
	gt_wait_node();
	if (entered(&w)) {
		other = gt_ctx();
		ktap_ok(copy_works(&other));
		ktap_eq(climb("device"), 0);
		ktap_ok(copy_works(&other));
		gt_ctx_free(&other);
	}
	release(&w);
	ktap_eq(call_end(&call), 0);
	gt_ctx_free(&c);
	c = gt_ctx();
	ktap_ok(copy_works(&c));
}

/* ---- the file itself ---- */

static void refused(void)
{
	static const char * const wrong[] = {
		"evict", "evict=1", "evict=60001ms", "evict=1ms times=0", "evict=1ms 2",
		"nowhere=1ms", "=1ms", "clear all",
	};

	for (unsigned int i = 0; i < GT_ARRAY_SIZE(wrong); i++) {
		if (!ktap_eq(delay(wrong[i]), -EINVAL))
			ktap_fail("%s", wrong[i]);
	}
	ktap_eq(delay("evict=1ms times=2\nunplug=2ms\n"), 0);
	ktap_eq(delay("clear"), 0);
}

static void waits_for_no_slot(void)
{
	ktap_skip("QUEUE_CREATE of the backend engine waits for no slot");
}

/* Run a test whose other side is a QUEUE_CREATE that needs a slot. */
static void run_slot(const char *name, void (*fn)(void))
{
	ktap_run(name, gt_sched_engine() ? waits_for_no_slot : fn);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("debugfs delay refuses wrong commands", refused);
	ktap_run("queue-create: a queue is destroyed before its creator knows it", queue_create);
	run_slot("queue-start: a reset while a queue has a slot and is not enabled", queue_start);
	ktap_run("queue-destroy: a queue without an id faults", queue_destroy);
	ktap_run("queue-kill: a job is ready when its queue is stopped", queue_kill);
	ktap_run("queue-release: resets while a queue is released", queue_release);
	ktap_run("watch-stop: a job ends after it was found to hang", watch_stop);
	ktap_run("watch-ban: a queue is destroyed before its jobs have errors", watch_ban);
	run_slot("reset-escalation: calls between a failure and the reset",
		 reset_escalation);
	run_slot("lock-running: a device is given up after a reset", lock_running);
	run_slot("unplug: calls between the stop of the device and its unplug", unplug);
	ktap_run("probe: jobs before probe has returned", probe);
	gt_ctx_free(&c);
	return gt_finish();
}
