/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0 TIMEOUT=300
 *
 * Patches: hull shaders, the tessellator, domain shaders. Points are streamed and compared with
 * what tessellate.h says of the same factors (which tessellate.c compares with others' results),
 * in the order of patches; what shaders see is streamed, too.
 */
#include <stdio.h>
#include <string.h>

#include "geometry/tessellate.h"
#include "env.h"
#include "ktap.h"
#include "soup.h"
#include "staged.h"

#define NEEDED (STAGED_QUERIES + 0x100)
#define COUNTER STAGED_COUNTERS
#define STATISTIC(n) staged_word(STAGED_QUERIES + 8 * (TSR_PIPELINE_STATISTICS_##n##__QWORD))
#define STRIDE 48u

/*
 * Domain shader: u, v of its point, w, id, instance, thread and what it is of its patch to words
 * from 0x80 on; the position is u, v, 0, 1.
 */
#define FLOAT_1 "0x3f800000"
#define DOMAIN_BEGIN \
	"clause {\n*MOV.i32 r8, r60\n+NOP\n*MOV.i32 r9, r61\n+NOP\n*MOV.i32 r10, 0\n+NOP\n" \
	"*MOV.i32 r11, " FLOAT_1 "\n+NOP\n}\n" STAGED_AST(".v4", "0x870", "r8") \
	"clause {\n*MOV.i32 r10, r62\n+NOP\n*MOV.i32 r11, r57\n+NOP\n}\n" \
	STAGED_AST(".v4", "0x880", "r8") \
	"clause {\n*MOV.i32 r12, r58\n+NOP\n*MOV.i32 r13, r55\n+NOP\n*MOV.i32 r14, r0\n+NOP\n" \
	"*MOV.i32 r15, r1\n+NOP\n}\n" STAGED_AST(".v4", "0x890", "r12")
static const char domain_plain[] = DOMAIN_BEGIN STAGED_END;

static float factor[6];

static void put_vertices(void)
{
	for (unsigned int i = 0; i < STAGED_VERTICES; i++) {
		uint32_t *word = staged_vertex(i);

		for (unsigned int k = 0; k < 8; k++)
			word[k] = 1000 * i + k;
	}
}

static void declare(unsigned int word, unsigned int offset)
{
	staged.entry[staged.geometry.entries++] = (struct tsr_stream_entry){
		.word = word / 4, .components = 3, .offset = offset };
}

/* Patches of @points vertices; streams position and two vectors. */
static void start(const struct tsr_config *config, unsigned int points)
{
	staged_start(config);
	put_vertices();
	staged.geometry.domain = STAGED_LIST + STAGED_AT_PROGRAM + 0x80 * STAGED_DOMAIN;
	staged.geometry.patch_points = points;
	staged.geometry.primitives = TSR_PATCH_PRIMITIVES_TRIANGLES;
	staged_shader(STAGED_DOMAIN, domain_plain);
	staged.place[0] = (struct tsr_stream_target){
		.base = STAGED_OUT, .size = STAGED_OUT_SIZE, .stride = STRIDE,
		.counter = COUNTER };
	declare(0x70, 0);
	declare(0x80, 16);
	declare(0x90, 32);
}

static void set_factors(void)
{
	uint32_t word[6];

	memcpy(word, factor, sizeof(word));
	staged.geometry.factor_0 = word[0];
	staged.geometry.factor_1 = word[1];
	staged.geometry.factor_2 = word[2];
	staged.geometry.factor_3 = word[3];
	staged.geometry.factor_4 = word[4];
	staged.geometry.factor_5 = word[5];
}

static bool run(uint32_t vertices, uint32_t instances)
{
	uint64_t word[TSR_LIST_DRAW_QWORDS];

	memset(staged_data(STAGED_QUERIES), 0, 0x1000);
	memset(staged_data(COUNTER), 0, 8);
	staged_states();
	staged_query(TSR_QUERY_STATISTICS, 0, STAGED_QUERIES);
	staged_query(TSR_QUERY_STREAM, 0, NEEDED);
	staged_stream_out(true);
	tsr_pack_list_draw(word, &(struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_PATCHES, .count = vertices, .instances = instances });
	staged_packet(word, TSR_LIST_DRAW_QWORDS);
	if (ktap_ok(staged_bin()))
		return true;
	ktap_note("fault %u at %llx", bench_fault(&staged.queue[0]), (unsigned long long)
		  bench_queue_reg64(&staged.queue[0], TSR_QUEUE_FAULT_ADDR__OFFSET));
	return false;
}

static uint32_t as_word(uint32_t fixed)
{
	return staged_bits((float)fixed / TSR_TESS_ONE);
}

/* ---- What is expected ------------------------------------------------------------------------ */

struct expected {
	unsigned int primitives, corners, points;	/* of a patch */
	uint32_t at[TSR_TESS_POINTS_MAX][2];
	uint16_t corner[TSR_TESS_PRIMITIVES_MAX][3];
};

static struct expected want;

static void expect(void)
{
	const struct tsr_geometry_state *g = &staged.geometry;
	struct tsr_tessellation t;
	struct tsr_tess_walk walk;
	uint16_t corner[3];

	want.primitives = want.points = 0;
	want.corners = g->primitives + 1u;
	if (!tsr_tess_begin(&t, g->shape, g->partitioning, factor))
		return;
	want.points = t.points;
	for (unsigned int i = 0; i < t.points; i++)
		tsr_tess_point(&t, i, want.at[i]);
	if (g->primitives == TSR_PATCH_PRIMITIVES_POINTS) {
		for (; want.primitives < t.points; want.primitives++)
			want.corner[want.primitives][0] = (uint16_t)want.primitives;
		return;
	}
	tsr_tess_first(&t, &walk);
	while (tsr_tess_next(&t, &walk, corner)) {
		uint16_t *to = want.corner[want.primitives++];

		to[0] = corner[0];
		to[1] = corner[g->reversed && want.corners == 3 ? 2 : 1];
		to[2] = corner[g->reversed && want.corners == 3 ? 1 : 2];
	}
}

static const uint32_t *streamed(unsigned int n)
{
	return (const uint32_t *)staged_data(STAGED_OUT) + n * (STRIDE / 4);
}

/* Check the vertices that patch @id of @instance has captured from vertex @n on. */
static bool check_patch(unsigned int n, uint32_t id, uint32_t instance)
{
	for (unsigned int i = 0; i < want.primitives; i++) {
		for (unsigned int k = 0; k < want.corners; k++, n++) {
			const uint32_t *at = want.at[want.corner[i][k]], *got = streamed(n);
			const uint32_t w = staged.geometry.shape == TSR_PATCH_SHAPE_TRIANGLE ?
						   as_word(TSR_TESS_ONE - at[0] - at[1]) : 0;

			if (got[0] != as_word(at[0]) || got[1] != as_word(at[1]) || got[2] ||
			    got[3] != staged_bits(1) || got[4] != got[0] || got[5] != got[1] ||
			    got[6] != w || got[7] != id || got[8] != instance ||
			    got[9] != want.corner[i][k]) {
				ktap_note("primitive %u of patch %u, corner %u", i, id, k);
				return false;
			}
		}
	}
	return true;
}

/* ---- The tessellator, domain shaders --------------------------------------------------------- */

static float any_factor(struct soup *s)
{
	static const float usual[] = { 0.5f, 1, 1.5f, 2, 3, 4.75f, 7, 16, 33, 64, 70 };

	return soup_below(s, 4) ? (float)soup_between(s, 1, 1 << 20) / (1 << 16) :
				  usual[soup_below(s, 11)];
}

/* Factors of the state. */
static void test_factors(void)
{
	struct soup s = soup_new(9);
	uint64_t invocations = 0;

	start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 3);
	for (unsigned int i = 0; i < 120; i++) {
		struct tsr_geometry_state *g = &staged.geometry;
		const unsigned int patches = 1 + (unsigned int)soup_below(&s, i % 10 ? 4 : 90);
		unsigned int corners;

		for (unsigned int k = 0; k < 6; k++)
			factor[k] = i % 10 ? any_factor(&s) : 1 + (float)soup_below(&s, 3);
		if (i % 30 == 29)
			factor[i / 60] = i % 60 == 29 ? -1 : 0.0f / 0.0f;
		g->shape = i % 3;
		g->partitioning = i / 3 % 4;
		g->primitives = i % 7 == 6 ? 0 : g->shape == TSR_PATCH_SHAPE_ISOLINE ? 1 : 2;
		g->reversed = i & 1;
		staged.draw.discard = i & 2;
		staged.draw.provoking_last = i & 4;
		staged.slow = i % 16 == 15;
		set_factors();
		expect();
		corners = want.primitives * want.corners;
		if (2 * patches * corners * STRIDE > STAGED_OUT_SIZE)
			continue;
		if (!run(3 * patches + i % 3, 2))
			break;
		ktap_eq(staged_word(COUNTER), 2ull * patches * corners * STRIDE);
		ktap_eq(staged_word(NEEDED), 2ull * patches * want.primitives);
		for (unsigned int p = 0; p < 2 * patches; p++)
			if (!ktap_ok(check_patch(p * corners, p % patches, p / patches)))
				ktap_note("case %u: shape %u", i, g->shape);
		ktap_eq(STATISTIC(INPUT_PRIMITIVES), 2 * patches);
		ktap_eq(STATISTIC(HULL_PATCHES), 0);
		ktap_ok(STATISTIC(DOMAIN_INVOCATIONS) >= 2ull * patches * (want.primitives ?
			want.points : 0) || g->primitives);
		ktap_eq(STATISTIC(CLIPPING_INVOCATIONS), staged.draw.discard ? 0 :
			2ull * patches * want.primitives);
		invocations += STATISTIC(DOMAIN_INVOCATIONS);
	}
	ktap_eq(staged_counter(TSR_QUEUE_COUNTER_DOMAIN_INVOCATIONS), invocations);
	ktap_ok(staged_counter(TSR_QUEUE_COUNTER_PATCHES_CULLED) > 0);
	staged_stop();
}

/* Each point of a patch that fits in a block is shaded once. */
static void test_reuse(void)
{
	start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 1);
	staged.geometry.shape = TSR_PATCH_SHAPE_QUAD;
	for (unsigned int k = 0; k < 6; k++)
		factor[k] = 10;
	set_factors();
	expect();
	ktap_eq(want.points, 121);
	ktap_eq(want.primitives, 200);
	ktap_ok(run(1, 1));
	ktap_eq(STATISTIC(DOMAIN_INVOCATIONS), 121);
	/* small ones share a block, and none of its points: of 4, 32 to a block */
	for (unsigned int k = 0; k < 6; k++)
		factor[k] = 1;
	set_factors();
	ktap_ok(run(100, 1));
	ktap_eq(STATISTIC(DOMAIN_INVOCATIONS), 400);
	staged_stop();
}

/* ---- Hull shaders ---------------------------------------------------------------------------- */

/* r20 = the handle of vertex r55 of the patch, by the window: 0x5000000000000000 + 1024 * r55. */
#define ADDRESS(high) \
	"clause {\n*LSHIFT_OR.i32 r20, r55, #0, 0xa\n+NOP\n*MOV.i32 r21, " high "\n+NOP\n}\n"
static const char hull_lowered[] =
	ADDRESS("0x50000000")
	"clause {\n*NOP\n+IADD.u32 r22, r20, 0x80\n}\n"
	STAGED_MESSAGE("LOAD.i128 r22, r21, @r24")
	/* to its own control point, from which the thread's number is seen */
	ADDRESS("0x60000000")
	"clause {\n*NOP\n+IADD.u32 r22, r20, 0x80\n*MOV.i32 r24, r55\n+NOP\n}\n"
	STAGED_MESSAGE("STORE.i128 r22, r21, @r24")
	/* factors: push constants, equal for all threads */
	"clause {\n*MOV.i32 r24, u0.w0\n+NOP\n*MOV.i32 r25, u0.w1\n+NOP\n}\n"
	"clause {\n*MOV.i32 r26, u1.w0\n+NOP\n*MOV.i32 r27, u1.w1\n+NOP\n}\n"
	"clause {\n*MOV.i32 r28, u2.w0\n+NOP\n*MOV.i32 r29, u2.w1\n+NOP\n}\n"
	"clause {\n*MOV.i32 r22, 0\n+NOP\n*MOV.i32 r23, 0x70000000\n+NOP\n}\n"
	STAGED_MESSAGE("STORE.i128 r22, r23, @r24")
	"clause {\n*MOV.i32 r22, 0x10\n+NOP\n}\n"
	STAGED_MESSAGE("STORE.i64 r22, r23, @r28")
	/* behind the barrier: word 0x20 + 4 n of the patch is 7 more than that of thread n */
	"clause {\n*LSHIFT_OR.i32 t0, r55, #0, 0x2\n+NOP\n*NOP\n+IADD.u32 r22, t0, 0x20\n"
	"*NOP\n+IADD.u32 r24, r55, 0x7\n}\n"
	STAGED_MESSAGE("STORE.i32 r22, r23, @r24")
	"clause slot=7 wait=0,7 {\n*NOP\n+BARRIER\n}\n"
	/* thread n reads the word, and the control point, of thread n ^ 1 */
	"clause {\n*LSHIFT_XOR.i32 r25, r55, 0x1, #0\n+NOP\n}\n"
	"clause {\n*LSHIFT_OR.i32 t0, r25, #0, 0x2\n+NOP\n*NOP\n+IADD.u32 r22, t0, 0x20\n"
	"*LSHIFT_OR.i32 r20, r25, #0, 0xa\n+NOP\n}\n"
	STAGED_MESSAGE("LOAD.i32 r22, r23, @r24")
	"clause {\n*NOP\n+IADD.u32 r20, r20, 0x80\n}\n"
	STAGED_MESSAGE("LOAD.i32 r20, r21, @r25")
	"clause {\n*LSHIFT_OR.i32 r20, r55, #0, 0xa\n+NOP\n}\n"
	"clause {\n*NOP\n+IADD.u32 r20, r20, 0x90\n}\n"
	STAGED_MESSAGE("STORE.i64 r20, r21, @r24")
	STAGED_END;

/* The domain shader streams control point (point number modulo 4) instead of its second vector. */
static const char domain_points[] =
	DOMAIN_BEGIN
	"clause {\n*LSHIFT_AND.i32 r20, r55, 0x3, #0\n+NOP\n}\n"
	"clause {\n*LSHIFT_OR.i32 r20, r20, #0, 0xa\n+NOP\n*MOV.i32 r21, 0x50000000\n+NOP\n}\n"
	"clause {\n*NOP\n+IADD.u32 r22, r20, 0x80\n}\n"
	STAGED_MESSAGE("LOAD.i128 r22, r21, @r24")
	STAGED_AST(".v4", "0x8a0", "r24")
	"clause {\n*NOP\n+IADD.u32 r22, r20, 0x90\n}\n"
	STAGED_MESSAGE("LOAD.i64 r22, r21, @r24")
	STAGED_ALD(".v2", "0x1020", "r26")
	STAGED_AST(".v4", "0x8b0", "r24")
	STAGED_END;

static void test_hull(void)
{
	static const struct tsr_config config[] = {
		{ .cores = 1, .no_inline = true }, { .cores = 8, .late_messages = true },
	};
	struct soup s = soup_new(4);

	for (unsigned int i = 0; i < 24; i++) {
		const unsigned int points = i < 4 ? 4 : 4 + 2 * (unsigned int)soup_below(&s, 15);
		const unsigned int patches = 1 + (unsigned int)soup_below(&s, 40);
		unsigned int n = 0;

		start(&config[i % 2], points);
		staged.geometry.hull = STAGED_LIST + STAGED_AT_PROGRAM + 0x80 * STAGED_HULL;
		staged.header[STAGED_HULL].threads = points;
		staged.header[STAGED_HULL].extra_threads = i % 3 ? 0 : 32;
		staged.header[STAGED_HULL].patch_words = 3;
		staged.header[STAGED_DOMAIN].patch_words = 3;
		staged.header[STAGED_HULL].independent = i & 2;
		staged_shader(STAGED_HULL, hull_lowered);
		staged_shader(STAGED_DOMAIN, domain_points);
		staged.geometry.shape = TSR_PATCH_SHAPE_QUAD;
		staged.geometry.entries = 0;
		declare(0x80, 0);
		declare(0xa0, 16);
		declare(0xb0, 32);
		staged.slow = i % 4 == 3;
		staged.reloads = i % 8 == 7;
		for (unsigned int k = 0; k < 6; k++)
			factor[k] = 1 + (float)soup_below(&s, 6);
		memcpy(staged.push, factor, sizeof(factor));
		expect();
		if (!run(points * patches, 1))
			break;
		ktap_eq(staged_word(COUNTER), (uint64_t)patches * want.primitives * 3 * STRIDE);
		for (unsigned int p = 0; p < patches; p++) {
			bool good = true;

			for (unsigned int k = 0; k < 3 * want.primitives; k++, n++) {
				const unsigned int point = want.corner[k / 3][k % 3];
				const unsigned int c = point % 4, vertex = p * points + c;
				const uint32_t *got = streamed(n);

				good &= got[0] == as_word(want.at[point][0]) && got[3] == p;
				/* the vertex's attribute 1, but for its first word */
				good &= got[4] == c && got[5] == 1000 * vertex + 5 &&
					got[6] == 1000 * vertex + 6 && got[7] == 1000 * vertex + 7;
				good &= got[8] == (c ^ 1) + 7 && got[9] == (c ^ 1);
				good &= got[10] == 7 && got[11] == 8;
			}
			if (!ktap_ok(good))
				ktap_note("case %u, patch %u", i, p);
		}
		if (!staged.reloads)
			ktap_eq(STATISTIC(HULL_PATCHES), patches);
		staged_stop();
	}
}


/* ---- Stage I/O memory by messages ------------------------------------------------------------ */

/* One thread's words, to attribute 0 of what is streamed. */
#define SHOW STAGED_AST(".v4", "0x8a0", "r24") STAGED_END

/*
 * A patch of one vertex whose hull shader is @hull (NULL: none) and whose domain shader runs
 * @domain and shows r24 to r27.
 */
static void start_words(const char *hull, const char *domain, unsigned int threads)
{
	start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 3);
	staged.geometry.primitives = TSR_PATCH_PRIMITIVES_POINTS;
	staged.geometry.entries = 0;
	declare(0xa0, 0);
	for (unsigned int k = 0; k < 6; k++)
		factor[k] = 1 + (float)k;
	set_factors();
	if (hull) {
		staged.geometry.hull = STAGED_LIST + STAGED_AT_PROGRAM + 0x80 * STAGED_HULL;
		staged.header[STAGED_HULL].threads = threads;
		staged.header[STAGED_HULL].patch_words = 1;
		staged_shader(STAGED_HULL, hull);
	}
	staged.header[STAGED_DOMAIN].patch_words = 1;
	staged.draw.discard = true;
	staged_shader(STAGED_DOMAIN, domain);
}

static bool shows(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t *got = streamed(0);

	if (got[0] == a && got[1] == b && got[2] == c && got[3] == d)
		return true;
	ktap_note("got %x %x %x %x, not %x %x %x %x", got[0], got[1], got[2], got[3], a, b, c, d);
	return false;
}

/* Factors are there without a hull shader; words of the patch beyond them are 0. */
static void test_patch_words(void)
{
	static const char *const of[] = { "0x1000", "0x1010", "0x1018", "0x1020", "0x103c" };
	const uint32_t want[5][4] = {
		{ staged_bits(1), staged_bits(2), staged_bits(3), staged_bits(4) },
		{ staged_bits(5), staged_bits(6), 0, 0 }, { staged_bits(5), staged_bits(6), 0, 0 },
		{ 0 }, { 0 },
	};

	for (unsigned int i = 0; i < 5; i++) {
		char text[600];

		snprintf(text, sizeof(text),
			 "clause wait=0 {\n*NOP\n+ALD.v4 r63, r63, %s, @r24\n}\n" SHOW, of[i]);
		start_words(NULL, text, 0);
		if (run(3, 1))
			ktap_ok(shows(want[i][0], want[i][1], want[i][2], want[i][3]));
		staged_stop();
	}
}

/* Words of vertices: stored, defaults, not written, the device's; handles that are none. */
static void test_input_words(void)
{
	/* stage word with HANDLE; handle of vertex 0, or one that is none */
	static const struct {
		const char *word;
		bool none;
		uint32_t want[4];
	} it[] = {
		{ "0x4080", false, { 4, 5, 6, 7 } }, { "0x4070", false, { 0, 1, 2, 3 } },
		{ "0x4090", false, { TSR_STAGE_LEFTOVER, TSR_STAGE_LEFTOVER, TSR_STAGE_LEFTOVER,
				     TSR_STAGE_LEFTOVER } },
		{ "0x4080", true, { 0, 0, 0, 0 } }, { "0x4070", true, { 0, 0, 0, 0 } },
		{ "0x40b0", true, { 0, 0, 0, 0 } }, { "0x40b0", false, { 0, 0, 0, 0x3f800000 } },
		{ "0x42f0", false, { 0, 0x3f800000, TSR_STAGE_LEFTOVER, TSR_STAGE_LEFTOVER } },
		{ "0x42f0", true, { 0, 0x3f800000, 0, 0 } },
		{ "0x4060", true, { 0, 0, 0, 0 } },
	};

	for (unsigned int i = 0; i < 2 * sizeof(it) / sizeof(it[0]); i++) {
		const unsigned int n = i / 2;
		const bool trap = i & 1;
		char text[600];

		snprintf(text, sizeof(text), "clause {\n*%s\n+NOP\n}\n"
			 "clause wait=0 {\n*NOP\n+ALD.v4 r63, r63, %s, @r24\n}\n" SHOW,
			 it[n].none ? "MOV.i32 r63, 0x80" : "RSHIFT_AND.i32 r63, r0, 0xff, #0",
			 it[n].word);
		start_words(NULL, text, 0);
		staged.header[STAGED_DOMAIN].trap_handles = trap;
		/* 0xb0 to 0xbf are not mapped */
		staged.header[STAGED_DOMAIN].imap_0 &= ~(15ull << 0xb0 / 4);
		staged_states();
		if (trap && it[n].none) {
			staged_stream_out(true);
			staged_draw(TSR_TOPOLOGY_PATCHES, 3);
			ktap_ok(!staged_bin());
			ktap_eq(bench_fault(&staged.queue[0]), TSR_FAULT_SHADER_BOUNDS);
		} else if (run(3, 1)) {
			if (!ktap_ok(shows(it[n].want[0], it[n].want[1], it[n].want[2],
					   it[n].want[3])))
				ktap_note("%s", it[n].word);
		}
		staged_stop();
	}
}

/* Everything by messages: control points by handle, the patch by index, AL2P. */
static void test_messages(void)
{
	/* vertex (2 - thread) of the patch, by its handle; control point = it, with the thread */
	static const char swap[] =
		"clause {\n*NOP\n+ISUB.u32 r20, 0x2, r55\n}\n"
		"clause {\n*LSHIFT_OR.i32 r20, r20, #0, 0x3\n+NOP\n}\n"
		"clause {\n*RSHIFT_AND.i32 r63, r0, 0xff, r20\n+NOP\n}\n"
		STAGED_ALD(".v4", "0x4080", "r24")
		"clause {\n*MOV.i32 r24, r55\n+NOP\n}\n"
		STAGED_AST(".v4", "0x880", "r24")
		/* factor n = 1 for all; word 0x20 + 4 n = 9 + n, by index: 0x24 + (4 n - 4) */
		"clause {\n*MOV.i32 r28, 0x3f800000\n+NOP\n*MOV.i32 r29, 0x3f800000\n+NOP\n"
		"*MOV.i32 r30, 0x3f800000\n+NOP\n*MOV.i32 r31, 0x3f800000\n+NOP\n}\n"
		STAGED_AST(".v4", "0x1800", "r28") STAGED_AST(".v2", "0x1810", "r28")
		"clause {\n*LSHIFT_OR.i32 r62, r55, #0, 0x2\n+NOP\n"
		"*NOP\n+IADD.u32 r62, t0, 0xfffffffc\n"
		"*NOP\n+IADD.u32 r24, r55, 0x9\n}\n"
		"clause wait=0 {\n*NOP\n+AST r62, r63, 0x3824, @r24\n}\n"
		"clause slot=7 wait=0,7 {\n*NOP\n+BARRIER\n}\n"
		/* control point (n + 1) & 1, and the word of thread 2, to the own one */
		"clause {\n*LSHIFT_XOR.i32 r63, r55, 0x1, #0\n+NOP\n}\n"
		"clause {\n*LSHIFT_AND.i32 r63, r63, 0x1, #0\n+NOP\n}\n"
		STAGED_ALD("", "0x4880", "r24") STAGED_ALD("", "0x1028", "r25")
		STAGED_AST(".v2", "0x890", "r24")
		STAGED_END;
	/* control point 2's second attribute, by AL2P */
	static const char domain[] =
		"clause {\n*RSHIFT_AND.i32 r63, r0, 0xff, 0x10\n+NOP\n*MOV.i32 r62, 0x10\n+NOP\n}\n"
		"clause wait=0 {\n*NOP\n+AL2P.v2 r62, r63, 0x2080, @r20\n}\n"
		"clause wait=0 {\n*NOP\n+ALD.v2 r20, r63, 0x6000, @r24\n}\n"
		STAGED_ALD("", "0x4084", "r26")
		"clause {\n*MOV.i32 r62, 0xfffffffc\n+NOP\n}\n"
		"clause wait=0 {\n*NOP\n+ALD r62, r63, 0x3024, @r27\n}\n"
		SHOW;

	for (unsigned int i = 0; i < 2; i++) {
		start_words(swap, domain, 3);
		staged.slow = i;
		if (run(3, 1))
			/* point 2: of thread 1 the number, word 11; vertex 0's; word 9 */
			ktap_ok(shows(1, 11, 5, 9));
		ktap_eq(STATISTIC(HULL_PATCHES), 1);
		staged_stop();
	}
}

/* Threads of hull shaders cannot access control points of others, or invalid ones. */
static void test_own_points(void)
{
	static const char hull[] =
		"clause {\n*MOV.i32 r24, r55\n+NOP\n*MOV.i32 r25, 0x5\n+NOP\n"
		"*MOV.i32 r26, 0x6\n+NOP\n*MOV.i32 r27, 0x7\n+NOP\n}\n"
		STAGED_MESSAGE("AST.v4 a[0x80], @r24")
		"clause {\n*MOV.i32 r28, 0x3f800000\n+NOP\n*MOV.i32 r29, 0x3f800000\n+NOP\n"
		"*MOV.i32 r30, 0x3f800000\n+NOP\n*MOV.i32 r31, 0x3f800000\n+NOP\n}\n"
		STAGED_MESSAGE("AST.p.v4 a[0], @r28") STAGED_MESSAGE("AST.p.v4 a[0x10], @r28")
		/* to word 1 of the other one; that of control point 2 */
		"clause {\n*LSHIFT_XOR.i32 r20, r55, 0x1, #0\n+NOP\n}\n"
		"clause {\n*LSHIFT_OR.i32 t0, r20, #0, 0xa\n+NOP\n*NOP\n+IADD.u32 r20, t0, 0x84\n"
		"*MOV.i32 r21, 0x60000000\n+NOP\n}\n"
		STAGED_MESSAGE("STORE.i32 r20, r21, @r27")
		"clause slot=7 wait=0,7 {\n*NOP\n+BARRIER\n}\n"
		"clause {\n*MOV.i32 r22, 0x2\n+NOP\n}\n"
		STAGED_MESSAGE("ALD.o a[0x80], r22, @r26") STAGED_MESSAGE("ALD.p a[0x18], @r27")
		STAGED_MESSAGE("AST.v2 a[0x88], @r26") STAGED_END;
	static const char domain[] =
		"clause {\n*RSHIFT_AND.i32 r63, r0, 0xff, 0x8\n+NOP\n}\n"
		STAGED_MESSAGE("ALD.v4 a[0x80], r63, @r24") SHOW;

	for (unsigned int i = 0; i < 2; i++) {
		start_words(hull, domain, 2);
		staged.header[STAGED_HULL].trap_handles = i;
		if (!i && run(9, 1))
			ktap_ok(shows(1, 5, 0, 0));
		if (i) {
			staged_states();
			staged_draw(TSR_TOPOLOGY_PATCHES, 9);
			ktap_ok(!staged_bin());
			ktap_eq(bench_fault(&staged.queue[0]), TSR_FAULT_SHADER_BOUNDS);
		}
		staged_stop();
	}
}

/* Stage words that a stage has not. */
static void test_encodings(void)
{
	static const struct {
		enum staged_stage stage;
		const char *text;
	} it[] = {
		{ STAGED_HULL, "ALD r63, r63, 0x80" }, { STAGED_HULL, "ALD r63, r63, 0x8080" },
		{ STAGED_HULL, "ALD r63, r63, 0x4400" }, { STAGED_HULL, "AST r63, r63, 0x4880" },
		{ STAGED_HULL, "AST r63, r63, 0x80" }, { STAGED_HULL, "AST r63, r63, 0x1000" },
		{ STAGED_HULL, "AL2P r63, r63, 0x1000" }, { STAGED_HULL, "ALD r63, r63, 0x1400" },
		{ STAGED_DOMAIN, "ALD r63, r63, 0x80" }, { STAGED_DOMAIN, "ALD r63, r63, 0x1800" },
		{ STAGED_DOMAIN, "ALD r63, r63, 0x4880" },
		{ STAGED_DOMAIN, "AST r63, r63, 0x1800" },
		{ STAGED_DOMAIN, "AL2P r63, r63, 0x3000" },
		{ STAGED_DOMAIN, "ALD r63, r63, 0x6004" },
	};

	for (unsigned int i = 0; i < sizeof(it) / sizeof(it[0]); i++) {
		char text[300];
		uint32_t where;

		snprintf(text, sizeof(text), "clause wait=0 {\n*NOP\n+%s, @r24\n}\n" STAGED_END,
			 it[i].text);
		start_words(it[i].stage == STAGED_HULL ? text : NULL,
			    it[i].stage == STAGED_HULL ? domain_plain : text, 3);
		staged_states();
		staged_stream_out(true);
		staged_draw(TSR_TOPOLOGY_PATCHES, 3);
		if (!ktap_ok(!staged_bin()) ||
		    !ktap_eq(bench_fault(&staged.queue[0]), TSR_FAULT_SHADER_ENCODING))
			ktap_note("stage %u: %s", it[i].stage, it[i].text);
		where = (uint32_t)bench_queue_reg64(&staged.queue[0],
						    TSR_QUEUE_FAULT_SHADER__OFFSET);
		ktap_eq(where >> TSR_QUEUE_FAULT_SHADER_STAGE__SHIFT & 15, it[i].stage + 1);
		staged_stop();
	}
}

/* ---- Pictures -------------------------------------------------------------------------------- */

/* The domain shader: corners of a quad by its patch, which are positions of vertices 0 to 3. */
static const char domain_picture[] =
	/* x = 2 (u + id & 1) / 2 - 1, y likewise with id >> 1 */
	"clause {\n*LSHIFT_AND.i32 r20, r57, 0x1, #0\n+NOP\n"
	"*RSHIFT_AND.i32 r21, r57, 0x1, 0x1\n+NOP\n}\n"
	"clause {\n*NOP\n+U32_TO_F32.rtz r20, r20\n*NOP\n+U32_TO_F32.rtz r21, r21\n}\n"
	"clause {\n*FADD.f32 r8, r60, r20\n+NOP\n*FADD.f32 r9, r61, r21\n+NOP\n}\n"
	"clause {\n*FADD.f32 r8, r8, 0xbf800000\n+NOP\n*FADD.f32 r9, r9, 0xbf800000\n+NOP\n"
	"*MOV.i32 r10, 0\n+NOP\n*MOV.i32 r11, 0x3f800000\n+NOP\n}\n"
	STAGED_AST(".v4", "0x870", "r8")
	"clause {\n*MOV.i32 r12, r60\n+NOP\n*MOV.i32 r13, r61\n+NOP\n"
	"*MOV.i32 r14, 0x3f000000\n+NOP\n*MOV.i32 r15, 0x3f800000\n+NOP\n}\n"
	STAGED_AST(".v4", "0x880", "r12") STAGED_END;

/* Four patches that share edges cover the picture, each pixel once; the heap is the same. */
static void test_picture(void)
{
	static const struct tsr_config config[] = {
		{ .cores = 1, .no_inline = true }, { .cores = 2 },
		{ .cores = 8, .late_messages = true }, { .cores = 1, .simd = "sse2" },
		{ .cores = 1, .jit = TSR_JIT_USE_FIRST }, { .cores = 1, .jit = TSR_JIT_USE_OFF },
		/* other blocks: another heap, but the same picture */
		{ .cores = 1, .gfx_debug = TSR_GFX_NO_STAGES },
	};

	for (unsigned int n = 0; n < 8; n++) {
		for (unsigned int i = 0; i < 7; i++) {
			unsigned int drawn = 0;

			start(&config[i], 1);
			staged.geometry.entries = 0;
			staged.geometry.shape = TSR_PATCH_SHAPE_QUAD;
			staged.geometry.partitioning = n % 4;
			staged_shader(STAGED_DOMAIN, domain_picture);
			for (unsigned int k = 0; k < 6; k++)
				factor[k] = n < 4 ? 3.3f + 2 * (float)k : 40.7f;
			/* edges that patches share have one factor */
			factor[2] = factor[0];
			factor[3] = factor[1];
			set_factors();
			ktap_ok(run(4, 1));
			if ((n % 4 == 0 || !i) && !config[i].gfx_debug)
				ktap_ok(staged_same(!i));
			if (i && !config[i].gfx_debug)
				goto next;
			ktap_ok(staged_render());
			for (unsigned int k = 0; k < STAGED_WIDTH * STAGED_HEIGHT; k++)
				drawn += ((const uint32_t *)(void *)staged.target)[4 * k + 2] ==
					 0x3f000000;
			ktap_eq(drawn, STAGED_WIDTH * STAGED_HEIGHT);
			ktap_eq(STATISTIC(FRAGMENT_INVOCATIONS), STAGED_WIDTH * STAGED_HEIGHT);
next:
			staged_stop();
		}
	}
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refuse(unsigned int qword, uint64_t value, unsigned int code, bool state)
{
	start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 3);
	staged_states();
	staged_at(STAGED_AT_GEOMETRY)[qword] = value;
	staged_draw(TSR_TOPOLOGY_PATCHES, 3);
	ktap_ok(!staged_bin());
	ktap_eq(bench_fault(&staged.queue[0]), code);
	ktap_eq(bench_queue_reg64(&staged.queue[0], TSR_QUEUE_FAULT_ADDR__OFFSET),
		state ? STAGED_LIST + STAGED_AT_GEOMETRY + 8 * qword :
			STAGED_LIST + STAGED_AT_BIN_LIST + 32);
	staged_stop();
}

static void test_refused(void)
{
	const uint64_t hull = STAGED_LIST + STAGED_AT_PROGRAM + 0x80 * STAGED_HULL;
	uint64_t va;

	refuse(3, 3 | 3 << 8 | 2 << 12, TSR_FAULT_BAD_VALUE, true);	/* no shape */
	refuse(3, 3 | 3 << 12, TSR_FAULT_BAD_VALUE, true);	/* no primitives */
	refuse(3, 3 | 1 << 12, TSR_FAULT_BAD_VALUE, true);	/* lines of triangles */
	refuse(3, 3 | 2 << 8 | 2 << 12, TSR_FAULT_BAD_VALUE, true);	/* the other order */
	refuse(3, 2 << 12, TSR_FAULT_BAD_VALUE, true);		/* no points */
	refuse(1, 0, TSR_FAULT_BAD_VALUE, false);		/* nobody divides, but streams */
	/* a hull shader, and no domain shader */
	start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 3);
	staged_states();
	staged_at(STAGED_AT_GEOMETRY)[0] = hull;
	staged_at(STAGED_AT_GEOMETRY)[1] = 0;
	staged_draw(TSR_TOPOLOGY_PATCHES, 3);
	ktap_ok(!staged_bin());
	ktap_eq(bench_fault(&staged.queue[0]), TSR_FAULT_BAD_VALUE);
	staged_stop();
	/* other topologies; headers that are not there; positions */
	for (unsigned int i = 0; i < 4; i++) {
		start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 3);
		staged.geometry.hull = hull;
		if (i == 3)
			staged.header[STAGED_DOMAIN].omap_0 = ~(1ull << 0x78 / 4);
		staged_states();
		if (i == 1 || i == 2)
			staged_at(STAGED_AT_PROGRAM + 0x80 * i)[14] = 0;
		staged_draw(i ? TSR_TOPOLOGY_PATCHES : TSR_TOPOLOGY_TRIANGLES, 3);
		ktap_ok(!staged_bin());
		ktap_eq(bench_fault(&staged.queue[0]), TSR_FAULT_BAD_VALUE);
		va = i == 3 ? STAGED_AT_HEADER + 0x80 * STAGED_DOMAIN + 32 :
		     i ? STAGED_AT_PROGRAM + 0x80 * i + 8 * 14 : STAGED_AT_BIN_LIST + 32;
		ktap_eq(bench_queue_reg64(&staged.queue[0], TSR_QUEUE_FAULT_ADDR__OFFSET),
			STAGED_LIST + va);
		staged_stop();
	}
}

/* ---- Stopping -------------------------------------------------------------------------------- */

static void test_stop_work(void)
{
	static const char loop[] =
		"again:\nclause wait=0 {\n*NOP\n+ALD.v4 r63, r63, 0x1000, @r24\n}\n"
		"clause {\n*NOP\n+JUMP again\n}\n";
	static const char *const what[] = { "a hull shader", "a domain shader", "patches",
					    "small patches", "culled patches" };

	for (unsigned int i = 0; i < 5; i++) {
		start(&(struct tsr_config){ .cores = 1, .no_inline = true }, i == 3 ? 1 : 3);
		staged.geometry.shape = TSR_PATCH_SHAPE_QUAD;
		staged.geometry.hull = i ? 0 : STAGED_LIST + STAGED_AT_PROGRAM +
					       0x80 * STAGED_HULL;
		staged_shader(i ? STAGED_DOMAIN : STAGED_HULL, i < 2 ? loop : domain_plain);
		for (unsigned int k = 0; k < 6; k++)
			factor[k] = i == 3 ? 1 : i == 4 ? 0 : 64;
		set_factors();
		staged.place[0].size = 0;
		staged.draw.discard = true;
		staged_states();
		staged_stream_out(true);
		staged_draw(TSR_TOPOLOGY_PATCHES, 3u << 28);
		staged_stop_work(what[i], true);
		staged_stop();
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[TESS3] points and primitives of patches, in their order", test_factors);
	ktap_run("points are shaded once", test_reuse);
	ktap_run("[TESS1] control points, words of the patch, barriers", test_hull);
	ktap_run("[ALD4] words of patches", test_patch_words);
	ktap_run("[ALD3] words of vertices, by handle", test_input_words);
	ktap_run("[ALD5] control points and patches by index", test_messages);
	ktap_run("[ALD3] [TESS1] what hull shaders cannot reach", test_own_points);
	ktap_run("[ALD3] stage words that hull and domain shaders have not", test_encodings);
	ktap_run("[TESS3] patches without gaps, the same on any machine", test_picture);
	ktap_run("[TESS1] states that are refused", test_refused);
	ktap_run("[SYS7] BIN stops within STOP_WORK in patches", test_stop_work);
	return ktap_finish();
}
