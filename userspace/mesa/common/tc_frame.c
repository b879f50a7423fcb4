/* SPDX-License-Identifier: MIT */
#include "util/bitscan.h"
#include "util/u_math.h"

#include "tc_frame.h"
#include "tsr_samples.h"

#define SLOT_DEPTH	TC_COLORS	/* places of the targets: colors, depth, stencil */
#define SLOT_STENCIL	(TC_COLORS + 1)
#define TARGET_QWORDS	TSR_RENDER_TARGET__QWORDS
#define DEPTH_BYTES	8u		/* of a sample in tile memory */

#define RUNS_MOST	16	/* of layers that are rendered: every other bit of a mask */

/* The parts of the memory, in qwords. */
enum {
	AT_TARGETS = TSR_FRAME__QWORDS,
	AT_POSITIONS = AT_TARGETS + (TC_COLORS + 2) * TARGET_QWORDS,
	AT_TILE = AT_POSITIONS + 16,
	AT_RENDER = AT_TILE + 8,
	QWORDS = AT_RENDER + RUNS_MOST * TSR_LIST_TILES_QWORDS + TSR_LIST_HALT_QWORDS
};
_Static_assert(QWORDS * 8 <= TC_FRAME_BYTES, "TC_FRAME_BYTES");
_Static_assert(AT_POSITIONS % 8 == 0 && AT_TILE % 8 == 0, "lists and tables are 64-byte aligned");

/* Tile memory holds all samples of a tile, so tiles are smaller where pixels are large. */
unsigned tc_tile_shift(const struct tc_frame *f)
{
	const uint64_t bytes = (uint64_t)(DEPTH_BYTES + f->pixel_bytes) << f->samples_log2;
	unsigned shift = TSR_TILE_SHIFT_MAX;

	while (shift >= TSR_TILE_SHIFT_MIN && bytes << 2 * shift > TSR_TILE_BUFFER_BYTES)
		shift--;
	return shift >= TSR_TILE_SHIFT_MIN ? shift : 0;
}

static void pack_targets(const struct tc_frame *f, uint64_t *words)
{
	unsigned i;

	for (i = 0; i < f->colors; i++)
		tsr_pack_render_target(words + i * TARGET_QWORDS, &f->color[i]);
	if (f->has_depth)
		tsr_pack_render_target(words + SLOT_DEPTH * TARGET_QWORDS, &f->depth);
	if (f->has_stencil)
		tsr_pack_render_target(words + SLOT_STENCIL * TARGET_QWORDS, &f->stencil);
}

/*
 * FAU special 6 of fragment shaders is the address of pairs of 16-bit numbers with 8 fraction bits.
 * Samples that do not exist are at the pixel's center.
 */
static void pack_positions(const struct tc_frame *f, uint16_t *pair)
{
	unsigned i;

	for (i = 0; i < 16; i++) {
		const int8_t *p = i >> f->samples_log2 ? tsr_sample_position[0][0]
						       : tsr_sample_position[f->samples_log2][i];

		pair[2 * i] = (uint16_t)(16 * p[0]);
		pair[2 * i + 1] = (uint16_t)(16 * p[1]);
	}
}

#define TILE_PACKET(name, NAME, mask)								\
	do {											\
		const struct tsr_tile_##name v_ = { .colour = (mask) & 0xff,			\
						    .depth = !!((mask) & TC_DEPTH_BIT),		\
						    .stencil = !!((mask) & TC_STENCIL_BIT) };	\
		if (mask) {									\
			tsr_pack_tile_##name(p, &v_);						\
			p += TSR_TILE_##NAME##_QWORDS;						\
		}										\
	} while (0)

/* Write the list of each tile. Returns its end. */
static uint64_t *pack_tile(const struct tc_frame *f, uint64_t *p)
{
	TILE_PACKET(clear, CLEAR, f->clear);
	TILE_PACKET(load, LOAD, f->load);
	tsr_pack_tile_draw(p, &(struct tsr_tile_draw){ 0 });
	p += TSR_TILE_DRAW_QWORDS;
	TILE_PACKET(store, STORE, f->store);
	return p;
}

/* RENDER's list: each run of layers that are rendered; its size. */
static uint32_t pack_render(const struct tc_frame *f, struct tsr_list_tiles *tiles, uint64_t *words)
{
	uint32_t left = f->views, size = 0;
	int first, count;

	do {
		tiles->layer0 = 0;
		tiles->layer1 = f->render_layers - 1;
		if (left) {
			u_bit_scan_consecutive_range(&left, &first, &count);
			tiles->layer0 = (uint32_t)first;
			tiles->layer1 = (uint32_t)(first + count - 1);
		}
		tiles->end_of_frame = !left;
		tsr_pack_list_tiles(words + size, tiles);
		size += TSR_LIST_TILES_QWORDS;
	} while (left);
	tsr_pack_list_halt(words + size, &(struct tsr_list_halt){ 0 });
	return (size + TSR_LIST_HALT_QWORDS) * 8;
}

bool tc_frame_pack(const struct tc_frame *f, uint64_t va, uint64_t *words,
		   struct tc_frame_lists *out)
{
	const unsigned shift = tc_tile_shift(f);
	const uint64_t targets = va + AT_TARGETS * 8;
	const struct tsr_frame frame = {
		.width = f->width,
		.height = f->height,
		.layers = f->layers,
		.tile_shift = shift,
		.samples_log2 = f->samples_log2,
		.targets = f->colors,
		.has_depth = f->has_depth,
		.has_stencil = f->has_stencil,
		.heap = f->heap,
		.sample_positions = va + AT_POSITIONS * 8,
		.colour = targets,
		.depth = targets + SLOT_DEPTH * TARGET_QWORDS * 8,
		.stencil = targets + SLOT_STENCIL * TARGET_QWORDS * 8,
	};
	struct tsr_list_tiles tiles = {
		.x0 = f->x0 >> shift,
		.y0 = f->y0 >> shift,
		.addr = va + AT_TILE * 8,
	};

	if (!shift || f->x0 >= f->x1 || f->y0 >= f->y1)
		return false;
	tiles.x1 = (f->x1 - 1) >> shift;
	tiles.y1 = (f->y1 - 1) >> shift;
	tiles.size = (uint32_t)(pack_tile(f, words + AT_TILE) - (words + AT_TILE)) * 8;
	tsr_pack_frame(words, &frame);
	pack_targets(f, words + AT_TARGETS);
	pack_positions(f, (uint16_t *)(words + AT_POSITIONS));
	out->frame = va;
	out->render = va + AT_RENDER * 8;
	out->render_size = pack_render(f, &tiles, words + AT_RENDER);
	return true;
}
