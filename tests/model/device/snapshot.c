/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=120 TSAN=0 */
/*
 * Snapshots: what is refused, with which message; every byte of one changed; what goes on in the
 * new device as it would have in the old. (That a program gives the same results wherever it is cut
 * is in stop.c.)
 */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "program.h"

#define MS 1000000ull

struct image {
	uint8_t *bytes;
	size_t size;
};

/* Save a device; it stays paused. */
static struct image save(struct bench *b)
{
	struct image image;

	tsr_gpu_pause(b->gpu);
	image.size = tsr_gpu_save(b->gpu, NULL, 0);
	image.bytes = malloc(image.size + 1);
	if (!image.bytes || tsr_gpu_save(b->gpu, image.bytes, image.size) != image.size)
		abort();
	return image;
}

/* Load into the paused device; the message must name @about when it is refused. */
static bool load(struct bench *b, const void *bytes, size_t size, const char *about)
{
	char err[200] = "";
	bool loaded = tsr_gpu_load(b->gpu, bytes, size, err, sizeof(err));

	if (loaded)
		return true;
	if (!about || !strstr(err, about) || strchr(err, '\n'))
		ktap_fail("message: %s", err);
	ktap_eq(bench_read(b, TSR_REG_QUEUE_STATE(0)), 0);
	return false;
}

/* A device of another shape, and files that are no snapshots. */
static void refused(void)
{
	static const struct {
		struct tsr_config config;
		const char *message;
	} other[] = {
		{ { .queues = 2 }, "queues" },
		{ { .queues = 1, .engines = { 1, 1, 1, 2 } }, "engines" },
		{ { .queues = 1, .engines = { 0, 1, 1, 1 } }, "engines" },
		{ { .queues = 1, .engines = { 1, 0, 1, 1 } }, "engines" },
		{ { .queues = 1, .engines = { 1, 1, 2, 1 } }, "engines" },
		{ { .queues = 1, .va_bits = 39 }, "virtual" },
		{ { .queues = 1, .page_sizes = 4096 }, "page" },
		{ { .queues = 1, .local_size = 2 << 20 }, "local" },
		{ { .queues = 1, .deterministic = true }, "deterministic" },
	};
	struct tsr_config config = { .queues = 1 },
			  threads = { .queues = 1, .threads = 2, .seed = 7 };
	struct bench *b = bench_new(&config), *to;
	struct image image = save(b);

	for (unsigned int i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		to = bench_new(&other[i].config);
		tsr_gpu_pause(to->gpu);
		ktap_ok(!load(to, image.bytes, image.size, other[i].message));
		bench_free(to);
	}
	/* The number of threads does not matter. */
	to = bench_new(&threads);
	ktap_ok(!load(to, image.bytes, image.size, "paused"));
	tsr_gpu_pause(to->gpu);
	ktap_ok(load(to, image.bytes, image.size, NULL));
	bench_free(to);
	for (size_t size = 0; size < image.size; size += size < 200 ? 1 : 37)
		ktap_ok(!load(b, image.bytes, size, size < 8 ? "" : "too early"));
	ktap_ok(!load(b, image.bytes, image.size + 1, "more"));
	image.bytes[0] ^= 1;
	ktap_ok(!load(b, image.bytes, image.size, "no snapshot"));
	image.bytes[0] ^= 1;
	image.bytes[8] ^= 1;
	ktap_ok(!load(b, image.bytes, image.size, "version"));
	image.bytes[8] ^= 1;
	ktap_ok(load(b, image.bytes, image.size, NULL));
	free(image.bytes);
	bench_free(b);
}

/*
 * A queue in the middle of everything: two open streams, a full FIFO, an open interval, words read
 * ahead.
 */
static void start_one(struct stage *s, struct bench_queue *q)
{
	struct stage_stream outer = stage_stream(s, 0), inner = stage_stream(s, 0x1000);
	uint64_t p[8];

	stage_queue(s, q, 0, TSR_ENGINE_CLASS_COPY, 2);
	for (unsigned int i = 0; i < 12; i++)
		stage_add(&inner, p,
			  pk_copy(p, STAGE_DATA + 0x40000, STAGE_DATA + 0x80000, 0x9000));
	stage_add(&inner, p, pk_wait(p, TSR_COMPARE_EQ, true, STAGE_DATA, 1));
	stage_add(&outer, p, pk_counter_begin(p, 0xfff));
	stage_add(&outer, p, pk_call(p, inner.va, inner.size));
	stage_add(&outer, p, pk_counter_end(p, STAGE_DATA + 64));
	stage_call(q, &outer);
	bench_fence(q, STAGE_DATA + 8, 1, TSR_EVENT_ALL_DONE, true);
	bench_kick(q);
}

/*
 * Each byte changed in three ways: refused, or taken just as it is; the device can be run and reset
 * whatever it says.
 */
static void every_byte(unsigned int steps)
{
	struct tsr_config config = { .queues = 1, .no_inline = true };
	unsigned int taken = 0, left_out = 0;
	struct image image, again;
	struct bench_queue q;
	struct stage s;

	stage_init(&s, &config);
	start_one(&s, &q);
	while (steps--)
		tsr_gpu_run(s.b->gpu, 1);
	image = save(s.b);
	again = save(s.b);
	tsr_gpu_resume(s.b->gpu);
	for (size_t i = 0; i < image.size; i++) {
		for (unsigned int way = 0; way < 3; way++) {
			const uint8_t change[3] = { 0x01, 0x80, 0xff };
			char err[200];

			/* Address spaces and semaphores are alike: a few will do. */
			if (i > 1500 && i < image.size - 3500 && i % 19)
				continue;
			image.bytes[i] ^= change[way];
			if (tsr_gpu_load(s.b->gpu, image.bytes, image.size, err, sizeof(err))) {
				taken++;
				tsr_gpu_save(s.b->gpu, again.bytes, again.size);
left_out += memcmp(image.bytes, again.bytes, image.size) != 0;
				tsr_gpu_resume(s.b->gpu);
				tsr_gpu_run(s.b->gpu, 600);
				bench_kick(&q);
				tsr_gpu_pause(s.b->gpu);
			}
			bench_control(&q, TSR_QUEUE_OP_RESET);
			ktap_eq(bench_state(&q), TSR_QUEUE_STATE_DISABLED);
			image.bytes[i] ^= change[way];
		}
	}
	ktap_note("%u of %zu bytes changed were taken", taken, 3 * image.size);
	ktap_ok(taken > 1000);
	/*
	 * A timestamp that would go back (1) and a watchdog that is set now and takes a look (4 ×
	 * 3).
	 */
	ktap_ok(left_out <= 13);
	free(image.bytes);
	free(again.bytes);
	stage_free(&s);
}

static void every_byte_early(void)
{
	every_byte(8);
}

static void every_byte_late(void)
{
	every_byte(14);
}

/*
 * Times go on: a watchdog that had 8 ms left, a queue blocked for 12 ms; masks, pending interrupts,
 * semaphores, counters, the timestamp.
 */
static void goes_on(void)
{
	struct tsr_config config = { .queues = 2 };
	struct image image;
	struct bench_queue q;
	struct stage s;
	uint64_t p[8], stamp, messages;

	stage_init(&s, &config);
	stage_queue(&s, &q, 1, TSR_ENGINE_CLASS_COPY, 2);
	bench_write(s.b, TSR_REG_QUEUE_WATCHDOG_MS(1), 20);
	bench_write(s.b, TSR_REG_SEMAPHORE_VALUE(200), 0xabcd);
	bench_write64(s.b, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), 0x123456789abcdef0);
	bench_fence(&q, STAGE_DATA + 8, 1, TSR_EVENT_ALL_DONE, true);
	bench_emit(&q, p, pk_wait(p, TSR_COMPARE_EQ, true, STAGE_DATA, 1));
	bench_fence(&q, STAGE_DATA + 8, 2, TSR_EVENT_ALL_DONE, true);
	bench_kick(&q);
	bench_advance(s.b, 12 * MS);
	bench_write(s.b, TSR_REG_GPU_CONTROL, 0);
	image = save(s.b);
	stamp = bench_read64(s.b, TSR_REG_GPU_TIMESTAMP);
	/* The new host's clock is behind. */
	bench_replace(s.b);
	atomic_store(&s.b->clock, 5);
	tsr_gpu_pause(s.b->gpu);
	messages = s.b->interrupts[TSR_IRQ_CLASS_JOB];
	ktap_ok(load(s.b, image.bytes, image.size, NULL));
	ktap_eq(s.b->interrupts[TSR_IRQ_CLASS_JOB], messages);	/* sent before */
	ktap_eq(bench_read64(s.b, TSR_REG_GPU_TIMESTAMP), stamp);
	ktap_eq(bench_read(s.b, TSR_REG_SEMAPHORE_VALUE(200)), 0xabcd);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB)), 0x123456789abcdef0);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_JOB)), 2);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_BLOCKED);
	ktap_eq(bench_read64(s.b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_DOORBELLS)), 1);
	tsr_gpu_resume(s.b->gpu);
	bench_advance(s.b, 7 * MS);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_WATCHDOG)), 0);
	bench_advance(s.b, MS);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_WATCHDOG)), 2);
	ktap_eq(bench_queue_reg64(&q, TSR_REG_QUEUE_COUNTER(0, TSR_QUEUE_COUNTER_BLOCKED_TIME) -
					      TSR_QUEUE__OFFSET),
		20 * MS);
	*stage_word(&s, 0) = 1;
	bench_advance(s.b, 2 * MS);
	ktap_eq(stage_load(&s, 8), 2);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	/* A second journey, suspended. */
	bench_control(&q, TSR_QUEUE_OP_SUSPEND);
	free(image.bytes);
	stamp = bench_read64(s.b, TSR_REG_GPU_TIMESTAMP);
	image = save(s.b);
	ktap_eq(bench_read64(s.b, TSR_REG_GPU_TIMESTAMP), stamp);
	bench_replace(s.b);
	tsr_gpu_pause(s.b->gpu);
	ktap_ok(load(s.b, image.bytes, image.size, NULL));
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_SUSPENDED);
	tsr_gpu_resume(s.b->gpu);
	bench_control(&q, TSR_QUEUE_OP_RESUME);
	bench_fence(&q, STAGE_DATA + 8, 3, TSR_EVENT_ALL_DONE, true);
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(stage_load(&s, 8), 3);
	free(image.bytes);
	stage_free(&s);
}

int main(void)
{
	ktap_start();
	ktap_run("snapshots of other devices and damaged ones are refused", refused);
	ktap_run("every byte of a snapshot changed, streams open and the FIFO full",
		 every_byte_early);
	ktap_run("every byte of a snapshot changed, in the middle of a copy", every_byte_late);
	ktap_run("times, interrupts and counters go on in the new device", goes_on);
	return ktap_finish();
}
