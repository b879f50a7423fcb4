/* SPDX-License-Identifier: MIT */
#ifndef TG_QUERY_H
#define TG_QUERY_H

#include "tg_context.h"

struct tg_query {
	unsigned type;			/* PIPE_QUERY_… */
	uint32_t kind;			/* enum tsr_query; for those the device counts */
	bool active;
	struct tg_bo *bo;		/* where the device counts, or writes times */
	uint64_t begin, end; /* numbers of primitives; end: or the point that is waited for */
};

void tg_query_screen_init(struct pipe_screen *screen);

#endif
