// SPDX-License-Identifier: MIT
/*
 * Recording passes: which packets and structures come of it, what is refused, and that all memory
 * goes. The kernel is played; what the GPU makes of it is tests/draw's business.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_drm.h"
#include "gfxt.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

static const struct drm_tessera_shader_info cores = {
	.cores = 2, .warp_lanes = 16, .core_warps = 128, .max_group_threads = 1024,
	.max_group_memory = 65536, .max_groups = 65535, .max_scratch = 65536,
	.max_push_words = 256,
};

static struct gfxt t;
static struct tsr_image *image;

/* As gfxt_open(), on the kernel that is played, with engines that draw. */
static void set_up(void)
{
	t.device = fake_open_shader(&cores);
	fake.graphics = true;
	tsr_device_unref(t.device);
	t.device = NULL;
	ktap_eq(tsr_device_open_fd(fake.fd, &t.device), 0);
	gfxt_set_up(&t);
	image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, 64, 1);
}

static void tear_down(void)
{
	struct tsr_device *device = t.device;

	tsr_image_unref(image);
	t.device = NULL;
	gfxt_close(&t);
	fake_close(device);
}

static struct tsr_gfx_pass *new_pass(void)
{
	const struct tsr_gfx_pass_info info = {
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR },
	};
	struct tsr_gfx_pass *pass = NULL;

	ktap_eq(tsr_gfx_pass_create(t.gfx, &info, sizeof(info), &pass), 0);
	return pass;
}

/* The memory at a GPU address. Each piece is in one BO. */
static const uint64_t *at(uint64_t va)
{
	const struct fake_map *map = fake_at(va);
	static uint64_t words[512];

	if (!ktap_ok(map != NULL))
		return words;
	if (pread(fake.fd, words, sizeof(words),
		  (off_t)(fake.bos[map->bo].offset + map->bo_offset + va - map->va)) < 0)
		abort();
	return words;
}

/* The opcodes of the BIN list, a character each. */
static const char *opcodes(struct tsr_gfx_pass *pass)
{
	static char text[600];
	struct tsr_gfx_list list = { 0 };
	const uint64_t *p;
	size_t n = 0;

	if (!ktap_eq(tsr_gfx_list(pass, &list), 0))
		return "";
	p = at(list.bin);
	for (uint32_t q = 0; q < list.bin_size / 8 && n < 500; q += tsr_packet_qwords(p[q])) {
		switch (tsr_packet_opcode(p[q])) {
		case TSR_OP_LIST_SHADER_STATE: text[n++] = 's'; break;
		case TSR_OP_LIST_DRAW_STATE: text[n++] = 'd'; break;
		case TSR_OP_LIST_DRAW: text[n++] = 'D'; break;
		case TSR_OP_LIST_DRAW_INDIRECT: text[n++] = 'I'; break;
		case TSR_OP_LIST_QUERY: text[n++] = 'q'; break;
		case TSR_OP_LIST_PUSH: text[n++] = 'p'; break;
		case TSR_OP_LIST_HALT: text[n++] = '.'; break;
		default: text[n++] = '?'; break;
		}
		if (!tsr_packet_qwords(p[q]))
			break;
	}
	text[n] = '\0';
	return text;
}

static const struct tsr_gfx_draw three = { .count = 3 };

/* However much state changes between two draws, there is at most one packet of each kind. */
static void packets(void)
{
	struct tsr_gfx_pipeline *pipeline, *other;
	const float constant[4] = { 1, 1, 1, 1 };
	const uint32_t words[4] = { 1, 2, 3, 4 };
	struct tsr_gfx_pass *pass;

	set_up();
	pipeline = gfxt_pipeline(&t, NULL);
	other = gfxt_pipeline(&t, NULL);
	pass = new_pass();
	ktap_eq(tsr_gfx_set_pipeline(pass, other), 0);
	ktap_eq(tsr_gfx_set_pipeline(pass, pipeline), 0);
	ktap_eq(tsr_gfx_set_vertices(pass, 0, 0x1000, 96), 0);
	ktap_eq(tsr_gfx_set_push(pass, 3, 0, 4, words), 0);
	ktap_eq(tsr_gfx_draw(pass, &three), 0);
	/* nothing changes, then things that are the same */
	ktap_eq(tsr_gfx_draw(pass, &three), 0);
	ktap_eq(tsr_gfx_set_pipeline(pass, pipeline), 0);
	ktap_eq(tsr_gfx_set_vertices(pass, 0, 0x1000, 96), 0);
	ktap_eq(tsr_gfx_draw(pass, &three), 0);
	/* only push constants; more of them; only fixed functions; both */
	ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 4, words), 0);
	ktap_eq(tsr_gfx_draw(pass, &three), 0);
	ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_VERTEX | TSR_GFX_STAGE_FRAGMENT, 2, 2, words),
		0);
	ktap_eq(tsr_gfx_draw(pass, &three), 0);
	ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 4, words), 0);
	ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_VERTEX, 8, 4, words), 0);
	ktap_eq(tsr_gfx_draw(pass, &three), 0);
	ktap_eq(tsr_gfx_set_blend_constant(pass, constant), 0);
	ktap_eq(tsr_gfx_set_stencil_reference(pass, 1, 2), 0);
	ktap_eq(tsr_gfx_draw(pass, &three), 0);
	ktap_eq(tsr_gfx_set_pipeline(pass, other), 0);
	ktap_eq(tsr_gfx_set_width(pass, 2, 3), 0);
	ktap_eq(tsr_gfx_draw(pass, &three), 0);
	ktap_ok(!strcmp(opcodes(pass), "sdDDDpDpDspDdDsdD."));
	ktap_note("%s", opcodes(pass));
	tsr_gfx_pass_destroy(pass);
	tsr_gfx_pipeline_unref(pipeline);
	tsr_gfx_pipeline_unref(other);
	tear_down();
}

/* The words of one draw against what 3d.md says they are. */
static void structures(void)
{
	struct tsr_gfx_pipeline *pipeline;
	struct tsr_gfx_pass *pass;
	struct tsr_gfx_list list = { 0 };
	struct tsr_shader_state shader;
	struct tsr_draw_state fixed;
	struct tsr_frame frame;
	struct tsr_list_draw draw;
	struct tsr_shader_program program;
	uint64_t p[16];

	set_up();
	pipeline = gfxt_pipeline(&t, NULL);
	pass = new_pass();
	tsr_gfx_set_pipeline(pass, pipeline);
	tsr_gfx_set_vertices(pass, 0, 0x1050, 96);
	ktap_eq(tsr_gfx_draw(pass, &(struct tsr_gfx_draw){ .count = 70, .instances = 5,
							   .first = 6 }), 0);
	ktap_eq(tsr_gfx_list(pass, &list), 0);
	tsr_unpack_frame(at(list.frame), &frame);
	ktap_eq(frame.width, 64);
	ktap_eq(frame.height, 64);
	ktap_eq(frame.layers, 1);
	ktap_eq(frame.targets, 1);
	memcpy(p, at(list.bin), sizeof(p));
	tsr_unpack_list_draw(p + 4, &draw);
	ktap_eq(draw.count, 70);
	ktap_eq(draw.instances, 5);
	ktap_eq(draw.first, 6);
	/* 70 vertices are padded to 72 = 9 * 8 */
	ktap_ok(draw.explicit_padding);
	ktap_eq(draw.padded_odd, 4);
	ktap_eq(draw.padded_shift, 3);
	tsr_unpack_draw_state(at(p[3]), &fixed);
	ktap_eq(fixed.viewport_count, 1);
	ktap_eq(fixed.blend_count, 1);
	ktap_eq(fixed.sample_mask, 0xffff);
	tsr_unpack_shader_state(at(p[1]), &shader);
	ktap_eq(shader.output_stride, 16);
	tsr_unpack_shader_program(at(shader.position), &program);
	ktap_eq(program.code, tsr_shader_va(t.position));
	ktap_eq(program.attribute_count, 2);
	/*
	 * an instance's vertices: element n modulo 72; the buffer begins 0x10 behind a multiple
	 * of 64
	 */
	ktap_eq(at(program.attribute_buffers)[0], 4ull << 61 | 3ull << 56 | 0x1040 |
		TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS);
	ktap_eq(at(program.attribute_buffers)[1], (96ull + 16) << 32 | 32);
	ktap_eq(at(program.attributes)[1] >> 32, 16 + 16);
	tsr_gfx_pass_destroy(pass);
	tsr_gfx_pipeline_unref(pipeline);
	tear_down();
}

/* Divisors: none, a power of two together with the padding, any other. */
static void divisors(void)
{
	static const struct tsr_gfx_vertex_buffer buffers[] = {
		{ 32, 0 }, { 16, 1 }, { 16, 3 }, { 16, 0x80000000u },
	};
	struct tsr_gfx_pipeline *pipeline = NULL;
	struct tsr_gfx_pass *pass;
	struct tsr_shader_state shader;
	struct tsr_shader_program program;
	struct tsr_gfx_list list = { 0 };
	const struct tsr_gfx_magic m = tsr_gfx_magic(12);
	uint64_t b[24];

	set_up();
	ktap_eq(tsr_gfx_pipeline_create(&(struct tsr_gfx_pipeline_info) {
		.vertex = t.position, .buffers = buffers, .buffer_count = 4,
		.topology = TSR_TOPOLOGY_TRIANGLES }, sizeof(struct tsr_gfx_pipeline_info),
			&pipeline), 0);
	pass = new_pass();
	tsr_gfx_set_pipeline(pass, pipeline);
	for (uint32_t i = 0; i < 4; i++)
		tsr_gfx_set_vertices(pass, i, 0x1000, 0x1000);
	/* 3 vertices are padded to 4 */
	ktap_eq(tsr_gfx_draw(pass, &(struct tsr_gfx_draw){ .count = 3, .instances = 9 }), 0);
	ktap_eq(tsr_gfx_list(pass, &list), 0);
	tsr_unpack_shader_state(at(at(list.bin)[1]), &shader);
	tsr_unpack_shader_program(at(shader.position), &program);
	memcpy(b, at(program.attribute_buffers), sizeof(b));
	ktap_eq(b[0], 2ull << 56 | 0x1000 | TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS);
	ktap_eq(b[6], 2ull << 56 | 0x1000 | TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT);
	ktap_eq(b[12], (uint64_t)m.extra << 61 | (uint64_t)m.shift << 56 | 0x1000 |
		TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE);
	ktap_eq(b[14], (uint64_t)m.magic << 32 | TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION);
	/* 4 * 2^31 is beyond 32 bits: element 0 for all, stride 0 */
	ktap_eq(b[18], 0x1000 | TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR);
	ktap_eq((uint32_t)b[19], 0);
	tsr_gfx_pass_destroy(pass);
	tsr_gfx_pipeline_unref(pipeline);
	tear_down();
}

/* Strides and sizes of more than 32 bits, and an attribute that begins beyond. */
static void wide(void)
{
	static const struct tsr_gfx_vertex_buffer buffers[] = {
		{ 5ull << 32 | 32, 0 }, { 16, 3 },
	};
	static const struct tsr_gfx_attribute attributes[] = {
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = INT32_MAX - 64 },
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 7ull << 32 | 20 },
	};
	const struct tsr_gfx_magic m = tsr_gfx_magic(12);
	struct tsr_gfx_pipeline *pipeline = NULL;
	struct tsr_gfx_pass *pass;
	struct tsr_shader_state shader;
	struct tsr_shader_program program;
	struct tsr_gfx_list list = { 0 };
	uint64_t b[24], a[2];

	set_up();
	ktap_eq(tsr_gfx_pipeline_create(&(struct tsr_gfx_pipeline_info) {
		.vertex = t.position, .buffers = buffers, .buffer_count = 2,
		.attributes = attributes, .attribute_count = 2,
		.topology = TSR_TOPOLOGY_TRIANGLES }, sizeof(struct tsr_gfx_pipeline_info),
			&pipeline), 0);
	pass = new_pass();
	tsr_gfx_set_pipeline(pass, pipeline);
	tsr_gfx_set_vertices(pass, 0, 0x1000, 9ull << 32);
	tsr_gfx_set_vertices(pass, 1, 0x1010, 2ull << 32);
	ktap_eq(tsr_gfx_draw(pass, &(struct tsr_gfx_draw){ .count = 3, .instances = 9 }), 0);
	ktap_eq(tsr_gfx_list(pass, &list), 0);
	tsr_unpack_shader_state(at(at(list.bin)[1]), &shader);
	tsr_unpack_shader_program(at(shader.position), &program);
	memcpy(b, at(program.attribute_buffers), sizeof(b));
	memcpy(a, at(program.attributes), sizeof(a));
	ktap_eq(b[0], 2ull << 56 | 0x1000 | TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS_WIDE);
	ktap_eq(b[1], 32);
	ktap_eq(b[2], TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION);
	ktap_eq(b[3], 9ull << 32 | 5);
	ktap_eq(b[6], (uint64_t)m.extra << 61 | (uint64_t)m.shift << 56 | 0x1000 |
		TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE_WIDE);
	ktap_eq(b[7], 0x10ull << 32 | 16);
	ktap_eq(b[8], (uint64_t)m.magic << 32 | TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION);
	ktap_eq(b[10], TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION);
	ktap_eq(b[11], 2ull << 32);
	/* the second attribute's buffer begins where it does; 20 is in it */
	ktap_eq(a[0] >> 32, INT32_MAX - 64);
	ktap_eq(a[0] & 0x1ff, 0);
	ktap_eq(a[1] >> 32, 20);
	ktap_eq(a[1] & 0x1ff, 6);
	ktap_eq(b[12], 2ull << 56 | 0x700001000 | TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS_WIDE);
	ktap_eq(b[13], 32);
	ktap_eq(b[15], 2ull << 32 | 5);
	tsr_gfx_pass_destroy(pass);
	tsr_gfx_pipeline_unref(pipeline);
	tear_down();
}

/* Every call that is wrong says so, and the pass remembers. */
static void misuse(void)
{
	static const struct {
		uint32_t count, instances;
	} huge[] = { { 0xe0000000, 2 }, { 70000, 70000 } };
	struct tsr_gfx_pipeline *pipeline;
	struct tsr_gfx_pass *pass;

	set_up();
	pipeline = gfxt_pipeline(&t, NULL);
#define REFUSED(error, call) \
	do { \
		pass = new_pass(); \
		tsr_gfx_set_pipeline(pass, pipeline); \
		ktap_eq(call, -(error)); \
		ktap_ok(tsr_error_message()[0]); \
		ktap_eq(tsr_gfx_submit(pass, NULL, 0, NULL, 0), -(error)); \
		tsr_gfx_pass_destroy(pass); \
	} while (0)
	REFUSED(EINVAL, tsr_gfx_draw_indexed(pass, &three));
	REFUSED(EINVAL, tsr_gfx_set_vertices(pass, 16, 0, 0));
	REFUSED(EINVAL, tsr_gfx_set_vertices(pass, 0, 64, 1ull << 56));
	REFUSED(EINVAL, tsr_gfx_set_vertices(pass, 0, UINT64_MAX, 64));
	REFUSED(EINVAL, tsr_gfx_set_indices(pass, TSR_INDEX_TYPE_U32, 2, 12));
	REFUSED(EINVAL, tsr_gfx_set_indices(pass, TSR_INDEX_TYPE_NONE, 0, 12));
	REFUSED(EINVAL, tsr_gfx_set_push(pass, 4, 0, 1, &three));
	REFUSED(EINVAL, tsr_gfx_set_push(pass, 1, TSR_PUSH_WORDS_MAX, 1, &three));
	REFUSED(EINVAL, tsr_gfx_set_viewport(pass, 16, &(struct tsr_gfx_viewport){ 0 }));
	REFUSED(EINVAL, tsr_gfx_set_viewport(pass, 0, &(struct tsr_gfx_viewport){ .width = -1 }));
	REFUSED(EINVAL, tsr_gfx_set_width(pass, 0, 1));
	REFUSED(EINVAL, tsr_gfx_draw(pass, &(struct tsr_gfx_draw){ .base_vertex = 1 }));
	REFUSED(EINVAL, tsr_gfx_draw_indirect(pass, false, 2, 1, 16));
	REFUSED(EINVAL, tsr_gfx_query(pass, TSR_QUERY_SAMPLES, 4));
	REFUSED(E2BIG, tsr_gfx_draw(pass, &(struct tsr_gfx_draw){ .count = huge[0].count,
						.instances = huge[0].instances }));
	REFUSED(E2BIG, tsr_gfx_draw(pass, &(struct tsr_gfx_draw){ .count = huge[1].count,
						.instances = huge[1].instances }));
#undef REFUSED
	pass = new_pass();
	ktap_eq(tsr_gfx_draw(pass, &three), -EINVAL);
	tsr_gfx_pass_reset(pass);
	/* a pass that was listed takes no more until it is reset */
	ktap_ok(!strcmp(opcodes(pass), "."));
	ktap_eq(tsr_gfx_set_pipeline(pass, pipeline), -EBUSY);
	tsr_gfx_pass_reset(pass);
	ktap_eq(tsr_gfx_set_pipeline(pass, pipeline), 0);
	ktap_eq(tsr_gfx_wait(pass, 0), -EINVAL);
	tsr_gfx_pass_destroy(pass);
	tsr_gfx_pipeline_unref(pipeline);
	tear_down();
}

/* Images and passes that cannot be. */
static void refused_objects(void)
{
	static const struct tsr_image_info bad[] = {
		{ .format = TSR_PIXEL_FORMAT_RGBA8_UNORM },
		{ .format = 0, .width = 4 },
		{ .format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = 16385 },
		{ .format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = 4, .levels = 4 },
		{ .format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = 4, .samples = 3 },
		{ .format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = 4, .depth = 4, .layers = 2 },
		{ .format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = 4, .height = 4, .layers = 5,
		  .flags = TSR_IMAGE_CUBE },
		{ .format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = 4, .levels = 2,
		  .flags = TSR_IMAGE_COMPRESSED },
	};
	struct tsr_image *none = NULL;
	struct tsr_gfx_pass *pass = NULL;

	set_up();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ktap_eq(tsr_image_create(t.vm, &bad[i], sizeof(bad[i]), &none), -EINVAL);
	ktap_ok(!none);
	ktap_eq(tsr_gfx_pass_create(t.gfx, &(struct tsr_gfx_pass_info){ 0 },
				    sizeof(struct tsr_gfx_pass_info), &pass), -EINVAL);
	ktap_eq(tsr_gfx_pass_create(t.gfx, &(struct tsr_gfx_pass_info){
		.color[0] = { .image = image, .level = 1 } }, sizeof(struct tsr_gfx_pass_info),
			&pass), -EINVAL);
	ktap_eq(tsr_gfx_pass_create(t.gfx, &(struct tsr_gfx_pass_info){
		.width = 65, .height = 64, .color[0] = { .image = image } },
			sizeof(struct tsr_gfx_pass_info), &pass), -EINVAL);
	ktap_eq(tsr_gfx_pass_create(t.gfx, &(struct tsr_gfx_pass_info){
		.samples = 3, .color[0] = { .image = image } }, sizeof(struct tsr_gfx_pass_info),
			&pass), -EINVAL);
	ktap_eq(tsr_gfx_pass_create(t.gfx, &(struct tsr_gfx_pass_info){
		.color[0] = { .image = image }, .depth = { .image = image } },
			sizeof(struct tsr_gfx_pass_info), &pass), -EINVAL);
	ktap_ok(!pass);
	tear_down();
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS5] between two draws at most one packet of each kind", packets);
	ktap_run("[SYS5] [INST3] [INST7] a draw's structures, word by word", structures);
	ktap_run("[INST4] [INST5] [INST8] attribute buffers of all divisors", divisors);
	ktap_run("[IA3] strides, sizes and offsets of more than 32 bits, word by word", wide);
	ktap_run("[SYS5] [INST8] calls that are wrong are refused, and remembered", misuse);
	ktap_run("[SYS5] images and passes that cannot be", refused_objects);
	return ktap_finish();
}
