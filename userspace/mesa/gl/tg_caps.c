/* SPDX-License-Identifier: MIT */
/* Capabilities of the driver. Nothing else is claimed. */
#include "panfrost/compiler/bifrost_compile.h"
#include "util/os_misc.h"
#include "util/u_math.h"
#include "util/u_screen.h"

#include "tg_caps.h"
#include "tg_context.h"
#include "tc_format.h"

#define ATTRIBUTES	16
#define VARYINGS	32	/* vec4 each */
#define SIDE_LOG2	14	/* of the largest texture */

/* Tessellation and geometry shaders. */
static bool has_stages(struct pipe_screen *screen)
{
	return tsr_device_info(tg_screen(screen)->device)->features &
	       DRM_TESSERA_FEATURE_GEOMETRY;
}

static int get_shader_param(struct pipe_screen *screen, enum pipe_shader_type type,
			    enum pipe_shader_cap cap)
{
	if (type >= PIPE_SHADER_TYPES ||
	    (tg_stage_is_between(type) && !has_stages(screen)))
		return 0;
	switch (cap) {
	case PIPE_SHADER_CAP_MAX_INSTRUCTIONS:
	case PIPE_SHADER_CAP_MAX_ALU_INSTRUCTIONS:
	case PIPE_SHADER_CAP_MAX_TEX_INSTRUCTIONS:
	case PIPE_SHADER_CAP_MAX_TEX_INDIRECTIONS:
		return 16384;
	case PIPE_SHADER_CAP_MAX_CONTROL_FLOW_DEPTH:
		return 1024;
	case PIPE_SHADER_CAP_MAX_INPUTS:
		return type == PIPE_SHADER_VERTEX ? ATTRIBUTES : VARYINGS;
	case PIPE_SHADER_CAP_MAX_OUTPUTS:
		return type == PIPE_SHADER_FRAGMENT ? TG_COLORS : VARYINGS;
	case PIPE_SHADER_CAP_MAX_TEMPS:
		return 256;
	case PIPE_SHADER_CAP_MAX_CONST_BUFFER0_SIZE:
		return 16 * 1024 * sizeof(float);
	case PIPE_SHADER_CAP_MAX_CONST_BUFFERS:
		return TG_CONSTANT_BUFFERS;
	case PIPE_SHADER_CAP_INDIRECT_TEMP_ADDR:
	case PIPE_SHADER_CAP_INDIRECT_CONST_ADDR:
	case PIPE_SHADER_CAP_INTEGERS:
	case PIPE_SHADER_CAP_TGSI_ANY_INOUT_DECL_RANGE:
		return 1;
	case PIPE_SHADER_CAP_MAX_TEXTURE_SAMPLERS:
		return 16;
	case PIPE_SHADER_CAP_MAX_SAMPLER_VIEWS:
		return TG_TEXTURES;
	/* the device runs vertex shaders twice: they do not store, nor do the stages after them */
	case PIPE_SHADER_CAP_MAX_SHADER_BUFFERS:
		return tg_stage_is_binned(type) ? 0 : TG_BUFFERS;
	case PIPE_SHADER_CAP_MAX_SHADER_IMAGES:
		return tg_stage_is_binned(type) ? 0 : TG_IMAGES;
	case PIPE_SHADER_CAP_SUPPORTED_IRS:
		return 1 << PIPE_SHADER_IR_NIR;
	default:
		return 0;
	}
}

static int put(void *out, const uint64_t *values, unsigned count)
{
	if (out)
		memcpy(out, values, count * sizeof(*values));
	return (int)(count * sizeof(*values));
}

static int put32(void *out, uint32_t value)
{
	if (out)
		memcpy(out, &value, sizeof(value));
	return sizeof(value);
}

static int get_compute_param(struct pipe_screen *screen, enum pipe_shader_ir ir,
			     enum pipe_compute_cap cap, void *out)
{
	const struct drm_tessera_shader_info *s = 
		tsr_device_shader_info(tg_screen(screen)->device);
	const uint64_t threads = s->max_group_threads, memory = s->max_group_memory;
	const uint64_t side = MIN2(s->max_groups, 65535);

	switch (cap) {
	case PIPE_COMPUTE_CAP_ADDRESS_BITS:
		return put32(out, 64);
	case PIPE_COMPUTE_CAP_GRID_DIMENSION:
		return put(out, (uint64_t[]){ 3 }, 1);
	case PIPE_COMPUTE_CAP_MAX_GRID_SIZE:
		return put(out, (uint64_t[]){ side, side, side }, 3);
	case PIPE_COMPUTE_CAP_MAX_BLOCK_SIZE:
		return put(out, (uint64_t[]){ threads, threads, MIN2(threads, 64) }, 3);
	case PIPE_COMPUTE_CAP_MAX_THREADS_PER_BLOCK:
	case PIPE_COMPUTE_CAP_MAX_VARIABLE_THREADS_PER_BLOCK:
		return put(out, &threads, 1);
	case PIPE_COMPUTE_CAP_MAX_LOCAL_SIZE:
		return put(out, &memory, 1);
	case PIPE_COMPUTE_CAP_MAX_PRIVATE_SIZE:
	case PIPE_COMPUTE_CAP_MAX_INPUT_SIZE:
		return put(out, (uint64_t[]){ 4096 }, 1);
	case PIPE_COMPUTE_CAP_MAX_GLOBAL_SIZE:
	case PIPE_COMPUTE_CAP_MAX_MEM_ALLOC_SIZE:
		return put(out, (uint64_t[]){ 1u << 30 }, 1);
	case PIPE_COMPUTE_CAP_MAX_COMPUTE_UNITS:
		return put32(out, s->cores);
	case PIPE_COMPUTE_CAP_IMAGES_SUPPORTED:
		return put32(out, 1);
	case PIPE_COMPUTE_CAP_MAX_CLOCK_FREQUENCY:
	case PIPE_COMPUTE_CAP_SUBGROUP_SIZES:
	case PIPE_COMPUTE_CAP_MAX_SUBGROUPS:
		return put32(out, 0);
	default:
		return 0;
	}
}

static const void *get_compiler_options(struct pipe_screen *screen, enum pipe_shader_ir ir,
					enum pipe_shader_type type)
{
	return tg_stage_is_between(type) ? &tg_screen(screen)->stage_options
					 : &tg_screen(screen)->options;
}

static bool is_format_supported(struct pipe_screen *screen, enum pipe_format format,
				enum pipe_texture_target target, unsigned samples,
				unsigned storage_samples, unsigned bind)
{
	const struct tc_format *f = tc_format(format);
	const uint64_t features = tsr_device_info(tg_screen(screen)->device)->features;

	if (MAX2(samples, 1) != MAX2(storage_samples, 1) || samples > TSR_SAMPLES_MAX ||
	    !util_is_power_of_two_nonzero(MAX2(samples, 1)) ||
	    (samples > 1 && ((target != PIPE_TEXTURE_2D && target != PIPE_TEXTURE_2D_ARRAY) ||
			     f->uses & TC_BLOCK)))
		return false;
	if (bind & PIPE_BIND_INDEX_BUFFER && format != PIPE_FORMAT_R8_UINT &&
	    format != PIPE_FORMAT_R16_UINT && format != PIPE_FORMAT_R32_UINT)
		return false;
	if (bind & PIPE_BIND_RENDER_TARGET && format != PIPE_FORMAT_NONE && !(f->uses & TC_TARGET))
		return false;
	if (bind & PIPE_BIND_BLENDABLE && util_format_is_pure_integer(format))
		return false;
	if (bind & PIPE_BIND_DEPTH_STENCIL && !(f->uses & TC_DEPTH))
		return false;
	if (bind & PIPE_BIND_VERTEX_BUFFER && !(f->uses & TC_VERTEX))
		return false;
	if (bind & PIPE_BIND_SAMPLER_VIEW && !(f->uses & TC_TEXTURE))
		return false;
	/* texels of 12 bytes stand in rows alone */
	if (bind & PIPE_BIND_SAMPLER_VIEW && util_format_get_blocksize(format) == 12 &&
	    target != PIPE_BUFFER)
		return false;
	if (f->uses & TC_BLOCK &&
	    (!(features & DRM_TESSERA_FEATURE_COMPRESSED) || target == PIPE_TEXTURE_1D ||
	     target == PIPE_TEXTURE_1D_ARRAY || target == PIPE_TEXTURE_RECT))
		return false;
	return !(bind & PIPE_BIND_SHADER_IMAGE) || (samples <= 1 && tc_is_image_format(format));
}

static void init_features(struct pipe_screen *screen, struct pipe_caps *c)
{
	c->npot_textures = true;
	c->anisotropic_filter = true;
	c->texture_swizzle = true;
	c->texture_mirror_clamp_to_edge = true;
	c->blend_equation_separate = true;
	c->indep_blend_enable = true;
	c->texture_multisample = true;
	c->texture_buffer_objects = true;
	c->sample_shading = true;
	c->indep_blend_func = true;
	c->primitive_restart = true;
	c->primitive_restart_fixed_index = true;
	c->emulate_nonfixed_primitive_restart = true;
	c->depth_clip_disable = true;
	c->clip_halfz = true;
	c->cull_distance = true;
	c->polygon_offset_clamp = true;
	c->vertex_element_instance_divisor = true;
	c->vertex_input_alignment = PIPE_VERTEX_INPUT_ALIGNMENT_ELEMENT;
	c->start_instance = true;
	c->seamless_cube_map = true;
	c->seamless_cube_map_per_texture = true;
	c->stream_output_pause_resume = true;
	c->stream_output_interleave_buffers = true;
	c->texture_barrier = true;
	c->copy_between_compressed_and_plain_formats = true;
	c->vertex_color_unclamped = true;
	c->quads_follow_provoking_vertex_convention = false;
	c->texture_float_linear = true;
	c->texture_half_float_linear = true;
	c->depth_bounds_test = true;
	c->texture_shadow_lod = true;
	c->sampler_view_target = true;
	c->surface_reinterpret_blocks = false;
	c->mixed_framebuffer_sizes = true;
	c->mixed_color_depth_bits = true;
	c->signed_vertex_buffer_offset = false;
	c->native_fence_fd = true;
	c->context_priority_mask =
		tsr_device_info(tg_screen(screen)->device)->priority_mask;
	c->fence_signal = true;
	c->memobj = true;
	c->robust_buffer_access_behavior = true;
	c->draw_indirect = true;
	c->multi_draw_indirect = true;
	c->multi_draw_indirect_params = true;
	c->framebuffer_no_attachment = true;
	c->cube_map_array = true;
	c->uma = true;
	c->dithering = true;
	c->psiz_clamped = true;
	c->allow_mapped_buffers_during_execution = true;
}

/* Shaders and what they may do. */
static void init_shaders(struct pipe_caps *c)
{
	c->fs_coord_origin_upper_left = true;
	c->fs_coord_pixel_center_integer = true;
	c->fs_position_is_sysval = true;
	c->fs_point_is_sysval = true;
	c->fs_face_is_integer_sysval = true;
	c->shader_stencil_export = true;
	c->vs_layer_viewport = true;
	c->vs_instanceid = true;
	c->fbfetch_coherent = true;
	c->image_store_formatted = true;
	c->image_load_formatted = true;
	c->fragment_shader_texture_lod = true;
	c->fragment_shader_derivatives = true;
	c->fs_fine_derivative = true;
	c->shader_group_vote = true;
	c->shader_ballot = true;
	c->draw_parameters = true;
	c->tgsi_texcoord = true;
	c->doubles = true;
	c->int64 = true;
	c->compute = true;
	c->gl_spirv = true;
	c->texture_query_lod = true;
	c->texture_query_samples = true;
	c->shader_array_components = true;
	c->packed_uniforms = true;
}

static void init_queries(struct pipe_caps *c)
{
	c->occlusion_query = true;
	c->query_timestamp = true;
	c->query_time_elapsed = true;
	c->query_pipeline_statistics_single = true;
	c->query_buffer_object = true;
	c->performance_monitor = true;
	c->query_so_overflow = true;
	c->conditional_render = true;
	c->conditional_render_inverted = true;
	c->device_reset_status_query = true;
}

/* States that the state tracker puts into shaders. */
static void init_lowered(struct pipe_caps *c)
{
	c->flatshade = false;
	c->two_sided_color = false;
	c->alpha_test = false;
	c->gl_clamp = false;
	c->clip_planes = 0;
	c->point_size_fixed = PIPE_POINT_SIZE_LOWER_USER_ONLY;
	c->vertex_color_clamped = false;
	c->fragment_color_clamped = false;
	c->nir_images_as_deref = false;
	c->texture_transfer_modes = 0;
}

static void init_limits(struct pipe_screen *screen, struct pipe_caps *c)
{
	uint64_t memory;

	c->timer_resolution = 1;
	c->query_timestamp_bits = 64;
	c->glsl_feature_level = has_stages(screen) ? 460 : 140;
	c->glsl_feature_level_compatibility = c->glsl_feature_level;
	c->essl_feature_level = has_stages(screen) ? 320 : 310;
	c->fbfetch = TG_COLORS;
	c->shader_buffer_offset_alignment = 16;
	c->max_texture_gather_components = 4;
	c->max_stream_output_buffers = PIPE_MAX_SO_BUFFERS;
	c->max_stream_output_interleaved_components = 64;
	c->max_stream_output_separate_components = 64;
	c->max_render_targets = TG_COLORS;
	c->max_dual_source_render_targets = 1;
	c->max_texture_2d_size = 1 << SIDE_LOG2;
	c->max_texture_3d_levels = 12;
	c->max_texture_cube_levels = SIDE_LOG2 + 1;
	c->max_texture_array_layers = 2048;
	c->max_varyings = VARYINGS;
	c->max_vertex_streams = has_stages(screen) ? TG_STREAMS : 1;
	c->max_geometry_output_vertices = 256;
	c->max_geometry_total_output_components = TSR_GEOMETRY_VERTICES_MAX;
	c->max_gs_invocations = 32;
	c->max_shader_patch_varyings = 30;
	c->max_viewports = PIPE_MAX_VIEWPORTS;
	c->max_vertex_buffers = 16;
	c->max_vertex_attrib_stride = 2048;
	c->max_vertex_element_src_offset = 2047;
	c->constant_buffer_offset_alignment = 16;
	c->max_texel_buffer_elements = 65536;
	c->texture_buffer_offset_alignment = 64;
	c->min_line_width = c->min_line_width_aa = 1;
	c->min_point_size = c->min_point_size_aa = 1;
	c->max_line_width = c->max_line_width_aa = 255;
	c->max_point_size = c->max_point_size_aa = TC_POINT_SIZE_MAX;
	c->point_size_granularity = c->line_width_granularity = 0.125f;
	c->max_texture_anisotropy = 16;
	c->max_texture_lod_bias = 16;
	c->rasterizer_subpixel_bits = 8;
	c->viewport_subpixel_bits = 8;
	c->vendor_id = 0x1234;
	c->video_memory = os_get_total_physical_memory(&memory) ? memory >> 20 : 0;
	/* quads and polygons have edges of their own: tg_polygon.c */
	c->supported_prim_modes = c->supported_prim_modes_with_restart =
		TG_TOPOLOGIES | BITFIELD_BIT(MESA_PRIM_QUADS) |
		BITFIELD_BIT(MESA_PRIM_QUAD_STRIP) | BITFIELD_BIT(MESA_PRIM_POLYGON);
}

static void init_options(struct tg_screen *screen)
{
	struct nir_shader_compiler_options *o = &screen->options;

	*o = bifrost_nir_options_v6;
	/* the device has no 64-bit numbers: Mesa's functions of 32-bit ones do */
	o->lower_doubles_options = nir_lower_fp64_full_software | nir_lower_drcp | nir_lower_dsqrt |
				   nir_lower_drsq | nir_lower_dtrunc | nir_lower_dfloor |
				   nir_lower_dceil | nir_lower_dfract | nir_lower_dround_even |
				   nir_lower_dmod | nir_lower_dsub | nir_lower_ddiv |
				   nir_lower_dsign | nir_lower_dminmax | nir_lower_dsat;
	/* outputs of stages are memory: any of them can be chosen when the shader runs */
	screen->stage_options = *o;
	screen->stage_options.support_indirect_inputs = 0xff;
	screen->stage_options.support_indirect_outputs = 0xff;
}

void tg_caps_init(struct pipe_screen *screen)
{
	struct pipe_caps *c = (struct pipe_caps *)&screen->caps;

	screen->get_shader_param = get_shader_param;
	screen->get_compute_param = get_compute_param;
	screen->get_compiler_options = get_compiler_options;
	screen->is_format_supported = is_format_supported;
	init_options(tg_screen(screen));
	u_init_pipe_screen_caps(screen, 1);
	init_features(screen, c);
	init_shaders(c);
	init_queries(c);
	init_lowered(c);
	init_limits(screen, c);
}
