/* SPDX-License-Identifier: MIT */
#include "tile_list.h"

#include <stdlib.h>
#include <string.h>

#include "shader/core.h"

/* Bytes of a block before the offset of the next. */
#define BLOCK_ENTRIES (TSR_HEAP_BLOCK_BYTES - 4)
/* Batch records whose headers a reader keeps: those of some rows of tiles. */
#define CACHED_LOG2 10
#define CACHED (1u << CACHED_LOG2)
/* Entries without a primitive that are read in one call. */
#define ENTRIES_AT_ONCE 256

struct tsr_tile_reader {
	struct tsr_frame_heap heap;
	uint8_t block[TSR_HEAP_BLOCK_BYTES];
	uint32_t at;			/* offset of the block; 0: the list has ended */
	uint32_t next;			/* of the block after it; 0: none */
	uint32_t entry;			/* of @block to be read next */
	bool held;			/* @block holds the block at @at */
	uint32_t offset;		/* of the batch record the list is in, 0: in none yet */
	const struct tsr_batch *batch;	/* that record, NULL: not read yet */
	int32_t last;			/* primitive of it named last */
	uint32_t run;			/* primitives after that one that are named as well */
	uint32_t known[CACHED];		/* offsets of records in @cached, 0: none */
	struct tsr_batch cached[CACHED];
};

/* Where the header of the record at @offset is cached. */
static unsigned int cached_at(uint32_t offset)
{
	return offset / 64 * 0x9e3779b1u >> (32 - CACHED_LOG2);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Read @len bytes at @va. */
static enum tsr_step read_memory(struct tsr_mem *mem, uint64_t va, void *to, unsigned int len)
{
	struct tsr_shader *shader = mem->thread->shader;

	if (!shader)
		return tsr_mem_read(mem, va, to, len);
	tsr_access_reserve(&shader->access, mem);
	return tsr_access_read(&shader->access, mem, va, to, len);
}

/* The @len bytes at @va if they lie in one page that is at hand; else NULL. */
static inline const uint8_t *at_hand(const struct tsr_mem *mem, uint64_t va, unsigned int len)
{
	const struct tsr_shader *shader = mem->thread->shader;
	unsigned int offset = va % TSR_ACCESS_PAGE_BYTES;
	const uint8_t *page;

	if (!shader || shader->access.as != mem->as || offset > TSR_ACCESS_PAGE_BYTES - len)
		return NULL;
	page = tsr_access_find(&shader->access, shader->access.read, va);
	return page ? page + offset : NULL;
}

/* Read @len bytes at @va, more than a few. */
static enum tsr_step read_array(struct tsr_mem *mem, uint64_t va, void *to, unsigned int len)
{
	uint8_t *out = to;

	while (len) {
		unsigned int n = TSR_ACCESS_PAGE_BYTES - va % TSR_ACCESS_PAGE_BYTES;
		const uint8_t *from;

		n = n < len ? n : len;
		from = at_hand(mem, va, n);
		if (from) {
			memcpy(out, from, n);
		} else {
			enum tsr_step step;

			n = n < TSR_ACCESS_COPY_MAX ? n : TSR_ACCESS_COPY_MAX;
			step = read_memory(mem, va, out, n);
			if (step != TSR_STEP_DONE)
				return step;
		}
		va += n;
		out += n;
		len -= n;
	}
	return TSR_STEP_DONE;
}

/* Raises a fault for a malformed structure at @offset of the heap. */
static enum tsr_step wrong(struct tsr_mem *mem, const struct tsr_frame_heap *heap, uint32_t offset)
{
	return tsr_mem_bad_packet(mem, heap->base + offset, 0, TSR_FAULT_HEAP_CONTENT);
}

/* True if @count structures of @size bytes at @offset lie in the heap. */
static bool within(const struct tsr_frame_heap *heap, uint32_t offset, uint32_t count,
		   uint32_t size)
{
	return offset >= TSR_HEAP_HEADER__QWORDS * 8 && !(offset % 16) &&
	       offset + (uint64_t)count * size <= heap->used;
}

enum tsr_step tsr_heap_open(struct tsr_mem *mem, const struct tsr_frame_info *info,
			    struct tsr_frame_heap *heap)
{
	uint64_t word[TSR_HEAP_HEADER__QWORDS];
	struct tsr_heap_header h;
	enum tsr_step step;

	mem->unit = TSR_UNIT_TILE;
	step = tsr_mem_read(mem, info->frame.heap, word, sizeof(word));
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_heap_header(word, &h);
	*heap = (struct tsr_frame_heap){
		.base = info->frame.heap, .used = h.used, .lists = h.lists,
		.last_batch = h.batch, .batches = h.batches, .tiles = info->tiles,
		.tiles_x = info->tiles_x, .tiles_y = info->tiles_y, .layers = info->frame.layers,
	};
	if (h.magic != TSR_HEAP_MAGIC || h.tiles_x != info->tiles_x ||
	    h.tiles_y != info->tiles_y || h.layers != info->frame.layers ||
	    h.used > TSR_HEAP_SIZE_MAX || !within(heap, h.lists, info->tiles, 4))
		return wrong(mem, heap, 0);
	return TSR_STEP_DONE;
}

/* ---- Batch records --------------------------------------------------------------------------- */

/* True if @offset is 0, or a copy of @qwords or more can be there. */
static bool is_copy(const struct tsr_frame_heap *heap, uint32_t offset, uint32_t qwords)
{
	return !offset || within(heap, offset, qwords, 8);
}

static bool is_sound(const struct tsr_frame_heap *heap, uint32_t offset,
		     const struct tsr_heap_batch *h)
{
	uint32_t n = h->vertices;

	return h->previous < offset && n && n <= TSR_BATCH_VERTICES && h->primitives &&
	       h->primitives <= TSR_BATCH_PRIMITIVES &&
	       h->output_stride <= TSR_VERTEX_OUTPUT_MAX && !(h->output_stride % 16) &&
	       (!h->outputs || within(heap, h->outputs, n, h->output_stride)) &&
	       within(heap, h->vertex_data, n, TSR_HEAP_VERTEX__QWORDS * 8) &&
	       within(heap, h->vertex_ids, n, TSR_HEAP_VERTEX_ID__QWORDS * 8) &&
	       within(heap, h->primitive_data, h->primitives, TSR_HEAP_PRIMITIVE__QWORDS * 8) &&
	       (!h->vertex_extra ||
		within(heap, h->vertex_extra, n, TSR_HEAP_VERTEX_EXTRA__QWORDS * 8)) &&
	       (!h->clipped_data || within(heap, h->clipped_data, 0, 0)) &&
	       h->padded <= 1ull << 32 && !(h->shader_state % 64) && !(h->draw_state % 64) &&
	       !(h->samples_query % 8) && !(h->any_query % 8) && !(h->statistics_query % 8) &&
	       h->shader_copy && is_copy(heap, h->shader_copy, TSR_SHADER_STATE__QWORDS) &&
	       h->draw_copy && is_copy(heap, h->draw_copy, TSR_DRAW_STATE__QWORDS) &&
	       is_copy(heap, h->varying_copy, TSR_SHADER_PROGRAM__QWORDS) &&
	       is_copy(heap, h->fragment_copy, TSR_SHADER_PROGRAM__QWORDS) &&
	       is_copy(heap, h->varying_push, 0) && is_copy(heap, h->fragment_push, 0);
}

static enum tsr_step read_record(struct tsr_mem *mem, const struct tsr_frame_heap *heap,
				 uint32_t offset, struct tsr_heap_batch *h)
{
	uint64_t word[TSR_HEAP_BATCH__QWORDS];
	enum tsr_step step;

	mem->unit = TSR_UNIT_TILE;
	if (offset % 64 || !within(heap, offset, 1, sizeof(word)))
		return wrong(mem, heap, offset);
	step = read_array(mem, heap->base + offset, word, sizeof(word));
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_heap_batch(word, h);
	return is_sound(heap, offset, h) ? TSR_STEP_DONE : wrong(mem, heap, offset);
}

enum tsr_step tsr_heap_batch(struct tsr_mem *mem, const struct tsr_frame_heap *heap,
			     uint32_t offset, struct tsr_batch *batch)
{
	struct tsr_heap_batch h;
	enum tsr_step step = read_record(mem, heap, offset, &h);

	if (step != TSR_STEP_DONE)
		return step;
	*batch = (struct tsr_batch){
		.offset = offset, .previous = h.previous, .shader_state = h.shader_state,
		.draw_state = h.draw_state, .samples_query = h.samples_query,
		.any_query = h.any_query, .statistics_query = h.statistics_query,
		.varying_push = h.varying_push, .fragment_push = h.fragment_push,
		.outputs = h.outputs ? heap->base + h.outputs : 0,
		.output_stride = h.output_stride, .ids = heap->base + h.vertex_ids,
		.padded = h.padded, .start = h.start, .first_instance = h.first_instance,
		.vertices = h.vertices, .primitives = h.primitives, .shared = h.shared,
		.varying = h.varying,
		.vertex_data = h.vertex_data, .extra_data = h.vertex_extra,
		.primitive_data = h.primitive_data, .clipped_data = h.clipped_data,
	};
	return TSR_STEP_DONE;
}

enum tsr_step tsr_heap_copies(struct tsr_mem *mem, const struct tsr_frame_heap *heap,
			      const struct tsr_batch *batch, struct tsr_batch_copies *copies)
{
	struct tsr_heap_batch h;
	enum tsr_step step = read_record(mem, heap, batch->offset, &h);

	if (step != TSR_STEP_DONE)
		return step;
	*copies = (struct tsr_batch_copies){ h.shader_copy, h.draw_copy, h.varying_copy,
					     h.fragment_copy };
	return TSR_STEP_DONE;
}

void tsr_heap_batch_ahead(const struct tsr_mem *mem, const struct tsr_frame_heap *heap,
			  uint32_t offset)
{
	const uint8_t *header = at_hand(mem, heap->base + offset, TSR_HEAP_BATCH__QWORDS * 8);

	if (header) {
		__builtin_prefetch(header);
		__builtin_prefetch(header + TSR_HEAP_BATCH__QWORDS * 4);
	}
}

enum tsr_step tsr_heap_ids(struct tsr_mem *mem, const struct tsr_batch *batch, uint32_t (*ids)[2])
{
	mem->unit = TSR_UNIT_TILE;
	return read_array(mem, batch->ids, ids, batch->vertices * sizeof(*ids));
}

enum tsr_step tsr_heap_used(struct tsr_mem *mem, const struct tsr_frame_heap *heap,
			    const struct tsr_batch *batch,
			    uint64_t used[TSR_BATCH_SLOTS / 64])
{
	uint64_t word[TSR_BATCH_PRIMITIVES];
	enum tsr_step step;

	mem->unit = TSR_UNIT_TILE;
	step = read_array(mem, heap->base + batch->primitive_data, word,
			  batch->primitives * sizeof(*word));
	memset(used, 0, TSR_BATCH_SLOTS / 8);
	for (unsigned int i = 0; step == TSR_STEP_DONE && i < batch->primitives; i++) {
		struct tsr_heap_primitive p;

		tsr_unpack_heap_primitive(&word[i], &p);
		used[p.slot_0 / 64] |= 1ull << p.slot_0 % 64;
		if (p.vertices >= 2)
			used[p.slot_1 / 64] |= 1ull << p.slot_1 % 64;
		if (p.vertices == 3)
			used[p.slot_2 / 64] |= 1ull << p.slot_2 % 64;
	}
	return step;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

struct tsr_tile_reader *tsr_tile_reader_new(void)
{
	return calloc(1, sizeof(struct tsr_tile_reader));
}

void tsr_tile_reader_free(struct tsr_tile_reader *r)
{
	free(r);
}

void tsr_tile_list_forget(struct tsr_tile_reader *r)
{
	memset(r->known, 0, sizeof(r->known));
	r->batch = NULL;
}

enum tsr_step tsr_tile_list_open(struct tsr_tile_reader *r, struct tsr_mem *mem,
				 const struct tsr_frame_heap *heap, unsigned int layer,
				 unsigned int tx, unsigned int ty)
{
	uint32_t tile = (layer * heap->tiles_y + ty) * heap->tiles_x + tx;
	enum tsr_step step;

	if (memcmp(&r->heap, heap, sizeof(*heap))) {
		r->heap = *heap;
		tsr_tile_list_forget(r);
	}
	mem->unit = TSR_UNIT_TILE;
	step = read_memory(mem, heap->base + heap->lists + 4 * (uint64_t)tile, &r->at, 4);
	if (step != TSR_STEP_DONE)
		return step;
	r->held = false;
	r->offset = 0;
	r->batch = NULL;
	r->last = -1;
	r->run = 0;
	return TSR_STEP_DONE;
}

bool tsr_tile_list_ended(const struct tsr_tile_reader *r)
{
	return !r->at;
}

/* ---- Hints ----------------------------------------------------------------------------------- */

/*
 * Primitives some entry of a block names, one after the other; pointers are the host's, NULL: not
 * known.
 */
struct hint {
	uint32_t offset, number;	/* of their record; of the first, in it */
	uint32_t count;
	const uint64_t *header, *primitive, *last;
};

#define HINTS 64

/* The primitives of each entry of the block; as many as there are, and room for. */
static unsigned int find_hints(const struct tsr_tile_reader *r, struct hint *hint)
{
	uint32_t offset = r->offset, last = r->last;
	unsigned int n = 0;

	for (unsigned int at = 0; at + 5 <= BLOCK_ENTRIES && n < HINTS;) {
		uint8_t entry = r->block[at++];

		if (entry == TSR_HEAP_ENTRY_BATCH) {
			memcpy(&offset, &r->block[at], sizeof(offset));
			at += sizeof(offset);
			last = -1;
			continue;
		}
		if (entry < TSR_HEAP_ENTRY_STEP && entry != TSR_HEAP_ENTRY_SKIP)
			break;
		if (entry == TSR_HEAP_ENTRY_SKIP)
			last += r->block[at++] + TSR_HEAP_ENTRY_RUN - TSR_HEAP_ENTRY_STEP;
		else if (entry < TSR_HEAP_ENTRY_RUN)
			last += entry - TSR_HEAP_ENTRY_STEP;
		hint[n++] = (struct hint){ .offset = offset, .number = ++last, .count = 1 };
		if (entry >= TSR_HEAP_ENTRY_RUN) {
			hint[n - 1].count += entry - TSR_HEAP_ENTRY_RUN + 1;
			last += entry - TSR_HEAP_ENTRY_RUN + 1;
		}
	}
	return n;
}

/* An aligned structure at @offset of the heap, of which nothing is known. */
static const void *peek(const struct tsr_tile_reader *r, const struct tsr_mem *mem, uint64_t offset,
			unsigned int len)
{
	const uint8_t *p = NULL;

	if (offset + len <= r->heap.used)
		p = tsr_mem_peek(mem, r->heap.base + offset, len);
	return (uintptr_t)p % 8 ? NULL : p;
}

/* Have the lines of @bytes at @offset of the heap fetched. */
static void prefetch_lines(const struct tsr_tile_reader *r, const struct tsr_mem *mem,
			   uint64_t offset, unsigned int bytes)
{
	const uint64_t end = offset + bytes;

	for (offset &= ~63ull; offset < end; offset += 64) {
		const void *line = peek(r, mem, offset, 64);

		if (line)
			__builtin_prefetch(line);
	}
}

/* Vertices: all between those of the first and of the last primitive, which follow one another. */
static void prefetch_vertices(const struct tsr_tile_reader *r, const struct tsr_mem *mem,
			      const struct hint *hint)
{
	uint32_t data = hint->header[TSR_HEAP_BATCH_VERTEX_DATA__QWORD];
	unsigned int low = UINT8_MAX, high = 0;

	for (unsigned int i = 0; i < 6; i++) {
		uint64_t word = *(i < 3 || !hint->last ? hint->primitive : hint->last);
		unsigned int slot = word >> 8 * (i % 3) & 0xff;

		low = slot < low ? slot : low;
		high = slot > high ? slot : high;
	}
	prefetch_lines(r, mem, data + 16ull * low, 16 * (high - low + 1));
}

/* Prefetches copies of what draws name: states, and fragment programs with push constants. */
static void prefetch_copies(const struct tsr_tile_reader *r, const struct tsr_mem *mem,
			    const struct hint *hint, unsigned int n)
{
	uint32_t offset = 0, shader = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct tsr_heap_batch b;

		if (!hint[i].header || hint[i].offset == offset)
			continue;
		offset = hint[i].offset;
		tsr_unpack_heap_batch(hint[i].header, &b);
		if (b.fragment_push)
			prefetch_lines(r, mem, b.fragment_push, 1);
		if (b.shader_copy == shader)
			continue;
		shader = b.shader_copy;
		prefetch_lines(r, mem, shader, TSR_SHADER_STATE__QWORDS * 8);
		if (b.fragment_copy)
			prefetch_lines(r, mem, b.fragment_copy, TSR_SHADER_PROGRAM__QWORDS * 8 + 1);
	}
}

/*
 * Have the host's caches fetch what the block's entries name, all at a time: records are scattered
 * over the heap, and one would be waited for after the other. Reads what it finds without checks;
 * nothing but addresses to fetch from follows from it.
 */
static void prefetch(const struct tsr_tile_reader *r, const struct tsr_mem *mem)
{
	struct hint hint[HINTS];
	unsigned int n = find_hints(r, hint);

	for (unsigned int i = 0; i < n; i++) {
		__builtin_prefetch(&r->cached[cached_at(hint[i].offset)]);
		hint[i].header = peek(r, mem, hint[i].offset, TSR_HEAP_BATCH__QWORDS * 8);
		if (!hint[i].header)
			continue;
		__builtin_prefetch(hint[i].header);
		__builtin_prefetch(hint[i].header + TSR_HEAP_BATCH__QWORDS / 2);
	}
	for (unsigned int i = 0; i < n; i++) {
		uint32_t data;

		if (!hint[i].header)
			continue;
		data = hint[i].header[TSR_HEAP_BATCH_PRIMITIVE_DATA__QWORD];
		data += 8 * hint[i].number;
		hint[i].primitive = peek(r, mem, data, 8);
		hint[i].last = peek(r, mem, data + 8ull * (hint[i].count - 1), 8);
		prefetch_lines(r, mem, data, 8 * hint[i].count);
	}
	for (unsigned int i = 0; i < n; i++) {
		if (hint[i].header && hint[i].primitive)
			prefetch_vertices(r, mem, &hint[i]);
	}
	prefetch_copies(r, mem, hint, n);
}

/* Have the block at r->at. */
static enum tsr_step read_block(struct tsr_tile_reader *r, struct tsr_mem *mem)
{
	enum tsr_step step;

	if (r->held)
		return TSR_STEP_DONE;
	if (!within(&r->heap, r->at, 1, TSR_HEAP_BLOCK_BYTES))
		return wrong(mem, &r->heap, r->at);
	step = read_memory(mem, r->heap.base + r->at, r->block, sizeof(r->block));
	if (step != TSR_STEP_DONE)
		return step;
	memcpy(&r->next, &r->block[BLOCK_ENTRIES], sizeof(r->next));
	if (r->next && r->next <= r->at)
		return wrong(mem, &r->heap, r->at);
	r->entry = 0;
	r->held = true;
	prefetch(r, mem);
	return TSR_STEP_DONE;
}

/* BATCH: the list goes on in another record. */
static enum tsr_step enter_batch(struct tsr_tile_reader *r, struct tsr_mem *mem)
{
	uint32_t offset;

	if (r->entry + 5 > BLOCK_ENTRIES)
		return wrong(mem, &r->heap, r->at);
	memcpy(&offset, &r->block[r->entry + 1], sizeof(offset));
	if (offset <= r->offset)
		return wrong(mem, &r->heap, r->at);
	r->offset = offset;
	r->batch = NULL;
	r->last = -1;
	r->entry += 5;
	return TSR_STEP_DONE;
}

/*
 * Step over the next entry: r->run primitives from r->last + 1 on are named. _DONE, with r->at 0 if
 * it was the list's end.
 */
static enum tsr_step next_entry(struct tsr_tile_reader *r, struct tsr_mem *mem)
{
	enum tsr_step step = read_block(r, mem);
	uint8_t entry;

	if (step != TSR_STEP_DONE)
		return step;
	entry = r->entry < BLOCK_ENTRIES ? r->block[r->entry] : TSR_HEAP_ENTRY_END;
	if (entry == TSR_HEAP_ENTRY_END) {
		r->at = r->next;
		r->held = false;
		return TSR_STEP_DONE;
	}
	if (entry == TSR_HEAP_ENTRY_BATCH)
		return enter_batch(r, mem);
	if (!r->offset)
		return wrong(mem, &r->heap, r->at);
	if (entry >= TSR_HEAP_ENTRY_RUN) {
		r->run = entry - TSR_HEAP_ENTRY_RUN + 2;
	} else if (entry >= TSR_HEAP_ENTRY_STEP) {
		r->last += entry - TSR_HEAP_ENTRY_STEP;
		r->run = 1;
	} else if (entry == TSR_HEAP_ENTRY_SKIP && r->entry + 2 <= BLOCK_ENTRIES) {
		r->last += r->block[++r->entry] + TSR_HEAP_ENTRY_RUN - TSR_HEAP_ENTRY_STEP;
		r->run = 1;
	} else {
		return wrong(mem, &r->heap, r->at);
	}
	r->entry++;
	return TSR_STEP_DONE;
}

/* Have r->batch. */
static enum tsr_step find_batch(struct tsr_tile_reader *r, struct tsr_mem *mem)
{
	const unsigned int n = cached_at(r->offset);
	struct tsr_batch *cached = &r->cached[n];
	enum tsr_step step = TSR_STEP_DONE;

	if (r->batch)
		return TSR_STEP_DONE;
	if (r->known[n] != r->offset) {
		r->known[n] = 0;
		step = tsr_heap_batch(mem, &r->heap, r->offset, cached);
		if (step == TSR_STEP_DONE)
			r->known[n] = r->offset;
	}
	r->batch = step == TSR_STEP_DONE ? cached : NULL;
	return step;
}

/* ---- Primitives ------------------------------------------------------------------------------ */

static bool on_screen(const struct tsr_screen_vertex *v)
{
	const int32_t edge = TSR_GUARD_BAND << TSR_SUBPIXEL_BITS;

	return v->x >= -edge && v->x < edge && v->y >= -edge && v->y < edge;
}

static enum tsr_step read_vertex(struct tsr_tile_reader *r, struct tsr_mem *mem, unsigned int slot,
				 struct tsr_screen_vertex *v)
{
	uint32_t offset = r->batch->vertex_data + slot * sizeof(*v);

	return read_memory(mem, r->heap.base + offset, v, sizeof(*v));
}

/* Corners and weights of a clipped primitive, number @number of the record's; its id. */
static enum tsr_step read_clipped(struct tsr_tile_reader *r, struct tsr_mem *mem, uint32_t number,
				  struct tsr_prim *prim)
{
	uint64_t word[TSR_HEAP_CLIPPED__QWORDS];
	uint64_t offset = r->batch->clipped_data + (uint64_t)number * sizeof(word);
	struct tsr_screen_vertex original;
	enum tsr_step step;

	if (!r->batch->clipped_data || offset + sizeof(word) > r->heap.used)
		return wrong(mem, &r->heap, r->batch->offset);
	step = read_memory(mem, r->heap.base + offset, word, 64);
	if (step == TSR_STEP_DONE)
		step = read_memory(mem, r->heap.base + offset + 64, &word[8], sizeof(word) - 64);
	if (step != TSR_STEP_DONE)
		return step;
	for (unsigned int i = 0; i < prim->vertices; i++) {
		memcpy(&prim->v[i], &word[4 * i], sizeof(prim->v[i]));
		memcpy(prim->weight[i], &word[4 * i + 2], sizeof(prim->weight[i]));
		step = read_vertex(r, mem, prim->slot[i], &original);
		if (step != TSR_STEP_DONE)
			return step;
		prim->slot_rw[i] = original.rw;
	}
	prim->primitive_id = word[3] >> 32;
	return TSR_STEP_DONE;
}

static enum tsr_step read_corners(struct tsr_tile_reader *r, struct tsr_mem *mem, uint32_t id,
				  struct tsr_prim *prim)
{
	enum tsr_step step = TSR_STEP_DONE;

	if (prim->clipped) {
		step = read_clipped(r, mem, id, prim);
	} else {
		prim->primitive_id = id;
		for (unsigned int i = 0; i < prim->vertices && step == TSR_STEP_DONE; i++)
			step = read_vertex(r, mem, prim->slot[i], &prim->v[i]);
	}
	for (unsigned int i = 0; i < prim->vertices && step == TSR_STEP_DONE; i++) {
		if (!on_screen(&prim->v[i]))
			return wrong(mem, &r->heap, r->batch->offset);
	}
	return step;
}

/* Layer, viewport and size: those of the provoking vertex. */
static enum tsr_step read_extra(struct tsr_tile_reader *r, struct tsr_mem *mem,
				struct tsr_prim *prim)
{
	struct tsr_heap_vertex_extra extra;
	enum tsr_step step;
	uint64_t word;

	prim->layer = 0;
	prim->viewport = 0;
	prim->point_size = 1;
	if (!r->batch->extra_data)
		return TSR_STEP_DONE;
	step = read_memory(mem, r->heap.base + r->batch->extra_data +
			   prim->slot[prim->provoking] * sizeof(word), &word, sizeof(word));
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_heap_vertex_extra(&word, &extra);
	if (extra.layer >= r->heap.layers || extra.viewport >= TSR_VIEWPORTS_MAX)
		return wrong(mem, &r->heap, r->batch->offset);
	prim->layer = extra.layer;
	prim->viewport = extra.viewport;
	memcpy(&prim->point_size, &extra.point_size, sizeof(prim->point_size));
	prim->point_size = tsr_screen_size(prim->point_size);
	return TSR_STEP_DONE;
}

/* Primitive @number of r->batch. */
static enum tsr_step read_primitive(struct tsr_tile_reader *r, struct tsr_mem *mem,
				    uint32_t number, struct tsr_prim *prim)
{
	struct tsr_heap_primitive p;
	enum tsr_step step;
	uint64_t word;

	if (number >= r->batch->primitives)
		return wrong(mem, &r->heap, r->at);
	step = read_memory(mem, r->heap.base + r->batch->primitive_data + number * sizeof(word),
			   &word, sizeof(word));
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_heap_primitive(&word, &p);
	prim->batch = r->batch;
	prim->slot[0] = p.slot_0;
	prim->slot[1] = p.slot_1;
	prim->slot[2] = p.slot_2;
	prim->clipped = p.clipped;
	prim->front = p.front;
	prim->provoking = p.provoking;
	if (!p.vertices || p.provoking >= p.vertices)
		return wrong(mem, &r->heap, r->batch->offset);
	for (unsigned int i = 0; i < p.vertices; i++) {
		if (prim->slot[i] >= r->batch->vertices)
			return wrong(mem, &r->heap, r->batch->offset);
	}
	prim->vertices = p.vertices;
	step = read_corners(r, mem, p.id, prim);
	return step == TSR_STEP_DONE ? read_extra(r, mem, prim) : step;
}

/* The vertex in @slot, if it is at hand and as it must be. */
static inline bool quick_vertex(const struct tsr_tile_reader *r, const struct tsr_mem *mem,
				unsigned int slot, struct tsr_screen_vertex *v)
{
	const uint64_t va = r->heap.base + r->batch->vertex_data + slot * sizeof(*v);
	const uint8_t *from = at_hand(mem, va, sizeof(*v));

	if (!from || slot >= r->batch->vertices)
		return false;
	memcpy(v, from, sizeof(*v));
	return on_screen(v);
}

/* All of an unclipped triangle but its vertices, of a batch with one layer and viewport. */
static inline void set_triangle(struct tsr_prim *prim, const struct tsr_heap_primitive *p,
				const struct tsr_batch *batch)
{
	prim->slot[0] = p->slot_0;
	prim->slot[1] = p->slot_1;
	prim->slot[2] = p->slot_2;
	prim->clipped = false;
	prim->vertices = 3;
	prim->provoking = p->provoking;
	prim->front = p->front;
	prim->layer = 0;
	prim->viewport = 0;
	prim->point_size = 1;
	prim->primitive_id = p->id;
	prim->batch = batch;
}

/*
 * Fast path of read_primitive() for most primitives: triangles that have not been clipped, of
 * batches with one layer and viewport, whose pages are mapped. False for all others, and for
 * malformed ones.
 */
static inline bool quick_triangle(const struct tsr_tile_reader *r, const struct tsr_mem *mem,
				  uint32_t number, struct tsr_prim *prim)
{
	const struct tsr_batch *batch = r->batch;
	struct tsr_heap_primitive p;
	const uint8_t *from;
	uint64_t word;

	if (batch->extra_data || number >= batch->primitives)
		return false;
	from = at_hand(mem, r->heap.base + batch->primitive_data + number * sizeof(word),
		       sizeof(word));
	if (!from)
		return false;
	memcpy(&word, from, sizeof(word));
	tsr_unpack_heap_primitive(&word, &p);
	if (p.vertices != 3 || p.clipped || p.provoking >= 3 ||
	    !quick_vertex(r, mem, p.slot_0, &prim->v[0]) ||
	    !quick_vertex(r, mem, p.slot_1, &prim->v[1]) ||
	    !quick_vertex(r, mem, p.slot_2, &prim->v[2]))
		return false;
	set_triangle(prim, &p, batch);
	return true;
}

/* Have r->run primitives of r->batch named, unless the list has ended: then it stays 0. */
static enum tsr_step find_run(struct tsr_tile_reader *r, struct tsr_mem *mem)
{
	unsigned int entries = 0;
	enum tsr_step step;

	mem->unit = TSR_UNIT_TILE;
	while (!r->run) {
		if (!r->at)
			return TSR_STEP_DONE;
		if (++entries > ENTRIES_AT_ONCE)
			return TSR_STEP_MORE;
		step = next_entry(r, mem);
		if (step != TSR_STEP_DONE)
			return step;
	}
	return find_batch(r, mem);
}

enum tsr_step tsr_tile_list_next(struct tsr_tile_reader *r, struct tsr_mem *mem,
				 struct tsr_prim *prim)
{
	enum tsr_step step = find_run(r, mem);

	prim->vertices = 0;
	if (step != TSR_STEP_DONE || !r->run)
		return step;
	if (!quick_triangle(r, mem, r->last + 1, prim))
		step = read_primitive(r, mem, r->last + 1, prim);
	if (step != TSR_STEP_DONE)
		return step;
	r->last++;
	r->run--;
	return TSR_STEP_DONE;
}

/* ---- Triangles ------------------------------------------------------------------------------- */

/* Where the host has the vertices of a batch: in two pages, of which one may not be known. */
struct vertex_pages {
	const uint8_t *page[2];
	unsigned int offset;		/* of vertex 0 in the first */
};

/* The page of @va; NULL: it has to be asked for, or is not there. */
static const uint8_t *page_of(struct tsr_mem *mem, uint64_t va)
{
	uint8_t *page;

	if (tsr_access_page(&mem->thread->shader->access, mem, va, TSR_ACCESS_READ, &page) !=
	    TSR_STEP_DONE)
		return NULL;
	return page;
}

static bool find_vertices(const struct tsr_tile_reader *r, struct tsr_mem *mem,
			  struct vertex_pages *p)
{
	uint64_t va = r->heap.base + r->batch->vertex_data;
	unsigned int bytes = r->batch->vertices * sizeof(struct tsr_screen_vertex);

	p->offset = va % TSR_ACCESS_PAGE_BYTES;
	p->page[0] = page_of(mem, va);
	p->page[1] = p->offset + bytes > TSR_ACCESS_PAGE_BYTES ?
		     page_of(mem, va + TSR_ACCESS_PAGE_BYTES) : NULL;
	return va % sizeof(struct tsr_screen_vertex) == 0;
}

typedef int32_t four_words __attribute__((vector_size(16)));
typedef uint32_t vector_words __attribute__((vector_size(16)));

/* Copy the vertices @word names to @v; false: they are not all there, or not sound. */
static inline bool copy_corners(const struct vertex_pages *pages, unsigned int vertices,
				uint64_t word, struct tsr_screen_vertex v[3])
{
	const int32_t edge = TSR_GUARD_BAND << TSR_SUBPIXEL_BITS;
	const four_words first = { edge, edge }, outside = { -2 * edge, -2 * edge };
	four_words wrong = { 0 };

	for (unsigned int i = 0; i < 3; i++) {
		unsigned int slot = word >> 8 * i & 0xff;
		unsigned int at = pages->offset + slot * (unsigned int)sizeof(*v);
		const uint8_t *page = pages->page[at / TSR_ACCESS_PAGE_BYTES];
		four_words vertex;

		if (slot >= vertices || !page)
			return false;
		memcpy(&vertex, page + at % TSR_ACCESS_PAGE_BYTES, sizeof(vertex));
		memcpy(&v[i], &vertex, sizeof(vertex));
		/* the sum may wrap, into what is outside too */
		wrong |= (four_words)((vector_words)vertex + (vector_words)first) & outside;
	}
	return !(wrong[0] | wrong[1]);
}

/* True if @word is such a triangle, whose provoking vertex is one of the three. */
static inline bool is_plain(uint64_t word)
{
	const uint64_t provoking = 3ull << TSR_HEAP_PRIMITIVE_PROVOKING__SHIFT;
	const uint64_t clipped = 1ull << TSR_HEAP_PRIMITIVE_CLIPPED__SHIFT;
	const uint64_t triangle = 3ull << TSR_HEAP_PRIMITIVE_VERTICES__SHIFT;

	return (word & (triangle | clipped)) == triangle && (word & provoking) != provoking;
}

/* Copy of the next @most of r->run primitives as many as can be; how many. */
static unsigned int copy_run(const struct tsr_tile_reader *r, struct tsr_mem *mem,
			     const struct vertex_pages *pages, unsigned int most,
			     struct tsr_tile_triangles *t)
{
	const uint32_t first = r->last + 1;
	const uint64_t va = r->heap.base + r->batch->primitive_data + 8ull * first;
	const unsigned int in_page = (TSR_ACCESS_PAGE_BYTES - va % TSR_ACCESS_PAGE_BYTES) / 8;
	const uint8_t *from = va % 8 ? NULL : page_of(mem, va);
	unsigned int n = r->run < most ? r->run : most;

	if (!from || first >= r->batch->primitives)
		return 0;
	from += va % TSR_ACCESS_PAGE_BYTES;
	n = n < in_page ? n : in_page;
	n = n < r->batch->primitives - first ? n : r->batch->primitives - first;
	for (unsigned int i = 0; i < n; i++) {
		const unsigned int to = t->count + i;

		memcpy(&t->word[to], from + 8 * i, 8);
		if (!is_plain(t->word[to]) ||
		    !copy_corners(pages, r->batch->vertices, t->word[to], t->v[to]))
			return i;
	}
	return n;
}

/* True if the block's next entry names primitives of the same batch. */
static bool goes_on(const struct tsr_tile_reader *r)
{
	return r->held && r->entry + 2 <= BLOCK_ENTRIES &&
	       (r->block[r->entry] >= TSR_HEAP_ENTRY_STEP ||
		r->block[r->entry] == TSR_HEAP_ENTRY_SKIP);
}

enum tsr_step tsr_tile_list_triangles(struct tsr_tile_reader *r, struct tsr_mem *mem,
				      struct tsr_tile_triangles *t)
{
	struct tsr_shader *shader = mem->thread->shader;
	enum tsr_step step = find_run(r, mem);
	struct vertex_pages pages;

	t->count = 0;
	if (step != TSR_STEP_DONE || !r->run)
		return step;
	t->batch = r->batch;
	if (!shader || r->batch->extra_data)
		return TSR_STEP_DONE;
	tsr_access_reserve(&shader->access, mem);
	if (!find_vertices(r, mem, &pages))
		return TSR_STEP_DONE;
	do {
		unsigned int n = copy_run(r, mem, &pages, TSR_TILE_TRIANGLES - t->count, t);

		t->count += n;
		r->last += n;
		r->run -= n;
	} while (!r->run && t->count < TSR_TILE_TRIANGLES && goes_on(r) &&
		 next_entry(r, mem) == TSR_STEP_DONE);
	return TSR_STEP_DONE;
}

void tsr_tile_triangle(const struct tsr_tile_triangles *t, unsigned int i, struct tsr_prim *prim)
{
	struct tsr_heap_primitive p;

	tsr_unpack_heap_primitive(&t->word[i], &p);
	memcpy(prim->v, t->v[i], sizeof(prim->v));
	set_triangle(prim, &p, t->batch);
}
