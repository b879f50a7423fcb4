// SPDX-License-Identifier: MIT
/* SHADER_STATE: the programs of draws with the tables that they name. */
#include "tsv_cmd.h"

#include "util/format/u_format.h"
#include "vk_format.h"
#include "vk_graphics_state.h"

#define BUFFER_ALIGN	64u	/* of ATTRIBUTE_BUFFER.POINTER */

/* ---- Programs -------------------------------------------------------------------------------- */

/* Scratch memory of a program for the engine that runs it. */
static void set_scratch(struct tsv_cmd *cmd, const struct tsv_shader *shader,
			enum tsv_scratch_user user, struct tsr_shader_program *p)
{
	struct tsv_scratch scratch;

	if (!shader->info.scratch)
		return;
	scratch = tsv_scratch(tsv_cmd_device(cmd), user);
	p->scratch = scratch.va;
	p->scratch_size = scratch.size;
}

/*
 * The common part of a shader's programs. @user: the engine that runs the first one. Returns false
 * if there is no memory.
 */
static bool fill_program(struct tsv_cmd *cmd, const struct tsv_shader *shader,
			 enum tsv_scratch_user user, struct tsr_shader_program *p)
{
	struct tsv_tables tables;

	if (!tsv_cmd_tables(cmd, &shader->info, cmd->graphics.bind.sets, &tables))
		return false;
	p->textures = tables.textures;
	p->texture_count = tables.texture_count;
	p->samplers = tables.samplers;
	p->sampler_count = tables.sampler_count;
	p->push = cmd->graphics.params;
	p->push_words = shader->info.push_words;
	set_scratch(cmd, shader, user, p);
	return true;
}

static bool write_program(struct tsv_cmd *cmd, const struct tsv_shader *shader, uint32_t entry,
			  unsigned registers, struct tsr_shader_program *p, uint64_t *va)
{
	uint64_t *words = tsv_cmd_alloc(cmd, TSR_SHADER_PROGRAM__QWORDS * 8, 64, va);

	if (!words)
		return false;
	p->code = shader->code.va + entry;
	p->registers_64 = registers > 32;
	tsr_pack_shader_program(words, p);
	return true;
}

/* ---- Vertices -------------------------------------------------------------------------------- */

/* An attribute that has no buffer, or is beyond it, reads 0. */
static uint64_t write_attribute(const struct tsv_cmd *cmd, unsigned i, uint64_t *entry)
{
	const struct vk_dynamic_graphics_state *dyn = &cmd->vk.dynamic_graphics_state;
	const struct vk_vertex_attribute_state *a = &dyn->vi->attributes[i];
	const struct tsv_source *source = &cmd->graphics.vertices[a->binding];
	const struct tc_format *f = tc_format(vk_format_to_pipe_format(a->format));
	struct tsr_attribute word = { .buffer = i, .format = TSR_PIXEL_FORMAT_RGBA32F };
	struct tsr_attribute_buffer b = { .type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR };
	uint64_t packed, va;

	if (dyn->vi->attributes_valid & BITFIELD_BIT(i)) {
		word.add_offset = dyn->vi->bindings[a->binding].input_rate !=
				  VK_VERTEX_INPUT_RATE_INSTANCE;
		word.format = f->format;
		word.order = f->order;
		if (a->offset < source->size) {
			va = source->va + a->offset;
			word.offset = (int32_t)(va % BUFFER_ALIGN);
			b.pointer = va - word.offset;
			b.stride = dyn->vi_binding_strides[a->binding];
			b.size = (uint32_t)MIN2(source->va + source->size - b.pointer, UINT32_MAX);
		}
	}
	tsr_pack_attribute_buffer(entry, &b);
	tsr_pack_attribute(&packed, &word);
	return packed;
}

/* Attributes and images; then the outputs, which are in the heap. */
static bool write_vertex_tables(struct tsv_cmd *cmd, struct tsr_shader_program *p)
{
	const struct tsv_shader *vs = cmd->graphics.vertex, *fs = cmd->graphics.fragment;
	const struct pan_shader_info *info = &vs->info.pan;
	const unsigned count = vs->info.attributes, images = vs->info.table[TSV_IMAGES].slots,
		       outputs = info->varyings.output_count, last = count + 2 * images;
	const struct tsr_attribute_buffer out = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR,
		.stride = tc_output_bytes(info),
		.size = UINT32_MAX,
	};
	uint64_t *words = tsv_cmd_alloc(cmd, (count + images + outputs + 1) * 8, 64,
					&p->attributes);
	uint64_t *buffers = tsv_cmd_alloc(cmd, (last + 1) * 16, 64, &p->attribute_buffers);
	unsigned i;

	if (!words || !buffers)
		return false;
	for (i = 0; i < count; i++)
		words[i] = write_attribute(cmd, i, buffers + 2 * i);
	tsv_write_images(cmd->graphics.bind.sets, &vs->info.table[TSV_IMAGES], count,
			 words + count, buffers + 2 * count);
	for (i = 0; i < outputs; i++)
		words[count + images + i] = tc_output_word(info, fs ? &fs->info.pan : NULL, i,
							   last);
	tsr_pack_attribute_buffer(buffers + 2 * last, &out);
	p->attribute_count = count + images;
	p->attribute_buffer_count = last + 1;
	p->varyings = p->attributes + (count + images) * 8;
	p->varying_count = outputs;
	return true;
}

static bool write_vertex(struct tsv_cmd *cmd, struct tsr_shader_state *s)
{
	const struct tsv_shader *vs = cmd->graphics.vertex;
	const struct pan_shader_info *info = &vs->info.pan;
	struct tsr_shader_program p = { 0 };

	if (!fill_program(cmd, vs, TSV_SCRATCH_BIN, &p) || !write_vertex_tables(cmd, &p) ||
	    !write_program(cmd, vs, 0, info->work_reg_count, &p, &s->position))
		return false;
	set_scratch(cmd, vs, TSV_SCRATCH_OTHERS, &p);
	s->position_mode = TSR_POSITION_MODE_CLIP;
	s->writes_point_size = vs->info.writes_point_size;
	s->writes_layer = vs->info.writes_layer;
	s->writes_viewport = vs->info.writes_viewport;
	s->clip_distances = vs->info.clip_distances;
	s->cull_distances = vs->info.cull_distances;
	s->extended = s->writes_point_size || s->writes_layer || s->writes_viewport ||
		      s->clip_distances || s->cull_distances;
	s->output_stride = tc_output_bytes(info);
	return !info->vs.secondary_enable ||
	       write_program(cmd, vs, info->vs.secondary_offset, info->vs.secondary_work_reg_count,
			     &p, &s->varying);
}

/* ---- Fragments ------------------------------------------------------------------------------- */

/* Images are attributes; varyings are what the vertex shader has left in the heap. */
static bool write_fragment_tables(struct tsv_cmd *cmd, struct tsr_shader_program *p)
{
	const struct pan_shader_info *vs = &cmd->graphics.vertex->info.pan;
	const struct tsv_shader_info *fs = &cmd->graphics.fragment->info;
	const unsigned images = fs->table[TSV_IMAGES].slots,
		       count = fs->pan.varyings.input_count;
	const struct tsr_attribute_buffer buffer = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR,
		.stride = tc_output_bytes(vs),
		.size = UINT32_MAX,
	};
	uint64_t *words, *buffers;
	unsigned i;

	if (!images && !count)
		return true;
	words = tsv_cmd_alloc(cmd, (images + count) * 8, 64, &p->attributes);
	buffers = tsv_cmd_alloc(cmd, (2 * images + 1) * 16, 64, &p->attribute_buffers);
	if (!words || !buffers)
		return false;
	tsv_write_images(cmd->graphics.bind.sets, &fs->table[TSV_IMAGES], 0, words, buffers);
	for (i = 0; i < count; i++) {
		const struct pan_shader_varying *in = &fs->pan.varyings.input[i];
		const struct tc_format *f = tc_format(in->format ? in->format
								 : PIPE_FORMAT_R32_FLOAT);
		const struct tsr_attribute word = {
			.buffer = 2 * images, .format = f->format, .order = f->order,
			.offset = (int32_t)tc_output_offset(vs, in->location),
		};

		tsr_pack_attribute(&words[images + i], &word);
	}
	tsr_pack_attribute_buffer(buffers + 4 * images, &buffer);
	p->attribute_count = images;
	p->attribute_buffer_count = 2 * images + 1;
	p->varyings = p->attributes + images * 8;
	p->varying_count = count;
	return true;
}

static void fill_fragment(const struct tsv_shader_info *info, struct tsr_shader_state *s)
{
	const struct bifrost_shader_info *b = &info->pan.bifrost;

	s->writes_depth = info->pan.fs.writes_depth;
	s->writes_stencil = info->pan.fs.writes_stencil;
	s->discards = info->discards;
	s->side_effects = info->writes_memory;
	s->reads_tile = !!info->pan.fs.outputs_read;
	s->sample_shading = info->sample_shading;
	s->early_tests = info->pan.fs.early_fragment_tests;
	s->helpers = info->helpers;
	s->wait_depth = b->wait_6;
	s->wait_colour = b->wait_7;
	s->linear_varyings = info->linear;
	tc_fill_preloads(b, s);
}

static bool write_fragment(struct tsv_cmd *cmd, struct tsr_shader_state *s)
{
	const struct tsv_shader *fs = cmd->graphics.fragment;
	struct tsr_shader_program p = { 0 };

	if (!fs || !fs->info.code_size)
		return true;
	fill_fragment(&fs->info, s);
	return fill_program(cmd, fs, TSV_SCRATCH_OTHERS, &p) && write_fragment_tables(cmd, &p) &&
	       write_program(cmd, fs, 0, fs->info.pan.work_reg_count, &p, &s->fragment);
}

bool tsv_program_write(struct tsv_cmd *cmd)
{
	struct tsr_shader_state s = { 0 };
	struct tsr_list_shader_state packet;
	uint64_t *words;

	if (!write_vertex(cmd, &s) || !write_fragment(cmd, &s))
		return false;
	words = tsv_cmd_alloc(cmd, TSR_SHADER_STATE__QWORDS * 8, 64, &packet.addr);
	if (!words)
		return false;
	tsr_pack_shader_state(words, &s);
	words = tsv_cmd_packet(cmd, TSR_LIST_SHADER_STATE_QWORDS);
	if (words)
		tsr_pack_list_shader_state(words, &packet);
	return words;
}
