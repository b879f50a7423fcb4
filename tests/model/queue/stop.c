/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=120 */
/*
 * Stopping: a program is disturbed at every point at which it can be (suspended, paused, saved and
 * loaded elsewhere, one queue or all of it reset), carried on, and must leave what an undisturbed
 * run leaves. Determinism. The watchdog.
 */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "program.h"

#define STEPS_MAX 2000

/*
 * Run the program up to step @k of one cycle (so one packet or burst) each. False: it is over
 * before that.
 */
static bool run_to(struct program *prog, unsigned int k)
{
	while (k--) {
		if (program_over(prog))
			return false;
		if (!tsr_gpu_run(prog->s->b->gpu, 1))
			bench_advance(prog->s->b, 1000);
	}
	return !program_over(prog);
}

/*
 * Disturb the program at every step with @disturb; what is left must be right except for the queues
 * in @skip.
 */
static unsigned int at_every_step(const struct tsr_config *config,
				  void (*disturb)(struct program *prog), unsigned int skip,
				  unsigned int stride)
{
	unsigned int k;
	bool more = true;

	for (k = 0; more && k < STEPS_MAX; k += stride) {
		struct program prog;
		struct stage s;

		stage_init(&s, config);
		program_start(&prog, &s);
		more = run_to(&prog, k);
		disturb(&prog);
		if (!skip && !ktap_ok(program_finish(&prog)))
			ktap_note("at step %u", k);
		ktap_ok(bench_run(s.b, 10));
		if (!ktap_ok(program_check(&prog, skip)))
			ktap_note("at step %u", k);
		stage_free(&s);
	}
	ktap_ok(k < STEPS_MAX);
	return k;
}

static void control_all(struct program *prog, enum tsr_queue_op op)
{
	for (unsigned int n = 0; n < PROGRAM_QUEUES; n++)
		bench_control(&prog->q[n], op);
}

static void suspend(struct program *prog)
{
	bool faulted = bench_state(&prog->q[3]) == TSR_QUEUE_STATE_FAULTED;

	control_all(prog, TSR_QUEUE_OP_SUSPEND);
	for (unsigned int n = 0; n < PROGRAM_QUEUES; n++)
		ktap_eq(bench_state(&prog->q[n]),
			n == 3 && faulted ? TSR_QUEUE_STATE_FAULTED : TSR_QUEUE_STATE_SUSPENDED);
	/* A doorbell moves WPTR and nothing else. */
	bench_kick(&prog->q[0]);
	ktap_eq(tsr_gpu_run(prog->s->b->gpu, 1000), 0);
	ktap_eq(bench_state(&prog->q[0]), TSR_QUEUE_STATE_SUSPENDED);
	control_all(prog, TSR_QUEUE_OP_RESUME);
}

static void pause(struct program *prog)
{
	uint64_t before =
		bench_read64(prog->s->b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_GPU_CYCLES));

	tsr_gpu_drain(prog->s->b->gpu);	/* nothing: it is not paused */
	tsr_gpu_pause(prog->s->b->gpu);
	tsr_gpu_pause(prog->s->b->gpu);
	tsr_gpu_drain(prog->s->b->gpu);	/* there is neither BIN nor RENDER */
	bench_kick(&prog->q[0]);
	bench_advance(prog->s->b, 5000000);
	ktap_eq(tsr_gpu_run(prog->s->b->gpu, 1000), 0);
	tsr_gpu_resume(prog->s->b->gpu);
	ktap_eq(tsr_gpu_run(prog->s->b->gpu, 1000), 0);
	ktap_eq(bench_read64(prog->s->b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_GPU_CYCLES)),
		before);
	tsr_gpu_resume(prog->s->b->gpu);
}

/* Save, and load into a new device with the same memory. Saving it again gives the same state. */
static void transplant(struct program *prog)
{
	struct bench *b = prog->s->b;
	size_t size, again;
	uint8_t *state, *copy;
	char err[200] = "";

	tsr_gpu_pause(b->gpu);
	size = tsr_gpu_save(b->gpu, NULL, 0);
	state = malloc(size);
	copy = malloc(size);
	ktap_eq(tsr_gpu_save(b->gpu, state, size), size);
	bench_replace(b);
	tsr_gpu_pause(b->gpu);
	if (!ktap_ok(tsr_gpu_load(b->gpu, state, size, err, sizeof(err))))
		ktap_note("%s", err);
	again = tsr_gpu_save(b->gpu, copy, size);
	ktap_eq(again, size);
	ktap_ok(!memcmp(state, copy, size));
	tsr_gpu_resume(b->gpu);
	free(state);
	free(copy);
}

/* Queue 2 takes no part in what the others do: its reset changes nothing for them. */
static void reset_queue2(struct program *prog)
{
	struct bench_queue *q = &prog->q[2];
	uint32_t rptr = bench_queue_reg(q, TSR_QUEUE_RPTR__OFFSET);

	bench_control(q, TSR_QUEUE_OP_RESET);
	ktap_eq(bench_field(bench_queue_reg(q, TSR_QUEUE_STATE__OFFSET),
			    TSR_QUEUE_STATE_STATE__MASK | TSR_QUEUE_STATE_STOPPING__MASK),
		TSR_QUEUE_STATE_DISABLED);
	ktap_eq(bench_queue_reg(q, TSR_QUEUE_RPTR__OFFSET), rptr);
	ktap_eq(bench_queue_reg64(q, TSR_QUEUE_COUNTER__OFFSET), 0);
	bench_kick(q);
	ktap_eq(bench_state(q), TSR_QUEUE_STATE_DISABLED);
	ktap_ok(bench_read64(prog->s->b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_GLOBAL)) &
		TSR_GLOBAL_IRQ_QUEUE_STOPPED);
}

/* As transplant(). Then the ring continues after the lost job, as a driver would do. */
static void skip_job(struct program *prog)
{
	struct bench_queue *q = &prog->q[2];
	uint32_t rptr, wptr = q->wptr;
	bool in_call;

	bench_control(q, TSR_QUEUE_OP_RESET);
	in_call = bench_queue_reg(q, TSR_QUEUE_STATE__OFFSET) & TSR_QUEUE_STATE_IN_CALL__MASK;
	rptr = bench_queue_reg(q, TSR_QUEUE_RPTR__OFFSET) + (in_call ? 8 * TSR_CALL_QWORDS : 0);
	bench_enable(q, rptr);
	ktap_eq(bench_queue_reg64(q, TSR_QUEUE_PROGRESS__OFFSET), 0);
	q->wptr = wptr;
	bench_kick(q);
	ktap_ok(program_finish(prog));
	ktap_eq(bench_queue_reg(q, TSR_QUEUE_RPTR__OFFSET), wptr);
}

static void device_reset(struct program *prog)
{
	struct bench *b = prog->s->b;
	uint32_t count = bench_read(b, TSR_REG_GPU_RESET_COUNT);
	uint64_t cycles = bench_read64(b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_GPU_CYCLES));

	bench_write64(b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_GLOBAL), UINT64_MAX);
	bench_write(b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	ktap_eq(bench_read(b, TSR_REG_GPU_STATUS), 0);
	ktap_eq(bench_read(b, TSR_REG_GPU_RESET_COUNT), count + 1);
	ktap_eq(bench_read64(b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_GLOBAL)),
		TSR_GLOBAL_IRQ_RESET_DONE);
	ktap_eq(bench_read64(b, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_GLOBAL)), UINT64_MAX);
	ktap_eq(bench_read64(b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_GPU_CYCLES)), cycles);
	for (uint32_t offset = TSR_QUEUE__OFFSET; offset < TSR_REGISTERS_SIZE / 2; offset += 4) {
		if (bench_read(b, offset))
			ktap_fail("register 0x%x is 0x%x after the reset", offset,
				  bench_read(b, offset));
	}
	for (uint32_t offset = TSR_AS__OFFSET;
	     offset < TSR_AS__OFFSET + TSR_AS__COUNT * TSR_AS__STRIDE; offset += 4)
		ktap_eq(bench_read(b, offset), 0);
	ktap_eq(bench_read(b, TSR_REG_SEMAPHORE_VALUE(42)), 0);
	ktap_eq(tsr_gpu_run(b->gpu, 1000), 0);
}

/* And the device works as before. */
static void reset_and_again(struct program *prog)
{
	struct stage *s = prog->s;

	device_reset(prog);
	memset(s->data, 0, STAGE_DATA_SIZE);
	for (unsigned int i = 0; i < 2; i++) {
		bench_write64(s->b, TSR_REG_AS_BASE(i), s->as[i].root | TSR_AS_BASE_VALID__MASK);
		ktap_ok(bench_invalidate_all(&s->as[i]));
	}
	for (unsigned int cls = 0; cls < 4; cls++)
		bench_write64(s->b, TSR_REG_IRQ_CLEAR(cls), UINT64_MAX);
	program_start(prog, s);
}

static void bus_reset(struct program *prog)
{
	struct bench *b = prog->s->b;

	tsr_gpu_reset(b->gpu);
	for (unsigned int cls = 0; cls < 4; cls++) {
		ktap_eq(bench_read64(b, TSR_REG_IRQ_RAWSTAT(cls)), 0);
		ktap_eq(bench_read64(b, TSR_REG_IRQ_MASK(cls)), 0);
		bench_write64(b, TSR_REG_IRQ_MASK(cls), UINT64_MAX);
	}
	for (unsigned int n = 0; n < PROGRAM_QUEUES; n++)
		ktap_eq(bench_state(&prog->q[n]), TSR_QUEUE_STATE_DISABLED);
	reset_and_again(prog);
}

static const struct tsr_config no_inline = { .no_inline = true };
static const struct tsr_config two_copy_engines = { .no_inline = true, .engines = { 0, 1, 0, 2 } };

static void test_suspend(void)
{
	ktap_note("%u stopping points", at_every_step(&no_inline, suspend, 0, 1));
	at_every_step(&two_copy_engines, suspend, 0, 3);
}

static void test_pause(void)
{
	at_every_step(&no_inline, pause, 0, 1);
}

static void test_transplant(void)
{
	at_every_step(&no_inline, transplant, 0, 1);
	at_every_step(&two_copy_engines, transplant, 0, 3);
	at_every_step(NULL, transplant, 0, 5);
}

static void test_queue_reset(void)
{
	at_every_step(&no_inline, reset_queue2, 1 << 2, 1);
	at_every_step(&no_inline, skip_job, 1 << 2, 1);
}

static void test_device_reset(void)
{
	at_every_step(&no_inline, reset_and_again, 0, 1);
	at_every_step(&no_inline, bus_reset, 0, 5);
}

/* One run of the program on a deterministic device; what the trace hashes to. */
static uint64_t trace_of(uint64_t seed, uint64_t turn)
{
	struct tsr_config config = { .deterministic = true, .seed = seed, .no_inline = true };
	struct program prog;
	struct stage s;
	uint64_t hash;

	stage_init(&s, &config);
	program_start(&prog, &s);
	while (!program_over(&prog)) {
		if (!tsr_gpu_run(s.b->gpu, turn))
			bench_advance(s.b, 1000);
	}
	ktap_ok(program_check(&prog, 0));
	hash = s.b->trace_hash;
	ktap_ok(s.b->trace_count > 100);
	stage_free(&s);
	return hash;
}

static void deterministic(void)
{
	unsigned int differ = 0;

	for (uint64_t seed = 0; seed < 8; seed++) {
		ktap_eq(trace_of(seed, 1 << 20), trace_of(seed, 1 << 20));
		differ += trace_of(seed, 1 << 20) != trace_of(seed + 1, 1 << 20);
	}
	ktap_ok(differ >= 6);	/* the seed does matter */
}

/* Any number of workers, any number of engines: the same results. */
static void thread_counts(void)
{
	for (unsigned int threads = 0; threads <= 4; threads++) {
		for (unsigned int engines = 1; engines <= 3; engines += 2) {
			struct tsr_config config = { .threads = threads,
						     .engines = { 1, engines, 1, engines } };
			struct program prog;
			struct stage s;

			stage_init(&s, &config);
			s.b->real_clock = true;
			program_start(&prog, &s);
			ktap_ok(program_finish(&prog));
			ktap_ok(program_check(&prog, 0));
			stage_free(&s);
		}
	}
}

/*
 * A queue of an endless stream on a worker: STOPPING until the worker has left it, then the
 * interrupt.
 */
static void stop_worker(enum tsr_queue_op op, enum tsr_queue_state then)
{
	struct tsr_config config = { .threads = 1 };
	struct stage_stream stream;
	struct bench_queue q;
	struct stage s;
	uint64_t p[8];

	stage_init(&s, &config);
	s.b->real_clock = true;
	stage_queue(&s, &q, 0, TSR_ENGINE_CLASS_COPY, 0);
	stream = stage_stream(&s, 0);
	stage_add(&stream, p, pk_copy(p, STAGE_DATA + 0x40000, STAGE_DATA, 0x30000));
	stage_add(&stream, p, pk_jump(p, stream.va, 56));
	stage_call(&q, &stream);
	for (unsigned int i = 0; i < 50; i++) {
		bench_kick(&q);
		ktap_ok(stage_until(&q, TSR_QUEUE_STATE_RUNNING));
		bench_write64(s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_GLOBAL), UINT64_MAX);
		bench_control(&q, op);
		ktap_ok(stage_until(&q, then));
		ktap_ok(!(bench_queue_reg(&q, TSR_QUEUE_STATE__OFFSET) &
			  TSR_QUEUE_STATE_STOPPING__MASK));
		ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_GLOBAL)),
			TSR_GLOBAL_IRQ_QUEUE_STOPPED);
		if (then == TSR_QUEUE_STATE_SUSPENDED) {
			bench_control(&q, TSR_QUEUE_OP_RESUME);
		} else {
			uint32_t wptr = q.wptr;

			bench_enable(&q, 0);
			q.wptr = wptr;
		}
	}
	stage_free(&s);	/* while it runs */
}

static void stop_workers(void)
{
	stop_worker(TSR_QUEUE_OP_RESET, TSR_QUEUE_STATE_DISABLED);
	stop_worker(TSR_QUEUE_OP_SUSPEND, TSR_QUEUE_STATE_SUSPENDED);
}

/*
 * The watchdog, in time of the bench: a blocked queue, once for each stop of its progress, not when
 * it is idle or suspended.
 */
static void watchdog(void)
{
	const uint64_t ms = 1000000;
	struct bench_queue q;
	struct stage s;
	uint64_t p[8];

#define BARKS() (s.b->interrupts[TSR_IRQ_CLASS_WATCHDOG])
	stage_init(&s, NULL);
	stage_queue(&s, &q, 6, TSR_ENGINE_CLASS_COPY, 0);
	bench_write(s.b, TSR_REG_QUEUE_WATCHDOG_MS(6), 20);
	bench_advance(s.b, 100 * ms);
	ktap_eq(BARKS(), 0);			/* idle */
	for (uint64_t n = 1; n <= 3; n++)
		bench_emit(&q, p, pk_wait(p, TSR_COMPARE_GE, true, STAGE_DATA, n));
	bench_kick(&q);
	bench_advance(s.b, 19 * ms);
	ktap_eq(BARKS(), 0);
	bench_advance(s.b, 1 * ms);
	ktap_eq(BARKS(), 1);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_WATCHDOG)), 1 << 6);
	bench_write64(s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_WATCHDOG), UINT64_MAX);
	bench_advance(s.b, 200 * ms);
	ktap_eq(BARKS(), 1);			/* once, */
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_BLOCKED);
	*stage_word(&s, 0) = 1;			/* until it moves: the second WAIT */
	bench_kick(&q);
	bench_advance(s.b, 19 * ms);
	ktap_eq(BARKS(), 1);
	bench_advance(s.b, 2 * ms);
	ktap_eq(BARKS(), 2);
	bench_write64(s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_WATCHDOG), UINT64_MAX);
	*stage_word(&s, 0) = 2;
	bench_kick(&q);
	bench_control(&q, TSR_QUEUE_OP_SUSPEND);
	bench_advance(s.b, 100 * ms);
	ktap_eq(BARKS(), 2);			/* suspended */
	bench_control(&q, TSR_QUEUE_OP_RESUME);
	bench_advance(s.b, 15 * ms);
	ktap_eq(BARKS(), 2);
	*stage_word(&s, 0) = 3;
	bench_kick(&q);
	bench_advance(s.b, 100 * ms);
	ktap_eq(BARKS(), 2);			/* done */
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	stage_free(&s);
#undef BARKS
}

/*
 * A queue that runs: while it makes progress the watchdog is quiet, however long it takes; when it
 * is kept from its engine by another for too long it is not.
 */
static void watchdog_running(void)
{
	struct tsr_config config = { .no_inline = true };
	const uint64_t ms = 1000000;
	struct stage_stream stream;
	struct bench_queue q[2];
	struct stage s;
	uint64_t p[8];

	stage_init(&s, &config);
	for (unsigned int n = 0; n < 2; n++) {
		stage_queue(&s, &q[n], n, TSR_ENGINE_CLASS_COPY, 0);
		bench_write(s.b, TSR_REG_QUEUE_WATCHDOG_MS(n), 40);
		bench_write(s.b, TSR_REG_QUEUE_TIMESLICE(n), 1 << 30);
		stream = stage_stream(&s, 0x1000 * n);
		stage_add(&stream, p,
			  pk_signal(p, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, true, STAGE_DATA, 1));
		stage_add(&stream, p, pk_jump(p, stream.va, 48));
		stage_call(&q[n], &stream);
	}
	bench_kick(&q[0]);
	tsr_gpu_run(s.b->gpu, 1000);
	bench_kick(&q[1]);
	ktap_eq(bench_state(&q[1]), TSR_QUEUE_STATE_READY);
	for (unsigned int i = 1; i <= 100; i++) {
		uint64_t barked;

		atomic_fetch_add(&s.b->clock, ms);
		if (atomic_load(&s.b->timer) <= atomic_load(&s.b->clock)) {
			atomic_store(&s.b->timer, UINT64_MAX);
			tsr_gpu_timer(s.b->gpu);
		}
		tsr_gpu_run(s.b->gpu, 1000);
		barked = bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_WATCHDOG));
		ktap_eq(barked, i >= 40 ? 2 : 0);
	}
	ktap_eq(s.b->interrupts[TSR_IRQ_CLASS_WATCHDOG], 1);
	/* Off: never again. */
	bench_write(s.b, TSR_REG_QUEUE_WATCHDOG_MS(1), 0);
	bench_write64(s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_WATCHDOG), 3);
	bench_control(&q[0], TSR_QUEUE_OP_RESET);
	bench_control(&q[1], TSR_QUEUE_OP_RESET);
	bench_advance(s.b, 1000 * ms);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_WATCHDOG)), 0);
	stage_free(&s);
}

/* A value that never comes: the watchdog tells, a reset of that queue ends it, the others go on. */
static void hang(void)
{
	struct bench_queue guilty, innocent;
	struct stage s;
	uint64_t p[8];

	stage_init(&s, NULL);
	stage_queue(&s, &guilty, 0, TSR_ENGINE_CLASS_COPY, 3);
	stage_queue(&s, &innocent, 1, TSR_ENGINE_CLASS_COPY, 0);
	bench_write(s.b, TSR_REG_QUEUE_WATCHDOG_MS(0), 50);
	bench_write(s.b, TSR_REG_QUEUE_WATCHDOG_MS(1), 50);
	bench_emit(&guilty, p, pk_wait(p, TSR_COMPARE_EQ, true, STAGE_DATA, 1));
	bench_kick(&guilty);
	for (uint64_t i = 1; i < 20; i++) {
		bench_emit(&innocent, p,
			   pk_copy(p, STAGE_DATA + 0x10000, STAGE_DATA + 0x20000, 0x1000));
		bench_fence(&innocent, STAGE_DATA + 8, i, TSR_EVENT_ALL_DONE, true);
		bench_kick(&innocent);
		bench_advance(s.b, 10000000);
		ktap_eq(stage_load(&s, 8), i);
	}
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_WATCHDOG)), 1);
	bench_control(&guilty, TSR_QUEUE_OP_RESET);
	bench_enable(&guilty, 0);
	bench_fence(&guilty, STAGE_DATA + 16, 5, TSR_EVENT_ALL_DONE, true);
	bench_kick(&guilty);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(stage_load(&s, 16), 5);
	stage_free(&s);
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS10] suspended and resumed at every stopping point", test_suspend);
	ktap_run("[SYS10] paused and resumed at every stopping point", test_pause);
	ktap_run("saved at every stopping point and loaded into a new device", test_transplant);
	ktap_run("[SYS7] [SYS4] one queue reset at every stopping point, others bit-exact",
		 test_queue_reset);
	ktap_run("[SYS7] the device reset at every stopping point", test_device_reset);
	ktap_run("same seed, same trace", deterministic);
	ktap_run("[SYS10] results do not depend on threads and engines", thread_counts);
	ktap_run("[SYS7] a queue that runs on a worker is stopped", stop_workers);
	ktap_run("[SYS7] the watchdog", watchdog);
	ktap_run("[SYS7] the watchdog of queues that run, or wait for an engine", watchdog_running);
	ktap_run("[SYS7] a value that never comes", hang);
	return ktap_finish();
}
