// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Heads
 *
 * The driver keeps the state of each head, and the device has a copy of it in its
 * registers. A commit therefore does not depend on the device. If the device is
 * being reset, recovery writes the whole state again afterwards.
 *
 * The device accepts one LATCH at a time. A commit that arrives before the previous
 * LATCH has taken effect is written after it. Cursors that legacy calls change are an
 * exception: they change the visible state and the waiting one at once. The event of
 * a commit is sent when its LATCH has taken effect. The handler of the next vertical
 * blank checks this, so that a lost interrupt does not lose an event.
 *
 * A head is enabled immediately and disabled at the end of a frame. The event of
 * enabling is that of the first vertical blank, when a whole frame has been scanned.
 * The core holds this event until then, and sends it in any case when vertical blanks
 * are disabled.
 */

#include <linux/bitfield.h>
#include <linux/iopoll.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>

#include <drm/drm_atomic.h>
#include <drm/drm_atomic_helper.h>
#include <drm/drm_print.h>
#include <drm/drm_vblank.h>

#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_kms.h"
#include "tessera_pm.h"

static struct tessera_device *head_device(const struct tessera_head *head)
{
	return head->kms->tdev;
}

/* A frame that has begun takes milliseconds, or two vertical blanks where memory is slow. */
#define SETTLE_US	100000

/* As long as a frame takes at most, twice. */
#define FRAME_MOST	(2 * HZ / TSR_VBLANK_HZ_MIN)

/* Bits that count as set until the head's register reports otherwise. */
#define STATUS_OPEN	(TSR_DISPLAY_STATUS_PENDING__MASK | \
			 TSR_DISPLAY_STATUS_WRITEBACK_PENDING__MASK | \
			 TSR_DISPLAY_STATUS_STALE__MASK)

/* ---- what the device is told, and says ---- */

/*
 * Inside the gate. A device that does not answer reads as all ones: nothing is over, nothing is
 * refused. It is missed soon, and recovery writes all of it once more.
 */
static u32 head_status(struct tessera_head *head)
{
	u32 status = tessera_read(head_device(head), TSR_REG_DISPLAY_STATUS(head->index));

	return status == U32_MAX ? STATUS_OPEN : status;
}

/* Inside the gate, with the event lock. */
static void head_write_plane(struct tessera_head *head, unsigned int plane)
{
	u32 reg = TSR_REG_DISPLAY_PLANE_ADDR(head->index, plane);
	unsigned int word;

	for (word = 0; word < TESSERA_PLANE_WORDS; word++)
		tessera_write(head_device(head), reg + word * sizeof(u32),
			      head->plane[plane][word]);
}

/* Inside the gate, with the event lock. */
static void head_write(struct tessera_head *head)
{
	struct tessera_device *tdev = head_device(head);
	unsigned int n = head->index, plane;

	tessera_write(tdev, TSR_REG_DISPLAY_MODE_H(n), head->mode[0]);
	tessera_write(tdev, TSR_REG_DISPLAY_MODE_V(n), head->mode[1]);
	tessera_write(tdev, TSR_REG_DISPLAY_MODE_CLOCK(n), head->mode[2]);
	tessera_write(tdev, TSR_REG_DISPLAY_BACKGROUND(n), 0);
	tessera_write64(tdev, TSR_REG_DISPLAY_WRITEBACK_ADDR(n), head->target.addr);
	tessera_write(tdev, TSR_REG_DISPLAY_WRITEBACK_FORMAT(n), head->target.format);
	tessera_write(tdev, TSR_REG_DISPLAY_WRITEBACK_PITCH(n), head->target.pitch);
	for (plane = 0; plane < TSR_PLANES; plane++)
		head_write_plane(head, plane);
}

/* Have @damage cover @r as well. */
static void damaged(struct drm_rect *damage, const struct drm_rect *r)
{
	if (!drm_rect_visible(r))
		return;
	if (!drm_rect_visible(damage)) {
		*damage = *r;
		return;
	}
	drm_rect_init(damage, min(damage->x1, r->x1), min(damage->y1, r->y1),
		      max(damage->x2, r->x2) - min(damage->x1, r->x1),
		      max(damage->y2, r->y2) - min(damage->y1, r->y1));
}

/* Writes the damage. Returns true if it covers all that has changed. */
static bool head_write_damage(struct tessera_head *head, struct drm_rect *damage)
{
	const struct drm_rect screen = DRM_RECT_INIT(0, 0, TSR_SCREEN_MAX, TSR_SCREEN_MAX);
	struct tessera_device *tdev = head_device(head);
	struct drm_rect r = *damage;
	unsigned int n = head->index;

	if (!drm_rect_intersect(&r, &screen))
		drm_rect_init(&r, 0, 0, 0, 0);
	tessera_write(tdev, TSR_REG_DISPLAY_DAMAGE_POS(n),
		      FIELD_PREP(TSR_DISPLAY_DAMAGE_POS_X__MASK, r.x1) |
		      FIELD_PREP(TSR_DISPLAY_DAMAGE_POS_Y__MASK, r.y1));
	tessera_write(tdev, TSR_REG_DISPLAY_DAMAGE_SIZE(n),
		      FIELD_PREP(TSR_DISPLAY_DAMAGE_SIZE_WIDTH__MASK, drm_rect_width(&r)) |
		      FIELD_PREP(TSR_DISPLAY_DAMAGE_SIZE_HEIGHT__MASK, drm_rect_height(&r)));
	drm_rect_init(damage, 0, 0, 0, 0);

	return head->partial;
}

/* Commits the written registers. Returns false if the device refuses. */
static bool head_commit(struct tessera_head *head, u32 how, struct drm_rect *damage)
{
	struct tessera_device *tdev = head_device(head);

	if (head_write_damage(head, damage))
		how |= TSR_DISPLAY_COMMIT_DAMAGE__MASK;
	tessera_write(tdev, TSR_REG_DISPLAY_COMMIT(head->index), how);

	return !drm_WARN_ONCE(&tdev->drm, head_status(head) & TSR_DISPLAY_STATUS_BAD__MASK,
			      "head %u refuses what the driver has checked\n", head->index);
}

static bool head_pending(struct tessera_head *head)
{
	return head_status(head) & TSR_DISPLAY_STATUS_PENDING__MASK;
}

/* With the event lock. */
static void head_send(struct tessera_head *head, struct drm_pending_vblank_event **event)
{
	if (*event)
		drm_crtc_send_vblank_event(&head->crtc, *event);
	*event = NULL;
}

/*
 * A head is on with its first picture. The event goes to the core, with a reference to vertical
 * blanks that the core gives back. With the event lock.
 */
static void head_started(struct tessera_head *head)
{
	head->starting = false;
	if (!head->event || drm_crtc_vblank_get(&head->crtc))
		return;

	drm_crtc_arm_vblank_event(&head->crtc, head->event);
	head->event = NULL;
}

/* A LATCH is over, or it will never be. With the event lock. */
static void head_latched(struct tessera_head *head)
{
	head_send(head, &head->event);
	if (head->latching)
		drm_crtc_vblank_put(&head->crtc);
	head->latching = false;
	if (!head->again)
		head->unsettled = false;
}

/* The device's writeback, the oldest one, is over or never will be. With the event lock. */
static void head_written(struct tessera_head *head, int status)
{
	drm_writeback_signal_completion(&head->writeback, status);
	drm_crtc_vblank_put(&head->crtc);
	head->writing = false;
	for (; head->dropped; head->dropped--)
		drm_writeback_signal_completion(&head->writeback, -EIO);
}

/* The newest writeback, which the device does not know, will never be. With the event lock. */
static void head_drop(struct tessera_head *head)
{
	head->armed = false;
	head->write = false;
	if (head->writing)
		head->dropped++;
	else
		drm_writeback_signal_completion(&head->writeback, -EIO);
}

/* Nothing that is not there yet will be. With the event lock. */
static void head_forget(struct tessera_head *head)
{
	if (head->writing)
		head_written(head, -ENODEV);
	if (head->armed || head->write)
		head_drop(head);
	head_latched(head);
	head_send(head, &head->next);
	head->again = false;
}

static void head_latch(struct tessera_head *head)
{
	u32 how = TSR_DISPLAY_COMMIT_LATCH__MASK;

	/* Vertical blanks come until it is over: an interrupt may be lost. */
	if (head->write && !drm_crtc_vblank_get(&head->crtc)) {
		how |= TSR_DISPLAY_COMMIT_WRITEBACK__MASK;
		head->writing = true;
		head->write = false;
	}
	head->again = false;
	head->event = head->next;
	head->next = NULL;
	/* So that an interrupt comes to look at it. */
	head->latching = !drm_crtc_vblank_get(&head->crtc);
	head_write(head);
	damaged(&head->damage, &head->cursor_damage);
	drm_rect_init(&head->cursor_damage, 0, 0, 0, 0);
	if (!head_commit(head, how, &head->damage) || !head->latching)
		head_latched(head);
}

/**
 * tessera_head_go_on() - do what can be done now
 * @head: head; the caller is inside the gate and holds the event lock
 */
void tessera_head_go_on(struct tessera_head *head)
{
	u32 status = head->latching || head->writing ? head_status(head) : 0;

	if (head->latching && !(status & TSR_DISPLAY_STATUS_PENDING__MASK)) {
		/* It may have happened after the interrupt has counted: the event tells when. */
		drm_crtc_accurate_vblank_count(&head->crtc);
		if (head->starting)
			head_started(head);
		head_latched(head);
	}
	if (head->writing && !(status & TSR_DISPLAY_STATUS_WRITEBACK_PENDING__MASK))
		head_written(head, status & TSR_DISPLAY_STATUS_WRITEBACK_FAILED__MASK ? -EIO : 0);
	if (head->again && !head->latching && !(head->write && head->writing) && head->on)
		head_latch(head);
}

static void head_try(struct tessera_head *head)
{
	struct tessera_device *tdev = head_device(head);
	int cookie;

	lockdep_assert_held(&tdev->drm.event_lock);

	if (head->kms->lost) {
		head_forget(head);
	} else if (tessera_enter(tdev, &cookie)) {
		tessera_head_go_on(head);
		tessera_leave(tdev, cookie);
	}
}

/**
 * tessera_head_restore() - program a head of a device that was reset
 * @head: head; the caller is recovery and holds the event lock
 *
 * The reset of the device leaves heads as they are, that of the function does not.
 */
void tessera_head_restore(struct tessera_head *head)
{
	struct tessera_device *tdev = head_device(head);

	tessera_write(tdev, TSR_REG_DISPLAY_CRC_CONTROL(head->index), head->crc);
	if (!head->on || head->went_off)
		tessera_write(tdev, TSR_REG_DISPLAY_COMMIT(head->index),
			      TSR_DISPLAY_COMMIT_DISABLE__MASK);
	head->went_off = false;
	if (!head->on)
		return;

	/*
	 * A writeback that is not on its way any more may be lost: it comes with the LATCH, unless
	 * another one does, whose place is known instead.
	 */
	if (head->writing && !(head_status(head) & TSR_DISPLAY_STATUS_WRITEBACK_PENDING__MASK)) {
		if (head->armed || head->write) {
			head_written(head, -EIO);
		} else {
			head->write = true;
			head->writing = false;
			drm_crtc_vblank_put(&head->crtc);
		}
	}
	head->partial = false;
	/* The latched state may be lost: write all of it again; events keep waiting. */
	if (head->latching && !head->next)
		swap(head->next, head->event);
	if (!head_pending(head))
		head_latched(head);
	head->again = true;
	tessera_head_go_on(head);
}

/**
 * tessera_head_lose() - the device does not come back
 * @head: head; the caller holds the event lock
 */
void tessera_head_lose(struct tessera_head *head)
{
	struct tessera_device *tdev = head_device(head);
	int cookie;

	head_forget(head);
	if (tessera_enter(tdev, &cookie)) {
		tessera_write(tdev, TSR_REG_DISPLAY_COMMIT(head->index),
			      TSR_DISPLAY_COMMIT_DISABLE__MASK);
		tessera_leave(tdev, cookie);
	}
}

/* Where on the screen a plane is. */
static struct drm_rect plane_place(const u32 *words)
{
	u32 pos = words[TESSERA_PLANE_POS], size = words[TESSERA_PLANE_SIZE];
	struct drm_rect r;

	drm_rect_init(&r, FIELD_GET(TSR_DISPLAY_PLANE_POS_X__MASK, pos),
		      FIELD_GET(TSR_DISPLAY_PLANE_POS_Y__MASK, pos),
		      FIELD_GET(TSR_DISPLAY_PLANE_SIZE_WIDTH__MASK, size),
		      FIELD_GET(TSR_DISPLAY_PLANE_SIZE_HEIGHT__MASK, size));

	return r;
}

/* Returns true if two pictures of a plane differ in their memory only. */
static bool plane_stays(const u32 *a, const u32 *b)
{
	return !memcmp(&a[TESSERA_PLANE_FORMAT], &b[TESSERA_PLANE_FORMAT],
		       (TESSERA_PLANE_TAGS - TESSERA_PLANE_FORMAT) * sizeof(*a));
}

/**
 * tessera_head_set_plane() - what a plane is to show
 * @head: head
 * @number: plane
 * @words: its registers
 * @damage: what of the screen changes by that, if the plane stays where it is; NULL if
 *	user space does not say
 *
 * With the next commit. Somebody who says what changes in the primary plane always does.
 */
void tessera_head_set_plane(struct tessera_head *head, unsigned int number, const u32 *words,
			    const struct drm_rect *damage)
{
	struct drm_device *drm = &head_device(head)->drm;
	struct drm_rect *changed = number == TSR_DISPLAY_PLANE_CURSOR ? &head->cursor_damage :
									&head->damage;
	u32 *old = head->plane[number];
	struct drm_rect place;

	spin_lock_irq(&drm->event_lock);
	if (damage && plane_stays(old, words)) {
		damaged(changed, damage);
	} else {
		place = plane_place(old);
		damaged(changed, &place);
		place = plane_place(words);
		damaged(changed, &place);
	}
	if (damage || number == TSR_DISPLAY_PLANE_PRIMARY)
		head->partial = damage;
	memcpy(old, words, sizeof(head->plane[number]));
	spin_unlock_irq(&drm->event_lock);
}

/**
 * tessera_head_set_target() - where the frame of the next commit goes
 * @head: head that is on
 * @target: its place
 *
 * The job is in the queue of the connector. One before it that the device has not been told of,
 * because it was out of reach for longer than commits wait for each other, is given up.
 */
void tessera_head_set_target(struct tessera_head *head, const struct tessera_target *target)
{
	struct drm_device *drm = &head_device(head)->drm;

	spin_lock_irq(&drm->event_lock);
	if (head->armed || head->write)
		head_drop(head);
	head->target = *target;
	head->armed = true;
	spin_unlock_irq(&drm->event_lock);
}

/**
 * tessera_head_refresh() - have the whole screen read again
 * @head: head
 *
 * When the kernel dies: in any context, without a lock.
 */
void tessera_head_refresh(struct tessera_head *head)
{
	struct tessera_device *tdev = head_device(head);
	int cookie;

	if (!tessera_enter(tdev, &cookie))
		return;
	tessera_write(tdev, TSR_REG_DISPLAY_DAMAGE_POS(head->index), 0);
	tessera_write(tdev, TSR_REG_DISPLAY_DAMAGE_SIZE(head->index), U32_MAX);
	tessera_write(tdev, TSR_REG_DISPLAY_COMMIT(head->index), TSR_DISPLAY_COMMIT_DAMAGE__MASK);
	tessera_leave(tdev, cookie);
}

/**
 * tessera_head_move_cursor() - show the cursor as it is now
 * @head: head that is on; the caller holds the event lock
 *
 * At once, whatever waits for its vertical blank.
 */
void tessera_head_move_cursor(struct tessera_head *head)
{
	struct tessera_device *tdev = head_device(head);
	int cookie;

	lockdep_assert_held(&tdev->drm.event_lock);

	if (!head->kms->lost && tessera_enter(tdev, &cookie)) {
		head_write_plane(head, TSR_DISPLAY_PLANE_CURSOR);
		/* For what has not been latched yet it is damage, too. */
		if (head->again)
			damaged(&head->damage, &head->cursor_damage);
		head_commit(head, TSR_DISPLAY_COMMIT_ASYNC__MASK | TSR_DISPLAY_COMMIT_CURSOR__MASK,
			    &head->cursor_damage);
		tessera_leave(tdev, cookie);
	} else {
		head->again = true;
		head->unsettled = true;
		head_try(head);
	}
}

static bool head_stale(struct tessera_head *head)
{
	struct tessera_device *tdev = head_device(head);
	bool waits, stale;
	int cookie;

	/* The device has not been told of it: it will be with a LATCH. */
	spin_lock_irq(&tdev->drm.event_lock);
	waits = head->unsettled && head->on && !head->kms->lost;
	spin_unlock_irq(&tdev->drm.event_lock);
	if (waits)
		return true;

	if (!tessera_enter(tdev, &cookie))
		return false;
	stale = head_status(head) & TSR_DISPLAY_STATUS_STALE__MASK;
	tessera_leave(tdev, cookie);

	return stale;
}

/**
 * tessera_head_settle() - wait until a cursor that was replaced is not read any more
 * @head: head
 *
 * Its memory may go then; if the device takes too long for that, a frame has an underrun.
 */
void tessera_head_settle(struct tessera_head *head)
{
	bool stale;

	read_poll_timeout(head_stale, stale, !stale, 100, SETTLE_US, false, head);
}

/* ---- modes ---- */

static enum drm_mode_status tessera_crtc_mode_valid(struct drm_crtc *crtc,
						    const struct drm_display_mode *mode)
{
	u64 pixels = (u64)mode->htotal * mode->vtotal, clock = (u64)mode->clock * 1000;
	u32 max_pixels = crtc_to_head(crtc)->kms->max_pixels;

	if (mode->flags & DRM_MODE_FLAG_INTERLACE)
		return MODE_NO_INTERLACE;
	if (mode->flags & (DRM_MODE_FLAG_DBLSCAN | DRM_MODE_FLAG_DBLCLK | DRM_MODE_FLAG_3D_MASK))
		return MODE_NO_DBLESCAN;
	if (mode->vscan > 1)
		return MODE_NO_VSCAN;
	if (mode->hdisplay < TSR_SCREEN_MIN || mode->hdisplay > TSR_SCREEN_MAX ||
	    mode->hdisplay >= mode->htotal)
		return MODE_BAD_HVALUE;
	if (mode->vdisplay < TSR_SCREEN_MIN || mode->vdisplay > TSR_SCREEN_MAX ||
	    mode->vdisplay >= mode->vtotal)
		return MODE_BAD_VVALUE;
	if ((u32)mode->hdisplay * mode->vdisplay > min(max_pixels, TSR_SCREEN_PIXELS_MAX))
		return MODE_MEM;
	if (clock < pixels * TSR_VBLANK_HZ_MIN)
		return MODE_CLOCK_LOW;

	return clock > pixels * TSR_VBLANK_HZ_MAX ? MODE_CLOCK_HIGH : MODE_OK;
}

static void tessera_crtc_atomic_enable(struct drm_crtc *crtc, struct drm_atomic_commit *state)
{
	struct tessera_head *head = crtc_to_head(crtc);
	struct tessera_device *tdev = head_device(head);
	const struct drm_display_mode *mode = &crtc->state->adjusted_mode;
	int cookie;

	tessera_pm_get_awake(tdev);
	spin_lock_irq(&tdev->drm.event_lock);
	head->mode[0] = FIELD_PREP(TSR_DISPLAY_MODE_H_DISPLAY__MASK, mode->hdisplay) |
			FIELD_PREP(TSR_DISPLAY_MODE_H_TOTAL__MASK, mode->htotal);
	head->mode[1] = FIELD_PREP(TSR_DISPLAY_MODE_V_DISPLAY__MASK, mode->vdisplay) |
			FIELD_PREP(TSR_DISPLAY_MODE_V_TOTAL__MASK, mode->vtotal);
	head->mode[2] = mode->clock;
	head->on = true;
	head->starting = true;
	head->partial = false;
	if (tessera_enter(tdev, &cookie)) {
		tessera_write(tdev, TSR_REG_DISPLAY_CRC_CONTROL(head->index), head->crc);
		tessera_leave(tdev, cookie);
	}
	spin_unlock_irq(&tdev->drm.event_lock);
	drm_crtc_vblank_on(crtc);
}

/*
 * The frame that is seen comes to its end, as hardware does it. If the device goes meanwhile, a
 * vertical blank comes from tessera_head_tick(); without a device nothing is seen.
 */
static void head_end_frame(struct tessera_head *head)
{
	struct drm_crtc *crtc = &head->crtc;
	u64 last;

	if (tessera_state(head_device(head)) != TESSERA_RUNNING || drm_crtc_vblank_get(crtc))
		return;

	last = drm_crtc_vblank_count(crtc);
	wait_event_timeout(*drm_crtc_vblank_waitqueue(crtc), drm_crtc_vblank_count(crtc) != last,
			   FRAME_MOST);
	drm_crtc_vblank_put(crtc);
}

static void tessera_crtc_atomic_disable(struct drm_crtc *crtc, struct drm_atomic_commit *state)
{
	struct tessera_head *head = crtc_to_head(crtc);
	struct tessera_device *tdev = head_device(head);
	int cookie;

	head_end_frame(head);
	spin_lock_irq(&tdev->drm.event_lock);
	head->on = false;
	head->starting = false;
	/* Planes that go with their CRTC are not told, those that come with it are. */
	memset(head->plane, 0, sizeof(head->plane));
	if (tessera_enter(tdev, &cookie)) {
		tessera_write(tdev, TSR_REG_DISPLAY_COMMIT(head->index),
			      TSR_DISPLAY_COMMIT_DISABLE__MASK);
		tessera_leave(tdev, cookie);
	} else {
		head->went_off = true;
	}
	head_forget(head);
	spin_unlock_irq(&tdev->drm.event_lock);

	drm_crtc_vblank_off(crtc);
	tessera_delay(TESSERA_DELAY_CRTC_DISABLE);

	spin_lock_irq(&tdev->drm.event_lock);
	if (!crtc->state->active)
		head_send(head, &crtc->state->event);
	spin_unlock_irq(&tdev->drm.event_lock);
	tessera_pm_put(tdev);
}

static void tessera_crtc_atomic_flush(struct drm_crtc *crtc, struct drm_atomic_commit *state)
{
	struct tessera_head *head = crtc_to_head(crtc);
	struct drm_device *drm = crtc->dev;

	spin_lock_irq(&drm->event_lock);
	if (state->legacy_cursor_update && !crtc->state->event &&
	    !drm_atomic_crtc_needs_modeset(crtc->state)) {
		tessera_head_move_cursor(head);
		spin_unlock_irq(&drm->event_lock);
		tessera_head_settle(head);
		return;
	}
	if (crtc->state->event) {
		/* One that a cursor's change has taken over in the meantime. */
		head_send(head, &head->next);
		swap(head->next, crtc->state->event);
	}
	head->write |= head->armed;
	head->armed = false;
	head->again = true;
	head_try(head);
	spin_unlock_irq(&drm->event_lock);
}

static const struct drm_crtc_helper_funcs tessera_crtc_helper_funcs = {
	.mode_valid = tessera_crtc_mode_valid,
	.atomic_enable = tessera_crtc_atomic_enable,
	.atomic_disable = tessera_crtc_atomic_disable,
	.atomic_flush = tessera_crtc_atomic_flush,
};

/* ---- vertical blanks ---- */

static int tessera_crtc_enable_vblank(struct drm_crtc *crtc)
{
	tessera_kms_want_irq(crtc_to_head(crtc), TSR_DISPLAY_IRQ_VBLANK, true);

	return 0;
}

static void tessera_crtc_disable_vblank(struct drm_crtc *crtc)
{
	tessera_kms_want_irq(crtc_to_head(crtc), TSR_DISPLAY_IRQ_VBLANK, false);
}

/* The count is @frame if that is more than it was. */
static void head_went_on(struct tessera_head *head, u32 frame)
{
	u32 was = READ_ONCE(head->frame);

	while ((s32)(frame - was) > 0) {
		u32 now = cmpxchg(&head->frame, was, frame);

		if (now == was)
			break;
		was = now;
	}
}

/* Without access to the device, tessera_head_tick() counts. */
static u32 tessera_crtc_get_vblank_counter(struct drm_crtc *crtc)
{
	struct tessera_head *head = crtc_to_head(crtc);
	struct tessera_device *tdev = head_device(head);
	int cookie;
	u32 frame;

	if (READ_ONCE(head->kms->lost) || !tessera_enter(tdev, &cookie))
		return READ_ONCE(head->frame);

	frame = tessera_read(tdev, TSR_REG_DISPLAY_FRAME(head->index));
	/* not if the device does not answer, nor back: callers hold different locks */
	if (frame != U32_MAX)
		head_went_on(head, frame + READ_ONCE(head->skew));
	tessera_leave(tdev, cookie);

	return READ_ONCE(head->frame);
}

/**
 * tessera_head_count_on() - vertical blanks are not counted backwards
 * @head: head of a device that was reset; the caller is recovery and holds the event lock
 *
 * Before the gate opens: FRAME stands while a head is off, after a reset of the function, and
 * tessera_head_tick() may have gone beyond it.
 */
void tessera_head_count_on(struct tessera_head *head)
{
	u32 frame = tessera_read(head_device(head), TSR_REG_DISPLAY_FRAME(head->index));

	if (frame != U32_MAX && (s32)(frame + head->skew - head->frame) < 0)
		WRITE_ONCE(head->skew, head->frame - frame);
}

/**
 * tessera_head_tick() - a vertical blank in place of a device's that is out of reach
 * @head: head
 *
 * Who waits for one, be it in the kernel, does not wait for recovery.
 */
void tessera_head_tick(struct tessera_head *head)
{
	struct tessera_device *tdev = head_device(head);
	bool away = true;
	int cookie;

	spin_lock_irq(&tdev->drm.event_lock);
	if (!head->kms->lost && tessera_enter(tdev, &cookie)) {
		tessera_leave(tdev, cookie);
		away = false;
	}
	if (away)
		WRITE_ONCE(head->frame, head->frame + 1);
	spin_unlock_irq(&tdev->drm.event_lock);

	if (away)
		drm_crtc_handle_vblank(&head->crtc);
}

/* The best of a few: an emulated register read can be interrupted by the host. */
#define CLOCK_SAMPLES 3

/* A vertical blank that is longer ago, or later than now, was read from a device that has gone. */
#define BLANK_AGE_MAX_S (24 * 60 * 60)

/* The device says when the vertical blank was, by its clock; ours and its now tell how long ago. */
static bool tessera_crtc_get_vblank_timestamp(struct drm_crtc *crtc, int *max_error,
					      ktime_t *vblank_time, bool in_irq)
{
	struct tessera_head *head = crtc_to_head(crtc);
	struct tessera_device *tdev = head_device(head);
	u64 blank, ticks, before, after, best = U64_MAX;
	unsigned int i;
	int cookie;

	if (!tessera_enter(tdev, &cookie))
		return false;

	blank = tessera_read64(tdev, TSR_REG_DISPLAY_VBLANK_TIME(head->index));
	for (i = 0; i < CLOCK_SAMPLES; i++) {
		unsigned long flags;

		local_irq_save(flags);
		before = ktime_get_ns();
		ticks = tessera_read64(tdev, TSR_REG_GPU_TIMESTAMP);
		after = ktime_get_ns();
		local_irq_restore(flags);
		/* All ones are no time. What passes this does not overflow below. */
		if (blank == U64_MAX ||
		    div_u64(ticks - blank, BLANK_AGE_MAX_S) >= tdev->info.timestamp_hz) {
			best = U64_MAX;
			break;
		}
		if (after - before >= best)
			continue;
		best = after - before;
		*vblank_time = ns_to_ktime(before + best / 2 -
					   mul_u64_u64_div_u64(ticks - blank, NSEC_PER_SEC,
							       tdev->info.timestamp_hz));
	}
	tessera_leave(tdev, cookie);
	*max_error = min_t(u64, best, INT_MAX);

	return best != U64_MAX;
}

/* ---- CRCs ---- */

static const char * const crc_sources[] = { "auto" };

static const char *const *tessera_crtc_get_crc_sources(struct drm_crtc *crtc, size_t *count)
{
	*count = ARRAY_SIZE(crc_sources);

	return crc_sources;
}

static int tessera_crtc_verify_crc_source(struct drm_crtc *crtc, const char *source,
					  size_t *values_cnt)
{
	*values_cnt = 1;

	return source && strcmp(source, crc_sources[0]) ? -EINVAL : 0;
}

static int tessera_crtc_set_crc_source(struct drm_crtc *crtc, const char *source)
{
	struct tessera_head *head = crtc_to_head(crtc);
	struct tessera_device *tdev = head_device(head);
	bool on = source;
	int cookie;

	if (source && strcmp(source, crc_sources[0]))
		return -EINVAL;

	/* While they come, vertical blanks are counted exactly. */
	if (on && drm_crtc_vblank_get(crtc))
		return -EINVAL;
	spin_lock_irq(&tdev->drm.event_lock);
	swap(head->crc, on);
	if (tessera_enter(tdev, &cookie)) {
		tessera_write(tdev, TSR_REG_DISPLAY_CRC_CONTROL(head->index), head->crc);
		tessera_leave(tdev, cookie);
	}
	spin_unlock_irq(&tdev->drm.event_lock);
	/* That of this call, or of the one before. */
	if (on)
		drm_crtc_vblank_put(crtc);

	return 0;
}

/* The number by which user space knows the vertical blank at which FRAME was @frame. */
static u32 frame_to_count(struct tessera_head *head, u32 frame)
{
	u32 now, count;

	do {
		now = tessera_crtc_get_vblank_counter(&head->crtc);
		count = drm_crtc_accurate_vblank_count(&head->crtc);
	} while (now != tessera_crtc_get_vblank_counter(&head->crtc));

	return count - (now - frame - READ_ONCE(head->skew));
}

/* Inside the gate, with the event lock. */
static void head_read_crcs(struct tessera_head *head)
{
	struct tessera_device *tdev = head_device(head);
	unsigned int n = head->index, i;

	for (i = 0; i < TSR_CRC_ENTRIES; i++) {
		u32 frame, value, count = tessera_read(tdev, TSR_REG_DISPLAY_CRC_COUNT(n));

		/* A device that does not answer reads as all ones and has no CRCs. */
		if (!count || count > TSR_CRC_ENTRIES)
			break;
		frame = tessera_read(tdev, TSR_REG_DISPLAY_CRC_FRAME(n));
		value = tessera_read(tdev, TSR_REG_DISPLAY_CRC_VALUE(n));
		tessera_write(tdev, TSR_REG_DISPLAY_CRC_NEXT(n), 1);
		drm_crtc_add_crc_entry(&head->crtc, true, frame_to_count(head, frame), &value);
	}
}

/**
 * tessera_head_irq() - interrupts of a head
 * @head: head; the caller is inside the gate
 * @bits: TSR_DISPLAY_IRQ_*
 */
void tessera_head_irq(struct tessera_head *head, u32 bits)
{
	struct drm_device *drm = head->crtc.dev;
	unsigned long flags;

	if (bits & TSR_DISPLAY_IRQ_VBLANK)
		drm_crtc_handle_vblank(&head->crtc);

	spin_lock_irqsave(&drm->event_lock, flags);
	tessera_head_go_on(head);
	head->underruns += !!(bits & TSR_DISPLAY_IRQ_UNDERRUN);
	if (bits & TSR_DISPLAY_IRQ_CRC)
		head_read_crcs(head);
	spin_unlock_irqrestore(&drm->event_lock, flags);
}

static const struct drm_crtc_funcs tessera_crtc_funcs = {
	.reset = drm_atomic_helper_crtc_reset,
	.atomic_duplicate_state = drm_atomic_helper_crtc_duplicate_state,
	.atomic_destroy_state = drm_atomic_helper_crtc_destroy_state,
	.set_config = drm_atomic_helper_set_config,
	.page_flip = drm_atomic_helper_page_flip,
	.enable_vblank = tessera_crtc_enable_vblank,
	.disable_vblank = tessera_crtc_disable_vblank,
	.get_vblank_counter = tessera_crtc_get_vblank_counter,
	.get_vblank_timestamp = tessera_crtc_get_vblank_timestamp,
	.get_crc_sources = tessera_crtc_get_crc_sources,
	.verify_crc_source = tessera_crtc_verify_crc_source,
	.set_crc_source = tessera_crtc_set_crc_source,
};

/**
 * tessera_crtc_init() - make the CRTC of a head
 * @head: head
 * @primary: its primary plane
 * @cursor: its cursor plane
 *
 * Return: 0 or a negative error.
 */
int tessera_crtc_init(struct tessera_head *head, struct drm_plane *primary,
		      struct drm_plane *cursor)
{
	int ret;

	ret = drmm_crtc_init_with_planes(&head_device(head)->drm, &head->crtc, primary, cursor,
					 &tessera_crtc_funcs, NULL);
	if (ret)
		return ret;

	drm_crtc_helper_add(&head->crtc, &tessera_crtc_helper_funcs);

	return 0;
}
