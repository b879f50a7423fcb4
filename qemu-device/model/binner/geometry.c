/* SPDX-License-Identifier: MIT */
/*
 * Draws with GEOMETRY: the vertex shader's attribute space, and what the fixed functions take from
 * it. The batch is shaded whole in the binning pass, so its record has the outputs, too.
 */
#include "bin.h"

#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "stages.h"

enum tsr_step tsr_geometry_begin(struct tsr_binning *bin, struct tsr_mem *mem)
{
	bin->stages->streams = 1;
	return tsr_stream_begin(bin, mem);
}

/* What fixed functions read of a vertex. */
static void find_wanted(const struct tsr_shader_state *s, struct tsr_stage_map *map)
{
	unsigned int distances = s->clip_distances | s->cull_distances;

	memset(map, 0, sizeof(*map));
	for (unsigned int i = 0; i < 4; i++)
		tsr_stage_add(map, TSR_STAGE_POSITION_X + i);
	if (s->writes_point_size)
		tsr_stage_add(map, TSR_STAGE_POINT_SIZE);
	if (s->writes_layer)
		tsr_stage_add(map, TSR_STAGE_LAYER);
	if (s->writes_viewport)
		tsr_stage_add(map, TSR_STAGE_VIEWPORT);
	for (unsigned int i = 0; i < TSR_CLIP_DISTANCES_MAX; i++) {
		if (distances >> i & 1)
			tsr_stage_add(map, TSR_STAGE_DISTANCES + i);
	}
	for (unsigned int i = 0; i < s->output_stride / 4u; i++) {
		if (TSR_STAGE_GENERIC + i < TSR_STAGE_WORDS)
			tsr_stage_add(map, TSR_STAGE_GENERIC + i);
	}
}

/* Words a vertex shader can have from the device. */
static void find_hardware(struct tsr_stage_map *map)
{
	memset(map, 0, sizeof(*map));
	for (unsigned int n = TSR_STAGE_GENERIC; n < TSR_STAGE_GENERIC_END; n++)
		tsr_stage_add(map, n);
	tsr_stage_add(map, TSR_STAGE_INSTANCE_ID);
	tsr_stage_add(map, TSR_STAGE_VERTEX_ID);
}

static void find_maps(const struct tsr_stages *stages, struct tsr_stage_block *b,
		      const struct tsr_shader_state *s, const struct tsr_stage_header *h)
{
	const uint64_t imap[] = { h->imap_0, h->imap_1, h->imap_2, h->imap_3 };
	const uint64_t omap[] = { h->omap_0, h->omap_1, h->omap_2, h->omap_3 };
	struct tsr_stage_map required = { { 0 } };

	for (unsigned int n = h->required_first; n <= h->required_last; n++)
		tsr_stage_add(&required, n);
	find_wanted(s, &b->wanted);
	find_hardware(&b->in);
	for (unsigned int i = 0; i < TSR_STAGE_WORDS / 64; i++) {
		uint64_t declared = 0;

		for (unsigned int n = 0; n < TSR_STREAM_OUT_STREAMS; n++)
			declared |= stages->declared[n].word[i];
		b->in.word[i] &= imap[i];
		b->out.word[i] = omap[i] & (b->wanted.word[i] | declared | required.word[i]);
		b->wanted.word[i] &= omap[i];
	}
}

enum tsr_step tsr_geometry_bind(struct tsr_binning *bin, struct tsr_mem *mem)
{
	const uint64_t position = 15ull << TSR_STAGE_POSITION_X;
	struct tsr_vertex_run *run = bin->run;
	const struct tsr_program *p = run->program;

	if (!p->header_va)
		return tsr_mem_bad_packet(mem, p->va, TSR_SHADER_PROGRAM_HEADER__QWORD,
					  TSR_FAULT_BAD_VALUE);
	if (!bin->state->draw->discard && position & ~p->header.omap_0)
		return tsr_mem_bad_packet(mem, p->header_va, TSR_STAGE_HEADER_OMAP_0__QWORD,
					  TSR_FAULT_BAD_VALUE);
	find_maps(bin->stages, &bin->stages->vertex, bin->state->shader, &p->header);
	tsr_stage_block_begin(&bin->stages->vertex, bin->batch.vertices);
	run->block = &bin->stages->vertex;
	return TSR_STEP_DONE;
}

/* Layer or viewport @n, as the record has it: what is too large stays too large. */
static uint16_t index_of(const struct tsr_stage_block *b, unsigned int slot, unsigned int n)
{
	uint32_t index = tsr_stage_output(b, slot, n);

	return index < UINT16_MAX ? index : UINT16_MAX;
}

static void collect(const struct tsr_stage_block *b, const struct tsr_shader_state *s,
		    unsigned int slot, uint64_t *record)
{
	struct tsr_position_extended e = {
		.x = tsr_stage_output(b, slot, TSR_STAGE_POSITION_X),
		.y = tsr_stage_output(b, slot, TSR_STAGE_POSITION_X + 1),
		.z = tsr_stage_output(b, slot, TSR_STAGE_POSITION_X + 2),
		.w = tsr_stage_output(b, slot, TSR_STAGE_POSITION_X + 3),
	};
	uint32_t distance[TSR_CLIP_DISTANCES_MAX];

	if (s->writes_point_size)
		e.point_size = tsr_stage_output(b, slot, TSR_STAGE_POINT_SIZE);
	if (s->writes_layer)
		e.layer = index_of(b, slot, TSR_STAGE_LAYER);
	if (s->writes_viewport)
		e.viewport = index_of(b, slot, TSR_STAGE_VIEWPORT);
	tsr_pack_position_extended(record, &e);
	for (unsigned int i = 0; i < TSR_CLIP_DISTANCES_MAX; i++)
		distance[i] = tsr_stage_output(b, slot, TSR_STAGE_DISTANCES + i);
	memcpy(&record[TSR_POSITION_EXTENDED_DISTANCE_0__QWORD], distance, sizeof(distance));
}

void tsr_geometry_collect(struct tsr_binning *bin)
{
	const struct tsr_shader_state *s = bin->state->shader;
	struct tsr_stage_block *b = &bin->stages->vertex;
	struct tsr_vertex_run *run = bin->run;

	bin->stages->last = b;
	bin->stages->out.next = 0;
	for (unsigned int slot = 0; slot < bin->batch.vertices; slot++) {
		collect(b, s, slot, run->record[slot]);
		for (unsigned int i = 0; i < TSR_STAGE_WORDS / 64; i++)
			b->unwritten += __builtin_popcountll(b->wanted.word[i] &
							     ~b->written[slot].word[i]);
	}
	run->kept = 0;
	run->spilled = true;
	bin->stat[TSR_BIN_STAGE_BLOCKS]++;
	bin->stat[TSR_BIN_STAGE_UNWRITTEN] += b->unwritten;
	b->unwritten = 0;
	tsr_bin_spend(bin, bin->batch.vertices);
}

void tsr_geometry_outputs(const struct tsr_binning *bin, unsigned int slot, uint32_t *word)
{
	for (unsigned int i = 0; i < bin->state->shader->output_stride / 4u; i++)
		word[i] = tsr_stage_output(bin->stages->last, slot, TSR_STAGE_GENERIC + i);
}
