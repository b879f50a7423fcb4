/* SPDX-License-Identifier: MIT */
#include "tg_batch.h"
#include "tg_bo.h"
#include "tg_context.h"
#include "tg_statistics.h"

#define PART_BYTES (TSR_PIPELINE_STATISTICS__QWORDS * 8u)

static uint64_t value_of(const struct tsr_pipeline_statistics *v,
			 enum pipe_statistics_query_index index)
{
	switch (index) {
	case PIPE_STAT_QUERY_IA_VERTICES:
		return v->input_vertices;
	case PIPE_STAT_QUERY_IA_PRIMITIVES:
		return v->input_primitives;
	case PIPE_STAT_QUERY_VS_INVOCATIONS:
		return v->vertex_invocations;
	case PIPE_STAT_QUERY_GS_INVOCATIONS:
		return v->geometry_invocations;
	case PIPE_STAT_QUERY_GS_PRIMITIVES:
		return v->geometry_primitives;
	case PIPE_STAT_QUERY_C_INVOCATIONS:
		return v->clipping_invocations;
	case PIPE_STAT_QUERY_C_PRIMITIVES:
		return v->clipping_primitives;
	case PIPE_STAT_QUERY_PS_INVOCATIONS:
		return v->fragment_invocations;
	case PIPE_STAT_QUERY_HS_INVOCATIONS:
		return v->hull_patches;
	case PIPE_STAT_QUERY_DS_INVOCATIONS:
		return v->domain_invocations;
	default:
		return 0;
	}
}

void tg_statistics_init(struct tg_statistics *s)
{
	list_inithead(&s->link);
	util_dynarray_init(&s->parts, NULL);
}

static void drop_parts(struct tg_statistics *s)
{
	util_dynarray_foreach(&s->parts, struct tg_bo *, part)
		tg_bo_reference(part, NULL);
	util_dynarray_clear(&s->parts);
}

void tg_statistics_finish(struct tg_statistics *s)
{
	list_del(&s->link);
	drop_parts(s);
	util_dynarray_fini(&s->parts);
}

/* Another set of queries is active: go on with another part, which is all of theirs. */
static bool next_part(struct tg_context *ctx)
{
	tg_bo_reference(&ctx->statistics, NULL);
	ctx->dirty |= TG_DIRTY_QUERY;
	if (list_is_empty(&ctx->statistics_queries))
		return true;
	ctx->statistics = tg_bo_create(ctx->screen, PART_BYTES, "statistics");
	if (!ctx->statistics)
		return false;
	memset(ctx->statistics->map, 0, PART_BYTES);
	list_for_each_entry(struct tg_statistics, s, &ctx->statistics_queries, link) {
		struct tg_bo **part = util_dynarray_grow(&s->parts, struct tg_bo *, 1);

		if (!part)
			return false;
		*part = NULL;
		tg_bo_reference(part, ctx->statistics);
	}
	return true;
}

bool tg_statistics_begin(struct tg_context *ctx, struct tg_statistics *s)
{
	drop_parts(s);
	list_del(&s->link);
	list_addtail(&s->link, &ctx->statistics_queries);
	s->invocations = ctx->compute_invocations;
	return next_part(ctx);
}

void tg_statistics_end(struct tg_context *ctx, struct tg_statistics *s)
{
	if (list_is_empty(&s->link))
		return;
	list_delinit(&s->link);
	s->invocations = ctx->compute_invocations - s->invocations;
	next_part(ctx);
}

bool tg_statistics_result(struct tg_context *ctx, const struct tg_statistics *s,
			  enum pipe_statistics_query_index index, bool wait, uint64_t *result)
{
	struct tsr_pipeline_statistics value;

	*result = 0;
	/* the driver knows how many threads it starts */
	if (index == PIPE_STAT_QUERY_CS_INVOCATIONS) {
		*result = s->invocations;
		return true;
	}
	util_dynarray_foreach(&s->parts, struct tg_bo *, part) {
		if (tg_batch_uses(ctx, *part))
			tg_context_flush(ctx, "query");
		if (!wait && tg_bo_busy(*part, false))
			return false;
		tg_bo_wait(*part, false);
		tsr_unpack_pipeline_statistics((const uint64_t *)(*part)->map, &value);
		*result += value_of(&value, index);
	}
	return true;
}

void tg_statistics_emit(struct tg_context *ctx, struct tg_batch *b, bool count)
{
	struct tsr_list_query packet = { .kind = TSR_QUERY_STATISTICS };
	uint64_t *words = tg_batch_packet(b, TSR_LIST_QUERY_QWORDS);

	if (!words)
		return;
	if (count && ctx->statistics) {
		packet.addr = ctx->statistics->va;
		tg_batch_use(b, ctx->statistics, true);
	}
	tsr_pack_list_query(words, &packet);
}
