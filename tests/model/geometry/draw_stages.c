/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0 TIMEOUT=240
 *
 * Draws with GEOMETRY: vertex shaders that use stage I/O memory draw the same bits as position and
 * varying programs. The maps, unwritten words, patches, and refused draws.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "binner/bin.h"
#include "device/gpu.h"
#include "ktap.h"
#include "reload.h"
#include "soup.h"
#include "stop_work.h"
#include <tessera/asm.h>

#define WIDTH 96
#define HEIGHT 64
#define LAYERS 3
#define VERTICES 360u
#define ATTRIBUTES 6u			/* of 16 bytes */
#define LEFTOVER 0x7fbadbadu
#define ONE 0x3f800000u

#define DATA 0x10000000ull		/* read and write */
#define ATTRIBUTE_DATA DATA
#define INDICES (DATA + 0x10000)
#define QUERIES (DATA + 0x18000)
#define MARKS (DATA + 0x20000)		/* a word for each vertex and instance */
#define DATA_SIZE 0x40000
#define LIST 0x20000000ull		/* read and execute */
#define LIST_SIZE 0x10000
#define HEAP 0x40000000ull
#define HEAP_SIZE (4u << 20)
#define TARGET_VA 0x60000000ull
#define LAYER_BYTES (WIDTH * HEIGHT * 16)
#define RINGS 0x70000000ull

/* Offsets from LIST. */
enum {
	FRAME = 0, TARGET = 0x100, SHADER = 0x200, DRAW = 0x280, VIEWPORT = 0x300, BLEND = 0x340,
	VERTEX = 0x400, VARYING = 0x480, FRAGMENT = 0x500, INPUTS = 0x600, OUTPUTS = 0x680,
	VARYINGS = 0x700, BUFFERS = 0x780, GEOMETRY = 0x800, HEADER = 0x900, PUSH = 0xa00,
	BIN_LIST = 0x1000, TILE_LIST = 0x1800, RENDER_LIST = 0x1900, STREAM = 0x1a00,
	VERTEX_CODE = 0x2000, VARYING_CODE = 0x4000, FRAGMENT_CODE = 0x6000,
};

enum { BIN, RENDER };

#define LOAD(attribute, registers) \
	"clause wait=0 {\n*NOP\n" \
	"+LD_ATTR_IMM.auto.v4 r61, r62, attribute_index:" attribute ", @" registers "\n}\n"
#define ALD(stage_word, registers) \
	"clause wait=0 {\n*NOP\n+ALD.v4 r61, r62, " stage_word ", @" registers "\n}\n"
#define AST(size, stage_word, registers) \
	"clause wait=0 {\n*NOP\n+AST" size " r61, r62, " stage_word ", @" registers "\n}\n"
#define END "clause end wait=0 {\n*NOP\n+NOP\n}\n"

/* Attribute 0: position; 1: color; 2: size, layer, viewport, both packed; 3, 4: distances. */
static const char position[] =
	LOAD("0", "r0") "clause wait=0 {\n*NOP\n+STORE.i128 r58, r59, @r0\n}\n" END;
static const char extended_position[] =
	LOAD("0", "r0") "clause wait=0 {\n*NOP\n+STORE.i128 r58, r59, @r0\n}\n"
	LOAD("2", "r0")
	"clause wait=0 {\n*MOV.i32 r1, r3\n+NOP\n*NOP\n+IADD.u32 r58, r58, 0x10\n}\n"
	"clause wait=0 {\n*NOP\n+STORE.i64 r58, r59, @r0\n}\n"
	"clause wait=0 {\n*NOP\n+IADD.u32 r58, r58, 0x10\n}\n"
	LOAD("3", "r0") "clause wait=0 {\n*NOP\n+STORE.i128 r58, r59, @r0\n}\n"
	"clause wait=0 {\n*NOP\n+IADD.u32 r58, r58, 0x10\n}\n"
	LOAD("4", "r0") "clause wait=0 {\n*NOP\n+STORE.i128 r58, r59, @r0\n}\n" END;
static const char varying[] =
	LOAD("1", "r0")
	"clause wait=0 {\n*NOP\n+LEA_ATTR_IMM.f32 r61, r62, attribute_index:0, @r4\n}\n"
	"clause wait=0 {\n*NOP\n+ST_CVT.v4 r4, r5, r6, @r0\n}\n" END;
static const char vertex[] =
	ALD("0x80", "r0") ALD("0x90", "r4") AST(".v4", "0x870", "r0") AST(".v4", "0x880", "r4")
	END;
static const char extended_vertex[] =
	ALD("0x80", "r0") ALD("0x90", "r4") ALD("0xa0", "r8") ALD("0xb0", "r12")
	AST(".v4", "0x870", "r0") AST(".v4", "0x880", "r4")
	AST("", "0x86c", "r8") AST("", "0x864", "r9") AST("", "0x868", "r10")
	AST(".v4", "0xac0", "r12") ALD("0xc0", "r12") AST(".v4", "0xad0", "r12") END;
static const char fragment[] =
	"clause slot=0 wait=0,6,7 {\n*NOP\n"
	"+LD_VAR_IMM.v4.f32.clobber.center r61, index:0, @r0\n}\n"
	"clause wait=0 td {\n*NOP\n+ATEST r60:t1, r60, 0x3f800000, @r60\n}\n"
	"clause end td {\n*NOP\n+NOP\n*NOP\n+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n}\n";
/* 1 to the mark of the vertex, u1 of them an instance. */
static const char marking[] =
	"clause {\n*IMUL.i32 r0, r62, u1.w0\n+NOP\n*NOP\n+IADD.u32 r0, t0, r61\n"
	"*MOV.i32 r2, 1\n+NOP\n}\n"
	"clause {\n*SHADDXL.u32 t0, u0.w0, r0, shift:2\n+SHADDXH.i32 t1, u0.w1, t\n"
	"*NOP\n+STORE.i32 t0, t1, @r2\n}\n" END;

static struct machine {
	struct bench *b;
	struct bench_as as;
	struct bench_queue queue[2];
	uint8_t *data, *list, *target;
	/* Packets that put() writes. */
	struct tsr_shader_state shader;
	struct tsr_draw_state draw;
	struct tsr_shader_program program;	/* of vertices */
	struct tsr_geometry_state geometry;
	struct tsr_stage_header header;
	struct tsr_list_draw packet;
	uint32_t push[4];
	bool slow, reloads;
	uint64_t bin_bytes;
} m;

static uint64_t *at(unsigned int offset)
{
	return (uint64_t *)(void *)(m.list + offset);
}

static void put_code(unsigned int offset, const char *text)
{
	struct tsr_asm_shader *code;

	if (tsr_asm_assemble(text, strlen(text), 0, &code)) {
		tsr_asm_print_diagnostics(stderr, code, "program");
		abort();
	}
	memcpy(at(offset), code->code, code->size);
	tsr_asm_free(code);
}

static uint32_t bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

/* ---- The machine ----------------------------------------------------------------------------- */

static void put_tables(void)
{
	for (unsigned int i = 0; i < ATTRIBUTES; i++)
		tsr_pack_attribute(at(INPUTS) + i, &(struct tsr_attribute){
			.format = i == 2 ? TSR_PIXEL_FORMAT_RGBA32UI : TSR_PIXEL_FORMAT_RGBA32F,
			.offset = 16 * i });
	tsr_pack_attribute(at(OUTPUTS), &(struct tsr_attribute){
		.buffer = 1, .format = TSR_PIXEL_FORMAT_RGBA32F });
	tsr_pack_attribute(at(VARYINGS), &(struct tsr_attribute){
		.buffer = 1, .format = TSR_PIXEL_FORMAT_RGBA32F });
	tsr_pack_attribute_buffer(at(BUFFERS), &(struct tsr_attribute_buffer){
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, .pointer = ATTRIBUTE_DATA,
		.stride = 16 * ATTRIBUTES, .size = VERTICES * 16 * ATTRIBUTES });
	tsr_pack_attribute_buffer(at(BUFFERS) + 2, &(struct tsr_attribute_buffer){
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR });
}

/* Triangles of every size, some across the edges and the near plane. */
static void put_vertices(void)
{
	struct soup s = soup_new(23);

	for (unsigned int i = 0; i < VERTICES; i++) {
		float *v = (float *)(void *)(m.data + 16 * ATTRIBUTES * i);
		uint32_t *w = (uint32_t *)(void *)&v[8];

		for (unsigned int k = 0; k < 3; k++)
			v[k] = (float)soup_between(&s, -1536, 1536) / 1024;
		v[2] = v[2] / 2 + 0.5f;
		v[3] = 1 + (float)soup_between(&s, 0, 1024) / 1024;
		for (unsigned int k = 4; k < 8; k++)
			v[k] = (float)soup_between(&s, 0, 4096) / 4096;
		v[8] = 1 + (float)soup_between(&s, 0, 2000) / 128;
		w[1] = (uint32_t)soup_below(&s, 8) < 7 ? i / 3 % LAYERS : 0x10001;
		w[2] = i / 3 % 5;
		w[3] = (w[1] < 0xffff ? w[1] : 0xffff) | w[2] << 16;
		for (unsigned int k = 12; k < 20; k++)
			v[k] = (float)soup_between(&s, -512, 1536) / 1024;
		((uint16_t *)(void *)(m.data + (INDICES - DATA)))[i] =
			(uint16_t)soup_below(&s, VERTICES);
	}
}

static void start(const struct tsr_config *config)
{
	static const uint8_t classes[] = { TSR_ENGINE_CLASS_BIN, TSR_ENGINE_CLASS_RENDER };

	memset(&m, 0, sizeof(m));
	m.b = bench_new(config);
	bench_as_init(m.b, &m.as, 1);
	m.data = bench_buffer(&m.as, DATA, DATA_SIZE, BENCH_RW);
	m.list = bench_buffer(&m.as, LIST, LIST_SIZE, BENCH_RX);
	bench_buffer(&m.as, HEAP, HEAP_SIZE, BENCH_RW);
	m.target = bench_buffer(&m.as, TARGET_VA, LAYERS * LAYER_BYTES, BENCH_RW);
	for (unsigned int i = 0; i < 2; i++)
		bench_queue_init(&m.queue[i], i, classes[i], TSR_PRIORITY_NORMAL, &m.as,
				 RINGS + 0x10000 * i, 12, &m.as);
	put_tables();
	put_vertices();
	m.shader = (struct tsr_shader_state){
		.position = LIST + VERTEX, .varying = LIST + VARYING, .fragment = LIST + FRAGMENT,
		.output_stride = 16,
	};
	m.draw = (struct tsr_draw_state){
		.viewport_count = 4, .viewports = LIST + VIEWPORT, .blend_count = 1,
		.blends = LIST + BLEND, .sample_mask = 0xffff, .line_width = bits(3),
		.point_size = bits(5),
	};
	m.program = (struct tsr_shader_program){
		.attributes = LIST + INPUTS, .attribute_count = ATTRIBUTES,
		.attribute_buffers = LIST + BUFFERS, .attribute_buffer_count = 2,
		.varyings = LIST + OUTPUTS, .varying_count = 1, .push = LIST + PUSH,
		.push_words = 4,
	};
	memset(&m.header, 0xff, offsetof(struct tsr_stage_header, patch_words));
	m.header.required_first = 1;
	m.header.required_last = 0;
	m.packet = (struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_TRIANGLES, .count = VERTICES, .instances = 1,
		.index_bytes = 2 * VERTICES,
	};
}

static void put_viewports(void)
{
	for (unsigned int i = 0; i < 4; i++)
		tsr_pack_viewport(at(VIEWPORT) + i * TSR_VIEWPORT__QWORDS, &(struct tsr_viewport){
			.x = bits((float)(4 * i)), .width = bits(WIDTH - 8 * (float)i),
			.height = bits(HEIGHT), .far = bits(1),
			.scissor_x1 = WIDTH - i, .scissor_y1 = HEIGHT });
}

/* The draw uses stage I/O memory, by @text. */
static void use_geometry(const char *text)
{
	put_code(VERTEX_CODE, text);
	m.shader.varying = 0;
	m.shader.geometry = LIST + GEOMETRY;
	m.program.header = LIST + HEADER;
}

static void put_states(void)
{
	m.program.code = LIST + VERTEX_CODE;
	tsr_pack_shader_program(at(VERTEX), &m.program);
	m.program.code = LIST + VARYING_CODE;
	tsr_pack_shader_program(at(VARYING), &m.program);
	tsr_pack_shader_program(at(FRAGMENT), &(struct tsr_shader_program){
		.code = LIST + FRAGMENT_CODE, .varyings = LIST + VARYINGS, .varying_count = 1,
		.attribute_buffers = LIST + BUFFERS, .attribute_buffer_count = 2 });
	put_code(FRAGMENT_CODE, fragment);
	put_code(VARYING_CODE, varying);
	tsr_pack_shader_state(at(SHADER), &m.shader);
	tsr_pack_draw_state(at(DRAW), &m.draw);
	tsr_pack_geometry_state(at(GEOMETRY), &m.geometry);
	tsr_pack_stage_header(at(HEADER), &m.header);
	put_viewports();
	memcpy(at(PUSH), m.push, sizeof(m.push));
	tsr_pack_blend(at(BLEND), &(struct tsr_blend){
		.mask = 15, .mode = TSR_BLEND_MODE_OPAQUE, .components = 3,
		.registers = TSR_REGISTER_TYPE_F32, .format = TSR_PIXEL_FORMAT_RGBA32F << 12 });
	tsr_pack_frame(at(FRAME), &(struct tsr_frame){
		.width = WIDTH, .height = HEIGHT, .layers = LAYERS, .tile_shift = 4, .targets = 1,
		.heap = HEAP, .heap_size = HEAP_SIZE, .colour = LIST + TARGET });
	tsr_pack_render_target(at(TARGET), &(struct tsr_render_target){
		.pointer = TARGET_VA, .format = TSR_PIXEL_FORMAT_RGBA32F, .pitch = WIDTH * 16,
		.sample_stride = LAYER_BYTES, .layer_stride = LAYER_BYTES });
}

static void put_lists(void)
{
	uint64_t *bin = at(BIN_LIST), *tile = at(TILE_LIST), *render = at(RENDER_LIST);

	tsr_pack_list_shader_state(bin, &(struct tsr_list_shader_state){ .addr = LIST + SHADER });
	bin += TSR_LIST_SHADER_STATE_QWORDS;
	tsr_pack_list_draw_state(bin, &(struct tsr_list_draw_state){ .addr = LIST + DRAW });
	bin += TSR_LIST_DRAW_STATE_QWORDS;
	tsr_pack_list_query(bin, &(struct tsr_list_query){
		.kind = TSR_QUERY_STATISTICS, .addr = QUERIES });
	bin += TSR_LIST_QUERY_QWORDS;
	m.packet.indices = m.packet.index ? INDICES : 0;
	tsr_pack_list_draw(bin, &m.packet);
	bin += TSR_LIST_DRAW_QWORDS;
	*bin++ = TSR_OP_LIST_HALT | TSR_LIST_HALT_QWORDS << 8;
	m.bin_bytes = 8 * (uint64_t)(bin - at(BIN_LIST));
	tile[0] = TSR_OP_TILE_CLEAR | 1u << 8 | 1u << 16;
	tile[1] = TSR_OP_TILE_DRAW | 1u << 8;
	tile[2] = TSR_OP_TILE_STORE | 1u << 8 | 1u << 16;
	tsr_pack_list_tiles(render, &(struct tsr_list_tiles){
		.x1 = WIDTH / 16 - 1, .y1 = HEIGHT / 16 - 1, .layer1 = LAYERS - 1,
		.addr = LIST + TILE_LIST, .size = 24, .end_of_frame = true });
	render[TSR_LIST_TILES_QWORDS] = TSR_OP_LIST_HALT | TSR_LIST_HALT_QWORDS << 8;
}

/* Let the device work, as the test wants it; false: a queue is at fault. */
static bool work(unsigned int which)
{
	unsigned int steps = 0;

	bench_kick(&m.queue[which]);
	while (m.slow && (tsr_gpu_run(m.b->gpu, 1) || bench_answer(m.b))) {
		/* twice: what a snapshot has begun begins again */
		if (m.reloads && (++steps == 9 || steps == 40)) {
			tsr_gpu_pause(m.b->gpu);
			ktap_ok(!reload(m.b->gpu));
			tsr_gpu_resume(m.b->gpu);
		}
	}
	ktap_ok(bench_run(m.b, 60));
	return bench_state(&m.queue[which]) == TSR_QUEUE_STATE_IDLE;
}

static bool bin_frame(void)
{
	put_lists();
	bench_invalidate_all(&m.as);
	tsr_pack_bin(at(STREAM), &(struct tsr_bin){
		.list = LIST + BIN_LIST, .size = m.bin_bytes, .frame = LIST + FRAME });
	bench_call(&m.queue[BIN], LIST + STREAM, TSR_BIN_QWORDS * 8);
	return work(BIN);
}

static bool draw_frame(void)
{
	memset(m.data + (QUERIES - DATA), 0, 64);
	memset(m.target, 0xcc, LAYERS * LAYER_BYTES);
	put_states();
	if (!bin_frame())
		return false;
	tsr_pack_render(at(STREAM), &(struct tsr_render){
		.list = LIST + RENDER_LIST, .size = 8 * (TSR_LIST_TILES_QWORDS + 1),
		.frame = LIST + FRAME });
	bench_call(&m.queue[RENDER], LIST + STREAM, TSR_RENDER_QWORDS * 8);
	return work(RENDER);
}

static uint64_t statistic(unsigned int n)
{
	return ((uint64_t *)(void *)(m.data + (QUERIES - DATA)))[n];
}

static uint64_t counter(enum tsr_queue_counter id)
{
	return bench_queue_reg64(&m.queue[BIN], TSR_REG_QUEUE_COUNTER(0, id) - TSR_QUEUE__OFFSET);
}

/* ---- The same picture ------------------------------------------------------------------------ */

struct scene {
	uint8_t topology, index;
	uint16_t instances;
	bool extended;
};

static void set_scene(const struct scene *s)
{
	m.packet.topology = s->topology;
	m.packet.index = s->index;
	m.packet.instances = s->instances;
	m.packet.first = 3;
	m.packet.count = VERTICES - 7;
	m.shader.extended = s->extended;
	m.shader.writes_point_size = s->extended;
	m.shader.writes_layer = s->extended;
	m.shader.writes_viewport = s->extended;
	m.shader.clip_distances = s->extended ? 0x05 : 0;
	m.shader.cull_distances = s->extended ? 0x82 : 0;
}

static uint8_t want[LAYERS * LAYER_BYTES];

static void compare(const struct scene *s, const struct tsr_config *config)
{
	uint64_t statistics[7], covered = 0, invocations;
	const struct tsr_binning *spare;

	start(config);
	set_scene(s);
	put_code(VERTEX_CODE, s->extended ? extended_position : position);
	if (!ktap_ok(draw_frame()))
		ktap_note("fault %u", bench_fault(&m.queue[BIN]));
	memcpy(want, m.target, sizeof(want));
	memcpy(statistics, m.data + (QUERIES - DATA), sizeof(statistics));
	for (unsigned int i = 0; i < sizeof(want); i++)
		covered += want[i] != 0;
	ktap_ok(covered > 1000);
	ktap_eq(counter(TSR_QUEUE_COUNTER_STAGE_BLOCKS), 0);

	use_geometry(s->extended ? extended_vertex : vertex);
	invocations = counter(TSR_QUEUE_COUNTER_BIN_INVOCATIONS);
	for (unsigned int i = 0; i < 3; i++) {
		m.slow = i > 0;
		m.reloads = i > 1;
		if (!ktap_ok(draw_frame()))
			ktap_note("fault %u", bench_fault(&m.queue[BIN]));
		ktap_mem_eq(m.target, want, sizeof(want));
		for (unsigned int k = 0; k < 6; k++)
			ktap_eq(statistic(k), statistics[k]);
		/* varying programs do not run */
		ktap_eq(statistic(6), 0);
		/* the block is the command's: nobody keeps it (nor anything else after a load) */
		spare = m.b->gpu->memory[0].binning;
		ktap_ok(m.reloads || (spare && !spare->stages));
	}
	ktap_ok(counter(TSR_QUEUE_COUNTER_BIN_INVOCATIONS) >= 4 * invocations);
	ktap_ok(counter(TSR_QUEUE_COUNTER_STAGE_BLOCKS) > 0);
	ktap_eq(counter(TSR_QUEUE_COUNTER_STAGE_UNWRITTEN), 0);
	bench_free(m.b);
}

static void test_pictures(void)
{
	static const struct tsr_config config[] = {
		{ .cores = 1, .no_inline = true }, { .cores = 8, .late_messages = true },
	};
	static const struct scene scene[] = {
		{ TSR_TOPOLOGY_TRIANGLES, TSR_INDEX_TYPE_NONE, 1, false },
		{ TSR_TOPOLOGY_TRIANGLE_STRIP, TSR_INDEX_TYPE_U16, 1, false },
		{ TSR_TOPOLOGY_LINES, TSR_INDEX_TYPE_NONE, 2, false },
		{ TSR_TOPOLOGY_POINTS, TSR_INDEX_TYPE_U16, 1, true },
		{ TSR_TOPOLOGY_TRIANGLES, TSR_INDEX_TYPE_U16, 2, true },
		{ TSR_TOPOLOGY_TRIANGLES_ADJACENCY, TSR_INDEX_TYPE_NONE, 1, true },
	};

	for (unsigned int i = 0; i < sizeof(scene) / sizeof(scene[0]); i++)
		compare(&scene[i], &config[i % 2]);
}

/* ---- Maps ------------------------------------------------------------------------------------ */

/* Colors of all pixels something is drawn to. */
static void color_is(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
	const uint32_t *texel = (const uint32_t *)(void *)m.target;
	unsigned int drawn = 0;

	for (unsigned int i = 0; i < WIDTH * HEIGHT; i++, texel += 4) {
		if (!(texel[0] | texel[1] | texel[2] | texel[3]))
			continue;
		drawn++;
		ktap_ok(texel[0] == x && texel[1] == y && texel[2] == z && texel[3] == w);
	}
	ktap_ok(drawn > 500);
}

/* Flat colors, so that each is what one vertex has. */
static void start_flat(const char *text)
{
	start(&(struct tsr_config){ .cores = 1 });
	m.shader.flat_varyings = 1;
	use_geometry(text);
}

#define FOUR(a, b, c, d) \
	"clause {\n*MOV.i32 r4, " a "\n+NOP\n*MOV.i32 r5, " b "\n+NOP\n*MOV.i32 r6, " c \
	"\n+NOP\n*MOV.i32 r7, " d "\n+NOP\n}\n"

static void test_maps(void)
{
	static const char constant[] =
		ALD("0x80", "r0") FOUR("0x3e800000", "0x3f000000", "0x3f400000", "0x3f600000")
		AST(".v4", "0x870", "r0") AST(".v4", "0x880", "r4") END;
	/* words that only the shader reads: written, then the color */
	static const char own[] =
		ALD("0x80", "r0") FOUR("0x3e800000", "0x3f000000", "0x3f400000", "0x3f600000")
		AST(".v4", "0x870", "r0") AST(".v4", "0xb90", "r4") ALD("0xb90", "r8")
		AST(".v4", "0x880", "r8") END;

	start_flat(constant);
	ktap_ok(draw_frame());
	color_is(0x3e800000, 0x3f000000, 0x3f400000, 0x3f600000);
	/* words 0x84 and 0x8c are not in OMAP */
	m.header.omap_0 = ~(1ull << 0x84 / 4 | 1ull << 0x8c / 4);
	ktap_ok(draw_frame());
	color_is(0x3e800000, 0, 0x3f400000, ONE);
	bench_free(m.b);

	start_flat(own);
	ktap_ok(draw_frame());
	color_is(0, 0, 0, ONE);
	m.header.required_first = 0x390 / 4 + 1;
	m.header.required_last = 0x390 / 4 + 2;
	ktap_ok(draw_frame());
	color_is(0, 0x3f000000, 0x3f400000, ONE);
	ktap_eq(counter(TSR_QUEUE_COUNTER_STAGE_UNWRITTEN), 0);
	bench_free(m.b);

	/* the input: two words of the color are not in IMAP */
	start_flat(vertex);
	m.header.imap_0 = ~(3ull << 0x98 / 4);
	ktap_ok(draw_frame());
	for (unsigned int i = 0; i < WIDTH * HEIGHT; i++) {
		const uint32_t *texel = (const uint32_t *)(void *)m.target + 4 * i;

		ktap_ok(!(texel[0] | texel[1] | texel[3]) || (!texel[2] && texel[3] == ONE));
	}
	bench_free(m.b);
}

/* The color, then the position, is not written. */
static void test_unwritten(void)
{
	static const char bare[] = ALD("0x80", "r0") AST(".v4", "0x870", "r0") END;
	static const char nothing[] = ALD("0x90", "r0") AST(".v4", "0x880", "r0") END;

	start_flat(bare);
	ktap_ok(draw_frame());
	color_is(LEFTOVER, LEFTOVER, LEFTOVER, LEFTOVER);
	ktap_eq(counter(TSR_QUEUE_COUNTER_STAGE_UNWRITTEN), 4 * VERTICES);
	bench_free(m.b);
	start_flat(nothing);
	ktap_ok(draw_frame());
	for (unsigned int i = 0; i < LAYER_BYTES; i++)
		ktap_ok(!m.target[i]);
	ktap_eq(statistic(3), VERTICES / 3);
	ktap_eq(statistic(4), 0);
	ktap_eq(counter(TSR_QUEUE_COUNTER_STAGE_UNWRITTEN), 4 * VERTICES);
	bench_free(m.b);
}

/* ---- Patches --------------------------------------------------------------------------------- */

/* The expected results of a draw of patches of @points, vertex by vertex. */
struct patches {
	uint64_t vertices, primitives, invocations;
	uint8_t mark[2][VERTICES];
	/* the present batch */
	unsigned int held, in_batch;
	bool there[VERTICES];
};

static void take_patch(struct patches *want, const uint16_t *v, unsigned int points,
		       unsigned int instance)
{
	unsigned int fresh = 0;

	for (unsigned int pass = 0; pass < 2; pass++) {
		bool seen[VERTICES] = { false };

		fresh = 0;
		for (unsigned int i = 0; i < points; i++) {
			fresh += !want->there[v[i]] && !seen[v[i]];
			seen[v[i]] = true;
		}
		if (want->held + fresh <= 128 && want->in_batch < 256)
			break;
		memset(want->there, 0, sizeof(want->there));
		want->held = want->in_batch = 0;
	}
	for (unsigned int i = 0; i < points; i++) {
		want->there[v[i]] = true;
		want->mark[instance][v[i]] = 1;
	}
	want->held += fresh;
	want->in_batch++;
	want->invocations += fresh;
	want->primitives++;
}

/* Restarts are index 0xffff. */
static struct patches expect_patches(const uint16_t *index, unsigned int points)
{
	struct patches want = { 0 };
	uint16_t v[32];

	for (unsigned int instance = 0; instance < 2; instance++) {
		unsigned int have = 0;

		memset(want.there, 0, sizeof(want.there));
		for (unsigned int i = 0; i < VERTICES; i++) {
			if (index[i] == 0xffff) {
				have = 0;
				continue;
			}
			want.vertices++;
			v[have++] = index[i];
			if (have < points)
				continue;
			take_patch(&want, v, points, instance);
			have = 0;
		}
	}
	return want;
}

static void test_patches(void)
{
	uint16_t *index;
	struct soup s = soup_new(5);

	start(&(struct tsr_config){ .cores = 1 });
	index = (uint16_t *)(void *)(m.data + (INDICES - DATA));
	use_geometry(marking);
	m.draw.discard = true;
	m.packet = (struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_PATCHES, .index = TSR_INDEX_TYPE_U16, .restart = true,
		.count = VERTICES, .instances = 2, .index_bytes = 2 * VERTICES,
	};
	m.push[0] = (uint32_t)MARKS;
	m.push[2] = VERTICES;
	for (unsigned int points = 1; points <= 32; points++) {
		uint32_t *mark = (uint32_t *)(void *)(m.data + (MARKS - DATA));
		struct patches want;

		for (unsigned int i = 0; i < VERTICES; i++)
			index[i] = soup_below(&s, 40) ? (uint16_t)soup_below(&s, points % 2 ?
				VERTICES : 100) : 0xffff;
		want = expect_patches(index, points);
		memset(mark, 0, 2 * VERTICES * 4);
		m.geometry.patch_points = points;
		m.slow = points % 5 == 0;
		if (!ktap_ok(draw_frame()))
			ktap_note("%u points, fault %u", points, bench_fault(&m.queue[BIN]));
		ktap_eq(statistic(0), want.vertices);
		ktap_eq(statistic(1), want.primitives);
		ktap_eq(statistic(2), want.invocations);
		ktap_eq(statistic(3), 0);
		for (unsigned int i = 0; i < 2 * VERTICES; i++)
			if (!ktap_eq(mark[i], want.mark[i / VERTICES][i % VERTICES]))
				ktap_note("%u points, vertex %u", points, i);
	}
	bench_free(m.b);
}

/* ---- What is refused ------------------------------------------------------------------------- */

/* The frame is not binned: @code at @qword of what is at @offset. */
static void refuse(unsigned int offset, unsigned int qword, unsigned int code)
{
	if (!ktap_ok(!bin_frame()))
		return;
	ktap_eq(bench_fault(&m.queue[BIN]), code);
	if (!ktap_eq(bench_queue_reg64(&m.queue[BIN], TSR_QUEUE_FAULT_ADDR__OFFSET),
		     LIST + offset + 8 * qword))
		ktap_note("code %u", code);
}

static void start_refused(void)
{
	start(&(struct tsr_config){ .cores = 1 });
	use_geometry(vertex);
	m.geometry.patch_points = 3;
}

/* Change @qword at @offset to @value and expect @code. */
static void refuse_word(unsigned int offset, unsigned int qword, uint64_t value, unsigned int code)
{
	start_refused();
	put_states();
	at(offset)[qword] = value;
	refuse(offset, qword, code);
	bench_free(m.b);
}

static void test_refused_state(void)
{
	refuse_word(SHADER, 7, (LIST + GEOMETRY) | 32, TSR_FAULT_ALIGNMENT);
	refuse_word(SHADER, 1, LIST + VARYING, TSR_FAULT_BAD_VALUE);
	refuse_word(SHADER, 3, 1, TSR_FAULT_BAD_VALUE);
	refuse_word(SHADER, 3, 2, TSR_FAULT_BAD_VALUE);
	for (unsigned int qword = 9; qword < TSR_GEOMETRY_STATE__QWORDS; qword++)
		refuse_word(GEOMETRY, qword, 1, TSR_FAULT_RESERVED_BITS);
	refuse_word(GEOMETRY, 2, 32, TSR_FAULT_ALIGNMENT);
	refuse_word(GEOMETRY, 3, 1 << 6, TSR_FAULT_RESERVED_BITS);
	refuse_word(GEOMETRY, 3, 1 << 15, TSR_FAULT_RESERVED_BITS);
	refuse_word(GEOMETRY, 8, 1 << 10, TSR_FAULT_RESERVED_BITS);
	refuse_word(GEOMETRY, 0, 32, TSR_FAULT_ALIGNMENT);
	refuse_word(GEOMETRY, 1, 32, TSR_FAULT_ALIGNMENT);
	refuse_word(GEOMETRY, 7, 4, TSR_FAULT_ALIGNMENT);
	refuse_word(GEOMETRY, 3, 33, TSR_FAULT_BAD_VALUE);
}

static void test_refused_header(void)
{
	refuse_word(VERTEX, 14, 0, TSR_FAULT_BAD_VALUE);
	refuse_word(VERTEX, 14, (LIST + HEADER) | 32, TSR_FAULT_ALIGNMENT);
	for (unsigned int qword = 8; qword < TSR_STAGE_HEADER__QWORDS; qword++)
		refuse_word(HEADER, qword, 1ull << 63, TSR_FAULT_RESERVED_BITS);
	refuse_word(HEADER, 9, 1ull << 12, TSR_FAULT_RESERVED_BITS);
	refuse_word(HEADER, 9, 1025ull << 16, TSR_FAULT_BAD_VALUE);
	refuse_word(HEADER, 8, 1ull << 19, TSR_FAULT_RESERVED_BITS);
	refuse_word(HEADER, 8, 1ull << 42, TSR_FAULT_RESERVED_BITS);
	refuse_word(HEADER, 8, 6ull << 16, TSR_FAULT_BAD_VALUE);
	refuse_word(HEADER, 8, 33ull << 24, TSR_FAULT_BAD_VALUE);
	refuse_word(HEADER, 8, 33ull << 32, TSR_FAULT_BAD_VALUE);
	for (unsigned int i = 0; i < 4; i++)
		refuse_word(HEADER, 4, ~(1ull << (0x70 / 4 + i)), TSR_FAULT_BAD_VALUE);
	/* nobody looks for a position where nothing is drawn, nor at the header without GEOMETRY */
	start_refused();
	m.header.omap_0 = 0;
	m.draw.discard = true;
	ktap_ok(draw_frame());
	bench_free(m.b);
	start(&(struct tsr_config){ .cores = 1 });
	put_code(VERTEX_CODE, position);
	m.program.header = LIST + HEADER;
	put_states();
	memset(at(HEADER), 0xff, 128);
	ktap_ok(bin_frame());
	bench_free(m.b);
}

static void test_refused_patches(void)
{
	const unsigned int packet = BIN_LIST + 8 * (TSR_LIST_SHADER_STATE_QWORDS +
						    TSR_LIST_DRAW_STATE_QWORDS +
						    TSR_LIST_QUERY_QWORDS);

	for (unsigned int i = 0; i < 4; i++) {
		start_refused();
		m.packet.topology = TSR_TOPOLOGY_PATCHES;
		m.draw.discard = i != 0;
		m.shader.geometry = i == 1 ? 0 : m.shader.geometry;
		m.geometry.patch_points = i == 2 ? 0 : 3;
		put_states();
		if (i == 3)
			ktap_ok(bin_frame());
		else
			refuse(i == 2 ? GEOMETRY : packet, i == 2 ? 3 : 0, TSR_FAULT_BAD_VALUE);
		bench_free(m.b);
	}
	/* what comes after PATCHES is none */
	for (unsigned int topology = TSR_TOPOLOGY_PATCHES + 1; topology < 16; topology++) {
		start_refused();
		m.draw.discard = true;
		m.packet.topology = topology;
		put_states();
		refuse(packet, 0, TSR_FAULT_BAD_VALUE);
		bench_free(m.b);
	}
}

/* A shader at fault: which stage, whose vertex. */
static void test_fault(void)
{
	static const char bad[] = "clause end {\n*NOP\n+ALD r61, r62, 0x400, @r0\n}\n";
	uint32_t where;

	start_refused();
	use_geometry(bad);
	put_states();
	ktap_ok(!bin_frame());
	ktap_eq(bench_fault(&m.queue[BIN]), TSR_FAULT_SHADER_ENCODING);
	where = (uint32_t)bench_queue_reg64(&m.queue[BIN], TSR_QUEUE_FAULT_SHADER__OFFSET);
	ktap_eq(where >> TSR_QUEUE_FAULT_SHADER_STAGE__SHIFT & 15, 1);
	ktap_ok(where & TSR_QUEUE_FAULT_SHADER_VALID__MASK);
	bench_free(m.b);
}

/* ---- Stopping -------------------------------------------------------------------------------- */

/* Shaders, patches and outputs that go on and on: the queue stops in time. */
static void test_stop_work(void)
{
	static const char loop[] =
		"again:\nclause wait=0 {\n*NOP\n+ALD.v4 r61, r62, 0x80, @r0\n}\n"
		"clause wait=0 {\n*NOP\n+AST.v4 r61, r62, 0x880, @r0\n}\n"
		"clause {\n*NOP\n+JUMP again\n}\n";
	static const char *const what[] = { "a shader", "patches", "vertices", "outputs" };

	for (unsigned int i = 0; i < 4; i++) {
		start(&(struct tsr_config){ .cores = 1, .no_inline = true });
		use_geometry(i ? vertex : loop);
		m.packet.count = 3u << 28;
		m.draw.discard = i != 3;
		m.shader.output_stride = i == 3 ? TSR_VERTEX_OUTPUT_MAX : 16;
		m.packet.topology = i == 1 ? TSR_TOPOLOGY_PATCHES : TSR_TOPOLOGY_TRIANGLES;
		m.geometry.patch_points = 32;
		put_states();
		put_lists();
		tsr_pack_bin(at(STREAM), &(struct tsr_bin){
			.list = LIST + BIN_LIST, .size = m.bin_bytes, .frame = LIST + FRAME });
		bench_call(&m.queue[BIN], LIST + STREAM, TSR_BIN_QWORDS * 8);
		bench_kick(&m.queue[BIN]);
		stop_work_check(&m.queue[BIN], what[i], i != 3);
		bench_free(m.b);
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[ALD2] vertex shaders with attribute space draw what others draw",
		 test_pictures);
	ktap_run("[ALD2] maps of headers, of what comes after, of required words", test_maps);
	ktap_run("[ALD6] words nobody has written", test_unwritten);
	ktap_run("[IA6] patches of 1 to 32 vertices", test_patches);
	ktap_run("states that are refused", test_refused_state);
	ktap_run("headers that are refused", test_refused_header);
	ktap_run("[IA6] patches that are refused", test_refused_patches);
	ktap_run("the stage of a shader at fault", test_fault);
	ktap_run("[SYS7] BIN stops within STOP_WORK in attribute space", test_stop_work);
	return ktap_finish();
}
