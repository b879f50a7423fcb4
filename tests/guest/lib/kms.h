/* SPDX-License-Identifier: MIT */
/*
 * Mode setting with raw ioctls: what the kms_* tests share. Set-up that fails ends the program;
 * calls that return int give 0 or -errno.
 */
#ifndef KMS_H
#define KMS_H

#include "gt.h"

#include <drm.h>
#include <drm_fourcc.h>
#include <drm_mode.h>

#define KMS_HEADS	4
#define KMS_PLANES	3		/* of a head: primary, overlay, cursor */

struct kms_head {
	uint32_t crtc, connector, plane[KMS_PLANES];
};

struct kms {
	int fd;				/* primary node, master, atomic */
	unsigned int heads;
	struct kms_head head[KMS_HEADS];
};

/* A picture in a dumb buffer, with a framebuffer. */
struct kms_fb {
	uint32_t handle, id, width, height, pitch;
	uint64_t size;
	void *map;
};

struct kms kms_open(void);
void kms_close(struct kms *k);

/* kms_mode(): the first mode of a connector, or that of @width by @height. */
struct drm_mode_modeinfo kms_mode(struct kms *k, unsigned int head, unsigned int width,
				  unsigned int height);
/* kms_status(): 1 connected, 2 not; probes. *@width: of the first mode. */
uint32_t kms_status(struct kms *k, unsigned int head, unsigned int *width);

struct kms_fb kms_fb(struct kms *k, unsigned int width, unsigned int height, uint32_t format);
/* kms_addfb(): a framebuffer of a handle; 0 or -errno. */
int kms_addfb(struct kms *k, struct drm_mode_fb_cmd2 *cmd);
int kms_rmfb(struct kms *k, uint32_t id);
void kms_fb_free(struct kms *k, struct kms_fb *fb);

/* An atomic request. */
struct kms_request {
	struct kms *k;
	unsigned int count;
	uint32_t object[64], property[64];
	uint64_t value[64];
};

/* kms_property(): the id of a property; 0: there is none. *@value: as it is now, or NULL. */
uint32_t kms_property(struct kms *k, uint32_t object, uint32_t type, const char *name,
		      uint64_t *value);
/* kms_set(): of a connector, CRTC or plane (DRM_MODE_OBJECT_…), by name; ends without it. */
void kms_set(struct kms_request *r, uint32_t object, uint32_t type, const char *name,
	     uint64_t value);
void kms_set_plane(struct kms_request *r, unsigned int head, unsigned int plane, uint32_t fb,
		   int x, int y, unsigned int width, unsigned int height);
/* kms_set_mode(): NULL: the head goes off. */
void kms_set_mode(struct kms_request *r, unsigned int head, const struct drm_mode_modeinfo *mode);
int kms_commit(struct kms_request *r, uint32_t flags, uint64_t user);
/* kms_show(): mode and primary plane, blocking. */
int kms_show(struct kms *k, unsigned int head, const struct drm_mode_modeinfo *mode, uint32_t fb);
int kms_off(struct kms *k, unsigned int head);

/* kms_event(): the next event of the file, flips and vertical blanks; false: none in time. */
bool kms_event(struct kms *k, struct drm_event_vblank *event, unsigned int ms);
int kms_sequence(struct kms *k, unsigned int head, uint64_t *sequence, uint64_t *ns);

/* CRCs of a head, from debugfs: -errno, or a file for kms_crc(). */
int kms_crc_open(unsigned int head);
/* kms_crc(): the next one: the frame's number and the CRC-32; false: none in time. */
bool kms_crc(int fd, uint32_t *frame, uint32_t *crc);
/* kms_crc_of(): that of pixels, XRGB8888 without gaps, as the hardware's specification says. */
uint32_t kms_crc_of(const uint32_t *pixels, size_t count);
/* kms_mapped(): how often the driver has mapped a framebuffer; *@idle: how many are, unneeded. */
uint64_t kms_mapped(unsigned int *idle);
/* kms_crc_settles(): whether one of the next CRCs is @crc. */
bool kms_crc_settles(unsigned int head, uint32_t crc);

#endif /* KMS_H */
