/* SPDX-License-Identifier: MIT */
/*
 * Occlusion is counted by the device into memory that is cleared when a query begins; times are
 * written by the device when it is done with what came before.
 */
#include <time.h>

#include "util/log.h"
#include "util/u_inlines.h"
#include "util/u_memory.h"

#include "tg_draw.h"
#include "tg_query.h"
#include "tg_submit.h"

#define RESULT_BYTES	64u	/* a count, or the times of begin and end */

static bool is_counted(unsigned type)
{
	return type == PIPE_QUERY_OCCLUSION_COUNTER || type == PIPE_QUERY_OCCLUSION_PREDICATE ||
	       type == PIPE_QUERY_OCCLUSION_PREDICATE_CONSERVATIVE;
}

/* Queries of primitives. The driver knows their results before the device does. */
static bool is_streamed(unsigned type)
{
	return type == PIPE_QUERY_PRIMITIVES_GENERATED || type == PIPE_QUERY_PRIMITIVES_EMITTED ||
	       type == PIPE_QUERY_SO_STATISTICS || type == PIPE_QUERY_SO_OVERFLOW_PREDICATE ||
	       type == PIPE_QUERY_SO_OVERFLOW_ANY_PREDICATE;
}

static bool is_timed(unsigned type)
{
	return type == PIPE_QUERY_TIMESTAMP || type == PIPE_QUERY_TIME_ELAPSED;
}

static bool is_statistics(unsigned type)
{
	return type == PIPE_QUERY_PIPELINE_STATISTICS_SINGLE;
}

static struct pipe_query *create_query(struct pipe_context *pipe, unsigned type, unsigned index)
{
	struct tg_query *q;

	if (!is_counted(type) && !is_streamed(type) && !is_timed(type) && !is_statistics(type) &&
	    tg_counter_of(type) == TG_COUNTERS && type != PIPE_QUERY_GPU_FINISHED)
		return NULL;
	if (is_streamed(type) && index >= TG_STREAMS)
		return NULL;
	q = CALLOC_STRUCT(tg_query);
	if (!q)
		return NULL;
	q->type = type;
	q->index = index;
	q->kind = type == PIPE_QUERY_OCCLUSION_COUNTER ? TSR_QUERY_SAMPLES : TSR_QUERY_ANY_SAMPLES;
	tg_statistics_init(&q->statistics);
	return (struct pipe_query *)q;
}

static void destroy_query(struct pipe_context *pipe, struct pipe_query *query)
{
	struct tg_query *q = (struct tg_query *)query;

	if (q->active && is_streamed(q->type))
		tg_context(pipe)->primitive_queries--;
	tg_statistics_finish(&q->statistics);
	tg_bo_reference(&q->bo, NULL);
	FREE(q);
}

static bool new_result(struct tg_context *ctx, struct tg_query *q)
{
	tg_bo_reference(&q->bo, NULL);
	q->bo = tg_bo_create(ctx->screen, RESULT_BYTES, "query");
	if (!q->bo)
		return false;
	memset(q->bo->map, 0, RESULT_BYTES);
	return true;
}

/* Write the time at which all that was submitted until now is done: a dispatch without work. */
static bool write_time(struct tg_context *ctx, struct tg_query *q, unsigned index)
{
	const struct tsr_timestamp packet = { .event = TSR_EVENT_REACHED,
					      .addr = q->bo->va + 8 * index };
	const uint32_t size = TG_STREAM_BYTES(TSR_TIMESTAMP_QWORDS);
	struct tg_batch *b;
	uint64_t va, *words;

	tg_context_flush(ctx, "time");
	b = tg_batch_new(ctx);
	if (!b)
		return false;
	words = tg_batch_alloc(b, size, 64, &va);
	if (!words) {
		tg_batch_drop(b);
		return false;
	}
	words = tg_stream_begin(b, TG_COMPUTE, words);
	tsr_pack_timestamp(words, &packet);
	tg_stream_end(b, TG_COMPUTE, words + TSR_TIMESTAMP_QWORDS);
	tg_batch_use(b, q->bo, true);
	tg_batch_submit_alone(b, TG_COMPUTE, va, size);
	return true;
}

/* The driver's counter that the query is about; NULL: another kind of query. */
static _Atomic uint64_t *counter_of(struct tg_context *ctx, const struct tg_query *q)
{
	const enum tg_counter counter = tg_counter_of(q->type);

	return counter < TG_COUNTERS ? &ctx->screen->counters[counter] : NULL;
}

static bool begin_query(struct pipe_context *pipe, struct pipe_query *query)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_query *q = (struct tg_query *)query;

	if (counter_of(ctx, q)) {
		/* what was recorded before is not its */
		tg_context_flush(ctx, "query");
		q->counted = atomic_load(counter_of(ctx, q));
		return true;
	}
	if (is_statistics(q->type))
		return tg_statistics_begin(ctx, &q->statistics);
	if (is_streamed(q->type)) {
		q->begin = ctx->streamed;
		ctx->primitive_queries += !q->active;
		q->active = true;
	}
	if (is_timed(q->type))
		return new_result(ctx, q) && write_time(ctx, q, 0);
	if (!is_counted(q->type))
		return true;
	if (!new_result(ctx, q))
		return false;
	q->active = true;
	ctx->queries[q->kind] = q;
	ctx->dirty |= TG_DIRTY_QUERY;
	return true;
}

/*
 * Results come in the order in which queries end, also of those that nothing was drawn for: with
 * the batch that is open now, or the last one.
 */
static void end_in_order(struct tg_context *ctx, struct tg_query *q)
{
	if (ctx->batch)
		tg_batch_use(ctx->batch, q->bo, true);
	else if (atomic_load(&q->bo->used) < ctx->last_point)
		atomic_store(&q->bo->used, ctx->last_point);
}

static bool end_query(struct pipe_context *pipe, struct pipe_query *query)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_query *q = (struct tg_query *)query;

	if (counter_of(ctx, q)) {
		tg_context_flush(ctx, "query");
		q->counted = atomic_load(counter_of(ctx, q)) -
			     (tg_counter_accumulates(tg_counter_of(q->type)) ? q->counted : 0);
		return true;
	}
	if (is_statistics(q->type)) {
		tg_statistics_end(ctx, &q->statistics);
		return true;
	}
	if (is_streamed(q->type)) {
		q->end = ctx->streamed;
		ctx->primitive_queries -= q->active;
		q->active = false;
		return true;
	}
	/* a time alone has no begin: it is 0 */
	if (is_timed(q->type))
		return (q->type == PIPE_QUERY_TIMESTAMP ? new_result(ctx, q) : q->bo != NULL) &&
		       write_time(ctx, q, 1);
	if (!is_counted(q->type)) {
		tg_context_flush(ctx, "query");
		q->point = ctx->last_point;
		return true;
	}
	if (q->active && ctx->queries[q->kind] == q) {
		ctx->queries[q->kind] = NULL;
		ctx->dirty |= TG_DIRTY_QUERY;
	}
	if (q->active)
		end_in_order(ctx, q);
	q->active = false;
	return true;
}

/* Primitives of a stream that found no room. */
static bool overflowed(const struct tg_query *q, unsigned stream)
{
	return q->end.needed[stream] - q->begin.needed[stream] !=
	       q->end.captured[stream] - q->begin.captured[stream];
}

static void streamed_result(const struct tg_query *q, union pipe_query_result *result)
{
	const unsigned stream = q->index;
	const uint64_t captured = q->end.captured[stream] - q->begin.captured[stream];
	unsigned i;

	switch (q->type) {
	case PIPE_QUERY_PRIMITIVES_GENERATED:
		result->u64 = q->end.generated[stream] - q->begin.generated[stream];
		break;
	case PIPE_QUERY_PRIMITIVES_EMITTED:
		result->u64 = captured;
		break;
	case PIPE_QUERY_SO_STATISTICS:
		result->so_statistics.num_primitives_written = captured;
		result->so_statistics.primitives_storage_needed =
			q->end.needed[stream] - q->begin.needed[stream];
		break;
	case PIPE_QUERY_SO_OVERFLOW_PREDICATE:
		result->b = overflowed(q, stream);
		break;
	default:
		for (i = 0; i < TG_STREAMS; i++)
			result->b |= overflowed(q, i);
	}
}

/* The device has written it, to the query's own memory. */
static bool written_result(struct tg_context *ctx, struct tg_query *q, bool wait,
			   union pipe_query_result *result)
{
	const uint64_t *words;

	if (!q->bo)
		return false;
	if (tg_batch_uses(ctx, q->bo))
		tg_context_flush(ctx, "query");
	if (!wait && tg_bo_busy(q->bo, false))
		return false;
	tg_bo_wait(q->bo, false);
	words = (const uint64_t *)q->bo->map;
	if (is_timed(q->type))
		result->u64 = words[1] - words[0];
	else if (q->type == PIPE_QUERY_OCCLUSION_COUNTER)
		result->u64 = words[0];
	else
		result->b = words[0];
	return true;
}

static bool get_query_result(struct pipe_context *pipe, struct pipe_query *query, bool wait,
			     union pipe_query_result *result)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_query *q = (struct tg_query *)query;

	if (is_streamed(q->type)) {
		result->u64 = 0;
		streamed_result(q, result);
		return true;
	}
	if (counter_of(ctx, q)) {
		result->u64 = q->counted;
		return true;
	}
	if (is_statistics(q->type))
		return tg_statistics_result(ctx, &q->statistics, q->index, wait, &result->u64);
	if (q->type == PIPE_QUERY_GPU_FINISHED) {
		result->b = wait ? tg_screen_wait(ctx->screen, q->point, OS_TIMEOUT_INFINITE)
				 : tg_screen_done(ctx->screen, q->point);
		return result->b || !wait;
	}
	return written_result(ctx, q, wait, result);
}

/* A result in the type that was asked for: a number too large for it becomes the largest. */
static void put_result(struct pipe_context *pipe, struct pipe_resource *resource, unsigned offset,
		       enum pipe_query_value_type type, uint64_t value)
{
	uint32_t narrow;

	if (type == PIPE_QUERY_TYPE_I64 || type == PIPE_QUERY_TYPE_U64) {
		pipe_buffer_write(pipe, resource, offset, sizeof(value), &value);
		return;
	}
	narrow = (uint32_t)MIN2(value, type == PIPE_QUERY_TYPE_I32 ? INT32_MAX : UINT32_MAX);
	pipe_buffer_write(pipe, resource, offset, sizeof(narrow), &narrow);
}

/*
 * Into a buffer, in the order of the context's commands; the CPU carries it there. With @index -1:
 * if there is a result.
 */
static void get_query_result_resource(struct pipe_context *pipe, struct pipe_query *query,
				      enum pipe_query_flags flags,
				      enum pipe_query_value_type type, int index,
				      struct pipe_resource *resource, unsigned offset)
{
	const struct tg_query *q = (struct tg_query *)query;
	union pipe_query_result result = { 0 };
	const bool is_bool = q->type == PIPE_QUERY_OCCLUSION_PREDICATE ||
			     q->type == PIPE_QUERY_OCCLUSION_PREDICATE_CONSERVATIVE ||
			     q->type == PIPE_QUERY_SO_OVERFLOW_PREDICATE ||
			     q->type == PIPE_QUERY_SO_OVERFLOW_ANY_PREDICATE ||
			     q->type == PIPE_QUERY_GPU_FINISHED;
	const bool there = get_query_result(pipe, query, flags & PIPE_QUERY_WAIT, &result);

	if (index < 0)
		put_result(pipe, resource, offset, type, there);
	else if (there)
		put_result(pipe, resource, offset, type, is_bool ? result.b : result.u64);
}

static void set_active_query_state(struct pipe_context *pipe, bool enable)
{
	tg_context(pipe)->queries_paused = !enable;
	tg_context(pipe)->dirty |= TG_DIRTY_QUERY;
}

static void render_condition(struct pipe_context *pipe, struct pipe_query *query, bool condition,
			     enum pipe_render_cond_flag mode)
{
	struct tg_context *ctx = tg_context(pipe);

	ctx->condition = query;
	ctx->condition_value = condition;
	ctx->condition_mode = mode;
}

bool tg_context_condition(struct tg_context *ctx)
{
	union pipe_query_result result = { 0 };
	struct tg_query *q = (struct tg_query *)ctx->condition;
	const bool wait = ctx->condition_mode != PIPE_RENDER_COND_NO_WAIT &&
			  ctx->condition_mode != PIPE_RENDER_COND_BY_REGION_NO_WAIT;

	if (!q || !get_query_result(&ctx->base, ctx->condition, wait, &result))
		return true;
	return (q->type == PIPE_QUERY_OCCLUSION_COUNTER ? result.u64 != 0 : result.b) !=
	       ctx->condition_value;
}

void tg_query_emit(struct tg_context *ctx, struct tg_batch *b)
{
	unsigned kind;

	for (kind = 0; kind <= TSR_QUERY_ANY_SAMPLES; kind++) {
		struct tg_query *q = ctx->queries_paused ? NULL : ctx->queries[kind];
		struct tsr_list_query packet = { .kind = kind };
		uint64_t *words = tg_batch_packet(b, TSR_LIST_QUERY_QWORDS);

		if (!words)
			return;
		if (q) {
			packet.addr = q->bo->va;
			tg_batch_use(b, q->bo, true);
		}
		tsr_pack_list_query(words, &packet);
	}
	tg_statistics_emit(ctx, b, !ctx->queries_paused);
}

/* The clock that write_time() writes. */
static uint64_t get_timestamp(struct pipe_screen *screen)
{
	struct drm_tessera_get_timestamp now = { 0 };

	if (tsr_device_get_timestamp(tg_screen(screen)->device, CLOCK_MONOTONIC, &now, sizeof(now)))
		mesa_loge("tessera: %s", tsr_error_message());
	return now.gpu_ticks;
}

void tg_query_screen_init(struct pipe_screen *screen)
{
	screen->get_timestamp = get_timestamp;
}

void tg_query_init(struct pipe_context *pipe)
{
	pipe->create_query = create_query;
	pipe->destroy_query = destroy_query;
	pipe->begin_query = begin_query;
	pipe->end_query = end_query;
	pipe->get_query_result = get_query_result;
	pipe->get_query_result_resource = get_query_result_resource;
	pipe->set_active_query_state = set_active_query_state;
	pipe->render_condition = render_condition;
}
