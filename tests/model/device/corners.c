/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=60 */
/*
 * Corners of the device, each of which was wrong once: suspending what waits for the host, blocked
 * queues beside a busy one, invalidations that pile up, a word at the end of memory, loading at the
 * wrong moment.
 */
#include <stdlib.h>
#include <string.h>

#include "device/gpu.h"
#include "ktap.h"
#include "stage.h"

#define SEMA (STAGE_DATA + 0x100)
#define OTHER_SEMA (STAGE_DATA + 0x108)
#define FENCE (STAGE_DATA + 0x200)
#define FRESH 0x40000000ull		/* mapped, but the host has not been asked for it */

static uint64_t word_at(struct stage *s, uint64_t va)
{
	return stage_load(s, va - STAGE_DATA);
}

static void set_word(struct stage *s, uint64_t va, uint64_t value)
{
	__atomic_store_n(stage_word(s, va - STAGE_DATA), value, __ATOMIC_RELEASE);
}

static unsigned int block_of(struct bench_queue *q)
{
	return bench_field(bench_queue_reg(q, TSR_QUEUE_STATE__OFFSET),
			   TSR_QUEUE_STATE_BLOCK__MASK);
}

/*
 * A machine on which translations pend once for each page, those of the stage known already, and
 * two fresh pages at FRESH. The stream at 0 is the caller's.
 */
static uint8_t *slow_machine(struct stage *s, struct bench_queue *q)
{
	struct tsr_config config = { .no_inline = true };
	struct stage_stream stream;
	uint64_t p[8];
	uint8_t *fresh;

	stage_init(s, &config);
	fresh = bench_buffer(&s->as[1], FRESH, 2 * BENCH_PAGE, BENCH_RW);
	memset(fresh, 0x5a, BENCH_PAGE);
	stage_queue(s, q, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	s->b->pending_every = 1;
	/* Reads and writes the stage's pages once, so that the host knows them. */
	stream = stage_stream(s, 0x100);
	stage_add(&stream, p, pk_wait(p, TSR_COMPARE_EQ, true, SEMA, 0));
	stage_add(&stream, p, pk_fence(p, TSR_EVENT_REACHED, false, FENCE, 1));
	stage_call(q, &stream);
	bench_kick(q);
	ktap_ok(bench_run(s->b, 10));
	ktap_eq(word_at(s, FENCE), 1);
	return fresh;
}

/* Let the device run without the host answering anything. */
static void run_unanswered(struct stage *s)
{
	while (tsr_gpu_run(s->b->gpu, 100000))
		continue;
}

/* The engine waits for the host, the command processor is held by a WAIT; then SUSPEND, RESUME. */
static void test_resume_engine(void)
{
	struct stage_stream stream;
	struct bench_queue q;
	struct stage s;
	uint8_t *fresh = slow_machine(&s, &q);
	uint64_t p[8];

	stream = stage_stream(&s, 0);
	stage_add(&stream, p, pk_copy(p, FRESH + BENCH_PAGE, FRESH, BENCH_PAGE));
	stage_add(&stream, p, pk_fence(p, TSR_EVENT_WRITES_DONE, false, FENCE, 2));
	stage_add(&stream, p, pk_wait(p, TSR_COMPARE_EQ, true, SEMA, 1));
	stage_call(&q, &stream);
	bench_kick(&q);
	run_unanswered(&s);
	ktap_eq(block_of(&q), TSR_QUEUE_BLOCK_HOST);
	bench_control(&q, TSR_QUEUE_OP_SUSPEND);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_SUSPENDED);
	tsr_gpu_host_ready(s.b->gpu);
	bench_control(&q, TSR_QUEUE_OP_RESUME);
	ktap_ok(bench_run(s.b, 10));
	/* A signal may wake a thread that waits for this fence. */
	ktap_eq(word_at(&s, FENCE), 2);
	ktap_mem_eq(fresh + BENCH_PAGE, fresh, BENCH_PAGE);
	ktap_eq(block_of(&q), TSR_QUEUE_BLOCK_SEMAPHORE);
	stage_free(&s);
}

/* Behind a WAIT that held at the second look the queue waits for the host: SUSPEND, save, load. */
static void test_snapshot_behind_wait(void)
{
	struct stage_stream stream;
	struct bench_queue q;
	struct stage s;
	char err[200] = "";
	uint64_t p[8];
	size_t size;
	void *image;

	slow_machine(&s, &q);
	/* Behind the WAIT the stream goes on in a page nobody has read yet. */
	stream = stage_stream(&s, BENCH_PAGE - 64);
	stage_add(&stream, p, pk_nop(p, 5));
	stage_add(&stream, p, pk_wait(p, TSR_COMPARE_EQ, true, SEMA, 1));
	stage_add(&stream, p, pk_nop(p, 1));
	stage_call(&q, &stream);
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(block_of(&q), TSR_QUEUE_BLOCK_SEMAPHORE);
	set_word(&s, SEMA, 1);
	bench_kick(&q);
	run_unanswered(&s);
	ktap_eq(block_of(&q), TSR_QUEUE_BLOCK_HOST);
	bench_control(&q, TSR_QUEUE_OP_SUSPEND);
	tsr_gpu_pause(s.b->gpu);
	size = tsr_gpu_save(s.b->gpu, NULL, 0);
	image = malloc(size);
	ktap_eq(tsr_gpu_save(s.b->gpu, image, size), size);
	if (!tsr_gpu_load(s.b->gpu, image, size, err, sizeof(err)))
		ktap_fail("%s", err);
	tsr_gpu_resume(s.b->gpu);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_SUSPENDED);
	free(image);
	stage_free(&s);
}

/*
 * A queue waits for a word that the CPU writes; another one is blocked and released by its
 * doorbell every few microseconds. The first is looked at within a millisecond all the same.
 */
static void test_poll_beside_others(void)
{
	const struct tsr_config config = { 0 };
	struct bench_queue q, busy;
	struct stage_stream stream;
	struct stage s;
	uint64_t p[8];

	stage_init(&s, &config);
	stage_queue(&s, &q, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	stage_queue(&s, &busy, 1, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	stream = stage_stream(&s, 0);
	stage_add(&stream, p, pk_wait(p, TSR_COMPARE_EQ, true, SEMA, 1));
	stage_add(&stream, p, pk_nop(p, 1));
	stage_call(&q, &stream);
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(block_of(&q), TSR_QUEUE_BLOCK_SEMAPHORE);
	set_word(&s, SEMA, 1);
	for (unsigned int i = 0; i < 200; i++) {
		/* Its WAIT for i + 1 blocks; then the CPU writes the word and rings. */
		stream = stage_stream(&s, 0x1000 + i % 64 * 64);
		stage_add(&stream, p, pk_wait(p, TSR_COMPARE_EQ, true, OTHER_SEMA, i + 1));
		stage_call(&busy, &stream);
		bench_kick(&busy);
		ktap_ok(bench_run(s.b, 10));
		bench_advance(s.b, 10000);
		set_word(&s, OTHER_SEMA, i + 1);
		bench_kick(&busy);
		ktap_ok(bench_run(s.b, 10));
		if (bench_state(&busy) != TSR_QUEUE_STATE_IDLE) {
			ktap_fail("round %u: the busy queue is stuck", i);
			break;
		}
	}
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	stage_free(&s);
}

/* More invalidations than the log holds, while a worker reaches no preemption point. */
static void pile_up(struct tsr_gpu *gpu, unsigned int count, bool irq)
{
	pthread_mutex_lock(&gpu->lock);
	gpu->runner[0].queue = &gpu->queue[0];
	gpu->runner[0].inval_seen = gpu->inval.head;
	for (unsigned int i = 0; i < count; i++)
		tsr_inval_command(gpu, 3, TSR_INV_OP_ALL, 0, 0, irq && !i);
	gpu->runner[0].queue = NULL;
	atomic_store(&gpu->runner[0].own.port.stop, false);
	tsr_inval_complete(gpu);
	pthread_mutex_unlock(&gpu->lock);
}

static void test_late_invalidations(void)
{
	struct stage s;
	uint64_t done = TSR_GLOBAL_IRQ_TLB_DONE;

	stage_init(&s, NULL);
	pile_up(s.b->gpu, TSR_INVAL_LOG + 10, true);
	ktap_eq(bench_read(s.b, TSR_REG_AS_INV_STARTED(3)), TSR_INVAL_LOG + 10);
	ktap_eq(bench_read(s.b, TSR_REG_AS_INV_DONE(3)), TSR_INVAL_LOG + 10);
	ktap_eq(bench_read(s.b, TSR_REG_AS_STATUS(3)), 0);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_GLOBAL)) & done, done);
	bench_write64(s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_GLOBAL), done);
	/* None of these asks for an interrupt. */
	pile_up(s.b->gpu, TSR_INVAL_LOG + 10, false);
	ktap_eq(bench_read(s.b, TSR_REG_AS_STATUS(3)), 0);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_GLOBAL)) & done, 0);
	stage_free(&s);
}

/* Memory ends inside a word: a fault, and nothing is reported as written. */
static void test_half_a_word(void)
{
	const struct tsr_config config = { 0 };
	struct stage_stream stream;
	struct bench_queue q, other;
	struct stage s;
	uint64_t p[8], bus;
	unsigned int i;

	stage_init(&s, &config);
	stage_queue(&s, &q, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	stage_queue(&s, &other, 1, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	bench_buffer(&s.as[1], FRESH, BENCH_PAGE, BENCH_RW);
	bus = *bench_pte(&s.as[1], FRESH, 0) & TSR_PTE_ADDR__MASK;
	s.b->hole_base = bus + 0x804;
	s.b->hole_size = 0x100;
	stream = stage_stream(&s, 0);
	stage_add(&stream, p, pk_fence(p, TSR_EVENT_REACHED, false, FRESH + 0x800, 7));
	stage_call(&q, &stream);
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(bench_fault(&q), TSR_FAULT_BUS);
	ktap_eq(bench_queue_reg64(&q, TSR_QUEUE_FAULT_ADDR__OFFSET), FRESH + 0x800);
	/* Another queue's write has the list reported. */
	stream = stage_stream(&s, 0x1000);
	stage_add(&stream, p, pk_fence(p, TSR_EVENT_REACHED, false, FENCE, 8));
	stage_call(&other, &stream);
	bench_kick(&other);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(word_at(&s, FENCE), 8);
	for (i = 0; i < s.b->dirty_count && i < BENCH_DIRTY_MAX; i++)
		ktap_ok(s.b->dirty[i].addr - bus >= BENCH_PAGE);
	ktap_ok(i > 0);
	stage_free(&s);
}

/* After another write in the same step, that write is reported. */
static void test_half_a_word_later(void)
{
	struct tsr_span span;
	struct stage s;
	struct tsr_mem mem;
	unsigned int found = 0;
	uint64_t bus;

	stage_init(&s, NULL);
	bench_buffer(&s.as[1], FRESH, BENCH_PAGE, BENCH_RW);
	bus = *bench_pte(&s.as[1], FRESH, 0) & TSR_PTE_ADDR__MASK;
	s.b->hole_base = bus + 0x804;
	s.b->hole_size = 0x100;
	mem = tsr_runner_mem(&s.b->gpu->runner[0], NULL, 1, TSR_UNIT_COPY);
	ktap_eq(tsr_mem_map(&mem, FRESH + 0x100, 8, TSR_ACCESS_WRITE, &span), TSR_STEP_DONE);
	ktap_eq(tsr_mem_store(&mem, FRESH + 0x800, true, 7), TSR_STEP_FAULT);
	ktap_eq(mem.fault.code, TSR_FAULT_BUS);
	tsr_mem_flush_dirty(mem.port);
	for (unsigned int i = 0; i < s.b->dirty_count && i < BENCH_DIRTY_MAX; i++)
		found += s.b->dirty[i].addr == bus + 0x100 && s.b->dirty[i].len == 8;
	ktap_eq(found, 1);
	ktap_eq(s.b->dirty_count, 1);
	stage_free(&s);
}

/* A load of a device that is not paused is refused and changes nothing. */
static void test_load_unpaused(void)
{
	struct stage s;
	char err[200] = "";
	struct bench_queue q;
	size_t size;
	void *image;

	stage_init(&s, NULL);
	tsr_gpu_pause(s.b->gpu);
	size = tsr_gpu_save(s.b->gpu, NULL, 0);
	image = malloc(size);
	tsr_gpu_save(s.b->gpu, image, size);
	tsr_gpu_resume(s.b->gpu);
	stage_queue(&s, &q, 2, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	ktap_ok(!tsr_gpu_load(s.b->gpu, image, size, err, sizeof(err)));
	ktap_ok(strstr(err, "paused"));
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	free(image);
	stage_free(&s);
}

/* When a burst has to end: an owner for its stop request, a helper for two more reasons. */
static void test_stop_requests(void)
{
	static struct tsr_port port;
	atomic_bool open = true, waits = true;
	struct tsr_mem owner = { .port = &port };
	struct tsr_mem helper = { .port = &port, .pool_open = &open, .queue_waits = &waits };

	ktap_ok(!tsr_stop_requested(&owner));
	ktap_ok(tsr_stop_requested(&helper));
	atomic_store(&waits, false);
	ktap_ok(!tsr_stop_requested(&helper));
	atomic_store(&open, false);
	ktap_ok(tsr_stop_requested(&helper));
	ktap_ok(!tsr_stop_requested(&owner));
	atomic_store(&open, true);
	atomic_store(&port.stop, true);
	ktap_ok(tsr_stop_requested(&helper));
	ktap_ok(tsr_stop_requested(&owner));
	atomic_store(&port.stop, false);
}

/*
 * The members of struct tsr_work that outlive a reset. Without them the engine's next command would
 * have neither a configuration nor the memory that the last one left.
 */
static void test_work_after_reset(void)
{
	struct stage s;
	struct tsr_gpu *gpu;

	stage_init(&s, NULL);
	gpu = s.b->gpu;
	for (unsigned int i = 0; i < TSR_QUEUES_MAX; i++) {
		pthread_mutex_lock(&gpu->lock);
		tsr_queue_reset(&gpu->queue[i]);
		pthread_mutex_unlock(&gpu->lock);
		ktap_ok(gpu->queue[i].work.env == &gpu->env);
		ktap_ok(gpu->queue[i].work.spare == &gpu->memory[gpu->queue[i].engine]);
	}
	stage_free(&s);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("RESUME lets the engine go on that waited for the host behind a WAIT",
		 test_resume_engine);
	ktap_run("a queue suspended behind a WAIT that held can be loaded",
		 test_snapshot_behind_wait);
	ktap_run("[CP7] a busy neighbour does not keep a blocked queue from being looked at",
		 test_poll_beside_others);
	ktap_run("[MEM2] invalidations beyond the log complete, and interrupt only if asked to",
		 test_late_invalidations);
	ktap_run("[MEM3] a word that memory ends in", test_half_a_word);
	ktap_run("[MEM3] and what was written before is reported all the same",
		 test_half_a_word_later);
	ktap_run("load() of a running device changes nothing", test_load_unpaused);
	ktap_run("a burst ends on a stop request, a helper's with its pool too",
		 test_stop_requests);
	ktap_run("a queue keeps its environment over a reset", test_work_after_reset);
	return ktap_finish();
}
