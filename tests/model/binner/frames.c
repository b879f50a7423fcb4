/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=300 */
/*
 * Frames as queues see them: one is binned while another one is rendered, what each event behind a
 * pass says, which memory is free then, snapshots between, and a host that has no memory left.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "device/counters.h"
#include "fail_alloc.h"
#include "ktap.h"
#include "soup.h"
#include <tessera/asm.h>

#define WIDTH 96
#define HEIGHT 64
#define TRIANGLES 300

#define DATA 0x10000000ull		/* read and write: vertices, indices, fences */
#define VERTICES DATA
#define INDICES (DATA + 0x8000)
#define FENCES (DATA + 0x10000)
#define COUNTS (DATA + 0x11000)		/* of programs that count their threads: 64 bytes each */
#define QUERIES (DATA + 0x12000)
#define LIST 0x20000000ull		/* read and execute, 64 KiB for each of two frames */
#define LIST_OF(n) (LIST + 0x10000ull * (n))
#define HEAP_OF(n) (0x40000000ull + (1ull << 20) * (n))
#define TARGET_OF(n) (0x60000000ull + (1ull << 16) * (n))
#define RINGS 0x70000000ull

/* In the memory of a frame's lists. */
enum {
	FRAME = 0, TARGET = 0x100, SHADER = 0x200, DRAW = 0x280, VIEWPORT = 0x300, BLEND = 0x340,
	POSITION = 0x400, FRAGMENT = 0x480, TABLE = 0x500, BUFFERS = 0x540, BIN_LIST = 0x800,
	TILE_LIST = 0x1000, RENDER_LIST = 0x1100, BIN_STREAM = 0x1200, RENDER_STREAM = 0x1400,
	POSITION_CODE = 0x2000, FRAGMENT_CODE = 0x3000, VARYING_CODE = 0x4000, VARYING = 0x4800,
	PUSH = 0x4900,
};

static const char position[] =
	"clause message=attribute slot=0 wait=0 {\n"
	"*NOP\n+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:0, @r0\n}\n"
	"clause end message=store slot=0 wait=0 {\n*NOP\n+STORE.i128 r58, r59, @r0\n}\n";
/* The number of the primitive. */
static const char fragment[] =
	"clause message=atest slot=0 wait=0,6,7 td {\n*NOP\n+ATEST r60:t1, r60, r60, @r60\n}\n"
	"clause end message=blend slot=0 wait=0 td {\n*MOV.i32 r0:t0, r57\n+NOP\n*NOP\n"
	"+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n}\n";

enum { BIN, RENDER };

static struct machine {
	struct bench *b;
	struct bench_as as;
	struct bench_queue queue[2];
	uint8_t *data, *list, *target;
	bool counts;			/* programs count their threads, draws have queries */
} m;

static uint64_t *at(unsigned int n, unsigned int offset)
{
	return (uint64_t *)(m.list + 0x10000 * n + offset);
}

static void put_code(unsigned int n, unsigned int offset, const char *text)
{
	struct tsr_asm_shader *code;

	if (tsr_asm_assemble(text, strlen(text), 0, &code)) {
		tsr_asm_print_diagnostics(stderr, code, "program");
		abort();
	}
	memcpy(at(n, offset), code->code, code->size);
	tsr_asm_free(code);
}

static uint32_t bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

static void put_states(unsigned int n)
{
	const uint64_t list = LIST_OF(n);

	put_code(n, POSITION_CODE, position);
	put_code(n, FRAGMENT_CODE, fragment);
	tsr_pack_shader_program(at(n, POSITION), &(struct tsr_shader_program){
		.code = list + POSITION_CODE, .attributes = list + TABLE, .attribute_count = 1,
		.attribute_buffers = list + BUFFERS, .attribute_buffer_count = 1 });
	tsr_pack_shader_program(at(n, FRAGMENT), &(struct tsr_shader_program){
		.code = list + FRAGMENT_CODE });
	tsr_pack_attribute(at(n, TABLE), &(struct tsr_attribute){
		.format = TSR_PIXEL_FORMAT_RGBA32F, .order = TSR_COMPONENT_ORDER_RGBA });
	tsr_pack_attribute_buffer(at(n, BUFFERS), &(struct tsr_attribute_buffer){
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, .pointer = VERTICES, .stride = 16,
		.size = 3 * TRIANGLES * 16 });
	tsr_pack_shader_state(at(n, SHADER), &(struct tsr_shader_state){
		.position = list + POSITION, .fragment = list + FRAGMENT });
	tsr_pack_draw_state(at(n, DRAW), &(struct tsr_draw_state){
		.viewport_count = 1, .viewports = list + VIEWPORT, .blend_count = 1,
		.blends = list + BLEND, .sample_mask = 0xffff });
	tsr_pack_viewport(at(n, VIEWPORT), &(struct tsr_viewport){
		.width = bits(WIDTH), .height = bits(HEIGHT), .far = bits(1),
		.scissor_x1 = WIDTH, .scissor_y1 = HEIGHT });
	tsr_pack_blend(at(n, BLEND), &(struct tsr_blend){
		.mask = 15, .mode = TSR_BLEND_MODE_OPAQUE,
		.registers = TSR_REGISTER_TYPE_U32, .format = TSR_PIXEL_FORMAT_R32UI << 12 });
}

static void put_frame(unsigned int n)
{
	const uint64_t list = LIST_OF(n);

	tsr_pack_frame(at(n, FRAME), &(struct tsr_frame){
		.width = WIDTH, .height = HEIGHT, .layers = 1, .tile_shift = 4, .targets = 1,
		.heap = HEAP_OF(n), .heap_size = 1 << 20, .colour = list + TARGET });
	tsr_pack_render_target(at(n, TARGET), &(struct tsr_render_target){
		.pointer = TARGET_OF(n), .format = TSR_PIXEL_FORMAT_R32UI, .pitch = WIDTH * 4,
		.sample_stride = WIDTH * HEIGHT * 4, .layer_stride = WIDTH * HEIGHT * 4,
		.clear_0 = 0xffff });
}

static void put_lists(unsigned int n)
{
	const uint64_t list = LIST_OF(n);
	uint64_t *bin = at(n, BIN_LIST), *tile = at(n, TILE_LIST), *render = at(n, RENDER_LIST);

	tsr_pack_list_shader_state(bin, &(struct tsr_list_shader_state){ .addr = list + SHADER });
	bin += TSR_LIST_SHADER_STATE_QWORDS;
	tsr_pack_list_draw_state(bin, &(struct tsr_list_draw_state){ .addr = list + DRAW });
	bin += TSR_LIST_DRAW_STATE_QWORDS;
	for (unsigned int kind = 0; m.counts && kind <= TSR_QUERY_STATISTICS; kind++) {
		tsr_pack_list_query(bin, &(struct tsr_list_query){
			.kind = kind, .addr = QUERIES + 64 * kind });
		bin += TSR_LIST_QUERY_QWORDS;
	}
	tsr_pack_list_draw(bin, &(struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_TRIANGLES, .index = TSR_INDEX_TYPE_U16,
		.count = 3 * TRIANGLES, .instances = 1, .indices = INDICES,
		.index_bytes = 3 * TRIANGLES * 2 });
	bin += TSR_LIST_DRAW_QWORDS;
	*bin++ = TSR_OP_LIST_HALT | TSR_LIST_HALT_QWORDS << 8;
	tile[0] = TSR_OP_TILE_CLEAR | 1u << 8 | 1u << 16;
	tile[1] = TSR_OP_TILE_DRAW | 1u << 8;
	tile[2] = TSR_OP_TILE_STORE | 1u << 8 | 1u << 16;
	tsr_pack_list_tiles(render, &(struct tsr_list_tiles){
		.x1 = WIDTH / 16 - 1, .y1 = HEIGHT / 16 - 1, .addr = list + TILE_LIST, .size = 24,
		.end_of_frame = true });
	render[TSR_LIST_TILES_QWORDS] = TSR_OP_LIST_HALT | TSR_LIST_HALT_QWORDS << 8;
	tsr_pack_bin(at(n, BIN_STREAM), &(struct tsr_bin){
		.list = list + BIN_LIST, .size = 8 * (uint32_t)(bin - at(n, BIN_LIST)),
		.frame = list + FRAME });
	tsr_pack_render(at(n, RENDER_STREAM), &(struct tsr_render){
		.list = list + RENDER_LIST, .size = 8 * (TSR_LIST_TILES_QWORDS + 1),
		.frame = list + FRAME });
}

static uint64_t fence_va(unsigned int which, unsigned int n, enum tsr_event event)
{
	return FENCES + 64 * which + 32 * n + 8 * event;
}

static uint64_t fence(unsigned int which, unsigned int n, enum tsr_event event)
{
	return *(volatile uint64_t *)(m.data + (fence_va(which, n, event) - DATA));
}

/* A pass of frame @n in the queue, fences for all events in its stream. */
static void submit(unsigned int which, unsigned int n)
{
	uint64_t stream = which == BIN ? BIN_STREAM : RENDER_STREAM, *word = at(n, stream);
	unsigned int qwords = which == BIN ? TSR_BIN_QWORDS : TSR_RENDER_QWORDS;

	for (unsigned int event = TSR_EVENT_REACHED; event <= TSR_EVENT_ALL_DONE; event++) {
		tsr_pack_fence(word + qwords, &(struct tsr_fence){
			.event = event, .addr = fence_va(which, n, event), .value = 1 });
		qwords += TSR_FENCE_QWORDS;
	}
	bench_call(&m.queue[which], LIST_OF(n) + stream, qwords * 8);
}

static void start(void)
{
	static const uint8_t classes[] = { TSR_ENGINE_CLASS_BIN, TSR_ENGINE_CLASS_RENDER };
	struct soup s = soup_new(91);
	float *v;

	m.b = bench_new(&(struct tsr_config){ .cores = 2, .no_inline = true });
	bench_as_init(m.b, &m.as, 1);
	m.data = bench_buffer(&m.as, DATA, 0x20000, BENCH_RW);
	m.list = bench_buffer(&m.as, LIST, 0x20000, BENCH_RX);
	bench_buffer(&m.as, HEAP_OF(0), 2 << 20, BENCH_RW);
	m.target = bench_buffer(&m.as, TARGET_OF(0), 2 << 16, BENCH_RW);
	for (unsigned int i = 0; i < 2; i++) {
		bench_queue_init(&m.queue[i], i, classes[i], TSR_PRIORITY_NORMAL, &m.as,
				 RINGS + 0x10000 * i, 12, &m.as);
		put_states(i);
		put_frame(i);
		put_lists(i);
	}
	v = (float *)(void *)m.data;
	for (unsigned int i = 0; i < 3 * TRIANGLES; i++) {
		for (unsigned int k = 0; k < 2; k++)
			v[4 * i + k] = (float)soup_between(&s, -1024, 1024) / 1024;
		v[4 * i + 2] = 0.5f;
		v[4 * i + 3] = 1;
		((uint16_t *)(void *)(m.data + (INDICES - DATA)))[i] = (uint16_t)i;
	}
}

static uint64_t counter(unsigned int which, enum tsr_queue_counter id)
{
	return bench_queue_reg64(&m.queue[which], TSR_REG_QUEUE_COUNTER(0, id) -
				 TSR_QUEUE__OFFSET);
}

/* A step of the device; false: nothing is left to do. */
static bool step(void)
{
	return tsr_gpu_run(m.b->gpu, 1) || bench_answer(m.b);
}

static const uint8_t *picture(unsigned int n)
{
	return m.target + 0x10000 * n;
}

#define PICTURE_BYTES (WIDTH * HEIGHT * 4)

/* The picture, with consecutive passes. */
static const uint8_t *wanted(void)
{
	static uint8_t want[PICTURE_BYTES];
	unsigned int shown = 0;

	start();
	for (unsigned int which = BIN; which <= RENDER; which++) {
		submit(which, 0);
		bench_kick(&m.queue[which]);
		ktap_ok(bench_run(m.b, 60));
		ktap_eq(bench_state(&m.queue[which]), TSR_QUEUE_STATE_IDLE);
	}
	memcpy(want, picture(0), sizeof(want));
	for (unsigned int i = 0; i < PICTURE_BYTES / 4; i++)
		shown += ((uint32_t *)(void *)want)[i] != 0xffff;
	ktap_ok(shown > PICTURE_BYTES / 8);
	bench_free(m.b);
	return want;
}

/* ---- Both threads at once -------------------------------------------------------------------- */

static void test_overlap(void)
{
	const uint8_t *want = wanted();
	uint64_t bins = 0, between = 0;

	start();
	submit(BIN, 0);
	bench_kick(&m.queue[BIN]);
	ktap_ok(bench_run(m.b, 60));
	submit(RENDER, 0);
	submit(BIN, 1);
	bench_kick(&m.queue[RENDER]);
	bench_kick(&m.queue[BIN]);
	while (step()) {
		uint64_t now = counter(BIN, TSR_QUEUE_COUNTER_CYCLES);
		bool rendering = fence(RENDER, 0, TSR_EVENT_REACHED) &&
				 !fence(RENDER, 0, TSR_EVENT_ALL_DONE);

		/* steps in which the binner goes on with a frame while the other is rendered */
		between += rendering && now != bins && fence(BIN, 1, TSR_EVENT_REACHED) &&
			   !fence(BIN, 1, TSR_EVENT_ALL_DONE);
		bins = now;
	}
	ktap_ok(between > 0);
	ktap_ok(!memcmp(picture(0), want, PICTURE_BYTES));
	submit(RENDER, 1);
	bench_kick(&m.queue[RENDER]);
	ktap_ok(bench_run(m.b, 60));
	ktap_ok(!memcmp(picture(1), want, PICTURE_BYTES));
	bench_free(m.b);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void check_events(unsigned int which, unsigned int n, const uint8_t *want)
{
	for (unsigned int event = TSR_EVENT_REACHED; event < TSR_EVENT_ALL_DONE; event++)
		ktap_ok(fence(which, n, event) >= fence(which, n, event + 1));
	if (which == RENDER && fence(RENDER, n, TSR_EVENT_WRITES_DONE))
		ktap_ok(!memcmp(picture(n), want, PICTURE_BYTES));
	if (which == BIN && fence(BIN, n, TSR_EVENT_WRITES_DONE))
		ktap_ok(counter(BIN, TSR_QUEUE_COUNTER_ENGINE_COMMANDS) > n);
}

/* Step by step: REACHED before the pass is done, the others when what they name is. */
static void test_events(void)
{
	const uint8_t *want = wanted();

	start();
	for (unsigned int which = BIN; which <= RENDER; which++) {
		unsigned int early = 0;

		submit(which, 0);
		bench_kick(&m.queue[which]);
		while (step()) {
			early += fence(which, 0, TSR_EVENT_REACHED) &&
				 !fence(which, 0, TSR_EVENT_WRITES_DONE);
			check_events(which, 0, want);
		}
		ktap_ok(early > 1);
		for (unsigned int event = TSR_EVENT_REACHED; event <= TSR_EVENT_ALL_DONE; event++)
			ktap_eq(fence(which, 0, event), 1);
	}
	bench_free(m.b);
}

/* ---- A heap that grows ----------------------------------------------------------------------- */

/* The heap is empty at first: the queue waits for each piece, and goes on as soon as it has it. */
static void test_heap_grows(void)
{
	const uint8_t *want = wanted();
	uint64_t p[TSR_HEAP_QWORDS];
	unsigned int size = 0;

	start();
	tsr_pack_frame(at(0, FRAME), &(struct tsr_frame){
		.width = WIDTH, .height = HEIGHT, .layers = 1, .tile_shift = 4, .targets = 1,
		.heap = HEAP_OF(0), .colour = LIST_OF(0) + TARGET });
	tsr_pack_heap(p, &(struct tsr_heap){ .base = HEAP_OF(0), .max = 16 });
	bench_emit(&m.queue[BIN], p, TSR_HEAP_QWORDS);
	submit(BIN, 0);
	bench_kick(&m.queue[BIN]);
	ktap_ok(bench_run(m.b, 60));
	while (bench_state(&m.queue[BIN]) == TSR_QUEUE_STATE_BLOCKED && size < 16) {
		bench_write(m.b, TSR_REG_QUEUE_HEAP_GROW(BIN), ++size);
		ktap_ok(bench_run(m.b, 60));
	}
	ktap_ok(size > 0 && size < 16);
	ktap_eq(fence(BIN, 0, TSR_EVENT_ALL_DONE), 1);
	submit(RENDER, 0);
	bench_kick(&m.queue[RENDER]);
	ktap_ok(bench_run(m.b, 60));
	ktap_ok(!memcmp(picture(0), want, PICTURE_BYTES));
	bench_free(m.b);
}

/* ---- Memory that is free --------------------------------------------------------------------- */

static void scribble(void *memory, size_t size)
{
	memset(memory, 0xdb, size);
}

/*
 * The binner's list, its stream and indices are nobody's when BIN is done; RENDER's stream when it
 * is reached. Of states, vertices and the heap RENDER wants all that its frame needs.
 */
static void test_free(void)
{
	const uint8_t *want = wanted();

	start();
	submit(BIN, 0);
	bench_kick(&m.queue[BIN]);
	while (!fence(BIN, 0, TSR_EVENT_ALL_DONE) && step())
		continue;
	scribble(at(0, BIN_LIST), 0x400);
	scribble(at(0, BIN_STREAM), 0x100);
	scribble(m.data + (INDICES - DATA), 3 * TRIANGLES * 2);
	submit(RENDER, 0);
	bench_kick(&m.queue[RENDER]);
	while (!fence(RENDER, 0, TSR_EVENT_ALL_DONE) && step())
		continue;
	ktap_ok(!memcmp(picture(0), want, PICTURE_BYTES));
	/* all of the frame is free now: the next one is made there, of other triangles */
	scribble(m.list, 0x10000);
	put_states(0);
	put_frame(0);
	put_lists(0);
	scribble(m.data, 0x8000);
	memset(m.data + (INDICES - DATA), 0, 3 * TRIANGLES * 2);
	memset(m.data + (FENCES - DATA), 0, 256);
	submit(BIN, 0);
	bench_kick(&m.queue[BIN]);
	ktap_ok(bench_run(m.b, 60));
	submit(RENDER, 0);
	bench_kick(&m.queue[RENDER]);
	ktap_ok(bench_run(m.b, 60));
	/* triangles of one vertex: nothing */
	for (unsigned int i = 0; i < PICTURE_BYTES / 4; i++)
		ktap_ok(((const uint32_t *)(const void *)picture(0))[i] == 0xffff);
	bench_free(m.b);
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* In front of a program: one more has run. R56 is lost. */
#define COUNT \
	"clause message=atomic slot=0 wait=0 {\n" \
	"*SHADDXL.u32 t0, u0.w0, r55, shift:2\n+SHADDXH.i32 t1, u0.w1, t\n" \
	"*ATOM_C1.i32.ainc t0, t1\n+ATOM_CX t0, t1, zero.w0, @r56\n}\n"

/* Frame 0, all of whose programs count their threads, and loop a while. */
static void start_counting(void)
{
	static const char counted_fragment[] =
		"clause wait=0,6,7 {\n*MOV.i32 r0:t0, r57\n+NOP\n}\n" COUNT
		"clause message=atest slot=0 wait=0 td {\n*NOP\n+ATEST r60:t1, r60, r60, @r60\n}\n"
		"clause end message=blend slot=0 wait=0 td {\n"
		"*NOP\n+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n}\n";
	static const unsigned int programs[] = { POSITION, VARYING, FRAGMENT };
	static const unsigned int code[] = { POSITION_CODE, VARYING_CODE, FRAGMENT_CODE };
	char counted_position[1000];

	m.counts = true;
	start();
	snprintf(counted_position, sizeof(counted_position), "%s%s", COUNT, position);
	put_code(0, POSITION_CODE, counted_position);
	put_code(0, VARYING_CODE, COUNT "clause end wait=0 {\n*NOP\n+NOP\n}\n");
	put_code(0, FRAGMENT_CODE, counted_fragment);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t counter = COUNTS + 64 * i;

		memcpy(at(0, PUSH + 64 * i), &counter, sizeof(counter));
		tsr_pack_shader_program(at(0, programs[i]), &(struct tsr_shader_program){
			.code = LIST + code[i], .attributes = LIST + TABLE, .attribute_count = 1,
			.attribute_buffers = LIST + BUFFERS, .attribute_buffer_count = 1,
			.push = LIST + PUSH + 64 * i, .push_words = 2 });
	}
	tsr_pack_shader_state(at(0, SHADER), &(struct tsr_shader_state){
		.position = LIST + POSITION, .varying = LIST + VARYING, .output_stride = 16,
		.fragment = LIST + FRAGMENT, .side_effects = true });
	submit(BIN, 0);
	bench_kick(&m.queue[BIN]);
}

/* The counters that do not depend on time, and on what translations are at hand. */
#define EXACT_COUNTERS \
	(1ull << TSR_QUEUE_COUNTER_ENGINE_COMMANDS | 1ull << TSR_QUEUE_COUNTER_SHADER_CLAUSES | \
	 1ull << TSR_QUEUE_COUNTER_SHADER_THREADS | 1ull << TSR_QUEUE_COUNTER_SHADER_MESSAGES | \
	 ~0ull << TSR_QUEUE_COUNTER_BIN_UNIFORM_STALLS)

struct left {
	uint8_t data[0x3000], target[PICTURE_BYTES];
	uint64_t counter[2][TSR_QUEUE_COUNTERS];
};

static void take(struct left *l)
{
	memcpy(l->data, m.data + (FENCES - DATA), sizeof(l->data));
	memcpy(l->target, picture(0), sizeof(l->target));
	for (unsigned int i = 0; i < 2 * TSR_QUEUE_COUNTERS; i++)
		l->counter[i & 1][i / 2] = EXACT_COUNTERS >> i / 2 & 1 ? counter(i & 1, i / 2) : 0;
}

/* Another machine of the same memory goes on. */
static void transplant(bool drain)
{
	char err[200] = "";
	size_t size;
	void *state;

	tsr_gpu_pause(m.b->gpu);
	if (drain)
		tsr_gpu_drain(m.b->gpu);
	size = tsr_gpu_save(m.b->gpu, NULL, 0);
	state = malloc(size);
	tsr_gpu_save(m.b->gpu, state, size);
	bench_replace(m.b);
	tsr_gpu_pause(m.b->gpu);
	if (!ktap_ok(tsr_gpu_load(m.b->gpu, state, size, err, sizeof(err))))
		ktap_note("%s", err);
	tsr_gpu_resume(m.b->gpu);
	free(state);
}

/* Both passes, with a snapshot behind @steps steps; their number. */
static unsigned int count_frame(unsigned int steps, struct left *left)
{
	unsigned int n = 0;
	bool rendered = false;

	start_counting();
	for (;;) {
		if (n++ == steps)
			transplant(true);
		if (step())
			continue;
		if (rendered)
			break;
		rendered = true;
		submit(RENDER, 0);
		bench_kick(&m.queue[RENDER]);
	}
	take(left);
	bench_free(m.b);
	m.counts = false;
	return n;
}

/* A snapshot at any step counts nothing twice and loses nothing. */
static void test_snapshots(void)
{
	static struct left want, left;
	unsigned int steps = count_frame(UINT32_MAX, &want), stride;

	ktap_note("%u steps", steps);
	stride = getenv("TSR_QUICK") ? 1 + steps / 150 : 1 + steps / 1500;
	/* BIN and batches are over soon */
	for (unsigned int n = 0; n < steps; n += n < 160 ? 1 : stride) {
		count_frame(n, &left);
		if (!ktap_ok(!memcmp(&left, &want, sizeof(left))))
			ktap_note("at step %u", n);
	}
	for (unsigned int i = 0; i < 3; i++)
		ktap_ok(*(uint32_t *)(void *)(want.data + (COUNTS - FENCES) + 64 * i) > 100);
}

/* ---- Pages ----------------------------------------------------------------------------------- */

/* The host has to be asked for pages: nothing is counted or done twice for that. */
static void test_pending(void)
{
	static struct left want, left;

	count_frame(UINT32_MAX, &want);
	for (unsigned int every = 1; every < 6; every++) {
		start_counting();
		m.b->pending_every = every;
		for (unsigned int which = BIN; which <= RENDER; which++) {
			if (which == RENDER)
				submit(RENDER, 0);
			bench_kick(&m.queue[which]);
			ktap_ok(bench_run(m.b, 60));
			ktap_eq(bench_fault(&m.queue[which]), TSR_FAULT_NONE);
		}
		ktap_ok(m.b->answers > 5);
		take(&left);
		if (!ktap_ok(!memcmp(&left, &want, sizeof(left))))
			ktap_note("one page in %u is pending", every);
		bench_free(m.b);
		m.counts = false;
	}
}

/* A frame whose pass @which finds no page at @va; whether it needs it. */
static bool without_page(unsigned int which, uint64_t va, const struct left *want)
{
	struct bench_queue *q = &m.queue[which];
	static struct left left;
	uint64_t *entry, kept;
	bool needed;

	start_counting();
	if (which == RENDER) {
		ktap_ok(bench_run(m.b, 60));
		submit(RENDER, 0);
	}
	entry = bench_pte(&m.as, va, 0);
	kept = *entry;
	*entry = 0;
	bench_invalidate(&m.as, va, BENCH_PAGE);
	bench_kick(q);
	ktap_ok(bench_run(m.b, 60));
	needed = bench_state(q) != TSR_QUEUE_STATE_IDLE;
	if (needed) {
		uint64_t addr = bench_queue_reg64(q, TSR_QUEUE_FAULT_ADDR__OFFSET);

		ktap_eq(bench_fault(q), TSR_FAULT_MMU_UNMAPPED);
		ktap_eq(addr / BENCH_PAGE, va / BENCH_PAGE);
	} else if (which == RENDER) {
		take(&left);
		ktap_ok(!memcmp(&left, want, sizeof(left)));
	}
	*entry = kept;
	bench_invalidate(&m.as, va, BENCH_PAGE);
	bench_free(m.b);
	m.counts = false;
	return needed;
}

/* Each page in turn is not there: a fault says which, or nobody wanted it. */
static void test_missing(void)
{
	static const struct {
		uint64_t va;
		unsigned int pages;
	} areas[] = {
		{ DATA, 32 }, { LIST, 8 }, { HEAP_OF(0), 48 }, { TARGET_OF(0), 16 },
	};
	static struct left want;

	count_frame(UINT32_MAX, &want);
	for (unsigned int i = 0; i < 2 * sizeof(areas) / sizeof(areas[0]); i++) {
		unsigned int needed = 0;

		for (unsigned int n = 0; n < areas[i / 2].pages; n++) {
			uint64_t va = areas[i / 2].va + BENCH_PAGE * n;

			needed += without_page(i % 2, va, &want);
		}
		ktap_note("pass %u needs %u of %u pages at 0x%x", i % 2, needed, areas[i / 2].pages,
			  (unsigned int)areas[i / 2].va);
		if (i % 2 == RENDER || areas[i / 2].va != TARGET_OF(0))
			ktap_ok(needed > 1);
	}
}

/* An endless list is saved in its state, and begins again. */
static void test_endless(void)
{
	static const char endless[] =
		"again:\nclause wait=0,6,7 flow=nbtb_unconditional {\n"
		"*NOP\n+BRANCHZ.i32.eq r55, again\n}\n";

	start();
	submit(BIN, 0);
	bench_kick(&m.queue[BIN]);
	ktap_ok(bench_run(m.b, 60));
	put_code(0, FRAGMENT_CODE, endless);
	submit(RENDER, 0);
	bench_kick(&m.queue[RENDER]);
	for (unsigned int n = 0; n < 3; n++) {
		for (unsigned int i = 0; i < 200; i++)
			ktap_ok(step());
		transplant(true);
	}
	ktap_ok(step());
	ktap_ok(!fence(RENDER, 0, TSR_EVENT_WRITES_DONE));
	bench_control(&m.queue[RENDER], TSR_QUEUE_OP_RESET);
	ktap_ok(!step());
	bench_free(m.b);
}

/* ---- A host without memory ------------------------------------------------------------------- */

/* True if a pass ends well; if not, the queue says that the device cannot, and is enabled again. */
static bool pass(unsigned int which)
{
	struct bench_queue *q = &m.queue[which];

	if (which == RENDER)
		submit(RENDER, 0);
	bench_kick(q);
	if (ktap_ok(bench_run(m.b, 60)) && bench_state(q) == TSR_QUEUE_STATE_IDLE)
		return true;
	ktap_eq(bench_state(q), TSR_QUEUE_STATE_FAULTED);
	ktap_ok(bench_fault(q) == TSR_FAULT_UNSUPPORTED ||
		bench_fault(q) == TSR_FAULT_SHADER_UNSUPPORTED);
	bench_control(q, TSR_QUEUE_OP_RESET);
	bench_enable(q, 0);
	return false;
}

/* A frame with allocation @nth failing, or all from there on; false: there are not so many. */
static bool without_memory(const uint8_t *want, unsigned int nth, bool lasting)
{
	unsigned int seen = 0;

	start_counting();
	for (unsigned int which = BIN; which <= RENDER; which++) {
		(lasting ? fail_alloc_from : fail_alloc_at)(nth > seen ? nth - seen : lasting);
		if (!pass(which)) {
			seen += fail_alloc_at(0);
			if (which == BIN)
				submit(BIN, 0);
			ktap_ok(pass(which));
		} else {
			seen += fail_alloc_at(0);
		}
	}
	if (!ktap_ok(!memcmp(picture(0), want, PICTURE_BYTES)))
		ktap_note("behind allocation %u that failed", nth);
	bench_free(m.b);
	m.counts = false;
	return seen >= nth;
}

static void test_no_memory(void)
{
	const uint8_t *want = wanted();

	for (unsigned int lasting = 0; lasting < 2; lasting++) {
		unsigned int nth = 1;

		while (without_memory(want, nth, lasting))
			nth++;
		ktap_note("%u allocations", nth - 1);
		ktap_ok(nth > 10);
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[BIN4] a queue that waits for its heap goes on when that has grown",
		 test_heap_grows);
	ktap_run("[CP10] a frame is binned while another one is rendered", test_overlap);
	ktap_run("[CP5] events behind BIN and RENDER, one by one", test_events);
	ktap_run("[CP5] a frame is the same wherever a snapshot is taken", test_snapshots);
	ktap_run("[CP5] a program without an end can be saved", test_endless);
	ktap_run("[CP9] what is free when a pass is done, and when a frame is", test_free);
	ktap_run("[MEM1] [CP5] pages of a frame that the host is asked for", test_pending);
	ktap_run("[MEM3] each page of a frame is missing", test_missing);
	ktap_run("a pass the host has no memory for is right or faults, the next is right",
		 test_no_memory);
	return ktap_finish();
}
