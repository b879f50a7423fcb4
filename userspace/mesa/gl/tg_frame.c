/* SPDX-License-Identifier: MIT */
#include "util/format/u_format.h"
#include "util/log.h"
#include "util/u_math.h"

#include "tsr_samples.h"

#include "tg_context.h"
#include "tg_format.h"
#include "tg_frame.h"
#include "tg_resource.h"

#define SLOT_DEPTH	8u	/* places of the targets in memory: colors, depth, stencil */
#define SLOT_STENCIL	9u
#define SLOTS		10u
#define TARGET_QWORDS	TSR_RENDER_TARGET__QWORDS
#define TARGET_BYTES	(TARGET_QWORDS * 8u)

static void fill_memory(const struct pipe_surface *s, const struct tg_resource *r,
			struct tsr_render_target *t)
{
	const unsigned level = s->u.tex.level;

	t->pointer = tg_resource_va(r, level, s->u.tex.first_layer, 0);
	t->layout = r->layout;
	t->samples_log2 = util_logbase2(MAX2(r->base.nr_samples, 1));
	t->pitch = r->level[level].pitch;
	t->sample_stride = r->base.nr_samples > 1 ? (uint32_t)r->sample : 0;
	t->layer_stride = r->base.target == PIPE_TEXTURE_3D ? r->level[level].slice : r->layer;
}

static void write_color(const struct tg_batch *b, unsigned i, uint64_t *words)
{
	const struct pipe_surface *s = b->fb.cbufs[i];
	const struct tg_format *f;
	struct tsr_render_target t = { .format = TSR_PIXEL_FORMAT_R8_UNORM,
				       .samples_log2 = b->samples_log2 };

	if (s) {
		f = tg_format(s->format);
		fill_memory(s, tg_resource(s->texture), &t);
		t.format = f->format;
		t.order = f->order;
		t.srgb = util_format_is_srgb(s->format);
		t.clear_0 = b->color[i].ui[0];
		t.clear_1 = b->color[i].ui[1];
		t.clear_2 = b->color[i].ui[2];
		t.clear_3 = b->color[i].ui[3];
	}
	tsr_pack_render_target(words, &t);
}

static void write_depth(const struct tg_batch *b, bool stencil, uint64_t *words)
{
	const struct tg_resource *r = tg_resource(b->fb.zsbuf->texture);
	struct tsr_render_target t = { 0 };

	fill_memory(b->fb.zsbuf, stencil && r->stencil ? tg_resource(r->stencil) : r, &t);
	if (stencil) {
		t.format = tg_stencil_format(b->fb.zsbuf->format);
		t.clear_0 = b->stencil;
	} else {
		t.format = tg_format(b->fb.zsbuf->format)->format;
		t.clear_0 = fui(b->depth);
	}
	tsr_pack_render_target(words, &t);
}

static uint64_t write_targets(struct tg_batch *b)
{
	uint64_t va, *words = tg_batch_alloc(b, SLOTS * TARGET_BYTES, 64, &va);
	unsigned i;

	if (!words)
		return 0;
	for (i = 0; i < b->fb.nr_cbufs; i++)
		write_color(b, i, words + i * TARGET_QWORDS);
	if (b->targets & TG_DEPTH_BIT)
		write_depth(b, false, words + SLOT_DEPTH * TARGET_QWORDS);
	if (b->targets & TG_STENCIL_BIT)
		write_depth(b, true, words + SLOT_STENCIL * TARGET_QWORDS);
	return va;
}

/*
 * Tile memory holds all samples of a tile: smaller tiles where pixels are large. 0: none is small
 * enough.
 */
static unsigned tile_shift(const struct tg_batch *b)
{
	uint64_t bytes = 8;
	unsigned i, shift = TSR_TILE_SHIFT_MAX;

	for (i = 0; i < b->fb.nr_cbufs; i++)
		bytes += b->fb.cbufs[i] ? util_format_get_blocksize(b->fb.cbufs[i]->format) : 1;
	bytes <<= b->samples_log2;
	while (shift >= TSR_TILE_SHIFT_MIN && bytes << 2 * shift > TSR_TILE_BUFFER_BYTES)
		shift--;
	return shift >= TSR_TILE_SHIFT_MIN ? shift : 0;
}

/*
 * What FAU special 6 of fragment shaders names: pairs of 16-bit numbers with 8 fraction bits; those
 * of samples that are not there are the pixel's center.
 */
static uint64_t write_sample_positions(struct tg_batch *b)
{
	uint64_t va;
	uint16_t *pair = tg_batch_alloc(b, 128, 64, &va);
	unsigned i;

	if (!pair)
		return 0;
	for (i = 0; i < 16; i++) {
		const int8_t *p = i >> b->samples_log2 ? tsr_sample_position[0][0]
						       : tsr_sample_position[b->samples_log2][i];

		pair[2 * i] = (uint16_t)(16 * p[0]);
		pair[2 * i + 1] = (uint16_t)(16 * p[1]);
	}
	return va;
}

#define TILE_PACKET(name, NAME, mask)								\
	do {											\
		const struct tsr_tile_##name v_ = { .colour = (mask) & 0xff,			\
						    .depth = !!((mask) & TG_DEPTH_BIT),		\
						    .stencil = !!((mask) & TG_STENCIL_BIT) };	\
		if (mask) {									\
			tsr_pack_tile_##name(p, &v_);						\
			p += TSR_TILE_##NAME##_QWORDS;						\
		}										\
	} while (0)

/* Depth and stencil in the same words come and go together. */
static uint32_t with_partner(const struct tg_batch *b, uint32_t mask)
{
	const uint32_t both = TG_DEPTH_BIT | TG_STENCIL_BIT;

	if (b->fb.zsbuf && tg_resource(b->fb.zsbuf->texture)->stencil)
		return mask;
	return mask & both && (b->targets & both) == both ? mask | both : mask;
}

static uint64_t *tile_list(const struct tg_batch *b, uint64_t *p)
{
	const uint32_t touched = with_partner(b, b->cleared | b->drawn) & b->targets;

	TILE_PACKET(clear, CLEAR, b->cleared);
	TILE_PACKET(load, LOAD, touched & ~b->cleared);
	tsr_pack_tile_draw(p, &(struct tsr_tile_draw){ 0 });
	p += TSR_TILE_DRAW_QWORDS;
	TILE_PACKET(store, STORE, touched & ~b->invalid);
	return p;
}

static bool write_render_list(struct tg_batch *b, unsigned shift, struct tg_frame *out)
{
	const uint32_t side = 1u << shift;
	struct tsr_list_tiles tiles = {
		.end_of_frame = true,
		.x1 = DIV_ROUND_UP(b->fb.width, side) - 1,
		.y1 = DIV_ROUND_UP(b->fb.height, side) - 1,
		/* of layers without a target only those count that something is drawn to */
		.layer1 = b->targets || b->layered ? b->layers - 1 : 0,
	};
	uint64_t *p = tg_batch_alloc(b, 16 * 8, 64, &out->render_va), *end;

	if (!p)
		return false;
	tiles.addr = out->render_va + 64;
	end = tile_list(b, p + 8);
	tiles.size = (uint32_t)(end - (p + 8)) * 8;
	tsr_pack_list_tiles(p, &tiles);
	tsr_pack_list_halt(p + TSR_LIST_TILES_QWORDS, &(struct tsr_list_halt){ 0 });
	out->render_size = (TSR_LIST_TILES_QWORDS + TSR_LIST_HALT_QWORDS) * 8;
	return true;
}

bool tg_frame_write(struct tg_batch *b, struct tg_frame *out)
{
	const unsigned shift = tile_shift(b);
	struct tsr_frame frame = {
		.width = b->fb.width,
		.height = b->fb.height,
		.layers = b->layers,
		.tile_shift = shift,
		.samples_log2 = b->samples_log2,
		.targets = b->fb.nr_cbufs,
		.has_depth = !!(b->targets & TG_DEPTH_BIT),
		.has_stencil = !!(b->targets & TG_STENCIL_BIT),
	};

	if (!shift || !frame.width || !frame.height) {
		mesa_loge(
			"tessera: framebuffer of %u x %u pixels, %u samples and %u targets is "
			"dropped: a tile of it "
			"does not fit into the device",
			frame.width, frame.height, 1u << b->samples_log2, frame.targets);
		return false;
	}
	frame.colour = write_targets(b);
	frame.depth = frame.colour + SLOT_DEPTH * TARGET_BYTES;
	frame.stencil = frame.colour + SLOT_STENCIL * TARGET_BYTES;
	frame.sample_positions = write_sample_positions(b);
	out->words = tg_batch_alloc(b, TSR_FRAME__QWORDS * 8, 64, &out->va);
	if (!frame.colour || !frame.sample_positions || !out->words)
		return false;
	tsr_pack_frame(out->words, &frame);
	return write_render_list(b, shift, out);
}
