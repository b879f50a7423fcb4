/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Programs whose memory the host has to look up first: a core that cannot go on says so however
 * short its bursts are, and goes on when the host has answered.
 */
#include <unistd.h>

#include "ktap.h"
#include "shade.h"

/* Run in the shortest pieces there are; false: the device never stops by itself. */
static void run(bool late)
{
	const struct tsr_config config = { .late_messages = late, .cores = 2 };
	struct shade_code code = { 0 };
	struct shade_dispatch d = { .code = &code, .state.local_x = 1024, .groups = { 2 } };
	struct shade_machine m;
	unsigned int answers = 0;

	shade_store_own(&code, 60, TSR_FLOW_END, true);
	shade_init(&m, &config);
	shade_push64(d.push, 0, STAGE_DATA);
	m.s.b->pending_every = 1;
	shade_call(&m.s, &m.q, &d);
	alarm(20);		/* the device may be the one that does not come back */
	bench_kick(&m.q);
	do {
		while (tsr_gpu_run(m.s.b->gpu, 1))
			;
		answers++;
	} while (bench_answer(m.s.b));
	alarm(0);
	ktap_ok(answers > 4);
	ktap_eq(bench_state(&m.q), TSR_QUEUE_STATE_IDLE);
	for (unsigned int i = 0; i < 2048; i++)
		ktap_eq(*stage_word32(&m.s, 4 * i), i);
	shade_free(&m);
}

static void early(void)
{
	run(false);
}

static void late(void)
{
	run(true);
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS10] a core all of whose warps wait for the host stops, messages early", early);
	ktap_run("[SYS10] the same with late messages", late);
	return ktap_finish();
}
