/* SPDX-License-Identifier: MIT */
#include "bin.h"

#include <stdlib.h>
#include <string.h>

#include "commit.h"
#include "geometry/patches.h"
#include "geometry/stages.h"
#include "geometry/strips.h"
#include "simd/simd.h"

/* ---- The job --------------------------------------------------------------------------------- */

struct tsr_binning *tsr_bin_new(void)
{
	struct tsr_binning *bin = aligned_alloc(64, (sizeof(*bin) + 63) & ~(size_t)63);

	if (!bin)
		return NULL;
	memset(bin, 0, sizeof(*bin));
	bin->access = aligned_alloc(64, (sizeof(*bin->access) + 63) & ~(size_t)63);
	bin->run = aligned_alloc(64, (sizeof(*bin->run) + 63) & ~(size_t)63);
	if (!bin->access || !bin->run) {
		tsr_bin_free(bin);
		return NULL;
	}
	tsr_access_init(bin->access);
	memset(bin->run, 0, sizeof(*bin->run));
	bin->versions = TSR_STATE_VERSIONS;
	bin->descriptors = TSR_STATE_DESCRIPTORS;
	bin->step_effort = TSR_BIN_EFFORT;
	bin->lanes = tsr_simd_best()->vertices;
	return bin;
}

void tsr_bin_free(struct tsr_binning *bin)
{
	if (!bin)
		return;
	if (bin->run)
		tsr_stage_drop(&bin->run->run);
	tsr_programs_drop(&bin->programs);
	free(bin->access);
	free(bin->run);
	tsr_stages_free(bin->stages);
	free(bin->tile);
	free(bin->stored);
	free(bin);
}

void tsr_bin_rest(struct tsr_binning *bin)
{
	tsr_stage_drop(&bin->run->run);
	tsr_programs_drop(&bin->programs);
	tsr_stages_free(bin->stages);
	bin->stages = NULL;
	bin->run->block = NULL;
	bin->run->group = NULL;
	free(bin->stored);
	bin->stored = NULL;
}

/* BIN's own fields. */
static enum tsr_step check_command(struct tsr_mem *mem, uint64_t pc, const struct tsr_bin *b)
{
	if (b->list % TSR_STREAM_ALIGN)
		return tsr_mem_bad_packet(mem, pc, 1, TSR_FAULT_ALIGNMENT);
	if (!b->size || b->size > TSR_STREAM_SIZE_MAX)
		return tsr_mem_bad_packet(mem, pc, 2, TSR_FAULT_BAD_VALUE);
	if (b->size % sizeof(uint64_t))
		return tsr_mem_bad_packet(mem, pc, 2, TSR_FAULT_ALIGNMENT);
	if (b->frame % 64)
		return tsr_mem_bad_packet(mem, pc, 3, TSR_FAULT_ALIGNMENT);
	return TSR_STEP_DONE;
}

/* Nothing of what the job's struct held before counts any more, but its memory stays. */
static void clear(struct tsr_binning *bin)
{
	tsr_stage_drop(&bin->run->run);
	tsr_programs_drop(&bin->programs);
	tsr_bin_clear_states(bin);
	tsr_bin_forget_copies(bin);
	bin->held = bin->halted = false;
	bin->ahead_first = bin->ahead_count = 0;
	bin->state = NULL;
	bin->phase = TSR_BIN_LIST;
	bin->last_batch = bin->batches = 0;
	bin->outs = bin->clips = 0;
	bin->finish = 0;
	tsr_stages_free(bin->stages);
	bin->stages = NULL;
	bin->run->block = NULL;
	bin->run->group = NULL;
	memset(bin->stat, 0, sizeof(bin->stat));
	memset(bin->queried, 0, sizeof(bin->queried));
	bin->sums = 0;
	memset(bin->told, 0, sizeof(bin->told));
}

/*
 * Empty lists for all tiles of the frame; false: no memory. The frame of a command that failed has
 * left its number of tiles in @info, so that is not what there is room for.
 */
static bool make_tiles(struct tsr_binning *bin)
{
	const uint32_t tiles = bin->info.tiles;
	const uint32_t places = tiles < TSR_BINNER_TILES ? tiles : TSR_BINNER_TILES;

	free(bin->stored);
	bin->stored = tiles > places ? calloc((tiles + 63) / 64, sizeof(*bin->stored)) : NULL;
	if (tiles > places && !bin->stored)
		return false;
	if (bin->tile && places == bin->places) {
		memset(bin->tile, 0, places * sizeof(*bin->tile));
		return true;
	}
	free(bin->tile);
	bin->tile = calloc(places, sizeof(*bin->tile));
	bin->places = bin->tile ? places : 0;
	return bin->tile;
}

enum tsr_step tsr_bin_begin(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t pc,
			    const uint64_t *cmd)
{
	struct tsr_bin b;
	enum tsr_step step;

	tsr_unpack_bin(cmd, &b);
	step = check_command(mem, pc, &b);
	if (step != TSR_STEP_DONE)
		return step;
	mem->unit = TSR_UNIT_BINNER;
	step = tsr_frame_read(mem, b.frame, &bin->info);
	if (step == TSR_STEP_DONE)
		step = tsr_bin_heap_begin(bin, mem, b.frame);
	tsr_access_stop(bin->access, mem->port);
	if (step != TSR_STEP_DONE)
		return step;
	if (!make_tiles(bin))
		return tsr_mem_bad_packet(mem, pc, 0, TSR_FAULT_UNSUPPORTED);
	clear(bin);
	tsr_list_start(&bin->list, TSR_ENGINE_CLASS_BIN, b.list, b.size, false);
	return TSR_STEP_DONE;
}

/* ---- The list -------------------------------------------------------------------------------- */

/* Keep a draw packet; false: there are enough. */
static bool queue_draw(struct tsr_binning *bin)
{
	struct tsr_bin_ahead *a;

	if (bin->ahead_count == TSR_BIN_AHEAD)
		return false;
	a = &bin->ahead[(bin->ahead_first + bin->ahead_count++) % TSR_BIN_AHEAD];
	memcpy(a->word, bin->list.word, sizeof(a->word));
	a->pc = bin->list.pc;
	a->version = bin->current;
	bin->version[bin->current].draws++;
	tsr_list_progress(&bin->list);
	return true;
}

/* The packet in list.word. _PENDING: a draw has to be done first. */
static enum tsr_step execute(struct tsr_binning *bin, struct tsr_mem *mem)
{
	const struct tsr_bin_version *v = &bin->version[bin->current];
	enum tsr_step step;

	switch (tsr_packet_opcode(bin->list.word[0])) {
	case TSR_OP_LIST_DRAW:
	case TSR_OP_LIST_DRAW_AUTO:
	case TSR_OP_LIST_DRAW_INDIRECT:
		if (v->set != (1 << TSR_BIN_KINDS) - 1)
			return tsr_list_fault(&bin->list, mem, 0, TSR_FAULT_BAD_VALUE);
		bin->held = !queue_draw(bin);
		return bin->held ? TSR_STEP_PENDING : TSR_STEP_DONE;
	case TSR_OP_LIST_HALT:
		bin->halted = true;
		return TSR_STEP_DONE;
	default:
		step = tsr_bin_set_state(bin, mem);
		bin->held = step == TSR_STEP_PENDING;
		return step;
	}
}

/* Go ahead in the list as far as possible, then choose what comes next. */
static enum tsr_step go_ahead(struct tsr_binning *bin, struct tsr_mem *mem)
{
	enum tsr_step step;

	while (!bin->halted) {
		uint64_t before = bin->list.cycles;

		if (bin->effort < 0)
			return TSR_STEP_MORE;
		step = bin->held ? TSR_STEP_DONE : tsr_list_next(&bin->list, mem);
		bin->cycles += bin->list.cycles - before;
		if (step != TSR_STEP_DONE)
			return step;
		bin->effort -= 4;
		step = execute(bin, mem);
		if (step == TSR_STEP_PENDING)
			break;
		if (step != TSR_STEP_DONE)
			return step;
	}
	bin->phase = bin->ahead_count ? TSR_BIN_BEGIN : TSR_BIN_FINISH;
	return TSR_STEP_DONE;
}

/* ---- Draws ----------------------------------------------------------------------------------- */

/* Fields that all draw packets have. */
struct draw_header {
	uint8_t topology, index, restart, explicit_padding, shift, odd;
	uint64_t indices, index_bytes;
};

static enum tsr_step draw_fault(struct tsr_binning *bin, struct tsr_mem *mem, unsigned int qword,
				uint8_t code)
{
	mem->unit = TSR_UNIT_LIST;
	return tsr_mem_bad_packet(mem, bin->ahead[bin->ahead_first].pc, qword, code);
}

/* True if the draw may be of @topology. */
static bool allowed(const struct tsr_binning *bin, unsigned int topology)
{
	if (topology == TSR_TOPOLOGY_PATCHES)
		return bin->state->geometry &&
		       (bin->state->geometry->domain || bin->state->geometry->geometry ||
			bin->state->draw->discard);
	return topology <= TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY &&
	       topology != TSR_TOPOLOGY_TRIANGLE_FAN + 1;
}

static enum tsr_step check_header(struct tsr_binning *bin, struct tsr_mem *mem,
				  const struct draw_header *h, unsigned int indices_qword)
{
	if (!allowed(bin, h->topology) ||
	    h->odd > TSR_ATTRIBUTE_MODULUS_ODD_MAX ||
	    (h->explicit_padding && (2 * h->odd + 1ull) << h->shift > 1ull << 32))
		return draw_fault(bin, mem, 0, TSR_FAULT_BAD_VALUE);
	if (h->index != TSR_INDEX_TYPE_NONE &&
	    h->indices % (1u << (h->index - TSR_INDEX_TYPE_U8)))
		return draw_fault(bin, mem, indices_qword, TSR_FAULT_ALIGNMENT);
	return TSR_STEP_DONE;
}

/* The padded number of vertices. With indices it is made for all that their type can name. */
static uint64_t padding(const struct draw_header *h, uint32_t count)
{
	if (h->explicit_padding)
		return (2 * h->odd + 1ull) << h->shift;
	if (h->index == TSR_INDEX_TYPE_NONE)
		return tsr_padded_vertices(count).padded;
	if (h->index == TSR_INDEX_TYPE_U32)
		return 1ull << 32;
	return tsr_padded_vertices(h->index == TSR_INDEX_TYPE_U8 ? 256 : 65536).padded;
}

/* The draw has GEOMETRY. */
static enum tsr_step begin_geometry(struct tsr_binning *bin, struct tsr_mem *mem,
				    unsigned int topology)
{
	const struct tsr_geometry_state *g = bin->state->geometry;
	const bool patches = topology == TSR_TOPOLOGY_PATCHES;

	if (patches ? !g->domain && !g->geometry && g->entries : g->domain != 0)
		return draw_fault(bin, mem, 0, TSR_FAULT_BAD_VALUE);
	mem->unit = TSR_UNIT_BINNER;
	if (patches && !g->patch_points)
		return tsr_mem_bad_packet(mem, bin->state->shader->geometry,
					  TSR_GEOMETRY_STATE_PATCH_POINTS__QWORD,
					  TSR_FAULT_BAD_VALUE);
	if (!bin->stages)
		bin->stages = calloc(1, sizeof(*bin->stages));
	if (!bin->stages || (g->domain && !tsr_patches_begin(bin->stages)) ||
	    (g->geometry && !tsr_strips_begin(bin->stages)))
		return draw_fault(bin, mem, 0, TSR_FAULT_UNSUPPORTED);
	return tsr_geometry_begin(bin, mem);
}

/* Begin the draw whose numbers stand in bin->draw; @qword is to blame for them. */
static enum tsr_step begin_draw(struct tsr_binning *bin, struct tsr_mem *mem,
				const struct draw_header *h, unsigned int qword)
{
	struct tsr_bin_draw *d = &bin->draw;

	d->topology = h->topology;
	d->index = h->index;
	d->restart = h->restart && h->index != TSR_INDEX_TYPE_NONE;
	d->indices = h->indices;
	d->index_bytes = h->index_bytes;
	d->padded = padding(h, d->count);
	if (h->index == TSR_INDEX_TYPE_NONE && d->padded < d->count)
		return draw_fault(bin, mem, 0, TSR_FAULT_BAD_VALUE);
	if (d->instances > 1 && d->count && d->padded > (1ull << 32) / d->instances)
		return draw_fault(bin, mem, qword, TSR_FAULT_BAD_VALUE);
	if (bin->state->geometry) {
		enum tsr_step step = begin_geometry(bin, mem, d->topology);

		if (step != TSR_STEP_DONE)
			return step;
	}
	bin->state->extended = bin->state->writes || d->topology == TSR_TOPOLOGY_POINTS;
	bin->index_held = 0;
	bin->pushed = false;
	bin->copied = 0;
	bin->phase = d->count && d->instances ? TSR_BIN_INPUT : TSR_BIN_DRAWN;
	if (bin->phase == TSR_BIN_INPUT)
		tsr_bin_batch_begin(bin);
	bin->stat[TSR_BIN_DRAWS]++;
	return TSR_STEP_DONE;
}

static enum tsr_step begin_direct(struct tsr_binning *bin, struct tsr_mem *mem,
				  const uint64_t *word)
{
	struct draw_header h;
	struct tsr_list_draw p;
	enum tsr_step step;

	tsr_unpack_list_draw(word, &p);
	h = (struct draw_header){ p.topology, p.index, p.restart, p.explicit_padding,
				  p.padded_shift, p.padded_odd, p.indices, p.index_bytes };
	step = check_header(bin, mem, &h, 4);
	if (step != TSR_STEP_DONE)
		return step;
	if (p.index == TSR_INDEX_TYPE_NONE && p.base_vertex)
		return draw_fault(bin, mem, 2, TSR_FAULT_BAD_VALUE);
	bin->draw = (struct tsr_bin_draw){
		.count = p.count, .instances = p.instances, .first = p.first,
		.start = p.index == TSR_INDEX_TYPE_NONE ? (int32_t)p.first : p.base_vertex,
		.first_instance = p.first_instance,
	};
	return begin_draw(bin, mem, &h, 1);
}

/* How many vertices stream-out has left, to *@count. */
static enum tsr_step count_filled(struct tsr_binning *bin, struct tsr_mem *mem,
				  const struct tsr_list_draw_auto *p, uint32_t *count)
{
	enum tsr_step step;
	uint64_t filled;

	mem->unit = TSR_UNIT_BINNER;
	step = tsr_stream_filled(bin, mem, p->counter, &filled);
	if (step != TSR_STEP_DONE)
		return step;
	filled = filled > p->offset ? (filled - p->offset) / p->stride : 0;
	*count = (uint32_t)filled;
	return filled > UINT32_MAX ? draw_fault(bin, mem, 2, TSR_FAULT_BAD_VALUE) : TSR_STEP_DONE;
}

static enum tsr_step begin_auto(struct tsr_binning *bin, struct tsr_mem *mem, const uint64_t *word)
{
	struct tsr_list_draw_auto p;
	struct draw_header h;
	enum tsr_step step;
	uint32_t count = 0;

	tsr_unpack_list_draw_auto(word, &p);
	h = (struct draw_header){ p.topology, TSR_INDEX_TYPE_NONE, false, p.explicit_padding,
				  p.padded_shift, p.padded_odd, 0, 0 };
	step = check_header(bin, mem, &h, 0);
	if (step != TSR_STEP_DONE)
		return step;
	if (p.counter % 8)
		return draw_fault(bin, mem, 2, TSR_FAULT_ALIGNMENT);
	if (!p.stride)
		return draw_fault(bin, mem, 4, TSR_FAULT_BAD_VALUE);
	step = count_filled(bin, mem, &p, &count);
	if (step != TSR_STEP_DONE)
		return step;
	bin->draw = (struct tsr_bin_draw){
		.count = count, .instances = p.instances, .first_instance = p.first_instance,
	};
	return begin_draw(bin, mem, &h, 1);
}

/* Arguments of draw number bin->drawn. */
static enum tsr_step read_arguments(struct tsr_binning *bin, struct tsr_mem *mem,
				    const struct tsr_list_draw_indirect *p)
{
	uint64_t word[3] = { 0 }, va = p->arguments + (uint64_t)bin->drawn * p->stride;
	bool indexed = p->index != TSR_INDEX_TYPE_NONE;
	struct tsr_indirect_draw_indexed i;
	struct tsr_indirect_draw d;
	enum tsr_step step;

	mem->unit = TSR_UNIT_BINNER;
	step = tsr_bin_read(bin, mem, va, word, indexed ? 20 : 16);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_indirect_draw(word, &d);
	tsr_unpack_indirect_draw_indexed(word, &i);
	bin->draw = (struct tsr_bin_draw){
		.count = d.count, .instances = d.instances, .first = d.first,
		.start = indexed ? i.base_vertex : (int32_t)d.first,
		.first_instance = indexed ? i.first_instance : d.first_instance,
	};
	return TSR_STEP_DONE;
}

static enum tsr_step begin_indirect(struct tsr_binning *bin, struct tsr_mem *mem,
				    const uint64_t *word)
{
	struct tsr_list_draw_indirect p;
	struct draw_header h;
	enum tsr_step step;

	tsr_unpack_list_draw_indirect(word, &p);
	h = (struct draw_header){ p.topology, p.index, p.restart, p.explicit_padding,
				  p.padded_shift, p.padded_odd, p.indices, p.index_bytes };
	step = check_header(bin, mem, &h, 3);
	if (step != TSR_STEP_DONE)
		return step;
	if (p.arguments % 4)
		return draw_fault(bin, mem, 1, TSR_FAULT_ALIGNMENT);
	if (p.stride % 4)
		return draw_fault(bin, mem, 2, TSR_FAULT_ALIGNMENT);
	if (bin->drawn >= p.draws) {
		bin->draw.count = 0;
		bin->phase = TSR_BIN_DRAWN;
		return TSR_STEP_DONE;
	}
	step = read_arguments(bin, mem, &p);
	return step == TSR_STEP_DONE ? begin_draw(bin, mem, &h, 1) : step;
}

static enum tsr_step begin(struct tsr_binning *bin, struct tsr_mem *mem)
{
	const struct tsr_bin_ahead *a = &bin->ahead[bin->ahead_first];
	enum tsr_step step;

	if (!bin->state)
		bin->drawn = 0;
	bin->state = &bin->version[a->version];
	tsr_bin_prefetch(bin, mem);
	step = tsr_bin_load_state(bin, mem);
	if (step != TSR_STEP_DONE)
		return step;
	if (tsr_packet_opcode(a->word[0]) == TSR_OP_LIST_DRAW)
		return begin_direct(bin, mem, a->word);
	if (tsr_packet_opcode(a->word[0]) == TSR_OP_LIST_DRAW_AUTO)
		return begin_auto(bin, mem, a->word);
	return begin_indirect(bin, mem, a->word);
}

/* The draw is done: the next one of the packet, or the next packet. */
static enum tsr_step drawn(struct tsr_binning *bin, struct tsr_mem *mem)
{
	const struct tsr_bin_ahead *a = &bin->ahead[bin->ahead_first];
	bool indirect = tsr_packet_opcode(a->word[0]) == TSR_OP_LIST_DRAW_INDIRECT;
	struct tsr_list_draw_indirect p;
	enum tsr_step step = tsr_bin_add_statistics(bin, mem);

	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_list_draw_indirect(a->word, &p);
	tsr_bin_spend(bin, 8);
	if (indirect && bin->drawn < p.draws && ++bin->drawn < p.draws) {
		bin->phase = TSR_BIN_BEGIN;
		return TSR_STEP_DONE;
	}
	bin->state->draws--;
	bin->state = NULL;
	bin->ahead_first = (bin->ahead_first + 1) % TSR_BIN_AHEAD;
	bin->ahead_count--;
	bin->phase = TSR_BIN_LIST;
	return TSR_STEP_DONE;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static enum tsr_step input(struct tsr_binning *bin, struct tsr_mem *mem)
{
	enum tsr_step step = tsr_bin_input(bin, mem);

	if (step == TSR_STEP_PENDING || step == TSR_STEP_FAULT)
		return step;
	if (step == TSR_STEP_MORE && bin->effort < 0)
		return step;
	if (step == TSR_STEP_MORE)
		bin->stat[bin->batch.primitives == TSR_BATCH_PRIMITIVES ? TSR_BIN_PIPE_STALLS :
									  TSR_BIN_TAG_STALLS]++;
	bin->phase = bin->batch.primitives ? TSR_BIN_SHADE : TSR_BIN_DRAWN;
	bin->stat[TSR_BIN_INPUT_PRIMITIVES] += bin->batch.primitives;
	bin->run->threads = bin->run->records = bin->batch.vertices;
	return TSR_STEP_DONE;
}

/* The batch's primitives are to be drawn, if any are. */
static void rasterize(struct tsr_binning *bin)
{
	bin->phase = TSR_BIN_ASSEMBLE;
	if (bin->state->geometry && bin->state->geometry->geometry)
		tsr_strips_draw(bin);
	if (bin->state->draw->discard)
		bin->batch.next = bin->batch.primitives;
	else
		tsr_bin_project(bin);
}

static enum tsr_step shade(struct tsr_binning *bin, struct tsr_mem *mem)
{
	enum tsr_step step = bin->shade(bin, mem);

	if (step != TSR_STEP_DONE)
		return step;
	if (!bin->state->geometry || bin->stages->stage == TSR_STAGE_VERTEX) {
		bin->stat[TSR_BIN_VERTEX_INVOCATIONS] += bin->batch.vertices;
		bin->stat[TSR_BIN_BATCHES]++;
	}
	if (bin->state->geometry) {
		tsr_geometry_shaded(bin);
		bin->phase = TSR_BIN_STAGES;
	} else {
		rasterize(bin);
	}
	return TSR_STEP_DONE;
}

/* Ends a batch whose primitives have been processed. */
static void end_batch(struct tsr_binning *bin)
{
	const bool more_input = bin->draw.instance < bin->draw.instances;

	bin->phase = more_input ? TSR_BIN_INPUT : TSR_BIN_DRAWN;
	if (more_input)
		tsr_bin_batch_begin(bin);
}

static enum tsr_step stages(struct tsr_binning *bin)
{
	switch (tsr_geometry_next(bin)) {
	case TSR_GEOMETRY_SHADE:
		bin->phase = TSR_BIN_SHADE;
		break;
	case TSR_GEOMETRY_BATCH:
		if (tsr_stream_wants(bin))
			bin->phase = TSR_BIN_STREAM;
		else
			rasterize(bin);
		break;
	case TSR_GEOMETRY_END:
		end_batch(bin);
		break;
	default:
		break;
	}
	return TSR_STEP_DONE;
}

static enum tsr_step stream(struct tsr_binning *bin, struct tsr_mem *mem)
{
	enum tsr_step step = tsr_stream_batch(bin, mem);

	if (step == TSR_STEP_DONE)
		rasterize(bin);
	return step;
}

static enum tsr_step assemble(struct tsr_binning *bin)
{
	tsr_bin_assemble(bin);
	if (bin->outs)
		bin->phase = TSR_BIN_COPY;
	else if (bin->state->geometry)
		bin->phase = TSR_BIN_STAGES;
	else
		end_batch(bin);
	return TSR_STEP_DONE;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Part of a step: _DONE, bin->phase says what is next. */
static enum tsr_step run_phase(struct tsr_binning *bin, struct tsr_mem *mem)
{
	enum tsr_step step;

	switch (bin->phase) {
	case TSR_BIN_LIST:
		return go_ahead(bin, mem);
	case TSR_BIN_BEGIN:
		return begin(bin, mem);
	case TSR_BIN_INPUT:
		return input(bin, mem);
	case TSR_BIN_SHADE:
		return shade(bin, mem);
	case TSR_BIN_STAGES:
		return stages(bin);
	case TSR_BIN_STREAM:
		return stream(bin, mem);
	case TSR_BIN_ASSEMBLE:
		return assemble(bin);
	case TSR_BIN_COPY:
		step = tsr_bin_copy_states(bin, mem);
		bin->phase = step == TSR_STEP_DONE ? TSR_BIN_RECORD : TSR_BIN_COPY;
		return step;
	case TSR_BIN_RECORD:
		step = tsr_bin_write_record(bin, mem);
		bin->phase = step == TSR_STEP_DONE ? TSR_BIN_TILES : TSR_BIN_RECORD;
		return step;
	case TSR_BIN_TILES:
		step = tsr_bin_append(bin, mem);
		bin->phase = step == TSR_STEP_DONE ? TSR_BIN_ASSEMBLE : TSR_BIN_TILES;
		return step;
	case TSR_BIN_DRAWN:
		return drawn(bin, mem);
	case TSR_BIN_FINISH:
		step = tsr_bin_finish_lists(bin, mem);
		bin->phase = step == TSR_STEP_DONE ? TSR_BIN_HEADER : TSR_BIN_FINISH;
		return step;
	default:
		step = tsr_bin_finish_heap(bin, mem);
		bin->phase = step == TSR_STEP_DONE ? TSR_BIN_COMPLETE : TSR_BIN_HEADER;
		return step;
	}
}

enum tsr_step tsr_bin_run(struct tsr_binning *bin, struct tsr_mem *mem)
{
	enum tsr_step step = TSR_STEP_DONE;

	bin->effort = bin->step_effort;
	bin->read = bin->written = bin->cycles = 0;
	while (step == TSR_STEP_DONE && bin->phase != TSR_BIN_COMPLETE && bin->effort >= 0) {
		step = run_phase(bin, mem);
		if (tsr_stop_requested(mem))
			break;
	}
	tsr_access_stop(bin->access, mem->port);
	bin->stat[TSR_BIN_HEAP_BYTES] = bin->used;
	if (step == TSR_STEP_DONE && bin->phase != TSR_BIN_COMPLETE)
		return TSR_STEP_MORE;
	return step;
}
