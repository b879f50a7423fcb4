/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Requests to the host's timer: polls of the words that blocked queues wait for, with growing
 * intervals, and the watchdogs. Exact to the nanosecond, because only the test moves the clock.
 */
#include "device/gpu.h"
#include "ktap.h"
#include "stage.h"

#define WORD 0x1000			/* queue n waits until WORD + 8 * n in STAGE_DATA is 1 */
#define MS 1000000ull

struct play {
	struct stage s;
	struct bench_queue q[3];
};

static void begin(struct play *y)
{
	static const struct tsr_config config = { .no_inline = true };

	stage_init(&y->s, &config);
	for (unsigned int n = 0; n < 3; n++)
		stage_queue(&y->s, &y->q[n], n, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	atomic_store(&y->s.b->clock, 5 * MS);
}

static void wait(struct play *y, unsigned int n)
{
	uint64_t p[8];

	bench_emit(&y->q[n], p, pk_wait(p, TSR_COMPARE_EQ, true,
				     STAGE_DATA + WORD + 8 * n, 1));
	bench_kick(&y->q[n]);
	ktap_ok(bench_run(y->s.b, 10));
	ktap_eq(bench_state(&y->q[n]), TSR_QUEUE_STATE_BLOCKED);
}

/* In how many nanoseconds the timer is due; UINT64_MAX: never. */
static uint64_t due(struct play *y)
{
	uint64_t when = atomic_load(&y->s.b->timer);

	return when == UINT64_MAX ? when : when - atomic_load(&y->s.b->clock);
}

/* The timer is due in @ns, and then it is. */
static void passes(struct play *y, uint64_t ns)
{
	ktap_eq(due(y), ns);
	bench_advance(y->s.b, ns);
}

/* From 20 us on each look is twice as far off as the one before, up to a millisecond. */
static void backs_off(struct play *y)
{
	for (uint64_t ns = TSR_POLL_MIN_NS; ns < TSR_POLL_MAX_NS; ns *= 2)
		passes(y, ns);
	for (unsigned int i = 0; i < 3; i++)
		passes(y, TSR_POLL_MAX_NS);
}

static void looks(void)
{
	struct play y;

	begin(&y);
	ktap_eq(due(&y), UINT64_MAX);
	wait(&y, 0);
	backs_off(&y);
	/* another is looked at soon, and the first with it; a look that is near is not put off */
	wait(&y, 1);
	passes(&y, TSR_POLL_MIN_NS);
	bench_advance(y.s.b, TSR_POLL_MIN_NS);
	wait(&y, 2);
	passes(&y, TSR_POLL_MIN_NS);
	passes(&y, 2 * TSR_POLL_MIN_NS);
	passes(&y, 4 * TSR_POLL_MIN_NS);
	/* one goes on: somebody is writing, so the others are looked at often again */
	*stage_word(&y.s, WORD + 8) = 1;
	passes(&y, 8 * TSR_POLL_MIN_NS);
	ktap_eq(bench_state(&y.q[1]), TSR_QUEUE_STATE_IDLE);
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_BLOCKED);
	backs_off(&y);
	/* all go on: nobody looks */
	*stage_word(&y.s, WORD) = 1;
	*stage_word(&y.s, WORD + 16) = 1;
	passes(&y, TSR_POLL_MAX_NS);
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_IDLE);
	ktap_eq(bench_state(&y.q[2]), TSR_QUEUE_STATE_IDLE);
	ktap_eq(due(&y), UINT64_MAX);
	stage_free(&y.s);
}

/* A timer that is early, for the watchdog's sake say, is no reason to look less often. */
static void early(void)
{
	struct play y;

	begin(&y);
	wait(&y, 0);
	passes(&y, TSR_POLL_MIN_NS);
	for (unsigned int i = 0; i < 5; i++) {
		tsr_gpu_timer(y.s.b->gpu);
		ktap_eq(due(&y), 2 * TSR_POLL_MIN_NS);
	}
	bench_advance(y.s.b, 2 * TSR_POLL_MIN_NS - 1);
	tsr_gpu_timer(y.s.b->gpu);
	passes(&y, 1);
	passes(&y, 4 * TSR_POLL_MIN_NS);
	stage_free(&y.s);
}

/* While the device is paused nothing is asked for; afterwards it is as before. */
static void paused(void)
{
	struct play y;

	begin(&y);
	wait(&y, 0);
	tsr_gpu_pause(y.s.b->gpu);
	bench_advance(y.s.b, 5 * MS);
	ktap_eq(due(&y), UINT64_MAX);
	*stage_word(&y.s, WORD) = 1;
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_BLOCKED);
	tsr_gpu_resume(y.s.b->gpu);
	/* the look was due while the device was paused */
	passes(&y, TSR_TIMER_LATE_NS);
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_IDLE);
	stage_free(&y.s);
}

/* ---- A host of the timer alone --------------------------------------------------------------- */

struct clockwork {
	struct tsr_timer timer;
	uint64_t clock, set, behind;	/* now, the timer asked for, how late the part is */
	unsigned int sets;
};

static uint64_t clockwork_clock(void *host)
{
	return ((struct clockwork *)host)->clock;
}

static void clockwork_set(void *host, uint64_t when)
{
	struct clockwork *c = host;

	c->set = when;
	c->sets++;
}

static void late_arm(void *opaque, uint64_t now)
{
	struct clockwork *c = opaque;

	tsr_timer_want(&c->timer, now - c->behind);
}

/* A part that always asks for a time that has passed gets one that has not. */
static void late(void)
{
	static const struct tsr_host_ops ops = { .clock = clockwork_clock,
						 .set_timer = clockwork_set };
	struct clockwork c = { .clock = 5 * MS };

	tsr_timer_init(&c.timer, &ops, &c);
	tsr_timer_add(&c.timer, &(struct tsr_timer_user){ .arm = late_arm, .opaque = &c });
	for (unsigned int i = 0; i < 4; i++) {
		c.behind = i * MS;
		tsr_timer_expired(&c.timer);
		ktap_eq(c.set, c.clock + TSR_TIMER_LATE_NS);
		ktap_eq(c.sets, i + 1);
		/* a second request changes nothing */
		tsr_timer_want(&c.timer, 1);
		ktap_eq(c.sets, i + 1);
		c.clock = c.set;
	}
	/* what is nearer than that and has not passed stays as it is */
	tsr_timer_lapse(&c.timer);
	tsr_timer_want(&c.timer, c.clock + 1);
	ktap_eq(c.set, c.clock + 1);
}

static unsigned int barked(struct play *y)
{
	unsigned int bits = bench_read64(y->s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_WATCHDOG));

	bench_write64(y->s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_WATCHDOG), bits);
	return bits;
}

/* A queue that waits too long: once, exactly then, and once more only if it has moved. */
static void watchdog(void)
{
	struct play y;

	begin(&y);
	bench_write(y.s.b, TSR_REG_QUEUE_WATCHDOG_MS(1), 3);
	wait(&y, 0);
	wait(&y, 1);
	bench_advance(y.s.b, 3 * MS - 1);
	ktap_eq(barked(&y), 0);
	bench_advance(y.s.b, 1);
	ktap_eq(barked(&y), 1 << 1);
	bench_advance(y.s.b, 20 * MS);
	ktap_eq(barked(&y), 0);
	*stage_word(&y.s, WORD + 8) = 1;
	bench_advance(y.s.b, MS);
	ktap_eq(bench_state(&y.q[1]), TSR_QUEUE_STATE_IDLE);
	bench_advance(y.s.b, 20 * MS);
	ktap_eq(barked(&y), 0);		/* who is idle is not late */
	*stage_word(&y.s, WORD + 8) = 0;
	wait(&y, 1);
	bench_advance(y.s.b, 3 * MS - 1);
	ktap_eq(barked(&y), 0);
	bench_advance(y.s.b, 1);
	ktap_eq(barked(&y), 1 << 1);
	stage_free(&y.s);
}

int main(void)
{
	ktap_start();
	ktap_run("[CP7] a word that is waited for is looked at less and less often", looks);
	ktap_run("[CP7] a timer that is early changes nothing", early);
	ktap_run("[CP7] nobody looks while the device is paused", paused);
	ktap_run("[CP7] a time that has passed is not asked for", late);
	ktap_run("[SYS7] a watchdog barks once, when its time has come", watchdog);
	return ktap_finish();
}
