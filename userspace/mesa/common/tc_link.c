/* SPDX-License-Identifier: MIT */
#include "util/format/u_format.h"

#include "tc_format.h"
#include "tc_nir.h"

#define NOWHERE		0x1ffu	/* a buffer beyond the table: stores are dropped */

void tc_fill_info(const nir_shader *nir, struct pan_shader_info *info)
{
	info->stage = nir->info.stage;
	info->writes_global = nir->info.writes_memory;
	info->ubo_count = nir->info.num_ubos;
	info->texture_count = info->sampler_count = BITSET_LAST_BIT(nir->info.textures_used);
	info->outputs_written = nir->info.outputs_written;
	if (info->stage == MESA_SHADER_VERTEX)
		info->attribute_count = util_bitcount64(nir->info.inputs_read);
	if (gl_shader_stage_is_compute(info->stage))
		info->wls_size = nir->info.shared_size;
	if (info->stage != MESA_SHADER_FRAGMENT)
		return;
	info->fs.writes_depth = nir->info.outputs_written & BITFIELD64_BIT(FRAG_RESULT_DEPTH);
	info->fs.writes_stencil = nir->info.outputs_written & BITFIELD64_BIT(FRAG_RESULT_STENCIL);
	info->fs.writes_coverage =
		nir->info.outputs_written & BITFIELD64_BIT(FRAG_RESULT_SAMPLE_MASK);
	info->fs.outputs_read = nir->info.outputs_read >> FRAG_RESULT_DATA0;
	info->fs.sample_shading = nir->info.fs.uses_sample_shading;
	info->fs.untyped_color_outputs = nir->info.fs.untyped_color_outputs;
	info->fs.early_fragment_tests = nir->info.fs.early_fragment_tests;
}

/* ---- Varyings -------------------------------------------------------------------------------- */

bool tc_in_record(gl_varying_slot location)
{
	return location == VARYING_SLOT_POS || location == VARYING_SLOT_PSIZ ||
	       location == VARYING_SLOT_LAYER || location == VARYING_SLOT_VIEWPORT ||
	       location == VARYING_SLOT_CLIP_DIST0 || location == VARYING_SLOT_CLIP_DIST1;
}

static bool has_memory(const struct pan_shader_varying *output)
{
	return output->format != PIPE_FORMAT_NONE && !tc_in_record(output->location);
}

uint32_t tc_output_offset(const struct pan_shader_info *vs, gl_varying_slot location)
{
	uint32_t i, at = 0;

	for (i = 0; i < vs->varyings.output_count; i++) {
		const struct pan_shader_varying *o = &vs->varyings.output[i];

		if (!has_memory(o))
			continue;
		if (o->location == location)
			return at;
		at += 16;
	}
	return TSR_VERTEX_OUTPUT_MAX;
}

uint32_t tc_output_bytes(const struct pan_shader_info *vs)
{
	uint32_t i, bytes = 0;

	for (i = 0; i < vs->varyings.output_count; i++)
		bytes += has_memory(&vs->varyings.output[i]) ? 16 : 0;
	return bytes;
}

uint64_t tc_output_word(const struct pan_shader_info *vs, const struct pan_shader_info *fs,
			unsigned i, unsigned buffer)
{
	const struct pan_shader_varying *o = &vs->varyings.output[i];
	struct tsr_attribute word = { .buffer = NOWHERE, .format = TSR_PIXEL_FORMAT_RGBA32F };
	const struct tc_format *f;
	uint64_t packed;
	unsigned k;

	for (k = 0; fs && has_memory(o) && k < fs->varyings.input_count; k++) {
		const struct pan_shader_varying *in = &fs->varyings.input[k];

		if (in->format == PIPE_FORMAT_NONE || in->location != o->location)
			continue;
		f = tc_format(in->format);
		word = (struct tsr_attribute) {
			.buffer = buffer, .format = f->format, .order = f->order,
			.offset = (int32_t)tc_output_offset(vs, o->location),
		};
	}
	tsr_pack_attribute(&packed, &word);
	return packed;
}

/* ---- Colors ---------------------------------------------------------------------------------- */

/*
 * The registers of a BLEND hold the type that the shader was compiled for. The target decides
 * whether an integer has a sign, and no bit changes.
 */
uint32_t tc_register_type(nir_alu_type type, enum pipe_format format)
{
	const bool has_sign = util_format_is_pure_sint(format);

	switch (type) {
	case nir_type_float16:
		return TSR_REGISTER_TYPE_F16;
	case nir_type_int32:
	case nir_type_uint32:
		return has_sign ? TSR_REGISTER_TYPE_S32 : TSR_REGISTER_TYPE_U32;
	case nir_type_int16:
	case nir_type_uint16:
		return has_sign ? TSR_REGISTER_TYPE_S16 : TSR_REGISTER_TYPE_U16;
	default:
		return TSR_REGISTER_TYPE_F32;
	}
}

/* ---- Preloaded messages ---------------------------------------------------------------------- */

static void preload(const struct bifrost_message_preload *m, uint32_t *kind, bool *half,
		    uint32_t *components, bool *zero_lod, uint32_t *varying, uint32_t *texture)
{
	*kind = !m->enabled  ? TSR_PRELOAD_NONE
		: m->texture ? TSR_PRELOAD_VAR_TEX
			     : TSR_PRELOAD_LD_VAR;
	if (!m->enabled)
		return;
	*half = m->fp16;
	*varying = m->varying_index;
	if (m->texture) {
		*texture = m->texture_index;
		*zero_lod = m->zero_lod;
	} else {
		*components = m->num_components - 1;
	}
}

void tc_fill_preloads(const struct bifrost_shader_info *i, struct tsr_shader_state *s)
{
	preload(&i->messages[0], &s->preload_0, &s->preload_0_half, &s->preload_0_components,
		&s->preload_0_zero_lod, &s->preload_0_varying, &s->preload_0_texture);
	preload(&i->messages[1], &s->preload_1, &s->preload_1_half, &s->preload_1_components,
		&s->preload_1_zero_lod, &s->preload_1_varying, &s->preload_1_texture);
}
