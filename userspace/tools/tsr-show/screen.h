/* SPDX-License-Identifier: MIT */
/*
 * A screen of the GPU's, by atomic mode setting: the first monitor there is, in the mode that it
 * prefers.
 *
 * Functions return 0, or -1 with one line of text in @error (of SCREEN_ERROR bytes).
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdint.h>

#include <xf86drm.h>
#include <xf86drmMode.h>

#define SCREEN_ERROR 200

/* Properties that a flip sets. */
enum {
	SCREEN_CONNECTOR_CRTC, SCREEN_MODE, SCREEN_ACTIVE, SCREEN_OUT_FENCE, SCREEN_FB,
	SCREEN_PLANE_CRTC, SCREEN_IN_FENCE, SCREEN_CRTC_W, SCREEN_CRTC_H, SCREEN_SRC_W,
	SCREEN_SRC_H, SCREEN_PROPERTIES
};

struct screen {
	int fd;				/* primary node; this program is its master */
	uint32_t connector, crtc, plane;
	uint32_t property[SCREEN_PROPERTIES];
	drmModeModeInfo mode;
	uint32_t blob;			/* of the mode */
	int on;				/* a picture is shown */
};

/* screen_open(): @path: node, NULL: the first Tessera GPU with a monitor. */
int screen_open(struct screen *screen, const char *path, char *error);
void screen_close(struct screen *screen);

/*
 * screen_add(): a framebuffer of the screen's size in a dma-buf: XBGR8888, rows @pitch bytes apart
 * (of tiles: a row of tiles divided by 16).
 */
int screen_add(struct screen *screen, int dma_buf, uint64_t offset, uint32_t pitch,
	       uint64_t modifier, uint32_t *id, char *error);

/*
 * screen_flip(): show @id at the next vertical blank after @ready has signalled; *@shown, the
 * caller's to close, signals when it is shown and nothing of the picture before is read any more.
 * The flip before has to be over.
 */
int screen_flip(struct screen *screen, uint32_t id, int ready, int *shown, char *error);

/* screen_blanks(): vertical blanks so far. */
uint64_t screen_blanks(struct screen *screen);

#endif
