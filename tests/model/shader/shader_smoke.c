/* SPDX-License-Identifier: MIT */
/* The shortest way through a shader core: a grid of threads, each of which stores its number. */
#include "ktap.h"
#include "shade.h"

static void run(const struct tsr_config *config, uint32_t local, uint32_t groups)
{
	struct shade_code code = { 0 };
	struct shade_dispatch d = { .code = &code, .state.local_x = local, .groups = { groups } };
	struct shade_machine m;

	shade_clause(&code, &(struct shade_clause){
		.tuples = 4,
		.flow = TSR_FLOW_END,
		.message = TSR_MESSAGE_STORE,
		.staging = 60,
		.tuple = {
			{ .p0 = R(60), .add = { TSR_OP_ADD_IADD_S32, { S_P0, S_P0 } } },
			{ .add = { TSR_OP_ADD_IADD_S32, { S_ADD, S_ADD } } },
			{ .fau = 0x80, .add = { TSR_OP_ADD_IADD_S32, { S_ADD, S_LO } } },
			{ .fau = 0x80, .add = { TSR_OP_ADD_STORE_I32, { S_ADD, S_HI } } },
		},
	});
	shade_init(&m, config);
	ktap_ok(shade_run(&m, &d));
	ktap_eq(bench_fault(&m.q), TSR_FAULT_NONE);
	for (unsigned int i = 0; i < local * groups; i++)
		ktap_eq(*stage_word32(&m.s, 4 * i), i);
	ktap_eq(*stage_word32(&m.s, 4 * local * groups), 0);
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_SHADER_GROUPS), groups);
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_SHADER_THREADS), 4ull * local * groups);
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_SHADER_MESSAGES),
		groups * ((local + 15) / 16));
	shade_free(&m);
}

static void small(void)
{
	static const struct tsr_config config = { 0 };

	run(&config, 1, 1);
	run(&config, 5, 3);
	run(&config, 16, 7);
}

static void large(void)
{
	static const struct tsr_config config = { 0 };

	run(&config, 1024, 9);
	run(&config, 80, 100);
	run(&config, 1, 5000);
}

static void threads(void)
{
	static const struct tsr_config config = { .threads = 2 };

	run(&config, 100, 90);
	run(&config, 16, 1);
}

static void late(void)
{
	static const struct tsr_config config = { .late_messages = true };

	run(&config, 100, 90);
}

int main(void)
{
	ktap_start();
	ktap_run("[CS1] each thread of small grids stores its number", small);
	ktap_run("[CS1] each thread of large grids stores its number", large);
	ktap_run("[CS1] the same with two workers", threads);
	ktap_run("[CS1] the same with late messages", late);
	return ktap_finish();
}
