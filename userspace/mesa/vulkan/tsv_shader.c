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

#define GPU_ID		0x7212	/* a GPU with the device's instruction set, for the compiler */
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

static VkResult create(struct tsv_device *device, const struct tsv_shader_info *info,
		       const void *code, const VkAllocationCallbacks *alloc,
		       struct vk_shader **out)
{
	struct tsv_shader *s = vk_shader_zalloc(&device->vk, &shader_ops, MESA_SHADER_COMPUTE,
						alloc, sizeof(*s));
	VkResult result;
	int ret;

	if (!s)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	s->info = *info;
	result = tsv_device_scratch(device, info->scratch);
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
	return create(device, &info, code, alloc, out);
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

static void preprocess_nir(struct vk_physical_device *device, nir_shader *nir)
{
	const nir_lower_compute_system_values_options options = { .has_base_workgroup_id = true };

	NIR_PASS(_, nir, nir_lower_system_values);
	NIR_PASS(_, nir, nir_lower_compute_system_values, &options);
	NIR_PASS(_, nir, nir_split_var_copies);
	NIR_PASS(_, nir, nir_lower_var_copies);
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

static VkResult compile_one(struct tsv_device *device, struct vk_shader_compile_info *info,
			    const VkAllocationCallbacks *alloc, struct vk_shader **out)
{
	const struct panfrost_compile_inputs inputs = { .gpu_id = GPU_ID };
	struct pan_shader_info compiled = { 0 };
	struct tsv_shader_info s = { 0 };
	nir_shader *nir = info->nir;
	struct util_dynarray binary;
	unsigned i;

	number_dynamic(info, &s);
	tsv_nir_lower(nir, info, &s);
	bifrost_preprocess_nir(nir, GPU_ID);
	util_dynarray_init(&binary, NULL);
	bifrost_compile_shader_nir(nir, &inputs, &binary, &compiled);
	if (debug_get_bool_option("TESSERA_VK_SHADERS", false))
		print_shader(nir, &binary);
	s.code_size = binary.size;
	for (i = 0; i < 3; i++)
		s.local[i] = nir->info.workgroup_size[i];
	s.group_memory = MAX2(compiled.wls_size, nir->info.shared_size);
	s.scratch = align(compiled.tls_size, 16);
	s.push_words = compiled.push.count;
	s.registers_64 = compiled.work_reg_count > 32;
	*out = NULL;
	const VkResult result = create(device, &s, binary.data, alloc, out);
	util_dynarray_fini(&binary);
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
			result = compile_one(device, &infos[i], alloc, &out[i]);
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
	.compile = compile,
	.deserialize = deserialize,
	.cmd_bind_shaders = tsv_cmd_bind_shaders,
};
