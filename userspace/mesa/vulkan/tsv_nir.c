// SPDX-License-Identifier: MIT
/*
 * Addresses. A pointer to a buffer is a 64-bit address with a size and an offset
 * (nir_address_format_64bit_bounded_global), and the descriptor in memory has the same form. A
 * read beyond the size returns 0, a write does nothing.
 *
 * A resource index, before the descriptor is loaded, is a vector of four words: the descriptor's
 * address in the first two, and in the third the byte of struct tsv_params that has its dynamic
 * offset.
 */
#include "compiler/nir/nir_builder.h"

#include "tsr_regs.h"
#include "tsv_shader.h"

#define VOID	((uint64_t)TSR_WINDOW_VOID)	/* the device's addresses without memory */

struct context {
	const struct vk_shader_compile_info *info;
	const struct tsv_shader_info *shader;
};

/* ---- Parameters ------------------------------------------------------------------------------ */

static nir_def *load_param64(nir_builder *b, unsigned offset)
{
	return nir_pack_64_2x32(b, nir_load_push_constant(b, 2, 32, nir_imm_int(b, (int)offset),
							  .align_mul = 8));
}

#define LOAD_PARAM64(b, member)	load_param64(b, offsetof(struct tsv_params, member))

nir_def *tsv_nir_param(nir_builder *b, unsigned offset)
{
	return nir_load_push_constant(b, 1, 32, nir_imm_int(b, (int)offset), .align_mul = 4);
}

nir_def *tsv_nir_set_va(nir_builder *b, unsigned set, uint32_t offset)
{
	return nir_iadd_imm(b, load_param64(b, offsetof(struct tsv_params, sets) + 8 * set),
			    offset);
}

/* Words of struct tsv_params, from an offset that may be a variable. */
static nir_def *load_params(nir_builder *b, unsigned components, unsigned bits, nir_def *offset)
{
	nir_def *at = nir_iadd(b, LOAD_PARAM64(b, self), nir_u2u64(b, offset));

	return nir_load_global_constant(b, at, MIN2(bits / 8, 4), components, bits);
}

/* The program's push constants are a part of the parameters. */
static bool lower_push(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	nir_def *offset;

	if (intr->intrinsic != nir_intrinsic_load_push_constant)
		return false;
	b->cursor = nir_before_instr(&intr->instr);
	offset = nir_iadd_imm(b, intr->src[0].ssa,
			      nir_intrinsic_base(intr) + offsetof(struct tsv_params, push));
	if (!nir_src_is_const(intr->src[0])) {
		nir_def_replace(&intr->def, load_params(b, intr->def.num_components,
							intr->def.bit_size, offset));
		return true;
	}
	nir_src_rewrite(&intr->src[0],
			nir_imm_int(b, (int)(nir_src_as_uint(intr->src[0]) +
					     nir_intrinsic_base(intr) +
					     offsetof(struct tsv_params, push))));
	nir_intrinsic_set_base(intr, 0);
	nir_intrinsic_set_range(intr, 0);
	return true;
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static const struct tsv_binding *binding_of(const struct context *c, nir_intrinsic_instr *index)
{
	const struct tsv_set_layout *layout = container_of(
		c->info->set_layouts[nir_intrinsic_desc_set(index)], struct tsv_set_layout, vk);

	return &layout->bindings[nir_intrinsic_binding(index)];
}

/*
 * SPIR-V does not tell which buffers have a dynamic offset. The layout does, so loads of a
 * descriptor get the type that it has there. Pointers that are selected at run time are not offered
 * (variablePointers), so every load leads back to one resource index.
 */
static bool set_type(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	nir_intrinsic_instr *index = intr;

	if (intr->intrinsic != nir_intrinsic_load_vulkan_descriptor)
		return false;
	while (index && index->intrinsic != nir_intrinsic_vulkan_resource_index)
		index = nir_src_as_intrinsic(index->src[0]);
	if (index)
		nir_intrinsic_set_desc_type(intr, binding_of(data, index)->type);
	return index;
}

static nir_def *make_index(nir_builder *b, nir_def *va, nir_def *dynamic)
{
	nir_def *words = nir_unpack_64_2x32(b, va);

	return nir_vec4(b, nir_channel(b, words, 0), nir_channel(b, words, 1), dynamic,
			nir_imm_int(b, 0));
}

static nir_def *resource_index(nir_builder *b, nir_intrinsic_instr *intr, const struct context *c)
{
	const unsigned set = nir_intrinsic_desc_set(intr);
	const struct tsv_binding *binding = binding_of(c, intr);
	const unsigned dynamic = c->shader->dynamic[set] + binding->dynamic;
	nir_def *element = intr->src[0].ssa, *va;

	va = tsv_nir_set_va(b, set, binding->offset);
	va = nir_iadd(b, va, nir_u2u64(b, nir_imul_imm(b, element, sizeof(struct tsv_descriptor))));
	return make_index(b, va, nir_iadd_imm(b, nir_imul_imm(b, element, 4),
					      offsetof(struct tsv_params, dynamic) + 4 * dynamic));
}

static nir_def *index_va(nir_builder *b, nir_def *index)
{
	return nir_pack_64_2x32(b, nir_trim_vector(b, index, 2));
}

static nir_def *resource_reindex(nir_builder *b, nir_intrinsic_instr *intr)
{
	nir_def *index = intr->src[0].ssa, *more = intr->src[1].ssa, *va;

	va = nir_iadd(b, index_va(b, index),
		      nir_u2u64(b, nir_imul_imm(b, more, sizeof(struct tsv_descriptor))));
	return make_index(b, va, nir_iadd(b, nir_channel(b, index, 2), nir_imul_imm(b, more, 4)));
}

/* Address, size and offset 0: what the descriptor holds. */
static nir_def *load_descriptor(nir_builder *b, nir_intrinsic_instr *intr)
{
	nir_def *index = intr->src[0].ssa, *words, *va, *offset;

	words = nir_load_global_constant(b, index_va(b, index), 16, 4, 32);
	if (!tsv_is_dynamic((VkDescriptorType)nir_intrinsic_desc_type(intr)))
		return words;
	offset = load_params(b, 1, 32, nir_channel(b, index, 2));
	va = nir_iadd(b, index_va(b, words), nir_u2u64(b, offset));
	va = nir_unpack_64_2x32(b, va);
	return nir_vec4(b, nir_channel(b, va, 0), nir_channel(b, va, 1), nir_channel(b, words, 2),
			nir_imm_int(b, 0));
}

/* A read beyond the buffer is one of the void window, which is 0. */
static nir_def *load_bounded(nir_builder *b, nir_intrinsic_instr *intr)
{
	const unsigned bytes = intr->def.num_components * intr->def.bit_size / 8;
	nir_def *base = intr->src[0].ssa, *offset = intr->src[1].ssa, *size = intr->src[2].ssa;
	nir_def *end = nir_iadd_imm(b, size, -(int)bytes);
	nir_def *inside = nir_iand(b, nir_uge_imm(b, size, bytes), nir_uge(b, end, offset));
	nir_def *va = nir_bcsel(b, inside, nir_iadd(b, base, nir_u2u64(b, offset)),
				nir_imm_int64(b, (int64_t)VOID));

	return nir_load_global_constant(b, va, nir_intrinsic_align(intr), intr->def.num_components,
					intr->def.bit_size);
}

static bool lower(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	nir_def *value;

	b->cursor = nir_before_instr(&intr->instr);
	switch (intr->intrinsic) {
	case nir_intrinsic_vulkan_resource_index:
		value = resource_index(b, intr, data);
		break;
	case nir_intrinsic_vulkan_resource_reindex:
		value = resource_reindex(b, intr);
		break;
	case nir_intrinsic_load_vulkan_descriptor:
		value = load_descriptor(b, intr);
		break;
	case nir_intrinsic_load_global_constant_bounded:
		value = load_bounded(b, intr);
		break;
	case nir_intrinsic_load_base_workgroup_id:
		value = nir_load_push_constant(b, 3, 32, nir_imm_int(b, offsetof(struct tsv_params,
										 base)),
					       .align_mul = 4);
		break;
	case nir_intrinsic_load_base_global_invocation_id:
		value = nir_imm_zero(b, 3, intr->def.bit_size);
		break;
	case nir_intrinsic_load_num_workgroups:
		value = nir_load_global_constant(b, LOAD_PARAM64(b, groups), 4, 3, 32);
		break;
	default:
		return false;
	}
	nir_def_replace(&intr->def, value);
	return true;
}

/* ---- Shared memory --------------------------------------------------------------------------- */

static void shared_size_align(const struct glsl_type *type, unsigned *size, unsigned *align)
{
	const unsigned bytes = glsl_type_is_boolean(type) ? 4 : glsl_get_bit_size(type) / 8;
	const unsigned length = glsl_get_vector_elements(type);

	*size = bytes * length;
	*align = bytes * (length == 3 ? 4 : length);
}

static void lower_shared(nir_shader *nir)
{
	if (!nir->info.shared_memory_explicit_layout)
		NIR_PASS(_, nir, nir_lower_vars_to_explicit_types, nir_var_mem_shared,
			 shared_size_align);
	NIR_PASS(_, nir, nir_lower_explicit_io, nir_var_mem_shared,
		 nir_address_format_32bit_offset);
}

void tsv_nir_lower(nir_shader *nir, const struct vk_shader_compile_info *info,
		   const struct tsv_shader_info *shader)
{
	struct context context = { .info = info, .shader = shader };

	NIR_PASS(_, nir, nir_lower_explicit_io, nir_var_mem_push_const,
		 nir_address_format_32bit_offset);
	NIR_PASS(_, nir, nir_opt_constant_folding);
	NIR_PASS(_, nir, nir_shader_intrinsics_pass, lower_push, nir_metadata_control_flow, NULL);
	NIR_PASS(_, nir, nir_lower_explicit_io, nir_var_mem_ubo | nir_var_mem_ssbo,
		 nir_address_format_64bit_bounded_global);
	NIR_PASS(_, nir, nir_lower_explicit_io, nir_var_mem_global,
		 nir_address_format_64bit_global);
	lower_shared(nir);
	NIR_PASS(_, nir, nir_shader_intrinsics_pass, set_type, nir_metadata_all, &context);
	NIR_PASS(_, nir, nir_shader_intrinsics_pass, lower, nir_metadata_control_flow, &context);
}
