/* SPDX-License-Identifier: MIT */
#include "stop_work.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "queue/thread_pool.h"
#include "device/gpu.h"
#include "ktap.h"

/* Processor time for one input. */
#define SECONDS 20
#define STEPS 300

/* Put @q on an engine, for the runner of the host's thread; false: it has nothing to run. */
static bool enter(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_gpu *gpu = q->gpu;

	pthread_mutex_lock(&gpu->lock);
	while (q->state == TSR_QUEUE_STATE_READY && tsr_sched_pick(gpu, false))
		continue;
	if (q->state != TSR_QUEUE_STATE_RUNNING) {
		pthread_mutex_unlock(&gpu->lock);
		return false;
	}
	runner->queue = q;
	q->active = runner;
	tsr_tlb_sync(runner);
	pthread_mutex_unlock(&gpu->lock);
	runner->spent = 0;
	q->slice_left = INT64_MAX;
	q->host_seq = atomic_load(&gpu->host_seq);
	return true;
}

static void leave(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_gpu *gpu = q->gpu;

	tsr_thread_pool_close(q);
	pthread_mutex_lock(&gpu->lock);
	tsr_run_report(runner);
	tsr_tlb_sync(runner);
	tsr_inval_complete(gpu);
	q->active = NULL;
	runner->queue = NULL;
	q->slice_left = 1;
	pthread_mutex_unlock(&gpu->lock);
}

/* As scheduler.c does it for who has run the queue. */
static void fault(struct tsr_queue *q)
{
	pthread_mutex_lock(&q->gpu->lock);
	tsr_sched_off(q);
	q->fault = q->exec.fault;
	tsr_queue_faulted(q);
	pthread_mutex_unlock(&q->gpu->lock);
}

uint64_t stop_work_step(struct bench_queue *bq, bool wanted)
{
	struct tsr_gpu *gpu = bq->bench->gpu;
	struct tsr_queue *q = &gpu->queue[bq->slot];
	struct tsr_runner *runner = &gpu->runner[0];
	enum tsr_fifo_result engine;
	enum tsr_cp_result cp;
	uint64_t spent;

	if (!enter(runner, q)) {
		/* the queue waits for the host, or for a word */
		bench_answer(bq->bench);
		tsr_gpu_run(gpu, 1);
		return 0;
	}
	runner->own.budget = wanted ? INT64_MAX : 1;
	atomic_store(&runner->own.port.stop, wanted);
	cp = tsr_cp_step(runner, q);
	engine = tsr_fifo_step(runner, q, false);
	atomic_store(&runner->own.port.stop, false);
	spent = runner->spent;
	leave(runner, q);
	if (engine == TSR_FIFO_FAULT) {
		fault(q);
	} else if (engine != TSR_FIFO_STEPPED && cp != TSR_CP_STEPPED) {
		/* the queue waits, or has ended; the work after that is not measured */
		bench_answer(bq->bench);
		tsr_gpu_run(gpu, 1);
	}
	return spent;
}

static bool running(struct bench_queue *bq)
{
	enum tsr_queue_state state = bench_state(bq);

	return state == TSR_QUEUE_STATE_READY || state == TSR_QUEUE_STATE_RUNNING ||
	       state == TSR_QUEUE_STATE_BLOCKED;
}

uint64_t stop_work_most(struct bench_queue *bq, unsigned int steps)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < steps; i++) {
		uint64_t spent;

		if (!running(bq))
			break;
		spent = stop_work_step(bq, i & 1);
		most = spent > most ? spent : most;
	}
	return most;
}

static void endless(int signal)
{
	static const char text[] = "# it never stops\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 1 : 2);
}

void stop_work_watch(bool on)
{
	const struct itimerval limit = { .it_value = { .tv_sec = on ? SECONDS : 0 } };

	signal(SIGVTALRM, endless);
	setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

uint64_t stop_work_check(struct bench_queue *q, const char *what, bool endless)
{
	uint64_t most;

	stop_work_watch(true);
	most = stop_work_most(q, STEPS);
	ktap_note("%s: %llu cycles", what, (unsigned long long)most);
	ktap_ok(most && most <= TSR_STOP_WORK);
	if (endless && !ktap_ok(running(q)))
		ktap_note("%s: state %u, fault %u", what, bench_state(q), bench_fault(q));
	bench_control(q, TSR_QUEUE_OP_RESET);
	ktap_eq(bench_state(q), TSR_QUEUE_STATE_DISABLED);
	stop_work_watch(false);
	return most;
}
