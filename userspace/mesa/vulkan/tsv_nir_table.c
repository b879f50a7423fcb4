// SPDX-License-Identifier: MIT
/*
 * Textures, samplers and images. The device finds them in tables of the program. A shader's tables
 * have the elements of the bindings that it names, arrays as a whole, in the order in which this
 * pass meets them. The sizes of images are loaded from the descriptor set.
 */
#include "compiler/nir/nir_builder.h"
#include "compiler/nir/nir_deref.h"

#include "tsv_shader.h"

struct context {
	const struct vk_shader_compile_info *info;
	struct tsv_shader_info *shader;
	unsigned first_image;		/* of the table of attributes */
	bool overflow;
};

/* An element of a binding: @fixed, plus @dynamic if that is not NULL. */
struct element {
	const struct tsv_binding *binding;
	unsigned set, fixed;
	nir_def *dynamic;
};

static struct element find_element(nir_builder *b, const struct context *c, nir_deref_instr *deref)
{
	struct element e = { 0 };
	const nir_variable *var;

	while (deref->deref_type == nir_deref_type_array) {
		const unsigned length = MAX2(glsl_get_aoa_size(deref->type), 1);

		if (nir_src_is_const(deref->arr.index)) {
			e.fixed += nir_src_as_uint(deref->arr.index) * length;
		} else {
			nir_def *more = nir_imul_imm(b, deref->arr.index.ssa, length);

			e.dynamic = e.dynamic ? nir_iadd(b, e.dynamic, more) : more;
		}
		deref = nir_deref_instr_parent(deref);
	}
	assert(deref->deref_type == nir_deref_type_var);
	var = deref->var;
	e.set = var->data.descriptor_set;
	e.binding = &container_of(c->info->set_layouts[e.set], struct tsv_set_layout,
				  vk)->bindings[var->data.binding];
	return e;
}

/* The slot of a binding's first element in a table; @byte: where the words are in an element. */
static unsigned slot_of(struct context *c, enum tsv_table_kind kind, const struct element *e,
			uint32_t byte)
{
	struct tsv_table *t = &c->shader->table[kind];
	const uint32_t offset = e->binding->offset + byte;
	unsigned i;

	for (i = 0; i < t->entries; i++) {
		if (t->entry[i].set == e->set && t->entry[i].offset == offset)
			return t->entry[i].first;
	}
	if (t->entries == TSV_TABLE_ENTRIES || t->slots + e->binding->count > TSV_TABLE_SLOTS) {
		c->overflow = true;
		return 0;
	}
	t->entry[t->entries++] = (struct tsv_table_entry){
		.offset = offset,
		.stride = (uint16_t)e->binding->stride,
		.first = t->slots,
		.count = (uint16_t)e->binding->count,
		.set = (uint16_t)e->set,
	};
	t->slots += e->binding->count;
	return t->slots - e->binding->count;
}

/* The first @components of the size that the set's memory has at @byte of the element. */
static nir_def *load_size(nir_builder *b, const struct element *e, uint32_t byte,
			  unsigned components)
{
	nir_def *va = tsv_nir_set_va(b, e->set, e->binding->offset + byte +
						       e->fixed * e->binding->stride);

	if (e->dynamic)
		va = nir_iadd(b, va, nir_u2u64(b, nir_imul_imm(b, e->dynamic,
							       e->binding->stride)));
	return nir_load_global_constant(b, va, 4, components, 32);
}

/* ---- Textures -------------------------------------------------------------------------------- */

static bool lower_query(nir_builder *b, nir_tex_instr *tex, const struct element *e)
{
	const uint32_t size = offsetof(struct tsv_texture_descriptor, size);

	switch (tex->op) {
	case nir_texop_txs:
		nir_def_replace(&tex->def, load_size(b, e, size, tex->def.num_components));
		return true;
	case nir_texop_query_levels:
	case nir_texop_texture_samples:
		nir_def_replace(&tex->def, load_size(b, e, size + 12, 1));
		return true;
	default:
		return false;
	}
}

static bool lower_tex(nir_builder *b, nir_tex_instr *tex, struct context *c)
{
	nir_def *texture = nir_steal_tex_src(tex, nir_tex_src_texture_deref);
	nir_def *sampler = nir_steal_tex_src(tex, nir_tex_src_sampler_deref);
	struct element e;

	if (!texture)
		return false;
	b->cursor = nir_before_instr(&tex->instr);
	e = find_element(b, c, nir_instr_as_deref(texture->parent_instr));
	if (lower_query(b, tex, &e))
		return true;
	tex->texture_index = slot_of(c, TSV_TEXTURES, &e, 0) + e.fixed;
	if (e.dynamic)
		nir_tex_instr_add_src(tex, nir_tex_src_texture_offset, e.dynamic);
	if (!sampler)
		return true;
	e = find_element(b, c, nir_instr_as_deref(sampler->parent_instr));
	tex->sampler_index = slot_of(c, TSV_SAMPLERS, &e,
				     offsetof(struct tsv_texture_descriptor, sampler)) + e.fixed;
	if (e.dynamic)
		nir_tex_instr_add_src(tex, nir_tex_src_sampler_offset, e.dynamic);
	return true;
}

/* ---- Images ---------------------------------------------------------------------------------- */

static bool is_image(const nir_intrinsic_instr *intr)
{
	switch (intr->intrinsic) {
	case nir_intrinsic_image_deref_load:
	case nir_intrinsic_image_deref_store:
	case nir_intrinsic_image_deref_atomic:
	case nir_intrinsic_image_deref_atomic_swap:
	case nir_intrinsic_image_deref_size:
	case nir_intrinsic_image_deref_samples:
		return true;
	default:
		return false;
	}
}

static bool lower_image(nir_builder *b, nir_intrinsic_instr *intr, struct context *c)
{
	struct element e;
	nir_def *index;

	if (!is_image(intr))
		return false;
	b->cursor = nir_before_instr(&intr->instr);
	e = find_element(b, c, nir_src_as_deref(intr->src[0]));
	if (intr->intrinsic == nir_intrinsic_image_deref_size) {
		nir_def_replace(&intr->def,
				load_size(b, &e, offsetof(struct tsv_image_descriptor, size),
					  intr->def.num_components));
		return true;
	}
	if (intr->intrinsic == nir_intrinsic_image_deref_samples) {
		nir_def_replace(&intr->def, nir_imm_int(b, 1));		/* there are no others */
		return true;
	}
	index = nir_imm_int(b, (int)(c->first_image + slot_of(c, TSV_IMAGES, &e, 0) + e.fixed));
	if (e.dynamic)
		index = nir_iadd(b, index, e.dynamic);
	nir_rewrite_image_intrinsic(intr, index, false);
	return true;
}

static bool lower(nir_builder *b, nir_instr *instr, void *data)
{
	if (instr->type == nir_instr_type_tex)
		return lower_tex(b, nir_instr_as_tex(instr), data);
	if (instr->type == nir_instr_type_intrinsic)
		return lower_image(b, nir_instr_as_intrinsic(instr), data);
	return false;
}

bool tsv_nir_lower_tables(nir_shader *nir, const struct vk_shader_compile_info *info,
			  struct tsv_shader_info *shader, unsigned first_image)
{
	const nir_lower_tex_options options = {
		.lower_txs_lod = true,
		.lower_txp = ~0u,
		.lower_tg4_offsets = true,
	};
	struct context c = { .info = info, .shader = shader, .first_image = first_image };

	NIR_PASS(_, nir, nir_lower_tex, &options);
	NIR_PASS(_, nir, nir_shader_instructions_pass, lower, nir_metadata_none, &c);
	NIR_PASS(_, nir, nir_remove_dead_derefs);
	return !c.overflow;
}
