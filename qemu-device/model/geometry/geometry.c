/* SPDX-License-Identifier: MIT */
/*
 * Draws with GEOMETRY: their shaders, the maps of stage I/O memory between them, the order in which
 * groups of threads run, and the inputs of the fixed functions from the last stage. All stages run
 * in the binning pass, so the records of batches contain the outputs as well.
 */
#include "binner/bin.h"

#include <stdlib.h>
#include <string.h>

#include "patches.h"
#include "stages.h"
#include "strips.h"

void tsr_stages_free(struct tsr_stages *stages)
{
	if (stages) {
		free(stages->patches);
		free(stages->emit);
	}
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

/* Words of a drawn vertex that fixed functions read. */
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

static enum tsr_stage last_stage(const struct tsr_geometry_state *g)
{
	return g->geometry ? TSR_STAGE_GEOMETRY : g->domain ? TSR_STAGE_DOMAIN : TSR_STAGE_VERTEX;
}

static uint64_t shader_of(const struct tsr_binning *bin, enum tsr_stage stage)
{
	const struct tsr_geometry_state *g = bin->state->geometry;

	switch (stage) {
	case TSR_STAGE_HULL:
		return g->hull;
	case TSR_STAGE_DOMAIN:
		return g->domain;
	case TSR_STAGE_GEOMETRY:
		return g->geometry;
	default:
		return bin->state->shader->position;
	}
}

static unsigned int words_in(const struct tsr_stage_map *map)
{
	unsigned int words = 0;

	for (unsigned int i = 0; i < TSR_STAGE_WORDS / 64; i++)
		words += __builtin_popcountll(map->word[i]);
	return words;
}

/* True if @h can be a geometry shader's. */
static bool emits(const struct tsr_stage_header *h)
{
	const struct tsr_stage_map out = omap(h);

	return h->input <= TSR_GEOMETRY_INPUT_PATCHES &&
	       h->output <= TSR_GEOMETRY_OUTPUT_TRIANGLE_STRIP && h->max_vertices &&
	       h->max_vertices * words_in(&out) <= TSR_GEOMETRY_VERTICES_MAX &&
	       (h->streams <= 1 || h->output == TSR_GEOMETRY_OUTPUT_POINTS);
}

/* The wrong qword in the header of the shader of @stage, -1 if it is correct. */
static int wrong(const struct tsr_binning *bin, enum tsr_stage stage,
		 const struct tsr_stage_header *h)
{
	const uint64_t position = 15ull << TSR_STAGE_POSITION_X;

	if (stage == TSR_STAGE_GEOMETRY && !emits(h))
		return TSR_STAGE_HEADER_INPUT__QWORD;
	if (stage == last_stage(bin->state->geometry) && !bin->state->draw->discard &&
	    position & ~h->omap_0)
		return TSR_STAGE_HEADER_OMAP_0__QWORD;
	return -1;
}

/* Read the header of the shader of @stage, if there is one. */
static enum tsr_step load_header(struct tsr_binning *bin, struct tsr_mem *mem,
				 enum tsr_stage stage)
{
	struct tsr_stage_header *h = &bin->stages->header[stage];
	const uint64_t va = shader_of(bin, stage);
	const struct tsr_program *program;
	enum tsr_step step;
	int qword;

	memset(h, 0, sizeof(*h));
	if (!va && stage != TSR_STAGE_VERTEX)
		return TSR_STEP_DONE;
	mem->unit = TSR_UNIT_SHADER;
	step = tsr_programs_find(&bin->programs, mem, va, 0, stage, &program);
	if (step != TSR_STEP_DONE)
		return step;
	if (!program->header_va)
		return tsr_mem_bad_packet(mem, va, TSR_SHADER_PROGRAM_HEADER__QWORD,
					  TSR_FAULT_BAD_VALUE);
	*h = program->header;
	qword = wrong(bin, stage, h);
	return qword < 0 ? TSR_STEP_DONE :
			   tsr_mem_bad_packet(mem, program->header_va, (unsigned int)qword,
					      TSR_FAULT_BAD_VALUE);
}

/* True if a geometry shader's INPUT @input is what comes to it. */
static bool takes(const struct tsr_geometry_state *g, unsigned int topology, unsigned int input)
{
	static const uint8_t of[] = {
		[TSR_TOPOLOGY_POINTS] = 1 << TSR_GEOMETRY_INPUT_POINTS,
		[TSR_TOPOLOGY_LINES] = 1 << TSR_GEOMETRY_INPUT_LINES,
		[TSR_TOPOLOGY_LINE_STRIP] = 1 << TSR_GEOMETRY_INPUT_LINES,
		[TSR_TOPOLOGY_LINE_LOOP] = 1 << TSR_GEOMETRY_INPUT_LINES,
		[TSR_TOPOLOGY_TRIANGLES] = 1 << TSR_GEOMETRY_INPUT_TRIANGLES,
		[TSR_TOPOLOGY_TRIANGLE_STRIP] = 1 << TSR_GEOMETRY_INPUT_TRIANGLES,
		[TSR_TOPOLOGY_TRIANGLE_FAN] = 1 << TSR_GEOMETRY_INPUT_TRIANGLES,
		[TSR_TOPOLOGY_LINES_ADJACENCY] = 1 << TSR_GEOMETRY_INPUT_LINES |
						 1 << TSR_GEOMETRY_INPUT_LINES_ADJACENCY,
		[TSR_TOPOLOGY_LINE_STRIP_ADJACENCY] = 1 << TSR_GEOMETRY_INPUT_LINES |
						      1 << TSR_GEOMETRY_INPUT_LINES_ADJACENCY,
		[TSR_TOPOLOGY_TRIANGLES_ADJACENCY] = 1 << TSR_GEOMETRY_INPUT_TRIANGLES |
						     1 << TSR_GEOMETRY_INPUT_TRIANGLES_ADJACENCY,
		[TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY] =
			1 << TSR_GEOMETRY_INPUT_TRIANGLES |
			1 << TSR_GEOMETRY_INPUT_TRIANGLES_ADJACENCY,
		[TSR_TOPOLOGY_PATCHES] = 1 << TSR_GEOMETRY_INPUT_PATCHES,
	};

	return g->domain ? input == g->primitives : of[topology] >> input & 1;
}

/* The headers of all shaders; whether they fit the draw. */
static enum tsr_step load_headers(struct tsr_binning *bin, struct tsr_mem *mem)
{
	const struct tsr_stage_header *h = &bin->stages->header[TSR_STAGE_GEOMETRY];
	const struct tsr_geometry_state *g = bin->state->geometry;
	enum tsr_step step = TSR_STEP_DONE;

	for (unsigned int stage = TSR_STAGE_VERTEX; stage < TSR_STAGES; stage++) {
		step = load_header(bin, mem, (enum tsr_stage)stage);
		if (step != TSR_STEP_DONE)
			return step;
	}
	bin->stages->streams = g->geometry ? (uint8_t)h->streams : 1;
	bin->stages->neighbours = g->geometry && !g->domain &&
				  (h->input == TSR_GEOMETRY_INPUT_LINES_ADJACENCY ||
				   h->input == TSR_GEOMETRY_INPUT_TRIANGLES_ADJACENCY);
	if (!g->geometry || takes(g, bin->draw.topology, h->input))
		return TSR_STEP_DONE;
	mem->unit = TSR_UNIT_LIST;
	return tsr_mem_bad_packet(mem, bin->ahead[bin->ahead_first].pc, 0, TSR_FAULT_BAD_VALUE);
}

/* Finds the words that each stage reads, from the last stage to the first. */
static void find_all_maps(struct tsr_binning *bin)
{
	const struct tsr_geometry_state *g = bin->state->geometry;
	const struct tsr_stage_map shown = drawn(bin->state->shader);
	struct tsr_stages *s = bin->stages;
	const bool points = s->header[TSR_STAGE_HULL].threads;
	const struct tsr_stage_map hull = imap(&s->header[TSR_STAGE_HULL]);
	const struct tsr_stage_map domain = imap(&s->header[TSR_STAGE_DOMAIN]);
	struct tsr_stage_map last = shown, before, vertex;

	for (unsigned int n = 0; n < TSR_STREAM_OUT_STREAMS; n++)
		add_map(&last, &s->declared[n]);
	if (g->geometry)
		tsr_stage_add(&last, TSR_STAGE_PRIMITIVE_ID);
	before = g->geometry ? imap(&s->header[TSR_STAGE_GEOMETRY]) : last;
	vertex = before;
	if (g->domain) {
		vertex = hull;
		if (!points)
			add_map(&vertex, &domain);
	}
	find_maps(bin, TSR_STAGE_VERTEX, &s->vertex, NULL, &vertex);
	s->last = &s->vertex;
	if (g->domain) {
		struct tsr_patches *p = s->patches;

		find_maps(bin, TSR_STAGE_HULL, &p->points, &s->vertex, &domain);
		find_maps(bin, TSR_STAGE_DOMAIN, &p->domain, points ? &p->points : &s->vertex,
			  &before);
		s->last = &p->domain;
	}
	if (g->geometry) {
		find_maps(bin, TSR_STAGE_GEOMETRY, &s->emit->block, s->last, &last);
		s->last = &s->emit->block;
		tsr_strips_prepare(bin);
	}
	s->last->wanted = both(&shown, &s->last->out);
}

enum tsr_step tsr_geometry_begin(struct tsr_binning *bin, struct tsr_mem *mem)
{
	enum tsr_step step;

	step = load_headers(bin, mem);
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
	return shader_of(bin, (enum tsr_stage)bin->stages->stage);
}

void tsr_geometry_bind(struct tsr_binning *bin)
{
	struct tsr_stages *s = bin->stages;
	struct tsr_vertex_run *run = bin->run;

	if (s->stage == TSR_STAGE_GEOMETRY)
		tsr_strips_bind(bin);
	else if (s->stage != TSR_STAGE_VERTEX)
		tsr_patches_bind(bin);
	if (s->stage != TSR_STAGE_VERTEX)
		return;
	run->block = &s->vertex;
	run->group = NULL;
	tsr_stage_block_begin(&s->vertex, bin->batch.vertices);
}

void tsr_geometry_shaded(struct tsr_binning *bin)
{
	struct tsr_stage_block *b = bin->run->block;

	bin->stat[TSR_BIN_STAGE_UNWRITTEN] += b->unwritten;
	b->unwritten = 0;
	if (bin->stages->stage == TSR_STAGE_GEOMETRY)
		tsr_strips_shaded(bin);
	else if (bin->stages->stage != TSR_STAGE_VERTEX)
		tsr_patches_shaded(bin);
	if (bin->stages->stage != TSR_STAGE_VERTEX)
		return;
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

/* The whole of a record. */
static void collect_extended(const struct tsr_stage_block *b, const struct tsr_shader_state *s,
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

static void collect(const struct tsr_stage_block *b, const struct tsr_shader_state *s,
		    unsigned int slot, uint64_t *record)
{
	const uint32_t *position = tsr_stage_words(b, slot, TSR_STAGE_POSITION_X, 4);

	if (position && !(s->writes_point_size | s->writes_layer | s->writes_viewport |
			  s->clip_distances | s->cull_distances)) {
		memset(record, 0, sizeof(tsr_position_record));
		memcpy(record, position, 4 * sizeof(*position));
	} else {
		collect_extended(b, s, slot, record);
	}
}

/* Fill bin->run->record. */
static void collect_all(struct tsr_binning *bin)
{
	const struct tsr_shader_state *s = bin->state->shader;
	const struct tsr_stage_block *b = bin->stages->last;
	struct tsr_vertex_run *run = bin->run;

	for (unsigned int slot = 0; slot < bin->batch.vertices; slot++) {
		collect(b, s, slot, run->record[slot]);
		bin->stat[TSR_BIN_STAGE_UNWRITTEN] += tsr_stage_unwritten(b, slot, &b->wanted);
	}
	run->records = bin->batch.vertices;
	run->retained = 0;
	run->spilled = true;
	bin->stages->out.next = 0;
	tsr_bin_spend(bin, bin->batch.vertices);
}

void tsr_geometry_outputs(const struct tsr_binning *bin, unsigned int slot, uint32_t *word)
{
	const unsigned int words = bin->state->shader->output_stride / 4u;
	const uint32_t *all = tsr_stage_words(bin->stages->last, slot, TSR_STAGE_GENERIC, words);

	if (all) {
		tsr_stage_copy(word, all, words);
		return;
	}
	for (unsigned int i = 0; i < words; i++)
		word[i] = tsr_stage_output(bin->stages->last, slot, TSR_STAGE_GENERIC + i);
}

enum tsr_geometry_step tsr_geometry_next(struct tsr_binning *bin)
{
	struct tsr_stages *s = bin->stages;
	enum tsr_geometry_step what;

	switch (s->next) {
	case TSR_NEXT_NOTHING:
		s->stage = TSR_STAGE_VERTEX;
		return TSR_GEOMETRY_END;
	case TSR_NEXT_BLOCK:
		if (bin->state->geometry->geometry) {
			tsr_strips_input(bin);
			return TSR_GEOMETRY_AGAIN;
		}
		s->next = bin->state->geometry->domain ? TSR_NEXT_POINTS : TSR_NEXT_NOTHING;
		what = TSR_GEOMETRY_BATCH;
		break;
	case TSR_NEXT_THREADS:
	case TSR_NEXT_STRIPS:
		what = tsr_strips_next(bin);
		break;
	default:
		what = tsr_patches_next(bin);
		break;
	}
	if (what == TSR_GEOMETRY_BATCH)
		collect_all(bin);
	return what;
}
