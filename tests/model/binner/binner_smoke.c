/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * The binner end to end: a triangle reaches the lists of the tiles it touches, with its corners,
 * ids and states; the second of three draws is alone in its tile.
 */
#include <string.h>

#include "binner.h"
#include "ktap.h"

/* Window coordinates of the test's vertices, by id. */
static const float (*points)[4];
static unsigned int size;

static void in_pixels(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	record[0] = points[vertex][0] / size * 2 - 1;
	record[1] = points[vertex][1] / size * 2 - 1;
	record[2] = points[vertex][2];
	record[3] = points[vertex][3];
	for (unsigned int i = 0; i < 3; i++)
		record[i] *= record[3];
}

static void one_triangle(void)
{
	static const float p[3][4] = { { 2, 3, .5, 1 }, { 30, 3, .25, 2 }, { 2, 30.5, 1, 4 } };
	struct binner *f = binner_new(64, 64);
	bool tile[4][4] = { 0 };

	size = 64;
	points = p;
	f->position = in_pixels;
	binner_arrays(f, TSR_TOPOLOGY_TRIANGLES, 3);
	ktap_ok(binner_bin(f));
	ktap_ok(binner_read(f));
	ktap_eq(f->seen_count, 3);
	for (uint32_t i = 0; i < f->seen_count; i++) {
		const struct binner_seen *s = &f->seen[i];

		tile[s->ty][s->tx] = true;
		ktap_eq(s->prim.vertices, 3);
		ktap_ok(!s->prim.clipped);
		ktap_eq(s->prim.primitive_id, 0);
		ktap_eq(s->batch.shader_state, BINNER_STATES);
		ktap_eq(s->batch.draw_state, BINNER_STATES + 128);
		for (unsigned int k = 0; k < 3; k++) {
			ktap_eq(s->id[k][0], k);
			ktap_eq(s->id[k][1], 0);
			ktap_eq(s->prim.v[k].x, (int32_t)(p[k][0] * 256));
			ktap_eq(s->prim.v[k].y, (int32_t)(p[k][1] * 256));
			ktap_ok(s->prim.v[k].z == p[k][2]);
			ktap_ok(s->prim.v[k].rw == 1 / p[k][3]);
		}
	}
	/* the corner at (30, 30) is not touched, though the box is */
	ktap_ok(tile[0][0] && tile[0][1] && tile[1][0] && !tile[1][1]);
	ktap_eq(f->shaded, 3);
	ktap_eq(f->bin->stat[TSR_BIN_INPUT_VERTICES], 3);
	ktap_eq(f->bin->stat[TSR_BIN_INPUT_PRIMITIVES], 1);
	ktap_eq(f->bin->stat[TSR_BIN_ENTRIES], 3);
	binner_free(f);
}

static void three_draws(void)
{
	static const float p[9][4] = {
		{ 1, 1, 0, 1 }, { 9, 1, 0, 1 }, { 1, 9, 0, 1 },
		{ 17, 1, 0, 1 }, { 25, 1, 0, 1 }, { 17, 9, 0, 1 },
		{ 1, 17, 0, 1 }, { 9, 17, 0, 1 }, { 1, 25, 0, 1 },
	};
	struct binner *f = binner_new(32, 32);

	size = 32;
	points = p;
	f->position = in_pixels;
	for (unsigned int i = 0; i < 3; i++) {
		binner_draw(f, &(struct tsr_list_draw){
			.topology = TSR_TOPOLOGY_TRIANGLES, .index = TSR_INDEX_TYPE_U8,
			.indices = BINNER_DATA + 3 * i, .index_bytes = 3, .count = 3,
			.instances = 1, .base_vertex = 10 * i });
		binner_states(f);
	}
	for (unsigned int i = 0; i < 9; i++)
		f->data[i] = i;
	ktap_ok(binner_bin(f));
	ktap_ok(binner_read(f));
	ktap_eq(f->seen_count, 3);
	for (uint32_t i = 0; i < f->seen_count; i++) {
		const struct binner_seen *s = &f->seen[i];
		unsigned int draw = s->tx + 2 * s->ty;

		ktap_eq(s->batch.shader_state, BINNER_STATES + 1024 * draw);
		ktap_eq(s->batch.start, 10 * (int)draw);
		ktap_eq(s->id[0][0], 3 * draw);
	}
	binner_free(f);
}

/* Consecutive primitives need almost no space in a list. A clipped one has its corners. */
static void compressed(void)
{
	static float p[3 * 120][4];
	struct binner *f = binner_new(32, 32);
	unsigned int whole = 0, clipped = 0;

	for (unsigned int i = 0; i < 3 * 120; i++) {
		p[i][0] = i % 3 == 1 ? 12 : 2;
		p[i][1] = i % 3 == 2 ? 12 : 2;
		p[i][2] = i == 60 ? -1 : .5f;
		p[i][3] = 1;
	}
	size = 32;
	points = (const float (*)[4])p;
	f->position = in_pixels;
	binner_arrays(f, TSR_TOPOLOGY_TRIANGLES, 3 * 120);
	ktap_ok(binner_bin(f));
	/* three batches of 42 triangles: 5 bytes for each of them and one for its run */
	ktap_eq(f->bin->tile[0].at, f->bin->tile[0].first);
	ktap_eq(f->bin->tile[0].used, 3 * 6);
	ktap_eq(f->bin->tile[1].first, 0);
	ktap_ok(binner_read(f));
	for (uint32_t i = 0; i < f->seen_count; i++) {
		clipped += f->seen[i].prim.clipped;
		whole += !f->seen[i].prim.clipped;
		ktap_eq(f->seen[i].prim.clipped, f->seen[i].prim.primitive_id == 20);
	}
	ktap_eq(whole, 119);
	ktap_eq(clipped, 2);
	binner_free(f);
}

/* Counts are added to the query that was set when a draw was met. */
static void statistics(void)
{
	static const float p[6][4] = {
		{ 1, 1, .5, 1 }, { 9, 1, .5, 1 }, { 1, 9, .5, 1 },
		{ 100, 1, .5, 1 }, { 101, 1, .5, 1 }, { 100, 9, .5, 1 },
	};
	struct binner *f = binner_new(32, 32);
	uint64_t q[8] = { UINT32_MAX - 5 }, word[2];

	size = 32;
	points = p;
	f->position = in_pixels;
	memset(f->data, 0, 128);
	memcpy(f->data, q, sizeof(q));
	for (unsigned int i = 0; i < 3; i++) {
		tsr_pack_list_query(word, &(struct tsr_list_query){
			.kind = TSR_QUERY_STATISTICS, .addr = i < 2 ? BINNER_DATA + 64 * i : 0 });
		binner_packet(f, word, TSR_LIST_QUERY_QWORDS);
		binner_arrays(f, TSR_TOPOLOGY_TRIANGLES, 6);
		if (!i)
			binner_arrays(f, TSR_TOPOLOGY_TRIANGLE_STRIP, 4);
	}
	ktap_ok(binner_bin(f));
	memcpy(q, f->data, sizeof(q));
	ktap_eq(q[0], UINT32_MAX - 5ull + 6 + 4);
	ktap_eq(q[1], 2 + 2);
	ktap_eq(q[2], 6 + 4);
	ktap_eq(q[3], 2 + 2);
	ktap_eq(q[4], 1 + 2);
	memcpy(q, f->data + 64, sizeof(q));
	ktap_eq(q[0], 6);
	ktap_eq(q[4], 1);
	ktap_ok(binner_read(f));
	ktap_eq(f->seen[0].batch.statistics_query, BINNER_DATA);
	binner_free(f);
}

int main(void)
{
	ktap_start();
	ktap_run("[BIN1] [BIN5] a triangle is in the lists of the tiles it touches", one_triangle);
	ktap_run("[BIN2] [BIN8] a tile that holds only the second of three draws has its states",
		 three_draws);
	ktap_run("[BIN3] lists are compressed, clipped primitives carry their corners", compressed);
	ktap_run("[OM7] pipeline statistics of the binner", statistics);
	return ktap_finish();
}
