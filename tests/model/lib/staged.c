/* SPDX-License-Identifier: MIT */
#include "staged.h"

#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "processor_time.h"
#include "reload.h"
#include "stop_work.h"
#include <tessera/asm.h>

struct staged staged;

static const char fragment[] =
	"clause slot=0 wait=0,6,7 {\n*NOP\n"
	"+LD_VAR_IMM.v4.f32.clobber.center r61, index:0, @r0\n}\n"
	"clause wait=0 td {\n*NOP\n+ATEST r60:t1, r60, 0x3f800000, @r60\n}\n"
	"clause end td {\n*NOP\n+NOP\n*NOP\n+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n}\n";
static const char vertex[] =
	STAGED_ALD(".v4", "0x80", "r0") STAGED_ALD(".v4", "0x90", "r4")
	STAGED_AST(".v4", "0x870", "r0") STAGED_AST(".v4", "0x880", "r4") STAGED_END;

uint64_t *staged_at(unsigned int offset)
{
	return (uint64_t *)(void *)(staged.list + offset);
}

void *staged_data(uint64_t va)
{
	return staged.data + (va - STAGED_DATA);
}

uint32_t *staged_vertex(unsigned int n)
{
	return (uint32_t *)staged_data(STAGED_DATA) + 8 * n;
}

uint32_t staged_bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

uint64_t staged_word(uint64_t va)
{
	uint64_t word;

	memcpy(&word, staged_data(va), sizeof(word));
	return word;
}

static void put_code(unsigned int offset, const char *text)
{
	struct tsr_asm_shader *code;

	if (tsr_asm_assemble(text, strlen(text), 0, &code)) {
		tsr_asm_print_diagnostics(stderr, code, "program");
		abort();
	}
	memcpy(staged_at(offset), code->code, code->size);
	tsr_asm_free(code);
}

/* ---- States ---------------------------------------------------------------------------------- */

/* Tables: attributes 0 and 1, the varying, their buffers. */
static void put_tables(void)
{
	const unsigned int at = STAGED_AT_TABLES;

	for (unsigned int i = 0; i < 2; i++)
		tsr_pack_attribute(staged_at(at) + i, &(struct tsr_attribute){
			.format = TSR_PIXEL_FORMAT_RGBA32UI, .offset = 16 * i });
	tsr_pack_attribute(staged_at(at + 0x40), &(struct tsr_attribute){
		.buffer = 1, .format = TSR_PIXEL_FORMAT_RGBA32F });
	tsr_pack_attribute_buffer(staged_at(at + 0x80), &(struct tsr_attribute_buffer){
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, .pointer = STAGED_DATA, .stride = 32,
		.size = 32 * STAGED_VERTICES });
	tsr_pack_attribute_buffer(staged_at(at + 0x90), &(struct tsr_attribute_buffer){
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR });
}

static void put_frame(void)
{
	tsr_pack_frame(staged_at(STAGED_AT_FRAME), &staged.frame);
	tsr_pack_render_target(staged_at(STAGED_AT_TARGET), &(struct tsr_render_target){
		.pointer = STAGED_TARGET, .format = TSR_PIXEL_FORMAT_RGBA32F,
		.pitch = STAGED_WIDTH * 16, .sample_stride = STAGED_TARGET_BYTES,
		.layer_stride = STAGED_TARGET_BYTES });
	tsr_pack_viewport(staged_at(STAGED_AT_VIEWPORT), &(struct tsr_viewport){
		.width = staged_bits(STAGED_WIDTH), .height = staged_bits(STAGED_HEIGHT),
		.far = staged_bits(1), .scissor_x1 = STAGED_WIDTH, .scissor_y1 = STAGED_HEIGHT });
	tsr_pack_blend(staged_at(STAGED_AT_BLEND), &(struct tsr_blend){
		.mask = 15, .mode = TSR_BLEND_MODE_OPAQUE, .components = 3,
		.registers = TSR_REGISTER_TYPE_F32, .format = TSR_PIXEL_FORMAT_RGBA32F << 12 });
	tsr_pack_shader_program(staged_at(STAGED_AT_FRAGMENT), &(struct tsr_shader_program){
		.code = STAGED_LIST + STAGED_AT_FRAGMENT_CODE,
		.varyings = STAGED_LIST + STAGED_AT_TABLES + 0x40, .varying_count = 1,
		.attribute_buffers = STAGED_LIST + STAGED_AT_TABLES + 0x80,
		.attribute_buffer_count = 2 });
}

void staged_states(void)
{
	put_frame();
	tsr_pack_shader_state(staged_at(STAGED_AT_SHADER), &staged.shader);
	tsr_pack_draw_state(staged_at(STAGED_AT_DRAW), &staged.draw);
	tsr_pack_geometry_state(staged_at(STAGED_AT_GEOMETRY), &staged.geometry);
	for (unsigned int i = 0; i < STAGED_STAGES; i++) {
		tsr_pack_stage_header(staged_at(STAGED_AT_HEADER + 0x80 * i), &staged.header[i]);
		tsr_pack_shader_program(staged_at(STAGED_AT_PROGRAM + 0x80 * i),
					&(struct tsr_shader_program){
			.code = STAGED_LIST + STAGED_AT_CODE + 0x8000 * i, .registers_64 = i > 0,
			.push = STAGED_LIST + STAGED_AT_PUSH, .push_words = 16,
			.attributes = STAGED_LIST + STAGED_AT_TABLES, .attribute_count = 2,
			.attribute_buffers = STAGED_LIST + STAGED_AT_TABLES + 0x80,
			.attribute_buffer_count = 2,
			.header = STAGED_LIST + STAGED_AT_HEADER + 0x80 * i });
	}
	memcpy(staged_at(STAGED_AT_PUSH), staged.push, sizeof(staged.push));
	for (unsigned int i = 0; i < staged.geometry.entries; i++)
		tsr_pack_stream_entry(staged_at(STAGED_AT_ENTRIES) + i, &staged.entry[i]);
	for (unsigned int i = 0; i < TSR_STREAM_OUT_TARGETS; i++)
		tsr_pack_stream_target(staged_at(STAGED_AT_TARGETS + 32 * i), &staged.place[i]);
	staged.list_bytes = 0;
	staged_packet((uint64_t[]){ TSR_OP_LIST_SHADER_STATE | 2 << 8,
				    STAGED_LIST + STAGED_AT_SHADER }, 2);
	staged_packet((uint64_t[]){ TSR_OP_LIST_DRAW_STATE | 2 << 8,
				    STAGED_LIST + STAGED_AT_DRAW }, 2);
}

void staged_start(const struct tsr_config *config)
{
	memset(&staged, 0, sizeof(staged));
	staged.b = bench_new(config);
	bench_as_init(staged.b, &staged.as, 1);
	staged.data = bench_buffer(&staged.as, STAGED_DATA, STAGED_DATA_SIZE, BENCH_RW);
	staged.list = bench_buffer(&staged.as, STAGED_LIST, STAGED_LIST_SIZE, BENCH_RX);
	staged.heap = bench_buffer(&staged.as, STAGED_HEAP, STAGED_HEAP_SIZE, BENCH_RW);
	staged.target = bench_buffer(&staged.as, STAGED_TARGET, STAGED_TARGET_BYTES, BENCH_RW);
	bench_queue_init(&staged.queue[STAGED_BIN], 0, TSR_ENGINE_CLASS_BIN, TSR_PRIORITY_NORMAL,
			 &staged.as, 0x70000000, 12, &staged.as);
	bench_queue_init(&staged.queue[STAGED_RENDER], 1, TSR_ENGINE_CLASS_RENDER,
			 TSR_PRIORITY_NORMAL, &staged.as, 0x70010000, 12, &staged.as);
	put_tables();
	put_code(STAGED_AT_FRAGMENT_CODE, fragment);
	staged.frame = (struct tsr_frame){
		.width = STAGED_WIDTH, .height = STAGED_HEIGHT, .layers = 1, .tile_shift = 4,
		.targets = 1, .heap = STAGED_HEAP, .heap_size = STAGED_HEAP_SIZE,
		.colour = STAGED_LIST + STAGED_AT_TARGET };
	staged.shader = (struct tsr_shader_state){
		.position = STAGED_LIST + STAGED_AT_PROGRAM,
		.fragment = STAGED_LIST + STAGED_AT_FRAGMENT, .output_stride = 16,
		.geometry = STAGED_LIST + STAGED_AT_GEOMETRY };
	staged.draw = (struct tsr_draw_state){
		.viewport_count = 1, .viewports = STAGED_LIST + STAGED_AT_VIEWPORT,
		.blend_count = 1, .blends = STAGED_LIST + STAGED_AT_BLEND, .sample_mask = 0xffff,
		.line_width = staged_bits(1), .point_size = staged_bits(1) };
	staged.geometry.declaration = STAGED_LIST + STAGED_AT_ENTRIES;
	memset(staged.header, 0, sizeof(staged.header));
	for (unsigned int i = 0; i < STAGED_STAGES; i++) {
		memset(&staged.header[i].imap_0, 0xff, 8 * sizeof(uint64_t));
		staged.header[i].required_first = 1;
	}
	staged_shader(STAGED_VERTEX, vertex);
}

void staged_stop(void)
{
	bench_free(staged.b);
}

void staged_shader(enum staged_stage stage, const char *text)
{
	if (text)
		put_code(STAGED_AT_CODE + 0x8000 * stage, text);
}

void staged_fragment(const char *text)
{
	put_code(STAGED_AT_FRAGMENT_CODE, text);
}

/* ---- Packets --------------------------------------------------------------------------------- */

void staged_packet(const uint64_t *word, unsigned int qwords)
{
	staged.last = STAGED_AT_BIN_LIST + staged.list_bytes;
	memcpy(staged_at(staged.last), word, 8 * qwords);
	staged.list_bytes += 8 * qwords;
}

void staged_draw(unsigned int topology, uint32_t count)
{
	uint64_t word[TSR_LIST_DRAW_QWORDS];

	tsr_pack_list_draw(word, &(struct tsr_list_draw){
		.topology = topology, .count = count, .instances = 1 });
	staged_packet(word, TSR_LIST_DRAW_QWORDS);
}

void staged_stream_out(bool on)
{
	staged_packet((uint64_t[]){ TSR_OP_LIST_STREAM_OUT | 2 << 8,
				    on ? STAGED_LIST + STAGED_AT_TARGETS : 0 }, 2);
}

void staged_query(enum tsr_query kind, unsigned int stream, uint64_t va)
{
	uint64_t word[TSR_LIST_QUERY_QWORDS];

	tsr_pack_list_query(word, &(struct tsr_list_query){
		.kind = kind, .stream = stream, .addr = va });
	staged_packet(word, TSR_LIST_QUERY_QWORDS);
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool work(unsigned int which)
{
	struct tsr_gpu *gpu = staged.b->gpu;

	bench_kick(&staged.queue[which]);
	while (staged.slow && (tsr_gpu_run(gpu, 1) || bench_answer(staged.b))) {
		staged.steps++;
		/* twice: what a snapshot has begun begins again */
		if (staged.reloads && (staged.steps == 9 || staged.steps == 40)) {
			tsr_gpu_pause(gpu);
			ktap_ok(!reload(gpu));
			tsr_gpu_resume(gpu);
		}
	}
	ktap_ok(bench_run(staged.b, 60));
	return bench_state(&staged.queue[which]) == TSR_QUEUE_STATE_IDLE;
}

/* The list ends, and BIN is called. */
static void call_bin(void)
{
	staged_packet((uint64_t[]){ TSR_OP_LIST_HALT | TSR_LIST_HALT_QWORDS << 8 }, 1);
	tsr_pack_bin(staged_at(STAGED_AT_STREAM), &(struct tsr_bin){
		.list = STAGED_LIST + STAGED_AT_BIN_LIST, .size = staged.list_bytes,
		.frame = STAGED_LIST + STAGED_AT_FRAME });
	bench_call(&staged.queue[STAGED_BIN], STAGED_LIST + STAGED_AT_STREAM, TSR_BIN_QWORDS * 8);
}

bool staged_bin(void)
{
	bench_invalidate_all(&staged.as);
	call_bin();
	staged.steps = 0;
	return work(STAGED_BIN);
}

bool staged_bin_ends(uint64_t patience)
{
	const uint64_t end = processor_time() + patience;
	struct bench_queue *bin = &staged.queue[STAGED_BIN];

	bench_invalidate_all(&staged.as);
	call_bin();
	bench_kick(bin);
	while (processor_time() < end) {
		if (!tsr_gpu_run(staged.b->gpu, 4000) && !bench_answer(staged.b))
			return true;
	}
	bench_control(bin, TSR_QUEUE_OP_RESET);
	return false;
}

void staged_stop_work(const char *what, bool endless)
{
	call_bin();
	bench_kick(&staged.queue[STAGED_BIN]);
	stop_work_check(&staged.queue[STAGED_BIN], what, endless);
}

bool staged_render(void)
{
	uint64_t *tile = staged_at(STAGED_AT_TILE_LIST), *list = staged_at(STAGED_AT_RENDER_LIST);

	memset(staged.target, 0xcc, STAGED_TARGET_BYTES);
	tile[0] = TSR_OP_TILE_CLEAR | 1u << 8 | 1u << 16;
	tile[1] = TSR_OP_TILE_DRAW | 1u << 8;
	tile[2] = TSR_OP_TILE_STORE | 1u << 8 | 1u << 16;
	tsr_pack_list_tiles(list, &(struct tsr_list_tiles){
		.x1 = STAGED_WIDTH / 16 - 1, .y1 = STAGED_HEIGHT / 16 - 1,
		.addr = STAGED_LIST + STAGED_AT_TILE_LIST, .size = 24, .end_of_frame = true });
	list[TSR_LIST_TILES_QWORDS] = TSR_OP_LIST_HALT | TSR_LIST_HALT_QWORDS << 8;
	tsr_pack_render(staged_at(STAGED_AT_STREAM), &(struct tsr_render){
		.list = STAGED_LIST + STAGED_AT_RENDER_LIST,
		.size = 8 * (TSR_LIST_TILES_QWORDS + 1),
		.frame = STAGED_LIST + STAGED_AT_FRAME });
	bench_call(&staged.queue[STAGED_RENDER], STAGED_LIST + STAGED_AT_STREAM,
		   TSR_RENDER_QWORDS * 8);
	return work(STAGED_RENDER);
}

uint64_t staged_counter(enum tsr_queue_counter id)
{
	return bench_queue_reg64(&staged.queue[STAGED_BIN],
				 TSR_REG_QUEUE_COUNTER(0, id) - TSR_QUEUE__OFFSET);
}

bool staged_same(bool take)
{
	static uint8_t *was;
	const size_t all = STAGED_DATA_SIZE + STAGED_HEAP_SIZE;
	struct tsr_heap_header header;
	bool same;

	tsr_unpack_heap_header((const uint64_t *)(const void *)staged.heap, &header);
	if (!was)
		was = calloc(1, all);
	if (take) {
		memcpy(was, staged.data, STAGED_DATA_SIZE);
		memcpy(was + STAGED_DATA_SIZE, staged.heap, STAGED_HEAP_SIZE);
		return true;
	}
	same = !memcmp(was, staged.data, STAGED_DATA_SIZE);
	if (!same)
		ktap_note("data differ");
	if (memcmp(was + STAGED_DATA_SIZE, staged.heap, header.used)) {
		ktap_note("heaps differ");
		same = false;
	}
	return same && header.magic == TSR_HEAP_MAGIC;
}
