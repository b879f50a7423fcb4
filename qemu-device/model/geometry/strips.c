/* SPDX-License-Identifier: MIT */
/* Geometry shaders: see strips.h. */
#include "strips.h"

#include <stdlib.h>
#include <string.h>

#include "stages.h"

bool tsr_strips_begin(struct tsr_stages *stages)
{
	if (!stages->emit)
		stages->emit = calloc(1, sizeof(*stages->emit));
	return stages->emit;
}

void tsr_strips_prepare(struct tsr_binning *bin)
{
	const struct tsr_stage_header *h = &bin->stages->header[TSR_STAGE_GEOMETRY];
	struct tsr_emit *e = bin->stages->emit;
	unsigned int words = 0;

	e->pieces = 0;
	for (unsigned int n = 0; n < TSR_STAGE_WORDS; n++) {
		if (!tsr_stage_has(&e->block.out, n))
			continue;
		e->rank[n] = (uint8_t)words++;
		if (!n || !tsr_stage_has(&e->block.out, n - 1)) {
			e->piece[e->pieces] = (uint8_t)n;
			e->length[e->pieces++] = 0;
		}
		e->length[e->pieces - 1]++;
	}
	e->words = (uint16_t)(words ? words : 1);
	e->most = (uint16_t)h->max_vertices;
	e->instances = (uint8_t)(h->threads ? h->threads : 1);
	e->corners = (uint8_t)(h->output + 1);
	e->streams = (uint8_t)h->streams;
	e->at_once = TSR_BATCH_VERTICES;
	if (TSR_EMIT_WORDS / (e->most * e->words) < e->at_once)
		e->at_once = (uint16_t)(TSR_EMIT_WORDS / (e->most * e->words));
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* The primitives of the batch, as a list. */
static void list_primitives(struct tsr_binning *bin, struct tsr_stage_list *list)
{
	const struct tsr_bin_batch *b = &bin->batch;

	list->points = (uint8_t)tsr_bin_vertices(b->primitive[0]);
	for (unsigned int i = 0; i < b->primitives; i++) {
		for (unsigned int k = 0; k < list->points; k++)
			list->slot[i][k] = (uint8_t)tsr_bin_slot(b->primitive[i], k);
		list->id[i] = (uint32_t)(b->primitive[i] >> 32);
		list->instance[i] = bin->run->instance[list->slot[i][0]];
	}
}

void tsr_strips_input(struct tsr_binning *bin)
{
	const uint8_t input = (uint8_t)bin->stages->header[TSR_STAGE_GEOMETRY].input;
	struct tsr_stage_list *in = &bin->stages->input;
	struct tsr_emit *e = bin->stages->emit;

	if (input >= TSR_GEOMETRY_INPUT_LINES_ADJACENCY) {
		memcpy(&e->list, in, sizeof(*in));
		e->list.points = input == TSR_GEOMETRY_INPUT_LINES_ADJACENCY	 ? 4 :
				 input == TSR_GEOMETRY_INPUT_TRIANGLES_ADJACENCY ? 6 :
				 bin->state->geometry->patch_points;
	} else {
		list_primitives(bin, &e->list);
	}
	e->list.count = bin->batch.primitives;
	e->first = 0;
	e->threads = 0;
	e->all = (uint32_t)e->list.count * e->instances;
	bin->stages->next = TSR_NEXT_THREADS;
	tsr_bin_spend(bin, e->list.count);
}

static enum tsr_geometry_step next_threads(struct tsr_binning *bin, struct tsr_emit *e)
{
	struct tsr_stage_group *g = &bin->stages->group;

	e->first += e->threads;
	if (e->first >= e->all) {
		bin->stages->next = bin->state->geometry->domain ? TSR_NEXT_POINTS :
								   TSR_NEXT_NOTHING;
		return TSR_GEOMETRY_AGAIN;
	}
	e->threads = e->all - e->first < e->at_once ? (uint16_t)(e->all - e->first) : e->at_once;
	bin->stat[TSR_BIN_GEOMETRY_STALLS] += e->threads == e->at_once &&
					      e->at_once < TSR_BATCH_VERTICES;
	memset(g->live, 0, sizeof(g->live));
	for (unsigned int n = 0; n < e->threads; n++) {
		const unsigned int primitive = (e->first + n) / e->instances;

		g->primitive[n] = (uint8_t)primitive;
		g->thread[n] = (uint16_t)((e->first + n) % e->instances);
		g->live[n / TSR_WARP_LANES] |= 1u << n % TSR_WARP_LANES;
		bin->run->vertex[n] = e->list.id[primitive];
		bin->run->instance[n] = e->list.instance[primitive];
		bin->run->slot[n] = (uint16_t)n;
	}
	bin->run->threads = e->threads;
	bin->stages->stage = TSR_STAGE_GEOMETRY;
	return TSR_GEOMETRY_SHADE;
}

void tsr_strips_bind(struct tsr_binning *bin)
{
	struct tsr_stage_group *g = &bin->stages->group;
	struct tsr_emit *e = bin->stages->emit;

	g->in = bin->state->geometry->domain ? &bin->stages->patches->domain :
					       &bin->stages->vertex;
	g->list = &e->list;
	g->patch = NULL;
	g->emit = e;
	g->points = 0;
	g->trap = bin->stages->header[TSR_STAGE_GEOMETRY].trap_handles;
	bin->run->group = g;
	bin->run->block = &e->block;
	tsr_stage_block_begin(&e->block, 0);
	memset(e->emitted, 0, sizeof(e->emitted));
	memset(e->written, 0, sizeof(e->written));
	memset(e->flags, 0, sizeof(e->flags));
}

void tsr_strips_shaded(struct tsr_binning *bin)
{
	struct tsr_emit *e = bin->stages->emit;

	bin->stat[TSR_BIN_GEOMETRY_INVOCATIONS] += e->threads;
	for (unsigned int n = 0; n < e->threads; n++)
		bin->stat[TSR_BIN_GEOMETRY_VERTICES] += e->emitted[n];
	e->thread = e->vertex = 0;
	e->open = false;
	e->held = 0;
	e->odd = false;
	bin->stages->next = TSR_NEXT_STRIPS;
}

/* ---- Primitives ------------------------------------------------------------------------------ */

/* True if all words of the vertex that begins at @place have been written. */
static bool is_whole(const struct tsr_emit *e, unsigned int place)
{
	const unsigned int end = place + e->words;

	while (place < end) {
		const unsigned int left = end - place, here = 64 - place % 64;
		const unsigned int n = here < left ? here : left;
		const uint64_t bits = (n < 64 ? 1ull << n : 0) - 1;

		if (bits << place % 64 & ~e->written[place / 64])
			return false;
		place += n;
	}
	return true;
}

/* Words of vertex @vertex of the present thread to @slot of the block. */
static void copy_vertex(struct tsr_emit *e, unsigned int vertex, unsigned int slot)
{
	const unsigned int place = (e->thread * e->most + vertex) * e->words;
	struct tsr_stage_block *b = &e->block;
	const uint32_t *from = &e->word[place];

	if (is_whole(e, place)) {
		b->written[slot] = b->out;
		for (unsigned int i = 0; i < e->pieces; from += e->length[i++])
			tsr_stage_copy(&b->word[slot][e->piece[i]], from, e->length[i]);
		return;
	}
	memset(&b->written[slot], 0, sizeof(b->written[slot]));
	for (unsigned int n = 0; n < TSR_STAGE_WORDS; n++) {
		if (tsr_stage_has(&b->out, n) && tsr_emit_has(e, place + e->rank[n]))
			tsr_stage_store(b, slot, n, e->word[place + e->rank[n]]);
	}
}

/* Have vertex @vertex of the present thread in the block; returns its slot. */
static unsigned int add_vertex(struct tsr_binning *bin, struct tsr_emit *e, unsigned int vertex)
{
	const unsigned int slot = bin->batch.vertices++, first = e->first + e->thread;
	struct tsr_stage_block *b = &e->block;

	copy_vertex(e, vertex, slot);
	b->vertices = slot + 1;
	bin->run->vertex[slot] = e->list.id[first / e->instances];
	bin->run->instance[slot] = e->list.instance[first / e->instances];
	tsr_bin_spend(bin, 1 + e->words / 16);
	return slot;
}

/* The number of a primitive whose provoking vertex is @slot. */
static uint64_t number(const struct tsr_binning *bin, const struct tsr_emit *e, unsigned int slot)
{
	if (tsr_stage_has(&e->block.written[slot], TSR_STAGE_PRIMITIVE_ID))
		return e->block.word[slot][TSR_STAGE_PRIMITIVE_ID];
	return bin->run->vertex[slot];
}

/* The strip's last vertices and @vertex are a primitive of @stream. False: it finds no room. */
static bool add_primitive(struct tsr_binning *bin, struct tsr_emit *e, unsigned int vertex,
			  unsigned int stream)
{
	struct tsr_bin_batch *b = &bin->batch;
	const unsigned int old = e->corners - 1u;
	unsigned int fresh = 1, slot[3], provoking = 0;
	uint64_t word;

	for (unsigned int i = 0; i < old; i++)
		fresh += e->slot_of[i] == TSR_STAGE_NO_SLOT;
	if (b->primitives == TSR_STAGE_PRIMITIVES(bin) ||
	    b->vertices + fresh > TSR_BATCH_VERTICES)
		return false;
	for (unsigned int i = 0; i < old; i++) {
		if (e->slot_of[i] == TSR_STAGE_NO_SLOT)
			e->slot_of[i] = (uint16_t)add_vertex(bin, e, e->before[i]);
		slot[i] = e->slot_of[i];
	}
	slot[old] = add_vertex(bin, e, vertex);
	if (old == 2 && e->odd) {
		const unsigned int last = slot[2];

		slot[2] = slot[1];
		slot[1] = last;
	}
	if (bin->state->draw->provoking_last)
		provoking = old == 2 && e->odd ? 1 : old;
	word = number(bin, e, slot[provoking]) << 32 |
	       (uint64_t)e->corners << TSR_HEAP_PRIMITIVE_VERTICES__SHIFT |
	       (uint64_t)provoking << TSR_HEAP_PRIMITIVE_PROVOKING__SHIFT;
	for (unsigned int i = 0; i <= old; i++)
		word |= (uint64_t)slot[i] << 8 * i;
	e->stream[b->primitives] = (uint8_t)stream;
	b->primitive[b->primitives++] = word;
	bin->stat[TSR_BIN_GEOMETRY_PRIMITIVES]++;
	return true;
}

/* The present vertex of the present thread. False: the primitive it completes finds no room. */
static bool next_vertex(struct tsr_binning *bin, struct tsr_emit *e)
{
	const uint8_t flags = e->flags[e->thread * e->most + e->vertex];
	const unsigned int old = e->corners - 1u;
	unsigned int slot = TSR_STAGE_NO_SLOT;

	if (!(e->streams >> (flags & TSR_EMIT_STREAM) & 1))
		return true;
	if (e->held == old) {
		const unsigned int i = bin->batch.primitives;

		if (!add_primitive(bin, e, e->vertex, flags & TSR_EMIT_STREAM))
			return false;
		slot = tsr_bin_slot(bin->batch.primitive[i], old == 2 && e->odd ? 1 : old);
		e->odd = !e->odd;
	} else {
		e->held++;
	}
	if (old == 2) {
		e->before[0] = e->before[1];
		e->slot_of[0] = e->slot_of[1];
	}
	if (old) {
		e->before[old - 1] = e->vertex;
		e->slot_of[old - 1] = (uint16_t)slot;
	}
	if (flags & TSR_EMIT_CUT) {
		e->held = 0;
		e->odd = false;
	}
	return true;
}

/* Primitives of thread after thread, as many as find room. False: there is more to come. */
static bool fill_block(struct tsr_binning *bin, struct tsr_emit *e)
{
	for (; e->thread < e->threads; e->thread++) {
		for (; e->vertex < e->emitted[e->thread]; e->vertex++) {
			if (bin->effort < 0 || !next_vertex(bin, e))
				return false;
			tsr_bin_spend(bin, 1);
		}
		e->vertex = 0;
		e->held = 0;
		e->odd = false;
		tsr_bin_spend(bin, 1);
	}
	return true;
}

/* Begin an empty block. What a strip has held before is in none. */
static void begin_block(struct tsr_binning *bin, struct tsr_emit *e)
{
	e->open = true;
	bin->batch.vertices = bin->batch.primitives = bin->batch.next = 0;
	bin->batch.vertex_data = 0;
	e->slot_of[0] = e->slot_of[1] = TSR_STAGE_NO_SLOT;
}

static enum tsr_geometry_step next_block(struct tsr_binning *bin, struct tsr_emit *e)
{
	bool all;

	if (!e->open)
		begin_block(bin, e);
	all = fill_block(bin, e);
	if (!all && bin->effort < 0)
		return TSR_GEOMETRY_AGAIN;
	e->open = false;
	if (all)
		bin->stages->next = TSR_NEXT_THREADS;
	return bin->batch.primitives ? TSR_GEOMETRY_BATCH : TSR_GEOMETRY_AGAIN;
}

enum tsr_geometry_step tsr_strips_next(struct tsr_binning *bin)
{
	struct tsr_emit *e = bin->stages->emit;

	return bin->stages->next == TSR_NEXT_THREADS ? next_threads(bin, e) : next_block(bin, e);
}

void tsr_strips_draw(struct tsr_binning *bin)
{
	const unsigned int drawn = bin->state->geometry->raster_stream;
	const struct tsr_emit *e = bin->stages->emit;
	struct tsr_bin_batch *b = &bin->batch;
	unsigned int n = 0;

	for (unsigned int i = 0; i < b->primitives; i++) {
		b->primitive[n] = b->primitive[i];
		n += e->stream[i] == drawn;
	}
	b->primitives = (uint16_t)n;
}
