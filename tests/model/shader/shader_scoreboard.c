/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * The scoreboard: what a wait guarantees, and what happens without it. With early timing a message
 * is done when it is sent, with late timing as late as is allowed, so a missing dependency shows.
 */
#include "ktap.h"
#include "shade.h"

#define LOCAL 100
#define GROUPS 3
#define THREADS (LOCAL * GROUPS)

static const struct tsr_config early = { 0 }, late = { .late_messages = true };

static uint32_t (*like)(unsigned int i);	/* what the others should have */

/* Words 0x1000 on are numbers to load: 1000 + i. */
static void check(struct shade_machine *m)
{
	for (unsigned int i = 0; like && i < THREADS; i++)
		ktap_eq(*stage_word32(&m->s, 4 * i), like(i));
}

static uint32_t number(unsigned int i)
{
	return 1000 + i;
}

static uint32_t zero(unsigned int i)
{
	(void)i;
	return 0;
}

static uint32_t seven(unsigned int i)
{
	(void)i;
	return 7;
}

static uint32_t own(unsigned int i)
{
	return i;
}

static uint32_t sum(unsigned int i)
{
	return 12 * (1000 + i);
}

/* Run @text; the threads store what @expect says. */
static void run(const struct tsr_config *config, const char *text,
		uint32_t (*expect)(unsigned int i))
{
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code, .groups = { GROUPS } };
	struct shade_machine m;

	memset(&code, 0, sizeof(code));
	shade_text(&code, text);
	d.state.local_x = LOCAL;
	shade_push64(d.push, 1, STAGE_DATA + 0x1000);
	shade_init(&m, config);
	for (unsigned int i = 0; i < THREADS; i++)
		*stage_word32(&m.s, 0x1000 + 4 * i) = 1000 + i;
	ktap_ok(shade_run(&m, &d));
	like = expect;
	check(&m);
	shade_free(&m);
}

#define LOAD(reg, header) \
	"clause " header " {\n" \
	"	*SHADDXL.u32 t0, u1.w0, r60, shift:2\n" \
	"	+SHADDXH.i32 t1, u1.w1, t\n" \
	"	+LOAD.i32 t0, t1, @" reg "\n" \
	"}\n"

#define NOTHING(header) "clause " header " {\n	*NOP\n}\n"
#define MOVE(to, from, header) "clause " header " {\n	*MOV.i32 " to ", " from "\n}\n"
#define LAST(reg, header) "clause message=store slot=0 " header " " SHADE_STORE(reg)

/* A load, and its result used in the next clause. */
static void missing(void)
{
	static const char with[] = LOAD("r2", "slot=3 wait=3") MOVE("r3", "r2", "") LAST("r3", "");
	static const char without[] = LOAD("r2", "slot=3") MOVE("r3", "r2", "") LAST("r3", "");
	static const char other[] = LOAD("r2", "slot=3 wait=2") MOVE("r3", "r2", "") LAST("r3", "");

	run(&early, with, number);
	run(&late, with, number);
	run(&early, without, number);
	run(&late, without, zero);
	run(&late, other, zero);
}

/* Two loads on two slots, and a wait for one of them. */
static void two_slots(void)
{
	static const char second[] = LOAD("r2", "slot=3") LOAD("r4", "slot=1 wait=1")
		MOVE("r3", "r4", "") LAST("r3", "");
	static const char first[] = LOAD("r2", "slot=3") LOAD("r4", "slot=1 wait=1")
		MOVE("r3", "r2", "") LAST("r3", "");

	run(&early, second, number);
	run(&late, second, number);
	run(&early, first, number);
	run(&late, first, zero);
}

/* The wait is in a clause without a message. */
static void bare_wait(void)
{
	static const char text[] = LOAD("r2", "slot=1") NOTHING("wait=1") MOVE("r3", "r2", "")
		LAST("r3", "");
	static const char behind[] = LOAD("r2", "slot=1") MOVE("r3", "r2", "wait=1") LAST("r3", "");

	run(&early, text, number);
	run(&late, text, number);
	run(&late, behind, zero);	/* one ahead: a clause does not wait for itself */
}

#define TWELVE(f) \
	f("r2") f("r3") f("r4") f("r5") f("r6") f("r7") \
	f("r8") f("r9") f("r10") f("r11") f("r12") f("r13")
#define ON_SLOT_2(reg) LOAD(reg, "slot=2")

/* Twelve messages on one slot, one wait. */
static void counts(void)
{
	static const char text[] = TWELVE(ON_SLOT_2) NOTHING("wait=2")
		"clause {\n"
		"	+IADD.s32 t1, r2, r3\n	+IADD.s32 t1, t1, r4\n"
		"	+IADD.s32 t1, t1, r5\n	+IADD.s32 t1, t1, r6\n"
		"	+IADD.s32 t1, t1, r7\n	+IADD.s32 r2, t1, r8\n"
		"}\n"
		"clause {\n"
		"	+IADD.s32 t1, r2, r9\n	+IADD.s32 t1, t1, r10\n"
		"	+IADD.s32 t1, t1, r11\n	+IADD.s32 t1, t1, r12\n"
		"	+IADD.s32 r2, t1, r13\n"
		"}\n" LAST("r2", "");

	run(&early, text, sum);
	run(&late, text, sum);
}

#define STORE(header) \
	"clause " header " {\n" \
	"	*SHADDXL.u32 t0, u0.w0, r60, shift:2\n" \
	"	+SHADDXH.i32 t1, u0.w1, t\n" \
	"	+STORE.i32 t0, t1, @r2\n" \
	"}\n"

/* A store's register is overwritten after it. */
static void staging(void)
{
	static const char bare[] = MOVE("r2", "r60", "") STORE("slot=1") MOVE("r2", "0x7", "")
		NOTHING("end");
	static const char barrier[] = MOVE("r2", "r60", "") STORE("slot=1 staging_barrier")
		MOVE("r2", "0x7", "") NOTHING("end");
	static const char later[] = MOVE("r2", "r60", "") STORE("slot=1") NOTHING("staging_barrier")
		MOVE("r2", "0x7", "") NOTHING("end");
	static const char waited[] = MOVE("r2", "r60", "") STORE("slot=1 wait=1")
		MOVE("r2", "0x7", "") NOTHING("end");

	run(&early, bare, own);
	run(&late, bare, seven);
	run(&late, barrier, own);
	run(&early, barrier, own);
	run(&late, later, own);
	run(&late, waited, own);
}

#define EXCHANGE(header) \
	"clause " header " {\n" \
	"	*SHADDXL.u32 t0, u1.w0, r60, shift:2\n" \
	"	+SHADDXH.i32 t1, u1.w1, t\n" \
	"	+AXCHG.i32 t0, t1, @r2\n" \
	"}\n"

/* A message that reads its staging register, which is then written, and writes it in the end. */
static void staging_both(void)
{
	static const char old[] = MOVE("r2", "r60", "") EXCHANGE("slot=1 staging_barrier")
		MOVE("r2", "0x7", "wait=1") NOTHING("") LAST("r2", "");
	static const char new[] = MOVE("r2", "r60", "") EXCHANGE("slot=1 staging_barrier")
		MOVE("r2", "0x7", "wait=1") LOAD("r3", "slot=1 wait=1") LAST("r3", "");

	run(&late, old, number);
	run(&late, new, own);
}

/* Messages in flight when a thread ends are completed. */
static void at_the_end(void)
{
	static const char text[] = MOVE("r2", "r60", "") STORE("slot=1 end");

	run(&early, text, own);
	run(&late, text, own);
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA4] a load that is not waited for", missing);
	ktap_run("[ISA4] a wait is for the slots it names", two_slots);
	ktap_run("[ISA4] [ISA3] a clause without a message obeys its wait, one ahead", bare_wait);
	ktap_run("[ISA4] a slot counts its messages", counts);
	ktap_run("[ISA4] [ISA3] stores read staging late, bounded by the barrier", staging);
	ktap_run("[ISA4] [ISA3] exchanges with a staging barrier", staging_both);
	ktap_run("[ISA4] messages of threads that have ended", at_the_end);
	return ktap_finish();
}
