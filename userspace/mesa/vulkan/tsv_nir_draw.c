// SPDX-License-Identifier: MIT
/*
 * Numbers of draws, layers, and inputs of vertex shaders.
 *
 * The device counts vertices and instances from 0 and finds elements of a linear buffer by number.
 * The shader passes the number of the vertex, or that of the instance. Descriptors therefore depend
 * neither on the number of vertices nor on the first instance, which only the device knows in
 * indirect draws.
 */
#include "compiler/nir/nir_builder.h"

#include "tsv_shader.h"

struct context {
	uint32_t instanced;		/* mask of attributes */
	struct tsv_shader_info *shader;
	nir_def *word[2];		/* draw_word(), once it has been made */
};

/*
 * Word @index of the two that begin with first_vertex. In an indirect draw they are among the
 * arguments in memory.
 */
static nir_def *draw_word(nir_builder *b, struct context *c, unsigned index)
{
	const nir_cursor cursor = b->cursor;
	nir_def *va, *direct, *loaded;

	if (c->word[index])
		return c->word[index];
	c->shader->reads_draw = true;
	b->cursor = nir_before_impl(b->impl);
	direct = tsv_nir_param(b, offsetof(struct tsv_params, first_vertex) + 4 * index);
	va = nir_vec2(b, tsv_nir_param(b, offsetof(struct tsv_params, draw)),
		      tsv_nir_param(b, offsetof(struct tsv_params, draw) + 4));
	nir_push_if(b, nir_ine_imm(b, nir_ior(b, nir_channel(b, va, 0), nir_channel(b, va, 1)), 0));
	loaded = nir_load_global_constant(b, nir_iadd_imm(b, nir_pack_64_2x32(b, va), 4 * index), 4,
					  1, 32);
	nir_pop_if(b, NULL);
	c->word[index] = nir_if_phi(b, loaded, direct);
	b->cursor = cursor;
	return c->word[index];
}

static nir_def *raw_vertex(nir_builder *b)
{
	BITSET_SET(b->shader->info.system_values_read, SYSTEM_VALUE_VERTEX_ID_ZERO_BASE);
	return nir_load_raw_vertex_id_pan(b);
}

static nir_def *raw_instance(nir_builder *b)
{
	BITSET_SET(b->shader->info.system_values_read, SYSTEM_VALUE_INSTANCE_ID);
	return nir_load_instance_id(b);
}

/* Attributes of vertices get the first vertex from the device, those of instances do not. */
static nir_def *load_attribute(nir_builder *b, nir_intrinsic_instr *intr, struct context *c)
{
	const unsigned location = nir_intrinsic_base(intr) + nir_src_as_uint(intr->src[0]);
	nir_def *number = c->instanced & BITFIELD_BIT(location)
				  ? nir_iadd(b, raw_instance(b), draw_word(b, c, 1))
				  : raw_vertex(b);

	return nir_load_attribute_pan(b, intr->def.num_components, intr->def.bit_size, number,
				      nir_imm_int(b, 0), intr->src[0].ssa,
				      .base = nir_intrinsic_base(intr),
				      .component = nir_intrinsic_component(intr),
				      .dest_type = nir_intrinsic_dest_type(intr),
				      .io_semantics = nir_intrinsic_io_semantics(intr));
}

static bool lower(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	struct context *c = data;
	nir_def *value;

	b->cursor = nir_before_instr(&intr->instr);
	switch (intr->intrinsic) {
	case nir_intrinsic_load_vertex_id:
		value = nir_iadd(b, raw_vertex(b), draw_word(b, c, 0));
		break;
	case nir_intrinsic_load_vertex_id_zero_base:
		value = raw_vertex(b);
		break;
	case nir_intrinsic_load_first_vertex:
	case nir_intrinsic_load_base_vertex:
		value = draw_word(b, c, 0);
		break;
	case nir_intrinsic_load_base_instance:
		value = draw_word(b, c, 1);
		break;
	case nir_intrinsic_load_draw_id:
		c->shader->reads_draw = true;
		value = tsv_nir_param(b, offsetof(struct tsv_params, draw_id));
		break;
	case nir_intrinsic_load_view_index:
		c->shader->reads_draw = true;
		value = tsv_nir_param(b, offsetof(struct tsv_params, view));
		break;
	case nir_intrinsic_load_input:
		if (b->shader->info.stage != MESA_SHADER_VERTEX)
			return false;
		value = load_attribute(b, intr, c);
		break;
	default:
		return false;
	}
	nir_def_replace(&intr->def, value);
	return true;
}

void tsv_nir_draw(nir_shader *nir, uint32_t instanced, struct tsv_shader_info *shader)
{
	struct context c = { .instanced = instanced, .shader = shader };

	NIR_PASS(_, nir, nir_opt_constant_folding);
	NIR_PASS(_, nir, nir_shader_intrinsics_pass, lower, nir_metadata_none, &c);
}

/* ---- Views ----------------------------------------------------------------------------------- */

void tsv_nir_store_layer(nir_shader *nir)
{
	nir_function_impl *impl = nir_shader_get_entrypoint(nir);
	nir_builder b = nir_builder_at(nir_after_impl(impl));
	nir_variable *layer = nir_variable_create(nir, nir_var_shader_out, glsl_int_type(),
						  "gl_Layer");

	layer->data.location = VARYING_SLOT_LAYER;
	layer->data.interpolation = INTERP_MODE_FLAT;
	nir_store_var(&b, layer, nir_load_view_index(&b), 1);
	nir->info.outputs_written |= VARYING_BIT_LAYER;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

static bool lower_layer(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	nir_variable *layer;

	if (intr->intrinsic != nir_intrinsic_load_layer_id)
		return false;
	b->cursor = nir_before_instr(&intr->instr);
	layer = nir_get_variable_with_location(b->shader, nir_var_shader_in, VARYING_SLOT_LAYER,
					       glsl_int_type());
	layer->data.interpolation = INTERP_MODE_FLAT;
	b->shader->info.inputs_read |= VARYING_BIT_LAYER;
	nir_def_replace(&intr->def, nir_load_var(b, layer));
	return true;
}

void tsv_nir_load_layer(nir_shader *nir)
{
	NIR_PASS(_, nir, nir_shader_intrinsics_pass, lower_layer, nir_metadata_control_flow, NULL);
}
