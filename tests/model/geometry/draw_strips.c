/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0 TIMEOUT=300
 *
 * Geometry shaders: their input from every topology, with adjacency, and from patches. Random
 * vertices, cuts and streams are compared with a scalar model. Pictures, limits, and refused draws.
 */
#include <stdio.h>
#include <string.h>

#include "tsr_padding.h"
#include "env.h"
#include "fail_alloc.h"
#include "ktap.h"
#include "soup.h"
#include "staged.h"

#define NEEDED(stream) (STAGED_QUERIES + 0x100 + 16 * (stream))
#define COUNTER(n) (STAGED_COUNTERS + 8 * (uint64_t)(n))
#define STATISTIC(n) staged_word(STAGED_QUERIES + 8 * (TSR_PIPELINE_STATISTICS_##n##__QWORD))
#define STRIDE 16u

static void put_vertices(void)
{
	for (unsigned int i = 0; i < STAGED_VERTICES; i++) {
		for (unsigned int k = 0; k < 8; k++)
			staged_vertex(i)[k] = 100 * i + k;
	}
}

/* A draw with a geometry shader that streams 0x80 to 0x8f of each stream to its target. */
static void start(const struct tsr_config *config, unsigned int input, unsigned int output,
		  unsigned int streams, unsigned int most)
{
	struct tsr_stage_header *h = &staged.header[STAGED_GEOMETRY];

	staged_start(config);
	put_vertices();
	staged.geometry.geometry = STAGED_LIST + STAGED_AT_PROGRAM + 0x80 * STAGED_GEOMETRY;
	h->input = input;
	h->output = output;
	h->streams = streams;
	h->max_vertices = most;
	h->omap_0 = 0xffull << 0x70 / 4;
	h->omap_1 = h->omap_2 = h->omap_3 = 0;
	for (unsigned int s = 0; s < 4; s++) {
		staged.place[s] = (struct tsr_stream_target){
			.base = STAGED_OUT + s * (STAGED_OUT_SIZE / 4),
			.size = STAGED_OUT_SIZE / 4, .stride = STRIDE, .counter = COUNTER(s) };
		if (streams >> s & 1)
			staged.entry[staged.geometry.entries++] = (struct tsr_stream_entry){
				.word = 0x80 / 4, .components = 3, .stream = s, .target = s };
	}
	staged.draw.discard = true;
}

static bool run(unsigned int topology, uint32_t count, uint32_t instances)
{
	uint64_t word[TSR_LIST_DRAW_QWORDS];

	memset(staged_data(STAGED_QUERIES), 0, 0x1000);
	memset(staged_data(STAGED_COUNTERS), 0, 64);
	staged_states();
	staged_query(TSR_QUERY_STATISTICS, 0, STAGED_QUERIES);
	for (unsigned int s = 0; s < 4; s++)
		staged_query(TSR_QUERY_STREAM, s, NEEDED(s));
	staged_stream_out(true);
	tsr_pack_list_draw(word, &(struct tsr_list_draw){
		.topology = topology, .count = count, .instances = instances });
	staged_packet(word, TSR_LIST_DRAW_QWORDS);
	if (ktap_ok(staged_bin()))
		return true;
	ktap_note("fault %u at %llx", bench_fault(&staged.queue[0]), (unsigned long long)
		  bench_queue_reg64(&staged.queue[0], TSR_QUEUE_FAULT_ADDR__OFFSET));
	return false;
}

static const uint32_t *streamed(unsigned int stream, unsigned int n)
{
	return (const uint32_t *)staged_data(STAGED_OUT + stream * (STAGED_OUT_SIZE / 4)) +
	       n * (STRIDE / 4);
}

/* Registers 26 and 27: WINDOW_STAGE_CONTROL. EMIT: r30 is what to do. */
#define BEGIN "clause {\n*MOV.i32 r26, 0\n+NOP\n*MOV.i32 r27, 0x80000000\n+NOP\n}\n"
#define CONTROL STAGED_MESSAGE("STORE.i32 r26, r27, @r30")

/* ---- What is taken --------------------------------------------------------------------------- */

struct taken {
	unsigned int count, vertices;
	uint16_t v[512][6];
};

static struct taken want;

static void take(unsigned int n, const int *v)
{
	for (unsigned int i = 0; i < n; i++)
		want.v[want.count][i] = (uint16_t)v[i];
	want.vertices = n;
	want.count++;
}

#define TAKE(n, ...) take(n, (const int[]){ __VA_ARGS__ })

/* Expected primitives of @n vertices, from the tables of the public interfaces. */
static void expect(unsigned int topology, int n, bool neighbours)
{
	memset(&want, 0, sizeof(want));
	for (int i = 0; i < n; i++) {
		const int odd = i % 2, last = 2 * i + 7 >= n;

		if (topology == TSR_TOPOLOGY_POINTS)
			TAKE(1, i);
		else if (topology == TSR_TOPOLOGY_LINES && 2 * i + 1 < n)
			TAKE(2, 2 * i, 2 * i + 1);
		else if (topology == TSR_TOPOLOGY_LINE_STRIP && i + 1 < n)
			TAKE(2, i, i + 1);
		else if (topology == TSR_TOPOLOGY_TRIANGLES && 3 * i + 2 < n)
			TAKE(3, 3 * i, 3 * i + 1, 3 * i + 2);
		else if (topology == TSR_TOPOLOGY_TRIANGLE_STRIP && i + 2 < n)
			TAKE(3, i, i + 1 + odd, i + 2 - odd);
		else if (topology == TSR_TOPOLOGY_TRIANGLE_FAN && i + 2 < n)
			TAKE(3, 0, i + 1, i + 2);
		else if (topology == TSR_TOPOLOGY_LINES_ADJACENCY && 4 * i + 3 < n && neighbours)
			TAKE(4, 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
		else if (topology == TSR_TOPOLOGY_LINES_ADJACENCY && 4 * i + 3 < n)
			TAKE(2, 4 * i + 1, 4 * i + 2);
		else if (topology == TSR_TOPOLOGY_LINE_STRIP_ADJACENCY && i + 3 < n && neighbours)
			TAKE(4, i, i + 1, i + 2, i + 3);
		else if (topology == TSR_TOPOLOGY_LINE_STRIP_ADJACENCY && i + 3 < n)
			TAKE(2, i + 1, i + 2);
		else if (topology == TSR_TOPOLOGY_TRIANGLES_ADJACENCY && 6 * i + 5 < n &&
			 neighbours)
			TAKE(6, 6 * i, 6 * i + 1, 6 * i + 2, 6 * i + 3, 6 * i + 4, 6 * i + 5);
		else if (topology == TSR_TOPOLOGY_TRIANGLES_ADJACENCY && 6 * i + 5 < n)
			TAKE(3, 6 * i, 6 * i + 2, 6 * i + 4);
		else if (topology == TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY && 2 * i + 5 < n &&
			 !neighbours)
			TAKE(3, 2 * i, 2 * i + 2 + 2 * odd, 2 * i + 4 - 2 * odd);
		else if (topology == TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY && 2 * i + 5 < n && odd)
			TAKE(6, 2 * i, 2 * i + 3, 2 * i + 4, last ? 2 * i + 5 : 2 * i + 6,
			     2 * i + 2, 2 * i - 2);
		else if (topology == TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY && 2 * i + 5 < n)
			TAKE(6, 2 * i, i ? 2 * i - 2 : 1, 2 * i + 2,
			     last ? 2 * i + 5 : 2 * i + 6, 2 * i + 4, 2 * i + 3);
	}
}

/* Emits a point for each of @vertices vertices: word 0x80 of it; primitive, instance, thread. */
static const char *show_input(unsigned int vertices, bool window)
{
	static char text[32768];
	char *at = text;

	at += sprintf(at, "%s", BEGIN
		      "clause {\n*MOV.i32 r30, 0x4\n+NOP\n*MOV.i32 r9, r57\n+NOP\n"
		      "*MOV.i32 r10, r58\n+NOP\n*MOV.i32 r11, r55\n+NOP\n}\n");
	for (unsigned int i = 0; i < vertices; i++) {
		if (window)
			at += sprintf(at, "clause {\n*MOV.i32 r20, 0x%x\n+NOP\n"
				      "*MOV.i32 r21, 0x50000000\n+NOP\n}\n"
				      STAGED_MESSAGE("LOAD.i32 r20, r21, @r8"), 1024 * i + 0x80);
		else
			at += sprintf(at, "clause {\n*RSHIFT_AND.i32 r63, r%u, 0xff, %s0x%x\n"
				      "+NOP\n}\n" STAGED_ALD("", "0x4080", "r8"), i / 4,
				      i % 4 ? "" : "#", 8 * (i % 4));
		at += sprintf(at, "%s", STAGED_AST(".v4", "0x880", "r8") CONTROL);
	}
	sprintf(at, "%s", STAGED_END);
	return text;
}

/* Instances read attributes of their own: @padded vertices from one to the next. */
static void check_taken(unsigned int topology, uint32_t instances, unsigned int threads,
			unsigned int padded)
{
	const unsigned int all = want.count * want.vertices * threads;
	unsigned int n = 0;

	ktap_eq(staged_word(COUNTER(0)), (uint64_t)instances * all * STRIDE);
	for (uint32_t instance = 0; instance < instances; instance++) {
		for (unsigned int i = 0; i < want.count * threads; i++) {
			for (unsigned int k = 0; k < want.vertices; k++, n++) {
				const uint32_t *got = streamed(0, n);

				const unsigned int v = want.v[i / threads][k] + padded * instance;

				if (got[0] == 100 * v + 4 &&
				    got[1] == i / threads && got[2] == instance &&
				    got[3] == i % threads)
					continue;
				ktap_fail("topology %u: primitive %u, vertex %u is %u, not %u",
					  topology, i, k, (got[0] - 4) / 100,
					  want.v[i / threads][k]);
				return;
			}
		}
	}
	ktap_eq(STATISTIC(GEOMETRY_INVOCATIONS), instances * want.count * threads);
	ktap_eq(STATISTIC(GEOMETRY_PRIMITIVES), instances * all);
}

static void test_topologies(void)
{
	static const struct {
		uint8_t topology, input;
	} it[] = {
		{ TSR_TOPOLOGY_POINTS, 0 }, { TSR_TOPOLOGY_LINES, 1 },
		{ TSR_TOPOLOGY_LINE_STRIP, 1 }, { TSR_TOPOLOGY_TRIANGLES, 2 },
		{ TSR_TOPOLOGY_TRIANGLE_STRIP, 2 }, { TSR_TOPOLOGY_TRIANGLE_FAN, 2 },
		{ TSR_TOPOLOGY_LINES_ADJACENCY, 1 }, { TSR_TOPOLOGY_LINES_ADJACENCY, 3 },
		{ TSR_TOPOLOGY_LINE_STRIP_ADJACENCY, 1 }, { TSR_TOPOLOGY_LINE_STRIP_ADJACENCY, 3 },
		{ TSR_TOPOLOGY_TRIANGLES_ADJACENCY, 2 }, { TSR_TOPOLOGY_TRIANGLES_ADJACENCY, 4 },
		{ TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY, 2 },
		{ TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY, 4 },
	};
	static const uint8_t vertices[] = { 1, 2, 3, 4, 6 };
	struct soup s = soup_new(11);

	for (unsigned int i = 0; i < 14; i++) {
		start(&(struct tsr_config){ .cores = 1, .no_inline = true }, it[i].input, 0, 1, 6);
		for (unsigned int k = 0; k < 16; k++) {
			const unsigned int n = k < 12 ? k : (unsigned int)soup_below(&s, 400);
			const unsigned int threads = k % 4 == 3 ? 3 : 1;

			staged.header[STAGED_GEOMETRY].threads = k % 4 == 3 ? 3 : k % 2;
			staged.slow = k == 13;
			staged_shader(STAGED_GEOMETRY,
				      show_input(vertices[it[i].input], k % 2));
			expect(it[i].topology, (int)n, it[i].input > 2);
			if (!run(it[i].topology, n, 2))
				break;
			want.vertices = vertices[it[i].input];
			check_taken(it[i].topology, 2, threads,
				    (unsigned int)tsr_padded_vertices(n).padded);
		}
		staged_stop();
	}
}

static void test_patches(void)
{
	for (unsigned int points = 1; points <= 32; points += points < 8 ? 1 : 8) {
		start(&(struct tsr_config){ .cores = 1, .no_inline = true },
		      TSR_GEOMETRY_INPUT_PATCHES, 0, 1, 32);
		staged.geometry.patch_points = points;
		staged_shader(STAGED_GEOMETRY, show_input(points < 6 ? points : 6, true));
		memset(&want, 0, sizeof(want));
		for (unsigned int i = 0; i < 20; i++)
			TAKE(6, (int)(i * points), (int)(i * points) + 1, (int)(i * points) + 2,
			     (int)(i * points) + 3, (int)(i * points) + 4, (int)(i * points) + 5);
		want.vertices = points < 6 ? points : 6;
		if (run(TSR_TOPOLOGY_PATCHES, 20 * points + points / 2, 1))
			check_taken(TSR_TOPOLOGY_PATCHES, 1, 1, 0);
		staged_stop();
	}
}

/* ---- Random vertices ------------------------------------------------------------------------- */

#define STEPS 14u

/* EMIT and RESTART that do what @word says. */
static const char *message(uint32_t word)
{
	static const char *const stream[] = { "", ".s1", ".s2", ".s3" };
	static char text[64];

	snprintf(text, sizeof(text), "clause wait=0 {\n*NOP\n+%s%s%s\n}\n",
		 word & 4 ? "EMIT" : word & 8 ? "RESTART" : "NOP", word & 4 ? stream[word & 3] : "",
		 word & 4 && word & 8 ? ".cut" : "");
	return text;
}

/*
 * Does what 14 words from u0 + 64 T on say, T = (instance * u1.w0 + primitive) * u1.w1 + thread; by
 * messages what the words of T = 0 say.
 */
static const char *random_shader(bool messages)
{
	const uint32_t *table = staged_data(STAGED_FREE);
	static char text[32768];
	char *at = text;

	at += sprintf(at, "%s", BEGIN
		      "clause {\n*IMUL.i32 r20, r58, u1.w0\n+NOP\n}\n"
		      "clause {\n*NOP\n+IADD.u32 r20, r20, r57\n}\n"
		      "clause {\n*IMUL.i32 r20, r20, u1.w1\n+NOP\n}\n"
		      "clause {\n*NOP\n+IADD.u32 r8, r20, r55\n}\n"
		      "clause {\n*SHADDXL.u32 t0, u0.w0, r8, shift:6\n+SHADDXH.i32 t1, u0.w1, t\n"
		      "*MOV.i32 r22, t0\n+MOV.i32 r23, t1\n"
		      "*MOV.i32 r10, r57\n+NOP\n*MOV.i32 r11, r58\n+NOP\n}\n");
	for (unsigned int i = 0; i < STEPS; i++)
		at += sprintf(at, "%s"
			      "clause {\n*MOV.i32 r9, 0x%x\n+NOP\n"
			      "*NOP\n+IADD.u32 r22, r22, 0x4\n}\n%s%s",
			      STAGED_MESSAGE("LOAD.i32 r22, r23, @r30"), i,
			      STAGED_AST(".v4", "0x880", "r8"),
			      messages ? message(table[i]) : CONTROL);
	sprintf(at, "%s", STAGED_END);
	return text;
}

/* A vertex: its thread, and at which step it was emitted. */
struct vertex {
	uint16_t thread;
	uint8_t step;
};

static struct {
	unsigned int count[4];		/* of each stream */
	struct vertex v[4][16384];
} made;

static void make(unsigned int stream, unsigned int n, const struct vertex *v)
{
	for (unsigned int i = 0; i < n; i++)
		made.v[stream][made.count[stream]++] = v[i];
}

/* The scalar model: what @threads threads make. */
static void model(unsigned int threads, unsigned int output, unsigned int streams,
		  unsigned int most)
{
	const uint32_t *table = staged_data(STAGED_FREE);

	memset(made.count, 0, sizeof(made.count));
	for (unsigned int t = 0; t < threads; t++) {
		struct vertex strip[STEPS];
		unsigned int n = 0, emitted = 0;

		for (unsigned int i = 0; i < STEPS; i++) {
			const uint32_t word = table[16 * t + i];
			const struct vertex v = { (uint16_t)t, (uint8_t)i };

			if (word & 4 && emitted < most && streams >> (word & 3) & 1) {
				strip[n++] = v;
				emitted++;
				if (output == 0)
					make(word & 3, 1, &v);
				else if (output == 1 && n > 1)
					make(0, 2, &strip[n - 2]);
				else if (output == 2 && n > 2)
					make(0, 3, n % 2 ? &strip[n - 3] :
						   (const struct vertex[]){
							strip[n - 3], v, strip[n - 2] });
			}
			if (word & 8)
				n = 0;
		}
	}
}

static void put_table(struct soup *s, unsigned int output, unsigned int streams, bool same)
{
	uint32_t *table = staged_data(STAGED_FREE);

	for (unsigned int i = 0; i < 16 * 512; i++)
		table[i] = (uint32_t)(soup_below(s, 8) < 7 ? 4 : 0) |
			   (soup_below(s, 6) ? 0 : 8) |
			   (streams > 1 || output == 0 ? (uint32_t)soup_below(s, 4) : 0);
	for (unsigned int i = 16; same && i < 16 * 512; i++)
		table[i] = table[i % 16];
}

static void test_random(void)
{
	static const struct tsr_config config[] = {
		{ .cores = 1, .no_inline = true }, { .cores = 8, .late_messages = true },
	};
	struct soup s = soup_new(21);

	for (unsigned int i = 0; i < 36; i++) {
		const unsigned int output = i % 3, most = 1 + (unsigned int)soup_below(&s, 16);
		const unsigned int streams = output ? 1 : 1 + (unsigned int)soup_below(&s, 15);
		const unsigned int points = 1 + (unsigned int)soup_below(&s, 60);
		const unsigned int threads = 1 + (unsigned int)soup_below(&s, 4);
		bool good = true;

		start(&config[i % 2], 0, output, streams, most);
		put_table(&s, output, streams, i % 4 == 1);
		staged.header[STAGED_GEOMETRY].threads = threads;
		staged.slow = i % 4 == 3;
		staged.reloads = i % 8 == 7;
		staged.push[0] = (uint32_t)STAGED_FREE;
		staged.push[2] = points;
		staged.push[3] = threads;
		staged_shader(STAGED_GEOMETRY, random_shader(i % 4 == 1));
		model(2 * points * threads, output, streams, most);
		if (!run(TSR_TOPOLOGY_POINTS, points, 2))
			break;
		for (unsigned int k = 0; k < 4 && good; k++) {
			const unsigned int n = streams >> k & 1 ? made.count[k] : 0;

			good &= ktap_eq(staged_word(COUNTER(k)), (uint64_t)n * STRIDE);
			ktap_eq(staged_word(NEEDED(k)), n / (output + 1));
			ktap_eq(staged_word(NEEDED(k) + 8), n / (output + 1));
			for (unsigned int v = 0; v < n && good; v++) {
				const struct vertex *m = &made.v[k][v];
				const uint32_t *got = streamed(k, v);

				good = got[0] == m->thread && got[1] == m->step &&
				       got[2] == m->thread / threads % points &&
				       got[3] == m->thread / threads / points;
				if (!ktap_ok(good))
					ktap_note("case %u, stream %u, vertex %u: %u %u, not %u %u",
						  i, k, v, got[0], got[1], m->thread, m->step);
			}
		}
		staged_stop();
	}
}

/* ---- Pictures -------------------------------------------------------------------------------- */

/* A point becomes a rectangle: its attribute 0 are two corners. */
static const char quads[] =
	BEGIN
	"clause {\n*RSHIFT_AND.i32 r63, r0, 0xff, #0\n+NOP\n*MOV.i32 r30, 0x4\n+NOP\n}\n"
	STAGED_ALD(".v4", "0x4070", "r12") STAGED_ALD(".v4", "0x4080", "r16")
	"clause {\n*MOV.i32 r8, r12\n+NOP\n*MOV.i32 r9, r13\n+NOP\n*MOV.i32 r10, 0\n+NOP\n"
	"*MOV.i32 r11, 0x3f800000\n+NOP\n}\n"
	STAGED_AST(".v4", "0x870", "r8") STAGED_AST(".v4", "0x880", "r16") CONTROL
	"clause {\n*MOV.i32 r9, r15\n+NOP\n}\n"
	STAGED_AST(".v4", "0x870", "r8") STAGED_AST(".v4", "0x880", "r16") CONTROL
	"clause {\n*MOV.i32 r8, r14\n+NOP\n*MOV.i32 r9, r13\n+NOP\n}\n"
	STAGED_AST(".v4", "0x870", "r8") STAGED_AST(".v4", "0x880", "r16") CONTROL
	"clause {\n*MOV.i32 r9, r15\n+NOP\n*MOV.i32 r30, 0xc\n+NOP\n}\n"
	STAGED_AST(".v4", "0x870", "r8") STAGED_AST(".v4", "0x880", "r16") CONTROL STAGED_END;

/* Each pixel is a point's rectangle, of its own color. */
static void test_picture(void)
{
	static const struct tsr_config config[] = {
		{ .cores = 1, .no_inline = true }, { .cores = 2 },
		{ .cores = 8, .late_messages = true }, { .cores = 1, .simd = "sse2" },
		{ .cores = 1, .jit = TSR_JIT_USE_FIRST },
		/* other blocks: another heap, but the same picture */
		{ .cores = 1, .gfx_debug = TSR_GFX_NO_STAGES },
	};
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < 6; i++) {
		start(&config[i], 0, TSR_GEOMETRY_OUTPUT_TRIANGLE_STRIP, 1, 4);
		staged.draw.discard = false;
		staged_shader(STAGED_GEOMETRY, quads);
		for (unsigned int n = 0; n < 16 * 12; n++) {
			const float x = (float)(n % 16) / 8 - 1, y = (float)(n / 16) / 6 - 1;
			uint32_t *v = staged_vertex(n);

			v[0] = staged_bits(x);
			v[1] = staged_bits(y);
			v[2] = staged_bits(x + 1 / 8.0f);
			v[3] = staged_bits(y + 1 / 6.0f);
			v[4] = staged_bits((float)(n % 16) / 16);
			v[5] = staged_bits((float)(n / 16) / 16);
			v[6] = v[7] = staged_bits(1);
		}
		ktap_ok(run(TSR_TOPOLOGY_POINTS, 16 * 12, 1));
		ktap_ok(config[i].gfx_debug || staged_same(!i));
		ktap_eq(staged_word(NEEDED(0)), 2 * 16 * 12);
		if (i && !config[i].gfx_debug) {
			staged_stop();
			continue;
		}
		ktap_ok(staged_render());
		for (unsigned int k = 0; k < STAGED_WIDTH * STAGED_HEIGHT; k++) {
			const unsigned int x = k % STAGED_WIDTH / 4, y = k / STAGED_WIDTH / 4;
			const uint32_t *got = (const uint32_t *)(void *)staged.target + 4 * k;

			wrong += got[0] != staged_bits((float)x / 16) ||
				 got[1] != staged_bits((float)y / 16);
		}
		ktap_eq(wrong, 0);
		ktap_eq(STATISTIC(FRAGMENT_INVOCATIONS), STAGED_WIDTH * STAGED_HEIGHT);
		staged_stop();
	}
}

/* Six vertices of a primitive become a strip; as they come. */
static const char *strip_of_six(void)
{
	static char text[16384];
	char *at = text;

	at += sprintf(at, "%s", "clause {\n*MOV.i32 r21, 0x50000000\n+NOP\n}\n");
	for (unsigned int i = 0; i < 6; i++)
		at += sprintf(at, "clause {\n*MOV.i32 r20, 0x%x\n+NOP\n"
			      "*MOV.i32 r22, 0x%x\n+NOP\n}\n"
			      STAGED_MESSAGE("LOAD.i128 r20, r21, @r8")
			      STAGED_MESSAGE("LOAD.i128 r22, r21, @r12")
			      STAGED_MESSAGE("AST.v4 a[0x70], @r8")
			      STAGED_MESSAGE("AST.v4 a[0x80], @r12") STAGED_MESSAGE("EMIT"),
			      1024 * i + 0x70, 1024 * i + 0x80);
	sprintf(at, "%s", STAGED_END);
	return text;
}

/* Which vertex of a strip's triangle is the provoking one: the same as without the shader. */
static void test_provoking(void)
{
	static uint8_t want_target[STAGED_TARGET_BYTES];
	unsigned int covered = 0;

	for (unsigned int i = 0; i < 4; i++) {
		struct soup s = soup_new(8 + i / 2);

		start(&(struct tsr_config){ .cores = 1, .no_inline = true },
		      TSR_GEOMETRY_INPUT_TRIANGLES_ADJACENCY, TSR_GEOMETRY_OUTPUT_TRIANGLE_STRIP, 1,
		      6);
		staged.shader.flat_varyings = 1;
		staged.draw.discard = false;
		staged.draw.provoking_last = i & 2;
		staged_shader(STAGED_GEOMETRY, strip_of_six());
		for (unsigned int n = 0; n < 6; n++) {
			uint32_t *v = staged_vertex(n);

			for (unsigned int k = 0; k < 8; k++)
				v[k] = staged_bits((float)soup_between(&s, -1000, 1000) / 1024);
			v[2] = v[3] = staged_bits(1);
		}
		if (!(i & 1))
			staged.geometry.geometry = 0;
		if (run(i & 1 ? TSR_TOPOLOGY_TRIANGLES_ADJACENCY :
				TSR_TOPOLOGY_TRIANGLE_STRIP, 6, 1))
			ktap_ok(staged_render());
		for (unsigned int k = 0; k < STAGED_TARGET_BYTES; k++)
			covered += staged.target[k] != 0;
		if (i & 1)
			ktap_mem_eq(staged.target, want_target, sizeof(want_target));
		memcpy(want_target, staged.target, sizeof(want_target));
		staged_stop();
	}
	ktap_ok(covered > 4000);
}

/* The number of a primitive: the shader's, or that of the point it came from. */
static void test_number(void)
{
	static const char numbers[] =
		"clause slot=0 wait=0,6,7 {\n*MOV.i32 r0, r57\n+NOP\n*MOV.i32 r1, r57\n+NOP\n}\n"
		"clause wait=0 td {\n*NOP\n+ATEST r60:t1, r60, 0x3f800000, @r60\n}\n"
		"clause end td {\n*NOP\n+NOP\n"
		"*NOP\n+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n}\n";

	for (unsigned int i = 0; i < 2; i++) {
		unsigned int wrong = 0, covered_numbers = 0;
		char text[8192];

		start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 0,
		      TSR_GEOMETRY_OUTPUT_TRIANGLE_STRIP, 1, 4);
		staged.header[STAGED_GEOMETRY].omap_0 |= 1ull << 0x60 / 4;
		staged.draw.discard = false;
		/* the provoking vertex alone is told a number */
		snprintf(text, sizeof(text), "clause {\n*NOP\n+IADD.u32 r40, r57, 0x3e8\n}\n%s%s",
			 i ? STAGED_MESSAGE("AST a[0x60], @r40") : "", quads);
		staged_shader(STAGED_GEOMETRY, text);
		staged_fragment(numbers);
		for (unsigned int n = 0; n < 16; n++) {
			const float x = (float)n / 8 - 1;

			staged_vertex(n)[0] = staged_bits(x);
			staged_vertex(n)[1] = staged_bits(-1);
			staged_vertex(n)[2] = staged_bits(x + 1 / 8.0f);
			staged_vertex(n)[3] = staged_bits(1);
		}
		if (run(TSR_TOPOLOGY_POINTS, 16, 1))
			ktap_ok(staged_render());
		/* of a rectangle's two triangles the first has the shader's number */
		for (unsigned int k = 0; k < STAGED_WIDTH * STAGED_HEIGHT; k++) {
			const uint32_t got = ((const uint32_t *)(void *)staged.target)[4 * k];
			const uint32_t n = k % STAGED_WIDTH / 4;

			wrong += got != n && (!i || got != n + 1000);
			covered_numbers += got == n + 1000;
		}
		ktap_eq(wrong, 0);
		ktap_eq(covered_numbers > 1000, i);
		staged_stop();
	}
}

/* One of two streams is drawn; the other one alone is streamed all the same. */
static void test_raster_stream(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 0, 0, 3, 3);
		staged.draw.discard = false;
		staged.geometry.raster_stream = i;
		staged_shader(STAGED_GEOMETRY,
			      STAGED_MESSAGE("EMIT") STAGED_MESSAGE("EMIT.s1")
			      STAGED_MESSAGE("EMIT") STAGED_END);
		ktap_ok(run(TSR_TOPOLOGY_POINTS, 50, 1));
		ktap_eq(STATISTIC(CLIPPING_INVOCATIONS), i ? 50 : 100);
		ktap_eq(staged_word(NEEDED(0) + 8), 100);
		ktap_eq(staged_word(NEEDED(1) + 8), 50);
		staged_stop();
	}
}

/* Stores of a group are not visible in the next one. */
static void test_leftover(void)
{
	/* the number of the primitive to vertex 0 of the first 128, to vertex 1 of the others */
	static const char shader[] =
		BEGIN
		"clause {\n*RSHIFT_AND.i32 r20, r57, 0x1, 0x7\n+NOP\n}\n"
		"clause {\n*LSHIFT_OR.i32 t0, r20, #0, 0xa\n+NOP\n*NOP\n+IADD.u32 r20, t0, 0x80\n"
		"*MOV.i32 r21, 0x60000000\n+NOP\n*MOV.i32 r26, 0x4\n+NOP\n"
		"*MOV.i32 r30, 0x2\n+NOP\n}\n"
		STAGED_MESSAGE("STORE.i32 r20, r21, @r57") CONTROL STAGED_END;

	start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 0, 0, 1, 2);
	staged_shader(STAGED_GEOMETRY, shader);
	if (run(TSR_TOPOLOGY_POINTS, 256, 1)) {
		for (unsigned int i = 0; i < 512; i++) {
			const unsigned int n = i / 2 % 128 + i / 256 * 128;

			if (!ktap_eq(streamed(0, i)[0], i % 2 == n / 128 % 2 ? n :
							TSR_STAGE_LEFTOVER))
				break;
		}
	}
	staged_stop();
}

/* ---- Limits, what is refused ----------------------------------------------------------------- */

/* As much as a thread can emit: 1024 vertices of a word. */
static void test_most(void)
{
	static const char count[] =
		BEGIN
		"clause {\n*MOV.i32 r26, 0x4\n+NOP\n*MOV.i32 r30, 0x2000\n+NOP\n"
		"*MOV.i32 r21, 0x60000000\n+NOP\n*MOV.i32 r20, 0xffc80\n+NOP\n}\n"
		CONTROL
		/* the last vertex has the number of the primitive; the others have nothing */
		STAGED_MESSAGE("STORE.i32 r20, r21, @r57") STAGED_END;

	start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 0, 0, 1, 1024);
	staged.header[STAGED_GEOMETRY].omap_0 = 1ull << 0x80 / 4;
	staged_shader(STAGED_GEOMETRY, count);
	staged.entry[0].components = 0;
	staged.place[0].stride = 4;
	if (run(TSR_TOPOLOGY_POINTS, 40, 1)) {
		const uint32_t *got = staged_data(STAGED_OUT);

		ktap_eq(staged_word(COUNTER(0)), 4 * 1024 * 40);
		for (unsigned int i = 0; i < 1024 * 40; i++)
			if (!ktap_ok(got[i] == (i % 1024 == 1023 ? i / 1024 : TSR_STAGE_LEFTOVER)))
				break;
	}
	ktap_ok(staged_counter(TSR_QUEUE_COUNTER_GEOMETRY_STALLS) > 0);
	ktap_eq(staged_counter(TSR_QUEUE_COUNTER_GEOMETRY_VERTICES), 1024 * 40);
	staged_stop();
}

/* Vertices of all words there are, and a shader that writes each of them. */
static void test_all_words(void)
{
	static char text[16384];
	struct tsr_stage_header *h = &staged.header[STAGED_GEOMETRY];
	char *at = text + sprintf(text, "%s", BEGIN "clause {\n*MOV.i32 r11, r57\n+NOP\n"
				  "*MOV.i32 r30, 0x4\n+NOP\n}\n");

	for (unsigned int word = 0; word < TSR_STAGE_WORDS; word += 4)
		at += sprintf(at, STAGED_AST(".v4", "0x%x", "r8"), 0x800 | 4 * word);
	sprintf(at, "%s", CONTROL STAGED_END);
	start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 0, 0, 1, 4);
	h->omap_0 = h->omap_1 = h->omap_2 = h->omap_3 = ~0ull;
	h->required_first = 0;
	h->required_last = TSR_STAGE_WORDS - 1;
	staged_shader(STAGED_GEOMETRY, text);
	ktap_ok(run(TSR_TOPOLOGY_POINTS, 40, 1));
	ktap_eq(staged_word(COUNTER(0)), 40 * STRIDE);
	ktap_eq(streamed(0, 39)[3], 39);
	staged_stop();
}

static void refuse(unsigned int topology, unsigned int at, unsigned int code)
{
	uint64_t va = STAGED_LIST + at;

	staged_states();
	staged_draw(topology, 12);
	if (!at)
		va = STAGED_LIST + staged.last;
	ktap_ok(!staged_bin());
	ktap_eq(bench_fault(&staged.queue[0]), code);
	ktap_eq(bench_queue_reg64(&staged.queue[0], TSR_QUEUE_FAULT_ADDR__OFFSET), va);
	staged_stop();
}

static void test_refused(void)
{
	const unsigned int header = STAGED_AT_HEADER + 0x80 * STAGED_GEOMETRY;
	const struct tsr_config config = { .cores = 1, .no_inline = true };
	/* which topologies an INPUT takes, by bit */
	static const uint16_t takes[] = { 0x001, 0x30e, 0xc70, 0x300, 0xc00, 0x1000 };

	for (unsigned int topology = 0; topology <= 12; topology++) {
		for (unsigned int input = 0; input < 6 && topology != 7; input++) {
			if (takes[input] >> topology & 1)
				continue;
			start(&config, input, 0, 1, 1);
			staged.geometry.patch_points = 3;
			staged_shader(STAGED_GEOMETRY, STAGED_END);
			refuse(topology, 0, TSR_FAULT_BAD_VALUE);
		}
	}
	start(&config, 6, 0, 1, 1);
	refuse(0, header + 72, TSR_FAULT_BAD_VALUE);
	start(&config, 0, 3, 1, 1);
	refuse(0, header + 72, TSR_FAULT_BAD_VALUE);
	start(&config, 0, 0, 1, 0);
	refuse(0, header + 72, TSR_FAULT_BAD_VALUE);
	start(&config, 0, 0, 1, 129);			/* of 8 words */
	refuse(0, header + 72, TSR_FAULT_BAD_VALUE);
	start(&config, 0, 1, 3, 1);			/* strips of two streams */
	refuse(0, header + 72, TSR_FAULT_BAD_VALUE);
	start(&config, 0, 0, 1, 1);
	staged.draw.discard = false;
	staged.header[STAGED_GEOMETRY].omap_0 = 0;
	refuse(0, header + 32, TSR_FAULT_BAD_VALUE);
	/* a stream that nobody emits to; one that is drawn, and nobody who emits */
	start(&config, 0, 0, 1, 1);
	staged.entry[0].stream = 1;
	refuse(0, STAGED_AT_ENTRIES, TSR_FAULT_BAD_VALUE);
	start(&config, 0, 0, 1, 1);
	staged.geometry.geometry = 0;
	staged.geometry.raster_stream = 1;
	refuse(0, STAGED_AT_GEOMETRY + 24, TSR_FAULT_BAD_VALUE);
}

/* Messages and windows that geometry shaders have not. */
static void test_encodings(void)
{
	static const struct {
		const char *text;
		unsigned int code;
	} it[] = {
		{ STAGED_ALD("", "0x80", "r8"), TSR_FAULT_SHADER_ENCODING },
		{ STAGED_ALD("", "0x880", "r8"), TSR_FAULT_SHADER_ENCODING },
		{ STAGED_ALD("", "0x4880", "r8"), TSR_FAULT_SHADER_ENCODING },
		{ STAGED_ALD("", "0x5000", "r8"), TSR_FAULT_SHADER_ENCODING },
		{ STAGED_AST("", "0x1800", "r8"), TSR_FAULT_SHADER_ENCODING },
		{ STAGED_AST("", "0x80", "r8"), TSR_FAULT_SHADER_ENCODING },
		{ "clause {\n*MOV.i32 r20, 0x2000\n+NOP\n*MOV.i32 r21, 0x80000000\n+NOP\n}\n"
		  STAGED_MESSAGE("STORE.i32 r20, r21, @r8"), TSR_FAULT_SHADER_BOUNDS },
		{ "clause {\n*MOV.i32 r20, 0x2\n+NOP\n*MOV.i32 r21, 0x80000000\n+NOP\n}\n"
		  STAGED_MESSAGE("STORE.i32 r20, r21, @r8"), TSR_FAULT_SHADER_ALIGNMENT },
		{ "clause {\n*MOV.i32 r20, 0\n+NOP\n*MOV.i32 r21, 0x70000000\n+NOP\n}\n"
		  STAGED_MESSAGE("LOAD.i32 r20, r21, @r8"), TSR_FAULT_MMU_UNMAPPED },
		{ "clause {\n*MOV.i32 r20, 0\n+NOP\n*MOV.i32 r21, 0x50000000\n+NOP\n}\n"
		  STAGED_MESSAGE("STORE.i32 r20, r21, @r8"), TSR_FAULT_MMU_UNMAPPED },
		{ "clause wait=0 {\n*NOP\n+ALD r63, r63, 0x4400, @r8\n}\n",
		  TSR_FAULT_SHADER_ENCODING },
		{ "clause slot=7 wait=7 {\n*NOP\n+BARRIER\n}\n", TSR_FAULT_SHADER_UNSUPPORTED },
	};

	for (unsigned int i = 0; i < sizeof(it) / sizeof(it[0]); i++) {
		char text[400];
		uint32_t where;

		start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 0, 0, 1, 1);
		snprintf(text, sizeof(text), "%s%s", it[i].text, STAGED_END);
		staged_shader(STAGED_GEOMETRY, text);
		staged_states();
		staged_draw(0, 1);
		ktap_ok(!staged_bin());
		if (!ktap_eq(bench_fault(&staged.queue[0]), it[i].code))
			ktap_note("%s", it[i].text);
		where = (uint32_t)bench_queue_reg64(&staged.queue[0],
						    TSR_QUEUE_FAULT_SHADER__OFFSET);
		ktap_eq(where >> TSR_QUEUE_FAULT_SHADER_STAGE__SHIFT & 15, 4);
		staged_stop();
	}
}

/* After a domain shader: the tessellator's triangles. */
static void test_domain(void)
{
	static const char domain[] =
		"clause {\n*MOV.i32 r8, r60\n+NOP\n*MOV.i32 r9, r61\n+NOP\n"
		"*MOV.i32 r10, r57\n+NOP\n"
		"*MOV.i32 r11, r55\n+NOP\n}\n" STAGED_AST(".v4", "0x880", "r8") STAGED_END;

	for (unsigned int i = 0; i < 2; i++) {
		unsigned int n = 0, wrong = 0;

		start(&(struct tsr_config){ .cores = 1, .no_inline = true },
		      TSR_GEOMETRY_INPUT_TRIANGLES, 0, 1, 3);
		staged.geometry.domain = STAGED_LIST + STAGED_AT_PROGRAM + 0x80 * STAGED_DOMAIN;
		staged.geometry.patch_points = 3;
		staged.geometry.primitives = TSR_PATCH_PRIMITIVES_TRIANGLES;
		staged.geometry.shape = TSR_PATCH_SHAPE_QUAD;
		staged.geometry.factor_0 = staged.geometry.factor_1 = staged_bits(12);
		staged.geometry.factor_2 = staged.geometry.factor_3 = staged_bits(12);
		staged.geometry.factor_4 = staged.geometry.factor_5 = staged_bits(12);
		staged_shader(STAGED_DOMAIN, domain);
		staged_shader(STAGED_GEOMETRY, show_input(3, i));
		if (run(TSR_TOPOLOGY_PATCHES, 9, 1)) {
			const uint64_t vertices = staged_word(COUNTER(0)) / STRIDE;

			/* three patches of 288 triangles, by the number of the patch */
			ktap_eq(vertices, 3 * 3 * 288);
			for (; n < vertices; n++)
				wrong += streamed(0, n)[1] != n / (3 * 288);
			ktap_eq(wrong, 0);
			ktap_eq(STATISTIC(GEOMETRY_INVOCATIONS), 3 * 288);
		}
		staged_stop();
	}
}

/* No memory, wherever it is asked for: the draw is refused, or is what it would have been. */
static void test_no_memory(void)
{
	unsigned int refused = 0, nth = 0, asked;

	do {
		uint32_t code;

		start(&(struct tsr_config){ .cores = 1, .no_inline = true },
		      TSR_GEOMETRY_INPUT_TRIANGLES, 0, 1, 3);
		staged.geometry.domain = STAGED_LIST + STAGED_AT_PROGRAM + 0x80 * STAGED_DOMAIN;
		staged.geometry.patch_points = 3;
		staged.geometry.primitives = TSR_PATCH_PRIMITIVES_TRIANGLES;
		staged.geometry.factor_0 = staged.geometry.factor_1 = staged_bits(4);
		staged.geometry.factor_2 = staged.geometry.factor_4 = staged_bits(4);
		staged_shader(STAGED_DOMAIN, STAGED_END);
		staged_shader(STAGED_GEOMETRY, STAGED_MESSAGE("EMIT") STAGED_END);
		staged_states();
		staged_stream_out(true);
		staged_draw(TSR_TOPOLOGY_PATCHES, 9);
		fail_alloc_at(++nth);
		staged_bin();
		asked = fail_alloc_at(0);
		code = bench_fault(&staged.queue[0]);
		refused += code != 0;
		ktap_ok(!code || code == TSR_FAULT_UNSUPPORTED);
		ktap_eq(staged_word(COUNTER(0)), code ? 0 : 3 * 24 * STRIDE);
		staged_stop();
	} while (asked >= nth);
	ktap_ok(refused >= 3);
}

/* ---- Stopping -------------------------------------------------------------------------------- */

static void test_stop_work(void)
{
	static const char loop[] =
		"again:\nclause wait=0 {\n*NOP\n+ALD.v4 r63, r63, 0x4080, @r24\n}\n"
		"clause {\n*NOP\n+JUMP again\n}\n";
	/* 1024 vertices that are nothing; that are points */
	static const char many[] =
		BEGIN
		"clause {\n*MOV.i32 r26, 0x4\n+NOP\n*MOV.i32 r30, 0x400\n+NOP\n}\n"
		CONTROL STAGED_END;
	static const char *const what[] = { "a geometry shader", "many vertices", "single vertices",
					    "instances" };

	for (unsigned int i = 0; i < 4; i++) {
		start(&(struct tsr_config){ .cores = 1, .no_inline = true }, 0,
		      i == 2 ? TSR_GEOMETRY_OUTPUT_TRIANGLE_STRIP : 0, 1, i == 2 ? 2 : 1024);
		staged.header[STAGED_GEOMETRY].omap_0 = 1ull << 0x80 / 4;
		staged.header[STAGED_GEOMETRY].threads = i == 3 ? 32 : 1;
		staged_shader(STAGED_GEOMETRY, i ? many : loop);
		staged.place[0].size = 0;
		staged_states();
		staged_stream_out(true);
		staged_draw(0, 3u << 28);
		staged_stop_work(what[i], true);
		staged_stop();
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[GS1] [IA6] what geometry shaders take of each topology, with neighbours",
		 test_topologies);
	ktap_run("[GS1] patches", test_patches);
	ktap_run("[GS2] [SO2] random vertices, cuts, instances and streams", test_random);
	ktap_run("[GS2] points become rectangles, the same on any machine", test_picture);
	ktap_run("[GS2] provoking vertices of strips", test_provoking);
	ktap_run("numbers of primitives", test_number);
	ktap_run("[SO2] the stream that is drawn", test_raster_stream);
	ktap_run("[ALD6] nothing is left of a group", test_leftover);
	ktap_run("[GS2] as much as a thread can emit", test_most);
	ktap_run("[GS2] vertices of all words", test_all_words);
	ktap_run("triangles of a tessellator", test_domain);
	ktap_run("[GS1] states and headers that are refused", test_refused);
	ktap_run("[ALD3] messages and windows that geometry shaders have not", test_encodings);
	ktap_run("memory that runs out", test_no_memory);
	ktap_run("[SYS7] BIN stops within STOP_WORK in geometry shaders", test_stop_work);
	return ktap_finish();
}
