/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Tile lists that somebody has changed: each thing a reader checks at its limit and one beyond, and
 * the address that the fault names. Both readers are asked, the one that takes primitives one by
 * one and RENDER's, which takes triangles together.
 */
#include <stddef.h>
#include <string.h>

#include "ktap.h"
#include "tiles.h"

#define ENTRIES (TSR_HEAP_BLOCK_BYTES - 4)	/* bytes of a block that are entries */
#define VERTICES 240			/* of a strip: two batches */
#define BEYOND (1u << 20)		/* of the heap: nothing is there yet */

/* A frame of one tile, binned. */
struct heap {
	struct tiles *t;
	uint8_t *mem;
	struct tsr_heap_header header;
	uint32_t at[2];			/* offsets of the batches */
	struct tsr_heap_batch batch[2];
};

static void corner(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	record[0] = vertex % 3 == 1 ? 0.9f : -0.9f;
	record[1] = vertex % 3 == 2 ? 0.9f : -0.9f;
	record[2] = 0.5f;
	record[3] = 1;
}

static void begin(struct heap *h)
{
	struct tiles *t = tiles_new(16, 16, NULL);

	h->t = t;
	t->f->position = corner;
	binner_again(t->f);
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLE_STRIP, VERTICES);
	ktap_ok(binner_bin(t->f));
	h->mem = t->f->heap;
	tsr_unpack_heap_header((uint64_t *)h->mem, &h->header);
	ktap_eq(h->header.batches, 2);
	h->at[1] = h->header.batch;
	tsr_unpack_heap_batch((uint64_t *)(h->mem + h->at[1]), &h->batch[1]);
	h->at[0] = h->batch[1].previous;
	tsr_unpack_heap_batch((uint64_t *)(h->mem + h->at[0]), &h->batch[0]);
}

/* Write header and batches back. */
static void put(struct heap *h)
{
	tsr_pack_heap_header((uint64_t *)h->mem, &h->header);
	for (unsigned int i = 0; i < 2; i++)
		tsr_pack_heap_batch((uint64_t *)(h->mem + h->at[i]), &h->batch[i]);
}

/* Have it read; what is at @offset must be found wrong if it is not @sound. */
static bool expect(struct heap *h, bool sound, uint32_t offset)
{
	struct tiles *t = h->t;
	bool ok = ktap_eq(binner_read(t->f), sound), drawn = tiles_render(t);

	ok &= ktap_eq(drawn, sound);
	if (!sound) {
		ok &= ktap_eq(t->f->mem.fault.code, TSR_FAULT_HEAP_CONTENT);
		ok &= ktap_eq(t->f->mem.fault.addr, BINNER_HEAP + offset);
		ok &= ktap_eq(bench_fault(&t->queue), TSR_FAULT_HEAP_CONTENT);
		ok &= ktap_eq(bench_queue_reg64(&t->queue, TSR_QUEUE_FAULT_ADDR__OFFSET),
			      BINNER_HEAP + offset);
	}
	tiles_free(t);
	return ok;
}

/* ---- Header and records ---------------------------------------------------------------------- */

static void test_header(void)
{
	for (unsigned int i = 0; i < 12; i++) {
		bool sound = i == 0 || i == 6 || i == 9;
		struct heap h;
		uint32_t lists;

		begin(&h);
		lists = h.header.lists;
		h.header.magic ^= i == 1;
		h.header.tiles_x += i == 2;
		h.header.tiles_y += i == 3;
		h.header.layers += i == 4;
		h.header.lists += i == 5 ? 8 : 0;
		if (i == 6 || i == 7) {		/* the table is the last that is there */
			h.header.lists = BEYOND;
			h.header.used = BEYOND + 4 - (i == 7);
			memcpy(h.mem + BEYOND, h.mem + lists, 4);
		}
		h.header.lists = i == 8 ? 48 : h.header.lists;	/* within the header */
		h.header.used = i == 9 ? TSR_HEAP_SIZE_MAX : h.header.used;
		h.header.used = i == 10 ? TSR_HEAP_SIZE_MAX + 1 : h.header.used;
		h.header.layers -= i == 11;
		put(&h);
		if (!expect(&h, sound, 0))
			ktap_note("case %u", i);
	}
}

/* A field of a record, and what it may be or not. */
#define FIELD(name, value, sound) \
	{ offsetof(struct tsr_heap_batch, name), sizeof(((struct tsr_heap_batch *)0)->name), \
	  value, sound }

static void test_fields(void)
{
	static const struct {
		size_t offset, size;
		uint64_t value;
		bool sound;
	} rows[] = {
		FIELD(vertices, 0, false), FIELD(vertices, TSR_BATCH_VERTICES, true),
		FIELD(vertices, TSR_BATCH_VERTICES + 1, false),
		FIELD(primitives, 0, false), FIELD(primitives, TSR_BATCH_PRIMITIVES, true),
		FIELD(primitives, TSR_BATCH_PRIMITIVES + 1, false),
		FIELD(output_stride, TSR_VERTEX_OUTPUT_MAX, true), FIELD(output_stride, 0, true),
		FIELD(output_stride, TSR_VERTEX_OUTPUT_MAX + 16, false),
		FIELD(output_stride, 8, false), FIELD(output_stride, 17, false),
		FIELD(outputs, 48, false), FIELD(outputs, 64, true), FIELD(outputs, 72, false),
		FIELD(outputs, 0, true), FIELD(vertex_data, 0, false), FIELD(vertex_ids, 48, false),
		FIELD(vertex_ids, 64, true), FIELD(vertex_ids, 72, false),
		FIELD(primitive_data, 48, false), FIELD(primitive_data, 0, false),
		FIELD(vertex_extra, 48, false), FIELD(vertex_extra, 8, false),
		FIELD(clipped_data, 48, false), FIELD(clipped_data, 64, true),
		FIELD(clipped_data, 72, false), FIELD(clipped_data, 2 * BEYOND, true),
		FIELD(clipped_data, 2 * BEYOND + 16, false),
		FIELD(padded, 1ull << 32, true), FIELD(padded, (1ull << 32) + 1, false),
		FIELD(shader_state, BINNER_STATES + 32, false),
		FIELD(draw_state, BINNER_STATES + 32, false),
		FIELD(samples_query, BINNER_DATA + 4, false),
		FIELD(any_query, BINNER_DATA + 4, false),
		FIELD(statistics_query, BINNER_DATA + 4, false),
		FIELD(samples_query, BINNER_DATA + 8, true),
		FIELD(any_query, BINNER_DATA + 8, true),
		FIELD(shader_copy, 0, false), FIELD(shader_copy, 48, false),
		FIELD(shader_copy, 72, false), FIELD(draw_copy, 0, false),
		FIELD(draw_copy, 48, false), FIELD(draw_copy, 72, false),
		FIELD(varying_copy, 0, true), FIELD(varying_copy, 48, false),
		FIELD(varying_copy, 72, false), FIELD(fragment_copy, 0, true),
		FIELD(fragment_copy, 48, false), FIELD(fragment_copy, 72, false),
		FIELD(varying_push, 64, true), FIELD(varying_push, 72, false),
		FIELD(fragment_push, 48, false), FIELD(fragment_push, 64, true),
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct heap h;

		begin(&h);
		h.header.used = 2 * BEYOND;
		memcpy((uint8_t *)&h.batch[1] + rows[i].offset, &rows[i].value, rows[i].size);
		put(&h);
		if (!expect(&h, rows[i].sound, h.at[1]))
			ktap_note("row %u", i);
	}
}

/* Each array of a record may be the last that there is in the heap. */
static void test_arrays(void)
{
	for (unsigned int i = 0; i < 9 * 2; i++) {
		const bool sound = i % 2 == 0;
		struct tsr_heap_batch *b;
		uint32_t *field, size;
		struct heap h;

		begin(&h);
		b = &h.batch[1];
		switch (i / 2) {
		case 0:
			field = &b->vertex_data, size = 16 * b->vertices;
			break;
		case 1:
			field = &b->vertex_ids, size = 8 * b->vertices;
			break;
		case 2:
			field = &b->primitive_data, size = 8 * b->primitives;
			break;
		case 3:
			field = &b->vertex_extra, size = 8 * b->vertices;
			break;
		case 4:
			field = &b->shader_copy, size = 8 * TSR_SHADER_STATE__QWORDS;
			break;
		case 5:
			field = &b->draw_copy, size = 8 * TSR_DRAW_STATE__QWORDS;
			break;
		case 6:
			field = &b->varying_copy, size = 8 * TSR_SHADER_PROGRAM__QWORDS;
			break;
		case 7:
			field = &b->fragment_copy, size = 8 * TSR_SHADER_PROGRAM__QWORDS;
			break;
		default:
			field = &b->outputs, size = 48 * b->vertices;
			b->output_stride = 48;
		}
		if (*field)
			memcpy(h.mem + BEYOND, h.mem + *field, size);
		*field = BEYOND;
		h.header.used = BEYOND + size - !sound;
		put(&h);
		if (!expect(&h, sound, h.at[1]))
			ktap_note("array %u", i / 2);
	}
}

/* Records name earlier ones. */
static void test_chain(void)
{
	static const struct {
		int previous;			/* from the record's own place */
		bool sound;
	} rows[] = { { 0, false }, { 64, false } };

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct heap h;

		begin(&h);
		h.batch[1].previous = h.at[1] + rows[i].previous;
		put(&h);
		expect(&h, rows[i].sound, h.at[1]);
	}
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static uint32_t *table(struct heap *h)
{
	return (uint32_t *)(h->mem + h->header.lists);
}

/* Bytes of a new list, at BEYOND; returns where the next entry goes. */
static uint8_t *name_batch(struct heap *h, uint8_t *to, unsigned int n)
{
	*to++ = TSR_HEAP_ENTRY_BATCH;
	memcpy(to, &h->at[n], 4);
	return to + 4;
}

static uint8_t *new_list(struct heap *h)
{
	*table(h) = BEYOND;
	h->header.used = 2 * BEYOND;
	put(h);
	return h->mem + BEYOND;
}

static void test_entries(void)
{
	for (unsigned int i = 0; i < 12; i++) {
		static const bool sound[12] = { true, false, true, false, true, false, false, true,
						false, true, false, false };
		uint32_t at = BEYOND;
		struct heap h;
		uint8_t *list;

		begin(&h);
		list = new_list(&h);
		if (i == 1)			/* no record is named */
			*list++ = TSR_HEAP_ENTRY_STEP;
		list = name_batch(&h, list, i == 6);
		if (i >= 2 && i <= 5)		/* the first 64 but one are left out */
			*list++ = TSR_HEAP_ENTRY_STEP + 63;
		if (i == 2 || i == 3)		/* the last primitive, the next one */
			*list++ = TSR_HEAP_ENTRY_STEP + h.batch[0].primitives - 65 + (i == 3);
		if (i == 4 || i == 5) {		/* the same of several */
			*list++ = TSR_HEAP_ENTRY_STEP + h.batch[0].primitives - 67 + (i == 5);
			*list++ = TSR_HEAP_ENTRY_RUN;
		}
		if (i == 6)			/* a record before this one */
			list = name_batch(&h, list, 0);
		if (i == 7 || i == 8) {		/* the last entry of a block that names a record */
			memset(list, TSR_HEAP_ENTRY_STEP, 55);
			list = h.mem + BEYOND + ENTRIES - 5 + (i == 8);
			list = name_batch(&h, list, 1);
		}
		if (i == 9 || i == 10) {	/* one followed by a byte */
			memset(list, TSR_HEAP_ENTRY_STEP, 55);
			list = h.mem + BEYOND + ENTRIES - 2 + (i == 10);
			name_batch(&h, h.mem + BEYOND + 30, 1);
			*list++ = TSR_HEAP_ENTRY_SKIP;
			*list = 0;
		}
		if (i == 11)			/* no entry begins so */
			*list = TSR_HEAP_ENTRY_SKIP + 1;
		if (!expect(&h, sound[i], at))
			ktap_note("case %u", i);
	}
}

/* Blocks are consecutive in the heap. */
static void test_blocks(void)
{
	static const struct {
		uint32_t first, next, used;
		uint32_t wrong;			/* 0: nothing */
	} rows[] = {
		{ BEYOND, 0, BEYOND + TSR_HEAP_BLOCK_BYTES, 0 },
		{ BEYOND, 0, BEYOND + TSR_HEAP_BLOCK_BYTES - 1, BEYOND },
		{ BEYOND + 8, 0, 2 * BEYOND, BEYOND + 8 },
		{ 48, 0, 2 * BEYOND, 48 },
		{ BEYOND, BEYOND + 64, BEYOND + 128, 0 },
		{ BEYOND, BEYOND + 64, BEYOND + 127, BEYOND + 64 },
		{ BEYOND, BEYOND, 2 * BEYOND, BEYOND },
		{ BEYOND, BEYOND - 64, 2 * BEYOND, BEYOND },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct heap h;
		uint8_t *list;

		begin(&h);
		list = new_list(&h);
		*table(&h) = rows[i].first;
		h.header.used = rows[i].used;
		put(&h);
		name_batch(&h, list, 0);
		memcpy(h.mem + BEYOND + ENTRIES, &rows[i].next, 4);
		if (!expect(&h, !rows[i].wrong, rows[i].wrong))
			ktap_note("row %u", i);
	}
}

/* ---- Primitives ------------------------------------------------------------------------------ */

static void test_primitives(void)
{
	for (unsigned int i = 0; i < 12; i++) {
		static const bool sound[12] = { true, false, true, false, true, false, true, false,
						true, false, true, false };
		struct tsr_heap_primitive p;
		struct heap h;
		uint64_t *word;
		uint32_t last;

		begin(&h);
		h.header.used = 2 * BEYOND;
		put(&h);
		last = h.batch[1].vertices - 1;
		word = (uint64_t *)(h.mem + h.batch[1].primitive_data) + 5;
		tsr_unpack_heap_primitive(word, &p);
		p.vertices = i == 1 ? 0 : i == 10 || i == 11 ? 2 : p.vertices;
		p.provoking = i == 2 ? 2 : i == 3 ? 3 : i == 10 ? 1 : i == 11 ? 2 : p.provoking;
		p.slot_0 = i == 4 ? last : i == 5 ? last + 1 : p.slot_0;
		p.slot_1 = i == 6 ? last : i == 7 ? last + 1 : p.slot_1;
		p.slot_2 = i == 8 ? last : i == 9 || i == 10 ? last + 1 : p.slot_2;
		tsr_pack_heap_primitive(word, &p);
		if (!expect(&h, sound[i], h.at[1]))
			ktap_note("case %u", i);
	}
}

/* Clipped primitives have a record of their own, which lies in the heap. */
static void test_clipped(void)
{
	const unsigned int bytes = TSR_HEAP_CLIPPED__QWORDS * 8;

	for (unsigned int i = 0; i < 5; i++) {
		struct tsr_heap_primitive p;
		struct heap h;
		uint64_t *word;

		begin(&h);
		h.batch[1].clipped_data = i == 1 ? 0 : BEYOND;
		h.header.used = BEYOND + 3 * bytes - (i == 2);
		put(&h);
		word = (uint64_t *)(h.mem + h.batch[1].primitive_data) + 5;
		tsr_unpack_heap_primitive(word, &p);
		p.clipped = true;
		p.id = i == 3 ? 3 : 2;
		tsr_pack_heap_primitive(word, &p);
		if (i == 4)			/* a corner that is nowhere */
			*(int32_t *)(h.mem + BEYOND + 2 * bytes + 32) =
				TSR_GUARD_BAND << 8;
		if (!expect(&h, !i, h.at[1]))
			ktap_note("case %u", i);
	}
}

/* Vertices are within the guard band; layers and viewports are there. */
static void test_vertices(void)
{
	static const int32_t edge = TSR_GUARD_BAND << 8;
	static const struct {
		int32_t x, y;
		uint32_t layer, viewport;
		bool sound;
	} rows[] = {
		{ -edge, -edge, 0, 0, true }, { edge - 1, edge - 1, 0, 0, true },
		{ -edge - 1, 0, 0, 0, false }, { edge, 0, 0, 0, false },
		{ 0, -edge - 1, 0, 0, false }, { 0, edge, 0, 0, false },
		{ 0, 0, 0, 15, true }, { 0, 0, 1, 0, false }, { 0, 0, 0, 16, false },
	};

	for (unsigned int i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const bool extra = i % 2, sound = rows[i / 2].sound;
		struct tsr_heap_vertex_extra e = {
			.layer = rows[i / 2].layer, .viewport = rows[i / 2].viewport,
		};
		struct heap h;
		int32_t *v;

		begin(&h);
		h.header.used = 2 * BEYOND;
		h.batch[1].vertex_extra = extra ? BEYOND : 0;
		put(&h);
		tsr_pack_heap_vertex_extra((uint64_t *)(h.mem + BEYOND), &e);
		v = (int32_t *)(h.mem + h.batch[1].vertex_data);
		v[0] = rows[i / 2].x;
		v[1] = rows[i / 2].y;
		if (!expect(&h, sound || (!extra && i / 2 > 5), h.at[1]))
			ktap_note("row %u, extra %d", i / 2, extra);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[BIN5] the header of a heap", test_header);
	ktap_run("[BIN5] fields of a batch", test_fields);
	ktap_run("[BIN5] arrays of a batch lie in the heap", test_arrays);
	ktap_run("[BIN5] batches name earlier ones", test_chain);
	ktap_run("[BIN5] entries of a list", test_entries);
	ktap_run("[BIN5] blocks of a list", test_blocks);
	ktap_run("[BIN5] primitives have vertices of their batch", test_primitives);
	ktap_run("[BIN5] clipped primitives have corners", test_clipped);
	ktap_run("[BIN5] vertices are on the screen, in a layer and a viewport", test_vertices);
	return ktap_finish();
}
