// SPDX-License-Identifier: MIT
/* The compiler is Mesa's for Bifrost v7, whose instruction set the device executes. */
#include "tsv_shader.h"

#include "compiler/nir/nir.h"
#include "panfrost/compiler/bifrost/disassemble.h"
#include "panfrost/compiler/bifrost_compile.h"
#include "panfrost/util/pan_ir.h"
#include "util/blob.h"
#include "util/u_debug.h"
#include "vk_alloc.h"
#include "vk_graphics_state.h"

#define CODE_ALIGN	128
#define CODE_MOST	(16u << 20)

static const struct vk_shader_ops shader_ops;

/* ---- Objects --------------------------------------------------------------------------------- */

static void destroy(struct vk_device *vk, struct vk_shader *shader,
		    const VkAllocationCallbacks *alloc)
{
	struct tsv_device *device = container_of(vk, struct tsv_device, vk);
	struct tsv_shader *s = container_of(shader, struct tsv_shader, vk);

	tsr_pool_free(device->lists, &s->code);
	vk_shader_free(vk, alloc, shader);
}

static VkResult create(struct tsv_device *device, gl_shader_stage stage,
		       const struct tsv_shader_info *info, const void *code,
		       const VkAllocationCallbacks *alloc, struct vk_shader **out)
{
	struct tsv_shader *s = vk_shader_zalloc(&device->vk, &shader_ops, stage,
						alloc, sizeof(*s));
	VkResult result;
	int ret;

	if (!s)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	s->info = *info;
	result = tsv_device_scratch(device, TSV_SCRATCH_OTHERS, info->scratch);
	/* a vertex shader runs on BIN for positions and on RENDER for the rest */
	if (result == VK_SUCCESS && stage == MESA_SHADER_VERTEX)
		result = tsv_device_scratch(device, TSV_SCRATCH_BIN, info->scratch);
	if (result == VK_SUCCESS && info->code_size) {
		ret = tsr_pool_alloc(device->lists, info->code_size, CODE_ALIGN, &s->code);
		result = ret ? tsv_error(device, ret) : VK_SUCCESS;
	}
	if (result != VK_SUCCESS) {
		vk_shader_free(&device->vk, alloc, &s->vk);
		return result;
	}
	if (info->code_size)
		memcpy(s->code.cpu, code, info->code_size);
	*out = &s->vk;
	return VK_SUCCESS;
}

static bool serialize(struct vk_device *device, const struct vk_shader *shader, struct blob *blob)
{
	const struct tsv_shader *s = container_of(shader, struct tsv_shader, vk);

	blob_write_bytes(blob, &s->info, sizeof(s->info));
	blob_write_bytes(blob, s->code.cpu, s->info.code_size);
	return !blob->out_of_memory;
}

static VkResult deserialize(struct vk_device *vk, struct blob_reader *blob, uint32_t version,
			    const VkAllocationCallbacks *alloc, struct vk_shader **out)
{
	struct tsv_device *device = container_of(vk, struct tsv_device, vk);
	struct tsv_shader_info info;
	const void *code;

	blob_copy_bytes(blob, &info, sizeof(info));
	if (blob->overrun || info.code_size > CODE_MOST)
		return vk_error(device, VK_ERROR_INCOMPATIBLE_SHADER_BINARY_EXT);
	code = blob_read_bytes(blob, info.code_size);
	if (blob->overrun)
		return vk_error(device, VK_ERROR_INCOMPATIBLE_SHADER_BINARY_EXT);
	return create(device, info.pan.stage, &info, code, alloc, out);
}

static const struct vk_shader_ops shader_ops = {
	.destroy = destroy,
	.serialize = serialize,
};

/* ---- Compiling ------------------------------------------------------------------------------- */

static const nir_shader_compiler_options *get_nir_options(
	struct vk_physical_device *device, gl_shader_stage stage,
	const struct vk_pipeline_robustness_state *robustness)
{
	return &bifrost_nir_options_v6;		/* v6 and v7 share them */
}

static struct spirv_to_nir_options get_spirv_options(
	struct vk_physical_device *device, gl_shader_stage stage,
	const struct vk_pipeline_robustness_state *robustness)
{
	return (struct spirv_to_nir_options){
		.ubo_addr_format = nir_address_format_64bit_bounded_global,
		.ssbo_addr_format = nir_address_format_64bit_bounded_global,
		.phys_ssbo_addr_format = nir_address_format_64bit_global,
		.push_const_addr_format = nir_address_format_32bit_offset,
		.shared_addr_format = nir_address_format_32bit_offset,
		.min_ubo_alignment = TSV_UNIFORM_ALIGN,
		.min_ssbo_alignment = TSV_STORAGE_ALIGN,
	};
}

/* The attributes that instances have. */
static uint32_t instanced(const struct vk_graphics_pipeline_state *state)
{
	const struct vk_vertex_input_state *vi = state ? state->vi : NULL;
	uint32_t mask = 0;

	if (!vi)
		return 0;
	u_foreach_bit(i, vi->attributes_valid) {
		if (vi->bindings[vi->attributes[i].binding].input_rate ==
		    VK_VERTEX_INPUT_RATE_INSTANCE)
			mask |= BITFIELD_BIT(i);
	}
	return mask;
}

static bool has_views(const struct vk_graphics_pipeline_state *state)
{
	return state && state->rp && state->rp->view_mask;
}

static bool shades_samples(const struct vk_graphics_pipeline_state *state)
{
	const struct vk_multisample_state *ms = state ? state->ms : NULL;

	return ms && ms->sample_shading_enable &&
	       ms->min_sample_shading * (float)ms->rasterization_samples > 1;
}

static void preprocess_nir(struct vk_physical_device *device, nir_shader *nir)
{
	const nir_lower_compute_system_values_options options = { .has_base_workgroup_id = true };
	nir_function_impl *main = nir_shader_get_entrypoint(nir);

	NIR_PASS(_, nir, nir_lower_system_values);
	if (nir->info.stage == MESA_SHADER_COMPUTE) {
		NIR_PASS(_, nir, nir_lower_compute_system_values, &options);
	} else {
		NIR_PASS(_, nir, nir_lower_io_to_temporaries, main, true, false);
		NIR_PASS(_, nir, nir_lower_global_vars_to_local);
	}
	NIR_PASS(_, nir, nir_split_var_copies);
	NIR_PASS(_, nir, nir_lower_var_copies);
	NIR_PASS(_, nir, nir_lower_indirect_derefs, nir_var_shader_in | nir_var_shader_out,
		 UINT32_MAX);
}

/* Attributes of instances, views, and shading of each sample, are compiled in. */
static void hash_graphics_state(struct vk_physical_device *device,
				const struct vk_graphics_pipeline_state *state,
				VkShaderStageFlags stages, blake3_hash out)
{
	struct mesa_blake3 hash;
	const bool views = has_views(state);
	uint32_t attributes;
	bool samples;

	_mesa_blake3_init(&hash);
	_mesa_blake3_update(&hash, &views, sizeof(views));
	if (stages & VK_SHADER_STAGE_VERTEX_BIT) {
		attributes = instanced(state);
		_mesa_blake3_update(&hash, &attributes, sizeof(attributes));
	}
	if (stages & VK_SHADER_STAGE_FRAGMENT_BIT) {
		samples = shades_samples(state);
		_mesa_blake3_update(&hash, &samples, sizeof(samples));
	}
	_mesa_blake3_final(&hash, out);
}

/* Dynamic offsets of a pipeline layout are numbered through its sets. */
static void number_dynamic(const struct vk_shader_compile_info *info, struct tsv_shader_info *s)
{
	uint32_t i;

	for (i = 0; i < info->set_layout_count; i++) {
		const struct vk_descriptor_set_layout *layout = info->set_layouts[i];

		s->dynamic[i] = s->dynamic_count;
		if (layout)
			s->dynamic_count += container_of(layout, struct tsv_set_layout,
							 vk)->dynamic;
	}
}

static void print_shader(nir_shader *nir, const struct util_dynarray *binary)
{
	fprintf(stderr, "---- tessera: %s shader\n", _mesa_shader_stage_to_abbrev(nir->info.stage));
	nir_print_shader(nir, stderr);
	disassemble_bifrost(stderr, binary->data, binary->size, false);
}

/* The number of an attribute is its place in the table. */
static void prepare_vertex(nir_shader *nir, struct tsv_shader_info *s)
{
	nir_foreach_shader_in_variable(var, nir)
		var->data.driver_location = var->data.location - VERT_ATTRIB_GENERIC0;
	s->attributes = TSV_ATTRIBUTES;
	tc_nir_lower_io(nir);
	/* five or more clip distances are two vectors of one array, told apart by offsets */
	NIR_PASS(_, nir, nir_io_add_const_offset_to_base, nir_var_shader_out);
	tc_nir_place_outputs(nir);
}

/* The pipeline wants a thread for each sample, which has its place and its inputs there. */
static void shade_samples(nir_shader *nir)
{
	nir->info.fs.uses_sample_shading = true;
	nir_foreach_shader_in_variable(var, nir) {
		if (var->data.interpolation != INTERP_MODE_FLAT)
			var->data.sample = true;
	}
}

static uint64_t prepare_fragment(nir_shader *nir, bool samples)
{
	const nir_input_attachment_options options = { .use_fragcoord_sysval = true };
	uint64_t noperspective;

	if (samples)
		shade_samples(nir);
	NIR_PASS(_, nir, nir_lower_input_attachments, &options);
	NIR_PASS(_, nir, nir_lower_wpos_center);
	tsv_nir_load_layer(nir);
	noperspective = tc_nir_noperspective(nir);
	tc_nir_place_inputs(nir);
	tc_nir_lower_at_sample(nir);
	tc_nir_lower_primitive_id(nir, -1);
	tsv_nir_merge_colors(nir);
	nir_assign_io_var_locations(nir, nir_var_shader_in, &nir->num_inputs, nir->info.stage);
	nir_assign_io_var_locations(nir, nir_var_shader_out, &nir->num_outputs, nir->info.stage);
	return noperspective;
}

static void describe_vertex(const nir_shader *nir, struct tsv_shader_info *s)
{
	const uint64_t written = nir->info.outputs_written;
	const unsigned clip = nir->info.clip_distance_array_size,
		       cull = nir->info.cull_distance_array_size;

	s->writes_point_size = !!(written & VARYING_BIT_PSIZ);
	s->writes_layer = !!(written & VARYING_BIT_LAYER);
	s->writes_viewport = !!(written & VARYING_BIT_VIEWPORT);
	if (written & (VARYING_BIT_CLIP_DIST0 | VARYING_BIT_CLIP_DIST1)) {
		s->clip_distances = BITFIELD_MASK(clip);
		s->cull_distances = BITFIELD_RANGE(clip, cull);
	}
}

static void describe_fragment(const nir_shader *nir, uint64_t noperspective, bool samples,
			      struct tsv_shader_info *s)
{
	unsigned i;

	s->color_outputs = (uint32_t)(nir->info.outputs_written >> FRAG_RESULT_DATA0) & 0xff;
	s->discards = nir->info.fs.uses_discard ||
		      nir->info.outputs_written & BITFIELD64_BIT(FRAG_RESULT_SAMPLE_MASK);
	s->helpers = nir->info.fs.needs_quad_helper_invocations;
	s->writes_memory = nir->info.writes_memory;
	s->sample_shading = samples || s->pan.fs.sample_shading;
	for (i = 0; i < s->pan.varyings.input_count && i < 32; i++) {
		if (noperspective & BITFIELD64_BIT(s->pan.varyings.input[i].location))
			s->linear |= 1u << i;
	}
}

/* NIR to machine code and all that is to be known of it. */
static VkResult translate(struct tsv_device *device, const struct vk_shader_compile_info *info,
			  const struct vk_graphics_pipeline_state *state, struct tsv_shader_info *s,
			  struct util_dynarray *binary)
{
	const struct panfrost_compile_inputs inputs = { .gpu_id = TC_GPU_ID,
							.record_outputs = true };
	nir_shader *nir = info->nir;
	const gl_shader_stage stage = nir->info.stage;
	uint64_t noperspective = 0;
	unsigned i;

	number_dynamic(info, s);
	if (stage == MESA_SHADER_VERTEX && has_views(state))
		tsv_nir_store_layer(nir);
	NIR_PASS(_, nir, nir_lower_system_values);
	nir_shader_gather_info(nir, nir_shader_get_entrypoint(nir));
	if (stage == MESA_SHADER_VERTEX)
		prepare_vertex(nir, s);
	else if (stage == MESA_SHADER_FRAGMENT)
		noperspective = prepare_fragment(nir, shades_samples(state));
	tsv_nir_lower(nir, info, s);
	if (stage != MESA_SHADER_COMPUTE)
		tsv_nir_draw(nir, instanced(state), s);
	if (!tsv_nir_lower_tables(nir, info, s, s->attributes))
		return vk_errorf(device, VK_ERROR_UNKNOWN, "a shader with more than %u resources",
				 TSV_TABLE_SLOTS);
	tsv_nir_subgroups(nir);
	bifrost_preprocess_nir(nir, TC_GPU_ID);
	tc_nir_hoist_inputs(nir);
	if (stage == MESA_SHADER_VERTEX)
		NIR_PASS(_, nir, pan_nir_lower_static_noperspective, 0);
	bifrost_compile_shader_nir(nir, &inputs, binary, &s->pan);
	if (debug_get_bool_option("TESSERA_VK_SHADERS", false))
		print_shader(nir, binary);
	tc_fill_info(nir, &s->pan);
	if (stage == MESA_SHADER_VERTEX)
		describe_vertex(nir, s);
	else if (stage == MESA_SHADER_FRAGMENT)
		describe_fragment(nir, noperspective, shades_samples(state), s);
	for (i = 0; i < 3; i++)
		s->local[i] = nir->info.workgroup_size[i];
	s->code_size = binary->size;
	s->group_memory = stage == MESA_SHADER_COMPUTE
				  ? MAX2(s->pan.wls_size, nir->info.shared_size) : 0;
	s->scratch = align(s->pan.tls_size, 16);
	s->push_words = s->pan.push.count;
	s->registers_64 = s->pan.work_reg_count > 32;
	return VK_SUCCESS;
}

static VkResult compile_one(struct tsv_device *device, const struct vk_shader_compile_info *info,
			    const struct vk_graphics_pipeline_state *state,
			    const VkAllocationCallbacks *alloc, struct vk_shader **out)
{
	struct tsv_shader_info *s = vk_zalloc(&device->vk.alloc, sizeof(*s), 8,
					      VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
	struct util_dynarray binary;
	VkResult result;

	*out = NULL;
	if (!s)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	util_dynarray_init(&binary, NULL);
	result = translate(device, info, state, s, &binary);
	if (result == VK_SUCCESS)
		result = create(device, info->nir->info.stage, s, binary.data, alloc, out);
	util_dynarray_fini(&binary);
	vk_free(&device->vk.alloc, s);
	return result;
}

static VkResult compile(struct vk_device *vk, uint32_t count, struct vk_shader_compile_info *infos,
			const struct vk_graphics_pipeline_state *state,
			const VkAllocationCallbacks *alloc, struct vk_shader **out)
{
	struct tsv_device *device = container_of(vk, struct tsv_device, vk);
	VkResult result = VK_SUCCESS;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (result == VK_SUCCESS)
			result = compile_one(device, &infos[i], state, alloc, &out[i]);
		ralloc_free(infos[i].nir);
		if (result != VK_SUCCESS)
			out[i] = NULL;
	}
	return result;
}

const struct vk_device_shader_ops tsv_device_shader_ops = {
	.get_nir_options = get_nir_options,
	.get_spirv_options = get_spirv_options,
	.preprocess_nir = preprocess_nir,
	.hash_graphics_state = hash_graphics_state,
	.compile = compile,
	.deserialize = deserialize,
	.cmd_bind_shaders = tsv_cmd_bind_shaders,
	.cmd_set_dynamic_graphics_state = vk_cmd_set_dynamic_graphics_state,
};
