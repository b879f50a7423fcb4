/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Memory of the host: queues that have nothing to do cost nothing, whatever they have done before.
 * Counted in bytes that are allocated.
 */
#include "allocated.h"
#include "device/gpu.h"
#include "ktap.h"
#include "shade.h"
#include "tiles.h"

#define QUEUES 16
#define SLOT_BYTES 1024			/* of a queue that is idle, beyond struct tsr_queue */

static size_t before;

/* After the first queue the engine has its memory; more queues need no more. */
static void count(unsigned int n)
{
	size_t now = allocated();

	if (!n)
		before = now;
	if (n && !ktap_ok(now <= before + n * SLOT_BYTES))
		ktap_note("%u queues have %zu bytes, one has %zu", n + 1, now, before);
}

static void test_dispatches(void)
{
	static const char text[] =
		"clause end {\n	*LSHIFT_AND.i32 r0, r55, 0x3, #0\n	*NOP\n}\n";
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code, .groups = { 64, 1, 1 } };
	struct bench_queue q[QUEUES];
	struct stage s;

	stage_init(&s, NULL);
	shade_text(&code, text);
	d.state.local_x = 64;
	for (unsigned int i = 0; i < QUEUES; i++) {
		stage_queue(&s, &q[i], i, TSR_ENGINE_CLASS_COMPUTE, TSR_PRIORITY_NORMAL);
		shade_call(&s, &q[i], &d);
		bench_kick(&q[i]);
		ktap_ok(bench_run(s.b, 20));
		ktap_eq(bench_state(&q[i]), TSR_QUEUE_STATE_IDLE);
		count(i);
	}
	stage_free(&s);
}

#define BIN_STREAM 0x8000u		/* in BINNER_DATA, like the list */
#define BIN_LIST 0x8100u

/* BINs of a large frame without draws: all its tiles have their lists made. */
static void bin(struct tiles *t, struct bench_queue *q)
{
	uint64_t *list = (uint64_t *)(void *)(t->f->list + BIN_LIST);

	*list = TSR_OP_LIST_HALT | TSR_LIST_HALT_QWORDS << 8;
	tsr_pack_frame((uint64_t *)(void *)(t->f->list + (BINNER_FRAME - BINNER_LIST)),
		       &t->f->frame);
	tsr_pack_bin((uint64_t *)(void *)(t->f->list + BIN_STREAM), &(struct tsr_bin){
		.list = BINNER_LIST + BIN_LIST, .size = 8, .frame = BINNER_FRAME });
	bench_call(q, BINNER_LIST + BIN_STREAM, TSR_BIN_QWORDS * 8);
	bench_kick(q);
}

static void test_frames(enum tsr_engine_class cls)
{
	struct tiles *t = tiles_new(1024, 1024, NULL);

	t->f->frame.heap = cls == TSR_ENGINE_CLASS_BIN ? BINNER_HEAP : 0;
	t->draw = false;
	for (unsigned int i = 0; i < QUEUES; i++) {
		struct bench_queue q;

		bench_queue_init(&q, i + 1, cls, TSR_PRIORITY_NORMAL, &t->f->as,
				 TILES_RING + 0x10000 * (i + 1), 12, &t->f->as);
		t->queue = q;
		if (cls == TSR_ENGINE_CLASS_BIN)
			bin(t, &t->queue);
		else
			tiles_submit(t);
		ktap_ok(bench_run(t->f->b, 60));
		if (!ktap_eq(bench_state(&t->queue), TSR_QUEUE_STATE_IDLE))
			ktap_note("fault %u", bench_fault(&t->queue));
		count(i);
	}
	tiles_free(t);
}

static void test_bins(void)
{
	test_frames(TSR_ENGINE_CLASS_BIN);
}

static void test_renders(void)
{
	test_frames(TSR_ENGINE_CLASS_RENDER);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("a dispatch that is complete leaves its queue nothing", test_dispatches);
	ktap_run("a frame that has been binned leaves its queue nothing", test_bins);
	ktap_run("a frame that has been rendered leaves its queue nothing", test_renders);
	return ktap_finish();
}
