/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Frames with more tiles than the binner has places: lists that are not at hand are in the heap,
 * and become what they are in a frame of few tiles, also where the host has to be asked for each
 * page. What the guest makes of them meanwhile is noticed, or ends in lists that RENDER checks.
 */
#include <string.h>

#include "binner.h"
#include "ktap.h"

#define DIM 4096			/* pixels of a frame: 65536 tiles */
#define COLUMNS (DIM / 16)
#define TILES (COLUMNS * COLUMNS)
#define SHARED (TILES / TSR_BINNER_TILES)	/* tiles that have one place */
#define PLACES 40
#define COUNT 4000			/* triangles */

static uint32_t tile_of[COUNT];		/* which each is in */
static uint64_t state;

static uint32_t rnd(uint32_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

static void scatter(unsigned int seed)
{
	uint32_t place[PLACES];

	state = seed;
	for (unsigned int i = 0; i < PLACES; i++)
		place[i] = rnd(TSR_BINNER_TILES);
	for (unsigned int i = 0; i < COUNT; i++)
		tile_of[i] = place[rnd(PLACES)] + TSR_BINNER_TILES * rnd(SHARED);
}

/* A small triangle in the middle of its tile. */
static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	const uint32_t tile = tile_of[vertex / 3];
	float x = tile % COLUMNS * 16 + (vertex % 3 == 1 ? 12 : 4);
	float y = tile / COLUMNS * 16 + (vertex % 3 == 2 ? 12 : 4);

	(void)f;
	(void)instance;
	record[0] = x / (DIM / 2) - 1;
	record[1] = y / (DIM / 2) - 1;
	record[2] = .5f;
	record[3] = 1;
}

static struct binner *begin(unsigned int seed)
{
	struct binner *f = binner_new(DIM, DIM);

	scatter(seed);
	f->position = position;
	binner_arrays(f, TSR_TOPOLOGY_TRIANGLES, 3 * COUNT);
	return f;
}

/* Each triangle is in its tile, and nowhere else; those of a tile are in their order. */
static void check(struct binner *f)
{
	static uint32_t next[TILES];	/* 1 + the last one that was met */
	unsigned int wrong = 0;

	memset(next, 0, sizeof(next));
	for (uint32_t i = 0; i < f->seen_count; i++) {
		const struct binner_seen *s = &f->seen[i];
		uint32_t tile = s->ty * COLUMNS + s->tx, id = s->prim.primitive_id;

		wrong += id >= COUNT || tile_of[id] != tile || id < next[tile];
		next[tile] = id + 1;
	}
	ktap_eq(wrong, 0);
	ktap_eq(f->seen_count, COUNT);
}

static void test_lists(void)
{
	for (unsigned int seed = 1; seed <= 4; seed++) {
		struct binner *f = begin(seed);

		f->b->pending_every = seed == 4 ? 3 : 0;
		if (!ktap_ok(binner_bin(f)))
			ktap_note("fault %u", f->mem.fault.code);
		/* what the binner itself has does not depend on the tiles of the frame */
		ktap_eq(f->bin->places, TSR_BINNER_TILES);
		f->b->pending_every = 0;
		ktap_ok(binner_read(f));
		check(f);
		binner_free(f);
	}
}

static uint64_t *words_of(struct binner *f, uint32_t tile)
{
	return (uint64_t *)(void *)(f->heap + f->bin->states + 16 * tile);
}

static struct tsr_heap_tile damage;	/* what each field is set to, if not 0 */

/* After half of the triangles the guest changes what is in the heap. */
static void damaging(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	struct tsr_heap_tile h;

	position(f, vertex, instance, record);
	if (vertex / 3 < COUNT / 2)
		return;
	tsr_unpack_heap_tile(words_of(f, tile_of[0]), &h);
	if (!h.first)
		return;
	h.first = damage.first ? damage.first : h.first;
	h.at = damage.at ? damage.at : h.at;
	h.batch = damage.batch ? damage.batch : h.batch;
	h.next = damage.next ? damage.next : h.next;
	h.used = damage.used ? damage.used : h.used;
	tsr_pack_heap_tile(words_of(f, tile_of[0]), &h);
}

/* Any bit of any of them, now and then. */
static void scribbling(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	position(f, vertex, instance, record);
	if (vertex / 3 >= COUNT / 2 && !(vertex % 16))
		words_of(f, tile_of[rnd(COUNT)])[rnd(2)] ^= 1ull << rnd(57);
}

static void refuse(struct tsr_heap_tile what)
{
	struct binner *f = begin(1);
	uint32_t tile = tile_of[0];

	damage = what;
	/* the tile gets every other triangle, and is in the heap at the end of a batch */
	for (unsigned int i = 1; i < COUNT; i++)
		tile_of[i] = i % 2 ? (tile + TSR_BINNER_TILES) % TILES : tile;
	f->position = damaging;
	if (ktap_ok(!binner_bin(f))) {
		ktap_eq(f->mem.fault.code, TSR_FAULT_HEAP_CONTENT);
		ktap_eq(f->mem.fault.addr, BINNER_HEAP + f->bin->states + 16 * tile);
	}
	binner_free(f);
}

static void test_refusals(void)
{
	refuse((struct tsr_heap_tile){ .first = 0x100 });
	refuse((struct tsr_heap_tile){ .first = 0xfffffc0 });
	refuse((struct tsr_heap_tile){ .at = 0x200041 });
	refuse((struct tsr_heap_tile){ .at = 0x40 });
	refuse((struct tsr_heap_tile){ .at = 0xffffffc0 });
	refuse((struct tsr_heap_tile){ .batch = 0xffffffff });
	refuse((struct tsr_heap_tile){ .next = 0xffff });
	refuse((struct tsr_heap_tile){ .used = 61 });
}

/* Any bits: a fault, or lists that are read to their end. */
static void test_any(void)
{
	unsigned int faults = 0;

	for (unsigned int seed = 1; seed <= 12; seed++) {
		struct binner *f = begin(seed);

		f->position = scribbling;
		if (!binner_bin(f))
			faults += f->mem.fault.code == TSR_FAULT_HEAP_CONTENT;
		else if (!binner_read(f))
			ktap_eq(f->mem.fault.code, TSR_FAULT_HEAP_CONTENT);
		binner_free(f);
	}
	ktap_note("%u of 12 are faults of BIN", faults);
	ktap_ok(faults);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[BIN1] lists of more tiles than the binner has at hand", test_lists);
	ktap_run("what the guest writes over them is refused", test_refusals);
	ktap_run("any bits there do no harm", test_any);
	return ktap_finish();
}
