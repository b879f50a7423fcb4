/* SPDX-License-Identifier: MIT */
/* Command streams for fuzzers: GT_STREAMS streams of GT_STREAM_SIZE bytes at GT_CMD_VA. */
#ifndef GT_STREAMS_H
#define GT_STREAMS_H

#include "gt.h"

#define GT_STREAM_SIZE	64
#define GT_STREAMS	6
#define GT_STREAMS_SIZE	(8 * GT_PAGE)	/* of the buffer, which some of them write */
#define GT_ENDLESS_VA	(GT_CMD_VA + 5 * GT_STREAM_SIZE)	/* the last one */

/*
 * One each that is fine, that faults, that is malformed, with a wait that holds, that fills its own
 * buffer, and without an end.
 */
static inline void gt_write_streams(void *map)
{
	struct gt_cs cs = { .words = map, .va = GT_CMD_VA, .room = 512 };

	GT_EMIT(&cs, nop, .qwords = 8);
	GT_EMIT(&cs, copy_linear, .src = 0x7fff000000, .dst = GT_CMD_VA + 0x1000, .size = 64);
	GT_EMIT(&cs, nop, .qwords = 4);
	gt_cs_word(&cs, 0x7f);
	GT_EMIT(&cs, nop, .qwords = 7);
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = GT_CMD_VA + 0x1000, .value = 0);
	GT_EMIT(&cs, nop, .qwords = 5);
	GT_EMIT(&cs, fill_linear, .texel = 1, .dst = GT_CMD_VA + 0x2000, .size = 0x4000,
		.pattern_lo = 0xab);
	GT_EMIT(&cs, nop, .qwords = 3);
	GT_EMIT(&cs, fill_linear, .texel = 1, .dst = GT_CMD_VA + 0x2000, .size = 64);
	GT_EMIT(&cs, jump, .addr = GT_ENDLESS_VA, .size = 64);
}

#endif
