/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "pipe.h"
#include <tessera/asm.h>
#include "texture_ref.h"

static void *zeroed(size_t size)
{
	void *memory = aligned_alloc(64, (size + 63) & ~(size_t)63);

	if (!memory)
		abort();
	memset(memory, 0, size);
	return memory;
}

int pipe_main(const struct tsr_config **config, void (*run_all)(void))
{
	static const struct tsr_config late = { .late_messages = true };

	ktap_start();
	run_all();
	*config = &late;
	run_all();
	return ktap_finish();
}

struct pipe *pipe_new(const struct tsr_config *config)
{
	struct pipe *p = zeroed(sizeof(*p));

	p->b = bench_new(config);
	bench_as_init(p->b, &p->as, 1);
	p->data = bench_buffer(&p->as, PIPE_DATA, PIPE_DATA_SIZE, BENCH_RW);
	p->code = bench_buffer(&p->as, PIPE_CODE, PIPE_CODE_SIZE, BENCH_RX);
	p->mem = tsr_runner_mem(&p->b->gpu->runner[0], &p->b->gpu->queue[0], 1, TSR_UNIT_SHADER);
	p->sh = tsr_shader_new(NULL);
	p->v = zeroed(sizeof(*p->v));
	p->f = zeroed(sizeof(*p->f));
	p->budget = UINT64_MAX;
	p->program = (struct tsr_shader_program){
		.attributes = PIPE_ATTRIBUTES, .attribute_count = 32,
		.attribute_buffers = PIPE_BUFFERS, .attribute_buffer_count = 64,
		.varyings = PIPE_OUTPUTS, .varying_count = 40,
		.textures = PIPE_TEXTURES, .texture_count = 4,
		.samplers = PIPE_SAMPLERS, .sampler_count = 4,
	};
	p->state.width = 96;
	p->state.height = 48;
	p->state.shader.helpers = true;
	p->state.shader.output_stride = PIPE_STRIDE;
	/* one target of floats */
	p->state.blend[0] = TSR_BLEND_MODE_OPAQUE | 3u << 3 | (uint64_t)TSR_REGISTER_TYPE_F32 << 56;
	for (unsigned int i = 1; i < TSR_RENDER_TARGETS_MAX; i++)
		p->state.blend[i] = TSR_BLEND_MODE_OFF;
	/* buffer 31: outputs */
	pipe_buffer(p, 31, TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, 0, 0, 0, 0, 0);
	return p;
}

void pipe_free(struct pipe *p)
{
	tsr_stage_drop(&p->v->run);
	tsr_stage_drop(&p->f->run);
	tsr_programs_drop(&p->programs);
	tsr_shader_free(p->sh);
	bench_free(p->b);
	free(p->v);
	free(p->f);
	free(p);
}

void *pipe_at(struct pipe *p, uint64_t va)
{
	return p->data + (va - PIPE_DATA);
}

const struct tsr_program *pipe_load(struct pipe *p, unsigned int number, enum tsr_stage stage,
				    const void *code, uint32_t bytes, uint32_t entry,
				    const uint32_t *push, unsigned int push_words)
{
	uint32_t at = number * 0x10000;
	const struct tsr_program *program = NULL;

	memcpy(p->code + at + 0x1000, code, bytes);
	memset(p->code + at + 0x1000 + bytes, 0, 256);
	memcpy(p->code + at + 0x800, push, push_words * sizeof(push[0]));
	p->program.code = PIPE_CODE + at + 0x1000 + entry;
	p->program.push = PIPE_CODE + at + 0x800;
	p->program.push_words = push_words;
	tsr_pack_shader_program((uint64_t *)(void *)(p->code + at), &p->program);
	tsr_programs_drop(&p->programs);
	/* code is cached until it is invalidated */
	bench_invalidate_all(&p->as);
	tsr_tlb_sync(p->mem.runner);
	ktap_eq(tsr_programs_find(&p->programs, &p->mem, PIPE_CODE + at, 0, stage,
				  &program),
		TSR_STEP_DONE);
	return program;
}

const struct tsr_program *pipe_text(struct pipe *p, unsigned int number, enum tsr_stage stage,
				    const char *text)
{
	const struct tsr_program *program;
	struct tsr_asm_shader *code;

	if (tsr_asm_assemble(text, strlen(text), 0, &code)) {
		tsr_asm_print_diagnostics(stderr, code, "program");
		abort();
	}
	program = pipe_load(p, number, stage, code->code, code->size, code->entry,
			    p->push, 16);
	tsr_asm_free(code);
	return program;
}

uint32_t pipe_label(const char *text, const char *label)
{
	struct tsr_asm_shader *code;
	uint32_t offset = UINT32_MAX;

	if (tsr_asm_assemble(text, strlen(text), 0, &code))
		abort();
	for (uint32_t i = 0; i < code->num_symbols; i++) {
		if (!strcmp(code->symbols[i].name, label))
			offset = code->symbols[i].offset;
	}
	tsr_asm_free(code);
	return offset;
}

void pipe_attribute(struct pipe *p, uint64_t table, unsigned int index, unsigned int buffer,
		    unsigned int format, int32_t offset, bool add_offset)
{
	const struct tsr_attribute a = { .buffer = buffer, .format = format, .offset = offset,
					 .add_offset = add_offset };

	tsr_pack_attribute(pipe_at(p, table + 8 * index), &a);
}

void pipe_buffer(struct pipe *p, unsigned int index, unsigned int type, uint64_t va,
		 uint32_t stride, uint32_t size, unsigned int shift, unsigned int odd)
{
	const struct tsr_attribute_buffer b = { .type = type, .pointer = va, .stride = stride,
						.size = size, .divisor_shift = shift,
						.divisor_odd = odd };

	tsr_pack_attribute_buffer(pipe_at(p, PIPE_BUFFERS + 16 * index), &b);
}

void pipe_varying(struct pipe *p, unsigned int index, unsigned int components)
{
	static const uint8_t formats[] = { TSR_PIXEL_FORMAT_R32F, TSR_PIXEL_FORMAT_RG32F,
					   TSR_PIXEL_FORMAT_RGB32F, TSR_PIXEL_FORMAT_RGBA32F };

	pipe_attribute(p, PIPE_OUTPUTS, index, 31, formats[components - 1], 16 * index, false);
}

static enum tsr_step step_vertices(struct pipe *p)
{
	enum tsr_step step = tsr_vertex_run(p->sh, p->v);

	if (step == TSR_STEP_DONE)
		tsr_vertex_records(p->v);
	return step;
}

static enum tsr_step step_fragments(struct pipe *p)
{
	return tsr_fragment_run(p->sh, p->f);
}

void pipe_texture(struct pipe *p, const struct tex *t)
{
	const uint64_t *surface = units_table(tex_units, UNITS_SURFACES);
	uint64_t *texture = pipe_at(p, PIPE_TEXTURES), *to = pipe_at(p, PIPE_SURFACES);

	memcpy(texture, units_table(tex_units, UNITS_TEXTURES), 32);
	texture[2] = PIPE_SURFACES;
	memcpy(pipe_at(p, PIPE_SAMPLERS), units_table(tex_units, UNITS_SAMPLERS), 32);
	for (unsigned int i = 0; i < t->levels * t->layers; i++) {
		to[2 * i] = surface[2 * i] - UNITS_DATA + PIPE_FREE;
		to[2 * i + 1] = surface[2 * i + 1];
	}
	memcpy(pipe_at(p, PIPE_FREE), tex_units->data, UNITS_DATA_SIZE);
}

/* Add the counts of a step. The struct consists of 64-bit numbers. */
static void add_stats(struct tsr_shader_stats *to, const struct tsr_shader_stats *step)
{
	uint64_t sum[sizeof(*to) / sizeof(uint64_t)], more[sizeof(*to) / sizeof(uint64_t)];

	memcpy(sum, to, sizeof(sum));
	memcpy(more, step, sizeof(more));
	for (unsigned int i = 0; i < sizeof(sum) / sizeof(sum[0]); i++)
		sum[i] += more[i];
	memcpy(to, sum, sizeof(sum));
}

/* Steps to the end of the batch or the bundle. */
static enum tsr_step run(struct pipe *p, enum tsr_step (*step)(struct pipe *p))
{
	enum tsr_step result;

	p->stats = (struct tsr_shader_stats){ 0 };
	/* the test may have written descriptors and textures */
	tsr_mmu_data_changed(&p->b->gpu->mmu, 1);
	for (p->steps = 1;; p->steps++) {
		p->mem.thread->budget = p->budget;
		tsr_stage_enter(p->sh, &p->mem, 0);
		result = step(p);
		tsr_stage_leave(p->sh);
		add_stats(&p->stats, &p->sh->stats);
		if (result == TSR_STEP_PENDING && bench_answer(p->b))
			continue;
		if (result != TSR_STEP_MORE || p->steps > 100000)
			return result;
	}
}

enum tsr_step pipe_vertices(struct pipe *p)
{
	return run(p, step_vertices);
}

enum tsr_step pipe_fragments(struct pipe *p)
{
	return run(p, step_fragments);
}

struct tsr_fragment_prim *pipe_prim(struct pipe *p, unsigned int vertices)
{
	struct tsr_prim prim = { .vertices = vertices, .front = true, .primitive_id = 7 };
	struct tsr_fragment_prim *out = &p->f->prim[tsr_fragments_prim(p->f, &prim)];

	for (unsigned int i = 0; i < 3; i++) {
		out->output[i] = PIPE_VALUES + (3 * (p->f->prims - 1) + i) * PIPE_STRIDE;
		out->prim.v[i].rw = 1;
	}
	return out;
}

struct tsr_fragment_quad *pipe_quad(struct pipe *p, int x, int y, unsigned int prim)
{
	struct tsr_fragment_quad *quad = &p->f->quad[p->f->quads++];

	*quad = (struct tsr_fragment_quad){ .x = x, .y = y, .prim = prim };
	for (unsigned int i = 0; i < 4; i++)
		quad->coverage |= ((1ull << (1 << p->state.samples_log2)) - 1) << 16 * i;
	return quad;
}
