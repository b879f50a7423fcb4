/* SPDX-License-Identifier: MIT */
/* Passes over shaders before the compiler. */
#include "compiler/nir/nir_builder.h"
#include "compiler/nir/nir_xfb_info.h"
#include "pipe/p_defines.h"
#include "util/log.h"

#include "tg_program.h"

/* The slots of elements @wanted.index on, one after the other; returns the first one's number. */
static unsigned slots_of(struct tg_variant *v, struct tg_sysval wanted, unsigned count)
{
	unsigned i, k;

	for (i = 0; i + count <= v->sysval_count; i++) {
		struct tg_sysval element = wanted;

		for (k = 0; k < count; k++, element.index++) {
			if (memcmp(&v->sysvals[i + k], &element, sizeof(element)) != 0)
				break;
		}
		if (k == count)
			return i;
	}
	i = v->sysval_count;
	if (i + count > TG_SYSVALS) {
		mesa_loge("tessera: a shader with more than %u system values", TG_SYSVALS);
		abort();
	}
	for (k = 0; k < count; k++) {
		v->sysvals[i + k] = wanted;
		wanted.index++;
	}
	v->sysval_count += count;
	return i;
}

/*
 * A system value that a shader reads. Without @index it is the one of @sysval; else @index, a
 * number from the shader, says which of @count elements, of which @sysval is the first.
 */
struct sysval_read {
	struct tg_sysval sysval;
	nir_def *index;
	unsigned count;
	unsigned offset;		/* bytes within the slot */
};

/* The number of a binding: a constant, or one of the shader's @count. */
static void read_binding(struct sysval_read *r, nir_src src, unsigned count)
{
	if (nir_src_is_const(src)) {
		r->sysval.index = (uint8_t)nir_src_as_uint(src);
		return;
	}
	r->index = src.ssa;
	r->count = MAX2(count, 1);
}

static bool is_binding_sysval(const nir_shader *nir, nir_intrinsic_instr *intr,
			      struct sysval_read *r)
{
	switch (intr->intrinsic) {
	case nir_intrinsic_get_ssbo_size:
		r->offset = 8;
		FALLTHROUGH;
	case nir_intrinsic_load_ssbo_address:
		r->sysval.kind = TG_SYSVAL_SSBO;
		read_binding(r, intr->src[0], nir->info.num_ssbos);
		return true;
	case nir_intrinsic_image_size:
		r->sysval = (struct tg_sysval){
			TG_SYSVAL_IMAGE_SIZE, 0,
			(uint8_t)(nir_intrinsic_dest_components(intr) -
				  nir_intrinsic_image_array(intr)),
			nir_intrinsic_image_array(intr)
		};
		read_binding(r, intr->src[0], nir->info.num_images);
		return true;
	default:
		return false;
	}
}

static bool is_sysval(nir_intrinsic_instr *intr, struct sysval_read *r)
{
	struct tg_sysval *sysval = &r->sysval;

	*sysval = (struct tg_sysval){ .kind = TG_SYSVAL_VERTEX };
	switch (intr->intrinsic) {
	case nir_intrinsic_load_raw_vertex_offset_pan:
		return true;
	case nir_intrinsic_load_first_vertex:
	case nir_intrinsic_load_base_vertex:
		r->offset = 4;
		return true;
	case nir_intrinsic_load_base_instance:
		r->offset = 8;
		return true;
	case nir_intrinsic_load_draw_id:
		r->offset = 12;
		return true;
	case nir_intrinsic_load_workgroup_size:
		*sysval = (struct tg_sysval){ TG_SYSVAL_GROUP_SIZE };
		return true;
	case nir_intrinsic_load_xfb_address:
		*sysval = (struct tg_sysval){ TG_SYSVAL_STREAM, (uint8_t)nir_intrinsic_base(intr) };
		return true;
	case nir_intrinsic_load_patch_vertices_in:
		*sysval = (struct tg_sysval){ TG_SYSVAL_PATCH };
		return true;
	case nir_intrinsic_load_num_vertices:
		*sysval = (struct tg_sysval){ TG_SYSVAL_STREAM, 0 };
		r->offset = 8;
		return true;
	case nir_intrinsic_load_rt_conversion_pan:
		*sysval = (struct tg_sysval){ TG_SYSVAL_RT_CONVERSION,
					      (uint8_t)nir_intrinsic_base(intr),
					      .type = (uint8_t)nir_intrinsic_src_type(intr) };
		return true;
	default:
		return false;
	}
}

/* Which texture of an array it is, if it is one of an array. */
static void read_element(const nir_shader *nir, nir_tex_instr *tex, struct sysval_read *r)
{
	const int at = nir_tex_instr_src_index(tex, nir_tex_src_texture_offset);

	if (at < 0)
		return;
	if (nir_src_is_const(tex->src[at].src)) {
		r->sysval.index += (uint8_t)nir_src_as_uint(tex->src[at].src);
		return;
	}
	/* the number within the array is not told apart from the number of its first texture */
	r->index = tex->src[at].src.ssa;
	r->count = MAX2(BITSET_LAST_BIT(nir->info.textures_used), tex->texture_index + 1) -
		   tex->texture_index;
}

static bool is_texture_sysval(const nir_shader *nir, nir_tex_instr *tex, struct sysval_read *r)
{
	if (tex->op != nir_texop_txs && tex->op != nir_texop_query_levels &&
	    tex->op != nir_texop_texture_samples)
		return false;
	r->sysval = (struct tg_sysval){
		TG_SYSVAL_TEXTURE_SIZE, (uint8_t)tex->texture_index,
		(uint8_t)(tex->sampler_dim == GLSL_SAMPLER_DIM_3D ? 3
			  : tex->sampler_dim == GLSL_SAMPLER_DIM_1D ||
					  tex->sampler_dim == GLSL_SAMPLER_DIM_BUF
				  ? 1
				  : 2),
		tex->is_array ? 1 + (tex->sampler_dim == GLSL_SAMPLER_DIM_CUBE) : 0
	};
	r->offset = tex->op == nir_texop_txs ? 0 : 12;
	read_element(nir, tex, r);
	return true;
}

/* Loads a system value from the uniform buffer that has them all. */
static nir_def *load_sysval(nir_builder *b, struct tg_variant *v, const struct sysval_read *r,
			    unsigned components, unsigned bits)
{
	const unsigned count = r->index ? r->count : 1;
	const unsigned bytes = components * bits / 8;
	unsigned at;
	nir_def *offset;

	if (!v->sysval_count)
		v->sysval_ubo = b->shader->info.num_ubos++;
	at = 16 * slots_of(v, r->sysval, count) + r->offset;
	offset = nir_imm_int(b, (int)at);
	if (r->index)
		offset = nir_iadd(b, offset, nir_imul_imm(b, nir_umin(b, r->index,
				  nir_imm_int(b, (int)count - 1)), 16));
	return nir_load_ubo(b, components, bits, nir_imm_int(b, (int)v->sysval_ubo), offset,
			    .align_mul = bits / 8, .align_offset = 0, .range_base = at,
			    .range = 16 * (count - 1) + bytes);
}

/*
 * textureQueryLod: the second component is the level as computed, and is right. The first is the
 * one that is sampled, for which the compiler takes a whole number within the sampler's range.
 */
static bool lower_lod(nir_builder *b, nir_tex_instr *tex, struct tg_variant *v)
{
	struct sysval_read r = { { TG_SYSVAL_LOD, (uint8_t)tex->sampler_index } };
	nir_def *range, *computed, *level, *nearest, *filter;

	read_element(b->shader, tex, &r);
	b->cursor = nir_after_instr(&tex->instr);
	range = load_sysval(b, v, &r, 4, 32);
	filter = nir_channel(b, range, 3);
	computed = nir_channel(b, &tex->def, 1);
	level = nir_fmax(b, nir_fmin(b, computed, nir_channel(b, range, 1)),
			 nir_channel(b, range, 0));
	nearest = nir_fadd_imm(b, nir_fceil(b, nir_fadd_imm(b, level, 0.5)), -1.0);
	level = nir_bcsel(b, nir_ieq_imm(b, filter, PIPE_TEX_MIPFILTER_NEAREST),
			  nir_fmax(b, nearest, nir_imm_float(b, 0.0f)), level);
	level = nir_bcsel(b, nir_ieq_imm(b, filter, PIPE_TEX_MIPFILTER_NONE),
			  nir_imm_float(b, 0.0f), level);
	level = nir_vec2(b, level, computed);
	nir_def_rewrite_uses_after(&tex->def, level, level->parent_instr);
	return true;
}

/* The numbers of groups are in memory: those of an indirect dispatch no one else knows. */
static bool lower_groups(nir_builder *b, nir_intrinsic_instr *intr, struct tg_variant *v)
{
	const struct sysval_read r = { { TG_SYSVAL_WORK_GROUPS } };
	nir_def *va;

	b->cursor = nir_before_instr(&intr->instr);
	va = nir_pack_64_2x32(b, load_sysval(b, v, &r, 2, 32));
	nir_def_replace(&intr->def, nir_load_global_constant(b, va, 4, 3, 32));
	return true;
}

static bool lower(nir_builder *b, nir_instr *instr, void *data)
{
	struct sysval_read r = { 0 };
	nir_def *old;

	if (instr->type == nir_instr_type_intrinsic) {
		nir_intrinsic_instr *intr = nir_instr_as_intrinsic(instr);

		if (intr->intrinsic == nir_intrinsic_image_samples) {
			b->cursor = nir_before_instr(instr);
			nir_def_replace(&intr->def, nir_imm_int(b, 1));	/* there are no others */
			return true;
		}
		if (intr->intrinsic == nir_intrinsic_load_num_workgroups)
			return lower_groups(b, intr, data);
		if (!is_binding_sysval(b->shader, intr, &r) && !is_sysval(intr, &r))
			return false;
		old = &intr->def;
	} else if (instr->type == nir_instr_type_tex) {
		nir_tex_instr *tex = nir_instr_as_tex(instr);

		if (tex->op == nir_texop_lod)
			return lower_lod(b, tex, data);
		if (!is_texture_sysval(b->shader, tex, &r))
			return false;
		old = &tex->def;
	} else {
		return false;
	}
	b->cursor = nir_after_instr(instr);
	nir_def_rewrite_uses(old, load_sysval(b, data, &r, old->num_components,
						      old->bit_size));
	return true;
}

void tg_nir_lower_sysvals(nir_shader *nir, struct tg_variant *v)
{
	bool progress = true;

	/* numbers of bindings are constants where they can be */
	while (progress) {
		progress = false;
		NIR_PASS(progress, nir, nir_copy_prop);
		NIR_PASS(progress, nir, nir_opt_constant_folding);
		NIR_PASS(progress, nir, nir_opt_dce);
	}
	nir_shader_instructions_pass(nir, lower, nir_metadata_control_flow, v);
}

/*
 * ---- Bounds -----------------------------------------------------------------------------------
 */

/* The sources of an access to a storage buffer: buffer, offset; and its bytes. Else false. */
static bool buffer_access(nir_intrinsic_instr *intr, nir_src **buffer, nir_src **offset,
			  unsigned *bytes)
{
	const bool store = intr->intrinsic == nir_intrinsic_store_ssbo;

	*buffer = &intr->src[store];
	*offset = &intr->src[store + 1];
	switch (intr->intrinsic) {
	case nir_intrinsic_store_ssbo:
		*bytes = nir_src_num_components(intr->src[0]) * nir_src_bit_size(intr->src[0]) / 8;
		return true;
	case nir_intrinsic_load_ssbo:
	case nir_intrinsic_ssbo_atomic:
	case nir_intrinsic_ssbo_atomic_swap:
		*bytes = intr->def.num_components * intr->def.bit_size / 8;
		return true;
	default:
		return false;
	}
}

/* The instruction is left out where @valid is false; what it returns is zeros then. */
static void only_if(nir_builder *b, nir_intrinsic_instr *intr, nir_def *valid)
{
	const bool returns = nir_intrinsic_infos[intr->intrinsic].has_dest;
	nir_def *zero = returns ? nir_imm_zero(b, intr->def.num_components, intr->def.bit_size)
				: NULL;
	nir_instr *inner;

	nir_push_if(b, valid);
	inner = nir_instr_clone(b->shader, &intr->instr);
	nir_builder_instr_insert(b, inner);
	nir_pop_if(b, NULL);
	if (returns)
		nir_def_rewrite_uses(&intr->def,
				     nir_if_phi(b, &nir_instr_as_intrinsic(inner)->def, zero));
	nir_instr_remove(&intr->instr);
}

static bool lower_robust(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	nir_src *buffer, *offset;
	nir_def *size, *end;
	unsigned bytes;

	if (!buffer_access(intr, &buffer, &offset, &bytes))
		return false;
	b->cursor = nir_before_instr(&intr->instr);
	size = nir_get_ssbo_size(b, buffer->ssa);
	end = nir_iadd_imm(b, size, -(int)bytes);
	only_if(b, intr, nir_iand(b, nir_uge_imm(b, size, bytes), nir_uge(b, end, offset->ssa)));
	return true;
}

static bool is_image_atomic(const nir_intrinsic_instr *intr, const void *data)
{
	return intr->intrinsic == nir_intrinsic_image_atomic ||
	       intr->intrinsic == nir_intrinsic_image_atomic_swap;
}

void tg_nir_robust(nir_shader *nir)
{
	nir_shader_intrinsics_pass(nir, lower_robust, nir_metadata_none, NULL);
	nir_lower_robust_access(nir, is_image_atomic, NULL);
}

/*
 * ---- Captured vertices ------------------------------------------------------------------------
 */

/* The vertex's number, its base added, from the list. */
static nir_def *listed_vertex(nir_builder *b)
{
	nir_def *at = nir_u2u64(b, nir_imul_imm(b, nir_load_raw_vertex_id_pan(b), 4));

	BITSET_SET(b->shader->info.system_values_read, SYSTEM_VALUE_VERTEX_ID_ZERO_BASE);
	return nir_load_global(
		b, nir_iadd(b, nir_load_xfb_address(b, 64, .base = TG_STREAM_LIST), at), 4, 1, 32);
}

/* The instance's number in the program's draw. */
static nir_def *numbered_instance(nir_builder *b)
{
	nir_def *first = nir_u2u32(b, nir_load_xfb_address(b, 64, .base = TG_STREAM_INSTANCE));

	BITSET_SET(b->shader->info.system_values_read, SYSTEM_VALUE_INSTANCE_ID);
	return nir_iadd(b, nir_load_instance_id(b), first);
}

static bool lower_vertex(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	nir_def *value;

	b->cursor = nir_before_instr(&intr->instr);
	if (intr->intrinsic == nir_intrinsic_load_vertex_id) {
		value = listed_vertex(b);
	} else if (intr->intrinsic == nir_intrinsic_load_instance_id) {
		value = numbered_instance(b);
	} else if (intr->intrinsic == nir_intrinsic_load_input) {
		value = nir_load_attribute_pan(b, intr->def.num_components, intr->def.bit_size,
					       listed_vertex(b), numbered_instance(b),
					       intr->src[0].ssa, .base = nir_intrinsic_base(intr),
					       .component = nir_intrinsic_component(intr),
					       .dest_type = nir_intrinsic_dest_type(intr),
					       .io_semantics = nir_intrinsic_io_semantics(intr));
	} else {
		return false;
	}
	nir_def_replace(&intr->def, value);
	return true;
}

void tg_nir_lower_vertices(nir_shader *nir)
{
	nir_shader_intrinsics_pass(nir, lower_vertex, nir_metadata_control_flow, NULL);
}

void tg_nir_stipple(nir_shader *nir, struct tg_variant *v)
{
	nir_builder b = nir_builder_at(nir_before_impl(nir_shader_get_entrypoint(nir)));
	nir_def *pixel = nir_iand_imm(&b, nir_u2u32(&b, nir_load_pixel_coord(&b)), 31);
	nir_def *x = nir_channel(&b, pixel, 0), *y = nir_channel(&b, pixel, 1);
	nir_def *row;

	slots_of(v, (struct tg_sysval){ TG_SYSVAL_STIPPLE }, 8);
	v->sysval_ubo = nir->info.num_ubos++;
	row = nir_load_ubo(&b, 1, 32, nir_imm_int(&b, (int)v->sysval_ubo), nir_imul_imm(&b, y, 4),
			   .align_mul = 4, .range_base = 0, .range = 128);
	/* the first pixel is the highest bit */
	nir_discard_if(&b, nir_ieq_imm(&b, nir_iand_imm(&b, nir_ushr(&b, row,
				nir_isub_imm(&b, 31, x)), 1), 0));
	nir->info.fs.uses_discard = true;
}

void tg_nir_capture_positions(nir_shader *nir)
{
	const unsigned count = nir->info.outputs_written & VARYING_BIT_EDGE ? 2 : 1;
	nir_xfb_info *info = rzalloc_size(nir, nir_xfb_info_size(count));

	info->buffers_written = info->streams_written = 1;
	info->buffers[0].stride = TG_POSITION_BYTES;
	info->output_count = (uint16_t)count;
	info->outputs[0] = (nir_xfb_output_info){ .location = VARYING_SLOT_POS,
						  .component_mask = 15 };
	if (count > 1)
		info->outputs[1] = (nir_xfb_output_info){ .location = VARYING_SLOT_EDGE,
							  .component_mask = 1,
							  .offset = 16 };
	nir->xfb_info = info;
}

static bool lower_back_facing(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	if (intr->intrinsic != nir_intrinsic_load_front_face)
		return false;
	b->cursor = nir_before_instr(&intr->instr);
	nir_def_replace(&intr->def, nir_imm_false(b));
	return true;
}

void tg_nir_lower_back_facing(nir_shader *nir)
{
	nir_lower_system_values(nir);
	nir_shader_intrinsics_pass(nir, lower_back_facing, nir_metadata_control_flow, NULL);
}

static bool lower_one_sample(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	if (intr->intrinsic != nir_intrinsic_load_sample_mask_in &&
	    intr->intrinsic != nir_intrinsic_load_sample_id)
		return false;
	b->cursor = nir_before_instr(&intr->instr);
	nir_def_replace(&intr->def,
			nir_imm_int(b, intr->intrinsic == nir_intrinsic_load_sample_mask_in));
	return true;
}

void tg_nir_lower_one_sample(nir_shader *nir)
{
	nir_lower_system_values(nir);
	nir_shader_intrinsics_pass(nir, lower_one_sample, nir_metadata_control_flow, NULL);
	/* what targets have of each sample is read, and joined with the color, for each */
	nir->info.fs.uses_sample_shading = nir->info.outputs_read;
}
