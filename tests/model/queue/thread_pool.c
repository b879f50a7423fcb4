/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=240 */
/*
 * The threads that work on a dispatch: its counters and results do not depend on how many they are,
 * or on when helpers enter and leave. They leave each time that another queue wants a thread.
 */
#include <string.h>

#include "device/gpu.h"
#include "ktap.h"
#include "shade.h"

#define GROUPS 700
#define LOCAL 48

/* As many rounds as the number of the thread in its group, then a store. */
static const char text[] =
	"clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 r1, r55, 0x3f, #0\n"
	"	*MOV.i32 r2, #0\n"
	"	+NOP\n"
	"}\n"
	"loop: clause flow=nbtb_unconditional {\n"
	"	+IADD.s32 r2, r2, r60\n"
	"	+IADD.s32 r1:t1, r1, -1\n"
	"	+BRANCHZ.s32.ge t1, loop\n"
	"}\n"
	"clause message=store slot=0 " SHADE_STORE("r2");

static const enum tsr_queue_counter counted[] = {
	TSR_QUEUE_COUNTER_SHADER_GROUPS, TSR_QUEUE_COUNTER_SHADER_CLAUSES,
	TSR_QUEUE_COUNTER_SHADER_THREADS, TSR_QUEUE_COUNTER_SHADER_MESSAGES,
	TSR_QUEUE_COUNTER_READ_BYTES, TSR_QUEUE_COUNTER_WRITE_BYTES,
	TSR_QUEUE_COUNTER_ENGINE_COMMANDS,
};

#define COUNTED (sizeof(counted) / sizeof(counted[0]))

/* Returns the number of workers that executed some of it. */
static unsigned int run(unsigned int threads, uint64_t counter[COUNTED])
{
	const struct tsr_config config = { .threads = threads, .cores = 16, .no_inline = true };
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code, .groups = { GROUPS } };
	struct shade_machine m;
	struct bench_queue other;
	unsigned int worked = 0;
	uint64_t p[8];

	memset(&code, 0, sizeof(code));
	shade_text(&code, text);
	d.state.local_x = LOCAL;
	shade_init(&m, &config);
	/* wants a thread now and then */
	stage_queue(&m.s, &other, 5, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	for (unsigned int i = 0; i < 20; i++) {
		bench_emit(&other, p, pk_copy(p, STAGE_DATA + 0x70000, STAGE_DATA + 0x78000, 256));
		bench_kick(&other);
		ktap_ok(shade_run(&m, &d));
	}
	for (unsigned int i = 0; i < COUNTED; i++)
		counter[i] = shade_counter(&m, counted[i]);
	for (unsigned int i = 0; i < GROUPS * LOCAL; i += 97)
		ktap_eq(*stage_word32(&m.s, 4 * i), (i % LOCAL + 1) * i);
	tsr_gpu_pause(m.s.b->gpu);
	for (unsigned int i = 1; i < m.s.b->gpu->num_runners; i++)
		worked += m.s.b->gpu->runner[i].own.shader != NULL;
	tsr_gpu_resume(m.s.b->gpu);
	shade_free(&m);
	return worked;
}

static void test_counters(void)
{
	static const unsigned int threads[] = { 1, 2, 3, 8, 16 };
	uint64_t want[COUNTED];
	unsigned int worked = 0;

	run(0, want);
	ktap_eq(want[0], 20 * GROUPS);
	for (unsigned int i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		uint64_t got[COUNTED];

		worked += run(threads[i], got);
		for (unsigned int n = 0; n < COUNTED; n++) {
			if (!ktap_eq(got[n], want[n]))
				ktap_note("counter %u, %u threads", counted[n], threads[i]);
		}
	}
	ktap_note("%u workers had a part", worked);
	/* helpers as well as owners */
	ktap_ok(worked > sizeof(threads) / sizeof(threads[0]));
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("counters of a dispatch, whoever works on it", test_counters);
	return ktap_finish();
}
