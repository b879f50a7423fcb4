// SPDX-License-Identifier: MIT
/*
 * Subgroups. The compiler is for a GPU with warps of 8 threads, so 8 is the size of a subgroup. A
 * warp of this device has 16 threads, which are two subgroups. The device numbers threads in their
 * warp.
 */
#include "compiler/nir/nir_builder.h"

#include "panfrost/lib/pan_props.h"
#include "panfrost/util/pan_ir.h"
#include "tc_nir.h"
#include "tsv_shader.h"

unsigned tsv_subgroup_size(void)
{
	return pan_subgroup_size(pan_arch(TC_GPU_ID));
}

/* Threads of a group are numbered with x first, and fill subgroups in this order. */
static nir_def *subgroup_id(nir_builder *b)
{
	const uint16_t *size = b->shader->info.workgroup_size;
	nir_def *id = nir_load_local_invocation_id(b), *index;

	index = nir_iadd(b, nir_channel(b, id, 1), nir_imul_imm(b, nir_channel(b, id, 2), size[1]));
	index = nir_iadd(b, nir_channel(b, id, 0), nir_imul_imm(b, index, size[0]));
	return nir_udiv_imm(b, index, tsv_subgroup_size());
}

static bool lower_number(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	nir_def *number;

	b->cursor = nir_after_instr(&intr->instr);
	switch (intr->intrinsic) {
	case nir_intrinsic_load_subgroup_invocation:
		number = nir_iand_imm(b, &intr->def, tsv_subgroup_size() - 1);
		nir_def_rewrite_uses_after(&intr->def, number, number->parent_instr);
		return true;
	case nir_intrinsic_load_subgroup_id:
		nir_def_replace(&intr->def, subgroup_id(b));
		return true;
	default:
		return false;
	}
}

/* Elections compare numbers of threads, so they are lowered first. */
void tsv_nir_subgroups(nir_shader *nir)
{
	const nir_lower_subgroups_options options = {
		.subgroup_size = (uint8_t)tsv_subgroup_size(),
		.ballot_bit_size = 32,
		.ballot_components = 1,
		.lower_elect = true,
	};

	NIR_PASS(_, nir, nir_lower_subgroups, &options);
	NIR_PASS(_, nir, nir_shader_intrinsics_pass, lower_number, nir_metadata_control_flow,
		 NULL);
}
