/* SPDX-License-Identifier: MIT */
/*
 * The texture caches of a thread that runs cores: prepared descriptors, and the L1 of decoded
 * blocks of 4 by 4 texels. Behind the L1s lies an L2 that all threads share.
 *
 * In: tables of descriptors, surfaces in memory. Out: views, blocks. A view and its blocks are good
 * for one number of the data of an address space (tsr_mmu_data_generation()): an invalidation of
 * that address space, or a BARRIER.INV_READ in it, makes another number, and nothing has to be
 * searched. What cannot be kept (multisampled textures, texels that are not aligned
 * or not all mapped) is read texel by texel; nothing faults because of a neighbour.
 *
 * Limits: TSR_TEXTURE_VIEWS descriptors of each kind, TSR_TEX_BLOCKS blocks. The L2 is a model of
 * one: its lines' addresses, without their bytes, which the host's own caches hold; it says what a
 * fill would have read from memory. Reset state: empty.
 */
#ifndef TSR_SHADER_TEX_CACHE_H
#define TSR_SHADER_TEX_CACHE_H

#include "msg_texture.h"

#define TSR_TEXTURE_VIEWS 64
#define TSR_TEX_BLOCK_SETS 128
#define TSR_TEX_BLOCK_WAYS 4
#define TSR_TEX_BLOCKS (TSR_TEX_BLOCK_SETS * TSR_TEX_BLOCK_WAYS)
#define TSR_TEX_BLOCK_DIM 4
#define TSR_TEX_BLOCK_BYTES_MAX 256

struct tsr_texture_path;

/* Two by two blocks that the last lookup of a warp has found. */
struct tsr_window {
	uint64_t key;			/* of block (0, 0) of the slice */
	int32_t x, y;			/* first block */
	uint64_t used;			/* texels counted as touched, bit 8 * y + x; 0: none */
	int32_t slot[4];		/* bytes from the first slot; of blocks with texels there */
	uint32_t stamp;			/* of its slots, unless theirs is later */
};

/* What has been counted since somebody last looked, see counters.xml. */
struct tsr_texture_stats {
	uint64_t samples, touches, fills, misses;
};

struct tsr_texture_cache {
	/* A decoded block: texels in rows, of 4 bytes or of 4 words. */
	uint8_t block[TSR_TEX_BLOCKS][TSR_TEX_BLOCK_BYTES_MAX] __attribute__((aligned(64)));
	uint64_t key[TSR_TEX_BLOCKS];	/* tsr_block_key(), 0: empty */
	uint32_t stamp[TSR_TEX_BLOCKS];	/* @now of its last use */
	/* texels that have been used, bit 8 * y + x; the rest is 0 */
	uint32_t touched[TSR_TEX_BLOCKS];
	/* number of the present lookup: what it has used is not thrown out before its end */
	uint32_t now;
	uint16_t serials;		/* given to views */
	bool off;			/* debugging: keep nothing from message to message */
	uint64_t space;			/* of the present burst; 0: none */
	const struct tsr_texture_path *path;
	struct tsr_window window;
	struct tsr_texture_stats stats;
	struct tsr_texture_view view[TSR_TEXTURE_VIEWS];
	struct tsr_sampler_view sampler[TSR_TEXTURE_VIEWS];
};

/* Empty; with the vector functions of SIMD path @name (see alu.h), or none if it is not known. */
void tsr_texture_cache_init(struct tsr_texture_cache *cache, const char *name);
/* A burst begins: in address space @as. */
void tsr_texture_enter(struct tsr_texture_cache *cache, struct tsr_gpu *gpu, unsigned int as);

/* A serial for a view; it may forget all others and their blocks. */
uint16_t tsr_texture_serial(struct tsr_texture_cache *cache);

/* A block of a texture. */
struct tsr_block_place {
	unsigned int level;
	uint32_t slice;			/* layer, of cubes 6 * layer + face; of volumes z */
	uint32_t x, y;			/* in blocks */
	bool linear;			/* sRGB is not decoded */
};

#define TSR_TEX_BLOCK_SLICES (1u << 19)
#define TSR_SERIALS 2048

/*
 * Keys of blocks: x and y 14 bits each, level 5, slice 19, serial and @linear 12. A serial is never
 * 0, so no key is.
 */
static inline uint64_t tsr_block_key(const struct tsr_texture_view *view,
				     const struct tsr_block_place *p)
{
	return p->x | (uint64_t)p->y << 14 | (uint64_t)p->level << 28 | (uint64_t)p->slice << 33 |
	       (uint64_t)(view->serial << 1 | p->linear) << 52;
}

/* First of the TSR_TEX_BLOCK_WAYS slots of a block: neighbours are not in each other's way. */
static inline unsigned int tsr_block_set(uint64_t key)
{
	unsigned int place = (key & 15) | (key >> 10 & 0x70);
	unsigned int other = (unsigned int)(key >> 28) * 0x9e3779b1u >> 25;

	return (place ^ other) % TSR_TEX_BLOCK_SETS * TSR_TEX_BLOCK_WAYS;
}

/* The slot of a block of which the key is known; -1: it is not there. */
static inline int tsr_block_find(struct tsr_texture_cache *cache, uint64_t key)
{
	unsigned int slot = tsr_block_set(key);
	const uint64_t *way = &cache->key[slot];
	/* all ways at once: which one it is nobody can foretell */
	unsigned int found = (unsigned int)(way[0] == key) | (unsigned int)(way[1] == key) << 1 |
			     (unsigned int)(way[2] == key) << 2 |
			     (unsigned int)(way[3] == key) << 3;

	if (!found)
		return -1;
	slot += (unsigned int)__builtin_ctz(found);
	cache->stamp[slot] = cache->now;
	return (int)slot;
}
_Static_assert(TSR_TEX_BLOCK_WAYS == 4, "tsr_block_find() looks at four ways");

/* Bring a block that is not there; its slot, or -1: it cannot be kept. */
int tsr_block_fill(struct tsr_msg_env *env, struct tsr_texture_view *view,
		   const struct tsr_block_place *place);

/* The slot of a block, now in use; -1: it cannot be kept. */
static inline int tsr_block_get(struct tsr_msg_env *env, struct tsr_texture_view *view,
				const struct tsr_block_place *place)
{
	int slot = tsr_block_find(env->textures, tsr_block_key(view, place));

	return slot >= 0 ? slot : tsr_block_fill(env, view, place);
}

/* The window's slots get its stamp: before blocks come in, or others become its slots. */
static inline void tsr_window_settle(struct tsr_texture_cache *cache)
{
	const struct tsr_window *w = &cache->window;

	for (unsigned int i = 0; i < 4 && w->stamp == cache->now; i++) {
		if (w->slot[i] >= 0)
			cache->stamp[w->slot[i] / TSR_TEX_BLOCK_BYTES_MAX] = cache->now;
	}
}

/* Texels @bits of a slot, as in tsr_texture_cache.touched, are used. */
static inline void tsr_block_touch(struct tsr_texture_cache *cache, unsigned int slot,
				   uint32_t bits)
{
	uint32_t fresh = bits & ~cache->touched[slot];

	if (fresh) {
		cache->touched[slot] |= fresh;
		cache->stats.touches += (unsigned int)__builtin_popcount(fresh);
	}
}

/* ---- tex_decode.c ---------------------------------------------------------------------------- */

/* What blocks of a format are; formats that are compressed in blocks of 4 by 4 get theirs there. */
enum tsr_block_kind tsr_block_kind(const struct tsr_format *format);
/* A block as it lies in memory. */
struct tsr_raw_block {
	/* texel (x, y) is at order[4 * y + x] * bytes of a texel */
	uint8_t bytes[TSR_TEX_BLOCK_BYTES_MAX] __attribute__((aligned(64)));
	const uint8_t *order;
	unsigned int columns, rows;	/* that lie in the level; the others are not used */
};
void tsr_block_decode(const struct tsr_texture_view *view, bool linear,
		      const struct tsr_raw_block *raw, void *block);
/* Texel @n (4 * y + x) of a decoded block. */
void tsr_block_texel(enum tsr_block_kind kind, const struct tsr_format *format, const void *block,
		     unsigned int n, union tsr_texel *texel);

#endif
