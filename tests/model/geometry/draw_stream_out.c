/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0 TIMEOUT=240
 *
 * Stream-out of vertex shaders: every topology as single primitives, room to the byte, counters and
 * queries that reach memory with the end of the command, LIST_DRAW_AUTO, what is refused.
 */
#include <string.h>

#include "ktap.h"
#include "soup.h"
#include "staged.h"

#define NEEDED(stream) (STAGED_QUERIES + 0x100 + 16 * (stream))
#define COUNTER(n) (STAGED_COUNTERS + 8 * (uint64_t)(n))

/* ---- What stream-out should write ------------------------------------------------------------ */

struct expected {
	unsigned int primitives, vertices;	/* vertices of each */
	uint16_t v[3 * 4096];
};

static void add(struct expected *e, unsigned int a, unsigned int b, unsigned int c)
{
	uint16_t *v = &e->v[e->vertices * e->primitives++];

	v[0] = (uint16_t)a;
	if (e->vertices > 1)
		v[1] = (uint16_t)b;
	if (e->vertices > 2)
		v[2] = (uint16_t)c;
}

/* Primitives of @n vertices, from the tables of OpenGL for either provoking vertex. */
static struct expected expand(unsigned int topology, unsigned int n, bool last)
{
	static const uint8_t vertices[] = { 1, 2, 2, 2, 3, 3, 3, 0, 2, 2, 3, 3 };
	struct expected e = { .vertices = vertices[topology] };

	for (unsigned int i = 0; i < n; i++) {
		const unsigned int odd = i % 2;

		if (topology == TSR_TOPOLOGY_POINTS)
			add(&e, i, 0, 0);
		else if (topology == TSR_TOPOLOGY_LINES && 2 * i + 1 < n)
			add(&e, 2 * i, 2 * i + 1, 0);
		else if (topology == TSR_TOPOLOGY_LINE_STRIP && i + 1 < n)
			add(&e, i, i + 1, 0);
		else if (topology == TSR_TOPOLOGY_LINE_LOOP && i + 1 < n)
			add(&e, i, i + 1, 0);
		else if (topology == TSR_TOPOLOGY_LINE_LOOP && n > 2)
			add(&e, i, 0, 0);
		else if (topology == TSR_TOPOLOGY_TRIANGLES && 3 * i + 2 < n)
			add(&e, 3 * i, 3 * i + 1, 3 * i + 2);
		else if (topology == TSR_TOPOLOGY_TRIANGLE_STRIP && i + 2 < n && last)
			add(&e, i + odd, i + 1 - odd, i + 2);
		else if (topology == TSR_TOPOLOGY_TRIANGLE_STRIP && i + 2 < n)
			add(&e, i, i + 1 + odd, i + 2 - odd);
		else if (topology == TSR_TOPOLOGY_TRIANGLE_FAN && i + 2 < n && last)
			add(&e, 0, i + 1, i + 2);
		else if (topology == TSR_TOPOLOGY_TRIANGLE_FAN && i + 2 < n)
			add(&e, i + 1, i + 2, 0);
		else if (topology == TSR_TOPOLOGY_LINES_ADJACENCY && 4 * i + 3 < n)
			add(&e, 4 * i + 1, 4 * i + 2, 0);
		else if (topology == TSR_TOPOLOGY_LINE_STRIP_ADJACENCY && i + 3 < n)
			add(&e, i + 1, i + 2, 0);
		else if (topology == TSR_TOPOLOGY_TRIANGLES_ADJACENCY && 6 * i + 5 < n)
			add(&e, 6 * i, 6 * i + 2, 6 * i + 4);
		else if (topology == TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY && 2 * i + 5 < n && last)
			add(&e, 2 * i + 2 * odd, 2 * i + 2 - 2 * odd, 2 * i + 4);
		else if (topology == TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY && 2 * i + 5 < n)
			add(&e, 2 * i, 2 * i + 2 + 2 * odd, 2 * i + 4 - 2 * odd);
	}
	return e;
}

static void put_vertices(unsigned int seed)
{
	struct soup s = soup_new(seed);

	for (unsigned int i = 0; i < STAGED_VERTICES; i++) {
		uint32_t *word = staged_vertex(i);

		for (unsigned int k = 0; k < 3; k++)
			word[k] = staged_bits((float)soup_between(&s, -1024, 1024) / 1024);
		word[2] = staged_bits((float)soup_between(&s, 0, 1024) / 1024);
		word[3] = staged_bits(1);
		for (unsigned int k = 4; k < 8; k++)
			word[k] = (uint32_t)soup_below(&s, 1ull << 32);
	}
}

/* Word @word of stage I/O memory of vertex @v, as the shader passes it on. */
static uint32_t value(unsigned int v, unsigned int word)
{
	if (word >= 0x70 / 4 && word < 0x80 / 4)
		return staged_vertex(v)[word - 0x70 / 4];
	if (word >= 0x80 / 4 && word < 0x90 / 4)
		return staged_vertex(v)[4 + word - 0x80 / 4];
	/* not mapped; mapped and not written */
	return word == 0xac / 4 ? 0x3f800000 : TSR_STAGE_LEFTOVER;
}

static uint8_t want[STAGED_OUT_SIZE];

/* The expected contents of target @t with @primitives written from @filled on. */
static void expect_target(const struct expected *e, unsigned int t, unsigned int primitives,
			  uint64_t filled)
{
	const struct tsr_stream_target *place = &staged.place[t];
	uint8_t *to = want + (place->base - STAGED_OUT) + filled;

	for (unsigned int i = 0; i < primitives * e->vertices; i++, to += place->stride) {
		for (unsigned int n = 0; n < staged.geometry.entries; n++) {
			const struct tsr_stream_entry *entry = &staged.entry[n];

			if (entry->target != t)
				continue;
			for (unsigned int k = 0; k <= entry->components; k++) {
				uint32_t word = value(e->v[i], entry->word + k);

				memcpy(to + entry->offset + 4 * k, &word, 4);
			}
		}
	}
}

static void clear_out(void)
{
	memset(staged_data(STAGED_OUT), 0xa5, STAGED_OUT_SIZE);
	memset(want, 0xa5, sizeof(want));
	memset(staged_data(STAGED_QUERIES), 0, 0x1000);
	memset(staged_data(STAGED_COUNTERS), 0, 0x1000);
}

static bool same_out(void)
{
	return !memcmp(staged_data(STAGED_OUT), want, STAGED_OUT_SIZE);
}

/* Target @t: 1/4 of the memory. */
static void set_target(unsigned int t, uint32_t stride)
{
	staged.place[t] = (struct tsr_stream_target){
		.base = STAGED_OUT + t * (STAGED_OUT_SIZE / 4), .size = STAGED_OUT_SIZE / 4,
		.stride = stride, .counter = COUNTER(t) };
}

static void declare(unsigned int word, unsigned int components, unsigned int target,
		    unsigned int offset)
{
	staged.entry[staged.geometry.entries++] = (struct tsr_stream_entry){
		.word = word / 4, .components = components - 1, .target = target,
		.offset = offset };
}

/* Positions to target 0, of 16 bytes. */
static void start_plain(void)
{
	staged_start(&(struct tsr_config){ .cores = 1, .no_inline = true });
	put_vertices(3);
	set_target(0, 16);
	declare(0x70, 4, 0, 0);
	clear_out();
}

/* ---- Topologies, declarations ---------------------------------------------------------------- */

static const uint8_t topologies[] = {
	TSR_TOPOLOGY_POINTS, TSR_TOPOLOGY_LINES, TSR_TOPOLOGY_LINE_STRIP, TSR_TOPOLOGY_LINE_LOOP,
	TSR_TOPOLOGY_TRIANGLES, TSR_TOPOLOGY_TRIANGLE_STRIP, TSR_TOPOLOGY_TRIANGLE_FAN,
	TSR_TOPOLOGY_LINES_ADJACENCY, TSR_TOPOLOGY_LINE_STRIP_ADJACENCY,
	TSR_TOPOLOGY_TRIANGLES_ADJACENCY, TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY,
};

static void test_topologies(void)
{
	struct soup s = soup_new(77);

	staged_start(&(struct tsr_config){ .cores = 1, .no_inline = true });
	put_vertices(5);
	for (unsigned int i = 0; i < 4 * sizeof(topologies); i++) {
		const unsigned int n = i < 11 ? i : (unsigned int)soup_below(&s, 600);
		const bool last = i >= 22;
		const struct expected e = expand(topologies[i % 11], n, last);

		clear_out();
		staged.geometry.entries = 0;
		staged.draw.discard = i & 1;
		staged.draw.provoking_last = last;
		staged.slow = i % 8 == 7;
		set_target(0, 32);
		staged.header[0].omap_0 = ~(1ull << 0xac / 4);
		set_target(1, 8);
		/* out of order, with a gap, words nobody writes, a word twice */
		declare(0x80, 3, 0, 12);
		declare(0x7c, 1, 0, 0);
		declare(0x70, 1, 1, 4);
		declare(0x9c, 1, 0, 24);
		declare(0xac, 1, 0, 28);
		declare(0x88, 1, 1, 0);
		declare(0x70, 1, 0, 4);
		staged_states();
		staged_query(TSR_QUERY_STREAM, 0, NEEDED(0));
		staged_stream_out(true);
		staged_draw(topologies[i % 11], n);
		if (!ktap_ok(staged_bin()))
			ktap_note("fault %u", bench_fault(&staged.queue[0]));
		expect_target(&e, 0, e.primitives, 0);
		expect_target(&e, 1, e.primitives, 0);
		if (!ktap_ok(same_out()))
			ktap_note("topology %u, %u vertices", topologies[i % 11], n);
		ktap_eq(staged_word(COUNTER(0)), 32ull * e.vertices * e.primitives);
		ktap_eq(staged_word(COUNTER(1)), 8ull * e.vertices * e.primitives);
		ktap_eq(staged_word(NEEDED(0)), e.primitives);
		ktap_eq(staged_word(NEEDED(0) + 8), e.primitives);
	}
	/* words that are mapped, and that nobody has written: 0x9c */
	ktap_ok(staged_counter(TSR_QUEUE_COUNTER_STAGE_UNWRITTEN) > 0);
	staged_stop();
}

/* The picture does not depend on stream-out. */
static void test_picture(void)
{
	static uint8_t picture[STAGED_TARGET_BYTES];

	for (unsigned int i = 0; i < 2; i++) {
		start_plain();
		for (unsigned int k = 0; k < STAGED_VERTICES; k++)
			staged_vertex(k)[4] = staged_vertex(k)[7] = staged_bits(1);
		staged_states();
		staged_stream_out(i);
		staged.geometry.entries = i;
		staged_draw(TSR_TOPOLOGY_TRIANGLES, 300);
		ktap_ok(staged_bin() && staged_render());
		if (i)
			ktap_mem_eq(staged.target, picture, sizeof(picture));
		memcpy(picture, staged.target, sizeof(picture));
		ktap_eq(staged_word(COUNTER(0)), i ? 4800 : 0);
		staged_stop();
	}
}

/* ---- Room ------------------------------------------------------------------------------------ */

static void test_room(void)
{
	const struct expected e = expand(TSR_TOPOLOGY_TRIANGLES, 36, false);

	start_plain();
	set_target(1, 12);
	declare(0x80, 3, 1, 0);
	staged.draw.discard = true;
	for (uint64_t size = 0; size < 12 * 48 + 9; size++) {
		const unsigned int filled = 4 * (size % 5);
		unsigned int room = size > filled ? (unsigned int)(size - filled) / 48 : 0;

		room = room < 12 ? room : 12;
		clear_out();
		memcpy(staged_data(COUNTER(0)), &(uint64_t){ filled }, 8);
		staged.place[0].size = size;
		staged_states();
		staged_query(TSR_QUERY_STREAM, 0, NEEDED(0));
		staged_stream_out(true);
		staged_draw(TSR_TOPOLOGY_TRIANGLES, 36);
		ktap_ok(staged_bin());
		expect_target(&e, 0, room, filled);
		expect_target(&e, 1, room, 0);
		if (!ktap_ok(same_out()))
			ktap_note("%u bytes", (unsigned int)size);
		ktap_eq(staged_word(COUNTER(0)), size ? filled + 48ull * room : filled);
		ktap_eq(staged_word(COUNTER(1)), 36ull * room);
		ktap_eq(staged_word(NEEDED(0)), 12);
		ktap_eq(staged_word(NEEDED(0) + 8), room);
	}
	ktap_ok(staged_counter(TSR_QUEUE_COUNTER_STREAM_OVERFLOWS) > 1000);
	/* counters that are beyond any room */
	for (unsigned int i = 0; i < 2; i++) {
		const uint64_t filled = i ? UINT64_MAX - 3 : 1u << 20;

		clear_out();
		memcpy(staged_data(COUNTER(0)), &filled, 8);
		staged.place[0].size = 4096;
		staged_states();
		staged_stream_out(true);
		staged_draw(TSR_TOPOLOGY_TRIANGLES, 36);
		ktap_ok(staged_bin() && same_out());
		ktap_eq(staged_word(COUNTER(0)), filled);
	}
	staged_stop();
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* Several draws and commands append; what is switched off writes nothing. */
static void test_append(void)
{
	const struct expected e = expand(TSR_TOPOLOGY_TRIANGLES, 300, false);

	for (unsigned int i = 0; i < 3; i++) {
		start_plain();
		staged.slow = i > 0;
		staged.reloads = i > 1;
		for (unsigned int k = 0; k < 2; k++) {
			staged_states();
			staged_query(TSR_QUERY_STREAM, 0, NEEDED(0));
			staged_stream_out(true);
			staged_draw(TSR_TOPOLOGY_TRIANGLES, 300);
			staged_stream_out(false);
			staged_draw(TSR_TOPOLOGY_TRIANGLES, 30);
			staged_query(TSR_QUERY_STREAM, 0, 0);
			staged_draw(TSR_TOPOLOGY_TRIANGLES, 30);
			staged_query(TSR_QUERY_STREAM, 0, NEEDED(1));
			staged_stream_out(true);
			staged_draw(TSR_TOPOLOGY_TRIANGLES, 300);
			ktap_ok(staged_bin());
			for (unsigned int n = 0; n < 2; n++)
				expect_target(&e, 0, 100, 4800 * (2 * k + n));
			ktap_ok(same_out());
			ktap_eq(staged_word(COUNTER(0)), 9600 * (k + 1ull));
			ktap_eq(staged_word(NEEDED(0)), 110 * (k + 1ull));
			ktap_eq(staged_word(NEEDED(0) + 8), 100 * (k + 1ull));
			ktap_eq(staged_word(NEEDED(1)), 100 * (k + 1ull));
			ktap_eq(staged_word(NEEDED(1) + 8), 100 * (k + 1ull));
		}
		/* a command that faults after it has streamed */
		staged_states();
		staged_stream_out(true);
		staged_draw(TSR_TOPOLOGY_TRIANGLES, 300);
		staged_packet((uint64_t[]){ 0x5f | 1 << 8 }, 1);
		ktap_ok(!staged_bin());
		ktap_eq(staged_word(COUNTER(0)), 19200);
		staged_stop();
	}
}

/* A draw of captured vertices, in the same list and in the next one. */
static void test_draw_auto(void)
{
	const struct expected e = expand(TSR_TOPOLOGY_TRIANGLE_STRIP, 200, false);
	struct tsr_list_draw_auto draw = {
		.topology = TSR_TOPOLOGY_TRIANGLES, .instances = 1, .counter = COUNTER(0),
		.stride = 32 };
	uint64_t word[TSR_LIST_DRAW_AUTO_QWORDS];
	struct tsr_attribute_buffer buffer = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, .stride = 32, .size = 32 * 2048 };

	for (unsigned int i = 0; i < 8; i++) {
		const uint64_t offset = i & 1 ? 32 * 6 : 0;

		start_plain();
		staged.slow = i & 4;
		set_target(0, 32);
		declare(0x80, 4, 0, 16);
		staged_states();
		staged_stream_out(true);
		staged.draw.discard = true;
		tsr_pack_draw_state(staged_at(STAGED_AT_DRAW), &staged.draw);
		staged_draw(TSR_TOPOLOGY_TRIANGLE_STRIP, 200);
		if (i & 2)
			ktap_ok(staged_bin());
		expect_target(&e, 0, e.primitives, 0);
		/* to a second target, from the first one: positions there are those here */
		buffer.pointer = STAGED_OUT + offset;
		tsr_pack_attribute_buffer(staged_at(STAGED_AT_TABLES + 0xc0), &buffer);
		tsr_pack_attribute_buffer(staged_at(STAGED_AT_TABLES + 0xd0),
					  &(struct tsr_attribute_buffer){
			.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR });
		tsr_pack_shader_program(staged_at(STAGED_AT_PROGRAM + 0x80),
					&(struct tsr_shader_program){
			.code = STAGED_LIST + STAGED_AT_CODE,
			.attributes = STAGED_LIST + STAGED_AT_TABLES, .attribute_count = 2,
			.attribute_buffers = STAGED_LIST + STAGED_AT_TABLES + 0xc0,
			.attribute_buffer_count = 2, .header = STAGED_LIST + STAGED_AT_HEADER });
		staged.shader.position += 0x80;
		tsr_pack_shader_state(staged_at(STAGED_AT_SHADER + 0x40), &staged.shader);
		if (i & 2) {
			staged.list_bytes = 0;
			staged_packet((uint64_t[]){ TSR_OP_LIST_DRAW_STATE | 2 << 8,
						    STAGED_LIST + STAGED_AT_DRAW }, 2);
		}
		staged_packet((uint64_t[]){ TSR_OP_LIST_SHADER_STATE | 2 << 8,
					    STAGED_LIST + STAGED_AT_SHADER + 0x40 }, 2);
		set_target(1, 32);
		tsr_pack_stream_target(staged_at(0x6f00), &staged.place[1]);
		memset(staged_at(0x6f20), 0, 96);
		staged_packet((uint64_t[]){ TSR_OP_LIST_STREAM_OUT | 2 << 8,
					    STAGED_LIST + 0x6f00 }, 2);
		draw.offset = offset;
		tsr_pack_list_draw_auto(word, &draw);
		staged_packet(word, TSR_LIST_DRAW_AUTO_QWORDS);
		if (!ktap_ok(staged_bin()))
			ktap_note("fault %u", bench_fault(&staged.queue[0]));
		memcpy(want + STAGED_OUT_SIZE / 4, want + offset,
		       32ull * 3 * e.primitives - offset);
		ktap_ok(same_out());
		ktap_eq(staged_word(COUNTER(0)), 96ull * e.primitives);
		ktap_eq(staged_word(COUNTER(1)), 96ull * e.primitives - offset);
		staged_stop();
	}
}

/* Counters below OFFSET, and beyond all vertices. */
static void test_auto_refused(void)
{
	static const struct {
		struct tsr_list_draw_auto draw;
		uint64_t filled;
		unsigned int qword, code;
	} it[] = {
		{ { .stride = 4, .offset = 100 }, 99, 0, 0 },
		{ { .stride = 4, .offset = 100 }, 103, 0, 0 },
		{ { .stride = 0 }, 4, 4, TSR_FAULT_BAD_VALUE },
		{ { .stride = 1 }, 1ull << 32, 2, TSR_FAULT_BAD_VALUE },
		{ { .stride = 4, .counter = 4 }, 0, 2, TSR_FAULT_ALIGNMENT },
		{ { .stride = 4, .topology = 7 }, 0, 0, TSR_FAULT_BAD_VALUE },
		{ { .stride = 4, .topology = 12 }, 0, 0, TSR_FAULT_BAD_VALUE },
	};

	for (unsigned int i = 0; i < sizeof(it) / sizeof(it[0]); i++) {
		uint64_t word[TSR_LIST_DRAW_AUTO_QWORDS];
		struct tsr_list_draw_auto draw = it[i].draw;

		start_plain();
		memcpy(staged_data(COUNTER(0)), &it[i].filled, 8);
		staged_states();
		draw.counter += COUNTER(0);
		draw.instances = 1;
		tsr_pack_list_draw_auto(word, &draw);
		staged_packet(word, TSR_LIST_DRAW_AUTO_QWORDS);
		ktap_eq(staged_bin(), !it[i].code);
		ktap_eq(bench_fault(&staged.queue[0]), it[i].code);
		if (it[i].code)
			ktap_eq(bench_queue_reg64(&staged.queue[0], TSR_QUEUE_FAULT_ADDR__OFFSET),
				STAGED_LIST + staged.last - 40 + 8 * it[i].qword);
		ktap_eq(staged_counter(TSR_QUEUE_COUNTER_BIN_VERTICES), 0);
		staged_stop();
	}
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refuse(uint64_t va, unsigned int code)
{
	staged_stream_out(true);
	staged_draw(TSR_TOPOLOGY_TRIANGLES, 3);
	if (!ktap_ok(!staged_bin()))
		return;
	ktap_eq(bench_fault(&staged.queue[0]), code);
	if (!ktap_eq(bench_queue_reg64(&staged.queue[0], TSR_QUEUE_FAULT_ADDR__OFFSET), va))
		ktap_note("code %u", code);
	ktap_ok(same_out());
	staged_stop();
}

static void refuse_entry(unsigned int n, uint64_t entry, unsigned int code)
{
	start_plain();
	set_target(1, 2048);
	declare(0x80, 1, 1, 0);
	staged_states();
	staged_at(STAGED_AT_ENTRIES)[n] = entry;
	refuse(STAGED_LIST + STAGED_AT_ENTRIES + 8 * n, code);
}

static void refuse_place(unsigned int qword, uint64_t value, uint64_t va, unsigned int code)
{
	start_plain();
	set_target(1, 16);
	declare(0x80, 1, 1, 0);
	staged_states();
	staged_at(STAGED_AT_TARGETS)[4 + qword] = value;
	refuse(va ? va : STAGED_LIST + STAGED_AT_TARGETS + 32 + 8 * qword, code);
}

static void test_refused(void)
{
	const unsigned int bad = TSR_FAULT_BAD_VALUE;

	refuse_entry(0, 1ull << 10, TSR_FAULT_RESERVED_BITS);
	refuse_entry(1, 1ull << 20, TSR_FAULT_RESERVED_BITS);
	refuse_entry(1, 1ull << 44, TSR_FAULT_RESERVED_BITS);
	refuse_entry(1, 2ull << 32, TSR_FAULT_ALIGNMENT);
	refuse_entry(1, 0x1ff, bad);			/* beyond stage I/O memory */
	refuse_entry(1, 16ull << 32, bad);		/* beyond the stride */
	refuse_entry(1, 0x3 << 8 | 4ull << 32, bad);
	refuse_entry(1, 1ull << 16 | 1ull << 18, bad);	/* of a stream there is not */
	refuse_place(0, STAGED_OUT + 2, 0, TSR_FAULT_ALIGNMENT);
	refuse_place(1, 2ull << 48 | 16, 0, TSR_FAULT_ALIGNMENT);
	refuse_place(1, 2052ull << 48 | 16, 0, bad);
	refuse_place(1, 0ull << 48 | 16, STAGED_LIST + STAGED_AT_ENTRIES + 8, bad);
	refuse_place(2, COUNTER(0), 0, bad);
	refuse_place(2, COUNTER(0) + 4, 0, TSR_FAULT_ALIGNMENT);
	refuse_place(2, 0x90000000, 0x90000000, TSR_FAULT_MMU_UNMAPPED);
	refuse_place(3, 1, 0, TSR_FAULT_RESERVED_BITS);
	/* counters that are not a multiple of 4 */
	start_plain();
	staged_states();
	memcpy(staged_data(COUNTER(0)), &(uint64_t){ 6 }, 8);
	refuse(COUNTER(0), TSR_FAULT_ALIGNMENT);
	/* 129 words of a stream, 128 are as many as there can be */
	for (unsigned int i = 0; i < 2; i++) {
		start_plain();
		set_target(0, 2048);
		staged.geometry.entries = 0;
		for (unsigned int k = 0; k < 32; k++)
			declare(0x70, 4, 0, 16 * k);
		if (i)
			declare(0x70, 1, 0, 1024);
		staged_states();
		if (i) {
			refuse(STAGED_LIST + STAGED_AT_ENTRIES + 8 * 32, bad);
			continue;
		}
		staged_stream_out(true);
		staged_draw(TSR_TOPOLOGY_TRIANGLES, 3);
		ktap_ok(staged_bin());
		ktap_eq(staged_word(COUNTER(0)), 3 * 2048);
		staged_stop();
	}
	/* packets */
	start_plain();
	staged_states();
	staged_packet((uint64_t[]){ TSR_OP_LIST_STREAM_OUT | 2 << 8,
				    STAGED_LIST + STAGED_AT_TARGETS + 16 }, 2);
	refuse(STAGED_LIST + staged.last + 8, TSR_FAULT_ALIGNMENT);
}

/* A target at nothing: the command faults, counters stay. */
static void test_no_memory(void)
{
	start_plain();
	staged.place[0].base = STAGED_DATA + STAGED_DATA_SIZE - 48 * 10;
	set_target(1, 4);
	declare(0x70, 1, 1, 0);
	staged_states();
	staged_stream_out(true);
	staged_draw(TSR_TOPOLOGY_TRIANGLES, 60);
	ktap_ok(!staged_bin());
	ktap_eq(bench_fault(&staged.queue[0]), TSR_FAULT_MMU_UNMAPPED);
	ktap_eq(staged_word(COUNTER(0)) | staged_word(COUNTER(1)), 0);
	staged_stop();
}

/* As many counters, and queries, as there can be; then one more. */
static void test_limits(void)
{
	for (unsigned int i = 0; i < 4; i++) {
		const unsigned int n = TSR_STREAM_OUT_COUNTERS_MAX + (i & 1);

		start_plain();
		staged_states();
		for (unsigned int k = 0; k < n; k++) {
			struct tsr_stream_target place = staged.place[0];
			uint64_t *at = staged_at(0x10000 - 128 * (k + 1));

			place.counter = COUNTER(i & 2 ? 0 : k);
			place.base += 48 * k;
			tsr_pack_stream_target(at, &place);
			memset(at + 4, 0, 96);
			staged_packet((uint64_t[]){ TSR_OP_LIST_STREAM_OUT | 2 << 8,
						    STAGED_LIST + 0x10000 - 128 * (k + 1) }, 2);
			if (i & 2)
				staged_query(TSR_QUERY_STREAM, 0, STAGED_FREE + 16 * k);
			staged_draw(TSR_TOPOLOGY_TRIANGLES, 3);
		}
		ktap_eq(staged_bin(), !(i & 1));
		ktap_eq(bench_fault(&staged.queue[0]), i & 1 ? TSR_FAULT_BAD_VALUE : 0);
		for (unsigned int k = 0; k < TSR_STREAM_OUT_COUNTERS_MAX; k++) {
			if (i & 2)
				ktap_eq(staged_word(STAGED_FREE + 16 * k + 8), i == 2);
			else
				ktap_eq(staged_word(COUNTER(k)), i ? 0 : 48);
		}
		staged_stop();
	}
}

/* The heap, targets and counters whatever the cores and the path. */
static void test_same(void)
{
	static const struct tsr_config config[] = {
		{ .cores = 1, .no_inline = true }, { .cores = 2, .no_inline = true },
		{ .cores = 8, .late_messages = true }, { .cores = 1, .simd = "sse2" },
	};

	for (unsigned int i = 0; i < 4; i++) {
		staged_start(&config[i]);
		put_vertices(3);
		clear_out();
		set_target(0, 32);
		declare(0x70, 4, 0, 0);
		declare(0x80, 4, 0, 16);
		staged_states();
		staged_stream_out(true);
		staged_query(TSR_QUERY_STATISTICS, 0, STAGED_QUERIES);
		staged_draw(TSR_TOPOLOGY_TRIANGLE_STRIP, 900);
		ktap_ok(staged_bin());
		ktap_ok(staged_same(!i));
		staged_stop();
	}
}

/* ---- Stopping -------------------------------------------------------------------------------- */

static void test_stop_work(void)
{
	static const char *const what[] = { "room for all", "room for none" };

	for (unsigned int i = 0; i < 2; i++) {
		start_plain();
		/* every vertex to the same place: as long as one can write */
		set_target(0, 2048);
		staged.geometry.entries = 0;
		for (unsigned int k = 0; k < 32; k++)
			declare(0x70, 4, 0, 64 * k);
		staged.place[0].size = i ? 4096 : 1u << 20;
		staged.draw.discard = true;
		staged_states();
		staged_stream_out(true);
		for (unsigned int k = 0; k < (i ? 1 : 40); k++)
			staged_draw(TSR_TOPOLOGY_TRIANGLE_STRIP, i ? 3u << 28 : 2000);
		staged_stop_work(what[i], i);
		staged_stop();
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[SO1] every topology, words in any order", test_topologies);
	ktap_run("a draw that is streamed is drawn as any other", test_picture);
	ktap_run("[SO2] as many primitives as find room, to the byte", test_room);
	ktap_run("[SO3] counters and queries over draws and commands", test_append);
	ktap_run("[SO3] draws of what has been streamed", test_draw_auto);
	ktap_run("LIST_DRAW_AUTO of nothing, of too much", test_auto_refused);
	ktap_run("declarations, targets and counters that are refused", test_refused);
	ktap_run("a target without memory", test_no_memory);
	ktap_run("as many counters and queries as there can be", test_limits);
	ktap_run("the same whatever the cores and the path", test_same);
	ktap_run("[SYS7] BIN stops within STOP_WORK in stream-out", test_stop_work);
	return ktap_finish();
}
