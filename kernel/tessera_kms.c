// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: The display controller
 *
 * A device with heads is a mode setting device; one without is not (its driver_features
 * say so). The parts: commits, interrupts and what recovery wants here; tessera_crtc.c,
 * tessera_plane.c, tessera_connector.c, tessera_writeback.c; tessera_framebuffer.c for
 * memory.
 *
 * A commit keeps the device awake from the call to its end, and a head that is on keeps
 * it awake by itself. A commit never enters recovery: one that meets a device which is
 * being reset leaves its picture where recovery finds it. Once the device is lost, events
 * are sent at once. Who waits for vertical blanks themselves gets a few a second from the
 * driver while the device is out of reach, see tessera_head_tick().
 */

#include <linux/bitfield.h>
#include <linux/seq_file.h>
#include <linux/string_choices.h>

#include <drm/clients/drm_client_setup.h>
#include <drm/drm_atomic.h>
#include <drm/drm_atomic_helper.h>
#include <drm/drm_drv.h>
#include <drm/drm_fourcc.h>
#include <drm/drm_managed.h>
#include <drm/drm_modeset_helper.h>
#include <drm/drm_print.h>
#include <drm/drm_probe_helper.h>
#include <drm/drm_vblank.h>

#include "tessera_as.h"
#include "tessera_device.h"
#include "tessera_irq.h"
#include "tessera_kms.h"
#include "tessera_pm.h"

/* A lost interrupt costs so much: as long as the last one is not cleared no other comes. */
#define WATCH_PERIOD	(HZ / 4)

/* A monitor is to be found within 10 s, and a look takes a moment. */
#define POLL_PERIOD	(8 * HZ)

#define IRQ_BITS	8
#define IRQ_ALWAYS	(TSR_DISPLAY_IRQ_HOTPLUG | TSR_DISPLAY_IRQ_CRC | \
			 TSR_DISPLAY_IRQ_UNDERRUN | TSR_DISPLAY_IRQ_WRITEBACK)

/* ---- commits ---- */

/*
 * True if a commit concerns a head that is on before it or after it. Only such a commit reaches the
 * device. The kernel's console commits an empty state for every blink of its cursor, also when
 * another client has switched all heads off; that must not keep the device awake.
 */
static bool commit_needs_device(struct drm_atomic_commit *state)
{
	const struct drm_crtc_state *before, *after;
	struct drm_crtc *crtc;
	int i;

	for_each_oldnew_crtc_in_state(state, crtc, before, after, i)
		if (before->active || after->active)
			return true;

	return false;
}

/* The reference is the end of the commit's to give back; those of moving cursors have none. */
static int tessera_atomic_commit(struct drm_device *drm, struct drm_atomic_commit *state,
				 bool nonblock)
{
	struct tessera_device *tdev = to_tessera_device(drm);
	bool async = state->async_update, awake = commit_needs_device(state);
	int ret = awake ? tessera_pm_get(tdev) : 0;

	if (ret)
		return ret;

	ret = drm_atomic_helper_commit(drm, state, nonblock);
	if (awake && (ret || async))
		tessera_pm_put(tdev);

	return ret;
}

static void tessera_atomic_commit_tail(struct drm_atomic_commit *state)
{
	struct drm_device *drm = state->dev;
	bool awake = commit_needs_device(state);

	drm_atomic_helper_commit_modeset_disables(drm, state);
	drm_atomic_helper_commit_modeset_enables(drm, state);
	drm_atomic_helper_commit_planes(drm, state, DRM_PLANE_COMMIT_ACTIVE_ONLY);
	drm_atomic_helper_commit_hw_done(state);
	drm_atomic_helper_wait_for_flip_done(drm, state);
	drm_atomic_helper_cleanup_planes(drm, state);

	if (awake)
		tessera_pm_put(to_tessera_device(drm));
}

static const struct drm_format_info *tessera_get_format_info(u32 format, u64 modifier)
{
	return tessera_framebuffer_info(format, modifier);
}

/* Interrupts and recovery may look while kms_start() runs: NULL, or set up completely. */
static struct tessera_kms *kms_of(struct tessera_device *tdev)
{
	/* Pairs with the release in kms_start(). */
	return smp_load_acquire(&tdev->kms);
}

/*
 * All heads share the memory in which the device composes frames: PIXELS bounds the sum of their
 * modes. A head that user space has switched off but not taken its mode from (ACTIVE is 0) counts,
 * because to switch it on must not fail. The states of all CRTCs become part of the commit, so the
 * commits before it are over when the device gets this one's modes.
 */
static int kms_check_pixels(struct tessera_kms *kms, struct drm_atomic_commit *state)
{
	struct drm_crtc_state *crtc_state;
	struct drm_crtc *crtc;
	u64 pixels = 0;

	drm_for_each_crtc(crtc, &kms->tdev->drm) {
		crtc_state = drm_atomic_get_crtc_state(state, crtc);
		if (IS_ERR(crtc_state))
			return PTR_ERR(crtc_state);
		if (crtc_state->enable)
			pixels += (u32)crtc_state->mode.hdisplay * crtc_state->mode.vdisplay;
	}
	if (pixels <= kms->max_pixels)
		return 0;

	drm_dbg_atomic(&kms->tdev->drm, "modes of %llu pixels, the device has memory for %u\n",
		       pixels, kms->max_pixels);

	return -EINVAL;
}

static int tessera_atomic_check(struct drm_device *drm, struct drm_atomic_commit *state)
{
	struct tessera_kms *kms = kms_of(to_tessera_device(drm));
	struct drm_crtc_state *crtc_state;
	struct drm_crtc *crtc;
	bool changes = false;
	int ret, i;

	ret = drm_atomic_helper_check(drm, state);
	if (ret)
		return ret;

	for_each_new_crtc_in_state(state, crtc, crtc_state, i)
		changes |= crtc_state->mode_changed;

	return changes ? kms_check_pixels(kms, state) : 0;
}

static const struct drm_mode_config_funcs tessera_mode_config_funcs = {
	.fb_create = tessera_framebuffer_create,
	.get_format_info = tessera_get_format_info,
	.atomic_check = tessera_atomic_check,
	.atomic_commit = tessera_atomic_commit,
};

static const struct drm_mode_config_helper_funcs tessera_mode_config_helpers = {
	.atomic_commit_tail = tessera_atomic_commit_tail,
};

/* ---- interrupts ---- */

/**
 * tessera_kms_irq_mask() - which interrupts of the class are wanted
 * @tdev: device
 *
 * Return: bits of the class.
 */
u64 tessera_kms_irq_mask(struct tessera_device *tdev)
{
	struct tessera_kms *kms = kms_of(tdev);

	return kms ? READ_ONCE(kms->irq_mask) : 0;
}

/**
 * tessera_kms_want_irq() - have interrupts of a head, or not
 * @head: head
 * @bits: TSR_DISPLAY_IRQ_*
 * @want: have them
 *
 * From any context.
 */
void tessera_kms_want_irq(struct tessera_head *head, u32 bits, bool want)
{
	struct tessera_kms *kms = head->kms;
	u64 mask = (u64)bits << head->index * IRQ_BITS;
	unsigned long flags;
	int cookie;

	spin_lock_irqsave(&kms->irq_lock, flags);
	WRITE_ONCE(kms->irq_mask, want ? kms->irq_mask | mask : kms->irq_mask & ~mask);
	if (tessera_enter(kms->tdev, &cookie)) {
		tessera_write64(kms->tdev, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_DISPLAY), kms->irq_mask);
		tessera_leave(kms->tdev, cookie);
	}
	if (want && bits & TSR_DISPLAY_IRQ_VBLANK)
		queue_delayed_work(system_dfl_wq, &kms->watch, WATCH_PERIOD);
	spin_unlock_irqrestore(&kms->irq_lock, flags);
}

/* For as long as anybody waits for a vertical blank. */
static void tessera_watch_work(struct work_struct *work)
{
	struct tessera_kms *kms = container_of(to_delayed_work(work), struct tessera_kms, watch);
	bool waits = false;
	unsigned int i;
	int cookie;

	/* Without jobs, only this read detects that the device is gone. */
	if (tessera_enter(kms->tdev, &cookie)) {
		if (!tessera_device_present(kms->tdev))
			tessera_cut_off(kms->tdev);
		tessera_leave(kms->tdev, cookie);
	}
	tessera_irq_look(kms->tdev, TSR_IRQ_CLASS_DISPLAY);
	for (i = 0; i < kms->num_heads; i++) {
		if (!(READ_ONCE(kms->irq_mask) >> i * IRQ_BITS & TSR_DISPLAY_IRQ_VBLANK))
			continue;
		waits = true;
		tessera_head_tick(&kms->head[i]);
	}
	if (waits)
		queue_delayed_work(system_dfl_wq, &kms->watch, WATCH_PERIOD);
}

/*
 * Compare the monitor of a head with the one that user space was told about, and tell it if they
 * differ. A device that is out of reach is compared when it is back, see tessera_kms_run().
 */
static bool head_compare(struct tessera_head *head)
{
	struct drm_connector *connector = &head->connector;
	struct tessera_monitor monitor = { };

	if (!tessera_connector_look(head, &monitor) ||
	    !memcmp(&monitor, &head->monitor, sizeof(monitor)))
		return false;

	head->monitor = monitor;
	/* This updates the status at once, but announces no other EDID of a monitor. */
	if (!drm_connector_helper_hpd_irq_event(connector))
		drm_kms_helper_connector_hotplug_event(connector);

	return true;
}

static bool kms_compare(struct tessera_kms *kms, unsigned long heads)
{
	bool changed = false;
	unsigned int i;

	mutex_lock(&kms->monitor_lock);
	for_each_set_bit(i, &heads, kms->num_heads)
		changed |= head_compare(&kms->head[i]);
	mutex_unlock(&kms->monitor_lock);

	return changed;
}

static void tessera_hotplug_work(struct work_struct *work)
{
	struct tessera_kms *kms = container_of(work, struct tessera_kms, hotplug);

	kms_compare(kms, xchg(&kms->plugged, 0));
}

/*
 * A device that sleeps cannot report a monitor, so it is woken now and then. It goes back to sleep
 * at once if nothing has changed.
 */
static void tessera_poll_work(struct work_struct *work)
{
	struct tessera_kms *kms = container_of(to_delayed_work(work), struct tessera_kms, poll);

	/* It was woken for something else. The next sleep looks again. */
	if (tessera_state(kms->tdev) == TESSERA_RUNNING)
		return;
	if (tessera_pm_get(kms->tdev)) {
		tessera_kms_poll(kms->tdev);
		return;
	}

	if (kms_compare(kms, GENMASK(kms->num_heads - 1, 0)))
		tessera_pm_put(kms->tdev);
	else
		tessera_pm_put_now(kms->tdev);
}

/**
 * tessera_kms_poll() - look for monitors from time to time
 * @tdev: device that falls asleep
 */
void tessera_kms_poll(struct tessera_device *tdev)
{
	struct tessera_kms *kms = kms_of(tdev);

	/* Not while the machine sleeps. */
	if (kms)
		queue_delayed_work(system_freezable_wq, &kms->poll, POLL_PERIOD);
}

/* A monitor that changes while the device is not RUNNING raises no interrupt. */
static void kms_look_for_monitors(struct tessera_kms *kms)
{
	unsigned int i;

	for (i = 0; i < kms->num_heads; i++)
		set_bit(i, &kms->plugged);
	queue_work(system_dfl_wq, &kms->hotplug);
}

/**
 * tessera_kms_irq() - interrupts of the display controller
 * @tdev: device; the caller is inside the gate
 * @status: bits of the class, cleared already
 */
void tessera_kms_irq(struct tessera_device *tdev, u64 status)
{
	struct tessera_kms *kms = kms_of(tdev);
	unsigned int i;

	for (i = 0; kms && i < kms->num_heads; i++, status >>= IRQ_BITS) {
		u32 bits = status & GENMASK(IRQ_BITS - 1, 0);

		if (bits & TSR_DISPLAY_IRQ_HOTPLUG) {
			set_bit(i, &kms->plugged);
			queue_work(system_dfl_wq, &kms->hotplug);
		}
		if (bits)
			tessera_head_irq(&kms->head[i], bits);
	}
}

/* ---- recovery, sleep, the end ---- */

/* With the lock of recovery and the event lock. */
static void kms_restore(struct tessera_kms *kms)
{
	unsigned int i;

	for (i = 0; i < kms->num_heads; i++)
		tessera_head_restore(&kms->head[i]);
}

/**
 * tessera_kms_run() - open the gate of a device that was reset, and program its heads
 * @tdev: device; the caller holds the lock of recovery
 *
 * Before anybody else looks at a head: what the reset has left there is not what was latched.
 *
 * Return: as tessera_set_state().
 */
bool tessera_kms_run(struct tessera_device *tdev)
{
	struct tessera_kms *kms = kms_of(tdev);
	unsigned long flags;
	unsigned int i;
	bool runs;

	if (!kms)
		return tessera_set_state(tdev, TESSERA_RUNNING);

	spin_lock_irqsave(&tdev->drm.event_lock, flags);
	for (i = 0; i < kms->num_heads; i++)
		tessera_head_count_on(&kms->head[i]);
	runs = tessera_set_state(tdev, TESSERA_RUNNING);
	if (runs)
		kms_restore(kms);
	spin_unlock_irqrestore(&tdev->drm.event_lock, flags);
	if (runs)
		kms_look_for_monitors(kms);

	return runs;
}

/**
 * tessera_kms_lose() - the device does not come back
 * @tdev: device
 *
 * Heads go off, and nobody waits for them.
 */
void tessera_kms_lose(struct tessera_device *tdev)
{
	struct tessera_kms *kms = kms_of(tdev);
	unsigned long flags;
	unsigned int i;

	if (!kms)
		return;

	spin_lock_irqsave(&tdev->drm.event_lock, flags);
	WRITE_ONCE(kms->lost, true);
	for (i = 0; i < kms->num_heads; i++)
		tessera_head_lose(&kms->head[i]);
	spin_unlock_irqrestore(&tdev->drm.event_lock, flags);
}

/**
 * tessera_kms_unplug() - take everything down that is set up
 * @tdev: device that is unplugged and lost, without interrupts
 */
void tessera_kms_unplug(struct tessera_device *tdev)
{
	if (!tdev->kms)
		return;

	disable_delayed_work_sync(&tdev->kms->poll);
	cancel_work_sync(&tdev->kms->hotplug);
	drm_kms_helper_poll_fini(&tdev->drm);
	drm_atomic_helper_shutdown(&tdev->drm);
	tessera_framebuffers_forget(tdev, NULL);
	cancel_delayed_work_sync(&tdev->kms->watch);
}

/**
 * tessera_kms_suspend() - the machine goes to sleep: heads off
 * @tdev: device
 *
 * Return: 0 or a negative error.
 */
int tessera_kms_suspend(struct tessera_device *tdev)
{
	return tdev->kms ? drm_mode_config_helper_suspend(&tdev->drm) : 0;
}

/**
 * tessera_kms_resume() - the machine has woken up: heads as they were
 * @tdev: device
 */
void tessera_kms_resume(struct tessera_device *tdev)
{
	if (tdev->kms)
		drm_mode_config_helper_resume(&tdev->drm);
}

/**
 * tessera_kms_print() - list the heads, and what they show
 * @tdev: device
 * @m: where to
 */
void tessera_kms_print(struct tessera_device *tdev, struct seq_file *m)
{
	struct tessera_kms *kms = kms_of(tdev);
	unsigned int i;

	for (i = 0; kms && i < kms->num_heads; i++) {
		struct tessera_head *head = &kms->head[i];

		spin_lock_irq(&tdev->drm.event_lock);
		seq_printf(m, "head %u: %s, %ux%u, frame %u, underruns %llu%s%s%s\n", i,
			   str_on_off(head->on),
			   (u32)FIELD_GET(TSR_DISPLAY_MODE_H_DISPLAY__MASK, head->mode[0]),
			   (u32)FIELD_GET(TSR_DISPLAY_MODE_V_DISPLAY__MASK, head->mode[1]),
			   head->frame, head->underruns, head->latching ? ", latching" : "",
			   head->again ? ", more waits" : "", head->crc ? ", CRCs" : "");
		spin_unlock_irq(&tdev->drm.event_lock);
	}
	if (kms)
		tessera_framebuffers_print(kms, m);
}

/* ---- set-up ---- */

static int head_init(struct tessera_kms *kms, unsigned int index)
{
	struct tessera_head *head = &kms->head[index];
	struct drm_plane *plane[TSR_PLANES];
	unsigned int i;
	int ret;

	head->kms = kms;
	head->index = index;
	for (i = 0; i < TSR_PLANES; i++) {
		plane[i] = tessera_plane_create(head, i);
		if (IS_ERR(plane[i]))
			return PTR_ERR(plane[i]);
	}

	ret = tessera_crtc_init(head, plane[TSR_DISPLAY_PLANE_PRIMARY],
				plane[TSR_DISPLAY_PLANE_CURSOR]);

	ret = ret ?: tessera_connector_init(head);

	return ret ?: tessera_writeback_init(head);
}

static int mode_config_init(struct drm_device *drm)
{
	struct drm_mode_config *config = &drm->mode_config;
	int ret;

	ret = drmm_mode_config_init(drm);
	if (ret)
		return ret;

	config->min_width = 1;
	config->min_height = 1;
	config->max_width = TSR_SCREEN_MAX;
	config->max_height = TSR_SCREEN_MAX;
	config->cursor_width = TSR_CURSOR_MAX;
	config->cursor_height = TSR_CURSOR_MAX;
	config->preferred_depth = 24;
	config->normalize_zpos = true;
	config->funcs = &tessera_mode_config_funcs;
	config->helper_private = &tessera_mode_config_helpers;

	return 0;
}

static void tessera_kms_fini(struct drm_device *drm, void *data)
{
	struct tessera_kms *kms = data;

	drm_mm_takedown(&kms->mm);
}

static struct tessera_kms *kms_alloc(struct tessera_device *tdev)
{
	struct tessera_kms *kms = drmm_kzalloc(&tdev->drm, sizeof(*kms), GFP_KERNEL);
	int ret;

	if (!kms)
		return ERR_PTR(-ENOMEM);

	kms->tdev = tdev;
	INIT_LIST_HEAD(&kms->idle);
	spin_lock_init(&kms->irq_lock);
	INIT_WORK(&kms->hotplug, tessera_hotplug_work);
	INIT_DELAYED_WORK(&kms->watch, tessera_watch_work);
	INIT_DELAYED_WORK(&kms->poll, tessera_poll_work);
	ret = drmm_mutex_init(&tdev->drm, &kms->pin_lock);
	ret = ret ?: drmm_mutex_init(&tdev->drm, &kms->monitor_lock);
	if (ret)
		return ERR_PTR(ret);

	drm_mm_init(&kms->mm, TESSERA_SCANOUT_VA, TESSERA_SCANOUT_SIZE);
	ret = drmm_add_action_or_reset(&tdev->drm, tessera_kms_fini, kms);

	return ret ? ERR_PTR(ret) : kms;
}

/* The previous driver of the device has disabled all heads. */
static void kms_start(struct tessera_device *tdev, struct tessera_kms *kms)
{
	unsigned int i;

	/* Pairs with kms_of(). */
	smp_store_release(&tdev->kms, kms);
	mutex_lock(&tdev->reset.lock);
	spin_lock_irq(&tdev->drm.event_lock);
	if (tessera_state(tdev) == TESSERA_RUNNING)
		kms_restore(kms);
	spin_unlock_irq(&tdev->drm.event_lock);
	mutex_unlock(&tdev->reset.lock);
	for (i = 0; i < kms->num_heads; i++)
		tessera_kms_want_irq(&kms->head[i], IRQ_ALWAYS, true);
	/* There is no user space yet that could have been told otherwise. */
	for (i = 0; i < kms->num_heads; i++)
		tessera_connector_look(&kms->head[i], &kms->head[i].monitor);
}

/* Reads how many heads there are, 0 without a display controller, and what they share. */
static int read_caps(struct tessera_device *tdev, unsigned int *heads, u32 *pixels)
{
	int cookie, ret = 0;
	u32 caps;

	*heads = 0;
	if (!(tdev->info.features & TSR_FEATURE_DISPLAY) || !tessera_enter(tdev, &cookie))
		return 0;

	caps = tessera_read(tdev, TSR_REG_DISPLAY_CAPS(0));
	*heads = min_t(u32, FIELD_GET(TSR_DISPLAY_CAPS_HEADS__MASK, caps), TSR_HEADS_MAX);
	*pixels = tessera_read(tdev, TSR_REG_DISPLAY_PIXELS(0));
	/* Last: a device that answers now has answered before. */
	if (!tessera_device_present(tdev))
		ret = -ENODEV;
	tessera_leave(tdev, cookie);

	return ret;
}

/**
 * tessera_kms_init() - set up the display controller, if there is one
 * @tdev: device that runs and is not registered yet
 *
 * Return: 0 or a negative error.
 */
int tessera_kms_init(struct tessera_device *tdev)
{
	struct drm_device *drm = &tdev->drm;
	struct tessera_kms *kms;
	unsigned int i, heads;
	u32 pixels;
	int ret;

	ret = read_caps(tdev, &heads, &pixels);
	if (ret)
		return ret;
	if (!heads) {
		drm->driver_features &= ~(DRIVER_MODESET | DRIVER_ATOMIC);
		return 0;
	}

	kms = kms_alloc(tdev);
	if (IS_ERR(kms))
		return PTR_ERR(kms);
	kms->num_heads = heads;
	kms->max_pixels = pixels;

	ret = mode_config_init(drm);
	for (i = 0; i < heads && !ret; i++)
		ret = head_init(kms, i);
	ret = ret ?: drm_vblank_init(drm, heads);
	if (ret)
		return ret;

	drm->max_vblank_count = U32_MAX;
	drm->vblank_disable_immediate = true;
	drm_mode_config_reset(drm);
	drm_kms_helper_poll_init(drm);
	kms_start(tdev, kms);

	return 0;
}

/**
 * tessera_kms_setup_clients() - give the kernel's console a screen
 * @tdev: device that is registered
 */
void tessera_kms_setup_clients(struct tessera_device *tdev)
{
	if (tdev->kms)
		drm_client_setup(&tdev->drm, NULL);
}
