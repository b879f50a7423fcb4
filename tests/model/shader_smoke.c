/* SPDX-License-Identifier: MIT */
/* The shortest way through a shader core: a grid of threads, each of which stores its number. */
#include "ktap.h"
#include "shade.h"

static void run(const struct tsr_config *config, uint32_t local, uint32_t groups)
{
	struct shade_code code = { 0 };
	struct shade_dispatch d = { .code = &code, .state.local_x = local, .groups = { groups } };
	struct bench_queue q;
	struct stage s;

	stage_init(&s, config);
	stage_queue(&s, &q, 2, TSR_ENGINE_CLASS_COMPUTE, TSR_PRIORITY_NORMAL);
	shade_push64(d.push, 0, STAGE_DATA + 0x1000);
	shade_store_own(&code, 60, TSR_FLOW_END, false);
	shade_call(&s, &q, &d);
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(bench_fault(&q), TSR_FAULT_NONE);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	ktap_eq(*stage_word32(&s, 0xffc), 0);
	for (unsigned int i = 0; i < local * groups; i++)
		ktap_eq(*stage_word32(&s, 0x1000 + 4 * i), i);
	ktap_eq(*stage_word32(&s, 0x1000 + 4 * local * groups), 0);
	ktap_eq(bench_queue_reg64(&q, TSR_QUEUE_COUNTER__OFFSET +
					      TSR_QUEUE_COUNTER_SHADER_GROUPS *
						      TSR_QUEUE_COUNTER__STRIDE),
		groups);
	ktap_eq(bench_queue_reg64(&q, TSR_QUEUE_COUNTER__OFFSET +
					      TSR_QUEUE_COUNTER_SHADER_THREADS *
						      TSR_QUEUE_COUNTER__STRIDE),
		4ull * local * groups);
	stage_free(&s);
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
