/* SPDX-License-Identifier: MIT */
/*
 * Fragment shaders beyond arithmetic: helper threads, DISCARD, ATEST, ZS_EMIT, BLEND to several
 * targets and by program, raw access to the tile; faults, stops, late messages.
 */
#include <string.h>

#include "ktap.h"
#include "pipe.h"
#include "shader/tile_buffer.h"

#define STORES (PIPE_FREE)

/* Ends a program: stores @reg at push pair 0 + 4 * R59, then color R0 to R3 to target 0. */
#define STORE(reg) \
	"clause td wait=0 {\n" \
	"	*SHADDXL.u32 t0, u0.w0, r59, shift:2\n" \
	"	+SHADDXH.i32 t1, u0.w1, t\n" \
	"	*NOP\n" \
	"	+STORE.i32 t0, t1, @" reg "\n" \
	"}\n"

static const struct tsr_config *config;
static struct pipe *p;

static uint32_t as_word(float f)
{
	uint32_t word;

	memcpy(&word, &f, sizeof(word));
	return word;
}

static void start(const char *text)
{
	p = pipe_new(config);
	p->push[0] = (uint32_t)STORES;
	p->push[2] = as_word(2.5f);
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, text);
	tsr_fragments_begin(p->f, &p->state);
}

/* Varying 0, two components, is the position in pixels. */
static void position_prim(void)
{
	struct tsr_fragment_prim *prim;

	pipe_varying(p, 0, 2);
	prim = pipe_prim(p, 3);
	prim->prim.v[1].x = 256 << 8;
	prim->prim.v[2].y = 256 << 8;
	memcpy(pipe_at(p, prim->output[1]), (float[2]){ 256, 0 }, 8);
	memcpy(pipe_at(p, prim->output[2]), (float[2]){ 0, 256 }, 8);
}

static uint32_t stored(unsigned int x, unsigned int y)
{
	return ((const uint32_t *)pipe_at(p, STORES))[x | y << 16];
}

static float color(unsigned int n, unsigned int c)
{
	return tsr_fragments_color(p->f, 0, c, n / 16)->f[n % 16];
}

/* ---- Helpers --------------------------------------------------------------------------------- */

/* Differences across the quad of the square of x + 3 y, by permutes that helpers take part in. */
static const char derivatives[] =
	"clause wait=0 {\n"
	"	*NOP\n"
	"	+LD_VAR_IMM.f32.store.center.v2 zero.w0, index:0, @r4\n"
	"}\n"
	"clause wait=0 {\n"
	"	*FMA.f32 t0, r5, 0x40400000, r4\n"
	"	+NOP\n"
	"	*FMA.f32 r4:t0, t0, t0, #0.neg\n"
	"	+NOP\n"
	"}\n"
	"clause {\n"
	"	*NOP\n"
	"	+CLPER.i32.xor.subgroup4.zero r0:t1, r4, 0x1\n"
	"	*NOP\n"
	"	+CLPER.i32.xor.subgroup4.zero r1:t1, r4, 0x2\n"
	"}\n"
	STORE("r0")
	PIPE_FINISH;

static void test_helpers(void)
{
	start(derivatives);
	position_prim();
	/* one pixel of the first quad, three of the second, a whole one */
	pipe_quad(p, 0, 0, 0)->coverage = 1ull << 32;
	pipe_quad(p, 8, 0, 0)->coverage = 1ull << 48 | 1ull << 16 | 1;
	pipe_quad(p, 20, 0, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	ktap_eq(p->stats.fragments, 8);
	ktap_eq(p->stats.helpers, 4);
	for (unsigned int n = 0; n < 12; n++) {
		static const unsigned int left[] = { 0, 8, 20 };
		unsigned int x = left[n / 4] + n % 2, y = n / 2 % 2;
		float px = (x ^ 1) + 0.5f + 3 * (y + 0.5f), py = x + 0.5f + 3 * ((y ^ 1) + 0.5f);
		bool covered = p->f->quad[n / 4].coverage >> 16 * (n % 4) & 1;

		ktap_eq(p->f->coverage[0].u[n], covered);
		ktap_eq(p->f->written[0][0] >> n & 1, covered);
		ktap_eq(stored(x, y), covered ? as_word(px * px) : 0);
		if (!covered)
			continue;
		ktap_ok(color(n, 0) == px * px);
		ktap_ok(color(n, 1) == py * py);
	}
	pipe_free(p);
	/* without helpers the other pixels are not there: what is asked of them is 0 */
	start(derivatives);
	p->state.shader.helpers = false;
	position_prim();
	pipe_quad(p, 0, 0, 0)->coverage = 1ull << 32 | 1ull << 48;
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	ktap_eq(p->stats.fragments, 2);
	ktap_eq(p->stats.helpers, 0);
	ktap_ok(color(2, 0) == 36 && color(2, 1) == 0);
	ktap_eq(p->f->written[0][0], 0xc);
	pipe_free(p);
}

/* A pixel is a fragment for any one of its samples, and the other three are its helpers. */
static void test_one_sample(void)
{
	start(derivatives);
	p->state.samples_log2 = 4;
	position_prim();
	for (unsigned int n = 0; n < 64; n++) {
		p->f->quads = 0;
		pipe_quad(p, 0, 0, 0)->coverage = 1ull << n;
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		if (!ktap_eq(p->stats.fragments, 1) || !ktap_eq(p->stats.helpers, 3) ||
		    !ktap_eq(p->f->written[0][0], 1u << n / 16))
			ktap_note("sample %u of pixel %u", n % 16, n / 16);
	}
	pipe_free(p);
}

/* A program that runs after fragments on the same thread has no helper threads. */
static void test_no_helpers(void)
{
	static const char record[] =
		"clause end {\n"
		"	*NOP\n"
		"	+STORE.i128 r58, r59, @r60\n"
		"}\n";

	start(derivatives);
	position_prim();
	pipe_quad(p, 0, 0, 0)->coverage = 1ull << 32;
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	ktap_eq(p->stats.helpers, 3);
	p->v->program = pipe_text(p, 0, TSR_STAGE_POSITION, record);
	p->v->threads = p->v->records = 8;
	for (unsigned int n = 0; n < 8; n++) {
		p->v->vertex[n] = 100 + n;
		p->v->slot[n] = n;
	}
	ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < 8; n++)
		ktap_eq(p->v->record[n][0] >> 32, 100 + n);
	pipe_free(p);
}

/* Loads of helpers that would fault read 0, of others are precise faults. */
static void test_helper_loads(void)
{
	static const char text[] =
		"clause wait=0 {\n"
		"	*SHADDXL.u32 t0, u0.w0, r59, shift:2\n"
		"	+SHADDXH.i32 t1, u0.w1, t\n"
		"	+LOAD.i32 t0, t1, @r0\n"
		"}\n"
		"clause wait=0 {\n"
		"	*NOP\n"
		"	+CLPER.i32.xor.subgroup4.zero r1:t1, r0, 0x1\n"
		"}\n"
		PIPE_FINISH;

	start(text);
	/* the last pixel that is mapped, and the first one after it */
	p->push[0] = (uint32_t)(PIPE_DATA + PIPE_DATA_SIZE - 4 * 11);
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, text);
	memcpy(p->data + PIPE_DATA_SIZE - 4, &(uint32_t){ 77 }, 4);
	pipe_prim(p, 3);
	pipe_quad(p, 10, 0, 0)->coverage = 1;
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	ktap_eq(tsr_fragments_color(p->f, 0, 0, 0)->u[0], 77);
	ktap_eq(tsr_fragments_color(p->f, 0, 1, 0)->u[0], 0);
	tsr_fragments_begin(p->f, &p->state);
	pipe_prim(p, 3);
	pipe_quad(p, 10, 0, 0)->coverage = 1ull << 16;
	ktap_eq(pipe_fragments(p), TSR_STEP_FAULT);
	ktap_eq(p->sh->fault.code, TSR_FAULT_MMU_UNMAPPED);
	ktap_eq(p->sh->fault.addr, PIPE_DATA + PIPE_DATA_SIZE);
	ktap_eq(p->sh->fault.group[0], 11);
	ktap_eq(p->sh->fault.group[1], 0);
	ktap_eq(p->sh->fault.group[2], 7);
	ktap_eq(p->sh->fault.clause, p->state.program->state.code);
	/* the next bundle is not disturbed */
	tsr_fragments_begin(p->f, &p->state);
	pipe_prim(p, 3);
	pipe_quad(p, 10, 0, 0)->coverage = 1;
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	pipe_free(p);
}

/*
 * R1 to R8 are 17. R4 to R7 are loaded with four words, and the test shows those of the neighbor.
 */
#define LOAD_FOUR(a, b, c, d) \
	"clause {\n" \
	"	*MOV.i32 r1, 0x11\n" \
	"	+MOV.i32 r2, 0x11\n" \
	"	*MOV.i32 r3, 0x11\n" \
	"	+MOV.i32 r4, 0x11\n" \
	"	*MOV.i32 r5, 0x11\n" \
	"	+MOV.i32 r6, 0x11\n" \
	"	*MOV.i32 r7, 0x11\n" \
	"	+NOP\n" \
	"}\n" \
	"clause {\n" \
	"	*MOV.i32 r8, 0x11\n" \
	"	+NOP\n" \
	"}\n" \
	"clause wait=0 {\n" \
	"	*SHADDXL.u32 t0, u0.w0, r59, shift:4\n" \
	"	+SHADDXH.i32 t1, u0.w1, t\n" \
	"	+LOAD.i128 t0, t1, @r4\n" \
	"}\n" \
	"clause wait=0 {\n" \
	"	*NOP\n" \
	"	+CLPER.i32.xor.subgroup4.zero r9:t1, " a ", 0x1\n" \
	"	*NOP\n" \
	"	+CLPER.i32.xor.subgroup4.zero r10:t1, " b ", 0x1\n" \
	"	*NOP\n" \
	"	+CLPER.i32.xor.subgroup4.zero r11:t1, " c ", 0x1\n" \
	"	*NOP\n" \
	"	+CLPER.i32.xor.subgroup4.zero r12:t1, " d ", 0x1\n" \
	"	*MOV.i32 r0, r9\n" \
	"	+NOP\n" \
	"	*MOV.i32 r1, r10\n" \
	"	+NOP\n" \
	"}\n" \
	"clause {\n" \
	"	*MOV.i32 r2, r11\n" \
	"	+NOP\n" \
	"	*MOV.i32 r3, r12\n" \
	"	+NOP\n" \
	"}\n" \
	PIPE_FINISH

/* All words of a helper's load that would fault are 0, and no other register is. */
static void test_helper_words(void)
{
	static const char *const text[] = {
		LOAD_FOUR("r4", "r5", "r6", "r7"), LOAD_FOUR("r1", "r2", "r3", "r8"),
	};

	for (unsigned int i = 0; i < 2; i++) {
		start(text[i]);
		p->push[0] = (uint32_t)(PIPE_DATA + PIPE_DATA_SIZE - 16 * 11);
		p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, text[i]);
		pipe_prim(p, 3);
		pipe_quad(p, 10, 0, 0)->coverage = 1;
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		for (unsigned int c = 0; c < 4; c++)
			ktap_eq(tsr_fragments_color(p->f, 0, c, 0)->u[0], i ? 17 : 0);
		pipe_free(p);
	}
}

/* ---- Coverage -------------------------------------------------------------------------------- */

/* Fragments with x < 2.5 are discarded. */
static void test_discard(void)
{
	static const char text[] =
		"clause wait=0 {\n"
		"	*NOP\n"
		"	+LD_VAR_IMM.f32.store.center.v2 zero.w0, index:0, @r0\n"
		"}\n"
		"clause wait=0 {\n"
		"	*NOP\n"
		"	+DISCARD.f32.lt r0, u1.w0\n"
		"}\n"
		"clause {\n"
		"	*NOP\n"
		"	+CLPER.i32.xor.subgroup4.zero r1:t1, r0, 0x1\n"
		"}\n"
		STORE("r1")
		PIPE_FINISH;
	uint64_t clauses;

	start(text);
	position_prim();
	pipe_quad(p, 0, 0, 0);
	pipe_quad(p, 2, 0, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	ktap_eq(p->stats.fragments, 8);
	for (unsigned int n = 0; n < 8; n++) {
		unsigned int x = n / 4 * 2 + n % 2;
		bool stays = x + 0.5f >= 2.5f;

		ktap_eq(p->f->coverage[0].u[n], stays);
		ktap_eq(p->f->written[0][0] >> n & 1, stays);
		ktap_eq(stored(x, n / 2 % 2), stays ? as_word((x ^ 1) + 0.5f) : 0);
	}
	clauses = p->stats.clauses;
	/* a warp without threads ends after DISCARD */
	tsr_fragments_begin(p->f, &p->state);
	position_prim();
	pipe_quad(p, 0, 0, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	ktap_eq(p->stats.clauses, 2);
	ktap_eq(clauses, 6);
	ktap_eq(p->f->coverage[0].u[0], 0);
	pipe_free(p);
}

/* ATEST takes samples away; ZS_EMIT and three targets. */
static void test_outputs(void)
{
	static const char text[] =
		"clause {\n"
		"	*MOV.i32 r0, 0x3f000000\n"
		"	+MOV.i32 r1, r59\n"
		"	*MOV.i32 r2, r57\n"
		"	+MOV.i32 r3, r58\n"
		"	*NOP\n"
		"	+NOP\n"
		"}\n"
		"clause wait=0 {\n"
		"	*NOP\n"
		"	+ZS_EMIT.stencil.z r0, r1, r60, @r60\n"
		"}\n"
		"clause wait=0 {\n"
		"	*LSHIFT_AND.i32 r61, r60, 0x6, 0x0.b0\n"
		"	+NOP\n"
		"}\n"
		"clause wait=0 td {\n"
		"	*NOP\n"
		"	+ATEST r49:t1, r61, zero.w0, @r60\n"
		"}\n"
		"clause wait=0 {\n"
		"	*NOP\n"
		"	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n"
		"}\n"
		"clause {\n"
		"	*NOP\n"
		"	+BLEND r48:t1, r49, blend2.w0, blend2.w1, @r1\n"
		"}\n"
		"clause end {\n"
		"	*NOP\n"
		"	+BLEND r48:t1, r60, blend1.w0, blend1.w1, @r0\n"
		"}\n";
	struct tsr_fragments *f;

	start(text);
	f = p->f;
	p->state.samples_log2 = 2;
	p->state.blend[2] = p->state.blend[0] | 2u << 16;
	p->state.dual_source = true;
	pipe_prim(p, 3)->prim.front = false;
	pipe_quad(p, 4, 2, 0)->coverage = 0x000f000300040009;
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < 4; n++) {
		uint32_t samples = 0x000f000300040009 >> 16 * n & 0xffff;
		uint32_t where = (4 + n % 2) | (2 + n / 2) << 16;

		ktap_eq(f->coverage[0].u[n], samples & 6);
		ktap_ok(f->depth[0].f[n] == 0.5f);
		ktap_eq(f->stencil[0].u[n], where);
		ktap_eq(f->blend_coverage_at[0][0].u[n], samples & 6);
		ktap_eq(f->blend_coverage_at[2][0].u[n], samples & 6);
		ktap_eq(tsr_fragments_color(f, 0, 1, 0)->u[n], where);
		ktap_eq(tsr_fragments_color(f, 0, 2, 0)->u[n], 7);
		ktap_eq(tsr_fragments_color(f, 0, 3, 0)->u[n], 1);
		ktap_eq(tsr_fragments_color(f, 2, 0, 0)->u[n], where);
		ktap_eq(tsr_fragments_color(f, 2, 2, 0)->u[n], 1);
	}
	ktap_eq(f->depth_written[0], 0xf);
	ktap_eq(f->stencil_written[0], 0xf);
	ktap_eq(f->written[0][0], 0xf);
	ktap_eq(f->written[1][0], 0);
	ktap_eq(f->written[2][0], 0xf);
	ktap_eq(f->written[TSR_RENDER_TARGETS_MAX][0], 0xf);
	ktap_eq(f->blended[2], p->state.blend[2]);
	pipe_free(p);
}

/* Descriptors of BLEND that are made by the program, one word or both: each warp has its own. */
static void made_descriptor(const char *low, const char *high)
{
	char text[1000];

	/* target 1 for warps with bit 3 of x, else target 0 */
	snprintf(text, sizeof(text),
		 "clause {\n"
		 "	*LSHIFT_AND.i32 t0, r59, 0x10000, 0xd.b0\n"
		 "	+NOP\n"
		 "	*NOP\n"
		 "	+IADD.s32 r4, t0, blend0.w0\n"
		 "	*MOV.i32 r5, blend0.w1\n"
		 "	+NOP\n"
		 "	*MOV.i32 r0, r59\n"
		 "	+NOP\n"
		 "}\n"
		 "clause wait=0 td {\n"
		 "	*NOP\n"
		 "	+ATEST r60:t1, r60, zero.w0, @r60\n"
		 "}\n"
		 "clause end {\n"
		 "	*NOP\n"
		 "	+BLEND r48:t1, r60, %s, %s, @r0\n"
		 "}\n", low, high);
	start(text);
	p->state.blend[1] = p->state.blend[0] | 1u << 16;
	pipe_prim(p, 3);
	for (unsigned int i = 0; i < 12; i++)
		pipe_quad(p, 2 * i, 0, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < 48; n++) {
		const unsigned int w = n / 16, target = w % 2;

		ktap_eq(p->f->written[target][w] >> n % 16 & 1, 1);
		ktap_eq(p->f->written[!target][w] >> n % 16 & 1, 0);
		ktap_eq(tsr_fragments_color(p->f, target, 0, w)->u[n % 16] & 0xffff,
			n / 4 * 2 + n % 2);
	}
	pipe_free(p);
}

static void test_made_descriptors(void)
{
	made_descriptor("r4", "blend0.w1");
	made_descriptor("r4", "r5");
}

/*
 * BLEND @header of both colors, R0 to R3 and R4 to R7, which hold the pixel's place; then they are
 * written again. @kept: BLEND has read them before.
 */
static void overwritten(const char *header, bool kept)
{
	char text[1000];

	snprintf(text, sizeof(text),
		 "clause {\n"
		 "	*MOV.i32 r1, r59\n"
		 "	+NOP\n"
		 "	*MOV.i32 r5, r59\n"
		 "	+NOP\n"
		 "	*NOP\n"
		 "	+NOP\n"
		 "}\n"
		 "clause wait=0 td {\n"
		 "	*NOP\n"
		 "	+ATEST r60:t1, r60, zero.w0, @r60\n"
		 "}\n"
		 "clause slot=3 %s {\n"
		 "	*NOP\n"
		 "	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n"
		 "}\n"
		 "clause {\n"
		 "	*MOV.i32 r1, 0x7\n"
		 "	+NOP\n"
		 "	*MOV.i32 r5, 0x9\n"
		 "	+NOP\n"
		 "	*NOP\n"
		 "	+NOP\n"
		 "}\n"
		 "clause end {\n"
		 "	*NOP\n"
		 "}\n", header);
	start(text);
	p->state.dual_source = true;
	pipe_prim(p, 3);
	for (unsigned int i = 0; i < 12; i++)
		pipe_quad(p, 2 * i, 0, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < 48; n++) {
		const unsigned int w = n / 16, lane = n % 16, x = n / 4 * 2 + n % 2, y = n / 2 % 2;
		const union tsr_lanes *second =
			tsr_fragments_color(p->f, TSR_RENDER_TARGETS_MAX, 1, w);

		ktap_eq(p->f->written[0][w] >> lane & 1, 1);
		ktap_eq(tsr_fragments_color(p->f, 0, 1, w)->u[lane], kept ? x | y << 16 : 7);
		ktap_eq(second->u[lane], kept ? x | y << 16 : 9);
	}
	pipe_free(p);
}

static void test_blend_staging(void)
{
	const bool early = !config || !config->late_messages;

	overwritten("", early);
	overwritten("staging_barrier", true);
	overwritten("wait=3", true);
	overwritten("wait=2", early);
}

/* Threads of a quad end with different BLENDs; the later ones go on writing registers. */
static void test_two_ends(void)
{
	static const char text[] =
		"clause {\n"
		"	*MOV.i32 r0, r59\n"
		"	+NOP\n"
		"	*MOV.i32 r8, 0x3f000000\n"
		"	+NOP\n"
		"	*LSHIFT_AND.i32 r4, r59, 0x1, 0x0.b0\n"
		"	+NOP\n"
		"}\n"
		"clause wait=0 flow=nbtb_unconditional {\n"
		"	*NOP\n"
		"	+BRANCHZ.i32.ne r4, other\n"
		"}\n"
		"clause end {\n"
		"	*NOP\n"
		"	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n"
		"}\n"
		"other:\n"
		"clause {\n"
		"	*MOV.i32 r0, 0x40000000\n"
		"	+NOP\n"
		"	*MOV.i32 r9, r59\n"
		"	+NOP\n"
		"}\n"
		"clause end {\n"
		"	*NOP\n"
		"	+BLEND r48:t1, r9, blend0.w0, blend0.w1, @r8\n"
		"}\n";

	start(text);
	pipe_prim(p, 3);
	for (unsigned int i = 0; i < 7; i++)
		pipe_quad(p, 2 * i, 6, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < 28; n++) {
		uint32_t where = (n / 4 * 2 + n % 2) | (6 + n / 2 % 2) << 16;
		unsigned int w = n / 16, l = n % 16;

		ktap_eq(p->f->written[0][w] >> l & 1, 1);
		ktap_eq(tsr_fragments_color(p->f, 0, 0, w)->u[l], n % 2 ? 0x3f000000 : where);
		ktap_eq(tsr_fragments_color(p->f, 0, 1, w)->u[l], n % 2 ? where : 0);
		ktap_eq(p->f->blend_coverage_at[0][w].u[l], n % 2 ? where : 1);
	}
	pipe_free(p);
}

/* ---- Blend programs -------------------------------------------------------------------------- */

/* Adds the pixel to the color, stores it and goes back. */
static const char blender[] =
	"clause {\n"
	"	*MOV.i32 r8, 0xff000000\n"
	"	+NOP\n"
	"	*MOV.i32 r9, u2.w0\n"
	"	+NOP\n"
	"}\n"
	"clause wait=0 {\n"
	"	*NOP\n"
	"	+LD_TILE.v4 r8, r60, r9, @r4\n"
	"}\n"
	"clause wait=0 {\n"
	"	*FADD.f32 r0, r0, r4\n"
	"	+NOP\n"
	"	*FADD.f32 r1, r1, r5\n"
	"	+NOP\n"
	"	*FADD.f32 r2, r2, r6\n"
	"	+NOP\n"
	"	*FADD.f32 r3, r3, r7\n"
	"	+NOP\n"
	"}\n"
	"clause wait=0 {\n"
	"	*NOP\n"
	"	+ST_TILE.v4 r8, r60, r9, @r0\n"
	"}\n"
	"clause flow=nbtb {\n"
	"	*NOP\n"
	"	+JUMP r48\n"
	"}\n";

static unsigned int tests;

static void settle(struct tsr_tile *tile, unsigned int warp, uint16_t lanes)
{
	(void)tile;
	tests++;
	/* lanes that store: the second to fourth pixel of the only quad */
	ktap_eq(warp, 0);
	ktap_eq(lanes, 14);
	/* nothing is left of what has been discarded; the third pixel fails */
	ktap_eq(p->f->coverage[0].u[0], 0);
	p->f->coverage[0].u[2] = 0;
}

static const char blends[] =
	"clause {\n"
	"	*MOV.i32 r0, 0x3f800000\n"
	"	+MOV.i32 r1, 0x40000000\n"
	"	*MOV.i32 r2, 0x40800000\n"
	"	+MOV.i32 r3, 0x41000000\n"
	"	*NOP\n"
	"	+NOP\n"
	"}\n"
	"clause td wait=0 {\n"
	"	*NOP\n"
	"	+ATEST r60:t1, r60, zero.w0, @r60\n"
	"}\n"
	"clause {\n"
	"	*LSHIFT_OR.i32 r10, r59, 0x3f800000, 0x0.b0\n"
	"	+NOP\n"
	"}\n"
	"clause {\n"
	"	*NOP\n"
	"	+DISCARD.f32.lt r10, 0x3f800013\n"
	"}\n"
	"clause wait=0 {\n"
	"	*NOP\n"
	"	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n"
	"}\n"
	"back:\n"
	"clause wait=0 {\n"
	"	*NOP\n"
	"	+MOV.i32 r1, 0x1234\n"
	"}\n"
	STORE("r1")
	"clause end {\n"
	"	*NOP\n"
	"	+BLEND r48:t1, r60, blend1.w0, blend1.w1, @r0\n"
	"}\n";

static void test_blend_program(void)
{
	static float texels[64][4] __attribute__((aligned(16)));
	static struct tsr_tile tile;
	uint32_t back, target;

	start(blends);
	/* R48: the clause behind BLEND, three clauses of 16, 32 or 48 bytes on */
	p->push[4] = TSR_REGISTER_TYPE_F32 << 24 | TSR_PIXEL_FORMAT_RGBA32F << 12;
	pipe_text(p, 2, TSR_STAGE_FRAGMENT, blender);
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, blends);
	target = PIPE_CODE + 2 * 0x10000 + 0x1000;
	back = pipe_label(blends, "back") + (uint32_t)p->state.program->state.code;
	/* bits 35:32 are not the address's */
	p->state.blend[0] = back | (uint64_t)(target | 15) << 32;
	tile = (struct tsr_tile){ .x = 16, .y = 0, .width = 8, .height = 8, .targets = 1 };
	tsr_format_find(&tile.format[0], TSR_PIXEL_FORMAT_RGBA32F, 0, false);
	tile.color[0] = (struct tsr_tile_target){ .data = (uint8_t *)texels, .pitch = 128 };
	memset(texels, 0, sizeof(texels));
	for (unsigned int i = 0; i < 64; i++)
		texels[i][0] = i;
	p->f->tile = &tile;
	p->f->settle = settle;
	tests = 0;
	pipe_prim(p, 3);
	/* the first pixel is discarded, at x = 18, y = 0 */
	pipe_quad(p, 18, 0, 0);
	if (!ktap_eq(pipe_fragments(p), TSR_STEP_DONE))
		ktap_note("fault %u at %llx", p->sh->fault.code,
			  (unsigned long long)p->sh->fault.clause);
	ktap_ok(tests > 0);
	for (unsigned int i = 0; i < 64; i++) {
		unsigned int x = i % 8, y = i / 8;
		bool hit = x == 3 && y < 2;

		ktap_ok(texels[i][0] == i + (hit ? 1 : 0));
		ktap_ok(texels[i][3] == (hit ? 8 : 0));
	}
	/* the stores were repeated */
	ktap_eq(stored(19, 0), 0x1234);
	ktap_eq(stored(18, 0), 0);
	pipe_free(p);
	/* return address 0: they end; a target that is off: nothing */
	start(blends);
	p->push[4] = TSR_REGISTER_TYPE_F32 << 24;
	pipe_text(p, 2, TSR_STAGE_FRAGMENT, blender);
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, blends);
	p->state.blend[0] = (uint64_t)target << 32;
	p->f->tile = &tile;
	pipe_prim(p, 3);
	pipe_quad(p, 18, 0, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	ktap_eq(stored(19, 0), 0);
	ktap_ok(texels[3][0] == 5);
	pipe_free(p);
}

/* ---- Stops and faults ------------------------------------------------------------------------ */

static void test_stops(void)
{
	static const char loop[] =
		"clause wait=0 {\n"
		"	*NOP\n"
		"	+LD_VAR_IMM.f32.store.center.v2 zero.w0, index:0, @r0\n"
		"}\n"
		"clause wait=0 {\n"
		"	*MOV.i32 r2, r59\n"
		"	+NOP\n"
		"}\n"
		"again:\n"
		"clause flow=nbtb_unconditional {\n"
		"	*NOP\n"
		"	+IADD.u32 r2:t1, r2, u3.w0\n"
		"	*NOP\n"
		"	+BRANCHZ.i32.ne t1, again\n"
		"}\n"
		PIPE_FINISH;
	struct tsr_fragments *f;

	start(loop);
	f = p->f;
	p->push[6] = UINT32_MAX;
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, loop);
	position_prim();
	for (unsigned int i = 0; i < 20; i++)
		pipe_quad(p, 2 * i + 2, 0, 0);
	p->budget = 64;
	/* row 1 takes 65536 rounds: stop long before */
	for (unsigned int i = 0; i < 20; i++)
		f->quad[i].coverage = 0x10001;
	p->state.shader.helpers = false;
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	ktap_ok(p->steps > 5);
	for (unsigned int n = 0; n < 80; n++) {
		if (n % 4 > 1)
			continue;
		ktap_ok(color(n, 0) == n / 4 * 2 + 2 + n % 2 + 0.5f);
		ktap_eq(tsr_fragments_color(f, 0, 2, n / 16)->u[n % 16], 0);
	}
	/* for ever, until it is given up */
	p->push[6] = 0;
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, loop);
	tsr_fragments_begin(f, &p->state);
	position_prim();
	pipe_quad(p, 2, 0, 0);
	p->mem.thread->budget = 1000;
	tsr_stage_enter(p->sh, &p->mem, 0);
	ktap_eq(tsr_fragment_run(p->sh, f), TSR_STEP_MORE);
	tsr_stage_leave(p->sh);
	tsr_stage_drop(&f->run);
	/* a limit of clauses is a fault */
	p->program.clause_limit = 50;
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, loop);
	ktap_eq(pipe_fragments(p), TSR_STEP_FAULT);
	ktap_eq(p->sh->fault.code, TSR_FAULT_SHADER_LIMIT);
	pipe_free(p);
}

/* Instructions that a stage does not have. */
static void test_unsupported(void)
{
	static const char *const texts[] = {
		"clause end {\n	*NOP\n"
		"	+LD_VAR_IMM.f32.store.center.v2 zero.w0, index:0, @r0\n}\n",
		"clause end {\n	*NOP\n	+ATEST r60:t1, r60, r0, @r60\n}\n",
		"clause end {\n	*NOP\n	+DISCARD.f32.lt r0, r1\n}\n",
		"clause end {\n	*NOP\n	+MOV.i32 r0, blend0.w0\n}\n",
	};
	static const char barrier[] =
		"clause slot=7 {\n	*NOP\n	+BARRIER\n}\n"
		"clause end wait=7 {\n	*NOP\n	+NOP\n}\n";

	p = pipe_new(config);
	for (unsigned int i = 0; i < 5; i++) {
		p->v->program = pipe_text(p, 0, TSR_STAGE_VARYING, i < 4 ? texts[i] : barrier);
		p->v->threads = 1;
		ktap_eq(pipe_vertices(p), TSR_STEP_FAULT);
		ktap_eq(p->sh->fault.code, TSR_FAULT_SHADER_UNSUPPORTED);
	}
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, barrier);
	tsr_fragments_begin(p->f, &p->state);
	pipe_prim(p, 3);
	pipe_quad(p, 0, 0, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_FAULT);
	ktap_eq(p->sh->fault.code, TSR_FAULT_SHADER_UNSUPPORTED);
	pipe_free(p);
}

static void run_all(void)
{
	ktap_run("[PIX1] [PIX3] [PIX8] helper pixels give derivatives and have no side effects",
		 test_helpers);
	ktap_run("[PIX1] one sample makes a fragment of a pixel", test_one_sample);
	ktap_run("[PIX1] what runs behind fragments has no helpers", test_no_helpers);
	ktap_run("[PIX1] loads of helpers cannot fault, others' faults are precise",
		 test_helper_loads);
	ktap_run("[PIX1] all words of a load that a helper cannot do are 0", test_helper_words);
	ktap_run("[PIX4] discarded fragments end at td; without others left the warp ends",
		 test_discard);
	ktap_run("[PIX5] [PIX9] coverage, depth, stencil, several colours; registers at entry",
		 test_outputs);
	ktap_run("[PIX9] descriptors of BLEND from registers, other ones in each warp",
		 test_made_descriptors);
	ktap_run("[PIX9] fragments of a bundle end in two places", test_two_ends);
	ktap_run("[ISA4] BLEND reads both colors late, bounded by barrier and wait",
		 test_blend_staging);
	ktap_run("[OM4] blend programs read and write the tile", test_blend_program);
	ktap_run("[PIX7] programs stop between clauses and go on", test_stops);
	ktap_run("[ISA10] instructions of other stages fault", test_unsupported);
}

int main(void)
{
	return pipe_main(&config, run_all);
}
