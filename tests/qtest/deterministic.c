/* SPDX-License-Identifier: MIT */
/*
 * deterministic=on: everything the GPU does, and when on the machine's virtual clock, is the same
 * in every run with the same seed. Each run starts stopped, gets its work, and then runs without
 * the test's doing anything that could disturb it; QEMU's trace of the GPU and the timestamps the
 * GPU has written are compared.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bios.h"
#include "gpu.h"
#include "ktap.h"

#define JOBS 6
#define STAMPS 8

static const char *bios;

/*
 * The processor counts until the last job's fence arrives. The count is the time at which the GPU
 * was done, in instructions.
 */
#define COUNT 0x2000
#define COUNTED 0x2008
#define WATCHED 0x3000
static const unsigned char counting[] = {
	0x66, 0xff, 0x06, 0x00, 0x20, /* 1: incl COUNT */
	0x80, 0x3e, 0x00, 0x30, 0x00, /* cmpb $0, WATCHED */
	0x74, 0xf4,		      /* je 1b */
	0xc6, 0x06, 0x08, 0x20, 0x01, /* movb $1, COUNTED */
	0xeb, 0xfe,		      /* 1: jmp 1b */
};

/* The results of one run. */
struct run {
	char *trace;
	uint32_t count;
	uint64_t stamps[JOBS][STAMPS];
	bool results;
};

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 22);

	if (file) {
		text[fread(text, 1, (1 << 22) - 1, file)] = '\0';
		fclose(file);
	}
	return text;
}

/* Jobs on queues of two classes that get in each other's way, with timestamps before and after each
 * piece. */
static void prepare(struct gpu *gpu, struct gpu_job *jobs)
{
	unsigned int i, k;

	for (i = 0; i < JOBS; i++) {
		gpu_job_prepare(&jobs[i], gpu, i, 2 * i, 300000 + 1000 * i, i, true);
		gpu_write(gpu, TSR_REG_QUEUE_TIMESLICE(i), 1024);
		jobs[i].queue.wptr = 0;
		for (k = 0; k < STAMPS - 1; k++) {
			gpu_packet(&jobs[i].queue, timestamp, .event = TSR_EVENT_ALL_DONE,
				   .addr = GPU_JOB_FENCE + 64 + 8 * k);
			gpu_packet(&jobs[i].queue, call, .addr = GPU_JOB_CODE,
				   .size = 8 * TSR_COPY_LINEAR_QWORDS);
		}
		gpu_packet(&jobs[i].queue, timestamp, .event = TSR_EVENT_ALL_DONE,
			   .addr = GPU_JOB_FENCE + 64 + 8 * k);
		gpu_packet(&jobs[i].queue, fence, .event = TSR_EVENT_ALL_DONE, .irq = true,
			   .addr = GPU_JOB_FENCE, .value = GPU_JOB_VALUE);
	}
}

static void run(struct run *r, unsigned int seed)
{
	struct gpu_job jobs[JOBS];
	struct gpu gpu;
	struct qtest *q;
	char path[320];
	unsigned int i;

	snprintf(path, sizeof(path), "%s.trace", bios);
	q = qtest_start(
		"-accel tcg -icount shift=0,sleep=off -bios %s -S -D %s -trace tessera_gpu_* "
		"-device tessera,addr=4,id=gpu,copy-engines=2,deterministic=on,seed=%u",
		bios, path, seed);
	gpu_open(&gpu, q, 0, 0, 4 << 3);
	ktap_ok(gpu_read64(&gpu, TSR_REG_GPU_FEATURES) & TSR_FEATURE_DETERMINISTIC);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), ~0ull);
	prepare(&gpu, jobs);
	for (i = 0; i < JOBS; i++)
		gpu_doorbell(&jobs[i].queue);
	gpu_map(&gpu, 0, 0x50000, WATCHED, 4096, GPU_RW);
	gpu_packet(&jobs[0].queue, fence, .event = TSR_EVENT_ALL_DONE, .addr = 0x50000, .value = 1);
	gpu_doorbell(&jobs[0].queue);
	qtest_write(q, BIOS_RAM_ADDR, counting, sizeof(counting));
	qtest_cmd(q, "{\"execute\":\"cont\"}");
	ktap_ok(gpu_wait_memory(&gpu, COUNTED, 1));
	r->count = qtest_readl(q, COUNT);
	r->results = true;
	for (i = 0; i < JOBS; i++) {
		ktap_ok(gpu_wait_memory(&gpu, jobs[i].fence, GPU_JOB_VALUE));
		r->results = r->results && gpu_job_result(&jobs[i]);
		qtest_read(q, jobs[i].fence + 64, r->stamps[i], sizeof(r->stamps[i]));
	}
	qtest_stop(q);
	r->trace = read_file(path);
	unlink(path);
}

/* The first line in which two traces differ, as a note. */
static void note_difference(const char *a, const char *b)
{
	unsigned int line = 1;

	while (*a && *a == *b) {
		line += *a == '\n';
		a++;
		b++;
	}
	ktap_note("line %u: '%.60s' and '%.60s'", line, a, b);
}

static void test_same_seed(void)
{
	static struct run first, second;
	unsigned int i, k;

	run(&first, 1);
	run(&second, 1);
	ktap_ok(first.results && second.results);
	/* There is something to compare: each job has its packets in the trace, and time passes. */
	ktap_ok(strlen(first.trace) > 10000);
	for (i = 0; i < JOBS; i++) {
		for (k = 1; k < STAMPS; k++)
			ktap_ok(first.stamps[i][k] > first.stamps[i][k - 1]);
	}
	ktap_note("the processor has counted to %u", first.count);
	ktap_ok(first.count > 1000);
	ktap_eq(second.count, first.count);
	ktap_mem_eq(second.stamps, first.stamps, sizeof(first.stamps));
	if (!ktap_ok(!strcmp(first.trace, second.trace)))
		note_difference(first.trace, second.trace);
	free(first.trace);
	free(second.trace);
}

static void test_other_seed(void)
{
	static struct run runs[4];
	bool differ = false;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		run(&runs[i], i + 1);
		ktap_ok(runs[i].results);
		differ = differ || strcmp(runs[i].trace, runs[0].trace);
	}
	ktap_ok(differ);
	for (i = 0; i < 4; i++)
		free(runs[i].trace);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	bios = bios_image(BIOS_RAM);
	ktap_run("deterministic=on: one seed repeats a run to the instruction", test_same_seed);
	ktap_run("deterministic=on: the seed decides the schedule, not the results",
		 test_other_seed);
	unlink(bios);
	return ktap_finish();
}
