/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "compiler/nir/nir_builder.h"
#include "nir/tgsi_to_nir.h"
#include "panfrost/compiler/bifrost_compile.h"
#include "panfrost/compiler/bifrost/disassemble.h"
#include "util/log.h"
#include "util/u_memory.h"

#include "tg_cache.h"
#include "tg_context.h"
#include "tg_draw.h"
#include "tg_program.h"

#define CODE_ALIGN	128
/*
 * Bytes of an indexed array that is a tree of selections. A larger one is in scratch memory: 64
 * floats would be 600 clauses that spill registers, and 25 pixels would take 3.6 ms, not 20 us.
 */
#define ARRAY_MOST	128

/* ---- Compiling ------------------------------------------------------------------------------- */

static bool remove_point_size(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	if (intr->intrinsic != nir_intrinsic_store_output ||
	    nir_intrinsic_io_semantics(intr).location != VARYING_SLOT_PSIZ)
		return false;
	nir_instr_remove(&intr->instr);
	return true;
}

static void prepare_vertex(nir_shader *nir, const struct tg_key *key)
{
	tc_nir_lower_io(nir);
	if (key->stream) {
		tg_nir_lower_vertices(nir);
		return;
	}
	if (key->space)
		return;
	tc_nir_place_outputs(nir);
	if (!key->keep_point_size && nir->info.outputs_written & VARYING_BIT_PSIZ) {
		NIR_PASS(_, nir, nir_shader_intrinsics_pass, remove_point_size,
			 nir_metadata_control_flow, NULL);
		nir->info.outputs_written &= ~VARYING_BIT_PSIZ;
	}
}

/* gl_SampleMask does not count without GL_MULTISAMPLE, or without samples. */
static void remove_coverage(nir_shader *nir)
{
	nir_variable *mask = nir_find_variable_with_location(nir, nir_var_shader_out,
							     FRAG_RESULT_SAMPLE_MASK);

	if (!mask)
		return;
	mask->data.mode = nir_var_shader_temp;
	nir_fixup_deref_modes(nir);
	NIR_PASS(_, nir, nir_lower_global_vars_to_local);
	nir->info.outputs_written &= ~BITFIELD64_BIT(FRAG_RESULT_SAMPLE_MASK);
}

static void prepare_fragment(nir_shader *nir, const struct tg_key *key)
{
	if (key->no_coverage)
		remove_coverage(nir);
	if (key->one_sample)
		tg_nir_lower_one_sample(nir);
	if (key->colors)
		NIR_PASS(_, nir, nir_lower_fragcolor, key->colors);
	tc_nir_noperspective(nir);
	tc_nir_place_inputs(nir);
	tc_nir_lower_at_sample(nir);
	tc_nir_lower_primitive_id(nir, key->numbered ? TG_STREAM_PRIMITIVES : -1);
	if (key->back_facing)
		tg_nir_lower_back_facing(nir);
}

static void describe_vertex(const nir_shader *nir, struct tg_variant *v)
{
	const uint64_t written = nir->info.outputs_written;

	v->writes_point_size = written & VARYING_BIT_PSIZ;
	v->writes_layer = written & VARYING_BIT_LAYER;
	v->writes_viewport = written & VARYING_BIT_VIEWPORT;
	if (written & (VARYING_BIT_CLIP_DIST0 | VARYING_BIT_CLIP_DIST1)) {
		v->clip_distances = BITFIELD_MASK(nir->info.clip_distance_array_size);
		v->cull_distances = BITFIELD_RANGE(nir->info.clip_distance_array_size,
						   nir->info.cull_distance_array_size);
	}
}

static void describe_fragment(const struct tg_shader *shader, const nir_shader *nir,
			      struct tg_variant *v)
{
	unsigned i;

	v->color_outputs = (uint32_t)(nir->info.outputs_written >> FRAG_RESULT_DATA0) & 0xff;
	v->discards = nir->info.fs.uses_discard ||
		      nir->info.outputs_written & BITFIELD64_BIT(FRAG_RESULT_SAMPLE_MASK);
	v->helpers = nir->info.fs.needs_quad_helper_invocations;
	for (i = 0; i < v->info.varyings.input_count; i++) {
		const unsigned location = v->info.varyings.input[i].location;

		if (i < 32 && shader->noperspective & BITFIELD64_BIT(location))
			v->linear |= 1u << i;
	}
}

static void print_shader(nir_shader *nir, const struct util_dynarray *binary)
{
	fprintf(stderr, "---- tessera: %s shader\n", _mesa_shader_stage_to_abbrev(nir->info.stage));
	nir_print_shader(nir, stderr);
	disassemble_bifrost(stderr, binary->data, binary->size, false);
}

static void prepare_space(nir_shader *nir, struct tg_variant *v)
{
	nir_lower_system_values(nir);
	describe_vertex(nir, v);
	tg_nir_stage(nir, &v->space, v->key.numbers);
}

/* The NIR of a variant, ready for the compiler. */
static nir_shader *variant_nir(const struct tg_shader *shader, struct tg_variant *v)
{
	nir_shader *nir = nir_shader_clone(NULL, shader->nir);

	if (shader->stage == MESA_SHADER_VERTEX)
		prepare_vertex(nir, &v->key);
	else if (shader->stage == MESA_SHADER_FRAGMENT)
		prepare_fragment(nir, &v->key);
	else if (tg_stage_is_between((enum pipe_shader_type)shader->stage))
		tc_nir_lower_io(nir);
	v->in_space = v->key.space || tg_stage_is_between((enum pipe_shader_type)shader->stage);
	if (v->in_space)
		prepare_space(nir, v);
	if (v->key.robust)
		tg_nir_robust(nir);
	NIR_PASS(_, nir, nir_lower_vars_to_scratch, nir_var_function_temp, ARRAY_MOST,
		 glsl_get_natural_size_align_bytes, glsl_get_natural_size_align_bytes);
	bifrost_preprocess_nir(nir, TC_GPU_ID);
	tc_nir_hoist_inputs(nir);
	if (shader->stage == MESA_SHADER_FRAGMENT && v->key.sprites)
		NIR_PASS(_, nir, nir_lower_texcoord_replace_late, v->key.sprites, true);
	if (shader->stage == MESA_SHADER_VERTEX && !v->in_space)
		NIR_PASS(_, nir, pan_nir_lower_static_noperspective, 0);
	if (v->key.stream) {
		NIR_PASS(_, nir, nir_io_add_const_offset_to_base,
			 nir_var_shader_in | nir_var_shader_out);
		if (v->key.positions)
			tg_nir_capture_positions(nir);
		NIR_PASS(_, nir, nir_io_add_intrinsic_xfb_info);
		NIR_PASS(_, nir, pan_lower_xfb);
	}
	if (v->key.stipple)
		tg_nir_stipple(nir, v);
	tg_nir_lower_sysvals(nir, v);
	return nir;
}

void tg_code_destroy(struct tg_code *code)
{
	simple_mtx_lock(&code->screen->lock);
	list_del(&code->link);
	simple_mtx_unlock(&code->screen->lock);
	tsr_pool_free(code->screen->code, &code->memory);
	FREE(code);
}

static bool upload(struct tg_screen *screen, struct tg_variant *v, gl_shader_stage stage,
		   const struct util_dynarray *binary)
{
	struct tg_code *code;
	unsigned attempt = 0;
	int ret;

	if (!binary->size)
		return true;
	code = CALLOC_STRUCT(tg_code);
	do {
		ret = code ? tsr_pool_alloc(screen->code, binary->size, CODE_ALIGN, &code->memory)
			   : -ENOMEM;
	} while (code && ret && tg_bo_reclaim(screen, attempt++));
	if (ret) {
		mesa_loge("tessera: no memory for a shader of %u bytes", binary->size);
		FREE(code);
		return false;
	}
	pipe_reference_init(&code->reference, 1);
	code->screen = screen;
	code->stage = stage;
	code->size = binary->size;
	memcpy(code->memory.cpu, binary->data, binary->size);
	simple_mtx_lock(&screen->lock);
	list_addtail(&code->link, &screen->codes);
	simple_mtx_unlock(&screen->lock);
	v->code = code;
	return true;
}

/* The text of the first clause; free() it. NULL: no memory. */
static char *disassemble(const struct tg_code *code, uint64_t from)
{
	char *text = NULL, *next;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	disassemble_bifrost(f, (uint8_t *)code->memory.cpu + from, code->size - from, false);
	fclose(f);
	next = text ? strstr(text + 1, "\nclause_") : NULL;
	if (next)
		*next = '\0';
	return text;
}

void tg_code_explain(struct tg_screen *screen, uint64_t va)
{
	list_for_each_entry(struct tg_code, code, &screen->codes, link) {
		const uint64_t from = va - code->memory.va;
		char *text;

		if (va < code->memory.va || from >= code->size)
			continue;
		text = disassemble(code, from);
		mesa_loge("tessera: byte 0x%llx of a %s shader's 0x%x:\n%s",
			  (unsigned long long)from, _mesa_shader_stage_to_string(code->stage),
			  code->size, text ? text : "");
		free(text);
	}
}

/* Fill in a variant, whose key is set, but for its code. The code goes to @binary. */
static void compile(struct tg_screen *screen, const struct tg_shader *shader, struct tg_variant *v,
		    struct util_dynarray *binary)
{
	struct panfrost_compile_inputs inputs = { .gpu_id = TC_GPU_ID, .record_outputs = true };
	nir_shader *nir;

	v->sysval_ubo = ~0u;
	nir = variant_nir(shader, v);
	inputs.no_idvs = v->key.stream || v->key.space;
	inputs.pushable_ubos = BITFIELD_BIT(0);
	inputs.blend.nr_samples = 2;	/* targets that are read may have several */
	if (v->sysval_count)
		inputs.pushable_ubos |= BITFIELD_BIT(v->sysval_ubo);
	bifrost_compile_shader_nir(nir, &inputs, binary, &v->info);
	tc_fill_info(nir, &v->info);
	v->writes_memory = nir->info.writes_memory;
	if (shader->stage == MESA_SHADER_VERTEX && !v->in_space)
		describe_vertex(nir, v);
	else if (shader->stage == MESA_SHADER_FRAGMENT)
		describe_fragment(shader, nir, v);
	if (screen->debug & TG_DEBUG_SHADERS)
		print_shader(nir, binary);
	ralloc_free(nir);
}

/* A variant with its code, from the disk cache or compiled. NULL if there is no memory. */
static struct tg_variant *variant_new(struct tg_screen *screen, const struct tg_shader *shader,
				      const struct tg_key *key)
{
	struct tg_variant *v = CALLOC_STRUCT(tg_variant);
	struct util_dynarray binary;
	bool ok;

	if (!v)
		return NULL;
	v->key = *key;
	util_dynarray_init(&binary, NULL);
	if (!tg_cache_find(screen, shader, v, &binary)) {
		compile(screen, shader, v, &binary);
		tg_cache_store(screen, shader, v, &binary);
	}
	ok = upload(screen, v, shader->stage, &binary);
	util_dynarray_fini(&binary);
	if (!ok) {
		FREE(v);
		return NULL;
	}
	return v;
}

/* ---- Variants -------------------------------------------------------------------------------- */

struct tg_variant *tg_program_find(struct tg_screen *screen, struct tg_shader *shader,
				   const struct tg_key *key)
{
	struct tg_variant *found = NULL;

	simple_mtx_lock(&shader->lock);
	util_dynarray_foreach(&shader->variants, struct tg_variant *, v) {
		if (!memcmp(&(*v)->key, key, sizeof(*key)))
			found = *v;
	}
	if (!found) {
		found = variant_new(screen, shader, key);
		if (found)
			util_dynarray_append(&shader->variants, struct tg_variant *, found);
	}
	simple_mtx_unlock(&shader->lock);
	return found;
}

/* True if the fragment shader reads the layer or the viewport. */
static bool reads_numbers(const struct tg_context *ctx)
{
	const struct tg_shader *fs = ctx->stage[PIPE_SHADER_FRAGMENT].shader;

	return fs && fs->nir->info.inputs_read & (VARYING_BIT_LAYER | VARYING_BIT_VIEWPORT);
}

static struct tg_key key_of(const struct tg_context *ctx, const struct tg_shader *shader,
			    bool points)
{
	const struct pipe_rasterizer_state *r = ctx->rasterizer;
	struct tg_key key = { .robust = ctx->robust && shader->stage == MESA_SHADER_FRAGMENT };

	if (shader->stage == MESA_SHADER_FRAGMENT) {
		if (shader->fragcolor)
			key.colors = MAX2(ctx->framebuffer.nr_cbufs, 1);
		if (points && r && r->point_quad_rasterization)
			key.sprites = r->sprite_coord_enable & shader->texcoords;
		key.stipple = r && r->poly_stipple_enable &&
			      ctx->topology_class == TG_TRIANGLES;
		key.back_facing = ctx->back_facing && shader->front_facing;
		key.numbered = ctx->primitive_ids && shader->primitive_id;
		key.no_coverage = r && !r->multisample && shader->coverage;
		key.one_sample = r && !r->multisample && shader->samples;
	} else if (shader->stage == MESA_SHADER_VERTEX) {
		key.space = tg_stages_active(ctx);
		key.keep_point_size = !key.space && shader->point_size && points && r &&
				      r->point_size_per_vertex;
	} else if (tg_stage_is_between((enum pipe_shader_type)shader->stage)) {
		key.numbers = reads_numbers(ctx);
	}
	return key;
}

bool tg_program_update(struct tg_context *ctx, enum pipe_shader_type type, bool points)
{
	struct tg_stage *stage = &ctx->stage[type];
	struct tg_variant *v;
	struct tg_key key;

	if (!stage->shader)
		return false;
	key = key_of(ctx, stage->shader, points);
	if (stage->variant && !(stage->dirty & TG_DIRTY_SHADER) &&
	    !memcmp(&stage->variant->key, &key, sizeof(key)))
		return true;
	v = tg_program_find(ctx->screen, stage->shader, &key);
	if (v != stage->variant) {
		stage->dirty = TG_DIRTY_STAGE_ALL;
		ctx->dirty |= TG_DIRTY_LINK | TG_DIRTY_DRAW;
	}
	stage->variant = v;
	return v;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static uint8_t texcoords_of(const nir_shader *nir)
{
	return (uint8_t)(nir->info.inputs_read >> VARYING_SLOT_TEX0);
}

struct tg_shader *tg_shader_create(struct tg_screen *screen, nir_shader *nir)
{
	struct tg_shader *shader = CALLOC_STRUCT(tg_shader);

	if (!shader)
		return NULL;
	shader->nir = nir;
	shader->stage = nir->info.stage;
	simple_mtx_init(&shader->lock, mtx_plain);
	util_dynarray_init(&shader->variants, NULL);
	tg_cache_name(screen, shader);
	return shader;
}

static void *create_shader(struct pipe_context *pipe, const struct pipe_shader_state *state)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_shader *shader;
	struct tg_key key = { 0 };
	nir_shader *copy;

	shader = tg_shader_create(ctx->screen, state->type == PIPE_SHADER_IR_TGSI
						       ? tgsi_to_nir(state->tokens, pipe->screen,
								     false)
						       : state->ir.nir);
	if (!shader)
		return NULL;
	shader->stream_output = state->stream_output;
	if (shader->stage == MESA_SHADER_VERTEX) {
		shader->point_size = shader->nir->info.outputs_written & VARYING_BIT_PSIZ;
	} else if (shader->stage == MESA_SHADER_FRAGMENT) {
		shader->fragcolor =
			shader->nir->info.outputs_written & BITFIELD64_BIT(FRAG_RESULT_COLOR);
		shader->texcoords = texcoords_of(shader->nir);
		shader->front_facing = BITSET_TEST(shader->nir->info.system_values_read,
						   SYSTEM_VALUE_FRONT_FACE);
		shader->primitive_id =
			shader->nir->info.inputs_read & VARYING_BIT_PRIMITIVE_ID;
		shader->coverage =
			shader->nir->info.outputs_written & BITFIELD64_BIT(FRAG_RESULT_SAMPLE_MASK);
		shader->samples = shader->nir->info.fs.uses_sample_shading ||
				  BITSET_TEST(shader->nir->info.system_values_read,
					      SYSTEM_VALUE_SAMPLE_MASK_IN);
		copy = nir_shader_clone(NULL, shader->nir);
		shader->noperspective = tc_nir_noperspective(copy);
		ralloc_free(copy);
		key.colors = shader->fragcolor;
		key.robust = ctx->robust;
		key.one_sample = shader->samples;
	}
	/* the variant that is wanted most often, while the program still expects to wait */
	tg_program_find(ctx->screen, shader, &key);
	return shader;
}

void tg_shader_delete(struct pipe_context *pipe, void *hwcso)
{
	struct tg_shader *shader = hwcso;

	util_dynarray_foreach(&shader->variants, struct tg_variant *, v) {
		tg_code_reference(&(*v)->code, NULL);
		FREE(*v);
	}
	util_dynarray_fini(&shader->variants);
	simple_mtx_destroy(&shader->lock);
	ralloc_free(shader->nir);
	FREE(shader);
}

static void bind(struct pipe_context *pipe, enum pipe_shader_type type, struct tg_shader *shader)
{
	struct tg_context *ctx = tg_context(pipe);

	ctx->stage[type].shader = shader;
	ctx->stage[type].variant = NULL;
	ctx->stage[type].dirty = TG_DIRTY_STAGE_ALL;
	ctx->dirty |= TG_DIRTY_LINK;
}

static void bind_vs_state(struct pipe_context *pipe, void *hwcso)
{
	bind(pipe, PIPE_SHADER_VERTEX, hwcso);
}

static void bind_tcs_state(struct pipe_context *pipe, void *hwcso)
{
	bind(pipe, PIPE_SHADER_TESS_CTRL, hwcso);
}

static void bind_tes_state(struct pipe_context *pipe, void *hwcso)
{
	bind(pipe, PIPE_SHADER_TESS_EVAL, hwcso);
}

static void bind_gs_state(struct pipe_context *pipe, void *hwcso)
{
	bind(pipe, PIPE_SHADER_GEOMETRY, hwcso);
}

static void bind_fs_state(struct pipe_context *pipe, void *hwcso)
{
	bind(pipe, PIPE_SHADER_FRAGMENT, hwcso);
}

void tg_program_init(struct pipe_context *pipe)
{
	pipe->create_vs_state = pipe->create_tcs_state = pipe->create_tes_state =
		pipe->create_gs_state = pipe->create_fs_state = create_shader;
	pipe->bind_vs_state = bind_vs_state;
	pipe->bind_tcs_state = bind_tcs_state;
	pipe->bind_tes_state = bind_tes_state;
	pipe->bind_gs_state = bind_gs_state;
	pipe->bind_fs_state = bind_fs_state;
	pipe->delete_vs_state = pipe->delete_tcs_state = pipe->delete_tes_state =
		pipe->delete_gs_state = pipe->delete_fs_state = tg_shader_delete;
}
