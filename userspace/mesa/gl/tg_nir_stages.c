/* SPDX-License-Identifier: MIT */
/*
 * Stages before the rasterizer: vertex shaders that others follow, tessellation and geometry
 * shaders. The compiler does not know them; but the device shows what they read and write as
 * windows of memory (3d.md, "Windows"), so all of it becomes loads and stores of a vertex shader,
 * or of what the compiler takes for a compute shader: its registers are those of these stages.
 *
 *   R55		number of the thread		local_invocation_id.x
 *   R57		number of the primitive		workgroup_id.x
 *   R60, R61, R62	u, v, w of a patch's point	global_invocation_id
 */
#include "compiler/nir/nir_builder.h"
#include "util/bitscan.h"

#include "tg_program.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define VERTEX_BYTES	1024	/* stage I/O memory of a vertex */
#define SLOT_BYTES	16
#define GENERIC		0x80	/* in stage I/O memory: the first of 32 attributes */
#define LEGACY_TEXCOORD	16	/* which of them the fixed functions' have, after shaders' own */
#define LEGACY_COLOR	24
#define PATCH_GENERIC	0x20	/* of patch space: what is not a tessellation factor */
#define WORKGROUP	64	/* threads; more than a warp, so that barriers stay */

struct pass {
	gl_shader_stage stage;
	struct tg_space *space;
	nir_variable *emitted;		/* geometry shaders: how many vertices */
	unsigned max_vertices;
	bool numbers;			/* layer and viewport are stored for fragment shaders */
};

/* ---- Places ---------------------------------------------------------------------------------- */

int tg_space_byte(unsigned location)
{
	switch (location) {
	case VARYING_SLOT_PRIMITIVE_ID:
		return 0x60;
	case VARYING_SLOT_LAYER:
		return 0x64;
	case VARYING_SLOT_VIEWPORT:
		return 0x68;
	case VARYING_SLOT_PSIZ:
		return 0x6c;
	case VARYING_SLOT_POS:
		return 0x70;
	case VARYING_SLOT_BOUNDING_BOX0:
		return 0x280;
	case VARYING_SLOT_BOUNDING_BOX1:
		return 0x290;
	case VARYING_SLOT_CLIP_DIST0:
	case VARYING_SLOT_CULL_DIST0:
		return 0x2c0;
	case VARYING_SLOT_CLIP_DIST1:
	case VARYING_SLOT_CULL_DIST1:
		return 0x2d0;
	default:
		break;
	}
	if (location >= VARYING_SLOT_VAR0 && location < VARYING_SLOT_VAR0 + 32)
		return GENERIC + SLOT_BYTES * (int)(location - VARYING_SLOT_VAR0);
	if (location >= VARYING_SLOT_TEX0 && location <= VARYING_SLOT_TEX7)
		return GENERIC +
		       SLOT_BYTES * (int)(LEGACY_TEXCOORD + location - VARYING_SLOT_TEX0);
	switch (location) {
	case VARYING_SLOT_COL0:
	case VARYING_SLOT_COL1:
	case VARYING_SLOT_FOGC:
		return GENERIC + SLOT_BYTES * (int)(LEGACY_COLOR + location - VARYING_SLOT_COL0);
	case VARYING_SLOT_BFC0:
	case VARYING_SLOT_BFC1:
		return GENERIC +
		       SLOT_BYTES * (int)(LEGACY_COLOR + 3 + location - VARYING_SLOT_BFC0);
	default:
		return -1;
	}
}

static int patch_byte(unsigned location)
{
	if (location == VARYING_SLOT_TESS_LEVEL_OUTER)
		return 0;
	if (location == VARYING_SLOT_TESS_LEVEL_INNER)
		return 0x10;
	if (location >= VARYING_SLOT_PATCH0 && location < VARYING_SLOT_PATCH0 + 32)
		return PATCH_GENERIC + SLOT_BYTES * (int)(location - VARYING_SLOT_PATCH0);
	return -1;
}

/* An access to a window. */
struct access {
	uint64_t window;
	bool patch;			/* its bytes are those of patch space */
	int byte;			/* first one, of the vertex; < 0: there is no such place */
	nir_src *vertex;		/* NULL: it has none */
	nir_def *offset;		/* slots after it */
	unsigned slots;			/* that it may be */
};

static struct access access_of(nir_intrinsic_instr *intr, uint64_t window, bool patch)
{
	const struct nir_io_semantics io = nir_intrinsic_io_semantics(intr);
	const nir_src *offset = nir_get_io_offset_src(intr);
	struct access a = {
		.window = window, .patch = patch,
		.byte = patch ? patch_byte(io.location) : tg_space_byte(io.location),
		.vertex = nir_get_io_arrayed_index_src(intr),
		.offset = offset->ssa,
		.slots = io.num_slots,
	};

	if (a.byte >= 0 && nir_src_is_const(*offset)) {
		a.byte += SLOT_BYTES * (int)nir_src_as_uint(*offset);
		a.slots = 1;
		a.offset = NULL;
	}
	if (a.byte >= 0)
		a.byte += 4 * (int)nir_intrinsic_component(intr);
	return a;
}

/* Words that an access may reach. */
static void mark(uint64_t map[4], const struct access *a, unsigned mask)
{
	unsigned slot, i, word;

	for (slot = 0; slot < a->slots; slot++) {
		u_foreach_bit(i, mask) {
			word = (unsigned)a->byte / 4 + 4 * slot + i;
			if (word < VERTEX_BYTES / 4)
				map[word / 64] |= 1ull << word % 64;
		}
	}
}

static void mark_patch(struct tg_space *space, const struct access *a)
{
	const unsigned first = (unsigned)(a->byte - PATCH_GENERIC) / SLOT_BYTES;

	if (a->byte >= PATCH_GENERIC)
		space->patch_slots = MAX2(space->patch_slots, first + a->slots);
}

/* The address; @vertex: number of the vertex, NULL: 0. */
static nir_def *address(nir_builder *b, const struct access *a, nir_def *vertex)
{
	nir_def *low = nir_imm_int(b, a->byte);

	if (a->offset)
		low = nir_iadd(b, low, nir_imul_imm(b, a->offset, SLOT_BYTES));
	if (vertex)
		low = nir_iadd(b, low, nir_imul_imm(b, vertex, VERTEX_BYTES));
	return nir_pack_64_2x32_split(b, low, nir_imm_int(b, (int)(a->window >> 32)));
}

/* ---- Loads and stores ------------------------------------------------------------------------ */

static bool load(nir_builder *b, nir_intrinsic_instr *intr, const struct access *a)
{
	nir_def *value;

	if (a->byte < 0) {
		nir_def_replace(&intr->def, nir_imm_zero(b, intr->def.num_components,
							 intr->def.bit_size));
		return true;
	}
	value = nir_load_global(b, address(b, a, a->vertex ? a->vertex->ssa : NULL), 4,
				intr->def.num_components, 32);
	if (intr->def.bit_size != 32)
		value = nir_convert_to_bit_size(b, value, nir_alu_type_get_base_type(
				nir_intrinsic_dest_type(intr)), intr->def.bit_size);
	nir_def_replace(&intr->def, value);
	return true;
}

static void put(nir_builder *b, const struct access *a, nir_def *vertex, nir_def *value,
		unsigned mask)
{
	int first, count;

	while (mask) {
		struct access part = *a;

		u_bit_scan_consecutive_range(&mask, &first, &count);
		part.byte += 4 * first;
		nir_store_global(b, address(b, &part, vertex), 4,
				 nir_channels(b, value, BITFIELD_RANGE(first, count)),
				 BITFIELD_MASK(count));
	}
}

/* The vertex of a geometry shader is the one that is next; there may be no more. */
static void store_words(nir_builder *b, const struct access *a, nir_def *value, unsigned mask,
		  const struct pass *p)
{
	nir_def *vertex = a->vertex ? a->vertex->ssa : NULL;

	if (p->emitted) {
		vertex = nir_load_var(b, p->emitted);
		nir_push_if(b, nir_ult_imm(b, vertex, p->max_vertices));
	}
	put(b, a, vertex, value, mask);
	if (p->emitted)
		nir_pop_if(b, NULL);
}

static bool store(nir_builder *b, nir_intrinsic_instr *intr, const struct access *a,
		  const struct pass *p)
{
	nir_def *value = intr->src[0].ssa;

	if (a->byte >= 0) {
		if (value->bit_size != 32)
			value = nir_convert_to_bit_size(b, value, nir_alu_type_get_base_type(
					nir_intrinsic_src_type(intr)), 32);
		store_words(b, a, value, nir_intrinsic_write_mask(intr), p);
	}
	nir_instr_remove(&intr->instr);
	return true;
}

static bool load_vertex(nir_builder *b, nir_intrinsic_instr *intr, const struct pass *p)
{
	const struct access a = access_of(intr, TSR_WINDOW_STAGE_PRIMITIVE, false);

	if (a.byte >= 0)
		mark(p->space->in, &a, nir_component_mask(intr->def.num_components));
	return load(b, intr, &a);
}

/*
 * Loads a word that the threads of a tessellation control shader have stored: of a vertex, which
 * only they read, or of the patch, which evaluation shaders read, too.
 */
static bool load_output(nir_builder *b, nir_intrinsic_instr *intr, const struct pass *p,
			bool patch)
{
	const struct access a = access_of(intr, patch ? TSR_WINDOW_STAGE_PATCH
						      : TSR_WINDOW_STAGE_OUTPUT, patch);

	if (a.byte >= 0 && patch)
		mark_patch(p->space, &a);
	else if (a.byte >= 0)
		mark(p->space->own, &a, nir_component_mask(intr->def.num_components));
	return load(b, intr, &a);
}

/* Fragment shaders read what is from the attributes on: layer and viewport are before them. */
static void copy_number(nir_builder *b, nir_intrinsic_instr *intr, const struct pass *p,
			unsigned slot)
{
	struct access a = access_of(intr, TSR_WINDOW_STAGE_OUTPUT, false);

	a.byte = tg_space_byte(slot);
	mark(p->space->out, &a, 1);
	store_words(b, &a, intr->src[0].ssa, 1, p);
}

static bool store_output(nir_builder *b, nir_intrinsic_instr *intr, const struct pass *p,
			 bool patch)
{
	const struct access a = access_of(intr, patch ? TSR_WINDOW_STAGE_PATCH
						      : TSR_WINDOW_STAGE_OUTPUT, patch);
	const unsigned location = nir_intrinsic_io_semantics(intr).location;

	if (p->numbers && (location == VARYING_SLOT_LAYER || location == VARYING_SLOT_VIEWPORT))
		copy_number(b, intr, p, tc_fragment_slot(location));
	if (a.byte >= 0 && patch)
		mark_patch(p->space, &a);
	else if (a.byte >= 0)
		mark(p->space->out, &a, nir_intrinsic_write_mask(intr));
	return store(b, intr, &a, p);
}

/* ---- Geometry shaders ------------------------------------------------------------------------ */

static bool emit(nir_builder *b, nir_intrinsic_instr *intr, const struct pass *p)
{
	const bool vertex = intr->intrinsic == nir_intrinsic_emit_vertex;
	const struct tsr_stage_emit e = { .stream = nir_intrinsic_stream_id(intr),
					  .vertex = vertex, .cut = !vertex };
	uint64_t word;

	tsr_pack_stage_emit(&word, &e);
	/* each of them counts */
	nir_build_store_global(b, nir_imm_int(b, (int)word),
			       nir_imm_int64(b, (int64_t)TSR_WINDOW_STAGE_CONTROL),
			       .align_mul = 4, .write_mask = 1, .access = ACCESS_VOLATILE);
	if (vertex)
		nir_store_var(b, p->emitted, nir_iadd_imm(b, nir_load_var(b, p->emitted), 1), 1);
	nir_instr_remove(&intr->instr);
	return true;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static nir_def *number(nir_builder *b, const nir_intrinsic_instr *intr)
{
	switch (intr->intrinsic) {
	case nir_intrinsic_load_invocation_id:
		return nir_channel(b, nir_load_local_invocation_id(b), 0);
	case nir_intrinsic_load_primitive_id:
		return nir_channel(b, nir_load_workgroup_id(b), 0);
	case nir_intrinsic_load_tess_coord:
		return nir_load_global_invocation_id(b, 32);
	case nir_intrinsic_load_tess_level_outer:
		return nir_load_global(b, nir_imm_int64(b, (int64_t)TSR_WINDOW_STAGE_PATCH), 4, 4,
				       32);
	case nir_intrinsic_load_tess_level_inner:
		return nir_load_global(b, nir_imm_int64(b, (int64_t)TSR_WINDOW_STAGE_PATCH + 0x10),
				       4, 2, 32);
	default:
		return NULL;
	}
}

static bool lower(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
	const struct pass *p = data;
	nir_def *value;

	b->cursor = nir_before_instr(&intr->instr);
	if (intr->intrinsic == nir_intrinsic_store_output)
		return store_output(b, intr, p, p->stage == MESA_SHADER_TESS_CTRL);
	if (p->stage == MESA_SHADER_VERTEX)
		return false;
	switch (intr->intrinsic) {
	case nir_intrinsic_store_per_vertex_output:
		return store_output(b, intr, p, false);
	case nir_intrinsic_load_per_vertex_input:
		return load_vertex(b, intr, p);
	case nir_intrinsic_load_per_vertex_output:
		return load_output(b, intr, p, false);
	case nir_intrinsic_load_output:
	case nir_intrinsic_load_input:
		return load_output(b, intr, p, true);
	case nir_intrinsic_emit_vertex:
	case nir_intrinsic_end_primitive:
		return emit(b, intr, p);
	case nir_intrinsic_barrier:
		/* outputs are memory now */
		nir_intrinsic_set_memory_modes(intr, nir_intrinsic_memory_modes(intr) |
						     nir_var_mem_global);
		nir_intrinsic_set_memory_semantics(intr, NIR_MEMORY_ACQ_REL);
		nir_intrinsic_set_memory_scope(intr, SCOPE_WORKGROUP);
		return true;
	default:
		value = number(b, intr);
		if (value)
			nir_def_replace(&intr->def, value);
		return value;
	}
}

/* The compiler sees the stage as a compute shader. */
static void become_compute(nir_shader *nir)
{
	nir_foreach_variable_with_modes_safe(var, nir, nir_var_shader_in | nir_var_shader_out)
		exec_node_remove(&var->node);
	nir->info.stage = MESA_SHADER_COMPUTE;
	memset(&nir->info.cs, 0, sizeof(nir->info.cs));
	nir->info.workgroup_size[0] = WORKGROUP;
	nir->info.workgroup_size[1] = nir->info.workgroup_size[2] = 1;
	nir->info.shared_size = 0;
}

/* A shader without outputs has to be a program all the same. */
static void store_something(nir_shader *nir)
{
	nir_builder b = nir_builder_at(nir_after_impl(nir_shader_get_entrypoint(nir)));
	const struct access a = { .window = TSR_WINDOW_STAGE_OUTPUT,
				  .byte = tg_space_byte(VARYING_SLOT_POS), .slots = 1 };

	nir_store_global(&b, address(&b, &a, NULL), 4, nir_imm_int(&b, 0), 1);
}

void tg_nir_stage(nir_shader *nir, struct tg_space *space, bool numbers)
{
	struct pass p = { .stage = nir->info.stage, .space = space, .numbers = numbers };
	nir_function_impl *impl = nir_shader_get_entrypoint(nir);
	unsigned i;

	if (p.stage == MESA_SHADER_GEOMETRY) {
		nir_builder b = nir_builder_at(nir_before_impl(impl));

		p.max_vertices = nir->info.gs.vertices_out;
		p.emitted = nir_local_variable_create(impl, glsl_uint_type(), "emitted");
		nir_store_var(&b, p.emitted, nir_imm_int(&b, 0), 1);
	}
	if (p.stage != MESA_SHADER_GEOMETRY && !nir->info.outputs_written &&
	    !nir->info.patch_outputs_written)
		store_something(nir);
	nir_shader_intrinsics_pass(nir, lower, nir_metadata_none, &p);
	NIR_PASS(_, nir, nir_lower_vars_to_ssa);
	/* the position is wanted, whether it is written or not */
	space->out[0] |= 15ull << tg_space_byte(VARYING_SLOT_POS) / 4;
	for (i = 0; i < ARRAY_SIZE(space->out); i++)
		space->words += util_bitcount64(space->out[i]);
	if (p.stage != MESA_SHADER_VERTEX)
		become_compute(nir);
}
