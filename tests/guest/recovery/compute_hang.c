// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=180
 * test: KERNEL_ARGS=tessera.job_timeout_ms=1000;tessera.job_limit_ms=2000
 */
/*
 * Programs that never end. One is stopped by the driver, with ETIMEDOUT; a flood of them does not
 * starve another client, nor get its jobs killed; and they can be cancelled at any time.
 */
#include "ct.h"

#include <errno.h>

#define ENDLESS "again: clause { +JUMP again\n }\n"
#define FLOOD 12

static struct ct c;		/* the culprit */
static struct ct other;		/* another client */
static struct tsr_shader *endless, *work;
static struct tsr_alloc numbers;

enum { THREADS = 64 * 60 };

static struct tsr_dispatch_info forever(void)
{
	return (struct tsr_dispatch_info){ .shader = endless, .groups = { 30, 2 } };
}

/* u0.w0 steps of a generator for each thread, from its number; u2 gets the results. */
#define STEPS \
	".local 64, 1, 1\n" \
	"clause {\n" \
	"	*MOV.i32 r0, r60\n" \
	"	*MOV.i32 r1, u0.w0\n" \
	"}\n" \
	"again: clause {\n" \
	"	*IMUL.i32 t0, r0, 1664525\n" \
	"	*NOP\n" \
	"	+IADD.u32 r0, t0, 1013904223\n" \
	"	+IADD.s32 r1:t1, r1, -1\n" \
	"	+BRANCHZ.i32.ne t1, again\n" \
	"}\n" \
	"clause slot=0 end {\n" \
	CT_ELEMENT(2, "r60") \
	"	+STORE.i32 t0, t1, @r0\n" \
	"}\n"

/* A job of @count steps, on a queue of its own of the other client. */
struct steps {
	struct tsr_shader *program;
	struct tsr_queue *queue;
	struct tsr_stream *stream;
	struct tsr_sync *sync;
	struct tsr_alloc data;
	uint32_t count;
};

static struct steps steps_open(void)
{
	struct steps s = { .program = ct_program(&other, "steps", STEPS),
			   .data = lt_data(&other.lt, 64 * 32 * 4, 0) };

	lt_must("queue", tsr_queue_create(other.lt.vm, DRM_TESSERA_ENGINE_COMPUTE,
					  DRM_TESSERA_PRIORITY_NORMAL, 0, &s.queue));
	lt_must("stream", tsr_stream_create(other.lt.code, 0, &s.stream));
	lt_must("sync", tsr_sync_create(other.lt.device, 0, &s.sync));
	return s;
}

static void steps_start(struct steps *s, uint32_t count)
{
	struct tsr_storage storage = ct_storage(&s->data, 4);
	const uint32_t push[2] = { count };
	const struct tsr_dispatch_info d = {
		.shader = s->program, .groups = { 32 }, .push = push, .push_words = 2,
		.storage = &storage, .storage_count = 1,
	};

	s->count = count;
	tsr_stream_reset(s->stream);
	LT_OK(tsr_cmd_dispatch(s->stream, &d, sizeof(d)));
	LT_OK(tsr_queue_run(s->queue, s->stream, s->sync, 0));
}

/* Wait for the job, and check all its results. */
static void steps_finish(struct steps *s)
{
	const uint32_t *got = s->data.cpu;
	uint32_t factor = 1, add = 0, i, bad = 0;

	LT_OK(tsr_sync_finish(s->sync, 0, LT_SECONDS(60)));
	for (i = 0; i < s->count; i++) {
		factor *= 1664525u;
		add = add * 1664525u + 1013904223u;
	}
	for (i = 0; i < 64 * 32; i++)
		bad += got[i] != i * factor + add;
	ktap_eq(bad, 0);
}

static void steps_close(struct steps *s)
{
	tsr_stream_destroy(s->stream);
	tsr_queue_unref(s->queue);
	tsr_sync_unref(s->sync);
	tsr_pool_free(other.lt.data, &s->data);
	tsr_shader_unref(s->program);
}

/* How many steps take about 0.4 s of the engine alone. */
static uint32_t steps_measure(struct steps *s)
{
	const uint32_t few = 2000;
	int64_t begin = tsr_deadline(0), one;

	steps_start(s, few);
	steps_finish(s);
	one = (tsr_deadline(0) - begin) / few + 1;
	return (uint32_t)(400000000 / one) + 1;
}

/* One job of the other client, from fresh numbers; whether it came out right. */
static bool other_round(unsigned int round)
{
	struct tsr_storage storage = ct_storage(&numbers, 4);
	const struct tsr_dispatch_info d = { .shader = work, .groups = { THREADS / 64 },
					     .storage = &storage, .storage_count = 1 };
	uint32_t *got = numbers.cpu;
	unsigned int i, bad = 0;

	for (i = 0; i < THREADS; i++)
		got[i] = i ^ round;
	for (i = 0; i < 3; i++)
		LT_OK(tsr_cmd_dispatch(other.lt.stream, &d, sizeof(d)));
	if (!LT_OK(ct_finish(&other)))
		return false;
	for (i = 0; i < THREADS; i++)
		bad += got[i] != ct_work(i ^ round, i, 3);
	return ktap_eq(bad, 0);
}

static bool pending(struct tsr_sync *sync)
{
	int status;

	return !tsr_sync_get_status(sync, 0, &status) && status == 0;
}

/* The program makes progress, so it is not the watchdog but the limit that ends it. */
static void endless_program(void)
{
	struct tsr_dispatch_info d = forever();
	struct drm_tessera_gpu_state before, after;
	struct drm_tessera_queue_get_state state;
	struct tsr_sync *hung, *behind;
	struct tsr_submit *submit;
	unsigned int rounds = 0;
	int job;

	LT_OK(tsr_device_get_state(c.lt.device, &before, sizeof(before)));
	LT_OK(tsr_sync_create(c.lt.device, 0, &hung));
	LT_OK(tsr_sync_create(c.lt.device, 0, &behind));
	LT_OK(tsr_cmd_dispatch(c.lt.stream, &d, sizeof(d)));
	LT_OK(ct_start(&c, hung));
	LT_OK(tsr_submit_create(c.lt.device, &submit));
	job = tsr_submit_job(submit, c.queue, 0, 0);
	LT_OK(tsr_submit_signal(submit, job, behind, 0));
	LT_OK(tsr_submit_flush(submit));
	while (pending(hung) && other_round(rounds))
		rounds++;
	ktap_ok(rounds >= 3);
	ktap_eq(tsr_sync_finish(hung, 0, LT_LONG), -ETIMEDOUT);
	ktap_eq(tsr_sync_finish(behind, 0, LT_LONG), -ECANCELED);
	state = ct_state(&c);
	ktap_eq(state.state, DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_TIMEDOUT);
	ktap_eq(state.error, ETIMEDOUT);
	ktap_eq(state.fault_code, 0);
	LT_OK(tsr_device_get_state(c.lt.device, &after, sizeof(after)));
	ktap_eq(after.reset_count, before.reset_count);
	ktap_eq(after.queue_reset_count, before.queue_reset_count + 1);
	tsr_stream_reset(c.lt.stream);
	ct_new_queue(&c);
	other_round(rounds);
	tsr_submit_destroy(submit);
	tsr_sync_unref(hung);
	tsr_sync_unref(behind);
}

/*
 * A dozen queues that never end share the engine with one that has little to do, and with a job
 * that has to wait for its share for much longer than a job may take: both go on, and neither is
 * called hung.
 */
static void flood(void)
{
	struct tsr_dispatch_info d = forever();
	struct tsr_queue *queues[FLOOD];
	struct tsr_sync *syncs[FLOOD];
	struct tsr_stream *streams[FLOOD];
	struct steps steps = steps_open();
	uint32_t count = steps_measure(&steps);
	unsigned int i, rounds = 0;
	int64_t until;

	for (i = 0; i < FLOOD; i++) {
		LT_OK(tsr_queue_create(c.lt.vm, DRM_TESSERA_ENGINE_COMPUTE,
				       DRM_TESSERA_PRIORITY_NORMAL, 0, &queues[i]));
		LT_OK(tsr_sync_create(c.lt.device, 0, &syncs[i]));
		LT_OK(tsr_stream_create(c.lt.code, 0, &streams[i]));
		LT_OK(tsr_cmd_dispatch(streams[i], &d, sizeof(d)));
		LT_OK(tsr_queue_run(queues[i], streams[i], syncs[i], 0));
	}
	steps_start(&steps, count);
	until = LT_SECONDS(6);
	while (tsr_deadline(0) < until && other_round(rounds))
		rounds++;
	ktap_ok(rounds >= 10);
	ktap_note("%u rounds beside %u endless queues", rounds, FLOOD);
	ktap_eq(ct_state(&other).state, 0);
	steps_finish(&steps);
	steps_close(&steps);
	for (i = 0; i < FLOOD; i++) {
		int status = 0;

		/* each of them is pending, or was stopped for its own sake */
		LT_OK(tsr_sync_get_status(syncs[i], 0, &status));
		ktap_ok(status == 0 || status == -ETIMEDOUT);
		tsr_queue_unref(queues[i]);
		LT_OK(tsr_sync_wait(syncs[i], 0, LT_LONG));
		LT_OK(tsr_sync_get_status(syncs[i], 0, &status));
		ktap_ok(status == -ECANCELED || status == -ETIMEDOUT);
		tsr_sync_unref(syncs[i]);
		tsr_stream_destroy(streams[i]);
	}
	ktap_ok(other_round(0));
}

/* Engine time of this client's COMPUTE queues, as /proc shows it, in nanoseconds. */
static uint64_t compute_ns(void)
{
	unsigned long long ns = 0;
	char line[200];
	FILE *file;

	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", tsr_device_fd(c.lt.device));
	file = fopen(line, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "drm-engine-compute: %llu ns", &ns) == 1)
			break;
	}
	fclose(file);
	return ns;
}

/*
 * A queue is destroyed while its program runs: the fence says so at once. The time it ran is
 * counted, while it runs and when it is gone.
 */
static void cancel(void)
{
	struct tsr_dispatch_info d = forever();
	uint64_t before = compute_ns(), during;
	struct tsr_sync *sync;
	int64_t start;

	LT_OK(tsr_sync_create(c.lt.device, 0, &sync));
	LT_OK(tsr_cmd_dispatch(c.lt.stream, &d, sizeof(d)));
	LT_OK(ct_start(&c, sync));
	ktap_eq(tsr_sync_wait(sync, 0, tsr_deadline(50000000)), -ETIME);
	during = compute_ns();
	ktap_ok(during > before + 10000000);
	start = tsr_deadline(0);
	ct_new_queue(&c);
	ktap_eq(tsr_sync_finish(sync, 0, LT_LONG), -ECANCELED);
	/* well below the time limits */
	ktap_ok(tsr_deadline(0) - start < 900000000);
	ktap_ok(compute_ns() >= during);
	tsr_stream_reset(c.lt.stream);
	tsr_sync_unref(sync);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	c = ct_open();
	other = ct_open();
	numbers = lt_data(&other.lt, THREADS * 4, 0);
	work = ct_program(&other, "work", CT_WORK);
	endless = ct_program(&c, "endless", ENDLESS);
	ktap_run("[SYS10] an endless program is stopped, others are bit-exact", endless_program);
	ktap_run("[SYS10] a flood of endless programs starves nobody", flood);
	ktap_run("[SYS7] a queue with an endless program is destroyed", cancel);
	tsr_shader_unref(work);
	tsr_shader_unref(endless);
	ct_close(&other);
	ct_close(&c);
	return ktap_finish();
}
