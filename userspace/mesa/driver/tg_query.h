/* SPDX-License-Identifier: MIT */
#ifndef TG_QUERY_H
#define TG_QUERY_H

#include "tg_context.h"

struct tg_query {
	unsigned type;			/* PIPE_QUERY_… */
	uint32_t kind;			/* enum tsr_query; for those the device counts */
	bool active;
	struct tg_bo *bo;		/* where it counts */
	uint64_t begin, end; /* numbers of primitives; end: or the point that is waited for */
};

#endif
