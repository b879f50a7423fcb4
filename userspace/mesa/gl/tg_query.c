/* SPDX-License-Identifier: MIT */
/*
 * Occlusion is counted by the device into memory that is cleared when a query begins; times are
 * written by the device when it is done with what came before.
 */
#include <time.h>

#include "util/log.h"
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

/* Of primitives: the driver knows before the device does. */
static bool is_streamed(unsigned type)
{
	return type == PIPE_QUERY_PRIMITIVES_GENERATED || type == PIPE_QUERY_PRIMITIVES_EMITTED;
}

static bool is_timed(unsigned type)
{
	return type == PIPE_QUERY_TIMESTAMP || type == PIPE_QUERY_TIME_ELAPSED;
}

static uint64_t streamed(const struct tg_context *ctx, unsigned type)
{
	return type == PIPE_QUERY_PRIMITIVES_GENERATED ? ctx->primitives : ctx->captured;
}

static struct pipe_query *create_query(struct pipe_context *pipe, unsigned type, unsigned index)
{
	struct tg_query *q;

	if (!is_counted(type) && !is_streamed(type) && !is_timed(type) &&
	    type != PIPE_QUERY_GPU_FINISHED)
		return NULL;
	q = CALLOC_STRUCT(tg_query);
	if (!q)
		return NULL;
	q->type = type;
	q->kind = type == PIPE_QUERY_OCCLUSION_COUNTER ? TSR_QUERY_SAMPLES : TSR_QUERY_ANY_SAMPLES;
	return (struct pipe_query *)q;
}

static void destroy_query(struct pipe_context *pipe, struct pipe_query *query)
{
	struct tg_query *q = (struct tg_query *)query;

	if (q->active && is_streamed(q->type))
		tg_context(pipe)->primitive_queries--;
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
	const uint32_t size = (TG_STREAM_BEGIN_QWORDS + TSR_TIMESTAMP_QWORDS) * 8;
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
	tsr_pack_timestamp(tg_stream_begin(b, TG_COMPUTE, words), &packet);
	tg_batch_use(b, q->bo, true);
	tg_batch_submit_alone(b, TG_COMPUTE, va, size);
	return true;
}

static bool begin_query(struct pipe_context *pipe, struct pipe_query *query)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_query *q = (struct tg_query *)query;

	if (is_streamed(q->type)) {
		q->begin = streamed(ctx, q->type);
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

	if (is_streamed(q->type)) {
		q->end = streamed(ctx, q->type);
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
		q->end = ctx->last_point;
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

static bool get_query_result(struct pipe_context *pipe, struct pipe_query *query, bool wait,
			     union pipe_query_result *result)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_query *q = (struct tg_query *)query;

	if (is_streamed(q->type)) {
		result->u64 = q->end - q->begin;
		return true;
	}
	if (q->type == PIPE_QUERY_GPU_FINISHED) {
		result->b = wait ? tg_screen_wait(ctx->screen, q->end, OS_TIMEOUT_INFINITE)
				 : tg_screen_done(ctx->screen, q->end);
		return result->b || !wait;
	}
	if (!q->bo)
		return false;
	if (tg_batch_uses(ctx, q->bo))
		tg_context_flush(ctx, "query");
	if (!wait && tg_bo_busy(q->bo, false))
		return false;
	tg_bo_wait(q->bo, false);
	if (is_timed(q->type)) {
		const uint64_t *times = (const uint64_t *)q->bo->map;

		result->u64 = times[1] - times[0];
		return true;
	}
	if (q->type == PIPE_QUERY_OCCLUSION_COUNTER)
		result->u64 = *(const uint64_t *)q->bo->map;
	else
		result->b = *(const uint64_t *)q->bo->map;
	return true;
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
	pipe->set_active_query_state = set_active_query_state;
	pipe->render_condition = render_condition;
}
