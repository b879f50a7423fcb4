/* SPDX-License-Identifier: MIT */
/* Stream-out: see stream_out.h. */
#include "binner/bin.h"

#include <string.h>

#include "memory/descriptor.h"
#include "stages.h"

/* ---- The draw begins: targets ---------------------------------------------------------------- */

static int find_counter(const struct tsr_stream_out *out, uint64_t va)
{
	for (unsigned int i = 0; i < out->counters; i++) {
		if (out->counter[i].va == va)
			return (int)i;
	}
	return -1;
}

/* Have the counter at @va, of the STREAM_TARGET at @target. */
static enum tsr_step acquire_counter(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t target,
				     uint64_t va, uint8_t *which)
{
	struct tsr_stream_out *out = &bin->stages->out;
	int found = find_counter(out, va);
	enum tsr_step step;
	uint64_t filled;

	if (found >= 0) {
		*which = (uint8_t)found;
		return TSR_STEP_DONE;
	}
	if (out->counters == TSR_STREAM_OUT_COUNTERS_MAX)
		return tsr_mem_bad_packet(mem, target, TSR_STREAM_TARGET_COUNTER__QWORD,
					  TSR_FAULT_BAD_VALUE);
	step = tsr_bin_read(bin, mem, va, &filled, sizeof(filled));
	if (step != TSR_STEP_DONE)
		return step;
	if (filled % 4)
		return tsr_mem_bad_packet(mem, va, 0, TSR_FAULT_ALIGNMENT);
	*which = out->counters;
	out->counter[out->counters++] = (struct tsr_stream_counter){ .va = va, .filled = filled };
	return TSR_STEP_DONE;
}

/* Target @t, of the array at @array. */
static enum tsr_step read_target(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t array,
				 unsigned int t)
{
	struct tsr_stream_out *out = &bin->stages->out;
	struct tsr_stream_place *to = &out->target[t];
	uint64_t word[TSR_STREAM_TARGET__QWORDS], va = array + t * sizeof(word);
	struct tsr_stream_target from;
	enum tsr_step step;

	step = tsr_descriptor_read(mem, va, TSR_DESCRIPTOR_STREAM_TARGET, word);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_stream_target(word, &from);
	if (!from.size)
		return TSR_STEP_DONE;
	step = acquire_counter(bin, mem, va, from.counter, &to->counter);
	if (step != TSR_STEP_DONE)
		return step;
	for (unsigned int i = 0; i < t; i++) {
		if (out->target[i].there && out->target[i].counter == to->counter)
			return tsr_mem_bad_packet(mem, va, TSR_STREAM_TARGET_COUNTER__QWORD,
						  TSR_FAULT_BAD_VALUE);
	}
	to->there = true;
	to->base = from.base;
	to->size = from.size;
	to->stride = (uint16_t)from.stride;
	return TSR_STEP_DONE;
}

static enum tsr_step read_targets(struct tsr_binning *bin, struct tsr_mem *mem)
{
	const uint64_t array = bin->state->stream_out;
	struct tsr_stream_out *out = &bin->stages->out;
	enum tsr_step step = TSR_STEP_DONE;

	memset(out->target, 0, sizeof(out->target));
	for (unsigned int t = 0; array && t < TSR_STREAM_OUT_TARGETS && step == TSR_STEP_DONE; t++)
		step = read_target(bin, mem, array, t);
	return step;
}

/* ---- The declaration ------------------------------------------------------------------------- */

struct declaration {
	struct tsr_stream_entry entry[TSR_STREAM_OUT_ENTRIES_MAX];
	unsigned int entries;
	unsigned int words[TSR_STREAM_OUT_STREAMS];	/* that there are of each stream */
};

/* True if entry @e is one that fits the draw and those before it. */
static bool fits(const struct tsr_stream_out *out, struct declaration *d,
		 const struct tsr_stream_entry *e)
{
	const struct tsr_stream_place *target = &out->target[e->target];
	const unsigned int words = e->components + 1u;
	uint8_t others = 0;

	for (unsigned int s = 0; s < TSR_STREAM_OUT_STREAMS; s++)
		others |= s == e->stream ? 0 : out->fed[s];
	d->words[e->stream] += words;
	return e->word + words <= TSR_STAGE_WORDS && !(others >> e->target & 1) &&
	       d->words[e->stream] <= TSR_STREAM_OUT_WORDS_MAX &&
	       (!target->there || e->offset + 4 * words <= target->stride);
}

static enum tsr_step read_entries(struct tsr_binning *bin, struct tsr_mem *mem,
				  struct declaration *d)
{
	const struct tsr_geometry_state *g = bin->state->geometry;
	uint64_t word[TSR_STREAM_OUT_ENTRIES_MAX];
	struct tsr_stages *stages = bin->stages;
	enum tsr_step step;

	step = tsr_bin_read(bin, mem, g->declaration, word, g->entries * sizeof(word[0]));
	if (step != TSR_STEP_DONE)
		return step;
	for (unsigned int i = 0; i < g->entries; i++) {
		struct tsr_stream_entry *e = &d->entry[i];
		unsigned int qword;
		uint8_t code = tsr_descriptor_check(TSR_DESCRIPTOR_STREAM_ENTRY, &word[i], &qword);

		tsr_unpack_stream_entry(&word[i], e);
		if (!code && (!fits(&stages->out, d, e) || !(stages->streams >> e->stream & 1)))
			code = TSR_FAULT_BAD_VALUE;
		if (code)
			return tsr_mem_bad_packet(mem, g->declaration, i, code);
		stages->out.fed[e->stream] |= 1 << e->target;
		for (unsigned int k = 0; k <= e->components; k++)
			tsr_stage_add(&stages->declared[e->stream], e->word + k);
	}
	d->entries = g->entries;
	return TSR_STEP_DONE;
}

/* Lists the words of each target as runs. */
static void make_runs(struct tsr_stream_out *out, const struct declaration *d)
{
	uint16_t runs = 0, words = 0;

	for (unsigned int t = 0; t < TSR_STREAM_OUT_TARGETS; t++) {
		out->target[t].run = runs;
		for (unsigned int i = 0; i < d->entries; i++) {
			const struct tsr_stream_entry *e = &d->entry[i];
			struct tsr_stream_run *run = runs ? &out->run[runs - 1] : NULL;

			if (e->target != t)
				continue;
			if (runs == out->target[t].run ||
			    run->offset + run->words != e->offset / 4) {
				run = &out->run[runs++];
				*run = (struct tsr_stream_run){ e->offset / 4, 0, words, true };
			}
			run->straight &= !run->words ||
					 out->source[words - 1] + 1u == e->word;
			for (unsigned int k = 0; k <= e->components; k++)
				out->source[words++] = (uint8_t)(e->word + k);
			run->words += e->components + 1;
		}
		out->target[t].runs = runs - out->target[t].run;
	}
	out->entries = (uint16_t)d->entries;
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* Have the query of each stream, if the draw has one. */
static enum tsr_step acquire_queries(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_stream_out *out = &bin->stages->out;

	for (unsigned int s = 0; s < TSR_STREAM_OUT_STREAMS; s++) {
		const uint64_t va = bin->state->stream_query[s];
		unsigned int i = 0;

		out->query_of[s] = 0;
		if (!va)
			continue;
		while (i < out->queries && out->query[i].va != va)
			i++;
		if (i == TSR_STREAM_OUT_COUNTERS_MAX) {
			mem->unit = TSR_UNIT_LIST;
			return tsr_mem_bad_packet(mem, bin->ahead[bin->ahead_first].pc, 0,
						  TSR_FAULT_BAD_VALUE);
		}
		if (i == out->queries)
			out->query[out->queries++] = (struct tsr_stream_query){ .va = va };
		out->query_of[s] = (uint8_t)(i + 1);
	}
	return TSR_STEP_DONE;
}

enum tsr_step tsr_stream_begin(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_stages *stages = bin->stages;
	struct declaration d = { .entries = 0 };
	enum tsr_step step = acquire_queries(bin, mem);

	mem->unit = TSR_UNIT_BINNER;
	memset(stages->out.fed, 0, sizeof(stages->out.fed));
	memset(stages->declared, 0, sizeof(stages->declared));
	stages->out.entries = 0;
	if (step != TSR_STEP_DONE || !bin->state->geometry->entries)
		return step;
	step = read_targets(bin, mem);
	if (step == TSR_STEP_DONE)
		step = read_entries(bin, mem, &d);
	if (step == TSR_STEP_DONE)
		make_runs(&stages->out, &d);
	return step;
}

bool tsr_stream_wants(const struct tsr_binning *bin)
{
	const struct tsr_stream_out *out = &bin->stages->out;
	uint8_t any = out->entries != 0;

	for (unsigned int s = 0; s < TSR_STREAM_OUT_STREAMS; s++)
		any |= out->query_of[s];
	return any;
}

/* ---- Primitives ------------------------------------------------------------------------------ */

/* True if @vertices find room in all targets of @stream. */
static bool targets_fit(const struct tsr_stream_out *out, unsigned int vertices,
			unsigned int stream)
{
	for (unsigned int t = 0; t < TSR_STREAM_OUT_TARGETS; t++) {
		const struct tsr_stream_place *target = &out->target[t];
		uint64_t filled = out->counter[target->counter].filled;

		if (!(out->fed[stream] >> t & 1))
			continue;
		if (!target->there || filled > target->size ||
		    target->size - filled < (uint64_t)vertices * target->stride)
			return false;
	}
	return true;
}

/* The words of @run of vertex @slot. */
static void gather(const struct tsr_stream_out *out, const struct tsr_stage_block *block,
		   unsigned int slot, const struct tsr_stream_run *run, uint32_t *word)
{
	const uint8_t *source = &out->source[run->first];
	const uint32_t *all = run->straight ? tsr_stage_words(block, slot, *source, run->words) :
					      NULL;

	if (all)
		tsr_stage_copy(word, all, run->words);
	for (unsigned int k = 0; !all && k < run->words; k++)
		word[k] = tsr_stage_output(block, slot, source[k]);
}

/* Vertex @slot, to @va of target @t. */
static enum tsr_step put_vertex(struct tsr_binning *bin, struct tsr_mem *mem,
				const struct tsr_stage_block *block, unsigned int slot,
				const struct tsr_stream_place *target, uint64_t va)
{
	const struct tsr_stream_out *out = &bin->stages->out;
	uint32_t word[TSR_STREAM_OUT_WORDS_MAX];

	for (unsigned int i = 0; i < target->runs; i++) {
		const struct tsr_stream_run *run = &out->run[target->run + i];
		enum tsr_step step;

		gather(out, block, slot, run, word);
		step = tsr_bin_write(bin, mem, va + 4u * run->offset, word, 4u * run->words);
		if (step != TSR_STEP_DONE)
			return step;
	}
	return TSR_STEP_DONE;
}

/* The vertices at @slots, to @va of @target. */
static enum tsr_step put_primitive(struct tsr_binning *bin, struct tsr_mem *mem,
				   const struct tsr_stage_block *block, const uint8_t *slots,
				   unsigned int vertices, const struct tsr_stream_place *target,
				   uint64_t va)
{
	const struct tsr_stream_run *run = &bin->stages->out.run[target->run];
	uint32_t word[3 * TSR_STREAM_OUT_WORDS_MAX];
	enum tsr_step step = TSR_STEP_DONE;

	/* without gaps it is one piece */
	if (target->runs == 1 && 4u * run->words == target->stride) {
		for (unsigned int v = 0; v < vertices; v++)
			gather(&bin->stages->out, block, slots[v], run, &word[v * run->words]);
		return tsr_bin_write(bin, mem, va, word, vertices * target->stride);
	}
	for (unsigned int v = 0; v < vertices && step == TSR_STEP_DONE; v++, va += target->stride)
		step = put_vertex(bin, mem, block, slots[v], target, va);
	return step;
}

/* Declared words of the vertices that have not been written. */
static void count_unwritten(struct tsr_binning *bin, const struct tsr_stage_block *block,
			    const uint8_t *slots, unsigned int vertices, unsigned int stream)
{
	for (unsigned int v = 0; v < vertices; v++)
		bin->stat[TSR_BIN_STAGE_UNWRITTEN] +=
			tsr_stage_unwritten(block, slots[v], &bin->stages->declared[stream]);
}

enum tsr_step tsr_stream_put(struct tsr_binning *bin, struct tsr_mem *mem,
			     const struct tsr_stage_block *block, const uint8_t *slots,
			     unsigned int vertices, unsigned int stream)
{
	struct tsr_stream_out *out = &bin->stages->out;
	struct tsr_stream_query *query =
		out->query_of[stream] ? &out->query[out->query_of[stream] - 1] : NULL;
	bool fits = targets_fit(out, vertices, stream);

	mem->unit = TSR_UNIT_BINNER;
	for (unsigned int t = 0; fits && t < TSR_STREAM_OUT_TARGETS; t++) {
		const struct tsr_stream_place *target = &out->target[t];
		enum tsr_step step;

		if (!(out->fed[stream] >> t & 1))
			continue;
		step = put_primitive(bin, mem, block, slots, vertices, target,
				     target->base + out->counter[target->counter].filled);
		if (step != TSR_STEP_DONE)
			return step;
	}
	tsr_bin_spend(bin, 1);
	if (query)
		query->needed++;
	if (!out->fed[stream])
		return TSR_STEP_DONE;
	bin->stat[fits ? TSR_BIN_STREAM_PRIMITIVES : TSR_BIN_STREAM_OVERFLOWS]++;
	if (!fits)
		return TSR_STEP_DONE;
	if (query)
		query->written++;
	count_unwritten(bin, block, slots, vertices, stream);
	for (unsigned int t = 0; t < TSR_STREAM_OUT_TARGETS; t++) {
		if (out->fed[stream] >> t & 1)
			out->counter[out->target[t].counter].filled +=
				(uint64_t)vertices * out->target[t].stride;
	}
	return TSR_STEP_DONE;
}

/* The vertices of primitive @p: the provoking one first, or last. Returns how many. */
static unsigned int streamed_slots(uint64_t p, bool provoking_last, uint8_t slots[3])
{
	const unsigned int vertices = tsr_bin_vertices(p);
	const unsigned int provoking = p >> TSR_HEAP_PRIMITIVE_PROVOKING__SHIFT & 3;

	for (unsigned int i = 0; i < vertices; i++)
		slots[i] = tsr_bin_slot(p, (provoking + provoking_last + i) % vertices);
	return vertices;
}

enum tsr_step tsr_stream_batch(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_stream_out *out = &bin->stages->out;
	const struct tsr_bin_batch *b = &bin->batch;

	for (; out->next < b->primitives; out->next++) {
		uint8_t slots[3];
		unsigned int vertices = streamed_slots(b->primitive[out->next],
						       bin->state->draw->provoking_last, slots);
		enum tsr_step step;

		if (bin->effort < 0)
			return TSR_STEP_MORE;
		step = tsr_stream_put(bin, mem, bin->stages->last, slots, vertices,
				      bin->state->geometry->geometry ?
					      bin->stages->emit->stream[out->next] : 0);
		if (step != TSR_STEP_DONE)
			return step;
	}
	return TSR_STEP_DONE;
}

/* ---- Counters -------------------------------------------------------------------------------- */

enum tsr_step tsr_stream_filled(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t va,
				uint64_t *filled)
{
	int found = bin->stages ? find_counter(&bin->stages->out, va) : -1;

	if (found < 0)
		return tsr_bin_read(bin, mem, va, filled, sizeof(*filled));
	*filled = bin->stages->out.counter[found].filled;
	return TSR_STEP_DONE;
}
