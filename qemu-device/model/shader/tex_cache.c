/* SPDX-License-Identifier: MIT */
#include "tex_cache.h"

#include "../tiling.h"
#include "tex_warp.h"

#define LINE 64u

static void forget(struct tsr_texture_cache *cache)
{
	memset(cache->key, 0, sizeof(cache->key));
	for (unsigned int i = 0; i < TSR_TEXTURE_VIEWS; i++) {
		cache->view[i].space = 0;
		cache->sampler[i].space = 0;
	}
	cache->serials = 0;
	cache->window.used = 0;
}

void tsr_texture_cache_init(struct tsr_texture_cache *cache, const char *name)
{
	memset(cache, 0, sizeof(*cache));
	cache->now = 1;
	cache->path = tsr_texture_path(name);
	tsr_lod_init();
}

void tsr_texture_enter(struct tsr_texture_cache *cache, struct tsr_gpu *gpu, unsigned int as)
{
	cache->space = tsr_mmu_data_generation(gpu, as);
	cache->off = gpu->cfg.no_texture_cache;
	if (cache->off)
		forget(cache);
}

uint16_t tsr_texture_serial(struct tsr_texture_cache *cache)
{
	if (cache->serials == TSR_SERIALS - 1)
		forget(cache);
	return ++cache->serials;
}

/* ---- Fills ----------------------------------------------------------------------------------- */

/* The slot for a new block: of those not in use now the one used least recently; -1: all are. */
static int victim(const struct tsr_texture_cache *cache, unsigned int set)
{
	uint32_t oldest = 0;
	int slot = -1;

	for (unsigned int i = set; i < set + TSR_TEX_BLOCK_WAYS; i++) {
		uint32_t age = cache->key[i] ? cache->now - cache->stamp[i] : UINT32_MAX;

		if (age > oldest) {
			oldest = age;
			slot = (int)i;
		}
	}
	return slot;
}

/* Ask the L2 for the lines of [va, va + len). */
static void count_lines(struct tsr_msg_env *env, uint64_t va, unsigned int len)
{
	struct tsr_texture_cache *cache = env->textures;
	_Atomic uint64_t *l2 = env->mem->gpu->texture_l2;

	for (uint64_t line = va / LINE; line <= (va + len - 1) / LINE; line++) {
		/* which line of which memory; two with one name would be miscounted, no more */
		uint64_t name = ((line * 0x9e3779b97f4a7c15ull) ^ cache->space << 20) | 1;
		_Atomic uint64_t *tag = &l2[line % TSR_TEXTURE_L2_LINES];

		if (atomic_load_explicit(tag, memory_order_relaxed) != name) {
			atomic_store_explicit(tag, name, memory_order_relaxed);
			cache->stats.misses++;
		}
	}
}

/* Read [va, va + len), at most a block; false: it cannot be had now. */
static bool read(struct tsr_msg_env *env, uint64_t va, uint8_t *to, unsigned int len)
{
	uint8_t *page = tsr_access_find(env->access, env->access->read, va);

	count_lines(env, va, len);
	if (page && va % TSR_ACCESS_PAGE_BYTES + len <= TSR_ACCESS_PAGE_BYTES) {
		memcpy(to, page + va % TSR_ACCESS_PAGE_BYTES, len);
		return true;
	}
	while (len) {
		unsigned int part = len < TSR_ACCESS_COPY_MAX ? len : TSR_ACCESS_COPY_MAX;

		if (tsr_access_read(env->access, env->mem, va, to, part) != TSR_STEP_DONE)
			return false;
		va += part;
		to += part;
		len -= part;
	}
	return true;
}

static const uint8_t rows[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
/* The tiled layout's order inside of 4 by 4 texels: see tiling.h. */
static const uint8_t tiles[16] = { 0, 1, 4, 5, 3, 2, 7, 6, 12, 13, 8, 9, 15, 14, 11, 10 };

/* Read a block whose first texel is at @va. */
static bool read_block(struct tsr_msg_env *env, const struct tsr_texture_view *view,
		       const struct tsr_texture_surface *s, uint64_t va, struct tsr_raw_block *raw)
{
	unsigned int bytes = view->format.bytes;

	if (view->tiled) {
		raw->order = tiles;
		if (raw->columns == TSR_TEX_BLOCK_DIM && raw->rows == TSR_TEX_BLOCK_DIM)
			return read(env, va, raw->bytes, 16 * bytes);
		for (unsigned int i = 0; i < 16; i++) {
			unsigned int at = tiles[i] * bytes;

			if (i % 4 < raw->columns && i / 4 < raw->rows &&
			    !read(env, va + at, raw->bytes + at, bytes))
				return false;
		}
		return true;
	}
	raw->order = rows;
	for (unsigned int y = 0; y < raw->rows; y++) {
		if (!read(env, va + y * (uint64_t)(int64_t)s->row_stride,
			  raw->bytes + y * TSR_TEX_BLOCK_DIM * bytes, raw->columns * bytes))
			return false;
	}
	return true;
}

static unsigned int least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static bool fetch(struct tsr_msg_env *env, struct tsr_texture_view *view,
		  const struct tsr_block_place *p, struct tsr_raw_block *raw)
{
	bool volume = view->dimension == TSR_TEXTURE_DIMENSION_3D;
	const struct tsr_texel_place place = {
		.level = p->level, .x = p->x * TSR_TEX_BLOCK_DIM, .y = p->y * TSR_TEX_BLOCK_DIM,
		.z = volume ? p->slice : 0, .layer = volume ? 0 : p->slice,
	};
	const struct tsr_texture_surface *s;
	uint64_t va;

	raw->columns = least(TSR_TEX_BLOCK_DIM, tsr_level_extent(view->width, p->level) - place.x);
	raw->rows = least(TSR_TEX_BLOCK_DIM, tsr_level_extent(view->height, p->level) - place.y);
	if (raw->columns * raw->rows < TSR_TEX_BLOCK_DIM * TSR_TEX_BLOCK_DIM)
		memset(raw->bytes, 0, sizeof(raw->bytes));
	if (tsr_texel_surface(env, view, &place, &s) != TSR_STEP_DONE ||
	    tsr_texel_address(env, view, &place, &va) != TSR_STEP_DONE ||
	    (va | (uint64_t)(int64_t)s->row_stride) % view->format.align)
		return false;
	return read_block(env, view, s, va, raw);
}

int tsr_block_fill(struct tsr_msg_env *env, struct tsr_texture_view *view,
		   const struct tsr_block_place *place)
{
	struct tsr_texture_cache *cache = env->textures;
	uint64_t key = tsr_block_key(view, place);
	struct tsr_raw_block raw;
	int slot;

	tsr_window_settle(cache);
	slot = victim(cache, tsr_block_set(key));
	if (slot < 0 || !view->kind[place->linear] || !fetch(env, view, place, &raw))
		return -1;
	cache->window.used = 0;
	tsr_block_decode(view, place->linear, &raw, cache->block[slot]);
	cache->key[slot] = key;
	cache->stamp[slot] = cache->now;
	cache->touched[slot] = 0;
	cache->stats.fills++;
	return slot;
}
