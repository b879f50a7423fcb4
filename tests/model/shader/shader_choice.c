/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Which warps of a bundle go first: those at the lowest address, so that warps which have parted
 * meet again; but none is passed over for ever.
 */
#include "ktap.h"
#include "shade.h"

#define WARPS 4
#define LOCAL (16 * WARPS)

/*
 * The warp whose first thread push constant 4 names goes to the end of the program and sets a word
 * of shared memory. All others wait for it in an earlier loop, and store how often they have
 * polled.
 */
static const char waits[] =
	"clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 r7, r55, 0x30, #0\n"
	"	+NOP\n"
	"	*NOP\n"
	"	+NOP\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	*NOP\n"
	"	+ISUB.s32 t1, r7, u2.w0\n"
	"	*NOP\n"
	"	+BRANCHZ.i32.eq t1, sets\n"
	"}\n"
	"loop: clause slot=0 wait=0 {\n"
	"	*NOP\n"
	"	+IADD.s32 r4, r4, 0x1\n"
	"	*MOV.i32 t0, 0x0\n"
	"	+NOP\n"
	"	*NOP\n"
	"	+LOAD.i32.wls t0, zero.w0, @r5\n"
	"}\n"
	"clause wait=0 flow=nbtb_unconditional {\n"
	"	*NOP\n"
	"	+BRANCHZ.i32.eq r5, loop\n"
	"}\n"
	"clause slot=0 " SHADE_STORE("r4")
	"sets: clause flow=nbtb_unconditional {\n"
	"	*MOV.i32 r6, 0x1\n"
	"	+NOP\n"
	"	*NOP\n"
	"	+NOP\n"
	"}\n"
	"clause slot=0 end {\n"
	"	*MOV.i32 t0, 0x0\n"
	"	+NOP\n"
	"	*NOP\n"
	"	+STORE.i32.wls t0, zero.w0, @r6\n"
	"}\n";

/* A warp goes first for long, and not for ever. */
#define LEAST 1000
#define MOST 10000

static void run(const struct tsr_config *config, unsigned int last)
{
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code, .groups = { 1 },
				    .state = { .local_x = LOCAL, .group_memory = 64 } };
	struct shade_machine m;

	code.size = 0;
	shade_text(&code, waits);
	shade_init(&m, config);
	d.push[4] = 16 * last;
	memset(m.s.data, 0, 4 * LOCAL);
	if (!ktap_ok(shade_run(&m, &d)))
		ktap_note("fault %u", bench_fault(&m.q));
	for (unsigned int t = 0; t < LOCAL; t++) {
		uint32_t looked = *stage_word32(&m.s, 4 * t);

		if (t / 16 == last)
			ktap_eq(looked, 0);
		else if (!ktap_ok(looked >= LEAST && looked <= MOST))
			ktap_note("thread %u has looked %u times", t, looked);
	}
	shade_free(&m);
}

static void turns(void)
{
	static const struct tsr_config configs[] = {
		{ 0 }, { .jit = TSR_JIT_USE_OFF }, { .jit = TSR_JIT_USE_FIRST },
	};

	for (unsigned int i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
		for (unsigned int last = 0; last < WARPS; last++)
			run(&configs[i], last);
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[PIX7] warps that part meet again, and none is passed over for ever", turns);
	return ktap_finish();
}
