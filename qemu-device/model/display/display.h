/* SPDX-License-Identifier: MIT */
/*
 * Display controller: heads with modes, planes, vertical blanks and CRCs.
 *
 *   display.c       registers, commits, vertical blanks
 *   picture.c       the shadow's registers checked and decoded
 *   compose.c       frames: when one begins and ends, its rows, its CRC
 *   frame_memory.c  the memory of frames
 *   plane.c         texels of a plane, a row at a time
 *   writeback.c     a frame's rows to memory
 *
 * In: register writes, the host's clock, requests of the host for frames. Out: interrupts, frames.
 * A thread of the device (device/scanout.c) composes a frame, outside the lock and one row at a
 * time. Between two rows it checks for a stop request. Everything else here needs the device's
 * lock. Limits: TSR_HEADS_MAX heads, SCREEN_PIXELS_MAX pixels of a mode, head_pixels of all modes.
 * A head that is on has memory for two frames, a head that is off has none. Reset state: all heads
 * off, shadows zero.
 */
#ifndef TSR_DISPLAY_H
#define TSR_DISPLAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "units/msg_format.h"
#include "tsr_regs.h"

struct tsr_mem;
struct tsr_port;
struct tsr_stream;

#define TSR_PLANE_WORDS 13		/* registers of a plane, in words */
#define TSR_TAG_DIM 8			/* texels of a block that has a tag, along both axes */
#define TSR_TASK_WORDS 6		/* registers of DAMAGE and WRITEBACK, in words */

/* The shadow: registers as written. */
struct tsr_shadow {
	uint32_t mode_h, mode_v, mode_clock, background;
	uint32_t task[TSR_TASK_WORDS];	/* from DAMAGE_POS on */
	uint32_t plane[TSR_PLANES][TSR_PLANE_WORDS];
};

/* A plane, ready to be composed. */
struct tsr_plane {
	uint64_t addr;			/* 0: it is off */
	struct tsr_format format;
	uint32_t pitch;
	bool tiled, tagged;		/* tagged ones are tiled */
	uint64_t tags, clear;		/* if tagged */
	uint32_t tag_pitch;
	uint8_t blend;			/* enum tsr_plane_blend */
	uint8_t zpos;
	float alpha;
	bool opaque;			/* has 8-bit texels that hide the planes below */
	int32_t x, y;			/* position of its first texel on the screen */
	uint32_t width, height, src_x, src_y;
};

/* The visible picture, decoded from an accepted shadow. */
struct tsr_picture {
	struct tsr_shadow shadow;
	uint32_t width, height;		/* of the mode */
	struct tsr_plane plane[TSR_PLANES];
	uint8_t order[TSR_PLANES];	/* planes by ZPOS */
};

/* Rows of a plane at hand: one, or those of a row of tiles. */
struct tsr_band {
	uint8_t *texels;		/* NULL: nothing */
	uint32_t first, rows;		/* which rows of the plane's memory */
	uint32_t row_bytes;
};

/* Rows [from, to); none if to is not above from. */
struct tsr_rows {
	uint32_t from, to;
};

/* Where a frame is to be written. */
struct tsr_writeback {
	uint64_t addr;
	struct tsr_format format;
	uint32_t pitch;
};

/*
 * A frame being composed, into head->back. Belongs to the thread that composes it, else lock.
 */
struct tsr_composition {
	struct tsr_picture picture;
	uint64_t frame;			/* FRAME it is for */
	uint32_t row;			/* the next one */
	bool crc;			/* one is wanted */
	const uint32_t (*crc_table)[256];	/* of the display */
	uint32_t crc_value;		/* CRC of the rows before @row, not yet inverted */
	uint64_t cycles;		/* modelled work of the present slice */
	/* Memory of one row, NULL until the first slice; @pixels owns that of all three. */
	uint32_t *pixels;
	float (*colors)[3];
	uint8_t *line;			/* texels for writeback */
	const uint32_t *before;		/* the frame before, or NULL; may be that in head->back */
	struct tsr_rows rows;		/* to be read; others are those of the frame before */
	bool writes;			/* copied to @writeback; row @written is next */
	struct tsr_writeback writeback;
	uint32_t written;
	bool write_failed;
	bool underrun;			/* something could not be read, first at … */
	uint64_t underrun_addr;
	uint64_t lost_addr;		/* of the present row */
	/* the device's host_seq with which it got stuck, plus 1; 0: it is not */
	uint64_t stuck_seq;
	bool patient;			/* the host is waited for in this slice */
	struct tsr_band band[TSR_PLANES];
};

struct tsr_crc_entry {
	uint32_t frame, value;
};

/* Memory for a frame. */
struct tsr_frame_memory {
	uint32_t *pixels;		/* XRGB8888, rows without gaps; NULL: none is allocated */
	uint32_t width, height;
	uint64_t serial;		/* of the complete frame in it; 0: it has none */
};

struct tsr_head {
	unsigned int index;
	struct tsr_shadow shadow;
	struct tsr_picture waiting, shown;	/* if @pending, @on */
	bool on, pending, bad;
	bool flip_deferred;		/* FLIP comes when the frame being composed is done */
	uint64_t on_since;		/* host clock of vertical blank 0 */
	uint64_t blanks;		/* vertical blanks since, without that one */
	uint64_t frame, vblank_time;
	uint64_t first_crc;		/* frame that may have one */
	uint64_t underrun_addr;
	/*
	 * The driver says what changes; @dirty: rows that have since the last frame began; how
	 * many requests of the host ago one was read whole; what the commit that waits says.
	 */
	bool partial;
	struct tsr_rows dirty;
	uint8_t skipped;
	bool waiting_partial;
	struct tsr_rows waiting_dirty;
	/* A writeback comes with @waiting; with the next frame that begins; it is on its way. */
	bool write_waits, write_due, write_pending, write_failed;
	bool crc_on;
	uint8_t crc_first, crc_count;
	struct tsr_crc_entry crc[TSR_CRC_ENTRIES];
	/* The monitor, as the host says. */
	bool present;
	uint32_t edid[TSR_EDID_WORDS];
	/* Frames. */
	bool requested;			/* the host wants one */
	bool crc_due;			/* one with a CRC is to begin */
	bool begun;			/* one is being composed: @composition holds */
	struct tsr_port *port;		/* of the thread that composes it now, or NULL */
	uint8_t patience;		/* vertical blanks for which it still waits for the host */
	struct tsr_composition composition;
	struct tsr_frame_memory front;	/* the frame the host sees */
	struct tsr_frame_memory back;	/* the next frame is composed here */
	bool late;			/* @back had a newer frame than @front when @lent */
	uint64_t serial;		/* of the last frame that was completed */
	bool lent;			/* the host reads @front: its memory stays */
};

/*
 * The part of the device that the display uses. The device fills it once, before
 * tsr_display_init(). All functions are called with the device's lock held.
 */
struct tsr_display_device {
	void *opaque;			/* argument of all */
	uint64_t (*clock)(void *opaque);	/* the host's clock, ns */
	uint64_t (*timestamp)(void *opaque);	/* GPU.TIMESTAMP */
	/* Have tsr_display_expired() called at host clock @when at the latest. */
	void (*want)(void *opaque, uint64_t when);
	/* Raise @bits of the interrupt class DISPLAY. */
	void (*raise)(void *opaque, uint64_t bits);
	/* @wanted is not 0: have a thread look at it, one that runs a queue too if @interrupt. */
	void (*wake)(void *opaque, bool interrupt);
	/* Wait until a thread goes idle. Releases the lock meanwhile. */
	void (*wait)(void *opaque);
	/* Tell the host that @head has gone off. */
	void (*frame)(void *opaque, unsigned int head);
};

struct tsr_display {
	struct tsr_display_device device;
	bool deterministic;		/* as the device */
	uint64_t head_pixels;		/* of all modes together, at most */
	struct tsr_head head[TSR_HEADS_MAX];
	unsigned int heads;
	unsigned int turn;		/* head that is composed next, if it can be */
	/* bit n: a thread can go on with head n's frame; idle workers look at it while they spin */
	_Atomic uint32_t wanted;
	bool reset;			/* a reset of the function is on its way */
	/* crc_table[n][b]: what byte b has become in a CRC n bytes later */
	uint32_t crc_table[3][256];
};

/* Before anything else. */
void tsr_display_init(struct tsr_display *display);

/* All heads off. No thread composes. Lock held. */
void tsr_display_reset(struct tsr_display *display);
void tsr_display_free(struct tsr_display *display);
/* Register accesses, at @offset in the block of @head. Lock held. */
uint32_t tsr_display_read(struct tsr_display *display, unsigned int head, uint32_t offset);
void tsr_display_write(struct tsr_display *display, unsigned int head, uint32_t offset,
		       uint32_t value);
/* The host's timer has expired at @now: vertical blanks that are due. Lock held. */
void tsr_display_expired(struct tsr_display *display, uint64_t now);
/* Have the timer expire at the next vertical blank. Lock held. */
void tsr_display_arm(struct tsr_display *display);
/* The host may have answered: go on with frames that wait for it. Lock held. */
void tsr_display_host_ready(struct tsr_display *display);
/* Interrupts of @head: @bits of DISPLAY_IRQ. Lock held. */
void tsr_head_raise(struct tsr_display *display, const struct tsr_head *head, uint32_t bits);
/* Snapshots. Lock held, the device is paused. */
void tsr_display_visit(struct tsr_stream *s, struct tsr_display *display);

/*
 * picture.c: decode @shadow; false: it is refused. @mode: its mode counts, else @picture's stays.
 */
bool tsr_picture_decode(struct tsr_picture *picture, const struct tsr_shadow *shadow, bool mode);
/* Have plane CURSOR as @words say; false: they are refused. */
bool tsr_picture_cursor(struct tsr_picture *picture, const uint32_t *words);
/* Decodes a CONVERSION word. False if the display does not support the format. */
bool tsr_picture_format(struct tsr_format *format, uint32_t word);
/* Nanoseconds of @n vertical periods of a mode, rounded down; most periods that take @ns. */
uint64_t tsr_picture_time(const struct tsr_shadow *mode, uint64_t n);
uint64_t tsr_picture_periods(const struct tsr_shadow *mode, uint64_t ns);

/* compose.c */
/* Begin the frame of @head, if it is wanted and none is being composed. Lock held. */
void tsr_compose_begin(struct tsr_display *display, struct tsr_head *head);
/*
 * The host wants a frame of @head: begin it, now or when that can be. False: what it has is that
 * already. Lock held.
 */
bool tsr_compose_request(struct tsr_display *display, struct tsr_head *head);
/*
 * The next head, in turn, with whose frame a thread can go on; NULL if none. @host_seq: answers of
 * the host until now. Lock held.
 */
struct tsr_head *tsr_compose_next(struct tsr_display *display, uint64_t host_seq);
/*
 * Compose one slice of the frame: rows, until all are complete, @limit cycles are used up, the
 * thread is to stop, or the host has to be asked. Without the lock; head->port is that of @mem.
 * Returns the cycles.
 */
uint64_t tsr_compose_slice(struct tsr_head *head, struct tsr_mem *mem, uint64_t host_seq,
			   uint64_t limit);
/* After a slice: returns true if the frame is complete, and begins the next. Lock held. */
bool tsr_compose_end(struct tsr_display *display, struct tsr_head *head);
/* Forget the frame that has begun; no thread composes it at this moment. */
void tsr_compose_drop(struct tsr_head *head);
/* Fill the table of CRCs. */
void tsr_crc_init(uint32_t table[3][256]);
/* frame_memory.c: have @memory for a frame of that size; false: there is no memory. */
bool tsr_frame_memory_make(struct tsr_frame_memory *memory, uint32_t width, uint32_t height);
/* The newest frame that is complete, or NULL. Lock held. */
const struct tsr_frame_memory *tsr_frame_memory_last(const struct tsr_head *head);
/* The frame in head->back is complete. Lock held. */
void tsr_frame_memory_show(struct tsr_head *head);
/* The host does not read head->front any more. Lock held. */
void tsr_frame_memory_return(struct tsr_head *head);
/* Free both frames; the one that is lent when the host returns it. No thread composes. */
void tsr_frame_memory_free(struct tsr_head *head);

/* plane.c: what has become of a row. */
enum tsr_row {
	TSR_ROW_READ,
	TSR_ROW_STUCK,			/* the host has to be asked */
	TSR_ROW_LOST,			/* c->lost_addr says where */
};

/* Have row @y of the screen of plane @n at hand: *@texels is the one at its first visible pixel. */
enum tsr_row tsr_plane_row(struct tsr_composition *c, struct tsr_mem *mem, unsigned int n,
			   uint32_t y, const uint8_t **texels);

/* writeback.c: decode what @shadow says of one; false: it is refused. */
bool tsr_writeback_decode(struct tsr_writeback *w, const struct tsr_shadow *shadow);
/*
 * Write row c->written of @frame, which is composed, and go to the next. False: the host has to be
 * asked.
 */
bool tsr_writeback_row(struct tsr_composition *c, struct tsr_mem *mem, const uint32_t *frame);
/* Account for @len bytes that were read or written. */
static inline void tsr_compose_bytes(struct tsr_composition *c, uint64_t len)
{
	c->cycles += (len + 63) / 64;
}

/* Pixels [*@from, *@to) of row @y of the screen are plane @p's; false: none is. */
bool tsr_plane_span(const struct tsr_picture *picture, const struct tsr_plane *p, uint32_t y,
		    uint32_t *from, uint32_t *to);

#endif
