/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=300 */
/*
 * The largest heads there are, four of 8192 by 4096: how long QEMU needs to answer while it
 * composes their frames, and how much memory they take and return. Times are processor time of the
 * whole process, so a busy host makes no difference; wall-clock times are notes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gpu.h"
#include "ktap.h"

#define WIDTH 8192u
#define HEIGHT 4096u
#define HEADS 4u
#define PERIOD 20000000u		/* ns, more than that of the mode */
#define FRAME_MIB (WIDTH * HEIGHT * 4 >> 20)
#define SLACK_MIB 64u
#define ANSWER_MS 200			/* query-status */
#define STOP_MS 100
#define VA 0x40000000ull

static struct gpu gpu;

static void set_mode(unsigned int head, uint32_t width, uint32_t height)
{
	gpu_write(&gpu, TSR_REG_DISPLAY_MODE_H(head), width | (width + 8) << 16);
	gpu_write(&gpu, TSR_REG_DISPLAY_MODE_V(head), height | (height + 4) << 16);
	gpu_write(&gpu, TSR_REG_DISPLAY_MODE_CLOCK(head),
		  (width + 8) * (height + 4) / 1000 * 60);
	gpu_write(&gpu, TSR_REG_DISPLAY_COMMIT(head), TSR_DISPLAY_COMMIT_LATCH__MASK);
}

static uint32_t status(unsigned int head)
{
	return gpu_read(&gpu, TSR_REG_DISPLAY_STATUS(head));
}

static void all_on(void)
{
	for (unsigned int head = 0; head < HEADS; head++) {
		gpu_write(&gpu, TSR_REG_DISPLAY_CRC_CONTROL(head), 0);
		gpu_write(&gpu, TSR_REG_DISPLAY_CRC_CONTROL(head), 1);
		set_mode(head, WIDTH, HEIGHT);
		ktap_eq(status(head) & TSR_DISPLAY_STATUS_ON__MASK, TSR_DISPLAY_STATUS_ON__MASK);
	}
}

static void all_off(void)
{
	for (unsigned int head = 0; head < HEADS; head++) {
		gpu_write(&gpu, TSR_REG_DISPLAY_COMMIT(head), TSR_DISPLAY_COMMIT_DISABLE__MASK);
		ktap_eq(status(head), TSR_DISPLAY_STATUS_PRESENT__MASK);
	}
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Two planes of half-floats that are blended; every row of them is the same memory. */
static void blended_planes(void)
{
	const uint64_t pa = gpu_pages(&gpu, 16);

	/* 128 rows of 64 KiB; the rest of the plane is not mapped */
	for (uint64_t at = 0; at < 128; at++)
		gpu_map(&gpu, 0, VA + at * 65536, pa, 65536, TSR_PTE_READ__MASK);
	for (unsigned int head = 0; head < HEADS; head++)
		for (unsigned int n = 0; n < 2; n++) {
			gpu_write64(&gpu, TSR_REG_DISPLAY_PLANE_ADDR(head, n), VA);
			gpu_write(&gpu, TSR_REG_DISPLAY_PLANE_FORMAT(head, n),
				  TSR_PIXEL_FORMAT_RGBA16F << TSR_CONVERSION_FORMAT__SHIFT |
					  TSR_COMPONENT_ORDER_BGR1);
			gpu_write(&gpu, TSR_REG_DISPLAY_PLANE_PITCH(head, n), 65536);
			gpu_write(&gpu, TSR_REG_DISPLAY_PLANE_CONFIG(head, n),
				  TSR_PLANE_BLEND_COVERAGE << 4 | 0x8000u << 16);
			gpu_write(&gpu, TSR_REG_DISPLAY_PLANE_SIZE(head, n), WIDTH | 2048 << 16);
		}
}

#define ANSWERS 30
#define LATE_MAX 2			/* answers that may be late, on a host that is very busy */

struct answer {
	double processor, wall;		/* the longest, in ms */
	double limit;			/* of processor time */
	unsigned int late;		/* answers that took longer */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void answer(struct qtest *q, const char *command, struct answer *most)
{
	const double processor = qtest_processor_ms(q), wall = now();
	double took;

	qtest_cmd(q, "{\"execute\":\"%s\"}", command);
	took = qtest_processor_ms(q) - processor;
	most->late += took > most->limit;
	most->processor = took > most->processor ? took : most->processor;
	took = now() - wall;
	most->wall = took > most->wall ? took : most->wall;
}

/*
 * At any moment. The main loop composes frames that are expensive, workers compose those of which
 * the CRC is the largest part.
 */
static void test_answers(const void *arg)
{
	const unsigned int threads = *(const unsigned int *)arg;
	struct qtest *q = qtest_start("-device tessera,addr=4,id=gpu,heads=4,threads=%u", threads);
	struct answer query = { .limit = ANSWER_MS }, stop = { .limit = STOP_MS };

	gpu_open(&gpu, q, 0, 0, 4 << 3);
	if (!threads)
		blended_planes();
	gpu_as_on(&gpu, 0);
	all_on();
	for (unsigned int i = 0; i < ANSWERS; i++) {
		qtest_clock_step(q, PERIOD);
		usleep(1000 + i * 7919 % 60000);
		answer(q, "query-status", &query);
		answer(q, "stop", &stop);
		answer(q, "query-status", &query);
		qtest_cmd(q, "{\"execute\":\"cont\"}");
	}
	ktap_note("processor time in ms: query-status %.1f, stop %.1f; on the wall %.1f, %.1f",
		  query.processor, stop.processor, query.wall, stop.wall);
	ktap_ok(query.late <= LATE_MAX);
	ktap_ok(stop.late <= LATE_MAX);
	/* the display has run all the time */
	for (unsigned int head = 0; head < HEADS; head++)
		ktap_ok(status(head) & TSR_DISPLAY_STATUS_ON__MASK);
	all_off();
	qtest_stop(q);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void dump(struct qtest *q, unsigned int head)
{
	qtest_cmd(q, "{\"execute\":\"screendump\",\"arguments\":{\"filename\":\"/dev/null\","
		     "\"device\":\"gpu\",\"head\":%u}}", head);
}

static void compose(struct qtest *q)
{
	int left = 60000;

	for (unsigned int head = 0; head < HEADS; head++)
		while (gpu_read(&gpu, TSR_REG_DISPLAY_CRC_COUNT(head)) < 2) {
			qtest_clock_step(q, PERIOD);
			if (!qtest_patience(&left)) {
				ktap_fail("head %u has no CRCs", head);
				return;
			}
		}
}

/* Waits until memory is freed: consoles hear of a head that is off in the main loop. */
static void check_freed(struct qtest *q, unsigned int start, const char *what)
{
	unsigned int is = 0;

	for (int left = 2000; qtest_patience(&left);) {
		is = qtest_resident_mib(q);
		if (is <= start + SLACK_MIB)
			break;
	}
	ktap_note("%s: %u MiB", what, is);
	ktap_ok(is <= start + SLACK_MIB);
}

static void test_memory(void)
{
	struct qtest *q = qtest_start("-device tessera,addr=4,id=gpu,heads=4,threads=2");
	unsigned int start, is;

	gpu_open(&gpu, q, 0, 0, 4 << 3);
	start = qtest_resident_mib(q);
	all_on();
	compose(q);
	is = qtest_resident_mib(q);
	ktap_note("%u MiB, with CRCs of four heads %u MiB", start, is);
	/* nobody has looked at a console: two frames a head, and no surface */
	ktap_ok(is >= start + HEADS * FRAME_MIB);
	ktap_ok(is <= start + HEADS * 2 * FRAME_MIB + SLACK_MIB);
	for (unsigned int head = 0; head < HEADS; head++)
		dump(q, head);
	is = qtest_resident_mib(q);
	ktap_note("on the screen %u MiB", is);
	ktap_ok(is <= start + HEADS * 3 * FRAME_MIB + SLACK_MIB);
	all_off();
	check_freed(q, start, "switched off");
	all_on();
	compose(q);
	dump(q, 0);
	qtest_cmd(q, "{\"execute\":\"system_reset\"}");
	qtest_event(q, "RESET");
	check_freed(q, start, "reset");
	qtest_stop(q);
}

/* Property display-memory: 12 bytes for each pixel of all heads. */
static void test_bound(void)
{
	struct qtest *q = qtest_start("-device tessera,addr=4,id=gpu,heads=2,display-memory=16M");
	const uint32_t pixels = (16 << 20) / 12;

	gpu_open(&gpu, q, 0, 0, 4 << 3);
	ktap_eq(gpu_read(&gpu, TSR_REG_DISPLAY_PIXELS(0)), pixels);
	set_mode(0, 1280, pixels / 1280 + 1);
	ktap_eq(status(0), TSR_DISPLAY_STATUS_PRESENT__MASK | TSR_DISPLAY_STATUS_BAD__MASK);
	set_mode(0, 1280, 800);
	ktap_eq(status(0), TSR_DISPLAY_STATUS_PRESENT__MASK | TSR_DISPLAY_STATUS_ON__MASK);
	set_mode(1, 1280, 800);
	ktap_eq(status(1), TSR_DISPLAY_STATUS_PRESENT__MASK | TSR_DISPLAY_STATUS_BAD__MASK);
	set_mode(1, 640, 480);
	ktap_eq(status(1), TSR_DISPLAY_STATUS_PRESENT__MASK | TSR_DISPLAY_STATUS_ON__MASK);
	qtest_stop(q);
}

int main(int argc, char **argv)
{
	static const unsigned int threads[] = { 0, 2 };

	ktap_start_args(argc, argv);
	ktap_run_arg("[SYS7] QEMU answers while frames are composed, threads=0", test_answers,
		     &threads[0]);
	ktap_run_arg("[SYS7] QEMU answers while frames are composed, threads=2", test_answers,
		     &threads[1]);
	ktap_run("memory of four heads", test_memory);
	ktap_run("[DISP1] all heads together have the memory of display-memory", test_bound);
	return ktap_finish();
}
