/* SPDX-License-Identifier: MIT */
#include "tags.h"

#include <pthread.h>
#include <string.h>

#include "env.h"
#include "mmu.h"
#include "tiling.h"
#include "tsr_packets.h"

#define DIM TSR_TAG_BLOCK
#define TEXELS (DIM * DIM)
#define BYTES_MAX 16

enum tsr_step tsr_tag_state_read(struct tsr_mem *mem, uint64_t va, struct tsr_tag_meaning *meaning)
{
	uint64_t word[TSR_TAG_STATE_PLANES__QWORD + 1];
	enum tsr_step step = tsr_mem_read(mem, va, word, sizeof(word));

	if (step != TSR_STEP_DONE)
		return step;
	memcpy(meaning->clear, word, sizeof(meaning->clear));
	meaning->planes = word[TSR_TAG_STATE_PLANES__QWORD] & 1;
	return TSR_STEP_DONE;
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static uint64_t tag_at(const struct tsr_tagged *t, uint32_t x, uint32_t y)
{
	return t->tags + tsr_tag_place(t->width, x, y);
}

static uint64_t texel_at(const struct tsr_tagged *t, uint64_t base, uint32_t x, uint32_t y)
{
	uint64_t texel = x, row = y;

	if (t->tiled) {
		texel = x / TSR_TILE_DIM * (uint64_t)TSR_TILE_TEXELS + tsr_tile_index(x, y);
		row = y / TSR_TILE_DIM;
	}
	return base + texel * t->bytes + row * (uint64_t)t->row_stride;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* True if tag @tag means what it says in the block of (@x, @y). */
static bool suits(const struct tsr_tagged *t, uint32_t x, uint32_t y, uint8_t tag)
{
	switch (tag) {
	case TSR_TARGET_TAG_CLEAR:
		return true;
	case TSR_TARGET_TAG_UNIFORM:
		return t->samples;
	case TSR_TARGET_TAG_PLANES:
		return t->meaning.planes && t->bytes == sizeof(uint32_t) &&
		       (x | (DIM - 1)) < t->width && (y | (DIM - 1)) < t->height;
	default:
		return false;
	}
}

enum tsr_step tsr_tagged_tag(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x,
			     uint32_t y, uint8_t *tag)
{
	struct tsr_span span;
	enum tsr_step step = tsr_mem_map(mem, tag_at(t, x, y), 1, TSR_ACCESS_READ, &span);

	if (step != TSR_STEP_DONE)
		return step;
	*tag = span.ptr ? __atomic_load_n(span.ptr, __ATOMIC_ACQUIRE) : TSR_TARGET_TAG_RAW;
	if (!suits(t, x, y, *tag))
		*tag = TSR_TARGET_TAG_RAW;
	return step;
}

/* The words of the planes of the block of (@x, @y): texels of its first rows. */
static enum tsr_step read_planes(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x,
				 uint32_t y, uint32_t word[TSR_TAG_PLANE_WORDS])
{
	enum tsr_step step = TSR_STEP_DONE;

	for (unsigned int n = 0; n < TSR_TAG_PLANE_WORDS && step == TSR_STEP_DONE; n++)
		step = tsr_mem_read(mem, texel_at(t, t->base, (x & ~(DIM - 1)) + n % DIM,
						  (y & ~(DIM - 1)) + n / DIM),
				    &word[n], sizeof(word[n]));
	return step;
}

bool tsr_tagged_known(const struct tsr_tagged *t, uint32_t x, uint32_t y,
		      const struct tsr_tag_last *last)
{
	return last->valid && last->va == tag_at(t, x, y);
}

enum tsr_step tsr_tagged_look(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x,
			      uint32_t y, struct tsr_tag_last *last)
{
	enum tsr_step step;

	if (tsr_tagged_known(t, x, y, last))
		return TSR_STEP_DONE;
	step = tsr_tagged_tag(mem, t, x, y, &last->tag);
	last->va = tag_at(t, x, y);
	last->valid = step == TSR_STEP_DONE;
	return step;
}

/* Where texel (@x, @y) of @part goes. */
static uint8_t *room(const struct tsr_tagged *t, const struct tsr_tagged_part *part,
		     unsigned int x, unsigned int y)
{
	return part->texels + y * part->pitch + x * t->bytes;
}

/* The texels of @part as they are in memory, in the sample that begins at @base. */
static enum tsr_step read_raw(struct tsr_mem *mem, const struct tsr_tagged *t, uint64_t base,
			      const struct tsr_tagged_part *part)
{
	enum tsr_step step = TSR_STEP_DONE;

	for (unsigned int y = 0; y < part->rows; y++) {
		for (unsigned int x = 0; x < part->columns && step == TSR_STEP_DONE; x++)
			step = tsr_mem_read(mem, texel_at(t, base, part->x + x, part->y + y),
					    room(t, part, x, y), t->bytes);
	}
	return step;
}

static enum tsr_step decode_planes(struct tsr_mem *mem, const struct tsr_tagged *t,
				   const struct tsr_tagged_part *part)
{
	uint32_t word[TSR_TAG_PLANE_WORDS], depth;
	enum tsr_step step = read_planes(mem, t, part->x, part->y, word);

	for (unsigned int n = 0; n < part->rows * part->columns && step == TSR_STEP_DONE; n++) {
		const unsigned int x = n % part->columns, y = n / part->columns;

		depth = tsr_plane_depth(word, (part->x + x) % DIM, (part->y + y) % DIM);
		memcpy(room(t, part, x, y), &depth, sizeof(depth));
	}
	return step;
}

/* Texels of a block that had tag PLANES, which another thread may have expanded. */
static enum tsr_step read_depths(struct tsr_mem *mem, const struct tsr_tagged *t,
				 const struct tsr_tagged_part *part)
{
	enum tsr_step step;
	uint8_t tag;

	pthread_mutex_lock(mem->env->tag_lock);
	step = tsr_tagged_tag(mem, t, part->x, part->y, &tag);
	if (step == TSR_STEP_DONE && tag == TSR_TARGET_TAG_PLANES)
		step = decode_planes(mem, t, part);
	else if (step == TSR_STEP_DONE)
		step = read_raw(mem, t, t->base, part);
	pthread_mutex_unlock(mem->env->tag_lock);
	return step;
}

enum tsr_step tsr_tagged_part(struct tsr_mem *mem, const struct tsr_tagged *t, uint8_t tag,
			      const struct tsr_tagged_part *part)
{
	switch (tag) {
	case TSR_TARGET_TAG_CLEAR:
		for (unsigned int n = 0; n < part->rows * part->columns; n++)
			memcpy(room(t, part, n % part->columns, n / part->columns),
			       t->meaning.clear, t->bytes);
		return TSR_STEP_DONE;
	case TSR_TARGET_TAG_PLANES:
		return read_depths(mem, t, part);
	case TSR_TARGET_TAG_UNIFORM:
		return read_raw(mem, t, t->first, part);
	default:
		return read_raw(mem, t, t->base, part);
	}
}

enum tsr_step tsr_tagged_read(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x,
			      uint32_t y, struct tsr_tag_last *last, uint8_t *texel)
{
	const struct tsr_tagged_part part = { .x = x, .y = y, .columns = 1, .rows = 1,
					      .texels = texel };
	enum tsr_step step = tsr_tagged_look(mem, t, x, y, last);

	return step != TSR_STEP_DONE ? step : tsr_tagged_part(mem, t, last->tag, &part);
}

/* ---- Expanding ------------------------------------------------------------------------------- */

/* Memory of a block and its tag, all of it translated before any of it is written. */
struct places {
	struct {
		uint8_t *ptr;		/* NULL: a NULL page */
		const uint8_t *from;	/* bytes of it */
		uint64_t len;
	} piece[TSR_SPANS_HELD];
	unsigned int count;
};

/* Translate [@va, @va + @len), which gets the bytes at @from. */
static enum tsr_step add_range(struct tsr_mem *mem, struct places *p, uint64_t va,
			       const uint8_t *from, uint64_t len)
{
	struct tsr_span span;

	for (uint64_t at = 0; at < len; at += span.len) {
		enum tsr_step step;

		/* the host has pages in pieces: more of them than can be held at once */
		if (p->count == TSR_SPANS_HELD)
			return tsr_mmu_fault(mem, TSR_FAULT_UNSUPPORTED, va, TSR_ACCESS_WRITE, 0);
		step = tsr_mem_map(mem, va + at, len - at, TSR_ACCESS_WRITE, &span);
		if (step != TSR_STEP_DONE)
			return step;
		p->piece[p->count].ptr = span.ptr;
		p->piece[p->count].from = from + at;
		p->piece[p->count++].len = span.len;
	}
	return TSR_STEP_DONE;
}

/* Translate the texels of the block from (@x, @y) on that are in the surface. */
static enum tsr_step add_texels(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x,
				uint32_t y, const uint8_t *texels, uint8_t *tile, struct places *p)
{
	const uint32_t w = t->width - x < DIM ? t->width - x : DIM;
	const uint32_t h = t->height - y < DIM ? t->height - y : DIM;
	enum tsr_step step = TSR_STEP_DONE;

	if (!t->tiled) {
		for (uint32_t i = 0; i < h && step == TSR_STEP_DONE; i++)
			step = add_range(mem, p, texel_at(t, t->base, x, y + i),
					 texels + i * DIM * t->bytes, w * t->bytes);
		return step;
	}
	/* a block lies in one piece, with texels that are not in the surface */
	if (w * h < TEXELS)
		step = tsr_mem_read(mem, texel_at(t, t->base, x, y), tile,
				    (uint64_t)TEXELS * t->bytes);
	for (unsigned int n = 0; n < TEXELS; n++) {
		if (n % DIM < w && n / DIM < h)
			memcpy(tile + tsr_tile_index(n % DIM, n / DIM) * t->bytes,
			       texels + n * t->bytes, t->bytes);
	}
	return step != TSR_STEP_DONE ? step :
	       add_range(mem, p, texel_at(t, t->base, x, y), tile, (uint64_t)TEXELS * t->bytes);
}

static enum tsr_step expand(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x, uint32_t y)
{
	static const uint8_t raw = TSR_TARGET_TAG_RAW;
	uint8_t texels[TEXELS * BYTES_MAX], tile[TEXELS * BYTES_MAX], tag;
	const struct tsr_tagged_part block = { .x = x, .y = y, .columns = DIM, .rows = DIM,
					       .texels = texels, .pitch = DIM * t->bytes };
	struct places p = { .count = 0 };
	enum tsr_step step = tsr_tagged_tag(mem, t, x, y, &tag);

	if (step != TSR_STEP_DONE || tag == TSR_TARGET_TAG_RAW)
		return step;
	step = tag == TSR_TARGET_TAG_PLANES ? decode_planes(mem, t, &block) :
					      tsr_tagged_part(mem, t, tag, &block);
	if (step == TSR_STEP_DONE)
		step = add_range(mem, &p, tag_at(t, x, y), &raw, 1);
	if (step == TSR_STEP_DONE)
		step = add_texels(mem, t, x, y, texels, tile, &p);
	for (unsigned int i = 1; i < p.count && step == TSR_STEP_DONE; i++) {
		if (p.piece[i].ptr)
			memcpy(p.piece[i].ptr, p.piece[i].from, p.piece[i].len);
	}
	/* the tag last: threads that see it find the texels */
	if (step == TSR_STEP_DONE && p.piece[0].ptr)
		__atomic_store_n(p.piece[0].ptr, raw, __ATOMIC_RELEASE);
	return step;
}

enum tsr_step tsr_tagged_expand(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x,
				uint32_t y, struct tsr_tag_last *last)
{
	/* no block loses the tag RAW while others than RENDER work on it */
	enum tsr_step step = tsr_tagged_look(mem, t, x, y, last);

	if (step != TSR_STEP_DONE || last->tag == TSR_TARGET_TAG_RAW)
		return step;
	pthread_mutex_lock(mem->env->tag_lock);
	step = expand(mem, t, x & ~(DIM - 1), y & ~(DIM - 1));
	if (step == TSR_STEP_DONE)
		last->tag = TSR_TARGET_TAG_RAW;
	else
		last->valid = false;
	pthread_mutex_unlock(mem->env->tag_lock);
	return step;
}
