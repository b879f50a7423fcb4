/* SPDX-License-Identifier: MIT */
/* FRAME, its targets, and the lists that render its tiles. The functions are pure. */
#ifndef TC_FRAME_H
#define TC_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "tsr_packets.h"
#include "tsr_regs.h"

#define TC_COLORS	8u
#define TC_FRAME_BYTES	1856u	/* of memory for tc_frame_pack() */
#define TC_FRAME_ALIGN	64u

/* Masks of targets: bit n is color target n. */
#define TC_DEPTH_BIT	(1u << 8)
#define TC_STENCIL_BIT	(1u << 9)

struct tc_frame {
	uint32_t width, height, layers;	/* pixels */
	uint32_t samples_log2;
	uint32_t colors;		/* color targets */
	uint32_t pixel_bytes;		/* of all color targets, one sample */
	struct tsr_render_target color[TC_COLORS], depth, stencil;
	bool has_depth, has_stencil;
	uint64_t heap;
	uint32_t x0, y0, x1, y1;	/* pixels that are rendered, without column x1, row y1 */
	uint32_t render_layers;		/* the first ones that are rendered */
	uint32_t views;			/* mask of those of them that are; 0: all */
	uint32_t clear, load, store;	/* masks: done with each tile, the last after its draws */
};

/* Addresses of what tc_frame_pack() has written. */
struct tc_frame_lists {
	uint64_t frame;			/* FRAME, the first thing in the memory */
	uint64_t render;		/* RENDER's list */
	uint32_t render_size;
};

/* tc_tile_shift(): log2 of the side of a tile; 0: no tile fits into the device's tile memory. */
unsigned tc_tile_shift(const struct tc_frame *frame);

/*
 * tc_frame_pack(): write a frame to TC_FRAME_BYTES bytes of memory at @va. Returns false if a tile
 * does not fit into the device, or if the frame has no pixel.
 */
bool tc_frame_pack(const struct tc_frame *frame, uint64_t va, uint64_t *words,
		   struct tc_frame_lists *out);

#endif
