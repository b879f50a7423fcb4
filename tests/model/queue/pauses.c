/* SPDX-License-Identifier: MIT */
/*
 * Threads that have to stop: the host's pauses are counted, and an owner that closes its pool asks
 * its helpers to stop and sleeps until they have.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "queue/thread_pool.h"
#include "device/gpu.h"
#include "ktap.h"
#include "stage.h"

/* ---- Pauses ---------------------------------------------------------------------------------- */

static void one_resume_more(struct tsr_gpu *gpu)
{
	tsr_gpu_resume(gpu);
}

static void one_pause_more(struct tsr_gpu *gpu)
{
	for (unsigned int i = 0; i <= TSR_PAUSES_MAX; i++)
		tsr_gpu_pause(gpu);
}

/* Returns true if @call ends a process by abort(). */
static bool aborts(void (*call)(struct tsr_gpu *gpu), struct tsr_gpu *gpu)
{
	const struct rlimit no_core = { 0, 0 };
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGABRT, SIG_DFL);
		call(gpu);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGABRT;
}

static void test_pauses(void)
{
	struct stage s;

	stage_init(&s, NULL);
	for (unsigned int i = 0; i < TSR_PAUSES_MAX; i++)
		tsr_gpu_pause(s.b->gpu);
	ktap_eq(s.b->gpu->paused, TSR_PAUSES_MAX);
	for (unsigned int i = 0; i < TSR_PAUSES_MAX; i++)
		tsr_gpu_resume(s.b->gpu);
	ktap_eq(s.b->gpu->paused, 0);
	ktap_ok(aborts(one_resume_more, s.b->gpu));
	ktap_ok(aborts(one_pause_more, s.b->gpu));
	stage_free(&s);
}

/* ---- A pool ---------------------------------------------------------------------------------- */

#define OWNER 0
#define HELPER 2
#define PATIENCE_MS 5000

struct helping {
	struct tsr_gpu *gpu;
	struct tsr_queue *q;
	bool asked;			/* the helper has seen a stop request */
};

/* A helper in a burst that ends at a stop request, after a while. */
static void *help(void *arg)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	struct helping *h = arg;
	struct tsr_runner *runner = &h->gpu->runner[HELPER];

	for (unsigned int i = 0; i < PATIENCE_MS && !h->asked; i++) {
		h->asked = tsr_port_stop_requested(&runner->own.port);
		nanosleep(&ms, NULL);
	}
	atomic_fetch_sub(&h->q->work.pool.inside, 1);
	pthread_mutex_lock(&h->gpu->lock);
	runner->queue = NULL;
	tsr_gpu_runner_idle(h->gpu);
	pthread_mutex_unlock(&h->gpu->lock);
	return NULL;
}

static void test_pool(void)
{
	const struct tsr_config config = { .threads = 2 };
	struct tsr_thread_pool *pool;
	struct helping h = { 0 };
	struct stage s;
	pthread_t thread;

	stage_init(&s, &config);
	h.gpu = s.b->gpu;
	h.q = &h.gpu->queue[5];
	pool = &h.q->work.pool;
	pthread_mutex_lock(&h.gpu->lock);
	h.q->active = &h.gpu->runner[OWNER];
	h.gpu->runner[OWNER].queue = h.gpu->runner[HELPER].queue = h.q;
	atomic_store(&pool->open, true);
	atomic_store(&pool->inside, 1);
	pthread_mutex_unlock(&h.gpu->lock);
	ktap_eq(pthread_create(&thread, NULL, help, &h), 0);
	tsr_thread_pool_close(h.q);
	ktap_ok(!atomic_load(&pool->open));
	ktap_eq(atomic_load(&pool->inside), 0);
	pthread_join(thread, NULL);
	ktap_ok(h.asked);
	ktap_ok(!tsr_port_stop_requested(&h.gpu->runner[OWNER].own.port));
	pthread_mutex_lock(&h.gpu->lock);
	h.q->active = NULL;
	h.gpu->runner[OWNER].queue = NULL;
	pthread_mutex_unlock(&h.gpu->lock);
	stage_free(&s);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("a resume without a pause, and a pause too many, abort", test_pauses);
	ktap_run("an owner that closes its pool asks its helpers to stop", test_pool);
	return ktap_finish();
}
