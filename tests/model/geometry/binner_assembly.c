/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Input assembly against references written from the rules: what each topology makes of a row of
 * indices, restart, all index types, reads out of bounds, and the batches a greedy shader would
 * form.
 */
#include <stdlib.h>
#include <string.h>

#include "binner.h"
#include "ktap.h"
#include "rnd.h"

/* ---- The reference --------------------------------------------------------------------------- */

#define PRIMS 65536

struct prim {
	uint32_t v[3];
	uint32_t instance, id;
	uint8_t n, provoking;
};

static struct prim expected[PRIMS];
static unsigned int expected_count;
static bool last_provokes;

static void add(uint32_t instance, uint32_t id, unsigned int n, uint32_t a, uint32_t b, uint32_t c,
		unsigned int first, unsigned int last)
{
	if (expected_count == PRIMS)
		abort();
	expected[expected_count++] = (struct prim){
		.v = { a, b, c }, .instance = instance, .id = id, .n = n,
		.provoking = last_provokes ? last : first,
	};
}

/* The primitives of one strip: @n vertices without restart. Returns how many. */
static uint32_t expand(unsigned int topology, const uint32_t *v, uint32_t n, uint32_t instance,
		       uint32_t id)
{
	uint32_t begun = id;

	switch (topology) {
	case TSR_TOPOLOGY_POINTS:
		for (uint32_t i = 0; i < n; i++)
			add(instance, id++, 1, v[i], 0, 0, 0, 0);
		break;
	case TSR_TOPOLOGY_LINES:
		for (uint32_t i = 0; 2 * i + 1 < n; i++)
			add(instance, id++, 2, v[2 * i], v[2 * i + 1], 0, 0, 1);
		break;
	case TSR_TOPOLOGY_LINE_STRIP:
	case TSR_TOPOLOGY_LINE_LOOP:
		for (uint32_t i = 0; i + 1 < n; i++)
			add(instance, id++, 2, v[i], v[i + 1], 0, 0, 1);
		if (topology == TSR_TOPOLOGY_LINE_LOOP && n > 1)
			add(instance, id++, 2, v[n - 1], v[0], 0, 0, 1);
		break;
	case TSR_TOPOLOGY_TRIANGLES:
		for (uint32_t i = 0; 3 * i + 2 < n; i++)
			add(instance, id++, 3, v[3 * i], v[3 * i + 1], v[3 * i + 2], 0, 2);
		break;
	case TSR_TOPOLOGY_TRIANGLE_STRIP:
		for (uint32_t i = 0; i + 2 < n; i++) {
			if (i % 2)
				add(instance, id++, 3, v[i], v[i + 2], v[i + 1], 0, 1);
			else
				add(instance, id++, 3, v[i], v[i + 1], v[i + 2], 0, 2);
		}
		break;
	case TSR_TOPOLOGY_TRIANGLE_FAN:
		for (uint32_t i = 0; i + 2 < n; i++)
			add(instance, id++, 3, v[0], v[i + 1], v[i + 2], 1, 2);
		break;
	case TSR_TOPOLOGY_LINES_ADJACENCY:
		for (uint32_t i = 0; 4 * i + 3 < n; i++)
			add(instance, id++, 2, v[4 * i + 1], v[4 * i + 2], 0, 0, 1);
		break;
	case TSR_TOPOLOGY_LINE_STRIP_ADJACENCY:
		for (uint32_t i = 0; i + 3 < n; i++)
			add(instance, id++, 2, v[i + 1], v[i + 2], 0, 0, 1);
		break;
	case TSR_TOPOLOGY_TRIANGLES_ADJACENCY:
		for (uint32_t i = 0; 6 * i + 5 < n; i++)
			add(instance, id++, 3, v[6 * i], v[6 * i + 2], v[6 * i + 4], 0, 2);
		break;
	case TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY:
		for (uint32_t i = 0; 2 * i + 5 < n; i++) {
			if (i % 2)
				add(instance, id++, 3, v[2 * i], v[2 * i + 4], v[2 * i + 2], 0, 1);
			else
				add(instance, id++, 3, v[2 * i], v[2 * i + 2], v[2 * i + 4], 0, 2);
		}
		break;
	}
	return id - begun;
}

/* All primitives of a draw: @v is what each index reads as, @cut where a strip is cut. */
static void expand_draw(unsigned int topology, const uint32_t *v, const bool *cut, uint32_t n,
			uint32_t instances)
{
	expected_count = 0;
	for (uint32_t i = 0; i < instances; i++) {
		uint32_t from = 0, id = 0;

		for (uint32_t at = 0; at <= n; at++) {
			if (at < n && !cut[at])
				continue;
			id += expand(topology, &v[from], at - from, i, id);
			from = at + 1;
		}
	}
}

/* Why batches ended before the draw did. */
static unsigned int tag_stalls, pipe_stalls;

/* Batches of a greedy shader: sizes into @sizes; returns how many. */
static unsigned int greedy(uint32_t *sizes)
{
	uint32_t have[TSR_BATCH_VERTICES][2], vertices = 0, prims = 0;
	unsigned int batches = 0;

	tag_stalls = pipe_stalls = 0;
	for (unsigned int i = 0; i < expected_count; i++) {
		const struct prim *p = &expected[i];
		uint32_t add_to[3][2], fresh;

again:
		fresh = 0;
		for (unsigned int k = 0; k < p->n; k++) {
			bool known = false;

			for (unsigned int j = 0; j < vertices; j++)
				known |= have[j][0] == p->v[k] && have[j][1] == p->instance;
			for (unsigned int j = 0; j < fresh; j++)
				known |= add_to[j][0] == p->v[k];
			if (known)
				continue;
			add_to[fresh][0] = p->v[k];
			add_to[fresh++][1] = p->instance;
		}
		if (vertices + fresh > TSR_BATCH_VERTICES || prims == TSR_BATCH_PRIMITIVES) {
			sizes[batches++] = vertices;
			pipe_stalls += prims == TSR_BATCH_PRIMITIVES;
			tag_stalls += prims != TSR_BATCH_PRIMITIVES;
			vertices = prims = 0;
			goto again;
		}
		memcpy(have[vertices], add_to, fresh * sizeof(add_to[0]));
		vertices += fresh;
		prims++;
	}
	if (prims)
		sizes[batches++] = vertices;
	return batches;
}

/* ---- Positions: pixel corners, so that a triangle that has an area covers a centre ----------- */

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	uint32_t h = (vertex * 2654435761u ^ instance * 40503u) * 2246822519u;

	(void)f;
	record[0] = (float)(h >> 26) / 32 - 1;
	record[1] = (float)(h >> 20 & 63) / 32 - 1;
	record[2] = .5f;
	record[3] = 1;
}

/* True if a primitive is nothing on the screen: triangles without area. */
static bool is_nothing(const struct prim *p)
{
	float r[3][4];

	if (p->n < 3)
		return false;
	for (unsigned int i = 0; i < 3; i++)
		position(NULL, p->v[i], p->instance, r[i]);
	return (r[1][0] - r[0][0]) * (r[2][1] - r[0][1]) ==
	       (r[2][0] - r[0][0]) * (r[1][1] - r[0][1]);
}

/* ---- Comparison ------------------------------------------------------------------------------ */

static bool same(const struct binner_seen *s, const struct prim *p)
{
	if (s->prim.vertices != p->n || s->prim.primitive_id != p->id ||
	    s->prim.provoking != p->provoking)
		return false;
	for (unsigned int i = 0; i < p->n; i++) {
		if (s->id[i][0] != p->v[i] || s->id[i][1] != p->instance)
			return false;
	}
	return true;
}

/* The primitives equal expected[] in order, and batches are as large as possible. */
static bool compare(struct binner *f)
{
	static uint32_t sizes[PRIMS];
	unsigned int at = 0, batches = greedy(sizes), vertices = 0;

	for (unsigned int i = 0; i < expected_count; i++) {
		if (is_nothing(&expected[i]))
			continue;
		if (at >= f->seen_count || !same(&f->seen[at], &expected[i]))
			return ktap_ok(!"a primitive"), false;
		at++;
	}
	ktap_eq(f->seen_count, at);
	ktap_eq(f->runs, batches);
	for (unsigned int i = 0; i < batches && i < 4096; i++) {
		vertices += sizes[i];
		if (f->run_vertices[i] != sizes[i])
			return ktap_eq(f->run_vertices[i], sizes[i]), false;
	}
	ktap_eq(f->shaded, vertices);
	ktap_eq(f->bin->stat[TSR_BIN_VERTEX_INVOCATIONS], vertices);
	ktap_eq(f->bin->stat[TSR_BIN_INPUT_PRIMITIVES], expected_count);
	ktap_eq(f->bin->stat[TSR_BIN_TAG_STALLS], tag_stalls);
	ktap_eq(f->bin->stat[TSR_BIN_PIPE_STALLS], pipe_stalls);
	return true;
}

static const uint8_t topologies[] = {
	TSR_TOPOLOGY_POINTS, TSR_TOPOLOGY_LINES, TSR_TOPOLOGY_LINE_STRIP, TSR_TOPOLOGY_LINE_LOOP,
	TSR_TOPOLOGY_TRIANGLES, TSR_TOPOLOGY_TRIANGLE_STRIP, TSR_TOPOLOGY_TRIANGLE_FAN,
	TSR_TOPOLOGY_LINES_ADJACENCY, TSR_TOPOLOGY_LINE_STRIP_ADJACENCY,
	TSR_TOPOLOGY_TRIANGLES_ADJACENCY, TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY,
};

static struct binner *start(void)
{
	struct binner *f = binner_new(64, 64);

	f->frame.tile_shift = 6;
	f->position = position;
	f->draw.provoking_last = last_provokes;
	/* steps end wherever they may: where a batch does, too */
	if (rnd_below(4))
		f->bin->step_effort = 1 + rnd_below(600);
	binner_again(f);
	binner_states(f);
	return f;
}

/* Without indices: few vertices (what is too few makes nothing) and many; instances. */
static void arrays(void)
{
	static const uint32_t counts[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 127, 128, 129,
					   500, 2000 };
	static uint32_t v[4096];
	static bool cut[4096];

	for (uint32_t i = 0; i < 4096; i++)
		v[i] = i;
	for (unsigned int t = 0; t < 2 * sizeof(topologies); t++) {
		struct binner *f;

		last_provokes = t % 2;
		f = start();
		for (unsigned int c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
			uint32_t instances = 1 + c % 3;

			binner_again(f);
			binner_states(f);
			expand_draw(topologies[t / 2], v, cut, counts[c], instances);
			binner_draw(f, &(struct tsr_list_draw){
				.topology = topologies[t / 2], .count = counts[c],
				.instances = instances, .first = 1000 });
			ktap_ok(binner_bin(f) && binner_read(f));
			if (!compare(f))
				printf("# topology %u, %u vertices\n", topologies[t / 2],
				       counts[c]);
			ktap_eq(f->bin->stat[TSR_BIN_INPUT_VERTICES], counts[c] * instances);
		}
		binner_free(f);
	}
}

/* Index number @i behind @all: any below @range, all ones, or with which triangles are a fan. */
static uint32_t random_index(const uint32_t *all, uint32_t i, uint32_t range, uint32_t ones)
{
	if (i >= 3 && i % 3 < 2 && rnd_below(2))
		return all[i - (i % 3 ? 2 : 3)];
	return rnd_below(12) ? rnd_below(range) : ones;
}

/* One draw of @n random indices of type @type, some of them restarts, some beyond the buffer. */
static void indexed(struct binner *f, unsigned int topology, unsigned int type, uint32_t n,
		    uint32_t range, bool restart)
{
	static uint32_t v[4096], all[4096];
	static bool cut[4096];
	unsigned int size = 1u << (type - TSR_INDEX_TYPE_U8);
	uint32_t ones = UINT32_MAX >> (32 - 8 * size), missing = rnd_below(3) ? 0 : rnd_below(n);
	uint32_t instances = 1 + rnd_below(3), first = rnd_below(5), vertices = 0;

	memset(cut, 0, sizeof(cut));
	for (uint32_t i = 0; i < n; i++) {
		all[i] = random_index(all, i, range, ones);
		memcpy(f->data + 16 + size * (first + i), &all[i], size);
		v[i] = i + missing >= n ? 0 : all[i] & ones;
		cut[i] = restart && v[i] == ones;
		vertices += !cut[i];
	}
	binner_again(f);
	binner_states(f);
	binner_draw(f, &(struct tsr_list_draw){
		.topology = topology, .index = type, .restart = restart, .count = n,
		.instances = instances, .first = first, .base_vertex = -7,
		.indices = BINNER_DATA + 16, .index_bytes = size * (first + n - missing),
		.explicit_padding = instances > 1, .padded_shift = 28, .padded_odd = 0 });
	/* padded to 2^28: with instances the 32-bit index of all ones reads as 0 */
	for (uint32_t i = 0; i < n && instances > 1; i++)
		v[i] = v[i] >= 1u << 28 ? 0 : v[i];
	expand_draw(topology, v, cut, n, instances);
	ktap_ok(binner_bin(f) && binner_read(f));
	if (!compare(f))
		printf("# topology %u, type %u, %u indices\n", topology, type, n);
	ktap_eq(f->bin->stat[TSR_BIN_INPUT_VERTICES], vertices * instances);
}

static void indices(void)
{
	for (unsigned int t = 0; t < 2 * sizeof(topologies); t++) {
		struct binner *f;

		last_provokes = t % 2;
		f = start();
		for (unsigned int type = TSR_INDEX_TYPE_U8; type <= TSR_INDEX_TYPE_U32; type++) {
			indexed(f, topologies[t / 2], type, 1 + rnd_below(20), 40, true);
			indexed(f, topologies[t / 2], type, 1000 + rnd_below(500), 60, true);
			indexed(f, topologies[t / 2], type, 1000 + rnd_below(500), 250, false);
			indexed(f, topologies[t / 2], type, 3000, 255, rnd_below(2));
		}
		binner_free(f);
	}
}

/* Many primitives of the same three vertices: their number ends the batch. */
static void many_primitives(void)
{
	struct binner *f;
	static uint32_t v[3000];
	static bool cut[3000];

	last_provokes = false;
	f = start();
	for (uint32_t i = 0; i < 3000; i++) {
		v[i] = i % 3;
		f->data[i] = i % 3;
	}
	expand_draw(TSR_TOPOLOGY_TRIANGLES, v, cut, 3000, 1);
	binner_draw(f, &(struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_TRIANGLES, .index = TSR_INDEX_TYPE_U8, .count = 3000,
		.instances = 1, .indices = BINNER_DATA, .index_bytes = 3000 });
	ktap_ok(binner_bin(f) && binner_read(f));
	compare(f);
	ktap_eq(f->runs, 4);
	ktap_eq(pipe_stalls, 3);
	ktap_eq(f->shaded, 12);
	binner_free(f);
}

/* A NULL buffer: every index is 0. A page that is not there faults, with its address. */
static void no_buffer(void)
{
	struct binner *f;
	static uint32_t v[30];
	static bool cut[30];

	last_provokes = false;
	f = start();
	expand_draw(TSR_TOPOLOGY_POINTS, v, cut, 30, 1);
	binner_draw(f, &(struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_POINTS, .index = TSR_INDEX_TYPE_U16, .count = 30,
		.instances = 1, .indices = 0, .index_bytes = 0xffffffffffff });
	ktap_ok(binner_bin(f) && binner_read(f));
	compare(f);
	ktap_eq(f->shaded, 1);
	binner_again(f);
	binner_states(f);
	binner_draw(f, &(struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_POINTS, .index = TSR_INDEX_TYPE_U16, .count = 30,
		.instances = 1, .indices = 0x7000000000, .index_bytes = 60 });
	ktap_ok(!binner_bin(f));
	ktap_eq(f->mem.fault.code, TSR_FAULT_MMU_UNMAPPED);
	ktap_eq(f->mem.fault.addr, 0x7000000000);
	ktap_eq(f->mem.fault.unit, TSR_UNIT_BINNER);
	/* nothing is read where there is nothing in the buffer */
	binner_again(f);
	binner_states(f);
	binner_draw(f, &(struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_POINTS, .index = TSR_INDEX_TYPE_U32, .count = 30,
		.first = UINT32_MAX, .instances = 1, .indices = 0x7000000000,
		.index_bytes = 3 });
	ktap_ok(binner_bin(f));
	binner_free(f);
}

/* Arguments in memory: direct and indirect draws leave the same heap. */
static void indirect(void)
{
	struct binner *f;
	uint64_t word[TSR_LIST_DRAW_INDIRECT_QWORDS];
	uint8_t *copy;
	uint32_t used;

	last_provokes = false;
	for (unsigned int pass = 0; pass < 2; pass++) {
		f = start();
		for (unsigned int i = 0; i < 5; i++) {
			struct tsr_list_draw d = {
				.topology = TSR_TOPOLOGY_TRIANGLE_STRIP, .count = 7 * i,
				.instances = 3, .first = i, .first_instance = 5 * i,
				.index = pass ? TSR_INDEX_TYPE_U8 : TSR_INDEX_TYPE_NONE,
				.indices = pass ? BINNER_DATA : 0, .index_bytes = pass ? 900 : 0,
				.base_vertex = pass ? -3 * (int)i : 0,
				.explicit_padding = true, .padded_shift = 5, .padded_odd = 4,
			};
			const uint32_t plain[] = { d.count, 3, i, 5 * i };
			const uint32_t with[] = { d.count, 3, i, d.base_vertex, 5 * i };

			binner_draw(f, &d);
			memcpy(f->data + 4096 + 24 * i, pass ? with : plain,
			       pass ? sizeof(with) : sizeof(plain));
		}
		for (unsigned int i = 0; i < 900; i++)
			f->data[i] = rnd_below(256);
		ktap_ok(binner_bin(f));
		used = f->bin->used;
		copy = malloc(used);
		memcpy(copy, f->heap, used);
		binner_again(f);
		binner_states(f);
		tsr_pack_list_draw_indirect(word, &(struct tsr_list_draw_indirect){
			.topology = TSR_TOPOLOGY_TRIANGLE_STRIP,
			.index = pass ? TSR_INDEX_TYPE_U8 : TSR_INDEX_TYPE_NONE,
			.arguments = BINNER_DATA + 4096, .draws = 5, .stride = 24,
			.indices = pass ? BINNER_DATA : 0, .index_bytes = pass ? 900 : 0,
			.explicit_padding = true, .padded_shift = 5, .padded_odd = 4 });
		binner_packet(f, word, TSR_LIST_DRAW_INDIRECT_QWORDS);
		ktap_ok(binner_bin(f));
		ktap_eq(f->bin->used, used);
		ktap_ok(!memcmp(copy, f->heap, used));
		ktap_eq(f->bin->stat[TSR_BIN_DRAWS], 5);
		free(copy);
		binner_free(f);
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[IA6] [IA4] [IA1] [BIN7] every topology, no indices, batches are the greedy ones",
		 arrays);
	ktap_run("[IA6] [IA4] [IA1] [IA2] random indices of every type, restart, beyond the end",
		 indices);
	ktap_run("[IA4] [BIN7] a batch ends after BATCH_PRIMITIVES primitives", many_primitives);
	ktap_run("[IA2] no index buffer, an unmapped one, an empty one", no_buffer);
	ktap_run("[IA1] indirect draws do what direct ones do", indirect);
	return ktap_finish();
}
