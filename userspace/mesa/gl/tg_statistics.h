/* SPDX-License-Identifier: MIT */
/*
 * Statistics of the pipeline. The device adds all of them to one place in memory, but each query
 * may begin and end by itself. So whenever one does, the context goes on with another place, a
 * part. The result of a query is the sum over the parts that there were meanwhile.
 */
#ifndef TG_STATISTICS_H
#define TG_STATISTICS_H

#include "util/list.h"
#include "util/u_dynarray.h"

#include "pipe/p_defines.h"

struct tg_batch;
struct tg_bo;
struct tg_context;

struct tg_statistics {
	struct list_head link;		/* of ctx->statistics_queries, while it is active */
	struct util_dynarray parts;	/* struct tg_bo *, each a reference */
	uint64_t invocations;		/* of compute shaders: begin, then the difference */
};

void tg_statistics_init(struct tg_statistics *s);
void tg_statistics_finish(struct tg_statistics *s);

/* tg_statistics_begin(): forget the parts, count from now on. False: out of memory. */
bool tg_statistics_begin(struct tg_context *ctx, struct tg_statistics *s);
void tg_statistics_end(struct tg_context *ctx, struct tg_statistics *s);

/* tg_statistics_result(): false: the result is not there yet, and @wait is not set. */
bool tg_statistics_result(struct tg_context *ctx, const struct tg_statistics *s,
			  enum pipe_statistics_query_index index, bool wait, uint64_t *result);

/* tg_statistics_emit(): the LIST_QUERY of the present part; @count: false counts nothing. */
void tg_statistics_emit(struct tg_context *ctx, struct tg_batch *batch, bool count);

#endif
