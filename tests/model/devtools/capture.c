/* SPDX-License-Identifier: MIT */
/*
 * Capture of jobs: the right one is taken, with each page it touched as it was before and after,
 * and however it ended. That it can be run again from the file is shown by tests/user/replay.c.
 */
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "ktap.h"
#include "stage.h"
#include "tsr_capture.h"

#define FROM 0x10000			/* offsets in STAGE_DATA */
#define TO 0x20000
#define BYTES 6000u			/* of a copy: two pages */
#define FENCE 0x8000

struct play {
	struct stage s;
	struct bench_queue q[2];
	uint64_t jobs[2];
	unsigned int captures;
	char err[128];
	void *file;
	size_t size;
	struct tsr_capture_header head;
};

static const struct tsr_config with_threads = { .threads = 2 };

static void begin(struct play *y, const struct tsr_config *config)
{
	memset(y, 0, sizeof(*y));
	stage_init(&y->s, config);
	for (unsigned int n = 0; n < 2; n++)
		stage_queue(&y->s, &y->q[n], n, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	memset(y->s.data + FROM, 0x5a, BYTES);
}

static void end(struct play *y)
{
	free(y->file);
	stage_free(&y->s);
}

static bool arm(struct play *y, const char *what)
{
	return tsr_gpu_capture(y->s.b->gpu, what, y->err, sizeof(y->err));
}

/* A job of queue @n: copy to @to. */
static void job(struct play *y, unsigned int n, uint64_t to)
{
	struct stage_stream stream = stage_stream(&y->s, 0x1000 * n);
	uint64_t p[8];

	stage_add(&stream, p, pk_copy(p, to, STAGE_DATA + FROM, BYTES));
	stage_call(&y->q[n], &stream);
	bench_fence(&y->q[n], STAGE_DATA + FENCE + 8 * n, ++y->jobs[n], TSR_EVENT_ALL_DONE, true);
	bench_kick(&y->q[n]);
	bench_run(y->s.b, 10);
}

/* True if something has been captured; then its header is there. */
static bool captured(struct play *y)
{
	free(y->file);
	y->size = tsr_gpu_captured(y->s.b->gpu, &y->file);
	if (y->size >= sizeof(y->head))
		memcpy(&y->head, y->file, sizeof(y->head));
	y->captures += y->size != 0;
	ktap_eq(atomic_load(&y->s.b->captures), y->captures);	/* the host was told of it */
	return y->size;
}

/* The page at @va: what it held before, afterwards (NULL: the same), its flags; false: none. */
static bool page(struct play *y, uint64_t va, const uint8_t **before, const uint8_t **after,
		 uint32_t *flags)
{
	const uint8_t *p = (const uint8_t *)y->file + sizeof(y->head);
	bool found = false;

	for (uint32_t i = 0; i < y->head.pages; i++) {
		struct tsr_capture_page head;

		memcpy(&head, p, sizeof(head));
		p += sizeof(head);
		if (head.va == va) {
			found = true;
			*before = p;
			*after = head.flags & TSR_CAPTURE_CHANGED ? p + TSR_CAPTURE_PAGE : NULL;
			*flags = head.flags;
		}
		p += TSR_CAPTURE_PAGE * (head.flags & TSR_CAPTURE_CHANGED ? 2 : 1);
	}
	ktap_eq(p - (const uint8_t *)y->file, y->size);
	return found;
}

static void next(const struct tsr_config *config)
{
	const uint8_t *before = NULL, *after = NULL;
	uint32_t flags = 0;
	struct play y;

	begin(&y, config);
	job(&y, 1, STAGE_DATA + TO);		/* translations, streams are cached now */
	memset(y.s.data + TO, 0x11, 2 * BENCH_PAGE);
	ktap_ok(arm(&y, "next"));
	ktap_ok(!captured(&y));
	job(&y, 1, STAGE_DATA + TO);
	KTAP_REQUIRE(captured(&y));
	ktap_eq(y.head.magic, TSR_CAPTURE_MAGIC);
	ktap_eq(y.head.queue, 1);
	ktap_eq(y.head.job, 2);
	ktap_eq(y.head.outcome, TSR_CAPTURE_DONE);
	ktap_eq(y.head.cmd_va, STAGE_STREAM + 0x1000);
	ktap_eq(y.head.engine_class, TSR_ENGINE_CLASS_COPY);
	ktap_eq(y.head.pages, 5);		/* stream, two of each buffer */
	KTAP_REQUIRE(page(&y, STAGE_DATA + TO + BENCH_PAGE, &before, &after, &flags));
	ktap_eq(before[0], 0x11);
	KTAP_REQUIRE(after != NULL);
	ktap_eq(after[0], 0x5a);
	ktap_eq(after[BYTES - BENCH_PAGE - 1], 0x5a);
	ktap_eq(after[BYTES - BENCH_PAGE], 0x11);
	KTAP_REQUIRE(page(&y, STAGE_DATA + FROM, &before, &after, &flags));
	ktap_ok(before[0] == 0x5a && !after);
	KTAP_REQUIRE(page(&y, STAGE_STREAM + 0x1000, &before, &after, &flags));
	ktap_ok(flags & TSR_CAPTURE_EXEC);
	job(&y, 1, STAGE_DATA + TO);
	ktap_ok(!captured(&y));			/* once */
	end(&y);
}

static void next_job(void)
{
	next(NULL);
	next(&with_threads);
}

static void chosen(void)
{
	struct play y;

	begin(&y, NULL);
	ktap_ok(arm(&y, "queue=1 job=3"));
	for (unsigned int i = 0; i < 3; i++) {
		ktap_ok(!captured(&y));
		job(&y, 0, STAGE_DATA + TO);
		job(&y, 1, STAGE_DATA + TO);
	}
	KTAP_REQUIRE(captured(&y));
	ktap_eq(y.head.queue, 1);
	ktap_eq(y.head.job, 3);
	ktap_ok(arm(&y, "queue=0"));
	job(&y, 1, STAGE_DATA + TO);
	ktap_ok(!captured(&y));
	job(&y, 0, STAGE_DATA + TO);
	ktap_ok(captured(&y));
	end(&y);
}

static void failures(void)
{
	struct stage_stream stream;
	uint64_t p[8];
	struct play y;

	begin(&y, NULL);
	ktap_ok(arm(&y, "fault"));
	job(&y, 0, STAGE_DATA + TO);
	ktap_ok(!captured(&y));			/* ended well */
	job(&y, 0, 0x7000000);
	KTAP_REQUIRE(captured(&y));
	ktap_eq(y.head.outcome, TSR_CAPTURE_FAULTED);
	ktap_eq(y.head.job, 2);
	ktap_eq(y.head.fault_code, TSR_FAULT_MMU_UNMAPPED);
	ktap_eq(y.head.fault_addr, 0x7000000);
	ktap_eq(y.head.fault_pc, STAGE_STREAM);

	ktap_ok(arm(&y, "fault"));		/* one that hangs is reset by its driver */
	stream = stage_stream(&y.s, 0x1000);
	stage_add(&stream, p, pk_wait(p, TSR_COMPARE_EQ, true, STAGE_DATA + TO, 1));
	stage_call(&y.q[1], &stream);
	bench_kick(&y.q[1]);
	bench_run(y.s.b, 10);
	ktap_ok(!captured(&y));
	bench_control(&y.q[1], TSR_QUEUE_OP_RESET);
	KTAP_REQUIRE(captured(&y));
	ktap_eq(y.head.outcome, TSR_CAPTURE_STOPPED);
	ktap_eq(y.head.queue, 1);
	end(&y);
}

static void refused(void)
{
	static const char *const bad[] = {
		"last", "queue=", "queue=64", "queue=1 job=0", "queue=1 x", "next ",
		"queue=1 job=2 ", "job=2",
	};
	struct play y;

	begin(&y, NULL);
	ktap_ok(arm(&y, "next"));
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!ktap_ok(!arm(&y, bad[i])))
			ktap_note("'%s'", bad[i]);
		ktap_ok(strstr(y.err, bad[i]) != NULL);
	}
	job(&y, 0, STAGE_DATA + TO);
	ktap_ok(captured(&y));			/* what was asked for before holds */
	ktap_ok(arm(&y, "next"));
	ktap_ok(arm(&y, ""));
	job(&y, 0, STAGE_DATA + TO);
	ktap_ok(!captured(&y));
	end(&y);
}

/* ---- The registers --------------------------------------------------------------------------- */

static const struct tsr_config guest_asks = { .threads = 2, .inject_window = true };

static uint32_t status(struct play *y)
{
	return bench_read(y->s.b, TSR_REG_CAPTURE_STATUS);
}

/* The guest asks for @what; the verdict. */
static uint32_t ask(struct play *y, const char *what)
{
	for (; *what; what++)
		bench_write(y->s.b, TSR_REG_CAPTURE_TEXT, (uint8_t)*what);
	bench_write(y->s.b, TSR_REG_CAPTURE_TEXT, 0);
	return status(y) & TSR_CAPTURE_STATUS_RESULT__MASK;
}

static uint32_t captures(struct play *y)
{
	return status(y) >> TSR_CAPTURE_STATUS_CAPTURED__SHIFT;
}

static void guest(void)
{
	struct play y;

	begin(&y, &guest_asks);
	ktap_eq(status(&y), 0);
	ktap_eq(ask(&y, "next"), TSR_CAPTURE_RESULT_NOWHERE);
	ktap_ok(!(status(&y) & TSR_CAPTURE_STATUS_ARMED__MASK));
	tsr_gpu_capture_window(y.s.b->gpu, true);
	ktap_eq(ask(&y, "queue=1 job=2"), TSR_CAPTURE_RESULT_ACCEPTED);
	ktap_eq(status(&y), TSR_CAPTURE_RESULT_ACCEPTED | TSR_CAPTURE_STATUS_ARMED__MASK);
	tsr_gpu_reset(y.s.b->gpu);		/* survives */
	ktap_ok(status(&y) & TSR_CAPTURE_STATUS_ARMED__MASK);
	end(&y);

	begin(&y, &guest_asks);
	tsr_gpu_capture_window(y.s.b->gpu, true);
	ktap_eq(ask(&y, "queue=1 job=2"), TSR_CAPTURE_RESULT_ACCEPTED);
	job(&y, 1, STAGE_DATA + TO);
	job(&y, 0, STAGE_DATA + TO);
	ktap_eq(captures(&y), 0);
	job(&y, 1, STAGE_DATA + TO);
	ktap_eq(status(&y), TSR_CAPTURE_RESULT_ACCEPTED | 1u << TSR_CAPTURE_STATUS_CAPTURED__SHIFT);
	KTAP_REQUIRE(captured(&y));
	ktap_eq(y.head.queue, 1);
	ktap_eq(y.head.job, 2);
	ktap_ok(arm(&y, "fault"));	/* the host's shows too, and the guest's replaces it */
	ktap_ok(status(&y) & TSR_CAPTURE_STATUS_ARMED__MASK);
	ktap_eq(ask(&y, ""), TSR_CAPTURE_RESULT_ACCEPTED);
	job(&y, 0, 0x7000000);
	ktap_ok(!captured(&y));
	end(&y);
}

/* Malformed text has no effect, and the next text is read from its beginning. */
static void guest_refused(void)
{
	char text[TSR_CAPTURE_TEXT_MAX + 3];
	struct play y;

	begin(&y, &guest_asks);
	tsr_gpu_capture_window(y.s.b->gpu, true);
	ktap_eq(ask(&y, "next"), TSR_CAPTURE_RESULT_ACCEPTED);
	ktap_eq(ask(&y, "queue=64"), TSR_CAPTURE_RESULT_REFUSED);
	ktap_eq(ask(&y, "next\n"), TSR_CAPTURE_RESULT_REFUSED);
	/* as long as can be: the zeros in front of the number do no harm; then one and two more */
	for (unsigned int more = 0; more < 3; more++) {
		snprintf(text, sizeof(text), "queue=%0*u", TSR_CAPTURE_TEXT_MAX - 6 + (int)more, 1);
		ktap_eq(strlen(text), TSR_CAPTURE_TEXT_MAX + more);
		ktap_eq(ask(&y, text), more ? TSR_CAPTURE_RESULT_REFUSED :
					      TSR_CAPTURE_RESULT_ACCEPTED);
	}
	job(&y, 0, STAGE_DATA + TO);
	ktap_ok(!captured(&y));
	job(&y, 1, STAGE_DATA + TO);
	ktap_ok(captured(&y));			/* what was accepted last */
	bench_write(y.s.b, TSR_REG_CAPTURE_STATUS, UINT32_MAX);
	ktap_eq(captures(&y), 1);
	ktap_eq(bench_read(y.s.b, TSR_REG_CAPTURE_TEXT), 0);
	end(&y);
}

/* The last page of local memory, and a NULL page. */
static void kinds_of_pages(void)
{
	const struct tsr_config config = { .local_size = 2 << 20, .no_inline = true };
	const uint64_t last = (2ull << 20) - BENCH_PAGE;
	const uint8_t *before = NULL, *after = NULL;
	uint32_t flags = 0;
	struct play y;

	begin(&y, &config);
	bench_map(&y.s.as[1], STAGE_DATA + FROM, 0, BENCH_PAGE,
		  BENCH_R | TSR_PTE_NULL__MASK);
	bench_map(&y.s.as[1], STAGE_DATA + TO, last, BENCH_PAGE,
		  BENCH_RW | TSR_PTE_LOCAL__MASK);
	ktap_ok(bench_invalidate_all(&y.s.as[1]));
	memset(y.s.b->local + last, 0x33, BENCH_PAGE);
	memset(y.s.data + TO + BENCH_PAGE, 0x44, BENCH_PAGE);
	ktap_ok(arm(&y, "queue=0"));
	job(&y, 0, STAGE_DATA + TO);
	KTAP_REQUIRE(captured(&y));
	KTAP_REQUIRE(page(&y, STAGE_DATA + FROM, &before, &after, &flags));
	ktap_eq(flags, TSR_CAPTURE_NULL | TSR_CAPTURE_READ);
	ktap_eq(before[0] | before[4095], 0);
	KTAP_REQUIRE(page(&y, STAGE_DATA + TO, &before, &after, &flags));
	ktap_eq(flags, TSR_CAPTURE_CHANGED | TSR_CAPTURE_READ | TSR_CAPTURE_WRITE);
	ktap_eq(before[4095], 0x33);
	KTAP_REQUIRE(after != NULL);
	ktap_eq(after[0] | after[4095], 0);
	KTAP_REQUIRE(page(&y, STAGE_DATA + TO + BENCH_PAGE, &before, &after, &flags));
	ktap_eq(before[4095], 0x44);
	end(&y);
}

/* Without the property there is nothing there. */
static void no_window(void)
{
	struct play y;

	begin(&y, &with_threads);
	tsr_gpu_capture_window(y.s.b->gpu, true);
	ktap_eq(ask(&y, "next"), 0);
	job(&y, 0, STAGE_DATA + TO);
	ktap_ok(!captured(&y));
	ktap_eq(status(&y), 0);
	end(&y);
}

/* A job of five pages: too large for a limit of four. */
static void too_large(void)
{
	const struct tsr_config limits[] = { { .capture_pages = 4 }, { .capture_pages = 5 } };

	for (unsigned int i = 0; i < 2; i++) {
		struct play y;

		begin(&y, &limits[i]);
		job(&y, 0, STAGE_DATA + TO);
		ktap_ok(arm(&y, "next"));
		for (unsigned int n = 0; n < 2; n++) {
			memset(y.s.data + TO, 0, BYTES);
			job(&y, 0, STAGE_DATA + TO);
			ktap_mem_eq(y.s.data + TO, y.s.data + FROM, BYTES);
			ktap_eq(captured(&y), limits[i].capture_pages == 5 && n == 0);
		}
		end(&y);
	}
}

/* A guest captures again and again. No second file is made before the host takes the first. */
static void one_file(void)
{
	struct play y;

	begin(&y, &guest_asks);
	tsr_gpu_capture_window(y.s.b->gpu, true);
	for (unsigned int n = 0; n < 3; n++) {
		ktap_eq(ask(&y, "next"), TSR_CAPTURE_RESULT_ACCEPTED);
		job(&y, 0, STAGE_DATA + TO);
		ktap_eq(captures(&y), 1);
	}
	KTAP_REQUIRE(captured(&y));
	ktap_eq(y.head.job, 1);
	ktap_ok(status(&y) & TSR_CAPTURE_STATUS_ARMED__MASK);
	job(&y, 0, STAGE_DATA + TO);
	ktap_eq(captures(&y), 2);
	KTAP_REQUIRE(captured(&y));
	ktap_eq(y.head.job, 4);
	end(&y);
}

/* Memory runs out: there is a whole capture or none, and the job does what it does. */
static void no_memory(void)
{
	unsigned int nth = 0, asked;

	do {
		struct play y;

		begin(&y, NULL);
		job(&y, 0, STAGE_DATA + TO);
		memset(y.s.data + TO, 0, BYTES);
		ktap_ok(arm(&y, "next"));
		fail_alloc_at(++nth);
		job(&y, 0, STAGE_DATA + TO);
		asked = fail_alloc_at(0);
		ktap_mem_eq(y.s.data + TO, y.s.data + FROM, BYTES);
		ktap_eq(captured(&y), asked < nth);
		if (asked < nth)
			ktap_eq(y.head.pages, 5);
		end(&y);
	} while (asked >= nth);
	ktap_ok(nth > 6);		/* each page, and the file */
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS9] the next job, with what it touched before and after", next_job);
	ktap_run("[SYS9] a job of a queue by its number", chosen);
	ktap_run("[SYS9] the next job that faults, and one that never ends", failures);
	ktap_run("[SYS9] what is not understood is refused and changes nothing", refused);
	ktap_run("[SYS9] the guest asks by registers, if the host has a place for it", guest);
	ktap_run("[SYS9] what it asks for in other words is refused", guest_refused);
	ktap_run("[SYS9] pages of local memory, and NULL pages", kinds_of_pages);
	ktap_run("[SYS9] without the property there is no such register", no_window);
	ktap_run("[SYS9] a job of more pages than the limit is not captured", too_large);
	ktap_run("[SYS9] the host takes a file before the next capture begins", one_file);
	ktap_run("[SYS9] memory runs out", no_memory);
	return ktap_finish();
}
