/* SPDX-License-Identifier: MIT */
#include "compiler/nir/nir_builder.h"
#include "panfrost/util/pan_ir.h"

#include "tc_nir.h"

static int count_slots(const struct glsl_type *type, bool bindless)
{
	return (int)glsl_count_vec4_slots(type, false, bindless);
}

void tc_nir_lower_io(nir_shader *nir)
{
	NIR_PASS(_, nir, nir_lower_vars_to_ssa);
	NIR_PASS(_, nir, nir_split_var_copies);
	NIR_PASS(_, nir, nir_lower_var_copies);
	NIR_PASS(_, nir, nir_lower_vars_to_ssa);
	NIR_PASS(_, nir, nir_lower_io, nir_var_shader_in | nir_var_shader_out, count_slots,
		 nir_lower_io_use_interpolated_input_intrinsics | nir_lower_io_lower_64bit_to_32);
	if (nir->info.outputs_written & VARYING_BIT_PSIZ)
		NIR_PASS(_, nir, nir_lower_point_size, 0, TC_POINT_SIZE_MAX);
}

/* ---- Outputs and inputs ---------------------------------------------------------------------- */

/* Outputs in the record of a vertex. They are not attributes. */
#define RECORD (VARYING_BIT_POS | VARYING_BIT_PSIZ | VARYING_BIT_LAYER | VARYING_BIT_VIEWPORT |	\
		VARYING_BIT_CLIP_DIST0 | VARYING_BIT_CLIP_DIST1)

static bool mark_output(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	uint64_t *stored = data;
	struct nir_io_semantics io;
	unsigned i;

	if (intr->intrinsic != nir_intrinsic_store_output)
		return false;
	io = nir_intrinsic_io_semantics(intr);
	/* slot 0 is the position, which is in the record */
	for (i = io.location; i < io.location + io.num_slots && i < 64; i++)
		*stored |= BITFIELD64_BIT(i) | BITFIELD64_BIT(tc_fragment_slot(i));
	return false;
}

/*
 * Attributes are in a table of the compiler's, which has room for few others. Outputs of one number
 * are parts of one vector to it, so those of the record have some that are beyond the table.
 */
static void number_output(nir_intrinsic_instr *intr, uint64_t stored, struct nir_io_semantics io)
{
	io.no_varying = !!(RECORD & BITFIELD64_BIT(io.location));
	nir_intrinsic_set_io_semantics(intr, io);
	nir_intrinsic_set_base(intr, io.no_varying
		? PAN_MAX_VARYINGS + (int)io.location
		: (int)util_bitcount64(stored & ~RECORD & BITFIELD64_MASK(io.location)));
}

static bool place_output(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	const uint64_t stored = *(const uint64_t *)data;
	struct nir_io_semantics io;
	nir_intrinsic_instr *copy;
	unsigned slot;

	if (intr->intrinsic != nir_intrinsic_store_output)
		return false;
	io = nir_intrinsic_io_semantics(intr);
	slot = tc_fragment_slot(io.location);
	number_output(intr, stored, io);
	if (!slot)
		return true;
	copy = nir_instr_as_intrinsic(nir_instr_clone(b->shader, &intr->instr));
	io.location = slot;
	number_output(copy, stored, io);
	b->cursor = nir_before_instr(&intr->instr);
	nir_builder_instr_insert(b, &copy->instr);
	return true;
}

void tc_nir_place_outputs(nir_shader *nir)
{
	uint64_t stored = 0;

	nir_shader_intrinsics_pass(nir, mark_output, nir_metadata_all, &stored);
	nir_shader_intrinsics_pass(nir, place_output, nir_metadata_control_flow, &stored);
}

void tc_nir_place_inputs(nir_shader *nir)
{
	nir_foreach_shader_in_variable(var, nir) {
		const unsigned slot = tc_fragment_slot((unsigned)var->data.location);

		if (slot)
			var->data.location = (int)slot;
	}
}

/*
 * The device's mode "sample" is for shaders that run for each sample. Positions are in the table
 * that the device knows: 8 bits of fraction, from the pixel's corner.
 */
static bool lower_at_sample(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	nir_def *sample, *place, *offset;

	if (intr->intrinsic != nir_intrinsic_interp_deref_at_sample)
		return false;
	b->cursor = nir_before_instr(&intr->instr);
	sample = nir_umin(b, intr->src[1].ssa, nir_imm_int(b, 15));
	place = nir_iadd(b, nir_load_sample_positions_pan(b),
			 nir_u2u64(b, nir_imul_imm(b, sample, 4)));
	offset = nir_fadd_imm(b, nir_fmul_imm(b, nir_i2f32(b, nir_load_global(b, place, 2, 2, 16)),
					      1.0 / 256), -0.5);
	nir_def_replace(&intr->def,
			nir_interp_deref_at_offset(b, intr->def.num_components,
						   intr->def.bit_size, intr->src[0].ssa, offset));
	return true;
}

void tc_nir_lower_at_sample(nir_shader *nir)
{
	nir_shader_intrinsics_pass(nir, lower_at_sample, nir_metadata_control_flow, NULL);
}

uint64_t tc_nir_noperspective(nir_shader *nir)
{
	uint64_t mask = 0;

	nir_foreach_shader_in_variable(var, nir) {
		if (var->data.interpolation != INTERP_MODE_NOPERSPECTIVE)
			continue;
		mask |= BITFIELD64_RANGE(var->data.location,
					 glsl_count_attribute_slots(var->type, false));
		var->data.interpolation = INTERP_MODE_SMOOTH;
	}
	return mask;
}

/* ---- Loops ----------------------------------------------------------------------------------- */

/* Words of inputs that are loaded before loops: more could cost more in spills than it saves. */
#define HOISTED_WORDS 32

struct hoist {
	unsigned words;
};

static nir_loop *outermost_loop(nir_instr *instr)
{
	nir_loop *loop = NULL;

	for (nir_cf_node *node = &instr->block->cf_node; node; node = node->parent)
		if (node->type == nir_cf_node_loop)
			loop = nir_cf_node_as_loop(node);
	return loop;
}

/* The barycentrics that @intr takes, if any; false: they are computed from something else. */
static bool find_barycentric(nir_intrinsic_instr *intr, nir_instr **barycentric)
{
	nir_instr *from;

	*barycentric = NULL;
	if (intr->intrinsic != nir_intrinsic_load_interpolated_input)
		return true;
	from = intr->src[0].ssa->parent_instr;
	*barycentric = from;
	return from->type == nir_instr_type_intrinsic &&
	       !nir_intrinsic_infos[nir_instr_as_intrinsic(from)->intrinsic].num_srcs;
}

static bool hoist_input(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	const unsigned words = intr->def.num_components * DIV_ROUND_UP(intr->def.bit_size, 32);
	struct hoist *hoist = data;
	nir_instr *barycentric;
	nir_loop *loop;
	nir_src *offset;

	if (intr->intrinsic != nir_intrinsic_load_input &&
	    intr->intrinsic != nir_intrinsic_load_interpolated_input)
		return false;
	loop = outermost_loop(&intr->instr);
	offset = nir_get_io_offset_src(intr);
	if (!loop || !nir_src_is_const(*offset) || hoist->words + words > HOISTED_WORDS ||
	    !find_barycentric(intr, &barycentric))
		return false;
	hoist->words += words;
	b->cursor = nir_before_cf_node(&loop->cf_node);
	nir_src_rewrite(offset, nir_imm_int(b, (int)nir_src_as_int(*offset)));
	if (barycentric && outermost_loop(barycentric))
		nir_instr_move(nir_before_cf_node(&loop->cf_node), barycentric);
	nir_instr_move(nir_before_cf_node(&loop->cf_node), &intr->instr);
	return true;
}

void tc_nir_hoist_inputs(nir_shader *nir)
{
	struct hoist hoist = { 0 };

	nir_shader_intrinsics_pass(nir, hoist_input, nir_metadata_control_flow, &hoist);
}

/* ---- Primitives ------------------------------------------------------------------------------ */

struct primitive_id {
	const nir_variable *variable;
	int list;
};

static bool lower_primitive_id(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	const struct primitive_id *id = data;
	nir_def *number, *at;

	if (intr->intrinsic != nir_intrinsic_load_deref ||
	    nir_intrinsic_get_var(intr, 0) != id->variable)
		return false;
	b->cursor = nir_before_instr(&intr->instr);
	/* R57, which the compiler knows as the number of a work group */
	number = nir_channel(b, nir_load_workgroup_id(b), 0);
	if (id->list >= 0) {
		at = nir_u2u64(b, nir_imul_imm(b, number, 4));
		at = nir_iadd(b, nir_load_xfb_address(b, 64, .base = id->list), at);
		number = nir_load_global(b, at, 4, 1, 32);
	}
	nir_def_replace(&intr->def, number);
	return true;
}

void tc_nir_lower_primitive_id(nir_shader *nir, int list)
{
	nir_variable *var = nir_find_variable_with_location(nir, nir_var_shader_in,
							    VARYING_SLOT_PRIMITIVE_ID);
	struct primitive_id id = { var, list };

	if (!var)
		return;
	nir_shader_intrinsics_pass(nir, lower_primitive_id, nir_metadata_control_flow, &id);
	var->data.mode = nir_var_shader_temp;
	nir_fixup_deref_modes(nir);
	nir->info.inputs_read &= ~VARYING_BIT_PRIMITIVE_ID;
}
