/* SPDX-License-Identifier: MIT */
#ifndef TG_QUERY_H
#define TG_QUERY_H

#include "tg_context.h"
#include "tg_statistics.h"

struct tg_query {
	unsigned type, index;		/* PIPE_QUERY_..., and which of a kind's */
	uint32_t kind;			/* enum tsr_query; for those the device counts */
	bool active;
	struct tg_bo *bo;		/* where the device counts, or writes times */
	struct tg_streamed begin, end;	/* the context's numbers of primitives then */
	uint64_t counted;		/* driver's counter at the beginning, then the result */
	uint64_t point;			/* PIPE_QUERY_GPU_FINISHED: what is waited for */
	struct tg_statistics statistics;
};

void tg_query_screen_init(struct pipe_screen *screen);

#endif
