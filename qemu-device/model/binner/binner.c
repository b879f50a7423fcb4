/* SPDX-License-Identifier: MIT */
/*
 * The binner's writer: batch records and tile lists into the heap.
 *
 * The heap is given out from the bottom up and never taken back. A tile's list grows in the job,
 * one block at a time; a block goes to the heap when it is full or the frame is complete. Nothing
 * is counted as used before it has been written, so a step that has to wait, for the host or for
 * more heap, is repeated from where it was.
 */
#include "bin.h"

#include <string.h>

#include "commit.h"
#include "geometry/stages.h"

#define SUBPIXELS (1 << TSR_SUBPIXEL_BITS)
/* Bytes of a block before the offset of the next. */
#define BLOCK_ENTRIES (TSR_HEAP_BLOCK_BYTES - 4)
/* A STEP goes at most this far. */
#define STEP_MAX (TSR_HEAP_ENTRY_RUN - TSR_HEAP_ENTRY_STEP)
/* Tiles whose lists are completed at a time. */
#define FINISH_TILES 256

/* ---- Memory ---------------------------------------------------------------------------------- */

enum tsr_step tsr_bin_read(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t va, void *to,
			   uint64_t len)
{
	uint8_t *out = to;
	uint64_t all = len;

	tsr_access_reserve(bin->access, mem);
	while (len) {
		unsigned int n = TSR_ACCESS_PAGE_BYTES - va % TSR_ACCESS_PAGE_BYTES;
		uint8_t *page;
		enum tsr_step step = tsr_access_page(bin->access, mem, va, TSR_ACCESS_READ, &page);

		if (step != TSR_STEP_DONE)
			return step;
		n = n < len ? n : len;
		if (page) {
			tsr_access_copy(out, page + va % TSR_ACCESS_PAGE_BYTES, n);
		} else {
			n = n < TSR_ACCESS_COPY_MAX ? n : TSR_ACCESS_COPY_MAX;
			step = tsr_access_read(bin->access, mem, va, out, n);
			if (step != TSR_STEP_DONE)
				return step;
		}
		va += n;
		out += n;
		len -= n;
	}
	bin->read += all;
	bin->cycles += (all + 63) / 64;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_bin_write(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t va,
			    const void *from, uint32_t len)
{
	const uint8_t *in = from;
	uint32_t all = len;

	mem->unit = TSR_UNIT_BINNER;
	tsr_access_reserve(bin->access, mem);
	while (len) {
		uint32_t n = TSR_ACCESS_PAGE_BYTES - va % TSR_ACCESS_PAGE_BYTES;
		uint8_t *page;
		enum tsr_step step = tsr_access_page(bin->access, mem, va, TSR_ACCESS_WRITE, &page);

		if (step != TSR_STEP_DONE)
			return step;
		n = n < len ? n : len;
		if (page) {
			memcpy(page + va % TSR_ACCESS_PAGE_BYTES, in, n);
		} else {
			n = n < TSR_ACCESS_COPY_MAX ? n : TSR_ACCESS_COPY_MAX;
			step = tsr_access_write(bin->access, mem, va, in, n);
			if (step != TSR_STEP_DONE)
				return step;
		}
		va += n;
		in += n;
		len -= n;
	}
	bin->written += all;
	bin->cycles += (all + 63) / 64;
	bin->effort -= (all + 63) / 64;
	return TSR_STEP_DONE;
}

/* Writes at @offset of the heap. */
static enum tsr_step heap_write(struct tsr_binning *bin, struct tsr_mem *mem, uint32_t offset,
				const void *from, uint32_t len)
{
	return tsr_bin_write(bin, mem, bin->info.frame.heap + offset, from, len);
}

enum tsr_step tsr_bin_heap_need(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t bytes)
{
	enum tsr_step step;

	if (bytes <= bin->capacity)
		return TSR_STEP_DONE;
	mem->unit = TSR_UNIT_BINNER;
	if (!bin->grows || bytes > TSR_HEAP_SIZE_MAX)
		return tsr_mmu_fault(mem, TSR_FAULT_HEAP_EXHAUSTED,
				     bin->info.frame.heap + bin->capacity, TSR_ACCESS_WRITE, 0);
	step = tsr_heap_state_need(mem, bytes);
	if (step == TSR_STEP_DONE)
		bin->capacity = tsr_heap_state_size(mem->queue);
	if (bin->capacity > TSR_HEAP_SIZE_MAX)
		bin->capacity = TSR_HEAP_SIZE_MAX;
	return step;
}

enum tsr_step tsr_bin_heap_begin(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t frame_va)
{
	static const uint64_t none[TSR_HEAP_HEADER__QWORDS];
	const struct tsr_frame *f = &bin->info.frame;
	uint64_t end = sizeof(none) + (((uint64_t)bin->info.tiles * 4 + 63) & ~63ull);
	enum tsr_step step;

	bin->states = end;
	if (bin->info.tiles > TSR_BINNER_TILES)
		end += ((uint64_t)bin->info.tiles * TSR_HEAP_TILE__QWORDS * 8 + 63) & ~63ull;
	bin->tables = end;

	bin->grows = mem->queue && tsr_heap_state_is(mem->queue, f->heap);
	if (bin->grows && f->heap_size)
		return tsr_mem_bad_packet(mem, frame_va, TSR_FRAME_HEAP_SIZE__QWORD,
					  TSR_FAULT_BAD_VALUE);
	bin->capacity = f->heap_size;
	step = tsr_bin_heap_need(bin, mem, end);
	if (step == TSR_STEP_DONE)
		step = heap_write(bin, mem, 0, none, sizeof(none));
	if (step != TSR_STEP_DONE)
		return step;
	bin->lists = sizeof(none);
	bin->used = end;
	return TSR_STEP_DONE;
}

/* ---- Batch records --------------------------------------------------------------------------- */

/* A record being put together, as it will stand in the heap. */
struct record {
	uint8_t bytes[(TSR_HEAP_BATCH__QWORDS + 4 * TSR_BATCH_VERTICES + TSR_BATCH_PRIMITIVES +
		       TSR_BATCH_PRIMITIVES * TSR_HEAP_CLIPPED__QWORDS) * 8 + 64]
		__attribute__((aligned(16)));
	uint32_t base;			/* its offset in the heap */
	uint32_t len;
};

/* Room for an array of @len bytes; *@offset is where in the heap it will be. */
static void *array(struct record *r, uint32_t len, uint32_t *offset)
{
	void *at = &r->bytes[r->len];

	*offset = r->base + r->len;
	memset((uint8_t *)at + len, 0, -len % 16);
	r->len += (len + 15) & ~15u;
	return at;
}

static void add_vertices(struct record *r, struct tsr_binning *bin, struct tsr_heap_batch *h)
{
	const struct tsr_bin_batch *b = &bin->batch;
	uint64_t *ids, *extra;

	memcpy(array(r, b->vertices * sizeof(b->screen[0]), &h->vertex_data), b->screen,
	       b->vertices * sizeof(b->screen[0]));
	ids = array(r, b->vertices * sizeof(*ids), &h->vertex_ids);
	for (unsigned int i = 0; i < b->vertices; i++)
		ids[i] = bin->run->vertex[i] | (uint64_t)bin->run->instance[i] << 32;
	h->vertex_extra = 0;
	if (!bin->state->extended)
		return;
	extra = array(r, b->vertices * sizeof(*extra), &h->vertex_extra);
	for (unsigned int i = 0; i < b->vertices; i++) {
		uint32_t size;

		memcpy(&size, &b->size[i], sizeof(size));
		extra[i] = size | (uint64_t)b->layer[i] << 32 | (uint64_t)b->viewport[i] << 48;
	}
}

static void add_primitives(struct record *r, const struct tsr_binning *bin,
			   struct tsr_heap_batch *h)
{
	uint64_t *word = array(r, bin->outs * sizeof(*word), &h->primitive_data);

	for (unsigned int i = 0; i < bin->outs; i++)
		word[i] = bin->out[i].word;
	h->clipped_data = 0;
	if (!bin->clips)
		return;
	memcpy(array(r, bin->clips * sizeof(bin->clipped[0]), &h->clipped_data), bin->clipped,
	       bin->clips * sizeof(bin->clipped[0]));
}

/* Fields of HEAP_BATCH that describe data outside of the record. */
static void describe(const struct tsr_binning *bin, struct tsr_heap_batch *h)
{
	const struct tsr_bin_version *state = bin->state;

	h->previous = bin->last_batch;
	h->vertices = bin->batch.vertices;
	h->primitives = bin->outs;
	h->output_stride = state->shader->output_stride;
	h->varying = state->shader->varying;
	h->start = bin->draw.start;
	h->first_instance = bin->draw.first_instance;
	h->padded = bin->draw.padded;
	h->shader_state = tsr_bin_va(bin, state, TSR_BIN_SHADER_STATE);
	h->draw_state = tsr_bin_va(bin, state, TSR_BIN_DRAW_STATE);
	h->samples_query = state->query[TSR_QUERY_SAMPLES];
	h->any_query = state->query[TSR_QUERY_ANY_SAMPLES];
	h->statistics_query = state->query[TSR_QUERY_STATISTICS];
	h->shader_copy = bin->copy[TSR_BIN_COPY_SHADER];
	h->draw_copy = bin->copy[TSR_BIN_COPY_DRAW];
	h->varying_copy = bin->copy[TSR_BIN_COPY_VARYING];
	h->fragment_copy = bin->copy[TSR_BIN_COPY_FRAGMENT];
	h->varying_push = bin->copy[TSR_BIN_COPY_VARYING_PUSH];
	h->fragment_push = bin->copy[TSR_BIN_COPY_FRAGMENT_PUSH];
}

/* Outputs of a batch that has been shaded whole, to @offset of the heap. */
static enum tsr_step write_outputs(struct tsr_binning *bin, struct tsr_mem *mem, uint32_t offset)
{
	const uint32_t stride = bin->state->shader->output_stride;
	uint32_t word[2 * TSR_VERTEX_OUTPUT_MAX / 4], len = 0;
	enum tsr_step step = TSR_STEP_DONE;

	for (unsigned int slot = 0; slot < bin->batch.vertices && step == TSR_STEP_DONE; slot++) {
		tsr_geometry_outputs(bin, slot, &word[len / 4]);
		len += stride;
		if (len + stride <= sizeof(word) && slot + 1 < bin->batch.vertices)
			continue;
		step = heap_write(bin, mem, offset, word, len);
		offset += len;
		len = 0;
	}
	return step;
}

enum tsr_step tsr_bin_write_record(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_bin_batch *b = &bin->batch;
	struct tsr_heap_batch h = { .shared = b->vertex_data != 0 };
	struct record r;
	uint64_t end;
	enum tsr_step step;

	r.base = (bin->used + 63) & ~63u;
	r.len = TSR_HEAP_BATCH__QWORDS * 8;
	describe(bin, &h);
	if (h.shared) {
		h.vertex_data = b->vertex_data;
		h.vertex_ids = b->vertex_ids;
		h.vertex_extra = b->vertex_extra;
		h.outputs = b->outputs;
	} else {
		add_vertices(&r, bin, &h);
	}
	add_primitives(&r, bin, &h);
	end = ((uint64_t)r.base + r.len + 63) & ~63ull;
	if (!h.shared && h.output_stride &&
	    (bin->state->shader->varying || bin->state->geometry)) {
		h.outputs = end;
		end += (uint32_t)b->vertices * h.output_stride;
	}
	step = tsr_bin_heap_need(bin, mem, end);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_pack_heap_batch((uint64_t *)r.bytes, &h);
	step = heap_write(bin, mem, r.base, r.bytes, r.len);
	if (step == TSR_STEP_DONE && bin->state->geometry && !h.shared && h.outputs)
		step = write_outputs(bin, mem, h.outputs);
	if (step != TSR_STEP_DONE)
		return step;
	b->vertex_data = h.vertex_data;
	b->vertex_ids = h.vertex_ids;
	b->vertex_extra = h.vertex_extra;
	b->outputs = h.outputs;
	bin->record = bin->last_batch = r.base;
	bin->batches++;
	bin->used = end;
	bin->out_next = 0;
	bin->tile_begun = false;
	bin->stat[TSR_BIN_PRIMITIVES] += bin->outs;
	return TSR_STEP_DONE;
}

/* ---- Tile lists ------------------------------------------------------------------------------ */

/* Reserve @bytes in the tile's block. */
static enum tsr_step reserve_entry(struct tsr_binning *bin, struct tsr_mem *mem,
				   struct tsr_bin_tile *t, unsigned int bytes)
{
	uint32_t next = (bin->used + 63) & ~63u;
	enum tsr_step step;

	if (t->first && t->used + bytes <= BLOCK_ENTRIES)
		return TSR_STEP_DONE;
	step = tsr_bin_heap_need(bin, mem, (uint64_t)next + TSR_HEAP_BLOCK_BYTES);
	if (step != TSR_STEP_DONE)
		return step;
	if (t->first) {
		memcpy(&t->block[BLOCK_ENTRIES], &next, sizeof(next));
		step = heap_write(bin, mem, t->at, t->block, sizeof(t->block));
		if (step != TSR_STEP_DONE)
			return step;
	} else {
		t->first = next;
	}
	memset(t->block, 0, sizeof(t->block));
	t->at = next;
	t->used = 0;
	t->run = false;
	bin->used = next + TSR_HEAP_BLOCK_BYTES;
	return TSR_STEP_DONE;
}

/* The list goes on in the present batch record. */
static enum tsr_step enter_batch(struct tsr_binning *bin, struct tsr_mem *mem,
				 struct tsr_bin_tile *t)
{
	enum tsr_step step = reserve_entry(bin, mem, t, 5);

	if (step != TSR_STEP_DONE)
		return step;
	t->block[t->used] = TSR_HEAP_ENTRY_BATCH;
	memcpy(&t->block[t->used + 1], &bin->record, sizeof(bin->record));
	t->used += 5;
	t->run = false;
	t->batch = bin->record;
	t->last = -1;
	return TSR_STEP_DONE;
}

/* A number after the last one for which the block's last byte cannot be changed. */
static enum tsr_step put_entry(struct tsr_binning *bin, struct tsr_mem *mem, struct tsr_bin_tile *t,
			       unsigned int primitive)
{
	unsigned int far = primitive - t->last;
	enum tsr_step step = reserve_entry(bin, mem, t, far <= STEP_MAX ? 1 : 2);

	if (step != TSR_STEP_DONE)
		return step;
	if (far <= STEP_MAX) {
		t->block[t->used++] = TSR_HEAP_ENTRY_STEP - 1 + far;
	} else {
		t->block[t->used++] = TSR_HEAP_ENTRY_SKIP;
		t->block[t->used++] = far - STEP_MAX - 1;
	}
	t->run = far == 1;
	t->last = primitive;
	return TSR_STEP_DONE;
}

/* ---- Tiles that are not at hand -------------------------------------------------------------- */

static uint32_t state_at(const struct tsr_binning *bin, uint32_t tile)
{
	return bin->states + tile * TSR_HEAP_TILE__QWORDS * 8;
}

static bool is_stored(const struct tsr_binning *bin, uint32_t tile)
{
	return bin->stored && bin->stored[tile / 64] >> tile % 64 & 1;
}

/* Put the list in @t to the heap, so that its place is free. */
static enum tsr_step store_tile(struct tsr_binning *bin, struct tsr_mem *mem,
				const struct tsr_bin_tile *t)
{
	const uint32_t tile = t->number - 1;
	uint64_t word[TSR_HEAP_TILE__QWORDS];
	enum tsr_step step;

	if (!t->first)
		return TSR_STEP_DONE;
	tsr_pack_heap_tile(word, &(struct tsr_heap_tile){
		.first = t->first, .at = t->at, .batch = t->batch, .next = t->last + 1,
		.used = t->used, .run = t->run });
	step = heap_write(bin, mem, t->at, t->block, sizeof(t->block));
	if (step == TSR_STEP_DONE)
		step = heap_write(bin, mem, state_at(bin, tile), word, sizeof(word));
	if (step == TSR_STEP_DONE)
		bin->stored[tile / 64] |= 1ull << tile % 64;
	return step;
}

/* True if BIN could have written this; the guest could as well. */
static bool is_sound(const struct tsr_binning *bin, const struct tsr_heap_tile *h)
{
	return !(h->first % 64) && h->first >= bin->tables && h->first < bin->used &&
	       !(h->at % 64) && h->at >= h->first && h->at < bin->used &&
	       h->batch <= bin->record && h->next <= TSR_BATCH_PRIMITIVES &&
	       h->used && h->used <= BLOCK_ENTRIES;
}

/* Read the list of @tile from the heap to @t. */
static enum tsr_step load_tile(struct tsr_binning *bin, struct tsr_mem *mem, uint32_t tile,
			       struct tsr_bin_tile *t)
{
	const uint64_t heap = bin->info.frame.heap;
	uint64_t word[TSR_HEAP_TILE__QWORDS];
	struct tsr_heap_tile h;
	enum tsr_step step;

	bin->effort -= 2;
	mem->unit = TSR_UNIT_BINNER;
	step = tsr_bin_read(bin, mem, heap + state_at(bin, tile), word, sizeof(word));
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_heap_tile(word, &h);
	if (!is_sound(bin, &h))
		return tsr_mem_bad_packet(mem, heap + state_at(bin, tile), 0,
					  TSR_FAULT_HEAP_CONTENT);
	*t = (struct tsr_bin_tile){
		.first = h.first, .at = h.at, .batch = h.batch, .last = (int)h.next - 1,
		.used = h.used, .run = h.run,
	};
	return tsr_bin_read(bin, mem, heap + h.at, t->block, sizeof(t->block));
}

/* Another tile has had the place of @tile last, or none. */
static enum tsr_step change_tile(struct tsr_binning *bin, struct tsr_mem *mem, uint32_t tile)
{
	struct tsr_bin_tile *place = &bin->tile[tile % TSR_BINNER_TILES], t = { 0 };
	enum tsr_step step = place->number ? store_tile(bin, mem, place) : TSR_STEP_DONE;

	if (step != TSR_STEP_DONE)
		return step;
	place->number = 0;
	if (is_stored(bin, tile))
		step = load_tile(bin, mem, tile, &t);
	if (step != TSR_STEP_DONE)
		return step;
	t.number = tile + 1;
	*place = t;
	return TSR_STEP_DONE;
}

/* Append @primitive of the present record to tile number @tile. */
static inline enum tsr_step put(struct tsr_binning *bin, struct tsr_mem *mem, uint32_t tile,
				unsigned int primitive)
{
	struct tsr_bin_tile *t = &bin->tile[tile % TSR_BINNER_TILES];
	enum tsr_step step;
	uint8_t *last;

	if (t->number != tile + 1) {
		step = change_tile(bin, mem, tile);
		if (step != TSR_STEP_DONE)
			return step;
	}
	if (t->batch != bin->record) {
		step = enter_batch(bin, mem, t);
		if (step != TSR_STEP_DONE)
			return step;
	}
	if (!t->run || (int)primitive != t->last + 1) {
		step = put_entry(bin, mem, t, primitive);
		if (step != TSR_STEP_DONE)
			return step;
	} else {
		last = &t->block[t->used - 1];
		*last = *last == TSR_HEAP_ENTRY_STEP ? TSR_HEAP_ENTRY_RUN : *last + 1;
		t->run = *last != 0xff;
		t->last = primitive;
	}
	bin->stat[TSR_BIN_ENTRIES]++;
	return TSR_STEP_DONE;
}

/* ---- Which tiles ----------------------------------------------------------------------------- */

/*
 * Half planes that hold a primitive: a tile none of whose samples is in one of them is not touched.
 * at[]: the largest value a sample of the first tile of the box can have; x[], y[]: by how much it
 * grows from tile to tile.
 */
struct planes {
	unsigned int count;
	int64_t at[3], x[3], y[3];
};

/* The corners of primitive @i of bin->out. */
static void corners_of(const struct tsr_binning *bin, unsigned int i, struct tsr_screen_vertex *v)
{
	uint64_t word = bin->out[i].word;
	const uint64_t *q;

	if (!(word >> TSR_HEAP_PRIMITIVE_CLIPPED__SHIFT & 1)) {
		for (unsigned int k = 0; k < 3; k++)
			v[k] = bin->batch.screen[tsr_bin_slot(word, k)];
		return;
	}
	q = bin->clipped[word >> 32];
	for (unsigned int k = 0; k < 3; k++)
		memcpy(&v[k], &q[4 * k], sizeof(v[k]));
}

static void triangle_planes(const struct tsr_binning *bin, const struct tsr_bin_out *out,
			    const struct tsr_screen_vertex *v, struct planes *p)
{
	unsigned int shift = bin->info.frame.tile_shift + TSR_SUBPIXEL_BITS;
	bool centres = !bin->info.frame.samples_log2;
	int64_t first = centres ? SUBPIXELS / 2 : 0;
	int64_t reach = (1ll << shift) - (centres ? SUBPIXELS : 0);
	int64_t area = (int64_t)(v[1].x - v[0].x) * (v[2].y - v[0].y) -
		       (int64_t)(v[2].x - v[0].x) * (v[1].y - v[0].y);
	int64_t sign = area < 0 ? -1 : 1;

	p->count = 3;
	for (unsigned int i = 0; i < 3; i++) {
		const struct tsr_screen_vertex *from = &v[i], *to = &v[i == 2 ? 0 : i + 1];
		int64_t x = sign * (from->y - to->y), y = sign * (to->x - from->x);
		int64_t x0 = ((int64_t)out->tx0 << shift) + first;
		int64_t y0 = ((int64_t)out->ty0 << shift) + first;

		p->at[i] = x * (x0 + (x > 0 ? reach : 0) - from->x) +
			   y * (y0 + (y > 0 ? reach : 0) - from->y);
		p->x[i] = x * (1ll << shift);
		p->y[i] = y * (1ll << shift);
	}
}

/*
 * A line: the strip on both sides of it. Distances are multiplied by the line's length, which is
 * not more than the sum of its legs.
 */
static void line_planes(const struct tsr_binning *bin, const struct tsr_bin_out *out,
			const struct tsr_screen_vertex *v, struct planes *p)
{
	unsigned int shift = bin->info.frame.tile_shift + TSR_SUBPIXEL_BITS;
	int64_t side = 1ll << shift, dx = v[1].x - v[0].x, dy = v[1].y - v[0].y;
	int64_t length = (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
	int64_t half = (int64_t)(out->half * SUBPIXELS) + 2 * SUBPIXELS;
	int64_t x0 = (int64_t)out->tx0 << shift, y0 = (int64_t)out->ty0 << shift;

	p->count = 2;
	for (unsigned int i = 0; i < 2; i++) {
		int64_t x = i ? dy : -dy, y = i ? -dx : dx;

		p->at[i] = x * (x0 + (x > 0 ? side : 0) - v[0].x) +
			   y * (y0 + (y > 0 ? side : 0) - v[0].y) + half * length;
		p->x[i] = x * (1ll << shift);
		p->y[i] = y * (1ll << shift);
	}
}

/* The planes that tell which tiles of its box primitive @i touches; none: it touches all. */
static void find_planes(const struct tsr_binning *bin, unsigned int i, struct planes *p)
{
	const struct tsr_bin_out *out = &bin->out[i];
	struct tsr_screen_vertex v[3];

	p->count = 0;
	/* in one row or column the box is no larger than what it holds */
	if (out->tx0 == out->tx1 || out->ty0 == out->ty1)
		return;
	corners_of(bin, i, v);
	if (tsr_bin_vertices(out->word) == 3)
		triangle_planes(bin, out, v, p);
	else if (tsr_bin_vertices(out->word) == 2)
		line_planes(bin, out, v, p);
}

static bool touches(const struct planes *p, int64_t x, int64_t y)
{
	for (unsigned int i = 0; i < p->count; i++) {
		if (p->at[i] + p->x[i] * x + p->y[i] * y < 0)
			return false;
	}
	return true;
}

/* Append primitive @i to the tiles of a row of its box, from bin->tile_x on. */
static enum tsr_step append_row(struct tsr_binning *bin, struct tsr_mem *mem, unsigned int i,
				const struct planes *p)
{
	const struct tsr_bin_out *out = &bin->out[i];
	uint32_t row = (out->layer * bin->info.tiles_y + bin->tile_y) * bin->info.tiles_x;
	unsigned int begun = bin->tile_x;
	bool met = false;

	for (; bin->tile_x <= out->tx1; bin->tile_x++) {
		bool hit = touches(p, bin->tile_x - out->tx0, bin->tile_y - out->ty0);
		enum tsr_step step;

		if (!hit && met)
			break;
		if (!hit)
			continue;
		met = true;
		step = put(bin, mem, row + bin->tile_x, i);
		if (step != TSR_STEP_DONE)
			return step;
	}
	tsr_bin_spend(bin, bin->tile_x - begun);
	bin->stat[TSR_BIN_TILE_TESTS] += bin->tile_x - begun;
	return TSR_STEP_DONE;
}

/* Append primitive @i, of several tiles, to their lists. _MORE: the effort is used up. */
static enum tsr_step append_box(struct tsr_binning *bin, struct tsr_mem *mem, unsigned int i)
{
	const struct tsr_bin_out *out = &bin->out[i];
	struct planes planes;

	if (!bin->tile_begun) {
		bin->tile_begun = true;
		bin->tile_x = out->tx0;
		bin->tile_y = out->ty0;
	}
	find_planes(bin, i, &planes);
	while (bin->tile_y <= out->ty1) {
		enum tsr_step step = bin->effort < 0 ? TSR_STEP_MORE :
						      append_row(bin, mem, i, &planes);

		if (step != TSR_STEP_DONE)
			return step;
		bin->tile_x = out->tx0;
		bin->tile_y++;
	}
	bin->tile_begun = false;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_bin_append(struct tsr_binning *bin, struct tsr_mem *mem)
{
	for (; bin->out_next < bin->outs; bin->out_next++) {
		const struct tsr_bin_out *out = &bin->out[bin->out_next];
		uint32_t tile = (out->layer * bin->info.tiles_y + out->ty0) * bin->info.tiles_x +
				out->tx0;
		enum tsr_step step;

		if (out->tx0 == out->tx1 && out->ty0 == out->ty1)
			step = put(bin, mem, tile, bin->out_next);
		else
			step = append_box(bin, mem, bin->out_next);
		if (step != TSR_STEP_DONE)
			return step;
	}
	tsr_bin_spend(bin, bin->outs);
	bin->outs = 0;
	bin->clips = 0;
	return TSR_STEP_DONE;
}

/* ---- The end --------------------------------------------------------------------------------- */

/* The first blocks of the lists of @n tiles, to @table; the blocks that are at hand to the heap. */
static enum tsr_step finish_some(struct tsr_binning *bin, struct tsr_mem *mem, uint32_t n,
				 uint32_t *table)
{
	uint64_t word[FINISH_TILES * TSR_HEAP_TILE__QWORDS];
	enum tsr_step step = TSR_STEP_DONE;

	mem->unit = TSR_UNIT_BINNER;
	if (bin->stored)
		step = tsr_bin_read(bin, mem, bin->info.frame.heap + state_at(bin, bin->finish),
				    word, n * TSR_HEAP_TILE__QWORDS * 8);
	for (uint32_t i = 0; i < n && step == TSR_STEP_DONE; i++) {
		const uint32_t tile = bin->finish + i;
		const struct tsr_bin_tile *t = &bin->tile[tile % TSR_BINNER_TILES];
		struct tsr_heap_tile h = { 0 };

		if (t->number != tile + 1) {
			if (is_stored(bin, tile))
				tsr_unpack_heap_tile(&word[i * TSR_HEAP_TILE__QWORDS], &h);
			table[i] = h.first;
			continue;
		}
		table[i] = t->first;
		if (t->first)
			step = heap_write(bin, mem, t->at, t->block, sizeof(t->block));
	}
	return step;
}

enum tsr_step tsr_bin_finish_lists(struct tsr_binning *bin, struct tsr_mem *mem)
{
	uint32_t table[FINISH_TILES], n;
	enum tsr_step step;

	while (bin->finish < bin->info.tiles) {
		n = bin->info.tiles - bin->finish;
		n = n < FINISH_TILES ? n : FINISH_TILES;
		step = finish_some(bin, mem, n, table);
		if (step != TSR_STEP_DONE)
			return step;
		step = heap_write(bin, mem, bin->lists + 4 * bin->finish, table, 4 * n);
		if (step != TSR_STEP_DONE)
			return step;
		bin->finish += n;
		bin->effort -= n / 16;
		if (bin->effort < 0)
			return TSR_STEP_MORE;
	}
	return TSR_STEP_DONE;
}

enum tsr_step tsr_bin_finish_heap(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_heap_header header = {
		.magic = TSR_HEAP_MAGIC, .used = bin->used,
		.tiles_x = bin->info.tiles_x, .tiles_y = bin->info.tiles_y,
		.layers = bin->info.frame.layers,
		.lists = bin->lists, .batch = bin->last_batch, .batches = bin->batches,
	};
	uint64_t word[TSR_HEAP_HEADER__QWORDS];
	enum tsr_step step = tsr_bin_commit(bin, mem, true);

	if (step != TSR_STEP_DONE)
		return step;
	tsr_pack_heap_header(word, &header);
	step = heap_write(bin, mem, 0, word, sizeof(word));
	/* the last that a command does, as it must not be done again */
	return step == TSR_STEP_DONE ? tsr_bin_commit(bin, mem, false) : step;
}
