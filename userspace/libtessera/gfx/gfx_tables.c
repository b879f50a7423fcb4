// SPDX-License-Identifier: MIT
/*
 * Tables of descriptors in the pass's memory. Shaders name their entries by number.
 *
 * Uniform buffers, textures and samplers are written when they are bound. The code of dispatches
 * (bindings.c) writes them as NOP packets into a stream that is not executed. Attributes, views and
 * vertex outputs share two tables, which depend on the pipeline and the draw. They are written when
 * a draw needs them.
 */
#include <errno.h>
#include <string.h>

#include "gfx.h"

#define BINDINGS_INFO_1	TSR_UP_TO(struct tsr_gfx_bindings_info, scratch)	/* version 1.0 */
#define BUFFER_ALIGN	64u		/* of ATTRIBUTE_BUFFER.POINTER */
#define VERTEX_ENTRIES	3u		/* of a vertex buffer: with up to two continuations */
#define STAGES_ALL	((uint32_t)(TSR_GFX_STAGE_VERTEX | TSR_GFX_STAGE_FRAGMENT))

/* ---- Binding --------------------------------------------------------------------------------- */

/* The stream's memory is the pass's own, and goes with it. */
static int piece_alloc(void *context, uint32_t size, struct tsr_stream_chunk *chunk)
{
	struct tsr_gfx_pass *pass = context;

	chunk->cpu = gfx_data(pass, size, 64, &chunk->va);
	chunk->size = size;
	return chunk->cpu ? 0 : pass->error;
}

static void piece_free(void *context, struct tsr_stream_chunk *chunk)
{
	(void)context;
	(void)chunk;
}

static int table_stream(struct tsr_gfx_pass *pass)
{
	const struct tsr_stream_memory memory = { piece_alloc, piece_free, pass };

	return pass->scratch ? 0 : tsr_stream_create_custom(&memory, 0, &pass->scratch);
}

static int check_storage(struct tsr_gfx_pass *pass, const struct tsr_gfx_bindings_info *b)
{
	uint32_t i;

	if (b->storage_count > TSR_STORAGE_MAX)
		return gfx_fail(pass, EINVAL, "%u storage buffers, expected at most %d",
				b->storage_count, TSR_STORAGE_MAX);
	for (i = 0; i < b->storage_count; i++) {
		const struct tsr_storage *s = &b->storage[i];

		if (!s->size || s->size > UINT32_MAX || s->va + s->size < s->va ||
		    s->push_word % 2 || s->push_word > TSR_PUSH_WORDS_MAX - 4)
			return gfx_fail(pass, EINVAL, "storage buffer %u of 0x%llx bytes at 0x%llx "
					"in push word %u", i, (unsigned long long)s->size,
					(unsigned long long)s->va, s->push_word);
	}
	if (b->texture_count > TSR_TEXTURES_MAX)
		return gfx_fail(pass, EINVAL, "%u textures, expected at most %d", b->texture_count,
				TSR_TEXTURES_MAX);
	return 0;
}

/* Uniform buffers, textures, samplers: as a dispatch's. */
static int write_bindings(struct tsr_gfx_pass *pass, uint32_t stages,
			  const struct tsr_gfx_bindings_info *b, struct tsr_resolved *r,
			  struct tsr_compute_state *tables)
{
	struct tsr_dispatch_info d = {
		.uniforms = b->uniforms, .uniform_count = b->uniform_count,
		.views = b->views, .view_count = b->view_count,
		.textures = b->textures, .texture_count = b->texture_count,
		.samplers = b->samplers, .sampler_count = b->sampler_count,
	};
	uint32_t i;
	int ret = table_stream(pass);

	if (!ret)
		ret = tsr_bindings_check(pass->scratch, &d, r);
	for (i = 0; !ret && i < b->view_count; i++)
		ret = gfx_tags_viewed(pass, b->views[i].image);
	for (i = 0; !ret && i < b->texture_count; i++)
		ret = gfx_tags_sampled(pass, &b->textures[i], stages);
	d.view_count = 0;
	return ret ? ret : tsr_bindings_write(pass->scratch, &d, r, tables);
}

static void keep(struct gfx_bound *bound, const struct tsr_gfx_bindings_info *b,
		 const struct tsr_resolved *r, const struct tsr_compute_state *tables)
{
	uint32_t i, end;

	bound->uniforms = tables->uniform_buffers;
	bound->uniform_count = tables->uniform_buffer_count;
	bound->textures = tables->textures;
	bound->texture_count = tables->texture_count;
	bound->samplers = tables->samplers;
	bound->sampler_count = tables->sampler_count;
	bound->scratch = b->scratch ? b->scratch->va : 0;
	bound->scratch_size = b->scratch ? b->scratch->size : 0;
	bound->storage_count = b->storage_count;
	for (i = 0; i < b->storage_count; i++) {
		bound->storage[i] = b->storage[i];
		end = b->storage[i].push_word + 4;
		bound->push_words = bound->push_words > end ? bound->push_words : end;
	}
	bound->view_count = b->view_count;
	for (i = 0; i < b->view_count; i++)
		bound->views[i] = r->views[i];
	bound->push_va = 0;
	bound->changed = true;
}

int tsr_gfx_set_bindings(struct tsr_gfx_pass *pass, uint32_t stages,
			 const struct tsr_gfx_bindings_info *bindings, size_t size)
{
	struct tsr_compute_state tables = { 0 };
	struct tsr_gfx_bindings_info info, *b = &info;
	struct tsr_resolved resolved;
	unsigned int i;
	int ret = gfx_check(pass);

	if (!ret) {
		ret = tsr_take_info(b, sizeof(*b), BINDINGS_INFO_1, bindings, size,
				    "tsr_gfx_bindings_info");
		if (ret)
			return gfx_fail(pass, -ret, "%s", tsr_error_message());
	}
	if (!ret && (!stages || stages & ~STAGES_ALL))
		ret = gfx_fail(pass, EINVAL, "bindings of stages 0x%x, expected 1 to 3", stages);
	if (!ret)
		ret = check_storage(pass, b);
	if (!ret) {
		ret = write_bindings(pass, stages, b, &resolved, &tables);
		if (ret)
			return gfx_fail(pass, -ret, "%s", tsr_error_message());
	}
	for (i = 0; !ret && i < GFX_STAGES; i++) {
		if (stages >> i & 1)
			keep(&pass->state.bound[i], b, &resolved, &tables);
	}
	if (!ret && stages & TSR_GFX_STAGE_VERTEX)
		pass->state.vertices_changed = true;
	return ret;
}

/* ---- Attributes, views, outputs -------------------------------------------------------------- */

/* Magic numbers of any divisor from 1 on. From 2^32 on, all elements are the first. */
static struct tsr_gfx_magic any_magic(uint64_t divisor)
{
	if (divisor >> 32)
		return (struct tsr_gfx_magic){ .shift = 31 };
	if (divisor == 1)
		return (struct tsr_gfx_magic){ .magic = 0x7fffffff, .extra = true };
	if (tsr_is_pow2(divisor))
		return (struct tsr_gfx_magic){ .shift = (uint32_t)__builtin_ctzll(divisor) - 1 };
	return tsr_gfx_magic((uint32_t)divisor);
}

/* Bytes of the buffer in front of the first instance's element. */
static uint64_t skipped(const struct tsr_gfx_vertex_buffer *layout, struct gfx_vertices v,
			const struct gfx_instancing *n)
{
	uint64_t skip = 0;

	if (layout->divisor && __builtin_mul_overflow(n->first, layout->stride, &skip))
		return v.size;
	return skip < v.size ? skip : v.size;
}

/* The buffer and what continues it; all of stride and size if they have more than 32 bits. */
static void write_entries(struct tsr_attribute_buffer *b, uint64_t stride, uint64_t size,
			  const struct tsr_attribute_buffer_divisor *rest, uint64_t *words)
{
	const struct tsr_attribute_buffer_wide wide = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION,
		.stride_high = (uint32_t)(stride >> 32), .size_high = (uint32_t)(size >> 32),
	};
	const bool divides = b->type == TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE;

	b->stride = (uint32_t)stride;
	b->size = (uint32_t)size;
	if (wide.stride_high || wide.size_high)
		b->type += TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR_WIDE -
			   TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR;
	tsr_pack_attribute_buffer(words, b);
	tsr_pack_attribute_buffer_divisor(words + 2, rest);
	tsr_pack_attribute_buffer_wide(words + (divides ? 4 : 2), &wide);
}

/* An attribute buffer of vertices: which element is whose. */
static void vertex_buffer(const struct tsr_gfx_vertex_buffer *layout, struct gfx_vertices v,
			  const struct gfx_instancing *n, uint64_t *words)
{
	uint64_t skip = skipped(layout, v, n), stride = layout->stride;
	uint64_t threads = n->padded * layout->divisor, lead;
	struct tsr_attribute_buffer b = { .type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR };
	struct tsr_attribute_buffer_divisor rest = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION,
	};

	lead = (v.va + skip) % BUFFER_ALIGN;
	b.pointer = v.va + skip - lead;
	if (layout->divisor && n->added) {
		const struct tsr_gfx_magic m = any_magic(threads);

		b.type = TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE;
		b.divisor_shift = m.shift;
		b.divisor_odd = m.extra;
		rest.magic = m.magic;
		rest.divisor = (uint32_t)threads;
		rest.add_instance = true;
	} else if (!layout->divisor && n->many) {
		b.type = TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS;
		b.divisor_odd = n->odd;
		b.divisor_shift = n->shift;
	} else if (layout->divisor && (!n->many || threads >> 32)) {
		stride = 0;			/* element 0 is everybody's */
	} else if (layout->divisor && tsr_is_pow2(threads)) {
		b.type = TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT;
		b.divisor_shift = (uint32_t)__builtin_ctzll(threads);
	} else if (layout->divisor) {
		const struct tsr_gfx_magic m = tsr_gfx_magic((uint32_t)threads);

		b.type = TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE;
		b.divisor_shift = m.shift;
		b.divisor_odd = m.extra;
		rest.magic = m.magic;
		rest.divisor = (uint32_t)threads;
	}
	write_entries(&b, stride, v.size - skip + lead, &rest, words);
}

static uint32_t lead_of(const struct tsr_gfx_vertex_buffer *layout, struct gfx_vertices v,
			const struct gfx_instancing *n)
{
	return (v.va + skipped(layout, v, n)) % BUFFER_ALIGN;
}

/* The buffer from byte @offset on. */
static struct gfx_vertices rest_of(struct gfx_vertices v, uint64_t offset)
{
	offset = offset < v.size ? offset : v.size;
	return (struct gfx_vertices){ v.va + offset, v.size - offset };
}

static void output_buffer(const struct tsr_gfx_pipeline *p, uint64_t *words)
{
	const struct tsr_attribute_buffer b = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, .stride = p->state.output_stride,
		.size = UINT32_MAX,
	};

	tsr_pack_attribute_buffer(words, &b);
}

/* The word of an output or varying, in the buffer with that number. */
static uint64_t in_buffer(uint64_t attribute, uint32_t buffer)
{
	return attribute | buffer;
}

/* An attribute, and the buffer of one that is far into its own, entry @*far, which goes on. */
static uint64_t vertex_attribute(struct tsr_gfx_pass *pass, uint32_t i,
				 const struct gfx_instancing *instancing, uint64_t *buffers,
				 uint32_t *far)
{
	const struct tsr_gfx_pipeline *p = pass->state.pipeline;
	const struct tsr_gfx_attribute *a = &p->attributes[i];
	const struct tsr_gfx_vertex_buffer *layout = &p->buffers[a->buffer];
	struct gfx_vertices v = pass->state.vertices[a->buffer];
	struct tsr_attribute word = {
		.buffer = VERTEX_ENTRIES * a->buffer, .add_offset = !layout->divisor,
		.order = a->order, .format = a->format,
	};
	uint64_t packed, offset = a->offset;

	if (gfx_is_far(a)) {
		v = rest_of(v, offset);
		offset = 0;
		vertex_buffer(layout, v, instancing, buffers + 2 * *far);
		word.buffer = *far;
		*far += VERTEX_ENTRIES;
	}
	word.offset = (int32_t)(offset + lead_of(layout, v, instancing));
	tsr_pack_attribute(&packed, &word);
	return packed;
}

/*
 * The layout of both tables. The first has attributes, then views. The second has vertex buffers,
 * buffers of attributes with large offsets, and views, each with entries for continuations, and the
 * buffer of the outputs at its end.
 */
int gfx_tables_vertex(struct tsr_gfx_pass *pass, const struct gfx_instancing *instancing)
{
	const struct tsr_gfx_pipeline *p = pass->state.pipeline;
	const struct gfx_bound *bound = &pass->state.bound[0];
	struct gfx_state *s = &pass->state;
	uint32_t far = VERTEX_ENTRIES * p->info.buffer_count;
	uint32_t i, views = far + VERTEX_ENTRIES * p->far_attributes;
	uint32_t last = views + TSR_VIEW_ENTRIES * bound->view_count;
	uint32_t entries = p->info.attribute_count + bound->view_count;
	uint64_t *attributes, *buffers;

	attributes = gfx_data(pass, (entries + p->output_count + 1) * 8, 64, &s->attributes);
	buffers = attributes ? gfx_data(pass, (last + 1) * 16, 64, &s->attribute_buffers) : NULL;
	if (!buffers)
		return pass->error;
	for (i = 0; i < p->info.buffer_count; i++)
		vertex_buffer(&p->buffers[i], s->vertices[i], instancing,
			      buffers + 2 * VERTEX_ENTRIES * i);
	for (i = 0; i < p->info.attribute_count; i++)
		attributes[i] = vertex_attribute(pass, i, instancing, buffers, &far);
	for (i = 0; i < bound->view_count; i++)
		tsr_placed_write(&bound->views[i], attributes + p->info.attribute_count + i,
			       buffers + 2 * (views + TSR_VIEW_ENTRIES * i),
			       views + TSR_VIEW_ENTRIES * i);
	for (i = 0; i < p->output_count; i++)
		attributes[entries + i] = in_buffer(p->outputs[i], last);
	output_buffer(p, buffers + 2 * last);
	s->attribute_count = entries;
	s->attribute_buffer_count = last + 1;
	return 0;
}

int gfx_tables_fragment(struct tsr_gfx_pass *pass, struct tsr_shader_program *program)
{
	const struct tsr_gfx_pipeline *p = pass->state.pipeline;
	const struct gfx_bound *bound = &pass->state.bound[1];
	uint32_t i, last = TSR_VIEW_ENTRIES * bound->view_count;
	uint64_t *attributes, *buffers;

	if (!bound->view_count && !p->input_count)
		return 0;
	attributes = gfx_data(pass, (bound->view_count + p->input_count) * 8, 64,
			      &program->attributes);
	buffers = attributes ? gfx_data(pass, (last + 1) * 16, 64, &program->attribute_buffers) :
		  NULL;
	if (!buffers)
		return pass->error;
	for (i = 0; i < bound->view_count; i++)
		tsr_placed_write(&bound->views[i], attributes + i,
				 buffers + 2 * TSR_VIEW_ENTRIES * i, TSR_VIEW_ENTRIES * i);
	for (i = 0; i < p->input_count; i++)
		attributes[bound->view_count + i] = in_buffer(p->inputs[i], last);
	output_buffer(p, buffers + 2 * last);
	program->attribute_count = bound->view_count;
	program->attribute_buffer_count = last + 1;
	program->varyings = program->attributes + bound->view_count * 8;
	program->varying_count = p->input_count;
	return 0;
}
