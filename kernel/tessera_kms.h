/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_KMS_H__
#define __TESSERA_KMS_H__

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <drm/drm_connector.h>
#include <drm/drm_crtc.h>
#include <drm/drm_encoder.h>
#include <drm/drm_framebuffer.h>
#include <drm/drm_mm.h>
#include <drm/drm_plane.h>
#include <drm/drm_rect.h>
#include <drm/drm_writeback.h>

#include "tsr_regs.h"

struct drm_mode_fb_cmd2;
struct drm_pending_vblank_event;
struct seq_file;
struct tessera_bo;
struct tessera_device;
struct tessera_kms;

/* A plane's registers, in words. */
enum {
	TESSERA_PLANE_ADDR, TESSERA_PLANE_ADDR_HIGH, TESSERA_PLANE_FORMAT, TESSERA_PLANE_PITCH,
	TESSERA_PLANE_CONFIG, TESSERA_PLANE_POS, TESSERA_PLANE_SIZE, TESSERA_PLANE_SRC,
	TESSERA_PLANE_TAGS, TESSERA_PLANE_TAGS_HIGH, TESSERA_PLANE_CLEAR,
	TESSERA_PLANE_CLEAR_HIGH, TESSERA_PLANE_TAG_PITCH,
	TESSERA_PLANE_WORDS
};

/**
 * enum tessera_fb_use - what the device does with a framebuffer
 * @TESSERA_FB_SHOW: it reads it
 * @TESSERA_FB_WRITE: it writes a frame there
 * @TESSERA_FB_USES: number of uses
 */
enum tessera_fb_use {
	TESSERA_FB_SHOW,
	TESSERA_FB_WRITE,
	TESSERA_FB_USES
};

/**
 * struct tessera_target - where a writeback goes
 * @addr: WRITEBACK_ADDR
 * @format: WRITEBACK_FORMAT
 * @pitch: WRITEBACK_PITCH
 */
struct tessera_target {
	u64 addr;
	u32 format;
	u32 pitch;
};

/**
 * struct tessera_monitor - what the device reports of a monitor
 */
struct tessera_monitor {
	/** @present: 1 if a monitor is connected, else 0; u32, so no padding. */
	u32 present;
	/** @edid: Its EDID; all zero while none is connected. */
	u32 edid[TSR_EDID_WORDS];
};

/**
 * struct tessera_head - a head of the display controller: CRTC, encoder, connector
 *
 * What is not marked otherwise is protected by &drm_device.event_lock, below which there
 * is only the lock of the interrupt mask.
 */
struct tessera_head {
	/** @crtc: CRTC. */
	struct drm_crtc crtc;
	/** @encoder: Encoder, which does nothing. */
	struct drm_encoder encoder;
	/** @connector: The monitor. */
	struct drm_connector connector;
	/** @writeback: Where frames are written. */
	struct drm_writeback_connector writeback;
	/** @writeback_encoder: Its encoder. */
	struct drm_encoder writeback_encoder;
	/** @kms: What all heads share, constant. */
	struct tessera_kms *kms;
	/** @index: Number of the head, constant. */
	unsigned int index;

	/** @mode: MODE_H, MODE_V, MODE_CLOCK as they are to be. */
	u32 mode[3];
	/** @plane: Registers of the planes as they are to be. */
	u32 plane[TSR_PLANES][TESSERA_PLANE_WORDS];
	/** @unsettled: A cursor's change waits for a LATCH: what it replaces is shown till then. */
	bool unsettled;
	/** @damage: What of the screen is not as the device has read it last. */
	struct drm_rect damage;
	/** @cursor_damage: The same by the cursor alone. */
	struct drm_rect cursor_damage;
	/** @partial: User space says what changes. */
	bool partial;
	/** @target: Where the next writeback goes. */
	struct tessera_target target;
	/** @armed: A writeback waits for the rest of its commit. */
	bool armed;
	/** @write: The next LATCH comes with a writeback. */
	bool write;
	/** @writing: The device has a writeback that may not be over. */
	bool writing;
	/** @dropped: Writebacks after the one of @writing that were given up. */
	unsigned int dropped;
	/** @went_off: The head went off and the device, out of reach, has not been told. */
	bool went_off;
	/** @on: The head is to be on. */
	bool on;
	/** @starting: It goes on with the LATCH that comes, or is not over. */
	bool starting;
	/** @crc: Each frame is to have a CRC. */
	bool crc;
	/** @again: What is to be has not been latched yet; it will be as soon as can be. */
	bool again;
	/** @latching: The device has a LATCH that may not be over. */
	bool latching;
	/** @next: Event of what @again is about, or NULL. */
	struct drm_pending_vblank_event *next;
	/** @event: Event of what @latching is about, or NULL. */
	struct drm_pending_vblank_event *event;
	/** @frame: Vertical blanks, as DRM has been told last. */
	u32 frame;
	/** @skew: What DRM's count is ahead of FRAME. */
	u32 skew;
	/** @underruns: Frames that could not be read whole. */
	u64 underruns;
	/** @monitor: What user space was told about last; &tessera_kms.monitor_lock. */
	struct tessera_monitor monitor;
};

/**
 * struct tessera_kms - the display controller
 */
struct tessera_kms {
	/** @tdev: Device. */
	struct tessera_device *tdev;
	/** @num_heads: Heads. */
	unsigned int num_heads;
	/** @max_pixels: Most pixels that the modes of all heads have together. */
	u32 max_pixels;
	/** @lost: The device does not come back; &drm_device.event_lock. */
	bool lost;
	/** @pin_lock: Protects @mm, @idle and places of framebuffers; above reservations. */
	struct mutex pin_lock;
	/** @mm: Where in the kernel's address space framebuffers are. */
	struct drm_mm mm;
	/** @idle: Places that are mapped and not needed now, the oldest first. */
	struct list_head idle;
	/** @num_idle: How many. */
	unsigned int num_idle;
	/** @mapped: How often a framebuffer was mapped. */
	u64 mapped;
	/** @irq_lock: Protects @irq_mask and the register; a leaf lock. */
	spinlock_t irq_lock;
	/** @irq_mask: Interrupts of the class that are wanted. */
	u64 irq_mask;
	/** @hotplug: Tells user space about monitors. */
	struct work_struct hotplug;
	/** @plugged: Heads it is about, a bit each; atomic. */
	unsigned long plugged;
	/** @monitor_lock: One comparison of monitors at a time; above the locks of modes. */
	struct mutex monitor_lock;
	/** @poll: Wakes a device that sleeps, to look for monitors. */
	struct delayed_work poll;
	/** @watch: Looks for interrupts that were lost. */
	struct delayed_work watch;
	/** @head: The heads. */
	struct tessera_head head[TSR_HEADS_MAX];
};

/**
 * struct tessera_fb_place - where the device finds the BO of a framebuffer
 *
 * All but constants is protected by &tessera_kms.pin_lock.
 */
struct tessera_fb_place {
	/** @bo: BO, constant. */
	struct tessera_bo *bo;
	/** @node: Range of the kernel's address space, allocated while the BO is mapped there. */
	struct drm_mm_node node;
	/** @pins: Plane states, or jobs, that need it there. */
	unsigned int pins;
	/** @idle: Link in &tessera_kms.idle, while it is mapped without @pins. */
	struct list_head idle;
};

/**
 * struct tessera_framebuffer - memory with the shape of a picture
 */
struct tessera_framebuffer {
	/** @base: Framebuffer; first, so that it can be freed by its address. */
	struct drm_framebuffer base;
	/** @place: Where its BO is, for each use. */
	struct tessera_fb_place place[TESSERA_FB_USES];
};

static inline struct tessera_framebuffer *to_tessera_framebuffer(struct drm_framebuffer *fb)
{
	return container_of(fb, struct tessera_framebuffer, base);
}

static inline struct tessera_head *crtc_to_head(struct drm_crtc *crtc)
{
	return container_of(crtc, struct tessera_head, crtc);
}

/* tessera_kms.c */
int tessera_kms_init(struct tessera_device *tdev);
void tessera_kms_setup_clients(struct tessera_device *tdev);
void tessera_kms_irq(struct tessera_device *tdev, u64 status);
u64 tessera_kms_irq_mask(struct tessera_device *tdev);
void tessera_kms_want_irq(struct tessera_head *head, u32 bits, bool want);
bool tessera_kms_run(struct tessera_device *tdev);
void tessera_kms_lose(struct tessera_device *tdev);
void tessera_kms_unplug(struct tessera_device *tdev);
int tessera_kms_suspend(struct tessera_device *tdev);
void tessera_kms_resume(struct tessera_device *tdev);
void tessera_kms_poll(struct tessera_device *tdev);
void tessera_kms_print(struct tessera_device *tdev, struct seq_file *m);

/* tessera_crtc.c */
int tessera_crtc_init(struct tessera_head *head, struct drm_plane *primary,
		      struct drm_plane *cursor);
void tessera_head_irq(struct tessera_head *head, u32 bits);
void tessera_head_go_on(struct tessera_head *head);
void tessera_head_count_on(struct tessera_head *head);
void tessera_head_tick(struct tessera_head *head);
void tessera_head_restore(struct tessera_head *head);
void tessera_head_lose(struct tessera_head *head);
void tessera_head_move_cursor(struct tessera_head *head);
void tessera_head_settle(struct tessera_head *head);
void tessera_head_set_plane(struct tessera_head *head, unsigned int number, const u32 *words,
			    const struct drm_rect *damage);
void tessera_head_set_target(struct tessera_head *head, const struct tessera_target *target);
void tessera_head_refresh(struct tessera_head *head);

/* tessera_plane.c */
struct drm_plane *tessera_plane_create(struct tessera_head *head, unsigned int number);
u32 tessera_format_conversion(u32 format);

/* tessera_connector.c */
int tessera_connector_init(struct tessera_head *head);
bool tessera_connector_look(struct tessera_head *head, struct tessera_monitor *monitor);

/* tessera_writeback.c */
int tessera_writeback_init(struct tessera_head *head);

/* tessera_framebuffer.c */
extern const u64 tessera_modifiers[];
const struct drm_format_info *tessera_framebuffer_info(u32 format, u64 modifier);
struct drm_framebuffer *
tessera_framebuffer_create(struct drm_device *drm, struct drm_file *file,
			   const struct drm_format_info *info,
			   const struct drm_mode_fb_cmd2 *cmd);
int tessera_framebuffer_pin(struct tessera_kms *kms, struct drm_framebuffer *fb,
			    enum tessera_fb_use use);
void tessera_framebuffer_unpin(struct tessera_kms *kms, struct drm_framebuffer *fb,
			       enum tessera_fb_use use);
u64 tessera_framebuffer_addr(struct drm_framebuffer *fb, unsigned int plane,
			     enum tessera_fb_use use);
void tessera_framebuffers_forget(struct tessera_device *tdev, struct tessera_bo *bo);
void tessera_framebuffers_print(struct tessera_kms *kms, struct seq_file *m);

#endif
