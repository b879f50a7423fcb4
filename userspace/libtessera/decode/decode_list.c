// SPDX-License-Identifier: MIT
/*
 * Control lists, as they would be run, with the structures they name. Nothing is believed: nesting,
 * jumps and what is printed have limits, and what is not in memory is said so.
 */
#include <inttypes.h>
#include <string.h>

#include "decode_print.h"
#include <tessera/decode.h>
#include "tsr_desc.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define PACKETS_MAX	1000000u	/* printed of one list, with all it calls */
#define SEEN		512u		/* addresses of structures printed last */

struct walk {
	FILE *out;
	const struct tsr_decode_memory *memory;
	struct tsr_decode_options options;
	unsigned long errors;
	uint32_t packets, depth;
	uint64_t seen[SEEN];
	uint32_t seen_next;
};

static bool seen(struct walk *w, uint64_t va)
{
	uint32_t i;

	for (i = 0; i < SEEN; i++) {
		if (w->seen[i] == va)
			return true;
	}
	w->seen[w->seen_next++ % SEEN] = va;
	return false;
}

static void absent(struct walk *w, const char *what, uint64_t va)
{
	fprintf(w->out, "    %s at 0x%012" PRIx64 " is not among the bytes\n", what, va);
}

/* Print @name at @va into @state unless it was printed before; whether it can be looked into. */
static bool print_struct(struct walk *w, const char *name, uint64_t va,
			 struct tsr_decode_packet *state)
{
	const struct tsr_desc_struct *desc = tsr_decode_struct(name);
	const void *bytes;

	if (!va || seen(w, va))
		return false;
	bytes = w->memory->at(w->memory->context, va, desc->qwords * 8);
	if (!bytes) {
		absent(w, name, va);
		return false;
	}
	tsr_decode_fields(desc, bytes, state);
	state->address = va;
	tsr_print_struct(w->out, desc, state, true, w->options.flags);
	w->errors += state->num_errors;
	return true;
}

static void print_array(struct walk *w, const char *name, uint64_t va, uint32_t count,
			uint32_t stride)
{
	struct tsr_decode_packet state;
	uint32_t i;

	for (i = 0; i < count; i++)
		print_struct(w, name, va + (uint64_t)i * stride, &state);
}

static void print_program(struct walk *w, uint64_t va)
{
	struct tsr_decode_packet state;
	struct tsr_shader_program p;

	if (!print_struct(w, "SHADER_PROGRAM", va, &state))
		return;
	tsr_unpack_shader_program(state.qwords, &p);
	print_array(w, "ATTRIBUTE", p.attributes, p.attribute_count, TSR_ATTRIBUTE__QWORDS * 8);
	print_array(w, "ATTRIBUTE", p.varyings, p.varying_count, TSR_ATTRIBUTE__QWORDS * 8);
	print_array(w, "ATTRIBUTE_BUFFER", p.attribute_buffers, p.attribute_buffer_count,
		    TSR_ATTRIBUTE_BUFFER__QWORDS * 8);
	print_array(w, "UNIFORM_BUFFER", p.uniform_buffers, p.uniform_buffer_count,
		    TSR_UNIFORM_BUFFER__QWORDS * 8);
	print_array(w, "TEXTURE", p.textures, p.texture_count, TSR_TEXTURE__QWORDS * 8);
	print_array(w, "SAMPLER", p.samplers, p.sampler_count, TSR_SAMPLER__QWORDS * 8);
	print_array(w, "STAGE_HEADER", p.header, p.header != 0, TSR_STAGE_HEADER__QWORDS * 8);
}

static void print_geometry_state(struct walk *w, uint64_t va)
{
	struct tsr_decode_packet state;
	struct tsr_geometry_state g;

	if (!print_struct(w, "GEOMETRY_STATE", va, &state))
		return;
	tsr_unpack_geometry_state(state.qwords, &g);
	print_array(w, "STREAM_ENTRY", g.declaration, g.entries, TSR_STREAM_ENTRY__QWORDS * 8);
}

static void print_shader_state(struct walk *w, uint64_t va)
{
	struct tsr_decode_packet state;
	struct tsr_shader_state s;

	if (!print_struct(w, "SHADER_STATE", va, &state))
		return;
	tsr_unpack_shader_state(state.qwords, &s);
	print_geometry_state(w, s.geometry);
	print_program(w, s.position);
	print_program(w, s.varying);
	print_program(w, s.fragment);
}

static void print_draw_state(struct walk *w, uint64_t va)
{
	struct tsr_decode_packet state;
	struct tsr_draw_state d;

	if (!print_struct(w, "DRAW_STATE", va, &state))
		return;
	tsr_unpack_draw_state(state.qwords, &d);
	print_array(w, "VIEWPORT", d.viewports, d.viewport_count, TSR_VIEWPORT__QWORDS * 8);
	print_array(w, "BLEND", d.blends, d.blend_count, TSR_BLEND__QWORDS * 8);
}

static void print_frame(struct walk *w, uint64_t va)
{
	struct tsr_decode_packet state;
	struct tsr_frame f;

	if (!print_struct(w, "FRAME", va, &state))
		return;
	tsr_unpack_frame(state.qwords, &f);
	print_array(w, "RENDER_TARGET", f.colour, f.targets, TSR_RENDER_TARGET__QWORDS * 8);
	print_array(w, "RENDER_TARGET", f.depth, f.has_depth, TSR_RENDER_TARGET__QWORDS * 8);
	print_array(w, "RENDER_TARGET", f.stencil, f.has_stencil, TSR_RENDER_TARGET__QWORDS * 8);
}

/* One packet at @va, its bytes up to @end; false: nothing can follow. */
static bool fetch(struct walk *w, uint64_t va, uint64_t end, struct tsr_decode_packet *packet)
{
	const void *bytes = w->memory->at(w->memory->context, va, 8);
	struct tsr_decode_options options = w->options;
	struct tsr_decoder decoder;
	uint64_t header, size;

	if (!bytes || end - va < 8) {
		absent(w, "the list", va);
		w->errors++;
		return false;
	}
	memcpy(&header, bytes, 8);
	size = 8 * (uint64_t)tsr_packet_qwords(header);
	size = size && size <= end - va ? size : 8;
	bytes = w->memory->at(w->memory->context, va, size);
	if (!bytes) {
		absent(w, "the list", va + 8);
		w->errors++;
		return false;
	}
	options.base = va;
	options.flags |= TSR_DECODE_LIST;
	tsr_decode_begin(&decoder, bytes, size, &options);
	tsr_decode_next(&decoder, packet);
	tsr_print_packet(w->out, packet, options.flags);
	w->errors += packet->num_errors;
	return !packet->num_errors && ++w->packets < PACKETS_MAX;
}

static void run(struct walk *w, uint64_t va, uint64_t size);

static void call(struct walk *w, uint64_t va, uint64_t size)
{
	if (w->depth == TSR_LIST_NESTING_MAX || seen(w, va))
		return;
	w->depth++;
	run(w, va, size);
	w->depth--;
}

/* Prints the structures that a packet names. */
static void follow(struct walk *w, const struct tsr_decode_packet *packet)
{
	const uint64_t *q = packet->qwords;

	switch (packet->desc->opcode) {
	case TSR_OP_LIST_SHADER_STATE:
		print_shader_state(w, q[1]);
		break;
	case TSR_OP_LIST_DRAW_STATE:
		print_draw_state(w, q[1]);
		break;
	case TSR_OP_LIST_STREAM_OUT:
		print_array(w, "STREAM_TARGET", q[1], q[1] ? TSR_STREAM_OUT_TARGETS : 0,
			    TSR_STREAM_TARGET__QWORDS * 8);
		break;
	case TSR_OP_LIST_CALL:
		call(w, q[1], (uint32_t)q[2]);
		break;
	case TSR_OP_LIST_TILES:
		call(w, q[3], (uint32_t)q[4]);
		break;
	default:
		break;
	}
}

static void run(struct walk *w, uint64_t va, uint64_t size)
{
	uint64_t end = va + size;
	struct tsr_decode_packet packet;
	uint8_t opcode;

	while (va != end && fetch(w, va, end, &packet)) {
		opcode = packet.desc->opcode;
		va += 8 * (uint64_t)packet.num_qwords;
		if (opcode == TSR_OP_LIST_HALT || opcode == TSR_OP_LIST_RETURN)
			return;
		if (opcode == TSR_OP_LIST_JUMP) {
			va = packet.qwords[1];
			end = va + (uint32_t)packet.qwords[2];
			if (seen(w, va)) {
				fprintf(w->out, "    and so on\n");
				return;
			}
			continue;
		}
		follow(w, &packet);
	}
}

unsigned long tsr_decode_list(FILE *out, const struct tsr_decode_memory *memory, uint64_t va,
			      uint32_t size, uint64_t frame,
			      const struct tsr_decode_options *options)
{
	struct walk w = { .out = out, .memory = memory, .options = *options };

	w.options.flags &= TSR_DECODE_RAW;
	print_frame(&w, frame);
	run(&w, va, size);
	return w.errors;
}
