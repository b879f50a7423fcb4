/* SPDX-License-Identifier: MIT */
/*
 * Draws with GEOMETRY: their shaders, the maps of attribute space between them, the order in which
 * groups of threads run, and what the fixed functions take from the last stage. It is shaded whole
 * in the binning pass, so records of batches have the outputs, too.
 */
#include "bin.h"

#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "patches.h"
#include "stages.h"

void tsr_stages_free(struct tsr_stages *stages)
{
	if (stages)
		free(stages->patches);
	free(stages);
}

/* ---- Maps ------------------------------------------------------------------------------------ */

static struct tsr_stage_map map_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return (struct tsr_stage_map){ { a, b, c, d } };
}

static struct tsr_stage_map imap(const struct tsr_stage_header *h)
{
	return map_of(h->imap_0, h->imap_1, h->imap_2, h->imap_3);
}

static struct tsr_stage_map omap(const struct tsr_stage_header *h)
{
	return map_of(h->omap_0, h->omap_1, h->omap_2, h->omap_3);
}

static void add_map(struct tsr_stage_map *to, const struct tsr_stage_map *map)
{
	for (unsigned int i = 0; i < TSR_STAGE_WORDS / 64; i++)
		to->word[i] |= map->word[i];
}

static struct tsr_stage_map both(const struct tsr_stage_map *a, const struct tsr_stage_map *b)
{
	return map_of(a->word[0] & b->word[0], a->word[1] & b->word[1], a->word[2] & b->word[2],
		      a->word[3] & b->word[3]);
}

/* What fixed functions read of a vertex that is drawn. */
static struct tsr_stage_map drawn(const struct tsr_shader_state *s)
{
	unsigned int distances = s->clip_distances | s->cull_distances;
	struct tsr_stage_map map = { { 0 } };

	for (unsigned int i = 0; i < 4; i++)
		tsr_stage_add(&map, TSR_STAGE_POSITION_X + i);
	if (s->writes_point_size)
		tsr_stage_add(&map, TSR_STAGE_POINT_SIZE);
	if (s->writes_layer)
		tsr_stage_add(&map, TSR_STAGE_LAYER);
	if (s->writes_viewport)
		tsr_stage_add(&map, TSR_STAGE_VIEWPORT);
	for (unsigned int i = 0; i < TSR_CLIP_DISTANCES_MAX; i++) {
		if (distances >> i & 1)
			tsr_stage_add(&map, TSR_STAGE_DISTANCES + i);
	}
	for (unsigned int i = 0; i < s->output_stride / 4u; i++) {
		if (TSR_STAGE_GENERIC + i < TSR_STAGE_WORDS)
			tsr_stage_add(&map, TSR_STAGE_GENERIC + i);
	}
	return map;
}

/* Words the device makes for a shader of @stage. */
static struct tsr_stage_map made(enum tsr_stage stage)
{
	struct tsr_stage_map map = { { 0 } };

	if (stage == TSR_STAGE_VERTEX) {
		for (unsigned int n = TSR_STAGE_GENERIC; n < TSR_STAGE_GENERIC_END; n++)
			tsr_stage_add(&map, n);
		tsr_stage_add(&map, TSR_STAGE_INSTANCE_ID);
		tsr_stage_add(&map, TSR_STAGE_VERTEX_ID);
		return map;
	}
	tsr_stage_add(&map, TSR_STAGE_PRIMITIVE_ID);
	if (stage == TSR_STAGE_DOMAIN) {
		tsr_stage_add(&map, TSR_STAGE_DOMAIN_U);
		tsr_stage_add(&map, TSR_STAGE_DOMAIN_V);
	}
	return map;
}

/* The maps of @b, what @stage writes: it reads what @before has written, if that is not NULL. */
static void find_maps(struct tsr_binning *bin, enum tsr_stage stage, struct tsr_stage_block *b,
		      const struct tsr_stage_block *before, const struct tsr_stage_map *wanted)
{
	const struct tsr_stage_header *h = &bin->stages->header[stage];
	struct tsr_stage_map in = imap(h), out = omap(h), device = made(stage), map = *wanted;

	for (unsigned int n = h->required_first; n <= h->required_last; n++)
		tsr_stage_add(&map, n);
	b->in = both(&in, &device);
	b->stored = before ? both(&in, &before->out) : (struct tsr_stage_map){ { 0 } };
	b->out = both(&out, &map);
	b->wanted = (struct tsr_stage_map){ { 0 } };
}

/* ---- The draw begins ------------------------------------------------------------------------- */

/* The shader of @stage at @va, which must have a header. */
static enum tsr_step load_header(struct tsr_binning *bin, struct tsr_mem *mem,
				 enum tsr_stage stage, uint64_t va)
{
	const struct tsr_program *program;
	enum tsr_step step;

	mem->unit = TSR_UNIT_SHADER;
	step = tsr_programs_find(&bin->programs, mem, va, stage, &program);
	if (step != TSR_STEP_DONE)
		return step;
	if (!program->header_va)
		return tsr_mem_bad_packet(mem, va, TSR_SHADER_PROGRAM_HEADER__QWORD,
					  TSR_FAULT_BAD_VALUE);
	bin->stages->header[stage] = program->header;
	return TSR_STEP_DONE;
}

static enum tsr_step load_headers(struct tsr_binning *bin, struct tsr_mem *mem)
{
	const struct tsr_geometry_state *g = bin->state->geometry;
	enum tsr_step step = load_header(bin, mem, TSR_STAGE_VERTEX, bin->state->shader->position);

	memset(&bin->stages->header[TSR_STAGE_HULL], 0, sizeof(bin->stages->header[0]));
	if (step == TSR_STEP_DONE && g->hull)
		step = load_header(bin, mem, TSR_STAGE_HULL, g->hull);
	if (step == TSR_STEP_DONE && g->domain)
		step = load_header(bin, mem, TSR_STAGE_DOMAIN, g->domain);
	return step;
}

/* The header of the last shader has a position, if that is to be drawn. */
static enum tsr_step check_position(struct tsr_binning *bin, struct tsr_mem *mem)
{
	const uint64_t position = 15ull << TSR_STAGE_POSITION_X;
	const struct tsr_geometry_state *g = bin->state->geometry;
	const enum tsr_stage last = g->domain ? TSR_STAGE_DOMAIN : TSR_STAGE_VERTEX;
	const struct tsr_program *program;
	enum tsr_step step;

	if (bin->state->draw->discard || !(position & ~bin->stages->header[last].omap_0))
		return TSR_STEP_DONE;
	mem->unit = TSR_UNIT_SHADER;
	step = tsr_programs_find(&bin->programs, mem,
				 g->domain ? g->domain : bin->state->shader->position, last,
				 &program);
	return step == TSR_STEP_DONE ?
		       tsr_mem_bad_packet(mem, program->header_va, TSR_STAGE_HEADER_OMAP_0__QWORD,
					  TSR_FAULT_BAD_VALUE) :
		       step;
}

/* Who reads what, from the last stage to the first. */
static void find_all_maps(struct tsr_binning *bin)
{
	const struct tsr_geometry_state *g = bin->state->geometry;
	const struct tsr_stage_map shown = drawn(bin->state->shader);
	struct tsr_stages *s = bin->stages;
	struct tsr_stage_map wanted = shown, vertex, all;

	for (unsigned int n = 0; n < TSR_STREAM_OUT_STREAMS; n++)
		add_map(&wanted, &s->declared[n]);
	s->last = &s->vertex;
	vertex = wanted;
	if (g->domain) {
		vertex = imap(&s->header[g->hull ? TSR_STAGE_HULL : TSR_STAGE_DOMAIN]);
		all = imap(&s->header[TSR_STAGE_DOMAIN]);
		if (!s->header[TSR_STAGE_HULL].threads)
			add_map(&vertex, &all);
		s->last = &s->patches->domain;
	}
	find_maps(bin, TSR_STAGE_VERTEX, &s->vertex, NULL, &vertex);
	if (g->domain) {
		const struct tsr_stage_block *points = &s->vertex;

		if (g->hull)
			find_maps(bin, TSR_STAGE_HULL, &s->patches->points, points, &all);
		if (s->header[TSR_STAGE_HULL].threads)
			points = &s->patches->points;
		find_maps(bin, TSR_STAGE_DOMAIN, &s->patches->domain, points, &wanted);
	}
	s->last->wanted = both(&shown, &s->last->out);
}

enum tsr_step tsr_geometry_begin(struct tsr_binning *bin, struct tsr_mem *mem)
{
	enum tsr_step step;

	bin->stages->streams = 1;
	step = load_headers(bin, mem);
	if (step == TSR_STEP_DONE)
		step = check_position(bin, mem);
	if (step == TSR_STEP_DONE)
		step = tsr_stream_begin(bin, mem);
	if (step != TSR_STEP_DONE)
		return step;
	bin->stages->stage = TSR_STAGE_VERTEX;
	bin->stages->next = TSR_NEXT_NOTHING;
	find_all_maps(bin);
	return TSR_STEP_DONE;
}

/* ---- Groups of threads ----------------------------------------------------------------------- */

uint64_t tsr_geometry_program(const struct tsr_binning *bin)
{
	switch (bin->stages->stage) {
	case TSR_STAGE_HULL:
		return bin->state->geometry->hull;
	case TSR_STAGE_DOMAIN:
		return bin->state->geometry->domain;
	default:
		return bin->state->shader->position;
	}
}

void tsr_geometry_bind(struct tsr_binning *bin)
{
	struct tsr_stages *s = bin->stages;
	struct tsr_vertex_run *run = bin->run;

	if (s->stage != TSR_STAGE_VERTEX) {
		tsr_patches_bind(bin);
		return;
	}
	run->block = &s->vertex;
	run->group = NULL;
	tsr_stage_block_begin(&s->vertex, bin->batch.vertices);
}

void tsr_geometry_shaded(struct tsr_binning *bin)
{
	struct tsr_stage_block *b = bin->run->block;

	bin->stat[TSR_BIN_STAGE_UNWRITTEN] += b->unwritten;
	b->unwritten = 0;
	if (bin->stages->stage != TSR_STAGE_VERTEX) {
		tsr_patches_shaded(bin);
		return;
	}
	bin->stat[TSR_BIN_STAGE_BLOCKS]++;
	bin->stages->next = TSR_NEXT_BLOCK;
	if (bin->state->geometry->domain)
		tsr_patches_input(bin);
}

/* ---- The last stage -------------------------------------------------------------------------- */

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

/* Fill bin->run->record. */
static void collect_all(struct tsr_binning *bin)
{
	const struct tsr_shader_state *s = bin->state->shader;
	const struct tsr_stage_block *b = bin->stages->last;
	struct tsr_vertex_run *run = bin->run;

	for (unsigned int slot = 0; slot < bin->batch.vertices; slot++) {
		collect(b, s, slot, run->record[slot]);
		for (unsigned int i = 0; i < TSR_STAGE_WORDS / 64; i++)
			bin->stat[TSR_BIN_STAGE_UNWRITTEN] += __builtin_popcountll(
				b->wanted.word[i] & ~b->written[slot].word[i]);
	}
	run->records = bin->batch.vertices;
	run->kept = 0;
	run->spilled = true;
	bin->stages->out.next = 0;
	tsr_bin_spend(bin, bin->batch.vertices);
}

void tsr_geometry_outputs(const struct tsr_binning *bin, unsigned int slot, uint32_t *word)
{
	for (unsigned int i = 0; i < bin->state->shader->output_stride / 4u; i++)
		word[i] = tsr_stage_output(bin->stages->last, slot, TSR_STAGE_GENERIC + i);
}

enum tsr_geometry_step tsr_geometry_next(struct tsr_binning *bin)
{
	struct tsr_stages *s = bin->stages;

	if (s->next != TSR_NEXT_BLOCK && s->next != TSR_NEXT_NOTHING)
		return tsr_patches_next(bin);
	if (s->next == TSR_NEXT_NOTHING) {
		s->stage = TSR_STAGE_VERTEX;
		return TSR_GEOMETRY_END;
	}
	collect_all(bin);
	s->next = bin->state->geometry->domain ? TSR_NEXT_POINTS : TSR_NEXT_NOTHING;
	return TSR_GEOMETRY_BATCH;
}
