/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0
 *
 * What random bundles leave when some of their fragments go other ways: coverage that ZS_EMIT and
 * ATEST take away, depth and stencil of some, colors of targets that are named once, twice or by
 * some, the second source. Beside that, what each fragment should leave by itself.
 */
#include <string.h>

#include "ktap.h"
#include "pipe.h"
#include "rnd.h"

#define CLAUSE(how, text) "clause " how " {\n" text "}\n"
#define MESSAGE(how, insn) CLAUSE(how "wait=0", "\t*NOP\n\t+" insn "\n")
#define MOVE(to, from) "\t*MOV.i32 " to ", " from "\n\t+NOP\n"
/* A message of all fragments, of none, of those whose @reg is 0. */
#define ALWAYS(reg, label, message) message
#define NEVER(reg, label, message)
#define UNLESS(reg, label, message) \
	"clause wait=0 flow=nbtb_unconditional {\n\t*NOP\n" \
	"\t+BRANCHZ.i32.ne " reg ", " label "\n}\n" message label ":\n"

/*
 * R14 and R15 are masks of coverage, R12 and R13 whether x and y are odd. Colors are R0 to R3 and
 * R8 to R11, the second source R4 to R7. The last BLEND is of a target that has been named or not.
 * SOME is UNLESS, ALWAYS or NEVER: with these two warps go through all of it together.
 */
#define PROGRAM(SOME, last) \
	CLAUSE("", "\t*LSHIFT_AND.i32 r12, r59, 0x1, 0x0.b0\n\t+NOP\n" \
		   "\t*RSHIFT_AND.i32 r13, r59, 0x1, 0x10.b0\n\t+NOP\n") \
	CLAUSE("", "\t*NOP\n\t+IADD.s32 r14, r59, u1.w0\n\t*NOP\n\t+IADD.s32 r15, r59, u1.w1\n" \
		   "\t*NOP\n\t+NOP\n") \
	CLAUSE("", MOVE("r0", "r59") MOVE("r1", "r14") MOVE("r3", "u2.w0")) \
	CLAUSE("", MOVE("r4", "r15") MOVE("r5", "r59") MOVE("r6", "u2.w1") MOVE("r7", "r14")) \
	CLAUSE("", MOVE("r8", "r15") MOVE("r9", "u2.w0") MOVE("r10", "r59")) \
	MESSAGE("", "ZS_EMIT.z r0, r0, r14, @r60") \
	SOME("r13", "emitted", MESSAGE("", "ZS_EMIT.stencil.z r8, r1, r60, @r60")) \
	CLAUSE("wait=0", "\t*LSHIFT_AND.i32 r10, r59, 0x600000, 0x15.b0\n\t+NOP\n" \
			 MOVE("r11", "r60")) \
	CLAUSE("", "\t*LSHIFT_OR.i32 r10, r10, 0x3f800000, 0x0.b0\n\t+NOP\n") \
	MESSAGE("", "DISCARD.f32.lt r10, u3.w0") \
	SOME("r12", "tested", MESSAGE("", "ATEST t1, r9, zero.w0, @r60")) \
	CLAUSE("wait=0", "\t*NOP\n\t+CLPER.i32.xor.subgroup4.zero r2:t1, r60, 0x1\n") \
	MESSAGE("td ", "ATEST r49:t1, r15, zero.w0, @r60") \
	SOME("r12", "first", \
	       MESSAGE("", "BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0")) \
	SOME("r13", "second", \
	       MESSAGE("", "BLEND r48:t1, r49, blend2.w0, blend2.w1, @r8")) \
	MESSAGE("end ", "BLEND r48:t1, r60, blend" last ".w0, blend" last ".w1, @r8")

static const struct tsr_config *config;
static struct pipe *p;

/* Which fragments execute the messages that not all need to execute. */
enum way { OF_SOME, OF_ALL, OF_NONE };

/* The registers of a fragment, except R2 and R11: coverage on the way. */
struct fragment {
	uint32_t where, mask[3];
	uint32_t color[2][4], second[4];
	bool discarded;
};

static struct fragment fragment_at(int x, int y)
{
	const uint32_t where = (uint32_t)(uint16_t)x | (uint32_t)y << 16;
	const uint32_t m0 = where + p->push[2], m1 = where + p->push[3];
	/* between 1 and 2, by the lowest bits of x; such floats are ordered as their bits are */
	const uint32_t real = (where << 21 & 0x600000) | 0x3f800000;

	return (struct fragment){
		.where = where, .mask = { m0, m1, p->push[4] },
		.color = { { where, m0, 0, p->push[4] },
			    { m1, p->push[4], real } },
		.second = { m1, where, p->push[5], m0 },
		.discarded = real < p->push[6],
	};
}

/* Target @t has @words of @color in lane @l of warp @w, if it is written there. */
static void check_target(unsigned int t, unsigned int w, unsigned int l, bool written,
			 const uint32_t *color, unsigned int words)
{
	ktap_eq(p->f->written[t][w] >> l & 1, written);
	for (unsigned int c = 0; written && c < words; c++)
		ktap_eq(tsr_fragments_color(p->f, t, c, w)->u[l], color[c]);
}

static bool of(enum way way, int coordinate)
{
	return way == OF_ALL || (way == OF_SOME && !(coordinate & 1));
}

/* R60 after the first ATEST, which sets it to 0 for discarded fragments. */
static uint32_t tested(unsigned int n, enum way way)
{
	const struct tsr_fragment_quad *quad = &p->f->quad[n / 4];
	const int x = quad->x + (int)(n & 1), y = quad->y + (int)(n >> 1 & 1);
	const struct fragment is = fragment_at(x, y);
	const uint32_t left = quad->coverage >> 16 * (n % 4) & 0xffff & is.mask[0];

	if (is.discarded && !p->state.shader.helpers)
		return 0;
	return !of(way, x) ? left : is.discarded ? 0 : left & is.mask[2];
}

static void check_fragment(unsigned int n, unsigned int last, enum way way)
{
	const struct tsr_fragments *f = p->f;
	const struct tsr_fragment_quad *quad = &f->quad[n / 4];
	const unsigned int w = n / 16, l = n % 16;
	const int x = quad->x + (int)(n & 1), y = quad->y + (int)(n >> 1 & 1);
	const bool first = of(way, x), second = of(way, y);
	const uint32_t covered = quad->coverage >> 16 * (n % 4) & 0xffff;
	struct fragment is = fragment_at(x, y);
	const bool there = covered && !is.discarded, zero = there && (!last || first);
	uint32_t left = covered & is.mask[0];

	/* the results of the neighbor after ATEST, and of this fragment after ZS_EMIT */
	is.color[0][2] = tested(n ^ 1, way);
	if (way == OF_SOME)	/* fragments that diverge need not see one another */
		is.color[0][2] = tsr_fragments_color(f, 0, 2, w)->u[l];
	is.color[1][3] = left;
	left &= is.mask[1] & (first ? is.mask[2] : UINT32_MAX);
	ktap_eq(f->coverage[w].u[l], is.discarded ? 0 : left);
	if (covered) {
		ktap_eq(f->depth_written[w] >> l & 1, 1);
		ktap_eq(f->stencil_written[w] >> l & 1, second);
		ktap_eq(f->depth[w].u[l], second ? is.mask[1] : is.where);
		if (second)
			ktap_eq(f->stencil[w].u[l], is.mask[0]);
	}
	/* helpers alone have ended, and those without samples left go on */
	check_target(0, w, l, zero, is.color[!last], 4);
	check_target(1, w, l, there && last, is.color[1], 4);
	check_target(2, w, l, there && second, is.color[1], 2);
	check_target(TSR_RENDER_TARGETS_MAX, w, l, zero && p->state.dual_source, is.second, 4);
	for (unsigned int t = 0; t < 3; t++) {
		if (f->written[t][w] >> l & 1)
			ktap_eq(f->blend_coverage_at[t][w].u[l], left);
	}
}

/* Quads of which all samples are covered, some or none. */
static void random_quads(void)
{
	const unsigned int quads = rnd() % 2 ? TSR_BUNDLE_QUADS : 1 + rnd() % TSR_BUNDLE_QUADS;
	const unsigned int whole = rnd() % 3;

	pipe_prim(p, 3);
	for (unsigned int q = 0; q < quads; q++) {
		struct tsr_fragment_quad *quad =
			pipe_quad(p, rnd() % 512 & ~1, rnd() % 512 & ~1, 0);

		if (rnd() % 4 < whole)
			continue;
		quad->coverage &= rnd() | (uint64_t)rnd() << 32;
		/* a row or a column alone */
		if (rnd() % 4 == 0)
			quad->coverage &= rnd() % 2 ? 0xffff0000ffff : 0xffffffff;
	}
}

static void test_outputs(void)
{
	static const char *const texts[] = {
		PROGRAM(UNLESS, "0"), PROGRAM(UNLESS, "1"), PROGRAM(ALWAYS, "0"),
		PROGRAM(ALWAYS, "1"), PROGRAM(NEVER, "0"), PROGRAM(NEVER, "1"),
	};

	for (unsigned int i = 0; i < 300; i++) {
		const unsigned int last = i % 2;

		p->state.samples_log2 = rnd() % 5;
		p->state.shader.helpers = rnd() % 4;
		p->state.dual_source = rnd() % 2;
		p->state.blend[1] = p->state.blend[0] | 1 << 16;
		/* halves: two words */
		p->state.blend[2] = TSR_BLEND_MODE_FIXED | 3 << 3 | 2 << 16 |
				    (uint64_t)TSR_REGISTER_TYPE_F16 << 56;
		for (unsigned int k = 0; k < 8; k++)
			p->push[k] = rnd();
		/* most samples stay; of some bundles all do */
		p->push[2] = rnd() % 2 ? 0xffff - rnd() % 300 : rnd();
		p->push[3] = rnd() % 2 ? 0x3fff - rnd() % 300 : rnd();
		p->push[4] |= rnd() % 2 ? 0xff3f : 0;
		/* discarded are some, or none */
		p->push[6] = rnd() % 2 ? 0x3f800000 : 0x3f800000 | rnd() % 0x800000;
		p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, texts[i % 6]);
		tsr_fragments_begin(p->f, &p->state);
		random_quads();
		if (!ktap_eq(pipe_fragments(p), TSR_STEP_DONE)) {
			ktap_note("fault %#x at byte %#x", p->sh->fault.code,
				  (unsigned int)(p->sh->fault.clause -
						 p->state.program->state.code));
			return;
		}
		for (unsigned int n = 0; n < 4 * p->f->quads; n++)
			check_fragment(n, last, i % 6 / 2);
		/* beyond the quads nobody is there */
		for (unsigned int n = 4 * p->f->quads; n < TSR_BUNDLE_LANES; n++)
			ktap_eq(p->f->written[0][n / 16] >> n % 16 & 1, 0);
		for (unsigned int t = 0; t < 3; t++) {
			bool any = false;

			for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++)
				any |= p->f->written[t][w];
			ktap_ok(!any || p->f->blended[t] == p->state.blend[t]);
		}
	}
}

int main(void)
{
	static const struct tsr_config late = { .late_messages = true };

	ktap_start();
	for (unsigned int i = 0; i < 2; i++) {
		config = i ? &late : NULL;
		p = pipe_new(config);
		ktap_run("[PIX5] [PIX9] what bundles leave, fragment by fragment", test_outputs);
		pipe_free(p);
	}
	return ktap_finish();
}
