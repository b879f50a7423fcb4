/* SPDX-License-Identifier: MIT */
/*
 * Tables of a vertex shader: attributes with the buffers they are in, and outputs. Each attribute
 * has a buffer entry of its own, so that an offset never has to be negative or far.
 */
#include "util/u_math.h"

#include "tg_draw.h"
#include "tc_format.h"
#include "tg_resource.h"

#define BUFFER_ALIGN	64u	/* of ATTRIBUTE_BUFFER.POINTER */
#define ENTRIES		2u	/* of an attribute: its buffer, and what continues it */

/*
 * The multiplier of a division by a number that is no power of two; in integers, floats get some of
 * them wrong.
 */
static void divide_by(uint32_t divisor, struct tsr_attribute_buffer *b,
		      struct tsr_attribute_buffer_divisor *rest)
{
	const uint32_t shift = 31 - (uint32_t)__builtin_clz(divisor);
	const uint64_t power = 1ull << (32 + shift);
	const uint64_t down = power / divisor, left = power % divisor;

	/* round the multiplier down and the number up where that is exact, else the other way */
	b->type = TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE;
	b->divisor_shift = shift;
	b->divisor_odd = left <= 1ull << shift;
	rest->magic = (uint32_t)(b->divisor_odd ? down : down + 1) & 0x7fffffffu;
	rest->divisor = divisor;
}

/* Which element of the buffer is whose. */
static void address(const struct pipe_vertex_element *e, const struct tg_instancing *n,
		    struct tsr_attribute_buffer *b, struct tsr_attribute_buffer_divisor *rest)
{
	const uint64_t threads = n->padded * e->instance_divisor;

	b->type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR;
	if (!e->instance_divisor && n->padded) {
		b->type = TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS;
		b->divisor_odd = n->odd;
		b->divisor_shift = n->shift;
	} else if (e->instance_divisor && (!n->padded || threads >> 32)) {
		b->stride = 0;		/* element 0 is everybody's */
	} else if (e->instance_divisor && util_is_power_of_two_nonzero64(threads)) {
		b->type = TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT;
		b->divisor_shift = (uint32_t)util_logbase2_64(threads);
	} else if (e->instance_divisor) {
		divide_by((uint32_t)threads, b, rest);
	}
}

/* One attribute: the word of it, and its buffer's entries. */
static uint64_t write_attribute(struct tg_context *ctx, struct tg_batch *batch, unsigned i,
				const struct tg_instancing *n, uint64_t *entries)
{
	const struct pipe_vertex_element *e = &ctx->elements->element[i];
	const struct pipe_vertex_buffer *v = &ctx->vertex_buffers[e->vertex_buffer_index];
	const struct tc_format *f = tc_format((enum pipe_format)e->src_format);
	struct tg_resource *r = tg_resource(v->buffer.resource);
	struct tsr_attribute word = {
		.buffer = ENTRIES * i,
		.add_offset = !e->instance_divisor,
		.order = f->order,
		.format = f->format,
	};
	struct tsr_attribute_buffer b = { .stride = e->src_stride };
	struct tsr_attribute_buffer_divisor rest = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION
	};
	uint64_t start, packed, va, end;

	address(e, n, &b, &rest);
	if (r) {
		start = v->buffer_offset + e->src_offset;
		if (e->instance_divisor)
			start += (uint64_t)n->first * e->src_stride;
		start = MIN2(start, r->base.width0);
		va = r->bo->va + r->offset + start;
		end = r->bo->va + r->offset + r->base.width0;
		word.offset = (int32_t)(va % BUFFER_ALIGN);
		b.pointer = va - word.offset;
		b.size = (uint32_t)MIN2(end - b.pointer, UINT32_MAX);
		tg_batch_use_binned(batch, r->bo);
	} else {
		b.stride = 0;
	}
	tsr_pack_attribute_buffer(entries, &b);
	tsr_pack_attribute_buffer_divisor(entries + 2, &rest);
	tsr_pack_attribute(&packed, &word);
	return packed;
}

/* ---- Outputs --------------------------------------------------------------------------------- */

/* A vertex's outputs begin after the position and other fixed words of stage I/O memory. */
#define SPACE_OUTPUTS	0x80

static uint32_t space_offset(const struct tg_variant *v, gl_varying_slot location)
{
	const int byte = tg_space_byte(location);
	const unsigned word = (unsigned)byte / 4;

	if (byte < SPACE_OUTPUTS || tc_in_record(location) ||
	    !(v->space.out[word / 64] >> word % 64 & 15))
		return TSR_VERTEX_OUTPUT_MAX;
	return (uint32_t)byte - SPACE_OUTPUTS;
}

/* As far as the last one that @fs reads. */
static uint32_t space_stride(const struct tg_variant *v, const struct tg_variant *fs)
{
	uint32_t i, offset, stride = 0;

	for (i = 0; fs && i < fs->info.varyings.input_count; i++) {
		offset = space_offset(v, fs->info.varyings.input[i].location);
		if (offset != TSR_VERTEX_OUTPUT_MAX)
			stride = MAX2(stride, offset + 16);
	}
	return stride;
}

enum pipe_format tg_output_format(const struct tg_variant *last, enum pipe_format format)
{
	if (format == PIPE_FORMAT_NONE)
		return PIPE_FORMAT_R32_FLOAT;
	if (!last->in_space)
		return format;
	return util_format_is_pure_uint(format)	  ? PIPE_FORMAT_R32G32B32A32_UINT
	       : util_format_is_pure_sint(format) ? PIPE_FORMAT_R32G32B32A32_SINT
						  : PIPE_FORMAT_R32G32B32A32_FLOAT;
}

uint32_t tg_output_offset(const struct tg_variant *vs, gl_varying_slot location)
{
	return vs->in_space ? space_offset(vs, location) : tc_output_offset(&vs->info, location);
}

uint32_t tg_output_stride(const struct tg_variant *vs, const struct tg_variant *fs)
{
	return vs->in_space ? space_stride(vs, fs) : tc_output_bytes(&vs->info);
}

bool tg_vertex_write(struct tg_context *ctx, struct tg_batch *batch, const struct tg_instancing *n)
{
	const struct tg_variant *vs = ctx->stage[PIPE_SHADER_VERTEX].variant;
	const struct tg_variant *fs = ctx->stage[PIPE_SHADER_FRAGMENT].variant;
	const unsigned count = ctx->elements ? ctx->elements->count : 0,
		       outputs = vs->info.varyings.output_count;
	const struct tsr_attribute_buffer out = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR,
		.stride = tg_output_stride(vs, fs),
		.size = UINT32_MAX,
	};
	uint64_t *attributes, *buffers;
	unsigned i;

	attributes = tg_batch_alloc(batch, (count + outputs + 1) * 8, 64, &ctx->attributes_va);
	buffers = tg_batch_alloc(batch, (ENTRIES * count + 1) * 16, 64, &ctx->attribute_buffers_va);
	if (!attributes || !buffers)
		return false;
	for (i = 0; i < count; i++)
		attributes[i] = write_attribute(ctx, batch, i, n, buffers + 2 * ENTRIES * i);
	for (i = 0; i < outputs; i++)
		attributes[count + i] = tc_output_word(&vs->info, fs ? &fs->info : NULL, i,
						       ENTRIES * count);
	tsr_pack_attribute_buffer(buffers + 2 * ENTRIES * count, &out);
	ctx->attribute_count = count;
	ctx->attribute_buffer_count = ENTRIES * count + 1;
	return true;
}
