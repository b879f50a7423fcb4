/* SPDX-License-Identifier: MIT */
/* The part of both drivers that prepares shaders for the compiler and describes its output. */
#ifndef TC_NIR_H
#define TC_NIR_H

#include "compiler/nir/nir.h"
#include "panfrost/util/pan_ir.h"

#define TC_GPU_ID		0x7212	/* a GPU with the device's instructions, for the compiler */
#define TC_POINT_SIZE_MAX	1024.0f

/*
 * tc_fragment_slot(): where fragment shaders find a varying. What the device wants of a vertex
 * beside its attributes is in a record that is not for them; it is stored a second time in slots
 * that have no other use. 0: they find it where it is, or do not read it.
 */
static inline unsigned tc_fragment_slot(unsigned location)
{
	switch (location) {
	case VARYING_SLOT_LAYER:
		return VARYING_SLOT_BOUNDING_BOX0;
	case VARYING_SLOT_VIEWPORT:
		return VARYING_SLOT_BOUNDING_BOX1;
	case VARYING_SLOT_CLIP_DIST0: /* with cull distances after them */
		return VARYING_SLOT_CULL_DIST0;
	case VARYING_SLOT_CLIP_DIST1:
		return VARYING_SLOT_CULL_DIST1;
	default:
		return 0;
	}
}

/*
 * tc_nir_lower_io(): variables of a vertex shader become loads and stores. It runs before the
 * compiler's own preparation, which would otherwise put the viewport's transformation into the
 * shader. The device has fixed functions for that.
 */
void tc_nir_lower_io(nir_shader *nir);

/*
 * tc_nir_place_outputs(): number the outputs of a vertex shader that no stage follows, and add the
 * copies for fragment shaders. After tc_nir_lower_io().
 * tc_nir_place_inputs(): do the same to the inputs of a fragment shader.
 */
void tc_nir_place_outputs(nir_shader *nir);
void tc_nir_place_inputs(nir_shader *nir);

/* tc_nir_lower_at_sample(): make interpolateAtSample() an interpolateAtOffset(). */
void tc_nir_lower_at_sample(nir_shader *nir);

/*
 * tc_nir_hoist_inputs(): load the inputs that loops read before them, once. The device executes a
 * loop that sends no messages as one piece. After the compiler's own preparation.
 */
void tc_nir_hoist_inputs(nir_shader *nir);

/* tc_nir_noperspective(): the varyings without perspective, by location. They become smooth. */
uint64_t tc_nir_noperspective(nir_shader *nir);

/*
 * tc_nir_lower_primitive_id(): load gl_PrimitiveID of a fragment shader from its register. If @list
 * is not negative, the register is an index into the list whose address is xfb address @list.
 */
void tc_nir_lower_primitive_id(nir_shader *nir, int list);

/* tc_fill_info(): the part of a shader's information that the compiler leaves to the driver. */
void tc_fill_info(const nir_shader *nir, struct pan_shader_info *info);

/*
 * ---- Varyings between a vertex and a fragment shader
 *
 * A vertex has 16 bytes for each output that is not in its record (position, point size, layer,
 * viewport, distances). tc_output_offset() is the place of one. It is TSR_VERTEX_OUTPUT_MAX, which
 * no output has, if the shader does not write it. tc_output_bytes() is the size of all.
 */
bool tc_in_record(gl_varying_slot location);
uint32_t tc_output_offset(const struct pan_shader_info *vs, gl_varying_slot location);
uint32_t tc_output_bytes(const struct pan_shader_info *vs);

/*
 * tc_output_word(): the ATTRIBUTE of output @i in buffer @buffer, in the format in which @fs (or
 * NULL) reads it. The device drops stores to an output that @fs does not read.
 */
uint64_t tc_output_word(const struct pan_shader_info *vs, const struct pan_shader_info *fs,
			unsigned i, unsigned buffer);

/* tc_fill_preloads(): the messages that a fragment shader's threads begin with. */
struct tsr_shader_state;
void tc_fill_preloads(const struct bifrost_shader_info *info, struct tsr_shader_state *state);

/* tc_register_type(): enum tsr_register_type of a color of that type, for a target of @format. */
uint32_t tc_register_type(nir_alu_type type, enum pipe_format format);

#endif
