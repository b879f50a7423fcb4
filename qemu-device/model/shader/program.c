/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <stdlib.h>

#include "env.h"
#include "memory/descriptor.h"
#include "memory/mem.h"

const struct tsr_copies tsr_no_copies;

uint32_t tsr_program_parts(const struct tsr_shader_program *p,
			    struct tsr_part_place part[TSR_PARTS])
{
	uint32_t offset = TSR_SHADER_PROGRAM__QWORDS * 8;

	part[TSR_PART_PUSH] = (struct tsr_part_place){
		.va = p->push, .bytes = p->push_words * 4u };
	part[TSR_PART_UNIFORM_BUFFERS] = (struct tsr_part_place){
		.va = p->uniform_buffers,
		.bytes = p->uniform_buffer_count * TSR_UNIFORM_BUFFER__QWORDS * 8u };
	part[TSR_PART_ATTRIBUTES] = (struct tsr_part_place){
		.va = p->attributes, .bytes = p->attribute_count * TSR_ATTRIBUTE__QWORDS * 8u };
	part[TSR_PART_ATTRIBUTE_BUFFERS] = (struct tsr_part_place){
		.va = p->attribute_buffers,
		.bytes = p->attribute_buffer_count * TSR_ATTRIBUTE_BUFFER__QWORDS * 8u };
	part[TSR_PART_VARYINGS] = (struct tsr_part_place){
		.va = p->varyings, .bytes = p->varying_count * TSR_ATTRIBUTE__QWORDS * 8u };
	part[TSR_PART_TEXTURES] = (struct tsr_part_place){
		.va = p->textures, .bytes = p->texture_count * TSR_TEXTURE__QWORDS * 8u };
	part[TSR_PART_SAMPLERS] = (struct tsr_part_place){
		.va = p->samplers, .bytes = p->sampler_count * TSR_SAMPLER__QWORDS * 8u };
	for (unsigned int i = 0; i < TSR_PARTS; i++) {
		part[i].offset = offset;
		offset += (part[i].bytes + 15) & ~15u;
	}
	return offset;
}

static struct tsr_program **place(struct tsr_programs *programs, uint64_t va, unsigned int stage)
{
	uint64_t key = va / 64 * 0x9e3779b97f4a7c15ull;

	return &programs->program[stage][key >> 40 & (TSR_UNIFORM_CACHE_PROGRAMS - 1)];
}

/* Values that a program shares with that of a dispatch. */
static void fill_state(const struct tsr_shader_program *p, struct tsr_compute_state *state)
{
	*state = (struct tsr_compute_state){
		.code = p->code,
		.registers_64 = p->registers_64,
		.push = p->push,
		.push_words = p->push_words,
		.clause_limit = p->clause_limit,
		.uniform_buffers = p->uniform_buffers,
		.attributes = p->attributes,
		.attribute_buffers = p->attribute_buffers,
		.textures = p->textures,
		.samplers = p->samplers,
		.uniform_buffer_count = p->uniform_buffer_count,
		.attribute_count = p->attribute_count,
		.attribute_buffer_count = p->attribute_buffer_count,
		.texture_count = p->texture_count,
		.sampler_count = p->sampler_count,
		.scratch = p->scratch,
		.scratch_size = p->scratch_size,
	};
}

/* The header at @va, which may be 0. */
static enum tsr_step load_header(struct tsr_mem *mem, uint64_t va, struct tsr_program *program)
{
	uint64_t word[TSR_STAGE_HEADER__QWORDS];
	enum tsr_step step;

	program->header_va = va;
	if (!va)
		return TSR_STEP_DONE;
	step = tsr_descriptor_read(mem, va, TSR_DESCRIPTOR_STAGE_HEADER, word);
	if (step == TSR_STEP_DONE)
		tsr_unpack_stage_header(word, &program->header);
	return step;
}

/* Where RENDER reads what @p names, if there is a copy at @copy. */
static void find_copies(const struct tsr_shader_program *p, uint64_t copy, uint64_t frame,
			struct tsr_copies *copies)
{
	struct tsr_part_place part[TSR_PARTS];

	*copies = tsr_no_copies;
	if (!copy)
		return;
	tsr_program_parts(p, part);
	copies->frame = frame;
	for (unsigned int i = 0; i < TSR_PARTS; i++)
		copies->moved[i] = copy + part[i].offset - part[i].va;
}

static enum tsr_step load(struct tsr_mem *mem, uint64_t va, uint64_t copy, uint64_t frame,
			  enum tsr_stage stage, struct tsr_program **out)
{
	uint64_t word[TSR_SHADER_PROGRAM__QWORDS];
	struct tsr_shader_program p;
	struct tsr_program *program;
	enum tsr_step step;

	step = tsr_descriptor_read_copy(mem, va, copy ? copy : va, TSR_DESCRIPTOR_SHADER_PROGRAM,
					word);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_shader_program(word, &p);
	program = malloc(sizeof(*program) + p.push_words * sizeof(program->push_word[0]));
	if (!program)
		return tsr_mem_bad_packet(mem, va, 0, TSR_FAULT_UNSUPPORTED);
	find_copies(&p, copy, frame, &program->copies);
	step = tsr_mem_read(mem, p.push + program->copies.moved[TSR_PART_PUSH],
			    program->push_word, p.push_words * sizeof(program->push_word[0]));
	if (step == TSR_STEP_DONE)
		step = load_header(mem, stage >= TSR_STAGE_VERTEX ? p.header : 0, program);
	if (step != TSR_STEP_DONE) {
		free(program);
		return step;
	}
	program->va = va;
	program->serial = tsr_env_serial(mem->env);
	program->stage = stage;
	fill_state(&p, &program->state);
	program->varyings = p.varyings;
	program->varying_count = p.varying_count;
	*out = program;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_programs_find(struct tsr_programs *programs, struct tsr_mem *mem, uint64_t va,
				uint64_t copy, enum tsr_stage stage,
				const struct tsr_program **program)
{
	struct tsr_program **at = place(programs, va, stage), *loaded = *at;
	enum tsr_step step;

	if (!loaded || loaded->va != va) {
		step = load(mem, va, copy, programs->frame, stage, &loaded);
		if (step != TSR_STEP_DONE)
			return step;
		programs->stalls += *at != NULL;
		free(*at);
		*at = loaded;
	}
	*program = loaded;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_push_read(struct tsr_push *push, struct tsr_mem *mem, uint64_t va,
			    const struct tsr_program *program)
{
	push->serial = tsr_env_serial(mem->env);
	return tsr_mem_read(mem, va, push->word,
			    program->state.push_words * sizeof(push->word[0]));
}

void tsr_programs_evict(struct tsr_programs *programs, const struct tsr_program *const used[2])
{
	for (unsigned int stage = 0; stage < TSR_STAGES; stage++) {
		for (unsigned int i = 0; i < TSR_UNIFORM_CACHE_PROGRAMS; i++) {
			struct tsr_program **at = &programs->program[stage][i];

			if (*at == used[0] || *at == used[1])
				continue;
			free(*at);
			*at = NULL;
		}
	}
}

void tsr_programs_drop(struct tsr_programs *programs)
{
	tsr_programs_evict(programs, (const struct tsr_program *const[2]){ NULL, NULL });
	programs->stalls = 0;
}
