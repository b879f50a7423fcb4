/* SPDX-License-Identifier: MIT */
#include "tex_cache.h"

#include "../tiling.h"
#include "tex_warp.h"

#define LINE 64u

/* ---- Directories ----------------------------------------------------------------------------- */

/* Bits of the texels of a block in the first column of a row of them. */
#define BLOCK_TEXELS 0x000f000f000f000full

/* Texels @texels of slot @slot have been used when it was @stamp. */
static void tell(struct tsr_texture_cache *cache, unsigned int slot, uint64_t texels,
		 uint32_t stamp)
{
	cache->stamp[slot] = stamp;
	tsr_block_touch(cache, slot, texels);
}

static uint64_t used_in_row(const struct tsr_directory *d, unsigned int row)
{
	typedef uint64_t two __attribute__((vector_size(16), may_alias));
	const two *sum = (const two *)d->used[row];
	two used = (sum[0] | sum[1]) | (sum[2] | sum[3]);

	return used[0] | used[1];
}

/* Tell the slot at place @place what has been used of it. */
static void settle_one(struct tsr_texture_cache *cache, struct tsr_directory *d,
		       unsigned int place)
{
	unsigned int row = place / TSR_DIRECTORY_DIM;
	unsigned int shift = place % TSR_DIRECTORY_DIM * TSR_TEX_BLOCK_DIM;
	uint64_t all = used_in_row(d, row), used = all >> shift & BLOCK_TEXELS;

	if (!used)
		return;
	/* of the words together, only the sum counts */
	memset(d->used[row], 0, sizeof(d->used[row]));
	d->used[row][0] = all & ~(BLOCK_TEXELS << shift);
	tell(cache, (unsigned int)d->at[place] / TSR_TEX_BLOCK_BYTES_MAX, used, d->stamp);
}

/* All of them. */
static void settle(struct tsr_texture_cache *cache, struct tsr_directory *d)
{
	if (d->told == d->stamp)
		return;
	d->told = d->stamp;
	for (unsigned int row = 0; row < TSR_DIRECTORY_DIM; row++) {
		uint64_t used = used_in_row(d, row);

		for (unsigned int i = 0; i < TSR_DIRECTORY_DIM && used; i++) {
			unsigned int at = (unsigned int)d->at[TSR_DIRECTORY_DIM * row + i];
			uint64_t texels = used >> TSR_TEX_BLOCK_DIM * i & BLOCK_TEXELS;

			if (texels)
				tell(cache, at / TSR_TEX_BLOCK_BYTES_MAX, texels, d->stamp);
		}
	}
	memset(d->used, 0, sizeof(d->used));
}

const struct tsr_texture_stats *tsr_texture_counted(struct tsr_texture_cache *cache)
{
	for (unsigned int i = 0; i < TSR_DIRECTORIES; i++)
		settle(cache, &cache->directory[i]);
	return &cache->stats;
}

static void clear(struct tsr_directory *d)
{
	for (unsigned int i = 0; i < TSR_DIRECTORY_BLOCKS; i++)
		d->tag[i] = TSR_DIRECTORY_NONE;
	memset(d->at, 0, sizeof(d->at));
	memset(d->used, 0, sizeof(d->used));
	d->told = d->stamp;
	d->key = 0;
}

struct tsr_directory *tsr_directory_find(struct tsr_texture_cache *cache, uint64_t key)
{
	/* two levels of two textures are at hand */
	struct tsr_directory *d = &cache->directory[(key >> 28 & 1) | (key >> 52 & 2)];

	if (d->key == key)
		return d;
	settle(cache, d);
	for (unsigned int i = 0; i < TSR_DIRECTORY_BLOCKS; i++) {
		if (d->tag[i] != TSR_DIRECTORY_NONE)
			cache->holder[d->at[i] / TSR_TEX_BLOCK_BYTES_MAX] = 0;
	}
	clear(d);
	d->key = key;
	return d;
}

/* The block of a slot is going to be replaced. */
static void leave(struct tsr_texture_cache *cache, unsigned int slot)
{
	unsigned int holder = cache->holder[slot];

	if (!holder)
		return;
	holder--;
	cache->directory[holder / TSR_DIRECTORY_BLOCKS].tag[holder % TSR_DIRECTORY_BLOCKS] =
		TSR_DIRECTORY_NONE;
	cache->holder[slot] = 0;
}

void tsr_directory_bring(const struct tsr_level_lookup *l, int32_t tag, uint16_t *kept)
{
	struct tsr_texture_cache *cache = l->env->textures;
	struct tsr_directory *d = l->directory;
	struct tsr_block_place place = l->place;
	unsigned int i;
	int slot;

	place.x = (uint32_t)tag & 0x3fff;
	place.y = (uint32_t)tag >> 14;
	i = place.x % TSR_DIRECTORY_DIM + place.y % TSR_DIRECTORY_DIM * TSR_DIRECTORY_DIM;
	if (*kept >> i & 1)
		return;
	slot = tsr_block_get(l->env, l->view, &place);
	if (slot < 0)
		return;
	settle_one(cache, d, i);
	if (d->tag[i] != TSR_DIRECTORY_NONE)
		cache->holder[d->at[i] / TSR_TEX_BLOCK_BYTES_MAX] = 0;
	d->tag[i] = tag;
	d->at[i] = slot * TSR_TEX_BLOCK_BYTES_MAX;
	cache->holder[slot] = (uint8_t)(1 + (d - cache->directory) * TSR_DIRECTORY_BLOCKS + i);
	*kept |= (uint16_t)(1u << i);
}

/* ---- Beginnings ------------------------------------------------------------------------------ */

static void forget(struct tsr_texture_cache *cache)
{
	memset(cache->key, 0, sizeof(cache->key));
	memset(cache->holder, 0, sizeof(cache->holder));
	for (unsigned int i = 0; i < TSR_DIRECTORIES; i++)
		clear(&cache->directory[i]);
	for (unsigned int i = 0; i < TSR_TEXTURE_VIEWS; i++) {
		cache->view[i].space = 0;
		cache->sampler[i].space = 0;
	}
	cache->serials = 0;
}

void tsr_texture_cache_init(struct tsr_texture_cache *cache, const char *name)
{
	memset(cache, 0, sizeof(*cache));
	forget(cache);
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
static int victim(struct tsr_texture_cache *cache, unsigned int set)
{
	uint32_t oldest = 0;
	int slot = -1;

	for (unsigned int i = set; i < set + TSR_TEX_BLOCK_WAYS; i++) {
		unsigned int holder = cache->holder[i];
		uint32_t age;

		if (holder--)
			settle_one(cache, &cache->directory[holder / TSR_DIRECTORY_BLOCKS],
				   holder % TSR_DIRECTORY_BLOCKS);
		age = cache->key[i] ? cache->now - cache->stamp[i] : UINT32_MAX;

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

/* The @len bytes at @va where the host has them, if they are at hand in one piece; else NULL. */
static const uint8_t *whole(struct tsr_msg_env *env, uint64_t va, unsigned int len)
{
	const uint8_t *page = tsr_access_find(env->access, env->access->read, va);

	if (!page || va % TSR_ACCESS_PAGE_BYTES + len > TSR_ACCESS_PAGE_BYTES)
		return NULL;
	count_lines(env, va, len);
	page += va % TSR_ACCESS_PAGE_BYTES;
	/* in the tiled order 2 by 2 blocks lie together, and are mostly wanted together */
	for (uintptr_t i = len; i < 4 * len; i += len)
		__builtin_prefetch((const void *)((uintptr_t)page ^ i));
	return page;
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

	raw->from = raw->bytes;
	raw->tiled = view->tiled;
	if (view->tiled) {
		raw->order = tiles;
		if (raw->columns == TSR_TEX_BLOCK_DIM && raw->rows == TSR_TEX_BLOCK_DIM) {
			raw->from = whole(env, va, 16 * bytes);
			if (raw->from)
				return true;
			raw->from = raw->bytes;
			return read(env, va, raw->bytes, 16 * bytes);
		}
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
	if (tsr_texel_surface(env, view, &place, &s) != TSR_STEP_DONE)
		return false;
	va = tsr_texel_at(view, s, &place);
	if ((va | (uint64_t)(int64_t)s->row_stride) % view->format.align)
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

	slot = victim(cache, tsr_block_set(key));
	if (slot < 0 || !view->kind[place->linear] || !fetch(env, view, place, &raw))
		return -1;
	leave(cache, (unsigned int)slot);
	tsr_block_decode(view, place->linear, &raw, cache->block[slot]);
	cache->key[slot] = key;
	cache->stamp[slot] = cache->now;
	cache->touched[slot] = 0;
	cache->stats.fills++;
	return slot;
}
