/* SPDX-License-Identifier: MIT */
/*
 * Compressed render targets. The compression metadata is a tag, one byte for each block of 8 × 8
 * pixels: of a block that is clear, of one color or a plane only that is stored, no samples.
 */
#include <string.h>

#include "memory/tags.h"
#include "render.h"

#define DEPTH TSR_RENDER_TARGETS_MAX	/* in place of the number of a color target */
#define DIM TSR_BLOCK_DIM
#define PIXELS TSR_BLOCK_PIXELS

/* A block of a target: its samples, texels row by row, as they are in memory. */
struct block {
	const struct tsr_render_target *target;
	unsigned int rt, bytes, samples;
	unsigned int x, y;		/* in the tile */
	unsigned int w, h;		/* of it, in the frame */
	uint8_t texel[TSR_SAMPLES_MAX][PIXELS * TSR_TEXEL_BYTES_MAX];
};

/* ---- Planes ---------------------------------------------------------------------------------- */

/* The step from @from to @to, 7 pixels away; false: it is too large to be said. */
static bool step_of(uint32_t from, uint32_t to, uint32_t *step)
{
	int64_t s = ((int64_t)to - from) * (1 << TSR_TAG_STEP_SHIFT) / (DIM - 1);

	*step = s;
	return s == (int32_t)s;
}

static bool encode(const uint32_t *depth, uint32_t *word)
{
	word[0] = depth[0];
	if (!step_of(depth[0], depth[DIM - 1], &word[1]) ||
	    !step_of(depth[0], depth[PIXELS - DIM], &word[2]))
		return false;
	for (unsigned int y = 0; y < DIM; y++) {
		word[3 + y] = 0;
		for (unsigned int x = 0; x < DIM; x++) {
			uint32_t residue = depth[y * DIM + x] - tsr_plane_predicted(word, x, y);

			if (residue + 8 > 15)
				return false;
			word[3 + y] |= (residue & 15) << 4 * x;
		}
	}
	return true;
}

static void decode(const uint32_t *word, uint32_t *depth)
{
	for (unsigned int p = 0; p < PIXELS; p++)
		depth[p] = tsr_plane_depth(word, p % DIM, p / DIM);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void begin_block(const struct tsr_tile_core *c, unsigned int rt, unsigned int x,
			unsigned int y, struct block *b)
{
	const struct tsr_rendering *r = c->render;

	b->rt = rt;
	b->target = rt == DEPTH ? &r->depth : &r->color[rt];
	b->bytes = rt == DEPTH ? r->depth_format.bytes : c->buffer.tile.format[rt].bytes;
	b->samples = 1u << c->buffer.tile.samples_log2;
	b->x = x;
	b->y = y;
	b->w = c->buffer.tile.width - x < DIM ? c->buffer.tile.width - x : DIM;
	b->h = c->buffer.tile.height - y < DIM ? c->buffer.tile.height - y : DIM;
}

/* Between tile buffer and @b. */
static void copy_block(struct tsr_tile_core *c, struct block *b, unsigned int s, bool in)
{
	const struct tsr_depth_format *format = &c->render->depth_format;
	struct tsr_tile *t = &c->buffer.tile;

	for (unsigned int p = 0; p < PIXELS; p++) {
		unsigned int x = b->x + p % DIM, y = b->y + p / DIM;
		uint8_t *texel = b->texel[s] + p * b->bytes, *color;
		uint32_t word = 0;

		if (b->rt != DEPTH) {
			color = t->color[b->rt].data + (size_t)t->color[b->rt].plane * s +
				 (size_t)t->color[b->rt].pitch * y + (size_t)x * b->bytes;
			memcpy(in ? texel : color, in ? color : texel, b->bytes);
		} else if (in) {
			word = tsr_depth_word(format, t->depth[tsr_tile_place(t, x, y, s)]);
			memcpy(texel, &word, b->bytes);
		} else {
			memcpy(&word, texel, b->bytes);
			t->depth[tsr_tile_place(t, x, y, s)] = tsr_word_depth(format, word);
		}
	}
}

static void clear_texel(const struct tsr_tile_core *c, const struct block *b,
			uint8_t texel[TSR_TEXEL_BYTES_MAX])
{
	uint32_t word;

	if (b->rt != DEPTH) {
		memcpy(texel, c->render->clear[b->rt], TSR_TEXEL_BYTES_MAX);
		return;
	}
	word = tsr_depth_word(&c->render->depth_format, c->render->depth_clear);
	memcpy(texel, &word, sizeof(word));
}

/* True if each pixel of sample @s that is in the frame is that of @same, or texel @clear. */
static bool alike(const struct block *b, unsigned int s, const uint8_t *same, const uint8_t *clear)
{
	for (unsigned int y = 0; y < b->h; y++) {
		for (unsigned int x = 0; x < b->w; x++) {
			unsigned int at = (y * DIM + x) * b->bytes;

			if (memcmp(b->texel[s] + at, clear ? clear : same + at, b->bytes))
				return false;
		}
	}
	return true;
}

static uint8_t find_tag(const struct tsr_tile_core *c, const struct block *b,
			uint32_t plane[TSR_SAMPLES_MAX][TSR_TAG_PLANE_WORDS])
{
	bool clear = !(c->render->debug & TSR_GFX_NO_FAST_CLEAR), uniform = b->samples > 1;
	bool planes = b->rt == DEPTH && b->bytes == 4 && b->w == DIM && b->h == DIM;
	uint8_t texel[TSR_TEXEL_BYTES_MAX];

	if (b->target->expand)
		return TSR_TARGET_TAG_RAW;
	clear_texel(c, b, texel);
	for (unsigned int s = 0; s < b->samples; s++) {
		clear = clear && alike(b, s, NULL, texel);
		uniform = uniform && alike(b, s, b->texel[0], NULL);
	}
	if (clear)
		return TSR_TARGET_TAG_CLEAR;
	if (c->render->debug & TSR_GFX_NO_COMPRESSION)
		return TSR_TARGET_TAG_RAW;
	if (uniform)
		return TSR_TARGET_TAG_UNIFORM;
	for (unsigned int s = 0; s < b->samples && planes; s++) {
		uint32_t word[PIXELS];

		memcpy(word, b->texel[s], sizeof(word));
		planes = encode(word, plane[s]);
	}
	return planes ? TSR_TARGET_TAG_PLANES : TSR_TARGET_TAG_RAW;
}

/* Move samples [0, @samples) between @b and memory. */
static enum tsr_step move_samples(struct tsr_tile_core *c, struct tsr_mem *mem, struct block *b,
				  unsigned int samples, bool write)
{
	const struct tsr_tile *t = &c->buffer.tile;

	for (unsigned int s = 0; s < samples; s++) {
		for (unsigned int y = 0; y < b->h; y++) {
			enum tsr_step step = tsr_tile_move_row(
				c, mem, b->target, b->bytes, s, t->x + b->x, t->y + b->y + y, b->w,
				b->texel[s] + y * DIM * b->bytes, write);

			if (step != TSR_STEP_DONE)
				return step;
		}
	}
	c->stats.count[write ? TSR_TILE_STORE_BYTES : TSR_TILE_LOAD_BYTES] +=
		(uint64_t)b->w * b->h * b->bytes * samples;
	return TSR_STEP_DONE;
}

/* Moves planes, the first words of a block's texels. */
static enum tsr_step move_planes(struct tsr_tile_core *c, struct tsr_mem *mem,
				 const struct block *b,
				 uint32_t plane[TSR_SAMPLES_MAX][TSR_TAG_PLANE_WORDS], bool write)
{
	const struct tsr_tile *t = &c->buffer.tile;

	for (unsigned int s = 0; s < b->samples; s++) {
		for (unsigned int n = 0; n < TSR_TAG_PLANE_WORDS; n += DIM) {
			unsigned int left = TSR_TAG_PLANE_WORDS - n;
			unsigned int count = left < DIM ? left : DIM;
			enum tsr_step step = tsr_tile_move_row(
				c, mem, b->target, 4, s, t->x + b->x, t->y + b->y + n / DIM, count,
				(uint8_t *)&plane[s][n], write);

			if (step != TSR_STEP_DONE)
				return step;
		}
	}
	c->stats.count[write ? TSR_TILE_STORE_BYTES : TSR_TILE_LOAD_BYTES] +=
		(uint64_t)TSR_TAG_PLANE_WORDS * 4 * b->samples;
	return TSR_STEP_DONE;
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* Address of the tag of the block at (@x, @y) of the tile. */
static uint64_t tag_at(const struct tsr_tile_core *c, const struct tsr_render_target *target,
		       unsigned int x, unsigned int y)
{
	const struct tsr_frame *frame = &c->render->info.frame;
	const struct tsr_tile *t = &c->buffer.tile;

	return target->tags + tsr_tag_bytes(frame->width, frame->height, t->layer) +
	       tsr_tag_place(frame->width, t->x + x, t->y + y);
}

static enum tsr_step store_block(struct tsr_tile_core *c, struct tsr_mem *mem, struct block *b)
{
	uint32_t plane[TSR_SAMPLES_MAX][TSR_TAG_PLANE_WORDS];
	enum tsr_step step = TSR_STEP_DONE;
	uint8_t tag;

	for (unsigned int s = 0; s < b->samples; s++)
		copy_block(c, b, s, true);
	tag = find_tag(c, b, plane);
	if (tag == TSR_TARGET_TAG_PLANES)
		step = move_planes(c, mem, b, plane, true);
	else if (tag != TSR_TARGET_TAG_CLEAR)
		step = move_samples(c, mem, b, tag == TSR_TARGET_TAG_RAW ? b->samples : 1, true);
	if (step == TSR_STEP_DONE)
		step = tsr_mem_write(mem, tag_at(c, b->target, b->x, b->y), &tag, 1);
	c->stats.count[TSR_TILE_BLOCKS_CLEAR] += tag == TSR_TARGET_TAG_CLEAR;
	c->stats.count[TSR_TILE_BLOCKS_COMPRESSED] +=
		tag == TSR_TARGET_TAG_PLANES || tag == TSR_TARGET_TAG_UNIFORM;
	return step;
}

static enum tsr_step load_block(struct tsr_tile_core *c, struct tsr_mem *mem, struct block *b)
{
	uint32_t plane[TSR_SAMPLES_MAX][TSR_TAG_PLANE_WORDS];
	uint8_t tag, texel[TSR_TEXEL_BYTES_MAX];
	enum tsr_step step = tsr_mem_read(mem, tag_at(c, b->target, b->x, b->y), &tag, 1);

	if (step != TSR_STEP_DONE)
		return step;
	if (tag == TSR_TARGET_TAG_CLEAR) {
		clear_texel(c, b, texel);
		for (unsigned int n = 0; n < b->samples * PIXELS; n++)
			memcpy(b->texel[n / PIXELS] + n % PIXELS * b->bytes, texel, b->bytes);
	} else if (tag == TSR_TARGET_TAG_PLANES && b->rt == DEPTH && b->bytes == 4 &&
		   b->w == DIM && b->h == DIM) {
		step = move_planes(c, mem, b, plane, false);
		for (unsigned int s = 0; s < b->samples && step == TSR_STEP_DONE; s++) {
			uint32_t word[PIXELS];

			decode(plane[s], word);
			memcpy(b->texel[s], word, sizeof(word));
		}
	} else if (tag == TSR_TARGET_TAG_UNIFORM && b->samples > 1) {
		step = move_samples(c, mem, b, 1, false);
		for (unsigned int s = 1; s < b->samples; s++)
			memcpy(b->texel[s], b->texel[0], (size_t)PIXELS * b->bytes);
	} else {
		step = move_samples(c, mem, b, b->samples, false);
	}
	for (unsigned int s = 0; s < b->samples && step == TSR_STEP_DONE; s++)
		copy_block(c, b, s, false);
	return step;
}

static enum tsr_step all_blocks(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int rt,
				enum tsr_step (*block)(struct tsr_tile_core *, struct tsr_mem *,
						       struct block *))
{
	struct block b = { 0 };

	for (unsigned int y = 0; y < c->buffer.tile.height; y += DIM) {
		for (unsigned int x = 0; x < c->buffer.tile.width; x += DIM) {
			enum tsr_step step;

			begin_block(c, rt, x, y, &b);
			step = block(c, mem, &b);
			if (step != TSR_STEP_DONE)
				return step;
		}
	}
	return TSR_STEP_DONE;
}

enum tsr_step tsr_tile_load_tagged(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int rt)
{
	return all_blocks(c, mem, rt, load_block);
}

/* Leaves what readers of the tags of target @rt have to know. All tiles write the same words. */
static enum tsr_step store_state(const struct tsr_tile_core *c, struct tsr_mem *mem,
				 unsigned int rt)
{
	uint64_t word[TSR_TAG_STATE_PLANES__QWORD + 1] = { 0 };
	uint8_t texel[TSR_TEXEL_BYTES_MAX] = { 0 };
	enum tsr_step step = TSR_STEP_DONE;
	struct block b = { 0 };

	begin_block(c, rt, 0, 0, &b);
	if (!b.target->tag_state)
		return TSR_STEP_DONE;
	clear_texel(c, &b, texel);
	memcpy(word, texel, b.bytes);
	word[TSR_TAG_STATE_PLANES__QWORD] = rt == DEPTH && b.bytes == 4;
	for (unsigned int i = 0; i <= TSR_TAG_STATE_PLANES__QWORD && step == TSR_STEP_DONE; i++)
		step = tsr_mem_store(mem, b.target->tag_state + i * sizeof(word[0]), true, word[i]);
	return step;
}

enum tsr_step tsr_tile_store_tagged(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int rt)
{
	enum tsr_step step = store_state(c, mem, rt);

	return step != TSR_STEP_DONE ? step : all_blocks(c, mem, rt, store_block);
}
