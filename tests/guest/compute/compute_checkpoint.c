// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/*
 * Dispatches that a snapshot of the machine must not disturb: two queues in the middle of programs
 * that keep their state in registers, in shared memory and behind barriers. Run as it is, it checks
 * that the work itself is right. `compute_checkpoint hold DIR SECONDS` stops half way: it makes
 * DIR/armed, waits for DIR/go, and goes on; tests/guest/scripts/compute_snapshot.py moves the
 * machine into another QEMU in between.
 */
#include "ct.h"

#include <stdlib.h>
#include <unistd.h>

enum { GROUP = 256, GROUPS = 24, THREADS = GROUP * GROUPS, INNER = 64, QUEUES = 2 };

/*
 * u0.w0 rounds of INNER steps of a generator, each followed by adding the value of the next thread
 * of the group; u2 gets the values.
 */
#define MIX \
	".local 256, 1, 1\n" \
	".group_memory 1024\n" \
	"clause {\n" \
	"	*IMUL.i32 r0, r60, 0x9e3779b1\n" \
	"	*MOV.i32 r1, u0.w0\n" \
	"	*LSHIFT_OR.i32 r3:t0, r55, #0, 2\n" \
	"	*NOP\n" \
	"	+IADD.u32 t1, t0, 4\n" \
	"	*LSHIFT_AND.i32 r4, t1, 0x3ff, 0\n" \
	"}\n" \
	"outer: clause {\n" \
	"	*MOV.i32 r2, 64\n" \
	"}\n" \
	"inner: clause {\n" \
	"	*IMUL.i32 t0, r0, 1664525\n" \
	"	*NOP\n" \
	"	+IADD.u32 r0, t0, 1013904223\n" \
	"	+IADD.s32 r2:t1, r2, -1\n" \
	"	+BRANCHZ.i32.ne t1, inner\n" \
	"}\n" \
	"clause slot=0 wait=0 { +STORE.i32.wls r3, r3, @r0\n }\n" \
	"clause slot=7 wait=7 { +BARRIER\n }\n" \
	"clause slot=0 wait=0 { +LOAD.i32.wls r4, r4, @r5\n }\n" \
	"clause slot=7 wait=7 { +BARRIER\n }\n" \
	"clause {\n" \
	"	+IADD.u32 r0, r0, r5\n" \
	"	+IADD.s32 r1:t1, r1, -1\n" \
	"	+BRANCHZ.i32.ne t1, outer\n" \
	"}\n" \
	"clause slot=0 end {\n" \
	CT_ELEMENT(2, "r60") \
	"	+STORE.i32 t0, t1, @r0\n" \
	"}\n"

static struct ct c;
static const char *hold;		/* directory of the handshake, NULL without one */
static unsigned int seconds = 2;	/* that the work is to take */
static struct tsr_shader *mix;
static struct tsr_alloc values[QUEUES];
static struct tsr_queue *queues[QUEUES];
static struct tsr_stream *streams[QUEUES];
static struct tsr_sync *syncs[QUEUES];
static uint32_t rounds;			/* of the first queue; the second does one more */

static void expected(uint32_t *want, uint32_t count)
{
	uint32_t first, g, i, n;

	for (i = 0; i < THREADS; i++)
		want[i] = i * 0x9e3779b1u;
	while (count--) {
		for (i = 0; i < THREADS; i++) {
			for (n = 0; n < INNER; n++)
				want[i] = want[i] * 1664525u + 1013904223u;
		}
		for (g = 0; g < THREADS; g += GROUP) {
			first = want[g];
			for (i = g; i < g + GROUP; i++)
				want[i] += i + 1 < g + GROUP ? want[i + 1] : first;
		}
	}
}

static void start(unsigned int n, uint32_t count)
{
	struct tsr_storage storage = ct_storage(&values[n], 4);
	const uint32_t push[2] = { count };
	const struct tsr_dispatch_info d = {
		.shader = mix, .groups = { GROUPS }, .push = push, .push_words = 2,
		.storage = &storage, .storage_count = 1,
	};

	tsr_stream_reset(streams[n]);
	LT_OK(tsr_cmd_dispatch(streams[n], &d, sizeof(d)));
	LT_OK(tsr_queue_run(queues[n], streams[n], syncs[n], 0));
}

/* How long the first queue takes for so many rounds, in nanoseconds. */
static int64_t measure(uint32_t count)
{
	int64_t began = tsr_deadline(0);

	start(0, count);
	LT_OK(tsr_sync_finish(syncs[0], 0, LT_LONG));
	return tsr_deadline(0) - began;
}

static void prepare(void)
{
	uint32_t tried = 5;
	int64_t took, empty;
	unsigned int n;

	c = ct_open();
	mix = ct_program(&c, "mix", MIX);
	for (n = 0; n < QUEUES; n++) {
		values[n] = lt_data(&c.lt, THREADS * 4, 0);
		lt_must("queue", tsr_queue_create(c.lt.vm, DRM_TESSERA_ENGINE_COMPUTE,
						  DRM_TESSERA_PRIORITY_NORMAL, 0, &queues[n]));
		lt_must("stream", tsr_stream_create(c.lt.code, 0, &streams[n]));
		lt_must("sync", tsr_sync_create(c.lt.device, 0, &syncs[n]));
	}
	/*
	 * How many rounds make about as long as wanted. What a job costs without them, up to a
	 * tenth of a second on a slow kernel, does not count.
	 */
	measure(1);
	empty = measure(1);
	do {
		tried *= 4;
		took = measure(tried) - empty;
	} while (took < 100000000 && tried < 1000);
	took = took > 1000000 ? took : 1000000;
	rounds = (uint32_t)(seconds * 1000000000ull / QUEUES * tried / (uint64_t)took) + 10;
	rounds = rounds < 4000 ? rounds : 4000;
	ktap_note("%u rounds", rounds);
	memset(values[0].cpu, 0, values[0].size);
}

static bool is_pending(unsigned int n)
{
	int status;

	return !tsr_sync_get_status(syncs[n], 0, &status) && !status;
}

/* In the middle of both programs; stop here until told to go on. */
static void half_way(void)
{
	char path[200];
	FILE *file;

	start(0, rounds);
	start(1, rounds + 1);
	usleep(150000);
	ktap_ok(is_pending(0) && is_pending(1));
	if (!hold)
		return;
	snprintf(path, sizeof(path), "%s/armed", hold);
	file = fopen(path, "w");
	fclose(file);
	snprintf(path, sizeof(path), "%s/go", hold);
	while (access(path, F_OK))
		usleep(500);
}

static void come_out_right(void)
{
	static uint32_t want[THREADS];
	unsigned int n;

	for (n = 0; n < QUEUES; n++) {
		LT_OK(tsr_sync_finish(syncs[n], 0, LT_SECONDS(100)));
		expected(want, rounds + n);
		ktap_mem_eq(values[n].cpu, want, sizeof(want));
	}
}

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "hold")) {
		hold = argv[2];
		seconds = strtoul(argv[3], NULL, 10);
	}
	ktap_start();
	prepare();
	ktap_run("two queues are in the middle of their programs", half_way);
	ktap_run("[SYS8] both programs come out right", come_out_right);
	return ktap_finish();
}
