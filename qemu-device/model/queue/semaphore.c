/* SPDX-License-Identifier: MIT */
#include "device/gpu.h"

bool tsr_semaphore_compare(unsigned int op, bool wide, uint64_t word, uint64_t value)
{
	uint64_t difference = word - value;
	bool negative = wide ? difference >> 63 : difference >> 31 & 1;

	switch (op) {
	case TSR_COMPARE_EQ:
		return wide ? !difference : !(uint32_t)difference;
	case TSR_COMPARE_GE:
		return !negative;
	default:
		return negative;
	}
}

enum tsr_step tsr_semaphore_test(struct tsr_mem *mem, const struct tsr_packet *packet, bool *holds)
{
	uint64_t word;

	if (tsr_packet_opcode(packet->word[0]) == TSR_OP_WAIT_REG) {
		struct tsr_wait_reg wait;

		tsr_unpack_wait_reg(packet->word, &wait);
		word = atomic_load_explicit(&mem->gpu->semaphore[wait.index], memory_order_acquire);
		*holds = tsr_semaphore_compare(wait.op, false, word, wait.value);
	} else {
		struct tsr_wait wait;
		enum tsr_step step;

		tsr_unpack_wait(packet->word, &wait);
		step = tsr_mem_load(mem, wait.addr, wait.wide, &word);
		if (step != TSR_STEP_DONE)
			return step;
		*holds = tsr_semaphore_compare(wait.op, wait.wide, word, wait.value);
	}
	return TSR_STEP_DONE;
}

void tsr_semaphore_signal(struct tsr_gpu *gpu, unsigned int index, unsigned int op, uint32_t value)
{
	if (op == TSR_SIGNAL_OP_ADD)
		atomic_fetch_add_explicit(&gpu->semaphore[index], value, memory_order_acq_rel);
	else
		atomic_store_explicit(&gpu->semaphore[index], value, memory_order_release);
}

bool tsr_semaphore_poll_queue(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_mem mem = tsr_runner_mem(runner, NULL, q->exec.packet.as, TSR_UNIT_CP);
	bool holds;

	/*
	 * A fault or a pending translation cannot be handled here. The queue itself meets it when
	 * it runs.
	 */
	if (tsr_semaphore_test(&mem, &q->exec.packet, &holds) == TSR_STEP_DONE && !holds)
		return false;
	tsr_queue_unblock(q);
	return true;
}

bool tsr_semaphore_poll(struct tsr_runner *runner)
{
	struct tsr_gpu *gpu = runner->gpu;
	uint64_t blocked = gpu->sched.blocked;
	bool woken = false;

	if (!runner->queue)
		tsr_tlb_sync(runner);
	while (blocked) {
		unsigned int i = __builtin_ctzll(blocked);

		blocked &= blocked - 1;
		woken |= tsr_semaphore_poll_queue(runner, &gpu->queue[i]);
	}
	return woken;
}

void tsr_semaphore_changed(struct tsr_runner *runner)
{
	struct tsr_gpu *gpu = runner->gpu;

	/*
	 * A read-modify-write on both sides, here and between blocking and the last look at the
	 * word (scheduler.c): whichever comes second sees what the other wrote before, so either
	 * this thread sees that somebody is blocked, or that one sees the new word.
	 */
	if (!atomic_fetch_or_explicit(&gpu->sched.any_blocked, 0, memory_order_acq_rel))
		return;
	pthread_mutex_lock(&gpu->lock);
	/* The host's thread runs the queues that it wakes, or wakes workers: tsr_sched_kick(). */
	if (tsr_semaphore_poll(runner) && runner->index)
		tsr_workers_wake(gpu);
	pthread_mutex_unlock(&gpu->lock);
}

void tsr_semaphore_blocked(struct tsr_gpu *gpu)
{
	struct tsr_poll *poll = &gpu->poll;
	uint64_t blocked = gpu->sched.blocked;
	uint64_t at = gpu->ops->clock(gpu->host) + TSR_POLL_MIN_NS;

	poll->interval = TSR_POLL_MIN_NS;
	/* A look that others wait for is not put off. */
	if (!(blocked & (blocked - 1)) || at < poll->at)
		poll->at = at;
	tsr_timer_want(&gpu->timer, poll->at);
}

void tsr_semaphore_restart(struct tsr_gpu *gpu)
{
	gpu->poll.interval = TSR_POLL_MIN_NS;
	gpu->poll.at = gpu->ops->clock(gpu->host) + TSR_POLL_MIN_NS;
}

/* Look, and the less often the longer nothing comes of it. */
static void expired(void *opaque, uint64_t now)
{
	struct tsr_gpu *gpu = opaque;
	struct tsr_poll *poll = &gpu->poll;

	if (!gpu->sched.blocked || now < poll->at)
		return;
	if (tsr_semaphore_poll(&gpu->runner[0]))
		poll->interval = TSR_POLL_MIN_NS;
	else if (poll->interval < TSR_POLL_MAX_NS)
		poll->interval *= 2;
	if (poll->interval > TSR_POLL_MAX_NS)
		poll->interval = TSR_POLL_MAX_NS;
	poll->at = now + poll->interval;
}

static void arm(void *opaque, uint64_t now)
{
	struct tsr_gpu *gpu = opaque;

	(void)now;
	if (gpu->sched.blocked)
		tsr_timer_want(&gpu->timer, gpu->poll.at);
}

void tsr_semaphore_init(struct tsr_gpu *gpu)
{
	tsr_timer_add(&gpu->timer, &(struct tsr_timer_user){
		.expired = expired, .arm = arm, .opaque = gpu,
	});
}
