/* SPDX-License-Identifier: MIT */
/*
 * Attribute unit: LD_ATTR and LEA_ATTR in all forms. An attribute is an element of a buffer in some
 * pixel format; an image is an attribute whose buffer is addressed by coordinates.
 *
 * Elements that are not there (beyond the extent of an image, beyond the buffer's SIZE, of an
 * entry that is not in its table) load as 0 and have an address in the void window.
 */
#include <string.h>

#include "msg_attribute.h"
#include "msg_pixels.h"
#include "shader/stage_block.h"
#include "shader/stage.h"
#include "memory/tags.h"
#include "memory/tiling.h"

/* Values that all lanes of a message share. */
struct attribute {
	unsigned int flags;		/* enum tsr_msg_attr */
	unsigned int components;
	unsigned int type;		/* enum tsr_register_type, or AUTO */
	uint64_t table;			/* of attributes … */
	uint32_t count;			/* number of entries of the table */
	bool outputs;			/* the table is that of the outputs of vertices */
	struct tsr_attribute_view *view;	/* of the last lane; NULL: there was none */
	/* of attribute @tagged, the last lane's that is an image with tags */
	bool has_meaning;
	uint32_t tagged;
	struct tsr_tag_meaning meaning;
	struct tsr_tag_last last;
};

/* beyond enum tsr_register_type: whatever suits the format */
#define AUTO 8

/* True if the buffer of @view is an image with tags. */
static bool has_tags(const struct tsr_attribute_view *view)
{
	return view->image && view->shape.tagged;
}

/* Where entry @index of the table of buffers is. */
static uint64_t entry_va(const struct tsr_msg_env *env, uint32_t index)
{
	return env->state->attribute_buffers + index * 16ull;
}

/* Where a copy of an entry of that table is to be read that has address @va. */
static uint64_t buffer_copy(const struct tsr_msg_env *env, uint64_t va)
{
	return va + env->copies->moved[TSR_PART_ATTRIBUTE_BUFFERS];
}

/* Likewise of the table of attributes, or of outputs. */
static uint64_t attribute_copy(const struct tsr_msg_env *env, bool outputs, uint64_t va)
{
	return va + env->copies->moved[outputs ? TSR_PART_VARYINGS : TSR_PART_ATTRIBUTES];
}

static enum tsr_step bad_state(struct tsr_msg_env *env, uint64_t va)
{
	return tsr_msg_fault(env, TSR_FAULT_SHADER_STATE, va, TSR_ACCESS_NONE);
}

/* Entry @index of the table of buffers, after what view->word has; else it is missing. */
static enum tsr_step read_entry(struct tsr_msg_env *env, uint32_t index,
				struct tsr_attribute_view *view)
{
	uint64_t *q = &view->word[view->words];
	enum tsr_step step;

	view->missing = index >= env->state->attribute_buffer_count;
	if (view->missing)
		return TSR_STEP_DONE;
	step = tsr_msg_descriptor(env, buffer_copy(env, entry_va(env, index)), q, 2);
	view->words += step == TSR_STEP_DONE ? 2 : 0;
	return step;
}

/* The continuation of a buffer that divides, or of an image: entry @index. */
static enum tsr_step read_continuation(struct tsr_msg_env *env, uint32_t index,
				       struct tsr_attribute_view *view)
{
	const uint64_t *q = &view->word[view->words];
	enum tsr_step step = read_entry(env, index, view);

	if (step != TSR_STEP_DONE || view->missing)
		return step;
	tsr_unpack_attribute_buffer_divisor(q, &view->divisor);
	tsr_unpack_attribute_buffer_image(q, &view->shape);
	view->add_instance = !view->image && view->divisor.add_instance;
	if (view->divisor.type != TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION)
		return bad_state(env, entry_va(env, index));
	return TSR_STEP_DONE;
}

/* The last continuation of an image with tags: entry @index. */
static enum tsr_step read_tags(struct tsr_msg_env *env, uint32_t index,
			       struct tsr_attribute_view *view)
{
	const uint64_t *q = &view->word[view->words];
	enum tsr_step step = read_entry(env, index, view);

	if (step != TSR_STEP_DONE || view->missing)
		return step;
	tsr_unpack_attribute_buffer_tags(q, &view->tags);
	if (view->tags.type != TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION || view->offset ||
	    !view->stride || view->stride != view->format.bytes)
		return bad_state(env, entry_va(env, index));
	return TSR_STEP_DONE;
}

/* The last continuation of a wide buffer: entry @index. */
static enum tsr_step read_wide(struct tsr_msg_env *env, uint32_t index,
			       struct tsr_attribute_view *view)
{
	const uint64_t *q = &view->word[view->words];
	struct tsr_attribute_buffer_wide wide;
	enum tsr_step step = read_entry(env, index, view);

	if (step != TSR_STEP_DONE || view->missing)
		return step;
	tsr_unpack_attribute_buffer_wide(q, &wide);
	if (wide.type != TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION)
		return bad_state(env, entry_va(env, index));
	view->stride |= (uint64_t)wide.stride_high << 32;
	view->size |= (uint64_t)wide.size_high << 32;
	view->wide = wide.stride_high || wide.size_high;
	return TSR_STEP_DONE;
}

/* True if the buffer is of a wide type; it is of the other one from now on. */
static bool set_wide(struct tsr_attribute_buffer *b)
{
	bool wide = b->type >= TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR_WIDE &&
		    b->type <= TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE_WIDE;

	if (wide)
		b->type -= TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR_WIDE -
			   TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR;
	return wide;
}

static enum tsr_step read_buffer(struct tsr_msg_env *env, uint32_t index,
				 struct tsr_attribute_view *view)
{
	const uint64_t *q = &view->word[view->words];
	enum tsr_step step = read_entry(env, index, view);
	bool wide;

	if (step != TSR_STEP_DONE || view->missing)
		return step;
	view->buffer_va = entry_va(env, index);
	tsr_unpack_attribute_buffer(q, &view->buffer);
	view->base = view->buffer.pointer;
	view->stride = view->buffer.stride;
	view->size = view->buffer.size;
	wide = set_wide(&view->buffer);
	switch (view->buffer.type) {
	case TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS:
	case TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS_REDUCED:
		if (view->buffer.divisor_odd > TSR_ATTRIBUTE_MODULUS_ODD_MAX)
			return bad_state(env, view->buffer_va);
		/* fall through */
	case TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR:
	case TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT:
	case TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT_REDUCED:
		return wide ? read_wide(env, index + 1, view) : TSR_STEP_DONE;
	case TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_LINEAR:
	case TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_TILED:
		view->image = true;
		/* fall through */
	case TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE:
	case TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE_REDUCED:
		step = read_continuation(env, index + 1, view);
		if (step != TSR_STEP_DONE || view->missing)
			return step;
		if (has_tags(view))
			return read_tags(env, index + 2, view);
		return wide ? read_wide(env, index + 2, view) : TSR_STEP_DONE;
	default:
		return bad_state(env, view->buffer_va);
	}
}

/* Derives values from the format, for loads without conversion. */
static void find_floats(struct tsr_attribute_view *view)
{
	static const uint8_t zeros[TSR_TEXEL_BYTES_MAX];
	union tsr_texel texel;
	uint32_t word[8];

	view->floats = tsr_format_floats(&view->format);
	if (!view->floats)
		return;
	tsr_format_load(&view->format, zeros, &texel);
	tsr_format_to_registers(&view->format, &texel, TSR_REGISTER_TYPE_F32, 4, word);
	memcpy(view->behind, word, sizeof(view->behind));
}

static enum tsr_step read_view(struct tsr_msg_env *env, const struct attribute *a, uint32_t index,
			       struct tsr_attribute_view *view)
{
	uint64_t va = a->table + index * 8ull;
	struct tsr_attribute attribute;
	enum tsr_step step;

	*view = (struct tsr_attribute_view){
		.table = a->table, .count = a->count, .index = index, .outputs = a->outputs,
		.buffers = env->state->attribute_buffers,
		.buffer_count = env->state->attribute_buffer_count, .missing = true,
	};
	if (index >= a->count) {
		view->valid = true;
		return TSR_STEP_DONE;
	}
	step = tsr_msg_descriptor(env, attribute_copy(env, a->outputs, va), view->word, 1);
	if (step != TSR_STEP_DONE)
		return step;
	view->words = 1;
	tsr_unpack_attribute(view->word, &attribute);
	if (attribute.big_endian ||
	    !tsr_format_find(&view->format, attribute.format, attribute.order, attribute.srgb))
		return bad_state(env, va);
	view->conversion = (uint32_t)view->word[0] >> 10;
	view->offset = attribute.offset;
	view->add_start = attribute.add_offset;
	step = read_buffer(env, attribute.buffer, view);
	view->output = a->outputs && !view->missing && !view->image && !view->base;
	view->valid = step == TSR_STEP_DONE;
	find_floats(view);
	return step;
}

/* True if @words of memory at @va, which is at hand, are @word. */
static bool still(const struct tsr_msg_env *env, uint64_t va, const uint64_t *word,
		  unsigned int words)
{
	const uint8_t *page = tsr_access_find(env->access, env->access->read, va);
	unsigned int offset = va % TSR_ACCESS_PAGE_BYTES;

	return page && offset + 8 * words <= TSR_ACCESS_PAGE_BYTES &&
	       !memcmp(page + offset, word, 8 * words);
}

/* Have a->view be that of @index. */
static inline enum tsr_step find_view(struct tsr_msg_env *env, struct attribute *a, uint32_t index)
{
	struct tsr_attribute_view *v;

	if (a->view && a->view->valid && a->view->index == index)
		return TSR_STEP_DONE;
	v = &env->views->view[(index ^ a->table / 64) % TSR_ATTRIBUTE_VIEWS];
	a->view = v;
	if (v->valid && v->index == index && v->table == a->table && v->count == a->count &&
	    v->outputs == a->outputs && v->buffers == env->state->attribute_buffers &&
	    v->buffer_count == env->state->attribute_buffer_count &&
	    (!v->words || still(env, attribute_copy(env, v->outputs, v->table + index * 8ull),
				v->word, 1)) &&
	    (v->words < 3 ||
	     still(env, buffer_copy(env, v->buffer_va), &v->word[1], v->words - 1u)))
		return TSR_STEP_DONE;
	return read_view(env, a, index, v);
}

/* Number of the element of a buffer that is not an image. */
static uint64_t element(const struct tsr_attribute_view *view, uint32_t n)
{
	const struct tsr_attribute_buffer *b = &view->buffer;

	switch (b->type) {
	case TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT:
	case TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT_REDUCED:
		return n >> b->divisor_shift;
	case TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS:
	case TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS_REDUCED:
		return n % ((2 * b->divisor_odd + 1ull) << b->divisor_shift);
	case TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE:
	case TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE_REDUCED:
		return ((n + (uint64_t)(b->divisor_odd & 1)) *
			(0x80000000u | view->divisor.magic)) >> 32 >> b->divisor_shift;
	default:
		return n;
	}
}

/* Byte of texel (@x, @y, @z) in its image; false: outside. */
static bool texel_at(const struct tsr_attribute_view *view, uint32_t x, uint32_t y, uint32_t z,
		     uint64_t *at)
{
	const struct tsr_attribute_buffer_image *s = &view->shape;
	uint64_t texel = x;
	uint64_t row = y;

	if (x > s->width || y > s->height || z > s->depth)
		return false;
	if (view->buffer.type == TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_TILED) {
		texel = x / TSR_TILE_DIM * TSR_TILE_TEXELS + tsr_tile_index(x, y);
		row = y / TSR_TILE_DIM;
	}
	*at = texel * view->buffer.stride + row * s->row_stride + (uint64_t)z * s->slice_stride;
	return true;
}

/* Number of the vertex of @lane in its draw: of all instances, each padded to the same number. */
static uint32_t linear_id(const struct tsr_msg_env *env, uint32_t vertex, uint32_t instance)
{
	return env->vertices ? vertex + instance * env->vertices->padded : vertex;
}

/* Address of an output of the vertex in @lane; false: what is written there is dropped. */
static bool locate_output(const struct tsr_msg_env *env, const struct tsr_attribute_view *view,
			  unsigned int lane, uint64_t *va)
{
	const struct tsr_vertex_run *v = env->vertices;
	unsigned int slot = v->slot[env->warp * TSR_WARP_LANES + lane];
	int64_t end = view->offset + view->format.bytes;

	if (v->position_output && !view->index) {
		*va = TSR_WINDOW_OUTPUT + slot * sizeof(v->record[0]);
		return env->stage == TSR_STAGE_POSITION;
	}
	if (!view->output || env->stage == TSR_STAGE_POSITION)
		return false;
	if (env->stage >= TSR_STAGE_VERTEX) {
		*va = TSR_WINDOW_STAGE_OUTPUT + view->offset;
		return env->stage != TSR_STAGE_HULL && view->offset >= 0 && end <= TSR_STAGE_BYTES;
	}
	*va = v->outputs + (uint64_t)slot * v->output_stride + view->offset;
	return view->offset >= 0 && end <= v->output_stride;
}

/* The amount that is added to the number of an element. */
static int64_t first_element(const struct tsr_msg_env *env, const struct tsr_attribute_view *view)
{
	const struct tsr_vertex_run *v = env->vertices;

	if (!v)
		return 0;
	return (view->add_start ? v->start : 0) +
	       (view->add_instance ? (int64_t)v->first_instance : 0);
}

/* Address of the element that sources @a and @b name; false: it is out of bounds. */
static bool locate(const struct tsr_msg_env *env, const struct tsr_attribute_view *view,
		   unsigned int flags, uint32_t a, uint32_t b, uint64_t *va)
{
	uint64_t at;

	if (view->missing)
		return false;
	if (!view->image) {
		at = element(view, linear_id(env, a, b)) + (uint64_t)first_element(env, view);
		if (__builtin_mul_overflow(at, view->stride, &at))
			return false;
	} else if (!(flags & TSR_MSG_ATTR_TEX) || !texel_at(view, a & 0xffff, a >> 16, b, &at))
		return false;
	/* farther than there are addresses, so that the sums below cannot overflow */
	if (at >> 57)
		return false;
	at += view->offset;
	if ((int64_t)at < 0 || at + view->format.bytes > view->size)
		return false;
	*va = view->base + at;
	return true;
}

static unsigned int register_type(const struct attribute *a, const struct tsr_format *format)
{
	if (a->type != AUTO)
		return a->type;
	if (format->kind == TSR_FORMAT_KIND_SINT)
		return TSR_REGISTER_TYPE_S32;
	return format->kind == TSR_FORMAT_KIND_UINT ? TSR_REGISTER_TYPE_U32
						    : TSR_REGISTER_TYPE_F32;
}

static enum tsr_step lea(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
			 const struct attribute *a, bool there, uint64_t va)
{
	unsigned int type = register_type(a, &a->view->format);

	(void)env;
	if (!there)
		va = TSR_WINDOW_VOID;
	tsr_msg_staging(msg, 0)->u[lane] = va;
	tsr_msg_staging(msg, 1)->u[lane] = va >> 32;
	tsr_msg_staging(msg, 2)->u[lane] = a->view->conversion |
					   type << TSR_CONVERSION_REGISTERS__SHIFT;
	return TSR_STEP_DONE;
}

/* True if @lane's message of an output goes where locate_output() says. */
static bool is_output(const struct tsr_msg_env *env, const struct attribute *a)
{
	if (!a->outputs || a->view->missing)
		return false;
	return a->view->output || (env->vertices->position_output &&
				   (!a->view->index || env->stage == TSR_STAGE_POSITION));
}

/*
 * Load floating point at @va into registers of that kind, if its page is at hand; false: nothing
 * has been done.
 */
static bool load_floats(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
			const struct attribute *a, uint64_t va)
{
	const struct tsr_attribute_view *view = a->view;
	unsigned int offset = va % TSR_ACCESS_PAGE_BYTES;
	uint32_t word[4];
	uint8_t *page;

	if (!view->floats || register_type(a, &view->format) != TSR_REGISTER_TYPE_F32 || va % 4 ||
	    va >> TSR_WINDOW_SHIFT || offset + view->format.bytes > TSR_ACCESS_PAGE_BYTES)
		return false;
	page = tsr_access_find(env->access, env->access->read, va);
	if (!page)
		return false;
	memcpy(word, view->behind, sizeof(word));
	memcpy(word, page + offset, view->format.bytes);
	for (unsigned int i = 0; i < a->components; i++)
		tsr_msg_staging(msg, i)->u[lane] = word[i];
	env->cost.read_bytes += view->format.bytes;
	return true;
}

/* Loads bytes that are fractions, into floating-point registers. */
static bool load_bytes(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
		       const struct attribute *a, uint64_t va)
{
	const struct tsr_format *format = &a->view->format;
	const float *table = tsr_format_bytes(false);
	const uint8_t *page;

	if (!format->plain || register_type(a, format) != TSR_REGISTER_TYPE_F32 ||
	    va % format->bytes || va >> TSR_WINDOW_SHIFT)
		return false;
	page = tsr_access_find(env->access, env->access->read, va);
	if (!page)
		return false;
	page += va % TSR_ACCESS_PAGE_BYTES;
	for (unsigned int i = 0; i < a->components; i++) {
		unsigned int from = format->from[i];

		tsr_msg_staging(msg, i)->f[lane] = from < 4 ? table[page[from]]
							    : from == TSR_COMPONENT_ONE;
	}
	env->cost.read_bytes += format->bytes;
	return true;
}

/* ---- Images with tags ------------------------------------------------------------------------ */

/* Have TAG_STATE of the image. Lanes that use one image read it once. */
static enum tsr_step find_meaning(struct tsr_msg_env *env, struct attribute *a)
{
	enum tsr_step step;

	if (a->has_meaning && a->tagged == a->view->index)
		return TSR_STEP_DONE;
	a->last.valid = false;
	a->tagged = a->view->index;
	step = tsr_tag_state_read(env->mem, a->view->tags.state, &a->meaning);
	a->has_meaning = step == TSR_STEP_DONE;
	return step;
}

/* The layer @z of the image, as a surface with tags. */
static enum tsr_step find_tagged(struct tsr_msg_env *env, struct attribute *a, uint32_t z,
				 struct tsr_tagged *t)
{
	const struct tsr_attribute_view *view = a->view;
	const struct tsr_attribute_buffer_image *s = &view->shape;
	enum tsr_step step = find_meaning(env, a);

	*t = (struct tsr_tagged){
		.base = view->base + (uint64_t)z * s->slice_stride,
		.tags = view->tags.tags + tsr_tag_bytes(s->width + 1, s->height + 1, z),
		.row_stride = s->row_stride,
		.width = s->width + 1, .height = s->height + 1, .bytes = view->format.bytes,
		.tiled = view->buffer.type == TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_TILED,
	};
	t->meaning = a->meaning;
	return step;
}

/* Have the block of texel @xy, @z in memory. */
static __attribute__((noinline))
enum tsr_step expand(struct tsr_msg_env *env, struct attribute *a, uint32_t xy, uint32_t z)
{
	struct tsr_tagged t;
	enum tsr_step step = find_tagged(env, a, z, &t);

	return step != TSR_STEP_DONE ? step :
	       tsr_tagged_expand(env->mem, &t, xy & 0xffff, xy >> 16, &a->last);
}

/* Load texel @xy, @z, which is at @va if its block is in memory. */
static __attribute__((noinline))
enum tsr_step load_tagged(struct tsr_msg_env *env, struct attribute *a, uint32_t xy, uint32_t z,
			  uint64_t va, union tsr_texel *texel)
{
	const struct tsr_attribute_view *view = a->view;
	uint8_t bytes[TSR_TEXEL_BYTES_MAX];
	struct tsr_tagged t;
	enum tsr_step step = find_tagged(env, a, z, &t);

	if (va % view->format.align)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, va, TSR_ACCESS_READ);
	if (step == TSR_STEP_DONE)
		step = tsr_tagged_read(env->mem, &t, xy & 0xffff, xy >> 16, &a->last, bytes);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_format_load(&view->format, bytes, texel);
	env->cost.read_bytes += view->format.bytes;
	return TSR_STEP_DONE;
}

static enum tsr_step attribute_lane(struct tsr_msg_env *env, struct tsr_msg *msg,
				    unsigned int lane, const void *arg)
{
	struct attribute *a = *(struct attribute *const *)arg;
	uint32_t index = a->flags & TSR_MSG_ATTR_IMM ? msg->insn->imm[TSR_IMM_ATTRIBUTE_INDEX]
						     : msg->src[2]->u[lane];
	enum tsr_step step = find_view(env, a, index);
	uint32_t word[8] = { 0 };
	union tsr_texel texel;
	uint64_t va = 0;
	unsigned int type;
	bool there, tagged;

	if (step != TSR_STEP_DONE)
		return step;
	if (is_output(env, a))
		there = locate_output(env, a->view, lane, &va);
	else
		there = locate(env, a->view, a->flags, msg->src[0]->u[lane],
			       msg->src[1]->u[lane], &va);
	tagged = there && has_tags(a->view);
	if (a->flags & TSR_MSG_ATTR_LEA) {
		if (tagged)
			step = expand(env, a, msg->src[0]->u[lane], msg->src[1]->u[lane]);
		return step == TSR_STEP_DONE ? lea(env, msg, lane, a, there, va) : step;
	}
	if (there && !tagged &&
	    (load_floats(env, msg, lane, a, va) || load_bytes(env, msg, lane, a, va)))
		return TSR_STEP_DONE;
	if (tagged)
		step = load_tagged(env, a, msg->src[0]->u[lane], msg->src[1]->u[lane], va, &texel);
	else if (there)
		step = tsr_msg_load_texel(env, lane, va, &a->view->format, &texel);
	if (step != TSR_STEP_DONE)
		return step;
	type = register_type(a, &a->view->format);
	if (there)
		tsr_format_to_registers(&a->view->format, &texel, type, a->components, word);
	for (unsigned int i = 0; i < tsr_register_words(type, a->components); i++)
		tsr_msg_staging(msg, i)->u[lane] = word[i];
	return TSR_STEP_DONE;
}

enum tsr_step tsr_attribute_fetch(struct tsr_msg_env *env, unsigned int lane, uint32_t index,
				  uint32_t vertex, uint32_t instance, uint32_t word[4])
{
	struct attribute a = {
		.components = 4, .type = AUTO, .table = env->state->attributes,
		.count = env->state->attribute_count,
	};
	enum tsr_step step = find_view(env, &a, index);
	union tsr_texel texel;
	uint32_t all[8];
	uint64_t va;

	memset(word, 0, 4 * sizeof(word[0]));
	if (step != TSR_STEP_DONE || !locate(env, a.view, 0, vertex, instance, &va))
		return step;
	step = tsr_msg_load_texel(env, lane, va, &a.view->format, &texel);
	if (step != TSR_STEP_DONE)
		return step;
	/* 64-bit types, which no format has by itself, would fill all of it */
	tsr_format_to_registers(&a.view->format, &texel, register_type(&a, &a.view->format), 4,
				all);
	memcpy(word, all, 4 * sizeof(word[0]));
	return TSR_STEP_DONE;
}

/* Types of the ISA's register_format as descriptors number them. */
static const unsigned int types[] = {
	[TSR_REGISTER_FORMAT_F16] = TSR_REGISTER_TYPE_F16,
	[TSR_REGISTER_FORMAT_F32] = TSR_REGISTER_TYPE_F32,
	[TSR_REGISTER_FORMAT_S32] = TSR_REGISTER_TYPE_S32,
	[TSR_REGISTER_FORMAT_U32] = TSR_REGISTER_TYPE_U32,
	[TSR_REGISTER_FORMAT_S16] = TSR_REGISTER_TYPE_S16,
	[TSR_REGISTER_FORMAT_U16] = TSR_REGISTER_TYPE_U16,
	[TSR_REGISTER_FORMAT_F64] = TSR_REGISTER_TYPE_F64,
	[TSR_REGISTER_FORMAT_I64] = TSR_REGISTER_TYPE_I64,
	[TSR_REGISTER_FORMAT_AUTO] = AUTO,
};

/* The attribute that message @insn, with @select, names. */
static struct attribute attribute_of(const struct tsr_msg_env *env, const struct tsr_insn *insn,
				     const struct tsr_insn *select, unsigned int flags)
{
	struct attribute a = {
		.flags = flags, .components = insn->mod[TSR_MOD_VECSIZE] + 1,
		.type = types[insn->mod[TSR_MOD_REGISTER_FORMAT]],
		.table = env->state->attributes, .count = env->state->attribute_count,
	};

	/* Vertex programs have a second table, of what they write; others have but one. */
	if (flags & TSR_MSG_ATTR_LEA && env->vertices && !select) {
		a.table = env->program->varyings;
		a.count = env->program->varying_count;
		a.outputs = true;
	}
	return a;
}

enum tsr_step tsr_msg_attribute(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	const struct tsr_insn *select = msg->pair_insn;
	struct attribute a = attribute_of(env, msg->insn, select, arg);
	struct attribute *const all = &a;

	if (select && select->op == TSR_OP_FMA_DTSEL_IMM &&
	    select->mod[TSR_MOD_TABLE] != TSR_TABLE_ATTRIBUTE_1) {
		msg->fault_lane = msg->lanes ? __builtin_ctz(msg->lanes) : 0;
		env->mem->unit = TSR_UNIT_SHADER;
		return tsr_msg_fault(env, TSR_FAULT_SHADER_UNSUPPORTED, 0, TSR_ACCESS_NONE);
	}
	return tsr_msg_each(env, msg, attribute_lane, &all);
}

/* ---- Bundles --------------------------------------------------------------------------------- */

/* Outputs of vertices: one address after the other, by slot. */
static unsigned int output_addresses(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				     unsigned int first, const struct attribute *a)
{
	const struct tsr_vertex_run *v = env->vertices;
	const struct tsr_attribute_view *view = a->view;
	uint64_t base = TSR_WINDOW_VOID, step = 0;
	uint32_t word = view->conversion |
			register_type(a, &view->format) << TSR_CONVERSION_REGISTERS__SHIFT;
	unsigned int i;

	if (v->position_output && !view->index && env->stage == TSR_STAGE_POSITION) {
		base = TSR_WINDOW_OUTPUT;
		step = sizeof(v->record[0]);
	} else if (env->stage >= TSR_STAGE_VERTEX) {
		if (view->output && view->offset >= 0 && env->stage != TSR_STAGE_HULL &&
		    view->offset + view->format.bytes <= TSR_STAGE_BYTES)
			base = TSR_WINDOW_STAGE_OUTPUT + view->offset;
	} else if (!(v->position_output && !view->index) && view->output &&
		   env->stage != TSR_STAGE_POSITION && view->offset >= 0 &&
		   view->offset + view->format.bytes <= v->output_stride) {
		base = v->outputs + view->offset;
		step = v->output_stride;
	}
	for (i = first; i < b->warps; i++) {
		unsigned int w = b->warp[i];
		const uint16_t *slot = &v->slot[w * TSR_WARP_LANES];
		union tsr_lanes lo, hi, words;

		for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
			uint64_t va = base + slot[l] * step;

			lo.u[l] = va;
			hi.u[l] = va >> 32;
			words.u[l] = word;
		}
		tsr_msg_move(tsr_msg_bundle_staging(b, w, 0), &lo, b->lanes[w]);
		tsr_msg_move(tsr_msg_bundle_staging(b, w, 1), &hi, b->lanes[w]);
		tsr_msg_move(tsr_msg_bundle_staging(b, w, 2), &words, b->lanes[w]);
	}
	return i;
}

/* Elements of a buffer in 32-bit floating point, into registers of that kind. */
static unsigned int load_elements(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				  unsigned int first, const struct attribute *a)
{
	const struct tsr_attribute_view *view = a->view;
	const struct tsr_attribute_buffer *buffer = &view->buffer;
	int64_t start = first_element(env, view);
	struct tsr_msg_elements e = {
		.base = view->base, .offset = view->offset, .size = buffer->size,
		.stride = buffer->stride,
		.start = (int32_t)start,
		.padded = env->vertices ? env->vertices->padded : 0,
		.words = view->floats, .components = a->components, .behind = view->behind,
		.shift = buffer->divisor_shift, .add = buffer->divisor_odd & 1,
		.magic = view->divisor.magic | 0x80000000u,
		.modulus = (2 * buffer->divisor_odd + 1ull) << buffer->divisor_shift,
	};

	if (view->missing || view->image || view->wide || !view->floats ||
	    start != (int32_t)start ||
	    register_type(a, &view->format) != TSR_REGISTER_TYPE_F32)
		return first;
	switch (buffer->type) {
	case TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT:
	case TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT_REDUCED:
		e.mode = TSR_MSG_ELEMENT_SHIFT;
		break;
	case TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS:
	case TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS_REDUCED:
		e.mode = TSR_MSG_ELEMENT_MODULUS;
		break;
	case TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE:
	case TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE_REDUCED:
		e.mode = TSR_MSG_ELEMENT_DIVIDE;
		break;
	}
	return env->path->elements(env, b, first, &e);
}

/* Prepare the image of @view for vectors; false: it is too large, or where addresses carry. */
static bool find_image(const struct tsr_attribute_view *view, struct tsr_msg_image *s)
{
	const struct tsr_attribute_buffer_image *i = &view->shape;
	const bool tiled = view->buffer.type == TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_TILED;
	const uint64_t texels = tiled ? (i->width / TSR_TILE_DIM + 1ull) * TSR_TILE_TEXELS
				      : i->width + 1ull;
	const uint64_t rows = tiled ? i->height / TSR_TILE_DIM : i->height;
	uint64_t end;

	if (view->missing || !view->image || has_tags(view) || view->offset < 0 ||
	    view->offset > INT32_MAX || view->size < view->format.bytes)
		return false;
	end = (uint64_t)view->offset + texels * view->buffer.stride + rows * i->row_stride +
	      (uint64_t)i->depth * i->slice_stride;
	*s = (struct tsr_msg_image){
		.tiled = tiled, .width = i->width, .height = i->height, .depth = i->depth,
		.stride = view->buffer.stride, .row_stride = i->row_stride,
		.slice_stride = i->slice_stride, .offset = (uint32_t)view->offset,
		.last = view->size - view->format.bytes < INT32_MAX
				? (uint32_t)(view->size - view->format.bytes) : INT32_MAX,
	};
	return end <= INT32_MAX && (uint32_t)view->base + end <= UINT32_MAX;
}

/* Addresses and conversions of texels at @lo and @hi, the void window's of those not @there. */
static void give_texels(const struct tsr_msg_bundle *b, unsigned int w, const struct attribute *a,
			union tsr_lanes *lo, union tsr_lanes *hi, uint16_t there)
{
	const uint32_t word = a->view->conversion | register_type(a, &a->view->format)
							    << TSR_CONVERSION_REGISTERS__SHIFT;
	union tsr_lanes words;

	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		words.u[l] = word;
		lo->u[l] = there >> l & 1 ? lo->u[l] : 0;
		hi->u[l] = there >> l & 1 ? hi->u[l] : TSR_WINDOW_VOID >> 32;
	}
	tsr_msg_move(tsr_msg_bundle_staging(b, w, 0), lo, b->lanes[w]);
	tsr_msg_move(tsr_msg_bundle_staging(b, w, 1), hi, b->lanes[w]);
	tsr_msg_move(tsr_msg_bundle_staging(b, w, 2), &words, b->lanes[w]);
}

/* Texels of one image, the one that the first warp names: loads, or addresses. */
static unsigned int image_texels(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				 unsigned int first, struct attribute *a)
{
	const union tsr_lanes *index = b->src[2] + b->warp[first] * b->src_step[2];
	struct tsr_pixels p = { .components = a->components };
	struct tsr_msg_image image;

	if (find_view(env, a, index->u[__builtin_ctz(b->lanes[b->warp[first]])]) !=
		    TSR_STEP_DONE || is_output(env, a) || !find_image(a->view, &image))
		return first;
	p.format = &a->view->format;
	p.type = register_type(a, p.format);
	for (; first < b->warps; first++) {
		const unsigned int w = b->warp[first];
		union tsr_lanes lo, hi;
		uint16_t there;

		if (!tsr_msg_all_are(b->src[2] + w * b->src_step[2], a->view->index, b->lanes[w]))
			break;
		there = env->path->image(&image, b->src[0] + w * b->src_step[0],
					 b->src[1] + w * b->src_step[1], &lo) & b->lanes[w];
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
			lo.u[l] += (uint32_t)a->view->base;
			hi.u[l] = a->view->base >> 32;
		}
		if (a->flags & TSR_MSG_ATTR_LEA)
			give_texels(b, w, a, &lo, &hi, there);
		else if (!tsr_pixels_load(env, b, w, &p, &lo, &hi, there))
			break;
	}
	return first;
}

/* True if tables are those that instructions have without a selector in @pair. */
static bool is_first_table(const struct tsr_insn *pair)
{
	return !pair || (pair->op == TSR_OP_FMA_DTSEL_IMM &&
			 pair->mod[TSR_MOD_TABLE] == TSR_TABLE_ATTRIBUTE_1);
}

unsigned int tsr_msg_attribute_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
					unsigned int first, unsigned int arg)
{
	struct attribute a = attribute_of(env, b->insn, b->pair_insn, arg);

	if (arg & TSR_MSG_ATTR_TEX)
		return is_first_table(b->pair_insn) ? image_texels(env, b, first, &a) : first;
	if (!(arg & TSR_MSG_ATTR_IMM) || b->pair_insn ||
	    find_view(env, &a, b->insn->imm[TSR_IMM_ATTRIBUTE_INDEX]) != TSR_STEP_DONE)
		return first;
	if (!(arg & TSR_MSG_ATTR_LEA))
		return load_elements(env, b, first, &a);
	return is_output(env, &a) ? output_addresses(env, b, first, &a) : first;
}

unsigned int tsr_attributes_fetch(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				  unsigned int first, uint32_t index, unsigned int components)
{
	struct attribute a = {
		.components = components, .type = AUTO, .table = env->state->attributes,
		.count = env->state->attribute_count,
	};
	struct tsr_msg_bundle by_vertex = *b;

	if (find_view(env, &a, index) != TSR_STEP_DONE)
		return first;
	/* one vertex a thread, as the sources of LD_ATTR in a vertex shader are */
	by_vertex.src[0] = (const union tsr_lanes *)(const void *)env->vertices->vertex;
	by_vertex.src[1] = (const union tsr_lanes *)(const void *)env->vertices->instance;
	by_vertex.src_step[0] = by_vertex.src_step[1] = 1;
	return load_elements(env, &by_vertex, first, &a);
}
