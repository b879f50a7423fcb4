/* SPDX-License-Identifier: MIT */
#include "util/macros.h"

#include "tg_counters.h"
#include "tg_screen.h"

static const struct {
	const char *name;
	enum pipe_driver_query_type type;
} counters[TG_COUNTERS] = {
	[TG_COUNTER_DRAWS] = { "draws", PIPE_DRIVER_QUERY_TYPE_UINT64 },
	[TG_COUNTER_VERTICES] = { "vertices", PIPE_DRIVER_QUERY_TYPE_UINT64 },
	[TG_COUNTER_BATCHES] = { "batches", PIPE_DRIVER_QUERY_TYPE_UINT64 },
	[TG_COUNTER_DISPATCHES] = { "dispatches", PIPE_DRIVER_QUERY_TYPE_UINT64 },
	[TG_COUNTER_WAITS] = { "waits", PIPE_DRIVER_QUERY_TYPE_UINT64 },
	[TG_COUNTER_WAIT_TIME] = { "wait-time", PIPE_DRIVER_QUERY_TYPE_MICROSECONDS },
	[TG_COUNTER_MEMORY] = { "memory", PIPE_DRIVER_QUERY_TYPE_BYTES },
};

enum tg_counter tg_counter_of(unsigned type)
{
	return type >= PIPE_QUERY_DRIVER_SPECIFIC &&
			       type < PIPE_QUERY_DRIVER_SPECIFIC + TG_COUNTERS
		       ? type - PIPE_QUERY_DRIVER_SPECIFIC
		       : TG_COUNTERS;
}

bool tg_counter_accumulates(enum tg_counter counter)
{
	return counters[counter].type != PIPE_DRIVER_QUERY_TYPE_BYTES;
}

static int get_info(struct pipe_screen *screen, unsigned index, struct pipe_driver_query_info *info)
{
	if (!info)
		return TG_COUNTERS;
	if (index >= TG_COUNTERS)
		return 0;
	*info = (struct pipe_driver_query_info){
		.name = counters[index].name,
		.query_type = PIPE_QUERY_DRIVER_SPECIFIC + index,
		.type = counters[index].type,
		.result_type = tg_counter_accumulates(index)
				       ? PIPE_DRIVER_QUERY_RESULT_TYPE_CUMULATIVE
				       : PIPE_DRIVER_QUERY_RESULT_TYPE_AVERAGE,
	};
	return 1;
}

static int get_group(struct pipe_screen *screen, unsigned index,
		     struct pipe_driver_query_group_info *info)
{
	if (!info)
		return 1;
	if (index)
		return 0;
	*info = (struct pipe_driver_query_group_info){ "tessera", TG_COUNTERS, TG_COUNTERS };
	return 1;
}

void tg_counters_screen_init(struct pipe_screen *screen)
{
	screen->get_driver_query_info = get_info;
	screen->get_driver_query_group_info = get_group;
}
