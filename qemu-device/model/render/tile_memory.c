/* SPDX-License-Identifier: MIT */
/* Loading and storing tiles: between tile buffer and memory. */
#include <string.h>

#include "memory/tiling.h"
#include "render.h"
#include "tile_rows.h"

#define SIDE_MAX (1u << TSR_TILE_SHIFT_MAX)

/* Targets @which have all their blocks, and more in the tile buffer than a first row. */
static void note_full(struct tsr_tile_core *c, unsigned int which)
{
	c->buffer.partial &= ~which;
	c->buffer.absent = c->buffer.partial ? c->buffer.absent : 0;
	c->buffer.alike &= ~which;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Moves row @y of the tile. */
static enum tsr_step move_row(const struct tsr_tile_core *c, struct tsr_mem *mem,
			      const struct tsr_render_target *rt, unsigned int bytes,
			      unsigned int s, uint32_t y, uint8_t *row, bool write)
{
	const struct tsr_tile *t = &c->buffer.tile;

	return tsr_tile_move_row(c, mem, rt, bytes, s, t->x, t->y + y, t->width, row, write);
}

/*
 * Host memory of the tile in @rt, if linear and in one piece. Words are changed in place: they are
 * read and written if @write.
 */
static uint8_t *words_at(struct tsr_tile_core *c, struct tsr_mem *mem,
			 const struct tsr_render_target *rt, unsigned int bytes, unsigned int s,
			 bool write)
{
	struct tsr_access_cache *access = &c->shader->access;
	const struct tsr_tile *t = &c->buffer.tile;
	struct tsr_tile_rows part = { .rt = rt, .bytes = bytes, .s = s, .x = t->x, .y = t->y,
			     .count = t->width };
	uint8_t *at;

	tsr_access_reserve(access, mem);
	at = tsr_tile_rows_at(access, mem, t->layer, &part, t->height);
	part.write = true;
	if (at && write && tsr_tile_rows_at(access, mem, t->layer, &part, t->height) != at)
		return NULL;
	return at;
}

/* The tile's blocks, a bit each. */
static uint64_t all_blocks(const struct tsr_tile *t)
{
	return ~0ull >> (64 - (1u << 2 * (t->shift - TSR_BLOCK_SHIFT)));
}

/* Samples of @rt that are in memory. */
static unsigned int stored_samples(const struct tsr_render_target *rt)
{
	return 1u << rt->samples_log2;
}

/* ---- Colors --------------------------------------------------------------------------------- */

/* Move what lies in @blocks, a bit for each column of them, of @count rows of pixels from @y on. */
static enum tsr_step move_blocks(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int rt,
				 unsigned int s, uint32_t y, uint32_t count, uint64_t blocks,
				 bool write)
{
	const struct tsr_tile *t = &c->buffer.tile;
	const bool alike = c->buffer.alike >> rt & 1;
	uint8_t *first = t->color[rt].data + (alike ? 0 : (size_t)t->color[rt].plane * s +
							  (size_t)t->color[rt].pitch * y);
	struct tsr_tile_rows part = {
		.rt = &c->render->color[rt], .bytes = t->format[rt].bytes, .y = t->y + y,
		.write = write,
	};

	part.s = s < stored_samples(part.rt) ? s : 0;
	tsr_access_reserve(&c->shader->access, mem);
	while (blocks) {
		unsigned int n = __builtin_ctzll(blocks), end = n + __builtin_ctzll(~(blocks >> n));
		uint32_t x = n * TSR_BLOCK_DIM, right = end * TSR_BLOCK_DIM;
		enum tsr_step step;

		blocks &= ~0ull << end;
		right = right < t->width ? right : t->width;
		part.x = t->x + x;
		part.count = x < right ? right - x : 0;
		part.row = first + (size_t)x * part.bytes;
		step = tsr_tile_move_rows(c, mem, part, count, alike ? 0 : t->color[rt].pitch);
		if (step != TSR_STEP_DONE)
			return step;
	}
	return TSR_STEP_DONE;
}

/* Moves all rows of @samples samples. @blocks are the blocks of the tile. */
static enum tsr_step move_all(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int rt,
			      unsigned int samples, uint64_t blocks, bool write)
{
	const unsigned int across = 1u << (c->buffer.tile.shift - TSR_BLOCK_SHIFT);
	const uint64_t row = (1u << across) - 1;
	const uint32_t height = c->buffer.tile.height;
	enum tsr_step step = TSR_STEP_DONE;

	for (unsigned int s = 0; s < samples; s++) {
		uint64_t left = blocks;
		uint32_t count;

		/* rows of blocks that are alike go together */
		for (uint32_t y = 0; y < height && step == TSR_STEP_DONE; y += count) {
			const uint64_t some = left & row;

			for (count = 0; y + count < height && (left & row) == some; left >>= across)
				count += TSR_BLOCK_DIM;
			if (count > height - y)
				count = height - y;
			step = move_blocks(c, mem, rt, s, y, count, some, write);
		}
	}
	return step;
}

/* Pixels of @blocks that are in the frame. */
static uint64_t pixels_of(const struct tsr_tile *t, uint64_t blocks)
{
	const unsigned int shift = t->shift - TSR_BLOCK_SHIFT;
	uint64_t pixels = 0;

	if (blocks == all_blocks(t))
		return (uint64_t)t->width * t->height;
	for (; blocks; blocks &= blocks - 1) {
		unsigned int n = __builtin_ctzll(blocks);
		uint32_t x = (n & ((1u << shift) - 1)) * TSR_BLOCK_DIM;
		uint32_t y = (n >> shift) * TSR_BLOCK_DIM;
		uint32_t columns = t->width > x ? t->width - x : 0;
		uint32_t rows = t->height > y ? t->height - y : 0;

		pixels += (columns < TSR_BLOCK_DIM ? columns : TSR_BLOCK_DIM) *
			  (rows < TSR_BLOCK_DIM ? rows : TSR_BLOCK_DIM);
	}
	return pixels;
}

static enum tsr_step load_color(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int rt,
				uint64_t blocks)
{
	const struct tsr_render_target *target = &c->render->color[rt];
	struct tsr_tile *t = &c->buffer.tile;
	enum tsr_step step = move_all(c, mem, rt, 1u << t->samples_log2, blocks, false);

	if (step == TSR_STEP_DONE)
		c->stats.count[TSR_TILE_LOAD_BYTES] +=
			pixels_of(t, blocks) * t->format[rt].bytes * stored_samples(target);
	return step;
}

static enum tsr_step store_resolved(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int rt)
{
	const struct tsr_render_target *target = &c->render->color[rt];
	struct tsr_tile *t = &c->buffer.tile;
	unsigned int bytes = t->format[rt].bytes;
	uint8_t line[SIDE_MAX * TSR_TEXEL_BYTES_MAX];
	enum tsr_step step = TSR_STEP_DONE;

	for (uint32_t y = 0; y < t->height && step == TSR_STEP_DONE; y++) {
		tsr_output_resolve(&t->format[rt], &t->color[rt], 1u << t->samples_log2, 0, y,
				   t->width, line);
		step = move_row(c, mem, target, bytes, 0, y, line, true);
	}
	return step;
}

/* Absent blocks stay as they are in memory. */
static enum tsr_step store_color(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int rt)
{
	const struct tsr_render_target *target = &c->render->color[rt];
	struct tsr_tile *t = &c->buffer.tile;
	uint64_t blocks = all_blocks(t) & ~(c->buffer.partial >> rt & 1 ? c->buffer.absent : 0);
	unsigned int samples = stored_samples(target);
	enum tsr_step step;

	if (!rt && tsr_tile_fill(c, mem, false))
		step = TSR_STEP_DONE;
	else if (1u << t->samples_log2 > samples)
		step = store_resolved(c, mem, rt);
	else
		step = move_all(c, mem, rt, samples, blocks, true);
	c->stats.count[TSR_TILE_STORE_BYTES] +=
		pixels_of(t, blocks) * t->format[rt].bytes * samples;
	return step;
}

/* ---- Depth and stencil ----------------------------------------------------------------------- */

typedef float floats __attribute__((vector_size(16)));
typedef int32_t words __attribute__((vector_size(16)));
typedef uint8_t bytes __attribute__((vector_size(4)));

/* The upper or lower row of depths of two adjacent quads. */
static inline floats row_of(const float *quads, bool lower)
{
	floats left, right;

	memcpy(&left, quads, sizeof(left));
	memcpy(&right, quads + 4, sizeof(right));
	return lower ? __builtin_shufflevector(left, right, 2, 3, 6, 7) :
		       __builtin_shufflevector(left, right, 0, 1, 4, 5);
}

/* Depths of @count pixels from a block's edge on, a multiple of 8, to 32-bit words of @line. */
static void pack_depths(const struct tsr_tile *t, const struct tsr_depth_format *format,
			uint8_t *line, uint32_t y, unsigned int s, uint32_t count)
{
	const floats most = (floats){ 0 } + (float)format->scale;
	const words mask = (words){ 0 } + (int32_t)format->scale;
	const unsigned int next = TSR_BLOCK_PIXELS << t->samples_log2;
	const float *from = t->depth + tsr_tile_place(t, 0, y & ~1u, s);

	for (uint32_t x = 0; x < count; x += 4, from += x % TSR_BLOCK_DIM ? 8 : next - 8) {
		floats z = row_of(from, y & 1);
		words old, new, below;

		memcpy(&new, &z, sizeof(new));
		if (format->scale != 0) {
			/* as tsr_depth_word(), also of what is no number */
			z = (floats)((words)z & (z > 0));
			below = z < most;
			z = (floats)(((words)z & below) | ((words)most & ~below));
			memcpy(&old, line + 4 * x, sizeof(old));
			new = (__builtin_convertvector(z, words) & mask) | (old & ~mask);
		}
		memcpy(line + 4 * x, &new, sizeof(new));
	}
}

/* The reverse: from 32-bit words of @line. */
static void unpack_depths(struct tsr_tile *t, const struct tsr_depth_format *format,
			  const uint8_t *line, uint32_t y, unsigned int s, uint32_t count)
{
	const words mask = (words){ 0 } + (int32_t)format->scale;
	const unsigned int next = TSR_BLOCK_PIXELS << t->samples_log2;
	float *to = t->depth + tsr_tile_place(t, 0, y, s);

	for (uint32_t x = 0; x < count; x += 4, to += x % TSR_BLOCK_DIM ? 8 : next - 8) {
		floats z;
		words word;

		memcpy(&word, line + 4 * x, sizeof(word));
		z = format->scale != 0 ? __builtin_convertvector(word & mask, floats) :
					 (floats)word;
		memcpy(to, &z, sizeof(z) / 2);
		memcpy(to + 4, (const float *)&z + 2, sizeof(z) / 2);
	}
}

/* As pack_depths(), stencil to the top bytes of the words. */
static void pack_stencils(const struct tsr_tile *t, uint8_t *line, uint32_t y, unsigned int s,
			  uint32_t count)
{
	const unsigned int next = TSR_BLOCK_PIXELS << t->samples_log2;
	const uint8_t *from = t->stencil + tsr_tile_place(t, 0, y, s);

	for (uint32_t x = 0; x < count; x += 4, from += x % TSR_BLOCK_DIM ? 8 : next - 8) {
		const bytes four = { from[0], from[1], from[4], from[5] };
		words word;

		memcpy(&word, line + 4 * x, sizeof(word));
		word = (word & 0xffffff) | __builtin_convertvector(four, words) << 24;
		memcpy(line + 4 * x, &word, sizeof(word));
	}
}

/* The reverse. */
static void unpack_stencils(struct tsr_tile *t, const uint8_t *line, uint32_t y, unsigned int s,
			    uint32_t count)
{
	const unsigned int next = TSR_BLOCK_PIXELS << t->samples_log2;
	uint8_t *to = t->stencil + tsr_tile_place(t, 0, y, s);

	for (uint32_t x = 0; x < count; x += 4, to += x % TSR_BLOCK_DIM ? 8 : next - 8) {
		to[0] = line[4 * x + 3];
		to[1] = line[4 * x + 7];
		to[4] = line[4 * x + 11];
		to[5] = line[4 * x + 15];
	}
}

/* Depth, stencil, or both of a row, from words of the depth format. */
static void unpack_row(struct tsr_tile *t, const struct tsr_depth_format *format,
		       const uint8_t *line, uint32_t y, unsigned int s, bool depth, bool stencil)
{
	uint32_t x = 0;

	if (format->bytes == 4) {
		x = t->width & ~(TSR_BLOCK_DIM - 1);
		if (depth)
			unpack_depths(t, format, line, y, s, x);
		if (stencil)
			unpack_stencils(t, line, y, s, x);
	}
	for (; x < t->width; x++) {
		unsigned int at = tsr_tile_place(t, x, y, s);
		uint32_t word = 0;

		memcpy(&word, line + x * format->bytes, format->bytes);
		if (depth)
			t->depth[at] = tsr_word_depth(format, word);
		if (stencil)
			t->stencil[at] = word >> 24;
	}
}

/* Into @line; what is not asked for is left as it is there. */
static void pack_row(const struct tsr_tile *t, const struct tsr_depth_format *format,
		     uint8_t *line, uint32_t y, unsigned int s, bool depth, bool stencil)
{
	uint32_t x = 0;

	if (format->bytes == 4) {
		x = t->width & ~(TSR_BLOCK_DIM - 1);
		if (depth)
			pack_depths(t, format, line, y, s, x);
		if (stencil)
			pack_stencils(t, line, y, s, x);
	}
	for (; x < t->width; x++) {
		unsigned int at = tsr_tile_place(t, x, y, s);
		uint32_t word = 0, mask = 0, new = 0;

		if (depth) {
			mask = format->scale != 0 ? (uint32_t)format->scale : UINT32_MAX;
			new = tsr_depth_word(format, t->depth[at]);
		}
		if (stencil) {
			mask |= 0xff000000;
			new |= (uint32_t)t->stencil[at] << 24;
		}
		memcpy(&word, line + x * format->bytes, format->bytes);
		word = (word & ~mask) | new;
		memcpy(line + x * format->bytes, &word, format->bytes);
	}
}

/* Samples from @stored on, which memory has none of, get what sample 0 has. */
static void spread(struct tsr_tile *t, unsigned int stored, bool depth, bool stencil)
{
	const unsigned int blocks = 1u << 2 * (t->shift - TSR_BLOCK_SHIFT);

	for (unsigned int b = 0; b < blocks; b++) {
		for (unsigned int s = stored; s < 1u << t->samples_log2; s++) {
			size_t from = ((size_t)b << t->samples_log2) * TSR_BLOCK_PIXELS;
			size_t to = from + s * TSR_BLOCK_PIXELS;

			if (depth)
				memcpy(t->depth + to, t->depth + from,
				       TSR_BLOCK_PIXELS * sizeof(t->depth[0]));
			if (stencil)
				memcpy(t->stencil + to, t->stencil + from, TSR_BLOCK_PIXELS);
		}
	}
}

/* Rows of words that are moved at once, where words are not changed in place. */
#define BAND TSR_TILE_DIM

static uint8_t *row_of_band(uint8_t *band, uint32_t y)
{
	return band + (size_t)(y % BAND) * SIDE_MAX * 4;
}

/* Move the rows of the tile from @y on, as many as there are. */
static enum tsr_step move_band(const struct tsr_tile_core *c, struct tsr_mem *mem,
			       const struct tsr_render_target *rt, unsigned int bytes,
			       unsigned int s, uint32_t y, uint8_t *band, bool write)
{
	const struct tsr_tile *t = &c->buffer.tile;
	const struct tsr_tile_rows part = { rt, bytes, s, t->x, t->y + y, t->width, band, write };
	const uint32_t left = t->height - y;

	tsr_access_reserve(&c->shader->access, mem);
	return tsr_tile_move_rows(c, mem, part, left < BAND ? left : BAND, SIDE_MAX * 4);
}

/* Words of depth, of stencil in their top byte, or of both. */
static enum tsr_step load_words(struct tsr_tile_core *c, struct tsr_mem *mem,
				const struct tsr_render_target *rt, bool depth, bool stencil)
{
	static const struct tsr_depth_format with_stencil = { 4, 0xffffff };
	const struct tsr_depth_format *format = stencil ? &with_stencil : &c->render->depth_format;
	struct tsr_tile *t = &c->buffer.tile;
	uint8_t band[BAND * SIDE_MAX * 4];

	for (unsigned int s = 0; s < stored_samples(rt); s++) {
		const uint8_t *at = words_at(c, mem, rt, format->bytes, s, false);

		for (uint32_t y = 0; y < t->height; y++) {
			const uint8_t *row = at ? at + (uint64_t)rt->pitch * y :
						  row_of_band(band, y);
			enum tsr_step step = TSR_STEP_DONE;

			if (!at && y % BAND == 0)
				step = move_band(c, mem, rt, format->bytes, s, y, band, false);
			if (step != TSR_STEP_DONE)
				return step;
			unpack_row(t, format, row, y, s, depth, stencil);
		}
	}
	spread(t, stored_samples(rt), depth, stencil);
	c->stats.count[TSR_TILE_LOAD_BYTES] +=
		(uint64_t)t->width * t->height * format->bytes * stored_samples(rt);
	return TSR_STEP_DONE;
}

/* True if all depths are integers that are the first one: none has been written, bounds tell. */
static bool is_flat(const struct tsr_tile *t)
{
	const unsigned int blocks = 1u << 2 * (t->shift - TSR_BLOCK_SHIFT);
	const float z = t->depth[0];

	if (t->z_direction != 0 || t->depth_scale == 0)
		return false;
	for (unsigned int b = 0; b < blocks; b++) {
		if (t->bounds[b].low != z || t->bounds[b].high != z)
			return false;
	}
	return true;
}

/* pack_row() for depths that are all @z, in words of four bytes. */
static void pack_flat(const struct tsr_depth_format *format, float z, uint8_t *line, uint32_t count)
{
	const uint32_t new = tsr_depth_word(format, z);
	const uint32_t kept = format->scale != 0 ? ~(uint32_t)format->scale : 0;
	uint32_t x = 0, word;

	for (; x + 4 <= count; x += 4) {
		words four;

		memcpy(&four, line + 4 * x, sizeof(four));
		four = (four & (int32_t)kept) | (int32_t)new;
		memcpy(line + 4 * x, &four, sizeof(four));
	}
	for (; x < count; x++) {
		memcpy(&word, line + 4 * x, sizeof(word));
		word = (word & kept) | new;
		memcpy(line + 4 * x, &word, sizeof(word));
	}
}

/* Rows that the host is told of before they are changed: their words are read. */
#define ROWS_AHEAD 4

static void call_for_row(const uint8_t *row, size_t len)
{
	for (size_t at = 0; at < len; at += TSR_ACCESS_LINE_BYTES)
		__builtin_prefetch(row + at, 1);
}

static enum tsr_step store_words(struct tsr_tile_core *c, struct tsr_mem *mem,
				 const struct tsr_render_target *rt, bool depth, bool stencil)
{
	static const struct tsr_depth_format with_stencil = { 4, 0xffffff };
	const struct tsr_depth_format *format = stencil ? &with_stencil : &c->render->depth_format;
	bool kept = format->scale == 0xffffff && !(depth && stencil);
	struct tsr_tile *t = &c->buffer.tile;
	bool flat = depth && !stencil && format->bytes == 4 &&
		    (c->buffer.alike & TSR_TILE_DEPTH_BIT || is_flat(t));
	uint8_t band[BAND * SIDE_MAX * 4] = { 0 };
	const bool filled = flat && c->buffer.alike & TSR_TILE_DEPTH_BIT &&
			    tsr_tile_fill(c, mem, true);

	for (unsigned int s = 0; !filled && s < stored_samples(rt); s++) {
		uint8_t *at = words_at(c, mem, rt, format->bytes, s, true);

		for (uint32_t y = 0; y < t->height; y++) {
			uint8_t *row = at ? at + (uint64_t)rt->pitch * y : row_of_band(band, y);
			enum tsr_step step = TSR_STEP_DONE;

			if (at && kept && y + ROWS_AHEAD < t->height)
				call_for_row(row + (uint64_t)rt->pitch * ROWS_AHEAD,
					     (size_t)t->width * format->bytes);
			if (!at && kept && y % BAND == 0)
				step = move_band(c, mem, rt, format->bytes, s, y, band, false);
			if (step != TSR_STEP_DONE)
				return step;
			if (flat)
				pack_flat(format, t->depth[0], row, t->width);
			else
				pack_row(t, format, row, y, s, depth, stencil);
			if (!at && (y % BAND == BAND - 1 || y == t->height - 1))
				step = move_band(c, mem, rt, format->bytes, s, y / BAND * BAND,
						 band, true);
			if (step != TSR_STEP_DONE)
				return step;
		}
	}
	c->stats.count[TSR_TILE_STORE_BYTES] +=
		(uint64_t)t->width * t->height * format->bytes * stored_samples(rt);
	return TSR_STEP_DONE;
}

/* Stencil that has memory of its own, a byte a sample. */
static enum tsr_step move_stencil(struct tsr_tile_core *c, struct tsr_mem *mem, bool write)
{
	const struct tsr_render_target *rt = &c->render->stencil;
	struct tsr_tile *t = &c->buffer.tile;
	uint8_t line[SIDE_MAX];

	for (unsigned int s = 0; s < stored_samples(rt); s++) {
		for (uint32_t y = 0; y < t->height; y++) {
			enum tsr_step step;

			for (uint32_t x = 0; write && x < t->width; x++)
				line[x] = t->stencil[tsr_tile_place(t, x, y, s)];
			step = move_row(c, mem, rt, 1, s, y, line, write);
			if (step != TSR_STEP_DONE)
				return step;
			for (uint32_t x = 0; !write && x < t->width; x++)
				t->stencil[tsr_tile_place(t, x, y, s)] = line[x];
		}
	}
	if (!write)
		spread(t, stored_samples(rt), false, true);
	c->stats.count[write ? TSR_TILE_STORE_BYTES : TSR_TILE_LOAD_BYTES] +=
		(uint64_t)t->width * t->height * stored_samples(rt);
	return TSR_STEP_DONE;
}

/* ---- All targets ----------------------------------------------------------------------------- */

/* The targets of @which that the frame has and that have memory. */
static unsigned int with_memory(const struct tsr_tile_core *c, unsigned int which)
{
	const struct tsr_rendering *r = c->render;
	unsigned int have = 0;

	for (unsigned int rt = 0; rt < c->buffer.tile.targets; rt++)
		have |= r->color[rt].pointer ? 1u << rt : 0;
	if (c->buffer.tile.has_depth && r->depth.pointer)
		have |= TSR_TILE_DEPTH_BIT;
	if (c->buffer.tile.has_stencil && r->stencil.pointer)
		have |= TSR_TILE_STENCIL_BIT;
	return which & have;
}

static enum tsr_step move_zs(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int which,
			     bool write)
{
	enum tsr_step (*words)(struct tsr_tile_core *, struct tsr_mem *,
			       const struct tsr_render_target *, bool, bool) =
		write ? store_words : load_words;
	const struct tsr_rendering *r = c->render;
	bool depth = which & TSR_TILE_DEPTH_BIT, stencil = which & TSR_TILE_STENCIL_BIT;
	enum tsr_step step = TSR_STEP_DONE;

	if (depth && stencil && r->together)
		return words(c, mem, &r->depth, true, true);
	if (depth && r->depth.tags)
		step = write ? tsr_tile_store_tagged(c, mem, TSR_RENDER_TARGETS_MAX) :
			       tsr_tile_load_tagged(c, mem, TSR_RENDER_TARGETS_MAX);
	else if (depth)
		step = words(c, mem, &r->depth, true, false);
	if (step == TSR_STEP_DONE && stencil)
		step = r->stencil_bytes == 4 ? words(c, mem, &r->stencil, false, true) :
					       move_stencil(c, mem, write);
	return step;
}

/*
 * Cost of moving a pixel of @rt in the tile buffer, where a sample counts at least 4 bytes, without
 * the bytes that count as moved to or from memory.
 */
static unsigned int beyond(const struct tsr_tile *t, const struct tsr_render_target *rt,
			   unsigned int bytes)
{
	unsigned int all = (bytes < 4 ? 4 : bytes) << t->samples_log2;

	return rt->tags ? all : all - bytes * stored_samples(rt);
}

/* Cycles of that for all pixels of @which. */
static uint64_t cycles_beyond(const struct tsr_tile_core *c, unsigned int which)
{
	const struct tsr_rendering *r = c->render;
	const struct tsr_tile *t = &c->buffer.tile;
	uint64_t bytes = 0;

	for (unsigned int rt = 0; rt < t->targets; rt++)
		bytes += which >> rt & 1 ? beyond(t, &r->color[rt], t->format[rt].bytes) : 0;
	if (which & TSR_TILE_DEPTH_BIT)
		bytes += beyond(t, &r->depth, r->depth_format.bytes);
	if (which & TSR_TILE_STENCIL_BIT && !(which & TSR_TILE_DEPTH_BIT && r->together))
		bytes += beyond(t, &r->stencil, r->stencil_bytes);
	return (bytes * t->width * t->height + 63) / 64;
}

enum tsr_step tsr_tile_load(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int which)
{
	const uint64_t before = c->stats.count[TSR_TILE_LOAD_BYTES];
	enum tsr_step step = TSR_STEP_DONE;

	which = with_memory(c, which);
	tsr_tile_fill_now(c, mem);
	for (unsigned int rt = 0; rt < c->buffer.tile.targets && step == TSR_STEP_DONE; rt++) {
		if (which >> rt & 1)
			step = c->render->color[rt].tags ?
				       tsr_tile_load_tagged(c, mem, rt) :
				       load_color(c, mem, rt, all_blocks(&c->buffer.tile));
	}
	if (step == TSR_STEP_DONE)
		step = move_zs(c, mem, which, false);
	if (step != TSR_STEP_DONE) {
		/* the load begins again from the first target */
		c->stats.count[TSR_TILE_LOAD_BYTES] = before;
		return step;
	}
	c->stats.cycles += cycles_beyond(c, which);
	c->buffer.defined |= which;
	c->buffer.unread &= ~which;
	note_full(c, which);
	tsr_zs_know(&c->buffer.tile, c->render->fine, which & TSR_TILE_DEPTH_BIT,
		    which & TSR_TILE_STENCIL_BIT);
	return step;
}

/* The targets of @which whose samples have the same form in memory and in the tile buffer. */
static unsigned int plain(const struct tsr_tile_core *c, unsigned int which)
{
	const struct tsr_rendering *r = c->render;
	const struct tsr_render_target *zs[2] = { &r->depth, &r->stencil };
	unsigned int samples = c->buffer.tile.samples_log2, found = 0;

	for (unsigned int rt = 0; rt < c->buffer.tile.targets; rt++)
		found |= !r->color[rt].tags && r->color[rt].samples_log2 == samples ?
				 1u << rt : 0;
	for (unsigned int i = 0; i < 2; i++)
		found |= !zs[i]->tags && zs[i]->samples_log2 == samples ?
				 TSR_TILE_DEPTH_BIT << i : 0;
	return which & found;
}

/* The targets of @which that can be stored from a first row or depth, too. */
static unsigned int by_rows(const struct tsr_tile_core *c, unsigned int which)
{
	const struct tsr_rendering *r = c->render;
	unsigned int found = plain(c, which) & ~TSR_TILE_STENCIL_BIT;

	if (r->depth_format.bytes != 4 || (r->together && which & TSR_TILE_STENCIL_BIT))
		found &= ~TSR_TILE_DEPTH_BIT;
	return found;
}

enum tsr_step tsr_tile_ask(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int which)
{
	unsigned int unread = plain(c, with_memory(c, which));
	enum tsr_step step = TSR_STEP_DONE;

	if (which & ~unread)
		step = tsr_tile_load(c, mem, which & ~unread);
	if (step == TSR_STEP_DONE) {
		c->buffer.defined |= unread;
		c->buffer.unread |= unread;
		note_full(c, unread);
	}
	return step;
}

enum tsr_step tsr_tile_load_for(struct tsr_tile_core *c, struct tsr_mem *mem,
				const struct tsr_tile_state *state)
{
	const unsigned int waits = c->buffer.unread & state->overwrites;
	enum tsr_step step = TSR_STEP_DONE;

	if (c->buffer.unread || c->buffer.partial & ~state->overwrites)
		step = tsr_tile_load_blocks(c, mem, UINT64_MAX);
	if (step == TSR_STEP_DONE && c->buffer.unread & ~waits)
		step = tsr_tile_load(c, mem, c->buffer.unread & ~waits);
	if (step == TSR_STEP_DONE && waits) {
		c->buffer.unread = 0;
		c->buffer.partial = waits;
		c->buffer.absent = all_blocks(&c->buffer.tile);
	}
	return step;
}

/* All absent blocks beside them are loaded too: rows are moved faster than their parts. */
enum tsr_step tsr_tile_load_blocks(struct tsr_tile_core *c, struct tsr_mem *mem, uint64_t blocks)
{
	const unsigned int across = 1u << (c->buffer.tile.shift - TSR_BLOCK_SHIFT);
	const uint64_t row = (1u << across) - 1;
	const uint64_t before = c->stats.count[TSR_TILE_LOAD_BYTES];
	enum tsr_step step = TSR_STEP_DONE;
	uint64_t wanted = 0;

	for (unsigned int y = 0; y < across; y++)
		wanted |= blocks & c->buffer.absent & row << y * across ? row << y * across : 0;
	wanted &= c->buffer.absent;
	for (unsigned int rt = 0; rt < c->buffer.tile.targets && step == TSR_STEP_DONE; rt++) {
		if (c->buffer.partial >> rt & 1)
			step = load_color(c, mem, rt, wanted);
	}
	if (step != TSR_STEP_DONE) {
		c->stats.count[TSR_TILE_LOAD_BYTES] = before;
		return step;
	}
	c->buffer.absent &= ~wanted;
	c->buffer.partial = c->buffer.absent ? c->buffer.partial : 0;
	return step;
}

enum tsr_step tsr_tile_store(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int which)
{
	uint64_t before[TSR_TILE_COUNTS];
	enum tsr_step step = TSR_STEP_DONE;

	memcpy(before, c->stats.count, sizeof(before));
	tsr_tile_define(c);
	/* a target whose tile was not read has not changed: memory has its samples already */
	which = with_memory(c, which) & ~c->buffer.unread;
	tsr_tile_complete(c, which & ~by_rows(c, which));
	if (which & ~(c->buffer.alike & (TSR_TILE_DEPTH_BIT | 1)))
		tsr_tile_fill_now(c, mem);
	for (unsigned int rt = 0; rt < c->buffer.tile.targets && step == TSR_STEP_DONE; rt++) {
		if (which >> rt & 1)
			step = c->render->color[rt].tags ?
				       tsr_tile_store_tagged(c, mem, rt) :
				       store_color(c, mem, rt);
	}
	if (step == TSR_STEP_DONE)
		step = move_zs(c, mem, which, true);
	/* if not done, it begins again from the first target */
	if (step != TSR_STEP_DONE)
		memcpy(c->stats.count, before, sizeof(before));
	else
		c->stats.cycles += cycles_beyond(c, which);
	return step;
}
