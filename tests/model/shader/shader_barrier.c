/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * The three things that order threads of a group, each with a program that has it and one that does
 * not: with late timing the latter goes wrong.
 */
#include "ktap.h"
#include "shade.h"

/* Four bundles: without a barrier they run one after the other. */
#define LOCAL 256
#define GROUPS 20

static const struct tsr_config early = { 0 }, late = { .late_messages = true };

/* Words of the last program that are not what they should be. */
static unsigned int wrong;

/* Each thread should have stored 7 * the number of the thread that mirrors it in its group. */
static void check(struct shade_machine *m)
{
	wrong = 0;
	for (unsigned int i = 0; i < LOCAL * GROUPS; i++)
		wrong += *stage_word32(&m->s, 4 * i) != 7 * (LOCAL - 1 - i % LOCAL);
}

static bool goes_wrong(const struct tsr_config *config, const char *text)
{
	ktap_ok(shade_run_text(config, text, LOCAL, GROUPS, check));
	return wrong;
}

/*
 * Thread t writes 7 * t to place t of shared memory and reads place LOCAL - 1 - t. @wait: for the
 * store; @sync: the clause between.
 */
#define SHARED(wait, sync) \
	"clause {\n" \
	"	*IMUL.i32 r2, r55, 0x7\n" \
	"	*LSHIFT_OR.i32 r0, r55, #0, 0x2\n" \
	"	+ISUB.s32 t1, 0xff, r55\n" \
	"	*LSHIFT_OR.i32 r1, t1, #0, 0x2\n" \
	"}\n" \
	"clause slot=1 " wait " {\n" \
	"	+STORE.i32.wls r0, zero.w0, @r2\n" \
	"}\n" sync \
	"clause slot=0 wait=0 {\n" \
	"	+LOAD.i32.wls r1, zero.w0, @r3\n" \
	"}\n" \
	"clause message=store slot=0 " SHADE_STORE("r3")

#define SYNC "clause slot=7 wait=7 {\n	+BARRIER\n}\n"

/* As SHARED(), through device memory at push pair 1. */
#define DEVICE(wait, sync) \
	"clause {\n" \
	"	*IMUL.i32 r2, r55, 0x7\n" \
	"	+ISUB.s32 t1, r60, r55\n" \
	"	+ISUB.s32 t1, t1, r55\n" \
	"	+IADD.s32 r4, t1, 0xff\n" \
	"}\n" \
	"clause slot=1 " wait " {\n" \
	"	*SHADDXL.u32 t0, u1.w0, r60, shift:2\n" \
	"	+SHADDXH.i32 t1, u1.w1, t\n" \
	"	+STORE.i32 t0, t1, @r2\n" \
	"}\n" sync \
	"clause slot=0 wait=0 {\n" \
	"	*SHADDXL.u32 t0, u1.w0, r4, shift:2\n" \
	"	+SHADDXH.i32 t1, u1.w1, t\n" \
	"	+LOAD.i32 t0, t1, @r3\n" \
	"}\n" \
	"clause message=store slot=0 " SHADE_STORE("r3")

static void group_sync(void)
{
	ktap_ok(!goes_wrong(&early, SHARED("wait=1", SYNC)));
	ktap_ok(!goes_wrong(&late, SHARED("wait=1", SYNC)));
	ktap_ok(goes_wrong(&early, SHARED("wait=1", "")));
	ktap_ok(goes_wrong(&late, SHARED("wait=1", "")));
}

static void group_memory(void)
{
	ktap_ok(goes_wrong(&late, SHARED("", SYNC)));
	ktap_ok(!goes_wrong(&early, SHARED("", SYNC)));
}

static void device_memory(void)
{
	ktap_ok(!goes_wrong(&early, DEVICE("wait=1", SYNC)));
	ktap_ok(!goes_wrong(&late, DEVICE("wait=1", SYNC)));
	ktap_ok(goes_wrong(&late, DEVICE("", SYNC)));
	ktap_ok(goes_wrong(&late, DEVICE("wait=1", "")));
}

/* ---- Threads that do not come ---------------------------------------------------------------- */

/*
 * A third of the threads ends before the barrier, in whole warps and parts of warps, one warp late
 * by a loop. The others meet twice.
 */
static const char some_end[] =
	"clause flow=nbtb_unconditional {\n"
	"	*MOV.i32 r5, 0x64\n"
	"	*MOV.i32 r6, 0xab\n"
	"	*MOV.i32 r7, 0x37\n"
	"	*NOP\n"
	"	+BRANCH.u32.ge r55, r6, zero.w0\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	*NOP\n"
	"	+BRANCH.u32.ge r55, r7, first\n"
	"}\n"
	"late: clause flow=nbtb_unconditional {\n"
	"	+IADD.s32 r5:t1, r5, -1\n"
	"	+BRANCHZ.i32.ne t1, late\n"
	"}\n"
	"first: clause slot=7 wait=7 {\n"
	"	+BARRIER\n"
	"}\n"
	"clause slot=1 wait=1 {\n"
	"	*MOV.i32 r2, 0x1\n"
	"	*LSHIFT_OR.i32 t0, r55, #0, 0x2\n"
	"	*MOV.i32 r4, r55\n"
	"	+STORE.i32.wls t0, zero.w0, @r55\n"
	"}\n"
	"clause slot=7 wait=7 {\n"
	"	+BARRIER\n"
	"}\n"
	"clause slot=0 wait=0 {\n"
	"	+ISUB.s32 t1, 0xaa, r55\n"
	"	*LSHIFT_OR.i32 t0, t1, #0, 0x2\n"
	"	*NOP\n"
	"	+LOAD.i32.wls t0, zero.w0, @r3\n"
	"}\n"
	"clause message=store slot=0 " SHADE_STORE("r3");

static void check_some_end(struct shade_machine *m)
{
	for (unsigned int i = 0; i < LOCAL * GROUPS; i++) {
		unsigned int t = i % LOCAL;

		ktap_eq(*stage_word32(&m->s, 4 * i), t < 0xab ? 0xaa - t : 0);
	}
}

static void ended(void)
{
	ktap_ok(shade_run_text(&early, some_end, LOCAL, GROUPS, check_some_end));
	ktap_ok(shade_run_text(&late, some_end, LOCAL, GROUPS, check_some_end));
}

/* Even threads wait at one BARRIER, odd ones at another. Each continues after its own. */
static const char two_barriers[] =
	"clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 t0, r55, 0x1, #0\n"
	"	+NOP\n"
	"	*NOP\n"
	"	+BRANCHZ.i32.ne t0, odd\n"
	"}\n"
	"clause slot=7 wait=7 {\n"
	"	+BARRIER\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	+IADD.s32 r3, r55, 0x3e8\n"
	"	*NOP\n"
	"	+JUMP store\n"
	"}\n"
	"odd: clause slot=7 wait=7 {\n"
	"	+BARRIER\n"
	"}\n"
	"clause {\n"
	"	+IADD.s32 r3, r55, 0x7d0\n"
	"}\n"
	"store: clause message=store slot=0 " SHADE_STORE("r3");

static void check_own(struct shade_machine *m)
{
	wrong = 0;
	for (unsigned int i = 0; i < LOCAL * GROUPS; i++)
		wrong += *stage_word32(&m->s, 4 * i) != i % LOCAL + (i & 1 ? 2000 : 1000);
}

static void at_another(void)
{
	ktap_ok(shade_run_text(&early, two_barriers, LOCAL, GROUPS, check_own));
	ktap_eq(wrong, 0);
	ktap_ok(shade_run_text(&late, two_barriers, LOCAL, GROUPS, check_own));
	ktap_eq(wrong, 0);
}

/* Odd threads store before their BARRIER what even ones, who come first, load behind theirs. */
static const char from_odd[] =
	"clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 t0, r55, 0x1, #0\n"
	"	+NOP\n"
	"	*NOP\n"
	"	+BRANCHZ.i32.ne t0, odd\n"
	"}\n"
	SYNC
	"clause slot=0 wait=0 {\n"
	"	+IADD.s32 t1, r55, 0x1\n"
	"	*LSHIFT_OR.i32 t0, t1, #0, 0x2\n"
	"	*NOP\n"
	"	+LOAD.i32.wls t0, zero.w0, @r3\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	*NOP\n"
	"	+JUMP store\n"
	"}\n"
	"odd: clause {\n"
	"	*IMUL.i32 r3, r55, 0x7\n"
	"	*LSHIFT_OR.i32 r0, r55, #0, 0x2\n"
	"}\n"
	"clause slot=1 wait=1 {\n"
	"	+STORE.i32.wls r0, zero.w0, @r3\n"
	"}\n"
	SYNC
	"store: clause message=store slot=0 " SHADE_STORE("r3");

static void check_from_odd(struct shade_machine *m)
{
	wrong = 0;
	for (unsigned int i = 0; i < LOCAL * GROUPS; i++)
		wrong += *stage_word32(&m->s, 4 * i) != 7 * (i % LOCAL | 1);
}

static void waited_for(void)
{
	ktap_ok(shade_run_text(&early, from_odd, LOCAL, GROUPS, check_from_odd));
	ktap_eq(wrong, 0);
	ktap_ok(shade_run_text(&late, from_odd, LOCAL, GROUPS, check_from_odd));
	ktap_eq(wrong, 0);
}

int main(void)
{
	ktap_start();
	ktap_run("[CS2] BARRIER: nobody goes on before the last has come", group_sync);
	ktap_run("[CS2] group memory: what is not waited for comes later", group_memory);
	ktap_run("[CS2] device memory: likewise", device_memory);
	ktap_run("[CS2] threads that have ended are not waited for", ended);
	ktap_run("[CS2] threads of a warp that wait at two BARRIERs go on behind each", at_another);
	ktap_run("[CS2] a thread waits for those of its own warp, too", waited_for);
	return ktap_finish();
}
