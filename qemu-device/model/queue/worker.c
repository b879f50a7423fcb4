/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <time.h>

#include "thread_pool.h"
#include "device/gpu.h"
#include "device/scanout.h"
#include "tsr_relax.h"

/*
 * A wake-up of a sleeping thread costs about 25 µs, so spinning longer than twice that never pays.
 */
#define SPIN_MAX_NS 50000u
#define SPIN_MIN_NS 2000u

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Look for work without the lock, for @ns; whether there seems to be some. */
static bool spin(struct tsr_gpu *gpu, unsigned int ns)
{
	uint64_t end = monotonic_ns() + ns;

	do {
		for (unsigned int i = 0; i < 32; i++) {
			if (atomic_load_explicit(&gpu->sched.runnable, memory_order_relaxed) ||
			    atomic_load_explicit(&gpu->help, memory_order_relaxed) ||
			    atomic_load_explicit(&gpu->display.wanted, memory_order_relaxed) ||
			    atomic_load_explicit(&gpu->workers.quit, memory_order_relaxed))
				return true;
			tsr_relax();
		}
	} while (monotonic_ns() < end);
	return false;
}

/* True if a worker has a reason to be awake. */
static bool wanted(struct tsr_gpu *gpu)
{
	if (gpu->workers.quit)
		return true;
	return !tsr_gpu_stands(gpu) &&
	       (atomic_load_explicit(&gpu->sched.runnable, memory_order_relaxed) ||
		atomic_load_explicit(&gpu->display.wanted, memory_order_relaxed) ||
		atomic_load_explicit(&gpu->help, memory_order_relaxed));
}

/* No work: wait for some. Lock held on entry and return. */
static void wait_for_work(struct tsr_gpu *gpu)
{
	struct tsr_workers *workers = &gpu->workers;

	workers->idle++;
	if (!wanted(gpu) && !tsr_gpu_stands(gpu)) {
		unsigned int ns = workers->spin_ns;
		bool found;

		pthread_mutex_unlock(&gpu->lock);
		found = spin(gpu, ns);
		pthread_mutex_lock(&gpu->lock);
		/*
		 * Found: the next spin may be as long as any. Not found: it was a waste, try less.
		 */
		if (found)
			workers->spin_ns = SPIN_MAX_NS;
		else
			workers->spin_ns = ns / 2 < SPIN_MIN_NS ? SPIN_MIN_NS : ns / 2;
	}
	while (!wanted(gpu)) {
		atomic_fetch_add(&workers->sleeping, 1);
		pthread_mutex_unlock(&gpu->lock);
		while (sem_wait(&workers->wake))
			continue;
		pthread_mutex_lock(&gpu->lock);
	}
	workers->idle--;
}

static void *worker_main(void *arg)
{
	struct tsr_runner *runner = arg;
	struct tsr_gpu *gpu = runner->gpu;

	if (gpu->ops->thread_enter)
		gpu->ops->thread_enter(gpu->host);
	pthread_mutex_lock(&gpu->lock);
	while (!gpu->workers.quit) {
		/* frames first, and queues between two slices of them */
		const uint64_t composed = tsr_scanout_run(runner, TSR_SCANOUT_SLICE);
		struct tsr_queue *q = tsr_sched_pick(gpu, false);

		if (!q) {
			if (!composed && !tsr_thread_pool_help(runner))
				wait_for_work(gpu);
			continue;
		}
		if (atomic_load_explicit(&gpu->sched.runnable, memory_order_relaxed))
			tsr_workers_wake(gpu);
		/* a worker that was woken to help has others to wake */
		if (gpu->workers.sleeping &&
		    atomic_load_explicit(&gpu->help, memory_order_relaxed))
			tsr_workers_signal(gpu, 1);
		tsr_sched_run(runner, q, UINT64_MAX, false);
	}
	pthread_mutex_unlock(&gpu->lock);
	if (gpu->ops->thread_leave)
		gpu->ops->thread_leave(gpu->host);
	return NULL;
}

/* Takes one sleeper off the count. Returns false if there is none. */
static bool take_sleeper(struct tsr_workers *workers)
{
	unsigned int sleeping = atomic_load(&workers->sleeping);

	while (sleeping &&
	       !atomic_compare_exchange_weak(&workers->sleeping, &sleeping, sleeping - 1))
		continue;
	return sleeping;
}

void tsr_workers_signal(struct tsr_gpu *gpu, unsigned int count)
{
	while (count-- && take_sleeper(&gpu->workers))
		sem_post(&gpu->workers.wake);
}

/* True if there are workers, and nobody spins or wakes up. */
static bool all_sleep(struct tsr_gpu *gpu)
{
	return gpu->cfg.threads && !tsr_gpu_stands(gpu) &&
	       gpu->workers.idle == atomic_load(&gpu->workers.sleeping);
}

void tsr_workers_wake(struct tsr_gpu *gpu)
{
	if (!gpu->cfg.threads && !tsr_gpu_stands(gpu) && gpu->ops->work)
		gpu->ops->work(gpu->host);
	if (all_sleep(gpu))
		tsr_workers_signal(gpu, 1);
}

void tsr_workers_wake_late(struct tsr_gpu *gpu)
{
	if (gpu->workers.late && gpu->cfg.threads)
		gpu->workers.due |= all_sleep(gpu);
	else
		tsr_workers_wake(gpu);
}

void tsr_workers_unlock(struct tsr_gpu *gpu)
{
	const bool due = gpu->workers.due;

	gpu->workers.late = gpu->workers.due = false;
	pthread_mutex_unlock(&gpu->lock);
	if (due)
		tsr_workers_signal(gpu, 1);
}

bool tsr_workers_start(struct tsr_gpu *gpu)
{
	gpu->workers.spin_ns = SPIN_MAX_NS;
	while (gpu->workers.started < gpu->cfg.threads) {
		struct tsr_runner *runner = &gpu->runner[1 + gpu->workers.started];

		if (pthread_create(&runner->pthread, NULL, worker_main, runner))
			return false;
		gpu->workers.started++;
	}
	return true;
}

void tsr_workers_stop(struct tsr_gpu *gpu)
{
	pthread_mutex_lock(&gpu->lock);
	gpu->workers.quit = true;
	tsr_runners_interrupt(gpu);
	tsr_workers_signal(gpu, TSR_WORKERS_MAX);
	pthread_mutex_unlock(&gpu->lock);
	for (unsigned int i = 0; i < gpu->workers.started; i++)
		pthread_join(gpu->runner[1 + i].pthread, NULL);
	gpu->workers.started = 0;
}
