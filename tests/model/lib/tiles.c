/* SPDX-License-Identifier: MIT */
#include "tiles.h"

#include <stdlib.h>
#include <string.h>

#include <tessera/asm.h>

#define LIST_AT(offset) (BINNER_FRAME + (offset))
#define TARGETS LIST_AT(0x400)
#define RENDER_LIST LIST_AT(0x1800)
#define STREAM LIST_AT(0x2000)

static uint64_t *words(struct tiles *t, uint64_t va)
{
	return (uint64_t *)(t->f->list + (va - BINNER_LIST));
}

struct tiles *tiles_new(unsigned int width, unsigned int height, const struct tsr_config *config)
{
	struct tiles *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->f = binner_new_on(width, height, config);
	t->memory = bench_buffer(&t->f->as, TILES_TARGETS, 3 * TILES_TARGET_SIZE, BENCH_RW);
	bench_queue_init(&t->queue, 0, TSR_ENGINE_CLASS_RENDER, TSR_PRIORITY_NORMAL, &t->f->as,
			 TILES_RING, 12, &t->f->as);
	t->f->frame.targets = 1;
	t->f->frame.has_depth = true;
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA8_UNORM, 4);
	tiles_target(t, TILES_DEPTH, TSR_PIXEL_FORMAT_R32F, 4);
	t->target[TILES_DEPTH].clear_0 = binner_bits(1);
	t->clear = t->store = TILES_ALL;
	t->draw = true;
	return t;
}

void tiles_free(struct tiles *t)
{
	binner_free(t->f);
	free(t);
}

uint32_t tiles_program(struct tiles *t, uint64_t va, const char *text)
{
	struct tsr_asm_shader *code;
	uint32_t size;

	if (tsr_asm_assemble(text, strlen(text), 0, &code)) {
		tsr_asm_print_diagnostics(stderr, code, "program");
		abort();
	}
	size = code->size;
	memcpy(words(t, va), code->code, size);
	tsr_asm_free(code);
	return size;
}

void tiles_floats(struct tiles *t, const char *text)
{
	const uint64_t code = LIST_AT(0x4000), program = LIST_AT(0x4800), blend = LIST_AT(0x4900);

	tiles_program(t, code, text);
	tsr_pack_shader_program(words(t, program), &(struct tsr_shader_program){ .code = code });
	tsr_pack_blend(words(t, blend), &(struct tsr_blend){
		.mask = 15, .mode = TSR_BLEND_MODE_OPAQUE, .components = 3,
		.registers = TSR_REGISTER_TYPE_F32, .format = TSR_PIXEL_FORMAT_RGBA32F << 12 });
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA32F, 16);
	t->f->shader = (struct tsr_shader_state){ .fragment = program };
	t->f->draw.blends = blend;
	t->f->draw.blend_count = 1;
	t->f->draw.depth_test = t->f->draw.depth_write = true;
	t->f->draw.depth_function = TSR_COMPARE_FUNCTION_LESS;
}

void tiles_target(struct tiles *t, unsigned int index, unsigned int format, unsigned int bytes)
{
	const struct tsr_frame *f = &t->f->frame;
	unsigned int place = index < TILES_DEPTH ? 0 : index - TILES_DEPTH + 1;
	uint32_t pitch = (f->width * bytes + 15) & ~15u, plane = pitch * f->height;

	t->bytes[index] = bytes;
	t->target[index] = (struct tsr_render_target){
		.pointer = TILES_TARGETS + place * (uint64_t)TILES_TARGET_SIZE +
			   (index < TILES_DEPTH ? index * (uint64_t)(1u << 20) : 0),
		.format = format, .samples_log2 = f->samples_log2,
		.pitch = pitch, .sample_stride = plane,
		.layer_stride = (uint64_t)plane << f->samples_log2,
	};
}

static unsigned int tile_packet(uint64_t *word, unsigned int opcode, unsigned int which)
{
	if (!which)
		return 0;
	*word = opcode | 1u << 8 | (which & 0xff) << 16 | (which >> 8 & 3) << 24;
	return 1;
}

static void write_lists(struct tiles *t)
{
	uint64_t *tile = words(t, TILES_LIST), *list = words(t, RENDER_LIST);
	const struct tsr_frame *f = &t->f->frame;
	unsigned int n = 0, side = 1u << f->tile_shift;
	struct tsr_list_tiles which = {
		.x1 = (f->width - 1) / side, .y1 = (f->height - 1) / side, .layer1 = f->layers - 1,
	};

	n += tile_packet(tile + n, TSR_OP_TILE_CLEAR, t->clear);
	n += tile_packet(tile + n, TSR_OP_TILE_LOAD, t->load);
	if (t->draw)
		tile[n++] = TSR_OP_TILE_DRAW | 1u << 8;
	n += tile_packet(tile + n, TSR_OP_TILE_STORE, t->store);
	if (t->list) {
		n = t->list_qwords;
		memcpy(tile, t->list, n * sizeof(*tile));
	}
	if (t->part)
		which = *t->part;
	which.addr = TILES_LIST;
	which.size = n * 8;
	which.end_of_frame = true;
	tsr_pack_list_tiles(list, &which);
	list[TSR_LIST_TILES_QWORDS] = TSR_OP_LIST_HALT | TSR_LIST_HALT_QWORDS << 8;
}

void tiles_submit(struct tiles *t)
{
	uint64_t *stream = words(t, STREAM);

	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX + 2; i++)
		tsr_pack_render_target(words(t, TARGETS + 64 * i), &t->target[i]);
	t->f->frame.colour = TARGETS;
	t->f->frame.depth = TARGETS + 64 * TILES_DEPTH;
	t->f->frame.stencil = TARGETS + 64 * TILES_STENCIL;
	tsr_pack_frame(words(t, BINNER_FRAME), &t->f->frame);
	write_lists(t);
	tsr_pack_render(stream, &(struct tsr_render){
					.list = RENDER_LIST, .frame = BINNER_FRAME,
					.size = (TSR_LIST_TILES_QWORDS + 1) * 8 });
	bench_call(&t->queue, STREAM, TSR_RENDER_QWORDS * 8);
	bench_kick(&t->queue);
}

bool tiles_render(struct tiles *t)
{
	tiles_submit(t);
	while (t->slow && bench_state(&t->queue) != TSR_QUEUE_STATE_IDLE &&
	       bench_state(&t->queue) != TSR_QUEUE_STATE_FAULTED) {
		bench_answer(t->f->b);
		tsr_gpu_run(t->f->b->gpu, 1);
		if (t->disturb)
			t->disturb(t);
	}
	bench_run(t->f->b, 60);
	return bench_state(&t->queue) == TSR_QUEUE_STATE_IDLE;
}

bool tiles_run(struct tiles *t)
{
	return binner_bin(t->f) && tiles_render(t);
}

void *tiles_texel(struct tiles *t, unsigned int index, unsigned int x, unsigned int y,
		  unsigned int sample)
{
	const struct tsr_render_target *r = &t->target[index];

	return t->memory + (r->pointer - TILES_TARGETS) + (size_t)r->sample_stride * sample +
	       (size_t)r->pitch * y + (size_t)x * t->bytes[index];
}

float tiles_depth(struct tiles *t, unsigned int x, unsigned int y, unsigned int sample)
{
	float z;

	memcpy(&z, tiles_texel(t, TILES_DEPTH, x, y, sample), sizeof(z));
	return z;
}

uint64_t tiles_counter(struct tiles *t, enum tsr_queue_counter counter)
{
	return bench_queue_reg64(&t->queue, TSR_REG_QUEUE_COUNTER(0, counter) - TSR_QUEUE__OFFSET);
}
