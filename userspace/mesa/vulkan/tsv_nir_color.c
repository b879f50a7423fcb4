// SPDX-License-Identifier: MIT
/*
 * Colors of fragment shaders. Outputs may be components of a color. The compiler stores a whole
 * color at once, so they become one vector.
 */
#include "compiler/nir/nir.h"

#include "tsv_shader.h"

#define SLOTS	(FRAG_RESULT_DATA7 + 2)	/* the second color of blending is one above its first */

/* The outputs of a slot. */
struct slot {
	unsigned components;		/* mask */
	nir_variable *output;		/* one of them */
};

static void find_outputs(nir_shader *nir, struct slot slots[SLOTS])
{
	nir_foreach_shader_out_variable(var, nir) {
		const struct glsl_type *type = glsl_without_array(var->type);
		const unsigned first = (unsigned)var->data.location + var->data.index,
			       count = glsl_count_attribute_slots(var->type, false);
		unsigned i;

		if (var->data.location < FRAG_RESULT_DATA0 || !glsl_type_is_vector_or_scalar(type))
			continue;
		for (i = first; i < first + count && i < SLOTS; i++) {
			slots[i].components |= BITFIELD_RANGE(var->data.location_frac,
							      glsl_get_vector_elements(type));
			slots[i].output = var;
		}
	}
}

/* nir_lower_io_to_vector() needs outputs without a gap that begin with the first component. */
static void fill_gap(nir_shader *nir, const struct slot *slot, unsigned at, unsigned component)
{
	nir_variable *var = nir_variable_clone(slot->output, nir);

	var->type = glsl_vector_type(glsl_get_base_type(glsl_without_array(var->type)), 1);
	var->data.location = (int)(at - var->data.index);
	var->data.location_frac = component;
	nir_shader_add_variable(nir, var);
}

void tsv_nir_merge_colors(nir_shader *nir)
{
	struct slot slots[SLOTS] = { 0 };
	unsigned i, c;

	find_outputs(nir, slots);
	for (i = 0; i < SLOTS; i++) {
		for (c = 0; c < util_last_bit(slots[i].components); c++) {
			if (!(slots[i].components & BITFIELD_BIT(c)))
				fill_gap(nir, &slots[i], i, c);
		}
	}
	NIR_PASS(_, nir, nir_split_var_copies);
	NIR_PASS(_, nir, nir_lower_var_copies);
	NIR_PASS(_, nir, nir_lower_io_to_vector, nir_var_shader_out);
	/* constant indices of arrays let stores combine */
	NIR_PASS(_, nir, nir_opt_constant_folding);
	NIR_PASS(_, nir, nir_opt_combine_stores, nir_var_shader_out);
}
