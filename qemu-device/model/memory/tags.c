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

/* A texel of a block that had tag PLANES, which another thread may have expanded. */
static enum tsr_step read_depth(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x,
				uint32_t y, uint8_t *texel)
{
	uint32_t word[TSR_TAG_PLANE_WORDS], depth;
	enum tsr_step step;
	uint8_t tag;

	pthread_mutex_lock(mem->env->tag_lock);
	step = tsr_tagged_tag(mem, t, x, y, &tag);
	if (step == TSR_STEP_DONE && tag != TSR_TARGET_TAG_PLANES) {
		step = tsr_mem_read(mem, texel_at(t, t->base, x, y), texel, t->bytes);
	} else if (step == TSR_STEP_DONE) {
		step = read_planes(mem, t, x, y, word);
		if (step == TSR_STEP_DONE) {
			depth = tsr_plane_depth(word, x % DIM, y % DIM);
			memcpy(texel, &depth, sizeof(depth));
		}
	}
	pthread_mutex_unlock(mem->env->tag_lock);
	return step;
}

enum tsr_step tsr_tagged_read(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x,
			      uint32_t y, uint8_t *texel)
{
	uint8_t tag;
	enum tsr_step step = tsr_tagged_tag(mem, t, x, y, &tag);

	if (step != TSR_STEP_DONE)
		return step;
	switch (tag) {
	case TSR_TARGET_TAG_CLEAR:
		memcpy(texel, t->meaning.clear, t->bytes);
		return TSR_STEP_DONE;
	case TSR_TARGET_TAG_PLANES:
		return read_depth(mem, t, x, y, texel);
	case TSR_TARGET_TAG_UNIFORM:
		return tsr_mem_read(mem, texel_at(t, t->first, x, y), texel, t->bytes);
	default:
		return tsr_mem_read(mem, texel_at(t, t->base, x, y), texel, t->bytes);
	}
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

/* The texels of a block of @t at (@x, @y) with tag @tag, row by row. */
static enum tsr_step decode(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x, uint32_t y,
			    uint8_t tag, uint8_t *texels)
{
	uint32_t word[TSR_TAG_PLANE_WORDS];
	enum tsr_step step = TSR_STEP_DONE;

	if (tag == TSR_TARGET_TAG_PLANES)
		step = read_planes(mem, t, x, y, word);
	for (unsigned int n = 0; n < TEXELS && step == TSR_STEP_DONE; n++) {
		uint32_t depth;

		if (tag == TSR_TARGET_TAG_PLANES) {
			depth = tsr_plane_depth(word, n % DIM, n / DIM);
			memcpy(texels + n * sizeof(depth), &depth, sizeof(depth));
		} else {
			memcpy(texels + n * t->bytes, t->meaning.clear, t->bytes);
		}
	}
	return step;
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
	struct places p = { .count = 0 };
	enum tsr_step step = tsr_tagged_tag(mem, t, x, y, &tag);

	if (step != TSR_STEP_DONE || tag == TSR_TARGET_TAG_RAW)
		return step;
	step = decode(mem, t, x, y, tag, texels);
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
				uint32_t y)
{
	enum tsr_step step;
	uint8_t tag;

	/* no block loses the tag RAW while others than RENDER work on it */
	step = tsr_tagged_tag(mem, t, x, y, &tag);
	if (step != TSR_STEP_DONE || tag == TSR_TARGET_TAG_RAW)
		return step;
	pthread_mutex_lock(mem->env->tag_lock);
	step = expand(mem, t, x & ~(DIM - 1), y & ~(DIM - 1));
	pthread_mutex_unlock(mem->env->tag_lock);
	return step;
}
