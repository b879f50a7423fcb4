/* SPDX-License-Identifier: MIT */
#include "tex_cache.h"

#include "codec.h"
#include "env.h"
#include "memory/mmu.h"
#include "memory/tiling.h"
#include "sampler.h"
#include "simd/simd.h"

#define LINE 64u
/* Lookups from one look at what has been used to the next. */
#define LOOKUPS_PER_LOOK 64

/* ---- Windows --------------------------------------------------------------------------------- */

/* Texels of tile @place that have been used. */
static unsigned int used_in_tile(const struct tsr_tex_window *w, unsigned int place)
{
	typedef uint8_t row __attribute__((vector_size(TSR_TEX_TILE_DIM), may_alias));
	const uint8_t *first = w->used + tsr_window_at(place % 4 * TSR_TEX_TILE_DIM,
						       place / 4 * TSR_TEX_TILE_DIM);
	/* texels of the first column of tiles are used in either place */
	const uint8_t *again = place % 4 ? first : first + TSR_TEX_WINDOW_DIM;
	uint64_t half[2];
	row sum = { 0 };

	for (unsigned int y = 0; y < TSR_TEX_TILE_DIM; y++)
		sum += *(const row *)(first + y * TSR_TEX_WINDOW_PITCH) |
		       *(const row *)(again + y * TSR_TEX_WINDOW_PITCH);
	memcpy(half, &sum, sizeof(half));
	/* no more than 16 each: the sum of two fits, that of all may be 256 */
	half[0] += half[1];
	half[0] = (half[0] & 0x00ff00ff00ff00ff) + (half[0] >> 8 & 0x00ff00ff00ff00ff);
	return (unsigned int)(half[0] * 0x0001000100010001 >> 48);
}

static void count_tile(struct tsr_texture_cache *cache, struct tsr_tex_window *w,
		       unsigned int place)
{
	unsigned int used = used_in_tile(w, place);

	cache->stats.touches += used - w->counted[place];
	w->counted[place] = (uint16_t)used;
}

static void count_window(struct tsr_texture_cache *cache, struct tsr_tex_window *w)
{
	if (w->told == w->stamp)
		return;
	w->told = w->stamp;
	for (unsigned int i = 0; i < TSR_TEX_TILES; i++) {
		if (w->tag[i] != TSR_TEX_NO_TILE)
			count_tile(cache, w, i);
	}
}

const struct tsr_texture_stats *tsr_texture_counted(struct tsr_texture_cache *cache)
{
	for (unsigned int i = 0; i < TSR_TEX_WINDOWS && cache->counts; i++)
		count_window(cache, &cache->window[i]);
	return &cache->stats;
}

static void clear(struct tsr_tex_window *w)
{
	for (unsigned int i = 0; i < TSR_TEX_TILES; i++)
		w->tag[i] = TSR_TEX_NO_TILE;
	memset(w->valid, 0, sizeof(w->valid));
	memset(w->counted, 0, sizeof(w->counted));
	memset(w->used, 0, sizeof(w->used));
	w->told = w->stamp;
	w->key = 0;
	w->found = w->all_used = false;
	w->missing = TSR_TEX_MANY;
}

void tsr_window_look(struct tsr_tex_window *w, uint64_t texels)
{
	if (w->missing || w->all_used || ++w->looks % LOOKUPS_PER_LOOK)
		return;
	for (unsigned int i = 0; i < TSR_TEX_TILES; i++)
		texels -= used_in_tile(w, i);
	w->all_used = !texels;
}

struct tsr_tex_window *tsr_window_find(struct tsr_texture_cache *cache, uint64_t key)
{
	struct tsr_tex_window *w = NULL;
	uint32_t oldest = 0;

	cache->now++;
	for (unsigned int i = 0; i < TSR_TEX_WINDOWS; i++) {
		struct tsr_tex_window *this = &cache->window[i];
		uint32_t age = this->key ? cache->now - this->stamp : UINT32_MAX;

		if (this->key == key) {
			this->stamp = cache->now;
			return this;
		}
		if (age > oldest) {
			oldest = age;
			w = this;
		}
	}
	if (cache->counts)
		count_window(cache, w);
	if (w->key)
		clear(w);
	w->key = key;
	w->all_used = !cache->counts;
	w->stamp = cache->now;
	return w;
}

/* Tile @place shows the one of @tag from now on. */
static void replace(struct tsr_texture_cache *cache, struct tsr_tex_window *w, unsigned int place,
		    int32_t tag)
{
	unsigned int x = place % 4 * TSR_TEX_TILE_DIM, y = place / 4 * TSR_TEX_TILE_DIM;

	if (w->tag[place] != TSR_TEX_NO_TILE) {
		if (cache->counts)
			count_tile(cache, w, place);
		for (unsigned int i = 0; cache->counts && i < TSR_TEX_TILE_DIM; i++) {
			uint8_t *used = w->used + tsr_window_at(x, y + i);

			memset(used, 0, TSR_TEX_TILE_DIM);
			if (!x)
				memset(used + TSR_TEX_WINDOW_DIM, 0, TSR_TEX_TILE_DIM);
		}
		for (unsigned int i = 0; i < 4; i++)
			w->valid[y / 4 + i] &= ~(0xf << x / 4);
	}
	w->counted[place] = 0;
	w->tag[place] = tag;
}

static bool fill(struct tsr_msg_env *env, struct tsr_texture_view *view,
		 const struct tsr_level_place *place, struct tsr_tex_window *w, uint32_t x,
		 uint32_t y);

/* Have texel (@x, @y) in the window; false: it cannot be kept. */
static bool have(struct tsr_msg_env *env, struct tsr_texture_view *view,
		 const struct tsr_level_place *place, struct tsr_tex_window *w, uint32_t x,
		 uint32_t y)
{
	unsigned int tile = tsr_window_tile(x, y);

	if (w->tag[tile] != tsr_window_tag(x, y))
		replace(env->textures, w, tile, tsr_window_tag(x, y));
	return w->valid[y >> 2 & 15] >> (x >> 2 & 15) & 1 || fill(env, view, place, w, x, y);
}

int32_t tsr_window_use(struct tsr_msg_env *env, struct tsr_texture_view *view,
		       const struct tsr_level_place *place, struct tsr_tex_window *w, uint32_t x,
		       uint32_t y)
{
	unsigned int at = tsr_window_at(x, y);

	if (!have(env, view, place, w, x, y))
		return -1;
	w->used[at] = 1;
	return (int32_t)at;
}

/* ---- Lanes of lookups ------------------------------------------------------------------------ */

static unsigned int corners_of(const struct tsr_level_lookup *l)
{
	return l->near ? 1 : 4;
}

/* Places of the tiles that lanes @lanes use, a bit each. */
static uint16_t tiles_of(const struct tsr_level_lookup *l, const struct tsr_window_lanes *t,
			 uint16_t lanes)
{
	uint16_t tiles = 0;

	for (; lanes; lanes &= lanes - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(lanes);

		for (unsigned int n = 0; n < corners_of(l); n++)
			tiles |= (uint16_t)(1u << tsr_window_tile((uint32_t)t->x[n & 1][lane],
								 (uint32_t)t->y[n >> 1][lane]));
	}
	return tiles;
}

enum tsr_window_brought tsr_window_bring(const struct tsr_level_lookup *l,
					 const struct tsr_window_lanes *t, unsigned int lane,
					 uint16_t others)
{
	struct tsr_tex_window *w = l->window;
	uint16_t own = 0;

	for (unsigned int n = 0; n < corners_of(l); n++) {
		uint32_t x = (uint32_t)t->x[n & 1][lane], y = (uint32_t)t->y[n >> 1][lane];
		unsigned int tile = tsr_window_tile(x, y);

		if (w->tag[tile] != tsr_window_tag(x, y)) {
			if ((own | tiles_of(l, t, others)) >> tile & 1)
				return TSR_WINDOW_CONFLICT;
			replace(l->env->textures, w, tile, tsr_window_tag(x, y));
		}
		own |= (uint16_t)(1u << tile);
		if (!(w->valid[y >> 2 & 15] >> (x >> 2 & 15) & 1) &&
		    !fill(l->env, l->view, &l->place, w, x, y))
			return TSR_WINDOW_CANNOT;
	}
	return TSR_WINDOW_HAS;
}

uint16_t tsr_window_fill(const struct tsr_level_lookup *l, const struct tsr_window_lanes *t,
			 uint16_t lanes)
{
	struct tsr_tex_window *w = l->window;
	uint16_t cannot = 0;

	for (; lanes; lanes &= lanes - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(lanes);
		uint32_t x0 = (uint32_t)t->x[0][lane], x1 = (uint32_t)t->x[l->near ? 0 : 1][lane];
		unsigned int first = x0 >> 2 & 15, second = x1 >> 2 & 15;

		for (unsigned int n = 0; n < (l->near ? 1 : 2); n++) {
			uint32_t y = (uint32_t)t->y[n][lane];
			int32_t *valid = &w->valid[y >> 2 & 15];
			int32_t missing = (1 << first | 1 << second) & ~*valid;

			if (!missing)
				continue;
			if ((missing >> first & 1 && !fill(l->env, l->view, &l->place, w, x0, y)) ||
			    (~*valid >> second & 1 && !fill(l->env, l->view, &l->place, w, x1, y)))
				cannot |= (uint16_t)(1u << lane);
		}
	}
	return cannot;
}

/* Copy the texels of @lane to the spare row, each as it comes; false: one does not. */
static bool copy_lane(const struct tsr_level_lookup *l, const struct tsr_window_lanes *t,
		      unsigned int lane)
{
	unsigned int bytes = l->bytes ? 4 : TSR_TEX_TEXEL_BYTES_MAX;
	uint8_t *texels = tsr_window_texels(l->env->textures, l->window);
	uint8_t *to = texels + (TSR_TEX_WINDOW_SPARE + 4 * lane) * bytes;

	for (unsigned int n = 0; n < corners_of(l); n++) {
		int32_t at = tsr_window_use(l->env, l->view, &l->place, l->window,
					    (uint32_t)t->x[n & 1][lane],
					    (uint32_t)t->y[n >> 1][lane]);

		if (at < 0)
			return false;
		memcpy(to + n * bytes, texels + (uint32_t)at * bytes, bytes);
	}
	return true;
}

uint16_t tsr_window_copy(const struct tsr_level_lookup *l, const struct tsr_window_lanes *t,
			 uint16_t lanes)
{
	uint16_t done = 0;

	for (; lanes; lanes &= lanes - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(lanes);

		done |= (uint16_t)(copy_lane(l, t, lane) << lane);
	}
	return done;
}

/* ---- Beginnings ------------------------------------------------------------------------------ */

static void forget(struct tsr_texture_cache *cache)
{
	for (unsigned int i = 0; i < TSR_TEX_WINDOWS; i++) {
		if (cache->window[i].key)
			clear(&cache->window[i]);
	}
	for (unsigned int i = 0; i < TSR_TEXTURE_VIEWS; i++) {
		cache->view[i].key = 0;
		cache->sampler[i].key = 0;
	}
	for (unsigned int i = 0; i < TSR_TEX_ASTC_BLOCKS; i++)
		cache->astc[i].key = 0;
	cache->serials = 0;
	memset(cache->plan, 0, sizeof(cache->plan));
}

void tsr_texture_cache_init(struct tsr_texture_cache *cache, const struct tsr_simd *simd)
{
	size_t texels = sizeof(cache->texel);

	/* texels are not read before they have been written */
	memset((char *)cache + texels, 0, sizeof(*cache) - texels);
	for (unsigned int i = 0; i < TSR_TEX_WINDOWS; i++)
		clear(&cache->window[i]);
	forget(cache);
	cache->now = 1;
	cache->path = simd ? simd->texture : NULL;
	tsr_lod_init();
}

void tsr_texture_enter(struct tsr_texture_cache *cache, const struct tsr_mem *mem)
{
	const uint64_t counts = mem->thread->caches;

	cache->space = tsr_mmu_data_generation(mem->port->mmu, mem->as);
	tsr_texture_frame(cache, 0);
	/* what is counted begins with an empty cache */
	if (cache->counts != counts) {
		cache->counts = counts;
		forget(cache);
	}
	cache->off = mem->env->cfg->no_texture_cache;
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

/* Ask the L2 for line @line, which is there for nothing but its count. */
static inline void ask_line(struct tsr_msg_env *env, uint64_t line)
{
	struct tsr_texture_cache *cache = env->textures;
	/* which line of which memory; two with one name would be miscounted, no more */
	uint64_t name = ((line * 0x9e3779b97f4a7c15ull) ^ cache->space << 20 ^
			 cache->counts * 0xd6e8feb86659fd93ull) | 1;
	_Atomic uint64_t *tag = &env->mem->env->texture_l2[line % TSR_TEXTURE_L2_LINES];

	/* of several cores that bring the same line in at once each may have missed it */
	if (atomic_load_explicit(tag, memory_order_relaxed) != name) {
		atomic_store_explicit(tag, name, memory_order_relaxed);
		cache->stats.misses++;
	}
}

static inline void count_line(struct tsr_msg_env *env, uint64_t line)
{
	if (env->textures->counts)
		ask_line(env, line);
}

/* Counts the lines of [va, va + len) in the L2. */
static void count_lines(struct tsr_msg_env *env, uint64_t va, unsigned int len)
{
	for (uint64_t line = va / LINE; line <= (va + len - 1) / LINE; line++)
		count_line(env, line);
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

/*
 * Texels of a texture with tags, if some of them are not in memory. All are in one block with a
 * tag. False: they cannot be had now. *@raw_tag: all are in memory, and nothing has been done.
 */
static __attribute__((noinline))
bool fetch_tagged(struct tsr_msg_env *env, struct tsr_texture_view *view,
		  const struct tsr_texel_place *first, struct tsr_raw_block *raw, bool *raw_tag)
{
	struct tsr_tag_last *last = tsr_texture_last_tag(env, view);
	struct tsr_tagged_part part = {
		.x = first->x, .y = first->y, .columns = raw->columns, .rows = raw->rows,
		.texels = raw->bytes, .pitch = TSR_TEX_BLOCK_DIM * view->format.bytes,
	};
	struct tsr_tagged t;

	if (tsr_texture_tagged(env, view, first, &t) != TSR_STEP_DONE ||
	    tsr_tagged_look(env->mem, &t, first->x, first->y, last) != TSR_STEP_DONE)
		return false;
	*raw_tag = last->tag == TSR_TARGET_TAG_RAW;
	if (*raw_tag)
		return true;
	raw->from = raw->bytes;
	raw->order = rows;
	raw->tiled = false;
	return tsr_tagged_part(env->mem, &t, last->tag, &part) == TSR_STEP_DONE;
}

static unsigned int least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Bytes of the block that texel (@x, @y) is the first one of. */
static bool fetch(struct tsr_msg_env *env, struct tsr_texture_view *view,
		  const struct tsr_level_place *p, uint32_t x, uint32_t y,
		  struct tsr_raw_block *raw)
{
	bool volume = view->dimension == TSR_TEXTURE_DIMENSION_3D;
	const struct tsr_texel_place place = {
		.level = p->level, .x = x, .y = y,
		.z = volume ? p->slice : 0, .layer = volume ? 0 : p->slice,
	};
	const struct tsr_texture_surface *s;
	uint64_t va;

	raw->columns = least(TSR_TEX_BLOCK_DIM, tsr_level_extent(view->width, p->level) - x);
	raw->rows = least(TSR_TEX_BLOCK_DIM, tsr_level_extent(view->height, p->level) - y);
	if (raw->columns * raw->rows < TSR_TEX_BLOCK_DIM * TSR_TEX_BLOCK_DIM)
		memset(raw->bytes, 0, sizeof(raw->bytes));
	if (tsr_texel_surface(env, view, &place, &s) != TSR_STEP_DONE)
		return false;
	va = tsr_texel_at(view, s, &place);
	if (view->format.codec) {
		raw->from = raw->bytes;
		return va % view->format.align == 0 &&
		       read(env, va, raw->bytes, view->format.bytes);
	}
	if ((va | (uint64_t)(int64_t)s->row_stride) % view->format.align)
		return false;
	if (view->tagged) {
		bool raw_tag;

		if (!fetch_tagged(env, view, &place, raw, &raw_tag))
			return false;
		if (!raw_tag)
			return true;
	}
	return read_block(env, view, s, va, raw);
}

/* How many blocks a level has; TSR_TEX_MANY: more than a window. */
static uint16_t count_blocks(uint32_t width, uint32_t height)
{
	if (width > TSR_TEX_WINDOW_DIM || height > TSR_TEX_WINDOW_DIM)
		return TSR_TEX_MANY;
	return (uint16_t)((width + TSR_TEX_BLOCK_DIM - 1) / TSR_TEX_BLOCK_DIM *
			  ((height + TSR_TEX_BLOCK_DIM - 1) / TSR_TEX_BLOCK_DIM));
}

/* The block of texel (@x, @y), its first one, has come in: of @bytes a texel. */
static void note_block(struct tsr_texture_cache *cache, struct tsr_tex_window *w, uint32_t x,
		       uint32_t y, unsigned int bytes)
{
	uint8_t *row = tsr_window_texels(cache, w) + tsr_window_at(x, y) * bytes;

	for (unsigned int i = 0; i < TSR_TEX_BLOCK_DIM && !(x >> 4 & 3); i++) {
		memcpy(row + TSR_TEX_WINDOW_DIM * bytes, row, TSR_TEX_BLOCK_DIM * bytes);
		row += TSR_TEX_WINDOW_PITCH * bytes;
	}
	w->valid[y >> 2 & 15] |= 1 << (x >> 2 & 15);
	w->missing -= w->missing != TSR_TEX_MANY;
	cache->stats.fills++;
}

/* Find out where the level of a window lies; false: it cannot be found out now. */
static bool find_level(struct tsr_msg_env *env, struct tsr_texture_view *view,
		       const struct tsr_level_place *p, struct tsr_tex_window *w)
{
	bool volume = view->dimension == TSR_TEXTURE_DIMENSION_3D;
	const struct tsr_texel_place first = {
		.level = p->level, .z = volume ? p->slice : 0, .layer = volume ? 0 : p->slice,
	};
	const struct tsr_texture_surface *s;

	if (tsr_texel_surface(env, view, &first, &s) != TSR_STEP_DONE)
		return false;
	w->base = tsr_texel_at(view, s, &first);
	w->block_width = w->block_height = 0;
	if (view->format.codec) {
		unsigned int width, height;

		tsr_block_size(&view->format, s, &width, &height);
		w->block_width = (uint8_t)width;
		w->block_height = (uint8_t)height;
	}
	w->row_stride = s->row_stride;
	w->direct = view->tiled && !view->tagged && view->kind[p->linear] == TSR_TEX_BLOCK_BYTES &&
		    tsr_block_is_plain(&view->format) &&
		    (w->base | (uint64_t)w->row_stride) % view->format.align == 0;
	w->missing = count_blocks(tsr_level_extent(view->width, p->level),
				  tsr_level_extent(view->height, p->level));
	w->found = true;
	return true;
}

/* Bring a whole block of bytes as they are, in one page that is at hand; false: it is not. */
static bool fill_direct(struct tsr_msg_env *env, const struct tsr_texture_view *view,
			const struct tsr_level_place *place, struct tsr_tex_window *w, uint32_t x,
			uint32_t y)
{
	const unsigned int bytes = 4;
	const uint8_t *from;
	uint64_t va;

	if (x + TSR_TEX_BLOCK_DIM > tsr_level_extent(view->width, place->level) ||
	    y + TSR_TEX_BLOCK_DIM > tsr_level_extent(view->height, place->level))
		return false;
	va = w->base + x / TSR_TILE_DIM * (uint64_t)TSR_TILE_TEXELS * bytes +
	     y / TSR_TILE_DIM * (uint64_t)w->row_stride + tsr_tile_index(x, y) * bytes;
	from = whole(env, va, TSR_TEX_BLOCK_DIM * TSR_TEX_BLOCK_DIM * bytes);
	if (!from)
		return false;
	tsr_block_sort(from, tsr_window_texels(env->textures, w) + tsr_window_at(x, y) * bytes,
		       TSR_TEX_WINDOW_PITCH * bytes);
	return true;
}

/* Where block @n of memory is kept: rows of blocks in a tile not where those of the next are. */
static struct tsr_tex_astc *astc_place(struct tsr_texture_cache *cache, uint64_t n)
{
	return &cache->astc[(n ^ (n >> 3 & 2) ^ (n >> 2 & 8)) % TSR_TEX_ASTC_BLOCKS];
}

/* The block of ASTC that texel @p is in, decoded; NULL: it cannot be had now. */
static const struct tsr_tex_astc *find_astc(struct tsr_msg_env *env, struct tsr_texture_view *view,
					    const struct tsr_tex_window *w, bool srgb,
					    const struct tsr_texel_place *p)
{
	struct tsr_texture_cache *cache = env->textures;
	const struct tsr_texture_surface *s;
	struct tsr_tex_astc *cached;
	uint8_t bytes[16];
	uint64_t va, key;

	if (tsr_texel_surface(env, view, p, &s) != TSR_STEP_DONE)
		return NULL;
	va = tsr_texel_at(view, s, p);
	/* an address leaves the four low bits and the six high ones; what is none is at fault */
	if (va % sizeof(bytes) || va >> 58)
		return NULL;
	key = va | 1 | (uint64_t)srgb << 1 | (s->pointer & 63) << 58;
	cached = astc_place(cache, va / sizeof(bytes));
	if (cached->key == key && cached->space == cache->space)
		return cached;
	if (!read(env, va, bytes, sizeof(bytes)))
		return NULL;
	cached->key = key;
	cached->space = cache->space;
	tsr_block_astc(bytes, w->block_width, w->block_height, srgb, cached->texel);
	cache->stats.decodes++;
	return cached;
}

/* Bring 4 by 4 texels from @at on, of all blocks that have some of them. */
static bool fill_astc(struct tsr_msg_env *env, struct tsr_texture_view *view,
		      const struct tsr_level_place *place, struct tsr_tex_window *w, uint32_t x,
		      uint32_t y)
{
	const struct tsr_format *f = place->linear ? &view->linear : &view->format;
	const uint32_t width = tsr_level_extent(view->width, place->level);
	const uint32_t height = tsr_level_extent(view->height, place->level);
	unsigned int bytes = tsr_texel_bytes(view->kind[place->linear]);
	bool volume = view->dimension == TSR_TEXTURE_DIMENSION_3D;
	struct tsr_texel_place p = {
		.level = place->level, .z = volume ? place->slice : 0,
		.layer = volume ? 0 : place->slice,
	};
	const struct tsr_tex_astc *from = NULL;
	union tsr_block_texels texels;
	uint16_t unit[16][4] = { { 0 } };

	for (unsigned int i = 0; i < 16; i++) {
		uint32_t left = p.x / w->block_width, top = p.y / w->block_height;

		p.x = x + i % 4;
		p.y = y + i / 4;
		if (p.x >= width || p.y >= height)
			continue;
		if (!from || p.x / w->block_width != left || p.y / w->block_height != top)
			from = find_astc(env, view, w, f->srgb, &p);
		if (!from)
			return false;
		memcpy(unit[i], from->texel[p.y % w->block_height * w->block_width +
					    p.x % w->block_width], sizeof(unit[i]));
	}
	tsr_block_narrow(f, unit, &texels);
	tsr_block_arrange(view, place->linear, &texels,
			  tsr_window_texels(env->textures, w) + tsr_window_at(x, y) * bytes,
			  TSR_TEX_WINDOW_PITCH * bytes);
	return true;
}

/* True if blocks of the window's level are not what a fill brings. */
static bool has_other_blocks(const struct tsr_tex_window *w)
{
	return w->block_width && (w->block_width != TSR_TEX_BLOCK_DIM ||
				  w->block_height != TSR_TEX_BLOCK_DIM);
}

/* Bring the block of texel (@x, @y), whose tile has its place. */
static bool fill(struct tsr_msg_env *env, struct tsr_texture_view *view,
		 const struct tsr_level_place *place, struct tsr_tex_window *w, uint32_t x,
		 uint32_t y)
{
	struct tsr_texture_cache *cache = env->textures;
	unsigned int bytes = tsr_texel_bytes(view->kind[place->linear]);
	struct tsr_raw_block raw;

	x &= ~(TSR_TEX_BLOCK_DIM - 1u);
	y &= ~(TSR_TEX_BLOCK_DIM - 1u);
	if (!view->kind[place->linear] || (!w->found && !find_level(env, view, place, w)))
		return false;
	if (has_other_blocks(w)) {
		if (!fill_astc(env, view, place, w, x, y))
			return false;
	} else if (!w->direct || !fill_direct(env, view, place, w, x, y)) {
		if (!fetch(env, view, place, x, y, &raw))
			return false;
		tsr_block_decode(env->path, view, place->linear, &raw,
				 tsr_window_texels(cache, w) + tsr_window_at(x, y) * bytes,
				 TSR_TEX_WINDOW_PITCH * bytes);
		cache->stats.decodes += view->format.codec != 0;
	}
	note_block(cache, w, x, y, bytes);
	return true;
}

/* ---- Areas ----------------------------------------------------------------------------------- */

#define AREA TSR_TEX_AREA_DIM
#define TILE_BLOCKS (TSR_TEX_TILE_DIM / TSR_TEX_BLOCK_DIM)

/* A tile of an area. */
struct area_tile {
	uint32_t x, y;			/* its first texel */
	uint64_t blocks;		/* of the area: which ones are of the tile */
};

/* The tile of the first one of blocks @blocks. */
static struct area_tile first_tile(const struct tsr_window_area *a, uint64_t blocks)
{
	int bit = __builtin_ctzll(blocks);
	int x = (a->x + bit % AREA) & -TILE_BLOCKS, y = (a->y + bit / AREA) & -TILE_BLOCKS;
	int left = x - a->x, top = y - a->y;
	uint64_t columns = left < 0 ? 0xf >> -left : 0xf << left & 0xff;
	uint64_t rows = columns * (top < 0 ? 0x01010101u >> -8 * top : 0x01010101u);

	return (struct area_tile){
		.x = (uint32_t)x * TSR_TEX_BLOCK_DIM, .y = (uint32_t)y * TSR_TEX_BLOCK_DIM,
		.blocks = top < 0 ? rows : rows << 8 * top,
	};
}

/* Blocks of @a that have come in, if their tiles have their places. */
static uint64_t valid_of(const struct tsr_tex_window *w, const struct tsr_window_area *a)
{
	uint64_t valid = 0;

	for (unsigned int i = 0; i < AREA; i++) {
		uint32_t row = (uint32_t)w->valid[((uint32_t)a->y + i) & 15];

		valid |= (uint64_t)((row | row << 16) >> (a->x & 15) & 0xff) << AREA * i;
	}
	return valid;
}

/* The bytes of a tile that are as they are, if the host has them in one piece; else NULL. */
static const uint8_t *direct_tile(struct tsr_msg_env *env, const struct tsr_tex_window *w,
				  const struct area_tile *t, uint64_t *va)
{
	const unsigned int bytes = TSR_TILE_TEXELS * 4;
	uint8_t *page;

	*va = w->base + t->x / TSR_TILE_DIM * (uint64_t)bytes +
	      t->y / TSR_TILE_DIM * (uint64_t)w->row_stride;
	if (*va % TSR_ACCESS_PAGE_BYTES + bytes > TSR_ACCESS_PAGE_BYTES)
		return NULL;
	page = tsr_access_find(env->access, env->access->read, *va);
	if (!page && tsr_access_page(env->access, env->mem, *va, TSR_ACCESS_READ, &page) !=
			     TSR_STEP_DONE)
		return NULL;
	return page ? page + *va % TSR_ACCESS_PAGE_BYTES : NULL;
}

/* Bring blocks @missing of tile @t, whose bytes are at @tile. */
static void fill_tile_directly(const struct tsr_level_lookup *l, const struct tsr_window_area *a,
			       const struct area_tile *t, uint64_t missing, const uint8_t *tile,
			       uint64_t va)
{
	const unsigned int block = TSR_TEX_BLOCK_DIM * TSR_TEX_BLOCK_DIM * 4;
	const unsigned int pitch = TSR_TEX_WINDOW_PITCH * 4;
	const int first = ((int)(t->y / TSR_TEX_BLOCK_DIM) - a->y) * AREA +
			  (int)(t->x / TSR_TEX_BLOCK_DIM) - a->x;
	struct tsr_texture_cache *cache = l->env->textures;
	struct tsr_tex_window *w = l->window;
	uint8_t *to = tsr_window_texels(cache, w) + tsr_window_at(t->x, t->y) * 4;
	/* bit AREA * row + column in the tile */
	uint64_t left = first < 0 ? missing << -first : missing >> first;
	unsigned int blocks = 0;

	for (unsigned int i = 0; i < TILE_BLOCKS; i++)
		w->valid[(t->y / TSR_TEX_BLOCK_DIM + i) % 16] |=
			(int32_t)(left >> AREA * i & 0xf) << t->x / TSR_TEX_BLOCK_DIM % 16;
	for (; left; left &= left - 1, blocks++) {
		unsigned int bit = (unsigned int)__builtin_ctzll(left);
		unsigned int row = bit / AREA, column = bit % AREA;
		unsigned int at = tiles[row * TILE_BLOCKS + column] * block;
		uint8_t *place = to + TSR_TEX_BLOCK_DIM * (row * pitch + column * 4);

		if (va % LINE)
			count_lines(l->env, va + at, block);
		else
			count_line(l->env, (va + at) / LINE);
		tsr_block_sort(tile + at, place, pitch);
		if (!(t->x % TSR_TEX_WINDOW_DIM))
			tsr_block_sort(tile + at, place + TSR_TEX_WINDOW_DIM * 4, pitch);
	}
	w->missing -= w->missing != TSR_TEX_MANY ? blocks : 0;
	cache->stats.fills += blocks;
}

/* Bring blocks @missing of tile @t, of which @valid have come in; false: some do not come. */
static bool fill_tile(const struct tsr_level_lookup *l, const struct tsr_window_area *a,
		      const struct area_tile *t, uint64_t missing, uint64_t valid)
{
	uint32_t width = (uint32_t)l->axis[0].extent, height = (uint32_t)l->axis[1].extent;
	uint64_t va;

	/* no block of it goes beyond the level */
	if (l->window->direct && t->x + TSR_TEX_TILE_DIM <= width &&
	    t->y + TSR_TEX_TILE_DIM <= height) {
		const uint8_t *tile = direct_tile(l->env, l->window, t, &va);

		/* most of a tile that some of is wanted is mostly wanted, soon */
		for (unsigned int i = 0; tile && !(valid & t->blocks) && i < TSR_TILE_TEXELS * 4;
		     i += LINE)
			__builtin_prefetch(tile + i);
		if (tile) {
			fill_tile_directly(l, a, t, missing, tile, va);
			return true;
		}
	}
	for (; missing; missing &= missing - 1) {
		unsigned int bit = (unsigned int)__builtin_ctzll(missing);

		if (!fill(l->env, l->view, &l->place, l->window,
			  ((uint32_t)a->x + bit % AREA) * TSR_TEX_BLOCK_DIM,
			  ((uint32_t)a->y + bit / AREA) * TSR_TEX_BLOCK_DIM))
			return false;
	}
	return true;
}

bool tsr_window_bring_area(const struct tsr_level_lookup *l, const struct tsr_window_area *area)
{
	struct tsr_tex_window *w = l->window;
	uint64_t valid = valid_of(w, area);

	if (!w->found && !find_level(l->env, l->view, &l->place, w))
		return false;
	for (uint64_t left = area->blocks; left;) {
		const struct area_tile t = first_tile(area, left);
		const unsigned int place = tsr_window_tile(t.x, t.y);
		uint64_t missing;

		if (w->tag[place] != tsr_window_tag(t.x, t.y)) {
			replace(l->env->textures, w, place, tsr_window_tag(t.x, t.y));
			valid &= ~t.blocks;
		}
		missing = left & t.blocks & ~valid;
		if (missing && !fill_tile(l, area, &t, missing, valid))
			return false;
		left &= ~t.blocks;
	}
	return true;
}
