/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=120 */
/*
 * A storm: workers run copies that wait for each other while the host, at random, submits,
 * suspends, resets, invalidates, pauses, saves and loads. In the end every job that was not thrown
 * away by a reset has run once and right. Under TSan this is the test for races; the seed is fixed,
 * the timing is not.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "copy_ref.h"
#include "ktap.h"
#include "stage.h"

#define QUEUES 6u
#define JOBS 16u			/* slots for jobs of a queue; a job's number modulo this */
#define JOB_BYTES 20000u		/* more than a burst */
#define SRC 0x40000000ull
#define DST 0x80000000ull
#define SLOT_BYTES (6 * BENCH_PAGE)	/* of a job's destination */
#define STREAM_BYTES 256u		/* of a job's stream */

/* A queue as the driver sees it. */
struct client {
	struct bench_queue q;
	uint64_t submitted, checked;	/* jobs, numbered from 1 */
	uint64_t lost;			/* jobs up to this one may have been thrown away */
	bool suspended;
};

struct storm {
	struct stage s;
	struct client client[QUEUES];
	struct copy_random random;
	uint8_t *src, *dst;
	uint64_t signals;		/* value of the semaphore that all jobs may wait for */
	unsigned int actions[10];	/* how often each happened */
};

static uint64_t fence_va(unsigned int i)
{
	return STAGE_DATA + 0x1000 + i * 64;
}

static uint64_t fence(struct storm *st, unsigned int i)
{
	return stage_load(&st->s, fence_va(i) - STAGE_DATA);
}

static uint8_t *job_dst(struct storm *st, unsigned int i, uint64_t job)
{
	return st->dst + (i * JOBS + job % JOBS) * SLOT_BYTES;
}

/* The address that job @job of queue @i reads. It differs between neighbors. */
static uint64_t job_offset(unsigned int i, uint64_t job)
{
	return (job * 37 + i * 1000) % 30000;
}

static void storm_init(struct storm *st, unsigned int threads)
{
	struct tsr_config config = { .threads = threads, .queues = QUEUES };

	for (unsigned int cls = 0; cls < 4; cls++)
		config.engines[cls] = cls == TSR_ENGINE_CLASS_COPY ? 2 : 1;
	stage_init(&st->s, &config);
	st->s.b->real_clock = true;
	st->random.state = 4711;
	st->src = bench_buffer(&st->s.as[1], SRC, 60000 / BENCH_PAGE * BENCH_PAGE + BENCH_PAGE,
			       BENCH_R);
	st->dst = bench_buffer(&st->s.as[1], DST, QUEUES * JOBS * SLOT_BYTES, BENCH_RW);
	for (unsigned int i = 0; i < 60000; i++)
		st->src[i] = (uint8_t)(i * 13 + i / 256);
	st->s.b->pending_every = 3;
	for (unsigned int i = 0; i < QUEUES; i++) {
		stage_queue(&st->s, &st->client[i].q, i, TSR_ENGINE_CLASS_COPY,
			    i % 3 ? TSR_PRIORITY_NORMAL : TSR_PRIORITY_LOW);
		bench_write(st->s.b, TSR_REG_QUEUE_TIMESLICE(i), 1024);
	}
}

/* A job: wait for the shared word, copy, fence; sometimes it signals first what others wait for. */
static void submit(struct storm *st, unsigned int i)
{
	struct client *c = &st->client[i];
	uint64_t job = c->submitted + 1, p[8];
	struct stage_stream stream;

	if (job > c->checked + JOBS - 1 || bench_room(&c->q) < 128)
		return;
	stream = stage_stream(&st->s, (i * JOBS + job % JOBS) * STREAM_BYTES);
	stage_add(&stream, p, pk_signal(p, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, true,
					STAGE_DATA + 0x800, 1));
	if (copy_random(&st->random, 2))
		stage_add(&stream, p, pk_wait(p, TSR_COMPARE_GE, true, STAGE_DATA,
					      st->signals + copy_random(&st->random, 2)));
	stage_add(&stream, p, pk_copy(p, DST + (i * JOBS + job % JOBS) * SLOT_BYTES + 5,
				      SRC + job_offset(i, job), JOB_BYTES));
	stage_add(&stream, p, pk_fence(p, TSR_EVENT_WRITES_DONE, false, fence_va(i), job));
	memset(job_dst(st, i, job), 0, SLOT_BYTES);
	stage_call(&c->q, &stream);
	bench_kick(&c->q);
	c->submitted = job;
}

/* Jobs that are done have done what they should. */
static bool check_jobs(struct storm *st, unsigned int i)
{
	struct client *c = &st->client[i];
	uint64_t done = fence(st, i);

	for (; c->checked < done; c->checked++) {
		uint64_t job = c->checked + 1;

		if (job > c->lost && !ktap_mem_eq(job_dst(st, i, job) + 5,
						  st->src + job_offset(i, job), JOB_BYTES))
			return false;
	}
	return bench_fault(&c->q) == TSR_FAULT_NONE || ktap_eq(bench_fault(&c->q), 0);
}

static void signal_all(struct storm *st)
{
	st->signals++;
	__atomic_store_n(stage_word(&st->s, 0), st->signals, __ATOMIC_RELEASE);
}

/* Reset the queue: what it had not finished is lost, the next job goes to a clean ring. */
static void reset_queue(struct storm *st, unsigned int i)
{
	struct client *c = &st->client[i];

	bench_control(&c->q, TSR_QUEUE_OP_RESET);
	while (bench_queue_reg(&c->q, TSR_QUEUE_STATE__OFFSET) & TSR_QUEUE_STATE_STOPPING__MASK)
		bench_run(st->s.b, 0);
	ktap_eq(bench_state(&c->q), TSR_QUEUE_STATE_DISABLED);
	check_jobs(st, i);
	c->lost = c->checked = c->submitted;
	c->suspended = false;
	*stage_word(&st->s, fence_va(i) - STAGE_DATA) = c->submitted;
	bench_enable(&c->q, 0);
}

static void suspend_or_resume(struct storm *st, unsigned int i)
{
	struct client *c = &st->client[i];

	bench_control(&c->q, c->suspended ? TSR_QUEUE_OP_RESUME : TSR_QUEUE_OP_SUSPEND);
	c->suspended = !c->suspended;
	while (c->suspended &&
	       bench_queue_reg(&c->q, TSR_QUEUE_STATE__OFFSET) & TSR_QUEUE_STATE_STOPPING__MASK)
		bench_run(st->s.b, 0);
}

static void save_and_load(struct storm *st)
{
	struct tsr_gpu *gpu = st->s.b->gpu;
	char err[200] = "";
	size_t size;
	void *image;

	tsr_gpu_pause(gpu);
	size = tsr_gpu_save(gpu, NULL, 0);
	image = malloc(size);
	ktap_eq(tsr_gpu_save(gpu, image, size), size);
	if (!tsr_gpu_load(gpu, image, size, err, sizeof(err)))
		ktap_fail("%s", err);
	tsr_gpu_resume(gpu);
	tsr_gpu_host_ready(gpu);
	free(image);
}

static void act(struct storm *st)
{
	unsigned int what = copy_random(&st->random, 40), i = copy_random(&st->random, QUEUES);
	unsigned int action = what < 20 ? 0 : (what - 20) / 2;

	switch (action) {
	case 0:
		submit(st, i);
		break;
	case 1:
	case 2:
		signal_all(st);
		break;
	case 3:
		suspend_or_resume(st, i);
		break;
	case 4:
		tsr_gpu_host_invalidate(st->s.b->gpu, BENCH_RAM_BASE, BENCH_RAM_SIZE);
		break;
	case 5:
		bench_invalidate(&st->s.as[1], DST, SLOT_BYTES * JOBS);
		break;
	case 6:
		tsr_gpu_pause(st->s.b->gpu);
		tsr_gpu_resume(st->s.b->gpu);
		break;
	case 7:
		save_and_load(st);
		break;
	case 8:
		if (!copy_random(&st->random, 4))
			reset_queue(st, i);
		break;
	default:
		bench_run(st->s.b, 0);
		break;
	}
	st->actions[action]++;
}

/* Let everything end that can. */
static void calm(struct storm *st)
{
	for (unsigned int i = 0; i < QUEUES; i++) {
		if (st->client[i].suspended)
			suspend_or_resume(st, i);
	}
	for (unsigned int n = 0; n < 3; n++) {
		signal_all(st);
		for (unsigned int i = 0; i < QUEUES; i++)
			bench_kick(&st->client[i].q);
		ktap_ok(bench_run(st->s.b, 20));
	}
}

static void test_storm(const void *arg)
{
	unsigned int rounds = getenv("TSR_QUICK") ? 3000 : 30000, n;
	uint64_t jobs = 0;
	struct storm st;
	bool ok = true;

	memset(&st, 0, sizeof(st));
	storm_init(&st, *(const unsigned int *)arg);
	for (n = 0; ok && n < rounds; n++) {
		act(&st);
		for (unsigned int i = 0; ok && i < QUEUES; i++)
			ok = check_jobs(&st, i);
	}
	calm(&st);
	for (unsigned int i = 0; i < QUEUES; i++) {
		ktap_eq(fence(&st, i), st.client[i].submitted);
		ktap_eq(bench_state(&st.client[i].q), TSR_QUEUE_STATE_IDLE);
		check_jobs(&st, i);
		jobs += st.client[i].submitted;
	}
	ktap_note("%u actions, %" PRIu64 " jobs", n, jobs);
	ktap_ok(jobs > rounds / 20);
	stage_free(&st.s);
}

int main(int argc, char **argv)
{
	static const unsigned int threads[] = { 0, 1, 3 };
	char name[80];

	ktap_start_args(argc, argv);
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "[SYS10] a storm over %u workers", threads[i]);
		ktap_run_arg(name, test_storm, &threads[i]);
	}
	return ktap_finish();
}
